-- SPDX-License-Identifier: BSD-3-Clause
-- The highest rate without loss, by halving. What a worker without a CPU sends too late comes as a burst, or not at all: where that may have
-- made the difference, there is another trial.
package.path = package.path .. ";?.lua;test/?.lua;app/?.lua;../?.lua"
require "Pktgen"

local tx, rx = "0", "1"
local trial_ms, precision, stall_ns, again = 500, 2, 10e6, 100

local function stalled()
    local longest = 0
    for _, worker in wr.each(wr.stats().workers) do
        longest = math.max(longest, worker.stall.longest_ns)
    end
    return longest > stall_ns
end

-- Whether nothing was lost, and whether that tells anything of the rate.
local function trial(rate)
    pktgen.set(tx, "rate", rate)
    pktgen.clear("all")
    pktgen.start(tx)
    pktgen.delay(trial_ms)
    pktgen.stop(tx)
    pktgen.run("cmd", "wait all", 0)
    local sent = pktgen.portStats(tx, "port")[tonumber(tx)].opackets
    local got = pktgen.portStats(rx, "port")[tonumber(rx)].ipackets
    local asked = pktgen.portInfo(tx)[tonumber(tx)].info.tx_debug.tx_pps * trial_ms / 1000
    local sure = sent == got and sent > 0.99 * asked or sent > got and not stalled()
    printf("trial %.4f sent %d lost %d%s\n", rate, sent, sent - got, sure and "" or ", again")
    return sent > 0 and sent == got, sure
end

local function lossless(rate)
    local good, sure = trial(rate)
    while not sure and again > 0 do
        again = again - 1
        good, sure = trial(rate)
    end
    return good, sure
end

pktgen.screen("off")
pktgen.set("all", "count", 0)
pktgen.set("all", "size", 64)
pktgen.set_proto("all", "udp")

local low, high, best = 0, 100, 0
while high - low > precision do
    local rate = (low + high) / 2
    local good, sure = lossless(rate)
    if not sure then
        print("no rate: the sender had no CPU")
        return
    end
    if good then
        low, best = rate, rate
    else
        high = rate
    end
end
printf("best %.4f\n", best)
