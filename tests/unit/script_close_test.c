/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the end of a state that holds much: a thread frees it, one at a time, and whoever asks
 * meanwhile is not kept waiting. */
#include "script_world.h"

#include <stdlib.h>

static const struct script_opts stranger = {.sandbox = true,
					    .max_bytes = 64 << 20,
					    .max_ns = 5000000000,
					    .batch = true};
static const struct script_opts own = {.batch = true};

/* This makes tables, texts, documents of C, a coroutine that waits, and a timer. */
#define MUCH \
	"t = {} for i = 1, 30000 do t[i] = {i .. 'x'} end d = require('cjson').decode('[' .. ('[1],'):rep(1000) .. '0]')" \
	" co = coroutine.wrap(function() local k = t coroutine.yield() return k end) co()" \
	" wr.every('1h', function() return t end)"

static struct script *full_state(const struct script_opts *opts, const char *text)
{
	struct err e = {.text = ""};
	struct script *s;

	open_state(opts);
	if (run_polls(text, 20, &e) == VERB_PENDING)
		script_cancel(sc);
	assert_string_equal(e.text, "");
	s = sc;
	sc = NULL;
	return s;
}

static void a_thread_frees_what_is_much(void **state)
{
	struct script *one = full_state(&stranger, MUCH),
		      *two = full_state(&stranger, MUCH " wr.sleep('1h')");

	(void)state;
	assert_false(script_let_go(one));
	assert_false(script_let_go(two)); /* the other state is being closed */
	while (!script_let_go(one))
		nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
	script_free(one);
	while (!script_let_go(two))
		nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
	script_free(two);
}

static void who_does_not_ask_waits(void **state)
{
	struct script *one = full_state(&stranger, MUCH), *two = full_state(&stranger, MUCH);

	(void)state;
	assert_false(script_let_go(one));
	script_free(two); /* this is done at once, beside the thread */
	script_free(one); /* this waits for the thread */
	one = full_state(&stranger, MUCH);
	assert_false(script_let_go(one)); /* there is a thread again */
	open_state(&stranger);            /* other states run beside it */
	prints("print(#('x'):rep(1000))", "1000\n");
	fails("error('no')", "no");
	script_free(one);
}

static void little_and_trusted_states_need_none(void **state)
{
	struct script *little = full_state(&stranger, "x = 1"), *trusted = full_state(&own, MUCH);

	(void)state;
	assert_true(script_let_go(NULL));
	assert_true(script_let_go(little));
	assert_true(script_let_go(trusted)); /* its finalizers may be functions of Lua */
	script_free(little);
	script_free(trusted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_thread_frees_what_is_much, each_setup,
						each_teardown),
		cmocka_unit_test_setup_teardown(who_does_not_ask_waits, each_setup, each_teardown),
		cmocka_unit_test_setup_teardown(little_and_trusted_states_need_none, each_setup,
						each_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
