# SPDX-License-Identifier: BSD-3-Clause
"""Changes while streams with counts are sent: they take effect at once, and each stream leaves exactly so often as its count says."""
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


def ended(p, timeout=20):
    """Frames of each stream, as the program counted them."""
    p.until(lambda ports: ports[0]["run"]["state"] == "idle", timeout)
    return tx(p)


def of_streams(frames):
    seen = {}
    for f in frames:
        seen.setdefault(u16(f, SPORT) - 100, []).append(u16(f, DPORT))
    return seen


CHANGES = {
    "weights": (["set 0/1 weight 3"], ["set 0/0 weight 2", "set 0/2 weight 7"], ["set 0/all weight 1"]),
    "off and on": (["set 0/1 enabled off"], ["set 0/1 enabled on", "set 0/2 enabled off"], ["set 0/2 enabled on"]),
    "own rates": (["set 0/1 rate 3kpps"], ["set 0/1 rate none", "set 0/0 rate 4kpps"], ["set 0/2 rate 2kpps"], ["set 0/0-2 rate none"]),
    "own rates for all": (["set 0/0-2 rate 5kpps"], ["set 0/all rate none"], ["set 0/0-2 rate 6kpps"]),
    "sizes": (["set 0/1 size imix"], ["set 0/0 size 64,128"], ["set 0/1 size 200"]),
    "bits": (["set 0/1 size imix", "set 0 rate 8Mbps"], ["set 0/0 weight 4"], ["set 0/2 weight 2", "set 0 rate 9Mbps/l2"]),
    "rates": (["set 0 rate 9kpps", "set 0/1 weight 2"], ["set 0 rate 30kpps", "set 0/1 weight 1"]),
    "arrivals": (["set 0 arrival poisson"], ["set 0/1 rate 3kpps", "set 0/1 arrival burst 32", "set 0 arrival jitter 50%"],
                 ["set 0 arrival burst 16", "set 0/1 rate none"], ["set 0 arrival constant", "set 0 rate 10kpps..30kpps over 100ms"]),
    "values": (["set 0/1 ipv4.ttl 9"], ["set 0/1 weight 2"], ["set 0/1 ipv4.ttl 10", "set 0/0 ipv4.dst 1.2.3.4"]),
    "at once": (["set 0/1 weight 2", "set 0/0 weight 3", "set 0/2 rate 1kpps", "set 0/2 rate none", "set 0/1 size imix", "set 0/0 weight 1"],) * 3,
}


@pytest.mark.parametrize("what", CHANGES)
def test_every_frame_of_a_count_once(what, live, tmp_path):
    out = tmp_path / "out.pcap"
    for _ in range(8):
        p = live(["-p", f"pcap:tx={out}"])
        begin(p, [8000, 8100, 8203], "20kpps")
        for lines in CHANGES[what]:
            change(p, *lines)
        before = tx(p)
        in_time = p.stats()[0]["run"]["state"] == "sending" and min(before.values()) < 8000
        assert ended(p) == {0: 8000, 1: 8100, 2: 8203}
        assert p.quit()[0] == 0
        frames = read_pcap(out)
        assert all(map(checksums_good, frames))
        # a stream that goes on keeps its ordinals, whatever group sends it; one that was away for a while too
        assert of_streams(frames) == {0: list(range(8000)), 1: list(range(8100)), 2: list(range(8203))}
        if in_time:
            return
    pytest.fail("changes came after the end, each time")


def test_a_change_takes_effect_at_once(live, tmp_path):
    out = tmp_path / "out.pcap"
    p = live(["-p", f"pcap:tx={out}"])
    begin(p, [100000, 100000], "20kpps")
    change(p, "set 0/1 weight 9", frames=800)
    change(p, "stop 0", frames=0)
    total = sum(ended(p).values())
    p.quit()
    frames = read_pcap(out)
    assert len(frames) == total
    ids = [u16(f, SPORT) - 100 for f in frames]
    # the new order begins with stream 0, whichever had its turn in the old one
    turn = next(i for i in range(len(ids)) if ids[i] != i % 2)
    assert ids[turn - 1:turn + 1] in ([0, 0], [1, 1])
    assert len(ids) - turn > 300
    tail = ids[turn:turn + 300]
    assert tail.count(0) in (29, 30, 31)


def test_counts_that_change(live, tmp_path):
    """Less than was sent: nothing more. More: the rest. None: without end, until there is one again."""
    out = tmp_path / "out.pcap"
    p = live(["-p", f"pcap:tx={out}"])
    begin(p, [1000000, 600, 2000, 1000000], "20kpps")
    change(p, "set 0/0 count 10")
    stood = tx(p)[0]
    p.until(lambda ports: tx(p)[1] == 600, 20)
    change(p, "set 0/1 count 800")
    change(p, "set 0/2 count 0")
    p.until(lambda ports: tx(p)[2] > 2100, 20)
    change(p, "set 0 rate 100pps", frames=2)  # so that there is time to ask for more than were sent
    goal = tx(p)[2] + 1000
    change(p, f"set 0/2 count {goal}", "stream add 0 1; " + "; ".join(stream(4, "set 0/4 count 333")), "set 0 rate 20kpps")
    change(p, "stream delete 0/3")
    got = ended(p)
    p.quit()
    seen = of_streams(read_pcap(out))
    assert 10 < stood and got == {0: stood, 1: 800, 2: goal, 4: 333}
    assert len(seen[0]) == stood and len(seen[3]) < 1000000
    for i in range(5):
        assert seen[i] == list(range(len(seen[i]))), i


def test_the_count_of_the_port_stays(live, tmp_path):
    """With and without anybody who takes turns."""
    out = tmp_path / "out.pcap"
    p = live(["-p", f"pcap:tx={out}"])
    begin(p, [0, 0, 9000], "20kpps", "set 0/2 rate 2kpps", "set 0/1 enabled off", "set 0 count 24000")
    change(p, "set 0/1 enabled on")
    change(p, "set 0/0 enabled off")
    change(p, "set 0/1 enabled off", frames=80)  # only the own rate is left
    change(p, "set 0/0 enabled on", "set 0/1 weight 3")
    change(p, "set 0/1 enabled on")
    change(p, "set 0/2 rate 10kpps", frames=0)
    got = ended(p)
    p.quit()
    assert got[2] == 9000 and got[0] + got[1] == 24000
    assert {i: len(v) for i, v in of_streams(read_pcap(out)).items()} == {i: n for i, n in got.items() if n > 0}


def test_the_end_comes_while_things_change(live, tmp_path):
    """Streams of a few frames, changed until nothing is left."""
    out = tmp_path / "out.pcap"
    p = live(["-p", f"pcap:tx={out}"])
    begin(p, [400, 300, 350, 500], "max", "set 0 rate 4kpps")
    for n in range(60):
        change(p, f"set 0/{n % 4} weight {1 + n % 5}", f"set 0/{(n + 1) % 4} rate {'1kpps' if n % 3 else 'none'}", frames=4)
    assert ended(p) == {0: 400, 1: 300, 2: 350, 3: 500}
    p.quit()
    assert of_streams(read_pcap(out)) == {0: list(range(400)), 1: list(range(300)), 2: list(range(350)), 3: list(range(500))}


def test_stop_and_wait_are_as_ever(live, tmp_path):
    out = tmp_path / "out.pcap"
    p = live(["-p", f"pcap:tx={out}"])
    begin(p, [3000, 3000], "20kpps")
    change(p, "set 0/0 weight 2", "stop 0", frames=0)
    first = ended(p)
    p.send("clear 0")
    p.send("start 0")
    change(p, "set 0/1 weight 3", "wait 0", frames=0)
    assert ended(p) == {0: 3000, 1: 3000}
    p.quit()
    assert len(read_pcap(out)) == 6000 + sum(first.values())


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
        for lines in (["set 0/1 weight 3"], ["set 0/2 rate 9kpps"], ["set 0/0 enabled off", "set 0/2 size imix"], ["set 0/2 rate none"],
                      [f"set 0/1 count {counts[1] + 777}"], ["set 0/0 enabled on"],
                      ["stream add 0 1; " + "; ".join(stream(3, "set 0/3 count 555"))]):
            change(p, *lines, frames=200)
        in_time = p.stats()[0]["run"]["state"] == "sending"
        p.send("set 0 rate max")
        got = ended(p)
        want = {0: counts[0], 1: counts[1] + 777, 2: counts[2], 3: 555}
        assert got == want if in_time else all(got[i] <= want[i] for i in got), got
        dump.stop()
        p.quit()
        seen = of_streams(f for f in read_pcap(path) if len(f) > DPORT + 1 and f[12:14] == b"\x08\x00")
        assert {i: len(v) for i, v in seen.items()} == {i: n for i, n in got.items() if n > 0}
        if in_time:
            return
    assert rate == "max", "changes came after the end, each time"
