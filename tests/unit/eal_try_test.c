/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that EAL does not end the process while it is tried, although every version calls exit()
 * after its help, and newer ones after options that they do not know. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "dpdk.h"
#include "eal_try.h"

static char said[65536];

static ssize_t keep(void *cookie, const char *text, size_t n)
{
	size_t len = strlen(said), room = sizeof(said) - 1 - len;

	(void)cookie;
	memcpy(said + len, text, n < room ? n : room);
	return (ssize_t)n;
}

static void test_exit_is_an_error(void **state)
{
	char name[] = "eal_try_test", help[] = "--help", *argv[] = {name, help, NULL};
	bool panic = true;

	(void)state;
	assert_true(eal_try(2, argv, keep, &panic) < 0);
	assert_int_equal(rte_errno, EINVAL);
	assert_false(panic);
	assert_non_null(strstr(said, "lcore"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exit_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
