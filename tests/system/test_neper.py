# SPDX-License-Identifier: BSD-3-Clause
"""neper's workloads on the kernel's sockets: against each other, against a small peer in Python, and against a real neper where NEPER names the
folder of its programs. And peers that do what they should not."""
import contextlib
import csv
import os
import signal
import socket
import subprocess
import threading

import harness
import pytest
from neper_peer import ACK, BYE, BYTES, DONE, SECRETS, Client, free_ports, message, parse, read_message, real, transactions

COMMON = ("wait_start iostat_ms time_wait all_samples port control_port host local_hosts max_pacing_rate interval freebind nonblocking nolog "
          "logtostderr pin_cpu dry_run debug client ipv6 ipv4 stime_use_proc source_port suicide_length listen_backlog num_clients num_threads "
          "num_flows maxevents magic").split()
USAGE = ("invalid_secret_count time_start utime_start utime_end stime_start stime_end maxrss_start maxrss_end minflt_start minflt_end majflt_start "
         "majflt_end nvcsw_start nvcsw_end nivcsw_start nivcsw_end").split()
RATES = ["local_throughput", "remote_throughput"]
LATENCY = ["latency_min", "latency_max", "latency_mean", "latency_stddev"]
SAMPLED = ["num_samples", "time_end", "correlation_coefficient", "throughput"]


def start(words, link=None, **kw):
    args = [harness.binary(), "neper", *words] if link is None else [link, *words[1:]]
    return subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kw)


def ended(proc, seconds=60):
    out, err = proc.communicate(timeout=seconds)
    return proc.returncode, out, err


def values(out):
    return dict(line.split("=", 1) for line in out.splitlines() if "=" in line and not line.startswith("t="))


@contextlib.contextmanager
def served(workload, *options, link=None, **kw):
    """A server of ours, and its two ports; it is ended if it has not ended by itself."""
    control, port = free_ports()
    proc = start([workload, "-C", str(control), "-P", str(port), "-H", "127.0.0.1", *options], link=link, **kw)
    try:
        yield proc, control, port
    finally:
        proc.kill()
        proc.communicate()


def reach(control):
    """Waits until the server takes control connections; the one that looked is refused by it and counted."""
    return ["-C", str(control), "-H", "127.0.0.1", "-c", "--connect-retries", "20"]


def pair(workload, server=(), client=(), links=(None, None), cwd=None):
    with served(workload, *server, link=links[0]) as (proc, control, port):
        other = start([workload, "-P", str(port), *reach(control), *client], link=links[1], cwd=cwd)
        mine = ended(other)
        return ended(proc), mine


def after_options(out):
    keys = list(values(out))
    at = keys.index("magic")
    assert keys[keys.index("wait_start"):at + 1] == COMMON
    return keys[at + 2:]


@pytest.mark.parametrize("workload,client,server", [
    ("tcp_rr", ["num_transactions", *LATENCY, "latency_p50", "latency_p99.9", *SAMPLED],
     ["num_transactions", *LATENCY, *SAMPLED]),
    ("tcp_crr", ["num_transactions", *LATENCY, *SAMPLED], []),
    ("tcp_stream", [], [*SAMPLED, "throughput_units"]),
    ("udp_rr", ["num_transactions", *LATENCY, *SAMPLED], ["num_transactions", *LATENCY, *SAMPLED]),
    ("udp_stream", [], [*SAMPLED, "throughput_units"]),
])
def test_pair(workload, client, server, tmp_path):
    """Both ends, the keys and their order, the files, and rates that both know."""
    more = ["-p", "50,999", "-A", "--log-rtt=rtt.csv", "--logrtt-entries-per-flow", "10"] if workload == "tcp_rr" else []
    (rc_s, out_s, err_s), (rc_c, out_c, err_c) = pair(workload, ["-l", "1"], ["-l", "1", "-F", "3", "-T", "2", *more], cwd=tmp_path)
    assert (rc_s, rc_c, err_s, err_c) == (0, 0, "", "")
    logged = ["rtt_transactions_logged"] if more else []
    want = [*USAGE, *client[:1], *logged, *client[1:], *RATES]
    assert after_options(out_c)[:len(want)] == want
    assert after_options(out_s)[:len(USAGE) + len(server) + 2] == [*USAGE, *server, *RATES]
    c, s = values(out_c), values(out_s)
    assert c["remote_throughput"] == s["local_throughput"] and s["remote_throughput"] == c["local_throughput"]
    assert int(c["local_throughput"]) + int(s["local_throughput"]) > 0
    assert c["stack"] == "kernel"
    if not more:
        return
    assert c["rtt_transactions_logged"] == "30"
    rows = list(csv.DictReader(open(tmp_path / "samples.csv")))
    assert len(rows) == int(c["num_samples"]) and {r["tid"] for r in rows} == {"0", "1"}
    last = {(r["tid"], r["flow_id"]): int(r["transactions"]) for r in rows}
    assert sum(last.values()) == int(c["num_transactions"])
    assert float(c["latency_min"]) <= float(c["latency_mean"]) <= float(c["latency_max"])
    lines = open(tmp_path / "rtt.csv").read().splitlines()
    assert [w.strip() for w in lines[0].split(",")] == ["timestamp", "thread_id", "flow_id", "rtt"] and len(lines) == 31


def test_count_and_links(tmp_path):
    """Under links the words are the original's, and -l -N is so many transactions."""
    links = []
    for name in ("tcp_crr",):
        os.symlink(harness.binary(), tmp_path / name)
        links.append(str(tmp_path / name))
    (rc_s, _, _), (rc_c, out, err) = pair("tcp_crr", [], ["-l", "-200", "-F", "4", "-p", "99"], links=(links[0], links[0]))
    assert (rc_s, rc_c, err) == (0, 0, "")
    assert values(out)["num_transactions"] == values(out)["total_transactions"] == "200"
    assert subprocess.run([links[0], "-y"], stderr=subprocess.PIPE, stdout=subprocess.PIPE).returncode == 1


def test_both_ways_and_json():
    (rc_s, out, _), (rc_c, _, _) = pair("tcp_stream", ["-r", "-w", "-l", "1"], ["-r", "-w", "-l", "1", "--no-cork", "--no-delay"])
    assert (rc_s, rc_c) == (0, 0) and float(values(out)["throughput"]) > 0
    r = harness.run(["--json", "neper", "tcp_rr", "-n"])
    doc = harness.document(r.stdout)
    assert doc["neper"]["workload"] == "tcp_rr" and doc["neper"]["num_flows"] == 1 and r.returncode == 0
    for words in (["--help"], ["tcp_rr", "--help"]):
        r = harness.run(["neper", *words])
        assert r.returncode == 0 and "tcp_rr" in r.stdout and r.stderr == ""
    r = harness.run(["-p", "null", "neper", "tcp_rr", "--stack", "port"])  # no port has an address
    assert r.returncode == 2 and "--ip" in r.stderr


def bytes_of_flows(path):
    """What each flow had read at the end."""
    return list({(r["tid"], r["flow_id"]): int(r["bytes_read"]) for r in csv.DictReader(open(path))}.values())


@pytest.mark.parametrize("client", ["-F 2 -T 2", "-F 1 -m 10MB"])
def test_split(client, tmp_path):
    """Both ways by connections of one direction each: at the server nothing comes on half of them."""
    server = ["--split-bidir", f"-A{tmp_path}/samples.csv"]
    (rc_s, out_s, _), (rc_c, out_c, err) = pair("tcp_stream", server, ["--split-bidir", "-l", "1", *client.split()])
    assert (rc_s, rc_c, err) == (0, 0, "")
    flows = int(values(out_c)["num_flows"])
    assert flows == 2 * int(client.split()[1])
    assert int(values(out_c)["local_throughput"]) > 0 and int(values(out_s)["local_throughput"]) > 0
    came = bytes_of_flows(tmp_path / "samples.csv")
    assert len(came) == flows and came.count(0) == flows // 2


def test_in_a_session():
    """As a verb it is one command among others, and leaves nothing behind."""
    control, port = free_ports()
    proc = start(["udp_rr", "-C", str(control), "-P", str(port), "-H", "127.0.0.1", "-l", "1"])
    r = harness.run(["-p", "null", "-b", "-e", f"neper udp_rr -c -H 127.0.0.1 -C {control} -P {port} -l -50; show ports"])
    assert r.returncode == 0 and values(r.stdout)["num_transactions"] == "50" and "null" in r.stdout.splitlines()[-1]
    assert ended(proc)[0] == 0


# ---- the peer of Python ----


def hello(control, *args, **kw):
    for _ in range(200):
        with contextlib.suppress(ConnectionRefusedError):
            return Client(control, *args, **kw)
        threading.Event().wait(0.05)
    raise AssertionError("no server")


@pytest.mark.parametrize("workload", ["tcp_rr", "udp_rr"])
def test_server_of_a_peer(workload):
    with served(workload) as (proc, control, port):
        c = hello(control, workload)
        assert c.ack()["type"] == ACK
        assert transactions(port, 20, udp=workload == "udp_rr") == 20
        bye = c.done(1234)
        rc, out, err = ended(proc)
        v = values(out)
        assert bye["type"] == BYE and bye["rate"] == int(v["local_throughput"])
        assert (rc, err, v["num_transactions"], v["remote_throughput"]) == (0, "", "20", "1234")


def test_server_keeps_serving():
    """Wrong secrets, half messages and other types are counted and told; the client that is right has its run."""
    with served("tcp_rr") as (proc, control, port):
        assert hello(control, secret=b"neper udp_rr 201703241230").ack() is None
        assert hello(control, secret=SECRETS["tcp_rr"], magic=43).ack() is None
        half = socket.create_connection(("127.0.0.1", control))
        half.sendall(message(1, SECRETS["tcp_rr"])[:40])
        half.close()
        silent = socket.create_connection(("127.0.0.1", control))
        c = hello(control)
        assert c.ack()["type"] == ACK
        with pytest.raises(OSError):  # it takes no more clients
            socket.create_connection(("127.0.0.1", control))
        transactions(port, 3)
        assert c.done(1)["type"] == BYE
        rc, out, err = ended(proc)
        silent.close()
        assert rc == 0 and values(out)["invalid_secret_count"] == "3" and len(err.splitlines()) == 3
        assert "secret" in err and "magic 43" in err and "after 40 of 72 bytes" in err


@pytest.mark.parametrize("what,says", [("vanishes", "before the run was over"), ("more", "behind its DONE"), ("nonsense", "where DONE (3) was due"),
                                       ("half", "after 30 of 72 bytes")])
def test_server_of_a_bad_client(what, says):
    with served("tcp_rr") as (proc, control, port):
        c = hello(control)
        c.ack()
        transactions(port, 1)
        c.s.sendall({"vanishes": b"", "more": message(DONE) + b"x", "nonsense": b"\xff" * BYTES, "half": message(DONE)[:30]}[what])
        c.s.close()
        rc, out, err = ended(proc)
        assert rc == 5 and says in err and len(err.splitlines()) == 1 and values(out)["num_transactions"] == "1"


class FakeServer(threading.Thread):
    """A server that does what it is told: after the HELLO it runs `act` with the control connection and the listener of data."""
    def __init__(self, act):
        super().__init__(daemon=True)
        self.act = act
        self.control, self.data = socket.socket(), socket.socket()
        for s in (self.control, self.data):
            s.bind(("127.0.0.1", 0))
            s.listen(16)
            s.settimeout(60)
        self.start()

    def run(self):
        c, _ = self.control.accept()
        self.hello = read_message(c)
        with contextlib.suppress(OSError):
            self.act(c, self.data)
        c.close()

    def ports(self):
        return ["-C", str(self.control.getsockname()[1]), "-P", str(self.data.getsockname()[1])]


def serve_one(data, response, times=None):
    s, _ = data.accept()
    n = 0
    with contextlib.suppress(ConnectionResetError):  # the client closes so
        while (times is None or n < times) and s.recv(1):
            s.sendall(response)
            n += 1
    return s


def good_server(c, data):
    c.sendall(message(ACK))
    threading.Thread(target=serve_one, args=(data, b"\0"), daemon=True).start()
    assert read_message(c)["type"] == DONE
    c.sendall(message(BYE, rate=77))


def closes_data(c, data):
    c.sendall(message(ACK))
    serve_one(data, b"\0", 5).close()
    read_message(c)


def says_too_much(c, data):
    c.sendall(message(ACK) + message(BYE))
    data.accept()


def answers_too_much(c, data):
    c.sendall(message(ACK))
    threading.Thread(target=serve_one, args=(data, b"\0\0\0"), daemon=True).start()
    assert read_message(c)["type"] == DONE
    c.sendall(message(BYE, rate=77))


def vanishes(c, data):
    c.sendall(message(ACK))
    serve_one(data, b"\0", 5)
    c.close()


def no_bye(c, data):
    c.sendall(message(ACK))
    threading.Thread(target=serve_one, args=(data, b"\0"), daemon=True).start()
    read_message(c)
    c.sendall(message(BYE)[:20])


@pytest.mark.parametrize("act,says", [
    (good_server, None), (closes_data, "closed all connections of data"), (says_too_much, "72 bytes behind its ACK"),
    (answers_too_much, "nobody had asked for"), (vanishes, "before the run was over"), (no_bye, "after 20 of 72 bytes"),
    (lambda c, data: None, "another workload"), (lambda c, data: c.sendall(message(ACK, magic=1)), "magic 1"),
    (lambda c, data: c.sendall(b"SSH-2.0-x" * 8), "type"),
])
def test_client_of_a_server(act, says):
    server = FakeServer(act)
    rc, out, err = ended(start(["tcp_rr", "-c", "-H", "127.0.0.1", "-l", "1", *server.ports()]))
    assert server.hello["secret"] == SECRETS["tcp_rr"] and server.hello["length"] == 1
    if says is None:
        assert (rc, err, values(out)["remote_throughput"]) == (0, "", "77")
    else:
        assert rc == 5 and says in err and len(err.splitlines()) == 1


def test_nobody_there():
    control, port = free_ports()
    rc, _, err = ended(start(["tcp_rr", "-c", "-H", "127.0.0.1", "-C", str(control), "--connect-retries", "0"]))
    assert rc == 5 and f"127.0.0.1:{control}: Connection refused" in err and len(err.splitlines()) == 1
    rc, _, err = ended(start(["tcp_rr", "-c", "-H", "no-such-host.invalid"]))
    assert rc == 5 and "no-such-host.invalid" in err and len(err.splitlines()) == 1
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        rc, out, err = ended(start(["tcp_rr", "-H", "127.0.0.1", "-C", str(control), "-P", str(port)]))
        assert rc == 5 and f"127.0.0.1:{port}: Address already in use" in err and len(err.splitlines()) == 1
    rc, _, err = ended(start(["tcp_rr", "-H", "127.0.0.1", "-C", str(control), "-P", str(port), "-s", "1"]))
    assert rc == 4 and "--suicide-length" in err


def test_files_before_the_run(tmp_path):
    """What cannot be written is told before anything is sent, and what could be leaves nothing; names may have blanks."""
    control, _ = free_ports()
    for more in (["-A/no-such-dir/x"], ["--log-rtt=/no-such-dir/x"]):
        rc, _, err = ended(start(["tcp_rr", "-c", "-H", "127.0.0.1", "-C", str(control), *more]))
        assert rc == 5 and "'/no-such-dir/x' cannot be written" in err and len(err.splitlines()) == 1
    rc, _, err = ended(start(["tcp_rr", "-c", "-H", "127.0.0.1", "-C", str(control), "--connect-retries", "0", "-Aa b"], cwd=tmp_path))
    assert rc == 5 and "Connection refused" in err and not os.listdir(tmp_path)
    r = harness.run(["-p", "null", "-b", "-e", "neper tcp_rr -n '--log-rtt=/tmp/a b'"])
    assert r.returncode == 0 and values(r.stdout)["log_rtt"] == "/tmp/a b"


@pytest.mark.skipif(os.geteuid() != 0, reason="a mount namespace needs root")
@pytest.mark.parametrize("words", [["neper", "tcp_rr", "-c", "-H"], ["iperf3", "-c"]], ids=lambda words: words[0])
def test_slow_name_server(words, tmp_path):
    """A name server that is asked and never answers holds nobody: an interrupt ends the program while it is still being asked."""
    conf = tmp_path / "resolv.conf"
    conf.write_text("nameserver 127.0.0.9\noptions timeout:30 attempts:5\n")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as mute:
        try:
            mute.bind(("127.0.0.9", 53))
        except OSError as e:
            pytest.skip(f"127.0.0.9:53: {e}")
        mute.settimeout(60)
        inside = ["unshare", "-m", "sh", "-c", f'mount --bind "{conf}" /etc/resolv.conf && exec "$@"', "sh"]
        p = subprocess.Popen([*inside, harness.binary(), *words, "a-name.example"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
        mute.recvfrom(512)
        p.send_signal(signal.SIGINT)
        p.communicate(timeout=25)
    assert p.returncode == -signal.SIGINT


@pytest.mark.skipif(real("tcp_rr") is None, reason="NEPER does not name a folder with neper's programs")
@pytest.mark.parametrize("workload,server,client", [
    ("tcp_rr", "-T 4", "-F 50 -T 4"), ("tcp_rr", "", "-F 1000 -T 2"), ("tcp_rr", "", "-F 4 -l -1000"), ("tcp_crr", "", "-F 3"),
    ("tcp_crr", "-T 2", "-F 3 -T 2 -l -1000"), ("tcp_rr", "-Q 1000 -R 200000", "-F 4 -Q 1000 -R 200000"), ("tcp_stream", "", "-F 2"),
    ("tcp_stream", "-M", "-M"), ("tcp_stream", "-r -w", "-r -w"),
    ("tcp_stream", "--split-bidir", "--split-bidir -F 2"), ("udp_rr", "", "-F 5"), ("udp_stream", "", "-F 2"),
])
def test_real(workload, server, client):
    """A real neper at either end: both are content, and each knows the other's rate."""
    for ours_serves in (True, False):
        control, port = free_ports()
        ports = ["-C", str(control), "-P", str(port)]
        other = [real(workload), "--nolog", *ports]
        ours = [harness.binary(), "neper", workload, *ports]
        s = subprocess.Popen([*(ours if ours_serves else other), "-l", "5", *server.split()], stdout=subprocess.PIPE, text=True)
        c = subprocess.Popen([*(other if ours_serves else ours), "-c", "-H", "127.0.0.1", "-l", "1", *client.split()],
                             stdout=subprocess.PIPE, text=True)
        out_c, out_s = c.communicate(timeout=60)[0], s.communicate(timeout=60)[0]
        assert (c.returncode, s.returncode) == (0, 0)
        assert values(out_c)["remote_throughput"] == values(out_s)["local_throughput"]
        assert values(out_s)["remote_throughput"] == values(out_c)["local_throughput"]


assert parse(message(DONE, rate=5))["rate"] == 5


@pytest.mark.parametrize("words, env, told", [
    (["--port-spec", "packet:x"], {}, "the port packet:x needs an address of its own: --ip ADDRESS/LENGTH or WIRERATE_IP"),
    ([], {"WIRERATE_PORTS": "packet:y packet:z"}, "the port packet:y needs an address of its own"),
    (["--ip", "10.0.0.1/24"], {}, "--ip 10.0.0.1/24: there is no port that has it; name one with --port-spec or WIRERATE_PORTS"),
    (["--port-spec"], {}, "option --port-spec needs a value: SPEC"),
    (["--stack", "port"], {}, "--stack port: there is no port; it runs on one that --port-spec names"),
    (["-F", "0"], {"WIRERATE_PORTS": "packet:y", "WIRERATE_IP": "10.0.0.1/24"}, "--num-flows: '0'; allowed"),
])
def test_words_of_a_link(words, env, told, tmp_path):
    """What is wrong is told before a port is opened, with neper's exit code."""
    link = tmp_path / "tcp_rr"
    link.symlink_to(harness.binary())
    r = subprocess.run([link, *words], env={**os.environ, **env}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
    assert r.returncode == 1 and r.stderr.startswith(f"tcp_rr: {told}"), r


def test_sockets_of_a_link(tmp_path):
    """The kernel's sockets stay where they are asked for, and help needs no port."""
    link = tmp_path / "tcp_rr"
    link.symlink_to(harness.binary())
    env = {**os.environ, "WIRERATE_PORTS": "packet:none"}
    for words, text in (["-h"], "--port-spec SPEC"), (["--stack", "kernel", "-n"], "num_flows=1"):
        r = subprocess.run([link, *words], env=env, stdout=subprocess.PIPE, text=True, timeout=60)
        assert r.returncode == 0 and text in r.stdout
