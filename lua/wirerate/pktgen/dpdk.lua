-- SPDX-License-Identifier: BSD-3-Clause
-- The table `dpdk` of Pktgen's scripts. Scripts cannot reach single mbufs here, so its functions
-- for mbufs are missing.
local wr = require "wirerate"
local host = require "wirerate.pktgen.host"
local pktgen = host.pktgen

local dpdk = {}
local function def(...)
    host.def(dpdk, ...)
end

host.def_waits(def)
def("port_stats", "P", "counters of ports", function(P)
    return pktgen.portStats(P, "port")
end)
def("version", "", "version of DPDK", function()
    return pktgen.info.DPDK_Version
end)
for _, name in ipairs({"portCount", "totalPorts", "linkState"}) do
    def(name, name == "linkState" and "P" or "", "as pktgen." .. name, pktgen[name])
end

local mbufs = {compile = true, decompile = true, tx_burst = true, rx_bust = true, rx_burst = true, pktmbuf = true, vec = true}

return setmetatable(dpdk, {__index = function(_, key)
    if mbufs[key] then
        error("dpdk." .. key .. ": scripts do not handle single mbufs here; `pktgen.start` and `pktgen.seq` send frames", 2)
    end
    return nil
end})
