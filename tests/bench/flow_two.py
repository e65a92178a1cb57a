# SPDX-License-Identifier: BSD-3-Clause
"""Connections between two workers on two CPUs, by the program: over `wire`, where both are in one process, and over memif, in two processes.

A connection has a GET and 100 bytes in return, and the checksums of all its frames are made and verified. Both ways are measured in turn.
"""
import json
import os
import statistics
import subprocess
import tempfile
import time

from proc import CannotRun

RATIO = 0.9
SLICE_S = 1
STARTS = 4  # of memif, which DPDK 22.11 may begin without receiving
ROW = "flow_two_wire / memif"
CLIENT = "set 0 flow client; set 0 cps max; set 0 connections 256; set 0 flow.timewait 0s"
# what memif needs, since nobody answers ARP there
CLIENT_ALONE = "set 0 eth.dst 02:77:72:00:00:00; set 0 flow.src 10.0.0.1; set 0 flow.dst 10.0.0.2"
SERVER_ALONE = "set 0 flow server; set 0 flow.timewait 0s; set 0 eth.dst 02:77:72:00:00:00; set 0 flow.src 10.0.0.2"


class Program:
    def __init__(self, program, lcores, *options, prefix=()):
        self.proc = subprocess.Popen([*prefix, program, "--lcores", lcores, "--no-huge", "-m", "512", "--no-shconf", "--", "--json", "-b", *options],
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.proc.stdin.close()
        self.proc.kill()
        self.proc.wait()
        self.proc.stdout.close()
        self.proc.stderr.close()

    def say(self, line):
        self.proc.stdin.write(line + "\n")
        self.proc.stdin.flush()

    def ask(self, what):
        """The answer comes when what was said before is done."""
        try:
            self.say(f"show {what}")
            for line in self.proc.stdout:
                doc = json.loads(line)
                if doc.get("show") == what:
                    return doc
        except BrokenPipeError:
            pass
        raise CannotRun(f"the program ended with {self.proc.wait()}: {self.proc.stderr.read().strip()[-300:]}")

    def link(self):
        return all(p["link"] == "up" for p in self.ask("ports")["ports"])

    def closed(self):
        return self.ask("flows")["flows"][0]["connections"]["closed"]

    def rate(self, ports):
        """Connections a second, behind a start that brings the memory in."""
        self.say(f"start {ports} for 300ms; wait 0")
        before = self.closed()
        self.say(f"start {ports} for {SLICE_S}s; wait 0")
        return (self.closed() - before) / SLICE_S


def wire(program, cpus):
    with Program(program, f"0@{cpus[0]},1@{cpus[0]},2@{cpus[1]}", "-p", "wire", "-m", "1.0,2.1") as p:
        p.say(f"{CLIENT}; set 1 flow server; set 1 flow.timewait 0s")
        return p.rate("all")


def memif_once(program, cpus, path):
    port = f"socket={path},socket-abstract=no"
    with Program(program, f"0@{cpus[1]},1@{cpus[1]}", "-p", f"memif:role=server,{port}", "-m", "1.0") as server:
        server.say(f"{SERVER_ALONE}; start 0")
        server.ask("ports")
        with Program(program, f"0@{cpus[0]},1@{cpus[0]}", "-p", f"memif:role=client,{port}", "-m", "1.0") as client:
            client.say(f"{CLIENT}; {CLIENT_ALONE}")
            end = time.monotonic() + 10
            while not (client.link() and server.link()):
                if time.monotonic() > end:
                    return 0
                time.sleep(0.1)
            return client.rate("0")


def memif(program, cpus):
    for _ in range(STARTS):
        with tempfile.TemporaryDirectory() as d:
            rate = memif_once(program, cpus, os.path.join(d, "memif"))
        if rate > 0:
            return rate
    raise CannotRun(f"memif: in {STARTS} starts nothing was received")


def measure(program, cpu):
    """One slice of each, or why there is none."""
    other = next((c for c in sorted(os.sched_getaffinity(0)) if c != cpu), None)
    if other is None:
        return {"why": "there is one CPU"}
    cpus = (cpu, other)
    run = {"wire": wire(program, cpus)}
    try:
        return run | {"memif": memif(program, cpus)}
    except CannotRun as e:
        return run | {"why": str(e)}


def evaluate(runs):
    """Rows of the table."""
    rows = []

    def rate(name, samples):
        millions = [s / 1e6 for s in samples]
        rows.append({"variant": name, "amount": round(statistics.median(millions), 3), "unit": "M conn/s", "digits": 3,
                     "low": round(min(millions), 3), "high": round(max(millions), 3)})

    for name in ("wire", "memif"):
        samples = [r[name] for r in runs if name in r]
        if samples:
            rate(f"flow_two_{name}", samples)
    ratios = [r["wire"] / r["memif"] for r in runs if "memif" in r]
    whys = [r["why"] for r in runs if "why" in r]
    if ratios:
        value = statistics.median(ratios)
        rows.append({"variant": ROW, "ratio": round(value, 4), "to": "flow_two_memif", "low": round(min(ratios), 4),
                     "high": round(max(ratios), 4), "target": RATIO, "ok": value >= RATIO})
    else:
        rows.append({"variant": ROW, "skipped": whys[0], "engine": f"skipped: {whys[0]}"})
    return rows
