-- SPDX-License-Identifier: BSD-3-Clause
-- Latency under load: measures percentiles of the latency at several loads, with a probe in every
-- frame, and shows them as a table, a chart and an SVG file.
--
--   wirerate -p wire -b -f latency.lua
--   wirerate -p wire -b -e 'script latency.lua loads=10,50,90 duration=10s svg=/tmp/latency.svg'
--
-- The wire of this demonstration has 100 Mbit/s and a device that takes 50 us for a frame and
-- queues what is above 80 %. `since due` counts from the time at which a frame was due by the rate,
-- so it includes the time by which the tester itself was late. The exit code is 4 if a load has no
-- valid trial.
local wr = require "wirerate"
local args, plot, search, tab = require "wirerate.args", require "wirerate.plot", require "wirerate.search", require "wirerate.tab"

-- On real ports: give your ports, and speed = "", wire = "" and delay = "".
local here = {from = 0, to = 1, speed = "100M", wire = "80% queue 512", delay = "50us"}

local o = args({from = here.from, to = here.to, speed = here.speed, wire = here.wire, delay = here.delay,
    loads = "10,20,30,40,50,60,70,80,90", duration = "1s", again = 2, svg = "latency.svg"}, ...)
local port = wr.port[o.from]
if o.speed ~= "" then port.speed = o.speed end
if o.wire ~= "" then port["wire.limit"] = o.wire end
if o.delay ~= "" then port["wire.delay"] = o.delay end
port.frame = "eth/ipv4/udp" -- with room for a probe

local NAMES = {"p50", "p90", "p99", "p99_9"}
local t = tab.new{{"load", 5}, {"frames", 9}, {"p50", 9}, {"p90", 9}, {"p99", 9}, {"p99.9", 9}, {"max", 9}, {"since due p99", 13},
    {"loss", 9}, {"verdict", -16}}
local series, not_valid = {}, 0
for i, name in ipairs(NAMES) do
    series[i] = {name = (name:gsub("_", ".")), points = {}}
end

local function text(ns)
    return ns and wr.fmt.duration(ns)
end

local loads = {}
for load in o.loads:gmatch("[%d.]+") do
    loads[#loads + 1] = load
end

print(t:head())
for i, load in ipairs(loads) do
    wr.progress(i - 1, #loads, load .. "%")
    local trial, tries = search.attempt(function()
        return wr.trial{ports = o.from, receivers = o.to, rate = load .. "%", duration = o.duration}
    end, o.again)
    local valid = trial.verdict == "valid"
    not_valid = not_valid + (valid and 0 or 1)
    if trial.latency == nil then
        wr.fail("no latencies at " .. load .. "%: " .. (trial.no_probes or "no frame arrived"))
    end
    local actual, due = trial.latency.actual, trial.latency.intended
    local at = actual.percentiles_ns
    local loss = trial.loss_ratio and ("%.4f%%"):format(trial.loss_ratio * 100)
    print(t:row(load .. "%", actual.samples, text(at.p50), text(at.p90), text(at.p99), text(at.p99_9), text(actual.max_ns),
        text(due.percentiles_ns.p99), loss, trial.verdict .. (tries > 1 and " x" .. tries or "")))
    for i, name in ipairs(NAMES) do
        table.insert(series[i].points, {tonumber(load), at[name], open = not valid})
    end
end

local chart = {
    title = ("Latency under load, port %d to port %d"):format(o.from, o.to), x = {label = "offered load", unit = "%", min = 0, max = 100},
    y = {label = "latency", unit = "ns", log = true}, series = series,
}
print("\n" .. plot.text(chart))
if o.svg ~= "" then
    plot.save(o.svg, chart)
    print("chart: " .. o.svg)
end
wr.exit(not_valid > 0 and 4 or 0)
