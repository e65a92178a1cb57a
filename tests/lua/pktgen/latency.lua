-- SPDX-License-Identifier: BSD-3-Clause
-- Latency of what one port sends and the other receives.
package.path = package.path .. ";?.lua;test/?.lua;app/?.lua;../?.lua"
require "Pktgen"

pktgen.screen("off")
pktgen.page("latency")
pktgen.set("0", "count", 20000)
pktgen.set("0", "rate", 1)
pktgen.set("0", "size", 64)
pktgen.set_proto("0", "udp")
pktgen.latency("0", "rate", 100)
pktgen.latency("0", "entropy", 16)
pktgen.latency("all", "enable")
pktgen.jitter("all", 50)
pktgen.clr()
pktgen.start("0")
pktgen.run("cmd", "wait 0", 0)
local stats = pktgen.pktStats("all")
local l = stats[1].latency
printf("probes %d skipped %d order %s\n", l.num_pkts, l.num_skipped,
       tostring(l.min_us <= l.avg_us and l.avg_us <= l.max_us and l.min_cycles <= l.avg_cycles and l.avg_cycles <= l.max_cycles))
printf("old %s %s %s %s\n", tostring(stats[1].min_avg_latency), tostring(stats[1].avg_latency), tostring(stats[1].max_avg_latency),
       tostring(stats[1].jitter_count))
pktgen.latency("all", "disable")
