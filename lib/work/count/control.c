/* SPDX-License-Identifier: BSD-3-Clause */
/* Received frames are counted and given back, on every Rx queue. */
#include "ctl_int.h"
#include "plan_write.h"

void count_fill(struct ctl *c, struct ctl_port *cp, struct plan_writer *p)
{
	(void)c;
	for (unsigned q = 0; q < cp->p.nrxq; q++) {
		struct dp_rx_slot *slot = plan_slot(p, cp, q);
		if (slot != NULL)
			plan_own(slot, plan_task(p, &(struct dp_task){.kind = &dp_kind_sink, .state = &cp->sink[q]->base}, NULL));
	}
}
