# SPDX-License-Identifier: BSD-3-Clause
"""Arrivals on real ports: how many frames a time has, what becomes of late ones, and that nothing else changes the rate. Times are not judged here,
but where the program itself says how late it was."""
import os
import signal
import time

import pytest

from harness import lcores, stats

# What 20000 frames/s make of 200 ms.
ARRIVALS = {
    "constant": (["set 0 arrival constant"], 4000),
    "jitter": (["set 0 arrival jitter 30%"], 4000),
    "bursts": (["set 0 arrival burst 80"], 4000),
    "bursts that the end cuts": (["set 0 arrival burst 96"], 42 * 96),
    "bursts with gaps": (["set 0 arrival burst 100 gap 5ms"], 2000),
    "on and off": (["set 0 arrival onoff 10ms 30ms"], 1000),
    "up": (["set 0 rate 10kpps..30kpps over 100ms"], 2000 + 3000),
    "down": (["set 0 rate 30kpps..10kpps over 200ms"], 4000),
    "steps": (["set 0 rate 10kpps..40kpps step 10kpps every 50ms"], 500 + 1000 + 1500 + 2000),
    "steps in percent": (["set 0/0 size 1230", "set 0 rate 1%..2% step 0.5% every 50ms"], 500 + 750 + 2 * 1000),
    "bits up": (["set 0 rate 10Mbps..20Mbps over 200ms", "set 0/0 size 1230"], 300),
    "a large step": (["set 0 rate 10kpps..50kpps step 40kpps every 100ms"], 6000),
}


def sent(doc):
    return doc[0]["run"]["sent"]


@pytest.mark.parametrize("port", ["wire", "null"])
@pytest.mark.parametrize("arrival", ARRIVALS)
def test_frames_of_a_time(port, arrival):
    lines, frames = ARRIVALS[arrival]
    p = stats(["-p", port, "-e", "; ".join(["set 0 rate 20kpps", *lines, "start 0 for 200ms; wait 0; show stats"])])
    assert sent(p) == frames
    assert p[0]["tx"]["packets"] == frames and p[0]["tx"]["unsent"] == 0
    if port == "wire":
        assert p[1]["rx"]["packets"] == frames


@pytest.mark.parametrize("queues", [1, 2, 4])
@pytest.mark.parametrize("arrival", ["constant", "poisson", "burst 32", "jitter 50%", "onoff 1ms 1ms", "burst 16 gap 100us"])
def test_count(queues, arrival):
    """A count is a count, whatever the arrival, on any number of queues."""
    p = stats([*lcores(queues), "-p", "null", "-m", f":1-{queues}.0" if queues > 1 else ":1.0", "-e",
               f"set 0 rate 50kpps; set 0 count 5000; set 0 arrival {arrival}; start 0; wait 0; show stats"])
    assert sent(p) == 5000
    assert sum(q["tx"]["packets"] for q in p[0]["queues"]) == 5000


def test_poisson_repeats():
    """The same process each time, and another one with another seed: about as many frames as the rate says, and the same number again."""
    def run(arrival):
        return sent(stats(["-p", "null", "-e", f"set 0 rate 50kpps; set 0 arrival {arrival}; start 0 for 200ms; wait 0; show stats"]))

    first = [run("poisson"), run("poisson seed 1"), run("poisson seed 2")]
    assert all(9500 < n < 10500 for n in first)  # five standard deviations
    assert len(set(first)) > 1
    # conversions from ns to cycles differ by what the clock learned: at most a frame at the end
    assert abs(run("poisson") - first[0]) <= 1 and abs(run("poisson seed 1") - first[1]) <= 1


def test_streams_with_rates_of_their_own():
    p = stats(["-p", "wire", "-e", "; ".join([
        "stream add 0 3", "set 0 rate 10kpps", "set 0/1 rate 5kpps", "set 0/1 arrival burst 50", "set 0/2 rate 1kpps..3kpps over 200ms",
        "set 0/3 rate 8Mbps", "set 0/3 arrival onoff 10ms 10ms", "set 0/3 size 230", "start 0 for 200ms; wait 0; show stats"])])
    assert sent(p) == 2000 + 1000 + 400 + 400
    assert p[1]["rx"]["packets"] == sent(p)


def idle(p):
    return p.until(lambda ports: ports[0]["run"]["state"] == "idle", 30)[0][0]


def stopped(p, lines, seconds="2s"):
    """Port 0 behind a run that had no CPU at all for 200 ms."""
    for line in lines:
        p.send(line)
    p.send(f"start 0 for {seconds}")
    p.until(lambda ports: ports[0]["run"]["sent"] > 100, 10)
    os.kill(p.pid, signal.SIGSTOP)
    time.sleep(0.2)
    os.kill(p.pid, signal.SIGCONT)
    return idle(p)


@pytest.mark.parametrize("arrival", ["constant", "burst 64", "jitter 50%", "onoff 1ms 1ms"])
def test_skip(live, arrival):
    asked = 20000 if arrival == "onoff 1ms 1ms" else 40000
    port = stopped(live(["-p", "null"]), ["set 0 rate 20kpps", f"set 0 arrival {arrival}", "set 0 catchup skip", "set 0 lag 50ms"])
    want = asked + (asked % 64 and 64 - asked % 64) if arrival == "burst 64" else asked
    assert port["run"]["sent"] + port["tx"]["unsent"] == want
    assert port["tx"]["unsent"] > 0
    assert port["tx"]["lateness_ns"]["max"] < 60e6  # nothing that was later than the limit was sent; to 1/64, and the frame's own slot


def test_keep(live):
    port = stopped(live(["-p", "null"]), ["set 0 rate 20kpps", "set 0 catchup keep"])
    assert port["run"]["sent"] == 40000 and port["tx"]["unsent"] == 0
    assert port["tx"]["late"] > 3000  # most of the 4000 frames of 200 ms
    assert port["tx"]["lateness_ns"]["max"] > 100e6


def test_default(live):
    """What is missing behind a stall comes back a tenth faster than asked, so that some of a short run is not sent."""
    port = stopped(live(["-p", "null"]), ["set 0 rate 20kpps"], "1s")
    assert port["run"]["sent"] + port["run"]["unsent"] == 20000
    assert port["run"]["unsent"] > 0 and port["tx"]["unsent"] == port["run"]["unsent"]
    assert port["tx"]["late"] > 1000


def test_overspeed(live):
    port = stopped(live(["-p", "null"]), ["set 0 rate 20kpps", "set 0 catchup overspeed 20%"], "3s")
    assert port["run"]["sent"] + port["tx"]["unsent"] == 60000
    assert port["tx"]["late"] > 3000


def test_clear(live):
    p = live(["-p", "null"])
    for line in ("set 0 rate 10kpps", "start 0 for 100ms"):
        p.send(line)
    before = idle(p)["tx"]
    assert before["lateness_ns"]["bursts"] == before["bursts"] > 0
    p.send("clear 0")
    after = p.stats()[0]["tx"]
    assert after["lateness_ns"] is None and after["late"] == 0


@pytest.mark.parametrize("lines", [[], ["set 0/0 size imix"], ["set 0/0 frame eth/ipv4/udp", "set 0/0 udp.src 1..65535"],
                                   ["stream add 0 7", "set 0/3 size 1500"]])
def test_rate_in_frames_is_that_whatever_they_are(lines):
    p = stats(["-p", "wire", "-e", "; ".join([*lines, "set 0 rate 30kpps", "start 0 for 100ms; wait 0; show stats"])])
    assert sent(p) == 3000


@pytest.mark.parametrize("pps", [1, 10])
def test_slow(pps):
    """Each frame within a millisecond of its time, or counted as late; one call of the driver for each, whatever the burst."""
    p = stats(["-p", "null", "-e", f"set 0 burst 512; set 0 rate {pps}pps; start 0 for 2s; wait 0; show stats"])[0]
    assert p["run"]["sent"] == 2 * pps
    assert p["tx"]["bursts"] >= p["run"]["sent"] - p["tx"]["late"]
    assert p["tx"]["lateness_ns"]["bursts"] == p["tx"]["bursts"]
    assert p["tx"]["late"] > 0 or p["tx"]["lateness_ns"]["max"] <= 1.02e6
