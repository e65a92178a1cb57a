# SPDX-License-Identifier: BSD-3-Clause
"""Flows through tunnels and behind IPv6 extension headers, both ends on the wire: their fates are exact, and tshark finds all frames right."""
import csv
import shutil

import pytest

from harness import as_json, documents, good, lcores, run, tshark
from serving import until
from test_flows import PAIR, ends, flows, idle, play as play_here

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="needs tshark")

# What is before the innermost IP header, and settings of both ends. tshark knows the lengths of all of them, and says what is wrong.
STACKS = {
    "vlan": ("eth/vlan", ""),
    "mpls": ("eth/mpls/mpls", "set {all} mpls[2].label 77; "),
    "pppoe": ("eth/pppoe", "set {all} pppoe.sid 17; "),
    "ipip": ("eth/ipv4", ""),
    "in6": ("eth/ipv6", ""),
    "gre": ("eth/ipv4/gre", ""),
    "gre-key": ("eth/ipv4/gre", "set {all} gre.key 99; "),
    "gre-sum": ("eth/ipv4/gre", "set {all} gre.c 1; "),
    "gre6-eth": ("eth/ipv6/gre/eth", ""),
    "vxlan": ("eth/ipv4/udp/vxlan/eth", "set {all} vxlan.vni 7; "),
    "vxlan-no-sum": ("eth/ipv4/udp/vxlan/eth", "set {all} vxlan.vni 7; set {all} udp.cksum 0; "),
    "vxlan6": ("eth/ipv6/udp/vxlan/eth", "set {all} vxlan.vni 7; "),
    "geneve": ("eth/ipv4/udp/geneve/eth", "set {all} geneve.vni 9; "),
    "gtpu": ("eth/ipv4/udp/gtpu", "set {all} gtpu.teid 5; "),
    "gtpu-pdu": ("eth/ipv6/udp/gtpu", "set {all} gtpu.teid 5; set {all} gtpu.qfi 9; "),
    "nested": ("eth/vlan/ipv4/udp/gtpu/ipv4/gre", "set {all} gtpu.teid 5; "),
    "llc": ("eth/llc/snap", ""),
    "srv6": ("eth/ipv6/ipv6rt", ""),
}
# The streams of each port: IPv4 and IPv6, TCP and UDP beside each other.
LENGTH = {"eth": 14, "vlan": 4, "mpls": 4, "pppoe": 8, "llc": 3, "snap": 5, "ipv4": 20, "ipv6": 40, "ipv6hbh": 8, "ipv6dst": 8, "ipv6rt": 24,
          "gre": 8, "udp": 8, "vxlan": 8, "geneve": 8, "gtpu": 16, "tcp": 0}
INNER = ["ipv4/tcp", "ipv4/udp", "ipv6/tcp", "ipv6/udp", "ipv6/ipv6hbh/ipv6dst/tcp", "ipv6/ipv6rt/udp"]
OPENED, PER = 30, 3


def play(tmp_path, stack, more, inner):
    """Both ends in one run, and all frames that came."""
    every = f"0-1/0-{len(inner) - 1}"
    cmds = ["set 0-1 speed 1G", *[f"stream add {p}/{n}" for p in (0, 1) for n in range(1, len(inner))]]
    cmds += [f"set {every} enabled on", f"set 0/0-{len(inner) - 1} flow client", f"set 1/0-{len(inner) - 1} flow server"]
    for n, what in enumerate(inner):
        cmds.append(f"set 0-1/{n} frame {stack}/{what}")
        # networks of their own: the servers of two streams of one kind differ in their port
        cmds += [f"set 0/{n} flow.dport {80 + n}", f"set 1/{n} flow.sport {80 + n}"]
        if what.endswith("udp"):
            cmds += [f"set 0-1/{n} request 8..700", f"set 0-1/{n} response 1000"]
        else:
            cmds.append(f"set 1/{n} response 4000")
    cmds += [more.format(all=every)] if more else []
    # nothing is sent again only because the machine is slow
    cmds += [f"set {every} flow.rto 8s", f"set {every} flow.verify on", f"set {every} transactions {PER}", f"set 0/0-{len(inner) - 1} count {OPENED}",
             f"set 0/0-{len(inner) - 1} cps 1k", "capture 1 x.pcapng both",
             # where control stands still between two workers a client that is started with its servers may be before them
             "start 1", f"lua 'for n = 1, {len(inner)} do while wr.show(\"flows\", 1).flows[n].state ~= \"running\" do wr.sleep(0.01) end end'",
             "start 0", "wait 0", "stop 1", "wait 1", "capture stop", "show flows", "show capture"]
    docs = documents(good(as_json([*lcores(2), "-b", "-e", "; ".join(cmds)]), cwd=tmp_path))
    got = flows(docs)
    for f in got.values():
        idle(f)
    return got, tmp_path / [d for d in docs if d.get("show") == "capture"][-1]["ports"][0]["file"]


def exact(got, inner):
    """All connections did all that they should. Returns how many frames there were, by TCP and UDP."""
    frames = {"tcp": 0, "udp": 0}
    for n, what in enumerate(inner):
        client, server = got[0, n], got[1, n]
        assert client["connections"]["opened"] == client["connections"]["closed"] == server["connections"]["established"] == OPENED, (what, client)
        for f in client, server:
            assert f["transactions"]["done"] == f["transactions"]["started"] == OPENED * PER, (what, f)
            assert f["segments"]["bad_checksum"] == f["segments"]["unverified"] == f["errors"].get("mismatched", 0) == 0, (what, f)
            frames[what.split("/")[-1]] += f["segments"]["tx"]  # nothing is lost: what one sent, the other got
        assert client["payload"]["tx_bytes"] == server["payload"]["rx_bytes"] and client["payload"]["rx_bytes"] == server["payload"]["tx_bytes"]
    return frames


def judge(file, stack, frames, again):
    """tshark sees as many frames of TCP and UDP inside as there were, and nothing wrong with any. again: some were sent twice."""
    fields = ["frame.protocols", "_ws.malformed", "_ws.short", "ip.checksum.status", "tcp.checksum.status", "udp.checksum.status",
              "tcp.analysis.flags", "_ws.expert.severity", "_ws.expert.message"]
    rows = tshark(file, "frame", *fields)
    seen, guessed = {"tcp": 0, "udp": 0}, 0
    for row in rows:
        protocols, malformed, short, *sums, analysis, severity, message = row + [""] * (len(fields) - len(row))
        inside = [p for p in protocols.split(":") if p in seen]
        seen[inside[-1]] += 1
        if protocols.rpartition(inside[-1])[2] not in ("", ":data", ":http", ":http:data"):
            # what is said of the payload is of a protocol that tshark takes it for
            guessed += 1
            malformed = severity = ""
        assert not malformed and not short and (again or not analysis), row
        assert all(s in ("1", "") or s == "3" and "cksum 0" in stack for text in sums for s in text.split(",")), row
        # from warnings on, but for what it makes of segments that were sent twice
        assert again and analysis or all(int(s) < 0x600000 for s in severity.split(",") if s), (row, again)
    assert seen == frames and guessed <= len(rows) // 10


@needs_tshark
@pytest.mark.parametrize("outer", STACKS)
def test_stacks(tmp_path, outer):
    stack, more = STACKS[outer]
    inner = [x for x in INNER if sum(LENGTH[h] for h in f"{stack}/{x}".split("/")[:-1]) <= 128]
    got, file = play(tmp_path, stack, more, inner)
    # on a machine that stops for long, a probe for lost segments may be early
    judge(file, more, exact(got, inner), any(f["segments"]["retransmitted"] for f in got.values()))


REPLY = [
    ("eth/ipv4/udp/gtpu/ipv4/tcp", "gtpu.teid", 100, 200, "gtp.teid"),
    ("eth/ipv4/gre/ipv6/tcp", "gre.key", 1, 2, "gre.key"),
    ("eth/mpls/mpls/ipv4/udp", "mpls[2].label", 300, 400, "mpls.label"),
    ("eth/ipv6/udp/vxlan/eth/ipv4/tcp", "vxlan.vni", 7, 8, "vxlan.vni"),
    ("eth/vlan/ipv4/tcp", "vlan.vid", 3, 4, "vlan.id"),
]


@needs_tshark
@pytest.mark.parametrize("frame,field,there,back,shown", REPLY)
def test_answers_have_values_of_their_own(tmp_path, frame, field, there, back, shown):
    cmds = (PAIR + f"set 0-1 frame {frame}; set 0-1 {field} {there}; set 0-1 reply.{field} {back}; set 0-1 flow.rto 8s; set 0 count 20; "
            "capture 1 x.pcapng both; start all; wait all; capture stop; show flows; show settings 0/0")
    docs = documents(good(as_json([*lcores(2), "-b", "-e", cmds]), cwd=tmp_path))
    got = flows(docs)
    for f in got.values():
        idle(f)
        assert f["transactions"]["done"] == f["connections"]["closed"] == 20 or f["role"] == "server"
    rows = tshark(tmp_path / "x.pcapng", "frame", shown, "frame.packet_flags_direction")
    said = {"1": there, "2": back}  # what came to the server, and what it sent
    assert len(rows) == got[1, 0]["segments"]["tx"] + got[1, 0]["segments"]["rx"]
    for value, direction in rows:
        assert int(value.split(",")[-1], 0) == said[str(int(direction, 0))], (value, direction)


def test_answers_of_another_tunnel_are_not_ours():
    got = flows(play_here(PAIR + "set 0-1 frame eth/ipv4/udp/gtpu/ipv4/tcp; set 0-1 gtpu.teid 5; set 1 reply.gtpu.teid 6; set 0 count 5; "
                          "set 0-1 flow.retries 1; set 0-1 flow.rto 10ms; start all; wait all; show flows"))
    assert got[0, 0]["connections"]["connect_timeout"] == 5 and got[0, 0]["segments"]["rx"] == 0
    assert got[1, 0]["segments"]["rx"] > 0


def test_values_of_answers_are_saved(tmp_path):
    """Of a second header, of several streams, and of a header that the frame does not have now; and a flow that was loaded runs by them."""
    mpls = "set 0-1/1 frame eth/mpls/mpls/ipv4/udp; set 0-1/1 reply.mpls[2].label 7,8; set 0-1/1 mpls[2].label 5,6; set 0 reply.pppoe.sid 3; "
    gtpu = "set 0-1 frame eth/ipv4/udp/gtpu/ipv4/tcp; set 0-1 reply.gtpu.teid 7..9; set 0-1 gtpu.teid 1..3; set 0/0-1 flow.src 10.0.0.1..10.0.0.6; "
    cmds = ("stream add 0/1; stream add 1/1; set 0-1/0-1 enabled on; set 0/0-1 flow client; set 1/0-1 flow server; set 0/0-1 count 6; " + gtpu +
            mpls + "save x; reset all; load x; save y; set 0 reply.pppoe.sid default; start all; wait all; show flows; show plan")
    docs = documents(good(as_json([*lcores(2), "-b", "-e", cmds]), cwd=tmp_path))
    text = (tmp_path / "x").read_text()
    for line in ("0/0 reply.pppoe.sid 0x0003", "1/0 reply.gtpu.teid 7..9", "1/1 reply.mpls[2].label 7,8"):
        assert f"set {line}\n" in text, text
    assert text == (tmp_path / "y").read_text()
    got = flows(docs)
    assert [f["connections"]["closed"] for f in got.values()] == [6] * 4
    plan = [d for d in docs if d.get("show") == "plan"][-1]["flows"]
    assert {(f["port"], f["stream"]): (f["paths"], f["networks"], f["varies"], f["replies"]) for f in plan} == {
        (p, s): [(3, 3, ["gtpu.teid 1..3"], ["gtpu.teid 7..9"]), (2, 2, ["mpls[2].label 5,6"], ["mpls[2].label 7,8"])][s]
        for p in (0, 1) for s in (0, 1)}


def test_the_plan_says_what_headers_there_are(tmp_path):
    """As text, JSON and CSV; as it is now, when settings have changed it."""
    cmds = (PAIR + "set 0-1 frame eth/ipv6/udp/vxlan/eth/ipv4/tcp; set 0-1 vxlan.vni 1..100; set 0 udp.src 49152..49161; set 0 flow.src 10.0.0.0/24; "
            "set 0 count 10; show plan; start all; wait all; show plan; set 0-1 frame eth/vlan/ipv4/tcp; set 0 udp.src default; "
            "set 0-1 vxlan.vni default; set 0-1 vlan.vid 4; start all; wait all; show plan")
    none, one, two = [d for d in play_here(cmds) if d.get("show") == "plan"]
    assert "flows" not in none
    rows = [{"kind": "flow", "port": 0, "stream": 0, "role": "client", "stack": "eth/ipv6/udp/vxlan/eth/ipv4/tcp", "outer_bytes": 84, "mss": 1390,
             "paths": 100, "networks": 100, "varies": ["udp.src 49152..49161", "vxlan.vni 1..100"], "replies": []}]
    rows.append(rows[0] | {"port": 1, "role": "server", "varies": ["vxlan.vni 1..100"]})
    assert one["flows"] == rows
    for f, role in zip(two["flows"], ("client", "server")):
        assert f == {"kind": "flow", "port": f["port"], "stream": 0, "role": role, "stack": "eth/vlan/ipv4/tcp", "outer_bytes": 18, "mss": 1460,
                     "paths": 1, "networks": 1, "varies": [], "replies": []}
    text = good([*lcores(2), "--csv", "-b", "-e", cmds.split("; set 0-1 frame eth/vlan")[0].replace("show plan", "", 1)]).stdout
    table = [r for r in csv.DictReader(text.splitlines()) if r["kind"] == "flow"]
    assert [[r[k] for k in ("port", "stream", "role", "stack", "paths", "varies", "replies", "lcore")] for r in table] == [
        [str(f["port"]), "0", f["role"], f["stack"], "100", ", ".join(f["varies"]), "", ""] for f in rows]


@pytest.mark.parametrize("commands,says", [
    ("set 0-1 frame eth/ipv4/icmp/ipv4/tcp", "icmp carries no connections"),
    ("set 0-1 frame eth/ipv6/ah/tcp", "the header ah"),
    ("set 0-1 frame eth/ipv4/udp/gtpu/ipv4/tcp; set 0-1 gtpu.len 5", "set 0 gtpu.len default"),
    ("set 0-1 frame eth/ipv4/udp/gtpu/ipv4/tcp; set 0-1 reply.ipv4.src 1.2.3.4", "set 0 reply.ipv4.src default"),
    ("set 0-1 frame eth/ipv6/udp/vxlan/eth/ipv6/ipv6hbh/tcp", "132 bytes of headers before TCP or UDP: at most 128"),
])
def test_refusals_name_what_helps(commands, says):
    r = run([*lcores(2), "-b", "-e", PAIR + commands + "; start all for 100ms"])
    assert r.returncode == 2 and says in r.stderr, r.stderr


@pytest.mark.parametrize("fault", ["loss 1%", "corrupt 1%"])
def test_a_wire_that_errs(fault):
    got = ends(PAIR + f"set 0-1 frame eth/ipv4/udp/vxlan/eth/ipv4/tcp; set 0-1 flow.verify on; set 0-1 transactions 5; set 1 response 3000; "
               f"set wire {fault}; set 0-1 flow.rto 50ms; set 0-1 flow.retries 8; set 0 count 300; set 0 cps 2k; start all; wait all; show flows")
    client = got[0, 0]
    assert client["connections"]["established"] == 300 and client["transactions"]["done"] == 1500
    assert client["errors"].get("mismatched", 0) == 0 and client["segments"]["retransmitted"] > 0


@pytest.mark.parametrize("stack,nth,sums", [("eth", "", "verify"), ("eth/ipv4/udp/vxlan/eth", "[2]", "verify"),
                                            ("eth/ipv4/udp/vxlan/eth", "[2]", "trust")])
def test_frames_of_no_connection_have_names(stack, nth, sums):
    """A stream to a server sends pieces, then what nobody expects, and then that damaged, which nobody sees who trusts; each is counted by what it
    is, until a clear."""
    *_, doc, cleared = play_here(
        f"set 0,1 frame {stack}/ipv4/tcp; set 1 flow server; set 1 flow.sums {sums}; set 1 flow.src 10.0.0.2; set 0 ipv4{nth}.dst 10.0.0.2; "
        "set 0 tcp.dst 80; set 0 count 5; "
        f"start 1; set 0 ipv4{nth}.frag 10; start 0; wait 0; set 0 ipv4{nth}.frag 0; set 0 ipv4{nth}.flags mf; start 0; wait 0; "
        f"set 0 ipv4{nth}.flags none; start 0; wait 0; set 0 tcp.cksum 1; start 0; wait 0; sleep 100ms; show flows; clear all; show flows")
    bad = 5 if sums == "verify" else 0
    named = {"fragments": 10, "malformed": 0, "bad_checksum": bad, "no_match": 10 - bad, "rst_sent": 10 - bad, "other_queue": 0, "dead": 0}
    assert doc["strays"] == [{"port": 1, **named}], doc["strays"]
    assert cleared["strays"] == []


def test_checksums_are_trusted_where_all_flows_of_a_port_say_so(live):
    """A server's are; those of two clients are not until the second one says so, too, while both run."""
    p = live([*lcores(2), "-b"])

    def segments():
        return {(f["port"], f["stream"]): f["segments"] for f in p.ask("show flows", timeout=60)["flows"]}

    p.send(PAIR + "stream add 0/1; set 0/1 flow client; set 0/1 flow.dport 81; set 1 flow.sport 80..81; set 1 flow.sums trust; "
           "set 0/0 flow.sums trust; set 0/0-1 connections 1; set 0/0-1 transactions forever; set 0/0-1 think 1ms; set 0/0-1 flow.rto 1m; start all")
    until(lambda: all(s["rx"] > 9 for s in segments().values()), "segments of all flows")
    first = segments()
    assert first[0, 0]["unverified"] == first[0, 1]["unverified"] == 0 < first[1, 0]["unverified"], first
    p.send("set 0/1 flow.sums trust")
    until(lambda: all(s["unverified"] > 0 for s in segments().values()), "segments that nobody has verified")
    p.send("stop all; wait all")
    last = segments()
    assert last[1, 0]["unverified"] == last[1, 0]["rx"] and last[0, 0]["unverified"] < last[0, 0]["rx"], last


def test_a_tunnel_beside_datagrams():
    """What comes through VXLAN is also a datagram to port 4789 of its outer address, one of those of a client of UDP: it is what is inside."""
    got = ends("stream add 0/1; stream add 1/1; set 0-1/1 enabled on; set 0-1/0 frame eth/ipv4/udp; set 0-1/1 frame eth/ipv4/udp/vxlan/eth/ipv4/tcp; "
               "set 0/0-1 flow client; set 1/0-1 flow server; set 0/0-1 ipv4.src 10.1.0.1; set 0/0-1 ipv4.dst 10.2.0.1; set 1/0-1 ipv4.src 10.2.0.1; "
               "set 1/0-1 ipv4.dst 10.1.0.1; set 0-1/0-1 flow.rto 8s; set 0/0-1 count 20; set 0/0-1 cps 200; start all; wait all; show flows")
    for f in got.values():
        assert f["connections"]["opened"] == f["transactions"]["done"] == 20, f
