# SPDX-License-Identifier: BSD-3-Clause
"""Flows on several queues of interfaces of the kernel, which alone chooses to which of them an answer comes: each reaches its connection."""
import signal
import subprocess
import sys

import pytest

from harness import lcores
from test_flows import handed, idle
from test_flows_linux import the_flow
from test_flows_peers import nginx, server
from test_host_linux import Link, need_tap, until

N = 2000


@pytest.fixture(params=["packet", "tap"])
def link(request, namespaces):
    need_tap(request.param)
    made = Link(request.param)
    made.kind = request.param
    made.options = [*lcores(4), "-m", "1-4.0"]
    yield made
    made.net.remove()


def test_a_client_on_four_queues(link, live, tmp_path, need):
    need("nginx")
    with nginx(link, tmp_path) as log:
        p = link.host(live, "set 0 flow client", "set 0 flow.dst 10.0.0.2", "set 0 http.path /a", "set 0 transactions 2", "set 0 cps 2k",
                      f"set 0/0 count {N}")
        p.send("start 0")
        flow = until(lambda: (f := the_flow(p))["connections"]["opened"] == N and f["state"] == "idle" and f, "the run", p, 60)
        idle(flow)
        until(lambda: len(log()) == 2 * N, "nginx writes its log")
        assert set(log()) == {"200"}
    assert flow["connections"]["closed"] == N and flow["transactions"]["done"] == flow["http"]["2xx"] == 2 * N
    assert flow["segments"]["bad_checksum"] == 0 and "rst_sent" not in flow["errors"]
    n = handed(p.ask("show flows"))
    stats = p.ask("show stats")["ports"][0]
    rx = stats["rx"]["packets"]  # frames: several segments may have come as one
    # Through AF_PACKET the kernel deals by a hash of its own, of four frames three to another queue. Of a tap it remembers where we sent
    # from, for no more than 4096 connections.
    assert 0.6 * rx < n < 0.9 * rx if link.kind == "packet" else n < 0.3 * rx, (n, rx)
    sent = [q["tx"]["packets"] for q in stats["queues"]]
    assert min(sent) > N / 4, sent


def test_a_server_on_four_queues(link, live, need):
    need("ab")
    p = server(link, live, "set 0 response 1234")
    said = link.tool("ab", "-q", "-n", "1000", "-c", "40", "http://10.0.0.1/", timeout=120).stdout
    assert "Complete requests:      1000" in said and "Failed requests:        0" in said, said
    flow = until(lambda: (f := the_flow(p))["connections"]["open"] == 0 and f["transactions"]["done"] >= 1000 and f, "the connections", p)
    assert flow["http"]["2xx"] == 1000 and "rst_sent" not in flow["errors"]
    # it answers where it was asked
    assert p.ask("show flows")["handed_over"] == []
    sent = [q["tx"]["packets"] for q in p.ask("show stats")["ports"][0]["queues"]]
    assert sum(s > 100 for s in sent) >= 3, sent


# Sends datagrams of one client to a server, the first ones until one is answered, and as many as it is told when a line comes.
FLOOD = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(0.2)
s.connect(("10.0.0.1", 80))
for _ in range(100):
    try:
        s.send(bytes(64))
        s.recv(2048)
        break
    except OSError:
        pass
print("answered", flush=True)
for _ in range(int(sys.stdin.readline())):
    s.send(bytes(64))
print("sent", flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize("link", ["packet"], indirect=True)
def test_a_queue_without_room_leaves_its_frames_to_no_other_one(link, live):
    """What comes while the queue of a connection has no room is missed. A server on another queue would take it for that of a new client."""
    n = 20000
    p = link.host(live, "set 0 frame eth/ipv4/udp", "set 0 flow server", "set 0 flow.sport 80", "start 0")
    with subprocess.Popen([*link.prefix, sys.executable, "-c", FLOOD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as client:
        try:
            assert client.stdout.readline() == "answered\n"
            p.proc.send_signal(signal.SIGSTOP)  # no worker receives
            try:
                print(n, file=client.stdin, flush=True)
                assert client.stdout.readline() == "sent\n"
            finally:
                p.proc.send_signal(signal.SIGCONT)
            port = until(lambda: (x := p.stats()[0])["rx"]["packets"] + x["rx"]["missed"] > n and x, "the flood", p)
            came = [q["rx"]["packets"] > 1000 for q in port["queues"]]
            assert port["rx"]["missed"] > 0 and came.count(True) == 1, port
            assert the_flow(p)["connections"]["opened"] == 1, the_flow(p)
        finally:
            client.kill()
    p.send("stop 0; wait 0")
    assert p.quit()[0] == 0
