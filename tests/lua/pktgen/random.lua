-- SPDX-License-Identifier: BSD-3-Clause
-- Bits, addresses and ports that are drawn anew for each frame.
package.path = package.path .. ";?.lua;test/?.lua;app/?.lua;../?.lua"
require "Pktgen"

pktgen.set("0", "count", 2000)
pktgen.set("0", "rate", 1)
pktgen.set_proto("0", "udp")
-- destination address 10.x.y.1: 16 bits are random
pktgen.rnd("0", 0, 30, "00001010XXXXXXXXXXXXXXXX00000001")
-- and the last bit of the destination port is 1
pktgen.rnd("0", 1, 36, "...............1")
prints("rnd", pktgen.rnd_list("0")[0][0])
pktgen.rnd_s_pt("0", "on")
pktgen.start("0")
while pktgen.isSending("0")[0] == "y" do
    pktgen.delay(10)
end
pktgen.rnd("0", 0, 0, "off")
pktgen.rnd("0", 1, 0, "off")
pktgen.rnd_s_pt("0", "off")
pktgen.set("0", "count", 10)
pktgen.start("0")
while pktgen.isSending("0")[0] == "y" do
    pktgen.delay(10)
end
