# SPDX-License-Identifier: BSD-3-Clause
"""Snapshots of the counters, as a running program makes them: app/snapshot.h and lib/count/snap.h say what is in them.

Everything follows from the arguments, so that a drawing changes only when a page or a line here does.
"""
import copy

S = 1_000_000_000
SIZES = ("0-63", "64", "65-127", "128-255", "256-511", "512-1023", "1024-1522", "1523-")


def wave(n, high, shift=0):
    """n values between half of high and high, always the same."""
    return [high // 2 + (high // 2) * ((7 * (i + shift)) % 13) // 12 for i in range(n)]


def l1(pps, size=64):
    return pps * (size + 20) * 8


def side(queue_pps, seconds, size=64):
    return {"packets": queue_pps * seconds, "bytes": queue_pps * seconds * size, "pps": queue_pps, "l1_bps": l1(queue_pps, size)}


def queue(number, tx_pps, rx_pps, tx_worker, rx_worker, seconds):
    q = {"queue": number}
    if tx_pps is not None:
        q["tx"] = {**side(tx_pps, seconds), "dropped": 0, "stalls": 0, "unsent": 0, "nombuf": 0, "worker": tx_worker,
                   "bursts": tx_pps * seconds // 32, "cycles_per_burst": 1450.5 + 10 * number if tx_pps else None,
                   "dropped_pps": 0, "stalls_per_s": 0, "nombuf_per_s": 0}
    if rx_pps is not None:
        q["rx"] = {**side(rx_pps, seconds), "worker": rx_worker, "bursts": rx_pps * seconds // 32,
                   "cycles_per_burst": 2100 + 25 * number if rx_pps else None, "full": rx_pps // 3200}
    return q


def total(queues, name, keys):
    return {key: sum(q[name].get(key, 0) for q in queues if name in q) for key in keys}


def sizes(packets):
    """Nearly all of 64 bytes, the rest spread."""
    tenth = packets // 10
    return dict(zip(SIZES, (0, packets - 3 * tenth, tenth, tenth // 2, 0, tenth // 2, tenth, 0)))


def port(number, name, queues, state="sending", speed=10000, link="up", seconds=10, asked=None):
    tx = total(queues, "tx", ("packets", "bytes", "dropped", "stalls", "unsent", "nombuf", "pps", "l1_bps"))
    rx = total(queues, "rx", ("packets", "bytes", "pps", "l1_bps"))
    sent = tx["packets"]
    asked = tx["pps"] if asked is None else asked
    p = {
        "port": number, "name": name, "link": link, "speed_mbps": speed, "used": True,
        "run": {"state": state, "sent": sent, "bytes": 64 * sent, "duration_ns": seconds * S, "steady_ns": seconds * S,
                "asked_pps": asked, "asked_max": False, "rate_changed": False, "mean_pps": sent // seconds if seconds else 0},
        "tx": {**tx, "errors": 0, "sizes": sizes(sent)},
        "rx": {**rx, "missed": 0, "nombuf": 0, "errors": 0, "sizes": sizes(rx["packets"]), "broadcast": 12, "multicast": 340},
        "nic": {"source": "device", "tx": {"packets": sent, "bytes": 60 * sent, "errors": 0},
                "rx": {"packets": rx["packets"], "bytes": 60 * rx["packets"], "errors": 0}},
        "max": {name: {"pps": s["pps"] * 11 // 10, "l1_bps": s["l1_bps"] * 11 // 10} for name, s in (("tx", tx), ("rx", rx))},
        "history": {"interval_ns": S},
        "queues": queues,
    }
    for name, s in (("tx", tx), ("rx", rx)):
        for key in ("pps", "l1_bps"):
            p["history"][f"{name}_{key}"] = wave(max(seconds, 1), s[key], number)
    return p


def worker(lcore, busy, **more):
    w = {"lcore": lcore, "cpu": lcore, "node": lcore // 16, "busy": busy, "asleep": False, "loops": 31_000_000, "sleeps": 3, "yields": 0,
         "events_lost": 0, "plan": 7, "tasks": 2, "rx_queues": 1, "loops_per_s": 3_100_000, "pps": 14_880_000,
         "cycles_per_packet": 118.25, "wait": 0.0, "stalls_per_s": 0,
         "stall": {"count": 12 * lcore, "total_ns": 900_000 * lcore, "longest_ns": 1_234_567 * lcore, "over_ns": 50_000},
         "waited_ns": 25_000_000}
    w.update(more)
    return w


def brief(number, mode="Single", **more):
    b = {
        "port": number, "stream": 0, "mode": mode, "flags": "P--------", "encap": "", "error": None, "frame": "eth/ipv4/udp",
        "streams": "1", "count": "Forever", "rate": "100%",
        "size": "64", "burst": "32", "rxburst": "64", "sport": "1234", "dport": "5678", "type": "IPv4", "proto": "UDP", "vlan": None,
        "tcp_flags": None, "ip_dst": f"192.168.{number ^ 1}.1", "ip_src": f"192.168.{number}.1", "mac_dst": f"52:54:00:00:00:{number ^ 1:02x}",
        "mac_src": f"52:54:00:00:00:{number:02x}", "node": "0", "pci": f"0000:{3 + number // 2:02x}:00.{number % 2}",
    }
    b.update(more)
    return b


def cpu(sockets=1, cores=4, threads=2, used=()):
    """lcores of `used` are on the CPUs of the same number, the first of them is control."""
    cpus = []
    for n in range(sockets * cores * threads):
        socket = n % (sockets * cores) // cores
        lcores = [n] if n in used else []
        role = "control" if lcores and n == used[0] else "rx 0.0 tx 1.0-3" if lcores else None
        cpus.append({"cpu": n, "socket": socket, "core": n % cores, "node": socket, "isolated": None, "nohz_full": None, "governor": None,
                     "khz": None, "max_khz": None, "lcore": lcores[0] if lcores else None, "lcores": lcores, "role": role})
    return {"model": "Example CPU @ 2.40GHz", "kernel": "Linux 6.1.0-example", "sockets": sockets, "cores": sockets * cores,
            "threads": sockets * cores * threads, "cpus": cpus, "floating": {"lcore": None, "lcores": [], "role": None}}


def snapshot(ports, workers, topology=None):
    return {"show": "stats", "time_ns": 5000 * S, "wall_ns": 1_700_000_000 * S, "ports": ports, "workers": workers,
            "brief": [brief(p["port"]) for p in ports], "cpu": topology or cpu(used=range(len(workers) + 1))}


def one():
    """One port that answers itself, one queue."""
    return snapshot([port(0, "wire0", [queue(0, 1_000_000, 1_000_000, 1, 1, 10)])], [worker(1, 0.42, pps=1_000_000)])


def two():
    """Sender and receiver, two queues each, at line rate."""
    p0 = port(0, "wire0", [queue(q, 7_440_476, None, 1 + q, 0, 10) for q in range(2)])
    p1 = port(1, "wire1", [queue(q, None, 7_440_476, 0, 3 + q, 10) for q in range(2)], state="idle", asked=0)
    p1["run"].update(sent=0, bytes=0, duration_ns=0, asked_pps=0, mean_pps=0)
    return snapshot([p0, p1], [worker(1 + n, (0.31, 0.305, 0.874, 0.861)[n]) for n in range(4)], cpu(used=range(5)))


def eight():
    """Both ways, one queue a side, each port at its own rate."""
    ports = [port(n, f"0000:{3 + n // 2:02x}:00.{n % 2}", [queue(0, 123_456 * 3 ** n % 14_880_952, 99_999 * 3 ** n % 14_880_952, 1 + n, 1 + n, 60)],
                  seconds=60, speed=(10000, 25000, 40000, 100000)[n // 2]) for n in range(8)]
    s = snapshot(ports, [worker(1 + n, n / 8) for n in range(8)], cpu(2, 8, 1, range(9)))
    s["brief"][0].update(rate="400pps")
    s["brief"][1].update(rate="400pps", count="100000")
    return s


def thirtytwo():
    """32 ports with 4 queues."""
    ports = [port(n, f"wire{n}", [queue(q, 10_000 * (n + 1) + q, 10_000 * (n ^ 1) + q, 1 + q, 5 + q, 30) for q in range(4)], seconds=30)
             for n in range(32)]
    return snapshot(ports, [worker(1 + n, 0.1 * n) for n in range(8)], cpu(2, 32, 2, range(9)))


def sixteen_queues():
    """One port of 100 Gbit/s with 16 queues, some of them a little above the others."""
    q = [queue(n, 9_300_595, 9_000_000 + 20_000 * n, 1 + n, 17 + n, 20) for n in range(16)]
    workers = [worker(1 + n, 0.5 + 0.015 * n, node=n // 16, pps=9_300_595) for n in range(32)]
    return snapshot([port(0, "0000:81:00.0", q, speed=100000, seconds=20)], workers, cpu(2, 18, 1, range(33)))


def imbalance():
    """RSS that sends nearly everything to two of eight queues, and two workers at their end."""
    rx = (5_200_000, 4_900_000, 700_000, 650_000, 12_000, 0, 690_000, 2_000_000)
    q = [queue(n, 1_769_000, rx[n], 1 + n % 4, 5 + n, 10) for n in range(8)]
    for n in range(2):
        q[n]["rx"]["full"] = q[n]["rx"]["bursts"] - 40
    p = port(0, "if:eth1", q)
    p["rx"].update(missed=1_234_567, nombuf=89)
    return snapshot([p], [worker(1 + n, 0.6) for n in range(4)] + [worker(5 + n, min(1.0, rx[n] / 5_000_000)) for n in range(8)],
                    cpu(1, 16, 1, range(13)))


def drops():
    """A device that does not take what it is asked to, and loses what arrives."""
    s = two()
    for n, p in enumerate(s["ports"]):
        for q in p["queues"]:
            if "tx" in q:
                q["tx"].update(stalls=91_000, stalls_per_s=9_120, dropped=31, dropped_pps=3, nombuf=7_000, nombuf_per_s=712)
        p["tx"].update(stalls=182_000 * (1 - n), dropped=62 * (1 - n), nombuf=14_000 * (1 - n), unsent=250 * (1 - n), errors=n)
        p["rx"].update(missed=1_000_001 * n, nombuf=5 * n, errors=12 * n)
    s["ports"][0]["run"]["asked_pps"] = 20_000_000
    s["ports"][0]["nic"]["unconfirmed"] = 44
    s["workers"][1].update(wait=0.125, stalls_per_s=9_120, yields=40_100)
    s["workers"][3].update(asleep=True, busy=0.0, pps=0, cycles_per_packet=None, loops_per_s=1000, events_lost=2)
    return s


def bounded():
    """Started for a time, after a trial that says nothing about the device."""
    s = two()
    s["head"] = {"left_ns": 48 * S, "verdict": "tester-limited"}
    return s


def short_of():
    """Port 0 has sent less than it was asked for in each of the last intervals, port 1 in the last one alone."""
    s = two()
    for n, p in enumerate(s["ports"]):
        p["run"].update(state="sending", asked_pps=1_000_000, steady_ns=10 * S, duration_ns=10 * S)
        p["tx"].update(pps=900_000)
        p["history"]["tx_pps"] = [1_000_000] * 7 + ([900_000] * 3 if n == 0 else [1_000_000, 1_000_000, 900_000])
    return s


def ended():
    """What a long run leaves, after a good trial."""
    s = two()
    for p in s["ports"]:
        p["run"].update(state="idle", duration_ns=(3 * 3600 + 61) * S)
        p["tx"].update(pps=0, l1_bps=0)
        p["rx"].update(pps=0, l1_bps=0)
    s["ports"][0]["rx"]["errors"] = 3
    s["head"] = {"left_ns": None, "verdict": "valid"}
    return s


def link_gone():
    """The interface of a port was deleted."""
    s = two()
    s["ports"][0].update(link="deleted", speed_mbps=0, name="if:eth1")
    return s


def link_down():
    s = two()
    s["ports"][1].update(link="down", speed_mbps=0)
    s["ports"][0].update(link="unknown", speed_mbps=0)
    s["ports"][0]["run"]["state"] = "draining"
    return s


def scaled(v, fn):
    if isinstance(v, dict):
        return {key: item if key in ("port", "queue", "worker", "lcore", "cpu", "node", "used", "busy") else scaled(item, fn)
                for key, item in v.items()}
    if isinstance(v, list):
        return [scaled(item, fn) for item in v]
    return fn(v) if isinstance(v, (int, float)) and not isinstance(v, bool) else v


def zero():
    """Just started, nothing sent yet."""
    s = two()
    s["ports"] = scaled(s["ports"], lambda v: 0)
    idle = {"busy": 0.0, "pps": 0, "cycles_per_packet": None, "loops_per_s": 1000, "asleep": True}
    s["workers"] = [{**w, **idle} for w in scaled(s["workers"], lambda v: 0)]
    for p in s["ports"]:
        p["run"]["state"] = "idle"
        p["speed_mbps"] = 10000
        for key in ("tx_pps", "rx_pps", "tx_l1_bps", "rx_l1_bps"):
            p["history"][key] = []
    return s


def huge():
    """Counters after months at the highest rates: 63 bits."""
    s = drops()
    most = 9_223_372_036_854_775_807
    s["ports"] = scaled(s["ports"], lambda v: most)
    s["workers"] = scaled(s["workers"], lambda v: most)
    for p in s["ports"]:
        p["speed_mbps"] = 800_000
    return s


KEEP = ("port", "queue", "lcore")


def bare(v):
    """Nothing but numbers of ports, queues and workers."""
    if isinstance(v, dict):
        return {key: item if key in KEEP else bare(item) for key, item in v.items() if key in KEEP or isinstance(item, (dict, list))}
    return [bare(item) for item in v if isinstance(item, dict)] if isinstance(v, list) else v


def missing():
    """A source that knows almost nothing."""
    s = two()
    return {"ports": bare(s["ports"]), "workers": bare(s["workers"])}


def first_version():
    """The keys of the first version alone."""
    s = copy.deepcopy(two())
    for p in s["ports"]:
        for key in ("max", "history"):
            del p[key]
        for name in ("tx", "rx"):
            p[name].pop("sizes")
        for q in p["queues"]:
            for name in ("tx", "rx"):
                for key in ("bursts", "cycles_per_burst", "dropped_pps", "stalls_per_s", "nombuf_per_s", "full"):
                    q.get(name, {}).pop(key, None)
    for w in s["workers"]:
        for key in ("loops_per_s", "pps", "cycles_per_packet", "wait", "stalls_per_s", "node"):
            del w[key]
    del s["brief"], s["cpu"]
    return s


def strange():
    """Names that are wide, combining or no text, and values of other types than they should be."""
    s = two()
    s["ports"][0]["name"] = "端口零-αβγ-e\u0301-\u202e-end"
    s["ports"][1].update(name="tab\there\x1b[31m", link=7, speed_mbps="fast", queues="none", history=[1, 2], max=None)
    s["ports"][1]["tx"]["pps"] = "many"
    s["brief"][0].update(mode="sequence of a very long name", ip_dst="2001:0db8:85a3:0000:0000:8a2e:0370:7334", flags="PEBILipRc VLAN VxLan")
    s["workers"].append("x")
    s["ports"].append(None)
    return s


def crowded():
    """One worker for everything, on the CPU of control; another one that has no CPU of its own."""
    s = snapshot([port(n, f"wire{n}", [queue(q, 1000, 1000, 1, 1, 10) for q in range(4)]) for n in range(3)],
                 [worker(1, 0.5, cpu=0, wait=0.31), worker(2, 0.0, cpu=-1, asleep=True)], cpu(1, 2, 1, range(1)))
    s["cpu"]["cpus"][0].update(lcores=[0, 1], role="control; rx 0.0-3 tx 0.0-3")
    s["cpu"]["floating"] = {"lcore": 2, "lcores": [2], "role": "unused"}
    s["brief"][1].update(mode="Seq", flags="PE--L--r-", encap="VLAN VxLan", ip_dst="2001:db8:85a3::8a2e:370:7334", type="IPv6", vlan="0001",
                         tcp_flags="0010", proto="TCP", count="1000000", size="64..1518")
    return s


def tuned():
    """CPUs kept free for us, most of them at a fixed clock. The rate of one port was just changed, the other sends as fast as it can."""
    s = two()
    s["ports"][0]["run"].update(asked_pps=20_000_000, rate_changed=True, steady_ns=S)
    s["ports"][1]["run"].update(state="sending", asked_pps=None, asked_max=True, sent=100, duration_ns=S, mean_pps=100)
    for c in s["cpu"]["cpus"]:
        c.update(isolated=c["cpu"] not in (0, 4, 5), governor="performance" if c["cpu"] < 6 else "powersave")
    return s


def mixed():
    """Unused ports between used ones, numbers with gaps, unequal numbers of queues a side."""
    ports = [port(n, f"null{n}", [queue(q, 1000 * (q + 1) if q < 2 else None, 500 if q != 1 else None, 1, 2, 10) for q in range(3)])
             for n in (0, 2, 3, 7)]
    ports[1]["used"] = False
    return snapshot(ports, [worker(1, 0.9), worker(2, 0.2)])


def empty():
    return snapshot([], [])


SNAPS = {f.__name__: f for f in (
    one, two, bounded, short_of, ended, eight, thirtytwo, sixteen_queues, imbalance, drops, link_down, link_gone, zero, huge, missing,
    first_version, strange, crowded, tuned, mixed, empty)}
