# SPDX-License-Identifier: BSD-3-Clause
"""What other testers fail at: each of these was seen to break one of them. Most have Linux as the peer. What needs none is elsewhere: a window of
one byte (tests/flow/cases/window.case: a-client-whose-window-is-always-small and its neighbours), RST with a wrong number
(reset.case: rfc5961-3.2), chunks split at every place (tests/unit/http_test.c), limits that are refused (tests/cli/refused.cli), a request in
several segments (test_flows_peers.py: curl sends in all ways), speed against the kernel (tests/bench/kernel.py)."""
import json
import re

import pytest

from test_flows import idle
from test_flows_peers import client, nginx, server, sockets_end, the_flow
from test_host_linux import Link, until

pytestmark = pytest.mark.usefixtures("namespaces")


@pytest.fixture
def link(namespaces):
    made = Link("packet")
    yield made
    made.net.remove()


def nft(link, text):
    link.do("nft", text)


def counted(link):
    """Frames that each named counter has seen."""
    return {c["counter"]["name"]: c["counter"]["packets"] for c in json.loads(link.do("nft", "-j", "list", "counters"))["nftables"] if "counter" in c}


def kernel_counts(link, *names):
    said = dict(re.findall(r"^(\w+)\s+(\d+)", link.do("nstat", "-asz", *names), re.M))
    return [int(said[name]) for name in names]


def on_wire(live, *settings):
    """Both ends of a run that has ended, on the built-in wire."""
    p = live(["-b", "-p", "wire", "--json"])
    p.send("; ".join(["set 0 flow client", "set 1 flow server", *settings, "start all", "wait all"]))
    flows = p.ask("show flows", timeout=60)["flows"]
    for flow in flows:
        idle(flow)
    return flows


def test_2_acks_of_fins_that_are_lost_leave_no_socket_of_the_peers(link, live, tmp_path, need):
    """What nginx sends once more is no more than what was dropped of ours, and none of its sockets waits for us at the end."""
    need("nginx", "nft")
    nft(link, f"""table netdev wr {{
        counter dropped {{ }}
        counter fins {{ }}
        chain in {{ type filter hook ingress device {link.dev} priority 0; ip protocol tcp numgen random mod 100 < 1 counter name dropped drop; }}
        chain out {{ type filter hook egress device {link.dev} priority 0; ip protocol tcp tcp flags & fin == fin counter name fins; }}
    }}""")
    with nginx(link, tmp_path) as log:
        flow = client(link, live, "set 0 cps 400", "set 0/0 count 1500", "set 0 http.path /a", "set 0 flow.rto 50ms", "set 0 flow.drain 20s")
        until(lambda: len(log()) >= 1500, "nginx writes its log")
        sockets_end(link)
    seen = counted(link)
    assert flow["connections"]["established"] == 1500 and flow["transactions"]["done"] == 1500, flow
    assert 0 < seen["dropped"] and 1500 <= seen["fins"] <= 1500 + seen["dropped"], (seen, flow)


def test_4_a_syn_that_offers_ecn_is_taken_at_once(link, live, need):
    need("curl", "nstat")
    link.do("sysctl", "-q", "net.ipv4.tcp_ecn=1")
    p = server(link, live)
    before = kernel_counts(link, "TcpExtTCPSynRetrans", "TcpRetransSegs")
    r = link.tool("curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "http://10.0.0.1/")
    assert r.stdout == "200", r.stdout
    assert kernel_counts(link, "TcpExtTCPSynRetrans", "TcpRetransSegs") == before
    flow = until(lambda: (f := the_flow(p))["connections"]["closed"] == 1 and f, "the connection ends", p)
    assert flow["segments"]["duplicate"] == 0


def test_7_a_tuple_is_taken_again_while_the_peer_rests(link, live, tmp_path, need):
    """nginx closes first, so that Linux keeps the tuple for a minute; ours comes round in a second."""
    need("nginx")
    with nginx(link, tmp_path) as log:
        flow = client(link, live, "set 0 tcp.src 4000", "set 0 connections 1", "set 0 cps 5", "set 0/0 count 4", "set 0 http.path /a",
                      "set 0 close fin server")
        until(lambda: len(log()) >= 4, "nginx writes its log")
    assert "TIME-WAIT" in link.do("ss", "-Htan", "dst", "10.0.0.1:4000")
    assert flow["connections"]["established"] == 4 and flow["connections"]["closed"] == 4, flow
    # a machine that stands still for a second sends a SYN again, but not of each of the three that come again
    assert flow["errors"].get("syn_retransmitted", 0) < 3 and not {"rst_received", "rst_sent"} & set(flow["errors"]), flow["errors"]


def test_8_no_segment_is_larger_than_the_peer_says(link, live, need):
    need("curl", "nft")
    link.do("ip", "route", "replace", "10.0.0.0/24", "dev", link.dev, "advmss", "536")
    nft(link, f"""table netdev wr {{
        counter large {{ }}
        counter every {{ }}
        chain in {{ type filter hook ingress device {link.dev} priority 0; ip protocol tcp counter name every;
                    ip protocol tcp meta length > 576 counter name large; }}
    }}""")
    server(link, live, "set 0 response 300000", "set 0 offload off")  # the size of what the interface would make of a super-frame is its own
    r = link.tool("curl", "-sS", "-o", "/dev/null", "-w", "%{size_download}", "http://10.0.0.1/")
    assert r.stdout == "300000", r.stdout
    seen = counted(link)
    assert seen["large"] == 0 and seen["every"] >= 300000 // 536, seen


def test_12_frames_that_overtake_others_cost_no_timeout(live):
    client_end, server_end = on_wire(live, "set wire reorder every 50 by 3", "set 1 response 1000000", "set 0 cps 20", "set 0/0 count 10",
                                     "set all flow.verify on", "set all flow.rto 10s")  # which no machine stands still for
    assert client_end["transactions"]["done"] == 10 and client_end["segments"]["out_of_order"] > 0
    for flow in client_end, server_end:
        assert flow["errors"].get("rto", 0) == 0, flow


def test_13_a_request_that_is_sent_again_is_no_further_request(live):
    client_end, server_end = on_wire(live, "set 0 wire loss every 7", "set 0 flow.rto 20ms", "set 0 flow.retries 14", "set 0 cps 500",
                                     "set 0/0 count 500")
    assert client_end["segments"]["retransmitted"] > 0
    for flow in client_end, server_end:
        assert flow["transactions"]["started"] == flow["transactions"]["done"] == 500 and flow["http"]["2xx"] == 500, flow


def test_15_the_same_settings_give_the_same_totals(live):
    """What varies does so by seed, and faults of the wire too."""
    def totals():
        client_end, server_end = on_wire(live, "set wire seed 7", "set 0 http.path /a:7,/b:2,/cc:1", "set 1 response 10..3000",
                                         "set 0 transactions 3", "set 0 cps 1000", "set 0/0 count 700", "set 0 request 0")
        return [(flow["connections"], flow["transactions"], flow["payload"], flow["http"]) for flow in (client_end, server_end)]
    assert totals() == totals()
