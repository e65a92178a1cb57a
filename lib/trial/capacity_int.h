/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/trial: a measurement of a port's capacity that goes on. capacity_run.c leads it, and
 * capacity_read.c reads what a trial of it came to. */
#pragma once
#include "capacity_run.h"
#include "work.h"

/* The frame sizes that a stream had before. */
struct capacity_was {
	unsigned port, stream;
	struct sizes sizes;
};

/* Counters at one moment. */
struct capacity_base {
	struct cnt_queue *q[CAPACITY_PORTS]; /* of each queue */
	uint64_t *busy;                      /* of each worker: cycles with work */
	uint64_t *other;                     /* of each worker: frames of all other ports */
};

struct capacity_run {
	struct ctl *c;
	struct capacity_run_spec spec;
	int partner; /* port; -1: none */
	struct capacity k;
	struct trial *trial; /* the one that goes on */
	struct capacity_base base;
	struct capacity_was *was;
	unsigned nwas;
	unsigned size; /* that streams have been given; 0: none */
	/* For the estimate: the time of all trials that are over, and the begin of this one. */
	uint64_t gone_ns, began_ns;
	unsigned ntrials;
};

/* Reads the counters of both ports; what was in *out is freed. */
void capacity_mark(const struct capacity_run *r, struct capacity_base *out);
void capacity_mark_free(struct capacity_base *b);
/* What the trial told, from its result and from what was counted since r->base. */
void capacity_read(const struct capacity_run *r, const struct trial_result *res,
		   struct capacity_reading *out);
