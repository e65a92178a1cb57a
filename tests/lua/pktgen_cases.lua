-- SPDX-License-Identifier: BSD-3-Clause
-- Every function of `require "Pktgen"`, at least one case each, judged by what commands show. Its argument is a folder for files.
local wr = require "wirerate"
local pktgen = require "Pktgen"
local host = require "wirerate.pktgen.host"
local shows = require "pktgen_cases.shows"
shows.dir = arg[1] or "."
shows.cases, shows.range, shows.second = {}, {}, {}
local cases, range, second = shows.cases, shows.range, shows.second
for _, name in ipairs({"control", "frame", "range"}) do
    require("pktgen_cases." .. name)
end

local tables = {pktgen = cases, ["pktgen.range"] = range, dpdk = second}
local n = 0
for _, f in ipairs(host.list) do
    local case = tables[f.table][f.name]
    wr.expect(case ~= nil, f.usage .. " has no case")
    if case ~= nil then
        host.run("reset all")
        for _, p in ipairs(wr.ports()) do
            host.forget(p)
        end
        local ok, e = pcall(case)
        wr.expect(ok, f.usage .. ": " .. tostring(e))
        n = n + 1
    end
end
for name, fn in pairs(pktgen) do
    wr.expect(type(fn) ~= "function" or cases[name] ~= nil or range[name] ~= nil, name .. " is in no list")
end
print(n .. " functions")
