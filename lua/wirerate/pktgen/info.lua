-- SPDX-License-Identifier: BSD-3-Clause
-- pktgen.portInfo() tells what ports are set to, and pktgen.info what this program is.
local wr = require "wirerate"
local host = require "wirerate.pktgen.host"
local pktgen = host.pktgen
local floor = math.floor

-- ---- portInfo ----

-- Returns a text as a number if it is one.
local function plain(v)
    return tonumber(v) or v
end

-- Returns the rate of a port in percent of the link speed, rounded down.
local function percent(port, rates)
    local text = tostring(port.rate):match("^([%d%.]+)%%$")
    local speed = rates.speed_mbps * 1e6
    local v = text ~= nil and tonumber(text) or speed > 0 and rates.asked_l1_bps / speed * 100 or 0
    return floor(v + 1e-9)
end

local function totals(st)
    local t = {max_ipackets = 0, max_opackets = 0, cumm_rate_ipackets = 0, cumm_rate_opackets = 0, cumm_rate_itotals = 0, cumm_rate_ototals = 0}
    for p, s in pairs(st) do
        if type(p) == "number" then
            t.max_ipackets, t.max_opackets = t.max_ipackets + s.max.rx.pps, t.max_opackets + s.max.tx.pps
            t.cumm_rate_ipackets, t.cumm_rate_opackets = t.cumm_rate_ipackets + s.rx.pps, t.cumm_rate_opackets + s.tx.pps
            t.cumm_rate_itotals, t.cumm_rate_ototals = t.cumm_rate_itotals + s.rx.l1_bps, t.cumm_rate_ototals + s.tx.l1_bps
        end
    end
    return t
end

local function info_of(p, b, s, rate, hz)
    local tos = tonumber(host.get(p, "ipv4.tos")) or 0
    local link = s.link == "down" and "<--Down-->" or ("<UP-%d-FD>"):format(s.speed_mbps)
    rate.speed_mbps = s.speed_mbps
    return {
        pattern_type = host.get(p, "pattern"), tx_count = plain(b.count), tx_rate = percent(b, rate), pkt_size = plain(b.size),
        tx_burst = plain(b.burst), rx_burst = plain(b.rxburst), eth_type = b.type or "", proto_type = b.proto or "",
        vlanid = plain(host.get(p, "vlan.vid")), pci_vendor = b.pci or "",
        l2_l3_info = {
            src_port = plain(b.sport), dst_port = plain(b.dport), ttl = plain(host.get(p, "ttl")), dst_ip = b.ip_dst, src_ip = b.ip_src,
            dst_mac = b.mac_dst, src_mac = b.mac_src,
        },
        tx_debug = {tx_pps = rate.asked_pps, tx_cycles = rate.asked_pps > 0 and floor(hz * plain(b.burst) / rate.asked_pps) or 0},
        ["802.1p"] = {cos = plain(host.get(p, "vlan.pcp")), dscp = floor(tos / 4), ipp = floor(tos / 32)},
        VxLAN = {
            vni_flags = plain(host.get(p, "vxlan.flags")), group_id = plain(host.get(p, "vxlan.gid")),
            vlan_id = plain(host.get(p, "vxlan.vni")), link_state = link,
        },
    }
end

-- The manual of Pktgen shows the tables of `info` one level higher, so they are found there too.
host.def(pktgen, "portInfo", "P", "{ [port] = { total_stats, info }, n }: what ports are set to", function(P)
    local out, st, hz = {n = 0}, wr.stats().ports, wr.latency().clock.hz
    local brief, rates = host.by_port(host.run("show snapshot brief").brief), wr.rates().ports
    for _, p in ipairs(host.each(P)) do
        local info = info_of(p, brief[p], st[p], rates[p], hz)
        out[p] = setmetatable({total_stats = totals(st), info = info}, {__index = info})
        out.n = out.n + 1
    end
    return out
end)

-- ---- info ----

pktgen.info = {
    Lua_Version = _VERSION,
    Lua_Release = type(jit) == "table" and jit.version or _VERSION,
    Lua_Copyright = "Copyright (C) 1994 to now Lua.org, PUC-Rio; LuaJIT (C) 2005 to now Mike Pall",
    Lua_Authors = "R. Ierusalimschy, L. H. de Figueiredo, W. Celes; LuaJIT: Mike Pall",
    Pktgen_Version = "26.02.4 (wirerate " .. tostring(wr.version) .. ")",
    Pktgen_Copyright = "wirerate: BSD-3-Clause",
    Pktgen_Authors = "the authors of wirerate",
    DPDK_Version = wr.dpdk_version,
    DPDK_Copyright = "DPDK: BSD-3-Clause",
    -- limits that the help of Pktgen names
    startSeqIdx = 0, singlePktIdx = 16, numSeqPkts = 16, minPktSize = 64, maxPktSize = 1518, minVlanID = 1, maxVlanID = 4095, vlanTagSize = 4,
    minCos = 0, maxCos = 7, minTOS = 0, maxTOS = 255, defaultPktBurst = 32,
}
