# SPDX-License-Identifier: BSD-3-Clause
"""A program that serves, for tests: a daemon with a socket of its own."""
import os
import shutil
import signal
import tempfile
import time
from pathlib import Path

import pytest

from harness import document, run
from pty_term import LIMIT

WIRE = ["-p", "wire"]


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def until(what, text="it"):
    end = time.monotonic() + LIMIT
    while not what():
        assert time.monotonic() < end, f"{text}: never"
        time.sleep(0.02)


class Server:
    """A daemon of its own, with a socket in a short path."""

    def __init__(self, *args):
        self.dir = Path(tempfile.mkdtemp(prefix="wr"))
        self.socket, self.log, self.pid_file = (str(self.dir / name) for name in ("s", "log", "pid"))
        self.pid = None
        self.args = ["--daemon", f"--socket={self.socket}", "-l", self.log, "--pid-file", self.pid_file, *WIRE, *args]

    def start(self, code=0):
        self.started = run(self.args)
        assert self.started.returncode == code, self.started.stderr
        if code == 0:
            self.pid = int(Path(self.pid_file).read_text())
        return self

    def ask(self, *cmds, code=0, **kw):
        r = run(["attach", self.socket, *[x for c in cmds for x in ("-e", c)]], **kw)
        assert r.returncode == code, r.stderr
        return r

    def doc(self, cmd):
        r = run(["attach", self.socket, "--json", "-e", cmd])
        assert r.returncode == 0, r.stderr
        return document(r.stdout.splitlines()[-1])

    def sent(self, port=0):
        return self.doc("show stats")["ports"][port]["tx"]["packets"]

    def sends(self, port=0):
        """Traffic goes on: more each time."""
        first = self.sent(port)
        until(lambda: self.sent(port) > first, "sends")

    def ended(self):
        until(lambda: not alive(self.pid), "end of the daemon")
        self.pid = None

    def close(self):
        if self.pid is not None and alive(self.pid):
            os.kill(self.pid, signal.SIGCONT)
            os.kill(self.pid, signal.SIGKILL)
        shutil.rmtree(self.dir)


@pytest.fixture
def server():
    made = []

    def make(*args, start=True):
        made.append(Server(*args))
        return made[-1].start() if start else made[-1]

    yield make
    for s in made:
        s.close()
