# SPDX-License-Identifier: BSD-3-Clause
"""A server of iperf3 on a port, by our own TCP and UDP: asked by iperf3 itself and by clients that do what they should not, at the other end of a
veth pair; and by our own client on the other port. How fast anything is is not looked at."""
import contextlib
import json
import shutil
import signal
import subprocess
import sys

import pytest

import iperf_peer as peer
from harness import binary
from test_host_linux import until
from test_iperf3_port import linked, listens

REAL = shutil.which("iperf3")

# Waits until somebody listens.
AWAIT = """
import socket, sys, time
for _ in range(600):
    try:
        socket.create_connection(("10.0.0.1", 5201), timeout=1).close()
        sys.exit(0)
    except OSError:
        time.sleep(0.05)
sys.exit(1)
"""

# Clients that say what they should not, and what they are told.
WRONG = """
import json, socket, struct, sys
sys.path.insert(0, sys.argv[1])
import iperf_peer as peer
told = {}

def connect(cookie=peer.COOKIE):
    s = socket.create_connection(("10.0.0.1", 5201), timeout=60)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    s.sendall(cookie)
    return s

def rest(s):
    got = b""
    try:
        while piece := s.recv(100):
            got += piece
    except ConnectionError:
        pass
    return got.hex()

def asked(params):
    c = connect()
    assert c.recv(1) == b"\\x09"
    c.sendall(params if isinstance(params, bytes) else peer.message({**peer.PARAMS, **params}))
    return c

told["web"] = rest(connect(b"GET / HTTP/1.1\\r\\nHost: localhost:5201\\r\\n\\r\\n"))
for name, params in {"much": b"\\x7f\\xff\\xff\\xff", "half": peer.message(b'{"tcp":'), "bbr": {"congestion": "bbr"},
                     "long": {"tcp": False, "udp": True, "len": 4000}}.items():
    told[name] = rest(asked(params))
other = b"x" * 36 + b"\\0"
c = asked({"parallel": 2})
assert c.recv(1) == b"\\x0a"
# data may come: a stranger is another client, in pieces too, and who says nothing is nobody's
told["stranger"] = rest(connect(other))
s = connect(other[:20])
s.sendall(other[20:])
told["pieces"] = rest(s)
told["odd"] = rest(connect(b"GET / HTTP/1.1\\r\\nHost: localhost:5201\\r\\n\\r\\n"))
silent = socket.create_connection(("10.0.0.1", 5201))
data = [connect() for _ in range(2)]
assert peer.exactly(c, 2) == b"\\x01\\x02"
told["late"] = rest(connect(other))
data[1].sendall(b"y" * 1000)
data[0].sendall(b"x" * 5000)
c.sendall(b"\\x04")
assert peer.exactly(c, 1) == b"\\x0d"
c.sendall(peer.message(peer.results((1, 3))))
told["bytes"] = [x["bytes"] for x in peer.read_message(c)["streams"]]
assert peer.exactly(c, 1) == b"\\x0e"
c.sendall(b"\\x10")
told["data"] = [rest(d) for d in data]
c = asked({})
assert c.recv(1) == b"\\x0a"
d = connect()
assert peer.exactly(c, 2) == b"\\x01\\x02"
c.close()
told["gone"] = rest(d)
print(json.dumps(told))
"""


def program(link, dev, address, command):
    return subprocess.Popen([*link.prefix, binary(), "--no-screen", "-b", "-p", f"packet:{dev}", "--ip", address, "-e", command],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@contextlib.contextmanager
def serving(link, *options, wait=True):
    proc = program(link, link.net.a, "10.0.0.1/24", " ".join(["iperf3", "-s", *options]))
    try:
        if wait:
            subprocess.run([*link.prefix, sys.executable, "-c", AWAIT], check=True, timeout=60)
        yield proc
    finally:
        if proc.poll() is None:
            proc.kill()
        proc.communicate()


def interrupted(proc):
    proc.send_signal(signal.SIGINT)
    out, err = proc.communicate(timeout=60)
    assert proc.returncode == -signal.SIGINT, (proc.returncode, out, err)
    return out, err.splitlines()


def ask(link, *words, server="10.0.0.1", command=(REAL,)):
    c = subprocess.run([*link.prefix, *command, "-c", server, "-J", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, text=True, timeout=60)
    assert c.returncode == 0, c.stdout + c.stderr
    return json.loads(c.stdout)


def documents(text):
    found, at = [], 0
    while text[at:].strip():
        doc, n = json.JSONDecoder().raw_decode(text[at:].lstrip())
        at = len(text) - len(text[at:].lstrip()) + n
        found.append(doc)
    return found


@pytest.mark.skipif(REAL is None, reason="iperf3 is not installed")
def test_with_iperf3():
    """Several tests on one server, of TCP and UDP, each way; its documents have the keys that those of a server on sockets have."""
    with linked() as link, serving(link, "-J") as proc:
        clients = [ask(link, *words.split()) for words in (
            "-n 2M -P 4 -l 10000", "-k 20 -R -P 2", "-t 1 --bidir -P 2 -b 20M", "-u -t 1 -b 4M -l 1000 -P 2",
            "-u -R -t 1 -b 2M -l 500 --get-server-output")]
        ask(link, "-n", "10K")  # when it is asked once more it is done with those before
        out, _ = interrupted(proc)
        servers = documents(out)[:5]
        link.do("ip", "link", "set", "lo", "up")
        kernel = subprocess.Popen([*link.prefix, binary(), "iperf3", "-s", "-1", "-J"], stdout=subprocess.PIPE, text=True)
        listens(kernel, link.prefix)
        ask(link, "-n", "1M", "-P", "4", server="127.0.0.1")
        like = json.loads(kernel.communicate(timeout=60)[0])
    for c, s in zip(clients, servers):
        assert "error" not in s, s["error"]
        assert s["start"]["cookie"][:36] == c["start"]["cookie"][:36]
        assert s["end"]["carrier"]["stack"] == "port" and s["start"]["accepted_connection"]["host"] == "10.0.0.2"
        for ours, theirs in zip(s["start"]["connected"], c["start"]["connected"]):
            assert (ours["remote_host"], ours["remote_port"]) == ("10.0.0.2", theirs["local_port"]) and ours["local_port"] == 5201
    tcp, back, both, udp, udp_back = [s["end"] for s in servers]
    assert 0 < tcp["sum_received"]["bytes"] <= clients[0]["end"]["sum_sent"]["bytes"]
    assert back["sum_sent"]["bytes"] == 20 << 17 and all(x["sender"]["retransmits"] >= 0 for x in back["streams"])
    assert [x["sender"]["sender"] for x in both["streams"]] == [False, False, True, True]
    for half in ("sum_sent", "sum_received", "sum_sent_bidir_reverse", "sum_received_bidir_reverse"):
        assert 0 < both[half]["bits_per_second"] < 60e6, half
    sending = [x for i in servers[2]["intervals"] for x in i["streams"] if x["sender"]]
    assert all(x["rtt"] > 0 and x["snd_cwnd"] > 0 and x["pmtu"] > 500 for x in sending)
    assert 0 < udp["sum"]["packets"] <= clients[3]["end"]["sum_sent"]["packets"]
    assert all(x["udp"]["out_of_order"] == 0 for x in udp["streams"] + clients[4]["end"]["streams"])
    assert 0 < clients[4]["end"]["sum_received"]["packets"] and udp_back["sum_sent"]["bytes"] % 500 == 0
    told = clients[4]["server_output_json"]["end"]["streams"]
    assert [x["udp"]["bytes"] for x in told] == [x["udp"]["bytes"] for x in udp_back["streams"]]
    for part in ("start", "end"):
        assert set(servers[0][part]) == set(like[part]), part
    assert set(servers[0]["intervals"][0]["streams"][0]) == set(like["intervals"][0]["streams"][0])
    assert set(servers[0]["end"]["streams"][0]["receiver"]) == set(like["end"]["streams"][0]["receiver"])


def test_wrong_clients():
    with linked() as link, serving(link) as proc:
        r = subprocess.run([*link.prefix, sys.executable, "-c", WRONG, peer.__file__.rpartition("/")[0]], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True, timeout=100)
        assert r.returncode == 0, r.stderr
        out, err = interrupted(proc)
    assert json.loads(r.stdout) == {
        "web": "", "much": "fe0000007200000000", "half": "fe0000007200000000", "bbr": "fe0000008600000002", "long": "fe0000001400000000",
        "stranger": "ff", "pieces": "ff", "odd": "", "late": "ff", "bytes": [5000, 1000], "data": ["", ""], "gone": ""}
    assert out.count("Server listening on 5201") == 7 and "Stack port, device packet:" in out
    for line, why in zip(err, ("2147483647 bytes", "no JSON object", "'bbr'; on a port it is cubic, or reno", "datagrams of 4000 bytes",
                               "has closed the control connection while the test ran")):
        assert why in line, err


def test_nobody_comes(tmp_path):
    with linked() as link, serving(link, "-1", "--idle-timeout", "1", wait=False) as proc:
        out, err = proc.communicate(timeout=60)
        assert proc.returncode == 5 and "iperf3: no client has come for 1 s (--idle-timeout)" in err, (out, err)
        name = tmp_path / "iperf3"
        name.symlink_to(binary())
        words = ["-s", "-1", "--idle-timeout", "1", f"--port-spec=packet:{link.net.a}", "--ip", "10.0.0.1/24"]
        r = subprocess.run([*link.prefix, name, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
    assert (r.returncode, r.stderr) == (0, "") and r.stdout.count("Server listening") == 1, r


@pytest.mark.skipif(REAL is None, reason="iperf3 is not installed")
def test_ipv6_and_options():
    """What a client asks for holds here; the document comes in pieces."""
    with linked() as link:
        proc = program(link, link.net.a, "10.0.0.1/24,fd00::1/64", "iperf3 -s -1 -6 --idle-timeout 60 --json-stream")
        try:
            words = "-6 -c fd00::1 -n 100K -w 64K -M 1000 -C reno -S 16"
            until(lambda: link.tool(REAL, *words.split()).returncode == 0, "a test")
            out, err = proc.communicate(timeout=60)
        finally:
            proc.kill()
            proc.communicate()
    events = [json.loads(line) for line in out.splitlines()]
    assert proc.returncode == 0 and [x["event"] for x in events][::len(events) - 1] == ["start", "end"], (out, err)
    assert {x["event"] for x in events[1:-1]} == {"interval"}
    start, end = events[0]["data"], events[-1]["data"]
    assert start["tcp_mss"] == 1000 and start["sock_bufsize"] == 65536 and start["test_start"]["tos"] == 16
    assert start["accepted_connection"]["host"] == "fd00::2" == start["connected"][0]["remote_host"]
    assert end["carrier"]["congestion"] == "reno" == end["receiver_tcp_congestion"] and end["sum_received"]["bytes"] > 0


def test_port_to_port():
    """Our own client, by our own TCP; one that is interrupted says so, and prints no more than what it has measured."""
    with linked() as link, serving(link, wait=False) as proc:
        while "listening" not in proc.stdout.readline():
            assert proc.poll() is None
        link.do("ip", "addr", "flush", "dev", link.net.b)
        c = program(link, link.net.b, "10.0.0.2/24", "set 0 flow.rto 5ms; iperf3 -c 10.0.0.1 -n 1M -P 2 -J --skip-rx-copy")
        out, err = c.communicate(timeout=60)
        # the least time before a segment is sent again is that of the port's first stream
        assert c.returncode == 0 and json.loads(out)["end"]["carrier"]["rto_floor"] == 0.005, (out, err)
        c = program(link, link.net.b, "10.0.0.2/24", "iperf3 -c 10.0.0.1 -t 60 -i 0.1 -b 10M")
        assert any(" sec " in line for line in c.stdout)
        _, notes = interrupted(c)
        assert notes == [], notes
        assert any("test #3" in line for line in proc.stdout)
        _, err = interrupted(proc)
    assert "the client has terminated while the test ran" in err, err
