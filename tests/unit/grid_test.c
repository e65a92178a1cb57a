/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the grid of characters on which pages are drawn: how texts are cut to their room, how wide
 * characters are, bars and curves. What pages share is tested too: what has room beside what, pages
 * by their names, and names of ports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "page.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <string.h>

static struct sbuf text;

/* Returns all rows of the grid as text. */
static const char *shown(const struct grid *g)
{
	sbuf_reset(&text);
	grid_text(g, &text);
	return sbuf_str(&text);
}

static void test_put(void **state)
{
	struct grid g;

	(void)state;
	grid_init(&g, 3, 8);
	assert_int_equal(grid_put(&g, 0, 1, -1, ROLE_WARN, "abc"), 3);
	assert_int_equal(grid_put(&g, 0, 6, -1, ROLE_GOOD, "xyz"), 2);
	assert_int_equal(grid_put(&g, 2, -1, 3, ROLE_WARN, "hello"), 3);
	assert_int_equal(grid_put(&g, 3, 0, -1, ROLE_WARN, "below"), 5);
	assert_int_equal(grid_put(&g, -1, 0, 2, ROLE_WARN, "above"), 2);
	assert_int_equal(grid_put(&g, 0, 100, -1, ROLE_WARN, "beside"), 0);
	assert_string_equal(shown(&g), " abc  xy\n\nel\n");
	assert_int_equal(grid_at(&g, 0, 1)->role, ROLE_WARN);
	assert_int_equal(grid_at(&g, 0, 4)->role, ROLE_DEFAULT);
	assert_int_equal(grid_at(&g, 0, 7)->role, ROLE_GOOD);
	grid_putf(&g, 1, 0, 4, ROLE_DEFAULT, "%d-%s", 12, "long");
	assert_string_equal(shown(&g), " abc  xy\n12-l\nel\n");
	grid_free(&g);
}

static void test_bytes(void **state)
{
	struct grid g;

	(void)state;
	grid_init(&g, 1, 16);
	/* A lead byte without the rest, a long form, a surrogate, beyond the last character,
	 * control characters, DEL and C1. */
	grid_put(&g, 0, 0, -1, ROLE_DEFAULT,
		 "a\xc3 \xc0\x80\xed\xa0\x80\xf4\x90\x80\x80\t\x1b\x7f\xc2\x9b");
	assert_string_equal(shown(&g), "a? ?????????????\n");
	grid_free(&g);
	assert_int_equal(grid_width("aé€"), 3);
	assert_int_equal(grid_width("端口"), 4);
	assert_int_equal(grid_width("e\xcc\x81x"), 2);
	assert_int_equal(grid_width(""), 0);
}

static void test_wide(void **state)
{
	struct grid g;

	(void)state;
	grid_init(&g, 1, 5);
	assert_int_equal(grid_put(&g, 0, 0, -1, ROLE_DEFAULT, "端口零"), 4);
	assert_string_equal(shown(&g), "端口\n");
	assert_int_equal(grid_at(&g, 0, 1)->ch, 0);
	/* Half of a wide character is nothing. */
	grid_put(&g, 0, 1, 1, ROLE_DEFAULT, "x");
	assert_string_equal(shown(&g), " x口\n");
	grid_put(&g, 0, 2, 1, ROLE_DEFAULT, "y");
	assert_string_equal(shown(&g), " xy\n");
	grid_put(&g, 0, 2, -1, ROLE_DEFAULT, "口z");
	grid_put(&g, 0, 1, -1, ROLE_DEFAULT, "端");
	assert_string_equal(shown(&g), " 端 z\n");
	grid_put(&g, 0, -1, -1, ROLE_DEFAULT, "端q");
	assert_string_equal(shown(&g), " q  z\n");
	/* It does not fit whole. */
	assert_int_equal(grid_put(&g, 0, 0, 3, ROLE_DEFAULT, "a端口"), 3);
	assert_string_equal(shown(&g), "a端 z\n");
	grid_free(&g);
}

static void test_cut(void **state)
{
	struct grid g;

	(void)state;
	grid_init(&g, 2, 10);
	grid_right(&g, 0, 0, 6, ROLE_DEFAULT, "123");
	grid_right(&g, 1, 0, 6, ROLE_DEFAULT, "1234567");
	assert_string_equal(shown(&g), "   123\n12345~\n");
	grid_rightf(&g, 0, 0, -1, ROLE_DEFAULT, "%s", "x");
	assert_int_equal(grid_left(&g, 1, 0, 4, ROLE_DEFAULT, "abcd"), 4);
	assert_string_equal(shown(&g), "   123   x\nabcd5~\n");
	assert_int_equal(grid_left(&g, 1, 0, 4, ROLE_DEFAULT, "a端口"), 4);
	assert_string_equal(shown(&g), "   123   x\na端~5~\n");
	grid_right(&g, 1, 0, 1, ROLE_DEFAULT, "ab");
	grid_right(&g, 1, 3, 0, ROLE_DEFAULT, "ab");
	assert_string_equal(shown(&g), "   123   x\n~端~5~\n");
	grid_free(&g);
}

static void test_bar(void **state)
{
	static const struct {
		double share;
		const char *fine, *plain;
	} bars[] = {
		{0, "····", "...."},       {0.001, "▏···", "#..."}, {0.25, "█···", "#..."},
		{0.53125, "██▏·", "##.."}, {0.5, "██··", "##.."},   {0.99, "████", "####"},
		{1, "████", "####"},       {7, "████", "####"},     {-1, "····", "...."},
	};
	struct grid g;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bars); i++)
		for (int ascii = 0; ascii < 2; ascii++) {
			struct sbuf want = {0};
			grid_init(&g, 1, 4);
			grid_bar(&g, 0, 0, 4, bars[i].share, ascii);
			sbuf_addf(&want, "%s\n", ascii ? bars[i].plain : bars[i].fine);
			assert_string_equal(shown(&g), sbuf_str(&want));
			sbuf_free(&want);
			grid_free(&g);
		}
	grid_init(&g, 1, 4);
	grid_bar(&g, 0, 2, 4, NAN, false);
	assert_string_equal(shown(&g), "  ··\n");
	grid_bar(&g, 0, 0, 4, INFINITY, true);
	assert_string_equal(shown(&g), "####\n");
	assert_int_equal(grid_at(&g, 0, 0)->role, ROLE_BAR);
	grid_bar(&g, 0, 0, 4, 0, true);
	assert_int_equal(grid_at(&g, 0, 0)->role, ROLE_BAR_EMPTY);
	grid_free(&g);
}

static void curve(struct grid *g, int width, int rows, const double *v, unsigned n, double top,
		  double line, bool ascii)
{
	grid_free(g);
	grid_init(g, rows > 0 ? rows : 1, 8);
	grid_curve(g, 0, 0, width, rows,
		   &(struct curve){.value = v, .n = n, .top = top, .line = line, .ascii = ascii});
}

static void test_one_row(void **state)
{
	const double v[] = {900, 0, 1, 4, NAN, 8};
	struct grid g = {0};

	(void)state;
	curve(&g, 5, 1, v, 6, 0, NAN, false);
	assert_string_equal(shown(&g), "_▁▄ █\n");
	curve(&g, 5, 1, v, 6, 16, NAN, false);
	assert_string_equal(shown(&g), "_▁▂ ▄\n");
	curve(&g, 8, 1, v, 6, 0, NAN, true);
	assert_string_equal(shown(&g), "  @_.. .\n");
	curve(&g, 4, 1, v + 1, 1, 0, 5, false);
	assert_string_equal(shown(&g), "   _\n");
	assert_int_equal(grid_at(&g, 0, 3)->role, ROLE_ZERO);
	curve(&g, 0, 1, v, 6, 0, NAN, false);
	assert_string_equal(shown(&g), "");
	curve(&g, 4, 0, v, 6, 0, NAN, false);
	curve(&g, 4, 1, v, 0, 0, NAN, false);
	assert_string_equal(shown(&g), "");
	grid_free(&g);
}

static void test_curves(void **state)
{
	const double v[] = {100, 100, 0, 0, NAN, NAN, 1, 8, 4, 5, 9, 8};
	struct grid g = {0};

	(void)state;
	/* Two values share a column, the newest is at the right, and 9 is above the top. */
	curve(&g, 6, 2, v, 12, 8, NAN, false);
	assert_string_equal(shown(&g), "⣿  ⢸⢀⣿\n⣿_ ⣸⣿⣿\n");
	/* The line goes on where nothing was sent, and where nothing is known. */
	curve(&g, 6, 2, v, 12, 8, 6, false);
	assert_string_equal(shown(&g), "⣿⠤⠤⢼⢤⣿\n⣿_ ⣸⣿⣿\n");
	assert_int_equal(grid_at(&g, 0, 1)->role, ROLE_RATE_COUNT);
	assert_int_equal(grid_at(&g, 0, 3)->role, ROLE_BAR);
	curve(&g, 8, 2, v, 12, 6, 6, true);
	assert_string_equal(shown(&g), "---#.:##\n  .#####\n");
	curve(&g, 6, 3, v, 12, 0, NAN, true);
	assert_string_equal(shown(&g), " :  #:\n #.:##\n.#####\n");
	/* Little values still have a dot, and nothing lies outside of the grid. */
	curve(&g, 1, 2, (const double[]){1, 1}, 2, 1e18, NAN, false);
	assert_string_equal(shown(&g), "\n⣀\n");
	curve(&g, 400, 2, v, 12, 8, 2, false);
	curve(&g, 1, 2, v, 12, INFINITY, INFINITY, false);
	grid_curve(&g, -1, -3, 20, 9, &(struct curve){.value = v, .n = 12, .line = 4});
	grid_free(&g);
}

static void test_text(void **state)
{
	struct grid g;

	(void)state;
	grid_init(&g, 0, 0);
	assert_string_equal(shown(&g), "");
	grid_put(&g, 0, 0, -1, ROLE_DEFAULT, "x");
	grid_fill(&g, 0, 0, 5, ROLE_DEFAULT, L'x');
	grid_select(&g, 0, 0, 5);
	assert_string_equal(shown(&g), "");
	grid_free(&g);
	grid_init(&g, -3, 7);
	assert_int_equal(g.rows, 0);
	grid_free(&g);
	grid_init(&g, 4, 4);
	assert_string_equal(shown(&g), "");
	grid_fill(&g, 1, -2, 4, ROLE_SEP_DASH, L'─');
	grid_select(&g, 1, 1, 100);
	assert_string_equal(shown(&g), "\n──\n");
	assert_int_equal(grid_at(&g, 1, 0)->role, ROLE_SEP_DASH);
	assert_int_equal(grid_at(&g, 1, 3)->role, ROLE_SELECTED);
	/* What was there before stays. */
	sbuf_reset(&text);
	sbuf_add(&text, "before\n");
	grid_text(&g, &text);
	assert_string_equal(sbuf_str(&text), "before\n\n──\n");
	grid_free(&g);
}

/* The grid is the same in a locale that knows no UTF-8. */
static void test_locale(void **state)
{
	(void)state;
	setlocale(LC_ALL, "C");
	assert_int_equal(grid_width("端口é"), 5);
}

static void test_fit(void **state)
{
	const int size[] = {4, 3, 5, 2}, rank[] = {0, 2, 3, 2};
	int at[4];

	(void)state;
	page_fit(size, rank, 4, 1, 17, at);
	assert_true(at[0] == 0 && at[1] == 5 && at[2] == 9 && at[3] == 15);
	page_fit(size, rank, 4, 1, 16, at);
	assert_true(at[0] == 0 && at[1] == 5 && at[2] == -1 && at[3] == 9);
	page_fit(size, rank, 4, 1, 10, at);
	assert_true(at[0] == 0 && at[1] == 5 && at[2] == -1 && at[3] == -1);
	page_fit(size, rank, 4, 1, 0, at);
	assert_true(at[0] == 0 && at[1] == -1 && at[2] == -1 && at[3] == -1);
}

static void test_find(void **state)
{
	struct err e = {.text = ""};
	struct sbuf b = {0};

	(void)state;
	assert_ptr_equal(page_find("main", &e), pages[0]);
	assert_string_equal(page_find("q", &e)->name, "queues");
	assert_string_equal(page_find("qstats", &e)->name, "queues");
	assert_string_equal(page_find("MAIN", &e)->name, "main");
	assert_null(page_find("nosuch", &e));
	assert_non_null(strstr(e.text, "main, queues, cpu"));
	assert_null(page_find("", &e));
	assert_null(page_find("nosuch", NULL));
	for (unsigned i = 0; pages[i] != NULL; i++) {
		assert_ptr_equal(page_find(pages[i]->name, &e), pages[i]);
		assert_true(strlen(pages[i]->help) > 10);
		sbuf_reset(&b);
		page_parts(pages[i], 7, 42, &b);
		assert_null(strpbrk(sbuf_str(&b), "@#"));
	}
	sbuf_reset(&b);
	page_parts(&(struct page){.parts = "stats,frame:@/#"}, 7, 42, &b);
	assert_string_equal(sbuf_str(&b), "stats,frame:7/42,head");
	sbuf_free(&b);
}

static void test_name(void **state)
{
	const struct page_in in = {.port = 3};
	struct sbuf b = {0};
	json_t *port = json_pack("{s:i, s:s}", "port", 3, "name", "0000:03:00.1");

	(void)state;
	page_port_name(port, &in, 15, &b);
	assert_string_equal(sbuf_str(&b), ">3:0000:03:00.1");
	sbuf_reset(&b);
	page_port_name(port, &in, 10, &b);
	assert_string_equal(sbuf_str(&b), ">3:~3:00.1");
	sbuf_reset(&b);
	page_port_name(port, &(struct page_in){.port = 4}, 10, &b);
	assert_string_equal(sbuf_str(&b), "3:~03:00.1");
	sbuf_free(&b);
	json_decref(port);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_put),    cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_wide),   cmocka_unit_test(test_cut),
		cmocka_unit_test(test_bar),    cmocka_unit_test(test_one_row),
		cmocka_unit_test(test_curves), cmocka_unit_test(test_text),
		cmocka_unit_test(test_locale), cmocka_unit_test(test_fit),
		cmocka_unit_test(test_find),   cmocka_unit_test(test_name),
	};
	int rc = cmocka_run_group_tests(tests, NULL, NULL);

	sbuf_free(&text);
	return rc;
}
