# SPDX-License-Identifier: BSD-3-Clause
"""`monitor` and `show frame <ports> rx`: what is told of frames, judged by scapy, which made them, and by tcpdump; how many are told; and that no
frame, whatever is in it, harms the program or the terminal."""
import random
import re
import signal
import subprocess
import sys
import time

import pytest

from harness import binary, bounded, document, documents, good, run
from screen_term import Screen
from serving import server, until  # noqa: F401 (a fixture)

FROM, TO = "02:00:00:00:00:0b", "02:00:00:00:00:0a"
MARK = 0x88B5  # frames of this type only ask whether the monitor is there


def stacks():
    """Frames by scapy, each with what a line has to say of it, and with its headers as we name them."""
    from scapy.all import ARP, GRE, ICMP, IP, TCP, UDP, Dot1AD, Dot1Q, Ether, ICMPv6EchoRequest, IPv6, Raw
    from scapy.contrib.mpls import MPLS
    from scapy.layers.vxlan import VXLAN
    eth, ip, ip6 = Ether(src=FROM, dst=TO), IP(src="10.1.2.3", dst="10.4.5.6"), IPv6(src="fd00::1", dst="fd00:0:0:1::2")
    udp, data = UDP(sport=1111, dport=2222), Raw(b"x" * 30)
    ends, ends6 = "10.1.2.3:1111 > 10.4.5.6:2222", "[fd00::1]:1111 > [fd00:0:0:1::2]:2222"
    return [
        (eth / ip / udp / data, f"{ends} udp, payload 30", "eth/ipv4/udp"),
        (eth / ip6 / udp / data, f"{ends6} udp, payload 30", "eth/ipv6/udp"),
        (eth / Dot1Q(vlan=7, prio=3) / ip / udp / data, f"vlan 7 pcp 3, {ends} udp, payload 30", "eth/vlan/ipv4/udp"),
        (eth / Dot1AD(vlan=9) / Dot1Q(vlan=7) / ip / udp / data, f"qinq 9, vlan 7, {ends} udp, payload 30", "eth/qinq/vlan/ipv4/udp"),
        (eth / ip / TCP(sport=1111, dport=2222, flags="SA", seq=5, ack=6, window=77) / data,
         f"{ends} tcp syn,ack seq 5 ack 6 win 77, payload 30", "eth/ipv4/tcp"),
        (eth / ip / ICMP(id=0x12, seq=4) / data, "10.1.2.3 > 10.4.5.6 icmp echo request id 0x0012 seq 4, payload 30", "eth/ipv4/icmp"),
        (eth / ip6 / ICMPv6EchoRequest(id=0x12, seq=4, data=b"y" * 9),
         "fd00::1 > fd00:0:0:1::2 icmpv6 echo request id 0x0012 seq 4, payload 9", "eth/ipv6/icmpv6"),
        (eth / ARP(op=1, psrc="10.0.0.1", pdst="10.0.0.2"), "arp who has 10.0.0.2, tell 10.0.0.1", "eth/arp"),
        (eth / ARP(op=2, psrc="10.0.0.1", hwsrc=FROM), f"arp 10.0.0.1 is at {FROM}", "eth/arp"),
        (eth / MPLS(label=33, s=0) / MPLS(label=44, s=1) / ip / udp / data, f"mpls 33, mpls 44, {ends} udp, payload 30",
         "eth/mpls/mpls/ipv4/udp"),
        (eth / ip / GRE(key_present=1, key=8) / ip / udp / data, f"10.1.2.3 > 10.4.5.6 gre key 8, {ends} udp, payload 30",
         "eth/ipv4/gre/ipv4/udp"),
        (eth / ip / UDP(sport=1111, dport=4789) / VXLAN(vni=5) / eth / ip / udp / data,
         f"10.1.2.3:1111 > 10.4.5.6:4789 udp, vxlan 5, {ends} udp, payload 30", "eth/ipv4/udp/vxlan/eth/ipv4/udp"),
        (eth / ip / udp / Raw(b"z" * 1200), f"{ends} udp, payload 1200", "eth/ipv4/udp"),
        (eth / IP(src="10.1.2.3", dst="10.4.5.6", chksum=1) / udp / data, "10.1.2.3:1111 > 10.4.5.6:2222 [wrong ipv4.cksum] udp, payload 30",
         "eth/ipv4/udp"),
        (Ether(src=FROM, dst=TO, type=0x9999) / data, f"{FROM} > {TO} type 0x9999, payload 30", "eth"),
    ]


class Peer:
    """Sends frames from the kernel's end."""

    def __init__(self, veth):
        self.proc = subprocess.Popen([*veth.prefix, sys.executable, __file__, veth.b], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def send(self, *frames):
        for frame in frames:
            print(frame.hex(), file=self.proc.stdin, flush=True)
            assert self.proc.stdout.readline() == "sent\n"

    def close(self):
        self.proc.stdin.close()
        self.proc.wait(60)


@pytest.fixture
def peer(veth):
    p = Peer(veth)
    yield p
    p.close()


def mark():
    return bytes.fromhex(TO.replace(":", "") + FROM.replace(":", "")) + MARK.to_bytes(2, "big") + bytes(46)


def begun(p, peer, command):
    """A monitor that sees frames by now."""
    p.send(command)
    end = time.monotonic() + 60
    while not p.ready():
        assert time.monotonic() < end, p.errors()
        peer.send(mark())
        time.sleep(0.05)


def ended(p):
    """The program by Ctrl-C, and before it the monitor, which says what it has come to."""
    seen = []
    p.proc.send_signal(signal.SIGINT)
    while "monitored" not in (doc := document(p.line())):
        seen.append(doc["monitor"])
    return seen, doc["monitored"]


def not_marks(seen):
    return [line for line in seen if f"type 0x{MARK:04x}" not in line["summary"]]


@pytest.mark.parametrize("kind", ["packet", "xdp"])
def test_lines_say_what_was_sent(veth, kind, live, peer):
    p = live(["--no-screen", "-p", f"{kind}:{veth.a}"], prefix=veth.prefix)
    begun(p, peer, "monitor 0 for 100s rate 10000")
    frames = stacks()
    peer.send(*(bytes(frame) for frame, _, _ in frames))
    seen = []
    while len(seen) < len(frames):
        seen += not_marks([document(p.line())["monitor"]])
    rest, sums = ended(p)
    assert not not_marks(rest) and sums["not_shown"] == sums["not_taken"] == 0
    for (frame, summary, stack), line in zip(frames, seen):
        assert (line["summary"], line["stack"]) == (summary, stack)
        assert line["direction"] == "rx" and line["port"] == 0 and line["not_shown"] == 0
        assert line["size"] == max(len(frame), line["size"] - 4) + 4 and bytes.fromhex(line["hex"]) == bytes(frame)[:len(line["hex"]) // 2]
        assert len(line["hex"]) // 2 >= min(256, len(frame))
    times = [line["wall_ns"] for line in seen]
    assert times == sorted(times) and abs(times[-1] / 1e9 - time.time()) < 60


def test_a_filter_lets_through_what_tcpdump_lets_through(veth, live, peer, need, tmp_path):
    need("tcpdump")
    from scapy.all import wrpcap
    frames = [frame for frame, _, _ in stacks()]
    path = tmp_path / "all.pcap"
    wrpcap(str(path), frames)
    for expr in ("udp port 2222", "vlan 7", "arp", "ip6", "tcp[tcpflags] & tcp-syn != 0", "greater 1000"):
        want = subprocess.run(["tcpdump", "-nr", str(path), "-w", str(tmp_path / "some.pcap"), expr], stderr=subprocess.PIPE, text=True, check=False)
        assert want.returncode == 0, want.stderr
        from scapy.all import rdpcap
        passed = [bytes(f) for f in rdpcap(str(tmp_path / "some.pcap"))]
        p = live(["--no-screen", "-p", f"packet:{veth.a}"], prefix=veth.prefix)
        begun(p, peer, f"monitor 0 filter 'ether proto 0x{MARK:04x} or ({expr})' for 100s rate 10000")
        peer.send(*(bytes(f) for f in frames), mark())
        seen = []
        while len(seen) < len(passed):
            seen += not_marks([document(p.line())["monitor"]])
        rest, sums = ended(p)
        assert not not_marks(rest) and sums["not_shown"] == 0, expr
        for got, want in zip(seen, passed):
            assert bytes.fromhex(got["hex"])[:len(want)] == want[:256 if len(want) > 256 else None][:len(got["hex"]) // 2], expr


def test_the_last_frame(veth, live, peer):
    from scapy.all import IP, UDP, Dot1Q, Ether
    p = live(["--no-screen", "-p", f"packet:{veth.a}"], prefix=veth.prefix)
    none = p.ask("show frame 0 rx")
    assert none["frames"] == [] and none["none"] == [0]
    for port in (1000, 2000, 3000):
        peer.send(bytes(Ether(src=FROM, dst=TO) / Dot1Q(vlan=9) / IP(dst="10.0.0.1") / UDP(dport=port)))
    end = time.monotonic() + 60
    while True:
        doc = p.ask("show frame 0 rx")
        frame = doc["frames"][0] if doc["frames"] else None
        if frame is not None and frame["headers"][3]["fields"]["dst"] == 3000:
            break
        assert time.monotonic() < end, doc
    assert doc["none"] == [] and doc["direction"] == "rx" and frame["stack"].startswith("eth/vlan/ipv4/udp")
    assert frame["headers"][1]["fields"]["vid"] == 9 and frame["headers"][3]["fields"]["cksum_ok"]
    assert frame["queue"] == 0 and abs(frame["wall_ns"] / 1e9 - time.time()) < 60 and frame["age_ns"] < 60e9
    later = p.ask("show frame 0 rx")["frames"][0]
    assert later["hex"] == frame["hex"] and later["age_ns"] > frame["age_ns"] and abs(later["wall_ns"] - frame["wall_ns"]) < 1e6
    p.send("reset 0")
    assert p.ask("show frame 0 rx")["none"] == [0]


def tapped(plan):
    """Whether workers have a plan in which somebody looks at what is received."""
    return all(w["plan"] == w["acknowledged"] and all(task.get("taps", 1) > 0 for task in w["tasks"]) for w in plan["workers"])


def test_all_that_was_sent_is_shown_or_counted(live, tmp_path):
    """Both ends of a wire, while a client sends."""
    path = str(tmp_path / "s")
    p = live(["--no-screen", "-p", "wire", f"--socket={path}"])
    p.stats()
    p.send("monitor 0,1 both for 100s rate 50")

    def ask(command, code=0):
        r = run(["attach", path, "--json", "-e", command])
        assert r.returncode == code, r.stderr
        return r

    until(lambda: tapped(documents(ask("show plan"))[-1]), "the monitor's taps")
    assert "is being monitored already" in ask("monitor 1 frames 1 for 1s", 2).stderr
    lines = []
    with subprocess.Popen([binary(), "attach", path, "--json", "-e", "set 0 rate 20kpps; set 0 count 20000; start 0; wait 0"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as sending:
        while sending.poll() is None:  # a program whose lines nobody reads stands still, and what it sends would never end
            while p.ready():
                lines.append(document(p.line())["monitor"])
            time.sleep(0.01)
        assert sending.returncode == 0, sending.stderr.read()
    last, sums = ended(p)
    lines += last
    assert sums["shown"] + sums["not_shown"] == 40000 and len(lines) == sums["shown"] > 0
    assert {(d["port"], d["direction"]) for d in lines} <= {(0, "tx"), (1, "rx")}
    assert [d["wall_ns"] for d in lines] == sorted(d["wall_ns"] for d in lines)
    # in ten parts of a second, each of five frames of both together
    begin, n = 0, 0
    for d in lines:
        if d["wall_ns"] - begin >= 0.1e9 - 1000:
            begin, n = d["wall_ns"], 0
        n += 1
        assert n <= 5


def test_a_client_is_bounded(server):
    s = server()
    assert "this would never end" in s.ask("monitor 1", code=2).stderr
    assert "no more than 1000" in s.ask("monitor 1 frames 1001", code=2).stderr
    s.ask("set 0 rate 100kpps; start 0")
    r = run(["attach", s.socket, "--json", "-e", "monitor 1 for 60s rate 10000"])
    docs = documents(r)
    assert len(docs) == 1001 and docs[-1]["monitored"]["shown"] == 1000


def test_a_monitor_ends_by_its_bound(tmp_path):
    """In batch, as text: lines on standard output alone, and the sum on standard error."""
    r = good(["-p", "wire", "-b", "-e", "set 0 rate 1kpps; start 0; monitor 1 frames 7 hex; monitor 1 filter 'tcp' for 200ms"])
    lines = [line for line in r.stdout.splitlines() if not re.match("[0-9a-f]{4}  ", line)]
    shown = [line for line in lines if not line.startswith("... ")]
    assert len(shown) == 7
    for line in shown:
        assert re.fullmatch(r"\d\d:\d\d:\d\d\.\d{9} 1 rx q0   64  192\.168\.0\.1:1234 > 192\.168\.1\.1:5678 udp, payload 18", line)
    assert r.stderr.count("monitor: ") == 2 and "monitor: 0 frames shown\n" in r.stderr
    assert run(["-p", "wire", "-b", "-e", "monitor 1"]).returncode == 2
    assert "can't parse filter expression" in run(["-p", "wire", "-b", "-e", "monitor 1 filter 'udp pirt' for 1s"]).stderr
    rows = good(["-p", "wire", "-b", "--csv", "-e", "set 0 rate 1kpps; start 0; monitor 1 frames 3"]).stdout.splitlines()
    assert len(rows) == 4 and rows[0].startswith("time,port,direction,queue,size,stack,summary")


def garbage(n, rng):
    """Frames that are random, or damaged, or full of what terminals obey."""
    evil = b"\x1b]0;owned\x07\x1b[2J\x1b[?1049h\x9b31m\x00\xff\x7f\r\n" * 3
    kinds = [bytes(frame) for frame, _, _ in stacks()]
    for i in range(n):
        if i % 3 == 0:
            yield bytes(rng.randrange(256) for _ in range(rng.randrange(14, 200)))
        else:
            frame = bytearray(kinds[i % len(kinds)])
            for _ in range(rng.randrange(8)):
                frame[rng.randrange(12, len(frame))] = rng.randrange(256)
            yield bytes(frame[:rng.randrange(14, len(frame) + 1)] + (evil if i % 3 == 1 else b""))


def test_garbage_is_told_as_text(veth, peer, tmp_path):
    rng = random.Random(1)
    frames = list(garbage(1000, rng))
    with open(tmp_path / "out", "w+b") as file:
        p = subprocess.Popen([*veth.prefix, binary(), "-p", f"packet:{veth.a}", "-b", "-e", "monitor 0 frames 1000 for 60s rate 10000 hex"],
                             stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.PIPE)
        with bounded(p, 120):
            while p.poll() is None:  # it begins some time after the first ones, and ends by itself
                peer.send(*frames)
        err = p.communicate(timeout=60)[1]
        file.seek(0)
        out = file.read()
    assert p.returncode == 0, err
    assert b"1000 frames shown" in err
    assert not set(out) - set(range(0x20, 0x7F)) - {10}
    assert len(re.findall(rb"^\d\d:\d\d:\d\d\.\d{9} 0 rx q0 ", out, re.M)) == 1000


def test_lines_on_the_screen(tmp_path):
    """They go where other output goes; Ctrl-C ends it and the prompt is back."""
    with Screen(tmp_path, "-p", "wire") as t:
        t.ready()
        t.cmd("set 0 rate 1kpps; start 0")
        t.type("monitor 1 filter 'udp' rate 5\r")
        t.until(lambda: re.search(r"1 rx q0 +64 +192\.168\.0\.1:1234 > 192\.168\.1\.1:5678 udp", t.text()), "a line")
        t.type("\x03").prompt()
        t.until(lambda: re.search(r"monitor: \d+ frames? shown", t.text()), "the sum")


def main(ifname):
    import socket
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    s.bind((ifname, 0))
    for line in sys.stdin:
        s.send(bytes.fromhex(line))
        print("sent", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
