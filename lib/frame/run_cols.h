/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/frame, a part of run_body.h: columns. Values of the burst are made field by field in loops over the frames, in 16-bit words that lie as in
 * the frame; sums are added up beside them; at the end each frame's words are picked into its template and stored at once. */
#pragma once

/* Vectors of 32-bit values, and the 16-bit halves of as many. */
typedef uint32_t dvec __attribute__((vector_size(RUN_VB), may_alias));
typedef uint32_t dvec_any __attribute__((vector_size(RUN_VB), aligned(4), may_alias));
typedef uint16_t hvec __attribute__((vector_size(RUN_VB / 2), may_alias));
#define NDVEC (RUN_VB / 4)
#define NWVEC (RUN_VB / 2)
#define DV(array, j) (*(dvec *)(void *)&(array)[j])
#define HV(array, j) (*(hvec *)(void *)&(array)[j])
#define DVC(array) (*(const dvec_any *)(const void *)(array))
#define WV(array, j) (*(vec_own *)(void *)&(array)[j])
typedef uint16_t vec_own __attribute__((vector_size(RUN_VB), may_alias));

/* Arrays are filled to 32 or 64 values, whatever the burst: `all` below; n are wanted. */
struct col_burst {
	WR_ALIGNED(CACHE_LINE) uint32_t limb[RUN_COL_LIMBS][RUN_COL_BURST];
	uint32_t random[4][RUN_COL_BURST], index[RUN_COL_BURST];
	uint16_t col[RUN_COL_SLOTS][RUN_COL_BURST];
	uint16_t acc[RUN_COL_SUMS][RUN_COL_BURST];
	uint16_t words[RUN_COL_BURST];
	uint8_t row[RUN_COL_ROWS][RUN_COL_BURST][16];
};

/* One's complement addition of 16 bits: a += b. The comparison is -1 where it carried. */
#define ADD_ONES(a, b) \
	do { \
		__typeof__(a) add_ = (b); \
		(a) += add_; \
		(a) -= (__typeof__(a))((a) < add_); \
	} while (0)

/* ---- values ---- */

BODY void limbs_of(struct col_burst *b, const struct run_col_var *v, unsigned j, vary_u x)
{
	vary_u top = v->shift != 0 ? x >> (128 - v->shift) : 0;

	x <<= v->shift;
	for (unsigned l = 0; l < v->limbs; l++)
		b->limb[l][j] = l < 4 ? (uint32_t)(x >> 32 * l) : (uint32_t)top;
}

/* Ordinals of random values, all with the same upper half; false: they are not. */
BODY bool col_index(const struct frun *f, struct col_burst *b, const struct run_col_var *v, uint64_t own, uint64_t *high, unsigned n,
		    unsigned all)
{
	const struct vary *vary = &f->var[v->var].v;
	uint32_t step = f->nqueues;

	if (vary->repeat == 0) {
		dvec o = DVC(run_count_up) * step + (uint32_t)own;
		*high = own >> 32;
		for (unsigned j = 0; j < all; j += NDVEC, o += step * NDVEC)
			DV(b->index, j) = o;
		return (own + (uint64_t)(n - 1) * step) >> 32 == *high;
	}
	if (vary->repeat >> 32 != 0)
		return false;
	uint32_t repeat = (uint32_t)vary->repeat, q = (uint32_t)(own % repeat);
	step %= repeat;
	*high = 0;
	for (unsigned j = 0; j < n; j++) {
		b->index[j] = q;
		q = repeat - q > step ? q + step : q - (repeat - step);
	}
	return true;
}

BODY bool col_random(const struct frun *f, struct col_burst *b, const struct run_col_var *v, uint64_t own, unsigned n, unsigned all)
{
	uint64_t high;

	if (!col_index(f, b, v, own, &high, n, all))
		return false;
	for (unsigned w = 0; w < v->nrandom; w++) {
		uint64_t key = high == 0 ? v->key[w] : vary_key(f->var[v->var].v.seed, w, high << 32);
		uint32_t *r = b->random[v->nrandom - 1 - w];
		for (unsigned j = 0; j < all; j += NDVEC) {
			dvec x = DV(b->index, j) + (uint32_t)key;
			x = (x ^ x >> 16) * 0x7feb352du;
			x = (x ^ x >> 15) * 0x846ca68bu;
			DV(r, j) = (x ^ x >> 16) ^ (uint32_t)(key >> 32);
		}
	}
	return true;
}

BODY void col_bits(struct col_burst *b, const struct run_col_var *v, unsigned all)
{
	for (int l = 0; l < v->limbs; l++) {
		int from = 32 * l - v->up, q = (from + 320) / 32 - 10;
		unsigned r = (unsigned)(from - 32 * q);
		bool low = q >= 0 && q < v->nrandom, next = r != 0 && q + 1 >= 0 && q + 1 < v->nrandom;
		for (unsigned j = 0; j < all; j += NDVEC) {
			dvec x = {0};
			if (low)
				x = DV(b->random[q], j) >> r;
			if (next)
				x |= DV(b->random[q + 1], j) << (32 - r);
			DV(b->limb[l], j) = (x & v->mask[l]) | v->fixed[l];
		}
	}
}

BODY void col_span(struct col_burst *b, const struct run_col_var *v, unsigned all)
{
	uint32_t low = v->low, span = v->span, up = v->shift;

	for (unsigned j = 0; j < all; j++)
		b->limb[0][j] = (uint32_t)((uint64_t)b->random[0][j] * span >> 32);
	for (unsigned j = 0; j < all; j += NDVEC) {
		dvec x = DV(b->limb[0], j) + low;
		DV(b->limb[0], j) = x << up;
		if (v->limbs > 1)
			DV(b->limb[1], j) = x >> (32 - up);
	}
}

BODY void col_list(const struct frun *f, struct col_burst *b, const struct run_col_var *v, uint64_t own, unsigned n)
{
	const struct vary *vary = &f->var[v->var].v;
	uint32_t q = (uint32_t)(own % vary->n), step = f->nqueues % vary->n, up = v->shift;

	for (unsigned j = 0; j < n; j++) {
		if (v->limbs == 1)
			b->limb[0][j] = (uint32_t)vary->list[q] << up;
		else
			limbs_of(b, v, j, vary->list[q]);
		q += step;
		q -= q >= vary->n ? vary->n : 0;
	}
}

/* A straight run of m values from j on. */
BODY void col_run(struct col_burst *b, const struct run_col_var *v, const struct run_segment *s, unsigned j, unsigned m)
{
	vary_u x = s->x;

	for (unsigned i = 0; i < m; i++, x += s->delta)
		limbs_of(b, v, j + i, x);
}

BODY void col_step(const struct frun *f, struct run_state *st, struct col_burst *b, const struct run_col_var *v, unsigned which, uint64_t o,
		   unsigned n, unsigned all)
{
	struct run_segment *s = (struct run_segment *)(void *)st->rest + which;

	if (s->left >= n && v->limbs == 1) {
		uint32_t delta = (uint32_t)s->delta << v->shift;
		dvec x = DVC(run_count_up) * delta + ((uint32_t)s->x << v->shift);
		for (unsigned j = 0; j < all; j += NDVEC, x += delta * NDVEC)
			DV(b->limb[0], j) = x;
		s->x += s->delta * n;
		s->left -= n;
		return;
	}
	for (unsigned j = 0; j < n;) {
		if (s->left == 0)
			run_col_segment(f, st, v, o + (uint64_t)j * f->nqueues, s);
		unsigned m = s->left < n - j ? (unsigned)s->left : n - j;
		col_run(b, v, s, j, m);
		s->x += s->delta * m;
		s->left -= m;
		j += m;
	}
}

BODY void col_values(const struct frun *f, struct run_state *st, struct col_burst *b, unsigned which, uint64_t o, unsigned n, unsigned all)
{
	const struct run_col_var *v = &f->cols->var[which];
	uint64_t own = o - st->base[f->var[v->var].slot];

	switch (v->source) {
	case SOURCE_BITS:
		if (!col_random(f, b, v, own, n, all))
			break;
		col_bits(b, v, all);
		return;
	case SOURCE_SPAN:
		if (!col_random(f, b, v, own, n, all))
			break;
		col_span(b, v, all);
		return;
	case SOURCE_STEP:
		col_step(f, st, b, v, which, o, n, all);
		return;
	case SOURCE_LIST:
		col_list(f, b, v, own, n);
		return;
	case SOURCE_ANY:
		break;
	}
	for (unsigned j = 0; j < n; j++)
		limbs_of(b, v, j, vary_at(&f->var[v->var].v, own + (uint64_t)j * f->nqueues));
}

/* ---- words and sums ---- */

/* The words of a field go to their columns, and their sum to b->words. */
BODY void col_words(struct col_burst *b, const struct run_col_var *v, unsigned all)
{
	for (unsigned j = 0; j < all; j += NDVEC) {
		hvec sum = __builtin_convertvector(DV(b->limb[0], j), hvec);
		HV(b->col[v->slot[0]], j) |= sum;
		for (unsigned t = 1; t < v->words; t++) {
			dvec x = DV(b->limb[t / 2], j);
			hvec w = __builtin_convertvector(t % 2 != 0 ? x >> 16 : x, hvec);
			HV(b->col[v->slot[t]], j) |= w;
			ADD_ONES(sum, w);
		}
		HV(b->words, j) = sum;
	}
}

/* b->words times ratio, mod 65535, to the sum. */
BODY void col_add(struct col_burst *b, unsigned c, uint16_t ratio, unsigned all)
{
	uint16_t *acc = b->acc[c];

	if (ratio == 1)
		for (unsigned j = 0; j < all; j += NWVEC)
			ADD_ONES(WV(acc, j), WV(b->words, j));
	else if (ratio != 0)
		for (unsigned j = 0; j < all; j++) {
			uint32_t x = (uint32_t)b->words[j] * ratio, y = acc[j];
			y += (x & 0xffff) + (x >> 16);
			y = (y & 0xffff) + (y >> 16);
			acc[j] = (uint16_t)((y & 0xffff) + (y >> 16));
		}
}

BODY void col_window(const struct frun *f, const struct run_state *st, struct col_burst *b, uint64_t o, unsigned n)
{
	const struct run_block *block = &f->block[f->cols->block];

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

BODY void col_sums(const struct run_cols *k, struct col_burst *b, unsigned which, unsigned all)
{
	for (unsigned c = 0; c < k->nsums; c++)
		col_add(b, c, k->sum[c].ratio[which], all);
}

BODY void col_finish(const struct run_cols *k, struct col_burst *b, unsigned all)
{
	for (unsigned c = 0; c < k->nsums; c++)
		for (unsigned j = 0; j < all; j += NWVEC) {
			vec_own h = ~WV(b->acc[c], j);
			if (k->sum[c].zero_is_none)
				h |= (vec_own)(h == 0);
			WV(b->col[k->sum[c].slot], j) = h;
		}
}

BODY void cols_make(const struct frun *f, struct run_state *st, struct col_burst *b, unsigned n, unsigned all)
{
	const struct run_cols *k = f->cols;
	uint64_t o = st->o0[f->plan[0].stream] + f->first + st->pos * f->nqueues;
	size_t lanes = f->lanes + (size_t)FRUN_MAX_BURST;

	for (unsigned s = 0; s < k->nslots; s++)
		for (unsigned j = 0; j < all; j += NWVEC)
			WV(b->col[s], j) = (vec_own){0};
	for (unsigned c = 0; c < k->nsums; c++)
		for (unsigned j = 0; j < all; j += NWVEC)
			WV(b->acc[c], j) = *(const vec_any *)(const void *)&f->lane_base[c * lanes + st->lane + j];
	for (unsigned v = 0; v < k->nvars; v++) {
		col_values(f, st, b, v, o, n, all);
		col_words(b, &k->var[v], all);
		col_sums(k, b, v, all);
	}
	if (k->random) {
		col_window(f, st, b, o, n);
		col_sums(k, b, k->nvars, all);
	}
	col_finish(k, b, all);
}

/* Once for all that store in different ways. */
static __attribute__((noinline)) RUN_TARGET void cols_make_32(const struct frun *f, struct run_state *st, struct col_burst *b, unsigned n)
{
	cols_make(f, st, b, n, 32);
}

static __attribute__((noinline)) RUN_TARGET void cols_make_64(const struct frun *f, struct run_state *st, struct col_burst *b, unsigned n)
{
	cols_make(f, st, b, n, 64);
}

/* ---- rows: the words of a frame side by side ---- */

#if defined(__SSE2__)
#include <emmintrin.h>

BODY __m128i col_load(const struct col_burst *b, unsigned slot, unsigned j)
{
	return _mm_load_si128((const __m128i *)(const void *)&b->col[slot][j]);
}

BODY void rows_narrow(struct col_burst *b, unsigned n)
{
	for (unsigned j = 0; j < n; j += 8) {
		__m128i a = col_load(b, 0, j), c = col_load(b, 1, j), d = col_load(b, 2, j), e = col_load(b, 3, j);
		__m128i low = _mm_unpacklo_epi16(a, c), high = _mm_unpackhi_epi16(a, c);
		__m128i low2 = _mm_unpacklo_epi16(d, e), high2 = _mm_unpackhi_epi16(d, e);
		__m128i *out = (__m128i *)(void *)(b->row[0][0] + 8 * j);
		_mm_store_si128(out, _mm_unpacklo_epi32(low, low2));
		_mm_store_si128(out + 1, _mm_unpackhi_epi32(low, low2));
		_mm_store_si128(out + 2, _mm_unpacklo_epi32(high, high2));
		_mm_store_si128(out + 3, _mm_unpackhi_epi32(high, high2));
	}
}

BODY void rows_wide(struct col_burst *b, unsigned row, unsigned n)
{
	for (unsigned j = 0; j < n; j += 8) {
		__m128i x[8], y[8];
		for (unsigned i = 0; i < 4; i++) {
			__m128i a = col_load(b, 8 * row + 2 * i, j), c = col_load(b, 8 * row + 2 * i + 1, j);
			x[i] = _mm_unpacklo_epi16(a, c);
			x[4 + i] = _mm_unpackhi_epi16(a, c);
		}
		for (unsigned i = 0; i < 8; i += 2) {
			y[i] = _mm_unpacklo_epi32(x[i], x[i + 1]);
			y[i + 1] = _mm_unpackhi_epi32(x[i], x[i + 1]);
		}
		for (unsigned i = 0; i < 8; i += 4)
			for (unsigned p = 0; p < 2; p++) {
				__m128i *out = (__m128i *)(void *)b->row[row][j + i + 2 * p];
				_mm_store_si128(out, _mm_unpacklo_epi64(y[i + p], y[i + p + 2]));
				_mm_store_si128(out + 1, _mm_unpackhi_epi64(y[i + p], y[i + p + 2]));
			}
	}
}
#endif

#ifdef RUN_PICK
BODY void col_rows(const struct run_cols *k, struct col_burst *b, unsigned n)
{
	if (k->narrow)
		rows_narrow(b, n);
	else
		for (unsigned r = 0; r < k->nrows; r++)
			rows_wide(b, r, n);
}

BODY void store_narrow(const struct frun *f, const struct run_state *st, struct col_burst *b, void *const *obj, bool lens, unsigned n)
{
	const uint8_t *src = f->lane_line + (size_t)st->lane * RUN_LINE, *row = b->row[0][0];
	const uint16_t *len = f->lane_len + st->lane;
	uint32_t at = f->write_off, off16 = f->len16_off, off32 = f->len32_off;
	vec pick[NVEC];

	for (unsigned i = 0; i < NVEC; i++)
		pick[i] = ((const vec_any *)f->cols->pick[0])[i];
	for (unsigned j = 0; j < n; j++) {
		uint8_t *o = obj[j];
		for (unsigned i = 0; i < NVEC; i++)
			((vec_any *)(o + at))[i] = RUN_PICK(row + 8 * j, pick[i]) | ((const vec_any *)(src + (size_t)j * RUN_LINE))[i];
		if (lens)
			put_lens(o, off16, off32, len[j]);
	}
}

BODY void store_wide(const struct frun *f, const struct run_state *st, struct col_burst *b, void *const *obj, bool lens, unsigned n)
{
	const uint8_t *src = f->lane_line + (size_t)st->lane * RUN_LINE;
	const uint16_t *len = f->lane_len + st->lane;
	uint32_t at = f->write_off, off16 = f->len16_off, off32 = f->len32_off;
	unsigned nrows = f->cols->nrows;

	for (unsigned j = 0; j < n; j++) {
		uint8_t *o = obj[j];
		for (unsigned i = 0; i < NVEC; i++) {
			vec x = ((const vec_any *)(src + (size_t)j * RUN_LINE))[i];
			for (unsigned r = 0; r < nrows; r++)
				x |= RUN_PICK(b->row[r][j], ((const vec_any *)f->cols->pick[r])[i]);
			((vec_any *)(o + at))[i] = x;
		}
		if (lens)
			put_lens(o, off16, off32, len[j]);
	}
}

BODY void store_cols(const struct frun *f, const struct run_state *st, struct col_burst *b, void *const *obj, bool lens, unsigned n)
{
	col_rows(f->cols, b, n);
	if (f->cols->narrow)
		store_narrow(f, st, b, obj, lens, n);
	else
		store_wide(f, st, b, obj, lens, n);
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
			memcpy(frame + k->hdr_len, f->block[k->block].bytes + b->index[j], len - k->hdr_len);
		if (f->len == 0)
			put_lens(o, f->len16_off, f->len32_off, (uint16_t)len);
	}
}

enum cols_kind { COLS_ONE, COLS_LEN, COLS_LINES };

BODY void cols_burst(const struct frun *f, struct run_state *st, void *const *obj, enum cols_kind kind, unsigned n)
{
	struct col_burst burst, *b = &burst;

	if (n <= 32)
		cols_make_32(f, st, b, n);
	else
		cols_make_64(f, st, b, n);
	if (kind == COLS_LINES)
		store_lines(f, st, b, obj, n);
	else
		store_cols(f, st, b, obj, kind == COLS_LEN, n);
	run_advance(f, st, n);
}

BODY void cols_all(const struct frun *f, struct run_state *st, void *const *obj, enum cols_kind kind, unsigned n)
{
	for (; n >= RUN_COL_BURST; n -= RUN_COL_BURST, obj += RUN_COL_BURST)
		cols_burst(f, st, obj, kind, RUN_COL_BURST);
	if (n == 32)
		cols_burst(f, st, obj, kind, 32);
	else if (n != 0)
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
