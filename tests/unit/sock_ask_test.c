/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions for names on a thread of their own: answers come by the loop, those that nobody wants
 * any more do not, and neither leaves anything behind. No name server is needed. */
#include "cmocka_names.h"

#include <errno.h>
#include <string.h>

#include "sock_ask.h"

struct asker {
	struct sock_ask *ask;
	unsigned calls, n[3];
	struct sock_addr first[3];
	struct err err;
	bool failed;
};

static void answered(void *arg, const struct sock_answer *a, const struct err *e)
{
	struct asker *k = arg;

	k->calls++;
	k->ask = NULL;
	k->failed = a == NULL;
	if (a == NULL) {
		k->err = *e;
		return;
	}
	for (unsigned i = 0; i < 3; i++) {
		k->n[i] = a[i].n;
		k->first[i] = a[i].addr[0];
	}
}

static struct loop *loop;

static void ask(struct asker *k, const struct sock_question *q, unsigned n)
{
	struct err e;

	*k = (struct asker){0};
	k->ask = sock_ask(loop, q, n, answered, k, &e);
	assert_non_null(k->ask);
}

static void ask_and_wait(struct asker *k, const struct sock_question *q, unsigned n)
{
	ask(k, q, n);
	while (k->calls == 0)
		loop_turn(loop, 1000000000);
	assert_int_equal(k->calls, 1);
}

static void test_names(void **state)
{
	(void)state;
	assert_true(sock_is_name("localhost"));
	assert_true(sock_is_name("10.0.0.256"));
	assert_false(sock_is_name("10.0.0.1"));
	assert_false(sock_is_name("::1"));
	assert_false(sock_is_name(""));
	assert_false(sock_is_name(NULL));
}

/* Each question has its answer, in their order; the second takes the family of the first. */
static void test_answers(void **state)
{
	const struct sock_question q[] = {
		{.host = "127.0.0.9", .port = 7, .most = SOCK_ASK_ADDRS, .family = AF_UNSPEC},
		{.host = "localhost", .port = 8, .most = 1, .family = AF_UNSPEC, .as_first = true},
		{.host = "::1", .port = 9, .most = SOCK_ASK_ADDRS, .family = AF_INET6},
	};
	struct asker k;

	(void)state;
	ask_and_wait(&k, q, 3);
	assert_false(k.failed);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(k.n[i], 1);
	assert_int_equal(k.first[0].sa.any.sa_family, AF_INET);
	assert_int_equal(k.first[1].sa.any.sa_family, AF_INET);
	assert_int_equal(k.first[2].sa.any.sa_family, AF_INET6);
}

/* The first that has no address ends the call, and the error names it. */
static void test_no_address(void **state)
{
	const struct sock_question q[] = {
		{.host = "127.0.0.1", .most = 1, .family = AF_INET},
		{.host = "::1", .most = 1, .family = AF_INET},
		{.host = "127.0.0.1", .most = 1, .family = AF_INET},
	};
	struct asker k;

	(void)state;
	ask_and_wait(&k, q, 3);
	assert_true(k.failed);
	assert_non_null(strstr(k.err.text, "::1"));
}

/* An end comes before the answer or beside it; whoever ended it hears nothing. */
static void test_not_wanted(void **state)
{
	const struct sock_question q = {.host = "localhost", .most = 1, .family = AF_UNSPEC};
	struct asker unwanted[50], wanted;

	(void)state;
	for (unsigned i = 0; i < 50; i++)
		ask(&unwanted[i], &q, 1);
	for (unsigned i = 0; i < 50; i++)
		sock_ask_end(unwanted[i].ask);
	sock_ask_end(NULL);
	ask_and_wait(&wanted, &q, 1);
	for (unsigned i = 0; i < 50; i++)
		assert_int_equal(unwanted[i].calls, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_no_address),
		cmocka_unit_test(test_not_wanted),
	};
	int rc;

	loop = loop_new();
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	loop_free(loop);
	return rc;
}
