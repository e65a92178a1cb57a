/* SPDX-License-Identifier: BSD-3-Clause */
/* Control's side of lateness: how long after their deadlines bursts left. The histograms are those
 * of the Tx queues (dp_txq.lateness), and the numbers are those since the last clear. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "send_groups.h"

int late_open(struct ctl_port *cp, unsigned q, void *mem, struct err *e)
{
	if (mem == NULL)
		return err_set(e, ENODEV, "no memory for Tx queue %u of port %u", q, cp->p.id);
	hist_init(mem, GEN_LATE_SHAPE);
	port_txq(&cp->p, q)->lateness = mem;
	return 0;
}

void late_clear(struct ctl_port *cp)
{
	struct send_port *sp = send_of(cp);

	for (unsigned q = 0; q < cp->p.ntxq; q++) {
		free(sp->late_base[q]);
		sp->late_base[q] = hist_copy(port_txq(&cp->p, q)->lateness);
	}
}

void late_free(struct ctl_port *cp)
{
	struct send_port *sp = send_of(cp);

	for (unsigned q = 0; q < cp->p.ntxq && sp->late_base != NULL; q++) {
		free(sp->late_base[q]);
		if (port_txq(&cp->p, q) != NULL)
			rte_free(port_txq(&cp->p, q)->lateness);
	}
	free(sp->late_base);
}

/* Returns the lateness of queue q since the last clear, in cycles. The caller frees it. */
static struct hist *late_read(const struct ctl_port *cp, unsigned q)
{
	const struct send_port *sp = send_of(cp);
	struct hist *h = hist_copy(port_txq(&cp->p, q)->lateness);

	if (sp->late_base[q] != NULL)
		hist_subtract(h, sp->late_base[q]);
	return h;
}

static uint64_t in_ns(uint64_t cycles)
{
	return cycles == UINT64_MAX ? UINT64_MAX : clock_ns(cycles);
}

/* Returns what is shown of a histogram of cycles, which may be NULL. */
static struct snap_late late_of(const struct hist *h)
{
	struct snap_late l = {.count = h != NULL ? hist_count(h) : 0, .mean = (double)NAN};

	if (l.count == 0)
		return l;
	l.p50 = in_ns(hist_percentile(h, 50));
	l.p99 = in_ns(hist_percentile(h, 99));
	l.max = in_ns(hist_max(h));
	l.mean = hist_mean(h) / clock_hz() * 1e9;
	return l;
}

void late_snap(const struct ctl_port *cp, struct snap_port *s)
{
	struct hist *all = NULL;

	for (unsigned q = 0; q < cp->p.ntxq; q++) {
		struct hist *h = late_read(cp, q);
		s->queue[q].late = late_of(h);
		if (all == NULL) {
			all = h;
			continue;
		}
		hist_merge(all, h);
		free(h);
	}
	s->late = late_of(all);
	free(all);
}
