# SPDX-License-Identifier: BSD-3-Clause
"""The full screen on a pseudo-terminal: where its parts are, and what every sequence of keys must leave."""
import re

from pty_term import ALTERNATE, PROMPT, JobTerm, Term

RUNNING = "running> "  # the prompt while a command holds the line
UP, DOWN, RIGHT, LEFT = "\x1bOA", "\x1bOB", "\x1bOC", "\x1bOD"
PAGE_UP, PAGE_DOWN, F5, F6 = "\x1b[5~", "\x1b[6~", "\x1b[15~", "\x1b[17~"
LONG = "set pages interval 60s"  # nothing is redrawn but what keys and commands change


class On:
    """What both kinds of terminal do on the full screen."""

    full = False  # also without an alternate screen

    def last(self):
        """As on any terminal. On the screen lines that are drawn into the log look like prompts for a moment."""
        on_screen = self.full or ALTERNATE in self.screen.mode
        if not on_screen:
            return super().last()
        if self.screen.cursor.y < self.screen.lines - 2:
            return None
        # narrow screens have a short prompt
        line = super().last()
        return PROMPT + line[2:] if line.startswith("> ") else line

    def ready(self):
        return self.until(lambda: ALTERNATE in self.screen.mode and self.last() == PROMPT and self.footer(), "screen")

    def footer(self):
        return "F5" in self.lines()[-1]

    def title(self):
        """The head line without its spinner."""
        return self.lines()[0][self.lines()[0].index("<"):]

    def on_page(self, name):
        return self.until(lambda: f"<{name}>" in self.lines()[0], f"page {name}")

    def state(self, *ports):
        """What the page main says of its ports."""
        pattern = r"^State +:" + "".join(f" +{p}" for p in ports) + " "
        return self.until(lambda: re.search(pattern, self.text(), re.M), f"ports {ports}")

    def cmd(self, line):
        """A command, after which the prompt is back."""
        self.type(line).line_is(line)
        return self.type("\r").prompt()

    def above(self):
        """All above the prompt."""
        return "\n".join(self.lines()[:self.screen.cursor.y])

    def settle(self):
        """Whatever was typed is done and drawn: a mark has come to the prompt and gone, and nothing follows."""
        self.type("\x15").prompt()
        self.type("#~").line_is("#~")
        self.type("\x15").prompt()
        return self.idle()

    def same_after_repaint(self):
        """What was drawn bit by bit is what is drawn from nothing. The page keeps its numbers meanwhile."""
        self.type("\x15").prompt().cmd("off").settle()
        before, sent = self.cells(), len(self.raw)
        self.type("\x0c").until(lambda: b"\x1b[2J" in self.raw[sent:] or b"\x1b[J" in self.raw[sent:], "repaint")
        self.idle()
        self.same(before, self.cells())
        return self.cmd("on")

    def same_after_resizes(self):
        """All areas are drawn anew at another size and back. Of a page whose numbers stand still."""
        s = self.screen
        cols, rows = s.columns, s.lines
        self.settle()
        before = self.cells()
        self.resize(cols + 7, rows + 3).settle().resize(cols, rows).settle()
        self.same(before, self.cells())
        return self

    def same(self, before, after):
        for cells, _ in (before, after):
            cells[0][0] = None  # the spinner counts drawings
        for y, (old, new) in enumerate(zip(before[0], after[0])):
            assert old == new, f"row {y}: {[(x, a, b) for x, (a, b) in enumerate(zip(old, new)) if a != b]}\n{self.text()}"
        assert before[1] == after[1], "cursor"

    def left(self, code):
        assert self.ends() == code
        self.terminal_is_back()


class Screen(On, Term):
    pass


class JobScreen(On, JobTerm):
    pass


def colours(t):
    return {c for y in range(t.screen.lines) for cell in t.screen.row(y) for c in (cell.fg, cell.bg)} - {"default"}


def history(home):
    """Lines as they were entered. libedit writes a head line, and blanks as octal numbers."""
    lines = (home / ".local/state/wirerate/history").read_text().splitlines()[1:]
    return [re.sub(r"\\(\d{3})", lambda m: chr(int(m.group(1), 8)), line) for line in lines]
