-- SPDX-License-Identifier: BSD-3-Clause
-- Starting and stopping, the settings of a port that are not about its frames, and what has to be
-- settled right before a start.
local wr = require "wirerate"
local host = require "wirerate.pktgen.host"
local pktgen, fail, run, ports, each = host.pktgen, host.fail, host.run, host.ports, host.each
local function def(...)
    host.def(pktgen, ...)
end

-- ---- set ----

local GTPU_PORT = 2152

-- Sets a value of a header. If the frame does not have that header (sport while it is ARP), the
-- value waits until it does.
local function set_word(P, word, v)
    local list = ports(P)
    local value = host.integer(v, word, 0, 65535)
    for _, p in ipairs(each(P)) do
        host.state(p).waiting[word] = nil
    end
    local ok, e = host.try(("set %s %s %d"):format(list, word, value))
    if ok ~= nil then
        return
    end
    for _, p in ipairs(each(P)) do
        local done
        done, e = host.try(("set %d %s %d"):format(p, word, value))
        if done == nil and host.get(p, word) ~= nil then
            fail("%s", e.text)
        end
        host.state(p).waiting[word] = done == nil and value or nil
    end
end

function host.put_waiting(P)
    for _, p in ipairs(each(P)) do
        local waiting = host.state(p).waiting
        for word, value in pairs(waiting) do
            if host.try(("set %d %s %d"):format(p, word, value)) ~= nil then
                waiting[word] = nil
            end
        end
    end
end

-- Sets the frame size. For Pktgen 64 is the least size: it sends larger frames if headers or a time
-- stamp need more room. The size `auto` does the same here.
local function set_size(P, v)
    local size = host.size(host.integer(v, "size"), "size")
    run("set %s size %s", ports(P), size == "64" and "auto" or size)
    for _, p in ipairs(each(P)) do
        host.state(p).small = size == "64"
    end
end

-- Sets the rate in percent. 0 becomes 0.01 and more than 100 becomes 100, as in Pktgen, with a
-- remark.
local function set_rate(P, v)
    local rate = tonumber(v)
    if rate == nil then
        fail("rate is %s, and no number; it is percent of the link speed", v == nil and "missing" or '"' .. tostring(v) .. '"')
    end
    if rate < 0 or rate ~= rate then
        fail("rate is %s; it is percent of the link speed, above 0 to 100", tostring(v))
    end
    if rate == 0 or rate > 100 then
        local taken = rate == 0 and 0.01 or 100
        host.warn("rate %s is taken for %s %%, as in Pktgen", host.text(rate, "rate"), host.text(taken, "rate"))
        rate = taken
    end
    run("set %s rate %s%%", ports(P), host.text(rate, "rate"))
end

local function number_row(row)
    return function(P, v)
        run("set %s %s %s", ports(P), row, host.text(host.integer(v, row), row))
    end
end

local function later_row(row)
    return function(P, v, what)
        ports(P)
        if host.later("set", row) then
            host.tell_later('pktgen.set(P, "' .. what .. '")')
            return
        end
        run("set %s %s %s", ports(P), row, host.word(v, what))
    end
end

local function word_row(word)
    return function(P, v)
        set_word(P, word, v)
    end
end

local sets = {
    count = number_row("count"), size = set_size, rate = set_rate, burst = number_row("burst"), txburst = number_row("burst"),
    rxburst = number_row("rxburst"), sport = word_row("sport"), dport = word_row("dport"), ttl = word_row("ttl"),
    seq_cnt = number_row("seq_cnt"), seqcnt = number_row("seq_cnt"), cycles = later_row("tx_cycles"), tx_cycles = later_row("tx_cycles"),
    prime = later_row("prime"), dump = later_row("dump"),
}

def("set", "P, what, value", "count, size, rate (percent), burst, txburst, rxburst, sport, dport, ttl, seq_cnt, prime, dump, cycles",
    function(P, what, v)
    local fn = sets[tostring(what):lower()]
    if fn == nil then
        fail('there is no "%s"; allowed: count, size, rate, burst, txburst, rxburst, cycles, sport, dport, ttl, seq_cnt, seqCnt, prime, dump',
             tostring(what))
    end
    fn(P, v, tostring(what))
end)

-- ---- start and stop ----

-- Adds or removes the GTP-U header. Pktgen does so when it builds its frames at a start: udp to
-- port 2152 carries GTP-U.
local function settle_gtpu(p)
    local s, range = host.state(p), host.get(p, "ranges") == true
    local proto = host.get(p, range and "range.proto" or "proto")
    local dport = range and tostring(host.get(p, "range.dst-port")):match("^%S+") or host.get(p, "dport")
    local want = proto == "udp" and tonumber(dport) == GTPU_PORT
    if want and not s.gtpu and host.get(p, "with.gtpu") ~= true then
        s.gtpu = host.get(p, "proto")
        run("set %d proto udp", p)
        run("set %d with.gtpu on", p)
    elseif not want and s.gtpu then
        host.try(("set %d with.gtpu off"):format(p))
        if s.gtpu ~= "udp" and host.get(p, "proto") == "udp" then
            run("set %d proto %s", p, s.gtpu)
        end
        s.gtpu = nil
    end
end

local function settle_size(p)
    if not host.state(p).small or (host.get(p, "ranges") == true and host.get(p, "range.size") ~= nil) then
        return
    end
    local doc = host.try(("show frame %d"):format(p))
    local frame = doc ~= nil and doc ~= true and doc.frames and (doc.frames[1] or doc.frames[0])
    if frame and frame.size > 64 then
        host.warn("port %d: frames are %d bytes, because 64 has no room for %s", p, frame.size, frame.stack)
    end
end

local function settle(list)
    for _, p in ipairs(list) do
        host.put_waiting(p)
        settle_gtpu(p)
        if host.state(p).probe_us ~= nil then
            host.probe_rate(p)
        end
        settle_size(p)
    end
end

-- A port that is sending already is left alone, as in Pktgen.
def("start", "P", "start sending", function(P)
    local st, idle = wr.stats().ports, {}
    for _, p in ipairs(each(P)) do
        if st[p].run.state ~= "sending" then
            idle[#idle + 1] = p
        end
    end
    if #idle > 0 then
        settle(idle)
        run("start %s", table.concat(idle, ","))
    end
end)

def("stop", "P", "stop sending", function(P)
    run("stop %s", ports(P))
end)

def("prime", "P", "send a few frames, so that switches learn addresses", function(P)
    run("start %s prime", ports(P))
end, {"start", "prime"})

-- What only a port that is a host can do. In Pktgen this never fails, so a refusal does not end the script: it is told once.
local function as_host(name, fmt, ...)
    local ok, e = host.try(fmt:format(...))
    if ok == nil then
        host.warn_once(name .. e.text, "pktgen.%s: %s", name, e.text)
    end
end

local arps = {g = "gratuitous", grat = "gratuitous", gratuitous = "gratuitous", r = "request", req = "request", request = "request"}

def("send_arp", 'P, "g"|"r"', "send an ARP announcement or request", function(P, what)
    local kind = arps[tostring(what):lower()]
    if kind == nil then
        fail('"%s" is neither "g" (gratuitous) nor "r" (request)', tostring(what))
    end
    each(P)
    as_host("send_arp", "start %s arp %s", ports(P), kind)
end, {"start", "arp"})

for _, name in ipairs({"ping4", "ping6"}) do
    def(name, "P", "ask the destination of the single packet for an echo", function(P)
        each(P)
        as_host(name, "%s %s", name, ports(P))
    end, {name})
end

def("clear", "P", "counters of the ports count from 0 again", function(P)
    run("clear %s", ports(P))
end)

def("clr", "", "counters of all ports count from 0 again", function()
    run("clr")
end)

def("reset", "P", "settings of the ports back to the defaults", function(P)
    for _, p in ipairs(each(P)) do
        host.forget(p)
    end
    run("reset %s", ports(P))
end)

def("port_restart", "P", "stop and start the devices", function(P)
    run("restart %s", ports(P))
end, {"restart"})

-- ---- features of ports ----

-- Defines a function that does what Pktgen's commands `enable P word` and `disable P word` do.
local function feature(name, word, help)
    def(name, "P, on", help, function(P, on)
        run("%s %s %s", host.switch(on) and "enable" or "disable", ports(P), word)
    end, {"enable", word, on = 2})
end

feature("vlan", "vlan", "a VLAN tag in the frames")
feature("mpls", "mpls", "an MPLS label in the frames")
feature("qinq", "qinq", "a service tag and a VLAN tag in the frames")
feature("gre", "gre", "a GRE tunnel with IP inside")
feature("gre_eth", "gre_eth", "a GRE tunnel with Ethernet inside")
feature("vxlan", "vxlan", "a VXLAN tunnel")
feature("rnd_s_ip", "rnd_s_ip", "random source addresses")
feature("rnd_s_pt", "rnd_s_pt", "random source ports")
feature("set_range", "range", "send the ranges of pktgen.range")
feature("capture", "capture", "write received frames to a file")
feature("pcap", "pcap", "replay a capture file")
feature("blink", "blink", "let the LED of a port blink")

-- The same for what a port answers as a host.
for _, f in ipairs({{"process", "process", "ARP and neighbour discovery"}, {"icmp_echo", "icmp", "pings"}}) do
    local name, word = f[1], f[2]
    def(name, "P, on", "ports with an address answer " .. f[3], function(P, on)
        local verb = host.switch(on) and "enable" or "disable"
        for _, p in ipairs(each(P)) do
            as_host(name, "%s %d %s", verb, p, word)
        end
    end, {"enable", word, on = 2})
end

-- these are from earlier versions of Pktgen
def("garp", "P, on", "a port with an address looks at gratuitous ARP by itself: this changes nothing", function(P, on)
    ports(P)
    if host.switch(on) then
        host.warn_once("garp", "pktgen.garp: a port with an address looks at gratuitous ARP by itself; nothing changes")
    end
end)

feature("rxtap", "rx_tap", "received frames to a tap interface")
feature("txtap", "tx_tap", "sent frames to a tap interface")

def("bonding", "P, on", "bonded devices", function(P, on)
    run("%s %s bonding", host.switch(on) and "enable" or "disable", ports(P))
end, {"bonding", on = 2})

def("mac_from_arp", "on", "ports with an address ask for destination MAC addresses", function(on)
    as_host("mac_from_arp", "%s mac_from_arp", host.switch(on) and "enable" or "disable")
end, {"enable", "mac_from_arp", on = 1})

def("clock_gettime", "on", "the best clock is chosen at the start of the program: this changes nothing", function(on)
    if host.switch(on) then
        host.warn_once("clock", "pktgen.clock_gettime: the best clock is chosen at the start of the program (`show clock`); nothing changes")
    end
end)

-- ---- latency ----

function host.probe_rate(p)
    local probe = host.get(p, "probe")
    if probe ~= nil and probe ~= "off" and probe ~= false then
        run("latency %d rate %d", p, host.state(p).probe_us)
    end
end

local function latency_rate(P, us)
    us = host.integer(us, "rate", 1, 1000000)
    for _, p in ipairs(each(P)) do
        host.state(p).probe_us = us
        host.probe_rate(p)
    end
end

-- Changes nothing: here probes are in the frames of the traffic, and spread as these do.
local function latency_entropy(P, n)
    ports(P)
    if host.integer(n, "entropy", 0, 65535) ~= 0 then
        host.warn_once("entropy", "pktgen.latency(P, \"entropy\", n): probes are in the frames of the traffic and spread " ..
            "as these do; nothing changes")
    end
end

def("latency", 'P, on | "rate"|"entropy", n', "probes in the frames: loss and latency; rate: microseconds between them", function(P, on, n)
    local what = tostring(on):lower()
    if what == "rate" then
        latency_rate(P, n)
    elseif what == "entropy" then
        latency_entropy(P, n)
    else
        run("%s %s latency", host.switch(on) and "enable" or "disable", ports(P))
        for _, p in ipairs(each(P)) do
            if host.state(p).probe_us ~= nil then
                host.probe_rate(p)
            end
        end
    end
end)

def("jitter", "P, us", "count probes whose latency differs by more from that of the one before", function(P, us)
    run("set %s jitter %d", ports(P), host.integer(us, "the threshold", 0, 1000000))
end)

def("latsampler_params", 'P, "simple"|"poisson", num, rate, file', "what latsampler takes: num samples, rate of them a second, into a file",
    function(P, kind, num, rate, file)
    kind = host.one_of(kind, "the kind", {"simple", "poisson"})
    run("set %s latsampler %s %d %d %s", ports(P), kind, host.integer(num, "num"), host.integer(rate, "rate"), host.word(file, "the file"))
end)

def("latsampler", "P, on", "take samples of latency, or stop and write them", function(P, on)
    run("%s %s latsampler", host.switch(on) and "start" or "stop", ports(P))
end)
