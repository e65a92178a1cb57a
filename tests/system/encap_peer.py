# SPDX-License-Identifier: BSD-3-Clause
"""Encapsulations by somebody else, for kernels that have no devices of them: scapy takes what the program sends apart, finds every length, checksum
and number of it right or says what is not, and gives the packet inside to Linux by a tun; what Linux answers it wraps and sends to the program.

Run as `encap_peer.py DEV MAC`, in the namespace of DEV: MAC is the program's. It makes tun9 and says "ready". A line with the name of a stack begins,
and an empty line ends: then it says as JSON how many frames it took from the program (`in`) and gave it (`out`), and what was wrong."""
import fcntl
import json
import os
import select
import socket
import struct
import sys

OURS4, PEER4, OURS6, PEER6 = "10.0.0.1", "10.0.0.2", "fd00::1", "fd00::2"
INNER_OURS, INNER_PEER = "02:00:00:00:00:77", "02:00:00:00:00:78"


# A layer: scapy's class, what it has in frames to the program, and what frames of the program have instead.
def ip(proto):
    return "IP", {"src": PEER4, "dst": OURS4, "proto": proto}, {"src": OURS4, "dst": PEER4}


def ip6(nh):
    return "IPv6", {"src": PEER6, "dst": OURS6, "nh": nh}, {"src": OURS6, "dst": PEER6}


def udp(port):
    return "UDP", {"sport": port, "dport": port}, {}


def only(name, there=None, **fields):
    return name, fields, there or {}


ETH = only("Ether", {"src": INNER_OURS, "dst": INNER_PEER}, src=INNER_PEER, dst=INNER_OURS, type=0x0800)
# name -> headers of a flow before the IP header of its connections, the family of that, values of fields (a pair: of frames of
# the program, and of others), the layers behind Ethernet
STACKS = {
    "vlan": ("eth/vlan", 4, {"vlan.vid": 5}, [only("Dot1Q", vlan=5, type=0x0800)]),
    "qinq": ("eth/qinq/vlan", 6, {"qinq.vid": 6, "vlan.vid": 7}, [only("Dot1AD", vlan=6, type=0x8100), only("Dot1Q", vlan=7, type=0x86dd)]),
    "mpls": ("eth/mpls/mpls", 4, {"mpls.label": (300, 400), "mpls[2].label": 16},
             [only("MPLS", {"label": 300, "ttl": 64}, label=400, s=0, ttl=9), only("MPLS", label=16, s=1)]),
    "pppoe": ("eth/pppoe", 4, {"pppoe.sid": 17}, [only("PPPoE", sessionid=17, code=0), only("PPP", proto=0x21)]),
    "ipip": ("eth/ipv4", 4, {}, [ip(4)]),
    "ip6ip6": ("eth/ipv6", 6, {}, [ip6(41)]),
    "gre": ("eth/ipv4/gre", 4, {}, [ip(47), only("GRE", proto=0x0800)]),
    "gre-key-sum": ("eth/ipv4/gre", 6, {"gre.c": 1, "gre.key": (9, 8)},
                    [ip(47), only("GRE", {"key": 9}, proto=0x86dd, key_present=1, key=8, chksum_present=1)]),
    "gretap": ("eth/ipv4/gre/eth", 4, {}, [ip(47), only("GRE", proto=0x6558), ETH]),
    "ip6gre": ("eth/ipv6/gre", 4, {}, [ip6(47), only("GRE", proto=0x0800)]),
    "vxlan": ("eth/ipv4/udp/vxlan/eth", 4, {"vxlan.vni": 7}, [ip(17), udp(4789), only("VXLAN", vni=7, flags=8), ETH]),
    "geneve": ("eth/ipv4/udp/geneve/eth", 4, {"geneve.vni": 9}, [ip(17), udp(6081), only("GENEVE", vni=9, proto=0x6558), ETH]),
    "geneve6": ("eth/ipv6/udp/geneve/eth", 4, {"geneve.vni": 9}, [ip6(17), udp(6081), only("GENEVE", vni=9, proto=0x6558), ETH]),
    "gtpu": ("eth/ipv4/udp/gtpu", 4, {"gtpu.teid": (100, 200)},
             [ip(17), udp(2152), only("GTP_U_Header", {"teid": 100}, teid=200, gtp_type=255)]),
}
TYPES = {"Dot1Q": 0x8100, "Dot1AD": 0x88a8, "MPLS": 0x8847, "PPPoE": 0x8864, "IP": 0x0800, "IPv6": 0x86dd}
# what follows from the rest of a frame
FOLLOW = ("len", "plen", "chksum", "length", "ihl")


def scapy_layers():
    from scapy.contrib import geneve, gtp, mpls  # pylint: disable=import-outside-toplevel
    from scapy.layers import inet, inet6, l2, ppp, vxlan  # pylint: disable=import-outside-toplevel
    found = {}
    for m in geneve, gtp, mpls, inet, inet6, l2, ppp, vxlan:
        found.update(vars(m))
    # Its PPP writes a protocol below 256 as one byte, as a link may agree on; PPPoE has two (RFC 2516 7).
    fields, packet = sys.modules["scapy.fields"], sys.modules["scapy.packet"]
    found["PPP"] = type("PPP", (packet.Packet,), {"name": "PPP", "fields_desc": [fields.XShortField("proto", 0)]})
    packet.split_layers(ppp.PPPoE, ppp.PPP)
    packet.bind_layers(ppp.PPPoE, found["PPP"])
    packet.bind_layers(found["PPP"], inet.IP, proto=0x21)
    return found


class Codec:
    """One stack, both ways."""

    def __init__(self, layers, name, mac, dev_mac):
        _, self.family, _, behind = STACKS[name]
        outside = only("Ether", {"src": mac, "dst": dev_mac}, src=dev_mac, dst=mac, type=TYPES[behind[0][0]])
        self.chain = [(layers[cls], {**sent, **there} if cls != "UDP" else {"dport": sent["dport"]}) for cls, sent, there in [outside, *behind]]
        self.raw = layers["Raw"] if "Raw" in layers else layers["conf"].raw_layer
        self.template = None
        for cls, sent, _ in [outside, *behind]:
            layer = layers[cls](**sent)
            self.template = layer if self.template is None else self.template / layer

    def wrap(self, packet):
        return bytes(self.template / self.raw(packet))

    def unwrap(self, frame):
        """The packet inside, or None, and what is wrong with the frame."""
        whole = self.chain[0][0](frame)
        layer = whole
        for cls, want in self.chain:
            if type(layer) is not cls:
                return None, f"{type(layer).__name__} where {cls.__name__} is due"
            for field, value in want.items():
                if layer.getfieldval(field) != value:
                    return None, f"{cls.__name__}.{field} is {layer.getfieldval(field)}, not {value}"
            for field in FOLLOW:
                if field in layer.fields:
                    layer.delfieldval(field)
            layer = layer.payload
        inside = layer.original
        if inside[0] >> 4 != self.family:
            return None, f"no packet of IPv{self.family} inside"
        length = struct.unpack_from("!H", inside, 2 if self.family == 4 else 4)[0] + (0 if self.family == 4 else 40)
        if bytes(whole) != frame:
            return None, f"scapy makes {bytes(whole).hex()} of {frame.hex()}"
        return inside[:length], None


def tun(name):
    fd = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(fd, 0x400454ca, struct.pack("16sH22x", name.encode(), 0x1001))  # TUNSETIFF: IFF_TUN, IFF_NO_PI
    return fd


SOL_PACKET, PACKET_AUXDATA, VLAN_VALID, TPID_VALID = 263, 8, 1 << 4, 1 << 6


def received(wire):
    """A frame, with the outer VLAN tag that Linux has taken out; None: it is one that we have sent."""
    frame, more, _, where = wire.recvmsg(65536, 64)
    if where[2] == socket.PACKET_OUTGOING:
        return None
    for level, kind, data in more:
        if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
            status, _, _, _, _, tci, tpid = struct.unpack("=IIIHHHH", data[:20])
            if status & VLAN_VALID:
                frame = frame[:12] + struct.pack("!HH", tpid if status & TPID_VALID else 0x8100, tci) + frame[12:]
    return frame


def serve(dev, mac):
    layers = scapy_layers()
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    wire.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    wire.bind((dev, 3))
    inside, codec, said = tun("tun9"), None, None
    print("ready", flush=True)
    while True:
        for fd in select.select([wire, inside, sys.stdin], [], [])[0]:
            if fd is sys.stdin:
                line = sys.stdin.readline().strip()
                if line:
                    codec, said = Codec(layers, line, mac, open(f"/sys/class/net/{dev}/address", encoding="ascii").read().strip()), \
                        {"in": 0, "out": 0, "wrong": []}
                    print("begun", flush=True)
                elif said is None:
                    return
                else:
                    print(json.dumps(said), flush=True)
                    codec = said = None
            elif fd is wire:
                frame = received(wire)
                if codec is None or frame is None:
                    continue
                packet, wrong = codec.unwrap(frame)
                if wrong is None:
                    said["in"] += 1
                    os.write(inside, packet)
                else:
                    said["wrong"].append(wrong)
            else:
                packet = os.read(inside, 65536)
                if codec is None or packet[0] >> 4 != codec.family or (codec.family == 6 and packet[6] == 58):
                    continue  # Linux looks for routers
                said["out"] += 1
                wire.send(codec.wrap(packet))


if __name__ == "__main__":
    serve(*sys.argv[1:])
