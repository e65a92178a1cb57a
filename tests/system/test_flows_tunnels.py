# SPDX-License-Identifier: BSD-3-Clause
"""Flows through tunnels and behind IPv6 extension headers, both ends on the built-in wire: their fates are exact, and tshark finds all frames right."""
import shutil

import pytest

from harness import as_json, documents, good, lcores, run, tshark
from test_flows import PAIR, ends, flows, idle

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="needs tshark")

STRICT = [x for p in ("ip", "tcp", "udp") for x in ("-o", f"{p}.check_checksum:TRUE")]
# What is before the innermost IP header, and settings of both ends. tshark knows PPPoE's length, GTP-U's and the others', and says what of them is wrong.
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
# The streams of each port: IPv4 and IPv6, TCP and UDP beside each other. Options come in pairs of 8 bytes.
LENGTH = {"eth": 14, "vlan": 4, "mpls": 4, "pppoe": 8, "llc": 3, "snap": 5, "ipv4": 20, "ipv6": 40, "ipv6hbh": 8, "ipv6dst": 8, "ipv6rt": 24, "gre": 8,
          "udp": 8, "vxlan": 8, "geneve": 8, "gtpu": 16, "tcp": 0}
INNER = ["ipv4/tcp", "ipv4/udp", "ipv6/tcp", "ipv6/udp", "ipv6/ipv6hbh/ipv6dst/tcp", "ipv6/ipv6rt/udp"]
ALL = f"0-1/0-{len(INNER) - 1}"
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
             f"set 0/0-{len(inner) - 1} cps 1k", "capture 0,1 x.pcapng rx", "start all", "wait all", "capture stop", "show flows", "show capture"]
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
            frames[what.split("/")[-1]] += f["segments"]["tx"]
        assert client["payload"]["tx_bytes"] == server["payload"]["rx_bytes"] and client["payload"]["rx_bytes"] == server["payload"]["tx_bytes"]
    return frames


def judge(file, stack, frames):
    """tshark sees as many frames of TCP and UDP inside as there were, and nothing that is wrong with any."""
    fields = ["frame.protocols", "_ws.malformed", "_ws.short", "ip.checksum.status", "tcp.checksum.status", "udp.checksum.status", "tcp.analysis.flags",
              "_ws.expert.severity", "_ws.expert.message"]
    rows = tshark(file, "frame", *fields, options=STRICT)
    seen = {"tcp": 0, "udp": 0}
    for row in rows:
        protocols, malformed, short, *sums, analysis, severity, message = row + [""] * (len(fields) - len(row))
        inside = [p for p in protocols.split(":") if p in seen]
        seen[inside[-1]] += 1
        assert not malformed and not short and not analysis, row
        assert all(s in ("1", "") or s == "3" and "cksum 0" in stack for text in sums for s in text.split(",")), row
        # from warnings on
        assert all(int(s) < 0x600000 for s in severity.split(",") if s), row
    assert seen == frames


@needs_tshark
@pytest.mark.parametrize("outer", STACKS)
def test_stacks(tmp_path, outer):
    stack, more = STACKS[outer]
    inner = [x for x in INNER if sum(LENGTH[h] for h in f"{stack}/{x}".split("/")[:-1]) <= 128]
    got, file = play(tmp_path, stack, more, inner)
    judge(file, more, exact(got, inner))
