# SPDX-License-Identifier: BSD-3-Clause
"""Connections over UDP with several requests open at once, over the wire: what is begun is done, failed or open, whatever happens on the way."""
import pytest

from harness import as_json, good, lcores
from test_flows import PATIENT, ends, flows, judge, play

UDP = "set 0,1 frame eth/ipv4/udp; set 0 flow client; set 1 flow server; "
LATE = ("late", "duplicated", "reordered")


def until(what, least):
    """A client's transactions that are over in this way are at least so many."""
    return f"lua 'while wr.show(\"flows\", 0).flows[1].transactions.{what} < {least} do wr.sleep(0.02) end'; "


@pytest.mark.parametrize("most", [1, 2, 8, 100])
def test_so_many_are_open(most):
    looks = "sleep 20ms; show flows; " * 20
    docs = play(UDP + PATIENT + f"set wire delay 100ms; set 0 bytes.pipeline {most}; set 0 transactions {3 * most}; set 0 count 1; start all; "
                f"{looks} wait all; show flows")
    got = flows(docs)
    assert got[0, 0]["transactions"]["done"] == got[1, 0]["transactions"]["done"] == 3 * most and got[0, 0]["connections"]["closed"] == 1
    assert got[0, 0]["errors"] == got[1, 0]["errors"] == {}
    assert got[0, 0]["latency"]["transaction"]["min_ns"] > 198e6
    assert max(f["transactions"]["open"] for d in docs if d.get("show") == "flows" for f in d["flows"] if f["role"] == "client") == most


def test_a_bad_way():
    """Frames are lost, come twice and overtake each other: each request is answered, or lost itself or its response, or given up before that came."""
    docs = play(UDP + "set wire loss 2%; set wire duplicate 1%; set wire delay 1ms..3ms; set wire order free; set 0 flow.rto 100ms; "
                "set 0 flow.retries 0; set 0 bytes.pipeline 50; set 0 transactions 2000; set 0 count 5; start all; wait all; show flows; show wire")
    got = flows(docs)
    client, server, e = got[0, 0], got[1, 0], got[0, 0]["errors"]
    assert client["connections"]["closed"] == 5 and client["transactions"]["started"] == 10000
    for f in client, server:
        judge(f)
    # the client's connections may be gone when the last ones come
    strays = [d for d in docs if d.get("show") == "flows"][-1]["strays"]
    assert server["transactions"]["done"] == server["segments"]["rx"] == server["segments"]["tx"]
    assert client["segments"]["tx"] == 10000
    assert client["segments"]["rx"] == client["transactions"]["done"] + e.get("late", 0) + e["duplicated"]
    wire = [d for d in docs if d.get("show") == "wire"][-1]["ports"]
    lost = sum(w["lost"] for w in wire)
    unheard = sum(s["no_match"] for s in strays)
    assert 0 < client["transactions"]["failed"] <= lost + e.get("late", 0) + unheard
    assert e["duplicated"] > 0 < e["reordered"] and server["errors"]["reordered"] > 0


def test_a_server_that_goes_and_comes_back():
    """All that is open is given up in each of its times, the connections stay, and go on when there is a server again."""
    got = ends(UDP + "set 0 flow.rto 50ms; set 0 flow.retries 0; set 0 bytes.pipeline 20; set 0 transactions forever; set 0 count 2; start all; "
               + until("done", 1000) + "stop 1; stop 1; wait 1; " + until("failed", 3 * 40) + "start 1; clear 0; " + until("done", 1000)
               + "stop 0; wait 0; stop 1; wait 1; show flows")
    assert got[0, 0]["connections"]["closed"] == 2 and got[0, 0]["transactions"]["done"] >= 1000


def test_while_it_runs():
    """A connection keeps what it began with; what the memory of the run does not suffice for is refused, and the run goes on."""
    commands = (UDP + PATIENT + "set wire delay 20ms; set 0 transactions forever; set 0 connections 3; set 0 cps 20; start all; "
                "lua 'while wr.show(\"flows\", 0).flows[1].transactions.open < 3 do wr.sleep(0.02) end'; "
                "set 0 connections 4; set 0 bytes.pipeline 30; "
                "lua 'while wr.show(\"flows\", 0).flows[1].transactions.open ~= 33 do wr.sleep(0.02) end'; "
                "set 0 connections 64512; set 0 bytes.pipeline 100; sleep 100ms; set 0 connections 4; sleep 100ms; stop all; wait all; show flows")
    r = good(as_json([*lcores(2), "-b", "-e", commands]), timeout=120)
    assert "the flow goes on as it was: port 0 began with less memory" in r.stderr, r.stderr


@pytest.mark.parametrize("queues", [1, 2])
def test_others_say_when(queues):
    """With `tps` each connection takes as many as may be open, and no more."""
    got = ends(UDP + PATIENT + "set wire delay 50ms; set 0 bytes.pipeline 7; set 0 transactions forever; set 0 connections 4; set 0 cps 1k; "
               "set 0 tps 5k; start all; lua 'while wr.show(\"flows\", 0).flows[1].transactions.open < 28 do wr.sleep(0.01) end'; "
               "show flows; stop all; wait all; show flows", "-p", "wire", "-m", f"[1].0*{queues},[1].1*{queues}")
    assert got[0, 0]["transactions"]["done"] == got[1, 0]["transactions"]["done"] >= 28
    assert not set(got[0, 0]["errors"]) & set(LATE)
