# SPDX-License-Identifier: BSD-3-Clause
"""Unattended runs: lines of JSON while it goes on, the document at the end, the schema of both. Needs no root and no NIC."""
import fcntl
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import jsonschema
import pytest

from harness import binary, bounded, document, documents, good, run, schema

WIRE = ["-p", "wire"]


def stream(*args, code=0, **kw):
    r = run([*WIRE, "--json-stream", *args], **kw)
    assert r.returncode == code, r.stderr
    return documents(r), r


def kinds(lines):
    return [x["event"] for x in lines]


def only(lines, kind):
    return [x for x in lines if x["event"] == kind]


def sent_by(interval):
    return interval["stats"]["ports"][0]["tx"]["packets"]


def test_a_run_from_start_to_end():
    lines, _ = stream("-e", "set 0 count 1000; start 0; wait 0; show stats")
    assert all(set(x) >= {"event", "time_ns", "wall_ns"} for x in lines)
    assert kinds(lines)[0] == "start" and kinds(lines)[-1] == "end"
    assert [p["name"] for p in lines[0]["ports"]] == ["wire0", "wire1"]
    done = only(lines, "result")
    assert [x["cmd"] for x in done] == ["set 0 count 1000", "start 0", "wait 0", "show stats"]
    assert all(x["ok"] and x["exit_code"] == 0 for x in done)
    assert done[3]["results"][0]["show"] == "stats" and done[3]["results"][0]["ports"][1]["rx"]["packets"] == 1000
    assert [(x["port"], x["state"]) for x in only(lines, "state")] == [(0, "sending"), (0, "idle")]
    times = [x["time_ns"] for x in lines]
    assert times == sorted(times)


def test_an_interval_each_second_with_the_statistics():
    p = subprocess.Popen([binary(), *WIRE, "--json-stream"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    lines, ticks = [], []
    with p, bounded(p):
        p.stdin.write("set 0 rate 1kpps; start 0\n")
        p.stdin.flush()
        while not any(sent_by(a) < sent_by(b) and b["time_ns"] - a["time_ns"] < 1.5e9 for a, b in zip(ticks, ticks[1:])):
            assert len(ticks) < 12, "a machine that stands still makes an interval long, but not each"
            lines.append(document(p.stdout.readline()))
            ticks = only(lines, "interval")
        assert "idle" not in [x["state"] for x in only(lines, "state")], "while it runs, not at its end"
        p.stdin.close()
        lines += [document(x) for x in p.stdout]
    assert p.returncode == 0 and lines[-1]["event"] == "end"
    assert all(t["stats"]["show"] == "stats" for t in ticks)
    assert [sent_by(t) for t in ticks] == sorted(sent_by(t) for t in ticks)


def test_the_end_holds_the_totals():
    lines, _ = stream("-e", "set 0 count 12345; start 0")
    run_doc = lines[-1]["run"]
    ports = run_doc["stats"]["ports"]
    assert ports[0]["tx"]["packets"] == 12345 == ports[1]["rx"]["packets"]
    assert ports[0]["run"]["state"] == "idle"
    assert run_doc["commands"] == {"done": 2, "failed": 0, "refused": 0, "cancelled": 0}
    assert lines[-1]["exit_code"] == run_doc["exit_code"] == 0 and lines[-1]["signal"] is None


def test_a_trial_is_told_and_kept(tmp_path):
    path = tmp_path / "run.json"
    r = run([*WIRE, "--json-stream", "--report", str(path), "-k", "-e", "trial 0 rate 1kpps for 50ms; trial 0 rate 2kpps for 50ms"])
    lines = documents(r)
    told = [x["trial"]["rate"] for x in only(lines, "trial")]
    assert told == ["1kpps", "2kpps"]
    names = kinds(lines)
    assert names.index("trial") < names.index("result"), "before the command's last line"
    doc = document(path.read_text())
    assert [t["rate"] for t in doc["run"]["trials"]] == told and doc["run"]["trials_total"] == 2
    assert doc["run"] == lines[-1]["run"]
    assert doc["run"]["exit_code"] == r.returncode


def test_a_refused_command_is_an_error_and_the_exit_code():
    lines, r = stream("-e", "set 0 rate 10%\nset 0 rtae 5\nshow stats", code=2)
    assert [x["ok"] for x in only(lines, "result")] == [True, False]
    error = only(lines, "error")[0]
    assert error["cmd"] == "set 0 rtae 5" and "rate" in error["text"] and "-e:2" in error["text"]
    assert lines[-1]["exit_code"] == 2 and lines[-1]["run"]["commands"]["refused"] == 1
    assert lines[-1]["run"]["errors"] == [error["text"]] and "rtae" in r.stderr


def test_keep_going_runs_the_rest():
    lines, _ = stream("-k", "-e", "bogus; show port", code=2)
    assert [(x["cmd"], x["ok"]) for x in only(lines, "result")][0] == ("bogus", False)
    assert len(only(lines, "result")) == 2


def test_a_failed_criterion_is_exit_code_1():
    lines, _ = stream("-e", "set 0 rate 1kpps; set 0 count 5000; start 0; wait 0 50ms", code=1)
    last = only(lines, "result")[-1]
    assert last["ok"] and last["exit_code"] == 1
    assert lines[-1]["exit_code"] == 1 and lines[-1]["run"]["commands"]["failed"] == 1


def test_documents_beside_the_stream_are_those_of_json_alone():
    args = ["-e", "show map; show ports; help quit; show settings 0"]
    alone = good([*WIRE, "--json", *args]).stdout
    both = good([*WIRE, "--json", "--json-stream", *args])
    lines = documents(both)

    def without_memory(text):
        """A pool of buffers takes some bytes more or less in each run, by where its memory lies."""
        return [re.sub(r'"memory_bytes":\d+', '"memory_bytes":0', x) for x in text if not x.startswith('{"event"')]
    assert without_memory(both.stdout.splitlines()) == without_memory(alone.splitlines())
    docs = [x for x in lines if "event" not in x]
    assert [d for x in only([x for x in lines if "event" in x], "result") for d in x["results"]] == docs
    assert len(docs) == 4


def test_without_the_stream_json_prints_documents_alone():
    r = good([*WIRE, "--json", "-e", "show map; set 0 rate 5%; port"])
    assert [d["show"] for d in documents(r)] == ["map", "port"]


def test_what_a_script_prints_is_not_lost(tmp_path):
    script = tmp_path / "t.lua"
    script.write_text('wr.cmd("show map")\nprint(wr.json.encode{a = 1})\nprint("{half")\nreturn 5\n')
    lines, _ = stream("-f", str(script))
    said = [line for x in only(lines, "output") for line in x["text"].splitlines()]
    assert document(said[0])["show"] == "map" and said[1:] == ['{"a":1}', "{half"]
    r = good([*WIRE, "--json", "--json-stream", "-f", str(script)])
    lines = [json.loads(line) for line in r.stdout.splitlines()]  # one of them is the script's own
    assert [x.get("show") or x["a"] for x in lines if "event" not in x] == ["map", 1]
    assert [x["text"] for x in lines if x.get("event") == "output"] == ["{half"]


def test_every_line_is_there_when_it_happens():
    p = subprocess.Popen([binary(), *WIRE, "--json-stream"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        with bounded(p):
            assert document(p.stdout.readline())["event"] == "start"
            for cmd in ("show map", "set 0 rate 1kpps"):
                p.stdin.write(cmd.encode() + b"\n")
                p.stdin.flush()
                line = document(p.stdout.readline())
                while line["event"] == "interval":
                    line = document(p.stdout.readline())
                assert (line["event"], line["cmd"]) == ("result", cmd)
            p.stdin.close()
            rest = [document(x) for x in p.stdout]
        assert rest[-1]["event"] == "end" and p.wait(60) == 0
    finally:
        p.kill()
        p.wait()
        p.stdout.close()
        p.stderr.close()


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_stream_and_the_report(tmp_path, sig):
    path = tmp_path / "run.json"
    p = subprocess.Popen([binary(), *WIRE, "--json-stream", "--report", str(path), "-e", "set 0 rate 1kpps; start 0; sleep 100s"],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    lines, told = [], False
    for text in p.stdout:
        lines.append(document(text))
        if not told and lines[-1]["event"] == "interval" and sent_by(lines[-1]) > 0:
            p.send_signal(sig)
            told = True
    p.stdout.close()
    assert p.wait(60) == -sig
    assert kinds(lines).count("end") == 1 and lines[-1]["event"] == "end"
    assert lines[-1]["signal"] == sig and lines[-1]["exit_code"] == 128 + sig
    assert only(lines, "result")[-1]["cancelled"]
    assert ("idle" in [x["state"] for x in only(lines, "state")]), "traffic has ended before the last line"
    ports = lines[-1]["run"]["stats"]["ports"]
    assert ports[0]["tx"]["packets"] == ports[1]["rx"]["packets"] > 0
    assert document(path.read_text())["run"] == lines[-1]["run"]


def test_a_reader_that_goes_away_ends_it():
    p = subprocess.Popen([binary(), *WIRE, "--json-stream", "-e", "set 0 rate 1kpps; start 0; sleep 1000s"], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert document(p.stdout.readline())["event"] == "start"
    p.stdout.close()
    try:
        assert p.wait(60) == 3
        assert "cannot write results to standard output: Broken pipe" in p.stderr.read()
    finally:
        p.stderr.close()
        p.kill()
        p.wait()


class Unread:
    """A run whose stream nobody reads until rest() is called."""
    def __init__(self, *args, joined=False):
        self.fd, out = os.pipe()
        fcntl.fcntl(out, fcntl.F_SETPIPE_SZ, 4096)
        self.p = subprocess.Popen([binary(), *WIRE, "--json-stream", *args], stdin=subprocess.DEVNULL, stdout=out,
                                  stderr=out if joined else subprocess.PIPE, text=True)
        os.close(out)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.p.kill()
        self.p.wait()
        if self.p.stderr is not None:
            self.p.stderr.close()
        if self.fd >= 0:
            os.close(self.fd)

    def is_made(self, path):
        end = time.monotonic() + 60
        while not path.exists():
            assert time.monotonic() < end and self.p.poll() is None, f"{path.name} is not made while nobody reads"
            time.sleep(0.01)

    def rest(self):
        with os.fdopen(self.fd, encoding="utf-8") as f:
            self.fd = -1
            return [document(line) for line in f]


FILL = "show settings 0; " * 60  # more than what a pipe and the lines that wait behind it hold before intervals are left out


def test_nothing_waits_for_a_stream_that_is_not_read(tmp_path):
    made = tmp_path / "after"
    with Unread("-e", f"start 0 for 100ms; {FILL} show stats; sleep 3500ms; wait 0; save {made}") as u:
        u.is_made(made)
        lines = u.rest()
        assert u.p.wait(60) == 0
    done = only(lines, "result")
    assert len(done) == 65 and all(x["ok"] for x in done) and all(x["results"][0]["show"] == "settings" for x in done[1:61])
    assert [x["state"] for x in only(lines, "state")] == ["sending", "idle"], "and what is told once"
    dropped = only(lines, "dropped")
    assert sum(x["count"] for x in dropped) + len(only(lines, "interval")) >= 2 and dropped, "of three, one may have been late by a second"
    assert kinds(lines)[0] == "start" and kinds(lines)[-1] == "end"
    times = [x["time_ns"] for x in lines]
    assert times == sorted(times)


def test_a_reader_that_comes_back_gets_intervals_again(tmp_path):
    full, ticks = tmp_path / "full", tmp_path / "ticks"
    with Unread("-e", f"{FILL} save {full}; sleep 2500ms; save {ticks}; port; sleep 1000s") as u:
        u.is_made(full)
        u.is_made(ticks)
        got, dropped = [], None
        with os.fdopen(u.fd, encoding="utf-8") as f:
            u.fd = -1
            for text in f:
                got.append(document(text))
                if dropped is not None and got[-1]["event"] == "interval":
                    break
                if got[-1]["event"] == "dropped":
                    dropped = len(got)
    assert got[dropped - 1]["count"] >= 1 and got[dropped]["event"] != "dropped"


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_run_whose_stream_is_not_read(tmp_path, sig):
    made, path = tmp_path / "after", tmp_path / "run.json"
    with Unread("--report", str(path), "-e", f"start 0; {FILL} save {made}; sleep 1000s") as u:
        u.is_made(made)
        u.p.send_signal(sig)
        assert u.p.wait(60) == -sig
        assert "are lost" in u.p.stderr.read()
        assert document(path.read_text())["run"]["signal"] == sig, "the report needs no reader"


def test_a_reader_that_goes_away_while_lines_wait_ends_it(tmp_path):
    made = tmp_path / "after"
    with Unread("-e", f"start 0; {FILL} save {made}; sleep 1000s") as u:
        u.is_made(made)
        os.close(u.fd)
        u.fd = -1
        assert u.p.wait(60) == 3
        said = u.p.stderr.read()
        assert "cannot write results to standard output: Broken pipe" in said and "cancelled" not in said


def test_nothing_stands_behind_the_last_line(tmp_path):
    """Also when its reader takes his time, and whatever goes on meanwhile."""
    made = tmp_path / "made"
    with Unread("-e", f"show settings 0; show settings 0; save {made}") as u:
        u.is_made(made)
        assert u.p.stderr.readline().startswith("waiting for the reader"), "a second of the clock that makes intervals"
        time.sleep(1.5)
        lines = u.rest()
        assert u.p.wait(60) == 0
    assert kinds(lines).count("end") == 1 and kinds(lines)[-1] == "end"


def test_shutdown_ends_what_runs_before_the_last_line(tmp_path):
    path, script = tempfile.mktemp(prefix="wr"), tmp_path / "t.lua"
    script.write_text(f'while true do wr.start(0, "for", "1ms") wr.wait(0) wr.save("{tmp_path}/runs") wr.sleep(0.01) end')
    with Unread("--serve", f"--socket={path}", "-e", "show settings 0; show settings 0", "-f", str(script)) as u:
        u.is_made(tmp_path / "runs")
        assert run(["attach", path, "-e", "shutdown"]).returncode == 0
        while "waiting for the reader" not in (said := u.p.stderr.readline()):
            assert said
        lines = u.rest()
        assert u.p.wait(60) == 0
    assert kinds(lines)[-1] == "end" and only(lines, "result")[-1]["cancelled"]
    ports = lines[-1]["run"]["stats"]["ports"]
    assert ports[0]["run"]["state"] == "idle" and ports[0]["tx"]["packets"] == ports[1]["rx"]["packets"]
    assert lines[-1]["run"]["commands"]["cancelled"] == 1


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("when", ["while it runs", "at its end"])
def test_a_signal_ends_it_where_nobody_reads_standard_error_either(tmp_path, sig, when):
    made = tmp_path / "made"
    end = "sleep 1000s" if when == "while it runs" else "port"
    with Unread("-e", f"show settings 0; show settings 0; save {made}; {end}", joined=True) as u:
        u.is_made(made)
        time.sleep(0 if when == "while it runs" else 1.5)
        u.p.send_signal(sig)
        assert u.p.wait(60) == -sig


def test_an_interrupt_while_the_last_line_waits_says_what_is_lost(tmp_path):
    made = tmp_path / "made"
    with Unread("-e", f"show settings 0; show settings 0; save {made}") as u:
        u.is_made(made)
        assert u.p.stderr.readline().startswith("waiting for the reader")
        u.p.send_signal(signal.SIGINT)
        assert u.p.wait(60) == -signal.SIGINT
        assert "are lost" in u.p.stderr.read()


def test_commands_wait_for_a_reader_when_too_much_waits(tmp_path):
    """Rather than that memory grows without end. Nothing is lost."""
    one, two = tmp_path / "one", tmp_path / "two"
    with Unread("-e", f"save {one}; lua 'for i = 1, 20 do print(string.rep(\"x\", 2^20)) end'; save {two}") as u:
        u.is_made(one)
        time.sleep(1)
        assert not two.exists() and u.p.poll() is None
        lines = u.rest()
        assert u.p.wait(60) == 0 and two.exists()
    assert sum(len(x["text"].replace("\n", "")) for x in only(lines, "output")) == 20 << 20
    assert kinds(lines)[-1] == "end" and len(only(lines, "result")) == 3


def test_a_stream_into_a_file_and_a_socket(tmp_path):
    path = tmp_path / "lines"
    with open(path, "ab") as f:
        f.write(b'{"event":"closed","text":"older"}\n')
        f.flush()
        subprocess.run([binary(), *WIRE, "--json-stream", "-e", FILL], stdin=subprocess.DEVNULL, stdout=f, timeout=60, check=True)
    lines = [document(x) for x in path.read_text().splitlines()]
    assert [lines[0]["event"], lines[1]["event"], lines[-1]["event"]] == ["closed", "start", "end"], "behind what was there"
    ours, theirs = socket.socketpair()
    with ours, theirs:
        p = subprocess.Popen([binary(), *WIRE, "--json-stream", "-e", FILL], stdin=subprocess.DEVNULL, stdout=theirs.fileno())
        theirs.close()
        with ours.makefile(encoding="utf-8") as f:
            lines = [document(x) for x in f]
        assert p.wait(60) == 0 and len(only(lines, "result")) == 60 and lines[-1]["event"] == "end"


def test_a_report_alone_leaves_text_as_it_is(tmp_path):
    path = tmp_path / "run.json"
    plain = good([*WIRE, "-e", "show map"]).stdout
    assert good([*WIRE, "--report", str(path), "-e", "show map"]).stdout == plain
    assert document(path.read_text())["run"]["commands"]["done"] == 1


def test_a_report_that_cannot_be_written_is_told(tmp_path):
    for path in (tmp_path / "no" / "run.json", tmp_path, "/dev/null"):
        r = run([*WIRE, "--report", str(path), "-e", "show map"])
        assert r.returncode == 3 and "--report" in r.stderr and r.stdout == "", "before anything runs"
    (tmp_path / "r.json").write_text("older")
    assert run([*WIRE, "--report", str(tmp_path / "r.json"), "-p", "if:nosuchif0"]).returncode in (2, 3)
    assert (tmp_path / "r.json").read_text() == "older" and os.listdir(tmp_path) == ["r.json"], "a run that did not begin leaves it"


@pytest.mark.parametrize("cmd, code", [("show map", 3), ("bogus", 2)])
def test_a_report_that_can_no_longer_be_written_is_told(tmp_path, cmd, code):
    folder = tmp_path / "gone"
    folder.mkdir()
    p = subprocess.Popen([binary(), *WIRE, "-b", "--report", str(folder / "run.json")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    p.stdin.write("port\n")
    p.stdin.flush()
    assert p.stdout.readline()
    folder.rmdir()
    _, err = p.communicate(cmd + "\n", timeout=60)
    assert p.returncode == code and "--report" in err, "the run's own failure counts more"


def test_options_that_exclude_each_other():
    r = run([*WIRE, "--csv", "--json-stream", "-e", "show map"])
    assert r.returncode == 2 and "--csv" in r.stderr and r.stdout == ""


def test_ports_that_cannot_be_opened_give_no_stream():
    r = run(["-p", "if:nosuchif0", "--json-stream", "-e", "show map"])
    assert r.returncode in (2, 3) and r.stdout == "" and "nosuchif0" in r.stderr


def test_what_the_schema_refuses():
    for bad in ({"event": "nonsense"}, {"show": "nonsense"}, {"event": "result", "cmd": "x"}, {"show": "stats", "ports": []},
                {"event": "trial"}, {"event": "check", "text": "x"},
                {"trial": {"verdict": "fine"}}, {"event": "end", "exit_code": 300}, {"id": 1, "ok": False}, {"show": "trial"},
                {"id": 1, "ok": True, "progress": {"share": 2}}):
        with pytest.raises(jsonschema.ValidationError):
            schema().validate(bad)


def test_what_the_schema_knows_of_the_socket():
    for line in ({"wirerate": "0.1.0", "protocol": 1, "auth": False}, {"id": 1, "cmd": "show stats"}, {"id": 1, "lua": "return 1", "args": ["a"]},
                 {"id": "a", "complete": "set 0 ra", "cursor": 8}, {"snapshot": "stats"}, {"subscribe": ["link"]}, {"cancel": True}, {"ping": True},
                 {"progress": True}, {"id": 1, "ok": True, "progress": None},
                 {"id": 1, "ok": True, "progress": {"share": 0.5, "left_ns": 1, "text": "x"}},
                 {"auth": "x"}, {"id": 1, "ok": True, "exit_code": 0, "results": []}, {"id": 1, "ok": True, "text": "x"},
                 {"id": 1, "ok": False, "exit_code": 2, "error": {"code": "EINVAL", "text": "x", "col": 4}},
                 {"id": 1, "out": "x"}, {"id": 1, "note": "x"}, {"event": "link", "port": 0, "text": "up"}, {"event": "start", "port": 0},
                 {"event": "dropped", "count": 3}, {"event": "closed", "text": "bye"}):
        schema().validate(line)


def test_every_result_of_a_run_validates():
    r = run([*WIRE, "--json", "-k", "-e", "show stats; show rates; show queues; show xstats; show ports; show map; show plan; show frame;"
             "show settings; show streams; show wire; show log; show clock; uptime; doctor; show; page; port; screen; geometry; theme show; theme;"
             "show page main; show latency; stream add 0; show snapshot stats,config,brief,log,streams:0,frame:0/0,xstats:0,cpu,help; "
             "show page latency; help; help set;"
             "set 0 probe on; start 0 for 20ms; wait 0; show latency; show page latency; trial 0 rate 1kpps for 20ms"])
    docs = documents(r)
    assert len(docs) == 32, r.stderr


# Parts of the schema that name every key there is. Elsewhere it names what must be there: keys are only ever added.
WHOLE = ("show_latency", "latency_port", "latency_stream", "probe_counts", "hist", "percentiles", "gap", "stamps", "history",
         "trial_frames", "trial_latency", "trial_limits", "fates")


def closed(node, whole):
    """Of a part of the schema: keys that it does not name are refused. What it takes from another part is that part, open."""
    if isinstance(node, list):
        return [closed(n, whole) for n in node]
    if not isinstance(node, dict):
        return node
    out = {k: {n: closed(x, whole) for n, x in v.items()} if k == "properties" else closed(v, whole) if k in ("items", "anyOf") else v
           for k, v in node.items()}
    if "allOf" in node:
        out["allOf"] = [{**x, "$ref": x["$ref"] + "_open"} if "$ref" in x else
                        {**x, "properties": closed({"properties": x["properties"]}, whole)["properties"]} for x in node["allOf"]]
    if "properties" in node or "allOf" in node:
        out["unevaluatedProperties"] = False
    return out


def whole_schema():
    doc = json.loads(json.dumps(schema().schema))
    for name in WHOLE:
        doc["$defs"][name + "_open"] = doc["$defs"][name]
        doc["$defs"][name] = closed(doc["$defs"][name], WHOLE)
    doc["$defs"]["show_latency"]["properties"]["show"] = True
    return jsonschema.Draft202012Validator(doc)


def objects(doc):
    if isinstance(doc, dict):
        yield doc
        doc = doc.values()
    for v in doc if not isinstance(doc, (str, int, float, bool, type(None))) else ():
        yield from objects(v)


def test_the_schema_names_every_key_of_latency_trials_and_histories():
    check = whole_schema()
    r = run([*WIRE, "--json", "-e", "show latency; stream add 0; set 0/all probe on; set 0/1 latency on; set all rate 10kpps; set 1 jitter 1; "
             "set 1 probe every 3; set wire loss 10%; set wire reorder 10%; show latency; start all for 1200ms; show latency; wait all; "
             "show latency; show latency all corrected; show latency 0/0-1; show stats; show snapshot stats,latency:0; "
             "trial 0 rate 10kpps for 20ms; set 0/all latency off; set 0/all probe off; set trial.probes off; trial 0,1 rate 10kpps for 20ms"])
    assert r.returncode in (0, 1, 4), r.stderr
    docs = [d for d in documents(r) if "made" not in d]
    assert len(docs) == 10, r.stderr
    latencies = [d for d in docs if d.get("show") == "latency"] + [docs[7]["latency"]]
    assert latencies[3]["streams"][1]["latency"]["samples"] > 0 and latencies[3]["ports"][1]["jitter"]["compared"] > 0
    assert docs[6]["ports"][0]["history"]["tx_pps"] and docs[8]["trial"]["latency"] and not docs[9]["trial"]["latency"]
    for doc in [*latencies, *docs[8:]]:
        wrong = next(check.iter_errors(doc), None)
        assert wrong is None, f"{list(wrong.absolute_path)}: {wrong.message}"
        for o in objects(doc.get("trial", doc)):
            for key in ("bogus", "min_us"):
                o[key] = 1
                assert not check.is_valid(doc), f"a key that is not in the schema is not found beside {list(o)}"
                del o[key]
    history = docs[6]["ports"][0]["history"]
    for bad in ({"bogus": 1}, {"tx_pps": [-1]}, {"tx_pps": None}, {"interval_ns": "1s"}):
        with pytest.raises(jsonschema.ValidationError):
            check.validate({**docs[6], "ports": [{**docs[6]["ports"][0], "history": {**history, **bad}}]})


@pytest.mark.parametrize("path, bad", [
    (("ports", 1, "latency", "actual", "p50"), 1), (("ports", 1, "latency", "actual", "mean_ns"), "5ns"), (("ports", 1, "counts", "lost"), -1),
    (("ports", 1, "counts", "exact"), None), (("ports", 1, "gap", "near"), {}), (("ports", 1, "timestamps", "source"), "cable"),
    (("streams", 0, "receivers"), [None]), (("streams", 0, "latency"), 5), (("ports", 1, "jitter"), 0), (("memory_bytes",), None)])
def test_what_the_schema_refuses_of_latency(path, bad):
    doc = document(good([*WIRE, "--json", "-e", "set 0 probe on; set 0 count 10; start 0; wait 0; show latency"]).stdout)
    at = doc
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = bad
    assert not whole_schema().is_valid(doc)


def test_values_and_checks_of_lua(tmp_path):
    script = tmp_path / "t.lua"
    script.write_text('local wr = require "wirerate"\nwr.expect(true, "fine")\nwr.expect(1 == 2, "sums")\nprint("hello")\nreturn 7\n')
    lines, r = stream("-f", str(script), code=1)
    assert [(x["passed"], x["text"].split(": ")[-1]) for x in only(lines, "check")] == [(True, "fine"), (False, "sums")]
    assert "hello" in [x["text"] for x in only(lines, "output")]
    assert only(lines, "result")[0]["exit_code"] == 1
    checks = lines[-1]["run"]["checks"]
    assert (checks["passed"], checks["failed"]) == (1, 1) and "sums" in checks["texts"][0] and "sums" in r.stderr
    lines, _ = stream("-e", "lua 'return {a = 1}, 5'")
    assert only(lines, "result")[0]["results"] == [{"a": 1}, 5]
    for value in (5, "x", None, [1], {"a": 1}):
        schema().validate(value)


def test_the_schema_is_the_file_that_is_installed():
    here = os.path.join(os.path.dirname(__file__), os.pardir, os.pardir, "app", "schema.json")
    with open(here, encoding="utf-8") as f:
        text = f.read()
    assert subprocess.run([binary(), "--dump-schema"], stdout=subprocess.PIPE, text=True, timeout=60, check=True).stdout == text
    assert json.loads(text)["$schema"].endswith("2020-12/schema")
