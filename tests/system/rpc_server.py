# SPDX-License-Identifier: BSD-3-Clause
"""The program as a server of its remote socket, and clients that send what they like."""
import json
import os
import re
import socket
import subprocess
import sys
import time

import pytest

import harness

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "examples", "python")
sys.path.insert(1, EXAMPLES)
import wirerate

TOKEN = "0123456789abcdef0123456789abcdef"
ANYTHING = harness.COUNTERS_ALONE + "set trial.overtime 10s; "


class Server:
    """The program with its sockets; standard input keeps it alive."""

    def __init__(self, folder, *args, tcp=False, ports="wire", prefix=(), env=None):
        self.path = str(folder / "s.sock")
        args = ["-b", "-p", ports, f"--socket={self.path}", *args]
        if tcp:
            (folder / "token").write_text(TOKEN + "\n")
            (folder / "token").chmod(0o600)
            args += ["-g", "127.0.0.1:0", "--token-file", str(folder / "token")]
        self.err = open(folder / "err", "w+")
        self.proc = subprocess.Popen([*prefix, harness.binary(), *args], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=self.err, env=env)
        self.wait_for(r"remote socket: /\S+")
        if tcp:
            self.address = self.wait_for(r"remote socket: (127\.0\.0\.1:\d+),")

    def errors(self):
        with open(self.err.name) as f:
            return f.read()

    def wait_for(self, pattern, timeout=60):
        until = time.monotonic() + timeout
        while True:
            found = re.search(pattern, self.errors())
            if found:
                return found.group(found.re.groups)
            assert self.proc.poll() is None and time.monotonic() < until, self.errors()
            time.sleep(0.02)

    def fds(self):
        return len(os.listdir(f"/proc/{self.proc.pid}/fd"))

    def rss_kb(self):
        with open(f"/proc/{self.proc.pid}/status") as f:
            return int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1))

    def fds_alone(self):
        """Descriptors while there is no client; it has them all open when it answers."""
        c = Raw(self.path)
        assert c.ask('{"ping":true}')["ok"]
        fds = self.fds() - 1
        c.close()
        return fds

    def settled_fds(self, most, timeout=60):
        until = time.monotonic() + timeout
        while self.fds() > most and time.monotonic() < until:
            time.sleep(0.05)
        return self.fds()

    def close(self):
        if self.proc.poll() is None:
            self.proc.kill()
            self.proc.wait()
        self.proc.stdin.close()
        self.err.close()


class Raw:
    """Bytes to a socket, lines from it, which the schema knows."""
    seen = set()

    def __init__(self, where, greet=True):
        if ":" in where and "/" not in where:
            host, port = where.rsplit(":", 1)
            self.s = socket.create_connection((host, int(port)), 60)
        else:
            self.s = socket.socket(socket.AF_UNIX)
            self.s.settimeout(60)
            self.s.connect(where)
        self.buf = b""
        self.greeting = self.line() if greet else None

    def send(self, data):
        self.s.sendall(data if isinstance(data, bytes) else (data + "\n").encode())

    def line(self):
        """A line as JSON, None at the end of the connection."""
        while b"\n" not in self.buf:
            try:
                more = self.s.recv(1 << 16)
            except ConnectionResetError:
                more = b""
            if not more:
                return None
            self.buf += more
        line, _, self.buf = self.buf.partition(b"\n")
        doc = json.loads(line)
        # Of a hundred thousand answers the first of each shape.
        if harness.shape(harness.thinned(doc)) not in self.seen:
            self.seen.add(harness.shape(harness.thinned(doc)))
            harness.document(line)
        return doc

    def ask(self, what):
        self.send(what if isinstance(what, (bytes, str)) else json.dumps(what))
        return self.line()

    def rest(self):
        out = []
        while (doc := self.line()) is not None:
            out.append(doc)
        return out

    def close(self):
        self.s.close()


def refused(client, line, code, **kw):
    with pytest.raises(wirerate.Refused) as e:
        client.request(cmd=line, **kw)
    assert e.value.code == code, e.value.answer
    return e.value
