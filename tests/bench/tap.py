# SPDX-License-Identifier: BSD-3-Clause
"""Streams to the kernel and from it: by the program's own drivers, and by DPDK's beside them, in turn. Each has a network namespace of its own in
which nobody answers."""
import os
import shutil
import statistics
import subprocess

from flow_two import Program
from proc import CannotRun, run_ns, workers

SLICE_MS = 500
# A pair whose ends the program has both, where it is to receive.
VETH = ("unshare", "-n", "sh", "-ec", "sysctl -q net.ipv6.conf.default.disable_ipv6=1; ip link add wra type veth peer name wrb; ip link set wra up; "
        "ip link set wrb up; exec \"$@\"", "sh")
PACKET = "vdev:net_af_packet0,iface=wra,blocksz=65536,framesz=2048,framecnt=4096,qdisc_bypass=1"
# row -> its target, and by name what stands beside each other: how it is run, its ports, and what is counted of port 0. The last port sends.
ROWS = {
    "tap / net_tap": (0.95, {"tap_send": (("unshare", "-n"), ["tap:wrbench0"], "tx"),
                             "net_tap_send": (("unshare", "-n"), ["vdev:net_tap0,iface=wrbench0"], "tx")}),
    "packet / net_af_packet": (0.97, {"packet_send": (VETH, ["packet:wra"], "tx"), "net_af_packet_send": (VETH, [PACKET], "tx")}),
    "packet / net_af_packet rx": (0.97, {"packet_receive": (VETH, ["packet:wra", "packet:wrb"], "rx"),
                                         "net_af_packet_receive": (VETH, [PACKET, "packet:wrb"], "rx")}),
}


def targets():
    return list(ROWS)


def trouble():
    if os.geteuid() != 0 or not os.access("/dev/net/tun", os.R_OK | os.W_OK) or not all(map(shutil.which, ("unshare", "ip"))):
        return "needs root, /dev/net/tun and the programs unshare and ip"
    r = subprocess.run(["unshare", "-n", "true"], stderr=subprocess.PIPE, text=True, check=False)
    return f"no network namespace: {r.stderr.strip()}" if r.returncode != 0 else None


def rate(program, cpu, prefix, ports, side):
    """Frames that were given to the kernel, or came from it, per second that the worker has had on its CPU, behind a start that brings the memory
    in."""
    options = [x for port in ports for x in ("-p", port)]
    last = len(ports) - 1
    with Program(program, f"0@{cpu},1@{cpu}", *options, "-m", f"1.0-{last}" if last > 0 else "1.0", prefix=prefix) as p:
        p.say(f"set {last} eth.dst 02:00:00:00:00:01; set {last} rate max; start {last} for 50ms; wait {last}")
        before = p.ask("stats")["ports"][0][side]["packets"]
        (worker,) = workers(p.proc.pid)
        begin = run_ns(p.proc.pid, worker)
        p.say(f"start {last} for {SLICE_MS}ms; wait {last}")
        moved = p.ask("stats")["ports"][0][side]["packets"] - before
        end = run_ns(p.proc.pid, worker)
    if begin is None or end is None:
        raise CannotRun("the kernel does not count the time of threads")
    if moved == 0 or end == begin:
        raise CannotRun(f"{ports[0]} has moved nothing")
    return moved * 1e9 / (end - begin)


def measure(program, cpu):
    """One slice of each, or why there is none."""
    why = trouble()
    if why:
        return {"why": why}
    try:
        return {name: rate(program, cpu, *how) for _, both in ROWS.values() for name, how in both.items()}
    except CannotRun as e:
        return {"why": str(e)}


def evaluate(runs):
    """Rows of the table."""
    rows, done = [], [r for r in runs if "why" not in r]
    if not done:
        why = runs[0]["why"]
        return [{"variant": row, "skipped": why, "engine": f"skipped: {why}"} for row in ROWS]
    for row, (target, (ours, theirs)) in ROWS.items():
        for name in ours, theirs:
            millions = [r[name] / 1e6 for r in done]
            rows.append({"variant": name, "amount": round(statistics.median(millions), 3), "unit": "Mpps", "digits": 3,
                         "low": round(min(millions), 3), "high": round(max(millions), 3)})
        ratios = [r[ours] / r[theirs] for r in done]
        value = statistics.median(ratios)
        rows.append({"variant": row, "ratio": round(value, 4), "to": theirs, "low": round(min(ratios), 4), "high": round(max(ratios), 4),
                     "target": target, "ok": value >= target})
    return rows
