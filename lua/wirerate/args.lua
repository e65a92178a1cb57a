-- SPDX-License-Identifier: BSD-3-Clause
-- Reads the arguments of a script, which are words `name=value`. The table of defaults says which
-- names there are and of what type each is.
--
--   local o = require "wirerate.args"({from = 0, rate = "10%", svg = "", probe = true}, ...)
--
-- `script FILE from=2 'rate=1kpps..2kpps over 5s' svg=` changes three of these. A word with blanks
-- is quoted as a whole. If the default is a number, the argument must be one; if it is true or
-- false, the argument is on or off; else it is a text, which may be empty. For anything else the
-- script ends with one line that says what is allowed.

local wr = require "wirerate"

local BOOLEAN = {on = true, yes = true, ["true"] = true, off = false, no = false, ["false"] = false}

local function names(defaults)
    local list = {}
    for name in pairs(defaults) do
        list[#list + 1] = name .. "="
    end
    table.sort(list)
    return table.concat(list, " ")
end

local function value_of(name, text, default)
    local value = text
    if type(default) == "number" then
        value = tonumber(text)
    elseif type(default) == "boolean" then
        value = BOOLEAN[text]
    end
    if value == nil then
        wr.fail(('"%s=%s": a %s is needed'):format(name, text, type(default) == "number" and "number" or "word on or off"))
    end
    return value
end

return function(defaults, ...)
    local out = {}
    for name, default in pairs(defaults) do
        out[name] = default
    end
    for _, word in ipairs({...}) do
        local name, text = tostring(word):match("^([%w_]+)=(.*)$")
        if name == nil or defaults[name] == nil then
            wr.fail(('unknown argument "%s"; there are: %s'):format(tostring(word), names(defaults)))
        end
        out[name] = value_of(name, text, defaults[name])
    end
    return out
end
