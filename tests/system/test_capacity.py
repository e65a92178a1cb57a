# SPDX-License-Identifier: BSD-3-Clause
"""`capacity` as its users run it. Whether a trial is valid is the machine's affair, so its limits are wide here; what limits a port is for the unit
tests, on devices whose limits are known."""
import json
import os
import subprocess
import xml.etree.ElementTree as tree

import harness
from serving import server, until  # noqa: F401

WIDE = "set trial.max-wait 100%; set trial.max-stall 10s; set trial.max-clock 100%"
MAP = ["-p", "wire", "-m", "1.0*2,1.1*2", "-b"]


def sizes(settings):
    return [(s["port"], s.get("stream"), s["value"]) for s in settings["settings"] if s["name"] in ("size", "rate", "count")]


def test_points_chart_and_settings(tmp_path):
    chart = tmp_path / "chart.svg"
    for duration in (10, 40, 160, 640):  # a machine may have no time for trials of 10 ms
        chart.unlink(missing_ok=True)
        r = harness.run([*MAP, "--json", "-e", f"{WIDE}; set 0 size 100..200; set 1 size 333; set 0 rate 7kpps; show settings all",
                         "-e", f"capacity 0 sizes 64,1518 for {duration}ms svg {chart}", "-e", "show settings all"])
        assert r.returncode in (0, 4), r.stderr
        assert "capacity: 12 points, likely " in r.stderr
        before, measured, after = [json.loads(line) for line in r.stdout.splitlines()]
        harness.schema().validate(measured)
        assert before == after
        points = measured["capacity"]["points"]
        assert [(p["direction"], p["size"], p["queues"]) for p in points] == [
            (d, s, q) for d in ("send", "receive", "both") for s in (64, 1518) for q in (1, 2)]
        if any(p["valid"] and p["l1_bps"] for p in points):
            break
    else:
        raise AssertionError([p["why"] for p in points])
    for p in points:
        numbers = [p["l1_bps"], p["tx_queues"], p["workers"]]
        if not p["valid"]:
            assert numbers == [None] * 3 and p["sent_pps"] is None and p["received_pps"] is None and p["why"] and p["each_queue"] == []
            assert r.returncode == 4
        elif p["state"] != "nothing":
            assert p["l1_bps"] > 0 and p["tx_queues"] == p["queues"] and p["workers"] == 1
            assert (p["sent_pps"] is None) == (p["direction"] == "receive") and (p["received_pps"] is None) == (p["direction"] == "send")
            assert len(p["each_queue"]) == p["queues"]
            # the map has one worker for both directions of both ports
            assert {q["tx_worker"] for q in p["each_queue"]} == {None if p["direction"] == "receive" else 1}
            assert {q["rx_worker"] for q in p["each_queue"]} == {None if p["direction"] == "send" else 1}
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


def test_what_was_measured_before_an_error_is_printed(server, tmp_path):
    """Another session sets the size in the middle: points that are finished are printed and drawn, and then comes the error."""
    served = server()
    chart = tmp_path / "chart.svg"
    measuring = subprocess.Popen([os.environ["WIRERATE"], "attach", served.socket, "--json", "-e", WIDE,
                                  "-e", f"capacity 0 sizes 64,128,256,512,1024,1280 queues 1 direction send for 300ms svg {chart}"],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def size():
        return [s["value"] for s in served.doc("show settings 0/all")["settings"] if s["name"] == "size"][0]

    until(lambda: size() not in ("auto", "64", 64), "the second size")
    served.ask("set 0 size 333")
    out, err = measuring.communicate(timeout=60)
    assert measuring.returncode == 2, err
    assert "somebody else has changed the streams of port 0" in err and "their frames are of 333 to 333 bytes" in err, err
    points = [json.loads(line) for line in out.splitlines()][-1]["capacity"]["points"]
    assert [p["size"] for p in points][:1] == [64] and len(points) < 6
    assert tree.parse(chart).getroot().tag.endswith("svg")
    assert served.doc("show settings 0/all") is not None


def test_an_interface_that_is_deleted(veth):
    """That is told as such: no trial of what is left could find it out."""
    measuring = subprocess.Popen([*veth.prefix, harness.binary(), "-p", f"packet:{veth.a}", "-p", f"packet:{veth.b}", "-b", "--json", "-e", WIDE,
                                  "-e", "capacity 0 sizes 64,128,256,512,1024,1280 queues 1 direction send for 500ms"],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(lambda: veth.packets(veth.b, "rx") > 0, "frames")
    veth.do("ip", "link", "del", veth.a)
    out, err = measuring.communicate(timeout=60)
    assert measuring.returncode == 3 and f"port 0 (packet:{veth.a}): its interface was deleted; start the program again" in err, err
    points = [p for line in out.splitlines() for p in json.loads(line)["capacity"]["points"]]
    assert len(points) < 6 and all(p["valid"] for p in points), points


def test_a_partner_that_cannot_receive():
    r = harness.run(["-p", "wire", "-m", "1.0,:1.1", "-b", "-e", "capacity 0 sizes 64 direction send"])
    assert r.returncode == 2
    assert "port 1 (wire1) has no Rx queue, so nobody would see what port 0 sends" in r.stderr
