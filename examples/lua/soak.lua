-- SPDX-License-Identifier: BSD-3-Clause
-- A long soak: sends for hours, and writes a line per second to a CSV file, which is complete at
-- any time.
--
--   wirerate -p wire -b -e 'script soak.lua time=12h rate=10% csv=soak.csv'
--
-- Ctrl-C ends it early: sending is stopped, and the file has all full seconds. At the end every
-- frame that was sent must have arrived.
local wr = require "wirerate"
local args = require "wirerate.args"

local o = args({from = 0, to = 1, time = "10s", every = "1s", rate = "100kpps", csv = "soak.csv"}, ...) -- on real ports: yours

local COLUMNS = {"wall_s", "sent", "received", "sent_pps", "received_pps", "missing", "rx_missed", "rx_nombuf", "tx_dropped", "tx_stalls",
    "link"}
local out = assert(io.open(o.csv, "w"))
out:setvbuf("line")
out:write(table.concat(COLUMNS, ","), "\n")

local last, lines = nil, 0
local function line()
    local now = wr.stats()
    local tx, rx = now.ports[o.from].tx, now.ports[o.to].rx
    if last then
        local seconds = (now.time_ns - last.time_ns) / 1e9
        out:write(wr.csv.line({
            wall_s = ("%.3f"):format(now.wall_ns / 1e9), sent = tx.packets, received = rx.packets, missing = tx.packets - rx.packets,
            sent_pps = math.floor((tx.packets - last.ports[o.from].tx.packets) / seconds + 0.5),
            received_pps = math.floor((rx.packets - last.ports[o.to].rx.packets) / seconds + 0.5),
            rx_missed = rx.missed, rx_nombuf = rx.nombuf, tx_dropped = tx.dropped, tx_stalls = tx.stalls, link = now.ports[o.from].link,
        }, COLUMNS), "\n")
        lines = lines + 1
    end
    last = now
end

wr.port[o.from].rate = o.rate
wr.port[o.from].count = 0
wr.at_end("stop " .. o.from) -- also when it is interrupted
wr.clear("all")
line()
wr.start(o.from, "for", o.time)
local lines_of_time = wr.every(o.every, line)
wr.wait(o.from)
lines_of_time:stop()
line()
out:close()

local tx, rx = last.ports[o.from].tx, last.ports[o.to].rx
print(("soak: %d lines in %s; sent %d, received %d, missing %d"):format(lines, o.csv, tx.packets, rx.packets, tx.packets - rx.packets))
wr.expect(tx.packets > 0 and tx.packets == rx.packets, "every frame that was sent has arrived")
