/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames to and from servers that are dead (`flow.dead`): they vanish. The connections live on, as
 * those of a machine whose cable is out: they know nothing of it. */
#include "flows_own.h"

/* Whether the innermost IP header's destination, or source, is one of them. */
static bool dead_is(const struct flows_job *j, const uint8_t *ip, bool from)
{
	uint8_t address[16] = {[10] = 0xff, [11] = 0xff};

	if (ip[0] >> 4 == 6)
		memcpy(address, ip + (from ? 8 : 24), 16);
	else
		memcpy(address + 12, ip + (from ? 12 : 16), 4);
	for (unsigned i = 0; i < j->dead.n; i++)
		if (memcmp(j->dead.address[i], address, 16) == 0)
			return true;
	return false;
}

unsigned flows_dead_rx(struct flows_own *o, const struct flows_job *j, struct rte_mbuf **m,
		       unsigned n)
{
	unsigned left = 0;

	for (unsigned i = 0; i < n; i++) {
		const struct flows_shape *s = &j->shape[o->shape[i] & ~FLOWS_HAND];

		if (dead_is(j, rte_pktmbuf_mtod(m[i], const uint8_t *) + s->l3, false)) {
			rte_pktmbuf_free(m[i]);
			continue;
		}
		o->shape[left] = o->shape[i];
		m[left++] = m[i];
	}
	cell_add(&o->state->dead, n - left);
	return left;
}

void flows_dead_tx(struct flows_own *o)
{
	struct flow_sink *s = &o->sink;
	unsigned left = 0;

	for (unsigned i = 0; i < s->nout; i++) {
		struct rte_mbuf *m = s->out[i].handle;

		if (dead_is(o->job, rte_pktmbuf_mtod(m, const uint8_t *) + s->out[i].l3, true)) {
			/* what it held is overwritten; one of the kind FLOW_FILLED stays one */
			if (s->out[i].fill == 0 || s->out[i].segment != 0)
				frame_touch(m);
			txq_give(o->q, &m, 1);
			continue;
		}
		s->out[left++] = s->out[i];
	}
	cell_add(&o->state->dead_sent, s->nout - left);
	s->nout = left;
}
