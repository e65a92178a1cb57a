/* SPDX-License-Identifier: BSD-3-Clause */
/* What a chunk may take of the stack and of the time: each way from Lua through C and back, and functions of C that could go on for long. */
#include "script_world.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static const struct script_opts stranger = {.sandbox = true, .max_bytes = 64 << 20, .max_ns = 5000000000, .batch = true};
static const struct script_opts own = {.batch = true}, compiled = {.batch = true, .jit = true};

/* Each calls itself through C without an end, as f(). */
static const char *const everywhere[] = {
	"function f() string.gsub('x', 'x', f) end",
	"function f() coroutine.wrap(function() string.gsub('x', 'x', f) end)() end",
	"function f() local ok, e = pcall(string.gsub, 'x', 'x', function() f() end) error(e, 0) end",
	"function f() local ok, e = xpcall(function() string.gsub('x', 'x', f) end, tostring) error(e, 0) end",
	"function f() table.sort({1, 2, 3}, f) string.gsub('x', 'x', f) end",
	"local m = {} m.__tostring = function(t) return (tostring(t)) end function f() print(setmetatable({}, m)) end",
	"local m = {} m.__tostring = function(t) print(t) return '' end function f() print(setmetatable({}, m)) end",
	"local m = {} m.__tostring = print function f() print(setmetatable({}, m)) end",
	"local m = {} m.__tostring = function(t) return string.format('%s', t) end function f() return string.format('%s', setmetatable({}, m)) end",
	"local m = {} m.__index = function(t, k) string.gsub('x', 'x', function() return t.y end) end function f() return setmetatable({}, m).x end",
	"local m = {} m.__newindex = function(t) string.gsub('x', 'x', function() t.x = 1 end) end function f() setmetatable({}, m).x = 1 end",
	"local m = {} m.__concat = function(a) string.gsub('x', 'x', function() return a .. 'x' end) end function f() return setmetatable({}, m) .. 'x' end",
	"local m = {} m.__lt = function(a, b) string.gsub('x', 'x', function() return a < b end) end function f() local t = setmetatable({}, m) return t < t end",
	"local m = {} m.__call = function(t) string.gsub('x', 'x', t) string.gsub('x', 'x', function() t() end) end function f() setmetatable({}, m)() end",
	"function f() assert(load(f)) end",
	"local m = {} m.__tostring = function(t) wr.expect(true, t) end function f() wr.expect(true, setmetatable({}, m)) end",
	"local m = {} m.__tostring = function(t) wr.csv.line({t}) return '' end function f() string.gsub('x', 'x', function() f() end) end",
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

	sbuf_addf(&text, "%s local ok, e = pcall(f) print(ok, tostring(e):match('stack overflow'))", function);
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
	/* coroutines in each other take little of it, but not nothing */
	open_state(&stranger);
	prints("local function f() coroutine.wrap(f)() end print((pcall(f))) print((pcall(f)))", "false\nfalse\n");
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

/* The hook is off there. */
static void finalizers(void **state)
{
	(void)state;
	open_state(&own);
	prints("local function f() string.gsub('x', 'x', f) end local said "
	       "do local u = newproxy(true) getmetatable(u).__gc = function() said = {pcall(f)} end end "
	       "collectgarbage() collectgarbage() print(said[1], said[2]:match('stack overflow'))", "false\tstack overflow\n");
	prints("u = newproxy(true) getmetatable(u).__gc = function(p) local function f() print(setmetatable({}, {__tostring = f})) end pcall(f) end", "");
	script_free(sc);
	sc = NULL;
	open_state(&own);
}

/* A thread's stack is what it is: the limit is a part of that. */
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

/* What would hold up everything is refused, or gives way: it ends by its limit and not much later, counted by what the thread took. */
static const char *const holds[] = {
	"return ('a'):rep(30000):find('.-b')", "return ('a'):rep(1000):find('(.-)(.-)(.-)b')", "return ('a'):rep(1e5):find(('.-'):rep(20) .. 'b')",
	"return ('a'):rep(4e6):find(('a'):rep(2e6) .. 'b', 1, true)", "return ('a'):rep(30000):gsub('.-b', '')", "return ('('):rep(30000):match('%b()')",
	"for _ in ('a'):rep(30000):gmatch('a-b') do end", "return ('a'):rep(3000):find('(a*)%1b')",
	"local s = 'local a return ' .. ('a and '):rep(1e5) .. 'a' assert(load(s))", "assert(load(('a=1 '):rep(1e6)))",
	"local t = {} for i = 1, 3e5 do t[i] = (i * 7919) % 300007 end while true do table.sort(t) table.sort(t, function(a, b) return a > b end) end",
	"local t = {} for i = 1, 1e6 do t[i] = i end while true do table.concat(t, ',') end", "while true do os.date(('%c'):rep(1e5)) end",
	"while true do local s = ('x'):rep(2e7) end", "local a, b = ('x'):rep(1e7) .. 'a', ('x'):rep(1e7) .. 'b' while true do local c = a < b end",
	"local t = {} for i = 1, 5e5 do t[i] = 1 end while true do table.insert(t, 1, 1) table.remove(t) end",
	"local t = {} for i = 1, 3e5 do t['x' .. i] = 1 end for k in pairs(t) do t[k] = nil end while true do for k in next, t do end end",
	"while true do wr.try('show stats') end", "while true do wr.port[0].rate = 5 end", "while true do pcall(wr.stats) end",
	"string.gsub(('x'):rep(1e6), 'x', function() end) string.gsub(('x'):rep(1e6), 'x', function() for i = 1, 1e3 do end end)",
	"local m = {} m.__tostring = tostring print(setmetatable({}, m))", "local m = {} m.__tostring = m m.__call = tostring print(setmetatable({}, m))",
};

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void time_held(void **state)
{
	const struct script_opts opts = {.sandbox = true, .max_bytes = 64 << 20, .max_ns = 700000000, .batch = true};

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
		/* sanitizers take their time, and so do caches that others use; without limits it is minutes */
		if (most > 2)
			fail_msg("%s: %.1f s without giving way", holds[i], most);
		prints("print(1)", "1\n");
	}
}

/* The library's own functions under the sandbox's: they say the same. */
static void same_functions(void **state)
{
	static const char text[] =
		"local out = {} local function say(...) local n = select('#', ...) for i = 1, n do out[#out + 1] = tostring((select(i, ...))) end end "
		"for _, p in ipairs{'a', 'b*', '(a-)(b)', '%a+', '^a', 'b$', '[^a]', '[]]', '[a-]', '%f[%w]%w+', '%b()', '(.)%1', '()a()', 'a?b', '.-', "
		"'[%w_]+', '%d+%.%d*', '', '[%', '%', '(', 'a)', '%1', '[a', '%g', 'x\\0y', ('a?'):rep(9)} do "
		"for _, s in ipairs{'', 'a', 'aab', 'ab(a(b)c)d', 'x]-y', '3.14 15', 'hello world', 'aa\\0bb', ('ab'):rep(50)} do "
		"say(pcall(string.find, s, p)) say(pcall(string.match, s, p, 2)) say(pcall(string.gsub, s, p, '<%0>')) say(pcall(string.find, s, p, -2, true)) "
		"say(pcall(function() for a, b in string.gmatch(s, p) do say(a, b) end end)) end end "
		"local t = {} for i = 1, 1000 do t[i] = (i * 7919) % 1009 end table.sort(t) say(table.concat(t, ' ')) "
		"table.sort(t, function(a, b) return a % 10 < b % 10 or (a % 10 == b % 10 and a < b) end) say(table.concat(t, ' ', 3, 900)) "
		"for i = 1, 12000 do t[i] = i end say(table.concat(t, '-'), table.concat(t), table.concat(t, ',', 5, 4), table.concat({}, 'x')) "
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(recursion, each_setup, each_teardown),
		cmocka_unit_test_setup_teardown(files, each_setup, each_teardown),
		cmocka_unit_test_setup_teardown(finalizers, each_setup, each_teardown),
		cmocka_unit_test_setup_teardown(small_stacks, each_setup, each_teardown),
		cmocka_unit_test_setup_teardown(time_held, each_setup, each_teardown),
		cmocka_unit_test_setup_teardown(same_functions, each_setup, each_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
