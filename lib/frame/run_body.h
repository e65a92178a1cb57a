/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/frame: the engines, for vectors of RUN_VB bytes. Who includes this defines RUN_VB, RUN_TARGET (an attribute), RUN_SWAP(v) (the bytes
 * of each 16-bit word exchanged), RUN_PICK(row, at) (from the 16 bytes at row those that at names, 0x80: 0), RUN_PICK8 (of 8 bytes), RUN_MM(op) and
 * RUN_MI (names of intrinsics and of their type) where there is such a thing, RUN_ISA (the name of the table) and RUN_ISA_NAME. Bodies are inlined with literal counts, which compilers
 * unroll and vectorize. */
#pragma once
#include "run_int.h"

#define BODY static inline __attribute__((always_inline)) RUN_TARGET
#define ENTRY static RUN_TARGET void
#define NVEC (RUN_LINE / RUN_VB)

typedef uint16_t vec __attribute__((vector_size(RUN_VB)));
typedef uint16_t vec_any __attribute__((vector_size(RUN_VB), aligned(1), may_alias));

static const uint32_t run_count_up[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* Call body with a literal count where it is a usual one. */
#define COUNTED(n, body, ...) \
	do { \
		if ((n) == 32) \
			body(__VA_ARGS__, 32); \
		else if ((n) == 64) \
			body(__VA_ARGS__, 64); \
		else \
			body(__VA_ARGS__, n); \
	} while (0)

BODY void copy_line(uint8_t *dst, const uint8_t *src)
{
	for (unsigned i = 0; i < NVEC; i++)
		((vec_any *)dst)[i] = ((const vec_any *)src)[i];
}

BODY void put_lens(uint8_t *o, uint32_t off16, uint32_t off32, uint16_t len)
{
	uint32_t wide = len;

	memcpy(o + off16, &len, sizeof(len));
	memcpy(o + off32, &wide, sizeof(wide));
}

/* Line l of a frame of len bytes: a store never goes beyond what every buffer holds. */
BODY void copy_any(uint8_t *frame, const uint8_t *src, unsigned off, unsigned len)
{
	if (off + RUN_LINE <= RUN_SAFE_END)
		copy_line(frame + off, src);
	else if (len > off)
		memcpy(frame + off, src, len - off < RUN_LINE ? len - off : RUN_LINE);
}

/* ---- copy: every lane has its bytes ready ---- */

BODY void copy_one(const uint8_t *src, const uint16_t *len, const struct frun *f, void *const *obj, bool lens, unsigned n)
{
	uint32_t at = f->write_off, off16 = f->len16_off, off32 = f->len32_off;

#pragma GCC unroll 8
	for (unsigned j = 0; j < n; j++) {
		uint8_t *o = obj[j];
		copy_line(o + at, src + (size_t)j * RUN_LINE);
		if (lens)
			put_lens(o, off16, off32, len[j]);
	}
}

BODY void copy_few(const struct frun *f, struct run_state *st, void *const *obj, bool lens, unsigned n)
{
	const uint8_t *src = st->rest + (size_t)st->lane * RUN_LINE;
	const uint16_t *len = f->lane_len + st->lane;

	if (st->built < f->lanes)
		run_copy_build(f, st, n);
	if (n == 32)
		copy_one(src, len, f, obj, lens, 32);
	else if (n == 64)
		copy_one(src, len, f, obj, lens, 64);
	else
		copy_one(src, len, f, obj, lens, n);
	run_advance(f, st, n);
}

BODY void copy_all(const struct frun *f, struct run_state *st, void *const *obj, bool lens, unsigned n)
{
	for (; n > RUN_OVER; n -= RUN_OVER, obj += RUN_OVER)
		copy_few(f, st, obj, lens, RUN_OVER);
	copy_few(f, st, obj, lens, n);
}

ENTRY copy_fill(const struct frun *f, struct run_state *st, void *const *obj, unsigned n)
{
	copy_all(f, st, obj, false, n);
}

ENTRY copy_len_fill(const struct frun *f, struct run_state *st, void *const *obj, unsigned n)
{
	copy_all(f, st, obj, true, n);
}

BODY void copy_many(const struct frun *f, struct run_state *st, void *const *obj, unsigned n)
{
	uint32_t nlines = f->nlines, at = f->data_off;
	const uint8_t *src = st->rest + (size_t)st->lane * nlines * RUN_LINE;
	const uint16_t *len = f->lane_len + st->lane;

	if (st->built < f->lanes)
		run_copy_build(f, st, n);
	for (unsigned j = 0; j < n; j++) {
		uint8_t *o = obj[j];
		for (uint32_t l = 0; l < nlines; l++, src += RUN_LINE)
			copy_any(o + at, src, f->line_off[l], len[j]);
		if (f->len == 0)
			put_lens(o, f->len16_off, f->len32_off, len[j]);
	}
	run_advance(f, st, n);
}

ENTRY copy_lines_fill(const struct frun *f, struct run_state *st, void *const *obj, unsigned n)
{
	for (; n > RUN_OVER; n -= RUN_OVER, obj += RUN_OVER)
		copy_many(f, st, obj, RUN_OVER);
	copy_many(f, st, obj, n);
}

/* ---- affine: words that grow by a constant from frame to frame ---- */

/* z is stored and moves on, n times. */
BODY void affine_one(uint8_t *state, uint32_t at, void *const *obj, unsigned n)
{
	vec z[NVEC], inc[NVEC];

	for (unsigned i = 0; i < NVEC; i++) {
		z[i] = ((const vec_any *)state)[i];
		inc[i] = ((const vec_any *)state)[NVEC + i];
	}
#pragma GCC unroll 8
	for (unsigned j = 0; j < n; j++) {
		uint8_t *dst = (uint8_t *)obj[j] + at;
		for (unsigned i = 0; i < NVEC; i++) {
			((vec_any *)dst)[i] = RUN_SWAP(z[i]);
			z[i] += inc[i];
		}
	}
	for (unsigned i = 0; i < NVEC; i++)
		((vec_any *)state)[i] = z[i];
}

/* One line of many: where frames end before the line does, its bytes are stored one by one. */
BODY void affine_line(uint8_t *z, const uint8_t *inc, uint8_t *frame, unsigned off, unsigned len)
{
	if (off + RUN_LINE <= RUN_SAFE_END) {
		for (unsigned i = 0; i < NVEC; i++)
			((vec_any *)(frame + off))[i] = RUN_SWAP(((const vec_any *)z)[i]);
	} else {
		const uint16_t *word = (const uint16_t *)(const void *)z;
		for (unsigned b = 0; b < RUN_LINE && off + b < len; b++)
			frame[off + b] = (uint8_t)(word[b / 2] >> (b % 2 == 0 ? 8 : 0));
	}
	for (unsigned i = 0; i < NVEC; i++)
		((vec_any *)z)[i] += ((const vec_any *)inc)[i];
}

BODY void affine_step(const struct frun *f, struct run_state *st, void *const *obj, bool one, unsigned m)
{
	uint32_t size = f->nlines * RUN_LINE;

	if (one) {
		COUNTED(m, affine_one, st->rest, f->write_off, obj);
		return;
	}
	for (unsigned j = 0; j < m; j++)
		for (uint32_t l = 0; l < f->nlines; l++)
			affine_line(st->rest + l * RUN_LINE, st->rest + size + l * RUN_LINE, (uint8_t *)obj[j] + f->data_off, f->line_off[l],
				    f->len);
}

BODY void affine_all(const struct frun *f, struct run_state *st, void *const *obj, bool one, unsigned n)
{
	uint16_t *z = (uint16_t *)(void *)st->rest;

	while (n != 0) {
		if (st->left == 0)
			st->left = run_affine_lane(f, st, 0, st->turn, z, z + f->nlines * RUN_LINE / 2);
		unsigned m = st->left < n ? (unsigned)st->left : n;
		affine_step(f, st, obj, one, m);
		st->left -= m;
		st->pos += m;
		st->turn += m;
		obj += m;
		n -= m;
	}
}

ENTRY affine_fill(const struct frun *f, struct run_state *st, void *const *obj, unsigned n)
{
	affine_all(f, st, obj, true, n);
}

ENTRY affine_lines_fill(const struct frun *f, struct run_state *st, void *const *obj, unsigned n)
{
	affine_all(f, st, obj, false, n);
}

/* ---- many lanes, each affine from turn to turn ---- */

BODY bool lanes_due(const uint32_t *until, uint32_t t, unsigned n)
{
	uint32_t due = 0;

	for (unsigned j = 0; j < n; j++)
		due |= until[j] <= t;
	return due != 0;
}

BODY void lanes_one(uint8_t *lane, const uint16_t *len, const struct frun *f, void *const *obj, bool lens, unsigned n)
{
	uint32_t at = f->write_off, off16 = f->len16_off, off32 = f->len32_off;

#pragma GCC unroll 4
	for (unsigned j = 0; j < n; j++) {
		uint8_t *o = obj[j];
		vec_any *z = (vec_any *)(lane + (size_t)j * 2 * RUN_LINE);
		vec now[NVEC];
		for (unsigned i = 0; i < NVEC; i++) {
			now[i] = z[i];
			((vec_any *)(o + at))[i] = RUN_SWAP(now[i]);
		}
		for (unsigned i = 0; i < NVEC; i++)
			z[i] = now[i] + z[NVEC + i];
		if (lens)
			put_lens(o, off16, off32, len[j]);
	}
}

BODY void lanes_many(uint8_t *lane, const uint16_t *len, const struct frun *f, void *const *obj, unsigned n)
{
	uint32_t size = f->nlines * RUN_LINE;

	for (unsigned j = 0; j < n; j++, lane += 2 * (size_t)size) {
		uint8_t *o = obj[j];
		for (uint32_t l = 0; l < f->nlines; l++)
			affine_line(lane + l * RUN_LINE, lane + size + l * RUN_LINE, o + f->data_off, f->line_off[l], len[j]);
		if (f->len == 0)
			put_lens(o, f->len16_off, f->len32_off, len[j]);
	}
}

enum lanes_kind { LANES_ONE, LANES_LEN, LANES_MANY };

BODY void lanes_run(const struct frun *f, struct run_state *st, void *const *obj, enum lanes_kind kind, unsigned n)
{
	uint32_t t = (uint32_t)(st->turn - st->epoch);
	uint32_t *until = (uint32_t *)(void *)st->rest + st->lane;
	size_t size = 2 * (size_t)f->nlines * RUN_LINE;
	uint8_t *lane = st->rest + run_lanes_at(f) + st->lane * size;
	const uint16_t *len = f->lane_len + st->lane;

	if (lanes_due(until, t, n))
		run_lanes_build(f, st, n);
	if (kind == LANES_MANY)
		lanes_many(lane, len, f, obj, n);
	else
		lanes_one(lane, len, f, obj, kind == LANES_LEN, n);
}

BODY void lanes_all(const struct frun *f, struct run_state *st, void *const *obj, enum lanes_kind kind, unsigned n)
{
	while (n != 0) {
		unsigned m = f->lanes - st->lane < n ? f->lanes - st->lane : n;
		if (m == 32)
			lanes_run(f, st, obj, kind, 32);
		else if (m == 64)
			lanes_run(f, st, obj, kind, 64);
		else
			lanes_run(f, st, obj, kind, m);
		run_advance(f, st, m);
		obj += m;
		n -= m;
	}
}

ENTRY lanes_fill(const struct frun *f, struct run_state *st, void *const *obj, unsigned n)
{
	lanes_all(f, st, obj, LANES_ONE, n);
}

ENTRY lanes_len_fill(const struct frun *f, struct run_state *st, void *const *obj, unsigned n)
{
	lanes_all(f, st, obj, LANES_LEN, n);
}

ENTRY lanes_lines_fill(const struct frun *f, struct run_state *st, void *const *obj, unsigned n)
{
	lanes_all(f, st, obj, LANES_MANY, n);
}

#include "run_cols.h"

const struct run_isa RUN_ISA = {
	.name = RUN_ISA_NAME,
	.copy = copy_fill,
	.copy_len = copy_len_fill,
	.copy_lines = copy_lines_fill,
	.affine = affine_fill,
	.affine_lines = affine_lines_fill,
	.lanes = lanes_fill,
	.lanes_len = lanes_len_fill,
	.lanes_lines = lanes_lines_fill,
	.cols = cols_fill,
	.cols_len = cols_len_fill,
	.cols_lines = cols_lines_fill,
};
