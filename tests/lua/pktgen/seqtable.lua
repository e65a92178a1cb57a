-- SPDX-License-Identifier: BSD-3-Clause
-- The same by tables, which need not have all keys; the second port has them as well.
package.path = package.path .. ";?.lua;test/?.lua;app/?.lua;../?.lua"
require "Pktgen"

local slot = {
    ["eth_dst_addr"] = "0011:2233:4455",
    ["eth_src_addr"] = "0211:1234:5678",
    ["ip_dst_addr"] = "10.12.0.1",
    ["ip_src_addr"] = "10.12.0.1/16",
    ["sport"] = 9,
    ["dport"] = 10,
    ["ethType"] = "ipv4",
    ["ipProto"] = "udp",
    ["vlanid"] = 1,
    ["pktSize"] = 128,
    ["gtpu_teid"] = 0,
}
for i = 0, 3 do
    slot.sport = 9 + i
    slot.ip_dst_addr = string.format("10.12.%d.1", i)
    pktgen.seqTable(i, "0", slot)
end
-- only what differs, and what is a slot's alone
pktgen.seqTable(3, "0", { dport = 77, cos = 5, tos = 6 })
pktgen.seqTable(4, "0", { ipProto = "tcp", tcp_flags = "syn", dport = 80 })

pktgen.vlan("0", "enable")
pktgen.set("0", "count", 50)
pktgen.set("0", "rate", 1)
pktgen.set("0", "seqCnt", 5)
pktgen.start("0")
while pktgen.isSending("0")[0] == "y" do
    pktgen.delay(10)
end
