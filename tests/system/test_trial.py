# SPDX-License-Identifier: BSD-3-Clause
"""Trials: every frame has a fate, and a tester that could not do what was asked never says `valid`."""
import os
import signal
import subprocess
import sys
import time

import pytest

import harness
from harness import documents, good, lcores, run

VERDICTS = ("valid", "counters-disagree", "link-changed", "clock-suspect", "preempted", "tester-limited")
FATES = ("received", "not_accepted", "tx_errors", "unconfirmed", "rx_missed", "rx_nombuf", "rx_errors", "corrupted", "late", "unknown", "lost")
# On a machine that others use too: all frames are sent, however late, and the verdict is of the counters alone.
ANYTHING = harness.COUNTERS_ALONE + "set trial.overtime 1h; set trial.resolution 1h; "
# What must happen while a trial sends is tried so often: a machine may stand still until it is over.
TRIES = 5
UDP = "set all frame eth/ipv4/udp; "
# Seconds of each trial of the rates, and frames: as the rate is promised (10, 1000), or in passing.
FULL = os.environ.get("WIRERATE_TRIALS") == "full"


def closed(t):
    """The sums of a trial, in all and of each direction."""
    assert t["verdict"] in VERDICTS and t["verdict"] == (t["reasons"] + ["valid"])[0]
    assert len(t["why"]) == len(t["reasons"])
    for part in [t, *t["directions"]]:
        f = part["fates"]
        assert sum(f[k] or 0 for k in FATES) == f["sent"] + f["excess"], f
        assert (f["excess"] == 0 and f["untold"] == 0) or "counters-disagree" in t["reasons"]
        assert f["unknown"] == 0 or ("counters-disagree" in t["reasons"] and part["loss_ratio"] is None)
        assert (f["duplicated"] is None) == (part["told_by"] == "counters")
    for key in ("sent", "received", "lost"):
        assert t["fates"][key] == sum(d["fates"][key] for d in t["directions"])
    return t


def trials(args, code=(0, 1, 4), **kw):
    r = run(harness.as_json(args), **kw)
    assert r.returncode in code, r.stderr + r.stdout
    return [closed(d["trial"]) for d in documents(r)]


def while_it_sends(args, line, what, **kw):
    """A trial, while whose frames were sent what(program) began and ended."""
    for _ in range(TRIES):
        w = harness.Live(["--json-stream", *args], **kw)
        try:
            w.send(line)
            with harness.bounded(w.proc):  # there is a line each second, whatever becomes of the trial
                seen = [harness.document(w.line(20))]
                while seen[-1].get("state") != "sending":
                    seen.append(harness.document(w.line(20)))
                what(w)
                while w.ready():
                    seen.append(harness.document(w.line(20)))
                over = "idle" in [x.get("state") for x in seen]
                while seen[-1].get("event") != "trial":
                    seen.append(harness.document(w.line(20)))
        finally:
            w.close()
        if not over:
            return closed(seen[-1]["trial"])
    pytest.fail("the trial was always over too early")


# ---- what it counts ----

@pytest.mark.alone("its verdict")
@pytest.mark.parametrize("frame", ["tcp", "udp"])
@pytest.mark.parametrize("rate", ["1kpps", "1%", "100kpps"])
def test_a_wire_loses_nothing(frame, rate):
    (t,) = trials(["-p", "wire", "-e", f"set all frame eth/ipv4/{frame}; {ANYTHING} trial 0-1 rate {rate} for 200ms max-loss 0"], code=(0,))
    assert t["verdict"] == "valid"
    assert t["told_by"] == ("probes" if frame == "udp" else "counters")
    assert [(d["from"], d["to"]) for d in t["directions"]] == [([0], [1]), ([1], [0])]
    for d in t["directions"]:
        assert d["fates"]["received"] == d["fates"]["sent"] == d["intended_frames"] - d["unsent"]
    assert (t["latency"] is None) == (frame == "tcp")
    if frame == "udp":
        assert t["latency"]["actual"]["samples"] == t["fates"]["received"]


def test_null_loses_everything():
    (t,) = trials(["-p", "null", "-e", ANYTHING + "trial 0 rate 10kpps for 100ms"], code=(0,))
    assert t["directions"][0]["from"] == t["directions"][0]["to"] == [0]
    assert t["fates"]["lost"] == t["fates"]["sent"] > 0
    assert t["loss_ratio"] == 1


def test_one_after_the_other():
    """Each counts its own frames, whatever was sent before, and leaves settings as they were."""
    script = UDP + ANYTHING + "set 0 rate 5%; set 0 count 3; start 0; wait 0; " + "trial 0 rate 20kpps for 50ms; " * 3 + "start 0; wait 0; show stats"
    r = good(harness.as_json(["-b", "-p", "wire", "-e", script]))
    docs = documents(r)
    for d in docs[:3]:
        t = closed(d["trial"])
        assert t["intended_frames"] == 1000
        assert t["fates"]["received"] == t["fates"]["sent"]
    ports = harness.ports_of(docs[3])
    assert ports[0]["run"]["sent"] == 3
    assert ports[0]["tx"]["packets"] == ports[1]["rx"]["packets"] == 6 + sum(d["trial"]["fates"]["sent"] for d in docs[:3])


def test_the_last_frames_are_waited_for():
    """As the RFC has it: 2 s for the residue, 5 s to settle."""
    begin = time.monotonic()
    (t,) = trials(["-p", "wire", "-e", ANYTHING + "set trial rfc2544; set trial.learn 3; trial 0 rate 1kpps for 10ms"], code=(0,))
    assert time.monotonic() - begin > 9
    assert t["limits"]["drain_min_ns"] == 2_000_000_000 and t["limits"]["settle_ns"] == 5_000_000_000
    assert t["fates"]["received"] == t["fates"]["sent"] and t["fates"]["late"] == 0


def test_exit_codes():
    assert run(["-b", "-p", "wire", "-e", ANYTHING + "trial 0 rate 1kpps for 20ms max-loss 0"]).returncode == 0
    assert run(["-b", "-p", "null", "-e", ANYTHING + "trial 0 rate 1kpps for 20ms max-loss 99.9%"]).returncode == 1
    assert run(["-b", "-p", "null", "-e", ANYTHING + "trial 0 rate 1kpps for 20ms max-loss 100%"]).returncode == 0
    assert run(["-b", "-p", "wire", "-e", "set trial.max-clock 0; trial 0 rate 1kpps for 20ms"]).returncode == 4
    assert run(["-p", "wire", "trial", "0", "rate", "1kpps"]).returncode == 2


def test_every_class_of_a_scripted_device():
    """What the wire says that it did to the frames is what their probes tell."""
    script = ("set 1 verify on; set wire loss 1%; set wire duplicate 0.5%; set wire corrupt 0.3%; set wire reorder '1% by 3'; "
              "trial 0 rate 50kpps for 1s; show wire")
    docs = documents(good(harness.as_json(["-p", "wire", "-e", UDP + ANYTHING + script])))
    t, wire = closed(docs[0]["trial"]), docs[1]["ports"][0]
    f = t["fates"]
    assert t["told_by"] == "probes" and t["inexact"] is None
    assert wire["in"] == f["sent"] - f["not_accepted"]
    for name in ("lost", "duplicated", "corrupted"):
        assert f[name] == wire[name] > 0, name
    # Of those that arrive whole.
    assert abs(wire["reordered"] - f["reordered"]) <= f["corrupted"] + f["duplicated"]


def test_damage_is_told_as_far_as_it_is_looked_for():
    """Without `verify` only damaged probes are seen, and the result says so; with it each damaged frame is."""
    plain = UDP + ANYTHING + "set wire corrupt every 10; trial 0 rate 50kpps for 200ms"
    verified = "set 1 verify on; " + plain
    (t,) = trials(["-p", "wire", "-e", verified])
    assert t["verified"] is True and t["fates"]["corrupted"] == t["fates"]["sent"] // 10
    (t,) = trials(["-p", "wire", "-e", plain])
    assert t["verified"] is False and 0 < t["fates"]["corrupted"] < t["fates"]["sent"] // 10
    (t,) = trials(["-p", "wire", "-e", "set all frame eth/arp; " + ANYTHING + "trial 0 rate 1kpps for 50ms"])
    assert t["verified"] is None
    text = run(["-p", "wire", "-b", "-e", plain]).stdout
    assert "only frames whose probe is damaged" in text
    text = run(["-p", "wire", "-b", "-e", verified]).stdout
    assert "only frames whose probe is damaged" not in text


def test_frames_of_the_trial_before_are_not_counted():
    """A device that holds frames for longer than a trial waits: they are lost to it, and not found by the next."""
    first, second, t = trials(["-p", "wire", "-e", UDP + ANYTHING + "set trial.drain-max 150ms; set wire delay 4s; " +
                               "trial 0 rate 1kpps for 50ms; " * 2 + "set trial.drain-max 30s; trial 0 rate 1kpps for 50ms"])
    for early in (first, second):
        assert early["fates"]["received"] == 0 and early["fates"]["lost"] == early["fates"]["sent"] > 0
    assert t["fates"]["received"] == t["fates"]["sent"] > 0
    assert t["latency"]["actual"]["percentiles_ns"]["p50"] >= 3_999_000_000


# ---- who is never valid ----

@pytest.mark.alone("its verdict")
def test_a_device_that_takes_less():
    """Nobody empties the far end: one ring of frames goes in, then none."""
    (t,) = trials([*lcores(1), "-p", "wire", "-m", "1.0", "-m", "[:1].1", "-e", "trial 0 to 0 rate 1Mpps for 100ms"], code=(4,))
    assert "tester-limited" in t["reasons"] and t["unsent"] > 0
    assert t["fates"]["sent"] + t["unsent"] == 100_000
    (t,) = trials([*lcores(1), "-p", "wire", "-m", "1.0", "-m", "[:1].1", "-e", "trial 0 to 0 rate max for 100ms"], code=(4,))
    assert "tester-limited" in t["reasons"]


@pytest.mark.alone("its verdict")
def test_a_rate_that_nobody_reaches():
    (t,) = trials(["-p", "wire", "-e", "set 0 speed 400G; trial 0 rate 100% for 100ms"], code=(4,))
    assert "tester-limited" in t["reasons"]
    assert t["fates"]["received"] == t["fates"]["sent"] - t["fates"]["not_accepted"]
    # Its time was not stretched: what it could not send in it was left.
    assert t["fates"]["sent"] < t["intended_frames"]


@pytest.mark.alone("its verdict")
def test_a_pool_too_small():
    """Every frame is on its way in a burst of 64, so that a pool of as many is empty while they are; and no worker builds so many frames a second."""
    (t,) = trials([*lcores(2), "--mbufs", "64", "-p", "wire", "-m", "1.0", "-m", "2.1", "-e", "set 0 burst 64; trial 0 rate 500Mpps for 100ms"],
                  code=(4,))
    assert "tester-limited" in t["reasons"]
    assert t["fates"]["received"] == t["fates"]["sent"] < t["intended_frames"]


@pytest.mark.alone("its verdict")
@pytest.mark.parametrize("stall", ["", "set stall 10s; "], ids=["", "stalls-of-10s"])
def test_the_process_stopped(stall):
    def stopped(w):
        time.sleep(0.2)
        os.kill(w.pid, signal.SIGSTOP)
        time.sleep(0.2)
        os.kill(w.pid, signal.SIGCONT)

    t = while_it_sends(["-p", "wire"], UDP + stall + "trial 0 rate 10kpps for 1s", stopped)
    assert t["verdict"] == "preempted"
    assert max(x["longest_ns"] for x in t["workers"]) > 100_000_000
    assert t["fates"]["received"] == t["fates"]["sent"]


@pytest.mark.alone("its verdict")
def test_a_busy_neighbour():
    cpu = harness.cpus()[-1]
    code = f"import os\nos.sched_setaffinity(0, {{{cpu}}})\nprint(flush=True)\nwhile True: pass"
    spin = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for p in spin:
            assert p.stdout.readline()
        (t,) = trials(["--lcores", f"0@{harness.cpus()[0]},1@{cpu}", "--", "-p", "wire", "-e", UDP + "trial 0 rate 10kpps for 500ms"], code=(4,))
    finally:
        for p in spin:
            p.kill()
            p.communicate()
    assert t["verdict"] == "preempted"
    (w,) = t["workers"]
    assert w["waited_ns"] is None or w["waited_share"] > 0.05


@pytest.mark.alone("its verdict")
def test_a_clock_that_moved():
    (t,) = trials(["-p", "wire", "-e", "set trial.max-clock 0; trial 0 rate 1kpps for 50ms"], code=(4,))
    assert t["verdict"] == "clock-suspect"


# ---- rates ----

@pytest.mark.alone("its verdict")
@pytest.mark.parametrize("port", ["wire", "null"])
@pytest.mark.parametrize("queues", [1, 2, 4])
def test_the_mean_is_right_or_the_trial_is_not_valid(port, queues):
    rates = {"148.8pps": 148.8, "1kpps": 1000, "0.001%": 148.8095238, "10%": 1488095.238, "1Mpps": 1e6}
    maps = ["-m", f"1.0*{queues}"] + (["-m", f"1.1*{queues}"] if port == "wire" else [])
    seconds = {rate: max(10, 1000 / pps) if FULL else max(0.2, 20 / pps) for rate, pps in rates.items()}
    script = "; ".join(f"trial 0 rate {rate} for {s:.3f}s" for rate, s in seconds.items())
    told = trials([*lcores(1), "-p", port, *maps, "-k", "-e", UDP + script], timeout=600)
    assert len(told) == len(rates)
    for t, (rate, pps) in zip(told, rates.items()):
        assert abs(t["intended_pps"] - pps) <= 1e-6 * pps
        if t["verdict"] != "valid":
            continue
        mean = (t["fates"]["sent"] - 1) * 1e9 / t["duration_ns"]
        # 20 ppm, and the two ends are known to 200 us
        assert abs(mean - pps) <= pps * max(20e-6, 200e-6 / seconds[rate]) * 1.01, (rate, mean, t)
        assert abs(t["offered_pps"] - mean) <= 1e-6 * mean


# ---- interfaces of the kernel ----

def both_ends(veth, script, **kw):
    return trials(["-p", f"packet:{veth.a}", "-p", f"packet:{veth.b}", "-e", script], prefix=veth.prefix, **kw)


@pytest.mark.alone("its verdict")
@pytest.mark.parametrize("frame", ["tcp", "udp"])
def test_interfaces(veth, frame):
    (t,) = both_ends(veth, f"set all frame eth/ipv4/{frame}; {ANYTHING} trial 0-1 rate 5kpps for 300ms")
    assert "counters-disagree" not in t["reasons"]
    assert t["fates"]["unconfirmed"] == 0
    for d in t["directions"]:
        f = d["fates"]
        assert f["received"] + f["rx_missed"] + f["late"] + f["not_accepted"] == f["sent"]


@pytest.mark.parametrize("frame", ["tcp", "udp"])
def test_frames_of_others_are_told_apart(veth, frame):
    """The kernel's end sends broadcasts meanwhile: without probes they are known by their address, with probes by having none."""
    with veth.sender_in_parts(5000) as sender:
        def sends(_):
            sender.stdin.write("200\n")
            sender.stdin.flush()
            assert sender.stdout.readline() == "sent\n"

        t = while_it_sends(["-p", f"packet:{veth.a}", "-p", f"packet:{veth.b}"],
                           f"set all frame eth/ipv4/{frame}; {ANYTHING} trial 1 rate 200pps for 1s", sends, prefix=veth.prefix)
    f = t["fates"]
    assert f["others"] == 200 and f["excess"] == 0
    assert f["received"] == f["sent"] - f["not_accepted"] - f["rx_missed"]


def test_a_link_that_flaps(veth):
    def flaps(_):
        veth.do("ip", "link", "set", veth.b, "down")
        veth.do("ip", "link", "set", veth.b, "up")

    t = while_it_sends(["-p", f"packet:{veth.a}", "-p", f"packet:{veth.b}"], UDP + ANYTHING + "trial 0 rate 1kpps for 1s", flaps,
                       prefix=veth.prefix)
    assert t["verdict"] == "link-changed"


def test_frames_that_are_not_recognised_are_not_lost_for_sure():
    """Frames without a probe come in on a receiver while some of the trial's are missing: they may be these."""
    (t,) = trials(["-p", "wire", "-p", "wire", "-e",
                   f"{UDP}{ANYTHING} set 0 wire loss every 100; set 3 rate 20kpps; start 3; trial 0 to 1-2 rate 20kpps for 100ms; stop 3"], code=(4,))
    f = t["fates"]
    assert t["told_by"] == "probes" and t["verdict"] == "counters-disagree" and t["loss_ratio"] is None
    assert f["received"] + f["not_accepted"] == f["sent"] - f["unknown"] and f["lost"] == 0
    assert f["unknown"] == (f["sent"] - f["not_accepted"]) // 100 > 0 and f["others"] > 0


@pytest.mark.parametrize("frame", ["tcp", "udp"])
def test_silence_of_a_wire_that_holds_frames_is_no_end(frame):
    (t,) = trials(["-p", "wire", "-e", f"set all frame eth/ipv4/{frame}; {ANYTHING} set 0 wire delay 400ms; trial 0 rate 10kpps for 50ms"], code=(0,))
    f = t["fates"]
    assert f["received"] == f["sent"] - f["not_accepted"] > 0
    assert f["lost"] == f["late"] == t["inside"] == 0


def test_a_wire_that_holds_frames_too_long():
    (t,) = trials(["-p", "wire", "-e", f"{UDP}{ANYTHING} set trial.drain-max 300ms; set 0 wire delay 3s; trial 0 rate 10kpps for 50ms"], code=(0,))
    f = t["fates"]
    assert f["received"] == 0 and f["lost"] == t["inside"] == f["sent"] - f["not_accepted"] > 0
