# SPDX-License-Identifier: BSD-3-Clause
"""Ports that are hosts, judged by Linux and its tools at the other end: on veth by each kind of port, and on a tap."""
import json
import os
import re
import subprocess
import sys
import time

import pytest

from harness import Veth, run
from test_host import fates, host, settled
from test_host_icmp import kernel

OWN = "10.0.0.1/16,fd00::1/64"
ADDRESSES = {"10.0.0.1", "fd00::1"}


class Link:
    """A link of which Linux has one end, `dev` with 10.0.0.2 and fd00::2, and a program the other one."""

    def __init__(self, kind):
        self.net = Veth(offloads=kind == "packet")
        self.options = []  # EAL's, and maps
        self.prefix, self.do = self.net.prefix, self.net.do
        self.spec, self.dev = ("tap:wrtap0", "wrtap0") if kind == "tap" else (f"{kind}:{self.net.a}", self.net.b)
        if kind != "tap":
            self.address()

    def address(self):
        self.do("sysctl", "-q", f"net.ipv6.conf.{self.dev}.disable_ipv6=0", f"net.ipv6.conf.{self.dev}.keep_addr_on_down=1",
                f"net.ipv6.conf.{self.dev}.router_solicitations=0")
        self.do("ip", "link", "set", self.dev, "up")
        self.do("ip", "addr", "add", "10.0.0.2/24", "dev", self.dev)
        self.do("ip", "-6", "addr", "add", "fd00::2/64", "dev", self.dev, "nodad")

    def host(self, live, *settings):
        """A program whose port is a host with OWN, all of whose addresses are in use."""
        p = live([*self.options, "--no-screen", "-p", self.spec, "--ip", OWN], prefix=self.prefix)
        if self.spec.startswith("tap:"):
            p.stats()
            self.address()
        p.send("; ".join(["set 0 answer arp,nd,ping,unreachable", *settings]))
        until(lambda: p.ask("show host")["ports"], "the link", p)
        own = settled(p)
        assert set(own.values()) == {"used"} and ADDRESSES < set(own)
        return p

    def tool(self, *cmd, timeout=60):
        return subprocess.run([*self.prefix, *cmd], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout)

    def neighbour(self, ip):
        found = [n for n in json.loads(self.do("ip", "-j", "neigh", "show", "dev", self.dev)) if n["dst"] == ip]
        return (found[0].get("lladdr"), found[0]["state"][0]) if found else (None, None)

    def mac(self):
        return self.net.link(self.dev)["address"]

    def inject(self, kind, n):
        """Frames from Linux's end, made by this file. Returns when all of them are sent."""
        subprocess.run([*self.prefix, sys.executable, __file__, self.dev, kind, str(n)], check=True, timeout=120)


def until(what, text, program=None, timeout=60):
    """The first that is true of what() says."""
    end = time.monotonic() + timeout
    while not (got := what()):
        assert time.monotonic() < end, (text, program.errors() if program else "", program.ask("show host") if program else "")
        time.sleep(0.05)
    return got


def need_tap(kind):
    if kind == "tap" and not os.path.exists("/dev/net/tun"):
        pytest.skip("needs /dev/net/tun")


@pytest.fixture(params=["packet", "xdp", "tap"])  # `if` is one of these
def link(request, namespaces):
    need_tap(request.param)
    made = Link(request.param)
    yield made
    made.net.remove()


@pytest.fixture
def plain(namespaces):
    """One of them, for what does not depend on the kind of port."""
    made = Link("packet")
    yield made
    made.net.remove()


def flood(link, p, *args):
    """`ping -f` sees each of its answers, and Linux and the port count the same: all that was asked was answered."""
    # Without a deadline ping leaves when its last answers take twice as long as the slowest before them, which on a busy machine they do.
    # With one it asks again for each 10 ms in which nothing came.
    before, ours = kernel(link), host(p)["answered"]["ping"]
    told = link.tool("ping", "-n", "-q", "-f", "-w", "50", *args)
    sent, back = map(int, re.search(r"(\d+) packets transmitted, (\d+) received", told.stdout).groups())
    assert told.returncode == 0 and sent >= back == int(args[1]) and not re.search("duplicates|errors", told.stdout), told.stdout
    counts = ("Icmp6OutEchos", "Icmp6InEchoReplies") if ":" in args[-1] else ("OutEchos", "InEchoReps")
    until(lambda: [*(kernel(link)[c] - before[c] for c in counts), host(p)["answered"]["ping"] - ours] == [sent] * 3, f"{counts} {sent}", p)


def test_its_tools_find_us(link, live, need):
    """ping -f, ping -6, arping, ndisc6 and tracepath say what they say of a Linux host."""
    need("ping", "arping", "ndisc6", "tracepath")
    p = link.host(live)
    for args in ("-c 1000 10.0.0.1", "-c 300 -s 1472 -M do 10.0.0.1", "-c 1000 fd00::1", "-c 300 -s 1452 fd00::1"):
        flood(link, p, *args.split())
    mac = link.neighbour("10.0.0.1")[0]
    assert mac == link.neighbour("fd00::1")[0] is not None
    told = link.tool("arping", "-c", "3", "-w", "30", "-I", link.dev, "10.0.0.1")
    assert told.returncode == 0 and f"[{mac.upper()}]" in told.stdout.upper() and re.search(r"Received [123] response", told.stdout), told.stdout
    told = link.tool("arping", "-D", "-c", "1", "-w", "30", "-I", link.dev, "10.0.0.1")
    assert told.returncode == 1 and mac in told.stdout.lower(), told.stdout  # somebody has it
    told = link.tool("ndisc6", "-n", "-r", "20", "fd00::1", link.dev)
    assert told.returncode == 0 and mac in told.stdout.lower() and "from fd00::1" in told.stdout, told.stdout
    for to in ("10.0.0.1", "fd00::1"):
        told = link.tool("tracepath", "-n", to)
        assert f" 1:  {to} " in told.stdout and "reached" in told.stdout and "Resume: pmtu 1500 hops 1 back 1" in told.stdout, told.stdout
    now = host(p)
    assert now["answered"]["ping"] >= 2600 and now["answered"]["unreachable"] >= 2 and now["dropped"] == 0
    assert not any(now["refused"].values()), now["refused"]
    assert p.quit()[0] == 0


def test_ip_neigh_goes_through_its_states(link, live):
    """As Linux sees us: reachable, stale when nothing confirms it, asked again while we are silent, and reachable as soon as we answer."""
    p = link.host(live, "set 0 answer arp,nd,ping")
    for family in ("ipv4", "ipv6"):
        link.do("sysctl", "-q", f"net.{family}.neigh.{link.dev}.base_reachable_time_ms=3000",
                f"net.{family}.neigh.{link.dev}.delay_first_probe_time=1", f"net.{family}.neigh.{link.dev}.ucast_solicit=100")
    mac = p.ask("show ports")["ports"][0]["mac"]

    def becomes(state):
        for ip in sorted(ADDRESSES):
            assert until(lambda: link.neighbour(ip)[1] == state and link.neighbour(ip), f"{ip} {state}", p)[0] == mac

    def speak():
        """Linux has something to send to us; whether it comes back is another matter."""
        for ip in sorted(ADDRESSES):
            link.tool("ping", "-n", "-q", "-c", "1", "-W", "1", ip)

    link.do("ip", "neigh", "flush", "dev", link.dev)
    for ip in sorted(ADDRESSES):
        told = link.tool("ping", "-n", "-q", "-c", "1", "-W", "20", ip)
        assert told.returncode == 0, told.stdout
        assert link.neighbour(ip)[0] == mac
    becomes("STALE")
    before = host(p)["answered"]
    p.ask("set 0 answer none; show host")
    until(lambda: p.ask("show host"), "the setting", p)
    speak()
    becomes("PROBE")
    p.send("set 0 answer arp,nd,ping")
    becomes("REACHABLE")
    until(lambda: all(host(p)["answered"][kind] > before[kind] for kind in ("arp", "nd")), "both", p)
    becomes("STALE")
    assert p.quit()[0] == 0


def test_the_link_goes_and_comes_back(link, live):
    """Addresses are tried again; the gateway is asked again; streams go on."""
    p = link.host(live, "set 0 gateway 10.0.0.2,fd00::2", "set 0 ipv4.dst 192.0.2.1", "set 0 rate 2kpps", "start 0")

    def gateways():
        return {n["address"]: n for n in p.ask("show neighbours")["ports"][0]["neighbours"] if n["gateway"]}

    def sends():
        """Linux counts more frames now."""
        before = link.net.packets(link.dev, "rx")
        until(lambda: link.net.packets(link.dev, "rx") > before + 200, "frames of the stream", p)

    sends()
    until(lambda: all(n["state"] == "reachable" for n in gateways().values()), "the gateways", p)
    probes = host(p)["probes"]
    link.do("ip", "link", "set", link.dev, "down")
    until(lambda: p.ask("show ports")["ports"][0]["link"] == "down", "the link to go", p)
    link.do("ip", "link", "set", link.dev, "up")
    until(lambda: host(p)["probes"] >= probes + 3, "questions", p)
    own = until(lambda: settled(p), "the addresses", p)
    assert own["10.0.0.1"] == "used"
    assert host(p)["probes"] >= probes + 3
    until(lambda: gateways()["10.0.0.2"]["state"] == "reachable", "the gateway", p)
    assert gateways()["10.0.0.2"]["mac"] == link.mac()
    sends()
    p.send("stop 0; wait 0")
    assert p.stats(20)[0]["run"]["state"] == "idle" and p.quit()[0] == 0


def test_an_address_that_linux_tries(plain, live, need):
    """Linux does not use what we have, and what it uses all the same is told and counted."""
    need("arping")
    p = plain.host(live)
    plain.do("ip", "-6", "addr", "add", "fd00::1/64", "dev", plain.dev)

    def tried():
        return [a for a in json.loads(plain.do("ip", "-j", "addr", "show", "dev", plain.dev))[0]["addr_info"] if a.get("dadfailed")]

    assert until(tried, "Linux to find it", p)[0]["local"] == "fd00::1"
    assert plain.tool("arping", "-D", "-c", "1", "-w", "30", "-I", plain.dev, "10.0.0.1").returncode == 1
    before = host(p)["claims"]
    plain.do("ip", "addr", "add", "10.0.0.1/24", "dev", plain.dev)
    plain.tool("arping", "-A", "-c", "3", "-I", plain.dev, "10.0.0.1")
    until(lambda: host(p)["claims"] >= before + 3, "claims", p)
    assert p.errors().count(f"its address 10.0.0.1 is claimed by {plain.mac()}") == 1
    assert set(settled(p).values()) == {"used"} and p.quit()[0] == 0


FLOODS = {"arp-spoofed": ("unasked", 2000), "na-spoofed": ("unasked", 2000), "na-unsolicited": ("heard", 2000),
          "arp-questions": ("answered.arp", 2000), "ns-questions": ("answered.nd", 2000), "na-claims": ("claims", 1000),
          "na-bad-hops": ("refused.hop_limit", 1000)}


@pytest.mark.parametrize("flood", FLOODS)
def test_floods_are_bounded_and_counted(plain, live, flood):
    """Each frame is counted once, neighbours are at most so many, and the gateway stays what it is."""
    p = plain.host(live, "set 0 gateway 10.0.0.2,fd00::2")

    def table():
        return p.ask("show neighbours")["ports"][0]

    def gateways():
        return {n["address"]: (n["mac"], n["state"]) for n in table()["neighbours"] if n["gateway"]}

    def taken(now):
        return sum(now["answered"].values()) + now["heard"] + now["claims"] + sum(now["refused"].values())

    until(lambda: all(state == "reachable" for _, state in gateways().values()), "the gateways", p)
    before = host(p)
    count, n = FLOODS[flood]
    plain.inject(flood, n)
    assert until(lambda: taken(host(p)) >= taken(before) + n, "all of them", p)
    now = until(lambda: plain.tool("ping", "-n", "-q", "-c", "1", "-W", "20", "10.0.0.1").returncode == 0 and host(p), "an answer", p)
    for doc in (before, now):
        doc.update({f"{group}.{key}": value for group in ("answered", "refused") for key, value in doc[group].items()})
    # What was heard too fast to be learned from is counted, and no more is missing.
    assert now[count] - before[count] + (now["unheard"] - before["unheard"] if count == "unasked" else 0) >= n, now
    assert taken(now) - taken(before) < n + 100, now  # and some words of Linux's own
    assert len(table()["neighbours"]) <= 8192
    if flood.endswith("questions"):
        learned = len(table()["neighbours"]) + table()["evicted"] + now["unheard"]
        assert learned >= n
    else:
        assert len(table()["neighbours"]) < 20
    until(lambda: set(gateways().values()) == {(plain.mac(), "reachable")}, "the gateways", p)
    assert set(settled(p).values()) == {"used"} and p.quit()[0] == 0


def test_a_spoofed_move_does_not_last(plain, live):
    """Somebody says that he is the gateway: as RFC 4861 wants it he is believed until he is asked, and the true one answers."""
    p = plain.host(live, "set 0 gateway 10.0.0.2,fd00::2")

    def gateways():
        return {(n["mac"], n["state"]) for n in p.ask("show neighbours")["ports"][0]["neighbours"] if n["gateway"]}

    until(lambda: gateways() == {(plain.mac(), "reachable")}, "the gateways", p)
    plain.inject("moves", 1)
    for ip in ("10.0.0.2", "fd00::2"):
        until(lambda: f"its gateway {ip} is at 02:00:00:00:66:66 now" in p.errors(), "the lie", p)
    until(lambda: gateways() == {(plain.mac(), "reachable")}, "the truth", p)
    assert p.quit()[0] == 0


def test_moves_without_end_are_told_in_few_lines(plain, live):
    """Who says again and again that the gateway has moved fills neither the log nor the screen. What was not told is counted."""
    p = plain.host(live, "set 0 gateway 10.0.0.2")
    begin = time.monotonic()
    plain.inject("flaps", 3000)
    said = r"port 0: (\d+) more changes of its addresses and neighbours came too fast to be told"
    until(lambda: sum(map(int, re.findall(said, p.errors()))) > 2000, "what was not told", p, 60)
    lines = [line for line in p.errors().splitlines() if "is at 02:" in line]
    assert 0 < len(lines) <= 20 + time.monotonic() - begin + 1, len(lines)
    assert p.quit()[0] == 0


def test_two_programs_meet(namespaces, live):
    """Two programs in two namespaces find each other, ask each other and send to each other; what one says that it has sent the other one has."""
    one, two = Veth(), Veth()
    try:
        one.do("ip", "link", "set", one.b, "down", "netns", two.ns, "name", "wrc")
        two.do("ip", "link", "set", "wrc", "up")
        ends = [live(["--no-screen", "-p", f"packet:{one.a}", "--ip", OWN], prefix=one.prefix),
                live(["--no-screen", "-p", "packet:wrc", "--ip", "10.0.0.2/24,fd00::2/64"], prefix=two.prefix)]
        for p in ends:
            until(lambda: p.ask("show host")["ports"], "the link", p)
            assert set(settled(p).values()) == {"used"}
        ends[0].send("set 0 ipv4.dst 10.0.0.2; set 0 rate 20kpps; start 0")
        ends[1].send("set 0 frame eth/ipv6/udp; set 0 ipv6.dst fd00::1; set 0 rate 20kpps; start 0")
        for p in ends:
            p.more(200)
        for asked in (ends[0].ask("ping 0 fd00::2 flood", 60), ends[1].ask("ping 0 10.0.0.1 flood", 60)):
            assert fates(asked["ping"]) and asked["ping"]["sent"] == 1000
        macs = [p.ask("show ports")["ports"][0]["mac"] for p in ends]
        for p, other in ((ends[0], macs[1]), (ends[1], macs[0])):
            assert {n["mac"] for n in p.ask("show neighbours")["ports"][0]["neighbours"]} == {other}
            to = "10.0.0.2" if p is ends[0] else "fd00::1"
            assert p.ask(f"arping 0 {to} count 2 every 1ms", 30)["arping"]["macs"] == [other]
            eth = next(h for h in p.ask("show frame 0")["frames"][0]["headers"] if h["name"] == "eth")
            assert eth["fields"]["dst"] == other
        for p in ends:
            p.send("stop 0; wait 0")
            p.stats(20)
        sent = [p.stats()[0]["tx"]["packets"] for p in ends]
        assert two.packets("wrc", "rx") == sent[0] and one.packets(one.a, "rx") == sent[1]
        assert all(p.stats()[0]["rx"]["packets"] > 2000 for p in ends)
        for p in ends:
            # A worker that stands still has no room for all of the other one's stream, and then for no question either: these are counted as missed.
            unseen, missed = 1000 - host(p)["answered"]["ping"], p.stats()[0]["rx"]["missed"]
            assert 0 <= unseen <= missed and host(p)["dropped"] == 0 and p.quit()[0] == 0
    finally:
        one.remove()
        two.remove()


def test_closed_ports_are_told_of_at_a_bounded_rate(plain, live):
    """A stream for our own address is answered so many times a second, and each frame is counted; as it is set at first, none is."""
    p = plain.host(live)
    mac = p.ask("show ports")["ports"][0]["mac"]
    before = host(p)
    plain.do("ip", "neigh", "replace", "10.0.0.1", "lladdr", mac, "dev", plain.dev)
    begin = time.monotonic()
    plain.inject("udp", 6000)
    now = until(lambda: host(p)["answered"]["unreachable"] + host(p)["refused"]["rate"] >= 6000 and host(p), "all of them", p)
    took = time.monotonic() - begin
    answered = now["answered"]["unreachable"] - before["answered"]["unreachable"]
    assert 50 <= answered <= 50 + 1000 * took + 1
    assert answered + now["refused"]["rate"] == 6000
    p.send("set 0 answer default; clear 0")
    until(lambda: "unreachable" not in str(p.ask("show host")["ports"][0]["refused"]), "the setting", p)
    plain.inject("udp", 100)
    until(lambda: p.stats()[0]["rx"]["packets"] >= 100, "frames", p)
    assert host(p)["answered"]["unreachable"] == 0 and p.quit()[0] == 0


CONNECT = """import socket, sys
to = sys.argv[1]
s = socket.socket(socket.AF_INET6 if ":" in to else socket.AF_INET)
s.settimeout(float(sys.argv[3]))
try:
    s.connect((to, int(sys.argv[2])))
    print("connected")
except OSError as e:
    print(type(e).__name__)
"""


def test_tcp_of_no_connection_is_reset(link, live):
    """As by a host on whose port nobody listens: Linux is refused at once, by RSTs whose numbers and checksums it takes; and it is not, as it is set
    at first. A server of flows has its connections beside it."""
    p = link.host(live, "set 0 answer arp,nd,ping,reset", "set 0 answer.for 10.7.0.0/16", "set 0 flow server")
    link.do("ip", "route", "add", "10.7.0.0/16", "via", "10.0.0.1", "dev", link.dev)

    def connect(to, port, seconds=30):
        return link.tool(sys.executable, "-c", CONNECT, to, str(port), str(seconds)).stdout.strip()

    asked = [("10.0.0.1", 81), ("fd00::1", 443), ("10.7.3.4", 80), ("10.0.0.1", 80)]
    assert [connect(*to) for to in asked] == ["ConnectionRefusedError"] * len(asked)
    # a SYN that the kernel sent again while the first one was on its way has its RST, too
    assert host(p)["answered"]["reset"] >= len(asked) and host(p)["refused"]["checksum"] == 0
    p.send("start 0")
    until(lambda: connect("10.0.0.1", 80) == "connected", "the server", p)
    assert connect("10.0.0.1", 81) == "ConnectionRefusedError"
    assert p.ask("show flows")["flows"][0]["connections"]["opened"] == 1
    p.send("stop 0; stop 0; set 0 answer default; clear 0")
    until(lambda: host(p)["answered"]["reset"] == 0, "the setting", p)
    assert connect("10.0.0.1", 81, 0.3) in ("timeout", "TimeoutError")
    assert host(p)["answered"]["reset"] == 0 and p.quit()[0] == 0


@pytest.mark.parametrize("dst, why", [("own", "ipv6.dst is the port's own address"), ("mapped", "an IPv4 address in the form of IPv6")])
def test_a_destination_that_nobody_could_have(plain, dst, why):
    """It is refused at once and nobody is asked: the port's own link-local address, which nobody has set, and IPv4 in the form of IPv6."""
    args = ["-p", plain.spec, "--ip", OWN, "-b", "-k"]
    local = "::ffff:10.0.0.9"
    if dst == "own":
        doc = json.loads(run([*args, "--json", "-e", "sleep 1500ms; show host"], prefix=plain.prefix).stdout.splitlines()[-1])
        local = next(own["address"] for own in doc["ports"][0]["addresses"] if own["address"].startswith("fe80:"))
    told = run([*args, "-e", f"set 0 frame eth/ipv6/udp; set 0 ipv6.dst {local}; start 0; show host"], prefix=plain.prefix)
    assert told.returncode != 0 and local in told.stderr and why in told.stderr, told.stderr


def frames(kind, n, mac):
    """The frames of a flood, for a port with this MAC address and OWN."""
    from scapy.all import ARP, Ether, ICMPv6ND_NA, ICMPv6ND_NS, ICMPv6NDOptDstLLAddr, ICMPv6NDOptSrcLLAddr, IP, IPv6, Raw, UDP
    for i in range(n):
        liar = f"02:00:00:00:{i >> 8 & 255:02x}:{i & 255:02x}"
        four, six = f"10.0.0.{3 + i % 250}", f"fd00::{1000 + i:x}"
        if kind == "arp-spoofed":
            yield Ether(src=liar, dst=mac) / ARP(op=2, hwsrc=liar, psrc=four, hwdst=mac, pdst="10.0.0.1")
        elif kind == "arp-questions":
            yield Ether(src=liar, dst=mac) / ARP(op=1, hwsrc=liar, psrc=f"10.0.{1 + i // 250}.{3 + i % 250}", pdst="10.0.0.1")
        elif kind == "ns-questions":
            yield Ether(src=liar, dst=mac) / IPv6(src=six, dst="fd00::1", hlim=255) / ICMPv6ND_NS(tgt="fd00::1") / ICMPv6NDOptSrcLLAddr(lladdr=liar)
        elif kind == "udp":
            yield Ether(src=liar, dst=mac) / IP(src="10.0.0.2", dst="10.0.0.1") / UDP(sport=1000, dport=i % 60000) / Raw(b"x" * 20)
        elif kind == "flaps":
            yield Ether(src=liar, dst=mac) / ARP(op=2, hwsrc=liar, psrc="10.0.0.2", hwdst=mac, pdst="10.0.0.1")
        elif kind == "moves":
            yield Ether(src="02:00:00:00:66:66", dst=mac) / ARP(op=2, hwsrc="02:00:00:00:66:66", psrc="10.0.0.2", hwdst=mac, pdst="10.0.0.1")
            yield (Ether(src="02:00:00:00:66:66", dst="33:33:00:00:00:01") / IPv6(src="fd00::2", dst="ff02::1", hlim=255) /
                   ICMPv6ND_NA(tgt="fd00::2", R=0, S=0, O=1) / ICMPv6NDOptDstLLAddr(lladdr="02:00:00:00:66:66"))
        else:
            solicited = kind == "na-spoofed"
            target = "fd00::1" if kind == "na-claims" else six
            yield (Ether(src=liar, dst=mac if solicited else "33:33:00:00:00:01") /
                   IPv6(src=target, dst="fd00::1" if solicited else "ff02::1", hlim=64 if kind == "na-bad-hops" else 255) /
                   ICMPv6ND_NA(tgt=target, R=0, S=int(solicited), O=1) / ICMPv6NDOptDstLLAddr(lladdr=liar))


def inject(dev, kind, n):
    """At a pace that a busy machine bears: what the kernel cannot keep is lost, and would not be counted."""
    import socket
    mac = next((entry["lladdr"] for entry in json.loads(subprocess.run(["ip", "-j", "neigh", "show", "dev", dev], stdout=subprocess.PIPE,
                                                                       check=True).stdout) if entry["dst"] in ADDRESSES and "lladdr" in entry))
    ready = [bytes(f) for f in frames(kind, n, mac)]
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as s:
        s.bind((dev, 0))
        for i, frame in enumerate(ready):
            s.send(frame.ljust(60, b"\0"))
            if i % 50 == 49:
                time.sleep(0.01)


if __name__ == "__main__":
    inject(sys.argv[1], sys.argv[2], int(sys.argv[3]))
