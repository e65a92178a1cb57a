#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""In the documents every relative link and image leads to a file or folder of the tree, every #anchor to a heading, and from the front page
there is a link to each page of docs/."""
import os
import re

import tree

FENCE = re.compile(r"^\s*```.*?^\s*```\s*$", re.M | re.S)
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.S)
TARGET = re.compile(r"\]\(\s*<?([^)\s>]*)>?(?:\s+\"[^\"]*\")?\s*\)|^\[[^\]]+\]:\s+(\S+)|\b(?:src|href)=\"([^\"]*)\"", re.M)
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.I)


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
found.end()
