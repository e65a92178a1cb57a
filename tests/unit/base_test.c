/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the small helpers with numbers that every library uses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base.h"
#include "opts.h"

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

struct opts_row {
	struct opt_word w;
	bool hidden;
};

static bool opts_shown(const void *row, const void *arg)
{
	return arg == NULL || !((const struct opts_row *)row)->hidden;
}

/* The words of a command line as options, "name=value" each, and the error. */
static void opts_say(const struct opt_table *t, const char *line, struct sbuf *out)
{
	char *copy = xstrdup(line), *argv[16] = {copy}, *save = NULL;
	struct opts *o = opts_begin(t);
	const void *row;
	const char *value;
	struct err e;
	int argc = 1, rc;

	for (char *w = strtok_r(copy, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	sbuf_reset(out);
	while ((rc = opts_next(o, argc, argv, &row, &value, &e)) == 1)
		sbuf_addf(out, "%s=%s ", ((const struct opts_row *)row)->w.name,
			  value != NULL ? value : "-");
	sbuf_add(out, rc < 0 ? e.text : "");
	opts_end(o);
	free(copy);
}

static void test_options(void **state)
{
	static const struct opts_row rows[] = {
		{OPT_WORD('n', "num_flows", "N"), false},
		{OPT_WORD('f', "file", "[=FILE]"), false},
		{OPT_WORD(0, "dry_run", NULL), false},
		{OPT_WORD('x', "secret", NULL), true},
	};
	struct opt_table t = {.row = rows,
			      .row_bytes = sizeof(*rows),
			      .n = ARRAY_SIZE(rows),
			      .whose = " of it",
			      .hint = "a hint; ",
			      .list = "a list",
			      .has = opts_shown};
	static const struct {
		const char *line, *says;
	} cases[] = {
		{"-n3 --dry-run --num-flows 4", "num_flows=3 dry_run=- num_flows=4 "},
		{"-f -fa --file --file=b", "file=- file=a file=- file=b "},
		{"-x --secret", "secret=- secret=- "},
		{"--dry", "dry_run=- "}, /* any beginning that only one has */
		{"-n", "option -n, --num-flows of it needs a value: N"},
		{"--dry-run=1", "option --dry-run of it takes no value: '--dry-run=1'"},
		{"-q", "unknown option -q of it; a hint; a list"},
		{"--num-flow_=1",
		 "unknown option --num-flow_ of it; did you mean --num-flows? a list"},
		{"--zzzzzz", "unknown option --zzzzzz of it; a hint; a list"},
	};
	struct sbuf out = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		opts_say(&t, cases[i].line, &out);
		assert_string_equal(sbuf_str(&out), cases[i].says);
	}
	t.arg = &t; /* not all rows */
	opts_say(&t, "-x", &out);
	assert_string_equal(sbuf_str(&out), "unknown option -x of it; a hint; a list");
	sbuf_reset(&out);
	opt_print_head(&rows[2].w, &out);
	assert_string_equal(out.s, "    --dry-run");
	sbuf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_multiples),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
