/* SPDX-License-Identifier: BSD-3-Clause */
/* Dialogs: their texts, and both ends of them without TCP. */
#include "cmocka_names.h"
#include <errno.h>
#include "wl_pair.h"

/* ---- texts ---- */

static void test_print(void **state)
{
	static const struct {
		const char *text, *printed;
		unsigned steps, runs;
	} cases[] = {
		{"send 100, recv 1000, think 5ms, x3", "send 100, recv 1000, think 5ms, x3", 3, 1},
		{"send 1", "send 1", 1, 1},
		{" send  1k ,recv 2M,think 1.5s , close ",
		 "send 1000, recv 2000000, think 1.5s, "
		 "close",
		 4, 1},
		{"(send 1, recv 1) x9, close", "(send 1, recv 1) x9, close", 3, 2},
		{"(send 1, recv 1)x9,send 2,recv 3,x2", "(send 1, recv 1) x9, send 2, recv 3, x2",
		 4, 2},
		{"(send 1), send 2", "send 1, (send 2) x1", 2, 2},
		{"send 1, (send 2, recv 3), recv 4, x1", "send 1, (send 2, recv 3) x1, recv 4", 4,
		 3},
		{"recv 536870912, x4294967295", "recv 536870912, x4294967295", 1, 1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct wl_dialog_conf c = {0};
		struct sbuf out = {0};
		struct err e;

		if (wl_dialog_parse(cases[i].text, &c, &e) != 0)
			print_error("%s: %s\n", cases[i].text, e.text);
		wl_dialog_print(&c, &out);
		assert_string_equal(sbuf_str(&out), cases[i].printed);
		assert_int_equal(c.nstep, cases[i].steps);
		assert_int_equal(c.nrun, cases[i].runs);
		sbuf_free(&out);
	}
}

static void test_wrong_texts(void **state)
{
	static const struct {
		const char *text;
		int rc, col;
		const char *says;
	} cases[] = {
		{"", -EINVAL, 0, "a step is missing"},
		{"  ", -EINVAL, 2, "a step is missing"},
		{"sent 1", -EINVAL, 0, "this is no step"},
		{"send", -EINVAL, 4, "number of bytes is missing"},
		{"send 1, recv", -EINVAL, 12, "number of bytes is missing"},
		{"send 1, think", -EINVAL, 13, "time of think is missing"},
		{"send x", -EINVAL, 5, "the number of bytes: \"x\""},
		{"send 1q", -EINVAL, 6, "1q"},
		{"send 0", -EINVAL, 5, "0"},
		{"send 536870913", -EINVAL, 5, "536870913"},
		{"send 1, think 5", -EINVAL, 15, "the time of think"},
		{"send 1, think 0s", -EINVAL, 14, "the time of think"},
		{"send 1, think 1801s", -EINVAL, 14, "the time of think"},
		{"send 1 recv 1", -EINVAL, 7, "a comma is missing"},
		{"send 1,", -EINVAL, 7, "a step is missing"},
		{"send 1,,recv 1", -EINVAL, 7, "a step is missing"},
		{"send 1, x", -EINVAL, 8, "this is no step"},
		{"x3", -EINVAL, 0, "this is no step"},
		{"send 1, x0", -EINVAL, 9, "repetitions"},
		{"send 1, x4294967296", -EINVAL, 9, "repetitions"},
		{"send 1, x3, recv 1", -EINVAL, 10, "the last word"},
		{"(send 1", -EINVAL, 7, "a comma or )"},
		{"()", -EINVAL, 1, "a step is missing"},
		{"(send 1, (recv 1)) x2", -EINVAL, 9, "a group in a group"},
		{"send 1)", -EINVAL, 6, "a comma is missing"},
		{"send 1, close, recv 1", -EINVAL, 15, "behind close"},
		{"send 1, close, x2", -EINVAL, 15, "cannot be repeated"},
		{"(send 1, close) x2", -EINVAL, 16, "cannot be repeated"},
		{"think 5ms", -EINVAL, 0, "no send and no recv"},
		{"close", -EINVAL, 0, "no send and no recv"},
		{"send 1, (think 1s) x5", -EINVAL, 0, "needs a send or recv"},
	};
	char many[WL_DIALOG_STEPS * 8 + 20] = "";
	struct wl_dialog_conf c = {.close = WL_CLOSE_RST};
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int rc = wl_dialog_parse(cases[i].text, &c, &e);

		if (rc >= 0 || e.col != cases[i].col || strstr(e.text, cases[i].says) == NULL)
			print_error("\"%s\": %d, column %d: %s\n", cases[i].text, rc, e.col,
				    e.text);
		assert_int_not_equal(rc, 0);
		assert_int_equal(e.col, cases[i].col);
		assert_non_null(strstr(e.text, cases[i].says));
		assert_int_equal(c.nstep, 0);
	}
	for (unsigned i = 0; i < WL_DIALOG_STEPS; i++)
		strcat(many, "send 1, ");
	strcat(many, "x2");
	assert_int_equal(wl_dialog_parse(many, &c, &e), 0);
	assert_int_equal(c.close, WL_CLOSE_RST);
	strcpy(strrchr(many, 'x'), "recv 1");
	assert_int_equal(wl_dialog_parse(many, &c, &e), -ERANGE);
	assert_int_equal(e.col, WL_DIALOG_STEPS * 8);
	strcpy(strrchr(many, 'r'), "(recv 1)");
	assert_int_equal(wl_dialog_parse(many, &c, &e), -ERANGE);
}

/* A pause is of who sends next. */
static void test_who_thinks(void **state)
{
	static const struct {
		const char *text;
		unsigned step, server;
	} cases[] = {
		{"send 1, think 1s, recv 1", 1, WL_DIALOG_AGAIN | WL_DIALOG_ON | WL_DIALOG_END},
		{"send 1, recv 1, think 1s, x2", 2, 0},
		{"recv 1, send 1, think 1s, x2", 2, WL_DIALOG_AGAIN | WL_DIALOG_ON},
		{"(recv 1, think 1s) x2, send 1", 1, WL_DIALOG_AGAIN},
		{"(send 1, think 1s) x2, recv 1", 1, WL_DIALOG_ON | WL_DIALOG_END},
		{"(send 1, think 1s), think 2s, (recv 1) x2", 1, WL_DIALOG_ON | WL_DIALOG_END},
		{"recv 1, think 1s, close", 1, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct wl_dialog_conf c = {0};

		assert_int_equal(wl_dialog_parse(cases[i].text, &c, NULL), 0);
		assert_int_equal(c.step[cases[i].step].kind, WL_DIALOG_THINK);
		assert_int_equal(c.step[cases[i].step].server, cases[i].server);
	}
}

/* ---- both ends ---- */

static size_t cut_arg(struct pair *p, size_t left)
{
	return p->arg != 0 && p->arg < left ? p->arg : left;
}

static void dialog_ends(struct pair *p, const struct wl_dialog_conf *conf,
			const struct wl_content *content)
{
	for (unsigned i = 0; i < 2; i++) {
		p->end[i].flow.wl = &wl_dialog;
		p->end[i].flow.conf = conf;
		p->end[i].flow.content = content;
		p->end[i].flow.ncontent = 1;
		p->end[i].flow.verify = true;
	}
	p->cut = cut_arg;
}

static void test_both_ends(void **state)
{
	static const struct {
		const char *text;
		unsigned transactions;
		size_t up, down;
		uint64_t ns; /* of thinking */
	} cases[] = {
		{"send 100, recv 1000, think 5ms, x3", 3, 300, 3000, 15000000},
		{"send 10, recv 20", 1, 10, 20, 0},
		{"send 10, send 20, recv 1, recv 2, x2", 2, 60, 6, 0},
		{"send 10, think 1ms, recv 20, think 2ms, close", 1, 10, 20, 3000000},
		{"recv 7, (send 3, recv 2) x4, send 1, think 1ms, close", 6, 13, 15, 1000000},
		{"(send 3) x4", 4, 12, 0, 0},
		{"(recv 3) x4, x2", 8, 0, 24, 0},
		{"send 2M, recv 3M", 1, 2000000, 3000000, 0},
		{"think 1ms, send 1, recv 1", 1, 1, 1, 1000000},
		{"(recv 1, think 1ms) x3, send 4", 4, 4, 3, 3000000},
		{"(send 5, recv 2, think 1ms) x2, recv 7", 3, 10, 11, 2000000},
		{"(send 5, recv 2, think 1ms) x2, think 1ms, x3", 6, 30, 12, 9000000},
		{"recv 1, send 1, think 1ms, x3", 3, 3, 3, 3000000},
	};
	struct wl_content content;

	(void)state;
	assert_int_equal(wl_content_init(&content, NULL, 0, WL_FILL_PATTERN), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (unsigned piece = 0; piece < 5; piece++) {
			struct wl_dialog_conf c = {.close = WL_CLOSE_FIN};
			struct pair p = {.arg = (size_t[]){0, 1, 3, 10, 1460}[piece]};

			assert_int_equal(wl_dialog_parse(cases[i].text, &c, NULL), 0);
			dialog_ends(&p, &c, &content);
			pair_open(&p);
			pair_run(&p);
			for (unsigned k = 0; k < 2; k++) {
				assert_int_equal(p.end[k].counts.done, cases[i].transactions);
				assert_int_equal(p.end[k].counts.failed, 0);
				assert_int_equal(p.end[k].counts.mismatched, 0);
				assert_int_equal(p.end[k].why, WL_END_CLOSED);
			}
			assert_int_equal(p.end[0].len, cases[i].up);
			assert_int_equal(p.end[1].len, cases[i].down);
			assert_int_equal(p.now_ns, 1000000000 + cases[i].ns);
			pair_free(&p);
		}
	}
}

/* A peer that says more than was agreed on, and one that goes away. */
static void test_strangers(void **state)
{
	static const struct {
		const char *says;
		unsigned done, failed, mismatched;
	} cases[] = {
		{"xxxxx", 1, 0, 0}, {"xxxxxyyy", 1, 0, 3}, {"xxyxx", 1, 0, 1},
		{"xxxx", 0, 1, 0},  {"", 0, 0, 0},
	};
	struct wl_content content;
	struct wl_dialog_conf c = {.close = WL_CLOSE_FIN};

	(void)state;
	assert_int_equal(wl_content_init(&content, NULL, 0, WL_FILL_X), 0);
	assert_int_equal(wl_dialog_parse("send 5, recv 3", &c, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct pair p = {.arg = 1};

		dialog_ends(&p, &c, &content);
		p.end[0].flow.wl = NULL;
		pair_open(&p);
		pair_say(&p.end[0], cases[i].says, strlen(cases[i].says));
		p.end[0].fin = true;
		pair_run(&p);
		assert_int_equal(p.end[1].counts.done, cases[i].done);
		assert_int_equal(p.end[1].counts.failed, cases[i].failed);
		assert_int_equal(p.end[1].counts.mismatched, cases[i].mismatched);
		pair_free(&p);
	}
}

/* How long transactions take, pauses of minutes in them or not. */
static void test_times(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} cases[] = {
		{"send 1, think 5ms, recv 1", 5000000},
		{"send 1, think 99s, recv 1, think 1s, close", 99000000000},
		{"send 1, think 5m, recv 1", 300000000000},
		{"(send 1, think 10m, recv 1, think 1m) x2", 600000000000},
	};
	struct wl_content content;

	(void)state;
	assert_int_equal(wl_content_init(&content, NULL, 0, WL_FILL_X), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct hist *h = hist_new((struct hist_shape){.bits = 7, .top = 40});
		struct wl_dialog_conf c = {.close = WL_CLOSE_FIN};
		struct pair p = {0};

		assert_int_equal(wl_dialog_parse(cases[i].text, &c, NULL), 0);
		dialog_ends(&p, &c, &content);
		p.end[0].flow.whole.h = h;
		pair_open(&p);
		pair_run(&p);
		assert_int_equal(p.end[0].why, WL_END_CLOSED);
		/* in units of 64 ns, and of the buckets of the histogram */
		assert_in_range(hist_max(h), cases[i].ns - 64, cases[i].ns + cases[i].ns / 64);
		pair_free(&p);
		free(h);
	}
}

static void test_on_call(void **state)
{
	struct wl_content content;
	struct wl_dialog_conf c = {.close = WL_CLOSE_FIN};
	struct pair p = {0};

	(void)state;
	assert_int_equal(wl_content_init(&content, NULL, 0, WL_FILL_X), 0);
	assert_int_equal(wl_dialog_parse("(send 5, recv 3) x3, close", &c, NULL), 0);
	dialog_ends(&p, &c, &content);
	p.end[0].flow.on_call = true;
	pair_open(&p);
	for (unsigned i = 0; i < 3; i++) {
		pair_run(&p);
		assert_true(p.end[0].ready);
		assert_int_equal(p.end[0].counts.started, i);
		p.end[0].ready = false;
		pair_call(&p, &p.end[0], wl_dialog.go);
	}
	pair_run(&p);
	assert_int_equal(p.end[0].counts.done, 3);
	assert_int_equal(p.end[0].why, WL_END_CLOSED);
	pair_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_print),      cmocka_unit_test(test_wrong_texts),
		cmocka_unit_test(test_who_thinks), cmocka_unit_test(test_both_ends),
		cmocka_unit_test(test_strangers),  cmocka_unit_test(test_on_call),
		cmocka_unit_test(test_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
