#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""pytest with these arguments, and then its failed tests once more, one by one.

  again.py --junitxml=FILE ARGUMENTS...

A machine that stands still for seconds while six tests and a build share two CPUs fails some test that asks for no time at all. What fails
beside others and passes with nothing beside it has passed; it is named in a line "again: ...", which stays in the log and is shown. What fails
twice has failed, and so has all of it if more than MOST fail, since then it is not the machine."""
import subprocess
import sys
import xml.etree.ElementTree as ET

MOST = 5


def pytest(*args):
    return subprocess.run([sys.executable, "-m", "pytest", *args], check=False).returncode


def failed(cases):
    return [case for case in cases if {"failure", "error"} & {child.tag for child in case}]


def node(case):
    return case.get("classname").replace(".", "/") + ".py::" + case.get("name")


def main(argv):
    if len(argv) < 2 or not argv[1].startswith("--junitxml="):
        print(__doc__, file=sys.stderr)
        return 2
    xml = argv[1].partition("=")[2]
    rc = pytest(*argv[1:])
    if rc != 1:
        return rc
    tree = ET.parse(xml)
    cases = failed(tree.iter("testcase"))
    if not 0 < len(cases) <= MOST:
        return rc
    passed = []
    for case in cases:
        # its own file of results, which nobody reads
        if pytest("-q", "-p", "no:cacheprovider", f"--junitxml={xml}.again", node(case)) == 0:
            passed.append(case)
            print(f"again: {node(case)} failed beside others and passed alone", flush=True)
    for case in passed:
        for child in [c for c in case if c.tag in ("failure", "error")]:
            case.remove(child)
    tree.write(xml)
    return 0 if len(passed) == len(cases) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv))
