/* SPDX-License-Identifier: BSD-3-Clause */
/* What the settings of ports and streams ask of the wire: frames/s, bits/s and sizes. */
#include <errno.h>
#include <limits.h>

#include "ctl_int.h"
#include "wire.h"

double load_pps(const struct rate *r, uint64_t speed_bps, double size, bool *max)
{
	static const enum wire_unit unit[] = {
		[RATE_PERCENT] = WIRE_PERCENT,
		[RATE_PPS] = WIRE_PPS,
		[RATE_L1_BPS] = WIRE_L1_BPS,
		[RATE_L2_BPS] = WIRE_L2_BPS,
	};

	*max = r->kind == RATE_MAX;
	return *max ? 0 : wire_pps(unit[r->kind], r->value, (double)speed_bps, size);
}

void load_rate(struct ctl_load *l, const struct rate *r, uint64_t speed_bps, double size)
{
	bool max;
	double pps = load_pps(r, speed_bps, size, &max),
	       change = r->over_ns != 0 ? r->to / r->value : 1;

	l->low_pps += change < 1 ? pps * change : pps;
	if (change > 1)
		pps *= change;
	l->is_max |= max;
	l->pps += pps;
	l->l2_bps += pps * size * 8;
	l->l1_bps += pps * wire_l1_bits(size);
}

void load_sizes(struct ctl_load *l, const struct stream_frames *f)
{
	for (unsigned k = 0; k < f->nrecipes; k++) {
		unsigned size = f->recipe[k].len + FRAME_FCS;
		l->min_size = size < l->min_size ? size : l->min_size;
		l->max_size = size > l->max_size ? size : l->max_size;
	}
}

/* Makes the stream's frames, if need be, and widens the range of sizes in *l by theirs. */
static int take_sizes(struct ctl *c, struct ctl_port *cp, struct stream *s, struct ctl_load *l,
		      struct err *e)
{
	int rc = stream_recipes(c, cp, s, e);

	if (rc == 0)
		load_sizes(l, s->frames);
	return rc;
}

/* Fills in *l for a run that does not follow the settings because they wait for the next start.
 * false: the settings hold. */
static bool goes_on(const struct ctl_port *cp, struct ctl_load *l)
{
	bool any = false;

	EACH_WORK(w, run)
		if (w->run->load != NULL)
			any |= w->run->load(cp, l);
	return any;
}

int ctl_load(struct ctl *c, unsigned port, struct ctl_load *out, struct err *e)
{
	struct ctl_port *cp = c->port[port];
	double sum = 0, weights = 0, sizes = 0, all = 0;
	struct ctl_load l = {.min_size = UINT_MAX,
			     .link_bps = (double)port_speed(&cp->p),
			     .nqueues = cp->p.ntxq};

	if (cp->run.active && goes_on(cp, &l)) {
		*out = l;
		return 0;
	}
	for (unsigned i = 0; i < cp->nstreams; i++) {
		struct stream *s = cp->stream[i];
		if (!stream_scheduled(s))
			continue;
		int rc = take_sizes(c, cp, s, &l, e);
		if (rc < 0)
			return rc;
		if (s->cfg.rate.set) {
			load_rate(&l, &s->cfg.rate.rate, port_speed(&cp->p), s->frames->mean_size);
			sizes += s->frames->mean_size;
			all++;
			continue;
		}
		sum += s->frames->mean_size * (double)s->cfg.weight;
		weights += (double)s->cfg.weight;
	}
	if (l.max_size == 0 && streams_carried(cp)) { /* no frames by a schedule */
		l.min_size = 0;
		*out = l;
		return 0;
	}
	if (l.max_size == 0)
		return err_set(e, EINVAL, "port %u: no stream is enabled; `set %u enabled on`",
			       port, port);
	if (weights > 0)
		load_rate(&l, &cp->cfg.rate, port_speed(&cp->p), sum / weights);
	l.mean_size = l.pps > 0 ? l.l2_bps / 8 / l.pps : weights > 0 ? sum / weights : sizes / all;
	*out = l;
	return 0;
}

/* Whether a stream is in the port's schedule. */
static bool takes_turns(const struct stream *s)
{
	return stream_scheduled(s) && !s->cfg.rate.set;
}

int ctl_stream_load(struct ctl *c, unsigned port, unsigned stream, struct ctl_load *out,
		    struct err *e)
{
	struct ctl_port *cp = c->port[port];
	struct stream *s = cp->stream[stream];
	struct ctl_load l = {.min_size = UINT_MAX,
			     .link_bps = (double)port_speed(&cp->p),
			     .nqueues = cp->p.ntxq},
			port_load = {0};
	double weights = 0, sum = 0;
	int rc = take_sizes(c, cp, s, &l, e);

	for (unsigned i = 0; rc == 0 && !s->cfg.rate.set && i < cp->nstreams; i++) {
		struct stream *o = cp->stream[i];
		if (!takes_turns(o))
			continue;
		rc = stream_recipes(c, cp, o, e);
		if (rc == 0)
			sum += o->frames->mean_size * (double)o->cfg.weight;
		weights += (double)o->cfg.weight;
	}
	if (rc < 0)
		return rc;
	l.mean_size = s->frames->mean_size;
	if (s->cfg.rate.set) {
		load_rate(&l, &s->cfg.rate.rate, port_speed(&cp->p), l.mean_size);
	} else if (takes_turns(s)) {
		load_rate(&port_load, &cp->cfg.rate, port_speed(&cp->p), sum / weights);
		l.is_max = port_load.is_max;
		l.pps = port_load.pps * (double)s->cfg.weight / weights;
		l.low_pps = port_load.low_pps * (double)s->cfg.weight / weights;
		l.l2_bps = l.pps * l.mean_size * 8;
		l.l1_bps = l.pps * wire_l1_bits(l.mean_size);
	}
	*out = l;
	return 0;
}
