# SPDX-License-Identifier: BSD-3-Clause
"""Flows whose peer is Linux, with programs that know nothing of us, at the other end of a veth pair."""
import subprocess
import sys

import pytest

from test_flows import idle, judge
from test_host_linux import Link, need_tap, until

SERVER = """
import http.server
class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "3000")
        self.end_headers()
        self.wfile.write(b"y" * 3000)
    def log_message(self, *args):
        pass
http.server.ThreadingHTTPServer.request_queue_size = 128
server = http.server.ThreadingHTTPServer(("10.0.0.2", 80), Answer)
print("listens", flush=True)
server.serve_forever()
"""

CLIENT = """
import http.client
for n in range(20):
    c = http.client.HTTPConnection("10.0.0.1", 80, timeout=60)
    for path, method in (("/a", "GET"), ("/b", "GET"), ("/a", "HEAD"), ("/c", "POST")):
        c.request(method, path, body=b"q" * 5000 if method == "POST" else None)
        r = c.getresponse()
        body = r.read()
        assert r.status == 200 and len(body) == (0 if method == "HEAD" else 1234), (method, r.status, len(body))
    c.close()
print("all is well")
"""


@pytest.fixture
def link(namespaces):
    made = Link("packet")
    yield made
    made.net.remove()


def the_flow(p):
    return p.ask("show flows")["flows"][0]


def test_a_server_of_others_answers_all(link, live):
    with subprocess.Popen([*link.prefix, sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout.readline() == "listens\n"
            p = link.host(live, "set 0 flow client", "set 0 ipv4.dst 10.0.0.2", "set 0 transactions 3", "set 0 cps 100",
                          "set 0/0 count 100")
            p.send("start 0; wait 0")
            flow = until(lambda: (f := the_flow(p))["connections"]["opened"] == 100 and f["state"] == "idle" and f, "100 connections", p)
        finally:
            server.kill()
    idle(flow)
    assert flow["connections"]["closed"] == 100 and flow["transactions"]["done"] == 300 and flow["http"]["2xx"] == 300
    assert flow["segments"]["bad_checksum"] == 0 and flow["payload"]["rx_bytes"] > 300 * 3000


def test_a_client_of_others_gets_what_it_asks_for(link, live):
    p = link.host(live, "set 0 flow server", "set 0 response 1234")
    p.send("start 0")
    until(lambda: the_flow(p)["state"] == "running", "the server", p)
    r = link.tool(sys.executable, "-c", CLIENT, timeout=120)
    assert r.stdout == "all is well\n", r.stdout
    flow = until(lambda: the_flow(p) if the_flow(p)["connections"]["closed"] == 20 else None, "20 connections", p)
    judge(flow)
    assert flow["transactions"]["done"] == 80 and flow["http"]["2xx"] == 80 and flow["segments"]["bad_checksum"] == 0
    p.send("stop 0")


# What a router says of connections: refused by ICMP, or that their segments are too big for a link on the way.

TAKES = """
import http.server
class Take(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *args):
        pass
http.server.ThreadingHTTPServer.request_queue_size = 128
server = http.server.ThreadingHTTPServer(("10.9.0.5", 80), Take)
print("listens", flush=True)
server.serve_forever()
"""


def router(link):
    """Linux forwards, and says why of what it does not forward."""
    link.do("sysctl", "-q", "net.ipv4.icmp_ratelimit=0", "net.ipv4.icmp_ratemask=0", "net.ipv4.icmp_msgs_per_sec=100000", "net.ipv4.ip_forward=1",
            f"net.ipv4.conf.{link.net.a}.forwarding=0")
    link.do("ip", "route", "add", "prohibit", "10.7.0.0/16")
    link.do("ip", "route", "add", "unreachable", "10.8.0.0/16")


def some(p, to, n, *settings):
    """What becomes of n connections to an address."""
    p.send("; ".join(["clear all", f"set 0 flow.dst {to}", "set 0 cps 50", f"set 0/0 count {n}", *settings, "start 0"]))
    flow = until(lambda: (f := the_flow(p))["connections"]["opened"] == n and f["state"] == "idle" and f, f"connections to {to}", p)
    idle(flow)
    return flow


def test_icmp_says_why(link, live):
    router(link)
    p = link.host(live, "set 0 gateway 10.0.0.2", "set 0 flow client")
    for to, why in ("10.7.0.1", "icmp_prohibited"), ("10.8.0.1", "icmp_host"):
        # Linux says these once in a second, five of them at once at most: some connections ask again
        flow = some(p, to, 4)
        assert flow["connections"]["unreachable"] == 4 and flow["errors"][why] == 4, flow
    flow = some(p, "10.0.0.2", 20, "set 0 frame eth/ipv4/udp", "set 0 flow.dport 9")
    assert flow["connections"]["reset_by_peer"] == 20 and flow["errors"]["icmp_port"] == 20
    assert flow["transactions"]["failed"] == 20
    said = p.stats()[0]["icmp_errors"]
    assert said["port_unreachable"] == 20 and sum(said.values()) == 20


def test_segments_become_smaller_for_a_link_on_the_way(link, live):
    router(link)
    far = link.net.ns + "-far"
    subprocess.run(["ip", "netns", "add", far], check=True)
    try:
        link.do("ip", "link", "add", "small0", "mtu", "1280", "type", "veth", "peer", "small1", "netns", far)
        for cmd in ("addr add 10.9.0.1/24 dev small0", "link set small0 up"):
            link.do("ip", *cmd.split())
        for cmd in ("link set small1 up", "addr add 10.9.0.5/24 dev small1", "route add default via 10.9.0.1"):
            subprocess.run(["ip", "-n", far, *cmd.split()], check=True)
        with subprocess.Popen(["ip", "netns", "exec", far, sys.executable, "-c", TAKES], stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout.readline() == "listens\n"
                p = link.host(live, "set 0 gateway 10.0.0.2", "set 0 flow client", "set 0 ipv4.flags df", "set 0 http.method POST",
                              "set 0 request 20000", "set 0 flow.rto 1m", "set 0 flow.drain 1m")
                flow = some(p, "10.9.0.5", 20)
            finally:
                server.kill()
    finally:
        subprocess.run(["ip", "netns", "del", far], check=False)
    assert flow["connections"]["closed"] == 20 and flow["transactions"]["done"] == flow["http"]["2xx"] == 20
    # each connection finds out for itself
    assert flow["errors"]["pmtu_lowered"] == 20 and flow["errors"]["icmp_too_big"] >= 20
    assert flow["errors"].get("rto", 0) == 0


@pytest.mark.parametrize("kind", ["packet", "tap"])
def test_what_a_deleted_device_left_open_ends(kind, namespaces, live):
    """Also where a device of the same name is made meanwhile: no connection stays in the sums, and a start after that opens what it says."""
    need_tap(kind)
    made = Link(kind)
    try:
        p = made.host(live, "set 0 flow client", "set 0 ipv4.dst 10.0.0.2", "set 0 transactions forever", "set 0 think 20ms", "set 0 cps 100",
                      "set 0/0 count 40", "set 0 flow.drain 500ms")
        with subprocess.Popen([*made.prefix, sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout.readline() == "listens\n"
                p.send("start 0")
                until(lambda: the_flow(p)["connections"]["open"] == 40, "40 connections", p)
                made.do("ip", "link", "del", made.dev if kind == "tap" else made.net.a)
                until(lambda: "its interface was deleted" in p.errors(), "the message", p)
                if kind == "tap":
                    made.do("ip", "tuntap", "add", made.dev, "mode", "tap")
                    made.address()
                p.send("stop 0; wait 0")
                flow = until(lambda: (f := the_flow(p))["state"] == "idle" and f, "the end", p)
            finally:
                server.kill()
        idle(flow)
        c = flow["connections"]
        assert c["opened"] == c["established"] == c["aborted"] + c["timed_out"] == 40
        p.send("start 0 for 200ms; wait 0")
        idle(until(lambda: (f := the_flow(p))["state"] == "idle" and f, "the end", p))
    finally:
        made.net.remove()
