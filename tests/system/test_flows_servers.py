# SPDX-License-Identifier: BSD-3-Clause
"""Flows with many servers: connections by the weights of their servers, what each server counts, and a balancer between both ends that is judged by
its own counters."""
import json

import pytest

from harness import as_json, documents, good, lcores, run
from test_flows import PAIR, ends, flows, idle, play
from test_host_linux import Link, until

FATES = ("refused", "connect_timeout", "unreachable", "aborted_opening", "closed", "reset_by_us", "reset_by_peer", "timed_out", "aborted")
THREE = "10.1.0.1:1,10.1.0.2:2,10.1.0.3:5"
BY = PAIR + "set 0,1 flow.by_dst on; set 0 cps 20k; "
SHOW = "start all; wait all; show flows; show flows by dst"


def by_dst(docs, port=0, stream=0):
    """The newest document's servers of a flow, by address and port, and what is said of the flow."""
    doc = [d for d in docs if d.get("show") == "flows_by_dst"][-1]
    own = [s for s in doc["servers"] if (s["port"], s["stream"]) == (port, stream)]
    return {(s["address"], s["server_port"]): s for s in own}, [f for f in doc["flows"] if (f["port"], f["stream"]) == (port, stream)][0]


def sums(docs, port=0, stream=0):
    """All servers together are what `show flows` says, and so has each of them its fates."""
    servers, said = by_dst(docs, port, stream)
    flow = flows(docs)[port, stream]
    every = [*servers.values(), *([said["others"]] if said["others"] else [])]
    for name in ("opened", "established", *FATES):
        assert sum(s[name] for s in every) == flow["connections"][name], name
    for of, names in ("transactions", ("done", "failed")), ("payload", ("tx_bytes", "rx_bytes")):
        for name in names:
            assert sum(s[name] for s in every) == flow[of][name], name
    assert sum(s["opening"] + s["open"] for s in every) == flow["connections"]["opening"] + flow["connections"]["open"]
    assert said["opened"] == flow["connections"]["opened"]
    return servers, said


def opened(servers):
    return {k: s["opened"] for k, s in servers.items()}


@pytest.mark.parametrize("frame", ["eth/ipv4/tcp", "eth/ipv4/udp"])
def test_by_weight(frame):
    docs = play(BY + f"set 0,1 frame {frame}; set 0 flow.dst {THREE}; set 1 flow.src {THREE}; set 0 count 800; " + SHOW)
    for port in 0, 1:
        servers, said = sums(docs, port)
        assert opened(servers) == {("10.1.0.1", 80): 100, ("10.1.0.2", 80): 200, ("10.1.0.3", 80): 500}
        assert [s["weight"] for s in servers.values()] == [1, 2, 5]
        assert [s["expected"] for s in servers.values()] == [s["share"] for s in servers.values()] == [0.125, 0.25, 0.625]
        assert all(s["done"] == s["established"] == s["opened"] for s in servers.values())
        assert (said["by_dst"], said["chi_square"], said["degrees"], said["probability"], said["others"]) == (True, 0, 2, 1, None)


def test_ranges_of_ports_and_ipv6():
    """Weights of addresses and of ports are multiplied; what has none weighs 1."""
    to = "[2001:db8::1:1]:3,2001:db8::1:5"
    docs = play(BY + f"set 0,1 frame eth/ipv6/tcp; set 0 flow.dst {to}; set 0 flow.dport 80:2,8080..8082; "
                "set 1 flow.src 2001:db8::1:1..2001:db8::1:9; set 1 flow.sport 80,8080..8089; set 0 count 2000; " + SHOW)
    servers, _ = sums(docs)
    assert opened(servers) == {(f"2001:db8::1:{a}", p): 2000 * wa * wp // 20 for a, wa in (("1", 3), ("5", 1))
                               for p, wp in ((80, 2), (8080, 1), (8081, 1), (8082, 1))}
    far, said = sums(docs, 1)
    assert len(far) == 99 and {k: n for k, n in opened(far).items() if n} == opened(servers)
    assert said["degrees"] == 98 and said["chi_square"] > 1000 and said["probability"] < 1e-9


def test_several_workers():
    """All workers together open by weight, too, and none of them writes another's cells."""
    docs = documents(good(as_json([*lcores(4), "-p", "wire", "-m", "1-4.0,1-4.1", "-b", "-e",
                                   BY + f"set 0 flow.dst {THREE}; set 1 flow.src 10.1.0.0/29; set 0 count 4000; " + SHOW]), timeout=120))
    for port in 0, 1:
        servers, _ = sums(docs, port)
        assert [servers[f"10.1.0.{i}", 80]["opened"] for i in (1, 2, 3)] == [500, 1000, 2500]


def test_without_weights_and_off():
    """Each server once in a round, as ever. A flow that does not count says how to."""
    docs = play(PAIR + "set 0 flow.by_dst on; set 0 flow.dst 10.1.0.1..10.1.0.5; set 1 flow.src 10.1.0.1..10.1.0.5; set 0 count 500; " + SHOW)
    servers, said = sums(docs)
    assert set(opened(servers).values()) == {100} and said["chi_square"] == 0
    servers, said = by_dst(docs, 1)
    assert servers == {} and said == {"port": 1, "stream": 0, "role": "server", "by_dst": False, "servers": 0, "opened": 0, "chi_square": None,
                                      "degrees": 0, "probability": None, "others": None}
    r = good([*lcores(2), "-b", "-e", PAIR + "set 0 count 5; start all; wait all; show flows by dst"])
    assert "0/0: its connections are not counted by server: `set 0/0 flow.by_dst on`\n" in r.stdout


def test_fates_of_each():
    """A port at which nobody listens refuses: its connections alone fail."""
    to = BY + "set 0 flow.dst 10.1.0.1; set 0 flow.dport 80:3,81:1; set 1 flow.src 10.1.0.1; set 1 flow.sport 80..82 step 2; "
    docs = play(to + "set 0 count 400; " + SHOW)
    servers, said = sums(docs)
    assert servers["10.1.0.1", 80]["closed"] == 300 and servers["10.1.0.1", 81]["refused"] == 100
    assert said["chi_square"] == 0
    r = good([*lcores(2), "-b", "-e", to + "set 0 count 40; start all; wait all; show flows by dst"])
    assert "\n0/0 10.1.0.1 81: refused 10\n" in r.stdout


def test_loss_and_clear():
    """Retransmissions are counted once, and `clear` takes what is open into what comes."""
    docs = play(BY + f"set wire loss 2%; set 0,1 flow.rto 5ms; set 0 flow.dst {THREE}; set 1 flow.src {THREE}; "
                "set 0 transactions 3; set 0 think 5ms; "
                "start all; sleep 100ms; clear all; sleep 100ms; stop all; wait all; show flows; show flows by dst")
    for port in 0, 1:
        idle(flows(docs)[port, 0])
        servers, _ = sums(docs, port)
        assert all(s["opened"] > 0 for s in servers.values())


def test_servers_change_while_it_runs(live):
    """Connections keep their server, and what servers of before have counted stays: of some changes one by one, then as `others`."""
    p = live([*lcores(2), "--no-screen", "-p", "wire"])
    p.send(BY + "set 0 cps 2k; set 0 flow.timewait 0s; set 1 flow.src 10.1.0.0/16; "
           "set 1 flow.by_dst off; set 0 flow.dst 10.1.0.1,10.1.1.1; start all")
    seen = 0
    for i in range(2, 33):
        until(lambda n=seen: flows([p.ask("show flows")])[0, 0]["connections"]["closed"] > n + 20, "connections", p)
        seen = flows([p.ask("show flows")])[0, 0]["connections"]["closed"]
        p.send(f"set 0 flow.dst 10.1.0.1,10.1.1.{i}")
    p.send("stop all; wait all")
    docs = [p.ask("show flows", timeout=60), p.ask("show flows by dst")]
    servers, said = sums(docs)
    assert said["others"]["opened"] > 0 and said["others"]["open"] == 0
    assert servers["10.1.0.1", 80]["weight"] == servers["10.1.1.32", 80]["weight"] == 1
    assert servers["10.1.1.31", 80]["weight"] is None and servers["10.1.1.31", 80]["opened"] > 0
    assert ("10.1.1.1", 80) not in servers
    p.send("clear all")
    assert by_dst([p.ask("show flows by dst")])[1]["others"] is None


def test_saved_and_read_by_lua(tmp_path):
    name = tmp_path / "s.cmds"
    good([*lcores(2), "-b", "-e", f"set 0 flow client; set 0 flow.dst {THREE}; set 0 flow.dport 80:1,81:2; set 0 flow.by_dst on; save {name}"])
    assert "set 0/0 ipv4.dst 10.1.0.1:1,10.1.0.2:2,10.1.0.3:5\n" in name.read_text() and "set 0/0 tcp.dst 80:1,81:2\n" in name.read_text()
    r = good([*lcores(2), "-b", "-e", f"load {name}; set 1 flow server; set 1 flow.src 10.1.0.1..10.1.0.3; set 1 flow.sport 80..81; set 0 count 24; "
              "start all; wait all; "
              "lua 'for _, s in ipairs(wr.show(\"flows\", \"by\", \"dst\", 0).servers) do print(s.address, s.server_port, s.opened) end'"])
    assert [line.split() for line in r.stdout.splitlines()[-6:]] == [["10.1.0.1", "80", "1"], ["10.1.0.1", "81", "2"], ["10.1.0.2", "80", "2"],
                                                                      ["10.1.0.2", "81", "4"], ["10.1.0.3", "80", "5"], ["10.1.0.3", "81", "10"]]


REFUSED = [
    ("set 0 flow.dst 10.1.0.1:0,10.1.0.2:1", "a weight of 0: 1 to 65535, or leave the value out"),
    ("set 0 flow.dst 10.1.0.1:1000,10.1.0.2:999", "weights that add up to 1999, and at most 1024 are possible"),
    ("set 0 flow.by_dst on; set 0 flow.dst 10.1.0.0/16; start all",
     "make 65536 servers, and at most 4096 are counted one by one: `set 0 flow.by_dst off`"),
    ("set 1 flow.by_dst on; set 1 flow.src 10.1.0.0/16; start all", "or fewer by `set 1 flow.src ...`"),
    ("set 0 flow.dst 10.1.0.1:1,10.1.0.2:2; set 0 flow.dport 1..4096; start all", "8192 of them; at most 4096: fewer by `set 0 flow.dport ...`"),
    ("set 0 flow.dst 10.1.0.1:1,10.1.0.2:50; set 0 flow.sport 2000..2039; start all",
     "a server that weighs 50 needs as many source addresses and ports, and there are 40: `set 0 flow.sport A..B` with 50 ports or more"),
    ("set 0 flow.dst 10.1.0.1:1,10.1.0.2:3; set 0 flow.sport 2000..2039; set 0 connections 100; start all",
     "100 connections at once by the weights of its servers need 75 source addresses and ports, and what it has makes 52 connections"),
    ("set 0 flow.src 10.0.0.1:1,10.0.0.2:2; start all", "flow.src has weights, which are for a client's destinations"),
    ("set 0 flow.dst 10.1.0.1:1,10.1.0.2:2; set 0 nest tcp.src,ipv4.dst; start all", "`set 0 nest default`"),
    ("set 1 flow.src 10.1.0.1..10.1.0.3; stream add 1; set 1/1 flow server; set 1/1 flow.src 10.1.0.3:2,10.1.0.9; start all",
     "are servers of the same addresses and ports"),
]


@pytest.mark.parametrize("commands, said", REFUSED, ids=range(len(REFUSED)))
def test_refused(commands, said):
    """With the smallest change that helps; and what was set before still runs."""
    r = run([*lcores(2), "--json", "-b", "-k", "-e", PAIR + commands + "; set 0,1 flow.dst default; set 0,1 flow.src default; "
             "set 0 flow.sport default; "
             "set 0 flow.dport default; set 0,1 flow.by_dst off; set 0 connections default; set 0 nest default; stream delete 1/1; set 0 count 20; "
             "start all; wait all; show flows"], timeout=60)
    assert r.returncode == 2 and said in r.stderr, r.stderr
    assert flows(documents(r))[0, 0]["connections"]["closed"] == 20, r.stderr


def test_as_many_open_as_are_told():
    """52 connections of 40 sources: 13 and 39, all at once, by weight."""
    got = ends(BY + "set 0 flow.dst 10.1.0.1:1,10.1.0.2:3; set 1 flow.src 10.1.0.1..10.1.0.2; set 0 flow.sport 2000..2039; set 0 connections 52; "
               "set 0 close keep; start all for 300ms; wait all; show flows; show flows by dst")
    assert got[0, 0]["connections"]["established"] == 52 and got[0, 0]["connections"]["no_tuple"] == 0


BALANCER = """
table ip wr {
    counter one { }
    counter two { }
    counter three { }
    chain pre { type nat hook prerouting priority -100;
        ip daddr 10.0.0.2 tcp dport 80 dnat to numgen inc mod 8 map { 0: 10.1.0.1, 1-2: 10.1.0.2, 3-7: 10.1.0.3 }; }
    chain through { type filter hook forward priority 0;
        ct state new ip daddr 10.1.0.1 counter name one; ct state new ip daddr 10.1.0.2 counter name two;
        ct state new ip daddr 10.1.0.3 counter name three; }
}
"""


def test_through_a_balancer(namespaces, live, tmp_path, need):
    """The kernel deals connections to one address among three servers of ours: each server has counted what the kernel says that it gave it."""
    need("nft")
    link = Link("packet")
    try:
        do = link.do
        do("ip", "link", "add", "bal0", "type", "veth", "peer", "bal1")
        for dev in "bal0", "bal1":
            do("ethtool", "-K", dev, "gso", "off", "tso", "off", "gro", "off", "tx", "off")
            do("ip", "link", "set", dev, "up")
        do("ip", "addr", "add", "10.1.0.254/24", "dev", "bal1")
        do("sysctl", "-q", "net.ipv4.ip_forward=1")
        for dev in link.net.a, "bal0":  # the kernel sees what comes to our ports, too
            do("sysctl", "-q", f"net.ipv4.conf.{dev}.forwarding=0")
        (tmp_path / "nat").write_text(BALANCER)
        do("nft", "-f", str(tmp_path / "nat"))
        p = live([*lcores(2), "--no-screen", "-p", link.spec, "-p", "packet:bal0", "--ip", "10.0.0.1/24"], prefix=link.prefix)
        p.send(BY + "set 0 cps 1k; set 1 ip 10.1.0.1/24,10.1.0.2/24,10.1.0.3/24; set 1 gateway 10.1.0.254; set 0 flow.dst 10.0.0.2; "
               f"set 1 flow.src {THREE}; set 0 count 400; start all; wait all")
        docs = [p.ask("show flows", timeout=60), p.ask("show flows by dst")]
        for f in flows(docs).values():
            idle(f)
        client, _ = sums(docs)
        assert opened(client) == {("10.0.0.2", 80): 400}
        servers, said = sums(docs, 1)
        told = json.loads(do("nft", "-j", "list", "counters"))["nftables"]
        kernel = {c["counter"]["name"]: c["counter"]["packets"] for c in told if "counter" in c}
        assert opened(servers) == {("10.1.0.1", 80): kernel["one"], ("10.1.0.2", 80): kernel["two"], ("10.1.0.3", 80): kernel["three"]}
        assert sum(kernel.values()) == 400 and abs(kernel["three"] - 250) < 5 and said["probability"] > 0.5
        assert all(s["closed"] == s["opened"] == s["done"] for s in servers.values())
    finally:
        link.net.remove()


def test_a_line_each_second_and_csv():
    """`--json-stream` has the servers of flows that count them; CSV has a row for each."""
    r = good([*lcores(2), "--json-stream", "-e", BY + f"set 0 flow.dst {THREE}; set 1 flow.src {THREE}; set 0 cps 1k; "
              "start all for 2500ms; wait all"])
    lines = [d for d in documents(r) if d.get("event") == "interval" and "flows_by_dst" in d["stats"]]
    assert lines and len(lines[-1]["stats"]["flows_by_dst"]) == 6
    r = good([*lcores(2), "--csv", "-b", "-e", BY + f"set 0 flow.dst {THREE}; set 1 flow.src {THREE}; set 0 count 8; "
              "start all; wait all; show flows by dst"])
    rows = r.stdout.splitlines()
    assert rows[-7].startswith("port,stream,address,server_port,weight,opened,share,expected,") and rows[-4].startswith("0,0,10.1.0.3,80,5,5,0.625")


def test_a_dead_server_answers_nothing_until_it_lives_again():
    """Each connection to it sends one SYN, which vanishes and is counted; then there is a new run, and both servers are met."""
    two = "10.1.0.1..10.1.0.2"
    docs = play(BY + f"set 0 flow.dst {two}; set 1 flow.src {two}; set 1 flow.dead 10.1.0.2,fd00::1; set 0 flow.rto 10ms; set 0 flow.retries 0; "
                "set 0 count 10; start all; wait all; show flows; show flows by dst; set 1 flow.dead none; set 0 flow.retries 5; "
                "start all; wait all; show flows; show flows by dst")
    dead, alive = [d for d in docs if d.get("show") == "flows"][-2:]
    made = {(f["port"], f["stream"]): f["connections"] for f in dead["flows"]}[0, 0]
    # others may have timed out where the machine stood still
    assert made["opened"] == 10 == made["established"] + made["connect_timeout"] and made["connect_timeout"] >= 5
    assert [(s["port"], s["dead"]) for s in dead["strays"] if s["dead"]] == [(1, 5)] == [(s["port"], s["dead"]) for s in alive["strays"] if s["dead"]]
    first, last = [d for d in docs if d.get("show") == "flows_by_dst"][-2:]
    met = [{s["address"]: s["opened"] for s in d["servers"] if s["port"] == 1} for d in (first, last)]
    assert met[0]["10.1.0.2"] == 0 < met[1]["10.1.0.2"] <= 5, met
