# SPDX-License-Identifier: BSD-3-Clause
"""Connections to a peer of the kernel's, by the program and by a client of the kernel's, in turn, on the same CPUs: nginx answers on the first one,
and who asks has the second one. Both ends are in network namespaces that this file makes and removes. All sockets use CUBIC with 5 ms as the least
time before a segment is sent again, and so does the program: the kernel's own defaults are others, and cannot be changed in a namespace. All leave
checksums and segments to each other, as interfaces do by default. Behind a dropper (nftables, both directions) both arms lose the same share of
frames, among them super-frames."""
import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time

from proc import CannotRun

SLICE_S = 1.0
RTO = "5ms"
TOOLS = ("ip", "nginx", "wrk", "curl", "nft", "taskset")
FILES = {"small": 100, "page": 16384, "big": 1 << 30}
NGINX = """
daemon off; user root; worker_processes 1; pid {folder}/{ns}.pid; error_log {folder}/errors;
events {{ worker_connections 4096; }}
http {{ access_log off; root {folder}/files; keepalive_requests 100000000; server {{ listen 80 backlog=4096; }} }}
"""
# row -> what both do, frames dropped of 10,000, target
ROWS = {
    "kernel_rr": ("rr", "small", 0, 1.2),
    "kernel_crr": ("crr", "small", 0, 2.0),
    "kernel_sends": ("bulk", "big", 0, 0.9),
    "kernel_we_send": ("send", "big", 0, 3.0),
    "kernel_16k_0.1%": ("rr", "page", 10, 0.9),
    "kernel_16k_1%": ("rr", "page", 100, 0.9),
    "kernel_bulk_0.1%": ("bulk", "big", 10, 0.9),
    "kernel_bulk_1%": ("bulk", "big", 100, 0.9),
    "kernel_up_0.1%": ("up", "big", 10, 0.9),
    "kernel_up_1%": ("up", "big", 100, 0.9),
}
UNITS = {"rr": ("k req/s", 1e3), "crr": ("k conn/s", 1e3), "bulk": ("Gbit/s", 1e9), "send": ("Gbit/s", 1e9), "up": ("Gbit/s", 1e9)}
CLIENT = f"set 0 flow client; set 0 flow.dst 10.9.0.2; set 0 flow.rto {RTO}"


def targets():
    return list(ROWS)


def why_not(cpu):
    if os.geteuid() != 0:
        return "needs root, for network namespaces"
    lack = [t for t in TOOLS if shutil.which(t) is None]
    if lack:
        return f"needs {', '.join(lack)}"
    return None if any(c != cpu for c in os.sched_getaffinity(0)) else "there is one CPU"


class Net:
    """Two namespaces: `peer` has nginx, `own` the program, or the kernel's client, at the other end of a veth pair."""

    def __init__(self, cpus):
        self.cpus = cpus
        self.own, self.peer = (f"wrbench-{os.getpid()}-{x}" for x in ("own", "peer"))
        self.folder = tempfile.mkdtemp()
        self.nginx = self.own_nginx = None

    def __enter__(self):
        try:
            for ns in self.own, self.peer:
                self.do(None, "ip", "netns", "add", ns)
                self.do(ns, "ip", "link", "set", "lo", "up")
                self.do(ns, "sysctl", "-q", "net.ipv6.conf.all.disable_ipv6=1")
            self.do(None, "ip", "link", "add", "wra", "netns", self.own, "type", "veth", "peer", "name", "wrb", "netns", self.peer)
            for ns, dev in (self.own, "wra"), (self.peer, "wrb"):
                self.do(ns, "ip", "link", "set", dev, "up")
            self.address(self.peer, "wrb", "10.9.0.2")
            self.serve()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for p in self.nginx, self.own_nginx:
            if p is not None:
                p.terminate()
                p.wait()
        for ns in self.own, self.peer:
            subprocess.run(["ip", "netns", "del", ns], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.folder)

    @staticmethod
    def prefix(ns):
        return [] if ns is None else ["ip", "netns", "exec", ns]

    def do(self, ns, *cmd, **kw):
        r = subprocess.run([*self.prefix(ns), *cmd], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **kw)
        if r.returncode not in (0, 28):  # 28: curl's time is over
            raise CannotRun(f"{' '.join(cmd)}: {r.stderr.strip()[-200:]}")
        return r.stdout

    def address(self, ns, dev, ip):
        self.do(ns, "ip", "addr", "add", f"{ip}/24", "dev", dev)
        net = ip.rsplit(".", 1)[0] + ".0/24"
        self.do(ns, "ip", "route", "replace", net, "dev", dev, "src", ip, "congctl", "cubic", "rto_min", RTO)

    def serve(self):
        files = os.path.join(self.folder, "files")
        os.mkdir(files)
        for name, size in FILES.items():
            with open(os.path.join(files, name), "wb") as f:
                f.truncate(size)
        self.nginx = self.serve_in(self.peer, self.cpus[0])
        self.own_nginx = self.serve_in(self.own, self.cpus[1])

    def serve_in(self, ns, cpu):
        conf = os.path.join(self.folder, f"{ns}.conf")
        with open(conf, "w", encoding="ascii") as f:
            f.write(NGINX.format(folder=self.folder, ns=ns))
        p = subprocess.Popen([*self.prefix(ns), "taskset", "-c", str(cpu), "nginx", "-p", self.folder, "-c", conf, "-e",
                              os.path.join(self.folder, "errors")], stderr=subprocess.DEVNULL)
        end = time.monotonic() + 10
        while ":80 " not in self.do(ns, "ss", "-Hltn"):
            if p.poll() is not None or time.monotonic() > end:
                raise CannotRun("nginx does not start")
            time.sleep(0.05)
        return p

    def drop(self, of10000):
        self.do(self.peer, "nft", "flush", "ruleset")
        if of10000 == 0:
            return
        chains = "\n".join(f"chain on_{h} {{ type filter hook {h} device wrb priority 0; ip protocol tcp numgen random mod 10000 < {of10000} drop; }}"
                           for h in ("ingress", "egress"))
        self.do(self.peer, "nft", "-f", "-", input=f"table netdev wr {{\n{chains}\n}}\n")

    def peer_seconds(self):
        """CPU time of nginx so far."""
        total = 0
        for pid in subprocess.run(["pgrep", "-P", str(self.nginx.pid)], stdout=subprocess.PIPE, text=True, check=False).stdout.split():
            with open(f"/proc/{pid}/stat", encoding="ascii") as f:
                total += sum(int(x) for x in f.read().rsplit(")", 1)[1].split()[11:13])
        return total / os.sysconf("SC_CLK_TCK")

    def timed(self, what):
        """What a call returns, the seconds that it takes, and nginx's share of its CPU meanwhile."""
        cpu_s, began = self.peer_seconds(), time.monotonic()
        result = what()
        took = time.monotonic() - began
        return result, took, (self.peer_seconds() - cpu_s) / took


# ---- the kernel's arm: each returns what it reached in a second, and the peer's share ----

def wrk(net, path, *options):
    said, _, share = net.timed(lambda: net.do(net.own, "taskset", "-c", str(net.cpus[1]), "wrk", "-t1", "-c50", f"-d{SLICE_S:.0f}s", *options,
                                              f"http://10.9.0.2/{path}"))
    return float(re.search(r"Requests/sec: +([\d.]+)", said)[1]), share


def curl(net, url, cpu, ns):
    said, _, share = net.timed(lambda: net.do(ns, "taskset", "-c", str(cpu), "curl", "-s", "-o", "/dev/null", "-m", str(SLICE_S), "-w",
                                              "%{speed_download}", url))
    return 8 * float(said), share


def kernel_arm(net, what, path):
    net.address(net.own, "wra", "10.9.0.1")
    try:
        if what == "rr":
            return wrk(net, path)
        if what == "crr":
            return wrk(net, path, "-H", "Connection: close")
        if what == "up":
            return curl(net, f"http://10.9.0.1/{path}", net.cpus[0], net.peer)
        return curl(net, f"http://10.9.0.2/{path}", net.cpus[1], net.own)
    finally:
        net.do(net.own, "ip", "addr", "flush", "dev", "wra")


# ---- ours ----

class Program:
    def __init__(self, net, program, spec, ip):
        self.net = net
        lcores = f"0@{net.cpus[0]},1@{net.cpus[1]}"
        eal = ["--lcores", lcores, "--no-huge", "-m", "512", "--no-shconf", "--"]
        self.proc = subprocess.Popen([*net.prefix(net.own), program, *eal, "--json", "-b", "-p", spec, "--ip", f"{ip}/24", "-m", "1.0"],
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.proc.kill()
        self.proc.communicate()

    def say(self, line):
        self.proc.stdin.write(line + "\n")
        self.proc.stdin.flush()

    def flow(self):
        self.say("show flows")
        for line in self.proc.stdout:
            doc = json.loads(line)
            if doc.get("show") == "flows":
                return doc["flows"][0]
        raise CannotRun(f"the program ended: {self.proc.stderr.read().strip()[-300:]}")

    def per_second(self, number):
        """By how much a number of the flow grows."""
        self.say("start 0")
        time.sleep(0.3)
        before = number(self.flow())
        after, took, share = self.net.timed(lambda: time.sleep(SLICE_S) or number(self.flow()))
        return (after - before) / took, share


def our_arm(net, program, what, path):
    if what == "send":
        return our_send(net, program, "tap:wrt", "10.10.0.1", net.own)
    if what == "up":
        return our_send(net, program, "packet:wra", "10.9.0.1", net.peer)
    with Program(net, program, "packet:wra", "10.9.0.1") as p:
        p.say(f"{CLIENT}; set 0 http.path /{path}")
        if what == "rr":
            p.say("set 0 connections 50; set 0 transactions forever; set 0 cps 1k")
            return p.per_second(lambda f: f["transactions"]["done"])
        if what == "crr":
            p.say("set 0 connections 50; set 0 cps max")
            return p.per_second(lambda f: f["connections"]["closed"])
        p.say("set 0 connections 1; set 0 transactions forever; set 0 cps 100")
        return p.per_second(lambda f: 8 * f["payload"]["rx_bytes"])


def our_send(net, program, spec, ip, ns):
    """A client of the kernel's takes what we send."""
    with Program(net, program, spec, ip) as p:
        p.say(f"set 0 flow server; set 0 flow.rto {RTO}; set 0 response {FILES['big']}; start 0")
        p.flow()
        if spec == "tap:wrt":
            net.address(ns, "wrt", "10.10.0.2")
        # neighbours are found by the first one
        curl(net, f"http://{ip}/", net.cpus[0], ns)
        return curl(net, f"http://{ip}/", net.cpus[0], ns)


# ---- the part ----

def measure(program, cpu):
    """One slice of each arm of each row, or why there is none."""
    why = why_not(cpu)
    if why is not None:
        return {"why": why}
    other = next(c for c in sorted(os.sched_getaffinity(0)) if c != cpu)
    run = {}
    try:
        with Net((other, cpu)) as net:
            for name, (what, path, drop, _) in ROWS.items():
                net.drop(drop)
                one = run[name] = {}
                one["kernel"], one["kernel_peer"] = kernel_arm(net, what, path)
                one["ours"], one["ours_peer"] = our_arm(net, program, what, path)
    except (CannotRun, OSError, BrokenPipeError) as e:
        run["why"] = str(e)
    return run


def evaluate(runs):
    """Rows of the table."""
    rows = []
    for name, (what, _, _, target) in ROWS.items():
        have = [r[name] for r in runs if "ours" in r.get(name, {}) and r[name]["kernel"] > 0]
        if not have:
            why = next((r["why"] for r in runs if "why" in r), "not measured")
            rows.append({"variant": name, "skipped": why, "engine": f"skipped: {why}"})
            continue
        unit, scale = UNITS[what]
        ratios = [h["ours"] / h["kernel"] for h in have]
        median = {k: statistics.median(h[k] for h in have) for k in have[0]}
        said = f"{median['ours'] / scale:.3g} and {median['kernel'] / scale:.3g} {unit}; the peer's share of its CPU {median['ours_peer']:.2f} and " \
               f"{median['kernel_peer']:.2f}; CUBIC, RTO at least {RTO}"
        value = statistics.median(ratios)
        rows.append({"variant": name, "ratio": round(value, 4), "to": "a kernel client", "low": round(min(ratios), 4), "high": round(max(ratios), 4),
                     "target": target, "ok": value >= target, "engine": said})
    return rows
