# SPDX-License-Identifier: BSD-3-Clause
"""Snapshots with the part of the page dperf: app/part/part_dperf.c says what is in it."""
from snap_base import snapshot
from snap_pages import ports_of

COUNTS = """pktRx pktTx bitsRx bitsTx dropTx tcpRx tcpTx udpRx udpTx arpRx arpTx icmpRx icmpTx tosRx otherRx badRx synRx synTx finRx finTx rstRx rstTx
synRt finRt ackRt pushRt tcpDrop udpDrop ackDup udpRt skOpen skClose skCon skErr httpGet httpPost http2XX httpErr tcpReq tcpRsp ierrors oerrors
imissed""".split()


def numbers(n, protocol="tcp", wrong=0, **more):
    out = dict.fromkeys(COUNTS, 0)
    out.update(dict.fromkeys(("udpDrop",) if protocol == "tcp" else ("ackRt", "tcpDrop")))
    out.update(pktRx=3 * n + 4, pktTx=3 * n + 3, bitsRx=2160 * n, bitsTx=2120 * n, arpRx=4, arpTx=3, skOpen=n, skClose=n - 64, skCon=64,
               skErr=wrong, rtt_us=54.96 if n else None, errors={"connect_timeout": wrong, "timed_out": 0} if wrong else {})
    out.update({f"{protocol}Rx": 3 * n, f"{protocol}Tx": 3 * n})
    return {**out, **more}


def block(role, port, n, second=True, protocol="tcp", app="http", **more):
    tcp = {"synRx": n, "synTx": n, "finRx": n, "finTx": n} if protocol == "tcp" else {}
    counts = {**tcp, **({"httpGet": n, "http2XX": n} if app == "http" else {"tcpReq": n, "tcpRsp": n}), **more}
    return {"role": role, "ports": [port], "protocol": protocol, "app": app, "single": role == "client", "seconds": 10, "cpuUsage": [43],
            "second": numbers(n // 10, protocol, **{k: v if k == "wrong" or v is None else v // 10 for k, v in counts.items()}) if second else None,
            "total": numbers(n, protocol, **counts)}


def with_dperf(*blocks):
    return {**snapshot(ports_of(2), []), "dperf": list(blocks)}


def dperf_pair():
    return with_dperf(block("client", 0, 12_345_678, wrong=17), block("server", 1, 12_345_678))


def dperf_udp():
    return with_dperf(block("client", 0, 9_000, second=False, protocol="udp", app=None))


def dperf_none():
    return with_dperf()


SNAPS = {f.__name__: f for f in (dperf_pair, dperf_udp, dperf_none)}
