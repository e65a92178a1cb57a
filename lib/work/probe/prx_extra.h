/* SPDX-License-Identifier: BSD-3-Clause */
/* What a receiver of probes does beside counting when it is asked to: compare each latency with the one before, and hand out single latencies. Of
 * one Rx queue; control's memory, shared with its worker. */
#pragma once
#include "prx.h"

#define PRX_RING 4096 /* samples on their way to control */

enum prx_sampling { PRX_NO_SAMPLES, PRX_EVEN, PRX_POISSON };

struct prx_extra {
	/* control */
	cell_t jitter_cycles;    /* a latency that differs by more from the one before of its flow is counted; 0: none is */
	cell_t sampling;         /* enum prx_sampling; `interval` is right before it is set */
	cell_t interval_cycles;  /* between samples, of PRX_POISSON in the mean */
	WR_ALIGNED(CACHE_LINE) cell_t tail; /* samples taken out */
	/* worker */
	WR_ALIGNED(CACHE_LINE) cell_t head; /* samples put in */
	cell_t lost;             /* the ring was full */
	cell_t compared, above;  /* latencies compared, and how many of them differed by more */
	uint64_t next;           /* when the next sample is due */
	uint64_t seed, drawn;    /* of the random times, and how many were drawn */
	uint64_t ns[PRX_RING];
} WR_ALIGNED(CACHE_LINE);

/* From the next probe on; NULL: none. What was set before must live until the worker has gone on. Any thread. */
void prx_set_extra(struct prx *, struct prx_extra *);
/* Control: the next sample in ns. false: there is none. */
bool prx_sample_next(struct prx_extra *, uint64_t *ns);
