-- SPDX-License-Identifier: BSD-3-Clause
-- The single packet and the sequence.
local wr = require "wirerate"
local pktgen = require "Pktgen"
local host = require "wirerate.pktgen.host"
local shows = require "pktgen_cases.shows"
local settings, is, stack_has, same = shows.settings, shows.is, shows.stack_has, shows.same
local refused, send, header, nothing = shows.refused, shows.send, shows.header, shows.nothing
local dir = shows.dir
local two = #wr.ports() > 1
local cases, range = shows.cases, shows.range

function cases.set_mac()
    pktgen.set_mac("0", "src", "02:00:00:00:00:09")
    pktgen.set_mac("0", "dst", "0002:0304:0506")
    is("0/0", "eth.src", "02:00:00:00:00:09")
    is("0/0", "eth.dst", "00:02:03:04:05:06")
    pktgen.set_mac("0", "02:00:00:00:00:08")
    is("0/0", "eth.dst", "02:00:00:00:00:08")
    refused("allowed: src, dst", pktgen.set_mac, "0", "both", "02:00:00:00:00:08")
    refused("eth", pktgen.set_mac, "0", "dst", "02:00")
    is("0/0", "eth.dst", "02:00:00:00:00:08")
end

function cases.set_ipaddr()
    pktgen.set_ipaddr("0", "src", "10.1.2.0/24")
    pktgen.set_ipaddr("0", "dst", "10.1.2.3")
    is("0/0", "ipv4.src", "10.1.2.0")
    is("0/0", "ipv4.dst", "10.1.2.3")
    pktgen.set_type("0", "ipv6")
    pktgen.set_ipaddr("0", "dst", "fd00::5/64")
    is("0/0", "ipv6.dst", "fd00::5")
    refused("the mask", pktgen.set_ipaddr, "0", "src", "10.0.0.1/33")
    refused("no address with a mask", pktgen.set_ipaddr, "0", "src", "10.0.0.1/x")
    refused("ipv4.src", pktgen.set_ipaddr, "0", "src", "10.0.0")
end

function cases.set_proto()
    for _, proto in ipairs({"udp", "icmp", "tcp"}) do
        pktgen.set_proto("0", proto)
        wr.expect(stack_has(proto), proto)
    end
    refused("allowed: udp, tcp, icmp", pktgen.set_proto, "0", "sctp")
end

function cases.set_type()
    for _, kind in ipairs({"ipv6", "arp", "ipv4"}) do
        pktgen.set_type("0", kind)
        wr.expect(stack_has(kind), kind)
    end
    pktgen.set_type("0", "vlan")
    wr.expect(stack_has("vlan"), "vlan")
    refused("allowed: ipv4", pktgen.set_type, "0", "ipx")
end

function cases.set_tcp_flags()
    pktgen.set_tcp_flags("0", "syn,ack")
    is("0/0", "tcp.flags", "syn,ack")
    refused("flag", pktgen.set_tcp_flags, "0", "sin")
end

cases.vlan = header("vlan", "vlan")
cases.mpls = header("mpls", "mpls")
cases.qinq = header("qinq", "qinq")
cases.gre = header("gre", "gre")
cases.gre_eth = header("gre_eth", "gre")

function cases.vxlan()
    pktgen.set_proto("0", "udp")
    header("vxlan", "vxlan")()
end

function cases.vlanid()
    pktgen.vlan("0", "on")
    pktgen.vlanid("0", 77)
    is("0/0", "vlan.vid", "77")
    refused("0 to 4095", pktgen.vlanid, "0", 4096)
end

function cases.cos()
    pktgen.vlan("0", "on")
    pktgen.cos("0", 0, 5)
    is("0/0", "vlan.pcp", "5")
    pktgen.cos("0", 6)
    is("0/0", "vlan.pcp", "6")
    pktgen.cos("0", "start", 3)
    wr.expect(wr.port[0]["range.cos"] ~= nil, "range")
    refused("0 to 7", pktgen.cos, "0", 0, 8)
end

function cases.tos()
    pktgen.tos("0", 12)
    is("0/0", "ipv4.tos", "0x0c")
    pktgen.tos("0", "start", 3)
    refused("0 to 255", pktgen.tos, "0", 256)
end

function cases.vxlan_id()
    pktgen.set_proto("0", "udp")
    pktgen.vxlan("0", "on")
    pktgen.vxlan_id("0", 0x0800, 5, 77)
    is("0/0", "vxlan.gid", "5")
    is("0/0", "vxlan.vni", "77")
    pktgen.vxlan_id("0", "0x0900", "6", "78")
    is("0/0", "vxlan.vni", "78")
    refused("vni", pktgen.vxlan_id, "0", 0, 0, 2 ^ 24)
end

local later = {
    pcap = {"0", "on"}, blink = {"0", "on"}, bonding = {"0", "on"},
    garp = {"0", "on"}, rxtap = {"0", "on"}, txtap = {"0", "on"},
}
for name, args in pairs(later) do
    cases[name] = function()
        nothing(name, unpack(args))
        args[#args] = "off"
        nothing(name, unpack(args))
    end
end

-- It writes a file into the current folder, where it is removed again.
function cases.capture()
    local function now()
        for _, p in pairs(host.run("show capture").ports) do
            if type(p) == "table" and p.port == 0 then
                return p
            end
        end
    end
    pktgen.capture("0", "on")
    local begun = now()
    same(begun.state, "capturing", "state")
    same(begun.direction, "rx", "direction")
    wr.expect(begun.file:find("^pktgen%-%d+%-%d+%-0[%-%d]*%.pcapng$"), begun.file .. " is the file")
    pktgen.capture("0", "on") -- it goes on
    same(now().file, begun.file, "file")
    pktgen.capture("0", "off")
    same(now().state, "done", "state")
    wr.expect(os.remove(begun.file), "there is no " .. begun.file)
    refused("missing", pktgen.capture, "0")
end

-- What a port answers as a host. A port of -p null can be none.
local function answers(name, on, off)
    return function()
        if not two then
            nothing(name, "0", "on")
            nothing(name, "0", "off")
            return
        end
        pktgen.run("cmd", "set 0 answer none")
        pktgen[name]("0", "on")
        is("0", "answer", on)
        pktgen[name]("0", "off")
        is("0", "answer", off)
        refused("missing", pktgen[name], "0")
    end
end
cases.process = answers("process", "arp,nd", "arp,nd")
cases.icmp_echo = answers("icmp_echo", "ping", "none")

function cases.mac_from_arp()
    if not two then
        nothing("mac_from_arp", "on")
        nothing("mac_from_arp", "off")
        return
    end
    local before = settings("1/0")["eth.dst"]
    pktgen.mac_from_arp("on")
    is("0/0", "eth.dst", "auto")
    is("1/0", "eth.dst", "auto")
    pktgen.mac_from_arp("off")
    is("1/0", "eth.dst", before)
end

function cases.clock_gettime()
    nothing("clock_gettime", "on")
    nothing("clock_gettime", "off")
end

function cases.rnd_s_ip()
    pktgen.rnd_s_ip("0", "on")
    same(wr.port[0].rnd_s_ip, true, "rnd_s_ip")
    pktgen.rnd_s_ip("0", "off")
    same(wr.port[0].rnd_s_ip, false, "rnd_s_ip")
end

function cases.rnd_s_pt()
    pktgen.rnd_s_pt("0", "on")
    same(wr.port[0].rnd_s_pt, true, "rnd_s_pt")
    pktgen.rnd_s_pt("0", "nonsense") -- off in Pktgen
    same(wr.port[0].rnd_s_pt, false, "rnd_s_pt")
    refused("missing", pktgen.rnd_s_pt, "0")
end

function cases.set_range()
    pktgen.range.dst_port("0", "start", 5)
    pktgen.set_range("0", "on")
    same(wr.port[0].ranges, true, "ranges")
    pktgen.set_range("0", "disable")
    same(wr.port[0].ranges, false, "ranges")
    pktgen.range("0", "on")
    same(wr.port[0].ranges, true, "range()")
end

function cases.pattern()
    for _, s in ipairs({"zero", "none", "user", "abc"}) do
        pktgen.pattern("0", s)
        is("0/0", "pattern", s)
    end
    refused("allowed: abc", pktgen.pattern, "0", "def")
end

function cases.userPattern()
    pktgen.userPattern("0", "two words")
    is("0/0", "userpattern", "two words")
end

function cases.latency()
    pktgen.set("0", "rate", 10)
    pktgen.latency("0", "rate", 1000)
    is("0/0", "probe", "off")
    pktgen.latency("0", "enable")
    wr.expect(settings("0/0").probe:find("every"), "the rate counts from then on")
    pktgen.latency("0", "entropy", 0)
    pktgen.latency("0", "entropy", 12)
    pktgen.latency("0", "off")
    is("0/0", "probe", "off")
    refused("1 to 1000000", pktgen.latency, "0", "rate", 0)
end

function cases.jitter()
    pktgen.jitter("0", 33)
    is("0", "jitter", "33")
    refused("jitter", pktgen.jitter, "0", -1)
end

function cases.rnd()
    pktgen.rnd("0", 3, 20, "XX1.0000XXXXXXXX........11111111")
    same(wr.port[0].random, true, "random")
    same(pktgen.rnd_list("0")[0][3].offset, 20, "offset")
    pktgen.rnd("0", 3, 20, "off")
    same(wr.port[0].random, false, "random")
    refused("0 to 31", pktgen.rnd, "0", 32, 0, "X")
    refused("rnd", pktgen.rnd, "0", 1, 0, "abc")
end

function cases.rnd_list()
    pktgen.rnd("0", 0, 30, "XXXX....")
    local all = pktgen.rnd_list()
    same(all.n, pktgen.portCount(), "n")
    same(all[0][0].active, "Yes", "active")
    wr.expect(all[0][0].mask:find("^XXXX%.%.%.%."), "mask " .. all[0][0].mask)
    same(all[0][31].active, "No", "active")
    same(pktgen.rnd_list("0").n, 1, "n of one")
end

function cases.latsampler_params()
    pktgen.latsampler_params("0", "poisson", 100, 1000, dir .. "/samples.txt")
    is("0", "latsampler", "poisson 100 1000 " .. dir .. "/samples.txt")
    refused("allowed: simple, poisson", pktgen.latsampler_params, "0", "even", 1, 1, "x")
end

function cases.latsampler()
    local rx = two and "1" or "0"
    pktgen.latsampler_params(rx, "simple", 100, 100000, dir .. "/samples.txt")
    pktgen.set_proto("0", "udp")
    pktgen.latency("0", "on")
    pktgen.latsampler(rx, "on")
    send(100)
    pktgen.latsampler(rx, "off")
    local f = io.open(dir .. "/samples.txt")
    wr.expect(f ~= nil, "there is a file")
    if f ~= nil then
        same(f:read("*l"), "Latency", "its first line")
        f:close()
    end
end



local slot_line = {"02:00:00:00:00:a0", "02:00:00:00:00:b0", "10.0.0.1", "10.0.1.1/24", 1000, 2152, "ipv4", "udp", 9, 128}

function cases.seq()
    pktgen.seq(0, "0", unpack(slot_line))
    is("0/1", "eth.dst", "02:00:00:00:00:a0")
    is("0/1", "ipv4.src", "10.0.1.1")
    is("0/1", "udp.src", "1000")
    is("0/1", "size", "128")
    local line = {unpack(slot_line)}
    line[11] = 33
    pktgen.seq(1, 0, unpack(line))
    is("0/2", "gtpu.teid", "33")
    line[6] = 80
    pktgen.seq(2, "0", unpack(line))
    wr.expect(settings("0/3")["gtpu.teid"] == nil, "no GTP-U beside its port")
    refused("0 to 15", pktgen.seq, 16, "0", unpack(slot_line))
    refused("size is missing", pktgen.seq, 0, "0", unpack(slot_line, 1, 9))
    line[5] = 70000
    refused("source port", pktgen.seq, 0, "0", unpack(line))
    is("0/1", "udp.src", "1000")
end

function cases.seqTable()
    pktgen.seqTable(0, "all", {
        eth_dst_addr = "02:00:00:00:00:a0", eth_src_addr = "02:00:00:00:00:b0", ip_dst_addr = "10.0.0.1", ip_src_addr = "10.0.1.1/24",
        sport = 9, dport = 10, ethType = "ipv4", ipProto = "tcp", vlanid = 3, pktSize = 256, cos = 4, tos = 5, tcp_flags = "syn", gtpu_teid = 0,
    })
    is("0/1", "tcp.dst", "10")
    is("0/1", "tcp.flags", "syn")
    is("0/1", "ipv4.tos", "0x05")
    pktgen.seqTable(0, "0", {dport = 11})
    is("0/1", "tcp.dst", "11")
    is("0/1", "tcp.src", "9")
    is("0/1", "size", "256")
    is("0/1", "eth.dst", "02:00:00:00:00:a0")
    pktgen.seqTable(5, "0", {})
    is("0/6", "udp.dst", "5678")
    pktgen.seqTable(6, "0", {ipProto = "udp", dport = 2152, teid = 12})
    is("0/7", "gtpu.teid", "12")
    -- what a slot does not have changes nothing and stops nothing; 60 bytes are 64 with FCS
    pktgen.seqTable(7, "0", {dport = 12, port = 1, tlen = 42, pktSize = 60})
    is("0/8", "udp.dst", "12")
    is("0/8", "size", "auto")
    pktgen.seqTable(7, "0", {pktSize = 62})
    is("0/8", "size", "66")
    refused("too small", pktgen.seqTable, 7, "0", {pktSize = 59})
    refused("the table is missing", pktgen.seqTable, 0, "0")
    refused("destination port", pktgen.seqTable, 0, "0", {dport = "x"})
    is("0/1", "tcp.dst", "11")
end

function cases.seq_tcp_flags()
    pktgen.seq(0, "0", "02:00:00:00:00:a0", "02:00:00:00:00:b0", "10.0.0.1", "10.0.1.1", 1, 2, "ipv4", "tcp", 1, 64)
    pktgen.seq_tcp_flags(0, "0", "fin,psh")
    is("0/1", "tcp.flags", "fin,psh")
end
