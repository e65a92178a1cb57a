/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells a watcher what is wrong with frames. Nothing here runs while all is well. */
#include "prx_own.h"

void prx_set_watcher(struct prx *x, const struct dp_watcher *w)
{
	__atomic_store_n(&x->watcher, w, __ATOMIC_RELEASE);
}

/* Which port, stream and Tx queue the flow is of. */
static void name_flow(const struct prx *x, uint32_t flow, struct dp_fault *f)
{
	unsigned p = x->nports;

	while (p > 1 && (x->of[p - 1].nstreams == 0 || flow < x->of[p - 1].base))
		p--;
	uint32_t at = flow - x->of[p - 1].base;
	f->known = true;
	f->port = (uint8_t)(p - 1);
	f->stream = (uint16_t)(at >> x->of[p - 1].queue_bits);
	f->txq = (uint8_t)(at & ((1u << x->of[p - 1].queue_bits) - 1));
}

void prx_fault(const struct prx *x, uint32_t flow, struct dp_fault *f)
{
	const struct dp_watcher *w = x->tell;

	if ((w->kinds >> f->kind & 1) == 0)
		return;
	if (flow != PRX_NO_FLOW) {
		const struct prx_flow *of = &x->flow[flow];
		uint64_t first = cell_get(&of->first), next = cell_get(&of->next),
			 last_tsc = cell_get(&of->last_tsc);
		name_flow(x, flow, f);
		f->expected = f->kind == DP_FAULT_LOSS ? f->seq - f->missing : (uint32_t)next;
		f->numbers = next != 0 && next >= first ? next + 1 - first : 0;
		f->came = cell_get(&of->received) - cell_get(&of->duplicate) +
			  cell_get(&of->corrupted);
		f->since = last_tsc != 0 ? f->now - last_tsc : 0;
	}
	w->fault(w->state, f);
}

void prx_fault_late(const struct prx *x, uint32_t flow, const struct prx_batch *b, unsigned n,
		    uint64_t now)
{
	uint64_t hi, lo;

	for (unsigned i = 0; i < n; i++) {
		if (b->transit[i] <= x->late || (b->taken_off >> i & 1) != 0)
			continue;
		prx_load(PRX_PROBE(b->m[i], b->off), &hi, &lo);
		prx_fault(x, flow != PRX_NO_FLOW ? flow : b->flow[i],
			  &(struct dp_fault){.kind = DP_FAULT_LATENCY,
					     .m = b->m[i],
					     .seq = (uint32_t)PROBE_SEQ(hi),
					     .now = now,
					     .transit = b->transit[i]});
	}
}
