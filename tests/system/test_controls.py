# SPDX-License-Identifier: BSD-3-Clause
"""What a terminal would obey is made visible, wherever it came from: arguments, names and contents of files, typed text, scripts, a server."""
import json
import os
import pty
import re
import socket
import subprocess
import threading

import pytest

import harness
from pty_term import LIMIT, Term

# Each control character in a place of its own: C0 without NUL and newline, DEL, C1 as characters and as bytes that are no UTF-8.
C0 = [bytes([b]) for b in range(1, 0x20) if b != 0x0a] + [b"\x7f"]
C1 = [chr(c).encode() for c in range(0x80, 0xa0)]
RAW = [bytes([b]) for b in range(0x80, 0xa0)]
OSC = [b"\x1b]0;title\x07", b"\xc2\x9b2J", b"\x9b2J", b"\x1b[2J"]
SETS = {"C0": b"a".join(C0), "C1": b"a".join(C1), "bytes": b"a".join(RAW), "sequences": b"a".join(OSC)}
# What the program's own output on a terminal has.
PLAIN = re.compile(rb"[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*")

NULL = ["-p", "null", "-b"]
# Arguments of the program; X is the text with the controls, and files of these names hold it.
KINDS = {
    "command": [*NULL, "-e", "X"],
    "one command": ["-p", "null", "X"],
    "value": [*NULL, "-e", "set 0 count 'X'"],
    "setting": [*NULL, "-e", "set 0 'X' 1"],
    "setting that keeps it": [*NULL, "-e", "set 0 userpattern 'X'; show settings"],
    "as JSON": [*NULL, "--json", "-e", "set 0 userpattern 'X'; show settings; show settings 0"],
    "as CSV": [*NULL, "--csv", "-e", "set 0 userpattern 'X'; show settings"],
    "as a stream": [*NULL, "--json-stream", "-e", "set 0 userpattern 'X'; show settings", "-e", "'X'"],
    "log": [*NULL, "-e", "lua 'wr.cmd(\"X\")'; show log"],
    "load": [*NULL, "-e", "load 'none/X'"],
    "load of it": [*NULL, "-e", "load 'X'"],
    "save": [*NULL, "-e", "save 'none/X'"],
    "theme load": [*NULL, "-e", "theme load 'none/X'"],
    "theme load of it": [*NULL, "-e", "theme load './X'"],
    "theme by name": [*NULL, "-e", "theme load 'X'"],
    "script": [*NULL, "-e", "script 'none/X'"],
    "script of it": [*NULL, "-e", "script 'X'"],
    "error of Lua": [*NULL, "-e", "lua 'error(\"X\")'"],
    "result of Lua": [*NULL, "-e", "lua 'print(\"X\") return \"X\"'"],
    "expect": [*NULL, "-e", "lua 'wr.expect(false, \"X\")'"],
    "pattern.file": [*NULL, "-e", "set 0 pattern.file 'none/X'"],
    "response.file": [*NULL, "-e", "set 0 response.file 'none/X'"],
    "-f": [*NULL, "-f", "none/X"],
    "-f of it": [*NULL, "-f", "X"],
    "-f lua": [*NULL, "-f", "none/X.lua"],
    "-T": [*NULL, "-T", "none/X"],
    "-T of it": [*NULL, "-T", "./X"],
    "-l": [*NULL, "-l", "none/X"],
    "--report": [*NULL, "--report", "none/X"],
    "--pid-file": ["-p", "null", "--serve", "--socket=./s", "--pid-file", "none/X"],
    "--token-file": [*NULL, "-g", "127.0.0.1:0", "--token-file", "none/X"],
    "--socket": [*NULL, "--socket=none/X"],
    "-g": [*NULL, "-g", "X"],
    "-m": [*NULL, "-m", "X"],
    "-p": ["-b", "-p", "X"],
    "-p pcap": ["-b", "-p", "pcap:rx=none/X"],
    "-p if": ["-b", "-p", "if:X"],
    "--color": [*NULL, "--color", "X"],
    "--mbufs": [*NULL, "--mbufs", "X"],
    "--rpc-allow": [*NULL, "--rpc-allow", "X"],
    "--rpc-limit": [*NULL, "--rpc-limit", "X"],
    "option": ["--X"],
    "attach": ["attach", "X", "-e", "show ports"],
    "attach to a path": ["attach", "none/X", "-e", "show ports"],
    "attach to a host": ["attach", "X:99", "-e", "show ports"],
}


def on_terminal(args, folder, stdin=subprocess.DEVNULL):
    """All that the program writes on a terminal, and its exit code."""
    master, slave = pty.openpty()
    env = {k: v for k, v in os.environ.items() if k != "TERM"} | {"NO_COLOR": "1", "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder)}
    p = subprocess.Popen([harness.binary(), *args], stdin=stdin, stdout=slave, stderr=slave, cwd=folder, env=env)
    os.close(slave)
    raw = b""
    with harness.bounded(p):
        while True:
            try:
                more = os.read(master, 65536)
            except OSError:
                break  # nobody has it open any more
            raw += more
        code = p.wait()
    os.close(master)
    return raw, code


def harmless(raw):
    """Nothing that moves more than a new line does, and no byte that is no UTF-8."""
    text = raw.replace(b"\r\n", b"\n")
    assert b"\r" not in text, text
    assert PLAIN.fullmatch(text), text
    assert not any(0x7f < ord(c) < 0xa0 for c in text.decode()), text


@pytest.mark.parametrize("bytes_", SETS)
@pytest.mark.parametrize("kind", KINDS)
def test_messages_and_results(tmp_path, kind, bytes_):
    text = SETS[bytes_]
    half = len(text) // 2  # no more than the name of a file may have
    for part in (text[:half], text[half:]) if len(text) > 100 else (text,):
        for name in (part, b"b" + part.replace(b"/", b"")):
            for end in (b"", b".lua"):
                if b"/" not in name and len(name) < 250:
                    with open(os.path.join(os.fsencode(tmp_path), name + end), "wb") as f:
                        f.write(name + b"\nerror('" + name + b"')\n")
        args = [a.encode().replace(b"X", b"b" + part) for a in KINDS[kind]]
        raw, code = on_terminal(args, tmp_path)
        harmless(raw)
        assert code >= 0 and raw.strip(), (code, raw)


def test_what_is_written_into_a_pipe_stays_as_it_is(tmp_path):
    """Results, that is; messages are for people wherever they go."""
    text = b"".join(C0 + C1).replace(b"\\", b"").replace(b"'", b"")
    r = subprocess.run([harness.binary(), *NULL, "-e", b"lua 'io.stderr:write(1) print([[" + text + b"]])'"], capture_output=True, check=True,
                       timeout=LIMIT)
    assert r.stdout.replace(b"\n", b"") == text.replace(b"\r", b"\n").replace(b"\n", b""), r.stdout
    r = subprocess.run([harness.binary(), *NULL, b"-e", b"set 0 count \x1b]0;x\x07"], capture_output=True, timeout=LIMIT, check=False)
    assert r.returncode == 2 and b"\x1b" not in r.stderr


def test_json_on_a_terminal_means_the_same(tmp_path):
    text = "a\u009bb\u007fc\u202ed"
    raw, code = on_terminal([*NULL, "--json", "-e", f"lua 'return \"{text}\"'"], tmp_path)
    harmless(raw)
    assert code == 0 and json.loads(raw) == text


@pytest.mark.parametrize("how", ["plain", "line", "screen"])
def test_at_the_prompt(tmp_path, how):
    """Files whose names carry sequences, and a script that prints them: the terminal's title stays, and it is not cleared by them."""
    name = b"x\x1b]0;OWNED\x07\xc2\x9b31mOWNED\x9b32mOWNED"
    with open(os.path.join(os.fsencode(tmp_path), name), "wb") as f:
        f.write(b"no " + name + b"\n")
    (tmp_path / "t.lua").write_bytes(b"print('" + name + b"') error('" + name + b"')")
    (tmp_path / "t.cmds").write_bytes(b"set 0 count " + name + b"\n")
    with Term(tmp_path, "-p", "null", *([] if how == "screen" else ["--no-screen"]), **({"TERM": "dumb"} if how == "plain" else {})) as t:
        t.prompt().type(f"script {tmp_path}/t.lua\r").prompt()
        t.type(f"load {tmp_path}/t.cmds\r").prompt()
        t.type(f"load {tmp_path}/\t\t").type("\x15")
        t.type("quit\r")
        t.ends()
        t.read_to_the_last()
        for bad in (b"\x1b]0;OWNED", b"\xc2\x9b31m", b"\x9b32m"):
            assert bad not in t.raw
        assert b"OWNED" in t.raw


class Liar:
    """A server that puts sequences into everything that it says."""

    def __init__(self, path, text, progress=()):
        """progress: what it says in turn of how far work has come."""
        self.text = text
        self.progress = progress
        self.told = 0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()
        threading.Thread(target=self.serve, daemon=True).start()

    def say(self, conn, **doc):
        conn.sendall(json.dumps(doc, ensure_ascii=False).encode() + b"\n")

    def serve(self):
        while True:
            try:
                conn = self.listener.accept()[0]
            except OSError:
                return
            try:
                self.talk(conn)
            except OSError:
                pass

    def talk(self, conn):
        t = self.text
        self.say(conn, wirerate="0.1.0" + t, protocol=1, auth=False)
        for line in conn.makefile():
            q = json.loads(line)
            key = q.get("id")
            if "snapshot" in q:
                self.say(conn, id=key, ok=True, snapshot={"show": "snapshot", "ports": [{"port": 0, "name": t}], "log": [{"text": t}]})
            elif "progress" in q and self.progress:
                self.say(conn, id=key, ok=True, progress=self.progress[self.told % len(self.progress)])
                self.told += 1
            elif "complete" in q:
                self.say(conn, id=key, ok=True, start=0, words=[{"word": "w" + t, "help": t}, {"word": "v" + t, "help": t}, {"help": t}])
            elif q.get("cmd", "").startswith("show"):
                self.say(conn, id=key, out=t + "\n")
                self.say(conn, id=key, note=t + "\n")
                self.say(conn, id=key, ok=True, exit_code=0, results=[{"show": t, t: [t]}], notes=t, text=t + "\n")
            elif "cmd" in q:
                self.say(conn, id=key, ok=False, exit_code=2, error={"code": t, "text": t, "col": 1, "line": t})
                self.say(conn, event="closed", text=t)
                conn.close()
                return
            else:
                self.say(conn, id=key, ok=True)

    def close(self):
        self.listener.close()


LIES = {"C0": "a".join(b.decode() for b in C0), "C1": "a".join(b.decode() for b in C1), "sequences": "\x1b]0;OWNED\x07a\u009b2JOWNED"}


@pytest.mark.parametrize("mode", [[], ["--json"], ["--csv"]], ids=["text", "json", "csv"])
@pytest.mark.parametrize("lie", LIES)
def test_what_a_server_says(tmp_path, lie, mode):
    server = Liar(tmp_path / "s", LIES[lie])
    try:
        raw, code = on_terminal(["attach", str(tmp_path / "s"), *mode, "-e", "show ports", "-e", "bad"], tmp_path)
    finally:
        server.close()
    harmless(raw)
    assert code >= 0 and raw.strip()


@pytest.mark.parametrize("how", ["plain", "line", "screen"])
def test_what_a_server_says_at_the_prompt(tmp_path, how):
    server = Liar(tmp_path / "s", LIES["sequences"])
    try:
        with Term(tmp_path, "attach", str(tmp_path / "s"), *([] if how == "screen" else ["--no-screen"]),
                  **({"TERM": "dumb"} if how == "plain" else {})) as t:
            t.prompt().type("show ports\r").prompt()
            t.type("\t\t")
            t.shows("OWNED")
            t.type("\x15bad\r")
            t.ends()
            t.read_to_the_last()
            assert b"\x1b]0;OWNED" not in t.raw and b"\xc2\x9b" not in t.raw
    finally:
        server.close()


ESC = LIES["sequences"]
NONSENSE = [
    {"share": 1e308, "left_ns": -5, "text": ESC}, {"share": -1, "left_ns": 1e308, "text": ESC * 20000}, ESC, [ESC], 5, True, {"text": [ESC]}, {},
    {"share": "0.5", "left_ns": "5", "text": {ESC: ESC}}, {"share": 2**62, "left_ns": -2**63, "text": "OWNED" * 100000},
    {"share": 1, "left_ns": 2**63 - 1, "text": "\0" + ESC}, {"share": -0.0, "left_ns": 0, "text": LIES["C0"] + LIES["C1"]},
]


@pytest.mark.parametrize("how", ["line", "screen"])
def test_what_a_server_says_of_its_progress(tmp_path, how):
    server = Liar(tmp_path / "s", "", [{"share": 0.5, "left_ns": 10**10, "text": "1 " + ESC}] * 3 + NONSENSE)
    try:
        with Term(tmp_path, "attach", str(tmp_path / "s"), *([] if how == "screen" else ["--no-screen"]), cols=120) as t:
            t.prompt().until(lambda: any("50%, 10 s left: 1 " in line and "OWNED" in line for line in t.lines()), "a word")
            t.until(lambda: server.told > len(server.progress), "all of it")
            t.type("show ports\r").prompt()
            t.type("quit\r")
            assert t.ends() == 0
            t.read_to_the_last()
            for bad in (b"\x1b]0;OWNED", b"\xc2\x9b", b"OWNED" * 40):
                assert bad not in t.raw, bad
            assert not re.search(rb"[\x01-\x06\x0e-\x1a\x1c-\x1f\x7f]|-\d+%|\d{4}%|left: -", t.raw), t.raw
    finally:
        server.close()
