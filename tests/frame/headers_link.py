# SPDX-License-Identifier: BSD-3-Clause
"""Builders of what lies below IP: Ethernet, tags, labels, PPPoE, LLC, ARP."""

import scapy.all as scapy
from scapy.contrib.mpls import MPLS

# IANA's registries of EtherTypes and PPP protocols. 0x88b5 is one for experiments: payload alone; 0x0079 is not assigned.
ETHERTYPES = {"ipv4": 0x0800, "arp": 0x0806, "vlan": 0x8100, "ipv6": 0x86DD, "mpls": 0x8847, "pppoe": 0x8864, "qinq": 0x88A8, "eth": 0x6558}
PPP = {"ipv4": 0x0021, "ipv6": 0x0057, "mpls": 0x0281}
EXPERIMENT, PPP_EXPERIMENT = 0x88B5, 0x0079


class PPPoE(scapy.Packet):
    """RFC 2516 4 with the protocol of RFC 1661 2 behind it, always two bytes: scapy's PPP makes one of small numbers."""

    name = "PPPoE session"
    fields_desc = [
        scapy.BitField("version", 1, 4), scapy.BitField("type", 1, 4), scapy.ByteField("code", 0), scapy.ShortField("sid", 0),
        scapy.ShortField("len", None), scapy.ShortField("proto", 0),
    ]

    def post_build(self, p, pay):
        if self.len is None:
            p = p[:4] + (len(p) - 6 + len(pay)).to_bytes(2, "big") + p[6:]
        return p + pay


def type_above(h):
    """The type of what follows; LLC is announced by its length (IEEE 802.3 3.2.6)."""
    return len(h.upper) if h.above == "llc" else ETHERTYPES.get(h.above, EXPERIMENT)


def eth(h):
    return scapy.Ether(dst=h.mac("dst"), src=h.mac("src"), type=h.get("type", type_above(h)))


def vlan(h):
    return scapy.Dot1Q(prio=h.get("pcp"), id=h.get("dei"), vlan=h.get("vid"), type=h.get("type", type_above(h)))


def qinq(h):
    return scapy.Dot1AD(prio=h.get("pcp"), id=h.get("dei"), vlan=h.get("vid"), type=h.get("type", type_above(h)))


def mpls(h):
    return MPLS(label=h.get("label"), cos=h.get("tc"), s=h.get("bos", 0 if h.above == "mpls" else 1), ttl=h.get("ttl"))


def pppoe(h):
    return PPPoE(version=h.get("version"), type=h.get("type"), code=h.get("code"), sid=h.get("sid"), len=h.given("len"),
                 proto=h.get("proto", PPP.get(h.above, PPP_EXPERIMENT)))


def llc(h):
    sap = 0xAA if h.above == "snap" else 0
    return scapy.LLC(dsap=h.get("dsap", sap), ssap=h.get("ssap", sap), ctrl=h.get("ctl"))


def snap(h):
    return scapy.SNAP(OUI=h.get("oui"), code=h.get("type", ETHERTYPES.get(h.above, EXPERIMENT)))


def arp(h):
    return scapy.ARP(hwtype=h.get("hwtype"), ptype=h.get("ptype"), hwlen=h.get("hwlen"), plen=h.get("plen"), op=h.get("op"),
                     hwsrc=h.mac("hwsrc"), psrc=h.ip4("psrc"), hwdst=h.mac("hwdst"), pdst=h.ip4("pdst"))


BUILDERS = {"eth": eth, "vlan": vlan, "qinq": qinq, "mpls": mpls, "pppoe": pppoe, "llc": llc, "snap": snap, "arp": arp}
