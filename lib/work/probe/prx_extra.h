/* SPDX-License-Identifier: BSD-3-Clause */
/* What a receiver of probes does beside counting, if it is asked to: it compares each latency with
 * the one before, and hands out single latencies. There is one struct for each Rx queue, in
 * control's memory, which control shares with the queue's worker. */
#pragma once
#include "prx.h"

#define PRX_RING 4096 /* samples on their way to control */

enum prx_sampling { PRX_NO_SAMPLES, PRX_EVEN, PRX_POISSON };

struct prx_extra {
	/* control writes these */
	/* A latency that differs by more than this from the one before of its flow is counted. 0:
	 * none is compared. */
	cell_t jitter_cycles;
	cell_t sampling;        /* enum prx_sampling; interval_cycles is set before it */
	cell_t interval_cycles; /* between samples; with PRX_POISSON, in the mean */
	WR_ALIGNED(CACHE_LINE) cell_t tail; /* samples that control has taken out */
	/* the worker writes these */
	WR_ALIGNED(CACHE_LINE) cell_t head; /* samples that the worker has put in */
	cell_t lost;                        /* samples that found the ring full */
	cell_t compared, above; /* latencies compared; those that differed by more than allowed */
	uint64_t next;          /* when the next sample is due, in cycles */
	uint64_t seed, drawn;   /* of the random times, and how many of them were drawn */
	uint64_t ns[PRX_RING];
} WR_ALIGNED(CACHE_LINE);

/* Sets what is used from the next probe on; NULL: nothing more than counting. The struct that was
 * set before must live until the worker has finished its current burst. Any thread. */
void prx_set_extra(struct prx *, struct prx_extra *);
/* Takes the next sample out of the ring, in ns. Returns false if there is none. Control only. */
bool prx_sample_next(struct prx_extra *, uint64_t *ns);
