-- SPDX-License-Identifier: BSD-3-Clause
-- Counters while ports send, in the forms of all versions.
package.path = package.path .. ";?.lua;test/?.lua;app/?.lua;../?.lua"
require "Pktgen"

pktgen.screen("off")
pktgen.set("all", "size", 256)
pktgen.set("all", "rate", 0.1)
pktgen.set_proto("all", "udp")
pktgen.clr()
pktgen.start("all")
local function till(holds)
    for _ = 1, 400 do
        if holds() then
            return true
        end
        pktgen.delay(50)
    end
    return false
end

local last = 0
for i = 1, 5 do
    local function grows()
        return pktgen.portStats("0")[0].curr.opackets > last
    end
    printf("grows %s\n", tostring(till(grows)))
    last = pktgen.portStats("0")[0].curr.opackets
end
local rate
till(function()
    rate = pktgen.portStats("0,1", "rate")
    return rate[0].pkts_tx > 0 and rate[0].mbits_tx > 0
end)
printf("rate %d %d %d\n", rate.n, rate[0].pkts_tx, rate[0].mbits_tx)
pktgen.stop("all")
pktgen.run("cmd", "wait all", 0)

local new, old, sizes, pkts = pktgen.portStats("all"), pktgen.portStats("all", "port"), pktgen.portSizes("all"), pktgen.pktStats("all")
for p = 0, pktgen.portCount() - 1 do
    printf("port %d tx %d rx %d ibytes %d obytes %d\n", p, old[p].opackets, old[p].ipackets, old[p].ibytes, old[p].obytes)
    printf("same %s\n", tostring(new[p].curr.opackets == old[p].opackets and new[p].curr.ibytes == old[p].ibytes))
    printf("size %d %d\n", sizes[p]._256_511, new[p].sizes._256_511)
    printf("queue %d\n", new[p].qstats[0].opackets)
    printf("failed %d %s\n", pkts[p].tx_failed, pkts[p].mac_addr)
end
prints("linkState", pktgen.linkState("all"))
