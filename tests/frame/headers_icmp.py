# SPDX-License-Identifier: BSD-3-Clause
"""Builders of ICMP, ICMPv6 with neighbour discovery, and IGMP."""

import scapy.all as scapy

try:  # since scapy 2.7 a message is one layer
    from scapy.layers import igmp as igmp_layers
except ImportError:
    igmp_layers = None
    from scapy.contrib.igmp import IGMP
    from scapy.contrib.igmpv3 import IGMPv3, IGMPv3gr, IGMPv3mq, IGMPv3mr
else:
    # They would give the IP header before them an option; here that has what the case says.
    igmp_layers.IGMP.add_underlayer = scapy.Packet.add_underlayer

from headers_inet import checked


class IcmpOther(scapy.Packet):
    """RFC 792 for types whose second word has no fields in our table."""

    name = "ICMP"
    fields_desc = [scapy.ByteField("type", 0), scapy.ByteField("code", 0), scapy.XShortField("chksum", None), scapy.IntField("rest", 0)]

    def post_build(self, p, pay):
        p += pay
        return p if self.chksum is not None else p[:2] + scapy.checksum(p).to_bytes(2, "big") + p[4:]


def icmp(h):
    kind = h.get("type", 3 if h.above == "ipv4" else None)
    base = {"type": kind, "code": h.get("code"), "chksum": h.given("cksum")}
    ids = {"id": h.get("id"), "seq": h.get("seq")}
    if kind in (0, 8, 15, 16):
        return scapy.ICMP(**base, **ids)
    if kind in (13, 14):
        return scapy.ICMP(**base, **ids, ts_ori=h.get("orig"), ts_rx=h.get("recv"), ts_tx=h.get("xmit"))
    if kind in (17, 18):
        return scapy.ICMP(**base, **ids, addr_mask=h.ip4("mask"))
    if kind == 3:
        unused = h.get("unused")
        return scapy.ICMP(**base, reserved=unused >> 8, length=unused & 255, nexthopmtu=h.get("mtu"))
    if kind == 5:
        return scapy.ICMP(**base, gw=h.ip4("gateway"))
    if kind == 12:
        return scapy.ICMP(**base, ptr=h.get("ptr"))
    return IcmpOther(**base, rest=h.get("rest"))


ECHO = {128: scapy.ICMPv6EchoRequest, 129: scapy.ICMPv6EchoReply}


def nd_message(h, kind, base):
    if kind == 133:
        return scapy.ICMPv6ND_RS(**base, res=h.get("res"))
    if kind == 134:
        return scapy.ICMPv6ND_RA(**base, chlim=h.get("curhlim"), M=h.get("managed"), O=h.get("other"), H=0, prf=0, P=0,
                                 routerlifetime=h.get("lifetime"), reachabletime=h.get("reachable"), retranstimer=h.get("retrans"))
    if kind == 135:
        return scapy.ICMPv6ND_NS(**base, res=h.get("res"), tgt=h.ip6("target"))
    if kind == 136:
        return scapy.ICMPv6ND_NA(**base, R=h.get("r"), S=h.get("s"), O=h.get("o"), tgt=h.ip6("target"))
    return scapy.ICMPv6ND_Redirect(**base, tgt=h.ip6("target"), dst=h.ip6("dst"))


PREFIX = ("prefixlen", "onlink", "auto", "valid", "preferred", "prefix")


def nd_options(h):
    options = []
    if h.given("slla") is not None:
        options.append(scapy.ICMPv6NDOptSrcLLAddr(lladdr=h.mac("slla")))
    if h.given("tlla") is not None:
        options.append(scapy.ICMPv6NDOptDstLLAddr(lladdr=h.mac("tlla")))
    if any([h.given(f) is not None for f in PREFIX]):
        options.append(scapy.ICMPv6NDOptPrefixInfo(
            prefixlen=h.get("prefixlen"), L=h.get("onlink"), A=h.get("auto"), validlifetime=h.get("valid"),
            preferredlifetime=h.get("preferred"), prefix=h.ip6("prefix")))
    if h.given("linkmtu") is not None:
        options.append(scapy.ICMPv6NDOptMTU(mtu=h.get("linkmtu")))
    if h.given("options"):
        options.append(scapy.Raw(h.given("options")))
    return options


def icmpv6(h):
    kind = h.get("type", 1 if h.above == "ipv6" else None)
    base = {"type": kind, "code": h.get("code"), "cksum": h.given("cksum")}
    options = []
    if kind in ECHO:
        layer = ECHO[kind](**base, id=h.get("id"), seq=h.get("seq"))
    elif kind in (130, 131, 132):
        layer = scapy.ICMPv6MLQuery(**base, mrd=h.get("maxresp"), mladdr=h.ip6("maddr"))
    elif 133 <= kind <= 137:
        layer, options = nd_message(h, kind, base), nd_options(h)
    else:
        word = h.get({2: "mtu", 4: "ptr"}.get(kind, "res"))
        layer = scapy.ICMPv6Unknown(**base, msgbody=word.to_bytes(4, "big"))
    h.packet = stack(options, h.packet)
    return checked(h, 58, layer, "cksum")


def stack(layers, packet):
    for layer in reversed(layers):
        packet = layer if packet is None else layer / packet
    return packet


def ip4_list(data):
    return [scapy.inet_ntoa(data[i : i + 4]) for i in range(0, len(data), 4)]


def igmp(h):
    kind = h.get("type")
    base = {"type": kind, "chksum": h.given("cksum")}
    query = [h.given(f) for f in ("s", "qrv", "qqic", "nsrc", "srcs")]
    if kind == 0x11 and any(v is not None for v in query):
        return igmp_query(base, h.get("maxresp"), {"gaddr": h.ip4("group"), "s": h.get("s"), "qrv": h.get("qrv"), "qqic": h.get("qqic"),
                                                   "numsrc": h.given("nsrc"), "srcaddrs": ip4_list(h.given("srcs") or b"")})
    if kind == 0x22:
        return igmp_report(base, h.get("maxresp"), h.get("res"), h.get("nrec"),
                           {"rtype": h.get("rtype"), "auxdlen": h.get("auxlen"), "numsrc": h.given("rnsrc"), "maddr": h.ip4("maddr"),
                            "srcaddrs": ip4_list(h.given("rsrcs") or b"")})
    if igmp_layers:
        return igmp_layers.IGMP(**base, mrcode=h.get("maxresp"), gaddr=h.ip4("group"))
    return IGMP(**base, mrcode=h.get("maxresp"), gaddr=h.ip4("group"))


def igmp_query(base, code, fields):
    if igmp_layers:  # a number would be a time, a byte is the code itself
        return igmp_layers.IGMPv3_MQ(**base, mrcode=bytes([code]), **fields)
    return IGMPv3(**base, mrcode=code) / IGMPv3mq(**fields)


def igmp_report(base, code, reserved, count, record):
    if igmp_layers:
        return igmp_layers.IGMPv3_MR(**base, reserved=code, flags=reserved, numgrp=count, records=[igmp_layers.IGMPv3_MR_Group(**record)])
    return IGMPv3(**base, mrcode=code) / IGMPv3mr(res2=reserved, numgrp=count, records=[IGMPv3gr(**record)])


BUILDERS = {"icmp": icmp, "icmpv6": icmpv6, "igmp": igmp}
