#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""soak.py PROGRAM [MINUTES [SEED]]: send on the built-in wire for a long time with changes on the way.

Drives one process through its standard input, as a person's script would. After every round each frame must be accounted
for: what one side handed over, the other received or names as missed; queues add up to their port; an exact count is
exact. Memory and descriptors of the process must not grow.
"""
import json
import os
import pathlib
import random
import select
import subprocess
import sys
import time

ANSWER_S = 30
ROUND_S = 10
RSS_GROWTH_KB = 16 * 1024


class Broken(Exception):
    pass


def need(condition, text):
    if not condition:
        raise Broken(text)


class Wirerate:
    def __init__(self, command):
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.rest = b""

    def tell(self, line):
        need(self.child.poll() is None, f"the program ended with {self.child.returncode}")
        self.child.stdin.write(line.encode() + b"\n")
        self.child.stdin.flush()

    def ask(self, line):
        """Tell, and read the one JSON document that answers."""
        self.tell(line)
        until = time.monotonic() + ANSWER_S
        while b"\n" not in self.rest:
            left = until - time.monotonic()
            need(left > 0 and select.select([self.child.stdout], [], [], left)[0], f"no answer to `{line}`")
            more = os.read(self.child.stdout.fileno(), 65536)
            need(more, f"the program ended at `{line}`")
            self.rest += more
        answer, self.rest = self.rest.split(b"\n", 1)
        return json.loads(answer)

    def stats(self):
        return {port["port"]: port for port in self.ask("show stats")["ports"]}

    def size(self):
        """(resident kB, open descriptors)"""
        proc = pathlib.Path("/proc", str(self.child.pid))
        rss = next(int(line.split()[1]) for line in (proc / "status").read_text().splitlines()
                   if line.startswith("VmRSS"))
        return rss, len(list((proc / "fd").iterdir()))

    def end(self):
        self.child.stdin.close()
        return self.child.wait(ANSWER_S)


class Steady:
    """Memory and descriptors of a program after each of its rounds: from one round on, when what is allocated once has been, they may
    not grow by more than so many kB, and by no descriptor."""

    def __init__(self, wr, settled, growth_kb):
        self.wr, self.settled, self.growth_kb = wr, settled, growth_kb
        self.first = None

    def check(self, rounds):
        rss, fds = self.wr.size()
        if rounds == self.settled:
            self.first = rss, fds
        if self.first:
            need(rss <= self.first[0] + self.growth_kb, f"memory grows: {self.first[0]} kB after round {self.settled}, {rss} kB now")
            need(fds <= self.first[1], f"descriptors grow: {self.first[1]} after round {self.settled}, {fds} now")
        return f"{rss} kB, {fds} descriptors"


def asked_for(argv):
    """Minutes and seed of PROGRAM [MINUTES [SEED]]."""
    minutes = float(argv[2]) if len(argv) > 2 else 10
    seed = int(argv[3]) if len(argv) > 3 else random.randrange(1 << 30)
    print(f"{minutes:g} minutes, seed {seed}", flush=True)
    return minutes, seed


def check_sums(ports):
    """Nothing is sending. Frames and bytes of both directions, and of the queues."""
    for here, there in ((0, 1), (1, 0)):
        tx, rx = ports[here]["tx"], ports[there]["rx"]
        arrived = rx["packets"] + rx["missed"] + rx["nombuf"]
        need(tx["packets"] == arrived, f"port {here} handed over {tx['packets']}, port {there} accounts for {arrived}")
        if rx["packets"] == tx["packets"]:
            need(tx["bytes"] == rx["bytes"], f"bytes differ: {tx['bytes']} and {rx['bytes']}")
    for port in ports.values():
        for side, keys in (("tx", ("packets", "bytes", "dropped", "stalls")), ("rx", ("packets", "bytes"))):
            for key in keys:
                parts = sum(queue[side][key] for queue in port["queues"] if side in queue)
                need(parts == port[side][key], f"port {port['port']}: queues have {parts} {side}.{key}, "
                                               f"the port {port[side][key]}")


def changing_round(wr, rnd):
    """Both ports send without bound while everything that may change while sending changes."""
    wr.tell("set all count 0; start all")
    last = wr.stats()
    until = time.monotonic() + ROUND_S
    while time.monotonic() < until:
        port = rnd.choice(("0", "1", "all"))
        wr.tell(rnd.choice((
            lambda: f"set {port} rate {rnd.randint(1, 400)}kpps",
            lambda: f"set {port} rate {rnd.uniform(0.1, 20):.3f}",
            lambda: f"set {port} size {rnd.randint(64, 1518)}",
            lambda: f"set {port} udp.dst {rnd.randint(0, 65535)}",
            lambda: f"set {port} ipv4.ttl {rnd.randint(1, 255)}",
            lambda: f"set {port} ipv4.dst 10.{rnd.randint(0, 255)}.0.1",
        ))())
        time.sleep(rnd.uniform(0, 0.2))
        now = wr.stats()
        for number, port in now.items():
            need(port["run"]["state"] == "sending", f"port {number} is {port['run']['state']} in the middle of a run")
            for side in ("tx", "rx"):
                need(port[side]["packets"] >= last[number][side]["packets"], f"port {number}: {side} counts backwards")
        last = now
    wr.tell("stop all; wait all")
    ports = wr.stats()
    check_sums(ports)
    return ports


def counted_round(wr, rnd):
    """An exact number of frames, in the middle of it another rate."""
    before = wr.stats()
    count = rnd.randint(1, 2_000_000)
    wr.tell(f"set all rate 1Mpps; set all size 64; set all count {count}; start all")
    time.sleep(rnd.uniform(0, 0.3))
    wr.tell("set all rate max; wait all")
    ports = wr.stats()
    check_sums(ports)
    for number, port in ports.items():
        sent = port["tx"]["packets"] - before[number]["tx"]["packets"]
        need(sent == count, f"port {number}: count {count}, {sent} handed over")
        need(port["run"]["state"] == "idle", f"port {number} is {port['run']['state']} after its count")
    return ports


def soak(wr, seconds, rnd):
    began = time.monotonic()
    rounds, steady = 0, Steady(wr, 4, RSS_GROWTH_KB)
    wr.tell("set all frame eth/ipv4/udp")
    while time.monotonic() - began < seconds or rounds < 2:
        ports = (changing_round, counted_round)[rounds % 2](wr, rnd)
        rounds += 1
        print(f"{time.monotonic() - began:6.0f} s  round {rounds}: "
              f"{ports[0]['tx']['packets']} and {ports[1]['tx']['packets']} frames closed, {steady.check(rounds)}", flush=True)
        if rounds % 4 == 0:
            wr.tell("clear all")
            for number, port in wr.stats().items():
                need(port["tx"]["packets"] == 0, f"port {number} is not at zero after clear")
    return rounds


def main(argv):
    if len(argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    minutes, seed = asked_for(argv)
    wr = Wirerate([argv[1], "-p", "wire", "-b", "--json"])
    try:
        rounds = soak(wr, minutes * 60, random.Random(seed))
        rc = wr.end()
        need(rc == 0, f"exit code {rc} at the end")
    except (Broken, BrokenPipeError, subprocess.TimeoutExpired) as error:
        print(f"failed: {error}")
        return 1
    finally:
        if wr.child.poll() is None:
            wr.child.kill()
    print(f"passed: {rounds} rounds, every frame accounted for")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
