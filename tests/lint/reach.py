#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How far one addition reaches: reach.txt has the files that the newest commit of each sort touched, and how many these may be.

A commit that adds one thing and nothing else says so by a line `Reach: THING` at the end of its message. Where there is a history, the list
is what that commit touched, without tests, documents and the change log: of a file that was renamed since, the name of then. Tests of kinds of
work that only the tests have are these kinds, and count.
"""
import re
import subprocess

import tree

LIST = "tests/lint/reach.txt"
BESIDE = re.compile(r"(?!tests/work/)tests/|docs/|CHANGELOG\.md$|README\.md$")


def entries(found):
    """What the list says: the files of each thing."""
    listed, thing = {}, None
    for number, line in enumerate(tree.read(LIST).splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if line[0] == "\t" and thing and len(words) == 1:
            listed[thing][1].append(words[0])
        elif line[0] != "\t" and len(words) == 2 and words[1].isdigit():
            thing = words[0]
            listed[thing] = (int(words[1]), [])
        else:
            found.add(f"{LIST}:{number}", "neither a thing and a number nor a tabulator and a file")
    return listed


def git(*arguments):
    """What git says, or None."""
    done = subprocess.run(["git", *arguments], cwd=tree.ROOT, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def commits():
    """The newest commit of each thing, or None where there is no whole history to look at."""
    top, shallow = git("rev-parse", "--show-toplevel"), git("rev-parse", "--is-shallow-repository")
    log = git("log", "--format=%H %(trailers:key=Reach,valueonly,separator= )")
    if log is None or top.strip() != str(tree.ROOT) or shallow.strip() != "false":
        return None
    newest = {}
    for line in log.splitlines():
        commit, *things = line.split()
        for thing in things:
            newest.setdefault(thing, commit)
    return newest


found = tree.Findings()
listed = entries(found)
for thing, (most, names) in listed.items():
    if len(names) > most:
        found.add(LIST, f"a {thing} touches {len(names)} files, at most {most}: {' '.join(names)}")
newest = commits()
if newest is None:
    print("no whole history here: the list is not compared with commits")
else:
    for thing in sorted(set(newest) - set(listed)):
        print(f"note: {LIST} says nothing of 'Reach: {thing}' ({newest[thing][:12]})")
    for thing in listed:
        if thing not in newest:
            found.add(LIST, f"no commit has 'Reach: {thing}' in its message")
            continue
        touched = {name for name in git("show", "--format=", "--name-only", newest[thing]).splitlines() if not BESIDE.match(name)}
        names = set(listed[thing][1])
        for name in sorted(touched ^ names):
            what = "touches it, and it is not in the list" if name in touched else "does not touch it"
            found.add(name, f"'Reach: {thing}' ({newest[thing][:12]}) {what}")
found.end()
