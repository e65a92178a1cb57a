/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests message rings: their order, full and empty rings, and two threads at both ends. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "eal_skip.h"
#include "mbox.h"

#define MESSAGES 20000u

static void open_box(struct mbox *mb, const char *name)
{
	struct err e = {.text = ""};

	assert_int_equal(mbox_open(mb, name, SOCKET_ID_ANY, &e), 0);
}

static void test_down(void **state)
{
	struct mbox mb;
	int msg[200];
	unsigned n = 0;

	(void)state;
	open_box(&mb, "down");
	for (unsigned round = 0; round < 5; round++) {
		assert_false(mbox_waiting(&mb));
		assert_null(mbox_take(&mb));
		for (n = 0; n < ARRAY_SIZE(msg) && mbox_post(&mb, &msg[n]); n++)
			assert_true(mbox_waiting(&mb));
		/* when the ring is full posts are refused, and nothing is lost */
		assert_in_range(n, 32, 199);
		assert_false(mbox_post(&mb, &msg[n]));
		for (unsigned i = 0; i < n; i++)
			assert_ptr_equal(mbox_take(&mb), &msg[i]);
	}
	mbox_close(&mb);
	mbox_close(&mb); /* closing twice does no harm */
}

static void test_up(void **state)
{
	struct mbox mb;
	struct mbox_event ev, got;
	unsigned n;

	(void)state;
	open_box(&mb, "up");
	for (unsigned round = 0; round < 3; round++) {
		assert_false(mbox_event_next(&mb, &got));
		for (n = 0; n < 5000; n++) {
			ev = (struct mbox_event){.kind = 1,
						 .port = (uint16_t)n,
						 .queue = 3,
						 .value = UINT64_MAX - n};
			if (!mbox_event(&mb, &ev))
				break;
		}
		assert_in_range(n, 512, 4999);
		for (unsigned i = 0; i < n; i++) {
			assert_true(mbox_event_next(&mb, &got));
			assert_int_equal(got.kind, 1);
			assert_int_equal(got.port, (uint16_t)i);
			assert_int_equal(got.queue, 3);
			assert_int_equal(got.value, UINT64_MAX - i);
		}
	}
	mbox_close(&mb);
}

static void test_names(void **state)
{
	struct mbox a, b;
	struct err e = {.text = ""};

	(void)state;
	open_box(&a, "same");
	/* The second one is refused, and nothing is left open. */
	assert_int_equal(mbox_open(&b, "same", SOCKET_ID_ANY, &e), -ENOMEM);
	assert_non_null(strstr(e.text, "same"));
	assert_null(b.down);
	assert_null(b.up);
	mbox_close(&a);
	open_box(&b, "same");
	mbox_close(&b);
}

struct message {
	uint64_t seq;
	unsigned sum;
	unsigned word[4];
};

static void *worker(void *arg)
{
	struct mbox *mb = arg;

	for (uint64_t want = 0; want < MESSAGES;) {
		struct message *m = mbox_waiting(mb) ? mbox_take(mb) : NULL;
		struct mbox_event ev;
		if (m == NULL) {
			sched_yield();
			continue;
		}
		/* What was written before the post is seen after the take. */
		ev = (struct mbox_event){.kind = m->seq == want &&
						 m->sum == m->word[0] + m->word[1] + m->word[2] +
								   m->word[3],
					 .value = m->seq};
		m->sum = 0;
		while (!mbox_event(mb, &ev))
			sched_yield();
		want++;
	}
	return NULL;
}

static void test_threads(void **state)
{
	struct mbox mb;
	pthread_t t;
	struct message *msg = calloc(MESSAGES, sizeof(*msg));
	uint64_t posted = 0, heard = 0;

	(void)state;
	assert_non_null(msg);
	open_box(&mb, "thr");
	assert_int_equal(pthread_create(&t, NULL, worker, &mb), 0);
	while (heard < MESSAGES) {
		struct mbox_event ev;
		bool moved = false;
		if (posted < MESSAGES) {
			struct message *m = &msg[posted];
			m->seq = posted;
			m->sum = 0;
			for (unsigned i = 0; i < 4; i++)
				m->sum += m->word[i] = (unsigned)posted * (i + 7);
			moved = mbox_post(&mb, m);
			posted += moved;
		}
		while (mbox_event_next(&mb, &ev)) {
			assert_int_equal(ev.kind, 1);
			assert_int_equal(ev.value, heard);
			/* this holds the other way round too */
			assert_int_equal(msg[heard].sum, 0);
			heard++;
			moved = true;
		}
		if (!moved)
			sched_yield();
	}
	pthread_join(t, NULL);
	assert_int_equal(posted, MESSAGES);
	mbox_close(&mb);
	free(msg);
}

/* A ring from one worker to another: what fits, and what of a burst does not. */
static void test_pass(void **state)
{
	struct rte_ring *r = mbox_pass_new(8, SOCKET_ID_ANY);
	void *in[12], *out[12];

	(void)state;
	assert_non_null(r);
	for (unsigned i = 0; i < 12; i++)
		in[i] = &in[i];
	assert_int_equal(mbox_pass_take(r, out, 12), 0);
	for (unsigned round = 0; round < 20; round++) {
		assert_int_equal(mbox_pass_put(r, in, 5), 5);
		assert_int_equal(mbox_pass_put(r, in + 5, 7), 3); /* the first ones */
		assert_int_equal(mbox_pass_put(r, in, 1), 0);
		assert_int_equal(mbox_pass_take(r, out, 3), 3);
		assert_memory_equal(out, in, 3 * sizeof(in[0]));
		assert_int_equal(mbox_pass_take(r, out, 12), 5);
		assert_memory_equal(out, in + 3, 5 * sizeof(in[0]));
	}
	mbox_pass_free(r);
	mbox_pass_free(NULL);
}

static void *pass_worker(void *arg)
{
	struct rte_ring *r = arg;
	void *got[64];

	for (uint64_t want = 0, n = 0; want < MESSAGES;) {
		n = mbox_pass_take(r, got, 1 + want % 64);
		for (unsigned i = 0; i < n; i++) {
			struct message *m = got[i];
			uint64_t sum = 0;

			if (m->seq != want++)
				return arg;
			for (unsigned k = 0; k < 4; k++)
				sum += m->word[k];
			if (m->sum != sum)
				return arg;
		}
		if (n == 0)
			sched_yield();
	}
	return NULL;
}

static void test_pass_threads(void **state)
{
	struct rte_ring *r = mbox_pass_new(256, SOCKET_ID_ANY);
	struct message *msg = calloc(MESSAGES, sizeof(*msg));
	void *burst[32], *failed;
	pthread_t t;
	uint64_t posted = 0;

	(void)state;
	assert_non_null(r);
	assert_non_null(msg);
	assert_int_equal(pthread_create(&t, NULL, pass_worker, r), 0);
	while (posted < MESSAGES) {
		unsigned n = (unsigned)(1 + posted % 32), put;

		n = n < MESSAGES - posted ? n : (unsigned)(MESSAGES - posted);
		for (unsigned i = 0; i < n; i++) {
			struct message *m = burst[i] = &msg[posted + i];
			m->seq = posted + i;
			m->sum = 0;
			for (unsigned k = 0; k < 4; k++)
				m->sum += m->word[k] = (unsigned)m->seq * (k + 7);
		}
		put = mbox_pass_put(r, burst, n);
		posted += put;
		if (put == 0)
			sched_yield();
	}
	pthread_join(t, &failed);
	assert_null(failed);
	mbox_pass_free(r);
	free(msg);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_down),  cmocka_unit_test(test_up),
		cmocka_unit_test(test_names), cmocka_unit_test(test_threads),
		cmocka_unit_test(test_pass),  cmocka_unit_test(test_pass_threads),
	};
	int rc = eal_or_skip(argv[argc - 1]);

	return rc != 0 ? rc : cmocka_run_group_tests(tests, NULL, NULL);
}
