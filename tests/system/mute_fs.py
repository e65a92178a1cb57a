# SPDX-License-Identifier: BSD-3-Clause
"""A file system that answers until a file is open, and never after that: a server of files that has died."""
import ctypes
import os
import select
import struct
import subprocess
import threading

LOOKUP, FORGET, GETATTR, OPEN, INIT, INTERRUPT, BATCH_FORGET = 1, 2, 3, 14, 26, 36, 42
NO_ANSWER = {FORGET, BATCH_FORGET, INTERRUPT}
ENOENT, ENOSYS = 2, 38
FILE_BYTES = 1024  # no more than any of its readers takes
NO_FLUSH = 1 << 5  # the end of a process would wait for an answer to its close()


class MuteFs:
    """A folder with one file, `file`, which nobody but root may read, as a token's must be."""

    def __init__(self, folder):
        self.folder = str(folder)
        self.held = threading.Event()  # somebody waits for what never comes
        self.fd = os.open("/dev/fuse", os.O_RDWR)
        libc = ctypes.CDLL(None, use_errno=True)
        options = f"fd={self.fd},rootmode=40000,user_id=0,group_id=0"
        if libc.mount(b"mute", self.folder.encode(), b"fuse", 0, options.encode()) != 0:
            code = ctypes.get_errno()
            os.close(self.fd)
            raise OSError(code, os.strerror(code))
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def path(self, name="file"):
        return os.path.join(self.folder, name)

    def close(self):
        os.close(self.fd)  # all that waits ends
        subprocess.run(["umount", "-l", self.folder], check=True)

    @staticmethod
    def attributes(node):
        folder = node == 1
        return struct.pack("<6Q10I", node, 0 if folder else FILE_BYTES, 8, 0, 0, 0, 0, 0, 0, 0o40755 if folder else 0o100600, 2 if folder else 1,
                           0, 0, 0, 4096, 0)

    def answer(self, opcode, node, body):
        if opcode == INIT:
            return 0, struct.pack("<4I2H2I2HI28x", 7, 31, 0, 0, 0, 0, 65536, 1, 0, 0, 0)
        if opcode == LOOKUP:
            if body.rstrip(b"\0") != b"file":
                return -ENOENT, b""
            return 0, struct.pack("<4Q2I", 2, 0, 3600, 3600, 0, 0) + self.attributes(2)
        if opcode == GETATTR:
            return 0, struct.pack("<Q2I", 3600, 0, 0) + self.attributes(node)
        if opcode == OPEN:
            return 0, struct.pack("<Q2I", 7, NO_FLUSH, 0)
        return -ENOSYS, b""

    def serve(self):
        opened = False
        while not opened:
            try:
                request = os.read(self.fd, 1 << 18)
                _, opcode, unique, node = struct.unpack_from("<2I2Q", request)
                opened = opcode == OPEN
                if opcode not in NO_ANSWER:
                    error, body = self.answer(opcode, node, request[40:])
                    os.write(self.fd, struct.pack("<IiQ", 16 + len(body), error, unique) + body)
            except FileNotFoundError:
                continue  # who asked has ended meanwhile
            except OSError:
                return  # unmounted
        # What is asked now stays in the kernel: who waits for a request that its server has taken cannot even be killed.
        select.select([self.fd], [], [])
        self.held.set()
