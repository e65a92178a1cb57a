# SPDX-License-Identifier: BSD-3-Clause
"""Floods of files of dperf go over the tuples that dperf has open: what the commands come to against a model of how its CPUs open, and what is on
the wire."""
import collections
import ipaddress
import json
import math
import random
import re
import struct
import subprocess

import pytest
from scapy.utils import RawPcapNgReader

import harness
from seed import random_seed

EVER = 86400 * 365


class File:
    """A client of dperf, whose connections send without waiting."""

    def __init__(self, six=False, ports=1, queues=1, rss=False, hop=False, clients=1, more=(), servers=1, listen=(80, 1), own=(1, 65535), cps=1000,
                 cc=None, keepalive="10ms", seconds=EVER, udp=True):
        self.__dict__.update({k: v for k, v in locals().items() if k != "self"})

    def address(self, end, port, i):
        return f"fd00:{port}::{end}:{i:x}" if self.six else f"10.{port}.{end}.{i}"

    def text(self):
        lines = ["mode client", "cpu " + " ".join(str(1 + n) for n in range(self.ports * self.queues)), "flood", "wait 1", "slow_start 0",
                 f"duration {self.seconds}s", f"listen {self.listen[0]} {self.listen[1]}", f"client_port_range {self.own[0]} {self.own[1]}",
                 f"cps {self.cps}", "retransmit_timeout 2"]
        lines += ["rss"] * self.rss + ["client_hop"] * self.hop + ["protocol udp"] * self.udp
        lines += [f"cc {self.cc}"] * (self.cc is not None) + [f"keepalive {self.keepalive}"] * (self.keepalive is not None)
        for p in range(self.ports):
            more = "".join(f" {self.address(1, p, i)}" for i in self.more)
            lines += [f"port 0000:00:10.{p} {self.address(0, p, 1)} {self.address(0, p, 2)} 02:77:72:00:00:01",
                      f"client {self.address(1, p, 1)} {self.clients}{more}", f"server {self.address(2, p, 1)} {self.servers}"]
        return "\n".join(lines) + "\n"

    def share(self, n, worker):
        cpus = self.ports * self.queues
        if n <= cpus:
            return int(worker < n)
        return n // cpus + (n % cpus if worker == 0 else 0)

    def opened(self, port):
        """The tuples that the CPUs of a port have open at the end: each walks through its table, and takes what is not open yet."""
        found, first = set(), None
        for q in range(self.queues):
            shared = self.queues > 1 and not self.rss
            servers = [q] if shared else range(self.servers)
            table = [(self.address(1, port, c), lport, self.address(2, port, 1 + s), dport)
                     for c in [*range(1, 1 + self.clients), *self.more] for lport in range(self.own[0], self.own[1] + 1)
                     for dport in range(self.listen[0], sum(self.listen)) for s in servers]
            first = first or next(t for t in table if not self.rss or t[1] % self.queues == q)
            worker = port * self.queues + q
            most = min(len(table), self.share(self.cps, worker) * self.seconds if self.keepalive else len(table))
            want = most if self.cc is None else min(most, self.share(self.cc, worker))
            mine, at, idle = set(), 0, 0
            while len(mine) < want and idle < 2 * len(table):
                while self.rss and self.queues > 1 and table[at][1] % self.queues != q and idle < 2 * len(table):
                    at, idle = (at + 1) % len(table), idle + 1
                if self.rss and self.queues > 1 and table[at][1] % self.queues != q:
                    break
                idle = idle + 1 if table[at] in mine else 0
                mine.add(table[at])
                at += 1
                if self.hop:
                    at += 65535
                at = at if at < len(table) else 0
            found |= mine
        return found or {first}  # of less than one a port has one


def dumped(folder, file, **kw):
    (folder / "c.conf").write_text(file.text())
    return subprocess.run([harness.binary(), "--dperf", str(folder / "c.conf"), "--dperf-dump"], capture_output=True, text=True, check=False, **kw)


def values(text):
    """What a field goes over."""
    def one(word):
        return int(word) if word.isdigit() else int(ipaddress.ip_address(word))
    out = []
    for item in text.removeprefix("list ").split(","):
        item, _, step = item.partition(" step ")
        first, _, last = item.partition("..")
        out += range(one(first), one(last or first) + 1, int(step or 1))
    return out


def streams(dump):
    """Of each port its streams, each {setting: value}; what one is made like is in it."""
    ports = collections.defaultdict(lambda: [{}])
    for line in dump.splitlines():
        if m := re.fullmatch(r"stream add (\d) (\d+) like (\d)/0", line):
            ports[int(m[1])] += [dict(ports[int(m[1])][0]) for _ in range(int(m[2]))]
        elif m := re.fullmatch(r"set (\d)(?:/(\d+))? (\S+) (.*)", line):
            ports[int(m[1])][int(m[2] or 0)][m[3]] = m[4]
    return ports


def covered(stream, file):
    """The tuples that a stream goes over: those of fields in its nest in all combinations, and there are no others that vary."""
    ip, l4 = "ipv6" if file.six else "ipv4", "udp" if file.udp else "tcp"
    names = (f"{ip}.src", f"{l4}.src", f"{ip}.dst", f"{l4}.dst")
    fields = [values(stream[name]) for name in names]
    nest = stream.get("nest", "none").replace("none", "")
    varied = [n for n, f in zip(names, fields) if len(f) > 1]
    assert sorted(filter(None, nest.split(","))) == sorted(varied) or len(varied) == 1
    return [(str(ipaddress.ip_address(a)), b, str(ipaddress.ip_address(c)), d) for a in fields[0] for b in fields[1] for c in fields[2]
            for d in fields[3]]


def tuples_of(stream):
    return math.prod(len(values(v)) for name, v in stream.items() if re.fullmatch(r"(ipv4|ipv6|tcp|udp)\.(src|dst)", name))


def same_share(ports):
    """Each tuple of a port comes as often as any other: by weights, or by rates of the streams."""
    for port, of in ports.items():
        shares = set()
        for s in of:
            part = float(s["rate"].split("..")[-1].split("pps")[0]) if "rate" in s and len(of) > 1 and "weight" not in s else int(s.get("weight", 1))
            shares.add(part / tuples_of(s))
        assert max(shares) <= min(shares) * 1.000001, (port, shares)


def written(tuples):
    return {(str(ipaddress.ip_address(a)), b, str(ipaddress.ip_address(c)), d) for a, b, c, d in tuples}


def agree(folder, file):
    done = dumped(folder, file)
    assert done.returncode == 0, (done.stderr, file.text())
    ports = streams(done.stdout)
    for port in range(file.ports):
        over = [t for s in ports[port] for t in covered(s, file)]
        want = written(file.opened(port))
        assert len(over) == len(set(over)) and set(over) == want, (len(over), len(want), sorted(set(over) ^ want)[:5], file.text(), done.stdout)
    same_share(ports)
    return ports


def any_file(rng):
    queues, rss = rng.choice([1, 1, 2, 3, 4]), rng.random() < 0.5
    own = rng.randrange(1, 60000)
    f = File(six=rng.random() < 0.3, ports=rng.choice([1, 1, 2]), queues=queues, rss=rss, clients=rng.randrange(1, 5),
             more=rng.choice([(), (), (9, 7)]), servers=queues if queues > 1 and not rss else rng.randrange(1, 5), listen=(8000, rng.randrange(1, 6)),
             own=(own, own + rng.randrange(2 * queues, 40)), keepalive="10ms", udp=rng.random() < 0.7)
    f.cps = f.ports * queues
    if rng.random() < 0.8:
        # as many as all CPUs have tuples, where ports that no CPU has are left out
        most = len(f.opened(0)) // queues * f.ports * queues if not rss else len(f.opened(0)) // 2
        f.cc = rng.choice([1, 2, 3, 5, rng.randrange(1, most + 1), rng.randrange(1, most + 1), most])
    elif rng.random() < 0.5:
        f.seconds = rng.randrange(1, 9)
    return f


def test_model(tmp_path):
    """Files at random: the streams that they come to go over exactly the tuples that dperf has open, each as often as any other."""
    rng = random.Random(random_seed())
    for _ in range(60):
        agree(tmp_path, any_file(rng))


BIG = {"weights too large": {"clients": 2, "listen": (80, 7), "own": (1000, 30000), "cc": 70001, "cps": 100000},
       "hops": {"clients": 9, "hop": True, "cc": 5},
       "hops of all": {"clients": 4, "hop": True, "keepalive": None},
       "hops of two CPUs": {"clients": 5, "hop": True, "queues": 2, "rss": True, "cc": 4},
       "no keepalive": {"clients": 2, "own": (7, 2000), "keepalive": None},
       "published": {"queues": 16, "rss": True, "listen": (8050, 50), "own": (1000, 1999), "cc": 5000, "cps": 5000}}


@pytest.mark.parametrize("shape", BIG)
def test_model_of_some(tmp_path, shape):
    agree(tmp_path, File(**BIG[shape]))


def test_published_numbers(tmp_path):
    """The numbers of flows of the figures of a load balancer, as their files say them: half a million in one stream, five million in two."""
    own = {"queues": 16, "rss": True, "own": (1000, 65535)}
    for file, spans in ((File(**own, listen=(8050, 50), cc=500000, cps=50000), [(50, 10000)]),
                        (File(**own, listen=(8050, 1), cc=1, cps=1), [(1, 1)]),
                        (File(listen=(8000, 99), own=(1000, 65535), cc=5000000, cps=500000), [(99, 50505), (5, 1)])):
        ports = streams(dumped(tmp_path, file).stdout)
        assert [(len(values(s["udp.dst"])), len(values(s["udp.src"]))) for s in ports[0]] == spans
        assert sum(a * b for a, b in spans) == file.cc
        same_share(ports)


def rate(folder, **more):
    line = next(x for x in dumped(folder, File(**more)).stdout.splitlines() if x.startswith("set 0 rate "))
    return line.removeprefix("set 0 rate ")


def test_rate(tmp_path):
    """It is that of the connections that are open, which opens them by cps."""
    assert rate(tmp_path, cc=1, cps=1, keepalive="1ms") == "1000pps"
    assert rate(tmp_path, cc=500, cps=1000) == "50000pps"
    assert rate(tmp_path, cc=5000, cps=1000, keepalive="1s") == "1pps..5000pps over 5s"
    assert rate(tmp_path, cc=5000, cps=1000, keepalive="1s", seconds=3) == "1pps..3000pps over 3s"
    assert rate(tmp_path, cps=1000, keepalive="100ms", seconds=4) == "10pps..40000pps over 4s"
    assert rate(tmp_path, cps=1000, keepalive=None) == "1000pps"


def test_too_many(tmp_path):
    """As dperf: more connections than tuples are refused; and where one more CPU's tuples would be needed it has no more than there are."""
    done = dumped(tmp_path, File(own=(1000, 1499), listen=(80, 2), cps=1, cc=1001))
    assert done.returncode != 0 and ": client: 1000 tuples of addresses and ports for 1001 connections" in done.stderr, done.stderr
    agree(tmp_path, File(own=(1000, 1499), listen=(80, 2), cps=1, cc=1000))
    text = File(hop=True, clients=250, listen=(80, 50), own=(1, 65535), keepalive=None).text()
    (tmp_path / "c.conf").write_text(text)
    done = subprocess.run([harness.binary(), "--dperf", str(tmp_path / "c.conf"), "--dperf-dump"], capture_output=True, text=True, check=False)
    place = text.splitlines().index("client_hop") + 1
    assert done.returncode != 0 and f"c.conf:{place}:1: client_hop: " in done.stderr and "more than 4096 streams" in done.stderr, done.stderr


def on_wire(path):
    """How often each tuple came."""
    found = collections.Counter()
    for frame, _ in RawPcapNgReader(str(path)):
        if frame[12:14] == b"\x08\x00":
            ip, n, what = (frame[26:30], frame[30:34]), 34, frame[23]
        else:
            ip, n, what = (frame[22:38], frame[38:54]), 54, frame[20]
        if what not in (6, 17):  # the hosts of the ports
            continue
        ends = struct.unpack("!HH", frame[n:n + 4])
        found[str(ipaddress.ip_address(ip[0])), ends[0], str(ipaddress.ip_address(ip[1])), ends[1]] += 1
    return found


WIRE = {"elephant": {"own": (1000, 65535), "cc": 1, "cps": 1, "keepalive": "1ms"},
        "500": {"clients": 3, "servers": 2, "listen": (80, 5), "own": (1000, 1019), "cps": 300, "cc": 500, "keepalive": "100ms"},
        "77 of two CPUs": {"queues": 2, "rss": True, "clients": 2, "listen": (80, 4), "own": (1001, 1100), "cps": 78, "cc": 77, "keepalive": "20ms"},
        "77 SYNs by IPv6": {"six": True, "udp": False, "clients": 2, "more": (9,), "listen": (80, 10), "own": (5000, 5002), "cps": 40, "cc": 77,
                            "keepalive": "20ms"},
        "two of two servers": {"queues": 2, "servers": 2, "own": (1, 500), "cps": 90, "cc": 31, "keepalive": "20ms"},
        "rates of their own": {"listen": (80, 7), "own": (1000, 30000), "cc": 70001, "cps": 80000, "keepalive": "20s"},
        "all, once": {"own": (1, 1000), "cps": 1000, "keepalive": None, "clients": 2}}


@pytest.mark.parametrize("shape", WIRE)
def test_on_the_wire(run, tmp_path, shape):
    """The different tuples of what comes at the other end of a wire: as many as the file says, those, and each as often as any other."""
    file = File(**WIRE[shape] | {"seconds": 2})
    (tmp_path / "c.conf").write_text(file.text())
    done = run([*harness.lcores(file.queues), "-p", "wire", *(["-m", "[1/2].0,[1/2].1"] if file.queues > 1 else []), "-b", "--json", "--dperf",
                str(tmp_path / "c.conf"), "-e", f"set all catchup keep; capture 1 {tmp_path}/seen.pcapng rx"])
    assert done.returncode == 0, done.stderr
    found, want = on_wire(tmp_path / "seen.pcapng"), written(file.opened(0))
    sent = next(p["run"]["sent"] for p in map(json.loads, done.stdout.splitlines()[-1:]) for p in p["ports"])
    assert sum(found.values()) == sent
    assert set(found) <= want and len(found) == min(sent, len(want)) and len(want) == (file.cc or len(want)), (sent, len(found), len(want))
    assert max(found.values()) <= min(found.values()) + 2, found.most_common(3)


def test_payload_file(tmp_path):
    """The bytes of a payload_file go out, and nothing is warned of."""
    text = File(cps=100, cc=10, seconds=1).text().replace("flood\n", "flood\npayload_file of\n")
    (tmp_path / "of").write_bytes(b"abc")
    (tmp_path / "c.conf").write_text(text)
    args = [harness.binary(), "-p", "wire", "-b", "--dperf", "c.conf", "-e", "show frame 0"]
    done = subprocess.run(args, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and "warning" not in done.stderr
    assert "61 62 63 61 62 63" in done.stdout
