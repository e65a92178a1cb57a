# SPDX-License-Identifier: BSD-3-Clause
"""A program of a shell's background: it serves, it leaves the terminal alone, and the prompt comes with `fg`."""
import json
import shutil
import socket

import pytest
from pty_term import BIN, LIMIT, PROMPT, Term

SHELL = "sh$ "


class Shell(Term):
    """A real shell with job control."""

    def __init__(self, home, **env):
        if not shutil.which("bash"):
            pytest.skip("needs bash")
        super().__init__(home, cmd=["bash", "--norc", "--noprofile", "-i"], cols=120, PS1=SHELL, **env)
        self.until(lambda: self.last() == SHELL, "the shell's prompt")

    def answers(self, number):
        """The shell has the terminal, in its own modes."""
        self.type(f"echo $(({number} + 1))\r").until(lambda: str(number + 1) in self.lines() and self.last() == SHELL, "the shell's answer")


def connect(path):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(LIMIT)
    s.connect(str(path))
    f = s.makefile("rw")
    s.close()
    assert json.loads(f.readline())["protocol"] == 1
    return f


def works(client):
    """What is asked for is done, with the prompt in front of it as on a screen."""
    client.write('{"id":1,"cmd":"wirerate> set 0 count 100; start 0\\nwirerate> wait 0; show stats"}\n')
    client.flush()
    answer = json.loads(client.readline())
    assert answer["ok"] and answer["results"][0]["ports"][0]["run"]["sent"] == 100


@pytest.mark.parametrize("term, option", [("xterm", ""), ("xterm", "--no-screen"), ("dumb", "")], ids=["screen", "line", "plain"])
def test_a_job_in_the_background_serves(tmp_path, term, option):
    with Shell(tmp_path, TERM=term) as t:
        t.type(f"{BIN} {option} -p wire --socket={tmp_path}/s -e 'set 0 rate 1kpps' &\r").shows("in the background")
        with connect(tmp_path / "s") as client:
            works(client)
            t.answers(40)
            t.type("fg\r").prompt()
            # and again after Ctrl-Z; the shell says nothing to a job that runs already
            t.type("\x1a").until(lambda: "Stopped" in t.text() and t.last() == SHELL, "stopped")
            t.type("bg\r").until(lambda: t.last() == SHELL, "the shell's prompt")
            works(client)
            t.answers(50)
            t.type("jobs\r").shows("Running")
            t.type("fg\r").prompt().type("show rates\r").shows("offered pps").prompt()
            t.type("\x1a").until(lambda: t.last() == SHELL, "stopped again")
            t.type("bg\r").until(lambda: t.last() == SHELL, "the shell's prompt")
            t.answers(60)
            works(client)
        # it ends there too, and does not wait for the terminal
        t.type("kill %1; wait %1; echo code $?\r").shows("code 143")
        t.answers(70)


def test_lines_are_pasted_with_their_prompts(tmp_path):
    """Neither the history nor Tab takes the prompt for a word."""
    with Term(tmp_path, "-p", "wire", "--no-screen", cols=120) as t:
        t.prompt().type(f"{PROMPT}set 0 rate 1kpps\r").shows("1.000kpps").prompt()
        t.type(f"{PROMPT}show ra\t").line_is(f"{PROMPT}show rates ").type("\r").shows("1kpps").prompt()
        t.type("\x1b[A").line_is("show rates").type("\r").prompt()
        t.type(f"{PROMPT}set 0 rte 1\r").shows('no setting "rte"').prompt()
        t.type("\x04")
        assert t.ends() == 0
