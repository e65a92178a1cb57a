#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Speed: bench.py BUILD [--runs N] [--only PART] [--json [FILE]] [--cpu N] [--no-huge] [--isa NAME]
       bench.py BUILD --against BUILD [--rows PATTERN] [the same options but --only]

Runs BUILD/tests/bench/bench (hot path against bare loops, in one process), dpdk-testpmd (txonly, rxonly), BUILD/app/wirerate in a
terminal with and without its full screen (screen.py) and with a script (lua.py), BUILD/tests/bench/bench_flow (connections, flow.py;
flow_two.py on two CPUs), the program with a peer of the kernel's (kernel.py, as root), workloads on two stacks (stacks.py, as root), and
streams to and from the kernel (tap.py), in turn on one CPU, N times, and prints the medians over the processes. A target that is missed
is named; it does not fail. Exit code 3: something could not run. As root, hugepages are switched on for the time of the measurement. With
--against: against.py, which ends with 0 or 1.
"""
import argparse
import datetime
import json
import os
import re
import select
import signal
import statistics
import subprocess
import sys
import time

import against
import dperf
import flow
import flow_two
import kernel
import lua
import screen
import stacks
import tap
from proc import CannotRun, run_ns, workers

KNOB = "/proc/sys/vm/nr_hugepages"
HUGE_BYTES = 1200 << 20
WINDOWS = 5
WINDOW_S = 0.2
# name in bench's line -> what it is divided by, least ratio (or none)
TARGETS = {
    "gen_32": ("bare_tx_32", 0.95),
    "one": ("bare_tx_32", 0.85),
    "two": ("bare_tx_32", 0.84),
    "five_ipv6": ("bare_tx_32", 0.80),
    "random": ("bare_tx_32", 0.78),
    "list": ("bare_tx_32", 0.78),
    "seq16": ("bare_tx_32", 0.84),
    "seq16_mixed": ("bare_tx_32", 0.80),
    "s4096": ("bare_tx_32", 0.83),
    "s4096_running": ("bare_tx_32", 0.72),
    "imix": ("bare_tx_32", 0.80),
    "probe": ("bare_tx_32", 0.82),
    "probe_4096": ("bare_tx_32", 0.74),
    "probes": ("bare_waiting", 0.714),
    "probes_recorded": ("probes", 0.70),
    "off_waiting": ("no_taps", 0.97),
    "off_tx": ("no_extras", 0.97),
    "pktperf": ("bare_tx_32", 0.85),
    "pktperf / streams": ("one", 0.97),  # one stream on one queue, in the same process: not slower
    "gen_32 / txonly": ("testpmd txonly", 1.8),
    "sink_32 / rxonly": ("testpmd rxonly", 1.2),
}


def meminfo(key):
    with open("/proc/meminfo", encoding="ascii") as f:
        return next((int(line.split()[1]) for line in f if line.startswith(key + ":")), 0)


class Hugepages:
    """Enough free hugepages for the time of a with block; .on says whether there are."""

    def __init__(self, wanted):
        self.wanted, self.on, self.why = wanted, False, "not wanted"
        self.former = self.ours = None

    def __enter__(self):
        if not self.wanted:
            return self
        size = meminfo("Hugepagesize") << 10
        if size == 0:
            self.why = "the kernel has none"
            return self
        need = -(-HUGE_BYTES // size)
        free = meminfo("HugePages_Free")
        if free < need:
            try:
                with open(KNOB, encoding="ascii") as f:
                    former = int(f.read())
                with open(KNOB, "w", encoding="ascii") as f:
                    self.former, self.ours = former, former + need - free
                    f.write(str(self.ours))
            except OSError as e:
                self.why = f"{KNOB}: {e.strerror}"
        self.on = meminfo("HugePages_Free") >= need
        if not self.on:
            if self.former is not None:
                self.why = f"the kernel gave {meminfo('HugePages_Free')} of {need}"
            self.restore()
        return self

    def restore(self):
        if self.former is None:
            return
        with open(KNOB, encoding="ascii") as f:
            now = int(f.read())
        if now > self.ours:
            print(f"bench: {KNOB} is {now}, set by somebody else; it was {self.former}", file=sys.stderr)
        else:
            with open(KNOB, "w", encoding="ascii") as f:
                f.write(str(self.former))
        self.former = None

    def __exit__(self, *_):
        self.restore()


def bench(args, huge):
    try:
        isa = ["--isa", args.isa] if args.isa else []
        p = subprocess.run([args.bench, str(args.cpu), "huge" if huge else "no-huge", *isa], capture_output=True, text=True, timeout=120)
    except (OSError, subprocess.TimeoutExpired) as e:
        raise CannotRun(f"{args.bench}: {e}") from e
    if p.returncode != 0:
        raise CannotRun(f"{args.bench}: {(p.stderr or p.stdout).strip()}")
    return json.loads(p.stdout)


class Testpmd:
    """One forwarding core on our CPU; the main lcore, which only reads commands, elsewhere if there is another CPU."""

    def __init__(self, args, huge, mode):
        main = next((c for c in sorted(os.sched_getaffinity(0)) if c != args.cpu), args.cpu)
        device = "net_null0,no-rx=1" if mode == "txonly" else "net_null0,size=60"
        memory = ["--in-memory"] if huge else ["--no-huge", "-m", "256", "--no-shconf"]
        command = ["dpdk-testpmd", "--lcores", f"0@{main},1@{args.cpu}", *memory, "--no-pci", "--no-telemetry", "--log-level", "3",
                   "--vdev", device, "--", "-i", "--nb-cores=1", "--burst=32", f"--forward-mode={mode}",
                   "--total-num-mbufs=4095", "--mbcache=256", "--no-lsc-interrupt"]
        self.mode, self.text = mode, ""
        self.out, its = os.openpty()  # into a pipe it would print when its buffer is full
        try:
            self.p = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=its, stderr=its)
        except OSError as e:
            os.close(self.out)
            raise CannotRun(f"dpdk-testpmd (Debian package dpdk-dev): {e.strerror}") from e
        finally:
            os.close(its)

    def expect(self, pattern, seconds=30):
        end = time.monotonic() + seconds
        while True:
            m = re.search(pattern, self.text)
            if m:
                self.text = self.text[m.end():]
                return m
            left = end - time.monotonic()
            ready = left > 0 and select.select([self.out], [], [], left)[0]
            try:
                data = os.read(self.out, 65536) if ready else b""
            except OSError:  # it ended
                data = b""
            if not data:
                raise CannotRun(f"dpdk-testpmd {self.mode} did not print {pattern!r}: {self.text[-400:]}")
            self.text += data.decode(errors="replace")

    def say(self, line):
        self.p.stdin.write(line.encode() + b"\n")
        self.p.stdin.flush()

    def packets(self):
        """Frames so far, and the time on the CPU that its worker had for them: others may run there too."""
        self.say("show port stats 0")
        m = self.expect(r"RX-packets: (\d+)(?:.|\n)*?TX-packets: (\d+)(?:.|\n)*?TX-errors")
        return int(m[2 if self.mode == "txonly" else 1]), self.worker_ns()

    def worker_ns(self):
        had = next((run_ns(self.p.pid, tid) for tid in workers(self.p.pid)), None)
        return time.monotonic_ns() if had is None else had

    def mpps(self):
        try:
            self.expect("testpmd> ")
            self.say("start")
            self.expect("testpmd> ")
            time.sleep(WINDOW_S)
            rates, before = [], self.packets()
            for _ in range(WINDOWS):
                time.sleep(WINDOW_S)
                after = self.packets()
                rates.append((after[0] - before[0]) * 1e3 / (after[1] - before[1]))
                before = after
            self.say("stop\nquit")
            self.expect("Bye")
            return statistics.median(rates)
        except (OSError, subprocess.TimeoutExpired, ZeroDivisionError) as e:
            raise CannotRun(f"dpdk-testpmd {self.mode}: {e}") from e
        finally:
            os.close(self.out)
            if self.p.poll() is None:
                self.p.kill()
                self.p.wait()


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        return next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), os.uname().machine)


def progress(text):
    if sys.stderr.isatty():
        print(f"\r{'':<40}\r{text}", end="", file=sys.stderr, flush=True)


def measure(args, huge):
    runs = []
    for i in range(args.runs):
        progress(f"run {i + 1} of {args.runs}")
        run = {}
        if args.only in (None, "path"):
            run["testpmd txonly"] = Testpmd(args, huge, "txonly").mpps()
            run["bench"] = bench(args, huge)
            run["testpmd rxonly"] = Testpmd(args, huge, "rxonly").mpps()
        if args.only in (None, "screen"):
            run["screen"] = screen.measure(args.program, args.cpu)
        if args.only in (None, "lua"):
            run["lua"] = lua.measure(args.program, args.cpu)
        if args.only in (None, "flow"):
            run["flow"] = flow.measure(args.build, args.cpu)
            run["flow_two"] = flow_two.measure(args.program, args.cpu)
        if args.only in (None, "kernel") and i < kernel.RUNS:
            run["kernel"] = kernel.measure(args.program, args.cpu)
        if args.only in (None, "stacks") and i < stacks.RUNS:
            run["stacks"] = stacks.measure(args.program, args.cpu)
        if args.only in (None, "tap"):
            run["tap"] = tap.measure(args.program, args.cpu)
        if args.only == "dperf":
            run["dperf"] = dperf.measure(args.program, args.cpu, [r["dperf"] for r in runs])
        runs.append(run)
    progress("")
    return runs


def evaluate(runs):
    """Rows of the table, as dictionaries."""
    rows = evaluate_path(runs) if "bench" in runs[0] else []
    if runs[0].get("screen"):
        rows += screen.evaluate([r["screen"] for r in runs], runs[0]["bench"]["hz"] if "bench" in runs[0] else None)
    if runs[0].get("lua"):
        rows += lua.evaluate([r["lua"] for r in runs])
    if runs[0].get("flow"):
        rows += flow.evaluate([r["flow"] for r in runs])
        rows += flow_two.evaluate([r["flow_two"] for r in runs])
    if runs[0].get("kernel"):
        rows += kernel.evaluate([r["kernel"] for r in runs if "kernel" in r])
    if runs[0].get("stacks"):
        rows += stacks.evaluate([r["stacks"] for r in runs if "stacks" in r])
    if runs[0].get("tap"):
        rows += tap.evaluate([r["tap"] for r in runs])
    if runs[0].get("dperf"):
        rows += dperf.evaluate([r["dperf"] for r in runs])
    return rows


def evaluate_path(runs):
    rows = []

    def row(name, samples, base=None, ratios=None, engine=None):
        against, target = TARGETS.get(name, (base, None))
        r = {"variant": name, "mpps": round(statistics.median(s["mpps"] for s in samples), 2),
             "cycles": round(statistics.median(s["cycles"] for s in samples), 2)}
        if against is not None:
            r |= {"ratio": round(statistics.median(ratios), 4), "to": against, "low": round(min(ratios), 4), "high": round(max(ratios), 4)}
        if target is not None:
            r |= {"target": target, "ok": r["ratio"] >= target}
        if engine is not None:
            r["engine"] = engine
        rows.append(r)

    benches = [r["bench"] for r in runs]
    variants = {k: v for k, v in benches[0].items() if isinstance(v, dict)}
    for name, v in variants.items():
        samples = [b[name] for b in benches]
        row(name, samples, v.get("base"), [s["ratio"] for s in samples], v.get("engine"))
    row("pktperf / streams", [b["pktperf"] for b in benches], "one", [b["pktperf"]["mpps"] / b["one"]["mpps"] for b in benches])
    for ours, theirs in (("gen_32", "testpmd txonly"), ("sink_32", "testpmd rxonly")):
        row(theirs, [{"mpps": r[theirs], "cycles": r["bench"]["hz"] / r[theirs] / 1e6} for r in runs])
        row(f"{ours} / {theirs.split()[1]}", [b[ours] for b in benches], theirs, [r["bench"][ours]["mpps"] / r[theirs] for r in runs])
    return rows


def columns(r):
    """Texts of a row: cycles, Mpps, ratio or amount, what it is of, target."""
    what, digits = ("amount", r["digits"]) if "amount" in r else ("ratio", 3)
    value = f"{r[what]:.{digits}f} ({r['low']:.{digits}f}-{r['high']:.{digits}f})" if what in r else ""
    limit = f"<{r['below']}" if "below" in r else f"{r['target']:.2f}" if "target" in r else ""
    return (f"{r['cycles']:.2f}" if "cycles" in r else "", f"{r['mpps']:.1f}" if "mpps" in r else "", value,
            r.get("to", r.get("unit", "")), f"{limit}  {'ok' if r['ok'] else 'below' if 'target' in r else 'above'}" if "ok" in r else "")


def print_missed(r):
    if "below" in r:
        print(f"missed: {r['variant']} takes {r['amount']:.{r['digits']}f} {r['unit']}, the target is below {r['below']}")
    else:
        print(f"missed: {r['variant']} reaches {r['ratio']:.3f} of {r['to']}, the target is {r['target']}")


def print_table(doc):
    known = [f"DPDK {doc['dpdk']}", doc["cpu"], f"TSC {doc['tsc_hz'] / 1e9:.3f} GHz"] if doc["dpdk"] else [doc["cpu"]]
    print(", ".join([*known, f"CPU {doc['lcore']}", doc["memory"]]))
    print(f"64-byte frames, net_null or net_ring, one worker; medians over {len(doc['runs'])} processes (lowest-highest)\n")
    print(f"{'variant':<26}{'cycles/frame':>13}{'Mpps':>9}  {'ratio or amount':<22}{'to, of':<16}{'target':<16}engine, what is done")
    for r in doc["results"]:
        cycles, mpps, value, of, target = columns(r)
        print(f"{r['variant']:<26}{cycles:>13}{mpps:>9}  {value:<22}{of:<16}{target:<16}{r.get('engine', '')}".rstrip())
    print()
    missed = [r for r in doc["results"] if not r.get("ok", True)]
    parts = {"path": TARGETS, "screen": screen.targets(), "lua": lua.targets(), "flow": [*flow.targets(), flow_two.ROW],
             "kernel": kernel.targets(), "stacks": stacks.targets(), "tap": tap.targets()}
    wanted = [name for part, targets in parts.items() if doc["only"] in (None, part) for name in targets]
    wanted += dperf.targets() if doc["only"] == "dperf" else []
    absent = [name for name in wanted if all(r["variant"] != name for r in doc["results"])]
    for name in absent:
        print(f"not measured: {name}")
    for r in missed:
        print_missed(r)
    if not missed and not absent:
        print("all targets reached")


def arguments():
    cpus = sorted(os.sched_getaffinity(0))
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[1], usage="bench.py BUILD [options]")
    p.add_argument("build")
    p.add_argument("--against", metavar="BUILD", help="an older build: is BUILD slower? Exit code 0 if not, 1 if it is")
    p.add_argument("--rows", metavar="PATTERN", help='with --against: rows of that name alone, "probe*"')
    p.add_argument("--runs", type=int, help="processes of each (default 7, at least 5; with --against 11, at least 11, an odd number)")
    p.add_argument("--cpu", type=int, default=cpus[-1], help="CPU to measure on (default: the last one)")
    p.add_argument("--json", nargs="?", const="-", metavar="FILE", help="one JSON document to FILE, or instead of the table to stdout")
    p.add_argument("--only", choices=("path", "screen", "lua", "flow", "kernel", "stacks", "tap", "dperf"),
                   help="the hot path and testpmd alone, what the screen costs, scripts, connections, those to a peer of the kernel's, "
                        "workloads on two stacks and beside neper and iperf3, streams to and from the kernel, or dperf (DPERF=its program) "
                        "beside the program, which nothing but this option asks for")
    p.add_argument("--isa", help="at most this instruction set: scalar, ssse3, avx2, avx512 or neon (default: the CPU's best)")
    p.add_argument("--no-huge", action="store_true", help="measure without hugepages")
    args = p.parse_args()
    least, default = (against.LEAST_ROUNDS, against.LEAST_ROUNDS) if args.against else (5, 7)
    if args.only == "dperf":
        least = default = dperf.ROUNDS
    args.runs = default if args.runs is None else args.runs
    if args.runs < least:
        p.error(f"--runs {args.runs}: at least {least} processes, since one in ten has an unlucky memory layout")
    if args.against and args.runs % 2 == 0:
        p.error(f"--runs {args.runs}: an odd number, so that the median is one of the ratios")
    if args.rows and not args.against:
        p.error("--rows goes with --against")
    if args.only and args.against:
        p.error(f"--only {args.only}: --against compares the hot path alone; --rows PATTERN chooses rows")
    if args.cpu not in cpus:
        p.error(f"--cpu {args.cpu}: not among this process's CPUs ({', '.join(map(str, cpus))})")
    args.bench = os.path.join(args.build, "tests", "bench", "bench")
    args.program = os.path.join(args.build, "app", "wirerate")
    return args


def whole(args, runs):
    """What the JSON document says of a measurement of one build."""
    path = runs[0].get("bench", runs[0].get("flow", {}))
    return {"dpdk": path.get("dpdk"), "only": args.only, "tsc_hz": path.get("hz"), "results": evaluate(runs), "runs": runs}


def main():
    args = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that hugepages are given back
    began = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    head = {"bench": 1, "time": began, "cpu": cpu_model(), "lcore": args.cpu}
    try:
        with Hugepages(not args.no_huge) as pages:
            memory = "hugepages" if pages.on else f"4 KB pages ({pages.why})"
            if args.against:
                doc = against.document(args, against.measure(args, pages.on, progress), head | {"memory": memory})
            else:
                doc = head | {"memory": memory} | whole(args, measure(args, pages.on))
    except CannotRun as e:
        print(f"bench: {e}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        return 130
    if args.json == "-":
        print(json.dumps(doc))
    else:
        (against.print_report if args.against else print_table)(doc)
    if args.json not in (None, "-"):
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump(doc, f)
            f.write("\n")
    return 0 if doc.get("ok", True) else 1


if __name__ == "__main__":
    sys.exit(main())
