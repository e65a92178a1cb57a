/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the small helpers with numbers that every library uses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base.h"

static void test_multiples(void **state)
{
	(void)state;
	assert_int_equal(gcd(12, 18), 6);
	assert_int_equal(gcd(7, 0), 7);
	assert_int_equal(lcm(4, 6, 100), 12);
	assert_int_equal(lcm(1, 1, 1), 1);
	/* The limit is allowed, and what is above it is 0, however far. */
	assert_int_equal(lcm(4, 6, 12), 12);
	assert_int_equal(lcm(4, 6, 11), 0);
	assert_int_equal(lcm(1, 101, 100), 0);
	assert_int_equal(lcm(101, 1, 100), 0);
	assert_int_equal(lcm(UINT64_MAX, UINT64_MAX - 1, UINT64_MAX), 0);
	assert_true(lcm(UINT64_MAX, UINT64_MAX, UINT64_MAX) == UINT64_MAX);
	/* A period of 0 never ends, and so does one that has it as a part. */
	assert_int_equal(lcm(0, 5, 100), 0);
	assert_int_equal(lcm(5, 0, 100), 0);
	assert_int_equal(lcm(0, 0, 100), 0);
}

static void test_order(void **state)
{
	uint8_t b[4] = {0xff, 0, 0, 0xff};

	(void)state;
	put_be16(b + 1, 0x1234);
	assert_true(b[0] == 0xff && b[1] == 0x12 && b[2] == 0x34 && b[3] == 0xff);
	assert_int_equal(get_be16(b + 1), 0x1234);
	put_be16(b, 0x1ffff);
	assert_int_equal(get_be16(b), 0xffff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_multiples),
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
