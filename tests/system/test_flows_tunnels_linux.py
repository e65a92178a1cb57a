# SPDX-License-Identifier: BSD-3-Clause
"""Flows through tunnels whose other end is Linux: its own devices and routes of each kind that it has take what we send, and we what they send.
A kernel that lacks a kind skips it. GTP-U, PPPoE and bareudp need programs of their own to set their sessions up, and are judged by tshark alone."""
import functools
import subprocess
import sys

import pytest

from test_flows import idle, judge
from test_flows_linux import the_flow
from test_host_linux import Link, until

SERVER = """
import http.server, socket, sys
class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "9000")
        self.end_headers()
        self.wfile.write(b"y" * 9000)
    def log_message(self, *args):
        pass
class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
    request_queue_size = 128
print("listens", flush=True) if (s := Server((sys.argv[1], 80), Answer)) else None
s.serve_forever()
"""

CLIENT = """
import http.client, sys
for n in range(10):
    c = http.client.HTTPConnection(sys.argv[1], 80, timeout=60)
    for k in range(3):
        c.request("GET", "/")
        r = c.getresponse()
        assert r.status == 200 and len(r.read()) == 12345
    c.close()
print("all is well")
"""

# Datagrams back, and datagrams to us: each begins with its number, by which it is known in the answer.
ECHO = """
import socket, sys
s = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
s.bind((sys.argv[1], 80))
print("listens", flush=True)
while True:
    s.sendto(*s.recvfrom(2048))
"""
ASK = """
import socket, struct, sys
for n in range(10):
    s = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(60)
    s.connect((sys.argv[1], 80))
    for k in range(3):
        s.send(struct.pack("!Q", k) + bytes(92))
        got = s.recv(2048)
        assert len(got) == 700 and got[:8] == struct.pack("!Q", k), got
print("all is well")
"""

# Linux's device (seg6: routes that encapsulate by segment routing, with its header or, reduced, without it), the stack of the flow, the family
# inside, and what else its frames need.
OUTER4, OUTER6 = "set 0 ipv4.src 10.0.0.1; set 0 ipv4.dst 10.0.0.2; ", "set 0 ipv6.src fd00::1; set 0 ipv6.dst fd00::2; "
# segments of Linux's that take the header away and give what is inside to its own addresses
SID4, SID6 = ("set 0 ipv6.src fd00::1; set 0 ipv6.dst fd00:4::; ", "set 0 ipv6.src fd00::1; set 0 ipv6.dst fd00:6::; ")
SRH = "set 0 ipv6rt.type 4; set 0 ipv6rt.segleft 0; "
TUNNELS = {
    "plain6": (None, "eth/ipv6/tcp", 6, ""),
    "vxlan": ("vxlan id 7 local 10.0.0.2 remote 10.0.0.1 dstport 4789", "eth/ipv4/udp/vxlan/eth/ipv4/tcp", 4,
              OUTER4 + "set 0 vxlan.vni 7; set 0 eth[2].dst {mac}"),
    "vxlan-sum": ("vxlan id 7 local 10.0.0.2 remote 10.0.0.1 dstport 4789 udpcsum", "eth/ipv4/udp/vxlan/eth/ipv6/tcp", 6,
                  OUTER4 + "set 0 vxlan.vni 7; set 0 eth[2].dst {mac}"),
    "vxlan6": ("vxlan id 9 local fd00::2 remote fd00::1 dstport 4789 noudp6zerocsumtx", "eth/ipv6/udp/vxlan/eth/ipv4/tcp", 4,
               OUTER6 + "set 0 vxlan.vni 9; set 0 eth[2].dst {mac}"),
    "ipip": ("ipip local 10.0.0.2 remote 10.0.0.1", "eth/ipv4/ipv4/tcp", 4, OUTER4),
    "sit": ("sit mode ip6ip local 10.0.0.2 remote 10.0.0.1", "eth/ipv4/ipv6/tcp", 6, OUTER4),
    "ip4ip6": ("ip6tnl mode ip4ip6 local fd00::2 remote fd00::1 encaplimit none", "eth/ipv6/ipv4/tcp", 4, OUTER6),
    "ip6ip6": ("ip6tnl mode ip6ip6 local fd00::2 remote fd00::1 encaplimit none", "eth/ipv6/ipv6/tcp", 6, OUTER6),
    "srv6-4": ("seg6 encap", "eth/ipv6/ipv6rt/ipv4/tcp", 4, SID4 + SRH),
    "srv6-6": ("seg6 encap", "eth/ipv6/ipv6rt/ipv6/tcp", 6, SID6 + SRH),
    "srv6-red-6": ("seg6 encap.red", "eth/ipv6/ipv6/tcp", 6, SID6),
    "gre": ("gre local 10.0.0.2 remote 10.0.0.1", "eth/ipv4/gre/ipv4/tcp", 4, OUTER4),
    "gre-key": ("gre local 10.0.0.2 remote 10.0.0.1 key 9 csum", "eth/ipv4/gre/ipv6/tcp", 6, OUTER4 + "set 0 gre.key 9; set 0 gre.c 1"),
    "gretap": ("gretap local 10.0.0.2 remote 10.0.0.1", "eth/ipv4/gre/eth/ipv4/tcp", 4, OUTER4 + "set 0 eth[2].dst {mac}"),
    "ip6gre": ("ip6gre local fd00::2 remote fd00::1 encaplimit none", "eth/ipv6/gre/ipv4/tcp", 4, OUTER6),
    "geneve": ("geneve id 7 remote 10.0.0.1", "eth/ipv4/udp/geneve/eth/ipv4/tcp", 4, OUTER4 + "set 0 geneve.vni 7; set 0 eth[2].dst {mac}"),
    "vlan": ("vlan id 5", "eth/vlan/ipv4/tcp", 4, "set 0 vlan.vid 5; set 0 eth.dst {mac}"),
    "qinq": ("vlan proto 802.1ad id 6", "eth/qinq/ipv6/tcp", 6, "set 0 qinq.vid 6; set 0 eth.dst {mac}"),
}
ETHERNET = ("vxlan", "gretap", "geneve")  # a device of these has a MAC address

# One of each that a kernel without modules has carries datagrams.
UDP = ["vxlan", "srv6-6"]
TCP = [name for name in TUNNELS if name != "srv6-6"]


def inside(family):
    """Addresses inside of the tunnel: ours, Linux's."""
    return ("10.77.0.1", "10.77.0.2") if family == 4 else ("fd77::1", "fd77::2")


NOT_HERE = ("Unknown device type", "not supported", "No such file or directory")


@functools.cache
def lacking(kind):
    """Why a kernel cannot have it, or None. Other errors are found by the test itself."""
    make = f"ip link add name tun9 type {kind}"
    if kind.startswith("seg6 "):
        make = "ip -6 route add fd00:4::/128 encap seg6local action End.DX4 nh4 10.77.0.2 dev lo; " \
               f"ip -6 route add fd77::/64 encap {kind.replace(' ', ' mode ')} segs fd00::1 dev lo"
    made = subprocess.run(["unshare", "-n", "sh", "-c", "sysctl -q net.ipv6.conf.lo.disable_ipv6=0; ip link set lo up; " + make],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    return made.stdout.strip() if any(x in made.stdout for x in NOT_HERE) else None


@pytest.fixture
def link(namespaces, request):
    kind = TUNNELS[request.node.callspec.params["name"]][0]
    if kind is not None and (why := lacking(kind)) is not None:
        pytest.skip(f"this kernel has no {kind.split()[0]}: {why}")
    made = Link("packet")
    yield made
    made.net.remove()


def segments(link, kind, family):
    """Linux's routes: what goes to our address inside is sent to fd00::1, from the segment to which we answer."""
    ours, theirs = inside(family)
    sid = f"fd00:{family}::"
    link.do("sysctl", "-q", f"net.ipv6.conf.{link.dev}.seg6_enabled=1", "net.ipv6.conf.all.seg6_enabled=1")
    take = ["End.DX4", "nh4", theirs] if family == 4 else ["End.DT6", "table", "255"]
    link.do("ip", "-6", "route", "add", f"{sid}/128", "encap", "seg6local", "action", *take, "dev", link.dev)
    link.do("ip", "sr", "tunsrc", "set", sid)
    link.do("ip", *(["-6"] if family == 6 else []), "route", "add", ours, "encap", *kind.replace(" ", " mode ").split(), "segs", "fd00::1",
            "dev", link.dev, "src", theirs, "mtu", "1400")


def tunnel(link, kind, family):
    """Makes Linux's device, and returns its MAC address."""
    ours, theirs = inside(family)
    length = 24 if family == 4 else 64
    routes = kind is not None and kind.startswith("seg6 ")
    dev = link.dev
    if kind is not None and not routes:
        dev = "tun9"
        lower = ["link", link.dev] if kind.startswith("vlan") else []
        link.do("ip", "link", "add", *lower, "name", dev, "type", *kind.split())
        link.do("sysctl", "-q", f"net.ipv6.conf.{dev}.disable_ipv6=0", f"net.ipv6.conf.{dev}.accept_dad=0")
    if kind is not None:
        # a super-frame in a tunnel is one that no port of ours could cut, and a checksum left undone one that it could not finish
        for d in {dev, link.dev}:
            link.do("ethtool", "-K", d, "tx", "off", "gso", "off", "tso", "off", "gro", "off")
        link.do("ip", "link", "set", dev, "up")
    link.do("ip", *(["-6"] if family == 6 else []), "addr", "add", f"{theirs}/{length}", "dev", dev, *(["nodad"] if family == 6 else []))
    if routes:
        segments(link, kind, family)
    return link.net.link(dev)["address"], dev


def prepare(link, live, name, role, l4="tcp"):
    kind, frame, family, more = TUNNELS[name]
    frame = frame.removesuffix("tcp") + l4
    mac, dev = tunnel(link, kind, family)
    ours, theirs = inside(family)
    # nobody answers inside of the tunnel when Linux asks who has our address
    if kind is None or kind.split()[0] in (*ETHERNET, "vlan"):
        link.do("ip", "neigh", "replace", ours, "lladdr", "02:00:00:00:00:77", "dev", dev)
    p = link.host(live, f"set 0 flow {role}")
    sets = [f"set 0 frame {frame}", f"set 0 flow.src {ours}", *([f"set 0 flow.dst {theirs}"] if role == "client" else [])]
    sets += [s for s in more.format(mac=mac).split("; ") if s]
    if kind is None or kind.startswith("seg6 "):
        sets.append(f"set 0 eth.dst {mac}")
    if kind is not None and kind.split()[0] in ETHERNET:
        sets.append("set 0 eth[2].src 02:00:00:00:00:77")
    if "vxlan" in frame:
        sets.append("set 0 udp.dst 4789")
    p.send("; ".join(sets))
    return p, ours, theirs


@pytest.mark.parametrize("name", TCP)
def test_a_server_of_others(link, live, name):
    p, _, theirs = prepare(link, live, name, "client")
    with subprocess.Popen([*link.prefix, sys.executable, "-c", SERVER, theirs], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout.readline() == "listens\n"
            p.send("set 0 transactions 3; set 0 cps 50; set 0/0 count 30; start 0; wait 0")
            flow = until(lambda: (f := the_flow(p))["connections"]["opened"] == 30 and f["state"] == "idle" and f, "30 connections", p)
        finally:
            server.kill()
    idle(flow)
    assert flow["connections"]["closed"] == 30 and flow["transactions"]["done"] == flow["http"]["2xx"] == 90, flow
    assert flow["segments"]["bad_checksum"] == 0 and flow["payload"]["rx_bytes"] > 90 * 9000


@pytest.mark.parametrize("name", TCP)
def test_a_client_of_others(link, live, name):
    p, ours, _ = prepare(link, live, name, "server")
    p.send("set 0 response 12345; start 0")
    until(lambda: the_flow(p)["state"] == "running", "the server", p)
    r = link.tool(sys.executable, "-c", CLIENT, ours, timeout=200)
    assert r.stdout == "all is well\n", (r.stdout, the_flow(p))
    flow = until(lambda: the_flow(p) if the_flow(p)["connections"]["closed"] == 10 else None, "10 connections", p)
    judge(flow)
    assert flow["transactions"]["done"] == flow["http"]["2xx"] == 30 and flow["segments"]["bad_checksum"] == 0
    p.send("stop 0")


@pytest.mark.parametrize("name", UDP)
def test_datagrams_to_a_server_of_others(link, live, name):
    p, _, theirs = prepare(link, live, name, "client", "udp")
    with subprocess.Popen([*link.prefix, sys.executable, "-c", ECHO, theirs], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout.readline() == "listens\n"
            p.send("set 0 flow.dport 80; set 0 request 700; set 0 response 700; set 0 transactions 3; set 0 cps 50; set 0/0 count 30; start 0")
            flow = until(lambda: (f := the_flow(p))["connections"]["opened"] == 30 and f["state"] == "idle" and f, "30 connections", p)
        finally:
            server.kill()
    idle(flow)
    assert flow["connections"]["closed"] == 30 and flow["transactions"]["done"] == 90, flow
    assert flow["segments"]["bad_checksum"] == 0 and flow["payload"] == {"tx_bytes": 90 * 700, "rx_bytes": 90 * 700}, flow


@pytest.mark.parametrize("name", UDP)
def test_datagrams_of_a_client_of_others(link, live, name):
    p, ours, _ = prepare(link, live, name, "server", "udp")
    p.send("set 0 flow.sport 80; set 0 app bytes; set 0 request 100; set 0 response 700; start 0")
    until(lambda: the_flow(p)["state"] == "running", "the server", p)
    r = link.tool(sys.executable, "-c", ASK, ours, timeout=200)
    assert r.stdout == "all is well\n", (r.stdout, the_flow(p))
    flow = the_flow(p)
    assert flow["transactions"]["done"] == 30 and flow["segments"]["bad_checksum"] == 0, flow
    p.send("stop 0")
