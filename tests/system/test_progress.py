# SPDX-License-Identifier: BSD-3-Clause
"""What the screen and the prompt show of work that takes time, here and of a server: how much is done, and how long the rest takes. Needs no root
and no NIC.

WIRERATE names the executable.
"""
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

import pty_term
from pty_term import BIN, LIMIT, PROMPT, environment
from screen_term import RUNNING, Screen
from serving import Server

pytestmark = pytest.mark.skipif(not BIN, reason="WIRERATE does not name the executable")
EXAMPLES = Path(__file__).resolve().parents[2] / "examples/lua"
SPAN = r"(?:\d+\.\d s|\d+ s|\d+ min \d+ s|\d+ h \d+ min)"
LEFT = re.compile(rf"(\d+)%, ({SPAN}) left: ")
# A command that takes a minute and more, what it says of itself, and whether the prompt is free meanwhile.
LONG = [
    ("start 0 for 100s", rf"sending, {SPAN} of 1 min 40 s", True),
    ("set 0 rate 1kpps; set 0 count 100000; start 0", r"sent [\d.]+k? of 100.0k frames", True),
    ("set 0 rate 1kpps; set 0/0 count 100000; start 0", r"sent [\d.]+k? of 100.0k frames", True),
    ("start 0 for 100s; wait 0", rf"sending, {SPAN} of 1 min 40 s", False),
    ("start 0; wait 0 100s", rf"sending for {SPAN}, without an end; waits 1 min 40 s at most", False),
    ("trial 0 rate 1kpps for 100s", rf"trial, sending, {SPAN} of 1 min 40 s", False),
    ("capacity 0 sizes 64 direction send for 90s", "capacity, point 1 of 1: send, 64 bytes, queues 1, trial 1", False),
    ("lb 0 to 1 figures cps for 8s repeat 1", "lb, figure 1 of 1: CPS, search 1 of 1, trial 1", False),
    ("set 0 flow client; set 1 flow server; knee 0 max 1kcps loads 2 for 40s", "knee, load 1 of 2", False),
    ("sleep 100s; help; help", rf"sleep {SPAN} of 1 min 40 s; then 2 more commands", False),
    ("delay 100000", rf"delay {SPAN} of 1 min 40 s", False),
    ("script SCRIPT", rf"64 bytes, second of nine: sleep {SPAN} of 1 min 40 s", False),
]


def seconds(span):
    unit = {"h": 3600, "min": 60, "s": 1}
    return sum(float(n) * unit[u] for n, u in re.findall(r"([\d.]+) (h|min|s)", span))


class Line(pty_term.Term):
    """The prompt on the terminal's own lines; what is told of work stands below it."""

    def __init__(self, home, *args, **kw):
        super().__init__(home, *args, "--no-screen", **kw)

    def ready(self):
        return self.prompt()

    def told(self):
        return "\n".join(self.lines()[self.screen.cursor.y + 1:]).strip()

    def held(self):
        return self.until(lambda: self.last() == "", "held line")


class Full(Screen):
    """The screen; it stands on the row between page and log."""

    def told(self):
        rows = [row for row in self.lines() if re.search("^[\u2500-]{2}", row)]
        return rows[0].strip("\u2500\u2501- ") if rows else ""

    def held(self):
        return self.until(lambda: self.last() == RUNNING, "held line")


class Away:
    """The same of a program that serves, with ports of its own, to which this one is attached."""

    def __init__(self, home, *args, **kw):
        self.server = Server().start()
        super().__init__(home, "attach", self.server.socket, **kw)

    def __exit__(self, *exc):
        super().__exit__(*exc)
        self.server.close()


class LineAway(Away, Line):
    pass


class FullAway(Away, Full):
    pass


BOTH = pytest.mark.parametrize("front", [Line, Full])
AWAY = pytest.mark.parametrize("front", [LineAway, FullAway])
ALL = pytest.mark.parametrize("front", [Line, Full, LineAway, FullAway])


def told(t, pattern=LEFT):
    t.until(lambda: re.search(pattern, t.told()), f"progress {pattern}")
    return re.search(pattern, t.told())


def nothing_told(t):
    return t.until(lambda: "left: " not in t.text() and "%, " not in t.told() and not t.told(), "no progress")


def script(folder):
    path = folder / "steps.lua"
    path.write_text('wr.progress(2, 9, "64 bytes, second of nine")\nwr.sleep(0.2)\nwr.cmd("sleep 100s")\n')
    return path


@ALL
@pytest.mark.parametrize("line,says,is_free", LONG)
def test_what_takes_long_says_how_far_it_is(tmp_path, front, line, says, is_free):
    with front(tmp_path, "-p", "wire", cols=120, rows=40) as t:
        t.ready().type(line.replace("SCRIPT", str(script(tmp_path))) + "\r")
        told(t, says)
        if "second of nine" in says:
            assert LEFT.search(t.told()) is None or LEFT.search(t.told())[1] == "22"
        else:
            share, left = told(t)[1], seconds(told(t)[2])
            assert int(share) < 100 and (left <= 100 or "frames" in says)
        if is_free:
            assert t.last() == PROMPT
            t.type("stop 0\r")
        else:
            t.type("\x03").until(lambda: t.last() == PROMPT, "prompt")
            t.type("stop 0\r")
        nothing_told(t.prompt())
        t.type("quit\r")
        assert t.ends() == 0


@ALL
def test_it_goes_forward_and_goes_away(tmp_path, front):
    with front(tmp_path, "-p", "wire", cols=120, rows=40) as t:
        t.ready().type("sleep 4s\r").held()
        seen = []

        def another():
            m = LEFT.search(t.told())
            if m and (int(m[1]), seconds(m[2])) not in seen:
                seen.append((int(m[1]), seconds(m[2])))
            return t.last() == PROMPT and not t.told()
        t.until(another, "the end")
        assert len(seen) >= 2, seen
        assert [s for s, _ in seen] == sorted(s for s, _ in seen) and [n for _, n in seen] == sorted((n for _, n in seen), reverse=True), seen
        nothing_told(t).type("help stop\r").shows("Stop sending")
        nothing_told(t.prompt())


@ALL
def test_what_is_over_at_once_shows_nothing(tmp_path, front):
    with front(tmp_path, "-p", "wire") as t:
        t.ready()
        for _ in range(5):
            t.type("set 0 count 10; start 0; wait 0\r")
            t.until(lambda: t.last() == PROMPT, "prompt")
        t.type("help stop\r").shows("Stop sending")
        assert b" left: " not in t.raw


@BOTH
def test_a_search_says_how_many_rates_are_left(tmp_path, front):
    with front(tmp_path, "-p", "wire", cols=120, rows=40) as t:
        t.ready().type(f"script {EXAMPLES}/throughput.lua sizes=64,512 duration=2s\r")
        told(t, r"64 bytes at 100.00%: trial, sending")
        told(t, rf"\d+%, {SPAN} left: 64 bytes at \d+\.\d\d%: trial, ")
        t.type("\x03").until(lambda: t.last() == PROMPT, "prompt")
        nothing_told(t)


# --- of a server ---------------------------------------------------------------------------------------------------

@AWAY
def test_ports_that_others_have_started_are_told(tmp_path, front):
    with front(tmp_path, cols=120, rows=40) as t:
        t.server.ask("start 0 for 100s")
        told(t.ready(), rf"sending, {SPAN} of 1 min 40 s")
        t.server.ask("stop 0")
        nothing_told(t)


@AWAY
def test_commands_of_others_are_not_told(tmp_path, front):
    with front(tmp_path, cols=120, rows=40) as t:
        other = subprocess.Popen([BIN, "attach", t.server.socket, "-e", "show map; sleep 100s"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        try:
            other.stdout.readline()
            t.ready().type("start 0 for 100s\r")
            told(t, "sending")
            assert "sleep" not in t.told()
        finally:
            other.kill()
            other.communicate()


@AWAY
def test_a_server_that_dies_while_it_is_told(tmp_path, front):
    with front(tmp_path, cols=120, rows=40) as t:
        t.ready().type("sleep 100s\r")
        told(t, "sleep")
        os.kill(t.server.pid, signal.SIGKILL)
        assert t.ends() == 5
        t.terminal_is_back()
        assert " left: " not in t.text(), t.text()


def test_nothing_of_it_goes_to_pipes_of_an_attached_program(tmp_path):
    s = Server().start()
    try:
        r = s.ask("start 0 for 1500ms; wait; sleep 1500ms")
        assert " left" not in r.stdout + r.stderr and "%" not in r.stderr.replace("= 100% =", "")
    finally:
        s.close()


# --- the line that is edited ---------------------------------------------------------------------------------------

@BOTH
@pytest.mark.parametrize("length", [1, 40, 200])
def test_typing_ahead_and_editing(tmp_path, front, length):
    typed = ("help stop # " + "x" * 300)[:length + 12]
    with front(tmp_path, "-p", "wire") as t:
        t.ready().type("start 0 for 100s\r")
        told(t)
        for i in range(0, len(typed), 7):
            t.type(typed[i:i + 7])
        t.type("\x01\x06\x06\x05")  # to the begin, two to the right, to the end
        told(t)
        if front is Line:
            rows = (len(PROMPT) + len(typed)) // 80 + 1

            def line():
                return "".join(t.screen.text(y) for y in range(max(0, t.screen.cursor.y + 1 - rows), t.screen.cursor.y + 1)).rstrip()
            t.until(lambda: line() == PROMPT + typed, "typed line")
        t.type("\r").shows("Stop sending")
        t.prompt()
        told(t)
        assert t.text().count(" left: ") == 1, t.text()
        assert typed in "".join(t.screen.text(y) for y in range(t.screen.lines)), t.text()
        t.type("stop 0\r").prompt()
        nothing_told(t)


@BOTH
def test_a_command_typed_ahead_runs(tmp_path, front):
    with front(tmp_path, "-p", "wire") as t:
        t.ready().type("sleep 3s\r").held()
        told(t)
        t.type("lua \"print('fir' .. 'st')\"\r").type("lua \"print('sec' .. 'ond')\"\r")
        t.shows("second").prompt()
        nothing_told(t)
        assert t.text().index("first") < t.text().index("second")


def test_a_search_in_the_history_while_it_is_told(tmp_path):
    with Line(tmp_path, "-p", "wire") as t:
        t.ready().type("help stop\r").shows("Stop sending")
        t.prompt().type("start 0 for 100s\r")
        told(t)
        # what was found stands above what is searched for, and the cursor in one of the two
        t.type("\x12stop").until(lambda: any("help stop" in line for line in t.lines()[max(0, t.screen.cursor.y - 1):t.screen.cursor.y + 1]), "found")
        before = t.told()
        t.until(lambda: t.told() != before, "goes on")
        t.type("\x1b").type("\r")
        t.until(lambda: t.text().count("Stop sending") == 2, "the line that was found")
        told(t.prompt())
        assert t.text().count(" left: ") == 1, t.text()


@BOTH
def test_resized_while_it_runs(tmp_path, front):
    with front(tmp_path, "-p", "wire") as t:
        t.ready().type("start 0 for 100s\r")
        told(t)
        for cols, rows in [(40, 12), (120, 40), (30, 10), (20, 24), (200, 60), (80, 24)]:
            t.resize(cols, rows)
            before = t.told()
            t.until(lambda: t.told() != before and re.search(r"\d+%, ", t.told()), f"told at {cols}x{rows}")
            assert all(len(row) <= cols for row in t.lines())
        t.type("help stop\r").shows("Stop sending")
        t.prompt().type("stop 0\r").prompt()
        nothing_told(t)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_terminal_with_hardly_a_row(tmp_path, rows):
    with Line(tmp_path, "-p", "wire", rows=rows) as t:
        t.ready().type("start 0 for 100s\r")
        t.prompt().type("abc").line_is("abc")
        if rows > 1:
            told(t)
        t.quiet(0.1)
        assert t.last() == PROMPT + "abc"


def test_output_above_the_line_leaves_nothing_behind(tmp_path):
    with Line(tmp_path, "-p", "wire") as t:
        t.ready().type("lua \"for i = 1, 30 do print('row ' .. i) wr.sleep('0.1s') end\"\r")
        t.shows("row 30").prompt()
        text = [row for row in t.lines() if row and not row.startswith(PROMPT.rstrip())]
        assert all(re.fullmatch(r"row \d+", row) for row in text), t.text()


def test_stopped_and_continued(tmp_path):
    with pty_term.JobTerm(tmp_path, "--no-screen", "-p", "wire") as t:
        t.prompt().type("start 0 for 100s\r")
        t.until(lambda: " left: " in t.text(), "progress")
        t.type("\x1a")
        assert t.hears("stopped") is not None
        t.read_all()
        assert " left: " not in t.text(), t.text()


# --- where nobody looks --------------------------------------------------------------------------------------------

@pytest.mark.parametrize("how", ["batch", "pipe", "one-shot"])
def test_nothing_of_it_goes_to_pipes(tmp_path, how):
    line = "start 0 for 1500ms; wait; sleep 1500ms"
    args, stdin = {"batch": (["-b", "-e", line], ""), "pipe": ([], line), "one-shot": (["trial", "0", "rate", "1kpps", "for", "2s"], "")}[how]
    run = subprocess.run([BIN, "-p", "wire", *args], input=stdin, capture_output=True, text=True, timeout=LIMIT, env=environment(tmp_path))
    assert run.returncode in (0, 4), run.stderr
    assert " left" not in run.stdout + run.stderr and "%" not in run.stderr


def test_nothing_of_it_in_batch_mode_on_a_terminal(tmp_path):
    with pty_term.Term(tmp_path, "-p", "wire", "-b", "-e", "start 0 for 1500ms; wait; sleep 1500ms") as t:
        assert t.ends() == 0
        assert b"left" not in t.raw and b"%" not in t.raw


def test_nothing_of_it_where_the_cursor_cannot_move(tmp_path):
    with pty_term.Term(tmp_path, "-p", "wire", TERM="dumb") as t:
        t.prompt().type("sleep 2s\r")
        t.prompt().type("quit\r")
        assert t.ends() == 0
        assert b" left" not in t.raw


def test_results_to_a_file_have_nothing_of_it(tmp_path):
    out = tmp_path / "out"
    with open(out, "wb") as f, Line(tmp_path, "-p", "wire", stdout=f) as t:
        t.prompt().type("sleep 100s\r").until(lambda: " left: " in t.text(), "progress")
        t.type("\x03").prompt().type("quit\r")
        assert t.ends() == 0
    assert b"left" not in out.read_bytes()


@pytest.mark.parametrize("wrong", ["1", "'a', 2", "3, 2", "-1, 2", "0, 0", "0/0, 1", "1, 1/0"])
def test_wrong_progress_is_refused(tmp_path, wrong):
    run = subprocess.run([BIN, "-b", "-e", f'lua "wr.progress({wrong})"'], capture_output=True, text=True, timeout=LIMIT, env=environment(tmp_path))
    assert run.returncode == 2 and re.search(r"progress\(\) takes two numbers|is no progress;", run.stderr), run.stderr


def test_the_text_of_a_script_moves_no_cursor(tmp_path):
    path = tmp_path / "evil.lua"
    path.write_text(r'wr.progress(1, 2, "a\27[2Jb\nc\155\200d" .. ("é"):rep(200)) wr.sleep(100)' + "\n")
    with Line(tmp_path) as t:
        t.ready().type(f"script {path}\r")
        told(t, r"50%[^:]*: a\\u001b\[2Jb c")
        assert t.lines()[0].startswith(PROMPT) and b"\x1b[2J" not in t.raw
        os.kill(t.proc.pid, signal.SIGINT)
        nothing_told(t.prompt())
