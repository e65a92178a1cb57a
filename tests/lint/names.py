#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The name of a static function begins with the noun of its file, and is not one word that stands in many: who looks for it finds one place."""
import re

import tree

STATIC = re.compile(r"^static (?:[\w ]|\*|\n)*?\b([a-z][a-z0-9]*)\((?!\*)", re.M)
# Names that a file may have all the same: what the language, or who includes the file, calls by them.
ALLOWED = {"main"}
SHARED = {"lib/dp/look.c": {"seen"}}  # look.inc calls it, once for each kind of CPU

found = tree.Findings()
for name in tree.files(".c", under=("lib/", "app/", "examples/")):
    for one in sorted(set(STATIC.findall(tree.read(name))) - ALLOWED - SHARED.get(name, set())):
        found.add(name, f"{one}() is a name of one word: put the file's noun before it")
found.end()
