# SPDX-License-Identifier: BSD-3-Clause
"""dperf itself at the other end of a memif, in both roles, with what one configuration file of dperf says on both sides. DPERF=its program."""
import os
import subprocess
import time

import pytest

import harness
from dperf_peer import DEVICE, MEMORY_MB, Dperf, program

if program() is None:
    pytest.skip("needs dperf: DPERF=path/to/dperf (docs/dperf.md)", allow_module_level=True)

# by family: each end's address, the client's pool and the server's
NET4 = ("10.50.0.1", "10.50.1.1", "10.50.0.11 2", "10.50.1.11 1")
NET6 = ("2001:db8::1", "2001:db8::2", "2001:db8::a:1 2", "2001:db8::b:1 1")
WRONG = ("dropTx", "badRx", "synRt", "finRt", "ackRt", "pushRt", "udpRt", "tcpDrop", "udpDrop", "ackDup", "skCon", "skErr", "httpErr",
         "ierrors", "oerrors", "imissed")
RECEIVED = ("tcpRx", "udpRx", "arpRx", "icmpRx", "otherRx", "badRx")  # each frame is in one of them
SECONDS = 2
CLIENTS = ("cps", "cc", "flood", "client_hop", "fast_close")


def conf(role, shape, six):
    """A file of that role. A line of a shape that is of one role alone begins with its name and a semicolon."""
    own, peer, clients, servers = NET6 if six else NET4
    if set(TUNNEL) <= set(shape):
        own, peer = NET4[:2]
    if role == "server":
        own, peer = peer, own
    lines = [f"mode {role}", f"port {DEVICE} {own} {peer}", f"client {clients}", f"server {servers}"]
    for line in shape:
        whose, _, rest = line.rpartition(";")
        if whose in ("", role) and (role == "client" or rest.split()[0] not in CLIENTS):
            lines.append(rest)
    given = {line.split()[0] for line in lines}
    more = ["wait 1", "slow_start 1", f"duration {SECONDS}s"] if role == "client" else ["duration 1h"]
    lines += [line for line in [*more, "cpu 0", "listen 80 1", "retransmit_timeout 10"] if line.split()[0] not in given]
    return "\n".join(lines) + "\n"


class Ours:
    """The program with the commands that it makes of a file of dperf."""

    def __init__(self, live, folder, text, queues):
        file = folder / "ours.conf"
        file.write_text(text)
        dump = subprocess.run([harness.binary(), "-p", "wire", "--dperf", str(file), "--dperf-dump"], capture_output=True, text=True, check=False)
        assert dump.returncode == 0, dump.stderr
        settings, self.run = dump.stdout.split("\n# the run\n")
        self.flood = "\nset 0 flow " not in settings
        self.socket = f"socket={folder}/memif,socket-abstract=no"
        more = []
        if "\njumbo" in text:
            self.socket += ",bsize=10240"
            more = ["--mtu", "9710"]
        self.live = live([*harness.lcores(queues), "-b", *more, "-p", f"memif:role=server,{self.socket}", "-m",
                          f"[{'/'.join(str(n + 1) for n in range(queues))}].0"])
        for line in settings.splitlines():
            self.live.send(line)
        # reports of what the host listens to: behind options of a hop, and so nothing that dperf knows
        self.live.send(f"capture 0 {folder}/reports.pcapng filter 'ip6 proto 0' tx")
        self.live.stats()
        assert os.path.exists(folder / "memif")

    def linked(self):
        end = time.monotonic() + 60
        while self.live.ask("show ports")["ports"][0]["link"] != "up":
            assert time.monotonic() < end, "the memif has no link"
            time.sleep(0.1)

    def told(self):
        """The flow (of a flood there is none), the port, the host, how many reports it made, and the numbers by dperf's names."""
        docs = {}
        for what in ("stats", "host", "capture", "page dperf") if self.flood else ("flows", "stats", "host", "capture", "page dperf"):
            docs[what] = self.live.ask(f"show {what}")
        return (None if self.flood else docs["flows"]["flows"][0], docs["stats"]["ports"][0], docs["host"],
                docs["capture"]["ports"][0]["accepted"], docs["page dperf"]["dperf"][0]["total"])


def memory_mb(shape, queues):
    """Its pools have 65,536 buffers each, of 11 KB with `jumbo`."""
    return MEMORY_MB * (3 if "jumbo" in shape else queues)


def dperf_client(live, tmp_path, shape, six, queues):
    """dperf asks us: what both tell in the end."""
    ours = Ours(live, tmp_path, conf("server", shape, six), queues)
    with Dperf(str(tmp_path), conf("client", shape, six), f"role=client,{ours.socket}", memory_mb(shape, queues)) as dperf:
        ours.live.send("start 0")
        totals = dperf.totals()
    ours.live.send("stop 0; wait 0")
    return ours.told(), totals


def dperf_server(live, tmp_path, shape, six, queues):
    """We ask dperf."""
    ours = Ours(live, tmp_path, conf("client", shape, six), queues)
    with Dperf(str(tmp_path), conf("server", shape, six), f"role=client,{ours.socket}", memory_mb(shape, queues)) as dperf:
        ours.linked()
        dperf.ready()
        for line in ours.run.splitlines()[1:]:
            if line.startswith(("start", "wait")):
                ours.live.send(line)
        told = ours.told()
        dperf.stop()
        totals = dperf.totals()
    return told, totals


def came(block):
    """Each frame that came here is in one number, and none is odd."""
    assert block["pktRx"] == sum(block[name] for name in RECEIVED), block
    assert (block["otherRx"], block["badRx"], block["dropTx"]) == (0, 0, 0), block


def same_frames(block, totals):
    """What one end has sent by its name is what came at the other."""
    for ours, theirs in (("tcpTx", "tcpRx"), ("udpTx", "udpRx"), ("rstTx", "rstRx"), ("tcpRx", "tcpTx"), ("udpRx", "udpTx"), ("rstRx", "rstTx")):
        assert (block[ours] or 0) == totals.get(theirs, 0), f"{ours} here, {theirs} there: {block} {totals}"
    came(block)


def no_trouble(flow, port, host, reports, block, totals, fine):
    """Nothing went wrong at either end, beside what is fine, and each frame is known for what it was."""
    same_frames(block, totals)
    # those of the time before dperf was there, or counted, are not in it
    assert totals["otherRx"] <= reports
    assert {name: totals[name] for name in WRONG if totals.get(name, 0) != 0 and name not in fine} == {}
    assert {name: n for name, n in flow["errors"].items() if n != 0 and name not in fine} == {}
    segments = flow["segments"]
    assert [segments[what] for what in ("retransmitted", "duplicate", "out_of_order", "bad_checksum")] == [0, 0, 0, 0]
    assert [port[side][what] for side in ("tx", "rx") for what in ("errors", "nombuf")] == [0, 0, 0, 0]
    # it counts a question for a neighbour of IPv6 twice
    rest = totals["pktRx"] - sum(totals[name] for name in ("tcpRx", "udpRx", "arpRx", "otherRx"))
    assert rest <= totals["icmpRx"] <= 2 * rest
    h = host["ports"][0]
    assert port["tx"]["packets"] - segments["tx"] == h["sent"] + sum(h["answered"].values()) - h["dropped"]


def same_tcp(flow, totals):
    """Both ends have counted the same connections, segments and transactions. Returns what else may have been counted."""
    c, t, e = flow["connections"], flow["transactions"], flow["errors"]
    assert (flow["segments"]["tx"], flow["segments"]["rx"]) == (totals["tcpRx"], totals["tcpTx"])
    assert c["opened"] == totals["skOpen"] == totals["skClose"] == c["closed"] + c["reset_by_us"] + c["reset_by_peer"]
    get, done = ("httpGet", "http2XX") if "httpGet" in totals else ("tcpReq", "tcpRsp")
    # a large request of ours is a POST
    assert t["started"] == t["done"] == totals[get] + totals.get("httpPost", 0) == totals[done]
    if flow["role"] == "server" and "httpGet" in totals:
        assert (t["done"] - flow["http"]["post"], flow["http"]["post"]) == (totals["httpGet"], totals["httpPost"])
    # also of clients that close by themselves, with their response or as their run ends: their FIN acknowledges that of dperf
    assert (totals["tcpDrop"], c["aborted"]) == (0, 0)
    resets = c["reset_by_us"] if flow["role"] == "client" else c["reset_by_peer"]
    assert resets == totals["rstRx" if flow["role"] == "client" else "rstTx"] == e.get("rst_sent", 0) + e.get("rst_received", 0)
    return ("rst_sent", "rst_received", "timewait_reused")


def same_udp(flow, totals, size):
    """The same of datagrams. dperf's do not begin with the number of a transaction, so that ours are not known to be answered."""
    assert (flow["segments"]["tx"], flow["segments"]["rx"]) == (totals["udpRx"], totals["udpTx"])
    assert flow["payload"] == {"tx_bytes": size * totals["udpRx"], "rx_bytes": size * totals["udpTx"]}
    assert flow["role"] == "client" or flow["connections"]["opened"] == totals["skOpen"]
    return ("reordered", "late", "skCon")


TUNNEL = ("client;vxlan 7 02:00:00:00:00:01 02:00:00:00:00:02 10.50.0.5 1 10.50.1.5 1",
          "server;vxlan 7 02:00:00:00:00:02 02:00:00:00:00:01 10.50.1.5 1 10.50.0.5 1")
SHAPES = {
    "short": ["cps 1k"],
    "http": ["cps 1k", "protocol http"],
    "keepalive": ["cps 1k", "cc 20", "client;keepalive 100ms", "server;keepalive 10s"],
    "keepalive_0": ["cps 1k", "cc 4", "protocol http", "client;keepalive 0us", "server;keepalive 10s"],
    "requests": ["cps 100", "client;keepalive 10ms 5", "server;keepalive 10s"],
    "fast_close": ["cps 500", "client;fast_close", "server;keepalive 10s"],
    "small": ["cps 500", "payload_size 1"],
    "large_request": ["cps 200", "payload_size 1400"],
    "large_response": ["cps 100", "protocol http", "server;payload_size 20000"],
    "mss": ["cps 100", "protocol http", "server;payload_size 20000", "mss 500"],
    "listen": ["cps 500", "listen 8000 7", "client_port_range 2000 3000"],
    "tos": ["cps 500", "tos 0x28"],
    "post": ["cps 200", "protocol http", "client;http_method POST"],
    "udp": ["cps 500", "protocol udp", "payload_size 64"],
    "udp_keepalive": ["cps 500", "cc 10", "protocol udp", "payload_size 1000", "client;keepalive 500ms", "server;keepalive 10s"],
    "udp_pipeline": ["cps 500", "cc 4", "protocol udp", "client;keepalive 0us", "client;pipeline 8", "server;keepalive 10s", "payload_size 64"],
    "jumbo": ["cps 200", "jumbo", "payload_size 5000"],
    "jumbo_udp": ["cps 200", "protocol udp", "jumbo", "payload_size 8000"],
    "vlan": ["cps 500", "vlan 7"],
    "vlan_udp": ["cps 500", "vlan 4094", "protocol udp", "payload_size 64"],
    "vxlan": ["cps 500", *TUNNEL],
    "rss": ["cps 500", "cpu 0-1", "rss"],
    "vxlan_udp": ["cps 500", "protocol udp", *TUNNEL, "payload_size 64"],
    "ip6": ["cps 500"],
    "ip6_vxlan": ["cps 500", *TUNNEL],
    "ip6_udp": ["cps 500", "protocol udp", "payload_size 64"],
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("role", [dperf_client, dperf_server], ids=["dperf_client", "dperf_server"])
def test_shape(live, tmp_path, role, shape):
    what = SHAPES[shape]
    told, totals = role(live, tmp_path, what, shape.startswith("ip6"), 2 if "rss" in what else 1)
    print(told[0], totals)
    assert told[0]["connections"]["opened"] == told[0]["connections"]["established"] > 0 == told[0]["connections"]["open"]
    if "protocol udp" in what:
        fine = same_udp(told[0], totals, int(what[-1].split()[1]) if what[-1].startswith("payload") else 1000)
    else:
        fine = same_tcp(told[0], totals)
    no_trouble(*told, totals, fine)
    seen = told[0]["segments"]["rx"] if shape == "tos" else 0
    assert told[0]["segments"]["same_tos"] == seen
    if not shape.startswith("ip6"):  # of IPv6 dperf counts all frames: it looks at the version as well
        assert totals["tosRx"] == (totals["tcpRx"] if shape == "tos" else 0)
    assert shape != "post" or totals["httpPost"] == told[0]["transactions"]["done"]


UDP = ["cps 500", "protocol udp"]
HTTP = ["cps 500", "protocol http"]
FILES = {
    "udp_server": (dperf_server, [*UDP, "client;payload_file {}", "server;payload_size 64"], b"a\0question"),
    "udp_client": (dperf_client, [*UDP, "client;payload_size 64", "server;payload_file {}"], b"an\0answer"),
    "http_server": (dperf_server, [*HTTP, "client;payload_file {}"], b"GET /of/ours HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"),
    "http_kept": (dperf_server, [*HTTP, "client;payload_file {}"], b"GET /of/ours HTTP/1.1\r\nHost: h\r\n\r\n"),
    "http_client": (dperf_client, [*HTTP, "server;payload_file {}"], b"HTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 3\r\n\r\nabc"),
}


@pytest.mark.parametrize("shape", FILES)
def test_file(live, tmp_path, shape):
    """A file at our end: nothing is added to it, so that over UDP, too, each answer of dperf is one."""
    role, what, content = FILES[shape]
    (tmp_path / "file").write_bytes(content)
    (flow, *_), totals = role(live, tmp_path, [line.format(tmp_path / "file") for line in what], False, 1)
    print(flow, totals)
    done = flow["transactions"]["done"]
    assert done == flow["transactions"]["started"] > 0 and flow["payload"]["tx_bytes"] == done * len(content)
    if "udp" in shape:
        assert done == totals["udpRx"] == totals["udpTx"] and not set(flow["errors"]) & {"late", "lost", "reordered", "duplicated"}
    else:
        assert done == totals["httpGet"] == totals["http2XX"] and totals["httpErr"] == 0 == totals["tcpDrop"]
        assert flow["connections"]["closed"] == flow["connections"]["opened"]


NOBODY = ["cps 500", "client;listen 81 1", "server;listen 80 1"]


def test_refused_here(live, tmp_path):
    """dperf asks for a port on which our server does not listen: the port's host resets each of its connections, and counts what dperf does."""
    (flow, _, told, _, block), totals = dperf_client(live, tmp_path, NOBODY, False, 1)
    print(told, totals)
    assert totals["skOpen"] == totals["skClose"] == totals["rstRx"] == told["ports"][0]["answered"]["reset"] > 0
    assert totals["synTx"] == totals["tcpTx"] == totals["tcpRx"] == totals["skOpen"] and totals["synRt"] == 0
    assert flow["connections"]["opened"] == 0 == told["ports"][0]["refused"]["checksum"]
    # RSTs of no connection are in no tcpTx, here as in dperf
    assert (block["tcpRx"], block["rstTx"]) == (totals["tcpTx"], totals["rstRx"])
    assert (block["tcpTx"], block["tcpDrop"], block["skOpen"]) == (0, 0, 0)
    came(block)


def test_refused(live, tmp_path):
    """Nobody listens on the port that is asked for: a RST for each SYN, at once."""
    (flow, *_), totals = dperf_server(live, tmp_path, NOBODY, False, 1)
    n = flow["connections"]["opened"]
    assert flow["connections"]["refused"] == flow["segments"]["tx"] == flow["segments"]["rx"] == flow["errors"]["rst_received"] == n > 0
    assert totals["tcpRx"] == n and totals["skOpen"] == 0


# by shape: the file's lines, what of dperf's counts is as many as the frames that we sent, beside those that it received, and how many
# connections are open while its client runs, where each frame does not open and close one. The interval is long: dperf never pauses any
# more once it was late by three of them
FLOODS = {
    "syn": (["cps 500", "flood"], ("synRx", "skOpen", "synTx", "tcpTx"), 0),
    "syn_ip6": (["cps 500", "flood"], ("synRx", "skOpen", "synTx", "tcpTx"), 0),
    "syn_vlan": (["cps 500", "flood", "vlan 7"], ("synRx", "skOpen", "synTx", "tcpTx"), 0),
    "syn_elsewhere": (["cps 500", "flood", "client;change_dip 10.50.2.1 1 50"], ("rstTx",), 0),
    "udp": (["cps 500", "flood", "protocol udp", "payload_size 64"], ("udpTx",), 0),
    "udp_ip6": (["cps 500", "flood", "protocol udp", "payload_size 64"], ("udpTx",), 0),
    "udp_keepalive": (["cps 500", "cc 10", "flood", "protocol udp", "payload_size 900", "client;keepalive 1s", "server;keepalive 10s"],
                      ("udpTx",), 10),
    "udp_vlan": (["cps 500", "flood", "protocol udp", "payload_size 64", "vlan 7"], ("udpTx",), 0),
    "elephant": (["cps 1", "cc 1", "flood", "protocol udp", "payload_size 64", "client;keepalive 1s", "server;keepalive 10s"], ("udpTx",), 1),
}


def flood_connections(client, udp, held):
    """What a client that floods says of its connections, be it dperf or this program."""
    sent = client["udpTx" if udp else "synTx"]
    opened, closed = (held, 0 if udp else held) if held else (sent, sent)
    assert (client["skOpen"], client["skClose"], client["skCon"], client["skErr"]) == (opened, closed, opened - closed, 0)


@pytest.mark.parametrize("shape", [shape for shape in FLOODS if shape != "syn_elsewhere"])
def test_flood(live, tmp_path, shape):
    """What dperf sends without waiting for answers is received whole, and answered: SYNs open connections that come to nothing."""
    what, _, held = FLOODS[shape]
    udp = "protocol udp" in what
    (flow, *_, block), totals = dperf_client(live, tmp_path, what, shape.endswith("ip6"), 1)
    print(flow, totals, block)
    sent = totals["udpTx" if udp else "synTx"]
    opened = held or sent
    assert flow["segments"]["rx"] == sent > 0
    assert flow["connections"]["opened"] == block["skOpen"] == opened and flow["connections"]["established"] == (opened if udp else 0)
    assert totals["udpRx" if udp else "synRx"] >= sent
    flood_connections(totals, udp, held)
    # SYN-ACKs are sent again when dperf is not there any more
    assert block["udpRx" if udp else "tcpRx"] == sent and (not udp or block["udpTx"] == totals["udpRx"])
    came(block)


@pytest.mark.parametrize("shape", FLOODS)
def test_flood_of_ours(live, tmp_path, shape):
    """What we send without waiting for answers is received whole by dperf, each frame is what its file says, and each of its answers comes
    here, where nobody answers it. Our numbers are those that dperf has as a client."""
    what, counts, held = FLOODS[shape]
    udp = "protocol udp" in what
    (_, port, host, reports, block), totals = dperf_server(live, tmp_path, what, shape.endswith("ip6"), 1)
    print(port, totals, block)
    sent, h = port["run"]["sent"], host["ports"][0]
    assert sent > 0
    assert totals["udpRx" if udp else "tcpRx"] == sent
    assert {name: totals[name] for name in counts} == dict.fromkeys(counts, sent)
    assert {name: totals[name] for name in WRONG if totals.get(name, 0) != 0 and name not in ("skCon", "synRt")} == {}
    assert totals.get("rstRx", 0) == totals.get("finRx", 0) == 0 and totals["otherRx"] <= reports
    assert port["tx"]["packets"] == sent + h["sent"] + sum(h["answered"].values()) - h["dropped"]
    assert [port[side][what] for side in ("tx", "rx") for what in ("errors", "nombuf")] == [0, 0, 0, 0]
    assert port["rx"]["packets"] >= sent
    flood_connections(block, udp, held)
    # its RSTs of no connection are in its rstTx alone
    back = totals["udpTx" if udp else "tcpTx"] + totals.get("rstTx", 0)
    assert (block["udpTx" if udp else "tcpTx"], block["udpRx" if udp else "tcpRx"]) == (sent, back)
    came(block)
