-- SPDX-License-Identifier: BSD-3-Clause
-- Text tables that are printed line by line while a script runs, or as a whole.
--
--   local t = require "wirerate.tab".new{{"rate", 6}, {"offered pps", 12}, {"verdict", -14}}
--   print(t:head())
--   print(t:row("5%", 744048, "valid"))  -- as it comes
--   print(t)                             -- head and all rows, columns as wide as what is in them
--
-- A width is the least one; if it is negative, the column is aligned to the left. Whole numbers get
-- ' between thousands, other numbers have six digits, and nil is shown as "-".

local tab = {}
tab.__index = tab

-- Counts characters and not bytes, because cells may hold UTF-8.
local function length(text)
    return select(2, text:gsub("[^\128-\191]", ""))
end

-- 1234567 -> "1'234'567"
function tab.count(n)
    local sign, digits = ("%.0f"):format(n):match("^(-?)(%d+)$")
    if digits == nil then
        return tostring(n)
    end
    digits = digits:reverse():gsub("(%d%d%d)", "%1'"):reverse():gsub("^'", "")
    return sign .. digits
end

local function cell(value)
    if value == nil then
        return "-"
    elseif type(value) == "number" then
        if value == math.floor(value) and math.abs(value) < 1e15 then
            return tab.count(value)
        end
        return ("%.6g"):format(value)
    end
    return tostring(value)
end

local function pad(text, width)
    local fill = (" "):rep(math.abs(width) - length(text))
    return width < 0 and text .. fill or fill .. text
end

local function line(cells, widths)
    local out = {}
    for i, width in ipairs(widths) do
        out[i] = pad(cells[i] or "", width)
    end
    return (table.concat(out, "  "):gsub("%s+$", ""))
end

-- Makes a table. columns is a list of names, or of {name, width}.
function tab.new(columns)
    local t = setmetatable({names = {}, widths = {}, rows = {}}, tab)
    for i, column in ipairs(columns) do
        local name, width = column, 0
        if type(column) == "table" then
            name, width = column[1], column[2] or 0
        end
        local least = math.max(math.abs(width), length(name))
        t.names[i], t.widths[i] = name, width < 0 and -least or least
    end
    return t
end

function tab:head()
    return line(self.names, self.widths)
end

-- Adds a row to the table, and returns it as a line.
function tab:row(...)
    local row = {}
    for i = 1, #self.names do
        row[i] = cell((select(i, ...)))
    end
    self.rows[#self.rows + 1] = row
    return line(row, self.widths)
end

function tab:__tostring()
    local widths, lines = {}, {}
    for i, width in ipairs(self.widths) do
        local most = math.abs(width)
        for _, row in ipairs(self.rows) do
            most = math.max(most, length(row[i]))
        end
        widths[i] = width < 0 and -most or most
    end
    lines[1] = line(self.names, widths)
    for _, row in ipairs(self.rows) do
        lines[#lines + 1] = line(row, widths)
    end
    return table.concat(lines, "\n")
end

return tab
