# SPDX-License-Identifier: BSD-3-Clause
"""dperf itself against the program: two processes of each over memif, on the same two CPUs, by the same files of dperf. DPERF names its program.

Transactions: as many a second as CONNECTIONS connections make that ask again as soon as they are answered. Connections: dperf's slow start is a
ramp of steps of one second, and so is what the program makes of it. The rate without loss is that of the highest step below the first one in which,
at either end, anything was lost, dropped or given up, or sent again (two seconds later by dperf, which waits so long), or which did not open what
was due. The first ramp of each arm is a wide one, and the next is twice as wide where nothing was lost; the others end a little above what was found.
A ramp that ends in a second in which a worker of either end had to wait for its CPU for more than STOOD says nothing of the programs, and is made
again, in both arms alike; seconds of transactions are left out for the same reason. dperf is measured once more behind the other arms:
where its rate has moved by more than MOVED, the host has moved the CPUs, and all arms are measured again.
Both use pages of 4 KB, and make checksums in software. Those that are received dperf takes as they are, where the device has not judged them. So
transactions are made in two arms: `trusted` does the same (flow.sums), and `verified` computes them, as the program does by itself, and in the arm of
connections. dperf has no TIME_WAIT, so in the program's arm it is as short as can be; without any, the
last acknowledgement of a connection would not wait for room in the ring.
"""
import contextlib
import glob
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from flow_two import Program
from proc import CannotRun

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from dperf_peer import DEVICE, MEMORY_MB, Dperf, program as dperf_program

ROUNDS = 3
CONNECTIONS = 256
TPS_SECONDS = 5
STEPS = 14
TOP = {"dperf": 2800000, "verified": 2800000}  # of the first ramp
ABOVE = 1.15  # the others', of what was found
REACHED = 0.98  # of what was due
ARMS = {"tps": ("dperf", "trusted", "verified"), "cps": ("dperf", "verified")}
# by arms other than dperf's
ROWS = {("tps", "trusted"): ("tps trusted / dperf", 1.1), ("tps", "verified"): ("tps verified / dperf", 1.1),
        ("cps", "verified"): ("cps / dperf", 1.5)}
UNITS = {"tps": "M trans/s", "cps": "M conn/s"}
# what dperf counts where something is wrong
LOST = ("dropTx", "badRx", "tcpDrop", "skErr", "httpErr", "rstRx", "rstTx", "imissed", "ierrors", "oerrors")
AGAIN = ("synRt", "finRt", "ackRt", "pushRt", "ackDup")
STOOD = 0.1  # seconds of a second
TRIES = 4  # of a ramp
# The size of the rings in which connections are opened, as a power of two: dperf asks a device for 4096 descriptors, and a memif makes 1024 if
# nobody says another number. Those are full in a third of a millisecond, and a host stops a CPU for longer than that.
RING = 12
MOVED = {"tps": 0.1, "cps": 0.2}  # of dperf's rate, before and behind those of the other arms; a step of a ramp is about 0.1 of it
RTO = 2  # seconds; of dperf, by which what it sends again is behind what was lost. The program probes earlier than that


def targets():
    return [name for name, _ in ROWS.values()]


def conf(role, cpu, clients, lines):
    own, peer = ("10.50.0.1", "10.50.1.1") if role == "client" else ("10.50.1.1", "10.50.0.1")
    return "\n".join([f"mode {role}", f"cpu {cpu}", f"port {DEVICE} {own} {peer}", f"client 10.50.0.11 {clients}", "server 10.50.1.11 1",
                      "listen 80 1", f"retransmit_timeout {RTO}", *lines]) + "\n"


def files(what, top, cpus):
    """Both ends' files."""
    if what == "tps":
        client = ["cps 10k", f"cc {CONNECTIONS}", "keepalive 0us", "wait 1", "slow_start 1", "duration 1h"]
        return conf("client", cpus[0], 2, client), conf("server", cpus[1], 2, ["keepalive 10s", "duration 1h"])
    clients = top * RTO // 65535 + 1  # it wants so many tuples
    client = [f"cps {top}", "wait 1", f"slow_start {STEPS}", "duration 1h"]
    return conf("client", cpus[0], clients, client), conf("server", cpus[1], clients, ["duration 1h"])


def memif_of(folder, what):
    """Arguments of the device, of either program."""
    return f"socket={folder}/memif,socket-abstract=no" + (f",rsize={RING}" if what == "cps" else "")


def memory_mb(text):
    clients = int(text.split("client 10.50.0.11 ")[1].split()[0])
    return MEMORY_MB + clients * 65535 * 80 * 5 // 4 // 2**20


def wrong(block, names):
    return sum(block.get(name, 0) for name in names)


class Waits:
    """How long the workers of both ends have waited for a CPU that somebody else had, the host of a virtual machine included."""

    def __init__(self, *ends):
        self.ends, self.before = ends, None
        self.since()

    def stolen(self):
        with open("/proc/stat", encoding="ascii") as f:
            return int(f.readline().split()[8]) / os.sysconf("SC_CLK_TCK")

    def worker(self, pid):
        """Of the thread that has run most."""
        most = 0, 0
        for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
            try:
                with open(path, encoding="ascii") as f:
                    most = max(most, tuple(map(int, f.read().split()[:2])))
            except OSError:
                pass  # it has ended
        return most[1] / 1e9

    def since(self):
        """Seconds since the last call: the longest of the ends, and what was stolen."""
        now = [self.worker(pid) for pid in self.ends]
        stolen = self.stolen()
        before, self.before = self.before, (now, stolen)
        return max(b - a for a, b in zip(before[0], now)) + stolen - before[1] if before else 0


class Awake:
    """Keeps CPUs busy, at the lowest priority, while no worker does. The host of a virtual machine gives a CPU that was idle another place: on a
    core of its own, or on one that two of them share, where either program does two thirds of what it does elsewhere. Arms of a round are compared
    with each other, so all of them must have the same one."""

    LOOP = ("import os, sys; os.sched_setaffinity(0, {int(sys.argv[1])}); os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\n"
            "while True: pass")

    def __init__(self, cpus):
        self.loops = [subprocess.Popen([sys.executable, "-c", self.LOOP, str(cpu)]) for cpu in cpus]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        for p in self.loops:
            p.kill()
            p.wait()

    @contextlib.contextmanager
    def resting(self):
        """While both CPUs have a worker that never sleeps, and is measured."""
        for p in self.loops:
            p.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            for p in self.loops:
                p.send_signal(signal.SIGCONT)


def best(steps, step):
    """(rate, stood): the rate of the highest step before something was lost, and whether the machine was what ended it. Steps: what was opened in
    each second, what was lost, what was sent again because it had been lost then, and how long a worker waited; the first one is the wait's."""
    reached = 0
    for i, (opened, lost, again, waited) in enumerate(steps[1:], 2):
        if lost or again or opened < REACHED * step * i:
            return reached, waited > STOOD
        reached = opened
    return reached, False


def steady(seconds):
    """The median of (rate, waited) of the seconds in which nobody waited, if there are any."""
    calm = [rate for rate, waited in seconds if waited <= STOOD]
    return statistics.median(calm or [rate for rate, _ in seconds]), not calm


# ---- dperf's arm ----

def dperf_arm(what, top, cpus, folder, awake):
    client, server = files(what, top, cpus)
    memif = memif_of(folder, what)
    try:
        with Dperf(folder, server, f"role=server,{memif}", memory_mb(server)) as s:
            end = time.monotonic() + 20
            while not os.path.exists(f"{folder}/memif"):
                if time.monotonic() > end or s.proc.poll() is not None:
                    raise CannotRun("dperf's server does not begin")
                time.sleep(0.05)
            with Dperf(folder, client, f"role=client,{memif}", memory_mb(client)) as c, awake.resting():
                if what == "tps":
                    c.second(), c.second(), c.second()
                    waits = Waits(c.proc.pid, s.proc.pid)
                    return steady([(c.second()["http2XX"], waits.since()) for _ in range(TPS_SECONDS)])
                s.second()
                waits = Waits(c.proc.pid, s.proc.pid)
                blocks = [(c.second(), s.second(), waits.since()) for _ in range(STEPS + RTO)]
    except AssertionError as e:
        raise CannotRun(str(e)) from e
    steps = [(b["skOpen"], wrong(b, LOST) + wrong(o, LOST), sum(wrong(x, AGAIN) for x in blocks[i + RTO][:2]), waited)
             for i, (b, o, waited) in enumerate(blocks[:STEPS])]
    return best(steps, top / STEPS)


# ---- ours ----

def commands(program, text, folder):
    """What the program makes of a file: its settings and its run."""
    name = os.path.join(folder, "ours.conf")
    with open(name, "w", encoding="ascii") as f:
        f.write(text)
    r = subprocess.run([program, "-p", "wire", "--dperf", name, "--dperf-dump"], capture_output=True, text=True, check=False)
    if r.returncode != 0:
        raise CannotRun(r.stderr.strip())
    return [part.splitlines() for part in r.stdout.split("\n# the run\n")]


def troubles(flow):
    c, s, t = flow["connections"], flow["segments"], flow["transactions"]
    lost = sum(c[x] for x in ("refused", "connect_timeout", "unreachable", "no_tuple", "reset_by_us", "reset_by_peer", "timed_out")) + t["failed"]
    return lost + s["duplicate"] + s["out_of_order"] + s["bad_checksum"], s["retransmitted"]


class End:
    def __init__(self, program, text, folder, memif, cpus, sums):
        settings, self.run = commands(program, text, folder)
        self.p = Program(program, f"0@({cpus[0]},{cpus[1]}),1@{cpus[0]}", "-p", f"memif:{memif}", "-m", "1.0")
        for line in [*settings, "set 0 flow.timewait 1ms", f"set 0 flow.sums {sums}"]:
            self.p.say(line)

    def __enter__(self):
        self.p.ask("ports")
        return self

    def __exit__(self, *exc):
        self.p.__exit__(*exc)

    def flow(self):
        return self.p.ask("flows")["flows"][0]


def our_arm(program, arm, what, top, cpus, folder, awake):
    client, server = files(what, top, cpus)
    memif = memif_of(folder, what)
    sums = "trust" if arm == "trusted" else "verify"
    with (End(program, server, folder, f"role=server,{memif}", cpus[::-1], sums) as s,
          End(program, client, folder, f"role=client,{memif}", cpus, sums) as c):
        end = time.monotonic() + 10
        while not (c.p.link() and s.p.link()):
            if time.monotonic() > end:
                raise CannotRun("the memif of the program has no link")
            time.sleep(0.1)
        s.p.say("start 0")
        s.flow()
        c.p.say(next(line for line in c.run if line.startswith("start")))
        c.flow()
        with awake.resting():
            waits = Waits(c.p.proc.pid, s.p.proc.pid)
            return steady(transactions(c, waits)) if what == "tps" else best(ramp(c, s, waits), top / STEPS)


def transactions(client, waits):
    """Seconds of the run behind its first two."""
    time.sleep(2)
    seconds, before, began = [], client.flow()["transactions"]["done"], time.monotonic()
    waits.since()
    for _ in range(TPS_SECONDS):
        time.sleep(1)
        done, now = client.flow()["transactions"]["done"], time.monotonic()
        seconds.append(((done - before) / (now - began), waits.since()))
        before, began = done, now
    return seconds


def ramp(client, server, waits):
    """Seconds of the run of which the first step is over: its wait."""
    steps, before, began = [(0, 0, 0, 0)], client.flow()["connections"]["opened"], time.monotonic()
    bad = 0, 0
    for i in range(1, STEPS):
        time.sleep(max(0, began + i - time.monotonic()))
        flow, other = client.flow(), server.flow()
        now = [sum(x) for x in zip(troubles(flow), troubles(other))]
        opened = flow["connections"]["opened"]
        steps.append((opened - before, now[0] - bad[0], now[1] - bad[1], waits.since()))
        before, bad = opened, now
    return steps


# ---- the part ----

def measure(program, cpu, before):
    """One slice of each arm of each row, or why there is none. before: the slices so far."""
    other = next((c for c in sorted(os.sched_getaffinity(0)) if c != cpu), None)
    if dperf_program() is None:
        raise CannotRun("DPERF=path/to/dperf is not set to a program (docs/dperf.md says how to build it)")
    if other is None:
        raise CannotRun("two CPUs are needed")
    with Awake((cpu, other)) as awake:
        return measure_round(program, (cpu, other), before, awake)


def measure_round(program, cpus, before, awake):
    run = {}
    for what, arms in ARMS.items():
        tops = {arm: next_top(arm, [b["cps"][arm] for b in before], [b["tops"][arm] for b in before]) if what == "cps" else 0 for arm in arms}
        for _ in range(TRIES):
            run[what] = {arm: measure_arm(program, arm, what, tops[arm], cpus, awake) for arm in arms}
            if stayed(what, run[what], measure_arm(program, "dperf", what, tops["dperf"], cpus, awake)):
                break
        if what == "cps":
            run["tops"] = tops
    return run


def measure_arm(program, arm, what, top, cpus, awake):
    """The highest rate of a few tries, of which the last is the first one that the machine did not end."""
    best_rate = 0
    for _ in range(TRIES):
        with tempfile.TemporaryDirectory() as folder:
            rate, stood = dperf_arm(what, top, cpus, folder, awake) if arm == "dperf" else our_arm(program, arm, what, top, cpus, folder, awake)
        best_rate = max(best_rate, rate)
        if not stood:
            break
    return best_rate


def stayed(what, rates, again):
    """Whether dperf does as much behind the other arms as before them, else the arms cannot be compared. The higher one is dperf's."""
    low, rates["dperf"] = sorted((rates["dperf"], again))
    return low >= (1 - MOVED[what]) * rates["dperf"]


def next_top(arm, found, tops):
    """Where the next ramp ends."""
    if not found:
        return TOP[arm]
    if found[-1] == 0:
        return tops[-1] // 4
    if found[-1] >= REACHED * tops[-1]:
        return 2 * tops[-1]
    return int(ABOVE * found[-1]) // STEPS * STEPS


def evaluate(runs):
    """Rows of the table. What a ramp had no room to find is left out, where another one had it."""
    rows = []
    for what, arms in ARMS.items():
        for arm in arms:
            rates = [r[what][arm] / 1e6 for r in runs]
            rows.append({"variant": f"{what}_{arm}", "amount": round(statistics.median(rates), 3), "unit": UNITS[what], "digits": 3,
                         "low": round(min(rates), 3), "high": round(max(rates), 3)})
        for arm in arms[1:]:
            name, target = ROWS[what, arm]
            ratios = [r[what][arm] / r[what]["dperf"] for r in runs if r[what]["dperf"] > 0]
            if ratios:
                value = statistics.median(ratios)
                rows.append({"variant": name, "ratio": round(value, 4), "to": f"{what}_dperf", "low": round(min(ratios), 4),
                             "high": round(max(ratios), 4), "target": target, "ok": value >= target})
    return rows
