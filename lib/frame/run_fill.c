/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames made one by one, which works for all fruns (the engine "frames"), and the calls of the
 * chosen engine. */
#include "run_int.h"

#include <string.h>

uint64_t run_window_sum(const struct run_block *b, unsigned w, unsigned n)
{
	const uint32_t *before = b->before[w % 2];
	uint64_t sum = before[w / 2 + n / 2] - before[w / 2];

	return n % 2 != 0 ? sum + ((uint32_t)b->bytes[w + n - 1] << 8) : sum;
}

static void put_lines(const struct frun *f, const struct run_recipe *p, uint8_t *dst)
{
	for (uint32_t l = 0; l < f->nlines; l++) {
		unsigned off = f->line_off[l], n = RUN_LINE;
		if (off + RUN_LINE > RUN_SAFE_END)
			n = p->len <= off ? 0 : p->len - off < RUN_LINE ? p->len - off : RUN_LINE;
		memcpy(dst + off, f->line + p->line + l * RUN_LINE, n);
	}
}

static uint64_t put_vars(const struct frun *f, const struct run_state *st,
			 const struct run_recipe *p, uint64_t o, uint8_t *dst, uint64_t *sums)
{
	for (unsigned i = 0; i < p->nvars; i++) {
		const struct run_var *v = &f->var[p->var + i];
		vary_u x = vary_at(&v->v, o - st->base[v->base]);
		bits_put(dst, v->bit, v->bits, x);
		uint32_t m = run_mod(x);
		for (unsigned c = 0; c < p->nsums; c++)
			sums[c] += (uint64_t)f->coef[p->coef + c * p->nvars + i] * m;
	}
	return o;
}

/* Writes the frame of recipe p with ordinal o: all written lines, payload and sums. */
static void run_put_frame(const struct frun *f, const struct run_state *st,
			  const struct run_recipe *p, uint64_t o, uint8_t *dst)
{
	uint64_t sums[RUN_MAX_SUMS];

	for (unsigned c = 0; c < p->nsums; c++)
		sums[c] = f->sum[p->sum + c].base;
	put_lines(f, p, dst);
	if (p->random) {
		const struct run_block *b = p->block;
		unsigned w = (unsigned)(o * FRAME_RANDOM_STEP % FRAME_RANDOM_WINDOWS),
			 n = p->len - p->hdr_len;
		memcpy(dst + p->hdr_len, b->bytes + w, n);
		uint64_t pay = run_window_sum(b, w, n) % 65535;
		for (unsigned c = 0; c < p->nsums; c++)
			sums[c] += f->pay_coef[p->pay_coef + c] * pay;
	}
	put_vars(f, st, p, o, dst, sums);
	for (unsigned c = 0; c < p->nsums; c++) {
		const struct frame_sum *s = &f->sum[p->sum + c].s;
		if (!p->linear) {
			recipe_sum(s, dst);
			continue;
		}
		if (s->crc32c)
			continue;
		uint16_t h = run_sum_field(sums[c], s->zero_is_none);
		dst[s->off] = (uint8_t)(h >> 8);
		dst[s->off + 1] = (uint8_t)h;
	}
}

void frun_probe(const struct frun *f, uint32_t at, const struct frun_probing *b, void *const *obj,
		unsigned n)
{
	f->probes(f, at, b, obj, n);
}

bool frun_fuses(const struct frun *f)
{
	return f->fill_probes != NULL;
}

void frun_fill_probe(const struct frun *f, void *state, uint32_t at, const struct frun_probing *b,
		     void *const *obj, unsigned n)
{
	f->fill_probes(f, state, at, b, obj, n);
}

bool frun_probe_sums(const struct frun *f, uint64_t i, uint8_t *frame)
{
	const struct run_recipe *p = &f->recipe[f->slot[i % f->own].recipe];

	for (unsigned c = 0; p->resum && c < p->nsums; c++)
		recipe_sum(&f->sum[p->sum + c].s, frame);
	return p->resum;
}

void run_fill_scalar(const struct frun *f, struct run_state *st, void *const *obj, unsigned n)
{
	for (unsigned j = 0; j < n; j++) {
		const struct run_recipe *p = &f->recipe[f->slot[st->lane].recipe];
		uint8_t *o = obj[j];
		run_put_frame(f, st, p, run_ordinal(f, st, st->lane, st->turn), o + f->data_off);
		run_put_len(f, o, p->len);
		run_advance(f, st, 1);
	}
}

void frun_fill(const struct frun *f, void *state, void *const *obj, unsigned n)
{
	f->fill(f, state, obj, n);
}
