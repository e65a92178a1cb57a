# SPDX-License-Identifier: BSD-3-Clause
"""A small neper of our own: control messages by struct, requests and responses by plain sockets, one flow. What it sends is what a real one sent
in recorded sessions; tests that are given a real one (NEPER=DIR) run it beside this."""
import contextlib
import os
import socket
import struct
import sys
import threading

SECRETS = {"tcp_rr": b"neper tcp_rr 201703241250", "tcp_crr": b"", "tcp_stream": b"neper tcp_stream 201703241300",
           "udp_rr": b"neper udp_rr 201703241230", "udp_stream": b"neper udp_stream 201703241240"}
HELLO, ACK, DONE, BYE = 1, 2, 3, 4
BYTES = 72


def message(kind, secret=b"", magic=42, threads=0, flows=0, length=0, rate=0):
    return struct.pack(">32s4Ii I2Q", secret, magic, kind, threads, flows, length, 0, 0, rate)


def parse(data):
    secret, magic, kind, threads, flows, length, _, pacing, rate = struct.unpack(">32s4Ii I2Q", data)
    return {"secret": secret.rstrip(b"\0"), "magic": magic, "type": kind, "threads": threads, "flows": flows, "length": length,
            "pacing": pacing, "rate": rate}


def read_message(s):
    data = b""
    while len(data) < BYTES:
        more = s.recv(BYTES - len(data))
        if not more:
            return None
        data += more
    return parse(data)


def free_ports(n=2):
    """Ports that nobody has at the moment, of TCP and UDP."""
    with contextlib.ExitStack() as stack:
        found = []
        while len(found) < n:
            t = stack.enter_context(socket.socket())
            t.bind(("127.0.0.1", 0))
            u = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            with contextlib.suppress(OSError):
                u.bind(("127.0.0.1", t.getsockname()[1]))
                found.append(t.getsockname()[1])
        return found


class Client:
    """The control connection of a client."""
    def __init__(self, port, workload="tcp_rr", secret=None, **about):
        self.s = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.s.sendall(message(HELLO, SECRETS[workload] if secret is None else secret, threads=1, flows=1, length=1, **about))

    def ack(self):
        return read_message(self.s)

    def done(self, rate):
        self.s.sendall(message(DONE, rate=rate))
        self.s.shutdown(socket.SHUT_WR)
        return read_message(self.s)


def transactions(port, n, udp=False):
    """n requests and responses of a byte; how many bytes came."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM if udp else socket.SOCK_STREAM) as s:
        s.settimeout(60)
        s.connect(("127.0.0.1", port))
        came = 0
        for _ in range(n):
            s.send(b"\0")
            came += len(s.recv(100))
        return came


def real(workload):
    """The path of a real neper's program, or None."""
    path = os.path.join(os.environ.get("NEPER", ""), workload)
    return path if os.environ.get("NEPER") and os.access(path, os.X_OK) else None


def lossy(host):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind((host, 12867))
        s.recv(100)
        while True:
            s.sendto(*s.recvfrom(100))


def serve(host, mode):
    """A server of one client with one flow, whose answers are of `mode` bytes; "deaf": it reads no data; "closed":
    nobody listens for data; "lossy": of datagrams, of which the first one has no answer."""
    with socket.create_server((host, 12866)) as control, socket.create_server((host, 12867)) as data:
        c, _ = control.accept()
        assert read_message(c)["type"] == HELLO
        if mode == "closed":
            data.close()
        if mode == "lossy":
            threading.Thread(target=lossy, args=(host,), daemon=True).start()
        for byte in message(ACK, threads=1, flows=1, length=1):
            c.sendall(bytes([byte]))
        if mode == "closed":
            c.recv(1)
            return
        if mode == "lossy":
            assert read_message(c)["type"] == DONE
            c.sendall(message(BYE, rate=77))
            c.recv(1)
            return
        d, _ = data.accept()

        def answer():
            try:
                while d.recv(1):
                    d.sendall(bytes(int(mode)))
                print("data was closed")
            except OSError:
                print("data was reset")

        answers = threading.Thread(target=answer, daemon=True)
        if mode != "deaf":
            answers.start()
        assert read_message(c)["type"] == DONE
        c.sendall(message(BYE, rate=77))
        c.recv(1)
        c.close()
        if mode == "1":
            answers.join(60)


def ask(host, n):
    """A client of n transactions, while another one comes; both are told what the server makes of them."""
    def hello():
        s = socket.create_connection((host, 12866), timeout=60)
        s.sendall(message(HELLO, SECRETS["tcp_rr"], threads=1, flows=1, length=1))
        return s

    with hello() as s:
        assert read_message(s)["type"] == ACK
        with contextlib.suppress(OSError), hello() as late:
            assert read_message(late) is None
        with socket.create_connection((host, 12867), timeout=60) as data:
            for _ in range(n):
                data.send(b"\0")
                assert len(data.recv(100)) == 1
            s.sendall(message(DONE, rate=77))
            assert read_message(s)["type"] == BYE
            assert data.recv(1) == b""  # and not a reset


def wrong(host, what):
    """A client of one transaction that says what is not due, until nobody takes it."""
    with socket.create_connection((host, 12866), timeout=60) as s:
        s.sendall(message(HELLO, SECRETS["tcp_rr"], threads=1, flows=1, length=1))
        assert read_message(s)["type"] == ACK
        with socket.create_connection((host, 12867), timeout=60) as data:
            data.send(b"\0")
            assert len(data.recv(100)) == 1
            with contextlib.suppress(OSError):
                s.sendall({"vanishes": b"", "half": message(DONE)[:30], "nonsense": b"\xff" * BYTES, "flood": message(DONE) + bytes(3000000)}[what])


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(*sys.argv[2:])
    elif sys.argv[1] == "wrong":
        wrong(*sys.argv[2:])
    else:
        ask(sys.argv[2], int(sys.argv[3]))
