# SPDX-License-Identifier: BSD-3-Clause
"""What a rate comes to: the prompt answers `set ... rate` in all units, with what the link carries. Needs no root and no NIC."""
import re

import pytest

import pty_term
from pty_term import BIN

pytestmark = pytest.mark.skipif(not BIN, reason="WIRERATE does not name the executable")

LOAD = re.compile(r"(port|stream) (\S+): (\S+)pps = (\S+)% = (\S+)bps/l1 = (\S+)bps/l2 of (?:(\d+)-byte frames|frames of .*?), "
                  r"one every (\S+) (s|ms|us|ns)(?: on average)?(?: \(on each of (\d+) queues: \S+ \w+\))?"
                  r"; (more than )?a link of (\S+)bps carries:? (\S+)pps")
SI = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
TIMES = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}


def number(text):
    digits = text.rstrip("kMGT")
    return float(digits) * SI[text[len(digits):]]


class Prompt(pty_term.Term):
    def __init__(self, home, *args):
        super().__init__(home, "--no-screen", "-p", "null", *args, cols=300, rows=200)

    def entered(self, line):
        return [i for i, x in enumerate(self.lines()) if x.rstrip().endswith("> " + line)]

    def told(self, line):
        """What stands between the typed line and the next prompt."""
        before = len(self.prompt().entered(line))
        self.type(line + "\r").until(lambda: len(self.entered(line)) > before, "the line entered").prompt()
        lines = [x.rstrip() for x in self.lines()]
        return [x for x in lines[self.entered(line)[-1] + 1:] if x and not x.startswith("wirerate>")]

    def load(self, line):
        found = [LOAD.fullmatch(x) for x in self.told(line)]
        assert len(found) == 1 and found[0], (line, self.lines())
        m = found[0]
        return {"of": m[1] + " " + m[2], "pps": number(m[3]), "percent": float(m[4]), "l1": number(m[5]), "l2": number(m[6]),
                "size": m[7] and int(m[7]), "gap_ns": float(m[8]) * TIMES[m[9]], "queues": int(m[10] or 1), "over": bool(m[11]),
                "link": number(m[12]), "most": number(m[13])}


def agrees(load, pps, size, link):
    want = {"pps": pps, "percent": pps * (size + 20) * 8 * 100 / link, "l1": pps * (size + 20) * 8, "l2": pps * size * 8,
            "gap_ns": 1e9 / pps, "link": link, "most": link / ((size + 20) * 8)}
    for key, value in want.items():
        assert load[key] == pytest.approx(value, rel=6e-4), (key, load)
    assert load["size"] == size and load["over"] == (want["l1"] > link * 1.00001)


def test_every_unit_tells_all_others(tmp_path):
    with Prompt(tmp_path) as t:
        for size, speed, link in ((64, "10G", 1e10), (1518, "2.5G", 2.5e9), (512, "10M", 1e7), (128, "800G", 8e11)):
            t.told(f"set 0 size {size}")
            agrees(t.load(f"set 0 speed {speed}"), link / ((size + 20) * 8), size, link)
            pps = link * 0.1 / ((size + 20) * 8)
            for rate in ("10%", f"{pps!r}pps", f"{link / 10!r}bps", f"{link / 10 * size / (size + 20)!r}bps/l2"):
                agrees(t.load(f"set 0 rate {rate}"), pps, size, link)
            t.told("set 0 rate 100%")
        t.told("set 0 speed auto")
        agrees(t.load("set 0 rate 1pps"), 1, 128, 1e10)
        agrees(t.load("set 0 rate 20Mpps"), 2e7, 128, 1e10)  # more than there can be: taken, and said


def test_pacing_tells_what_it_comes_to(tmp_path):
    said = {
        "rate 1Mpps": None,
        "arrival poisson": "1 us from frame to frame on average, at random",
        "arrival jitter 20%": "1 us from frame to frame, each up to 200 ns sooner or later",
        "arrival burst 64": "64 frames 67.2 ns apart, every 64 us",
        "arrival burst 10 gap 30us": "10 frames 1 us apart, then nothing for 30 us: 250.0kpps on average",
        "arrival onoff 10ms 30ms": "1 us from frame to frame for 10 ms, then nothing for 30 ms: 250.0kpps on average",
        "arrival constant": "1 us from frame to frame",
        "catchup skip": "frames later than 1 ms are not sent, and counted as unsent",
        "lag 250us": "frames later than 250 us are not sent, and counted as unsent",
        "catchup overspeed 10%": "frames later than 250 us are sent at most 10% faster than asked, until none is late",
        "catchup keep": "frames that are late are all sent, as fast as the device takes them; `lag` matters to `catchup` overspeed and skip",
        "pacing software": "paced by software",
    }
    with Prompt(tmp_path) as t:
        for line, want in said.items():
            told = t.told(f"set 0 {line}")
            assert want is None or told == [f"port 0: {want}"]


def test_streams_tell_theirs(tmp_path):
    with Prompt(tmp_path) as t:
        t.told("set 0 rate 3Mpps")
        t.told("stream add 0/1-3")
        t.told("set 0/3 size 512")
        own = t.load("set 0/3 rate 1Gbps")
        assert own["of"] == "stream 0/3"
        agrees(own, 1e9 / (532 * 8), 512, 1e10)
        turns = t.load("set 0/1 rate none")  # one of three that take turns
        assert turns["of"] == "stream 0/1"
        agrees(turns, 1e6, 64, 1e10)
        both = [LOAD.match(x.replace(", all streams", "")) for x in t.told("set 0/3 rate 9Gbps")]
        assert [m[1] + " " + m[2] for m in both] == ["stream 0/3", "port 0"]
        assert not both[0][11] and both[1][11], "9 Gbit/s fit, not beside 3 Mpps"
        t.told("set 0/3 rate 1Gbps")
        t.told("set 0/1 enabled off")
        assert t.told("set 0/1 rate none") == ["stream 0/1: takes no turns: it is not enabled"]
        assert t.told("set 0/1 rate max") == ["stream 0/1: as fast as the device takes them; the link carries 14.88Mpps of 64-byte frames; "
                                              "it is not enabled"]


def test_queues_share(tmp_path):
    with Prompt(tmp_path, "-m", "1.0*4") as t:
        load = t.load("set 0 rate 1Mpps")
        assert load["queues"] == 4
        assert "(on each of 4 queues: 4 us)" in t.told("set 0 rate 1Mpps")[0]


def test_slow_rates_have_no_powers(tmp_path):
    with Prompt(tmp_path) as t:
        assert " = 0.00000672% = " in t.told("set 0 rate 1pps")[0]


def test_rates_that_change(tmp_path):
    with Prompt(tmp_path) as t:
        for rate in ("1Mpps..20Mpps over 30s", "20Mpps..1Mpps step 1Mpps every 5s"):
            assert t.told(f"set 0 rate {rate}") == [
                "port 0: at most 20.00Mpps = 134.4% = 13.44Gbps/l1 = 10.24Gbps/l2 of 64-byte frames, at least 1.000Mpps, one every 50 ns; "
                "more than a link of 10Gbps carries: 14.88Mpps"]
        t.told("set 0 rate 1Mpps")
        t.told("set 0 arrival poisson")
        assert ", one every 1 us on average; " in t.told("set 0 rate 1Mpps")[0]
        t.told("set 0 arrival onoff 1s 1s")
        assert ", one every 1 us while it sends; " in t.told("set 0 rate 1Mpps")[0]
