-- SPDX-License-Identifier: BSD-3-Clause
-- nightly.sh runs this script: it sends one load for a while and judges its loss and its latency.
-- The exit code is the answer (0 passed, 1 failed, 4 no valid trial), and `--json-stream` and
-- `--report` have the numbers. It prints only why the device did not pass.
--
--   wirerate -p wire --json-stream --report night.json -e 'script nightly.lua rate=40% max_p99_us=5000'
local wr = require "wirerate"
local args, search = require "wirerate.args", require "wirerate.search"

-- On real ports: give yours, and the limits that they have to keep.
local o = args({from = 0, to = 1, rate = "10kpps", duration = "2s", again = 3, max_loss = 0, max_p99_us = 50000}, ...)

wr.port[o.from].frame = "eth/ipv4/udp"
local trial = search.attempt(function()
    return wr.trial{ports = o.from, receivers = o.to, rate = o.rate, duration = o.duration}
end, o.again)
if trial.verdict ~= "valid" or not trial.loss_ratio then -- nil: the fate of the frames is not known
    io.stderr:write("no valid trial: ", table.concat(trial.why or {}, "; "), "\n")
    wr.exit(4)
end
local p99 = trial.latency and trial.latency.actual.percentiles_ns.p99
local whole = wr.expect(trial.loss_ratio <= o.max_loss, ("lost %d of %d frames"):format(trial.fates.lost, trial.fates.sent))
local quick = wr.expect(p99 and p99 <= o.max_p99_us * 1000,
    ("latency p99: %s, allowed are %d us"):format(p99 and wr.fmt.duration(p99) or "unknown", o.max_p99_us))
wr.exit(whole and quick and 0 or 1) -- trials before the valid one do not count
