# SPDX-License-Identifier: BSD-3-Clause
"""Clients of a program that serves: commands without a terminal, prompt and screen, several at once, ends of either side. Needs no root and no
NIC."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

from harness import Live, binary, document, run, without_lateness
from pty_term import ALTERNATE, LIMIT, PROMPT, Term
from screen_term import RUNNING, Screen
from serving import WIRE, alive, server, until  # noqa: F401 (a fixture)


class Attached(Screen):
    def __init__(self, home, srv, *args, **kw):
        super().__init__(home, "attach", srv.socket, *args, **kw)


# --- commands without a terminal -----------------------------------------------------------------------------------

def test_commands_print_what_they_print_at_home(server):
    s = server()
    at_home = run([*WIRE, "-e", "set 0 rate 5%; show rates; show settings 0; help stop"])
    there = s.ask("set 0 rate 5%; show rates; show settings 0; help stop")
    assert there.stdout == at_home.stdout
    assert "744.0kpps" in there.stderr, "what it comes to is told to a person"


def test_json_and_csv(server):
    s = server()
    r = run(["attach", "--json", s.socket, "-e", "show map; port 1", "-e", "port; help quit"])
    docs = [document(x) for x in r.stdout.splitlines()]
    assert [d.get("show") for d in docs] == ["map", "port", None] and docs[1]["port"] == 1
    alone = run([*WIRE, "--json", "show", "map"])
    assert r.stdout.splitlines()[0] == alone.stdout.splitlines()[0]
    assert run(["attach", s.socket, "--csv", "-e", "show rates"]).stdout.startswith("port,name,")


def test_what_lua_prints_and_returns(server):
    s = server()
    lua = "lua 'print(5) return {a = 1}, string.char(120, 0, 121)'"
    there = s.ask("set 0 rate 5%", lua)
    r = run(["attach", s.socket, "--json", "-e", lua])
    assert r.returncode == 0 and r.stdout == run([*WIRE, "--json", "-e", lua]).stdout
    assert [json.loads(x) for x in r.stdout.splitlines()] == [5, {"a": 1}, "x\0y"] and there.stdout.startswith("5\n")


def test_a_command_that_is_too_long_is_refused(server, tmp_path):
    s = server("--rpc-limit", "line=4k")
    (tmp_path / "long.lua").write_text("return 1 -- " + "x" * 5000)
    r = run(["attach", s.socket, "-f", str(tmp_path / "long.lua"), "-e", "set 0 rate 5%"])
    assert r.returncode == 2 and "--rpc-limit line" in r.stderr
    assert "5%" not in s.ask("show rates").stdout


def test_errors_point_at_their_place_and_end_the_rest(server):
    s = server()
    at_home = run([*WIRE, "-e", "show map\nset 0 rtae 5\nshow map"])
    r = s.ask("show map\nset 0 rtae 5\nshow map", code=2)
    assert r.stderr == at_home.stderr and r.stdout == at_home.stdout
    r = run(["attach", s.socket, "-k", "-e", "bogus; show rates"])
    assert r.returncode == 2 and "10.00G" in r.stdout


def test_piped_lines_and_exit_codes(server):
    s = server()
    r = s.ask(stdin="set 0 rate 1kpps\nstart 0\nwait 0 50ms\n", code=1)
    assert "not done" in r.stderr
    assert without_lateness(s.ask(stdin="stop 0\nwait 0\n").stderr) == ""
    r = s.ask(stdin="show map\n\nnonsense\n", code=2)
    assert "stdin:3" in r.stderr


def test_a_command_that_takes_time_prints_as_it_goes(server):
    s = server()
    p = subprocess.Popen([binary(), "attach", s.socket, "-e", "show map; sleep 1000s"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        assert "port 0" in p.stdout.readline()
        p.send_signal(signal.SIGINT)
        assert p.wait(LIMIT) == -signal.SIGINT
    finally:
        p.kill()
        p.wait()
        p.stdout.close()
    s.ask("show map")


@pytest.mark.parametrize("args, text", [
    (["a", "b"], "one name"), (["-p", "wire"], "-p"), (["x:1:2"], "[::1]"), (["bad name"], "bad name"), ([""], "empty"),
    (["--json-stream"], "--json-stream"), (["--daemon"], "--daemon")])
def test_what_attach_refuses(args, text):
    r = run(["attach", *args])
    assert r.returncode == 2 and text in r.stderr and r.stdout == ""


def test_nobody_there():
    r = run(["attach", "/nonexistent/socket"])
    assert r.returncode == 5 and "/nonexistent/socket" in r.stderr
    r = run(["attach", "127.0.0.1:1", "-e", "show map"])
    assert r.returncode == 5 and "127.0.0.1:1" in r.stderr


def test_over_tcp_with_a_token(server):
    folder = Path(tempfile.mkdtemp(prefix="wr"))
    token = folder / "token"
    s = server("-g", "127.0.0.1:0", "--token-file", str(token))
    address = re.search(r"127\.0\.0\.1:[1-9]\d*", s.started.stderr + Path(s.log).read_text())[0]
    r = run(["attach", address, "--token-file", str(token), "-e", "show map"])
    assert r.returncode == 0 and "port 1" in r.stdout, r.stderr
    wrong = folder / "wrong"
    wrong.write_text("x" * 40 + "\n")
    wrong.chmod(0o600)
    r = run(["attach", address, "--token-file", str(wrong), "-e", "show map"])
    assert r.returncode == 5 and "token" in r.stderr and r.stdout == ""
    shutil.rmtree(folder)


@pytest.mark.parametrize("lines, text", [
    ([], "does not answer"),
    ([b"SSH-2.0-nobody\r\n"], "protocol"),
    ([b'{"wirerate":"9","protocol":2,"auth":false}\n'], "protocol 2"),
    ([b'{"event":"closed","text":"too many clients"}\n'], "too many clients"),
])
def test_servers_that_are_none(lines, text):
    path = tempfile.mktemp(prefix="wr")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    p = subprocess.Popen([binary(), "attach", path, "-e", "show map"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True)
    try:
        conn = listener.accept()[0]
        for line in lines:
            conn.sendall(line)
        conn.close()
        out, err = p.communicate(timeout=LIMIT)
        assert p.returncode == 5 and text in err and out == ""
    finally:
        p.kill()
        p.wait()
        listener.close()
        os.unlink(path)


# --- prompt and screen ---------------------------------------------------------------------------------------------

def test_the_screen_shows_the_servers_numbers(server, tmp_path):
    s = server("-e", "set 0 rate 1kpps; start 0")
    with Attached(tmp_path, s) as t:
        t.ready().on_page("main").state("sending", "idle")
        t.cmd("page queues").on_page("queues")
        t.until(lambda: re.search(r"q0 .*\b(?:[1-9]\d\d|\d+\.\d+k)\b(?!%)", t.text()), "rate of a queue")
        t.cmd("page main").on_page("main")
        t.cmd("stop 0").state("idle", "idle")
        t.cmd("show rates")
        t.until(lambda: "wire0" in t.above() and "1kpps" in t.above(), "rates")
        t.type("quit\r").left(0)
        assert "detached" in t.text()
    assert alive(s.pid)


def test_keys_completion_and_hints(server, tmp_path):
    s = server()
    with Attached(tmp_path, s) as t:
        t.ready().type("show sta\t").line_is("show stats ")
        t.type("\x15").prompt().type("set 0 rat\t").line_is("set 0 rate ")
        t.type("\x15").prompt().type("s?").line_is("s?")
        t.type("\x15set 0 rate ?")
        t.until(lambda: "Mpps" in t.above(), "help of a value")
        t.type("\x15").prompt().cmd("bogus")
        t.until(lambda: "bogus" in t.above() and "^" in t.above(), "refusal")
        t.type("\x04").left(0)


def test_the_view_is_the_clients_own(server, tmp_path):
    s = server("-e", "set 0 rate 1kpps; start 0")
    with Attached(tmp_path, s) as one, Attached(tmp_path, s) as two:
        one.ready().cmd("page queues").on_page("queues")
        two.ready().on_page("main").cmd("page frame").on_page("frame").cmd("port 1")
        one.cmd("set pages.interval 60s").on_page("queues")
        one.cmd("geometry").until(lambda: "80 columns x 24 rows" in one.above(), "size")
        one.cmd("enable screen").cmd("theme mono")
        two.cmd("set 1 rate 3%")
        one.cmd("show rates").until(lambda: "3%" in one.above(), "the ports are the same for all")
        two.type("quit\r").left(0)
        one.cmd("show map").on_page("queues")
        one.type("quit\r").left(0)
    s.sends()


def test_ctrl_c_cancels_a_remote_wait_and_the_port_sends_on(server, tmp_path):
    s = server("-e", "set 0 rate 1kpps; start 0")
    with Attached(tmp_path, s) as t:
        t.ready().type("wait 0\r")
        t.until(lambda: t.last() == RUNNING, "busy")
        t.type("\x03")
        t.until(lambda: t.last() == PROMPT and "cancelled" in t.above(), "cancelled")
        t.cmd("show rates").until(lambda: "sending" in t.above(), "it sends")
        t.type("\x04").left(0)
    s.sends()


def test_what_is_typed_while_a_command_runs_is_queued(server, tmp_path):
    s = server()
    with Attached(tmp_path, s, "--no-screen") as t:
        t.prompt().type("sleep 300ms\rshow map\r")
        t.shows("port 0")
        t.prompt().type("quit\r")
        assert t.ends() == 0
        t.modes_are_back()


@pytest.mark.parametrize("sig", [signal.SIGKILL, signal.SIGHUP, signal.SIGTERM])
def test_the_run_survives_its_client(server, tmp_path, sig):
    s = server()
    with Attached(tmp_path, s) as t:
        t.ready().cmd("set 0 rate 1kpps").cmd("start 0").state("sending", "idle")
        t.type("wait 0\r")
        t.until(lambda: t.last() == RUNNING, "busy")
        t.proc.send_signal(sig)
        assert t.ends() == -sig
        if sig != signal.SIGKILL:
            t.terminal_is_back()
    s.sends()


def test_the_run_survives_its_terminal(server, tmp_path):
    s = server("-e", "set 0 rate 1kpps; start 0")
    with Attached(tmp_path, s) as t:
        t.ready()
        t.vanish()
        until(lambda: t.proc.poll() is not None, "end of the client")
    s.sends()


@pytest.mark.parametrize("screen", [True, False])
def test_a_server_that_dies_ends_the_client(server, tmp_path, screen):
    s = server()
    with Attached(tmp_path, s, *([] if screen else ["--no-screen"])) as t:
        (t.ready() if screen else t.prompt()).type("half a li")
        os.kill(s.pid, signal.SIGKILL)
        assert t.ends() == 5
        t.terminal_is_back()
        assert ALTERNATE not in t.screen.mode
        assert "lost" in t.text() and s.socket in re.sub(r"\s", "", t.text())


def test_a_server_that_dies_in_a_command_ends_the_batch(server):
    s = server()
    p = subprocess.Popen([binary(), "attach", s.socket, "-e", "show map; sleep 1000s; show map"], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        p.stdout.readline()
        os.kill(s.pid, signal.SIGKILL)
        out, err = p.communicate(timeout=LIMIT)
        assert p.returncode == 5 and "lost" in err
    finally:
        p.kill()
        p.wait()


def test_shutdown_at_an_attached_prompt_ends_both_well(server, tmp_path):
    s = server()
    with Attached(tmp_path, s) as one, Attached(tmp_path, s) as other:
        other.ready()
        one.ready().type("shutdown\r").left(0)
        s.ended()
        other.left(5)


def test_a_server_that_stands_still_leaves_the_prompt(server, tmp_path):
    s = server()
    with Attached(tmp_path, s) as t:
        t.ready()
        os.kill(s.pid, signal.SIGSTOP)
        t.type("page help")
        t.line_is("page help").type("\r").prompt()
        t.type("show map\r")
        t.until(lambda: t.last() == RUNNING, "busy")
        t.type("\x03")
        t.until(lambda: t.last() == PROMPT, "prompt")
        t.type("\t").prompt()
        os.kill(s.pid, signal.SIGCONT)
        t.cmd("page main").on_page("main").cmd("show rates")
        t.until(lambda: "10.00G" in t.above(), "rates")
        t.type("quit\r").left(0)


def test_numbers_of_a_server_that_stands_still_are_marked(server, tmp_path):
    s = server("-e", "set 0 rate 1kpps; start 0")
    with Attached(tmp_path, s) as t:
        t.ready().on_page("main").state("sending", "idle").cmd("set pages interval 100ms")
        t.until(lambda: "OLD NUMBERS" not in t.text(), "no mark")
        os.kill(s.pid, signal.SIGSTOP)
        t.until(lambda: re.search(r"OLD NUMBERS: no answer for [2-9] s \(Ctrl-D", t.lines()[0]), "mark")
        os.kill(s.pid, signal.SIGCONT)
        t.until(lambda: "OLD NUMBERS" not in t.text(), "no mark").state("sending", "idle")
        os.kill(s.pid, signal.SIGSTOP)
        t.until(lambda: "OLD NUMBERS" in t.lines()[0], "mark")
        t.type("\x04").left(0)
        assert "detached" in t.text()


@pytest.mark.parametrize("greets", [False, True])
@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_heard_before_there_is_a_prompt(tmp_path, greets, sig):
    """A server that says nothing, or nothing more: the client ends by the signal, not by its own patience."""
    path = tempfile.mktemp(prefix="wr")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        with Screen(tmp_path, "attach", path) as t:
            conn = listener.accept()[0]
            with conn:
                if greets:
                    conn.sendall(b'{"wirerate":"0.1.0","protocol":1,"auth":false}\n')
                    asked = b""
                    while b"snapshot" not in asked:  # it waits for an answer then
                        more = conn.recv(4096)
                        assert more, asked
                        asked += more
                if sig == signal.SIGINT:
                    t.type("\x03")
                else:
                    t.proc.send_signal(sig)
                assert t.ends() == -sig
                t.terminal_is_back()
    os.unlink(path)


def test_attached_to_a_program_with_a_prompt(tmp_path):
    """Who sits there has the say: clients cannot end it."""
    path = tempfile.mktemp(prefix="wr")
    live = Live([*WIRE, f"--socket={path}"])
    try:
        live.ask("show rates")  # who answers listens, while the file is there before anybody does
        r = run(["attach", path, "-e", "set 0 rate 4%; shutdown"])
        assert r.returncode == 2 and "--daemon" in r.stderr
        rates = live.ask("show rates")
        assert rates["ports"][0]["rate"] == "4%"
        assert live.quit()[0] == 0
    finally:
        live.close()


def test_found_by_its_name(tmp_path):
    name = f"test-{os.getpid()}"
    env = dict(os.environ, XDG_RUNTIME_DIR=str(tmp_path))
    r = run(["--daemon", f"--socket={name}", *WIRE], env=env)
    assert r.returncode == 0, r.stderr
    pid = int(re.search(r"pid (\d+)", r.stderr)[1])
    try:
        r = run(["attach", name, "--json", "-e", "show map"], env=env)
        assert r.returncode == 0 and document(r.stdout)["show"] == "map"
    finally:
        os.kill(pid, signal.SIGTERM)
        until(lambda: not alive(pid))


def test_what_dead_programs_left_does_not_serve(tmp_path):
    folder = Path("/run/wirerate") if os.geteuid() == 0 else tmp_path / "wirerate"
    folder.mkdir(mode=0o700, exist_ok=True)
    left = [folder / f"left-{os.getpid()}-{n}.sock" for n in range(2)]
    for path in left:
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(str(path))
            s.listen()
    try:
        r = run(["attach", "-e", "show map"], env=dict(os.environ, XDG_RUNTIME_DIR=str(tmp_path)))
        assert f"left-{os.getpid()}" not in r.stderr
    finally:
        for path in left:
            path.unlink()


def test_a_file_of_lua_is_run_there(server, tmp_path):
    s = server()
    script = tmp_path / "t.lua"
    script.write_text('wr.port[0].rate = "6%" -- it\'s "quoted"\nprint("at " .. wr.port[0].size, [[{]])\nwr.expect(false, "no")\n')
    r = run(["attach", s.socket, "-f", str(script)])
    assert r.returncode == 1 and r.stdout.startswith("at ") and "failed: no" in r.stderr, r
    assert "6%" in s.ask("show rates").stdout
    assert run(["attach", s.socket, "-f", str(tmp_path / "none.lua")]).returncode == 2


def test_a_thousand_lines_arrive_in_order(server):
    s = server()
    s.ask(stdin="".join(f"set 0 count {n}\n" for n in range(1, 1001)))
    counts = [x for x in s.doc("show settings 0")["settings"] if x["name"] == "count"]
    assert counts[0]["value"] == "1000"


def test_the_plain_prompt_of_a_dumb_terminal(server, tmp_path):
    s = server()
    with Term(tmp_path, "attach", s.socket, TERM="dumb") as t:
        t.prompt().type("show rates\r").shows("wire0")
        t.prompt().type("\x04")
        assert t.ends() == 0
