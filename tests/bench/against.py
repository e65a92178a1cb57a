# SPDX-License-Identifier: BSD-3-Clause
"""Is one build slower than another? The bench programs of both run in turn, and rows of the same name are compared.

The order is swapped in each round: new old, old new, new old, ... The two processes of a round are a pair of different builds;
the last of a round and the first of the next are a pair of one and the same build, equally close in time. So both kinds of pairs
see the same machine: the first kind says how fast the new build is, the second what the measurement is worth.

A row's ratio is the median over the pairs of rounds, of the speed of the new build divided by that of the old one (speeds are
those against the bare loop of the same process, which tells a slow machine from a slow row). Its own spread is the range in which
98 % of such medians lie when a binary is compared with itself. Bare loops and rows that the bench calls references are shown alone.

A measurement passes if the geometric mean of all rows is at least 0.99 and no row is below the low end of its own spread or 0.95,
whichever is lower. The build passes if two measurements in succession do.
"""
import json
import math
import os
import statistics
import subprocess

from proc import CannotRun

LEAST_ROUNDS = 11
MEASUREMENTS = 2
MEAN_FLOOR = 0.99
ROW_FLOOR = 0.95
TAIL = 0.01  # of the medians of a binary against itself, on each side of the spread


def rows_of(sample):
    """The rows of one process: what it printed with a speed."""
    return {name: v for name, v in sample.items() if isinstance(v, dict)}


def is_bare(row):
    """A bare loop runs nothing of ours: it is what the others are divided by."""
    return "base" not in row


def is_judged(row):
    """Neither a bare loop nor a row that the bench builds from our code only to compare others with: a program has neither."""
    return not is_bare(row) and not row.get("reference", False)


def speed(sample, name):
    """Of a row, against the bare loop at the end of its bases: of slices of the same moment, as the process took them; of a bare
    loop, frames per cycle."""
    row = sample[name]
    if is_bare(row):
        return 1 / row["cycles"]
    base = sample[row["base"]]
    return row["ratio"] * (1 if is_bare(base) else speed(sample, row["base"]))


def sides(rounds):
    """Who runs, in order: "new" or "old"."""
    return [side for i in range(rounds) for side in (("new", "old") if i % 2 == 0 else ("old", "new"))]


def pairs(values, order):
    """Of one row's speeds in the order in which they were measured: new / old of each round, and later / earlier of one build."""
    different, same = [], []
    for i in range(len(order) - 1):
        first, second = values[i], values[i + 1]
        if order[i] == order[i + 1]:
            same.append(second / first)
        else:
            different.append(first / second if order[i] == "new" else second / first)
    return different, same


def tail_of_medians(values, n, tail):
    """The value below which the median of n draws from values lies with the given probability, n odd."""
    ordered = sorted(values)
    half = n // 2 + 1
    for i, value in enumerate(ordered):
        p = (i + 1) / len(ordered)
        if sum(math.comb(n, k) * p**k * (1 - p)**(n - k) for k in range(half, n + 1)) >= tail:
            return value
    return ordered[-1]


def own_spread(same, n):
    """Low and high end of the medians of n pairs of one build. Which of a pair came first is chance: each counts both ways."""
    both = [ratio for s in same for ratio in (s, 1 / s)]
    low = tail_of_medians(both, n - 1 + n % 2, TAIL)
    return low, 1 / low


def judge(new, old):
    """One measurement of two lists of samples, in the order of their processes: its rows, and whether it passes."""
    order = sides(len(new))
    both = {"new": iter(new), "old": iter(old)}
    samples = [next(both[side]) for side in order]
    rows = []
    for name in common_rows(new[0], old[0]):
        different, same = pairs([speed(s, name) for s in samples], order)
        low, high = own_spread(same, len(different))
        row = {"row": name, "new_cycles": round(statistics.median(s[name]["cycles"] for s in new), 2),
               "old_cycles": round(statistics.median(s[name]["cycles"] for s in old), 2),
               "ratio": round(statistics.median(different), 4), "low": round(min(different), 4), "high": round(max(different), 4),
               "self_low": round(low, 4), "self_high": round(high, 4), "judged": is_judged(new[0][name])}
        if not row["judged"]:
            row["why"] = "bare loop" if is_bare(new[0][name]) else "reference"
        if row["judged"]:
            row["floor"] = min(row["self_low"], ROW_FLOOR)
            row["ok"] = row["ratio"] >= row["floor"]
        rows.append(row)
    judged = [r for r in rows if r["judged"]]
    if not judged:
        raise CannotRun("the two builds have no row in common that is judged")
    mean = statistics.geometric_mean(r["ratio"] for r in judged)
    return {"rows": rows, "mean": round(mean, 4), "mean_ok": mean >= MEAN_FLOOR, "ok": mean >= MEAN_FLOOR and all(r["ok"] for r in judged)}


def common_rows(new, old):
    return [name for name in rows_of(new) if name in rows_of(old)]


def only_in(new, old):
    """Names of the rows that one build alone has."""
    return {"new": [n for n in rows_of(new) if n not in rows_of(old)], "old": [n for n in rows_of(old) if n not in rows_of(new)]}


def program(build):
    return os.path.join(build, "tests", "bench", "bench")


def run(build, args, huge):
    command = [program(build), str(args.cpu), "huge" if huge else "no-huge"]
    command += ["--isa", args.isa] if args.isa else []
    command += ["--only", args.rows] if args.rows else []
    try:
        p = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    except (OSError, subprocess.TimeoutExpired) as e:
        raise CannotRun(f"{command[0]}: {e}") from e
    if p.returncode != 0:
        raise CannotRun(f"{command[0]}: {(p.stderr or p.stdout).strip()}")
    return json.loads(p.stdout)


def measure(args, huge, progress):
    """Measurements until one does not pass or two did; each with its samples."""
    builds, done = {"new": args.build, "old": args.against}, []
    while len(done) < MEASUREMENTS:
        samples, order = {"new": [], "old": []}, sides(args.runs)
        for i, side in enumerate(order):
            progress(f"measurement {len(done) + 1}, process {i + 1} of {len(order)}")
            samples[side].append(run(builds[side], args, huge))
        progress("")
        done.append(judge(samples["new"], samples["old"]) | {"samples": samples})
        if not done[-1]["ok"]:
            break
    return done


def document(args, measurements, head):
    """The whole as JSON: bench.py's head, what was compared, and the verdict."""
    first = measurements[0]["samples"]
    return head | {"new": os.path.realpath(program(args.build)), "old": os.path.realpath(program(args.against)), "runs": args.runs,
                   "only_in": only_in(first["new"][0], first["old"][0]), "measurements": measurements,
                   "ok": len(measurements) == MEASUREMENTS and all(m["ok"] for m in measurements)}


def print_measurement(number, m):
    print(f"\nmeasurement {number}")
    print(f"{'row':<20}{'cycles old':>11}{'new':>9}  {'new / old':<22}{'itself':<15}least")
    for r in m["rows"]:
        ratio = f"{r['ratio']:.3f} ({r['low']:.3f}-{r['high']:.3f})"
        spread = f"{r['self_low']:.3f}-{r['self_high']:.3f}"
        verdict = f"{r['floor']:.3f}  {'ok' if r['ok'] else 'slower'}" if r["judged"] else f"-      {r['why']}"
        print(f"{r['row']:<20}{r['old_cycles']:>11.2f}{r['new_cycles']:>9.2f}  {ratio:<22}{spread:<15}{verdict}")
    judged = sum(r["judged"] for r in m["rows"])
    print(f"geometric mean of {judged} rows: {m['mean']:.4f}, at least {MEAN_FLOOR}: {'ok' if m['mean_ok'] else 'slower'}")


def print_report(doc):
    print(f"new: {doc['new']}\nold: {doc['old']}")
    print(f"{doc['cpu']}, CPU {doc['lcore']}, {doc['memory']}; {doc['runs']} processes of each, in turn")
    print("new / old: speeds, median over the rounds (lowest-highest); itself: in which 98 % of such medians of one binary lie")
    for side, names in doc["only_in"].items():
        if names:
            print(f"only in the {side} build, not compared: {', '.join(names)}")
    for i, m in enumerate(doc["measurements"], 1):
        print_measurement(i, m)
    print()
    if doc["ok"]:
        print(f"pass: not slower, in {MEASUREMENTS} measurements in succession")
        return
    last = doc["measurements"][-1]
    slow = [f"{r['row']} {r['ratio']:.3f}" for r in last["rows"] if r["judged"] and not r["ok"]]
    if not last["mean_ok"]:
        slow.insert(0, f"geometric mean {last['mean']:.4f}")
    print(f"fail: slower in measurement {len(doc['measurements'])}: {', '.join(slow)}")
