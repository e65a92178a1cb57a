-- SPDX-License-Identifier: BSD-3-Clause
-- The axes of charts: where their round numbers are, how these are written, and how far along an
-- axis a value is.

local scale = {}

local PREFIX = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}}
local TIME = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}}

-- Returns the multiple in which a value is written, and the prefix or unit that stands for it.
local function multiple(value, unit)
    if unit == "%" then
        return 1, ""
    end
    for _, m in ipairs(unit == "ns" and TIME or PREFIX) do
        if math.abs(value) >= m[1] * 0.99999 then
            return m[1], m[2]
        end
    end
    return 1, unit == "ns" and "ns" or ""
end

local function decimals(step)
    local n = 0
    while n < 9 and math.abs(step - math.floor(step + 0.5)) > 1e-6 * step do
        step, n = step * 10, n + 1
    end
    return n
end

-- Writes the numbers of an axis, 0, 20k, 40k: all in the same multiple, and with as many decimals
-- as the step needs.
local function write_steps(ticks, step, unit, most)
    local by, name = multiple(most, unit)
    local places = decimals(step / by)
    for _, t in ipairs(ticks) do
        t.text = t.at == 0 and "0" or ("%." .. places .. "f"):format(t.at / by) .. name
    end
end

-- Writes a single number with three digits, or with all that it has before the point.
function scale.write(value, unit)
    local by, name = multiple(value, unit)
    local n = value / by
    local text = math.abs(n) >= 100 and ("%.0f"):format(n) or ("%.3g"):format(n)
    return text .. name
end

-- Returns the smallest number that is 1, 2 or 5 times a power of ten and not below the value.
local function round_up(value)
    local power = 10 ^ math.floor(math.log10(value))
    for _, n in ipairs({1, 2, 5, 10}) do
        if n * power >= value * 0.999999 then
            return n * power
        end
    end
    return 10 * power
end

local function linear(lo, hi, most)
    local step = round_up((hi - lo) / most)
    local first, last = math.floor(lo / step + 1e-6), math.ceil(hi / step - 1e-6)
    local ticks = {}
    for i = first, last do
        ticks[#ticks + 1] = {at = i * step}
    end
    return ticks, first * step, last * step, step
end

local function logarithmic(lo, hi, unit)
    local first, last = math.floor(math.log10(lo) + 1e-9), math.ceil(math.log10(hi) - 1e-9)
    if first == last then
        last = first + 1
    end
    local ticks, each = {}, math.ceil((last - first) / 8)
    for i = first, last do
        for _, n in ipairs(last - first <= 2 and i < last and {1, 2, 5} or {1}) do
            if (i - first) % each == 0 then
                ticks[#ticks + 1] = {at = n * 10 ^ i, text = scale.write(n * 10 ^ i, unit)}
            end
        end
    end
    return ticks, 10 ^ first, 10 ^ last
end

local function span(series, which, positive)
    local lo, hi = math.huge, -math.huge
    for _, s in ipairs(series) do
        for _, p in ipairs(s.points) do
            local v = p[which]
            if v ~= nil and v == v and math.abs(v) < math.huge and not (positive and v <= 0) then
                lo, hi = math.min(lo, v), math.max(hi, v)
            end
        end
    end
    return lo, hi
end

-- Makes the axis for the first (which = 1) or second number of the points, with about `most` ticks.
-- It has
--   ticks      list of {at = value, text = how it is written}
--   lo, hi     where it begins and ends
--   name       "load [%]"
--   place(v)   how far along the axis v is, from 0 to 1
--   exact(v)   v as a text with its unit
function scale.axis(want, series, which, most)
    want = want or {}
    local lo, hi = span(series, which, want.log)
    if lo > hi then
        lo, hi = want.log and 1 or 0, want.log and 10 or 1
    end
    if not want.log then
        -- the axis begins at 0, unless all values are far away from it
        lo = lo >= 0 and lo < hi * 0.7 and 0 or lo
        lo = lo == hi and math.min(lo, 0) or lo
        hi = lo == hi and lo + 1 or hi
    end
    lo, hi = want.min or lo, want.max or hi
    if hi < lo or hi == lo and not want.log then
        error(("an axis from %g to %g"):format(lo, hi), 4)
    end

    local axis, step = {}, nil
    if want.log then
        axis.ticks, axis.lo, axis.hi = logarithmic(lo, hi, want.unit)
        local from, length = math.log10(axis.lo), math.log10(axis.hi) - math.log10(axis.lo)
        function axis.place(v)
            return v > 0 and (math.log10(v) - from) / length or 0
        end
    else
        axis.ticks, axis.lo, axis.hi, step = linear(lo, hi, most)
        write_steps(axis.ticks, step, want.unit, math.max(math.abs(axis.lo), math.abs(axis.hi)))
        function axis.place(v)
            return (v - axis.lo) / (axis.hi - axis.lo)
        end
    end
    local unit = want.unit == "ns" and "" or want.unit or ""
    axis.name = (want.label or "") .. (unit ~= "" and (want.label and " [" or "[") .. unit .. "]" or "")
    function axis.exact(v)
        return scale.write(v, want.unit) .. (unit == "" and "" or " " .. unit)
    end
    return axis
end

return scale
