# SPDX-License-Identifier: BSD-3-Clause
"""A program that serves: when it is ready, how it starts and ends, what a service manager hears. Needs no root and no NIC."""
import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from harness import binary, document, run
from pty_term import LIMIT
from serving import WIRE, alive, server, until  # noqa: F401 (a fixture)


# --- the daemon ----------------------------------------------------------------------------------------------------

def test_a_daemon_is_up_when_its_parent_returns(server):
    s = server("-e", "set 0 rate 1kpps; start 0")
    assert s.started.stdout == "" and s.socket in s.started.stderr
    assert alive(s.pid) and os.getsid(s.pid) == s.pid, "a session of its own"
    for fd in range(3):
        assert os.readlink(f"/proc/{s.pid}/fd/{fd}") == "/dev/null"
    s.sends()
    s.sends()


def test_what_the_caller_had_open_is_not_kept(server):
    s = server(start=False)
    r, w = os.pipe()
    s.started = run(s.args, pass_fds=(w,))
    s.pid = int(Path(s.pid_file).read_text())
    os.close(w)
    assert os.read(r, 1) == b"", "the last writer is gone"
    os.close(r)


def test_sigterm_ends_it_and_removes_what_it_made(server):
    s = server()
    os.kill(s.pid, signal.SIGTERM)
    s.ended()
    assert not os.path.exists(s.socket) and not os.path.exists(s.pid_file)


def test_shutdown_from_a_client_ends_it(server):
    s = server()
    s.ask("shutdown")
    s.ended()
    assert not os.path.exists(s.socket)
    r = s.ask("show map", code=5)
    assert "no program serves" in r.stderr and s.socket in r.stderr


def test_quit_from_a_client_leaves_it(server):
    s = server()
    s.ask("quit")
    assert s.ask("exit; show map; shutdown").stdout == "", "nothing is run behind it"
    assert alive(s.pid)


@pytest.mark.parametrize("args, code, text", [
    (["-p", "if:nosuchif0"], None, "nosuchif0"),
    (["-p", "nonsense"], 2, "nonsense"),
    (["-e", "set 0 rtae 5"], 2, "rate"),
    (["-f", "/nonexistent/file"], 2, "/nonexistent/file"),
    (["-g", "256.256.256.256:1"], None, "256.256.256.256"),
    (["--serve"], 2, "--daemon"),
    (["--json-stream"], 2, "--json-stream"),
    (["show", "map"], 2, "-e"),
])
def test_a_daemon_that_cannot_start_says_why_and_how_it_ended(server, args, code, text):
    s = server(*args, start=False)
    r = run(s.args)
    assert r.returncode == code if code else r.returncode in (2, 3), r.stderr
    assert text in r.stderr
    assert not os.path.exists(s.pid_file) and not os.path.exists(s.socket)


def test_the_same_error_as_in_the_foreground(server):
    s = server("-e", "set 0 rtae 5", start=False)
    assert run(s.args).stderr == run([*WIRE, "-b", "-e", "set 0 rtae 5"]).stderr


def test_with_keep_going_a_refused_command_does_not_end_it(server):
    s = server("-k", "-e", "set 0 rtae 5; set 0 rate 12%")
    assert "rate" in s.started.stderr
    assert "12%" in s.ask("show rates").stdout


def test_files_run_first_and_what_takes_time_goes_on_behind_the_parent(server, tmp_path):
    (tmp_path / "f.cmd").write_text("set 0 rate 1kpps\nstart 0\nsleep 200ms\nset 1 rate 7%\n")
    s = server("-f", str(tmp_path / "f.cmd"))
    until(lambda: "7%" in s.ask("show rates").stdout, "the line behind the sleep")
    s.sends()


def test_a_line_refused_later_is_logged_and_the_daemon_goes_on(server):
    s = server("-e", "sleep 100ms; nonsense; set 0 rate 3%")
    until(lambda: "nonsense" in Path(s.log).read_text(), "log")
    assert alive(s.pid) and "3%" not in s.ask("show rates").stdout


def test_a_second_one_is_refused(server):
    s = server()
    r = run(s.args)
    assert r.returncode == 3 and s.socket in r.stderr
    r = run(["--daemon", f"--socket={s.socket}2", "--pid-file", s.pid_file, *WIRE, "-e", f"save {s.dir}/ran"])
    assert r.returncode == 3 and s.pid_file in r.stderr and not os.path.exists(f"{s.dir}/ran"), "before its commands"
    assert Path(s.pid_file).read_text() == f"{s.pid}\n"
    s.ask("show map")


def test_the_report_of_a_daemon_has_each_error_once(server):
    s = server(start=False)
    s.args += ["--report", f"{s.dir}/run.json", "-k", "-e", "nonsense; set 0 rate 3%"]
    s.start().ask("shutdown")
    s.ended()
    doc = document(Path(f"{s.dir}/run.json").read_text())["run"]
    assert len(doc["errors"]) == doc["errors_total"] == 1 and "nonsense" in doc["errors"][0]
    assert "nonsense" in Path(s.log).read_text()


def test_hangup_opens_the_log_again(server):
    s = server()
    os.rename(s.log, s.log + ".1")
    os.kill(s.pid, signal.SIGHUP)
    until(lambda: os.path.exists(s.log), "new log")
    s.ask("show map")


def test_shutdown_is_for_daemons_alone():
    r = run([*WIRE, "shutdown"])
    assert r.returncode == 2 and "quit" in r.stderr


# --- the service manager -------------------------------------------------------------------------------------------

@contextlib.contextmanager
def manager(abstract):
    """The other end of NOTIFY_SOCKET."""
    folder = tempfile.mkdtemp(prefix="wr")
    name = f"\0wirerate-test-{os.getpid()}" if abstract else os.path.join(folder, "n")
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    sock.bind(name)
    sock.settimeout(LIMIT)
    try:
        yield sock, name.replace("\0", "@")
    finally:
        sock.close()
        shutil.rmtree(folder)


@pytest.mark.parametrize("abstract", [False, True])
def test_readiness_is_told_when_clients_are_heard(abstract, tmp_path):
    path = tempfile.mktemp(prefix="wr")
    with manager(abstract) as (sock, name):
        env = dict(os.environ, NOTIFY_SOCKET=name, WATCHDOG_USEC="600000")  # few enough: the kernel keeps ten messages for us
        cmds = "set 0 rate 1kpps; lua 'return os.getenv([[NOTIFY_SOCKET]]) == nil'"
        p = subprocess.Popen([binary(), "--serve", f"--socket={path}", *WIRE, "-e", cmds], env=env,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            first = sock.recv(4096).decode().splitlines()
            assert first[0] == "READY=1" and "STATUS=2 ports, 0 sending" in first and not any(x.startswith("MAINPID") for x in first)
            r = run(["attach", path, "-e", "show rates; start 0"])
            assert r.returncode == 0 and "1kpps" in r.stdout, "it was heard"
            seen = []
            while not ("STATUS=2 ports, 1 sending\n" in seen and seen.count("WATCHDOG=1\n") >= 2):
                seen.append(sock.recv(4096).decode())
            p.send_signal(signal.SIGTERM)
            while not seen[-1].startswith("STOPPING=1\n"):
                seen.append(sock.recv(4096).decode())
            assert p.wait(60) == -signal.SIGTERM
            assert not os.path.exists(path)
            assert p.stdout.read() == "true\n", "what it starts does not speak for it"
        finally:
            p.kill()
            p.communicate()


def test_a_manager_that_is_behind_hears_of_readiness_all_the_same(tmp_path):
    with manager(False) as (sock, name), contextlib.ExitStack() as others:
        sends = True
        while sends:  # until one that has sent nothing yet finds no room: each has a limit of its own too
            other = others.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
            other.setblocking(False)
            sends = False
            with contextlib.suppress(BlockingIOError):
                while True:
                    other.sendto(b"x", name)
                    sends = True
        path = tempfile.mktemp(prefix="wr")
        p = subprocess.Popen([binary(), "--serve", f"--socket={path}", *WIRE], env=dict(os.environ, NOTIFY_SOCKET=name), stdin=subprocess.DEVNULL)
        try:
            until(lambda: os.path.exists(path), "socket")
            time.sleep(0.2)  # it finds no room, or says it later: heard it must be
            while not sock.recv(4096).startswith(b"READY=1\n"):
                pass
            p.send_signal(signal.SIGTERM)
            assert p.wait(LIMIT) == -signal.SIGTERM
        finally:
            p.kill()
            p.wait()


def test_nothing_is_told_of_a_start_that_failed():
    with manager(False) as (sock, name):
        r = run(["--serve", "--socket=/tmp/wr-none", *WIRE, "-e", "nonsense"], env=dict(os.environ, NOTIFY_SOCKET=name))
        assert r.returncode == 2
        sock.settimeout(0)
        with pytest.raises(BlockingIOError):
            sock.recv(4096)


def test_the_unit_that_comes_with_it_starts():
    """Its command line, as it stands there."""
    text = (Path(__file__).resolve().parents[2] / "examples/systemd/wirerate.service").read_text()
    assert "\nType=notify\n" in text
    program, *args = re.search(r"^ExecStart=(.*)$", text, re.M)[1].split()
    assert os.path.basename(program) == "wirerate"
    path = tempfile.mktemp(prefix="wr")
    with manager(False) as (sock, name):
        p = subprocess.Popen([binary(), *args, f"--socket={path}"], env=dict(os.environ, NOTIFY_SOCKET=name), stdin=subprocess.DEVNULL)
        try:
            assert sock.recv(4096).startswith(b"READY=1\n")
            assert run(["attach", path, "-e", "shutdown"]).returncode == 0
            assert p.wait(LIMIT) == 0
        finally:
            p.kill()
            p.wait()


def test_a_daemon_tells_its_own_number():
    path = tempfile.mktemp(prefix="wr")
    with manager(False) as (sock, name):
        r = run(["--daemon", f"--socket={path}", *WIRE], env=dict(os.environ, NOTIFY_SOCKET=name))
        assert r.returncode == 0
        pid = int(re.search(r"MAINPID=(\d+)", sock.recv(4096).decode())[1])
        assert f"pid {pid} " in r.stderr
        os.kill(pid, signal.SIGTERM)
        until(lambda: not alive(pid))
