-- SPDX-License-Identifier: BSD-3-Clause
-- The capacity of queues: all queues send as fast as they can, and each is shown by itself.
--
--   wirerate -p wire -m '1.0*4' -m '1.1*4' -b -f queues.lua
--
-- The map says how many queues there are and which worker serves each. With one core for each queue
-- (`-m 1-4.0`) the result is the capacity of a core. On NICs a hash (RSS) chooses the Rx queue of a
-- frame, so frames of many flows are sent.
local wr = require "wirerate"
local args, tab = require "wirerate.args", require "wirerate.tab"

local o = args({from = 0, to = 1, duration = "2s", rate = "max", size = "64"}, ...) -- on real ports: yours

local port = wr.port[o.from]
port.frame = "eth/ipv4/udp"
port["udp.src"] = "1024..65535"
port.size = o.size
port.rate = o.rate
port.count = 0
wr.at_end("stop " .. o.from) -- also when it is interrupted
wr.clear("all")
wr.start(o.from, "for", o.duration)
wr.wait(o.from)

local stats, queues = wr.stats(), wr.queues()
local seconds = stats.ports[o.from].run.duration_ns / 1e9

local function side(number, name)
    local list, all, least, most = queues.ports[number].queues, 0, math.huge, 0
    for _, q in pairs(list) do
        if q[name] then
            all, least, most = all + q[name].packets, math.min(least, q[name].packets), math.max(most, q[name].packets)
        end
    end
    local t = tab.new{{"queue", -8}, "frames", "frames/s", "share", {"", -20}, name == "tx" and "stalls" or "full bursts", "worker"}
    for number_of_queue, q in wr.each(list) do
        local c = q[name]
        if c then
            local share = all > 0 and c.packets / all or 0
            t:row(name .. " " .. number_of_queue, c.packets, wr.fmt.si(c.packets / seconds), ("%.1f%%"):format(share * 100),
                ("#"):rep(math.floor(share * 20 + 0.5)), name == "tx" and c.stalls or c.full, c.worker)
            wr.expect(c.packets > 0, ("port %d %s queue %d carries frames"):format(number, name, number_of_queue))
        end
    end
    print(("port %d %s: %s frames/s, the busiest queue has %.2f times the idlest"):format(
        number, name, wr.fmt.si(all / seconds), least > 0 and most / least or math.huge))
    print(t)
    return all
end

local sent = side(o.from, "tx")
print("")
local got = side(o.to, "rx")
local rx = stats.ports[o.to].rx
print(("\nreceived %s of %s frames; the receiver missed %d, and had no buffer for %d"):format(
    tab.count(got), tab.count(sent), rx.missed, rx.nombuf))
wr.expect(sent == stats.ports[o.from].tx.packets, "the queues' counters make up the port's")
