-- SPDX-License-Identifier: BSD-3-Clause
-- Every function of `require "Pktgen"`, at least one case each, judged by what commands show. Its argument is a folder for files.
local wr = require "wirerate"
local pktgen = require "Pktgen"
local host = require "pktgen.host"
local dir = arg[1] or "."
local two = #wr.ports() > 1
local cases, range, second = {}, {}, {}

-- ---- what commands show ----

local function settings(target)
	local out = {}
	for _, s in pairs(host.run("show settings %s", target).settings) do
		if type(s) == "table" then
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

-- ---- control ----

function cases.set()
	for what, v in pairs({count = 7, burst = 16, rxburst = 8}) do
		pktgen.set("0", what, v)
		is("0", what, tostring(v))
	end
	pktgen.set(0, "txburst", "17")
	is("0", "burst", "17")
	pktgen.set("0", "size", 100)
	is("0/0", "size", "100")
	pktgen.set("0", "size", 64)
	is("0/0", "size", "auto")
	pktgen.set("0", "rate", 12.5)
	is("0", "rate", "12.5%")
	pktgen.set("0", "rate", 1e-3)
	is("0", "rate", "0.001%")
	pktgen.set("0", "rate", 0)
	is("0", "rate", "0.01%")
	pktgen.set("0", "rate", 250)
	is("0", "rate", "100%")
	pktgen.set("0", "sport", 4000)
	pktgen.set("0", "dport", 4001)
	pktgen.set("0", "ttl", 9)
	is("0/0", "tcp.src", "4000")
	is("0/0", "tcp.dst", "4001")
	is("0/0", "ipv4.ttl", "9")
	-- values wait for their header
	pktgen.set_type("0", "arp")
	pktgen.set("0", "sport", 5000)
	pktgen.set_type("0", "ipv4")
	pktgen.set_proto("0", "udp")
	is("0/0", "udp.src", "5000")
	pktgen.set("0", "seqCnt", 2)
	pktgen.set("0", "seq_cnt", 0)
	pktgen.set("0", "prime", 2)
	pktgen.set("0", "dump", 2)
	pktgen.set("0", "cycles", 1000)
	refused("no number", pktgen.set, "0", "count", "many")
	refused("no whole number", pktgen.set, "0", "count", 1.5)
	refused("missing", pktgen.set, "0", "count")
	refused('there is no "speeed"', pktgen.set, "0", "speeed", 1)
	refused("the port list", pktgen.set, nil, "count", 1)
	refused("the port list", pktgen.set, "0;quit", "count", 1)
	refused("port", pktgen.set, "77", "count", 1)
	refused("above 0 to 100", pktgen.set, "0", "rate", -5)
	refused("rate", pktgen.set, "0", "rate", 0 / 0)
end

function cases.start()
	pktgen.set("0", "rate", 0.001)
	pktgen.start("0")
	same(pktgen.isSending("0")[0], "y", "isSending")
	pktgen.start("0")
	pktgen.start("all")
	same(pktgen.isSending("all").n, pktgen.portCount(), "n")
	pktgen.stop("all")
	same(pktgen.isSending("0")[0], "n", "isSending after stop")
	-- 64 is what has no room for IPv6 and a probe
	pktgen.set("0", "size", 64)
	pktgen.set_type("0", "ipv6")
	pktgen.latency("0", "on")
	send(3)
	wr.expect(frame().size > 64, "the frame is larger")
end

function cases.stop()
	pktgen.stop("0")
	pktgen.set("0", "rate", 0.001)
	pktgen.start(0)
	pktgen.stop(0)
	same(wr.stats().ports[0].run.state, "idle", "state")
end

function cases.prime()
	nothing("prime", "0")
end

function cases.send_arp()
	nothing("send_arp", "0", "g")
	nothing("send_arp", "all", "r")
end

function cases.ping4()
	nothing("ping4", "0")
end

function cases.ping6()
	nothing("ping6", "0")
end

local function took(ns, fn, ...)
	local begin = wr.now()
	fn(...)
	wr.expect(wr.now() - begin >= ns, "it came back too early")
end

function cases.delay()
	took(3e6, pktgen.delay, 3)
	pktgen.delay(0)
	refused("number of milliseconds", pktgen.delay, "long")
	refused("number of milliseconds", pktgen.delay, -1)
end

function cases.sleep()
	took(2e6, pktgen.sleep, 0.002)
	refused("missing", pktgen.sleep)
end

function cases.pause()
	took(2e6, pktgen.pause, "a pause\n", 2)
end

function cases.load()
	local f = assert(io.open(dir .. "/some.cmds", "w"))
	f:write("# settings alone\nset 0 count 5\nset 0 size 200\n")
	f:close()
	pktgen.load(dir .. "/some.cmds")
	is("0", "count", "5")
	is("0/0", "size", "200")
	f = assert(io.open(dir .. "/more.pkt", "w"))
	f:write("set 0 count 6\nclear all\ndelay 1\nstart 0\nstop 0\n")
	f:close()
	pktgen.load(dir .. "/more.pkt")
	is("0", "count", "6")
	f = assert(io.open(dir .. "/some.lua", "w"))
	f:write("pktgen.set('0', 'count', 8)\n")
	f:close()
	pktgen.load(dir .. "/some.lua")
	is("0", "count", "8")
	f = assert(io.open(dir .. "/bad.cmds", "w"))
	f:write("set 0 count 9\nset 0 rate abc\n")
	f:close()
	refused("rate", pktgen.load, dir .. "/bad.cmds")
	is("0", "count", "8")
	refused("no-such-file", pktgen.load, dir .. "/no-such-file")
end

function cases.save()
	pktgen.set("0", "count", 31)
	pktgen.seq(0, "0", "02:00:00:00:00:a0", "02:00:00:00:00:b0", "10.0.0.1", "10.0.1.1/24", 1, 2, "ipv4", "udp", 1, 96)
	local before = settings("all/all")
	for _, name in ipairs({"saved.pkt", "saved.lua"}) do
		pktgen.save(dir .. "/" .. name)
		pktgen.reset("all")
		is("0", "count", "0")
		pktgen.load(dir .. "/" .. name)
		local after = settings("all/all")
		for k, v in pairs(before) do
			same(after[k], v, k .. " after a load of " .. name)
		end
	end
end

function cases.run()
	pktgen.run("cmd", "set 0 count 41", 0)
	is("0", "count", "41")
	pktgen.run("lua", "pktgen.set('0', 'count', 42)")
	is("0", "count", "42")
	local f = assert(io.open(dir .. "/run.cmds", "w"))
	f:write("set 0 count 43\n")
	f:close()
	pktgen.run("cmd", dir .. "/run.cmds", 0)
	is("0", "count", "43")
	refused("allowed: cmd, lua", pktgen.run, "shell", "ls")
	refused("rate", pktgen.run, "cmd", "set 0 rate abc", 0)
	refused("run", pktgen.run, "lua", "this is none", 0)
end

function cases.clear()
	send(10)
	pktgen.clear("0")
	same(wr.stats().ports[0].tx.packets, 0, "packets")
end

function cases.clr()
	send(10)
	pktgen.clr()
	same(pktgen.portStats("0")[0].curr.opackets, 0, "packets")
end

function cases.cls()
	pktgen.cls()
end

function cases.update()
	pktgen.update()
end

function cases.reset()
	pktgen.set("all", "count", 77)
	pktgen.reset("0")
	is("0", "count", "0")
	if two then
		is("1", "count", "77")
	end
end

function cases.port_restart()
	nothing("port_restart", "0")
end

function cases.portCount()
	same(pktgen.portCount(), #wr.ports(), "portCount")
end

function cases.totalPorts()
	same(pktgen.totalPorts(), #wr.ports(), "totalPorts")
end

function cases.screen()
	pktgen.screen("off")
	pktgen.screen("on")
end

function cases.page()
	for _, name in ipairs({"main", "range", "cpu", "system", "sys", "next", "sequence", "seq", "rnd", "log", "latency", "lat", "stats",
			       "qstats", "xstats", "pcap", "config", "rate", 0, "1"}) do
		pktgen.page(name)
	end
	refused("missing", pktgen.page)
end

function cases.port()
	pktgen.port(0)
	pktgen.port("0")
	refused("port", pktgen.port, 99)
end

function cases.ports_per_page()
	pktgen.ports_per_page(2)
	same(tostring(wr.try("show settings") and host.row("set", "pages.ports") ~= nil), "true", "the row")
	refused("1 to 6", pktgen.ports_per_page, 7)
end

cases["continue"] = function()
	same(pktgen.continue("a key? "), "k", "key")
end

function cases.input()
	same(pktgen.input("a line? "), "first line", "line")
end

function cases.help()
	wr.expect(pktgen.help():find("pktgen.seqTable", 1, true), "help")
end

cases["Lua.help"] = function()
	wr.expect(pktgen["Lua.help"]():find("dpdk.port_stats", 1, true), "Lua.help")
end

-- ---- the single packet ----

function cases.set_mac()
	pktgen.set_mac("0", "src", "02:00:00:00:00:09")
	pktgen.set_mac("0", "dst", "0002:0304:0506")
	is("0/0", "eth.src", "02:00:00:00:00:09")
	is("0/0", "eth.dst", "00:02:03:04:05:06")
	pktgen.set_mac("0", "02:00:00:00:00:08")
	is("0/0", "eth.dst", "02:00:00:00:00:08")
	refused("allowed: src, dst", pktgen.set_mac, "0", "both", "02:00:00:00:00:08")
	refused("eth", pktgen.set_mac, "0", "dst", "02:00")
	is("0/0", "eth.dst", "02:00:00:00:00:08")
end

function cases.set_ipaddr()
	pktgen.set_ipaddr("0", "src", "10.1.2.0/24")
	pktgen.set_ipaddr("0", "dst", "10.1.2.3")
	is("0/0", "ipv4.src", "10.1.2.0")
	is("0/0", "ipv4.dst", "10.1.2.3")
	pktgen.set_type("0", "ipv6")
	pktgen.set_ipaddr("0", "dst", "fd00::5/64")
	is("0/0", "ipv6.dst", "fd00::5")
	refused("the mask", pktgen.set_ipaddr, "0", "src", "10.0.0.1/33")
	refused("no address with a mask", pktgen.set_ipaddr, "0", "src", "10.0.0.1/x")
	refused("ipv4.src", pktgen.set_ipaddr, "0", "src", "10.0.0")
end

function cases.set_proto()
	for _, proto in ipairs({"udp", "icmp", "tcp"}) do
		pktgen.set_proto("0", proto)
		wr.expect(stack_has(proto), proto)
	end
	refused("allowed: udp, tcp, icmp", pktgen.set_proto, "0", "sctp")
end

function cases.set_type()
	for _, kind in ipairs({"ipv6", "arp", "ipv4"}) do
		pktgen.set_type("0", kind)
		wr.expect(stack_has(kind), kind)
	end
	pktgen.set_type("0", "vlan")
	wr.expect(stack_has("vlan"), "vlan")
	refused("allowed: ipv4", pktgen.set_type, "0", "ipx")
end

function cases.set_tcp_flags()
	pktgen.set_tcp_flags("0", "syn,ack")
	is("0/0", "tcp.flags", "syn,ack")
	refused("flag", pktgen.set_tcp_flags, "0", "sin")
end

cases.vlan = header("vlan", "vlan")
cases.mpls = header("mpls", "mpls")
cases.qinq = header("qinq", "qinq")
cases.gre = header("gre", "gre")
cases.gre_eth = header("gre_eth", "gre")

function cases.vxlan()
	pktgen.set_proto("0", "udp")
	header("vxlan", "vxlan")()
end

function cases.vlanid()
	pktgen.vlan("0", "on")
	pktgen.vlanid("0", 77)
	is("0/0", "vlan.vid", "77")
	refused("0 to 4095", pktgen.vlanid, "0", 4096)
end

function cases.cos()
	pktgen.vlan("0", "on")
	pktgen.cos("0", 0, 5)
	is("0/0", "vlan.pcp", "5")
	pktgen.cos("0", 6)
	is("0/0", "vlan.pcp", "6")
	pktgen.cos("0", "start", 3)
	wr.expect(wr.port[0]["range.cos"] ~= nil, "range")
	refused("0 to 7", pktgen.cos, "0", 0, 8)
end

function cases.tos()
	pktgen.tos("0", 12)
	is("0/0", "ipv4.tos", "0x0c")
	pktgen.tos("0", "start", 3)
	refused("0 to 255", pktgen.tos, "0", 256)
end

function cases.vxlan_id()
	pktgen.set_proto("0", "udp")
	pktgen.vxlan("0", "on")
	pktgen.vxlan_id("0", 0x0800, 5, 77)
	is("0/0", "vxlan.gid", "5")
	is("0/0", "vxlan.vni", "77")
	pktgen.vxlan_id("0", "0x0900", "6", "78")
	is("0/0", "vxlan.vni", "78")
	refused("vni", pktgen.vxlan_id, "0", 0, 0, 2 ^ 24)
end

local later = {
	process = {"0", "on"}, capture = {"0", "on"}, icmp_echo = {"0", "on"}, pcap = {"0", "on"}, blink = {"0", "on"}, bonding = {"0", "on"},
	garp = {"0", "on"}, rxtap = {"0", "on"}, txtap = {"0", "on"}, mac_from_arp = {"on"},
}
for name, args in pairs(later) do
	cases[name] = function()
		nothing(name, unpack(args))
		args[#args] = "off"
		nothing(name, unpack(args))
	end
end

function cases.clock_gettime()
	nothing("clock_gettime", "on")
	nothing("clock_gettime", "off")
end

function cases.rnd_s_ip()
	pktgen.rnd_s_ip("0", "on")
	same(wr.port[0].rnd_s_ip, true, "rnd_s_ip")
	pktgen.rnd_s_ip("0", "off")
	same(wr.port[0].rnd_s_ip, false, "rnd_s_ip")
end

function cases.rnd_s_pt()
	pktgen.rnd_s_pt("0", "on")
	same(wr.port[0].rnd_s_pt, true, "rnd_s_pt")
	pktgen.rnd_s_pt("0", "nonsense") -- off in Pktgen
	same(wr.port[0].rnd_s_pt, false, "rnd_s_pt")
	refused("missing", pktgen.rnd_s_pt, "0")
end

function cases.set_range()
	pktgen.range.dst_port("0", "start", 5)
	pktgen.set_range("0", "on")
	same(wr.port[0].ranges, true, "ranges")
	pktgen.set_range("0", "disable")
	same(wr.port[0].ranges, false, "ranges")
	pktgen.range("0", "on")
	same(wr.port[0].ranges, true, "range()")
end

function cases.pattern()
	for _, s in ipairs({"zero", "none", "user", "abc"}) do
		pktgen.pattern("0", s)
		is("0/0", "pattern", s)
	end
	refused("allowed: abc", pktgen.pattern, "0", "def")
end

function cases.userPattern()
	pktgen.userPattern("0", "two words")
	is("0/0", "userpattern", "two words")
end

function cases.latency()
	pktgen.set("0", "rate", 10)
	pktgen.latency("0", "rate", 1000)
	is("0/0", "probe", "off")
	pktgen.latency("0", "enable")
	wr.expect(settings("0/0").probe:find("every"), "the rate counts from then on")
	pktgen.latency("0", "entropy", 0)
	pktgen.latency("0", "entropy", 12)
	pktgen.latency("0", "off")
	is("0/0", "probe", "off")
	refused("1 to 1000000", pktgen.latency, "0", "rate", 0)
end

function cases.jitter()
	pktgen.jitter("0", 33)
	is("0", "jitter", "33")
	refused("jitter", pktgen.jitter, "0", -1)
end

function cases.rnd()
	pktgen.rnd("0", 3, 20, "XX1.0000XXXXXXXX........11111111")
	same(wr.port[0].random, true, "random")
	same(pktgen.rnd_list("0")[0][3].offset, 20, "offset")
	pktgen.rnd("0", 3, 20, "off")
	same(wr.port[0].random, false, "random")
	refused("0 to 31", pktgen.rnd, "0", 32, 0, "X")
	refused("rnd", pktgen.rnd, "0", 1, 0, "abc")
end

function cases.rnd_list()
	pktgen.rnd("0", 0, 30, "XXXX....")
	local all = pktgen.rnd_list()
	same(all.n, pktgen.portCount(), "n")
	same(all[0][0].active, "Yes", "active")
	wr.expect(all[0][0].mask:find("^XXXX%.%.%.%."), "mask " .. all[0][0].mask)
	same(all[0][31].active, "No", "active")
	same(pktgen.rnd_list("0").n, 1, "n of one")
end

function cases.latsampler_params()
	pktgen.latsampler_params("0", "poisson", 100, 1000, dir .. "/samples.txt")
	is("0", "latsampler", "poisson 100 1000 " .. dir .. "/samples.txt")
	refused("allowed: simple, poisson", pktgen.latsampler_params, "0", "even", 1, 1, "x")
end

function cases.latsampler()
	local rx = two and "1" or "0"
	pktgen.latsampler_params(rx, "simple", 100, 100000, dir .. "/samples.txt")
	pktgen.set_proto("0", "udp")
	pktgen.latency("0", "on")
	pktgen.latsampler(rx, "on")
	send(100)
	pktgen.latsampler(rx, "off")
	local f = io.open(dir .. "/samples.txt")
	wr.expect(f ~= nil, "there is a file")
	if f ~= nil then
		same(f:read("*l"), "Latency", "its first line")
		f:close()
	end
end

-- ---- sequence ----

local slot_line = {"02:00:00:00:00:a0", "02:00:00:00:00:b0", "10.0.0.1", "10.0.1.1/24", 1000, 2152, "ipv4", "udp", 9, 128}

function cases.seq()
	pktgen.seq(0, "0", unpack(slot_line))
	is("0/1", "eth.dst", "02:00:00:00:00:a0")
	is("0/1", "ipv4.src", "10.0.1.1")
	is("0/1", "udp.src", "1000")
	is("0/1", "size", "128")
	local line = {unpack(slot_line)}
	line[11] = 33
	pktgen.seq(1, 0, unpack(line))
	is("0/2", "gtpu.teid", "33")
	line[6] = 80
	pktgen.seq(2, "0", unpack(line))
	wr.expect(settings("0/3")["gtpu.teid"] == nil, "no GTP-U beside its port")
	refused("0 to 15", pktgen.seq, 16, "0", unpack(slot_line))
	refused("size is missing", pktgen.seq, 0, "0", unpack(slot_line, 1, 9))
	line[5] = 70000
	refused("source port", pktgen.seq, 0, "0", unpack(line))
	is("0/1", "udp.src", "1000")
end

function cases.seqTable()
	pktgen.seqTable(0, "all", {
		eth_dst_addr = "02:00:00:00:00:a0", eth_src_addr = "02:00:00:00:00:b0", ip_dst_addr = "10.0.0.1", ip_src_addr = "10.0.1.1/24",
		sport = 9, dport = 10, ethType = "ipv4", ipProto = "tcp", vlanid = 3, pktSize = 256, cos = 4, tos = 5, tcp_flags = "syn", gtpu_teid = 0,
	})
	is("0/1", "tcp.dst", "10")
	is("0/1", "tcp.flags", "syn")
	is("0/1", "ipv4.tos", "0x05")
	pktgen.seqTable(0, "0", {dport = 11})
	is("0/1", "tcp.dst", "11")
	is("0/1", "tcp.src", "9")
	is("0/1", "size", "256")
	is("0/1", "eth.dst", "02:00:00:00:00:a0")
	pktgen.seqTable(5, "0", {})
	is("0/6", "tcp.dst", "5678")
	pktgen.seqTable(6, "0", {ipProto = "udp", dport = 2152, teid = 12})
	is("0/7", "gtpu.teid", "12")
	refused("no key of a slot", pktgen.seqTable, 0, "0", {port = 1})
	refused("the table is missing", pktgen.seqTable, 0, "0")
	refused("destination port", pktgen.seqTable, 0, "0", {dport = "x"})
	is("0/1", "tcp.dst", "11")
end

function cases.seq_tcp_flags()
	pktgen.seq(0, "0", "02:00:00:00:00:a0", "02:00:00:00:00:b0", "10.0.0.1", "10.0.1.1", 1, 2, "ipv4", "tcp", 1, 64)
	pktgen.seq_tcp_flags(0, "0", "fin,psh")
	is("0/1", "tcp.flags", "psh,fin")
end

-- ---- ranges ----

local function ranged(row, fn, ...)
	local v = {...}
	for i, part in ipairs({"start", "min", "max", "inc"}) do
		range[fn .. "_done"] = true
		pktgen.range[fn]("0", part, v[i])
	end
	local text = tostring(wr.port[0]["range." .. row])
	local want = table.concat(v, " ")
	same(text, want, "range." .. row)
	refused("none of start, min, max, inc", pktgen.range[fn], "0", "step", v[1])
end

function range.dst_mac()
	ranged("dst-mac", "dst_mac", "02:00:00:00:00:01", "02:00:00:00:00:00", "02:00:00:00:00:ff", "00:00:00:00:00:01")
end

function range.src_mac()
	ranged("src-mac", "src_mac", "02:00:00:00:00:01", "02:00:00:00:00:00", "02:00:00:00:00:ff", "00:00:00:00:00:02")
end

function range.src_ip()
	ranged("src-ip", "src_ip", "10.0.0.1", "10.0.0.1", "10.0.0.9", "0.0.0.1")
	pktgen.range.src_ip("0", "start", "10.0.0.2/24")
	ranged("src-ip6", "src_ip", "fd00::1", "fd00::1", "fd00::9", "::1")
end

function range.dst_ip()
	ranged("dst-ip", "dst_ip", "10.0.0.1", "10.0.0.1", "10.0.0.9", "0.0.0.1")
end

function range.src_port()
	ranged("src-port", "src_port", 5, 1, 9, 2)
	refused("65535", pktgen.range.src_port, "0", "max", 65536)
end

function range.dst_port()
	ranged("dst-port", "dst_port", 5, 1, 9, 2)
end

function range.ttl()
	ranged("ttl", "ttl", 5, 1, 9, 2)
end

function range.hop_limits()
	ranged("hop-limits", "hop_limits", 5, 1, 9, 2)
end

function range.vlan_id()
	ranged("vlan", "vlan_id", 5, 1, 9, 2)
end

function range.pkt_size()
	ranged("size", "pkt_size", 64, 64, 128, 1)
end

function range.cos()
	ranged("cos", "cos", 1, 0, 7, 1)
end

function range.tos()
	pktgen.range.tos("0", "start", 8)
	wr.expect(tostring(wr.port[0]["range.tos"]):find("^0x08 "), "range.tos")
end

function range.traffic_class()
	pktgen.range.traffic_class("0", "start", 8)
	wr.expect(tostring(wr.port[0]["range.traffic-class"]):find("^0x08 "), "range.traffic-class")
end

function range.set_type()
	pktgen.range.set_type("0", "ipv6")
	same(wr.port[0]["range.type"], "ipv6", "range.type")
	refused("allowed: ipv4, ipv6", pktgen.range.set_type, "0", "arp")
end

function range.ip_proto()
	pktgen.range.ip_proto("0", "udp")
	same(wr.port[0]["range.proto"], "udp", "range.proto")
end

function range.mpls_entry()
	pktgen.mpls("0", "on")
	pktgen.range.mpls_entry("0", "0x00064140")
	is("0/0", "mpls.label", "100")
	pktgen.mpls_entry("0", "c8140")
	is("0/0", "mpls.label", "200")
	refused("no hexadecimal number", pktgen.range.mpls_entry, "0", "xyz")
end

function range.qinqids()
	pktgen.qinq("0", "on")
	pktgen.range.qinqids("0", 100, 200)
	is("0/0", "qinq.vid", "100")
	is("0/0", "vlan.vid", "200")
end

function range.gre_key()
	pktgen.gre("0", "on")
	pktgen.range.gre_key("0", 4711)
	is("0/0", "gre.key", "4711")
end

function cases.gtpu_teid()
	for i, part in ipairs({"start", "min", "max", "inc"}) do
		pktgen.gtpu_teid("0", part, ({5, 1, 9, 2})[i])
	end
	same(wr.port[0]["range.teid"], "5 1 9 2", "range.teid")
end

-- ---- statistics ----

function cases.isSending()
	local all = pktgen.isSending("all")
	same(all.n, pktgen.portCount(), "n")
	same(all[0], "n", "port 0")
	refused("there is no port 40", pktgen.isSending, "0,40")
end

function cases.linkState()
	local want = wr.stats().ports[0]
	same(pktgen.linkState(0)[0], want.link == "down" and "<--Down-->" or ("<UP-%d-FD>"):format(want.speed_mbps), "link")
	if two then
		host.run("set 0 wire link down")
		same(pktgen.linkState("0")[0], "<--Down-->", "link that is down")
		host.run("set 0 wire link up")
	end
end

function cases.portStats()
	pktgen.set_proto("0", "udp")
	pktgen.set("0", "size", 200)
	pktgen.clr()
	send(500)
	local new, old, st = pktgen.portStats("all"), pktgen.portStats("all", "port"), wr.stats().ports
	same(new.n, pktgen.portCount(), "n")
	for p, s in wr.each(st) do
		same(new[p].curr.opackets, s.tx.packets, "opackets")
		same(new[p].curr.ipackets, s.rx.packets, "ipackets")
		same(new[p].curr.obytes, s.tx.bytes - 4 * s.tx.packets, "obytes")
		same(new[p].curr.ibytes, s.rx.bytes - 4 * s.rx.packets, "ibytes")
		for _, key in ipairs({"ierrors", "oerrors", "rx_nombuf", "imissed", "ipackets", "opackets", "ibytes", "obytes"}) do
			same(type(old[p][key]), "number", key)
			same(old[p][key], new[p].curr[key], key)
		end
		same(new[p].qstats[0].opackets, s.queues[0].tx and s.queues[0].tx.packets or 0, "of the queue")
		same(type(new[p].sizes._1024_1522), "number", "sizes")
	end
	same(st[0].tx.packets, 500, "sent")
	if two then
		same(new[1].sizes._128_255, 500, "size")
	end
	local rate = pktgen.portStats("0", "rate")[0]
	for _, key in ipairs({"pkts_rx", "pkts_tx", "mbits_rx", "mbits_tx", "ipackets", "opackets", "ibytes", "obytes", "ierrors", "imissed"}) do
		same(rate[key], math.floor(rate[key]), key)
	end
	refused("allowed: port, rate", pktgen.portStats, "0", "ports")
end

function cases.portSizes()
	local s = pktgen.portSizes("all")
	for _, key in ipairs({"runt", "_64", "_65_127", "_128_255", "_256_511", "_512_1023", "_1024_1518", "jumbo", "broadcast", "multicast"}) do
		same(type(s[0][key]), "number", key)
	end
end

function cases.pktStats()
	pktgen.set_proto("0", "udp")
	pktgen.latency("0", "on")
	pktgen.jitter("all", 1)
	pktgen.clr()
	send(50)
	local s = pktgen.pktStats("all")
	for _, key in ipairs({"arp_pkts", "echo_pkts", "ip_pkts", "ipv6_pkts", "vlan_pkts", "dropped_pkts", "unknown_pkts", "tx_failed"}) do
		same(type(s[0][key]), "number", key)
	end
	if two then
		same(s[1].latency.num_pkts, wr.latency().ports[1].latency.actual.samples, "num_pkts")
		same(s[1].latency.num_pkts, 50, "num_pkts")
		same(type(s[1].avg_latency), "number", "avg_latency")
		same(s[1].latency.jitter_threshold_us, 1, "threshold")
	end
end

function cases.portInfo()
	pktgen.set("0", "count", 12)
	pktgen.set("0", "rate", 12.7)
	pktgen.set("0", "size", 300)
	pktgen.set("0", "dport", 99)
	local t = pktgen.portInfo("all")
	same(t.n, pktgen.portCount(), "n")
	local i = t[0].info
	same(i.tx_count, 12, "tx_count")
	same(i.tx_rate, 12, "tx_rate")
	same(i.pkt_size, 300, "pkt_size")
	same(i.eth_type, "IPv4", "eth_type")
	same(i.proto_type, "TCP", "proto_type")
	same(i.l2_l3_info.dst_port, 99, "dst_port")
	same(t[0].l2_l3_info.dst_port, 99, "the same one level higher")
	same(i["802.1p"].dscp, 0, "dscp")
	same(i.tx_debug.tx_pps, wr.rates().ports[0].asked_pps, "tx_pps")
	same(type(t[0].total_stats.max_ipackets), "number", "total_stats")
	same(type(i.VxLAN.group_id), "number", "group_id")
	same(i.vlanid, 1, "vlanid")
	pktgen.set("0", "count", 0)
	same(pktgen.portInfo("0")[0].info.tx_count, "Forever", "tx_count")
end

-- ---- the second table ----

function second.delay()
	took(2e6, dpdk.delay, 2)
end

function second.sleep()
	took(2e6, dpdk.sleep, 0.002)
end

function second.pause()
	took(2e6, dpdk.pause, "", 2)
end

second["continue"] = function()
	same(type(dpdk.continue("")), "string", "key")
end

function second.input()
	same(type(dpdk.input("")), "string", "line")
end

function second.port_stats()
	same(dpdk.port_stats("0")[0].opackets, wr.stats().ports[0].tx.packets, "opackets")
end

function second.version()
	same(dpdk.version(), pktgen.info.DPDK_Version, "version")
end

function second.portCount()
	same(dpdk.portCount(), pktgen.portCount(), "portCount")
end

function second.totalPorts()
	same(dpdk.totalPorts(), pktgen.totalPorts(), "totalPorts")
end

function second.linkState()
	same(dpdk.linkState("0")[0], pktgen.linkState("0")[0], "linkState")
	refused("single mbufs", function()
		return dpdk.tx_burst
	end)
end

-- quit() would end this: it is the last of files.lua
function cases.quit()
	same(type(pktgen.quit), "function", "quit")
end

-- ---- all of them ----

local tables = {pktgen = cases, ["pktgen.range"] = range, dpdk = second}
local n = 0
for _, f in ipairs(host.list) do
	local case = tables[f.table][f.name]
	wr.expect(case ~= nil, f.usage .. " has no case")
	if case ~= nil then
		host.run("reset all")
		for _, p in ipairs(wr.ports()) do
			host.forget(p)
		end
		local ok, e = pcall(case)
		wr.expect(ok, f.usage .. ": " .. tostring(e))
		n = n + 1
	end
end
for name, fn in pairs(pktgen) do
	wr.expect(type(fn) ~= "function" or cases[name] ~= nil or range[name] ~= nil, name .. " is in no list")
end
print(n .. " functions")
