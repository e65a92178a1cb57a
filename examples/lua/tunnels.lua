-- SPDX-License-Identifier: BSD-3-Clause
-- Connections of many subscribers, each in a GTP-U tunnel of its own that has one TEID on the way up and another one on the way down, as between
-- a base station and a gateway.
--
--   wirerate -p wire -b -f tunnels.lua
-- On real ports: a gateway between both, whose sessions have these TEIDs and its address; the second port is a server behind it, without tunnels.
--   wirerate -p if:eth1 -p if:eth2 -b -e 'script tunnels.lua gateway=192.0.2.1 own=192.0.2.2 up=1..1000 down=5001..6000 plain=yes'
--
-- The exit code is 1 if connections failed.
local wr = require "wirerate"
local args = require "wirerate.args"

-- On a wire there is no gateway: the other port is in the tunnels, too.
local o = args({from = 0, to = 1, gateway = "192.0.2.1", own = "192.0.2.2", subscribers = "10.45.0.0/22", up = "1..1000", down = "5001..6000",
                server = "10.46.0.1", rate = "5k", count = 2000, plain = false}, ...)
local client, server = wr.port[o.from], wr.port[o.to]
client.frame = "eth/ipv4/udp/gtpu/ipv4/tcp"
client.flow = "client"
client["ipv4.src"], client["ipv4.dst"] = o.own, o.gateway
client["flow.src"], client["flow.dst"] = o.subscribers, o.server
client["gtpu.teid"], client["reply.gtpu.teid"] = o.up, o.down
client.cps, client.count = o.rate, o.count
-- addresses of connections are those of the innermost headers, so the headers come first
server.flow = "server"
if not o.plain then
    server.frame = client.frame
    server["gtpu.teid"], server["reply.gtpu.teid"] = o.up, o.down
end
server["flow.src"] = o.server

local both = ("%d,%d"):format(o.from, o.to)
wr.start(both)
for _, f in ipairs(wr.show("plan").flows) do
    print(("%d/%d %s: %s, %d tunnels, up %s, down %s"):format(f.port, f.stream, f.role, f.stack, f.networks, table.concat(f.varies, ", "),
          table.concat(f.replies, ", ")))
end
wr.wait(both)

local c = wr.show("flows", o.from).flows[1].connections
print(("%d opened, %d closed, %d failed"):format(c.opened, c.closed, c.opened - c.closed))
wr.exit(c.opened > c.closed and 1 or 0)
