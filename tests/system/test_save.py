# SPDX-License-Identifier: BSD-3-Clause
"""save and load: whatever the rows of the tables take comes back, and what fails changes nothing.

What is random begins as tests/seed.py says."""
import ipaddress
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import time

import pytest

import harness
from harness import good, random_seed

SEED = random_seed()
STACKS = """eth eth/ipv4 eth/ipv4/udp eth/ipv4/tcp eth/vlan/ipv4/udp eth/vlan/vlan/ipv4/tcp eth/qinq/vlan/ipv4/udp
eth/mpls/mpls/ipv4/udp eth/arp eth/ipv6/udp eth/ipv6/tcp eth/ipv4/icmp eth/ipv6/icmpv6 eth/ipv4/sctp eth/ipv4/gre/ipv4/udp
eth/ipv4/udp/vxlan/eth/ipv4/udp eth/ipv4/udp/gtpu/ipv4/tcp eth/ipv4/ipv4/ipv4/udp eth/ipv6/ipv6hbh/ipv6frag/udp""".split()

SOME_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "cli", "quote.cmds")  # any of 1 to 2046 bytes


@pytest.fixture
def rnd(request):
    print(f"{request.node.name}: WIRERATE_SEED={SEED}")
    return random.Random(f"{SEED} {request.node.name}")


# Random values as text, from what the tables say about a row


def number(r, s):
    low, high = s.get("min", 0), s.get("max", (1 << (s.get("bits") or 64)) - 1)
    if "max" not in s and s.get("min", 0) == 0 and not s.get("bits"):
        high = (1 << 63) - 1
    return low + r.randrange(min(1 << r.randrange(1, 65), high - low + 1))


def number_text(r, s):
    n = number(r, s)
    return r.choice((str(n), hex(n)))


def mac(r):
    return ":".join(f"{r.randrange(256):02x}" for _ in range(6))


def ip4(r):
    return str(ipaddress.IPv4Address(r.randrange(1 << 32)))


def ip6(r):
    return str(ipaddress.IPv6Address(r.randrange(1 << r.randrange(1, 129))))


def flags(r, s):
    words = [w for w in s.get("choices", []) if w]
    return ",".join(r.sample(words, r.randrange(1, len(words) + 1))) if words and r.random() < 0.8 else "none"


def text(r, s):
    top = int(re.search(r"(\d+) bytes", s.get("syntax", ""))[1]) if re.search(r"\d+ bytes", s.get("syntax", "")) else 255
    nasty = ["'", '"', "#", ";", "{", "}", "\\", " ", "  ", "default", "off", "a", "\u00fc", "\t"]
    made = "".join(r.choice(nasty + list("xyz019-/=,.")) for _ in range(r.randrange(1, 14)))
    while len(made.encode()) > top:
        made = made[:-1]
    return made


def one(r, s):
    """One value, no variation."""
    return {
        "number": lambda: number_text(r, s),
        "mac": lambda: mac(r),
        "ipv4": lambda: ip4(r),
        "ipv6": lambda: ip6(r),
        "flags": lambda: flags(r, s),
        "choice": lambda: r.choice([w for w in s["choices"] if w]),
    }[s["type"]]()


def variation(r, s):
    of = s["of"]
    how = r.randrange(8)
    tail = r.choice(("", f" repeat {r.randrange(1, 1000)}", f" seed {r.randrange(1, 1 << 40)}"))
    if how == 0:
        return one(r, of)
    if how == 1:
        return ("list " if of["type"] == "flags" else "") + ",".join(one(r, dict(of, choices=of.get("choices", [])[:1])) for _ in range(3))
    if how == 2:
        return "random" + tail
    if how == 3 and of["type"] != "flags":
        return f"{one(r, of)}..{one(r, of)}"
    if how == 4 and of["type"] == "number":
        a, b = sorted((number(r, of), number(r, of)))
        return f"{a}..{b} step {r.randrange(1, 5)} from {a}"
    if how == 5 and of["type"] == "number":
        a, b = sorted((number(r, of), number(r, of)))
        return f"random {a}..{b}{tail}"
    if how == 6 and of["type"] in ("ipv4", "ipv6"):
        top = 32 if of["type"] == "ipv4" else 128
        return str(ipaddress.ip_network(f"{one(r, of)}/{r.randrange(top - 16, top)}", strict=False))
    if how == 7 and of["type"] == "number":
        return f"{one(r, of)} mask {hex(1 + number(r, of) // 2)}{tail}"
    return one(r, of)


def sizes(r):
    a, b = sorted((r.randrange(64, 1519), r.randrange(64, 1519)))
    return r.choice(("auto", str(a), f"{a}..{b}", f"{b}..{a} step 3", f"{a},{b},64", f"{a}:7,{b}:4", "imix", "imix abcg",
                     f"random {a}..{b}", f"random {a}..{b} repeat 9 seed 3"))


def hexbytes(r, s):
    return "".join(f"{r.randrange(256):02x}" for _ in range(r.randrange(1, min(s.get("max", 8), 8) + 1)))


def bits(r):
    return f"{r.randrange(40)} " + "".join(r.choice("01.X") for _ in range(r.randrange(1, 32)))


def nest(r):
    fields = r.sample(["ipv4.src", "ipv4.dst", "udp.src", "udp.dst", "vlan.vid", "eth.src", "ipv4[3].ttl"], r.randrange(1, 5))
    return fields[0] + "".join(r.choice(",+") + f for f in fields[1:])


def value(r, s):
    made = {
        "bits": lambda: r.choice(("off", bits(r))),
        "range": lambda: " ".join(one(r, s["of"]) for _ in range(4)),
        "ids": lambda: f"{r.randrange(4096)} {r.randrange(4096)}",
        "vxlan": lambda: f"{r.randrange(1 << 16):04x} {r.randrange(1 << 16)} {r.randrange(1 << 24)}",
        "entry": lambda: f"{r.randrange(1 << 32):08x}",
        "fields": lambda: r.choice(("none", nest(r))),
        "file": lambda: r.choice(("none", SOME_FILE)),
        "rate": lambda: r.choice((f"{r.randrange(1, 1000) / 10}%", f"{r.randrange(1, 10**7)}pps", f"{r.randrange(1, 10**5)}kbps/l2",
                                  f"{r.random() * 9 + .01:.3f}Gbps", "max")),
        "speed": lambda: r.choice(("auto", f"{r.randrange(1, 400)}G", f"{r.randrange(100, 10**6)}Mbps")),
        "duration": lambda: f"{r.randrange(1, 1000)}{r.choice(('us', 'ms', 's'))}",
        "switch": lambda: r.choice(("on", "off")),
        "choice": lambda: r.choice([w for w in s["choices"] if w]),
        "word": lambda: r.choice([w for w in s["choices"] if w]),
        "frame": lambda: r.choice(STACKS),
        "size": lambda: r.choice(("auto", str(r.randrange(64, 1519)))),
        "sizes": lambda: sizes(r),
        "text": lambda: text(r, s),
        "hex": lambda: hexbytes(r, s),
        "bytes": lambda: hexbytes(r, s),
        "variation": lambda: variation(r, s),
    }
    if s["type"] in made:
        return made[s["type"]]()
    if s["type"] in ("number", "mac", "ipv4", "ipv6", "flags"):
        return one(r, s)
    # of a type of its own: a word that it names, or what it starts with
    return r.choice([w for w in s.get("choices", []) if w] or [s["default"] or "default"])


def quote(t):
    if "'" not in t:
        return f"'{t}'"
    return '"' + t.replace("\\", "\\\\").replace('"', '\\"') + '"'


# Runs


@pytest.fixture(scope="module")
def rows():
    tables = json.loads(good(["--dump-commands"]).stdout)["settings"]
    return [s for s in tables if "later" not in s["flags"] and not s["stands_for_another"]]


def play(tmp, name, lines):
    """A command file; gives the numbers of the lines that are refused by what its errors say."""
    path = tmp / name
    path.write_text("".join(line + "\n" for line in lines))
    return path


def script(r, rows):
    """Streams with holes, and a value for every row; those beyond the table too."""
    lines = ["stream add 0/1-12,1/3-5,2/4095", "stream delete 0/5-6,0/9", "stream copy 0/2 1/8-9", "stream delete 2/0"]
    lines += [f"set {p}/all frame {r.choice(STACKS)}" for p in (0, 1)] + ["set 1/3-5 frame eth/ipv4/ipv4/ipv4/udp"]
    lines += [f"set 1/4 ipv4[3].{f} 7" for f in ("ttl", "id")]
    for s in r.sample(rows, len(rows)):
        for _ in range(2):
            a = r.randrange(13)
            where = {"global": "", "port": f"{r.randrange(3)} ",
                     "stream": r.choice((f"0/{a}-12 ", f"0/0-{a} ", "1/all ", f"0/{r.choice((0, 3, 12))} "))}
            lines.append(f"set {where[s['scope']]}{s['name']} {quote(value(r, s))}")
    return lines


PORTS = ["-p", "wire", "-p", "null"]


def settings(r):
    """Values by target and name, of each `show settings`. Rows of a second header ("ipv4[2].src") are listed once they were named, so only
    those that are set are compared."""
    docs = [json.loads(line)["settings"] for line in r.stdout.splitlines() if line.startswith('{"show":"settings"')]
    return [{f'{s["target"]} {s["name"]}': (s["value"], s["default"])
             for s in doc if not s["default"] or "[" not in s["name"]}
            for doc in docs]


def streams(r):
    docs = [json.loads(line)["streams"] for line in r.stdout.splitlines() if line.startswith('{"show":"streams"')]
    return [{f'{s["port"]}/{s["stream"]} {k}': sorted(v) if k == "varies" else v
             for s in doc for k, v in s.items()} for doc in docs]


def differing(a, b):
    return {k: (a.get(k), b.get(k)) for k in a.keys() | b.keys() if a.get(k) != b.get(k)}


def test_what_is_saved_comes_back(rnd, rows, tmp_path):
    lines = script(rnd, rows)
    path = play(tmp_path, "made.cmd", lines)
    a, b, c = (str(tmp_path / n) for n in "abc")
    run = ["--json", "-b", "-k", *PORTS, "-f", str(path), "-e", f"save {a}; show settings; show streams; reset all; save {c}.empty"]
    r = harness.run([*run, "-e", f"load {a}; save {b}; show settings; show streams"], timeout=120)
    assert r.returncode in (0, 2), r.stderr
    assert not re.search(r"(?m)^-e:", r.stderr), r.stderr
    assert open(a, encoding="utf-8").read() == open(b, encoding="utf-8").read()
    before, after = settings(r)
    assert differing(before, after) == {}
    assert len(streams(r)[0]) > 100
    assert differing(*streams(r)) == {}
    assert [line for line in open(c + ".empty", encoding="utf-8") if not line.startswith("#")] == ["reset all\n"]
    # a program of its own comes to the same
    fresh = good(["--json", "-b", *PORTS, "-e", f"load {a}; save {c}; show settings; show streams"], timeout=120)
    assert open(a, encoding="utf-8").read() == open(c, encoding="utf-8").read()
    assert differing(settings(fresh)[0], before) == {} and differing(streams(fresh)[0], streams(r)[0]) == {}
    # and as a command file
    fresh = good(["--json", "-b", *PORTS, "-f", a, "-e", "show settings"], timeout=120)
    assert differing(settings(fresh)[0], before) == {}
    # every row took part
    refused = {int(n) for n in re.findall(r"(?m)^\S*made\.cmd:(\d+): ", r.stderr)}
    taken = {line.split("'")[0].split('"')[0].split()[-1] for n, line in enumerate(lines, 1) if n not in refused}
    missing = [s["name"] for s in rows if s["name"] not in taken]
    assert len(missing) <= len(rows) // 10, f"no value was taken by {missing}"
    print(f"{len(rows)} rows, none taken by {missing}")
    assert len(before) > 100


def test_broken_files_change_nothing(rnd, rows, tmp_path, live):
    whole = tmp_path / "whole"
    path = play(tmp_path, "made.cmd", script(rnd, rnd.sample(rows, min(60, len(rows)))))
    harness.run(["-b", "-k", *PORTS, "-f", str(path), "-e", f"save {whole}"], timeout=120)
    text_ = whole.read_bytes()
    commands = ["set 0/2 size 100", "set 0 rate 7", "stream add 0/2-4", "stream delete 0/3"]
    p = live(["-b", "-k", *PORTS, "-e", "; ".join(commands)])
    failed = 0
    for i in range(40):
        broken = bytearray(text_)
        for _ in range(rnd.randrange(1, 4)):
            at = rnd.randrange(len(broken))
            broken[at:at + rnd.randrange(1, 4)] = rnd.choice((b"", b"9", b"\n", b"'", b"x/", b";", b"start 0\n"))
        if i == 0:
            broken = bytearray(text_ + b"set 0/0 size 5\n")
        (tmp_path / "broken").write_bytes(broken)
        p.send(f"save {tmp_path}/before")
        p.ask("show settings")
        before = (tmp_path / "before").read_bytes()
        errors = len(p.errors())
        p.send(f"load {tmp_path}/broken; save {tmp_path}/after")
        p.ask("show settings")
        if "nothing has changed" in p.errors()[errors:]:
            failed += 1
            assert (tmp_path / "after").read_bytes() == before, (tmp_path / "broken").read_text(errors="replace")
    assert failed >= 1
    assert p.quit()[0] in (0, 2)


def test_a_port_that_sends_keeps_its_settings(tmp_path, live):
    (tmp_path / "f").write_text("reset all\nset 0 rate 5\nstream add 0/1-9\n")
    (tmp_path / "g").write_text("set 0 rate 7\nset 0/0 tcp.dst 99\nset 0 mtu 3000\n")
    p = live(["-b", "-k", *PORTS, "-e", "set 0 rate 1kpps; start 0"])
    p.until(lambda ports: ports[0]["tx"]["packets"] > 0, 10)
    before = p.ask("show settings")
    p.send(f"load {tmp_path}/f")
    assert p.ask("show settings") == before
    p.send(f"load {tmp_path}/g")
    assert p.ask("show settings") == before
    assert p.errors().count("nothing has changed") == 2
    now = p.stats()[0]["tx"]["packets"]
    p.until(lambda ports: ports[0]["tx"]["packets"] > now, 10)
    p.send(f"stop 0; wait 0; load {tmp_path}/f")
    assert p.ask("show settings") != before
    assert p.quit()[0] in (0, 2)


# Files


def test_a_save_replaces_the_file_as_a_whole(tmp_path):
    old, link, dangling = tmp_path / "old", tmp_path / "link", tmp_path / "dangling"
    old.write_text("old\n")
    old.chmod(0o640)
    link.symlink_to("old")
    inode = old.stat().st_ino
    good(["-p", "null", "-e", f"save {link}"])
    assert link.is_symlink() and old.read_text().endswith("reset all\n")
    assert old.stat().st_ino != inode and old.stat().st_mode & 0o777 == 0o640
    dangling.symlink_to("new")
    good(["-p", "null", "-e", f"save {dangling}"])
    assert dangling.is_symlink() and (tmp_path / "new").read_text() == old.read_text()
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    r = harness.run(["-p", "null", "-b", "-e", f"save {loop}"])
    assert r.returncode == 2 and str(loop) in r.stderr
    assert sorted(f.name for f in tmp_path.iterdir()) == ["dangling", "link", "loop", "new", "old"]


def saves_nothing(where, reason, **kw):
    """A save into that directory, whose file `old` exists, fails for this reason and leaves everything as it is."""
    before = sorted(os.listdir(where))
    r = harness.run(["-p", "null", "-b", "-e", "stream add 0/1-4000; set 0/all frame eth/ipv4/udp", "-e", f"save {where}/old"], **kw)
    assert r.returncode == 2, r.stderr
    assert f"{where}/old" in r.stderr and reason in r.stderr, r.stderr
    with open(os.path.join(where, "old"), encoding="utf-8") as f:
        assert f.read() == "old\n"
    assert sorted(os.listdir(where)) == before


def test_a_save_beyond_a_limit_leaves_the_old_file(tmp_path):
    (tmp_path / "old").write_text("old\n")

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))

    saves_nothing(str(tmp_path), "File too large", preexec_fn=limit)


def test_a_save_into_a_closed_directory(tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root writes everywhere; the read-only file system stands for it")
    (tmp_path / "old").write_text("old\n")
    tmp_path.chmod(0o555)
    try:
        saves_nothing(str(tmp_path), "Permission denied")
    finally:
        tmp_path.chmod(0o755)


@pytest.fixture
def small_disk(tmp_path):
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("needs root: mounts a small file system")
    where = tmp_path / "disk"
    where.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(where)], stderr=subprocess.PIPE, text=True)
    if made.returncode != 0:
        pytest.skip(f"cannot mount a tmpfs: {made.stderr.strip()}")
    (where / "old").write_text("old\n")
    yield where
    subprocess.run(["umount", "-l", str(where)], check=False)


def test_a_full_disk_leaves_the_old_file(small_disk):
    try:
        with open(small_disk / "filler", "wb", buffering=0) as f:
            while f.write(bytes(4096)) > 0:
                pass
    except OSError:
        pass
    saves_nothing(str(small_disk), "No space left on device")


def test_a_read_only_disk_leaves_the_old_file(small_disk):
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    saves_nothing(str(small_disk), "Read-only file system")


# Size


def control_ms(p):
    with open(f"/proc/{p.pid}/task/{p.pid}/schedstat", encoding="ascii") as f:
        return int(f.read().split()[0]) / 1e6


def test_many_lines_and_streams(rnd, tmp_path, live):
    """1,000 lines with 4096 streams; what it takes, and how much of that on the CPU, is printed (`pytest -s`), not judged."""
    lines = ["reset all", "stream add 0/1-4095", "set 0/all frame eth/ipv4/udp"]
    while len(lines) < 1000:
        first = rnd.randrange(4096)
        where = f"0/{first}-{min(first + rnd.randrange(8), 4095)}"
        lines.append(f"set {where} " + rnd.choice((f"udp.dst {rnd.randrange(65536)}", f"ipv4.src {ip4(rnd)}", f"size {rnd.randrange(64, 1519)}")))
    path = play(tmp_path, "many", lines)
    p = live(["-b", "-p", "null"])
    p.ask("show clock")
    took = []
    for _ in range(5):
        begin, busy = time.monotonic(), control_ms(p)
        p.send(f"load {path}")
        p.ask("show clock", 60)
        took.append(f"{1000 * (time.monotonic() - begin):.0f} ({control_ms(p) - busy:.0f})")
    p.send(f"save {tmp_path}/first; load {tmp_path}/first; save {tmp_path}/second")
    assert len(p.ask("show settings 0/0,0/4095", 60)["settings"]) > 20
    print(f"load of 1000 lines with 4096 streams, ms (on the CPU): {', '.join(took)}")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    assert p.quit()[0] == 0
