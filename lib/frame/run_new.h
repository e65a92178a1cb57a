/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/frame: how a program is made. Its arrays are made one by one, and packed into one allocation at the end. */
#pragma once
#include "run_int.h"

struct run_make {
	const struct frun_spec *spec;
	struct frun f;           /* its pointers are arrays of their own, NULL: none */
	const struct frame_plan **source; /* [f.nplans] of each run_plan */
	uint32_t *class_at;      /* [f.nclasses] where its bytes begin in f.image */
	uint32_t nvars, nsums, ncoef, npay, nlist, nline, nimage;
	bool written[(16384 + RUN_LINE) / RUN_LINE]; /* lines that are written each time */
};

/* run_image.c: which lines are written each time, the templates of these, and the classes of the rest. */
void run_make_images(struct run_make *m);
/* run_make_cols.c: f.cols and what goes with it; false: these frames are not of that kind. f.lanes is f.own. */
bool run_make_cols(struct run_make *m);
/* run_block.c: the random bytes of that seed, for as long as somebody has them. */
struct run_block *run_block_take(uint64_t seed);
void run_block_give(struct run_block *b);
/* run_engine.c: how frames are written. */
int run_make_engine(struct run_make *m, struct err *e);
/* The template of run_plan i as this program wants it: without the checksums that a NIC fills in. Caller frees; len + 64 bytes, 0 behind. */
uint8_t *run_template(const struct run_make *m, uint32_t i);
