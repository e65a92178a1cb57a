# SPDX-License-Identifier: BSD-3-Clause
"""The program's door: prompt on a real pseudo-terminal, batch input, signals. Needs no root and no NIC.

WIRERATE names the executable. Screens are judged by pyte, an independent terminal emulator.
"""
import os
import re
import select
import signal
import stat
import subprocess
import sys
import termios
import time

import pytest

import pty_term
from pty_term import BIN, LIMIT, PROMPT, Hold, environment
from serving import until

pytestmark = pytest.mark.skipif(not BIN, reason="WIRERATE does not name the executable")

class Term(pty_term.Term):
    """The plain prompt."""

    def __init__(self, home, *args, **kw):
        super().__init__(home, "--no-screen", *args, **kw)


class JobTerm(pty_term.JobTerm):
    def __init__(self, home, *args, **kw):
        super().__init__(home, "--no-screen", *args, **kw)


def run(home, *args, stdin=b"", **env):
    return subprocess.run([BIN, *args], input=stdin, capture_output=True, timeout=LIMIT, env=environment(home, **env))


# --- typing --------------------------------------------------------------------------------------------------------

def test_typed_command_answers_and_quit_ends(tmp_path):
    with Term(tmp_path) as t:
        t.prompt().type("help stop\r")
        t.shows("  Stop sending")
        t.prompt().type("quit\r")
        assert t.ends() == 0
        t.modes_are_back()


def test_keys_edit_the_line(tmp_path):
    with Term(tmp_path) as t:
        t.prompt().type("hepl").line_is("hepl")
        t.type("\x7f\x7flp").line_is("help")
        t.type("\x01x").until(lambda: "wirerate> xhelp" in t.lines(), "x in front")
        t.type("\x15\x0b").line_is("")


def test_tab_inserts_the_only_word_with_a_blank(tmp_path):
    with Term(tmp_path) as t:
        t.prompt().type("qui\t").line_is("quit ")


def test_tab_lists_what_is_ambiguous_with_help(tmp_path):
    with Term(tmp_path) as t:
        t.prompt().type("s\t").shows("  start")
        t.line_is("s")
        rows = [x for x in t.lines() if x.startswith("  start ")]
        assert rows and len(rows[0].split()) > 2, "a word without its help text"


@pytest.mark.parametrize("front", [["--no-screen"], []])
def test_a_second_tab_lists_nothing_again(tmp_path, front):
    """Another line, or more of this one, is another list."""
    with pty_term.Term(tmp_path, *front, rows=60) as t:
        def lists():
            return [row for row in t.idle().lines() if row.startswith("  s")]

        t.prompt().type("s\t").shows("  start")
        before = lists()
        t.type("\t").line_is("s")
        t.type("\t\t").line_is("s")
        assert lists() == before, t.text()
        t.type("t\t").line_is("st")
        assert lists() != before, t.text()


@pytest.mark.parametrize("given", [["-l", "0-999", "--"], ["-l", "nonsense", "--"], ["--no-such-option", "--"]])
def test_what_eal_says_itself_is_shown(tmp_path, given):
    """Of options that it refuses, in its own words: they name what it wants."""
    done = run(tmp_path, *given, "-b", "-p", "wire", "-e", "show ports")
    told = done.stderr.decode()
    assert done.returncode in (2, 3) and not done.stdout
    assert re.search(r"^  EAL: .*(unavailable|lcore|corelist|[Ii]nvalid)|unrecognized option|no-such-option", told, re.M), told


def test_latency_without_probes_is_one_line_that_says_what_to_do(tmp_path):
    done = run(tmp_path, "-b", "-p", "wire", "-e", "set 0 count 10; start 0; wait 0; show latency; show latency 1")
    lines = done.stdout.decode().splitlines()
    assert done.returncode == 0 and len(lines) == 2, lines
    assert all("set <ports> probe on" in line for line in lines), lines
    document = run(tmp_path, "-b", "--json", "-p", "wire", "-e", "show latency")
    assert b'"show":"latency"' in document.stdout, "a program gets the document all the same"


def test_tab_completes_values(tmp_path):
    with Term(tmp_path) as t:
        t.prompt().type("show sta\t").line_is("show stats ")


def test_question_mark_helps_only_where_a_word_begins(tmp_path):
    with Term(tmp_path, rows=60) as t:
        t.prompt().type("?").shows("  start")
        t.line_is("")
        t.type("help x?").line_is("help x?")
        t.type("\x15").line_is("")
        t.type("lua 'a ?").line_is("lua 'a ?")


def test_a_refused_command_leaves_the_prompt(tmp_path):
    with Term(tmp_path) as t:
        t.prompt().type("bogus\r")
        t.shows("^")
        t.prompt().type("\x04")
        assert t.ends() == 0


# --- history -------------------------------------------------------------------------------------------------------

def test_history_lasts_over_two_runs_private_and_without_repeats(tmp_path):
    with Term(tmp_path) as t:
        for line in ("help start", "help stop", "help stop", "quit"):
            t.prompt().type(line + "\r")
        assert t.ends() == 0
    with Term(tmp_path) as t:
        t.prompt()
        for line in ("quit", "help stop", "help start"):
            t.type("\x1b[A").line_is(line)
        t.type("\x03").line_is("")
        t.type("\x12art").shows("help start")
        t.type("\r\x04")
        t.ends()
    path = tmp_path / ".local/state/wirerate/history"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_history_goes_to_the_state_directory(tmp_path):
    with Term(tmp_path, XDG_STATE_HOME=str(tmp_path / "state")) as t:
        t.prompt().type("quit\r")
        assert t.ends() == 0
    assert (tmp_path / "state/wirerate/history").exists()


def test_history_that_cannot_be_written_costs_nothing(tmp_path):
    (tmp_path / "file").write_text("")
    with Term(tmp_path, XDG_STATE_HOME=str(tmp_path / "file")) as t:
        t.prompt().type("help quit\r")
        t.prompt().type("\x1b[A").line_is("help quit")
        t.type("\rquit\r")
        assert t.ends() == 0


def test_editrc_is_read(tmp_path):
    (tmp_path / ".editrc").write_text("wirerate:bind ^T ed-clear-screen\nwirerate:bind -s ^G help\n")
    with Term(tmp_path) as t:
        t.prompt().type("\x07").line_is("help")


# --- leaving, dropping, cancelling ---------------------------------------------------------------------------------

def test_ctrl_d_on_the_empty_line_leaves(tmp_path):
    with Term(tmp_path) as t:
        t.prompt().type("\x04")
        assert t.ends() == 0
        t.modes_are_back()


def test_ctrl_c_drops_the_line(tmp_path):
    with Term(tmp_path) as t:
        t.prompt().type("set 0 rate 10").line_is("set 0 rate 10")
        t.type("\x03").line_is("")
        t.type("quit\r")
        assert t.ends() == 0


def test_ctrl_c_cancels_the_running_verb_and_keeps_what_is_typed(tmp_path):
    with Term(tmp_path) as t:
        t.prompt().type("sleep 60s\r")
        t.until(lambda: t.last() == "", "held line")
        t.type("help stop").until(lambda: t.last() == "help stop", "typing while a verb holds the line")
        t.type("\x03").line_is("help stop")
        t.type("\r").shows("  Stop sending")


def test_enter_queues_while_a_verb_holds_the_line(tmp_path):
    hold = Hold(tmp_path)
    with Term(tmp_path) as t:
        t.prompt().type(f"{hold.command}; help start\r")
        t.until(hold.began.exists, "held line")
        t.type("help quit\r").until(lambda: "help quit" in t.lines(), "typing while a verb holds the line")
        hold.let_go()
        t.shows("  Stop all ports")
        t.prompt()
        assert t.text().index("Start sending") < t.text().index("Stop all ports")


def test_ctrl_d_waits_for_what_was_asked(tmp_path):
    hold = Hold(tmp_path)
    with Term(tmp_path) as t:
        t.prompt().type(f"{hold.command}; help stop\r")
        t.until(lambda: hold.began.exists() and t.last() == "", "held line")
        t.type("x").until(lambda: t.last() == "x", "typing while a verb holds the line")
        t.type("\x7f\x04").until(lambda: t.last() == "", "empty line")
        hold.let_go()
        assert t.ends() == 0
        assert "Stop sending" in t.text()


# Around the width of the terminal and of what is left of it behind the prompt, where the line wraps.
@pytest.mark.parametrize("length", [5, 29, 30, 31, 39, 40, 41, 75])
def test_output_while_typing_keeps_the_typed_text(tmp_path, length):
    hold = Hold(tmp_path)
    with Term(tmp_path, cols=40, rows=16) as t:
        t.prompt().type(f"{hold.command}; bogus\r")
        t.until(lambda: hold.began.exists() and t.last() == "", "held line")
        text = ("abcdefghi " * 10)[:length - 1] + "z"

        def tail():
            return "".join(x.ljust(40) for x in t.screen.display).rstrip()
        t.type(text).until(lambda: tail().endswith(text), "typed text")
        hold.let_go()
        t.shows("^")
        t.until(lambda: tail().endswith(PROMPT + text), "typed text below the message")
        assert "abc" not in tail()[:-len(PROMPT + text)], "the line is there twice:\n" + "\n".join(t.lines())
        t.type("!").until(lambda: tail().endswith(PROMPT + text + "!"), "cursor at the end")
        t.type("\x15").until(lambda: tail().endswith(PROMPT.rstrip()), "empty line")


def test_keys_of_any_locale(tmp_path):
    with Term(tmp_path) as t:
        t.prompt().type("h\u00fc\u4e16x\x7f").until(lambda: "h\u00fc\u4e16" in t.lines()[0], "wide characters")
    with Term(tmp_path, LC_ALL="C") as t:
        t.prompt().type("h\u00fcx").shows("x")


def test_ctrl_l_clears_the_screen_and_keeps_the_line(tmp_path):
    with Term(tmp_path) as t:
        t.prompt().type("help\r")
        t.prompt().type("abc\x0c")
        t.until(lambda: t.lines()[0] == PROMPT + "abc", "line on the first row")


def test_a_resize_redraws_the_line(tmp_path):
    with Term(tmp_path) as t:
        t.prompt().type("help start").line_is("help start")
        t.resize(100, 24).type("x").line_is("help startx")


# --- signals and modes ---------------------------------------------------------------------------------------------

@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_at_the_prompt_restores_the_terminal_and_ends_by_it(tmp_path, sig):
    with Term(tmp_path) as t:
        t.prompt().type("half a line").line_is("half a line")
        assert termios.tcgetattr(t.slave) != t.before
        t.proc.send_signal(sig)
        assert t.ends() == -sig
        t.modes_are_back()


@pytest.mark.parametrize("sig", [signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGFPE, signal.SIGILL,
                                 signal.SIGQUIT])
def test_a_fatal_signal_restores_the_terminal(tmp_path, sig):
    with Term(tmp_path) as t:
        t.prompt()
        t.proc.send_signal(sig)
        assert t.ends() == -sig
        t.modes_are_back()


def test_stop_and_continue_at_the_prompt(tmp_path):
    with Term(tmp_path) as t:
        t.prompt().type("help").line_is("help")
        # The test is not its parent shell: an orphaned group cannot be stopped by the terminal, only by SIGSTOP.
        t.proc.send_signal(signal.SIGSTOP)
        os.waitpid(t.proc.pid, os.WUNTRACED)
        termios.tcsetattr(t.slave, termios.TCSANOW, t.before)
        t.proc.send_signal(signal.SIGCONT)
        t.until(lambda: termios.tcgetattr(t.slave) != t.before, "editing modes")
        t.type("x").line_is("helpx")
        t.type("\x03\x04")
        t.ends()
        t.modes_are_back()


def test_ctrl_z_and_fg(tmp_path):
    with JobTerm(tmp_path) as t:
        t.prompt().type("help").line_is("help")
        for _ in range(2):
            t.type("\x1a")
            t.hears("stopped")
            t.modes_are_back()
            t.order("fg").until(lambda: termios.tcgetattr(t.slave) != t.before, "editing modes")
        t.type("x").line_is("helpx")
        t.type("\x03\x04")
        assert t.hears("ended") == "0"
        t.modes_are_back()


def test_the_end_of_the_shell_ends_the_program(tmp_path):
    with JobTerm(tmp_path) as t:
        t.prompt()
        t.proc.kill()
        t.proc.wait()
        t.has_gone()
        t.modes_are_back()


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_in_batch_ends_by_it(tmp_path, sig):
    p = subprocess.Popen([BIN, "-e", "help quit; sleep 60s"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, env=environment(tmp_path))
    assert select.select([p.stdout], [], [], LIMIT)[0]
    time.sleep(0.1)
    p.send_signal(sig)
    p.communicate(timeout=LIMIT)
    assert p.returncode == -sig


def test_hangup_of_the_terminal_ends(tmp_path):
    t = Term(tmp_path)
    t.prompt().vanish()
    assert t.proc.wait(timeout=LIMIT) in (0, -signal.SIGHUP)


# --- terminals that are not one ------------------------------------------------------------------------------------

@pytest.mark.parametrize("term", [None, "dumb", "", "no-such-terminal"])
def test_a_terminal_without_a_type_gets_a_plain_prompt(tmp_path, term):
    with Term(tmp_path, TERM=term) as t:
        t.prompt().type("help quit\r")
        t.shows("quit")
        t.prompt().type("sleep 60s\r\x03")
        t.until(lambda: t.last() == PROMPT, "prompt after cancel")
        t.type("\x04")
        assert t.ends() == 0
        assert b"\x1b" not in t.raw
        t.modes_are_back()


@pytest.mark.parametrize("env,args,colour", [
    ({}, [], True), ({"NO_COLOR": "1"}, [], False), ({"NO_COLOR": ""}, [], True),
    ({"NO_COLOR": "1"}, ["--color=always"], True),
    ({}, ["--color=never"], False)])
def test_colour_follows_the_rules(tmp_path, env, args, colour):
    with Term(tmp_path, *args, **env) as t:
        t.prompt().type("bogus\r")
        t.shows("^")
        t.prompt()
        assert (b"\x1b[31m" in t.raw) == colour
        assert (b"\x1b[1m" in t.raw) == colour


def test_colour_is_not_written_to_pipes_unless_asked(tmp_path):
    assert b"\x1b" not in run(tmp_path, "-e", "bogus").stderr
    assert b"\x1b" in run(tmp_path, "--color=always", "-e", "bogus").stderr
    assert b"\x1b" not in run(tmp_path, "--color=always", "-e", "bogus", TERM="dumb").stderr


def test_results_to_a_file_leave_the_prompt_on_the_terminal(tmp_path):
    with open(tmp_path / "out", "wb") as f, Term(tmp_path, stdout=f) as t:
        t.prompt().type("help quit\r")
        t.prompt().type("quit\r")
        assert t.ends() == 0
    text = (tmp_path / "out").read_bytes()
    assert b"quit" in text and b"wirerate>" not in text and b"\x1b" not in text


# --- batch ---------------------------------------------------------------------------------------------------------

def test_closed_and_empty_stdin(tmp_path):
    env = environment(tmp_path)
    for how in ("<&-", "</dev/null", "<&- 2>&-"):
        r = subprocess.run(["/bin/sh", "-c", f'"$0" -e "help quit" {how}', BIN], capture_output=True, timeout=LIMIT,
                           env=env)
        assert r.returncode == 0 and b"quit" in r.stdout, how
    r = subprocess.run(["/bin/sh", "-c", '"$0" </dev/null >&-', BIN], timeout=LIMIT, env=env)
    assert r.returncode == 0


def test_piped_commands_run_as_they_arrive(tmp_path):
    p = subprocess.Popen([BIN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         env=environment(tmp_path))
    p.stdin.write(b"help quit\nhelp st")
    p.stdin.flush()
    assert select.select([p.stdout], [], [], LIMIT)[0], "an answer before the end of input"
    assert b"quit" in os.read(p.stdout.fileno(), 65536)
    out, err = p.communicate(b"art\n", timeout=LIMIT)
    assert b"start" in out and p.returncode == 0, err


def test_refusal_names_file_and_line_and_stops(tmp_path):
    f = tmp_path / "a.cmds"
    f.write_text("# comment\nhelp quit\n\nbogus one\nhelp stop\n")
    r = run(tmp_path, "-f", str(f))
    assert r.returncode == 2
    assert f"{f}:4: ".encode() in r.stderr and b"stop" not in r.stdout
    r = run(tmp_path, stdin=f.read_bytes())
    assert r.returncode == 2 and b"stdin:4: " in r.stderr


def test_keep_going_runs_on_and_says_so_in_the_exit_code(tmp_path):
    r = run(tmp_path, "-k", "-e", "bogus; help stop")
    assert r.returncode == 2 and b"stop" in r.stdout


def test_files_and_texts_run_in_order(tmp_path):
    f = tmp_path / "b.cmds"
    f.write_text("help stop")
    r = run(tmp_path, "-e", "help start", "-f", str(f), "-e", "help quit", stdin=b"help sleep")
    at = [r.stdout.find(w) for w in (b"start", b"stop", b"quit", b"sleep")]
    assert r.returncode == 0 and -1 not in at
    assert r.stdout.splitlines()[0].find(b"start") >= 0


def test_a_quoted_text_may_span_lines_of_piped_input(tmp_path):
    r = run(tmp_path, "-k", stdin=b"bogus 'a\nb'\nworse\n")
    assert b"stdin:1: " in r.stderr and b"stdin:3: " in r.stderr and b"stdin:2: " not in r.stderr


def test_one_shot_keeps_words_together(tmp_path):
    r = run(tmp_path, "bogus", "two words")
    assert r.returncode == 2 and b'bogus "two words"' in r.stderr
    r = run(tmp_path, "help quit", stdin=b"bogus\n")
    assert r.returncode == 0 and b"quit" in r.stdout


def test_one_shot_start_waits_for_its_end(tmp_path):
    begin = time.monotonic()
    r = run(tmp_path, "start", "0", "for", "500ms")
    assert r.returncode == 0, r.stderr
    assert time.monotonic() - begin >= 0.5


def test_ports_without_a_bound_are_stopped_at_the_end_of_input(tmp_path):
    r = run(tmp_path, "--json", stdin=b"start 0\nsleep 100ms\nshow stats\n")
    assert r.returncode == 0 and b'"sending"' in r.stdout.replace(b" ", b"")


def test_a_reader_that_goes_away_ends_the_program_quietly(tmp_path):
    hold = Hold(tmp_path)
    p = subprocess.Popen([BIN, "-e", f"{hold.command}; help quit; sleep 60s"], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(tmp_path))
    try:
        until(hold.began.exists)
        p.stdout.close()
        hold.let_go()
        assert p.wait(timeout=LIMIT) == 0
        assert p.stderr.read() == b""
    finally:
        p.kill()
        p.wait()


def test_results_that_cannot_be_written_are_an_error(tmp_path):
    with open("/dev/full", "wb") as full:
        p = subprocess.run([BIN, "-e", "help quit"], stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE,
                           timeout=LIMIT, env=environment(tmp_path))
    assert p.returncode == 3 and b"No space left" in p.stderr


# --- options -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("args,says", [
    (["--prot", "wire"], "--port"), (["-x"], "-x"), (["-p"], "SPEC"), (["--json=1"], "takes no value"),
    (["--json", "--csv"], "--csv"),
    (["-T", "f"], "no theme"), (["-s", "0:f"], "not in this version"), (["-g", "5"], "has no host"),
    (["-f", "a.lua"], "cannot read the script"), (["-f", "/no/such"], "/no/such"),
    (["--mtu", "9x"], "--mtu"), (["--color", "blue"], "never"), (["-l", "/no/such/dir/log"], "/no/such/dir/log")])
def test_wrong_options_are_refused_by_name(tmp_path, args, says):
    r = run(tmp_path, *args)
    assert r.returncode == 2 and says.encode() in r.stderr and r.stdout == b""


@pytest.mark.parametrize("args,says", [(["-h"], b"--port"), (["-V"], b"wirerate "), (["--dump-commands"], b"{"),
                                       (["--man"], b".TH")])
def test_what_needs_no_port(tmp_path, args, says):
    r = run(tmp_path, "-p", "if:no-such-interface", *args)
    assert r.returncode == 0 and says in r.stdout and r.stderr == b""


if __name__ == "__main__":
    sys.exit(pytest.main([__file__]))
