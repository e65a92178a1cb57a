# SPDX-License-Identifier: BSD-3-Clause
"""`capacity` as its users run it. Whether a trial is valid is the machine's affair, so its limits are wide here; what limits a port is for the unit
tests, on devices whose limits are known."""
import json
import os
import xml.etree.ElementTree as tree

import harness

WIDE = "set trial.max-wait 100%; set trial.max-stall 10s; set trial.max-clock 100%"
MAP = ["-p", "wire", "-m", "1.0*2,1.1*2", "-b"]


def sizes(settings):
    return [(s["port"], s.get("stream"), s["value"]) for s in settings["settings"] if s["name"] in ("size", "rate", "count")]


def test_points_chart_and_settings(tmp_path):
    chart = tmp_path / "chart.svg"
    r = harness.run([*MAP, "--json", "-e", f"{WIDE}; set 0 size 100..200; set 1 size 333; set 0 rate 7kpps; show settings all",
                     "-e", f"capacity 0 sizes 64,1518 for 10ms svg {chart}", "-e", "show settings all"])
    assert r.returncode in (0, 4), r.stderr
    assert "capacity: 12 points, likely " in r.stderr
    before, measured, after = [json.loads(line) for line in r.stdout.splitlines()]
    harness.schema().validate(measured)
    assert before == after
    points = measured["capacity"]["points"]
    assert [(p["direction"], p["size"], p["queues"]) for p in points] == [
        (d, s, q) for d in ("send", "receive", "both") for s in (64, 1518) for q in (1, 2)]
    assert any(p["valid"] and p["l1_bps"] for p in points), [p["why"] for p in points]
    for p in points:
        numbers = [p["l1_bps"], p["tx_queues"], p["workers"]]
        if not p["valid"]:
            assert numbers == [None] * 3 and p["sent_pps"] is None and p["received_pps"] is None and p["why"] and p["each_queue"] == []
            assert r.returncode == 4
        elif p["state"] != "nothing":
            assert p["l1_bps"] > 0 and p["tx_queues"] == p["queues"] and p["workers"] == 1
            assert (p["sent_pps"] is None) == (p["direction"] == "receive") and (p["received_pps"] is None) == (p["direction"] == "send")
            assert len(p["each_queue"]) == p["queues"]
    assert tree.parse(chart).getroot().tag.endswith("svg")
    assert os.listdir(tmp_path) == ["chart.svg"]


def test_nothing_is_written_over(tmp_path):
    for name, make in (("file", lambda p: p.write_text("mine")), ("link", lambda p: p.symlink_to("nowhere"))):
        path = tmp_path / name
        make(path)
        r = harness.run(["-p", "null", "-b", "-e", f"capacity 0 sizes 64 for 1ms svg {path}"])
        assert r.returncode == 2 and "is there already" in r.stderr and r.stdout == ""
    assert (tmp_path / "file").read_text() == "mine" and sorted(os.listdir(tmp_path)) == ["file", "link"]


def test_command_files_and_lua(tmp_path):
    commands, script = tmp_path / "some.cmds", tmp_path / "some.lua"
    commands.write_text(f"{WIDE}\ncapacity 0 sizes 64 for 5ms\n")
    script.write_text('local c = wr.capacity{port = 0, sizes = "64", direction = "send", duration = "5ms"}\n'
                      "assert(c.points[1].size == 64)\nprint(c.port, #c.points)\n")
    r = harness.run(["-p", "null", "-b", "-f", str(commands)])
    assert r.returncode in (0, 4) and "bits/s on the wire\nsend       64 bytes   1 queue  |" in r.stdout, r.stderr
    r = harness.run(["-p", "null", "-b", "-f", str(script)])
    assert r.returncode in (0, 4) and r.stdout.split() == ["0", "1"], r.stderr
