# SPDX-License-Identifier: BSD-3-Clause
"""Ports by AF_PACKET, on a veth pair whose ends leave checksums and segments to each other, as they do by default; judged by the kernel there."""
import subprocess
import sys

import pytest

from harness import Tcpdump, Veth, documents, good, lcores, tshark
from test_host_linux import until
from test_tap import confirmed, ping, queues, served

SEND = """
import socket, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("wrb", 0))
for frame in sys.argv[1:]:
    s.send(bytes.fromhex(frame))
"""


@pytest.fixture
def net(namespaces):
    v = Veth(offloads=True)
    yield v
    v.remove()


def host(net, live, *args):
    """A program that is a host at 10.0.0.1, and Linux at 10.0.0.2."""
    net.do("ip", "addr", "add", "10.0.0.2/24", "dev", net.b)
    eal = args[:args.index("--")] + ("--",) if "--" in args else ()
    p = live([*eal, "-p", f"packet:{net.a}", "--ip", "10.0.0.1/24", *args[len(eal):]], prefix=net.prefix)
    p.stats()
    return p


def counted(net, p):
    """All that the kernel's end has sent was received."""
    port = p.stats()[0]
    assert port["rx"]["missed"] == port["rx"]["nombuf"] == port["rx"]["errors"] == 0
    return port["nic"]["rx"]["packets"] == port["rx"]["packets"]


def send(net, *frames):
    subprocess.run([*net.prefix, sys.executable, "-c", SEND, *[bytes(f).hex() for f in frames]], check=True)


@pytest.mark.parametrize("verify", [False, True], ids=["taken", "compared"])
def test_super_frames_from_the_kernel(net, live, tmp_path, verify):
    """They count as what they were made of, and their content is right; a capture has them as they came, whole."""
    p = host(net, live)
    p.send(f"capture 0 {tmp_path}/x.pcapng rx")
    f = served(net, p, verify)
    assert f["segments"]["bad_checksum"] == 0 and f["segments"]["unverified"] > 0 and f["payload"]["rx_bytes"] >= 9000000
    assert f["segments"]["rx"] >= 9000000 / 1460 > p.stats()[0]["rx"]["packets"]
    until(lambda: counted(net, p), "the frames", p)
    p.send("capture stop")
    assert p.ask("show capture", 30)["ports"][0]["state"] == "done"
    rows = tshark(tmp_path / "x.pcapng", "tcp.len > 0", "frame.len", "frame.cap_len", "ip.len", "tcp.stream", "tcp.nxtseq")
    assert max(int(r[0]) for r in rows) > 1514 and all(r[0] == r[1] and int(r[0]) == int(r[2]) + 14 for r in rows)
    ends = {stream: max(int(r[4]) for r in rows if r[3] == stream) for stream in {r[3] for r in rows}}
    assert len(ends) == 3 and all(end > 3000000 for end in ends.values())
    assert p.quit()[0] == 0


@pytest.mark.parametrize("whole", [True, False], ids=["as they are", "cut"])
def test_super_frames_to_the_kernel(net, live, tmp_path, need, whole):
    """The kernel at the other end takes them as they are; where the interface cuts nothing and completes nothing, our own kernel does both."""
    need("tcpdump")
    if not whole:
        net.do("ethtool", "-K", net.a, "tx", "off")
    p = host(net, live)
    dump = Tcpdump(net, tmp_path / "t.pcap", both=True)
    f = served(net, p)
    dump.stop()
    port, notes = p.stats()[0], " ".join(p.ask("show ports")["ports"][0]["notes"])
    rows = tshark(dump.path, "ip.src == 10.0.0.1 && tcp.len > 0", "frame.len", "tcp.len", "tcp.checksum.status")
    assert sum(int(r[1]) for r in rows) >= f["payload"]["tx_bytes"]
    assert port["nic"]["unconfirmed"] == port["tx"]["errors"] == 0 and "this host has sent" not in notes
    assert f["segments"]["tx"] >= 9000000 / 1460 > port["tx"]["packets"]
    if whole:
        assert max(int(r[0]) for r in rows) > 1514 and "queueing discipline" not in notes
    else:
        assert max(int(r[0]) for r in rows) == 1514 and {r[2] for r in rows} == {"1"} and "queueing discipline" in notes
    assert "tcp_tso" in p.ask("show ports")["ports"][0]["offloads"] and p.quit()[0] == 0


def test_frames_longer_than_the_ring_has_room_for(net, live, tmp_path):
    """The interface has got a larger MTU than the port was opened with: a capture has them whole."""
    p = host(net, live)
    for end in net.a, net.b:
        net.do("ip", "link", "set", end, "mtu", "9000")
    net.do("ip", "neigh", "replace", "10.0.0.9", "lladdr", "02:00:00:00:00:09", "dev", net.b)
    p.send(f"capture 0 {tmp_path}/x.pcapng rx")

    def ping(times, size):
        subprocess.run([*net.prefix, "ping", "-c", times, "-i", "0.2", "-W", "0.3", "-s", size, "10.0.0.9"], stdout=subprocess.PIPE)

    def captures():
        """A worker that sleeps takes the command when it wakes."""
        ping("1", "8")
        return p.ask("show capture")["ports"][0]["seen"] > 0
    until(captures, "a frame in the capture", p)
    ping("3", "8000")
    until(lambda: p.stats()[0]["rx"]["sizes"]["1523-"] >= 3 and counted(net, p), "frames", p)
    p.send("capture stop")
    assert p.ask("show capture", 30)["ports"][0]["state"] == "done"
    assert tshark(tmp_path / "x.pcapng", "ip.dst == 10.0.0.9 && frame.len > 100", "frame.len", "icmp.checksum.status") == [["8042", "1"]] * 3
    assert p.quit()[0] == 0


def test_tags_and_fragments_come_as_they_were_sent(net, live, tmp_path):
    from scapy.all import IP, UDP, Dot1AD, Dot1Q, Ether, Raw, fragment, rdpcap
    head = Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02")
    body = IP(src="10.0.0.2", dst="10.0.0.1") / UDP(dport=9) / Raw(b"x" * 50)
    long = IP(src="10.0.0.2", dst="10.0.0.1", id=7) / UDP(dport=9) / Raw(b"y" * 3000)
    frames = [head / Dot1Q(vlan=5, prio=3) / body, head / Dot1AD(vlan=6) / Dot1Q(vlan=7) / body, head / Dot1AD(vlan=8) / body,
              *(head / part for part in fragment(long, 1400))]
    p = live([*lcores(3), "-p", f"packet:{net.a}", "-m", "1-2.0"], prefix=net.prefix)
    p.send(f"capture 0 {tmp_path}/x.pcap rx")
    p.stats()
    send(net, *frames)
    until(lambda: p.stats()[0]["rx"]["packets"] == len(frames), "the frames", p)
    p.send("capture stop")
    assert p.ask("show capture", 30)["ports"][0]["state"] == "done"
    assert sorted(bytes(f) for f in rdpcap(str(tmp_path / "x.pcap"))) == sorted(bytes(f) for f in frames)
    assert p.quit()[0] == 0


def test_queues_that_only_send_are_given_nothing(net, live):
    p = host(net, live, *lcores(3), "-m", "1:1-3.0")
    for _ in range(8):
        assert "1 received" in ping(net, "-c", "1")
    port = p.stats()[0]
    assert port["rx"]["missed"] == 0 and [("tx" in q, "rx" in q) for q in port["queues"]] == [(True, True), (True, False), (True, False)]
    assert p.quit()[0] == 0


def test_several_queues_share_what_comes(net, live):
    """The kernel gives the frames of a flow to one of them."""
    from scapy.all import IP, UDP, Ether
    p = live(["-p", f"packet:{net.a}", "-m", "1.0*4"], prefix=net.prefix)
    p.stats()
    send(net, *(Ether(dst="02:00:00:00:00:01") / IP(src=f"10.0.0.{n}", dst="10.0.1.1") / UDP(sport=n) for n in range(1, 65)))
    until(lambda: p.stats()[0]["rx"]["packets"] == 64, "the frames", p)
    assert sum(rx for _, rx in queues(p).values()) == 64 and all(rx > 0 for _, rx in queues(p).values())
    assert p.quit()[0] == 0


def test_down_and_up_again(net, live):
    """While it is down frames wait; none is counted that the kernel has not had."""
    p = live(["-p", f"packet:{net.a}"], prefix=net.prefix)
    p.send("set 0 eth.dst 02:00:00:00:00:01; set 0 rate 1kpps; start 0")
    p.more(100)
    net.do("ip", "link", "set", net.a, "down")
    p.until(lambda ports: ports[0]["link"] == "down", 20)
    p.until(lambda ports: ports[0]["tx"]["stalls"] > 0, 20)
    had = p.stats()[0]["tx"]["packets"]
    assert p.stats()[0]["tx"]["packets"] == had
    net.do("ip", "link", "set", net.a, "up")
    p.until(lambda ports: ports[0]["link"] == "up", 20)
    p.more(100)
    p.send("stop 0; wait 0")
    until(lambda: confirmed(p.stats()[0]), "frames", p)
    assert p.quit()[0] == 0


def test_frames_that_the_kernel_refuses_are_errors(net, live):
    """Somebody has made the MTU of the interface smaller than our frames."""
    p = live(["-p", f"packet:{net.a}"], prefix=net.prefix)
    net.do("ip", "link", "set", net.b, "mtu", "3000")
    p.send("set 0 mtu 3000; set 0 eth.dst 02:00:00:00:00:01; set 0 size 3018; set 0 rate 1kpps; start 0")
    p.more(100)
    assert p.stats()[0]["tx"]["errors"] == 0
    net.do("ip", "link", "set", net.a, "mtu", "1500")
    p.until(lambda ports: ports[0]["tx"]["errors"] > 100, 20)
    p.send("stop 0; wait 0")
    port = p.stats()[0]
    assert port["tx"]["errors"] == port["nic"]["unconfirmed"] == p.ask("show xstats 0")["ports"][0]["xstats"]["tx_rejected"]
    assert p.quit()[0] == 0


def test_frames_that_the_other_end_does_not_take_hold_up_no_others(net, live):
    """Its MTU is smaller than every other frame."""
    net.do("ip", "link", "set", net.a, "mtu", "3000")
    before = net.packets(net.b, "rx")
    p = live(["-p", f"packet:{net.a}"], prefix=net.prefix)
    p.ask("stream add 0 1")
    p.send("set 0/0-1 eth.dst 02:00:00:00:00:01; set 0/0 size 3000; set 0/1 size 64; set 0 rate 2kpps; set 0 count 2000; start 0; wait 0")
    port = p.stats(60)[0]
    assert port["tx"]["packets"] == 2000 and port["nic"]["unconfirmed"] == 1000
    assert port["nic"]["tx"]["packets"] == net.packets(net.b, "rx") - before == 1000
    assert p.ask("show xstats 0")["ports"][0]["xstats"]["tx_lost"] == 1000 and p.quit()[0] == 0


@pytest.mark.parametrize("used", [False, True], ids=["unused", "used"])
def test_if_says_what_it_has_chosen_and_why(net, used):
    if used:
        net.do("ip", "addr", "add", "10.9.0.1/24", "dev", net.a)
    r = good(["--json", "-p", f"if:{net.a}", "show", "ports"], prefix=net.prefix)
    port = documents(r)[0]["ports"][0]
    said = [n for n in port["notes"] if "was chosen" in n]
    assert port["driver"] == ("af_packet" if used else "net_af_xdp") and len(said) == 1
    assert f"port 0 (if:{net.a}): {said[0]}\n" in r.stderr
    assert ("AF_PACKET was chosen" in said[0] and "carries the address 10.9.0.1" in said[0]) if used \
        else ("AF_XDP was chosen" in said[0] and f"nothing on this host uses {net.a}" in said[0])
