# SPDX-License-Identifier: BSD-3-Clause
"""Files of dperf as a user runs them: the pair of a client and a server over the wire, what each message says, and what is printed."""
import json
import pathlib
import re
import subprocess

import pytest

import harness

TOP = pathlib.Path(__file__).resolve().parents[2]
CLIENT = """mode client
cpu 1
wait 1
slow_start 0
duration 2s
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
    """Runs a client and a server over the wire. Returns the two documents of `show flows`."""
    def both(client, server, order=1):
        (tmp_path / "c.conf").write_text(CLIENT + client)
        (tmp_path / "s.conf").write_text(SERVER + server)
        files = [arg for name in ("c.conf", "s.conf")[::order] for arg in ("--dperf", str(tmp_path / name))]
        done = run(["-p", "wire", "-b", "--json", *files, "-e", "set all catchup keep"])
        assert done.returncode == 0, (done.stdout, done.stderr)
        flows = json.loads(done.stdout.splitlines()[-1])["flows"]
        return sorted(flows, key=lambda flow: flow["role"])
    return both


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
    """HTTP, a connection for each request: at most 400 of them (a slow machine opens fewer), of 85 bytes and 14 behind a head. The server closes."""
    client, server = pair("cps 200\n", "", order=order)
    done = sound(client, server)
    assert done == client["connections"]["opened"] == client["connections"]["closed"] == client["http"]["2xx"] <= 400
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
    assert opened < sound(client, server) <= 3 * opened <= 300
    assert client["connections"]["reset_by_us"] == server["connections"]["reset_by_peer"] == client["connections"]["opened"]


def test_udp_vlan(pair):
    client, server = pair("cps 200\nprotocol udp\npayload_size 64\nvlan 7\ntos 0x10\n", "protocol udp\npayload_size 64\nvlan 7\n")
    done = sound(client, server)
    assert done == client["connections"]["opened"] <= 400 and client["payload"]["tx_bytes"] == done * 64


def test_vxlan(pair):
    tunnel = "vxlan 7 02:00:00:00:00:0{} 02:00:00:00:00:0{} 10.50.{}.5 1 10.50.{}.5 1\n"
    client, server = pair("cps 200\n" + tunnel.format(1, 2, 0, 1), tunnel.format(2, 1, 1, 0))
    assert sound(client, server) == client["connections"]["opened"] <= 400


def test_flood(run, tmp_path):
    """30 connections that send each 10 ms are 3000 frames a second, to destinations of their own."""
    (tmp_path / "c.conf").write_text(CLIENT + "flood\nprotocol udp\ncc 30\nkeepalive 10ms\npayload_size 64\nchange_dip 10.50.1.1 1 1\n")
    done = run(["-p", "wire", "-b", "--json", "--dperf", str(tmp_path / "c.conf"), "-e", "set all catchup keep; set 1 ip 10.50.1.1/23; sleep 1500ms"])
    assert done.returncode == 0, done.stderr
    ports = json.loads(done.stdout.splitlines()[-1])["ports"]
    assert ports[0]["run"]["sent"] in range(1, 6001)
    assert ports[1]["rx"]["packets"] >= ports[0]["run"]["sent"]


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
    assert json.loads(done.stdout.splitlines()[-1])["flows"][0]["transactions"]["done"] in range(1, 201)
    (tmp_path / "load.cmd").write_text(dump.stdout[:dump.stdout.index("# the run")])
    done = run(["-p", "wire", "-b", "-e", f"load {tmp_path / 'load.cmd'}; save {tmp_path / 'saved.cmd'}"])
    assert done.returncode == 0, done.stderr
    saved = (tmp_path / "saved.cmd").read_text()
    assert "set 0/0 cps 100\n" in saved and "set 1/0 flow server\n" in saved


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
    refused(run, tmp_path, f"{path}:10:1: pipeline without flood", text=CLIENT + "pipeline 2\nprotocol udp\nkeepalive 0us\ncps 1\n")
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
