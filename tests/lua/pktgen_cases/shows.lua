-- SPDX-License-Identifier: BSD-3-Clause
-- What the cases of Pktgen's functions are judged by.
local wr = require "wirerate"
local pktgen = require "Pktgen"
local host = require "wirerate.pktgen.host"

local function settings(target)
    local out = {}
    for _, s in pairs(host.run("show settings %s", target).settings) do
        if type(s) == "table" and target == "all/all" then
            out[s.target .. " " .. s.name] = s.value
        elseif type(s) == "table" and s.target == target then
            out[s.name] = s.value
        end
    end
    return out
end

local function is(target, name, want)
    local v = settings(target)[name]
    wr.expect(v == want, ("%s of %s is %s, not %s"):format(name, target, tostring(v), tostring(want)))
end

local function frame()
    local f = host.run("show frame 0").frames
    return f[1] or f[0]
end

local function stack_has(name)
    return ("/" .. frame().stack .. "/"):find("/" .. name .. "/", 1, true) ~= nil
end

local function same(a, b, what)
    wr.expect(a == b, ("%s: %s is not %s"):format(what, tostring(a), tostring(b)))
end

local function refused(text, fn, ...)
    local ok, e = pcall(fn, ...)
    wr.expect(not ok and tostring(e):find(text, 1, true), ("'%s' was to be refused with '%s'"):format(tostring(e), text))
end

local function send(n)
    pktgen.set("0", "count", n)
    pktgen.set("0", "rate", 1)
    pktgen.start("0")
    while pktgen.isSending("0")[0] == "y" do
        pktgen.delay(5)
    end
    host.run("wait 0")
end

-- The switch of a header: on, off, and the three words that mean on.
local function header(name, word)
    return function()
        for _, on in ipairs({"on", "enable", "start"}) do
            pktgen[name]("0", on)
            wr.expect(stack_has(word), name .. " " .. on)
            pktgen[name]("0", "off")
            wr.expect(not stack_has(word), name .. " off")
        end
    end
end

-- What is not there yet takes its arguments and changes nothing.
local function nothing(name, ...)
    local before = settings("all/all")
    wr.expect(pktgen[name](...) == nil, name .. " returns something")
    local after = settings("all/all")
    for k, v in pairs(after) do
        same(v, before[k], name .. " changes " .. k)
    end
end

-- It must not come back sooner.
local function took(ns, fn, ...)
    local begin = wr.now()
    fn(...)
    wr.expect(wr.now() - begin >= ns, "it came back too early")
end

return {
    settings = settings, is = is, frame = frame, stack_has = stack_has, same = same,
    refused = refused, send = send, header = header, nothing = nothing, took = took,
}
