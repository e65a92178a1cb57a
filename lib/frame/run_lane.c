/* SPDX-License-Identifier: BSD-3-Clause */
/* Lanes: the written lines of a frame of a lane, and how its words grow from turn to turn. */
#include "run_int.h"

/* The recipe and the ordinal of the frame in a lane, in that turn. Where short periods are written
 * out, a turn is several own cycles. */
static const struct run_recipe *lane_frame(const struct frun *f, const struct run_state *st,
					   uint32_t lane, uint64_t turn, uint64_t *o)
{
	uint32_t slot = lane % f->own;

	*o = run_ordinal(f, st, slot, turn * f->turns + lane / f->own);
	return &f->recipe[f->slot[slot].recipe];
}

/* Makes the written lines of the frame of recipe p with ordinal o. */
static void put_lane(const struct frun *f, const struct run_state *st, const struct run_recipe *p,
		     uint64_t o, uint8_t *lines)
{
	uint64_t sums[RUN_MAX_SUMS];

	for (unsigned c = 0; c < p->nsums; c++)
		sums[c] = f->sum[p->sum + c].base;
	memcpy(lines, f->line + p->line, (size_t)f->nlines * RUN_LINE);
	for (unsigned i = 0; i < p->nvars; i++) {
		const struct run_var *v = &f->var[p->var + i];
		vary_u x = vary_at(&v->v, o - st->base[v->base]);
		bits_put(lines, run_at(f, v->bit / 8) * 8 + v->bit % 8, v->bits, x);
		uint32_t m = run_mod(x);
		for (unsigned c = 0; c < p->nsums; c++)
			sums[c] += (uint64_t)f->coef[p->coef + c * p->nvars + i] * m;
	}
	for (unsigned c = 0; p->nvars != 0 && c < p->nsums; c++) {
		const struct frame_sum *s = &f->sum[p->sum + c].s;
		if (s->crc32c)
			continue;
		uint16_t h = run_sum_field(sums[c], s->zero_is_none);
		lines[run_at(f, s->off)] = (uint8_t)(h >> 8);
		lines[run_at(f, s->off + 1u)] = (uint8_t)h;
	}
}

/* Makes the written lines of the frame in lane `lane` and turn `turn`. Its sums are linear and its
 * payload is not random. */
static void run_put_lane(const struct frun *f, const struct run_state *st, uint32_t lane,
			 uint64_t turn, uint8_t *lines)
{
	uint64_t o;
	const struct run_recipe *p = lane_frame(f, st, lane, turn, &o);

	put_lane(f, st, p, o, lines);
}

/* How often d may be added to x before it leaves 0..65535. */
static uint32_t run_lane_room(uint32_t x, int32_t d)
{
	if (d == 0)
		return RUN_MAX_LEFT;
	return d > 0 ? (65535 - x) / (uint32_t)d : x / (uint32_t)-d;
}

/* Turns steps of delta into additions to the 16-bit words of a field that ends at bit `end`.
 * Returns for how many steps no word carries into the next one. inc is that of the word with the
 * end of the field; those of higher words lie before it. A word's addition of 0x8000 and more
 * counts as negative. */
static uint32_t step_words(vary_u x, vary_u delta, unsigned bits, uint32_t end, uint16_t *inc)
{
	unsigned up = (16 - end % 16) % 16, done = 0;
	uint32_t most = RUN_MAX_LEFT, carry = 0;

	/* the lowest word holds 16 - up bits of the field */
	for (unsigned n = 16 - up; done < bits; done += n, n = 16, up = 0, inc--) {
		uint32_t d = ((uint32_t)delta << up & 0xffff) + (carry << up);
		bool last = bits - done <= n;
		int32_t add = d < 0x8000 ? (int32_t)d : (int32_t)d - 0x10000;
		carry = add < 0 || d > 0xffff;
		if (d > 0xffff)
			add = (int32_t)(d - 0x10000);
		*inc = (uint16_t)(*inc + add);
		if (!last) {
			uint32_t r = run_lane_room((uint32_t)x << up & 0xffff, add);
			most = r < most ? r : most;
		}
		x >>= n;
		delta >>= n;
	}
	return most;
}

/* Adds to inc what a checksum h changes by per step, if the sum that it covers grows by `less` mod
 * 65535: down by `less` or up by 65535 - `less`, whichever is smaller. Returns for how many steps
 * it stays in its range. */
static uint32_t step_sum(uint32_t h, uint32_t less, bool zero_is_none, uint16_t *inc)
{
	uint32_t low = zero_is_none ? 1 : 0, high = low + 65534;

	if (less == 0)
		return RUN_MAX_LEFT;
	if (less <= 32767) {
		*inc = (uint16_t)(*inc - less);
		return (h - low) / less;
	}
	*inc = (uint16_t)(*inc + (65535 - less));
	return (high - h) / (65535 - less);
}

uint32_t run_affine_lane(const struct frun *f, const struct run_state *st, uint32_t lane,
			 uint64_t turn, uint16_t *z, uint16_t *inc)
{
	uint8_t *lines = (uint8_t *)z;
	uint64_t o, less[RUN_MAX_SUMS] = {0};
	const struct run_recipe *p = lane_frame(f, st, lane, turn, &o);
	uint64_t stride = f->step[p->stream] * f->turns, most = RUN_MAX_LEFT - 1;

	put_lane(f, st, p, o, lines);
	memset(inc, 0, (size_t)f->nlines * RUN_LINE);
	for (unsigned i = 0; i < p->nvars; i++) {
		const struct run_var *v = &f->var[p->var + i];
		uint64_t own = o - st->base[v->base];
		vary_u delta, x = vary_at(&v->v, own);
		uint64_t n = vary_steps(&v->v, own, stride, &delta);
		if (n != 0 && delta != 0) {
			uint32_t end = v->bit + v->bits, at = run_at(f, (end - 1) / 8) / 2;
			uint32_t r = step_words(x, delta, v->bits, end, &inc[at]);
			n = r < n ? r : n;
			/* a step back by d is 2^128 - d here, but adds -d to a sum */
			uint32_t m = x + delta < x ? 65535 - run_mod(-delta) : run_mod(delta);
			for (unsigned c = 0; c < p->nsums; c++)
				less[c] += (uint64_t)f->coef[p->coef + c * p->nvars + i] * m;
		}
		most = n < most ? n : most;
	}
	for (unsigned c = 0; c < p->nsums; c++) {
		const struct frame_sum *s = &f->sum[p->sum + c].s;
		if (less[c] % 65535 == 0)
			continue;
		uint32_t at = run_at(f, s->off), r;
		r = step_sum((uint32_t)lines[at] << 8 | lines[at + 1], (uint32_t)(less[c] % 65535),
			     s->zero_is_none, &inc[at / 2]);
		most = r < most ? r : most;
	}
	for (uint32_t w = 0; w < f->nlines * RUN_LINE / 2; w++)
		z[w] = (uint16_t)(lines[2 * w] << 8 | lines[2 * w + 1]);
	return (uint32_t)most + 1;
}

void run_copy_build(const struct frun *f, struct run_state *st, unsigned n)
{
	uint32_t seen = (st->lane + f->lanes - st->start) % f->lanes, size = f->nlines * RUN_LINE;
	uint32_t want = f->lanes - seen > n ? seen + n : f->lanes;

	for (; st->built < want; st->built++) {
		uint32_t lane = (st->start + st->built) % f->lanes;
		uint8_t *lines = st->rest + (size_t)lane * size;
		/* for its next visit: an earlier one could be before a variation began */
		run_put_lane(f, st, lane, st->turn + (lane < st->lane), lines);
		for (uint32_t again = lane + f->lanes; again < f->lanes + RUN_OVER;
		     again += f->lanes)
			memcpy(st->rest + (size_t)again * size, lines, size);
	}
}

void run_lanes_build(const struct frun *f, struct run_state *st, unsigned n)
{
	uint32_t *until = (uint32_t *)(void *)st->rest, size = 2 * f->nlines * RUN_LINE;

	if (st->turn - st->epoch > RUN_MAX_LEFT)
		run_reset(f, st);
	uint32_t t = (uint32_t)(st->turn - st->epoch);
	for (uint32_t lane = st->lane; lane < st->lane + n; lane++) {
		if (until[lane] > t)
			continue;
		uint16_t *z =
			(uint16_t *)(void *)(st->rest + run_lanes_at(f) + (size_t)lane * size);
		until[lane] = t + run_affine_lane(f, st, lane, st->turn, z, z + size / 4);
	}
}

void run_col_segment(const struct frun *f, const struct run_state *st, const struct run_col_var *v,
		     uint64_t o, struct run_segment *s)
{
	const struct run_var *var = &f->var[v->var];
	uint64_t own = o - st->base[var->base];
	uint64_t n = vary_steps(&var->v, own, f->nqueues, &s->delta);

	s->x = vary_at(&var->v, own);
	s->left = n < RUN_MAX_LEFT ? n + 1 : RUN_MAX_LEFT;
}
