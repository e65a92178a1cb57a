/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests Lua with a small program: values there and back, calls, errors, coroutines, limits, the
 * sandbox. */
#include "script_world.h"

#include <malloc.h>

static void values(void **state)
{
	(void)state;
	prints("print(wr.port[0].rate, wr.port[0].count, wr.port[0].promiscuous, wr.port[0].size)",
	       "100%\t0\tfalse\tauto\n");
	prints("wr.port[0].rate = 1.5e6 print(wr.port[0].rate) wr.port[0].rate = wr.port[0].rate print(wr.port[0].rate)",
	       "1500000\n1500000\n");
	prints("wr.port[1].promiscuous = true wr.port[1].count = 2^53 print(wr.port[1].promiscuous, wr.port[1].count)",
	       "true\t9.007199254741e+15\n");
	assert_true(world.port[1].promisc);
	assert_true(world.port[1].count == 1ull << 53);
	/* What a double cannot hold is text, and goes back unchanged. */
	prints("local p = wr.port[1] p.count = '18446744073709551615' p.count = p.count print(p.count)",
	       "18446744073709551615\n");
	prints("wr.port[1].count = nil print(wr.port[1].count)", "0\n");
	prints("local s = wr.port[0].stream[2] s['udp.dst'] = 5000 s.size = 128 print(s['udp.dst'], s.size, s.proto, s)",
	       "5000\t128\tudp\t0/2\n");
	prints("wr.port[0].stream[2].dport = 7 print(wr.port[0].stream[2]['udp.dst'])", "7\n");
	prints("wr.port[0].stream.all.size = 200 print(wr.port[0].stream[1].size)", "200\n");
	prints("wr.ports_per_page = 2 print(wr.ports_per_page, wr.set.ports_per_page) wr.set.ports_per_page = 3 print(wr.ports_per_page)",
	       "2\t2\n3\n");
	prints("wr.port[0]['ipv4[3].ttl'] = 9 print(#wr.ports(), wr.version)", "2\t9.9\n");
	prints("print(wr.port[0] == wr.port[0], wr.port[0] == wr.port[1], wr.port[0].stream[1].port == wr.port[0])",
	       "true\tfalse\ttrue\n");
}

static void settings_of_the_table(void **state)
{
	(void)state;
	/* Every row that can be read stays what it was when it is written with what was read. */
	for (unsigned i = 0; i < N_ROWS; i++) {
		struct sbuf text = {0}, want = {0};
		const struct setting *s = &rows[i];
		if (s->flags & SET_LATER)
			continue;
		const char *place = s->scope == &scope_global ? "wr.set"
				    : s->scope == &scope_port ? "wr.port[1]"
							      : "wr.port[1].stream[2]";
		cmd_setting_text(lang, s, 1, 2, &want);
		sbuf_addf(&text, "%s[\"%s\"] = %s[\"%s\"]", place, s->name, place, s->name);
		if (s->scope != &scope_global || world.per_page != 0)
			prints(text.s, "");
		sbuf_reset(&text);
		cmd_setting_text(lang, s, 1, 2, &text);
		assert_string_equal(sbuf_str(&text), sbuf_str(&want));
		sbuf_free(&text);
		sbuf_free(&want);
	}
}

static void refusals(void **state)
{
	(void)state;
	fails("wr.port[0].rate = 'abc'", "t.lua:1: rate: \"abc\" is not a rate");
	fails("wr.port[0].rate = 'abc'", "  set 0 rate abc\n             ^");
	fails("\n\nwr.port[0].foo = 1", "t.lua:3: no setting \"foo\"");
	fails("wr.port[7].rate = 1", "no port 7; there are ports 0 to 1");
	fails("print(wr.port[0].stream[3].size)", "no stream 0/3");
	fails("wr.port[0].rate = {}", "a table is no value");
	fails("wr.port[0].rate = 0/0", "nan is no number");
	fails("wr.port[0].pattern = 'a\\0b'", "zero byte");
	fails("wr.port[-1].rate = 1", "ports are numbers from 0 on");
	fails("wr.nothing = 1", "no setting \"nothing\"");
	fails("wr.port[0].stream[0].rate = 1", "rate belongs to a port");
	fails("return wr.stats('none')", "there is no part none");
	fails("wr.on('lin', print)", "there is no event \"lin\"; there are link, end");
	fails("local x = = 1", "t.lua:1: unexpected symbol");
	fails("error({})", "table: ");
	fails("error()", "nil");
	assert_non_null(strstr(sbuf_str(&note), "stack traceback"));
	prints("local ok, e = pcall(function() wr.port[0].rate = 'abc' end) print(ok, e.code, e.col, e.command, e.where, e:find('rate') "
	       "~= nil, #(e .. '') > 9)",
	       "false\tEINVAL\t11\tset 0 rate abc\tt.lua:1\ttrue\ttrue\n");
	busy_port = 0;
	prints("print(select(2, pcall(function() wr.port[0].mtu = 99 end)).code)", "EBUSY\n");
}

static void all_or_none(void **state)
{
	(void)state;
	prints("wr.port[0]:set{rate = 1000, count = 5, ['udp.src'] = 3} local p = wr.port[0] print(p.rate, p.count, p['udp.src'])",
	       "1000\t5\t3\n");
	fails("wr.port[0]{rate = 2000, count = 6, burst = 9999}", "burst: \"9999\" is too large");
	prints("local p = wr.port[0] print(p.rate, p.count, p.burst)", "1000\t5\t32\n");
	fails("wr.port[0]{['udp.dst'] = 5, size = 1}", "size");
	assert_false(world.stream[0][0].has[1]);
	fails("wr.port[0]{rate = 1, nothing = 2}", "no setting \"nothing\"");
	fails("wr.port[0]{count = 1, packets = 2}", "count is given twice");
	fails("wr.port[0]:set{1, 2}", "names of settings are text");
	assert_true(world.port[0].count == 5);
}

static void calls(void **state)
{
	(void)state;
	prints("local doc, code = wr.start(0, 'for', '2s') print(doc, code)", "true\t0\n");
	assert_string_equal(last_text, "for 2000000000");
	prints("wr.start{ports = {0, 1}, duration = 5e6}", "");
	assert_string_equal(last_text, "for 5000000");
	assert_int_equal(last_ports, 3);
	prints("wr.start{ports = wr.port[1], for_ = '1ms'}", "");
	assert_string_equal(last_text, "for 1000000");
	assert_int_equal(last_ports, 2);
	prints("wr.port[0]:start()", "");
	assert_int_equal(last_ports, 1);
	prints("wr.start({0, 1})", "");
	assert_int_equal(last_ports, 3);
	prints("wr.stream.add(0, 3, 'like', '0/1') wr.stream_add(0, 3)", "");
	assert_string_equal(last_text, "0 3 -");
	prints("wr.stream.add{ports = 1, n = 2, stream = wr.port[0].stream[2]}", "");
	assert_string_equal(last_text, "1 2 0/2");
	prints("wr.show('rates', 1)", "");
	assert_string_equal(last_text, "1 1");
	prints("wr.lua('a  b;\"c') wr.load('x y')", "");
	assert_string_equal(last_text, "x y@5");
	prints("wr.set(0, 'rate', 5e3) wr.set('all', 'count', 7) print(wr.port[0].rate, wr.port[1].count)",
	       "5000\t7\n");
	prints("wr.set{ports = 0, setting = 'rate', value = 6e3} print(wr.port[0].rate)", "6000\n");
	prints("wr.cmd('set 0 count 77') print(wr.port[0].count)", "77\n");
	fails("wr.start(9)", "  start 9\n        ^");
	fails("wr.start(0, 'for', 'x')", "DURATION: \"x\" is not a duration");
	fails("wr.start{ports = 0, until_ = 5}",
	      "there is no argument \"until_\"; there are ports, for_, duration");
	fails("wr.start()", "ports is missing; syntax: start <ports>");
	fails("wr.start(0, nil, 1)", "is nil");
	fails("wr.start{ports = {}}", "a list of ports is empty");
	fails("wr.start(function() end)", "a function is no");
	fails("wr.ping4()", "ping4: not in this version");
	fails("wr.cmd('nothing')", "no command \"nothing\"");
	fails("wr.stream()", "it takes one more word: add, delete");
	fails("wr.cmd('a\\0b')", "zero byte");
}

static void waiting(void **state)
{
	(void)state;
	polls = cancels = 0;
	prints("wr.wait(0) wr.wait{ports = 1} print('done')", "done\n");
	assert_int_equal(polls, 4);
	prints("local co = coroutine.wrap(function() wr.wait(0) coroutine.yield('a') wr.wait(0) return 'b' end) print(co(), co())",
	       "a\tb\n");
	prints("print(pcall(function() wr.wait(0) error('x', 0) end))", "false\tx\n");
	fails("local t = {3, 1, 2} table.sort(t, function(a, b) wr.wait(0) return a < b end)",
	      "nothing can wait");
	fails("local co = coroutine.create(function() wr.wait(0) end)"
	      "string.gsub('a', 'a', function() local ok, e = coroutine.resume(co) error(e, 0) end)",
	      "nothing can wait");
	assert_int_equal(cancels, 2);
	prints("local n = 0 local h h = wr.every('1ms', function() n = n + 1 if n == 3 then h:stop() print(n) end end)",
	       "3\n");
	prints("local n = 0 for i = 1, 3 do local h h = wr.every(0.001, function() wr.sleep('1ms') n = n + 1 h:stop() end) end "
	       "while n < 3 do wr.sleep('1ms') end print(n)",
	       "3\n");
	fails("wr.every('1ms', function() error('in a timer') end)", "in a timer");
	fails("wr.every(0, print)", "no time");
	fails("wr.sleep('5')", "\"5\" has no unit");
	fails("wr.sleep(-1)", "no time to wait");
	fails("wr.sleep(1000000001)", "no time to wait");
	fails("wr.sleep('1000000001s')", "too long to wait; at most 1000000000s");
	fails("wr.sleep('9223372036s')", "too long to wait");
	fails("wr.sleep('18446744073709551615ns')", "too large");
	fails("wr.every('1000000001s', print)", "too long to wait");
	/* The error names the script's line, not one of ours. */
	fails("local ok\nwr.sleep()", "t.lua:2: a time is text");
	fails("\nwr.every('1s')", "t.lua:2: every() calls a function");
	fails("\nwr.on('nothing', print)",
	      "t.lua:2: there is no event \"nothing\"; there are link, end");
	fails("\nwr.cmd(nil)", "t.lua:2: a command is text, not nil");
	fails("\nio.write({})", "t.lua:2: bad argument #1");
	fails("\nfor k in wr.each() do end", "t.lua:2: each() goes over a table");
	fails("\nlocal x = wr.csv.line()", "t.lua:2: a line of CSV");
	/* What was stopped is not called, though its time has come too. */
	prints("local n, all = 0, {} for i = 1, 9 do all[i] = wr.every('1ms', function() n = n + 1 for _, h in ipairs(all) do h:stop() end end) end "
	       "local till = wr.now() + 3e6 while wr.now() < till do end while n == 0 do wr.sleep('1ms') end print(n)",
	       "1\n");
	/* A verb gives its document and the exit code, and no remarks. */
	prints("print(select('#', wr.wait(0)))", "2\n");
	prints("wr.sleep(0) wr.sleep('1us') coroutine.yield() print('on')", "on\n");
}

static void events(void **state)
{
	struct err e;

	(void)state;
	sbuf_reset(&out);
	assert_int_equal(
		script_start(
			sc,
			"local h = wr.on('link', function(ev) print(ev.event, ev.port, ev.text, ev.more) wr.sleep(0) "
			"print('then') end)"
			"local over wr.on('end', function() h:stop() over = true end) wr.wait(0) "
			"while not over do wr.sleep('1ms') end wr.sleep('20ms')",
			"@t.lua", NULL, 0, &out, &note, &e),
		0);
	assert_int_equal(script_poll(sc, &e), VERB_PENDING);
	json_t *doc = json_pack("{s:i}", "more", 5);
	script_event(sc, "link", 1, "up", doc);
	script_event(sc, "nobody", 1, NULL, NULL);
	json_decref(doc);
	assert_int_equal(script_poll(sc, &e), VERB_PENDING);
	script_event(sc, "end", 0, NULL, NULL);
	script_poll(sc, &e);
	script_event(sc, "link", 0, "down", NULL);
	while (script_poll(sc, &e) == VERB_PENDING)
		;
	assert_string_equal(sbuf_str(&out), "link\t1\tup\t5\nthen\n");
	/* The first handler stops the second one, so this is not told any more what happened to
	 * both at once. */
	sbuf_reset(&out);
	assert_int_equal(
		script_start(
			sc,
			"local told, a, b a = wr.on('link', function(ev) print('a', ev.port) a:stop() b:stop() told = true end)"
			"b = wr.on('link', function(ev) print('b', ev.port) end) "
			"while not told do wr.sleep('1ms') end wr.sleep('5ms')",
			"@t.lua", NULL, 0, &out, &note, &e),
		0);
	assert_int_equal(script_poll(sc, &e), VERB_PENDING);
	script_event(sc, "link", 0, NULL, NULL);
	script_event(sc, "link", 1, NULL, NULL);
	while (script_poll(sc, &e) == VERB_PENDING)
		;
	assert_string_equal(sbuf_str(&out), "a\t0\n");
}

static void ends(void **state)
{
	struct err e;

	(void)state;
	prints("wr.expect(true, 'a') print(wr.expect(1, 'b'))", "1\tb\n");
	assert_int_equal(script_exit_code(sc), 0);
	prints("wr.expect(false, 'why') print('on')", "on\n");
	assert_int_equal(script_exit_code(sc), 1);
	assert_string_equal(sbuf_str(&note), "t.lua:1: failed: why\n");
	prints("pcall(wr.exit, 3) print('not here')", "");
	assert_int_equal(script_exit_code(sc), 3);
	prints("table.sort({2, 1}, function() pcall(os.exit, 4) print('not here') end)", "");
	assert_int_equal(script_exit_code(sc), 4);
	prints("local co = coroutine.wrap(function() os.exit(false) end) co() print('not here')",
	       "");
	assert_int_equal(script_exit_code(sc), 1);
	/* When the chunk is cancelled, so is the command for which it waits. */
	cancels = 0;
	assert_int_equal(script_start(sc, "wr.every('1s', print) wr.wait(0)", "@t.lua", NULL, 0,
				      &out, &note, &e),
			 0);
	assert_int_equal(script_poll(sc, &e), VERB_PENDING);
	assert_int_equal(script_start(sc, "x = 1", "@t.lua", NULL, 0, &out, &note, &e), -EBUSY);
	script_cancel(sc);
	assert_int_equal(cancels, 1);
	assert_false(script_running(sc));
	/* A loop gives way, and can be ended. */
	assert_int_equal(script_start(sc,
				      "while true do pcall(function() while true do end end) end",
				      "@t.lua", NULL, 0, &out, &note, &e),
			 0);
	assert_int_equal(script_poll(sc, &e), VERB_PENDING);
	assert_true(script_ready(sc));
	script_cancel(sc);
	prints("print(x)", "nil\n");
	/* A chunk has results, and may be an expression alone. */
	assert_int_equal(script_start(sc, "1 + 1, {ports = wr.stats().ports}, nil, print", "=lua",
				      NULL, 0, &out, &note, &e),
			 0);
	assert_int_equal(script_poll(sc, &e), VERB_DONE);
	json_t *r = script_results(sc);
	char *text = json_dumps(json_array_get(r, 1), JSON_COMPACT | JSON_SORT_KEYS);
	assert_int_equal(json_array_size(r), 4);
	assert_int_equal(json_integer_value(json_array_get(r, 0)), 2);
	assert_string_equal(
		text,
		"{\"ports\":[{\"packets\":\"9007199254740993\",\"port\":1,\"queues\":[{\"queue\":0},{\"queue\":2}]}]}");
	free(text);
	json_decref(r);
}

static void documents(void **state)
{
	(void)state;
	prints("local s = wr.stats() print(s.ports[1].port, s.ports[1].queues[2].queue, s.ports[0], s.none, s.wall_ns, s.wall_ns - 0 > 1e18)",
	       "1\t2\tnil\tnil\t1700000000000000001\ttrue\n");
	prints("for k, v in wr.each({[0] = 'a', [5] = 'c', [2] = 'b', x = 1}) do print(k, v) end",
	       "0\ta\n2\tb\n5\tc\n");
	prints("local j = require 'cjson' print(j.encode({1, 2, {a = j.null}}), j.encode({}), j.encode(j.empty_array), j.encode('\"'))",
	       "[1,2,{\"a\":null}]\t{}\t[]\t\"\\\"\"\n");
	prints("local j = wr.json local v = j.decode('[1, 2.5, null, {\"ports\": [{\"port\": 4}]}, []]') print(v[1], v[2], v[3] == "
	       "j.null, v[4].ports[1].port,"
	       "j.encode(v))",
	       "1\t2.5\ttrue\t4\t[1,2.5,null,{\"ports\":[{\"port\":4}]},[]]\n");
	prints("print(wr.json.encode({1, 2, nil, 4}), wr.json.encode({[3] = 1}))",
	       "[1,2,null,4]\t[null,null,1]\n");
	fails("wr.json.encode({[1000] = 1})", "too sparse");
	fails("local t = {} t.t = t wr.json.encode(t)", "nested more than");
	fails("wr.json.encode('\\255')", "not UTF-8");
	fails("wr.json.encode(print)", "JSON has no function");
	fails("wr.json.encode(1/0)", "no number inf");
	fails("wr.json.decode('{')", "line 1, column");
	fails("wr.json.decode(('['):rep(1e5))", "line 1, column");
	fails("wr.json.encode({[print] = 1})", "a key of a table is a function");
	prints("print(wr.csv.line{1, 'a,b', nil, 'c\"'}, wr.csv.line({a = 1, b = 'x'}, {'b', 'a', 'z'}))",
	       "1,\"a,b\",,\"c\"\"\"\tx,1,\n");
	prints("print(wr.fmt.si(1234567), wr.fmt.digits(0.1), wr.fmt.digits(1e15))",
	       "1.235M\t0.1\t1000000000000000\n");
	prints("io.write('a', 1) io.stdout:write('b\\n') io.stderr:write('c') print(io.type(io.stdout))",
	       "a1b\nfile\n");
	assert_string_equal(sbuf_str(&note), "c");
}

/* Chunks that try to reach what they must not, or that must be ended. Each gives false or fails. */
static const char *const escapes[] = {
	"return io ~= nil",
	"return debug ~= nil",
	"return package ~= nil",
	"return ffi ~= nil",
	"return jit ~= nil",
	"return dofile ~= nil",
	"return loadfile ~= nil",
	"return os.execute ~= nil",
	"return os.getenv ~= nil",
	"return os.remove ~= nil",
	"return os.tmpname ~= nil",
	"return os.rename ~= nil",
	"return string.dump ~= nil",
	"return getfenv ~= nil",
	"return setfenv ~= nil",
	"return newproxy ~= nil",
	"return collectgarbage ~= nil",
	"return module ~= nil",
	"return gcinfo ~= nil",
	"return os.setlocale ~= nil",
	"return require('ffi')",
	"return require('io')",
	"return require('debug')",
	"return require('jit')",
	"return require('package')",
	"return require('table.new')",
	"return require('string.buffer')",
	"return require('wirerate.plot')",
	"return require('/etc/passwd')",
	"return getmetatable('') ~= nil",
	"return getmetatable(wr.port) ~= false and getmetatable(wr.port)",
	"return getmetatable(wr.port[0])",
	"getmetatable('').__index = nil",
	"return load('\\27LJ\\2') ~= nil",
	"return loadstring('\\27LJ\\2') ~= nil",
	"return load(function() return '\\27LJ' end) ~= nil",
	"local n = 0 return load(function() n = n + 1 return n == 1 and '' or n == 2 and '\\27LJ' or nil end) == false",
	"return setmetatable({}, {__gc = function() end}) ~= nil",
	"return coroutine.running == nil",
	"return tostring(print):find('0x0') ~= nil",
	"string.rep = nil return ('x'):rep(1e12)",
	"return ('x'):rep(1e10)",
	"return ('x'):rep(2^60)",
	"local s = 'x' while true do s = s .. s end",
	"local t = {} while true do t[#t + 1] = {} end",
	"return table.concat(setmetatable({}, {}), ('x'):rep(1e9))",
	"local t = {} for i = 1, 1e9 do t[i] = i end",
	"return (('x'):rep(1e6):gsub('x', ('y'):rep(1e6)))",
	"return ('a'):rep(1e5):find(('.-'):rep(9) .. 'b')",
	"return ('a'):rep(30000):match('.-.-.-b')",
	"return ('a'):rep(1e6):gmatch('.-b')",
	"while true do end",
	"while true do pcall(function() while true do end end) end",
	"repeat until false",
	"table.sort({3, 2, 1}, function() while true do end end)",
	"table.sort({3, 2, 1}, function() while true do pcall(function() while true do end end) end end)",
	"string.gsub('a', 'a', function() while true do pcall(string.rep) end end)",
	"local co = coroutine.wrap(function() while true do end end) co()",
	"local function f() return f() end f()",
	"local function f() f() end f()",
	"local co co = coroutine.wrap(function() return pcall(co) end) while true do pcall(co) end",
	"wr.every('1ms', function() while true do end end)",
	"xpcall(function() while true do end end, function() while true do end end)",
	"for i = 1, 1e9 do print(('x'):rep(1e4)) end",
	"local t = setmetatable({}, {__index = function(t, k) return t[k] end}) return t.x",
	"return string.format('%999d', 1)",
	"return loadstring(('('):rep(1e6)) ~= nil",
	"local j = wr.json local t = {} for i = 1, 1000 do t = {t} end return j.encode(t)",
	"wr.on('link', print) wr.every('1ms', function() end)",
	/* Nothing of ours is lost where memory ends, which sanitizers check. */
	"wr.expect(false, setmetatable({}, {__tostring = function() error('x') end}))",
	"local t = {} pcall(function() while true do t[#t + 1] = ('x'):rep(1000) .. #t end end) for i = 1, 1000 do pcall(wr.fmt.si, i / 7)"
	" pcall(wr.stats) pcall(wr.stats, 'none') pcall(wr.start, {i, i + 1}) pcall(wr.cmd, i) pcall(wr.start, {a = i}) pcall(wr.sleep, {}) end",
	/* The limits hold for what is left of a chunk that has ended too. */
	"error(setmetatable({}, {__tostring = function() while true do end end}))",
	"error(setmetatable({}, {__tostring = function() local s = 'x' while true do s = s .. s end end}))",
	"return setmetatable({[true] = 1}, {__tostring = function() while true do end end})",
	"return setmetatable({[true] = 1}, {__tostring = function() wr.wait(0) end})",
	/* These small tables are large as text. */
	"local t = {1} for i = 1, 100 do t = {t, t} end return t",
	"local t = {1} for i = 1, 100 do t = {t, t} end return wr.json.encode(t)",
	"local k, t = ('k'):rep(1e6), {} for i = 1, 1000 do t[i] = {[k] = 1} end return wr.json.encode(t)",
	"local t = wr.stats().ports t[2e9] = 1 return wr.json.encode(t)",
	"return wr.json.decode('[' .. ('0,'):rep(1e6) .. '0]')",
	"return ('a'):rep(5e6):find(('a'):rep(2e6) .. 'b', 1, true)",
	"return ('a'):rep(5e6):find(('a'):rep(2e6) .. 'b')",
	"for i = 1, 1e5 do wr.every('1h', print) end",
	"for i = 1, 1e5 do wr.on('link', print) end",
	"for i = 1, 1e5 do wr.expect(false, ('x'):rep(1e6)) end",
	"local s = ('x'):rep(5e6) wr.write(s, s, s, s, s, s, s, s)",
	"local s = ('x'):rep(5e6) wr.help(s, s, s, s)",
	"wr.cmd(('help '):rep(1e6))",
	/* Here results are for a coroutine whose stack is full. */
	"local function f(n, g) if n > 0 then return (f(n - 1, g)) end return g() end local n, by = 1, 4096 "
	"while by >= 1 do if pcall(f, n + by, function() return 1 end) then n = n + by else by = by / 2 end end "
	"for i = n - 60, n do pcall(f, i, function() return wr.wait(0) end) end",
};

static void sandbox(void **state)
{
	const struct script_opts opts = {.sandbox = true,
					 .max_bytes = 16 << 20,
					 .max_ns = 100000000,
					 .batch = true};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(escapes); i++) {
		struct err e = {.text = ""};
		open_state(&opts);
		int rc = run_polls(escapes[i], 20000, &e);
		json_t *r = rc == VERB_DONE ? script_results(sc) : NULL;
		const json_t *v = json_array_get(r, 0);
		if (rc != VERB_DONE)
			assert_true(rc < 0 && e.text[0] != '\0');
		else if (v != NULL && !json_is_false(v) && !json_is_null(v))
			fail_msg("escaped: %s", escapes[i]);
		json_decref(r);
		/* The state can run the next chunk, if memory is left. */
		sbuf_reset(&out);
	}
	open_state(&opts);
	prints("print((('a-b'):gsub('%-', '+')), require('cjson') == wr.json, load('return 1 + 1')(), ('x'):rep(3), ('a.b'):match('^(%w)%.'))",
	       "a+b\ttrue\t2\txxx\ta\n");
	prints("print(wr.port[0].rate, (wr.start(0)), os.time() > 0, type(wr.stats().ports))",
	       "100%\ttrue\ttrue\ttable\n");
	prints("print(load('return x', 'c', 't', {x = 5})(), load(function() return nil end)(), load('return x')())",
	       "5\tnil\tnil\n");
	fails("while true do end", "0.1 s");
	prints("print('again')", "again\n");
	/* A chunk that cannot give way holds up everybody. It does not get all the time that a
	 * chunk may take. */
	open_state(&(struct script_opts){
		.sandbox = true, .max_bytes = 16 << 20, .max_ns = 3600000000000, .batch = true});
	fails("string.gsub('x', 'x', function() while true do pcall(function() while true do end end) end end)",
	      "like string.gsub");
	prints("print('again')", "again\n");
}

static void strangers(void **state)
{
	const struct script_opts opts = {.sandbox = true,
					 .max_bytes = 16 << 20,
					 .max_ns = 20000000000,
					 .batch = true};
	static const char fill[] =
		"local t = {} pcall(function() while true do t[#t + 1] = {} end end) ";
	struct sbuf text = {0};
	struct err e;

	(void)state;
	open_state(&opts);
	assert_int_equal(script_start(sc, "\033LJ\2\2", "=remote", NULL, 0, &out, &note, &e),
			 -EINVAL);
	assert_non_null(strstr(e.text, "compiled"));
	assert_int_equal(script_start(sc, "\033LJ\2\2", "=lua", NULL, 0, &out, &note, &e), -EINVAL);
	assert_non_null(strstr(e.text, "compiled"));
	/* Where nothing else can run, it may not go on for as long as a chunk. */
	fails("string.gsub('x', 'x', function() while true do end end)", "string.gsub");
	/* What the program has made for a call is not lost if the state has no memory for it. */
	struct mallinfo2 before = mallinfo2();
	sbuf_addf(
		&text,
		"%s for i = 1, 20000 do for _, f in ipairs({wr.stats, wr.tables, wr.ports}) do pcall(f) end pcall(wr.start, 0) "
		"pcall(wr.start, {ports = setmetatable({}, {__index = error})}) pcall(wr.expect, true, setmetatable({}, {__tostring = error})) "
		"pcall(wr.fmt.si, 5) pcall(function() return wr.port[0].rate end) pcall(wr.json.encode, {1, {2}}) "
		"pcall(wr.json.decode, '[1,[2]]') end",
		fill);
	run_polls(text.s, 200000, &e);
	sbuf_free(&text);
	/* The next chunk finds room. */
	prints("local t = {} for i = 1, 1e5 do t[i] = {} end print(#t)", "100000\n");
	open_state(&opts);
	assert_true(mallinfo2().uordblks < before.uordblks + 500000);
}

static char found[2048];

static void on_offer(void *arg, const char *word, const char *help)
{
	(void)arg;
	(void)help;
	snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s ", word);
}

static void completes(const char *line, const char *want)
{
	int start;

	found[0] = '\0';
	script_complete(sc, line, (int)strlen(line), &start, on_offer, NULL);
	assert_string_equal(found, want);
	assert_in_range(start, 0, strlen(line));
}

static void completion(void **state)
{
	(void)state;
	completes("w", "wr ");
	completes("x = wr.po", "wr.port wr.ports wr.ports_per_page ");
	completes("print(wr.sta", "wr.stats wr.start ");
	completes("wr.stream.", "wr.stream.add wr.stream.delete ");
	completes("wr.port[0].ra", "wr.port[0].rate ");
	completes("wr.port[0].udp", "wr.port[0][\"udp.src\"] wr.port[0][\"udp.dst\"] ");
	completes("wr.port[0][\"udp.d", "wr.port[0][\"udp.dst\"] ");
	completes("wr.port[0].stream[3].co", "wr.port[0].stream[3].copy ");
	completes("wr.port[0]:st",
		  "wr.port[0]:stream wr.port[0]:streams wr.port[0]:start wr.port[0]:stop ");
	completes("wr.set.po", "wr.set.ports_per_page ");
	completes("foo.bar", "");
	completes("", "wr ");
}

static void documentation(void **state)
{
	struct sbuf doc = {0};
	struct err e;

	(void)state;
	script_annotations(lang, &doc);
	assert_non_null(strstr(doc.s, "---@field [\"udp.dst\"] "));
	assert_non_null(strstr(doc.s, "function wr.stream_add(...) end"));
	/* The text is valid Lua. */
	assert_int_equal(script_start(sc, doc.s, "@meta.lua", NULL, 0, &out, &note, &e), 0);
	script_cancel(sc);
	sbuf_reset(&doc);
	script_manual(lang, &doc);
	for (unsigned i = 0; i < N_ROWS; i++) {
		struct sbuf name = {0};
		sbuf_addf(&name, "| `%s` |", rows[i].name);
		assert_true((strstr(doc.s, name.s) != NULL) == !(rows[i].flags & SET_LATER));
		sbuf_free(&name);
	}
	sbuf_free(&doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(values, each_setup, each_teardown),
		cmocka_unit_test_setup_teardown(settings_of_the_table, each_setup, each_teardown),
		cmocka_unit_test_setup_teardown(refusals, each_setup, each_teardown),
		cmocka_unit_test_setup_teardown(all_or_none, each_setup, each_teardown),
		cmocka_unit_test_setup_teardown(calls, each_setup, each_teardown),
		cmocka_unit_test_setup_teardown(waiting, each_setup, each_teardown),
		cmocka_unit_test_setup_teardown(events, each_setup, each_teardown),
		cmocka_unit_test_setup_teardown(ends, each_setup, each_teardown),
		cmocka_unit_test_setup_teardown(documents, each_setup, each_teardown),
		cmocka_unit_test_setup_teardown(sandbox, each_setup, each_teardown),
		cmocka_unit_test_setup_teardown(strangers, each_setup, each_teardown),
		cmocka_unit_test_setup_teardown(completion, each_setup, each_teardown),
		cmocka_unit_test_setup_teardown(documentation, each_setup, each_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
