# SPDX-License-Identifier: BSD-3-Clause
"""What the documents for users show is run as printed, and what comes is compared with what they show (readme_blocks.py).

Sessions, blocks with the prompt, are typed at the prompt of a terminal, and piped in as pasted, prompts included. Lines for a shell run without a
terminal, and are typed at a shell's prompt. Every other fenced block has an entry in BLOCKS by the begin of its first line, which says what it is.
A block of the language `text` is what the block before it shows. What cannot run here is in CANNOT_RUN with the reason.
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import socket
import subprocess
import sys

import harness
import pytest
import readme_blocks
from pty_term import ALTERNATE, Term, environment
from readme_blocks import SHOWN_PROMPT, TOP, blocks, first_difference, is_shown, session

SHELL = "sh$ "
STARTS = "$ ./dev run"
LIMIT_S = 60
NOTES = re.compile(r"^(?:wirerate: )?(?:tester limited: |remote socket: |warning: port 0: 'tcp.mss'|flow [\d/]+: \d+ conn).*\n", re.M)

REPLY = re.compile(r"^port \d+: [\d.]+[kMG]?pps = .*(?:\n  .*)*\n?", re.M)  # what a rate comes to, told to persons alone

CANNOT_RUN = {
    "$ ./dev run doctor 0000:3b:00.0": "it is about a machine that test_doctor.py makes, and is compared there",
    "$ ./dev run -p wire -b -f examples/lua/sweep.lua": "20 trials of a second, repeated where the machine is busy; test_examples.py runs it",
    "$ ./dev run -p wire -b -e 'set wire limit 100kpps queue 256; knee": "where the knee is, is the machine's affair; test_knee.py runs others",
    "$ ./dev run -p wire -b -e 'set 1 flow.src 10.0.0.2; set 0 flow.dst 10.0.0.2; lb": "its figures are the machine's; test_lb.py runs it",
    "examples/lb/lb.sh nft quick": "it needs root, and its figures are the machine's; test_lb.py runs the script",
    "   dpip addr add 10.0.0.1/24": "it is for a balancer of somebody else's",
    "   wirerate -p 0000:aa:00.0 -p 0000:aa:00.1 -f ports": "it needs a balancer between two ports; test_lb.py has devices of its own",
    "lb 0 to 1 figures cps device-cps": "it asks a balancer over the network; test_lb.py asks others",
    "$ ./dev run iperf3 -c 192.0.2.7": "it needs another machine; test_iperf3.py runs it on this one",
    "./dev run     # builds": "it builds; what it runs then is every other block, and ./dev test runs this one",
    "make LDFLAGS=": "it builds dperf, of which nothing is here",
    "export DPERF=": "it needs dperf; test_dperf_peer.py is what it runs",
    "$ ./dev run stacks --runs 5": "it needs root and half a minute; test_stacks.py runs it",
    "$ ./dev run neper tcp_rr -c -H 10.0.0.2": "it needs a server; test_neper.py has both ends",
    "$ ./dev run -p if:eth1 --ip 10.0.0.1/24,10.0.0.254 neper": "it needs a server; test_neper_port.py has both ends",
    "wirerate -p if:eth1 --ip 10.0.0.1/24,10.0.0.254 iperf3": "it needs a server; test_iperf3_port.py and its server's have both ends",
    "WIRERATE_PORTS=if:eth1": "it needs a server; test_neper.py has links on ports that are not there",
    "ln -s \"$(command -v wirerate)\"": "it needs a server; test_neper.py runs a link",
    "wirerate stacks --duration 10s iperf3": "it needs root and minutes; test_stacks.py runs it",
    "wirerate stacks --peer 192.0.2.7": "it needs another machine; test_stacks.py asks this one",
    "git clone https://github.com/google/neper": "it builds neper, of which nothing is here",
}
BLOCKS = {
    "set 0 count 1000000": "paste",
    "set 0 count 0": "paste",
    "build/app/wirerate -p if:eth1": "interface",
    "./dev run -p if:eth1": "interface",
    "set 0 udp.dst default": "commands",
    "set 0 flow client": "commands",
    "set 0,1 frame eth/ipv4/udp/vxlan": "commands",
    "stream add 0 3": "commands",
    "set 0 rate 1Mpps..10Mpps": "commands",
    "set 0 probe on": "commands",
    "set wire limit": "commands",
    "theme load light": "commands",
    "set trial rfc2544": "commands",
    "# pktgen": "kept",
    "HTTP/1.1 200 OK": "kept",
    "./dev run -p pcap:tx=file.pcap": "tshark",
    "local wr = require": "lua",
    'require "Pktgen"': "pktgen",
    "/ <main>": "page main",
    "\\ <queues>": "page queues",
    "$ ./dev run -p wire -b -e 'trial 0": "trial",
    "$ ./dev run -p wire -b -e 'set wire loss 0.1%; trial": "trial",
    "$ ./dev run -p wire -b -e 'set 0 flow client; set 1 flow server; set wire loss 0.1%; trial": "trial",
    "$ ./dev run -p wire -b -e 'capacity 0": "trial",
    "ip link add": "pair",
    "./dev run -p wire -b --json -e": "json",
    "./dev run --daemon": "daemon",
    "$ ./dev run -p wire --socket &": "socket",
    "import wirerate": "python",
    "mode        client": "dperf",
}


def kind(block):
    """By its language, of the longest entry that its first line begins with, or by its prompts."""
    if block.language == "text":
        return "shown"
    fitting = [begin for begin in BLOCKS if block.first.startswith(begin)]
    if fitting:
        return BLOCKS[max(fitting, key=len)]
    if block.first.startswith(SHOWN_PROMPT) or (block.first.startswith(STARTS) and any(line.startswith(SHOWN_PROMPT) for line in block.lines)):
        return "session"
    return "shell" if block.first.startswith("$ ") and not any(block.first.startswith(begin) for begin in CANNOT_RUN) else None


def shown_after(block):
    """What the document shows of a block in the next one; None: nothing."""
    following = [b for b in blocks() if b.path == block.path and b.line > block.line]
    return "\n".join(following[0].lines) if following and kind(following[0]) == "shown" else None


def of_kind(*kinds):
    found = [b for b in blocks() if kind(b) in kinds]
    return pytest.mark.parametrize("block", found, ids=[b.where for b in found])


@pytest.fixture
def place(tmp_path):
    """A folder as somebody has it who read the document: `./dev`, what it built, the examples."""
    (tmp_path / "dev").write_text(f'#!/bin/sh\n[ "$1" = run ] || exit 2\nshift\nexec "{harness.binary()}" "$@"\n')
    (tmp_path / "dev").chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "build").symlink_to(pathlib.Path(harness.binary()).resolve().parents[1])
    (tmp_path / "examples").symlink_to(TOP / "examples")
    return tmp_path


def keep_files(block, place):
    """What the document has told its reader to keep as a file."""
    for b in blocks():
        if b.path == block.path and b.kept:
            (place / b.kept).write_text(b.text)


def settings(place):
    return {"PATH": f"{place}/bin:{os.environ['PATH']}", "XDG_RUNTIME_DIR": str(place), "TERM": "xterm", "PS1": SHELL}


def batch(place, command, codes=(0,), prefix=()):
    """Without a terminal: what it printed, in order."""
    r = subprocess.run([*prefix, "bash", "-c", command], cwd=place, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       text=True, timeout=LIMIT_S, env=environment(place, **settings(place)))
    assert r.returncode in codes, f"{command}: exit code {r.returncode}\n{r.stdout}"
    return NOTES.sub("", r.stdout)


class Shell(Term):
    """An interactive shell. Root's sockets lie in a folder of the whole machine: it gets one of its own."""

    def __init__(self, place, prefix=()):
        self.runs = 0
        bash = [*prefix, "bash", "--norc", "--noprofile", "-i"]
        if os.geteuid() == 0:
            own = 'mount -t tmpfs tmpfs /run && exec "$@"'
            if subprocess.run(["unshare", "-m", "sh", "-c", own, "-", "true"], check=False, capture_output=True).returncode != 0:
                pytest.skip("root needs a mount namespace of its own")
            bash = ["unshare", "-m", "sh", "-c", own, "-", *bash]
        super().__init__(place, cmd=["sh", "-c", f'cd "{place}" && exec "$@"', "-", *bash], cols=240, rows=110, **settings(place))
        self.until(lambda: self.last() == SHELL, "the shell's prompt")

    def run(self, line):
        """A line typed; what stands on the terminal when the shell asks for the next one."""
        self.runs += 1
        begin = f"begins {self.runs}"
        self.type(f"clear; echo {begin}\r").until(lambda: self.lines()[0] == begin and self.last() == SHELL, "an empty terminal")
        self.type(line + "\r").until(lambda: self.last() == SHELL and self.screen.cursor.y > 1 and ALTERNATE not in self.screen.mode,
                                     "the shell's prompt again")
        typed = -(-len(SHELL + line) // self.screen.columns)
        return NOTES.sub("", "\n".join(self.lines()[1 + typed:self.screen.cursor.y]) + "\n")


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


NO_PACE = re.compile(r"  !$", re.M)  # `show rates` marks a port that does not send what is asked: the machine was busy
TICK = re.compile(r" and to its tick of \S+ ns$", re.M)  # of a slow clock


def check(shown, came):
    came = TICK.sub("", NO_PACE.sub("", harness.without_lateness(came)))
    if not PEAKS.search(shown):
        came = PEAKS.sub("", came)
    assert is_shown(shown, came), first_difference(shown, came)
    assert not re.search(r"^ +\d+ +\S+ +sending .* 0 +\S+ +0$", came, re.M), f"rates are shown before there are any:\n{came}"


def test_every_block_is_known():
    unknown = [f"{b.where}: {b.first}" for b in blocks() if kind(b) is None and not any(b.first.startswith(c) for c in CANNOT_RUN)]
    kinds = {path: [kind(b) for b in blocks() if b.path == path] for path in {b.path for b in blocks()}}
    unknown += [f"{path}: nothing shows {after}" for path, all_kinds in kinds.items() for before, after in zip([None, *all_kinds], all_kinds)
                if after == "shown" and before not in ("paste", "pktgen")]
    assert not unknown, "blocks without an entry in test_readme.py:\n" + "\n".join(unknown)
    stale = [begin for begin in [*BLOCKS, *CANNOT_RUN] if not any(b.first.startswith(begin) for b in blocks())]
    assert not stale, f"entries that no block has: {stale}"


def test_each_page_begins_with_an_example():
    for path in sorted((TOP / "docs").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        assert text.startswith("# ") and "\n```" in text.split("\n## ")[0], path.name


def test_the_front_page_is_short():
    assert len((TOP / "README.md").read_text(encoding="utf-8").splitlines()) < 200


def sessions():
    """Blocks of one document that follow each other are one session: (options, [(how, [(typed, shown)])]). How a block comes in: `typed`
    line by line, or as one `paste`, of which all that the document shows stands with its last line."""
    found = []
    for b in blocks():
        if kind(b) not in ("session", "paste"):
            continue
        begins = b.first.startswith(STARTS)
        if begins or not found or found[-1][0] != b.path:
            found.append((b.path, b.where, shlex.split(b.first)[3:] if begins else [], []))
        if kind(b) == "session":
            found[-1][3].append(("typed", session(b.lines)))
        else:
            shown = shown_after(b)
            found[-1][3].append(("paste", [*((line, "") for line in b.lines[:-1]), (b.lines[-1], "..." if shown is None else shown)]))
    return pytest.mark.parametrize("options, parts", [f[2:] for f in found], ids=[f[1] for f in found])


@sessions()
def test_session_in_batch(options, parts, tmp_path):
    """Pasted as it stands, prompts included; a refused line is part of it."""
    text = "".join(f"{SHOWN_PROMPT if how == 'typed' else ''}{typed}\n" for how, lines in parts for typed, _ in lines)
    r = subprocess.run([harness.binary(), *options, "-k"], input=text, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                       timeout=LIMIT_S, env=environment(tmp_path))
    came = NOTES.sub("", re.sub(r"^stdin:\d+: ", "", r.stdout, flags=re.M))
    assert r.returncode in (0, 2), came
    check(REPLY.sub("", "\n".join(shown for _, lines in parts for _, shown in lines)), came)


def plain(raw):
    return re.sub(r"\x1b(?:\[[0-9;?]*[A-Za-z]|[=>78]|\([B0])|\r", "", raw.decode(errors="replace"))


def prompt_in(place, *options):
    """The full screen; files that are saved lie in the folder."""
    return Term(place, cmd=["sh", "-c", f'cd "{place}" && exec "$@"', "-", os.path.abspath(harness.binary()), *options], cols=240, rows=50)


def paste(t, lines):
    """As from the clipboard, whose text seldom ends with the end of a line. All is done when the prompt answers what is typed then."""
    t.type("\x1b[200~" + "\r".join(lines) + "\x1b[201~").line_is(lines[-1]).type("\r").prompt()


PROMPTED = re.compile(rf"^{SHOWN_PROMPT}.*\n", re.M)


@sessions()
def test_session_in_a_terminal(options, parts, place):
    """Typed and pasted at the prompt of the full screen, which leaves everything on the terminal when it is left."""
    with prompt_in(place, *options) as t:
        t.prompt()
        for how, lines in parts:
            if how == "paste":
                paste(t, [typed for typed, _ in lines])
            for typed, _ in lines if how == "typed" else []:
                t.type(typed).line_is(typed).type("\r").prompt()
        t.type("quit\r")
        assert t.ends() == 0
        came = NOTES.sub("", plain(t.raw[t.raw.rindex(b"\x1b[?1049l"):]))
    lines = [*(line for _, lines in parts for line in lines), ("quit", "")]
    assert re.findall(rf"^{SHOWN_PROMPT}(.*)$", came, re.M) == [typed for typed, _ in lines]
    if any(how == "paste" for how, _ in parts):
        check("\n".join(shown for _, shown in lines), PROMPTED.sub("", came))
    else:
        check("\n".join(f"{SHOWN_PROMPT}{typed}\n{shown}" for typed, shown in lines), came)


@of_kind("shell")
def test_shell_in_batch(block, place):
    keep_files(block, place)
    for command, shown in shell_lines(block):
        if "| jq " in command and not shutil.which("jq"):
            pytest.skip("needs jq")
        came = batch(place, command)
        if shown:
            check(shown, came)


@of_kind("shell")
def test_shell_in_a_terminal(block, place):
    keep_files(block, place)
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
    batch(place, "./dev run -p wire -b -f block.cmds")
    prompts = "".join(f"{SHOWN_PROMPT}{line}\n" for line in block.lines)
    (place / "pasted.cmds").write_text(prompts)
    batch(place, "./dev run -p wire -b < pasted.cmds")


@of_kind("commands")
def test_commands_in_a_terminal(block, place):
    """Pasted into the prompt of the full screen; whatever is refused has a caret."""
    with prompt_in(place, "-p", "wire") as t:
        t.prompt()
        paste(t, block.lines)
        t.type("quit\r")
        assert t.ends() == 0
        came = plain(t.raw[t.raw.rindex(b"\x1b[?1049l"):])
    assert not re.search(r"^ *\^ ", came, re.M) and all(f"{SHOWN_PROMPT}{line.strip()}" in came for line in block.lines), came


@of_kind("lua")
def test_lua(block, place):
    """The machine decides whether the trial at its end is valid, and whether all frames of it came."""
    (place / "block.lua").write_text(block.text)
    with Shell(place) as t:
        for came in (batch(place, "./dev run -p wire -b -f block.lua", codes=(0, 1, 4)), t.run("./dev run -p wire -b -f block.lua")):
            assert len(re.findall(r"^\d\s+\d+\s+\d+$", came, re.M)) == 2 and "traceback" not in came, came


@of_kind("pktgen")
def test_pktgen_script(block, place):
    keep_files(block, place)
    command = f"./dev run -p wire -b -f {block.kept}"
    with Shell(place) as t:
        for came in (batch(place, command), t.run(command)):
            check(shown_after(block) or "sent 1000", came)


@of_kind("tshark")
def test_tshark(block, place):
    if not shutil.which("tshark"):
        pytest.skip("needs tshark")
    user = shlex.join(harness.for_scripts_of_tshark())
    with Shell(place) as t:
        for run in (lambda line: batch(place, line), t.run):
            for command, _ in shell_lines(block):
                came = run(f"{user if command.startswith('tshark') else ''} {command} 2> err")
            fields = block.lines[-1].count(" -e ")
            assert len(re.findall(r"^\d+" + r"\s+\d+" * (fields - 1) + r"$", came, re.M)) == 10, came


LINK = ("unshare", "-n", "-m", "sh", "-c", "mount -t sysfs sysfs /sys; ip link add eth1 type veth peer name eth2; "
        'for i in eth1 eth2; do ip link set $i up; done; exec "$@"', "-")


@of_kind("interface")
def test_interface(block, place, namespaces):
    """The first line is for the shell, the others for the prompt; the cable's other end counts what came."""
    command, *lines = block.lines
    (place / "lines").write_text("".join(f"{line}\n" for line in lines))
    count = "; ip -s -j link show eth2"
    frames = re.compile(r'"rx":{[^}]*"packets":(\d+)')
    came = batch(place, f"{command} -b < lines{count}", prefix=LINK)
    sent = r"1'0\d\d" if "--ip" in command else "1'000"  # a host sends frames of its own beside
    assert re.search(rf"^tx packets +{sent}$", came, re.M) and int(frames.search(came)[1]) >= 1000, came
    with Shell(place, prefix=LINK) as t:
        t.type(command + "\r").prompt()
        for line in lines:
            t.type(line).line_is(line).type("\r").prompt()
        t.type("quit\r").until(lambda: t.last() == SHELL and ALTERNATE not in t.screen.mode, "the shell's prompt again")
        assert int(frames.search(t.run(count[2:]).replace("\n", ""))[1]) >= 1000


@of_kind("pair")
def test_pair(block, place, namespaces):
    """Whether the trial at its end is valid is the machine's affair."""
    alone = ("unshare", "-n", "-m", "sh", "-c", 'mount -t sysfs sysfs /sys; exec "$@"', "-")
    came = [batch(place, "; ".join(line for line, _ in shell_lines(block)), codes=(0, 4), prefix=alone)]
    with Shell(place, prefix=alone) as t:
        came.append([t.run(line) for line, _ in shell_lines(block)][-1])
    for text in came:
        sent, received = (re.search(rf"^{label} +([\d']+)$", text, re.M)[1] for label in ("sent", "received"))
        assert re.search(r"^direction +0 -> 1$", text, re.M) and sent == received and re.search(r"^told by +probes$", text, re.M), text
        assert sent == "1'000" or not re.search(r"^verdict +valid$", text, re.M), text


@of_kind("trial")
def test_trial(block, place):
    """What the verdict is, and with it some rows, is the machine's affair; the rest is there in this order."""
    (command, shown), = shell_lines(block)

    def told(run):
        """Where the machine stood still as long as the trial was to last nothing was sent, and some rows are not there."""
        for _ in range(8):
            text = run()
            if not re.search(r"^duration +0ns$", text, re.M):
                break
        return text

    with Shell(place) as t:
        came = [told(lambda: batch(place, command, codes=(0, 4))), told(lambda: t.run(command))]
    for text in came:
        labels = [re.match(r"\S+(?: \S+)*", line)[0] for line in shown.splitlines()[:-1] if line != "..."]
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
            for run in (lambda line: batch(place, line, codes=(0, 4)), t.run):
                run(command + " > out.json 2> /dev/null")
                lines = (place / "out.json").read_text().splitlines()
                assert lines
                for line in lines:
                    harness.document(line)
                report = re.search(r"--report (\S+)", command)
                if report:
                    harness.document((place / report[1]).read_text())
                    (place / report[1]).unlink()


def page_of(block):
    """What stands above the rule: the page; below it: messages and what was typed."""
    rule = next((i for i, line in enumerate(block.lines) if set(line) == {"─"}), len(block.lines))
    return block.lines[:rule], [line for line in block.lines[rule + 1:-1] if line != "wirerate>"]


MAPS = "-m '1:1.0*4' -m '1:1.1*4'"


@of_kind("page main", "page queues")
def test_page(block, place):
    """The same rows and columns, in the same order; a document may leave some out. Rows of a trend below its first have no label."""
    if len(harness.cpus()) < 2:
        pytest.skip("needs two CPUs")
    assert f"`./dev run -p wire {MAPS}`" in block.path.read_text(encoding="utf-8").replace("\n", " ")
    page, below = page_of(block)
    typed = "".join(f"wirerate> {line}\n" for line, _ in session(below) if line)
    (place / "typed").write_text(typed + f"wirerate> show {kind(block)}\n")
    width = max(len(line) for line in page)
    came = batch(place, f"LC_ALL=C.UTF-8 COLUMNS={width} ./dev run -p wire {MAPS} < typed")
    check(REPLY.sub("", "\n".join(shown for _, shown in session(below))) + "\n...", came)
    if kind(block) == "page main":
        name = re.compile(r" *(\S+(?: \S+)*)")  # without the scale of a trend
        labels = [name.match(line[:18])[1] for line in page[1:] if line[18:19] == ":" and line[:18].strip() not in ("", "0")]
        there = iter([found[1] for line in came.splitlines() if (found := name.match(line[:18] if line[18:19] == ":" else line))])
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
                assert "--json" not in command or harness.document(came.replace("\n", ""))["show"] == "rates", came
        assert "no program" in t.run("./dev run attach -b -e 'show rates'"), "the last line of the document ends it"


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


@of_kind("dperf")
def test_dperf_file(block, place):
    """What is shown of its commands below is what they are."""
    keep_files(block, place)
    shell = [b for b in blocks() if b.path == block.path and b.first.startswith("$ ./dev run --dperf")]
    assert len(shell) == 1 and block.kept in shell[0].first
    command, *shown = shell[0].lines
    check("\n".join(shown), batch(place, command.removeprefix("$ ")))


@of_kind("python")
def test_python(block, place):
    command = re.search(r"`(PYTHONPATH=examples/python) python3 (\S+)`", block.path.read_text(encoding="utf-8"))
    assert block.kept == command[2]
    keep_files(block, place)
    with Shell(place) as t:
        t.run("./dev run --daemon -p wire")
        came = t.run(f"{command[1]} '{sys.executable}' {block.kept}")
        t.run("./dev run attach -b -e shutdown")
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
