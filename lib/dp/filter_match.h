/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a frame passes a filter. Control makes the filter (lib/ctl/filter_load.h) and keeps it
 * until no worker has it in a plan; it does not change meanwhile, and any number of workers may use
 * it.
 *
 * A filter reads the frame from its first byte over all segments, without the FCS. A tag that the
 * device has taken out of the frame, and that the mbuf says, is read in its place: `vlan` means
 * what came on the wire. */
#pragma once
#include <stdbool.h>

#include "dpdk.h"
#include "filter_run.h"

struct filter_exec {
	uint64_t (*jit)(void *mbuf); /* machine code; NULL: the instructions are interpreted */
	const struct filter_insn *insns;
};

#define FILTER_TAKEN_OUT (RTE_MBUF_F_RX_VLAN_STRIPPED | RTE_MBUF_F_RX_QINQ_STRIPPED)

/* By the interpreter: what has no machine code, and frames with tags taken out. */
bool filter_match_plain(const struct filter_exec *x, const struct rte_mbuf *m);

static inline bool filter_match(const struct filter_exec *x, const struct rte_mbuf *m)
{
	if (likely(x->jit != NULL && (m->ol_flags & FILTER_TAKEN_OUT) == 0))
		return (uint32_t)x->jit((void *)(uintptr_t)m) != 0;
	return filter_match_plain(x, m);
}

/* A burst of up to 64 frames: bit i is set if frame i passes. */
static inline uint64_t filter_match_burst(const struct filter_exec *x,
					  struct rte_mbuf *const *frames, unsigned n)
{
	uint64_t pass = 0;

	for (unsigned i = 0; i < n; i++)
		pass |= (uint64_t)filter_match(x, frames[i]) << i;
	return pass;
}
