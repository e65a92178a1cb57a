# SPDX-License-Identifier: BSD-3-Clause
"""What the network tells a port that is a host: ICMP errors about its streams, and queries of which groups it listens to. A kernel is there."""
import json
import sys
import time

import pytest

from harness import documents, good


def kernel(veth):
    """The kernel's counters of ICMP, both families: {"OutDestUnreachs": n, "Icmp6OutTimeExcds": n, ...}."""
    lines = [line.split() for line in veth.do("cat", "/proc/net/snmp").splitlines() if line.startswith("Icmp:")]
    six = dict(line.split() for line in veth.do("cat", "/proc/net/snmp6").splitlines())
    return {name: int(n) for name, n in [*zip(lines[0][1:], lines[1][1:]), *six.items()]}


@pytest.fixture
def router(veth):
    """A kernel that forwards, with a second link of a small MTU, and says about all that it does not."""
    veth.do("sysctl", "-q", f"net.ipv6.conf.{veth.b}.disable_ipv6=0", "net.ipv4.icmp_ratelimit=0", "net.ipv4.icmp_ratemask=0",
            "net.ipv6.icmp.ratemask=")  # a limit of 0 would leave the one for all messages
    veth.do("ip", "link", "add", "small0", "type", "veth", "peer", "small1")
    veth.do("sysctl", "-q", "net.ipv6.conf.small0.disable_ipv6=0", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1",
            f"net.ipv4.conf.{veth.a}.forwarding=0")
    for cmd in ("link set small0 mtu 1280 up", "link set small1 up", "addr add 10.9.0.1/24 dev small0", "-6 addr add fd09::1/64 dev small0 nodad",
                f"addr add 10.0.0.2/24 dev {veth.b}", f"-6 addr add fd00::2/64 dev {veth.b} nodad", "route add prohibit 10.7.0.0/16",
                "route add unreachable 10.8.0.0/16"):
        veth.do("ip", *cmd.split())
    mac = veth.port_mac(veth.a)
    for own in ("10.0.0.1", "fd00::1"):  # what waits for a neighbour may be given up, and was counted as sent
        veth.do("ip", "neigh", "replace", own, "lladdr", mac, "dev", veth.b, "nud", "permanent")
    return veth


FOUR = "ipv4.src 10.0.0.1; set 0/{0} ipv4.dst"
STREAMS = [f"{FOUR} 10.0.0.2", f"{FOUR} 10.7.0.1", f"{FOUR} 10.8.0.1", f"{FOUR} 10.9.0.5; set 0/{{0}} ipv4.flags df; set 0/{{0}} size 1400",
           f"{FOUR} 10.9.0.6; set 0/{{0}} ipv4.ttl 1; set 0/{{0}} udp.src 1000..1200",
           *("frame eth/ipv6/udp; set 0/{0} ipv6.src fd00::1; set 0/{0} ipv6.dst " + rest
             for rest in ("fd00::2", "fd09::5; set 0/{0} ipv6.hlim 1", "fd09::6; set 0/{0} size 1400"))]


def errors(program):
    return program.stats()[0]["icmp_errors"]


def settled(program, enough):
    """The errors of the port, when there are enough."""
    until = time.monotonic() + 60
    while not enough(now := errors(program)):
        assert time.monotonic() < until, now
        time.sleep(0.05)
    return now


def test_a_router_says_why(router, live):
    """Each of its errors is counted by what it says, for the port and for the stream that it is about."""
    p = live(["--no-screen", "-p", f"packet:{router.a}", "--ip", "10.0.0.1/24,fd00::1/64"], prefix=router.prefix)
    p.send("set 0 gateway 10.0.0.2,fd00::2")
    p.ask(f"stream add 0 {len(STREAMS) - 1}")
    p.send("; ".join(f"set 0/{i} " + s.format(i) for i, s in enumerate(STREAMS)))
    for to in ("10.0.0.2", "fd00::2"):  # the addresses are tried before
        p.ask(f"ping 0 {to} count 1", 30)
    p.send("clear all")
    assert set(errors(p).values()) == {0}
    before = kernel(router)
    p.send(f"set 0 rate 5kpps; set 0 count {100 * len(STREAMS)}; start 0; wait 0")
    now = settled(p, lambda e: e["hop_limit"] == e["too_big"] == e["port_unreachable"] == 200)
    said = {name: n - before.get(name, 0) for name, n in kernel(router).items()}
    limited = now["host_unreachable"] + now["prohibited"]  # Linux says these more seldom
    assert limited > 0 and now["host_unreachable"] > 0
    assert said["OutDestUnreachs"] == 200 + limited and said["OutTimeExcds"] == 100
    assert said["Icmp6OutDestUnreachs"] == said["Icmp6OutPktTooBigs"] == said["Icmp6OutTimeExcds"] == 100
    assert sum(now.values()) == 600 + limited
    of = [s["icmp_errors"] for s in p.ask("show streams 0")["streams"]]
    none = {"unreachable": 0, "too_big": 0, "time_exceeded": 0, "other": 0}
    assert of == [{**none, "unreachable": 100}, {**none, "unreachable": now["prohibited"]}, {**none, "unreachable": now["host_unreachable"]},
                  {**none, "too_big": 100}, {**none, "time_exceeded": 100}, {**none, "unreachable": 100}, {**none, "time_exceeded": 100},
                  {**none, "too_big": 100}]
    told = p.ask("show host")["ports"][0]
    assert told["errors"] == sum(now.values()) and told["unasked"] == 0 and not any(told["refused"].values())
    p.send("clear all")
    assert set(errors(p).values()) == {0} and all(s["icmp_errors"] == none for s in p.ask("show streams 0")["streams"])
    # One of whose frames nothing tells from those of another.
    p.send("set 0/0 udp.dst 5600..5601; set 0/1 ipv4.dst 10.0.0.2; set 0/1 udp.dst 5600; set 0/2-7 enable off; set 0 count 100; start 0; wait 0")
    now = settled(p, lambda e: e["port_unreachable"] >= 75)
    of = [s["icmp_errors"] for s in p.ask("show streams 0")["streams"]]
    assert of[:2] == [None, None] and of[2:] == [none] * 6
    assert p.quit()[0] == 0


def test_a_quoted_frame_has_not_arrived(router, live):
    """Each error quotes a frame with its probe. The trial has lost what it is about, however many frames a busy machine let it send."""
    p = live(["--no-screen", "-p", f"packet:{router.a}", "--ip", "10.0.0.1/24"], prefix=router.prefix)
    p.send("set 0 ipv4.src 10.0.0.1; set 0 ipv4.dst 10.0.0.2; set 0 udp.dst 5600")
    p.ask("ping 0 10.0.0.2 count 1", 30)
    p.send("clear all")
    fates = p.ask("trial 0 rate 2kpps for 200ms", 60)["trial"]["fates"]
    assert fates["sent"] > 0 and fates["received"] == 0 and fates["lost"] == fates["sent"], fates
    settled(p, lambda e: e["port_unreachable"] == fates["sent"])
    assert p.quit()[0] in (0, 4)  # 4 where the machine was too busy for a valid trial


SPOOF = """
import socket, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
s.bind((sys.argv[1], 0))
for line in sys.argv[2:]:
    s.send(bytes.fromhex(line))
"""


def checksum(b):
    v = sum(int.from_bytes(b[i:i + 2], "big") for i in range(0, len(b), 2))
    v = (v & 0xffff) + (v >> 16)
    return (~((v & 0xffff) + (v >> 16)) & 0xffff).to_bytes(2, "big")


def unreachable(to, src, dst, ports):
    """An ICMP error of 10.0.0.66 that the port of 10.0.0.1 at `to` is unreachable, about UDP between these; as hexadecimal digits."""
    def ip(proto, a, b, n):
        head = bytes([0x45, 0, 0, 20 + n, 0, 0, 0, 0, 64, proto, 0, 0, *map(int, a.split(".")), *map(int, b.split("."))])
        return head[:10] + checksum(head) + head[12:]
    quoted = ip(17, src, dst, 26) + b"".join(p.to_bytes(2, "big") for p in ports) + bytes(4)
    icmp = bytes([3, 3, 0, 0, 0, 0, 0, 0]) + quoted
    icmp = icmp[:2] + checksum(icmp) + icmp[4:]
    return (bytes.fromhex(to.replace(":", "")) + bytes([2, 0, 0, 0, 0, 66, 8, 0]) + ip(1, "10.0.0.66", "10.0.0.1", len(icmp)) + icmp).hex()


def test_what_was_not_sent(router, live):
    """Errors that quote something else than the port's streams change nothing, and are counted apart."""
    p = live(["--no-screen", "-p", f"packet:{router.a}", "--ip", "10.0.0.1/24"], prefix=router.prefix)
    p.send("set 0 ipv4.src 10.0.0.1; set 0 ipv4.dst 10.9.0.5; set 0 eth.dst 02:00:00:00:00:09; set 0 count 1; set 0 udp.src 1000; set 0 udp.dst 53")
    p.ask("ping 0 10.0.0.2 count 1", 30)
    p.send("clear all")
    mac = router.port_mac(router.a)
    right = unreachable(mac, "10.0.0.1", "10.9.0.5", (1000, 53))
    others = [unreachable(mac, *q) for q in (("10.0.0.1", "10.9.0.5", (1000, 54)), ("10.0.0.1", "10.9.0.4", (1000, 53)),
                                             ("10.0.0.3", "10.9.0.5", (1000, 53)))]

    def spoof(*frames):
        router.do(sys.executable, "-c", SPOOF, router.b, *frames)

    def heard():
        told = p.ask("show host")["ports"][0]
        return told["errors"], told["unasked"], told["refused"]["checksum"]

    def until(want):
        end = time.monotonic() + 60
        while heard() != want:
            assert time.monotonic() < end, heard()
            time.sleep(0.05)

    spoof(right)  # nothing was sent yet
    until((0, 1, 0))
    p.send("start 0; wait 0")
    spoof(*others, right, right[:-2] + "01", right)
    until((2, 4, 1))
    now = errors(p)
    assert now["port_unreachable"] == sum(now.values()) == 2
    assert p.quit()[0] == 0


def test_where_nobody_is_told():
    """Numbers that are not known are null: of a port that is no host, and of one with more streams than are told from each other."""
    sets = ["set 1 ip 10.0.0.1/24", "stream add 1 300", "set 1/all eth.dst 02:00:00:00:00:01", "sleep 200ms", "show stats", "set 1 count 301",
            "start 1", "wait 1", "sleep 100ms", "show stats", "show streams 1/0"]
    before, after, streams = documents(good(["-p", "wire", "--json", "-e", "; ".join(sets)]))[-3:]
    assert before["ports"][0]["icmp_errors"] is None and set(before["ports"][1]["icmp_errors"].values()) == {0}
    assert after["ports"][1]["icmp_errors"] is None and streams["streams"][0]["icmp_errors"] is None


def groups(veth):
    """The groups for which the bridge knows that somebody at the end `b` listens."""
    found = json.loads(veth.do("bridge", "-j", "mdb", "show"))
    return {entry["grp"] for bridge in found for entry in bridge["mdb"] if entry["port"] == veth.b}


@pytest.mark.parametrize("version", [1, 2])
def test_a_bridge_that_snoops(veth, live, need, version):
    """It knows the groups of the port's addresses before they are used, asks for them, and hears of those that go."""
    need("bridge")
    veth.do("sysctl", "-q", "net.ipv6.conf.default.disable_ipv6=0")
    veth.do("ip", "link", "add", "br0", "type", "bridge", "mcast_snooping", "1", "mcast_mld_version", str(version), "mcast_querier", "1",
            "mcast_query_interval", "100", "mcast_query_response_interval", "50", "mcast_startup_query_interval", "50")
    veth.do("ip", "link", "set", veth.b, "master", "br0")
    veth.do("ip", "link", "set", "br0", "up")

    def until(want, why):
        end = time.monotonic() + 60
        while not want(now := {g for g in groups(veth) if g.startswith("ff02::1:ff")}):
            assert time.monotonic() < end, (why, now)
            time.sleep(0.05)
        return now

    p = live(["--no-screen", "-p", f"packet:{veth.a}", "--ip", "fd00::1:2345/64,fd00::1:6789/64"], prefix=veth.prefix)
    until(lambda g: {"ff02::1:ff01:2345", "ff02::1:ff01:6789"} < g, "joined")
    before = p.ask("show host")["ports"][0]

    def queries():
        now = p.ask("show host")["ports"][0]
        return now["heard"] - before["heard"], now["sent"] - before["sent"]

    end = time.monotonic() + 60
    while min(queries()) < 12:  # three groups, and more queries than changes are told
        assert time.monotonic() < end, queries()
        time.sleep(0.05)
    assert not any(p.ask("show host")["ports"][0]["refused"].values())
    p.send("set 0 ip fd00::1:2345/64")
    until(lambda g: "ff02::1:ff01:2345" in g and "ff02::1:ff01:6789" not in g, "left")
    assert p.quit()[0] == 0
