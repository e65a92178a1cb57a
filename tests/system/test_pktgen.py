# SPDX-License-Identifier: BSD-3-Clause
"""Pktgen's language through the front door: its command files are read, and what they say is what leaves."""
import json
import random

import pytest

from harness import documents, good, random_seed, run, tshark
from oracle import checksums_good, read_pcap, u16, u32

SEED = random_seed()

# As Pktgen's own `save` writes a port, ranges and two sequence slots included. Its lines set what the frame does not use as well.
SAVED = """
#
# Pktgen - Ver: 26.02.4
#

######################### Port  0 ##################################
#
# Port:  0, Burst (Rx/Tx):  64/ 32, Rate:100%, Flags:..., TX Count:1000
#
set 0 count 1000
set 0 size 64
set 0 rate 100
set 0 rxburst 64
set 0 txburst 32
set 0 sport 1234
set 0 dport 5678
set 0 type ipv4
set 0 proto udp
set 0 dst ip 192.168.1.1
set 0 src ip 192.168.0.1/24
set 0 tcp flag ack
set 0 tcp seq 74616
set 0 tcp ack 74640
set 0 dst mac 02:77:72:00:00:09
set 0 src mac 02:77:72:00:00:00
set 0 vlan 1

set 0 pattern abc
set 0 user pattern 0123456789abcdef

disable 0 mpls
range 0 mpls entry 0x0
disable 0 qinq
set 0 qinqids 0 0
disable 0 gre
disable 0 gre_eth
disable 0 vxlan
set 0 vxlan 0x0 0 0
range 0 gre key 0
#
# Port flag values:
disable 0 icmp
disable 0 pcap
disable 0 range
disable 0 latency
disable 0 process
disable 0 capture
disable 0 vlan
#
# Range packet information:
range 0 src mac start 02:77:72:00:00:00
range 0 src mac min 00:00:00:00:00:00
range 0 src mac max 00:00:00:00:00:00
range 0 src mac inc 00:00:00:00:00:00
range 0 dst mac start 02:77:72:00:00:09
range 0 dst mac min 00:00:00:00:00:00
range 0 dst mac max 00:00:00:00:00:00
range 0 dst mac inc 00:00:00:00:00:00

range 0 src ip start 192.168.0.1
range 0 src ip min 192.168.0.1
range 0 src ip max 192.168.0.254
range 0 src ip inc 0.0.0.0

range 0 dst ip start 192.168.1.1
range 0 dst ip min 192.168.1.1
range 0 dst ip max 192.168.1.254
range 0 dst ip inc 0.0.0.1

range 0 proto udp

range 0 src port start 1234
range 0 src port min 0
range 0 src port max 65535
range 0 src port inc 1

range 0 dst port start 5678
range 0 dst port min 0
range 0 dst port max 65535
range 0 dst port inc 1

range 0 tcp flag ack
range 0 tcp seq 74616 0 536870911 0
range 0 tcp ack 74640 0 536870911 0

range 0 ttl 64 0 255 0
range 0 vlan start 1
range 0 vlan min 1
range 0 vlan max 4095
range 0 vlan inc 0
range 0 cos 0 0 7 0
range 0 tos 0 0 255 0
range 0 gre_key 0
range 0 size start 64
range 0 size min 64
range 0 size max 1518
range 0 size inc 0
#
# Set up the sequence data for the port.
set 0 seq_cnt 0
seq 0 0 02:77:72:00:00:09 02:77:72:00:00:00 10.1.0.1 10.2.0.1/16 11 21 ipv4 udp 1 64 0
seq 1 0 02:77:72:00:00:09 02:77:72:00:00:00 10.1.0.2 10.2.0.2/16 12 22 ipv4 tcp 2 128 0
seq 2 0 02:77:72:00:00:09 02:77:72:00:00:00 2001:db8::1 2001:db8::2/64 13 23 ipv6 udp 3 256 0
"""
SPORT, DPORT, IP_DST = 34, 36, 30


def sent(tmp_path, count, commands, *more):
    out = tmp_path / "out.pcap"
    good(["-p", f"pcap:tx={out}", *more, "-e", "; ".join([*commands, "set 0 rate max", f"set 0 count {count}", "start 0"])])
    frames = read_pcap(out)
    assert len(frames) == count
    return frames


def settings(*args):
    """(target, row): value, of all that differs from the defaults."""
    rows = documents(good(["-p", "null", "--json", *args, "-e", "show settings all/all"]))[-1]["settings"]
    return {(r["target"], r["name"]): r["value"] for r in rows if not r["default"]}


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "saved.pkt"
    path.write_text(SAVED)
    return path


def test_a_saved_file_of_pktgen_is_read(saved, tmp_path):
    """By -f line by line, by load as a whole: the same."""
    by_lines, as_a_whole = settings("-f", str(saved)), settings("-e", f"load {saved}")
    assert by_lines == as_a_whole
    assert ("0/0", "frame") not in by_lines and by_lines[("0/0", "udp.dst")] == "5678"
    assert by_lines[("0/0", "range.dst-ip")] == "192.168.1.1 192.168.1.1 192.168.1.254 0.0.0.1"
    assert by_lines[("0/2", "frame")] == "eth/ipv4/tcp" and by_lines[("0/2", "tcp.dst")] == "22"
    assert by_lines[("0/3", "frame")] == "eth/ipv6/udp"
    # our own save gives it again
    text = tmp_path / "ours.cmds"
    good(["-p", "null", "-f", str(saved), "-e", f"save {text}"])
    assert settings("-f", str(text)) == by_lines


def test_its_single_packet_is_sent(saved, tmp_path):
    frames = sent(tmp_path, 10, [], "-f", str(saved))
    assert len(set(frames)) == 1 and len(frames[0]) == 60
    assert (u16(frames[0], SPORT), u16(frames[0], DPORT)) == (1234, 5678) and checksums_good(frames[0])


def test_its_ranges_are_sent(saved, tmp_path):
    n = 66000
    frames = sent(tmp_path, n, ["enable 0 range"], "-f", str(saved))
    assert [u16(f, SPORT) for f in frames] == [(1234 + o) % 65536 for o in range(n)]
    assert [u16(f, DPORT) for f in frames] == [(5678 + o) % 65536 for o in range(n)]
    assert [u32(f, IP_DST) for f in frames] == [0xC0A80101 + o % 254 for o in range(n)]
    assert all(map(checksums_good, frames))


def test_its_sequence_is_sent_in_order(saved, tmp_path):
    frames = sent(tmp_path, 300, ["set 0 seq_cnt 3"], "-f", str(saved))
    assert [len(f) + 4 for f in frames] == [64, 128, 256] * 100
    assert len(set(frames)) == 3
    assert [frames[0][23], frames[1][23], frames[2][20]] == [17, 6, 17]
    assert all(map(checksums_good, frames[:3]))
    tagged = sent(tmp_path, 3, ["set 0 seq_cnt 3", "enable 0 vlan"], "-f", str(saved))
    assert [(u16(f, 12), u16(f, 14)) for f in tagged] == [(0x8100, 1), (0x8100, 2), (0x8100, 3)]
    assert all(map(checksums_good, tagged))


def test_sizes_that_begin_inside_of_their_range(tmp_path):
    """As Pktgen's own scripts have it; and where no later lap has the first one's sizes."""
    frames = sent(tmp_path, 1500, ["range 0 size 128 64 1518 2", "range 0 proto udp", "enable 0 range"])
    assert [len(f) + 4 for f in frames] == [64 + (64 + o * 2) % 1456 for o in range(1500)]
    frames = sent(tmp_path, 40, ["range 0 size 66 64 80 5", "enable 0 range"])
    assert [len(f) + 4 for f in frames] == [66, 71, 76] + [64 + o % 4 * 5 for o in range(37)]
    assert all(map(checksums_good, frames))


def test_sizes_of_a_range(tmp_path):
    frames = sent(tmp_path, 200, ["range 0 size 64 64 128 3", "range 0 proto udp", "enable 0 range"])
    assert [len(f) + 4 for f in frames] == [64 + o % 22 * 3 for o in range(200)]
    assert all(map(checksums_good, frames))


def test_ranges_change_while_sending(live, tmp_path):
    """New limits are taken over without a stop and begin at their start; a field that they do not touch goes on; and back to the single packet."""
    out = tmp_path / "out.pcap"
    p = live(["-p", f"pcap:tx={out}"])
    for line in ("set 0 proto udp", "set 0 rate 20kpps", "range 0 dst port 1000 1000 1099 1", "range 0 src port 1 1 65535 1", "enable 0 range",
                 "start 0"):
        p.send(line)
    for line in ("range 0 dst port 5000 5000 5099 1", "disable 0 range", "stop 0"):
        p.more(500)
        p.send(line)
    p.until(lambda ports: ports[0]["run"]["state"] == "idle", 10)
    assert p.quit()[0] == 0
    frames = read_pcap(out)
    ports = [u16(f, DPORT) for f in frames]
    second, third = next(i for i, v in enumerate(ports) if v >= 5000), ports.index(5678)
    assert ports[:second] == [1000 + o % 100 for o in range(second)]
    assert ports[second:third] == [5000 + o % 100 for o in range(third - second)]
    assert set(ports[third:]) == {5678} and second > 400 and third > second + 400
    assert [u16(f, SPORT) for f in frames[:third]] == [1 + o % 65535 for o in range(third)]
    assert all(map(checksums_good, frames))


# enable and disable

PARTS = ["vlan", "qinq", "mpls", "gre", "gre_eth", "vxlan"]
SHOWN = {"vlan": {"vlan"}, "qinq": {"qinq", "vlan"}, "mpls": {"mpls"}, "gre": {"gre"}, "gre_eth": {"gre"}, "vxlan": {"vxlan"}}


def stack_of(lines):
    doc = documents(good(["-p", "null", "--json", "-e", "; ".join([*lines, "show frame 0"])]))[-1]["frames"][0]
    return doc["stack"].split("/")


@pytest.mark.parametrize("frame", ["eth/ipv4/udp", "eth/ipv4/tcp", "eth/ipv6/udp", "eth/ipv6/icmpv6"])
def test_parts_go_in_and_out_in_any_order(frame):
    rng = random.Random(SEED)
    print(f"WIRERATE_SEED={SEED}")
    base = [f"set 0 frame {frame}", "set 0 dst mac 02:00:00:00:00:05", "set 0 size 400"]
    plain = settings("-e", "; ".join(base))
    for _ in range(5):
        on = rng.sample(PARTS, rng.randint(1, len(PARTS)))
        off = rng.sample(on, len(on))
        lines = base + [f"enable 0 {p}" for p in on]
        stack = stack_of(lines)
        assert set().union(*(SHOWN[p] for p in on)) <= set(stack), (on, stack)
        assert stack[0] == "eth" and [h for h in stack if h not in ("payload", "padding")][-1] == frame.split("/")[-1], (on, stack)
        assert settings("-e", "; ".join(lines + [f"disable 0 {p}" for p in off])) == plain, (on, off)


def test_encapsulated_frames_are_what_others_read(tmp_path):
    """tshark sees the layers, and nothing malformed; a running field inside keeps all checksums right."""
    rng = random.Random(SEED + 1)
    print(f"WIRERATE_SEED={SEED}")
    layer = {"vlan": "vlan", "qinq": "ieee8021ad", "mpls": "mpls", "gre": "gre", "gre_eth": "gre", "vxlan": "vxlan"}
    for _ in range(4):
        on = rng.sample(PARTS, rng.randint(1, 4))
        out = tmp_path / "out.pcap"
        lines = ["set 0 frame eth/ipv4/udp", "set 0 dport 40000", "set 0 size 300", "set 0 pattern zero", *(f"enable 0 {p}" for p in on),
                 "set 0 ipv4.src 10.0.0.0/24", "set 0 rate max", "set 0 count 20", "start 0"]
        good(["-p", f"pcap:tx={out}", "-e", "; ".join(lines)])
        seen = tshark(out, "", "frame.protocols")
        assert len(seen) == 20
        for p in on:
            assert all(layer[p] in s[0].split(":") for s in seen), (on, seen[0])
        bad = tshark(out, "_ws.malformed || ip.checksum.status == 0 || udp.checksum.status == 0 || tcp.checksum.status == 0", "frame.number")
        assert bad == [], (on, bad)


def test_refused_lines_leave_everything_as_it_was(tmp_path):
    before = ["set 0 proto udp", "range 0 ttl 1 1 9 1", "seq 0 0 cos 1 tos 2", "set 0/1 type arp"]
    for bad in ("enable 0 vxlan", "range 0 ttl inc 256", "seq 0 0 cos 2 tos 256", "seq 1 0 cos 9 tos 1", "set 0 rnd 1 2 z", "set 0 vxlan 1 2",
                "seq 0 0 02:00:00:00:00:01 02:00:00:00:00:02 1.1.1.1 1.1.1.2/24 1 2 ipv4 udp 1 20000", "set 0 seq_cnt 4096", "enable 0/1 rnd_s_pt"):
        r = run(["-p", "null", "-b", "-k", "--json", "-e", "; ".join([*before, bad, "show settings all/all"])])
        assert r.returncode == 2, bad
        rows = json.loads(r.stdout.splitlines()[-1])["settings"]
        got = {(s["target"], s["name"]): s["value"] for s in rows if not s["default"]}
        assert got == settings("-e", "; ".join(before)), bad
