-- SPDX-License-Identifier: BSD-3-Clause
-- A single packet, as many times as its count says.
package.path = package.path .. ";?.lua;test/?.lua;app/?.lua;../?.lua"
require "Pktgen"

pktgen.screen("off")
pktgen.clr()

pktgen.set("0", "count", 100)
pktgen.set("0", "rate", 50)
pktgen.set("0", "size", 128)
pktgen.set("0", "burst", 16)
pktgen.set("0", "sport", 4000)
pktgen.set("0", "dport", 5000)
pktgen.set("0", "ttl", 33)
pktgen.set_type("0", "ipv4")
pktgen.set_proto("0", "udp")
pktgen.set_mac("0", "dst", "00aa:bb00:1122")
pktgen.set_mac("0", "src", "02:00:00:00:00:07")
pktgen.set_ipaddr("0", "dst", "198.18.1.1")
pktgen.set_ipaddr("0", "src", "198.18.0.1/24")
pktgen.tos("0", 8)
pktgen.pattern("0", "user")
pktgen.userPattern("0", "wire")

pktgen.start("0")
while pktgen.isSending("0")[0] == "y" do
    pktgen.delay(10)
end
printf("sent %d\n", pktgen.portStats("0")[0].curr.opackets)
