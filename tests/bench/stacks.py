# SPDX-License-Identifier: BSD-3-Clause
"""The same workload on two stacks, and the kernel's arm beside the programs that people know it from.

`stacks` itself measures the arms in turn, in network namespaces of its own: who answers has the first CPU, who asks the second one, and both ports of
a `wire` the second one alone. CUBIC and 5 ms at least before a segment is sent again, in all arms. The rows with `wire` are against the kernel over
loopback. neper's programs (NEPER=the folder that has them) and iperf3 run over loopback in turn with the program's own of these names, both ends of
each by one of the two."""
import json
import os
import shutil
import socket
import statistics
import subprocess
import time

from proc import CannotRun

RUNS = 5  # of this part at most: it takes half a minute each time
KERNEL, PORT, WIRE = "kernel to kernel", "port to kernel", "port to port"
TWO, LOOP = ("--arms", "kernel-kernel,port-kernel"), ("--arms", "kernel-kernel,port-port", "--loopback")
# options -> {row: (workload, arm, target)}; None: what the kernel's receiver can copy holds both arms, so there is none
GROUPS = [
    (TWO, {"stacks_rr": ("tcp_rr", PORT, 1.2), "stacks_crr": ("tcp_crr", PORT, 2.0), "stacks_udp_rr": ("udp_rr", PORT, 1.2),
           "stacks_we_send": ("tcp_stream", PORT, None)}),
    ((*TWO, "--skip-rx-copy"), {"stacks_we_send_skip": ("tcp_stream", PORT, 3.0)}),
    ((*TWO, "--down"), {"stacks_we_receive": ("tcp_stream", PORT, 0.9)}),
    (LOOP, {"stacks_wire_rr": ("tcp_rr", WIRE, 20.0), "stacks_wire_crr": ("tcp_crr", WIRE, 20.0)}),
    ((*LOOP, "--verify", "--mtu", "9000", "--mss", "8960"), {"stacks_wire_stream": ("tcp_stream", WIRE, 1.0)}),
]
LEAST = 0.95  # of the original
NEPER = {"neper_tcp_rr": ("tcp_rr", 50), "neper_tcp_crr": ("tcp_crr", 50), "neper_tcp_stream": ("tcp_stream", 1), "neper_udp_rr": ("udp_rr", 50),
         "neper_udp_stream": ("udp_stream", 1)}
IPERF = {"iperf3_tcp": (), "iperf3_tcp_P4": ("-P", "4"), "iperf3_udp": ("-u", "-b", "0", "-l", "1400")}


def targets():
    return [*(name for _, rows in GROUPS for name in rows), *NEPER, *IPERF]


def run_stacks(program, cpus, options, rows):
    words = [*options, *dict.fromkeys(w for w, _, _ in rows.values())]
    times = ("--runs", "1", "--duration", "1s", "--warm-up", "300ms")
    r = subprocess.run([program, "--json", "stacks", *times, "--cpus", f"{cpus[0]},{cpus[1]}", *words],
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if r.returncode != 0:
        raise CannotRun(r.stderr.strip().rsplit("\n", 1)[-1])
    found = {(o["workload"], o["arm"]): o for o in json.loads(r.stdout)["stacks"]["results"]}
    return {name: compared(found[w, KERNEL], found[w, arm]) for name, (w, arm, _) in rows.items()}


def compared(theirs, ours):
    if not theirs["median"]:
        raise CannotRun(f"{theirs['workload']}, {theirs['arm']}: nothing was done in the time of a run")
    cycles = " and ".join("-" if o["cycles_per"] is None else f"{o['cycles_per']:.3g}" for o in (ours, theirs))
    return {"theirs": theirs["median"], "ours": ours["median"], "unit": ours["unit"],
            "said": f"over {ours['device']} and {theirs['device']}; cycles per {ours['per']} {cycles}; "
                    f"payload touched: {'yes' if ours['payload_touched'] else 'no'}"}


def listens(port):
    """Whether somebody does, without a connection, which a server would take for its client."""
    with open("/proc/net/tcp", encoding="ascii") as f4, open("/proc/net/tcp6", encoding="ascii") as f6:
        return any(line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "0A" for line in [*f4, *f6] if ":" in line.split()[0])


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def pair(cpus, server, client, port):
    """What the client prints; both end by themselves."""
    none = subprocess.DEVNULL
    with subprocess.Popen(["taskset", "-c", str(cpus[0]), *server], stdin=none, stdout=none, stderr=none) as s:
        try:
            end = time.monotonic() + 10
            while not listens(port):
                if s.poll() is not None or time.monotonic() > end:
                    raise CannotRun(f"{' '.join(server)} does not listen")
                time.sleep(0.01)
            r = subprocess.run(["taskset", "-c", str(cpus[1]), *client], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, check=False, timeout=60)
        except subprocess.TimeoutExpired as e:
            raise CannotRun(f"{' '.join(client)} does not end") from e
        finally:
            s.kill()
    if r.returncode != 0:
        raise CannotRun(f"{' '.join(client)}: {(r.stderr or r.stdout).strip()[-200:]}")
    return r.stdout


def neper(base, cpus, workload, flows):
    control, port = free_port(), free_port()
    words = [*base(workload), "-C", str(control), "-P", str(port), "-F", str(flows), "--nolog", "-l", "1"]
    said = dict(line.split("=", 1) for line in pair(cpus, words, [*words, "-c", "-H", "127.0.0.1"], control).splitlines() if "=" in line)
    return float(said.get("throughput", said["remote_throughput"]))


def iperf3(base, cpus, more):
    port = str(free_port())
    end = json.loads(pair(cpus, [*base, "-s", "-1", "-p", port], [*base, "-c", "127.0.0.1", "-p", port, "-t", "1", "-J", *more], int(port)))["end"]
    return end["sum_received" if "sum_received" in end and "-u" not in more else "sum"]["bits_per_second"]


def why_no(name):
    if name in IPERF:
        return None if shutil.which("iperf3") else "iperf3 is not installed"
    if "NEPER" not in os.environ:
        return "NEPER does not name the folder with neper's programs"
    path = os.path.join(os.environ["NEPER"], NEPER[name][0])
    return None if os.access(path, os.X_OK) else f"there is no program {path}"


def against_original(program, cpus, name):
    if name in IPERF:
        return {"ours": iperf3([program, "iperf3"], cpus, IPERF[name]), "theirs": iperf3(["iperf3"], cpus, IPERF[name]), "unit": "bit/s", "said": ""}
    one = NEPER[name]
    return {"ours": neper(lambda w: [program, "neper", w], cpus, *one), "theirs": neper(lambda w: [os.path.join(os.environ["NEPER"], w)], cpus, *one),
            "unit": "bit/s" if "stream" in name else "transactions/s", "said": f"{one[1]} flows"}


def measure(program, cpu):
    """One run of each arm of each row, or why there is none."""
    others = [c for c in sorted(os.sched_getaffinity(0)) if c != cpu]
    if not others:
        return {"why": {name: "there is one CPU" for name in targets()}}
    cpus, run = (others[0], cpu), {"why": {}}
    for options, rows in GROUPS:
        try:
            run |= run_stacks(program, cpus, options, rows)
        except (CannotRun, OSError) as e:
            run["why"] |= dict.fromkeys(rows, str(e))
    for name in (*NEPER, *IPERF):
        try:
            why = why_no(name)
            if why is not None:
                raise CannotRun(why)
            run[name] = against_original(program, cpus, name)
        except (CannotRun, OSError, ValueError, KeyError) as e:
            run["why"][name] = str(e)
    return run


def evaluate(runs):
    """Rows of the table."""
    target = {name: t for _, rows in GROUPS for name, (_, _, t) in rows.items()} | dict.fromkeys((*NEPER, *IPERF), LEAST)
    rows = []
    for name, least in target.items():
        have = [r[name] for r in runs if name in r]
        if not have:
            why = next((r["why"][name] for r in runs if name in r["why"]), "not measured")
            rows.append({"variant": name, "skipped": why, "engine": f"skipped: {why}"})
            continue
        ratios = [h["ours"] / h["theirs"] for h in have]
        value, ours, theirs = statistics.median(ratios), *(statistics.median(h[k] for h in have) for k in ("ours", "theirs"))
        rows.append({"variant": name, "ratio": round(value, 4), "low": round(min(ratios), 4), "high": round(max(ratios), 4),
                     "to": "the original" if name in NEPER or name in IPERF else "the kernel",
                     **({"target": least, "ok": value >= least} if least is not None else {}),
                     "engine": f"{ours:.4g} and {theirs:.4g} {have[0]['unit']}; {have[0]['said']}".rstrip("; ")})
    return rows
