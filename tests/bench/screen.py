# SPDX-License-Identifier: BSD-3-Clause
"""What the full screen costs: the program in a pseudo-terminal on a null port, one frame at full rate.

The screen is switched on and off in turn in one process, and what was sent is read from `show stats` with its own time, always
at the plain prompt. Frames are divided by the time that the worker had on its CPU, since others may run there too, and
beside that by the time of the clock. The time of control is that of all threads that are not workers.
"""
import json
import os
import re
import select
import statistics
import sys
import tempfile
import time

from proc import CannotRun, run_ns, threads, workers

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "system"))
try:
    import pytest
    from pty_term import ALTERNATE, PROMPT, Term
    missing = None
except ImportError as e:  # said when it is wanted
    Term, missing = object, e

SIZES = ((80, 24), (200, 60))
WAIT = "wait 0"
PAGES = ("main", "queues", "cpu", "xstats")
STREAMS = 4096
ROUNDS = 3
SLICE_S = 1.2   # the screen is drawn when it opens, and once a second
WINDOW_S = 2.0  # whole intervals of the screen
RATIO = 0.97
CONTROL_PERCENT = 3
IDLE_BYTES = 2000
SHARE, BYTES = "% of a core", "bytes/s"
BUSY = "running> "
STATS = re.compile(rb'^(\{"show": ?"stats".*\})\r?\n', re.M)


def size_name(size):
    return f"{size[0]}x{size[1]}"


class Console(Term):
    def __init__(self, program, cpu, home):
        super().__init__(home, cmd=[program, "--json", "--no-screen", "-p", "null", "-m", f"{cpu}.0"], TERM="xterm-256color")
        self.pid = self.proc.pid
        self.prompt()
        lcores = workers(self.pid)
        if len(lcores) != 1:
            raise CannotRun(f"one worker expected, there are {len(lcores)}: {', '.join(threads(self.pid).values())}")
        self.worker = lcores[0]
        for tid, name in threads(self.pid).items():
            if tid != self.worker and cpu in os.sched_getaffinity(tid):
                raise CannotRun(f"thread {name} may run on the worker's CPU {cpu}: the worker's time would not show what it costs")

    def cmd(self, line):
        self.type(line).line_is(line)
        return self.type("\r").prompt()

    def full_screen(self, on):
        self.type("screen on\r" if on else "screen off\r")
        return self.until(lambda: (ALTERNATE in self.screen.mode) == on and self.last() == PROMPT, "the screen on" if on else "the plain prompt")

    def page(self, name):
        self.cmd(f"page {name}")
        self.until(lambda: f"<{name}>" in self.lines()[0], f"page {name}")
        self.watch(0.3)

    def watch(self, seconds):
        """Bytes that come in this time. The emulator, which is slow, sees them afterwards."""
        data, end = b"", time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.master], [], [], left)[0]:
                data += os.read(self.master, 65536)
        self.stream.feed(data)
        return len(data)

    def now(self):
        """Clock of the counters, and the time that the worker has had."""
        t = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        had = run_ns(self.pid, self.worker)
        return t, t if had is None else had

    def control_ns(self):
        return sum(run_ns(self.pid, tid) or 0 for tid in threads(self.pid) if tid != self.worker)

    def counts(self):
        """Frames sent, when, and the worker's time then: it is read around the command, and taken as even between."""
        self.raw = b""
        t0, had0 = self.now()
        self.cmd("show stats")
        t1, had1 = self.now()
        found = STATS.search(self.raw)
        if not found:
            raise CannotRun(f"no counters in what `show stats` printed: {self.raw[-400:]!r}")
        doc = json.loads(found[1])
        at = doc["time_ns"]
        if not t0 <= at <= t1:
            raise CannotRun(f"the snapshot's time {at} is not between {t0} and {t1}")
        return doc["ports"][0]["tx"]["packets"], at, had0 + (had1 - had0) * (at - t0) / (t1 - t0)

    def slice(self, size):
        """Speed with the screen at a size, or (None) without it."""
        if size:
            self.resize(*size)
        before, control = self.counts(), self.control_ns()
        if size:
            self.full_screen(True)
        began = time.monotonic_ns(), self.control_ns()
        self.watch(SLICE_S)
        control = (self.control_ns() - began[1]) * 100 / (time.monotonic_ns() - began[0])
        if size:
            self.full_screen(False)
        frames, at, had = (b - a for a, b in zip(before, self.counts()))
        return {"mpps": frames * 1e3 / had, "clock_mpps": frames * 1e3 / at, "control": control}

    def load(self):
        """Control's share of a core in percent, and bytes per second to the terminal."""
        began = time.monotonic_ns(), self.control_ns()
        sent = self.watch(WINDOW_S)
        took = time.monotonic_ns() - began[0]
        return {"control": (self.control_ns() - began[1]) * 100 / took, "bytes_per_s": sent * 1e9 / took}

    def measure(self):
        run = {"idle": {}, "pages": {}, "rounds": []}
        self.full_screen(True)
        for size in SIZES:
            self.resize(*size)
            self.page("main")
            run["idle"][size_name(size)] = self.load()
        self.cmd("set 0 rate max")
        self.cmd("start 0")
        for size in SIZES:
            self.resize(*size)
            for page in PAGES:
                self.page(page)
                run["pages"][f"{page} {size_name(size)}"] = self.load()
        self.page("main")
        self.type(f"{WAIT}\r").until(lambda: self.last() == BUSY, "a command that waits")
        for size in SIZES:
            self.resize(*size)
            self.watch(0.3)
            run["pages"][f"{WAIT} {size_name(size)}"] = self.load()
        self.type("\x03").prompt()
        self.full_screen(False)
        for i in range(ROUNDS):
            order = (None, *SIZES) if i % 2 == 0 else (*reversed(SIZES), None)
            run["rounds"].append({size_name(size) if size else "off": self.slice(size) for size in order})
        self.cmd("stop 0")
        self.cmd(f"stream add 0 {STREAMS - 1}")
        self.cmd("start 0")
        self.full_screen(True)
        for size in SIZES:
            self.resize(*size)
            self.page("streams")
            run["pages"][f"streams {size_name(size)}"] = self.load()
        self.full_screen(False)
        self.type("quit\r")
        self.ends()
        return run


def measure(program, cpu):
    """One process. None where control and worker would share a CPU."""
    if missing:
        raise CannotRun(f"the screen is read with Python's {missing.name} (Debian package python3-{missing.name})")
    cpus = os.sched_getaffinity(0)
    if len(cpus) < 2:
        return None
    with tempfile.TemporaryDirectory() as home:
        try:
            with Console(program, cpu, home) as console:
                os.sched_setaffinity(0, cpus - {cpu})  # reading the terminal is not the worker's burden
                return console.measure()
        except (OSError, AssertionError, ZeroDivisionError, pytest.fail.Exception) as e:
            raise CannotRun(f"{program} on a terminal: {e}") from e
        finally:
            os.sched_setaffinity(0, cpus)


def targets():
    """Name of a row -> limit."""
    limits = {f"screen {size_name(s)}": RATIO for s in SIZES}
    limits |= {f"control {page} {size_name(s)}": CONTROL_PERCENT for s in SIZES for page in (*PAGES, WAIT, "streams")}
    return limits | {f"terminal idle {size_name(s)}": IDLE_BYTES for s in SIZES}


def speed_row(name, runs, key, what, hz):
    """Median over processes of the medians over rounds; the ratio is taken within each round."""
    mpps = statistics.median(statistics.median(r[key][what] for r in run["rounds"]) for run in runs)
    row = {"variant": name, "mpps": round(mpps, 2)}
    if what == "mpps" and hz:
        row["cycles"] = round(hz / mpps / 1e6, 2)
    if key == "off":
        return row
    ratios = [statistics.median(r[key][what] / r["off"][what] for r in run["rounds"]) for run in runs]
    row |= {"ratio": round(statistics.median(ratios), 4), "to": "screen off", "low": round(min(ratios), 4), "high": round(max(ratios), 4)}
    if name in targets():
        row |= {"target": RATIO, "ok": row["ratio"] >= RATIO}
    return row


def amount_row(name, values, unit):
    digits = 0 if unit == BYTES else 2
    row = {"variant": name, "amount": round(statistics.median(values), digits), "unit": unit, "digits": digits,
           "low": round(min(values), digits), "high": round(max(values), digits)}
    limit = targets().get(name)
    return row if limit is None else row | {"below": limit, "ok": row["amount"] < limit}


def evaluate(runs, hz):
    """Rows of the table."""
    rows = [speed_row("screen off", runs, "off", "mpps", hz)]
    for what, more in (("mpps", ""), ("clock_mpps", ", by clock")):
        rows += [speed_row(f"screen {size_name(s)}{more}", runs, size_name(s), what, hz) for s in SIZES]
    off = [statistics.median(r["off"]["control"] for r in run["rounds"]) for run in runs]
    rows.append(amount_row("control, screen off", off, SHARE))
    for name in runs[0]["pages"]:
        rows.append(amount_row(f"control {name}", [run["pages"][name]["control"] for run in runs], SHARE))
    for name in runs[0]["idle"]:
        rows.append(amount_row(f"terminal idle {name}", [run["idle"][name]["bytes_per_s"] for run in runs], BYTES))
    for name in runs[0]["pages"]:
        rows.append(amount_row(f"terminal {name}", [run["pages"][name]["bytes_per_s"] for run in runs], BYTES))
    return rows
