-- SPDX-License-Identifier: BSD-3-Clause
-- Addresses, ports, sizes and a VLAN id that change from frame to frame.
package.path = package.path .. ";?.lua;test/?.lua;app/?.lua;../?.lua"
require "Pktgen"

local P = "0"
pktgen.set(P, "count", 1000)
pktgen.set(P, "rate", 1)

pktgen.range.dst_mac(P, "start", "02:00:00:00:01:00")
pktgen.range.dst_mac(P, "min", "02:00:00:00:01:00")
pktgen.range.dst_mac(P, "max", "02:00:00:00:01:ff")
pktgen.range.dst_mac(P, "inc", "00:00:00:00:00:01")
pktgen.range.src_mac(P, "start", "02:00:00:00:02:00")

pktgen.range.dst_ip(P, "start", "10.1.0.1")
pktgen.range.dst_ip(P, "min", "10.1.0.1")
pktgen.range.dst_ip(P, "max", "10.1.0.200")
pktgen.range.dst_ip(P, "inc", "0.0.0.1")
pktgen.range.src_ip(P, "start", "10.2.0.9")
pktgen.range.src_ip(P, "inc", "0.0.0.0")

pktgen.range.ip_proto(P, "udp")
pktgen.range.dst_port(P, "start", 2000)
pktgen.range.dst_port(P, "min", 2000)
pktgen.range.dst_port(P, "max", 2499)
pktgen.range.dst_port(P, "inc", 1)
pktgen.range.src_port(P, "start", 5000)
pktgen.range.src_port(P, "min", 5000)
pktgen.range.src_port(P, "max", 6000)
pktgen.range.src_port(P, "inc", 2)
pktgen.range.ttl(P, "start", 64)
pktgen.range.ttl(P, "inc", 0)

pktgen.range.pkt_size(P, "start", 64)
pktgen.range.pkt_size(P, "min", 64)
pktgen.range.pkt_size(P, "max", 127)
pktgen.range.pkt_size(P, "inc", 1)

pktgen.range.vlan_id(P, "start", 10)
pktgen.range.vlan_id(P, "min", 10)
pktgen.range.vlan_id(P, "max", 19)
pktgen.range.vlan_id(P, "inc", 1)
pktgen.vlan(P, "on")
pktgen.set_range(P, "on")

pktgen.start(P)
repeat
    sleep(0.05)
until pktgen.isSending(P)[0] == "n"
