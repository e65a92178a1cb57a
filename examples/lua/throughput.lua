-- SPDX-License-Identifier: BSD-3-Clause
-- Throughput as in RFC 2544, 26.1: finds for each frame size the highest load at which no frame is
-- lost, by bisection.
--
--   wirerate -p wire -b -f throughput.lua
--   wirerate -p wire -b -e 'script throughput.lua sizes=64,1518 duration=60s resolution=0.1'
--
-- A trial that is not valid (the tester was disturbed, or could not send that much) is repeated,
-- and what it lost is never counted against the device. If no trial above the answer was valid, the
-- table says "at least" and the exit code is 4. The exit code is 1 if not even the least load
-- passes. The standard asks for 60 s per trial, and for waits: run `set trial rfc2544` before the
-- script for these.
local wr = require "wirerate"
local args, search, tab = require "wirerate.args", require "wirerate.search", require "wirerate.tab"

-- On real ports: give your ports, and speed = "" and wire = "".
local here = {from = 0, to = 1, speed = "100M", wire = "40Mbps queue 256"}

local o = args({from = here.from, to = here.to, speed = here.speed, wire = here.wire, sizes = "64,512,1518", duration = "1s",
    least = 1, most = 100, resolution = 1, max_loss = 0, again = 3, confirm = 1}, ...)
local port = wr.port[o.from]
if o.speed ~= "" then port.speed = o.speed end
if o.wire ~= "" then port["wire.limit"] = o.wire end
port.frame = "eth/ipv4/udp" -- has room for a probe, so that each frame is recognized and timed

local steps = tab.new{{"size", 5}, {"load", 8}, {"lost", 9}, {"outcome", -7}, {"verdict", -16}}
local answers = tab.new{"size", "throughput", "pps", "l2 bit/s", "p99", "trials", "not valid", {"known", -8}}
local code = 0

local ENDS = {loss = "exact", untold = "at least", range = "at least"}

local sizes = {}
for size in o.sizes:gmatch("%d+") do
    sizes[#sizes + 1] = size
end

print(steps:head())
for i, size in ipairs(sizes) do
    port.size = size
    local r = search.highest{
        low = o.least, high = o.most, resolution = o.resolution, max_loss = o.max_loss, again = o.again, confirm = o.confirm,
        trial = function(load)
            return wr.trial{ports = o.from, receivers = o.to, rate = ("%.4f%%"):format(load), duration = o.duration}
        end,
        progress = function(done, all, load)
            wr.progress(i - 1 + done / all, #sizes, ("%s bytes at %.2f%%"):format(size, load))
        end,
        note = function(step)
            print(steps:row(size, ("%.2f%%"):format(step.rate), step.trial.fates.lost, step.outcome,
                step.trial.verdict .. (step.tries > 1 and " x" .. step.tries or "")))
        end,
    }
    local p99 = r.trial and r.trial.latency and r.trial.latency.actual.percentiles_ns.p99
    answers:row(size, r.rate and ("%.2f%%"):format(r.rate), r.rate and r.trial.offered_pps and math.floor(r.trial.offered_pps),
        r.rate and r.trial.offered_l2_bps and wr.fmt.si(r.trial.offered_l2_bps), p99 and wr.fmt.duration(p99), r.trials, r.not_valid,
        r.rate and ENDS[r.upper_by] or r.upper_by == "loss" and "loss" or "nothing")
    if r.upper_by == "untold" then
        code = 4
    elseif r.rate == nil then
        code = math.max(code, 1)
    end
end
print("\n" .. tostring(answers))
wr.exit(code)
