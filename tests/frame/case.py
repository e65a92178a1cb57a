# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of frames: a stack, values and variations of its fields, size and payload; as our program reads them, and as values for
scapy. A key is (header, which of its kind, field), ("ipv4", 2, "src"). A value is a number, bytes, or a Vary."""

import ipaddress
import json
import os
import subprocess
from dataclasses import dataclass, field, replace

from formulas import Vary, name_seed, random_payload

DUMP = os.environ.get("FRAME_DUMP")
ABC = b"abcdefghijklmnopqrstuvwxyz012345"


class Table:
    """What the program says of its protocols."""

    def __init__(self):
        said = json.loads(subprocess.run([DUMP, "--table"], capture_output=True, text=True, check=True).stdout)
        self.protos = {p["name"]: p for p in said["protos"]}
        self.fields = {n: {f["name"]: f for f in p["fields"]} for n, p in self.protos.items()}
        self.headers = [n for n, p in self.protos.items() if not p.get("is_payload")]
        self.starts = [n for n in self.headers if self.protos[n].get("starts")]
        Case.table = self
        self.above = {n: [] for n in self.headers}
        for n in self.headers:
            for bind in self.protos[n]["binds"]:
                if n not in self.above[bind["lower"]]:
                    self.above[bind["lower"]].append(n)

    def field(self, key):
        return self.fields[key[0]][key[2]]

    def closed(self, header):
        """Does it carry nothing?"""
        proto = self.protos[header.name]
        return proto["closed"] and ("closed_when" not in proto or holds(proto["closed_when"], header.get(proto["closed_when"]["field"])))


def holds(cond, value):
    return any(low <= value <= high for low, high in cond["in"])


def show(row, number):
    """One value as a user writes it."""
    kind = row["kind"]
    if kind == "mac":
        return ":".join(f"{b:02x}" for b in number.to_bytes(6, "big"))
    if kind == "ip4":
        return str(ipaddress.IPv4Address(number))
    if kind == "ip6":
        return str(ipaddress.IPv6Address(number))
    return hex(number) if kind == "flags" else str(number)


def text_of(row, value):
    if isinstance(value, bytes):
        return value.hex()
    if not isinstance(value, Vary):
        return show(row, value)
    one = lambda number: show(row, number)
    if value.kind == "list":
        return "list " + ",".join(one(v) for v in value.values)
    return value.text(one)


@dataclass
class Case:
    stack: list
    size: int = 0
    values: dict = field(default_factory=dict)
    fill: str = "abc"  # abc zero none inc random user hex file
    text: bytes = b""  # of user, hex, file
    seed: int = 0  # of random
    nest: list = field(default_factory=list)  # of (key, True: steps together with the one before)
    rnd: list = field(default_factory=list)  # of {off, nbits, one, zero, rnd}
    at: list = field(default_factory=lambda: [0])  # ordinals asked for
    probes: list = field(default_factory=list)  # 16 bytes per ordinal asked for, stamped into the finished frame; a probe in every frame
    table = None  # for messages
    engine: dict = None  # {"isa": .., "queues": ..}: by the fast engine; else the plain way

    def request(self, table):
        ask = {"stack": "/".join(self.stack), "size": self.size, "fill": self.fill, "at": self.at, "set": {}}
        for key, value in self.values.items():
            ask["set"][spell(key)] = text_of(table.field(key), value)
        if self.fill == "user":
            ask["user"] = self.text.decode()
        elif self.fill in ("hex", "file"):
            ask["data"] = self.text.hex()
        elif self.fill == "random":
            ask["seed"] = self.seed
        if self.nest:
            ask["nest"] = [[spell(key), together] for key, together in self.nest]
        if self.probes:
            ask["probes"] = [p.hex() for p in self.probes]
        for name in ("rnd", "engine"):
            if getattr(self, name):
                ask[name] = getattr(self, name)
        return ask

    def div(self, key):
        """Ordinals per value of a field: the product of what the digits before its own count."""
        div = count = 1
        for k, together in self.nest:
            if not together:
                div, count = div * count, self.values[k].period()
            if k == key:
                return div
        return 1

    def value(self, key, ordinal):
        value = self.values.get(key)
        if not isinstance(value, Vary):
            return value
        return replace(value, seed=value.seed or name_seed(spell(key))).at(ordinal // self.div(key))

    def payload(self, ordinal, n):
        if self.probes:
            return self.probes[self.at.index(ordinal)] + self.filling(ordinal, n - 16)
        return self.filling(ordinal, n)

    def filling(self, ordinal, n):
        if self.fill == "random":
            return random_payload(self.seed, ordinal, n)
        text = {"abc": ABC, "zero": b"\0", "none": b"\0", "inc": bytes(range(256))}.get(self.fill, self.text)
        return (text * (n // len(text) + 1))[:n]

    def __str__(self):
        return json.dumps(self.request(Case.table) if Case.table else [self.stack, str(self.values)])


def spell(key):
    name, nth, fieldname = key
    return f"{name}.{fieldname}" if nth == 1 else f"{name}[{nth}].{fieldname}"


class Header:
    """One header of a frame as its scapy builder sees it: its neighbours, what lies above as scapy's packet (or None), and what each
    field holds in the frame of this ordinal."""

    def __init__(self, case, table, ordinal, i, upper):
        self.case, self.table, self.ordinal, self.i = case, table, ordinal, i
        self.name = case.stack[i]
        self.nth = case.stack[: i + 1].count(self.name)
        self.above = case.stack[i + 1] if i + 1 < len(case.stack) else None
        self.below = case.stack[i - 1] if i else None
        self.packet = upper
        self.asked = set()

    @property
    def upper(self):
        return b"" if self.packet is None else bytes(self.packet)

    def given(self, fieldname):
        self.asked.add(fieldname)
        return self.case.value((self.name, self.nth, fieldname), self.ordinal)

    def get(self, fieldname, auto=None):
        """What the description says, else what the header's neighbours ask for, else the table's default. None: scapy fills it in."""
        value = self.given(fieldname)
        if value is not None:
            return value
        return auto if auto is not None else default(self.table.fields[self.name][fieldname])

    def mac(self, fieldname):
        return show({"kind": "mac"}, self.get(fieldname) or 0)

    def ip4(self, fieldname):
        return show({"kind": "ip4"}, self.get(fieldname) or 0)

    def ip6(self, fieldname):
        return show({"kind": "ip6"}, self.get(fieldname) or 0)

    def at(self, i):
        return Header(self.case, self.table, self.ordinal, i, None)

    def under(self, *names):
        """The nearest header below of these names, or None."""
        for i in reversed(range(self.i)):
            if self.case.stack[i] in names:
                return self.at(i)
        return None


def default(row):
    """The number that a row's default means; 0 where a plain field has none, None where a role fills it in."""
    text = row.get("dflt")
    if text is None:
        return 0 if row["role"] in ("plain", "frag", "more") and row["kind"] != "bytes" else None
    if row["kind"] == "mac":
        return int(text.replace(":", ""), 16)
    if row["kind"] in ("ip4", "ip6"):
        return int(ipaddress.ip_address(text))
    if row["kind"] == "flags" and not text[0].isdigit():
        return sum(1 << row["choices"].index(w) for w in text.split(",") if w != "none")
    return bytes.fromhex(text) if row["kind"] == "bytes" else int(text, 0)


def dump(cases, table, dissect=True):
    """One answer of our program per case: {"frames": [bytes], "dissect": .. of each}."""
    asks = [dict(c.request(table) if isinstance(c, Case) else {"hex": c.hex()}, dissect=dissect) for c in cases]
    done = subprocess.run([DUMP], input="".join(json.dumps(a) + "\n" for a in asks), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == len(cases)
    answers = []
    for case, line in zip(cases, lines):
        answer = json.loads(line)
        assert "error" not in answer, f"{case}: {answer.get('error')}"
        answer["frames"] = [bytes.fromhex(f) for f in answer["frames"]]
        answers.append(answer)
    return answers
