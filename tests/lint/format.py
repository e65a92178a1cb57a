#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Code is as clang-format leaves it. Versions differ in what they leave, so the one that Debian 12 has decides; with another one this is skipped."""
import re
import subprocess
import sys

import tree

VERSION = 14
SKIPPED = 77

found = tree.Findings()
try:
    said = subprocess.run(["clang-format", "--version"], capture_output=True, text=True, check=True).stdout
except (OSError, subprocess.CalledProcessError):
    said = ""
version = re.search(r"version (\d+)", said)
if version is None or int(version.group(1)) != VERSION:
    print(f"skipped: clang-format {VERSION} decides, and here is {'none' if version is None else version.group(1)}")
    sys.exit(SKIPPED)
names = [name for name in tree.files(".c", ".h", ".inc") if tree.kind(name) == "c"]
done = subprocess.run(["clang-format", "--style=file", "--dry-run", *names], cwd=tree.ROOT, capture_output=True, text=True)
for where in sorted(set(re.findall(r"^([^:\n]+):\d+:\d+: warning: ", done.stderr, re.M))):
    found.add(where, "not as `./dev fmt` leaves it")
if done.returncode != 0:
    found.add("clang-format", done.stderr[-500:])
found.end()
