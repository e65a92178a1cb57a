-- SPDX-License-Identifier: BSD-3-Clause
-- The highest rate of new connections without failures, by bisection. What is a failure is what a
-- trial of connections says: refused, timed out, reset, aborted, or without its answer.
--
--   wirerate -p wire -b -f connections.lua
--   wirerate -p wire -b -e 'script connections.lua response=10000 duration=10s resolution=100'
--
-- TCP sends again what is lost, so a device that is too slow has retransmissions long before
-- connections fail. `resent` is the share of all segments, in percent, that may be sent again.
-- A trial that is not valid is repeated, and counts neither for a rate nor against it. If no trial
-- above the answer was valid, the table says "at least" and the exit code is 4. The exit code is 1
-- if not even the least rate passes.
local wr = require "wirerate"
local args, search, tab = require "wirerate.args", require "wirerate.search", require "wirerate.tab"

-- On real ports: give your ports, wire = "", and to = -1 if the server is another machine.
local here = {from = 0, to = 1, wire = "20kpps queue 512"}

local o = args({from = here.from, to = here.to, wire = here.wire, app = "auto", response = 100, duration = "1s",
    least = 500, most = 20000, resolution = 250, max_loss = 0, resent = 0.1, again = 3, confirm = 0}, ...)
local client = wr.port[o.from]
client.flow, client.app = "client", o.app
if o.wire ~= "" then client["wire.limit"] = o.wire end
local ends = {client}
if o.to >= 0 then
    local server = wr.port[o.to]
    server.flow, server.app = "server", o.app
    ends[2] = server
end
for _, port in ipairs(ends) do
    port.response = tostring(o.response)
    port["flow.rto"] = "20ms" -- what is lost is found out soon
    port["flow.drain"] = "1s"
end

local steps = tab.new{"connections/s", "opened", "failed", "resent", {"outcome", -7}, {"verdict", -16}}

print(steps:head())
local r = search.highest{
    low = o.least, high = o.most, resolution = o.resolution, max_loss = o.max_loss, again = o.again, confirm = o.confirm,
    trial = function(rate)
        local t = wr.trial{ports = o.from, rate = rate, duration = o.duration}
        if t.segments.retransmitted > t.segments.tx * o.resent / 100 then
            t.loss_ratio = math.max(t.loss_ratio or 0, t.segments.retransmitted / t.segments.tx)
        end
        return t
    end,
    progress = function(done, all, rate)
        wr.progress(done, all, ("%d connections/s"):format(rate))
    end,
    note = function(step)
        local t = step.trial
        print(steps:row(math.floor(step.rate), t.fates.opened, t.fates.opened - t.fates.succeeded, t.segments.retransmitted, step.outcome,
            t.verdict .. (step.tries > 1 and " x" .. step.tries or "")))
    end,
}
local known = {loss = "exact", untold = "at least", range = "at least"}
if r.rate then
    print(("\n%s %d connections/s; %d trials, %d not valid"):format(known[r.upper_by], math.floor(r.rate), r.trials, r.not_valid))
else
    print(("\nnothing passed; %d trials, %d not valid"):format(r.trials, r.not_valid))
end
wr.exit(r.upper_by == "untold" and 4 or r.rate == nil and 1 or 0)
