-- SPDX-License-Identifier: BSD-3-Clause
-- Words `name=value` of a script's command line, over defaults that also say which names there are and of what type.
--
--   local o = require "wirerate.args"({from = 0, rate = "10%", svg = "", probe = true}, ...)
--
-- `script FILE from=2 'rate=1kpps..2kpps over 5s' svg=` changes three of them; a word with blanks stands in quotes as a whole. A default that
-- is a number takes numbers, one that is true or false takes on and off; the rest are texts, and a text may be empty. Anything else is an
-- error of one line that names what there is.

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
