# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong between a client of ours and Linux has a name each: what would never get an answer is refused before a start, and connections have
fates."""
import contextlib
import signal
import subprocess
import sys

import pytest

from test_flows import idle, judge
from test_flows_linux import the_flow
from test_host_linux import Link, until

# Takes connections and never closes one; what comes on them is read.
HOLD = """
import selectors, socket
s, sel = socket.create_server(("10.0.0.2", 80), backlog=512), selectors.DefaultSelector()
sel.register(s, selectors.EVENT_READ)
print("listens", flush=True)
while True:
    for key, _ in sel.select():
        if key.fileobj is s:
            sel.register(s.accept()[0], selectors.EVENT_READ)
            continue
        try:
            if key.fileobj.recv(65536):
                continue
        except OSError:
            pass
        sel.unregister(key.fileobj)
"""
N = 20


@pytest.fixture
def link(namespaces):
    made = Link("packet")
    yield made
    made.net.remove()


@contextlib.contextmanager
def holds(link):
    with subprocess.Popen([*link.prefix, sys.executable, "-c", HOLD], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout.readline() == "listens\n"
            yield server
        finally:
            server.kill()


def client(link, live, *settings):
    return link.host(live, "set 0 flow client", "set 0 flow.dst 10.0.0.2", "set 0 app bytes", "set 0 flow.sport 2000..2999", "set 0 cps 200",
                     f"set 0/0 count {N}", *settings)


def ended(p):
    flow = until(lambda: (f := the_flow(p))["connections"]["opened"] == N and f["state"] == "idle" and f, "the run", p, 60)
    idle(flow)
    return flow


def states(link):
    return [line.split()[0] for line in link.do("ss", "-Htan", "dst", "10.0.0.1").splitlines()]


@pytest.mark.parametrize("to,why", [("10.0.0.77", "10.0.0.77, the next hop of stream 0/0, did not answer 3 times"),
                                    ("172.16.0.1", "172.16.0.1 is in no prefix of the addresses of port 0, and it has no IPv4 gateway")])
def test_no_neighbour_and_no_route_are_refused(link, live, to, why):
    link.options = ["-k"]
    p = client(link, live, f"set 0 flow.dst {to}")
    p.send("start 0")
    until(lambda: why in p.errors(), "the start is refused", p)
    assert p.ask("show stats")["ports"][0]["run"]["state"] == "idle"


def test_an_address_that_somebody_has_is_not_used(link, live):
    p = live(["-k", "--no-screen", "-p", link.spec, "--ip", "10.0.0.2/24"], prefix=link.prefix)
    p.send("set 0 flow client; set 0 flow.dst 10.0.0.3; start 0")
    until(lambda: "the port has no address of its family in use" in p.errors(), "the start is refused", p)
    assert "does not use its address 10.0.0.2" in p.errors()
    assert "duplicate" in {a["state"] for a in p.ask("show host")["ports"][0]["addresses"]}


def test_where_long_segments_vanish_connections_time_out(link, live, need):
    need("nft")
    for rule in ("add table ip t", "add chain ip t c { type filter hook input priority 0; }", "add rule ip t c tcp dport 80 ip length gt 1000 drop"):
        link.do("nft", rule)
    with holds(link):
        p = client(link, live, "set 0 request 5000", "set 0 flow.rto 50ms", "set 0 flow.retries 4")
        p.send("start 0")
        flow = ended(p)
    assert flow["connections"]["established"] == flow["connections"]["timed_out"] == N, flow
    assert flow["transactions"]["failed"] == N and flow["errors"]["rto"] > 0


def test_peers_that_never_close_are_given_up(link, live):
    """A transaction has no answer, and the peer no end: connections that are open flow.drain after the end are reset."""
    with holds(link):
        p = client(link, live, "set 0 flow.drain 300ms")
        p.send("start 0")
        until(lambda: the_flow(p)["connections"]["open"] == N, "all are open", p)
        judge(the_flow(p))
        p.send("stop 0")
        flow = ended(p)
        until(lambda: "ESTAB" not in states(link), "Linux has been told")
    assert flow["connections"]["aborted"] == flow["transactions"]["failed"] == N, flow


@pytest.mark.parametrize("moved", [False, True], ids=["deleted", "moved"])
def test_an_interface_that_goes(link, live, moved):
    """One that is moved to another network namespace is as one that was deleted."""
    far = f"{link.net.ns}-far"
    with holds(link):
        p = client(link, live, "set 0 flow.rto 20ms", "set 0 flow.retries 14", "set 0 flow.drain 300ms", "set 0 transactions forever")
        p.send("start 0")
        until(lambda: the_flow(p)["connections"]["open"] == N, "all are open", p)
        if moved:
            subprocess.run(["ip", "netns", "add", far], check=True)
            link.do("ip", "link", "set", link.net.a, "netns", far)
            subprocess.run(["ip", "netns", "del", far], check=True)
        else:
            link.do("ip", "link", "del", link.net.a)
        until(lambda: "its interface was deleted, or moved to another network namespace" in p.errors(), "the message", p)
        p.send("stop 0")
        flow = ended(p)
    c = flow["connections"]
    assert c["established"] == c["timed_out"] + c["aborted"] == N, flow


def test_tuples_of_a_client_that_was_killed(link, live):
    """Linux still has its connections: it answers a SYN with an acknowledgement, gets a reset for it, and takes the SYN that follows."""
    with holds(link):
        p = client(link, live)
        p.send("start 0")
        until(lambda: the_flow(p)["connections"]["open"] == N, "all are open", p)
        p.proc.send_signal(signal.SIGKILL)
        p.proc.wait(60)
        assert states(link).count("ESTAB") == N
        again = client(link, live, "set 0 flow.rto 2s", "set 0 flow.drain 300ms")
        again.send("start 0")
        flow = until(lambda: (f := the_flow(again))["connections"]["open"] == N and f, "all are open again", again)
        # a machine that stands still for the second of a SYN sends more of both
        assert flow["errors"]["rst_sent"] >= N and flow["errors"]["syn_retransmitted"] >= N, flow
        assert states(link).count("ESTAB") == N
        again.send("stop 0")
        assert ended(again)["connections"]["aborted"] == N
