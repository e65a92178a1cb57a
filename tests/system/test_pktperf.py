# SPDX-License-Identifier: BSD-3-Clause
"""examples/pktperf as a user runs it: signals, pipes, a terminal, exit codes. What it counts and prints is in tests/unit/pktperf_test.c."""
import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import time

import pytest

import harness

PKTPERF = pathlib.Path(harness.binary()).resolve().parents[1] / "examples" / "pktperf"
CLEAR = "\x1b[2J\x1b[1;1H"


def begin(*args, stdout=subprocess.PIPE):
    return subprocess.Popen([PKTPERF, *args], stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE)


def read_until(fd, pattern):
    """What comes until the pattern was found; the end of the program is an error."""
    text = ""
    while not re.search(pattern, text, re.S):
        more = os.read(fd, 65536)
        assert more, text
        text += more.decode()
    return text


def row(text, name):
    """The cells of a row, the total last."""
    cells = re.search(rf"^  {name} +\|(.*)\|", text, re.M)[1].split("|")
    return [int(cell.replace("'", "")) for cell in cells]


@pytest.mark.parametrize("ends", [signal.SIGINT, signal.SIGHUP])
def test_totals(ends):
    """Into a pipe there is text alone. After two prints a signal ends it: all that was sent has arrived."""
    p = begin(*harness.lcores(2), "-p", "wire", "-m", "1.0*2", "-m", "2.1*2", "-r", "20kpps", "-T", "100ms")
    rates = read_until(p.stdout.fileno(), "Rate Statistics.*Rate Statistics")
    p.send_signal(ends)
    out, err = p.communicate(timeout=60)
    text = rates + out.decode()
    assert p.returncode == 0 and err == b"" and "\x1b" not in text, (err, text)
    totals = text[text.index("Port    : Totals of "):]
    assert "Rate Statistics" not in totals
    ports = re.split(r"^ [01] {6}: ", totals, flags=re.M)[1:]
    for port, peer in (ports, ports[::-1]):
        assert row(port, "TxQs") == row(peer, "RxQs") and min(row(port, "TxQs")) > 0
        assert sum(row(port, "TxQs")[:-1]) == row(port, "TxQs")[-1]


def test_dropped():
    """The other end of the wire has no core and takes nothing: what was built and not taken is dropped at the end."""
    p = begin("-p", "wire", "-m", "1:1.0*2", "-r", "100kpps", "-T", "100ms")
    text = read_until(p.stdout.fileno(), r"TxFull[^\n]* [1-9][\d']*\|\n")
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=60)
    totals = (text + out.decode()).partition("Totals of ")[2]
    assert p.returncode == 0 and b"port 1 (wire) is not used" in err
    assert row(totals, "TxFull")[-1] > 0 and row(totals, "TxDrop")[-1] > 0 and row(totals, "RxQs")[-1] == 0, totals


def test_terminal_and_receive_only():
    """Each print clears the screen, totals do not. A device of EAL's is a port; rate 0 sends nothing."""
    ours, its = pty.openpty()
    p = begin(*harness.lcores(1)[:-1], "--no-pci", "--vdev", "net_null0,size=60", "--", "-m", "1.0", "-r", "0", "-T", "100ms", stdout=its)
    os.close(its)
    text = read_until(ours, "Rate Statistics.*Rate Statistics")
    p.send_signal(signal.SIGINT)
    text += read_until(ours, r"Totals.*TxTime[^\n]*\n")
    assert p.wait(60) == 0
    os.close(ours)
    p.stderr.close()
    assert text.startswith(CLEAR) and text.count(CLEAR) == text.count("Rate Statistics"), text
    totals = text[text.index("Totals of "):].replace("\r", "")
    assert "net_null0, link up" in totals and "PPS:0, Pkts/Thread:0, Cycles/Burst (TxCPB):-" in totals
    assert row(totals, "TxQs") == [0, 0] and row(totals, "RxQs")[-1] > 0


def test_ports_beside_devices_of_eal():
    """EAL's device is behind the wire, and is sent to as well."""
    eal = [*harness.lcores(3)[:-1], "--no-pci", "--vdev", "net_null0", "--"]
    p = begin(*eal, "-p", "wire", "-m", "1.0", "-m", "2.1", "-m", ":3.2*2", "-r", "20kpps", "-T", "100ms")
    rates = read_until(p.stdout.fileno(), "Rate Statistics.*Rate Statistics")
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=60)
    text = rates + out.decode()
    assert p.returncode == 0 and err == b"", (err, text)
    ports = re.split(r"^ [012] {6}: ", text[text.index("Totals of "):], flags=re.M)[1:]
    assert [port.split(",")[0] for port in ports] == ["wire0", "wire1", "net_null0"]
    assert row(ports[0], "TxQs") == row(ports[1], "RxQs") and min(row(ports[2], "TxQs")) > 0 and len(row(ports[2], "TxQs")) == 3


def test_reader_goes():
    """Who has read enough ends it, and that is no error; a full disk is one."""
    p = begin("-p", "null", "-m", "1.0", "-r", "1", "-T", "100ms")
    read_until(p.stdout.fileno(), "Rate Statistics")
    p.stdout.close()
    err = p.stderr.read()
    assert (p.wait(60), err) == (0, b"")
    p.stderr.close()
    with open("/dev/full", "w", encoding="ascii") as full:
        p = begin("-p", "null", "-m", "1.0", "-r", "1", "-T", "100ms", stdout=full)
        err = p.stderr.read()
    assert p.wait(60) == 3 and b"No space left" in err, err
    p.stderr.close()


@pytest.mark.parametrize("code, says, args", [
    (2, "core 1 may serve one port, not 0 and 1", ["-p", "wire", "-m", "1.0,1.1"]),
    (2, "there is no port 7", ["-p", "wire", "-m", "1.7"]),
    (2, "unknown kind 'nope'", ["-p", "nope", "-m", "1.0"]),
    (2, "64 to 1518", ["-m", "1.0", "-s", "9000"]),
    (3, "nosuch0", ["-p", "packet:nosuch0", "-m", "1.0"]),
    (3, "try without EAL options of your own\n", [*harness.lcores(1)[:-1], "--no-pci", "--vdev", "net_nosuch0", "--", "-m", "1.0"])])
def test_refusals(code, says, args):
    """What is advised are options that pktperf has."""
    r = subprocess.run([PKTPERF, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert r.returncode == code and says in r.stderr and r.stdout == "" and r.stderr.startswith("pktperf: "), r.stderr
    assert not re.search("-l FILE|--(mbufs|txd|rxd|mtu)", r.stderr), r.stderr


def test_a_signal_ends_it_although_nobody_reads():
    """A pipe of 4 KiB fills up, and the next print waits for a reader that does not come."""
    there, here = os.pipe()
    fcntl.fcntl(here, fcntl.F_SETPIPE_SZ, 4096)
    p = begin(*harness.lcores(2), "-p", "wire", "-m", "1.0*4", "-m", "2.1*4", "-r", "1kpps", "-T", "100ms", stdout=here)
    while select.select([], [here], [], 0)[1]:
        assert p.poll() is None
        time.sleep(0.02)
    os.close(here)
    p.send_signal(signal.SIGINT)
    err = p.communicate(timeout=60)[1]
    os.close(there)
    assert p.returncode == 3 and b"standard output takes no more" in err, (p.returncode, err)
