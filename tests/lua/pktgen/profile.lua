-- SPDX-License-Identifier: BSD-3-Clause
-- A day of traffic in a second: steps of rates, each for its time.
package.path = package.path .. ";?.lua;test/?.lua;app/?.lua;../?.lua"
require "Pktgen"

local profile = {
    { timeMs = 100, rate = 1 },
    { timeMs = 100, rate = 4 },
    { timeMs = 100, rate = 2.5 },
    { timeMs = 100, rate = 0 },
}

pktgen.screen("off")
pktgen.set("0", "size", 512)
pktgen.set("0", "rate", profile[1].rate)
pktgen.clr()
pktgen.start("0")
for _, step in ipairs(profile) do
    pktgen.set("0", "rate", step.rate)
    local before = pktgen.portStats("0", "port")[0].opackets
    pktgen.delay(step.timeMs)
    for _ = 1, 400 do
        if pktgen.portStats("0", "port")[0].opackets > before then
            break
        end
        pktgen.delay(50)
    end
    local info = pktgen.portInfo("0")[0].info
    printf("step %g tx_rate %d pps %d sent %s\n", step.rate, info.tx_rate, info.tx_debug.tx_pps,
           tostring(pktgen.portStats("0", "port")[0].opackets > before))
end
pktgen.stop("0")
