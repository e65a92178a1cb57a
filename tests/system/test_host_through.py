# SPDX-License-Identifier: BSD-3-Clause
"""`ping`, `arping` and `traceroute` through a stream: in its VLANs, and behind the headers of a tunnel. A host of the test answers there, whose
walk through headers is its own, and tshark reads what it was asked."""
import subprocess
import sys
import time

import pytest
from test_host_icmp import router  # noqa: F401

from harness import Tcpdump, run, tshark

ANSWERS = '''
import socket, struct, sys

def summed(b):
    b += bytes(len(b) % 2)
    v = sum(struct.unpack(f"!{len(b) // 2}H", b))
    while v >> 16:
        v = (v & 0xffff) + (v >> 16)
    return ~v & 0xffff

def swap(f, a, b, n):
    f[a:a + n], f[b:b + n] = f[b:b + n], f[a:a + n]

def walk(f):
    """Turns all headers of an echo request around. Returns the frame that answers it, or None."""
    at, kind = 0, "eth"
    while True:
        if kind == "eth":
            swap(f, at, at + 6, 6)
            kind, at = int.from_bytes(f[at + 12:at + 14], "big"), at + 14
        elif kind == 0x8847:  # a router pops the labels before the end of their path
            end = at
            while not f[end + 2] & 1:
                end += 4
            six = f[end + 4] >> 4 == 6
            f[at - 2:end + 4] = b"\\x86\\xdd" if six else b"\\x08\\x00"
            kind = 0x86dd if six else 0x800
        elif kind in (0x800, 4):
            swap(f, at + 12, at + 16, 4)
            ip, kind, at = at, ("ip", f[at + 9]), at + (f[at] & 15) * 4
        elif kind in (0x86dd, 41):
            swap(f, at + 8, at + 24, 16)
            ip, kind, at = at, ("ip", f[at + 6]), at + 40
        elif kind == ("ip", 47):
            kind, at = int.from_bytes(f[at + 2:at + 4], "big"), at + 4 + 4 * bin(f[at] & 0xb0).count("1")
        elif kind == ("ip", 17) and f[at + 2:at + 4] == b"\\x12\\xb5":
            kind, at = "eth", at + 16
        elif kind in (("ip", 4), ("ip", 41)):
            kind = kind[1]
        elif kind in (("ip", 1), ("ip", 58)) and f[at] in (8, 128):
            six = f[at] == 128
            f[at] = 129 if six else 0
            f[at + 2:at + 4] = bytes(2)
            end = ip + (40 + int.from_bytes(f[ip + 4:ip + 6], "big") if six else int.from_bytes(f[ip + 2:ip + 4], "big"))
            pseudo = bytes(f[ip + 8:ip + 40]) + struct.pack("!II", end - at, 58) if six else b""
            f[at + 2:at + 4] = summed(pseudo + bytes(f[at:end])).to_bytes(2, "big")
            return f
        else:
            return None

s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
s.bind((sys.argv[1], 0))
print("ready", flush=True)
while True:
    f, where = s.recvfrom(4096)
    if where[2] == socket.PACKET_OUTGOING or f[:6] != bytes.fromhex("020000000099"):
        continue
    answer = walk(bytearray(f))
    if answer is not None:
        s.send(answer)
'''


@pytest.fixture
def far(veth):
    """A host at 02:00:00:00:00:99 that answers behind tunnels."""
    proc = subprocess.Popen([*veth.prefix, sys.executable, "-c", ANSWERS, veth.b], stdout=subprocess.PIPE, text=True)
    assert proc.stdout.readline() == "ready\n"
    yield veth
    proc.kill()
    proc.communicate()


TUNNELS = {
    "mpls": ("eth/mpls/mpls/ipv4/udp", "ipv4.src 10.5.0.1", "10.5.0.1", "10.6.0.9"),
    "gre": ("eth/ipv4/gre/ipv4/udp", "ipv4[2].src 10.5.0.1", "10.5.0.1", "10.6.0.9"),
    "6in4": ("eth/ipv4/ipv6/tcp", "ipv6.src fd05::1", "fd05::1", "fd06::9"),
    "ip6ip6": ("eth/ipv6/ipv6/udp", "ipv6[2].src fd05::1", "fd05::1", "fd06::9"),
    "vxlan": ("eth/ipv4/udp/vxlan/eth/ipv6/udp", "ipv6.src fd05::1", "fd05::1", "fd06::9"),
    "vxlan6": ("eth/ipv6/udp/vxlan/eth/ipv4/icmp", "ipv4.src 10.5.0.1", "10.5.0.1", "10.6.0.9"),
}


@pytest.mark.parametrize("frame, source, own, to", TUNNELS.values(), ids=TUNNELS)
def test_behind_a_tunnel(far, live, tmp_path, frame, source, own, to):
    """All checksums are right, outside too, and each request is answered."""
    p = live(["--no-screen", "-p", f"packet:{far.a}", "--ip", "10.0.0.1/24"], prefix=far.prefix)
    p.send(f"stream add 0/1; set 0/1 frame {frame}; set 0/1 {source}; set 0/1 eth.dst 02:00:00:00:00:99")
    dump = Tcpdump(far, tmp_path / "t.pcap")
    told = p.ask(f"ping 0/1 {to} count 20 size 201 every 5ms", 30)["ping"]
    assert (told["stream"], told["from"], told["to"], told["via"], told["size"]) == (1, own, to, None, 201)
    assert (told["sent"], told["received"], told["macs"]) == (20, 20, ["02:00:00:00:00:99"]), told
    assert not any(told[k] for k in ("late", "errors", "lost", "open", "duplicates", "foreign", "damaged", "unread"))
    check = [f"-o{p}.check_checksum:TRUE" for p in ("ip", "udp")]
    asked = "(icmp.type == 8 || icmpv6.type == 128)"
    good = "(icmp.checksum.status == 1 || icmpv6.checksum.status == 1) && !(ip.checksum.status == 0) && !(udp.checksum.status == 0)"
    until = time.monotonic() + 60
    while len(tshark(tmp_path / "t.pcap", asked, options=check)) < 20:
        assert time.monotonic() < until
        time.sleep(0.2)
    dump.proc.kill()  # it has seen answers, too, and its sums say so
    dump.proc.communicate()
    seen = tshark(tmp_path / "t.pcap", f"{asked} && {good} && !_ws.malformed && frame.len == 197", "frame.number", options=check)
    assert len(seen) == 20
    hops = p.ask(f"traceroute 0/1 {to} hops 2 probes 2", 30)["traceroute"]
    assert (hops["reached"], hops["end"], hops["stream"]) == (True, 1, 1)
    assert {x["from"] for x in hops["hops"][0]["probes"]} == {to}
    assert p.quit()[0] == 0


def test_the_outer_headers_are_in_vain(router, live):  # noqa: F811
    """A kernel that knows no GRE says so about the outer header, and quotes enough to tell which request it is. The next hop is found."""
    p = live(["--no-screen", "-p", f"packet:{router.a}", "--ip", "10.0.0.1/24"], prefix=router.prefix)
    p.send("stream add 0/1; set 0/1 frame eth/ipv4/gre/ipv4/udp; set 0/1 ipv4.src 10.0.0.1; set 0/1 ipv4.dst 10.0.0.2; set 0/1 ipv4[2].src 10.5.0.1")
    told = p.ask("ping 0/1 10.6.0.9 count 5 every 10ms", 30)["ping"]
    assert (told["sent"], told["errors"], told["via"], told["from"]) == (5, 5, "10.0.0.2", "10.5.0.1"), told
    assert told["told"] == [{"from": "10.0.0.2", "error": "protocol unreachable", "mtu": 0, "count": 5}]
    assert p.quit()[0] == 1  # nothing was answered
    done = run(["-p", f"packet:{router.a}", "--ip", "10.0.0.1/24", "-b", "-e", "set 0 frame eth/ipv4/gre/ipv4/udp; set 0 ipv4.dst 10.0.0.44; "
                "ping 0/0 10.6.0.9"], prefix=router.prefix)
    assert done.returncode == 1 and "port 0: no answer to ARP from 10.0.0.44" in done.stderr and done.stdout == ""


def test_in_the_vlan_of_a_stream(live):
    """The host of the other port lives in that VLAN alone."""
    p = live(["--no-screen", "-p", "wire"])
    p.send("set 1 host.vlan 100; set 1 ip 10.0.0.2/24,fd00::2/64; set 0 ip 10.0.0.1/24,fd00::1/64; stream add 0/1; set 0/1 frame eth/vlan/ipv4/udp; "
           "set 0/1 vlan.vid 100")
    for to, own in (("10.0.0.2", "10.0.0.1"), ("fd00::2", "fd00::1")):
        told = p.ask(f"ping 0/1 {to} count 3 every 10ms", 60)["ping"]
        assert (told["sent"], told["received"], told["from"], told["via"], told["stream"]) == (3, 3, own, to, 1)
        told = p.ask(f"arping 0/1 {to} count 2 every 10ms", 60)["arping"]
        assert (told["sent"], told["received"], told["macs"]) == (2, 2, ["02:77:72:00:00:01"])
        assert p.ask(f"traceroute 0/1 {to}", 60)["traceroute"]["reached"]
    host = p.ask("show host")["ports"]
    assert [x["unasked"] for x in host] == [0, 0]
    assert {tuple(x["vlans"]) for x in host[0]["addresses"]} == {()}  # the link has gone with its command
    assert p.quit()[0] == 0


@pytest.mark.parametrize("given, why", [
    ("set 0 frame eth/arp; ping 0/0 10.0.0.2", "sends eth/arp, which has no ipv4 or ipv6 that an echo request could follow"),
    ("set 0 frame eth/ipv4/gre/ipv6/udp; ping 0/0 10.0.0.2", "the last IP header of its frames is ipv6, and 10.0.0.2 is an address of the other"),
    ("set 0 frame eth/ipv4/ipv4/udp; set 0 eth.dst 02:00:00:00:00:02; ping 0/0 10.0.0.2 size 60", "allowed are 74 to 1518, the FCS included"),
    ("set 0 frame eth/ipv4/ipv4/udp; set 0 eth.dst 02:00:00:00:00:02; ping 0/0 10.0.0.2 size 1519", "allowed are 74 to 1518, the FCS included"),
    ("set 0 frame eth/ipv4/ipv4/udp; set 0 ipv4.dst 10.9.0.2; ping 0/0 10.0.0.2", "and it has no IPv4 gateway, so eth.dst auto finds no next hop"),
    ("set 0 frame eth/vlan/vlan/vlan/vlan/vlan/ipv4; ping 0/0 10.0.0.2", "its frames have 5 VLAN tags, and a host asks through at most 4"),
    ("ping 0/3 10.0.0.2", "no stream 0/3"),
    ("stream add 0/1; ping 0/0-1 10.0.0.2", "ping asks through one stream, and these may be several"),
    ("arping 0/0,1/0 10.0.0.2", "arping asks through one stream, and these may be several"),
])
def test_refused(given, why):
    done = run(["-p", "wire", "-b", "-e", f"set 0 ip 10.0.0.1/24; {given}"])
    assert done.returncode == 2 and why in done.stderr and done.stdout == "", done.stderr
