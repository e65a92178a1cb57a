# SPDX-License-Identifier: BSD-3-Clause
"""The other end of iperf3 in few lines: a server that follows a script, and a client that sends what it is told. Results as iperf 3.12 says them."""
import json
import socket
import struct
import threading

COOKIE = b"koxjuwyfy2bscv7veaf2ctwwr7iunav577pk\0"
PARAMS = {"tcp": True, "omit": 0, "time": 1, "num": 0, "blockcount": 0, "parallel": 1, "len": 131072, "client_version": "3.12"}


def message(doc):
    text = doc if isinstance(doc, bytes) else json.dumps(doc).encode()
    return struct.pack(">I", len(text)) + text


def results(ids=(1,), count=1000, **more):
    """What a receiver says: servers before 3.14 write -1 without its sign."""
    streams = [{"id": i, "bytes": count, "retransmits": 2**64 - 1, "jitter": 0, "errors": 0, "packets": 0, "start_time": 0, "end_time": 1.5}
               for i in ids]
    return {"cpu_util_total": 1.5, "cpu_util_user": 0.5, "cpu_util_system": 1, "sender_has_retransmits": -1, "congestion_used": "cubic",
            "streams": streams, **more}


def exactly(s, n):
    b = b""
    while len(b) < n:
        piece = s.recv(n - len(b))
        if not piece:
            raise EOFError(f"{len(b)} of {n} bytes, then the end")
        b += piece
    return b


def read_message(s):
    return json.loads(exactly(s, struct.unpack(">I", exactly(s, 4))[0]))


class Server(threading.Thread):
    """One test: script(self) says what happens on the control connection. What went wrong is raised by end()."""

    def __init__(self, script):
        super().__init__(daemon=True)
        self.script, self.error = script, None
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(60)
        self.port = self.listener.getsockname()[1]
        self.data = []
        self.start()

    def run(self):
        try:
            self.control, _ = self.listener.accept()
            self.control.settimeout(60)
            self.cookie = exactly(self.control, 37)
            self.script(self)
        except Exception as e:  # told to the test, which runs on another thread
            self.error = e
        finally:
            for s in [self.listener, getattr(self, "control", None), *self.data]:
                if s is not None:
                    s.close()

    def say(self, data):
        self.control.sendall(data)

    def prepare(self):
        self.say(b"\x09")
        self.params = read_message(self.control)
        self.say(b"\x0a")

    def connect(self, n=1):
        for _ in range(n):
            s, _ = self.listener.accept()
            s.settimeout(60)
            assert exactly(s, 37) == self.cookie
            self.data.append(s)

    def end(self):
        self.join(30)
        assert not self.is_alive()
        if self.error is not None:
            raise self.error


def client(port, cookie=COOKIE):
    s = socket.create_connection(("127.0.0.1", port), timeout=60)
    s.sendall(cookie)
    return s
