# SPDX-License-Identifier: BSD-3-Clause
"""The remote socket: what is answered, and what a client can do to the program and to others."""
import contextlib
import json
import random
import re
import resource
import select
import socket
import struct
import time

import pytest

import harness
from rpc_server import ANYTHING, TOKEN, Raw, Server, refused
from serving import until
import wirerate


# ---- requests and answers ----

def test_what_a_client_asks_for(serve):
    with wirerate.connect(serve().path, timeout=60) as wr:
        assert wr.greeting["wirerate"] and wr.greeting["protocol"] == 1 and wr.greeting["auth"] is False
        assert wr.cmd("set 0 count 100; set 0 rate 1%") is None and "pps" in wr.notes
        assert wr.cmd("start 0; wait 0; show stats")["ports"][0]["tx"]["packets"] == 100
        stats = wr.stats()
        assert stats["ports"][1]["rx"]["packets"] == 100 and stats["ports"][0]["queues"][0]["tx"]["packets"] == 100
        assert [d["show"] for d in wr.cmd("show stats; show ports")] == ["stats", "ports"]
        assert "tx packets" in wr.text("show stats") and wr.request(cmd="show stats", mode="csv")["text"].startswith("port,")
        assert "start" in wr.text("help start") and "rate" in wr.complete("set 0 ra")
        assert wr.snapshot("stats,log:2").keys() >= {"ports", "log"}
        assert wr.request(complete="set 0 count", cursor=4)["start"] == 4 and wr.progress() is None
        e = refused(wr, "set 0 rtae 5", "EINVAL")
        assert e.col == 6 and "rate" in e.text and e.exit_code == 2 and e.line is None
        e = refused(wr, "set 0 rate 2%; set 0 sizze 1; clear all", "EINVAL")
        assert e.line == "set 0 sizze 1" and e.col == 6
        assert wr.stats()["ports"][0]["tx"]["packets"] == 100  # what followed was not run
        trial = wr.trial(0, "1kpps", "20ms")
        assert trial["intended_frames"] == 20 and trial["fates"]["received"] == trial["fates"]["sent"] <= 20
        wr.cmd("wait 0 20s")
        assert wr.request(ping=True)["ok"]


def test_exit_codes_come_with_the_answer(serve):
    with wirerate.connect(serve(ports="null").path, timeout=60) as wr:
        wr.cmd(ANYTHING)
        t = wr.trial(0, "1kpps", "20ms", max_loss="1%")
        # 4 where the machine did not let it send in time
        assert t["fates"]["lost"] == t["fates"]["sent"] > 0 and wr.exit_code == (1 if t["verdict"] == "valid" else 4)


# Characters of one to four bytes, so that every length of a piece ends within one somewhere.
LONG = "".join(("a", "\u00e9", "\u20ac", "\U0001f600", '"\\\n\t\x01')[i * 7 % 5] for i in range(400_000))


def test_a_long_text_comes_whole(serve):
    """It is written in pieces, and no character is lost where one ends."""
    chunk = "local t = {'a', '\\195\\169', '\\226\\130\\172', '\\240\\159\\152\\128', '\"\\\\\\n\\t\\1'} local o = {} " \
        "for i = 0, 399999 do o[#o + 1] = t[i * 7 % 5 + 1] end print(table.concat(o))"
    server = serve()
    with wirerate.connect(server.path, timeout=60) as wr:
        assert wr.request(lua=chunk)["text"] == LONG + "\n"
    c = Raw(server.path)
    c.send(json.dumps({"id": 1, "lua": chunk, "mode": "text"}))
    got = ""
    while "ok" not in (line := c.line()):
        got += line.get("out", "")
    assert got + line.get("text", "") == LONG + "\n"


def test_a_cancelled_request_is_answered_before_who_cancels_it(serve):
    """Also where its text is written in many pieces."""
    c = Raw(serve().path)
    c.send(json.dumps({"id": 1, "lua": "print(string.rep('x', 2000000)) wr.sleep('60s')"}))
    time.sleep(0.5)
    c.send(json.dumps({"id": 2, "cancel": True}))
    first, second = c.line(), c.line()
    assert first["id"] == 1 and first["error"]["code"] == "ECANCELED" and len(first["text"]) == 2_000_001
    assert second["id"] == 2 and second["cancelled"] == 1


def test_what_is_printed_while_a_command_goes_on(serve):
    c = Raw(serve().path)
    c.send('{"id":"x","cmd":"show map; sleep 50ms; show clock","mode":"text"}')
    first, last = c.line(), c.line()
    assert first.keys() == {"id", "out"} and first["id"] == "x" and last["ok"] and last["text"]
    assert first["out"] and first["out"] not in last["text"]


@pytest.mark.parametrize("line,says", [
    ("garbage", "no JSON"), ("[1]", "object"), ("{}", "nothing to do"), ('{"id":1,"pnig":true}', "nothing to do"),
    ('{"cmd":"","ping":true}', "several"), ('{"cmd":5}', "string"), ('{"ping":1}', "true"), ('{"cmd":"x","curser":1}', "curser"),
    ('{"cmd":"x","cursor":1}', "belong"), ('{"cmd":"x","mode":"xml"}', "csv"), ('{"lua":"x","args":[1]}', "strings"),
    ('{"complete":"ab","cursor":3}', "cursor"), ('{"complete":"ab","cursor":-1}', "cursor"), ('{"subscribe":"link"}', "array"),
    ('{"subscribe":["lnik"]}', "link"), ('{"snapshot":"statz"}', "statz"), ('{"cancel":5}', "all"), ('{"id":1,"id":2,"ping":true}', "duplicate"),
    ('{"progress":false}', "true"),
    ('{"cmd":"a\\u0000b"}', "JSON"), ('{"cmd":"\\ud800"}', "JSON"), ('{"id":1e999,"ping":true}', "JSON"), ('{"ping":true} x', "JSON"),
    (b'{"cmd":"\xff\xfe"}\n', "JSON"), (b'{"cmd":"a\0b"}\n', "JSON"), (b"\0\0\0\n", "JSON"),
    ('{"id":' + "[" * 5000 + "]" * 5000 + ',"ping":true}', "values"), ('{"id":"' + "i" * 2000 + '","ping":true}', "1024"),
    ('{"cmd":"' + "x" * 1100000 + '"}', "1000000"), (b"y" * 10_000_000 + b"\n", "1000000"),
], ids=lambda value: str(value)[:40])
def test_what_is_no_request_is_told_and_passed_over(shared, line, says):
    c = Raw(shared.path)
    answer = c.ask(line)
    assert answer["ok"] is False and says in answer["error"]["text"], answer
    assert answer["error"]["code"] in ("EINVAL", "EMSGSIZE")
    assert c.ask('{"id":7,"ping":true}') == {"id": 7, "ok": True}


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("shared"), ports="null")
    yield server
    assert server.proc.poll() is None
    server.close()


def test_lines_in_any_portions(shared):
    c = Raw(shared.path)
    text = b'\n \r\n{"id":1,"ping":true}\r\n{"id":2,"cmd":"set 0 rate\n{"id":3,"ping":true}\n'
    for n in range(len(text)):
        c.send(text[n:n + 1])
    answers = [c.line() for _ in range(3)]
    assert [(a["id"], a["ok"]) for a in answers] == [(1, True), (None, False), (3, True)]


def test_ids_come_back_as_they_were(shared):
    c = Raw(shared.path)
    for i in (0, -5, 2**62, "text", "\u00e4\u4e2d\U0001f600", None, True, 1.5, [1, {"a": []}], {"k": "v"}):
        assert c.ask({"id": i, "ping": True}) == {"id": i, "ok": True}
    assert c.ask('{"ping":true}') == {"id": None, "ok": True}


def test_order_cancel_and_ids_in_flight(shared):
    c = Raw(shared.path)
    c.send('{"id":1,"cmd":"sleep 30s"}\n{"id":2,"cmd":"sleep 30s; clear all"}\n{"id":2,"cmd":"clear all"}\n{"id":1,"lua":"x"}\n{"id":9,"ping":true}')
    got = [c.line() for _ in range(3)]
    assert [a["id"] for a in got] == [2, 1, 9] and [a["ok"] for a in got] == [False, False, True]
    assert all("not yet answered" in a["error"]["text"] for a in got[:2])
    c.send('{"id":10,"cancel":true}')
    got = [c.line(), c.line()]
    assert got[0]["id"] == 1 and got[0]["error"]["code"] == "ECANCELED" and got[1] == {"id": 10, "ok": True, "cancelled": 1}
    c.send('{"id":3,"cmd":"clear all"}\n{"id":11,"cancel":"all"}')
    got = [c.line() for _ in range(3)]
    assert [a["id"] for a in got] == [2, 3, 11] and got[2]["cancelled"] == 2
    assert c.ask('{"id":1,"cancel":true}') == {"id": 1, "ok": True, "cancelled": 0}


def test_no_client_waits_for_another(shared):
    a, b = Raw(shared.path), Raw(shared.path)
    a.send('{"id":1,"cmd":"sleep 20s"}')
    assert b.ask('{"id":1,"cmd":"show stats"}')["ok"]
    assert a.ask('{"id":2,"snapshot":"stats"}')["id"] == 2 and a.ask('{"id":3,"complete":"st"}')["id"] == 3
    a.close()


def goes_on(c, text):
    """What the client is told when its work is this."""
    told = {}

    def is_it():
        told.update(c.ask('{"id":7,"progress":true}'))
        return told["progress"] and re.search(text, told["progress"]["text"])
    until(is_it, text)
    return told["progress"]


@pytest.mark.parametrize("tcp", [False, True])
def test_how_far_work_has_come(serve, tcp):
    server = serve(tcp=True)
    a, b = [Raw(server.address if tcp else server.path) for _ in range(2)]
    if tcp:
        assert a.ask({"auth": TOKEN})["ok"] and b.ask({"auth": TOKEN})["ok"]
    nothing = {"id": 7, "ok": True, "progress": None}
    assert a.ask('{"id":7,"progress":true}') == nothing
    # a command, also the second one of a request
    a.send('{"id":1,"cmd":"set 0 count 0; sleep 100s"}')
    p = goes_on(a, "^sleep .* of 1 min 40 s$")
    assert p.keys() == {"share", "left_ns", "text"} and 0 <= p["share"] < 1 and 0 < p["left_ns"] <= 100e9
    assert goes_on(a, "^sleep ")["left_ns"] < p["left_ns"]
    assert b.ask('{"id":7,"progress":true}') == nothing
    assert [a.ask('{"id":2,"cancel":true}')["id"], a.line()["id"]] == [1, 2]
    # ports, whoever has started them, and where a command waits for them
    assert a.ask('{"id":1,"cmd":"start 0 for 100s"}')["ok"]
    assert goes_on(b, "^sending, .* of 1 min 40 s$")["share"] < 1
    a.send('{"id":1,"cmd":"wait 0; sleep 1s"}')
    goes_on(a, "^sending, ")
    assert [a.ask('{"id":2,"cancel":true}')["id"], a.line()["id"]] == [1, 2]
    assert a.ask('{"id":1,"cmd":"stop 0"}')["ok"] and a.ask('{"id":7,"progress":true}') == nothing
    # a chunk, which says so itself or not
    a.send('{"id":1,"lua":"wr.progress(2, 8, \'a quarter\') wr.sleep(100)"}')
    assert goes_on(a, "^a quarter$")["share"] == 0.25
    assert [a.ask('{"id":2,"cancel":true}')["id"], a.line()["id"]] == [1, 2]
    a.send('{"id":1,"lua":"wr.cmd(\'sleep 100s\')"}')
    assert "share" not in goes_on(a, "^script, .*: sleep ")
    assert [a.ask('{"id":2,"cancel":true}')["id"], a.line()["id"]] == [1, 2]
    assert a.ask('{"id":7,"progress":true}') == nothing


def test_very_many_commands_hold_nobody(shared):
    """A request of 100,000 commands: others are served meanwhile, and it can be cancelled."""
    a, b = Raw(shared.path), Raw(shared.path)
    a.send('{"id":1,"cmd":"' + "clear 0;" * 100000 + 'show stats"}')
    for n in range(20):
        assert b.ask({"id": n, "ping": True}) == {"id": n, "ok": True}
    a.send('{"id":2,"cancel":true}')
    answers = [a.line(), a.line()]
    assert [x["id"] for x in answers] == [1, 2]
    if answers[1]["cancelled"]:
        assert answers[0]["error"]["code"] == "ECANCELED" and answers[0]["results"] == []
    done = a.ask('{"id":3,"cmd":"' + "clear 0;" * 3000 + 'show stats"}')
    assert done["ok"] and done["results"][0]["show"] == "stats"


def test_events(serve):
    server = serve()
    with wirerate.connect(server.path, timeout=60) as wr, wirerate.connect(server.path, timeout=60) as other:
        events = wr.events("start", "end", "interval")
        other.cmd("set 0 rate 1%; start 0 for 100ms; wait 0")
        seen = []
        while seen.count("interval") < 2 or "end" not in seen:
            e = next(events)
            seen.append(e["event"])
            if e["event"] == "interval":
                assert e["stats"]["show"] == "stats"
            else:
                assert e["port"] == 0
        assert seen.index("start") < seen.index("end") and seen.count("start") == seen.count("end") == 1
        wr.subscribe()
        wr._events.clear()
        other.cmd("start 0 for 10ms; wait 0")
        wr.request(ping=True)
        assert not wr._events


def test_pages_of_a_client_are_its_own(serve):
    server = serve()
    with wirerate.connect(server.path, timeout=60) as a, wirerate.connect(server.path, timeout=60) as b:
        a.cmd("page cpu; port 1; theme off; set pages.interval 5s")
        current = lambda wr: [p["name"] for p in wr.cmd("page")["pages"] if p["current"]]
        assert current(a) == ["cpu"] and current(b) == ["main"]
        assert a.cmd("port")["port"] == 1 and b.cmd("port")["port"] == 0
        interval = lambda wr: re.search(r"pages.interval +(\S+)", wr.text("show settings")).group(1)
        assert interval(a) == "5s" and interval(b) == "1s"


def test_half_a_line_is_not_run_and_what_was_asked_for_is_done(serve):
    """Disconnected at every byte of a request: it is run when it is whole, and only then."""
    server = serve(ports="null")
    line = b'{"id":1,"cmd":"set 0 count 77"}\n'
    before = server.fds_alone()
    with wirerate.connect(server.path, timeout=60) as wr:
        count = lambda: re.search(r"count +(\d+)", wr.text("show settings 0") + "count 0").group(1)
        for how in ("close", "half", "reset"):
            for n in range(len(line) + 1):
                c = Raw(server.path)
                c.send(line[:n])
                if how == "half":
                    c.s.shutdown(socket.SHUT_WR)
                    answers = c.rest()
                    assert len(answers) == (n == len(line))
                elif how == "reset":
                    c.s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                c.close()
                if n < len(line):
                    assert count() == "0", n
            until(lambda: count() == "77", "what was asked for")
            wr.cmd("set 0 count 0")
    assert server.settled_fds(before) == before


def test_who_is_gone_ends_what_it_ran(serve):
    server = serve(ports="null")
    before = server.fds_alone()
    c = Raw(server.path)
    c.send('{"id":1,"cmd":"start 0; sleep 300s"}')
    with wirerate.connect(server.path, timeout=60) as wr:
        until(lambda: wr.stats()["ports"][0]["run"]["state"] == "sending", "start")
        c.close()
        assert server.settled_fds(before + 1) == before + 1
        assert wr.stats()["ports"][0]["run"]["state"] == "sending"  # ports keep sending


# ---- limits ----

def test_a_storm_disturbs_nothing(serve):
    """100 clients, 10^5 requests, beside them garbage, half lines, long lines, readers that do not read: the frames of a trial are all there,
    every request has its answer, and nothing is left behind."""
    server = serve("--rpc-limit", "clients=150,rate=0")
    before_fds = server.fds_alone() + 1
    with wirerate.connect(server.path, timeout=60) as wr:
        wr.cmd("set 0 rate 100kpps; set 0 count 600000; " + ANYTHING)

        def wave(clients, requests):
            """Each sends blocks of requests and counts answers."""
            socks = {}
            for _ in range(clients):
                c = Raw(server.path)
                c.s.setblocking(False)
                socks[c.s] = {"left": requests, "answers": 0, "bad": 0}
            block = b'{"id":1,"ping":true}\n' * 40 + b'{"id":2,"cmd":"set 1 count 5"}\n' * 8 + b"nonsense\n" + b'{"id":3,"snapshot":"stats"}\n'
            lines = block.count(b"\n")
            todo = {s: b"" for s in socks}
            while any(v["answers"] < requests for v in socks.values()):
                readable, writable, _ = select.select(list(socks), [s for s, v in socks.items() if v["left"] > 0 or todo[s]], [], 30)
                assert readable or writable, "no client gets any further"
                for s in writable:
                    if not todo[s]:
                        todo[s], socks[s]["left"] = block, socks[s]["left"] - lines
                    with contextlib.suppress(BlockingIOError):
                        todo[s] = todo[s][s.send(todo[s]):]
                for s in readable:
                    data = s.recv(1 << 17)
                    assert data, "disconnected"
                    socks[s]["answers"] += data.count(b"\n")
                    socks[s]["bad"] += data.count(b"no JSON")
            for s, v in socks.items():
                assert v["answers"] == requests and v["bad"] == requests // lines
                s.close()

        def pests():
            made = []
            for n in range(20):
                c = Raw(server.path)
                c.s.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    kind = n % 4
                    if kind == 0:
                        c.s.send(random.randbytes(20000))
                    elif kind == 1:
                        c.s.send(b'{"id":1,"cmd":"show st')
                    elif kind == 2:
                        c.s.send(b"z" * 10_000_000)
                    else:  # asks and never reads
                        c.s.send(b'{"id":1,"cmd":"show stats"}\n' * 5000)
                made.append(c)
            return made

        wave(20, 500)
        assert server.settled_fds(before_fds) == before_fds
        before_kb = server.rss_kb()
        wr.cmd("clear all; start 0")
        made = pests()
        wave(100, 1000)
        for c in made:
            c.close()
        wr.cmd("wait 0")
        ports = wr.stats()["ports"]
        assert ports[0]["tx"]["packets"] == ports[1]["rx"]["packets"] == 600000
        assert ports[0]["tx"]["dropped"] == 0 and ports[1]["rx"]["missed"] == 0
        assert server.settled_fds(before_fds) == before_fds
        wave(20, 500)
        assert server.rss_kb() < before_kb + 20000
        t = wr.trial(0, "10kpps", "100ms")
        assert t["intended_frames"] == 1000 and t["fates"]["received"] == t["fates"]["sent"] > 0


def test_who_does_not_read_is_slowed_then_misses_events_then_goes(serve):
    server = serve("--rpc-limit", "out=64k", ports="null")
    slow = Raw(server.path)
    slow.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.send('{"id":0,"subscribe":["start","end"]}')
    assert slow.line()["ok"]
    with wirerate.connect(server.path, timeout=60) as wr:
        runs = 0
        for _ in range(5000):
            with contextlib.suppress(wirerate.Refused):  # a worker that has no CPU goes on for a while
                wr.cmd("start 0; stop 0")
                runs += 1
            if runs == 500:
                break
    lines = []
    while not lines or lines[-1]["event"] != "dropped":
        lines.append(slow.line())
        assert lines[-1] is not None and len(lines) < 1000, "nothing was dropped"
    assert lines[-1]["count"] > 0 and slow.ask('{"id":1,"ping":true}')
    # answers that do not fit
    e = Raw(server.path).ask('{"id":1,"cmd":"%s"}' % "; ".join(["show settings all"] * 200))
    assert e["id"] == 1 and not e["ok"] and e["error"]["code"] == "EMSGSIZE"
    # those that fit, and have more than half of what is allowed
    n = 48 * 1024 // len(json.dumps(Raw(server.path).ask('{"id":1,"cmd":"show stats"}')))
    e = Raw(server.path).ask('{"id":1,"cmd":"%s"}' % "; ".join(["show stats"] * n))
    assert e["ok"] and len(e["results"]) == n > 1
    # nor are they made first: this would be some gigabytes
    before, c = server.rss_kb(), Raw(server.path)
    for mode in ("json", "text"):
        e = c.ask('{"id":2,"mode":"%s","cmd":"%s"}' % (mode, "show settings all;" * 50000))
        assert e["id"] == 2 and e["error"]["code"] == "EMSGSIZE" and server.rss_kb() < before + 100000
    assert c.ask('{"id":3,"ping":true}') == {"id": 3, "ok": True}
    # answers that are not read until there are too many; who comes back long after does not hear it, who comes too early reads them all
    for _ in range(5):
        c = Raw(server.path)
        c.send('{"id":1,"mode":"text","cmd":"%s"}' % "; ".join(["show settings all; sleep 1ms"] * 400))
        time.sleep(0.5)
        last = c.line()
        while last is not None and "ok" not in last and "event" not in last:
            last = c.line()
        c.close()
        if last is not None and "event" in last:
            break
    assert last["event"] == "closed" and "fast enough" in last["text"]


def test_limits_are_kept(serve):
    server = serve("--rpc-limit", "clients=3,line=2k,queue=2,rate=100", ports="null")
    clients = [Raw(server.path) for _ in range(3)]
    more = Raw(server.path, greet=False).rest()
    assert more[0]["error"]["code"] == "EAGAIN" and more[1]["event"] == "closed"
    c = clients[0]
    assert c.ask("x" * 2001)["error"]["code"] == "EMSGSIZE" and "no JSON" in c.ask("x" * 2000)["error"]["text"]
    c.send("\n".join('{"id":%d,"cmd":"sleep 10s"}' % n for n in range(4)))
    answer = c.line()
    assert answer["id"] == 3 and answer["error"]["code"] == "EAGAIN"
    begin = time.monotonic()
    clients[1].send(b'{"id":1,"ping":true}\n' * 1300)  # 1000 at once, then 100 a second: read later, not refused
    assert all(clients[1].line()["ok"] for _ in range(1300))
    assert time.monotonic() - begin > 1.5
    clients[2].close()
    until(lambda: Raw(server.path).greeting.get("protocol") == 1, "room for one more")


def test_what_waits_has_its_bytes_counted(serve):
    c = Raw(serve("--rpc-limit", "line=10k,queue=1000", ports="null").path)
    long = "clear 0;" * 1200
    c.send("\n".join('{"id":%d,"cmd":"%s"}' % (n, "sleep 30s" if n == 0 else long) for n in range(6)))
    answer = c.line()
    assert answer["id"] == 5 and answer["error"]["code"] == "EAGAIN"
    c.send('{"id":6,"cancel":true}')
    answers = {a["id"]: a for a in (c.line() for _ in range(6))}
    assert answers[0]["error"]["code"] == "ECANCELED" and all(answers[n]["ok"] for n in (1, 2, 3, 4, 6))


def test_no_file_descriptors_left(serve):
    """Nobody more can be let in; those who are there are served, and later ones are when there is room."""
    server = serve(ports="null")
    first = Raw(server.path)
    resource.prlimit(server.proc.pid, resource.RLIMIT_NOFILE, (server.fds() + 2, 4096))
    more = []
    for _ in range(4):
        c = Raw(server.path, greet=False)
        c.s.settimeout(60)
        more.append(c)
    assert more[0].line()["protocol"] == 1
    server.wait_for("cannot let a client in")
    assert first.ask('{"ping":true}')["ok"]
    resource.prlimit(server.proc.pid, resource.RLIMIT_NOFILE, (4096, 4096))
    assert more[3].line()["protocol"] == 1


@pytest.mark.parametrize("option,says", [
    (["--rpc-limit", "clinets=5"], "clients"), (["--rpc-limit", "clients"], "NAME=VALUE"), (["--rpc-limit", "clients=0"], "1"),
    (["--rpc-limit", "line=1k,"], "there are"), (["--rpc-allow", "file"], "files"), (["--socket=a b"], "letters"), (["--socket=.x"], "letters"),
    (["--socket=/" + "x" * 120], "bytes"), (["-g", "22022"], ":22022"), (["-g", "127.0.0.1:x"], "65535"), (["-g", "::1"], "[ADDRESS]:PORT"),
    (["-g", "127.0.0.1:65536"], "65535")])
def test_wrong_options(tmp_path, option, says):
    token = tmp_path / "t"
    token.write_text(TOKEN)
    token.chmod(0o600)
    r = harness.run(["--token-file", str(token), *option, "-p", "null", "show", "ports"])
    assert r.returncode == 2 and says in r.stderr and r.stdout == ""
