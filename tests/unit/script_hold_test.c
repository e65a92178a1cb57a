/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what a chunk may take of the stack and of the time, on each way from Lua through C and
 * back, and with functions of C that could go on for long. */
#include "script_world.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static const struct script_opts stranger = {.sandbox = true,
					    .max_bytes = 64 << 20,
					    .max_ns = 5000000000,
					    .batch = true};
static const struct script_opts own = {.batch = true}, compiled = {.batch = true, .jit = true};

/* Each of these defines an f() that calls itself through C without an end. */
static const char *const everywhere[] = {
	"function f() string.gsub('x', 'x', f) end",
	"function f() coroutine.wrap(function() string.gsub('x', 'x', f) end)() end",
	"function f() local ok, e = pcall(string.gsub, 'x', 'x', function() f() end) error(e, 0) end",
	"function f() local ok, e = xpcall(function() string.gsub('x', 'x', f) end, tostring) error(e, 0) end",
	"function f() table.sort({1, 2, 3}, f) string.gsub('x', 'x', f) end",
	"local m = {} m.__tostring = function(t) return (tostring(t)) end function f() "
	"print(setmetatable({}, m)) end",
	"local m = {} m.__tostring = function(t) print(t) return '' end function f() print(setmetatable({}, m)) end",
	"local m = {} m.__tostring = print function f() print(setmetatable({}, m)) end",
	"local m = {} m.__tostring = function(t) return string.format('%s', t) end function f() return "
	"string.format('%s', setmetatable({}, m)) end",
	"local m = {} m.__index = function(t, k) string.gsub('x', 'x', function() return t.y end) end "
	"function f() return setmetatable({}, m).x end",
	"local m = {} m.__newindex = function(t) string.gsub('x', 'x', function() t.x = 1 end) end function "
	"f() setmetatable({}, m).x = 1 end",
	"local m = {} m.__concat = function(a) string.gsub('x', 'x', function() return a .. 'x' end) end "
	"function f() return setmetatable({}, m) .. 'x' end",
	"local m = {} m.__lt = function(a, b) string.gsub('x', 'x', function() return a < b end) end "
	"function f() local t = setmetatable({}, m) return t < t end",
	"local m = {} m.__call = function(t) string.gsub('x', 'x', t) string.gsub('x', 'x', function() t() "
	"end) end function f() setmetatable({}, m)() end",
	"function f() assert(load(f)) end",
	"local m = {} m.__tostring = function(t) wr.expect(true, t) end function f() wr.expect(true, "
	"setmetatable({}, m)) end",
	"local m = {} m.__tostring = function(t) wr.csv.line({t}) return '' end function f() "
	"string.gsub('x', 'x', function() f() end) end",
	"local m = {} function f() return wr.start(setmetatable({for_ = '1s'}, m)) end m.__index = f",
	"function f() for _ in string.gmatch('x', 'x') do string.gsub('x', 'x', f) end end",
};
static const char *const trusted[] = {
	"function f() table.foreach({1}, f) end",
	"function f() table.foreachi({1}, f) end",
	"function f() table.sort({1, 2, 3}, f) end",
	"function f() package.loaded.m = nil package.preload.m = f require('m') end",
};

static void overflows(const char *function)
{
	struct sbuf text = {0};

	sbuf_addf(&text, "%s local ok, e = pcall(f) print(ok, tostring(e):match('stack overflow'))",
		  function);
	struct err e = {.text = ""};
	int rc = run_polls(text.s, 20000, &e);
	if (rc != VERB_DONE || strcmp(sbuf_str(&out), "false\tstack overflow\n") != 0)
		fail_msg("%s: %s %s", function, e.text, sbuf_str(&out));
	sbuf_free(&text);
	prints("print(('x'):gsub('x', function() return 'y' end))", "y\t1\n");
}

static void recursion(void **state)
{
	static const struct script_opts *const kinds[] = {&stranger, &own, &compiled};

	(void)state;
	for (unsigned k = 0; k < ARRAY_SIZE(kinds); k++) {
		open_state(kinds[k]);
		for (size_t i = 0; i < ARRAY_SIZE(everywhere); i++)
			overflows(everywhere[i]);
		fails("local function f() string.gsub('x', 'x', f) end f()", "stack overflow");
		fails("local m = {} m.__tostring = print error(setmetatable({}, m))", "");
		for (size_t i = 0; i < ARRAY_SIZE(trusted) && !kinds[k]->sandbox; i++)
			overflows(trusted[i]);
	}
	/* Coroutines within each other take little of the stack, but some. */
	open_state(&stranger);
	prints("local function f() coroutine.wrap(f)() end print((pcall(f))) print((pcall(f)))",
	       "false\nfalse\n");
}

static void files(void **state)
{
	char name[] = "/tmp/script_hold_XXXXXX";
	struct sbuf text = {0};

	(void)state;
	int fd = mkstemp(name);
	assert_true(fd >= 0 && write(fd, "f()", 3) == 3);
	close(fd);
	sbuf_addf(&text, "function f() dofile('%s') end", name);
	open_state(&own);
	overflows(text.s);
	open_state(&compiled);
	overflows(text.s);
	unlink(name);
	sbuf_free(&text);
}

/* Finalizers run with the hook off. */
static void finalizers(void **state)
{
	(void)state;
	open_state(&own);
	prints("local function f() string.gsub('x', 'x', f) end local said "
	       "do local u = newproxy(true) getmetatable(u).__gc = function() said = {pcall(f)} end end "
	       "collectgarbage() collectgarbage() print(said[1], said[2]:match('stack "
	       "overflow'))",
	       "false\tstack overflow\n");
	prints("u = newproxy(true) getmetatable(u).__gc = function(p) local function f() "
	       "print(setmetatable({}, {__tostring = f})) end pcall(f) end",
	       "");
	script_free(sc);
	sc = NULL;
	open_state(&own);
}

/* The stack of a thread has its own size, and the limit is a part of that. */
static void *on_small_stack(void *arg)
{
	(void)arg;
	open_state(&stranger);
	for (size_t i = 0; i < ARRAY_SIZE(everywhere); i++)
		overflows(everywhere[i]);
	return NULL;
}

static void small_stacks(void **state)
{
	pthread_attr_t attr;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_attr_init(&attr), 0);
	assert_int_equal(pthread_attr_setstacksize(&attr, 256 << 10), 0);
	assert_int_equal(pthread_create(&thread, &attr, on_small_stack, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	pthread_attr_destroy(&attr);
}

/* Chunks that would hold up everything. Each is refused or gives way: it ends by its limit and not
 * much later, by the CPU time that the thread took. */
static const char *const holds[] = {
	"return ('a'):rep(30000):find('.-b')",
	"return ('a'):rep(1000):find('(.-)(.-)(.-)b')",
	"return "
	"('a'):rep(1e5):find(('.-'):rep(20) .. 'b')",
	"return ('a'):rep(4e6):find(('a'):rep(2e6) .. 'b', 1, true)",
	"return ('a'):rep(30000):gsub('.-b', "
	"'')",
	"return ('('):rep(30000):match('%b()')",
	"for _ in ('a'):rep(30000):gmatch('a-b') do end",
	"return ('a'):rep(3000):find('(a*)%1b')",
	"local s = 'local a return ' .. ('a and '):rep(1e5) .. 'a' assert(load(s))",
	"assert(load(('a=1 "
	"'):rep(1e6)))",
	"local t = {} for i = 1, 3e5 do t[i] = (i * 7919) % 300007 end while true do table.sort(t) "
	"table.sort(t, function(a, b) return a > b end) end",
	"local t = {} for i = 1, 1e6 do t[i] = i end while true do table.concat(t, ',') end",
	"while true do "
	"os.date(('%c'):rep(1e5)) end",
	"while true do local s = ('x'):rep(2e7) end",
	"local a, b = ('x'):rep(1e7) .. 'a', ('x'):rep(1e7) .. "
	"'b' while true do local c = a < b end",
	"local t = {} for i = 1, 5e5 do t[i] = 1 end while true do table.insert(t, 1, 1) table.remove(t) end",
	"local t = {} for i = 1, 3e5 do t['x' .. i] = 1 end for k in pairs(t) do t[k] = nil end while true "
	"do for k in next, t do end end",
	"while true do wr.try('show stats') end",
	"while true do wr.port[0].rate = 5 end",
	"while true do "
	"pcall(wr.stats) end",
	"string.gsub(('x'):rep(1e6), 'x', function() end) string.gsub(('x'):rep(1e6), 'x', function() for i "
	"= 1, 1e3 do end end)",
	"local m = {} m.__tostring = tostring print(setmetatable({}, m))",
	"local m = {} m.__tostring = m "
	"m.__call = tostring print(setmetatable({}, m))",
};

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void time_held(void **state)
{
	const struct script_opts opts = {.sandbox = true,
					 .max_bytes = 64 << 20,
					 .max_ns = 700000000,
					 .batch = true};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(holds); i++) {
		struct err e = {.text = ""};
		open_state(&opts);
		sbuf_reset(&out);
		sbuf_reset(&note);
		int rc = script_start(sc, holds[i], "@t.lua", NULL, 0, &out, &note, &e);
		double most = 0;
		for (rc = rc == 0 ? VERB_PENDING : rc; rc == VERB_PENDING;) {
			double begin = cpu_s();
			rc = script_poll(sc, &e);
			most = fmax(most, cpu_s() - begin);
		}
		/* Sanitizers take their time, and so do caches that others use. Without limits it
		 * would take minutes. */
		if (most > 2)
			fail_msg("%s: %.1f s without giving way", holds[i], most);
		prints("print(1)", "1\n");
	}
}

/* The sandbox's functions call the library's own, and give the same results. */
static void same_functions(void **state)
{
	static const char text[] =
		"local out = {} local function say(...) local n = select('#', ...) for i = 1, n do out[#out "
		"+ 1] = tostring((select(i, ...))) end end "
		"for _, p in ipairs{'a', 'b*', '(a-)(b)', '%a+', '^a', 'b$', '[^a]', '[]]', '[a-]', "
		"'%f[%w]%w+', '%b()', '(.)%1', '()a()', 'a?b', '.-', "
		"'[%w_]+', '%d+%.%d*', '', '[%', '%', '(', 'a)', '%1', '[a', '%g', 'x\\0y', ('a?'):rep(9)} do "
		"for _, s in ipairs{'', 'a', 'aab', 'ab(a(b)c)d', 'x]-y', '3.14 15', 'hello world', "
		"'aa\\0bb', ('ab'):rep(50)} do "
		"say(pcall(string.find, s, p)) say(pcall(string.match, s, p, 2)) say(pcall(string.gsub, s, "
		"p, '<%0>')) say(pcall(string.find, s, p, -2, true)) "
		"say(pcall(function() for a, b in string.gmatch(s, p) do say(a, b) end end)) end end "
		"local t = {} for i = 1, 1000 do t[i] = (i * 7919) % 1009 end table.sort(t) "
		"say(table.concat(t, ' ')) "
		"table.sort(t, function(a, b) return a % 10 < b % 10 or (a % 10 == b % 10 and a < b) end) "
		"say(table.concat(t, ' ', 3, 900)) "
		"for i = 1, 12000 do t[i] = i end say(table.concat(t, '-'), table.concat(t), table.concat(t, "
		"',', 5, 4), table.concat({}, 'x')) "
		"say(pcall(table.sort, {1, 'a'}) == false, pcall(table.concat, {{}}) == false, os.date('!%Y', 0)) "
		"print((table.concat(out, '|'):gsub(\"bad argument[^|]*\", 'bad')))";
	struct sbuf want = {0};
	struct err e = {.text = ""};

	(void)state;
	open_state(&own);
	assert_int_equal(run_polls(text, 20000, &e), VERB_DONE);
	sbuf_addn(&want, sbuf_str(&out), out.len);
	assert_true(want.len > 20000);
	open_state(&stranger);
	prints(text, sbuf_str(&want));
	sbuf_free(&want);
}

/* How much memory jansson has, and had at most. */
static size_t built, most_built;

static void *count_malloc(size_t n)
{
	size_t *p = malloc(n + 16);

	*p = n;
	built += n;
	most_built = built > most_built ? built : most_built;
	return p + 2;
}

static void count_free(void *p)
{
	if (p == NULL)
		return;
	built -= ((size_t *)p)[-2];
	free((size_t *)p - 2);
}

static const char *const grows[] = {
	"wr.json.decode('[' .. ('[],'):rep(1.3e6) .. '1]')",
	"wr.json.decode('[' .. ('{},'):rep(1e6) .. '1]')",
	"wr.json.decode('[' .. ('1,'):rep(2e6) .. '1]')",
	"wr.json.decode('{' .. ('\"a\":{},'):rep(5e5) .. "
	"'\"b\":1}')",
	"wr.json.decode(('['):rep(1e6))",
	"local t = {} for i = 1, 5e5 do t[i] = {} end wr.json.encode(t)",
	"local t = {} for i = 1, 40 do t = {t, t} end wr.json.encode(t)",
	"local t = {} for i = 1, 5e5 do "
	"t[i] = {} end return t",
	"local t = {1} for i = 1, 40 do t = {t, t} end return t",
	"return "
	"wr.json.encode({('\1'):rep(1e7)})",
	"return ('\1'):rep(2e7)",
	"for i = 1, 1000 do print(('x'):rep(1e6)) end",
	"wr.expect(false, ('x'):rep(1e6))",
};

static void documents_that_grow(void **state)
{
	struct script_opts opts = stranger;

	(void)state;
	opts.max_bytes = 32 << 20;
	opts.max_out_bytes = 4 << 20;
	script_free(sc);
	sc = NULL;
	teardown(state);
	json_set_alloc_funcs(count_malloc, count_free);
	setup(state);
	for (size_t i = 0; i < ARRAY_SIZE(grows); i++) {
		struct err e = {.text = ""};
		open_state(&opts);
		most_built = built;
		size_t before = built;
		run_polls(grows[i], 20000, &e);
		if (most_built - before > opts.max_bytes / 2 + (1 << 20) ||
		    out.len > opts.max_out_bytes + 1000)
			fail_msg("%s: %zu bytes were built, %zu printed", grows[i],
				 most_built - before, out.len);
		prints("print(wr.json.encode(wr.json.decode('[1,{\"a\":[]},\"x\"]')))",
		       "[1,{\"a\":[]},\"x\"]\n");
	}
	script_free(sc);
	sc = NULL;
	teardown(state);
	json_set_alloc_funcs(malloc, free);
	setup(state);
}

/* Nothing that a stranger is told says where things are in memory. The same thing keeps the same
 * name. */
static void addresses(void **state)
{
	static const char all[] =
		"local t, f, c = {}, function() end, coroutine.create(function() end) "
		"for _, v in ipairs{t, f, c, print, wr.port, wr.start, string.gsub} do print(v, tostring(v), "
		"('%s %p %5p %-20p|'):format(v, v, v, v)) end "
		"print(('%p %p'):format('text', 5), wr.csv.line{t, f}) print(select(2, pcall(error, t))) "
		"print(tostring(t) == tostring(t), tostring(t) == tostring({}), tostring(t):match('^table: "
		"0x%x+$') ~= nil, ('%5.1f %d %s %q %%'):format(1, 2, nil, 'a'))";
	struct err e = {.text = ""};

	(void)state;
	open_state(&stranger);
	assert_int_equal(run_polls(all, 20000, &e), VERB_DONE);
	for (const char *at = sbuf_str(&out); (at = strstr(at, "0x")) != NULL; at += 2)
		assert_true(strtoull(at, NULL, 16) < 1000);
	assert_non_null(strstr(out.s, "true\tfalse\ttrue\t  1.0 2 nil \"a\" %\n"));
	assert_null(strstr(out.s, "userdata: 0x7"));
	for (unsigned i = 0; i < 3; i++) {
		static const char *const bad[] = {
			"error({})",
			"string.gsub('x', 'x', error)",
			"table.sort({2, 1}, function() wr.start(7) end)",
		};
		assert_true(run_polls(bad[i], 20000, &e) < 0);
		assert_null(strstr(sbuf_str(&note), "0x7"));
		assert_null(strstr(sbuf_str(&note), "0x5"));
	}
	/* The person who called the script gets one line. */
	assert_true(run_polls("wr.fail('no such thing')", 20000, &e) < 0);
	assert_string_equal(e.text, "no such thing");
	assert_string_equal(sbuf_str(&note), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(recursion, each_setup, each_teardown),
		cmocka_unit_test_setup_teardown(files, each_setup, each_teardown),
		cmocka_unit_test_setup_teardown(finalizers, each_setup, each_teardown),
		cmocka_unit_test_setup_teardown(small_stacks, each_setup, each_teardown),
		cmocka_unit_test_setup_teardown(time_held, each_setup, each_teardown),
		cmocka_unit_test_setup_teardown(documents_that_grow, each_setup, each_teardown),
		cmocka_unit_test_setup_teardown(addresses, each_setup, each_teardown),
		cmocka_unit_test_setup_teardown(same_functions, each_setup, each_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
