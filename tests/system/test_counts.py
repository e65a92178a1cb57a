# SPDX-License-Identifier: BSD-3-Clause
"""Changes while streams with counts are sent: frames, sizes and rates take effect at once, the order with the next start, and each stream leaves
exactly as often as its count says."""
import pytest

from harness import Tcpdump, lcores
from oracle import checksums_good, read_pcap, u16

SPORT, DPORT = 34, 36


def stream(i, *lines):
    """udp.src tells the stream, udp.dst the ordinal."""
    return [f"set 0/{i} frame eth/ipv4/udp", f"set 0/{i} udp.src {100 + i}", f"set 0/{i} udp.dst 0..65535", *lines]


def begin(p, counts, rate, *lines):
    p.ask(f"stream add 0 {len(counts) - 1}")
    for i, count in enumerate(counts):
        p.send("; ".join(stream(i, f"set 0/{i} count {count}")))
    for line in (f"set 0 rate {rate}", *lines, "start 0"):
        p.send(line)
    p.until(lambda ports: ports[0]["run"]["sent"] > 200, 10)


def tx(p):
    return {s["stream"]: s["tx"]["packets"] for s in p.ask("show streams 0")["streams"]}


def change(p, *lines, frames=400):
    """Lines, and so many frames behind them, while there are any."""
    for line in lines:
        (p.ask if line.startswith("stream add") else p.send)(line)
    if frames > 0:
        p.more(frames)


def ended(p, timeout=60):
    """Frames of each stream, as the program counted them."""
    p.until(lambda ports: ports[0]["run"]["state"] == "idle", timeout)
    return tx(p)


def same(seen, wanted):
    assert seen == wanted


def of_streams(frames):
    seen = {}
    for f in frames:
        seen.setdefault(u16(f, SPORT) - 100, []).append(u16(f, DPORT))
    return seen


# of frames and rates; of who takes turns when
FRAMES = {
    "sizes": (["set 0/1 size imix"], ["set 0/0 size 64,128"], ["set 0/1 size 200"]),
    "bits": (["set 0/1 size imix", "set 0 rate 8Mbps"], ["set 0 rate 9Mbps/l2"]),
    "rates": (["set 0 rate 9kpps"], ["set 0 rate 30kpps"]),
    "arrivals": (["set 0 arrival poisson"], ["set 0 arrival jitter 50%"], ["set 0 arrival burst 16"],
                 ["set 0 arrival constant", "set 0 rate 10kpps..30kpps over 100ms"]),
    "values": (["set 0/1 ipv4.ttl 9"], ["set 0/1 ipv4.ttl 10", "set 0/0 ipv4.dst 1.2.3.4"]),
    "at once": (["set 0/1 size imix", "set 0/0 ipv4.ttl 7", "set 0 rate 19kpps", "set 0/2 size 90", "set 0 rate 20kpps"],) * 3,
}
ORDER = {
    "weights": (["set 0/1 weight 3"], ["set 0/0 weight 2", "set 0/2 weight 7"]),
    "off": (["set 0/1 enabled off"], ["set 0/2 enabled off"]),
    "own rates": (["set 0/1 rate 3kpps"], ["set 0/0 rate 4kpps"], ["set 0/2 rate 2kpps"]),
    "counts": (["set 0/1 count 10"], ["set 0/0 count 0"], ["set 0/2 count 20000"]),
    "streams": (["stream add 0 1; " + "; ".join(stream(3, "set 0/3 count 555"))], ["stream delete 0/1"]),
    "back again": (["set 0/all weight 4"], ["set 0/all weight 1"]),
    "with frames": (["set 0/1 weight 5", "set 0/1 size imix"], ["set 0/1 enabled off", "set 0/0 ipv4.ttl 9"]),
}
# what stands in the last frames of stream 1 and stream 0
SHOWS = {
    "sizes": lambda frames: same({len(f) for f in frames[-900:] if u16(f, SPORT) == 101}, {196}),
    "values": lambda frames: same({(f[22], f[30:34]) for f in frames[-900:] if u16(f, SPORT) < 102},
                                  {(10, bytes([192, 168, 1, 1])), (64, bytes([1, 2, 3, 4]))}),
    "with frames": lambda frames: same({f[22] for f in frames[-900:] if u16(f, SPORT) == 100}, {9}),
}
WAITS = "port 0: a stream has a count, so who sends how often stays as it is until the next start"


@pytest.mark.parametrize("what", [*FRAMES, *ORDER])
def test_every_frame_of_a_count_once(what, live, tmp_path):
    """What is said of the order changes nothing of this run, and is said to be for the next one, once."""
    out = tmp_path / "out.pcap"
    for _ in range(30):
        p = live(["-p", f"pcap:tx={out}"])
        begin(p, [8000, 8100, 8203], "20kpps")
        for lines in {**FRAMES, **ORDER}[what]:
            change(p, *lines)
        before = tx(p)
        in_time = p.stats()[0]["run"]["state"] == "sending" and min(n for i, n in before.items() if i < 3) < 8000
        got = ended(p)
        assert p.quit()[0] == 0
        frames = read_pcap(out)
        assert all(map(checksums_good, frames[::8]))
        # each goes on with its ordinals, and takes the turns that it had at the start
        assert of_streams(frames) == {0: list(range(8000)), 1: list(range(8100)), 2: list(range(8203))}
        ids = [u16(f, SPORT) - 100 for f in frames[:24000]]
        assert ids == [0, 1, 2] * 8000
        assert {i: n for i, n in got.items() if n > 0} == {i: n for i, n in {0: 8000, 1: 8100, 2: 8203}.items() if i in got}
        if in_time:
            SHOWS.get(what, bool)(frames)
            assert p.errors().count(WAITS) == (what in ORDER and what != "back again")
            return
    pytest.fail("changes came after the end, each time")


def test_the_next_start_has_the_new_order(live, tmp_path):
    out = tmp_path / "out.pcap"
    p = live(["-p", f"pcap:tx={out}"])
    begin(p, [100000, 100000], "20kpps")
    change(p, "set 0/1 weight 9", frames=800)
    change(p, "stop 0", frames=0)
    first = sum(ended(p).values())
    p.send("set 0/0 count 100")
    p.send("set 0/1 count 900")
    p.send("start 0")
    ended(p)
    p.quit()
    frames = read_pcap(out)
    ids = [u16(f, SPORT) - 100 for f in frames]
    assert len(ids) == first + 1000 and first >= 1000
    assert ids[:first] == [i % 2 for i in range(first)]
    assert ids[first:] == [0, 1, 1, 1, 1, 1, 1, 1, 1, 1] * 100


def test_a_count_from_now_on_is_for_the_next_start(live, tmp_path):
    """A port that sends without counts: how often a stream has left is known too late for it to be exact in this run."""
    out = tmp_path / "out.pcap"
    p = live(["-p", f"pcap:tx={out}"])
    begin(p, [0, 0], "20kpps")
    change(p, "set 0/1 count 5")
    change(p, "set 0/0 weight 2")
    change(p, "stop 0", frames=0)
    got = ended(p)
    assert got[1] > 400 and abs(got[0] - got[1]) <= 1
    p.quit()
    assert p.errors().count(WAITS) == 1


def test_the_count_of_the_port_stays(live, tmp_path):
    """Where no stream has a count the order is free, and the port's own count is exact."""
    out = tmp_path / "out.pcap"
    p = live(["-p", f"pcap:tx={out}"])
    begin(p, [0, 0, 0], "20kpps", "set 0/1 enabled off", "set 0 count 24000")
    change(p, "set 0/1 enabled on")
    change(p, "set 0/0 enabled off")
    change(p, "set 0/0 enabled on", "set 0/1 weight 3")
    change(p, "set 0/2 weight 2", frames=0)
    got = ended(p)
    p.quit()
    assert sum(got.values()) == 24000 and all(n > 0 for n in got.values())
    assert {i: len(v) for i, v in of_streams(read_pcap(out)).items()} == got


def test_stop_and_wait_are_as_ever(live, tmp_path):
    out = tmp_path / "out.pcap"
    p = live(["-p", f"pcap:tx={out}"])
    begin(p, [3000, 3000], "20kpps")
    change(p, "set 0/0 weight 2", "stop 0", frames=0)
    first = ended(p)
    p.send("clear 0")
    p.send("start 0")
    change(p, "set 0/1 size 300", "wait 0", frames=0)
    assert ended(p) == {0: 3000, 1: 3000}
    p.quit()
    assert len(read_pcap(out)) == 6000 + sum(first.values())


def test_what_is_asked_and_found_is_of_what_is_sent(live):
    """Streams that the settings switch off or no longer have: their probes are found, and loads and gaps are compared with the order that goes on."""
    p = live(["-p", "wire"])
    begin(p, [9000, 9000, 3000], "20kpps", "set 0/1 probe on", "set 0/2 probe on", "set 0/2 rate 5kpps")
    change(p, "set 0/1 enabled off", "stream delete 0/2", "set 0/0 rate 1kpps")
    row = next(r for r in p.ask("show rates 0")["ports"] if r["port"] == 0)
    gap = p.ask("show latency 1")["ports"][0]["gap"]["target_ns"]
    assert p.stats()[0]["run"]["state"] == "sending"
    assert row["asked_pps"] == 25000 and gap == 1e9 / 25000
    ended(p)
    found = p.ask("show latency 1")["ports"][0]["counts"]
    assert (found["sent"], found["received"], found["exact"]) == (12000, 12000, True)
    p.send("start 0")
    p.until(lambda ports: ports[0]["run"]["sent"] > 500, 10)
    row = next(r for r in p.ask("show rates 0")["ports"] if r["port"] == 0)
    assert row["asked_pps"] == 1000
    p.quit()


# several queues

@pytest.mark.parametrize("queues", [2, 3])
@pytest.mark.parametrize("rate", ["10kpps", "max"])
def test_queues_together_send_the_counts(queues, rate, veth, live, tmp_path):
    path = tmp_path / "seen.pcap"
    counts = [9000, 9606, 10212]  # no more than tcpdump's buffer holds
    for _ in range(1 if rate == "max" else 5):
        dump = Tcpdump(veth, path)
        p = live([*lcores(queues + 1), "-p", f"packet:{veth.a}", "-m", f"1:2-{queues + 1}.0*{queues}"], prefix=veth.prefix)
        begin(p, counts, rate)
        for lines in (["set 0/1 size imix"], ["set 0/2 rate 9kpps", "set 0/0 size 64,200"], ["set 0/0 enabled off", "set 0/2 size 90"],
                      [f"set 0/1 count {counts[1] + 777}"], ["set 0/1 ipv4.ttl 3"], ["stream delete 0/2"]):
            change(p, *lines, frames=200)
        in_time = p.stats()[0]["run"]["state"] == "sending"
        p.send("set 0 rate max")
        got = ended(p)
        assert {i: got[i] for i in (0, 1)} == {i: counts[i] for i in (0, 1)}, got
        dump.stop()
        p.quit()
        seen = of_streams(f for f in read_pcap(path) if len(f) > DPORT + 1 and f[12:14] == b"\x08\x00")
        assert {i: len(v) for i, v in seen.items()} == dict(enumerate(counts))
        if in_time:
            return
    assert rate == "max", "changes came after the end, each time"
