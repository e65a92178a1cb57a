#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""In the documents every relative link and image leads to a file or folder of the tree, every #anchor to a heading, and from the front page
there is a link to each page of docs/. What the pages for developers name as code is there: files and folders of the tree, functions, structs.
In a row of a table that begins with a link to a file, functions are that file's. Comments name no page that is not there."""
import functools
import os
import re

import tree

FENCE = re.compile(r"^\s*```.*?^\s*```\s*$", re.M | re.S)
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.S)
TARGET = re.compile(r"\]\(\s*<?([^)\s>]*)>?(?:\s+\"[^\"]*\")?\s*\)|^\[[^\]]+\]:\s+(\S+)|\b(?:src|href)=\"([^\"]*)\"", re.M)
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.I)
FOR_DEVELOPERS = ("CONTRIBUTING.md", "docs/ARCHITECTURE.md", "docs/adding-work.md", "docs/code.md")
SOURCES = (".c", ".h", ".inc", ".in", ".py", ".lua")
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
PLACEHOLDER = re.compile(r"(?<![A-Za-z])[A-Z]{3,}(?=[_./]|$)")  # lib/work/NAME/NAME_run.h
ROW = re.compile(r"^\|\s*\[[^]]+\]\(([^)\s]+)\)\s*\|([^|]*)\|")
PAGE = re.compile(r"(?<![\w/.])docs/[\w-]+\.md")


def prose(name):
    """The text with blocks and words of code blanked out, lines kept."""
    text = FENCE.sub(lambda m: "\n" * m[0].count("\n"), tree.read(name))
    return CODE.sub(lambda m: "\n" * m[0].count("\n"), text)


def anchors(name):
    """Of the headings, as GitHub makes them."""
    found = set()
    for heading in re.findall(r"^#+\s+(.*?)\s*#*$", FENCE.sub("", tree.read(name)), re.M):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        base = slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        again = 0
        while slug in found:
            again += 1
            slug = f"{base}-{again}"
        found.add(slug)
    return found


def functions(text):
    """What is called, defined or a member of a record of functions; comments do not count."""
    return set(re.findall(r"\b(\w+)\)?\s*\(", re.sub(r"/\*.*?\*/", "", text, flags=re.S)))


@functools.cache
def in_sources():
    """The functions and the structs of the tree."""
    text = "\n".join(tree.read(name) for name in tree.files(*SOURCES, under=("lib/", "app/", "examples/", "tests/work/")))
    return functions(text), set(re.findall(r"\bstruct (\w+)\s*\{", text))


def unknown_code(name):
    """(line, what) of the words of code that a page for developers has and the tree has not."""
    tops = {path.split("/")[0] for path in known if "/" in path}
    for number, line in enumerate(FENCE.sub(lambda m: "\n" * m[0].count("\n"), tree.read(name)).split("\n"), 1):
        row = ROW.match(line)
        path = os.path.normpath(os.path.join(os.path.dirname(name), row[1])) if row else None
        of_path = functions(tree.read(path)) if path in known else None
        for span in SPAN.findall(line):
            struct, function = re.fullmatch(r"struct (\w+)", span), re.fullmatch(r"(\w+)\(\)", span)
            if struct and struct[1] not in in_sources()[1]:
                yield number, f"there is no struct {struct[1]}"
            if function and function[1] not in in_sources()[0]:
                yield number, f"no source has a function {span}"
            elif function and of_path is not None and span in SPAN.findall(row[2]) and function[1] not in of_path:
                yield number, f"{path} has no {span}"
            for word in span.split():
                if re.fullmatch(r"[\w.-]+(/[\w.-]+)+/?", word) and word.split("/")[0] in tops and not PLACEHOLDER.search(word) \
                        and word.rstrip("/") not in known | folders:
                    yield number, f"there is no {word}"


known = set(tree.files())
folders = {os.path.dirname(name) for name in known}
folders |= {"/".join(folder.split("/")[:n]) for folder in folders for n in range(1, folder.count("/") + 1)}
pages = [name for name in known if name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md") or re.fullmatch(r"docs/[^/]+\.md", name)]
found = tree.Findings()
linked = set()
for name in sorted(pages):
    text = prose(name)
    for link in TARGET.finditer(text):
        target = link[1] or link[2] or link[3] or ""
        where = f"{name}:{text.count(chr(10), 0, link.start()) + 1}"
        if ELSEWHERE.match(target):
            continue
        path, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
        if name == "README.md":
            linked.add(path)
        if target in ("", "#") or target.startswith("/") or (path not in known and path not in folders):
            found.add(where, f"the link to '{target}' leads to nothing in the tree")
        elif anchor and (not path.endswith(".md") or anchor not in anchors(path)):
            found.add(where, f"'{target}': {path} has no heading for #{anchor}")
for name in sorted(pages):
    if name.startswith("docs/") and name not in linked:
        found.add(name, "README.md has no link to this page")
    for number, what in unknown_code(name) if name in FOR_DEVELOPERS else ():
        found.add(f"{name}:{number}", what)
for name in tree.files(".c", ".h", ".inc", "meson.build", under=("lib/", "app/", "examples/")):
    for page in sorted(set(PAGE.findall(tree.read(name))) - known):
        found.add(name, f"it names {page}, which is not there")
found.end()
