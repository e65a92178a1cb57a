#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A picture of a terminal: what tmux says is on it, with its colours, as SVG.

    picture.py [--size 120x40] [--light] [--keys KEYS]... [--wait TEXT] [--settle S] -o FILE.svg COMMAND...
    picture.py --ansi FILE -o FILE.svg            a capture that is there already (`tmux capture-pane -e -p`)

Each character has a place of its own in a grid. Lines, blocks and braille are drawn as shapes, so that they meet whatever the font is.
"""
import argparse
import re
import shlex
import subprocess
import sys
import time
import unicodedata
import uuid
from xml.sax.saxutils import escape

CELL_W, CELL_H, SIZE, PAD = 8, 17, 13.3, 8
# The palette that most terminals come with, softened as theirs is; ground and text of a dark and of a light one.
PALETTE = ("#1c1f26", "#e06c6c", "#7fc77a", "#e0b95c", "#5b93d6", "#c58ad6", "#54bcc4", "#d5d9e0",
           "#707885", "#ff8585", "#9be795", "#ffd978", "#7fb2f5", "#e0a8f0", "#74dce4", "#ffffff")
LIGHT = ("#20242b", "#c0342f", "#22863a", "#b08800", "#1f5fbf", "#9a3ab0", "#10798a", "#e8eaee",
         "#7a808c", "#d9453f", "#2aa14a", "#d0a215", "#3b7de0", "#b552cc", "#1795a8", "#ffffff")
SGR = re.compile(r"\x1b\[([\d;:]*)m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][A-Z0-9]|\x0e|\x0f|(.)", re.S)


def palette256(n, first):
    if n < 16:
        return first[n]
    if n >= 232:
        return "#" + f"{8 + 10 * (n - 232):02x}" * 3
    level = (0, 0x5F, 0x87, 0xAF, 0xD7, 0xFF)
    n -= 16
    return f"#{level[n // 36]:02x}{level[n // 6 % 6]:02x}{level[n % 6]:02x}"


class Style:
    """What an SGR sequence leaves behind."""

    def __init__(self):
        self.fg = self.bg = None
        self.bold = self.dim = self.line = self.reverse = False

    def apply(self, text, first):
        codes = [int(c or 0) for c in re.split("[;:]", text)]
        while codes:
            c = codes.pop(0)
            if c == 0:
                self.__init__()
            elif c in (1, 2, 22):
                self.bold, self.dim = c == 1 or c == 2 and self.bold, c == 2 or c == 1 and self.dim
            elif c in (4, 24):
                self.line = c == 4
            elif c in (7, 27):
                self.reverse = c == 7
            elif c in (38, 48):
                colour = None
                if codes and codes[0] == 5 and len(codes) > 1:
                    colour, codes = palette256(codes[1], first), codes[2:]
                elif codes and codes[0] == 2 and len(codes) > 3:
                    colour, codes = "#{:02x}{:02x}{:02x}".format(*codes[1:4]), codes[4:]
                self.__dict__["fg" if c == 38 else "bg"] = colour
            elif 30 <= c <= 37 or 90 <= c <= 97:
                self.fg = first[c - 30 if c < 90 else c - 82]
            elif 40 <= c <= 47 or 100 <= c <= 107:
                self.bg = first[c - 40 if c < 100 else c - 92]
            elif c == 39:
                self.fg = None
            elif c == 49:
                self.bg = None

    def look(self, ground, text):
        fg, bg = self.fg or text, self.bg or ground
        if self.dim:
            fg = "#" + "".join(f"{(int(fg[i:i + 2], 16) + int(bg[i:i + 2], 16)) // 2:02x}" for i in (1, 3, 5))
        return (bg, fg, self.bold, self.line) if self.reverse else (fg, bg, self.bold, self.line)


def columns_of(ch):
    return 0 if unicodedata.combining(ch) else 2 if unicodedata.east_asian_width(ch) in "WF" else 1


def read(capture, cols, rows, first, ground, text):
    """[[(character, (fg, bg, bold, underlined))]] of rows x cols."""
    style, plain = Style(), (text, ground, False, False)
    grid = []
    for line in (capture.split("\n") + [""] * rows)[:rows]:
        row = []
        for found in SGR.finditer(line):
            if found[1] is not None:
                style.apply(found[1], first)
            elif found[2]:
                row += [(found[2], style.look(ground, text))] + [("", style.look(ground, text))] * (columns_of(found[2]) - 1)
        grid.append((row + [(" ", plain)] * cols)[:cols])
    return grid


# Right, down, left, up: which arms of a box character there are.
BOX = {"─": 0b1010, "━": 0b1010, "│": 0b0101, "┃": 0b0101, "╌": 0b1010, "┄": 0b1010, "┈": 0b1010, "┌": 0b0011, "┐": 0b0110, "└": 0b1001, "┘": 0b1100,
       "├": 0b1011, "┤": 0b1110, "┬": 0b0111, "┴": 0b1101, "┼": 0b1111, "╭": 0b0011, "╮": 0b0110, "╰": 0b1001, "╯": 0b1100, "╴": 0b1000, "╶": 0b0010,
       "╵": 0b0100, "╷": 0b0001}
LEFT, UP, RIGHT, DOWN = 0b1000, 0b0100, 0b0010, 0b0001
DOTS = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3))


def rect(x, y, w, h):
    return f"M{x:g} {y:g}h{w:g}v{h:g}h{-w:g}z"


def shape(ch, x, y):
    """Path of a character that is drawn, None: it is text."""
    w, h, code = CELL_W, CELL_H, ord(ch)
    if 0x2801 <= code <= 0x28FF:
        return "".join(rect(x + 1.1 + 4 * DOTS[b][0], y + 1 + 4.25 * DOTS[b][1], 2.2, 2.4) for b in range(8) if code - 0x2800 >> b & 1)
    if 0x2581 <= code <= 0x2588:
        part = h * (code - 0x2580) / 8
        return rect(x, y + h - part, w, part)
    if 0x2589 <= code <= 0x258F:
        return rect(x, y + 1, w * (0x2590 - code) / 8, h - 2)
    if ch in BOX:
        arms, thick = BOX[ch], 2 if ch in "━┃" else 1
        mx, my = x + w / 2 - thick / 2, y + h / 2 - thick / 2
        if ch in "╌┄┈":
            return "".join(rect(x + k * w / 2 + 0.5, my, w / 2 - 1.5, thick) for k in range(2))
        return "".join(rect(*r) for bit, r in ((LEFT, (x, my, w / 2 + thick / 2, thick)), (RIGHT, (mx, my, w / 2 + thick / 2, thick)),
                                               (UP, (mx, y, thick, h / 2 + thick / 2)), (DOWN, (mx, my, thick, h / 2 + thick / 2))) if arms & bit)
    return None


def runs(row):
    """(first column, [characters], look) of neighbours that look the same."""
    begin = 0
    for col in range(1, len(row) + 1):
        if col == len(row) or row[col][1] != row[begin][1]:
            yield begin, [ch for ch, _ in row[begin:col]], row[begin][1]
            begin = col


def svg(grid, ground, title):
    rows, cols = len(grid), len(grid[0])
    w, h = cols * CELL_W + 2 * PAD, rows * CELL_H + 2 * PAD
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" font-size="{SIZE}" '
           'font-family="\'DejaVu Sans Mono\',Menlo,Consolas,\'Liberation Mono\',monospace">',
           f"<title>{escape(title)}</title>", f'<rect width="{w}" height="{h}" rx="6" fill="{ground}"/>']
    for r, row in enumerate(grid):
        y = PAD + r * CELL_H
        for begin, text, (fg, bg, bold, line) in runs(row):
            x, n = PAD + begin * CELL_W, len(text)
            if bg != ground:
                out.append(f'<rect x="{x}" y="{y}" width="{n * CELL_W}" height="{CELL_H}" fill="{bg}"/>')
            paths = [shape(ch, x + i * CELL_W, y) for i, ch in enumerate(text) if ch > " "]
            if any(paths):
                out.append(f'<path d="{"".join(p for p in paths if p)}" fill="{fg}"/>')
            if line:
                out.append(f'<path d="{rect(x, y + CELL_H - 2, n * CELL_W, 1)}" fill="{fg}"/>')
            weight = ' font-weight="bold"' if bold else ""
            # A text element for each word: not every program that draws SVG takes a place for each character.
            for word in re.finditer(r"\S+", "".join(" " if ch <= " " or shape(ch, 0, 0) else ch for ch in text)):
                places = " ".join(str(x + i * CELL_W) for i in range(*word.span()))
                out.append(f'<text y="{y + 13}" x="{places}" fill="{fg}"{weight}>{escape(word[0])}</text>')
    return "\n".join([*out, "</svg>", ""])


def draw(capture, cols, rows, light=False, title="a terminal"):
    first, ground, text = (LIGHT, "#fafbfc", "#24292f") if light else (PALETTE, "#12151b", "#d5d9e0")
    return svg(read(capture, cols, rows, first, ground, text), ground, title)


class Pane:
    """A command in a terminal of its own; the server is its own, too, and ends with it."""

    def __init__(self, command, cols, rows, env=None):
        self.server, self.cols, self.rows = f"picture-{uuid.uuid4().hex[:8]}", cols, rows
        words = ["env", *(f"{k}={v}" for k, v in (env or {}).items()), *command]
        self.tmux("-f", "/dev/null", "new-session", "-d", "-s", "p", "-x", str(cols), "-y", str(rows), shlex.join(words), ";",
                  "set", "-g", "status", "off", ";", "set", "-g", "default-terminal", "tmux-256color", ";", "set", "-sg", "escape-time", "0", ";",
                  "resize-window", "-t", "p", "-x", str(cols), "-y", str(rows))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["tmux", "-L", self.server, "kill-server"], stderr=subprocess.DEVNULL, check=False)

    def tmux(self, *words):
        return subprocess.run(["tmux", "-L", self.server, *words], check=True, capture_output=True, text=True, encoding="utf-8").stdout

    def text(self):
        return self.tmux("capture-pane", "-p", "-t", "p")

    def capture(self):
        return self.tmux("capture-pane", "-p", "-e", "-N", "-t", "p")

    def keys(self, *names):
        self.tmux("send-keys", "-t", "p", *names)
        return self

    def type(self, line):
        self.tmux("send-keys", "-t", "p", "-l", line)
        return self.keys("Enter")

    def until(self, pattern, limit_s=60):
        end = time.monotonic() + limit_s
        while not re.search(pattern, self.text(), re.M):
            if time.monotonic() > end:
                raise TimeoutError(f"{pattern!r} did not come:\n{self.text()}")
            time.sleep(0.1)
        return self


def size(text):
    cols, rows = map(int, text.split("x"))
    return cols, rows


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--size", type=size, default=(120, 40), help="COLUMNSxROWS")
    ap.add_argument("--light", action="store_true", help="a terminal with a light ground")
    ap.add_argument("--keys", action="append", default=[], help="typed one after the other, as tmux names keys")
    ap.add_argument("--wait", help="a pattern that the terminal must show before")
    ap.add_argument("--settle", type=float, default=1.0, help="seconds from the last key to the picture")
    ap.add_argument("--ansi", help="draw this capture")
    ap.add_argument("-o", "--out", required=True)
    ap.add_argument("command", nargs=argparse.REMAINDER)
    args = ap.parse_args()
    cols, rows = args.size
    if args.ansi:
        with open(args.ansi, encoding="utf-8") as f:
            capture = f.read()
    else:
        with Pane(args.command, cols, rows) as pane:
            if args.wait:
                pane.until(args.wait)
            for key in args.keys:
                pane.keys(key)
                time.sleep(0.2)
            time.sleep(args.settle)
            capture = pane.capture()
    with open(args.out, "w", encoding="utf-8") as f:
        f.write(draw(capture, cols, rows, args.light, " ".join(args.command) or "a terminal"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
