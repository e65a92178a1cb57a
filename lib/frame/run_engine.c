/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses, once, the engine that writes the frames of a frun. From the cheapest one on: nothing
 * varies (fixed); the bytes of every lane stay the same (copy); the words of a lane grow by
 * constants (affine); words are made field by field (columns); each frame is made on its own
 * (frames). */
#include "frame_probe.h"
#include "run_new.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* At most so many lanes are made by writing out periods, and they take at most so many bytes. */
#define MANY_LANES 4096
#define MANY_BYTES (64u << 20)
/* A lane is cheap if on average so many of its frames follow from one look at its variations. */
#define GOOD_SEGMENT 48
#define MANY_TRIES 64

static void fill_fixed(const struct frun *f, struct run_state *st, void *const *obj, unsigned n)
{
	uint64_t own = f->own;

	(void)obj;
	st->pos += n;
	st->turn = st->pos / own;
	st->lane = (uint32_t)(st->pos % own);
}

static const struct run_isa *choose_isa(const char *at_most, struct err *e)
{
	static const char *const names[] = {"scalar", "neon", "ssse3", "avx2", "avx512"};
	unsigned level = 4;

	if (at_most != NULL)
		for (level = 0; level < ARRAY_SIZE(names) && strcmp(names[level], at_most) != 0;
		     level++)
			;
	if (level == ARRAY_SIZE(names)) {
		err_set(e, EINVAL,
			"\"%s\" is no variant of the frame writers: scalar, neon, ssse3, avx2, avx512",
			at_most);
		return NULL;
	}
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (level >= 4 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512vl"))
		return &run_isa_avx512;
	if (level >= 3 && __builtin_cpu_supports("avx2"))
		return &run_isa_avx2;
	if (level >= 2 && __builtin_cpu_supports("ssse3"))
		return &run_isa_ssse3;
#endif
	return &run_isa_plain;
}

const char *frun_best_isa(void)
{
	return choose_isa(NULL, NULL)->name;
}

/* True if fill and probes can be done in one pass: the CPU can put bytes into a line as RUN_INSERT
 * does, and the one written line holds all of each probe. */
static bool run_engine_fuses(const struct frun *f, const struct run_isa *isa)
{
#if defined(__x86_64__)
	uint32_t from = f->data_off + f->probe->off;

	return f->fill == isa->copy && f->probes_kind == FRUN_PROBES_ROW &&
	       __builtin_cpu_supports("avx512vbmi") && from >= f->write_off &&
	       from + PROBE_LEN <= f->write_off + RUN_LINE;
#else
	(void)f, (void)isa;
	return false;
#endif
}

/* Own cycles after which v is at the same value again; 0: never, or not soon. */
static uint64_t cycles_of(const struct frun *f, const struct run_recipe *p, const struct vary *v)
{
	uint64_t period = vary_period(v);

	return period == 0 ? 0 : period / gcd(period, f->step[p->stream]);
}

/* True if v moves in long straight segments when its stream advances by so many own cycles at a
 * time. */
static bool run_engine_straight(const struct frun *f, const struct run_recipe *p,
				const struct run_var *v, uint64_t cycles)
{
	uint64_t o = 0, stride = f->step[p->stream] * cycles, tries = 0;
	vary_u delta;

	for (; tries < MANY_TRIES && o / stride < MANY_TRIES * GOOD_SEGMENT; tries++) {
		uint64_t n = vary_steps(&v->v, o, stride, &delta);
		/* the lowest word of 16 bits carries into the next one after so many steps */
		unsigned up = (16 - (v->bit + v->bits) % 16) % 16;
		uint32_t low = (uint32_t)(delta << up) & 0xffff,
			 d = low < 0x8000 ? low : 0x10000 - low;
		uint64_t carry = v->bits + up > 16 && d != 0 ? 65536 / d : UINT64_MAX;
		n = n < carry ? n : carry;
		o += (n < UINT64_MAX / 2 / stride ? n + 1 : UINT64_MAX / 2 / stride) * stride;
	}
	return o / stride >= tries * GOOD_SEGMENT;
}

/* True if the sums of p, too, move in long segments. A segment ends when a checksum leaves its
 * range, which is soon if its step is large both upwards and downwards. */
static bool straight_sums(const struct frun *f, const struct run_recipe *p, uint64_t cycles)
{
	uint64_t stride = f->step[p->stream] * cycles;

	for (unsigned c = 0; c < p->nsums; c++) {
		uint64_t less = 0;
		for (unsigned i = 0; i < p->nvars; i++) {
			const struct vary *v = &f->var[p->var + i].v;
			vary_u delta, x = vary_at(v, 0);
			if (vary_steps(v, 0, stride, &delta) == 0)
				continue;
			uint32_t m = x + delta < x ? 65535 - run_mod(-delta) : run_mod(delta);
			less += (uint64_t)f->coef[p->coef + c * p->nvars + i] * m;
		}
		less %= 65535;
		less = less > 32767 ? 65535 - less : less;
		if (less != 0 && 65535 / less < GOOD_SEGMENT)
			return false;
	}
	return true;
}

/* True if lanes can be made at all: sums follow from what varies, and checksums lie on whole
 * words. */
static bool run_engine_simple(const struct frun *f)
{
	for (uint32_t i = 0; i < f->nrecipes; i++) {
		const struct run_recipe *p = &f->recipe[i];
		if (p->random || (p->moves && !p->linear))
			return false;
		for (unsigned c = 0; c < p->nsums; c++)
			if (f->sum[p->sum + c].s.off % 2 != 0)
				return false;
	}
	return true;
}

/* Own cycles per turn with which the bytes of every lane stay the same; 0: too many. */
static uint64_t turns_constant(const struct frun *f, uint64_t limit)
{
	uint64_t turns = 1;

	for (uint32_t i = 0; i < f->nrecipes; i++)
		for (unsigned v = 0; v < f->recipe[i].nvars; v++) {
			uint64_t n = cycles_of(f, &f->recipe[i], &f->var[f->recipe[i].var + v].v);
			turns = lcm(turns, n, limit);
			if (turns == 0)
				return 0;
		}
	return turns;
}

/* Own cycles per turn with which every lane moves in straight segments; 0: there is no such
 * number. */
static uint64_t turns_affine(const struct frun *f, uint64_t limit)
{
	uint64_t turns = 1;

	for (uint32_t i = 0; i < f->nrecipes; i++)
		for (unsigned v = 0; v < f->recipe[i].nvars; v++) {
			const struct run_recipe *p = &f->recipe[i];
			if (run_engine_straight(f, p, &f->var[p->var + v], 1))
				continue;
			uint64_t n = cycles_of(f, p, &f->var[p->var + v].v);
			turns = lcm(turns, n, limit);
			if (turns == 0)
				return 0;
		}
	/* what is straight in steps of one cycle need not be straight in steps of many */
	for (uint32_t i = 0; i < f->nrecipes; i++) {
		const struct run_recipe *p = &f->recipe[i];
		for (unsigned v = 0; v < p->nvars; v++)
			if (!run_engine_straight(f, p, &f->var[p->var + v], turns))
				return 0;
		if (!straight_sums(f, p, turns))
			return 0;
	}
	return turns;
}

static void lay_lanes(struct frun *f, uint64_t turns, size_t bytes_per_lane)
{
	f->turns = (uint32_t)turns;
	f->lanes = (uint32_t)(f->own * turns);
	f->engine_size = bytes_per_lane * f->lanes;
	f->lane_len = xcalloc(f->lanes + (size_t)RUN_OVER, sizeof(*f->lane_len));
	for (size_t l = 0; l < f->lanes + (size_t)RUN_OVER; l++)
		f->lane_len[l] = f->recipe[f->slot[l % f->own].recipe].len;
}

/* True if there is one written line, which may be stored whole in every buffer. */
static bool one_line(struct frun *f)
{
	if (f->nlines != 1 || f->line_off[0] + RUN_LINE > RUN_SAFE_END)
		return false;
	f->write_off = f->data_off + f->line_off[0];
	return true;
}

static void use_copy(struct frun *f, const struct run_isa *isa, uint64_t turns)
{
	size_t size = (size_t)f->nlines * RUN_LINE;

	lay_lanes(f, turns, size);
	f->engine_size += size * RUN_OVER;
	f->engine = "copy";
	f->fill = !one_line(f) ? isa->copy_lines : f->len != 0 ? isa->copy : isa->copy_len;
}

/* Makes the turn longer if that makes it a whole number of bursts, with at most `most` lanes. */
static uint64_t whole_bursts(const struct frun *f, uint64_t turns, uint64_t most)
{
	uint64_t lanes = f->own * turns, more = 32 / gcd(lanes, 32);

	if (lanes * more > 512)
		more = lanes < 64 ? (64 + lanes - 1) / lanes : 1;
	return lanes * more <= most ? turns * more : turns;
}

static void use_affine(struct frun *f, const struct run_isa *isa, uint64_t turns, uint64_t most)
{
	size_t size = 2 * (size_t)f->nlines * RUN_LINE;
	bool one = one_line(f);

	f->engine = "affine";
	if (f->own == 1 && turns == 1) {
		lay_lanes(f, 1, size);
		f->fill = one ? isa->affine : isa->affine_lines;
		return;
	}
	lay_lanes(f, whole_bursts(f, turns, most), size);
	f->stale_size = run_lanes_at(f);
	f->engine_size += f->stale_size;
	f->fill = !one ? isa->lanes_lines : f->len != 0 ? isa->lanes : isa->lanes_len;
}

static bool use_cols(struct run_make *m, const struct run_isa *isa)
{
	struct frun *f = &m->f;
	bool one = one_line(f) && !f->recipe[0].random;

	if (!run_make_cols(m))
		return false;
	lay_lanes(f, 1, 0);
	f->engine = "columns";
	f->stale_size = run_cols_at(f->cols);
	f->engine_size = f->stale_size + f->cols->ncols * RUN_COL_MOST * sizeof(uint16_t);
	f->fill = !one ? isa->cols_lines : f->len != 0 ? isa->cols : isa->cols_len;
	return true;
}

static void run_engine_choose(struct run_make *m, const struct run_isa *isa)
{
	struct frun *f = &m->f;
	size_t line = (size_t)f->nlines * RUN_LINE;
	uint64_t turns, most = m->spec->max_lanes != 0 && m->spec->max_lanes < MANY_LANES
				       ? m->spec->max_lanes
				       : MANY_LANES;
	uint64_t limit = f->own < most ? most / f->own : 1;

	f->lanes = f->own;
	f->turns = 1;
	f->fill = run_fill_scalar;
	f->engine = "frames";
	if (f->fixed) {
		f->fill = fill_fixed;
		f->engine = "fixed";
		return;
	}
	turns = run_engine_simple(f) ? turns_constant(f, limit) : 0;
	if (turns != 0 && (f->own * turns + RUN_OVER) * line <= MANY_BYTES) {
		use_copy(f, isa, turns);
		return;
	}
	turns = run_engine_simple(f) ? turns_affine(f, limit) : 0;
	if (turns != 0 && f->own * turns * 2 * line <= MANY_BYTES)
		use_affine(f, isa, turns, most);
	else if ((f->own + RUN_OVER) * line <= MANY_BYTES)
		(void)use_cols(m, isa);
}

int run_make_engine(struct run_make *m, struct err *e)
{
	struct frun *f = &m->f;
	const struct run_isa *isa = choose_isa(m->spec->isa, e);

	if (isa == NULL)
		return -EINVAL;
	run_engine_choose(m, isa);
	if (f->probe != NULL && f->probes_kind != FRUN_PROBES_SOME)
		f->probes = f->probes_kind == FRUN_PROBES_ONE   ? isa->probes_one
			    : f->probes_kind == FRUN_PROBES_ROW ? isa->probes_row
								: isa->probes_all;
	if (f->probes != NULL && run_engine_fuses(f, isa))
		f->fill_probes = isa->fill_row;
	snprintf(f->engine_name, sizeof(f->engine_name), "%s%s%s", f->engine,
		 f->lane_len != NULL ? "/" : "", f->lane_len != NULL ? isa->name : "");
	return 0;
}
