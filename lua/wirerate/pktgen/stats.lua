-- SPDX-License-Identifier: BSD-3-Clause
-- The counters of ports, in tables like those of Pktgen. Bytes are counted as devices do, without
-- FCS: scripts expect that and add 24 for each frame.
local wr = require "wirerate"
local host = require "wirerate.pktgen.host"
local pktgen, each = host.pktgen, host.each
local floor = math.floor
local function def(...)
    host.def(pktgen, ...)
end

local FCS = 4
local ON_WIRE = 24 -- preamble, delimiter, FCS and gap of a frame whose bytes are counted without FCS

-- Returns { [port] = fn(port, its statistics), n = number of ports }.
local function per_port(P, fn)
    local out, st = {n = 0}, wr.stats().ports
    for _, p in ipairs(each(P)) do
        out[p] = fn(p, st[p])
        out.n = out.n + 1
    end
    return out
end

local function count(t, key)
    return t ~= nil and t[key] or 0
end

local function bytes(side)
    return count(side, "bytes") - FCS * count(side, "packets")
end

local function counters(s)
    return {
        ipackets = s.rx.packets, opackets = s.tx.packets, ibytes = bytes(s.rx), obytes = bytes(s.tx),
        ierrors = count(s.rx, "errors"), oerrors = count(s.tx, "errors"), rx_nombuf = count(s.rx, "nombuf"), imissed = count(s.rx, "missed"),
    }
end

local function sizes(s, top)
    local by = s.rx.sizes or {}
    return {
        runt = count(by, "0-63"), _64 = count(by, "64"), _65_127 = count(by, "65-127"), _128_255 = count(by, "128-255"),
        _256_511 = count(by, "256-511"), _512_1023 = count(by, "512-1023"), [top] = count(by, "1024-1522"), jumbo = count(by, "1523-"),
        broadcast = count(s.rx, "broadcast"), multicast = count(s.rx, "multicast"), unknown = 0,
    }
end

local function queues(s)
    local out = {}
    for q, t in pairs(s.queues) do
        if type(q) == "number" then
            out[q] = {ipackets = count(t.rx, "packets"), opackets = count(t.tx, "packets"), errors = count(t.tx, "dropped")}
        end
    end
    return out
end

-- ---- the last interval ----

local errors_then = {} -- by port: its counters at an earlier call, and the time of that

-- Returns the errors per second since an earlier call. The counters are remembered once a second at
-- most, so that scripts may call this often.
local function error_rates(p, now, c)
    local was = errors_then[p]
    local seconds = was ~= nil and (now - was.at) / 1e9 or 0
    local out = {}
    for _, key in ipairs({"ierrors", "oerrors", "rx_nombuf", "imissed"}) do
        out[key] = seconds > 0 and c[key] >= was[key] and floor((c[key] - was[key]) / seconds) or 0
    end
    if was == nil or seconds >= 1 then
        c.at = now
        errors_then[p] = c
    end
    return out
end

local function interval_bytes(side)
    local b = floor(side.l1_bps / 8 - ON_WIRE * side.pps)
    return b > 0 and b or 0
end

local function rates(p, s, now)
    local out = error_rates(p, now, counters(s))
    out.ipackets, out.opackets = floor(s.rx.pps), floor(s.tx.pps)
    out.pkts_rx, out.pkts_tx = out.ipackets, out.opackets
    out.ibytes, out.obytes = interval_bytes(s.rx), interval_bytes(s.tx)
    out.mbits_rx, out.mbits_tx = floor(s.rx.l1_bps / 1e6), floor(s.tx.l1_bps / 1e6)
    return out
end

def("portStats", 'P [, "port"|"rate"]', "counters of ports; with a second argument as in versions before", function(P, what)
    if what == nil then
        return per_port(P, function(_, s)
            return {curr = counters(s), sizes = sizes(s, "_1024_1522"), qstats = queues(s)}
        end)
    end
    if host.one_of(what, "the second argument", {"port", "rate"}) == "port" then
        return per_port(P, function(_, s)
            return counters(s)
        end)
    end
    local now = wr.now()
    return per_port(P, function(p, s)
        return rates(p, s, now)
    end)
end)

def("portSizes", "P", "received frames by size, as in versions before", function(P)
    return per_port(P, function(_, s)
        return sizes(s, "_1024_1518")
    end)
end)

-- ---- state ----

def("isSending", "P", '{ [port] = "y"|"n", n }', function(P)
    return per_port(P, function(_, s)
        return s.run.state ~= "idle" and "y" or "n"
    end)
end)

def("linkState", "P", '{ [port] = "<UP-10000-FD>"|"<--Down-->", n }', function(P)
    return per_port(P, function(_, s)
        return s.link == "down" and "<--Down-->" or ("<UP-%d-FD>"):format(s.speed_mbps)
    end)
end)

for _, name in ipairs({"portCount", "totalPorts"}) do
    def(name, "", "number of ports", function()
        return #wr.ports()
    end)
end

-- ---- latency ----

local function us(ns)
    return (ns or 0) / 1000
end

local function latency_of(doc, p)
    local port = doc.ports[p]
    local l, c, jitter = port.latency.actual, port.counts, port.jitter
    local hz = doc.clock.hz
    local function cycles(ns)
        return floor((ns or 0) * hz / 1e9)
    end
    local pc = l.percentiles_ns
    local limit = jitter ~= nil and jitter.limit_ns or 0
    return {
        num_pkts = l.samples, num_skipped = count(c, "lost") + count(c, "reordered") + count(c, "duplicated"),
        min_us = us(l.min_ns), avg_us = us(l.mean_ns), max_us = us(l.max_ns),
        min_cycles = cycles(l.min_ns), avg_cycles = cycles(l.mean_ns), max_cycles = cycles(l.max_ns),
        p50_us = us(pc.p50), p90_us = us(pc.p90), p95_us = us(pc.p95), p99_us = us(pc.p99), p999_us = us(pc.p99_9),
        jitter_threshold_us = us(limit), jitter_count = jitter ~= nil and jitter.above or 0,
        jitter_percent = jitter ~= nil and jitter.share ~= nil and floor(jitter.share * 100) or 0,
    }
end

local function with_latency(p, l)
    local probe = host.get(p, "probe")
    return l.num_pkts > 0 or (probe ~= nil and probe ~= "off" and probe ~= false)
end

-- Received frames are counted, but their protocols are not looked at, as in Pktgen while `process`
-- is off. So the counters of protocols are 0.
def("pktStats", "P", "frames that failed, the port's address and latency, as in versions before", function(P)
    local doc, info = wr.latency(), host.run("show ports").ports
    return per_port(P, function(p, s)
        local out = {arp_pkts = 0, echo_pkts = 0, ip_pkts = 0, ipv6_pkts = 0, vlan_pkts = 0, dropped_pkts = 0, unknown_pkts = 0,
                 tx_failed = count(s.tx, "dropped"), mac_addr = info[p].mac, latency = latency_of(doc, p)}
        local l = out.latency
        if with_latency(p, l) then
            out.avg_latency, out.max_avg_latency, out.min_avg_latency = floor(l.avg_us), floor(l.max_us), floor(l.min_us)
            out.max_latency, out.min_latency, out.jitter_count = out.max_avg_latency, out.min_avg_latency, l.jitter_count
        end
        return out
    end)
end)
