/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests how numbers, times and tables are printed, as text, CSV and JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "out.h"

#include <math.h>
#include <string.h>

static struct sbuf b;

static const char *si(double v)
{
	sbuf_reset(&b);
	out_si(v, &b);
	return sbuf_str(&b);
}

static const char *dur(uint64_t ns)
{
	sbuf_reset(&b);
	out_duration(ns, &b);
	return sbuf_str(&b);
}

static void test_si(void **state)
{
	(void)state;
	assert_string_equal(si(0), "0");
	assert_string_equal(si(64), "64");
	assert_string_equal(si(999), "999");
	assert_string_equal(si(12.34), "12.34");
	assert_string_equal(si(1000), "1.000k");
	assert_string_equal(si(999800), "999.8k");
	assert_string_equal(si(999949), "999.9k");
	assert_string_equal(si(999950), "1.000M");
	assert_string_equal(si(999999.9), "1.000M");
	assert_string_equal(si(999.99), "1.000k");
	assert_string_equal(si(1e6), "1.000M");
	assert_string_equal(si(14880952), "14.88M");
	assert_string_equal(si(1e10), "10.00G");
	assert_string_equal(si(9223372036854775807.0), "9.223E");
	assert_string_equal(si(-1500), "-1.500k");
	assert_string_equal(si(0.0 / 0.0), "-");
	assert_string_equal(si(0.5), "0.500");
	assert_string_equal(si(0.01234), "0.0123");
	assert_string_equal(si(1e-6), "1e-06");
}

static void test_duration(void **state)
{
	(void)state;
	assert_string_equal(dur(0), "0ns");
	assert_string_equal(dur(999), "999ns");
	assert_string_equal(dur(1500), "1.5us");
	assert_string_equal(dur(20000000), "20ms");
	assert_string_equal(dur(1234567890), "1.235s");
	assert_string_equal(dur(1234499), "1.234ms");
	assert_string_equal(dur(1234500), "1.235ms");
	assert_string_equal(dur(999999499), "999.999ms");
	assert_string_equal(dur(999999500), "1s");
	assert_string_equal(dur(59999499999), "59.999s");
	assert_string_equal(dur(59999500000), "1m00s");
	assert_string_equal(dur(119500000000), "2m00s");
	assert_string_equal(dur(3599500000000), "1h00m00s");
	assert_string_equal(dur(2050000000), "2.05s");
	assert_string_equal(dur(90ull * 1000000000), "1m30s");
	assert_string_equal(dur(3725ull * 1000000000), "1h02m05s");
}

/* As many digits are shown as fit, rounded each time, and never without unit or exponent. */
static void test_count(void **state)
{
	static const struct {
		double v;
		int width;
		const char *text;
	} cases[] = {{0, 0, "0"},          {999.5, 0, "1'000"},     {1234567, 12, "   1'234'567"},
		     {-1234, 2, "-1'234"}, {(double)NAN, 3, "  -"}, {(double)INFINITY, 0, "-"},
		     {1e19, 0, "-"}};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		sbuf_reset(&b);
		out_count(cases[i].v, cases[i].width, &b);
		assert_string_equal(sbuf_str(&b), cases[i].text);
	}
}

static void test_digits(void **state)
{
	static const struct {
		void (*put)(double v, int digits, struct sbuf *out);
		double v;
		const char *text[4];
	} t[] = {
		{out_si_digits, 14880952, {"14.88M", "14.9M", "15M", "15M"}},
		{out_si_digits, 999.96, {"1.000k", "1.00k", "1.0k", "1k"}},
		{out_si_digits, 9.9996e6, {"10.00M", "10.0M", "10M", "10M"}},
		{out_si_digits, -1234, {"-1.234k", "-1.23k", "-1.2k", "-1k"}},
		{out_si_digits, 994999, {"995.0k", "995k", "995k", "995k"}},
		{out_si_digits, 0.012345, {"0.0123", "0.012", "0.01", "0.01"}},
		{out_ns_digits, 999.4, {"999ns", "999ns", "999ns", "999ns"}},
		{out_ns_digits, 999.6, {"1.000us", "1.00us", "1.0us", "1us"}},
		{out_ns_digits, 1.2345e9, {"1.234s", "1.23s", "1.2s", "1s"}},
		{out_ns_digits, 5e15, {"5000000s", "5000000s", "5000000s", "5000000s"}},
		{out_share_digits, 0.12345, {"12.35%", "12.35%", "12.3%", "12%"}},
		{out_share_digits, 1.9e-7, {"1.9e-05%", "1.9e-05%", "2e-05%", "2e-05%"}},
		{out_share_digits, 1, {"100.00%", "100.00%", "100.0%", "100%"}},
		{out_share_digits, 0, {"0%", "0%", "0%", "0%"}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++)
		for (int digits = 4; digits > 0; digits--) {
			sbuf_reset(&b);
			t[i].put(t[i].v, digits, &b);
			assert_string_equal(sbuf_str(&b), t[i].text[4 - digits]);
		}
}

static json_t *sample(void)
{
	json_t *doc = json_loads(
		"{\"show\":\"x\",\"ports\":["
		"{\"port\":0,\"name\":\"wire0\",\"up\":true,\"speed\":10000,\"tx\":{\"packets\":1234567,\"pps\":999950},\"ns\":1500000,"
		"\"q\":[{\"n\":0,\"v\":1},{\"n\":1}],\"notes\":[\"a\",\"b\"]},"
		"{\"port\":10,\"name\":\"a, \\\"b\\\"\",\"up\":false,\"speed\":0,\"tx\":{\"packets\":7},\"busy\":0.125,\"q\":[{\"n\":0,\"v\":null}],"
		"\"notes\":[]}]}",
		0, NULL);

	assert_non_null(doc);
	return doc;
}

static const struct out_col cols[] = {
	{"port", "port", OF_COUNT},
	{"name", "name", OF_STR},
	{"up", "up", OF_STR},
	{"speed", "speed", OF_MBPS},
	{"tx.packets", "packets", OF_COUNT},
	{"tx.pps", "pps", OF_PPS},
	{"ns", "time", OF_NS},
	{"busy", "busy", OF_PERCENT},
	{"notes", "notes", OF_STR},
};

static const char *write_doc(enum out_mode mode, const struct out_view *v)
{
	json_t *doc = sample();

	sbuf_reset(&b);
	out_write(mode, doc, v, &b);
	json_decref(doc);
	return sbuf_str(&b);
}

static void test_text_table(void **state)
{
	struct out_view v = {.rows = "ports", .cols = cols, .ncols = ARRAY_SIZE(cols)};

	(void)state;
	assert_string_equal(write_doc(OUT_TEXT, &v),
			    "port  name    up   speed    packets     pps   time   busy  notes\n"
			    "   0  wire0   yes    10G  1'234'567  1.000M  1.5ms      -  a, b\n"
			    "  10  a, \"b\"  no       -          7       -      -  12.5%  -\n");
}

static void test_times(void **state)
{
	static const struct {
		double ns;
		const char *text;
	} t[] = {
		{-1, "0ns"},
		{1.5e6, "1.5ms"},
		{0x1p64, "1.84e+10s"},
		{1e300, "1e+291s"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		json_t *v = json_real(t[i].ns);
		sbuf_reset(&b);
		out_cell(v, OF_NS, &b);
		json_decref(v);
		assert_string_equal(sbuf_str(&b), t[i].text);
	}
}

/* A long cell does not push the others off the screen. Programs get all of it. */
static void test_cut_cells(void **state)
{
	static const struct out_col few[] = {{"name", "n", OF_STR, 4}, {"port", "port", OF_COUNT}};
	struct out_view v = {.rows = "ports", .cols = few, .ncols = ARRAY_SIZE(few)};

	(void)state;
	assert_string_equal(write_doc(OUT_TEXT, &v), "n     port\nwir~     0\na, ~    10\n");
	assert_string_equal(write_doc(OUT_CSV, &v), "name,port\nwire0,0\n\"a, \"\"b\"\"\",10\n");
}

/* A number that has lost its end would be another number, so it is not shown. */
static void test_cut_numbers(void **state)
{
	static const struct out_col few[] = {{"rate", "r", OF_STR, 9}, {"n", "n", OF_COUNT, 7}};
	const struct out_view v = {.rows = "rows", .cols = few, .ncols = ARRAY_SIZE(few)};
	json_t *doc = json_loads(
		"{\"rows\":[{\"rate\":\"148.8095Mpps\",\"n\":1234567},{\"rate\":\"1Mpps..10Mpps over 5s\",\"n\":12345678901},"
		"{\"rate\":\"own speed 10G\",\"n\":123456}]}",
		0, NULL);

	(void)state;
	sbuf_reset(&b);
	out_write(OUT_TEXT, doc, &v, &b);
	json_decref(doc);
	assert_string_equal(
		sbuf_str(&b),
		"r                n\n~           1.235M\n~           12.35G\nown spee~  123'456\n");
}

static void test_csv_table(void **state)
{
	struct out_view v = {.rows = "ports", .cols = cols, .ncols = ARRAY_SIZE(cols)};

	(void)state;
	assert_string_equal(write_doc(OUT_CSV, &v),
			    "port,name,up,speed,tx.packets,tx.pps,ns,busy,notes\n"
			    "0,wire0,true,10000,1234567,999950,1500000,,\"a, b\"\n"
			    "10,\"a, \"\"b\"\"\",false,0,7,,,0.125,\n");
}

static void test_transposed(void **state)
{
	struct out_view v = {.rows = "ports", .cols = cols, .ncols = 2, .transpose = true};

	(void)state;
	assert_string_equal(write_doc(OUT_TEXT, &v),
			    "port      0      10\nname  wire0  a, \"b\"\n");
}

static void test_sub_rows(void **state)
{
	static const struct out_col sub[] = {{"n", "n", OF_COUNT}, {"v", "v", OF_COUNT}};
	struct out_view v = {.rows = "ports",
			     .cols = cols,
			     .ncols = 1,
			     .sub = "q",
			     .sub_cols = sub,
			     .nsub_cols = 2};

	(void)state;
	assert_string_equal(write_doc(OUT_CSV, &v), "port,n,v\n0,0,1\n0,1,\n10,0,\n");
	assert_string_equal(write_doc(OUT_TEXT, &v),
			    "port  n  v\n   0  0  1\n   0  1  -\n  10  0  -\n");
}

static void test_no_rows(void **state)
{
	struct out_view v = {.rows = "nothing", .cols = cols, .ncols = 2};

	(void)state;
	assert_string_equal(write_doc(OUT_TEXT, &v), "port  name\n");
}

static void test_json_is_one_line(void **state)
{
	struct out_view v = {.rows = "ports", .cols = cols, .ncols = 2};
	const char *s = write_doc(OUT_JSON, &v);
	json_t *back = json_loads(s, 0, NULL), *doc = sample();

	(void)state;
	assert_true(json_equal(back, doc));
	assert_ptr_equal(strchr(s, '\n'), s + strlen(s) - 1);
	json_decref(back);
	json_decref(doc);
}

static void test_no_view(void **state)
{
	json_t *doc = json_loads(
		"{\"a\":1,\"b\":{\"c\":\"x,y\",\"d\":[1,2]},\"e\":[{\"f\":true},{\"f\":null}]}", 0,
		NULL);

	(void)state;
	sbuf_reset(&b);
	out_write(OUT_TEXT, doc, NULL, &b);
	assert_string_equal(sbuf_str(&b), "a: 1\nb.c: x,y\nb.d: 1, 2\ne[0].f: yes\ne[1].f: -\n");
	sbuf_reset(&b);
	out_write(OUT_CSV, doc, NULL, &b);
	assert_string_equal(sbuf_str(&b),
			    "key,value\na,1\nb.c,\"x,y\"\nb.d,\"1, 2\"\ne[0].f,true\ne[1].f,\n");
	json_decref(doc);
}

static void test_any_bytes(void **state)
{
	json_t *v = out_json_text("caf\xe9");

	(void)state;
	assert_string_equal(json_string_value(v), "caf?");
	json_decref(v);
	v = out_json_text("caf\xc3\xa9");
	assert_string_equal(json_string_value(v), "caf\xc3\xa9");
	json_decref(v);
}

static void test_get(void **state)
{
	json_t *doc = json_loads("{\"udp.dst\":1,\"a\":{\"udp.dst\":2,\"b\":{\"c\":3}}}", 0, NULL);

	(void)state;
	assert_int_equal(json_integer_value(out_get(doc, "udp.dst")), 1);
	assert_int_equal(json_integer_value(out_get(doc, "a.udp.dst")), 2);
	assert_int_equal(json_integer_value(out_get(doc, "a.b.c")), 3);
	assert_null(out_get(doc, "a.b.c.d"));
	assert_null(out_get(doc, "x.y"));
	json_decref(doc);
}

static int done(void **state)
{
	(void)state;
	sbuf_free(&b);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_si),         cmocka_unit_test(test_duration),
		cmocka_unit_test(test_digits),     cmocka_unit_test(test_cut_numbers),
		cmocka_unit_test(test_text_table), cmocka_unit_test(test_times),
		cmocka_unit_test(test_cut_cells),  cmocka_unit_test(test_csv_table),
		cmocka_unit_test(test_transposed), cmocka_unit_test(test_sub_rows),
		cmocka_unit_test(test_no_rows),    cmocka_unit_test(test_json_is_one_line),
		cmocka_unit_test(test_no_view),    cmocka_unit_test(test_any_bytes),
		cmocka_unit_test(test_get),        cmocka_unit_test(test_count),
	};

	return cmocka_run_group_tests(tests, NULL, done);
}
