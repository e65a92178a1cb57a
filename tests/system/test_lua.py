# SPDX-License-Identifier: BSD-3-Clause
"""Lua in the program: the module over all rows of the tables, errors and exit codes, what waits and what interrupts."""
import json
import os
import re
import signal
import subprocess
import time

import pytest

import harness
from pty_term import Term
from rpc_server import ANYTHING


def lua(where, text, *args, ports="wire", code=0, timeout=120, **kw):
    """A script in a folder of its own. What it printed, and the rest."""
    path = where / "t.lua"
    path.write_text(text)
    r = harness.run(["-p", ports, "-b", *args, "-f", str(path)], cwd=where, timeout=timeout, **kw)
    assert r.returncode in (code if isinstance(code, tuple) else (code,)), f"exit code {r.returncode}\n{r.stdout}{r.stderr}"
    return r


@pytest.fixture(scope="module")
def tables():
    return json.loads(harness.good(["--dump-commands"]).stdout)


def lua_list(words):
    return "{" + ",".join(json.dumps(w) for w in words) + "}"


def lua_key(name):
    key = re.sub(r"[^a-z0-9]", "_", name.lower())
    return key + "_" if key in ("for", "end", "repeat") else key


def test_every_setting_reads_and_writes_back(tmp_path, tables):
    now = [s for s in tables["settings"] if "later" not in s["flags"]]
    names = {scope: [s["name"] for s in now if s["scope"] == scope] for scope in ("global", "port", "stream")}
    assert min(map(len, names.values())) > 5
    r = lua(tmp_path, f"""
        local n = 0
        local function all(place, names)
            for _, name in ipairs(names) do
                local ok, value = pcall(function() return place[name] end)
                if ok then
                    local good, e = pcall(function() place[name] = value end)
                    if not good then print(name, tostring(value), e.text)
                    elseif tostring(place[name]) ~= tostring(value) then print(name, tostring(value), tostring(place[name])) end
                    n = n + 1
                else
                    -- as typed: `set PLACE NAME default` says the same
                    local again, e = pcall(function() place[name] = nil end)
                    if again then print(name, "cannot be read: " .. value.text) end
                end
            end
        end
        all(wr.set, {lua_list(names["global"])})
        wr.port[1].frame = "eth/vlan/ipv4/udp"
        wr.port[1].rate = "1kpps" -- `pps` has no value of another rate
        all(wr.port[1], {lua_list(names["port"])})
        all(wr.port[1].stream[0], {lua_list(names["stream"])})
        print(n)
        """)
    assert int(r.stdout.splitlines()[-1]) > 150 and len(r.stdout.splitlines()) == 1, r.stdout


def test_every_verb_refuses_as_typed(tmp_path, tables):
    # `doctor` takes any word as the name of a device, and reports that there is none
    verbs = [v["name"] for v in tables["commands"] if v["name"] != "doctor"]
    assert len(verbs) > 30
    r = lua(tmp_path, f"""
        local n = 0
        for i, name in ipairs({lua_list(verbs)}) do
            local key = ({lua_list(lua_key(v) for v in verbs)})[i]
            for _, word in ipairs{{"/no/such/~", "0-99"}} do
                local ok, e = pcall(wr.verb[key], word)
                local typed, te = pcall(wr.cmd, name .. " " .. word)
                if ok ~= typed or (not ok and (e.text ~= te.text or e.code ~= te.code or e.col ~= te.col)) then
                    print(name, word, ok, typed, tostring(e), tostring(te))
                end
                n = n + (ok and 0 or 1)
            end
        end
        print(n)
        """)
    assert int(r.stdout.splitlines()[-1]) > 40 and len(r.stdout.splitlines()) == 1, r.stdout


def test_functions_of_the_module(tmp_path):
    r = lua(tmp_path, """
        local function same(what, a, b) if a ~= b then print(what, tostring(a), tostring(b)) end end
        wr.port[0].rate, wr.port[0].count = 1e5, 100
        wr.start(0)
        local doc, code = wr.wait(0)
        same("wait", code, 0)
        local s = wr.stats()
        same("stats", s.ports[0].tx.packets, 100)
        same("received", s.ports[1].rx.packets, 100)
        same("queues", wr.queues(0).ports[0].queues[0].tx.packets, 100)
        same("one port", wr.queues(0).ports[1], nil)
        same("rates", wr.rates().ports[0].asked_pps, 1e5)
        same("show", wr.show("stats").show, "stats")
        same("latency", wr.latency().show, "latency")
        same("its streams stand beside the ports", wr.latency().ports[0].streams, nil)
        wr.cmd("set 1 probe on")
        same("sender", wr.latency("1/all").streams[0].port, 1)
        same("not of it", #wr.latency("0/all").streams, 0)
        wr.cmd("set 1 probe off")
        wr.clear("all")
        same("clear", wr.stats().ports[0].tx.packets, 0)
        same("made", wr.stream.add(0, 2).made[1].last, 2)
        same("indexed", wr.show("streams", 0).streams[2].stream, 2)
        local ids = {}
        for id, st in wr.port[0]:streams() do ids[#ids + 1] = id; st.size = 64 + id end
        same("streams", table.concat(ids, " "), "0 1 2")
        wr.port[0].stream[1]:copy("0/7")
        same("copy", wr.port[0].stream[7].size, 65)
        wr.port[0].stream[7]:move(9)
        wr.port[0].stream[9]:delete()
        same("deleted", pcall(function() return wr.port[0].stream[9].size end), false)
        wr.port[0].stream[2]["ipv4[1].src"] = "10.0.0.1..10.0.0.9"
        same("field", wr.port[0].stream[2]["ipv4.src"], "10.0.0.1..10.0.0.9")
        wr.port.all.burst = 16
        same("all", wr.port[1].burst, 16)
        wr.port[0]:reset()
        same("reset", wr.port[0].burst, 32)
        same("digits", type(wr.stats().wall_ns), "string")
        same("ports", table.concat(wr.ports(), " "), "0 1")
        same("snapshot", wr.stats("log:1").log ~= nil, true)
        local before = wr.now()
        wr.sleep("2ms")
        same("now", wr.now() - before >= 1e6, true)
        same("require", require "wirerate", wr)
        same("json", wr.json.decode(wr.json.encode(wr.stats())).ports[1].port, 0)
        same("module", type(require "wirerate.plot"), "table")
        """)
    assert r.stdout == "", r.stdout


def test_a_trial_is_its_inner_table(tmp_path):
    # one that stands still at its begin or its end has another rate than was asked for
    r = lua(tmp_path, """
        local t, code
        for _ = 1, 60 do
            t, code = wr.trial{ports = 0, rate = 1e4, duration = "100ms"}
            if code ~= 4 and t.fates.sent == 1000 then break end
        end
        print(t.verdict, t.fates.sent, t.ports[1], code)
        """, "-e", ANYTHING, code=(0, 4))  # 4: of one that stood still at its end
    assert r.stdout.split() == ["valid", "1000", "0", "0"]


def test_the_example_of_the_documents_runs(tmp_path):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "docs", "scripts.md")) as f:
        text = re.search(r"^## The module `wirerate`\n\n```lua\n(.*?)^```", f.read(), re.M | re.S).group(1)
    # shorter, and slower: what is asked for here is that each line does what is said of it
    for old, new in (('"2s"', '"50ms"'), ('"1s"', '"100ms"'), ('"1Mpps"', '"10kpps"'), ('"10%"', '"0.1%"')):
        assert old in text
        text = text.replace(old, new)
    for _ in range(20):
        r = lua(tmp_path, text, "-e", ANYTHING, code=(0, 4))
        counts = [line.split() for line in r.stdout.splitlines()]
        assert counts == [["0", counts[0][1], "0"], ["1", "0", counts[0][1]]]
        # else the sender stood still, in the trial or in the run before it, and may not have sent all; or nobody is sure that it has
        if r.returncode == 0 and counts[0][1] == "745":
            return
        assert int(counts[0][1]) <= 745
    pytest.fail("no run and trial went as they should")


def test_errors_name_file_and_line_with_a_traceback(tmp_path):
    (tmp_path / "mine.lua").write_text("return function()\n\twr.port[0].rate = 'abc'\nend\n")
    r = lua(tmp_path, 'print("begins")\nlocal f = require "mine"\nf()\nprint("not here")\n', code=2)
    assert r.stdout == "begins\n"
    assert "mine.lua:2: rate: \"abc\" is not a rate" in r.stderr and "traceback" in r.stderr and "t.lua:3:" in r.stderr
    r = lua(tmp_path, "local x = = 1", code=2)
    assert "t.lua:1: unexpected symbol" in r.stderr
    assert "no/such.lua" in harness.run(["-b", "-f", "no/such.lua"]).stderr


def test_exit_codes(tmp_path):
    assert "t.lua:2: failed: no" in lua(tmp_path, "wr.expect(true, 'yes')\nwr.expect(false, 'no')\nprint('on')", code=1).stderr
    lua(tmp_path, "wr.exit(7)", code=7)
    lua(tmp_path, "os.exit(true) print('no')")
    lua(tmp_path, "pcall(os.exit, 3) print('no')", code=3)
    lua(tmp_path, "wr.expect(false) wr.exit(0)")
    # what was judged by a measurement that is not valid is not called failed
    invalid = ("wr.cmd('set stall 1us') wr.cmd('set trial.max-stall 1us') local t = wr.trial{ports=0, rate='1kpps', duration='20ms'} "
               "assert(t.verdict == 'preempted') wr.expect(t.verdict == 'valid', 'valid')")
    assert "failed: valid" in lua(tmp_path, invalid, code=4).stderr
    # a refused command that was caught is none
    lua(tmp_path, "pcall(wr.start, 9)")
    # commands behind a script that failed are not run
    r = harness.run(["-b", "-e", "lua error(1)", "-e", "show stats"])
    assert r.returncode == 2 and r.stdout == ""


def test_arguments_and_results(tmp_path):
    (tmp_path / "a.lua").write_text("#!/usr/bin/env wirerate\nlocal a, b = ... print(a, b, arg[2], #arg) return {n = #arg, list = {1, 2}}")
    r = harness.good(["-b", "-e", 'script a.lua "x y" 2'], cwd=tmp_path)
    assert r.stdout == "x y\t2\t2\t2\n"
    assert harness.good(["lua", "1 + 1"]).stdout == "2\n"
    assert harness.good(["lua", "0.1, 1e15, 2^53"]).stdout == "0.1\n1000000000000000\n9007199254740992\n"
    assert harness.good(["lua", "wr.clear(0)"]).stdout == "true\n0\n"
    assert json.loads(harness.good(["--json", "lua", "return wr.stats().ports"]).stdout)[1]["port"] == 1
    assert harness.good(["-b", "-e", "lua x = 5", "-e", "lua x + 1"]).stdout == "6\n"


def test_output_keeps_its_order(tmp_path):
    r = lua(tmp_path, "print(1) wr.cmd 'show ports' io.write('2\\n') wr.cmd 'show clock' io.stdout:write('3', '\\n') wr.show('ports')", "--csv")
    lines = r.stdout.splitlines()
    at = [lines.index(x) for x in "123"]
    assert at == sorted(at) and at[0] == 0 and at[1] > 2 and at[2] == len(lines) - 1


def test_timers_and_events(tmp_path):
    r = lua(tmp_path, """
        local n, seen = 0, {}
        wr.on("start", function(ev) seen[#seen + 1] = ev.event .. ev.port end)
        wr.on("end", function(ev) seen[#seen + 1] = ev.event .. ev.port wr.sleep("1ms") seen[#seen + 1] = "slept" end)
        local h h = wr.every("5ms", function() n = n + 1 if n == 4 then h:stop() end end)
        wr.port[1].count = 10
        wr.start(1) wr.wait(1)
        while n < 4 or #seen < 3 do wr.sleep("1ms") end
        print(n, table.concat(seen, " "))
        """)
    assert r.stdout == "4\tstart1 end1 slept\n"


def test_thousands_of_settings_are_one_script(tmp_path):
    r = lua(tmp_path, """
        wr.stream.add(0, 4095)
        for id, s in wr.port[0]:streams() do s:set{frame = "eth/ipv4/udp", size = 64 + id % 100, ["udp.dst"] = 1000 + id} end
        local sum = 0
        for id, s in wr.port[0]:streams() do sum = sum + s["udp.dst"] - 1000 - id + s.size - 64 - id % 100 end
        print(sum, #wr.show("streams", 0).streams)
        """)
    assert r.stdout == "0\t4095\n" and r.stderr == ""


def test_other_sessions_go_on_while_a_script_waits(tmp_path):
    with Term(tmp_path, "--no-screen", "-p", "wire", cols=120) as t:
        t.prompt().type("lua 'wr.start(0) wr.every(\"10ms\", function() n = (n or 0) + 1 if n == 6 then print(\"six\" .. \"th\") end end) "
                        "wr.sleep(1000)'\r").shows("sixth")
        t.type("\x03").shows("cancelled")
        t.prompt().type("lua n > 5, wr.stats().ports[0].run.state\r").shows("true")
        t.shows("sending")
        t.prompt().type("quit\r")
        assert t.ends() == 0


@pytest.mark.parametrize("loop", [
    "while true do end", "while true do pcall(function() while true do end end) end", "table.sort({3, 2, 1}, function() while true do end end)",
    "coroutine.wrap(function() while true do end end)()", "wr.wait(0)"])
def test_ctrl_c_ends_a_loop_and_leaves_prompt_and_traffic(tmp_path, loop):
    with Term(tmp_path, "--no-screen", "-p", "wire", cols=160) as t:
        t.prompt().type("start 0\r").prompt()
        t.type(f"lua 'print(\"be\" .. \"gun\") wr.sleep(0) {loop}'\r").shows("begun")
        t.type("\x03").shows("cancelled")
        t.prompt().type("lua wr.stats().ports[0].run.state\r").shows("sending")
        t.prompt().type("quit\r")
        assert t.ends() == 0


@pytest.mark.parametrize("how", [["--no-screen"], []], ids=["line", "screen"])
def test_io_read_asks_at_the_prompt_and_holds_up_nothing(tmp_path, how):
    with Term(tmp_path, *how, "-p", "null", cols=120) as t:
        t.prompt().type("lua 'wr.every(0.01, function() n = (n or 0)+1 if n == 4 then print(\"four\" .. \"th\") end end) "
                        "print(\"li\" .. \"ne?\") print(\"<\" .. io.read() .. \">\") wr.exit()'\r")
        t.shows("line?").shows("fourth").type("it is 4\r").shows("<it is 4>")
        t.prompt().type("lua n > 3\r").shows("true")
        t.prompt().type("lua 'print(\"num\" .. \"ber?\") return io.read(\"*n\") * 2'\r").shows("number?")
        t.type("21\r").shows("42")
        t.prompt().type("lua 'print(\"asks \" .. \"again\") return io.read()'\r").shows("asks again")
        t.type("\x03").shows("cancelled").prompt().type("quit\r")
        assert t.ends() == 0


def test_names_complete_at_the_prompt(tmp_path):
    with Term(tmp_path, "--no-screen", cols=120) as t:
        t.prompt().type("lua wr.port[0].promi\t").line_is("lua wr.port[0].promiscuous ")
        t.type("\x15lua wr.stream.ad\t").line_is("lua wr.stream.add ")
        t.type("\x15").type("lua wr.port[0].udp.ds\t")
        t.type("\x15\x04")
        t.ends()


@pytest.mark.parametrize("loop", ['while true do wr.sleep("10ms") end', "table.sort({2, 1}, function() while true do end end)"],
                         ids=["waits", "sorts"])
@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_script_and_the_program(tmp_path, sig, loop):
    (tmp_path / "sweep.lua").write_text(f'wr.start("all") print("sends") wr.sleep(0) {loop}')
    p = subprocess.Popen([harness.binary(), "-p", "wire", "-b", "-f", "sweep.lua"], cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    assert p.stdout.readline() == b"sends\n"
    p.send_signal(sig)
    p.communicate(timeout=60)
    assert p.returncode == -sig


@pytest.mark.parametrize("held", ['os.execute("%s")', 'io.popen("%s"):read("*a")'], ids=["execute", "popen"])
@pytest.mark.parametrize("how", [["--no-screen"], []], ids=["line", "screen"])
def test_ctrl_c_ends_what_a_script_waits_for_and_the_script(tmp_path, how, held):
    with Term(tmp_path, *how, "-p", "null", cols=200) as t:
        t.prompt().type(f"lua '{held % f'touch {tmp_path}/begun; sleep 1000'} wr.sleep(0) wr.port[0].count = 66 wr.sleep(1000)'\r")
        t.until((tmp_path / "begun").exists, "begun")
        t.type("\x03").shows("cancelled")
        t.prompt().type("lua '\"count=\" .. wr.port[0].count'\r").shows("count=0")
        t.prompt().type("quit\r")
        assert t.ends() == 0
        t.terminal_is_back()


def test_what_a_script_executes(tmp_path):
    """The status of wait(); a pipe whose reader has gone ends its writer without a word."""
    r = lua(tmp_path, """
        print(os.execute() ~= 0, os.execute("exit 3") == 3 * 256, os.execute("kill -9 $$") == 9, os.execute("true"))
        """)
    assert r.stdout == "true\ttrue\ttrue\t0\n"
    r = lua(tmp_path, 'os.execute("yes | head -n 1; echo $(grep SigBlk /proc/self/status)")')
    assert r.stdout.split() == ["y", "SigBlk:", "0000000000000000"] and r.stderr == ""


@pytest.mark.parametrize("how", [["--no-screen"], [], None], ids=["line", "screen", "batch"])
@pytest.mark.parametrize("held", ["io.lines", "find"])
def test_more_than_one_ctrl_c_ends_a_program_that_a_script_holds(tmp_path, how, held):
    """In a function of C nothing can end the script alone. The terminal is as it was, whoever ended."""
    os.mkfifo(tmp_path / "fifo")
    writer = os.open(tmp_path / "fifo", os.O_RDWR)
    (tmp_path / "t.lua").write_text('io.open("begun", "w"):close() ' + (
        'for line in io.lines("fifo") do end' if held == "io.lines" else 'local s = string.rep("a", 30000) s:find((".-"):rep(4) .. "b")'))
    try:
        with Term(tmp_path, cmd=["sh", "-c", 'cd "$0" && exec "$@"', str(tmp_path), harness.binary(), "-p", "null",
                                 *(["-b", "-f", "t.lua"] if how is None else how)]) as t:
            if how is not None:
                t.prompt().type("script t.lua\r")
            t.until((tmp_path / "begun").exists, "begun")
            # Presses within a second count as one. None comes while the program ends: what it wrote and we have not read would be lost.
            for _ in range(12):
                t.type("\x03")
                patience = time.monotonic() + 1.3
                while t.proc.poll() is None and time.monotonic() < patience:
                    t.read(0.05)
                if t.proc.poll() is not None:
                    break
            assert t.ends() == -signal.SIGINT
            t.terminal_is_back()
    finally:
        os.close(writer)


def test_scripts_begin_no_scripts_and_are_not_loaded(tmp_path):
    assert "cannot begin another one" in lua(tmp_path, "wr.cmd 'lua 1'", code=2).stderr
    (tmp_path / "f.cmds").write_text("lua 1\n")
    assert "not allowed in a file" in harness.run(["load", str(tmp_path / "f.cmds")]).stderr


def test_user_modules(tmp_path):
    where = tmp_path / "config" / "wirerate" / "lua"
    where.mkdir(parents=True)
    (where / "own.lua").write_text("return 'of the user'")
    (tmp_path / "own2.lua").write_text("return 'beside'")
    r = lua(tmp_path, "print(require 'own', require 'own2')", env=os.environ | {"XDG_CONFIG_HOME": str(tmp_path / "config")})
    assert r.stdout == "of the user\tbeside\n"


def test_annotations_and_manual(tmp_path, tables):
    meta = harness.good(["--dump-lua"]).stdout
    manual = harness.good(["--dump-lua-manual"]).stdout
    for s in tables["settings"]:
        if "later" not in s["flags"]:
            assert f'["{s["name"]}"]' in meta and f'`{s["name"]}`' in manual
    for v in tables["commands"]:
        if "later" not in v["flags"]:
            assert re.search(rf"function wr\.(verb\.)?{lua_key(v['name'])}\(", meta), v["name"]
    (tmp_path / "meta.lua").write_text(meta)
    r = lua(tmp_path, "assert(loadfile('meta.lua')) for k in pairs(wr) do print(k) end")
    named = set(re.findall(r"function wr\.(\w+)\(", meta)) | set(re.findall(r"^---@field (\w+) ", meta, re.M)) | {"verb", "show", "stream"}
    named |= {lua_key(v["name"]) for v in tables["commands"] if "later" in v["flags"]}
    # Words of several verbs: wr.rss.queue() is wr.rss_queue() too.
    named |= {v["name"].split()[0] for v in tables["commands"] if " " in v["name"]}
    assert {k for k in r.stdout.split() if k not in named} == set()
