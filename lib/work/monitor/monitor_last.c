/* SPDX-License-Identifier: BSD-3-Clause */
/* The last frame that a port has received. Workers keep it only from the first question on. */
#include "monitor_ctl.h"

#include <errno.h>
#include <stdlib.h>

static struct monitor_cfg *monitor_cfg_of(const struct ctl_port *cp)
{
	return work_cfg(&cp->cfg, &work_monitor);
}

struct monitor_keeper *monitor_keeper_of(const struct ctl_port *cp, unsigned queue)
{
	const struct monitor_port *mp = monitor_of_port(cp);

	return monitor_cfg_of(cp)->last && mp->keeper != NULL ? mp->keeper[queue] : NULL;
}

static struct monitor_keeper *monitor_keeper_new(void)
{
	struct monitor_keeper *k = xcalloc_lines(sizeof(*k));

	k->place = xcalloc_lines(3 * sizeof(*k->place));
	k->middle = 1;
	k->front = 2;
	return k;
}

static void last_begin(struct ctl *c, struct ctl_port *cp)
{
	struct monitor_port *mp = monitor_of_port(cp);

	if (monitor_cfg_of(cp)->last && mp->keeper != NULL)
		return;
	if (mp->keeper == NULL) {
		mp->keeper = xcalloc(cp->p.nrxq, sizeof(struct monitor_keeper *));
		mp->whole = xcalloc(1, sizeof(*mp->whole));
		for (unsigned q = 0; q < cp->p.nrxq; q++)
			mp->keeper[q] = monitor_keeper_new();
	}
	monitor_cfg_of(cp)->last = true;
	mp->keep_tsc = clock_tsc();
	ctl_touch(c, cp->p.id, WHY_WORK);
}

int monitor_last_keep(struct ctl *c, const struct portset *ports, struct err *e)
{
	for (unsigned i = 0; i < c->nports; i++)
		if (portset_has(ports, i) && (!c->port[i]->p.used || c->port[i]->p.nrxq == 0))
			return err_set(
				e, EINVAL,
				"port %u has no Rx queue, so no frame comes; `show frame %u` tells what it sends",
				i, i);
	for (unsigned i = 0; i < c->nports; i++)
		if (portset_has(ports, i))
			last_begin(c, c->port[i]);
	return 0;
}

bool monitor_last(const struct ctl *c, unsigned port, struct monitor_line *out, uint64_t *age_ns)
{
	const struct ctl_port *cp = c->port[port];
	const struct monitor_port *mp = monitor_of_port(cp);
	const struct monitor_kept *newest = NULL;

	if (!monitor_cfg_of(cp)->last || mp->keeper == NULL)
		return false;
	*out = (struct monitor_line){.port = port};
	for (unsigned q = 0; q < cp->p.nrxq; q++) {
		const struct monitor_kept *kept = monitor_newest(mp->keeper[q]);
		if (kept == NULL || kept->is.tsc < mp->keep_tsc ||
		    (newest != NULL && kept->is.tsc <= newest->is.tsc))
			continue;
		newest = kept;
		out->queue = q;
	}
	if (newest == NULL)
		return false;
	uint64_t now = clock_tsc();
	*age_ns = now > newest->is.tsc ? clock_ns(now - newest->is.tsc) : 0;
	out->wall_ns = clock_wall_ns() - *age_ns;
	monitor_whole(&newest->is, newest->bytes, mp->whole);
	out->len = mp->whole->len;
	out->have = mp->whole->have;
	out->bytes = mp->whole->bytes;
	return true;
}

void monitor_last_free(struct monitor_port *mp, const struct ctl_port *cp)
{
	for (unsigned q = 0; q < cp->p.nrxq && mp->keeper != NULL; q++) {
		free(mp->keeper[q]->place);
		free(mp->keeper[q]);
	}
	free(mp->keeper);
	free(mp->whole);
}
