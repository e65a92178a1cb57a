# SPDX-License-Identifier: BSD-3-Clause
"""A file of pcapng block by block, as draft-ietf-opsawg-pcapng describes it, and what Wireshark's tools say of it."""
import struct
import subprocess
from dataclasses import dataclass, field

SECTION, INTERFACE, STATS, PACKET = 0x0a0d0d0a, 1, 5, 6
NAMES = {1: "comment", 2: "name", 3: "description", 8: "speed", 9: "tsresol", 11: "filter"}
COUNTS = {4: "received", 5: "dropped", 6: "accepted", 7: "os_dropped", 8: "delivered"}


@dataclass
class Frame:
    interface: int
    ns: int
    size: int  # without FCS
    data: bytes
    inbound: bool
    queue: int


@dataclass
class File:
    section: dict = field(default_factory=dict)
    interfaces: list = field(default_factory=list)
    frames: list = field(default_factory=list)
    stats: list = field(default_factory=list)


def options(data):
    out = {}
    while len(data) >= 4:
        code, length = struct.unpack_from("=HH", data)
        if code == 0:
            break
        out[code] = data[4:4 + length]
        data = data[4 + (length + 3) // 4 * 4:]
    return out


def packet(body):
    interface, high, low, cap, size = struct.unpack_from("=IIIII", body)
    opts = options(body[20 + (cap + 3) // 4 * 4:])
    flags, queue = struct.unpack("=I", opts[2])[0], struct.unpack("=I", opts[6])[0]
    assert flags & 3 in (1, 2) and cap <= size
    return Frame(interface, high << 32 | low, size, body[20:20 + cap], flags & 3 == 1, queue)


def blocks(path):
    """The file, which must be whole blocks of one section: its head first, its statistics last."""
    with open(path, "rb") as f:
        data = f.read()
    out, at = File(), 0
    while at < len(data):
        kind, length = struct.unpack_from("=II", data, at)
        assert length % 4 == 0 and at + length <= len(data), f"{path}: a block of {length} at {at} of {len(data)}"
        assert struct.unpack_from("=I", data, at + length - 4)[0] == length
        body = data[at + 8:at + length - 4]
        assert (at == 0) == (kind == SECTION)
        assert kind == STATS or not out.stats, "something is behind the statistics"
        if kind == SECTION:
            out.section = {k: v.decode() for k, v in options(body[16:]).items()}
        elif kind == INTERFACE:
            out.interfaces.append({NAMES[k]: v for k, v in options(body[8:]).items() if k in NAMES})
        elif kind == PACKET:
            out.frames.append(packet(body))
        elif kind == STATS:
            opts = options(body[12:])
            out.stats.append({COUNTS[k]: struct.unpack("=Q", v)[0] for k, v in opts.items() if k in COUNTS})
        else:
            raise AssertionError(f"{path}: block {kind}")
        at += length
    return out


def judged(path, ended=True):
    """The same, after Wireshark's tools have read it without a word, and found as many frames."""
    r = subprocess.run(["capinfos", "-M", "-c", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert r.returncode == 0 and "cut short" not in r.stderr, r.stderr
    found = int(r.stdout.split("Number of packets:")[1].split()[0])
    t = subprocess.run(["tshark", "-n", "-r", str(path), "-T", "fields", "-e", "frame.number"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       text=True)
    assert t.returncode == 0, t.stderr
    out = blocks(path)
    assert found == len(t.stdout.split()) == len(out.frames)
    assert not ended or len(out.stats) == len(out.interfaces)
    return out
