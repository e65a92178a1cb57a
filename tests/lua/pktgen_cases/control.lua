-- SPDX-License-Identifier: BSD-3-Clause
-- Starting and stopping, time, files, the screen.
local wr = require "wirerate"
local pktgen = require "Pktgen"
local host = require "wirerate.pktgen.host"
local shows = require "pktgen_cases.shows"
local settings, is, frame, same = shows.settings, shows.is, shows.frame, shows.same
local refused, send, nothing, took = shows.refused, shows.send, shows.nothing, shows.took
local dir = shows.dir
local two = #wr.ports() > 1
local cases = shows.cases

function cases.set()
    for what, v in pairs({count = 7, burst = 16, rxburst = 8}) do
        pktgen.set("0", what, v)
        is("0", what, tostring(v))
    end
    pktgen.set(0, "txburst", "17")
    is("0", "burst", "17")
    pktgen.set("0", "size", 100)
    is("0/0", "size", "100")
    pktgen.set("0", "size", 64)
    is("0/0", "size", "auto")
    pktgen.set("0", "rate", 12.5)
    is("0", "rate", "12.5%")
    pktgen.set("0", "rate", 1e-3)
    is("0", "rate", "0.001%")
    pktgen.set("0", "rate", 0)
    is("0", "rate", "0.01%")
    pktgen.set("0", "rate", 250)
    is("0", "rate", "100%")
    pktgen.set("0", "sport", 4000)
    pktgen.set("0", "dport", 4001)
    pktgen.set("0", "ttl", 9)
    is("0/0", "udp.src", "4000")
    is("0/0", "udp.dst", "4001")
    is("0/0", "ipv4.ttl", "9")
    -- values wait for their header
    pktgen.set_type("0", "arp")
    pktgen.set("0", "sport", 5000)
    pktgen.set_type("0", "ipv4")
    pktgen.set_proto("0", "udp")
    is("0/0", "udp.src", "5000")
    pktgen.set("0", "seqCnt", 2)
    pktgen.set("0", "seq_cnt", 0)
    pktgen.set("0", "prime", 2)
    pktgen.set("0", "dump", 2)
    pktgen.set("0", "cycles", 1000)
    refused("no number", pktgen.set, "0", "count", "many")
    refused("no whole number", pktgen.set, "0", "count", 1.5)
    refused("missing", pktgen.set, "0", "count")
    refused('there is no "speeed"', pktgen.set, "0", "speeed", 1)
    refused("the port list", pktgen.set, nil, "count", 1)
    refused("the port list", pktgen.set, "0;quit", "count", 1)
    refused("port", pktgen.set, "77", "count", 1)
    refused("above 0 to 100", pktgen.set, "0", "rate", -5)
    refused("rate", pktgen.set, "0", "rate", 0 / 0)
end

function cases.start()
    pktgen.set("0", "rate", 0.001)
    pktgen.start("0")
    same(pktgen.isSending("0")[0], "y", "isSending")
    pktgen.start("0")
    pktgen.start("all")
    same(pktgen.isSending("all").n, pktgen.portCount(), "n")
    pktgen.stop("all")
    same(pktgen.isSending("0")[0], "n", "isSending after stop")
    -- 64 is what has no room for IPv6 and a probe
    pktgen.set("0", "size", 64)
    pktgen.set_type("0", "ipv6")
    pktgen.latency("0", "on")
    send(3)
    wr.expect(frame().size > 64, "the frame is larger")
end

function cases.stop()
    pktgen.stop("0")
    pktgen.set("0", "rate", 0.001)
    pktgen.start(0)
    pktgen.stop(0)
    same(wr.stats().ports[0].run.state, "idle", "state")
end

function cases.prime()
    nothing("prime", "0")
end

-- Both ends of the wire become hosts, whose streams go to each other. false: the port can be none.
local function hosts(kind, a, b)
    if not two then
        return false
    end
    host.run("set 0 ip %s", a)
    host.run("set 1 ip %s", b)
    pktgen.set_type("all", kind)
    pktgen.set_ipaddr("0", "dst", b)
    pktgen.set_ipaddr("1", "dst", a)
    return true
end

local function heard(port, word)
    for _, p in pairs(host.run("show host").ports) do
        if type(p) == "table" and p.port == port then
            return p.answered[word]
        end
    end
end

function cases.send_arp()
    refused("neither", pktgen.send_arp, "0", "x")
    if not hosts("ipv4", "10.0.0.1/24", "10.0.0.2/24") then
        nothing("send_arp", "0", "g")
        nothing("send_arp", "0", "r")
        return
    end
    pktgen.send_arp("all", "r")
    local before = heard(1, "arp")
    nothing("send_arp", "0", "R")
    same(heard(1, "arp"), before + 1, "questions that were answered")
    nothing("send_arp", "all", "g")
    refused("no port 9", pktgen.send_arp, "9", "req")
end

function cases.ping4()
    if not hosts("ipv4", "10.0.0.1/24", "10.0.0.2/24") then
        nothing("ping4", "0")
        return
    end
    local before = heard(1, "ping") or 0
    nothing("ping4", "all")
    same(heard(1, "ping"), before + 1, "pings that were answered")
    refused("no port 9", pktgen.ping4, "9")
end

function cases.ping6()
    if not hosts("ipv6", "fd00::1/64", "fd00::2/64") then
        nothing("ping6", "0")
        return
    end
    local before = heard(1, "ping") or 0
    nothing("ping6", "0")
    same(heard(1, "ping"), before + 1, "pings that were answered")
    refused("no port 9", pktgen.ping6, "9")
end

function cases.delay()
    took(3e6, pktgen.delay, 3)
    pktgen.delay(0)
    refused("number of milliseconds", pktgen.delay, "long")
    refused("number of milliseconds", pktgen.delay, -1)
end

function cases.sleep()
    took(2e6, pktgen.sleep, 0.002)
    refused("missing", pktgen.sleep)
end

function cases.pause()
    took(2e6, pktgen.pause, "a pause\n", 2)
end

function cases.load()
    local f = assert(io.open(dir .. "/some.cmds", "w"))
    f:write("# settings alone\nset 0 count 5\nset 0 size 200\n")
    f:close()
    pktgen.load(dir .. "/some.cmds")
    is("0", "count", "5")
    is("0/0", "size", "200")
    f = assert(io.open(dir .. "/more.pkt", "w"))
    f:write("set 0 count 6\nclear all\ndelay 1\nstart 0\nstop 0\n")
    f:close()
    pktgen.load(dir .. "/more.pkt")
    is("0", "count", "6")
    f = assert(io.open(dir .. "/some.lua", "w"))
    f:write("pktgen.set('0', 'count', 8)\n")
    f:close()
    pktgen.load(dir .. "/some.lua")
    is("0", "count", "8")
    f = assert(io.open(dir .. "/bad.cmds", "w"))
    f:write("set 0 count 9\nset 0 rate abc\n")
    f:close()
    refused("rate", pktgen.load, dir .. "/bad.cmds")
    is("0", "count", "8")
    refused("no-such-file", pktgen.load, dir .. "/no-such-file")
end

function cases.save()
    pktgen.set("0", "count", 31)
    pktgen.seq(0, "0", "02:00:00:00:00:a0", "02:00:00:00:00:b0", "10.0.0.1", "10.0.1.1/24", 1, 2, "ipv4", "udp", 1, 96)
    local before = settings("all/all")
    for _, name in ipairs({"saved.pkt", "saved.lua"}) do
        pktgen.save(dir .. "/" .. name)
        pktgen.reset("all")
        is("0", "count", "0")
        pktgen.load(dir .. "/" .. name)
        local after = settings("all/all")
        for k, v in pairs(before) do
            same(after[k], v, k .. " after a load of " .. name)
        end
    end
end

function cases.run()
    pktgen.run("cmd", "set 0 count 41", 0)
    is("0", "count", "41")
    pktgen.run("lua", "pktgen.set('0', 'count', 42)")
    is("0", "count", "42")
    local f = assert(io.open(dir .. "/run.cmds", "w"))
    f:write("set 0 count 43\n")
    f:close()
    pktgen.run("cmd", dir .. "/run.cmds", 0)
    is("0", "count", "43")
    refused("allowed: cmd, lua", pktgen.run, "shell", "ls")
    refused("rate", pktgen.run, "cmd", "set 0 rate abc", 0)
    refused("run", pktgen.run, "lua", "this is none", 0)
end

function cases.clear()
    send(10)
    pktgen.clear("0")
    same(wr.stats().ports[0].tx.packets, 0, "packets")
end

function cases.clr()
    send(10)
    pktgen.clr()
    same(pktgen.portStats("0")[0].curr.opackets, 0, "packets")
end

function cases.cls()
    pktgen.cls()
end

function cases.update()
    pktgen.update()
end

function cases.reset()
    pktgen.set("all", "count", 77)
    pktgen.reset("0")
    is("0", "count", "0")
    if two then
        is("1", "count", "77")
    end
end

function cases.port_restart()
    nothing("port_restart", "0")
end

function cases.portCount()
    same(pktgen.portCount(), #wr.ports(), "portCount")
end

function cases.totalPorts()
    same(pktgen.totalPorts(), #wr.ports(), "totalPorts")
end

function cases.screen()
    pktgen.screen("off")
    pktgen.screen("on")
end

function cases.page()
    for _, name in ipairs({"main", "range", "cpu", "system", "sys", "next", "sequence", "seq", "rnd", "log", "latency", "lat", "stats",
                   "qstats", "xstats", "pcap", "config", "rate", 0, "1"}) do
        pktgen.page(name)
    end
    refused("missing", pktgen.page)
end

function cases.port()
    pktgen.port(0)
    pktgen.port("0")
    refused("port", pktgen.port, 99)
end

function cases.ports_per_page()
    pktgen.ports_per_page(2)
    same(tostring(wr.try("show settings") and host.row("set", "pages.ports") ~= nil), "true", "the row")
    refused("1 to 6", pktgen.ports_per_page, 7)
end

cases["continue"] = function()
    same(type(pktgen.continue("a key? ")), "string", "key")
end

function cases.input()
    same(type(pktgen.input("a line? ")), "string", "line")
end

function cases.help()
    local text = pktgen.help()
    wr.expect(text:find("pktgen.seqTable", 1, true), "help")
    local marked = text:find("pktgen.port_restart(P)\n    stop and start the devices (not in this version)", 1, true) ~= nil
    same(marked, host.later("restart"), "port_restart is marked")
end

cases["Lua.help"] = function()
    wr.expect(pktgen["Lua.help"]():find("dpdk.port_stats", 1, true), "Lua.help")
end
