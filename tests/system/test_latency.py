# SPDX-License-Identifier: BSD-3-Clause
"""Probes from one end to the other: every one that is sent is found, once, in order, whatever surrounds it."""
import csv
import io
import json
import math
import os
import re
import subprocess

import pytest

from harness import WAITS, as_json, documents, good, lcores, run

COUNT = 20_000
MAPS = {
    "1q": (["1:2.0", "2:1.1"], 2),
    "4q": (["1:2.0*4", "2:1.1*4"], 2),
    "4q-1rx": (["1:2-5.0", "6:6.1"], 6),
    "one-worker": (["1:1.0*2", "1:1.1*2"], 1),
}
FRAMES = {
    "udp-64": ("eth/ipv4/udp", 64), "vlan-66": ("eth/vlan/ipv4/udp", "auto"), "tcp-74": ("eth/ipv4/tcp", "auto"),
    "ipv6-82": ("eth/ipv6/udp", "auto"), "qinq": ("eth/qinq/vlan/ipv4/udp", 128), "vxlan": ("eth/ipv4/udp/vxlan/eth/ipv4/udp", 256),
    "gre": ("eth/ipv4/gre/ipv4/tcp", 200), "sizes": ("eth/ipv4/udp", "64..1518 step 101"),
    "sctp": ("eth/ipv4/sctp", "auto"), "sctp-sizes": ("eth/vlan/ipv6/sctp", "110..1518 step 101"),
}


def args_of(shape="1q"):
    maps, workers = MAPS[shape]
    args = lcores(workers)
    for m in maps:
        args += ["-m", m]
    return args


def ask(args, cmds, **kw):
    """{show: last document of that kind}"""
    return {d.get("show", "?"): d for d in documents(good([*as_json(args), "-e", cmds], timeout=120, **kw))}


def port(doc, number):
    return next(p for p in doc["latency"]["ports"] if p["port"] == number)


def whole(counts, sent):
    assert counts["sent"] == counts["received"] == sent
    assert counts["exact"], counts.get("why")
    assert [counts[k] for k in ("lost", "duplicated", "reordered", "late", "corrupted", "extent_max")] == [0] * 6


@pytest.mark.parametrize("shape", MAPS)
def test_every_probe_is_found(shape):
    doc = ask(args_of(shape), f"set 0 probe on; set 0 count {COUNT}; set 0 rate max; start 0; wait 0; show latency; show stats")
    assert doc["latency"]["armed"] and doc["latency"]["settled"]
    p = port(doc, 1)
    whole(p["counts"], COUNT)
    assert (p["probes"], p["plain"], p["damaged"], p["foreign"]) == (COUNT, 0, 0, 0)
    assert [f["port"] for f in p["from"]] == [0]
    for kind in ("actual", "intended"):
        h = p["latency"][kind]
        v = [h["min_ns"], *(h["percentiles_ns"][k] for k in ("p50", "p90", "p95", "p99", "p99_9", "p99_99")), h["max_ns"]]
        assert h["samples"] == COUNT and v == sorted(v)
        assert h["percentiles_ns"]["p99_999"] is None, "20000 samples say nothing of one in 100000"
    assert p["gap"]["samples"] == COUNT - p["queues"]
    assert port(doc, 0)["counts"]["received"] == 0 and port(doc, 0)["latency"]["actual"]["min_ns"] is None


@pytest.mark.parametrize("frame", FRAMES)
def test_any_stack(frame):
    stack, size = FRAMES[frame]
    doc = ask(args_of(), f"set 0 frame {stack}; set 0 size {size}; set 0 probe on; set 1 verify on; set 0 count {COUNT}; set 0 rate 500kpps; "
              "start 0; wait 0; show latency")
    whole(port(doc, 1)["counts"], COUNT)
    assert port(doc, 1)["plain"] == 0


def test_stamps_of_a_file_are_no_arrivals(tmp_path):
    from scapy.all import Ether, wrpcap
    path = tmp_path / "in.pcap"
    wrpcap(str(path), [Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02", type=0x88b5) / bytes(46)] * 10)
    r = good(["--json", "-p", f"pcap:rx={path}", "-b", "-e", "set 0 timestamps nic; show ports; show clock; show latency"])
    why = "those of a file say when it was recorded"
    assert why in r.stderr
    ports, clock, latency = documents(r)
    assert ports["ports"][0]["timestamps"] == f"by our clock ({why})" and any(why in n for n in ports["ports"][0]["notes"])
    assert clock["devices"] == []
    stamps = latency["ports"][0]["timestamps"]
    assert (stamps["source"], stamps["nic"], stamps["error_ns"]) == ("software", 0, None)


def test_too_small_is_refused_with_what_fits():
    r = run([*args_of(), "-b", "-e", "set 0 frame eth/ipv4/tcp; set 0 size 64; set 0 probe on; start 0"])
    assert r.returncode == 2 and "74" in r.stderr


def test_one_of_n():
    doc = ask(args_of("4q"), f"set 0 probe every 100; set 0 count {COUNT}; set 0 rate 500kpps; start 0; wait 0; show latency")
    p = port(doc, 1)
    sent = p["counts"]["sent"]
    assert abs(sent - COUNT / 100) <= 4
    whole(p["counts"], sent)
    assert p["plain"] == COUNT - sent and p["gap"]["samples"] == COUNT - p["queues"]


def test_streams_have_counts_and_histograms_of_their_own():
    doc = ask(args_of("4q"), f"stream add 0/1-63; set 0/0-63 probe on; set 0/0-9 latency on; set 0 count {64 * 100}; set 0 rate 500kpps; "
              "start 0; wait 0; show latency")
    streams = doc["latency"]["streams"]
    assert [s["stream"] for s in streams] == list(range(64))
    for s in streams:
        whole(s, 100)
        assert s["receivers"] == [1]
        assert (s["latency"] is not None) == (s["stream"] < 10)
        assert (s["intended"] is None) == (s["latency"] is None)
        if s["latency"] is not None:  # no frame leaves before it is due
            assert s["latency"]["samples"] == s["intended"]["samples"] == 100
            assert s["latency"]["mean_ns"] <= s["intended"]["mean_ns"]


def test_streams_that_come_and_change_while_sending():
    doc = ask(args_of("4q"), WAITS + "set 0 probe on; set 0 rate 200kpps; start 0; lua more(20000); stream add 0/1-40; set 0/1-40 probe on; "
              "lua more(60000); set 0/5 size 512; set 0/6 frame eth/vlan/ipv6/udp; set 0/7-9 latency on; lua more(60000); stream delete 0/20; "
              "set 0 rate 300kpps; lua more(60000); stop 0; wait 0; show latency; show stats")
    p = port(doc, 1)
    sent = p["counts"]["sent"]
    assert sent == p["counts"]["received"] == p["probes"] and sent > 0
    assert p["counts"]["lost"] == p["counts"]["duplicated"] == 0
    assert sent + p["plain"] == {q["port"]: q for q in doc["stats"]["ports"]}[0]["tx"]["packets"]
    for s in doc["latency"]["streams"]:
        assert s["sent"] == s["received"] > 0 and s["lost"] == s["duplicated"] == 0


def test_probes_turned_on_while_sending():
    doc = ask(args_of("1q"), WAITS + "set 0 rate 200kpps; start 0; lua more(20000); set 0 probe on; lua more(20000); stop 0; wait 0; "
              "show latency; show stats")
    p = port(doc, 1)
    whole(p["counts"], p["counts"]["sent"])
    assert 0 < p["counts"]["sent"] < {q["port"]: q for q in doc["stats"]["ports"]}[0]["tx"]["packets"]


def test_both_ways_and_clear():
    doc = ask(args_of("4q"), f"set all probe on; set all count {COUNT}; set all rate 200kpps; start all; wait all; clear 0; show latency; "
              "start 1; wait 1; show latency")
    # 0's probes were counted anew from the clear on, and so was what came in on 0 from 1; what 1 sent is 1's
    whole(port(doc, 0)["counts"], 2 * COUNT)
    assert port(doc, 0)["latency"]["actual"]["samples"] == COUNT
    assert port(doc, 1)["counts"]["sent"] == port(doc, 1)["counts"]["received"] == 0
    assert port(doc, 1)["latency"]["actual"]["samples"] == COUNT


def test_counts_go_on_over_starts():
    doc = ask(args_of("4q"), f"set 0 probe on; set 0 count {COUNT}; set 0 rate 500kpps; start 0; wait 0; start 0; wait 0; stream add 0/1-30; "
              "set 0/1-30 probe on; set 0/1-30 latency on; start 0; wait 0; show latency")
    whole(port(doc, 1)["counts"], 3 * COUNT)
    assert port(doc, 1)["latency"]["actual"]["samples"] == 3 * COUNT


def test_nothing_is_armed_without_probes():
    doc = ask(args_of(), f"set 0 count {COUNT}; start 0; wait 0; show latency; show plan")
    assert not doc["latency"]["armed"] and doc["latency"]["memory_bytes"] == 0
    assert "probes" not in doc["plan"]
    assert all(t.get("taps", 0) == 0 for w in doc["plan"]["workers"] for t in w["tasks"])


def memory_adds_up(p):
    """Tables that are there, and what may come to merge the streams that come in on several queues; the limit is for both."""
    assert p["memory_bytes"] == p["table_bytes"] + p["merge_most_bytes"] and 0 < p["merge_bytes"] <= p["merge_most_bytes"]


def test_memory_for_merging_counts():
    """What may be taken later is said and refused at the start."""
    setup = "stream add 0/1-63; set 0/0-63 probe on; set 0 count 64; set 0 rate 100kpps; "
    doc = ask(args_of("4q"), setup + "start 0; wait 0; show plan")
    p = doc["plan"]["probes"]
    memory_adds_up(p)
    tables = -(-p["table_bytes"] // 1_000_000)
    r = run([*args_of("4q"), "-b", "-e", f"set probes.memory {tables}; {setup}start 0"])
    assert r.returncode == 2 and f"takes {p['memory_bytes'] / 1e6:.0f} MB ({p['merge_most_bytes'] / 1e6:.0f} MB of it" in r.stderr
    text = good([*args_of("4q"), "-b", "-e", f"set probes.memory {-(-p['memory_bytes'] // 1_000_000)}; {setup}start 0; wait 0; show plan"])
    assert "where streams come in on several queues (now 0.0 MB)" in text.stdout + text.stderr
    one = ask([*lcores(1), "-p", "null", "-m", "1.0"], "set 0 probe on; set 0 count 64; set 0 rate 100kpps; start 0; wait 0; show plan")
    assert one["plan"]["probes"]["merge_most_bytes"] == one["plan"]["probes"]["merge_bytes"] == 0


def test_memory_is_named_and_bounded():
    setup = "stream add 0/1-4095; set 0/0-4095 probe on; set 0/0-4095 latency on; set 0 count 8192; set 0 rate 1Mpps; "
    doc = ask(args_of(), setup + "start 0; wait 0; show plan; show latency")
    taken = doc["plan"]["probes"]["memory_bytes"]
    assert taken == doc["latency"]["memory_bytes"] and taken > 2 * 4096 * 2000
    memory_adds_up(doc["plan"]["probes"])
    whole(port(doc, 1)["counts"], 8192)
    r = run([*args_of(), "-b", "-e", "set probes.memory 50; " + setup + "start 0"])
    assert r.returncode == 2 and "probes.memory" in r.stderr and re.search(r"takes \d+ MB", r.stderr)


def test_eight_ports_of_4096_streams():
    """Each stream of each port by itself, histograms of some; the memory is named, and refused where less is allowed."""
    args = [*lcores(2), *["-p", "wire"] * 4, *[x for n in range(8) for x in ("-m", f"1:2.{n}")]]
    rounds, some = (int(os.environ.get("WIRERATE_ROUNDS", 4)), 16)
    setup = f"stream add all/1-4095; set all/all probe on; set all/0-{some - 1} latency on; set all count {4096 * rounds}; set all rate 100kpps; "
    doc = ask(args, setup + "start all; wait all; show latency; show plan")
    for p in doc["latency"]["ports"]:
        whole(p["counts"], 4096 * rounds)
        assert p["latency"]["actual"]["samples"] == 4096 * rounds
        assert (p["plain"], p["damaged"], p["foreign"]) == (0, 0, 0)
    streams = doc["latency"]["streams"]
    assert len(streams) == 8 * 4096
    assert all(s["sent"] == s["received"] == rounds and s["exact"] for s in streams)
    assert [s["latency"] and s["latency"]["samples"] for s in streams] == [rounds if s["stream"] < some else None for s in streams]
    taken, allowed = (doc["plan"]["probes"][k] for k in ("memory_bytes", "limit_bytes"))
    assert taken == doc["latency"]["memory_bytes"] < allowed
    less = taken // 1_000_000 - 1
    r = run([*args, "-b", "-e", f"set probes.memory {less}; {setup}start all"])
    assert r.returncode == 2 and f"`probes.memory` allows {less} MB" in r.stderr and f"takes {taken / 1e6:.0f} MB" in r.stderr


def test_the_log_is_one_that_is_read(tmp_path):
    log = tmp_path / "l.hlog"
    ask(args_of(), f"set 0 probe on; set 0 latency on; set 0 count {COUNT}; start 0; wait 0; latency save {log}")
    lines = log.read_text().splitlines()
    assert "#[Histogram log format version 1.3]" in lines
    tags = [line.split(",")[0] for line in lines if line.startswith("Tag=")]
    assert tags == ["Tag=port.1.actual", "Tag=port.1.intended", "Tag=port.1.gap", "Tag=stream.0/0.actual", "Tag=stream.0/0.intended"]
    r = run([*args_of(), "-b", "-e", f"latency save {tmp_path / 'none'}"])
    assert r.returncode == 2 and "probe on" in r.stderr and not (tmp_path / "none").exists()


@pytest.mark.alone("is skipped on a busy machine")
def test_calibrate_is_kept_and_subtracted_when_asked(tmp_path):
    env = dict(os.environ, XDG_STATE_HOME=str(tmp_path))
    before = "set 0 rate 3%; set 0 count 77; stream add 0/1-3; set 0/2 udp.dst 9"
    r = run([*as_json(args_of()), "-b", "-e", f"{before}; calibrate 0; show settings 0"], env=env)
    assert r.returncode in (0, 4), r.stderr
    docs = documents(r)
    values = {s["name"]: s["value"] for s in docs[-1]["settings"] if s["target"] == "0"}
    assert values["rate"] == "3%" and values["count"] in ("77", 77), "settings are as before"
    if r.returncode == 4:
        assert "nothing is kept" in r.stderr and not (tmp_path / "wirerate").exists()
        pytest.skip("the machine was too busy to measure it")
    bias = docs[0]["calibrations"][0]
    assert (bias["tx"], bias["rx"], bias["frames"]) == (0, 1, 1000) and bias["min_ns"] <= bias["median_ns"]
    kept = json.loads((tmp_path / "wirerate" / "calibration.json").read_text())["calibrations"]
    assert [(k["tx"], k["rx"], k["clock"], k["median_ns"]) for k in kept] == [("wire0", "wire1", "software", bias["median_ns"])]
    assert bias["clock"] == "software"
    cmds = f"set 0 probe on; set 0 count {COUNT}; set 0 rate 100kpps; start 0; wait 0; show latency; show latency corrected"
    plain, corrected = (port({"latency": d}, 1) for d in documents(good([*as_json(args_of()), "-e", cmds], env=env)))
    assert plain["bias_ns"] == corrected["bias_ns"] == bias["median_ns"] and not plain["corrected"] and corrected["corrected"]
    text = good([*args_of(), "-e", cmds], env=env).stdout
    assert "share is not subtracted" in text and "share is subtracted, and what is less than it is 0" in text
    for k, v in plain["latency"]["actual"]["percentiles_ns"].items():
        assert corrected["latency"]["actual"]["percentiles_ns"][k] == (v if v is None else max(v - bias["median_ns"], 0))


def test_csv_says_how_far_its_numbers_go():
    """What text says in remarks has columns: whoever reads a file sees that a number is not exact."""
    def rows(cmds):
        r = good([*args_of("one-worker"), "--csv", "-e", f"set 0 probe on; set 0 count {COUNT}; set 0 rate 200kpps; {cmds}"])
        return list(csv.DictReader(io.StringIO(r.stdout)))

    row = rows("set 1 verify on; start 0; wait 0; show latency")[1]
    assert (row["counts.exact"], row["counts.why"], row["verify"], row["corrected"]) == ("true", "", "true", "false")
    assert (row["latency.actual.samples"], row["latency.actual.error"], row["timestamps.source"]) == (str(COUNT), "0.0009765625", "software")
    for _ in range(30):
        row = rows(f"{WAITS}set wire delay 200ms; start 0; lua inside(1000); clear all; wait 0; show latency")[1]
        if row["counts.exact"] == "false":
            break  # or all were through when it came to the clear
    assert row["counts.exact"] == "false" and "cleared" in row["counts.why"] and row["verify"] == "false"
    row = rows("start 0; wait 0; show latency 0/0")[0]
    assert (row["exact"], row["rx_queues"], row["corrected"]) == ("true", "1", "false")


def test_streams_have_lines_where_they_have_latency_or_are_named():
    before = ("stream add 0 9; set 0/all frame eth/ipv4/udp; set 0/all probe on; set 0/3 latency on; set 0 count 1000; set 0 rate 100kpps; "
              "start 0; wait 0; ")

    def lines(show):
        out = good([*args_of("one-worker"), "-e", before + show]).stdout
        return [int(m) for m in re.findall(r"^ +0 +([0-9]+) +100 ", out, re.M)]

    assert lines("show latency") == [3]
    assert lines("show latency 0") == [3]
    assert lines("show latency 0/2-4") == [2, 3, 4]


def test_what_takes_too_long_to_be_timed_is_said():
    hz = ask(args_of("one-worker"), "show clock")["clock"]["hz"]
    s = 2**35 / hz
    if s > 59:
        pytest.skip("on a clock this slow that is longer than a wire can delay")
    out = good([*args_of("one-worker"), "-e", f"set wire delay {s + 0.5:.1f}s; set 0 probe on; set 0 rate 1kpps; set 0 count 100; start 0; "
                "wait 0; show latency"], timeout=120).stdout
    assert re.search(r"^too early or late to time +0 +100$", out, re.M)
    assert f"port 1: 100 probes came before they were sent, as clocks go, or more than {s:.1f} s after" in out


def test_no_frames_have_no_jitter():
    """The estimate of RFC 3550 goes on over a clear; before the next frame it is of nothing."""
    doc = ask(args_of("one-worker"), f"set 0 probe on; set 0 count {COUNT}; set 0 rate 100kpps; start 0; wait 0; show latency")
    assert port(doc, 1)["counts"]["jitter_ns"] > 0
    doc = ask(args_of("one-worker"), f"set 0 probe on; set 0 count {COUNT}; set 0 rate 100kpps; start 0; wait 0; clear all; show latency")
    assert port(doc, 1)["counts"]["jitter_ns"] is None


def test_a_bias_of_another_clock_is_not_used(tmp_path):
    """What was measured with time stamps of a device says nothing of arrivals without; one of nobody knows which clock says nothing at all."""
    env = dict(os.environ, XDG_STATE_HOME=str(tmp_path))
    path = tmp_path / "wirerate" / "calibration.json"
    path.parent.mkdir()
    cmds = f"set 0 probe on; set 0 count {COUNT}; set 0 rate 100kpps; start 0; wait 0; show latency corrected"
    one = {"host": os.uname().nodename, "tx": "wire0", "rx": "wire1", "median_ns": 123, "min_ns": 100, "frames": 1000, "wall_ns": 1}
    for clock, known, said in (("software", 123, "the tester's own share is subtracted"), (None, None, "`calibrate` has not measured it"),
                               ("nic", None, "another clock than timed these arrivals (software)")):
        path.write_text(json.dumps({"calibrations": [{**one, "clock": clock} if clock else one]}))
        p = port({"latency": documents(good([*as_json(args_of()), "-e", cmds], env=env))[-1]}, 1)
        assert (p["bias_ns"], p["bias_other"], p["corrected"]) == (known, clock == "nic", known is not None)
        assert p["bias_clock"] == ("software" if known else None)
        assert said in good([*args_of(), "-b", "-e", cmds], env=env).stdout


def test_calibrate_needs_a_loop():
    r = run([*lcores(1), "-p", "null", "-b", "-e", "calibrate"])
    assert r.returncode == 2 and "looped" in r.stderr


def test_the_sampler_writes_what_pktgen_writes(tmp_path):
    out = tmp_path / "samples"
    for kind in ("simple", "poisson"):
        good([*args_of("4q"), "-e", f"enable 0 latency; set 0 rate 100kpps; set 1 latsampler {kind} 500 100000 {out}; start 1 latsampler; "
              "start 0 for 500ms; wait 0; stop 1 latsampler"])
        lines = out.read_text().splitlines()
        assert lines[0] == "Latency" and len(lines) == 501
        assert all(int(v) >= 0 for v in lines[1:])


@pytest.mark.alone("is skipped on a busy machine")
def test_single_latencies_give_the_same_numbers(tmp_path):
    """What is made of all latencies, made once more of single ones: mean, RFC 3550's jitter, percentiles within the stated error."""
    out, ranks = tmp_path / "samples", {"p50": 0.5, "p90": 0.9, "p99": 0.99}
    for _ in range(20):
        doc = ask([*lcores(1), "-m", "1.0", "-m", "1.1"], "set 0 frame eth/ipv4/udp; set wire delay 10us..50us; set 0 probe on; "
                  "set 0 rate 500pps; set 0 count 400; "
                  f"set 1 latsampler simple 1000 1000000 {out}; start 1 latsampler; start 0; wait 0; stop 1 latsampler; show latency")
        values, p = [int(v) for v in out.read_text().split()[1:]], port(doc, 1)
        actual = p["latency"]["actual"]
        if len(values) == actual["samples"] == 400:
            break
    else:
        pytest.skip("frames came together each time, and one sample is taken in a microsecond")
    jitter = 0
    for a, b in zip(values, values[1:]):
        jitter += (abs(b - a) - jitter) / 16
    assert p["counts"]["jitter_ns"] == pytest.approx(jitter, rel=1e-3)
    assert actual["mean_ns"] == pytest.approx(sum(values) / 400, abs=1)
    values.sort()
    for name, rank in ranks.items():
        exact = values[math.ceil(400 * rank) - 1]
        assert exact <= actual["percentiles_ns"][name] + 1 <= exact * (1 + actual["error"]) + 2
    assert values[0] * (1 - actual["error"]) - 1 <= actual["min_ns"] <= values[0] + 1


def test_jitter_above_a_threshold_is_counted():
    doc = ask(args_of(), f"set 1 jitter 1000000; set 0 probe on; set 0 count {COUNT}; start 0; wait 0; show latency")
    assert port(doc, 1)["jitter"] == {"limit_ns": 1_000_000_000, "compared": COUNT - 1, "above": 0, "share": 0.0}


@pytest.mark.parametrize("kind", ["if", "packet"])
def test_over_the_kernel_with_two_queues(veth, kind):
    veth.do("ip", "link", "del", veth.a)
    veth.do("ip", "link", "add", "name", veth.a, "numtxqueues", "2", "numrxqueues", "2", "type", "veth", "peer", "name", veth.b, "numtxqueues", "2",
            "numrxqueues", "2")
    for end in (veth.a, veth.b):
        veth.do("ip", "link", "set", end, "up")
    cmds = "set 0 frame eth/ipv4/udp; set 0 udp.src 1000..1999; set 0 probe on; set 0 rate 20kpps; set 0 count 4000; start 0; wait 0; show latency"
    doc = ask([*lcores(2), "-p", f"{kind}:{veth.a}", "-p", f"{kind}:{veth.b}", "-m", "1:2.0*2", "-m", "2:1.1*2"], cmds, prefix=veth.prefix)
    c = port(doc, 1)["counts"]
    assert c["sent"] == c["received"] == 4000 and c["lost"] == c["duplicated"] == 0 and c["exact"]


def test_a_peer_that_doubles_and_drops(veth, need):
    """The kernel between: every frame twice, or none of them."""
    need("tc")
    try:
        veth.do("tc", "qdisc", "add", "dev", veth.b, "clsact")
        veth.do("tc", "filter", "add", "dev", veth.b, "ingress", "matchall", "action", "mirred", "egress", "mirror", "dev", veth.b, "action",
                "mirred", "egress", "redirect", "dev", veth.b)
    except subprocess.CalledProcessError as e:
        pytest.skip(f"this kernel cannot: {e.stderr}")
    cmds = "set 0 frame eth/ipv4/udp; set 0 probe on; set 0 rate 10kpps; set 0 count 2000; start 0; wait 0; show latency"
    twice = port(ask([*lcores(1), "-p", f"packet:{veth.a}"], cmds, prefix=veth.prefix), 0)["counts"]
    assert (twice["sent"], twice["received"], twice["lost"], twice["duplicated"], twice["reordered"]) == (2000, 2000, 0, 2000, 0)
    veth.do("tc", "filter", "del", "dev", veth.b, "ingress")
    none = port(ask([*lcores(1), "-p", f"packet:{veth.a}"], cmds, prefix=veth.prefix), 0)
    assert (none["counts"]["sent"], none["counts"]["received"], none["counts"]["lost"], none["counts"]["loss"]) == (2000, 0, 2000, 1.0)
    assert none["latency"]["actual"]["mean_ns"] is None
