-- SPDX-License-Identifier: BSD-3-Clause
-- Repeats trials until one of them is valid, and finds the highest rate that passes.
--
-- A trial is any function that returns a table with `verdict` and `loss_ratio`, as wr.trial() does.
-- Only a trial with the verdict "valid" says something about the device. Any other is repeated, and
-- a rate that gets no valid trial has neither passed nor failed.

local search = {}

-- Calls trial() until its verdict is "valid", at most 1 + again times. Returns the last result, and
-- how many trials it took.
function search.attempt(trial, again)
    local tries, t = 0, nil
    repeat
        tries = tries + 1
        t = trial()
    until t.verdict == "valid" or tries > again
    return t, tries
end

local function judge(t, max_loss)
    -- without loss_ratio nothing was sent, or it is not known what became of the frames
    if t.verdict ~= "valid" or t.loss_ratio == nil then
        return "untold"
    end
    return t.loss_ratio <= max_loss and "pass" or "fail"
end

local function check(o)
    for _, name in ipairs({"low", "high", "resolution"}) do
        if type(o[name]) ~= "number" then
            error(name .. ": a number is needed", 3)
        end
    end
    if o.low <= 0 or o.high <= o.low or o.resolution <= 0 then
        error(("0 < low < high and 0 < resolution are needed, not low %g, high %g, resolution %g"):format(o.low, o.high, o.resolution), 3)
    end
end

-- Finds the highest rate whose trial passes, by bisection between two rates (RFC 2544, 26.1; RFC
-- 1242, throughput). The fields of o:
--
--   trial        function(rate) -> result
--   low, high    rates, of any unit
--   resolution   how exactly the answer is wanted, in the same unit
--   max_loss     share of frames that may be lost (0)
--   again        how often a trial that is not valid is repeated (3)
--   confirm      how many further trials a rate must pass before it is the answer (0)
--   note         function(step), called after each rate: {rate=, outcome="pass"|"fail"|"untold", tries=, trial=}
--   progress     function(done, all, rate), called before each rate; about `all` rates are tried
--
-- Returns a table:
--
--   rate, trial  the highest rate that passed, and its trial; nil: none passed
--   upper        the lowest rate above it that did not pass; nil: there is none
--   upper_by     why: "loss", the device lost frames there; "untold", no trial was valid there, so
--                the device may be better than `rate`; "range", `high` itself passed
--   exact        true if upper_by is "loss"
--   steps        all rates that were tried, as note() gets them
--   trials       how many trials were made, and not_valid: how many of them were not valid
function search.highest(o)
    check(o)
    local max_loss, again = o.max_loss or 0, o.again or 3
    local r = {steps = {}, trials = 0, not_valid = 0}
    local passed = {} -- ascending; if the highest is not confirmed, the one below it counts
    local upper

    -- estimates how many rates are still to be tried, with the next one
    local function remaining()
        local low, high = passed[#passed] and passed[#passed].rate or o.low, upper and upper.rate or o.high
        local halvings = high - low > o.resolution and math.ceil(math.log((high - low) / o.resolution) / math.log(2)) or 0
        return math.max(1, halvings + (o.confirm or 0) + (#passed == 0 and 1 or 0) + (upper == nil and #passed == 0 and 1 or 0))
    end

    local function try(rate)
        if o.progress then
            o.progress(#r.steps, #r.steps + remaining(), rate)
        end
        local t, tries = search.attempt(function() return o.trial(rate) end, again)
        local step = {rate = rate, outcome = judge(t, max_loss), tries = tries, trial = t}
        r.trials = r.trials + tries
        r.not_valid = r.not_valid + tries - (t.verdict == "valid" and 1 or 0)
        r.steps[#r.steps + 1] = step
        if o.note then
            o.note(step)
        end
        return step
    end

    local function visit(rate)
        local step = try(rate)
        if step.outcome == "pass" then
            passed[#passed + 1] = step
        else
            upper = step
        end
        return step.outcome == "pass"
    end

    local function confirmed()
        for _ = 1, o.confirm or 0 do
            local step = try(passed[#passed].rate)
            if step.outcome ~= "pass" then
                upper = step
                passed[#passed] = nil
                return false
            end
        end
        return true
    end

    if visit(o.high) and not confirmed() or #passed == 0 then
        visit(o.low)
    end
    while #passed > 0 and upper do
        local lo, hi = passed[#passed].rate, upper.rate
        if hi - lo > o.resolution then
            visit((lo + hi) / 2)
        elseif confirmed() then
            break
        elseif #passed == 0 and upper.rate > o.low then
            visit(o.low)
        end
    end

    local best = passed[#passed]
    r.rate, r.trial = best and best.rate, best and best.trial
    r.upper = upper and upper.rate
    r.upper_by = upper == nil and "range" or upper.outcome == "fail" and "loss" or "untold"
    r.exact = r.upper_by == "loss"
    return r
end

return search
