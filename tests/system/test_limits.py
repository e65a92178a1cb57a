# SPDX-License-Identifier: BSD-3-Clause
"""Where a limit of the process leaves too little, it says so and exits with 3: no signal ends it, and no other reason is given."""
import contextlib
import os
import re
import socket
import signal
import subprocess

import pytest

import harness
from pty_term import BIN, Term

NOBODY = 47123  # a user who runs nothing else, so that its count of threads is ours
OF_DESCRIPTORS = re.compile(r"file descriptors, and \d+ are left of the \d+ that this process may have; `ulimit -n (\d+)`|Too many open files")
COMMANDS = "set 0 count 10; start 0; wait 0; lua 'print(1)'; show ports"
FIVE = ["--lcores", "0@{0},1@{0},2@{0},3@{0},4@{0}".format(harness.cpus()[0]), "--"]
LUA = "local wr = require 'wirerate'\nwr.port[0].count = 10\nwr.start(0)\nwr.wait(0)\nprint(wr.stats().ports[0].run.sent)\n"
PLACES = {
    "batch": ["-p", "wire", "-b", "-e", COMMANDS],
    "one shot": ["-p", "wire", "-e", COMMANDS],
    "from a pipe": ["-p", "wire"],
    "a script": ["-p", "wire", "-b", "-f", "L.lua"],
    "several ports": ["-p", "wire", "-p", "null", "-p", "wire", "-b", "-m", "1.0-4", "-e", COMMANDS],
    "more workers": [*FIVE, "-p", "wire", "-b", "-e", COMMANDS],
    "a remote socket": ["-p", "wire", "-b", "--socket=S", "-e", COMMANDS],
    "over TCP": ["-p", "wire", "-b", "-g", "127.0.0.1:0", "--token-file", "T", "-e", COMMANDS],
    "a stream and a report": ["-p", "wire", "-b", "--json-stream", "--report", "R", "-e", COMMANDS],
    "a log": ["-p", "wire", "-b", "-l", "R", "-e", COMMANDS],
    "no interface": ["-p", "packet:nosuch0", "-b"],
}


def limited(args, n, what="nofile", prefix=(), **kw):
    """A run under this limit, without a core file."""
    return harness.run(args, prefix=["prlimit", "--core=0:0", f"--{what}={n}:{n}", *prefix], **kw)


def libraries_lack(r):
    """Not the program's: the loader has not found room for a library."""
    return r.returncode == 127 and "error while loading shared libraries" in r.stderr


def upwards(numbers, run, last, least=1):
    """run(n) for each, which says whether that was enough. Once it was it stays so: of those above, `least` and the last tell as much as all."""
    well = 0
    for n in [*numbers, last]:
        if well >= least and n != last:
            continue
        enough = run(n)
        assert enough or well == 0, n
        well += enough
    assert well


@pytest.mark.parametrize("place", PLACES)
def test_every_number_of_descriptors(need, tmp_path, place):
    need("prlimit")

    def run(n):
        folder = tmp_path / str(n)
        folder.mkdir(mode=0o700)
        (folder / "L.lua").write_text(LUA)
        stdin = COMMANDS if place == "from a pipe" else None
        r = limited([re.sub(r"^(--socket=)?([SRT]|L\.lua)$", rf"\g<1>{folder}/\2", a) for a in PLACES[place]], n, stdin=stdin)
        told = OF_DESCRIPTORS.search(r.stderr)
        assert r.returncode >= 0, (n, r.returncode, r.stderr)
        if place == "no interface" and "no interface 'nosuch0'" in r.stderr:
            return True
        if r.returncode == 0:
            assert r.stdout, (n, r.stderr)
            return True
        assert libraries_lack(r) or (r.returncode == 3 and told), (n, r.returncode, r.stderr)
        assert told is None or told.group(1) is None or int(told.group(1)) >= 64
        return False

    # the last one is enough with hugepages, too, each of which has a descriptor
    upwards(*((range(3, 64), run, 512, 3) if place == "batch" else (range(3, 64, 3), run, 512)))


def test_what_it_advises_is_enough(need):
    need("prlimit")
    r = limited(["-p", "wire", "-b", "-e", COMMANDS], 20)
    assert r.returncode == 3, r.stderr
    advised = int(OF_DESCRIPTORS.search(r.stderr).group(1))
    r = limited(["-p", "wire", "-b", "-e", COMMANDS], advised)
    assert r.returncode == 0, r.stderr


def test_a_soft_limit_is_raised(need):
    """EAL would do so too, but too late for itself."""
    need("prlimit")
    r = harness.run(["-p", "wire", "-b", "-e", COMMANDS], prefix=["prlimit", "--nofile=16:4096"])
    assert r.returncode == 0, r.stderr


def test_serve(need, tmp_path):
    """It says why it does not come up, and where it does, clients are served or told that they are too many."""
    need("prlimit")

    def run(n):
        folder = tmp_path / str(n)
        folder.mkdir()
        prefix = ["prlimit", "--core=0:0", f"--nofile={n}:{n}"]
        args = ["-p", "wire", "--serve", f"--socket={folder}/s"]
        p = subprocess.Popen([*prefix, harness.binary(), *args], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             text=True)
        with harness.bounded(p), contextlib.ExitStack() as clients:
            said = line = p.stderr.readline()
            while line and "remote socket" not in line and not OF_DESCRIPTORS.search(line):
                line = p.stderr.readline()
                said += line
            if "remote socket" not in line:
                code = p.wait()
                p.stderr.close()
                assert (code == 3 and OF_DESCRIPTORS.search(said)) or (code == 127 and "loading shared libraries" in said), (n, code, said)
                return False
            for _ in range(n):  # more than it has descriptors for
                clients.enter_context(contextlib.closing(socket.socket(socket.AF_UNIX))).connect(f"{folder}/s")
            clients.close()
            r = harness.run(["attach", f"{folder}/s", "-e", "show ports"])
            assert r.returncode == 0, (n, r.stderr)
            p.terminate()
            assert p.wait() == -signal.SIGTERM
            p.stderr.close()
            return True

    upwards(range(3, 64, 3), run, 64)


def test_attach(need, serve):
    need("prlimit")
    path = serve().path

    def run(n):
        r = limited(["attach", path, "-e", "show ports"], n)
        if r.returncode == 0:
            assert "wire" in r.stdout
            return True
        assert libraries_lack(r) or (r.returncode in (3, 5) and "Too many open files" in r.stderr), (n, r.returncode, r.stderr)
        return False

    upwards(range(3, 24), run, 24, 3)


@pytest.mark.parametrize("how", ["screen", "line"])
def test_on_a_terminal(need, tmp_path, how):
    need("prlimit")

    def run(n):
        cmd = ["prlimit", "--core=0:0", f"--nofile={n}:{n}", harness.binary(), "-p", "wire", *([] if how == "screen" else ["--no-screen"])]
        with Term(tmp_path, cmd=cmd) as t:
            t.until(lambda t=t: b"wirerate>" in t.raw or OF_DESCRIPTORS.search(t.raw.decode(errors="replace")), "a word")
            if b"wirerate>" not in t.raw:
                assert t.ends() == 3
                return False
            t.prompt().type("show ports\r").prompt().type(f"save {tmp_path}/saved\r").prompt().type("quit\r")
            assert t.ends() == 0
            t.terminal_is_back()
            return True

    upwards(range(6, 64, 2), run, 64)


@pytest.mark.parametrize("lcores", [[], FIVE], ids=["its own", "the user's"])
def test_every_number_of_threads(need, tmp_path, lcores):
    """DPDK itself panics where it gets no thread for a worker; which lcores there are the user's own options say."""
    need("prlimit", "setpriv")
    if os.geteuid() != 0:
        pytest.skip("needs root: to become another user")
    as_other = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    args = [*lcores, "-p", "null", "-b", "-e", "show ports"]
    if harness.run(args, prefix=as_other).returncode != 0:
        pytest.skip("another user cannot run the program where it stands")

    def run(n):
        r = limited(args, n, "nproc", as_other)
        if r.returncode == 0:
            return True
        says = r"cannot start a thread: .*ulimit -u|needs \d+ threads, and the system gives \d+: .*ulimit -u|Cannot create thread\n.*ulimit -a"
        assert r.returncode == 3 and re.search(says, r.stderr), (n, r.returncode, r.stderr)
        return False

    most = 12 + len(harness.cpus())
    upwards(range(most), run, most, 2)


def test_memory(need):
    need("prlimit")

    def run(mb):
        r = limited(["-p", "null", "-b", "-e", "show ports"], mb << 20, "as")
        if r.returncode < 0 and mb << 20 < os.path.getsize(BIN):
            return False  # the kernel had no room for the program itself, which may hold DPDK
        assert r.returncode == 0 or libraries_lack(r) or r.returncode == 3 and re.search("memory|ulimit -v", r.stderr), (mb, r.returncode, r.stderr)
        return r.returncode == 0

    upwards((20, 40, 60, 80, 90, 100, 110, 120, 125, 130, 140, 160, 200, 400), run, 1000)
