# SPDX-License-Identifier: BSD-3-Clause
"""Snapshots with the parts of the pages flows and flow: app/snapshot.h says what is in them."""
import math

from snap_base import snapshot
from snap_pages import ports_of

CONNECTIONS = ("opened", "established", "refused", "connect_timeout", "unreachable", "no_tuple", "aborted_opening", "opening", "closed",
               "reset_by_us", "reset_by_peer", "timed_out", "aborted", "open")


def times(count=0, middle=0):
    if count == 0:
        return {"min_ns": None, "mean_ns": None, "p50_ns": None, "p90_ns": None, "p99_ns": None, "p999_ns": None, "max_ns": None, "count": 0}
    return {"min_ns": middle // 4, "mean_ns": middle * 1.1, "p50_ns": middle, "p90_ns": middle * 2, "p99_ns": middle * 5, "p999_ns": middle * 20,
            "max_ns": middle * 90, "count": count}


def bins(o):
    """The distribution that the page of one flow draws: a hill around the middle, with a tail."""
    counts = [int(1e5 * math.exp(-((i - 32) / 12) ** 2)) + (3 if i % 7 == 0 else 0) for i in range(16 * 9)]
    return {**o, "bins": {"from_ns": o["min_ns"], "per_octave": 16, "counts": counts},
            "percentiles_ns": {"p50": o["p50_ns"], "p90": o["p90_ns"], "p95": o["p90_ns"], "p99": o["p99_ns"], "p99_9": o["p999_ns"],
                               "p99_99": None, "p99_999": None}}


def flow(port, stream, role, n=0, state="running", wrong=0, **more):
    connections = dict.fromkeys(CONNECTIONS, 0)
    connections.update(opened=n, established=n - wrong, closed=n - 2 * wrong - 64, open=64, connect_timeout=wrong, reset_by_peer=wrong)
    client = role == "client"
    return {"port": port, "stream": stream, "role": role, "state": state, "connections": connections,
            "transactions": {"started": n, "done": n - wrong, "failed": wrong, "open": 0},
            "payload": {"tx_bytes": 40 * n, "rx_bytes": 187 * n},
            "segments": {"tx": 5 * n, "rx": 4 * n, "retransmitted": 3 * wrong, "duplicate": wrong, "out_of_order": 0, "bad_checksum": 0,
                         "unverified": 0, "same_tos": 0},
            "http": {"1xx": 0, "2xx": n - wrong, "3xx": 0, "4xx": 0, "5xx": 0, "bad": 0, "head": 0, "post": 0, "put": 0},
            "rates": {"cps": n / 10, "tps": n / 10, "tx_bps": 32 * n, "rx_bps": 149 * n},
            "errors": {"rto": wrong, "fast_recovery": 2 * wrong} if wrong else {},
            "latency": {"connect": times(n if client else 0, 21_000), "first_byte": times(n if client else 0, 23_000),
                        "transaction": times(n if client else 0, 24_000), "since_due": times(n if client else 0, 26_000),
                        "close": times(n if client else 0, 9_000)},
            "pace": {"connections": {"due": n, "done": n, "late": wrong, "late_max_ns": 1200 * wrong},
                     "transactions": {"due": 0, "done": 0, "late": 0, "late_max_ns": 0}}, **more}


def flows_of(flows):
    s = snapshot(ports_of(2), [])
    s["flows"] = flows
    return s


def flows():
    """A client that loses some, its server, a client that is idle, and one that opens as fast as it can."""
    return flows_of([flow(0, 0, "client", 12_345_678, wrong=17), flow(0, 3, "client", state="idle", connections={}),
                     flow(1, 0, "server", 12_345_678, state="draining"), flow(1, 4095, "client", 3_000_000_000_000, state="ramping")])


def flows_many():
    return flows_of([flow(i // 30, i % 30, "client" if i < 30 else "server", 1000 * i, wrong=i % 3) for i in range(60)])


def flows_none():
    return flows_of([])


def flows_strange():
    return flows_of([None, 5, {"port": "x", "role": 7, "rates": 3}, flow(0, 0, "\x1b[31m", 5, latency=None, errors=[1])])


def one_of(one):
    s = snapshot(ports_of(2), [])
    s["flow"] = one
    return s


def flow_client():
    one = flow(0, 0, "client", 12_345_678, wrong=17)
    one["latency"] = {name: bins(o) for name, o in one["latency"].items()}
    return one_of(one)


def flow_server():
    return one_of(flow(1, 0, "server", 1_000_000))


def by_dst(n, probability):
    """Each server has a little less than the one before, and its weight is one of three."""
    opened = [1_000_000 // (i + 1) for i in range(n)]
    servers = [{"port": 0, "stream": 0, "role": "client", "address": f"10.1.0.{i + 1}" if i % 2 == 0 else f"2001:db8::{i + 1}", "server_port": 80,
                "weight": i % 3 + 1 if i < n - 1 else None, "share": opened[i] / sum(opened), "expected": 1 / n if i < n - 1 else None,
                "opened": opened[i], "established": opened[i], "closed": opened[i] - 3, "open": 3, "done": opened[i]} for i in range(n)]
    about = {"port": 0, "stream": 0, "role": "client", "by_dst": True, "servers": n, "opened": sum(opened), "chi_square": 325.017,
             "degrees": n - 1, "probability": probability, "others": None}
    return {"flows": [about], "servers": servers[:64]}


def flow_balanced():
    return one_of(flow(0, 0, "client", 1_000_000, by_dst=by_dst(3, 2.67e-71)))


def flow_many_servers():
    return one_of(flow(0, 0, "client", 1_000_000, by_dst=by_dst(4096, None)))


def flow_none():
    return one_of(None)


def flow_strange():
    return one_of({"role": 5, "connections": {"opened": "x"}, "latency": [1], "errors": "e", "pace": {"connections": 7},
                   "by_dst": {"flows": [3], "servers": [None, {"address": 5, "share": "x", "opened": []}]}})


SNAPS = {f.__name__: f for f in (flows, flows_many, flows_none, flows_strange, flow_client, flow_server, flow_balanced, flow_many_servers, flow_none,
                                 flow_strange)}
