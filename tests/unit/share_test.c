/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests shares of a whole as text: 0.1%, 20ppm. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "value.h"

static const struct vspec share = {.type = &vt_share};

static void test_right(void **state)
{
	static const struct {
		const char *text;
		uint64_t ppb;
		const char *canon;
	} cases[] = {
		{"0.1%", 1000000, "0.1%"},
		{"20ppm", 20000, "20ppm"},
		{"0.002%", 20000, "20ppm"},
		{"1000ppm", 1000000, "0.1%"},
		{"1.5ppm", 1500, "1.5ppm"},
		{"1ppb", 1, "0.001ppm"},
		{"100%", 1000000000, "100%"},
		{"0", 0, "0%"},
		{"0%", 0, "0%"},
		{"0.01%", 100000, "0.01%"},
		{"99.9999999%", 999999999, "99.9999999%"},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct sbuf text = {0};
		uint64_t v = 7, again = 8;
		struct err e;
		assert_int_equal(share.type->parse(&share, cases[i].text, &v, &e), 0);
		assert_int_equal(v, cases[i].ppb);
		share.type->print(&share, &v, &text);
		assert_string_equal(sbuf_str(&text), cases[i].canon);
		assert_int_equal(share.type->parse(&share, sbuf_str(&text), &again, &e), 0);
		assert_int_equal(again, v);
		sbuf_free(&text);
	}
}

static void test_wrong(void **state)
{
	static const struct {
		const char *text;
		int rc;
		const char *says;
	} cases[] = {
		{"101%", -ERANGE, "too large"},
		{"5", -EINVAL, "no unit"},
		{"0.1ppb", -EINVAL, "not a whole number"},
		{"-1%", -EINVAL, "-1%"},
		{"1 x", -EINVAL, "more after the number"},
		{"", -EINVAL, "\"\""},
		{"1pct", -EINVAL, "pct"},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t v = 7;
		struct err e = {.text = ""};
		assert_int_equal(share.type->parse(&share, cases[i].text, &v, &e), cases[i].rc);
		if (strstr(e.text, cases[i].says) == NULL || strstr(e.text, "0.1%, 20ppm") == NULL)
			fail_msg("%s: %s", cases[i].text, e.text);
		assert_int_equal(v, 7);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_right),
					   cmocka_unit_test(test_wrong)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
