# SPDX-License-Identifier: BSD-3-Clause
"""Flows of 65,536 client addresses, for all of which the port answers as a proxy, and flows in several VLANs beside each other."""
import contextlib
import json
import os
import subprocess
import sys

import pytest

from harness import lcores, run
from test_flows import idle, play
from test_flows_linux import SERVER, the_flow
from test_host_linux import Link, until

# Sends datagrams back, and says when they came from so many addresses. All that are on their way have room where it stands still: 33 is
# SO_RCVBUFFORCE.
ECHO = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, 33, 1 << 26)
s.bind(("10.0.0.2", 80))
seen = set()
print("listens", flush=True)
while len(seen) < int(sys.argv[1]):
    data, peer = s.recvfrom(2048)
    seen.add(peer[0])
    s.sendto(data, peer)
print("all", flush=True)
while True:
    s.sendto(*s.recvfrom(2048))
"""


@pytest.fixture
def link(namespaces):
    made = Link("packet")
    yield made
    made.net.remove()


def neighbours(p):
    """Those that the port has learned, but for what Linux calls itself on the link."""
    return [x["address"] for x in p.ask("show neighbours")["ports"][0]["neighbours"] if not x["address"].startswith("fe80")]


@pytest.mark.parametrize("how,n", [("route", 65536), ("link", 400)])
def test_as_many_clients_as_a_prefix_has(link, live, how, n):
    """Linux finds the clients through a route, or asks for each of them as for a neighbour, of which its table has 1024. We need no entry for any."""
    link.do("ip", "route", "add", "10.1.0.0/16", *(["via", "10.0.0.1"] if how == "route" else ["dev", link.dev]))
    p = link.host(live, "set 0 frame eth/ipv4/udp", "set 0 flow client", "set 0 flow.dst 10.0.0.2", "set 0 flow.dport 80",
                  "set 0 flow.src 10.1.0.0/16", "set 0 answer.for 10.1.0.0/16", "set 0 flow.rto 1m",
                  "set 0 cps 20k" if how == "route" else "set 0 cps 200",
                  "set 0 connections 1000", f"set 0/0 count {n}")
    with subprocess.Popen([*link.prefix, sys.executable, "-c", ECHO, str(n)], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout.readline() == "listens\n"
            p.send("start 0")
            flow = until(lambda: (f := the_flow(p))["connections"]["opened"] == n and f["state"] == "idle" and f, "the run", p, 120)
            assert flow["transactions"]["failed"] == 0, flow
            assert server.stdout.readline() == "all\n"
        finally:
            server.kill()
    idle(flow)
    assert flow["connections"]["closed"] == flow["transactions"]["done"] == n, flow
    assert neighbours(p) == ["10.0.0.2"]
    answered = p.ask("show host")["ports"][0]["answered"]["arp"]
    assert answered < 100 if how == "route" else answered >= n, answered


VLANS = {"eth/vlan/ipv4/tcp": "set {s} vlan.vid {b}", "eth/qinq/vlan/ipv4/tcp": "set {s} qinq.vid {a}; set {s} vlan.vid {b}"}
# Stream, frame, tags from outside.
NETS = [(0, "eth/ipv4/tcp", []), (1, "eth/vlan/ipv4/tcp", [100]), (2, "eth/vlan/ipv4/tcp", [200]), (3, "eth/qinq/vlan/ipv4/tcp", [10, 100])]


def tagged(streams, frame, tags):
    return VLANS[frame].format(s=streams, a=tags[0], b=tags[-1]) if tags else ""


def subinterface(link, tags):
    """Linux's end in these VLANs, with the same address as without."""
    dev = link.dev
    for i, tag in enumerate(tags):
        name = f"{dev}.{tag}" if len(tags) == 1 else f"qq{i}"
        made = link.tool("ip", "link", "add", name, "link", dev, "type", "vlan", "id", str(tag),
                         *(["protocol", "802.1ad"] if len(tags) > 1 and i == 0 else []))
        if made.returncode != 0:
            pytest.skip(f"this kernel has no such VLANs: {made.stdout.strip()}")
        link.do("ip", "link", "set", name, "up")
        dev = name
    return dev


def test_next_hops_are_found_in_each_vlan(link, live):
    """Clients in no VLAN, in two, and behind two tags, on one port at a time: each next hop is the one of its VLAN, and so are answers to Linux."""
    link.do("ip", "addr", "flush", "dev", link.dev)
    sets, macs = [], {}
    for s, frame, tags in NETS:
        dev = subinterface(link, tags)
        macs[s] = f"02:00:00:00:77:{s:02x}"
        if tags:
            link.do("ip", "link", "set", dev, "address", macs[s])
        else:
            macs[s] = link.mac()
        link.do("ip", "addr", "add", f"10.{s}.0.2/16", "dev", dev)
        sets += [f"stream add 0/{s}"] if s > 0 else []
        sets += [f"set 0/{s} frame {frame}", tagged(f"0/{s}", frame, tags),
                 f"set 0/{s} flow client", f"set 0/{s} flow.src 10.{s}.0.1", f"set 0/{s} flow.dst 10.{s}.0.2", f"set 0/{s} cps 100",
                 f"set 0/{s} count 50"]
    link.do("sysctl", "-q", "-w", "net.ipv4.conf.all.rp_filter=0")
    addresses = ",".join(f"10.{s}.0.1/16" for s, _, _ in NETS)
    p = live([*link.options, "--no-screen", "-p", link.spec, "--ip", addresses], prefix=link.prefix)
    p.send("; ".join(x for x in sets if x))
    with subprocess.Popen([*link.prefix, sys.executable, "-c", SERVER.replace("10.0.0.2", "")], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout.readline() == "listens\n"
            p.send("start 0")
            until(lambda: all(f["connections"]["opened"] == 50 and f["state"] == "idle" for f in p.ask("show flows")["flows"]), "the run", p, 60)
        finally:
            server.kill()
    flows = p.ask("show flows")["flows"]
    assert [f["stream"] for f in flows] == [s for s, _, _ in NETS]
    for f in flows:
        idle(f)
        assert f["connections"]["closed"] == f["http"]["2xx"] == 50, f
    known = {(x["address"], tuple(x["vlans"])): x["mac"] for x in p.ask("show neighbours")["ports"][0]["neighbours"]}
    for s, _, tags in NETS:
        assert known[f"10.{s}.0.2", tuple(tags)] == macs[s], known
    # and Linux has found us in each of its networks
    entries = {n["dst"]: n.get("lladdr") for n in json.loads(link.do("ip", "-j", "neigh", "show"))}
    assert {entries[f"10.{s}.0.1"] for s, _, _ in NETS} == {entries["10.0.0.1"]} and entries["10.0.0.1"] is not None, entries


def test_next_hops_and_servers_in_each_vlan():
    """The same between two ports of ours: the servers' host answers in the VLANs of their flows, and a gateway is asked for in its clients'."""
    sets = []
    for s, frame, tags in NETS:
        to = "172.16.0.9" if s == 2 else f"10.{s}.0.2"  # behind the gateway
        sets += [f"stream add 0/{s}; stream add 1/{s}"] if s > 0 else []
        sets += [f"set 0-1/{s} frame {frame}", tagged(f"0-1/{s}", frame, tags),
                 f"set 0/{s} flow client; set 0/{s} flow.src 10.{s}.0.1; set 0/{s} flow.dst {to}; set 0/{s} cps 100; set 0/{s} count 20",
                 f"set 1/{s} flow server; set 1/{s} flow.src {to}"]
    own = [",".join(f"10.{s}.0.{end}/16" for s, _, _ in NETS) for end in (1, 2)]
    flow, known, hosts = play(f"set 0 ip {own[0]}; set 1 ip {own[1]}; set 0 gateway 10.2.0.2; " + "; ".join(x for x in sets if x) +
                              "; start all; wait all; show flows; show neighbours; show host", "-p", "wire")
    for f in flow["flows"]:
        idle(f)
        assert f["connections"]["closed"] == 20, f
    assert len(flow["flows"]) == 2 * len(NETS)
    found = {(x["address"], tuple(x["vlans"])) for x in known["ports"][0]["neighbours"] if x["state"] != "failed"}
    assert found >= {(f"10.{s}.0.2", tuple(tags)) for s, _, tags in NETS}, found
    links = [{tuple(x["vlans"]) for x in p["addresses"]} for p in hosts["ports"]]
    assert links == [{tuple(tags) for _, _, tags in NETS}] * 2


# Frame, what varies, the hosts' addresses, and the client's, for which its host answers.
OWN_VLANS = [("eth/vlan/ipv4/tcp", "set 0-1 vlan.vid 100..103", "10.0.0.{}/24", "10.0.0.16/30"),
             ("eth/vlan/vlan/ipv6/tcp", "set 0-1 vlan.vid 7; set 0-1 vlan[2].vid list 20,30,40,50", "fd00::{}/64", "fd00::10/126"),
             ("eth/qinq/vlan/ipv4/tcp", "set 0-1 qinq.vid 10..11; set 0-1 vlan.vid 100..103", "10.0.0.{}/24", "10.0.0.16/30")]


@pytest.mark.parametrize("frame,varies,own,clients", OWN_VLANS)
def test_a_flow_whose_own_vlan_varies(frame, varies, own, clients):
    """Each of four clients has a VLAN of its own; in all of them its next hop is asked for, and the one server's host answers."""
    server = own.format(2).split("/", maxsplit=1)[0]
    flow, known, hosts = play(f"set 0 ip {own.format(1)}; set 1 ip {own.format(2)}; set 0-1 frame {frame}; {varies}; set 0 flow client; "
                              f"set 0 flow.src {clients}; set 0 answer.for {clients}; set 0 flow.dst {server}; set 0/0 count 40; set 1 flow server; "
                              f"set 1 flow.src {server}; start all; wait all; show flows; show neighbours; show host", "-p", "wire")
    for f in flow["flows"]:
        idle(f)
        assert f["connections"]["closed"] == 40, f
    tags = {tuple(x["vlans"]) for x in known["ports"][0]["neighbours"] if x["address"] == server and x["mac"] == "02:77:72:00:00:01"}
    assert len(tags) == 4 and {len(t) for t in tags} == {frame.count("vlan") + frame.count("qinq")}, tags
    assert [{tuple(x["vlans"]) for x in p["addresses"] if x["vlans"]} for p in hosts["ports"]] == [tags] * 2


def test_servers_on_the_link_with_addresses_of_their_own(namespaces, live):
    """Two Linux servers on a bridge, each with a MAC address of its own: connections of one flow go to both."""
    bridge = f"wrbr{os.getpid()}"
    servers = [f"{bridge}{x}" for x in "ab"]

    def tool(*cmd, ns=bridge):
        subprocess.run(["ip", "netns", "exec", ns, *cmd], check=True, timeout=60)

    with contextlib.ExitStack() as undo:
        for ns in (bridge, *servers):
            subprocess.run(["ip", "netns", "add", ns], check=True, timeout=60)
            undo.callback(subprocess.run, ["ip", "netns", "del", ns], check=True, timeout=60)
        tool("ip", "link", "add", "name", "lan", "type", "bridge")
        tool("ip", "link", "add", "ours", "type", "veth", "peer", "name", "at")
        for dev in ("lan", "ours", "at"):
            tool("ip", "link", "set", dev, "up")
        tool("ip", "link", "set", "at", "master", "lan")
        for i, ns in enumerate(servers):
            tool("ip", "link", "add", f"to{i}", "type", "veth", "peer", "name", "near", "netns", ns)
            tool("ip", "link", "set", f"to{i}", "master", "lan", "up")
            tool("ip", "addr", "add", f"10.0.0.{2 + i}/16", "dev", "near", ns=ns)
            tool("ip", "link", "set", "near", "up", ns=ns)
            script = SERVER.replace("10.0.0.2", f"10.0.0.{2 + i}")
            command = ["ip", "netns", "exec", ns, sys.executable, "-c", script]
            served = undo.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
            undo.callback(served.kill)
            assert served.stdout.readline() == "listens\n"
        p = live(["--no-screen", "-p", "packet:ours", "--ip", "10.0.0.1/16"], prefix=["ip", "netns", "exec", bridge])
        p.send("set 0 flow client; set 0 flow.by_dst on; set 0 flow.src 10.0.1.0..10.0.1.6; set 0 answer.for 10.0.1.0/29; set 0 cps 200; "
               "set 0/0 count 80; set 0 flow.dst 10.0.0.2..10.0.0.3; start 0")
        flow = until(lambda: (f := the_flow(p))["connections"]["opened"] == 80 and f["state"] == "idle" and f, "the run", p, 60)
        idle(flow)
        assert flow["connections"]["closed"] == flow["http"]["2xx"] == 80, flow
        assert [(s["address"], s["closed"]) for s in p.ask("show flows by dst")["servers"]] == [("10.0.0.2", 40), ("10.0.0.3", 40)]
        macs = {x["address"]: x["mac"] for x in p.ask("show neighbours")["ports"][0]["neighbours"]}
        assert macs["10.0.0.2"] != macs["10.0.0.3"], macs


def test_servers_in_too_many_vlans():
    adds = "; ".join(f"stream add 1/{i}; set 1/{i} frame eth/vlan/ipv4/tcp; set 1/{i} vlan.vid {i}; set 1/{i} flow server; "
                     f"set 1/{i} flow.src 10.0.0.2" for i in range(1, 18))
    r = run([*lcores(2), "-p", "wire", "-b", "-e", f"set 1 ip 10.0.0.2/24; set 1/0 enabled off; {adds}; start 1 for 10ms"])
    assert r.returncode == 2 and "more than 16 VLANs beside host.vlan, and a host answers in so many" in r.stderr, r.stderr
