-- SPDX-License-Identifier: BSD-3-Clause
-- The part of the module `wirerate` that is written in Lua. R is a table of the program's own
-- functions, some of which give way; wr is the module; classes has metatables.
local R, wr, classes = ...
local resume, create, isyieldable = coroutine.resume, coroutine.create, coroutine.isyieldable
local error, select, type, tostring, setmetatable, rawget, pairs = error, select, type, tostring, setmetatable, rawget, pairs
local ours, giveway, unwait = R.ours, R.giveway, R.unwait
local sort, concat, find = table.sort, table.concat, string.find
local string = string

-- The program looks at the stack in a hook of each call (script_hold.c). The hook is not called in
-- finalizers, in compiled loops, and when a script has set a hook of its own, so functions of Lua's
-- libraries that call other functions look at the stack here too. `fn` is a tail call, so messages
-- name the right caller.
local function watched(fn)
    local look = R.stack
    return function(...)
        look()
        return fn(...)
    end
end
if not R.sandbox then
    for _, name in ipairs({"load", "dofile", "require", "collectgarbage"}) do
        _G[name] = watched(_G[name])
    end
    for _, name in ipairs({"sort", "foreach", "foreachi"}) do
        table[name] = watched(table[name])
    end
    string.gsub, string.format = watched(string.gsub), watched(string.format)
    resume = watched(resume)
end

-- A coroutine of the script may wait in a function of the program. Then the coroutine that resumed
-- it has to wait too: it yields as well, and resumes the inner one when it goes on.
local function pass(co, ok, ...)
    if not ok or not ours(co) then
        return ok, ...
    end
    if isyieldable() then
        return pass(co, resume(co, giveway()))
    end
    return pass(co, resume(co, unwait()))
end

local function unwrap(ok, ...)
    if ok then
        return ...
    end
    error((...), 0)
end

function coroutine.resume(co, ...)
    return pass(co, resume(co, ...))
end

function coroutine.wrap(fn)
    local co = create(fn)
    return function(...)
        return unwrap(pass(co, resume(co, ...)))
    end
end

-- Functions in R return true and their values, or false and an error. This makes one that returns
-- the values or raises the error.
local function wrapped(raw)
    return function(...)
        return unwrap(raw(...))
    end
end
R.wrapped = wrapped

-- The objects of errors can be used like their text.
local err = classes.error
function err.__tostring(e)
    return e.full
end
function err.__concat(a, b)
    return tostring(a) .. tostring(b)
end
function err.__index(e, key)
    local fn = string[key]
    if type(fn) ~= "function" then
        return nil
    end
    return function(self, ...)
        if self == e then
            self = e.full
        end
        return fn(self, ...)
    end
end

-- A verb of two words is a field of its first word: wr.stream.add(). The first word may be a verb
-- too.
local verb, group = {}, {__metatable = false}
wr.verb = verb
function group.__call(self, ...)
    local fn = rawget(self, "self")
    if fn == nil then
        error("it takes one more word: " .. rawget(self, "words"), 2)
    end
    return fn(...)
end
for name, raw in pairs(R.verbs) do
    verb[name] = wrapped(raw)
end
for first, seconds in pairs(R.groups) do
    local t, words = {self = verb[first]}, {}
    for second, name in pairs(seconds) do
        t[second] = verb[name]
        words[#words + 1] = second
    end
    sort(words)
    t.words = concat(words, ", ")
    verb[first] = setmetatable(t, group)
end
for name, fn in pairs(verb) do
    if rawget(wr, name) == nil then
        wr[name] = fn
    end
end

-- wr.set is the verb `set`, and its fields are the settings that belong to no port.
setmetatable(wr.set, {
    __metatable = false,
    __call = function(_, ...)
        return verb.set(...)
    end,
    __index = R.global_get,
    __newindex = R.global_set,
})

for _, name in ipairs({"cmd", "sleep"}) do
    wr[name] = wrapped(R[name])
end

local function shown(what)
    return function(ports)
        if ports == nil then
            return (verb.show(what))
        end
        return (verb.show(what, ports))
    end
end
wr.rates, wr.queues = shown("rates"), shown("queues")
if verb.show_latency ~= nil then
    wr.latency = setmetatable({
        self = function(ports)
            if ports == nil then
                return (verb.show_latency())
            end
            return (verb.show_latency(ports))
        end,
        save = verb.latency_save,
        words = "save",
    }, group)
end

-- wr.every() and wr.on() return a handle with a function stop().
local handle = {}
handle.__index = handle
function handle:stop()
    R.stop(self.id)
end
function wr.every(interval, fn)
    return setmetatable({id = R.every(interval, fn)}, handle)
end
function wr.on(event, fn)
    return setmetatable({id = R.on(event, fn)}, handle)
end

function wr.expect(cond, ...)
    R.expect(cond and true or false, ...)
    return cond, ...
end

-- wr.each(t) iterates over the numbers of a table in ascending order. Ports begin with 0.
function wr.each(t)
    if type(t) ~= "table" then
        error("each() goes over a table, not " .. type(t), 2)
    end
    local keys = {}
    for k in pairs(t) do
        if type(k) == "number" then
            keys[#keys + 1] = k
        end
    end
    sort(keys)
    local i = 0
    return function()
        i = i + 1
        return keys[i], t[keys[i]]
    end
end

-- wr.fail(text) ends a script that cannot go on with its arguments. The person sees one line and no
-- traceback.
function wr.fail(text)
    text = tostring(text)
    error(setmetatable({text = text, full = text, code = "EINVAL", where = "", plain = true}, err), 0)
end

-- CSV as in RFC 4180: a value with a separator, a quote or a line break is put in quotes.
local csv = {}
local function cell(v)
    if v == nil then
        return ""
    end
    local text = type(v) == "number" and R.digits(v) or tostring(v)
    if find(text, '[,"\r\n]') then
        text = '"' .. string.gsub(text, '"', '""') .. '"'
    end
    return text
end
-- csv.line{1, "a"} is '1,a'. With names, it is the values of those keys in that order.
function csv.line(row, names)
    if type(row) ~= "table" then
        error("a line of CSV is made of a table, not " .. type(row), 2)
    end
    local out = {}
    if names ~= nil then
        for i = 1, #names do
            out[i] = cell(row[names[i]])
        end
    else
        local n = row.n or 0
        for k in pairs(row) do
            if type(k) == "number" and k > n then
                n = k
            end
        end
        for i = 1, n do
            out[i] = cell(row[i])
        end
    end
    return concat(out, ",")
end
wr.csv = csv

-- wr.try(line) does what wr.cmd(line) does, but prints nothing and raises no error. It returns a
-- document or true, and remarks; or nil and the error.
local function tried(ok, v, _, notes)
    if ok then
        return v, notes
    end
    return nil, v
end
function wr.try(line)
    return tried(R.run(line))
end
-- wr.write() writes text as it is to where results go, and wr.note() writes a remark to where
-- messages go.
function wr.write(...)
    R.write(false, ...)
end
function wr.note(text)
    R.write(true, text, "\n")
end

-- wr.input(message [, "key"]) returns the next line that is typed, or its first character; nil if
-- nobody can answer.
function wr.input(message, what)
    if message ~= nil and message ~= "" then
        R.write(false, tostring(message), "\n")
    end
    if not R.ask() then
        return nil
    end
    while true do
        local line = R.answer()
        if line ~= nil then
            return what == "key" and line:sub(1, 1) or line
        end
        wr.sleep(0.01)
    end
end

-- In the sandbox, functions of Lua's libraries that may take long are replaced by ones in Lua,
-- which can give way: nothing can interrupt the library's own.
local function sandboxed()
    local lt = function(a, b)
        return a < b
    end
    local floor, min = math.floor, math.min

    -- Sorts the places from lo to hi by insertion.
    local function sort_few(t, lo, hi, before)
        for i = lo + 1, hi do
            local v, j = t[i], i
            while j > lo and before(v, t[j - 1]) do
                t[j] = t[j - 1]
                j = j - 1
            end
            t[j] = v
        end
    end
    local function merge(from, to, lo, mid, hi, before)
        local a, b = lo, mid
        for i = lo, hi - 1 do
            if a < mid and (b >= hi or not before(from[b], from[a])) then
                to[i], a = from[a], a + 1
            else
                to[i], b = from[b], b + 1
            end
        end
    end
    function table.sort(t, before)
        if type(t) ~= "table" then
            error("bad argument #1 to 'sort' (table expected, got " .. type(t) .. ")", 2)
        end
        if before ~= nil and type(before) ~= "function" then
            error("bad argument #2 to 'sort' (function expected, got " .. type(before) .. ")", 2)
        end
        before = before or lt
        local n, run = #t, 8
        for lo = 1, n, run do
            sort_few(t, lo, min(lo + run - 1, n), before)
        end
        local from, to = t, {}
        while run < n do
            for lo = 1, n, 2 * run do
                merge(from, to, lo, min(lo + run, n + 1), min(lo + 2 * run, n + 1), before)
            end
            from, to, run = to, from, 2 * run
        end
        if from ~= t then
            for i = 1, n do
                t[i] = from[i]
            end
        end
    end

    local part = 5000
    function table.concat(t, sep, i, j)
        if type(t) == "table" and (i == nil or type(i) == "number") and (j == nil or type(j) == "number") then
            i, j = floor(i or 1), floor(j or #t)
            if j - i >= part then
                local parts = {}
                for from = i, j, part do
                    parts[#parts + 1] = concat(t, sep, from, min(from + part - 1, j))
                end
                return table.concat(parts, sep)
            end
        end
        return concat(t, sep, i, j)
    end

    local date = os.date
    function os.date(format, ...)
        if type(format) == "string" and #format > 1000 then
            error("the format of a date has at most 1000 bytes", 2)
        end
        return date(format, ...)
    end
end
if R.sandbox then
    sandboxed()
    return
end

-- io.stdout and io.stderr write to the session, so that what a script writes keeps its place among
-- the results of commands.
local raw_output, raw_write, raw_type, raw_close = io.output, io.write, io.type, io.close
local function stream(to_note, name)
    local methods = {}
    function methods:write(...)
        R.write(to_note, ...)
        return self
    end
    function methods:flush()
        return true
    end
    function methods:setvbuf()
        return true
    end
    function methods:close()
        return nil, name .. " stays open", 0
    end
    function methods:seek()
        return nil, name .. " cannot be searched", 29
    end
    return setmetatable({}, {
        __index = methods,
        __metatable = false,
        __tostring = function()
            return "file (" .. name .. ")"
        end,
    })
end
-- If there is a prompt, standard input belongs to it: reading the terminal would hold up the
-- program. So io.read() asks at the prompt then.
local raw_read, raw_input, stdin = io.read, io.input, io.stdin
function io.read(what, ...)
    local line = raw_input() == stdin and wr.input() or nil
    if line == nil then
        return raw_read(what, ...)
    end
    what = tostring(what or "l"):match("%a")
    return what == "n" and tonumber(line) or what ~= "n" and line .. (what == "L" and "\n" or "") or nil
end
local out, note = stream(false, "stdout"), stream(true, "stderr")
local current = out
io.stdout, io.stderr = out, note
function io.output(file)
    if file == out or file == note then
        current = file
    elseif file ~= nil then
        current = raw_output(file)
    end
    return current
end
function io.write(...)
    if current == out or current == note then
        return current:write(...)
    end
    return raw_write(...)
end
function io.type(v)
    return (v == out or v == note) and "file" or raw_type(v)
end
function io.close(file)
    if file == out or file == note or (file == nil and (current == out or current == note)) then
        return (file or current):close()
    end
    return raw_close(file)
end

-- Scripts for Pktgen use its tables and helpers without a require(): the module that makes a name is
-- loaded at the first use of it.
local lazy = {pktgen = "Pktgen", dpdk = "Pktgen", printf = "Pktgen", prints = "Pktgen", sleep = "Pktgen"}
setmetatable(_G, {__index = function(globals, name)
    local module = lazy[name]
    if module then
        lazy = {}
        require(module)
        return rawget(globals, name)
    end
    return nil
end})

-- A text that does not compile because it is written for Lua 5.3 gets a message that says so, also
-- when a script loads the text itself. lib/script/script_files.c does the same for files.
local explain = R.explain
local raw_load, raw_loadstring = load, loadstring
local function loaded(text, fn, why)
    if fn == nil and type(text) == "string" and type(why) == "string" then
        return nil, explain(text, why)
    end
    return fn, why
end
function load(text, ...)
    return loaded(text, raw_load(text, ...))
end
function loadstring(text, ...)
    return loaded(text, raw_loadstring(text, ...))
end
