#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""lanes.py DIR NAME: the system tests that are marked `counts`, in two processes side by side.

They judge what was sent, received or shown, not when, so that a neighbour cannot make them fail; and most of their time is spent in waiting.
The results are in DIR/NAME-1.xml and DIR/NAME-2.xml."""
import os
import signal
import subprocess
import sys
import tempfile

LANES = 2


def main(directory, name):
    here = os.path.dirname(os.path.abspath(__file__))
    running = []
    for lane in range(1, LANES + 1):
        out = tempfile.TemporaryFile("w+", errors="replace")
        cmd = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "counts", f"--lane={lane}/{LANES}",
               f"--junitxml={os.path.abspath(directory)}/{name}-{lane}.xml", here]
        running.append((subprocess.Popen(cmd, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT), out))
    worst = 0
    for child, out in running:
        code = child.wait()
        worst = worst or code
        out.seek(0)
        print(out.read(), flush=True)
    return worst


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main(sys.argv[1], sys.argv[2]))
