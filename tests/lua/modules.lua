-- SPDX-License-Identifier: BSD-3-Clause
-- The Lua modules that know no port: tables, charts, searches, arguments. `wirerate -b -p wire -f tests/lua/modules.lua`; without the program
-- LUA_PATH="lua/?.lua" luajit tests/lua/modules.lua
local args, plot, scale = require "wirerate.args", require "wirerate.plot", require "wirerate.scale"
local search, tab = require "wirerate.search", require "wirerate.tab"

local passed, failed = 0, 0

local function same(got, want, what)
    if got == want then
        passed = passed + 1
    else
        failed = failed + 1
        print(("%s:\n  got:  %s\n  want: %s"):format(what, tostring(got), tostring(want)))
    end
end

local function refused(text, fn, ...)
    local ok, why = pcall(fn, ...)
    same(not ok and tostring(why):find(text, 1, true) ~= nil, true, "refused with " .. text .. ": " .. tostring(why))
end

local function lines_of(text)
    local out = {}
    for line in (text .. "\n"):gmatch("(.-)\n") do
        out[#out + 1] = line
    end
    return out
end

local function count(text, what)
    return select(2, text:gsub(what, "%0"))
end

-- ---- args ----

do
    local defaults = {from = 0, rate = "10%", probe = true, svg = "x.svg"}
    local o = args(defaults, "from=2", "svg=", "probe=off")
    same(o.from, 2, "a number")
    same(o.svg, "", "an empty text")
    same(o.probe, false, "off")
    same(o.rate, "10%", "a default stays")
    same(defaults.from, 0, "the defaults stay as they were")
    same(args({text = ""}, "text=a=b c").text, "a=b c", "a value may hold = and spaces")
    refused('unknown argument "form=2"; there are: from= probe= rate= svg=', args, defaults, "form=2")
    refused('unknown argument "5"', args, defaults, "5")
    refused('"from=two": a number is needed', args, defaults, "from=two")
    refused('"probe=maybe": a word on or off is needed', args, defaults, "probe=maybe")
end

-- ---- tab ----

do
    local t = tab.new{{"load", 6}, "frames", {"verdict", -9}}
    same(t:head(), "  load  frames  verdict", "head")
    same(t:row("5%", 1234567, "valid"), "    5%  1'234'567  valid", "a cell wider than its column moves the rest of its line")
    same(t:row("10%", nil, "preempted"), "   10%       -  preempted", "nil")
    same(tostring(t), "  load     frames  verdict\n    5%  1'234'567  valid\n   10%          -  preempted", "as a whole it is as wide as its cells")
    same(tab.count(-1234.0), "-1'234", "a negative count")
    same(tab.count(999), "999", "no separator")
    same(tab.new{"x"}:row(0.123456789), "0.123457", "six digits")
    local wide = tab.new{"µs", "b"}
    same(wide:head(), "µs  b", "characters are counted, not bytes")
    same(wide:row("ä", "c"), " ä  c", "in cells too")
end

-- ---- scale ----

local function texts(axis)
    local out = {}
    for i, t in ipairs(axis.ticks) do
        out[i] = t.text
    end
    return table.concat(out, " ")
end

local function axis(lo, hi, want, most)
    return scale.axis(want, {{points = {{lo, lo}, {hi, hi}}}}, 2, most or 5)
end

same(texts(axis(0, 100)), "0 20 40 60 80 100", "round numbers")
same(texts(axis(3, 97)), "0 20 40 60 80 100", "they enclose the points")
same(texts(axis(0, 14880952)), "0 5M 10M 15M", "one multiple for all")
same(texts(axis(0, 0.0037)), "0 0.001 0.002 0.003 0.004", "small numbers")
same(texts(axis(0, 1.2e6, {unit = "ns"})), "0 0.5ms 1.0ms 1.5ms", "times")
same(texts(axis(95, 100)), "95 96 97 98 99 100", "far away from 0")
same(texts(axis(-3, 4)), "-4 -2 0 2 4", "both sides of 0")
same(texts(axis(7, 7)), "0 2 4 6 8", "one value")
same(texts(axis(0, 0)), "0 0.2 0.4 0.6 0.8 1.0", "nothing but 0")
same(texts(axis(2500, 900000, {unit = "ns", log = true})), "1us 10us 100us 1ms", "decades")
same(texts(axis(20, 90, {log = true})), "10 20 50 100", "within few decades")
same(texts(axis(0, 50, {log = true})), "10 20 50 100", "0 has no place on a logarithmic axis, the rest has")
same(texts(scale.axis(nil, {{points = {}}}, 1, 5)), "0 0.2 0.4 0.6 0.8 1.0", "no points")
same(axis(0, 100).place(25), 0.25, "place")
same(math.abs(axis(1, 1000, {log = true}).place(10) - 1 / 3) < 1e-9, true, "place between decades")
same(axis(0, 1, {label = "load", unit = "%"}).name, "load [%]", "name")
same(axis(0, 1, {label = "latency", unit = "ns"}).name, "latency", "times carry their unit themselves")
same(axis(0, 100, {unit = "%"}).exact(62.5), "62.5 %", "a value by itself")
same(scale.write(14880952, "pps"), "14.9M", "three digits")
same(scale.write(148.8), "149", "three digits")
same(scale.write(3.2e9, "ns"), "3.2s", "seconds")
refused("an axis from 5 to 1", axis, 0, 1, {min = 5, max = 1})

-- ---- plot ----

local function chart(more)
    local c = {
        title = "Loss", ascii = true, columns = 40, rows = 4, x = {label = "load", unit = "%", min = 0, max = 100}, y = {label = "lost", unit = "%"},
        series = {{name = "a", points = {{25, 0}, {50, 5}, {75, 10, open = true}, {100}}}}, marks = {{x = 62, label = "knee"}},
    }
    for k, v in pairs(more or {}) do
        c[k] = v
    end
    return c
end

same(plot.text(chart()), [[
    Loss
lost [%]
10+                     ! :::::::
  |                     ! :::::::
 5+               ####### :::::::
  |               ####### :::::::    ?
 0+-+------+-----+------+-----+------+-
    0     20    40     60    80     100
                 load [%]
   ! knee 62 %   : not valid   ? no number]], "bars")

do
    local two = {{name = "a", points = {{25, 0}, {50, 5}, {75, 10, open = true}, {100}}}, {name = "b", points = {{25, 10}}}}
    same(plot.text(chart{series = two}), [[
    Loss
lost [%]
10+         x           !    ?
  |                     !
 5+                  o  !
  |                     !
 0+-+------+o----+------+-----+------+-
    0     20    40     60    80     100
                 load [%]
   o a   x b   ! knee 62 %   ? not valid   ? no number]], "points")
    local drawn = plot.text(chart{ascii = false, marks = {}, series = {{points = {{50, 10}, {75, 2.5 / 8}}}}})
    same(drawn:find("█", 1, true) ~= nil and drawn:find("▁", 1, true) ~= nil, true, "eighths of a block")
    for _, line in ipairs(lines_of(plot.text(chart{columns = 60}))) do
        same(#line <= 60, true, "no wider than was asked for: " .. line)
    end
    same(#lines_of(plot.text{ascii = true, rows = 5, series = {{points = {}}}}) >= 7, true, "axes without points")
    refused("a chart is a table with `series`", plot.text, {})
    refused("series 2 has no `points`", plot.text, {series = {{points = {}}, {}}})
end

-- Elements are closed one by one, and text is escaped: well-formed without a parser.
local function elements(svg, what)
    local open, all = {}, {}
    for slash, name, rest, closed in svg:gmatch("<(/?)([%w]+)([^<>]-)(/?)>") do
        if slash == "/" then
            same(table.remove(open), name, what .. ": end of " .. name)
        else
            all[#all + 1] = {name = name, attributes = rest}
            if closed == "" then
                open[#open + 1] = name
            end
        end
    end
    same(#open, 0, what .. ": all are closed")
    same(count(svg, "<"), count(svg, ">"), what .. ": brackets in pairs")
    return all
end

do
    local svg = plot.svg(chart{title = 'Loss < 5 % & "more"'})
    local seen = {}
    for _, e in ipairs(elements(svg, "chart")) do
        seen[e.name] = (seen[e.name] or 0) + 1
    end
    same(seen.svg, 1, "one document")
    same(seen.circle, 3 + 2, "a circle for each point with a number, and for the entries of the legend")
    same(svg:find('Loss &lt; 5 % &amp; &quot;more&quot;', 1, true) ~= nil, true, "escaped")
    same(svg:find(">load [%]<", 1, true) ~= nil and svg:find(">lost [%]<", 1, true) ~= nil, true, "names of axes with units")
    same(svg:find(">knee 62 %<", 1, true) ~= nil, true, "marks")
    same(svg:find(">not valid<", 1, true) ~= nil, true, "what hollow means")
    same(count(plot.svg(chart{series = {{points = {{0, 1}, {50}, {100, 2}}}}}), 'd="M[%d. ]+M[%d. ]+"'), 1, "a gap in the line")
    elements(plot.svg{series = {}}, "nothing")
    elements(plot.svg(chart{series = {{name = "a<b>", points = {{1, 1e9}}}}, y = {log = true}}), "one point, logarithmic")
    local path = os.tmpname()
    plot.save(path, chart())
    local file = io.open(path)
    same(file:read("*a"), plot.svg(chart()), "as a file")
    file:close()
    os.remove(path)
    refused("chart: /nowhere/x.svg: No such file or directory", plot.save, "/nowhere/x.svg", chart())
end

-- ---- search ----

-- A device that carries `knee`; verdicts of the first trials of a rate can be given.
local function device(knee, bad)
    local asked = {}
    return function(rate)
        asked[#asked + 1] = rate
        local verdict = "valid"
        if bad then
            verdict = bad(rate, #asked) or verdict
        end
        return {verdict = verdict, loss_ratio = rate > knee and (rate - knee) / rate or 0}
    end, asked
end

local function found(knee, more, bad)
    local trial, asked = device(knee, bad)
    local o = {trial = trial, low = 1, high = 100, resolution = 0.5}
    for k, v in pairs(more or {}) do
        o[k] = v
    end
    return search.highest(o), asked
end

for knee = 1, 99.5, 3.7 do
    local r = found(knee)
    same(r.rate <= knee and knee - r.rate <= 0.5 and r.upper > knee and r.upper - r.rate <= 0.5, true, "a knee at " .. knee)
    same(r.upper_by .. tostring(r.exact) .. r.trials - #r.steps .. r.not_valid, "losstrue00", "known exactly")
    same(r.trials <= 11, true, "by bisection: " .. r.trials .. " trials")
end

do
    local r = found(1000)
    same(r.rate .. r.upper_by .. r.trials .. tostring(r.exact) .. tostring(r.upper), "100range1falsenil", "no loss at all")
    r = found(0.5)
    same(tostring(r.rate) .. r.upper .. r.upper_by .. r.trials, "nil1loss2", "loss at the least load")
    same(found(50, {max_loss = 0.1}).rate > 54, true, "some loss is allowed")

    -- Disturbed now and then: it takes more trials, the answer is the same.
    local third = 0
    r = found(62, {again = 3}, function()
        third = third + 1
        return third % 3 ~= 0 and "preempted" or nil
    end)
    same(62 - r.rate <= 0.5 and r.rate <= 62 and r.exact, true, "trials that are not valid are repeated")
    same(r.not_valid > 0 and r.trials == #r.steps + r.not_valid, true, "and counted")

    -- The tester cannot send more than 30: what it lost there is not the device's.
    local asked
    r, asked = found(10, {again = 2}, function(rate) return rate > 30 and "tester-limited" or nil end)
    same(r.rate <= 10 and 10 - r.rate <= 0.5 and r.exact, true, "below what the tester reaches")
    same(asked[1] .. asked[2] .. asked[3] .. asked[4], "1001001001", "repeated as often as was asked for, then given up")
    r = found(50, {again = 2}, function(rate) return rate > 30 and "tester-limited" or nil end)
    same(r.rate <= 30 and 30 - r.rate <= 0.5 and r.upper_by == "untold" and not r.exact, true, "the device may be better than the tester")
    r = found(50, {again = 1}, function() return "preempted" end)
    same(tostring(r.rate) .. r.upper_by .. r.not_valid, "niluntold4", "nothing is known")

    -- Passes once at 60, and never again.
    local lucky = false
    r = search.highest{low = 1, high = 100, resolution = 1, confirm = 1, trial = function(rate)
        local lost = rate > 40
        if rate > 50 and rate < 60 and not lucky then
            lucky, lost = true, false
        end
        return {verdict = "valid", loss_ratio = lost and 0.5 or 0}
    end}
    same(r.rate <= 40 and 40 - r.rate <= 1, true, "a rate that is not confirmed is not the answer: " .. tostring(r.rate))
    local notes = 0
    found(50, {note = function(step) notes = notes + (step.outcome and step.rate and 1 or 0) end})
    same(notes > 5, true, "each step is told")

    -- What is told of the way: it only goes forward, ends before all is done, and what was expected at first is about what it took.
    for knee = 1, 99.5, 3.7 do
        for confirm = 0, 2 do
            local told, share = {}, -1
            local found_it = found(knee, {confirm = confirm, progress = function(done, all, rate)
                same(done == #told and all > done and rate >= 1 and rate <= 100, true, ("%d of %d at %g"):format(done, all, rate))
                same(done / all >= share, true, ("%d of %d comes after %g"):format(done, all, share))
                share = done / all
                told[#told + 1] = all
            end})
            same(#told, #found_it.steps, "told before each rate")
            same(told[1] >= #told and told[1] <= #told + 3, true, ("%d rates were expected, %d were tried"):format(told[1], #told))
        end
    end

    local t, tries = search.attempt(function() return {verdict = "preempted"} end, 3)
    same(t.verdict .. tries, "preempted4", "attempts are bounded")
    t, tries = search.attempt(function() return {verdict = "valid"} end, 3)
    same(t.verdict .. tries, "valid1", "one is enough")
    refused("low: a number is needed", search.highest, {high = 5, resolution = 1})
    refused("0 < low < high", search.highest, {low = 5, high = 5, resolution = 1})
end

print(("%d passed, %d failed, 0 skipped"):format(passed, failed))
local program, wr = pcall(require, "wirerate")
if program then
    wr.expect(failed == 0, "modules")
elseif failed > 0 then
    os.exit(1)
end
