# SPDX-License-Identifier: BSD-3-Clause
"""Golden frames: lib/frame builds, scapy builds the same from the same description, tshark judges the result.

FRAME_DUMP names the helper program. FRAME_SEED repeats a run; without it every run has a seed of its own, which is printed.
"""

import ipaddress
import json
import os
import random
import shutil
import struct
import subprocess

import pytest

scapy = pytest.importorskip("scapy.all")

DUMP = os.environ.get("FRAME_DUMP")
if not DUMP:
    pytest.skip("FRAME_DUMP does not name the helper program", allow_module_level=True)
if not shutil.which("tshark"):
    pytest.skip("tshark is not installed", allow_module_level=True)

SEED = int(os.environ.get("FRAME_SEED") or random.SystemRandom().randrange(1 << 32))

UPPER = ["", "ipv4", "ipv4/udp", "ipv4/tcp", "ipv4/ipv4", "ipv4/ipv4/udp", "ipv4/ipv4/tcp", "ipv4/ipv4/ipv4/udp"]
STACKS = ["/".join(["eth"] + ["vlan"] * n + ([u] if u else [])) for n in range(4) for u in UPPER]
SIZES = [0, 65, 67, 100, 128, 255, 511, 1517, 1518, 9017, 9018]
LEN = {"eth": 14, "vlan": 4, "ipv4": 20, "udp": 8, "tcp": 20}
ABC = b"abcdefghijklmnopqrstuvwxyz012345"
TCP_FLAGS = ["fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr"]
IP_FLAGS = ["mf", "df", "rb"]

# Width in bits, or the kind, of the fields that carry plain values.
PLAIN = {
    "eth": {"dst": "mac", "src": "mac"},
    "vlan": {"pcp": 3, "dei": 1, "vid": 12},
    "ipv4": {"tos": 8, "id": 16, "ttl": 8, "src": "ip", "dst": "ip", "flags": "df"},
    "udp": {"src": 16, "dst": 16},
    "tcp": {"src": 16, "dst": 16, "seq": 32, "ack": 32, "res": 4, "flags": "tcp", "window": 16, "urgptr": 16},
}
ROLES = {
    "eth": {"type": 16},
    "vlan": {"type": 16},
    "ipv4": {"version": 4, "ihl": 4, "len": 16, "proto": 8, "cksum": 16},
    "udp": {"len": 16, "cksum": 16},
    "tcp": {"off": 4, "cksum": 16},
}


class Case:
    def __init__(self, stack, size=0, values=None, fill="abc"):
        self.headers = stack.split("/")
        self.stack, self.size, self.values, self.fill = stack, size, values or {}, fill

    def line(self):
        return " ".join([self.stack, str(self.size), self.fill] + [f"{k}={v}" for k, v in self.values.items()])

    def value(self, i, field):
        """The value given for a field of header i, or None."""
        nth = self.headers[: i + 1].count(self.headers[i])
        name = self.headers[i]
        if nth == 1 and f"{name}.{field}" in self.values:
            return self.values[f"{name}.{field}"]
        return self.values.get(f"{name}[{nth}].{field}")

    def scapy_bytes(self):
        hdrs = sum(LEN[h] for h in self.headers)
        total = (self.size or max(64, hdrs + 4)) - 4
        text = {"abc": ABC, "zero": b"\0"}.get(self.fill) or self.fill.split(":")[1].encode()
        payload = (text * (total // len(text) + 1))[: total - hdrs]
        pkt = None
        for i, name in enumerate(self.headers):
            layer = self.layer(i, name)
            pkt = layer if pkt is None else pkt / layer
        return bytes(pkt / payload) if payload else bytes(pkt)

    def layer(self, i, name):
        last = i + 1 == len(self.headers)

        def num(field, default=None):
            v = self.value(i, field)
            return default if v is None else int(str(v), 0)

        def flags(names, default):
            v = self.value(i, "flags")
            if v is None:
                return default
            return sum(1 << names.index(w) for w in v.split(",") if w != "none")

        if name == "eth":
            mac = lambda f: self.value(i, f) or "00:00:00:00:00:00"
            kind = num("type", 0x88B5 if last else None)
            return scapy.Ether(dst=mac("dst"), src=mac("src"), **({} if kind is None else {"type": kind}))
        if name == "vlan":
            kind = num("type", 0x88B5 if last else None)
            return scapy.Dot1Q(prio=num("pcp", 0), id=num("dei", 0), vlan=num("vid", 1), **({} if kind is None else {"type": kind}))
        if name == "ipv4":
            proto = num("proto", 253 if last else None)
            return scapy.IP(
                version=num("version", 4), ihl=num("ihl"), tos=num("tos", 0), len=num("len"), id=num("id", 0),
                flags=flags(IP_FLAGS, 0), frag=num("frag", 0), ttl=num("ttl", 64), chksum=num("cksum"),
                src=self.value(i, "src") or "0.0.0.0", dst=self.value(i, "dst") or "0.0.0.0",
                **({} if proto is None else {"proto": proto}))
        if name == "udp":
            return scapy.UDP(sport=num("src", 1234), dport=num("dst", 5678), len=num("len"), chksum=num("cksum"))
        # scapy's reserved bits are three, its ninth flag is the lowest of our four.
        res = num("res", 0)
        return scapy.TCP(
            sport=num("src", 1234), dport=num("dst", 5678), seq=num("seq", 0x12378), ack=num("ack", 0x12390),
            dataofs=num("off"), reserved=res >> 1, flags=(res & 1) << 8 | flags(TCP_FLAGS, 16), window=num("window", 8192),
            chksum=num("cksum"), urgptr=num("urgptr", 0))


def random_value(rng, kind):
    if kind == "mac":
        return ":".join(f"{b:02x}" for b in rng.randbytes(6))
    if kind == "ip":
        return str(ipaddress.IPv4Address(rng.getrandbits(32)))
    if kind == "df":
        return rng.choice(["none", "df"])
    if kind == "tcp":
        return ",".join(rng.sample(TCP_FLAGS, rng.randint(1, 8)))
    top = (1 << kind) - 1
    return rng.choice([0, 1, top, rng.getrandbits(kind), hex(rng.getrandbits(kind))])


def random_values(rng, stack, table, chance):
    seen, values = {}, {}
    for name in stack.split("/"):
        seen[name] = seen.get(name, 0) + 1
        where = name if seen[name] == 1 and rng.random() < 0.9 else f"{name}[{seen[name]}]"
        for field, kind in table[name].items():
            if rng.random() < chance:
                values[f"{where}.{field}"] = random_value(rng, kind)
    return values


def random_size(rng, stack):
    least = max(64, 4 + sum(LEN[h] for h in stack.split("/")))
    return rng.choice([0, least, rng.randint(least, 200), rng.randint(least, 1518), rng.randint(least, 9018)])


def dump(cases):
    """[(bytes, dissection)] of all cases."""
    text = "".join(c.line() + "\n" for c in cases)
    out = subprocess.run([DUMP], input=text, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(out) == len(cases)
    frames = []
    for case, line in zip(cases, out):
        assert not line.startswith("error"), f"{case.line()}: {line}"
        hexed, dissected = line.split(" ", 1)
        frames.append((bytes.fromhex(hexed), json.loads(dissected)))
    return frames


def agree_with_scapy(cases, frames):
    for case, (got, _) in zip(cases, frames):
        want = case.scapy_bytes()
        assert got == want, f"seed {SEED}: {case.line()}\n ours  {got.hex()}\n scapy {want.hex()}"


# tshark's name of each of our fields; a function where it shows the number in another unit.
TSHARK = {
    "eth": {"dst": "eth.dst", "src": "eth.src", "type": "eth.type"},
    "vlan": {"pcp": "vlan.priority", "dei": "vlan.dei", "vid": "vlan.id", "type": "vlan.etype"},
    "ipv4": {
        "version": "ip.version", "ihl": "ip.hdr_len", "tos": "ip.dsfield", "len": "ip.len", "id": "ip.id", "flags": "ip.flags",
        "frag": "ip.frag_offset", "ttl": "ip.ttl", "proto": "ip.proto", "cksum": "ip.checksum", "src": "ip.src", "dst": "ip.dst",
    },
    "udp": {"src": "udp.srcport", "dst": "udp.dstport", "len": "udp.length", "cksum": "udp.checksum"},
    "tcp": {
        "src": "tcp.srcport", "dst": "tcp.dstport", "seq": "tcp.seq", "ack": "tcp.ack", "off": "tcp.hdr_len", "flags": "tcp.flags",
        "window": "tcp.window_size_value", "cksum": "tcp.checksum", "urgptr": "tcp.urgent_pointer",
    },
}
STATUS = {"ipv4": "ip.checksum.status", "udp": "udp.checksum.status", "tcp": "tcp.checksum.status"}
EXTRA = ["frame.len", "_ws.malformed", "_ws.expert.message", "_ws.expert.group", "_ws.expert.severity"]


def tshark(frames, path):
    """One dict of tshark's fields per frame. What a port number may stand for is none of this test's business: data."""
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for data, _ in frames:
            f.write(struct.pack("<IIII", 0, 0, len(data), len(data)) + data)
    names = EXTRA + list(STATUS.values()) + [t for fields in TSHARK.values() for t in fields.values()]
    cmd = ["tshark", "-n", "-r", str(path), "-T", "fields", "-E", "separator=|", "-E", "occurrence=a", "-E", "aggregator=~"]
    for pref in ["ip.check_checksum:TRUE", "tcp.check_checksum:TRUE", "udp.check_checksum:TRUE", "ip.defragment:FALSE",
                 "tcp.analyze_sequence_numbers:FALSE", "tcp.relative_sequence_numbers:FALSE"]:
        cmd += ["-o", pref]
    for table in ["udp.port", "tcp.port"]:
        cmd += ["-d", table + "==0-65535,data"]
    for name in names:
        cmd += ["-e", name]
    out = subprocess.run(cmd, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(out) == len(frames)
    return [{n: v.split("~") if v else [] for n, v in zip(names, line.split("|"))} for line in out]


def as_text(name, field, value):
    """Our dissection's value in a form to compare with tshark's."""
    if isinstance(value, str) and field == "flags":
        names = TCP_FLAGS if name == "tcp" else IP_FLAGS
        if value[0].isdigit():
            return int(value, 0)
        return sum(1 << names.index(w) for w in value.split(",") if w != "none")
    if (name, field) in (("ipv4", "ihl"), ("tcp", "off")):
        return value * 4
    return value


# Wireshark's expert groups checksum, undecoded, malformed, and its severity error.
BAD_GROUPS, ERROR = (1 << 24, 5 << 24, 7 << 24), 0x00800000


def complaints(seen, strict):
    """Random values that are legal to send meet remarks (TTL of 0, SYN with FIN, group source MAC): not strict, these are let pass."""
    experts = zip(seen["_ws.expert.message"], seen["_ws.expert.group"], seen["_ws.expert.severity"])
    return seen["_ws.malformed"] + [m for m, g, s in experts if strict or int(g) in BAD_GROUPS or int(s) >= ERROR]


def fields_agree(case, dissected, seen):
    for name in set(h["name"] for h in dissected["headers"]):
        headers = [h["fields"] for h in dissected["headers"] if h["name"] == name]
        for field, theirs in TSHARK[name].items():
            ours = [as_text(name, field, h[field]) for h in headers]
            if (name, field) == ("tcp", "flags"):
                ours = [h | headers[0]["res"] << 8 for h in ours]
            got = [v if isinstance(ours[0], str) else {"True": 1, "False": 0}.get(v) if v in ("True", "False") else int(v, 0)
                   for v in seen[theirs]]
            assert got == ours, f"seed {SEED}: {case.line()}: {theirs} {seen[theirs]}, {name}.{field} {ours}"


def judge(cases, tmp_path, strict=True):
    """Everything about frames that are as they should be."""
    frames = dump(cases)
    agree_with_scapy(cases, frames)
    for case, (data, dissected), seen in zip(cases, frames, tshark(frames, tmp_path / "frames.pcap")):
        where = f"seed {SEED}: {case.line()}"
        assert seen["frame.len"] == [str(len(data))], where
        assert case.size in (0, len(data) + 4), where
        assert complaints(seen, strict) == [], where
        assert dissected["stack"] == case.stack, where
        assert dissected["hex"] == data.hex(), where
        for name, status in STATUS.items():
            n = case.headers.count(name)
            assert seen[status] == ["1"] * n, f"{where}: {status} {seen[status]}"
            assert [h["fields"].get("cksum_ok") for h in dissected["headers"] if h["name"] == name] == [True] * n, where
        fields_agree(case, dissected, seen)


def test_all_stacks_and_sizes(tmp_path):
    least = {s: max(64, 4 + sum(LEN[h] for h in s.split("/"))) for s in STACKS}
    # Neither tshark nor a host takes IPv4 addresses of zero for wrong, but scapy's defaults are others: say what is meant.
    addr = {"ipv4.src": "192.168.0.1", "ipv4.dst": "192.168.1.1", "ipv4[2].src": "10.0.0.1", "ipv4[2].dst": "10.0.0.2"}
    judge([Case(s, z, addr) for s in STACKS for z in SIZES + [least[s]] if z == 0 or z >= least[s]], tmp_path)


@pytest.mark.parametrize("stack", ["eth/ipv4/udp", "eth/vlan/ipv4/tcp"])
def test_every_size(stack, tmp_path):
    judge([Case(stack, z) for z in range(64, 1519)], tmp_path)


def test_random_values(tmp_path):
    rng = random.Random(SEED)
    print("seed", SEED)
    cases = []
    for stack in STACKS * 20:
        values = random_values(rng, stack, PLAIN, 0.5)
        cases.append(Case(stack, random_size(rng, stack), values, rng.choice(["abc", "zero", "user:xy", "user:0123456789abcde"])))
    judge(cases, tmp_path, strict=False)


def test_overrides_agree_with_scapy():
    """Values of roles that are wrong on purpose: taken as they are, the others unmoved."""
    rng = random.Random(SEED)
    cases = []
    for stack in STACKS * 20:
        values = random_values(rng, stack, ROLES, 0.3)
        # scapy takes the pseudo header's length from a length that was set; ours is over the bytes that are there.
        if any(h in stack for h in ("udp", "tcp")):
            values = {k: v for k, v in values.items() if not (k.startswith("ipv4") and k.endswith(".len"))}
        cases.append(Case(stack, random_size(rng, stack), values))
    agree_with_scapy(cases, dump(cases))


def test_overridden_length_leaves_the_rest():
    for stack, l4sum in [("eth/ipv4/udp", 40), ("eth/ipv4/tcp", 50)]:
        (good, _), (bad, _) = dump([Case(stack, 99), Case(stack, 99, {"ipv4.len": 20})])
        assert good[:16] == bad[:16] and bad[16:18] == b"\0\x14" and good[18:24] == bad[18:24] and good[26:] == bad[26:]
        assert good[l4sum:l4sum + 2] != b"\0\0"


def test_tshark_sees_wrong_checksums(tmp_path):
    """The judges can say no."""
    cases = [Case("eth/ipv4/udp", 80, {"ipv4.cksum": 1}), Case("eth/ipv4/udp", 80, {"udp.cksum": 1}),
             Case("eth/ipv4/tcp", 80, {"tcp.cksum": 1}), Case("eth/ipv4/udp", 80, {"udp.len": 200})]
    frames = dump(cases)
    seen = tshark(frames, tmp_path / "bad.pcap")
    assert seen[0]["ip.checksum.status"] == ["0"] and seen[0]["udp.checksum.status"] == ["1"]
    assert seen[1]["ip.checksum.status"] == ["1"] and seen[1]["udp.checksum.status"] == ["0"]
    assert seen[2]["tcp.checksum.status"] == ["0"]
    assert all(complaints(s, strict=False) for s in seen)
    ours = [[h["fields"].get("cksum_ok") for h in d["headers"]] for _, d in frames]
    assert ours == [[None, False, True], [None, True, False], [None, True, False], [None, True, None]]


class Given(Case):
    """A frame that scapy made, only dissected by us."""

    def __init__(self, stack, packet):
        super().__init__(stack)
        self.packet = bytes(packet)

    def line(self):
        return "hex " + self.packet.hex()


def test_dissection_of_scapys_frames_agrees_with_tshark(tmp_path):
    """What the builder does not make: options, padding behind the length, fragments."""
    eth = scapy.Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02")
    ip = lambda **k: scapy.IP(src="10.0.0.1", dst="10.0.0.2", **k)
    tcp = scapy.TCP(flags="S", options=[("MSS", 1460), ("SAckOK", b""), ("Timestamp", (1, 0)), ("NOP", None), ("WScale", 7)])
    pad = scapy.Padding(b"\xee" * 10)
    cases = [
        Given("eth/ipv4/tcp", eth / ip() / tcp),
        Given("eth/ipv4/tcp", eth / ip(options=[scapy.IPOption_Router_Alert()]) / tcp / b"x"),
        Given("eth/ipv4/udp", eth / ip(options=[scapy.IPOption_RR(routers=["1.2.3.4"])]) / scapy.UDP() / pad),
        Given("eth/ipv4/tcp", eth / ip() / scapy.TCP() / pad),
        Given("eth/vlan/ipv4/ipv4/udp", eth / scapy.Dot1Q(vlan=5) / ip() / ip(ttl=3) / scapy.UDP() / b"odd" / pad),
        Given("eth/ipv4/udp", eth / ip(flags="MF") / scapy.UDP() / b"part"),
        Given("eth/ipv4", eth / ip(frag=10) / b"the second part"),
    ]
    frames = dump(cases)
    for case, (data, dissected), seen in zip(cases, frames, tshark(frames, tmp_path / "given.pcap")):
        assert data == case.packet and dissected["stack"] == case.stack
        padded = case.packet.endswith(b"\xee" * 10)
        assert dissected.get("padding") == ({"offset": len(data) - 10, "len": 10} if padded else None)
        fields_agree(case, dissected, seen)
        for name, status in STATUS.items():
            judged = {"1": True, "0": False}
            theirs = [judged.get(v) for v in seen[status]]
            assert [h["fields"].get("cksum_ok") for h in dissected["headers"] if h["name"] == name] == theirs, case.line()
