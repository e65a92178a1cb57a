-- SPDX-License-Identifier: BSD-3-Clause
-- Shows the probes that wirerate puts at the start of payloads (`set <ports> probe on`), in
-- Wireshark and tshark.
--
--   tshark -X lua_script:wirerate_probe.lua -r file.pcap -T fields -e wirerate.stream -e wirerate.queue -e wirerate.seq
--
-- Wireshark knows another protocol for some UDP ports. For 5678, to which streams go unless they say otherwise, this file looks for
-- probes first; for others tell Wireshark to do so: `-o udp.try_heuristic_first:TRUE`, or Preferences, Protocols, UDP.
--
-- Or copy this file into a plugin folder (Help, About, Folders). UDP payloads that begin with a
-- probe are found without further settings, and by "Decode as". Behind any other headers a probe is
-- looked for after dissection, in the innermost payload that Wireshark has found. A probe is
-- recognized by its sum: one of 65535 payloads of random bytes looks like one too. If the
-- preferences have the frequency of the sender's clock (wirerate.tsc_hz; `show clock` of the sender
-- tells it), times are shown in nanoseconds too.
--
-- A probe has 16 bytes. Its fields and their bits, most significant bit first:
--   check 16   makes the one's complement sum of the eight words 0x5752
--   seq 32     how many probes of this port, stream and Tx queue came before this one, modulo 2^32
--   port 5, queue 6, exp 5
--   stream 13  8191: there is room for a probe, but none
--   mant 15    the frame left mant x 2^exp cycles after it was due
--   sent 36    the sender's clock, in cycles, when the frame was handed to the device, modulo 2^36

local LEN, SUM, NONE = 16, 0x5752, 8191

local probe = Proto("wirerate", "wirerate probe")
local f = {
    check = ProtoField.uint16("wirerate.check", "Check", base.HEX),
    check_ok = ProtoField.bool("wirerate.check_ok", "Check is right"),
    seq = ProtoField.uint32("wirerate.seq", "Sequence number"),
    port = ProtoField.uint8("wirerate.port", "Port"),
    queue = ProtoField.uint8("wirerate.queue", "Tx queue"),
    exp = ProtoField.uint8("wirerate.exp", "Delay exponent"),
    stream = ProtoField.uint16("wirerate.stream", "Stream"),
    mant = ProtoField.uint16("wirerate.mant", "Delay mantissa"),
    sent = ProtoField.uint64("wirerate.sent", "Sent, cycles"),
    delay = ProtoField.uint64("wirerate.delay", "Send delay, cycles"),
    sent_ns = ProtoField.double("wirerate.sent_ns", "Sent, ns"),
    delay_ns = ProtoField.double("wirerate.delay_ns", "Send delay, ns"),
}
for _, field in pairs(f) do
    table.insert(probe.fields, field)
end
probe.prefs.tsc_hz = Pref.string("Sender's clock, Hz", "", "Cycles per second of the sender's TSC; empty: no times in nanoseconds")

-- Returns functions that give the fields of these names in a frame. The last one that they give is
-- the innermost.
local function extractors(names)
    local list = {}
    for _, name in ipairs(names) do
        local ok, extractor = pcall(Field.new, name)
        if ok then
            table.insert(list, extractor)
        end
    end
    return list
end
local payloads = extractors({"udp.payload", "tcp.payload", "data.data"})
-- The last fields of headers for whose payload Wireshark has no field, or not always one.
local ends = extractors({"esp.sequence", "sctp.data_payload_proto_id"})

local function is_probe(range)
    if range:len() < LEN then
        return false
    end
    local sum = 0
    for at = 0, LEN - 2, 2 do
        sum = sum + range(at, 2):uint()
    end
    return sum % 65535 == SUM
end

local function show(range, tree)
    local bits = function(from, n) return range:bitfield(from, n) end
    local seq, stream = bits(16, 32), bits(64, 13)
    local mant, exp = bits(77, 15), bits(59, 5)
    local sent = range(11, 5):uint64():band(UInt64(0xffffffff, 0xf))
    local delay = UInt64(mant):lshift(exp)
    local none = stream == NONE
    local title = none and "wirerate: room for a probe" or
        string.format("wirerate probe: port %d stream %d queue %d seq %d", bits(48, 5), stream, bits(53, 6), seq)
    local t = tree:add(probe, range(0, LEN), title)

    t:add(f.check, range(0, 2))
    t:add(f.check_ok, range(0, LEN), is_probe(range)):set_generated()
    t:add(f.seq, range(2, 4), seq)
    t:add(f.port, range(6, 1), bits(48, 5))
    t:add(f.queue, range(6, 2), bits(53, 6))
    t:add(f.exp, range(7, 1), exp)
    t:add(f.stream, range(8, 2), stream)
    t:add(f.mant, range(9, 3), mant)
    t:add(f.sent, range(11, 5), sent)
    t:add(f.delay, range(7, 5), delay):set_generated()
    local hz = tonumber(probe.prefs.tsc_hz)
    if hz ~= nil and hz > 0 and not none then
        t:add(f.sent_ns, range(11, 5), sent:tonumber() * 1e9 / hz):set_generated()
        t:add(f.delay_ns, range(7, 5), delay:tonumber() * 1e9 / hz):set_generated()
    end
    return title
end

-- Dissects a UDP payload that begins with a probe. What follows the probe is data.
local function dissect(tvb, pinfo, tree)
    local title = show(tvb:range(), tree)

    pinfo.private["wirerate"] = "shown"
    pinfo.cols.info = title
    if tvb:len() > LEN then
        Dissector.get("data"):call(tvb:range(LEN):tvb(), pinfo, tree)
    end
end

function probe.dissector(tvb, pinfo, tree)
    if tvb:len() < LEN then
        return 0
    end
    dissect(tvb, pinfo, tree)
    return tvb:len()
end

probe:register_heuristic("udp", function(tvb, pinfo, tree)
    if not is_probe(tvb:range()) then
        return false
    end
    dissect(tvb, pinfo, tree)
    return true
end)
DissectorTable.get("udp.port"):add_for_decode_as(probe)

-- Streams go to this port unless they say otherwise, and Wireshark takes what comes there for something else.
local PORT = 5678
local usual = DissectorTable.get("udp.port"):get_dissector(PORT)
local first = Proto("wirerate_port", "wirerate probe at the usual port")

function first.dissector(tvb, pinfo, tree)
    if is_probe(tvb:range()) then
        dissect(tvb, pinfo, tree)
        return tvb:len()
    end
    return (usual or Dissector.get("data")):call(tvb, pinfo, tree)
end
DissectorTable.get("udp.port"):add(PORT, first)

-- Looks for probes behind all other headers, when everything is dissected.
local after = Proto("wirerate_after", "wirerate probe behind any headers")

local function last_of(extractor)
    local found = {extractor()}
    return found[#found]
end

function after.dissector(tvb, pinfo, tree)
    if pinfo.private["wirerate"] ~= nil then
        return
    end
    for _, payload in ipairs(payloads) do
        local last = last_of(payload)
        if last ~= nil and is_probe(last.range) then
            show(last.range, tree)
            return
        end
    end
    for _, field in ipairs(ends) do
        local last = last_of(field)
        local at = last ~= nil and last.offset + last.len or tvb:len()
        if at + LEN <= tvb:len() and is_probe(tvb(at)) then
            show(tvb(at), tree)
            return
        end
    end
end

register_postdissector(after)
