# SPDX-License-Identifier: BSD-3-Clause
"""What the system tests share: the program as a process, an interface pair, a sender on the kernel's side."""
import contextlib
import ctypes
import errno
import functools
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import jsonschema
import pytest

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from disturb import DETACH, INTERRUPT, SEIZE, WALL, ptrace
from seed import random_seed

# Promises of one second are checked with some room, because the machines that run tests are shared.
ONE_SECOND = 1.5


class Stopwatch:
    """Seconds for what is promised within a time, less those in which a CPU of the machine stood still. A thread on each of them sleeps for a
    moment again and again: what it oversleeps by much is such a time."""
    PAUSE, MUCH = 0.02, 0.05

    def __init__(self):
        self.still, self.over = [], threading.Event()
        self.asleep = {cpu: None for cpu in sorted(os.sched_getaffinity(0))[:8]}
        self.threads = [threading.Thread(target=self.watch, args=(cpu,), daemon=True) for cpu in self.asleep]

    def watch(self, cpu):
        os.sched_setaffinity(0, {cpu})  # of this thread
        while not self.over.is_set():
            begin = self.asleep[cpu] = time.monotonic()
            time.sleep(self.PAUSE)
            if time.monotonic() - begin > self.PAUSE + self.MUCH:
                self.still.append((begin + self.PAUSE, time.monotonic()))

    def __enter__(self):
        for t in self.threads:
            t.start()
        while None in self.asleep.values():
            time.sleep(self.PAUSE)
        self.begin = time.monotonic()
        return self

    def seconds(self):
        now = time.monotonic()
        spans = [*self.still, *((at + self.PAUSE, now) for at in self.asleep.values() if now - at > self.PAUSE + self.MUCH)]
        took, until = now - self.begin, self.begin
        for begin, end in sorted(spans):  # each moment once, however many CPUs stood still in it
            took -= max(0, end - max(begin, until))
            until = max(until, end)
        return took

    def __exit__(self, *exc):
        self.over.set()
        for t in self.threads:
            t.join()


def binary():
    path = os.environ.get("WIRERATE", "")
    if not os.access(path, os.X_OK):
        raise RuntimeError(f"WIRERATE={path!r}: set it to the path of the built program")
    return os.path.abspath(path)


def cpus():
    return sorted(os.sched_getaffinity(0))


def lcores(workers, one_cpu=False):
    """EAL options for lcore 0 (control) and the given number of workers, whatever CPUs there are."""
    have = cpus()
    where = str(have[0]) if one_cpu else "(" + ",".join(str(c) for c in have) + ")"
    text = ",".join([f"0@{have[0]}"] + [f"{n}@{where}" for n in range(1, workers + 1)])
    return ["--lcores", text, "--"]


def run(args, stdin=None, timeout=60, prefix=(), **kw):
    """One run of the program to its end. stdin: text, or None for /dev/null."""
    how = {"input": stdin} if stdin is not None else {"stdin": subprocess.DEVNULL}
    return subprocess.run([*prefix, binary(), *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=timeout, **how, **kw)


def however_late(args):
    """Runs for a time of which a test asks how many frames were sent: on a machine that stands still now and then all that were due are sent
    only where what is late is sent at once. Tests that are about catching up say how."""
    timed = any(re.search(r"\bstart \S+ for ", a) for a in args) and not any("catchup" in a for a in args)
    if not timed or "-e" not in args:
        return args
    at = args.index("-e")
    return [*args[:at], "-e", "set all catchup keep", *args[at:]]


def good(args, **kw):
    """A run that must succeed."""
    r = run(however_late(args), **kw)
    assert r.returncode == 0, f"{args}: exit code {r.returncode}\n{r.stderr}{r.stdout}"
    return r


def as_json(args):
    """--json goes where our own options begin: after EAL's."""
    at = args.index("--") + 1 if "--" in args else 0
    return [*args[:at], "--json", *args[at:]]


# By which the schema tells documents apart; what has none of them is a value of Lua.
KINDS = {"event", "ok", "wirerate", "show", "trial", "run", "calibrations", "capacity", "iperf3", "lb", "knee", "neper", "stacks", "ping", "arping",
         "traceroute", "monitor", "monitored", "made", "commands", "out", "note"}


@functools.lru_cache(maxsize=None)
def schema():
    """The published schema, as the program prints it."""
    text = subprocess.run([binary(), "--dump-schema"], stdout=subprocess.PIPE, text=True, timeout=60, check=True).stdout
    doc = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(doc)
    return jsonschema.Draft202012Validator(doc)


def shape(doc):
    if isinstance(doc, dict):
        return tuple((k, shape(v)) for k, v in doc.items())
    if isinstance(doc, list):
        return ("list", *sorted({shape(v) for v in doc}, key=repr))
    return type(doc).__name__


def thinned(doc):
    """Of long lists one element of each shape: thousands of streams take a schema a minute."""
    if isinstance(doc, dict):
        return {k: thinned(v) for k, v in doc.items()}
    if isinstance(doc, list):
        few = doc if len(doc) <= 32 else {shape(v): v for v in doc}.values()
        return [thinned(v) for v in few]
    return doc


def document(line):
    """A line of JSON, which must be one that the schema knows."""
    doc = json.loads(line)
    wrong = next(schema().iter_errors(thinned(doc)), None)
    assert isinstance(doc, dict) and set(doc) & KINDS, f"app/schema.json tells no kind of document by its keys: {line[:500]}"
    assert wrong is None, f"app/schema.json: {list(wrong.absolute_path)}: {wrong.message[:500]}\n{line[:500]}"
    # what Lua returns may look like anything
    if doc.get("event") == "result" and not doc["cmd"].startswith(("lua", "script")):
        for result in doc["results"]:
            document(json.dumps(result))
    return doc


def documents(r):
    """Every line of stdout as one JSON document."""
    return [document(line) for line in r.stdout.splitlines()]


def stats(args, **kw):
    """Ports by number, of the last `show stats` in the output of a run that must succeed."""
    return ports_of(documents(good(as_json(args), **kw))[-1])


def ports_of(doc):
    assert doc["show"] == "stats"
    return {p["port"]: p for p in doc["ports"]}


# The verdict of a trial on a machine that others use too is of its counters alone.
COUNTERS_ALONE = ("set trial.max-stall 1h; set trial.max-wait 100%; set trial.max-short 100%; set trial.max-rate-error 100%; "
                  "set trial.max-clock 100%; ")

# A run `for` a time ends at it: on a machine that stood still some of its frames are unsent, and one line says so.
UNSENT = re.compile(r"^port \d+: (\d+) frames were due within \S+: (\d+) sent, (\d+) unsent.*\n", re.M)
# A run that took longer than it was asked for says so in one line, which tells of the machine and not of the program.
LATE = re.compile(r"^(?:tester limited: port |sent > 1 ms late |(?:wirerate: )?a worker does not answer; ).*\n", re.M)


def unsent(text):
    """Frames that were due and not sent, by what a program with one run `for` a time said at its end."""
    told = UNSENT.findall(text)
    assert len(told) <= 1, text
    return int(told[0][2]) if told else 0


def without_lateness(text):
    """What a program printed, less what it said of runs that a busy machine kept from their time."""
    return LATE.sub("", UNSENT.sub("", text))


# Functions for a script of commands, which waits by them for what happens and not for a time: more(N) for N more frames of port 0 than were
# sent when it is called, inside(N) for so many frames of port 0 in the device on its wire, or for the last to be through, idle() for the end of
# port 0's run.
WAITS = ("lua 'function run() return wr.stats().ports[0].run end "
         "function more(n) local goal = run().sent + n while run().sent < goal and run().state ~= \"idle\" do wr.sleep(\"1ms\") end end "
         "function inside(n) repeat wr.sleep(\"1ms\") local now = wr.show(\"wire\").ports[0].waiting "
         "until now >= n or now == 0 and run().state == \"idle\" end "
         "function idle() while run().state ~= \"idle\" do wr.sleep(\"1ms\") end end'; ")


@contextlib.contextmanager
def bounded(proc, seconds=60):
    """Whoever reads what the process writes finds its end, at the latest when it is killed then."""
    timer = threading.Timer(seconds, proc.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class Live:
    """A running program that is driven line by line through its standard input."""

    def __init__(self, args, prefix=(), **kw):
        self.log = tempfile.TemporaryFile("w+", errors="replace")
        self.proc = subprocess.Popen([*prefix, binary(), *as_json(args)], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, stderr=self.log, **kw)
        self.buf = b""

    @property
    def pid(self):
        return self.proc.pid

    def errors(self):
        self.log.seek(0)
        return self.log.read()

    def send(self, line):
        try:
            self.proc.stdin.write(line.encode() + b"\n")
            self.proc.stdin.flush()
        except BrokenPipeError:
            raise AssertionError(f"the program ended with {self.proc.wait(60)} before `{line}`\n{self.errors()}") from None

    def ready(self):
        """Something has been written that line() did not return."""
        return b"\n" in self.buf or bool(select.select([self.proc.stdout], [], [], 0)[0])

    def line(self, timeout=60.0):
        until = time.monotonic() + timeout
        while b"\n" not in self.buf:
            left = until - time.monotonic()
            ready = select.select([self.proc.stdout], [], [], max(left, 0))[0]
            assert ready, f"no answer in {timeout} s\n{self.errors()}"
            more = os.read(self.proc.stdout.fileno(), 65536)
            assert more, f"the program ended with {self.proc.wait(60)}\n{self.errors()}"
            self.buf += more
        text, self.buf = self.buf.split(b"\n", 1)
        return text.decode()

    def ask(self, line, timeout=60.0):
        self.send(line)
        return document(self.line(timeout))

    def stats(self, timeout=60.0):
        return ports_of(self.ask("show stats", timeout))

    def until(self, what, timeout, pause=0.05):
        """Statistics as soon as what(ports) holds, with the seconds that it took."""
        begin = time.monotonic()
        while True:
            ports = self.stats()
            took = time.monotonic() - begin
            if what(ports):
                return ports, took
            assert took < timeout, f"not seen in {timeout} s: {ports}\n{self.errors()}"
            time.sleep(pause)

    def more(self, frames, port=0, timeout=60.0):
        """Until a port has sent so many more frames than when all earlier lines were executed, or its run is over; the statistics. The first answer
        says that they were, the second that workers have been told since."""
        self.stats()
        goal = self.stats()[port]["run"]["sent"] + frames

        def sent(ports):
            return ports[port]["run"]["sent"] >= goal or ports[port]["run"]["state"] == "idle"

        return self.until(sent, timeout, 0.005)[0]

    def quit(self, timeout=60.0):
        """Exit code and seconds."""
        begin = time.monotonic()
        self.send("quit")
        code = self.proc.wait(timeout)
        if code != 0:
            print(f"exit code {code}\n{self.errors()}")
        return code, time.monotonic() - begin

    def close(self):
        if self.proc.poll() is None:
            self.proc.send_signal(signal.SIGKILL)
            self.proc.wait()
        for f in (self.proc.stdin, self.proc.stdout, self.log):
            try:
                f.close()
            except BrokenPipeError:
                pass


class Held:
    """A thread of a program, a worker's or control's, that gets no CPU for a while, as happens on a busy machine; the others go on."""

    def __init__(self, pid, control=False):
        names = {}
        for tid in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{tid}/comm") as f:
                names[int(tid)] = f.read().strip()
        # as versions of DPDK name them
        self.tid = pid if control else next(tid for tid, name in names.items() if re.match("(rte|dpdk)-worker", name))

    def __enter__(self):
        for ask in (SEIZE, INTERRUPT):
            if not ptrace(ask, self.tid):
                if ctypes.get_errno() == errno.EPERM:
                    pytest.skip("needs ptrace")
                raise OSError(ctypes.get_errno(), "ptrace")
        os.waitpid(self.tid, WALL)
        return self

    def ends(self, timeout=60.0):
        """With its process, which is not over before we have noticed. As what it ended: of control, that is the process's exit code, which nobody
        else is told any more."""
        until = time.monotonic() + timeout
        while (ended := os.waitpid(self.tid, WALL | os.WNOHANG))[0] == 0:
            assert time.monotonic() < until, "the process does not end"
            time.sleep(0.01)
        return os.waitstatus_to_exitcode(ended[1])

    def __exit__(self, *exc):
        ptrace(DETACH, self.tid)


class Veth:
    """A pair of interfaces in a namespace of its own: `a` is for the program, `b` is the kernel's end. offloads: they leave checksums and segments
    to each other, as they do by default."""

    serial = 0

    def __init__(self, offloads=False):
        Veth.serial += 1
        self.ns = f"wirerate-{os.getpid()}-{Veth.serial}"
        self.a, self.b = "wra", "wrb"
        self.prefix = ["ip", "netns", "exec", self.ns]
        subprocess.run(["ip", "netns", "add", self.ns], check=True)
        try:
            self.do("sysctl", "-q", "net.ipv6.conf.all.disable_ipv6=1", "net.ipv6.conf.default.disable_ipv6=1")
            self.do("ip", "link", "add", "name", self.a, "type", "veth", "peer", "name", self.b)
            for end in (self.a, self.b):
                if not offloads:
                    self.do("ethtool", "-K", end, "gso", "off", "tso", "off", "gro", "off", "tx", "off")
                self.do("ip", "link", "set", end, "up")
        except BaseException:
            self.remove()
            raise

    def do(self, *cmd):
        return subprocess.run([*self.prefix, *cmd], check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True).stdout

    def link(self, end):
        return json.loads(self.do("ip", "-s", "-j", "link", "show", end))[0]

    def port_mac(self, end):
        """That of a port packet:END, while Linux does not use the interface."""
        first, rest = self.link(end)["address"].split(":", 1)
        return f"{(int(first, 16) | 2) ^ 4:02x}:{rest}"

    def packets(self, end, side):
        return self.link(end)["stats64"][side]["packets"]

    def sender(self, frames, pps):
        """Frames from the kernel's end, paced, as a process."""
        return subprocess.Popen([*self.prefix, sys.executable, __file__, self.b, str(frames), str(pps)])

    def sender_in_parts(self, pps):
        """The same, so many frames at a time as are asked for on its standard input, a number per line; a line comes back when they are sent."""
        return subprocess.Popen([*self.prefix, sys.executable, __file__, self.b, "-", str(pps)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                text=True)

    def remove(self):
        subprocess.run(["ip", "netns", "del", self.ns], check=False)


class Tcpdump:
    """Capture on the kernel's end into a file."""

    def __init__(self, veth, path, both=False):
        """both: what the kernel sends, too. Without, only what it receives: its own frames would be counted as received, and never captured."""
        self.path = path
        # A buffer that holds everything, so that the file is the whole truth: 32768 frames of 2048 bytes. On a tap the kernel may join frames, and
        # each would get 64 KiB.
        way = "inout" if both else "in"
        self.proc = subprocess.Popen([*veth.prefix, "tcpdump", "-i", veth.b, "-Q", way, "-n", "-U", "--immediate-mode", "-Z", "root", "-B", "65536",
                                      "-s", "2048", "-w", str(path)], stderr=subprocess.PIPE, text=True)
        line = self.proc.stderr.readline()
        while line and "listening on" not in line:
            line = self.proc.stderr.readline()

    def counts(self):
        """Frames captured, received by the filter and dropped, so far, as tcpdump tells them."""
        self.proc.send_signal(signal.SIGUSR1)
        found = None
        while not found:
            line = self.proc.stderr.readline()
            assert line, f"tcpdump ended with {self.proc.wait(60)}"
            found = re.search(r"(\d+) packets? captured, (\d+) packets? received by filter, (\d+) packets? dropped by kernel", line)
        return [int(n) for n in found.groups()]

    def stop(self):
        """An interrupt drops what is still in its buffer, so all that was received must have been captured."""
        last, now = None, self.counts()
        until = time.monotonic() + 60
        while last != now or now[0] != now[1]:
            assert time.monotonic() < until, f"captured, received, dropped: {now}"
            time.sleep(0.1)
            last, now = now, self.counts()
        self.proc.send_signal(signal.SIGINT)
        _, text = self.proc.communicate(timeout=60)
        assert "\n0 packets dropped by kernel" in "\n" + text, text


def for_scripts_of_tshark():
    """What goes before a command that gives tshark a Lua script: newer ones run none for root, but for another user with root's rights."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        return []
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=+dac_override", "--ambient-caps=+dac_override"]


def tshark(path, show, *fields, options=()):
    """Rows of fields, of the frames that the display filter shows."""
    first = for_scripts_of_tshark() if any("lua_script:" in o for o in options) else []
    cmd = [*first, "tshark", "-n", *options, "-r", str(path), "-Y", show, "-T", "fields"]
    for proto in ("ip", "udp", "tcp"):
        cmd += ["-o", f"{proto}.check_checksum:TRUE"]
    for f in fields or ("frame.number",):
        cmd += ["-e", f]
    r = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    assert r.returncode == 0, r.stderr
    return [line.split("\t") for line in r.stdout.splitlines()]


def judge(path, count, l4="udp"):
    """tshark's verdict: all frames there, none malformed, IPv4 and L4 checksums good."""
    assert len(tshark(path, "frame")) == count
    assert tshark(path, "_ws.malformed || _ws.short", "frame.number", "_ws.col.Info") == []
    assert len(tshark(path, f"ip.checksum.status == 1 && {l4}.checksum.status == 1")) == count


def cpu_seconds(pid):
    """CPU time of each thread so far."""
    hz = os.sysconf("SC_CLK_TCK")
    out = {}
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/stat") as f:
            rest = f.read().rsplit(")", 1)[1].split()
        out[tid] = (int(rest[11]) + int(rest[12])) / hz
    return out


def cpu_shares(pids, settle=1, seconds=3):
    """What share of a CPU each thread of these programs takes, of all of them in the same time; they are given time to come to rest before."""
    time.sleep(settle)
    begin, first = time.monotonic(), [cpu_seconds(pid) for pid in pids]
    time.sleep(seconds)
    took = time.monotonic() - begin
    return [{tid: (now - before.get(tid, 0)) / took for tid, now in cpu_seconds(pid).items()} for pid, before in zip(pids, first)]


def send_paced(ifname, frames, pps):
    """Small bursts by sendmmsg on an AF_PACKET socket, each at its time."""

    class Iovec(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]

    class Msghdr(ctypes.Structure):
        _fields_ = [("name", ctypes.c_void_p), ("namelen", ctypes.c_uint32), ("iov", ctypes.POINTER(Iovec)),
                    ("iovlen", ctypes.c_size_t), ("control", ctypes.c_void_p), ("controllen", ctypes.c_size_t),
                    ("flags", ctypes.c_int)]

    class Mmsghdr(ctypes.Structure):
        _fields_ = [("hdr", Msghdr), ("len", ctypes.c_uint)]

    burst = 10
    libc = ctypes.CDLL(None, use_errno=True)
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    sock.bind((ifname, 0))
    frame = ctypes.create_string_buffer(bytes.fromhex("ffffffffffff0200000000aa88b5") + bytes(46), 60)
    iov = Iovec(ctypes.addressof(frame), 60)
    msgs = (Mmsghdr * burst)()
    for m in msgs:
        m.hdr.iov, m.hdr.iovlen = ctypes.pointer(iov), 1
    sent, begin = 0, time.monotonic()
    while sent < frames:
        due = begin + sent / pps
        now = time.monotonic()
        if now < due:
            if due - now > 0.0005:
                time.sleep(due - now - 0.0003)
            continue
        n = libc.sendmmsg(sock.fileno(), msgs, min(burst, frames - sent), 0)
        if n < 0:
            raise OSError(ctypes.get_errno(), "sendmmsg")
        sent += n


if __name__ == "__main__":
    if sys.argv[2] == "-":
        for part in sys.stdin:
            send_paced(sys.argv[1], int(part), float(sys.argv[3]))
            print("sent", flush=True)
    else:
        send_paced(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
