# SPDX-License-Identifier: BSD-3-Clause
"""The full screen: page above, log and prompt below, as an independent terminal emulator sees it. Needs no root and no NIC.

WIRERATE names the executable.
"""
import random
import re
import sys
import time
from pathlib import Path

import pytest

from pty_term import ALTERNATE, BIN, BRACKETED_PASTE, PROMPT
from screen_term import (DOWN, F5, F6, LEFT, LONG, PAGE_DOWN, PAGE_UP, RIGHT, RUNNING, UP, Screen, colours,
                         history)

pytestmark = pytest.mark.skipif(not BIN, reason="WIRERATE does not name the executable")
THEMES = sorted((Path(__file__).resolve().parents[2] / "themes").glob("*.theme"))
PAGES = ["main", "queues", "cpu", "streams", "frame", "ports", "xstats", "log", "help"]
MOUSE = {mode << 5 for mode in (9, 1000, 1002, 1003, 1006, 1015)}


# --- opening and leaving -------------------------------------------------------------------------------------------

def test_opens_by_itself_with_page_log_prompt_and_footer(tmp_path):
    with Screen(tmp_path) as t:
        t.ready().on_page("main")
        assert t.screen.cursor.y > 12 and not t.screen.cursor.hidden
        t.cmd("help stop")
        assert "help stop" in t.above() and "Stop sending" in t.above()
        t.on_page("main")
        assert t.footer()
        t.cmd("bogus")
        assert "bogus" in t.above()
        assert not MOUSE & t.screen.mode, "the mouse is the terminal's"
        t.type("quit\r").left(0)
        assert "Stop sending" in t.text(), "what the log showed stays in the terminal"


def test_no_screen_gives_the_plain_prompt(tmp_path):
    with Screen(tmp_path, "--no-screen") as t:
        t.prompt().cmd("help stop")
        assert ALTERNATE not in t.screen.mode and "\x1b[?1049h" not in t.raw.decode()
        assert t.lines()[0] == PROMPT + "help stop"
        t.type("\x04").left(0)


def test_screen_off_and_on(tmp_path):
    with Screen(tmp_path, "--no-screen") as t:
        t.prompt().type("screen on\r")
        for _ in range(2):
            t.ready().cmd("help stop")
            t.type("screen off\r")
            t.until(lambda: ALTERNATE not in t.screen.mode and t.last() == PROMPT, "plain prompt")
            t.cmd("help start")
            assert "Start sending" in t.above()
            t.type("screen on\r")
        t.ready().type("\x04").left(0)


@pytest.mark.parametrize("term", ["xterm-256color", "screen", "tmux-256color", "linux", "vt100"])
def test_terminals(tmp_path, term):
    with Screen(tmp_path, TERM=term) as t:
        t.full = True
        t.until(lambda: t.last() == PROMPT and t.footer(), "screen").on_page("main")
        assert bool(colours(t)) == (term != "vt100")
        t.cmd("help stop")
        assert "Stop sending" in t.above()
        t.cmd("page help").on_page("help").cmd("page ports").on_page("ports").same_after_repaint()
        t.type("quit\r").left(0)


@pytest.mark.parametrize("term", [None, "dumb", "no-such-terminal"])
def test_terminals_that_cannot(tmp_path, term):
    with Screen(tmp_path, TERM=term) as t:
        t.prompt().type("help stop\r").shows("Stop sending")
        t.prompt().type("screen on\r")
        t.prompt().type("\x04").left(0)
        assert b"\x1b" not in t.raw


@pytest.mark.parametrize("env,args,coloured", [
    ({}, [], True), ({"NO_COLOR": "1"}, [], False), ({}, ["--color=never"], False),
    ({"NO_COLOR": "1"}, ["--color=always"], True)])
def test_colour_follows_the_rules(tmp_path, env, args, coloured):
    with Screen(tmp_path, *args, **env) as t:
        t.ready().cmd("bogus")
        assert bool(colours(t)) == coloured
        t.type("\x04").left(0)


@pytest.mark.parametrize("locale,ascii_only", [("C", True), ("C.UTF-8", False)])
def test_glyphs_follow_the_locale(tmp_path, locale, ascii_only):
    with Screen(tmp_path, LC_ALL=locale) as t:
        t.ready().cmd("set 0 count 1000; start 0; wait 0")
        for name in PAGES:
            t.cmd(f"page {name}").on_page(name)
        t.cmd("page queues").quiet()
        high = [b for b in t.raw if b > 0x7f]
        assert not high if ascii_only else high
        t.type("\x04").left(0)


# --- typing --------------------------------------------------------------------------------------------------------

def test_typing_while_redrawing_and_sending(tmp_path):
    rnd = random.Random(1)
    words = ["".join(rnd.choices("abcdefghijklmnopqrstuvwxyz0123456789.-_", k=rnd.randint(3, 30))) for _ in range(200)]
    lines = [f"set 0 userpattern x{w}" for w in words]
    with Screen(tmp_path) as t:
        t.ready().cmd("set pages interval 100ms; start all")
        keys = "".join(line + "\r" for line in lines)
        while keys:
            n = rnd.randint(1, 60)
            t.type(keys[:n]).read(rnd.choice([0, 0, 0.01]))
            keys = keys[n:]
        t.until(lambda: t.last() == PROMPT and lines[-1] in t.above(), "last line in the log")
        t.cmd("show settings 0")
        t.type("quit\r").left(0)
    assert history(tmp_path)[1:-2] == lines


def test_typing_while_a_command_runs(tmp_path):
    with Screen(tmp_path) as t:
        t.ready().type("sleep 60s\r")
        t.until(lambda: t.last() == RUNNING and "sleep 60s" in t.above(), "held line")
        t.type("help stop").until(lambda: t.last() == RUNNING + "help stop", "typing")
        t.type("\x03").line_is("help stop")
        t.type("\r").prompt()
        assert "Stop sending" in t.above()
        t.type("sleep 500ms; help clr\r").type("help str\r").type("help stp\r").shows("stop all")
        t.prompt()
        text = t.above()
        at = [text.rfind(x) for x in ("clear all", "start all", "stop all")]
        assert -1 < at[0] < at[1] < at[2], text
        t.type("abc").line_is("abc").type("\x03").prompt()
        t.type("sleep 300ms; help quit\r\x04").left(0)


@pytest.mark.parametrize("cmd", ["wait 0", "sleep 1000s", "lua 'while true do end'", "lua 'wr.sleep(1000)'", "trial 3 rate 1kpps for 1000s"])
def test_ctrl_c_ends_the_command_alone(tmp_path, cmd):
    """What was queued behind it goes too; ports send on, and what follows is done as ever."""
    with Screen(tmp_path, "-p", "wire", "-p", "wire", cols=120, rows=40) as t:
        t.ready().cmd("set 0 rate 1kpps; start 0").state("sending", "idle", "idle", "idle")
        t.type(cmd + "; set 1 count 66\r").until(lambda: t.last() == RUNNING, "held line")
        t.type("set 1 count 77\r").until(lambda: t.last() == RUNNING and "set 1 count 77" in t.above(), "queued line")
        t.type("\x03").until(lambda: t.last() == PROMPT and "cancelled" in t.above(), "cancelled")
        assert t.proc.poll() is None
        t.state("sending", "idle", "idle", "idle")
        t.cmd("lua 'print(\"count=\" .. wr.port[1].count)'")
        assert "count=0" in t.above() and "count=66" not in t.above() and "count=77" not in t.above()
        t.type(F6).state("idle", "idle", "idle", "idle")
        t.same_after_repaint().type("\x04").left(0)


def test_ctrl_c_at_an_empty_prompt_does_nothing(tmp_path):
    with Screen(tmp_path) as t:
        t.ready().cmd("set pages interval 60s").cmd("set 0 rate 1kpps; start 0").state("sending", "idle").cmd("off").settle()
        before = t.cells()
        for _ in range(5):
            t.type("\x03").settle()
        t.same(before, t.cells())
        t.type("half a line").line_is("half a line").type("\x03").prompt().settle()
        t.same(before, t.cells())
        t.cmd("on").state("sending", "idle").cmd("set pages interval 1s").type(F6).state("idle", "idle").type("\x04").left(0)


def test_completion_and_help(tmp_path):
    with Screen(tmp_path) as t:
        t.ready().type("qui\t").line_is("quit ")
        t.type("\x15s\t").until(lambda: re.search(r"^ *start +\S+", t.above(), re.M), "list")
        t.line_is("s").type("\x15show sta\t").line_is("show stats ")
        t.type("\x15set 0 ?").until(lambda: re.search(r"^ *promiscuous|^ *rate +\S", t.above(), re.M), "help")
        t.line_is("set 0 ").type("\x15help x?").line_is("help x?")
        t.type("\x15xyz ?").shows('there is no command "xyz"')
        t.type("\x15").prompt().same_after_repaint()
        t.type("\x04").left(0)


def test_history_lasts_over_two_runs(tmp_path):
    with Screen(tmp_path) as t:
        t.ready().cmd("help start").cmd("help stop").type("quit\r").left(0)
    with Screen(tmp_path) as t:
        t.ready()
        # With nothing typed the arrows choose a port; Ctrl-P always asks for the line before.
        for line in ("quit", "help stop", "help start"):
            t.type("\x10").line_is(line)
        t.type(DOWN).line_is("help stop").type(UP).line_is("help start")
        t.type("\r").prompt()
        assert "Start sending" in t.above()
        t.type("\x04").left(0)


def test_keys_edit_the_line(tmp_path):
    with Screen(tmp_path, cols=40, rows=20) as t:
        t.ready().type("help stop").line_is("help stop")
        t.type("\x01").until(lambda: t.last() == PROMPT, "cursor at the beginning")
        t.type("x").until(lambda: PROMPT + "xhelp stop" in t.lines(), "x in front")
        t.type("\x05\x17").line_is("xhelp ").type("\x7f" + LEFT * 2).line_is("xhe").type("\x0b").line_is("xhe")
        t.until(lambda: PROMPT + "xhe" in t.lines(), "end cut off")
        t.type(RIGHT + "\x15").prompt()
        text = "# " + "".join(f"{n:02d}," for n in range(40))
        t.type(text).until(lambda: (t.last() or "").endswith("38,39,"), "end of a long line")
        t.type("\x01").until(lambda: "# 00,01,02," in t.text() and t.last() == PROMPT, "its beginning")
        t.type("\x05").until(lambda: (t.last() or "").endswith("38,39,"), "its end again")
        t.type("\x15").prompt()
        t.type("# h\u00fc\u4e16\u754cx").line_is("# h\u00fc\u4e16\u754cx").type("\x7f\x7f").line_is("# h\u00fc\u4e16")
        t.type(LEFT).line_is("# h\u00fc").type("\x15\x0b").prompt().same_after_repaint()
        t.type("\x04").left(0)


def test_typing_shows_although_the_page_waits(tmp_path):
    with Screen(tmp_path) as t:
        t.ready().cmd(LONG).cmd("help stop")
        assert "Stop sending" in t.above()
        t.type("# abc").line_is("# abc").type("\x04\x15\x04").left(0)


def test_any_bytes_do_no_harm(tmp_path):
    """Pieces of escape sequences among them; without the keys that leave, stop or quote."""
    rnd = random.Random(3)
    with Screen(tmp_path) as t:
        t.ready().cmd("set all rate 1000pps")
        for _ in range(40):
            keys = [rnd.choice([27, 27, 91, 79, 59, 63, 126, rnd.randrange(256), rnd.randrange(32, 127)]) for _ in range(60)]
            t.type(bytes(k for k in keys if k not in b"\x04\x0f\x11\x13\x16\x1a\x1c")).read(0.01)
        # The end of a paste that may have begun; whatever key has begun ends by it too.
        t.type("~\x1b[201~").quiet(0.6).type("\x03").prompt()
        t.cmd("stop all").cmd("page main").on_page("main").same_after_repaint().type("\x04").left(0)


def test_a_very_long_line(tmp_path):
    with Screen(tmp_path) as t:
        line = "# " + "long " * 1200 + "end"
        t.ready().type(line).until(lambda: (t.last() or "").endswith("long end"), "its end").type("\r").prompt()
        assert "# long long" in t.above()
        t.same_after_repaint().type("quit\r").left(0)
    assert history(tmp_path)[0] == line


# --- log -----------------------------------------------------------------------------------------------------------

def test_the_log_scrolls_back(tmp_path):
    with Screen(tmp_path) as t:
        t.ready().cmd(LONG)
        for n in range(60):
            t.type(f"# mark {n}.\r")
        t.until(lambda: "# mark 59." in t.above() and t.last() == PROMPT, "end of the log")
        end = t.settle().lines()
        assert "# mark 3." not in t.above()
        seen = 0
        while "# mark 3." not in t.above():
            before = t.lines()
            t.type(PAGE_UP).until(lambda: t.lines() != before, "earlier lines")
            seen += 1
            assert seen < 60
        t.type("abc").line_is("abc")
        for _ in range(seen + 2):
            t.type(PAGE_DOWN)
        t.type("\x15").until(lambda: t.lines() == end, "the end again")
        t.same_after_repaint().type("\x04").left(0)


def test_the_wheel_scrolls_where_the_mouse_is_asked_for(tmp_path):
    with Screen(tmp_path) as t:
        t.ready().cmd(LONG).cmd("set pages mouse on")
        for n in range(30):
            t.type(f"# mark {n}.\r")
        t.until(lambda: "# mark 29." in t.above() and t.last() == PROMPT, "end of the log")
        t.type("\x1b[<64;10;20M" * 3).until(lambda: "# mark 29." not in t.above() and "# mark 20." in t.above(), "earlier lines")
        t.type("\x1b[<65;10;20M" * 3).until(lambda: "# mark 29." in t.above(), "the end")
        assert MOUSE & t.screen.mode
        t.type("\x04").left(0)
        assert not MOUSE & t.screen.mode, "the mouse was not given back"


def test_what_is_long_is_read_over_the_page(tmp_path):
    """Answers and lists that the log has no room for, from their beginning, and back with Escape."""
    with Screen(tmp_path, cols=80, rows=24) as t:
        t.ready().cmd(LONG).settle()

        def page():
            """The trend grows each second."""
            return [row for row in t.lines()[1:12] if not row.startswith("Tx Trend")]

        before = page()
        for line in "help", "show settings 0":
            t.type(line).line_is(line).type("\r").until(lambda: "the page: Esc" in t.text() and t.last() == PROMPT, "pane").settle()
            assert "<main>" in t.lines()[0] and not any(row.startswith("Port:Name") for row in t.lines())
            at = next(n for n, row in enumerate(t.lines()) if row.startswith(PROMPT + line))
            assert at <= 2, "its beginning is in sight"
            first = t.lines()[at + 1]
            t.type(PAGE_DOWN).until(lambda: first not in t.lines(), "further down")
            t.type(PAGE_UP).until(lambda: first in t.lines(), "up again")
            t.type("\x1b").until(lambda: page() == before, "the page again")
        t.type("set 0 \t").until(lambda: "the page: Esc" in t.text(), "list").line_is("set 0 ")
        t.type("\x1b").until(lambda: page() == before, "the page again").line_is("set 0 ")
        t.type("\x15\x1b")
        time.sleep(1)  # alone, not the beginning of a key
        t.type("3").on_page("cpu").type("1").on_page("main")
        t.type("help\r").until(lambda: "the page: Esc" in t.text() and t.last() == PROMPT, "pane")
        t.type("2").on_page("queues").until(lambda: "the page: Esc" not in t.text(), "a page closes it")
        t.type("help\r").until(lambda: "the page: Esc" in t.text() and t.last() == PROMPT, "pane")
        t.cmd("help stop").until(lambda: "the page: Esc" not in t.text(), "the next line closes it")
        t.same_after_repaint().type("help\r").until(lambda: "the page: Esc" in t.text() and t.last() == PROMPT, "pane").same_after_resizes()
        t.type("\x04").left(0)


# --- pages and keys ------------------------------------------------------------------------------------------------

def test_digits_and_tab_switch_pages(tmp_path):
    with Screen(tmp_path) as t:
        t.ready().on_page("main")
        for n, name in enumerate(PAGES, 1):
            t.type(str(n)).on_page(name).prompt()
        t.type("1").on_page("main").type("\t").on_page(PAGES[1]).type("\t").on_page(PAGES[2])
        t.type("1").on_page("main").type("x1").line_is("x1").on_page("main").type("\x15").prompt()
        t.type("?").until(lambda: t.last() == PROMPT and "F5" in t.above(), "help")
        t.same_after_repaint().type("\x04").left(0)


def test_the_line_of_keys_names_the_pages(tmp_path):
    """The one that is shown is set off."""
    with Screen(tmp_path, cols=120, rows=30, TERM="xterm-256color") as t:
        t.ready()
        line = t.lines()[-1]
        assert line.startswith("1 main  2 queues  3 cpu  4 streams  5 frame  6 ports  7 xstats  8 log  9 help  0 latency  F5 start"), line
        for key, name in ("2", "queues"), ("0", "latency"), ("1", "main"):
            t.type(key).on_page(name).settle()
            words = {w: t.screen.row(29)[line.index(f"{n} {w}") + 2] for n, w in zip("1234567890", [*PAGES, "latency"])}
            assert [w for w, cell in words.items() if cell.bg == "blue"] == [name]
        t.type("\x04").left(0)


def test_the_head_line_tells_of_the_run(tmp_path):
    with Screen(tmp_path, cols=120, rows=30) as t:
        t.ready()
        assert re.match(r"<main>  \d ports?  no errors +wirerate$", t.title()), t.title()
        t.cmd("set 0 rate 1kpps; start 0 for 90m")
        t.until(lambda: re.search(r"  sending 0:\d\d  left 1:\d\d:\d\d  no errors ", t.title()), "both times")
        t.type("7").on_page("xstats").until(lambda: "  left 1:" in t.title(), "on each page").type("1").on_page("main")
        t.type(F6).state("idle", "idle").until(lambda: re.search(r"  sent \d:\d\d  no errors ", t.title()), "how long it was")
        t.cmd("trial 0 rate 1kpps for 100ms").until(lambda: re.search(r"  trial [a-z-]+ +wirerate$", t.title()), "verdict")
        t.type("\x04").left(0)


def test_function_keys_start_and_stop_and_printable_ones_do_not(tmp_path):
    with Screen(tmp_path, rows=60, cols=120) as t:
        t.ready().cmd("set 0-1 rate 1000pps")
        t.type("".join(chr(c) for c in range(0x20, 0x7f) if chr(c) not in "?") + "\x15").prompt()
        for c in " sStT+-*=/.,:;~!@#$%^&()[]{}|'\"\\" + "bcdefghijklmnopqrruvwxyzABCDEFGHIJKLMNOPQRUVWXYZ":
            t.type(c + "\x15")
        t.settle().cmd("page main; show stats 0-1").on_page("main")
        assert re.search(r"^tx packets +0 +0", t.text(), re.M), t.text()
        t.state("idle", "idle")
        t.type(F5).until(lambda: "start 0" in t.text(), "start in the log").state("sending", "idle")
        t.type(F6).until(lambda: "stop 0" in t.text(), "stop in the log").state("idle", "idle")
        t.type(RIGHT + F5).until(lambda: "start 1" in t.text(), "start of the selected port").state("idle", "sending")
        t.type("x" + F6 + "\x15").settle().cmd("stop 1")
        t.same_after_repaint().type("\x04").left(0)


def test_paging_through_ports(tmp_path):
    with Screen(tmp_path, *["-p", "null"] * 12) as t:
        t.ready().cmd(LONG)
        first = t.settle().title()
        seen = [first]
        while True:
            t.type(">").settle()
            if t.title() == seen[-1]:
                break
            seen.append(t.title())
            assert len(seen) < 13
            # What F5 would start is in sight.
            port = t.title().split("ports ")[1].split("-")[0]
            t.until(lambda: f">{port}:null{port}" in t.text(), f"port {port} selected")
        assert len(seen) > 1, "12 ports fit on 80 columns?"
        t.same_after_repaint()
        for title in reversed(seen[:-1]):
            t.type("<").until(lambda: t.title() == title, title)
        # The selected port comes into sight.
        t.cmd("port 11").until(lambda: t.title() == seen[-1] and ">11:null11" in t.text(), "port 11")
        t.cmd("port 0").until(lambda: t.title() == first and ">0:null0" in t.text(), "port 0")
        for _ in range(11):
            t.type(RIGHT)
        t.until(lambda: t.title() == seen[-1], "last port")
        t.same_after_repaint().type("\x04").left(0)


# After port 0 has sent 43210 frames, while port 1 sends on.
SHOWN = {
    "main": [r"Total Rx Pkts +: +[1-9][\d']* +43'210 ", r"Total Tx Pkts +: +43'210 +[1-9]", r"State +: +idle +sending +1/2 sending"],
    "queues": [r"^ *0 q0 +[1-9]", r"^ *1 q0 +0 .* [1-9][\d.]*[kM]? .* 0 "],
    "cpu": [r"\b0\.0,1\.0\b", r"control"],
    "streams": [r"^> *0 .* eth/ipv4/.* 43'210 "],
    "frame": [r"^ipv4 +14", r"src 192\.168\.0\.1", r"\b0000  02 77 72 "],
    "ports": [r"0 wire0 +1 wire1", r"^driver +net_ring +net_ring"],
    "xstats": [r"^tx_good_packets +43'210 +0$"],
    "log": [r"^\d\d:\d\d:\d\d\.\d{3} info +EAL options"],
    "help": [r"^F5 +start"],
}


@pytest.mark.parametrize("cols,rows", [(80, 24), (200, 60)])
def test_every_page_shows_a_real_run(tmp_path, cols, rows):
    assert sorted(SHOWN) == sorted(PAGES)
    with Screen(tmp_path, cols=cols, rows=rows) as t:
        t.ready().cmd("set pages interval 100ms; set 0 count 43210; start 0; wait 0").cmd("set 1 rate 2kpps; start 1")
        for name in PAGES:
            t.cmd(f"page {name}").on_page(name)
            for pattern in SHOWN[name]:
                t.until(lambda: re.search(pattern, t.text(), re.M), f"page {name}: {pattern}")
        t.cmd("stop all; page main").on_page("main").same_after_repaint().type("\x04").left(0)


# --- drawing -------------------------------------------------------------------------------------------------------

def test_resize_storm(tmp_path):
    rnd = random.Random(4)
    sizes = [(0, 0), (1, 1), (20, 5), (500, 200), (2, 1), (1, 50), (300, 1), (19, 4)]
    sizes += [(rnd.randint(1, 500), rnd.randint(1, 200)) if n % 10 == 0 else (rnd.randint(1, 160), rnd.randint(1, 60))
              for n in range(92)]
    rnd.shuffle(sizes)
    with Screen(tmp_path) as t:
        t.ready().cmd("set pages interval 100ms; start all")
        typed = ""
        for n, (cols, rows) in enumerate(sizes):
            t.resize(cols, rows).type(chr(97 + n % 26))
            typed += chr(97 + n % 26)
            if n % 7 == 0:
                t.type("\x15" + str(rnd.randint(1, 9)))
                typed = ""
            t.read_all()
        t.resize(80, 24).type("\x15").prompt()
        t.cmd("stop all").cmd(LONG).cmd("page main").on_page("main")
        assert t.footer()
        t.same_after_repaint()
        for cols, rows in ((20, 5), (500, 200), (80, 24)):
            t.resize(cols, rows).type("# x").line_is("# x").same_after_repaint()
        t.type("quit\r").left(0)


def test_what_is_drawn_bit_by_bit_is_what_is_drawn_at_once(tmp_path):
    rnd = random.Random(9)
    with Screen(tmp_path, *["-p", "null"] * 5, cols=100, rows=30) as t:
        t.ready().cmd(LONG)
        acts = [*"123456789", "\t", ">", "<", UP, DOWN, LEFT, RIGHT, PAGE_UP, PAGE_DOWN, "?", "help stop\r", "bogus\r",
                "set 0 size 64..1518\r", "set 1 frame eth/vlan/ipv6/tcp\r", "s\t\x15", "# \u4e16\u754c \u2581\u2588\r", "x" * 130 + "\x15",
                "set 2 count 100; start 2; wait 2\r", "show stats\r", "clear all\r"]
        for _ in range(4):
            for _ in range(15):
                t.type(rnd.choice(acts))
            t.same_after_repaint()
            t.cmd(rnd.choice(["page frame", "page help", "page ports"])).same_after_resizes()
        t.type("quit\r").left(0)


def test_an_idle_screen_sends_little(tmp_path):
    with Screen(tmp_path) as t:
        t.ready().settle()
        sent, begin = len(t.raw), time.monotonic()
        t.cmd("sleep 3s; help stop")
        assert "Stop sending" in t.above()
        assert len(t.raw) - sent < (time.monotonic() - begin) * 2000


# --- pastes --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("bracketed", [True, False])
def test_a_pasted_page_of_text(tmp_path, bracketed):
    lines = [f"set {n % 2} count {1000 + n}" for n in range(48)] + ["2 is no command", " <>? 1 is none either"]
    with Screen(tmp_path, rows=40) as t:
        t.ready().cmd(LONG).on_page("main")
        assert BRACKETED_PASTE in t.screen.mode
        text = "\r".join(lines) + "\r"
        t.type(f"\x1b[200~{text}\x1b[201~" if bracketed else "\r".join(lines[:48]) + "\r")
        if bracketed:
            t.settle()
        last = lines[-1] if bracketed else lines[47]
        t.until(lambda: last.strip() in t.above() and t.last() == PROMPT, "all of them")
        t.cmd("show settings 0").on_page("main")
        assert "1046" in t.above()
        t.type("quit\r").left(0)
    want = [line for line in (lines if bracketed else lines[:48])]
    assert history(tmp_path)[1:1 + len(want)] == want


def test_a_paste_of_a_part_of_a_line_is_text(tmp_path):
    with Screen(tmp_path) as t:
        t.ready().cmd(LONG)
        t.type("\x1b[200~3\x1b[201~").line_is("3").on_page("main")
        t.type("\x15\x1b[200~ \t>? x\x1b[201~").until(lambda: re.fullmatch(PROMPT + " *>\\? x", t.last() or ""), "text")
        t.on_page("main").type("\x15").settle().type("\x04").left(0)


# --- themes --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("theme", THEMES, ids=lambda p: p.stem)
def test_themes_load_and_show(tmp_path, theme):
    with Screen(tmp_path, "-T", str(theme), TERM="xterm-256color") as t:
        t.ready().cmd(LONG).cmd("set 0 count 1000; start 0; wait 0").on_page("main")
        t.same_after_repaint()
        seen = colours(t)
        assert bool(seen) == (theme.stem != "mono"), seen
        t.type("\x04").left(0)


if __name__ == "__main__":
    sys.exit(pytest.main([__file__]))


# --- room ----------------------------------------------------------------------------------------------------------

def areas(t):
    """Rows of the page, and of messages, by the line between them."""
    rows = t.lines()
    sep = next(y for y, row in enumerate(rows) if row.startswith("\u2500\u2500"))
    return rows[:sep], rows[sep + 1:-2]


@pytest.mark.parametrize("cols,rows", [(80, 24), (132, 43), (200, 60), (60, 15), (60, 12)])
def test_messages_have_the_rows_that_the_page_leaves(tmp_path, cols, rows):
    """Each page ends in its last row that shows something, and what was printed has all others."""
    with Screen(tmp_path, "-p", "wire", cols=cols, rows=rows) as t:
        t.ready().type(f"{LONG}; set 0 count 1000; start 0; wait 0\r").type("lua return 7*191\r").shows("1337").prompt()
        for page in PAGES + ["latency", "wire", "seq", "range"]:
            t.type(f"page {page}\r").on_page(page)
            t.type(f"lua \"for i = 1, 90 do print('{page} ' .. i) end return 'last'\"\r")
            t.until(lambda: any("more row" in row for row in t.lines()), "printed").settle()
            above, below = areas(t)
            assert above[-1] or len(above) == 1, t.text()
            assert len(above) + len(below) == rows - 3
            at = [int(m[1]) for row in below for m in [re.fullmatch(rf"{page} (\d+)", row)] if m]
            assert at and at == list(range(1, len(at) + 1)), t.text()
            assert re.search(r" %d more rows? below" % (91 - len(at)), t.text()), t.text()
            t.cmd("cls")
        t.same_after_repaint()
        t.type("quit\r").left(0)


def test_a_page_that_needs_more_gets_it(tmp_path):
    """Also while numbers come; and other pages take and give rows without leaving anything behind."""
    with Screen(tmp_path, "-p", "wire", cols=100, rows=43) as t:
        t.ready().cmd("page streams").on_page("streams")
        few = len(areas(t.settle())[0])
        assert few < 10, t.text()
        t.cmd("stream add 0 6")
        assert len(areas(t.settle())[0]) == few + 6, t.text()
        t.cmd("stream delete 0/4-6")
        assert len(areas(t.settle())[0]) == few + 3, t.text()
        t.cmd("page main").on_page("main")
        assert len(areas(t.settle())[0]) > few + 6
        t.cmd("page streams").on_page("streams")
        assert len(areas(t.settle())[0]) == few + 3
        t.same_after_repaint()
        t.type("quit\r").left(0)
