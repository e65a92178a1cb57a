#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draw pages from fixed snapshots and compare them with what people have looked at.

A file NAME.page holds drawings of the page NAME:

    # a comment
    = two 80x24 ascii first=1    the snapshot (a function of that name in a snap_*.py), columns x rows, options of page_grid
    ports 2/2 rows 0/0           what there is beyond what is drawn, then the rows
    |- <main>  2 ports                                                                                     wirerate
    |...

No row may be longer than the grid is wide, and there may not be more of them. --update writes what came into the file:
look at every drawing before you commit it. The last line is the count.
"""
import argparse
import glob
import importlib
import json
import os
import subprocess
import sys
import tempfile
import unicodedata

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(1, os.path.dirname(HERE))
from seed import random_seed


def snapshots():
    """{name: function} of all snap_*.py beside this file; each returns a snapshot as a dict."""
    sys.path.insert(0, HERE)
    found = {}
    for path in sorted(glob.glob(os.path.join(HERE, "snap_*.py"))):
        found.update(importlib.import_module(os.path.basename(path)[:-3]).SNAPS)
    return found


def width(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def draw(program, page, path, words):
    done = subprocess.run([program, path, page, *words], capture_output=True, text=True, timeout=60, encoding="utf-8")
    if done.returncode:
        return [f"! exit code {done.returncode}", *done.stderr.splitlines()]
    lines = done.stdout.splitlines()
    columns, rows = map(int, words[0].split("x"))
    drawn = [line[1:] for line in lines if line.startswith("|")]
    if len(drawn) > rows or any(width(line) > columns for line in drawn):
        lines.append(f"! larger than {words[0]}")
    if "ascii" in words and not all(line.isascii() for line in drawn):
        lines.append("! not ASCII")
    return lines


def at_random(program, rounds, known):
    """All snapshots to a program that draws them spoilt; begun as tests/seed.py says."""
    seed = str(random_seed())
    with tempfile.TemporaryDirectory() as place:
        paths = []
        for name, make in known.items():
            paths.append(os.path.join(place, name))
            with open(paths[-1], "w", encoding="utf-8") as f:
                json.dump(make(), f)
        return subprocess.run([program, seed, str(rounds), *paths]).returncode


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--program", required=True, help="page_grid, or page_random with --random")
    ap.add_argument("--update", action="store_true")
    ap.add_argument("--random", type=int, metavar="ROUNDS")
    ap.add_argument("files", nargs="*")
    args = ap.parse_args()
    known = snapshots()
    if args.random:
        return at_random(args.program, args.random, known)
    passed = failed = 0
    with tempfile.TemporaryDirectory() as place:
        for path in args.files:
            page = os.path.basename(path).rsplit(".", 1)[0]
            with open(path, encoding="utf-8") as f:
                lines = f.read().splitlines()
            out, i = [], 0
            while i < len(lines):
                if not lines[i].startswith("= "):
                    out.append(lines[i])
                    i += 1
                    continue
                name, *words = lines[i][2:].split()
                begin = i + 1
                i = begin
                while i < len(lines) and lines[i][:1] not in ("=", "#", ""):
                    i += 1
                snap = os.path.join(place, name)
                if not os.path.exists(snap):
                    with open(snap, "w", encoding="utf-8") as f:
                        json.dump(known[name](), f)
                got = draw(args.program, page, snap, words)
                out += [lines[begin - 1], *got]
                if got == lines[begin:i] and not any(line.startswith("!") for line in got):
                    passed += 1
                    continue
                failed += 1
                if not args.update:
                    print(f"{os.path.basename(path)}:{begin}: {lines[begin - 1]}: is not what was drawn", *got, sep="\n")
            if args.update:
                with open(path, "w", encoding="utf-8") as f:
                    f.write("\n".join(out) + "\n")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0 and not args.update


sys.exit(main())
