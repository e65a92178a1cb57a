# SPDX-License-Identifier: BSD-3-Clause
"""Snapshots with the parts of the pages seq and range: app/snapshot.h says what is in them."""
from snap_base import snapshot
from snap_pages import ports_of


def slot(number, **more):
    s = {"slot": number, "stream": number + 1, "enabled": True, "encap": None, "frame": "eth/ipv4/udp", "size": "64", "type": "IPv4",
         "proto": "UDP", "vlan": None, "sport": str(1234 + number), "dport": "5678", "tcp_flags": None, "ip_dst": f"192.168.1.{number + 1}",
         "ip_src": "192.168.0.1", "mac_dst": "52:54:00:12:34:56", "mac_src": "02:77:72:00:00:00", "error": None, "cos": None, "tos": "0x00",
         "teid": None}
    s.update(more)
    return s


def slots_of(slots, total=None, before=0):
    s = snapshot(ports_of(1), [])
    s.update(slots=slots, slots_total=len(slots) if total is None else total, slots_before=before)
    return s


def seq():
    """What a slot can be: of either version, tagged, in a tunnel, varied, not in use, one whose frame cannot be built."""
    return slots_of([
        slot(0, frame="eth/ipv4/tcp", proto="TCP", tcp_flags="syn"),
        slot(1, frame="eth/vlan/ipv4/udp", vlan="7", cos="3", encap="VLAN", tos="0xb8"),
        slot(2, frame="eth/ipv6/tcp", type="IPv6", proto="TCP", ip_dst="2001:db8:0:1::1", ip_src="2001:db8::1", enabled=False),
        slot(3, frame="eth/ipv4/udp/gtpu", teid="4000000000", size="1518", ip_src="10.0.0.0/16", sport="1024..65535"),
        slot(4, frame="eth/ipv4/icmp", proto="ICMP", sport=None, dport=None, size="60", error="the size is below 64"),
    ])


def seq_many():
    return slots_of([slot(n) for n in range(468, 532)], 4095, 468)


def seq_long():
    """As long as values are in practice, and longer."""
    far = "2001:db8:aaaa:bbbb:cccc:dddd:eeee:"
    return slots_of([
        slot(0, frame="eth/ipv6/udp", type="IPv6", ip_dst="2001:db8:0:1::1", ip_src="2001:db8::100", sport="10000..65535", dport="10000..20000"),
        slot(1, frame="eth/ipv6/udp", type="IPv6", ip_dst="2001:db8:0:1::2", ip_src="2001:db8:10::/64", size="64..1518", vlan="100..4000"),
        slot(2, frame="eth/ipv4/udp", sport="list 1000,2000,3000,4000,5000,6000,7000,8000", ip_src=f"{far}0001"),
    ])


def seq_longest():
    """Two addresses for which a line of 80 columns has no room."""
    far = "2001:db8:aaaa:bbbb:cccc:dddd:eeee:"
    return slots_of([slot(n, frame="eth/ipv6/udp", type="IPv6", ip_dst=f"{far}ff0{n}", ip_src=f"{far}ee0{n}") for n in range(4)])


def seq_none():
    return slots_of([])


def seq_strange():
    return slots_of([{"slot": "x", "stream": None}, None, slot(7, ip_dst=5, mac_dst="端口零")])


def word(name, start, *more, given=False, fits=True):
    w = {"name": name, "set": given, "fits": fits, "moves": len(more) == 3 and more[2] not in ("0", "0.0.0.0", "::")}
    if start is not None:
        w["start"] = start
    w.update(zip(("min", "max", "inc"), more))
    return w


def ranges_of(on, frame, words):
    s = snapshot(ports_of(1), [])
    s["ranges"] = {"port": 0, "stream": 0, "on": on, "frame": frame, "words": words}
    return s


def words(v6):
    high, ip6 = "ff:ff:ff:ff:ff:ff", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"
    return [
        word("type", "ipv6" if v6 else None, given=v6), word("proto", "udp", given=True),
        word("dst mac", "52:54:00:12:34:56", "00:00:00:00:00:00", high, "1", given=True),
        word("src mac", "02:77:72:00:00:00", "00:00:00:00:00:00", high, "0"),
        word("dst ip", "192.168.1.1", "192.168.1.1", "192.168.1.254", "0.0.0.1", given=True, fits=not v6),
        word("src ip", "192.168.0.1", "192.168.0.1", "192.168.0.254", "0.0.0.0", fits=not v6),
        word("dst ip", "2001:db8::1", "::", ip6, "4294967295", given=v6, fits=v6), word("src ip", "2001:db8::2", "::", ip6, "0", fits=v6),
        word("dst port", "5678", "0", "65535", "1", given=True), word("src port", "1234", "0", "65535", "1"),
        word("tcp flags", None, fits=False), word("tcp seq", "74616", "0", "536870911", "0", given=True, fits=False),
        word("ttl", "64", "0", "255", "0", given=True), word("vlan", "1", "1", "4095", "1", given=True, fits=False),
        word("size", "128", "64", "1518", "2", given=True)]


def ranges():
    return ranges_of(True, "eth/ipv4/udp", words(False))


def ranges_v6():
    return ranges_of(False, "eth/ipv6/udp", words(True))


def ranges_none():
    return snapshot(ports_of(1), [])


def ranges_strange():
    return ranges_of(3, None, [None, 5, {"set": True}, word("名", "\x1b[31m", 1, None, "x", given=True)])


SNAPS = {f.__name__: f for f in (seq, seq_many, seq_long, seq_longest, seq_none, seq_strange, ranges, ranges_v6, ranges_none, ranges_strange)}
