# SPDX-License-Identifier: BSD-3-Clause
"""iperf3 as its users run it, on loopback: both roles of ours, a small peer of the tests, and iperf3 itself where it is installed. How fast anything
is is not looked at."""
import contextlib
import fcntl
import json
import os
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import termios
import time

import pytest

import iperf_peer as peer
from harness import binary, document, run

REAL = shutil.which("iperf3")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


@contextlib.contextmanager
def linked(tmp_path):
    """The program under the name iperf3, whose library files it finds beside where the link leads to."""
    link = tmp_path / "iperf3"
    link.symlink_to(binary())
    try:
        yield str(link)
    finally:
        link.unlink()


class Serving:
    """A server that is there when this returns."""

    def __init__(self, command, *args):
        self.port = free_port()
        self.proc = subprocess.Popen([*command, "-s", "-p", str(self.port), *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True)
        for _ in range(500):
            with open("/proc/net/tcp6", encoding="ascii") as f6, open("/proc/net/tcp", encoding="ascii") as f4:
                if f":{self.port:04X} " in f6.read() + f4.read():
                    return
            assert self.proc.poll() is None, self.proc.stderr.read()
            time.sleep(0.02)
        raise AssertionError("it does not listen")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.proc.poll() is None:
            self.proc.kill()
        self.proc.wait()

    def end(self):
        out, err = self.proc.communicate(timeout=60)
        return self.proc.returncode, out, err

    def files(self):
        return len(os.listdir(f"/proc/{self.proc.pid}/fd"))


def ours(*args):
    return run(["iperf3", *args], timeout=60)


def both(*args, server=None, client=None):
    """One test of two processes: the documents of client and server."""
    with Serving(server or [binary(), "iperf3"], "-1", "-J") as s:
        command = client or [binary(), "iperf3"]
        c = subprocess.run([*command, "-c", "127.0.0.1", "-p", str(s.port), "-J", *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True, timeout=60)
        code, out, err = s.end()
    assert c.returncode == 0, c.stdout + c.stderr
    assert code == 0, out + err
    return json.loads(c.stdout), json.loads(out)


def test_bytes_arrive():
    """What the sender counts the receiver has counted, in all directions and of all streams."""
    c, s = both("-n", "3M", "-P", "3", "-l", "10000")
    assert c["end"]["sum_sent"]["bytes"] == c["end"]["sum_received"]["bytes"] == s["end"]["sum_received"]["bytes"] == 3 << 20
    assert [x["sender"]["socket"] for x in c["end"]["streams"]] == [x["socket"] for x in c["start"]["connected"]]
    senders = [x["sender"] for x in c["end"]["streams"]]
    # the others may have sent all of it before the thread of one has begun
    assert len(senders) == 3 and all(x["retransmits"] >= 0 and (x["max_snd_cwnd"] > 0 or x["bytes"] == 0) for x in senders)
    assert sum(i["sum"]["bytes"] for i in c["intervals"]) == 3 << 20
    assert c["start"]["cookie"] == s["start"]["cookie"] and re.fullmatch("[a-z2-7]{36}", c["start"]["cookie"])
    c, s = both("-k", "64", "-R")
    assert c["end"]["sum_sent"]["bytes"] == s["end"]["sum_sent"]["bytes"] == c["end"]["sum_received"]["bytes"] == 64 << 17
    assert not c["end"]["streams"][0]["receiver"]["sender"] and s["end"]["streams"][0]["sender"]["sender"]


def test_both_ways_and_time():
    c, s = both("-t", "1", "--bidir", "-P", "2", "-b", "20M", "-i", "0.5", "-T", "a title", "--extra-data", "more", "--get-server-output")
    assert len(c["end"]["streams"]) == 4
    for half in ("sum_sent", "sum_received", "sum_sent_bidir_reverse", "sum_received_bidir_reverse"):
        assert 0 < c["end"][half]["bits_per_second"] < 50e6
    assert c["title"] == "a title" and c["extra_data"] == s["extra_data"] == "more"
    assert len(c["intervals"]) >= 2 and all("sum_bidir_reverse" in i for i in c["intervals"])
    told = c["server_output_json"]["end"]
    assert told["streams"] == s["end"]["streams"]


def test_datagrams():
    c, s = both("-u", "-n", "300K", "-b", "0", "-l", "1000", "-P", "2", "--udp-counters-64bit")
    sent = c["end"]["sum_sent"]
    assert sent["packets"] == -(-300 * 1024 // 1000) and sent["bytes"] == sent["packets"] * 1000
    for stream in s["end"]["streams"]:
        udp = stream["udp"]
        assert udp["lost_packets"] >= 0 and udp["out_of_order"] == 0 and udp["jitter_ms"] >= 0
    got = s["end"]["sum_received"]
    assert got["bytes"] == (got["packets"] - got["lost_packets"]) * 1000
    c, s = both("-u", "-R", "-t", "1", "-b", "2M", "-l", "500")
    got = c["end"]["sum_received"]
    assert got["bytes"] == (got["packets"] - got["lost_packets"]) * 500 > 0 and s["end"]["sum_sent"]["bytes"] <= 1.3 * 2e6 / 8


def test_text(tmp_path):
    log = tmp_path / "log"
    with Serving([binary(), "iperf3"], "-1") as s, linked(tmp_path) as name:
        c = subprocess.run([name, "-c", "127.0.0.1", "-p", str(s.port), "-n", "1M", "-T", "t", "-f", "m", "--get-server-output", "--logfile", log],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=True)
        code, out, _ = s.end()
    text = log.read_text()
    assert code == 0 and c.stdout == ""
    assert re.search(r"^t:  \[ *\d+\]   0\.00-\d\.\d\d +sec  1\.00 MBytes  [ .\d]+ Mbits/sec +\d+ +sender$", text, re.M), text
    assert re.search(r"^t:  \[ *\d+\]   0\.00-\d\.\d\d +sec  1\.00 MBytes  [ .\d]+ Mbits/sec +receiver$", text, re.M), text
    assert "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n" in text and text.endswith("\niperf Done.\n")
    shown = text.split("Server output:\n")[1].split("\n\n")[0]
    assert shown.startswith("Accepted connection from 127.0.0.1") and shown in out
    assert out.startswith("-" * 59 + f"\nServer listening on {s.port} (test #1)\n")


def test_a_line_each(tmp_path):
    with Serving([binary(), "iperf3"], "-1") as s:
        r = ours("-c", "127.0.0.1", "-p", str(s.port), "-n", "1M", "--json-stream")
    lines = [json.loads(line) for line in r.stdout.splitlines()]
    assert lines[0]["event"] == "start" and lines[-1]["event"] == "end" and {x["event"] for x in lines[1:-1]} == {"interval"}


def test_in_a_session():
    """The verb beside ports; its document is one of the session's."""
    with Serving([binary(), "iperf3"]) as s:
        r = run(["-p", "wire", "-b", "--json", "-e", f"iperf3 -c 127.0.0.1 -p {s.port} -n 1M; iperf3 -c 127.0.0.1 -p {s.port} -n 2M"])
        docs = [document(line) for line in r.stdout.splitlines()]
        assert r.returncode == 0, r.stderr
        assert [d["iperf3"]["end"]["sum_sent"]["bytes"] for d in docs if "iperf3" in d] == [1 << 20, 2 << 20]
        r = run(["-p", "wire", "-b", "-e", "iperf3 -c 127.0.0.1 --stack port"])
        assert r.returncode == 2 and "no port has an address of its own" in r.stderr
        r = run(["-p", "wire", "-b", "-e", f"set 0 ip 10.0.0.1/24; iperf3 -c 127.0.0.1 -p {s.port} -n 1M --stack kernel"])
        assert r.returncode == 0 and "iperf Done." in r.stdout
        s.proc.send_signal(signal.SIGTERM)
        assert s.end()[0] == -signal.SIGTERM


# ---- a peer of the tests ----

def whole(s):
    s.prepare()
    s.connect(2)
    s.say(b"\x01\x02")
    s.got = [peer.exactly(d, 100000) for d in s.data]
    for d in s.data:
        d.settimeout(0.01)
    while s.control.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b"\x04" if ready(s.control) else True:
        for d in s.data:
            with contextlib.suppress(TimeoutError):
                d.recv(1 << 20)
    s.control.recv(1)
    s.say(b"\x0d")
    s.theirs = peer.read_message(s.control)
    s.say(peer.message(peer.results((1, 3), 77)) + b"\x0e")
    assert peer.exactly(s.control, 1) == b"\x10"


def ready(sock):
    try:
        return len(sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)) > 0
    except BlockingIOError:
        return False


def test_what_a_client_says():
    s = peer.Server(whole)
    r = ours("-c", "127.0.0.1", "-p", str(s.port), "-t", "1", "-P", "2", "-l", "64K", "-J", "-N", "-S", "8", "-C", "reno")
    s.end()
    assert r.returncode == 0, r.stdout
    assert re.fullmatch(rb"[a-z2-7]{36}\0", s.cookie)
    assert {k: s.params[k] for k in ("tcp", "time", "parallel", "len", "omit", "num", "blockcount", "nodelay", "TOS")} == {
        "tcp": True, "time": 1, "parallel": 2, "len": 65536, "omit": 0, "num": 0, "blockcount": 0, "nodelay": True, "TOS": 8}
    assert [x["id"] for x in s.theirs["streams"]] == [1, 3] and s.theirs["sender_has_retransmits"] == 1
    end = json.loads(r.stdout)["end"]
    assert end["sum_received"]["bytes"] == 154 and end["sum_sent"]["bytes"] == sum(x["bytes"] for x in s.theirs["streams"])
    assert end["cpu_utilization_percent"]["remote_total"] == 1.5 and end["receiver_tcp_congestion"] == "cubic"
    assert end["sender_tcp_congestion"] == "reno" == s.params["congestion"]


def say(data):
    return lambda s: (s.say(data), s.control.recv(1 << 16))


def ended(answer):
    def script(s):
        s.prepare()
        s.connect()
        s.say(b"\x01\x02")
        while not ready(s.control):
            with contextlib.suppress(BlockingIOError):
                s.data[0].recv(1 << 20, socket.MSG_DONTWAIT)
        assert peer.exactly(s.control, 1) == b"\x04"
        s.say(b"\x0d")
        peer.read_message(s.control)
        s.say(answer)
        with contextlib.suppress(ConnectionError):
            s.control.recv(100)
    return script


def test_the_last_bytes_come_before_the_end():
    """-n: the server has all of it, read or not, when it hears that the test is over."""
    had = []

    def script(s):
        s.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        s.prepare()
        s.connect()
        s.say(b"\x01\x02")
        came = 0
        while s.control not in select.select([s.control, s.data[0]], [], [])[0]:
            time.sleep(0.002)
            came += len(s.data[0].recv(32768))
        unread = struct.unpack("i", fcntl.ioctl(s.data[0], termios.FIONREAD, bytes(4)))[0]
        had.append(came + unread)
        assert peer.exactly(s.control, 1) == b"\x04"
        s.say(b"\x0d")
        peer.read_message(s.control)
        s.say(peer.message(peer.results(count=had[0])) + b"\x0e")
        with contextlib.suppress(ConnectionError):
            s.control.recv(100)

    s = peer.Server(script)
    r = ours("-c", "127.0.0.1", "-p", str(s.port), "-n", "1M", "-Z", "--repeating-payload")
    s.end()
    assert r.returncode == 0 and had == [1 << 20], (had, r.stderr)


def vanishes(s):
    s.prepare()
    s.connect()
    s.say(b"\x01\x02")
    peer.exactly(s.data[0], 1000)


def never_reads(s):
    s.prepare()
    s.connect()
    s.say(b"\x01\x02")
    assert peer.exactly(s.control, 1) == b"\x04"
    peer.exactly(s.control, 1)


WRONG = {
    "busy": (say(b"\xff"), "busy with another test"),
    "no iperf3": (say(b"SSH-2.0-x\r\n"), "state 83 before it had asked"),
    "an error": (say(b"\x09\xfe\0\0\0\x86\0\0\0\x02"), "congestion control"),
    "goes": (lambda s: None, "the control connection"),
    "vanishes": (vanishes, "while the test ran"),
    "stops": (never_reads, "has said nothing after the end of the test for 300 ms"),
    "two gigabytes": (ended(b"\x7f\xff\xff\xff"), "results of 2147483647 bytes; allowed are 1 to 16777216"),
    "half a document": (ended(peer.message(b'{"streams":[')), "no JSON object"),
    "another stream": (ended(peer.message(peer.results((7,)))), "a stream 7, which this test does not have"),
    "no numbers": (ended(peer.message({"streams": []})), 'no number "cpu_util_total"'),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_servers(name, tmp_path):
    script, why = WRONG[name]
    s = peer.Server(script)
    # what is to happen before the end of the test happens before more is sent than a machine sends
    much = {"vanishes": ["-n", "100T"], "stops": ["-t", "1", "--rcv-timeout", "300"]}
    r = ours("-c", "127.0.0.1", "-p", str(s.port), *much.get(name, ["-n", "10K"]))
    s.end()
    assert r.returncode == 5 and r.stderr.count("\n") == 1 and why in r.stderr, (r.returncode, r.stderr)
    if name == "busy":
        s = peer.Server(script)
        with linked(tmp_path) as link:
            r = subprocess.run([link, "-c", "127.0.0.1", "-p", str(s.port)], stderr=subprocess.PIPE, text=True, timeout=60)
        s.end()
        assert r.returncode == 1 and r.stderr.startswith("iperf3: error - the server is busy")


def test_wrong_clients():
    """What comes to a server that it cannot take: it says so in one line, goes on, and keeps nothing of it."""
    with Serving([binary(), "iperf3"]) as s:
        before = s.files()

        def tell(*data, answer):
            c = peer.client(s.port)
            for d in data:
                assert peer.exactly(c, 1) in (b"\x09", b"\x0a")
                c.sendall(d)
            got = b""
            with contextlib.suppress(ConnectionError):
                while piece := c.recv(100):
                    got += piece
            c.close()
            assert got == answer

        tell(b"\x7f\xff\xff\xff", answer=b"\xfe\0\0\0\x72\0\0\0\0")
        tell(peer.message(b'{"tcp":'), answer=b"\xfe\0\0\0\x72\0\0\0\0")
        tell(peer.message({**peer.PARAMS, "parallel": 500}), answer=b"\xfe\0\0\0\x06\0\0\0\0")
        tell(peer.message({**peer.PARAMS, "congestion": "none-such"}), answer=b"\xfe\0\0\0\x86\0\0\0\x02")
        tell(peer.message(peer.PARAMS), b"\x0c", answer=b"")
        with socket.create_connection(("127.0.0.1", s.port)) as c:  # no iperf3
            c.sendall(b"GET / HTTP/1.1\r\nHost: localhost:5201\r\n\r\n")
            with contextlib.suppress(ConnectionError):
                assert c.recv(10) == b""
        c = peer.client(s.port)
        assert c.recv(1) == b"\x09"
        c.sendall(peer.message(peer.PARAMS))
        assert c.recv(1) == b"\x0a"
        # a data connection with another cookie is another client, and has to come again; so has one of ours
        other = peer.client(s.port, b"x" * 36 + b"\0")
        assert other.recv(1) == b"\xff"
        other.close()
        r = ours("-c", "127.0.0.1", "-p", str(s.port))
        assert r.returncode == 5 and "busy with another test" in r.stderr
        c.close()
        for _ in range(3):
            r = ours("-c", "127.0.0.1", "-p", str(s.port), "-n", "1M")
            if r.returncode == 0:
                break
            time.sleep(0.2)
        assert r.returncode == 0, r.stderr
        for _ in range(100):
            if s.files() == before:
                break
            time.sleep(0.05)
        assert s.files() == before
        s.proc.send_signal(signal.SIGINT)
        code, _, err = s.end()
    lines = err.splitlines()
    assert code == -signal.SIGINT and len(lines) == 6, err
    for line, why in zip(lines, ("2147483647 bytes", "no JSON object", "parallel 500", "'none-such'", "the client has terminated", "closed")):
        assert line.startswith("wirerate: ") and why in line


def test_a_reader_may_have_enough():
    """As of all text (`| head`); a document must be read to its end."""
    script = '"$0" "$@" 2>"$ERR" | head -1 >/dev/null; exit ${PIPESTATUS[0]}'
    for more, code in ([], 0), (["--json-stream"], 3):
        with Serving([binary(), "iperf3"], "-1") as s:
            r = subprocess.run(["bash", "-c", script, binary(), "iperf3", "-c", "127.0.0.1", "-p", str(s.port), "-t", "1", "-i", "0.1", *more],
                               env={**os.environ, "ERR": "/dev/null"}, timeout=60)
        assert r.returncode == code, more


def test_what_this_machine_lacks(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        r = ours("-s", "-B", "127.0.0.1", "-p", port)
        assert r.returncode == 5 and r.stderr.count("\n") == 1 and "Address already in use" in r.stderr
        with linked(tmp_path) as name:
            r = subprocess.run([name, "-s", "-B", "127.0.0.1", "-p", port], stderr=subprocess.PIPE, text=True, timeout=60)
        assert r.returncode == 1 and r.stderr.startswith("iperf3: error - ")
    r = ours("-c", "127.0.0.1", "-p", port)
    assert r.returncode == 5 and "Connection refused" in r.stderr
    r = ours("-c", "127.0.0.1", "-p", port, "-J")
    assert r.returncode == 5 and "Connection refused" in json.loads(r.stdout)["error"]
    r = ours("-c", "0.0.0.0.0", "-p", port)
    assert r.returncode == 5 and r.stderr.count("\n") == 1
    r = ours("-s", "-1", "--idle-timeout", "1", "-p", port)
    assert r.returncode == 5 and "no client has come for 1 s" in r.stderr
    with linked(tmp_path) as name:
        for words, lines in (["-J"], 0), ([], 3):
            r = subprocess.run([name, "-s", "-1", "--idle-timeout", "1", "-p", port, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, timeout=60)
            assert (r.returncode, r.stderr, r.stdout.count("\n")) == (0, "", lines), r
    r = ours("-c", "127.0.0.1", "-P", "1000")
    assert r.returncode == 2 and "allowed are 1 to 128" in r.stderr


def test_in_the_background(tmp_path):
    """-D is back when the server listens; -I names its process, whose bytes -A puts on one CPU."""
    port, pid = free_port(), tmp_path / "pid"
    r = ours("-s", "-p", str(port), "-D", "-I", pid, "--logfile", tmp_path / "log")
    assert (r.returncode, r.stdout, r.stderr) == (0, "", "")
    number = int(pid.read_text())
    try:
        cpu = sorted(os.sched_getaffinity(0))
        assert ours("-c", "127.0.0.1", "-p", str(port), "-n", "1M", "-A", f"{cpu[0]},{cpu[-1]}").returncode == 0
        r = ours("-c", "127.0.0.1", "-p", str(port), "-A", ",1023")
        assert r.returncode == 5 and "CPU" in r.stderr and r.stderr.count("\n") == 1
        r = ours("-c", "127.0.0.1", "-p", str(port), "-A", "1023")
        assert r.returncode == 3 and "may not use CPU 1023" in r.stderr
        r = ours("-s", "-p", str(port), "-D", "-I", pid)
        assert r.returncode == 3 and "belongs to a program that runs" in r.stderr
        r = ours("-s", "-p", str(port), "-D")
        assert r.returncode == 5 and "Address already in use" in r.stderr
    finally:
        os.kill(number, signal.SIGTERM)
    for _ in range(200):
        if not pid.exists():
            break
        time.sleep(0.05)
    assert not pid.exists() and "1.00 MBytes" in (tmp_path / "log").read_text()
    r = run(["-p", "wire", "-b", "-e", "iperf3 -s -D"])
    assert r.returncode == 2 and "process of its own" in r.stderr


def test_interrupted():
    with Serving([binary(), "iperf3"], "-1") as s:
        c = subprocess.Popen([binary(), "iperf3", "-c", "127.0.0.1", "-p", str(s.port), "-i", "0.1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True)
        seen = ""
        while "sec" not in seen:
            seen = c.stdout.readline()
            assert seen != ""
        c.send_signal(signal.SIGINT)
        out, _ = c.communicate(timeout=60)
        code, _, err = s.end()
    assert c.returncode == -signal.SIGINT and re.search(r"\d sender\n|sender$", out, re.M)
    assert code == 5 and "the client has terminated while the test ran" in err


# ---- iperf3 itself ----

@pytest.mark.skipif(REAL is None, reason="iperf3 is not installed")
@pytest.mark.parametrize("args", [["-n", "2M", "-P", "4"], ["-n", "2M", "-R"], ["-t", "1", "--bidir", "-b", "20M"],
                                  ["-u", "-n", "200K", "-b", "50M", "-l", "1000"],
                                  ["-u", "-t", "1", "-R", "-b", "5M", "-l", "1000"]], ids=" ".join)
def test_with_iperf3(args):
    ask, _ = both(*args, server=[REAL])
    serve_real, serve = both(*args, client=[REAL])
    real = [e["sum_sent"]["bytes"] for e in (ask["end"], serve_real["end"])]
    assert all(n > 0 for n in real)
    assert serve["end"]["streams"] and set(ask["end"]) - {"carrier"} == set(serve_real["end"])
    if "-u" not in args:
        assert ask["end"]["carrier"]["stack"] == "kernel" and ask["end"]["carrier"]["device"] == "lo"
    assert set(ask["intervals"][0]) == set(serve_real["intervals"][0])
    if "-n" in args and "-u" not in args and "-R" not in args:
        assert serve["end"]["sum_received"]["bytes"] == 2 << 20
