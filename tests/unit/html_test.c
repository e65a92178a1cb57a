/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the page and the curves that results are drawn as. */
#include "cmocka_names.h"

#include <math.h>
#include <string.h>

#include "chart.h"
#include "html.h"
#include "svg.h"

static struct sbuf b;

static unsigned times_of(const char *word)
{
	unsigned n = 0;

	for (const char *p = sbuf_str(&b); (p = strstr(p, word)) != NULL; p++)
		n++;
	return n;
}

static void test_text_is_no_mark(void **state)
{
	(void)state;
	sbuf_reset(&b);
	svg_escaped("a<b>&c\n\"d\"", &b);
	assert_string_equal(sbuf_str(&b), "a&lt;b>&amp;c \"d\"");
	sbuf_reset(&b);
	html_open("<script>", &b);
	html_paragraph("<b>", &b);
	html_close(&b);
	assert_null(strstr(sbuf_str(&b), "<script>"));
	assert_null(strstr(sbuf_str(&b), "<b>"));
}

static const struct out_col cols[] = {
	{"name", "name", OF_STR},
	{"n", "number", OF_COUNT},
	{"none", "none", OF_COUNT, .some = true},
};

static void test_table(void **state)
{
	struct out_view view = {.rows = "rows", .cols = cols, .ncols = ARRAY_SIZE(cols)};
	json_t *doc =
		json_pack("{s[{s:s, s:i}, {s:s}]}", "rows", "name", "a<b", "n", 12345, "name", "c");

	(void)state;
	sbuf_reset(&b);
	html_table(doc, &view, &b);
	assert_string_equal(sbuf_str(&b), "<table>\n"
					  "<tr><th class=\"text\">name</th><th>number</th></tr>\n"
					  "<tr><td class=\"text\">a&lt;b</td><td>12'345</td></tr>\n"
					  "<tr><td class=\"text\">c</td><td>-</td></tr>\n"
					  "</table>\n");
	view.transpose = true;
	sbuf_reset(&b);
	html_table(doc, &view, &b);
	assert_string_equal(sbuf_str(&b),
			    "<table>\n"
			    "<tr><th class=\"text\">name</th><td>a&lt;b</td><td>c</td></tr>\n"
			    "<tr><th class=\"text\">number</th><td>12'345</td><td>-</td></tr>\n"
			    "</table>\n");
	json_decref(doc);
}

/* Each curve has marks at all its points and one at its name; a gap parts its line. */
static void test_curves(void **state)
{
	const struct chart_point one[] = {{100, 1000, false}, {200, 2000, true}, {300, 1e6, false}},
				 two[] = {{100, 5000, false}, {200, NAN, false}, {300, 0, false}};
	const struct chart_series series[] = {{"first", one, 3}, {"second", two, 3}};
	const struct chart_mark mark = {200, "here"};
	const struct chart c = {.title = "T",
				.x_label = "load",
				.y_label = "latency",
				.y_ns = true,
				.series = series,
				.nseries = 2,
				.mark = &mark,
				.nmarks = 1};

	(void)state;
	sbuf_reset(&b);
	chart_svg(&c, &b);
	assert_int_equal(times_of("<circle "), 4);
	assert_int_equal(times_of("<path transform"), 2);
	assert_int_equal(times_of("fill=\"#ffffff\"/>\n<path") +
				 times_of("fill=\"#ffffff\"/>\n<circle"),
			 1);
	assert_int_equal(times_of(">first</text>"), 1);
	assert_int_equal(times_of(">second</text>"), 1);
	assert_int_equal(times_of(">here</text>"), 1);
	assert_int_equal(times_of("not valid"), 1);
	assert_int_equal(times_of("nan"), 0);
	assert_int_equal(times_of("inf"), 0);
	/* from 1 us to 1 ms, the ends of the axes */
	assert_int_equal(times_of(">1us</text>"), 1);
	assert_int_equal(times_of(">1ms</text>"), 1);
}

static void test_nothing_to_draw(void **state)
{
	const struct chart_point at[] = {{NAN, NAN, false}};
	const struct chart_series series = {"none", at, 1};
	struct chart c = {
		.title = "T", .x_label = "x", .y_label = "y", .series = &series, .nseries = 1};

	(void)state;
	for (unsigned ns = 0; ns < 2; ns++) {
		c.y_ns = ns;
		sbuf_reset(&b);
		chart_svg(&c, &b);
		assert_int_equal(times_of("nan"), 0);
		assert_int_equal(times_of("inf"), 0);
		assert_int_equal(times_of("<circle"), 0);
		assert_int_equal(times_of("</svg>"), 1);
	}
}

/* Lengths are shares of the longest bar, 400 pixels from 230 on; a value stands behind all of its
 * row, and what is no number has no bar. */
static void test_bars(void **state)
{
	struct svg_bar bar = {.label = "<a>", .value = "7", .colour = "#123456", .share = 0.5};

	(void)state;
	sbuf_reset(&b);
	svg_bars_open(2, &b);
	svg_bar(0, &bar, &b);
	assert_int_equal(times_of("<rect x=\"230\" y=\"20\" width=\"200\""), 1);
	assert_int_equal(times_of("fill=\"#123456\""), 1);
	assert_int_equal(times_of("<text x=\"438\""), 1);
	assert_int_equal(times_of("&lt;a>"), 1);
	bar.hollow = bar.interval = true;
	bar.low = 0.25;
	bar.high = 0.75;
	svg_bar(1, &bar, &b);
	svg_close(&b);
	assert_int_equal(times_of("fill=\"#123456\""), 1);
	assert_int_equal(times_of("<path d=\"M330 52H530M330 48v8M530 48v8\""), 1);
	assert_int_equal(times_of("<text x=\"538\""), 1);
	assert_int_equal(times_of("height=\"88\""), 2); /* the drawing, and its ground */
	sbuf_reset(&b);
	bar.interval = false;
	bar.share = (double)NAN;
	svg_bar(0, &bar, &b);
	assert_int_equal(times_of("<rect"), 0);
	assert_int_equal(times_of("<text x=\"238\""), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_is_no_mark),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_curves),
		cmocka_unit_test(test_nothing_to_draw),
		cmocka_unit_test(test_bars),
	};
	int rc = cmocka_run_group_tests(tests, NULL, NULL);

	sbuf_free(&b);
	return rc;
}
