# SPDX-License-Identifier: BSD-3-Clause
"""Flows through tunnels whose other end is Linux: its own devices of VXLAN, IP in IP and IPv6 take what we send, and we what they send."""
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
    c = http.client.HTTPConnection(sys.argv[1], 80, timeout=30)
    for k in range(3):
        c.request("GET", "/")
        r = c.getresponse()
        assert r.status == 200 and len(r.read()) == 12345
    c.close()
print("all is well")
"""

# Linux's device, the stack of the flow, the family inside, and what else its frames need.
OUTER4, OUTER6 = "set 0 ipv4.src 10.0.0.1; set 0 ipv4.dst 10.0.0.2; ", "set 0 ipv6.src fd00::1; set 0 ipv6.dst fd00::2; "
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
}


def inside(family):
    """Addresses inside of the tunnel: ours, Linux's."""
    return ("10.77.0.1", "10.77.0.2") if family == 4 else ("fd77::1", "fd77::2")


@pytest.fixture
def link(namespaces):
    made = Link("packet")
    yield made
    made.net.remove()


def tunnel(link, kind, family):
    """Makes Linux's device, and returns its MAC address. Skips where this kernel has none."""
    ours, theirs = inside(family)
    length = 24 if family == 4 else 64
    dev = link.dev
    if kind is not None:
        dev = "tun9"
        made = link.tool("ip", "link", "add", dev, "type", *kind.split())
        if made.returncode != 0:
            pytest.skip(f"this kernel has no {kind.split()[0]}: {made.stdout.strip()}")
        link.do("sysctl", "-q", f"net.ipv6.conf.{dev}.disable_ipv6=0", f"net.ipv6.conf.{dev}.accept_dad=0")
        # a super-frame in a tunnel is one that no port of ours could cut, and a checksum left undone one that it could not finish
        for d in (dev, link.dev):
            link.do("ethtool", "-K", d, "tx", "off", "gso", "off", "tso", "off", "gro", "off")
        link.do("ip", "link", "set", dev, "up")
    link.do("ip", *(["-6"] if family == 6 else []), "addr", "add", f"{theirs}/{length}", "dev", dev, *(["nodad"] if family == 6 else []))
    return link.net.link(dev)["address"], dev


def prepare(link, live, name, role):
    kind, frame, family, more = TUNNELS[name]
    mac, dev = tunnel(link, kind, family)
    ours, theirs = inside(family)
    # nobody answers inside of the tunnel when Linux asks who has our address
    if kind is None or kind.startswith("vxlan"):
        link.do("ip", "neigh", "replace", ours, "lladdr", "02:00:00:00:00:77", "dev", dev)
    p = link.host(live, f"set 0 flow {role}")
    sets = [f"set 0 frame {frame}", f"set 0 flow.src {ours}", *([f"set 0 flow.dst {theirs}"] if role == "client" else [])]
    sets += [s for s in more.format(mac=mac).split("; ") if s]
    if kind is None:
        sets.append(f"set 0 eth.dst {mac}")
    if "vxlan" in frame:
        sets.append("set 0 eth[2].src 02:00:00:00:00:77")
        sets.append("set 0 udp.dst 4789")
    p.send("; ".join(sets))
    return p, ours, theirs


@pytest.mark.parametrize("name", TUNNELS)
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


@pytest.mark.parametrize("name", TUNNELS)
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
