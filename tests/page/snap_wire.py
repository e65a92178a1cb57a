# SPDX-License-Identifier: BSD-3-Clause
"""Snapshots with the part of the page wire: app/snapshot.h says what is in it."""
from snap_base import snapshot
from snap_pages import ports_of

NAMES = ("before", "in", "out", "lost", "queue_drops", "too_long", "failed", "overflow", "flushed", "duplicated", "reordered", "corrupted",
         "waiting", "held", "most_waiting", "room_bytes", "room_wanted_bytes", "pool_bytes")


def wire(number, to, **more):
    return {"port": number, "name": f"wire{number}", "to": to, "device": "off", "link": "up", **dict.fromkeys(NAMES, 0), **more}


def wires_of(wires):
    s = snapshot(ports_of(len(wires)), [])
    s["wires"] = wires
    return s


def wires():
    """One that does much to frames, one whose link is down, one that could not be made, and one that does nothing."""
    return wires_of([
        wire(0, 1, device="on", **{"in": 12_345_678, "out": 12_333_332, "lost": 12_346, "duplicated": 1234, "reordered": 99, "corrupted": 7,
                                   "waiting": 1234, "most_waiting": 4096}),
        wire(1, 0, device="on", link="down", **{"in": 1000, "failed": 1000, "queue_drops": 3_000_000_000_000}),
        wire(2, 3, device="failed", why="no memory"), wire(3, 2), wire(4, None, device="coming")])


def wires_none():
    return snapshot(ports_of(1), [])


def wires_strange():
    return wires_of([None, 5, {"port": "x", "device": 7, "lost": "y"}, wire(3, "z", name="\x1b[31m", lost=-1, device=None)])


SNAPS = {f.__name__: f for f in (wires, wires_none, wires_strange)}
