# SPDX-License-Identifier: BSD-3-Clause
"""The fenced blocks of the documents for users, and whether a text is what one of them shows.

What varies from run to run is matched by its shape: a number, with or without a unit or a %, stands for any number (parts of
addresses and of hex are none); "..." stands for anything, also within a line. Blanks and the ends of lines are one blank: documents break long lines.
"""
import pathlib
import re

TOP = pathlib.Path(__file__).resolve().parents[2]
NUMBER = r"(?<![\w.:'-])-?\d+(?:'\d{3})*(?:\.\d+)?(?:e[+-]\d+)?(?:[kMGT]|[num]?s|[kMGT]?[pb]ps)?%?(?![\w:'])(?!\.\d)"
SHOWN_PROMPT = "wirerate> "


def files():
    return [TOP / "README.md", *sorted((TOP / "docs").glob("*.md"))]


class Block:
    """One fence: its language, its lines, where it stands, and the file as which a reader is told to keep it."""

    def __init__(self, path, line, language, lines, before=""):
        self.path, self.line, self.language, self.lines = path, line, language, lines
        self.first = lines[0] if lines else ""
        self.text = "\n".join(lines) + "\n"
        kept = re.search(r"\bKeep this as `([\w.]+)`[^`]*(?:`[^`]*`[^`]*)?$", before)
        self.kept = kept[1] if kept else None

    @property
    def where(self):
        return f"{self.path.relative_to(TOP)}:{self.line}"


def blocks():
    found = []
    for path in files():
        fence, before = None, ""
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            mark = re.match(r"\s*```(\w*)\s*$", line)
            if mark and fence is None:
                fence = Block(path, number + 1, mark[1], [])
            elif mark:
                found.append(Block(path, fence.line, fence.language, fence.lines, before))
                fence, before = None, ""
            elif fence is not None:
                fence.lines.append(line)
            else:
                before = line if line.startswith("#") else f"{before} {line}"
        assert fence is None, f"{path}:{fence.line}: the fence is not closed"
    return found


TIME = r"\b\d\d:\d\d:\d\d\.\d{9}\b"  # of day


def shape(text):
    """A text as words, numbers and times of day as their shape."""
    return re.sub(NUMBER, "#", re.sub(TIME, "@", text)).split()


def pattern(shown):
    """Of the words that a shown text stands for, each followed by a blank."""
    out = []
    for word in shape(shown):
        if word == "...":
            out.append(r"(?:\S+ )*?")
        else:
            out.append(r"(?:\S|(?<=\S) (?=\S))*?".join(re.escape(part) for part in word.split("...")) + " ")
    return "".join(out)


def is_shown(shown, came):
    return re.fullmatch(pattern(shown), "".join(word + " " for word in shape(came))) is not None


def first_difference(shown, came):
    """For a person: the first lines of `shown` that still match the begin of what came, and what follows."""
    words = "".join(word + " " for word in shape(came))
    lines = shown.splitlines()
    good = 0
    while good < len(lines) and re.match(pattern("\n".join(lines[:good + 1])), words):
        good += 1
    return f"line {good + 1} of what is shown does not come:\n{lines[good] if good < len(lines) else '(the end)'}\n--- it came:\n{came}"


def session(lines):
    """(typed, shown) of each prompt; what stands before the first belongs to nobody."""
    out = []
    for line in lines:
        if line.startswith(SHOWN_PROMPT):
            out.append((line[len(SHOWN_PROMPT):], []))
        elif out:
            out[-1][1].append(line)
    return [(typed, "\n".join(shown)) for typed, shown in out]
