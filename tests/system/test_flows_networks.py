# SPDX-License-Identifier: BSD-3-Clause
"""Flows of very many networks and tunnels at once, and the checksums of outer headers: which frames belong to whom is exact."""
import pytest

from harness import as_json, documents, good, lcores, run, tshark
from test_flows import PAIR, ends, flows, idle, play
from test_flows_tunnels import needs_tshark

VXLAN = PAIR + "set 0-1 frame eth/ipv4/udp/vxlan/eth/ipv4/tcp; set 0-1 flow.rto 8s; "
GTPU = PAIR + "set 0-1 frame eth/ipv4/udp/gtpu/ipv4/tcp; set 0-1 flow.rto 8s; "


def refused(cmds, why):
    r = run([*lcores(2), "-b", "-e", cmds])
    assert r.returncode == 2 and why in r.stderr, r.stderr


def all_closed(got, n):
    client, server = got[0, 0], got[1, 0]
    assert client["connections"]["closed"] == client["connections"]["opened"] == server["connections"]["closed"] == n
    assert client["transactions"]["done"] == server["transactions"]["done"] == n
    assert client["segments"]["bad_checksum"] == server["segments"]["bad_checksum"] == 0


def test_a_tunnel_for_each_of_60000_clients():
    """Each has a TEID of its own in either direction."""
    all_closed(ends(GTPU + "set 0-1 gtpu.teid 1..60000; set 0-1 reply.gtpu.teid 100001..160000; set 0 flow.src 10.0.0.0/16; set 0 count 60000; "
                           "set 0-1 flow.drain 30s; set 0 cps max; start all; wait all; show flows"), 60000)


@needs_tshark
def test_networks_endpoints_and_ports_vary(tmp_path):
    """100 VNIs of 7 endpoints: answers go back to whom they are for, in the same network."""
    cmds = (VXLAN + "set 0-1 vxlan.vni 1..100; set 0 flow.src 10.0.0.1..10.0.1.144; set 0 ipv4.src 192.0.2.1..192.0.2.7; set 0 ipv4.dst 192.0.2.100; "
            "set 0 udp.src 50000..50009; set 0 count 400; capture 1 x.pcapng both; start all; wait all; capture stop; show flows")
    docs = documents(good(as_json([*lcores(2), "-b", "-e", cmds]), cwd=tmp_path))
    got = flows(docs)
    for f in got.values():
        idle(f)
    all_closed(got, 400)
    seen = set()
    for src, dst, sport, vni in tshark(tmp_path / "x.pcapng", "frame", "ip.src", "ip.dst", "udp.srcport", "vxlan.vni"):
        (outer_src, src), (outer_dst, dst) = src.split(","), dst.split(",")
        there = outer_dst == "192.0.2.100"
        client, endpoint = (src, outer_src) if there else (dst, outer_dst)
        last = [int(x) for x in client.split(".")[2:]]
        n = last[0] * 256 + last[1] - 1
        assert int(vni) == 1 + n % 100 and endpoint == f"192.0.2.{1 + n % 7}", (src, dst, vni)
        assert not there or int(sport) == 50000 + n % 10
        seen.add((n, there))
    assert len(seen) == 2 * 400


def test_one_client_spreads_by_its_ports():
    """The headers of one client's connections step with its source ports."""
    got = ends(VXLAN + "set 0-1 vxlan.vni 1..50; set 0 udp.src 49152..65535; set 0 count 500; start all; wait all; show flows")
    all_closed(got, 500)


def test_networks_that_the_server_has_not():
    """Of 20 VNIs it has 15: who comes from another one finds nobody, and nothing is counted for him there."""
    got = ends(VXLAN + "set 0 vxlan.vni 1..20; set 1 vxlan.vni 6..20; set 0 flow.src 10.0.0.1..10.0.0.20; set 0 flow.retries 1; "
                       "set 0-1 flow.rto 2s; set 0 flow.drain 60s; set 0 count 40; start all; wait all; show flows")
    client, server = got[0, 0]["connections"], got[1, 0]["connections"]
    assert client["connect_timeout"] == 10 and client["established"] == server["opened"] == 30


def test_settings_change_networks_while_connections_live():
    """What lives keeps its network, what is new has the new ones. A SYN that is on its way meanwhile may meet nobody."""
    got = ends(VXLAN + "set 0-1 vxlan.vni 7; set 0-1 app bytes; set 0-1 transactions 30; set 0-1 think 50ms; set 0 cps 200; "
                       "set 0 flow.src 10.0.0.1..10.0.0.9; set 0-1 flow.drain 30s; set 0 count 400; "
                       "start all; sleep 700ms; set 0-1 vxlan.vni 7..9; sleep 700ms; "
                       "set 0-1 vxlan.vni 20..30; wait all; show flows")
    client, server = got[0, 0], got[1, 0]
    assert client["connections"]["opened"] == 400
    assert client["connections"]["established"] == client["connections"]["closed"] == server["connections"]["closed"] > 0
    assert client["transactions"]["done"] == server["transactions"]["done"] == client["connections"]["closed"] * 30


REFUSED = [
    (GTPU + "set 0 gtpu.teid 1..70000; set 0 flow.src 10.0.0.0/15", "gives more than 65535 different headers"),
    (GTPU + "set 1 gtpu.teid 1..70000", "is a server, and its gtpu.teid gives more than 65535 different headers"),
    (GTPU + "set 1 ipv4.tos 0..3", "is a server, and its ipv4.tos varies, but not with a VLAN id, label, key, VNI or TEID"),
    (GTPU + "set 1 gtpu.teid 1..4; set 1 ipv4.tos 0..7", "is a server, and its ipv4.tos varies"),
    (GTPU + "set 0 gtpu.teid 1..4; set 0 flow.sport 5000", "there is one source address, with one port"),
]


@pytest.mark.parametrize("cmds,why", REFUSED)
def test_what_cannot_be(cmds, why):
    refused(cmds + "; start all for 1s", why)


def test_seventeen_stacks_of_headers():
    """A port can tell 16 of them; the start is refused as a whole, and with one fewer it goes."""
    stacks = ["eth" + "/mpls" * n for n in range(9)] + ["eth" + "/vlan" * n for n in range(1, 9)]
    cmds = PAIR + "".join(f"stream add 0/{n}; set 0/{n} enabled on; set 0/{n} flow client; " for n in range(1, 17))
    cmds += "".join(f"set 0/{n} frame {s}/ipv4/tcp; set 0/{n} count 5; " for n, s in enumerate(stacks))
    refused(cmds + "start 0", "more than 16 different stacks of headers")
    got = flows(play(cmds + "set 0/16 enabled off; set 0/1-15 flow.retries 0; set 0/0 flow.retries 0; start 0; wait 0; show flows"))
    assert sum(f["connections"]["opened"] for f in got.values()) == 16 * 5


DAMAGE = [("eth/ipv4/udp/vxlan/eth/ipv4/tcp", 22), ("eth/ipv4/udp/vxlan/eth/ipv6/tcp", 34), ("eth/ipv6/udp/gtpu/ipv4/udp", 55),
          ("eth/ipv4/udp/vxlan/eth/ipv4/tcp", 50), ("eth/ipv4/ipv4/tcp", 22), ("eth/ipv6/udp/vxlan/eth/ipv4/tcp", 21)]


@pytest.mark.parametrize("frame,at", DAMAGE)
def test_damage_to_outer_headers_is_a_bad_checksum(frame, at):
    """A bit is wrong in every 20th frame, where only a checksum of an outer header has it: in its TTL, a port, reserved bits or an address.
    Byte 21 is the hop limit of IPv6, which has none. What is damaged before there is a connection, or behind its end, is no flow's."""
    docs = play(PAIR + f"set 0-1 frame {frame}; set 0-1 app bytes; set 0-1 flow.rto 50ms; set 0-1 flow.retries 12; set 0 count 50; set 0 cps 2k; "
                       f"set 0-1 transactions 40; set 0-1 flow.drain 60s; set wire corrupt every 20 at {at}; start all; "
                       "wait all; show flows; show wire")
    got = flows(docs)
    for f in got.values():
        idle(f)
    bad = sum(f["segments"]["bad_checksum"] for f in got.values())
    wire = [d for d in docs if d.get("show") == "wire"][-1]
    damaged = sum(p["corrupted"] for p in wire["ports"])
    assert damaged >= 100
    assert bad == 0 if at == 21 else damaged * 0.7 < bad <= damaged


def test_both_versions_in_tunnels_of_different_kinds():
    """IPv4 in VXLAN and IPv6 in GRE, and one of each without a tunnel, beside each other on a port."""
    stacks = ["eth/ipv4/udp/vxlan/eth/ipv4/tcp", "eth/ipv6/gre/ipv6/tcp", "eth/ipv4/tcp", "eth/ipv6/udp"]
    cmds = "".join(f"stream add {p}/{n}; " for p in (0, 1) for n in (1, 2, 3))
    cmds += "set 0-1/0-3 enabled on; set 0/0-3 flow client; set 1/0-3 flow server; "
    cmds += "".join(f"set 0-1/{n} frame {s}; " for n, s in enumerate(stacks))
    got = ends(cmds + "set 0-1/0-3 flow.rto 8s; set 0/0-3 count 100; start all; wait all; show flows")
    for n in range(4):
        assert got[0, n]["connections"]["closed"] == got[1, n]["connections"]["established"] == 100


def test_fragments_belong_to_no_connection():
    """Pieces of packets that would be to the server, of outer and of inner ones and without a tunnel, first and later ones, come beside its
    connections in the same network: nothing of them reaches it, and each is a frame that the port received."""
    pieces = ["ipv4.flags mf", "ipv4.frag 100", "ipv4[2].flags mf", "ipv4[2].frag 100"]
    cmds = VXLAN + "set 0-1 vxlan.vni 7; stream add 1/1; set 1/1 enabled on; set 1/1 flow server; set 1/1 frame eth/ipv6/tcp; "
    for n, piece in enumerate(pieces + ["ipv4.flags mf", "ipv4.frag 100", "ipv6frag.m 1", "ipv6frag.offset 100"], 1):
        frame = "eth/ipv4/udp/vxlan/eth/ipv4/tcp; set 0/{n} vxlan.vni 7" if n <= 4 else "eth/ipv4/tcp" if n <= 6 else "eth/ipv6/ipv6frag/tcp"
        cmds += f"stream add 0/{n}; set 0/{n} enabled on; set 0/{n} frame {frame.format(n=n)}; set 0/{n} {piece}; "
        cmds += f"set 0/{n} tcp.dst 80; set 0/{n} count 10; "
    docs = play(cmds + "set 0 rate 1kpps; set 0 catchup keep; set 0/0 count 50; start all; wait all; show flows; show stats")
    got = flows(docs)
    all_closed({k: f for k, f in got.items() if k[1] == 0}, 50)
    assert got[1, 0]["segments"]["rx"] == got[0, 0]["segments"]["tx"] and got[1, 1]["segments"]["rx"] == 0
    ports = [d for d in docs if d.get("show") == "stats"][-1]["ports"]
    assert ports[1]["rx"]["packets"] == got[0, 0]["segments"]["tx"] + 80
