# SPDX-License-Identifier: BSD-3-Clause
"""Derived figures against arithmetic: what is shown is off by less than one unit of its last place. Needs no root and no NIC.

Here w = size + 20 bytes on the wire, link the speed that percent is of, T the time of a run. What is derived, and where it is shown:

| figure                  | formula                                   | where                                              |
|-------------------------|-------------------------------------------|----------------------------------------------------|
| frames/s of a rate      | v, % link/8w, l1 v/8w, l2 v/8size         | echo of `set rate`; show rates; run.asked_pps; main |
| share of the link       | pps 8w/link                               | echo                                               |
| bit/s on layers 1, 2    | pps 8w, pps 8size                         | echo; show rates; run.asked_l1_bps; trial          |
| time between frames     | 1/pps, per queue queues/pps               | echo; gap asked of show and page latency           |
| what the link carries   | link/8w                                   | echo                                               |
| mean size               | sum of weight size / sum of weights       | echo                                               |
| duration of a count     | count/pps                                 | run.duration_ns, `run time`                        |
| mean rate               | sent/T, times 8w                          | run.mean_pps, run.mean_l1_bps, main                |
| highest rate            | at least the mean of a run, at most asked | max.tx of JSON, main                               |
| cycles between frames   | hz/pps                                    | show plan                                          |
| share of a stream       | weight/sum of weights                     | show streams; page streams                         |
| loss                    | lost/sent                                 | show latency; page latency; trial                  |
| a trial's loads         | v as above; (n - 1)/T, times 8w, 8size    | trial; show trial                                  |
| percentiles             | in order; by single ones: test_latency.py | show latency                                       |
| cycles of a frame       | busy time of a worker/frames              | workers of `show snapshot`                         |
| share of gaps           | near/gaps                                 | page latency                                       |
| sums over ports         | sum                                       | page main                                          |
"""
import re
from fractions import Fraction as F

import pytest

import harness
from rpc_server import Server, wirerate
from serving import until

pytestmark = pytest.mark.skipif(not harness.binary(), reason="WIRERATE does not name the executable")

SI = {"": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
SECONDS = {"ns": F(1, 10 ** 9), "us": F(1, 10 ** 6), "ms": F(1, 1000), "s": F(1)}
NUMBER = re.compile(r"(-?)(\d[\d']*)(?:\.(\d+))?(?:e([+-]\d+))?([kMGTPE]?)")
IMIX = ((64, 7), (570, 4), (1518, 1))


def figure(text):
    """Value and unit of the last place of what is shown."""
    m = NUMBER.fullmatch(text)
    assert m, f"no figure: {text!r}"
    exponent = int(m[4] or 0) + SI[m[5]]
    ulp = F(10) ** (exponent - len(m[3] or ""))
    return int(m[1] + m[2].replace("'", "") + (m[3] or "")) * ulp, ulp


def duration(text):
    m = re.fullmatch(r"([\d.]+) ?(ns|us|ms|s)", text)
    if m is None:
        h, minutes, s = re.fullmatch(r"(?:(\d+)h)?(?:(\d+)m)(\d+)s", text).groups()
        return F(int(h or 0) * 3600 + int(minutes) * 60 + int(s)), F(1)
    value, ulp = figure(m[1])
    return value * SECONDS[m[2]], ulp * SECONDS[m[2]]


def close(text, want, what, read=figure):
    value, ulp = read(text)
    assert abs(value - want) < ulp, f"{what}: {text} for {float(want)!r}"


def whole(value, want, what):
    """A number of JSON in whole base units."""
    assert abs(value - want) < 1, f"{what}: {value} for {float(want)!r}"


@pytest.fixture(scope="module")
def wr(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("figures"), "-m", "1.0", ports="null")
    with wirerate.connect(server.path) as c:
        yield c
    server.close()


RATES = ([(f"{n}pps", "pps", F(n)) for n in ("1", "7", "999", "1001", "99995", "123456", "999949", "999951", "1488095", "14880952", "148809523",
                                              "148000000")] +
         [(f"{n}%", "%", F(n)) for n in ("100", "10", "33.3", "1", "0.1", "0.01", "0.00037", "99.995")] +
         [(f"{n}bps/l1", "l1", F(n)) for n in ("10000000000", "999950000", "1000000", "64000", "3333333333")] +
         [(f"{n}bps/l2", "l2", F(n)) for n in ("3000000000", "7619047619", "512000", "999999")])
SIZES = [("64", F(64)), ("65", F(65)), ("128", F(128)), ("570", F(570)), ("1518", F(1518)), ("9000", F(9000)),
         ("imix", F(sum(s * w for s, w in IMIX), sum(w for _, w in IMIX)))]
ECHO = re.compile(r"port 0: (\S+)pps = (\S+)% = (\S+)bps/l1 = (\S+)bps/l2 of (?:\d+-byte frames|frames of 64 to 1518 bytes, (\S+) on average)"
                  r", one every (\S+ (?:s|ms|us|ns))(?: on average)?; (?:more than )?a link of (\S+)bps carries:? (\S+)pps\n")


def pps_of(unit, v, size, link):
    return {"pps": v, "%": link * v / 100 / (8 * (size + 20)), "l1": v / (8 * (size + 20)), "l2": v / (8 * size)}[unit]


@pytest.mark.parametrize("speed", ["10G", "100G", "2.5G", "10M"])
def test_a_rate_in_all_units(wr, speed):
    link = figure(speed)[0]
    wr.cmd("set 0 mtu 9000")
    wr.cmd(f"set 0 speed {speed}")
    for text, size in SIZES:
        wr.cmd(f"set 0 size {text}")
        for rate, unit, v in RATES:
            wr.cmd(f"set 0 rate {rate}")
            m = ECHO.search(wr.notes)
            assert m, wr.notes
            what, pps = f"{rate} of {text} at {speed}", pps_of(unit, v, size, link)
            close(m[1], pps, f"{what}: pps")
            close(m[2], pps * 8 * (size + 20) * 100 / link, f"{what}: percent")
            close(m[3], pps * 8 * (size + 20), f"{what}: l1")
            close(m[4], pps * 8 * size, f"{what}: l2")
            if m[5]:
                close(m[5], size, f"{what}: mean size")
            close(m[6], 1 / pps, f"{what}: gap", duration)
            close(m[7], link, f"{what}: link")
            close(m[8], link / (8 * (size + 20)), f"{what}: most")
            row = wr.cmd("show rates 0")["ports"][0]
            whole(row["asked_pps"], pps, f"{what}: asked_pps")
            whole(row["asked_l1_bps"], pps * 8 * (size + 20), f"{what}: asked_l1_bps")


def row(text, name):
    """The cells of a row of page main."""
    line = next(x for x in text.splitlines() if x.startswith(name))
    return line.split(":", 1)[1].split() if name.count(":") == 0 else line[len(name):].lstrip(" :").split()


def ran(wr, line):
    """A run of 64-byte frames that is over: its port, and page main as text at the same moment."""
    wr.cmd(line)
    wr.cmd("wait 0 30s")
    port = wr.cmd("show stats")["ports"][0]
    return port, wr.text("show page main")


@pytest.mark.parametrize("rate,count", [("1Mpps", 1000), ("1Mpps", 7), ("10%", 30000), ("123456pps", 4321), ("3kpps", 1), ("999950bps/l2", 10),
                                         ("14.88Mpps", 5)])
def test_a_run_shorter_than_an_interval(wr, rate, count):
    """Its mean and its highest rate: of the frames that were sent in the time that it took, and not of a part of a second."""
    wr.cmd("set 0 speed 10G; set 0 size 64; clear 0")
    wr.cmd(f"set 0 rate {rate}; set 0 count {count}")
    port, page = ran(wr, "start 0")
    run = port["run"]
    assert run["sent"] == count
    mean = F(count * 10 ** 9, run["duration_ns"])
    # a duration is known to half a nanosecond
    assert abs(run["mean_pps"] - mean) < 1 + mean / run["duration_ns"]
    assert abs(run["mean_l1_bps"] - mean * 672) < 1 + mean * 672 / run["duration_ns"]
    # a slow clock knows it to its tick
    tick_ns = wr.cmd("show clock")["tick_ns"]
    slack = run["asked_pps"] * tick_ns / run["duration_ns"] if tick_ns > 1 else 0
    assert run["mean_pps"] <= run["asked_pps"] + 1 + run["asked_pps"] // 10 ** 6 + slack, "a run is not faster than it was asked to be"
    assert port["max"]["tx"]["pps"] == run["mean_pps"] and port["max"]["tx"]["l1_bps"] == run["mean_l1_bps"]
    asked_text, sent_text = re.split("/|≠|!", row(page, "Pkts/s Asked:Sent")[0])
    close(asked_text, run["asked_pps"], "asked on page main")
    close(sent_text, run["mean_pps"], "sent on page main")
    close(row(page, "Max Pkts/s Rx:Tx")[0].split("/")[1], port["max"]["tx"]["pps"], "max on page main")
    close(row(page, "Max Bits/s Rx:Tx")[0].split("/")[1], port["max"]["tx"]["l1_bps"], "max bits on page main")
    close(row(page, "Total Bytes Rx:Tx")[0].split("/")[1], port["tx"]["bytes"], "bytes on page main")
    text = wr.text("show stats 0")
    close(re.search(r"^run time +(\S+)", text, re.M)[1], F(run["duration_ns"], 10 ** 9), "run time", duration)
    close(re.search(r"^run mean pps +(\S+)", text, re.M)[1], run["mean_pps"], "run mean pps")


def test_the_highest_rate_after_clear_and_another_run(wr):
    wr.cmd("set 0 speed 10G; set 0 size 64; clear 0; set 0 rate 100kpps; set 0 count 1000")
    first, _ = ran(wr, "start 0")
    wr.cmd("set 0 rate 1kpps; set 0 count 10")
    second, _ = ran(wr, "start 0")
    assert second["max"]["tx"]["pps"] >= first["max"]["tx"]["pps"] == first["run"]["mean_pps"], "a slower run takes nothing away"
    wr.cmd("clear 0")
    assert wr.cmd("show stats")["ports"][0]["max"]["tx"]["pps"] == 0


def test_shares_of_streams(wr):
    wr.cmd("reset 0; stream add 0 6")
    weights = (1, 1, 3, 7, 100, 997)
    for i, weight in enumerate(weights):
        wr.cmd(f"set 0/{i + 1} weight {weight}; set 0/{i + 1} enabled on")
    wr.cmd("set 0/0 enabled off")
    listed = wr.cmd("show streams 0")["streams"]
    text = wr.text("show streams 0")
    for i, weight in enumerate(weights):
        want = F(weight, sum(weights))
        assert abs(listed[i + 1]["share"] - want) < F(1, 10 ** 12)
        line = next(x for x in text.splitlines() if x.split()[:2] == ["0", str(i + 1)])
        close(next(x for x in line.split() if x.endswith("%"))[:-1], 100 * want, f"share of stream {i + 1}")
    wr.cmd("reset 0")


@pytest.mark.parametrize("rate", ["1Mpps", "7pps", "999pps", "1.5kpps", "123456pps", "10%", "33%", "3Gbps/l2"])
@pytest.mark.parametrize("size", [66, 1518])
def test_gap_asked_and_cycles(tmp_path_factory, wire, rate, size):
    wire.cmd(f"clear all; set 0 size {size}; set 0 rate {rate}; set 0 count 5")
    wire.cmd("start 0")
    gens = [t for w in wire.cmd("show plan")["workers"].values() for t in w["tasks"] if t["kind"] == "gen"]
    hz = F(wire.cmd("show clock")["hz"])
    wire.cmd("wait 0 30s")
    pps = pps_of(*next((u, v) for t, u, v in GAPS if t == rate), F(size), F(10 ** 10))
    for gen in gens:
        # the clock is known better from second to second
        assert abs(F(gen["period_cycles"]) * gen["queues"] - hz / pps * gen["queues"] * gen["queues"]) < hz / pps * F(1, 10 ** 4) + 1
    got = wire.cmd("show latency 1")["ports"][1]
    assert abs(F(got["gap"]["target_ns"]) - 10 ** 9 / pps) < F(1, 1000), "no cycle and no nanosecond is lost"
    for text in (wire.text("show latency 1"), wire.text("show page latency")):
        close(re.search(r"gap asked +(\S+)", text)[1], 1 / pps, f"gap asked for {rate}", duration)


GAPS = [("1Mpps", "pps", F(10 ** 6)), ("7pps", "pps", F(7)), ("999pps", "pps", F(999)), ("1.5kpps", "pps", F(1500)), ("123456pps", "pps", F(123456)),
        ("10%", "%", F(10)), ("33%", "%", F(33)), ("3Gbps/l2", "l2", F(3 * 10 ** 9))]


@pytest.fixture(scope="module")
def wire(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("wire"))
    with wirerate.connect(server.path) as c:
        c.cmd("set all frame eth/ipv4/udp; set 0 probe on")
        yield c
    server.close()


def test_loss(wire):
    """Also one that is too small for a number without a power of ten."""
    wire.cmd("clear all; set wire loss 0.5%; set 0 size 66; set 0 rate 1Mpps; set 0 count 20000; start 0; wait 0 30s; set wire loss 0%")
    port = wire.cmd("show latency")["ports"][1]
    counts = port["counts"]
    want = F(counts["lost"], counts["sent"])
    assert counts["sent"] == 20000 and counts["lost"] == counts["sent"] - counts["received"] + counts["duplicated"]
    assert abs(counts["loss"] - want) < F(1, 10 ** 15)
    text = wire.text("show latency 1")
    close(re.search(r"^loss +(\S+)%", text, re.M)[1], 100 * want, "loss")


def test_the_probe_of_a_stream_names_it(wire):
    """What `show frame` says of the first frame is what the first frame says."""
    wire.cmd("stream add 1 3; set 1/all frame eth/ipv4/udp; set 1/2 probe on; set 1/2 size 100")
    frame = wire.text("show frame 1/2")
    assert re.search(r"^probe .* \(good\) +seq 0 +port 1 +queue 0 +exp 0 +stream 2 ", frame, re.M), frame
    wire.cmd("reset 1; set 1 frame eth/ipv4/sctp; set 1 probe on")
    frame = wire.text("show frame 1")
    assert "stream 0 " in frame and "bad" not in frame and len(re.findall(r"\(good\)", frame)) == 3, frame
    wire.cmd("reset 1; set 1 frame eth/ipv4/udp")


TRIALS = [("1kpps", "pps", F(1000)), ("12345pps", "pps", F(12345)), ("0.37%", "%", F(37, 100)), ("7Mbps/l1", "l1", F(7 * 10 ** 6)),
          ("3Mbps/l2", "l2", F(3 * 10 ** 6))]


@pytest.mark.parametrize("rate,unit,v", TRIALS)
@pytest.mark.parametrize("size", [66, 570, 1518])
def test_a_trial(wire, rate, unit, v, size):
    """Whatever its verdict is on a machine that does other things: what it says follows from what it counted, in JSON and in its table."""
    wire.cmd(f"clear all; set 0 size {size}")
    doc = wire.cmd(f"trial 0 rate {rate} for 200ms")
    trial, text = doc.get("trial", doc), wire.text("show trial")
    shown = {m[1]: m[2] for m in re.finditer(r"^(\S.*?)  +(\S+)$", text, re.M)}
    n, frames, took, fates = pps_of(unit, v, F(size), F(10 ** 10)), trial["offered_frames"], F(trial["duration_ns"], 10 ** 9), trial["fates"]
    assert abs(trial["intended_frames"] - n / 5) <= 1
    asked = {"intended_pps": n, "intended_l1_bps": n * 8 * (size + 20), "intended_l2_bps": n * 8 * size}
    timed = frames > 1 and took > 0  # a worker that had no CPU may have sent two in one burst
    offered = F(frames - 1) / took if timed else F(0)
    went = {"offered_pps": offered, "offered_l1_bps": offered * 8 * (size + 20), "offered_l2_bps": offered * 8 * size}
    for key, want in asked.items():
        assert abs(F(trial[key]) - want) < max(want / 10 ** 9, F(1, 10 ** 5)), f"{key}: {trial[key]} for {float(want)}"
    for key, want in went.items():
        # JSON has whole nanoseconds of the time that it divided by
        assert not timed or abs(F(trial[key]) - want) < want / (took * 10 ** 9) + F(1, 10 ** 5), f"{key}: {trial[key]} for {float(want)}"
    for key in [*asked, *went]:
        if timed or key in asked:
            close(shown[key.replace("_bps", " bit/s").replace("_", " ")], F(trial[key]), key)
    assert fates["sent"] == sum(fates[k] for k in fates if k not in ("sent", "not_accepted", "excess", "untold", "duplicated", "reordered", "others"))
    assert trial["unsent"] + frames + fates["not_accepted"] == trial["intended_frames"]
    if fates["sent"] == 0:
        assert trial["loss_ratio"] is None
        return
    assert abs(F(trial["loss_ratio"]) - F(fates["sent"] - fates["received"], fates["sent"])) < F(1, 10 ** 15)
    assert shown["loss"] == "0%" or abs(figure(shown["loss"][:-1])[0] / 100 - F(trial["loss_ratio"])) < F(1, 10 ** 6)
    close(shown["duration"], took, "duration", duration)
    assert figure(shown["intended frames"])[0] == trial["intended_frames"] and figure(shown["sent"])[0] == fates["sent"]


def test_percentiles_are_shown_as_they_are(wire):
    """The figures of JSON, whose own arithmetic test_latency.py judges by single latencies, in the table."""
    wire.cmd("clear all; set 0 size 100; set 0 rate 20kpps; set 0 count 3000; start 0; wait 0 30s")
    port, text = wire.cmd("show latency 1")["ports"][1], wire.text("show latency 1")
    shown = {m[1]: m[2] for m in re.finditer(r"^(\S.*?)  +(\S+)$", text, re.M)}
    for name, key in (("latency", "actual"), ("since due", "intended")):
        h = port["latency"][key]
        for what, ns in [("min", h["min_ns"]), ("mean", h["mean_ns"]), ("max", h["max_ns"]),
                         *((k[1:].replace("_", ".") + "%", v) for k, v in h["percentiles_ns"].items())]:
            label = f"{name} {what}"
            if ns is None:
                assert shown[label] == "-", label
            else:
                close(shown[label], F(ns) / 10 ** 9, label, duration)
    assert h["min_ns"] <= h["percentiles_ns"]["p50"] <= h["percentiles_ns"]["p99"] <= h["max_ns"]


@pytest.mark.parametrize("rate", ["1kpps", "20kpps", "100kpps"])
def test_cycles_of_a_frame(wr, rate):
    """The share of its time that a worker was busy, by the clock, over the frames that it moved."""
    wr.cmd(f"set 0 size 64; set 0 rate {rate}; set 0 count 0; start 0")
    hz = F(wr.cmd("show clock")["hz"])

    def worker():
        return next(iter(wr.cmd("show snapshot stats")["workers"].values()))
    until(lambda: (worker()["pps"] or 0) > 0, "frames of a whole interval")
    w = worker()
    wr.cmd("stop 0")
    cycles = F(w["cycles_per_packet"])
    # the rate is told in whole frames per second, and a share ends at all of the time
    assert w["busy"] == 1 or abs(cycles * w["pps"] - F(w["busy"]) * hz) <= cycles + hz / 10 ** 5, w
    assert w["busy"] < 1 or cycles * (w["pps"] + 1) >= hz * (1 - F(1, 10 ** 5)), w
