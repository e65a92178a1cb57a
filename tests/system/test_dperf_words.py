# SPDX-License-Identifier: BSD-3-Clause
"""Each directive of dperf in a file, and what is seen of it: in frames, in counters, or in the commands that the file comes to."""
import collections
import os
import re
import subprocess

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.layers.vxlan import VXLAN
from scapy.utils import RawPcapNgReader, rdpcap

import harness

OPENED = 12
BASE = {"cpu": "1", "port": "0000:00:10.0 10.50.0.1 10.50.1.1", "client": "10.50.0.11 3", "server": "10.50.1.11 2", "listen": "80 1"}
CLIENT = {"mode": "client", **BASE, "cps": "1k", "wait": "1", "slow_start": "0"}
SERVER = {"mode": "server", **BASE, "port": "0000:00:10.1 10.50.1.1 10.50.0.1"}


def file_of(base, lines):
    """The lines of base, but for directives that others say, and these."""
    given = {line.split()[0] for line in lines}
    return "\n".join([*(f"{k} {v}" for k, v in base.items() if k not in given), *lines]) + "\n"


class Seen:
    """What came of two files: the commands, the frames that each port has sent, flows, and the numbers by dperf's names."""

    def __init__(self, program, folder, client, server):
        names = []
        (folder / "x").write_bytes(b"0123456789")
        for name, text in (("c.conf", file_of(CLIENT, client)), ("s.conf", file_of(SERVER, server))):
            (folder / name).write_text(text)
            names += ["--dperf", str(folder / name)]
        dump = subprocess.run([harness.binary(), *names, "--dperf-dump"], capture_output=True, text=True, check=False)
        assert dump.returncode == 0, dump.stderr
        self.dump = dump.stdout.splitlines()
        settings, self.run = dump.stdout.split("\n# the run\n")
        (folder / "load.cmd").write_text(settings)
        self.flood = "flood" in client
        # A run ends with its last connection, however long a busy machine takes; those of cc stay open.
        long = "2s" if "cc 5" in client else "30s"
        for line in ("reset all", f"load {folder}/load.cmd", "set all catchup keep", f"set 0/0 count {OPENED}", "clear",
                     "set 1 ip 10.50.1.1/23" if self.flood else "start 1", f"capture 0 {folder}/0.pcapng", f"capture 1 {folder}/1.pcapng",
                     f"start 0 for {long}", "wait 0", "stop all; wait all; capture stop"):
            program.send(line)
        self.flows = {} if self.flood else {f["role"]: f for f in program.ask("show flows")["flows"]}
        self.blocks = {b["role"]: b["total"] for b in program.ask("show page dperf")["dperf"]}
        self.sent = program.stats()[0]["run"]["sent"]
        self.frames = [[f for f in rdpcap(f"{folder}/{i}.pcapng") if f[Ether].src == mac]
                       for i, mac in enumerate(p["mac"] for p in program.ask("show ports")["ports"])]

    def says(self, *lines):
        """The commands have these lines; one that ends with ... begins so."""
        return all(any(x.startswith(line[:-3]) if line.endswith("...") else x == line for x in self.dump) for line in lines)

    def of(self, layer, port=0):
        """The innermost layer of this kind in each frame that has it."""
        return [f.getlayer(layer, nb=len([x for x in f.layers() if x is layer])) for f in self.frames[port] if layer in f]

    def syns(self):
        return [(f[IP], f[TCP]) for f in self.frames[0] if TCP in f and f[TCP].flags == "S"]

    def requests(self):
        return [bytes(t.payload) for t in self.of(TCP) if t.flags.P]

    def opened(self):
        return self.flows["client"]["connections"]["opened"]


def noted(name):
    return lambda s: s.says(f"# {name}: ...") and s.opened() == OPENED


def only(values, allowed):
    return set(values) == set(allowed)


TUNNEL = "vxlan 7 02:00:00:00:00:{} 02:00:00:00:00:{} 10.50.{}.5 1 10.50.{}.5 1"
FLOOD = ["flood", "protocol udp"]
# directive: lines of the client, of the server, and what must hold
WORDS = {
    "mode": ([], [], lambda s: set(s.flows) == set(s.blocks) == {"client", "server"}),
    "daemon": (["daemon"], [], lambda s: "--daemon" in s.dump[1]),
    "quiet": (["quiet"], [], noted("quiet")),
    "clear_screen": ([], ["clear_screen"], noted("clear_screen")),
    "log_level": (["log_level debug"], [], noted("log_level")),
    "cpu": (["cpu 1 2", "rss"], [], lambda s: "-m '[1/2].0,[1].1'" in s.dump[1] if len(os.sched_getaffinity(0)) > 2
            else "-m '[1].0,[1].1'" in s.dump[1] and ": cpu: the file names 1 2, and the only worker here is 1; " in s.dump[2]),
    "socket_mem": (["socket_mem 0,1"], [], noted("socket_mem")),
    "simd512": (["simd512"], [], noted("simd512")),
    "duration": (["duration 5s"], ["duration 7"], lambda s: s.says("start 0 for 5s", "start 1")),
    "wait": (["wait 2", "slow_start 10", "duration 1"], [], lambda s: s.says("sleep 2s", "start 0 for 9s")),
    "slow_start": (["slow_start 10"], [], lambda s: s.says("set 0 cps 200..1000 step 100 every 1s")),
    "port": (["port 0000:00:10.0 10.50.0.1 10.50.1.1 02:00:00:00:00:fe"], [],
             lambda s: "-p pci:0000:00:10.0 -p pci:0000:00:10.1 " in s.dump[1]
             and only((f.dst for f in s.frames[0] if TCP in f), ["02:00:00:00:00:fe"])),
    "client": (["client 10.50.0.11 2 10.50.0.99", "client_hop", "server 10.50.1.11 1"], [],
               lambda s: only((ip.src for ip, _ in s.syns()), ["10.50.0.11", "10.50.0.12", "10.50.0.99"])),
    "server": (["server 10.50.1.20 3"], ["server 10.50.1.20 3"], lambda s: only((ip.dst for ip, _ in s.syns()), [f"10.50.1.2{i}" for i in range(3)])
               and only((ip.src for ip in s.of(IP, 1)), [f"10.50.1.2{i}" for i in range(3)])),
    "listen": (["listen 8000 4"], ["listen 8000 4"], lambda s: only((t.dport for _, t in s.syns()), range(8000, 8004)) and s.opened() == OPENED),
    "client_port_range": (["client_port_range 2000 2665"], [], lambda s: all(2000 <= t.sport <= 2665 for _, t in s.syns())),
    "lport_range": (["lport_range 3000 3665"], [], lambda s: all(3000 <= t.sport <= 3665 for _, t in s.syns())),
    "client_hop": (["client_hop", "server 10.50.1.11 1"], ["server 10.50.1.11 1"],
                   lambda s: s.says("# client_hop: ...") and not s.says("set 0 nest ...") and len({ip.src for ip, _ in s.syns()}) == 3),
    "change_dip": ([*FLOOD, "change_dip 10.9.0.1 2 3"], [], lambda s: only((ip.dst for ip in s.of(IP)), ["10.9.0.1", "10.9.0.3", "10.9.0.5"])),
    "vlan": (["vlan 7"], ["vlan 7"], lambda s: only((f[Dot1Q].vlan if Dot1Q in f else None for f in s.frames[0] + s.frames[1]), [7])),
    "vxlan": ([TUNNEL.format("01", "02", 0, 1)], [TUNNEL.format("02", "01", 1, 0)],
              lambda s: only((v.vni for v in s.of(VXLAN) + s.of(VXLAN, 1)), [7]) and only((v.payload.src for v in s.of(VXLAN)), ["02:00:00:00:00:01"])
              and only((f[IP].src for f in s.frames[1] if VXLAN in f), ["10.50.1.5"]) and s.opened() == OPENED),
    "kni": (["kni dp0"], [], noted("kni")),
    "tos": (["tos 0x28"], ["tos 40"], lambda s: only((ip.tos for ip in s.of(IP)), [0x28]) and only((ip.tos for ip in s.of(IP, 1)), [0x28])
            and all(b["tosRx"] == b["tcpRx"] > 0 for b in s.blocks.values())),
    "jumbo": (["jumbo 9000", "payload_size 8000", "protocol udp"], ["jumbo 9000", "payload_size 8000", "protocol udp"],
              lambda s: only((len(u.payload) for u in s.of(UDP) + s.of(UDP, 1)), [8000])
              and s.says("set 0 mtu 9000") and " --mtu 9000 " in s.dump[1]),
    "neigh_ignore": (["port 0000:00:10.0 10.50.0.1 10.50.1.1 02:00:00:00:00:fe"], ["neigh_ignore"],
                     lambda s: s.says("set 0 answer.for ...") and not s.says("set 1 answer.for ...") and s.opened() == OPENED),
    "rss": (["rss"], [], noted("rss")),
    "flow_isolate": (["flow_isolate", "port 0000:00:10.0 10.50.0.1 10.50.1.1 02:00:00:00:00:fe"], [],
                     lambda s: s.says("# flow_isolate: ...") and s.opened() == OPENED),
    "cps": (["cps 2.5k"], [], lambda s: s.says("set 0 cps 2500") and s.opened() == OPENED),
    "cc": (["cc 5", "keepalive 60s"], ["keepalive 10s"], lambda s: s.says("set 0 connections 5") and s.opened() == 5 == s.blocks["server"]["skOpen"]),
    "keepalive": (["keepalive 1ms 3"], ["keepalive 10s"],
                  lambda s: s.flows["client"]["transactions"]["done"] == 3 * OPENED == s.blocks["server"]["httpGet"]),
    "pipeline": ([*FLOOD, "cc 3", "keepalive 1ms", "pipeline 2", "server 10.50.1.11 1"], [],
                 lambda s: s.says("set 0 rate 6000pps") and not s.says("set 0 bytes.pipeline ...") and s.sent == OPENED),
    "flood": (["flood"], [], lambda s: len(s.syns()) == OPENED == s.sent),
    "launch_num": (["launch_num 4"], [], noted("launch_num")),
    "tx_burst": (["tx_burst 8"], [], noted("tx_burst")),
    "retransmit_timeout": (["retransmit_timeout 300"], [], lambda s: s.says("set 0 flow.rto 300s", "set 0 flow.retries 3")),
    "fast_close": (["fast_close"], [], lambda s: s.flows["client"]["connections"]["reset_by_us"] == OPENED == sum(t.flags.R for t in s.of(TCP))),
    "disable_ack": (["disable_ack"], [], noted("disable_ack")),
    "tcp_rst": (["tcp_rst 1"], [], noted("tcp_rst")),
    "protocol": (["protocol udp"], ["protocol udp"], lambda s: len(s.of(UDP)) == OPENED == s.blocks["server"]["udpRx"] and not s.of(TCP)),
    "payload_size": (["payload_size 300"], ["payload_size 400"], lambda s: only(map(len, s.requests()), [300])
                     and s.flows["client"]["payload"]["rx_bytes"] == 400 * OPENED),
    "payload_random": ([*FLOOD, "payload_random", "payload_size 64"], [], lambda s: all(len(set(bytes(u.payload))) > 8 for u in s.of(UDP))),
    "payload_file": (["payload_file {}/x"], [], lambda s: only(s.requests(), [b"0123456789"])
                     and s.flows["server"]["payload"]["rx_bytes"] == 10 * OPENED),
    "send_window": ([], ["send_window 8"], noted("send_window")),
    "mss": (["mss 500"], [], lambda s: only((dict(t.options)["MSS"] for _, t in s.syns()), [500])),
    "packet_size": (["packet_size 900"], [], noted("packet_size")),
    "http_host": (["http_host a_b;c:1:2", "protocol http"], [], lambda s: all(b"\r\nHost: a_b;c:1:2\r\n" in r for r in s.requests())),
    "http_path": (["http_path /a/b:7", "protocol http"], [], lambda s: all(r.startswith(b"GET /a/b:7 HTTP/1.1\r\n") for r in s.requests())),
    "http_method": (["http_method POST", "protocol http"], [], lambda s: all(r.startswith(b"POST / ") for r in s.requests())
                    and s.blocks["client"]["httpPost"] == s.blocks["server"]["httpPost"] == OPENED and s.blocks["server"]["httpGet"] == 0),
}


@pytest.fixture(scope="module")
def program():
    """One for all, and another one behind a test that has failed."""
    programs = []

    def alive():
        if not programs or programs[-1].proc.poll() is not None:
            programs.append(harness.Live(["-p", "wire", "--mtu", "9000", "-b"]))
        return programs[-1]

    yield alive
    for p in programs:
        p.close()


@pytest.mark.parametrize("word", WORDS)
def test_word(program, tmp_path, word):
    client, server, right = WORDS[word]
    p = program()
    try:
        seen = Seen(p, tmp_path, [line.format(tmp_path) for line in client], server)
        assert any(line.split()[0] == word for line in [*client, *server]) or word == "mode"
        assert right(seen), (seen.dump, seen.flows, seen.blocks, [f.summary() for f in seen.frames[0][:20]])
    except BaseException:
        p.close()
        raise


def errors_of(folder, text):
    """What the program says of a file that is wrong: [(line, column, text)]."""
    (folder / "x.conf").write_text(text)
    done = subprocess.run([harness.binary(), "-p", "wire", "-b", "--dperf", str(folder / "x.conf")], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stdout == "", (text, done)
    found = re.findall(rf"^{re.escape(str(folder))}/x\.conf:(\d+):(\d+): (.*)$", done.stderr, re.M)
    return [(int(line), int(col), what) for line, col, what in found]


REPEATED = {"port", "client", "server", "vxlan", "change_dip"}


def test_all_words_and_each_once(tmp_path):
    """The table above has all directives that the manual has; those that do not repeat are refused where they stand for the second time."""
    manual = subprocess.run([harness.binary(), "--dperf-manual"], capture_output=True, text=True, check=True).stdout
    assert re.findall(r"^\| `(\w+)`", manual, re.M) == list(WORDS)
    lines = {line.split()[0]: line.format(tmp_path) for client, server, _ in WORDS.values() for line in [*client, *server]} | {"mode": "mode client"}
    once = [lines[word] for word in WORDS if word not in REPEATED]
    for at in range(0, len(once), 6):
        some = once[at:at + 6]
        found = errors_of(tmp_path, "\n".join([*some, *("  " + line for line in some)]) + "\n")
        assert found == [(len(some) + 1 + i, 3, f"{line.split()[0]} stands in line {i + 1} already; allowed: once") for i, line in enumerate(some)]


def test_destinations(tmp_path):
    """As many as there may be, of several lines: each comes once in as many frames, with whatever step."""
    (tmp_path / "c.conf").write_text(file_of(CLIENT, [*FLOOD, "cps 150k", "port 0000:00:10.0 10.50.0.1 10.50.1.1 02:00:00:00:00:01",
                                                      "change_dip 11.0.0.0 3 50000", "change_dip 12.0.0.0 65536 256", "change_dip 13.0.0.0 1 15280"]))
    file = tmp_path / "1.pcapng"
    more = f"set all catchup keep; set 0 count 65536; capture 1 {file}"
    done = harness.run(["-p", "wire", "-b", "--dperf", str(tmp_path / "c.conf"), "-e", more])
    assert done.returncode == 0, done
    seen = collections.Counter()
    for frame, _ in RawPcapNgReader(str(file)):
        if frame[12:14] == b"\x08\0" and frame[23] == 17:
            seen[int.from_bytes(frame[30:34], "big")] += 1
    there = {11 << 24 | 3 * i for i in range(50000)} | {12 << 24 | i << 16 for i in range(256)} | {13 << 24 | i for i in range(15280)}
    assert set(seen) == there and set(seen.values()) == {1}, (len(seen), collections.Counter(seen.values()))


# a line that is wrong: the column, and what stands in the message
LIMITS = {
    "cpu 1024": (5, "CPU is '1024'; allowed: numbers, or ranges such as 2-5, from 0 to 1023"),
    "duration 0": (10, "from 1 second on"),
    "slow_start 601": (12, "a number from 0 to 600"),
    "port eth0 10.50.0.1 10.50.1.1": (6, "DEVICE is 'eth0'; allowed: a PCI address such as 0000:3b:00.0"),
    "port 0000:1b:00.0 10.50.0.1": (1, "GATEWAY is missing"),
    "client 10.50.0.11 255": (19, "from 1 to 254"),
    "listen 80 65534": (11, "from 1 to 65533"),
    "vlan 0": (6, "from 1 to 4094"),
    "vxlan 16777216 02:00:00:00:00:01 02:00:00:00:00:02 10.8.0.1 1 10.8.0.2 1": (7, "from 0 to 16777215"),
    "tos 0x100": (5, "from 0 to 255"),
    "jumbo 9711": (7, "from 9000 to 9710"),
    "cps 2147483648": (5, "from 1 to 2147483647"),
    "cc 1g": (4, "a number such as 100, 2k or 1.5m"),
    "keepalive 25us": (11, "tens of us up to 990us"),
    "keepalive 1ms 32768": (15, "from 0 to 32767"),
    "pipeline 101": (10, "from 0 to 100"),
    "tx_burst 1025": (10, "from 1 to 1024"),
    "retransmit_timeout 1": (20, "from 2 to 300"),
    "payload_size 1073741825": (14, "from 0 to 1073741824"),
    "send_window 17": (13, "from 2 to 16"),
    "http_path a": (11, "begins with /"),
    "cpss 1": (1, "did you mean 'cps'?"),
}


def test_limits(tmp_path):
    """Each with its line and column; four have room in one message, however long the file's name is."""
    for at in range(0, len(LIMITS), 4):
        some = list(LIMITS.items())[at:at + 4]
        found = errors_of(tmp_path, "".join(f"# {i}\n{line}\n" for i, (line, _) in enumerate(some)))
        assert [(line, col) for line, col, _ in found] == [(2 * i + 2, col) for i, (_, (col, _)) in enumerate(some)], found
        assert all(part in what for (_, _, what), (_, (_, part)) in zip(found, some)), found


# what dperf takes and a setting here does not: other lines that it needs, and what is allowed
BEYOND = {
    "mss 63": ([], "64 to 65495"),
    "http_path /a#b": (["protocol http"], "%HH"),
    "payload_file /none/there": (FLOOD, "cannot read '/none/there'"),
    "port 0000:00:10.0 10.50.0.1 10.50.1.1 ff:ff:ff:ff:ff:ff": ([], "no MAC address that one host can have"),
    "change_dip 255.255.255.250 1 100": (FLOOD, "leave the addresses behind it"),
}


@pytest.mark.parametrize("line", BEYOND)
def test_beyond(tmp_path, line):
    """It is told by its place in the file, before anything is printed or opened."""
    more, part = BEYOND[line]
    text = file_of(CLIENT, [*more, line])
    (tmp_path / "c.conf").write_text(text)
    at = text.splitlines().index(line) + 1
    for how in (["--dperf-dump"], ["-b", "-p", "wire"]):
        done = subprocess.run([harness.binary(), *how, "--dperf", str(tmp_path / "c.conf")], capture_output=True, text=True, check=False)
        assert done.returncode == 2 and done.stdout == "" and f"c.conf:{at}:1: " in done.stderr and part in done.stderr, done


def test_refused_at_the_start(tmp_path):
    """A port that cannot be what the file asks for: the setting is told by the line that it comes from, and there are no totals."""
    (tmp_path / "c.conf").write_text(file_of(CLIENT, []))
    done = harness.run(["-b", "-p", "null", "--dperf", str(tmp_path / "c.conf")])
    assert done.returncode == 2 and "c.conf:3:1: set 0 ip " in done.stderr and "Test Finished" not in done.stdout, done


@pytest.mark.parametrize("second, place", [
    ([], "c.conf:{}:1: "),
    (["port 0000:00:10.2 10.51.0.1 10.51.1.1 02:00:00:00:00:02", "client 10.51.0.11 3", "server 10.51.1.11 2"], "c.conf: ")])
def test_refused_by_a_start(tmp_path, second, place):
    """What a start refuses is told by the line of the port, or where there are several by the file, and by what it was to do."""
    text = file_of(CLIENT, ["port 0000:00:10.0 10.50.0.1 10.50.1.1 02:00:00:00:00:01", "rss"]) + "".join(line + "\n" for line in second)
    (tmp_path / "c.conf").write_text(text.replace("cpu 1\n", "cpu 1 2\n") if second else text)
    done = harness.run([*harness.lcores(2), "-p", "wire", "-b", "--dperf", str(tmp_path / "c.conf"), "-e", "set 0 tcp.seq 5"])
    place = place.format(1 + [line.split()[0] for line in text.splitlines()].index("port"))
    told = f"{place}start of its client: stream 0/0 is a flow, whose connections fill in tcp.seq themselves"
    assert done.returncode == 2 and told in done.stderr and "--dperf run" not in done.stderr, done


@pytest.mark.parametrize("device, part", [("net_memif999", "vdev:net_memif999"), ("ffff:ff:1f.7", "pci:ffff:ff:1f.7")])
def test_unknown_device(tmp_path, device, part):
    """A device that is written well and is not there: told by its name, and nothing has started."""
    text = file_of(CLIENT, [f"port {device} 10.50.0.1 10.50.1.1"])
    (tmp_path / "c.conf").write_text(text)
    line = 1 + [line.split()[0] for line in text.splitlines()].index("port")
    done = harness.run(["-b", "--dperf", str(tmp_path / "c.conf")])
    assert done.returncode not in (0, -11) and f"c.conf:{line}:6: port " in done.stderr and part in done.stderr and done.stdout == "", done
