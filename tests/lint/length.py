#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A file above 720 lines fails; a C function above 60 is only named: look twice at it."""
import tree

FILE_LINES = 720
FUNCTION_LINES = 60
ALLOWED_LONG = ()

found = tree.Findings()
for name in tree.files():
    kind = tree.kind(name)
    if not kind:
        continue
    lines = tree.read(name).split("\n")
    if len(lines) > FILE_LINES and name not in ALLOWED_LONG:
        found.add(name, f"{len(lines)} lines, at most {FILE_LINES}: split it by subject")
    if kind != "c":
        continue
    begin = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            begin = number
        elif line == "}" and begin is not None:
            if number - begin - 1 > FUNCTION_LINES:
                head = lines[begin - 2].strip()
                print(f"{name}:{begin - 1}: note: {number - begin - 1} lines in one function: {head[:70]}")
            begin = None
found.end()
