# SPDX-License-Identifier: BSD-3-Clause
"""Streams and variation through the front door: what is set is what leaves, frame by frame, judged by the plain oracle."""
import pytest

from harness import Tcpdump, Veth, documents, good, lcores
from oracle import checksums_good, field_seed, randomly, ranged, read_pcap, round_robin, schedule, u16, u32

# eth/ipv4/udp: where the fields lie
IP_SRC, IP_DST, SPORT, DPORT, SIZE_FCS = 26, 30, 34, 36, 4
NET10 = 10 << 24


def sent(tmp_path, count, *lines, frame="eth/ipv4/udp"):
    """Frames that a port with these settings writes into a file."""
    out = tmp_path / "out.pcap"
    good(["-p", f"pcap:tx={out}", "-e", "; ".join([f"set 0 frame {frame}", "set 0 rate max", f"set 0 count {count}", *lines, "start 0"])])
    frames = read_pcap(out)
    assert len(frames) == count
    return frames


def column(frames, at, read=u16):
    return [read(f, at) for f in frames]


def test_sixty_thousand_ports_are_sixty_thousand_frames_in_order(tmp_path):
    frames = sent(tmp_path, 60000, "set 0 udp.src 1000..60999")
    assert column(frames, SPORT) == list(range(1000, 61000))
    assert len(set(frames)) == 60000
    assert all(map(checksums_good, frames))


def test_range_starts_over(tmp_path):
    frames = sent(tmp_path, 1000, "set 0 udp.src 10..20 step 3", "set 0 udp.dst 20..10", "set 0 ipv4.dst 10.0.255.250..10.1.0.5")
    assert column(frames, SPORT) == [ranged(10, 20, 3, o) for o in range(1000)]
    assert column(frames, DPORT) == [ranged(20, 10, 1, o) for o in range(1000)]
    assert column(frames, IP_DST, u32) == [ranged(NET10 + 0xFFFA, NET10 + 0x10005, 1, o) for o in range(1000)]
    assert all(map(checksums_good, frames))


def test_prefix_is_all_its_addresses(tmp_path):
    frames = sent(tmp_path, 70000, "set 0 ipv4.dst 10.0.0.0/16", "set 0 udp.src 1024..65535")
    assert column(frames, IP_DST, u32) == [NET10 + o % 65536 for o in range(70000)]
    assert column(frames, SPORT) == [1024 + o % 64512 for o in range(70000)]
    assert all(map(checksums_good, frames))


def test_list_random_and_mask(tmp_path):
    n = 20000
    frames = sent(tmp_path, n, "set 0 udp.src list 7,5,7,9", "set 0 udp.dst random 100..199 seed 5", "set 0 ipv4.src random",
                  "set 0 ipv4.dst 10.0.0.1 mask 0.0.255.0 seed 9")
    assert column(frames, SPORT) == [[7, 5, 7, 9][o % 4] for o in range(n)]
    assert column(frames, DPORT) == [randomly(100, 199, 5, o) for o in range(n)]
    assert column(frames, IP_SRC, u32) == [randomly(0, (1 << 32) - 1, field_seed("ipv4.src"), o) for o in range(n)]
    assert column(frames, IP_DST, u32) == [NET10 + 1 | randomly(0, (1 << 32) - 1, 9, o) & 0xFF00 for o in range(n)]
    assert all(map(checksums_good, frames))


def test_random_repeats_after_n(tmp_path):
    frames = sent(tmp_path, 5000, "set 0 udp.src random repeat 1234 seed 3")
    ports = column(frames, SPORT)
    assert ports == [randomly(0, 65535, 3, o, 1234) for o in range(5000)]
    assert ports[:1234] == ports[1234:2468] and len(set(ports)) > 1000


def test_nested_fields_give_all_combinations(tmp_path):
    frames = sent(tmp_path, 30 * 7 * 11, "set 0 udp.src 1..30", "set 0 udp.dst list 9,8,7,6,5,4,3", "set 0 ipv4.src 10.0.0.0..10.0.0.10",
                  "set 0 nest udp.src,udp.dst,ipv4.src")
    got = list(zip(column(frames, IP_SRC, u32), column(frames, DPORT), column(frames, SPORT)))
    assert got == [(NET10 + c, b, a) for c in range(11) for b in (9, 8, 7, 6, 5, 4, 3) for a in range(1, 31)]
    assert all(map(checksums_good, frames))


def test_wide_fields(tmp_path):
    """MACs, IPv6 addresses and a flow label carry over their 16-bit words."""
    frames = sent(tmp_path, 40000, "set 0 eth.src 02:00:00:00:ff:f0..02:00:00:02:00:00",
                  "set 0 ipv6.dst 2001:db8::ffff:ff00..2001:db8::1:0:ffff step 7", "set 0 ipv6.flow 0xff00..0x1ffff step 3",
            "set 0 ipv6.src fd00::/112", "set 0 udp.dst 65530..9", frame="eth/ipv6/udp")
    number = lambda f, at, n: int.from_bytes(f[at:at + n], "big")
    assert [number(f, 6, 6) for f in frames] == [ranged(0x02000000FFF0, 0x020000020000, 1, o) for o in range(40000)]
    low = 0x20010DB8 << 96
    assert [number(f, 38, 16) for f in frames] == [ranged(low + 0xFFFFFF00, low + 0x10000FFFF, 7, o) for o in range(40000)]
    assert [number(f, 14, 4) & 0xFFFFF for f in frames] == [ranged(0xFF00, 0x1FFFF, 3, o) for o in range(40000)]
    assert [number(f, 22, 16) for f in frames] == [(0xFD << 120) + o for o in range(40000)]
    assert column(frames, 56) == [ranged(65530, 9, 1, o) for o in range(40000)]
    assert all(map(checksums_good, frames))


# sizes

def sizes(frames):
    return [len(f) + SIZE_FCS for f in frames]


def test_sizes(tmp_path):
    imix = [(64, 570, 1518)[i] for i in round_robin([7, 4, 1])]
    for text in ("imix", "64:7,570:4,1518:1"):
        frames = sent(tmp_path, 1200, f"set 0 size {text}")
        assert sizes(frames) == imix * 100
        assert all(map(checksums_good, frames))
    assert sizes(sent(tmp_path, 3000, "set 0 size 64..1518")) == [64 + o % 1455 for o in range(3000)]
    assert sizes(sent(tmp_path, 100, "set 0 size 1518,64,128")) == [(1518, 64, 128)[o % 3] for o in range(100)]
    frames = sent(tmp_path, 5000, "set 0 size random 100..900 seed 4", "set 0 udp.src 1..65535")
    assert sizes(frames) == [randomly(100, 900, 4, o, 4096) for o in range(5000)]
    assert column(frames, SPORT) == list(range(1, 5001))
    assert all(map(checksums_good, frames))


def test_bytes_are_counted_exactly_with_mixed_sizes(tmp_path):
    cmds = "set 0 size imix; set 0 rate max; set 0 count 1201; start 0; wait 0; show stats"
    ports = {p["port"]: p for p in documents(good(["--json", "-e", cmds]))[-1]["ports"]}
    cycle = [(64, 570, 1518)[i] for i in round_robin([7, 4, 1])]
    assert ports[0]["tx"]["bytes"] == ports[1]["rx"]["bytes"] == 100 * sum(cycle) + cycle[0]


@pytest.mark.parametrize("rate", ["50Mbps", "0.5%", "50Mbps/l2", "9kpps"])
def test_a_timed_run_of_mixed_sizes_has_the_frames_due_in_it(rate):
    """0.3 s: frame k is due after the bits of those before it, or after k periods."""
    doc = documents(good(["--json", "-e", f"set 0 size imix; set 0 rate {rate}; start 0 for 300ms; wait 0; show stats"]))[-1]
    cycle, extra = [(64, 570, 1518)[i] for i in round_robin([7, 4, 1])], 0 if rate.endswith("l2") else 20
    due, k = 0.0, 0
    while due < 0.3:
        due += 1 / 9000 if rate == "9kpps" else (cycle[k % 12] + extra) * 8 / 50e6
        k += 1
    if rate == "9kpps":
        k = 2700
    assert doc["ports"][0]["run"]["sent"] == k


# streams

def add(n, *lines):
    """n more streams with udp.src = 100 + id, so that a frame tells its stream."""
    return [f"stream add 0 {n}", "set 0/all frame eth/ipv4/udp"] + [f"set 0/{i} udp.src {100 + i}" for i in range(n + 1)] + list(lines)


def test_streams_take_turns_by_weight(tmp_path):
    weights = [2, 1, 4, 3]
    frames = sent(tmp_path, 1003, *add(3), *(f"set 0/{i} weight {w}" for i, w in enumerate(weights)), "set 0/all udp.dst 1..5000")
    want = schedule(weights, 1003)
    assert [(f[SPORT + 1] - 100, u16(f, DPORT) - 1) for f in frames] == want
    assert all(map(checksums_good, frames))


def test_a_stream_with_a_count_leaves(tmp_path):
    """The others go on, each with its own ordinals."""
    weights, limits = [1, 3, 2], [None, 50, 21]
    frames = sent(tmp_path, 400, *add(2), "set 0/1 weight 3", "set 0/2 weight 2", "set 0/1 count 50", "set 0/2 count 21",
                  "set 0/all udp.dst 1..5000")
    assert [(f[SPORT + 1] - 100, u16(f, DPORT) - 1) for f in frames] == schedule(weights, 400, limits)


def test_streams_of_mixed_sizes_and_stacks(tmp_path):
    frames = sent(tmp_path, 600, *add(2), "set 0/1 size 128,256", "set 0/2 frame eth/vlan/ipv6/udp", "set 0/2 size 1000",
                  "set 0/2 vlan.vid 1..100")
    for k, f in enumerate(frames):
        s, o = k % 3, k // 3
        assert len(f) + 4 == (64, (128, 256)[o % 2], 1000)[s]
        assert checksums_good(f)
        if s == 2:
            assert u16(f, 14) & 0xFFF == 1 + o % 100
    assert len(frames) == 600


def test_holes_and_order_by_id(tmp_path):
    frames = sent(tmp_path, 300, *add(9), "stream delete 0/0,0/3-5", "stream move 0/9 4", "set 0/2 enabled off")
    assert column(frames, SPORT) == [100 + i for i in (1, 9, 6, 7, 8)] * 60


def test_own_rates_pace_each_stream_for_itself():
    lines = ["stream add 0 2", "set 0 rate 3kpps", "set 0/1 rate 1kpps", "set 0/2 rate 5.12Mbps/l2", "set 0/2 size 640", "start 0 for 500ms",
             "wait 0",
             "show streams 0"]
    doc = documents(good(["--json", "-e", "; ".join(lines)]))[-1]
    assert [s["tx"]["packets"] for s in doc["streams"]] == [1500, 500, 500]
    assert [s["tx"]["bytes"] for s in doc["streams"]] == [1500 * 64, 500 * 64, 500 * 640]


def test_counters_per_stream_add_up(tmp_path):
    weights = [5, 1, 2, 1]
    lines = ["stream add 0 3", *(f"set 0/{i} weight {w}" for i, w in enumerate(weights)), "set 0/2 size 200", "set 0 rate max",
             "set 0 count 123457", "start 0", "wait 0", "show streams 0", "show stats"]
    streams, stats = documents(good([*lcores(4), "--json", "-m", "1:2-3.0", "-m", "4:4.1", "-e", "; ".join(lines)]))[-2:]
    want = [0, 0, 0, 0]
    for s, _ in schedule(weights, 123457):
        want[s] += 1
    assert [s["tx"]["packets"] for s in streams["streams"]] == want
    assert sum(s["tx"]["bytes"] for s in streams["streams"]) == stats["ports"][0]["tx"]["bytes"] == stats["ports"][1]["rx"]["bytes"]


def test_4096_streams(tmp_path):
    frames = sent(tmp_path, 3 * 4096, "stream add 0 4095", "set 0/all frame eth/ipv4/udp", "set 0/all udp.dst 1..3",
                  *(f"set 0/{i} udp.src {i + 1}" for i in range(4096)))
    assert column(frames, SPORT) == list(range(1, 4097)) * 3
    assert column(frames, DPORT) == [1] * 4096 + [2] * 4096 + [3] * 4096
    assert all(map(checksums_good, frames[::7]))


# several queues

@pytest.mark.parametrize("queues", [2, 3])
def test_queues_together_send_what_one_would(veth, tmp_path, queues):
    count, path = 12000, tmp_path / "seen.pcap"
    dump = Tcpdump(veth, path)
    lines = ["stream add 0 2", "set 0/all frame eth/ipv4/udp", "set 0/1 weight 3", "set 0/2 size imix", "set 0 udp.src 1000..60000",
             "set 0/1 ipv4.dst 10.0.0.0/12",
             "set 0/2 udp.dst random seed 8", "set 0 rate 100kpps", f"set 0 count {count}", "start 0", "wait 0"]
    good([*lcores(queues + 1), "-p", f"packet:{veth.a}", "-m", f"1:2-{queues + 1}.0*{queues}", "-e", "; ".join(lines)],
         prefix=veth.prefix)
    dump.stop()
    one = sent(tmp_path, count, *[l for l in lines if l.startswith(("stream", "set")) and "rate" not in l and "count" not in l])
    seen = read_pcap(path)
    assert sorted(f[12:] for f in seen) == sorted(f[12:] for f in one)  # the sender's own address differs


# changes while sending

def test_a_change_while_sending_keeps_what_it_does_not_touch(live, tmp_path):
    out = tmp_path / "out.pcap"
    p = live(["-p", f"pcap:tx={out}"])
    for line in ("set 0 frame eth/ipv4/udp", "set 0 rate 20kpps", "set 0 udp.src 0..65535", "set 0 udp.dst 1..100", "start 0"):
        p.send(line)
    p.more(1000)
    for line in ("set 0 udp.dst 5000..5999", "set 0 ipv4.ttl 9"):
        p.send(line)
        p.more(1000)
    p.send("stop 0")
    p.until(lambda ports: ports[0]["run"]["state"] == "idle", 20)
    total = p.stats()[0]["tx"]["packets"]
    assert p.quit()[0] == 0
    frames = read_pcap(out)
    assert len(frames) == total
    assert column(frames, SPORT) == [k % 65536 for k in range(total)]
    assert all(map(checksums_good, frames))
    ports = column(frames, DPORT)
    first = next(i for i, v in enumerate(ports) if v >= 5000)
    assert ports[:first] == [1 + k % 100 for k in range(first)]
    assert ports[first:] == [5000 + k % 1000 for k in range(total - first)]
    ttl = [f[22] for f in frames]
    turn = ttl.index(9)
    assert first < turn and ttl == [64] * turn + [9] * (total - turn)


def test_streams_come_and_go_while_sending(live, tmp_path):
    out = tmp_path / "out.pcap"
    p = live(["-p", f"pcap:tx={out}"])
    for line in ("set 0 frame eth/ipv4/udp", "set 0 rate 20kpps", "set 0 udp.dst 0..65535", "set 0 udp.src 100", "start 0"):
        p.send(line)
    p.more(1000)
    # one line, one plan: the new streams never send the frames that they come with
    made = p.ask("stream add 0 2; set 0/1-2 frame eth/ipv4/udp; set 0/1-2 udp.dst 0..65535; set 0/1 udp.src 101; set 0/2 udp.src 102")
    assert made["made"] == [{"port": 0, "first": 1, "last": 2}]
    p.more(1000)
    for line in ("stream delete 0/1", "set 0/0 enabled off"):
        p.send(line)
        p.more(1000)
    p.send("stop 0")
    p.until(lambda ports: ports[0]["run"]["state"] == "idle", 20)
    streams = {s["stream"]: s["tx"]["packets"] for s in p.ask("show streams 0")["streams"]}
    total = p.stats()[0]["tx"]["packets"]
    assert p.quit()[0] == 0
    frames = read_pcap(out)
    assert len(frames) == total
    of = {i: [u16(f, DPORT) for f in frames if u16(f, SPORT) == 100 + i] for i in range(3)}
    for i in range(3):
        assert len(of[i]) > 100 and of[i] == [o % 65536 for o in range(len(of[i]))], i
    assert sum(map(len, of.values())) == total
    assert {i: len(of[i]) for i in streams} == streams


# Pktgen's words

def test_sequence_slots_leave_in_order(tmp_path):
    lines = [f"seq {i} 0 02:00:00:00:00:0{i} 02:00:00:00:01:0{i} 10.0.0.{i} 10.0.1.{i}/24 {1000 + i} {2000 + i} ipv4 udp 1 {64 + i}"
             for i in range(4)]
    frames = sent(tmp_path, 400, *lines, "set 0 seq_cnt 4")
    assert [f[5] for f in frames] == [0, 1, 2, 3] * 100
    for k, f in enumerate(frames):
        i = k % 4
        assert len(f) == 60 + i and f[11] == i and u32(f, IP_DST) == NET10 + i and u32(f, IP_SRC) == NET10 + 256 + i
        assert (u16(f, SPORT), u16(f, DPORT)) == (1000 + i, 2000 + i) and checksums_good(f)


def test_ranges_are_held_until_enabled(tmp_path):
    held = ["range 0 src port 1000 1000 60999 1", "range 0 dst ip start 10.0.0.1", "range 0 dst ip min 10.0.0.1",
            "range 0 dst ip max 10.0.0.254", "range 0 dst ip inc 0.0.0.1", "range 0 proto udp"]
    frames = sent(tmp_path, 1000, *held)
    assert len(set(frames)) == 1
    frames = sent(tmp_path, 60000, *held, "enable 0 range")
    assert column(frames, SPORT) == list(range(1000, 61000))
    assert column(frames, IP_DST, u32) == [NET10 + 1 + o % 254 for o in range(60000)]
    assert all(map(checksums_good, frames))


def test_rnd_bits(tmp_path):
    frames = sent(tmp_path, 3000, "set 0 rnd 0 30 01..XXXX", "enable 0 random")
    high = {f[30] >> 4 for f in frames}
    assert {h >> 2 for h in high} == {0b01}
    assert len({f[30] & 15 for f in frames}) == 16
    assert all(map(checksums_good, frames))


# what the bench measures

BENCH = {
    "one field": ["set 0 udp.src 1024..65535"],
    "two fields": ["set 0 udp.src 1024..65535", "set 0 ipv4.dst 10.0.0.0/16"],
    "random": ["set 0 ipv4.dst random"],
    "list": ["set 0 ipv4.dst list 10.0.0.1,10.9.9.9,10.255.1.2,10.0.77.3,10.3.2.1"],
    "steps": ["set 0 udp.src 1..65535 step 4099", "set 0 ipv4.dst 0.0.0.0..255.255.255.255 step 0.251.13.7",
              "set 0 ipv4.id 65535..0 step 9"],
}


@pytest.mark.parametrize("what", BENCH)
def test_every_frame_of_a_long_run_is_right(what, tmp_path):
    """Segment ends, wraps, carries and sums that pass zero."""
    n = 200_000
    frames = sent(tmp_path, n, *BENCH[what], "set 0 burst 32")
    assert all(map(checksums_good, frames))
    src, dst = column(frames, SPORT), column(frames, IP_DST, u32)
    if what in ("one field", "two fields"):
        assert src == [1024 + o % 64512 for o in range(n)]
    if what == "two fields":
        assert dst == [NET10 + o % 65536 for o in range(n)]
    if what == "random":
        assert dst == [randomly(0, (1 << 32) - 1, field_seed("ipv4.dst"), o) for o in range(n)]
    if what == "list":
        a = [NET10 + 1, 0x0A090909, 0x0AFF0102, 0x0A004D03, 0x0A030201]
        assert dst == [a[o % 5] for o in range(n)]
    if what == "steps":
        assert src == [ranged(1, 65535, 4099, o) for o in range(n)]
        assert dst == [ranged(0, (1 << 32) - 1, 0xFB0D07, o) for o in range(n)]
        assert column(frames, 18) == [ranged(65535, 0, 9, o) for o in range(n)]


def test_random_payload(tmp_path):
    frames = sent(tmp_path, 5000, "set 0 pattern random", "set 0 size 1518", "set 0 udp.src 1..60000")
    assert len({f[42:] for f in frames}) == 5000
    assert all(map(checksums_good, frames))


# checksums that are left to the device: DPDK's net_tap offers to make them

def test_offloaded_checksums_are_the_same_on_the_wire(namespaces, live, tmp_path):
    seen = {}
    v = Veth()
    try:
        for how in ("auto", "off"):
            path, v.b = tmp_path / f"{how}.pcap", "wrtap0"
            p = live(["-p", "vdev:net_tap0,iface=wrtap0"], prefix=v.prefix)
            p.stats()
            dump = Tcpdump(v, path)
            p.ask("stream add 0 2")
            for line in ("set 0/all frame eth/ipv4/udp", "set 0/1 frame eth/vlan/ipv4/tcp", "set 0/2 frame eth/ipv6/udp",
                         "set 0/all size 64..300", "set 0 ipv4.dst 10.0.0.0/16", "set 0/1 tcp.src random seed 3",
                         "set 0/2 ipv6.dst 2001:db8::/112", "set 0/all eth.src 02:00:00:00:00:01", "set 0/2 size 90..300",
            f"set 0 offload {how}", "set 0 count 3000", "set 0 rate 20kpps", "start 0"):
                p.send(line)
            p.until(lambda ports: ports[0]["tx"]["packets"] == 3000 and ports[0]["run"]["state"] == "idle", 20)
            dump.stop()
            p.quit()
            seen[how] = [f for f in read_pcap(path) if f[6:12] == bytes.fromhex("020000000001")]
            assert len(seen[how]) == 3000 and all(map(checksums_good, seen[how]))
    finally:
        v.remove()
    assert seen["auto"] == seen["off"]
