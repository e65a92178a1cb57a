# SPDX-License-Identifier: BSD-3-Clause
"""Builders of transport headers and of tunnels."""

import struct

import scapy.all as scapy
from scapy.contrib.bfd import BFD
from scapy.contrib.geneve import GENEVE
from scapy.contrib.gtp import GTP_U_Header

from headers_inet import checked
from headers_link import ETHERTYPES, EXPERIMENT

# IANA's registry of ports.
PORTS = {"vxlan": 4789, "geneve": 6081, "gtpu": 2152, "bfd": 3784, "mpls": 6635}


def udp(h):
    layer = scapy.UDP(sport=h.get("src"), dport=h.get("dst", PORTS.get(h.above)), len=h.given("len"), chksum=h.given("cksum"))
    return checked(h, 17, layer, "chksum", zero_is_none=True)


def tcp_options(h):
    """Those with names in the table's order, then raw ones: kind, length and data, or a single byte 1."""
    options = []
    if h.given("mss") is not None:
        options.append(("MSS", h.given("mss")))
    if h.given("sackok"):
        options.append(("SAckOK", b""))
    if h.given("tsval") is not None or h.given("tsecr") is not None:
        options.append(("Timestamp", (h.get("tsval"), h.get("tsecr"))))
    if h.given("wscale") is not None:
        options.append(("WScale", h.given("wscale")))
    raw = h.given("options") or b""
    while raw:
        if raw[0] <= 1:
            options.append((["EOL", "NOP"][raw[0]], None))
            raw = raw[1:]
        else:
            options.append((raw[0], raw[2 : raw[1]]))
            raw = raw[raw[1] :]
    return options


def tcp(h):
    # scapy's reserved bits are three, its ninth flag is the lowest of our four.
    res = h.get("res")
    layer = scapy.TCP(
        sport=h.get("src"), dport=h.get("dst"), seq=h.get("seq"), ack=h.get("ack"), dataofs=h.given("off"), reserved=res >> 1,
        flags=(res & 1) << 8 | h.get("flags"), window=h.get("window"), chksum=h.given("cksum"), urgptr=h.get("urgptr"),
        options=tcp_options(h))
    return checked(h, 6, layer, "chksum")


class Chunk(scapy.Packet):
    """RFC 9260 3.2: scapy's DATA chunk holds its data itself and pads them; ours go on to the frame's end."""

    name = "SCTP chunk"
    fields_desc = [scapy.ByteField("type", 0), scapy.ByteField("flags", 3), scapy.ShortField("len", None), scapy.StrField("body", b"")]

    def post_build(self, p, pay):
        if self.len is None:
            p = p[:2] + (len(p) + len(pay)).to_bytes(2, "big") + p[4:]
        return p + pay


def sctp(h):
    head = scapy.SCTP(sport=h.get("src"), dport=h.get("dst"), tag=h.get("vtag"), chksum=h.given("cksum"))
    kind, body = h.get("type"), b""
    if kind == 0:
        body = struct.pack("!IHHI", h.get("tsn"), h.get("sid"), h.get("ssn"), h.get("ppid"))
    elif kind in (1, 2):
        body = struct.pack("!IIHHI", h.get("itag"), h.get("arwnd"), h.get("os"), h.get("mis"), h.get("itsn"))
    return head / Chunk(type=kind, flags=h.get("flags"), len=h.given("len"), body=body)


def gre(h):
    """RFC 2890: a part is there when its bit or one of its fields is set."""
    has = lambda bit, *fields: 1 if h.given(bit) or any([h.given(f) is not None for f in fields]) else 0
    res = h.get("res")
    return scapy.GRE(
        chksum_present=has("c", "cksum", "offset"), routing_present=h.get("r"), key_present=has("k", "key"),
        seqnum_present=has("s", "seq"), strict_route_source=res >> 8, recursion_control=res >> 5 & 7, flags=res & 31,
        version=h.get("version"), proto=h.get("type", ETHERTYPES.get(h.above, EXPERIMENT)), chksum=h.given("cksum"),
        offset=h.get("offset"), key=h.get("key"), sequence_number=h.get("seq"))


def vxlan(h):
    """scapy calls the second half of our flags and our group id a group policy only with the G bit, else reserved."""
    flags, gid = h.get("flags"), h.get("gid")
    more = {"gpflags": flags & 255, "gpid": gid} if flags & 0x8000 else {"reserved1": (flags & 255) << 16 | gid}
    return scapy.VXLAN(flags=flags >> 8, vni=h.get("vni"), reserved2=h.get("res"), **more)


def geneve(h):
    options = h.given("options") or b""
    options += bytes(-len(options) % 4)
    return GENEVE(version=h.get("version"), optionlen=h.given("optlen"), oam=h.get("o"), critical=h.get("c"), reserved=h.get("res"),
                  proto=h.get("type", ETHERTYPES.get(h.above, EXPERIMENT)), vni=h.get("vni"), reserved2=h.get("res2"),
                  options=[scapy.Raw(options)] if options else [])


PDU = ("pdutype", "pdubits", "ppp", "rqi", "qfi", "pdunext")


def gtpu(h):
    """TS 29.281 5.1; the PDU session container of TS 38.415 5.5.2 as one extension header of four bytes."""
    pdu = any([h.given(f) is not None for f in PDU]) or h.given("next") == 0x85
    extended = 1 if h.given("e") or pdu or h.given("next") is not None else 0
    head = GTP_U_Header(
        version=h.get("version"), PT=h.get("pt"), reserved=h.get("res"), E=extended, S=1 if h.given("s") or h.given("seq") is not None else 0,
        PN=1 if h.given("pn") or h.given("npdu") is not None else 0, gtp_type=h.get("type", 255 if h.above else None),
        length=h.given("len"), teid=h.get("teid"), seq=h.get("seq"), npdu=h.get("npdu"), next_ex=h.get("next", 0x85 if pdu else 0) or 0)
    if not pdu:
        return head
    bits = h.get("ppp") << 7 | h.get("rqi") << 6 | h.get("qfi")
    return head / scapy.Raw(bytes([1, h.get("pdutype") << 4 | h.get("pdubits"), bits, h.get("pdunext")]))


def bfd(h):
    """RFC 5880 4.1."""
    flags = sum(h.get(name) << i for i, name in enumerate("mdacfp"))
    return BFD(version=h.get("version"), diag=h.get("diag"), sta=h.get("state"), flags=flags, detect_mult=h.get("mult"), len=h.get("len"),
               my_discriminator=h.get("my"), your_discriminator=h.get("your"), min_tx_interval=h.get("mintx"),
               min_rx_interval=h.get("minrx"), echo_rx_interval=h.get("minecho"))


BUILDERS = {"udp": udp, "tcp": tcp, "sctp": sctp, "gre": gre, "vxlan": vxlan, "geneve": geneve, "gtpu": gtpu, "bfd": bfd}
