-- SPDX-License-Identifier: BSD-3-Clause
-- Draws a chart as an SVG document. plot.lua says what a chart is.

-- Colours that people with any kind of colour vision can tell apart (Okabe and Ito).
local COLOURS = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"}
local ESCAPES = {["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;"}

local function escape(text)
    return (tostring(text):gsub('[&<>"]', ESCAPES))
end

local function number(v)
    return (("%.1f"):format(v):gsub("%.0$", ""))
end

-- Begins a document. Returns its lines, and a function that adds an element to them:
-- add("circle", {cx = 1}, "text inside").
local function document(width, height)
    local lines = {('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" '
        .. 'font-size="12">'):format(width, height, width, height)}
    local function add(name, attributes, inside)
        local names, words = {}, {name}
        for key in pairs(attributes) do
            names[#names + 1] = key
        end
        table.sort(names)
        for _, key in ipairs(names) do
            local v = attributes[key]
            words[#words + 1] = ('%s="%s"'):format(key:gsub("_", "-"), type(v) == "number" and number(v) or escape(v))
        end
        lines[#lines + 1] = "<" .. table.concat(words, " ") .. (inside and ">" .. escape(inside) .. "</" .. name .. ">" or "/>")
    end
    return lines, add
end

local function draw_axes(add, chart, x, y, box)
    for _, t in ipairs(y.ticks) do
        local at = box.y(t.at)
        add("line", {x1 = box.left, x2 = box.right, y1 = at, y2 = at, stroke = "#dddddd"})
        add("text", {x = box.left - 8, y = at + 4, text_anchor = "end"}, t.text)
    end
    for _, t in ipairs(x.ticks) do
        local at = box.x(t.at)
        add("line", {x1 = at, x2 = at, y1 = box.bottom, y2 = box.bottom + 5, stroke = "#333333"})
        add("text", {x = at, y = box.bottom + 20, text_anchor = "middle"}, t.text)
    end
    add("path", {d = ("M%s %sV%sH%s"):format(number(box.left), number(box.top), number(box.bottom), number(box.right)), fill = "none",
        stroke = "#333333"})
    local middle = (box.top + box.bottom) / 2
    add("text", {x = (box.left + box.right) / 2, y = box.bottom + 42, text_anchor = "middle"}, x.name)
    add("text", {x = 18, y = middle, text_anchor = "middle", transform = ("rotate(-90 18 %s)"):format(number(middle))}, y.name)
    if chart.title then
        add("text", {x = box.left, y = 26, font_size = 16, font_weight = "bold"}, chart.title)
    end
end

local function draw_marks(add, marks, x, box)
    for _, m in ipairs(marks) do
        local at = box.x(m.x)
        local right = at > (box.left + box.right) / 2
        add("line", {x1 = at, x2 = at, y1 = box.top, y2 = box.bottom, stroke = "#666666", stroke_dasharray = "4 3"})
        add("text", {x = at + (right and -6 or 6), y = box.top + 12, text_anchor = right and "end" or "start", fill = "#333333"},
            (m.label and m.label .. " " or "") .. x.exact(m.x))
    end
end

local function draw_series(add, series, colour, box)
    local path, gap = {}, true
    for _, p in ipairs(series.points) do
        if p[2] == nil then
            gap = true
        else
            path[#path + 1] = (gap and "M" or "L") .. number(box.x(p[1])) .. " " .. number(box.y(p[2]))
            gap = false
        end
    end
    if #path > 0 then
        add("path", {d = table.concat(path), fill = "none", stroke = colour, stroke_width = 1.5})
    end
    for _, p in ipairs(series.points) do
        if p[2] ~= nil then
            add("circle", {cx = box.x(p[1]), cy = box.y(p[2]), r = 3.5, fill = p.open and "#ffffff" or colour, stroke = colour})
        end
    end
end

-- Draws what stands under the chart, from the left: the series, and what a hollow point means.
local function draw_legend(add, chart, box, height)
    local at, y = box.left, height - 14
    local function entry(colour, fill, text)
        add("circle", {cx = at + 4, cy = y - 4, r = 3.5, fill = fill, stroke = colour})
        add("text", {x = at + 13, y = y}, text)
        at = at + 13 + 7 * #text + 18
    end
    local open
    for i, s in ipairs(chart.series) do
        local colour = COLOURS[(i - 1) % #COLOURS + 1]
        if s.name then
            entry(colour, colour, s.name)
        end
        for _, p in ipairs(s.points) do
            open = open or p.open and p[2] ~= nil
        end
    end
    if open then
        entry("#333333", "#ffffff", "not valid")
    end
end

return function(chart, x, y)
    local width, height = chart.pixels_wide or 760, chart.pixels_high or 420
    local box = {left = 84, right = width - 24, top = 44, bottom = height - 80}
    function box.x(v)
        return box.left + math.max(0, math.min(1, x.place(v))) * (box.right - box.left)
    end
    function box.y(v)
        return box.bottom - math.max(0, math.min(1, y.place(v))) * (box.bottom - box.top)
    end
    local lines, add = document(width, height)
    add("rect", {x = 0, y = 0, width = width, height = height, fill = "#ffffff"})
    draw_axes(add, chart, x, y, box)
    draw_marks(add, chart.marks or {}, x, box)
    for i, s in ipairs(chart.series) do
        draw_series(add, s, COLOURS[(i - 1) % #COLOURS + 1], box)
    end
    draw_legend(add, chart, box, height)
    lines[#lines + 1] = "</svg>\n"
    return table.concat(lines, "\n")
end
