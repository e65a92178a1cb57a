/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside the placement library only: reads core maps from text into lists of numbers. It knows
 * nothing of what the numbers mean; place.c does. */
#pragma once
#include "base.h"

#define MAP_MAX_NUMBER 1023 /* lcores and ports alike */

/* Numbers in the order in which they are written; none is there twice. col: the column in the text,
 * for errors. */
struct map_item {
	unsigned num;
	int col;
};
struct map_list {
	struct map_item *v;
	unsigned n;
	int col;
};

/* One map, "cores.ports*N". Index 0 is the Rx side, 1 the Tx side; if a part is written without
 * ':', both sides hold the same numbers. */
struct map_entry {
	struct map_list core[2], port[2];
	bool core_split, port_split; /* written with ':' */
	unsigned nq;                 /* N of "*N"; 0: one queue per core */
	int nq_col;
	unsigned which; /* index of the text that it was read from */
};

struct map_set {
	struct map_entry *v;
	unsigned n;
};

/* Reads maps and checks their syntax alone. -EINVAL, with the column in e and the index of the text
 * in *which (may be NULL); out is empty then. The caller frees out with map_set_free(). */
int map_set_parse(const char *const *maps, unsigned nmaps, struct map_set *out, unsigned *which,
		  struct err *e);
void map_set_free(struct map_set *);
