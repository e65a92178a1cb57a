#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The log of lib/hist, read by a decoder that knows nothing of lib/hist: HdrHistogram's V2 encoding as published.

  log_test.py HIST_DUMP [FILE]     with FILE: keep the log there

Values are made here from fixed seeds, and what a bucket is is computed here too, from the fields in the encoding alone."""
import base64
import math
import os
import random
import struct
import subprocess
import sys
import zlib

PERCENTS = [0.001, 1, 10, 25, 50, 75, 90, 99, 99.9, 99.99, 99.999, 100]


class Histogram:
    """What one line of the log decodes to: buckets as {index: count}."""

    def __init__(self, text):
        packed = base64.b64decode(text, validate=True)
        cookie, length = struct.unpack_from(">II", packed)
        assert cookie & ~0xF0 == 0x1C849304, hex(cookie)
        assert length == len(packed) - 8
        plain = zlib.decompress(packed[8:])
        cookie, length, offset, self.digits, self.lowest, self.highest, self.ratio = struct.unpack_from(">IIiiqqd", plain)
        assert cookie & ~0xF0 == 0x1C849303, hex(cookie)
        assert cookie & 0x10, "counts are of variable length"
        assert length == len(plain) - 40, "payload ends where it says"
        assert offset == 0 and self.lowest == 1 and self.ratio == 1.0
        # single units up to 2 x 10^digits; then half of that many buckets for each power of two
        self.sub_count = 1 << math.ceil(math.log2(2 * 10**self.digits))
        self.half = self.sub_count // 2
        buckets, reach = 1, self.sub_count
        while reach <= self.highest:
            buckets, reach = buckets + 1, reach * 2
        self.buckets = (buckets + 1) * self.half
        self.counts = self.read_counts(plain[40:])

    def read_counts(self, data):
        counts, at, index = {}, 0, 0
        while at < len(data):
            value, at = self.zigzag(data, at)
            if value < 0:
                assert value < -1, "one empty bucket is a 0"
                index += -value
            else:
                if value:
                    counts[index] = value
                index += 1
        assert index <= self.buckets, "as many buckets as the highest value needs"
        return counts

    @staticmethod
    def zigzag(data, at):
        value = 0
        for i in range(9):
            byte = data[at]
            at += 1
            if i == 8:
                value |= byte << 56
                break
            value |= (byte & 0x7F) << (7 * i)
            if not byte & 0x80:
                break
        return (value >> 1) ^ -(value & 1), at

    def begin(self, index):
        bucket, sub = index // self.half - 1, index % self.half + self.half
        if bucket < 0:
            bucket, sub = 0, sub - self.half
        return sub << bucket

    def end(self, index):
        return self.begin(index + 1) - 1

    def bucket(self, value):
        bucket = max(0, value.bit_length() - self.sub_count.bit_length() + 1)
        return bucket * self.half + (value >> bucket)

    def total(self):
        return sum(self.counts.values())

    def percentile(self, percent):
        rank, seen = max(1, math.ceil(round(percent / 100 * self.total(), 6))), 0
        for index, count in sorted(self.counts.items()):
            seen += count
            if seen >= rank:
                return self.end(index)
        raise AssertionError("no values")


DIGITS = {1: 1, 4: 1, 5: 2, 6: 2, 7: 2, 8: 3, 10: 3, 11: 4, 14: 4}


def cases():
    rng = random.Random(20260)
    for bits in DIGITS:
        for top in (bits + 1, 36, 40, 63):
            for kind in ("one", "spread", "peaks", "dense", "empty"):
                if kind == "one":
                    values = [((1 << top) - 1, 1)]
                elif kind == "spread":
                    values = [(int(2 ** (rng.random() * top)), rng.randint(1, 5)) for _ in range(400)]
                elif kind == "peaks":
                    values = [(0, 3), (1, 1), (3, 1), ((1 << top) // 2, 10**6), ((1 << top) - 1, 1)]
                elif kind == "dense":
                    values = [(v, rng.choice((1, 64, 8191, 8192))) for v in range(min(1 << top, 300))]
                else:
                    values = []
                yield bits, top, kind, values
    yield 6, 36, "above", [(1000, 7), (1 << 36, 2), ((1 << 60) + 5, 1)]
    yield 10, 36, "above", [(5, 1), (1 << 36, 1)]
    yield 10, 63, "above", [(5, 1), ((1 << 64) - 1, 1)]


def expected_buckets(h, bits, top, values):
    """A shape of HdrHistogram keeps its buckets; another one's count at the highest value of theirs, those above at the first value beyond."""
    buckets = {}
    own = (1 << bits) * 2
    for value, times in values:
        if value >> top:
            value = min(1 << top, (1 << 63) - 1)
        else:
            shift = max(0, value.bit_length() - own.bit_length() + 1)
            value |= (1 << shift) - 1
        buckets[h.bucket(value)] = buckets.get(h.bucket(value), 0) + times
    return buckets


def check(case, expect, line, number):
    bits, top, kind, values = case
    count, low, high, mean, stdev, *percentiles = expect
    tag, start, length, maximum, text = line.split(",")
    assert tag == f"Tag={kind}_{number}"
    assert (start, length) == (f"{number}.500", "1.000")
    h = Histogram(text)
    assert h.digits == DIGITS[bits], (h.digits, bits)
    assert h.half >= 1 << bits, "never coarser than the histogram itself"
    assert h.counts == expected_buckets(h, bits, top, values)
    assert h.total() == int(count) == sum(times for _, times in values)
    if not values:
        return
    beyond = any(value >> top for value, _ in values)
    assert beyond or h.highest >= (1 << top) - 1
    for percent, ours in zip(PERCENTS, map(int, percentiles)):
        if ours == (1 << 64) - 1:
            assert h.percentile(percent) >= min(1 << top, (1 << 63) - 1)
        else:
            assert h.percentile(percent) == ours, percent
    most = h.end(max(h.counts))
    if not beyond:
        assert most == int(high)
        ordered = sorted(values)
        exact = sum(v * n for v, n in ordered) / sum(n for _, n in ordered)
        assert abs(float(mean) - exact) <= exact * 1e-12
        # a bucket of the coarse shape at its highest value is at most its width off
        decoded = sum((h.begin(i) + h.end(i)) / 2 * n for i, n in h.counts.items()) / h.total()
        assert abs(decoded - exact) <= exact / (1 << bits) + 1e-9
    assert maximum == f"{most / 1e6:.3f}"


def main(program, keep=None):
    asked = list(cases())
    feed = "comment made by a test\n"
    for i, (bits, top, kind, values) in enumerate(asked):
        feed += f"hist {bits} {top} {kind},{i} {i}.5 1 1e6\n" + "".join(f"{v} {n}\n" for v, n in values)
    # A program for another machine is run by an emulator.
    wrapper = os.environ.get("MESON_EXE_WRAPPER", "").split()
    out = subprocess.run([*wrapper, program], input=feed, capture_output=True, text=True, check=True).stdout
    expects, log = out.split("log\n", 1)
    if keep:
        with open(keep, "w") as file:
            file.write(log)
    lines = log.splitlines()
    passed = failed = 0
    head = ["#made by a test", "#[Histogram log format version 1.3]",
            "#[StartTime: 1700000000.250 (seconds since epoch), 2023-11-14T22:13:20Z]",
            '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"']
    remarks = [line for line in lines[len(head):] if line.startswith("#")]
    data = [line for line in lines[len(head):] if not line.startswith("#")]
    wanted = ["#3 values out of range stand at 68719476736 in the next interval",
              "#1 values out of range stand at 68719476736 in the next interval",
              "#1 values out of range stand at 9223372036854775807 in the next interval"]
    for name, good in (("head", lines[: len(head)] == head), ("remarks", remarks == wanted), ("lines", len(data) == len(asked))):
        passed, failed = passed + good, failed + (not good)
        if not good:
            print("FAILED", name, *lines[:5], *remarks, sep="\n")
    for i, (case, expect, line) in enumerate(zip(asked, expects.splitlines(), data)):
        try:
            check(case, expect.split()[1:], line, i)
            passed += 1
        except (AssertionError, ValueError, struct.error, zlib.error, IndexError) as error:
            failed += 1
            print("FAILED", case[:3], type(error).__name__, error)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
