#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run a command while its processes stand still at random moments, as they do on a loaded machine.

  disturb.py [--longest MS] [--every MS] [--threads] [--seed N] COMMAND...

Each process that the command has started, and the command itself, is held about every MS (default 400) for 10 ms up to
--longest MS (default 300); with --threads every other time only one of its threads. A test that judges what happened, and
not when, passes all the same:

  tests/disturb.py python3 -m pytest -q -p no:cacheprovider tests/system/test_streams.py

They are held by ptrace, which they do not notice: after a SIGSTOP comes a SIGCONT, and a screen is drawn anew on that. The
exit code is the command's."""
import argparse
import ctypes
import os
import random
import subprocess
import sys
import time

TICK_S = 0.005
MARK = "WIRERATE_DISTURBED"
SEIZE, INTERRUPT, DETACH, EVENT_STOP, WALL = 0x4206, 0x4207, 17, 128, 0x40000000

ptrace_in_libc = ctypes.CDLL(None, use_errno=True).ptrace
ptrace_in_libc.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def ptrace(what, tid, data=0):
    return ptrace_in_libc(what, tid, None, data) == 0


def ours(mark):
    """Processes of the command, also those that left its process group, with their threads and states."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as f:
                if mark not in f.read().split(b"\0"):
                    continue
            with open(f"/proc/{name}/stat") as f:
                state = f.read().rsplit(")", 1)[1].split()[0]
            yield int(name), state, [int(tid) for tid in os.listdir(f"/proc/{name}/task")]
        except OSError:
            pass


class Held:
    """Threads that are held. One that ends meanwhile waits for us before its parent hears of it."""

    def __init__(self):
        self.gone = set()

    def hold(self, tids):
        seized = [tid for tid in tids if ptrace(SEIZE, tid)]
        for tid in seized:
            ptrace(INTERRUPT, tid)
        return [(tid, sig) for tid in seized if (sig := self.stopped(tid)) is not None]

    def stopped(self, tid):
        """The signal that it gets when it goes on, 0: none; None: it does not stop, because it ends or sleeps deeply."""
        end = time.monotonic() + 0.2
        while time.monotonic() < end:
            try:
                pid, status = os.waitpid(tid, WALL | os.WNOHANG)
            except ChildProcessError:
                return None
            if pid == tid:
                return (0 if status >> 16 == EVENT_STOP else os.WSTOPSIG(status)) if os.WIFSTOPPED(status) else None
            time.sleep(0.0002)
        self.gone.add(tid)
        return None

    def let_go(self, held):
        self.gone |= {tid for tid, sig in held if not ptrace(DETACH, tid, sig)}

    def reap(self):
        for tid in list(self.gone):
            try:
                pid, status = os.waitpid(tid, WALL | os.WNOHANG)
                if pid == tid and os.WIFSTOPPED(status):
                    ptrace(DETACH, tid)
                if pid == tid:
                    self.gone.discard(tid)
            except ChildProcessError:
                self.gone.discard(tid)


def disturb(args, rng):
    child = subprocess.Popen(args.command, env={**os.environ, MARK: str(os.getpid())})
    mark = f"{MARK}={os.getpid()}".encode()
    longest, every = args.longest / 1000, args.every / 1000
    held, until, count = Held(), {}, 0
    try:
        while held.reap() or child.poll() is None:
            now = time.monotonic()
            for pid in [pid for pid, (end, _) in until.items() if end <= now]:
                held.let_go(until.pop(pid)[1])
            if rng.random() < 2 * TICK_S / every:
                for pid, state, tids in ours(mark):
                    # what a test has stopped stays its own affair
                    if state in "TtZX" or pid in until or rng.random() < 0.5:
                        continue
                    if args.threads and rng.random() < 0.5:
                        tids = [rng.choice(tids)]
                    until[pid] = (time.monotonic() + rng.uniform(0.01, longest), held.hold(tids))
                    count += 1
            time.sleep(TICK_S)
    finally:
        for _, tids in until.values():
            held.let_go(tids)
    print(f"disturbed {count} times", file=sys.stderr)
    return child.returncode


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--longest", type=float, default=300, metavar="MS")
    ask.add_argument("--every", type=float, default=400, metavar="MS")
    ask.add_argument("--threads", action="store_true")
    ask.add_argument("--seed", type=int, default=None)
    ask.add_argument("command", nargs=argparse.REMAINDER)
    args = ask.parse_args()
    if not args.command:
        ask.error("a command is missing")
    if args.longest < 10 or args.every < 2000 * TICK_S:
        ask.error(f"--longest is 10 ms or more, --every {2000 * TICK_S:.0f} ms or more")
    code = disturb(args, random.Random(args.seed))
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
