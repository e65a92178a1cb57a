# SPDX-License-Identifier: BSD-3-Clause
"""Builders of IP, its extension headers, AH and ESP."""

import struct

import scapy.all as scapy
from scapy.layers.inet6 import _IPv6ExtHdr
from scapy.layers.ipsec import AH, ESP

# IANA's registry of protocol numbers; 253 is one for experiments (RFC 3692): payload alone.
NUMBERS = {
    "ipv6hbh": 0, "icmp": 1, "igmp": 2, "ipv4": 4, "tcp": 6, "udp": 17, "ipv6": 41, "ipv6rt": 43, "ipv6frag": 44, "gre": 47, "esp": 50,
    "ah": 51, "icmpv6": 58, "ipv6dst": 60, "sctp": 132, "mpls": 137,
}
EXPERIMENT = 253
EXTENSIONS = ("ipv6hbh", "ipv6rt", "ipv6frag", "ipv6dst")


def number_above(h):
    return NUMBERS.get(h.above, EXPERIMENT)


def addresses(data):
    return [scapy.inet_ntop(10, data[i : i + 16]) for i in range(0, len(data), 16)]


def route(header):
    """The addresses of a routing header as bytes; addr1..addr4 are views of them, which reach as far as they are set."""
    data = bytearray(header.get("addrs") or b"")
    for k in range(4):
        one = header.given(f"addr{k + 1}")
        if one is not None:
            data += bytes(max(0, 16 * (k + 1) - len(data)))
            data[16 * k:16 * (k + 1)] = one.to_bytes(16, "big")
    return bytes(data)


def final_destination(h, ip):
    """RFC 8200 8.1: with segments left it is the last address of the routing header."""
    for i in reversed(range(ip.i, h.i)):
        header = h.at(i)
        if header.name == "ipv6rt" and header.get("segleft") and route(header):
            addrs = route(header)
            return addrs[:16] if header.get("type") == 4 else addrs[-16:]
    return (ip.get("dst") or 0).to_bytes(16, "big")


def source(h, ip):
    """RFC 6275 6.3: a home address option takes the place of the source."""
    for i in reversed(range(ip.i, h.i)):
        if h.at(i).name == "ipv6dst" and h.at(i).given("homeaddr") is not None:
            return h.at(i).get("homeaddr").to_bytes(16, "big")
    return (ip.get("src") or 0).to_bytes(16, "big")


def pseudo_header(h, number, length):
    ip = h.under("ipv4", "ipv6")
    if ip is None:
        return b""
    if ip.name == "ipv4":
        return struct.pack("!IIHH", ip.get("src") or 0, ip.get("dst") or 0, number, length)
    return source(h, ip) + final_destination(h, ip) + struct.pack("!II", length, number)


def seen_by_scapy(h):
    """Does it find the IP header below a transport header, and the right addresses?"""
    ip = h.under("ipv4", "ipv6")
    between = [h.at(i) for i in range(ip.i + 1, h.i)] if ip else []
    return not between or ip.name == "ipv6" and all(x.name in EXTENSIONS and x.given("homeaddr") is None for x in between)


def checked(h, number, layer, fieldname, zero_is_none=False):
    """The layer with its checksum by hand, where scapy does not see the IP header through AH, or a home address in our header of options."""
    if layer.getfieldval(fieldname) is None and not seen_by_scapy(h):
        layer.setfieldval(fieldname, 0)
        body = bytes(layer / h.packet if h.packet is not None else layer)
        layer.setfieldval(fieldname, scapy.checksum(pseudo_header(h, number, len(body)) + body) or (0xFFFF if zero_is_none else 0))
    return layer


def ipv4(h):
    options = []
    if h.given("ralert") is not None:
        options.append(scapy.IPOption_Router_Alert(alert=h.given("ralert")))
    if h.given("options"):
        options.append(scapy.Raw(h.given("options")))
    return scapy.IP(
        version=h.get("version"), ihl=h.given("ihl"), tos=h.get("tos"), len=h.given("len"), id=h.get("id"), flags=h.get("flags"),
        frag=h.get("frag"), ttl=h.get("ttl"), proto=h.get("proto", number_above(h)), chksum=h.given("cksum"), src=h.ip4("src"),
        dst=h.ip4("dst"), options=options)


def ipv6(h):
    return scapy.IPv6(
        version=h.get("version"), tc=h.get("tc"), fl=h.get("flow"), plen=h.given("plen"), nh=h.get("nh", number_above(h)),
        hlim=h.get("hlim"), src=h.ip6("src"), dst=h.ip6("dst"))


class OptionsHeader(_IPv6ExtHdr):
    """RFC 8200 4.3, 4.6: next header, length in 8 bytes without the first 8, options."""

    name = "IPv6 options header"
    fields_desc = [scapy.ByteField("nh", 59), scapy.ByteField("len", None), scapy.StrField("options", b"")]

    def post_build(self, p, pay):
        if self.len is None:
            p = p[:1] + bytes([len(p) // 8 - 1]) + p[2:]
        return p + pay


def options_header(h, named):
    """The named option, raw ones, and Pad1 or PadN up to a multiple of 8 (RFC 8200 4.2)."""
    options = named + (h.given("options") or b"")
    short = -(2 + len(options)) % 8
    pad = b"" if short == 0 else b"\0" if short == 1 else bytes([1, short - 2]) + bytes(short - 2)
    return OptionsHeader(nh=h.get("nh", number_above(h)), len=h.given("len"), options=options + pad)


def ipv6hbh(h):
    alert = h.given("ralert")
    return options_header(h, b"" if alert is None else bytes(scapy.RouterAlert(value=alert)))


def ipv6dst(h):
    return options_header(h, b"" if h.given("homeaddr") is None else bytes(scapy.HAO(hoa=h.ip6("homeaddr"))))


def ipv6rt(h):
    kind, addrs, left, nh = h.get("type"), addresses(route(h)), h.get("segleft"), h.get("nh", number_above(h))
    if kind == 4:
        flags, last = h.get("flags"), h.given("last")
        return scapy.IPv6ExtHdrSegmentRouting(
            nh=nh, len=h.given("len"), type=4, segleft=left, lastentry=max(0, len(addrs) - 1) if last is None else last,
            unused1=flags >> 7, protected=flags >> 6 & 1, oam=flags >> 5 & 1, alert=flags >> 4 & 1, hmac=flags >> 3 & 1,
            unused2=flags & 7, tag=h.get("tag"), addresses=addrs, tlv_objects=[])
    return scapy.IPv6ExtHdrRouting(nh=nh, len=h.given("len"), type=kind, segleft=left, reserved=h.get("res"), addresses=addrs)


def ipv6frag(h):
    return scapy.IPv6ExtHdrFragment(nh=h.get("nh", number_above(h)), res1=h.get("res"), offset=h.get("offset"), res2=h.get("res2"),
                                    m=h.get("m"), id=h.get("id"))


def ah(h):
    icv = h.get("icv")
    icv += bytes(-len(icv) % 4)
    length = h.given("len")
    return AH(nh=h.get("nh", number_above(h)), payloadlen=len(icv) // 4 + 1 if length is None else length, reserved=h.get("res"),
              spi=h.get("spi"), seq=h.get("seq"), icv=icv)


def esp(h):
    return ESP(spi=h.get("spi"), seq=h.get("seq"), data=b"")


BUILDERS = {
    "ipv4": ipv4, "ipv6": ipv6, "ipv6hbh": ipv6hbh, "ipv6dst": ipv6dst, "ipv6rt": ipv6rt, "ipv6frag": ipv6frag, "ah": ah, "esp": esp,
}
