# SPDX-License-Identifier: BSD-3-Clause
"""A run for a time ends when it is over, on a device that takes less than is asked for too: what was sent and what was not is all that was due."""
import re

import pytest

from harness import documents, good, stats

# 64-byte frames at 10 Gbit/s, far beyond what a socket of the kernel takes.
RATE, DUE = "set 0 rate 100%; set 0 speed 10G; ", 14880953
LINE = re.compile(r"^port 0: (\d+) frames were due within 1s: (\d+) sent, (\d+) unsent; "
                  r"(?:the device took|the workers had time for) \d+ frames/s$", re.M)


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


def warnings(r):
    return [line for line in r.stderr.splitlines() if line.startswith("warning: ")]


def test_who_is_to_receive_is_asked_for(veth):
    """A port alone knows nobody to send to: told once with each start, before somebody looks for the frames in vain."""
    r = good(["-p", f"packet:{veth.a}", "start", "0", "for", "1ms"], prefix=veth.prefix)
    assert len(warnings(r)) == 1
    assert "00:00:00:00:00:00" in warnings(r)[0] and "`set 0 eth.dst" in warnings(r)[0]
    r = good(["-b", "-p", f"packet:{veth.a}", "-e", "stream add 0 1; set 0/0 eth.dst 02:00:00:00:00:01; start 0 for 1ms; wait 0; start 0 for 1ms"],
             prefix=veth.prefix)
    assert len(warnings(r)) == 2 and all("stream 0/1" in line for line in warnings(r))
    r = good(["-b", "-p", f"packet:{veth.a}", "-e", "set 0 eth.dst 02:00:00:00:00:01; start 0 for 1ms"], prefix=veth.prefix)
    assert warnings(r) == []
    r = good(["-p", f"packet:{veth.a}", "-p", f"packet:{veth.b}", "start", "all", "for", "1ms"], prefix=veth.prefix)
    assert warnings(r) == []


def test_a_link_that_is_down_is_told(veth):
    veth.do("ip", "link", "set", veth.b, "down")
    r = good(["-b", "-p", f"packet:{veth.a}", "-e", "set 0 eth.dst 02:00:00:00:00:01; set 0 rate 1kpps; start 0 for 2ms"], prefix=veth.prefix)
    assert len(warnings(r)) == 1 and "its link is down" in warnings(r)[0]


def test_asked_while_a_rate_ramps(live):
    """What is asked for now, from the first to the last rate and never the other way, and no difference is made of it."""
    p = live(["-p", "null"])
    p.send("set 0 rate 10kpps..20kpps over 3s")
    p.send("start 0")
    seen = []
    p.until(lambda ports: seen.append(ports[0]["run"]["asked_pps"]) or seen[-1] == 20000, 60)
    ramp = [n for n in seen if 0 < n < 20000]
    assert ramp == sorted(ramp) and ramp and all(10000 <= n < 20000 for n in ramp)
