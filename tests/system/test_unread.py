# SPDX-License-Identifier: BSD-3-Clause
"""A terminal that nobody reads for a while: a window that hangs, a connection that is stuck.

WIRERATE names the executable.
"""
import itertools
import os
import select
import signal
import termios
import time

import pytest

from pty_term import BIN, LIMIT
from screen_term import Screen

pytestmark = pytest.mark.skipif(not BIN, reason="WIRERATE does not name the executable")


def full(t):
    """Nobody reads, while pages change until the terminal takes no more of them."""
    t.cmd("set pages interval 100ms").cmd("start 0")
    end, pages = time.monotonic() + LIMIT, itertools.cycle(b"2896")
    while select.select([], [t.slave], [], 0)[1]:
        assert time.monotonic() < end, "the terminal takes everything"
        os.write(t.master, bytes([next(pages)]))
        time.sleep(0.05)
    return t


def is_made(t, path):
    end = time.monotonic() + LIMIT
    while not path.exists():
        assert time.monotonic() < end and t.proc.poll() is None, f"{path.name} is not made while nobody reads"
        time.sleep(0.02)


def test_nothing_waits_for_a_terminal_that_is_not_read(tmp_path):
    with Screen(tmp_path, cols=300, rows=100) as t:
        full(t.ready())
        os.write(t.master, f"stop 0; wait 0; start 0 for 300ms; wait 0; save {tmp_path}/after\r".encode())
        is_made(t, tmp_path / "after")
        t.until(lambda: "save " in t.above(), "the screen goes on").prompt()
        # a repaint draws what is known then: rates go on changing for seconds
        t.type("1").on_page("main").cmd("page help").on_page("help").same_after_repaint().type("\x04").left(0)


def ends(tmp_path, sig):
    """Whether it was seen that a Ctrl-C drops no output while the signal ends a program whose terminal nobody reads."""
    with Screen(tmp_path, cols=300, rows=100) as t:
        full(t.ready())
        t.proc.send_signal(sig)
        end, kept = time.monotonic() + LIMIT, False
        while t.proc.poll() is None:
            assert time.monotonic() < end, "waits for its terminal"
            kept = kept or termios.tcgetattr(t.slave)[3] & termios.NOFLSH
            time.sleep(0.02)
        assert t.proc.returncode == -sig
        t.terminal_is_back()
        return kept


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGSEGV])
def test_a_signal_ends_it_although_nobody_reads(tmp_path, sig):
    # the program waits for its terminal for two seconds: on a machine that stands still nobody may have looked then
    assert any(ends(tmp_path, sig) for _ in range(5)), "a Ctrl-C while it leaves the screen drops what leaves it"
