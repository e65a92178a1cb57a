-- SPDX-License-Identifier: BSD-3-Clause
-- The single packet of Pktgen, which is stream 0: its addresses, headers and payload.
local wr = require "wirerate"
local host = require "wirerate.pktgen.host"
local pktgen, fail, run, ports = host.pktgen, host.fail, host.run, host.ports
local function def(...)
    host.def(pktgen, ...)
end

local ends = {"src", "dst"}

-- In earlier versions of Pktgen it was set_mac(P, mac), for the destination.
def("set_mac", 'P, "src"|"dst", mac', "Ethernet addresses", function(P, which, mac)
    if mac == nil and type(which) == "string" and which:find(":") then
        which, mac = "dst", which
    end
    run("set %s %s mac %s", ports(P), host.one_of(which, "the address", ends), host.word(mac, "the address"))
end)

-- Returns an address without its mask. Pktgen uses the mask for its answers to ARP. For a command
-- here it would mean all addresses of the prefix.
function host.address(v)
    local text = host.text(v, "the address")
    local addr, bits = text:match("^([^/]+)/(%d+)$")
    if addr == nil and text:find("/") then
        fail('"%s" is no address with a mask, as 10.0.0.1/24', text)
    end
    if addr ~= nil then
        host.integer(bits, "the mask", 0, addr:find(":") and 128 or 32)
    end
    return addr or text
end

def("set_ipaddr", 'P, "src"|"dst", "ip[/mask]"', "IP addresses; the mask has no effect", function(P, which, ip)
    which = host.one_of(which, "the address", ends)
    local addr = host.address(ip)
    run("set %s %s.%s %s", ports(P), addr:find(":") and "ipv6" or "ipv4", which, host.word(addr, "the address"))
end)

def("set_proto", 'P, "udp"|"tcp"|"icmp"', "transport layer", function(P, proto)
    run("set %s proto %s", ports(P), host.one_of(proto, "the protocol", {"udp", "tcp", "icmp"}))
    host.put_waiting(P)
end)

def("set_type", 'P, "ipv4"|"ipv6"|"vlan"|"arp"', "network layer; vlan adds a tag", function(P, kind)
    run("set %s type %s", ports(P), host.one_of(kind, "the type", {"ipv4", "ipv6", "vlan", "arp", "ip4", "ip6"}))
    host.put_waiting(P)
end)

def("set_tcp_flags", "P, flags", 'TCP flags, as "syn,ack"', function(P, flags)
    run("set %s tcp flags %s", ports(P), host.word(flags, "the list of flags"))
end)

def("vlanid", "P, id", "VLAN id, while pktgen.vlan is on", function(P, id)
    run("set %s vlan %d", ports(P), host.integer(id, "the VLAN id", 0, 4095))
end)

-- Defines cos() or tos(). In earlier versions of Pktgen cos(P, "start", v) was a function of
-- ranges. Of any other three arguments the second has no meaning.
local parts = {start = true, min = true, max = true, inc = true}
local function of_single(name, row, max)
    def(name, "P, [any,] value", row .. "; while pktgen.vlan is on: cos", function(P, second, third)
        if third ~= nil and parts[tostring(second):lower()] then
            return pktgen.range[name](P, second, third)
        end
        local v = third
        if v == nil then
            v = second
        end
        run("set %s %s %d", ports(P), row, host.integer(v, name, 0, max))
    end)
end
of_single("cos", "vlan.pcp", 7)
of_single("tos", "tos", 255)

def("vxlan_id", "P, flags, gid, vni", "values of the VXLAN header, while pktgen.vxlan is on", function(P, flags, gid, vni)
    run("set %s vxlan 0x%04x %d %d", ports(P), host.integer(flags, "flags", 0, 65535), host.integer(gid, "gid", 0, 65535),
        host.integer(vni, "vni", 0, 16777215))
end)

def("pattern", 'P, "abc"|"none"|"user"|"zero"', "what fills the payload", function(P, s)
    run("set %s pattern %s", ports(P), host.one_of(s, "the pattern", {"abc", "none", "user", "zero"}))
end)

def("userPattern", "P, text", 'what pattern(P, "user") repeats', function(P, s)
    run("set %s user pattern %s", ports(P), host.word(s, "the pattern"))
end)

-- ---- random bits ----

-- Returns the random bits that port p has: index -> offset and mask.
local function rnd_specs(p)
    local out = {}
    for i = 0, 31 do
        local v = tostring(host.get(p, "rnd." .. i) or "off")
        local offset, mask = v:match("^(%d+)%s+(%S+)$")
        if offset ~= nil then
            out[i] = {offset = tonumber(offset), mask = mask, active = "Yes"}
        end
    end
    return out
end

-- Random bits are on as long as there is a mask.
def("rnd", "P, index, offset, mask", 'write bits at offset: 0, 1, X random, . as they are; "off" takes it back', function(P, index, offset, mask)
    local list = ports(P)
    index, offset = host.integer(index, "the index", 0, 31), host.integer(offset, "the offset", 0, 255)
    mask = host.text(mask, "the mask")
    if mask:lower() == "off" then
        run("set %s rnd %d off", list, index)
    else
        run("set %s rnd %d %d %s", list, index, offset, host.word((mask:gsub("[_%s]", "")), "the mask"))
    end
    for _, p in ipairs(host.each(P)) do
        run("%s %d random", next(rnd_specs(p)) ~= nil and "enable" or "disable", p)
    end
end)

def("rnd_list", "[P]", "{ [port] = { [index] = { offset, mask, active } }, n }", function(P)
    local out = {n = 0}
    for _, p in ipairs(host.each(P == nil and "all" or P)) do
        local t = rnd_specs(p)
        for i = 0, 31 do
            t[i] = t[i] or {offset = 0, mask = "", active = "No"}
        end
        out[p] = t
        out.n = out.n + 1
    end
    return out
end)
