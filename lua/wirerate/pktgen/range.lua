-- SPDX-License-Identifier: BSD-3-Clause
-- pktgen.range: how fields change from frame to frame as long as pktgen.set_range is on.
local host = require "wirerate.pktgen.host"
local pktgen, run, ports = host.pktgen, host.run, host.ports

local range = {}
pktgen.range = range
-- pktgen.range(P, on) is from earlier versions of Pktgen, which had no table of that name.
setmetatable(range, {__call = function(_, P, on)
    return pktgen.set_range(P, on)
end})

local function def(...)
    host.def(range, ...)
end

local parts = {start = "start", min = "min", minimum = "min", max = "max", maximum = "max", inc = "inc", increment = "inc"}

local function part(what)
    return parts[tostring(what):lower()] or host.fail('"%s" is none of start, min, max, inc', tostring(what))
end

local words = {
    {"dst_mac", "dst mac", "destination MAC address"}, {"src_mac", "src mac", "source MAC address"},
    {"src_ip", "src ip", "source IP address"}, {"dst_ip", "dst ip", "destination IP address"},
    {"src_port", "src port", "source port"}, {"dst_port", "dst port", "destination port"},
    {"ttl", "ttl", "time to live or hop limit"}, {"hop_limits", "hop_limits", "IPv6 hop limit"},
    {"vlan_id", "vlan", "VLAN id"}, {"pkt_size", "size", "frame size with FCS"}, {"cos", "cos", "priority of the VLAN tag"},
    {"tos", "tos", "type of service"}, {"traffic_class", "traffic_class", "IPv6 traffic class"},
}

-- Returns a value as a word. Addresses may have a mask, which has no effect.
local function value(name, v)
    if name == "src_ip" or name == "dst_ip" then
        return host.word(host.address(v), "the value")
    end
    if name == "pkt_size" then
        return host.size(v, "the value")
    end
    return host.word(v, "the value")
end

for _, w in ipairs(words) do
    local name, line = w[1], w[2]
    def(name, 'P, "start"|"min"|"max"|"inc", value', w[3], function(P, what, v)
        what = part(what)
        -- an increment of pkt_size is not a size itself
        run("range %s %s %s %s", ports(P), line, what, value(what == "inc" and "" or name, v))
    end)
end

def("set_type", 'P, "ipv4"|"ipv6"', "network layer of the ranges", function(P, kind)
    run("range %s type %s", ports(P), host.one_of(kind, "the type", {"ipv4", "ipv6"}))
end)

def("ip_proto", 'P, "udp"|"tcp"|"icmp"', "transport layer of the ranges", function(P, proto)
    run("range %s proto %s", ports(P), host.one_of(proto, "the protocol", {"udp", "tcp", "icmp"}))
end)

-- Pktgen reads the entry as hexadecimal, with or without 0x.
def("mpls_entry", 'P, "0xLABELCLASSTTL"', "MPLS label, class and time to live as one number, also of the single packet", function(P, v)
    local n = type(v) == "number" and v or tonumber(tostring(v), 16) or tonumber(v)
    if n == nil then
        host.fail('the entry is "%s", and no hexadecimal number', tostring(v))
    end
    run("range %s mpls entry 0x%x", ports(P), host.integer(n, "the entry", 0, 0xffffffff))
end)

def("qinqids", "P, outer, inner", "VLAN ids of Q-in-Q, also of the single packet", function(P, outer, inner)
    run("range %s qinq index %d %d", ports(P), host.integer(outer, "the outer id", 0, 4095), host.integer(inner, "the inner id", 0, 4095))
end)

def("gre_key", "P, key", "GRE key, also of the single packet", function(P, key)
    run("range %s gre key %s", ports(P), host.text(host.integer(key, "the key", 0, 0xffffffff), "the key"))
end)

def("gtpu_teid", 'P, "start"|"min"|"max"|"inc", value', "GTP-U tunnel, in udp frames to port 2152", function(P, what, v)
    run("range %s gtpu %s %s", ports(P), part(what), host.text(host.integer(v, "the TEID", 0, 0xffffffff), "the TEID"))
end)

-- Earlier versions of Pktgen had these functions in the table `pktgen`.
for _, name in ipairs({"dst_mac", "src_mac", "src_ip", "dst_ip", "src_port", "dst_port", "vlan_id", "pkt_size", "ip_proto", "mpls_entry",
               "qinqids", "gre_key", "gtpu_teid"}) do
    pktgen[name] = range[name]
end
