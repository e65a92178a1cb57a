/* SPDX-License-Identifier: BSD-3-Clause */
/* Pacing by the device, if the port's settings ask for it and the device offers it. A rate limit of
 * its Tx queues smooths what the worker sends: each queue is limited to its part of the port's
 * rate. The worker still sends no frame before its deadline. */
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

	/* a trial's rate is not the setting */
	if (cp->p.cfg.arrival.kind != ARRIVAL_CONSTANT || (cp->run.active && cp->run.has_rate))
		return 0;
	if (ctl_load(c, cp->p.id, &l, NULL) < 0 || l.is_max)
		return 0;
	bps = l.l1_bps / cp->p.ntxq;
	return bps < (double)plan_speed(cp) ? (uint64_t)ceil(bps / 1e6) : 0;
}

/* Sets the limit of all Tx queues; 0 sets it to the speed of the link, which limits nothing. */
static int limit_queues(const struct ctl_port *cp, uint64_t mbps)
{
	uint32_t rate = (uint32_t)(mbps != 0 ? mbps : cp->link_mbps);
	int rc = 0;

	for (uint16_t q = 0; q < cp->p.ntxq && rc == 0; q++)
		rc = rte_eth_set_queue_rate_limit(cp->p.dev, q, rate);
	return rc;
}

/* Asks the device for what settings and rates want, if that differs from what was asked last. */
static void pacing_ask(struct ctl *c, struct ctl_port *cp)
{
	int kind = cp->p.cfg.pacing;
	uint64_t mbps = kind == PACING_QUEUE ? limit_mbps(c, cp) : 0;

	if (cp->pacing.kind == PACING_TIMESTAMP && cp->started)
		cp->pacing.rc = stamps_tx_state(cp); /* its clock may have been lost or found */
	if (!cp->started || cp->p.ntxq == 0 || (kind == cp->pacing.kind && mbps == cp->pacing.mbps))
		return;
	if (kind == PACING_QUEUE || (cp->pacing.kind == PACING_QUEUE && cp->pacing.rc == 0))
		cp->pacing.rc = limit_queues(cp, mbps);
	if (kind != PACING_QUEUE)
		cp->pacing.rc = kind == PACING_TIMESTAMP ? stamps_tx_state(cp) : 0;
	cp->pacing.kind = kind;
	cp->pacing.mbps = mbps;
}

void pacing_follow(struct ctl *c, struct ctl_port *cp)
{
	struct sbuf text = {0};
	int was = cp->pacing.rc;

	pacing_ask(c, cp);
	if (cp->pacing.rc != 0 && cp->pacing.rc != -EAGAIN && (was == 0 || was == -EAGAIN)) {
		pacing_text(cp, &text);
		ctl_note(c, cp->p.id, "port %u: %s", cp->p.id, sbuf_str(&text));
	}
	sbuf_free(&text);
}

int ctl_pacing(struct ctl *c, unsigned port, struct err *e)
{
	struct ctl_port *cp = c->port[port];
	struct sbuf text = {0};

	pacing_ask(c, cp);
	if (cp->pacing.rc == 0 || cp->pacing.rc == -EAGAIN)
		return 0;
	pacing_text(cp, &text);
	int rc = err_set(e, -cp->pacing.rc, "%s", sbuf_str(&text));
	sbuf_free(&text);
	return rc;
}

void pacing_text(const struct ctl_port *cp, struct sbuf *out)
{
	int rc = cp->pacing.kind == PACING_TIMESTAMP ? stamps_tx_state(cp) : cp->pacing.rc;
	const char *what = cp->pacing.kind == PACING_QUEUE ? "rate limits of its queues"
							   : "sending at time stamps";

	if (cp->pacing.kind == PACING_TIMESTAMP && rc == 0) {
		sbuf_addf(
			out,
			"paced by the device, which sends frames at their time stamps and gets them %llu us before",
			(unsigned long long)(cp->p.cfg.lead_ns / 1000));
		stamps_missed(cp, out);
		return;
	}
	sbuf_add(out, "paced by software");
	if (cp->pacing.kind == PACING_SOFTWARE)
		return;
	if (rc == 0 && cp->pacing.mbps != 0)
		sbuf_addf(out, ", and by the device: %llu Mbit/s for each of its %u queues",
			  (unsigned long long)cp->pacing.mbps, cp->p.ntxq);
	else if (rc == 0)
		sbuf_add(
			out,
			"; the device is given no limit for arrivals that are not constant, or for more than its link carries");
	else if (rc == -EAGAIN)
		sbuf_addf(out, "; the device offers %s and does it from its next start on", what);
	else if (rc == -ENOTSUP)
		sbuf_addf(out, "; the device does not offer %s", what);
	else
		sbuf_addf(out, "; the device refuses %s: %s", what, rte_strerror(-rc));
}

void ctl_pacing_text(const struct ctl *c, unsigned port, struct sbuf *out)
{
	pacing_text(c->port[port], out);
}

json_t *pacing_json(const struct ctl *c)
{
	json_t *a = json_array();

	for (unsigned i = 0; i < c->nports; i++) {
		const struct ctl_port *cp = c->port[i];
		struct sbuf text = {0};
		if (!cp->used || cp->p.ntxq == 0)
			continue;
		pacing_text(cp, &text);
		json_array_append_new(
			a, json_pack("{s:i, s:o, s:o, s:o, s:I, s:s}", "port", (int)i, "rate",
				     value_json(&vt_rate, &cp->p.cfg.rate), "arrival",
				     value_json(&vt_arrival, &cp->p.cfg.arrival), "catchup",
				     value_json(&vt_catchup, &cp->p.cfg.catchup), "lag_ns",
				     (json_int_t)cp->p.cfg.lag_ns, "pacing", sbuf_str(&text)));
		sbuf_free(&text);
	}
	return a;
}
