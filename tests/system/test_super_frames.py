# SPDX-License-Identifier: BSD-3-Clause
"""Super-frames that carry VLAN tags, and super-frames of UDP: what the kernel of this machine gives as one frame counts as what a network would have
carried, and what flows give it is taken or cut right. No device for VLANs is needed: a socket of AF_PACKET at the kernel's end, with a virtio-net
header (PACKET_VNET_HDR), sends and receives them as a kernel's own would be."""
import json
import select
import socket
import struct
import subprocess
import sys

import pytest

from test_flows import idle
from test_host_linux import Link, need_tap, until

SOL_PACKET, PACKET_AUXDATA, PACKET_VNET_HDR, ETH_P_ALL = 263, 8, 15, 3
VNET = struct.Struct("<BBHHHH")  # flags, gso_type, hdr_len, gso_size, csum_start, csum_offset
NEEDS_CSUM, GSO_TCP4, GSO_UDP = 1, 1, 5
AUX = struct.Struct("IIIHHHH")  # status, len, snaplen, mac, net, vlan_tci, vlan_tpid
VLAN_VALID = 1 << 4
FIN, SYN, PSH, ACK = 1, 2, 8, 16
OWN, PEER, SEGMENT = "10.0.0.1", "10.0.0.2", 1400
REQUEST, RESPONSE = 30000, 60000
TAGS = {1: [(0x8100, 7)], 2: [(0x88a8, 9), (0x8100, 7)]}
SETTINGS = {1: ["set 0 frame eth/vlan/ipv4/{l4}"], 2: ["set 0 frame eth/qinq/vlan/ipv4/{l4}", "set 0 qinq.vid 9"]}


# ---- the kernel's end: run by itself in the namespace ----

def folded(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total


class Wire:
    """Packets of one connection, in the frames of an interface."""

    def __init__(self, dev, tags, protocol):
        self.tags, self.protocol, self.tcp = TAGS[tags], protocol, protocol == 6
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        for option in PACKET_VNET_HDR, PACKET_AUXDATA:
            self.sock.setsockopt(SOL_PACKET, option, 1)
        self.sock.setsockopt(socket.SOL_SOCKET, 33, 1 << 24)  # SO_RCVBUFFORCE
        self.sock.bind((dev, ETH_P_ALL))
        self.frames = self.sent = self.got = self.supers = self.wrong = self.longest = 0

    def pseudo(self, length, back=False):
        ends = [socket.inet_aton(PEER), socket.inet_aton(OWN)]
        return b"".join(reversed(ends) if back else ends) + struct.pack("!HH", self.protocol, length)

    def send(self, l4, headers, segment):
        """TCP or UDP behind a checksum that is only begun. Payload beyond a segment goes as one frame."""
        eth = bytes.fromhex("020000000001020000000002") + b"".join(struct.pack("!HH", *t) for t in self.tags) + b"\x08\0"
        ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(l4), 1, 0x4000, 64, self.protocol, 0, socket.inet_aton(PEER), socket.inet_aton(OWN))
        ip = ip[:10] + struct.pack("!H", ~folded(ip) & 0xffff) + ip[12:]
        at = 16 if self.tcp else 6
        l4 = l4[:at] + struct.pack("!H", folded(self.pseudo(len(l4)))) + l4[at + 2:]
        payload, start = len(l4) - headers, len(eth) + 20
        gso = (GSO_TCP4 if self.tcp else GSO_UDP) if payload > segment else 0
        self.sock.send(VNET.pack(NEEDS_CSUM, gso, start + headers if gso else 0, segment if gso else 0, start, at) + eth + ip + l4)
        self.frames += 1
        self.sent += max(1, -(-payload // segment))

    def receive(self):
        """What follows the IP header of a frame from the other end, which counts; None: it is of somebody else."""
        data, control, _, address = self.sock.recvmsg(1 << 17, 256)
        if address[2] == 4:  # PACKET_OUTGOING
            return None
        flags, gso, _, size, _, _ = VNET.unpack_from(data)
        frame = data[VNET.size:]
        for _, _, aux in control:
            status, _, _, _, _, tci, tpid = AUX.unpack_from(aux)
            if status & VLAN_VALID:
                frame = frame[:12] + struct.pack("!HH", tpid, tci) + frame[12:]
        at = 12 + 4 * len(self.tags)
        if frame[12:at] != b"".join(struct.pack("!HH", *t) for t in self.tags) or frame[at:at + 2] != b"\x08\0":
            return None
        ip = frame[at + 2:]
        packet = ip[20:struct.unpack_from("!H", ip, 2)[0]]
        payload = len(packet) - ((packet[12] >> 4) * 4 if self.tcp else 8)
        self.got += -(-payload // size) if gso else 1
        self.supers += gso != 0
        self.longest = max(self.longest, len(frame))
        self.wrong += len(ip) < struct.unpack_from("!H", ip, 2)[0] or (gso == 0 and folded(ip[:20]) != 0xffff)
        if not flags & NEEDS_CSUM:
            self.wrong += folded(self.pseudo(len(packet), True) + packet) != 0xffff
        return packet

    def until_told(self):
        """Counts what still comes, until standard input ends."""
        while sys.stdin not in select.select([self.sock, sys.stdin], [], [])[0]:
            yield self.receive()

    def say(self, **more):
        print(json.dumps({"frames": self.frames, "sent": self.sent, "got": self.got, "supers": self.supers, "wrong": self.wrong,
                          "longest": self.longest, **more}), flush=True)


def tcp(wire):
    """POSTs, in one super-frame, and takes the response."""
    seq, ack, asked, ended, took = 1000, 0, False, False, b""

    def send(flags, data=b"", options=b""):
        nonlocal seq
        header = struct.pack("!HHIIBBHHH", 4000, 80, seq, ack, (20 + len(options)) << 2, flags, 65535, 0, 0) + options
        wire.send(header + data, len(header), SEGMENT)
        seq += len(data) + (flags & (SYN | FIN) != 0)

    send(SYN, options=struct.pack("!BBH", 2, 4, SEGMENT))
    for packet in wire.until_told():
        if packet is None:
            continue
        flags, number, payload = packet[13], struct.unpack_from("!I", packet, 4)[0], packet[(packet[12] >> 4) * 4:]
        if flags & SYN:
            ack = number + 1
        elif number == ack:
            ack += len(payload) + (flags & FIN)
            took += payload
        if flags & SYN and not asked:
            asked = True
            send(ACK | PSH, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % REQUEST + b"q" * REQUEST)
        elif not ended and len(took.partition(b"\r\n\r\n")[2]) >= RESPONSE:
            ended = True
            send(FIN | ACK)
            print("ended", flush=True)
        elif payload or flags & (FIN | SYN):
            send(ACK)
    wire.say(bytes=len(took))


def udp(wire):
    """40 datagrams with numbers of their own in one super-frame. Their answers come one by one."""
    datagrams = [struct.pack("!Q", n) + b"q" * 92 for n in range(40)]
    header = struct.pack("!HHHH", 4000, 80, 8 + 4000, 0)
    wire.send(header + b"".join(datagrams), 8, 100)
    back = []
    for packet in wire.until_told():
        if packet is not None:
            back.append(packet[8:16].hex())
            if len(back) == 40:
                print("ended", flush=True)
    wire.say(back=back)


# ---- the tests ----

@pytest.fixture(params=["packet", "tap"])
def link(request, namespaces):
    need_tap(request.param)
    made = Link(request.param)
    yield made
    made.net.remove()


def the_flow(p):
    return p.ask("show flows")["flows"][0]


def served(link, live, tags, l4, *settings):
    """A server of ours meets this file at the kernel's end. What each of them counts, and the port."""
    p = live(["--no-screen", "-p", link.spec], prefix=link.prefix)
    p.send("; ".join(["set 0 flow server", *(s.format(l4=l4) for s in SETTINGS[tags]), "set 0 vlan.vid 7", f"set 0 flow.src {OWN}",
                      "set 0 flow.rto 5s", "set 0 flow.window 60000", *settings, "start 0"]))
    until(lambda: the_flow(p)["state"] == "running", "the server", p)
    with subprocess.Popen([*link.prefix, sys.executable, __file__, link.dev, str(tags), l4], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as peer:
        try:
            assert select.select([peer.stdout], [], [], 60)[0], (the_flow(p), p.errors())
            assert peer.stdout.readline() == "ended\n"
            if l4 == "tcp":
                until(lambda: the_flow(p)["connections"]["closed"] == 1, "the end", p)
            else:
                p.send("stop 0; wait 0")
            flow = the_flow(p)
            seen = json.loads(peer.communicate(timeout=60)[0])
        finally:
            peer.kill()
    return flow, seen, p.stats()[0]


@pytest.mark.parametrize("tags", [1, 2])
def test_super_frames_of_tcp_with_tags(link, live, tags):
    flow, seen, port = served(link, live, tags, "tcp", f"set 0 response {RESPONSE}")
    assert seen["wrong"] == 0 and seen["bytes"] > RESPONSE and seen["supers"] > 0, seen
    assert flow["transactions"]["done"] == flow["http"]["2xx"] == 1 and flow["payload"]["rx_bytes"] > REQUEST
    assert (flow["segments"]["rx"], flow["segments"]["tx"]) == (seen["sent"], seen["got"]), (flow, seen)
    assert flow["segments"]["bad_checksum"] == 0 and flow["segments"]["unverified"] == seen["frames"] <= port["rx"]["packets"] < seen["sent"]


@pytest.mark.parametrize("link", ["packet"], indirect=True)
@pytest.mark.parametrize("tags", [1, 2])
def test_super_frames_with_tags_that_nobody_takes_whole(link, live, tags):
    """The interface completes and cuts nothing: our own kernel does both, and keeps the tags."""
    link.do("ethtool", "-K", link.net.a, "tx", "off")
    flow, seen, _ = served(link, live, tags, "tcp", f"set 0 response {RESPONSE}")
    assert seen["wrong"] == seen["supers"] == 0 and seen["bytes"] > RESPONSE and seen["longest"] <= 1514 + 4 * tags, seen
    assert (flow["segments"]["rx"], flow["segments"]["tx"]) == (seen["sent"], seen["got"]), (flow, seen)


@pytest.mark.parametrize("tags", [1, 2])
def test_super_frames_of_udp_with_tags(link, live, tags):
    flow, seen, port = served(link, live, tags, "udp", "set 0 app bytes", "set 0 request 100", "set 0 response 100")
    idle(flow)
    assert seen["wrong"] == 0 and seen["back"] == [f"{n:016x}" for n in range(40)], seen
    assert flow["segments"]["rx"] == flow["segments"]["tx"] == flow["transactions"]["done"] == seen["sent"] == seen["got"] == 40, flow
    assert flow["payload"]["rx_bytes"] == 4000 and flow["segments"]["unverified"] == 40 and flow["segments"]["bad_checksum"] == 0
    assert (port["rx"]["packets"] < 40) == link.spec.startswith("packet:")  # for a tap, which does not ask for them, Linux makes datagrams


SEGMENTED = """
import socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
s.settimeout(60)
s.connect(("10.0.0.1", 80))
sent = [struct.pack("!Q", n) + b"q" * 1000 for n in range(2000)]
back = []
for at in range(0, len(sent), 40):
    some = sent[at:at + 40]
    s.sendmsg([b"".join(some)], [(17, 103, struct.pack("=H", 1008))])
    back += [s.recv(2000) for _ in some]
assert [b[:8] for b in back] == [b[:8] for b in sent]
print(len(back), sum(map(len, back)))
"""


def test_a_client_of_linux_that_sends_by_udp_segment(link, live):
    p = link.host(live, "set 0 frame eth/ipv4/udp", "set 0 flow server", "set 0 app bytes", "set 0 request 1008", "set 0 response 64")
    p.send("start 0")
    until(lambda: the_flow(p)["state"] == "running", "the server", p)
    r = link.tool(sys.executable, "-c", SEGMENTED, timeout=60)
    assert r.stdout == f"2000 {2000 * 64}\n", (r.stdout, the_flow(p))
    p.send("stop 0; wait 0")
    flow, port = the_flow(p), p.stats()[0]
    idle(flow)
    assert flow["segments"]["rx"] == flow["segments"]["tx"] == flow["transactions"]["done"] == 2000, flow
    assert flow["payload"] == {"tx_bytes": 2000 * 64, "rx_bytes": 2000 * 1008}, flow["payload"]
    assert flow["segments"]["unverified"] == 2000 and flow["segments"]["bad_checksum"] == 0
    if link.spec.startswith("packet:"):
        assert port["rx"]["packets"] < 200


if __name__ == "__main__":
    name = sys.argv[3]
    {"tcp": tcp, "udp": udp}[name](Wire(sys.argv[1], int(sys.argv[2]), {"tcp": 6, "udp": 17}[name]))
