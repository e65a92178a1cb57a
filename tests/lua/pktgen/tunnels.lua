-- SPDX-License-Identifier: BSD-3-Clause
-- Tags and tunnels, one after the other; ten frames of each.
package.path = package.path .. ";?.lua;test/?.lua;app/?.lua;../?.lua"
require "Pktgen"

local function send()
    pktgen.start("0")
    while pktgen.isSending("0")[0] == "y" do
        pktgen.delay(10)
    end
end

pktgen.set("0", "count", 10)
pktgen.set("0", "rate", 1)
pktgen.set("0", "size", 256)
pktgen.set_proto("0", "udp")

pktgen.vlanid("0", 123)
pktgen.cos("0", 0, 5)
pktgen.vlan("0", "on")
send()
pktgen.vlan("0", "off")

pktgen.range.qinqids("0", 100, 200)
pktgen.qinq("0", "on")
send()
pktgen.qinq("0", "off")

pktgen.range.mpls_entry("0", "0x00064140")
pktgen.mpls("0", "on")
send()
pktgen.mpls("0", "off")

pktgen.range.gre_key("0", 4711)
pktgen.gre("0", "on")
send()
pktgen.gre("0", "off")
pktgen.gre_eth("0", "on")
send()
pktgen.gre_eth("0", "off")

pktgen.vxlan_id("0", 0x0800, 5, 7777)
pktgen.vxlan("0", "on")
send()
pktgen.vxlan("0", "off")

-- GTP-U is what goes to its port, by a range as by the single packet
pktgen.set("0", "dport", 2152)
send()
pktgen.set("0", "dport", 5678)
pktgen.gtpu_teid("0", "start", 90)
pktgen.gtpu_teid("0", "min", 90)
pktgen.gtpu_teid("0", "max", 93)
pktgen.gtpu_teid("0", "inc", 1)
pktgen.range.dst_port("0", "start", 2152)
pktgen.range.dst_port("0", "min", 2152)
pktgen.range.dst_port("0", "max", 2152)
pktgen.range.dst_port("0", "inc", 0)
pktgen.range.src_port("0", "inc", 0)
pktgen.range.ip_proto("0", "udp")
pktgen.range.pkt_size("0", "start", 256)
pktgen.set_range("0", "on")
send()
pktgen.set_range("0", "off")
send()
