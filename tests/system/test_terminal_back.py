# SPDX-License-Identifier: BSD-3-Clause
"""The terminal is always given back as it was: from the full screen by every way out of it, by signals, to a shell and from it.

WIRERATE names the executable.
"""
import os
import signal
import sys
import termios
import time

import pytest

from pty_term import ALTERNATE, BIN, PROMPT
from screen_term import LONG, RUNNING, JobScreen, Screen

pytestmark = pytest.mark.skipif(not BIN, reason="WIRERATE does not name the executable")


@pytest.mark.parametrize("keys", ["quit\r", "\x04", "start all; sleep 100ms; quit\r"])
def test_leaving(tmp_path, keys):
    with Screen(tmp_path) as t:
        t.ready()
        assert termios.tcgetattr(t.slave) != t.before
        t.type(keys).left(0)


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGSEGV, signal.SIGABRT,
                                 signal.SIGBUS, signal.SIGFPE])
def test_signals(tmp_path, sig):
    with Screen(tmp_path) as t:
        t.ready().cmd("start 0").type("half a line").line_is("half a line")
        t.proc.send_signal(sig)
        t.left(-sig)


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGSEGV])
def test_a_signal_while_a_command_holds_the_line(tmp_path, sig):
    with Screen(tmp_path) as t:
        t.ready().type("sleep 60s\r").until(lambda: t.last() == RUNNING, "held line")
        t.proc.send_signal(sig)
        t.left(-sig)


def test_ctrl_s_holds_the_screen_and_nothing_else(tmp_path):
    with Screen(tmp_path) as t:
        t.ready().type("\x13").quiet().type("start 0 for 10ms; wait 0; save after\r".replace("after", str(tmp_path / "after")))
        t.until((tmp_path / "after").exists, "a command done behind Ctrl-S")
        assert "start 0" not in t.text()
        t.type("\x11").until(lambda: "start 0" in t.above() and t.last() == PROMPT, "the screen goes on")
        # a page without the rates of that run, which change
        t.cmd("page help").on_page("help").same_after_repaint().type("\x04").left(0)


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGHUP, signal.SIGSEGV])
def test_a_signal_ends_it_also_behind_ctrl_s(tmp_path, sig):
    with Screen(tmp_path) as t:
        t.ready().cmd("start all").type("\x13").quiet()
        t.proc.send_signal(sig)
        t.left(-sig)


def test_what_is_typed_ahead_goes_to_whichever_prompt_is_next(tmp_path):
    with Screen(tmp_path) as t:
        t.ready().type("screen off\rscreen on\r" * 5 + f"save {tmp_path}/after\r").until((tmp_path / "after").exists, "the last line")
        t.ready().type("\x04").left(0)


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGHUP, signal.SIGSEGV])
def test_a_signal_ends_it_also_where_ctrl_s_came_in_the_middle_of_a_drawing(tmp_path, sig):
    with Screen(tmp_path, cols=500, rows=200) as t:
        t.ready().cmd("start all; page help")
        # Nobody reads: sooner or later a drawing does not fit into what the terminal takes.
        for _ in range(40):
            os.write(t.master, b"\x0c")
            time.sleep(0.005)
        os.write(t.master, b"\x13")
        t.proc.send_signal(sig)
        t.left(-sig)


def test_an_interrupt_drops_the_line_and_does_not_end(tmp_path):
    with Screen(tmp_path) as t:
        t.ready().type("abc").line_is("abc")
        t.proc.send_signal(signal.SIGINT)
        t.prompt().type("\x04").left(0)


def signal_is_caught(pid, signo):
    with open(f"/proc/{pid}/status") as f:
        caught = next(line for line in f if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) >> (signo - 1) & 1)


def test_ctrl_z_and_fg(tmp_path):
    with JobScreen(tmp_path) as t:
        t.ready().cmd(LONG).type("help").line_is("help")
        # curses would ignore it while it draws, and one that waits then would be lost
        assert not signal_is_caught(t.pid, signal.SIGTSTP)
        for keys in ("\x1a", None):
            if keys:
                t.type(keys)
            else:
                os.kill(t.pid, signal.SIGTSTP)
            t.hears("stopped")
            t.quiet().terminal_is_back()
            termios.tcsetattr(t.slave, termios.TCSANOW, t.before)
            t.resize(100, 30)
            t.order("fg").until(lambda: ALTERNATE in t.screen.mode, "screen again")
            t.line_is("help").on_page("main")
            t.resize(80, 24)
        t.type("\x15").until(t.footer, "footer").same_after_repaint()
        t.type("\x04")
        assert t.hears("ended") == "0"
        t.terminal_is_back()


def test_ctrl_z_bg_and_fg(tmp_path):
    """In the background it runs, and leaves the terminal to the shell."""
    with JobScreen(tmp_path) as t:
        # a command that ends when we say so
        waits = f"lua 'while not io.open(\"{tmp_path}/go\") do wr.sleep(0.01) end'"
        t.ready().cmd(LONG).type(f"{waits}; save {tmp_path}/after\r").until(lambda: t.last() == RUNNING, "held line")
        t.type("help").until(lambda: t.last() == RUNNING + "help", "typing")
        t.type("\x1a")
        t.hears("stopped")
        t.quiet().terminal_is_back()
        sent = len(t.raw)
        assert not (tmp_path / "after").exists()
        (tmp_path / "go").touch()
        t.order("bg").resize(90, 20).until((tmp_path / "after").exists, "the end of a command")
        t.quiet().modes_are_back()
        assert t.raw[sent:] == b""
        t.order("fg").until(lambda: ALTERNATE in t.screen.mode, "screen again")
        t.line_is("help").type("\x15").until(t.footer, "footer").same_after_repaint()
        t.type("\x04")
        assert t.hears("ended") == "0"
        t.terminal_is_back()


def test_stopped_without_notice(tmp_path):
    """After SIGSTOP the shell has used the terminal; the program takes it back and leaves it as it was."""
    with JobScreen(tmp_path) as t:
        t.ready().cmd(LONG)
        os.kill(t.pid, signal.SIGSTOP)
        t.hears("stopped")
        t.read_all()
        termios.tcsetattr(t.slave, termios.TCSANOW, t.before)
        t.stream.feed(b"\x1b[2J\x1b[Hshell> ls\r\n")
        t.order("fg").until(lambda: termios.tcgetattr(t.slave) != t.before, "editing modes")
        t.prompt().on_page("main").same_after_repaint()
        t.type("\x04")
        assert t.hears("ended") == "0"
        t.terminal_is_back()


def test_the_end_of_the_shell(tmp_path):
    with JobScreen(tmp_path) as t:
        t.ready().cmd("start all")
        t.proc.kill()
        t.proc.wait()
        t.has_gone()
        t.terminal_is_back()


def test_the_terminal_vanishes(tmp_path):
    t = Screen(tmp_path)
    t.ready().cmd("start all").type("sleep 60s\r").quiet().vanish()
    assert t.proc.wait(timeout=20) in (0, -signal.SIGHUP)


def test_the_terminal_vanishes_and_nobody_says_so(tmp_path):
    """A hangup that is ignored (nohup) leaves the end of input as the only sign."""
    wrap = "import os,signal,sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    t = Screen(tmp_path, cmd=[sys.executable, "-c", wrap, BIN])
    t.ready().cmd("start all").vanish()
    t.proc.wait(timeout=20)


if __name__ == "__main__":
    sys.exit(pytest.main([__file__]))
