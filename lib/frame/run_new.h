/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/frame: how a frun is made. Its arrays are made one by one and packed into one
 * allocation at the end. */
#pragma once
#include "run_int.h"

struct run_make {
	const struct frun_spec *spec;
	struct frun f; /* its arrays are allocations of their own until it is packed */
	const struct frame_recipe **source; /* [f.nrecipes] what each run_recipe was made from */
	uint32_t *class_at; /* [f.nclasses] where the bytes of each class begin in f.image */
	uint32_t nvars, nsums, ncoef, npay, nlist, nline, nimage; /* lengths of arrays of f */
	bool written[(16384 + RUN_LINE) / RUN_LINE]; /* the lines that are written for each frame */
};

/* run_image.c: finds the lines that are written for each frame, makes the templates of these lines,
 * and the classes and images for the rest. */
void run_make_images(struct run_make *m);
/* run_make_cols.c: makes f.cols and what belongs to it. f.lanes must be f.own. False: columns are
 * not possible for these frames. */
bool run_make_cols(struct run_make *m);
/* run_block.c: the random bytes of a seed. They are shared, and live until everybody who took them
 * has given them back. */
struct run_block *run_block_take(uint64_t seed);
void run_block_give(struct run_block *b);
/* run_engine.c: chooses the engine that writes the frames. -EINVAL with text: the spec names an
 * unknown variant. */
int run_make_engine(struct run_make *m, struct err *e);
