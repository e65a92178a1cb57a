# SPDX-License-Identifier: BSD-3-Clause
"""iperf3 on a port, by our own TCP and UDP, against iperf3 itself at the other end of a veth pair, and against servers that do what they should
not. How fast anything is is not looked at."""
import contextlib
import json
import shutil
import subprocess
import sys
import time

import pytest

from harness import binary, run
from test_host_linux import Link

REAL = shutil.which("iperf3")
real = pytest.mark.skipif(REAL is None, reason="iperf3 is not installed")

# A server that goes as far as it is told, and then vanishes, or says what it should not.
ODD = """
import socket, struct, sys
how = sys.argv[1]
s = socket.create_server(("10.0.0.2", 5201))
print("listens", flush=True)
c, _ = s.accept()
c.recv(37, socket.MSG_WAITALL)
if how == "busy":
    c.sendall(b"\\xff")
elif how == "odd":
    c.sendall(b"\\x63")
else:
    c.sendall(b"\\x09")
    n, = struct.unpack(">I", c.recv(4, socket.MSG_WAITALL))
    c.recv(n, socket.MSG_WAITALL)
    if how == "deaf":
        s.close()
        c.sendall(b"\\x0a")
        c.recv(1)
    else:
        c.sendall(b"\\x0a")
        d, _ = s.accept()
        d.recv(37, socket.MSG_WAITALL)
        c.sendall(b"\\x01\\x02")
        d.recv(1000, socket.MSG_WAITALL)
    if how in ("much", "stops"):
        c.recv(1)
    if how == "much":
        c.sendall(b"\\x0d")
        n, = struct.unpack(">I", c.recv(4, socket.MSG_WAITALL))
        c.recv(n, socket.MSG_WAITALL)
        c.sendall(b"\\x7f\\xff\\xff\\xff")
    if how in ("much", "stops"):
        c.recv(1)
c.close()
"""


@contextlib.contextmanager
def linked():
    link = Link("packet")
    try:
        yield link
    finally:
        link.net.remove()


def command(link, *words, options=()):
    return [*link.prefix, binary(), "--no-screen", "-b", "-p", link.spec, "--ip", "10.0.0.1/24,fd00::1/64", *options, "-e",
            " ".join(["iperf3", *map(str, words)])]


def ours(link, *words):
    return subprocess.run(command(link, *words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)


def listens(proc, prefix, port=5201):
    """Waits until somebody listens."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        found = subprocess.run([*prefix, "ss", "-Hltn", f"sport = :{port}"], stdout=subprocess.PIPE, text=True, check=True).stdout
        if found.strip():
            return
        assert proc.poll() is None, proc.communicate()
        time.sleep(0.02)
    raise AssertionError("it does not listen")


@contextlib.contextmanager
def served(link, *options):
    proc = subprocess.Popen([*link.prefix, REAL, "-s", "-1", "-J", *options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)
    try:
        listens(proc, link.prefix)
        yield proc
    finally:
        if proc.poll() is None:
            proc.kill()
        proc.communicate()


def both(link, *words):
    """The documents of our client and of the server, which is iperf3."""
    with served(link) as proc:
        c = ours(link, "-c", "10.0.0.2", "-J", *words)
        assert c.returncode == 0, c.stdout + c.stderr
        out, err = proc.communicate(timeout=60)
        assert proc.returncode == 0, out + err
    client, server = json.loads(c.stdout), json.loads(out)
    assert "error" not in client and "error" not in server, (client.get("error"), server.get("error"))
    return client, server


@real
def test_tcp():
    with linked() as link:
        c, s = both(link, "-n", "2M", "-P", "4", "-l", "10000")
        assert c["end"]["sum_sent"]["bytes"] == 2 << 20
        # a server that is iperf3 stops reading when it is told that all was sent
        assert 0 < s["end"]["sum_received"]["bytes"] == c["end"]["sum_received"]["bytes"] <= 2 << 20
        assert c["end"]["carrier"] == {"stack": "port", "device": link.spec, "congestion": "cubic", "rto_floor": pytest.approx(0.2)}
        assert len(c["end"]["streams"]) == len(s["end"]["streams"]) == 4
        for connected, other in zip(c["start"]["connected"], s["start"]["connected"]):
            assert connected["local_port"] == other["remote_port"] and connected["local_host"] == "10.0.0.1"
        senders = [x["sender"] for x in c["end"]["streams"]]
        assert sum(x["bytes"] for x in senders) == 2 << 20 and all(x["retransmits"] >= 0 and x["sender"] for x in senders)
        assert s["start"]["cookie"].startswith(c["start"]["cookie"])
        # the other way, in blocks: all of them come
        c, s = both(link, "-k", "20", "-R", "-P", "2")
        assert c["end"]["sum_received"]["bytes"] >= 20 << 17 and s["end"]["sum_sent"]["bytes"] >= 20 << 17
        assert not c["end"]["streams"][0]["receiver"]["sender"]


@real
def test_both_ways_and_time():
    with linked() as link:
        c, s = both(link, "-t", "1", "-O", "1", "--bidir", "-P", "2", "-b", "20M", "-i", "0.5", "-w", "100K", "-S", "16", "-C", "reno", "-T", "title",
                    "--get-server-output")
        assert len(c["end"]["streams"]) == 4 and c["title"] == "title" and c["server_output_json"]["end"]
        for half in ("sum_sent", "sum_received", "sum_sent_bidir_reverse", "sum_received_bidir_reverse"):
            assert 0 < c["end"][half]["bits_per_second"] < 60e6, half
        assert [x["sender"]["sender"] for x in c["end"]["streams"]] == [True, True, False, False]
        assert any(i["sum"]["omitted"] for i in c["intervals"]) and not c["intervals"][-1]["sum"]["omitted"]
        counted = [x for i in c["intervals"] if not i["sum"]["omitted"] for x in i["streams"] if x["sender"]]
        assert all(x["rtt"] > 0 and x["snd_cwnd"] > 0 and x["pmtu"] > 500 for x in counted)
        assert c["end"]["sender_tcp_congestion"] == "reno" == c["end"]["carrier"]["congestion"]


@real
def test_datagrams():
    with linked() as link:
        c, s = both(link, "-u", "-t", "1", "-b", "4M", "-l", "1000", "-P", "2", "--udp-counters-64bit")
        sent, got = c["end"]["sum_sent"], s["end"]["sum"]
        assert sent["bytes"] == sent["packets"] * 1000 and 0 < sent["bits_per_second"] < 12e6
        # what comes is in order; what was on its way at the end is not there
        assert 0 < got["packets"] <= sent["packets"] and got["lost_packets"] <= got["packets"]
        assert all(x["udp"]["out_of_order"] == 0 for x in s["end"]["streams"])
        c, s = both(link, "-u", "-R", "-t", "1", "-b", "2M", "-l", "500")
        got = c["end"]["sum_received"]
        assert got["packets"] > 0 and got["jitter_ms"] >= 0 and c["end"]["streams"][0]["udp"]["out_of_order"] == 0
        assert got["bytes"] % 500 == 0 and got["bytes"] > 0


@real
def test_text():
    with linked() as link, served(link) as proc:
        c = ours(link, "-c", "10.0.0.2", "-n", "1M", "--cport", "7000", "-4")
        proc.communicate(timeout=60)
    assert c.returncode == 0, c.stdout + c.stderr
    lines = c.stdout.splitlines()
    assert lines[0] == "Connecting to host 10.0.0.2, port 5201" and lines[1].startswith("Stack port, device ")
    assert lines[2] == "[  1] local 10.0.0.1 port 7000 connected to 10.0.0.2 port 5201"
    assert "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd" in lines and lines[-1] == "iperf Done."


@real
def test_the_clock_of_a_connection_begins_with_it():
    """Before its first segment the port tries its address for a second, and finds its neighbour."""
    with linked() as link:
        for _ in range(5):  # others may have the CPU for the whole time
            with served(link) as proc:
                c = ours(link, "-c", "10.0.0.2", "-n", "100K", "--connect-timeout", "700", "-Z", "--repeating-payload")
            if c.returncode == 0:
                break
    assert c.returncode == 0 and "iperf Done." in c.stdout, c.stdout + c.stderr


@real
def test_more_options(tmp_path):
    log = tmp_path / "log"
    with linked() as link, served(link) as proc:
        c = ours(link, "-6", "-c", "fd00::2", "-n", "100K", "--connect-timeout", "20000", "--rcv-timeout", "20000", "-M", "800", "-L", "77",
                 "--logfile", log)
        out, err = proc.communicate(timeout=60)
    assert c.returncode == 0 and c.stdout == "", c.stdout + c.stderr
    assert log.read_text().startswith("Connecting to host fd00::2, port 5201\n") and log.read_text().endswith("\niperf Done.\n")
    doc = json.loads(out)
    assert proc.returncode == 0 and "error" not in doc and doc["start"]["accepted_connection"]["host"] == "fd00::1", out + err
    assert doc["start"]["tcp_mss"] == 800, out


@pytest.mark.parametrize("how,text", [
    ("busy", "the server is busy with another test"),
    ("odd", "has sent the state 99"),
    ("gone", "has closed the control connection while the test ran"),
    ("deaf", "of data failed: refused"),
    ("silent", "no data has come from the server for 100 ms (--rcv-timeout)"),
    ("stops", "has said nothing after the end of the test for 100 ms"),
    ("much", "announces results of 2147483647 bytes; allowed are 1 to 16777216"),
])
def test_odd_servers(how, text):
    with linked() as link:
        proc = subprocess.Popen([*link.prefix, sys.executable, "-c", ODD, how], stdout=subprocess.PIPE, text=True)
        try:
            assert proc.stdout.readline() == "listens\n"
            more = {"silent": ["-t", "20", "-R", "--rcv-timeout", "100"], "stops": ["-n", "10K", "--rcv-timeout", "100"], "much": ["-n", "10K"]}
            c = ours(link, "-c", "10.0.0.2", *more.get(how, ["-t", "20"]))
        finally:
            proc.kill()
            proc.communicate()
    assert c.returncode == 5 and text in c.stderr and len(c.stderr.splitlines()) == 1, c.stdout + c.stderr


def test_nobody():
    """No server, nobody with the address, and no way to it."""
    with linked() as link:
        c = ours(link, "-c", "10.0.0.2")
        assert c.returncode == 5 and "no server listens there" in c.stderr and len(c.stderr.splitlines()) == 1, c.stderr
        for host, text in [("10.0.0.77", "10.0.0.77, the next hop of its connections, did not answer 3 times"),
                           ("192.0.2.1", "port 0 has no way to 192.0.2.1"),
                           ("10.0.0.1", "10.0.0.1 is port 0's own address")]:
            c = ours(link, "-c", host, "--connect-timeout", "100")
            assert c.returncode == 5 and text in c.stderr and len(c.stderr.splitlines()) == 1, c.stderr
            # its user has made no stream
            assert "stream" not in c.stderr and "eth.dst" not in c.stderr, c.stderr


def test_refused():
    for words, text in [
            ("-c 10.0.0.2 -A 0", "-m says on which core"),
            ("-c 10.0.0.2 -B 10.0.0.1", "--ip gives its address"),
            ("-c 10.0.0.2 --fq-rate 1M", "only the kernel paces sockets"),
            ("-c 10.0.0.2 -C bbr", "on a port it is cubic, or reno"),
            ("-c 10.0.0.2 -P 40 --bidir", "on a port there are at most 62"),
            ("-c 10.0.0.2 -u -l 1473", "at most 1472 do"),
            ("-s -A 0", "-m says on which core"),
            ("-s -B 10.0.0.9", "10.0.0.9 is no address of port 0"),
            ("-c fd00::2", "no IPv6 address"),
    ]:
        r = run(["-p", "wire", "-b", "--ip", "10.0.0.1/24", "-e", f"iperf3 {words}"])
        assert r.returncode in (2, 3) and text in r.stderr, (words, r.returncode, r.stderr)
    r = run(["iperf3", "-c", "10.0.0.2", "--stack", "port"])
    assert r.returncode == 2 and "there is no port" in r.stderr
    r = run(["-p", "wire", "-b", "-e", "iperf3 -c 10.0.0.2 --stack port"])
    assert r.returncode == 2 and "no port has an address of its own" in r.stderr

