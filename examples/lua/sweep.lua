-- SPDX-License-Identifier: BSD-3-Clause
-- A rate sweep: makes one trial at each of 5 %, 10 % ... 100 % of the link's speed, and shows the
-- results as a table, a chart in the terminal and an SVG file. At the end it names the highest load
-- up to which nothing was lost.
--
--   wirerate -p wire -b -f sweep.lua
--   wirerate -p wire -b -e 'script sweep.lua step=10 duration=200ms svg=/tmp/sweep.svg'
--
-- The wire of this demonstration has 100 Mbit/s and a device in it that carries 62 % of that. On
-- real ports nothing is simulated. Only valid trials say something about the device: others are
-- repeated, and a point without a valid trial is drawn hollow. The exit code is 4 if there is such
-- a point.
local wr = require "wirerate"
local args, plot, search, tab = require "wirerate.args", require "wirerate.plot", require "wirerate.search", require "wirerate.tab"

-- On real ports: give your ports, and speed = "" and wire = "".
local here = {from = 0, to = 1, speed = "100M", wire = "62% queue 2048"}

local o = args({from = here.from, to = here.to, speed = here.speed, wire = here.wire, step = 5, duration = "1s", again = 2,
    svg = "sweep.svg"}, ...)
local port = wr.port[o.from]
if o.speed ~= "" then port.speed = o.speed end
if o.wire ~= "" then port["wire.limit"] = o.wire end
port.frame = "eth/ipv4/udp" -- has room for a probe, so that each frame is recognized and timed

local t = tab.new{{"load", 6}, {"offered pps", 11}, {"received", 11}, {"lost", 9}, {"loss", 9}, {"p50", 9}, {"p99", 9}, {"verdict", -16}}
local loss, points, not_valid = {}, 0, 0
local best, worse -- by valid trials: highest load before the first loss, and load of the first loss

print(t:head())
for load = o.step, 100, o.step do
    wr.progress(load - o.step, 100, load .. "%")
    local trial, tries = search.attempt(function()
        return wr.trial{ports = o.from, receivers = o.to, rate = load .. "%", duration = o.duration}
    end, o.again)
    local valid = trial.verdict == "valid"
    local share = trial.loss_ratio -- nil: nothing was sent, or the fate of frames is unknown
    local at = trial.latency and trial.latency.actual.percentiles_ns or {}
    print(t:row(load .. "%", trial.offered_pps and math.floor(trial.offered_pps), trial.fates.received, trial.fates.lost,
        share and ("%.4f%%"):format(share * 100), at.p50 and wr.fmt.duration(at.p50), at.p99 and wr.fmt.duration(at.p99),
        trial.verdict .. (tries > 1 and " x" .. tries or "")))
    if share then
        points = points + 1
        loss[points] = {load, share * 100, open = not valid}
    end
    if not (valid and share) then
        not_valid = not_valid + 1
    elseif share > 0 then
        worse = worse or load
    elseif not worse then
        best = load
    end
end

local chart = {
    title = ("Loss over load, port %d to port %d"):format(o.from, o.to),
    x = {label = "offered load", unit = "%", min = 0, max = 100}, y = {label = "frames lost", unit = "%"},
    series = {{points = loss}},
    marks = best and {{x = best, label = "loss-free up to"}},
}
print("\n" .. plot.text(chart))
if o.svg ~= "" then
    plot.save(o.svg, chart)
    print("chart: " .. o.svg)
end
print(("loss-free up to: %s; frames lost from: %s; %d points, %d not valid"):format(
    best and best .. "%" or "none", worse and worse .. "%" or "none", points, not_valid))
wr.exit(not_valid > 0 and 4 or 0)
