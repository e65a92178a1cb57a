#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""soak_flows.py PROGRAM [MINUTES [SEED]]: connections at full speed for a long time, with changes on the way.

Two programs at once: one is both ends on the built-in wire, the other asks nginx over a veth pair (as root, where nginx is). After
each round nothing is open, each connection has one fate, and both ends have the same numbers; nginx counts by itself what it
answered. Memory and descriptors of the programs must not grow.
"""
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from soak import Broken, Steady, Wirerate, asked_for, need

ROUND_S = 20
CHANGE_S = 0.5
RSS_GROWTH_KB = 128 * 1024  # rounds differ by up to 100 MB in what they draw; a leak of one byte a connection is more in a quarter of an hour
SETTLED = 3  # rounds until what is allocated once has been
ENDS = ("closed", "reset_by_us", "reset_by_peer", "timed_out", "aborted")
NOT_OPENED = ("refused", "connect_timeout", "unreachable", "aborted_opening")
NGINX = """
daemon off; user root; worker_processes 1; pid {folder}/pid; error_log {folder}/errors;
events {{ worker_connections 4096; }}
http {{
  access_log off; root {folder}/files; keepalive_requests 100000000;
  server {{ listen 10.9.0.2:80 backlog=4096; }}
  server {{ listen 127.0.0.1:81; location / {{ stub_status; }} }}
}}
"""


def check_flow(flow):
    """Nothing of this flow is open, and each of its connections and transactions has one fate."""
    name = f"{flow['role']} on port {flow['port']}"
    conns, trans = flow["connections"], flow["transactions"]
    for what in ("open", "opening"):
        need(conns[what] == 0, f"{name}: {conns[what]} connections are {what} after the drain")
    need(conns["opened"] == conns["established"] + sum(conns[k] for k in NOT_OPENED), f"{name}: fates of opening: {conns}")
    need(conns["established"] == sum(conns[k] for k in ENDS), f"{name}: fates of closing: {conns}")
    need(trans["open"] == 0 and trans["started"] == trans["done"] + trans["failed"], f"{name}: transactions: {trans}")
    need(flow["segments"]["bad_checksum"] == 0, f"{name}: bad checksums: {flow['segments']}")
    need(flow["http"]["bad"] == 0, f"{name}: bad messages: {flow['http']}")


class Wire:
    """Both ends are ours."""
    name = "wire"
    CHANGES = ("1 response {n}", "0 http.method POST; set 0 request {r}", "0 request 0; set 0 http.method GET", "0 transactions {t}",
               "0 connections {c}", "0 http.pipeline {t}", "0 cps max", "1 http.chunked on", "1 http.chunked off", "0 close fin client",
               "0 close rst client", "1 close fin server", "1 close fin client")

    def __init__(self, program, rnd):
        self.rnd = rnd
        self.wr = Wirerate([program, "-p", "wire", "-b", "--json"])
        self.wr.tell("set 0 flow client; set 1 flow server; set 0 cps max; set all flow.verify on")

    def prepare(self):
        """Every third round the wire loses and doubles frames."""
        bad = self.rnd.random() < 1 / 3
        self.wr.tell("set wire loss 0.3%; set wire duplicate 0.2%" if bad else "set wire loss 0%; set wire duplicate 0%")

    def change(self):
        line = self.rnd.choice(self.CHANGES)
        return "set " + line.format(n=self.rnd.choice((1, 100, 1460, 20000)), r=self.rnd.choice((0, 50, 3000)), t=self.rnd.randint(1, 8),
                                    c=self.rnd.choice((100, 1000, 20000)))

    def check(self, flows):
        client, server = flows
        reset = client["connections"]["reset_by_us"] + client["connections"]["timed_out"]
        lost = client["transactions"]["failed"] + server["transactions"]["failed"] + reset
        need(client["transactions"]["done"] <= server["transactions"]["done"] + lost, f"the client has more answers than were sent: {flows}")
        if lost == 0:
            for what in ("established", "closed"):
                need(client["connections"][what] == server["connections"][what], f"{what}: {flows}")
            need(client["transactions"]["done"] == server["transactions"]["done"], f"transactions: {flows}")
            for tx, rx in (client, server), (server, client):
                need(tx["payload"]["tx_bytes"] == rx["payload"]["rx_bytes"], f"payload of the {tx['role']}: {flows}")

    def end(self):
        pass


class Nginx:
    """nginx answers at the other end of a veth pair."""
    name = "nginx"
    CHANGES = ("0 transactions {t}", "0 connections {c}", "0 http.path /small", "0 http.path /page", "0 http.pipeline {t}", "0 http.method GET",
               "0 http.method HEAD")

    def __init__(self, program, rnd):
        self.rnd = rnd
        self.own, self.peer = (f"wrsoak-{os.getpid()}-{x}" for x in ("own", "peer"))
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.nginx = self.wr = None
        try:
            self.set_up(program)
        except BaseException:
            self.end()
            raise

    def do(self, ns, *command):
        prefix = ["ip", "netns", "exec", ns] if ns else []
        return subprocess.run([*prefix, *command], check=True, stdout=subprocess.PIPE, text=True).stdout

    def set_up(self, program):
        for ns in self.own, self.peer:
            self.do(None, "ip", "netns", "add", ns)
            self.do(ns, "ip", "link", "set", "lo", "up")
        self.do(None, "ip", "link", "add", "wra", "netns", self.own, "type", "veth", "peer", "name", "wrb", "netns", self.peer)
        for ns, dev in (self.own, "wra"), (self.peer, "wrb"):
            self.do(ns, "ethtool", "-K", dev, "gso", "off", "tso", "off", "gro", "off", "tx", "off")
            self.do(ns, "ip", "link", "set", dev, "up")
        self.do(self.peer, "ip", "addr", "add", "10.9.0.2/24", "dev", "wrb")
        (self.folder / "files").mkdir()
        for name, size in ("small", 100), ("page", 16384):
            (self.folder / "files" / name).write_bytes(b"x" * size)
        (self.folder / "conf").write_text(NGINX.format(folder=self.folder))
        self.nginx = subprocess.Popen(["ip", "netns", "exec", self.peer, "nginx", "-p", str(self.folder), "-c", str(self.folder / "conf")],
                                      stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while ":80 " not in self.do(self.peer, "ss", "-Hltn"):
            need(self.nginx.poll() is None and time.monotonic() < end, "nginx does not start")
            time.sleep(0.05)
        self.wr = Wirerate(["ip", "netns", "exec", self.own, program, "-p", "packet:wra", "--ip", "10.9.0.1/24", "-b", "--json"])
        self.wr.tell("set 0 flow client; set 0 flow.dst 10.9.0.2; set 0 cps max; set 0 connections 200; set 0 http.path /small")
        self.asked = self.answered = self.status()

    def status(self):
        """Requests that nginx has answered since it started, all told: this question is one of them."""
        lines = self.do(self.peer, "curl", "-s", "http://127.0.0.1:81/").split("\n")
        return int(lines[2].split()[2])

    def prepare(self):
        pass

    def change(self):
        return "set " + self.rnd.choice(self.CHANGES).format(t=self.rnd.randint(1, 8), c=self.rnd.choice((10, 200, 1000)))

    def check(self, flows):
        requests = self.status()
        own = requests - self.answered - 1
        self.answered = requests
        (client,) = flows
        done, failed = client["transactions"]["done"], client["transactions"]["failed"]
        heads = client["http"]["2xx"]  # of those that failed the head may have come
        need(done <= heads <= done + failed, f"not each answer is of class 2xx: {client['http']}, {done} done, {failed} failed")
        need(done <= own <= done + failed, f"nginx answered {own}, the client has {done} done and {failed} failed")

    def end(self):
        if self.wr is not None and self.wr.child.poll() is None:
            self.wr.child.kill()
        if self.nginx is not None:
            self.nginx.terminate()
            self.nginx.wait()
        for ns in self.own, self.peer:
            subprocess.run(["ip", "netns", "del", ns], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.folder)


def play_round(peer, rnd):
    """Connections at full speed while what may change changes. The flows as they are when nothing is open."""
    wr = peer.wr
    peer.prepare()
    wr.tell("clear all; start all")
    until = time.monotonic() + ROUND_S
    while time.monotonic() < until:
        wr.tell(peer.change())
        time.sleep(rnd.uniform(0, CHANGE_S))
        flows = wr.ask("show flows")["flows"]
        need(flows[0]["state"] in ("starting", "running", "ramping"), f"the client is {flows[0]['state']} in the middle of a round")
    wr.tell("stop all; wait all")
    flows = wr.ask("show flows")["flows"]
    for flow in flows:
        check_flow(flow)
    peer.check(flows)
    return flows[0]


def soak(peer, seconds, rnd, totals):
    began = time.monotonic()
    rounds, steady = 0, Steady(peer.wr, SETTLED, RSS_GROWTH_KB)
    while time.monotonic() - began < seconds or rounds < 2:
        client = play_round(peer, rnd)
        rounds += 1
        totals["connections"] += client["connections"]["opened"]
        totals["transactions"] += client["transactions"]["done"]
        print(f"{time.monotonic() - began:6.0f} s  {peer.name}, round {rounds}: {client['connections']['opened']} connections, "
              f"{client['transactions']['done']} transactions, {client['transactions']['failed']} failed, {steady.check(rounds)}", flush=True)
    need(peer.wr.end() == 0, "the program's exit code at the end is not 0")


def soak_one(make, program, seconds, seed, failures):
    rnd = random.Random(seed)
    totals = {"connections": 0, "transactions": 0}
    peer = None
    try:
        peer = make(program, rnd)
        soak(peer, seconds, rnd, totals)
        print(f"{make.name}: every fate accounted for: {totals['connections']} connections, {totals['transactions']} transactions", flush=True)
    except (Broken, OSError, subprocess.SubprocessError) as error:
        failures.append(f"{make.name}: {error}")
    finally:
        if peer is not None:
            if peer.wr.child.poll() is None:
                peer.wr.child.kill()
            peer.end()


def main(argv):
    if len(argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    minutes, seed = asked_for(argv)
    kinds = [Wire]
    if os.geteuid() == 0 and shutil.which("nginx"):
        kinds.append(Nginx)
    else:
        print("without nginx: needs root, and nginx")
    failures = []
    threads = [threading.Thread(target=soak_one, args=(kind, argv[1], minutes * 60, seed, failures)) for kind in kinds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for failure in failures:
        print(f"failed: {failure}")
    if not failures:
        print("passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
