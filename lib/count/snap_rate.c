/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of the rates of a queue: see snap.h. */
#include <math.h>

#include "snap.h"

#define PER_SECOND(name, counter) \
	{ \
#name, offsetof(struct snap_queue_rates, name), \
			offsetof(struct cnt_queue, counter), SNAP_SECONDS \
	}
#define PER_BURST(name, member, times) \
	{ \
		name, offsetof(struct snap_queue_rates, member), \
			offsetof(struct cnt_queue, times.cycles), \
			offsetof(struct cnt_queue, times.bursts) \
	}

const struct snap_rate_row snap_tx_rates[] = {
	PER_SECOND(dropped_pps, tx.dropped),
	PER_SECOND(stalls_per_s, tx.stalls),
	PER_SECOND(nombuf_per_s, tx.nombuf),
	PER_BURST("cycles_per_burst", tx_cycles, tx_times),
	{NULL},
};

const struct snap_rate_row snap_rx_rates[] = {
	PER_BURST("cycles_per_burst", rx_cycles, rx_times),
	{NULL},
};

static void rates_fill(const struct snap_rate_row *row, struct snap_queue_rates *out,
		       const struct cnt_queue *counted, double seconds)
{
	for (; row->name != NULL; row++) {
		const char *from = (const char *)counted;
		double of = (double)*(const uint64_t *)(from + row->of), per = seconds;
		if (row->per != SNAP_SECONDS)
			per = (double)*(const uint64_t *)(from + row->per);
		*(double *)((char *)out + row->offset) = per > 0 ? of / per : (double)NAN;
	}
}

void snap_queue_rates(struct snap_queue_rates *out, const struct cnt_queue *counted, double seconds)
{
	rates_fill(snap_tx_rates, out, counted, seconds);
	rates_fill(snap_rx_rates, out, counted, seconds);
}
