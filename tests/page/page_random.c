/* SPDX-License-Identifier: BSD-3-Clause */
/* page_random SEED ROUNDS FILE... draws every page at random sizes, from snapshots that have lost
 * and changed members at random. What is drawn must be characters and roles that exist, and nothing
 * may be touched beside the grid (which the address sanitizer sees). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

#include "page.h"

static uint64_t seed;

/* Returns a random number, by xorshift64*, so that a seed means the same everywhere. */
static uint64_t rnd(void)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return seed * 0x2545f4914f6cdd1dull >> 16;
}

static bool one_in(unsigned n)
{
	return rnd() % n == 0;
}

/* Returns a value that nobody expects. */
static json_t *strange(void)
{
	static const char *const texts[] = {
		"",
		"x",
		"\n\t\x1b[2J",
		"端口零端口零端口零端口零端口零",
		"e\xcc\x81",
		"%s%n",
		"0",
		"a very long text that fits into no column of any page"};
	static const double reals[] = {0,     -1,     0.5,          1e-300,
				       1e300, -1e300, 4294967296.0, 18446744073709551616.0};

	switch (rnd() % 8) {
	case 0:
		return json_null();
	case 1:
		return json_true();
	case 2:
		return json_false();
	case 3:
		return json_string(texts[rnd() % ARRAY_SIZE(texts)]);
	case 4:
		return json_integer(one_in(2) ? INT64_MIN : INT64_MAX);
	case 5:
		return json_real(reals[rnd() % ARRAY_SIZE(reals)]);
	case 6:
		return json_array();
	default:
		return json_object();
	}
}

/* Drops and changes one in `odds` members below v. */
static void spoil(json_t *v, unsigned odds)
{
	const char *key;
	json_t *item;
	void *next;

	if (json_is_object(v))
		json_object_foreach_safe(v, next, key, item) {
			if (one_in(odds))
				json_object_del(v, key);
			else if (one_in(odds))
				json_object_set_new(v, key, strange());
			else
				spoil(item, odds);
		}
	for (size_t i = json_array_size(v); i-- > 0;) {
		if (one_in(odds))
			json_array_remove(v, i);
		else if (one_in(odds))
			json_array_set_new(v, i, strange());
		else
			spoil(json_array_get(v, i), odds);
	}
}

static int size(int most)
{
	return one_in(4) ? (int)(rnd() % 4) : (int)(rnd() % (unsigned)most);
}

/* Returns true at the end of a number that was cut, which would say another number. */
static bool cut_number(struct grid *g, int r, int c)
{
	static const bool figures[ROLES] = {
		[ROLE_PORT_RATE] = true,   [ROLE_PORT_SIZES] = true, [ROLE_PORT_ERRORS] = true,
		[ROLE_PORT_TOTALS] = true, [ROLE_DYN_VALUES] = true, [ROLE_TOTAL_DATA] = true,
	};
	const struct grid_cell *cell = grid_at(g, r, c);

	if (cell->ch != L'~' || c < 2 || !figures[cell->role] || cell[-1].role != cell->role)
		return false;
	return iswdigit((wint_t)cell[-1].ch) ||
	       (cell[-1].ch != 0 && wcschr(L"./e-'", cell[-1].ch) != NULL &&
		iswdigit((wint_t)cell[-2].ch));
}

static const char *wrong(struct grid *g, bool ascii)
{
	for (int r = 0; r < g->rows; r++)
		for (int c = 0; c < g->cols; c++) {
			const struct grid_cell *cell = grid_at(g, r, c);
			if (cell->role >= ROLES)
				return "a role that is none";
			if (cell->ch == 0 && (c == 0 || cell[-1].ch == 0))
				return "half of a wide character alone";
			if (cell->ch != 0 &&
			    (cell->ch < L' ' || (cell->ch >= 0x7f && cell->ch < 0xa0)))
				return "a control character";
			if (ascii && cell->role == ROLE_BAR && cell->ch > 0x7f)
				return "a bar that is not ASCII";
			if (cut_number(g, r, c))
				return "a number that lost its end";
		}
	return NULL;
}

static unsigned number(void)
{
	return one_in(8) ? (unsigned)rnd() : (unsigned)(rnd() % 40);
}

/* Draws the page at a random size. Returns 0, or 1 when something is wrong, which it prints. */
static int draw(const struct page *page, const json_t *snap, const char *file)
{
	struct page_in in = {.snap = snap,
			     .port = number(),
			     .stream = number(),
			     .first = number(),
			     .max_ports = number(),
			     .top = number(),
			     .ascii = one_in(2),
			     .spin = number()};
	struct page_out out;
	const char *why = NULL;
	struct grid g;
	struct sbuf text = {0};

	grid_init(&g, size(120), size(240));
	page_draw(page, &in, &g, &out);
	why = wrong(&g, in.ascii);
	if (why == NULL && (out.shown > out.of || out.rows > out.all ||
			    out.rows > (unsigned)g.rows || out.top > out.all - out.rows))
		why = "more shown than there is";
	grid_text(&g, &text);
	if (why != NULL)
		printf("%s from %s at %dx%d (ports %u/%u rows %u+%u/%u): %s\n%s", page->name, file,
		       g.cols, g.rows, out.shown, out.of, out.top, out.rows, out.all, why,
		       sbuf_str(&text));
	sbuf_free(&text);
	grid_free(&g);
	return why != NULL;
}

int main(int argc, char **argv)
{
	unsigned long rounds, passed = 0, failed = 0;

	if (argc < 4)
		return 2;
	seed = strtoull(argv[1], NULL, 10);
	rounds = strtoul(argv[2], NULL, 10);
	printf("WIRERATE_SEED=%s\n", argv[1]);
	seed = seed * 2 + 1;
	for (int i = 3; i < argc; i++) {
		json_t *snap = json_load_file(argv[i], 0, NULL);
		if (snap == NULL)
			return 2;
		for (unsigned long n = 0; n < rounds; n++) {
			json_t *copy = json_deep_copy(snap);
			if (n > 0)
				spoil(copy, 4u << rnd() % 6);
			for (unsigned p = 0; pages[p] != NULL; p++) {
				if (draw(pages[p], copy, argv[i]) == 0)
					passed++;
				else
					failed++;
			}
			json_decref(copy);
		}
		json_decref(snap);
	}
	printf("%lu passed, %lu failed, 0 skipped\n", passed, failed);
	return failed != 0;
}
