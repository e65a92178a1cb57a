# SPDX-License-Identifier: BSD-3-Clause
"""Streams on a tap: by the program's own driver, and by DPDK's net_tap beside it. Both send as fast as they can to the kernel, in turn, each in a
network namespace of its own in which nobody answers."""
import os
import shutil
import statistics
import subprocess

from flow_two import Program
from proc import CannotRun, run_ns, workers

RATIO = 0.95
SLICE_MS = 500
ROW = "tap / net_tap"
PORTS = {"tap": "tap:wrbench0", "net_tap": "vdev:net_tap0,iface=wrbench0"}


def trouble():
    if os.geteuid() != 0 or not os.access("/dev/net/tun", os.R_OK | os.W_OK) or not shutil.which("unshare"):
        return "needs root, /dev/net/tun and the program unshare"
    r = subprocess.run(["unshare", "-n", "true"], stderr=subprocess.PIPE, text=True, check=False)
    return f"no network namespace: {r.stderr.strip()}" if r.returncode != 0 else None


def rate(program, cpu, port):
    """Frames that were given to the kernel per second that the worker has had on its CPU, behind a start that brings the memory in."""
    with Program(program, f"0@{cpu},1@{cpu}", "-p", port, "-m", "1.0", prefix=("unshare", "-n")) as p:
        p.say("set 0 eth.dst 02:00:00:00:00:01; set 0 rate max; start 0 for 50ms; wait 0")
        before = p.ask("stats")["ports"][0]["tx"]["packets"]
        (worker,) = workers(p.proc.pid)
        begin = run_ns(p.proc.pid, worker)
        p.say(f"start 0 for {SLICE_MS}ms; wait 0")
        sent = p.ask("stats")["ports"][0]["tx"]["packets"] - before
        end = run_ns(p.proc.pid, worker)
    if begin is None or end is None:
        raise CannotRun("the kernel does not count the time of threads")
    if sent == 0 or end == begin:
        raise CannotRun(f"{port} has sent nothing")
    return sent * 1e9 / (end - begin)


def measure(program, cpu):
    """One slice of each, or why there is none."""
    why = trouble()
    if why:
        return {"why": why}
    try:
        return {name: rate(program, cpu, port) for name, port in PORTS.items()}
    except CannotRun as e:
        return {"why": str(e)}


def evaluate(runs):
    """Rows of the table."""
    rows, done = [], [r for r in runs if "why" not in r]
    if not done:
        why = runs[0]["why"]
        return [{"variant": ROW, "skipped": why, "engine": f"skipped: {why}"}]
    for name in PORTS:
        millions = [r[name] / 1e6 for r in done]
        rows.append({"variant": f"{name}_send", "amount": round(statistics.median(millions), 3), "unit": "Mpps", "digits": 3,
                     "low": round(min(millions), 3), "high": round(max(millions), 3)})
    ratios = [r["tap"] / r["net_tap"] for r in done]
    value = statistics.median(ratios)
    rows.append({"variant": ROW, "ratio": round(value, 4), "to": "net_tap_send", "low": round(min(ratios), 4), "high": round(max(ratios), 4),
                 "target": RATIO, "ok": value >= RATIO})
    return rows
