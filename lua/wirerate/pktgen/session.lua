-- SPDX-License-Identifier: BSD-3-Clause
-- Functions that are not about frames: time, questions to the person at the prompt, files, the
-- screen and help.
local wr = require "wirerate"
local host = require "wirerate.pktgen.host"
local pktgen, fail, run = host.pktgen, host.fail, host.run
local function def(...)
    host.def(pktgen, ...)
end

-- ---- time and the person ----

local function seconds(v, what, unit)
    local n = tonumber(v)
    if n == nil or n < 0 or n ~= n or n == math.huge then
        fail("%s is %s; it is a number of %s, 0 or more", what, v == nil and "missing" or '"' .. tostring(v) .. '"', unit)
    end
    return n
end

function host.delay(ms)
    wr.sleep(seconds(ms, "the time", "milliseconds") / 1000)
end

function host.sleep(s)
    wr.sleep(seconds(s, "the time", "seconds"))
end

function host.pause(msg, ms)
    local t = seconds(ms, "the time", "milliseconds")
    wr.write(host.text(msg, "the message"))
    wr.sleep(t / 1000)
end

-- Asks the person at the prompt. If nobody can answer the result is "" at once, and stdin is not
-- read: its lines are commands.
local function ask(msg, what)
    msg = msg ~= nil and host.text(msg, "the message") or ""
    return wr.input(msg, what) or ""
end

function host.key(msg)
    return ask(msg, "key")
end

function host.input(msg)
    return ask(msg, "line")
end

-- Defines the functions that both tables, pktgen and dpdk, have.
function host.def_waits(into)
    into("delay", "ms", "let milliseconds pass", host.delay)
    into("sleep", "s", "let seconds pass", host.sleep)
    into("pause", "msg, ms", "print, and let milliseconds pass", host.pause)
    into("continue", "msg", "print, and wait for a key, which is returned", host.key)
    into("input", "msg", "print, and wait for a line, which is returned", host.input)
end
host.def_waits(def)

def("quit", "", "stop all ports and leave the program", function()
    wr.quit()
end)

-- ---- files ----

local function read_file(path)
    local f, why = io.open(path, "r")
    if f == nil then
        return nil, why
    end
    local text = f:read("*a")
    f:close()
    return text
end

local function run_lua(chunk, name)
    local fn, why = (loadstring or load)(chunk, name)
    if fn == nil then
        fail("%s", why)
    end
    return fn()
end

-- Says whether a file has commands that `load` does not allow, such as `start`.
local function has_actions(text)
    for line in text:gmatch("[^\n]+") do
        local row = host.row("verb", line:match("^%s*(%S+)") or "")
        for _, flag in ipairs(row ~= nil and row.flags or {}) do
            if flag == "no_load" then
                return true
            end
        end
    end
    return false
end

-- Runs a file of commands. If it has only settings it is applied as a whole or not at all, else
-- line by line.
local function run_commands(path, text)
    if not has_actions(text) then
        run("load %s", host.word(path, "the file"))
        return
    end
    local n = 0
    for line in (text .. "\n"):gmatch("(.-)\n") do
        n = n + 1
        if line:find("%S") and not line:find("^%s*#") then
            local ok, e = host.try(line)
            if ok == nil then
                fail("%s:%d: %s", path, n, e.text)
            end
        end
    end
end

local function run_file(path)
    local text, why = read_file(path)
    if text == nil then
        fail("%s", why)
    end
    if path:find("%.lua") then
        run_lua(text, "@" .. path)
    else
        run_commands(path, text)
    end
end

def("load", "file", "run a Lua file, if its name has .lua in it, or a file of commands", function(file)
    run_file(host.text(file, "the file"))
end)

-- A Lua file gets the commands as texts that it runs.
def("save", "file", "write all settings as a file of commands, or as Lua, if the name ends in .lua", function(file)
    file = host.text(file, "the file")
    if not file:find("%.lua$") then
        run("save %s", host.word(file, "the file"))
        return
    end
    local part = file .. ".part"
    run("save %s", host.word(part, "the file"))
    local text, why = read_file(part)
    os.remove(part)
    local f
    if text ~= nil then
        f, why = io.open(file, "w")
    end
    if f == nil then
        fail("%s", why)
    end
    f:write('-- All settings, written by pktgen.save().\nlocal wr = require "wirerate"\n')
    for line in text:gmatch("[^\n]+") do
        if line:find("%S") and not line:find("^%s*#") then
            f:write(("assert(wr.try(%q))\n"):format(line))
        end
    end
    f:close()
end)

def("run", '"cmd"|"lua", text', "run a command or a file of commands, or a piece of Lua", function(kind, text)
    kind, text = host.one_of(kind, "the kind", {"cmd", "lua"}), host.text(text, "the text")
    if kind == "lua" then
        return run_lua(text, "=run")
    end
    if read_file(text) ~= nil then
        return run_file(text)
    end
    local ok, e = pcall(wr.cmd, text)
    if not ok then
        fail("%s", tostring(e))
    end
end)

-- ---- the screen ----

def("screen", "on", "go on with redraws of the page, or stop them", function(on)
    run("%s screen", host.switch(on) and "enable" or "disable")
end)

-- A page that does not exist is only a remark: pages are for people, and the script goes on
-- without.
def("page", "name", "choose the page of the screen", function(name)
    local word = host.word(name, "the page")
    local ok, e = host.try("page " .. word)
    if ok == nil then
        host.warn_once("page " .. word, "pktgen.page: %s", e.text)
    end
end)

def("port", "n", "select the port that pages of one port show", function(n)
    run("port %s", host.ports(n))
end)

def("ports_per_page", "n", "most ports beside each other on a page", function(n)
    run("set ports_per_page %d", host.integer(n, "the number of ports", 1, 6))
end)

for _, name in ipairs({"cls", "update"}) do
    def(name, "", "draw the screen anew", function()
        run("cls")
    end)
end

-- ---- help ----

local function lines(from)
    local out = {}
    for _, f in ipairs(host.list) do
        if f.table:find(from) then
            local later = f.needs ~= nil and host.later(f.needs[1], f.needs[2])
            out[#out + 1] = f.usage .. "\n    " .. f.help .. (later and " (not in this version)" or "") .. "\n"
        end
    end
    return table.concat(out)
end

def("help", "", "the list of functions, as a text", function()
    return lines("^pktgen")
end)

def("Lua.help", "", "the same with the functions of `dpdk`", function()
    return lines("")
end)
