-- SPDX-License-Identifier: BSD-3-Clause
-- The slots of Pktgen's sequence are streams here: slot n is stream n + 1.
local host = require "wirerate.pktgen.host"
local pktgen, run, ports = host.pktgen, host.run, host.ports
local function def(...)
    host.def(pktgen, ...)
end

local MAX_SLOT = 15

local function slot(n)
    return host.integer(n, "the slot", 0, MAX_SLOT)
end

local function size_text(v)
    local size = host.size(host.integer(v, "the size"), "the size")
    return size == "64" and "auto" or size
end

-- Returns the TEID as text. Pktgen makes GTP-U only of frames to port 2152, and that makes sense
-- only for udp.
local function teid_text(teid, dport, proto)
    teid = host.integer(teid == nil and 0 or teid, "the TEID", 0, 0xffffffff)
    if teid ~= 0 and (tonumber(dport) ~= 2152 or proto ~= "udp") then
        host.warn_once("teid", "pktgen: a TEID counts in udp frames to port 2152 alone, as in Pktgen; here it changes nothing")
        return "0"
    end
    return host.text(teid, "the TEID")
end

local function net(v)
    local word = host.one_of(v, "the type", {"ipv4", "ipv6", "vlan"})
    return word == "vlan" and "ipv4" or word
end

local function proto(v)
    return host.one_of(v, "the protocol", {"udp", "tcp", "icmp"})
end

local function whole(n, P, t)
    local l4 = proto(t.ipProto)
    run("seq %d %s %s %s %s %s %d %d %s %s %d %s %s", slot(n), ports(P), host.word(t.eth_dst_addr, "the destination MAC"),
        host.word(t.eth_src_addr, "the source MAC"), host.word(host.address(t.ip_dst_addr), "the destination address"),
        host.word(host.address(t.ip_src_addr), "the source address"), host.integer(t.sport, "the source port", 0, 65535),
        host.integer(t.dport, "the destination port", 0, 65535), net(t.ethType), l4, host.integer(t.vlanid, "the VLAN id", 0, 4095),
        size_text(t.pktSize), teid_text(t.gtpu_teid, t.dport, l4))
end

def("seq", 'n, P, dmac, smac, dip, "sip/mask", sport, dport, "ipv4"|"ipv6", "udp"|"tcp"|"icmp", vlan, size [, teid]', "write a slot",
    function(n, P, dmac, smac, dip, sip, sport, dport, kind, l4, vlan, size, teid)
    whole(n, P, {eth_dst_addr = dmac, eth_src_addr = smac, ip_dst_addr = dip, ip_src_addr = sip, sport = sport, dport = dport,
             ethType = kind, ipProto = l4, vlanid = vlan, pktSize = size, gtpu_teid = teid})
end)

def("seq_tcp_flags", "n, P, flags", 'TCP flags of a slot, as "syn,ack"', function(n, P, flags)
    run("seq %d %s tcp flags %s", slot(n), ports(P), host.word(flags, "the list of flags"))
end)

-- ---- the form with a table ----

local keys = {"eth_dst_addr", "eth_src_addr", "ip_dst_addr", "ip_src_addr", "sport", "dport", "ethType", "ipProto", "vlanid", "pktSize"}
local extra = {cos = true, tos = true, tcp_flags = true, gtpu_teid = true, teid = true}

-- Returns the present value of a key of a slot. For a new slot that is the value of stream 0.
local function now(p, n, key)
    local rows = {eth_dst_addr = "eth.dst", eth_src_addr = "eth.src", ip_dst_addr = "dst-ip", ip_src_addr = "src-ip", sport = "sport",
              dport = "dport", ethType = "type", ipProto = "proto", vlanid = "vlan.vid", pktSize = "size"}
    local dflt = {sport = 1234, dport = 5678, vlanid = 1, pktSize = 64}
    local v = host.get_stream(p, n + 1, rows[key])
    if v == nil then
        v = host.get_stream(p, 0, rows[key])
    end
    if key == "pktSize" and tonumber(v) == nil then
        return 64
    end
    return v ~= nil and v or dflt[key]
end

-- Keys that are left out keep their present values.
def("seqTable", "n, P, table", "write a slot: eth_dst_addr eth_src_addr ip_dst_addr ip_src_addr sport dport ethType ipProto vlanid pktSize " ..
    "cos tos tcp_flags gtpu_teid", function(n, P, t)
    n = slot(n)
    if type(t) ~= "table" then
        host.fail("the table is missing")
    end
    local known = {}
    for _, k in ipairs(keys) do
        known[k] = true
    end
    for k in pairs(t) do
        if not known[k] and not extra[k] then
            host.warn_once("seqTable " .. tostring(k), 'pktgen.seqTable: "%s" is no key of a slot and changes nothing; keys are %s, cos, ' ..
                "tos, tcp_flags, gtpu_teid", tostring(k), table.concat(keys, ", "))
        end
    end
    for _, p in ipairs(host.each(P)) do
        local all = {gtpu_teid = t.gtpu_teid ~= nil and t.gtpu_teid or t.teid}
        for _, k in ipairs(keys) do
            all[k] = t[k]
            if all[k] == nil then
                all[k] = now(p, n, k)
            end
        end
        whole(n, p, all)
        if t.cos ~= nil or t.tos ~= nil then
            run("seq %d %d cos %d tos %d", n, p, host.integer(t.cos or 0, "cos", 0, 7), host.integer(t.tos or 0, "tos", 0, 255))
        end
        if t.tcp_flags ~= nil then
            run("seq %d %d tcp flags %s", n, p, host.word(t.tcp_flags, "tcp_flags"))
        end
    end
end)
