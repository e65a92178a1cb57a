# SPDX-License-Identifier: BSD-3-Clause
"""Flows whose peers are the programs that people use: servers and clients of HTTP, at the other end of a veth pair and of a tap."""
import contextlib
import re
import subprocess
import sys

import pytest

from test_flows import idle, judge
from test_host_linux import Link, need_tap, until

NGINX = """
daemon off; user root; worker_processes 1; pid {folder}/pid; error_log {folder}/errors;
events {{ worker_connections 4096; }}
http {{
    access_log {folder}/log;
    root {folder}/files;
    keepalive_requests 1000000;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/t1; fastcgi_temp_path {folder}/t2; uwsgi_temp_path {folder}/t3;
    scgi_temp_path {folder}/t4;
    server {{ listen 10.0.0.2:80 backlog=4096; }}
}}
"""

HAPROXY = """
global
    maxconn 4000
defaults
    mode http
    timeout client 20s
    timeout server 20s
    timeout connect 5s
frontend ours
    bind 10.0.0.2:8080
    default_backend theirs
backend theirs
    server one 10.0.0.2:80
"""

# Four requests of one connection, sent at once.
FORMS = (b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n"
         b"HEAD /b HTTP/1.1\r\nHost: x\r\n\r\n"
         b"POST /c HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nabcde"
         b"GET /d HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")

ASK = """
import socket, sys
s = socket.create_connection(("10.0.0.1", 80), timeout=60)
s.sendall(bytes.fromhex(sys.argv[1]))
while got := s.recv(65536):
    sys.stdout.buffer.write(got)
"""

HOLD = """
import socket, time
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 20000)
s.connect(("10.0.0.1", 80))
s.sendall(b"GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
s.recv(1)
print("runs", flush=True)
time.sleep(60)
"""

NAT = """
table ip wr {
    chain pre { type nat hook prerouting priority -100; ip daddr 10.0.0.2 tcp dport 8000 dnat to 10.9.0.5:80; }
    chain post { type nat hook postrouting priority 100; oifname "far0" masquerade; }
}
"""

FAR = """
import http.server
class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        assert self.client_address[0] == "10.9.0.1"
        self.send_response(200)
        self.send_header("Content-Length", "3")
        self.end_headers()
        self.wfile.write(b"yes")
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(("10.9.0.5", 80), Answer)
print("listens", flush=True)
server.serve_forever()
"""


@pytest.fixture(params=["packet", "xdp", "tap"])
def link(request, namespaces):
    need_tap(request.param)
    made = Link(request.param)
    yield made
    made.net.remove()


# What differs between kinds of ports is below connections: one kind is enough for most of what programs ask.
packet = pytest.mark.parametrize("link", ["packet"], indirect=True)


@contextlib.contextmanager
def process(link, *cmd):
    with subprocess.Popen([*link.prefix, *cmd], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as p:
        try:
            yield p
        finally:
            p.terminate()
            p.communicate(timeout=60)


def listens(link, port, what):
    until(lambda: f":{port} " in link.do("ss", "-Hltn"), f"{what} listens", timeout=60)


@contextlib.contextmanager
def nginx(link, folder):
    files = folder / "files"
    files.mkdir()
    for name, size in ("a", 3000), ("b", 70000), ("index.html", 10):
        (files / name).write_bytes(b"z" * size)
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder))
    # a tap has its address when the program that makes it runs
    link.do("sysctl", "-q", "net.ipv4.ip_nonlocal_bind=1")
    with process(link, "nginx", "-p", str(folder), "-e", str(folder / "errors"), "-c", str(folder / "nginx.conf")):
        listens(link, 80, "nginx")
        yield lambda: [line.split('"')[2].split()[0] for line in (folder / "log").read_text().splitlines()]


def the_flow(p):
    return p.ask("show flows")["flows"][0]


def client(link, live, *settings):
    """A client that has had its run."""
    p = link.host(live, "set 0 flow client", "set 0 flow.dst 10.0.0.2", *settings)
    p.send("start 0")
    flow = until(lambda: (f := the_flow(p))["connections"]["opened"] > 0 and f["state"] == "idle" and f, "the run", p, 60)
    idle(flow)
    assert flow["segments"]["bad_checksum"] == 0
    return flow


def server(link, live, *settings):
    p = link.host(live, "set 0 flow server", *settings)
    p.send("start 0")
    until(lambda: the_flow(p)["state"] == "running", "the server", p)
    return p


def sockets_end(link):
    """No socket of Linux's is left but those that rest, and these are its own: it closed first."""
    def left():
        return [line for line in link.do("ss", "-Htan", "dst", "10.0.0.1").splitlines() if not line.startswith("TIME-WAIT")]
    until(lambda: not left(), "the sockets end")


def test_nginx_answers_all_and_its_log_says_the_same(link, live, tmp_path, need):
    need("nginx")
    with nginx(link, tmp_path) as log:
        flow = client(link, live, "set 0 http.path /a:5,/b:2,/none:1", "set 0 transactions 4", "set 0 cps 300", "set 0/0 count 200")
        assert flow["connections"]["closed"] == 200 and flow["transactions"]["done"] == 800
        until(lambda: len(log()) == 800, "the log")
        said = log()
        assert flow["http"]["2xx"] == said.count("200") > 600 and flow["http"]["4xx"] == said.count("404") > 50
        sockets_end(link)


@packet
def test_haproxy_between_us_and_nginx(link, live, tmp_path, need):
    need("nginx", "haproxy")
    (tmp_path / "haproxy.cfg").write_text(HAPROXY)
    link.do("ip", "link", "set", "lo", "up")
    with nginx(link, tmp_path) as log, process(link, "haproxy", "-db", "-f", str(tmp_path / "haproxy.cfg")):
        listens(link, 8080, "haproxy")
        flow = client(link, live, "set 0 flow.dport 8080", "set 0 http.path /a", "set 0 transactions 3", "set 0 cps 300", "set 0/0 count 150")
        assert flow["connections"]["closed"] == 150 and flow["http"]["2xx"] == flow["transactions"]["done"] == 450
        until(lambda: len(log()) == 450, "nginx's log")
        sockets_end(link)


def curl(link, *args):
    r = link.tool("curl", "-sS", "--max-time", "100", *args, timeout=120)
    assert r.returncode == 0, r.stdout
    return r.stdout


def test_curl_gets_bodies_of_any_size(link, live, tmp_path, need):
    need("curl")
    p = server(link, live, "set 0 flow.verify on")
    file = tmp_path / "body"
    for size in 1, 1459, 65536, 5000000:
        p.send(f"set 0 response {size}")
        # a worker has the new setting within 10 ms
        until(lambda size=size: curl(link, "-o", str(file), "-w", "%{http_code} %{size_download}", "http://10.0.0.1/") == f"200 {size}",
              f"{size} bytes", p)
        body = file.read_bytes()
        # the content of flows that verify has a period of 251 bytes, and no shorter one
        assert body[251:] == body[:-251] or size <= 251
        assert size < 502 or all(body[n:251 + n] != body[:251] for n in range(1, 251))
    flow = the_flow(p)
    judge(flow)
    assert flow["segments"]["bad_checksum"] == 0 and flow["payload"]["tx_bytes"] > 5000000
    sockets_end(link)


@packet
def test_curl_sends_in_all_ways(link, live, tmp_path, need):
    need("curl")
    p = server(link, live, "set 0 response 77")
    file = tmp_path / "body"
    file.write_bytes(bytes(2000000))
    code = ["-o", "/dev/null", "-w", "%{http_code} %{size_download} %{size_upload}\n"]
    assert curl(link, "-I", "http://10.0.0.1/").startswith("HTTP/1.1 200 OK")
    assert curl(link, *code, "-H", "Expect: 100-continue", "--data-binary", f"@{file}", "http://10.0.0.1/") == "200 77 2000000\n"
    assert curl(link, *code, "-0", "--data-binary", f"@{file}", "http://10.0.0.1/") == "200 77 2000000\n"
    assert curl(link, *code, "-T", str(file), "http://10.0.0.1/") == "200 77 2000000\n"
    assert curl(link, *code, "-H", "Transfer-Encoding: chunked", "-T", str(file), "http://10.0.0.1/").startswith("200 77 ")
    # keep-alive: one connection for three
    said = curl(link, "-w", "%{num_connects}", *[x for n in range(3) for x in ("-o", "/dev/null", f"http://10.0.0.1/{n}")])
    assert said == "100"
    said = curl(link, "-Z", "--parallel-max", "20", "-w", "%{http_code}\n", "-o", "/dev/null", "http://10.0.0.1/[1-100]")
    assert [line for line in said.splitlines() if line == "200"] == ["200"] * 100
    flow = the_flow(p)
    judge(flow)
    assert flow["http"]["1xx"] >= 1 and flow["http"]["2xx"] == flow["transactions"]["done"] == 1 + 4 + 3 + 100
    sockets_end(link)


def test_requests_that_come_at_once_are_answered_in_order(link, live):
    p = server(link, live, "set 0 response 3")
    r = subprocess.run([*link.prefix, sys.executable, "-c", ASK, FORMS.hex()], stdout=subprocess.PIPE, timeout=60, check=True)
    answers = re.split(rb"(?=HTTP/1\.1 )", r.stdout)[1:]
    assert [a.split(b"\r\n\r\n")[1] for a in answers] == [b"xxx", b"", b"xxx", b"xxx"]
    assert all(a.startswith(b"HTTP/1.1 200 OK\r\n") and b"\r\nContent-Length: 3\r\n" in a for a in answers)
    assert b"Connection: close" in answers[3] and the_flow(p)["transactions"]["done"] == 4


@packet
def test_ab_and_wrk_find_no_failure(link, live, need):
    need("ab", "wrk")
    p = server(link, live, "set 0 response 1000")
    for keep, n in ([], 2000), (["-k"], 5000):
        r = link.tool("ab", "-q", *keep, "-n", str(n), "-c", "20", "http://10.0.0.1/", timeout=120)
        assert r.returncode == 0 and re.search(rf"Complete requests: +{n}\n", r.stdout) and re.search(r"Failed requests: +0\n", r.stdout), r.stdout
    assert the_flow(p)["transactions"]["done"] == 7000
    r = link.tool("wrk", "-t1", "-c20", "-d1s", "http://10.0.0.1/", timeout=60)
    asked = int(re.search(r"(\d+) requests in", r.stdout).group(1))
    assert r.returncode == 0 and asked > 0 and "Socket errors" not in r.stdout and "Non-2xx" not in r.stdout, r.stdout
    flow = the_flow(p)
    judge(flow)
    # wrk closes in the middle of its last ones
    assert asked <= flow["transactions"]["done"] - 7000 <= asked + 20
    assert flow["segments"]["bad_checksum"] == 0 and flow["http"]["2xx"] == flow["transactions"]["done"]


@packet
def test_linux_has_a_sane_picture_of_a_connection(link, live):
    """A client of Linux's that asks for a long body and does not read it: nothing is lost, and it knows our MSS and our window scale."""
    p = server(link, live, "set 0 response 100000000", "set 0 flow.mss 1000")
    with subprocess.Popen([*link.prefix, sys.executable, "-c", HOLD], stdout=subprocess.PIPE, text=True) as c:
        try:
            assert c.stdout.readline() == "runs\n"
            # its window closes, and we ask whether it has opened
            until(lambda: the_flow(p)["errors"].get("window_probe", 0) > 1, "probes of the closed window", p)
            said = link.do("ss", "-Htin", "dst", "10.0.0.1")
        finally:
            c.kill()
    assert " rcvmss:1000 " in said and " wscale:7,0 " in said and "retrans" not in said, said
    until(lambda: the_flow(p)["connections"]["open"] == 0, "its RST", p)
    flow = the_flow(p)
    judge(flow)
    assert flow["connections"]["reset_by_peer"] == 1


@packet
def test_through_nat_both_ways(link, live, tmp_path, need):
    """Addresses and ports change on the way: what comes is what counts."""
    need("nft")
    far = link.net.ns + "-far"
    subprocess.run(["ip", "netns", "add", far], check=True)
    try:
        link.do("ip", "link", "add", "far0", "type", "veth", "peer", "far1", "netns", far)
        for cmd in ("addr add 10.9.0.1/24 dev far0", "link set far0 up"):
            link.do("ip", *cmd.split())
        for cmd in ("link set far1 up", "addr add 10.9.0.5/24 dev far1"):
            subprocess.run(["ip", "-n", far, *cmd.split()], check=True)
        link.do("sysctl", "-q", "net.ipv4.ip_forward=1")
        (tmp_path / "nat").write_text(NAT)
        link.do("nft", "-f", str(tmp_path / "nat"))
        with subprocess.Popen(["ip", "netns", "exec", far, sys.executable, "-c", FAR], stdout=subprocess.PIPE, text=True) as answers:
            try:
                assert answers.stdout.readline() == "listens\n"
                flow = client(link, live, "set 0 gateway 10.0.0.2", "set 0 flow.dport 8000", "set 0 transactions 2", "set 0 cps 100",
                              "set 0/0 count 50")
            finally:
                answers.kill()
    finally:
        subprocess.run(["ip", "netns", "del", far], check=False)
    assert flow["connections"]["closed"] == 50 and flow["transactions"]["done"] == flow["http"]["2xx"] == 100
