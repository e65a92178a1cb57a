# SPDX-License-Identifier: BSD-3-Clause
"""A work that the product does not have, in a program that has it: its frames, its counts beside those of streams, its setting.

WIRERATE_WORK=path/to/wirerate_work python3 -m pytest tests/work
"""
import json
import os
import socket
import subprocess

import pytest
from scapy.all import IP, UDP, Ether, rdpcap, wrpcap

PROGRAM = os.environ.get("WIRERATE_WORK", "build-test/gcc/tests/work/wirerate_work")


def run(*commands, ports=("wire",), code=0):
    args = [word for port in ports for word in ("-p", port)]
    done = subprocess.run([PROGRAM, "-b", "--json", *args, "-e", "; ".join(commands)], capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done.stderr
    return done


def stats(*commands, **how):
    lines = run(*commands, "show stats", **how).stdout.splitlines()
    return json.loads(lines[-1])["ports"]


def test_half_of_them_come_back():
    a, b = stats("set 1 echo on", "set 0/0 udp.dst list 7,8", "set 0 count 20000", "set 0 rate 200kpps", "start 0", "wait 0")
    assert a["tx"]["packets"] == b["rx"]["packets"] == 20000
    assert b["tx"]["packets"] == a["rx"]["packets"] == 10000
    assert b["run"]["sent"] == 0  # no stream has sent them
    assert b["tx"]["sizes"]["64"] == b["tx"]["packets"] and b["tx"]["dropped"] == 0
    assert b["rx"]["sizes"]["64"] == 20000  # counted whoever owns them


def test_one_queue_sends_streams_and_echoes():
    a, b = stats("set 1 echo on", "set 0,1 size 64..200 step 8", "set 0/0 udp.dst list 7,8,7,9", "set 1/0 udp.dst 9", "set 0,1 count 30000",
                 "set 0,1 rate 300kpps", "start 0,1", "wait 0,1")
    assert a["run"]["sent"] == b["run"]["sent"] == 30000
    assert b["tx"]["packets"] == 30000 + 15000 and a["rx"]["packets"] == 45000
    assert sum(b["tx"]["sizes"].values()) == 45000
    assert b["queues"][0]["tx"]["packets"] == 45000


def test_a_clear_is_for_all_who_send_there():
    a, b = stats("set 1 echo on", "set 0/0 udp.dst 7", "set 0 count 5000", "set 0 rate 200kpps", "start 0", "wait 0", "clear all", "set 0 count 700",
                 "start 0", "wait 0")
    assert b["tx"]["packets"] == a["rx"]["packets"] == 700
    assert sum(b["tx"]["sizes"].values()) == 700


def test_who_asked_gets_the_answer(tmp_path):
    sent = [Ether(src=f"02:00:00:00:01:{i:02x}", dst="02:00:00:00:00:01") / IP(src=f"10.0.0.{i + 1}", dst="10.9.9.9") /
            UDP(sport=4000 + i, dport=7 if i % 3 else 53) / (b"x" * (20 + i)) for i in range(60)]
    wrpcap(str(tmp_path / "in.pcap"), sent)
    run("set 0 echo on", "sleep 30ms", ports=(f"vdev:net_pcap0,rx_pcap={tmp_path}/in.pcap,tx_pcap={tmp_path}/out.pcap,infinite_rx=1",))
    back = list(rdpcap(str(tmp_path / "out.pcap"), count=100))
    wanted = [frame for frame in sent if frame[UDP].dport == 7]
    assert len(back) == 100
    first = [frame[UDP].sport for frame in wanted].index(back[0][UDP].dport)
    for i, now in enumerate(back):
        was = wanted[(first + i) % len(wanted)]
        assert (now[Ether].src, now[Ether].dst) == (was[Ether].dst, was[Ether].src)
        assert (now[IP].src, now[IP].dst) == (was[IP].dst, was[IP].src)
        assert (now[UDP].sport, now[UDP].dport) == (7, was[UDP].sport)
        again = Ether(bytes(now))
        del again[IP].chksum, again[UDP].chksum
        assert bytes(Ether(bytes(again))) == bytes(now)  # checksums are right


def test_off_is_off():
    a, b = stats("set 0/0 udp.dst 7", "set 0 count 1000", "set 0 rate 200kpps", "start 0", "wait 0")
    assert a["rx"]["packets"] == b["tx"]["packets"] == 0 and b["rx"]["packets"] == 1000


@pytest.mark.parametrize("turns", [1, 20])
def test_on_and_off_while_frames_come(turns):
    """What is lost has a reason: all that came is counted, and all that went back was accepted or counted as dropped."""
    flips = [word for _ in range(turns) for word in ("set 1 echo on", "sleep 5ms", "set 1 echo off", "sleep 5ms")]
    a, b = stats("set 0/0 udp.dst 7", "set 0 rate 200kpps", "start 0", *flips, "stop 0", "wait 0")
    assert b["rx"]["packets"] == a["run"]["sent"] > 0
    assert a["rx"]["packets"] == b["tx"]["packets"] == sum(b["tx"]["sizes"].values())


def test_the_setting_is_one_like_others():
    assert "echo" in run("set 0 echo on", "show settings 0").stdout
    assert "echo" in run("set 0 echo perhaps", code=2).stderr


# What `set`, `show`, `save` and the others do with a scope that only this folder knows of.

DOORS = ("set 0 echo.doors 3", "set 0/door.1-2 listen 9", "set 0/door.0 open off")


def shown(line):
    """What `show settings` has printed: (target, name) -> value."""
    rows = json.loads(line)["settings"]
    for row in rows:
        if "door" in row:
            assert row["target"] == f"{row['port']}/door.{row['door']}" and "stream" not in row
    return {(row["target"], row["name"]): row["value"] for row in rows}


def doors(*commands):
    """The settings of doors behind the commands."""
    return shown(run(*commands, "show settings 0/door.all").stdout)


def test_frames_to_open_doors_come_back():
    ask = ("set 1 echo on", "set 1 echo.doors 3", "set 1/door.1 listen 9", "set 1/door.2 listen 300", "set 0/0 udp.dst list 7,8,9,300",
           "set 0 count 20000", "set 0 rate 200kpps")
    for shut, back in (("set 1/door.all open on", 15000), ("set 1/door.0,1/door.2 open off", 5000), ("set 1 echo.doors 0", 0)):
        a, b = stats(*ask, shut, "start 0", "wait 0")
        assert b["rx"]["packets"] == 20000 and a["rx"]["packets"] == b["tx"]["packets"] == back


def test_doors_are_set_and_shown():
    lines = run(*DOORS, "show settings 0/door.all", "show settings 0/door.1-2", "show settings 0", "show settings 0/0", "show settings",
                "set 0/door.all listen 11", "set 0/door.2 listen default", "show settings 0/door.2", "reset 0", "show settings 0/door.all").stdout
    now, some, port, stream, everything, back, reset = [shown(line) for line in lines.splitlines()]
    assert now == {("0/door.0", "listen"): "7", ("0/door.0", "open"): "off", ("0/door.1", "listen"): "9", ("0/door.1", "open"): "on",
                   ("0/door.2", "listen"): "9", ("0/door.2", "open"): "on"}
    assert list(some) == list(now)[2:]
    assert list(port)[-6:] == list(now) and ("0", "echo.doors") in port and ("0/0", "weight") in port
    assert stream and not [target for target, _ in stream if "door" in target]
    assert list(everything)[-8:] == [*now, ("1/door.0", "listen"), ("1/door.0", "open")]
    assert back == {("0/door.2", "listen"): "7", ("0/door.2", "open"): "on"}
    assert reset == {("0/door.0", "listen"): "7", ("0/door.0", "open"): "on"}


def test_doors_are_saved_and_loaded(tmp_path):
    first, again, bad = tmp_path / "first", tmp_path / "again", tmp_path / "bad"
    run(*DOORS, f"save {first}")
    lines = first.read_text().splitlines()
    assert lines[1:] == ["reset all", "set 0 echo.doors 3", "set 0/door.1-2 listen 9", "set 0/door.0 open off"]
    assert doors(f"load {first}", f"save {again}") == doors(*DOORS)
    assert again.read_text() == first.read_text()
    # a file with a line that is refused only when it is run: what stood before it is taken back
    bad.write_text("reset all\nset 0/door.0 listen 5\nset 0/door.1 listen 5\n")
    done = run("set 0/door.0 listen 12", f"load {bad}", "show settings 0/door.0", code=2)
    assert f"{bad}:3: set 0/door.1 listen 5" in done.stderr and "no door 0/door.1; port 0 has door 0" in done.stderr
    kept = subprocess.run([PROGRAM, "-b", "-k", "-p", "wire", "-e", f"set 0/door.0 listen 12; load {bad}; save {again}"], capture_output=True,
                          text=True, timeout=60)
    assert kept.returncode == 2 and again.read_text().splitlines()[2:] == ["set 0/door.0 listen 12"]


WRONG = [
    ("set 0/door.3 listen 9", "no door 0/door.3; port 0 has doors 0-2"),
    ("set 0/door.1-3 listen 9", "no door 0/door.3; port 0 has doors 0-2"),
    ("set 1/door.1 listen 9", "no door 1/door.1; port 1 has door 0"),
    ("set 7/door.0 listen 9", "no port 7; there are ports 0 to 1"),
    ("set 0/dor.0 listen 9", '"dor" is nothing that ports have; there is /door.N'),
    ("set 0/door listen 9", "a dot and a number or \"all\" are wanted here"),
    ("set 0/door.x listen 9", "a number or \"all\" is wanted here"),
    ("set 0,0/door.1 listen 9", "all items of a list are of one sort"),
    ("set 0/door.1 listen 0", "1 to 65535"), ("set 0/door.1 listen 65536", "1 to 65535"), ("set 0/door.1 listen", "the value is missing"),
    ("set 0/door.1 open perhaps", "open: "), ("set 0/door.1 lisp 9", 'no setting "lisp"'),
    ("set 0/door.1 size 100", "size belongs to a stream, not to its doors"), ("set 0 listen 9", "listen belongs to a door"),
    ("set listen 9", "listen belongs to a door; write: set <ports>/door.<n> listen <value>, for example set 0/door.0 listen 7"),
    ("start 0/door.1", "is not a port list"), ("show stats 0/door.1", "`show stats` takes no doors"),
    ("show settings 0/door.3", "no door 0/door.3; port 0 has doors 0-2"),
    ("lua 'wr.port[0].door[3].listen = 9'", None), ("lua 'wr.port[0].door[1]:set{listen = 1, open = 7}'", None)]


def test_what_is_wrong_changes_nothing():
    lines = [word for line, _ in WRONG for word in (line, "show settings")]
    done = subprocess.run([PROGRAM, "-b", "-k", "--json", "-p", "wire", "-e", "; ".join([*DOORS, "show settings", *lines])], capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 2
    now = done.stdout.splitlines()
    assert len(now) == 1 + len(WRONG) and set(now) == {now[0]} and "0/door.2" in now[0]
    assert "lua:1: no door 0/door.3; port 0 has doors 0-2" in done.stderr and 'open: "7" is neither on nor off' in done.stderr
    for line, told in WRONG[:-2]:
        _, found, error = done.stderr.partition(line + "\n")
        assert found and told in error.split("-e:")[0], line


def test_doors_are_described():
    tables = {row["name"]: row for row in json.loads(subprocess.check_output([PROGRAM, "--dump-commands"]))["settings"]}
    assert tables["listen"]["scope"] == tables["open"]["scope"] == "door" and tables["echo.doors"]["scope"] == "port"
    assert tables["listen"]["usage"] == "set <ports>/door.<n> listen <value>"
    assert b"wirerate.Door" in subprocess.check_output([PROGRAM, "--dump-lua"])
    assert b"## Settings of a door" in subprocess.check_output([PROGRAM, "--dump-lua-manual"])
    assert b"set <ports>/door.<n> open <value>" in subprocess.check_output([PROGRAM, "--man"])
    told = subprocess.check_output([PROGRAM, "-b", "-p", "wire", "-e", "help; help set; help listen"], text=True)
    assert "Settings of a door: set <ports>/door.<n> <setting> <value>" in told and "doors as port/door.N" in told
    assert run("set 0 echo.doors 2", "lua 'for id, door in wr.port[0]:doors() do door.listen = 20 + id print(door, door.listen) end'",
               ).stdout == "0/door.0\t20\n0/door.1\t21\n"


def test_doors_are_completed(tmp_path):
    path = str(tmp_path / "s.sock")
    with subprocess.Popen([PROGRAM, "-b", "-p", "wire", f"--socket={path}"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        while "remote socket: " not in program.stderr.readline():
            assert program.poll() is None
        with socket.socket(socket.AF_UNIX) as client, client.makefile("rw") as lines:
            client.connect(path)
            assert "wirerate" in lines.readline()

            def words(line):
                lines.write(json.dumps({"id": 1, "complete": line, "cursor": len(line)}) + "\n")
                lines.flush()
                return lines.readline()
            assert "0/door.0" in words("set 0/d") and "0/door.1" not in words("set 0/d")
            assert "listen" in words("set 0/door.0 ") and "weight" not in words("set 0/door.0 ")
            assert "listen" not in words("set 0/0 ") and "door" not in words("start 0/")
            assert "wr.port[0].door[0].open" in words("lua wr.port[0].door[0].o")
        program.stdin.close()
