#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""siege.py PROGRAM [MINUTES] [--seed N] [--attack NAME]... [--no-times] [--attackers N]

Attacks a program through its sockets while it sends at a fixed rate (siege_attacks.py has the attacks). A release build; its worker
has the last CPU for itself, control and all others the rest. It holds if, at the end of MINUTES (10):

  - the program is there, and SIGTERM ends it within 3 s;
  - another client, who asks every 50 ms, never waited longer than 250 ms for an answer (not judged with --no-times);
  - its memory was never above 1.5 times its limit: what it took before, and for each attacker the limits of lua-memory, of out and
    of one line. (An attacker has one request running at a time; other connections of his hold no more than lines that are begun.)
  - every frame is accounted for: sent and unsent together are the rate times the duration, and what was sent was received;
  - somebody who has the token was let in, however many wait without one.

The last line is the verdict; exit code 0 if it holds, 1 if not.
"""
import argparse
import collections
import json
import multiprocessing
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import siege_attacks
from siege_attacks import ATTACKS, Line

RATE_PPS = 100_000
CLIENTS, LINE_MB, OUT_MB, LUA_MB, LUA_S = 24, 1, 16, 64, 2  # LINE, OUT and LUA_MB: the defaults
PING_S, PING_LIMIT_MS = 0.05, 250
END_S = 3
GIVE_UP_S = 60  # after the attackers have stopped
MARGIN_S = 5


class Siege:
    def __init__(self, args, folder):
        self.folder, self.seed, self.lua_s = folder, args.seed, LUA_S
        self.attacks = args.attack or list(ATTACKS)
        self.now, self.done, self.refused = {}, collections.Counter(), collections.Counter()
        self.odd_files = siege_attacks.odd_files(folder)
        self.token = "0123456789abcdef0123456789abcdef"
        (pathlib.Path(folder) / "token").write_text(self.token + "\n")
        os.chmod(os.path.join(folder, "token"), 0o600)
        self.path = os.path.join(folder, "s")
        cpus = sorted(os.sched_getaffinity(0))
        self.worker = cpus[-1]
        self.others = cpus[:-1] or cpus
        self.err = open(os.path.join(folder, "err"), "w+", encoding="utf-8", errors="replace")
        limits = f"clients={CLIENTS},line={LINE_MB}M,out={OUT_MB}M,lua-memory={LUA_MB}M,lua-time={LUA_S}s,rate=0"
        self.proc = subprocess.Popen(
            [args.program, "--lcores", f"0@{self.others[0]},1@{self.worker}", "--", "-p", "wire", "-b", f"--socket={self.path}", "-g", "127.0.0.1:0",
             "--token-file", os.path.join(folder, "token"), "--rpc-limit", limits], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=self.err)
        os.sched_setaffinity(0, self.others)
        self.tcp = ("127.0.0.1", int(self.said(r"remote socket: 127\.0\.0\.1:(\d+)")))

    def errors(self):
        with open(self.err.name, encoding="utf-8", errors="replace") as f:
            return f.read()

    def said(self, pattern):
        until = time.monotonic() + 60
        while not (found := re.search(pattern, self.errors())):
            if self.proc.poll() is not None or time.monotonic() > until:
                sys.exit(f"the program does not begin:\n{self.errors()}")
            time.sleep(0.05)
        return found[1]

    def alive(self):
        return self.proc.poll() is None

    def status_kb(self, key):
        try:
            text = pathlib.Path(f"/proc/{self.proc.pid}/status").read_text(encoding="ascii")
        except OSError:
            return 0
        found = re.search(rf"{key}:\s+(\d+)", text)
        return int(found[1]) if found else 0

    def ask(self, cmd, timeout=30):
        with Line(self, timeout=timeout) as line:
            line.say({"id": 1, "cmd": cmd})
            answer = json.loads(line.answer() or '{"ok":false}')
        if not answer["ok"]:
            raise OSError(f"{cmd}: {answer}")
        return answer["results"]

    def ports(self):
        return {p["port"]: p for p in self.ask("show stats")[0]["ports"]}


def had_cpu_ms(pid):
    """What control has had of its CPU: a machine that others use makes answers late, and this not longer."""
    try:
        with open(f"/proc/{pid}/schedstat", encoding="ascii") as f:
            return int(f.read().split()[0]) / 1e6
    except OSError:
        return 0.0


def ping(path, pid, told, stop):
    """A process of its own: what it measures is not what the attackers' Python does. Tells the worst answer so far, in ms and in ms
    that control worked meanwhile."""
    class Where:
        pass
    Where.path = path
    worst, slow, n, worked = 0.0, 0, 0, 0.0
    try:
        with Line(Where, timeout=None) as line:
            while not stop.is_set():
                begin, had = time.monotonic(), had_cpu_ms(pid)
                told.send((n, worst, slow, worked, begin))
                line.say({"id": n, "ping": True})
                if line.answer() is None:
                    break
                ms = (time.monotonic() - begin) * 1e3
                n, worst, slow, worked = n + 1, max(worst, ms), slow + (ms > PING_LIMIT_MS), max(worked, had_cpu_ms(pid) - had)
                time.sleep(PING_S)
    except OSError:
        pass  # the program has ended, which others tell
    told.send((n, worst, slow, worked, None))


class Pinger:
    def __init__(self, siege):
        self.ours, its = multiprocessing.Pipe(duplex=False)
        self.stop = multiprocessing.Event()
        self.proc = multiprocessing.Process(target=ping, args=(siege.path, siege.proc.pid, its, self.stop), daemon=True)
        self.proc.start()
        its.close()
        self.last = (0, 0.0, 0, 0.0, None)
        self.siege, self.about = siege, (0.0, "")

    def result(self):
        """(answers, worst ms, answers later than the limit, worst ms of work); one that has not come yet counts as long as it takes."""
        try:
            while self.ours.poll(0):
                self.last = self.ours.recv()
        except EOFError:
            pass
        n, worst, slow, worked, begun = self.last
        if begun is not None:
            waited = (time.monotonic() - begun) * 1e3
            worst, slow = max(worst, waited), slow + (waited > PING_LIMIT_MS)
        if worst > max(self.about[0], PING_LIMIT_MS):
            self.about = worst, ", ".join(sorted(set(self.siege.now.values())))
        return n, worst, slow, worked

    def end(self):
        self.stop.set()
        self.proc.join(5)
        result = self.result()
        if self.proc.is_alive():
            self.proc.kill()
        return result


def token_holder(siege, until, tries):
    """Comes with the token again and again; [let in, tried]."""
    while time.monotonic() < until and siege.alive():
        tries[1] += 1
        try:
            with Line(siege, tcp=True, timeout=10) as line:
                line.say({"id": 1, "ping": True})
                while (answer := line.answer()) is not None:
                    if b'"id":1' in answer and b'"ok":true' in answer:
                        tries[0] += 1
                        break
        except OSError:
            pass
        time.sleep(0.5)


def attack(siege, seconds, attackers):
    """All of it, for so long. The pinger's result, tries of who has the token, and who did not come back."""
    pinger = Pinger(siege)
    until, tries = time.monotonic() + seconds, [0, 0]
    threads = [threading.Thread(target=siege_attacks.besiege, args=(siege, i, until), daemon=True) for i in range(attackers)]
    threads.append(threading.Thread(target=token_holder, args=(siege, until, tries), daemon=True))
    for t in threads:
        t.start()
    said = time.monotonic()
    while time.monotonic() < until and siege.alive():
        time.sleep(0.2)
        n, worst, slow, _ = pinger.result()
        if time.monotonic() - said >= 30:
            said = time.monotonic()
            print(f"{until - said:6.0f} s left: {sum(siege.done.values())} attacks, {n} pings, the worst {worst:.0f} ms, "
                  f"{slow} above {PING_LIMIT_MS} ms, {siege.status_kb('VmHWM') // 1024} MB", flush=True)
    dying = list(siege.now.values())
    end = time.monotonic() + GIVE_UP_S
    for t in threads:
        t.join(max(0, end - time.monotonic()))
    hanging = [siege.now[i] for i, t in enumerate(threads[:-1]) if t.is_alive()]
    return pinger.end(), pinger.about[1], tries, dying, hanging


def frames(siege, seconds, faults):
    """Nothing of the run is missing from the counts."""
    due = RATE_PPS * seconds
    until = time.monotonic() + seconds + GIVE_UP_S
    while (ports := siege.ports())[0]["run"]["state"] != "idle" and time.monotonic() < until:
        time.sleep(0.2)
    siege.ask("wait 0", timeout=60)
    ports = siege.ports()
    tx, rx, run = ports[0]["tx"], ports[1]["rx"], ports[0]["run"]
    came = rx["packets"] + rx["missed"] + rx["nombuf"]
    print(f"frames: {due} due, {run['sent']} sent, {tx['unsent']} unsent, {came} received ({rx['missed']} missed, {rx['nombuf']} without a buffer), "
          f"{tx.get('late', 0)} left late, lateness at most {tx.get('lateness_ns', {}).get('max', 0) / 1e6:.3f} ms")
    if run["state"] != "idle":
        faults.append(f"the run does not end: port 0 is {run['state']}")
    if run["sent"] + tx["unsent"] != due:
        faults.append(f"{due} frames were due, {run['sent']} sent and {tx['unsent']} unsent are {run['sent'] + tx['unsent']}")
    if came != tx["packets"]:
        faults.append(f"{tx['packets']} frames were handed over, {came} are accounted for on the other side")


def judge_frames(siege, seconds, faults):
    try:
        frames(siege, seconds, faults)
    except (OSError, ValueError, KeyError) as e:
        faults.append(f"it does not tell its counts afterwards: {e!r}")


def judge_end(siege, faults, times):
    if not siege.alive():
        return
    begin = time.monotonic()
    siege.proc.send_signal(signal.SIGTERM)
    try:
        siege.proc.wait(END_S * 10)
    except subprocess.TimeoutExpired:
        siege.proc.kill()
        siege.proc.wait()
    took = time.monotonic() - begin
    if siege.proc.returncode != -signal.SIGTERM or (times and took > END_S):
        faults.append(f"SIGTERM ended it with {siege.proc.returncode} after {took:.1f} s; wanted: {-signal.SIGTERM} within {END_S} s")


def hold(siege, args):
    """What did not hold."""
    faults, seconds = [], int(args.minutes * 60)
    lasts = seconds + MARGIN_S
    idle_kb = siege.status_kb("VmRSS")
    limit_kb = idle_kb + args.attackers * (LUA_MB + OUT_MB + LINE_MB) * 1024
    siege.ask(f"set 0 rate {RATE_PPS}pps; start 0 for {lasts}s")
    (n, worst, slow, worked), about, tries, dying, hanging = attack(siege, seconds, args.attackers)
    peak_kb = siege.status_kb("VmHWM")
    print("attacks: " + ", ".join(f"{name} {siege.done[name]}+{siege.refused[name]}" for name in siege.attacks) + " (answered + cut off)")
    print(f"pings: {n}, the worst answered after {worst:.0f} ms, {slow} above {PING_LIMIT_MS} ms{'; not judged' if args.no_times else ''}"
          f"; control worked for {worked:.0f} ms at most during one" + (f"; about the worst: {about}" if about else ""))
    print(f"a token holder was let in {tries[0]} of {tries[1]} times")
    if not siege.alive():
        return [f"the program ended with {siege.proc.returncode} while attackers did: {', '.join(dying)}\n{siege.errors()[-2000:]}"]
    print(f"memory: {idle_kb // 1024} MB before, at most {peak_kb // 1024} MB; limit {limit_kb // 1024} MB, allowed {limit_kb * 3 // 2048} MB")
    if hanging:
        faults.append(f"no end of: {', '.join(hanging)}")
    if n == 0 or (slow > 0 and not args.no_times):
        faults.append(f"{slow} pings were answered after more than {PING_LIMIT_MS} ms, the worst after {worst:.0f} ms")
    if peak_kb > limit_kb * 1.5:
        faults.append(f"it took {peak_kb // 1024} MB")
    if tries[0] == 0 and "silent" in siege.attacks:
        faults.append("nobody with the token was let in")
    judge_frames(siege, lasts, faults)
    judge_end(siege, faults, not args.no_times)
    return faults


def main():
    p = argparse.ArgumentParser(usage="siege.py PROGRAM [MINUTES] [options]")
    p.add_argument("program")
    p.add_argument("minutes", nargs="?", type=float, default=10)
    p.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    p.add_argument("--attack", action="append", choices=list(ATTACKS), help="this one alone; repeatable")
    p.add_argument("--attackers", type=int, default=6)
    p.add_argument("--no-times", action="store_true", help="how late answers come, and the end, is said and not judged")
    args = p.parse_args()
    print(f"{args.minutes:g} minutes, {args.attackers} attackers, seed {args.seed}", flush=True)
    folder = tempfile.mkdtemp(prefix="siege-")
    siege = None
    try:
        siege = Siege(args, folder)
        faults = hold(siege, args)
    finally:
        if siege is not None:
            if siege.alive():
                siege.proc.kill()
                siege.proc.wait()
            siege.err.close()
        shutil.rmtree(folder, ignore_errors=True)
    for fault in faults:
        print(f"fault: {fault}")
    print("it does not hold" if faults else "it holds")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
