#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The picture of the full screen that the documents show, and others to look at.

    screen.py [--program FILE] [--size 120x40] [--theme dark] [--scene steady] [--page main] [--seconds N] [--ascii] [-o docs/screen.svg]

Scenes: idle; steady, two ports of the built-in wire that send to each other; loss, a wire that loses and holds back; eight ports.
"""
import argparse
import os
import pathlib
import re
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import picture

TOP = pathlib.Path(__file__).resolve().parents[2]
RATES = "set 0 rate 2500pps", "set 1 rate 1kpps", "set 0-1 probe on", "set 0-1 size 64..512"
SCENES = {
    "idle": (2, (), ()),
    "steady": (2, (*RATES, "set wire delay exponential 20us"), ("start 0-1 for 10m",)),
    "loss": (2, (*RATES, "set wire loss 1%", "set wire limit 2kpps"), ("start 0-1",)),
    "eight": (8, ("set all rate 400pps", "set 2 rate 900pps", "set 5 rate 80pps"), ("start all",)),
}


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--program", default=os.environ.get("WIRERATE", TOP / "build/app/wirerate"))
    ap.add_argument("--size", type=picture.size, default=(120, 40))
    ap.add_argument("--theme", default="dark")
    ap.add_argument("--scene", choices=SCENES, default="steady")
    ap.add_argument("--page", default="main")
    ap.add_argument("--seconds", type=float, default=65, help="that it sends before the picture is taken")
    ap.add_argument("--ascii", action="store_true")
    ap.add_argument("--type", action="append", default=[], help="typed at the end, as tmux names keys")
    ap.add_argument("-o", "--out", default=TOP / "docs/screen.svg")
    args = ap.parse_args()
    ports, before, after = SCENES[args.scene]
    command = [str(args.program), *["-p", "wire"] * (ports // 2)]
    cols, rows = args.size
    with tempfile.TemporaryDirectory() as home:
        env = {"HOME": home, "LC_ALL": "C.UTF-8", "NO_COLOR": "", "XDG_CONFIG_HOME": home, "XDG_STATE_HOME": home, "TERM": "tmux-256color"}
        with picture.Pane(command, cols, rows, env) as pane:
            pane.until(r"^wirerate>")
            for line in (f"theme load {args.theme}", *(["set pages.glyphs ascii"] if args.ascii else []), *before, *after,
                         f"page {args.page}"):
                pane.type(line).until(r"^wirerate> *$")
            time.sleep(args.seconds)
            for keys in args.type:
                pane.keys(keys)
                time.sleep(0.5)
            capture = pane.capture()
    title = f"wirerate, page {args.page}"
    text = picture.draw(capture, cols, rows, args.theme == "light", title)
    pathlib.Path(args.out).parent.mkdir(exist_ok=True)
    pathlib.Path(args.out).write_text(re.sub(r"[ \t]+$", "", text, flags=re.M), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
