# SPDX-License-Identifier: BSD-3-Clause
"""From a description to scapy's packet: a builder per header, found in the modules beside this one."""

import logging

import scapy.all as scapy

import headers_icmp
import headers_inet
import headers_l4
import headers_link
from case import Header

# It says when it lacks a layer for a checksum; the bytes are compared anyway.
logging.getLogger("scapy.runtime").setLevel(logging.ERROR)
BUILDERS = {**headers_link.BUILDERS, **headers_inet.BUILDERS, **headers_icmp.BUILDERS, **headers_l4.BUILDERS}


def stacked(case, table, ordinal, payload):
    """Built from the last header down. What follows a header that carries nothing is padding of the Ethernet frame around it, which no
    length between the two counts."""
    last = Header(case, table, ordinal, len(case.stack) - 1, None)
    padding = payload if table.closed(last) else b""
    packet = scapy.Raw(payload) if payload and not padding else None
    asked = {}
    for i in reversed(range(len(case.stack))):
        header = Header(case, table, ordinal, i, packet)
        layer = BUILDERS[header.name](header)
        packet = layer if header.packet is None else layer / header.packet
        asked.setdefault(header.name, set()).update(header.asked)
        if header.name == "eth" and padding:
            packet, padding = scapy.Raw(bytes(packet) + padding), b""
    return bytes(packet), asked


def frame_bytes(case, table, ordinal):
    """The frame that scapy makes of a description, without FCS; and the fields that the builders have looked at."""
    headers, asked = stacked(case, table, ordinal, b"")
    least = len(headers) + (16 if case.probes else 0) + 4
    room = (case.size or max(64, least)) - 4 - len(headers)
    return stacked(case, table, ordinal, case.payload(ordinal, room))[0] if room else headers, asked
