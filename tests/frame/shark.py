# SPDX-License-Identifier: BSD-3-Clause
"""tshark as a judge: what it sees in frames, and what it has against them.

Only the protocols of our table are enabled, so that port numbers and patterns in the payload do not lead it elsewhere."""

import os
import struct
import subprocess

from shaping import ETHERNET_LABEL

# Headers in frame.protocols; options of ours have no name of their own there.
LAYERS = {
    "eth": "eth", "vlan": "vlan", "qinq": "ieee8021ad", "mpls": "mpls", "pppoe": "pppoes", "llc": "llc", "arp": "arp", "ipv4": "ip",
    "ipv6": "ipv6", "ipv6hbh": "ipv6.hopopts", "ipv6rt": "ipv6.routing", "ipv6frag": "ipv6.fraghdr", "ipv6dst": "ipv6.dstopts",
    "icmp": "icmp", "icmpv6": "icmpv6", "igmp": "igmp", "udp": "udp", "tcp": "tcp", "sctp": "sctp", "gre": "gre", "vxlan": "vxlan",
    "geneve": "geneve", "gtpu": "gtp", "bfd": "bfd", "esp": "esp", "ah": "ah",
}
# A family of registrations that go with them.
ENABLED = set(LAYERS.values()) | {
    "frame", "ethertype", "data", "ppp", "pppoe", "pwethnocw", "ipv6.routing.type.rt0",
    "ipv6.routing.type.srh", "ipv6.routing.type.mipv6", "ipv6.routing.type.rpl",
}
FAMILIES = ("tcp.options.", "ip.options.", "ipv6.")
STATUS = {
    "ipv4": "ip.checksum.status", "udp": "udp.checksum.status", "tcp": "tcp.checksum.status", "icmp": "icmp.checksum.status",
    "icmpv6": "icmpv6.checksum.status", "igmp": "igmp.checksum.status", "sctp": "sctp.checksum.status", "gre": "gre.checksum.status",
}
# Behind these frame.protocols lacks IP since version 4.4 (MPLS), or says "ip" of IPv6 too since 4.6 (GTP-U).
MISNAMED = ("mpls", "gtp")
# What it has of each IP header, by the header's name.
IP_FIELDS = {"ip": "ip.hdr_len", "ipv6": "ipv6.plen"}
EXTRA = ["frame.len", "frame.protocols", *IP_FIELDS.values(), "_ws.malformed", "_ws.expert.message", "_ws.expert.group", "_ws.expert.severity"]
PREFERENCES = [
    "ip.check_checksum:TRUE", "tcp.check_checksum:TRUE", "udp.check_checksum:TRUE", "sctp.checksum:CRC-32C", "ip.defragment:FALSE",
    "ipv6.defragment:FALSE", "tcp.analyze_sequence_numbers:FALSE", "tcp.relative_sequence_numbers:FALSE", "sctp.reassembly:FALSE",
    "sctp.tsn_analysis:FALSE", "sctp.relative_tsns:FALSE", "esp.do_esp_sequence_analysis:FALSE", "ipv6.tso_support:FALSE",
    "ip.tso_support:FALSE", "gtp.track_gtp_session:FALSE",
]
# Wireshark's expert groups checksum, undecoded, malformed, and its severity error.
BAD_GROUPS, ERROR = (1 << 24, 5 << 24, 7 << 24), 0x00800000


def configure(folder):
    """A place for tshark's settings, with all other protocols off."""
    folder.mkdir(exist_ok=True)
    rows = subprocess.run(["tshark", "-G", "protocols"], capture_output=True, text=True, check=True).stdout.splitlines()
    names = [row.split("\t")[2] for row in rows]
    off = [n for n in names if n not in ENABLED and not n.startswith(FAMILIES)]
    (folder / "disabled_protos").write_text("".join(n + "\n" for n in off))
    return dict(os.environ, WIRESHARK_CONFIG_DIR=str(folder))


def write_pcap(frames, path):
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for i, data in enumerate(frames):
            f.write(struct.pack("<IIII", i, 0, len(data), len(data)) + data)


def look(frames, folder):
    """One dict of tshark's fields per frame: lists of what it saw, outermost first."""
    path = folder / "frames.pcap"
    write_pcap(frames, path)
    names = EXTRA + list(STATUS.values())
    cmd = ["tshark", "-n", "-r", str(path), "-T", "fields", "-E", "separator=|", "-E", "occurrence=a", "-E", "aggregator=~"]
    cmd += ["-d", f"mpls.label=={ETHERNET_LABEL},pwethnocw"]
    for pref in PREFERENCES:
        cmd += ["-o", pref]
    for name in names:
        cmd += ["-e", name]
    done = subprocess.run(cmd, capture_output=True, text=True, env=configure(folder / "tshark"))
    assert done.returncode == 0, done.stderr
    out = done.stdout.splitlines()
    assert len(out) == len(frames)
    return [{n: v.split("~") if v else [] for n, v in zip(names, line.split("|"))} for line in out]


# PPPoE's length leaves out the padding of a frame that ends early, which tshark finds possibly bad. Data behind a reset are a text to it.
LENIENT = ("Possible bad payload length", "Trailing stray characters")
# Of what an ICMP error quotes it takes the first bytes alone to be there.
LENIENT_QUOTED = LENIENT + ("IPv6 header must be exactly 40 bytes",)
# It asks the list of layers whether options for each hop come at once behind IPv6.
UNLISTED_IPV6 = {("mpls", "ipv6", "ipv6hbh"), ("gtpu", "ipv6", "ipv6hbh")}
# And of what a redirect quotes it takes eight bytes behind the IP header to be all, and adds up those alone.
ADDED_UP = ("gre", "igmp", "icmp")


def complaints(seen, stack=()):
    """Values that are legal to send meet remarks (TTL of 0, SYN with FIN, group source MAC): below the severity of an error they pass,
    but for the groups that are about the bytes themselves."""
    lenient = LENIENT_QUOTED if quoted(stack) else LENIENT
    lenient += ("Bad checksum",) if misjudged(stack) else ()
    lenient += ("IPv6 Hop-by-Hop extension header must appear immediately",) if UNLISTED_IPV6 & set(zip(stack, stack[1:], stack[2:])) else ()
    experts = zip(seen["_ws.expert.message"], seen["_ws.expert.group"], seen["_ws.expert.severity"])
    broken = [m for m in seen["_ws.malformed"] if m.startswith("[")]  # the others are experts' words
    return broken + [m for m, g, s in experts if (int(g) in BAD_GROUPS or int(s) >= ERROR) and not m.startswith(lenient)]


def layers(seen, wanted):
    """The headers that it found, by its names; labels in a row are one to it. Newer versions read IP behind some headers and do not name it,
    or by the wrong version: how many there are of each is known by their fields, and their order is taken to be the wanted one."""
    known = set(LAYERS.values())
    named = [n for n in seen["frame.protocols"][0].split(":") if n in known]
    unnamed = sum(len(seen[field]) - named.count(n) for n, field in IP_FIELDS.items())
    carried = iter([b for a, b in zip(wanted, wanted[1:] + [None]) if a in MISNAMED])
    found, wishes = [], []
    for before, name in zip([None] + named, named + [None]):
        if before == "mpls" and name != "eth" and unnamed > 0 or before == "gtp" and name == "ip":
            found.append("IP")
            wishes.append(next(carried, None))
            unnamed -= before == "mpls"
        elif before in MISNAMED:
            next(carried, None)
        if name and not (before == "gtp" and name == "ip"):
            found.append(name)
    left = {n: len(seen[field]) - found.count(n) for n, field in IP_FIELDS.items()}
    for wish in wishes:
        version = wish if left.get(wish, 0) > 0 else max(left, key=left.get)
        found[found.index("IP")] = version
        left[version] -= 1
    return squeeze(found) if not any(left.values()) else [*found, f"by their fields: {left}"]


def squeeze(names):
    return [n for i, n in enumerate(names) if i == 0 or n != names[i - 1] or n not in ("mpls", "igmp", "ieee8021ad")]


def expected_layers(stack):
    return squeeze([LAYERS[n] for n in visible(stack) if n in LAYERS] + (["eth"] if visible(stack)[-1] == "vxlan" else []))


def visible(stack):
    """tshark does not read a length in place of the type behind an 802.1ad tag."""
    blind = [i for i, pair in enumerate(zip(stack, stack[1:]), 1) if pair == ("qinq", "llc")]
    return stack[: blind[0]] if blind else stack


def quoted(stack):
    """What an ICMP error quotes: its checksums are not always judged."""
    errors = [i for i, pair in enumerate(zip(stack, stack[1:]), 1) if pair in (("icmp", "ipv4"), ("icmpv6", "ipv6"))]
    return stack[errors[0] :] if errors else []


def misjudged(stack):
    """Headers in a quote whose checksums it may find wrong: those that it adds up in part, and those behind a routing header, for which it
    takes the quoted destination in place of the last address. scapy judges them, and test_frames adds up the former."""
    inside = quoted(stack)[1:]
    routed = inside[inside.index("ipv6rt") + 1 :] if "ipv6rt" in inside else []
    return {n for n in inside if n in ADDED_UP} | set(routed) & set(STATUS)


# Headers that do not say what they carry when they come last: tshark guesses by the first byte, and takes what VXLAN carries for Ethernet.
OPEN_ENDED = ("mpls", "gtpu", "vxlan", "esp")
# Headers that it wants to carry something.
NOT_LAST = OPEN_ENDED + ("ipv6hbh", "ipv6rt", "ipv6dst", "ipv6frag", "ah")
