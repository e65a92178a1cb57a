/* SPDX-License-Identifier: BSD-3-Clause */
/* Prepares columns: where the values of each field come from and where their words go. */
#include "run_new.h"

#include <stdlib.h>

/* True if all frames are of one stream and vary in the same way: they may differ in their sizes and
 * in bytes that do not vary. */
static bool run_make_cols_alike(const struct run_make *m)
{
	const struct frun *f = &m->f;
	const struct run_recipe *a = &f->recipe[0];

	for (unsigned k = 1; k < f->ncycle; k++)
		if (m->spec->cycle[k].stream != m->spec->cycle[0].stream)
			return false;
	for (uint32_t i = 0; i < f->nrecipes; i++) {
		const struct run_recipe *b = &f->recipe[i];
		if (b->nvars != a->nvars || b->nsums != a->nsums || b->random != a->random ||
		    b->hdr_len != a->hdr_len || b->block != a->block || !b->linear)
			return false;
		for (unsigned v = 0; v < a->nvars; v++) {
			const struct run_var *x = &f->var[a->var + v], *y = &f->var[b->var + v];
			if (x->bit != y->bit || x->bits != y->bits || x->base != y->base ||
			    !vary_equal(&x->v, &y->v))
				return false;
		}
		for (unsigned c = 0; c < a->nsums; c++) {
			const struct frame_sum *x = &f->sum[a->sum + c].s,
					       *y = &f->sum[b->sum + c].s;
			if (x->crc32c || y->crc32c || x->off != y->off || x->off % 2 != 0 ||
			    x->zero_is_none != y->zero_is_none ||
			    f->pay_coef[a->pay_coef + c] != f->pay_coef[b->pay_coef + c])
				return false;
		}
		if (a->nsums != 0 && a->nvars != 0 &&
		    memcmp(f->coef + a->coef, f->coef + b->coef,
			   (size_t)a->nsums * a->nvars * sizeof(*f->coef)) != 0)
			return false;
	}
	return a->nvars <= RUN_COL_VARS && a->nsums <= RUN_COL_SUMS;
}

static void run_make_cols_limbs(vary_u x, unsigned shift, uint32_t *out)
{
	for (unsigned l = 0; l < 4; l++)
		out[l] = (uint32_t)(x << shift >> 32 * l);
	out[4] = shift != 0 ? (uint32_t)(x >> (128 - shift)) : 0;
}

/* The values are bits of random words: fixed | (r >> down) & mask. */
static void source_bits(struct run_col_var *c, unsigned nrandom, unsigned down, vary_u mask,
			vary_u fixed)
{
	c->source = SOURCE_BITS;
	c->nrandom = (uint8_t)nrandom;
	c->up = (int16_t)(c->shift - (int)down);
	run_make_cols_limbs(mask, c->shift, c->mask);
	run_make_cols_limbs(fixed, c->shift, c->fixed);
}

static void source_random(struct run_col_var *c, const struct vary *v, unsigned bits)
{
	vary_u top = v->hi - v->lo;
	unsigned nrandom = vary_words(top), width = 0;

	while (width < 128 && top >> width != 0)
		width++;
	if ((top & (top + 1)) == 0 && (v->lo & top) == 0)
		source_bits(c, nrandom, 32 * nrandom - width, top, v->lo);
	else if (nrandom == 1 && bits <= 32) {
		c->source = SOURCE_SPAN;
		c->nrandom = 2;
		c->low = (uint32_t)v->lo;
		c->span = (uint32_t)top + 1;
	}
}

static void run_make_cols_source(struct run_col_var *c, const struct run_var *var)
{
	const struct vary *v = &var->v;

	c->shift = (uint8_t)((16 - (var->bit + var->bits) % 16) % 16);
	c->words = (uint8_t)((var->bits + c->shift + 15) / 16);
	c->limbs = (uint8_t)((var->bits + c->shift + 31) / 32);
	c->source = SOURCE_ANY;
	if (v->div > 1 || v->kind == VARY_RANGE || v->kind == VARY_FIXED ||
	    (v->kind == VARY_RANDOM && v->lo == v->hi))
		c->source = SOURCE_STEP;
	else if (v->kind == VARY_LIST)
		c->source = SOURCE_LIST;
	else if (v->kind == VARY_MASK)
		source_bits(c,
			    var->bits > 64   ? 4
			    : var->bits > 32 ? 2
					     : 1,
			    0, v->mask, v->first & ~v->mask);
	else
		source_random(c, v, var->bits);
	for (unsigned w = 0; w < c->nrandom; w++)
		c->key[w] = vary_key(v->seed, w, 0);
}

static int by_place(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* The places of the words of all fields and sums, ascending, each one once. Returns how many there
 * are. */
static unsigned run_make_cols_places(const struct frun *f, const struct run_cols *k, uint32_t *out)
{
	const struct run_recipe *p = &f->recipe[0];
	unsigned n = 0, all = 0;

	for (unsigned v = 0; v < k->nvars; v++) {
		const struct run_var *var = &f->var[p->var + v];
		for (unsigned t = 0; t < k->var[v].words; t++)
			out[all++] = (run_at(f, (var->bit + var->bits - 1) / 8) & ~1u) - 2 * t;
	}
	for (unsigned c = 0; c < k->nsums; c++)
		out[all++] = run_at(f, f->sum[p->sum + c].s.off);
	qsort(out, all, sizeof(*out), by_place);
	for (unsigned i = 0; i < all; i++)
		if (i == 0 || out[i] != out[n - 1])
			out[n++] = out[i];
	return n;
}

static uint8_t col_of(const struct run_cols *k, uint32_t at)
{
	unsigned s = 0;

	while (k->col_at[s] != at)
		s++;
	return (uint8_t)s;
}

/* Makes rows of up to 8 words of the same line. False: there are too many. */
static bool make_rows(const struct frun *f, struct run_cols *k)
{
	uint32_t at[RUN_COL_VARS * 2 * RUN_COL_LIMBS + RUN_COL_SUMS];
	unsigned n = run_make_cols_places(f, k, at), used = 0;

	memset(k->col_at, 0xff, sizeof(k->col_at));
	memset(k->pick, 0x80, sizeof(k->pick));
	for (unsigned i = 0; i < n; i++) {
		uint32_t line = at[i] / RUN_LINE;
		if (k->nrows == 0 || used == 8 || k->row_line[k->nrows - 1] != line) {
			if (k->nrows == RUN_COL_ROWS)
				return false;
			k->row_line[k->nrows++] = (uint16_t)line;
			used = 0;
		}
		unsigned row = k->nrows - 1;
		k->col_at[8 * row + used] = at[i];
		k->pick[row][at[i] % RUN_LINE] = (uint8_t)(2 * used + 1);
		k->pick[row][at[i] % RUN_LINE + 1] = (uint8_t)(2 * used);
		used++;
	}
	k->narrow = k->nrows == 1 && n <= 4;
	k->ncols = k->narrow ? 4 : 8 * k->nrows;
	return true;
}

static void make_sums(const struct frun *f, struct run_cols *k)
{
	const struct run_recipe *p = &f->recipe[0];

	for (unsigned c = 0; c < k->nsums; c++) {
		const struct frame_sum *s = &f->sum[p->sum + c].s;
		k->sum[c].col = col_of(k, run_at(f, s->off));
		k->sum[c].zero_is_none = s->zero_is_none;
		/* coef is for the number, ratio for its words: these hold it times 2^shift, and
		 * 2^16 is 1 mod 65535 */
		for (unsigned v = 0; v < k->nvars; v++)
			k->sum[c].ratio[v] =
				(uint16_t)((uint64_t)f->coef[p->coef + c * p->nvars + v] *
					   (1u << (16 - k->var[v].shift)) % 65535);
		k->sum[c].ratio[k->nvars] = f->pay_coef[p->pay_coef + c];
	}
}

/* Makes the templates of the lanes, with 0 where columns go, and the sums of the rest. */
static void make_lanes(struct frun *f, const struct run_cols *k)
{
	size_t size = (size_t)f->nlines * RUN_LINE, lanes = f->lanes + (size_t)RUN_OVER;

	f->lane_line = xcalloc(lanes, size);
	f->lane_base = xcalloc(lanes * k->nsums + 1, sizeof(*f->lane_base));
	for (size_t l = 0; l < lanes; l++) {
		const struct run_recipe *p = &f->recipe[f->slot[l % f->own].recipe];
		uint8_t *lines = f->lane_line + l * size;
		memcpy(lines, f->line + p->line, size);
		for (unsigned v = 0; v < k->nvars; v++) {
			const struct run_var *var = &f->var[p->var + v];
			bits_put(lines, run_at(f, var->bit / 8) * 8 + var->bit % 8, var->bits, 0);
		}
		for (unsigned c = 0; c < k->nsums; c++) {
			memset(lines + run_at(f, f->sum[p->sum + c].s.off), 0, 2);
			uint32_t base = f->sum[p->sum + c].base;
			f->lane_base[c * lanes + l] = (uint16_t)(base != 0 ? base : 65535);
		}
	}
}

bool run_make_cols(struct run_make *m)
{
	struct frun *f = &m->f;
	const struct run_recipe *p = &f->recipe[0];

	if (!run_make_cols_alike(m))
		return false;
	struct run_cols *k =
		aligned_alloc(CACHE_LINE, (sizeof(*k) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
	if (k == NULL)
		return false;
	memset(k, 0, sizeof(*k));
	k->nvars = p->nvars;
	k->nsums = p->nsums;
	k->random = p->random;
	k->block = p->block;
	k->hdr_len = p->hdr_len;
	for (unsigned v = 0; v < k->nvars; v++) {
		k->var[v].var = p->var + v;
		run_make_cols_source(&k->var[v], &f->var[p->var + v]);
	}
	if (!make_rows(f, k)) {
		free(k);
		return false;
	}
	bool taken[RUN_COL_COUNT] = {false};
	for (unsigned v = 0; v < k->nvars; v++) {
		const struct run_var *var = &f->var[p->var + v];
		for (unsigned t = 0; t < k->var[v].words; t++) {
			uint8_t col = col_of(k, (run_at(f, (var->bit + var->bits - 1) / 8) & ~1u) -
							2 * t);
			k->var[v].col[t] = col;
			k->var[v].first |= (uint16_t)(!taken[col] << t);
			taken[col] = true;
		}
	}
	make_sums(f, k);
	f->cols = k;
	make_lanes(f, k);
	return true;
}
