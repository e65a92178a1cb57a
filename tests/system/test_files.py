# SPDX-License-Identifier: BSD-3-Clause
"""Files that commands, options and scripts name: what is none is refused and holds nobody, and a signal ends the program whatever holds it."""
import contextlib
import fcntl
import os
import signal
import socket
import subprocess

import pytest

import harness
from harness import good
from mute_fs import MuteFs
from pty_term import LIMIT, Term
from serving import until

NULL = ["-p", "null", "-b"]
# What names a file to be read, and one to be written, as arguments of the program. X is the name.
READS = {
    "script": [*NULL, "-e", "script X"],
    "-f lua": [*NULL, "-f", "X.lua"],
    "load": [*NULL, "-e", "load X"],
    "theme load": [*NULL, "-e", "theme load X"],
    "-T": [*NULL, "-T", "X"],
    "pattern.file": [*NULL, "-e", "set 0 pattern.file X"],
    "request.file": [*NULL, "-e", "set 0 request.file X"],
    "token file": [*NULL, "-g", "127.0.0.1:0", "--token-file", "X"],
    "token of attach": ["attach", "127.0.0.1:9", "--token-file", "X"],
    "pcap rx": ["-b", "-p", "pcap:rx=X"],
    "dofile": [*NULL, "-e", "lua 'dofile(\"X\")'"],
    "loadfile": [*NULL, "-e", "lua 'assert(loadfile(\"X\"))'"],
    "require": [*NULL, "-e", "lua 'package.path = \"X\" require \"some\"'"],
}
WRITES = {
    "save": [*NULL, "-e", "save X"],
    "theme save": [*NULL, "-e", "theme save X"],
    "latency save": ["-p", "wire", "-b", "-e", "set 0 frame eth/ipv4/udp; set 0 probe on; set 0 count 10; start 0; wait 0; latency save X"],
    "-l": [*NULL, "-l", "X"],
    "--report": [*NULL, "--report", "X"],
    "--pid-file": ["-p", "null", "--serve", "--socket=S", "--pid-file", "X"],
    "pcap tx": ["-b", "-p", "pcap:tx=X"],
}


def named(args, name, folder):
    return [a.replace("X", str(name)) if "X" in a else a.replace("=S", f"={folder}/s") for a in args]


def make(kind, path):
    """Something of this kind at the path; what it is called in a refusal."""
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as s:
            s.bind(str(path))
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(kind)
        kind = "device"
    return f"it is a {kind}"


@pytest.mark.parametrize("kind", ["pipe", "socket", "folder", "/dev/zero", "/dev/tty", "/dev/null"])
@pytest.mark.parametrize("what", [*READS, *WRITES])
def test_what_is_no_regular_file_is_refused(tmp_path, what, kind):
    """At once, in words, and nothing was read from it, written to it, or put in its place."""
    where = tmp_path / ("it.lua" if what == "-f lua" else "it")
    says = make(kind, where)
    before = sorted(os.listdir(tmp_path)), os.lstat(where)
    r = harness.run(named({**READS, **WRITES}[what], tmp_path / "it", tmp_path))
    if kind.startswith("/dev") and what in ("token file", "token of attach", "--pid-file"):
        says = "it is a link"  # which those never follow
    assert r.returncode in (2, 3, 5) and str(where) in r.stderr and says in r.stderr, r.stderr
    now = os.lstat(where)
    assert sorted(f for f in os.listdir(tmp_path) if not f.startswith("s")) == before[0]
    assert (now.st_ino, now.st_mode) == (before[1].st_ino, before[1].st_mode)


@pytest.mark.parametrize("what,most", [("script", "16 MiB"), ("load", "64 MiB"), ("theme load", "64 MiB"), ("-T", "64 MiB"), ("-f", "64 MiB"),
                                       ("pattern.file", "2046 bytes"), ("request.file", "16 MiB"), ("dofile", "16 MiB"), ("loadfile", "16 MiB"),
                                       ("require", "16 MiB")])
def test_a_refusal_names_the_limit(tmp_path, what, most):
    """A size that is known, and one that shows itself only while the file is read."""
    huge = tmp_path / "huge"
    with open(huge, "wb") as f:
        f.truncate(1 << 40)
    r = harness.run(named({"-f": [*NULL, "-f", "X"], **READS}[what], huge, tmp_path))
    assert r.returncode == 2 and most in r.stderr and str(huge) in r.stderr, r.stderr


def test_the_limit_of_a_file_whose_size_is_not_told():
    r = harness.run([*NULL, "-e", "set 0 pattern.file /proc/self/smaps"])
    assert r.returncode == 2 and "2046 bytes" in r.stderr, r.stderr


def test_a_file_that_somebody_holds_open_for_himself(tmp_path):
    """A lease of another process: open() would wait for it for 45 s."""
    leased = tmp_path / "leased"
    leased.write_text("show ports\n")
    fd = os.open(leased, os.O_RDONLY)
    try:
        fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)  # ignored: nothing is given back
        try:
            fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        except OSError as e:
            pytest.skip(f"no leases here: {e}")
        r = harness.run([*NULL, "-l", str(leased)])
        assert r.returncode == 2 and str(leased) in r.stderr, r.stderr
    finally:
        os.close(fd)


def test_a_command_file_may_be_a_pipe(tmp_path):
    """-f alone: it is read before anything starts, and ends at a signal while it waits for a writer."""
    assert "null0" in good([*NULL, "-f", "/dev/stdin"], stdin="show ports\n").stdout
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for signo in (signal.SIGTERM, signal.SIGINT):
        p = subprocess.Popen([harness.binary(), *NULL, "-f", str(fifo)], stdin=subprocess.DEVNULL, preexec_fn=hears)
        try:
            until(lambda: "fifo" in waits_in(p.pid) or "wait_for_partner" in waits_in(p.pid), "waits for a writer")
            p.send_signal(signo)
            assert p.wait(LIMIT) == -signo
        finally:
            p.kill()
            p.wait()
    p = subprocess.Popen([harness.binary(), *NULL, "-f", str(fifo)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    fifo.write_text("show ports\n")
    assert "null0" in p.communicate(timeout=LIMIT)[0] and p.returncode == 0


def hears():
    """Whoever runs the tests in the background may have them ignored."""
    for signo in (signal.SIGINT, signal.SIGHUP):
        signal.signal(signo, signal.SIG_DFL)


def waits_in(pid):
    with open(f"/proc/{pid}/wchan", encoding="ascii") as f:
        return f.read()


# What a save writes, and through which links


@pytest.fixture
def protected_links(tmp_path_factory):
    """The kernel's rule for links in folders where everybody may write. Of all workers of a run one at a time has it."""
    path = "/proc/sys/fs/protected_symlinks"
    with open(tmp_path_factory.getbasetemp().parent / "protected_links", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            with open(path, "r+", encoding="ascii") as f:
                was = f.read()
                f.seek(0)
                f.write("1\n")
        except OSError as e:
            pytest.skip(f"cannot set {path}: {e}")
        yield
        with open(path, "w", encoding="ascii") as f:
            f.write(was)


@pytest.mark.parametrize("target", ["there", "nothing there"])
@pytest.mark.parametrize("what", ["save", "theme save", "latency save", "--report", "-l", "--pid-file"])
def test_a_planted_link_is_not_followed(tmp_path, protected_links, what, target):
    """In a sticky folder somebody else has put a link: the kernel refuses it to everybody but him."""
    tmp_path.chmod(0o755)
    folder, secret = tmp_path / "open", tmp_path / "secret"
    folder.mkdir()
    folder.chmod(0o1777)
    if target == "there":
        secret.write_text("mine\n")
    (folder / "link").symlink_to(secret)
    os.chown(folder / "link", 65534, 65534, follow_symlinks=False)
    r = harness.run(named(WRITES[what], folder / "link", tmp_path))
    assert r.returncode in (2, 3) and "cannot write" in r.stderr and str(folder / "link") in r.stderr, r.stderr
    assert secret.read_text() == "mine\n" if target == "there" else not secret.exists()
    assert os.listdir(folder) == ["link"]


def test_a_link_of_ones_own_is_followed_as_the_kernel_does(tmp_path):
    """Through folders that are links too, and to a file that is not there yet; what fails leaves nothing."""
    (tmp_path / "real").mkdir()
    (tmp_path / "way").symlink_to("real")
    (tmp_path / "link").symlink_to("way/file")
    for _ in range(2):
        good([*NULL, "--report", str(tmp_path / "link"), "-e", f"save {tmp_path}/link"])
        assert (tmp_path / "link").is_symlink() and os.listdir(tmp_path / "real") == ["file"]
    (tmp_path / "real" / "file").unlink()
    r = harness.run([*NULL, "--report", str(tmp_path / "link"), "-p", "bogus:x"])
    assert r.returncode != 0 and os.listdir(tmp_path / "real") == []


# --pid-file


@pytest.mark.parametrize("text", ["a line of a user\n", "12 34\n", "0x12\n", " 12\n", "12\n\n", "1" * 40, "-5\n"])
def test_a_pid_file_takes_the_place_of_a_number_alone(tmp_path, text):
    path = tmp_path / "file"
    path.write_text(text)
    r = harness.run(named(WRITES["--pid-file"], path, tmp_path))
    assert r.returncode == 3 and str(path) in r.stderr and "left as it is" in r.stderr, r.stderr
    assert path.read_text() == text


@pytest.mark.parametrize("text", ["", "1", "4194304\n"])
def test_a_pid_file_of_another_run(tmp_path, text):
    path = tmp_path / "file"
    path.write_text(text)
    p = subprocess.Popen([harness.binary(), *named(WRITES["--pid-file"], path, tmp_path)], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until(lambda: path.read_text() == f"{p.pid}\n", "its number")
        p.terminate()
        assert p.wait(LIMIT) == -signal.SIGTERM and not path.exists()
    finally:
        p.kill()
        p.wait()


# A signal ends the program, whatever holds it


def fill(fd):
    """A pipe that takes nothing more."""
    os.set_blocking(fd, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(fd, b"x" * 4096)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(fd, b"x")
    os.set_blocking(fd, True)


def ends_by(p, signo):
    try:
        p.send_signal(signo)
        assert p.wait(LIMIT) == -signo
    finally:
        p.kill()
        p.wait()


class Ending:
    """Programs by name. One after the other begins and gets a signal, and they spend side by side the two seconds after which a program asks nobody
    any more. What still runs in the end is ended, with what it has started itself."""

    def __init__(self):
        self.programs = {}

    def start(self, name, args, begun, signo, **kw):
        p = self.programs[name] = subprocess.Popen([harness.binary(), *args], stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=hears,
                                                   **kw)
        until(begun, f"{name}: begun")
        p.send_signal(signo)

    def all_by(self, signo):
        assert {name: p.wait(LIMIT) for name, p in self.programs.items()} == {name: -signo for name in self.programs}


@pytest.fixture
def ending():
    made = Ending()
    yield made
    for p in made.programs.values():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(p.pid, signal.SIGKILL)
        p.wait()


HELD_BY_A_PIPE = {
    "io.open to read": "lua 'MARK io.open(\"X\")'",
    "io.open to write": "lua 'MARK io.open(\"X\", \"w\")'",
    "io.lines": "lua 'MARK for line in io.lines(\"X\") do end'",
    "io.popen": "lua 'MARK io.popen(\"exec cat X\"):read()'",
    "os.execute": "lua 'MARK os.execute(\"exec cat X\")'",
}


@pytest.mark.parametrize("signo", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_script_that_waits_for_a_pipe(tmp_path, ending, signo):
    for i, (what, text) in enumerate(HELD_BY_A_PIPE.items()):
        fifo = tmp_path / f"fifo{i}"  # of its own: who reads would be let go by who writes
        os.mkfifo(fifo)
        mark = tmp_path / f"mark{i}"
        text = text.replace("MARK", f'io.open("{mark}", "w"):close()').replace("X", str(fifo))
        ending.start(what, [*NULL, "-e", text], mark.exists, signo)
    ending.all_by(signo)


@pytest.mark.parametrize("screen", [False, True])
def test_a_signal_ends_a_script_that_waits_on_a_terminal(tmp_path, screen):
    """The terminal is given back."""
    os.mkfifo(tmp_path / "fifo")
    with Term(tmp_path, "-p", "null", *([] if screen else ["--no-screen"])) as t:
        t.prompt().type(f"lua 'io.open(\"{tmp_path}/mark\", \"w\"):close() io.open(\"{tmp_path}/fifo\")'\r")
        t.until((tmp_path / "mark").exists, "begun")
        t.proc.terminate()
        assert t.ends() == -signal.SIGTERM
        t.terminal_is_back()


@pytest.mark.parametrize("signo", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("how", [["-e", "show settings"], ["--json", "-e", "show settings"], ["--csv", "-e", "show settings"], ["-e", "help"],
                                 ["-e", "lua 'print(1) wr.sleep(0) print(2)'"], ["-k", "-e", "no such command"],
                                 ["--json-stream", "-e", "show ports"]],
                         ids=lambda how: " ".join(how))
def test_a_signal_ends_a_program_whose_reader_takes_nothing(tmp_path, how, signo):
    """Standard output and standard error are a pipe that is full."""
    r, w = os.pipe()
    fill(w)
    p = subprocess.Popen([harness.binary(), *NULL, "-e", f"save {tmp_path}/mark", *how], stdin=subprocess.DEVNULL, stdout=w, stderr=w,
                         preexec_fn=hears)
    os.close(w)
    try:
        until((tmp_path / "mark").exists, "begun")
        ends_by(p, signo)
    finally:
        os.close(r)


def mute_folder(folder):
    try:
        return MuteFs(folder)
    except OSError as e:
        pytest.skip(f"cannot make a file system: {e}")


@pytest.fixture
def mute(tmp_path):
    (tmp_path / "mute").mkdir()
    made = mute_folder(tmp_path / "mute")
    yield made
    made.close()


def test_a_signal_ends_a_program_that_waits_for_a_file_server(tmp_path, ending):
    """In the middle of every verb and option that reads or writes a file."""
    more = {"-f": [*NULL, "-f", "X"], "io.read": [*NULL, "-e", "lua 'io.open(\"X\"):read()'"]}
    written = ("save", "theme save", "latency save", "--report", "--pid-file")
    held = {**{what: args for what, args in READS.items() if what != "-f lua"}, **more, **{what: WRITES[what] for what in written}}
    with contextlib.ExitStack() as servers:
        for i, (what, args) in enumerate(held.items()):
            (tmp_path / f"mute{i}").mkdir()
            mute = servers.enter_context(contextlib.closing(mute_folder(tmp_path / f"mute{i}")))
            ending.start(what, named(args, mute.path(), tmp_path), mute.held.is_set, signal.SIGTERM, stderr=subprocess.DEVNULL)
        ending.all_by(signal.SIGTERM)


@pytest.mark.alone("within 3 s")
def test_a_signal_ends_it_within_3_s(tmp_path, mute):
    p = subprocess.Popen([harness.binary(), *NULL, "-e", f"script {mute.path()}"], stdin=subprocess.DEVNULL)
    until(mute.held.is_set, "held")
    with harness.Stopwatch() as watch:
        ends_by(p, signal.SIGTERM)
        assert watch.seconds() < 3
