# SPDX-License-Identifier: BSD-3-Clause
"""What comes to a port of a file of dperf is in exactly one of dperf's numbers, whatever it is; and what these say of a flood."""
import json
import subprocess
import sys

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw

import harness

MAC, PEER = "02:00:00:00:00:99", "10.50.0.99"
RECEIVED = ("tcpRx", "udpRx", "arpRx", "icmpRx", "otherRx", "badRx")
SERVER = f"""mode server
cpu 1
port 0000:00:10.1 10.50.1.1 10.50.0.1 {MAC}
client 10.50.0.11 20
server 10.50.1.11 2
listen 80 1
"""
# Sends each frame of lines "NUMBER HEX" so often, slowly enough for any machine.
SEND = """
import socket, sys, time
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
s.bind((sys.argv[1], 0))
for line in sys.stdin:
    n, frame = line.split()
    for _ in range(int(n)):
        s.send(bytes.fromhex(frame).ljust(60, bytes(1)))
        time.sleep(0.001)
"""


def wrong(frame, layer):
    """The same with a checksum that is not right."""
    frame = type(frame)(bytes(frame))
    frame[layer].chksum ^= 0x1111
    return frame


def frames_of(port):
    """(how many, frame, the number that counts it and other numbers that it is in)."""
    def ip(dst="10.50.1.11", **of):
        return Ether(dst=port, src=MAC) / IP(src=PEER, dst=dst, **of)
    ack, syn = TCP(sport=1000, dport=80, flags="A"), TCP(sport=1001, dport=81, flags="S")
    ping = Ether(dst=port, src=MAC) / IP(src=PEER, dst="10.50.1.1") / ICMP()
    short = ip() / ack
    short[IP].len = 400
    far = ip("10.77.0.1") / ack
    far[IP].len = 400
    return [
        (3, Ether(dst="ff:ff:ff:ff:ff:ff", src=MAC) / ARP(hwsrc=MAC, psrc=PEER, pdst="10.50.1.1"), "arpRx", "arpTx"),
        (2, Ether(dst="ff:ff:ff:ff:ff:ff", src=MAC) / ARP(hwsrc=MAC, psrc=PEER, pdst="10.77.0.1"), "arpRx"),
        (4, ping, "icmpRx", "icmpTx"),
        (2, ip("10.77.0.1") / ICMP(), "icmpRx"),
        (7, ip() / UDP(sport=1000, dport=80) / Raw(b"x" * 30), "udpRx", "udpDrop"),
        (5, ip() / ack, "tcpRx", "rstTx"),  # of no connection: told so
        (3, ip() / syn, "tcpRx", "rstTx"),  # nobody listens: told so, by the host
        (2, ip() / TCP(sport=1000, dport=80, flags="R"), "tcpRx", "tcpDrop"),
        (6, ip("10.77.0.1") / ack, "tcpRx", "tcpDrop"),
        (8, wrong(ip() / ack, TCP), "badRx"),
        (9, wrong(ip("10.77.0.1") / ack, TCP), "badRx"),
        (2, wrong(ip("10.77.0.1") / UDP(sport=1, dport=2) / Raw(b"abc"), UDP), "badRx"),
        (3, wrong(ip() / ack, IP), "badRx"),
        (3, wrong(ping, ICMP), "badRx"),
        (2, ip(flags="MF") / ack, "badRx"),  # fragments
        (3, ip(frag=2) / Raw(b"y" * 40), "badRx"),
        (4, Ether(dst=port, src=MAC, type=0x88cc) / Raw(b"z" * 50), "otherRx"),
        (2, ip(proto=132) / Raw(b"s" * 40), "otherRx"),
        (2, short, "badRx"),
        (3, far, "badRx"),
    ]


def dumped(folder, files):
    """The settings of a dump, and the commands of its run."""
    names = []
    for i, text in enumerate(files):
        (folder / f"{i}.conf").write_text(text)
        names += ["--dperf", str(folder / f"{i}.conf")]
    done = subprocess.run([harness.binary(), *names, "--dperf-dump"], capture_output=True, text=True, check=True)
    settings, run = done.stdout.split("\n# the run\n")
    (folder / "load.cmd").write_text(settings)
    return run


@pytest.fixture
def server(veth, live, tmp_path):
    """A server of dperf that runs, its port's MAC, and what sends it frames."""
    dumped(tmp_path, [SERVER])
    p = live(["--no-screen", "-p", f"packet:{veth.a}"], prefix=veth.prefix)
    for line in (f"load {tmp_path}/load.cmd", "start 0"):
        p.send(line)
    # the address is asked for before it is used
    p.until(lambda ports: {a["state"] for h in p.ask("show host")["ports"] for a in h["addresses"]} == {"used"}, 30)
    p.send("clear 0")

    def send(frames):
        subprocess.run([*veth.prefix, sys.executable, "-c", SEND, veth.b], input="".join(f"{n} {bytes(f).hex()}\n" for n, f in frames), text=True,
                       check=True)
    return p, p.ask("show ports")["ports"][0]["mac"], send


def test_each_frame_is_in_one_number(server):
    p, port, send = server
    frames = frames_of(port)
    send((n, f) for n, f, *_ in frames)
    want = dict.fromkeys((*RECEIVED, "tcpDrop", "udpDrop", "rstTx", "arpTx", "icmpTx"), 0)
    for n, _, *names in frames:
        for name in names:
            want[name] += n
    p.until(lambda ports: ports[0]["rx"]["packets"] >= sum(n for n, *_ in frames), 30)
    block = p.ask("show page dperf")["dperf"][0]
    told = block["total"]
    # the host may have announced its address or asked for its gateway again since
    assert told["arpTx"] >= want.pop("arpTx") and {name: told[name] for name in want} == want
    assert told["pktRx"] == sum(told[name] for name in RECEIVED) == sum(n for n, *_ in frames)
    assert told["errors"] == {} and told["skOpen"] == 0 and block["role"] == "server"
    # clear begins them anew
    unclaimed = p.ask("show unclaimed 0")["ports"][0]
    assert {k: unclaimed[k] for k in ("tcp", "udp", "icmp", "arp", "fragments", "other")} == \
        {"tcp": 6, "udp": 7, "icmp": 2, "arp": 0, "fragments": 3, "other": 6}
    p.send("clear 0")
    told = p.ask("show page dperf")["dperf"][0]["total"]
    assert {name: told[name] for name in want} == dict.fromkeys(want, 0)


def test_what_a_dead_server_would_send_has_not_been_received(server):
    p, port, send = server
    syn = Ether(dst=port, src=MAC) / IP(src="10.50.0.11", dst="10.50.1.11") / TCP(sport=1000, dport=80, flags="S")
    send([(1, syn)])
    p.until(lambda ports: p.ask("show flows")["flows"][0]["connections"]["opening"] == 1, 30)
    p.send("set 0 flow.dead 10.50.1.11")
    # its SYN-ACK is due again, and vanishes
    p.until(lambda ports: any(s["dead"] > 0 for s in p.ask("show flows")["strays"]), 30)
    told = p.ask("show page dperf")["dperf"][0]["total"]
    assert told["otherRx"] == 0 and told["pktRx"] == sum(told[name] for name in RECEIVED) > 0


CLIENT = """mode client
cpu 1
wait 1
slow_start 0
duration 1s
port 0000:00:10.0 10.50.0.1 10.50.1.1 02:00:00:00:00:01
client 10.50.0.11 20
server 10.50.1.11 2
listen 80 1
flood
"""


@pytest.mark.parametrize("lines, held, closed", [("protocol udp\ncps 5k\ncc 40\nkeepalive 10ms\n", 40, 0),
                                                 ("protocol udp\ncps 1k\n", 0, None),
                                                 ("cps 5k\ncc 30\nkeepalive 10ms\n", 30, 30)], ids=["udp-keepalive", "udp", "syn-keepalive"])
def test_a_flood(run, tmp_path, lines, held, closed):
    """Its connections, and what comes back from a server."""
    (tmp_path / "c.conf").write_text(CLIENT + lines)
    udp = "udp" in lines
    (tmp_path / "s.conf").write_text(SERVER + ("protocol udp\n" if udp else ""))
    files = [arg for name in ("c", "s") for arg in ("--dperf", str(tmp_path / f"{name}.conf"))]
    done = run(["-p", "wire", "-b", "--json", *files, "-e", "set all catchup keep"])
    assert done.returncode == 0, done.stderr
    client, server = (b["total"] for b in sorted(json.loads(done.stdout.splitlines()[-1])["dperf"], key=lambda b: b["role"]))
    sent = client["udpTx" if udp else "tcpTx"]
    assert sent > 0 and client["pktRx"] == sum(client[name] for name in RECEIVED)
    assert (client["skOpen"], client["skClose"], client["skErr"]) == (held or sent, sent if closed is None else closed, 0)
    assert client["skCon"] == client["skOpen"] - client["skClose"]
    back = "udpRx" if udp else "tcpRx"
    assert client[back] == server["udpTx" if udp else "tcpTx"] > 0 and client["badRx"] == client["otherRx"] == 0
    assert client["tcpDrop" if udp else "udpDrop"] == 0 and client["udpDrop" if udp else "tcpDrop"] is None
    if udp:
        assert client["udpRt"] == 0 and server["skOpen"] <= 20 * 2 * 65535


def test_what_came_before(run):
    """A port that begins to count what nothing takes when frames have come already says how many, and they are in none of dperf's numbers."""
    def told(between):
        done = run(["-p", "wire", "-b", "--json", "-e", f"set 0 count 10; set 1 count 7; start 1; wait 1; set 0 unclaimed on; {between}"
                    "start all; wait all; show unclaimed 0; show page dperf"])
        assert done.returncode == 0, done.stderr
        *early, shown, page = (json.loads(line) for line in done.stdout.splitlines() if '"show"' in line or '"page"' in line)
        assert all(doc["ports"][0]["before"] == 7 and doc["ports"][0]["udp"] == 0 for doc in early)
        block = page["dperf"][0]["total"]
        return shown["ports"][0]["before"], shown["ports"][0]["udp"], block["pktRx"], block["otherRx"]
    # port 1, of the same side, does not count at all: of its 10 nobody knows what they are
    assert told("") == told("show unclaimed 0; ") == (7, 7, 10 + 7, None)
    assert told("clear all; ") == (0, 7, 10 + 7, None)
    assert told("set 1 unclaimed on; ") == (7, 7, 10 + 7, 0)
    assert told("set 1 unclaimed on; clear all; ") == (0, 7, 10 + 7, 0)
    assert told("set 0 unclaimed off; start 1; wait 1; set 0-1 unclaimed on; ") == (14, 7, 10 + 7, 0)
