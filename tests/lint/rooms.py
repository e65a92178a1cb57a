#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""rooms.py BUILD: control is several libraries ("rooms"), each with a state that it alone writes.

1. A file outside of a room includes only the headers that the room shows.
2. Rooms call each other in one direction: no circle of undefined symbols between their objects. What a lower room tells an upper one, it tells by
   a function that it was given.
3. Nobody writes into the state of another room. This is left to the compiler: it reads the files of control, works, trials and examples once more,
   with headers in which the members of other rooms' states are const. What it does not see: what a member points to, if that is no state, such as
   the shares of queues, which belong to workers and which works fill in; and settings, which work_cfg() gives out for writing.
Tests may look inside and are not asked.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import tree

# What each room shows; and, of lib/ctl, what programs see of it. Works and trials see work.h, which includes what it needs.
SHOWN = {"lib/cfg": {"cfg.h"}, "lib/place": {"place.h"}, "lib/port": {"port.h"},
         "lib/ctl": {"ctl.h", "work.h", "calls.h", "witness.h", "filter_load.h", "rss_to.h", "writer.h"},
         "lib/trial": {"trial.h", "capacity_run.h", "knee.h", "knee_run.h"}}
TO_PROGRAMS = {"lib/port": set(), "lib/ctl": {"ctl.h"}}
# The states that the compiler watches: the header and the structs in it that are states.
STATES = {"lib/port": ("port.h", ["port", "port_stamps", "port_txq"]),
          "lib/ctl": ("ctl_state.h", ["run", "stream_frames", "stream", "ctl_base", "ctl_port", "ctl_worker", "old_plan", "ctl"])}
WATCHED = {struct for header, structs in STATES.values() for struct in structs}
LIST = "lib/ctl/works.c"  # the list of works, which the build makes
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)


def room(name):
    """The room of a file, "lib/work" for a work's half in control, "" for files that are in none."""
    if name.startswith("lib/work/"):
        return "lib/work" if tree.layer(name) == "lib/ctl" else ""
    folder = os.path.dirname(name)
    return folder if folder in SHOWN else ""


def check_includes(found):
    owner = {os.path.basename(name): os.path.dirname(name) for name in tree.files(".h", under=tuple(SHOWN))}
    for name in tree.files(".c", ".h", ".inc", under=("lib/", "app/", "examples/")):
        inside = room(name)
        for header in INCLUDE.findall(tree.read(name)):
            of = owner.get(header)
            if of is None or of == os.path.dirname(name):
                continue
            shown = SHOWN[of] if inside or not name.startswith(("app/", "lib/work/")) else TO_PROGRAMS.get(of, SHOWN[of])
            if header not in shown:
                found.add(name, f"{header} is not shown by {of}: {', '.join(sorted(shown)) or 'it shows nothing to programs'}")


def symbols(objects, what):
    listing = subprocess.run(["nm", what, "--extern-only", *objects], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in listing.splitlines() if line and not line.endswith(":")}


def check_circles(found, build, commands):
    objects = {}
    for entry in commands:
        of = room(entry["file"])
        if of and entry["file"] != LIST:
            objects.setdefault(of, set()).add(str(build / entry["output"]))
    defined = {of: symbols(sorted(paths), "--defined-only") for of, paths in objects.items()}
    uses = {}
    for of, paths in objects.items():
        wanted = symbols(sorted(paths), "--undefined-only") - {"works"}
        uses[of] = {other: sorted(wanted & defined[other]) for other in objects if other != of and wanted & defined[other]}

    def visit(of, way):
        if of in way:
            circle = way[way.index(of):] + [of]
            steps = ", ".join(f"{a} uses {uses[a][b][0]} of {b}" for a, b in zip(circle, circle[1:]))
            found.add("lib/ctl", f"rooms call each other in a circle: {steps}")
            return
        for other in uses[of]:
            visit(other, way + [of])
    for of in sorted(uses):
        visit(of, [])


def with_const(text, structs):
    """The header with all members of these structs const."""
    def member(line):
        if not re.match(r"^\t+[A-Za-z_]", line) or re.match(r"^\t+struct( \w+)? \{$", line):
            return line
        if ";" not in line or "(" in line.split(";")[0]:
            raise SystemExit(f"tests/lint/rooms.py understands members on one line, without parentheses: {line.strip()}")
        code, rest = line.split(";", 1)
        if "*" in code:
            return code.replace("*", "*const ") + ";" + rest
        kind = re.match(r"^\t+(?:struct (\w+))?", code).group(1)
        return line if kind in WATCHED else re.sub(r"^(\t+)", r"\1const ", code) + ";" + rest
    for struct in structs:
        head = f"struct {struct} {{\n"
        at = text.index("\n" + head) + 1
        end = text.index("\n}", at)
        body = text[at + len(head):end]
        text = text[:at] + head + "\n".join(member(line) for line in body.split("\n")) + text[end:]
    return text


def make_headers(folder):
    for of, (header, structs) in STATES.items():
        into = folder / os.path.basename(of)
        into.mkdir()
        for name in tree.files(".h", under=(of + "/",)):
            text = tree.read(name)
            (into / os.path.basename(name)).write_text(with_const(text, structs) if os.path.basename(name) == header else text)


def compile_again(entry, build, folder, source=None):
    """What the compiler says to a file with const headers of all rooms but its own."""
    words = shlex.split(entry["command"])
    quiet = [word for word in words if not word.startswith(("-M", "-W")) and word != "ccache"]
    for option in ("-o", "-MF", "-MQ", "-c"):
        if option in quiet:
            at = quiet.index(option)
            del quiet[at:at + 2]
    quiet = [word for word in quiet if not word.endswith((".o", ".o.d", ".c"))]
    own = os.path.dirname(entry["file"])
    quotes = [f"-iquote{folder / os.path.basename(of)}" for of in STATES if of != own]
    what = ["-xc", "-"] if source else [entry["path"]]
    options = ["-Werror=discarded-qualifiers", "-fsyntax-only", "-fdiagnostics-color=never"]
    result = subprocess.run([*quiet, *options, *quotes, *what], cwd=build, capture_output=True, text=True, input=source)
    return [line for line in result.stderr.splitlines() if "error:" in line]


def check_writes(found, build, commands):
    readers = [entry for entry in commands if (room(entry["file"]) in ("lib/work", "lib/ctl", "lib/trial") or entry["file"].startswith("examples/"))
               and entry["file"] != LIST]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_headers(folder)
        # The check itself is checked: it must see these.
        trial = next(entry for entry in readers if entry["file"].startswith("lib/trial/"))
        def errors(statement):
            return compile_again(trial, build, folder, '#include <string.h>\n#include "work.h"\n' +
                                 f"void f(struct ctl *c, struct ctl_port *cp);\nvoid f(struct ctl *c, struct ctl_port *cp)\n{{\n\t{statement}\n}}\n")
        for breach in ("cp->p.id = 1;", "cp->run.stop = true;", "c->worker[0].dirty = true;", "uint32_t *t = &cp->touched; *t = 1;",
                       "cp->stream[0]->frames->refs++;", "memset(&cp->cfg, 0, sizeof(cp->cfg));"):
            # Any other error says that a name here is out of date, and that the breach itself was not tried.
            if not any("read-only" in line or "discards" in line for line in errors(breach)):
                found.add("tests/lint/rooms.py", f"the compiler lets this pass: {breach}")
        for line in errors("port_set_link_down(&cp->p, true); ctl_replan(c, 0);"):
            found.add("tests/lint/rooms.py", f"the compiler refuses a call of a door: {line}")
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for entry, lines in zip(readers, pool.map(lambda entry: compile_again(entry, build, folder), readers)):
                for line in lines:
                    found.add(entry["file"], f"it writes what another room owns: {line}")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    found = tree.Findings()
    commands = json.loads((build / "compile_commands.json").read_text())
    for entry in commands:
        entry["path"] = os.path.join(build, entry["file"])
        entry["file"] = os.path.relpath(entry["path"], tree.ROOT)
    check_includes(found)
    check_circles(found, build, commands)
    check_writes(found, build, commands)
    found.end()


main()
