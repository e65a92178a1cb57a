# SPDX-License-Identifier: BSD-3-Clause
"""The formulas of lib/vary/vary.h once more, from their text: the value of a field in the frame with a given ordinal."""

from dataclasses import dataclass, field

U32, U64 = (1 << 32) - 1, (1 << 64) - 1


def r32(seed, word, o):
    z = (seed + word * 0x9E3779B97F4A7C15 + (o >> 32) * 0xD1B54A32D192ED03) & U64
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & U64
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & U64
    key = z ^ z >> 31
    x = (o + key) & U32
    x = ((x ^ x >> 16) * 0x7FEB352D) & U32
    x = ((x ^ x >> 15) * 0x846CA68B) & U32
    return x ^ x >> 16 ^ key >> 32


def words(seed, n, o):
    value = 0
    for w in range(n):
        value = value << 32 | r32(seed, w, o)
    return value


def name_seed(name):
    """FNV-1a, 64 bits."""
    seed = 0xCBF29CE484222325
    for byte in name.encode():
        seed = (seed ^ byte) * 0x100000001B3 & U64
    return seed


def random_payload(seed, ordinal, n):
    """Bytes of a block that the seed alone decides, from a window that moves with the ordinal."""
    first = ordinal * 40503 % 65536
    block = b"".join(r32(seed, 0, i).to_bytes(4, "big") for i in range(first // 4, (first + n) // 4 + 1))
    return block[first % 4 : first % 4 + n]


@dataclass
class Vary:
    """How a field changes. `text` is what a user writes, with `show` for one value."""

    kind: str  # range, list, random, mask
    bits: int
    lo: int = 0
    hi: int = 0
    step: int = 1
    first: int = 0
    down: bool = False
    values: list = field(default_factory=list)
    mask: int = 0
    seed: int = 0  # 0: that of the field's name
    repeat: int = 0
    whole: bool = False  # random over the width, written without bounds
    prefix: int = 0  # range written as address/length

    def laps(self):
        """A range's first way to its end, and the way that it repeats from then on."""
        if self.down:
            return range(self.first, self.lo - 1, -self.step), range(self.hi, self.lo - 1, -self.step)
        return range(self.first, self.hi + 1, self.step), range(self.lo, self.hi + 1, self.step)

    def period(self):
        """After so many values it starts over; 0: never."""
        if self.kind == "range":
            once, again = self.laps()
            return len(again) if self.first in again else 0
        return len(self.values) if self.kind == "list" else self.repeat

    def at(self, p):
        if self.kind == "range":
            once, again = self.laps()
            return once[p] if p < len(once) else again[(p - len(once)) % len(again)]
        if self.kind == "list":
            return self.values[p % len(self.values)]
        q = p % self.repeat if self.repeat else p
        if self.kind == "mask":
            return self.first & ~self.mask | words(self.seed, 1 if self.bits <= 32 else 2 if self.bits <= 64 else 4, q) & self.mask
        span = self.hi - self.lo + 1
        n = next(w for w in (1, 2, 3, 4) if span <= 1 << 32 * w) + 1
        return self.lo + (words(self.seed, n, q) * span >> 32 * n)

    def text(self, show):
        tail = (f" repeat {self.repeat}" if self.repeat else "") + (f" seed {self.seed}" if self.seed else "")
        if self.kind == "range" and self.prefix:
            return f"{show(self.lo)}/{self.prefix}"
        if self.kind == "range":
            a, b = (self.hi, self.lo) if self.down else (self.lo, self.hi)
            start = f" from {show(self.first)}" if self.first != a else ""
            return f"{show(a)}..{show(b)}" + (f" step {self.step}" if self.step != 1 else "") + start
        if self.kind == "mask":
            return f"{show(self.first)} mask {self.mask:#x}{tail}"
        return "random" + ("" if self.whole else f" {show(self.lo)}..{show(self.hi)}") + tail
