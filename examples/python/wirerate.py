# SPDX-License-Identifier: BSD-3-Clause
"""A client of wirerate's remote socket. Standard library only; copy it to where you need it.

    wirerate --socket -p wire                       # a program that listens; a daemon does so by itself

    import wirerate
    with wirerate.connect() as wr:                  # its Unix socket; "lab" the one of --socket=lab, "/a/path", "host:22022"
        wr.cmd("set 0 rate 10%")
        wr.cmd("start 0 for 1s; wait 0")
        print(wr.stats()["ports"][0]["tx"]["packets"])
        trial = wr.trial(ports=0, rate="1Mpps", duration="1s")
        print(trial["verdict"], trial["fates"]["lost"])
        print(wr.lua("return 6 * ..., wr.version", 7))
        for event in wr.events("link", "interval"):
            print(event)

What is refused raises Refused, with its code ("EINVAL"), text and column. In tables that the program makes, lists of ports, queues, streams and
workers become dicts by their numbers. One thread at a time; only cancel() may be called from another one.
"""
import collections
import json
import os
import socket
import struct
import threading

DEFAULT_PORT = 22022
NUMBERED = {"ports": "port", "queues": "queue", "streams": "stream", "workers": "lcore"}


class Error(Exception):
    """Whatever goes wrong with a program at the other end."""


class Refused(Error):
    """The program refused a request, or a command failed; answer is the whole answer."""

    def __init__(self, answer):
        error = answer.get("error", {})
        self.answer = answer
        self.code = error.get("code", "")
        self.text = error.get("text", "")
        self.col = error.get("col")
        self.line = error.get("line")
        self.exit_code = answer.get("exit_code", 2)
        super().__init__(self.text or "refused")


class Disconnected(Error):
    """The connection is over; the text is the program's reason, if it gave one."""


def runtime_dir():
    if os.geteuid() == 0:
        return "/run/wirerate"
    run = os.environ.get("XDG_RUNTIME_DIR", "")
    return run + "/wirerate" if run.startswith("/") else f"/tmp/wirerate-{os.geteuid()}"


def own_token_file():
    """Where programs of this user keep their token on this machine, unless --token-file says otherwise."""
    return runtime_dir() + "/token"


def by_number(doc):
    """Lists of numbered things become dicts."""
    if isinstance(doc, list):
        return [by_number(d) for d in doc]
    if not isinstance(doc, dict):
        return doc
    out = {}
    for key, value in doc.items():
        number = NUMBERED.get(key)
        if number and isinstance(value, list) and all(isinstance(d, dict) and number in d for d in value):
            out[key] = {d[number]: by_number(d) for d in value}
        else:
            out[key] = by_number(value)
    return out


def alone(values):
    """One of one, None of none."""
    return values[0] if len(values) == 1 else values or None


def connect(address="wirerate", token=None, token_file=None, timeout=None):
    """A name or a path of a Unix socket, or HOST:PORT ("[::1]:PORT"; port 22022 where none follows the colon). TCP wants a token, as text or
    read from a file (that of a program on this machine is in own_token_file()); none is sent that was not given here, because anybody may
    listen at an address. timeout: seconds for any answer, None for no limit."""
    return Client(address, token, token_file, timeout)


class Client:
    def __init__(self, address="wirerate", token=None, token_file=None, timeout=None):
        self.notes = ""  # remarks and warnings of the last command
        self.exit_code = 0  # of the last command
        self._number = 0
        self._buf = b""
        self._events = collections.deque()
        self._lock = threading.Lock()
        self._sock = None
        try:
            if "/" not in address and ":" in address:
                self._open_tcp(address, timeout)
            else:
                self._open_unix(address, timeout)
            self.greeting = self._read()
            if self.greeting.get("auth"):
                self._authenticate(token, token_file)
        except BaseException:
            self.close()
            raise

    def _open_tcp(self, address, timeout):
        host, _, port = address.rpartition(":")
        self._sock = socket.create_connection((host.strip("[]") or "127.0.0.1", int(port or DEFAULT_PORT)), timeout)
        self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def _open_unix(self, name, timeout):
        path = name if "/" in name else f"{runtime_dir()}/{name}.sock"
        self._sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._sock.settimeout(timeout)
        self._sock.connect(path)
        uid = struct.unpack("3i", self._sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]
        if os.geteuid() not in (0, uid) and uid != 0:
            raise Error(f"{path}: somebody else (user {uid}) listens there")

    def _authenticate(self, token, token_file):
        if token is None and token_file is None:
            raise Error("the program wants a token: give connect() token= or token_file=")
        if token is None:
            with open(token_file, encoding="ascii") as f:
                token = f.read().strip()
        self._send({"auth": token})
        answer = self._read()
        if not answer.get("ok"):
            raise Refused(answer)

    def _send(self, request):
        data = json.dumps(request, separators=(",", ":")).encode() + b"\n"
        with self._lock:
            try:
                self._sock.sendall(data)
            except (BrokenPipeError, ConnectionResetError):
                pass  # what was said last may still be read

    def _read(self):
        while b"\n" not in self._buf:
            try:
                more = self._sock.recv(1 << 16)
            except ConnectionResetError:
                more = b""
            if not more:
                raise Disconnected("the connection was closed")
            self._buf += more
        line, _, self._buf = self._buf.partition(b"\n")
        doc = json.loads(line)
        if doc.get("event") == "closed":
            raise Disconnected(doc.get("text", "the connection was closed"))
        return doc

    def request(self, _out=None, **members):
        """Any request, by its members; its answer. As text, what was printed before it is put in front, or _out gets it as it comes."""
        parts, notes = [], []
        self._number += 1
        number = self._number
        self._send({"id": number, **members})
        while True:
            doc = self._read()
            if "event" in doc:
                self._events.append(doc)
            elif doc.get("id") == number and "ok" in doc:
                break
            elif doc.get("id") == number and "note" in doc:
                notes.append(doc["note"])
            elif doc.get("id") == number:
                (_out or parts.append)(doc.get("out", ""))
            elif doc.get("id") is None and not doc.get("ok", True):
                raise Refused(doc)
        self.notes = "".join([*notes, doc.get("notes", "")])
        if parts:
            doc["text"] = "".join([*parts, doc.get("text", "")])
        self.exit_code = doc.get("exit_code", 0)
        if not doc["ok"]:
            raise Refused(doc)
        return doc

    def cmd(self, line):
        """Run commands: the document that they printed, a list of several, None of none."""
        return alone([by_number(d) for d in self.request(cmd=line)["results"]])

    def text(self, line, out=None):
        """Run commands: what they print for people. out gets parts of it while a command goes on."""
        return self.request(out, cmd=line, mode="text").get("text", "")

    def lua(self, chunk, *args):
        """Run Lua in this connection's own state; what it returns, as cmd() does."""
        return alone([by_number(d) for d in self.request(lua=chunk, args=[str(a) for a in args])["results"]])

    def stats(self):
        return self.cmd("show stats")

    def snapshot(self, parts="stats"):
        return by_number(self.request(snapshot=parts)["snapshot"])

    def progress(self):
        """How far ports have come that were started for a while: share, left_ns, text, as far as they are known; None: nothing goes on."""
        return self.request(progress=True)["progress"]

    def trial(self, ports, rate, duration, to=None, max_loss=None):
        """The inner document of a trial; a rate or duration is written as in commands. exit_code says how it ended (1, 4)."""
        line = f"trial {ports}" + (f" to {to}" if to is not None else "") + f" rate {rate} for {duration}"
        return self.cmd(line + (f" max-loss {max_loss}" if max_loss is not None else ""))["trial"]

    def complete(self, line):
        """Words that could end the line, with their help."""
        return {w["word"]: w.get("help", "") for w in self.request(complete=line)["words"] if "word" in w}

    def subscribe(self, *names):
        self.request(subscribe=list(names))

    def events(self, *names):
        """Without end: what happens from now on. Other requests may be made between two events."""
        if names:
            self.subscribe(*names)
        return self._each_event()

    def _each_event(self):
        while True:
            while self._events:
                yield self._events.popleft()
            doc = self._read()
            if "event" in doc:
                self._events.append(doc)

    def cancel(self):
        """End what another thread is waiting for; it gets Refused with code ECANCELED."""
        self._send({"cancel": True})

    def close(self):
        if self._sock is not None:
            self._sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
