# SPDX-License-Identifier: BSD-3-Clause
"""Snapshots with the part of the page latency: what `show latency --json` gives (lib/work/probe/probe.h)."""
import math

from snap_base import port, queue, snapshot

NAMES = ("p50", "p90", "p95", "p99", "p99_9", "p99_99", "p99_999")
SAMPLES = (2, 10, 20, 100, 1000, 10_000, 100_000)


def bins(samples, low, high):
    """A peak a little above the lowest value, a smaller one at twenty times of it, and a tail."""
    if not samples:
        return None
    n = int(math.log2(max(high / low, 1.001)) * 16) + 1
    counts = [int(samples * (0.08 * math.exp(-((i - 9) / 6) ** 2) + 0.01 * math.exp(-((i - 69) / 8) ** 2))) for i in range(n)]
    counts[-1] += 1
    return {"from_ns": low, "per_octave": 16, "counts": counts}


def hist(samples, base, spread=1.0):
    """Values that grow with each percentile; null where there are too few samples."""
    n = range(len(NAMES))
    return {"samples": samples, "error": 1 / 1024, "above": 0, "min_ns": base if samples else None,
            "mean_ns": base * 1.37 * spread if samples else None,
            "max_ns": int(base * 90 * spread) if samples else None, "stdev_ns": base * 0.3 if samples > 1 else None,
            "bins": bins(samples, base, int(base * 90 * spread)),
            "pdv_ns": int(base * 9.5 * spread) if samples >= 1000 else None,
            "percentiles_ns": {NAMES[i]: int(base * (1.1 + i * i * 0.8 * spread)) if samples >= SAMPLES[i] else None for i in n}}


def counts(sent, **more):
    c = {"sent": sent, "received": sent, "lost": 0, "loss": 0.0 if sent else None, "duplicated": 0, "reordered": 0, "late": 0, "corrupted": 0,
         "extent_max": 0, "extent_mean": None, "extent_unknown": 0, "jitter_ns": 38.4 if sent else None, "rx_queues": 1, "exact": True}
    c.update(more)
    return c


def stamps(nic, software, text, unstamped=0, odd=0, error_ns=None):
    """Who timed so many frames."""
    return {"source": "both" if nic and software else "nic" if nic else "software", "nic": nic, "software": software, "unstamped": unstamped,
            "odd": odd, "error_ns": error_ns, "text": text}


def receiver(number, sent, base=812, **more):
    gaps = hist(max(sent - 1, 0), 900, 0.1)
    gaps.update(target_ns=1000.0 if sent else None, near={"64": 0.815, "128": 0.9325, "256": 0.99, "512": 1.0} if sent else {},
                cv=0.0427 if sent > 2 else None, dispersion={"1us": 0.12, "10us": 0.031, "100us": 0.0042, "1ms": 0.00051} if sent else {})
    p = {"port": number, "name": f"wire{number}", "queues": 1, "probes": sent, "plain": 0, "damaged": 0, "foreign": 0, "early": 0,
         "counts": counts(sent), "from": [], "latency": {"actual": hist(sent, base), "intended": hist(sent, base + 60, 1.4)}, "gap": gaps,
         "timestamps": stamps(0, sent, "by our clock (the device offers none)"),
         "jitter": None, "bias_ns": None, "bias_clock": None, "bias_other": False, "corrected": False}
    p["counts"].update(more.pop("counts", {}))
    p.update(more)
    return p


def stream(number, sent, base=900):
    return {**counts(sent), "port": 0, "stream": number, "receivers": [1], "latency": hist(sent, base)}


def latency(receivers, n=None, streams=(), armed=True, settled=True):
    s = snapshot([port(i, f"wire{i}", [queue(0, 1000, 1000, 1 + i, 1 + i, 10)]) for i in range(len(receivers) if n is None else n)], [])
    s["latency"] = {"show": "latency", "armed": armed, "settled": settled, "corrected": False, "clock": {"hz": 2.6e9, "uncertainty_ppm": 0.02},
                    "memory_bytes": 9_000_000, "window": 65536, "ports": receivers, "streams": list(streams)}
    return s


def latency_two():
    """Port 0 sends to port 1, which hears all; nothing comes back."""
    return latency([receiver(0, 0), receiver(1, 14_880_952, **{"from": [{"port": 0, **counts(14_880_952)}]})])


def latency_trouble():
    """Port 1 is selected by page_grid: every kind of loss, on several queues."""
    bad = {"received": 9_998_876, "lost": 1111, "loss": 0.0001111, "duplicated": 17, "reordered": 23_000, "late": 3, "corrupted": 10,
           "extent_max": 117, "extent_mean": 4.2, "rx_queues": 4, "exact": False, "why": "windows of several Rx queues could not be compared in time"}
    timed = stamps(10_008_000, 3226, "by the device's time stamps, known to 23 ns", 3000, 226, 22.4)
    return latency([receiver(0, 10_000_000, 23_456_789, counts=bad, damaged=5, foreign=12_345, timestamps=timed, bias_other=True),
                    receiver(1, 10_000_000)],
                   streams=[stream(n, 1000 * 10 ** (n % 4)) for n in (0, 1, 2, 7, 4095)], settled=False)


def latency_way():
    """While it sends: two of a million have not come yet. Of what port 0 sends to port 1 far too much has not."""
    few = {"received": 999_998, "lost": 2, "loss": 0.000002}
    many = {"received": 900_000, "lost": 100_000, "loss": 0.1}
    return latency([receiver(0, 1_000_000, counts=few, **{"from": [{"port": 1, **counts(1_000_000)}]}),
                    receiver(1, 1_000_000, counts=many, **{"from": [{"port": 0, **counts(1_000_000)}]})],
                   streams=[{**stream(0, 1000), "lost": 1}, {**stream(1, 1000), "lost": 500}], settled=False)


def latency_few():
    """A handful of probes say nothing of percentiles. They came before the device's clock was known."""
    timed = stamps(0, 1, "by the device's time stamps, known to 9 ns", error_ns=8.3)
    return latency([receiver(0, 1, timestamps=timed), receiver(1, 15)])


def latency_eight():
    timed = [stamps(1_000_000 * (i + 1), 0, "by the device's time stamps, known to 9 ns", error_ns=8.3) for i in range(8)]
    return latency([receiver(i, 1_000_000 * (i + 1), 500 + 100 * i, bias_ns=480 + i, bias_clock="nic", timestamps=timed[i]) for i in range(8)])


def latency_many():
    """32 ports, of which the last receives nothing at all."""
    return latency([receiver(i, 1000 * i, 500 + 100 * i) for i in range(31)], 32)


def latency_off():
    return latency([receiver(0, 0), receiver(1, 0)], armed=False)


def latency_strange():
    return latency([{"port": 0, "counts": 5, "latency": [], "gap": None, "probes": "x"}, None, {"port": "1"}], 2, [None, {"stream": "y"}, 7])


SNAPS = {f.__name__: f for f in (latency_two, latency_trouble, latency_way, latency_few, latency_eight, latency_many, latency_off, latency_strange)}
