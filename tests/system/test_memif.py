# SPDX-License-Identifier: BSD-3-Clause
"""Two processes of the program over a memif."""
import os
import time

import harness


def begin(live, role, folder, commands, *options):
    p = live([*harness.lcores(1), "-b", *options, "-p", f"memif:role={role},socket={folder}/memif,socket-abstract=no"])
    p.send(commands)
    p.stats()
    return p


def linked(*ends):
    end = time.monotonic() + 60
    while {p.ask("show ports")["ports"][0]["link"] for p in ends} != {"up"}:
        assert time.monotonic() < end, "no link"
        time.sleep(0.02)


def test_jumbo(live, tmp_path):
    """Frames that are longer than the buffers of the rings come whole."""
    datagrams = "set 0 frame eth/ipv4/udp; set 0 request 8000; set 0 response 8972; set 0 flow.verify on"
    server = begin(live, "server", tmp_path, f"set 0 ip 10.0.0.2/24; {datagrams}; set 0 flow server", "--mtu", "9000")
    client = begin(live, "client", tmp_path, f"set 0 ip 10.0.0.1/24; {datagrams}; set 0 flow client; set 0 flow.dst 10.0.0.2; "
                   "set 0 udp.dst 80; set 0 count 20", "--mtu", "9000")
    linked(server, client)
    server.send("set 0 udp.src 80; start 0")
    server.stats()
    client.send("start 0; wait 0")
    flow = client.ask("show flows", 30)["flows"][0]
    assert flow["transactions"]["done"] == flow["segments"]["tx"] == flow["segments"]["rx"] == 20
    assert flow["payload"] == {"tx_bytes": 20 * 8000, "rx_bytes": 20 * 8972} and flow["errors"] == {}
    assert client.ask("show stats")["ports"][0]["rx"]["sizes"]["1523-"] == 20


def test_flow(live, tmp_path):
    """Both ends are hosts, which find each other: neither takes the other's frames for its own. Then connections, of which both count the same."""
    server = begin(live, "server", tmp_path, "set 0 ip 10.0.0.2/24; set 0 flow server")
    assert os.path.exists(tmp_path / "memif")
    client = begin(live, "client", tmp_path, "set 0 ip 10.0.0.1/24; set 0 flow client; set 0 flow.dst 10.0.0.2; set 0 flow.rto 10s; set 0 count 100")
    linked(client, server)
    macs = [p.ask("show ports")["ports"][0]["mac"] for p in (server, client)]
    assert macs == ["02:77:72:00:00:00", "02:77:72:00:01:00"]
    server.send("start 0")
    server.stats()
    client.send("start 0; wait 0")
    ours = client.ask("show flows", 30)["flows"][0]
    server.send("stop 0; wait 0")
    theirs = server.ask("show flows", 30)["flows"][0]
    assert ours["connections"]["opened"] == ours["connections"]["closed"] == theirs["connections"]["closed"] == 100
    assert (ours["segments"]["tx"], ours["segments"]["rx"]) == (theirs["segments"]["rx"], theirs["segments"]["tx"])
    for p in client, server:
        assert p.ask("show host")["ports"][0]["refused"]["own_frame"] == 0
