-- SPDX-License-Identifier: BSD-3-Clause
-- How a balancer deals connections to its servers. The client opens them to the balancer's address, and the servers behind it, all of them on
-- one port, have counted what each of them got.
--
--   wirerate -p wire -b -f balance.lua
-- On real ports: give the balancer's address, and what its servers are.
--   wirerate -p if:eth1 -p if:eth2 -b -e 'script balance.lua vip=10.0.0.100 servers=10.1.0.1:1,10.1.0.2:2,10.1.0.3:5 count=10000'
--
-- The exit code is 1 if connections failed, or if dealing by the weights of `servers` at random comes out as far from them in less than one of
-- 1 / limit cases.
local wr = require "wirerate"
local args, tab = require "wirerate.args", require "wirerate.tab"

-- On a wire there is no balancer: there the client opens by weight itself.
local o = args({from = 0, to = 1, vip = "", servers = "10.1.0.1:1,10.1.0.2:2,10.1.0.3:5", rate = "5k", count = 1600, limit = 0.001}, ...)
local client, server = wr.port[o.from], wr.port[o.to]
client.flow, client["flow.dst"], client.cps, client.count = "client", o.vip ~= "" and o.vip or o.servers, o.rate, o.count
server.flow, server["flow.src"], server["flow.by_dst"] = "server", o.servers, "on"
wr.start(("%d,%d"):format(o.from, o.to))
wr.wait(("%d,%d"):format(o.from, o.to))

local opened = wr.show("flows", o.from).flows[1].connections
local got = wr.show("flows", "by", "dst", o.to)
local rows = tab.new{{"server", -24}, "port", "weight", "opened", "failed", "share", "expected"}
local failed = opened.opened - opened.closed
print(rows:head())
for _, s in ipairs(got.servers) do
    local lost = s.opened - s.closed
    print(rows:row(s.address, s.server_port, s.weight, s.opened, lost, ("%.1f%%"):format((s.share or 0) * 100), ("%.1f%%"):format(s.expected * 100)))
end
local all = got.flows[1]
print(("\n%d connections, %d failed; chi-square %.2f of %d degrees, p %s"):format(opened.opened, failed, all.chi_square or 0, all.degrees,
    all.probability and ("%.3g"):format(all.probability) or "unknown"))
wr.exit((failed > 0 or all.opened == 0 or (all.probability or 1) < o.limit) and 1 or 0)
