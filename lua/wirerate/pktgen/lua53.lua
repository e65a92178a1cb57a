-- SPDX-License-Identifier: BSD-3-Clause
-- Functions of Lua 5.3 and 5.4 that Pktgen's scripts may use and that LuaJIT does not have. The
-- operators of these versions (//, &, |, ~, <<, >>) are syntax and cannot be added.
local floor, type, tonumber = math.floor, type, tonumber

table.unpack = table.unpack or unpack
table.pack = table.pack or function(...)
    return {n = select("#", ...), ...}
end

function math.tointeger(v)
    v = tonumber(v)
    if v ~= nil and v == floor(v) and v > -math.huge and v < math.huge then
        return v
    end
    return nil
end

-- LuaJIT has one type of numbers, so a whole number counts as an integer.
function math.type(v)
    if type(v) ~= "number" then
        return nil
    end
    return v == floor(v) and "integer" or "float"
end

math.maxinteger = math.maxinteger or 2 ^ 53
math.mininteger = math.mininteger or -2 ^ 53
