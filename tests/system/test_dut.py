# SPDX-License-Identifier: BSD-3-Clause
"""A wire that is a device under test: what it says it did to frames is what its two ports count, and which frames it hits follows from
the seed and their numbers alone."""
import random
import resource
import time

import pytest

from harness import WAITS, Live, as_json, documents, good, ports_of, run
from test_wire import SHAPES, args_of

MILLION = 1_000_000
DROPS = ("lost", "queue_drops", "too_long", "failed", "overflow", "flushed")
MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
LOSS, DUPLICATE, REORDER, CORRUPT = 1, 2, 3, 4


def mixed(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def hits(seed, purpose, share, count):
    """Numbers of the frames that chance hits."""
    key, below = mixed(seed + purpose * GOLDEN & MASK), int(share * 2.0**64)
    return {n for n in range(count) if mixed(key + n * GOLDEN & MASK) < below}


def wires(doc):
    assert doc["show"] == "wire"
    return {p["port"]: p for p in doc["ports"]}


def closes(w):
    assert w["before"] + w["in"] + w["duplicated"] == w["out"] + sum(w[d] for d in DROPS) + w["waiting"], w


def agree(ports, wire, tx=0):
    """Nothing is on its way: what is counted on both sides of the device, in frames and in bytes where none is gone."""
    closes(wire[tx])
    assert wire[tx]["waiting"] == 0 and wire[tx]["before"] == 0
    assert wire[tx]["in"] == ports[tx]["tx"]["packets"]
    assert wire[tx]["out"] == ports[1 - tx]["rx"]["packets"]
    assert ports[1 - tx]["rx"]["missed"] == ports[1 - tx]["rx"]["nombuf"] == ports[1 - tx]["rx"]["errors"] == 0


def both(args, cmds, timeout=120):
    docs = documents(good([*as_json(args), "-e", cmds + "; show stats; show wire"], timeout=timeout))
    ports, wire = ports_of(docs[-2]), wires(docs[-1])
    agree(ports, wire)
    return ports, wire


def wire_until(live, what):
    """What the device at port 0 says, as soon as it is this."""
    until = time.monotonic() + 60
    while not what(w := wires(live.ask("show wire"))[0]):
        assert time.monotonic() < until, w
        time.sleep(0.01)
    return w


EVERYTHING = ("set wire loss 0.3%; set wire duplicate 0.2%; set wire reorder 0.1% by 2; set wire corrupt 0.1% at 50; "
              "set wire seed 77; set wire mtu 600; set 0 size 64..1000")


@pytest.mark.parametrize("one_cpu", [False, True], ids=["spread", "one-cpu"])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_class(shape, one_cpu):
    count = 300_000
    ports, wire = both(args_of(shape, one_cpu), f"{EVERYTHING}; set 0 rate max; set 0 count {count}; start 0; wait 0")
    w = wire[0]
    assert w["in"] == count
    assert w["failed"] == w["flushed"] == w["overflow"] == w["queue_drops"] == 0
    assert w["lost"] > 0 and w["duplicated"] > 0 and w["reordered"] > 0 and w["corrupted"] > 0 and w["too_long"] > 0
    if SHAPES[shape][0] == 1:  # then sizes come in the order of the numbers, 14 bytes are Ethernet's and 4 FCS
        long = {n for n in range(count) if 64 + n % 937 > 618}
        lost = hits(77, LOSS, 0.003, count) - long
        through = set(range(count)) - long - lost
        twice = hits(77, DUPLICATE, 0.002, count) & through
        spoilt = hits(77, CORRUPT, 0.001, count) & through
        late = hits(77, REORDER, 0.001, count) & through
        assert w["too_long"] == len(long)
        assert w["lost"] == len(lost)
        assert w["duplicated"] == len(twice)
        assert w["corrupted"] == len(spoilt) + len(spoilt & twice)
        assert len(late) - 1 <= w["reordered"] <= len(late)  # the last one may have nobody behind it


@pytest.mark.parametrize("shape", ["1q", "2q", "4q-1rx"])
def test_the_same_seed_hits_as_many(shape):
    """Whatever the rate and the turns of workers: the numbers of frames do not depend on time."""
    seen = set()
    for rate in ("max", "1Mpps", "300kpps"):
        cmds = f"set wire loss 1% burst 4; set wire duplicate 0.5%; set 0 rate {rate}; set 0 count 200000; start 0; wait 0"
        _, wire = both(args_of(shape, False), cmds)
        seen.add((wire[0]["lost"], wire[0]["duplicated"], wire[0]["out"]))
    assert len(seen) == 1
    lost, duplicated, _ = seen.pop()
    count, left, lost_n = 200_000, 0, 0
    begin = hits(1, LOSS, 1 - 0.99**0.25, count)
    twice = 0
    dup = hits(1, DUPLICATE, 0.005, count)
    for n in range(count):
        left = 4 if n in begin else left
        if left > 0:
            left -= 1
            lost_n += 1
        elif n in dup:
            twice += 1
    assert (lost, duplicated) == (lost_n, twice)


def test_ten_million():
    _, wire = both(["-m", "1:1.0", "-m", "1:1.1"], "set wire loss every 1000; set wire duplicate every 500; set wire reorder every 2500; "
                   "set 0 rate max; set 0 count 10M; start 0; wait 0", timeout=300)
    w = wire[0]
    assert (w["in"], w["lost"], w["overflow"]) == (10 * MILLION, 10_000, 0)
    assert w["duplicated"] == 10_000  # of 20000, every other is lost
    assert w["reordered"] == 2000  # of 4000, likewise
    assert w["out"] == 10 * MILLION


def test_reordered_exactly():
    _, wire = both([], "set wire reorder every 100 by 3; set 0 rate max; set 0 count 1000050; start 0; wait 0")
    assert wire[0]["reordered"] == 10_000
    _, wire = both([], "set wire reorder every 10; set 0 rate 200pps; set 0 count 105; start 0; wait 0")
    assert wire[0]["reordered"] == 10


def test_wait_waits_for_what_is_inside():
    ports, wire = both([], "set wire delay 300ms; set 0 rate 100kpps; set 0 count 1000; start 0; wait 0")
    assert ports[1]["rx"]["packets"] == 1000
    assert wire[0]["most_waiting"] > 100


def test_wait_does_not_wait_for_others():
    """Who sends on through a device of another wire keeps nobody waiting, nor a trial from its begin."""
    sends = "lua 'repeat wr.sleep(\"1ms\") until wr.stats().ports[2].tx.packets > 100'; "
    r = run([*as_json(["-p", "wire", "-p", "wire"]), "-e", f"set 2 wire delay 10ms; set 2 rate 100kpps; start 2; {sends}set 0 count 100; "
             "set 0 rate 10kpps; start 0; wait 0 20s; show stats; trial 1 rate 1kpps for 50ms"])
    assert r.returncode in (0, 4), r.stderr  # 4: the machine was too slow for the trial
    stats, trial = documents(r)
    ports = ports_of(stats)
    assert ports[1]["rx"]["packets"] == 100 and ports[2]["tx"]["packets"] > 100
    assert trial["trial"]["fates"]["received"] == trial["trial"]["fates"]["sent"] > 0


def test_both_directions_have_settings_of_their_own():
    docs = documents(good([*as_json([]), "-e", "set 0 wire loss every 10; set 1 wire loss every 4; set all count 10000; set all rate 500kpps; "
                           "start all; wait all; show stats; show wire"]))
    ports, wire = ports_of(docs[0]), wires(docs[1])
    agree(ports, wire, 0)
    agree(ports, wire, 1)
    assert (wire[0]["lost"], wire[1]["lost"]) == (1000, 2500)


def test_a_limit_lets_no_more_through():
    """The knee in the other direction depends on who else uses the machine's CPUs; with its own clock it is a unit test's. Where the worker
    stands still, frames that are due wait on inside, beside those that come."""
    ports, wire = both([], "set wire limit 50kpps queue 200; set 0 rate 200kpps; start 0 for 500ms; wait 0")
    seconds = ports[0]["run"]["duration_ns"] / 1e9
    assert wire[0]["out"] <= 50_000 * seconds * 1.01 + 201
    assert wire[0]["queue_drops"] > 0
    assert wire[0]["most_waiting"] <= 400
    ports, wire = both([], "set wire limit 1Gbps queue 1000000; set 0 size 1518; set 0 rate 2Gbps; start 0 for 300ms; wait 0")
    assert wire[0]["queue_drops"] == 0 and wire[0]["overflow"] == 0


def test_one_way():
    docs = documents(good([*as_json([]), "-e", "set 0 wire fail on; set all count 1000; start all; wait all; show stats; show wire"]))
    ports, wire = ports_of(docs[0]), wires(docs[1])
    assert ports[0]["link"] == ports[1]["link"] == "up"
    assert wire[0]["failed"] == 1000 and ports[1]["rx"]["packets"] == 0
    assert ports[0]["rx"]["packets"] == 1000


def test_flaps_are_told_and_counted():
    live, begin = Live([]), time.monotonic()

    def told(port, what):
        return live.errors().count(f"port {port} (wire{port}): link {what}")

    try:
        live.send("set wire flap 50ms every 150ms; set 0 rate 50kpps; start 0")
        wire_until(live, lambda w: min(told(0, "down"), told(1, "down")) >= 4)
        live.send("stop 0; wait 0")
        wire, ports = wires(live.ask("show wire")), live.stats()
        agree(ports, wire)
        assert 0.1 < wire[0]["failed"] / wire[0]["in"] < 0.8  # it fails for a third of the time
        assert live.quit()[0] == 0
        most = (time.monotonic() - begin) / 0.150 + 1
        for port in (0, 1):
            assert told(port, "down") <= most
            assert told(port, "down") - 1 <= told(port, "up") <= told(port, "down")
    finally:
        live.close()


SETTINGS = ("loss 1%", "loss 2% burst 5", "loss none", "delay none", "delay 100us", "delay 1ms..3ms", "delay normal 500us 200us",
            "delay exponential 200us", "limit none", "limit 500kpps queue 64", "limit 100Mbps queue 10", "duplicate every 3", "duplicate none",
            "reorder 5% by 2", "reorder none", "corrupt 10%", "mtu 100", "mtu 0", "fail on", "fail off", "link down", "link up", "order keep",
            "order free", "seed 9", "flap 5ms every 20ms", "flap none", "plain")


@pytest.mark.parametrize("maps", [[], ["-m", "1:1.0*2", "-m", "1:1.1*2"]], ids=["1q", "2q"])
def test_changes_while_sending(maps, tmp_path):
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    rng = random.Random(seed)
    log = tmp_path / "log"
    live = Live([*maps, "-l", str(log)])
    try:
        live.send("set 0 size 64..600; set all rate 300kpps; start all")
        for _ in range(150):
            who = rng.choice(("", "0 ", "1 "))
            live.send(f"set {who}wire {rng.choice(SETTINGS)}")
            time.sleep(rng.random() * 0.02)
            for w in wires(live.ask("show wire")).values():
                closes(w)
        live.send("set wire plain; stop all; wait all")
        wire, ports = wires(live.ask("show wire")), live.stats()
        for tx in (0, 1):
            closes(wire[tx])
            assert wire[tx]["waiting"] == 0
            # frames sent before the first setting, and after the device went, took the wire alone
            drops = sum(wire[tx][d] for d in DROPS)
            assert ports[1 - tx]["rx"]["packets"] == ports[tx]["tx"]["packets"] + wire[tx]["duplicated"] - drops
        live.send("set 0 mtu 2000; start all")
        time.sleep(0.1)
        live.send("stop all; wait all")
        assert live.quit()[0] == 0
    finally:
        print(live.errors()[-2000:])
        live.close()
    assert "is kept" not in log.read_text()


def test_comes_and_goes(tmp_path):
    """Nothing is left of it, and nothing is lost on the way."""
    log = tmp_path / "log"
    once = ("set wire loss every 100; start 0; wait 0; set wire plain; sleep 30ms; start 0; wait 0; set 0 mtu 1400; start 0; wait 0; "
            "set wire delay 1ms; set 0 mtu 1500; start 0; wait 0; set wire plain; sleep 30ms")
    docs = documents(good([*as_json(["-l", str(log)]), "-e", "set 0 count 10000; set 0 rate 1Mpps; " + "; ".join([once] * 8) +
                           "; show stats; show wire"], timeout=120))
    ports, wire = ports_of(docs[0]), wires(docs[1])
    closes(wire[0])
    assert wire[0]["device"] == "off" or wire[0]["waiting"] == 0
    assert ports[0]["tx"]["packets"] == 8 * 40_000
    assert ports[1]["rx"]["packets"] == 8 * 40_000 - wire[0]["lost"]
    assert wire[0]["lost"] >= 8 * 100
    assert wire[0]["flushed"] == 0
    assert "is kept" not in log.read_text()


def test_clear_while_frames_are_inside():
    live = Live([])
    try:
        live.send(f"{WAITS}set wire delay 200ms; set 0 rate 20kpps; start 0")
        for _ in range(60):  # what was inside may be through when it comes to the clear
            live.send("lua inside(100); clear all")
            w = wires(live.ask("show wire"))[0]
            closes(w)
            if w["before"] > 0:
                break
        assert w["before"] > 0
        live.send("stop 0; wait 0")
        w = wires(live.ask("show wire"))[0]
        closes(w)
        assert w["waiting"] == 0
    finally:
        live.close()


def test_ends_with_frames_inside():
    live = Live([])
    try:
        live.send("set wire delay 30s; set wire reorder 1%; set 0 rate 100kpps; start 0")
        wire_until(live, lambda w: w["waiting"] > 1000)
        code, seconds = live.quit(25)
        assert code == 0 and seconds < 20
    finally:
        live.close()


def test_a_restart_throws_away_what_is_inside():
    live = Live([])
    try:
        live.send(f"{WAITS}set wire delay 20s; set 0 rate 100kpps; set 0 count 1000; start 0; lua inside(1000) idle(); set 0 mtu 1600; start 0")
        w = wires(live.ask("show wire"))[0]
        closes(w)
        assert w["flushed"] == 1000
        assert live.quit()[0] == 0
    finally:
        live.close()


def test_saved_and_loaded(tmp_path):
    sets = ["limit 1Gbps/l2 queue 77", "delay normal 1ms 100us", "loss 0.1% burst 8", "duplicate every 9", "reorder 2% by 4",
            "corrupt 3% at 40", "mtu 1400", "fail on", "link down", "flap 10ms every 1s", "order keep", "seed 5"]
    cmds = "; ".join(f"set wire {s}" for s in sets)
    good(["-e", f"{cmds}; save {tmp_path}/a; reset all; load {tmp_path}/a; save {tmp_path}/b"])
    text = (tmp_path / "a").read_text()
    assert text == (tmp_path / "b").read_text()
    for port in (0, 1):
        for s in sets:
            assert f"set {port} wire.{s}\n" in text


def test_memory_is_told():
    docs = documents(good([*as_json([]), "-e", "set wire delay 10ms; set 0 count 10; start 0; wait 0; show plan; show wire"]))
    tasks = [t for w in docs[0]["workers"] for t in w["tasks"] if t["kind"] == "dut"]
    assert {t["from"] for t in tasks} == {0, 1}
    w = wires(docs[1])[0]
    assert tasks[0]["memory_bytes"] == w["room_bytes"] + w["pool_bytes"]
    assert w["room_bytes"] == w["room_wanted_bytes"] > 0.01 * 10e9 / 8
    # more than there can be is told
    r = good(["-e", f"{WAITS}set wire delay 5s; set 0 count 10; set 0 rate 10pps; start 0; lua inside(1); show wire 0"])
    assert "counted as overflow" in r.stderr


def test_a_device_that_cannot_be_made_is_taken_back():
    """No addresses are left for the frames inside: it is told, a start refuses it, and without it the wire is as it was."""
    live = Live([])
    try:
        live.stats()
        with open(f"/proc/{live.pid}/statm") as f:
            size = int(f.read().split()[0]) * resource.getpagesize()
        resource.prlimit(live.pid, resource.RLIMIT_AS, (size + 300_000_000,) * 2)
        live.send("set wire loss 1%")
        wire_until(live, lambda w: w["device"] == "failed")
        live.send("set wire plain; set 0 count 100; set 0 rate 10kpps; start 0; wait 0")
        assert live.stats()[1]["rx"]["packets"] == 100
    finally:
        live.close()
