# SPDX-License-Identifier: BSD-3-Clause
"""Pktgen's Lua API: every function by tests/lua/pktgen_cases.lua, and scripts as its users write them, judged by what they sent."""
import json
import os
import re

import pytest

from harness import documents, good, run, tshark
import pty_term
from oracle import checksums_good, read_pcap, u16, u32

LUA = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "lua")
SCRIPTS = os.path.join(LUA, "pktgen")
IP_SRC, IP_DST, SPORT, DPORT = 26, 30, 34, 36


def script(name, *args, ports=(), before="", cwd=None, **kw):
    """A run of one of the scripts that must succeed."""
    words = " ".join([f"script {os.path.join(SCRIPTS, name)}.lua", *map(str, args)])
    return good(["-b", *ports, "-e", "; ".join(filter(None, [before, words]))], cwd=cwd, **kw)


def captured(name, tmp_path, **kw):
    out = tmp_path / "out.pcap"
    script(name, ports=["-p", f"pcap:tx={out}"], **kw)
    return out


def lua(text, *args, code=0, **kw):
    """A piece of Lua by -f, with its exit code."""
    path = kw.pop("tmp_path") / "piece.lua"
    path.write_text(text)
    r = run(["-b", *args, "-f", str(path)], **kw)
    assert r.returncode == code, r.stderr + r.stdout
    return r


# every function

@pytest.mark.parametrize("ports", [[], ["-p", "null"]], ids=["wire", "null"])
def test_every_function(ports, tmp_path):
    r = run(["-b", *ports, "-e", f"script {LUA}/pktgen_cases.lua {tmp_path}"], timeout=120)
    assert r.returncode == 0 and "failed" not in r.stderr, r.stderr + r.stdout
    names = r.stdout.splitlines()[-1].split()
    assert names[1] == "functions" and int(names[0]) >= 100


def documented():
    """The names of its manual: 71 functions, and 18 of ranges."""
    pktgen = """quit set start stop prime send_arp ping4 delay sleep pause load save run clear clr cls update reset port_restart portCount
        totalPorts screen page port ports_per_page continue input help Lua.help set_mac set_ipaddr set_proto set_type set_tcp_flags
        mac_from_arp vlan vlanid cos tos vxlan vxlan_id mpls qinq gre gre_eth rnd_s_ip rnd_s_pt process capture bonding blink icmp_echo pcap
        set_range latency pattern userPattern jitter rnd rnd_list latsampler_params latsampler clock_gettime seq seqTable seq_tcp_flags
        gtpu_teid isSending linkState portStats portInfo""".split()
    ranges = """dst_mac src_mac src_ip dst_ip src_port dst_port ttl hop_limits vlan_id pkt_size cos tos traffic_class set_type ip_proto
        mpls_entry qinqids gre_key""".split()
    return pktgen, ranges


def test_all_documented_names_are_there(tmp_path):
    pktgen, ranges = documented()
    assert (len(pktgen), len(ranges)) == (71, 18)
    info = "Lua_Version Lua_Release Lua_Copyright Lua_Authors Pktgen_Version Pktgen_Copyright Pktgen_Authors DPDK_Version".split()
    lines = ['require "Pktgen"']
    lines += [f'wr.expect(type(pktgen["{n}"]) == "function", "{n}")' for n in pktgen + ["pktStats", "portSizes"]]
    lines += [f'wr.expect(type(pktgen.range.{n}) == "function", "range.{n}")' for n in ranges]
    lines += [f'wr.expect(type(pktgen.info.{n}) == "string", "info.{n}")' for n in info]
    lines += [f'wr.expect(type({n}) == "function", "{n}")' for n in ("printf", "prints", "serialize", "sleep")]
    lua("\n".join(lines), "-p", "null", tmp_path=tmp_path)


# features of later versions

def test_what_comes_later_warns_once_and_follows_from_the_table(tmp_path):
    """The words that the command table marks are those that warn, and nobody keeps another list."""
    dump = json.loads(good(["--dump-commands"]).stdout)
    verbs = {v["name"]: v for v in dump["commands"]}
    feature = next(a for a in verbs["enable"]["args"] if "later" in a)
    names = ["pcap", "blink", "vlan", "mpls", "qinq", "gre", "gre_eth", "rnd_s_ip", "rnd_s_pt", "set_range"]
    call = "\n".join(f'pktgen.{n}("0", "on")' for n in names for _ in range(2))
    r = lua(call, "-p", "null", tmp_path=tmp_path)
    want = [n for n in names if n in feature["later"]]
    assert want and re.findall(r"pktgen\.(\w+): not in this version", r.stderr) == want
    whole = {"bonding": "bonding", "port_restart": "restart"}
    for name, verb in whole.items():
        r = lua(f'pktgen.{name}("0", "on")\npktgen.{name}("0", "on")', "-p", "null", tmp_path=tmp_path)
        assert r.stderr.count(f"pktgen.{name}: not in this version") == ("later" in verbs[verb]["flags"])
    settings = {s["name"]: s for s in dump["settings"]}
    for name, row in {"prime": "prime", "dump": "dump", "cycles": "tx_cycles"}.items():
        r = lua(f'for _ = 1, 2 do pktgen.set("0", "{name}", 1) end', "-p", "null", tmp_path=tmp_path)
        assert r.stderr.count("not in this version") == ("later" in settings[row]["flags"])


HOST_CALLS = {"ping4": '"0"', "ping6": '"0"', "send_arp": '"0", "g"', "process": '"0", "on"', "icmp_echo": '"0", "on"', "mac_from_arp": '"on"'}


@pytest.mark.parametrize("name, args", HOST_CALLS.items())
def test_what_only_a_host_can_do_ends_no_script(name, args, tmp_path):
    """Nothing of this can fail in Pktgen. Where a port can be no host, or has no address, that is told once."""
    for port in ("null", "wire"):
        r = lua('pktgen.set_type("0", "%s")\n' % ("ipv6" if name == "ping6" else "ipv4") + f"pktgen.{name}({args})\n" * 2 + 'print("on")', "-p", port,
                tmp_path=tmp_path)
        assert r.stdout == "on\n" and r.stderr.count("port 0") >= 1, r.stderr
        assert r.stderr.count(f"pktgen.{name}: port 0") == (port == "null" or name in ("ping4", "ping6", "send_arp"))
    lua(f'pktgen.{name}({args.replace("0", "9") if "0" in args else ""})', "-p", "wire", code=2, tmp_path=tmp_path)


# errors

@pytest.mark.parametrize("line, text", [
    ('pktgen.set("0", "rate", "fast")', "rate is \"fast\", and no number"),
    ('pktgen.set("9", "count", 1)', "port"),
    ('pktgen.set_mac("0", "dst", "nonsense")', "eth"),
    ('pktgen.start("0; quit")', "the port list"),
    ('pktgen.seq(0, "0", "x")', "missing"),
    ('dpdk.tx_burst()', "single mbufs"),
])
def test_errors_name_the_line_of_the_script(line, text, tmp_path):
    r = lua(f"-- nothing here\n{line}\n", "-p", "null", code=2, tmp_path=tmp_path)
    assert "piece.lua:2: " in r.stderr and text in r.stderr, r.stderr


def test_tables_are_there_without_require(tmp_path):
    r = lua('pktgen.set("0", "count", 3)\nprintf("%d\\n", 5)\nprints("n", {1})\nsleep(0.001)\nprint(dpdk.portCount(), wr.port[0].count)',
            "-p", "null", tmp_path=tmp_path)
    assert r.stdout == '5\nn = {\n  [1] = 1,\n}\n1\t3\n'


def test_a_folder_of_the_script_is_no_part_of_it(tmp_path):
    """Modules beside the script that are named like ours do not get in."""
    (tmp_path / "pktgen").mkdir()
    (tmp_path / "pktgen" / "host.lua").write_text("error('not this')")
    lua('require "Pktgen"\npktgen.set("0", "count", 3)', "-p", "null", tmp_path=tmp_path)


# scripts

def test_single(tmp_path):
    out = captured("single", tmp_path)
    frames = read_pcap(out)
    assert len(frames) == 100 and len(set(frames)) == 1
    f = frames[0]
    assert len(f) + 4 == 128 and f[:12] == bytes.fromhex("00aabb001122020000000007")
    assert (u32(f, IP_SRC), u32(f, IP_DST), u16(f, SPORT), u16(f, DPORT)) == (0xC6120001, 0xC6120101, 4000, 5000)
    assert (f[15], f[22], f[23], f[42:50]) == (8, 33, 17, b"wirewire") and checksums_good(f)


def test_ranges(tmp_path):
    frames = read_pcap(captured("ranges", tmp_path))
    assert len(frames) == 1000
    for o, f in enumerate(frames):
        assert len(f) + 4 == 64 + o % 64
        assert f[:6] == bytes.fromhex(f"0200000001{o % 256:02x}") and f[6:12] == bytes.fromhex("020000000200")
        assert (u16(f, 12), u16(f, 14)) == (0x8100, 10 + o % 10)
        f = f[:12] + f[16:]
        assert (u32(f, IP_DST), u32(f, IP_SRC)) == (0x0A010001 + o % 200, 0x0A020009)
        assert (u16(f, DPORT), u16(f, SPORT), f[22]) == (2000 + o % 500, 5000 + o % 501 * 2, 64)
        assert checksums_good(f)


def test_sequence(tmp_path):
    frames = read_pcap(captured("sequence", tmp_path))
    assert [len(f) + 4 for f in frames] == [64, 128, 256] * 100
    assert [f[5] for f in frames[:3]] == [0xA0, 0xA1, 0xA2] and [f[23] for f in frames[:3]] == [17, 6, 17]
    assert [(u16(f, SPORT), u16(f, DPORT)) for f in frames[:3]] == [(1000, 2000), (1001, 2001), (1002, 2002)]
    assert frames[1][47] == 0x12  # syn, ack
    assert len(set(frames)) == 3 and all(map(checksums_good, frames[:3]))


def test_sequence_by_tables(tmp_path):
    frames = read_pcap(captured("seqtable", tmp_path))
    assert len(frames) == 50 and frames[:5] * 10 == frames
    assert [(u16(f, 12), u16(f, 14) & 0xFFF) for f in frames[:5]] == [(0x8100, 1)] * 5
    plain = [f[:12] + f[16:] for f in frames[:5]]
    assert [u16(f, SPORT) for f in plain[:4]] == [9, 10, 11, 12]
    assert [u32(f, IP_DST) for f in plain[:4]] == [0x0A0C0001 + (i << 8) for i in range(4)]
    assert [u16(f, DPORT) for f in plain] == [10, 10, 10, 77, 80]
    assert (plain[3][15], u16(frames[3], 14) >> 13) == (6, 5)
    assert (plain[4][23], plain[4][47], len(frames[4]) + 4) == (6, 2, 64)
    assert all(map(checksums_good, plain))


def test_statistics():
    lines = script("stats").stdout.splitlines()
    assert lines[:5] == ["grows true"] * 5
    n, pps, mbits = map(int, lines[5].split()[1:])
    assert n == 2 and pps > 0 and mbits > 0
    ports = [dict(zip(words[0::2], words[1::2])) for words in (line.split() for line in lines if line.startswith("port "))]
    assert [p["port"] for p in ports] == ["0", "1"]
    for me, other in (ports, ports[::-1]):
        assert int(me["tx"]) > 0 and me["tx"] == other["rx"]
        assert int(me["obytes"]) == 252 * int(me["tx"]) and int(me["ibytes"]) == 252 * int(me["rx"])
    at = [lines.index(line) for line in lines if line.startswith("port ")]
    for me, i in zip(ports, at):
        assert lines[i + 1:i + 4] == ["same true", f"size {me['rx']} {me['rx']}", f"queue {me['tx']}"]
        assert re.fullmatch(r"failed \d+ 02:77:72:00:00:0" + me["port"], lines[i + 4])
    assert lines[-5:] == ["linkState = {", '  [0] = "<UP-10000-FD>",', '  [1] = "<UP-10000-FD>",', '  ["n"] = 2,', "}"]


def test_profile():
    """Steps of rates while sending; 0 is the least that Pktgen sends."""
    r = script("profile", before="set 0 speed 1G")
    wire = (512 + 20) * 8
    got = [re.fullmatch(r"step (\S+) tx_rate (\d+) pps (\d+) sent true", line).groups() for line in r.stdout.splitlines()]
    assert [g[0] for g in got] == ["1", "4", "2.5", "0"]
    assert [int(g[1]) for g in got] == [1, 4, 2, 0]
    assert [int(g[2]) for g in got] == [round(1e9 / wire * p / 100) for p in (1, 4, 2.5, 0.01)]
    assert "rate 0 is taken for 0.01 %" in r.stderr


@pytest.mark.alone("is skipped on a busy machine")
def test_search_finds_the_knee():
    """A wire that loses above 100 kpps of the 148809 that its speed allows, which is 67.2 %. Half a second at 3 % more fills the queue. Frames that
    are late are given up: made up for, they would go above the knee at a rate below it."""
    r = script("search", before="set 0 speed 100M; set 0 catchup skip; set wire limit 100kpps queue 1500", timeout=180)
    if r.stdout.endswith("no rate: the sender had no CPU\n"):
        pytest.skip("100 trials that a busy machine made void")
    best = float(re.search(r"^best (\S+)$", r.stdout, re.M).group(1))
    assert 67.2 - 2 <= best <= 67.2 + 2, r.stdout


def test_latency():
    r = script("latency")
    probes, skipped, order = re.search(r"^probes (\d+) skipped (\d+) order (\w+)$", r.stdout, re.M).groups()
    # one in 15 frames at 148.8 kpps is one in 100 us
    assert (int(probes), int(skipped), order) == (1334, 0, "true")
    assert re.search(r"^old \d+ \d+ \d+ \d+$", r.stdout, re.M)
    assert "spread as these do" in r.stderr


def test_random(tmp_path):
    frames = read_pcap(captured("random", tmp_path))
    assert len(frames) == 2010
    drawn, plain = frames[:2000], frames[2000:]
    assert all(f[IP_DST] == 10 and f[IP_DST + 3] == 1 and u16(f, DPORT) & 1 for f in drawn)
    assert len({u32(f, IP_DST) for f in drawn}) > 1900 and len({u16(f, SPORT) for f in drawn}) > 1900
    assert len(set(plain)) == 1 and (u32(plain[0], IP_DST), u16(plain[0], SPORT), u16(plain[0], DPORT)) == (0xC0A80101, 1234, 5678)
    assert all(map(checksums_good, frames))


def test_tags_and_tunnels(tmp_path):
    out = captured("tunnels", tmp_path)
    frames = read_pcap(out)
    assert len(frames) == 90 and {len(f) + 4 for f in frames} == {256}
    rows = tshark(out, "", "frame.number", "frame.protocols", "vlan.id", "vlan.priority", "ieee8021ad.id", "mpls.label", "gre.key", "vxlan.vni",
                  "vxlan.gbp", "gtp.teid")
    by = [rows[i:i + 10] for i in range(0, 90, 10)]
    names = ["vlan", "qinq", "mpls", "gre", "gre_eth", "vxlan", "gtpu", "gtpu_range", "plain"]
    first = dict(zip(names, (group[0] for group in by)))
    layers = {n: first[n][1].split(":") for n in names}
    assert first["vlan"][2:4] == ["123", "5"] and "vlan" in layers["vlan"]
    assert "ieee8021ad" in layers["qinq"] and first["qinq"][4].split(",")[0] == "100"
    assert [u16(frames[10], at) for at in (12, 14, 16)] == [0x88A8, 100, 0x8100] and u16(frames[10], 18) & 0xFFF == 200
    assert first["mpls"][5] == "100" and "mpls" in layers["mpls"]
    assert int(first["gre"][6], 0) == 4711 and layers["gre"].count("ip") == 2
    assert "gre" in layers["gre_eth"] and layers["gre_eth"].count("eth") == 2
    assert "vxlan" in layers["vxlan"] and first["vxlan"][7] == "7777"
    assert "gtp" in layers["gtpu"] and "gtp" in layers["gtpu_range"]
    assert [int(row[9], 0) for row in by[7]] == [90 + o % 4 for o in range(10)]
    assert layers["plain"][:4] == ["eth", "ethertype", "ip", "udp"] and u16(frames[80], DPORT) == 5678
    assert tshark(out, "ip.checksum.status == 0 || udp.checksum.status == 0", "frame.number") == []


def test_files(tmp_path):
    r = script("files", tmp_path, ports=["-p", f"pcap:tx={tmp_path / 'out.pcap'}"])
    assert [line for line in r.stdout.splitlines() if line.startswith(("reset", "again"))] == ["reset true", "again true"] * 2
    assert re.search(r"^Lua Version +: Lua", r.stdout, re.M) and "ports 1 of 1" in r.stdout
    assert '["dst_port"] = 99,' in r.stdout and '["tx_count"] = 12,' in r.stdout
    frames = read_pcap(tmp_path / "out.pcap")
    assert len(frames) == 3 and len(frames[0]) + 4 == 300 and u16(frames[0], DPORT) == 99
    assert r.stderr.count("pktgen.process: port 0 (-p pcap:") == 1
    # what it saved is a file for the prompt as well
    rows = documents(good(["-p", "null", "--json", "-f", str(tmp_path / "state.pkt"), "-e", "show settings 0/0"]))[-1]["settings"]
    assert {"5": 1, "300": 1}.get(next(s["value"] for s in rows if s["name"] == "size")) == 1


# files that Pktgen saved as Lua, with all that is in them

SAVED = """
package.path = package.path ..";?.lua;test/?.lua;app/?.lua;../?.lua"
require "Pktgen"
pktgen.set('0', 'count', 20);
pktgen.set('0', 'size', 64);
pktgen.set('0', 'rate', 100);
pktgen.set('0', 'burst', 32);
pktgen.set('0', 'sport', 1234);
pktgen.set('0', 'dport', 5678);
pktgen.set('0', 'prime', 1);
pktgen.set_type('0', 'ipv4');
pktgen.set_proto('0', 'udp');
pktgen.set_ipaddr('0', 'dst', '192.168.1.1');
pktgen.set_ipaddr('0', 'src', '192.168.0.1/24');
pktgen.set_mac('0', '3c:fd:fe:9e:2c:b8');
pktgen.vlanid('0', 1);
pktgen.pattern('0', 'abc');
pktgen.jitter('0', 50);
pktgen.mpls('0', 'disable');
pktgen.mpls_entry('0', '0');
pktgen.qinq('0', 'disable');
pktgen.qinqids('0', 0, 0);
pktgen.gre('0', 'disable');
pktgen.gre_eth('0', 'disable');
pktgen.gre_key('0', 0);
pkrgen.vxlan('0', 'disable');
pktgen.vxlan_id('0', '0x0', '0', '0');
pktgen.icmp_echo('0', 'disable');
pktgen.pcap('0', 'disable');
pktgen.set_range('0', 'disable');
pktgen.latency('0', 'disable');
pktgen.process('0', 'disable');
pktgen.capture('0', 'disable');
pktgen.rxtap('0', 'disable');
pktgen.txtap('0', 'disable');
pktgen.vlan('0', 'disable');
pktgen.src_mac('0', 'start', '3c:fd:fe:9e:29:78');
pktgen.src_mac('0', 'inc', '00:00:00:00:00:00');
pktgen.src_ip(';0', 'inc', '0.0.0.0');
pktgen.dst_ip('0', 'inc', '0.0.0.1');
pktgen.ip_proto('0', 'tcp');
pktgen.src_port('0', 'start', 1234);
pktgen.cos('0', 'start', 0);
pktgen.tos('0', 'start', 0);
pktgen.pkt_size('0', 'start', 64);
"""


def test_a_file_that_pktgen_saved_runs(tmp_path):
    out = tmp_path / "out.pcap"
    r = lua(SAVED + "pktgen.start('0')\n", "-p", f"pcap:tx={out}", tmp_path=tmp_path)
    frames = read_pcap(out)
    assert len(frames) == 20 and len(set(frames)) == 1 and len(frames[0]) == 60
    assert frames[0][:6] == bytes.fromhex("3cfdfe9e2cb8") and u16(frames[0], 12) == 0x0800 and checksums_good(frames[0])
    assert r.stderr.count("warning") == 1 and 'pktgen.set(P, "prime"): not in this version' in r.stderr


# the person at the prompt

@pytest.mark.parametrize("how", [["--no-screen"], []], ids=["line", "screen"])
def test_questions_are_answered_at_the_prompt(how, tmp_path):
    """The next line is the answer, quotes and all; the one behind it is a command, and so is the next after a cancelled question."""
    with pty_term.Term(tmp_path, *how, "-p", "null") as t:
        def asked(question):
            """The question itself, not the command that will ask it; what is typed before is a command as well."""
            return t.until(lambda: question in t.lines(), question)

        t.prompt().type("lua 'return \"<\" .. pktgen.input(\"who? \") .. \">\"'\r")
        asked("who?")
        t.type("it's me\r")
        t.shows("<it's me>")
        t.prompt().type("lua 'return \"(\" .. pktgen.continue(\"go on? \") .. \")\"'\r")
        asked("go on?")
        t.type("yes\r")
        t.shows("(y)")
        t.prompt().type("lua 'return \"[\" .. pktgen.input(\"which key? \") .. \"]\"'\r")
        asked("which key?")
        for key in ("\x1bOP", "\x1bOQ", "\x1b[15~", "\x1b[17~", "\x1b[18~", "\x1b[24~", "\x1b[15;2~", "\x1b[5~", "\x1b[2~", "\x1bOC"):
            t.type(key)  # F1, F2, F5, F6, F7, F12, Shift-F5, PgUp, Insert, Right
        t.type("none\r").shows("[none]")
        t.prompt().type("lua 'return \"idle=\" .. tostring(wr.stats().ports[0].run.state)'\r").shows("idle=idle")
        t.prompt().type("lua 'return pktgen.input(\"never? \")'\r")
        asked("never?")
        t.type("\x03")
        t.prompt().type("set 0 count 77\r")
        t.prompt().type("lua 'return \"count=\" .. wr.port[0].count'\r")
        t.shows("count=77")
        t.prompt().type("quit\r")
        assert t.ends() == 0


def test_where_nobody_can_answer_the_answer_is_empty(tmp_path):
    """Lines of a pipe are commands."""
    path = tmp_path / "ask.lua"
    path.write_text('print("<" .. pktgen.input("who? ") .. ">", "(" .. pktgen.continue("") .. ")")')
    r = good(["-b", "-p", "null", "-f", str(path)], stdin="lua 'print(\"a command\")'\n")
    assert r.stdout == "who? \n<>\t()\na command\n"


# what Lua 5.3 has and LuaJIT has not

@pytest.mark.parametrize("text, column, write", [
    ("x = 7 // 2", 7, "math.floor(a / b)"), ("x = 7 & 2", 7, "bit.band(a, b)"), ("x = 7 | 2", 7, "bit.bor(a, b)"),
    ("x = 7 ~ 2", 7, "bit.bxor(a, b)"), ("x = ~2", 5, "bit.bnot(a)"), ("x = 1 << 2", 7, "bit.lshift(a, n)"),
    ("x = 8 >> 2", 7, "bit.rshift(a, n)"),
])
def test_operators_of_lua_5_3_are_named(text, column, write, tmp_path):
    """Wherever the text comes from: a file, a module, a chunk, a text that a script loads."""
    says = "write " + write
    (tmp_path / "module.lua").write_text(f"local a = 1\n{text}\n")
    mod = tmp_path / "module.lua"
    r = lua(f"-- //\n{text}\n", "-p", "null", code=2, tmp_path=tmp_path)
    # of a long path LuaJIT tells the end
    assert r.stderr.count("\n") == 1 and f"/piece.lua:2:{column}: " in r.stderr and r.stderr.endswith(says + "\n"), r.stderr
    for how in (f"package.path = '{tmp_path}/?.lua'; require 'module'", f"dofile('{mod}')", f"assert(loadfile('{mod}'))"):
        r = lua(how, "-p", "null", code=2, tmp_path=tmp_path)
        assert f"/module.lua:2:{column}: " in r.stderr and says in r.stderr, r.stderr
    for how in (f"assert(loadstring('{text}'))", f"assert(load('{text}'))"):
        r = lua(how, "-p", "null", code=2, tmp_path=tmp_path)
        assert f":1:{column}: " in r.stderr and says in r.stderr, r.stderr
    r = run(["-b", "-p", "null", "-e", f"lua '{text}'"])
    assert r.returncode == 2 and f":1:{column}: " in r.stderr and says in r.stderr, r.stderr


def test_what_only_looks_like_them_is_left_alone(tmp_path):
    lines = ["#!/usr/bin/env wirerate", 'local a = "1 // 2 & 3 | ~4 << 5" -- a // b', "local b = [==[ >> ]] ~ ]==] --[[ a", "// b ]]",
             r"local c = '\' // '", "wr.expect(a ~= b)", ""]
    lua("\n".join(lines), "-p", "null", tmp_path=tmp_path)
    r = lua('x = = 1 // 2', "-p", "null", code=2, tmp_path=tmp_path)
    assert "5.3" not in r.stderr and "near '='" in r.stderr
