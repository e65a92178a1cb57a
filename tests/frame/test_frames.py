# SPDX-License-Identifier: BSD-3-Clause
"""Golden frames: lib/frame builds, scapy builds the same from the same description, tshark judges the result.

FRAME_DUMP names the helper program. What is random begins as tests/seed.py says."""

import ipaddress
import os
import random
import shutil
import struct
import sys

import pytest

scapy = pytest.importorskip("scapy.all")

from case import DUMP, Case, Header, Table, default, dump
from formulas import Vary

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from seed import random_seed

if not DUMP:
    pytest.skip("FRAME_DUMP does not name the helper program", allow_module_level=True)
if not shutil.which("tshark"):
    pytest.skip("tshark is not installed", allow_module_level=True)

import shark
import stacks
import values
from headers import frame_bytes
from shaping import harmless, words

SEED = random_seed()
MAX_SIZE = 16384
ISAS = [None, "scalar"]


@pytest.fixture(scope="session")
def table():
    return Table()


@pytest.fixture
def rng(request):
    print(f"WIRERATE_SEED={SEED}")
    return random.Random(f"{SEED} {request.node.name}")


def around(data, at):
    return data[: at + 64].hex() + (".." if at + 64 < len(data) else "")


def agree_with_scapy(cases, table, answers):
    """Every frame asked for is the one that scapy makes of the description at that ordinal. Returns the fields that were looked at."""
    asked = {}
    for case, answer in zip(cases, answers):
        assert len(answer["frames"]) == len(case.at)
        for ordinal, got in zip(case.at, answer["frames"]):
            want, fields = frame_bytes(case, table, ordinal)
            where = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))
            if got != want:
                raise AssertionError(f"WIRERATE_SEED={SEED}: {case} ordinal {ordinal} {answer.get('engine')}: byte {where}\n"
                                     f" ours  {around(got, where)}\n scapy {around(want, where)}")
            for name, names in fields.items():
                asked.setdefault(name, set()).update(names)
    return asked


def judge_added_up(dissected, data, where):
    """With the checksum in place, these and all that they carry add up to nothing, as 16-bit words in ones' complement: RFC 792 (ICMP),
    RFC 3376 4.1.2 (IGMP), RFC 2784 2.5 (GRE)."""
    names = [h["name"] for h in dissected["headers"]]
    for i, header in enumerate(dissected["headers"]):
        if header["name"] in shark.ADDED_UP and "cksum_ok" in header["fields"]:
            inside = "eth" in names[i:] or "padding" not in dissected  # else padding is behind the packet
            whole = data[header["offset"]:] if inside else data[header["offset"]:dissected["padding"]["offset"]]
            assert int.from_bytes(whole + bytes(len(whole) % 2), "big") % 0xFFFF == 0, f"{where}: {header}"


def judge_sums(case, dissected, seen, where):
    """All checksums are there and right, for tshark and for our own dissection."""
    visible, quoted = shark.visible(case.stack), shark.quoted(case.stack)
    for name, status in shark.STATUS.items():
        headers = [h["fields"] for h in dissected["headers"] if h["name"] == name]
        theirs, ours = seen[status], [h["cksum_ok"] for h in headers if "cksum_ok" in h]
        sure = visible.count(name) - quoted.count(name)
        known = {"0", "1", "2"} if name in shark.misjudged(case.stack) else {"1", "2"}
        if name == "gre":
            sure = min(sure, len(theirs))
        assert sure <= len(theirs) <= visible.count(name), f"{where}: {status} {theirs}"
        assert theirs[:sure] == ["1"] * sure and set(theirs) <= known, f"{where}: {status} {theirs}"
        assert all(ours) and (len(ours) == len(headers) or name == "gre"), f"{where}: {name} {headers}"


def decoded(row, value):
    """A field of our dissection as a number, or as bytes."""
    if row["kind"] == "mac":
        return int(value.replace(":", ""), 16)
    if row["kind"] in ("ip4", "ip6"):
        return int(ipaddress.ip_address(value))
    if row["kind"] == "flags":
        return default(dict(row, dflt=value))
    return bytes.fromhex(value) if row["kind"] == "bytes" else int(value)


def judge_fields(case, table, ordinal, dissected, where):
    """Our dissection finds what the description said. Raw options, with what pads them, are shown with the header."""
    headers = [(h["name"], h) for h in dissected["headers"]]
    for key in case.values:
        row, want = table.field(key), case.value(key, ordinal)
        header = [h for name, h in headers if name == key[0]][key[1] - 1]
        if isinstance(want, bytes) and key[2] == "options" and "options" in header:
            assert want.hex() in header["options"], f"{where}: {key} {header}"
        elif key[0] != "ipv6rt" or key[2] != "addrs":  # its parts have names of their own
            got = decoded(row, header["fields"][key[2]])
            assert (got[: len(want)] if isinstance(want, bytes) else got) == want, f"{where}: {key} {got} {want}"


def words_of(probe):
    return struct.unpack(">8H", probe)


def random_probe(rng, lead=None):
    """By the words of frame_probe.h. lead: its first byte and the last bytes but two, for judges that guess by them."""
    while True:
        fields = {"seq": rng.getrandbits(32), "port": rng.getrandbits(5), "queue": rng.getrandbits(6), "exp": rng.getrandbits(5),
                  "stream": rng.randrange(8191), "mant": rng.getrandbits(15), "sent": rng.getrandbits(36)}
        if lead:
            fields["sent"] |= lead << 24 | lead << 16
        bits = 0
        for name, width in (("seq", 32), ("port", 5), ("queue", 6), ("exp", 5), ("stream", 13), ("mant", 15), ("sent", 36)):
            bits = bits << width | fields[name]
        rest = bits.to_bytes(14, "big")
        check = (0x5752 - sum(struct.unpack(">7H", rest))) % 65535
        if lead in (None, check >> 8):
            return check.to_bytes(2, "big") + rest


def judge_probe(case, ordinal, dissected, where):
    """Our dissection says of the probe what its bytes say, by shifts of one long number."""
    probe = case.probes[case.at.index(ordinal)]
    fields = [h["fields"] for h in dissected["headers"] if h["name"] == "probe"]
    assert len(fields) == 1 and dissected["headers"][-1]["name"] == "probe", f"{where}: {dissected['stack']}"
    assert sum(words_of(probe)) % 65535 == 0x5752 and fields[0]["check_ok"] is True, where
    number = int.from_bytes(probe, "big")
    want = {"check": number >> 112, "seq": number >> 80 & 0xFFFFFFFF, "port": number >> 75 & 31, "queue": number >> 69 & 63,
            "exp": number >> 64 & 31, "stream": number >> 51 & 8191, "mant": number >> 36 & 0x7FFF, "sent": number & (1 << 36) - 1}
    assert {n: fields[0][n] for n in want} == want, f"{where}: {fields[0]}"


def judge_with_tshark(cases, table, answers, folder):
    frames = [f for a in answers for f in a["frames"]]
    sights = iter(shark.look(frames, folder))
    for case, answer in zip(cases, answers):
        for ordinal, data, dissected in zip(case.at, answer["frames"], answer["dissect"]):
            seen = next(sights)
            where = f"WIRERATE_SEED={SEED}: {case} ordinal {ordinal}\n {data[:400].hex()}"
            assert seen["frame.len"] == [str(len(data))], where
            assert case.size in (0, len(data) + 4), where
            assert shark.complaints(seen, case.stack) == [], where
            want = shark.expected_layers(case.stack)
            found = shark.layers(seen, want)
            sure = shark.expected_layers(case.stack[: len(case.stack) - len(shark.quoted(case.stack)[1:])])
            assert found[: len(sure)] == sure and found == want[: len(found)], f"{where}: {found}"
            assert len(found) == len(want) or shark.quoted(case.stack), f"{where}: {found}"
            ours = dissected["stack"].split("/")
            if case.probes:
                judge_probe(case, ordinal, dissected, where)
                ours.remove("probe")
            assert ours == case.stack or case.stack[-1] in shark.OPEN_ENDED and ours[:-1] == case.stack, f"{where}: {ours}"
            assert dissected["hex"] == data.hex(), where
            judge_sums(case, dissected, seen, where)
            judge_added_up(dissected, data, where)
            judge_fields(case, table, ordinal, dissected, where)


def judge(cases, table, folder):
    """Everything about frames that are as they should be."""
    answers = dump(cases, table)
    asked = agree_with_scapy(cases, table, answers)
    judge_with_tshark(cases, table, answers, folder)
    return asked


def headers_len(case, table):
    return len(dump([Case(case.stack, 0, case.values, fill="zero")], table)[0]["frames"][0])


def random_fill(rng, case):
    """What follows a header that does not say what it carries begins with a byte that no judge takes for another header."""
    if case.stack[-1] in shark.OPEN_ENDED:
        case.fill, case.text = rng.choice(["hex", "file"]), b"\xff" * 14 + rng.randbytes(rng.randint(0, 40))
        return case
    case.fill = rng.choice(["abc", "zero", "none", "inc", "random", "user", "hex", "file"])
    case.seed = rng.getrandbits(63)
    case.text = bytes(rng.choices(b"0123456789xyz", k=rng.randint(1, 63))) if case.fill == "user" else rng.randbytes(rng.randint(1, 99))
    return case


def random_sizes(rng, cases, table):
    """A size for each, from the least that it can have; half stay as small as can be."""
    least = [len(a["frames"][0]) + 4 for a in dump([Case(c.stack, 0, c.values, text=c.text, fill=c.fill) for c in cases], table, False)]
    for case, low in zip(cases, least):
        top = rng.choice([low, low + 3, low + 64, 1518, 1518, 9018, MAX_SIZE])
        top = min(top, 1500) if "llc" in case.stack else top  # IEEE 802.3 3.2.6: a length ends at 1500
        case.size = rng.choice([0, rng.randint(low, max(low, top))])
        if case.stack[-1] in shark.NOT_LAST:
            case.size = max(case.size, low + 20)
    return cases


def test_every_pair_of_neighbours(table, rng, tmp_path):
    cases = [random_fill(rng, Case(stack)) for stack in stacks.every_pair(rng, table)]
    seen = {pair for c in cases for pair in zip(c.stack, c.stack[1:])}
    assert seen >= set(stacks.pairs(table))
    for case in cases:
        case.values = values.needed(case.stack, {})
    judge(random_sizes(rng, cases, table), table, tmp_path)


def test_every_field(table, rng, tmp_path):
    """All fields that a header can have, under each value of the field that decides which it has."""
    cases = []
    for name in table.headers:
        stack = stacks.way_to(rng, table, name)
        deciding = values.conditions(table, name) or {None}
        for key in [(name, stack.count(name), f) for f in deciding]:
            for word in words(stack, key) or [None] if key[2] else [None]:
                case = random_fill(rng, Case(stack))
                case.values = values.random_values(rng, stack, table, 1, {} if word is None else {key: word})
                cases.append(case)
    asked = judge(random_sizes(rng, cases, table), table, tmp_path)
    # SCTP's other chunks are no header in front of a payload: they go as they are.
    for stack in (["eth", "ipv4", "sctp"], ["eth", "ipv6", "sctp"]):
        cases = [Case(stack, 0, {("sctp", 1, "type"): kind, ("sctp", 1, "itag"): 77}) for kind in (1, 2)]
        asked["sctp"] |= judge(cases, table, tmp_path)["sctp"]
    for case in [Case(["eth", "ipv4", "icmp"], 0, {("icmp", 1, "type"): kind}, "zero") for kind in (3, 4, 5, 9, 11, 12)]:
        asked["icmp"] |= agree_with_scapy([case], table, dump([case], table))["icmp"]
    for case in [Case(["eth", "ipv6", "icmpv6"], 0, {("icmpv6", 1, "type"): kind}, "zero") for kind in (1, 2, 3, 4)]:
        asked["icmpv6"] |= agree_with_scapy([case], table, dump([case], table))["icmpv6"]
    missed = {n: set(table.fields[n]) - asked[n] for n in table.headers}
    assert not any(missed.values()), f"fields that no scapy builder has looked at: {missed}"


def test_random_values(table, rng, tmp_path):
    cases = []
    for _ in range(300):
        case = random_fill(rng, Case(stacks.walk(rng, table)))
        case.values = values.random_values(rng, case.stack, table, rng.choice([0.1, 0.5, 0.9]))
        cases.append(case)
    judge(random_sizes(rng, cases, table), table, tmp_path)


def carries(table, stack):
    """Has the stack room for a probe? What ARP and its like do not carry is padding."""
    return stack and not table.closed(Header(Case(stack), table, 0, len(stack) - 1, None))


def test_probes(table, rng, tmp_path):
    """Stamped into frames that are ready: as if they had been built so, behind any stack, by the plain way and by the engine."""
    named = ["eth/ipv4/udp", "eth/vlan/ipv4/udp", "eth/qinq/vlan/ipv6/udp", "eth/mpls/ipv4/tcp", "eth/ipv4/udp/vxlan/eth/ipv6/udp",
             "eth/ipv4/gre/ipv4/udp", "eth/ipv6/tcp", "eth/ipv4/icmp", "eth/ipv6/icmpv6", "eth/ipv4/esp", "eth/ipv4/sctp",
             "eth/ipv4/udp/vxlan/eth/ipv4/sctp", "eth/ipv4/udp/geneve/eth/ipv4/udp", "eth/ipv4/udp/gtpu/ipv4/udp", "eth"]
    cases = []
    for stack in [s.split("/") for s in named] + [s for s in stacks.every_pair(rng, table) if carries(table, s)]:
        case = Case(stack, fill=rng.choice(["abc", "zero", "inc"]), at=[0, 7, 65536], values=values.needed(stack, {}))
        case.probes = [random_probe(rng, 0xFF if stack[-1] in shark.OPEN_ENDED else None) for _ in case.at]
        case.size = len(frame_bytes(case, table, 0)[0]) + 4 + rng.choice([0, 0, 1, 2, 33, 400])
        cases.append(case)
    judge(cases, table, tmp_path)
    for case in cases:
        case.engine = {"isa": None, "queues": 1}
        case.values[("eth", 1, "src")] = Vary("range", 48, lo=1, hi=1 << 20, step=3, first=1)
    agree_with_scapy(cases, table, dump(cases, table, False))


ORDINALS = [0, 1, 2, 3, 255, 256, 4099, 65535, 65536, 70001, (1 << 32) - 1, 1 << 32, (1 << 32) + 7, 1 << 40]


def varied(rng, table, most=6):
    case = random_fill(rng, Case(stacks.walk(rng, table)))
    case.values = values.random_values(rng, case.stack, table, 0.2)
    moving = values.random_variations(rng, case.stack, table, case.values, most)
    case.values.update(moving)
    if rng.random() < 0.4:
        case.nest = values.random_nest(rng, moving)
    case.at = sorted(set(rng.sample(ORDINALS, 4)) | {rng.getrandbits(rng.choice([3, 17, 45]))})
    if all(harmless(k, case.value(k, o)) for k in moving for o in case.at):
        return case
    return varied(rng, table, most)


def test_variations(table, rng, tmp_path):
    """By the plain way, and by the worker's engine; both are the formulas' frames, with checksums that are right for every ordinal."""
    cases = random_sizes(rng, [varied(rng, table) for _ in range(250)], table)
    judge(cases, table, tmp_path)
    for isa in ISAS:
        for case in cases:
            case.engine = {"isa": isa, "queues": rng.choice([1, 1, 2, 3, 4])}
        answers = dump(cases, table, False)
        agree_with_scapy(cases, table, answers)
        print(isa, sorted({a["engine"] + " sums " + a["sums"] for a in answers}))


def test_consecutive_frames(table, rng):
    """Wraps, carries and ends of segments: each frame of a long piece, from the engine."""
    cases = []
    for _ in range(12):
        case = varied(rng, table, 4)
        first = rng.choice([0, 200, (1 << 16) - 60, (1 << 32) - 60])
        case.at = list(range(first, first + 120))
        case.engine = {"isa": rng.choice(ISAS), "queues": rng.choice([1, 2, 5])}
        cases.append(case)
    agree_with_scapy(cases, table, dump(random_sizes(rng, cases, table), table, False))


ROLES = ("len", "hlen", "sum_hdr", "sum_l4", "next", "version")


def test_overrides_agree_with_scapy(table, rng):
    """Values of roles that are wrong on purpose: taken as they are, the others unmoved."""
    cases = []
    for _ in range(300):
        case = random_fill(rng, Case(stacks.walk(rng, table)))
        for key in values.keys(case.stack, table):
            row = table.field(key)
            # scapy takes the pseudo header's length from a length that was set; ours is over the bytes that are there.
            if row["role"] in ROLES and rng.random() < 0.2 and (row["role"] != "len" or key[0] != "ipv4"):
                case.values[key] = rng.getrandbits(row["bits"])
        cases.append(case)
    agree_with_scapy(cases, table, dump(random_sizes(rng, cases, table), table))


def test_overridden_length_leaves_the_rest(table):
    for stack, l4sum in [("eth/ipv4/udp", 40), ("eth/ipv4/tcp", 50)]:
        stack = stack.split("/")
        good, bad = [a["frames"][0] for a in dump([Case(stack, 99), Case(stack, 99, {("ipv4", 1, "len"): 20})], table)]
        assert good[:16] == bad[:16] and bad[16:18] == b"\0\x14" and good[18:24] == bad[18:24] and good[26:] == bad[26:]
        assert good[l4sum:l4sum + 2] != b"\0\0"


@pytest.mark.parametrize("stack", ["eth/ipv4/udp", "eth/vlan/ipv6/tcp"])
def test_every_size(stack, table, tmp_path):
    stack = stack.split("/")
    least = headers_len(Case(stack), table) + 4
    judge([Case(stack, z) for z in range(least, 1519, 3)], table, tmp_path)


def test_tshark_sees_wrong_checksums(table, tmp_path):
    """The judges can say no."""
    wrong = [("ipv4/udp", ("ipv4", 1, "cksum"), "ip"), ("ipv4/udp", ("udp", 1, "cksum"), "udp"), ("ipv4/tcp", ("tcp", 1, "cksum"), "tcp"),
             ("ipv6/icmpv6", ("icmpv6", 1, "cksum"), "icmpv6"), ("ipv4/icmp", ("icmp", 1, "cksum"), "icmp"),
             ("ipv4/sctp", ("sctp", 1, "cksum"), "sctp")]
    cases = [Case(("eth/" + stack).split("/"), 100, {key: 1}) for stack, key, _ in wrong]
    answers = dump(cases, table)
    for (_, key, name), answer, seen in zip(wrong, answers, shark.look([a["frames"][0] for a in answers], tmp_path)):
        assert seen[name + ".checksum.status"] == ["0"] and shark.complaints(seen)
        fields = [h["fields"] for h in answer["dissect"][0]["headers"] if h["name"] == key[0]]
        assert fields[0]["cksum_ok"] is False
    long = dump([Case(["eth", "ipv4", "udp"], 80, {("udp", 1, "len"): 200})], table)[0]["frames"]
    assert shark.complaints(shark.look(long, tmp_path)[0])


def test_random_bits_anywhere(table, rng, tmp_path):
    """Set, cleared, random and untouched bits at any offset of the finished frame; checksums stay right."""
    pattern = Case(["eth", "ipv4", "udp"], 200, fill="zero", at=list(range(64)))
    plain = dump([pattern], table)[0]["frames"][0]
    pattern.rnd = [{"off": 100, "nbits": 32, "one": 0xF0000000, "zero": 0x0F000000, "rnd": 0x00FF0000},
                   {"off": 37, "nbits": 8, "one": 0, "zero": 0, "rnd": 0x03000000}]
    answers = dump([pattern], table)
    frames = answers[0]["frames"]
    assert {f[100] for f in frames} == {0xF0} and {f[102:104] for f in frames} == {plain[102:104]}
    assert len({f[101] for f in frames}) > 30 and {f[37] for f in frames} == {plain[37] & ~3 | b for b in range(4)}
    for f in frames:
        assert f[:37] == plain[:37] and f[38:40] == plain[38:40] and f[42:100] == plain[42:100] and f[104:] == plain[104:]
    judge_with_tshark([pattern], table, answers, tmp_path)


class Given:
    """A frame that scapy made, only dissected by us."""

    at = [0]
    size = 0
    values = {}

    def __init__(self, stack, packet):
        self.stack, self.packet = stack.split("/"), bytes(packet)

    def hex(self):
        return self.packet.hex()


def test_dissection_of_scapys_frames(table, tmp_path):
    """What the builder does not make: other orders of options, padding behind the length, fragments."""
    eth = scapy.Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02")
    ip = lambda **k: scapy.IP(src="10.0.0.1", dst="10.0.0.2", **k)
    ip6 = scapy.IPv6(src="fd00::1", dst="fd00::2")
    tcp = scapy.TCP(flags="S", options=[("MSS", 1460), ("SAckOK", b""), ("Timestamp", (1, 0)), ("NOP", None), ("WScale", 7)])
    pad = scapy.Padding(b"\xee" * 10)
    cases = [
        Given("eth/ipv4/tcp", eth / ip() / tcp),
        Given("eth/ipv6/tcp", eth / ip6 / tcp / pad),
        Given("eth/ipv4/tcp", eth / ip(options=[scapy.IPOption_Router_Alert()]) / tcp / b"x"),
        Given("eth/ipv4/udp", eth / ip(options=[scapy.IPOption_RR(routers=["1.2.3.4"])]) / scapy.UDP() / pad),
        Given("eth/ipv4/tcp", eth / ip() / scapy.TCP() / pad),
        Given("eth/vlan/ipv4/ipv4/udp", eth / scapy.Dot1Q(vlan=5) / ip() / ip(ttl=3) / scapy.UDP() / b"odd" / pad),
        Given("eth/ipv4/udp", eth / ip(flags="MF") / scapy.UDP() / b"part"),
        Given("eth/ipv4", eth / ip(frag=10) / b"the second part"),
    ]
    answers = dump(cases, table)
    for case, answer, seen in zip(cases, answers, shark.look([c.packet for c in cases], tmp_path)):
        dissected = answer["dissect"][0]
        assert answer["frames"] == [case.packet] and dissected["stack"] == "/".join(case.stack)
        padded = case.packet.endswith(b"\xee" * 10)
        assert dissected.get("padding") == ({"offset": len(case.packet) - 10, "len": 10} if padded else None)
        for name, status in shark.STATUS.items():
            theirs = [{"1": True, "0": False}.get(v) for v in seen[status]]
            assert [h["fields"].get("cksum_ok") for h in dissected["headers"] if h["name"] == name] == theirs, case.stack
