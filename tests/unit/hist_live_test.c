/* SPDX-License-Identifier: BSD-3-Clause */
/* A reader looks at a histogram beside its writer. The sum is never torn, though it passes 64 bits
 * at every second addition, and slots only grow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>

#include "hist.h"

#define LIVE_VALUE ((1ull << 63) - 12345)
#define LIVE_TIMES 3000000

static void *writer(void *arg)
{
	for (unsigned i = 0; i < LIVE_TIMES; i++) {
		hist_add(arg, LIVE_VALUE, 1);
		hist_add_sum(arg, LIVE_VALUE);
	}
	return NULL;
}

static void test_live(void **state)
{
	struct hist *h = hist_new((struct hist_shape){4, 63});
	unsigned __int128 before = 0, sum;
	uint64_t count = 0, reads = 0;
	pthread_t t;

	(void)state;
	assert_int_equal(pthread_create(&t, NULL, writer, h), 0);
	do {
		sum = hist_sum(h);
		assert_true(sum >= before && sum % LIVE_VALUE == 0);
		before = sum;
		if (++reads % 64 != 0)
			continue;
		struct hist *c = hist_copy(h);
		assert_true(hist_count(c) >= count && hist_count(c) <= LIVE_TIMES &&
			    c->sum_hi >> 63 == 0);
		count = hist_count(c);
		free(c);
	} while (sum / LIVE_VALUE < LIVE_TIMES);
	assert_int_equal(pthread_join(t, NULL), 0);
	assert_true(hist_count(h) == LIVE_TIMES && hist_mean(h) == (double)LIVE_VALUE);
	free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_live)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
