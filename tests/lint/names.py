#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One name, one place: no two files of C have the same name, no static function has a name of one word, and at the top of the tree
lies nothing but what belongs there (a log that a program left in its folder goes into a commit unseen).

The name of a file says what of what it is, wherever in the tree it lies: verb_load.c, send_rate.c. The name of a static function begins with
the noun of its file, so that who looks for it finds one place.
"""
import collections
import os
import re

import tree

STATIC = re.compile(r"^static (?:[\w ]|\*|\n)*?\b([a-z][a-z0-9]*)\((?!\*)", re.M)
# Names that a file may have all the same: what the language, or who includes the file, calls by them.
ALLOWED = {"main"}
TOP = set("""README.md CHANGELOG.md CONTRIBUTING.md LICENSE meson.build meson_options.txt dev .ci .clang-format .git-blame-ignore-revs
    .gitignore app docs examples lib lua tests themes""".split())
SHARED = {"lib/dp/look.c": {"seen"}}  # look.inc calls it, once for each kind of CPU

found = tree.Findings()
for name in tree.files(".c", under=("lib/", "app/", "examples/")):
    for one in sorted(set(STATIC.findall(tree.read(name))) - ALLOWED - SHARED.get(name, set())):
        found.add(name, f"{one}() is a name of one word: put the file's noun before it")
places = collections.defaultdict(list)
for name in tree.files(".c", ".h", ".inc", under=("lib/", "app/", "examples/", "tests/")):
    places[os.path.basename(name)].append(name)
for base, names in sorted(places.items()):
    if len(names) > 1:
        found.add(names[1], f"{names[0]} has that name already: say in the name what of what it is")
for name in sorted({name.split("/")[0] for name in tree.files()} - TOP):
    found.add(name, "does not belong at the top of the tree: remove it, or name it in tests/lint/names.py")
found.end()
