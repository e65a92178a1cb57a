-- SPDX-License-Identifier: BSD-3-Clause
-- Three slots, each with a frame of its own, sent in turn.
package.path = package.path .. ";?.lua;test/?.lua;app/?.lua;../?.lua"
require "Pktgen"

pktgen.set("all", "count", 300)
pktgen.set("all", "rate", 5)
pktgen.seq(0, "0", "02:00:00:00:00:a0", "02:00:00:00:00:b0", "10.0.0.1", "10.0.1.1/24", 1000, 2000, "ipv4", "udp", 1, 64)
pktgen.seq(1, "0", "02:00:00:00:00:a1", "02:00:00:00:00:b1", "10.0.0.2", "10.0.1.2/24", 1001, 2001, "ipv4", "tcp", 2, 128)
pktgen.seq_tcp_flags(1, "0", "syn,ack")
pktgen.seq(2, "0", "02:00:00:00:00:a2", "02:00:00:00:00:b2", "10.0.0.3", "10.0.1.3/24", 1002, 2002, "ipv4", "udp", 3, 256, 0)
pktgen.set("0", "seq_cnt", 3)
pktgen.start("0")
while pktgen.isSending("0")[0] == "y" do
    pktgen.delay(10)
end
pktgen.set("0", "seq_cnt", 0)
