# SPDX-License-Identifier: BSD-3-Clause
"""Probes in the frames that leave: read here from the bytes alone, by the words of the format; tshark judges the checksums, and the dissector in
examples/ must say the same as this reader."""
import struct
from collections import defaultdict
from pathlib import Path

import pytest

import harness
from harness import Tcpdump, documents, good, run
from oracle import checksums_good, read_pcap

LUA = Path(__file__).resolve().parents[2] / "examples" / "wirerate_probe.lua"
NONE = 8191
# Where the payload begins.
STACKS = {"eth/ipv4/udp": 42, "eth/vlan/ipv4/udp": 46, "eth/qinq/vlan/ipv6/udp": 70, "eth/ipv4/tcp": 54, "eth/ipv6/tcp": 74,
          "eth/ipv4/udp/vxlan/eth/ipv6/udp": 112, "eth/mpls/ipv4/udp": 46, "eth/ipv4/gre/ipv4/udp": 66, "eth/ipv4/icmp": 42,
          "eth/ipv4/sctp": 62, "eth/ipv4/esp": 42, "eth": 14}


def probe_at(frame, at):
    """None: there is none."""
    words = struct.unpack_from(">8H", frame, at)
    if sum(words) % 65535 != 0x5752:
        return None
    seq = words[1] << 16 | words[2]
    low = int.from_bytes(frame[at + 8:at + 16], "big")
    return {"seq": seq, "port": words[3] >> 11, "queue": words[3] >> 5 & 63, "stream": low >> 51,
            "delay": (low >> 36 & 0x7FFF) << (words[3] & 31), "sent": low & (1 << 36) - 1}


def flows_of(probes):
    flows = defaultdict(list)
    for p in probes:
        if p["stream"] != NONE:
            flows[p["port"], p["stream"], p["queue"]].append(p)
    return flows


def judge_flows(flows, hz=1e9):
    """Numbered without holes in the order of sending; the clock goes forward; none left more than 20 s after it was due."""
    for key, probes in flows.items():
        assert [p["seq"] for p in probes] == list(range(len(probes))), key
        for a, b in zip(probes, probes[1:]):
            assert (b["sent"] - a["sent"]) % (1 << 36) < 1 << 35, key
        assert max(p["delay"] for p in probes) < 20 * 5 * hz, key


def test_behind_any_stack(need, tmp_path):
    need("tshark")
    out = tmp_path / "t.pcap"
    cmds = ["stream add 0 %d" % (len(STACKS) - 1), "set 0 rate 50kpps"]
    for i, stack in enumerate(STACKS):
        cmds += [f"set 0/{i} frame {stack}", f"set 0/{i} probe {'on' if i % 3 else 'every 4'}", f"set 0/{i} count {200 + i}",
                 f"set 0/{i} eth.dst 02:00:00:00:00:{i:02x}"]
    good(["-p", f"pcap:tx={out}", "-e", "; ".join(cmds + ["start 0", "wait 0"])])
    frames = read_pcap(out)
    offsets = list(STACKS.values())
    probes = [probe_at(f, offsets[f[5]]) for f in frames]
    assert None not in probes
    assert all(p["stream"] in (NONE, f[5]) and p["port"] == 0 and p["queue"] == 0 for p, f in zip(probes, frames))
    flows = flows_of(probes)
    judge_flows(flows)
    for i in range(len(STACKS)):
        mine = [p["stream"] for p, f in zip(probes, frames) if f[5] == i]
        assert mine == [i if i % 3 or k % 4 == 0 else NONE for k in range(200 + i)]
    for status in ("ip", "udp", "tcp", "icmp", "sctp"):
        options = ["-o", "sctp.checksum:CRC-32C"]
        assert harness.tshark(out, f"{status}.checksum.status == 0", options=options) == []
    assert len(harness.tshark(out, "sctp.checksum.status == 1", options=["-o", "sctp.checksum:CRC-32C"])) == 209
    names = ["stream", "seq", "port", "queue", "sent", "delay"]
    rows = harness.tshark(out, "frame", *["wirerate." + n for n in names], options=["-X", f"lua_script:{LUA}"])
    assert [dict(zip(names, map(int, row))) for row in rows] == [{n: p[n] for n in names} for p in probes]


def test_the_dissector_shows_times(need, tmp_path):
    need("tshark")
    out = tmp_path / "t.pcap"
    good(["-p", f"pcap:tx={out}", "-e", "set 0 frame eth/ipv4/udp; set 0 probe on; set 0 rate 1kpps; set 0 count 20; start 0; wait 0"])
    probes = [probe_at(f, 42) for f in read_pcap(out)]
    options = ["-X", f"lua_script:{LUA}", "-o", "wirerate.tsc_hz:2000000000"]
    rows = harness.tshark(out, "wirerate.check_ok == 1", "wirerate.sent_ns", "wirerate.delay_ns", options=options)
    # newer versions show the last digit of a double, which is not that of a division elsewhere
    assert [tuple(map(float, r)) for r in rows] == [pytest.approx((p["sent"] / 2, p["delay"] / 2), rel=1e-12) for p in probes]
    bad = bytearray(out.read_bytes())
    bad[24 + 16 + 42 + 3] ^= 1
    out.write_bytes(bad)
    assert len(harness.tshark(out, "wirerate", options=options)) == 19


def test_changes_while_sending(live, tmp_path):
    """Whatever changes: no number is missing or comes twice, and streams without probes have none, also in buffers that held one."""
    out = tmp_path / "t.pcap"
    p = live(["-p", f"pcap:tx={out}"])
    p.ask("stream add 0 2")
    for i in range(3):
        p.send(f"set 0/{i} frame eth/ipv4/udp; set 0/{i} eth.dst 02:00:00:00:00:0{i}")
    p.send("set 0 rate 20kpps; set 0/0 probe on; set 0/1 probe every 3; start 0")
    p.until(lambda ports: ports[0]["run"]["sent"] > 200, 10)
    for lines in ("set 0/1 weight 3", "set 0/2 probe on", "set 0/0 probe off", "set 0/1 rate 3kpps", "set 0 rate 5Mbps", "set 0/1 probe every 5",
                  "set 0/3 frame eth/ipv4/udp; set 0/3 eth.dst 02:00:00:00:00:03; set 0/3 probe on", "set 0/0 probe on", "set 0/2 size imix",
                  "set 0/1 rate none", "stream delete 0/2", "set 0/0 probe every 2"):
        if "0/3" in lines:
            p.ask("stream add 0 1")
        p.send(lines)
        p.more(500)
    p.send("stop 0")
    p.until(lambda ports: ports[0]["run"]["state"] == "idle", 10)
    assert p.quit()[0] == 0
    frames = read_pcap(out)
    assert all(map(checksums_good, frames))
    probes = [probe_at(f, 42) for f in frames]
    assert all(p is None or p["stream"] in (NONE, f[5]) for p, f in zip(probes, frames))
    flows = flows_of(p for p in probes if p)
    judge_flows(flows)
    assert {k[1] for k in flows} == {0, 1, 2, 3} and all(len(v) > 20 for v in flows.values())
    assert sum(p is None for p in probes) > 100
    # every 3 and 5: none has so few of its own between two that are numbered; first and last of each setting aside
    gaps = [k for k, (p, f) in enumerate((p, f) for p, f in zip(probes, frames) if f[5] == 1) if p["stream"] == 1]
    steps = [b - a for a, b in zip(gaps, gaps[1:])]
    assert set(steps) <= {1, 2, 3, 4, 5} and steps.count(3) > 10 and steps.count(5) > 10 and len(set(steps) - {3, 5}) <= 1


def test_a_smaller_size_is_refused(tmp_path):
    for stack, smallest in (("eth/vlan/ipv4/udp", 66), ("eth/ipv4/tcp", 74), ("eth/ipv6/udp", 82)):
        r = run(["-p", "null", "-e", f"set 0 frame {stack}; set 0 probe on; set 0 size 64; start 0"])
        assert r.returncode == 2 and f"the smallest is {smallest} " in r.stderr.splitlines()[-1] + r.stderr
        good(["-p", "null", "-e", f"set 0 frame {stack}; set 0 probe on; set 0 size {smallest}; set 0 count 1; start 0; wait 0"])


def test_the_peer_gets_them(veth, need, tmp_path):
    """Through a kernel that takes what it likes."""
    need("tcpdump", "tshark")
    dump = Tcpdump(veth, tmp_path / "t.pcap")
    r = good(["-p", f"packet:{veth.a}", "-e", "set 0 frame eth/ipv4/udp; set 0 probe on; set 0 size 64; set 0 rate 30kpps; stream add 0/1; "
              "set 0/1 frame eth/vlan/ipv4/udp; set 0/1 probe every 2; set 0 count 5001; start 0; wait 0; show stats"], prefix=veth.prefix)
    dump.stop()
    assert r.returncode == 0
    # what a payload of any bytes may look like is not judged
    assert len(harness.tshark(dump.path, "ip.checksum.status == 1 && udp.checksum.status == 1")) == 5001
    probes = [probe_at(f, 46 if f[12:14] == b"\x81\x00" else 42) for f in read_pcap(dump.path)]
    assert None not in probes
    flows = flows_of(probes)
    judge_flows(flows)
    assert sum(len(v) for k, v in flows.items() if k[1] == 0) == 2501
    assert sum(len(v) for k, v in flows.items() if k[1] == 1) == 1250


def test_streams_say_it():
    r = good(["--json", "-p", "null", "-e", "set 0 probe every 10; stream add 0/1; show streams 0"])
    assert [s["probe"] for s in documents(r)[-1]["streams"]] == ["every 10", "off"]
