-- SPDX-License-Identifier: BSD-3-Clause
-- Ranges, statistics, and the second table.
local wr = require "wirerate"
local pktgen = require "Pktgen"
local host = require "wirerate.pktgen.host"
local shows = require "pktgen_cases.shows"
local is, same, refused, send, took = shows.is, shows.same, shows.refused, shows.send, shows.took
local two = #wr.ports() > 1
local cases, range, second = shows.cases, shows.range, shows.second

local function ranged(row, fn, ...)
    local v = {...}
    for i, part in ipairs({"start", "min", "max", "inc"}) do
        pktgen.range[fn]("0", part, v[i])
    end
    local text = tostring(wr.port[0]["range." .. row])
    local want = table.concat(v, " ")
    same(text, want, "range." .. row)
    refused("none of start, min, max, inc", pktgen.range[fn], "0", "step", v[1])
end

function range.dst_mac()
    ranged("dst-mac", "dst_mac", "02:00:00:00:00:01", "02:00:00:00:00:00", "02:00:00:00:00:ff", "00:00:00:00:00:01")
end

function range.src_mac()
    ranged("src-mac", "src_mac", "02:00:00:00:00:01", "02:00:00:00:00:00", "02:00:00:00:00:ff", "00:00:00:00:00:02")
end

function range.src_ip()
    ranged("src-ip", "src_ip", "10.0.0.1", "10.0.0.1", "10.0.0.9", "0.0.0.1")
    pktgen.range.src_ip("0", "start", "10.0.0.2/24")
    ranged("src-ip6", "src_ip", "fd00::1", "fd00::1", "fd00::9", "::1")
end

function range.dst_ip()
    ranged("dst-ip", "dst_ip", "10.0.0.1", "10.0.0.1", "10.0.0.9", "0.0.0.1")
end

function range.src_port()
    ranged("src-port", "src_port", 5, 1, 9, 2)
    refused("65535", pktgen.range.src_port, "0", "max", 65536)
end

function range.dst_port()
    ranged("dst-port", "dst_port", 5, 1, 9, 2)
end

function range.ttl()
    ranged("ttl", "ttl", 5, 1, 9, 2)
end

function range.hop_limits()
    ranged("hop-limits", "hop_limits", 5, 1, 9, 2)
end

function range.vlan_id()
    ranged("vlan", "vlan_id", 5, 1, 9, 2)
end

function range.pkt_size()
    ranged("size", "pkt_size", 64, 64, 128, 1)
    -- the smallest frame without FCS, and an increment that is no size
    pktgen.range.pkt_size("0", "start", 60)
    pktgen.range.pkt_size("0", "inc", 60)
    same(wr.port[0]["range.size"], "64 64 128 60", "range.size")
end

function range.cos()
    ranged("cos", "cos", 1, 0, 7, 1)
end

function range.tos()
    pktgen.range.tos("0", "start", 8)
    wr.expect(tostring(wr.port[0]["range.tos"]):find("^0x08 "), "range.tos")
end

function range.traffic_class()
    pktgen.range.traffic_class("0", "start", 8)
    wr.expect(tostring(wr.port[0]["range.traffic-class"]):find("^0x08 "), "range.traffic-class")
end

function range.set_type()
    pktgen.range.set_type("0", "ipv6")
    same(wr.port[0]["range.type"], "ipv6", "range.type")
    refused("allowed: ipv4, ipv6", pktgen.range.set_type, "0", "arp")
end

function range.ip_proto()
    pktgen.range.ip_proto("0", "udp")
    same(wr.port[0]["range.proto"], "udp", "range.proto")
end

function range.mpls_entry()
    pktgen.mpls("0", "on")
    pktgen.range.mpls_entry("0", "0x00064140")
    is("0/0", "mpls.label", "100")
    pktgen.mpls_entry("0", "c8140")
    is("0/0", "mpls.label", "200")
    refused("no hexadecimal number", pktgen.range.mpls_entry, "0", "xyz")
end

function range.qinqids()
    pktgen.qinq("0", "on")
    pktgen.range.qinqids("0", 100, 200)
    is("0/0", "qinq.vid", "100")
    is("0/0", "vlan.vid", "200")
end

function range.gre_key()
    pktgen.gre("0", "on")
    pktgen.range.gre_key("0", 4711)
    is("0/0", "gre.key", "4711")
end

function cases.gtpu_teid()
    for i, part in ipairs({"start", "min", "max", "inc"}) do
        pktgen.gtpu_teid("0", part, ({5, 1, 9, 2})[i])
    end
    same(wr.port[0]["range.teid"], "5 1 9 2", "range.teid")
end

function range.gtpu_teid()
    for i, part in ipairs({"start", "min", "max", "inc"}) do
        pktgen.range.gtpu_teid("0", part, ({100, 90, 200, 1})[i])
    end
    same(wr.port[0]["range.teid"], "100 90 200 1", "range.teid")
    refused("0 to 4294967295", pktgen.range.gtpu_teid, "0", "start", -1)
end



function cases.isSending()
    local all = pktgen.isSending("all")
    same(all.n, pktgen.portCount(), "n")
    same(all[0], "n", "port 0")
    refused("there is no port 40", pktgen.isSending, "0,40")
end

function cases.linkState()
    local want = wr.stats().ports[0]
    same(pktgen.linkState(0)[0], want.link == "down" and "<--Down-->" or ("<UP-%d-FD>"):format(want.speed_mbps), "link")
    if two then
        host.run("set 0 wire link down")
        for _ = 1, 200 do
            if wr.stats().ports[0].link ~= "down" then
                pktgen.delay(10)
            end
        end
        same(pktgen.linkState("0")[0], "<--Down-->", "link that is down")
        host.run("set 0 wire link up")
    end
end

function cases.portStats()
    pktgen.set_proto("0", "udp")
    pktgen.set("0", "size", 200)
    pktgen.clr()
    send(500)
    local new, old, st = pktgen.portStats("all"), pktgen.portStats("all", "port"), wr.stats().ports
    same(new.n, pktgen.portCount(), "n")
    for p, s in wr.each(st) do
        same(new[p].curr.opackets, s.tx.packets, "opackets")
        same(new[p].curr.ipackets, s.rx.packets, "ipackets")
        same(new[p].curr.obytes, s.tx.bytes - 4 * s.tx.packets, "obytes")
        same(new[p].curr.ibytes, s.rx.bytes - 4 * s.rx.packets, "ibytes")
        for _, key in ipairs({"ierrors", "oerrors", "rx_nombuf", "imissed", "ipackets", "opackets", "ibytes", "obytes"}) do
            same(type(old[p][key]), "number", key)
            same(old[p][key], new[p].curr[key], key)
        end
        same(new[p].qstats[0].opackets, s.queues[0].tx and s.queues[0].tx.packets or 0, "of the queue")
        same(type(new[p].sizes._1024_1522), "number", "sizes")
    end
    same(st[0].tx.packets, 500, "sent")
    if two then
        same(new[1].sizes._128_255, 500, "size")
    end
    local rate = pktgen.portStats("0", "rate")[0]
    for _, key in ipairs({"pkts_rx", "pkts_tx", "mbits_rx", "mbits_tx", "ipackets", "opackets", "ibytes", "obytes", "ierrors", "imissed"}) do
        same(rate[key], math.floor(rate[key]), key)
    end
    refused("allowed: port, rate", pktgen.portStats, "0", "ports")
end

function cases.portSizes()
    local s = pktgen.portSizes("all")
    for _, key in ipairs({"runt", "_64", "_65_127", "_128_255", "_256_511", "_512_1023", "_1024_1518", "jumbo", "broadcast", "multicast"}) do
        same(type(s[0][key]), "number", key)
    end
end

function cases.pktStats()
    pktgen.set_proto("0", "udp")
    pktgen.latency("0", "on")
    pktgen.jitter("all", 1)
    pktgen.clr()
    send(50)
    local s = pktgen.pktStats("all")
    for _, key in ipairs({"arp_pkts", "echo_pkts", "ip_pkts", "ipv6_pkts", "vlan_pkts", "dropped_pkts", "unknown_pkts", "tx_failed"}) do
        same(type(s[0][key]), "number", key)
    end
    if two then
        same(s[1].latency.num_pkts, wr.latency().ports[1].latency.actual.samples, "num_pkts")
        same(s[1].latency.num_pkts, 50, "num_pkts")
        same(type(s[1].avg_latency), "number", "avg_latency")
        same(s[1].latency.jitter_threshold_us, 1, "threshold")
    end
end

function cases.portInfo()
    pktgen.set("0", "count", 12)
    pktgen.set("0", "rate", 12.7)
    pktgen.set("0", "size", 300)
    pktgen.set("0", "dport", 99)
    local t = pktgen.portInfo("all")
    same(t.n, pktgen.portCount(), "n")
    local i = t[0].info
    same(i.tx_count, 12, "tx_count")
    same(i.tx_rate, 12, "tx_rate")
    same(i.pkt_size, 300, "pkt_size")
    same(i.eth_type, "IPv4", "eth_type")
    same(i.proto_type, "UDP", "proto_type")
    same(i.l2_l3_info.dst_port, 99, "dst_port")
    same(t[0].l2_l3_info.dst_port, 99, "the same one level higher")
    same(i["802.1p"].dscp, 0, "dscp")
    same(i.tx_debug.tx_pps, wr.rates().ports[0].asked_pps, "tx_pps")
    same(type(t[0].total_stats.max_ipackets), "number", "total_stats")
    same(type(i.VxLAN.group_id), "number", "group_id")
    same(i.vlanid, 1, "vlanid")
    pktgen.set("0", "count", 0)
    same(pktgen.portInfo("0")[0].info.tx_count, "Forever", "tx_count")
end



function second.delay()
    took(2e6, dpdk.delay, 2)
end

function second.sleep()
    took(2e6, dpdk.sleep, 0.002)
end

function second.pause()
    took(2e6, dpdk.pause, "", 2)
end

second["continue"] = function()
    same(type(dpdk.continue("")), "string", "key")
end

function second.input()
    same(type(dpdk.input("")), "string", "line")
end

function second.port_stats()
    same(dpdk.port_stats("0")[0].opackets, wr.stats().ports[0].tx.packets, "opackets")
end

function second.version()
    same(dpdk.version(), pktgen.info.DPDK_Version, "version")
end

function second.portCount()
    same(dpdk.portCount(), pktgen.portCount(), "portCount")
end

function second.totalPorts()
    same(dpdk.totalPorts(), pktgen.totalPorts(), "totalPorts")
end

function second.linkState()
    same(dpdk.linkState("0")[0], pktgen.linkState("0")[0], "linkState")
    refused("single mbufs", function()
        return dpdk.tx_burst
    end)
end

-- quit() would end this: it is the last of files.lua
function cases.quit()
    same(type(pktgen.quit), "function", "quit")
end
