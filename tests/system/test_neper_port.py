# SPDX-License-Identifier: BSD-3-Clause
"""neper's workloads on a port's own TCP and UDP, at the same workloads on the kernel's sockets at the other end of a link; against a real neper where
NEPER names the folder of its programs. And peers that go away."""
import os
import signal
import subprocess
import sys

import harness
import neper_peer
import pytest
from test_host_linux import Link, until

RETRIES = ["--connect-retries", "20"]
REAL = os.environ.get("NEPER")


@pytest.fixture
def link(namespaces):
    made = Link("packet")
    yield made
    made.net.remove()


@pytest.fixture
def run(link):
    """Starts a program in the namespace; what still runs at the end is ended."""
    started = []

    def start(*args):
        p = subprocess.Popen([*link.prefix, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started.append(p)
        return p

    yield start
    for p in started:
        p.kill()
        p.communicate()


def sockets(run, workload, *words):
    """A real client tries again by itself."""
    if neper_peer.real(workload) is None:
        return run(harness.binary(), "neper", workload, *(RETRIES if "-c" in words else []), *words)
    return run(neper_peer.real(workload), "--nolog", *words)


def own(link, run, *words, spec=None, ip="10.0.0.1/24,fd00::1/64"):
    return run(harness.binary(), "-b", "-p", spec or link.spec, "--ip", ip, "neper", *words)


def here(link, ip="10.0.0.1"):
    """The port answers as soon as its program runs; a client that came before would wait for a second."""
    until(lambda: link.tool("ping", "-c", "1", "-W", "1", ip).returncode == 0, "the port")


def there(link):
    """A server on sockets listens; a client that came before would wait for a second."""
    until(lambda: link.tool("ss", "-Hltn", "sport = :12866").stdout, "the server")


def pairs(out):
    return dict(line.split("=", 1) for line in out.splitlines() if "=" in line)


def values(proc):
    out, err = proc.communicate(timeout=60)
    assert proc.returncode == 0, (out, err)
    return pairs(out)


def agree(mine, other):
    assert mine["local_throughput"] == other["remote_throughput"] and other["local_throughput"] == mine["remote_throughput"]


def told(proc):
    """The one line of a run whose peer failed. A machine that stands still has one of its own at the end."""
    out, err = proc.communicate(timeout=60)
    lines = [line for line in err.splitlines() if "a worker does not answer" not in line]
    assert proc.returncode == 5 and len(lines) == 1, (proc.returncode, out, err)
    return lines[0]


@pytest.mark.parametrize("workload, flows", [("tcp_rr", 1), ("tcp_rr", 200), ("tcp_crr", 4), ("udp_rr", 4)])
def test_client(link, run, workload, flows):
    """A client that counts does exactly so many transactions, and says what carried them."""
    server = sockets(run, workload)
    mine = values(own(link, run, workload, "-c", *RETRIES, "-H", "10.0.0.2", "-l", "-400", "-F", str(flows), "-p", "50,100"))
    agree(mine, values(server))
    assert mine["num_transactions"] == "400" == mine["total_transactions"]
    assert 0 < float(mine["latency_min"]) <= float(mine["latency_mean"]) <= float(mine["latency_max"])
    assert 0 < float(mine["latency_p50"]) <= float(mine["latency_p100"])
    assert mine["stack"] == "port" and mine["device"] == link.spec
    if workload != "udp_rr":
        assert mine["congestion"] == "cubic" and mine["rto_floor"] == "0.200000"


@pytest.mark.parametrize("workload, options", [("tcp_stream", ["-M"]), ("tcp_stream", ["-r", "-w"]), ("tcp_stream", ["--split-bidir"]),
                                               ("udp_stream", []), ("tcp_crr", [])])
def test_client_of_a_second(link, run, workload, options):
    if options == ["--split-bidir"]:  # a real server sends one buffer, before the client's time begins
        server = run(harness.binary(), "neper", workload, *options)
    else:
        server = sockets(run, workload, *options)
    mine = values(own(link, run, workload, "-c", *RETRIES, "-H", "fd00::2", "-l", "1", "-F", "2", *options))
    other = values(server)
    agree(mine, other)
    assert int(mine["local_throughput"]) + int(other["local_throughput"]) > 0
    if options in (["-r", "-w"], ["--split-bidir"]):
        assert int(mine["local_throughput"]) > 0 and int(other["local_throughput"]) > 0


@pytest.mark.parametrize("workload, words", [
    ("tcp_rr", "-l -400 -F 4 -T 2"), ("tcp_crr", "-l -400 -F 4"), ("tcp_stream", "-l 1 -F 2"), ("udp_rr", "-l -400 -F 4"),
    ("udp_stream", "-l 1"), ("tcp_stream", "-l 1 --split-bidir"),
])
def test_server(link, run, workload, words):
    """The port serves many threads of a client; its samples are taken while the client runs."""
    split = ["--split-bidir"] if "--split-bidir" in words else []
    server = own(link, run, workload, *split)
    here(link)
    other = values(sockets(run, workload, "-c", "-H", "10.0.0.1", *words.split()))
    mine = values(server)
    agree(mine, other)
    assert not split or float(other["throughput"]) > 0
    assert mine["stack"] == "port" and mine["invalid_secret_count"] == "0"
    if workload.endswith("_stream"):
        assert float(mine["throughput"]) > 0
    elif workload != "tcp_crr" and not REAL:
        assert mine["num_transactions"] == "400" == other["num_transactions"]


def test_samples_of_a_server(link, run):
    server = own(link, run, "tcp_rr", "-l", "1", "-I", "0.1")
    here(link)
    values(sockets(run, "tcp_rr", "-c", "-H", "10.0.0.1", "-l", "2"))
    assert int(values(server)["num_samples"]) >= 3


def test_both_ends(link, run):
    """Our own TCP at both ends of a link."""
    link.do("ip", "addr", "flush", "dev", link.dev)
    server = own(link, run, "tcp_rr", spec=f"packet:{link.dev}", ip="10.0.0.3/24")

    def client():
        """The other port may take a while to be there."""
        p = own(link, run, "tcp_rr", "-c", *RETRIES, "-H", "10.0.0.3", "-l", "-400", "-F", "4")
        out, err = p.communicate(timeout=60)
        assert p.returncode == 0 or "10.0.0.3, the next hop of its connections, did not answer" in err, (out, err)
        return out if p.returncode == 0 else None

    mine, other = pairs(until(client, "the other port")), values(server)
    agree(mine, other)
    assert mine["num_transactions"] == "400" == other["num_transactions"] and other["stack"] == mine["stack"] == "port"


def test_wrong_workload(link, run):
    """A server keeps serving behind a client of another workload; a client is told in one line."""
    server = own(link, run, "tcp_rr")
    here(link)
    wrong = run(harness.binary(), "neper", "udp_rr", "-c", *RETRIES, "-H", "10.0.0.1", "-l", "1")
    assert "the control connection" in told(wrong)
    agree(values(sockets(run, "tcp_rr", "-c", "-H", "10.0.0.1", "-l", "-50")), mine := values(server))
    assert mine["invalid_secret_count"] == "1"


def test_peers_that_are_not_there(link, run):
    to = ["tcp_rr", "-c", "--connect-retries", "0", "-H"]
    assert "10.0.0.2:12866: Connection refused; no server runs there" in told(own(link, run, *to, "10.0.0.2"))
    assert "10.0.0.99, the next hop of its connections, did not answer" in told(own(link, run, *to, "10.0.0.99"))
    away = told(own(link, run, *to, "10.9.0.9"))
    assert "port 0 has no way to 10.9.0.9" in away and "--ip ADDRESS/LENGTH,GATEWAY" in away and "stream" not in away and "eth.dst" not in away
    assert "10.0.0.2 is no address of port 0" in told(own(link, run, "tcp_rr", "-H", "10.0.0.2"))
    assert "port 0 has no IPv6 address of its own" in told(own(link, run, *to, "fd00::2", ip="10.0.0.1/24"))


def test_server_that_dies(link, run):
    server = run(harness.binary(), "neper", "tcp_rr")
    client = own(link, run, "tcp_rr", "-c", *RETRIES, "-H", "10.0.0.2", "-l", "60")
    until(lambda: ":12867" in link.tool("ss", "-Htn", "state", "established").stdout, "data")
    server.kill()
    told(client)


def test_client_that_dies(link, run):
    """What a server of ours says of it."""
    server = own(link, run, "tcp_rr")
    here(link)
    client = run(harness.binary(), "neper", "tcp_rr", "-c", *RETRIES, "-H", "10.0.0.1", "-l", "60")
    until(lambda: ":12867" in link.tool("ss", "-Htn", "state", "established").stdout, "data")
    client.send_signal(signal.SIGKILL)
    assert "the client" in told(server)


def test_nothing_stays(link, live):
    """Streams and settings are as before, and the port can be used again."""
    p = link.host(live, "set 0 frame eth/ipv4/udp", "set 0 rate 5%")
    before = p.ask("show settings 0")
    for _ in range(2):
        p.send("neper tcp_rr -c -H 10.0.0.2 --connect-retries 0")
        assert p.line(30)
        assert p.ask("show settings 0") == before
    assert p.errors().count("Connection refused") == 2


def test_files(link, run, tmp_path):
    """Samples of all flows together, as those of one; the log has the flows one by one. Threads are what the other end is told."""
    server = sockets(run, "tcp_rr", "-T", "2")
    csv, log = tmp_path / "samples.csv", tmp_path / "rtt.csv"
    mine = values(own(link, run, "tcp_rr", "-c", *RETRIES, "-H", "10.0.0.2", "-l", "-200", "-F", "4", "-T", "3", "-D", "1ms", f"-A{csv}", "-p", "50",
                      f"--log-rtt={log}", "--logrtt-entries-per-flow", "10"))
    agree(mine, values(server))
    assert mine["num_transactions"] == "200" and mine["rtt_transactions_logged"] == "40" and mine["num_threads"] == "3" and mine["workers"] == "1"
    rows = [line.split(",") for line in csv.read_text().splitlines()]
    assert rows[0][:4] == ["tid", "flow_id", "time", "transactions"] and len(rows) - 1 == int(mine["num_samples"])
    assert rows[-1][:2] == ["0", "0"] and rows[-1][3] == "200"
    lines = [line.split(",") for line in log.read_text().splitlines()[1:]]
    assert [[int(line[2]) for line in lines].count(flow) for flow in range(4)] == [10] * 4
    assert all(0 <= float(at) < 60 and 0 < float(rtt) < 60 for at, _, _, rtt in lines)


@pytest.mark.parametrize("workload, words, least", [
    ("tcp_rr", "-F 2 -D 2ms", .098), ("tcp_rr", "-F 5 --noburst 1ms", .099), ("udp_rr", "-F 2 -D 2ms", .098),
    ("tcp_rr", "-F 2 -m 1MB -Q 4000", .19)])
def test_times(link, run, workload, words, least):
    """A hundred transactions cannot be done sooner than they are due."""
    server = sockets(run, workload, *(["-Q", "4000"] if "-Q" in words else []))
    mine = values(own(link, run, workload, "-c", *RETRIES, "-H", "10.0.0.2", "-l", "-100", *words.split()))
    agree(mine, values(server))
    assert mine["num_transactions"] == "100" and float(mine["time_end"]) - float(mine["time_start"]) >= least


@pytest.mark.parametrize("workload", ["tcp_stream", "udp_stream"])
def test_pacing(link, run, workload):
    """Two flows of 1 MB/s each; what a machine that stands still does to a rate is far from what flows without one have."""
    server = sockets(run, workload)
    mine = values(own(link, run, workload, "-c", *RETRIES, "-H", "10.0.0.2", "-l", "1", "-F", "2", "-m", "1MB"))
    other = values(server)
    agree(mine, other)
    assert 0 < int(other["local_throughput"]) < 80000000


def test_local_hosts(link, run):
    ip = "10.0.0.1/24,10.0.0.5/24,10.0.0.6/24"
    to = ["tcp_rr", "-c", *RETRIES, "-H", "10.0.0.2", "-F", "4", "-L"]
    assert "address 2 to connect from is no IPv4 address of port 0" in told(own(link, run, *to, "10.0.0.5,10.0.0.7", ip=ip))
    run(harness.binary(), "neper", "tcp_rr", "-H", "10.0.0.2")
    own(link, run, *to, "10.0.0.6,10.0.0.5", "-l", "60", ip=ip)

    def peers():
        ends = [line.split()[2:4] for line in link.tool("ss", "-Htn", "state", "established").stdout.splitlines()]
        data = sorted(peer.rsplit(":", 1)[0] for mine, peer in ends if mine.endswith(":12867"))
        return data == ["10.0.0.5"] * 2 + ["10.0.0.6"] * 2 and any(mine.endswith(":12866") and peer.startswith("10.0.0.6:") for mine, peer in ends)

    until(peers, "connections from both")


def test_link_of_a_name(link, run, tmp_path, monkeypatch):
    """Under the name of a workload -p is percentiles, and ports come by the environment or an option; exit codes are neper's."""
    name = tmp_path / "tcp_rr"
    name.symlink_to(harness.binary())
    to = [name, "-c", "--connect-retries", "20", "-H", "10.0.0.2", "-l", "-100", "-p", "50"]
    monkeypatch.setenv("WIRERATE_PORTS", f" {link.spec} ")
    for words in (["--ip", "10.0.0.1/24"], [f"--port-spec={link.spec}"]):
        server = sockets(run, "tcp_rr")
        mine = values(run(*to, *words))
        agree(mine, values(server))
        assert mine["stack"] == "port" and float(mine["latency_p50"]) > 0
        monkeypatch.setenv("WIRERATE_PORTS", "no:thing")
        monkeypatch.setenv("WIRERATE_IP", "10.0.0.1/24")
    for words, text in ((["-H", "10.9.9.9", f"--port-spec={link.spec}"], "10.9.9.9, which is in no prefix"), ([], "no:thing")):
        p = run(*to, "--connect-retries", "0", *words)
        out, err = p.communicate(timeout=60)
        assert p.returncode == 1 and text in err, (out, err)


def test_peer_that_serves(link, run):
    """A small server of our own, whose messages come in pieces; one that sends more than it was asked for; one without
    a port of data; one that reads no data. A client's connections are reset in the end, or close."""
    for mode, words, code, text, data in (("1", ["tcp_rr", "-l", "-50"], 0, "num_transactions=50", "data was reset\n"),
                                          ("1", ["tcp_rr", "-l", "-50", "--time-wait"], 0, "num_transactions=50", "data was closed\n"),
                                          ("2", ["tcp_rr", "-l", "-50"], 5, "that nobody had asked for", None),
                                          ("closed", ["tcp_rr", "-l", "-50"], 5, "1 connections of data failed: refused", None),
                                          ("lossy", ["udp_rr", "-l", "-5"], 0, "lost_requests=1\n", None),
                                          ("deaf", ["tcp_stream", "-l", "1"], 0, "remote_throughput=77", None)):
        server = run(sys.executable, neper_peer.__file__, "serve", "10.0.0.2", mode)
        there(link)
        client = own(link, run, words[0], "-c", *RETRIES, "-H", "10.0.0.2", *words[1:])
        out, err = client.communicate(timeout=60)
        assert client.returncode == code and text in out + err, (out, err)
        assert pairs(out).get("num_transactions") == pairs(out).get("total_transactions") or code != 0, out
        said, err = server.communicate(timeout=60)
        assert server.returncode == 0 and (data is None or said == data), (said, err)


def test_peer_that_asks(link, run):
    """A small client of our own, and one that comes when the server has its client already."""
    server = own(link, run, "tcp_rr")
    here(link)
    client = run(sys.executable, neper_peer.__file__, "ask", "10.0.0.1", "50")
    mine = values(server)
    assert client.wait(timeout=60) == 0, client.communicate()
    assert mine["num_transactions"] == "50" and mine["remote_throughput"] == "77"


@pytest.mark.parametrize("what, text", [("vanishes", "before the run was over"), ("half", "after 30 of 72 bytes"),
                                        ("nonsense", "where DONE (3) was due"), ("flood", "behind its DONE")])
def test_peer_that_asks_wrongly(link, run, what, text):
    """What a client that has begun says ends the server, in one line; of a flood it takes no more than it has room for."""
    server = own(link, run, "tcp_rr")
    here(link)
    client = run(sys.executable, neper_peer.__file__, "wrong", "10.0.0.1", what)
    assert text in told(server)
    assert client.wait(timeout=60) == 0, client.communicate()


def test_several_queues(link, run):
    """Each queue's worker has its share of the flows; together they do exactly what was asked for."""
    def queues(*words):
        return run(harness.binary(), *harness.lcores(2), "-b", "-m", "1-2.0", "-p", link.spec, "--ip", "10.0.0.1/24", "neper", *words)

    for workload, words in (("tcp_rr", "-F 5 -p 0,100 -l -300"), ("tcp_crr", "-F 1 -l -100"), ("udp_rr", "-F 4 -l -100")):
        server = sockets(run, workload)
        there(link)
        mine = values(queues(workload, "-c", *RETRIES, "-H", "10.0.0.2", *words.split()))
        agree(mine, values(server))
        assert mine["num_transactions"] == mine["total_transactions"] and mine["workers"] == "2" and float(mine["latency_min"]) > 0
    server = queues("tcp_rr")
    here(link)
    agree(values(sockets(run, "tcp_rr", "-c", "-H", "10.0.0.1", "-l", "-300", "-F", "20")), mine := values(server))
    assert int(mine["num_transactions"]) >= 300 and mine["workers"] == "2"
    assert "flows cannot have just these source ports" in told(queues("tcp_rr", "-c", "-H", "10.0.0.2", "--source-port", "30000"))


def test_interrupted(link, run):
    """What a client has measured until then is told, at both ends."""
    server = sockets(run, "tcp_rr")
    client = own(link, run, "tcp_rr", "-c", *RETRIES, "-H", "10.0.0.2", "-l", "60")
    until(lambda: ":12867" in link.tool("ss", "-Htn", "state", "established").stdout, "data")
    client.send_signal(signal.SIGINT)
    out, err = client.communicate(timeout=60)
    assert client.returncode == -signal.SIGINT, (client.returncode, out, err)
    assert pairs(out)["local_throughput"] == values(server)["remote_throughput"]


def test_port_in_use(link, live):
    """A port that sends has no room for a protocol; what runs there goes on."""
    p = link.host(live, "set 0 frame eth/ipv4/tcp", "set 0 flow server", "set 0 flow.sport 12866", "start 0")
    p.send("neper tcp_rr")
    until(lambda: "port 0 is sending; `stop 0` first" in p.errors(), "the refusal")
