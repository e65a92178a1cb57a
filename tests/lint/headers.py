#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""headers.py BUILD: every header of lib/ compiles alone, with the flags of a file that may include it."""
import json
import os
import pathlib
import shlex
import subprocess
import sys

import tree

build = pathlib.Path(sys.argv[1]).resolve()
found = tree.Findings()
commands = []
for entry in json.loads((build / "compile_commands.json").read_text()):
    words = shlex.split(entry["command"])
    flags = [word for word in words[1:] if word.startswith(("-I", "-D", "-std=", "-W", "-m"))]
    for option in ("-isystem", "-include"):
        flags += [part for i, word in enumerate(words[:-1]) if word == option for part in (option, words[i + 1])]
    paths = {os.path.normpath(build / word[2:]) for word in words if word.startswith("-I")}
    commands.append((len(paths), words[0], flags, paths))
commands.sort(key=lambda command: command[0])

for name in tree.files(".h", under=("lib/",)):
    place = str((tree.ROOT / name).parent)
    needs_dpdk = name == "lib/base/dpdk.h"
    fitting = [c for c in commands if place in c[3] and (not needs_dpdk or "rte_config.h" in c[2])]
    if not fitting:
        if (tree.ROOT / ("lib/dp" if needs_dpdk else os.path.dirname(name)) / "meson.build").exists():
            found.add(name, "no compiled file has it on its path")
        continue
    _, compiler, flags, _ = fitting[0]
    # Twice: the second time its guard must hold.
    text = f'#include "{os.path.basename(name)}"\n' * 2
    run = subprocess.run([*shlex.split(compiler), *flags, "-Werror", "-fsyntax-only", "-x", "c", "-"], input=text,
                         cwd=build, capture_output=True, text=True)
    if run.returncode:
        found.add(name, "does not compile alone:\n" + "\n".join(run.stderr.splitlines()[:8]))
found.end()
