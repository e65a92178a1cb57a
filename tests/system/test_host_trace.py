# SPDX-License-Identifier: BSD-3-Clause
"""Traceroute through kernels: two that forward, in name spaces of their own, and one at the end."""
import json
import signal
import subprocess
import time

import pytest

from harness import Tcpdump, binary, run, tshark
from test_host import neighbours

FORWARD = ["net.ipv4.ip_forward=1", "net.ipv4.icmp_ratelimit=0", "net.ipv6.icmp.ratelimit=0", "net.ipv6.conf.all.forwarding=1"]


class Path:
    """The program, the router 10.0.0.2 (fd00::2) in its name space, the router 10.1.0.2 (fd01::2), and the end 10.2.0.2 (fd02::2)."""

    def __init__(self, veth):
        self.veth = veth
        self.near, self.far, self.end = veth.ns, f"{veth.ns}-far", f"{veth.ns}-end"
        for ns in (self.far, self.end):
            subprocess.run(["ip", "netns", "add", ns], check=True)
        try:
            self.make()
        except BaseException:
            self.remove()
            raise

    def make(self):
        for ns in (self.near, self.far, self.end):
            self.do(ns, "sysctl", "-q", "-w", *FORWARD)
        self.do(self.near, "sysctl", "-q", "-w", f"net.ipv4.conf.{self.veth.a}.forwarding=0", f"net.ipv6.conf.{self.veth.a}.forwarding=0")
        self.do(self.near, "ip", "link", "add", "south", "type", "veth", "peer", "name", "north", "netns", self.far)
        self.do(self.far, "ip", "link", "add", "south", "type", "veth", "peer", "name", "north", "netns", self.end)
        for ns, link, net, last in ((self.near, self.veth.b, 0, 2), (self.near, "south", 1, 1), (self.far, "north", 1, 2), (self.far, "south", 2, 1),
                                    (self.end, "north", 2, 2)):
            self.do(ns, "sysctl", "-q", "-w", f"net.ipv6.conf.{link}.disable_ipv6=0")
            self.do(ns, "ip", "link", "set", link, "up")
            self.do(ns, "ip", "addr", "add", f"10.{net}.0.{last}/24", "dev", link)
            self.do(ns, "ip", "-6", "addr", "add", f"fd0{net}::{last}/64", "dev", link, "nodad")
        for ns, four, six, via in ((self.near, "10.0.0.0/8", "fd00::/8", (1, 2)), (self.far, "10.0.0.0/24", "fd00::/64", (1, 1)),
                                   (self.end, "10.0.0.0/8", "fd00::/8", (2, 1))):
            self.do(ns, "ip", "route", "add", four, "via", f"10.{via[0]}.0.{via[1]}")
            self.do(ns, "ip", "-6", "route", "add", six, "via", f"fd0{via[0]}::{via[1]}")

    def do(self, ns, *cmd):
        subprocess.run(["ip", "netns", "exec", ns, *cmd], check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def remove(self):
        for ns in (self.far, self.end):
            subprocess.run(["ip", "netns", "del", ns], check=False)

    def args(self):
        return ["-p", f"packet:{self.veth.a}", "--ip", "10.0.0.1/24,fd00::1/64"]

    def program(self, live):
        p = live(["--no-screen", "-k", *self.args()], prefix=self.veth.prefix)
        p.send("set 0 gateway 10.0.0.2,fd00::2")
        neighbours(p, "reachable", 2)  # while a machine stands still its questions go unanswered, and nothing is sent without an answer
        return p


@pytest.fixture
def path(veth):
    made = Path(veth)
    yield made
    made.remove()


def trace(p, line):
    found = p.ask(f"traceroute 0 {line}", 60)["traceroute"]
    assert found["sent"] == sum(found[key] for key in ("received", "late", "errors", "lost", "open")), found
    assert found["duplicates"] == found["foreign"] == found["damaged"] == found["unread"] == 0
    assert [hop["hop"] for hop in found["hops"]] == list(range(1, len(found["hops"]) + 1))
    return found


def said(hop):
    """Who has answered at a hop and what he said: a machine that stands still may lose some."""
    heard = [probe for probe in hop["probes"] if probe["state"] in ("answer", "error")]
    assert all(probe["rtt_ns"] > 0 for probe in heard)
    assert all(probe["from"] is probe["error"] is probe["rtt_ns"] is None for probe in hop["probes"] if probe not in heard)
    return {(probe["from"], probe["error"], probe["mtu"]) for probe in heard}


def on_the_way(ip):
    return {(ip, "time exceeded", 0)}


WAYS = {"10.2.0.2": ["10.0.0.2", "10.1.0.2"], "fd02::2": ["fd00::2", "fd01::2"]}


def test_the_way(path, live, tmp_path, need):
    """Each hop is who it is, in both families; what is sent has the hop limits in order, and is right to the last checksum."""
    need("tcpdump", "tshark")
    dump = Tcpdump(path.veth, tmp_path / "sent.pcap")
    p = path.program(live)
    sent = {}
    for to, way in WAYS.items():
        for line, probes, size in ((to, 3, 128), (f"{to} probes 5 size 1518 every 1ms", 5, 1518)):
            found = trace(p, line)
            assert found["reached"] and found["end"] == 3 and found["via"] == way[0] and (found["size"], found["probes"]) == (size, probes)
            assert [said(hop) for hop in found["hops"]] == [*map(on_the_way, way), {(to, None, 0)}]
            assert all(len(hop["probes"]) == probes for hop in found["hops"])
            sent.setdefault(to, []).append(found["sent"])
    short = trace(p, "10.2.0.2 hops 2")
    assert not short["reached"] and short["end"] is None and [said(hop) for hop in short["hops"]] == [*map(on_the_way, WAYS["10.2.0.2"])]
    assert trace(p, "10.0.0.2")["end"] == 1
    assert p.quit()[0] == 1  # one has not reached its end
    until = time.monotonic() + 60
    while dump.counts()[0] < sum(map(sum, sent.values())):  # frames that it leaves out are in the other numbers
        assert time.monotonic() < until, dump.counts()
        time.sleep(0.1)
    dump.proc.send_signal(signal.SIGINT)
    dump.proc.communicate(timeout=60)
    for ip, limit, icmp, number, to in (("ip", "ip.ttl", "icmp", "icmp.seq", "10.2.0.2"),
                                        ("ipv6", "ipv6.hlim", "icmpv6", "icmpv6.echo.sequence_number", "fd02::2")):
        show = f"{ip}.dst == {to} && {icmp}.type == {8 if ip == 'ip' else 128}"
        rows = tshark(tmp_path / "sent.pcap", show, f"{icmp}.{'ident' if ip == 'ip' else 'echo.identifier'}", limit, number)
        first = [(int(hops), int(n, 0)) for ident, hops, n in rows if ident == rows[0][0]]
        # that is more than 9 hops of them where answers took so long that they had been given up
        assert first == [(1 + i // 3, i) for i in range(sent[to][0])] and len(first) >= 9
        right = f"{icmp}.checksum.status == 1" + (" && ip.checksum.status == 1" if ip == "ip" else "")
        assert len(tshark(tmp_path / "sent.pcap", f"{show} && {right}")) == len(rows)


def test_silence(path, live):
    """A router that says nothing is a row of stars, and a destination that says nothing is all that can be known."""
    path.do(path.far, "sysctl", "-q", "-w", "net.ipv4.icmp_ratelimit=1000000", "net.ipv6.icmp.ratelimit=1000000")
    path.do(path.far, "ip", "route", "add", "blackhole", "10.9.0.0/16")
    p = path.program(live)
    for to, way in WAYS.items():
        found = trace(p, to)
        assert found["reached"] and [said(hop) for hop in found["hops"]] == [on_the_way(way[0]), set(), {(to, None, 0)}]
    found = trace(p, "10.9.0.1 hops 20")
    assert not found["reached"] and found["end"] is None and len(found["hops"]) == 20, (found, p.errors())
    assert found["lost"] == 57 + (3 - found["errors"]), (found, p.errors())
    assert [said(hop) for hop in found["hops"]] == [on_the_way("10.0.0.2")] + [set()] * 19
    assert p.quit()[0] == 1
    done = run([*path.args(), "-b", "-e", "set 0 gateway 10.0.0.2; traceroute 0 10.9.0.1 hops 8"], prefix=path.veth.prefix)
    assert done.returncode == 1 and "10.9.0.1 did not answer, and nobody from hop 2 to 8 did" in done.stdout


def test_why_it_ends(path, live):
    """A closed route, one whose MTU is too small, and a neighbour of the last router that is not there, which it says after some seconds."""
    path.do(path.far, "ip", "route", "add", "unreachable", "10.2.7.0/24")
    path.do(path.far, "ip", "route", "add", "prohibit", "10.2.8.0/24")
    path.do(path.far, "ip", "-6", "route", "add", "unreachable", "fd02:7::/64")
    path.do(path.far, "ip", "-6", "route", "add", "prohibit", "fd02:8::/64")
    p = path.program(live)
    for to, hops, error in (("10.2.7.1", 2, "host unreachable"), ("10.2.8.1", 2, "prohibited"), ("fd02:7::1", 2, "no route"),
                            ("fd02:8::1", 2, "prohibited"), ("10.2.0.9", 3, "host unreachable"), ("fd02::9", 3, "host unreachable")):
        until = time.monotonic() + 60
        # A kernel tells of a closed route once a second, so that a later hop may be the first of which it does.
        while (found := trace(p, to))["end"] != hops:
            assert time.monotonic() < until, found
        way = WAYS["fd02::2" if ":" in to else "10.2.0.2"]
        assert not found["reached"] and len(found["hops"]) == hops, found
        assert [said(hop) for hop in found["hops"]] == [*map(on_the_way, way[:hops - 1]), {(way[1], error, 0)}]
    for ns, link in ((path.near, "south"), (path.far, "north")):
        path.do(ns, "ip", "link", "set", link, "mtu", "1280")
    for to, way in WAYS.items():
        found = trace(p, f"{to} size 1400")
        assert [said(hop) for hop in found["hops"]] == [on_the_way(way[0]), {(way[0], "too big", 1280)}]
        assert trace(p, f"{to} size 1200")["reached"]
    done = run([*path.args(), "-b", "-e", "set 0 gateway 10.0.0.2; traceroute 0 10.2.0.2 size 1400"], prefix=path.veth.prefix)
    assert done.returncode == 1 and "too big, its mtu is 1280" in done.stdout and "10.2.0.2 did not answer" in done.stdout


def test_two_routers_at_one_hop(path):
    """Whoever answers at a hop has a row, with his times. Here it is one router whose own address changes meanwhile."""
    path.do(path.far, "ip", "addr", "add", "10.1.0.3/24", "dev", "north")
    line = "set 0 gateway 10.0.0.2; traceroute 0 10.2.0.2 hops 3 probes 10 every 50ms"
    until = time.monotonic() + 60
    seen = {}
    while len(seen) < 2:
        assert time.monotonic() < until, seen
        asking = subprocess.Popen([*path.veth.prefix, binary(), *path.args(), "-b", "-e", line], stdout=subprocess.PIPE, text=True)
        turns = 0
        while asking.poll() is None:
            turns += 1
            path.do(path.far, "ip", "route", "replace", "10.0.0.0/24", "via", "10.1.0.1", "src", f"10.1.0.{2 + turns % 2}")
        seen = {}
        for row in asking.stdout.read().splitlines():
            if row.split()[0] == "2":
                seen[row.split()[1]] = seen.get(row.split()[1], 0) + len(row.split()) - 2
    assert set(seen) == {"10.1.0.2", "10.1.0.3"} and sum(seen.values()) == 10 and asking.returncode == 0


def test_it_ends_with_what_is_known(path, live):
    """Ctrl-C ends it."""
    path.do(path.far, "ip", "route", "add", "blackhole", "10.9.0.0/16")
    p = path.program(live)
    assert trace(p, "10.2.0.2")["reached"]
    p.send("traceroute 0 10.9.0.1 hops 64 probes 10")
    until = time.monotonic() + 60
    while time.monotonic() < until and not p.ready():
        time.sleep(0.5)
        p.proc.send_signal(2)
    found = json.loads(p.line())["traceroute"]
    assert 0 < found["sent"] < 640 and not found["reached"] and found["end"] is None
    assert sum(len(hop["probes"]) for hop in found["hops"]) == found["sent"]
    assert sum(probe["state"] == "open" for hop in found["hops"] for probe in hop["probes"]) == found["open"]
