-- SPDX-License-Identifier: BSD-3-Clause
-- A ramp: the rate rises in a straight line, and the frames that leave and arrive are counted
-- several times a second.
--
--   wirerate -p wire -b -f ramp.lua
--   wirerate -p wire -b -e 'script ramp.lua high=2Mpps time=30s every=1s csv=ramp.csv'
--
-- The device of this demonstration carries 60 kpps, so the two curves separate there.
local wr = require "wirerate"
local args, plot = require "wirerate.args", require "wirerate.plot"

-- On real ports: give your ports, and wire = "".
local here = {from = 0, to = 1, wire = "60kpps queue 64"}

local o = args({from = here.from, to = here.to, wire = here.wire, low = "1kpps", high = "100kpps", time = "5s", every = "250ms",
    csv = ""}, ...)
local port = wr.port[o.from]
if o.wire ~= "" then port["wire.limit"] = o.wire end
port.rate = ("%s..%s over %s"):format(o.low, o.high, o.time)
port.count = 0

local out = o.csv ~= "" and assert(io.open(o.csv, "w"))
if out then out:write("seconds,sent_pps,received_pps\n") end
local sent, got = {}, {}
local begin, last

-- Keeps the rates since the last call, which are made of exact counters and the times of both.
local function look()
    local now = wr.stats()
    begin = begin or now.time_ns
    if last and now.ports[o.from].run.state == "sending" then
        local seconds = (now.time_ns - last.time_ns) / 1e9
        local at = (now.time_ns - begin) / 1e9
        local tx = (now.ports[o.from].tx.packets - last.ports[o.from].tx.packets) / seconds
        local rx = (now.ports[o.to].rx.packets - last.ports[o.to].rx.packets) / seconds
        sent[#sent + 1], got[#got + 1] = {at, tx}, {at, rx}
        if out then out:write(wr.csv.line{at, tx, rx}, "\n") end
    end
    last = now
end

wr.at_end("stop " .. o.from) -- also when it is interrupted
wr.clear("all")
look()
wr.start(o.from, "for", o.time)
local looks = wr.every(o.every, look)
wr.wait(o.from)
looks:stop()
if out then out:close() end

print(plot.text{title = ("Ramp %s to %s"):format(o.low, o.high), x = {label = "time", unit = "s"},
    y = {label = "frames", unit = "pps", min = 0}, series = {{name = "sent", points = sent}, {name = "received", points = got}}})
local stats = wr.stats()
print(("sent %d frames, received %d"):format(stats.ports[o.from].run.sent, stats.ports[o.to].rx.packets))
wr.expect(stats.ports[o.from].run.sent > 0, "frames were sent")
