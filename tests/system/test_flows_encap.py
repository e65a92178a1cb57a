# SPDX-License-Identifier: BSD-3-Clause
"""Flows in each encapsulation with Linux's TCP and UDP at the other end, whether its kernel has such devices or not: encap_peer.py takes our frames
apart with scapy, finds every byte of their headers right, and Linux has what is inside by a tun."""
import json
import subprocess
import sys

import pytest

from encap_peer import INNER_OURS, INNER_PEER, OURS4, OURS6, PEER4, PEER6, STACKS
from harness import Veth
from test_flows import judge
from test_flows_linux import the_flow
from test_flows_tunnels_linux import inside
from test_host_linux import need_tap, until

CONNECTIONS, PER, BYTES = 4, 2, 4000
UDP_PORTS = {"vxlan": 4789, "geneve": 6081, "gtpu": 2152}

# HTTP on port 80 and datagrams back on port 81 for us, and at the word of the test a client of ours.
PEER = """
import http.client, http.server, socket, sys, threading
class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "4000")
        self.end_headers()
        self.wfile.write(b"y" * 4000)
    def log_message(self, *args):
        pass
class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6
def echo():
    while True:
        s.sendto(*s.recvfrom(2048))
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.bind(("::", 81))
threading.Thread(target=echo, daemon=True).start()
threading.Thread(target=Server(("::", 80), Answer).serve_forever, daemon=True).start()
print("listens", flush=True)
def ask(address):
    for n in range(4):
        c = http.client.HTTPConnection(address, 80, timeout=60)
        for k in range(2):
            c.request("GET", "/")
            r = c.getresponse()
            if r.status != 200 or len(r.read()) != 4000:
                return f"{r.status}, {r.getheaders()}"
        c.close()
    return "all is well"
for line in sys.stdin:
    try:
        print(ask(line.strip()), flush=True)
    except OSError as e:
        print(repr(e), flush=True)
"""


class Process:
    """One that is told and asked line by line."""

    def __init__(self, net, *args):
        self.proc = subprocess.Popen([*net.prefix, sys.executable, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def says(self, line=None):
        if line is not None:
            self.proc.stdin.write(line + "\n")
            self.proc.stdin.flush()
        return self.proc.stdout.readline().strip()

    def close(self):
        self.proc.kill()
        self.proc.communicate()


@pytest.fixture(scope="module")
def linux(namespaces):
    """The namespace, who encapsulates there, and Linux's sockets."""
    pytest.importorskip("scapy")
    need_tap("tap")
    net, started = Veth(), []
    try:
        started.append(Process(net, str(pytest.importorskip("encap_peer").__file__), net.b, net.link(net.a)["address"]))
        assert started[0].says() == "ready"
        net.do("sysctl", "-q", "net.ipv6.conf.tun9.disable_ipv6=0", "net.ipv6.conf.tun9.router_solicitations=0")
        net.do("ip", "link", "set", "tun9", "mtu", "1400", "up")
        for family in 4, 6:
            ours, theirs = inside(family)
            net.do("ip", "addr", "add", theirs, "peer", ours, "dev", "tun9", *(["nodad"] if family == 6 else []))
        started.append(Process(net, "-c", PEER))
        assert started[1].says() == "listens"
        yield net, *started
    finally:
        for p in started:
            p.close()
        net.remove()


def three(family, frame, sets, own, mac):
    """A client of TCP, a server, and a client of UDP."""
    ours, theirs = inside(family)
    ip = "ipv4" if family == 4 else "ipv6"
    cmds = ["stream add 0/1", "stream add 0/2", "set 0/2 enabled on", "set 0/0,0/2 flow client", "set 0/1 flow server"]
    cmds += [f"set 0/{n} frame {frame}/{ip}/{l4}" for n, l4 in enumerate(("tcp", "tcp", "udp"))]
    values = {"flow.src": ours, "eth.src": own, "eth.dst": mac, **sets}
    if frame.startswith("eth/ipv"):
        outer = frame.split("/")[1]
        values |= {f"{outer}.src": OURS4 if outer == "ipv4" else OURS6, f"{outer}.dst": PEER4 if outer == "ipv4" else PEER6}
    if frame.endswith("/eth"):
        values |= {"eth[2].src": INNER_OURS, "eth[2].dst": INNER_PEER}
    if "udp/" in frame:
        values["udp.dst"] = UDP_PORTS[frame.split("/")[3]]
    for field, value in values.items():
        if not isinstance(value, tuple):
            cmds.append(f"set 0/0-2 {field} {value}")
            continue
        for stream, (there, back) in ("0/0,0/2", value), ("0/1", value[::-1]):  # a server's answers are frames of ours, too
            cmds += [f"set {stream} {field} {there}", f"set {stream} reply.{field} {back}"]
    cmds += [f"set 0/0 flow.dst {theirs}", f"set 0/2 flow.dst {theirs}", "set 0/2 flow.dport 81", "set 0/2 request 700", "set 0/2 response 700",
             f"set 0/1 response {BYTES}", f"set 0/0,0/2 count {CONNECTIONS}", f"set 0/0,0/2 transactions {PER}", "set 0/0,0/2 cps 100"]
    return cmds


@pytest.mark.parametrize("name", STACKS)
def test_linux_inside(linux, live, name):
    net, codec, peer = linux
    frame, family, sets, _ = STACKS[name]
    ours, _ = inside(family)
    p = live(["--no-screen", "-p", f"packet:{net.a}"], prefix=net.prefix)
    p.send("; ".join(three(family, frame, sets, *(net.link(end)["address"] for end in (net.a, net.b)))))
    assert codec.says(name) == "begun"
    try:
        p.send("start 0")
        until(lambda: (f := p.ask("show flows")["flows"]) and f[0]["connections"]["closed"] == f[2]["connections"]["closed"] == CONNECTIONS,
              "the ends of ours", timeout=60)
        p.send("wait 0; set 0/0,0/2 enabled off; set 0/1 enabled on; start 0")
        until(lambda: p.ask("show flows")["flows"][1]["state"] == "running", "the server")
        assert peer.says(ours) == "all is well"
        shown = until(lambda: (d := p.ask("show flows"))["flows"][1]["connections"]["closed"] == CONNECTIONS and d, "the ends of theirs")
        p.send("stop 0")
    finally:
        said = json.loads(codec.says(""))
        assert said["wrong"] == [], (said, p.ask("show flows"))
    flows = shown["flows"]
    for f in flows:
        judge(f)
        assert f["transactions"]["done"] + f["transactions"]["failed"] == CONNECTIONS * PER, f
        # nobody sends a datagram again: one is given up for lost where the machine stood still
        assert f["transactions"]["done"] > 0 if f is flows[2] else f["transactions"]["failed"] == 0, f
        assert f["connections"]["closed"] == CONNECTIONS and f["segments"]["bad_checksum"] == 0, f
    # each frame once: what we sent came, and what came is what was sent. Where the machine stood still Linux acknowledges twice that we have ended,
    # and the second one is of no connection any more, and reset; and so is a datagram that comes too late, which nobody resets.
    late, resets = (sum(s[name] for s in shown["strays"]) for name in ("no_match", "rst_sent"))
    assert said["in"] == sum(f["segments"]["tx"] for f in flows) + resets, (said, shown)
    assert said["out"] == sum(f["segments"]["rx"] for f in flows) + late, (said, shown)
