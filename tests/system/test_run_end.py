# SPDX-License-Identifier: BSD-3-Clause
"""A run for a time ends when it is over, on a device that takes less than is asked for too: what was sent and what was not is all that was due."""
import re

import pytest

from harness import documents, good, stats

# 64-byte frames at 10 Gbit/s, far beyond what a socket of the kernel takes.
RATE, DUE = "set 0 rate 100%; set 0 speed 10G; ", 14880953
LINE = re.compile(r"^port 0: (\d+) frames were due within 1s: (\d+) sent, (\d+) unsent; the device took \d+ frames/s$", re.M)


def told(text):
    lines = LINE.findall(text)
    assert len(lines) == 1, text
    return tuple(int(n) for n in lines[0])


@pytest.mark.parametrize("catchup", ["", "set 0 catchup keep; "])
def test_overloaded(veth, catchup):
    before = veth.packets(veth.b, "rx")
    r = good(["--json", "-p", f"packet:{veth.a}", "-e", RATE + catchup + "start 0 for 1s; wait 0; show stats"], prefix=veth.prefix)
    p = documents(r)[-1]["ports"][0]
    run = p["run"]
    assert run["state"] == "idle"
    assert run["sent"] + run["unsent"] == DUE and run["unsent"] > 0
    assert p["tx"]["unsent"] == run["unsent"] and p["tx"]["dropped"] == 0
    assert told(r.stderr) == (DUE, run["sent"], run["unsent"])
    assert "tester limited" not in r.stderr
    assert veth.packets(veth.b, "rx") - before == run["sent"]


def test_one_command(veth):
    r = good(["-p", f"packet:{veth.a}", "start", "0", "for", "1s"], prefix=veth.prefix)
    due, sent, unsent = told(r.stderr)
    assert due == sent + unsent == DUE


def test_queues_and_streams(veth):
    r = good(["--json", "-p", f"packet:{veth.a}", "-e", RATE + "stream add 0 2; set 0/1 rate 3Mpps; set 0/2 rate 2Gbps; "
              "start 0 for 1s; wait 0; show stats"], prefix=veth.prefix)
    run = documents(r)[-1]["ports"][0]["run"]
    assert told(r.stderr) == (run["sent"] + run["unsent"], run["sent"], run["unsent"])
    assert run["sent"] + run["unsent"] == DUE + 3000000 + 2976191


def test_as_fast_as_possible(veth):
    """Nothing is due at any time: nothing is unsent, and nothing is told."""
    r = good(["--json", "-p", f"packet:{veth.a}", "-e", "set 0 rate max; start 0 for 500ms; wait 0; show stats"], prefix=veth.prefix)
    run = documents(r)[-1]["ports"][0]["run"]
    assert run["state"] == "idle" and run["sent"] > 0 and run["unsent"] == 0
    assert "unsent" not in r.stderr


def test_a_count_takes_as_long_as_it_takes(veth):
    p = stats(["-p", f"packet:{veth.a}", "-e", RATE + "set 0 count 100000; start 0; wait 0; show stats"], prefix=veth.prefix)
    assert p[0]["run"]["sent"] == 100000 and p[0]["run"]["unsent"] == 0


def test_count_and_time(veth):
    """What comes first: of the count, those that were due within the time."""
    p = stats(["-p", f"packet:{veth.a}", "-e", RATE + "set 0 count 10000000; start 0 for 1s; wait 0; show stats"], prefix=veth.prefix)
    assert p[0]["run"]["sent"] + p[0]["run"]["unsent"] == 10000000


def test_told_in_a_stream_of_events(veth):
    r = good(["--json-stream", "-p", f"packet:{veth.a}", "-b", "-e", RATE + "start 0 for 1s; wait 0"], prefix=veth.prefix)
    notes = [d["text"] for d in documents(r) if d["event"] == "note" and "unsent" in d["text"]]
    assert len(notes) == 1
    told(notes[0])


def test_stopped_before(veth):
    """Nobody asks for the rest of a run that was stopped."""
    r = good(["--json", "-p", f"packet:{veth.a}", "-e", RATE + "start 0 for 1h; sleep 300ms; stop 0; wait 0; show stats"], prefix=veth.prefix)
    run = documents(r)[-1]["ports"][0]["run"]
    assert run["state"] == "idle" and run["unsent"] == 0
    assert "unsent" not in r.stderr
