#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What DPDK's functions for devices answer is looked at: a call of one does not stand alone, nor behind (void)."""
import re

import tree

ALONE = re.compile(r"^\s*(?:\(void\)\s*)?(rte_(?:eth|dev|vdev|eal_hotplug)_\w+)\(")

found = tree.Findings()
for name in tree.files():
    if not name.startswith(("lib/", "app/", "examples/")) or tree.kind(name) != "c":
        continue
    before = ";"
    for number, line in enumerate(tree.read(name).split("\n"), 1):
        call = ALONE.match(line)
        # A line that goes on from the one before is part of an expression; a condition ends in its parenthesis.
        if call and (before.endswith((";", "{", "}", "*/", "else", ":")) or re.match(r"\s*(if|for|while) .*\)$", before)):
            found.add(f"{name}:{number}", f"nobody looks at what {call.group(1)}() answers")
        before = line.strip() or before
found.end()
