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
    # A compiler cache stands before the compiler where one is installed.
    compiler = shlex.join(words[:next(i for i, word in enumerate(words) if word.startswith("-"))])
    flags = [word for word in words[1:] if word.startswith(("-I", "-isystem/", "-D", "-std=", "-W", "-m"))]
    for option in ("-isystem", "-include"):
        flags += [part for i, word in enumerate(words[:-1]) if word == option for part in (option, words[i + 1])]
    paths = {os.path.normpath(build / word[2:]) for word in words if word.startswith("-I")}
    command = (len(paths), compiler, flags, paths)
    if command not in commands:
        commands.append(command)
commands.sort(key=lambda command: command[0])


def compiles(name, compiler, flags):
    """Twice in one file: the second time its guard must hold. Returns the compiler's complaint."""
    run = subprocess.run([*shlex.split(compiler), *flags, "-Werror", "-fsyntax-only", "-x", "c", "-"], cwd=build,
                         input=f'#include "{os.path.basename(name)}"\n' * 2, capture_output=True, text=True)
    return run.stderr if run.returncode else ""


for name in tree.files(".h", under=("lib/",)):
    place = str((tree.ROOT / name).parent)
    needs_dpdk = name == "lib/base/dpdk.h"
    # A header of a module is on nobody's path but beside those who include it, who have the path of their layer.
    layer = {"plain": "lib/ctl", "app/ui/page": "app/ui"}.get(tree.layer(name), tree.layer(name))
    beside = ["-iquote", place] if layer != os.path.dirname(name) else []
    fitting = [c for c in commands if str(tree.ROOT / layer) in c[3] and (not needs_dpdk or "rte_config.h" in c[2])]
    if not fitting:
        if (tree.ROOT / ("lib/dp" if needs_dpdk else os.path.dirname(name)) / "meson.build").exists():
            found.add(name, "no compiled file has it on its path")
        continue
    # The narrowest first. One is enough: a neighbour in the same folder may have fewer dependencies than the header.
    for _, compiler, flags, _ in fitting:
        complaint = compiles(name, compiler, flags + beside)
        if not complaint:
            break
    else:
        found.add(name, "does not compile alone:\n" + "\n".join(complaint.splitlines()[:8]))
found.end()
