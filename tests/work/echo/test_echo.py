# SPDX-License-Identifier: BSD-3-Clause
"""A work that the product does not have, in a program that has it: its frames, its counts beside those of streams, its setting.

WIRERATE_WORK=path/to/wirerate_work python3 -m pytest tests/work
"""
import json
import os
import subprocess

import pytest
from scapy.all import IP, UDP, Ether, rdpcap, wrpcap

PROGRAM = os.environ.get("WIRERATE_WORK", "build-test/gcc/tests/work/wirerate_work")


def run(*commands, ports=("wire",), code=0):
    args = [word for port in ports for word in ("-p", port)]
    done = subprocess.run([PROGRAM, "-b", "--json", *args, "-e", "; ".join(commands)], capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done.stderr
    return done


def stats(*commands, **how):
    lines = run(*commands, "show stats", **how).stdout.splitlines()
    return json.loads(lines[-1])["ports"]


def test_half_of_them_come_back():
    a, b = stats("set 1 echo on", "set 0/0 udp.dst list 7,8", "set 0 count 20000", "set 0 rate 200kpps", "start 0", "wait 0")
    assert a["tx"]["packets"] == b["rx"]["packets"] == 20000
    assert b["tx"]["packets"] == a["rx"]["packets"] == 10000
    assert b["run"]["sent"] == 0  # no stream has sent them
    assert b["tx"]["sizes"]["64"] == b["tx"]["packets"] and b["tx"]["dropped"] == 0
    assert b["rx"]["sizes"]["64"] == 20000  # counted whoever owns them


def test_one_queue_sends_streams_and_echoes():
    a, b = stats("set 1 echo on", "set 0,1 size 64..200 step 8", "set 0/0 udp.dst list 7,8,7,9", "set 1/0 udp.dst 9", "set 0,1 count 30000",
                 "set 0,1 rate 300kpps", "start 0,1", "wait 0,1")
    assert a["run"]["sent"] == b["run"]["sent"] == 30000
    assert b["tx"]["packets"] == 30000 + 15000 and a["rx"]["packets"] == 45000
    assert sum(b["tx"]["sizes"].values()) == 45000
    assert b["queues"][0]["tx"]["packets"] == 45000


def test_a_clear_is_for_all_who_send_there():
    a, b = stats("set 1 echo on", "set 0/0 udp.dst 7", "set 0 count 5000", "set 0 rate 200kpps", "start 0", "wait 0", "clear all", "set 0 count 700",
                 "start 0", "wait 0")
    assert b["tx"]["packets"] == a["rx"]["packets"] == 700
    assert sum(b["tx"]["sizes"].values()) == 700


def test_who_asked_gets_the_answer(tmp_path):
    sent = [Ether(src=f"02:00:00:00:01:{i:02x}", dst="02:00:00:00:00:01") / IP(src=f"10.0.0.{i + 1}", dst="10.9.9.9") /
            UDP(sport=4000 + i, dport=7 if i % 3 else 53) / (b"x" * (20 + i)) for i in range(60)]
    wrpcap(str(tmp_path / "in.pcap"), sent)
    run("set 0 echo on", "sleep 30ms", ports=(f"vdev:net_pcap0,rx_pcap={tmp_path}/in.pcap,tx_pcap={tmp_path}/out.pcap,infinite_rx=1",))
    back = list(rdpcap(str(tmp_path / "out.pcap"), count=100))
    wanted = [frame for frame in sent if frame[UDP].dport == 7]
    assert len(back) == 100
    first = [frame[UDP].sport for frame in wanted].index(back[0][UDP].dport)
    for i, now in enumerate(back):
        was = wanted[(first + i) % len(wanted)]
        assert (now[Ether].src, now[Ether].dst) == (was[Ether].dst, was[Ether].src)
        assert (now[IP].src, now[IP].dst) == (was[IP].dst, was[IP].src)
        assert (now[UDP].sport, now[UDP].dport) == (7, was[UDP].sport)
        again = Ether(bytes(now))
        del again[IP].chksum, again[UDP].chksum
        assert bytes(Ether(bytes(again))) == bytes(now)  # checksums are right


def test_off_is_off():
    a, b = stats("set 0/0 udp.dst 7", "set 0 count 1000", "set 0 rate 200kpps", "start 0", "wait 0")
    assert a["rx"]["packets"] == b["tx"]["packets"] == 0 and b["rx"]["packets"] == 1000


@pytest.mark.parametrize("turns", [1, 20])
def test_on_and_off_while_frames_come(turns):
    """What is lost has a reason: all that came is counted, and all that went back was accepted or counted as dropped."""
    flips = [word for _ in range(turns) for word in ("set 1 echo on", "sleep 5ms", "set 1 echo off", "sleep 5ms")]
    a, b = stats("set 0/0 udp.dst 7", "set 0 rate 200kpps", "start 0", *flips, "stop 0", "wait 0")
    assert b["rx"]["packets"] == a["run"]["sent"] > 0
    assert a["rx"]["packets"] == b["tx"]["packets"] == sum(b["tx"]["sizes"].values())


def test_the_setting_is_one_like_others():
    assert "echo" in run("set 0 echo on", "show settings 0").stdout
    assert "echo" in run("set 0 echo perhaps", code=2).stderr
