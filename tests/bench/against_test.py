#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What against.py makes of samples, without measuring anything: the samples here are made."""
import math
import os
import random
import stat
import sys
import tempfile
import types

import against

ROUNDS = 11
OURS = [f"row{i}" for i in range(30)]


def sample(factor=1.0, noise=None, slow=None):
    """What one process of the bench prints: a machine that is `factor` slower, rows with noise, slow: row -> times as slow."""
    s = {"dpdk": "22.11", "hz": 2e9, "bare": {"cycles": 16 * factor, "ratio": 1}}
    for i, name in enumerate(OURS):
        base = "bare" if i % 2 == 0 else OURS[i - 1]
        own = (slow or {}).get(name, 1.0) * (noise() if noise else 1.0)
        cycles = (20 + i) * factor * own
        s[name] = {"cycles": cycles, "ratio": s[base]["cycles"] / cycles, "base": base}
    return s


def slow_down(s, name, factor):
    """That row alone; what is divided by it keeps its cycles."""
    s[name]["cycles"] *= factor
    s[name]["ratio"] /= factor
    for r in s.values():
        if isinstance(r, dict) and r.get("base") == name:
            r["ratio"] *= factor


def measurement(seed, width, slow=None, drift=1.0):
    """Samples of two builds in the order of their processes, on a machine that gets slower by `drift` from one to the next."""
    rnd = random.Random(seed)
    out = {"new": [], "old": []}
    for i, side in enumerate(against.sides(ROUNDS)):
        out[side].append(sample(drift**i, lambda: math.exp(rnd.gauss(0, width)), slow if side == "new" else None))
    return out["new"], out["old"]


def judge(*args, **kwargs):
    return against.judge(*measurement(*args, **kwargs))


def row(m, name):
    return next(r for r in m["rows"] if r["row"] == name)


def test_order_is_swapped_each_round():
    assert against.sides(4) == ["new", "old", "old", "new", "new", "old", "old", "new"]


def test_pairs_are_neighbours():
    order = against.sides(3)
    different, same = against.pairs([1, 2, 4, 8, 16, 32], order)
    assert different == [0.5, 2, 0.5]  # new / old, whichever came first
    assert same == [2, 2]


def test_tail_of_medians():
    values = list(range(1, 101))
    assert against.tail_of_medians(values, 1, 0.01) == 1
    assert against.tail_of_medians(values, 1, 0.5) == 50
    assert against.tail_of_medians(values, 11, 0.5) == 50
    assert 15 <= against.tail_of_medians(values, 11, 0.01) <= 25
    assert against.tail_of_medians([3], 11, 0.01) == 3


def test_tail_of_medians_is_where_drawn_medians_end():
    rnd = random.Random(1)
    values = [math.exp(rnd.gauss(0, 0.1)) for _ in range(20)]
    low = against.tail_of_medians(values, 11, 0.01)
    below = sum(sorted(rnd.choices(values, k=11))[5] < low for _ in range(20000))
    assert below / 20000 < 0.013


def test_equal_builds_pass():
    for seed in range(20):
        for width in (0, 0.003, 0.02):
            m = judge(seed, width)
            assert m["ok"], [r for r in m["rows"] if r["judged"] and not r["ok"]]


def test_a_machine_that_gets_slower_is_no_slower_build():
    m = judge(1, 0, drift=1.03)
    assert m["ok"] and m["mean"] == 1


def test_all_rows_a_little_slower_fail_by_the_mean():
    m = judge(2, 0.003, slow=dict.fromkeys(OURS, 1.015))
    assert not m["ok"] and not m["mean_ok"] and all(r["ok"] for r in m["rows"] if r["judged"])


def test_one_slow_row_fails_by_itself():
    m = judge(3, 0.003, slow={"row4": 1.08})
    assert not m["ok"] and m["mean_ok"] and not row(m, "row4")["ok"]
    assert [r["row"] for r in m["rows"] if r["judged"] and not r["ok"]] == ["row4"]


def test_one_row_a_little_slower_passes():
    assert judge(3, 0.003, slow={"row4": 1.03})["ok"]


def test_a_row_that_scatters_may_be_lower():
    new, old = measurement(4, 0)
    rnd = random.Random(5)
    for s in new + old:
        slow_down(s, "row4", math.exp(rnd.gauss(0, 0.2)))
    r = row(against.judge(new, old), "row4")
    assert r["self_low"] < against.ROW_FLOOR and r["floor"] == r["self_low"]
    assert row(judge(4, 0), "row4")["floor"] == against.ROW_FLOOR


def test_one_bad_process_of_each_build_changes_nothing():
    new, old = measurement(6, 0.003)
    for samples in (new[3:4], old[7:8]):
        for s in samples:
            for name in OURS:
                slow_down(s, name, 1.5)
    assert against.judge(new, old)["ok"]


def test_bare_loops_are_shown_and_not_judged():
    new, old = measurement(7, 0)
    for s in new:
        s["bare"]["cycles"] *= 2
        for name in OURS:
            s[name]["cycles"] *= 2
    m = against.judge(new, old)
    assert m["ok"] and row(m, "bare")["ratio"] == 0.5 and not row(m, "bare")["judged"]


def test_references_are_shown_and_not_judged():
    new, old = measurement(9, 0)
    for s in new:
        s["row4"]["reference"] = True  # row5 is divided by it
        slow_down(s, "row4", 2)
    m = against.judge(new, old)
    assert m["ok"] and m["mean"] == 1 and row(m, "row5")["judged"]
    assert row(m, "row4")["ratio"] == 0.5 and not row(m, "row4")["judged"] and row(m, "row4")["why"] == "reference"
    assert row(m, "bare")["why"] == "bare loop" and "why" not in row(m, "row5")
    # A row that is slower against its reference is found: it is divided by the bare loop behind that.
    for s in new:
        slow_down(s, "row5", 1.5)
    assert not row(against.judge(new, old), "row5")["ok"]


def test_a_row_is_divided_by_the_bare_loop_at_the_end_of_its_bases():
    s = {"bare": {"cycles": 8, "ratio": 1}, "a": {"cycles": 16, "ratio": 0.5, "base": "bare"}, "b": {"cycles": 20, "ratio": 0.8, "base": "a"}}
    assert [against.speed(s, name) for name in s] == [0.125, 0.5, 0.4]


def test_rows_of_one_build_alone_are_named():
    new, old = measurement(8, 0)
    for s in new:
        s["fresh"] = {"cycles": 3, "ratio": 1, "base": "bare"}
    for s in old:
        s["gone"] = {"cycles": 3, "ratio": 1, "base": "bare"}
    assert against.only_in(new[0], old[0]) == {"new": ["fresh"], "old": ["gone"]}
    assert not {"fresh", "gone"} & {r["row"] for r in against.judge(new, old)["rows"]}


def with_programs(slow, expected, measurements):
    """The whole with two programs that print made samples, the new one with `slow` as its rows' factors."""
    with tempfile.TemporaryDirectory() as top:
        for build, factors in (("new", slow), ("old", {})):
            os.makedirs(os.path.join(top, build, "tests", "bench"))
            path = against.program(os.path.join(top, build))
            with open(path, "w", encoding="utf-8") as f:
                f.write(f"#!{sys.executable}\nimport json, sys\nsys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})\n"
                        f"import against_test\nprint(json.dumps(against_test.sample(slow={factors!r})))\n")
            os.chmod(path, stat.S_IRWXU)
        args = types.SimpleNamespace(build=os.path.join(top, "new"), against=os.path.join(top, "old"), runs=3, cpu=0, isa=None, rows=None)
        doc = against.document(args, against.measure(args, False, lambda _: None), {"cpu": "made", "lcore": 0, "memory": "none"})
        assert doc["ok"] == expected and len(doc["measurements"]) == measurements
        against.print_report(doc)


def test_a_build_passes_that_passes_twice():
    with_programs({}, True, 2)


def test_a_build_fails_at_the_first_measurement_that_fails():
    with_programs({"row3": 1.2}, False, 1)


def test_a_program_that_does_not_run_is_said():
    args = types.SimpleNamespace(build="/nowhere", against="/nowhere", runs=3, cpu=0, isa=None, rows=None)
    try:
        against.measure(args, False, lambda _: None)
    except against.CannotRun as e:
        assert "/nowhere/tests/bench/bench" in str(e)
    else:
        raise AssertionError("nothing was said")


def main():
    failed, tests = 0, [f for name, f in globals().items() if name.startswith("test_")]
    for test in tests:
        try:
            test()
        except AssertionError as e:
            failed += 1
            print(f"{test.__name__}: {e}")
    print(f"{len(tests) - failed} passed, {failed} failed, 0 skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
