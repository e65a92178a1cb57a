/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/frame: what a frun consists of. run_new.c makes it, the worker reads it.
 *
 * Own frames repeat their slots after `own` of them, which are one own cycle. A turn of the lanes
 * is one frame in each lane; it is one or more own cycles. Most of a frame is in the buffer
 * already, as the image of its class. Those lines of RUN_LINE bytes in which frames differ are
 * written for each frame; they are called the written lines. */
#pragma once
#include "count.h"
#include "frame_run.h"
#include "run_bits.h"

#include <string.h>

#define RUN_LINE 64
/* The store of a whole line may go beyond the end of a frame, up to here. */
#define RUN_SAFE_END FRUN_MIN_ROOM
#define RUN_MAX_SUMS 64
/* So many frames are written without asking whether the lanes end among them: behind the last lane,
 * the first ones are there once more. */
#define RUN_OVER 64

#define RUN_SIZES_STEP 64 /* frun.sizes has an entry for every 64th own frame */

struct run_var {
	struct vary v;
	uint32_t bit;
	uint32_t base; /* index of its base in the state */
	uint16_t bits;
	uint32_t list; /* where its list begins in frun.list */
	uint64_t id;
};

struct run_sum {
	struct frame_sum s;
	uint32_t base; /* the part of it that does not vary, mod 65535 */
};

/* A recipe, as one stream sends it. */
struct run_recipe {
	uint16_t len, hdr_len;
	uint16_t stream, class;
	uint16_t nvars, nsums;
	bool linear; /* coef holds for all sums, see frame_recipe */
	bool random; /* the payload is random */
	bool moves;  /* its frames differ */
	bool resum;  /* its sums cover the probe and are computed when that is there */
	uint32_t var, sum, coef, pay_coef; /* where its own begin in these arrays of the frun */
	const struct run_block *block;     /* only with random */
	uint32_t line; /* where its template begins in frun.line: all written lines */
};

/* A block of random payload, and the sums of its pieces. */
struct run_block {
	uint64_t seed;
	unsigned refs;
	struct run_block *next;
	uint8_t bytes[FRAME_RANDOM_BLOCK];
	/* before[odd][n] is the sum of n words, the first of which begins at byte odd. */
	uint32_t before[2][FRAME_RANDOM_BLOCK / 2 + 1];
};

struct run_slot {         /* one frame of the own cycle */
	uint32_t recipe;  /* index of run_recipe */
	uint64_t ordinal; /* ordinal in the first own cycle, without o0 */
};

/* Columns: an engine that makes the values of a burst field by field, each as columns of 16-bit
 * words with one word per frame, and then stores all frames. It is for fruns of one stream whose
 * frames all have the same fields. Up to 8 columns that lie in the same line are a row. */
#define RUN_COL_VARS 16
#define RUN_COL_SUMS 8
#define RUN_COL_ROWS 8
#define RUN_COL_COUNT (RUN_COL_ROWS * 8)
#define RUN_COL_LIMBS 5 /* 32-bit pieces of a value: 128 bits, shifted within a word */
#define RUN_COL_MOST 32 /* at most so many frames have their columns made at once */

/* Where the values of a field come from. */
enum run_source {
	SOURCE_BITS, /* random bits: fixed | (r >> n) & mask */
	SOURCE_SPAN, /* random numbers below a span, for fields of at most 32 bits */
	SOURCE_STEP, /* segments in which the value grows by a constant */
	SOURCE_LIST,
	SOURCE_ANY, /* vary_at() for each frame */
};

struct run_col_var {
	enum run_source source;
	uint32_t var;         /* index of run_var */
	uint8_t shift;        /* by so many bits to the left, the field ends with a word */
	uint8_t limbs, words; /* how many the shifted value has */
	uint16_t first;       /* bit t: no field before this one uses the column of word t */
	uint8_t nrandom;      /* random words per value */
	int16_t up;           /* BITS: how far random words move to the left, all in all */
	uint8_t col[2 * RUN_COL_LIMBS]; /* column of each word, the lowest word first */
	uint32_t mask[RUN_COL_LIMBS], fixed[RUN_COL_LIMBS];
	/* By random word, the most significant one first: vary_key() for ordinals below 2^32. */
	uint64_t key[4];
	uint32_t low, span;
};

struct run_col_sum {
	uint8_t col;
	bool zero_is_none;
	/* What 1 in the words of each variation adds to the sum. The last entry is for the words of
	 * a random payload. */
	uint16_t ratio[RUN_COL_VARS + 1];
};

struct run_cols {
	unsigned nvars, nsums, nrows;
	unsigned ncols; /* columns, unused ones included */
	bool narrow;    /* there is one row, of at most 4 words */
	bool random;    /* the payload is random */
	uint32_t hdr_len;
	const struct run_block *block;
	struct run_col_var var[RUN_COL_VARS];
	struct run_col_sum sum[RUN_COL_SUMS];
	uint16_t row_line[RUN_COL_ROWS]; /* its index among the written lines */
	/* Which byte of the row each byte of the line is; 0x80: none. */
	WR_ALIGNED(CACHE_LINE) uint8_t pick[RUN_COL_ROWS][RUN_LINE];
	/* Where the word of each column goes, counted through the written lines; UINT32_MAX:
	 * unused. */
	uint32_t col_at[RUN_COL_COUNT];
};

/* SOURCE_STEP, in the state: the next value, what each frame adds, and for how many frames. */
struct run_segment {
	vary_u x, delta;
	uint64_t left;
};

/* What columns keep in the state. The columns of the next frames are made right after the stores of
 * the frames before them, because stores that have to wait for their columns take longer than both
 * together. */
struct run_col_state {
	/* How many frames, from pos on, have their columns already. The segments have moved on
	 * behind these frames. */
	uint32_t ready;
	struct run_segment segment[];
};

struct run_state;
typedef void run_fill_fn(const struct frun *f, struct run_state *st, void *const *obj, unsigned n);

typedef void run_probes_fn(const struct frun *f, uint32_t at, const struct frun_probing *b,
			   void *const *obj, unsigned n);
typedef void run_fill_probes_fn(const struct frun *f, struct run_state *st, uint32_t at,
				const struct frun_probing *b, void *const *obj, unsigned n);

struct frun {
	run_fill_fn *fill;
	run_probes_fn *probes;           /* NULL: no probes, or FRUN_PROBES_SOME */
	run_fill_probes_fn *fill_probes; /* fill and probes in one pass; NULL: not possible */
	uint32_t data_off, len16_off, len32_off;
	uint32_t write_off; /* one written line: where it is in an object */
	uint16_t len;       /* of all own frames; 0: they differ */
	bool fixed, nic, full;
	uint32_t nlines; /* how many written lines there are */
	uint32_t own;    /* own frames in an own cycle */
	uint32_t lanes;
	unsigned ncycle, first, nqueues, nstreams, nbases, nrecipes, nclasses, nblocks;
	uint64_t sched_id;
	const char *engine, *sums;
	char engine_name[24]; /* the engine with its variant */
	size_t size, state_size;
	size_t engine_size; /* bytes of run_state.rest that the engine uses */
	size_t stale_size;  /* how many of these run_reset() sets to 0 */
	/* The arrays lie inside of the one allocation. */
	uint16_t *line_off;        /* [nlines] where each written line begins in the frame */
	struct run_slot *slot;     /* [own] */
	struct run_recipe *recipe; /* [nrecipes] */
	struct run_var *var;
	struct run_sum *sum;
	uint16_t *coef, *pay_coef;
	uint8_t *line; /* templates */
	vary_u *list;
	struct run_block **block; /* [nblocks] those that it has taken */
	uint32_t *stream_id;      /* [nstreams] */
	uint32_t *by_id;          /* [nstreams] stream indexes in ascending order of their ids */
	uint64_t *o0;             /* [nstreams] */
	uint64_t *step;           /* [nstreams] what its ordinal grows by per own cycle */
	uint32_t *base0;       /* [nstreams + 1] where its variations begin in base_id and base */
	uint64_t *base_id;     /* [nbases] ids of variations, ascending within a stream */
	uint32_t *place0;      /* [nstreams + 1] where the places of each stream begin in place */
	uint16_t *place;       /* [ncycle] slots of each stream in the port's cycle, ascending */
	uint32_t *size_before; /* [ncycle + 1] bytes with FCS before a slot of the port's cycle */
	uint32_t *own_before;  /* [own + 1] the same for the own cycle */
	struct frun_probe *probe; /* [own]; NULL: none */
	/* [own] how many, from this one on, lie at the same offset; 255: or more */
	uint8_t *probe_run;
	enum frun_probes_kind probes_kind;
	/* [own / RUN_SIZES_STEP + 2][CNT_NSIZES]: frames of each class of sizes before every
	 * RUN_SIZES_STEP-th own frame, and at last in the whole own cycle. NULL: one length. */
	uint32_t *sizes;
	struct frun_class *class;
	uint8_t *image;
	uint16_t *line_of; /* [256] by line of the frame: its index among the written lines */
	uint32_t turns;    /* own cycles in one turn of the lanes */
	struct run_cols *cols;
	/* Columns: [lanes + RUN_OVER] templates of the written lines, with 0 where columns go. */
	uint8_t *lane_line;
	/* Columns: for each sum, [lanes + RUN_OVER] what does not vary of it; never 0. */
	uint16_t *lane_base;
	uint16_t *lane_len; /* [lanes + RUN_OVER] length of the frames of each lane */
};

struct run_state {
	uint64_t pos;          /* the own frame that comes next */
	uint64_t turn;         /* pos / lanes */
	uint32_t lane;         /* pos mod lanes */
	uint32_t built, start; /* copy: so many lanes from `start` on are ready */
	uint64_t epoch;        /* many affine lanes: the turn from which their ends count */
	uint64_t left;         /* one affine lane: frames until it must be built anew */
	uint64_t *o0;          /* [nstreams] ordinal of each stream at k = 0 */
	uint64_t *base;        /* [nbases] ordinal at which each variation has its first value */
	WR_ALIGNED(CACHE_LINE) uint8_t rest[];
};

/* Ordinal of the frame in slot `slot` of own cycle number `cycle`. */
static inline uint64_t run_ordinal(const struct frun *f, const struct run_state *st, uint32_t slot,
				   uint64_t cycle)
{
	unsigned s = f->recipe[f->slot[slot].recipe].stream;

	return st->o0[s] + f->slot[slot].ordinal + cycle * f->step[s];
}
/* Writes the length of a frame into its object, if lengths differ. */
static inline void run_put_len(const struct frun *f, uint8_t *obj, uint16_t len)
{
	uint32_t wide = len;

	if (f->len != 0)
		return;
	memcpy(obj + f->len16_off, &len, sizeof(len));
	memcpy(obj + f->len32_off, &wide, sizeof(wide));
}
/* Moves the position forward by n frames. */
static inline void run_advance(const struct frun *f, struct run_state *st, unsigned n)
{
	st->pos += n;
	st->lane += n;
	if (st->lane >= f->lanes) {
		st->turn += st->lane / f->lanes;
		st->lane %= f->lanes;
	}
}
/* Where a byte of the frame is in an array of the written lines; `at` lies in one of them. */
static inline uint32_t run_at(const struct frun *f, uint32_t at)
{
	return f->line_of[at / RUN_LINE] * RUN_LINE + at % RUN_LINE;
}
/* Forgets what the lanes hold: the position has changed. */
void run_reset(const struct frun *f, struct run_state *st);
/* run_lane.c: makes the written lines of the frame in lane `lane` and turn `turn` as 16-bit words z
 * in host order, with what each word grows by from turn to turn in inc. Its sums are linear and its
 * payload is not random. Returns for how many frames that is right, this one included: 1 ..
 * RUN_MAX_LEFT. */
uint32_t run_affine_lane(const struct frun *f, const struct run_state *st, uint32_t lane,
			 uint64_t turn, uint16_t *z, uint16_t *inc);
#define RUN_MAX_LEFT (1u << 30)
/* Sum of the n bytes of a block from byte w on, as words that begin at w. */
uint64_t run_window_sum(const struct run_block *b, unsigned w, unsigned n);
run_fill_fn run_fill_scalar;

static inline uint32_t run_mod(vary_u v)
{
	uint64_t x = (uint64_t)v % 65535;

	/* 2^64 is 1 mod 65535 */
	return v >> 64 != 0 ? (uint32_t)((x + (uint64_t)(v >> 64) % 65535) % 65535) : (uint32_t)x;
}

/* The checksum of bytes whose sum is congruent to `sum` mod 65535. For 0 it is 0, since bytes that
 * are not all 0 never have the checksum 0xffff; with zero_is_none it is 0xffff. */
static inline uint16_t run_sum_field(uint64_t sum, bool zero_is_none)
{
	uint32_t h = 65535 - (uint32_t)(sum % 65535);

	return h != 65535 ? (uint16_t)h : zero_is_none ? 65535 : 0;
}

/* Copy: makes the lanes ready that the next n frames need, from st->lane on. */
void run_copy_build(const struct frun *f, struct run_state *st, unsigned n);
/* Many affine lanes: builds those anew that are due among the next n, which do not go beyond the
 * last lane. */
void run_lanes_build(const struct frun *f, struct run_state *st, unsigned n);
/* Columns: makes the segment of v that begins at ordinal o of its stream. */
void run_col_segment(const struct frun *f, const struct run_state *st, const struct run_col_var *v,
		     uint64_t o, struct run_segment *s);
/* What the engines keep in st->rest. Copy: the written lines of all lanes, and of the first
 * RUN_OVER lanes once more. One affine lane: z and inc. Many affine lanes: for each, the turn in
 * which it must be built anew, counted from epoch; then z and inc of each, which begin at
 * run_lanes_at(). */
static inline size_t run_lanes_at(const struct frun *f)
{
	return ((size_t)f->lanes * sizeof(uint32_t) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

static inline struct run_col_state *run_col_state(struct run_state *st)
{
	return (struct run_col_state *)(void *)st->rest;
}

/* Where in st->rest the columns themselves begin. */
static inline size_t run_cols_at(const struct run_cols *k)
{
	return (sizeof(struct run_col_state) + k->nvars * sizeof(struct run_segment) + CACHE_LINE -
		1) /
	       CACHE_LINE * CACHE_LINE;
}

/* The engines in a variant for what a CPU can do: run_plain.c, run_ssse3.c, run_avx2.c,
 * run_avx512.c. There is one function for frames with one written line, one that writes lengths
 * besides, and one for any number of lines. */
struct run_isa {
	const char *name;
	run_fill_fn *copy, *copy_len, *copy_lines;
	run_fill_fn *affine, *affine_lines;           /* one affine lane */
	run_fill_fn *lanes, *lanes_len, *lanes_lines; /* many affine lanes */
	run_fill_fn *cols, *cols_len, *cols_lines;
	run_probes_fn *probes_one, *probes_row, *probes_all;
	/* copy and probes_row in one pass, if the written line holds the probe; NULL: not in this
	 * variant. */
	run_fill_probes_fn *fill_row;
};
extern const struct run_isa run_isa_plain, run_isa_ssse3, run_isa_avx2, run_isa_avx512;
