# SPDX-License-Identifier: BSD-3-Clause
"""Capture files of lib/pcapio: tshark and capinfos judge what it writes, and it reads what Wireshark's tools and scapy write.

The helper program pcapio_dump is beside the one that FRAME_DUMP names. What is random begins as tests/seed.py says."""

import gzip
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys

import pytest

scapy = pytest.importorskip("scapy.all")

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from seed import random_seed

if not os.environ.get("FRAME_DUMP"):
    pytest.skip("FRAME_DUMP does not name the helper program", allow_module_level=True)
for tool in ("tshark", "capinfos", "editcap", "mergecap"):
    if not shutil.which(tool):
        pytest.skip(f"{tool} is not installed", allow_module_level=True)

DUMP = pathlib.Path(os.environ["FRAME_DUMP"]).with_name("pcapio_dump")
SEED = random_seed()
START = 1_700_000_000_123_456_789
FIELDS = ["frame.time_epoch", "frame.cap_len", "frame.len", "frame.interface_id", "frame.interface_name", "frame.packet_flags",
          "frame.interface_queue", "frame.packet_id", "frame.comment"]


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, **more)
    assert done.returncode == 0, f"{command}: {done.returncode} {done.stderr!r}"
    return done.stdout


def write(path, objects):
    path.write_bytes(run(DUMP, "write", input="".join(json.dumps(o) + "\n" for o in objects).encode()))
    return path


def read(path, error=None):
    """The objects of a file by their kinds; error: a part of the one that must end it."""
    done = subprocess.run([DUMP, "read", path], capture_output=True, text=True)
    found = {"record": [], "interface": [], "stats": [], "section": [], "error": []}
    for line in done.stdout.splitlines():
        for what, o in json.loads(line).items():
            found[what].append(o)
    if error is None:
        assert done.returncode == 0, (found["error"], done.stderr)
    else:
        assert error in found["error"][0]
    return found


def frame(rng, n):
    """n bytes of a frame of no protocol that anybody would look into."""
    return (bytes.fromhex("0200000000010200000000020000")[:12] + b"\x88\xb5" + rng.randbytes(max(n - 14, 0)))[:n].hex()


@pytest.fixture
def rng(request):
    print(f"WIRERATE_SEED={SEED}")
    return random.Random(f"{SEED} {request.node.name}")


@pytest.fixture
def records(rng):
    """Frames of two interfaces, as control and as workers write them."""
    made, ns = [], START
    for i in range(200):
        ns += rng.randrange(3000)
        n = rng.choice([14, 15, 60, 61, 62, 63, 64, 1514, rng.randrange(14, 9000)])
        record = {"interface": rng.randrange(2), "ns": ns, "frame": frame(rng, n), "origlen": n + rng.choice([0, 0, 1, 1000])}
        if rng.random() < 0.5:
            record.update(flags=rng.choice([1, 2]), queue=rng.randrange(64))
            made.append({"worker": record})
            continue
        if rng.random() < 0.7:
            record["flags"] = rng.choice([1, 2])
        if rng.random() < 0.3:
            record["queue"] = rng.randrange(1 << 32)
        if rng.random() < 0.3:
            record["id"] = rng.randrange(1, 1 << 63)
        if rng.random() < 0.3:
            record["comments"] = [f"stream 3 seq {i} expected here; {i + 1} came 14 us before", "zweite Zeile: ä€"][:rng.randrange(1, 3)]
        made.append({"record": record})
    return made


SECTION = {"hardware": "Intel(R) Xeon(R)", "os": "Linux 6.1", "application": "wirerate 0.1.0", "comments": ["capture 1"]}
INTERFACES = [
    {"link_type": 1, "snaplen": 262144, "speed_bps": 10_000_000_000, "name": "wire0", "description": "port 0", "filter": "udp port 9",
     "mac": "020000000001", "comments": ["a wire"]},
    {"link_type": 1, "snaplen": 0, "speed_bps": 0, "name": "eth1"},
]
STATS = [{"interface": 0, "ns": START + 10**9, "start": START - 5, "end": START + 10**9, "received": 1000, "dropped": 1, "accepted": 900,
          "os_dropped": 700, "delivered": 200},
         {"interface": 1, "ns": START + 10**9, "received": 0}]


def whole(records):
    return [{"section": SECTION}, *({"interface": i} for i in INTERFACES), *records, *({"stats": s} for s in STATS)]


def tshark_rows(path):
    fields = [word for name in FIELDS for word in ("-e", name)]
    text = run("tshark", "-n", "-r", path, "-T", "fields", "-E", "separator=/t", "-E", "aggregator=|", *fields).decode()
    return [dict(zip(FIELDS, line.split("\t"))) for line in text.splitlines()]


def tshark_frames(path):
    rows = json.loads(run("tshark", "-n", "-r", path, "-T", "jsonraw"))
    return [row["_source"]["layers"]["frame_raw"][0] for row in rows]


def number(text):
    return int(text, 0) if text else None


def test_tshark_reads_what_we_write(tmp_path, records):
    path = write(tmp_path / "x.pcapng", whole(records))
    packed = tmp_path / "packed.pcapng.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    rows = tshark_rows(path)
    assert rows == tshark_rows(packed)
    assert len(rows) == len(records)
    for row, record in zip(rows, records):
        want = record.get("record") or record["worker"]
        seconds, rest = divmod(want["ns"], 10**9)
        assert row["frame.time_epoch"] == f"{seconds}.{rest:09d}"
        assert number(row["frame.cap_len"]) == len(want["frame"]) // 2
        assert number(row["frame.len"]) == want["origlen"]
        assert number(row["frame.interface_id"]) == want["interface"]
        assert row["frame.interface_name"] == INTERFACES[want["interface"]]["name"]
        assert number(row["frame.packet_flags"]) == want.get("flags")
        assert number(row["frame.interface_queue"]) == want.get("queue")
        assert number(row["frame.packet_id"]) == want.get("id")
        assert row["frame.comment"] == "|".join(want.get("comments", []))
    assert tshark_frames(path) == [(r.get("record") or r["worker"])["frame"] for r in records]


def test_capinfos_reads_what_we_write(tmp_path, records):
    said = run("capinfos", "-M", write(tmp_path / "x.pcapng", whole(records))).decode()
    for line in ("File type: .*pcapng", "File timestamp precision: *nanoseconds .9.", f"Number of packets: *{len(records)}",
                 "Strict time order: *True", "Capture hardware: *Intel.R. Xeon.R.", "Capture oper-sys: *Linux 6.1",
                 "Capture application: *wirerate 0.1.0", "Capture comment: *capture 1", "Number of interfaces in file: *2",
                 " Name = wire0", " Description = port 0", " Speed = 10000000000", " Capture length = 262144", " Filter string = udp port 9",
                 " Time ticks per second = 1000000000", " Comment = a wire", " Number of stat entries = 1", " Name = eth1"):
        assert re.search(line, said), (line, said)
    counts = [sum((r.get("record") or r["worker"])["interface"] == i for r in records) for i in range(2)]
    assert [int(n) for n in re.findall(r"^ +Number of packets = (\d+)", said, re.M)] == counts


def same_records(got, want):
    assert len(got) == len(want)
    for one, other in zip(got, want):
        other = other.get("record") or other.get("worker") or other
        for name, none in {"interface": 0, "ns": None, "frame": "", "origlen": 0, "flags": 0, "queue": None, "id": None, "comments": []}.items():
            assert one.get(name, none) == other.get(name, none), (name, one, other)


def test_editcap_gives_back_what_we_write(tmp_path, records):
    """Wireshark reads all that is in a file and writes it anew: also the statistics, which no tool prints."""
    path = write(tmp_path / "x.pcapng", whole(records))
    run("editcap", "-F", "pcapng", path, tmp_path / "y.pcapng")
    for name in ("x.pcapng", "y.pcapng"):
        found = read(tmp_path / name)
        same_records(found["record"], records)
        for got, want in zip(found["interface"], INTERFACES):
            assert [got[n] for n in ("link_type", "name")] == [want[n] for n in ("link_type", "name")]
            assert [got.get(n) or 0 for n in ("snaplen", "speed_bps", "description", "filter")] == \
                [want.get(n) or 0 for n in ("snaplen", "speed_bps", "description", "filter")]
            assert got["comments"] == want.get("comments", [])
        for got, want in zip(found["stats"], STATS):
            assert {n: v for n, v in got.items() if n != "comments"} == want
        section = found["section"][0]
        assert section["os"] == SECTION["os"] and section["hardware"] == SECTION["hardware"] and SECTION["comments"][0] in section["comments"]


def plain(rng, n=50, step=1000):
    """Frames that all formats can say."""
    return [{"ns": START // step * step + i * 1_000_000, "frame": frame(rng, 60 + i), "origlen": 60 + i} for i in range(n)]


def test_tshark_reads_pcap(tmp_path, rng):
    records = plain(rng, step=1)
    path = write(tmp_path / "x.pcap", [{"pcap": {"link_type": 1, "snaplen": 0}}, *({"pcap_record": r} for r in records)])
    rows = tshark_rows(path)
    assert [row["frame.time_epoch"] for row in rows] == [f"{r['ns'] // 10**9}.{r['ns'] % 10**9:09d}" for r in records]
    assert tshark_frames(path) == [r["frame"] for r in records]
    said = run("capinfos", path).decode()
    assert re.search("File type: .*nanosecond.*pcap", said), said
    assert re.search(f"Number of packets: *{len(records)}", said)
    same_records(read(path)["record"], records)


@pytest.mark.parametrize("kind", ["pcap", "nsecpcap", "pcapng"])
def test_we_read_what_editcap_writes(tmp_path, rng, kind):
    records = plain(rng)
    path = write(tmp_path / "x.pcapng", [{"section": {}}, {"interface": {"link_type": 1}}, *({"record": r} for r in records)])
    out = tmp_path / ("y." + kind)
    run("editcap", "-F", kind, path, out)
    same_records(read(out)["record"], records)
    packed = tmp_path / "y.gz"
    packed.write_bytes(gzip.compress(out.read_bytes()))
    same_records(read(packed)["record"], records)
    # what is cut off gives what is before, and says so
    data = out.read_bytes()
    out.write_bytes(data[:-20])
    found = read(out, error="is cut off")
    same_records(found["record"], records[:-1])
    packed.write_bytes(gzip.compress(data)[:-12])
    found = read(packed, error="is cut off")
    same_records(found["record"], records[:len(found["record"])])


def test_we_read_what_editcap_changes(tmp_path, rng):
    records = plain(rng)
    path = write(tmp_path / "x.pcapng", [{"section": {}}, {"interface": {"link_type": 1}}, *({"record": r} for r in records)])
    out = tmp_path / "y.pcapng"
    run("editcap", "-s", 33, "-a", "2:here it is", path, out)
    for record in records:
        record["frame"] = record["frame"][:66]
    records[1]["comments"] = ["here it is"]
    same_records(read(out)["record"], records)


def test_we_read_what_mergecap_writes(tmp_path, rng):
    """Two files of different link types and resolutions become two interfaces."""
    ours, theirs = plain(rng, step=1), plain(rng)
    one = write(tmp_path / "one.pcapng", [{"section": SECTION}, {"interface": INTERFACES[0]}, *({"record": r} for r in ours)])
    other = tmp_path / "other.pcap"
    other.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 147) + b"".join(
        struct.pack("<IIII", r["ns"] // 10**9, r["ns"] % 10**9 // 1000, len(r["frame"]) // 2, r["origlen"]) + bytes.fromhex(r["frame"])
        for r in theirs))
    run("mergecap", "-a", "-F", "pcapng", "-w", tmp_path / "both.pcapng", one, other)
    found = read(tmp_path / "both.pcapng")
    same_records(found["record"], ours + [dict(r, interface=1) for r in theirs])
    assert [r["link_type"] for r in found["record"]] == [1] * len(ours) + [147] * len(theirs)
    assert [i["link_type"] for i in found["interface"]] == [1, 147]
    assert found["interface"][0]["name"] == "wire0"
    # two sections: one file behind the other
    two = tmp_path / "two.pcapng"
    two.write_bytes(one.read_bytes() + one.read_bytes())
    same_records(read(two)["record"], ours + [dict(r, interface=1) for r in ours])


@pytest.mark.parametrize("how", [{}, {"nano": True}, {"endianness": ">"}, {"endianness": ">", "nano": True}, {"gz": 1}],
                         ids=lambda how: " ".join(how) or "plain")
def test_we_read_what_scapy_writes(tmp_path, rng, how):
    records = plain(rng)
    packets = []
    for record in records:
        packet = scapy.Ether(bytes.fromhex(record["frame"]))
        packet.time = scapy.EDecimal(record["ns"]) / 10**9
        packets.append(packet)
    path = tmp_path / "x.pcap"
    scapy.wrpcap(str(path), packets, **how)
    same_records(read(path)["record"], records)


def test_we_read_pcapng_of_scapy(tmp_path, rng):
    records = plain(rng)
    path = tmp_path / "x.pcapng"
    packets = []
    for record in records:
        packet = scapy.Ether(bytes.fromhex(record["frame"]))
        packet.time = scapy.EDecimal(record["ns"]) / 10**9
        packets.append(packet)
    packets[3].comment = b"from scapy"
    records[3]["comments"] = ["from scapy"]
    scapy.wrpcapng(str(path), packets)
    found = read(path)["record"]
    found[3]["comments"] = [text.strip() for text in found[3]["comments"]]  # scapy 2.5 puts a newline behind it
    same_records(found, records)
