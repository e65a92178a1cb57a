# SPDX-License-Identifier: BSD-3-Clause
"""Kernel interfaces: what we say that we sent and received is what the kernel says, and nothing hangs when they go away."""
import os
import signal
import time

import pytest

import harness
from harness import ONE_SECOND, Tcpdump, documents, good, run, stats
from pty_term import BIN
from screen_term import Screen

KINDS = ["xdp", "packet"]  # `if` is one of these: see test_packet.py


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


def confirmed(port):
    return port["nic"]["tx"]["packets"]


def unconfirmed(port):
    return port["nic"]["unconfirmed"]


@pytest.mark.parametrize("rate,count", [("10kpps", 2000), ("100kpps", 50000), ("max", 100000)])
def test_the_peer_gets_what_we_sent(veth, kind, rate, count):
    before = veth.packets(veth.b, "rx")
    ports = stats(["-p", f"{kind}:{veth.a}", "-e", f"set 0 rate {rate}; set 0 count {count}; start 0; wait 0; show stats"], prefix=veth.prefix)
    assert ports[0]["tx"]["packets"] == count
    assert veth.packets(veth.b, "rx") - before == count
    assert confirmed(ports[0]) == count
    assert unconfirmed(ports[0]) == 0
    assert ports[0]["rx"]["packets"] == 0, "our own frames came back"


def test_others_see_the_frames(veth, kind, need, tmp_path):
    need("tcpdump", "tshark")
    from scapy.all import IP, UDP, rdpcap
    dump = Tcpdump(veth, tmp_path / "t.pcap")
    ports = stats(["-p", f"{kind}:{veth.a}", "-e", "set 0 frame eth/ipv4/udp; set 0 ipv4.dst 10.9.8.7; set 0 udp.dst 5000; set 0 size 100; "
                   "set 0 rate 20kpps; set 0 count 4000; start 0; wait 0; show stats"], prefix=veth.prefix)
    dump.stop()
    assert ports[0]["tx"]["packets"] == 4000
    harness.judge(dump.path, 4000)
    for f in rdpcap(str(dump.path)):
        assert len(f) == 96 and f[IP].dst == "10.9.8.7" and f[UDP].dport == 5000


def test_a_change_while_sending_reaches_the_wire(veth, kind, need, live, tmp_path):
    need("tcpdump", "tshark")
    dump = Tcpdump(veth, tmp_path / "t.pcap")
    w = live(["-p", f"{kind}:{veth.a}"], prefix=veth.prefix)
    w.send("set 0 frame eth/ipv4/udp; set 0 size 64; set 0 rate 20kpps; start 0")
    w.more(1000)
    w.send("set 0 udp.dst 7000; set 0 size 128")
    w.more(1000)
    w.send("stop 0; wait 0")
    count = w.stats(20)[0]["tx"]["packets"]
    dump.stop()
    harness.judge(dump.path, count)
    seen = [(int(port), int(length)) for port, length in harness.tshark(dump.path, "udp", "udp.dstport", "frame.len")]
    old, new = seen[0], (7000, 124)
    assert old[0] != 7000 and old[1] == 60
    assert set(seen) == {old, new}, "a frame is half old and half new"
    first = seen.index(new)
    assert 0 < first < count
    assert set(seen[first:]) == {new}, "an old frame left after a new one"


@pytest.mark.parametrize("idle", [False, True], ids=["at once", "after idling"])
def test_frames_of_the_kernel_are_all_counted(veth, kind, live, idle):
    """Whatever comes is counted or counted as missed. Where no more comes at a time than the kernel keeps for a worker without a CPU, none is
    missed, on any machine."""
    n, part, parts = 100_000, 200, 50
    before = veth.packets(veth.a, "rx")
    w = live(["-p", f"{kind}:{veth.a}"], prefix=veth.prefix)
    w.stats()
    if idle:
        time.sleep(2)
    p = veth.sender_in_parts(100_000)
    with p:
        for i in range(1, parts + 1):
            p.stdin.write(f"{part}\n")
            p.stdin.flush()
            assert p.stdout.readline() == "sent\n"
            port = w.until(lambda ports, want=i * part: ports[0]["rx"]["packets"] + ports[0]["rx"]["missed"] >= want, 20)[0][0]
            assert port["rx"]["missed"] == 0, f"of part {i}"
        p.stdin.close()
        assert p.wait(60) == 0
    assert port["rx"]["packets"] == parts * part
    assert veth.sender(n, 100_000).wait(60) == 0
    arrived = veth.packets(veth.a, "rx") - before
    assert arrived == n + parts * part
    port = w.until(lambda ports: ports[0]["rx"]["packets"] + ports[0]["rx"]["missed"] >= arrived, 20)[0][0]
    assert w.quit()[0] == 0
    assert port["rx"]["packets"] + port["rx"]["missed"] == arrived
    assert port["rx"]["bytes"] == port["rx"]["packets"] * 64


def test_what_finds_no_room_is_missed(veth, live):
    """The kernel tells a socket's drops once, to whoever asks first; newer drivers ask too."""
    n = 100_000
    before = veth.packets(veth.a, "rx")
    w = live(["-p", f"packet:{veth.a}"], prefix=veth.prefix)
    w.stats()
    os.kill(w.pid, signal.SIGSTOP)
    try:
        assert veth.sender(n, 100_000).wait(60) == 0
    finally:
        os.kill(w.pid, signal.SIGCONT)
    assert veth.packets(veth.a, "rx") - before == n
    w.until(lambda ports: ports[0]["rx"]["packets"] + ports[0]["rx"]["missed"] >= n, 20)
    w.ask("show xstats 0")  # it reads the statistics too
    rx = w.stats()[0]["rx"]
    assert rx["missed"] > 0
    assert rx["packets"] + rx["missed"] == n
    assert w.quit()[0] == 0


def test_both_ways_at_once(veth, kind, live):
    n = 30_000
    before = {end: veth.packets(end, "rx") for end in (veth.a, veth.b)}
    w = live(["-p", f"{kind}:{veth.a}"], prefix=veth.prefix)
    w.send("set 0 rate 20kpps; set 0 count 30000; start 0")
    w.until(lambda p: p[0]["tx"]["packets"] > 0, 20)
    assert veth.sender(n, 30_000).wait(60) == 0
    w.send("wait 0")
    port = w.stats(20)[0]
    assert port["tx"]["packets"] == veth.packets(veth.b, "rx") - before[veth.b] == 30000
    assert port["rx"]["packets"] + port["rx"]["missed"] == veth.packets(veth.a, "rx") - before[veth.a] == n


@pytest.mark.alone("how long the end takes")
@pytest.mark.parametrize("trouble", ["own link down", "peer down", "deleted"])
@pytest.mark.parametrize("rate", ["10kpps", "max"])
def test_trouble_while_sending(veth, kind, live, trouble, rate):
    w = live(["-p", f"{kind}:{veth.a}"], prefix=veth.prefix)
    w.send(f"set 0 rate {rate}; start 0")
    ports, _ = w.until(lambda p: p[0]["tx"]["packets"] > 100, 20)
    assert ports[0]["link"] == "up"
    if trouble == "own link down":
        veth.do("ip", "link", "set", veth.a, "down")
    elif trouble == "peer down":
        veth.do("ip", "link", "set", veth.b, "down")
    else:
        veth.do("ip", "link", "del", veth.a)
    with harness.Stopwatch() as watch:
        w.until(lambda p: p[0]["link"] == ("deleted" if trouble == "deleted" else "down"), 60)
        assert watch.seconds() < ONE_SECOND
    w.send("stop 0; wait 0")
    port = w.stats(20)[0]
    assert port["run"]["state"] == "idle"
    assert port["tx"]["packets"] == confirmed(port) + unconfirmed(port)
    if trouble != "deleted":
        assert confirmed(port) == veth.packets(veth.a, "tx")
    with harness.Stopwatch() as watch:
        assert w.quit()[0] == 0
        assert watch.seconds() < ONE_SECOND


def test_a_deleted_interface_is_called_deleted(veth, kind, live):
    """In every document that tells of the link; all that read a document here check it by the schema."""
    w = live(["-p", f"{kind}:{veth.a}", "-p", "wire"], prefix=veth.prefix)
    w.until(lambda p: p[0]["link"] == "up", 20)
    veth.do("ip", "link", "set", veth.b, "down")
    w.until(lambda p: p[0]["link"] == "down", 20)
    veth.do("ip", "link", "del", veth.a)
    ports, _ = w.until(lambda p: p[0]["link"] != "down", 20)
    assert [p["link"] for p in ports.values()] == ["deleted", "up", "up"]
    for line in ("show ports", "link"):
        assert [p["link"] for p in w.ask(line)["ports"]] == ["deleted", "up", "up"], line
    assert w.ask("show snapshot config")["config"][0]["link"] == "deleted"
    assert w.quit()[0] == 0
    assert w.errors().count("its interface was deleted") == 1


def test_who_starts_a_port_whose_interface_was_deleted_is_told(veth, kind, live):
    w = live(["-p", f"{kind}:{veth.a}"], prefix=veth.prefix)
    w.until(lambda p: p[0]["link"] == "up", 20)
    veth.do("ip", "link", "del", veth.a)
    w.until(lambda p: p[0]["link"] == "deleted", 20)
    w.send("set 0 count 10; set 0 rate 1kpps; start 0")
    w.stats(20)
    w.send("stop 0")
    w.quit()
    assert "port 0 (" in w.errors() and "what it sends arrives nowhere" in w.errors()


@pytest.mark.parametrize("page", ["main", "queues", "ports"])
def test_pages_say_deleted_in_the_colour_of_a_warning(veth, page, tmp_path):
    """As they say that a link is down, and not as they say that it is up."""
    def rows(t):
        """Of the page: those above the line between it and messages, and above notes, which have the word and the colour anyway."""
        text = [row.lower() for row in t.lines()]
        return text[:next(y for y, row in enumerate(text) if row.startswith(("\u2500\u2500", "notes")))]

    def colour(t, word):
        t.until(lambda: any(word in row for row in rows(t)[1:]), word)
        y = next(y for y, row in enumerate(rows(t)) if y > 0 and word in row)
        return t.screen.buffer[y][rows(t)[y].index(word)].fg

    up, down, deleted = {"main": ("<up", "<--down-->", "<deleted>"), "queues": ("10g", "down", "deleted"),
                         "ports": ("up 10", "down", "deleted")}[page]
    with Screen(tmp_path, cmd=[*veth.prefix, BIN, "-p", f"if:{veth.a}"], cols=132, rows=40) as t:
        t.ready().cmd(f"set pages interval 100ms; page {page}").on_page(page)
        before = colour(t, up)
        veth.do("ip", "link", "set", veth.b, "down")
        lost = colour(t, down)
        veth.do("ip", "link", "del", veth.a)
        assert colour(t, deleted) == lost != before
        t.type("quit\r").left(0)


@pytest.mark.alone("how long the end takes")
@pytest.mark.parametrize("trouble", ["own link down", "deleted"])
def test_quit_at_once_after_trouble(veth, kind, live, trouble):
    w = live(["-p", f"{kind}:{veth.a}"], prefix=veth.prefix)
    w.send("set 0 rate max; start 0")
    w.until(lambda p: p[0]["tx"]["packets"] > 100, 20)
    veth.do("ip", "link", *(["set", veth.a, "down"] if trouble == "own link down" else ["del", veth.a]))
    with harness.Stopwatch() as watch:
        assert w.quit()[0] == 0
        assert watch.seconds() < ONE_SECOND


def test_trouble_of_one_port_is_its_own(veth, kind, live):
    w = live(["-p", f"{kind}:{veth.a}", "-p", "wire"], prefix=veth.prefix)
    w.send("set 0 rate 10kpps; start 0")
    w.until(lambda p: p[0]["tx"]["packets"] > 100, 20)
    veth.do("ip", "link", "del", veth.a)
    w.send("set 1 rate 1Mpps; set 1 count 100000; start 1; wait 1")
    assert w.stats(20)[2]["rx"]["packets"] == 100000
    assert w.quit()[0] == 0


@pytest.mark.alone("how long the end takes")
@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_signal_while_sending(veth, kind, live, sig):
    w = live(["-p", f"{kind}:{veth.a}"], prefix=veth.prefix)
    w.send("set 0 rate max; start 0")
    w.until(lambda p: p[0]["tx"]["packets"] > 0, 20)
    with harness.Stopwatch() as watch:
        w.proc.send_signal(sig)
        assert w.proc.wait(60) == -sig
        assert watch.seconds() < ONE_SECOND
    assert "xdp" not in veth.link(veth.a)


def test_the_xdp_program_goes_although_a_worker_stands_still(veth, live):
    """What it holds stays until the process ends, but what is attached to the interface would stay for ever."""
    w = live(["-p", f"xdp:{veth.a}"], prefix=veth.prefix)
    w.send("set 0 rate max; start 0")
    w.until(lambda p: p[0]["tx"]["packets"] > 0, 20)
    with harness.Held(w.pid) as worker:
        w.proc.send_signal(signal.SIGTERM)
        worker.ends()
    assert w.proc.wait(60) == -signal.SIGTERM
    assert "does not answer" in w.errors()
    assert "xdp" not in veth.link(veth.a)


def test_xdp_needs_take_on_an_interface_in_use(veth):
    veth.do("ip", "addr", "add", "10.9.0.1/24", "dev", veth.a)
    r = run(["-p", f"xdp:{veth.a}", "show", "ports"], prefix=veth.prefix)
    assert r.returncode in (2, 3)
    assert "--take" in r.stderr and veth.a in r.stderr
    assert "xdp" not in veth.link(veth.a)
    good(["--take", "-p", f"xdp:{veth.a}", "show", "ports"], prefix=veth.prefix)


def test_if_leaves_an_interface_in_use_to_the_kernel(veth):
    veth.do("ip", "addr", "add", "10.9.0.1/24", "dev", veth.a)
    doc = documents(good(["--json", "-p", f"if:{veth.a}", "show", "ports"], prefix=veth.prefix))[0]
    assert "packet" in doc["ports"][0]["driver"]


def test_the_xdp_program_is_gone_afterwards(veth, live):
    w = live(["-p", f"xdp:{veth.a}"], prefix=veth.prefix)
    w.stats()
    assert "xdp" in veth.link(veth.a)
    assert w.quit()[0] == 0
    assert "xdp" not in veth.link(veth.a)


def test_an_xdp_program_left_by_a_kill_is_removed_at_the_next_start(veth, live):
    w = live(["-p", f"xdp:{veth.a}"], prefix=veth.prefix)
    w.stats()
    w.proc.send_signal(signal.SIGKILL)
    w.proc.wait()
    ports = stats(["-p", f"xdp:{veth.a}", "-e", "set 0 rate 10kpps; set 0 count 1000; start 0; wait 0; show stats"], prefix=veth.prefix)
    assert ports[0]["tx"]["packets"] == 1000
    assert "xdp" not in veth.link(veth.a)


def test_several_queues_on_a_packet_port(veth):
    before = veth.packets(veth.b, "rx")
    r = good([*harness.lcores(3), "--json", "-p", f"packet:{veth.a}", "-m", "1:2-3.0*2", "-e",
              "set 0 rate 100kpps; set 0 count 10001; start 0; wait 0; show stats"], prefix=veth.prefix)
    port = documents(r)[-1]["ports"][0]
    assert port["tx"]["packets"] == veth.packets(veth.b, "rx") - before == 10001
    assert {q["queue"]: q["tx"]["packets"] for q in port["queues"]} == {0: 5001, 1: 5000}


def test_kernel_facts_are_shown(veth, kind):
    veth.do("ip", "link", "set", veth.b, "down")
    doc = documents(good(["--json", "-p", f"{kind}:{veth.a}", "show", "stats"], prefix=veth.prefix))[0]
    assert doc["ports"][0]["link"] == "down"
    veth.do("ip", "link", "set", veth.b, "up")
    veth.do("ip", "link", "set", veth.a, "mtu", "1400")
    doc = documents(good(["--json", "-p", f"{kind}:{veth.a}", "show", "ports"], prefix=veth.prefix))[0]
    assert doc["ports"][0]["mtu"] == 1400
    assert doc["ports"][0]["mac"] == (veth.port_mac(veth.a) if kind == "packet" else veth.link(veth.a)["address"])


def test_a_mac_of_its_own_unless_linux_uses_the_interface(veth):
    def shown():
        port = documents(good(["--json", "-p", f"packet:{veth.a}", "show", "ports"], prefix=veth.prefix))[0]["ports"][0]
        return port["mac"], any("a MAC of its own" in note for note in port["notes"])

    interface, own = veth.link(veth.a)["address"], veth.port_mac(veth.a)
    veth.do("sysctl", "-q", f"net.ipv6.conf.{veth.a}.disable_ipv6=0")
    veth.do("ip", "-6", "addr", "add", "fe80::77/64", "dev", veth.a, "nodad")
    assert interface != own and shown() == (own, True)
    veth.do("ip", "addr", "add", "10.9.0.1/24", "dev", veth.a)
    assert shown() == (interface, False)


@pytest.mark.alone("CPU time")
def test_idle_on_kernel_ports_is_quiet(veth, live):
    """A program on each end of the pair, side by side."""
    programs = {kind: live(["-p", f"{kind}:{end}"], prefix=veth.prefix) for kind, end in zip(KINDS, (veth.a, veth.b))}
    for w in programs.values():
        w.stats()
    # A worker that asks the kernel each millisecond takes 3 to 6 % of a slow CPU; one that does not sleep takes all of it.
    for kind, shares in zip(programs, harness.cpu_shares([w.pid for w in programs.values()])):
        assert max(shares.values()) < 0.1, (kind, shares)


def test_tap(veth, live):
    if not os.path.exists("/dev/net/tun"):
        pytest.skip("needs /dev/net/tun")
    w = live(["-p", "tap:wrtap0"], prefix=veth.prefix)
    w.stats()
    before = veth.packets("wrtap0", "rx")
    w.send("set 0 rate 50kpps; set 0 count 10000; start 0; wait 0")
    assert w.stats(20)[0]["tx"]["packets"] == 10000
    assert veth.packets("wrtap0", "rx") - before == 10000
    assert w.quit()[0] == 0
    assert "wrtap0" not in veth.do("ip", "-o", "link")


@pytest.mark.alone("latencies")
def test_the_kernels_time_stamps(veth):
    """libpcap's driver says when the kernel saw each frame."""
    script = "set 0 probe on; set 0 rate 5kpps; set 0 count 2000; start 0; wait 0; show latency; show clock"
    args = ["--json", "-p", f"vdev:net_pcap0,tx_iface={veth.a},rx_iface={veth.b}", "-b", "-e"]
    seen = {}
    for source in ("nic", "software"):
        latency, clock = documents(good([*args, f"set 0 timestamps {source}; {script}"], prefix=veth.prefix))
        p = latency["ports"][0]
        assert p["counts"]["received"] == 2000
        seen[source] = p["timestamps"]
        assert len(clock["devices"]) == (source == "nic")
    assert seen["nic"]["source"] == "nic" and seen["nic"]["software"] == 0 and seen["nic"]["nic"] >= 2000
    assert "the kernel's time stamps" in seen["nic"]["text"]
    assert clock["devices"] == [] and seen["software"]["source"] == "software" and seen["software"]["nic"] == 0
