/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what a session in another process is told of work that goes on. The server says what each
 * test wants, when it wants it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "sess.h"

#define WAIT_MS 20000
#define HALF "{\"share\":0.5,\"left_ns\":1000000000,\"text\":\"half of it\"}"
#define NO_ID (-1)

static struct loop *loop;
static struct sess *s;
static int listener, server = -1;
static struct sbuf line; /* the line that the server has read, and what came behind it */
static struct cmd_progress p;

static void event(void *arg, const struct sess_event *ev)
{
	(void)arg;
	(void)ev;
}

static enum sess_place there(void *host, const char *text)
{
	(void)host;
	(void)text;
	return SESS_THERE;
}

static void say(const char *text)
{
	size_t n = strlen(text);

	assert_int_equal(send(server, text, n, MSG_NOSIGNAL), n);
}

/* Accepts the client and greets it, on a thread of its own, because the client waits for this while
 * it is made. */
static void *greet(void *arg)
{
	(void)arg;
	server = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	say("{\"wirerate\":\"0\",\"protocol\":1,\"auth\":false}\n");
	return NULL;
}

static int set_up(void **state)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	char folder[] = "/tmp/wrXXXXXX";
	pthread_t thread;
	struct err e;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(at.sun_path, sizeof(at.sun_path), "%s/s", folder);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(pthread_create(&thread, NULL, greet, NULL), 0);
	loop = loop_new();
	const struct sess_remote_opts to = {.path = at.sun_path, .name = "it", .place = there};
	s = sess_remote(&to, loop, &(struct sess_opts){0}, event, NULL, &e);
	pthread_join(thread, NULL);
	unlink(at.sun_path);
	rmdir(folder);
	assert_non_null(s);
	sbuf_free(&line);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	sess_free(s);
	loop_free(loop);
	close(listener);
	if (server >= 0)
		close(server);
	server = -1;
	sbuf_free(&line);
	return 0;
}

/* Returns the id of the next request, which has this member; NO_ID: nothing was asked. */
static json_int_t asked(const char *key)
{
	char *nl;

	/* What was sent is here already, because both ends are sockets of this process. */
	for (char bytes[4096]; line.len == 0 || (nl = strchr(line.s, '\n')) == NULL;) {
		ssize_t n = recv(server, bytes, sizeof(bytes), MSG_DONTWAIT);
		if (n <= 0)
			return NO_ID;
		sbuf_addn(&line, bytes, (size_t)n);
	}
	json_t *o = json_loadb(line.s, (size_t)(nl - line.s), 0, NULL);
	json_int_t id = json_integer_value(json_object_get(o, "id"));
	assert_non_null(json_object_get(o, key));
	json_decref(o);
	line.len -= (size_t)(nl + 1 - line.s);
	memmove(line.s, nl + 1, line.len + 1);
	return id;
}

static bool nothing_asked(void)
{
	return asked("progress") == NO_ID;
}

/* Lets the client take what was said. */
static void taken(void)
{
	loop_turn(loop, WAIT_MS * 1000000ull);
	sess_poll(s);
}

static void answer(json_int_t id, const char *members)
{
	char *text;

	assert_true(asprintf(&text, "{\"id\":%d,\"ok\":true%s}\n", (int)id, members) > 0);
	say(text);
	free(text);
	taken();
}

static void answer_progress(json_int_t id, const char *json)
{
	char *text;

	assert_true(asprintf(&text, ",\"progress\":%s", json) > 0);
	answer(id, text);
	free(text);
}

static bool look(void)
{
	memset(&p, 0xaa, sizeof(p));
	return sess_progress(s, &p);
}

/* Looks for progress and answers the request with json. Returns what the next look finds. */
static bool told(const char *json)
{
	look();
	answer_progress(asked("progress"), json);
	return look();
}

static void test_it_is_asked_for_and_not_waited_for(void **state)
{
	(void)state;
	assert_false(look());
	json_int_t id = asked("progress");
	assert_true(id > 0);
	for (unsigned i = 0; i < 3; i++)
		assert_false(look());
	assert_true(nothing_asked()); /* there is one request at a time */
	answer_progress(id, HALF);
	assert_true(look());
	assert_true(p.share == 0.5 && p.left_ns == 1000000000);
	assert_string_equal(p.text, "half of it");
	/* That look has asked for the next answer, and meanwhile this one is told. */
	id = asked("progress");
	assert_true(id > 0 && look());
	assert_true(nothing_asked());
	answer_progress(id, "null");
	assert_false(look());
	assert_true(asked("progress") > 0);
}

static void test_what_is_said_of_a_command_ends_with_it(void **state)
{
	(void)state;
	sess_exec(s, "one; two; three", NULL);
	sess_poll(s);
	json_int_t one = asked("cmd");
	assert_true(told(HALF));
	assert_string_equal(p.text, "half of it; then 2 more commands");
	json_int_t of_one = asked("progress");
	answer(one, "");
	json_int_t two = asked("cmd");
	assert_false(look());
	/* The answer to a request from the time of the first command says nothing of the second
	 * one. */
	answer_progress(of_one, HALF);
	assert_false(look());
	answer_progress(asked("progress"), "{\"text\":\"of two\"}");
	assert_true(look());
	assert_string_equal(p.text, "of two; then 1 more command");
	assert_true(isnan(p.share) && p.left_ns == CMD_LEFT_UNKNOWN);
	answer(two, "");
	assert_false(look());
	sess_cancel(s);
	assert_false(look());
}

static void test_a_cancelled_command_is_told_no_more(void **state)
{
	(void)state;
	sess_exec(s, "one", NULL);
	sess_poll(s);
	asked("cmd");
	assert_true(told(HALF));
	json_int_t of_one = asked("progress");
	sess_cancel(s);
	assert_false(look());
	asked("cancel");
	answer_progress(of_one, HALF);
	assert_false(look());
}

static void test_ports_are_told_on_through_a_short_command(void **state)
{
	(void)state;
	assert_true(told(HALF));
	sess_exec(s, "one", NULL);
	sess_poll(s);
	json_int_t before = asked("progress"), one = asked("cmd");
	assert_true(look());
	answer_progress(before, "null"); /* this request was made before the command */
	assert_true(look());
	json_int_t during = asked("progress");
	answer(one, "");
	assert_true(look());
	answer_progress(during, "null");
	assert_true(look());
	answer_progress(asked("progress"), "null");
	assert_false(look());
}

static void test_a_server_that_refuses_is_not_asked_again(void **state)
{
	char text[128];

	(void)state;
	assert_true(told(HALF));
	snprintf(
		text, sizeof(text),
		"{\"id\":%d,\"ok\":false,\"error\":{\"code\":\"EINVAL\",\"text\":\"there is nothing to do\"}}\n",
		(int)asked("progress"));
	say(text);
	taken();
	for (unsigned i = 0; i < 3; i++)
		assert_false(look());
	assert_true(nothing_asked());
}

static void test_a_server_that_is_lost_tells_nothing(void **state)
{
	(void)state;
	assert_true(told(HALF));
	close(server);
	server = -1;
	taken();
	assert_true(sess_lost(s));
	assert_false(look());
}

/* The server stands still, and what it said last is too old after some seconds. */
static void test_an_old_word_is_told_no_more(void **state)
{
	const uint64_t end_ns = loop_now_ns() + WAIT_MS * 1000000ull;

	(void)state;
	assert_true(told(HALF));
	json_int_t id = asked("progress");
	while (look() && loop_now_ns() < end_ns)
		poll(NULL, 0, 20);
	assert_false(look());
	assert_true(nothing_asked());
	answer_progress(id, HALF);
	assert_true(look());
}

/* Impossible values count as unknown, and the others are shown. */
static void test_nonsense_is_not_known(void **state)
{
	static const char *const nothing[] = {
		"5",
		"true",
		"\"x\"",
		"[]",
		"{}",
		"[{\"share\":0.5}]",
		"{\"share\":\"0.5\"}",
		"{\"share\":-0.1}",
		"{\"share\":1.0001}",
		"{\"share\":1e308}",
		"{\"share\":-1e308}",
		"{\"share\":2}",
		"{\"share\":null,\"left_ns\":null,\"text\":null}",
		"{\"left_ns\":-5}",
		"{\"left_ns\":1e308}",
		"{\"left_ns\":\"7\"}",
		"{\"left_ns\":1.5}",
		"{\"left_ns\":-9223372036854775808}",
		"{\"text\":5}",
		"{\"text\":[\"x\"]}",
		"{\"text\":\"\"}",
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(nothing); i++) {
		assert_false(told(nothing[i]));
		answer(asked("progress"), ""); /* the answer has no member at all */
		assert_false(look());
		answer_progress(asked("progress"), "null");
	}
	assert_true(told("{\"share\":7,\"left_ns\":-1,\"text\":\"a\\u001b[2Jb\"}"));
	assert_true(isnan(p.share) && p.left_ns == CMD_LEFT_UNKNOWN);
	answer_progress(asked("progress"),
			"{\"share\":1,\"left_ns\":9223372036854775807,\"text\":\"\\u0000x\"}");
	assert_true(look());
	assert_true(p.share == 1 && p.left_ns == INT64_MAX);
	assert_string_equal(p.text, "");
}

static void test_a_long_text_is_cut(void **state)
{
	char text[40000];

	(void)state;
	sess_exec(s, "one; two", NULL);
	sess_poll(s);
	asked("cmd");
	snprintf(text, sizeof(text), "{\"text\":\"%0*d\"}", 30000, 0);
	assert_true(told(text));
	assert_int_equal(strlen(p.text), sizeof(p.text) - 1);
	assert_int_equal(strspn(p.text, "0"), sizeof(p.text) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_it_is_asked_for_and_not_waited_for, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_what_is_said_of_a_command_ends_with_it, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_cancelled_command_is_told_no_more, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_ports_are_told_on_through_a_short_command,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_server_that_refuses_is_not_asked_again,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_server_that_is_lost_tells_nothing, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_an_old_word_is_told_no_more, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_nonsense_is_not_known, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_long_text_is_cut, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
