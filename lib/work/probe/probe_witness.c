/* SPDX-License-Identifier: BSD-3-Clause */
/* The work "probe" as a witness of trials: with a probe in each frame, it can tell what became of
 * each. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "probe_int.h"

/* Puts probes into all frames of the port's enabled streams (on), or no longer does so. */
static int probe_ask(struct ctl *c, struct ctl_port *cp, bool on, struct err *e)
{
	int rc = 0;

	streams_tell_all(cp, on);
	for (unsigned i = 0; on && i < cp->nstreams && rc == 0; i++)
		if (cp->stream[i] != NULL && cp->stream[i]->cfg.enabled)
			rc = stream_recipes(c, cp, cp->stream[i], e);
	streams_tell_all(cp, on && rc == 0);
	return rc;
}

/* What is known so far of the probes of all senders of a trial. */
struct told {
	uint64_t sent;
	struct flow_live live;
	uint64_t damaged, plain;
	/* Of each sender: see struct probes. */
	struct probe_doubt doubt[CTL_MAX_PORTS];
};

static struct told so_far(struct ctl *c, const struct portset *from, const struct portset *to)
{
	struct told t = {.live.jitter_cycles = (double)NAN};

	for (unsigned i = 0; i < c->nports && i < PROBE_PORTS; i++) {
		struct flow_live l;
		if (!portset_has(from, i))
			continue;
		t.doubt[i] = probes_of(c)->doubt[i];
		probe_total(c, i, -1, to, &l); /* read before what was sent, so it is never more */
		t.sent += probe_sent(c, i, -1);
		probe_live_add(&t.live, &l, false);
		if (!(t.live.jitter_cycles >= l.jitter_cycles))
			t.live.jitter_cycles = l.jitter_cycles;
	}
	t.damaged = probe_damaged(c, to);
	t.plain = probe_plain(c, to);
	return t;
}

static void *probe_base(struct ctl *c, const struct portset *from, const struct portset *to)
{
	struct told *t = xcalloc(1, sizeof(*t));

	*t = so_far(c, from, to);
	return t;
}

/* Why the counts since the base are not exact; NULL: they are. What was disturbed before the base
 * does not matter. */
static const char *probe_witness_inexact(const struct told *base, const struct told *now)
{
	bool cleared = false;

	for (unsigned i = 0; i < CTL_MAX_PORTS; i++) {
		if (now->doubt[i].times == base->doubt[i].times)
			continue;
		if (now->doubt[i].text != NULL)
			return now->doubt[i].text;
		cleared = true;
	}
	return cleared ? "the counts of the probes were cleared" : probe_why(&now->live);
}

static void probe_read(struct ctl *c, const struct portset *from, const struct portset *to,
		       const void *base, struct witness_counts *out)
{
	const struct told *b = base;
	struct told now = so_far(c, from, to);

	probe_live_add(&now.live, &b->live, true);
	if (probe_several(c, to))
		probe_cross(&now.live);
	const struct flow_sum *s = &now.live.sum;
	uint64_t copies = s->duplicate + s->crossed;
	*out = (struct witness_counts){
		.sent = grown(now.sent, b->sent),
		.whole = s->received > copies ? s->received - copies : 0,
		.duplicated = copies,
		.reordered = s->reordered,
		.beyond = s->late,
		.corrupted = s->corrupted,
		.damaged = grown(now.damaged, b->damaged),
		.plain = grown(now.plain, b->plain),
		.jitter_ns = now.live.jitter_cycles * 1e9 / clock_hz(),
		.inexact = probe_witness_inexact(b, &now),
	};
}

static struct hist *probe_latency(struct ctl *c, const struct portset *to, enum latency_of of)
{
	return probe_hist(c, to, of == LATENCY_SENT ? PROBE_ACTUAL : PROBE_INTENDED);
}

const struct work_witness probe_witness = {
	.ask = probe_ask,
	.arm = probes_arm,
	.base = probe_base,
	.read = probe_read,
	.latency = probe_latency,
	.verified = probes_verify,
};
