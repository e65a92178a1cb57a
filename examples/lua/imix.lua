-- SPDX-License-Identifier: BSD-3-Clause
-- IMIX: sends frames of 64, 570 and 1518 bytes as 7:4:1, tells what that is in frames and bits, and
-- checks that the mix arrives as it was sent.
--
--   wirerate -p wire -b -f imix.lua
--   wirerate -p wire -b -e 'script imix.lua rate=1Gbps frames=1200000'
local wr = require "wirerate"
local args, tab = require "wirerate.args", require "wirerate.tab"

local o = args({from = 0, to = 1, rate = "200Mbps", frames = 60000, size = "imix"}, ...) -- on real ports: yours

local port = wr.port[o.from]
port.size = o.size
port.rate = o.rate
port.count = o.frames
wr.at_end("stop " .. o.from) -- also when it is interrupted
wr.clear("all")
wr.start(o.from)
wr.wait(o.from)

local stats = wr.stats()
local tx, rx, run = stats.ports[o.from].tx, stats.ports[o.to].rx, stats.ports[o.from].run
local t = tab.new{{"bytes", -11}, "sent", "share", "received"}
local order = {"0-63", "64", "65-127", "128-255", "256-511", "512-1023", "1024-1522", "1523-"}
for _, size in ipairs(order) do
    if tx.sizes[size] > 0 or rx.sizes[size] > 0 then
        t:row(size, tx.sizes[size], ("%.2f%%"):format(100 * tx.sizes[size] / math.max(tx.packets, 1)), rx.sizes[size])
        wr.expect(tx.sizes[size] == rx.sizes[size], "frames of " .. size .. " bytes: all that were sent have arrived")
    end
end
t:row("all", tx.packets, "100%", rx.packets)
print(t)
print(("mean size %.1f bytes; sent %s/s, %sbit/s on the wire"):format(
    tx.packets > 0 and tx.bytes / tx.packets or 0, wr.fmt.si(run.mean_pps or 0) .. " frames", wr.fmt.si(run.mean_l1_bps or 0)))
wr.expect(tx.packets == o.frames, "as many frames as were asked for")
wr.expect(tx.bytes == rx.bytes, "no byte was lost")
