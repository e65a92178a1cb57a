#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The include rule. Every #include of lib/, app/ and examples/ against the layers.

The build gives each library only the paths that its meson.build names; this says which names are allowed there.
"""
import os
import re

import tree

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
DPDK = re.compile(r"^(rte_\w+|dpdk|ethdev_\w+)\.h$")
PROGRAM = re.compile(r"^[ \t]*static\b[^(){};]*\bstruct (?:app|ctl) \*\s*(\w+)\s*[=;\[]", re.M)
TERMINAL = re.compile(r"^(histedit|editline/readline|n?cursesw?|term|panel)\.h$")
LUA = re.compile(r"^(lua|lauxlib|lualib|luajit)\.h$")

# The order of the libraries has one place, the top meson.build: each may use those before it.
ORDER = re.findall(r"'(\w+)'", re.search(r"foreach l : \[(.*?)\]", tree.read("meson.build"), re.S).group(1))
ORDER.remove("work")  # lists of files of other layers
PLAIN = {"base", "value", "clock", "count", "hist", "log", "pace", "pcapio", "out", "doctor", "capacity", "neigh", "filter", "workload", "flow"}
# Beyond the order.
ONLY = {"dp": {"base", "clock", "count", "hist", "pace", "pcapio", "mbox", "neigh", "filter", "workload", "flow", "proto", "vary", "frame"},
        "place": {"base"}}
NEVER = {"sess": {"log"}, "script": {"dp", "mbox"}}
NEVER.update({room: {"cmd", "out", "sess", "script"} for room in ("cfg", "place", "port", "ctl", "trial")})
RUN_HALF = {"neigh", "pcapio", "filter", "workload", "flow", "proto", "vary", "frame"}  # of these, lib/dp sees NAME_run.h and plain formats alone
FORMATS = {"frame_probe.h"}
MAY_DPDK = {"mbox", "dp", "rss", "port", "ctl", "trial"}
# A page is a function from a snapshot to a grid, and knows nothing else.
PAGE_FILE = re.compile(r"^app/ui/(grid\.[ch]|page(_\w+)?\.[ch]|keys_help\.[ch]|page/.*)$")
PAGE_SEES = re.compile(r"^(app/ui/(grid\.h|page(_\w+)?\.h|keys_help\.h|theme\.h|page/.*)|lib/(base|out)/\w+\.h)$")


def library(name):
    folder = tree.layer(name).split("/")
    if folder == ["plain"]:
        return "plain"
    if folder[0] != "lib":
        return None
    return folder[1]


headers = {}
found = tree.Findings()
for name in tree.files(".h", under=("lib/",)):
    base = os.path.basename(name)
    if base in headers:
        found.add(name, f"there is already {headers[base]}: names of headers are unique")
    headers[base] = name


def check_library(name, where, user, target):
    owner = library(target)
    if user == "plain" or owner == "plain":
        if user == "plain" and owner in ("dp", "mbox"):
            found.add(where, f"control and program share this header, it sees no workers: {target}")
        elif user not in ("plain", "ctl", "trial"):
            found.add(where, f"control and program share {target}, {user} does not see it")
        return
    if user == owner:
        return
    if user not in ORDER:
        found.add(where, f"library {user} is not in the order of the top meson.build")
    elif ORDER.index(owner) > ORDER.index(user) if owner in ORDER else True:
        found.add(where, f"{user} may not use {target}: arrows go down only")
    elif user in ONLY and owner not in ONLY[user]:
        found.add(where, f"{user} may use only {', '.join(sorted(ONLY[user]))}, not {target}")
    elif owner in NEVER.get(user, ()):
        found.add(where, f"{user} works without {owner}: {target}")
    elif user == "dp" and owner in RUN_HALF and not target.endswith("_run.h") and os.path.basename(target) not in FORMATS:
        found.add(where, f"workers see only the run half of {owner}: {owner}_run.h, not {target}")


def made_by_build(name):
    """A list that the build makes of file names stands in the meson.build of its folder or of the one above."""
    folders = (tree.ROOT / name).parents
    return any(f"'{os.path.basename(name)}'" in (folder / "meson.build").read_text()
               for folder in folders[:2] if (folder / "meson.build").exists())


def check(name, where, system, target_name):
    user = library(name)
    folder = tree.layer(name)
    top = folder.split("/")[0]
    page = folder == "app/ui/page" or PAGE_FILE.match(name)
    if DPDK.match(target_name):
        if top == "app":
            found.add(where, f"the program knows no DPDK: {target_name}")
        elif user is not None and user not in MAY_DPDK and name != "lib/base/dpdk.h":
            found.add(where, f"{user} is plain C, without DPDK: {target_name}")
        return
    if TERMINAL.match(target_name) and not folder.startswith("app/ui"):
        found.add(where, f"only app/ui knows the terminal: {target_name}")
    if LUA.match(target_name) and user != "script":
        found.add(where, f"only lib/script knows Lua: {target_name}")
    if system:
        return
    target = headers.get(os.path.basename(target_name))
    for path in (os.path.dirname(name), top, "app/ui" if page else top):  # app/ is on its own include path
        here = os.path.normpath(os.path.join(path, target_name))
        if (tree.ROOT / here).exists() or made_by_build(here):
            target = here
            break
    if target is None:
        found.add(where, f"no such header in the tree: {target_name}")
        return
    if "/" in target_name and target.startswith("lib/"):
        found.add(where, f"name the header alone, the build knows where it is: {os.path.basename(target_name)}")
    if user is not None:
        if not target.startswith("lib/"):
            found.add(where, f"a library does not use {target}")
            return
        check_library(name, where, user, target)
        return
    owner = library(target)
    if top == "app" and owner in ("dp", "mbox"):
        found.add(where, f"the program sees control, not the workers: {target}")
    if page and not PAGE_SEES.match(target):
        found.add(where, f"a page sees a snapshot and a grid, not {target}")
    if folder.startswith("app/ui") and owner in ("cfg", "place", "port", "ctl", "trial", "plain"):
        found.add(where, f"front ends see sess, not control: {target}")


for name in tree.files(".c", ".h", ".inc", under=("lib/", "app/", "examples/")):
    text = tree.read(name)
    if tree.layer(name) == "":
        found.add(name, "it is in none of the lists of its module's meson.build")
        continue
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start(2)) + 1
        check(name, f"{name}:{line}", match.group(1) == "<", match.group(2))
    if name != "lib/base/dpdk.h" and re.search(r"\bRTE_VERSION(_NUM)?\b", text):
        found.add(name, "differences between DPDK versions belong into lib/base/dpdk.h")
    for match in PROGRAM.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        found.add(f"{name}:{line}", f"the program is handed over, as the host of an object or an argument, and not kept in a file: {match.group(1)}")
found.end()
