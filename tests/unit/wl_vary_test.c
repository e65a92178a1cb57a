/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers that vary: their texts, how often each value comes, and that both ends of a connection
 * choose the same ones. */
#include "cmocka_names.h"
#include <errno.h>
#include "wl_pair.h"
#include "wl_text.h"

static const struct vspec sizes = {.type = &vt_wl_sizes};
static const struct vspec datagrams = {.type = &vt_wl_sizes, .min = 8, .max = 1472};
static const struct vspec pauses = {.type = &vt_wl_pauses};

/* ---- texts ---- */

static void text_is(const struct vspec *s, const char *text, const char *canonical)
{
	struct wl_vary v, again;
	struct sbuf out = {0};
	struct err e;

	memset(&v, 0x5a, sizeof(v));
	memset(&again, 0xa5, sizeof(again));
	if (s->type->parse(s, text, &v, &e) != 0)
		fail_msg("%s: %s", text, e.text);
	s->type->print(s, &v, &out);
	assert_string_equal(sbuf_str(&out), canonical);
	assert_int_equal(s->type->parse(s, sbuf_str(&out), &again, NULL), 0);
	assert_memory_equal(&v, &again, sizeof(v));
	sbuf_free(&out);
}

static void test_texts(void **state)
{
	(void)state;
	text_is(&sizes, "64", "64");
	text_is(&sizes, "0", "0");
	text_is(&sizes, "1k", "1000");
	text_is(&sizes, "0x40", "64");
	text_is(&sizes, "64:7", "64");
	text_is(&sizes, "64..64", "64");
	text_is(&sizes, "64..1500", "64..1500");
	text_is(&sizes, "64..1500:9", "64..1500");
	text_is(&sizes, " 64 .. 1500 ", "64..1500");
	text_is(&sizes, "64:7,570:4,1460:1", "64:7,570:4,1460:1");
	text_is(&sizes, "64 : 7, 570:4 ,1460", "64:7,570:4,1460:1");
	text_is(&sizes, "1,2,3", "1,2,3");
	text_is(&sizes, "1,100..200:3,1M", "1:1,100..200:3,1000000:1");
	text_is(&sizes, "1125899906842624", "1125899906842624");
	text_is(&pauses, "0s", "0s");
	text_is(&pauses, "1ms", "1ms");
	text_is(&pauses, "1ms..5ms", "1ms..5ms");
	text_is(&pauses, "1 ms .. 5 ms", "1ms..5ms");
	text_is(&pauses, "0s:9,1.5ms..2s", "0s:9,1.5ms..2s:1");
	text_is(&pauses, "30m", "30m");
	text_is(&datagrams, "8..1472", "8..1472");
}

static void text_fails(const struct vspec *s, const char *text, int rc, int col)
{
	struct wl_vary v = {.least = 77};
	struct err e = {.col = -2};

	assert_int_equal(s->type->parse(s, text, &v, &e), rc);
	if (e.col != col)
		print_error("\"%s\", column %d: %s\n", text, e.col, e.text);
	assert_int_equal(e.col, col);
	assert_true(e.text[0] != '\0');
	assert_int_equal(v.least, 77);
	assert_int_equal(s->type->parse(s, text, &v, NULL), rc);
}

static void test_bad_texts(void **state)
{
	(void)state;
	text_fails(&sizes, "", -EINVAL, 0);
	text_fails(&sizes, "x", -EINVAL, 0);
	text_fails(&sizes, "64,", -EINVAL, 3);
	text_fails(&sizes, ",64", -EINVAL, 0);
	text_fails(&sizes, "64,,65", -EINVAL, 3);
	text_fails(&sizes, "64..", -EINVAL, 4);
	text_fails(&sizes, "..64", -EINVAL, 0);
	text_fails(&sizes, "1,1500..64", -EINVAL, 2);
	text_fails(&sizes, "64:", -EINVAL, 3);
	text_fails(&sizes, "64:0", -ERANGE, 3);
	text_fails(&sizes, "64:65536", -ERANGE, 3);
	text_fails(&sizes, "64:1:2", -EINVAL, 4);
	text_fails(&sizes, "64,65y", -EINVAL, 5);
	text_fails(&sizes, "1125899906842625", -ERANGE, 0);
	text_fails(&datagrams, "8..1473", -ERANGE, 3);
	text_fails(&datagrams, "8,7", -ERANGE, 2);
	text_fails(&pauses, "5", -EINVAL, 1);
	text_fails(&pauses, "1ms..5", -EINVAL, 6);
	text_fails(&pauses, "31m", -ERANGE, 0);
	text_fails(&sizes,
		   "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,"
		   "30,31,32,33",
		   -ERANGE, 87);
	text_fails(&sizes, "1,0000000000000000000000000000000000000000000000000000000000000000001",
		   -EINVAL, 2);
}

static unsigned offered;
static void offer_is(void *arg, const char *word)
{
	offered += strcmp(word, arg) == 0;
}

static void test_completion(void **state)
{
	(void)state;
	offered = 0;
	vt_wl_pauses.complete(&pauses, "1ms..5m", offer_is, (void *)(uintptr_t) "1ms..5ms");
	vt_wl_pauses.complete(&pauses, "1s:3,7", offer_is, (void *)(uintptr_t) "1s:3,7us");
	assert_int_equal(offered, 2);
}

static void test_numbers(void **state)
{
	struct wl_vary v = vary_of(&vt_wl_pauses, "5ms");
	struct sbuf out = {0};
	double n = 0;

	(void)state;
	assert_int_equal(vt_wl_pauses.plain(&pauses, &v, &n), VPLAIN_NUMBER);
	assert_true(n == 5e6);
	vt_wl_pauses.number(&pauses, n, &out);
	text_is(&pauses, sbuf_str(&out), "5ms");
	sbuf_reset(&out);
	vt_wl_sizes.number(&sizes, 100, &out);
	text_is(&sizes, sbuf_str(&out), "100");
	v = vary_of(&vt_wl_sizes, "1,2");
	assert_int_equal(vt_wl_sizes.plain(&sizes, &v, &n), VPLAIN_TEXT);
	sbuf_free(&out);
}

/* ---- values ---- */

static void test_values(void **state)
{
	struct wl_vary v = vary_of(&vt_wl_sizes, "64:7,570:4,1000..1099:1");
	unsigned small = 0, medium = 0, large[100] = {0}, all = 0;

	(void)state;
	assert_int_equal(v.least, 64);
	assert_int_equal(v.most, 1099);
	for (uint64_t key = 0; key < 12; key++) {
		for (unsigned n = 0; n < 100000; n++) {
			uint64_t x = wl_vary_at(&v, key * 0x123456789abcdefull, n);

			assert_int_equal(x, wl_vary_at(&v, key * 0x123456789abcdefull, n));
			small += x == 64;
			medium += x == 570;
			if (x != 64 && x != 570) {
				assert_in_range(x, 1000, 1099);
				large[x - 1000]++;
				all++;
			}
		}
	}
	assert_in_range(small, 697000, 703000);
	assert_in_range(medium, 397000, 403000);
	assert_in_range(all, 98000, 102000);
	for (unsigned i = 0; i < 100; i++)
		assert_in_range(large[i], 850, 1150);
	/* ranges of more than 32 bits reach their ends */
	v = vary_of(&vt_wl_pauses, "1ns..30m");
	for (unsigned n = 0, low = 0, high = 0; n < 1000; n++) {
		uint64_t x = wl_vary_at(&v, 5, n);

		assert_in_range(x, 1, WL_PAUSE_MAX_NS);
		low += x < WL_PAUSE_MAX_NS / 50;
		high += x > WL_PAUSE_MAX_NS / 50 * 49;
		assert_true(n < 999 || (low > 5 && high > 5));
	}
	v = (struct wl_vary)WL_FIXED(9);
	assert_int_equal(wl_vary_at(&v, 1, 2), 9);
}

/* The identity names the ends by their roles, and each part of it counts. */
static void test_identity(void **state)
{
	static const uint8_t a[16] = {10, 0, 0, 1}, b[16] = {10, 0, 0, 2};
	uint64_t is = wl_identity(a, b, 4, 1000, 80);

	(void)state;
	assert_true(is == wl_identity(a, b, 4, 1000, 80));
	assert_true(is != wl_identity(b, a, 4, 1000, 80));
	assert_true(is != wl_identity(a, b, 4, 80, 1000));
	assert_true(is != wl_identity(a, b, 16, 1000, 80));
	assert_true(is != wl_identity(a, b, 4, 1001, 80));
	assert_true(is != wl_identity(a, b, 4, 1000, 81));
}

/* ---- both ends ---- */

static size_t cut_odd(struct pair *p, size_t left)
{
	p->arg = p->arg * 6364136223846793005ull + 1442695040888963407ull;
	return (p->arg >> 33) % (left < 1460 ? left : 1460) + 1;
}

static void pair_bytes(uint64_t transactions, bool server_closes, unsigned stop)
{
	struct wl_bytes_conf conf = {
		.request = vary_of(&vt_wl_sizes, "1:3,50..3000"),
		.response = vary_of(&vt_wl_sizes, "1..20000,7"),
		.think = vary_of(&vt_wl_pauses, "0s:3,1ms..2ms"),
		.transactions = transactions,
		.server_closes = server_closes,
		.close = WL_CLOSE_FIN,
	};
	struct pair p = {.cut = cut_odd, .arg = transactions};
	struct wl_content content;

	assert_int_equal(wl_content_init(&content, NULL, 0, WL_FILL_PATTERN), 0);
	for (unsigned i = 0; i < 2; i++) {
		p.end[i].flow.wl = &wl_bytes;
		p.end[i].flow.conf = &conf;
		p.end[i].flow.content = &content;
		p.end[i].flow.ncontent = 1;
		p.end[i].flow.verify = true;
	}
	pair_open(&p);
	assert_int_equal(wl_bytes.cells(&p.end[0].flow, false), transactions != 1);
	assert_int_equal(wl_bytes.cells(&p.end[1].flow, false), 0);
	while (!p.end[0].gone && p.end[1].counts.done < stop) {
		if (!pair_step(&p, 0) && !pair_step(&p, 1) && !pair_timer(&p))
			break;
	}
	if (transactions != 0) {
		assert_int_equal(p.end[0].counts.done, transactions);
		assert_int_equal(p.end[1].counts.done, transactions);
		assert_int_equal(p.end[0].why, WL_END_CLOSED);
	} else {
		assert_int_equal(p.end[1].counts.done, stop);
	}
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(p.end[i].counts.mismatched, 0);
	pair_free(&p);
}

static void test_both_ends(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 50; i++) {
		pair_identity_is = i * 0x9e3779b97f4a7c15ull;
		pair_bytes(1, i % 2 == 0, UINT32_MAX);
		pair_bytes(1 + i % 7, i % 2 == 0, UINT32_MAX);
	}
	pair_bytes(0, false, 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),      cmocka_unit_test(test_bad_texts),
		cmocka_unit_test(test_completion), cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_values),     cmocka_unit_test(test_identity),
		cmocka_unit_test(test_both_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
