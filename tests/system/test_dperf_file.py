# SPDX-License-Identifier: BSD-3-Clause
"""dperf's payload_file for connections: both ends have it, and frames and refusals are looked at."""
import json
import os
import re
import subprocess

import pytest
from scapy.layers.inet import TCP, UDP
from scapy.packet import Raw
from scapy.utils import rdpcap

import harness
from test_dperf import CLIENT, SERVER
from test_flows import idle

REQUEST = b"GET /of/a/file HTTP/1.1\r\nHost: h\r\n\r\n"
RESPONSE = b"HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 5\r\n\r\na\0b\r\n"


def both(folder, client, server, ask, answer):
    """Runs a client and a server over the wire; names are those in the folder that the program was started in."""
    (folder / "ask it").write_bytes(ask)
    (folder / "answer").write_bytes(answer)
    (folder / "c.conf").write_text(CLIENT + client)
    (folder / "s.conf").write_text(SERVER + server)
    done = subprocess.run([harness.binary(), "-p", "wire", "-b", "--json", "--dperf", "c.conf", "--dperf", "s.conf", "-e",
                           "set all catchup keep; set 0-1 flow.verify on; set 0/0 count 8; capture 0 0.pcapng"],
                          cwd=folder, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    *_, flows, page = map(json.loads, done.stdout.splitlines())
    for flow in flows["flows"]:
        idle(flow)
        assert flow["errors"].get("mismatched", 0) == 0 and flow["transactions"]["done"] == 8
    return flows["flows"], page["dperf"], rdpcap(str(folder / "0.pcapng"))


@pytest.mark.parametrize("client, server, ask, answer, app", [
    ("protocol http\npayload_file ./ask\n", "payload_file answer\n", REQUEST, RESPONSE, "http"),
    ("payload_file ./ask\n", "payload_file answer\n", b"\0no HTTP" * 500, b"at all", "raw"),
    ("protocol udp\npayload_file ./ask\n", "protocol udp\npayload_file answer\n", b"a\0question", b"an\0answer", "raw"),
    ("payload_file ./ask\n", "payload_size 7\n", REQUEST, None, "raw"),
    ("protocol udp\npayload_file ./ask\n", "protocol udp\npayload_size 3\n", b"question", None, "raw"),
    ("protocol udp\npayload_size 7\ncps 100\n", "protocol udp\npayload_file answer\n", None, b"answer", "raw"),
    ("payload_file ./ask\n", "payload_size 200\n", REQUEST, None, "http"),
    ("cps 100\n", "payload_file answer\n", None, RESPONSE, "http"),
], ids=["http", "bytes", "udp", "client_raw", "udp_client", "udp_server", "client_http", "server_http"])
def test_both(tmp_path, client, server, ask, answer, app):
    (tmp_path / "ask").symlink_to("ask it")
    client += "" if "cps" in client else "cps 100\n"
    flows, blocks, frames = both(tmp_path, client, server, ask or b"-", answer or b"-")
    assert [b["app"] for b in blocks] == ["http" if app == "http" else "raw"] * 2 or "udp" in client
    sent = {f["role"]: f["payload"]["tx_bytes"] for f in flows}
    assert sent["client"] == 8 * len(ask) if ask else True
    assert sent["server"] == 8 * len(answer) if answer else True
    for role, text, size in (("client", client, 7), ("server", server, 3)):
        assert "udp" not in text or "size" not in text or sent[role] == 8 * size
    layer = UDP if "udp" in client else TCP
    data = [f for f in frames if layer in f and Raw in f]
    if ask and len(ask) < 1400:
        assert {f[Raw].load for f in data if f[layer].dport in (80, 81)} == {ask}
    if answer:
        assert {f[Raw].load for f in data if f[layer].sport in (80, 81)} == {answer}


WRONG = {
    "none": ("payload_file none\n", "cannot read 'none': No such file"),
    "folder": ("payload_file .\n", "cannot read '.': it is a folder, not a regular file"),
    "pipe": ("payload_file pipe\n", "cannot read 'pipe': it is a pipe, not a regular file"),
    "device": ("payload_file /dev/zero\n", "cannot read '/dev/zero': it is a device"),
    "empty": ("payload_file empty\n", "'empty' is empty; it must have 1 byte at least"),
    "large": ("payload_file large\n", "cannot read 'large': it has more than 16 MiB"),
    "short": ("payload_file short\n", "'short': it ends in the middle of its body: Content-Length says 9 bytes of body, and 3 are there"),
    "udp": ("payload_file long\nprotocol udp\n", "'long' has 1473 bytes, and one datagram up to 1472, or more with jumbo"),
    "closes": ("payload_file closes\nkeepalive 1s\n", "the request in 'closes' ends its connection"),
    "http": ("payload_file long\nprotocol http\n", "'long' does not begin with a method of HTTP"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong(tmp_path, what):
    """It is told by its place in the file, before anything starts, and nothing waits for a pipe."""
    lines, why = WRONG[what]
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").write_bytes(b"")
    with open(tmp_path / "large", "wb") as f:
        f.truncate((16 << 20) + 1)
    (tmp_path / "short").write_bytes(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc")
    (tmp_path / "closes").write_bytes(b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    (tmp_path / "long").write_bytes(b"x" * 1473)
    (tmp_path / "c.conf").write_text(CLIENT + "cps 1\n" + lines)
    at = (CLIENT + "cps 1\n").count("\n") + 1
    for how in (["--dperf-dump"], ["-b", "-p", "wire"]):
        done = subprocess.run([harness.binary(), *how, "--dperf", "c.conf"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 2 and done.stdout == "", done
        assert re.search(rf"^c\.conf:{at}:14: payload_file: {re.escape(why)}", done.stderr, re.M), done.stderr


def test_the_dump_runs_by_itself(tmp_path):
    """Names with blanks, quotes and what else commands have a meaning for are words of it."""
    name = "a'b;\"c#d"
    (tmp_path / name).write_bytes(b"bytes of it")
    (tmp_path / "c.conf").write_text(CLIENT + f"cps 100\npayload_file {name}\n")
    (tmp_path / "s.conf").write_text(SERVER)
    files = ["--dperf", "c.conf", "--dperf", "s.conf"]
    dump = subprocess.run([harness.binary(), *files, "--dperf-dump"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    (tmp_path / "dump").write_text(dump.replace("start 0 for", "set 0/0 count 5; start 0 for"))
    done = subprocess.run([harness.binary(), "-p", "wire", "-b", "--json", "-f", "dump"], cwd=tmp_path, capture_output=True, text=True, timeout=100,
                          check=False)
    assert done.returncode == 0, done.stderr
    flows = next(d for d in map(json.loads, done.stdout.splitlines()) if d.get("show") == "flows")["flows"]
    assert flows[0]["payload"]["tx_bytes"] == 5 * len("bytes of it") and flows[1]["transactions"]["done"] == 5
