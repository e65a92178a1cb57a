# SPDX-License-Identifier: BSD-3-Clause
"""Trials of connections and of transactions: each has a fate, what could not be begun is never `valid`, and everything is as it was before
when they are over."""
import time

import pytest

import harness
from harness import as_json, documents, good, lcores, run
from pty_term import Term
from test_flows import PAIR, idle

# On a machine that others use too: all that is due is begun, however late, and the verdict is of the counters alone.
ANYTHING = harness.COUNTERS_ALONE + "set trial.overtime 1h; set trial.resolution 1h; "
SENT = {"connections": "opened", "transactions": "started"}
QUICK = "set 0-1 flow.rto 20ms; set 0-1 flow.retries 2; set 0-1 flow.drain 2s; "


def closed(t):
    """The sums of a trial, in all and of each direction."""
    assert t["verdict"] == (t["reasons"] + ["valid"])[0] and len(t["why"]) == len(t["reasons"])
    noun = t["of"]
    for part in [t, *t["directions"]]:
        f = part["fates"]
        assert sum(n for name, n in f.items() if name not in (SENT[noun], "excess")) == f[SENT[noun]] + f["excess"], f
        assert f["excess"] == 0
        assert f[SENT[noun]] == part[f"offered_{noun}"]
        c, x = part["connections"], part["transactions"]
        assert c["opening"] == c["open"] == x["open"] == 0
        assert c["opened"] == c["established"] + c["refused"] + c["connect_timeout"] + c["unreachable"] + c["aborted_opening"]
        assert c["established"] == c["closed"] + c["reset_by_us"] + c["reset_by_peer"] + c["timed_out"] + c["aborted"]
        assert x["started"] == x["done"] + x["failed"]
        if part[f"intended_{noun}"] is not None:
            assert part["unsent"] == max(0, part[f"intended_{noun}"] - f[SENT[noun]])
    for key in t["fates"]:
        assert t["fates"][key] == sum(d["fates"][key] for d in t["directions"])
    return t


def trials(commands, *args, code=(0, 1, 4), timeout=120):
    r = run(as_json([*lcores(2), *args, "-b", "-e", commands]), timeout=timeout)
    assert r.returncode in code, r.stderr + r.stdout
    docs = documents(r)
    return [closed(d["trial"]) for d in docs if "trial" in d and "show" not in d], docs


def one(commands, *args, **kw):
    (t,), docs = trials(commands, *args, **kw)
    return t, docs


# ---- what it counts ----

@pytest.mark.parametrize("rate,time,n", [("1kcps", "200ms", 200), ("5kcps", "300ms", 1500), ("333cps", "1s", 333)])
def test_a_wire_answers_all(rate, time, n):
    t, docs = one(PAIR + ANYTHING + f"trial 0 rate {rate} for {time} max-loss 0; show flows", code=(0,))
    assert t["of"] == "connections" and t["verdict"] == "valid" and t["rate"] == rate
    assert t["intended_connections"] == t["offered_connections"] == t["fates"]["succeeded"] == n
    assert t["loss_ratio"] == 0 and t["unsent"] == 0
    assert [(d["from"], d["to"]) for d in t["directions"]] == [([0], [1])]
    assert t["transactions"]["done"] == n and t["servers"]["transactions"]["done"] == n
    assert t["latency"]["connect"]["count"] == t["latency"]["transaction"]["count"] == n
    for f in docs[-1]["flows"]:
        idle(f)


def test_both_directions():
    both = "".join(f"set {p} flow client; stream add {p}/1; set {p}/1 flow server; set {p}/1 flow.src 10.9.0.{p}; " for p in (0, 1))
    t, _ = one(both + "set 0/0 flow.dst 10.9.0.1; set 1/0 flow.dst 10.9.0.0; " + ANYTHING + "trial 0-1 rate 1kcps for 200ms", code=(0,))
    assert [(d["from"], d["to"]) for d in t["directions"]] == [([0], [1]), ([1], [0])]
    assert [d["fates"]["succeeded"] for d in t["directions"]] == [200, 200]
    assert t["intended_connections"] == t["fates"]["succeeded"] == 400
    # the other port's clients are not part of a trial, and its servers are
    t, docs = one(both + "set 0/0 flow.dst 10.9.0.1; set 1/0 flow.dst 10.9.0.0; " + ANYTHING + "trial 0 rate 1kcps for 200ms; show flows",
                  code=(0,))
    assert t["fates"]["succeeded"] == t["servers"]["connections"]["closed"] == 200
    assert {(f["port"], f["stream"]) for f in docs[-1]["flows"]} == {(0, 0), (0, 1), (1, 1)}


def test_clients_share_the_rate():
    t, docs = one("set 0 flow client; stream add 0/1; set 0/1 flow client; set 0/1 flow.dport 81; set 0/0 cps 30; set 0/1 cps 10; "
                  "set 1 flow server; set 1 flow.sport 80..81; " + ANYTHING + "trial 0 rate 1kcps for 400ms; show flows", code=(0,))
    opened = {(f["port"], f["stream"]): f["connections"]["opened"] for f in docs[-1]["flows"]}
    assert opened[0, 0] == 300 and opened[0, 1] == 100 and t["fates"]["succeeded"] == 400


def test_transactions():
    t, docs = one(PAIR + "set 0-1 transactions forever; set 0 tps 5; set 0 cps 2k; set 0 connections 40; " + ANYTHING
                  + "show settings 0; trial 0 rate 4ktps for 500ms max-loss 0; show settings 0", code=(0,))
    assert docs[0] == docs[2] and docs[0]["show"] == "settings"
    assert t["of"] == "transactions" and t["rate"] == "4ktps"
    assert t["intended_transactions"] == t["offered_transactions"] == t["fates"]["succeeded"] == 2000
    # the connections were there before
    assert t["connections"]["opened"] == t["connections"]["closed"] == 40


@pytest.mark.parametrize("cps,n", [("max", 20000), ("1..2k over 6s", 3000)])
def test_transactions_wait_for_all_connections(cps, n):
    """As long as there are more of them: peers take 20 ms to answer, or the ramp has not come far when its highest rate would have opened all."""
    t, _ = one(PAIR + f"set 0-1 transactions forever; set 0 tps 5; set 0 cps {cps}; set 0 connections {n}; set 0-1 flow.drain 2s; "
               "set wire delay 20ms; " + ANYTHING + "trial 0 rate 1ktps for 100ms", code=(0,))
    assert t["connections"]["established"] == t["connections"]["opened"] == n
    assert t["fates"]["succeeded"] == t["fates"]["started"] == 100


@pytest.mark.parametrize("close", ["fin client", "fin server", "rst client", "keep"])
def test_ends_by_their_settings_are_no_failures(close):
    t, _ = one(PAIR + f"set 0-1 close {close}; set 0 flow.drain 3s; " + ANYTHING + "trial 0 rate 500cps for 200ms", code=(0,))
    assert t["fates"]["succeeded"] == t["fates"]["opened"] == 100, t["fates"]
    assert t["loss_ratio"] == 0


def test_datagrams_without_an_answer():
    t, _ = one("set 0,1 frame eth/ipv4/udp; " + PAIR + "set 0 flow.drain 500ms; set wire loss every 10; " + ANYTHING
               + "trial 0 rate 1kcps for 200ms max-loss 1%", code=(1,))
    assert t["transactions"]["failed"] > 0
    assert t["loss_ratio"] == pytest.approx(t["transactions"]["failed"] / t["transactions"]["started"], abs=1e-6)


# ---- failures have names, and what is late has a verdict ----

def test_loss_on_the_wire():
    t, _ = one(PAIR + QUICK + ANYTHING + "set wire loss 30%; trial 0 rate 500cps for 1s max-loss 1%", code=(1,))
    f = t["fates"]
    assert f["opened"] == 500 and f["succeeded"] < 500
    assert f["connect_timeout"] + f["timed_out"] + f["aborted"] + f["aborted_opening"] + f["reset_by_peer"] > 0
    assert t["segments"]["retransmitted"] > 0 and t["servers"]["segments"]["retransmitted"] > 0
    assert t["loss_ratio"] >= 1 - f["succeeded"] / 500 - 1e-6
    assert t["verdict"] == "valid"


def test_nobody_answers():
    t, _ = one("set 0 flow client; set 0 flow.rto 10ms; set 0 flow.retries 1; " + ANYTHING + "trial 0 rate 100cps for 100ms", code=(0,))
    assert t["fates"]["connect_timeout"] == 10 and t["loss_ratio"] == 1 and t["servers"] is None


def test_nobody_listens():
    t, _ = one(PAIR + "set 1 flow.sport 81; " + ANYTHING + "trial 0 rate 100cps for 100ms", code=(0,))
    assert t["fates"]["refused"] + t["fates"]["connect_timeout"] + t["fates"]["aborted_opening"] == 10


def test_more_than_can_be_opened():
    """Ten connections at once, each of which lasts for half a second."""
    limits = harness.COUNTERS_ALONE.replace("set trial.max-short 100%; ", "")
    slow = "set 0 connections 10; set 0-1 transactions 2; set 0 think 500ms; "
    t, _ = one(PAIR + slow + limits + "trial 0 rate 1kcps for 200ms", code=(4,))
    assert t["verdict"] == "tester-limited"
    assert t["intended_connections"] == 200 and t["offered_connections"] == 10 and t["unsent"] == 190
    assert "flow 0/0 opened 10 of 200 connections" in t["why"][0] and "set 0/0 connections" in t["why"][0]
    t, _ = one(PAIR + "set 0 flow.src 10.0.0.1; set 0 flow.sport 5000..5009; set 0-1 transactions 2; set 0 think 500ms; set 0 connections 10; "
               + limits + "trial 0 rate 1kcps for 200ms", code=(4,))
    assert t["verdict"] == "tester-limited" and t["offered_connections"] == 10


def test_more_transactions_than_connections_take():
    limits = harness.COUNTERS_ALONE.replace("set trial.max-short 100%; ", "")
    t, _ = one(PAIR + "set 0-1 transactions forever; set 0 tps 5; set 0 connections 2; set wire delay 20ms; " + limits
               + "trial 0 rate 10ktps for 300ms", code=(4,))
    assert "tester-limited" in t["reasons"] and "set 0/0 connections" in "".join(t["why"])
    assert t["fates"]["succeeded"] == t["fates"]["started"] < t["intended_transactions"]


def test_as_fast_as_possible():
    t, _ = one(PAIR + ANYTHING + "trial 0 rate max for 200ms", code=(0,))
    assert t["intended_connections"] is None and t["intended_cps"] is None and t["rate"] == "max"
    assert t["fates"]["opened"] == t["offered_connections"] > 0


def test_random_arrivals():
    t, _ = one(PAIR + "set 0/0 arrival poisson; " + ANYTHING + "trial 0 rate 2kcps for 200ms", code=(0,))
    assert t["intended_connections"] is None and t["intended_cps"] == 2000
    assert t["fates"]["succeeded"] == t["fates"]["opened"] > 0


# ---- before and behind ----

def test_one_after_the_other():
    """Each counts what it opened itself, and settings are as they were."""
    t, docs = trials(PAIR + ANYTHING + "set 0 cps 700; set 0 count 30; start all; wait all; " + "trial 0 rate 2kcps for 100ms; " * 3
                     + "start all; wait all; show flows", code=(0,))
    assert [x["fates"]["succeeded"] for x in t] == [200] * 3
    assert [x["latency"]["connect"]["count"] for x in t] == [200] * 3
    opened = {f["port"]: f["connections"]["opened"] for f in docs[-1]["flows"]}
    assert opened == {0: 660, 1: 660}


def test_what_is_open_at_the_end_is_waited_for():
    """As long as the flow says, and then it is reset and has a name."""
    begin = time.monotonic()
    t, _ = one(PAIR + "set 0-1 app stream; set 0-1 request 1; set 0 flow.drain 1s; " + ANYTHING + "trial 0 rate 100cps for 100ms", code=(0, 1))
    t, _ = one(PAIR + "set 0-1 transactions 2; set 0 think 30m; set 0 flow.drain 1s; " + ANYTHING + "trial 0 rate 100cps for 100ms", code=(0,))
    assert t["fates"]["opened"] == 10
    assert time.monotonic() - begin < 60


def test_interrupted(tmp_path):
    """What was begun is ended at once, and the next trial begins clean."""
    with Term(tmp_path, "--no-screen", "-p", "wire", cols=160) as t:
        for line in (PAIR + ANYTHING).split("; "):
            t.prompt().type(line + "\r")
        t.prompt().type("set 0 flow.drain 1h; set 0-1 transactions 2; set 0 think 30m; set 0 connections 100\r").prompt()
        t.type("trial 0 rate 1kcps for 1h\r").shows("opening connections,")
        time.sleep(1)
        t.type("\x03").shows("cancelled").prompt()
        t.type("set 0-1 think 0s; wait all\r").prompt()
        t.type("lua 'local c = wr.show(\"flows\", 0).flows[1].connections; "
               "print((\"left %d %s\"):format(c.open + c.opening, c.opened == c.aborted + c.aborted_opening))'\r").shows("left 0 true")
        t.prompt().type("trial 0 rate 1kcps for 100ms\r").shows("intended connections ").shows("transaction max").shows("valid")
        t.prompt().type("quit\r")
        assert t.ends() == 0


def test_scripts():
    script = ("local t, code = wr.trial{ports=0, rate=1000, duration=\"200ms\"}; "
              "wr.expect(t.of == \"connections\" and t.rate == \"1kcps\" and t.fates.succeeded == 200 and code == 0, \"cps\"); "
              "local s = require(\"wirerate.search\").highest{low=100, high=800, resolution=100, again=20, "
              "trial=function(rate) return wr.trial{ports=0, rate=rate, duration=\"50ms\"} end}; "
              "wr.expect(s.rate == 800 and s.upper_by == \"range\", \"search\")")
    good([*lcores(2), "-b", "-e", PAIR + ANYTHING + f"lua '{script}'"])


def test_a_search_finds_what_a_device_carries():
    """Of a device that takes 4000 frames/s and holds 512 more: with four frames of each, it cannot open 2000 connections in each of two seconds
    without losing frames; and where frames are sent once only, those connections fail."""
    script = ("local s = require(\"wirerate.search\").highest{low=50, high=4000, resolution=50, again=0, "
              "trial=function(rate) return wr.trial{ports=0, rate=rate, duration=\"1s\"} end}; "
              "wr.expect(s.exact and s.rate and s.rate < 2000 and s.trial.loss_ratio == 0, \"found \" .. tostring(s.rate)); print(s.rate)")
    good([*lcores(2), "-b", "-e", PAIR + "set 0-1 flow.rto 1s; set 0-1 flow.retries 0; set 0 flow.drain 4s; set wire limit '4kpps queue 512'; "
          + ANYTHING + f"lua '{script}'"], timeout=200)


def test_texts():
    r = good([*lcores(2), "-b", "-e", PAIR + ANYTHING + "trial 0 rate 1kcps for 100ms; show trial"])
    assert r.stdout.count("intended connections/s") == 2 and "intended transactions" not in r.stdout
    r = good([*lcores(2), "--csv", "-b", "-e", PAIR + ANYTHING + "trial 0 rate 1kcps for 100ms"])
    head, row = r.stdout.splitlines()
    got = dict(zip(head.split(","), row.split(",")))
    assert got["intended_connections"] == got["connections.closed"] == got["fates.succeeded"] == "100" and got["verdict"] == "valid"


def test_the_report_and_the_stream_have_it(tmp_path):
    out = tmp_path / "report"
    r = good([*lcores(2), "--json-stream", "--report", str(out), "-b", "-e", PAIR + ANYTHING + "trial 0 rate 1kcps for 100ms"])
    told = [d for d in documents(r) if d.get("event") == "trial"]
    assert [closed(d["trial"])["of"] for d in told] == ["connections"]
    report = harness.document(out.read_text())
    assert [t["fates"]["succeeded"] for t in report["run"]["trials"]] == [100]
