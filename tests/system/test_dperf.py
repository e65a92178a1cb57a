# SPDX-License-Identifier: BSD-3-Clause
"""Files of dperf as a user runs them: the pair of a client and a server over the wire, what each message says, and what is printed."""
import json
import pathlib
import re
import signal
import subprocess

import pytest

import harness
from screen_term import RUNNING, Screen

STOOD_STILL_NS = 200_000_000
TOP = pathlib.Path(__file__).resolve().parents[2]
CLIENT = """mode client
cpu 1
wait 1
slow_start 0
duration 1s
port 0000:00:10.0 10.50.0.1 10.50.1.1
client 10.50.0.11 20
server 10.50.1.11 2
listen 80 2
"""
SERVER = """# the other end
mode server
cpu 1
port 0000:00:10.1 10.50.1.1 10.50.0.1
client 10.50.0.11 20
server 10.50.1.11 2
listen 80 2
"""


@pytest.fixture
def pair(run, tmp_path):
    """Runs a client and a server over the wire. Returns the two documents of `show flows`. A run in which the machine stood still for long says
    nothing of connections that live for a second; it is made again."""
    def both(client, server, order=1):
        (tmp_path / "c.conf").write_text(CLIENT + client)
        (tmp_path / "s.conf").write_text(SERVER + server)
        files = [arg for name in ("c.conf", "s.conf")[::order] for arg in ("--dperf", str(tmp_path / name))]
        for _ in range(20):
            done = run(["-p", "wire", "-b", "--json", *files, "-e", "set all catchup keep"])
            assert done.returncode == 0, (done.stdout, done.stderr)
            *_, flows, page = map(json.loads, done.stdout.splitlines())
            due = next(f["latency"]["since_due"] for f in flows["flows"] if f["role"] == "client")
            if due["count"] and due["max_ns"] < STOOD_STILL_NS:
                break
        block = {b["role"]: b for b in page["dperf"]}
        for role in ("client", "server"):
            same(next(f for f in flows["flows"] if f["role"] == role), block[role], flows)
        return sorted(flows["flows"], key=lambda flow: flow["role"])
    return both


def same(flow, block, flows):
    """The numbers by dperf's names are those of the flow by ours, and they add up. Nothing of a run without faults is an error; a machine that stands
    still may make an end send again, and then the other one drops it, or has no connection any more that it is of."""
    n, c = block["total"], flow["connections"]
    again = sum(f["segments"]["retransmitted"] for f in flows["flows"] if f["role"] != flow["role"])
    assert n["skOpen"] == c["opened"] == n["skClose"] + n["skCon"] and n["skCon"] == c["open"] + c["opening"] == 0
    assert n["skErr"] == n["dropTx"] == n["badRx"] == 0 and n["errors"] == {} and block["cpuUsage"] and max(block["cpuUsage"]) <= 100
    assert n["pktTx"] == n["tcpTx"] + n["udpTx"] + n["arpTx"] + n["icmpTx"], n
    assert n["pktRx"] == n["tcpRx"] + n["udpRx"] + n["arpRx"] + n["icmpRx"] + n["otherRx"], n
    tcp = block["protocol"] == "tcp"
    assert n["tcpTx" if tcp else "udpTx"] == flow["segments"]["tx"] and 0 <= n["tcpRx" if tcp else "udpRx"] - flow["segments"]["rx"] <= again
    if tcp:
        assert n["synTx"] - n["synRt"] == n["synRx"] == c["established"] and n["finTx"] - n["finRt"] == n["finRx"] == c["closed"]
    if block["app"] == "http":
        assert n["httpGet"] + (n["httpPost"] or 0) == flow["transactions"]["started"] == n["http2XX"] and n["httpErr"] == 0
    else:
        assert n["tcpReq"] == n["tcpRsp"] == flow["transactions"]["done"]
    assert (n["rtt_us"] is not None) == block["single"]
    assert n["tosRx"] == 0 and n["ackRt"] == (0 if tcp else None)


def sound(client, server):
    """All that was opened has ended well, and both ends say the same of it."""
    ours, theirs = client["connections"], server["connections"]
    assert ours["opened"] == theirs["opened"] > 0 and ours["established"] == ours["opened"]
    assert client["transactions"]["done"] == server["transactions"]["done"] == client["transactions"]["started"]
    assert client["payload"]["tx_bytes"] == server["payload"]["rx_bytes"]
    assert client["payload"]["rx_bytes"] == server["payload"]["tx_bytes"]
    return client["transactions"]["done"]


@pytest.mark.parametrize("order", [1, -1])
def test_cps(pair, order):
    """HTTP, a connection for each request: at most 200 of them (a slow machine opens fewer), of 85 bytes and 14 behind a head. The server closes."""
    client, server = pair("cps 200\n", "", order=order)
    done = sound(client, server)
    assert done == client["connections"]["opened"] == client["connections"]["closed"] == client["http"]["2xx"] <= 200
    assert client["payload"]["tx_bytes"] == done * 85


def test_sizes(pair):
    """payload_size is what is on the wire, heads included."""
    client, server = pair("cps 50\npayload_size 1400\n", "payload_size 100k\n")
    done = sound(client, server)
    assert client["payload"]["tx_bytes"] == done * 1400 and client["payload"]["rx_bytes"] == done * 100000


def test_keepalive(pair):
    """`cc` connections stay open and send again and again, raw bytes of sizes that the two files say."""
    client, server = pair("cps 1k\ncc 40\nkeepalive 10ms\npayload_size 1\n", "keepalive 1s\npayload_size 200\n")
    done = sound(client, server)
    assert client["connections"]["opened"] == client["connections"]["closed"] <= 40 and done > 0
    assert client["payload"]["tx_bytes"] == done and client["payload"]["rx_bytes"] == done * 200


def test_requests(pair):
    """At most so many requests on a connection (the end of the run begins no more of them), which the client resets."""
    client, server = pair("cps 50\nkeepalive 1ms 3\nfast_close\n", "keepalive 1s\n")
    opened = client["connections"]["opened"]
    assert opened < sound(client, server) <= 3 * opened <= 150
    assert client["connections"]["reset_by_us"] == server["connections"]["reset_by_peer"] == client["connections"]["opened"]


def test_udp_vlan(pair):
    client, server = pair("cps 200\nprotocol udp\npayload_size 64\nvlan 7\ntos 0x10\n", "protocol udp\npayload_size 64\nvlan 7\n")
    done = sound(client, server)
    assert done == client["connections"]["opened"] <= 200 and client["payload"]["tx_bytes"] == done * 64


def test_pipeline(pair):
    """So many requests are open on each connection: each that is answered makes room for the next, up to the end."""
    client, server = pair("cps 100\ncc 3\nprotocol udp\nkeepalive 0us\npipeline 20\npayload_size 64\n", "protocol udp\npayload_size 64\n")
    done = sound(client, server)
    assert client["connections"]["opened"] == 3 and client["segments"]["rx"] == done > 3 * 20


def test_ipv6(run, tmp_path):
    """Its names of neighbour discovery are those of ARP."""
    text = "cpu 1\nport 0000:00:10.{} fd00::{} fd00::{}\nclient fd00::10 4\nserver fd00::2 1\nduration 1s\n"
    (tmp_path / "c.conf").write_text(text.format(0, 1, 2) + "cps 100\nwait 1\nslow_start 0\npayload_size 1\n")
    (tmp_path / "s.conf").write_text("mode server\npayload_size 1\n" + text.format(1, 2, 1))
    done = run(["-p", "wire", "-b", "--json", "--dperf", str(tmp_path / "c.conf"), "--dperf", str(tmp_path / "s.conf"), "-e", "set all catchup keep"])
    assert done.returncode == 0, done.stderr
    *_, flows, page = map(json.loads, done.stdout.splitlines())
    for flow, block in zip(flows["flows"], page["dperf"]):
        assert block["total"]["arpRx"] > 0 and block["app"] == "raw"
        same(flow, block, flows)


def test_vxlan(pair):
    tunnel = "vxlan 7 02:00:00:00:00:0{} 02:00:00:00:00:0{} 10.50.{}.5 1 10.50.{}.5 1\n"
    client, server = pair("cps 200\n" + tunnel.format(1, 2, 0, 1), tunnel.format(2, 1, 1, 0))
    assert sound(client, server) == client["connections"]["opened"] <= 200


def test_rss_and_ends_of_a_tunnel(run, tmp_path):
    """Two queues on each port, and a tunnel with two ends on each side: a server answers from the end that was asked."""
    def text(name, role, here, there, **more):
        tunnel = f"vxlan 7 02:00:00:00:00:0{here} 02:00:00:00:00:0{there} 10.50.{here}.5 2 10.50.{there}.5 2\n"
        (tmp_path / name).write_text(f"mode {role}\ncpu 1 2\nduration 1s\nport 0000:00:10.{here} 10.50.{here}.1 10.50.{here}.254 02:00:00:00:00:09\n"
                                     f"{tunnel}client 10.1.0.1 20\nserver 10.2.0.1 2\n" + "".join(f"{k} {v}\n" for k, v in more.items()))
    text("c.conf", "client", 1, 2, cps=100, wait=1, slow_start=0)
    text("s.conf", "server", 2, 1)
    files = [arg for name in ("c.conf", "s.conf") for arg in ("--dperf", str(tmp_path / name))]
    done = run([*harness.lcores(4), "-p", "wire", "-m", "[1/2].0,[3/4].1", "-b", "--json", *files, "-e", "set all catchup keep"])
    assert done.returncode == 0, done.stderr
    *_, flows, page = map(json.loads, done.stdout.splitlines())
    assert sound(*flows["flows"]) <= 100 and [len(b["cpuUsage"]) for b in page["dperf"]] == [2, 2]
    for flow, block in zip(flows["flows"], page["dperf"]):
        same(flow, block, flows)


def test_flood(run, tmp_path):
    """30 connections that send each 10 ms are 3000 frames a second, to destinations of their own."""
    (tmp_path / "c.conf").write_text(CLIENT + "flood\nprotocol udp\ncc 30\nkeepalive 10ms\npayload_size 64\nchange_dip 10.50.1.1 1 1\n")
    done = run(["-p", "wire", "-b", "--json", "--dperf", str(tmp_path / "c.conf"), "-e", "set all catchup keep; set 1 ip 10.50.1.1/23; sleep 1500ms"])
    assert done.returncode == 0, done.stderr
    page = json.loads(done.stdout.splitlines()[-1])
    ports, block = page["ports"], page["dperf"][0]
    assert ports[0]["run"]["sent"] in range(1, 3001)
    assert block["total"]["udpTx"] == ports[0]["run"]["sent"] and block["total"]["udpRx"] == block["total"]["skClose"] == 0
    assert block["total"]["skOpen"] == block["total"]["skCon"] == min(30, ports[0]["run"]["sent"])
    assert ports[1]["rx"]["packets"] >= ports[0]["run"]["sent"]


@pytest.mark.parametrize("server, more, queues, why", [
    ("cpu 1 3", [], [[1, 2], [1, 3]], None),
    ("cpu 1 3", ["-m", "3.0,1.1"], [[3], [1]], None),
    ("cpu 3", [], [[1], [2]], "ports 0 and 1 are the ends of one wire, and have 2 and 1 queues in it"),
    ("cpu 3 9", [], [[1], [2]], "there is no lcore 9; workers: 1-3"),
    ("cpu 3 4", ["-p", "wire"], [[1], [2], [3], [1]], "it does not name port 2"),
])
def test_map_for_given_ports(run, tmp_path, server, more, queues, why):
    """The CPUs of the files are those of the ports that -p names, where that can be; -m always holds."""
    (tmp_path / "c.conf").write_text(CLIENT.replace("cpu 1", "cpu 1 2\nrss") + "cps 100\n")
    (tmp_path / "s.conf").write_text(SERVER.replace("cpu 1", server + "\nrss"))
    done = run([*harness.lcores(3), "-p", "wire", *more, "-b", "--json", "--dperf", str(tmp_path / "c.conf"), "--dperf", str(tmp_path / "s.conf"),
                "-e", "show map", "-e", "quit"])
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout.splitlines()[0])
    placed = [[q["lcore"] for q in shown["queues"] if q["port"] == p["port"] and q["side"] == "rx"] for p in shown["ports"]]
    assert placed == queues, placed
    assert ("cannot be used" in done.stderr) == (why is not None) and (why or "") in done.stderr, done.stderr


def test_dump_runs(run, tmp_path):
    """What is printed is a file that does the same, and its first part can be loaded."""
    (tmp_path / "c.conf").write_text(CLIENT + "cps 100\n")
    (tmp_path / "s.conf").write_text(SERVER)
    dump = run(["--dperf", str(tmp_path / "c.conf"), "--dperf", str(tmp_path / "s.conf"), "--dperf-dump"])
    assert dump.returncode == 0 and dump.stderr == ""
    assert "\n# wirerate -p pci:0000:00:10.0 -p pci:0000:00:10.1 -b -f FILE\n" in dump.stdout
    (tmp_path / "both.cmd").write_text(dump.stdout)
    done = run(["-p", "wire", "-b", "--json", "-e", "set all catchup keep", "-f", str(tmp_path / "both.cmd")])
    assert done.returncode == 0, done.stderr
    *_, flows, page = map(json.loads, done.stdout.splitlines())
    assert flows["flows"][0]["transactions"]["done"] == page["dperf"][0]["total"]["httpGet"] in range(1, 101)
    (tmp_path / "load.cmd").write_text(dump.stdout[:dump.stdout.index("# the run")])
    done = run(["-p", "wire", "-b", "-e", f"load {tmp_path / 'load.cmd'}; save {tmp_path / 'saved.cmd'}"])
    assert done.returncode == 0, done.stderr
    saved = (tmp_path / "saved.cmd").read_text()
    assert "set 0/0 cps 100\n" in saved and "set 1/0 flow server\n" in saved


NUMBER = r"(?:[0-9]{1,3}(?:,[0-9]{3})*(?:\.[0-9])?|-)"
LINES = ["pktRx pktTx bitsRx bitsTx dropTx", "tcpRx tcpTx udpRx udpTx", "arpRx arpTx icmpRx icmpTx", "tosRx otherRx badRx",
         "synRx synTx finRx finTx rstRx rstTx", "synRt finRt ackRt pushRt", "tcpDrop udpDrop ackDup", "skOpen skClose skCon skErr",
         "httpGet httpPost http2XX httpErr", "ierrors oerrors imissed"]


def printed(out):
    """[(the line above a block, {name: number})] of what a run has printed."""
    blocks = []
    for line in out.splitlines():
        words = line.split()
        if line.startswith(("seconds ", "Total Numbers:")):
            blocks.append((line, {}))
        elif blocks and words and re.fullmatch(rf"(\S+ +{NUMBER} *)+", line):
            blocks[-1][1].update(zip(words[::2], words[1::2]))
    return blocks


@pytest.mark.parametrize("words", ["", "quiet\nclear_screen\n"])
def test_printed(run, tmp_path, words):
    """A block each second and the totals, name by name in dperf's lines; quiet leaves the totals alone, and nothing clears what is no terminal."""
    (tmp_path / "c.conf").write_text((CLIENT if words else CLIENT.replace("duration 1s", "duration 3s")) + "cps 100\n" + words)
    (tmp_path / "s.conf").write_text(SERVER + words)
    done = run(["-p", "wire", "-b", "--dperf", str(tmp_path / "c.conf"), "--dperf", str(tmp_path / "s.conf"), "-e", "set all catchup keep"])
    assert done.returncode == 0 and done.stdout.isascii() and "\x1b" not in done.stdout, done.stderr
    blocks = printed(done.stdout)
    totals = [b for b in blocks if b[0].startswith("Total")]
    assert [b[0] for b in totals] == ["Total Numbers: client", "Total Numbers: server"] and (len(blocks) == 2) == bool(words)
    for head, numbers in blocks:
        names = [*" ".join(LINES[:8]).split(), *(["rtt(us)"] if "client" in head else []), *" ".join(LINES[8:]).split()]
        assert list(numbers) == names
    assert totals[0][1]["skOpen"] == totals[1][1]["skOpen"] == totals[0][1]["httpGet"] != "0"
    first = next(line for line in done.stdout.splitlines() if line.startswith("pktRx"))
    assert [m.start() for m in re.finditer(r"[a-z]\w+", first)] == [0, 27, 55, 83, 110]
    for role in ("client", "server") if not words else ():
        gets = [int(b[1]["httpGet"]) for b in blocks if b[0].startswith("seconds") and role in b[0]]
        assert len(gets) > 0 and max(gets) > 0  # in a second in which the machine stood still there are none


def test_interrupt(tmp_path):
    """Ctrl-C ends the run in good order: the totals are printed, nothing has failed, and the exit code is 0."""
    (tmp_path / "c.conf").write_text(CLIENT.replace("duration 1s", "duration 1h") + "cps 100\n")
    (tmp_path / "s.conf").write_text(SERVER)
    args = [harness.binary(), "-p", "wire", "-b", "--dperf", str(tmp_path / "c.conf"), "--dperf", str(tmp_path / "s.conf")]
    with subprocess.Popen(args, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as p:
        try:
            line = "-"
            while line and not re.match("skOpen  [1-9]", line):
                line = p.stdout.readline()
            p.send_signal(signal.SIGINT)
            out = p.stdout.read()
            assert p.wait(60) == 0
        finally:
            p.kill()
    (_, client), (_, server) = [b for b in printed(out) if b[0].startswith("Total")]
    assert client["skOpen"] == server["skOpen"] == client["skClose"] and client["skErr"] == "0"


def test_interrupt_on_the_screen(tmp_path):
    """Ctrl-C while the files' run goes on ends it as in batch, and the program stays; from then on it is what it is elsewhere."""
    (tmp_path / "c.conf").write_text(CLIENT.replace("duration 1s", "duration 1h") + "cc 20\nkeepalive 10ms\n")
    (tmp_path / "s.conf").write_text(SERVER + "keepalive 100s\n")
    with Screen(tmp_path, "-p", "wire", "--dperf", str(tmp_path / "c.conf"), "--dperf", str(tmp_path / "s.conf"), cols=140, rows=60) as t:
        t.until(lambda: re.search("skCon +20 ", t.text()), "20 connections")
        t.type("\x03").prompt()
        t.until(lambda: len(re.findall("skOpen +20 +skClose +20 ", t.text())) >= 2, "totals of both")
        t.cmd("start 0").type("sleep 1h\r").until(lambda: t.last() == RUNNING, "sleep")
        t.type("\x03").prompt().shows("cancelled")


def test_page(run):
    """The numbers of connections that no file of dperf has made, as text and as CSV; of the first two seconds nobody knows."""
    flows = "set all catchup keep; set 0 flow client; set 1 flow server; set 0/0 count 20; start all; wait 0; show page dperf"
    done = run(["-p", "wire", "-b", "-e", flows])
    assert done.returncode == 0 and "client, port 0: Total Numbers" in done.stdout and "seconds" not in done.stdout
    done = run(["-p", "wire", "-b", "--csv", "-e", flows])
    assert "dperf[0].total.skOpen,20\n" in done.stdout and "dperf[1].total.skErr,0\n" in done.stdout and "dperf[0].second,\n" in done.stdout


def refused(run, tmp_path, *messages, text=None, args=()):
    if text is not None:
        (tmp_path / "x.conf").write_text(text)
        args = ["--dperf", str(tmp_path / "x.conf")]
    done = run(["-p", "wire", "-b", *args])
    assert done.returncode == 2 and done.stdout == ""
    for message in messages:
        assert message in done.stderr


def test_refused(run, tmp_path):
    """Errors name file, line and column, all of them; nothing has started."""
    path = tmp_path / "x.conf"
    refused(run, tmp_path, f"{path}:1:5: cps: NUMBER is 'fast'", f"{path}:2:1: 'sped' is no directive", text="cps fast\nsped 3\n" + CLIENT)
    refused(run, tmp_path, f"{path}:1:1: there is neither cps nor cc", text=CLIENT)
    refused(run, tmp_path, f"{path}:10:1: pipeline without flood needs 'keepalive 0us', not 1ms",
            text=CLIENT + "pipeline 2\nprotocol udp\nkeepalive 1ms\ncps 1\n")
    refused(run, tmp_path, "missing.conf", args=["--dperf", str(tmp_path / "missing.conf")])
    refused(run, tmp_path, "--dperf-dump needs a file", args=["--dperf-dump"])
    path.write_text(CLIENT + "cps 1\n")
    refused(run, tmp_path, "is of a client, and so is", args=["--dperf", str(path), "--dperf", str(path)])
    many = "".join(f"wrong{i} of a line that is rather long, so that not all of them fit\n" for i in range(40))
    refused(run, tmp_path, f"{path}:1:1: 'wrong0'", "more is wrong behind these", text=many)
    bond = CLIENT.replace("0000:00:10.0", "bond1:0(0000:00:10.0,0000:00:10.1)") + "cps 1\n"
    path.write_text(bond)
    done = run(["-b", "--dperf", str(path)])
    assert done.returncode == 2 and "port 0 is a bond" in done.stderr


def test_manual():
    """The table of the document is the one that the program prints."""
    table = subprocess.run([harness.binary(), "--dperf-manual"], capture_output=True, text=True, check=True).stdout
    assert len(re.findall(r"^\| `", table, re.M)) == 48
    assert table in (TOP / "docs" / "dperf.md").read_text(encoding="utf-8")
