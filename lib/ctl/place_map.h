/* SPDX-License-Identifier: BSD-3-Clause */
/* Core maps as text -> lists of numbers. Inside the placement library only; what the numbers mean is place.c's business. */
#pragma once
#include "base.h"

#define MAP_MAX_NUMBER 1023 /* lcores and ports alike */

struct map_item { unsigned num; int col; };
struct map_list { struct map_item *v; unsigned n; int col; }; /* in the order written, no number twice; col: where it stands */

/* One "cores.ports*N". Index 0 is the Rx side, 1 the Tx side; without ':' both sides hold the same numbers. */
struct map_entry {
	struct map_list core[2], port[2];
	bool core_split, port_split; /* written with ':' */
	unsigned nq;                 /* "*N", 0: one queue per core */
	int nq_col;
	unsigned which;              /* index of the text that it was read from */
};

struct map_set { struct map_entry *v; unsigned n; };

/* Syntax only. -EINVAL with the column in e and the text's index in *which (may be NULL); out is then empty. Caller frees. */
int map_set_parse(const char *const *maps, unsigned nmaps, struct map_set *out, unsigned *which, struct err *e);
void map_set_free(struct map_set *);
