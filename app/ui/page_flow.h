/* SPDX-License-Identifier: BSD-3-Clause */
/* A flow is for pages that may be longer than the grid. They draw into a grid of the flow's own,
 * which is as tall as they need, and a window of it is shown. A flow also wraps long text. */
#pragma once
#include "page.h"

struct flow {
	struct grid g; /* it has at least ->row rows */
	int row;       /* the next free row */
};

void flow_init(struct flow *, int cols);
void flow_free(struct flow *);
/* Makes sure that there are at least n rows from ->row on. ->row does not move. */
void flow_room(struct flow *, int n);
/* Puts text from (row, col) on in rows of `width` columns. It is broken at blanks, or anywhere in a
 * word that is too long. Returns how many rows it takes, at least 1. */
int flow_wrap(struct flow *, int row, int col, int width, enum role, const char *text);
/* Does the same at ->row, which moves below the text. */
void flow_text(struct flow *, int col, int width, enum role, const char *text);
/* Copies rows of the flow to the window of rows [row, row + rows) of `to`, from row `top` of the
 * flow on, or from an earlier one that fills the window. *out (may be NULL) says which rows. */
void flow_show(const struct flow *, struct grid *to, int row, int rows, int col, unsigned top,
	       struct page_out *out);
/* Returns where a window of `rows` rows on a list of n rows begins when it shall begin at `top`:
 * there, or earlier if the list would end within the window. */
unsigned flow_top(unsigned top, unsigned rows, unsigned n);

/* A field that varies has a '*' before its name, and one that follows from such fields a '+'. Both
 * are drawn in ROLE_VARIES. */
enum pair_mark { PAIR_FIXED, PAIR_VARIES, PAIR_FOLLOWS };

/* A name with its value. */
struct pair {
	char *name, *value;
	enum pair_mark mark;
	bool warn; /* the value asks for attention */
};
struct pairs {
	struct pair *list;
	unsigned n, cap;
};

/* Adds copies of both texts. Returns the new pair, which is valid until the next one is added. */
struct pair *pairs_add(struct pairs *, const char *name, const char *value, enum pair_mark);
void pairs_free(struct pairs *);
/* Puts the pairs beside each other, in columns that begin at multiples of 8. A pair that is too
 * long is wrapped. ->row moves below them. */
void flow_pairs(struct flow *, int col, int width, const struct pairs *);
/* Puts the pairs below each other, with their values in a column of their own, and in as many such
 * columns of pairs as there is room for. ->row moves below them. */
void flow_columns(struct flow *, int col, int width, const struct pairs *);
