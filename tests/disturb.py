#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run a command while its processes are stopped at random moments, as a loaded machine does to them.

  disturb.py [--longest MS] [--every MS] [--seed N] COMMAND...

Each process that the command has started, and the command itself, is stopped about every MS (default 400) for 10 ms up to
--longest MS (default 300). A test that judges what happened, and not when, passes all the same:

  tests/disturb.py python3 -m pytest -q -p no:cacheprovider tests/system/test_streams.py

The exit code is the command's."""
import argparse
import os
import random
import signal
import subprocess
import sys
import time

TICK_S = 0.005
MARK = "WIRERATE_DISTURBED"


def ours(mark):
    """Processes of the command, also those that left its process group, and their states."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as f:
                if mark not in f.read().split(b"\0"):
                    continue
            with open(f"/proc/{name}/stat") as f:
                yield int(name), f.read().rsplit(")", 1)[1].split()[0]
        except OSError:
            pass


def send(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def disturb(command, longest, every, rng):
    child = subprocess.Popen(command, env={**os.environ, MARK: str(os.getpid())})
    mark = f"{MARK}={os.getpid()}".encode()
    stopped, count = {}, 0
    try:
        while child.poll() is None:
            now = time.monotonic()
            for pid in [pid for pid, until in stopped.items() if until <= now]:
                del stopped[pid]
                send(pid, signal.SIGCONT)
            if rng.random() < 2 * TICK_S / every:
                for pid, state in ours(mark):
                    # what a test has stopped stays its own affair
                    if state not in "TtZX" and rng.random() < 0.5:
                        stopped[pid] = time.monotonic() + rng.uniform(0.01, longest)
                        send(pid, signal.SIGSTOP)
                        count += 1
            time.sleep(TICK_S)
    finally:
        for pid in stopped:
            send(pid, signal.SIGCONT)
    print(f"disturbed {count} times", file=sys.stderr)
    return child.returncode


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--longest", type=float, default=300, metavar="MS")
    ask.add_argument("--every", type=float, default=400, metavar="MS")
    ask.add_argument("--seed", type=int, default=None)
    ask.add_argument("command", nargs=argparse.REMAINDER)
    args = ask.parse_args()
    if not args.command:
        ask.error("a command is missing")
    if args.longest < 10 or args.every < 2000 * TICK_S:
        ask.error(f"--longest is 10 ms or more, --every {2000 * TICK_S:.0f} ms or more")
    code = disturb(args.command, args.longest / 1000, args.every / 1000, random.Random(args.seed))
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
