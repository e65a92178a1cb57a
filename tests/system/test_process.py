# SPDX-License-Identifier: BSD-3-Clause
"""The program as a process: options, exit codes, output forms, places where it must run, signals, silence."""
import contextlib
import csv
import io
import json
import mmap
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest

import harness
import serving
from harness import ONE_SECOND, cpus, documents, good, ports_of, stats
from pty_term import PROMPT
from screen_term import RUNNING, Screen
from serving import until

THOUSAND = "set 0 count 1000; start 0; wait 0; show stats"


def thousand(args=(), **kw):
    assert stats([*args, "-e", THOUSAND], **kw)[1]["rx"]["packets"] == 1000


# Options and exit codes

def test_help_and_version(run):
    for opt in ("-h", "--help", "-V", "--version"):
        r = run([opt])
        assert r.returncode == 0 and "wirerate" in r.stdout and r.stderr == "", opt


def test_dump_commands_is_json():
    assert json.loads(good(["--dump-commands"]).stdout)


USAGE = {
    "unknown option": ["--no-such-option"],
    "option without its value": ["-m"],
    "unknown verb": ["frobnicate", "0"],
    "unknown setting": ["set", "0", "colour", "red"],
    "no such port": ["set", "7", "count", "1"],
    "one-shot start without a bound": ["start", "0"],
    "batch wait without a bound": ["-e", "start 0; wait 0"],
    "unknown port spec": ["-p", "bogus:x", "show", "ports"],
    "empty port spec": ["-p", "", "show", "ports"],
    "wire with a tail": ["-p", "wire:x", "show", "ports"],
    "junk in a map": ["-m", "1.0x", "show", "map"],
    "control in a map": ["-m", "0.0", "show", "map"],
    "port of a map": ["-m", "1.9", "show", "map"],
    "twice in a map": ["-m", "1.0, 1.0", "show", "map"],
    "queues of a map": ["-m", "1:1.0*17", "show", "map"],
    "missing file": ["-f", "/no/such/file"],
    "a verb of a later version": ["capture", "0"],
    "an option of a later version": ["-s", "0:f"],
    "count abc5": ["set", "0", "count", "abc5"],
    "count 5abc": ["set", "0", "count", "5abc"],
    "count -5": ["set", "0", "count", "-5"],
    "count 1e99": ["set", "0", "count", "1e99"],
    "rate -1": ["set", "0", "rate", "-1"],
    "rate 101%": ["set", "0", "rate", "101%"],
    "rate of no unit": ["set", "0", "rate", "5furlongs"],
    "size 63": ["set", "0", "size", "63"],
    "burst 0": ["set", "0", "burst", "0"],
    "burst 513": ["set", "0", "burst", "513"],
    "trailing words": ["set", "0", "count", "5", "6"],
    "address": ["set", "0", "ipv4.dst", "10.0.0.256"],
}


@pytest.mark.parametrize("what", USAGE)
def test_usage_is_refused_with_2(run, what):
    r = run(USAGE[what], timeout=60)
    assert r.returncode == 2, r.stderr
    assert r.stderr.strip() != ""
    assert r.stdout == ""


def test_what_comes_later_says_so(run):
    for args in (["pcap", "0"], ["-s", "0:f"]):
        assert "not in this version" in run(args).stderr


def test_a_typo_gets_the_nearest_word_and_a_caret(run):
    r = run(["-e", "set 0 cuont 5"])
    assert r.returncode == 2
    assert "count" in r.stderr and "^" in r.stderr


def test_a_wrong_map_shows_its_column(run):
    r = run(["-m", "1.0, 99.1", "show", "map"])
    assert r.returncode == 2
    assert "99" in r.stderr and "1.0, 99.1" in r.stderr
    lines = r.stderr.splitlines()
    text = next(i for i, s in enumerate(lines) if "1.0, 99.1" in s and i + 1 < len(lines) and lines[i + 1].strip().startswith("^"))
    assert lines[text + 1].index("^") == lines[text].index("99.1")


@pytest.mark.parametrize("spec", ["if:nosuch0", "packet:nosuch0", "xdp:nosuch0", "pci:0000:ff:1f.7", "pcap:rx=/no/such.pcap"])
def test_what_is_not_there_is_3(run, spec):
    r = run(["-p", spec, "show", "ports"])
    assert r.returncode == 3, r.stderr
    assert spec in r.stderr
    assert r.stdout == ""


def test_wait_that_runs_out_is_1(run):
    r = run(["-e", "set 0 rate 1kpps; set 0 count 60000; start 0; wait 0 200ms; stop 0"])
    assert r.returncode == 1, r.stderr


def test_a_refused_command_changes_nothing():
    r = harness.run(["-k", "--json", "-e", "set 0 count 1000; set 0,7 count 5; set 0 count 5x; start 0; wait 0; show stats"])
    assert r.returncode == 2
    assert ports_of(documents(r)[-1])[1]["rx"]["packets"] == 1000


def test_one_shot():
    r = good(["--json", "start", "0", "for", "10ms"])
    assert r.stdout == "" or documents(r)
    assert harness.ports_of(documents(good(["--json", "show", "stats"]))[0])[0]["run"]["state"] == "idle"


def test_ports_with_a_bound_are_waited_for_at_the_end(tmp_path):
    out = tmp_path / "t.pcap"
    good(["-p", f"pcap:tx={out}", "-e", "set 0 rate 2kpps; set 0 count 1000; start 0"])
    from scapy.utils import rdpcap
    assert len(rdpcap(str(out))) == 1000


# Files, -e, pipes

def test_file_and_execute_in_order(tmp_path):
    f = tmp_path / "a.wr"
    f.write_text("set 0 count 2000\nset 0 size 128\n")
    ports = stats(["-e", "set 0 count 1000", "-f", str(f), "-e", "set 0 size 256; start 0; wait 0; show stats"])
    assert ports[0]["tx"]["packets"] == 2000
    assert ports[0]["tx"]["bytes"] == 2000 * 256


def test_newlines_in_execute():
    assert stats(["-e", "set 0 count 7\nstart 0\nwait 0\nshow stats"])[1]["rx"]["packets"] == 7


def test_a_refusal_in_a_file_names_file_and_line_and_stops(run, tmp_path):
    f = tmp_path / "bad.wr"
    f.write_text("set 0 count 10\n\nset 0 count ten\nstart 0\nwait 0\nshow stats\n")
    r = run(["--json", "-f", str(f)])
    assert r.returncode == 2
    assert f"{f}:3" in r.stderr
    assert r.stdout == ""
    r = run(["--json", "-k", "-f", str(f)])
    assert r.returncode == 2
    assert ports_of(documents(r)[-1])[1]["rx"]["packets"] == 10


def test_piped_input(run):
    r = run(["--json"], stdin="set 0 count 1000\nstart 0\nwait 0\nshow stats\n")
    assert r.returncode == 0, r.stderr
    assert ports_of(documents(r)[-1])[1]["rx"]["packets"] == 1000
    r = run(["--json"], stdin="set 0 count 1000\nset 0 nonsense 1\nshow stats\n")
    assert r.returncode == 2 and r.stdout == ""
    r = run(["-b"], stdin="")
    assert r.returncode == 0


def test_the_last_line_needs_no_newline(run):
    r = run(["--json"], stdin="show stats")
    assert r.returncode == 0 and len(documents(r)) == 1


# Output forms

@pytest.mark.parametrize("what", ["stats", "rates", "queues", "xstats", "ports", "map", "plan", "frame", "settings"])
def test_show(what):
    docs = documents(good(["--json", "show", what]))
    assert len(docs) == 1
    text = good(["show", what]).stdout
    assert text.strip() != "" and "\x1b" not in text
    rows = list(csv.reader(io.StringIO(good(["--csv", "show", what]).stdout)))
    assert rows and all(len(r) == len(rows[0]) for r in rows), rows[:3]


def test_stats_have_the_agreed_keys():
    doc = documents(good(["--json", "-e", THOUSAND]))[-1]
    assert doc["show"] == "stats" and doc["time_ns"] > 0 and doc["wall_ns"] > 1.7e18
    p = doc["ports"][0]
    assert {"port", "name", "link", "speed_mbps", "run", "tx", "rx", "nic", "queues"} <= set(p)
    assert {"state", "sent", "duration_ns", "asked_pps", "mean_pps"} <= set(p["run"])
    assert {"packets", "bytes", "dropped", "stalls", "unsent", "errors", "pps", "l1_bps"} <= set(p["tx"])
    assert {"packets", "bytes", "missed", "nombuf", "errors", "pps", "l1_bps"} <= set(p["rx"])
    assert {"packets", "bytes", "dropped", "stalls"} <= set(p["queues"][0]["tx"])
    assert {"packets", "bytes"} <= set(p["queues"][0]["rx"])
    assert p["name"] == "wire0"


def test_csv_has_the_numbers():
    rows = list(csv.reader(io.StringIO(good(["--csv", "-e", "set 0 count 12347; start 0; wait 0; show stats"]).stdout)))
    assert any("12347" in row for row in rows)


def test_results_go_to_stdout_alone(run):
    r = run(["--json", "-e", THOUSAND])
    assert len(r.stdout.splitlines()) == 1
    assert "EAL:" not in r.stderr


def test_a_queue_costs_little_memory():
    doc = documents(good(["--json", "show", "ports"]))[0]
    for p in doc["ports"]:
        assert 0 < p["memory_bytes"] <= 24 << 20


# Places

def test_several_instances_at_once():
    procs = [subprocess.Popen([harness.binary(), "--json", "-e", "set 0 rate max; set 0 count 200000; start 0; wait 0; show stats"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    for p in procs:
        out, err = p.communicate(timeout=60)
        assert p.returncode == 0, err
        assert ports_of(harness.document(out.splitlines()[-1]))[1]["rx"]["packets"] == 200000


def test_unprivileged(need, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("already unprivileged: every other test shows it")
    need("setpriv")
    who = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--no-new-privs"]
    if subprocess.run([*who, "test", "-x", harness.binary()]).returncode != 0:
        pytest.skip("an unprivileged user cannot reach the program where it was built")
    env = {"PATH": os.environ["PATH"], "HOME": "/proc/none"}
    thousand(prefix=who, env=env, cwd="/")
    r = harness.run(["-p", "packet:lo", "show", "ports"], prefix=who, env=env, cwd="/")
    assert r.returncode == 3, r.stderr
    assert "packet:lo" in r.stderr


def test_without_term():
    thousand(env={k: v for k, v in os.environ.items() if k != "TERM"})
    thousand(env={})


@pytest.mark.parametrize("closed", ["<&-", "2>&-", "<&- 2>&-"])
def test_closed_descriptors(closed):
    r = subprocess.run(["sh", "-c", f'exec "$0" "$@" {closed}', harness.binary(), "--json", "-e", THOUSAND], stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
    assert r.returncode == 0, r.stderr
    assert ports_of(documents(r)[-1])[1]["rx"]["packets"] == 1000


@pytest.mark.parametrize("closed", [">&-", "<&- >&-", ">&- 2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("mode", [[], ["--json"], ["--csv"], ["--json-stream"]], ids=" ".join)
def test_results_that_nobody_can_take(tmp_path, closed, mode):
    """They are not lost without a word, and nothing that was printed goes into the file that took a low descriptor."""
    out = tmp_path / "t.pcap"
    r = subprocess.run(["sh", "-c", f'exec "$0" "$@" {closed}', harness.binary(), *mode, "-p", f"pcap:tx={out}", "-e",
                        "set 0 count 1000; start 0; wait 0", "-e", "show stats; show ports"], stderr=subprocess.PIPE, text=True, timeout=60)
    assert r.returncode == 3
    assert "2>&-" in closed or "cannot write results to standard output" in r.stderr
    if not mode:
        from scapy.utils import rdpcap
        assert len(rdpcap(str(out))) == 1000


@pytest.mark.parametrize("what", [["--version"], ["--help"], ["--dump-schema"], ["--dump-commands"], ["--dperf-manual"], ["doctor"], ["help", "lb"],
                                  ["neper", "--help"], ["neper", "tcp_rr", "--help"], ["neper", "udp_rr", "--version"], ["iperf3", "--help"],
                                  ["iperf3", "--version"], ["stacks", "--help"]], ids=" ".join)
def test_what_is_printed_alone_and_nobody_can_take(what):
    for closed in (">&-", ">/dev/full"):
        r = subprocess.run(["sh", "-c", f'exec "$0" "$@" {closed}', harness.binary(), *what], stderr=subprocess.PIPE, text=True, timeout=60)
        assert r.returncode == 3 and "cannot write results to standard output" in r.stderr, (closed, r.stderr)


@pytest.mark.parametrize("closed", ["<&- >&- 2>&-", "<&-", ">&- 2>&-"])
def test_low_descriptors_are_not_taken(tmp_path, closed):
    """Neither a socket nor a file stands where a standard stream was."""
    mark = tmp_path / "mark"
    p = subprocess.Popen(["sh", "-c", f'exec "$0" "$@" {closed}', harness.binary(), "-b", "-p", "null", f"--socket={tmp_path}/s", "-e",
                          f"start 0; save {mark}; sleep 1000s"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        serving.until(mark.exists, "it runs")
        assert [where(p.pid, fd) for fd in range(3)] == ["/dev/null"] * 3
    finally:
        p.kill()
        p.wait()


def where(pid, fd):
    try:
        return os.readlink(f"/proc/{pid}/fd/{fd}")
    except FileNotFoundError:
        return ""


@pytest.mark.parametrize("stream", [[], ["--json-stream"]], ids=" ".join)
def test_a_full_disk_under_the_results(stream):
    with open("/dev/full", "w", encoding="utf-8") as full:
        r = subprocess.run([harness.binary(), "-b", "-p", "null", *stream, "-e", "show ports"], stdin=subprocess.DEVNULL, stdout=full,
                           stderr=subprocess.PIPE, text=True, timeout=60)
    assert r.returncode == 3 and "cannot write results to standard output: No space left on device" in r.stderr, r.stderr


@pytest.mark.parametrize("command, code", [("bogus", 2), ("start 0; wait 0 1ms", 1)])
def test_the_runs_own_failure_counts_more_than_lost_results(command, code):
    with open("/dev/full", "w", encoding="utf-8") as full:
        r = subprocess.run([harness.binary(), "-b", "-p", "null", "-k", "-e", command, "-e", "show ports"], stdin=subprocess.DEVNULL, stdout=full,
                           stderr=subprocess.PIPE, text=True, timeout=60)
    assert r.returncode == code and "cannot write results" in r.stderr, r.stderr


def test_a_reader_of_a_stream_who_leaves(tmp_path):
    """Text may be cut off by `head`; a stream that was is not whole, which its writer says."""
    script = '"$0" "$@" 2>"$ERR" | head -1 >/dev/null; exit ${PIPESTATUS[0]}'
    for mode, code, says in ((["--json-stream"], 3, "cannot write results to standard output: Broken pipe"), ([], 0, "")):
        env = {**os.environ, "ERR": str(tmp_path / "err")}
        r = subprocess.run(["bash", "-c", script, harness.binary(), "-b", "-p", "null", *mode, "-e",
                            "lua 'for i = 1, 100000 do print(i) end'; show ports"], stdin=subprocess.DEVNULL, env=env, timeout=60)
        assert r.returncode == code and says in (tmp_path / "err").read_text()


def test_one_cpu(need):
    need("taskset")
    prefix = ["taskset", "-c", str(cpus()[0])]
    thousand(prefix=prefix)
    assert stats(["-e", "set all rate max; set all count 300000; start all; wait all; show stats"], prefix=prefix)[1]["rx"]["packets"] == 300000
    last = ["taskset", "-c", str(cpus()[-1])]
    thousand(prefix=last)


def hugepages_free():
    with open("/proc/meminfo") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("HugePages_Free"))


@contextlib.contextmanager
def hugepages(n):
    """So many of 2 MB, all of them free."""
    knob = "/proc/sys/vm/nr_hugepages"
    if not os.access(knob, os.W_OK):
        pytest.skip(f"needs write access to {knob}")
    with open(knob) as f:
        before = f.read()
    try:
        with open(knob, "w") as f:
            f.write(str(n))
        free = hugepages_free()
        if free < n:
            pytest.skip(f"the kernel gave {free} hugepages of {n}")
        yield free
    finally:
        with open(knob, "w") as f:
            f.write(before)


@pytest.mark.alone("the hugepages of the machine")
def test_hugepages(live):
    with hugepages(128) as free:
        w = live([])
        w.stats()
        assert hugepages_free() < free, "hugepages are there and not used"
        w.send("set 0 count 1000; start 0; wait 0")
        assert w.stats()[1]["rx"]["packets"] == 1000
        assert w.quit()[0] == 0
        until(lambda: hugepages_free() == free, "hugepages are still taken after the end")
        thousand()


@pytest.mark.alone("the hugepages of the machine")
def test_hugepages_of_others(need, tmp_path):
    need("prlimit")
    ask = ["-b", "-e", "show ports"]
    with hugepages(64) as free:
        # others have all but three
        with mmap.mmap(-1, (free - 3) << 21, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40000 | 0x8000):  # HUGETLB, POPULATE
            assert hugepages_free() == 3
            r = harness.run(ask)
            assert r.returncode == 0 and re.fullmatch(r"wirerate: the ports need \d+ MB in hugepages of one size, and 6 MB of \d+ MB are free, "
                                                      r"so small pages are used\n", r.stderr), r.stderr
        # They are free, and EAL cannot use them: it wants the addresses of all that there may ever be. The program starts anew.
        few = ["prlimit", "--core=0:0", f"--as={2 << 30}"]
        again = "wirerate: DPDK's EAL could not use the hugepages that were free, so small pages are used\n"
        for how in (ask, ["-b"]):
            r = harness.run(how, stdin="show ports\n", prefix=few)
            assert (r.returncode, r.stderr) == (0, again) and "wire0" in r.stdout, (r.returncode, r.stderr)
        with open(tmp_path / "errors", "w") as errors:
            r = subprocess.run([*few, harness.binary(), "--daemon", f"--socket={tmp_path}/s"], stderr=errors, timeout=60, check=False)
        said = (tmp_path / "errors").read_text()
        assert r.returncode == 0 and said.startswith(again), said
        assert harness.run(["attach", f"{tmp_path}/s", "-e", "shutdown"]).returncode == 0
        # unless hugepages were asked for
        r = harness.run(["--in-memory", "--", *ask], prefix=few)
        assert r.returncode == 3 and "EAL did not start" in r.stderr and "small pages" not in r.stderr, r.stderr
        # What pipes have told is told again, whatever they are; and nothing else is read twice.
        os.mkfifo(tmp_path / "fifo")
        with subprocess.Popen(["sh", "-c", f"echo 'show plan' > {tmp_path}/fifo"]) as writer:
            r = harness.run(["-b", "-f", "/dev/stdin", "-f", tmp_path / "fifo", "--json"], stdin="show settings\n" * 9, prefix=few)
        assert (r.returncode, r.stderr, writer.returncode) == (0, again, 0), r
        assert [d["show"] for d in documents(r)] == ["settings"] * 9 + ["plan"]
        r = subprocess.run(["bash", "-c", 'exec "$@" -f <(printf "set 0 count 7\n") -e "show settings"', "-", *few, harness.binary(), "-b", "--json"],
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        said = {str(s["value"]) for s in documents(r)[0]["settings"] if s["name"] == "count" and s["target"] == "0"}
        assert (r.returncode, r.stderr, said) == (0, again, {"7"}), (r.returncode, r.stderr, said)


def test_eal_options_of_the_user():
    first = str(cpus()[0])
    r = good(["--lcores", f"0@{first},5@{first}", "--no-huge", "-m", "256", "--", "--json", "-m", "5.0, 5.1", "-e", THOUSAND])
    assert ports_of(documents(r)[-1])[1]["rx"]["packets"] == 1000
    r = good(["--lcores", f"0@{first},1@{first}", "--vdev", "net_null0", "--", "--json", "show", "ports"])
    assert len(documents(r)[0]["ports"]) == 1


def test_devices_of_eal_beside_ports():
    """They come behind the ports of -p. One that both name is refused, as a device with a name that is taken."""
    first = str(cpus()[0])
    eal = ["--lcores", f"0@{first},1@{first}", "--no-pci", "--vdev=net_null5,size=60", "--vdev", "net_null3", "--"]
    r = good([*eal, "-p", "wire", "-p", "null", "-m", "1.0,1.1,1.2,1.3*2,1.4", "--json",
              "-e", "show ports; set 3 count 10; start 3; wait 3; show stats 3"])
    ports, stats = documents(r)
    assert [p["name"] for p in ports["ports"]] == ["wire0", "wire1", "null0", "net_null5", "net_null3"]
    assert [p["tx_queues"] for p in ports["ports"]] == [1, 1, 1, 2, 1]
    assert stats["ports"][0]["tx"]["packets"] == 10
    r = harness.run([*eal, "-p", "vdev:net_null3", "-b"])
    assert r.returncode == 2 and "a device named net_null3 is open already" in r.stderr


def test_map_picks_the_lcores():
    need = [c for c in cpus() if c != cpus()[0]]
    if not need:
        pytest.skip("needs two CPUs")
    text = good(["-m", f"{need[0]}.0,{need[0]}.1", "show", "map"]).stdout
    assert f"lcore {need[0]}" in text and "Rx 0" in text and "Tx 0" in text


def test_ports_that_no_map_names():
    n = cpus()[-1]
    if len(cpus()) < 2:
        pytest.skip("needs two CPUs")
    r = good(["-p", "null", "-p", "null", "-m", f"{n}.1", "-e", "set 1 count 10; start 1; wait 1; show map"])
    assert "unused" in r.stdout
    assert harness.run(["-p", "null", "-p", "null", "-m", f"{n}.1", "-e", "start 0 for 10ms"]).returncode == 2


# pcap

def test_pcap_is_judged_by_others(need, tmp_path):
    need("tshark")
    from scapy.all import UDP, Dot1Q, Ether, IP, rdpcap
    out = tmp_path / "out.pcap"
    good(["-p", f"pcap:tx={out}", "-e", "set 0 frame eth/vlan/ipv4/udp; set 0 vlan.vid 7; set 0 ipv4.dst 10.1.2.3; set 0 udp.dst 5000; "
          "set 0 size 100; set 0 count 500; start 0; wait 0; set 0 vlan.vid default; set 0 frame eth/ipv4/udp; "
          "set 0 udp.src 77; set 0 size 64; start 0"])
    harness.judge(out, 1000)
    frames = rdpcap(str(out))
    assert len(frames) == 1000
    for f in frames[:500]:
        assert len(f) == 96 and f[Dot1Q].vlan == 7 and f[IP].dst == "10.1.2.3" and f[UDP].dport == 5000
    for f in frames[500:]:
        assert len(f) == 60 and Dot1Q not in f and f[UDP].sport == 77
    again = Ether(bytes(frames[0]))
    del again[IP].chksum, again[UDP].chksum
    assert bytes(Ether(bytes(again))) == bytes(frames[0])


def test_pcap_of_tcp(need, tmp_path):
    need("tshark")
    out = tmp_path / "out.pcap"
    good(["-p", f"pcap:tx={out}", "-e", "set 0 frame eth/ipv4/tcp; set 0 size 200; set 0 count 100; start 0"])
    harness.judge(out, 100, "tcp")


def test_pcap_is_received(live, tmp_path):
    from scapy.all import Ether, wrpcap
    path = tmp_path / "in.pcap"
    wrpcap(str(path), [Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02", type=0x88b5) / bytes(46 + i % 50) for i in range(300)])
    p = live(["-p", f"pcap:rx={path},tx={tmp_path / 'out.pcap'}"])
    p.until(lambda ports: ports[0]["rx"]["packets"] >= 300, 10)
    p.send("sleep 50ms")
    ports = p.stats()
    assert ports[0]["rx"]["packets"] == 300
    assert ports[0]["rx"]["bytes"] == sum(60 + i % 50 + 4 for i in range(300))


# Signals, silence, the terminal

@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("doing, waiting", [("set 0 rate max; start 0", ""), ("set 0 rate 1pps; set 0 count 10000; start 0", "show stats; wait 0"),
                                            ("", "show stats; sleep 1000s"), ("", "")])
@pytest.mark.alone("how long the end takes")
def test_signals_end_the_program(live, sig, doing, waiting):
    w = live(["-k"])
    w.send(doing)
    w.stats()
    if "start" in doing:
        w.until(lambda ports: ports[0]["run"]["state"] == "sending", 10)
    if waiting:
        w.ask(waiting)
    with harness.Stopwatch() as watch:
        w.proc.send_signal(sig)
        assert w.proc.wait(60) == -sig
        assert watch.seconds() < ONE_SECOND


@pytest.mark.alone("a worker has no CPU for a second")
def test_the_end_waits_for_a_worker_without_cpu(live):
    w = live(["-p", "wire"])
    w.send("start 0")
    w.until(lambda ports: ports[0]["run"]["sent"] > 0, 20)
    with harness.Held(w.pid):
        w.send("quit")
        time.sleep(1)
    assert w.proc.wait(60) == 0
    assert "does not answer" not in w.errors()


def pending(pid):
    """Signals that wait for the process."""
    with open(f"/proc/{pid}/status") as f:
        waiting = int(re.search(r"^ShdPnd:\s*(\w+)$", f.read(), re.M)[1], 16)
    return {n + 1 for n in range(64) if waiting >> n & 1}


@pytest.mark.parametrize("times", [1, 2])
def test_an_interrupt_while_control_stands_still(tmp_path, times):
    """The first one waits until control can end in order, with the report; a second one does not wait."""
    report = tmp_path / "report"
    p = subprocess.Popen([harness.binary(), "-p", "null", "-b", "--report", str(report), "-e", "show ports", "-e", "sleep 1000s"],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    with harness.bounded(p):
        for _ in range(2):
            p.stdout.readline()
        with harness.Held(p.pid, control=True) as held:
            for _ in range(times):
                p.send_signal(signal.SIGINT)
                while signal.SIGINT in pending(p.pid):  # taken from those that wait, by whom listens when control does not
                    time.sleep(0.02)
            code = held.ends() if times == 2 else None
        assert (p.wait() if code is None else code) == -signal.SIGINT
        p.stdout.close()
    assert report.exists() == (times == 1)


@pytest.mark.alone("CPU time")
def test_idle_is_quiet(live):
    """When nothing was done yet, after a run with a count, and after one that was stopped. The three programs are idle side by side."""
    programs = {before: live([*harness.lcores(4), "-m", "1:2.0,3:4.1"])
                for before in ("", "set 0 count 100000; start 0; wait 0", "start 0; sleep 100ms; stop 0; wait 0")}
    for before, w in programs.items():
        if before:
            w.send(before)
        w.stats(20)
    for before, shares in zip(programs, harness.cpu_shares([w.pid for w in programs.values()])):
        assert max(shares.values()) < 0.05, (before, shares)
    for w in programs.values():
        w.send("set 0 count 1000; clear all; start 0; wait 0")
        assert w.stats()[1]["rx"]["packets"] == 1000
        assert w.quit()[0] == 0


def test_end_of_input_while_a_port_sends_without_bound(live):
    w = live([])
    w.send("start 0")
    w.stats()
    w.proc.stdin.close()
    assert w.proc.wait(60) == 0


def test_prompt(tmp_path):
    with Screen(tmp_path) as t:
        t.ready().cmd("set 0 count 12345").cmd("start 0").cmd("wait 0").cmd("show stats").shows("12'345")
        t.type("quit\r").left(0)


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_at_the_prompt_restores_the_terminal(tmp_path, sig):
    with Screen(tmp_path) as t:
        t.ready().cmd("start 0").type("half a line").line_is("half a line")
        t.proc.send_signal(sig)
        if sig == signal.SIGINT:  # as Ctrl-C at the prompt: it drops the line; the program lives on
            t.prompt().type("quit\r").left(0)
        else:
            t.left(-sig)


def test_ctrl_c_cancels_a_wait_and_the_port_goes_on(tmp_path):
    with Screen(tmp_path) as t:
        t.ready().type("set 0 rate 1kpps\rset 0 count 1000000\rstart 0\rwait 0\r").state("sending", "idle")
        t.until(lambda: t.last() == RUNNING and "wait 0" in t.above(), "held line")
        t.type("\x03").until(lambda: t.last() == PROMPT and "cancelled" in t.above(), "cancelled")
        t.cmd("lua 'print(\"state=\" .. wr.stats().ports[0].run.state)'").shows("state=sending")
        t.type("quit\r").left(0)


def test_ctrl_d_leaves(tmp_path):
    with Screen(tmp_path) as t:
        t.ready().type("\x04").left(0)


def test_no_other_thread_may_run_on_a_workers_cpu(tmp_path):
    """Which would take its time now and then."""
    if not {0, 1} <= os.sched_getaffinity(0):
        pytest.skip("needs CPUs 0 and 1")
    p = subprocess.Popen([harness.binary(), "-p", "null", "-m", "1.0", "--serve", f"--socket={tmp_path}/s"], stdin=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)

    # what versions of DPDK call it
    workers = ("rte-worker", "lcore-worker", "dpdk-worker")

    def there():
        tasks = pathlib.Path(f"/proc/{p.pid}/task").iterdir()
        return sorted((t / "comm").read_text().startswith(workers) for t in tasks if 1 in os.sched_getaffinity(int(t.name)))

    try:
        until(lambda: (tmp_path / "s").exists() and there() == [True], "a CPU of its own")
    finally:
        p.kill()
        p.wait()
