# SPDX-License-Identifier: BSD-3-Clause
"""One workload on two stacks, in namespaces without names: what comes of each arm, what is told, and that nothing is left."""
import os
import signal
import socket
import subprocess
import time

import harness
import pytest

WHOLE = ["--runs", "1", "--duration", "1s", "--warm-up", "0"]  # tests of iperf3 have whole seconds
SHORT = ["--runs", "1", "--duration", "100ms", "--warm-up", "100ms"]
ARMS = ["kernel to kernel", "port to kernel", "port to port"]


def run(*words, options=("--json",), **kw):
    return subprocess.run([harness.binary(), *options, "stacks", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=300, **kw)


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(c) for c in f.read().split()]


def gone(pid):
    return not os.path.exists(f"/proc/{pid}") or open(f"/proc/{pid}/stat", encoding="ascii").read().rsplit(")", 1)[1].split()[0] == "Z"


def moved(measure):
    """The document of a measurement in whose runs something came. On a machine that stood still for a run it is made again."""
    for i in range(5):
        r = measure(i)
        assert r.returncode == 0, r.stderr
        doc = harness.document(r.stdout)["stacks"]
        if all(o["value"] > 0 and o["receiver_bps"] > 0 for o in doc["runs"]):
            return doc
    raise AssertionError(doc)


def test_arms(namespaces, tmp_path):
    page, drawing = tmp_path / "page.html", tmp_path / "drawing.svg"
    doc = moved(lambda i: run(*SHORT, "--verify", "--html", f"{page}{i}", "--svg", f"{drawing}{i}", "tcp_rr", "tcp_stream"))
    page, drawing = max(tmp_path.glob("page*")), max(tmp_path.glob("drawing*"))
    assert doc["complete"] and (doc["congestion"], doc["rto_floor_ns"]) == ("cubic", 5_000_000)
    assert [(o["workload"], o["arm"]) for o in doc["runs"]] == [(w, a) for w in ("tcp_rr", "tcp_stream") for a in ARMS]
    assert all(o["mismatched_bytes"] == 0 for o in doc["runs"])
    assert all(o["payload_compared"] and o["payload_touched"] for o in doc["results"])
    assert "<svg" in page.read_text() and drawing.read_text().rstrip().endswith("</svg>")
    again = run(*SHORT, "--html", str(page), "tcp_rr")
    assert again.returncode == 2 and str(page) in again.stderr


@pytest.mark.parametrize("workload", ["tcp_crr", "udp_rr", "udp_stream"])
def test_other_workloads(workload, namespaces):
    words = *SHORT, "--arms", "kernel-kernel,port-port", "--loopback", workload
    runs = moved(lambda i: run(*words))["runs"]
    assert [o["arm"] for o in runs] == [ARMS[0], ARMS[2]]
    if workload == "udp_stream":  # more than two in each tick of a port's timers, which are 262 us
        assert all(8 * 1400 * 8000 < o["sender_bps"] for o in runs), runs
    if workload == "udp_rr":
        rows = [line.split(",") for line in run(*words, options=("--csv",)).stdout.splitlines()]
        assert [row[1] for row in rows[1:]] == [ARMS[0], ARMS[2]] and "value" in rows[0] and {len(row) for row in rows} == {len(rows[0])}


def test_iperf3(namespaces):
    """Each end is iperf3 of its own stack, which says by what it was carried: all have one algorithm and one least RTO."""
    doc = moved(lambda i: run(*WHOLE, "iperf3", "-P", "2", "-b", "20M", "-l", "10000"))
    assert doc["iperf3"] == "-t 1 -O 0 -C cubic -P 2 -b 20M -l 10000" and doc["congestion"] == "cubic"
    assert [(o["workload"], o["arm"], o["device"]) for o in doc["runs"]] == list(zip(["iperf3"] * 3, ARMS, ["veth", "tap:wrt", "memif"]))
    for o in doc["runs"]:
        assert o["transfer_bytes"] > 0 and o["sender_bps"] > 0 and o["retransmits"] >= 0 and o["cpu_s"] > 0 and o["lost_share"] is None, o
    assert [o["payload_touched"] for o in doc["results"]] == [True] * 3


@pytest.mark.parametrize("signo,phase,words", [
    (signal.SIGINT, 0, "kernel-kernel tcp_rr"), (signal.SIGINT, 2, "kernel-kernel tcp_rr"), (signal.SIGKILL, 2, "kernel-kernel tcp_rr"),
    (signal.SIGINT, 2, "port-port iperf3"), (signal.SIGKILL, 2, "kernel-kernel iperf3 -u")])
def test_nothing_is_left(signo, phase, words, namespaces):
    """Whenever it ends: no process, and so no namespace, since these have no other holder."""
    p = subprocess.Popen([harness.binary(), "stacks", "--arms", *words.split()], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True,
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # whoever runs the tests may ignore it
    try:
        deadline = time.monotonic() + 200
        while len(children(p.pid)) < phase:
            assert p.poll() is None and time.monotonic() < deadline
            time.sleep(0.01)
        ends = children(p.pid)
        p.send_signal(signo)
        p.communicate(timeout=200)
    finally:
        p.kill()
    assert p.returncode == -signo
    while not all(gone(c) for c in ends):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_needs_root():
    if os.geteuid() != 0:
        r = run("tcp_rr")
    else:
        r = run("tcp_rr", user=65534, group=65534, extra_groups=[])
    assert r.returncode == 3 and "root" in r.stderr and len(r.stderr.splitlines()) == 1


def test_needs_its_cpus():
    r = run("--cpus", "0,1023", "iperf3")
    assert r.returncode == 3 and r.stderr.startswith("wirerate: --cpus 0,1023: there is no CPU 1023; "), r.stderr


def test_another_machine():
    """`stacks serve` and who asks it, without a port: sockets here and there."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    server = subprocess.Popen([harness.binary(), "stacks", "serve", "--port", str(port)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
    try:
        assert f"port {port}" in server.stderr.readline()
        with socket.create_connection(("127.0.0.1", port)) as s, s.makefile("rw") as f:
            for line, answer in (("totals", "nothing was begun"), ("[]", "neither"), ("{}", "no order"),
                                 ('{"client":true,"workload":"tcp_rr","down":false,"verify":false,"skip":false,"host":"127.0.0.1","port":9,"flows":1,'
                                  '"mss":0,"cpu":-1}', "only serves")):
                f.write(line + "\n")
                f.flush()
                assert answer in f.readline()
        doc = moved(lambda i: run(*SHORT, "--port", str(port), "--peer", "127.0.0.1", "tcp_rr"))
        assert doc["runs"][0]["transactions"] > 0
        datagrams = moved(lambda i: run(*WHOLE, "--port", str(port), "--peer", "127.0.0.1", "iperf3", "-u", "-b", "1M", "-l", "1000"))["runs"][0]
        assert datagrams["datagrams"] > 0 and datagrams["retransmits"] is None and 0 <= datagrams["lost_share"] <= 1, datagrams
        assert datagrams["jitter_ns"] >= 0 and datagrams["busy_cycles"] > 0 and datagrams["device"] == "sockets"
    finally:
        server.kill()
        server.communicate()
    r = run("--port", str(port), "--peer", "127.0.0.1", "tcp_rr")
    assert r.returncode == 5 and "stacks serve" in r.stderr.splitlines()[-1]
