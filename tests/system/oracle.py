# SPDX-License-Identifier: BSD-3-Clause
"""What frame k must be, said again in the plainest way: schedule, ordinals, values, checksums. Nothing here looks at the program's code."""
import struct

M64 = (1 << 64) - 1


def r32(seed, word, o):
    """A random word: lib/vary/vary.h."""
    z = (seed + word * 0x9E3779B97F4A7C15 + (o >> 32) * 0xD1B54A32D192ED03) & M64
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & M64
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & M64
    key = z ^ z >> 31
    x = (o + key) & 0xFFFFFFFF
    x = ((x ^ x >> 16) * 0x7FEB352D) & 0xFFFFFFFF
    x = ((x ^ x >> 15) * 0x846CA68B) & 0xFFFFFFFF
    return x ^ x >> 16 ^ key >> 32


def field_seed(name):
    """The seed of a field that was given none: FNV-1a of its name."""
    h = 0xCBF29CE484222325
    for c in name.encode():
        h = ((h ^ c) * 0x100000001B3) & M64
    return h


def ranged(a, b, step, o):
    """a..b step s, up or down, both ends inclusive, starting over."""
    n = abs(b - a) // step + 1
    return a + (o % n) * step * (1 if b >= a else -1)


def randomly(lo, hi, seed, o, repeat=0):
    span, o = hi - lo + 1, o % repeat if repeat else o
    words = next(n for n in (1, 2, 3, 4) if span <= 1 << 32 * n) + 1
    r = 0
    for w in range(words):
        r = r << 32 | r32(seed, w, o)
    return lo + (r * span >> 32 * words)


def round_robin(weights):
    """One cycle: round r serves, in order, everything whose weight is above r."""
    return [i for r in range(max(weights)) for i, w in enumerate(weights) if w > r]


def schedule(weights, count, limits=None):
    """(stream, ordinal) of the first `count` frames; limits: frames that a stream may send, None: no bound."""
    limits = limits or [None] * len(weights)
    sent, out = [0] * len(weights), []
    alive = lambda i: limits[i] is None or sent[i] < limits[i]
    while len(out) < count and any(alive(i) for i in range(len(weights))):
        for i in round_robin(weights):
            if alive(i) and len(out) < count:
                out.append((i, sent[i]))
                sent[i] += 1
    return out


def ones_sum(data):
    if len(data) % 2:
        data += b"\0"
    s = sum(struct.unpack(f">{len(data) // 2}H", data))
    while s >> 16:
        s = (s & 0xFFFF) + (s >> 16)
    return s


def checksums_good(frame):
    """IPv4 header and UDP or TCP checksums of eth[/vlan..]/ipv4|ipv6/udp|tcp; UDP must carry one."""
    at = 12
    while frame[at:at + 2] in (b"\x81\x00", b"\x88\xa8"):
        at += 4
    kind, ip = frame[at:at + 2], at + 2
    if kind == b"\x08\x00":
        ihl, total, proto = (frame[ip] & 15) * 4, struct.unpack_from(">H", frame, ip + 2)[0], frame[ip + 9]
        if ones_sum(frame[ip:ip + ihl]) != 0xFFFF:
            return False
        l4, end, addresses = ip + ihl, ip + total, frame[ip + 12:ip + 20]
    elif kind == b"\x86\xdd":
        proto, l4, addresses = frame[ip + 6], ip + 40, frame[ip + 8:ip + 40]
        end = l4 + struct.unpack_from(">H", frame, ip + 4)[0]
    else:
        return False
    if proto not in (6, 17):
        return False
    if proto == 17 and frame[l4 + 6:l4 + 8] == b"\0\0":
        return False
    return ones_sum(addresses + struct.pack(">HH", proto, end - l4) + frame[l4:end]) == 0xFFFF


def read_pcap(path):
    """Frames of a classic pcap file, in order."""
    with open(path, "rb") as f:
        data = f.read()
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    frames, at = [], 24
    while at < len(data):
        n = struct.unpack_from(order + "I", data, at + 8)[0]
        frames.append(data[at + 16:at + 16 + n])
        at += 16 + n
    return frames


def u16(frame, at):
    return frame[at] << 8 | frame[at + 1]


def u32(frame, at):
    return struct.unpack_from(">I", frame, at)[0]
