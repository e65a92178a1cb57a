# SPDX-License-Identifier: BSD-3-Clause
"""Flows whose peer is Linux, with programs that know nothing of us, at the other end of a veth pair."""
import subprocess
import sys

import pytest

from test_flows import idle, judge
from test_host_linux import Link, until

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
server = http.server.ThreadingHTTPServer(("10.0.0.2", 80), Answer)
print("listens", flush=True)
server.serve_forever()
"""

CLIENT = """
import http.client
for n in range(20):
    c = http.client.HTTPConnection("10.0.0.1", 80, timeout=20)
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
