/* SPDX-License-Identifier: BSD-3-Clause */
/* What control asks of devices that pace and stamp. A rate limit of a device's Tx queues smooths
 * what the worker sends: each queue is limited to its part of the port's rate, which follows from
 * the settings. The worker still sends no frame before its deadline. */
#include <errno.h>
#include <math.h>

#include "arrival_text.h"
#include "ctl_int.h"

/* The limit of each queue in Mbit/s, rounded up, so that all that the port is asked for can leave.
 * 0: there is to be no limit. */
static uint64_t limit_mbps(struct ctl *c, const struct ctl_port *cp)
{
	struct ctl_load l;
	double bps;

	if (cp->cfg.pacing != PACING_QUEUE)
		return 0;
	/* a trial's rate is not the setting */
	if (cp->cfg.arrival.kind != ARRIVAL_CONSTANT || (cp->run.active && cp->run.has_rate))
		return 0;
	if (ctl_load(c, cp->p.id, &l, NULL) < 0 || l.is_max)
		return 0;
	bps = l.l1_bps / cp->p.ntxq;
	return bps < (double)port_speed(&cp->p) ? (uint64_t)ceil(bps / 1e6) : 0;
}

void port_pacing_follow(struct ctl *c, struct ctl_port *cp)
{
	if (ctl_port_runs(cp))
		pacing_follow(&cp->p, limit_mbps(c, cp));
}

int ctl_pacing(struct ctl *c, unsigned port, struct err *e)
{
	struct ctl_port *cp = c->port[port];
	struct sbuf text = {0};

	pacing_ask(&cp->p, limit_mbps(c, cp));
	if (cp->p.pacing.rc == 0 || cp->p.pacing.rc == -EAGAIN)
		return 0;
	pacing_text(&cp->p, &text);
	int rc = err_set(e, -cp->p.pacing.rc, "%s", sbuf_str(&text));
	sbuf_free(&text);
	return rc;
}

int ctl_timestamps(struct ctl *c, unsigned port, struct err *e)
{
	return stamps_rx_state(&c->port[port]->p, e);
}

void ctl_pacing_text(const struct ctl *c, unsigned port, struct sbuf *out)
{
	pacing_text(&c->port[port]->p, out);
}

json_t *port_pacing_json(const struct ctl *c)
{
	json_t *a = json_array();

	for (unsigned i = 0; i < c->nports; i++) {
		const struct ctl_port *cp = c->port[i];
		struct sbuf text = {0};
		if (!cp->p.used || cp->p.ntxq == 0)
			continue;
		pacing_text(&cp->p, &text);
		json_array_append_new(
			a, json_pack("{s:i, s:o, s:o, s:o, s:I, s:s}", "port", (int)i, "rate",
				     value_json(&vt_rate, &cp->cfg.rate), "arrival",
				     value_json(&vt_arrival, &cp->cfg.arrival), "catchup",
				     value_json(&vt_catchup, &cp->cfg.catchup), "lag_ns",
				     (json_int_t)cp->cfg.lag_ns, "pacing", sbuf_str(&text)));
		sbuf_free(&text);
	}
	return a;
}
