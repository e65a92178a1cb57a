# SPDX-License-Identifier: BSD-3-Clause
"""The seven files with which a layer-4 load balancer was measured by dperf, as they stand but for their times: each is taken, what it comes to can be
loaded, and it runs against a server, or a client, over the wire."""
import json
import os
import re

import pytest
from scapy.utils import RawPcapNgReader

PORT = "port 0000:aa:00.{} 10.10.10.{} 10.10.10.1\nclient 10.10.10.10 1\nserver 10.10.10.11 1\n"
CLIENT = "mode client\ncpu 0-15\nduration 600s\nslow_start 0\nrss l3l4\n" + PORT.format(0, 10) + "lport_range 1000 65535\nkni\n"
SERVER = "mode server\ncpu 0-15\nduration 100m\nrss l3l4\n" + PORT.format(1, 11) + "kni\n"
FLOOD = "cps 50k\ncc 500k\nflood\nprotocol udp\nkeepalive 100ms\nlisten 8050 50\n"
ANSWERS = "protocol udp\nkeepalive 100ms\npayload_size 64\nlisten 8050 50\n"
# what the file of the client has beside these, and that of its server
FILES = {
    "one way": (FLOOD + "packet_size 64\n", "protocol udp\nlisten 8050 50\n"),
    "two ways": (FLOOD + "packet_size 64\n", ANSWERS),
    "bits": (FLOOD + "packet_size 500\n", "protocol udp\nlisten 8050 50\n"),
    "connections a second": ("cps 100k\nprotocol tcp\nlisten 8000 99\n", "protocol tcp\nlisten 8000 99\n"),
    "connections": ("cps 500k\ncc 5m\nflood\nprotocol udp\npacket_size 64\nkeepalive 1s\nlisten 8000 99\n", "protocol udp\nlisten 8000 99\n"),
    "elephant": ("cps 1\ncc 1\nflood\nprotocol udp\npacket_size 1500\nkeepalive 10us\nlisten 8050 1\n", "protocol udp\nlisten 8050 1\n"),
}


def written(folder, figure, times=""):
    """The words that name both files."""
    names = []
    for name, text in zip(("c.conf", "s.conf"), (CLIENT + FILES[figure][0], SERVER + FILES[figure][1])):
        (folder / name).write_text(text.replace("duration 600s\n", times or "duration 600s\n"))
        names += ["--dperf", str(folder / name)]
    return names


def sound(done, tcp=False):
    """Frames went from the client to the server."""
    assert done.returncode == 0, (done.stdout, done.stderr)
    block = {b["role"]: b["total"] for b in json.loads(done.stdout.splitlines()[-1])["dperf"]}
    sent = block["client"]["synTx" if tcp else "udpTx"]
    assert 0 < sent <= block["client"]["pktTx"] and 0 < block["server"]["pktRx"] <= block["client"]["pktTx"], block


@pytest.mark.parametrize("figure", FILES)
def test_published(run, tmp_path, figure):
    """What they come to runs, without the waits and the minutes of a measurement."""
    dump = run([*written(tmp_path, figure), "--dperf-dump"])
    assert dump.returncode == 0 and dump.stdout.count("\n# kni: ") == 2, (dump.stdout, dump.stderr)
    text, n = re.subn("sleep 3s\nstart 0 for 600s\n", "start 0 for 100ms\n", dump.stdout)
    assert n == 1, dump.stdout
    (tmp_path / "both.cmd").write_text(text)
    done = run(["-p", "wire", "-b", "--json", "-e", f"capture 1 {tmp_path}/seen.pcapng rx", "-f", str(tmp_path / "both.cmd")])
    sound(done, "tcp" in FILES[figure][0])
    flows = {frame[26:38] for frame, _ in RawPcapNgReader(str(tmp_path / "seen.pcapng")) if frame[23:24] == b"\x11"}
    assert len(flows) == 1 or figure != "elephant", flows


def test_published_as_they_are(run, tmp_path):
    """The pair of a client and a server with CPUs that are not there: it runs, and says what becomes of them."""
    done = run(["-p", "wire", "-b", "--json", *written(tmp_path, "two ways", "duration 1s\nwait 1\n")])
    sound(done)
    assert "the program chooses the workers" not in done.stderr, done.stderr
    lacks = ": cpu: the file names 0-15, and the " in done.stderr
    assert lacks == (len(os.sched_getaffinity(0)) < 17), done.stderr
