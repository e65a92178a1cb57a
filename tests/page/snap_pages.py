# SPDX-License-Identifier: BSD-3-Clause
"""Snapshots with the parts of the pages streams, frame, ports, xstats, log and help: app/snapshot.h says what is in them."""
from snap_base import port, queue, snapshot


def ports_of(n):
    return [port(i, f"wire{i}", [queue(0, 1000, 1000, 1 + i, 1 + i, 10)]) for i in range(n)]


def field(name, value, varies=False):
    return {"name": name, "value": value, "varies": varies}


def stream(number, frame="eth/ipv4/udp", fields=None, **more):
    s = {"port": 0, "stream": number, "enabled": True, "frame": frame, "size": "auto", "weight": 1, "rate": None, "count": 0,
         "varies": [f["name"] for f in fields or [] if f["varies"]], "tx": {"packets": 239_241 * (number + 1), "bytes": 15_311_424},
         "pps": 199_000.5, "share": 0.2, "engine": "frames", "ranges": False}
    if fields is not None:
        s["fields"] = fields
    s.update(more)
    return s


VARIED = [field("ipv4.src", "10.0.0.0/16", True), field("udp.dst", "1000..2000 step 4", True), field("vlan.vid", "7"),
          field("udp.src", "random 1024..65535", True), field("eth.dst", "52:54:00:12:34:56"), field("rnd.3", "36 XX..0011", True),
          field("ipv4.dst", "list 192.168.0.1,192.168.0.9,192.168.44.200,10.11.12.13,172.16.254.1", True), field("random", "on"),
          field("nest", "ipv4.src,udp.dst+udp.src")]


def streams_of(streams, total=None, before=0, n=1):
    s = snapshot(ports_of(n), [])
    s.update(streams=streams, streams_total=len(streams) if total is None else total, streams_before=before)
    return s


def streams():
    """What a stream can be: varied, of its own rate, off, without a group, with a long stack."""
    return streams_of([
        stream(0, "eth/vlan/ipv4/udp", VARIED, ranges=True),
        stream(1, "eth/ipv4/tcp", [], share=0.6, weight=3, size="imix"),
        stream(2, "eth/ipv6/tcp", [field("ipv6.dst", "2001:db8::/64", True)], enabled=False, share=None, pps=0, engine=None, tx={"packets": 0}),
        stream(3, "eth/vlan/qinq/mpls/ipv4/udp/vxlan/eth/ipv6/tcp", [field("vxlan.vni", "5000")], rate="10kpps", share=None, pps=9949.2,
               count=1_000_000, size="64..1518", engine="fixed"),
        stream(12, "eth/ipv4/udp", [], pps=14_880_952, tx={"packets": 9_223_372_036_854_775_807}),
    ])


def streams_engines():
    """Words that are longer than their titles, and nothing that varies."""
    return streams_of([stream(n, "eth/ipv4/udp", [], engine="copy/avx512" if n else "insert/avx512") for n in range(3)])


def streams_many():
    """A window of 200 around stream 2000 of 4096."""
    return streams_of([stream(n, fields=VARIED if n == 2000 else None) for n in range(1900, 2100)], 4096, 1900)


def streams_last():
    """The end of 4096."""
    return streams_of([stream(n, fields=VARIED[:2] if n == 4095 else None) for n in range(3896, 4096)], 4096, 3896)


def streams_none():
    return streams_of([])


def streams_strange():
    return streams_of([{"stream": "x", "frame": None, "fields": [1, {"name": 5}], "varies": 3}, None, stream(7, "端口零/\x1b[31m", [field("名", "値")])])


def frame_of(frame, error=None, fields=(), size="auto"):
    s = snapshot(ports_of(1), [])
    s.update(frame=frame, frame_error=error, streams=[stream(0, frame["stack"] if frame else "eth", list(fields), size=size)])
    return s


def ipv4(offset, src, dst, proto, length, **text):
    return {"name": "ipv4", "offset": offset, "text": {"tos": "0x00", "id": "0x0000", "cksum": "0xaf1a", **text},
            "fields": {"version": 4, "ihl": 5, "tos": 0, "len": length, "id": 0, "flags": "none", "frag": 0, "ttl": 64, "proto": proto,
                       "cksum": 44826, "cksum_ok": True, "src": src, "dst": dst}}


def eth(offset, kind):
    return {"name": "eth", "offset": offset, "text": {"type": f"0x{kind:04x}"},
            "fields": {"dst": "02:77:72:00:00:01", "src": "02:77:72:00:00:00", "type": kind}}


def udp(offset, dst=1000, good=True):
    return {"name": "udp", "offset": offset, "text": {"cksum": "0x5784"},
            "fields": {"src": 1234, "dst": dst, "len": 22, "cksum": 22404, "cksum_ok": good}}


def frame():
    """Varied fields, and checksums that follow."""
    return frame_of({
        "size": 64, "stack": "eth/vlan/ipv4/udp", "payload": {"offset": 46, "len": 14}, "port": 0, "stream": 0,
        "headers": [eth(0, 0x8100), {"name": "vlan", "offset": 14, "text": {"type": "0x0800"},
                                      "fields": {"pcp": 0, "dei": 0, "vid": 1, "type": 2048}},
                    ipv4(18, "10.0.0.0", "192.168.1.1", 17, 42), udp(38)],
        "hex": "0277720000010277720000008100000108004500002a000000004011af1a0a000000c0a8010104d203e8001657846162636465666768696a6b6c6d6e",
        "varies": ["ipv4.src", "udp.dst"], "bytes": [[32, 2], [40, 2]], "follows": ["ipv4.cksum", "udp.cksum"],
        "follows_bytes": [[28, 2], [44, 2]]}, fields=VARIED[:2])


def frame_tunnel():
    """Fields of the second header of a kind, padding, and bytes longer than a line."""
    inner = ipv4(64, "192.168.0.1", "10.9.8.7", 6, 1000)
    v6 = {"name": "ipv6", "offset": 84, "text": {"tc": "0x00"},
          "fields": {"version": 6, "tc": 0, "src": "2001:db8:1111:2222:3333:4444:5555:6666", "dst": "fd00::1:1"}}
    options = {"name": "tcp", "offset": 124, "fields": {"src": 1, "dst": 2, "opts": "0102030405060708090a0b0c0d0e0f10" * 4}, "malformed": "short"}
    return frame_of({
        "size": 260, "stack": "eth/ipv4/udp/vxlan/eth/ipv4/ipv6/tcp", "payload": {"offset": 150, "len": 100}, "padding": {"offset": 250, "len": 6},
        "headers": [eth(0, 0x800), ipv4(14, "10.0.0.1", "10.0.0.2", 17, 242), udp(34, 4789, False),
                    {"name": "vxlan", "offset": 42, "fields": {"flags": 2048, "vni": 77}}, eth(50, 0x800), inner, v6, options],
        "hex": "".join(f"{(7 * i) % 256:02x}" for i in range(256)),
        "varies": ["ipv4[2].src", "ipv6.dst", "payload", "size"], "bytes": [[76, 4], [108, 16], [150, 100]],
        "follows": ["ipv4.len", "ipv4[2].cksum"], "follows_bytes": [[16, 2], [74, 2]]},
        size="64..260", fields=[field("ipv4[2].src", "192.168.0.0/24", True), field("ipv6.dst", "fd00::/8", True)])


def frame_none():
    return frame_of(None, "stream 0/0: udp.src varies, but the frame eth/ipv4/tcp has no such field: `set <ports> udp.src default` takes "
                          "the value back, `set <ports> frame ...` gives another frame")


def frame_strange():
    return frame_of({"stack": 4, "size": "x", "headers": [None, 7, {"name": "\x1b]0;x", "fields": {"a": [1], "b": None, "c": {"d": 1}}}],
                     "hex": "0g1", "varies": "all", "bytes": [[-4, 2], [0, 9e9], ["a"], 5], "follows": None, "follows_bytes": [[0, 1000000]],
                     "payload": {"offset": -1, "len": 1e300}})


def config(number, name=None, **more):
    c = {"port": number, "name": name or f"wire{number}", "spec": "wire", "driver": "net_ring", "link": "up", "speed_mbps": 10000,
         "mac": f"02:77:72:00:00:{number:02x}", "mtu": 1500, "node": -1, "pci": None, "used": True, "rx_queues": 1, "tx_queues": 1,
         "rxd": 1024, "txd": 1024, "mbufs": 2304, "memory_bytes": 5_455_872, "offloads": "none", "rss": "off (one Rx queue)",
         "flow_control": "not offered by the device", "promiscuous": False, "notes": []}
    c.update(more)
    return c


def nic(number, **more):
    return config(number, f"0000:{0x81 + number // 2:02x}:00.{number % 2}", spec=f"pci:0000:{0x81 + number // 2:02x}:00.{number % 2}",
                  driver="mlx5_pci", speed_mbps=100000, node=number // 2, pci=f"0000:{0x81 + number // 2:02x}:00.{number % 2}", rx_queues=8,
                  tx_queues=8, rxd=4096, txd=2048, mbufs=16_384, memory_bytes=419_430_400, promiscuous=True,
                  offloads="mbuf fast free, ipv4 checksum, tcp checksum, udp checksum, multi segments", rss="ip udp tcp, 40 byte key, 512 entries",
                  flow_control="rx and tx pause, autonegotiated", **more)


def ports_snapshot(configs, lcores=1):
    s = snapshot(ports_of(len(configs)), [])
    queues = [{"port": c["port"], "side": side, "queue": q, "lcore": 1 + (q % lcores) + (8 if side == "tx" else 0)}
              for c in configs for side in ("rx", "tx") for q in range(c[f"{side}_queues"])]
    s.update(config=configs, map={"queues": queues, "ports": [], "lcores": []})
    return s


def ports_one():
    return ports_snapshot([config(0)])


def ports_two():
    """An interface of the kernel, with notes, and a port that no map names."""
    return ports_snapshot([
        config(0, "if:eth1", spec="if:eth1", driver="net_af_packet", link="down", speed_mbps=0, notes=[
            "the kernel's own frames are filtered out; its drops are rx.missed",
            "AF_PACKET reassembles IPv4 fragments and cuts GSO frames: switch offloads of the interface off with ethtool"]),
        config(1, used=False, rx_queues=0, tx_queues=0, mbufs=0, memory_bytes=0, notes=["not used: no map names it"])])


def ports_eight():
    return ports_snapshot([nic(n) for n in range(8)], 8)


def ports_many():
    """32 ports of two kinds."""
    return ports_snapshot([nic(n) if n < 4 else config(n) for n in range(32)], 4)


def ports_none():
    return ports_snapshot([])


def xstats_of(values, number=0):
    s = snapshot(ports_of(2), [])
    s["xstats"] = {"port": number, "name": f"wire{number}", "values": values}
    return s


def counter(name, value, rate=None):
    return {"name": name, "value": value, "per_s": rate}


def xstats():
    return xstats_of([
        counter("rx_good_packets", 123_456_789, 14_880_952.4), counter("tx_good_packets", 123_456_790, 14_880_952), counter("rx_good_bytes", None),
        counter("rx_missed_errors", 1204, 12.5), counter("rx_errors", 0, 0), counter("tx_errors", 0, 0),
        counter("rx_q0_packets", 61_728_394, 7_440_476), counter("rx_q1_packets", 61_728_395, 7_440_476),
        counter("rx_q0_errors", 0, 0), counter("out_of_buffer", 7, None)])


def xstats_many():
    """A NIC with 64 queues: more than there are rows."""
    return xstats_of([counter(f"{side}_q{q}_{what}", (q * 7919 + 1) * 10 ** (q % 12) if q % 5 else 0, 1000.0 * q)
                      for side in ("rx", "tx") for q in range(64) for what in ("packets", "bytes", "errors")])


def xstats_zero():
    return xstats_of([counter(f"rx_q{q}_packets", 0, 0) for q in range(13)])


def xstats_none():
    return xstats_of([], 1)


def xstats_strange():
    return xstats_of([counter("端口零" * 20, 9_223_372_036_854_775_807, 9e18), counter(None, "x"), 5, counter("\x1b[2J", -4, -1.5), {"value": 1}])


def message(number, level, text):
    clock = f"15:{number // 60 % 60:02d}:{number % 60:02d}.123"
    return {"seq": number, "wall_ns": 1_700_000_000_000_000_000, "time": clock, "level": level, "text": text}


def log():
    return {**snapshot(ports_of(1), []), "log": [
        message(1, "info", "EAL options: --no-telemetry --no-pci --lcores 0@0,1@1 --no-huge --no-shconf -m 35"),
        message(2, "debug", "dpdk: EAL: Detected CPU lcores: 2"),
        message(3, "warning", "port 0: asked for 20.00Mpps, which is more than the 14.88Mpps that the link carries at 64 bytes"),
        message(4, "error", "port 1 (if:eth1): link down; frames are kept for the next turn"),
        message(5, "info", "a_word_without_blanks_that_is_longer_than_a_narrow_screen_is_wide_and_is_broken_anywhere")]}


def log_many():
    return {**snapshot(ports_of(1), []), "log": [message(n, "info", f"message number {n}") for n in range(1024)]}


def log_none():
    return {**snapshot(ports_of(1), []), "log": []}


def log_strange():
    return {**snapshot(ports_of(1), []), "log": [5, {"text": None}, message(1, "端", "端口零 " * 30 + "\x1b[31m"), message(2, "error", "")]}


def help():  # pylint: disable=redefined-builtin
    return {**snapshot(ports_of(1), []), "help": [
        {"name": "start", "help": "Start sending, all ports at the same time."},
        {"name": "stop", "help": "Stop sending. Does nothing on a port that is idle."},
        {"name": "show", "help": "Print a result: as text, or with --json and --csv for programs. Alone: what can be shown."},
        {"name": "stream add", "help": "Make streams: N more (or one) behind the last, or those that are named: `stream add 0/4-7`."},
        {"name": "quit", "help": "Stop all ports and leave."}]}


SNAPS = {f.__name__: f for f in (
    streams, streams_engines, streams_many, streams_last, streams_none, streams_strange, frame, frame_tunnel, frame_none, frame_strange,
    ports_one, ports_two, ports_eight, ports_many, ports_none, xstats, xstats_many, xstats_zero, xstats_none, xstats_strange, log, log_many,
    log_none, log_strange, help)}
