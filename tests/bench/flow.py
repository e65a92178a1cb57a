# SPDX-License-Identifier: BSD-3-Clause
"""What lib/flow costs: both ends of connections on one worker, against a bare loop in the same rounds (bench_flow.c)."""
import json
import os
import statistics
import subprocess

from proc import CannotRun

# row -> most cycles for each frame received or sent, as multiples of the bare loop's
TIMES = {"flow_cps": 6.5, "flow_cps_sums": 7.5, "flow_many_live": 11.5, "flow_tps": 7.5, "flow_http": 8.5}
OPEN_TIMES, OPEN_BYTES, OPEN_BYTES_IP6 = 40, 112, 144
# connections through a tunnel and over IPv6, to those of the plain row in the same run
# rows and what they are compared with in the same run: connections to 16 servers, the same counted by server, and frames that another
# worker receives; one thread is both workers there, so that row is what both pay together, without the cache misses between two CPUs
MORE = {"flow_cps_servers": "flow_cps", "flow_cps_by_dst": "flow_cps_servers", "flow_cps_handed": "flow_cps"}
# rows in which each call of a record is two calls: what one costs
RECORD, RECORD_PERCENT = {"flow_cps_record": "flow_cps", "flow_tps_record": "flow_tps"}, 5
OTHER_FRAMES, OTHER_TIMES = ("flow_cps_vxlan", "flow_cps_ip6"), 1.3
MANY_RATE = 0.62
BULK_BITS = 30
# looking at a frame of no flow, to looking at one of a flow, until each is known as what it is
STRAYS = {"flow_stray / taken": "stray", "flow_other_type / taken": "other"}
TIMED_PERCENT = 5
IDLE_PERCENT = 5


def measure(build, cpu):
    """One process. Its buffers lie in small pages in any case, as those of the prototype did that the targets come from."""
    program = os.path.join(build, "tests", "bench", "bench_flow")
    try:
        p = subprocess.run([program, str(cpu)], capture_output=True, text=True, timeout=300, check=False)
    except (OSError, subprocess.TimeoutExpired) as e:
        raise CannotRun(f"{program}: {e}") from e
    if p.returncode != 0:
        raise CannotRun(f"{program}: {(p.stderr or p.stdout).strip()}")
    return json.loads(p.stdout)


def targets():
    return [*TIMES, "flow_many_live / 1000", "flow_open", "flow_open memory", "flow_bulk", "flow_cps_timed / flow_cps", "flow_idle",
            *[f"{name} / {to}" for name, to in (MORE | RECORD).items()], *[f"{name} / flow_cps" for name in OTHER_FRAMES], "flow_open_ip6 memory",
            *STRAYS]


def said(row):
    """What stands behind a row: connections that live beside those that are asked, and what is done with payload."""
    live = f"{row['live']} live, " if row.get("live") else ""
    return f"{live}payload {row['payload']}" if "payload" in row else live.rstrip(", ")


def evaluate(runs):
    """Rows of the table."""
    rows, first = [], runs[0]

    def amount(name, samples, unit, below, digits=2, more=None):
        value = statistics.median(samples)
        row = {"variant": name, "amount": round(value, digits), "unit": unit, "digits": digits, "low": round(min(samples), digits),
               "high": round(max(samples), digits)}
        if below is not None:
            row |= {"below": below, "ok": value <= below}
        rows.append(row | (more or {}))

    def least(name, samples, to, target, more=None):
        value = statistics.median(samples)
        rows.append({"variant": name, "ratio": round(value, 4), "to": to, "low": round(min(samples), 4), "high": round(max(samples), 4),
                     "target": target, "ok": value >= target} | (more or {}))

    def cycles(name):
        return round(statistics.median(r[name]["cycles"] for r in runs), 2)

    rows.append({"variant": "flow_bare", "cycles": cycles("flow_bare")})
    for name, row in first.items():
        if not isinstance(row, dict) or "payload" not in row:
            continue
        more = {"cycles": cycles(name), "engine": said(row)}
        if name == "flow_bulk":
            least(name, [r[name]["bits"] for r in runs], "bits/cycle", BULK_BITS, more)
        else:
            amount(name, [r[name]["times"] for r in runs], "bare", TIMES.get(name), more=more)
    least("flow_many_live / 1000", [r["flow_1000_live"]["each"] / r["flow_many_live"]["each"] for r in runs], "flow_1000_live", MANY_RATE)
    amount("flow_cps_timed / flow_cps", [100 * (r["flow_cps_timed"]["times"] / r["flow_cps"]["times"] - 1) for r in runs], "% more",
           TIMED_PERCENT, 1)
    for name, to in MORE.items():
        amount(f"{name} / {to}", [100 * (r[name]["times"] / r[to]["times"] - 1) for r in runs], "% more", None, 1)
    for name, to in RECORD.items():
        amount(f"{name} / {to}", [100 * (r[name]["times"] / r[to]["times"] - 1) for r in runs], "% more", RECORD_PERCENT, 1)
    for name in OTHER_FRAMES:
        amount(f"{name} / flow_cps", [r[name]["times"] / r["flow_cps"]["times"] for r in runs], "times", OTHER_TIMES)
    opened = {"cycles": cycles("flow_open"), "engine": said(first["flow_open"]) + " at the end"}
    amount("flow_open", [r["flow_open"]["times"] for r in runs], "bare", OPEN_TIMES, 1, opened)
    amount("flow_open memory", [r["flow_open"]["bytes"] for r in runs], "bytes", OPEN_BYTES, 1)
    amount("flow_open_ip6 memory", [r["flow_open_ip6"]["bytes"] for r in runs], "bytes", OPEN_BYTES_IP6, 1)
    amount("flow_idle", [100 * r["flow_idle"]["share"] for r in runs], "% of a core", IDLE_PERCENT, 2, {"engine": said(first["flow_idle"])})
    for name, kind in STRAYS.items():
        cost = statistics.median(r["flow_stray"][kind] for r in runs)
        taken = statistics.median(r["flow_stray"]["taken"] for r in runs)
        amount(name, [r["flow_stray"][kind] / r["flow_stray"]["taken"] for r in runs], "times", None, more={
            "cycles": round(cost, 2), "engine": f"{taken:.1f} cycles for a frame of a flow"})
    return rows
