# SPDX-License-Identifier: BSD-3-Clause
"""Ports on a tap, judged by the kernel at its other end."""
import json
import os
import re
import subprocess

import pytest

from harness import Tcpdump, Veth, documents, good, lcores, run, tshark
from test_host_linux import until

TAP = "wrtap0"


@pytest.fixture
def net(namespaces):
    if not os.path.exists("/dev/net/tun"):
        pytest.skip("needs /dev/net/tun")
    v = Veth()
    v.b = TAP
    yield v
    v.remove()


def ping(net, *args):
    return subprocess.run([*net.prefix, "ping", "-W", "5", *args, "10.0.0.1"], stdout=subprocess.PIPE, text=True).stdout


def host(net, live, *args):
    """A program that is a host at 10.0.0.1, and Linux at 10.0.0.2."""
    eal = args[:args.index("--")] + ("--",) if "--" in args else ()
    p = live([*eal, "-p", f"tap:{TAP}", "--ip", "10.0.0.1/24", *args[len(eal):]], prefix=net.prefix)
    p.stats()
    net.do("ip", "addr", "add", "10.0.0.2/24", "dev", TAP)
    return p


def queues(p):
    return {q["queue"]: (q["tx"]["packets"], q["rx"]["packets"]) for q in p.stats()[0]["queues"]}


def confirmed(port):
    """The kernel has had each frame that we sent."""
    nic = port["nic"]
    return nic["unconfirmed"] == 0 and nic["tx"]["packets"] == port["tx"]["packets"]


def test_several_queues(net, live):
    p = host(net, live, "-m", "1.0*4")
    p.send("set 0 eth.dst 02:00:00:00:00:01; set 0 rate 20kpps; set 0 count 4000; start 0; wait 0")
    assert {q: tx for q, (tx, _) in queues(p).items() if q > 0} == {1: 1000, 2: 1000, 3: 1000}
    assert "3 received" in ping(net, "-c", "3", "-i", "0.2")
    until(lambda: confirmed(p.stats()[0]), "frames", p)
    port = p.stats()[0]
    assert port["nic"]["rx"]["packets"] == port["rx"]["packets"] and port["rx"]["missed"] == 0
    assert p.quit()[0] == 0


def test_queues_that_only_send_are_given_nothing(net, live):
    """Each ping is a flow of its own, for which the kernel chooses a queue: one that nobody reads would swallow some."""
    p = host(net, live, *lcores(3), "-m", "1:1-3.0")
    for i in range(12):
        assert "1 received" in ping(net, "-c", "1")
    port = p.stats()[0]
    assert port["rx"]["missed"] == 0 and [("tx" in q, "rx" in q) for q in port["queues"]] == [(True, True), (True, False), (True, False)]
    assert p.quit()[0] == 0


def test_down_and_up_again(net, live):
    """While it is down frames wait; none is counted that the kernel has not had."""
    p = host(net, live)
    p.send("set 0 eth.dst 02:00:00:00:00:01; set 0 rate 1kpps; start 0")
    p.more(100)
    net.do("ip", "link", "set", TAP, "down")
    p.until(lambda ports: ports[0]["link"] == "down", 20)
    p.until(lambda ports: ports[0]["tx"]["stalls"] > 0, 20)
    had = p.stats()[0]["tx"]["packets"]
    assert p.stats()[0]["tx"]["packets"] == had
    net.do("ip", "link", "set", TAP, "up")
    p.until(lambda ports: ports[0]["link"] == "up", 20)
    p.more(100)
    p.send("stop 0; wait 0")
    until(lambda: confirmed(p.stats()[0]), "frames", p)
    assert p.quit()[0] == 0


def test_deleted_while_it_sends(net, live):
    p = host(net, live)
    p.send("set 0 eth.dst 02:00:00:00:00:01; set 0 rate 1kpps; start 0")
    p.more(100)
    net.do("ip", "link", "delete", TAP)
    p.until(lambda ports: ports[0]["link"] == "deleted", 20)
    p.send("stop 0; wait 0")
    port = p.stats()[0]
    assert confirmed(port) and port["tx"]["packets"] >= 100
    assert "was deleted" in " ".join(p.ask("show ports")["ports"][0]["notes"])
    assert p.quit()[0] == 0


def test_frames_longer_than_a_buffer(net, live, tmp_path):
    """The interface has got a larger MTU than the port was opened with: a capture has them whole."""
    p = host(net, live)
    net.do("ip", "link", "set", TAP, "mtu", "9000")
    net.do("ip", "neigh", "replace", "10.0.0.9", "lladdr", "02:00:00:00:00:09", "dev", TAP)
    p.send(f"capture 0 {tmp_path}/x.pcapng rx")
    p.stats()
    subprocess.run([*net.prefix, "ping", "-c", "3", "-i", "0.2", "-W", "1", "-s", "8000", "10.0.0.9"], stdout=subprocess.PIPE)
    until(lambda: p.stats()[0]["nic"]["rx"]["packets"] == p.stats()[0]["rx"]["packets"] >= 3, "frames", p)
    p.send("capture stop")
    assert p.ask("show capture", 30)["ports"][0]["state"] == "done"
    assert tshark(tmp_path / "x.pcapng", "ip.dst == 10.0.0.9", "frame.len", "icmp.checksum.status") == [["8042", "1"]] * 3
    assert p.quit()[0] == 0


def test_mtu_is_given_back(net):
    net.do("ip", "tuntap", "add", TAP, "mode", "tap", "multi_queue")
    r = good(["-b", "--json", "-p", f"tap:{TAP}", "-e", "set 0 mtu 3000; set 0 eth.dst 02:00:00:00:00:01; set 0 size 3018; set 0 count 10; start 0; "
              "wait 0; show ports; show stats"], prefix=net.prefix)
    ports, counts = documents(r)[-2:]
    assert ports["ports"][0]["mtu"] == 3000 and ports["ports"][0]["driver"] == "tap"
    assert counts["ports"][0]["nic"]["tx"]["bytes"] == 30180
    link = json.loads(net.do("ip", "-j", "link", "show", TAP))[0]
    assert link["mtu"] == 1500 and "UP" not in link["flags"]


def test_one_that_was_made_for_one_queue(net):
    net.do("ip", "tuntap", "add", TAP, "mode", "tap")
    r = good(["-b", "--json", "-p", f"tap:{TAP}", "-e", "set 0 eth.dst 02:00:00:00:00:01; set 0 count 10; start 0; wait 0; show stats"],
             prefix=net.prefix)
    assert documents(r)[-1]["ports"][0]["nic"]["tx"]["packets"] == 10
    r = run(["-b", "-p", f"tap:{TAP}", "-m", "1.0*2", "-e", "show ports"], prefix=net.prefix)
    assert r.returncode == 3 and "was made for one queue" in r.stderr and "ip link delete" in r.stderr


def test_names_of_which_there_is_no_tap(net):
    """A tun has no Ethernet; and of some names the kernel would make another one, or none."""
    net.do("ip", "tuntap", "add", "dev", "wrtun0", "mode", "tun")
    for name, rc, why in (("wrtun0", 3, "is a tun, which has no Ethernet"), (net.a, 3, "is no tap"), (".", 2, "the name of the interface to make"),
                          ("wr%d", 2, "percent sign"), ("x" * 16, 2, "at most 15 characters")):
        before = net.do("ip", "-br", "link")
        r = run(["-b", "-p", f"tap:{name}", "-e", "show ports"], prefix=net.prefix)
        assert r.returncode == rc and why in r.stderr and net.do("ip", "-br", "link") == before, r.stderr


def test_one_that_is_open(net, live):
    host(net, live)
    for ports in (["-p", f"tap:{TAP}"], ["-p", "tap:other", "-p", "tap:other"]):
        r = run(["-b", *ports, "-e", "show ports"], prefix=net.prefix)
        assert r.returncode == 3 and "name each interface once" in r.stderr, r.stderr


# what the kernel leaves undone for flows

CLIENT = """
import http.client, sys
for _ in range(3):
    c = http.client.HTTPConnection("10.0.0.1", 80, timeout=60)
    c.request("POST", "/", b"x" * 3000000)
    r = c.getresponse()
    body = r.read()
    print(r.status, len(body), len(set(body)))
    c.close()
"""


def offloads(net):
    return [re.search(rf"^{what}: (on|off)", net.do("ethtool", "-k", TAP), re.M)[1] for what in ("tx-checksumming", "tcp-segmentation-offload")]


def served(net, p, verify=False):
    """Linux gives 9 MB to a server of ours and gets as much. The flow as it is then."""
    p.send(f"set 0 flow server; set 0 response 3000000; set 0 flow.verify {'on' if verify else 'off'}; start 0")
    until(lambda: p.ask("show flows")["flows"][0]["state"] == "running", "the server", p)
    r = subprocess.run([*net.prefix, "python3", "-c", CLIENT], stdout=subprocess.PIPE, text=True, timeout=120, check=True)
    until(lambda: p.ask("show flows")["flows"][0]["connections"]["open"] == 0, "the ends", p)
    answers = [line.split() for line in r.stdout.splitlines()]
    assert [a[:2] for a in answers] == [["200", "3000000"]] * 3 and all((a[2] == "1") != verify for a in answers), answers
    return p.ask("show flows")["flows"][0]


def test_super_frames_from_the_kernel(net, live, tmp_path):
    """They are on while there are flows, and count as what they were made of; a capture has them as they came, whole."""
    p = host(net, live)
    assert offloads(net) == ["off", "off"]
    p.send(f"capture 0 {tmp_path}/x.pcapng rx")
    f = served(net, p)
    assert offloads(net) == ["on", "on"]
    port = p.stats()[0]
    assert f["segments"]["bad_checksum"] == 0 and f["segments"]["unverified"] > 0 and f["payload"]["rx_bytes"] >= 9000000
    assert f["segments"]["rx"] >= 9000000 / 1460 > port["rx"]["packets"]
    assert port["rx"]["missed"] == port["rx"]["nombuf"] == port["rx"]["errors"] == 0
    p.send("capture stop")
    assert p.ask("show capture", 30)["ports"][0]["state"] == "done"
    rows = tshark(tmp_path / "x.pcapng", "tcp.len > 0", "frame.len", "frame.cap_len", "tcp.len", "ip.len", "tcp.analysis.retransmission")
    assert max(int(r[0]) for r in rows) > 1514 and all(r[0] == r[1] and int(r[0]) == int(r[3]) + 14 for r in rows)
    assert sum(int(r[2]) for r in rows if not r[4]) >= 9000000
    p.send("stop 0; wait 0")
    until(lambda: offloads(net) == ["off", "off"], "the offloads", p)
    assert p.quit()[0] == 0


def test_segments_where_content_is_compared(net, live):
    p = host(net, live)
    f = served(net, p, verify=True)
    assert offloads(net) == ["on", "off"] and f["segments"]["bad_checksum"] == 0
    assert p.stats()[0]["rx"]["sizes"]["1523-"] == 0
    assert p.quit()[0] == 0


def test_a_ping_beside_flows(net, live):
    """A host on the same port hears what it heard before."""
    p = host(net, live)
    served(net, p)
    assert "3 received" in ping(net, "-c", "3", "-i", "0.2", "-s", "1400")
    assert p.quit()[0] == 0


# what flows leave undone for the kernel

def fetched(net, p, path, *settings, six=False):
    """Linux gets 3 MB of a server of ours, whose bytes are compared. What went to the kernel, as it saw it and as we did: rows of frame.len,
    tcp.len and whether the checksum is right, of each frame with TCP, as we did; and the flow."""
    address, mss = ("[fd00::1]", 1440) if six else ("10.0.0.1", 1460)
    p.send("set 0 flow server; set 0 flow.verify on; set 0 response 3000000; " + "; ".join(settings) + f"; capture 0 {path}.own tx; start 0")
    until(lambda: p.ask("show flows")["flows"][0]["state"] == "running", "the server", p)
    dump = Tcpdump(net, f"{path}.kernel", both=True)
    for _ in range(2):
        r = subprocess.run([*net.prefix, "curl", "-s", "-g", "-m", "60", f"http://{address}/"], stdout=subprocess.PIPE, check=True)
        assert len(r.stdout) == 3000000 and r.stdout[251:] == r.stdout[:-251] and len(set(r.stdout)) > 100
    until(lambda: p.ask("show flows")["flows"][0]["connections"]["open"] == 0, "the ends", p)
    flow = p.ask("show flows")["flows"][0]
    p.send("stop 0; wait 0; capture stop")
    assert p.ask("show capture", 30)["ports"][0]["state"] == "done"
    dump.stop()
    rows = [tshark(f"{path}.{who}", "tcp.srcport == 80", "frame.len", "tcp.len", "tcp.checksum.status") for who in ("kernel", "own")]
    if six:  # of IPv4 the kernel may have been given several as one
        assert [r[:2] for r in rows[0]] == [r[:2] for r in rows[1]]
    assert len({sum(int(r[1]) for r in part) for part in rows}) == 1 and len(rows[0]) <= len(rows[1])
    assert flow["payload"]["tx_bytes"] > 6000000
    # each segment counts, whether it went alone or not
    assert flow["segments"]["tx"] == sum(max(1, -(-int(r[1]) // mss)) for r in rows[0])
    port = p.stats()[0]
    assert confirmed(port) and port["tx"]["packets"] >= len(rows[1])
    return rows[1], flow


@pytest.mark.parametrize("six", [False, True])
def test_super_frames_to_the_kernel(net, live, tmp_path, need, six):
    need("curl")
    p = live(["-p", f"tap:{TAP}", "--ip", "fd00::1/64" if six else "10.0.0.1/24"], prefix=net.prefix)
    ports = p.ask("show ports")["ports"]
    assert "tcp_tso" in ports[0]["offloads"]
    net.do("sysctl", "-q", f"net.ipv6.conf.{TAP}.disable_ipv6={0 if six else 1}")
    net.do("ip", "addr", "add", "fd00::2/64" if six else "10.0.0.2/24", "dev", TAP, *(["nodad"] if six else []))
    rows, flow = fetched(net, p, f"{tmp_path}/x", *(["set 0 frame eth/ipv6/tcp"] if six else []), six=six)
    assert max(int(r[0]) for r in rows) > 20000 and len(rows) < flow["segments"]["tx"] / 3
    assert p.quit()[0] == 0


def test_super_frames_of_one_byte(net, live, need):
    """Their filling is read from the same few bytes again and again."""
    need("curl")
    p = host(net, live)
    p.send("set 0 flow server; set 0 response 3000001; start 0")
    until(lambda: p.ask("show flows")["flows"][0]["state"] == "running", "the server", p)
    r = subprocess.run([*net.prefix, "curl", "-s", "-m", "60", "http://10.0.0.1/"], stdout=subprocess.PIPE, check=True)
    assert len(r.stdout) == 3000001 and len(set(r.stdout)) == 1
    assert p.stats()[0]["tx"]["sizes"]["1523-"] > 20
    assert p.quit()[0] == 0


def test_super_frames_that_are_one_to_the_kernel(net, live, need):
    """Several at a time, where Linux takes more than 64 KB at once: its counter has fewer frames, ours and `nic` have each."""
    need("curl")
    if [int(n) for n in os.uname().release.split("-")[0].split(".")[:2]] < [6, 3]:
        pytest.skip("needs Linux 6.3")
    p = host(net, live)
    p.send("set 0 flow server; set 0 flow.verify on; set 0 response 20000000; start 0")
    until(lambda: p.ask("show flows")["flows"][0]["state"] == "running", "the server", p)
    r = subprocess.run([*net.prefix, "curl", "-s", "-m", "60", "http://10.0.0.1/"], stdout=subprocess.PIPE, check=True)
    assert len(r.stdout) == 20000000 and r.stdout[251:] == r.stdout[:-251] and len(set(r.stdout)) > 100
    until(lambda: p.ask("show flows")["flows"][0]["connections"]["open"] == 0, "the ends", p)
    until(lambda: confirmed(p.stats()[0]), "frames", p)
    port = p.stats()[0]
    assert net.link(TAP)["stats64"]["rx"]["packets"] < port["tx"]["packets"]
    assert port["nic"]["tx"]["bytes"] == port["tx"]["bytes"]
    # they have a queue of their own, to which the kernel gives nothing
    assert net.do("ls", f"/sys/class/net/{TAP}/queues").split() == ["rx-0", "rx-1", "tx-0", "tx-1"]
    assert "3 received" in ping(net, "-c", "3", "-i", "0.2")
    assert p.quit()[0] == 0


def test_offload_off_sends_segments_with_their_checksums(net, live, tmp_path, need):
    need("curl")
    p = host(net, live)
    rows, flow = fetched(net, p, f"{tmp_path}/x", "set 0 offload off")
    assert all(int(r[0]) <= 1514 and r[2] == "1" for r in rows) and len(rows) == flow["segments"]["tx"]
    assert p.quit()[0] == 0


class Far:
    """A namespace behind that of the tap, at the other end of its veth pair, which takes no super-frames."""

    def __init__(self, net):
        self.net, self.ns, self.b = net, f"{net.ns}-far", "wrb"
        self.prefix = ["ip", "netns", "exec", self.ns]

    def do(self, *cmd):
        return subprocess.run([*self.prefix, *cmd], check=True, stdout=subprocess.PIPE, text=True).stdout

    def __enter__(self):
        subprocess.run(["ip", "netns", "add", self.ns], check=True)
        self.net.do("ip", "link", "set", self.b, "netns", self.ns)
        self.net.do("ip", "addr", "add", "10.9.0.1/24", "dev", self.net.a)
        self.net.do("sysctl", "-q", "net.ipv4.ip_forward=1")
        self.do("ip", "link", "set", self.b, "up")
        self.do("ip", "addr", "add", "10.9.0.2/24", "dev", self.b)
        self.do("ip", "route", "add", "default", "via", "10.9.0.1")
        return self

    def __exit__(self, *_):
        subprocess.run(["ip", "netns", "del", self.ns], check=False)


def test_what_nobody_takes_whole_is_cut_right(net, live, tmp_path, need):
    """Super-frames that Linux forwards to an interface without offloads: the segments that it makes of them are those of our connection."""
    need("curl")
    p = live(["-p", f"tap:{TAP}", "--ip", "10.0.0.1/24,10.0.0.2"], prefix=net.prefix)
    p.stats()
    net.do("ip", "addr", "add", "10.0.0.2/24", "dev", TAP)
    with Far(net) as far:
        dump = Tcpdump(far, tmp_path / "x.pcap", both=True)
        p.send("set 0 flow server; set 0 flow.verify on; set 0 response 1000000; start 0")
        until(lambda: p.ask("show flows")["flows"][0]["state"] == "running", "the server", p)
        r = subprocess.run([*far.prefix, "curl", "-s", "-m", "60", "http://10.0.0.1/"], stdout=subprocess.PIPE, check=True)
        assert len(r.stdout) == 1000000 and r.stdout[251:] == r.stdout[:-251]
        until(lambda: p.ask("show flows")["flows"][0]["connections"]["open"] == 0, "the ends", p)
        dump.stop()
        assert p.stats()[0]["tx"]["sizes"]["1523-"] > 0
    rows = tshark(tmp_path / "x.pcap", "tcp.srcport == 80 && tcp.len > 0", "frame.len", "tcp.checksum.status", "ip.checksum.status")
    assert len(rows) >= 1000000 / 1460 and all(int(r[0]) <= 1514 and r[1:] == ["1", "1"] for r in rows)
    assert p.quit()[0] == 0
