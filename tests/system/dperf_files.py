#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run the configuration files of dperf's own test folder, which are not part of this tree: each with its other end over the wire, for 3 s.

    DPERF_SOURCE=~/src/dperf tests/system/dperf_files.py [NAME ...]

A NAME is a part of a path. The other end of a file is the one that lies beside it with the other word in its name, or the file itself with
roles, ports and tunnels turned round where there is none. Only what a small machine cannot do is made less: rates, numbers of connections,
times. Ports are wires, and queues have workers of their own, pinned to CPUs in turn. For each file there is a line with what its counters
say, and what is wrong with them; exit code 1 if anything is.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from harness import binary, lcores

SOURCE = os.environ.get("DPERF_SOURCE", "")
LESS = {"cps": 2000, "cc": 300}
TIMES = {"duration": "3s", "slow_start": "0", "wait": "1"}


def number(text):
    return float(text.rstrip("km")) * {"k": 1e3, "m": 1e6}.get(text[-1], 1)


def lines(text):
    return [line.split() for line in text.splitlines() if line.split() and not line.lstrip().startswith("#")]


def smaller(text):
    """The same file for a small machine."""
    out = []
    for words in lines(text):
        if words[0] in LESS and number(words[1]) > LESS[words[0]]:
            words = [words[0], str(LESS[words[0]])]
        if words[0] not in TIMES:
            out.append(" ".join(words))
    client = ["mode", "server"] not in lines(text)
    return "\n".join(out + [f"{k} {v}" for k, v in TIMES.items() if client or k == "duration"]) + "\n"


def turned(text):
    """The other end of a file: what one says of itself the other one says of its peer."""
    out, server = [], ["mode", "server"] in lines(text)
    for words in lines(text):
        if words[0] == "mode":
            words = ["mode", "client" if server else "server"]
        elif words[0] == "port":
            words = [words[0], words[1], words[3], words[2]]
        elif words[0] == "vxlan":
            words = [*words[:2], words[3], words[2], *words[6:8], *words[4:6]]
        elif words[0] in ("kni", "flood", "duration", "cps", "cc", "slow_start", "keepalive"):
            continue
        out.append(" ".join(words))
    # a client of dperf has a line `client` for each port; a range of which some are the server's own is no range of clients
    if server:
        ports = sum(w[0] == "port" for w in lines(text))
        own = [w for w in lines(text) if w[0] == "client"]
        out = [line for line in out if not line.startswith("client ")] + ["cps 1000"]
        out += [f"client {w[1]} {min(int(w[2]), 8)}" for w in own[:ports]]
    return "\n".join(out) + "\n"


def other(path):
    """The file beside it that is meant for its other end; None: there is none, or it is for other addresses."""
    text = str(path)
    for a, b in (("client", "server"), ("server", "client")):
        there = pathlib.Path(text.replace(a, b))
        if a in path.name and there.exists():
            mine, theirs = ([w for w in lines(p.read_text()) if w[0] == "server"] for p in (path, there))
            return there if sorted(mine) == sorted(theirs) else None
    return None


def turn_wires(dump, ports, crossed):
    """A wire joins ports 0 and 1, 2 and 3: of 2 n ports the first n are the ends with even numbers."""
    place = {i: 2 * i for i in range(ports)}
    place.update({ports + i: 2 * crossed[i] + 1 for i in range(ports)})

    def each(m):
        first, last = int(m[2]), int(m[3] or m[2])
        return m[1] + ",".join(str(place[i]) for i in range(first, last + 1))
    return re.sub(r"^((?:set|start|stop|wait) )(\d+)(?:-(\d+))?(?=\s|$)", each, dump, flags=re.M)


def pair(path):
    """(client, server): their texts, the server's None for a flood."""
    text, there = path.read_text(), other(path)
    if ["flood"] in lines(text):
        return smaller(text), None
    both = [text, there.read_text() if there is not None else turned(text)]
    if ["mode", "server"] in lines(text):
        both.reverse()
    both = [smaller(text) for text in both]
    # there is no router between the two, whose MAC address could be asked for
    there = {w[2] for text in both for w in lines(text) if w[0] == "port"}
    return tuple(re.sub(r"^(port \S+ \S+ (\S+))$", lambda m: m[0] if m[2] in there else m[1] + " 02:00:00:00:00:01", text, flags=re.M)
                 for text in both)


def crossed_by(client, server):
    """Which port line of the client each one of the server belongs to, by the addresses of servers."""
    ours, theirs = ([w[1] for w in lines(t) if w[0] == "server"] for t in (client, server))
    return [ours.index(a) for a in theirs] if sorted(ours) == sorted(theirs) else list(range(len(theirs)))


def run_file(path, tmp):
    """Returns (the blocks by role, what is wrong)."""
    client, server = pair(path)
    names = []
    for name, text in (("client.conf", client), ("server.conf", server)):
        if text is not None:
            (tmp / name).write_text(text)
            names += ["--dperf", str(tmp / name)]
    # a bond is no kind of port: here it is a wire, as any device
    for name in ("client.conf", "server.conf"):
        if (tmp / name).exists():
            (tmp / name).write_text(re.sub(r"bond\S+\)", "0000:81:10.0", (tmp / name).read_text()))
    dump = subprocess.run([binary(), *names, "--dperf-dump"], capture_output=True, text=True, check=False)
    for name in ("client.conf", "server.conf"):
        if dump.returncode:
            return {}, [f"exit code {dump.returncode}: {dump.stderr.strip()}"]
    ports = sum(w[0] == "port" for w in lines(client))
    text = dump.stdout if server is None else turn_wires(dump.stdout, ports, crossed_by(client, server))
    gateway = next(w for w in lines(client) if w[0] == "port")[3]
    # the other end of a flood is a host, and no more; a machine that stands still must not make anybody send again
    more = f"set 1 ip {gateway}/24\n" if server is None else "set all flow.rto 10s\n"
    (tmp / "run.cmd").write_text("set all catchup keep\n" + text.replace("# the run\n", more))
    asked = next(w for w in lines(client) if w[0] == "cpu")[1:]
    cpus = sum(int(w.split("-")[-1]) - int(w.split("-")[0]) + 1 for w in asked)
    queues, maps, n = cpus // ports, [], 0
    for port in range(2 * ports):
        maps.append("[" + "/".join(str(n + k + 1) for k in range(queues)) + f"].{port}")
        n += queues
    args = [binary(), *lcores(n), *["-p", "wire"] * ports, "-m", ",".join(maps), "-b", "--json", "-f", str(tmp / "run.cmd")]
    done = subprocess.run(args, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode:
        return {}, [f"exit code {done.returncode}: {done.stderr.strip()}"]
    blocks = {b["role"]: b for b in json.loads(done.stdout.splitlines()[-1])["dperf"]}
    return blocks, wrong_with(blocks, server is not None)


AGAIN = ("synRt", "finRt", "pushRt", "udpRt")


def told_of(client, server):
    keys = (*AGAIN, "tcpDrop", "udpDrop", "rstRx", "rstTx", "otherRx")
    return "; ".join(" ".join([role, *(f"{k} {b[k]}" for k in keys if b[k])]) for role, b in (("client", client), ("server", server)))


def wrong_with(blocks, answered):
    """What counters of a run without faults contradict."""
    out = []

    def check(what, *values):
        if len(set(values)) != 1:
            out.append(f"{what}: {', '.join(str(v) for v in values)}")
    if not answered:
        c = blocks["client"]["total"]
        check("pktTx is all that was sent", c["pktTx"], c["udpTx"] + c["arpTx"] + c["icmpTx"])
        return out
    if set(blocks) != {"client", "server"}:
        return [f"blocks: {sorted(blocks)}"]
    c, s = (blocks[role]["total"] for role in ("client", "server"))
    for role, b in (("client", c), ("server", s)):
        check(f"{role}: skOpen = skClose + skCon", b["skOpen"], b["skClose"] + b["skCon"])
        check(f"{role}: no error", b["skErr"], 0)
        check(f"{role}: no bad frame and none that was thrown away", b["badRx"], b["dropTx"], 0)
        check(f"{role}: no named error", str(b["errors"]), "{}")
        check(f"{role}: pktRx is what is told of it", b["pktRx"], b["tcpRx"] + b["udpRx"] + b["arpRx"] + b["icmpRx"] + b["otherRx"])
    if blocks["client"]["app"] == "http":
        check("requests and responses", c["httpGet"] + c["httpPost"], c["http2XX"], s["httpGet"] + s["httpPost"], s["http2XX"])
    else:
        check("requests and responses", c["tcpReq"], c["tcpRsp"], s["tcpReq"], s["tcpRsp"])
    check("connections of both", c["skOpen"], s["skOpen"])
    again = sum(b[k] or 0 for b in (c, s) for k in AGAIN)
    if again:
        return out + [f"odd, not wrong: the machine stood still, and {again} were sent again: " + told_of(c, s)]
    for role, b in (("client", c), ("server", s)):
        check(f"{role}: no drop or reset", *(b[k] or 0 for k in ("tcpDrop", "udpDrop", "rstRx", "rstTx", "otherRx")), 0)
    for ours, theirs in (("tcpTx", "tcpRx"), ("tcpRx", "tcpTx"), ("udpTx", "udpRx"), ("udpRx", "udpTx"), ("synTx", "synRx"), ("finTx", "finRx")):
        check(f"{ours} of the client is {theirs} of the server", c[ours], s[theirs])
    if c["skOpen"] == 0:
        out.append("no connection was opened")
    return out


def main():
    top = pathlib.Path(SOURCE, "test")
    if not SOURCE or not top.is_dir():
        sys.exit("DPERF_SOURCE does not name a copy of dperf's source, which has a folder 'test'")
    files = [p for p in sorted(top.rglob("*.conf")) if not sys.argv[1:] or any(word in str(p) for word in sys.argv[1:])]
    bad = 0
    for path in files:
        with tempfile.TemporaryDirectory() as tmp:
            blocks, wrong = run_file(path, pathlib.Path(tmp))
        told = "; ".join(f"{role} " + " ".join(f"{k} {b['total'][k]}" for k in ("pktTx", "skOpen", "tcpReq", "http2XX") if b["total"][k] is not None)
                         for role, b in blocks.items())
        mark = "right" if not wrong else "odd  " if all(w.startswith("odd") for w in wrong) else "wrong"
        print(f"{mark}  {path.relative_to(top)}: {told}", *wrong, sep="\n       ", flush=True)
        bad += mark == "wrong"
    print(f"{len(files)} files, {bad} wrong")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
