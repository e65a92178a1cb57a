# SPDX-License-Identifier: BSD-3-Clause
"""`knee` as its users run it. Whether a trial is valid is the machine's affair, so its limits are wide here; where the knee is, is for the unit
tests, on devices whose latency is known."""
import csv
import io
import json
import os
import signal
import subprocess

import pytest

import harness
from html_page import Page, number, says
from serving import until

WIDE = "set trial.max-wait 100%; set trial.max-stall 10s; set trial.max-clock 100%; set trial.max-rate-error 100%; set trial.max-short 100%"
LATE = "set trial.overtime 2s; set 0,1 catchup keep"  # what is due is sent, however late: not for rates that cannot be sent
FLOWS = "set 0 flow client; set 1 flow server; set 0 flow.drain 300ms"
RANKS = ["p50_ns", "p90_ns", "p99_ns", "p99_9_ns", "p99_99_ns"]
NEEDED = [2, 10, 100, 1000, 10000]


def knee(*commands, codes=(0, 4), options=("--json",)):
    r = harness.run(["-p", "wire", "-b", *options, "-e", "; ".join([WIDE, *commands])])
    assert r.returncode in codes, r.stderr
    return r


def check(doc, loads):
    harness.schema().validate(doc)
    k = doc["knee"]
    assert k["complete"] and [round(x["load"] * loads) for x in k["loads"]] == list(range(1, loads + 1))
    for load in k["loads"]:
        for times in load["latency"].values():
            for rank, needed in zip(RANKS, NEEDED):
                assert (times[rank] is None) == (times["samples"] < needed), (load, rank)
            known = [times[r] for r in RANKS if times[r] is not None]
            assert known == sorted(known) and (not known or known[-1] <= times["max_ns"])
    return k


def check_page(page, k):
    """A drawing and a table of each time, whose numbers are the document's."""
    times = list(k["loads"][0]["latency"])
    assert page.svgs == len(page.tables) == len(times)
    for n, time in enumerate(times):
        rows = page.rows(n)
        assert len(rows) == len(k["loads"])
        for row, load in zip(rows, k["loads"]):
            assert number(row["load"]) == pytest.approx(load["load"], abs=1e-3) and row["verdict"] == load["verdict"]
            for column, rank in zip(("50%", "90%", "99%", "99.9%", "99.99%", "max"), [*RANKS, "max_ns"]):
                assert says(row[column], load["latency"][time][rank]), (row, load["latency"][time])


def test_frames(tmp_path):
    """The limit is found, all loads up to it are measured, no setting is changed, and the page has a drawing and a table of both times."""
    out = tmp_path / "knee.html"
    for duration in (50, 200, 800):  # a machine may have no time for trials of 50 ms
        out.unlink(missing_ok=True)
        r = knee("set 0 rate 7kpps", f"knee 0 loads 2 loss 100% for {duration}ms html {out}", "show settings 0")
        measured, settings = [json.loads(line) for line in r.stdout.splitlines()]
        loads = measured["knee"]["loads"]
        if loads and all(times["p50_ns"] is not None for load in loads for times in load["latency"].values()):
            break
    else:
        pytest.skip("this machine had no time for one trial that counts")
    k = check(measured, 2)
    assert (k["of"], k["unit"]) == ("frames", "pps")
    assert k["limit"]["state"] in ("exact", "at least") and k["limit"]["per_s"] > 0 and k["limit"]["trials"] >= 2, k["limit"]
    assert [x["intended_per_s"] / k["limit"]["per_s"] for x in k["loads"]] == pytest.approx([1 / 2, 1], rel=1e-3)
    assert [s["value"] for s in settings["settings"] if s["name"] == "rate"][0] == "7kpps"
    check_page(Page(out), k)
    r = harness.run(["-p", "wire", "-b", "-e", f"knee 0 for 1ms html {out}"])
    assert r.returncode == 2 and "is there already" in r.stderr and r.stdout == ""


def test_connections_and_transactions():
    for duration in (100, 400, 1600):  # a machine may have no time for connections within 100 ms
        k = check(json.loads(knee(LATE, FLOWS, f"knee 0 of cps max 2kcps loads 2 for {duration}ms").stdout), 2)
        if all(load["latency"]["close"]["samples"] > 0 for load in k["loads"]):
            break
    assert (k["of"], k["unit"], k["limit"]["state"], k["limit"]["rate"]) == ("connections", "cps", "given", "2kcps")
    assert all(load["latency"][t]["samples"] > 0 for load in k["loads"] for t in ("since_due", "connect", "first_byte", "transaction", "close"))
    k = check(json.loads(knee(LATE, FLOWS, "set 0 connections 20; set 0 transactions forever; set 0 tps 1k",
                              "knee 0 of tps max 4ktps loads 2 for 100ms").stdout), 2)
    assert (k["of"], k["unit"], [x["rate"] for x in k["loads"]]) == ("transactions", "tps", ["2ktps", "4ktps"])
    assert all(0 < x["latency"]["since_due"]["samples"] <= most for x, most in zip(k["loads"], (200, 400)))


def test_tables_and_lua(tmp_path):
    rows = list(csv.DictReader(io.StringIO(knee(LATE, "knee 0 max 20kpps loads 2 for 20ms", options=("--csv",)).stdout)))
    assert [row["load"] for row in rows] == ["0.5", "1"] and all(int(row["latency.since_due.samples"]) > 0 for row in rows)
    text = knee(LATE, "knee 0 max 20kpps loads 2 for 20ms", options=()).stdout
    assert "since due\n" in text and "since sent\n" in text and "limit: given, 20kpps" in text and "\nknee: " in text
    script = tmp_path / "some.lua"
    script.write_text('local k = wr.knee{ports = 0, max = "20kpps", loads = 2, duration = "20ms"}\n'
                      "print(k.unit, #k.loads, k.loads[2].latency.since_due.samples > 0)\n")
    r = harness.run(["-p", "wire", "-b", "-e", f"{WIDE}; {LATE}", "-f", str(script)])
    assert r.stdout.split() == ["pps", "2", "true"], r.stderr


def test_an_interrupt_keeps_what_is_measured(tmp_path):
    out = tmp_path / "knee.html"
    running = subprocess.Popen([os.environ["WIRERATE"], "-p", "wire", "-b", "--json-stream", "-e", WIDE,
                                "-e", f"knee 0 max 10kpps loads 100 for 100ms html {out}"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    trials = 0
    while trials < 2:
        trials += json.loads(running.stdout.readline())["event"] == "trial"
    running.send_signal(signal.SIGINT)
    rest, err = running.communicate(timeout=60)
    assert running.returncode == -signal.SIGINT, err
    documents = [json.loads(line) for line in rest.splitlines()]
    k = [d for d in documents if "knee" in json.dumps(d)]
    assert k, documents
    assert Page(out).tables
    until(lambda: out.exists(), "the page")
