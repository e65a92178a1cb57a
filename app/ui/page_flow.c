/* SPDX-License-Identifier: BSD-3-Clause */
#include "page_flow.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROWS 64
#define STEP 8 /* columns of pairs begin at multiples of this */
#define GAP 2

void flow_init(struct flow *f, int cols)
{
	grid_init(&f->g, FIRST_ROWS, cols);
	f->row = 0;
}

void flow_free(struct flow *f)
{
	grid_free(&f->g);
	f->row = 0;
}

void flow_room(struct flow *f, int n)
{
	struct grid taller;

	if (f->row + n <= f->g.rows)
		return;
	grid_init(&taller, 2 * (f->row + n), f->g.cols);
	memcpy(taller.cell, f->g.cell, (size_t)f->g.rows * (size_t)f->g.cols * sizeof(*f->g.cell));
	grid_free(&f->g);
	f->g = taller;
}

/* Returns how many bytes the character at p has. */
static size_t char_bytes(const char *p)
{
	size_t n = 1;

	while (((unsigned char)p[n] & 0xc0) == 0x80)
		n++;
	return n;
}

/* Moves the next line of at most `width` columns from *at into out. Returns false when nothing is
 * left. */
static bool next_line(const char **at, int width, struct sbuf *out)
{
	const char *p = *at + strspn(*at, " ");
	size_t fits = 0, blank = 0;
	int cols = 0;

	sbuf_reset(out);
	if (*p == '\0')
		return false;
	while (p[fits] != '\0') {
		size_t n = char_bytes(p + fits);
		sbuf_reset(out);
		sbuf_addn(out, p + fits, n);
		cols += grid_width(sbuf_str(out));
		if (cols > width && fits > 0)
			break;
		if (p[fits] == ' ')
			blank = fits;
		fits += n;
	}
	sbuf_reset(out);
	if (p[fits] != '\0' && p[fits] != ' ' && blank > 0)
		fits = blank;
	sbuf_addn(out, p, fits);
	*at = p + fits;
	return true;
}

int flow_wrap(struct flow *f, int row, int col, int width, enum role role, const char *text)
{
	struct sbuf line = {0};
	int n = 0, keep = f->row;

	if (width < 1)
		width = 1;
	while (next_line(&text, width, &line)) {
		f->row = row + n;
		flow_room(f, 1);
		grid_put(&f->g, row + n, col, width, role, sbuf_str(&line));
		n++;
	}
	f->row = row;
	flow_room(f, n > 0 ? n : 1);
	f->row = keep;
	sbuf_free(&line);
	return n > 0 ? n : 1;
}

void flow_text(struct flow *f, int col, int width, enum role role, const char *text)
{
	f->row += flow_wrap(f, f->row, col, width, role, text);
}

unsigned flow_top(unsigned top, unsigned rows, unsigned n)
{
	if (rows >= n)
		return 0;
	return top < n - rows ? top : n - rows;
}

void flow_show(const struct flow *f, struct grid *to, int row, int rows, int col, unsigned top,
	       struct page_out *out)
{
	unsigned all = (unsigned)f->row, room = rows > 0 ? (unsigned)rows : 0;
	unsigned first = flow_top(top, room, all), n = all - first < room ? all - first : room;

	for (unsigned r = 0; r < n; r++)
		for (int c = 0; c < f->g.cols && col + c < to->cols; c++)
			to->cell[(row + (int)r) * to->cols + col + c] =
				f->g.cell[(int)(first + r) * f->g.cols + c];
	if (out != NULL) {
		out->top = first;
		out->rows = n;
		out->all = all;
	}
}

struct pair *pairs_add(struct pairs *p, const char *name, const char *value, enum pair_mark mark)
{
	if (p->n == p->cap) {
		p->cap = p->cap > 0 ? 2 * p->cap : 16;
		p->list = xrealloc(p->list, p->cap * sizeof(*p->list));
	}
	p->list[p->n++] =
		(struct pair){.name = xstrdup(name), .value = xstrdup(value), .mark = mark};
	return &p->list[p->n - 1];
}

void pairs_free(struct pairs *p)
{
	for (unsigned i = 0; i < p->n; i++) {
		free(p->list[i].name);
		free(p->list[i].value);
	}
	free(p->list);
	*p = (struct pairs){0};
}

static const char *const marks[] = {[PAIR_FIXED] = " ", [PAIR_VARIES] = "*", [PAIR_FOLLOWS] = "+"};

static enum role label_role(const struct pair *x)
{
	return x->mark == PAIR_FIXED ? ROLE_STAT_LABEL : ROLE_VARIES;
}

static enum role value_role(const struct pair *x)
{
	return x->warn ? ROLE_WARN : x->mark == PAIR_FIXED ? ROLE_STAT_VALUES : ROLE_VARIES;
}

void flow_pairs(struct flow *f, int col, int width, const struct pairs *p)
{
	int at = 0;

	for (unsigned i = 0; i < p->n; i++) {
		const struct pair *x = &p->list[i];
		int name = grid_width(x->name), need = 1 + name + 1 + grid_width(x->value);
		if (at > 0 && at + need > width) {
			f->row++;
			at = 0;
		}
		flow_room(f, 1);
		grid_put(&f->g, f->row, col + at, 1, label_role(x), marks[x->mark]);
		if (need > width) {
			grid_left(&f->g, f->row, col + 1, width - 1, label_role(x), x->name);
			bool below = name + 2 >= width / 2;
			int shift = below ? 2 : name + 2;
			if (below)
				f->row++;
			f->row += flow_wrap(f, f->row, col + shift, width - shift, value_role(x),
					    x->value);
			continue;
		}
		grid_put(&f->g, f->row, col + at + 1, name, label_role(x), x->name);
		grid_put(&f->g, f->row, col + at + 1 + name + 1, width - at, value_role(x),
			 x->value);
		at = (at + need + GAP - 1 + STEP - 1) / STEP * STEP;
	}
	if (at > 0)
		f->row++;
}

void flow_columns(struct flow *f, int col, int width, const struct pairs *p)
{
	int name = 0, value = 0, tallest = 0;

	for (unsigned i = 0; i < p->n; i++) {
		int n = grid_width(p->list[i].name), v = grid_width(p->list[i].value);
		name = n > name ? n : name;
		value = v > value ? v : value;
	}
	int need = 1 + name + GAP + value;
	if (p->n == 0)
		return;
	/* There is no room for a single such column: each pair takes the rows that it needs. */
	if (need > width) {
		for (unsigned i = 0; i < p->n; i++)
			flow_pairs(f, col, width, &(struct pairs){.list = &p->list[i], .n = 1});
		return;
	}
	int across = (width + GAP) / (need + GAP), down = ((int)p->n + across - 1) / across;
	flow_room(f, down);
	for (int i = 0; i < (int)p->n; i++) {
		const struct pair *x = &p->list[i];
		int c = col + i / down * (need + GAP), r = f->row + i % down;
		grid_put(&f->g, r, c, 1, label_role(x), marks[x->mark]);
		grid_put(&f->g, r, c + 1, name, label_role(x), x->name);
		grid_put(&f->g, r, c + 1 + name + GAP, value, value_role(x), x->value);
		tallest = i % down + 1 > tallest ? i % down + 1 : tallest;
	}
	f->row += tallest;
}
