-- SPDX-License-Identifier: BSD-3-Clause
-- The helpers printf, prints and serialize, which Pktgen.lua makes global.
local text = {}
local concat, sort, floor = table.concat, table.sort, math.floor

local function value_text(v)
    if type(v) == "string" then
        return ("%q"):format(v)
    end
    -- counters above 10^14 must not get an exponent
    if type(v) == "number" and v == floor(v) and v > -2 ^ 63 and v < 2 ^ 63 then
        return ("%.0f"):format(v)
    end
    return tostring(v)
end

local function before(a, b)
    if type(a) == type(b) and (type(a) == "number" or type(a) == "string") then
        return a < b
    end
    return type(a) == "number" and type(b) ~= "number" or type(a) ~= "number" and type(b) ~= "number" and tostring(a) < tostring(b)
end

local function add(out, key, v, indent, path)
    local lead = ("  "):rep(indent)
    if type(v) ~= "table" then
        out[#out + 1] = lead .. key .. " = " .. value_text(v)
        return
    end
    if path[v] then
        out[#out + 1] = lead .. key .. " = {} -- the same as " .. path[v]
        return
    end
    local keys = {}
    for k in pairs(v) do
        keys[#keys + 1] = k
    end
    sort(keys, before)
    path[v] = key
    out[#out + 1] = lead .. key .. " = {"
    for _, k in ipairs(keys) do
        add(out, "[" .. value_text(k) .. "]", v[k], indent + 1, path)
        out[#out] = out[#out] .. ","
    end
    path[v] = nil
    out[#out + 1] = lead .. "}"
end

-- Returns a value as text that Lua can read: serialize("stats", pktgen.portStats("all")). Without a
-- name it is all globals.
function text.serialize(name, v)
    local out = {}
    if name == nil then
        name, v = "Globals", _G
    end
    add(out, tostring(name), v, 0, {})
    return concat(out, "\n") .. "\n"
end

function text.prints(name, v)
    io.write(text.serialize(name, v))
end

function text.printf(fmt, ...)
    io.write(fmt:format(...))
end

return text
