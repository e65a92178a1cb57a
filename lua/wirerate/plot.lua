-- SPDX-License-Identifier: BSD-3-Clause
-- Charts of what a script measured: in the terminal, and as SVG for a report.
--
--   local plot = require "wirerate.plot"
--   local chart = {title = "Loss", x = {label = "offered load", unit = "%"}, y = {label = "frames lost", unit = "%"},
--                  series = {{name = "wire0 to wire1", points = {{5, 0}, {10, 0}, {15, 2.5, open = true}}}},
--                  marks = {{x = 10, label = "knee"}}}
--   print(plot.text(chart))
--   plot.save("loss.svg", chart)
--
-- The points of a series go from left to right. `open = true` marks a point that is not to be
-- trusted; it is drawn hollow. A point without y leaves a gap. An axis has a label, a unit, min and
-- max (by default those of the points), and log = true if it is logarithmic. The unit "ns" is
-- written as us, ms and s, "%" stays as it is, and any other unit gets k, M and G. In the terminal
-- one series is drawn as bars, several as points. Block characters are used if the locale is UTF-8;
-- ascii = true or false in the chart decides it. columns and rows (72, 12) are the size in the
-- terminal, pixels_wide and pixels_high (760, 420) that of the SVG.

local scale = require "wirerate.scale"

local plot = {}

local BLOCKS = {[0] = " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}
local UTF8 = {bar = "█", open = "░", none = "?", mark = "┊", corner = "└", side = "│", tick = "┤", floor = "─", foot = "┴",
    dots = {"●", "○", "◆", "◇", "■", "□"}}
local ASCII = {bar = "#", open = ":", none = "?", mark = "!", corner = "+", side = "|", tick = "+", floor = "-", foot = "+",
    dots = {"o", "x", "*", "@", "=", "%"}}

local function is_utf8()
    local get = os and os.getenv or function() end
    for _, name in ipairs({"LC_ALL", "LC_CTYPE", "LANG"}) do
        local value = get(name)
        if value and value ~= "" then
            return value:lower():find("utf%-?8") ~= nil
        end
    end
    return false
end

local function glyphs(chart)
    local ascii = chart.ascii
    if ascii == nil then
        ascii = not is_utf8()
    end
    return ascii and ASCII or UTF8
end

local function check(chart)
    if type(chart) ~= "table" or type(chart.series) ~= "table" then
        error("a chart is a table with `series`", 3)
    end
    for i, series in ipairs(chart.series) do
        if type(series.points) ~= "table" then
            error(("series %d has no `points`"):format(i), 3)
        end
    end
end

local function axes(chart, xticks, yticks)
    local x = scale.axis(chart.x, chart.series, 1, xticks)
    local y = scale.axis(chart.y, chart.series, 2, yticks)
    return x, y
end

-- Writes text over the cells of a row of characters from `at` on, if there is room.
local function put(row, at, text)
    local from = math.max(1, math.min(at, #row - #text + 1))
    for i = 0, #text - 1 do
        if row[from + i - 1] ~= " " and row[from + i - 1] ~= nil and i == 0 or row[from + i] ~= " " then
            return false
        end
    end
    for i = 1, #text do
        row[from + i - 1] = text:sub(i, i)
    end
    return true
end

local function blank(width, with)
    local row = {}
    for i = 1, width do
        row[i] = with or " "
    end
    return row
end

-- Returns how many columns a bar takes: as many as its nearest neighbours leave, with a space
-- between them if possible.
local function bar_width(points, column)
    local least = math.huge
    for i = 2, #points do
        local apart = column(points[i][1]) - column(points[i - 1][1])
        least = apart > 0 and math.min(least, apart) or least
    end
    least = least == math.huge and 3 or least
    return math.max(1, math.min(least > 2 and least - 1 or least, 7))
end

local function draw_bar(grid, from, to, high, point, g)
    local full = math.floor(high)
    for c = math.max(1, from), math.min(to, #grid[0]) do
        for r = 1, full do
            grid[r][c] = point.open and g.open or g.bar
        end
        local rest = math.floor((high - full) * 8 + 0.5)
        if rest > 0 and grid[full + 1] and not point.open then
            grid[full + 1][c] = g.bar == "#" and (rest > 3 and "_" or " ") or BLOCKS[rest]
        elseif point.open and full == 0 then
            grid[1][c] = g.open
        end
    end
end

local function draw_bars(grid, points, x, y, rows, column, g)
    local wide = bar_width(points, column)
    for _, p in ipairs(points) do
        local from = column(p[1]) - math.floor((wide - 1) / 2)
        if p[2] == nil then
            grid[1][column(p[1])] = g.none
        else
            draw_bar(grid, from, from + wide - 1, math.max(0, math.min(1, y.place(p[2]))) * rows, p, g)
        end
    end
end

local function draw_points(grid, series, x, y, rows, column, g)
    for i, s in ipairs(series) do
        for _, p in ipairs(s.points) do
            if p[2] ~= nil then
                local r = math.floor(math.max(0, math.min(1, y.place(p[2]))) * rows + 0.5)
                grid[r][column(p[1])] = p.open and g.none or g.dots[(i - 1) % #g.dots + 1]
            end
        end
    end
end

local function draw_marks(grid, marks, rows, column, g)
    for _, m in ipairs(marks) do
        for r = 1, rows do
            local c = column(m.x)
            if grid[r][c] == " " then
                grid[r][c] = g.mark
            end
        end
    end
end

-- Adds the line that stands under the chart: series, marks, and what hollow points and gaps mean.
local function legend(chart, x, g, left, out)
    local words = {}
    if #chart.series > 1 then
        for i, s in ipairs(chart.series) do
            words[#words + 1] = g.dots[(i - 1) % #g.dots + 1] .. " " .. (s.name or tostring(i))
        end
    end
    for _, m in ipairs(chart.marks or {}) do
        words[#words + 1] = g.mark .. " " .. (m.label and m.label .. " " or "") .. x.exact(m.x)
    end
    local open, none
    for _, s in ipairs(chart.series) do
        for _, p in ipairs(s.points) do
            open = open or p.open and p[2] ~= nil
            none = none or p[2] == nil
        end
    end
    if open then
        words[#words + 1] = (#chart.series > 1 and g.none or g.open) .. " not valid"
    end
    if none then
        words[#words + 1] = g.none .. " no number"
    end
    if #words > 0 then
        out[#out + 1] = (" "):rep(left) .. table.concat(words, "   ")
    end
end

-- Returns the chart as lines of text, without a newline at the end.
function plot.text(chart)
    check(chart)
    local g, rows = glyphs(chart), chart.rows or 12
    local x, y = axes(chart, 8, math.max(2, math.floor(rows / 3)))
    local left = 0
    for _, t in ipairs(y.ticks) do
        left = math.max(left, #t.text)
    end
    local columns = math.max(20, (chart.columns or 72) - left - 2)
    local function column(v)
        return 2 + math.floor(math.max(0, math.min(1, x.place(v))) * (columns - 3) + 0.5)
    end

    local grid = {[0] = blank(columns, g.floor)}
    for r = 1, rows do
        grid[r] = blank(columns)
    end
    for _, t in ipairs(x.ticks) do
        grid[0][column(t.at)] = g.foot
    end
    if #chart.series == 1 then
        draw_bars(grid, chart.series[1].points, x, y, rows, column, g)
    else
        draw_points(grid, chart.series, x, y, rows, column, g)
    end
    draw_marks(grid, chart.marks or {}, rows, column, g)

    local names = {}
    for _, t in ipairs(y.ticks) do
        names[math.floor(y.place(t.at) * rows + 0.5)] = t.text
    end
    local out = {}
    if chart.title then
        out[#out + 1] = (" "):rep(left + 2) .. chart.title
    end
    out[#out + 1] = (" "):rep(math.max(0, left - #y.name)) .. y.name
    for r = rows, 0, -1 do
        local name = names[r] or ""
        local side = r == 0 and g.corner or names[r] and g.tick or g.side
        out[#out + 1] = (((" "):rep(left - #name) .. name .. side .. table.concat(grid[r])):gsub("%s+$", ""))
    end
    local under = blank(columns + left + 4)
    for _, t in ipairs(x.ticks) do
        put(under, left + 1 + column(t.at) - math.floor(#t.text / 2), t.text)
    end
    out[#out + 1] = (table.concat(under):gsub("%s+$", ""))
    out[#out + 1] = (" "):rep(left + 1 + math.max(0, math.floor((columns - #x.name) / 2))) .. x.name
    legend(chart, x, g, left + 1, out)
    return table.concat(out, "\n")
end

-- Returns the chart as an SVG document.
function plot.svg(chart)
    check(chart)
    return require "wirerate.svg"(chart, axes(chart, 10, 6))
end

function plot.save(path, chart)
    local file, why = io.open(path, "w")
    if not file then
        error("chart: " .. why, 2)
    end
    file:write(plot.svg(chart))
    file:close()
end

return plot
