#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""White space, line length, and no path of somebody's machine."""
import re

import tree

COLUMNS = {"c": 100}
MOST = 150  # of other files
# ./dev fmt breaks no string: a message stands in one piece, where grep finds it.
STRING = re.compile(r'"(\\.|[^"\\])*"')
# Directories of a person or of a build machine; a path such as /tmp or /sys is the system's.
MACHINE = re.compile(r"(?<![\w.$}])/(work|home|root|Users)(?=/|\b(?![\w.]))")
BINARY = (".pcap", ".png", ".bin", ".gz")

found = tree.Findings()
for name in tree.files():
    if name.endswith(BINARY) or name.startswith("tests/fuzz/corpus/"):
        continue
    kind = tree.kind(name)
    text = tree.read(name)
    if text and not text.endswith("\n"):
        found.add(name, "no newline at the end")
    for number, line in enumerate(text.split("\n"), 1):
        where = f"{name}:{number}"
        indent = line[:len(line) - len(line.lstrip())]
        if line != line.rstrip() and not name.endswith((".md", ".txt")):
            found.add(where, "white space at the end of the line")
        if MACHINE.search(line):
            found.add(where, f"path of one machine: {MACHINE.search(line).group(0)}")
        if kind == "c" and (" \t" in indent or "        " in indent):
            found.add(where, "indent with tabs (8 columns), spaces only for the rest of an alignment")
        if kind in ("py", "meson", "lua") and "\t" in indent:
            found.add(where, "indent with spaces")
        most = COLUMNS.get(kind, MOST)
        if kind and len(line.expandtabs(8)) > (MOST if STRING.search(line) else most):
            found.add(where, f"{len(line.expandtabs(8))} columns, at most {most}")
found.end()
