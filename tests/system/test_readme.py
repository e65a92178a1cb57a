# SPDX-License-Identifier: BSD-3-Clause
"""What the documents for users show is run as printed, and what comes is compared with what they show (readme_blocks.py).

Every fenced block has an entry in BLOCKS by the begin of its first line, which says what it is. Sessions, blocks with the prompt,
are typed at the prompt of a terminal, and piped in as pasted, prompts included. Lines for a shell run without a terminal, and are
typed at a shell's prompt. What cannot run here is in CANNOT_RUN with the reason.
"""
import json
import os
import re
import shutil
import socket
import subprocess
import sys

import harness
import pytest
import readme_blocks
from pty_term import ALTERNATE, Term, environment
from readme_blocks import TOP, blocks, first_difference, is_shown, session

SHELL = "sh$ "
LIMIT_S = 60
NOTES = re.compile(r"^(?:wirerate: )?(?:tester limited: |remote socket: |warning: port 0: 'tcp.mss').*\n", re.M)

REPLY = re.compile(r"^port \d+: [\d.]+[kMG]?pps = .*(?:\n  .*)*\n?", re.M)  # what a rate comes to, told to persons alone

CANNOT_RUN = {
    "$ wirerate -p wire -b -f examples/lua/sweep.lua": "20 trials of a second, repeated where the machine is busy; test_examples.py runs it",
    "./dev run     # builds": "it builds; what it runs then is every other block, and ./dev test runs this one",
}
BLOCKS = {
    "$ ./dev run": "session",
    "wirerate> ": "session",
    "$ ./dev run --json -b -e 'set 0 count 1000": "shell",
    "set 0 frame eth/vlan/mpls/mpls": "commands",
    "stream add 0 3": "commands",
    "set wire limit": "commands",
    "theme load light": "commands",
    "tshark -X lua_script": "tshark",
    "$ wirerate -p wire -b -e 'set 0 probe on": "shell",
    "local wr = require": "lua",
    "/ <main>": "page main",
    "\\ <queues>": "page queues",
    "$ ./dev run -p wire -b -e 'set all frame": "trial",
    "wirerate -p wire -b --json -e": "json",
    "wirerate --daemon": "daemon",
    "$ ./dev run -p wire --socket &": "socket",
    "import wirerate": "python",
}


def kind(block):
    """Of the longest entry that its first line begins with."""
    fitting = [begin for begin in BLOCKS if block.first.startswith(begin)]
    return BLOCKS[max(fitting, key=len)] if fitting else None


def of_kind(*kinds):
    found = [b for b in blocks() if kind(b) in kinds]
    return pytest.mark.parametrize("block", found, ids=[b.where for b in found])


@pytest.fixture
def place(tmp_path):
    """A folder as somebody has it who read the document: `./dev`, `wirerate` on the path, the examples."""
    program = f'exec "{harness.binary()}" "$@"\n'
    for path, text in (("dev", f'#!/bin/sh\n[ "$1" = run ] || exit 2\nshift\n{program}'), ("bin/wirerate", f"#!/bin/sh\n{program}")):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
        (tmp_path / path).chmod(0o755)
    (tmp_path / "examples").symlink_to(TOP / "examples")
    return tmp_path


def settings(place):
    return {"PATH": f"{place}/bin:{os.environ['PATH']}", "XDG_RUNTIME_DIR": str(place), "PYTHONPATH": str(TOP / "examples/python"),
            "TERM": "xterm", "PS1": SHELL}


def batch(place, command, codes=(0,), prefix=()):
    """Without a terminal: what it printed, in order."""
    r = subprocess.run([*prefix, "bash", "-c", command], cwd=place, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       text=True, timeout=LIMIT_S, env=environment(place, **settings(place)))
    assert r.returncode in codes, f"{command}: exit code {r.returncode}\n{r.stdout}"
    return NOTES.sub("", r.stdout)


class Shell(Term):
    """An interactive shell. Root's sockets lie in a folder of the whole machine: it gets one of its own."""

    def __init__(self, place):
        bash = ["bash", "--norc", "--noprofile", "-i"]
        if os.geteuid() == 0:
            own = 'mount -t tmpfs tmpfs /run && exec "$@"'
            if subprocess.run(["unshare", "-m", "sh", "-c", own, "-", "true"], check=False, capture_output=True).returncode != 0:
                pytest.skip("root needs a mount namespace of its own")
            bash = ["unshare", "-m", "sh", "-c", own, "-", *bash]
        super().__init__(place, cmd=["sh", "-c", f'cd "{place}" && exec "$@"', "-", *bash], cols=240, rows=110, **settings(place))
        self.until(lambda: self.last() == SHELL, "the shell's prompt")

    def run(self, line):
        """A line typed; what stands on the terminal when the shell asks for the next one."""
        self.type("clear\r").until(lambda: self.lines()[0] == SHELL.rstrip() and self.last() == SHELL, "an empty terminal")
        self.type(line + "\r").until(lambda: self.last() == SHELL and self.screen.cursor.y > 0 and ALTERNATE not in self.screen.mode,
                                     "the shell's prompt again")
        lines = self.lines()
        return NOTES.sub("", "\n".join(lines[1:self.screen.cursor.y]) + "\n")


def shell_lines(block):
    """(command, shown) of a block with `$` before its commands, or of one with nothing but commands."""
    if not block.first.startswith("$ "):
        return [(line, None) for line in block.lines]
    out = []
    for line in block.lines:
        if line.startswith("$ "):
            out.append((line[2:], []))
        else:
            out[-1][1].append(line)
    return [(command, "\n".join(shown)) for command, shown in out]


# There once a second of the clock has passed while frames were sent.
PEAKS = re.compile(r"^max [tr]x (?:pps|l1 bit/s) .*\n", re.M)


def check(shown, came):
    came = harness.without_lateness(came)
    if not PEAKS.search(shown):
        came = PEAKS.sub("", came)
    assert is_shown(shown, came), first_difference(shown, came)


def test_every_block_is_known():
    unknown = [f"{b.where}: {b.first}" for b in blocks() if kind(b) is None and not any(b.first.startswith(c) for c in CANNOT_RUN)]
    assert not unknown, "blocks without an entry in test_readme.py:\n" + "\n".join(unknown)
    stale = [begin for begin in [*BLOCKS, *CANNOT_RUN] if not any(b.first.startswith(begin) for b in blocks())]
    assert not stale, f"entries that no block has: {stale}"


def sessions():
    """Blocks of one document that follow each other are one session: (options, [(typed, shown)])."""
    found = []
    for b in blocks():
        if kind(b) != "session":
            continue
        begins = b.first.startswith("$ ./dev run")
        if begins or not found or found[-1][0] != b.path:
            found.append((b.path, b.where, b.first.split()[3:] if begins else [], []))
        found[-1][3].extend(session(b.lines))
    return pytest.mark.parametrize("options, lines", [f[2:] for f in found], ids=[f[1] for f in found])


@sessions()
def test_session_in_batch(options, lines, tmp_path):
    """Pasted as it stands, prompts included; a refused line is part of it."""
    text = "".join(f"wirerate> {typed}\n" for typed, _ in lines)
    r = subprocess.run([harness.binary(), *options, "-k"], input=text, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                       timeout=LIMIT_S, env=environment(tmp_path))
    came = NOTES.sub("", re.sub(r"^stdin:\d+: ", "", r.stdout, flags=re.M))
    assert r.returncode in (0, 2), came
    check(REPLY.sub("", "\n".join(shown for _, shown in lines)), came)


def plain(raw):
    return re.sub(r"\x1b(?:\[[0-9;?]*[A-Za-z]|[=>78]|\([B0])|\r", "", raw.decode(errors="replace"))


@sessions()
def test_session_in_a_terminal(options, lines, place):
    """Typed at the prompt of the full screen, which leaves everything on the terminal when it is left."""
    with Term(place, *options, cols=240, rows=50) as t:
        t.prompt()
        for typed, _ in lines:
            t.type(typed).line_is(typed).type("\r").prompt()
        t.type("quit\r")
        assert t.ends() == 0
        came = NOTES.sub("", plain(t.raw[t.raw.rindex(b"\x1b[?1049l"):]))
    check("\n".join(f"wirerate> {typed}\n{shown}" for typed, shown in [*lines, ("quit", "")]), came)


@of_kind("shell")
def test_shell_in_batch(block, place):
    for command, shown in shell_lines(block):
        if "| jq " in command and not shutil.which("jq"):
            pytest.skip("needs jq")
        came = batch(place, command)
        if shown:
            check(shown, came)


@of_kind("shell")
def test_shell_in_a_terminal(block, place):
    with Shell(place) as t:
        for command, shown in shell_lines(block):
            if "| jq " in command and not shutil.which("jq"):
                pytest.skip("needs jq")
            came = t.run(command)
            if shown:
                check(shown, came)


@of_kind("commands")
def test_command_file(block, place):
    (place / "block.cmds").write_text(block.text)
    batch(place, "wirerate -p wire -b -f block.cmds")
    prompts = "".join(f"wirerate> {line}\n" for line in block.lines)
    (place / "pasted.cmds").write_text(prompts)
    batch(place, "wirerate -p wire -b < pasted.cmds")


@of_kind("lua")
def test_lua(block, place):
    """The machine decides whether the trial at its end is valid, and whether all frames of it came."""
    (place / "block.lua").write_text(block.text)
    came = batch(place, "wirerate -p wire -b -f block.lua", codes=(0, 1, 4))
    assert len(re.findall(r"^\d\s+\d+\s+\d+$", came, re.M)) == 2 and "traceback" not in came, came


@of_kind("tshark")
def test_tshark(block, place):
    if not shutil.which("tshark"):
        pytest.skip("needs tshark")
    batch(place, "wirerate -p pcap:tx=file.pcap -b -e 'set 0 probe on; set 0 count 10; start 0; wait 0'")
    for command, _ in shell_lines(block):
        fields = command.count(" -e ")
        came = batch(place, command, prefix=harness.for_scripts_of_tshark())
        assert len(re.findall(r"^\d+" + r"\t\d+" * (fields - 1) + r"$", came, re.M)) == 10


@of_kind("trial")
def test_trial(block, place):
    """What the verdict is, and with it some rows, is the machine's affair; the rest is there in this order."""
    (command, shown), = shell_lines(block)
    with Shell(place) as t:
        came = [batch(place, command, codes=(0, 4)), t.run(command)]
    for text in came:
        labels = [re.match(r"\S+(?: \S+)*", line)[0] for line in shown.splitlines()[:-1]]
        at = 0
        for label in labels:
            found = re.search(rf"^{re.escape(label)}\s", text[at:], re.M)
            assert found, f"no {label!r} behind {text[:at]}\nin {text}"
            at += found.start()
        if re.search(r"^verdict +valid$", text, re.M):
            check(shown, text)


@of_kind("json")
def test_json(block, place):
    for command, _ in shell_lines(block):
        with Shell(place) as t:
            t.run(command + " > out.json 2> /dev/null")
        for line in (place / "out.json").read_text().splitlines():
            harness.document(line)
        report = re.search(r"--report (\S+)", command)
        if report:
            harness.document((place / report[1]).read_text())


def page_of(block):
    """What stands above the rule: the page; below it: messages and what was typed."""
    rule = next((i for i, line in enumerate(block.lines) if line.startswith("──")), len(block.lines))
    return block.lines[:rule], [line for line in block.lines[rule + 1:-1] if line != "wirerate>"]


MAPS = "-m '1:1.0*4' -m '1:1.1*4'"


@of_kind("page main", "page queues")
def test_page(block, place):
    """The same rows and columns, in the same order; a document may leave some out."""
    if len(harness.cpus()) < 2:
        pytest.skip("needs two CPUs")
    page, below = page_of(block)
    typed = "".join(f"wirerate> {line}\n" for line, _ in session(below) if line)
    (place / "typed").write_text(typed + f"wirerate> show {kind(block)}\n")
    width = max(len(line) for line in page)
    came = batch(place, f"COLUMNS={width} wirerate -p wire {MAPS} < typed")
    check(REPLY.sub("", "\n".join(shown for _, shown in session(below))) + "\n...", came)
    if kind(block) == "page main":
        labels = [line.split(":")[0].rstrip() for line in page if ":" in line[:19]]
        there = iter([line.split(":")[0].rstrip() for line in came.splitlines()])
        missing = [label for label in labels if label not in there]
        assert len(labels) > 10 and not missing, f"{missing}\n{came}"
    else:
        assert [word for line in page[1:3] for word in line.split()] == \
            [word for line in came.splitlines() if re.match(r"Port +Rx|  Queue", line) for word in line.split()], came
        assert len(re.findall(r"^  [01] q[0-3] ", came, re.M)) == sum(bool(re.match(r"  [01] q[0-3] ", line)) for line in page)


@of_kind("daemon")
def test_daemon(block, place):
    with Shell(place) as t:
        for command, _ in shell_lines(block):
            if re.search(r"attach\s+#", command):
                t.type(command + "\r").prompt().type("quit\r").until(lambda: t.last() == SHELL, "the shell's prompt again")
            else:
                came = t.run(command)
                assert "attach" not in command or harness.document(came.replace("\n", ""))["show"] == "rates", came
        t.run("wirerate attach -b -e shutdown")


def answer(text, number):
    """The whole answer to a request, of the lines of a terminal; None: it has not come to its end."""
    begin = re.search(rf'^{{"id":{number},"ok"', text, re.M)
    rest = text[begin.start():].replace("\n", "") if begin else ""
    try:
        return rest[:json.JSONDecoder().raw_decode(rest)[1]]
    except ValueError:
        return None


@of_kind("socket")
def test_socket(block, place):
    """In the background of a shell it serves, without a prompt; what is sent to the socket is answered as shown."""
    lines = shell_lines(block)
    (place / "bin/socat").write_text(f"#!/bin/sh\nexec '{sys.executable}' '{os.path.abspath(__file__)}' \"$2\"\n")
    (place / "bin/socat").chmod(0o755)
    with Shell(place) as t:
        t.type(lines[0][0] + "\r").shows("remote socket: ")
        path = next(line.split("remote socket: ")[1] for line in t.lines() if "remote socket: " in line)
        assert re.search(r"UNIX-CONNECT:\S+/wirerate/wirerate.sock$", lines[1][0]) and path.endswith("/wirerate/wirerate.sock")
        t.shows("in the background")
        t.type("stty -echo; clear\r" + re.sub(r"UNIX-CONNECT:\S+", f"UNIX-CONNECT:{path}", lines[1][0]) + "\r")
        shown = lines[1][1].splitlines()
        t.shows('"protocol":1')
        for i, line in enumerate(shown):
            if re.match(r'\{"id":\d+,"(?:cmd|lua|subscribe)"', line):
                number = json.loads(line)["id"]
                t.type(line + "\r").until(lambda: answer(t.text(), number), f"an answer to {line}")
                if i + 1 < len(shown):
                    check(shown[i + 1], answer(t.text(), number))
        t.type("\x04").type("stty echo\r").until(lambda: t.last() == SHELL, "the shell's prompt again")
        t.type("fg\r").prompt().type("quit\r").until(lambda: t.last() == SHELL, "the shell's prompt again")


@of_kind("python")
def test_python(block, place):
    (place / "block.py").write_text(block.text)
    with Shell(place) as t:
        t.run("wirerate --daemon -p wire")
        came = t.run(f"'{sys.executable}' block.py")
        t.run("wirerate attach -b -e shutdown")
    assert re.fullmatch(r"[a-z-]+ \d+\n", came), came


def test_shapes():
    """The rule by which texts are compared."""
    same = [("12 frames", "99'000 frames"), ("1.488Mpps = 10%", "14.88kpps = 3.1%"), ("a ... z", "a b c z"), ("a ... z", "a z"),
            ("x\n  y", "x y"), ('{"a":1,...}', '{"a":1,"b":[2, 3]}'), ("...", ""), ("one every 672 ns;", "one every 1 ns;"),
            ("p50 16ns -", "p50 1.2us -")]
    other = [("12 frames", "frames"), ("a b", "a"), ("a", "a b"), ("192.168.0.1", "192.168.0.2"), ("02:77", "02:78"), ("port 0: x", "port 1: x"),
             ("0xf7b0", "0xf7b1"), ("wire0", "wire1"), ("- 5", "4 5"), ("-f -5", "-f")]
    assert [pair for pair in same if not is_shown(*pair)] == [] and [pair for pair in other if is_shown(*pair)] == []
    assert readme_blocks.session(["x", "wirerate> a", "b", "wirerate> c"]) == [("a", "b"), ("c", "")]


def talk(path):
    """What socat does: standard input to a socket, and back."""
    with socket.socket(socket.AF_UNIX) as s, s.makefile("r") as answers:
        s.connect(path)
        print(answers.readline(), end="", flush=True)
        while True:
            line = os.read(0, 65536)
            if not line:
                return
            s.sendall(line)
            print(answers.readline(), end="", flush=True)


if __name__ == "__main__":
    talk(sys.argv[1].split(":", 1)[1])
