-- SPDX-License-Identifier: BSD-3-Clause
-- The highest rate without loss, by halving.
package.path = package.path .. ";?.lua;test/?.lua;app/?.lua;../?.lua"
require "Pktgen"

local tx, rx = "0", "1"
local trial_ms, settle_ms, precision = 1000, 200, 2

local function lossless(rate)
    pktgen.set(tx, "rate", rate)
    pktgen.clear("all")
    pktgen.start(tx)
    pktgen.delay(trial_ms)
    pktgen.stop(tx)
    pktgen.delay(settle_ms)
    local sent = pktgen.portStats(tx, "port")[tonumber(tx)].opackets
    local got = pktgen.portStats(rx, "port")[tonumber(rx)].ipackets
    printf("trial %.4f sent %d lost %d\n", rate, sent, sent - got)
    return sent > 0 and sent == got
end

pktgen.screen("off")
pktgen.set("all", "count", 0)
pktgen.set("all", "size", 64)
pktgen.set_proto("all", "udp")

local low, high, best = 0, 100, 0
while high - low > precision do
    local rate = (low + high) / 2
    if lossless(rate) then
        low, best = rate, rate
    else
        high = rate
    end
end
printf("best %.4f\n", best)
