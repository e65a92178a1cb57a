-- SPDX-License-Identifier: BSD-3-Clause
-- A test suite for CI: tests what a device that forwards has to do, with `expect`. The exit code is
-- 0 if all tests pass, and 1 if one fails.
--
--   wirerate -p wire -b -f suite.lua
--   wirerate -p wire -b -e 'script suite.lua only=vlan'
--
-- To see how a failure looks, put `-e "set 0 wire loss every 100"` before the script.
local wr = require "wirerate"
local args = require "wirerate.args"

local o = args({from = 0, to = 1, frames = 1000, rate = "20kpps", only = ""}, ...) -- on real ports: yours

local port, peer = wr.port[o.from], wr.port[o.to]
wr.at_end("stop " .. o.from) -- also when it is interrupted
local tests = {}

local function test(name, fn)
    tests[#tests + 1] = {name = name, fn = fn}
end

-- Sends, waits, and returns what left and what arrived.
local function run()
    port.rate = o.rate
    port.count = o.frames
    wr.clear("all")
    wr.start(o.from)
    wr.wait(o.from)
    local stats = wr.stats()
    return stats.ports[o.from].tx, stats.ports[o.to].rx
end

local function arrives(what)
    local tx, rx = run()
    wr.expect(tx.packets == o.frames, ("%s: %d of %d frames were sent"):format(what, tx.packets, o.frames))
    wr.expect(rx.packets == tx.packets, ("%s: %d of %d frames arrived"):format(what, rx.packets, tx.packets))
    wr.expect(rx.bytes == tx.bytes, ("%s: %d of %d bytes arrived"):format(what, rx.bytes, tx.bytes))
end

test("links", function()
    for number, p in wr.each(wr.stats().ports) do
        if number == o.from or number == o.to then
            wr.expect(p.link == "up", ("port %d: the link is %s"):format(number, p.link))
        end
    end
end)

test("sizes", function()
    for _, size in ipairs({64, 65, 127, 128, 512, 1024, 1518}) do
        port.size = size
        arrives(size .. " bytes")
    end
    port.size = "default"
end)

test("headers", function()
    for _, frame in ipairs({"eth/ipv4/udp", "eth/ipv4/tcp", "eth/ipv6/udp", "eth/arp", "eth/mpls/ipv4/udp"}) do
        port.frame = frame
        arrives(frame)
    end
    port.frame = "default"
end)

test("vlan", function()
    port.frame = "eth/vlan/ipv4/udp"
    port["vlan.vid"] = "1..4094"
    arrives("VLAN tags 1 to 4094")
    port["vlan.vid"] = "default"
    port.frame = "default"
end)

test("order", function()
    port.frame = "eth/ipv4/udp"
    port.probe = "on"
    peer.verify = "on"
    run()
    local c = wr.latency(o.to).ports[o.to].counts
    for _, name in ipairs({"lost", "duplicated", "reordered", "corrupted", "late"}) do
        wr.expect(c[name] == 0, ("%s of %d frames %s"):format(c[name] or "an unknown number", o.frames, name))
    end
    peer.verify = "default"
    port.probe = "default"
    port.frame = "default"
end)

local ran, bad = 0, 0
for i, t in ipairs(tests) do
    wr.progress(i - 1, #tests, t.name)
    if o.only == "" or o.only == t.name then
        local failed = false
        local expect = wr.expect
        wr.expect = function(cond, text) -- notes whether this test has failed
            failed = failed or not cond
            return expect(cond, t.name .. ": " .. text)
        end
        t.fn()
        wr.expect = expect
        ran, bad = ran + 1, bad + (failed and 1 or 0)
        print((failed and "FAIL  " or "ok    ") .. t.name)
    end
end
print(("%d tests, %d failed"):format(ran, bad))
wr.expect(ran > 0, "there is a test named " .. o.only)
