# SPDX-License-Identifier: BSD-3-Clause
"""Numbered frames by a timer on a queue that streams use too: theirs and those of streams, counted together and apart.

They are sent to all, frames of streams to one, so that a receiver tells which are which. They come by the clock, as many as it makes: a stream's
start behind the last `beacon off` says when there are no more.
"""
import json
import os
import subprocess

import pytest
from scapy.all import rdpcap, wrpcap

PROGRAM = os.environ.get("WIRERATE_WORK", "build-test/gcc/tests/work/wirerate_work")
ON, END = "set 1 beacon on", ["set 1 beacon off", "start 0,1", "wait 0,1"]
MAPS = [[], ["-m", "1:1.0*2", "-m", "1:1.1*2"]]


def run(*commands, ports=("wire",), args=(), code=0):
    words = [*args, *[word for port in ports for word in ("-p", port)]]
    done = subprocess.run([PROGRAM, "-b", "--json", *words, "-e", "; ".join(commands)], capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done.stderr
    return done


def stats(*commands, **how):
    lines = run(*commands, "show stats", **how).stdout.splitlines()
    return json.loads(lines[-1])["ports"]


def closes(sender, receiver, streams):
    """What the port sent beside so many frames of streams, which are longer than 64 bytes, are beacons. How many."""
    beacons = sender["tx"]["packets"] - streams
    assert receiver["rx"]["packets"] == sender["tx"]["packets"]
    assert receiver["rx"]["broadcast"] == sender["tx"]["sizes"]["64"] == receiver["rx"]["sizes"]["64"] == beacons
    assert sum(sender["tx"]["sizes"].values()) == sender["tx"]["packets"]
    assert sum(queue["tx"]["packets"] for queue in sender["queues"]) == sender["tx"]["packets"]
    assert sender["tx"]["bytes"] - 64 * beacons >= 65 * streams
    return beacons


@pytest.mark.parametrize("args", MAPS, ids=["1q", "2q"])
def test_beside_streams(args):
    a, b = stats(ON, "set 0,1 size 65..200 step 5", "set 0,1 count 30000", "set 0,1 rate 200kpps", "start 0,1", "wait 0,1", *END, args=args)
    assert a["run"]["sent"] == b["run"]["sent"] == 30000  # of the second run, and of streams alone
    assert closes(b, a, 60000) >= 1
    assert closes(a, b, 60000) == 0
    assert all(queue["tx"]["packets"] == 60000 // len(b["queues"]) for queue in b["queues"][1:])  # they leave by the first


def test_at_full_speed():
    port, = stats("set 0 beacon on", "set 0 size 100", "set 0 count 2000000", "start 0", "wait 0", "set 0 beacon off", "start 0", "wait 0",
                  ports=["null"])
    assert port["run"]["sent"] == 2000000 and port["tx"]["sizes"]["65-127"] == 4000000
    assert port["tx"]["sizes"]["64"] == port["tx"]["packets"] - 4000000 >= 1


def test_without_streams():
    a, b = stats("set 0,1 beacon on", "sleep 100ms", "set 0,1 beacon off", "set 0,1 size 100", "set 0,1 count 10", "start 0,1", "wait 0,1")
    for sender, receiver in ((a, b), (b, a)):
        closes(sender, receiver, 10)


def test_a_clear_is_for_all_who_send_there():
    a, b = stats(ON, "set 0,1 size 100", "set 0,1 count 20000", "set 0,1 rate 200kpps", "start 0,1", "wait 0,1", "clear all", "start 0,1", "wait 0,1",
                 *END)
    assert a["tx"]["packets"] == 40000
    assert b["tx"]["packets"] - 40000 == b["tx"]["sizes"]["64"] >= 1


def test_numbers_and_frames(tmp_path):
    """Each is what it should be, and those that are missing were counted; so is each frame of the stream, whose buffers they take."""
    wrpcap(str(tmp_path / "none.pcap"), [])
    port, = stats("set 0 beacon on", "set 0 size 100", "set 0 count 3000", "set 0 rate 10kpps", "start 0", "wait 0", "set 0 beacon off", "start 0",
                  "wait 0", ports=[f"vdev:net_pcap0,rx_pcap={tmp_path}/none.pcap,tx_pcap={tmp_path}/out.pcap"])
    frames = [bytes(frame) for frame in rdpcap(str(tmp_path / "out.pcap"))]
    beacons = [frame for frame in frames if frame[12:14] == b"\x88\xb5"]
    assert len(frames) == port["tx"]["packets"] and len(beacons) == len(frames) - 6000 >= 1
    assert len({frame for frame in frames if frame[12:14] != b"\x88\xb5"}) == 1
    numbers = [int.from_bytes(frame[14:22], "big") for frame in beacons]
    assert beacons == [b"\xff" * 6 + b"\2\0\0\0\0\0" + b"\x88\xb5" + number.to_bytes(8, "big") + bytes(38) for number in numbers]
    assert numbers == sorted(set(numbers))
    given_up = port["tx"]["dropped"] + port["tx"]["unsent"]
    assert len(numbers) <= numbers[-1] <= len(numbers) + given_up


@pytest.mark.parametrize("turns", [1, 20])
def test_on_and_off_while_streams_send(turns):
    flips = [word for _ in range(turns) for word in ("set 1 beacon on", "sleep 15ms", "set 1 beacon off", "sleep 2ms")]
    a, b = stats("set 0,1 size 80..1000", "set 0,1 rate 100kpps", "set 0,1 count 50000", "start 0,1", *flips, "wait 0,1", *END)
    closes(b, a, 100000)
    closes(a, b, 100000)


def test_the_device_is_set_up_anew():
    """It has other buffers then, and the timer begins anew."""
    sets = [word for txd in (256, 512) for word in (f"set 1 txd {txd}", f"set 1 mbufs {4000 + txd}", "start 0,1", "wait 0,1")]
    a, b = stats(ON, "set 0,1 size 100", "set 0,1 count 10000", "set 0,1 rate 200kpps", "start 0,1", "wait 0,1", *sets, *END)
    assert a["tx"]["packets"] == 40000
    assert b["tx"]["packets"] - 40000 == b["tx"]["sizes"]["64"] >= 1


def test_the_end_while_it_is_on():
    run("set 0,1 beacon on", "start 0,1", "sleep 50ms")
    run("set 0 beacon on", "start 0", "sleep 50ms", ports=["null"])
    run("set 0,1 beacon on", "set 1 echo on", "sleep 20ms", "quit")


def test_two_works_and_streams_on_one_queue():
    """Half of the frames that come go back, beside its own streams and the beacon."""
    a, b = stats(ON, "set 1 echo on", "set 0,1 size 100", "set 0/0 udp.dst list 7,8", "set 1/0 udp.dst 9", "set 0,1 count 20000",
                 "set 0,1 rate 200kpps", "start 0,1", "wait 0,1", *END)
    assert b["run"]["sent"] == 20000
    assert closes(b, a, 40000 + 20000) >= 1
    assert closes(a, b, 40000) == 0


def test_the_setting_is_one_like_others():
    assert "beacon" in run("set 0 beacon on", "show settings 0").stdout
    assert "beacon" in run("set 0 beacon perhaps", code=2).stderr
