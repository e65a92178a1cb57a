/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/frame, a part of run_body.h: columns. Values of the burst are made field by field in loops over the frames, in 16-bit words
 * that lie as in the frame; sums are added up beside them; at the end each frame's words are picked into its template and stored at once. */
#pragma once

/* Vectors of 32-bit values; half as many of them as of words. */
typedef uint32_t dvec __attribute__((vector_size(RUN_VB), may_alias));
typedef uint32_t dvec_any __attribute__((vector_size(RUN_VB), aligned(4), may_alias));
typedef uint16_t wvec __attribute__((vector_size(RUN_VB), may_alias));
#define NDVEC (RUN_VB / 4)
#define NWVEC (RUN_VB / 2)
#define DV(array, j) (*(dvec *)(void *)&(array)[j])
#define WV(array, j) (*(wvec *)(void *)&(array)[j])
#define COUNT_UP (*(const dvec_any *)(const void *)run_count_up)

/* The even or the odd words of two vectors, one after the other. */
#if RUN_VB == 64
#define EVERY_OTHER(n) \
	(n), (n) + 2, (n) + 4, (n) + 6, (n) + 8, (n) + 10, (n) + 12, (n) + 14, (n) + 16, (n) + 18, (n) + 20, (n) + 22, (n) + 24, (n) + 26, \
		(n) + 28, (n) + 30, (n) + 32, (n) + 34, (n) + 36, (n) + 38, (n) + 40, (n) + 42, (n) + 44, (n) + 46, (n) + 48, (n) + 50, (n) + 52, \
		(n) + 54, (n) + 56, (n) + 58, (n) + 60, (n) + 62
#elif RUN_VB == 32
#define EVERY_OTHER(n) \
	(n), (n) + 2, (n) + 4, (n) + 6, (n) + 8, (n) + 10, (n) + 12, (n) + 14, (n) + 16, (n) + 18, (n) + 20, (n) + 22, (n) + 24, (n) + 26, (n) + 28, \
		(n) + 30
#else
#define EVERY_OTHER(n) (n), (n) + 2, (n) + 4, (n) + 6, (n) + 8, (n) + 10, (n) + 12, (n) + 14
#endif
#ifdef __clang__
#define HALVES(x, y, n) ((wvec)__builtin_shufflevector((vec)(x), (vec)(y), EVERY_OTHER(n)))
#else
#define HALVES(x, y, n) ((wvec)__builtin_shuffle((vec)(x), (vec)(y), (vec){EVERY_OTHER(n)}))
#endif

/* Frames are made NWVEC at a time: a column is one vector. n of them are wanted, the others are thrown away. */
struct col_burst {
	WR_ALIGNED(CACHE_LINE) uint32_t limb[RUN_COL_LIMBS][NWVEC];
	uint32_t random[4][NWVEC], index[NWVEC];
	uint16_t col[RUN_COL_SLOTS][NWVEC];
	uint16_t acc[RUN_COL_SUMS][NWVEC];
	uint16_t words[NWVEC];
	uint8_t row[RUN_COL_ROWS][NWVEC * 16]; /* in the order of frame_row() */
};

/* One's complement addition of 16 bits: a += b. The comparison is -1 where it carried. */
#define ADD_ONES(a, b) \
	do { \
		__typeof__(a) add_ = (b); \
		(a) += add_; \
		(a) -= (__typeof__(a))((a) < add_); \
	} while (0)

/* ---- words ---- */

BODY void col_put(struct col_burst *b, const struct run_col_var *v, unsigned t, wvec w)
{
	wvec *col = &WV(b->col[v->slot[t]], 0);

	if (v->first >> t & 1)
		*col = w;
	else
		*col |= w;
}

/* The words of a field of one limb, out of registers, and their sum; x: those of the first half of the values, y: of the second. */
#define COL_EMIT(sum, b, v, x, y) \
	do { \
		(sum) = HALVES(x, y, 0); \
		col_put(b, v, 0, sum); \
		if ((v)->words > 1) { \
			wvec w_ = HALVES(x, y, 1); \
			col_put(b, v, 1, w_); \
			ADD_ONES(sum, w_); \
		} \
	} while (0)

/* The same of any field, out of its limbs. */
BODY void col_words(struct col_burst *b, const struct run_col_var *v, wvec *out)
{
	wvec sum = {0};

	for (unsigned t = 0; t < v->words; t++) {
		const uint32_t *limb = b->limb[t / 2];
		wvec w = t % 2 == 0 ? HALVES(DV(limb, 0), DV(limb, NDVEC), 0) : HALVES(DV(limb, 0), DV(limb, NDVEC), 1);
		col_put(b, v, t, w);
		ADD_ONES(sum, w);
	}
	*out = sum;
}

/* ---- values ---- */

BODY void limbs_of(struct col_burst *b, const struct run_col_var *v, unsigned j, vary_u x)
{
	vary_u top = v->shift != 0 ? x >> (128 - v->shift) : 0;

	x <<= v->shift;
	for (unsigned l = 0; l < v->limbs; l++)
		b->limb[l][j] = l < 4 ? (uint32_t)(x >> 32 * l) : (uint32_t)top;
}

/* Ordinals of random values, all with the same upper half; false: they are not. */
BODY bool col_index(const struct frun *f, struct col_burst *b, const struct run_col_var *v, uint64_t own, uint64_t *high)
{
	const struct vary *vary = &f->var[v->var].v;
	uint32_t step = f->nqueues;

	if (vary->repeat == 0) {
		dvec o = COUNT_UP * step + (uint32_t)own;
		*high = own >> 32;
		DV(b->index, 0) = o;
		DV(b->index, NDVEC) = o + step * NDVEC;
		return (own + (uint64_t)NWVEC * step) >> 32 == *high;
	}
	if (vary->repeat >> 32 != 0)
		return false;
	uint32_t repeat = (uint32_t)vary->repeat, q = (uint32_t)(own % repeat);
	step %= repeat;
	*high = 0;
	for (unsigned j = 0; j < NWVEC; j++) {
		b->index[j] = q;
		q = repeat - q > step ? q + step : q - (repeat - step);
	}
	return true;
}

#define RANDOM_OF(x, index, key) \
	do { \
		(x) = (index) + (uint32_t)(key); \
		(x) = ((x) ^ (x) >> 16) * 0x7feb352du; \
		(x) = ((x) ^ (x) >> 15) * 0x846ca68bu; \
		(x) = ((x) ^ (x) >> 16) ^ (uint32_t)((key) >> 32); \
	} while (0)

BODY bool col_random(const struct frun *f, struct col_burst *b, const struct run_col_var *v, uint64_t own)
{
	uint64_t high;

	if (!col_index(f, b, v, own, &high))
		return false;
	for (unsigned w = 0; w < v->nrandom; w++) {
		uint64_t key = high == 0 ? v->key[w] : vary_key(f->var[v->var].v.seed, w, high << 32);
		uint32_t *r = b->random[v->nrandom - 1 - w];
		RANDOM_OF(DV(r, 0), DV(b->index, 0), key);
		RANDOM_OF(DV(r, NDVEC), DV(b->index, NDVEC), key);
	}
	return true;
}

BODY void col_bits(struct col_burst *b, const struct run_col_var *v)
{
	for (int l = 0; l < v->limbs; l++) {
		int from = 32 * l - v->up, q = (from + 320) / 32 - 10;
		unsigned r = (unsigned)(from - 32 * q);
		bool low = q >= 0 && q < v->nrandom, next = r != 0 && q + 1 >= 0 && q + 1 < v->nrandom;
		for (unsigned j = 0; j < NWVEC; j += NDVEC) {
			dvec x = {0};
			if (low)
				x = DV(b->random[q], j) >> r;
			if (next)
				x |= DV(b->random[q + 1], j) << (32 - r);
			DV(b->limb[l], j) = (x & v->mask[l]) | v->fixed[l];
		}
	}
}

/* The usual case: one random word, one limb, nothing but registers between. */
BODY bool col_bits_small(const struct frun *f, struct col_burst *b, const struct run_col_var *v, uint64_t own, wvec *out)
{
	uint32_t step = f->nqueues, mask = v->mask[0], fixed = v->fixed[0];
	unsigned up = v->up > 0 ? (unsigned)v->up : 0, down = v->up < 0 ? (unsigned)-v->up : 0;
	dvec o = COUNT_UP * step + (uint32_t)own, x, y;
	uint64_t key = v->key[0];
	wvec sum;

	if (v->limbs != 1 || v->nrandom != 1 || f->var[v->var].v.repeat != 0 || (own + (uint64_t)NWVEC * step) >> 32 != 0)
		return false;
	RANDOM_OF(x, o, key);
	RANDOM_OF(y, o + NDVEC * step, key);
	x = ((x >> down << up) & mask) | fixed;
	y = ((y >> down << up) & mask) | fixed;
	COL_EMIT(sum, b, v, x, y);
	*out = sum;
	return true;
}

BODY void col_span(struct col_burst *b, const struct run_col_var *v)
{
	uint32_t low = v->low, span = v->span, up = v->shift;

	for (unsigned j = 0; j < NWVEC; j++)
		b->limb[0][j] = (uint32_t)((uint64_t)b->random[0][j] * span >> 32);
	for (unsigned j = 0; j < NWVEC; j += NDVEC) {
		dvec x = DV(b->limb[0], j) + low;
		DV(b->limb[0], j) = x << up;
		if (v->limbs > 1)
			DV(b->limb[1], j) = x >> (32 - up);
	}
}

BODY void col_list(const struct frun *f, struct col_burst *b, const struct run_col_var *v, uint64_t own)
{
	const struct vary *vary = &f->var[v->var].v;
	uint32_t q = (uint32_t)(own % vary->n), step = f->nqueues % vary->n, up = v->shift;

	for (unsigned j = 0; j < NWVEC; j++) {
		if (v->limbs == 1)
			b->limb[0][j] = (uint32_t)vary->list[q] << up;
		else
			limbs_of(b, v, j, vary->list[q]);
		q += step;
		q -= q >= vary->n ? vary->n : 0;
	}
}

BODY void col_step(const struct frun *f, struct run_state *st, struct col_burst *b, const struct run_col_var *v, unsigned which, uint64_t o,
		   unsigned n)
{
	struct run_segment *s = (struct run_segment *)(void *)st->rest + which;

	for (unsigned j = 0; j < n; j++) {
		if (s->left == 0)
			run_col_segment(f, st, v, o + (uint64_t)j * f->nqueues, s);
		limbs_of(b, v, j, s->x);
		s->x += s->delta;
		s->left--;
	}
}

/* The usual case of it. */
BODY bool col_step_small(struct run_state *st, struct col_burst *b, const struct run_col_var *v, unsigned which, unsigned n, wvec *out)
{
	struct run_segment *s = (struct run_segment *)(void *)st->rest + which;
	uint32_t delta = (uint32_t)s->delta << v->shift;
	dvec x = COUNT_UP * delta + ((uint32_t)s->x << v->shift);
	wvec sum;

	if (s->left < n || v->limbs != 1)
		return false;
	COL_EMIT(sum, b, v, x, x + NDVEC * delta);
	s->x += s->delta * n;
	s->left -= n;
	*out = sum;
	return true;
}

/* The values of field number `which` for the next n frames, into their columns; sum: of their words. */
BODY void col_values(const struct frun *f, struct run_state *st, struct col_burst *b, unsigned which, uint64_t o, unsigned n, wvec *sum)
{
	const struct run_col_var *v = &f->cols->var[which];
	uint64_t own = o - st->base[f->var[v->var].slot];

	switch (v->source) {
	case SOURCE_BITS:
		if (col_bits_small(f, b, v, own, sum))
			return;
		if (!col_random(f, b, v, own))
			break;
		col_bits(b, v);
		col_words(b, v, sum);
		return;
	case SOURCE_SPAN:
		if (!col_random(f, b, v, own))
			break;
		col_span(b, v);
		col_words(b, v, sum);
		return;
	case SOURCE_STEP:
		if (col_step_small(st, b, v, which, n, sum))
			return;
		col_step(f, st, b, v, which, o, n);
		col_words(b, v, sum);
		return;
	case SOURCE_LIST:
		col_list(f, b, v, own);
		col_words(b, v, sum);
		return;
	case SOURCE_ANY:
		break;
	}
	for (unsigned j = 0; j < n; j++)
		limbs_of(b, v, j, vary_at(&f->var[v->var].v, own + (uint64_t)j * f->nqueues));
	col_words(b, v, sum);
}

/* ---- sums ---- */

/* Sums of words times ratio, mod 65535, to acc. */
BODY void col_add(struct col_burst *b, wvec *acc, const wvec *words, uint16_t ratio)
{
	WV(b->words, 0) = *words;
	WV(b->acc[0], 0) = *acc;
	for (unsigned j = 0; j < NWVEC; j++) {
		uint32_t x = (uint32_t)b->words[j] * ratio, y = b->acc[0][j];
		y += (x & 0xffff) + (x >> 16);
		y = (y & 0xffff) + (y >> 16);
		b->acc[0][j] = (uint16_t)((y & 0xffff) + (y >> 16));
	}
	*acc = WV(b->acc[0], 0);
}

BODY void col_sum(struct col_burst *b, wvec *acc, const wvec *words, uint16_t ratio)
{
	if (ratio == 1)
		ADD_ONES(*acc, *words);
	else if (ratio != 0)
		col_add(b, acc, words, ratio);
}

/* Two sums in registers, more of them in memory. */
struct col_accs {
	wvec first, second;
};

BODY void col_sums(const struct run_cols *k, struct col_burst *b, struct col_accs *a, const wvec *words, unsigned which)
{
	col_sum(b, &a->first, words, k->sum[0].ratio[which]);
	col_sum(b, &a->second, words, k->sum[1].ratio[which]);
	for (unsigned c = 2; c < k->nsums; c++) {
		wvec acc = WV(b->acc[c], 0);
		col_sum(b, &acc, words, k->sum[c].ratio[which]);
		WV(b->acc[c], 0) = acc;
	}
}

BODY void col_window(const struct frun *f, const struct run_state *st, struct col_burst *b, uint64_t o, unsigned n)
{
	const struct run_block *block = f->cols->block;

	for (unsigned j = 0; j < n; j++) {
		unsigned w = (unsigned)((o + (uint64_t)j * f->nqueues) * FRAME_RANDOM_STEP % FRAME_RANDOM_WINDOWS);
		uint64_t sum = run_window_sum(block, w, f->lane_len[st->lane + j] - f->cols->hdr_len);
		sum = (sum >> 32) + (uint32_t)sum;
		sum = (sum >> 16) + (sum & 0xffff);
		sum = (sum >> 16) + (sum & 0xffff);
		b->index[j] = w;
		b->words[j] = (uint16_t)((sum >> 16) + (sum & 0xffff));
	}
}

BODY void col_finish(const struct run_cols *k, struct col_burst *b, unsigned c, const wvec *acc)
{
	wvec h = ~*acc;

	if (k->sum[c].zero_is_none)
		h |= (wvec)(h == 0);
	if (c < k->nsums)
		WV(b->col[k->sum[c].slot], 0) = h;
}

/* The columns of the next n frames. On its own: in one function with the stores it was a quarter slower. */
static __attribute__((noinline)) RUN_TARGET void cols_make(const struct frun *f, struct run_state *st, struct col_burst *b, unsigned n)
{
	const struct run_cols *k = f->cols;
	uint64_t o = st->o0[f->plan[0].stream] + f->first + st->pos * f->nqueues;
	size_t lanes = f->lanes + (size_t)RUN_OVER;
	const uint16_t *base = f->lane_base + st->lane;
	struct col_accs a = {{0}, {0}};
	wvec sum;

	if (k->nsums > 0)
		a.first = (wvec) * (const vec_any *)(const void *)base;
	if (k->nsums > 1)
		a.second = (wvec) * (const vec_any *)(const void *)(base + lanes);
	for (unsigned c = 2; c < k->nsums; c++)
		WV(b->acc[c], 0) = (wvec) * (const vec_any *)(const void *)(base + c * lanes);
	for (unsigned v = 0; v < k->nvars; v++) {
		col_values(f, st, b, v, o, n, &sum);
		col_sums(k, b, &a, &sum, v);
	}
	if (k->random) {
		col_window(f, st, b, o, n);
		sum = WV(b->words, 0);
		col_sums(k, b, &a, &sum, k->nvars);
	}
	col_finish(k, b, 0, &a.first);
	col_finish(k, b, 1, &a.second);
	for (unsigned c = 2; c < k->nsums; c++)
		col_finish(k, b, c, &WV(b->acc[c], 0));
}

/* ---- rows: the words of a frame side by side ---- */

#ifdef RUN_PICK
#define MM(a, op, b) ((wvec)RUN_MM(op)((RUN_MI)(a), (RUN_MI)(b)))

/* Four columns: the words of two frames side by side in every 16 bytes. */
BODY void rows_narrow(struct col_burst *b)
{
	wvec a = WV(b->col[0], 0), c = WV(b->col[1], 0), d = WV(b->col[2], 0), e = WV(b->col[3], 0);
	wvec low = MM(a, unpacklo_epi16, c), high = MM(a, unpackhi_epi16, c);
	wvec low2 = MM(d, unpacklo_epi16, e), high2 = MM(d, unpackhi_epi16, e), *out = (wvec *)(void *)b->row[0];

	out[0] = MM(low, unpacklo_epi32, low2);
	out[1] = MM(low, unpackhi_epi32, low2);
	out[2] = MM(high, unpacklo_epi32, high2);
	out[3] = MM(high, unpackhi_epi32, high2);
}

/* Eight: those of one. */
BODY void rows_wide(struct col_burst *b, unsigned row)
{
	wvec x[8], y[8], *out = (wvec *)(void *)b->row[row];

	for (unsigned i = 0; i < 4; i++) {
		wvec a = WV(b->col[8 * row + 2 * i], 0), c = WV(b->col[8 * row + 2 * i + 1], 0);
		x[i] = MM(a, unpacklo_epi16, c);
		x[4 + i] = MM(a, unpackhi_epi16, c);
	}
	for (unsigned i = 0; i < 8; i += 2) {
		y[i] = MM(x[i], unpacklo_epi32, x[i + 1]);
		y[i + 1] = MM(x[i], unpackhi_epi32, x[i + 1]);
	}
	for (unsigned i = 0; i < 8; i += 4)
		for (unsigned p = 0; p < 2; p++) {
			out[i + 2 * p] = MM(y[i + p], unpacklo_epi64, y[i + p + 2]);
			out[i + 2 * p + 1] = MM(y[i + p], unpackhi_epi64, y[i + p + 2]);
		}
}

/* Where the words of frame 8 lane + i lie in a row: vectors interleave by 16 bytes, each of which keeps its 8 frames. */
BODY unsigned frame_row(unsigned lane, unsigned i, bool narrow)
{
	return narrow ? i / 2 * RUN_VB + lane * 16 + i % 2 * 8 : i * RUN_VB + lane * 16;
}

BODY void store_narrow(const struct frun *f, const uint8_t *src, const uint8_t *row, const uint16_t *len, void *const *obj, bool lens,
		       unsigned lane, unsigned n)
{
	uint32_t at = f->write_off, off16 = f->len16_off, off32 = f->len32_off;
	vec pick[NVEC];

	for (unsigned i = 0; i < NVEC; i++)
		pick[i] = ((const vec_any *)f->cols->pick[0])[i];
#pragma GCC unroll 8
	for (unsigned j = 0; j < n; j++) {
		uint8_t *o = obj[j];
		for (unsigned i = 0; i < NVEC; i++)
			((vec_any *)(o + at))[i] =
				RUN_PICK8(row + frame_row(lane, j, true), pick[i]) | ((const vec_any *)(src + (size_t)j * RUN_LINE))[i];
		if (lens)
			put_lens(o, off16, off32, len[j]);
	}
}

BODY void store_wide(const struct frun *f, const uint8_t *src, const struct col_burst *b, const uint16_t *len, void *const *obj, bool lens,
		     unsigned lane, unsigned n)
{
	uint32_t at = f->write_off, off16 = f->len16_off, off32 = f->len32_off;
	unsigned nrows = f->cols->nrows;

	for (unsigned j = 0; j < n; j++) {
		uint8_t *o = obj[j];
		for (unsigned i = 0; i < NVEC; i++) {
			vec x = ((const vec_any *)(src + (size_t)j * RUN_LINE))[i];
			for (unsigned r = 0; r < nrows; r++)
				x |= RUN_PICK(b->row[r] + frame_row(lane, j, false), ((const vec_any *)f->cols->pick[r])[i]);
			((vec_any *)(o + at))[i] = x;
		}
		if (lens)
			put_lens(o, off16, off32, len[j]);
	}
}

/* Eight frames at a time, those of one 16-byte lane. */
BODY void store_cols(const struct frun *f, const struct run_state *st, struct col_burst *b, void *const *obj, bool lens, unsigned n)
{
	const uint8_t *src = f->lane_line + (size_t)st->lane * RUN_LINE;
	const uint16_t *len = f->lane_len + st->lane;
	bool narrow = f->cols->narrow;

	if (narrow)
		rows_narrow(b);
	for (unsigned r = 0; !narrow && r < f->cols->nrows; r++)
		rows_wide(b, r);
	for (unsigned g = 0; g < n; g += 8, src += 8 * RUN_LINE, len += 8) {
		if (narrow && n - g >= 8)
			store_narrow(f, src, b->row[0], len, obj + g, lens, g / 8, 8);
		else if (narrow)
			store_narrow(f, src, b->row[0], len, obj + g, lens, g / 8, n - g);
		else
			store_wide(f, src, b, len, obj + g, lens, g / 8, n - g < 8 ? n - g : 8);
	}
}
#else
/* Without a way to pick bytes: the template, then word by word. */
BODY void store_cols(const struct frun *f, const struct run_state *st, struct col_burst *b, void *const *obj, bool lens, unsigned n)
{
	const uint8_t *src = f->lane_line + (size_t)st->lane * RUN_LINE;

	for (unsigned j = 0; j < n; j++) {
		uint8_t *o = obj[j], *dst = o + f->write_off;
		copy_line(dst, src + (size_t)j * RUN_LINE);
		if (lens)
			put_lens(o, f->len16_off, f->len32_off, f->lane_len[st->lane + j]);
	}
	for (unsigned s = 0; s < 8 * f->cols->nrows; s++) {
		uint32_t at = f->cols->slot_at[s];
		for (unsigned j = 0; at != UINT32_MAX && j < n; j++) {
			uint8_t *dst = (uint8_t *)obj[j] + f->write_off + at;
			uint16_t w = (uint16_t)(src[(size_t)j * RUN_LINE + at] << 8 | src[(size_t)j * RUN_LINE + at + 1]) | b->col[s][j];
			dst[0] = (uint8_t)(w >> 8);
			dst[1] = (uint8_t)w;
		}
	}
}
#endif

/* Several lines, random payload: frame by frame in a copy of its lines. */
BODY void store_lines(const struct frun *f, const struct run_state *st, struct col_burst *b, void *const *obj, unsigned n)
{
	uint32_t size = f->nlines * RUN_LINE;
	const uint8_t *src = f->lane_line + (size_t)st->lane * size;
	const struct run_cols *k = f->cols;

	for (unsigned j = 0; j < n; j++, src += size) {
		uint8_t *o = obj[j], *frame = o + f->data_off;
		unsigned len = f->lane_len[st->lane + j];
		for (uint32_t l = 0; l < f->nlines; l++)
			copy_any(frame, src + l * RUN_LINE, f->line_off[l], len);
		for (unsigned s = 0; s < 8 * k->nrows; s++) {
			uint32_t at = k->slot_at[s];
			if (at == UINT32_MAX)
				continue;
			uint16_t w = (uint16_t)((src[at] << 8 | src[at + 1]) | b->col[s][j]);
			uint32_t to = f->line_off[at / RUN_LINE] + at % RUN_LINE;
			if (to + 2 > len && to + 2 > RUN_SAFE_END) {
				if (to < len)
					frame[to] = (uint8_t)(w >> 8);
				continue;
			}
			frame[to] = (uint8_t)(w >> 8);
			frame[to + 1] = (uint8_t)w;
		}
		if (k->random)
			memcpy(frame + k->hdr_len, k->block->bytes + b->index[j], len - k->hdr_len);
		if (f->len == 0)
			put_lens(o, f->len16_off, f->len32_off, (uint16_t)len);
	}
}

enum cols_kind { COLS_ONE, COLS_LEN, COLS_LINES };

BODY void cols_burst(const struct frun *f, struct run_state *st, void *const *obj, enum cols_kind kind, unsigned n)
{
	struct col_burst burst;

	cols_make(f, st, &burst, n);
	if (kind == COLS_LINES)
		store_lines(f, st, &burst, obj, n);
	else
		store_cols(f, st, &burst, obj, kind == COLS_LEN, n);
	run_advance(f, st, n);
}

BODY void cols_all(const struct frun *f, struct run_state *st, void *const *obj, enum cols_kind kind, unsigned n)
{
	for (; n >= NWVEC; n -= NWVEC, obj += NWVEC)
		cols_burst(f, st, obj, kind, NWVEC);
	if (n != 0)
		cols_burst(f, st, obj, kind, n);
}

ENTRY cols_fill(const struct frun *f, struct run_state *st, void *const *obj, unsigned n)
{
	cols_all(f, st, obj, COLS_ONE, n);
}

ENTRY cols_len_fill(const struct frun *f, struct run_state *st, void *const *obj, unsigned n)
{
	cols_all(f, st, obj, COLS_LEN, n);
}

ENTRY cols_lines_fill(const struct frun *f, struct run_state *st, void *const *obj, unsigned n)
{
	cols_all(f, st, obj, COLS_LINES, n);
}
