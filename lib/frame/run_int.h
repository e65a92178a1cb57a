/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/frame: what a program of frames consists of. Made by run_new.c, read by the worker. */
#pragma once
#include "frame_run.h"
#include "run_bits.h"

#include <string.h>

#define RUN_LINE 64
/* A store of a whole line may go beyond a frame's end up to here: no buffer is smaller. */
#define RUN_SAFE_END (2048 - 128)
#define RUN_MAX_SUMS 64

struct run_var {
	struct vary v;
	uint32_t bit;
	uint32_t slot;           /* where its first ordinal stands in the state */
	uint16_t bits;
	uint32_t list;           /* index into the program's */
	uint64_t id;
};

struct run_sum {
	struct frame_sum s;
	uint32_t base;           /* what does not vary of it, mod 65535 */
};

/* One plan as one stream sends it. */
struct run_plan {
	uint16_t len, hdr_len;
	uint16_t stream, class;
	uint16_t nvars, nsums;
	bool linear;             /* sums follow from what varies */
	bool random;             /* payload */
	bool moves;              /* not the same bytes each time */
	uint32_t var, sum, coef, pay_coef; /* where its own begin in the program's arrays */
	uint32_t block;          /* random: index of its block */
	uint32_t line;           /* its template: the written lines, one after the other */
};

/* Random bytes, and what sums of pieces of them are. */
struct run_block {
	uint64_t seed;
	uint8_t bytes[FRAME_RANDOM_BLOCK];
	uint32_t before[2][FRAME_RANDOM_BLOCK / 2 + 1]; /* sum of the words before the n-th, words from byte 0 or from byte 1 */
};

struct run_slot {            /* of one own frame of the cycle */
	uint32_t plan;           /* index of run_plan */
	uint64_t ordinal;        /* of its stream at the first own cycle, without o0 */
};

struct run_state;
typedef void run_fill_fn(const struct frun *f, struct run_state *st, void *const *obj, unsigned n);

struct frun {
	run_fill_fn *fill;
	uint32_t data_off, len16_off, len32_off;
	uint16_t len;            /* of all frames, 0: they differ */
	bool fixed, nic, full;
	uint32_t nlines;         /* lines of RUN_LINE bytes that are written each time */
	uint32_t own;            /* own frames of a cycle: after so many the slots come again */
	uint32_t lanes;
	unsigned ncycle, first, nqueues, nstreams, nslots, nplans, nclasses, nblocks;
	uint64_t sched_id;
	const char *engine, *sums;
	size_t size, state_size;
	size_t engine_size;      /* of the state: what the engine keeps */
	size_t stale_size;       /* and how much of it is 0 when nothing is known of the position */
	/* all inside of the one allocation */
	uint16_t *line_off;      /* [nlines] */
	struct run_slot *slot;   /* [own] */
	struct run_plan *plan;   /* [nplans] */
	struct run_var *var;
	struct run_sum *sum;
	uint16_t *coef, *pay_coef;
	uint8_t *line;           /* templates */
	vary_u *list;
	struct run_block *block;
	uint32_t *stream_id;     /* [nstreams] */
	uint32_t *by_id;         /* [nstreams] stream indexes in ascending order of their ids */
	uint64_t *o0;            /* [nstreams] */
	uint64_t *step;          /* [nstreams] frames of a stream in the port cycles that make one own cycle */
	uint32_t *slot0;         /* [nstreams + 1] a stream's variations in slot_id and in the state */
	uint64_t *slot_id;       /* [nslots] ascending within a stream */
	uint32_t *place0;        /* [nstreams + 1] */
	uint16_t *place;         /* [ncycle] the places of each stream in the port's cycle, ascending */
	uint32_t *size_before;   /* [ncycle + 1] bytes with FCS of the port's cycle */
	uint32_t *own_before;    /* [own + 1] */
	struct frun_class *class;
	uint8_t *image;
	/* engine */
	uint8_t *lane_line;      /* templates of lanes, ready; size in bytes */
	size_t lane_line_size;
	uint16_t *lane_len;      /* lengths of lanes */
	size_t lane_len_size;
};

struct run_state {
	uint64_t pos;            /* own frame that comes next */
	uint64_t turn;           /* pos / lanes */
	uint32_t lane;           /* pos mod lanes */
	uint64_t *o0;            /* [nstreams] ordinal of each stream at k = 0 */
	uint64_t *base;          /* [nslots] ordinal of each variation's first value */
	WR_ALIGNED(CACHE_LINE) uint8_t rest[];
};

/* Ordinal of the stream of own frame number `slot` of own cycle `cycle`. */
static inline uint64_t run_ordinal(const struct frun *f, const struct run_state *st, uint32_t slot, uint64_t cycle)
{
	unsigned s = f->plan[f->slot[slot].plan].stream;

	return st->o0[s] + f->slot[slot].ordinal + cycle * f->step[s];
}
/* The length of this frame, where lengths differ. */
static inline void run_put_len(const struct frun *f, uint8_t *obj, uint16_t len)
{
	uint32_t wide = len;

	if (f->len != 0)
		return;
	memcpy(obj + f->len16_off, &len, sizeof(len));
	memcpy(obj + f->len32_off, &wide, sizeof(wide));
}
/* run_fill.c: one frame of plan p with ordinal o, complete. */
void run_put_frame(const struct frun *f, const struct run_state *st, const struct run_plan *p, uint64_t o, uint8_t *dst);
run_fill_fn run_fill_scalar;
