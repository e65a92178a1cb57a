# SPDX-License-Identifier: BSD-3-Clause
"""The program on a pseudo-terminal, read by pyte, an independent terminal emulator. Needs no root and no NIC.

Nothing here waits for a time: what is expected is waited for until a generous limit.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import pyte
import pytest
from wcwidth import wcwidth

BIN = os.environ.get("WIRERATE")
PROMPT = "wirerate> "
LIMIT = 60.0
BRACKETED_PASTE, ALTERNATE, CURSOR = 2004 << 5, 1049 << 5, 25 << 5  # as pyte keeps private modes
SIZE = struct.Struct("HHHH")


def environment(home, **more):
    """The test's environment without what would change the outcome; a value of None takes a variable away."""
    drop = ("NO_COLOR", "COLUMNS", "LINES", "EDITRC", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "COLORTERM", "LANG", "LC_CTYPE")
    env = {k: v for k, v in os.environ.items() if k not in drop}
    env.update(HOME=str(home), TERM="xterm", LC_ALL="C.UTF-8")
    env.update(more)
    return {k: v for k, v in env.items() if v is not None}


def state(pid):
    """Of the process's first thread, as a letter."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
            return f.read().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "X"


class Emulator(pyte.Screen):
    """pyte and what programs use of xterm besides: the alternate screen, scrolling, repetition, erasing with the
    background's colour, wide characters of which a half is overwritten."""

    def __init__(self, columns, lines):
        self.main_buffer = None
        self.last_drawn = " "
        self.wide = False
        super().__init__(columns, lines)

    # --- cells and rows ---

    def blank(self):
        return self.default_char._replace(bg=self.cursor.attrs.bg)

    def row(self, y):
        return [self.buffer[y][x] for x in range(self.columns)]

    def put_row(self, y, cells):
        self.buffer.pop(y, None)
        line, plain = self.buffer[y], self.default_char
        for x, cell in enumerate(cells[:self.columns]):
            if cell != plain:
                line[x] = cell
        self.mend(y)

    def mend(self, y):
        """Halves of wide characters that lost the other one become blanks."""
        if not self.wide:
            return
        line, skip = self.buffer[y], False
        for x in range(self.columns):
            cell = line[x]
            if skip:
                skip = False
            elif cell.data == "":
                line[x] = cell._replace(data=" ")
            elif wcwidth(cell.data[0]) == 2:
                skip = x + 1 < self.columns and line[x + 1].data == ""
                if not skip:
                    line[x] = cell._replace(data=" ")

    def text(self, y, end=None):
        return "".join(cell.data for cell in self.row(y)[:end])

    @property
    def display(self):
        return [self.text(y) for y in range(self.lines)]

    # --- what the program sends ---

    def draw(self, data):
        if not data:
            return
        self.last_drawn = data[-1]
        self.wide = self.wide or any(ord(c) > 0x10ff and wcwidth(c) == 2 for c in data)
        before = self.cursor.y
        super().draw(data)
        for y in range(min(before, self.cursor.y), self.cursor.y + 1):
            self.mend(y)

    def erase_in_line(self, how=0, private=False):
        row, x = self.row(self.cursor.y), min(self.cursor.x, self.columns - 1)
        at = range(x, self.columns) if how == 0 else range(x + 1) if how == 1 else range(self.columns)
        for i in at:
            row[i] = self.blank()
        self.put_row(self.cursor.y, row)

    def erase_in_display(self, how=0, private=False):
        y = self.cursor.y
        for i in range(y + 1, self.lines) if how == 0 else range(y) if how == 1 else range(self.lines):
            self.put_row(i, [self.blank()] * self.columns)
        if how in (0, 1):
            self.erase_in_line(how)

    def erase_characters(self, count=None):
        row, x = self.row(self.cursor.y), self.cursor.x
        for i in range(x, min(x + (count or 1), self.columns)):
            row[i] = self.blank()
        self.put_row(self.cursor.y, row)

    def insert_characters(self, count=None):
        row, x = self.row(self.cursor.y), self.cursor.x
        self.put_row(self.cursor.y, row[:x] + [self.blank()] * (count or 1) + row[x:])

    def delete_characters(self, count=None):
        row, x = self.row(self.cursor.y), self.cursor.x
        row = row[:x] + row[x + (count or 1):]
        self.put_row(self.cursor.y, row + [self.blank()] * (self.columns - len(row)))

    def shift_rows(self, first, count):
        """Rows from first to the bottom of the region go up, or down where count is below 0."""
        bottom = (self.margins or (0, self.lines - 1))[1]
        rows = [self.row(y) for y in range(first, bottom + 1)]
        n = min(abs(count), len(rows))
        new = [[self.blank()] * self.columns for _ in range(n)]
        rows = rows[n:] + new if count > 0 else new + rows[:len(rows) - n]
        for i, row in enumerate(rows):
            self.put_row(first + i, row)

    def in_region(self):
        top, bottom = self.margins or (0, self.lines - 1)
        return top <= self.cursor.y <= bottom

    def insert_lines(self, count=None):
        if self.in_region():
            self.shift_rows(self.cursor.y, -(count or 1))
            self.cursor.x = 0

    def delete_lines(self, count=None):
        if self.in_region():
            self.shift_rows(self.cursor.y, count or 1)
            self.cursor.x = 0

    def scroll_up(self, count=None, **_):
        self.shift_rows((self.margins or (0, 0))[0], count or 1)

    def scroll_down(self, count=None, **_):
        self.shift_rows((self.margins or (0, 0))[0], -(count or 1))

    def index(self):
        if self.cursor.y == (self.margins or (0, self.lines - 1))[1]:
            self.scroll_up(1)
        elif self.cursor.y < self.lines - 1:
            self.cursor.y += 1

    def reverse_index(self):
        if self.cursor.y == (self.margins or (0, 0))[0]:
            self.scroll_down(1)
        elif self.cursor.y > 0:
            self.cursor.y -= 1

    def repeat(self, count=None):
        self.draw(self.last_drawn * (count or 1))

    def tab_back(self, count=None):
        for _ in range(count or 1):
            self.cursor.x = max([s for s in self.tabstops if s < self.cursor.x], default=0)

    def set_mode(self, *modes, **kwargs):
        if kwargs.get("private") and 1049 in modes and self.main_buffer is None:
            self.save_cursor()
            self.main_buffer = self.buffer.copy()
            self.buffer.clear()
        super().set_mode(*modes, **kwargs)

    def reset_mode(self, *modes, **kwargs):
        super().reset_mode(*modes, **kwargs)
        if kwargs.get("private") and 1049 in modes and self.main_buffer is not None:
            self.buffer.clear()
            self.buffer.update(self.main_buffer)
            self.main_buffer = None
            self.restore_cursor()


class Stream(pyte.ByteStream):
    csi = {**pyte.ByteStream.csi, "S": "scroll_up", "T": "scroll_down", "b": "repeat", "Z": "tab_back"}
    events = frozenset([*pyte.ByteStream.events, "scroll_up", "scroll_down", "repeat", "tab_back"])


def shown(char):
    """What the eye sees of a cell: the colour of a blank's ink is not seen."""
    blank = char.data == " " and not (char.underscore or char.strikethrough)
    if not blank:
        return tuple(char)
    return (" ", char.fg if char.reverse else char.bg)


class Term:
    """The program on a terminal of its own, as a session leader's foreground job."""

    def __init__(self, home, *args, cols=80, rows=24, stdout=None, cmd=None, pass_fds=(), **env):
        self.master, self.slave = pty.openpty()
        os.set_blocking(self.master, False)
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, SIZE.pack(rows, cols, 0, 0))
        self.before = termios.tcgetattr(self.slave)
        self.screen = Emulator(cols, rows)
        self.stream = Stream(self.screen)
        self.screen.write_process_input = lambda text: self.type(text)
        self.raw = b""
        self.gone = False
        self.proc = subprocess.Popen(cmd or [BIN, *args], stdin=self.slave, stdout=stdout or self.slave, stderr=self.slave,
                                     env=environment(home, **env), preexec_fn=self._own_terminal, pass_fds=pass_fds)

    @staticmethod
    def _own_terminal():
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        # of a shell with jobs; one without has what it starts with & ignore them, the tests too
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGQUIT, signal.SIG_DFL)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.proc.poll() is None:
            self.proc.kill()
            self.proc.wait()
        self.vanish()

    def vanish(self):
        """The terminal's window is closed."""
        if not self.gone:
            os.close(self.slave)
            os.close(self.master)
        self.gone = True

    # --- what comes ---

    def read(self, seconds):
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        data = os.read(self.master, 65536)
        self.raw += data
        self.stream.feed(data)
        return True

    def read_all(self):
        while self.read(0):
            pass

    def quiet(self, seconds=0.25):
        """Until nothing has come for a while."""
        end = time.monotonic() + LIMIT
        while self.read(seconds):
            assert time.monotonic() < end, "never silent"
        return self

    def idle(self):
        """Until nothing has come for a while, and not because the program stands still or writes."""
        pid = getattr(self, "pid", self.proc.pid)
        end = time.monotonic() + LIMIT
        while self.read(0.25) or state(pid) not in "SZX":
            assert time.monotonic() < end, "never silent"
        return self

    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def text(self):
        return "\n".join(self.lines())

    def last(self):
        """The line with the cursor, up to the cursor: blanks there count."""
        y = min(self.screen.cursor.y, self.screen.lines - 1)
        return self.screen.text(y, self.screen.cursor.x)

    def cells(self):
        """All that can be seen, the cursor included."""
        s = self.screen
        cells = [[shown(s.buffer[y][x]) for x in range(s.columns)] for y in range(s.lines)]
        return cells, (s.cursor.y, s.cursor.x, s.cursor.hidden)

    def until(self, done, what):
        end = time.monotonic() + LIMIT
        while not done():
            if time.monotonic() > end or (self.proc.poll() is not None and not self.read(0.1) and not done()):
                pytest.fail(f"{what}: not seen on:\n{self.text()}\n{self.raw[-400:]!r}")
            self.read(0.05)
        return self

    def prompt(self):
        return self.until(lambda: self.last() == PROMPT, "prompt")

    def shows(self, text):
        return self.until(lambda: any(text in line for line in self.lines()), text)

    def line_is(self, text):
        return self.until(lambda: self.last() == PROMPT + text, f"line '{text}'")

    # --- what goes ---

    def type(self, text):
        """Keys. The program may write much meanwhile, and would wait for us while we wait for it."""
        data = text if isinstance(text, bytes) else text.encode()
        end = time.monotonic() + LIMIT
        while data:
            assert time.monotonic() < end, f"keys are not taken: {data[:60]!r}"
            r, w, _ = select.select([self.master], [self.master], [], 0.2)
            if r:
                self.read(0)
            elif w:
                try:
                    data = data[os.write(self.master, data):]
                except BlockingIOError:
                    self.read(0.05)
        return self

    def resize(self, cols, rows):
        """Another size of the window. The emulator keeps the old one where the new one has no room for anything."""
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, SIZE.pack(rows, cols, 0, 0))
        if cols > 0 and rows > 0:
            self.screen.resize(rows, cols)
            self.screen.tabstops = set(range(8, cols, 8))
            self.screen.ensure_hbounds()
            self.screen.ensure_vbounds()
        return self

    def ends(self):
        end = time.monotonic() + LIMIT
        while self.proc.poll() is None:
            assert time.monotonic() < end, "does not end:\n" + self.text()
            self.read(0.02)
        self.read_to_the_last()
        return self.proc.returncode

    def read_to_the_last(self):
        """All that a process wrote that has ended: the kernel brings it to our side in its own time. What we write behind it comes last."""
        if self.gone:
            return
        mark = b"\x1b]777;last\x07"
        end = time.monotonic() + LIMIT
        while mark not in self.raw and self.write_behind(mark):
            assert time.monotonic() < end, "the terminal keeps what was written"
            # once more where it does not come: a Ctrl-C that the terminal works on only now takes away what it has not brought
            again = time.monotonic() + 1
            while mark not in self.raw and time.monotonic() < again:
                self.read(0.05)
        self.raw = self.raw.replace(mark, b"")
        self.read_all()

    def write_behind(self, mark):
        """Behind all that was written. False: it has no room, as the terminal is stopped, or full."""
        fd = os.open(f"/proc/self/fd/{self.slave}", os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            return os.write(fd, mark) == len(mark)
        except BlockingIOError:
            return False
        finally:
            os.close(fd)

    def modes_are_back(self):
        assert termios.tcgetattr(self.slave) == self.before

    def terminal_is_back(self):
        """Modes, the normal screen, a visible cursor, pastes without brackets, plain colours."""
        self.read_all()
        self.modes_are_back()
        modes = self.screen.mode
        assert ALTERNATE not in modes, "still on the alternate screen"
        assert BRACKETED_PASTE not in modes, "pastes are still bracketed"
        assert not self.screen.cursor.hidden, "no cursor"
        assert (self.screen.cursor.attrs.fg, self.screen.cursor.attrs.bg) == ("default", "default"), "colour left behind"
        assert not self.screen.cursor.attrs.reverse and not self.screen.cursor.attrs.bold
        keypad = re.findall(rb"\x1b([=>])", self.raw)
        assert not keypad or keypad[-1] == b">", "keypad left in application mode"
        assert self.screen.margins in (None, (0, self.screen.lines - 1)), "scrolling region left behind"


class Hold:
    """A command that holds the line until it is let go."""

    def __init__(self, folder):
        self.began, self.free, script = folder / "began", folder / "free", folder / "hold.lua"
        script.write_text(f'io.open("{self.began}", "w"):close() repeat wr.sleep("2ms") until io.open("{self.free}")\n')
        self.command = f"script {script}"

    def let_go(self):
        self.free.touch()


class JobTerm(Term):
    """The program as a job of a small shell with job control, which tells how the job fares."""

    def __init__(self, home, *args, **kw):
        from_shell, to_us = os.pipe()
        from_us, to_shell = os.pipe()
        self.news, self.orders = os.fdopen(from_shell, "r"), os.fdopen(to_shell, "w", buffering=1)
        cmd = [sys.executable, __file__, str(from_us), str(to_us), BIN, *args]
        super().__init__(home, cmd=cmd, pass_fds=(from_us, to_us), **kw)
        os.close(from_us)
        os.close(to_us)
        self.pid = int(self.hears("pid"))

    def __exit__(self, *exc):
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        super().__exit__(*exc)
        self.news.close()
        self.orders.close()

    def hears(self, what):
        """The shell's next word about the job must be this; its value."""
        end = time.monotonic() + LIMIT
        while not select.select([self.news], [], [], 0)[0]:
            assert time.monotonic() < end, f"the shell does not say '{what}':\n{self.text()}"
            self.read(0.05)
        word, _, value = self.news.readline().rstrip("\n").partition(" ")
        self.read_all()
        assert word == what, f"{word} {value}, not {what}"
        return value

    def has_gone(self):
        """Nobody is left to wait for the job: it is gone, or a zombie that no init has fetched."""
        end = time.monotonic() + LIMIT
        while True:
            try:
                with open(f"/proc/{self.pid}/stat") as f:
                    if f.read().rsplit(")", 1)[1].split()[0] in "ZX":
                        return
            except (FileNotFoundError, ProcessLookupError):
                return
            assert time.monotonic() < end, "goes on without its shell"
            self.read(0.02)

    def order(self, word):
        self.orders.write(word + "\n")
        return self


def job_shell(orders, news, cmd):
    """What a shell does for one job. One that runs in the background is not told that it comes to the foreground."""
    orders, news = os.fdopen(orders, "r"), os.fdopen(news, "w", buffering=1)
    for s in (signal.SIGTTOU, signal.SIGTTIN, signal.SIGTSTP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(s, signal.SIG_IGN)
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        for s in (signal.SIGTTOU, signal.SIGTTIN, signal.SIGTSTP, signal.SIGINT, signal.SIGQUIT):
            signal.signal(s, signal.SIG_DFL)
        os.execv(cmd[0], cmd)
    try:
        os.setpgid(pid, pid)
    except OSError:
        pass  # it has done so itself and is another program by now
    news.write(f"pid {pid}\n")
    while True:
        status = os.waitpid(pid, os.WUNTRACED)[1]
        os.tcsetpgrp(0, os.getpgrp())
        os.write(1, b"\r\n[1]+  Stopped\r\n" if os.WIFSTOPPED(status) else b"")
        if not os.WIFSTOPPED(status):
            news.write(f"ended {os.waitstatus_to_exitcode(status)}\n")
            return
        news.write(f"stopped {os.WSTOPSIG(status)}\n")
        if orders.readline().strip() == "bg":
            os.killpg(pid, signal.SIGCONT)
            orders.readline()
            os.tcsetpgrp(0, pid)
        else:
            os.tcsetpgrp(0, pid)
            os.killpg(pid, signal.SIGCONT)


if __name__ == "__main__":
    job_shell(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
