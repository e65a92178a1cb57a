# SPDX-License-Identifier: BSD-3-Clause
"""Probes from one end to the other: every one that is sent is found, once, in order, whatever surrounds it."""
import json
import os
import re
import subprocess

import pytest

from harness import as_json, documents, good, lcores, run

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
    r = run([*args_of(), "-b", "-e", "set 0 size 64; set 0 probe on; start 0"])
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
        assert s["latency"] is None or s["latency"]["samples"] == 100


def test_streams_that_come_and_change_while_sending():
    doc = ask(args_of("4q"), "set 0 probe on; set 0 rate 200kpps; start 0 for 2s; sleep 200ms; stream add 0/1-40; set 0/1-40 probe on; sleep 300ms; "
              "set 0/5 size 512; set 0/6 frame eth/vlan/ipv6/udp; set 0/7-9 latency on; sleep 300ms; stream delete 0/20; set 0 rate 300kpps; "
              "sleep 300ms; wait 0; show latency; show stats")
    p = port(doc, 1)
    sent = p["counts"]["sent"]
    assert sent == p["counts"]["received"] == p["probes"] and sent > 0
    assert p["counts"]["lost"] == p["counts"]["duplicated"] == 0
    assert sent + p["plain"] == {q["port"]: q for q in doc["stats"]["ports"]}[0]["tx"]["packets"]
    for s in doc["latency"]["streams"]:
        assert s["sent"] == s["received"] > 0 and s["lost"] == s["duplicated"] == 0


def test_probes_turned_on_while_sending():
    doc = ask(args_of("1q"), "set 0 rate 200kpps; start 0 for 600ms; sleep 200ms; set 0 probe on; sleep 200ms; wait 0; show latency; show stats")
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


def test_memory_is_named_and_bounded():
    setup = "stream add 0/1-4095; set 0/0-4095 probe on; set 0/0-4095 latency on; set 0 count 8192; set 0 rate 1Mpps; "
    doc = ask(args_of(), setup + "start 0; wait 0; show plan; show latency")
    taken = doc["plan"]["probes"]["memory_bytes"]
    assert taken == doc["latency"]["memory_bytes"] and taken > 2 * 4096 * 2000
    whole(port(doc, 1)["counts"], 8192)
    r = run([*args_of(), "-b", "-e", "set probes.memory 50; " + setup + "start 0"])
    assert r.returncode == 2 and "probes.memory" in r.stderr and re.search(r"takes \d+ MB", r.stderr)


@pytest.mark.counts
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
    assert tags == ["Tag=port.1.actual", "Tag=port.1.intended", "Tag=port.1.gap", "Tag=stream.0/0.actual"]
    r = run([*args_of(), "-b", "-e", f"latency save {tmp_path / 'none'}"])
    assert r.returncode == 2 and "probe on" in r.stderr and not (tmp_path / "none").exists()


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
    assert [(k["tx"], k["rx"], k["median_ns"]) for k in kept] == [("wire0", "wire1", bias["median_ns"])]
    cmds = f"set 0 probe on; set 0 count {COUNT}; set 0 rate 100kpps; start 0; wait 0; show latency; show latency corrected"
    plain, corrected = (port({"latency": d}, 1) for d in documents(good([*as_json(args_of()), "-e", cmds], env=env)))
    assert plain["bias_ns"] == corrected["bias_ns"] == bias["median_ns"] and not plain["corrected"] and corrected["corrected"]
    for k, v in plain["latency"]["actual"]["percentiles_ns"].items():
        assert corrected["latency"]["actual"]["percentiles_ns"][k] == (v if v is None else max(v - bias["median_ns"], 0))


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
