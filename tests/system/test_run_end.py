# SPDX-License-Identifier: BSD-3-Clause
"""A run for a time ends when it is over, on a device that takes less than is asked for too: what was sent and what was not is all that was due."""
import re

import pytest

from harness import documents, good, run, stats

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


@pytest.mark.parametrize("spec", ["packet:A", "if:A", "xdp:A", "tap:wrtap"])
def test_every_kind_of_interface_asks_for_it(veth, spec):
    """For a start and for a trial, which says it before its result."""
    port = ["-b", "-p", spec.replace("A", veth.a)]
    both = "start 0 for 1ms; wait 0; trial 0 rate 1kpps for 10ms"
    r = run([*port, "-k", "-e", both], prefix=veth.prefix)
    asked = [line for line in warnings(r) if "00:00:00:00:00:00" in line]
    assert len(asked) == 2 and all("`set 0 eth.dst" in line for line in asked), r.stderr
    r = run([*port, "-k", "-e", f"set 0 eth.dst 02:00:00:00:00:01; {both}"], prefix=veth.prefix)
    assert "00:00:00:00:00:00" not in r.stderr, r.stderr


@pytest.mark.parametrize("spec", ["wire", "null", "pcap:tx=out.pcap"])
def test_where_nobody_receives_nothing_is_asked_for(tmp_path, spec):
    for command in ("start 0 for 1ms", "trial 0 rate 1kpps for 10ms"):
        assert warnings(run(["-b", "-p", spec, "-e", command], cwd=tmp_path)) == []


def test_a_link_that_is_down_is_told(veth):
    veth.do("ip", "link", "set", veth.b, "down")
    r = good(["-b", "-p", f"packet:{veth.a}", "-e", "set 0 eth.dst 02:00:00:00:00:01; set 0 rate 1kpps; start 0 for 2ms"], prefix=veth.prefix)
    assert len(warnings(r)) == 1 and "its link is down" in warnings(r)[0]


def test_asked_while_a_rate_ramps(live):
    """What is asked for now, from the first to the last rate and never the other way."""
    p = live(["-p", "null"])
    p.send("set 0 rate 10kpps..20kpps over 10m")
    p.send("start 0")
    seen = [p.more(2000)[0]["run"]["asked_pps"] for _ in range(4)]
    assert seen == sorted(seen) and seen[0] < seen[-1] and all(10000 <= n < 20000 for n in seen), seen
    p.send("stop 0; wait 0; set 0 rate 10kpps..20kpps over 500ms; start 0")
    p.until(lambda ports: ports[0]["run"]["asked_pps"] == 20000, 60)


def test_asked_on_a_page_while_a_rate_ramps():
    """The same figure is drawn, and not as one that differs from what is sent."""
    r = good(["-b", "-p", "null", "-e", "set 0 rate 10kpps..20kpps over 1h; start 0; sleep 1100ms; show page main; stop 0"])
    row = next(line for line in r.stdout.splitlines() if "asked" in line.lower())
    assert re.search(r"\s10\.\d+k?/", row) and "20.00k" not in row and "≠" not in row, row


def test_no_gap_is_asked_for_while_a_rate_ramps():
    """There is none that stays, and the one at the end is not what is asked for now."""
    r = good(["-b", "-p", "wire", "-e", "set 0 probe on; set 0 rate 10kpps..20kpps over 1h; start 0; sleep 500ms; show page latency 1; stop 0"])
    assert re.search(r"gap asked +(\S+)", r.stdout)[1] == "-"
