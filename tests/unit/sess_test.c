/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests sessions with a small language of their own: in which order lines run, what a refused line
 * does to those behind it, how results are printed, and verbs that take time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "sess.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The language has a few verbs. "hold" stays pending until `release` is set. */
static bool release, cancelled;
static unsigned ran, polled;

static int run_say(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	(void)e;
	ran++;
	sbuf_addf(r->out, "%s\n", args[0].text);
	sbuf_addf(r->note, "note %s\n", args[0].text);
	return VERB_DONE;
}

static int run_fail(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	(void)r;
	return err_at(e, strcmp(args[0].text, "env") == 0 ? ENODEV : EINVAL, args[0].col,
		      "refused");
}

static int run_code(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	(void)args;
	(void)e;
	r->exit_code = 1;
	return VERB_DONE;
}

static int run_hold(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	(void)args;
	(void)e;
	r->state[0] = 42;
	return VERB_PENDING;
}

static int poll_hold(struct cmd_run *r, struct err *e)
{
	(void)e;
	assert_int_equal(r->state[0], 42);
	polled++;
	return release ? VERB_DONE : VERB_PENDING;
}

static void cancel_hold(struct cmd_run *r)
{
	(void)r;
	cancelled = true;
}

static int run_quit(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	(void)args;
	(void)e;
	loop_stop(r->host);
	return VERB_DONE;
}

static const struct arg_spec word[] = {{ARG_REST, "text"}, {ARG_END}};
static const struct arg_spec none[] = {{ARG_END}};
static const struct verb say = {.name = "say", .args = word, .help = "say", .run = run_say};
static const struct verb refuse = {.name = "fail", .args = word, .help = "fail", .run = run_fail};
static const struct verb code = {.name = "code", .args = none, .help = "code", .run = run_code};
static const struct verb hold = {.name = "hold",
				 .args = none,
				 .help = "hold",
				 .run = run_hold,
				 .poll = poll_hold,
				 .cancel = cancel_hold};
static const struct verb leave = {.name = "quit", .args = none, .help = "quit", .run = run_quit};
static const struct verb *const verbs[] = {&say, &refuse, &code, &hold, &leave};

static unsigned no_ports(void *arg)
{
	(void)arg;
	return 0;
}

static struct cmd *cmd;
static struct loop *loop;
static struct sess *s;
static struct sbuf seen; /* events as text */

static void event(void *arg, const struct sess_event *ev)
{
	assert_string_equal(arg, "arg");
	switch (ev->kind) {
	case SESS_RESULT:
		sbuf_addf(&seen, "out %s", ev->text);
		break;
	case SESS_NOTE:
		sbuf_addf(&seen, "note %s", ev->text);
		break;
	case SESS_ERROR:
		sbuf_addf(&seen, "err %s", ev->text);
		break;
	case SESS_DONE:
		sbuf_addf(&seen, "done %d %d\n", ev->rc, ev->exit_code);
		break;
	}
}

static void open_with(struct sess_opts opts)
{
	static const struct cmd_host host = {.nports = no_ports};

	release = cancelled = false;
	ran = polled = 0;
	loop = loop_new();
	cmd = cmd_new(NULL, 0, verbs, ARRAY_SIZE(verbs), &host);
	s = sess_local(cmd, loop, NULL, loop, &opts, event, "arg");
}

static int close_sess(void **state)
{
	(void)state;
	sess_free(s);
	cmd_free(cmd);
	loop_free(loop);
	sbuf_free(&seen);
	return 0;
}

static void test_one_turn(void **state)
{
	(void)state;
	open_with((struct sess_opts){0});
	sess_exec(s, "say a; say b\n# comment\n\n", NULL);
	assert_true(sess_busy(s));
	assert_int_equal(ran, 0); /* only a turn of the loop runs commands */
	sess_poll(s);
	assert_false(sess_busy(s));
	assert_string_equal(sbuf_str(&seen),
			    "out a\nnote note a\ndone 0 0\nout b\nnote note b\ndone 0 0\n");
}

static void test_batch_stops_at_the_first_refused(void **state)
{
	(void)state;
	open_with((struct sess_opts){.batch = true});
	sess_exec(s, "say a\n  fail x; say b\n", "file:1");
	sess_exec(s, "say c", NULL);
	sess_poll(s);
	assert_true(sess_failed(s));
	assert_int_equal(sess_exit_code(s), 2);
	assert_int_equal(ran, 1);
	assert_non_null(strstr(sbuf_str(&seen), "err file:2: fail x\n             ^ refused\n"));
	sess_exec(s, "say d", NULL);
	sess_poll(s);
	assert_int_equal(ran, 1);
}

static void test_keep_going(void **state)
{
	(void)state;
	open_with((struct sess_opts){.batch = true, .keep_going = true});
	sess_exec(s, "fail x\nsay a", "f:1");
	sess_poll(s);
	assert_false(sess_failed(s));
	assert_int_equal(ran, 1);
	assert_int_equal(sess_exit_code(s), 2);
}

/* At the prompt the rest of a refused line is dropped. What was typed ahead is not, and the next
 * line works. */
static void test_prompt(void **state)
{
	(void)state;
	open_with((struct sess_opts){0});
	sess_exec(s, "fail x; say never", NULL);
	sess_exec(s, "say ahead", NULL);
	sess_poll(s);
	assert_int_equal(ran, 1);
	assert_non_null(strstr(sbuf_str(&seen), "out ahead\n"));
	assert_null(strstr(sbuf_str(&seen), "never"));
	sess_exec(s, "say next", NULL);
	assert_false(sess_failed(s));
	sess_poll(s);
	assert_int_equal(ran, 2);
}

static bool wait_now;
static unsigned begun, over;

static bool on_hold(void *arg)
{
	assert_string_equal(arg, "arg");
	return wait_now || (begun == 2 && ran == 2);
}

static void on_runs(bool begins)
{
	assert_int_equal(begun, over + !begins);
	begun += begins;
	over += !begins;
}

/* Commands that are held stay in their place. Those who want to know hear when something runs, and
 * nothing while nothing does. */
static void test_hold(void **state)
{
	(void)state;
	open_with((struct sess_opts){.batch = true, .holds = on_hold, .runs = on_runs});
	wait_now = true;
	begun = over = 0;
	sess_poll(s);
	assert_int_equal(begun, 0);
	sess_exec(s, "say a; say b; say c", NULL);
	sess_poll(s);
	assert_int_equal(ran, 0);
	assert_int_equal(begun, 1);
	wait_now = false;
	sess_poll(s);
	assert_int_equal(ran, 2);
	assert_true(sess_busy(s));
	assert_null(strstr(sbuf_str(&seen), "out c"));
	sess_poll(s);
	assert_int_equal(ran, 3);
	assert_false(sess_busy(s));
	assert_int_equal(over, 3);
}

static void test_exit_codes(void **state)
{
	(void)state;
	open_with((struct sess_opts){.batch = true, .keep_going = true});
	assert_int_equal(sess_exit_code(s), 0);
	sess_exec(s, "code", NULL);
	sess_poll(s);
	assert_int_equal(sess_exit_code(s), 1);
	assert_false(sess_failed(s));
	sess_exec(s, "fail env", NULL);
	sess_poll(s);
	assert_int_equal(sess_exit_code(s), 3);
	sess_exec(s, "nonsense", NULL);
	sess_poll(s);
	assert_int_equal(sess_exit_code(s), 3); /* the worst code stays */
}

static void test_line_numbers(void **state)
{
	(void)state;
	open_with((struct sess_opts){.batch = true, .keep_going = true});
	sess_exec(s, "# one\n\nfail three\nsay x; fail four\nfail 'a\nb'\n# it's\nfail eight",
		  "f:1");
	sess_poll(s);
	assert_non_null(strstr(sbuf_str(&seen), "f:3: fail three"));
	assert_non_null(strstr(sbuf_str(&seen), "f:4: fail four"));
	assert_non_null(strstr(sbuf_str(&seen), "f:5: "));
	assert_non_null(strstr(sbuf_str(&seen), "f:8: fail eight"));
}

static void test_pending_holds_the_line(void **state)
{
	(void)state;
	open_with((struct sess_opts){0});
	sess_exec(s, "hold; say a", NULL);
	sess_poll(s);
	assert_true(sess_busy(s));
	assert_int_equal(ran, 0);
	/* The loop turns by itself while a verb is pending. Without its timer this would hang. */
	loop_turn(loop, UINT64_MAX);
	sess_poll(s);
	assert_true(polled >= 1);
	release = true;
	sess_poll(s);
	assert_false(sess_busy(s));
	assert_int_equal(ran, 1);
}

static void test_cancel(void **state)
{
	(void)state;
	open_with((struct sess_opts){0});
	sess_exec(s, "hold; say a", NULL);
	sess_exec(s, "say b", NULL);
	sess_poll(s);
	sess_cancel(s);
	assert_true(cancelled);
	assert_false(sess_busy(s));
	sess_poll(s);
	assert_int_equal(ran, 0);
	sess_exec(s, "say c", NULL);
	sess_poll(s);
	assert_int_equal(ran, 1);
}

static void test_nothing_after_quit(void **state)
{
	(void)state;
	open_with((struct sess_opts){0});
	sess_exec(s, "quit; say a", NULL);
	sess_poll(s);
	assert_false(sess_busy(s));
	assert_int_equal(ran, 0);
}

static void test_free_while_pending(void **state)
{
	(void)state;
	open_with((struct sess_opts){0});
	sess_exec(s, "hold; say a", NULL);
	sess_poll(s);
	sess_free(s);
	assert_true(cancelled);
	s = NULL;
}

/* Each result takes one line. A line that only looks like one, or that comes again, was printed in
 * another way. */
static void test_printed_lines(void **state)
{
	struct sess_event ev = {
		.kind = SESS_RESULT,
		.text = "{half\n{\"a\":1,\"b\":\"x\"}\nplain\n{\"a\":1,\"b\":\"x\"}\n0.10000000000000001\nend"};
	struct sbuf docs = {0}, text = {0};

	(void)state;
	ev.results = json_pack("[{s:i, s:s}, f]", "a", 1, "b", "x", 0.1);
	sess_printed(&ev, &docs, &text);
	assert_string_equal(docs.s, "{\"a\":1,\"b\":\"x\"}\n0.10000000000000001\n");
	assert_string_equal(text.s, "{half\nplain\n{\"a\":1,\"b\":\"x\"}\nend");
	json_decref(ev.results);
	sbuf_reset(&text);
	ev.results = NULL;
	sess_printed(&ev, &docs, &text);
	assert_string_equal(text.s, ev.text);
	sbuf_free(&docs);
	sbuf_free(&text);
}

#define T(f) cmocka_unit_test_teardown(f, close_sess)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_one_turn),
		T(test_batch_stops_at_the_first_refused),
		T(test_keep_going),
		T(test_prompt),
		T(test_hold),
		T(test_exit_codes),
		T(test_line_numbers),
		T(test_pending_holds_the_line),
		T(test_cancel),
		T(test_nothing_after_quit),
		T(test_free_while_pending),
		cmocka_unit_test(test_printed_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
