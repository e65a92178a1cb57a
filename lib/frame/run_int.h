/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/frame: what a program of frames consists of. Made by run_new.c, read by the worker. */
#pragma once
#include "count.h"
#include "frame_run.h"
#include "run_bits.h"

#include <string.h>

#define RUN_LINE 64
/* A store of a whole line may go beyond a frame's end up to here. */
#define RUN_SAFE_END FRUN_MIN_ROOM
#define RUN_MAX_SUMS 64
/* Frames that are written without a look at the end of the lanes: behind the last one the first come again. */
#define RUN_OVER 64

#define RUN_SIZES_STEP 64

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
	bool resum;              /* sums are to be made when its probe is there */
	uint32_t var, sum, coef, pay_coef; /* where its own begin in the program's arrays */
	const struct run_block *block; /* random */
	uint32_t line;           /* its template: the written lines, one after the other */
};

/* Random bytes, and what sums of pieces of them are. */
struct run_block {
	uint64_t seed;
	unsigned refs;
	struct run_block *next;
	uint8_t bytes[FRAME_RANDOM_BLOCK];
	uint32_t before[2][FRAME_RANDOM_BLOCK / 2 + 1]; /* sum of the words before the n-th, words from byte 0 or from byte 1 */
};

struct run_slot {            /* of one own frame of the cycle */
	uint32_t plan;           /* index of run_plan */
	uint64_t ordinal;        /* of its stream at the first own cycle, without o0 */
};

/* Columns: the values of a burst, field by field, then all stores. For programs of one stream whose frames all have the same fields. */
#define RUN_COL_VARS 16
#define RUN_COL_SUMS 8
#define RUN_COL_ROWS 8       /* of 8 words, all in one line of the frame */
#define RUN_COL_SLOTS (RUN_COL_ROWS * 8)
#define RUN_COL_LIMBS 5      /* of 32 bits: a field of 128 bits that begins within a word */
#define RUN_COL_MOST 32      /* frames whose columns are made at once: a vector of words */

enum run_source {
	SOURCE_BITS,         /* random bits: fixed | (r >> n) & mask */
	SOURCE_SPAN,         /* random below a span, fields of at most 32 bits */
	SOURCE_STEP,         /* straight segments */
	SOURCE_LIST,
	SOURCE_ANY,          /* one by one */
};

struct run_col_var {
	enum run_source source;
	uint32_t var;            /* index of run_var */
	uint8_t shift;           /* to the left, so that the field ends with a word */
	uint8_t limbs, words;    /* of the shifted number */
	uint16_t first;          /* bit t: no field before this one has a part in the column of word t */
	uint8_t nrandom;         /* random words per value */
	int16_t up;              /* BITS: random words move so far to the left in all */
	uint8_t slot[2 * RUN_COL_LIMBS]; /* column of each word, lowest first */
	uint32_t mask[RUN_COL_LIMBS], fixed[RUN_COL_LIMBS];
	uint64_t key[4];         /* of ordinals below 2^32, of the most significant random word first */
	uint32_t low, span;
};

struct run_col_sum {
	uint8_t slot;
	bool zero_is_none;
	uint16_t ratio[RUN_COL_VARS + 1]; /* what 1 in the words of each variation adds, and the payload at the end */
};

struct run_cols {
	unsigned nvars, nsums, nrows;
	unsigned nslots;         /* columns, those that are not used included */
	bool narrow;             /* one row of at most 4 words */
	bool random;             /* payload */
	uint32_t hdr_len;
	const struct run_block *block;
	struct run_col_var var[RUN_COL_VARS];
	struct run_col_sum sum[RUN_COL_SUMS];
	uint16_t row_line[RUN_COL_ROWS];           /* index of the written line */
	WR_ALIGNED(CACHE_LINE) uint8_t pick[RUN_COL_ROWS][RUN_LINE]; /* byte of the row that goes there, 0x80: none */
	uint32_t slot_at[RUN_COL_SLOTS];           /* where its word goes among the written lines; UINT32_MAX: unused */
};

struct run_segment {         /* SOURCE_STEP, in the state */
	vary_u x, delta;
	uint64_t left;
};

/* Columns, in the state: those of the frames that come next are made behind the stores of the frames before, for stores that wait for
 * them cost more than both. */
struct run_col_state {
	uint32_t ready;          /* columns of so many frames from pos on are there, and segments stand behind these */
	struct run_segment segment[];
};

struct run_state;
typedef void run_fill_fn(const struct frun *f, struct run_state *st, void *const *obj, unsigned n);

typedef void run_probes_fn(const struct frun *f, uint32_t at, const struct frun_probing *b, void *const *obj, unsigned n);
typedef void run_fill_probes_fn(const struct frun *f, struct run_state *st, uint32_t at, const struct frun_probing *b, void *const *obj, unsigned n);

struct frun {
	run_fill_fn *fill;
	run_probes_fn *probes;   /* NULL: each is to be looked at */
	run_fill_probes_fn *fill_probes; /* fill and probes at once; NULL: not of this program */
	uint32_t data_off, len16_off, len32_off;
	uint32_t write_off;      /* of the first written line in an object */
	uint16_t len;            /* of all frames, 0: they differ */
	bool fixed, nic, full;
	uint32_t nlines;         /* lines of RUN_LINE bytes that are written each time */
	uint32_t own;            /* own frames of a cycle: after so many the slots come again */
	uint32_t lanes;
	unsigned ncycle, first, nqueues, nstreams, nslots, nplans, nclasses, nblocks;
	uint64_t sched_id;
	const char *engine, *sums;
	char engine_name[24];    /* with its variant */
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
	struct run_block **block; /* [nblocks] that it keeps */
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
	struct frun_probe *probe; /* [own], NULL: none */
	uint8_t *probe_run;      /* [own] so many from this one on are at one place */
	enum frun_probes_kind probes_kind;
	uint32_t *sizes;         /* [own / RUN_SIZES_STEP + 2][CNT_NSIZES] where sizes differ: frames of each before every so manieth, and of all */
	struct frun_class *class;
	uint8_t *image;
	uint16_t *line_of;       /* [256] of each line of the frame: its place among the written ones */
	uint32_t turns;          /* own cycles that make one turn of the lanes */
	struct run_cols *cols;
	uint8_t *lane_line;      /* columns: [lanes + RUN_OVER] templates, 0 where columns go */
	uint16_t *lane_base;     /* columns: of each sum [lanes + RUN_OVER] what does not vary of it, never 0 */
	uint16_t *lane_len;      /* [lanes + RUN_OVER] length of each lane's frames, the first lanes again at the end */
};

struct run_state {
	uint64_t pos;            /* own frame that comes next */
	uint64_t turn;           /* pos / lanes */
	uint32_t lane;           /* pos mod lanes */
	uint32_t built, start;   /* copy: so many lanes from this one on are ready */
	uint64_t epoch;          /* lanes: turn of the last reset, from which their ends are counted */
	uint64_t left;           /* affine, one lane: frames until it is to be built anew */
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
/* After n more frames. */
static inline void run_advance(const struct frun *f, struct run_state *st, unsigned n)
{
	st->pos += n;
	st->lane += n;
	if (st->lane >= f->lanes) {
		st->turn += st->lane / f->lanes;
		st->lane %= f->lanes;
	}
}
/* Where byte `at` of the frame, in a line that is written each time, lies among these lines. */
static inline uint32_t run_at(const struct frun *f, uint32_t at)
{
	return f->line_of[at / RUN_LINE] * RUN_LINE + at % RUN_LINE;
}
/* Nothing is known of the lanes. */
void run_reset(const struct frun *f, struct run_state *st);
/* run_lane.c: the written lines of lane's frame in turn `turn` (sums are linear, payload not random). */
void run_put_lane(const struct frun *f, const struct run_state *st, uint32_t lane, uint64_t turn, uint8_t *lines);
/* The same as 16-bit words in host order, what is added to each of them from turn to turn, and for how many frames that is right, the first
 * included; at least 1, at most RUN_MAX_LEFT. */
uint32_t run_affine_lane(const struct frun *f, const struct run_state *st, uint32_t lane, uint64_t turn, uint16_t *z, uint16_t *inc);
#define RUN_MAX_LEFT (1u << 30)
/* run_fill.c: one frame of plan p with ordinal o, complete. */
void run_put_frame(const struct frun *f, const struct run_state *st, const struct run_plan *p, uint64_t o, uint8_t *dst);
uint64_t run_window_sum(const struct run_block *b, unsigned w, unsigned n);
run_fill_fn run_fill_scalar;

static inline uint32_t run_mod(vary_u v)
{
	uint64_t x = (uint64_t)v % 65535;

	/* 2^64 is 1 mod 65535 */
	return v >> 64 != 0 ? (uint32_t)((x + (uint64_t)(v >> 64) % 65535) % 65535) : (uint32_t)x;
}

/* The checksum for a sum in 0..65534: that of bytes that are not all 0 is never 0xffff, but where 0 means none. */
static inline uint16_t run_sum_field(uint64_t sum, bool zero_is_none)
{
	uint32_t h = 65535 - (uint32_t)(sum % 65535);

	return h != 65535 ? (uint16_t)h : zero_is_none ? 65535 : 0;
}

/* Copy: lanes from st->lane on are ready for the next n frames. */
void run_copy_build(const struct frun *f, struct run_state *st, unsigned n);
/* Many affine lanes: those of the next n, none beyond the last lane, that are due are built anew. */
void run_lanes_build(const struct frun *f, struct run_state *st, unsigned n);
/* Columns: the segment of v that begins at ordinal o of its stream. */
void run_col_segment(const struct frun *f, const struct run_state *st, const struct run_col_var *v, uint64_t o, struct run_segment *s);
/* What an engine keeps in st->rest. Copy: the lanes' lines, the first RUN_OVER of them again at the end. Affine: z and inc. Many affine
 * lanes: the turns, from epoch on, in which each is to be built anew; then z and inc of each. */
static inline size_t run_lanes_at(const struct frun *f)
{
	return ((size_t)f->lanes * sizeof(uint32_t) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

static inline struct run_col_state *run_col_state(struct run_state *st)
{
	return (struct run_col_state *)(void *)st->rest;
}

/* Where in st->rest the columns themselves lie. */
static inline size_t run_cols_at(const struct run_cols *k)
{
	return (sizeof(struct run_col_state) + k->nvars * sizeof(struct run_segment) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

/* Engines in variants for what the CPU can do: run_plain.c, run_ssse3.c, run_avx2.c, run_avx512.c. */
struct run_isa {
	const char *name;
	run_fill_fn *copy, *copy_len, *copy_lines; /* lanes of one line; the same and lengths; any */
	run_fill_fn *affine, *affine_lines;        /* one lane of one line; of any */
	run_fill_fn *lanes, *lanes_len, *lanes_lines; /* many affine lanes */
	run_fill_fn *cols, *cols_len, *cols_lines;
	run_probes_fn *probes_one, *probes_row, *probes_all;
	run_fill_probes_fn *fill_row; /* copy and probes_row at once, where the written line holds the probe; NULL: one after the other */
};
extern const struct run_isa run_isa_plain, run_isa_ssse3, run_isa_avx2, run_isa_avx512;
