#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Shell and Python files are read by their interpreters without being run; what has #! can be executed."""
import os
import subprocess

import tree

found = tree.Findings()
for name in tree.files():
    kind = tree.kind(name)
    path = tree.ROOT / name
    if kind == "sh":
        shell = "bash" if "bash" in tree.read(name).split("\n", 1)[0] else "sh"
        check = subprocess.run([shell, "-n", path], capture_output=True, text=True)
        if check.returncode:
            found.add(name, check.stderr.strip())
    elif kind == "py":
        try:
            compile(tree.read(name), name, "exec")
        except SyntaxError as error:
            found.add(f"{name}:{error.lineno}", error.msg)
    if kind in ("sh", "py") and tree.read(name).startswith("#!") and not os.access(path, os.X_OK):
        found.add(name, "has #! and cannot be executed: chmod +x")
found.end()
