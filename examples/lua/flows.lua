-- SPDX-License-Identifier: BSD-3-Clause
-- Sends several thousand flows, each a stream with its own addresses and a probe in every frame,
-- and tells what became of each of them.
--
--   wirerate -p wire -b -f flows.lua
--   wirerate -p wire -b -e 'script flows.lua flows=4000 each=20 rate=100kpps'
local wr = require "wirerate"
local args, tab = require "wirerate.args", require "wirerate.tab"

-- On real ports: give yours. loss is what the wire loses on purpose, such as "1%".
local o = args({from = 0, to = 1, flows = 2000, each = 5, rate = "20kpps", loss = ""}, ...)

local port = wr.port[o.from]
if o.flows > 1 then
    wr.cmd(("stream add %d/1-%d"):format(o.from, o.flows - 1))
end
for i = 0, o.flows - 1 do
    local s = port.stream[i]
    s.frame = "eth/ipv4/udp"
    s["udp.src"] = 1024 + i
    s["ipv4.src"] = ("10.%d.%d.1"):format(math.floor(i / 256), i % 256)
    s.probe = "on"
end
port.rate = o.rate
port.count = o.flows * o.each -- the streams take turns, so this is `each` frames of every flow
if o.loss ~= "" then port["wire.loss"] = o.loss end

wr.at_end("stop " .. o.from) -- also when it is interrupted
wr.clear("all")
wr.start(o.from)
wr.wait(o.from)

local seen = wr.latency(o.from .. "/all")
local whole, worst = 0, {}
for _, c in pairs(seen.streams) do
    if c.sent == o.each and c.received == o.each and c.lost == 0 and c.duplicated == 0 then
        whole = whole + 1
    else
        worst[#worst + 1] = c
    end
end
-- A count that is not known is nil.
table.sort(worst, function(a, b)
    local x, y = a.lost or 0, b.lost or 0
    return x > y or x == y and a.stream < b.stream
end)
print(("%d flows of %d frames: %d arrived whole, %d did not"):format(o.flows, o.each, whole, o.flows - whole))
if #worst > 0 then
    local t = tab.new{"flow", "sent", "received", "lost", "duplicated", "reordered"}
    for i = 1, math.min(10, #worst) do
        local c = worst[i]
        t:row(c.stream, c.sent, c.received, c.lost, c.duplicated, c.reordered)
    end
    print(t)
    if #worst > 10 then print(("and %d more"):format(#worst - 10)) end
end
wr.expect(whole == o.flows, "every frame of every flow arrived once")
