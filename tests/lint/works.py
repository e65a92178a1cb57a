#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""works.py BUILD: a kind of work is known to its own folder alone.

Nothing outside of lib/work/NAME uses a name that the headers of that folder declare or that its objects define, or includes one of its headers;
neither does another kind of work. What the core needs of a kind is in its records, which the lists of the build refer to. Tests may look inside.
And what a folder defines for all to link begins with a prefix that its meson.build states, so that a new name is no accident.
"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys

import tree

# Names of records, which the lists of the build make from those of files: no source names one.
RECORD = re.compile(r"(dp_kind|work|face|verb|part|page)_\w+$")
# Words before a parenthesis that are no name of a function.
NO_FUNCTION = {"__attribute__", "_Static_assert", "static_assert", "sizeof", "_Alignas", "WR_ALIGNED", "typeof", "__typeof__", "if", "while", "for",
               "return"}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)


def code(name):
    """Without comments and what stands in quotes; lines stay."""
    def blank(match):
        return " " + "\n" * match.group().count("\n")
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, tree.read(name), flags=re.S)


def top_level(text):
    """Declarations of a header, what is in braces left out."""
    text = re.sub(r"^\s*#(?:.*\\\n)*.*$", "", text, flags=re.M)
    depth, out = 0, []
    for char in text:
        if char == "}":
            depth -= 1
            out.append("{};" if depth == 0 else "")
        elif char == "{":
            depth += 1
        elif depth == 0:
            out.append(char)
    return "".join(out).split(";")


def declared(name):
    """The names that a header makes: macros, types, values of enums, functions and variables."""
    text = code(name)
    names = {tag: "tag" for tag in re.findall(r"\b(?:struct|union|enum)\s+(\w+)\s*\{", text)}
    names.update({macro: "word" for macro in re.findall(r"^\s*#\s*define\s+(\w+)", text, re.M)})
    for body in re.findall(r"\benum\b[^{;()]*\{([^}]*)\}", text):
        names.update({match.group(1): "word" for part in body.split(",") if (match := re.match(r"\s*(\w+)", part))})
    for declaration in top_level(text):
        before = declaration.split("=")[0].replace("{}", " ")
        called = [word for word in re.findall(r"\b(\w+)\s*\(", before) if word not in NO_FUNCTION]
        last = re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$", before.strip())
        if "_Static_assert" in before:
            continue
        if called:
            names[called[0]] = "call"
        elif last and re.search(r"\b(extern|typedef|static)\b", before):
            names[last.group(1)] = "word"
    return names


def defined(objects):
    if not objects:
        return set()
    listing = subprocess.run(["nm", "--defined-only", "--extern-only", *objects], capture_output=True, text=True, check=True).stdout
    return {line.split()[2] for line in listing.splitlines() if len(line.split()) == 3}


def own(text, met, word):
    """Whether a file means something of its own by that word: it defines it."""
    if met == "tag":
        return re.search(rf"^(?:struct|union|enum)\s+{word}\s*\{{", text, re.M) is not None
    return re.search(rf"^\w[^;{{}}()=]*\b{word}\s*\([^;{{]*\)\s*\n\{{|^\s*#\s*define\s+{word}\b", text, re.M) is not None


build = pathlib.Path(sys.argv[1]).resolve()
found = tree.Findings()
works = re.findall(r"'(\w+)'", re.search(r"^works = \[(.*?)\]", tree.read("lib/work/meson.build"), re.M | re.S).group(1))
for folder in sorted({name.split("/")[2] for name in tree.files(under=("lib/work/",)) if name.count("/") > 2} - set(works)):
    found.add(f"lib/work/{folder}", "it is not in the list of lib/work/meson.build")
commands = json.loads((build / "compile_commands.json").read_text())
for entry in commands:
    entry["file"] = os.path.relpath(os.path.join(build, entry["file"]), tree.ROOT)
    entry["work"] = entry["file"].split("/")[2] if entry["file"].startswith("lib/work/") else None

names, headers, prefixes = {}, {}, {}  # of which kind of work each is; names by how they are met: alone, behind "struct", as a call
for work in works:
    folder = f"lib/work/{work}/"
    how = {}
    for header in tree.files(".h", under=(folder,)):
        headers[os.path.basename(header)] = work
        how.update(declared(header))
    external = defined([build / entry["output"] for entry in commands if entry["work"] == work])
    how.update({name: "word" for name in external})
    names.update({(met, name): work for name, met in how.items()})
    mine = re.search(r"^work_prefixes \+= \{'(\w+)': \[(.*?)\]\}", tree.read(folder + "meson.build"), re.M | re.S)
    if mine is None or mine.group(1) != work:
        found.add(folder + "meson.build", f"it states no prefixes of its names: work_prefixes += {{'{work}': ['{work}_']}}")
        continue
    stated = tuple(re.findall(r"'(\w+)'", mine.group(2)))
    for prefix in stated:
        if prefixes.setdefault(prefix, work) != work:
            found.add(folder + "meson.build", f"the prefix {prefix} is that of {prefixes[prefix]}")
    for name in sorted(external):
        if not RECORD.match(name) and not name.startswith(stated):
            found.add(folder, f"{name} is to begin with a prefix that its meson.build states: {', '.join(stated)}")

known = collections.defaultdict(lambda: collections.defaultdict(set))  # file: {kind of work: what of it}
for name in tree.files(".c", ".h", ".inc", under=("lib/", "app/", "examples/")):
    work = name.split("/")[2] if name.startswith("lib/work/") else None
    text = code(name)
    for tag, word, call in re.findall(r"(\b(?:struct|union|enum)\s+)?(?<![.\w])(?<!->)([A-Za-z_]\w*)(\s*\()?", text):
        for met in ["tag"] if tag else ["word", "call"] if call else ["word"]:
            whose = names.get((met, word), work)
            if whose != work and not own(text, met, word):
                known[name][whose].add(word)
    for header in INCLUDE.findall(tree.read(name)):
        if headers.get(header, work) != work:
            known[name][headers[header]].add(header)
for name, what in sorted(known.items()):
    for work, words in sorted(what.items()):
        found.add(name, f"only lib/work/{work} knows {', '.join(sorted(words))}")

# The core cannot include what it should not know: folders of kinds of work are on nobody's path.
for entry in commands:
    if not entry["file"].startswith("tests/"):
        for path in re.findall(r"(?<!\S)-I(\S+)", entry["command"]):
            place = os.path.relpath(os.path.join(build, path), tree.ROOT).split("/")
            if place[:2] == ["lib", "work"] and len(place) > 2 and place[2] != entry["work"]:
                found.add(entry["file"], f"{'/'.join(place)} is on its include path")
found.end()
