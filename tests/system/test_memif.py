# SPDX-License-Identifier: BSD-3-Clause
"""Two processes of the program over a memif."""
import os
import time

import harness


def begin(live, role, folder, commands):
    p = live([*harness.lcores(1), "-b", "-p", f"memif:role={role},socket={folder}/memif,socket-abstract=no"])
    p.send(commands)
    p.stats()
    return p


def test_flow(live, tmp_path):
    """Both ends are hosts, which find each other: neither takes the other's frames for its own. Then connections, of which both count the same."""
    server = begin(live, "server", tmp_path, "set 0 ip 10.0.0.2/24; set 0 flow server")
    assert os.path.exists(tmp_path / "memif")
    client = begin(live, "client", tmp_path, "set 0 ip 10.0.0.1/24; set 0 flow client; set 0 flow.dst 10.0.0.2; set 0 flow.rto 10s; set 0 count 100")
    end = time.monotonic() + 20
    while {p.ask("show ports")["ports"][0]["link"] for p in (client, server)} != {"up"}:
        assert time.monotonic() < end, "no link"
        time.sleep(0.02)
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
