#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The total of ./dev test cannot claim what did not run: tests/phase.py is given parts that pass, fail, skip and lie."""
import json
import pathlib
import subprocess
import sys
import tempfile

import tree

PHASE = tree.ROOT / "tests/phase.py"
CASES = "[       OK ] a\n[       OK ] b\n[==========] 3 test(s) run.\n[  PASSED  ] 2 test(s).\n"
LAST = "[  {0} ] {1}\n[  {0} ] 1 test(s), listed below:\n[  {0} ] {1}\n\n"
PYTEST = "import pytest\ndef test_a(): pass\ndef test_b(): assert 0\ndef test_c(): pytest.skip('no')\n"
found = tree.Findings()


def meson_log(place, name, *tests):
    log = place / "meson-logs" / (name + ".json")
    log.parent.mkdir(exist_ok=True)
    log.write_text("".join(json.dumps({"result": result, "stdout": text}) + "\n" for result, text in tests))
    return str(place)


def expect(results, name, wanted, *command):
    done = subprocess.run([sys.executable, PHASE, "run", results, name, "--", *command], capture_output=True, text=True)
    got = (results / (name + ".tally")).read_text().split()
    if got != wanted.split() or (done.returncode != 0) != (got[1] != "0"):
        found.add("tests/phase.py", f"{name}: {wanted} expected, {' '.join(got)} counted, exit code {done.returncode}")


with tempfile.TemporaryDirectory() as place:
    results = pathlib.Path(place)
    expect(results, "good", "1 0 0", "true")
    expect(results, "bad", "0 1 0", "false")
    expect(results, "skip", "0 0 1", "sh", "-c", "exit 77")
    expect(results, "absent", "0 1 0", str(results / "no-such-program"))
    expect(results, "tally", "5 0 1", "printf", "3 passed, 0 failed, 1 skipped\\n2 passed, 0 failed, 0 skipped\\n")
    expect(results, "crash", "3 1 0", "sh", "-c", "echo 3 passed, 0 failed, 0 skipped; kill -9 $$")
    expect(results, "nothing", "0 1 0", "echo", "No tests defined.")
    expect(results, "zero", "0 1 0", "echo", "0 passed, 0 failed, 0 skipped")
    expect(results, "cases", "2 0 0", "true", meson_log(results, "cases", ("OK", CASES)))
    expect(results, "broken", "2 1 0", "false", meson_log(results, "broken", ("FAIL", CASES)))
    expect(results, "failed", "2 1 0", "false", meson_log(results, "failed", ("FAIL", CASES + "[  FAILED  ] c\n")))
    expect(results, "again", "2 1 1", "false", meson_log(
        results, "again", ("FAIL", CASES + LAST.format("SKIPPED", "c") + LAST.format("FAILED", "d") + " 1 FAILED TEST(S)\n")))
    expect(results, "limit", "1 1 1", "false", meson_log(results, "limit", ("OK", ""), ("TIMEOUT", ""), ("SKIP", "")))
    expect(results, "replayed", "7 1 0", "false", meson_log(
        results, "replayed", ("OK", "4 passed, 0 failed, 0 skipped\n"), ("FAIL", "x\n3 passed, 1 failed, 0 skipped\n")))
    (results / "x_test.py").write_text(PYTEST)
    if subprocess.run([sys.executable, "-c", "import pytest"], capture_output=True).returncode == 0:
        expect(results, "pytest", "1 1 1", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", place + "/x_test.py")
        expect(results, "collect", "0 1 0", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", place + "/none.py")
    total = subprocess.run([sys.executable, PHASE, "total", place], capture_output=True, text=True)
    if total.returncode == 0 or not total.stdout.endswith(" skipped\n"):
        found.add("tests/phase.py", f"total: exit code {total.returncode}, {total.stdout}")
found.end()
