# SPDX-License-Identifier: BSD-3-Clause
"""Exact counts on the built-in wire: every frame that is sent arrives, on the queue that it belongs to."""
import os
import signal
import time

import pytest

import harness
from harness import Held, Live, as_json, documents, good, lcores, ports_of, run, stats

MILLION = 1_000_000

# Tx queues of port 0, Rx queues of port 1, maps, workers
SHAPES = {
    "1q": (1, 1, ["1:2.0", "3:4.1"], 4),
    "2q": (2, 2, ["1:2-3.0*2", "4:4.1*2"], 4),
    "4q": (4, 4, ["1:2-5.0*4", "6:6.1*4"], 6),
    "2q-1rx": (2, 1, ["1:2-3.0", "4:4.1"], 4),
    "4q-1rx": (4, 1, ["1:2-5.0", "6:6.1"], 6),
    "4q-1worker": (4, 4, ["1:2.0*4", "3:3.1*4"], 3),
    "2q-1worker-1rx": (2, 1, ["1:1.0*2", "2:2.1"], 2),
}


def args_of(shape, one_cpu):
    _, _, maps, workers = SHAPES[shape]
    args = lcores(workers, one_cpu)
    for m in maps:
        args += ["-m", m]
    return args


def share(count, queues, q):
    """Frames of queue q when it sends every k with k mod queues == q."""
    return (count - q + queues - 1) // queues


def check(ports, count, ntx, nrx):
    tx, rx = ports[0]["tx"], ports[1]["rx"]
    assert rx["packets"] == count
    assert tx["packets"] == count
    assert tx["bytes"] == rx["bytes"]
    assert tx["dropped"] == 0 and tx["errors"] == 0
    assert rx["missed"] == 0 and rx["nombuf"] == 0 and rx["errors"] == 0
    assert ports[0]["run"]["sent"] == count
    assert ports[0]["run"]["state"] == "idle"
    sent = {q["queue"]: q["tx"]["packets"] for q in ports[0]["queues"] if "tx" in q}
    assert sent == {q: share(count, ntx, q) for q in range(ntx)}
    got = {q["queue"]: q["rx"]["packets"] for q in ports[1]["queues"] if "rx" in q}
    want = dict.fromkeys(range(nrx), 0)
    for q in range(ntx):
        want[q % nrx] += sent[q]
    assert got == want


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rate,rounds,one_cpu", [("max", 2, False), ("max", 2, True), ("10%", 1, False), ("1Mpps", 1, False)],
                         ids=["max-spread", "max-one-cpu", "10%", "1Mpps"])
def test_a_million(shape, one_cpu, rate, rounds):
    """Of all, where nothing but CPUs sets the pace. Where a rate does, or one worker takes what several send, a fifth goes round all rings
    many times."""
    ntx, nrx, _, _ = SHAPES[shape]
    count = MILLION if rate == "max" and ntx == nrx else MILLION // 5
    once = "clear all; start 0; wait 0; show stats"
    cmds = f"set 0 rate {rate}; set 0 count {count}; " + "; ".join([once] * rounds)
    args = args_of(shape, one_cpu)
    r = good([*as_json(args), "-e", cmds], timeout=300)
    docs = documents(r)
    assert len(docs) == rounds
    for doc in docs:
        check(ports_of(doc), count, ntx, nrx)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 31, 33, 1_000_003])
def test_counts_that_do_not_divide(count):
    args = args_of("4q", False)
    check(stats([*args, "-e", f"set 0 rate max; set 0 count {count}; start 0; wait 0; show stats"]), count, 4, 4)


@pytest.mark.parametrize("ntx,nrx", [(16, 16), (16, 1), (1, 16), (7, 3)])
def test_many_queues(ntx, nrx):
    args = [*lcores(2), "-m", f":1.0*{ntx}", "-m", "1:.0", "-m", f"2:.1*{nrx}", "-m", ":2.1"]
    check(stats([*args, "-e", "set 0 rate max; set 0 count 100003; start 0; wait 0; show stats"]), 100_003, ntx, nrx)


def test_the_default_is_a_wire():
    ports = stats(["-e", "set 0 count 1000; start 0; wait 0; show stats"])
    assert sorted(ports) == [0, 1]
    assert ports[1]["rx"]["packets"] == 1000
    assert ports[0]["link"] == "up" and ports[0]["speed_mbps"] == 10000


@pytest.mark.parametrize("shape", ["1q", "2q", "4q"])
def test_for_sends_the_frames_due_in_that_time(shape):
    args = args_of(shape, False)
    cmds = "set 0 catchup keep; set 0 rate 100kpps; start 0 for 100ms; wait 0; show stats; " \
           "clear all; set 0 size 64; set 0 rate 10%; start 0 for 10ms; wait 0; show stats"
    for _ in range(30):  # where the machine stands still for 100 ms at the end, frames stay unsent, and are counted
        docs = documents(good([*as_json(args), "-e", cmds]))
        unsent = [ports_of(doc)[0]["tx"]["unsent"] for doc in docs]
        assert [ports_of(doc)[0]["run"]["sent"] + n for doc, n in zip(docs, unsent)] == [10_000, 14_881]
        if unsent == [0, 0]:
            break
    check(ports_of(docs[0]), 10_000, SHAPES[shape][0], SHAPES[shape][1])
    # 84 bytes on a wire of 10 Gbit/s, every tenth: 672 ns apart; 14881 of them begin before 10 ms
    check(ports_of(docs[1]), 14_881, SHAPES[shape][0], SHAPES[shape][1])


def test_count_and_for_whichever_is_first():
    ports = stats(["-e", "set 0 rate 100kpps; set 0 count 500; start 0 for 1s; wait 0; set 1 rate 100kpps; set 1 count 500000; "
                   "start 1 for 10ms; wait 1; show stats"])
    assert ports[1]["rx"]["packets"] == 500
    assert ports[0]["rx"]["packets"] == 1000


def test_stop_in_between_and_count_is_per_start(live):
    w: Live = live([])
    w.send("set 0 rate 20kpps; set 0 count 1000000; start 0")
    w.more(1000)
    w.send("stop 0; wait 0")
    first = w.stats(20)
    w.send("set 0 rate max; set 0 count 50000; start 0; wait 0")
    second = w.stats(20)
    assert w.quit()[0] == 0
    stopped = first[0]["tx"]["packets"]
    assert 1000 <= stopped < 1000000
    assert first[0]["run"]["sent"] == stopped
    assert first[1]["rx"]["packets"] == stopped
    assert second[0]["run"]["sent"] == 50000
    assert second[0]["tx"]["packets"] == stopped + 50000
    assert second[1]["rx"]["packets"] == stopped + 50000


def test_stop_at_max_loses_nothing_unnamed():
    args = args_of("4q", False)
    docs = documents(good([*as_json(args), "-e", "set 0 rate max; " +
                           "; ".join(["start 0; sleep 20ms; stop 0; wait 0; show stats"] * 10)]))
    for doc in docs:
        ports = ports_of(doc)
        assert ports[0]["tx"]["packets"] == ports[1]["rx"]["packets"]
    assert ports[0]["tx"]["packets"] > 0


def test_stop_waits_for_those_who_had_no_cpu(live):
    """The program stands still for longer than `stop` waits, and its control comes first when it goes on: what follows finds the port idle."""
    for _ in range(30):
        w: Live = live(["-p", "null"])
        w.send("set 0 rate 1kpps; start 0")
        w.more(10)
        with Held(w.pid):
            w.send("stop 0; show stats")
            begin = time.monotonic()
            time.sleep(0.1)
            os.kill(w.pid, signal.SIGSTOP)
            stopped = time.monotonic()
            time.sleep(1.2)
            begin += time.monotonic() - stopped
            os.kill(w.pid, signal.SIGCONT)
            time.sleep(0.1)
        ran = time.monotonic() - begin
        state = ports_of(harness.document(w.line()))[0]["run"]["state"]
        assert w.quit()[0] == 0
        if ran < 0.5:  # of the second
            assert state == "idle"
            return
    pytest.fail("no try was in time")


def test_two_ports_of_one_start():
    ports = stats(["-e", "set all rate 1Mpps; set 0 count 30000; set 1 count 40000; start all; wait all; show stats"])
    assert ports[0]["tx"]["packets"] == ports[1]["rx"]["packets"] == 30000
    assert ports[1]["tx"]["packets"] == ports[0]["rx"]["packets"] == 40000


def test_start_on_a_sending_port_is_refused(run):
    cmds = "set all rate 1Mpps; set all count 300000; start 0; start 0; start 0-1; wait 0; show stats"
    r = run(["--json", "-k", "-e", cmds])
    assert r.returncode == 2, r.stderr
    ports = ports_of(documents(r)[-1])
    assert ports[1]["rx"]["packets"] == 300000
    assert ports[0]["run"]["sent"] == 300000
    # refused as a whole: port 1 did not start either
    assert ports[1]["tx"]["packets"] == 0
    assert run(["-e", cmds]).returncode == 2


def test_changes_while_sending_keep_the_total(live):
    for shape in ("1q", "4q"):
        w: Live = live(args_of(shape, False))
        w.send("set 0 frame eth/ipv4/udp; set 0 size 64; set 0 rate 20kpps; set 0 count 300000; start 0")
        least = w.more(1000)[0]["tx"]["packets"]
        w.send("set 0 size 128")
        most = w.more(1000)[0]["tx"]["packets"]
        for line in ("set 0 rate 50kpps", "set 0 udp.dst 7000"):
            w.send(line)
            w.more(1000)
        w.send("set 0 rate max; wait 0")
        ports = w.stats(20)
        assert ports[1]["rx"]["packets"] == 300000
        assert ports[0]["run"]["sent"] == 300000
        assert ports[0]["tx"]["bytes"] == ports[1]["rx"]["bytes"]
        # those that left before the size changed
        assert least <= (300000 * 128 - ports[1]["rx"]["bytes"]) / 64 < most < 300000
        assert w.quit()[0] == 0


@pytest.mark.alone("judges when a rate is reached, which a worker that shares its CPU may never do")
def test_a_change_is_adopted_without_a_gap(live):
    w = live([])
    w.send("set 0 size 64; set 0 rate 10kpps; start 0")
    w.until(lambda p: p[0]["tx"]["packets"] > 100, 20)
    w.send("set 0 rate 50kpps")
    ports, _ = w.until(lambda p: (p[0]["tx"]["pps"] or 0) > 40000, 20)
    assert ports[0]["run"]["state"] == "sending"
    w.send("stop 0; wait 0")
    ports = w.stats()
    assert ports[0]["run"]["state"] == "idle"
    assert ports[0]["tx"]["packets"] == ports[1]["rx"]["packets"] == ports[0]["run"]["sent"]
    assert w.quit()[0] == 0


def test_clear():
    docs = documents(good(["--json", "-e", "set 0 count 1000; start 0; wait 0; clear 0; show stats; clear 1; show stats; "
                                           "start 0; wait 0; show stats"]))
    a, b, c = (ports_of(d) for d in docs)
    assert a[0]["tx"]["packets"] == 0 and a[1]["rx"]["packets"] == 1000
    assert b[1]["rx"]["packets"] == 0 and b[1]["rx"]["bytes"] == 0
    assert all(q["rx"]["packets"] == 0 for q in b[1]["queues"])
    assert c[0]["tx"]["packets"] == c[1]["rx"]["packets"] == 1000


NO_SIZES = {"0-63": 0, "64": 0, "65-127": 0, "128-255": 0, "256-511": 0, "512-1023": 0, "1024-1522": 0, "1523-": 0}


@pytest.mark.parametrize("shape", ["1q", "2q-1rx", "4q-1worker"])
@pytest.mark.parametrize("rate", ["max", "500kpps"])
def test_sizes_are_counted(shape, rate):
    """What is sent of each size arrives; also of several streams, one of them with a rate of its own."""
    cmds = (f"set 0 size 64:3,65:1,127:1,128:1,255:1,256:1,511:1,512:1,1023:1,1024:1,1518:3; set 0 rate {rate}; set 0 count 15000; start 0; wait 0;"
            "show stats; clear 0; show stats; stream add 0 2; set 0/1 size 200; set 0/2 size 64,1500; set 0/2 rate 100kpps; set 0/2 count 999;"
            "set 0 count 0; set 0/0 count 1500; set 0/1 count 700; clear all; start 0; wait 0; show stats; clear all; show stats")
    docs = documents(good([*as_json(args_of(shape, False)), "-e", cmds]))
    a, b, c, d = (ports_of(doc) for doc in docs if doc.get("show") == "stats")
    assert a[0]["tx"]["sizes"] == a[1]["rx"]["sizes"] == {
        "0-63": 0, "64": 3000, "65-127": 2000, "128-255": 2000, "256-511": 2000, "512-1023": 2000, "1024-1522": 4000, "1523-": 0}
    assert b[0]["tx"]["sizes"] == NO_SIZES and b[1]["rx"]["sizes"] == a[1]["rx"]["sizes"]
    assert c[0]["tx"]["sizes"] == c[1]["rx"]["sizes"] == {
        "0-63": 0, "64": 300 + 500, "65-127": 200, "128-255": 200 + 700, "256-511": 200, "512-1023": 200, "1024-1522": 400 + 499, "1523-": 0}
    assert d[0]["tx"]["sizes"] == d[1]["rx"]["sizes"] == NO_SIZES


def test_group_addresses_are_counted():
    """Whether the sender can say to whom all frames are, as in the first runs, or they must be looked at."""
    cmds = ["set 0 count 1000; set 0 rate max"]
    for dst in ("", "set 0 eth.dst ff:ff:ff:ff:ff:ff", "set 0 eth.dst 01:00:5e:01:02:03", "set 0 eth.dst ff:ff:ff:ff:ff:fe..ff:ff:ff:ff:ff:ff",
                "set 0 eth.dst 02:00:00:00:00:00..03:ff:ff:ff:ff:ff step 0x10000000000", "set 0 eth.dst 02:00:00:00:00:01"):
        cmds += [dst, "start 0; wait 0; show stats; clear all"]
    docs = documents(good(["--json", "-e", "; ".join(filter(None, cmds))]))
    got = [(p[1]["rx"]["broadcast"], p[1]["rx"]["multicast"], p[1]["rx"]["packets"]) for p in map(ports_of, docs)]
    assert got == [(0, 0, 1000), (1000, 0, 1000), (0, 1000, 1000), (500, 500, 1000), (0, 500, 1000), (0, 0, 1000)]


def test_bursts_are_counted():
    ports = stats(["-e", "set 0 count 100000; set 0 burst 32; set 0 rate max; start 0; wait 0; show stats"])
    tx, rx = ports[0]["queues"][0]["tx"], ports[1]["queues"][0]["rx"]
    assert 100_000 // 32 <= tx["bursts"] <= 100_000 and 0 < rx["bursts"] <= 100_000
    assert rx["full"] <= rx["bursts"]
    assert ports[0]["tx"]["bursts"] == tx["bursts"] and ports[1]["rx"]["full"] == rx["full"]


def test_maxima_and_history(live):
    """Of full intervals, each port for itself; `clear` begins the maxima anew and leaves the history."""
    w: Live = live(["-e", "set 0 rate 20kpps"])
    w.send("start 0")
    ports = w.until(lambda p: len(p[0]["history"]["tx_pps"]) >= 3 and p[0]["tx"]["pps"] and p[0]["queues"][0]["tx"]["cycles_per_burst"], 20)[0]
    for port, side, other in ((0, "tx", "rx"), (1, "rx", "tx")):
        history, most = ports[port]["history"], ports[port]["max"]
        assert len({len(history[k]) for k in ("tx_pps", "rx_pps", "tx_l1_bps", "rx_l1_bps")}) == 1
        assert history["interval_ns"] == 1_000_000_000
        assert most[side]["pps"] == max(history[f"{side}_pps"]) > 0
        assert most[side]["l1_bps"] == max(history[f"{side}_l1_bps"]) > 0
        assert most[other] == {"pps": 0, "l1_bps": 0} and set(history[f"{other}_pps"]) == {0}
        assert history[f"{side}_pps"][-1] == ports[port][side]["pps"]
    run, queue = ports[0]["run"], ports[0]["queues"][0]["tx"]
    assert run["asked_pps"] == 20_000 and run["asked_l1_bps"] == 20_000 * 84 * 8
    assert queue["cycles_per_burst"] > 0 and queue["dropped_pps"] == queue["nombuf_per_s"] == 0
    before = ports[0]["tx"]["packets"]
    ports = ports_of(w.ask("clear all; show stats"))
    assert ports[0]["tx"]["packets"] < before
    assert ports[0]["max"]["tx"] == {"pps": 0, "l1_bps": 0} and len(ports[0]["history"]["tx_pps"]) >= 3
    ports = w.until(lambda p: p[0]["max"]["tx"]["pps"] > 0, 20)[0]
    w.send("stop 0")
    assert w.quit()[0] == 0


def test_workers_tell_their_load(live):
    w: Live = live(["-e", "set 0 rate 100kpps"])
    w.send("start 0")
    w.until(lambda p: len(p[1]["history"]["rx_pps"]) >= 2, 20)
    for _ in range(20):  # one that had no CPU for a second had no load
        workers = {x["lcore"]: x for x in w.ask("show stats")["workers"]}
        if sum(x["pps"] for x in workers.values()) > 0:
            break
        time.sleep(0.5)
    assert sum(x["pps"] for x in workers.values()) > 0
    for x in workers.values():
        assert x["loops_per_s"] >= 0 and x["stalls_per_s"] >= 0
        assert x["wait"] is None or 0 <= x["wait"] <= 1
        assert (x["cycles_per_packet"] is None) == (x["pps"] == 0)
    w.send("stop 0")
    assert w.quit()[0] == 0


def test_reset_brings_the_defaults_back():
    ports = stats(["-e", "set 0 count 10; set 0 size 1000; set 0 rate 1kpps; reset 0; start 0 for 5ms; wait 0; show stats"])
    sent = ports[0]["tx"]["packets"]
    assert sent > 1000
    assert ports[0]["tx"]["bytes"] == sent * 64


def test_null_takes_frames():
    ports = stats(["-p", "null", "-e", "set 0 rate max; set 0 count 1000000; start 0; wait 0; show stats"])
    assert ports[0]["tx"]["packets"] == MILLION
    assert ports[0]["rx"]["packets"] == 0


def test_several_wires_and_nulls():
    ports = stats(["-p", "wire", "-p", "null", "-p", "wire", "-e",
                   "set all rate max; set all count 1000; start all; wait all; show stats"])
    assert sorted(ports) == [0, 1, 2, 3, 4]
    assert [ports[p]["rx"]["packets"] for p in range(5)] == [1000, 1000, 0, 1000, 1000]


@pytest.mark.parametrize("size", [64, 65, 128, 512, 1024, 1518])
def test_sizes_include_the_fcs(size):
    ports = stats(["-e", f"set 0 size {size}; set 0 count 1000; start 0; wait 0; show stats"])
    assert ports[0]["tx"]["bytes"] == ports[1]["rx"]["bytes"] == size * 1000


def test_a_run_in_sight(live):
    """Counters grow while sending, the rate of the last second is near what was asked, and end and sum agree."""
    w: Live = live(["-e", "set 0 rate 20kpps"])
    begin = time.monotonic()
    w.send("start 0 for 4s")
    seen = w.until(lambda p: p[0]["run"]["state"] == "sending" and (p[0]["tx"]["pps"] or 0) > 0, 20)[0]
    assert seen[0]["run"]["asked_pps"] == pytest.approx(20000)
    w.send("wait 0")
    ports = w.stats(20)
    took = time.monotonic() - begin
    # a machine that stood still within the last second leaves some that were due
    sent = ports[0]["run"]["sent"]
    assert ports[1]["rx"]["packets"] == sent == 80000 - ports[0]["tx"]["unsent"]
    # the last frame leaves 50 us before the end, or as soon as there is a CPU
    assert 3.99 < ports[0]["run"]["duration_ns"] / 1e9 < took
    assert ports[0]["run"]["mean_pps"] * ports[0]["run"]["duration_ns"] == pytest.approx(sent * 1e9, rel=0.01)


def test_a_full_ring_is_not_waited_for_for_ever():
    """Nobody receives: one ring of frames is taken, then none. wait says so and ends, and so does the end of input."""
    r = run(["-m", ":1.0", "-b", "--json", "-e", "set 0 rate max; set 0 count 5000; start 0; wait 0; show stats"], timeout=60)
    assert r.returncode == 1, r.stderr
    assert "taken no frame for 10 s" in r.stderr
    port = ports_of(documents(r)[-1])[0]
    assert port["run"]["state"] in ("sending", "draining")
    assert port["tx"]["packets"] < 5000 and port["tx"]["stalls"] > 0
