# SPDX-License-Identifier: BSD-3-Clause
"""Connections to a peer of the kernel's, by the program and by a client of the kernel's, in turn, on the same CPUs: a server of the kernel's answers
on the first one, and who asks has the second one. Both ends are in network namespaces that this file makes and removes. All sockets use CUBIC with
5 ms as the least time before a segment is sent again, and so does the program: the kernel's own defaults are others, and cannot be changed in a
namespace. All leave checksums and segments to each other, as interfaces do by default, but for the row over AF_XDP. Behind a dropper (nftables, both
directions) both arms lose the same share of frames, among them super-frames.

Single bytes go to kpeer.c, which is light, so that who asks is the limit; it also takes what is sent in bulk where nothing is lost. Files come from
nginx. Beside each row stands the share of its CPU that the process at the other end had, in both arms, and of the one that is measured, where it is
the kernel's. Where the other end's is near 1, it is the limit. The kernel accounts what it does for frames that arrive to whoever is on the CPU.

The last row is a time: of 56 bytes there and back, 100 times a second, by a client of ours to a process of the kernel's, over a tap; beside `ping -U`
to our host over the same tap, which also counts that the kernel wakes one process."""
import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time

from proc import CannotRun

RUNS = 5  # of this part at most: it takes half a minute each time
SLICE_S = 0.6
WARM_S = 0.3
RTO = "5ms"
TOOLS = ("ip", "nginx", "wrk", "curl", "nft", "taskset", "ping", "ethtool")
FILES = {"page": 16384, "big": 1 << 30}
NGINX = """
daemon off; user root; worker_processes 1; pid {folder}/{ns}.pid; error_log {folder}/errors;
events {{ worker_connections 4096; }}
http {{ access_log off; root {folder}/files; keepalive_requests 100000000; server {{ listen 80 backlog=4096; }} }}
"""
# row -> what both do, frames dropped of 10,000, target
ROWS = {
    "kernel_rr": ("rr", None, 0, 1.2),
    "kernel_rr_xdp": ("rr_xdp", None, 0, 1.2),
    "kernel_crr": ("crr", None, 0, 2.0),
    "kernel_sends": ("bulk", "big", 0, 0.9),
    "kernel_we_send": ("send", "big", 0, 3.0),
    "kernel_16k_0.1%": ("get", "page", 10, 0.9),
    "kernel_16k_1%": ("get", "page", 100, 0.9),
    "kernel_bulk_0.1%": ("bulk", "big", 10, 0.9),
    "kernel_bulk_1%": ("bulk", "big", 100, 0.9),
    "kernel_up_0.1%": ("up", "big", 10, 0.9),
    "kernel_up_1%": ("up", "big", 100, 0.9),
}
IDLE, IDLE_TIMES, IDLE_US = "kernel_idle_rtt", 60, 20
UNITS = {"rr": ("k req/s", 1e3), "rr_xdp": ("k req/s", 1e3), "get": ("k req/s", 1e3), "crr": ("k conn/s", 1e3), "bulk": ("Gbit/s", 1e9),
         "send": ("Gbit/s", 1e9), "up": ("Gbit/s", 1e9)}
CLIENT = f"set 0 flow client; set 0 flow.dst 10.9.0.2; set 0 flow.rto {RTO}"


def targets():
    return [*ROWS, IDLE]


def why_not(cpu):
    if os.geteuid() != 0:
        return "needs root, for network namespaces"
    lack = [t for t in TOOLS if shutil.which(t) is None]
    if lack:
        return f"needs {', '.join(lack)}"
    return None if any(c != cpu for c in os.sched_getaffinity(0)) else "there is one CPU"


class Net:
    """Two namespaces: `peer` has nginx, `own` the program, or the kernel's client, at the other end of a veth pair."""

    def __init__(self, cpus, kpeer):
        self.cpus, self.kpeer = cpus, kpeer
        self.own, self.peer = (f"wrbench-{os.getpid()}-{x}" for x in ("own", "peer"))
        self.folder = tempfile.mkdtemp()
        self.servers = []

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
        for p in self.servers:
            p.terminate()
            p.communicate()
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
        self.light = self.light_in(self.peer, self.cpus[0])

    def serve_in(self, ns, cpu):
        """Its worker's process id."""
        conf = os.path.join(self.folder, f"{ns}.conf")
        with open(conf, "w", encoding="ascii") as f:
            f.write(NGINX.format(folder=self.folder, ns=ns))
        p = subprocess.Popen([*self.prefix(ns), "taskset", "-c", str(cpu), "nginx", "-p", self.folder, "-c", conf, "-e",
                              os.path.join(self.folder, "errors")], stderr=subprocess.DEVNULL)
        self.servers.append(p)
        end = time.monotonic() + 10
        while ":80 " not in self.do(ns, "ss", "-Hltn") or not (workers := self.children(p.pid)):
            if p.poll() is not None or time.monotonic() > end:
                raise CannotRun("nginx does not start")
            time.sleep(0.05)
        return workers[0]

    @staticmethod
    def children(pid):
        return [int(c) for c in subprocess.run(["pgrep", "-P", str(pid)], stdout=subprocess.PIPE, text=True, check=False).stdout.split()]

    def light_in(self, ns, cpu):
        p = subprocess.Popen([*self.prefix(ns), "taskset", "-c", str(cpu), self.kpeer, "serve"], stdout=subprocess.PIPE, text=True)
        self.servers.append(p)
        if p.stdout.readline() != "serves\n":
            raise CannotRun(f"{self.kpeer} does not start")
        return p.pid

    def end(self, pid):
        p = next(p for p in self.servers if p.pid == pid)
        self.servers.remove(p)
        p.terminate()
        p.communicate()

    def drop(self, of10000):
        self.do(self.peer, "nft", "flush", "ruleset")
        if of10000 == 0:
            return
        chains = "\n".join(f"chain on_{h} {{ type filter hook {h} device wrb priority 0; ip protocol tcp numgen random mod 10000 < {of10000} drop; }}"
                           for h in ("ingress", "egress"))
        self.do(self.peer, "nft", "-f", "-", input=f"table netdev wr {{\n{chains}\n}}\n")

    @staticmethod
    def seconds(pid):
        """CPU time of a process so far."""
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return sum(int(x) for x in f.read().rsplit(")", 1)[1].split()[11:13]) / os.sysconf("SC_CLK_TCK")

    def timed(self, what, pid):
        """What a call returns, the seconds that it takes, and a process's share of its CPU meanwhile."""
        cpu_s, began = self.seconds(pid), time.monotonic()
        result = what()
        took = time.monotonic() - began
        return result, took, (self.seconds(pid) - cpu_s) / took

    def run(self, ns, cpu, *cmd):
        """What a client prints, and its share of its CPU."""
        began = time.monotonic()
        p = subprocess.Popen([*self.prefix(ns), "taskset", "-c", str(cpu), *cmd], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        with p.stdout, p.stderr:
            said, errors = p.stdout.read(), p.stderr.read()
            _, status, used = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        if p.returncode not in (0, 28):  # 28: curl's time is over
            raise CannotRun(f"{' '.join(cmd)}: {errors.strip()[-200:]}")
        return said, (used.ru_utime + used.ru_stime) / (time.monotonic() - began)


# ---- the kernel's arm: each returns what it reached in a second, its own share of its CPU, and the peer's of its ----

def asked(net, server, read, *cmd):
    """A client that runs beside a server."""
    (said, own), _, peer = net.timed(lambda: net.run(net.own, net.cpus[1], *cmd), server)
    return read(said), own, peer


def kpeer(net, what):
    def read(said):
        done, ms, failed = map(int, said.split())
        if failed > done / 100:
            raise CannotRun(f"kpeer {what}: {failed} failed, {done} done")
        return 1000 * done / ms
    return asked(net, net.light, read, net.kpeer, what, "10.9.0.2", "50", f"{1000 * SLICE_S:.0f}")


def wrk(net, path):
    return asked(net, net.nginx, lambda said: float(re.search(r"Requests/sec: +([\d.]+)", said)[1]), "wrk", "-t1", "-c50", "-d1s",
                 f"http://10.9.0.2/{path}")


CURL = ("curl", "-s", "-o", "/dev/null", "-m", str(SLICE_S + WARM_S), "-w", "%{speed_download}")


def fetched(net, ns, cpu, sender, url):
    """What is measured sends, and the client is its peer."""
    (said, peer), _, own = net.timed(lambda: net.run(ns, cpu, *CURL, url), sender)
    return 8 * float(said), own, peer


def taken(net, ns, cpu, sender, ip, path):
    """The same, with a client that copies nothing: its CPU would be the limit."""
    (said, peer), _, own = net.timed(lambda: net.run(ns, cpu, net.kpeer, "get", ip, f"/{path}", f"{1000 * SLICE_S:.0f}"), sender)
    return rate_of(said), own, peer


def rate_of(said):
    """Bit/s that `kpeer get` had."""
    done, ms, _ = map(int, said.split())
    return 8000 * done / ms


def kernel_arm(net, what, path):
    net.address(net.own, "wra", "10.9.0.1")
    net.do(net.peer, "ip", "neigh", "flush", "dev", "wrb")  # a port packet: has had the address with another MAC
    try:
        if what in ("rr", "rr_xdp", "crr"):
            return kpeer(net, what.removesuffix("_xdp"))
        if what == "get":
            return wrk(net, path)
        if what == "up":
            return fetched(net, net.peer, net.cpus[0], net.own_nginx, f"http://10.9.0.1/{path}")
        if what == "send":
            return taken(net, net.own, net.cpus[1], net.nginx, "10.9.0.2", path)
        return asked(net, net.nginx, lambda said: 8 * float(said), *CURL, f"http://10.9.0.2/{path}")
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

    def ask(self, what):
        """The answer comes when what was said before is done."""
        self.say(f"show {what}")
        for line in self.proc.stdout:
            doc = json.loads(line)
            if doc.get("show") == what:
                return doc
        raise CannotRun(f"the program ended: {self.proc.stderr.read().strip()[-300:]}")

    def flow(self):
        return self.ask("flows")["flows"][0]

    def until(self, number):
        """A number of the flow is not 0 any more."""
        end = time.monotonic() + 10
        while number(self.flow()) == 0:
            if time.monotonic() > end:
                raise CannotRun(f"nothing comes of the program's connections: {self.flow()['connections']}")
            time.sleep(0.02)

    def answers(self):
        """Its host has found that nobody else has its address (RFC 5227), which takes a second in which it answers nobody."""
        end = time.monotonic() + 10
        while any(a["state"] != "used" for a in self.ask("host")["ports"][0]["addresses"]):
            if time.monotonic() > end:
                raise CannotRun("the program's host does not get its address")
            time.sleep(0.02)

    def rr(self, server):
        self.say("set 0 app bytes; set 0 request 1; set 0 response 1; set 0 flow.dport 7; set 0 connections 50; set 0 transactions forever; "
                 "set 0 cps 1k")
        return self.per_second(server, lambda f: f["transactions"]["done"])

    def quit(self):
        """Ends it in good order: a program of AF_XDP's would stay on the interface."""
        self.say("quit")
        self.proc.wait(10)

    def per_second(self, server, number):
        """By how much a number of the flow grows, and the peer's share of its CPU."""
        self.say("start 0")
        self.until(number)
        time.sleep(WARM_S)
        before = number(self.flow())
        after, took, share = self.net.timed(lambda: time.sleep(SLICE_S) or number(self.flow()), server)
        return (after - before) / took, share


def our_arm(net, program, what, path):
    if what == "send":
        return our_send(net, program, "tap:wrt", "10.10.0.1", net.own, True)
    if what == "up":
        return our_send(net, program, "packet:wra", "10.9.0.1", net.peer, False)
    if what == "rr_xdp":
        return our_rr_xdp(net, program)
    with Program(net, program, "packet:wra", "10.9.0.1") as p:
        p.say(CLIENT)
        if what == "rr":
            return p.rr(net.light)
        if what == "crr":
            p.say("set 0 app bytes; set 0 request 1; set 0 response 1; set 0 flow.dport 8; set 0 connections 50; set 0 close fin server; "
                  "set 0 cps max")
            return p.per_second(net.light, lambda f: f["connections"]["closed"])
        p.say(f"set 0 http.path /{path}; set 0 transactions forever")
        if what == "get":
            p.say("set 0 connections 50; set 0 cps 1k")
            return p.per_second(net.nginx, lambda f: f["transactions"]["done"])
        p.say("set 0 connections 1; set 0 cps 100")
        return p.per_second(net.nginx, lambda f: 8 * f["payload"]["rx_bytes"])


def our_rr_xdp(net, program):
    """AF_XDP knows no checksum that is only begun: the peer completes all of its own."""
    net.do(net.peer, "ethtool", "-K", "wrb", "tx", "off")
    try:
        with Program(net, program, "xdp:wra", "10.9.0.1") as p:
            p.say(CLIENT)
            reached = p.rr(net.light)
            p.quit()
        return reached
    finally:
        net.do(net.peer, "ethtool", "-K", "wrb", "tx", "on")


def our_send(net, program, spec, ip, ns, light):
    """A client of the kernel's takes what we send; light: one that copies nothing."""
    with Program(net, program, spec, ip) as p:
        p.say(f"set 0 flow server; set 0 flow.rto {RTO}; set 0 response {FILES['big']}; start 0")
        p.flow()
        if spec == "tap:wrt":
            net.address(ns, "wrt", "10.10.0.2")
        p.answers()
        # neighbours are found by the first one
        net.run(ns, net.cpus[0], "curl", "-s", "-o", "/dev/null", "-m", str(WARM_S), f"http://{ip}/")
        if light:
            said, peer = net.run(ns, net.cpus[0], net.kpeer, "get", ip, "/", f"{1000 * SLICE_S:.0f}")
            return rate_of(said), peer
        said, peer = net.run(ns, net.cpus[0], *CURL, f"http://{ip}/")
        return 8 * float(said), peer


def idle_times(net, program):
    """Medians in us over a tap with next to nothing to do: of transactions of ours with a process of the kernel's, and of ping."""
    with Program(net, program, "tap:wrt", "10.10.0.1") as p:
        p.say(f"{CLIENT}; set 0 flow.dst 10.10.0.2; set 0 frame eth/ipv4/udp; set 0 app bytes; set 0 request 56; set 0 response 56; "
              "set 0 flow.dport 7; set 0 connections 1; set 0 transactions forever; set 0 tps 100; set 0 cps 100")
        p.ask("ports")
        net.address(net.own, "wrt", "10.10.0.2")
        echo = net.light_in(net.own, net.cpus[0])
        try:
            said, _ = net.run(net.own, net.cpus[0], "ping", "-U", "-n", "-i", "0.01", "-c", str(IDLE_TIMES), "10.10.0.1")
            p.say("start 0")
            p.until(lambda f: f["latency"]["transaction"]["count"] >= IDLE_TIMES)
            flow = p.flow()
        finally:
            net.end(echo)
    return {"ours": flow["latency"]["transaction"]["p50_ns"] / 1000, "ping": statistics.median(map(float, re.findall(r"time=([\d.]+)", said))) * 1000}


# ---- the part ----

def measure(program, cpu):
    """One slice of each arm of each row, or why there is none."""
    why = why_not(cpu)
    if why is not None:
        return {"why": why}
    other = next(c for c in sorted(os.sched_getaffinity(0)) if c != cpu)
    light = os.path.join(os.path.dirname(os.path.dirname(program)), "tests", "bench", "kpeer")
    run = {}
    try:
        with Net((other, cpu), light) as net:
            for name, (what, path, drop, _) in ROWS.items():
                net.drop(drop)
                one = run[name] = {}
                one["kernel"], one["kernel_own"], one["kernel_peer"] = kernel_arm(net, what, path)
                one["ours"], one["ours_peer"] = our_arm(net, program, what, path)
            run[IDLE] = idle_times(net, program)
    except (CannotRun, OSError, BrokenPipeError) as e:
        run["why"] = str(e)
    return run


def skipped(runs, name):
    why = next((r["why"] for r in runs if "why" in r), "not measured")
    return {"variant": name, "skipped": why, "engine": f"skipped: {why}"}


def evaluate(runs):
    """Rows of the table."""
    rows = []
    for name, (what, _, _, target) in ROWS.items():
        have = [r[name] for r in runs if "ours" in r.get(name, {}) and r[name]["kernel"] > 0]
        if not have:
            rows.append(skipped(runs, name))
            continue
        unit, scale = UNITS[what]
        ratios = [h["ours"] / h["kernel"] for h in have]
        median = {k: statistics.median(h[k] for h in have) for k in have[0]}
        said = f"{median['ours'] / scale:.3g} and {median['kernel'] / scale:.3g} {unit}; the peer's share of its CPU {median['ours_peer']:.2f} and " \
               f"{median['kernel_peer']:.2f}, the kernel's own {median['kernel_own']:.2f}; CUBIC, RTO at least {RTO}, both"
        value = statistics.median(ratios)
        rows.append({"variant": name, "ratio": round(value, 4), "to": "a kernel client", "low": round(min(ratios), 4), "high": round(max(ratios), 4),
                     "target": target, "ok": value >= target, "engine": said})
    return [*rows, evaluate_idle([r[IDLE] for r in runs if IDLE in r]) or skipped(runs, IDLE)]


def evaluate_idle(have):
    if not have:
        return None
    apart = [abs(h["ours"] - h["ping"]) for h in have]
    ours, ping = (statistics.median(h[k] for h in have) for k in ("ours", "ping"))
    value = statistics.median(apart)
    return {"variant": IDLE, "amount": round(value, 1), "unit": "us apart", "digits": 1, "low": round(min(apart), 1), "high": round(max(apart), 1),
            "below": IDLE_US, "ok": value < IDLE_US,
            "engine": f"{ours:.1f} us by a client of ours at 100 per second, {ping:.1f} us by ping -U, medians"}
