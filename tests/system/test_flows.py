# SPDX-License-Identifier: BSD-3-Clause
"""Streams whose frames are connections, both ends on the built-in wire: their fates are exact when nothing goes on, whatever the wire does."""
import os
import re
import resource
import signal
import time

import pytest

import pty_term
from harness import as_json, documents, good, lcores, run
from screen_term import RUNNING, Screen
from serving import until

PAIR = "set 0 flow client; set 1 flow server; "
# Workers of a busy machine stand still for longer than answers are waited for now and then. Here they are waited for, so that nothing but a SYN is
# sent again.
PATIENT = "set 0,1 flow.rto 1m; set 0,1 flow.retries 14; set 0,1 flow.drain 1m; "
# What they count without it.
IMPATIENT = {"syn_retransmitted", "fin_retransmitted", "challenge_ack", "rto", "tail_probe", "dup_ack"}


def flows(docs):
    """The flows of the newest document: (port, stream) -> flow."""
    return {(f["port"], f["stream"]): f for f in [d for d in docs if d.get("show") == "flows"][-1]["flows"]}


def judge(f):
    """The sums of DESIGN hold, and nothing is left."""
    c, t = f["connections"], f["transactions"]
    assert c["opened"] == (c["established"] + c["refused"] + c["connect_timeout"] + c["unreachable"] + c["aborted_opening"] + c["opening"])
    assert c["established"] == c["closed"] + c["reset_by_us"] + c["reset_by_peer"] + c["timed_out"] + c["aborted"] + c["open"]
    assert t["started"] == t["done"] + t["failed"] + t["open"]


def idle(f):
    judge(f)
    assert f["state"] == "idle"
    assert f["connections"]["opening"] == f["connections"]["open"] == f["transactions"]["open"] == 0


def play(commands, *args, timeout=120):
    return documents(good(as_json([*lcores(2), *args, "-b", "-e", commands]), timeout=timeout))


def ends(commands, *args, **kw):
    got = flows(play(commands, *args, **kw))
    for f in got.values():
        idle(f)
    return got


def test_the_shortest_start():
    got = ends(PAIR + "start all for 1s; wait all; show flows")
    client, server = got[0, 0], got[1, 0]
    n = client["connections"]["opened"]
    assert 0 < n <= 1000  # fewer where the machine stood still when the last were due
    for f in client, server:
        assert f["connections"]["opened"] == f["connections"]["established"] == f["connections"]["closed"] == n
        assert f["transactions"]["started"] == f["transactions"]["done"] == f["http"]["2xx"] == n
        assert set(f["errors"]) <= IMPATIENT, f["errors"]
    assert client["role"] == "client" and server["role"] == "server"
    assert client["payload"]["tx_bytes"] == server["payload"]["rx_bytes"]
    assert client["payload"]["rx_bytes"] == server["payload"]["tx_bytes"]
    for what in "connect", "first_byte", "transaction", "since_due", "close":
        assert client["latency"][what]["count"] == n


def test_no_rate_of_frames_was_asked():
    """The frames of connections follow from what comes in, so nothing is compared with the rate of the port's other streams."""
    docs = play(PAIR + "start all for 100ms; wait all; show rates; show stats")
    for what, rows in ("rates", "ports"), ("stats", "ports"):
        for row in [d for d in docs if d.get("show") == what][-1][rows]:
            row = row.get("run", row)
            assert row["asked_pps"] is None and row.get("sent", 1) > 0
    assert not any("tester limited" in str(d) for d in docs)


@pytest.mark.parametrize("app", ["http", "bytes", "dialog 'send 10, recv 10, think 1s, send 10, recv 10'", "stream; set 0-1 flow.window 16k",
                                 "http; set 0-1 transactions 2", "bytes; set 0-1 transactions 2", "http; set 0-1 close fin server",
                                 "bytes; set 0-1 close fin server"])
def test_the_time_of_a_close(app):
    """A way of the wire takes 10 ms, so a close takes 20 (less the width of a bin), whoever begins it, and never the second before it. On a machine
    that stands still some of them take longer. A stream has a small window: of what it sends else in 10 ms the wire drops some, and who is patient
    sends that again after a minute."""
    got = ends(PAIR + PATIENT + f"set wire delay 10ms; set 0-1 app {app}; set 0 think 1s; set 0 count 20; set 0 cps 10; start all; "
               "lua 'while wr.show(\"flows\", 0).flows[1].connections.established < 20 do wr.sleep(0.05) end'; stop all; wait all; show flows")
    client = got[0, 0]
    close = client["latency"]["close"]
    assert client["connections"]["closed"] == close["count"] == 20
    assert 19.8e6 <= close["min_ns"] < 900e6
    assert got[1, 0]["latency"]["close"]["count"] == 0


@pytest.mark.parametrize("most", [1, 4])
def test_pipelining(most):
    """So many requests are open at once on a connection, and each is answered, in order."""
    looks = "sleep 20ms; show flows; " * 30
    docs = play(PAIR + f"set wire delay 100ms; set 0 transactions 8; set 0 http.pipeline {most}; set 0 http.path /a:1,/b:3; set 0 count 1; "
                f"start all; {looks} wait all; show flows")
    got = flows(docs)
    assert got[0, 0]["transactions"]["done"] == got[1, 0]["transactions"]["done"] == got[0, 0]["http"]["2xx"] == 8
    assert got[0, 0]["connections"]["closed"] == 1 and got[0, 0]["http"]["bad"] == 0
    assert max(f["transactions"]["open"] for d in docs if d.get("show") == "flows" for f in d["flows"] if f["role"] == "client") == most


@pytest.mark.parametrize("count", [1, 7, 1001])
def test_count_is_of_opens(count):
    got = ends(PAIR + f"set 0 count {count}; set 0 cps 20k; start all; wait all; show flows")
    assert got[0, 0]["connections"]["closed"] == got[1, 0]["connections"]["closed"] == count
    assert got[0, 0]["transactions"]["done"] == count


def test_each_client_has_its_own():
    got = ends("set 0 flow client; stream add 0/1; set 0/1 flow client; set 0/1 flow.dport 81; set 0/0 count 100; set 0/1 count 50; set 0 cps 5k; "
               "set 0/1 cps 5k; set 1 flow server; set 1 flow.sport 80..81; start all; wait all; show flows")
    assert got[0, 0]["connections"]["closed"] == 100
    assert got[0, 1]["connections"]["closed"] == 50
    assert got[1, 0]["connections"]["closed"] == 150


@pytest.mark.parametrize("app,more", [
    ("bytes", "set 0-1 transactions 5; set 0-1 request 1..300; set 0-1 response 1000; "),
    ("dialog 'send 100, recv 1000, x3'", ""),
    ("http", "set 0 http.method POST; set 0 request 3000; set 1 response 20000; set 0-1 transactions 2; "),
])
@pytest.mark.parametrize("close", ["fin client", "fin server", "rst client", "keep"])
def test_what_connections_do(app, more, close):
    got = ends(PAIR + f"set 0-1 app {app}; set 0-1 close {close}; set 0-1 flow.verify on; {more}set 0 count 200; set 0 cps 2k; start all; "
               + ("sleep 1s; stop 0; " if close == "keep" else "") + "wait all; show flows")
    client, server = got[0, 0], got[1, 0]
    assert client["transactions"]["done"] == client["transactions"]["started"] >= 200
    assert client["transactions"]["failed"] == 0
    assert server["transactions"]["done"] == client["transactions"]["done"]
    for f in client, server:
        assert f["connections"]["established"] == 200
        assert f["errors"].get("mismatched", 0) == 0
        assert f["connections"]["timed_out"] == f["connections"]["aborted"] == 0
    assert client["payload"]["tx_bytes"] == server["payload"]["rx_bytes"]


def test_udp():
    got = ends(PAIR + "set 0-1 frame eth/ipv4/udp; set 0 count 500; set 0 cps 5k; start all; wait all; show flows")
    assert got[0, 0]["transactions"]["done"] == 500
    assert got[1, 0]["payload"]["rx_bytes"] == 500 * 64


@pytest.mark.parametrize("transactions", ["1", "4"])
def test_tuples_of_udp_come_round(transactions):
    """The server still knows the connection that had the tuple before."""
    got = ends(PAIR + PATIENT + f"set 0-1 frame eth/ipv4/udp; set 0-1 transactions {transactions}; set 0 flow.sport 1024..1033; set 0 count 200; "
               "set 0 cps 1k; start all; wait all; show flows")
    client, server = got[0, 0], got[1, 0]
    assert client["transactions"]["done"] == server["transactions"]["done"] == 200 * int(transactions)
    assert server["connections"]["opened"] == 10
    assert client["errors"] == server["errors"] == {}


@pytest.mark.parametrize("direction", ["up", "down", "both"])
def test_datagrams_of_a_second_run_are_new(direction):
    got = ends(PAIR + f"set 0-1 frame eth/ipv4/udp; set 0-1 app stream; set 0-1 direction {direction}; set 0 flow.sport 1024..1027; "
               "start all for 200ms; wait all; start all for 200ms; wait all; show flows")
    for f in got.values():
        assert set(f["errors"]) <= {"late"}, f["errors"]
    assert got[0, 0]["connections"]["opened"] > 4


HOSTS = "set 0 ip 10.1.0.1/24,fd00::1/64; set 1 ip 10.1.0.2/24,fd00::2/64; set 1 answer arp,nd,ping,unreachable; set 0 flow client; "


@pytest.mark.parametrize("frame,to,args", [
    ("eth/ipv4/udp", "10.1.0.2", []),
    ("eth/ipv6/udp", "fd00::2", []),
    # queue 0 hears what is said of both queues
    ("eth/ipv4/udp", "10.1.0.2", ["-m", "1.0*2,2.1*2"]),
])
def test_icmp_ends_a_flow_of_udp(frame, to, args):
    got = ends(HOSTS + f"set 0 frame {frame}; set 0 flow.dst {to}; set 0 count 6; set 0 cps 100; start 0; wait 0; show flows", *args)
    c, t = got[0, 0]["connections"], got[0, 0]["transactions"]
    assert c["established"] == c["reset_by_peer"] == t["started"] == t["failed"] == 6
    assert got[0, 0]["errors"] == {"icmp_port": 6}


def test_vlans_and_ipv6():
    got = ends(PAIR + "set 0-1 frame eth/vlan/ipv6/tcp; set 0-1 vlan.vid 7; set 0 ipv6.dst 2001:db8::1; set 1 ipv6.src 2001:db8::1; "
               "set 0 flow.src 2001:db8::1:0..2001:db8::1:9; set 0 count 300; set 0 cps 3k; start all; wait all; show flows")
    assert got[0, 0]["connections"]["closed"] == 300


def test_a_host_has_its_address():
    got = ends("set 0 ip 10.1.0.1/24; set 1 ip 10.1.0.2/24; set 0 flow.dst 10.1.0.2; " + PAIR +
               "set 0 count 50; start all; wait all; show flows")
    assert got[0, 0]["connections"]["closed"] == got[1, 0]["connections"]["closed"] == 50


def test_many_queues():
    args = ["-m", "1.0*2,2.1*2"]
    got = ends(PAIR + "set 0 count 1001; set 0 cps 10k; start all; wait all; show flows; show stats", *args)
    assert got[0, 0]["connections"]["closed"] == got[1, 0]["connections"]["closed"] == 1001


def queues(n):
    return [*lcores(n), "-m", f"1-{n}.0,1-{n}.1"]


@pytest.mark.parametrize("workers,how", [
    (4, ""),
    (8, ""),
    (4, "set 0 rss.fields ip,tcp"),
    (4, "set 1 rss.fields ip,tcp"),
    (8, "set 0,1 rss.fields ip,tcp; set 0 rss.symmetric key; set 1 rss.table 7,6,5*2,0-7"),
    (4, "set 0 rss.fields ip; set 0 flow.src 10.3.0.0/20"),
    (4, "set 0,1 frame eth/vlan/ipv6/tcp; set 0,1 rss.fields ip,tcp; set 0 ipv6.dst 2001:db8::1; set 1 ipv6.src 2001:db8::1"),
    (4, "set 0,1 frame eth/ipv4/udp; set 0,1 rss.fields ip,udp"),
    (4, "set 0,1 rss.fields ip,tcp; set wire loss 2%; set 0,1 flow.rto 5ms"),
])
def test_each_worker_gets_the_answers_to_its_own(workers, how):
    n = 100 * workers + 3
    docs = documents(good(as_json([*queues(workers), "-b", "-e", PAIR + PATIENT + how + f"; set 0 transactions 3; set 0 count {n}; set 0 cps 5k; "
                                   "start all; wait all; show flows; show stats"]), timeout=120))
    got = flows(docs)
    for end in got.values():
        idle(end)
    client, server = got[0, 0], got[1, 0]
    assert client["connections"]["closed"] == n and client["transactions"]["done"] == 3 * n
    lossy = "loss" in how
    if "udp" not in how:
        assert server["connections"]["opened"] == n or lossy
        assert "rst_sent" not in client["errors"] and "rst_sent" not in server["errors"]
    for end in client, server:
        assert lossy or end["segments"]["retransmitted"] == end["errors"].get("syn_retransmitted", 0)
    # the load is dealt: every queue has its part
    for port in docs[-1]["ports"]:
        sent = [q["tx"]["packets"] for q in port["queues"]]
        assert len(sent) == workers and min(sent) > 0
        assert port["port"] == 1 or max(sent) <= min(sent) * (4 if lossy else 1.25), sent  # a worker that stands still is sent to again


def handed(doc, port=0):
    """What the workers of a port have handed over to each other; it came to those whose it is."""
    rows = [row for row in doc["handed_over"] if row["port"] == port]
    total = {key: sum(row[key] for row in rows) for key in ("handed", "taken", "hand_full")}
    assert total["handed"] == total["taken"] and total["hand_full"] == 0, rows
    return total["handed"]


@pytest.mark.parametrize("workers", [2, 8])
def test_where_a_queue_has_no_answers_workers_hand_over(workers):
    """The port hashes addresses alone, of which there is one pair: one queue receives all, and its worker hands over what is not its own."""
    r = run(as_json([*queues(workers), "-b", "-e", PAIR + PATIENT + "set 0 rss.fields ip; set 0 transactions 3; set 0 count 2000; "
                  "set 0 cps 5k; start all; wait all; show flows; show plan; show stats; clear all; show flows"]), timeout=120)
    assert r.returncode == 0, r.stderr
    flow, plan, stats, cleared = documents(r)
    got = flows([flow])
    for end in got.values():
        idle(end)
        assert end["connections"]["closed"] == 2000 and end["transactions"]["done"] == 6000
    assert "none of 4096 tuples" in r.stderr and "set 0 rss.fields ip,tcp,udp" in r.stderr and "hand over" in r.stderr
    # each queue has its part of the connections, and all but those of the queue that receives were handed over
    n = handed(flow)
    rx = got[0, 0]["segments"]["rx"]
    assert rx * (workers - 1) / workers * 0.8 < n < rx, (n, rx)
    assert [q["rx"]["packets"] > 0 for q in stats["ports"][0]["queues"]].count(True) == 1
    assert all(q["tx"]["packets"] > 1000 / workers for q in stats["ports"][0]["queues"])
    tasks = [t for w in plan["workers"] for t in w["tasks"] if t["kind"] == "flows"]
    assert {t["port"]: (t["steering"], "why" in t) for t in tasks} == {0: ("handed over", True), 1: ("sender's queue", False)}
    # no task more than there are without it: the rings are none of the device's queues
    assert len([t for w in plan["workers"] for t in w["tasks"]]) == 4 * workers
    assert handed(cleared) == 0 and len(cleared["handed_over"]) == workers


def test_a_port_that_tells_nothing_of_its_queues_may_have_clients(live):
    p = live([*lcores(2), "-p", "vdev:net_null0", "-m", "1-2.0", "-b"])
    p.send("set 0 flow client; set 0 flow.dst 10.0.0.2; set 0 cps 100; start 0")
    until(lambda: flows([p.ask("show flows")])[0, 0]["connections"]["opened"] > 10)
    assert "hand over" in p.errors() and len(p.ask("show flows")["handed_over"]) == 2


def test_nobody_listens():
    got = ends("set 0 flow client; set 0 count 100; set 0 flow.rto 20ms; set 0 flow.retries 1; set 0 cps 1k; set 1 flow server; set 1 flow.sport 81; "
               "start all; wait all; show flows")
    c = got[0, 0]["connections"]
    assert c["established"] == 0
    assert c["refused"] + c["connect_timeout"] + c["aborted_opening"] == 100


def test_stop_and_again():
    got = ends(PAIR + "set 0 cps 500; start all; sleep 300ms; stop all; wait all; clear all; set 0 count 20; start all; wait all; show flows")
    assert got[0, 0]["connections"]["closed"] == 20
    assert got[1, 0]["connections"]["closed"] == 20


def test_clear_keeps_the_sums(live):
    p = live([*lcores(2), "-b"])
    p.send(PAIR + "set 0-1 app bytes; set 0-1 transactions forever; set 0-1 think 20ms; set 0 connections 50; start all")
    deadline = time.monotonic() + 60
    while flows([p.ask("show flows")])[0, 0]["connections"]["open"] < 50:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    p.send("clear all")
    for _ in range(3):
        for f in flows([p.ask("show flows")]).values():
            assert f["connections"]["open"] == 50
    p.send("stop all; wait all")
    for f in flows([p.ask("show flows", timeout=60)]).values():
        idle(f)
        assert f["connections"]["established"] == f["connections"]["closed"] == 50


def test_everything_changes_while_connections_live():
    changes = ["set 1 response 500", "set 0 cps 3k", "set 0-1 flow.window 8k", "set 0 flow.mss 300", "set 0 http.path /a:3,/b",
               "set 0 flow.timewait 10ms", "set 0 flow.src 192.168.0.1..192.168.0.9", "set 0 cps max", "set 0 connections 20",
               "set 0 cps 100..2000 over 100ms",
               "set 0-1 flow.congestion newreno", "set 0-1 flow.verify on", "set 1 http.status 404", "set 0 cps 1k"]
    got = ends(PAIR + "start all; " + "; sleep 30ms; ".join(changes) + "; sleep 200ms; stop all; wait all; show flows")
    client, server = got[0, 0], got[1, 0]
    assert client["http"]["4xx"] > 0 and client["http"]["2xx"] > 0
    assert client["connections"]["closed"] == client["connections"]["opened"] == server["connections"]["opened"]
    # a tuple that is used again before its time may meet the server's end of the last connection
    assert server["connections"]["closed"] + server["connections"]["reset_by_peer"] == server["connections"]["opened"]
    assert client["transactions"]["failed"] == 0


def test_versions_are_given_back(live):
    p = live([*lcores(2), "-b"])
    p.send(PAIR + "set 0 flow.timewait 0s; start all")

    def versions():
        return {t["port"]: t["versions"] for w in p.ask("show plan")["workers"] for t in w["tasks"] if t["kind"] == "flows"}

    for size in range(100, 130):
        p.send(f"set 1 response {size}; set 0 http.path /{size}; sleep 5ms")
    deadline = time.monotonic() + 60
    while versions() != {0: 1, 1: 1}:
        assert time.monotonic() < deadline, versions()
        time.sleep(0.1)
    p.send("stop all; wait all")
    for f in flows([p.ask("show flows", timeout=60)]).values():
        idle(f)
        assert f["connections"]["closed"] == f["connections"]["opened"]


def test_more_flows_than_a_port_has_ends_for():
    """Each has at least one end of its own; what lists of addresses add is told apart as far as there is room."""
    many = "; ".join(f"set 0/{n} flow.src " + ",".join(f"10.0.{n}.{a}" for a in range(1, 33, 2)) for n in range(64))
    cmds = f"stream add 0/1-63; set 0/0-63 flow client; {many}; set 1 flow server; set 0/0-63 count 16; start all; wait all; show flows"
    got = flows(play(cmds))
    assert [got[0, n]["connections"]["closed"] for n in range(64)] == [16] * 64
    bad = run([*lcores(2), "-b", "-e", "stream add 0/1-64; set 0/0-64 flow client; start 0 for 100ms"])
    assert bad.returncode == 2 and "port 0 has 65 flows; at most 64: fewer, or another port" in bad.stderr


@pytest.mark.parametrize("change", ["set 0 flow.src 10.0.0.1", "set 0 flow.sport 5000..6000", "set 1 flow.sport 81"])
def test_connections_keep_their_addresses(live, change):
    p = live([*lcores(2), "-b"])

    def client():
        return flows([p.ask("show flows")])[0, 0]

    p.send(PAIR + "set 0,1 app bytes; set 0,1 transactions forever; set 0,1 think 20ms; set 0,1 flow.rto 20ms; set 0,1 flow.retries 14; "
           "set 0 connections 50; set 0 cps max; start all")
    deadline = time.monotonic() + 60
    while client()["connections"]["open"] < 50:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    p.send(change)
    done = client()["transactions"]["done"]
    while client()["transactions"]["done"] < done + 50 * 100:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    p.send("stop all; wait all")
    got = flows([p.ask("show flows", timeout=60)])
    for f in got.values():
        idle(f)
        assert f["connections"]["established"] == f["connections"]["closed"] == 50
        assert f["transactions"]["failed"] == 0


def test_a_server_goes_on_with_ipv4_until_a_new_start():
    r = good(as_json([*lcores(2), "-b", "-e", PAIR + "set 0 cps 500; start all; sleep 50ms; set 1 frame eth/ipv6/tcp; sleep 50ms; "
                      "set 1 frame eth/ipv4/tcp; clear all; sleep 200ms; set 1 frame eth/ipv6/tcp; sleep 200ms; "
                      "stop all; wait all; show flows; set 0 frame eth/ipv6/tcp; set 0 ipv6.dst 2001:db8::1; set 1 ipv6.src 2001:db8::1; "
                      "clear all; set 0 count 20; start all; wait all; show flows"]))
    assert "the flow goes on as it was: port 1 began without IPv6" in r.stderr
    old, new = [{f["port"]: f for f in d["flows"]} for d in documents(r) if d.get("show") == "flows"]
    for f in old.values():
        idle(f)
        assert f["connections"]["closed"] == f["connections"]["opened"] > 100
    for f in new.values():
        idle(f)
        assert f["connections"]["closed"] == 20


def test_a_new_stream_counts_from_nothing():
    begin = (PAIR + "stream add 0/1; set 0/0-1 flow client; set 0/1 flow.dport 81; set 0/0-1 count 50; set 1 flow.sport 80..81; start all; wait all; "
             "stream delete 0/1; stream add 0/1; set 0/1 flow client; ")
    got = ends(begin + "show flows")
    assert got[0, 0]["connections"]["closed"] == 50
    assert (0, 1) not in got or got[0, 1]["connections"]["opened"] == 0
    again = ends(begin + "set 0/1 flow.dport 81; set 0/1 count 20; start all; wait all; show flows")
    assert again[0, 0]["connections"]["closed"] == 100
    assert again[0, 1]["connections"]["closed"] == 20


def test_any_number_of_vlans_one_after_the_other():
    starts = [f"set 0-1 vlan.vid {n}; start all; wait all" for n in range(1, 19)]
    got = ends(PAIR + "set 0-1 frame eth/vlan/ipv4/tcp; set 0 count 5; " + "; ".join(starts) + "; show flows")
    assert got[0, 0]["connections"]["closed"] == got[1, 0]["connections"]["closed"] == 18 * 5


def test_samples(live):
    p = live([*lcores(2), "-b"])
    p.send(PAIR + "set 0-1 app bytes; set 0-1 transactions forever; set 0-1 think 100ms; set 0 connections 30; set 0 cps max; start all")
    deadline = time.monotonic() + 60
    while flows([p.ask("show flows")])[0, 0]["connections"]["open"] < 30:
        assert time.monotonic() < deadline
    for n in 10, 256:
        rows = p.ask(f"show connections 0 {n}")["connections"]
        assert len(rows) == min(n, 30)
        assert {r["state"] for r in rows} == {"ESTABLISHED"}
        assert all(0 <= r["age_ns"] < 30e9 for r in rows)
        assert len({r["sport"] for r in rows}) == len(rows)
        assert {(r["src"], r["dst"], r["dport"], r["stream"]) for r in rows} == {("192.168.0.1", "192.168.1.1", 80, 0)}
    before = {r["number"]: r["age_ns"] for r in rows}
    later = p.ask("sleep 500ms; show connections 0 256")["connections"]
    assert all(r["age_ns"] - before[r["number"]] > 490e6 for r in later)


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_skips_the_drain(live, sig):
    """Connections whose peer does not answer would be waited for until the end of the drain."""
    p = live([*lcores(2), "-b"])
    p.send(PAIR + "set 0-1 app bytes; set 0-1 transactions forever; set 0-1 think 5ms; set 0 connections 50; set 0 cps max; "
           "set 0-1 flow.drain 10m; start all; sleep 300ms; set wire loss 100%; stop all")
    deadline = time.monotonic() + 60
    while p.ask("show flows")["flows"][0]["state"] != "draining":
        assert time.monotonic() < deadline
    p.send("wait all")
    p.proc.send_signal(sig)
    assert p.proc.wait(60) == -sig


@pytest.mark.parametrize("front", [pty_term.Term, Screen])
@pytest.mark.parametrize("bound,loss", [(" for 300ms", "100%"), ("", "0")])
def test_an_interrupt_at_the_prompt_skips_the_drain(tmp_path, front, bound, loss):
    """Of what was waited for: ports that have ended reset what is open, and so do their servers, though they may not hear of it. Ports that
    still send go on."""
    screen = [] if front is Screen else ["--no-screen"]
    state = ("lua 'for p = 0, 1 do local f = wr.show(\"flows\", p).flows[1]; "
             "print((\"port %d %s %d\"):format(p, f.state, f.connections.open)) end'\r")
    runs = RUNNING if front is Screen else ""
    with front(tmp_path, *lcores(2), "-p", "wire", *screen, cols=140, rows=50) as t:
        def interrupted():
            """`wait all`, and an interrupt. One that comes before it has begun is none of it, so it is sent until the prompt is back."""
            t.type("wait all").line_is("wait all").type("\r").until(lambda: t.last() == runs, "the line is held")
            end = time.monotonic() + pty_term.LIMIT
            while t.last() != pty_term.PROMPT:
                assert time.monotonic() < end, t.text()
                t.type("\x03")
                again = time.monotonic() + 1
                while t.last() != pty_term.PROMPT and time.monotonic() < again:
                    t.read(0.05)
            return t

        t.prompt().type(PAIR + "set 0-1 app dialog 'send 100, think 10m, recv 100'; set 0-1 flow.drain 10m\r")
        t.prompt().type(f"set 0 connections 50; set 0 cps max; start all{bound}; sleep 500ms\r")
        t.shows("answers connections").prompt()
        if bound == "":
            t.type("lua 'for p = 0, 1 do while wr.show(\"flows\", p).flows[1].connections.open < 50 do wr.sleep(0.01) end end "
                   "print(\"all \" .. \"open\")'\r")
            t.shows("all open").prompt()
            interrupted().shows("cancelled").prompt().type(state).shows("port 0 running 50").shows("port 1 running 50")
            t.prompt().type("clear; stop all\r")
        t.prompt().type("lua 'while wr.show(\"flows\", 0).flows[1].state ~= \"draining\" do wr.sleep(0.01) end print(\"so it \" .. \"drains\")'\r")
        t.shows("so it drains").prompt().type(f"set wire loss {loss}\r").shows(f"set wire loss {loss}").prompt()
        interrupted().type("wait all\r")
        t.prompt().type(state).shows("port 0 idle 0").shows("port 1 idle 0").prompt()
        t.type("quit\r")
        assert t.ends() == 0


def address_space(p, more):
    """Lets a program have so many further bytes of addresses; None: no limit."""
    with open(f"/proc/{p.proc.pid}/status", encoding="ascii") as status:
        kb = next(int(line.split()[1]) for line in status if line.startswith("VmSize"))
    limit = resource.RLIM_INFINITY if more is None else (kb << 10) + more
    resource.prlimit(p.proc.pid, resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))


def refusal(p, command):
    before = p.errors()
    p.send(command)
    p.stats()
    return p.errors()[len(before):]


def test_a_start_without_memory_changes_nothing(live):
    p = live([*lcores(2), "-b", "-k"])
    p.send(PAIR + "set 0/0 count 20; start all; wait all")
    before = p.ask("show flows", timeout=60)
    p.send("set 0 connections 4M; set 0 flow.src 10.0.0.0/24")
    address_space(p, 300 << 20)
    said = refusal(p, "start all")
    assert "no memory for" in said and "connections (" in said and "fewer" in said, said
    now = p.ask("show flows")
    for a, b in zip(before["flows"], now["flows"]):
        assert b["state"] == "idle" and a["connections"] == b["connections"] and a["segments"] == b["segments"]
    address_space(p, None)
    p.send("start all; wait all")
    for f in flows([p.ask("show flows", timeout=60)]).values():
        idle(f)
        assert f["connections"]["closed"] == 40


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: a mount of its own")
def test_a_start_that_would_use_more_memory_than_there_is(live, tmp_path):
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 4000000 kB\nMemAvailable: 2000000 kB\n", encoding="ascii")
    p = live([*lcores(2), "-b", "-k"], prefix=["unshare", "-m", "sh", "-c", 'mount --bind "$0" /proc/meminfo && exec "$@"', str(meminfo)])
    said = refusal(p, PAIR + "set 0 flow.src 10.0.0.0/16; set 0 connections 20M; start all")
    why = r"connections at once take \d+ MB, and there are 1953 MB: fewer, as by `set <streams> connections (\d+)`"
    assert 1e6 < int(re.search("port 0: 20000000 " + why, said)[1]) < 20e6
    assert "no flow has run" in refusal(p, "show flows")
    # of all flows together: more than a machine can have
    said = refusal(p, "set 0 flow.src 10.0.0.0/8; set 0 connections 134M; stream add 0/1 like 0/0; set 0/1 flow.dport 81; start all")
    assert 1e6 < int(re.search("port 0: 268000000 " + why, said)[1]) < 20e6
    p.send("stream delete 0/1")
    p.send("set 0/0 count 20; set 0 connections 100k; start all; wait all")
    assert flows([p.ask("show flows", timeout=60)])[0, 0]["connections"]["closed"] == 20


@pytest.mark.parametrize("what", [
    "set 0-1 transactions forever; set 0 count 10",
    "set 0 close keep; set 0 count 10",
    "set 0 tps 1k; set 0-1 transactions 5; set 0 count 10",
    "set 0/0 count 10; stream add 0/1; set 0/1 rate 1kpps",
])
def test_what_does_not_end_is_not_waited_for(what):
    r = run([*lcores(2), "-b", "-e", PAIR + what + "; start all; wait all"], timeout=60)
    assert r.returncode != 0 and "wait" in r.stderr, (r.stdout, r.stderr)


def test_many_clients_of_different_ports():
    got = ends("set 0 flow client; set 0/0 count 10; " + "; ".join(
        f"stream add 0/{n} like 0/0; set 0/{n} flow.dport {80 + n}" for n in range(1, 20)) +
        "; set 1 flow server; set 1 flow.sport 80..99; start all; wait all; show flows")
    assert len(got) == 21 and all(f["connections"]["closed"] == 10 for f in got.values() if f["role"] == "client")


def test_a_second_stop_does_not_wait(live):
    p = live([*lcores(2), "-b"])
    p.send(PAIR + "set 0-1 app dialog 'send 100, think 90s, recv 100'; set 0-1 flow.drain 90s; set 0 count 10; start all; sleep 300ms; "
           "stop all; stop all; wait all")
    got = flows([p.ask("show flows", timeout=60)])
    for f in got.values():
        idle(f)
    assert got[0, 0]["connections"]["aborted"] == got[0, 0]["transactions"]["failed"] == 10
    assert got[1, 0]["connections"]["reset_by_peer"] == 10


def test_an_end_of_time_aborts():
    got = ends(PAIR + "set 0-1 app bytes; set 0-1 think 10s; set 0-1 transactions 3; set 0-1 flow.drain 100ms; set 0 count 10; start all; "
               "sleep 300ms; stop 0; wait all; show flows")
    c = got[0, 0]["connections"]
    assert c["established"] == 10 and c["closed"] + c["aborted"] == 10


FAULTS = {
    "loss": "set 0-1 wire.loss {share}",
    "reorder": "set 0-1 wire.reorder {share}",
    "duplicate": "set 0-1 wire.duplicate {share}",
    "corrupt": "set 0-1 wire.corrupt {share}",
    "delay": "set 0-1 wire.delay 0ms..5ms",
    "limit": "set 0-1 wire.limit 20Mbps queue 64",
}


@pytest.mark.parametrize("fault,share", [(f, s) for f in FAULTS for s in ("0.1%", "1%", "10%") if "{share}" in FAULTS[f] or s == "1%"])
def test_faults_of_the_wire(fault, share):
    """Every transaction that can end does, sums close, nothing leaks."""
    got = ends(PAIR + FAULTS[fault].format(share=share) + "; set 0-1 app bytes; set 0-1 request 2000; set 0-1 response 20000; "
               "set 0-1 flow.verify on; set 0-1 flow.drain 30s; set 0-1 flow.rto 20ms; set 0-1 flow.retries 12; set 0 count 300; set 0 cps 600; "
               "start all; wait all; show flows")
    client, server = got[0, 0], got[1, 0]
    assert client["connections"]["established"] == 300
    assert client["connections"]["closed"] == 300
    assert client["transactions"]["done"] == 300 and client["transactions"]["failed"] == 0
    assert client["errors"].get("mismatched", 0) == server["errors"].get("mismatched", 0) == 0
    assert client["payload"]["rx_bytes"] == 300 * 20000
    assert server["payload"]["rx_bytes"] == 300 * 2000
    if fault == "loss" and share == "10%":
        assert client["segments"]["retransmitted"] + server["segments"]["retransmitted"] > 0
    if fault == "corrupt" and share == "10%":
        assert client["segments"]["bad_checksum"] + server["segments"]["bad_checksum"] > 0


@pytest.mark.parametrize("flags", ["syn", "rst", "fin,ack", "ack"])
def test_floods(flags):
    """Segments out of nowhere leave nothing behind, and connections do not suffer."""
    got = ends(PAIR + f"stream add 0/1; set 0/1 frame eth/ipv4/tcp; set 0/1 tcp.flags {flags}; set 0/1 tcp.dst 80; set 0/1 tcp.src random; "
               "set 0/1 tcp.seq random; set 0/1 ipv4.src 10.0.0.0/8; set 0/1 rate 20kpps; set 0/1 count 10000; set 1 flow.retries 1; "
               "set 1 flow.rto 200ms; set 1 flow.drain 1s; set 0/0 count 500; set 0 cps 250; start all; wait all; show flows")
    client, server = got[0, 0], got[1, 0]
    assert client["connections"]["closed"] == client["transactions"]["done"] == 500
    c = server["connections"]
    if flags == "syn":
        # the server ends behind its client, and the flood may go on for longer
        assert 2500 < c["opened"] <= 10500
        assert c["connect_timeout"] + c["aborted_opening"] == c["opened"] - 500 and c["closed"] == 500
    else:
        assert c["opened"] == c["established"] == c["closed"] == 500


REFUSED = [
    ("set 0 frame eth/ipv4/icmp", "set 0 frame eth/ipv4/tcp"),
    ("set 0 frame eth/ipv4/icmp/ipv4/tcp", "icmp carries no connections"),
    ("set 0 connections 100; set 0 flow.sport 1000..1009", "need as many tuples"),
    ("set 0 tcp.seq 1..5", "set 0 tcp.seq default"),
    ("set 0 ipv4.id 7", "set 0 ipv4.id default"),
    ("set 0 size 100", "set 0/0 size default"),
    ("set 0 flow.src random", "flow.src"),
    ("set 0 mtu 500; set 0 flow.mss 536", "set 0 flow.mss 460"),
    ("set 0 mtu 68", "set 0 mtu 104"),
    ("stream add 1/1; set 1/1 flow server", "another VLAN"),
    ("set 0-1 frame eth/ipv4/udp; set 0 app http", "set 0 app bytes"),
]


@pytest.mark.parametrize("commands,says", REFUSED)
def test_refusals_name_what_helps(commands, says):
    r = run([*lcores(2), "-b", "-e", PAIR + commands + "; start all for 100ms"])
    assert r.returncode == 2, r.stderr
    assert says in r.stderr


@pytest.mark.parametrize("first,second,same", [
    ("10.15.255.255..10.0.0.0", "10.31.255.255..10.16.0.0", False),
    ("10.15.255.255..10.0.0.0", "10.31.255.255..10.15.255.255", True),
    ("0.0.0.0..255.255.255.255 step 2", "0.0.0.1..255.255.255.255 step 2", False),
    ("0.0.0.0..255.255.255.255 step 2", "0.0.0.1..255.255.255.255 step 65537", True),
    ("10.0.0.0..10.0.0.20 step 6", "10.0.0.2..10.0.0.20 step 4", True),
    ("10.0.0.0..10.0.0.17 step 6", "10.0.0.2..10.0.0.17 step 8", False),
    ("10.0.0.1,10.0.0.9", "10.0.0.3..10.0.0.8", False),
    ("10.0.0.3..10.0.0.9 step 2", "10.0.0.1,10.0.0.9", True),
    ("10.0.0.1,10.0.0.9", "10.0.0.2,10.0.0.8", False),
    ("10.0.0.1,10.0.0.9", "10.0.0.9,10.0.0.8", True),
])
def test_servers_of_the_same_addresses(first, second, same):
    r = run([*lcores(2), "-b", "-e", f"set 1 flow server; stream add 1/1; set 1/1 flow server; set 1/0 flow.src {first}; set 1/1 flow.src {second}; "
             "start 1; stop 1; wait 1"], timeout=60)
    assert (r.returncode == 2 and "are servers of the same addresses" in r.stderr) if same else r.returncode == 0, r.stderr


def test_maps_that_do_not_work():
    r = run([*lcores(2), "-m", "1:2.0", "-m", "2:1.1", "-b", "-e", PAIR + "start all for 100ms"])
    assert r.returncode == 2
    assert '-m "2.0,1.1"' in r.stderr


def test_streams_beside_flows():
    r = play(PAIR + "stream add 0/1; set 0/1 frame eth/ipv4/udp; set 0/1 udp.dst 9; set 0/1 rate 1kpps; set 0/1 count 500; "
             "set 0/0 count 200; start all; wait all; show flows; show streams; show stats")
    got = flows(r)
    idle(got[0, 0])
    assert got[0, 0]["connections"]["closed"] == 200
    streams = [d for d in r if d.get("show") == "streams"][-1]["streams"]
    assert [s["tx"]["packets"] for s in streams if s["port"] == 0 and s["stream"] == 1] == [500]
    sent = [d for d in r if d.get("show") == "stats"][-1]["ports"]
    assert sent[0]["tx"]["packets"] == sent[1]["rx"]["packets"] and sent[1]["tx"]["packets"] == sent[0]["rx"]["packets"]
