/* SPDX-License-Identifier: BSD-3-Clause */
/* Pacing by the device, if the port's settings ask for it and the device offers it. A rate limit of
 * its Tx queues smooths what the worker sends: each queue is limited to its part of the port's
 * rate. The worker still sends no frame before its deadline. */
#include <errno.h>

#include "port_int.h"

/* Sets the limit of all Tx queues; 0 sets it to the speed of the link, which limits nothing. */
static int limit_queues(const struct port *p, uint64_t mbps)
{
	uint32_t rate = (uint32_t)(mbps != 0 ? mbps : p->link_mbps);
	int rc = 0;

	for (uint16_t q = 0; q < p->ntxq && rc == 0; q++)
		rc = rte_eth_set_queue_rate_limit(p->dev, q, rate);
	return rc;
}

void pacing_ask(struct port *p, uint64_t mbps)
{
	int kind = p->cfg->pacing;

	if (p->pacing.kind == PACING_TIMESTAMP && p->started)
		p->pacing.rc = stamps_tx_state(p); /* its clock may have been lost or found */
	if (p->started && p->ntxq != 0 && (kind != p->pacing.kind || mbps != p->pacing.mbps)) {
		if (kind == PACING_QUEUE || (p->pacing.kind == PACING_QUEUE && p->pacing.rc == 0))
			p->pacing.rc = limit_queues(p, mbps);
		if (kind != PACING_QUEUE)
			p->pacing.rc = kind == PACING_TIMESTAMP ? stamps_tx_state(p) : 0;
		p->pacing.kind = kind;
		p->pacing.mbps = mbps;
	}
}

void pacing_follow(struct port *p, uint64_t mbps)
{
	struct sbuf text = {0};
	int was = p->pacing.rc;

	pacing_ask(p, mbps);
	if (p->pacing.rc != 0 && p->pacing.rc != -EAGAIN && (was == 0 || was == -EAGAIN)) {
		pacing_text(p, &text);
		port_note(p, "port %u: %s", p->id, sbuf_str(&text));
	}
	sbuf_free(&text);
}

void pacing_text(const struct port *p, struct sbuf *out)
{
	int rc = p->pacing.kind == PACING_TIMESTAMP ? stamps_tx_state(p) : p->pacing.rc;
	const char *what = p->pacing.kind == PACING_QUEUE ? "rate limits of its queues"
							  : "sending at time stamps";

	if (p->pacing.kind == PACING_TIMESTAMP && rc == 0) {
		sbuf_addf(
			out,
			"paced by the device, which sends frames at their time stamps and gets them %llu us before",
			(unsigned long long)(p->cfg->lead_ns / 1000));
		stamps_missed(p, out);
		return;
	}
	sbuf_add(out, "paced by software");
	if (p->pacing.kind == PACING_SOFTWARE)
		return;
	if (rc == 0 && p->pacing.mbps != 0)
		sbuf_addf(out, ", and by the device: %llu Mbit/s for each of its %u queues",
			  (unsigned long long)p->pacing.mbps, p->ntxq);
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
