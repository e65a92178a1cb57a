#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""fence.py BUILD: nothing needs the spellings of other programs, which are app/NAME, app/ui/page/NAME and lua/wirerate/NAME.

Nothing outside of these folders uses what their objects define, includes one of their headers, looks up one of their settings, asks for one of
their parts of snapshots, or loads one of their Lua modules. They are known to the rest by lists alone: `spellings` of app/meson.build, from
which the build makes the lists of faces and of pages, the modules of lua/meson.build, and the names that scripts use without require(), in
lib/script/prelude.lua.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

import tree

build = pathlib.Path(sys.argv[1]).resolve()
found = tree.Findings()
spellings = re.findall(r"'(\w+)'", re.search(r"^spellings = \[(.*?)\]", tree.read("app/meson.build"), re.M).group(1))
# Who may refer to what: these files are nothing but the lists.
LISTS = {"app/faces.c": "face_", "app/ui/page.c": "page_"}
LIST_TEXT = {"app/meson.build": r"^spellings = \[.*?\]$", "lua/meson.build": r"^subdir\('wirerate/\w+'\)$|^lua_modules = \[.*?\]$",
             "lib/script/prelude.lua": r"^local lazy = \{.*?\}$"}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
NAME = re.compile(r'\.name = "([^"]+)"')
# Where a source names a setting, or parts of a snapshot.
LOOKS_UP = re.compile(r'\bcmd_setting_find\([^;"]*"([^"]+)"')
PARTS = re.compile(r'\.parts = "([^"]+)"')


def symbols(objects):
    """Pairs of an object, as the build names it, and a line of nm without the address: a letter and a name."""
    if not objects:
        return []
    listing = subprocess.run(["nm", "-A", "--extern-only", *objects], cwd=build, capture_output=True, text=True, check=True).stdout
    return [(path, *rest.split()[-2:]) for path, rest in (line.rsplit(":", 1) for line in listing.splitlines())]


def folders(name):
    return f"app/{name}/", f"app/ui/page/{name}/", f"lua/wirerate/{name}/"


def inside(name):
    """Whose spellings the file belongs to, or None."""
    for spelling in spellings:
        if name.startswith(folders(spelling)):
            return spelling
    return None


sources = {name: tree.read(name) for name in tree.files(".c", ".h", ".inc", ".lua", "meson.build", under=("app/", "lib/", "lua/", "examples/"))}
# A listed module that loads nothing but modules of a spelling is the door by which scripts find these.
doors = set()
for module in re.findall(r"'(\w+)'", re.search(r"^lua_modules = \[(.*?)\]", sources["lua/meson.build"], re.M).group(1)):
    needed = re.findall(r"require\W+([\w.]+)", re.sub(r"--[^\n]*", "", sources[f"lua/{module}.lua"]))
    if needed and any(all(name.startswith(f"wirerate.{spelling}.") for name in needed) for spelling in spellings):
        doors.add(f"lua/{module}.lua")
fenced = {name for name in sources if inside(name)} | doors
modules = re.compile("|".join([rf"wirerate[./]{spelling}\b" for spelling in spellings] +
                              [rf"[\"']{os.path.basename(door)[:-4]}[\"']" for door in sorted(doors)]) or "(?!)")
headers = {os.path.basename(name) for name in fenced if name.endswith(".h")}
names = {name for file in fenced if file.endswith(".c") for name in NAME.findall(sources[file])}
# A name that the rest has as well is not theirs.
names -= {name for file, text in sources.items() if file not in fenced and file.endswith(".c") for name in NAME.findall(text)}

for name, text in sorted(sources.items()):
    if name in fenced:
        continue
    if name in LIST_TEXT:
        text = re.sub(LIST_TEXT[name], "", text, flags=re.M)
    for header in INCLUDE.findall(text):
        if os.path.basename(header) in headers:
            found.add(name, f"it includes {header}, which is behind the fence")
    for setting in LOOKS_UP.findall(text):
        if setting in names:
            found.add(name, f"it looks up the setting {setting}, which is behind the fence")
    for parts in PARTS.findall(text):
        for part in re.findall(r"[\w-]+(?=[:, ]|$)", parts):
            if part in names:
                found.add(name, f"it asks for the part {part}, which is behind the fence")
    code = re.sub(r"--[^\n]*", "", text) if name.endswith(".lua") else re.sub(r"#[^\n]*", "", text) if name.endswith("meson.build") else ""
    for module in modules.findall(code):
        found.add(name, f"it names {module}, which is behind the fence")
    if name.endswith("meson.build"):
        for spelling in spellings:
            if re.search(rf"\b{spelling}\b", code):
                found.add(name, f"it names {spelling}, which only lists do")

of_object = {}
for entry in json.loads((build / "compile_commands.json").read_text()):
    file = os.path.relpath(os.path.join(build, entry["file"]), tree.ROOT)
    if not file.startswith("tests/") and (build / entry["output"]).exists():
        of_object[entry["output"]] = file
listed = symbols(sorted(of_object))
theirs = {symbol: of_object[path] for path, letter, symbol in listed if letter not in "Uw" and inside(of_object[path])}
for path, letter, symbol in listed:
    file = of_object[path]
    if letter in "Uw" and symbol in theirs and not inside(file) and not (file in LISTS and symbol.startswith(LISTS[file])):
        found.add(file, f"it uses {symbol} of {theirs[symbol]}, which is behind the fence")
found.end()
