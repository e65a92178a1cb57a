/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests verbs with groups of arguments that may come in any order (ARG_MIXED): what matches, what is
 * refused, and what is completed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"

enum { A_FILE, A_SNAP, A_SNAP_N, A_FOR, A_FOR_NS, A_RX, A_LAST };

static int run_take(struct cmd_run *r, const struct arg_val *a, struct err *e)
{
	(void)e;
	sbuf_addf(r->out, "%s", a[A_FILE].text);
	if (a[A_SNAP].given)
		sbuf_addf(r->out, " snap=%u", (unsigned)a[A_SNAP_N].v.u);
	if (a[A_FOR].given)
		sbuf_addf(r->out, " for=%u", (unsigned)(a[A_FOR_NS].v.u / 1000000000));
	if (a[A_RX].given)
		sbuf_add(r->out, " rx");
	if (a[A_LAST].given)
		sbuf_add(r->out, " last");
	assert_int_equal(a[A_SNAP].given, a[A_SNAP_N].given);
	assert_int_equal(a[A_FOR].given, a[A_FOR_NS].given);
	return 0;
}

#define MIXED (ARG_OPT | ARG_MIXED)
static const struct arg_spec args[] = {
	[A_FILE] = {ARG_FILE, "FILE"},
	[A_SNAP] = {ARG_WORD, "snap", MIXED},
	[A_SNAP_N] = {ARG_VALUE, "N", ARG_OPT, {&vt_uint, 1, 99}},
	[A_FOR] = {ARG_WORD, "for", MIXED},
	[A_FOR_NS] = {ARG_VALUE, "DURATION", ARG_OPT, {&vt_seconds}},
	[A_RX] = {ARG_WORD, "rx", MIXED},
	[A_LAST] = {ARG_WORD, "last", ARG_OPT},
	{ARG_END},
};
static const struct verb take = {.name = "take", .args = args, .run = run_take, .help = "Take."};
static const struct verb *const verbs[] = {&take};
static struct cmd *lang;

static void gives(const char *line, const char *want)
{
	struct sbuf out = {0}, note = {0};
	struct cmd_run r = {.out = &out, .note = &note};
	struct err e = {.text = ""};

	if (cmd_exec(lang, &r, line, &e) < 0)
		fail_msg("%s: %s", line, e.text);
	assert_string_equal(sbuf_str(&out), want);
	sbuf_free(&out);
	sbuf_free(&note);
}

static void refuses(const char *line, int col, const char *text)
{
	struct sbuf out = {0}, note = {0};
	struct cmd_run r = {.out = &out, .note = &note};
	struct err e = {.text = ""};

	assert_true(cmd_exec(lang, &r, line, &e) < 0);
	if (strstr(e.text, text) == NULL || e.col != col)
		fail_msg("%s: %d: %s", line, e.col, e.text);
	sbuf_free(&out);
	sbuf_free(&note);
}

static void test_match(void **state)
{
	(void)state;
	gives("take x", "x");
	gives("take x snap 5 for 2s rx last", "x snap=5 for=2 rx last");
	gives("take x rx for 2 s snap 5", "x snap=5 for=2 rx");
	gives("take x for 2s rx snap 5 last", "x snap=5 for=2 rx last");
	gives("take x rx", "x rx");
	gives("take snap snap 7", "snap snap=7");
	gives("take x f 1s s 3", "x snap=3 for=1");
	refuses("take x snap 5 snap 6", 14, "unexpected \"snap\"");
	refuses("take x rx rx", 10, "unexpected \"rx\"");
	refuses("take x last snap 5", 12, "unexpected \"snap\"");
	refuses("take x for 2s snap", 18, "N is missing");
	refuses("take x for 2s snap 100", 19, "99");
	refuses("take x rx snap 5 for last", 21, "DURATION");
}

static void offer(void *arg, const char *word, const char *help)
{
	(void)help;
	if (word != NULL)
		sbuf_addf(arg, "%s ", word);
}

static void completes(const char *line, const char *want)
{
	struct sbuf b = {0};
	int at;

	cmd_complete(lang, line, (int)strlen(line), &at, offer, &b);
	if (strcmp(sbuf_str(&b), want) != 0)
		fail_msg("%s: %s", line, sbuf_str(&b));
	sbuf_free(&b);
}

static void test_complete(void **state)
{
	(void)state;
	completes("take x ", "snap for rx last ");
	completes("take x for 2s ", "snap rx last ");
	completes("take x rx snap 3 ", "for last ");
	completes("take x rx snap 3 f", "for ");
	completes("take x rx for 10", "10ns 10us 10ms 10s 10m 10h ");
	completes("take x rx last ", "");
}

static unsigned no_ports(void *arg)
{
	(void)arg;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_match),
					   cmocka_unit_test(test_complete)};
	const struct cmd_host host = {.nports = no_ports};

	lang = cmd_new(NULL, 0, verbs, 1, &host);
	int rc = cmocka_run_group_tests(tests, NULL, NULL);
	cmd_free(lang);
	return rc;
}
