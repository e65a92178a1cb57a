/* SPDX-License-Identifier: BSD-3-Clause */
#include "page_trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"

#define HEAD_ROOM 1.05 /* room above a curve: one that touched the top might be cut off there */

/* Returns the values of a history, added up over all ports, the newest last. A value that no port
 * has is NAN. The caller frees them. */
static double *page_trend_history(const json_t **port, unsigned nports, const char *path,
				  unsigned *n)
{
	double *v;

	*n = 0;
	for (unsigned i = 0; i < nports; i++) {
		size_t k = json_array_size(out_get(port[i], path));
		*n = k > *n ? (unsigned)k : *n;
	}
	v = xcalloc(*n + 1, sizeof(*v));
	for (unsigned k = 0; k < *n; k++)
		v[k] = NAN;
	for (unsigned i = 0; i < nports; i++) {
		const json_t *list = out_get(port[i], path);
		size_t of = json_array_size(list);
		for (size_t k = 0; k < of; k++) {
			const json_t *item = json_array_get(list, k);
			double *to = &v[*n - of + k];
			if (json_is_number(item))
				*to = json_number_value(item) + (isfinite(*to) ? *to : 0);
		}
	}
	return v;
}

/* Returns the sum of the rates that the sending ports are asked for. NAN: no port sends, or one of
 * them sends as fast as it can. */
static double page_trend_asked(const struct trend *t, const json_t **port, unsigned n)
{
	double sum = NAN;

	for (unsigned i = 0; i < n && t->line != NULL; i++) {
		double v = page_num(port[i], t->line, NAN);
		if (!page_sends(port[i]))
			continue;
		if (!isfinite(v) || json_is_true(out_get(port[i], "run.asked_max")))
			return NAN;
		sum = isfinite(sum) ? sum + v : v;
	}
	return sum;
}

/* Returns the next round number that leaves room above `most`. */
static double round_up(double most)
{
	static const double steps[] = {1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12};

	if (!(most > 0) || !isfinite(most))
		return 0;
	double unit = pow(10, floor(log10(most)));
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		if (steps[i] * unit >= HEAD_ROOM * most)
			return steps[i] * unit;
	return HEAD_ROOM * most;
}

/* Returns the highest value of the trend, or the rate that is asked for, if that is higher. */
static double most_of(const struct trend *t, const json_t **port, unsigned n)
{
	double most = page_trend_asked(t, port, n);
	unsigned len;
	double *v = page_trend_history(port, n, t->path, &len);

	for (unsigned i = 0; i < len; i++)
		if (isfinite(v[i]) && !(v[i] <= most))
			most = v[i];
	free(v);
	return most;
}

double trend_top(const struct trend *t, unsigned ntrends, const json_t **port, unsigned n, bool sum)
{
	double most = 0;

	for (unsigned k = 0; k < ntrends; k++)
		for (unsigned i = 0; i < (sum ? 1 : n); i++) {
			double v = most_of(&t[k], &port[i], sum ? n : 1);
			most = v > most ? v : most;
		}
	return round_up(most);
}

void trend_text(double top, struct sbuf *out)
{
	struct sbuf b = {0};

	out_si_digits(top, 4, &b);
	size_t unit = strcspn(sbuf_str(&b), "kMGTPE"), digits = unit;
	while (memchr(sbuf_str(&b), '.', unit) != NULL && digits > 0 &&
	       (b.s[digits - 1] == '0' || b.s[digits - 1] == '.'))
		if (b.s[--digits] == '.')
			break;
	sbuf_addn(out, sbuf_str(&b), digits);
	sbuf_add(out, sbuf_str(&b) + unit);
	sbuf_free(&b);
}

void trend_draw(const struct trend *t, double top, bool mark, const json_t **port, unsigned n,
		struct grid *g, int row, int col, int width, int rows, bool ascii)
{
	struct curve c = {.line = page_trend_asked(t, port, n), .top = top, .ascii = ascii};
	struct sbuf b = {0};
	double *v = page_trend_history(port, n, t->path, &c.n);

	c.value = v;
	grid_curve(g, row, col, width, rows, &c);
	if (mark && rows > 1 && top > 0) {
		trend_text(top, &b);
		grid_putf(g, row, col, width, ROLE_SEP_TEXT, "%s ", sbuf_str(&b));
		sbuf_free(&b);
	}
	free(v);
}
