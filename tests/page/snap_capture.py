# SPDX-License-Identifier: BSD-3-Clause
"""Snapshots with the part of the page capture: app/snapshot.h says what is in it."""
from snap_base import snapshot
from snap_pages import ports_of

COUNTS = ("snap", "seen", "accepted", "frames", "bytes", "dropped", "no_block", "write_failed", "beyond_limit", "rotated_out", "waiting",
          "file_bytes", "memory_bytes", "duration_ns")


def capture(number, file, **more):
    return {"port": number, "name": f"wire{number}", "file": file, "files": 1, "state": "capturing", "why": "", "direction": "both", "filter": None,
            **dict.fromkeys(COUNTS, 0), **more}


def captures_of(captures):
    s = snapshot(ports_of(len(captures)), [])
    s["captures"] = captures
    return s


def captures():
    """One that goes on, one that has lost frames, and one that could not be written."""
    return captures_of([
        capture(0, "/var/tmp/somewhere/else/x.pcapng", filter="udp port 5000", snap=96, seen=12_345_678, accepted=12_345, frames=12_300,
                bytes=787_200, waiting=45, file_bytes=1_377_600, memory_bytes=64_000_000, duration_ns=12_345_678_901),
        capture(1, "ring.pcapng", files=17, direction="rx", state="ending", why="stopped", seen=5000, accepted=5000, frames=1000, no_block=1500,
                rotated_out=2500, duration_ns=61_000_000_000),
        capture(2, "full.pcapng", state="failed", why="No space left on device", seen=100, accepted=100, frames=60,
                write_failed=40)])


def captures_none():
    return snapshot(ports_of(1), [])


def captures_strange():
    return captures_of([None, 5, {"port": "x", "file": 7, "frames": "y"}, capture(3, "\x1b[31m", state=None, no_block=-1)])


SNAPS = {f.__name__: f for f in (captures, captures_none, captures_strange)}
