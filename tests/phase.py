#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run one part of the tests, or sum all parts up.

  phase.py run DIR NAME [--beside SHELL] -- COMMAND...
                                        run, keep the output in DIR/NAME.log, print the part's numbers and time. SHELL runs
                                        beside it on CPUs that nobody else wants; it ends before the part does, and is not judged
  phase.py total DIR                    print "N passed, N failed, N skipped" over all parts

Where the numbers come from, first that fits:
  - meson test --logbase NAME: BUILD/meson-logs/NAME.json; a cmocka program counts with each of its cases, and one
    that has its own count with that
  - pytest: DIR/NAME.xml (PYTEST_ADDOPTS asks for it)
  - lines "N passed, N failed, N skipped" of the output, one for each program that has its own count
  - the exit code: 0 one passed, 77 one skipped, else one failed
A part that ends badly without a failed test counts as one failure. One that is not done after PHASE_LIMIT_S seconds is ended; 1050 where that
is not set.
"""
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET

LIMIT_S = int(os.environ.get("PHASE_LIMIT_S", 1050))
SHOWN_LINES = 300
TALLY = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", re.M)
CASE = re.compile(r"^\[\s+(OK|FAILED|SKIPPED)\s+\] ", re.M)
# cmocka ends by naming again what was not OK.
NAMED_AGAIN = re.compile(r"^(\[\s+(?:FAILED|SKIPPED)\s+\]) \d+ test.*\n(?:\1 .*\n?)*", re.M)


def add(*tallies):
    return tuple(sum(column) for column in zip((0, 0, 0), *tallies))


def tallied(text):
    return add(*(tuple(map(int, found)) for found in TALLY.findall(text)))


def from_meson(path):
    total = (0, 0, 0)
    for line in path.read_text().splitlines():
        test = json.loads(line)
        text = test.get("stdout", "") + "\n" + test.get("stderr", "")
        words = CASE.findall(NAMED_AGAIN.sub("", text))
        cases = add((words.count("OK"), words.count("FAILED"), words.count("SKIPPED")), tallied(text))
        if test["result"] == "SKIP" and not any(cases):
            cases = (0, 0, 1)
        elif test["result"] in ("OK", "EXPECTEDFAIL"):
            cases = cases if any(cases) else (1, 0, 0)
        elif test["result"] != "SKIP" and cases[1] == 0:
            cases = add(cases, (0, 1, 0))
        total = add(total, cases)
    return total


def from_junit(path):
    total = (0, 0, 0)
    for case in ET.parse(path).getroot().iter("testcase"):
        kinds = {child.tag for child in case}
        if kinds & {"failure", "error"}:
            total = add(total, (0, 1, 0))
        elif "skipped" in kinds:
            total = add(total, (0, 0, 1))
        else:
            total = add(total, (1, 0, 0))
    return total


def count(directory, name, command, began, rc, output):
    xml = directory / (name + ".xml")
    logs = [pathlib.Path(word, "meson-logs", name + ".json") for word in command]
    # A log that is older than this run says nothing about it.
    logs = [log for log in logs if log.exists() and log.stat().st_mtime >= began - 1]
    if logs:
        total = add(*map(from_meson, logs))
    elif xml.exists():
        total = from_junit(xml)
    elif TALLY.search(output):
        total = tallied(output)
    elif re.search("^No (suitable )?tests defined", output, re.M):
        total = (0, 0, 0)
    else:
        return {0: (1, 0, 0), 77: (0, 0, 1)}.get(rc, (0, 1, 0))
    # meson is content with a suite that has no test; here a part that tested nothing has failed.
    if total == (0, 0, 0) or (rc != 0 and total[1] == 0):
        total = add(total, (0, 1, 0))
    return total


def run_bounded(command, log, env):
    """In a session of its own, so that at the limit or at Ctrl-C everything that it started ends too."""
    with open(log, "wb") as out:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env=env,
                                 start_new_session=True)
    try:
        return child.wait(LIMIT_S)
    except subprocess.TimeoutExpired:
        with open(log, "a") as out:
            out.write(f"\nnot done after {LIMIT_S} s, ended\n")
        return 124
    finally:
        end(child)


def end(child):
    """With all that it started."""
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGTERM)
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)


@contextlib.contextmanager
def beside(shell, log, env):
    """Runs while the body does, and to its end."""
    if shell is None:
        yield
        return
    with open(log, "wb") as out:
        child = subprocess.Popen(["chrt", "--idle", "0", "sh", "-c", shell], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                 env=env, start_new_session=True)
    try:
        yield
        child.wait(LIMIT_S)
    except subprocess.TimeoutExpired:
        pass
    finally:
        end(child)


def run(directory, name, command, ahead=None):
    directory = pathlib.Path(directory).resolve()
    print(f"== {name}", flush=True)
    env = dict(os.environ)
    env["PYTEST_ADDOPTS"] = f"{env.get('PYTEST_ADDOPTS', '')} --junitxml={directory / (name + '.xml')}"
    log = directory / (name + ".log")
    began = time.time()
    try:
        with beside(ahead, directory / (name + ".beside.log"), env):
            rc = run_bounded(command, log, env)
    except OSError as error:
        log.write_text(f"{command[0]}: {error.strerror}\n")
        rc = 127
    output = log.read_text(errors="replace")
    passed, failed, skipped = count(directory, name, command, began, rc, output)
    (directory / (name + ".tally")).write_text(f"{passed} {failed} {skipped}\n")
    for line in re.findall("^again: .*", output, re.M):
        print(f"   {line}")
    if failed:
        lines = output.splitlines()
        if len(lines) > SHOWN_LINES:
            print(f"(the last {SHOWN_LINES} lines; all of it: {log})")
        print("\n".join(lines[-SHOWN_LINES:]))
    print(f"   {name}: {passed} passed, {failed} failed, {skipped} skipped  ({time.time() - began:.0f} s)", flush=True)
    return 1 if failed else 0


def total(directory):
    tallies = [tuple(map(int, path.read_text().split())) for path in pathlib.Path(directory).glob("*.tally")]
    passed, failed, skipped = add(*tallies)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not tallies else 0


def main(argv):
    if len(argv) >= 6 and argv[1] == "run" and argv[4] == "--":
        return run(argv[2], argv[3], argv[5:])
    if len(argv) >= 8 and argv[1] == "run" and argv[4] == "--beside" and argv[6] == "--":
        return run(argv[2], argv[3], argv[7:], argv[5])
    if len(argv) == 3 and argv[1] == "total":
        return total(argv[2])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv))
    except KeyboardInterrupt:
        sys.exit(130)
