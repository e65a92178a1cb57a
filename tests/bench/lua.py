# SPDX-License-Identifier: BSD-3-Clause
"""What scripts cost: a script that reads stats() 1,000 times a second beside one frame at full rate on a null port, and how long a script
of 1,000 settings takes.

The script runs and rests in turn in one process, at the prompt of its standard input; frames are divided by the time that the worker had on
its CPU. The ratio is taken within each round.
"""
import json
import os
import statistics
import subprocess
import time

from proc import CannotRun, run_ns, workers

ROUNDS = 6
SLICE = "1200ms"
RATIO = 0.97
SETTINGS_MS = 100
READ = "lua {n = 0 local h = wr.every('1ms', function() wr.stats() n = n + 1 end) wr.sleep('%s') h:stop()}"
REST = "sleep %s"
SETTINGS = ("lua {local t = wr.now() local p = wr.port[0] for i = 1, 250 do p.count = i p.burst = 1 + i % 512 p.size = 64 + i "
            "p['ipv4.ttl'] = i % 256 end local took = (wr.now() - t) / 1e6 p:reset() return took}")


class Program:
    def __init__(self, program, cpu):
        self.proc = subprocess.Popen([program, "--json", "-b", "-p", "null", "-m", f"{cpu}.0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     stderr=subprocess.DEVNULL, text=True)
        self.cpu = cpu

    def say(self, line):
        self.proc.stdin.write(line + "\n")
        self.proc.stdin.flush()

    def ask(self, line):
        self.say(line)
        text = self.proc.stdout.readline()
        if not text:
            raise CannotRun(f"the program ended with {self.proc.wait()} at: {line}")
        return json.loads(text)

    def counts(self):
        """Frames sent and the worker's time: the answer comes when what was said before is done."""
        doc = self.ask("show stats")
        return doc["ports"][0]["tx"]["packets"], run_ns(self.proc.pid, self.worker)

    def slice(self, line):
        before = self.counts()
        self.say(line % SLICE)
        frames, had = (b - a for a, b in zip(before, self.counts()))
        return frames * 1e3 / had

    def measure(self):
        settings = [self.ask(SETTINGS) for _ in range(5)]
        self.worker = workers(self.proc.pid)[0]
        self.say("set 0 rate max; start 0; sleep 200ms")
        rounds, calls = [], []
        for i in range(ROUNDS):
            order = ("rest", "read") if i % 2 == 0 else ("read", "rest")
            got = {}
            for what in order:
                got[what] = self.slice(READ if what == "read" else REST)
            calls.append(self.ask("lua n"))
            rounds.append(got)
        self.say("stop 0; quit")
        self.proc.wait(20)
        return {"rounds": rounds, "calls_per_s": [n / 1.2 for n in calls], "settings_ms": settings}


def measure(program, cpu):
    """One process. None where control and worker would share a CPU."""
    if len(os.sched_getaffinity(0)) < 2:
        return None
    p = Program(program, cpu)
    try:
        return p.measure()
    except (OSError, ValueError, ZeroDivisionError) as e:
        raise CannotRun(f"{program}: {e}") from e
    finally:
        if p.proc.poll() is None:
            p.proc.kill()
        p.proc.wait()


def targets():
    return {"lua stats() 1000/s": RATIO, "lua 1000 settings": SETTINGS_MS}


def evaluate(runs):
    """Rows of the table."""
    rest = statistics.median(statistics.median(r["rest"] for r in run["rounds"]) for run in runs)
    read = statistics.median(statistics.median(r["read"] for r in run["rounds"]) for run in runs)
    ratios = [statistics.median(r["read"] / r["rest"] for r in run["rounds"]) for run in runs]
    ratio, ms = round(statistics.median(ratios), 4), [statistics.median(run["settings_ms"]) for run in runs]
    calls = [statistics.median(run["calls_per_s"]) for run in runs]
    return [
        {"variant": "lua at rest", "mpps": round(rest, 2)},
        {"variant": "lua stats() 1000/s", "mpps": round(read, 2), "ratio": ratio, "to": "lua at rest", "low": round(min(ratios), 4),
         "high": round(max(ratios), 4), "target": RATIO, "ok": ratio >= RATIO},
        {"variant": "lua stats() calls", "amount": round(statistics.median(calls)), "unit": "per s", "digits": 0,
         "low": round(min(calls)), "high": round(max(calls))},
        {"variant": "lua 1000 settings", "amount": round(statistics.median(ms), 1), "unit": "ms", "digits": 1, "low": round(min(ms), 1),
         "high": round(max(ms), 1), "below": SETTINGS_MS, "ok": statistics.median(ms) < SETTINGS_MS},
    ]
