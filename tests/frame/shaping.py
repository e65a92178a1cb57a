# SPDX-License-Identifier: BSD-3-Clause
"""What fields may hold where a judge has to find the stack again: values that say how the bytes after them are to be read."""

# Ports of tunnels: they name what follows, for tshark some that we do not build too (GTP-C, GRE and SCTP in UDP, LLC in UDP).
TUNNEL_PORTS = {2123, 2152, 3784, 4754, 4789, 6081, 6635, 9899, *range(12000, 12005)}

# Lists are what a field may hold; an empty list: only its default, or what its neighbours make of it.
WORDS = {
    ("mpls", "bos"): [], ("pppoe", "type"): [], ("pppoe", "code"): [], ("llc", "dsap"): [], ("llc", "ssap"): [], ("llc", "ctl"): [],
    ("snap", "oui"): [], ("arp", "hwtype"): [], ("arp", "ptype"): [], ("arp", "hwlen"): [], ("arp", "plen"): [],
    ("ipv4", "flags"): [0, 2, 4, 6], ("ipv6rt", "type"): [0, 4], ("ipv6rt", "segleft"): [],
    ("icmp", "type"): [0, 8, 13, 14, 15, 16, 17, 18], ("icmpv6", "type"): [128, 129, 130, 131, 132, 133, 134, 135, 136, 137],
    # The length of RFC 4884 in messages that quote a packet.
    ("icmp", "unused"): [0, 0x1200, 0xFF00], ("icmp", "rest"): [0, 0xFF00FFFF], ("icmpv6", "res"): [0, 0xFFFFFF, 0x123456],
    ("igmp", "type"): [0x11, 0x12, 0x16, 0x17, 0x22], ("igmp", "nrec"): [], ("igmp", "auxlen"): [],
    ("sctp", "type"): [], ("gre", "r"): [], ("gre", "res"): [0, 0x100, 0xE0, 0x0F, 1], ("vxlan", "flags"): [0x0800, 0x8800, 0x8848, 0x0840],
    ("gtpu", "pt"): [], ("gtpu", "res"): [], ("gtpu", "type"): [], ("gtpu", "pdutype"): [0, 1], ("gtpu", "pdubits"): [],
    ("gtpu", "ppp"): [], ("gtpu", "pdunext"): [], ("gtpu", "next"): [], ("bfd", "a"): [], ("bfd", "len"): [],
}
# Of the messages that quote a packet.
QUOTING = {"icmp": [3, 4, 5, 11, 12], "icmpv6": [1, 2, 3, 4]}
# Bits that say that a part is there.
BITS = {("gre", "c"), ("gre", "k"), ("gre", "s"), ("gtpu", "e"), ("gtpu", "s"), ("gtpu", "pn"), ("tcp", "sackok")}

# Bytes of options that mean something.
NOPS, STAMP = b"\1\1\1", bytes([68, 8, 5, 0, 0, 0, 0, 0])
BYTES = {
    ("ipv4", "options"): [NOPS, STAMP, b"\1" + STAMP],
    ("tcp", "options"): [NOPS, b"\xfd\4\x12\x34", b"\1\1\xfd\6\x12\x34ab", b"\5\x0a\0\0\0\1\0\0\0\2"],
    ("ipv6hbh", "options"): [b"\x1e\0", b"\1\1\0", b"\x1e\4abcd\0\0", b"\x3e\x0b" + b"x" * 11],
    ("ipv6dst", "options"): [b"\x1e\0", b"\1\1\0", b"\x1e\4abcd\0\0", b"\x3e\x0b" + b"x" * 11],
    ("icmpv6", "options"): [b"\x0e\1nonce!", b"\x0e\2fourteen bytes"],
    ("geneve", "options"): [b"\x01\x02\x03\0", b"\x01\x02\x03\1abcd", b"\xff\xff\x7f\2abcdefgh\x01\x02\x03\0"],
    ("ah", "icv"): [b"icv!", b"sixteen bytes ok", bytes(range(32)), bytes(12)],
    ("igmp", "srcs"): [b"\x0a\0\0\1", bytes(range(10, 22))], ("igmp", "rsrcs"): [b"\x0a\0\0\1", bytes(range(10, 22))],
}
ADDRESSES = [bytes([0xFD] + [0] * 14 + [n]) for n in range(1, 4)]


# The bottom label in front of an Ethernet frame, and how its address may begin: not like IP or a control word (RFC 4928 3).
ETHERNET_LABEL, ETHERNET_DST = 0xEEEEE, 0xA20000000000


def index(stack, key):
    return [j for j, n in enumerate(stack) if n == key[0]][key[1] - 1]


def over_ipv4(stack, key):
    """Extension headers behind AH: there is no address of IPv6's for them to replace."""
    nearest = [n for n in stack[: index(stack, key)] if n in ("ipv4", "ipv6")]
    return nearest[-1:] == ["ipv4"]


def neighbours(stack, key):
    """The headers below and above the one that a key means."""
    i = index(stack, key)
    return stack[i - 1] if i else None, stack[i + 1] if i + 1 < len(stack) else None


def words(stack, key):
    """What the field may hold, or None: anything."""
    name, _, fieldname = key
    below, above = neighbours(stack, key)
    if fieldname == "type" and name in QUOTING and above:
        return QUOTING[name]
    if name == "udp" and fieldname == "dst" and above or fieldname == "homeaddr" and over_ipv4(stack, key):
        return []
    if name == "mpls" and fieldname == "label" and above == "eth":
        return []
    if name == "eth" and fieldname == "dst" and below == "mpls":
        return [ETHERNET_DST + i for i in range(5)]
    return WORDS.get((name, fieldname))


def harmless(key, value):
    if key[0] in ("udp", "tcp") and key[2] in ("src", "dst"):
        return value not in TUNNEL_PORTS
    return key[2] != "label" or value >= 16  # reserved ones (RFC 3032 2.1) announce other things than IP
