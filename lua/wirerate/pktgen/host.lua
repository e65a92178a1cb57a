-- SPDX-License-Identifier: BSD-3-Clause
-- What all parts of `require "Pktgen"` share: running commands, reading arguments, errors that name
-- the line of the script, and remarks about what is not in this version.
local wr = require "wirerate"
local floor, concat, sort = math.floor, table.concat, table.sort
local unpack = table.unpack or unpack

local host = {pktgen = {}}

-- The errors of host.fail(). The function that the script called raises them again with the line of
-- the script.
local refusal = {__tostring = function(e)
    return e.text
end}

function host.fail(fmt, ...)
    error(setmetatable({text = select("#", ...) > 0 and fmt:format(...) or fmt}, refusal), 0)
end
local fail = host.fail

-- Says whether a remark is shown. Scripts may give a value before its header is in the frame, and
-- Pktgen says nothing about that, so such remarks are left out.
local function is_news(note)
    return not (note:find("has no such header", 1, true) or note:find("wait for it", 1, true) or note:find("wait until", 1, true))
end

-- Runs a line of the command language without printing. Returns its document, or nil and the error.
function host.try(line)
    local doc, more = wr.try(line)
    if doc == nil then
        return nil, more
    end
    for note in more:gmatch("[^\n]+") do
        if is_news(note) then
            wr.note(note)
        end
    end
    return doc
end

function host.run(fmt, ...)
    local line = fmt:format(...)
    local ok, e = host.try(line)
    if ok == nil then
        fail("%s", e.text)
    end
    return ok
end

-- ---- remarks ----

local told = {}

function host.warn(fmt, ...)
    wr.note(("warning: " .. fmt):format(...))
end

-- Makes a remark that is made only once in a session.
function host.warn_once(key, fmt, ...)
    if not told[key] then
        told[key] = true
        host.warn(fmt, ...)
    end
end

-- ---- words of later versions ----

local verbs, settings

local function has(list, word)
    for _, w in ipairs(list or {}) do
        if w == word then
            return true
        end
    end
    return false
end

local function index(rows)
    local t = {}
    for _, row in ipairs(rows) do
        t[row.name] = row
        for _, name in ipairs(row.aliases) do
            t[name] = t[name] or row
        end
    end
    return t
end

-- Returns the row of a verb or a setting; nil: there is none.
function host.row(kind, name)
    if verbs == nil then
        local tables = wr.tables()
        verbs, settings = index(tables.commands), index(tables.settings)
    end
    return (kind == "set" and settings or verbs)[name]
end

-- Says whether something is not in this version: a setting (if verb is "set"), a word after a verb,
-- or the verb itself (if word is nil).
function host.later(verb, word)
    local row = verb == "set" and host.row("set", word) or verb ~= "set" and host.row("verb", verb) or nil
    if row == nil or has(row.flags, "later") then
        return true
    end
    if word == nil or verb == "set" then
        return false
    end
    for _, a in ipairs(row.args) do
        if a.kind == "word" and a.name == word then
            return false
        end
        if has(a.choices, word) then
            return has(a.later, word)
        end
    end
    return true
end

-- Makes a remark about a function whose feature is not in this version.
function host.tell_later(name)
    host.warn_once("later " .. name, "%s: not in this version; it does nothing", name)
end

-- ---- functions of the API ----

host.list = {} -- {table, name, args, help, needs}, in the order in which they are defined

-- Defines a function t[name](args). needs is {verb, word}: if the command language does not have
-- these yet, the function only makes a remark. needs.on is the place of the argument that turns a
-- feature on or off.
function host.def(t, name, args, help, fn, needs)
    local prefix = t == host.pktgen and "pktgen." or t == host.pktgen.range and "pktgen.range." or "dpdk."
    local usage = prefix .. name .. "(" .. args .. ")"
    if name:find("%.") then
        usage = ('pktgen["%s"](%s)'):format(name, args)
    end

    host.list[#host.list + 1] = {table = prefix:sub(1, -2), name = name, args = args, usage = usage, help = help, needs = needs}
    t[name] = function(...)
        if needs ~= nil and host.later(needs[1], needs[2]) then
            -- turning off what does not exist needs no remark
            local on = needs.on and select(needs.on, ...)
            if needs.on == nil or host.is_on(on) then
                host.tell_later(prefix .. name)
            end
            return
        end
        local r = {pcall(fn, ...)}
        if r[1] then
            return unpack(r, 2, table.maxn(r))
        end
        if getmetatable(r[2]) == refusal then
            error(usage .. ": " .. r[2].text, 2)
        end
        error(r[2], 0)
    end
end

-- ---- arguments ----

local on_words = {on = true, enable = true, start = true, off = false, disable = false, stop = false}

function host.is_on(v)
    if type(v) == "boolean" then
        return v
    end
    return on_words[tostring(v):lower()] == true
end

-- Reads an argument that is on or off. An unknown word is off, as in Pktgen, with a remark.
function host.switch(v)
    if v == nil then
        fail("the argument \"on\" or \"off\" is missing")
    end
    if type(v) ~= "boolean" and on_words[tostring(v):lower()] == nil then
        host.warn_once("switch " .. tostring(v), "\"%s\" is neither on, enable or start, nor off, disable or stop: it is taken for off, " ..
            "as in Pktgen", tostring(v))
    end
    return host.is_on(v)
end

-- Returns a value as the command language reads it. Numbers never get an exponent.
function host.text(v, what)
    if type(v) == "string" then
        return v
    end
    if type(v) ~= "number" then
        fail("%s is missing, or neither a number nor a text", what)
    end
    if v ~= v or v == math.huge or v == -math.huge then
        fail("%s is no finite number", what)
    end
    if v == floor(v) then
        return ("%.0f"):format(v)
    end
    return (("%.12f"):format(v):gsub("0+$", ""))
end

-- Returns a value as one word of a line, quoted if it must be.
function host.word(v, what)
    local s = host.text(v, what)
    if s:find("^[%w%.:/_%%=+%-,@~]+$") then
        return s
    end
    if not s:find("'", 1, true) then
        return "'" .. s .. "'"
    end
    return '"' .. s:gsub('[\\"]', "\\%0") .. '"'
end

function host.integer(v, what, min, max)
    local n = tonumber(v)
    if n == nil then
        fail("%s is %s, and no number", what, v == nil and "missing" or '"' .. tostring(v) .. '"')
    end
    if n ~= floor(n) then
        fail("%s is %s, and no whole number", what, host.text(n, what))
    end
    if (min ~= nil and n < min) or (max ~= nil and n > max) then
        fail("%s is %s, outside of %s to %s", what, host.text(n, what), host.text(min, what), host.text(max, what))
    end
    return n
end

-- Reads a size. Pktgen keeps sizes without the 4 bytes of FCS, and the scripts that it saves have
-- them so. A size below that of the smallest frame can only be one of these.
function host.size(v, what)
    local n = tonumber(v)
    if n ~= nil and n >= 60 and n < 64 and n == floor(n) then
        host.warn_once("size " .. n, "%s is %d, a size without FCS; it is taken for %d with it", what, n, n + 4)
        return host.text(n + 4, what)
    end
    return host.word(v, what)
end

function host.one_of(v, what, words)
    for _, w in ipairs(words) do
        if type(v) == "string" and v:lower() == w then
            return w
        end
    end
    fail("%s is %s; allowed: %s", what, v == nil and "missing" or '"' .. tostring(v) .. '"', concat(words, ", "))
end

-- Returns a port list as commands take it. P is "0", "0,1", "0-3", "all", or a number.
function host.ports(P)
    if type(P) == "number" then
        return host.text(host.integer(P, "the port", 0, 65535), "the port")
    end
    if type(P) ~= "string" then
        fail("the port list is missing, or neither a number nor a text; it is like 0, \"0\", \"0,1\", \"0-3\" or \"all\"")
    end
    local list = P:gsub("%s", ""):gsub("^;", ""):lower()
    if list == "all" or list:find("^[%d,/%-al]+$") and list:find("%d") then
        return list
    end
    fail("the port list is \"%s\"; it is like \"0\", \"0,1\", \"0-3\" or \"all\"", P)
end

local function there(numbers, p)
    for _, n in ipairs(numbers) do
        if n == p then
            return true
        end
    end
    return false
end

-- Returns the ports of a list as numbers in ascending order.
function host.each(P)
    local list, all, seen, out = host.ports(P), wr.ports(), {}, {}
    for item in (list .. ","):gmatch("([^,]*),") do
        local first, last = item:match("^(%d+)$"), nil
        if first == nil then
            first, last = item:match("^(%d+)%-(%d+)$")
        end
        if item == "all" then
            for _, p in ipairs(all) do
                seen[p] = true
            end
        elseif first == nil or tonumber(first) > tonumber(last or first) then
            fail("the port list is \"%s\"; it is like \"0\", \"0,1\", \"0-3\" or \"all\"", tostring(P))
        else
            first, last = tonumber(first), tonumber(last or first)
            for p = first, math.min(last, 65535) do
                if not there(all, p) then
                    fail("there is no port %d; ports are %s", p, concat(all, ", "))
                end
                seen[p] = true
            end
        end
    end
    for p in pairs(seen) do
        out[#out + 1] = p
    end
    sort(out)
    return out
end

-- ---- what is remembered of a port ----

local states = {}

-- Returns what is remembered of a port:
--   small      the script asked for a size of 64
--   probe_us   the argument of latency(P, "rate", us)
--   waiting    values whose header is not in the frame yet
--   gtpu       the protocol before GTP-U was added for destination port 2152; nil: it was not
function host.state(port)
    states[port] = states[port] or {waiting = {}}
    return states[port]
end

function host.forget(port)
    states[port] = nil
end

-- Returns the present value of a setting of a port; nil: the port has no such setting.
function host.get(port, name)
    local ok, v = pcall(function()
        return wr.port[port][name]
    end)
    if ok then
        return v
    end
    return nil
end

-- Returns the same for a stream.
function host.get_stream(port, stream, name)
    local ok, v = pcall(function()
        return wr.port[port].stream[stream][name]
    end)
    if ok then
        return v
    end
    return nil
end

-- Returns a list of objects indexed by their key `port`.
function host.by_port(list)
    local out = {}
    for _, o in pairs(list) do
        if type(o) == "table" and o.port ~= nil then
            out[o.port] = o
        end
    end
    return out
end

return host
