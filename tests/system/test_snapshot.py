# SPDX-License-Identifier: BSD-3-Clause
"""Snapshots by parts, as pages and clients of other processes get them: `show snapshot` prints them."""
import os
import platform
import time

import pytest

from harness import as_json, cpus, document, documents, good, lcores, run
from oracle import read_pcap

BRIEF = {"port", "stream", "mode", "flags", "encap", "frame", "streams", "size", "count", "rate", "burst", "rxburst", "type", "proto", "vlan",
         "sport", "dport", "tcp_flags", "ip_dst", "ip_src", "mac_dst", "mac_src", "node", "pci", "error"}


def shown(parts, *lines, args=("-p", "wire")):
    """The snapshot after these commands."""
    r = good([*args, "-b", "-e", "; ".join([*lines, f"show snapshot {parts}"])])
    return document(r.stdout.splitlines()[-1])


def brief(*lines, port=0):
    return shown("brief", *lines)["brief"][port]


def frame(*lines, args=("-p", "wire")):
    return shown("frame:0/0", *lines, args=args)["frame"]


def covered(runs):
    return {i for at, n in runs for i in range(at, at + n)}


# ---- the list ----

def test_without_parts_it_is_the_counters():
    r = documents(good(as_json(["-p", "wire", "-b", "-e", "show stats; show snapshot; show snapshot stats; show snapshot stats, ,stats"])))
    assert [set(d) for d in r] == [set(r[0])] * 4
    assert r[0]["show"] == "stats" and len(r[3]["ports"]) == 2


def test_it_is_json_in_every_mode():
    for mode in ([], ["--csv"], ["--json"]):
        doc = documents(good(["-p", "wire", *mode, "-b", "-e", "show snapshot help"]))[0]
        assert {"start", "show", "show snapshot"} <= {v["name"] for v in doc["help"]}
        assert all(v["help"] and v["syntax"].startswith(v["name"]) for v in doc["help"])


@pytest.mark.parametrize("parts, why", [
    ("foo", "there is no part 'foo'"), ("stats:0", "there is no part 'stats:0'"), ("config:0", "config"), ("streams", "streams:P"),
    ("streams:x", "streams:P"), ("streams:0/5", "streams:P"), ("streams:0/0+0", "streams:P"), ("frame:0", "frame:P/S"), ("frame:0/", "frame:P/S"),
    ("frame:0/0/0", "frame:P/S"), ("log:0", "log[:N]"), ("xstats:2", "no port 2"), ("frame:9999999999/0", "frame:P/S"), ("streams:2", "no port 2"),
    ("frame:0/1", "no stream 0/1"), ("frame:2/0", "no port 2"), ("streams:0,streams:1", "twice"), ("stats,config,log:5x", "log[:N]"),
])
def test_what_is_refused_says_what_there_is(parts, why):
    r = run(["-p", "wire", "-b", "-e", f"show snapshot {parts}"])
    assert r.returncode == 2 and r.stdout == ""
    assert why in r.stderr


def test_an_unknown_part_names_them_all():
    said = run(["-p", "wire", "-b", "-e", "show snapshot stats,streems:0"]).stderr
    for form in ("stats", "config", "brief", "log[:N]", "streams:P", "frame:P/S", "xstats:P", "cpu", "help", "head"):
        assert form in said.split("there are:")[1], form
    assert said.split("\n")[1].index("^") == said.split("\n")[0].index("streems")


# ---- what show shows too ----

def test_config_and_map_are_those_of_show():
    r = documents(good(["-p", "wire", "--json", "-b", "-e", "show ports; show map; show snapshot config"]))
    assert r[2]["config"] == r[0]["ports"]
    assert r[2]["map"] == {k: v for k, v in r[1].items() if k != "show"}
    assert all(p["pci"] is None for p in r[2]["config"])


def test_log_is_that_of_show_and_its_newest():
    # a second port is not used, which is told
    r = documents(good(["-p", "wire", "-p", "null", "-m", "1.0", "-m", "1.1", "--json", "-b",
                        "-e", "show log; show snapshot log; show snapshot log:1"]))
    messages = r[0]["messages"]
    assert messages and r[1]["log"] == messages
    assert r[2]["log"] == messages[-1:]


# ---- the rows of the main page ----

def test_brief_as_it_comes():
    b = brief()
    assert set(b) == BRIEF
    assert b == {**b, "port": 0, "stream": 0, "mode": "Single", "flags": "---------", "encap": None, "frame": "eth/ipv4/udp", "streams": "1",
                 "size": "64", "count": "Forever", "rate": "100%", "burst": "32", "rxburst": "64", "type": "IPv4", "proto": "UDP",
                 "vlan": None, "sport": "1234", "dport": "5678", "tcp_flags": None, "ip_dst": "192.168.1.1", "ip_src": "192.168.0.1",
                 "node": None, "pci": None, "error": None}
    assert len(b["mac_src"]) == 17 and b["mac_dst"] == brief(port=1)["mac_src"]


@pytest.mark.parametrize("lines, want", [
    (["set 0 enabled off"], {"mode": "None", "streams": "0", "stream": 0}),
    (["set 0 udp.dst 1..9"], {"mode": "Range", "dport": "1..9", "proto": "UDP", "tcp_flags": None}),
    (["set 0 size 64,128"], {"mode": "Range", "size": "64,128"}),
    (["range 0 src port 5 5 10 1", "enable 0 range"], {"mode": "Range", "sport": "5..10"}),
    (["range 0 src port 5 5 10 1"], {"mode": "Single", "sport": "1234"}),
    (["set 0 rnd_s_ip on"], {"mode": "Random", "flags": "-----i---", "ip_src": "random"}),
    (["set 0 rnd_s_pt on", "set 0 promiscuous on"], {"mode": "Random", "flags": "P-----p--", "sport": "random"}),
    (["set 0 rnd 0 20 XXXX", "enable 0 random"], {"mode": "Random", "flags": "-------R-"}),
    (["set 0 seq_cnt 3"], {"mode": "Seq", "streams": "3", "stream": 1}),
    (["stream add 0 2"], {"mode": "Streams", "streams": "3", "stream": 0}),
    (["stream add 0 2", "set 0/0,0/1 enabled off", "set 0/2 size 99"], {"mode": "Single", "streams": "1", "stream": 2, "size": "99"}),
    (["enable 0 vlan", "set 0 vlan 7"], {"encap": "VLAN", "vlan": "7", "size": "64"}),
    (["enable 0 qinq", "set 0 qinqids 100 5"], {"encap": "QnQ", "vlan": "100/5"}),
    (["set 0 frame eth/ipv6/icmpv6"], {"type": "IPv6", "proto": "ICMPv6", "sport": None, "dport": None}),
    (["set 0 frame eth/arp"], {"type": "ARP", "proto": None}),
    (["set 0 frame eth", "set 0 eth.type 0x88b5"], {"type": None, "proto": None, "ip_dst": None}),
    (["set 0 count 1000", "set 0 rate 1Mpps", "set 0 burst 16"], {"count": "1000", "rate": "1Mpps", "burst": "16"}),
    (["set 0 frame eth/ipv4/udp/vxlan/eth/ipv4/udp", "set 0 dst ip 10.9.9.9"],
     {"encap": "VxLan", "ip_dst": "10.9.9.9", "dport": "4789", "size": "96"}),
])
def test_brief(lines, want):
    b = brief(*lines)
    assert {k: b[k] for k in want} == want
    assert b["error"] is None
    assert all(v is None or isinstance(v, str) for k, v in b.items() if k not in ("port", "stream"))


def test_brief_of_a_frame_that_cannot_be_built():
    b = brief("set 0 size 64", "set 0 frame eth/ipv4/udp/vxlan/eth/ipv4/udp")
    assert "96" in b["error"]
    assert (b["size"], b["sport"], b["ip_src"]) == ("64", "1234", "192.168.0.1")


# ---- streams ----

def test_streams_with_their_fields_in_the_order_of_the_frame():
    d = shown("streams:0", "set 0 frame eth/vlan/ipv4/udp", "set 0 udp.dst 1000..2000", "set 0 eth.dst 02:00:00:00:00:01", "set 0 vlan.vid 5",
              "set 0 tcp.flags syn", "range 0 src port 5 5 10 1", "enable 0 range", "set 0 pattern random", "set 0 rnd.2 50 1X", "set 0 random on")
    (s,) = d["streams"]
    assert (d["streams_total"], d["streams_before"], s["ranges"]) == (1, 0, True)
    assert [(f["name"], f["value"], f["varies"]) for f in s["fields"]] == [
        ("eth.dst", "02:00:00:00:00:01", False), ("vlan.vid", "5", False), ("udp.src", "5..10", True), ("udp.dst", "1000..2000", True),
        ("pattern", "random", True), ("random", "on", False), ("rnd.2", "50 1X", True)]


def test_windows_of_many_streams():
    many = ["stream add 0 4095", "stream delete 0/1-9", "set 0/100 ipv4.ttl 7"]
    show = documents(good(["-p", "wire", "--json", "-b", "-e", "; ".join([*many, "show streams 0", "show snapshot streams:0"])]))
    d = show[-1]
    assert (d["streams_total"], d["streams_before"], len(d["streams"])) == (4087, 0, 256)
    for whole, part in zip(show[-2]["streams"], d["streams"]):
        assert {k: part[k] for k in whole} == whole
    d = shown("streams:0/5+3", *many)
    assert [s["stream"] for s in d["streams"]] == [10, 11, 12] and d["streams_before"] == 1
    d = shown("streams:0/4094+9", *many)
    assert [s["stream"] for s in d["streams"]] == [4094, 4095] and d["streams_before"] == 4085
    d = shown("streams:0/100~5", *many)
    assert [s["stream"] for s in d["streams"]] == [98, 99, 100, 101, 102]
    assert [("fields" in s, s["stream"]) for s in d["streams"] if "fields" in s] == [(True, 100)]
    assert d["streams"][2]["fields"] == [{"name": "ipv4.ttl", "value": "7", "varies": False}]
    assert [s["stream"] for s in shown("streams:0/4095~3", *many)["streams"]] == [4093, 4094, 4095]
    assert shown("streams:0/5000+3", *many)["streams"] == []


# ---- a frame ----

CHANGES = [
    ([], [], []),
    (["set 0 udp.dst 1000..2000", "set 0 ipv4.src 10.0.0.0/24"], ["ipv4.src", "udp.dst"], ["ipv4.cksum", "udp.cksum"]),
    (["set 0 size 64,100,128"], ["size"], ["ipv4.len", "ipv4.cksum", "udp.len", "udp.cksum"]),
    (["set 0 size 64,100", "set 0 udp.cksum 0", "set 0 ipv4.len 46"], ["size"], ["udp.len"]),
    (["set 0 size 90", "set 0 pattern random", "set 0 eth.src random"], ["eth.src", "payload"], ["udp.cksum"]),
    (["range 0 dst mac 02:00:00:00:00:00 02:00:00:00:00:00 02:00:00:00:00:ff 1", "enable 0 range"], ["eth.dst"], []),
    (["set 0 rnd.0 22 XXXX", "set 0 random on"], ["ipv4.ttl"], ["ipv4.cksum"]),
    (["set 0 frame eth/ipv4/udp/vxlan/eth/ipv4/udp", "set 0 udp[2].dst 1000..2000"], ["udp[2].dst"], ["udp[2].cksum"]),
]


@pytest.mark.parametrize("lines, varies, follows", CHANGES)
def test_what_changes_in_a_frame_is_what_leaves(tmp_path, lines, varies, follows):
    """The bytes that differ between the frames of a file are those that were told."""
    out = tmp_path / "out.pcap"
    lines = ["set 0 frame eth/ipv4/udp", *lines]
    r = good(["-p", f"pcap:tx={out}", "--json", "-b", "-e", "; ".join([*lines, "set 0 rate max", "set 0 count 3000", "show frame 0",
                                                                       "show snapshot frame:0/0", "start 0"])])
    frame_now, told = documents(r)[:2]
    f = told["frame"]
    assert told["frame_error"] is None and frame_now["frames"] == [f]
    assert (f["varies"], f["follows"]) == (varies, follows)
    frames = read_pcap(out)
    assert len(frames) == 3000 and frames[0].hex() == f["hex"]
    differ = {i for g in frames for i, (a, b) in enumerate(zip(frames[0], g)) if a != b}
    marked = covered(f["bytes"]) | covered(f["follows_bytes"])
    headers = {i for i in differ if i < f["payload"]["offset"]}
    assert headers <= marked
    assert covered(f["bytes"]) <= differ
    if "size" not in varies:
        assert differ <= marked
    assert not covered(f["bytes"]) & covered(f["follows_bytes"])


def test_a_frame_that_cannot_be_built_is_an_answer():
    d = shown("frame:0/0", "set 0 size 64", "set 0 frame eth/ipv4/udp/vxlan/eth/ipv4/udp")
    assert d["frame"] is None and "too small" in d["frame_error"]


# ---- the device's counters ----

def test_rates_of_the_devices_counters(live):
    w = live(["-p", "wire", "-p", "null", "-m", "1.0", "-m", "1.1"])
    first = w.ask("show snapshot xstats:0")["xstats"]
    names = [v["name"] for v in first["values"]]
    assert "tx_good_packets" in names and first["interval_ns"] is None
    assert all(v["per_s"] is None for v in first["values"])
    w.send("set 0 rate 10kpps; set 0 count 500; start 0; wait 0")
    time.sleep(0.15)
    x = w.ask("show snapshot xstats:0")["xstats"]
    assert [v["name"] for v in x["values"]] == names
    value = {v["name"]: v for v in x["values"]}
    sent = value["tx_good_packets"]
    assert sent["value"] == 500
    assert sent["per_s"] * x["interval_ns"] / 1e9 == pytest.approx(500)
    assert value["rx_good_packets"]["per_s"] == 0
    # what this driver does not count is not 0
    assert value["tx_good_bytes"]["value"] is None and value["tx_good_bytes"]["per_s"] is None
    assert w.ask("show snapshot xstats:2")["xstats"] == {"port": 2, "name": "null", "interval_ns": None, "values": []}
    assert w.quit()[0] == 0


# ---- what stands above every page ----

def head(line):
    r = good(["-p", "wire", "-b", "-e", f"{line}; show snapshot head; stop all"])
    return next(d["head"] for d in map(document, r.stdout.splitlines()) if "head" in d)


def test_head_knows_the_time_left_and_the_last_trial():
    assert head("set all rate 1kpps") == {"left_ns": None, "verdict": None}
    assert head("set all rate 1kpps; start 0") == {"left_ns": None, "verdict": None}
    assert 50e9 < head("set all rate 1kpps; start 0 for 50s; start 1 for 100s")["left_ns"] <= 100e9
    assert head("set all rate 1kpps; start 0 for 50s; start 1")["left_ns"] is None, "one of them has no end"
    tried = run(["-p", "wire", "-b", "--keep-going", "-e", "trial 0 rate 1kpps for 100ms; show snapshot head"]).stdout.splitlines()[-1]
    verdict = document(tried)["head"]["verdict"]
    assert verdict in ("valid", "preempted", "tester-limited", "clock-suspect", "counters-disagree")


# ---- latency ----

def test_bins_hold_each_sample():
    d = shown("latency:1", "set 0 probe on", "set 0 count 1000", "set 0 rate 100kpps", "start 0", "wait all")
    port = next(p for p in d["latency"]["ports"] if p["port"] == 1)["latency"]["actual"]
    bins = port["bins"]
    assert sum(bins["counts"]) == port["samples"] == 1000
    assert bins["counts"][0] > 0 and bins["counts"][-1] > 0
    last = bins["from_ns"] * 2 ** (len(bins["counts"]) / bins["per_octave"])
    assert bins["from_ns"] >= 1 and port["min_ns"] <= bins["from_ns"] and port["max_ns"] <= last * 1.002
    assert d["latency"]["ports"][0]["latency"]["actual"]["bins"] is None, "nothing came there"


# ---- the computer ----

def test_cpus_and_who_runs_on_them():
    have = cpus()
    d = shown("cpu", args=[*lcores(2, one_cpu=True), "-p", "wire", "-m", "[1:2].0,[2:1].1"])["cpu"]
    here = {c["cpu"]: c for c in d["cpus"]}
    assert d["threads"] == len(here) and set(have) <= set(here)
    assert platform.release() in d["kernel"]
    first = here[have[0]]
    assert first["lcores"] == [0, 1, 2] and first["lcore"] == 0
    assert first["role"] == "control; rx 0.0 tx 1.0; rx 1.0 tx 0.0"
    assert d["floating"] == {"lcore": None, "lcores": [], "role": None}
    for c in d["cpus"]:
        assert c["cpu"] == have[0] or (c["lcores"], c["lcore"], c["role"]) == ([], None, None)
        path = f"/sys/devices/system/cpu/cpu{c['cpu']}/topology/core_id"
        if os.path.exists(path):
            with open(path, encoding="ascii") as f:
                assert c["core"] == int(f.read())


@pytest.mark.skipif(len(cpus()) < 2, reason="one CPU")
def test_workers_of_no_single_cpu_float():
    d = shown("config,cpu", args=[*lcores(1), "-p", "wire", "-m", "1.0*3,1.1"])
    assert d["cpu"]["floating"] == {"lcore": 1, "lcores": [1], "role": "rx 0.0-2,1.0 tx 0.0-2,1.0"}
    assert [w["cpu"] for w in d["workers"]] == [-1]
    assert d["map"]["control_cpu"] == cpus()[0]
