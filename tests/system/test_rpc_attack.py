# SPDX-License-Identifier: BSD-3-Clause
"""Lines of a client that would end, hold up or bloat the program: it goes on, others are answered meanwhile, and its memory stays bounded."""
import json
import re
import threading

import pytest

from rpc_server import Raw

RECURSION = ["local function f() string.gsub('x', 'x', f) end f()",
             "local function f() coroutine.wrap(function() string.gsub('x', 'x', f) end)() end f()",
             "local m = {} m.__tostring = print print(setmetatable({}, m))",
             "local function f() assert(load(f)) end f()"]


@pytest.mark.parametrize("chunk", RECURSION)
def test_recursion_through_c_is_an_error(serve, chunk):
    server = serve("--rpc-limit", "lua-time=5s")
    c = Raw(server.path)
    assert "stack overflow" in c.ask({"lua": chunk})["error"]["text"]
    assert c.ask({"lua": "return 1"})["results"] == [1] and server.proc.poll() is None


def pings_meanwhile(server, chunk):
    """Pings of another client that were answered before the chunk was, and its answer."""
    c, other, answer = Raw(server.path), Raw(server.path), []
    c.s.settimeout(200)
    asker = threading.Thread(target=lambda: answer.append(c.ask({"lua": chunk})))
    asker.start()
    n = 0
    while asker.is_alive():
        assert other.ask('{"ping":true}')["ok"]
        n += 1
    asker.join()
    return n, answer[0]


def test_commands_in_a_loop_hold_nobody(serve):
    server = serve("--rpc-limit", "lua-time=2s", "-e", "set 0 rate 1kpps; stream add 0 4000; start 0")
    n, answer = pings_meanwhile(server, 'while true do wr.try("show streams 0") end')
    # at least one between two turns of it, of which each runs one command or two
    assert answer["error"]["code"] == "ETIMEDOUT" and "2 s" in answer["error"]["text"] and n >= 5, n


def test_many_in_a_loop_hold_nobody(serve):
    """Steps of those that run something are dealt out one by one, with the others in between."""
    server = serve("--rpc-limit", "lua-time=2s")
    loops = [Raw(server.path) for _ in range(60)]
    for c in loops:
        c.send('{"lua":"while true do end"}')
    other, n = Raw(server.path), 0
    done = threading.Event()
    ended = threading.Thread(target=lambda: (loops[0].line(), done.set()))
    ended.start()
    while not done.is_set():
        assert other.ask('{"ping":true}')["ok"]
        n += 1
    ended.join()
    # one step of each is 1.2 s, in which a client that is last in their order would be answered once
    assert n >= 10, n


GROWS = ["wr.json.decode('[' .. ('[],'):rep(1.3e6) .. '1]')", "for i = 1, 1e4 do print(('x'):rep(1e6)) end",
         "return ('\\1'):rep(1e7)", "for i = 1, 15 do print(('\\1'):rep(1e6)) end", "local t = {} for i = 1, 5e5 do t[i] = {} end return t"]


def test_documents_stay_within_the_limit(serve):
    server = serve("--rpc-limit", "lua-memory=64M,line=12M")
    c = Raw(server.path)
    assert c.ask({"lua": "return 1"})["ok"]
    before = server.rss_kb()
    for chunk in GROWS:
        assert c.ask({"lua": chunk})["ok"] is False, chunk
    assert "values" in c.ask('{"id":1,"lua":[' + "[]," * 3300000 + "1]}")["error"]["text"]
    with open(f"/proc/{server.proc.pid}/status") as f:
        peak = int(re.search(r"VmHWM:\s+(\d+)", f.read()).group(1))
    assert peak - before < 96000, f"{peak - before} kB"
    assert c.ask({"lua": "return #wr.json.decode(...)", "args": [json.dumps([1, [2], {"a": "b"}])]})["results"] == [3]


def test_no_addresses(serve):
    c = Raw(serve().path)
    answer = c.ask({"lua": "print({}, print, string.format('%p %s', {}, {})) error({})"})
    assert re.findall(r"0x[0-9a-f]{4,}", json.dumps(answer)) == []
