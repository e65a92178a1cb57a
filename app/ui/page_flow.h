/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages that may be longer than the grid: drawn into a grid as tall as they need, of which a window is shown. And text that is wrapped
 * instead of cut. */
#pragma once
#include "page.h"

struct flow {
	struct grid g; /* at least ->row rows are there */
	int row;       /* the next free one */
};

void flow_init(struct flow *, int cols);
void flow_free(struct flow *);
/* There are at least n rows from ->row on. ->row stays. */
void flow_room(struct flow *, int n);
/* Text broken at blanks (a word that is too long: anywhere) into rows of `width` columns, from (row, col) on. Returns rows taken, at least 1. */
int flow_wrap(struct flow *, int row, int col, int width, enum role, const char *text);
/* The same at ->row, which moves below it. */
void flow_text(struct flow *, int col, int width, enum role, const char *text);
/* Copy rows of the flow to rows [row, row + rows) of `to`, from row `top` on or as far down as there are rows to fill the window, and say so in
 * *out (may be NULL). */
void flow_show(const struct flow *, struct grid *to, int row, int rows, int col, unsigned top, struct page_out *out);
/* The first row of a window of `rows` on a list of n that was asked to begin at top. */
unsigned flow_top(unsigned top, unsigned rows, unsigned n);

enum pair_mark { PAIR_FIXED, PAIR_VARIES, PAIR_FOLLOWS }; /* '*' and '+' before the name, and the role of what varies */

/* A name with its value. */
struct pair {
	char *name, *value;
	enum pair_mark mark;
	bool warn;           /* asks for attention */
};
struct pairs {
	struct pair *list;
	unsigned n, cap;
};

/* The new one, valid until the next. */
struct pair *pairs_add(struct pairs *, const char *name, const char *value, enum pair_mark);
void pairs_free(struct pairs *);
/* Beside each other in columns that begin at multiples of 8, those that are too long wrapped; ->row moves below them. */
void flow_pairs(struct flow *, int col, int width, const struct pairs *);
/* Names in one column and values in another, in as many columns of pairs as there is room for, downwards. */
void flow_columns(struct flow *, int col, int width, const struct pairs *);
