# SPDX-License-Identifier: BSD-3-Clause
"""Ports that are hosts, judged by a kernel at the other end of a veth, and by each other on a wire."""
import json
import subprocess
import sys
import time

import pytest

from harness import COUNTERS_ALONE, binary, documents, good, lcores, ports_of, run
from serving import server, until  # noqa: F401

PING = """
import os, socket, struct, sys
six, to, size, count = sys.argv[1] == "6", sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
s = socket.socket(socket.AF_INET6 if six else socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMPV6 if six else socket.IPPROTO_ICMP)
s.settimeout(60)
s.connect((to, 0))
def checksum(b):
    v = sum(struct.unpack(f">{len(b) // 2}H", b))
    v = (v & 0xffff) + (v >> 16)
    return ~((v & 0xffff) + (v >> 16)) & 0xffff
back = 0
for i in range(count):
    body = os.urandom(size)
    head = struct.pack(">BBHHH", 128 if six else 8, 0, 0, 77, i)
    if not six:
        head = struct.pack(">BBHHH", 8, 0, checksum(head + body), 77, i)
    s.send(head + body)
    while True:
        got = s.recv(65536)
        got = got if six else got[20:]
        if got[0] == (129 if six else 0) and got[4:8] == head[4:8]:
            break
    back += got[8:] == body
print(back)
"""


def ping(veth, to, size, count=3):
    """How many of these echo requests of the kernel's end came back as they were."""
    done = subprocess.run([*veth.prefix, sys.executable, "-c", PING, "6" if ":" in to else "4", to, str(size), str(count)], stdout=subprocess.PIPE,
                          text=True, timeout=60, check=True)
    return int(done.stdout)


def neighbour(veth, ip):
    found = [n for n in json.loads(veth.do("ip", "-j", "neigh", "show", "dev", veth.b)) if n["dst"] == ip]
    return (found[0].get("lladdr"), found[0]["state"][0]) if found else None


def host(program):
    return program.ask("show host")["ports"][0]


def states(program):
    return {own["address"]: own["state"] for own in host(program)["addresses"]}


def settled(program, timeout=60):
    """The states of the addresses, when none is tried any more."""
    until = time.monotonic() + timeout
    while "tentative" in (now := states(program)).values():
        assert time.monotonic() < until, now
        time.sleep(0.05)
    return now


def neighbours(program, state, n):
    """The neighbours by address, as soon as so many are in this state."""
    until = time.monotonic() + 60
    while True:
        now = {x["address"]: x for x in program.ask("show neighbours")["ports"][0]["neighbours"]}
        if sum(x["state"] == state for x in now.values()) >= n:
            return now
        assert time.monotonic() < until, now
        time.sleep(0.05)


@pytest.fixture
def peer(veth):
    """A kernel with addresses."""
    veth.do("sysctl", "-q", f"net.ipv6.conf.{veth.b}.disable_ipv6=0")
    veth.do("ip", "addr", "add", "10.0.0.2/24", "dev", veth.b)
    veth.do("ip", "-6", "addr", "add", "fd00::2/64", "dev", veth.b, "nodad")
    return veth


def test_a_kernel_meets_it(peer, live):
    """It resolves us, we resolve it, pings of the MTU come back, at full load too."""
    p = live(["--no-screen", "-p", f"packet:{peer.a}", "--ip", "10.0.0.1/24,fd00::1/64,10.0.0.2"], prefix=peer.prefix)
    p.send("set 0 gateway 10.0.0.2,fd00::2")
    mac = peer.port_mac(peer.a)
    own = settled(p)
    local = next(ip for ip in own if ip.startswith("fe80:"))
    assert own == {"10.0.0.1": "used", "fd00::1": "used", local: "used"}
    assert local not in peer.do("ip", "-6", "addr")
    found = neighbours(p, "reachable", 2)
    there = peer.link(peer.b)["address"]
    assert found["10.0.0.2"]["mac"] == found["fd00::2"]["mac"] == there and found["fd00::2"]["gateway"]
    peer.do("ip", "neigh", "flush", "dev", peer.b)  # it has learned from our questions, and is to ask by itself
    assert ping(peer, "10.0.0.1", 56) == ping(peer, "10.0.0.1", 1472) == 3
    assert ping(peer, "fd00::1", 56) == ping(peer, "fd00::1", 1452) == 3
    for ip in ("10.0.0.1", "fd00::1"):
        assert neighbour(peer, ip)[0] == mac
    before = p.stats()[0]
    p.send("set 0 rate max; start 0")
    assert ping(peer, "10.0.0.1", 1472, 50) == 50
    p.send("stop 0; wait 0")
    after, told = p.stats()[0], host(p)
    assert told["answered"]["ping"] == 3 * 4 + 50 and told["answered"]["nd"] >= 1 and told["answered"]["arp"] >= 1
    assert after["tx"]["packets"] - before["tx"]["packets"] >= after["run"]["sent"] + 50  # apart from the run's
    assert p.quit()[0] == 0


def test_an_address_that_the_kernel_has(peer, live):
    p = live(["--no-screen", "-p", f"packet:{peer.a}", "--ip", "10.0.0.2/24,10.0.0.7/24,fd00::2/64"], prefix=peer.prefix)
    own = settled(p)
    assert (own["10.0.0.2"], own["10.0.0.7"], own["fd00::2"]) == ("duplicate", "used", "duplicate")
    assert f"does not use its address 10.0.0.2: {peer.link(peer.b)['address']}" in p.errors()
    assert neighbour(peer, "10.0.0.2") is None


def test_two_hosts_on_a_wire():
    ports = ["set 0 ip 10.0.0.1/24,fd00::1/64", "set 1 ip 10.0.0.2/24,fd00::2/64", "set 0 gateway 10.0.0.2,fd00::2", "sleep 2s", "clear all"]
    load = ["set 0/0 frame eth/ipv4/icmp", "set 0/0 ipv4.src 10.0.0.1", "set 0/0 ipv4.dst 10.0.0.2", "set 0 count 30000", "set 0 rate 100kpps",
            "start 0", "wait 0"]
    done = good(["-p", "wire", "--json", "-e", "; ".join([*ports, *load, "show neighbours", "show host", "show stats"])])
    here, told, now = documents(done)[-3:]
    gateways = [n for n in here["ports"][0]["neighbours"] if n["gateway"]]
    assert {n["address"]: n["mac"] for n in gateways} == {ip: "02:77:72:00:00:01" for ip in ("10.0.0.2", "fd00::2")}
    # Which of both spoke first is chance: an announcement is confirmed by a question some seconds later.
    assert {n["state"] for n in gateways} <= {"reachable", "delay"}
    a, b = ports_of(now).values()
    answered = told["ports"][1]["answered"]["ping"]
    assert answered + told["ports"][1]["dropped"] == a["run"]["sent"] == 30000
    assert answered > 0 and b["run"]["sent"] == 0
    assert b["tx"]["packets"] >= answered and sum(b["tx"]["sizes"].values()) == b["tx"]["packets"] == a["rx"]["packets"]


def test_answers_leave_by_another_worker():
    """Where workers that receive send on no queue of the port."""
    sets = ["set 1 ip 10.0.0.2/24", "sleep 1500ms", "set 0/0 frame eth/ipv4/icmp", "set 0/0 ipv4.dst 10.0.0.2", "set 0 count 2000",
            "set 0 rate 20kpps", "start 0", "wait 0", "sleep 50ms", "show host", "show stats"]
    told, now = documents(good([*lcores(3), "-p", "wire", "-m", "1:2-3.0*2,3:1-2.1*2", "--json", "-e", "; ".join(sets)]))[-2:]
    answered, dropped = told["ports"][0]["answered"]["ping"], told["ports"][0]["dropped"]
    assert answered == 2000
    assert ports_of(now)[0]["rx"]["packets"] == ports_of(now)[1]["tx"]["packets"] == 2000 - dropped + told["ports"][0]["sent"]


def test_a_trial_counts_its_own_frames():
    """A host that is probed and pinged meanwhile loses and adds nothing."""
    sets = ["set trial.overtime 1h", "set 0 ip 10.0.0.1/24", "set 1 ip 10.0.0.2/24", "set 1 gateway 10.0.0.9", "set 0 gateway 10.0.0.8",
            "set 0 catchup keep", "set 0 eth.dst 02:77:72:00:00:01", "sleep 1500ms", "clear all",
            "trial 0 rate 1kpps for 2500ms max-loss 0", "show host"]
    done = run(["-p", "wire", "--json", "-k", "-e", COUNTERS_ALONE + "; ".join(sets)])
    trial, told = [d for d in documents(done) if "trial" in d][0]["trial"], documents(done)[-1]
    assert all(port["sent"] > 0 for port in told["ports"])  # nobody is there: it is asked again and again
    fates = trial["fates"]
    assert fates["sent"] == fates["received"] == 2500 and fates["lost"] == fates["excess"] == 0


def echoes(veth):
    """Echo requests of both families that the kernel has got."""
    old = [line.split() for line in veth.do("cat", "/proc/net/snmp").splitlines() if line.startswith("Icmp:")]
    six = dict(line.split() for line in veth.do("cat", "/proc/net/snmp6").splitlines())
    return int(dict(zip(*old))["InEchos"]), int(six["Icmp6InEchos"])


def fates(asked):
    """Whether all requests were answered, by some in time: on a machine that stands still, answers are late or have not come yet."""
    assert asked["sent"] == sum(asked[key] for key in ("received", "late", "errors", "lost", "open")), asked
    assert asked["duplicates"] == asked["foreign"] == asked["damaged"] == asked["unread"] == 0
    return asked["received"] + asked["late"] + asked["lost"] == asked["sent"] and asked["received"] > 0


def test_it_asks_a_kernel(peer, live):
    """Both families, up to the MTU: the kernel counts what we say that we sent."""
    p = live(["--no-screen", "-p", f"packet:{peer.a}", "--ip", "10.0.0.1/24,fd00::1/64"], prefix=peer.prefix)
    before = echoes(peer)
    mac = peer.link(peer.b)["address"]
    lines = [("10.0.0.2 count 20 every 1ms", 128), ("10.0.0.2 count 3 size 1518 every 1ms", 1518), ("10.0.0.2 count 3 size 64 every 1ms", 64),
             ("fd00::2 count 20 every 1ms", 128), ("fd00::2 count 3 size 1518 every 1ms", 1518), ("fd00::2 count 3 size 74 every 1ms", 74)]
    for line, size in lines:
        asked = p.ask(f"ping 0 {line}", 30)["ping"]
        assert fates(asked) and asked["size"] == size and asked["to"] == asked["via"] == line.split()[0] and asked["macs"] == [mac]
        rtt = asked["rtt_ns"]
        assert 0 < rtt["min"] <= rtt["p50"] <= rtt["p90"] <= rtt["p99"] <= rtt["max"] and rtt["min"] <= rtt["mean"] <= rtt["max"]
    flood = p.ask("ping 0 fd00::2 flood", 30)["ping"]
    assert fates(flood) and flood["sent"] == 1000
    assert echoes(peer) == (before[0] + 26, before[1] + 1026)
    for to in ("10.0.0.2", "fd00::2"):
        asked = p.ask(f"arping 0 {to} count 3 every 1ms", 30)["arping"]
        assert asked["sent"] == 3 and asked["received"] > 0 and asked["macs"] == [mac]
    assert p.quit()[0] == 0


def test_whom_nobody_answers_for(peer, live):
    """A route that is closed says so, by ICMP; a neighbour that is not there is named. The exit code tells both from answers."""
    peer.do("sysctl", "-q", "-w", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1", "net.ipv4.icmp_ratelimit=0", "net.ipv6.icmp.ratelimit=0")
    peer.do("ip", "route", "add", "unreachable", "10.7.0.0/16")
    peer.do("ip", "-6", "route", "add", "unreachable", "fd07::/16")
    p = live(["--no-screen", "-k", "-p", f"packet:{peer.a}", "--ip", "10.0.0.1/24,fd00::1/64"], prefix=peer.prefix)
    p.send("set 0 gateway 10.0.0.2,fd00::2")
    for to, via, error in (("10.7.0.1", "10.0.0.2", "host unreachable"), ("fd07::1", "fd00::2", "no route")):
        asked = p.ask(f"ping 0 {to} count 3 every 1ms", 30)["ping"]
        assert asked["via"] == via and asked["sent"] == 3 == asked["errors"] + asked["lost"] and asked["received"] == 0
        assert [(told["from"], told["error"], told["count"]) for told in asked["told"]] == [(via, error, asked["errors"])]
    p.send("ping 0 10.0.0.9")
    assert fates(p.ask("ping 0 10.0.0.2 count 1", 30)["ping"])
    assert "port 0: no answer to ARP from 10.0.0.9" in p.errors()
    p.quit()
    done = run([*peer_args(peer), "ping 0 10.7.0.1 count 1"], prefix=peer.prefix)
    assert done.returncode == 1 and "error to 1 from 10.0.0.2: host unreachable" in done.stdout
    assert run([*peer_args(peer), "ping 0 10.0.0.9"], prefix=peer.prefix).returncode == 1


def peer_args(peer):
    return ["-p", f"packet:{peer.a}", "-e", "set 0 ip 10.0.0.1/24; set 0 gateway 10.0.0.2", "-e"]


@pytest.mark.parametrize("maps", [[], ["-m", "1:2-3.0*2,3:1-2.1*2"]])
def test_two_hosts_ask_each_other(maps):
    """What the wire does to frames is what the ping tells, whichever worker gets the answers."""
    sets = ["set 1 ip 10.0.0.2/24,fd00::2/64", "set 0 ip 10.0.0.1/24,fd00::1/64", "ping 0 10.0.0.2 count 1", "ping 1 fd00::1 count 1", "clear all",
            "ping 0 10.0.0.2 count 300 every 100us", "ping 1 fd00::1 count 3000 flood", "arping 1 10.0.0.1 count 3 every 1ms", "show host",
            "set wire duplicate 100%", "ping 0 10.0.0.2 count 20 every 1ms", "set wire duplicate 0", "set wire loss 100%",
            "ping 1 fd00::1 count 20 every 1ms", "set wire loss 0", "set 0-1 host.vlan 7", "ping 0 10.0.0.2 count 5 size 1522 every 1ms",
            "arping 0 fd00::2 count 1", "set 1 host.vlan 8", "arping 1 10.0.0.1 count 1", "arping 0 fd00::2 count 1"]
    found = documents(run([*lcores(3), "-p", "wire", *maps, "--json", "-b", "-k", "-e", "; ".join(sets)], timeout=60))
    _, _, four, six, link, told, twice, none, tagged, asked, moved, foreign = found
    assert fates(four["ping"]) and four["ping"]["sent"] == 300 and fates(six["ping"]) and six["ping"]["sent"] == 3000
    assert link["arping"]["sent"] == 3 and link["arping"]["macs"] == ["02:77:72:00:00:00"]
    a, b = told["ports"]
    # what comes after the command has ended is nobody's
    assert b["answered"]["ping"] == 300 and a["answered"]["ping"] == 3000, told
    assert a["pongs"] == four["ping"]["received"] + four["ping"]["late"]
    assert b["pongs"] == sum(asked["received"] + asked["late"] for asked in (six["ping"], link["arping"])), (told, six)
    assert a["unasked"] == b["unasked"] == 0  # arping has asked
    assert twice["ping"]["sent"] == 20 and twice["ping"]["duplicates"] > 0
    assert none["ping"]["lost"] == none["ping"]["sent"] == 20 and none["ping"]["rtt_ns"] is None
    assert fates(tagged["ping"]) and tagged["ping"]["sent"] == 5 and asked["arping"]["macs"] == ["02:77:72:00:00:01"]
    for neither in (moved, foreign):
        assert neither["arping"]["sent"] == neither["arping"]["lost"] == 1


def test_a_ping_ends_with_its_sum(live):
    """Ctrl-C ends it."""
    p = live(["--no-screen", "-p", "wire"])
    p.send("set 1 ip 10.0.0.2/24; set 0 ip 10.0.0.1/24")
    assert fates(p.ask("ping 0 10.0.0.2 count 1", 30)["ping"])
    p.send("ping 0 10.0.0.2 count 100000 every 1ms")
    until = time.monotonic() + 60
    while time.monotonic() < until and not p.ready():
        time.sleep(0.3)
        p.proc.send_signal(2)
    asked = json.loads(p.line())["ping"]
    assert 0 < asked["sent"] < 100000 and asked["sent"] == sum(asked[key] for key in ("received", "late", "errors", "lost", "open"))


def test_ping4_ends_with_the_sum_of_each_port(live):
    """Pktgen's word asks from several ports at once. Ctrl-C ends all of them, and each has its document, in order."""
    p = live(["--no-screen", "-p", "wire"])
    p.send("set 1 ip 10.0.0.2/24; set 0 ip 10.0.0.1/24; set 0 dst ip 10.0.0.2; set 1 dst ip 10.0.0.1; disable 1 icmp")
    assert fates(p.ask("ping 1 10.0.0.1 count 1", 30)["ping"])
    p.send("ping4 0-1")
    until = time.monotonic() + 60
    while time.monotonic() < until and not p.ready():
        time.sleep(0.3)
        p.proc.send_signal(2)
    silent, told = (json.loads(p.line())["ping"] for _ in range(2))
    assert (silent["port"], silent["to"], silent["received"]) == (0, "10.0.0.2", 0) and silent["sent"] == silent["lost"] + silent["open"]
    assert (told["port"], told["to"]) == (1, "10.0.0.1") and told["received"] + told["late"] + told["open"] == told["sent"] <= 1


@pytest.mark.parametrize("change, why", [
    ("set 0 mtu 1500; start 0; wait 0", "its mtu was changed"),
    ("set 0 ip fd00::1/64", "its address 10.0.0.1 has been taken away"),
    ("set 0 host.vlan 7", "its host.vlan was changed"),
])
def test_a_ping_ends_when_its_port_is_changed(server, change, why):
    """Another session changes what its requests are made of, while they are being sent."""
    served = server("--mtu", "9000")
    served.ask("set 0 ip 10.0.0.1/24; set 1 ip 10.0.0.2/24; set 0 eth.dst 02:77:72:00:00:01; set 0 count 1; ping 0 10.0.0.2 count 1")
    asking = subprocess.Popen([binary(), "attach", served.socket, "-e", "ping 0 10.0.0.2 count 1000000 size 9018 every 1ms"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    before = served.doc("show host 0")["ports"][0]["sent"]
    until(lambda: served.doc("show host 0")["ports"][0]["sent"] > before + 5, "requests")
    served.ask(change)
    assert why in asking.communicate(timeout=60)[1]
    served.ask("set 0 ip 10.0.0.1/24; set 0 host.vlan 0; ping 0 10.0.0.2 count 1")
