# SPDX-License-Identifier: BSD-3-Clause
"""What somebody does who may talk to the sockets and means harm. Each attack is a function of the siege, bounded in time; none of
them touches port 0, which sends."""
import json
import os
import random
import socket
import time

PAUSE_S = 0.05
STAY_S = 3.0  # who only sits there

# Chunks of Lua, by what they are about.
RECURSION = [
    "local function f() string.gsub('x', 'x', f) end f()",
    "local function f() coroutine.wrap(function() string.gsub('x', 'x', f) end)() end f()",
    "local function f() coroutine.wrap(f)() end f()",
    "local function f() local c = coroutine.create(f) coroutine.resume(c) end f()",
    "local function f() pcall(f) end f()",
    "local function f() xpcall(f, f) end f()",
    "local function f() xpcall(error, f) end f()",
    "local function f() table.sort({3, 2, 1}, function(a, b) f() return a < b end) end f()",
    "local t = setmetatable({}, {}) getmetatable(t).__tostring = function(s) return tostring(s) end tostring(t)",
    "local t = setmetatable({}, {}) getmetatable(t).__index = function(s, k) return s[k .. 'x'] end return t.a",
    "local t = setmetatable({}, {}) getmetatable(t).__newindex = function(s, k, v) s[k] = v end t.a = 1",
    "local t = setmetatable({}, {}) getmetatable(t).__call = function(s) return s() end t()",
    "local t = setmetatable({}, {}) getmetatable(t).__eq = function(a, b) return a == setmetatable({}, getmetatable(a)) end "
    "return t == setmetatable({}, getmetatable(t))",
    "local t = setmetatable({}, {}) getmetatable(t).__concat = function(a, b) return a .. b end return t .. 'x'",
    "local t = setmetatable({}, {}) getmetatable(t).__lt = function(a, b) return a < b end return t < t",
    "local t = setmetatable({}, {}) getmetatable(t).__unm = function(a) return -a end return -t",
    "local t = setmetatable({}, {}) getmetatable(t).__len = function(a) return #a end return #t",
    "local t = setmetatable({}, {}) getmetatable(t).__tostring = function(s) print(s) return 'x' end print(t)",
    "local function f() table.foreach({1}, f) end f()",
    "local function f() string.format('%s', setmetatable({}, {__tostring = f})) end f()",
    "local function f() for _ in string.gmatch('x', 'x') do string.gsub('x', 'x', f) end end f()",
    "local function f() load(f) end f()",
    "local function f() return f() + 1 end f()",
    "local function f() wr.try(setmetatable({}, {__tostring = f})) end f()",
    "local function f() error(setmetatable({}, {__tostring = f})) end f()",
    "local function f() wr.every('1ms', f) end f() wr.sleep('1s')",
    "local t = {} for i = 1, 1e5 do t = setmetatable({}, {__index = t}) end return t.x",
    "local s = string.rep('(', 1e5) .. string.rep(')', 1e5) return load('return ' .. s)",
    "return load(string.rep('do ', 1e5))",
    "return load('return ' .. string.rep('{', 2e5))",
    "return load('return ' .. string.rep('-', 1e6) .. '1')",
    "return load(string.rep('x=function() ', 1e5))",
    "return load('local a = ' .. string.rep('a..', 3e5) .. 'a')",
]
LOOPS = [
    "while true do wr.try('show streams 1') end",
    "while true do wr.try('help') end",
    "while true do wr.try('show plan') end",
    "while true do wr.try('show snapshot stats,ports,log') end",
    "while true do wr.try('nonsense') end",
    "while true do pcall(wr.cmd, 'set 1 rate 10%') end",
    "while true do wr.port[1].rate = '10%' end",
    "while true do wr.stats() end",
    "while true do pcall(wr.stats) end",
    "while true do local x = wr.port[1].rate end",
    "while true do wr.try('stream add 1 16') wr.try('stream delete 1/1-16') end",
    "while true do wr.try('show page main') end",
    "while true do wr.try('show frame 1') end",
    "while true do wr.try('show latency') wr.try('reset 1') end",
    "while true do end",
    "while true do pcall(function() while true do end end) end",
    "local function f() while true do end end while true do xpcall(f, f) end",
    "while true do pcall(error) end",
    "while true do coroutine.wrap(function() while true do end end)() end",
    "repeat local ok = pcall(string.rep, 'x', 1e9) until false",
    "local t = {} for i = 1, 1e4 do t[i] = wr.every('1ms', function() for j = 1, 1e6 do end end) end wr.sleep('2s')",
    "wr.on('interval', function() while true do end end) wr.sleep('2s')",
    "table.sort((function() local t = {} for i = 1, 1e5 do t[i] = i end return t end)(), function() for i = 1, 1e4 do end return true end)",
    "string.gsub(string.rep('x', 1e6), 'x', function() for i = 1, 1e3 do end end)",
]
GROWING = [
    "return cjson.decode('[' .. string.rep('[],', 1300000) .. '0]')",
    "return cjson.decode(string.rep('[', 1e6))",
    "return cjson.decode('[' .. string.rep('{\"a\":{}},', 4e5) .. '0]')",
    "return cjson.decode('{' .. string.rep('\"a\":1,', 5e5) .. '\"b\":2}')",
    "return cjson.decode('[' .. string.rep('\"' .. string.rep('x', 100) .. '\",', 5e4) .. '0]')",
    "while true do pcall(cjson.decode, '[' .. string.rep('[],', 1e5) .. '0]') end",
    "local t = {} for i = 1, 40 do t = {t, t} end return cjson.encode(t)",
    "local t = {} t.t = t return cjson.encode(t)",
    "local t = {} for i = 1, 1e5 do t = {t} end return cjson.encode(t)",
    "local t = {} for i = 1, 40 do t = {t, t} end return t",
    "local t = {} for i = 1, 1e5 do t = {t} end return t",
    "return cjson.encode({string.rep('\\1', 5e6)})",
    "return string.rep('x', 1e9)",
    "return (string.rep('x', 1e5):gsub('x', string.rep('y', 1e4)))",
    "return string.format('%99d', 1):rep(1e8)",
    "local t = {} for i = 1, 1e9 do t[i] = {} end",
    "local t = {} while true do t[#t + 1] = string.rep('x', 1e6) .. #t end",
    "local t = {} for i = 1, 1e6 do t[i] = string.rep('x', 1000) end return table.concat(t)",
    "local s = 'x' while true do s = s .. s end",
    "local t = {} while true do t[#t + 1] = coroutine.create(function() coroutine.yield() end) coroutine.resume(t[#t]) end",
    "local t = {} while true do t[#t + 1] = coroutine.wrap(function(...) local a = {...} coroutine.yield() end) t[#t](1, 2, 3) end",
    "while true do print(string.rep('x', 1e6)) end",
    "while true do print('x') end",
    "local t = {} while true do t[#t + 1] = wr.stats() end",
    "local t = {} while true do t[#t + 1] = wr.show('streams 1') end",
    "while true do wr.cmd('show stats') end",
    "while true do wr.expect(false, string.rep('x', 1e5)) end",
    "while true do wr.every('1h', function() end) end",
    "while true do wr.on('link', function() end) end",
    "error(string.rep('x', 1e7))",
    "error(setmetatable({}, {__tostring = function() return string.rep('x', 1e7) end}))",
    "return unpack({}, 1, 1e7)",
    "return string.byte(string.rep('x', 1e6), 1, 1e6)",
    "return select('#', unpack({}, 1, 7000))",
    "local s = string.rep('a', 3e4) return s:find(string.rep('.-', 12) .. 'b')",
    "local s = string.rep('a', 1e5) return s:find(string.rep('a?', 30) .. string.rep('a', 30) .. 'b')",
    "return string.rep('x', 1e5):match(string.rep('(x', 200))",
    "return ('x'):rep(1e6):find('.*.*.*.*.*y')",
    "return string.dump(function() end)",
    "return load(string.dump(function() end))",
    "for i = 1, 1e7 do _G['x' .. i] = i end",
    "string.rep = nil wr.port = nil tostring = nil print = nil cjson = nil return 1",
    "return setmetatable({}, {__gc = function() while true do end end})",
    "local p = newproxy and newproxy(true) if p then getmetatable(p).__gc = function() while true do end end end p = nil collectgarbage()",
]
SHAPES = {"recursion": RECURSION, "loops": LOOPS, "growing": GROWING}
CONTROLS = [f"\\u{c:04x}" for c in [*range(1, 32), 127, *range(0x80, 0xa0)]]


class Line:
    """A connection that says what it likes, and gives up after a while."""

    def __init__(self, siege, tcp=False, token=True, timeout=STAY_S):
        self.s = socket.socket(socket.AF_INET if tcp else socket.AF_UNIX)
        self.s.settimeout(timeout)
        self.s.connect(siege.tcp if tcp else siege.path)
        self.rest = b""
        if tcp and token:
            self.say({"auth": siege.token})

    def raw(self, data):
        self.s.sendall(data)

    def say(self, request):
        self.raw(json.dumps(request).encode() + b"\n")

    def read(self):
        """A line, or None at the end."""
        while b"\n" not in self.rest:
            more = self.s.recv(1 << 16)
            if not more:
                return None
            self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        return line

    def answer(self):
        """The next line with `ok`."""
        while True:
            line = self.read()
            if line is None or b'"ok":' in line:
                return line

    def close(self):
        self.s.close()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()


def chunk(siege, text, tcp=False):
    """One chunk, waited for until its limit of time is over."""
    with Line(siege, tcp, timeout=siege.lua_s + 20) as line:
        line.say({"id": 1, "lua": text})
        line.answer()


def attack_lua(kind):
    def attack(siege, rnd):
        chunk(siege, rnd.choice(SHAPES[kind]), tcp=rnd.random() < 0.3)
    return attack


def attack_lua_and_go(siege, rnd):
    """Begun, and gone before it ends."""
    with Line(siege) as line:
        line.say({"lua": rnd.choice(rnd.choice(list(SHAPES.values())))})
        time.sleep(rnd.random())


def attack_long_line(siege, rnd):
    """10 MB, with or without an end."""
    with Line(siege, tcp=rnd.random() < 0.5, timeout=10) as line:
        part = rnd.choice([b"x", b"\0", b"[", b'{"a":', b'"', b"\xff", b" "]) * 65536
        for _ in range(10_000_000 // len(part) + 1):
            line.raw(part)
        line.raw(rnd.choice([b"", b"\n"]))


def attack_half_lines(siege, rnd):
    lines = [Line(siege) for _ in range(4)]
    for line in lines:
        line.raw(b'{"id":1,"cmd":"show st')
    time.sleep(rnd.random() * STAY_S)
    for line in lines:
        line.close()


def attack_garbage(siege, rnd):
    with Line(siege, tcp=rnd.random() < 0.5) as line:
        for _ in range(50):
            line.raw(rnd.randbytes(rnd.randrange(1, 4000)) + b"\n")


def attack_deep_request(siege, rnd):
    with Line(siege) as line:
        line.raw(rnd.choice([b'{"id":' + b"[" * 100000, b"[" * 500000, b'{"a":' * 50000,
                             b'{"id":"' + b"\\u0000" * 50000 + b'","ping":true}']) + b"\n")
        line.answer()


def attack_silent(siege, rnd):
    """Those who give no token, in all places there are for them."""
    lines = []
    try:
        for _ in range(24):
            lines.append(Line(siege, tcp=True, token=False))
            if rnd.random() < 0.3:
                lines[-1].raw(rnd.choice([b'{"auth":"wrong"}\n', b'{"auth":', b"\n" * 1000, b"GET / HTTP/1.0\r\n\r\n"]))
        time.sleep(STAY_S)
    finally:
        for line in lines:
            line.close()


def attack_many(siege, rnd):
    """Hundreds of connections at once."""
    lines = []
    try:
        for _ in range(300):
            lines.append(Line(siege))
            if rnd.random() < 0.1:
                lines[-1].say({"subscribe": ["link", "interval", "log"]})
    except OSError:
        pass  # no more are taken
    time.sleep(rnd.random())
    for line in lines:
        line.close()


def attack_never_read(siege, rnd):
    """Asks for much and reads nothing."""
    with Line(siege, tcp=rnd.random() < 0.5, timeout=5) as line:
        ask = rnd.choice([{"cmd": "show stats"}, {"cmd": "help", "mode": "text"}, {"snapshot": "stats,ports,log"}, {"ping": True}, {"progress": True},
                          {"complete": "set 1 ", "cursor": 6}, {"cmd": "show nothing"}])
        line.say({"subscribe": ["interval", "log", "link", "start", "state"]})
        for _ in range(rnd.choice((10, 1000, 20000))):
            line.say(ask)
        time.sleep(STAY_S)


def attack_many_commands(siege, rnd):
    with Line(siege, timeout=20) as line:
        line.say({"cmd": "; ".join(["show stats"] * 2000 if rnd.random() < 0.5 else ["set 1 rate 1kpps", "set 1 size 64"] * 5000)})
        line.answer()


def attack_completion(siege, rnd):
    with Line(siege) as line:
        for text in ("", "set 1 ", "set 1 frame " + "eth/" * 500, "show " * 1000, "lua wr.", "lua " + "wr." * 2000, "set " + "1," * 5000):
            line.say({"complete": text, "cursor": rnd.choice((0, len(text), 10**9, -1))})
            line.answer()


READ = ["script {}", "load {}", "set 1 pattern.file {}", "set 1 request.file {}", "theme load {}", "lua 'dofile(\"{}\")'"]
WRITTEN = ["save {}", "theme save {}", "latency save {}"]


# Only to be read: root's `save` must not find them.
DEVICES = ["/dev/zero", "/dev/random", "/dev/full", "/dev/tty", "/proc/self/mem", "/proc/kmsg"]


def attack_files(siege, rnd):
    """Names of what is no ordinary file, from who may name files."""
    with Line(siege, timeout=10) as line:
        verb, names = rnd.choice(((READ, siege.odd_files + DEVICES), (WRITTEN, siege.odd_files)))
        line.say({"id": 1, "cmd": rnd.choice(verb).format(rnd.choice(names))})
        if line.answer() is not None and rnd.random() < 0.3:
            line.say({"id": 2, "cmd": "reset 1"})
            line.answer()


def attack_controls(siege, rnd):
    """Escape sequences in everything that is repeated in a message."""
    with Line(siege) as line:
        text = "".join(rnd.choice(CONTROLS) for _ in range(8)) + "\\u001b]0;owned\\u0007\\u001b[2J\\u009b31m"
        for verb in ("", "set 1 ", "show ", "help ", "load ", "theme load ", "page ", "set 1 rate ", "lua error\\\"", "stream add "):
            line.raw(b'{"id":1,"cmd":"' + (verb + text).encode() + b'"}\n')
            line.answer()


def attack_cancel(siege, rnd):
    with Line(siege) as line:
        for _ in range(200):
            line.say({"lua": rnd.choice(LOOPS)})
            line.say({"cancel": rnd.choice((True, "all"))})
        time.sleep(0.5)


def attack_huge_settings(siege, rnd):
    with Line(siege, timeout=20) as line:
        for cmd in ("stream add 1 4000", "show streams 1", "set 1/all frame " + "/".join(["eth"] + ["vlan"] * 60 + ["ipv4", "udp"]),
                    "set 1/all size 64..9000", "set 1 udp.src list " + ",".join(str(i) for i in range(5000)),
                    "show snapshot streams:1", "show streams 1", "reset 1"):
            line.say({"id": 1, "cmd": cmd})
            if line.answer() is None:
                return


ATTACKS = {
    "lua recursion": attack_lua("recursion"),
    "lua loops": attack_lua("loops"),
    "lua growing": attack_lua("growing"),
    "lua and go": attack_lua_and_go,
    "long line": attack_long_line,
    "half lines": attack_half_lines,
    "garbage": attack_garbage,
    "deep request": attack_deep_request,
    "silent": attack_silent,
    "many connections": attack_many,
    "never read": attack_never_read,
    "many commands": attack_many_commands,
    "completion": attack_completion,
    "odd files": attack_files,
    "controls": attack_controls,
    "cancel": attack_cancel,
    "huge settings": attack_huge_settings,
}


def odd_files(folder):
    """What is no ordinary file, or far too large for one."""
    os.mkfifo(os.path.join(folder, "fifo"))
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(os.path.join(folder, "socket"))
    with open(os.path.join(folder, "sparse"), "wb") as f:
        f.truncate(10 << 30)
    os.symlink("loop", os.path.join(folder, "loop"))
    return [os.path.join(folder, name) for name in ("fifo", "socket", "sparse", "loop", ".", "nowhere/x")]


def besiege(siege, number, until):
    """One attacker: one thing after the other. What it is about stands in siege.now."""
    rnd = random.Random(siege.seed * 1000 + number)
    names = sorted(siege.attacks)
    while time.monotonic() < until and siege.alive():
        name = rnd.choice(names)
        siege.now[number] = name
        try:
            ATTACKS[name](siege, rnd)
            siege.done[name] += 1
        except (OSError, ValueError):
            siege.refused[name] += 1  # the connection was ended, or was not taken
            time.sleep(PAUSE_S)
