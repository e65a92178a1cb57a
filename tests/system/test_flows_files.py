# SPDX-License-Identifier: BSD-3-Clause
"""Requests and responses that are files: what peers get of them is their bytes, and what programs answer is read as always."""
import hashlib
import json
import os
import subprocess
import sys

import pytest
from scapy.layers.dns import DNS, DNSQR
from scapy.layers.inet import UDP
from scapy.packet import Raw
from scapy.utils import rdpcap

import harness
from test_flows import idle, judge
from test_flows_peers import client, curl, nginx, server, the_flow
from test_host_linux import Link, until

GET = b"GET /a?q=%22 HTTP/1.1\r\nHost: a.example\r\nUser-Agent: \xc3\xa9 1.0\r\nAccept: text/html;q=0.9, */*\r\nX-Fold: a\r\n b\r\n\r\n"
HEAD = b"HTTP/1.1 %s\r\nServer: of a file\r\nX-A: 1\r\n"

TAKE_TCP = """
import hashlib, socket, sys
want = int(sys.argv[1])
said = bytes.fromhex(sys.argv[2])
s = socket.create_server(("10.0.0.2", 80), backlog=100)
print("listens", flush=True)
while True:
    c, got = s.accept()[0], b""
    while piece := c.recv(65536):
        got += piece
        while len(got) >= want:
            print(hashlib.sha256(got[:want]).hexdigest(), flush=True)
            got = got[want:]
            c.sendall(said)
    c.close()
"""

# A name server: an answer to each question, by what is in it.
TAKE_DNS = """
import socket
s = socket.socket(type=socket.SOCK_DGRAM)
s.bind(("10.0.0.2", 53))
print("listens", flush=True)
while True:
    q, who = s.recvfrom(2000)
    print(q.hex(), flush=True)
    s.sendto(q[:2] + bytes.fromhex("81800001000100000000") + q[12:] + bytes.fromhex("c00c000100010000003c0004c0000201"), who)
"""

ASK_UDP = """
import socket, sys
s = socket.socket(type=socket.SOCK_DGRAM)
s.settimeout(60)
s.connect(("10.0.0.1", 53))
for n in range(5):
    s.send(b"q" * n)
    sys.stdout.write(s.recv(65536).hex() + "\\n")
"""


@pytest.fixture
def link(namespaces):
    made = Link("packet")
    yield made
    made.net.remove()


class Taker:
    """A peer of Python's, which prints what it gets."""

    def __init__(self, link, text, *args):
        self.proc = subprocess.Popen([*link.prefix, sys.executable, "-c", text, *args], stdout=subprocess.PIPE, text=True)
        assert self.proc.stdout.readline() == "listens\n"

    def got(self):
        self.proc.kill()
        return [bytes.fromhex(line) for line in self.proc.communicate(timeout=60)[0].splitlines()]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.got()


def put(folder, name, content):
    (folder / name).write_bytes(content)
    return str(folder / name)


@pytest.mark.parametrize("request_bytes, answer", [
    (GET, HEAD % b"404 No" + b"Content-Length: 3\r\n\r\nabc"),
    (b"DELETE /a HTTP/1.1\r\nHost: h\r\n\r\n", HEAD % b"204 Gone" + b"\r\n"),
    (b"POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n" + bytes(n * 7 % 256 for n in range(100000)),
     HEAD % b"200 OK" + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"),
], ids=["get", "delete", "post"])
def test_a_server_gets_the_bytes_of_the_file(link, live, tmp_path, request_bytes, answer):
    file = put(tmp_path, "ask", request_bytes)
    with Taker(link, TAKE_TCP, str(len(request_bytes)), answer.hex()) as peer:
        flow = client(link, live, f"set 0 request.file {file}", "set 0 transactions 3", "set 0 cps 100", "set 0/0 count 20")
        assert peer.got() == [hashlib.sha256(request_bytes).digest()] * 60
    assert flow["transactions"]["done"] == 60 == sum(flow["http"][k] for k in ("2xx", "4xx")) and flow["connections"]["closed"] == 20


@pytest.mark.parametrize("text, settings, done", [
    (b"GET /a HTTP/1.1\nHost: x\n\n", ["set 0 transactions 5"], 50),
    (b"HEAD /b HTTP/1.0\r\n\r\n", ["set 0 close fin server"], 10),  # nginx closes behind it
], ids=["kept", "closed"])
def test_nginx_takes_it(link, live, tmp_path, need, text, settings, done):
    need("nginx")
    with nginx(link, tmp_path) as log:
        flow = client(link, live, f"set 0 request.file {put(tmp_path, 'ask', text)}", "set 0 cps 100", "set 0/0 count 10", *settings)
        assert flow["http"]["2xx"] == flow["transactions"]["done"] == done and flow["connections"]["closed"] == 10
        until(lambda: log() == ["200"] * done, "nginx's log")


@pytest.mark.parametrize("text, body", [
    (HEAD % b"200 OK" + b"Content-Length: 4\r\n\r\na\0\r\n", b"a\0\r\n"),
    (HEAD % b"404 Not Here" + b"Content-Length: 2000000\r\n\r\n" + bytes(n * 7 % 256 for n in range(2000000)), None),
    (HEAD % b"200 OK" + b"Transfer-Encoding: chunked\r\n\r\n5;x\r\nhello\r\n1\r\n!\r\n0\r\nT: v\r\n\r\n", b"hello!"),
    (HEAD % b"200 OK" + b"\r\nup to the end", b"up to the end"),
], ids=["length", "large", "chunked", "close"])
def test_curl_gets_the_file(link, live, tmp_path, need, text, body):
    need("curl")
    p = server(link, live, f"set 0 response.file {put(tmp_path, 'answer', text)}")
    out = tmp_path / "out"
    assert curl(link, "-i", "--raw", "-o", str(out), "-w", "%{http_code}", "http://10.0.0.1/x") == text.split()[1].decode()
    assert out.read_bytes() == text
    # two requests on one connection, unless the response ends it; and the head alone
    said = curl(link, "-w", "%{num_connects}", "-o", str(out), "http://10.0.0.1/1", "-o", "/dev/null", "http://10.0.0.1/2")
    assert said == ("11" if body == b"up to the end" else "10")
    assert out.read_bytes() == (body or text[-2000000:])
    assert curl(link, "-I", "http://10.0.0.1/").encode() == text[:text.index(b"\r\n\r\n") + 4].replace(b"\r\n", b"\n") or body != b"a\0\r\n"
    flow = the_flow(p)
    judge(flow)
    assert flow["transactions"]["done"] == 4 == flow["http"]["2xx"] + flow["http"]["4xx"]


def test_a_name_server_answers_the_question_of_the_file(link, live, tmp_path):
    """Nothing is added to the question, and each answer is that to the open one."""
    question = bytes(DNS(id=0x1234, rd=1, qd=DNSQR(qname="a.example")))
    with Taker(link, TAKE_DNS) as peer:
        flow = client(link, live, "set 0 frame eth/ipv4/udp", "set 0 flow.dport 53", f"set 0 request.file {put(tmp_path, 'q', question)}",
                      "set 0 transactions 4", "set 0 cps 100", "set 0/0 count 25", "set 0 flow.verify on")
        assert peer.got() == [question] * 100
    assert flow["transactions"]["done"] == 100
    assert flow["payload"] == {"tx_bytes": 100 * len(question), "rx_bytes": 100 * (len(question) + 16)}
    assert not set(flow["errors"]) & {"mismatched", "lost", "late", "reordered", "duplicated"}


def test_a_socket_gets_the_datagram_of_the_file(link, live, tmp_path):
    answer = bytes(range(200)) * 5
    p = server(link, live, "set 0 frame eth/ipv4/udp", "set 0 flow.sport 53", f"set 0 response.file {put(tmp_path, 'r', answer)}")
    r = link.tool(sys.executable, "-c", ASK_UDP)
    assert [bytes.fromhex(line) for line in r.stdout.splitlines()] == [answer] * 5, r.stdout
    assert the_flow(p)["transactions"]["done"] == 5


# ---- over the wire: both ends have both files, and frames are looked at ----

def pair(*settings, folder, count=6):
    """Runs both, and returns the two flows and the frames that each end has sent."""
    lines = ["set 0 flow client; set 1 flow server", *settings, f"set 0/0 count {count}", "set 0-1 flow.verify on",
             f"capture 0 {folder}/0.pcapng", "start all; wait all; capture stop", "show flows", "show ports"]
    done = harness.run(["-p", "wire", "-b", "--json", "-e", "; ".join(lines)])
    assert done.returncode == 0, done.stderr
    docs = [json.loads(line) for line in done.stdout.splitlines()]
    flows = next(d for d in docs if d.get("show") == "flows")["flows"]
    mac = next(d for d in docs if "ports" in d)["ports"][0]["mac"]
    frames = rdpcap(f"{folder}/0.pcapng")
    for flow in flows:
        idle(flow)
    return flows, [[f for f in frames if (f.src == mac) == ours] for ours in (True, False)]


def test_datagrams_are_the_files(tmp_path):
    ask, answer = b"\0\x01ask", b"an\nanswer" * 100
    flows, sent = pair("set 0,1 frame eth/ipv6/udp", f"set 0,1 request.file {put(tmp_path, 'a', ask)}",
                       f"set 0,1 response.file {put(tmp_path, 'b', answer)}", "set 0 transactions 3", folder=tmp_path)
    assert [f["transactions"]["done"] for f in flows] == [18, 18] and not any(f["errors"].get("mismatched", 0) for f in flows)
    for frames, text in zip(sent, (ask, answer)):
        assert [f[Raw].load for f in frames if UDP in f] == [text] * 18


def test_bytes_arrive_over_a_bad_wire(tmp_path):
    """Files of several segments, each of which is sent again where it is lost; both ends compare."""
    ask, answer = os.urandom(70000), os.urandom(200001)
    flows, _ = pair("set 0,1 app bytes", f"set 0,1 request.file {put(tmp_path, 'a', ask)}", f"set 0,1 response.file {put(tmp_path, 'b', answer)}",
                    "set 0 transactions 2", "set wire loss 2%; set wire reorder 5%", folder=tmp_path)
    assert [f["transactions"]["done"] for f in flows] == [12, 12] and not any(f["errors"].get("mismatched", 0) for f in flows)
    assert [f["payload"]["tx_bytes"] for f in flows] == [12 * 70000, 12 * 200001]
    assert sum(f["segments"]["retransmitted"] for f in flows) > 0


@pytest.mark.parametrize("udp", [False, True], ids=["tcp", "udp"])
def test_another_file_is_found(tmp_path, udp):
    """What comes is not what this end has: so many bytes are told."""
    flows, sent = pair(*(["set 0,1 frame eth/ipv4/udp"] if udp else ["set 0,1 app bytes"]), f"set 0,1 request.file {put(tmp_path, 'a', b'12345678')}",
                       f"set 1 response.file {put(tmp_path, 'b', b'abcdefgh')}", f"set 0 response.file {put(tmp_path, 'c', b'abcdefgX')}",
                       folder=tmp_path)
    assert [f["errors"].get("mismatched", 0) for f in flows] == [6 * 8, 0] and [f["transactions"]["done"] for f in flows] == [6, 6]
    assert {f[Raw].load for f in sent[1] if Raw in f} == {b"abcdefgh"}


def test_a_file_is_read_when_it_is_set(live, tmp_path):
    """Its name may have anything in it; later changes of the file do nothing until it is set again; a pipe holds nobody."""
    name = put(tmp_path, "a b;'#\"c", b"first")
    os.mkfifo(tmp_path / "pipe")
    p = live(["-p", "wire", "-b", "--keep-going"])
    quoted = '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
    p.send("set 0 flow client; set 1 flow server; set 0,1 app bytes; set 0 count 3")
    p.send(f"set 0,1 request.file {quoted}")
    p.send(f"save {tmp_path}/saved")
    p.stats()  # it has done that
    put(tmp_path, "a b;'#\"c", b"and now for more")
    p.send("start all; wait all")
    assert p.ask("show flows")["flows"][0]["payload"]["tx_bytes"] == 15
    p.send(f"set 0 request.file {tmp_path}/pipe")
    p.send("clear; start all; wait all")
    assert p.ask("show flows")["flows"][0]["payload"]["tx_bytes"] == 15
    assert "it is a pipe, not a regular file" in p.errors()
    p.send(f"reset all; load {tmp_path}/saved")
    p.send("clear; start all; wait all")
    assert p.ask("show flows")["flows"][0]["payload"]["tx_bytes"] == 48
