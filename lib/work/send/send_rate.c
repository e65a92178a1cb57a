/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns rates into periods of groups. Says how many frames a time has, and when they are due. */
#include <stdlib.h>
#include <string.h>

#include "send_groups.h"

/* Returns the rate of a group as the settings ask for it, without period and shape. Where frames
 * have different sizes and the rate is one of bits or percent, bytes are paced; otherwise frames.
 * With Poisson arrivals frames are paced too: gaps by bytes would not be exponential. */
static struct group_rate rate_asked(const struct ctl_port *cp, const struct rate *r,
				    const struct arrival *arrival, const struct group *g)
{
	struct group_rate a = {.cell = g->cell, .frames = UINT64_MAX};
	uint64_t speed_bps = port_speed(&cp->p);

	a.pps = load_pps(r, speed_bps, g->mean_size, &a.max);
	a.per_s = a.pps;
	if (g->size == 0 && r->kind != RATE_PPS && r->kind != RATE_MAX &&
	    arrival->kind != ARRIVAL_POISSON) {
		a.by_bytes = true;
		a.l2 = r->kind == RATE_L2_BPS;
		a.per_s =
			(r->kind == RATE_PERCENT ? (double)speed_bps * r->value / 100 : r->value) /
			8;
		a.sizes = g->sizes;
	}
	if (a.max)
		return a;
	shape_of(cp, g, r, arrival, &a);
	a.from_pps = a.pps;
	a.pps *= r->over_ns != 0 ? r->to / r->value : 1;
	a.pps *= shape_share(&a, a.pps);
	return a;
}

/* Returns whether both ask for the same. */
static bool rate_same(const struct group_rate *a, const struct group_rate *b)
{
	return a->by_bytes == b->by_bytes && a->l2 == b->l2 && a->max == b->max &&
	       a->per_s == b->per_s && a->sizes == b->sizes && a->shaped == b->shaped &&
	       memcmp(&a->spec, &b->spec, sizeof(a->spec)) == 0;
}

/* Returns the rate that the group with that cell has in the run. NULL: none. */
static const struct group_rate *rate_of(const struct ctl_port *cp, int32_t cell)
{
	const struct send_port *sp = send_of(cp);
	unsigned lo = 0, hi = sp->nrates;

	while (lo < hi) {
		unsigned mid = (lo + hi) / 2;
		if (sp->rate[mid].cell < cell)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < sp->nrates && sp->rate[lo].cell == cell ? &sp->rate[lo] : NULL;
}

/* Returns the rate and the arrivals that the settings have for a group. NULL: the group is a stream
 * that has lost its own rate or is deleted, and goes on because the order stays as it is. */
static const struct rate *setting_of(const struct ctl_port *cp, const struct group *g,
				     const struct arrival **arrival)
{
	const struct stream *s =
		g->cell >= 0 ? stream_of_cell(cp, (uint32_t)g->cell, g->in[0].id) : NULL;

	*arrival = &cp->cfg.arrival;
	if (g->cell < 0)
		return cp->run.has_rate ? &cp->run.rate : &cp->cfg.rate;
	if (s == NULL || !s->cfg.rate.set)
		return NULL;
	*arrival = &s->cfg.arrival;
	return &s->cfg.rate.rate;
}

/* A rate that has not changed keeps its period. The clock's frequency is known better each second,
 * and plans with the same rate must not differ for that. */
void rates_follow(struct ctl_port *cp)
{
	struct send_port *sp = send_of(cp);
	const struct groups *p = &sp->groups;
	struct group_rate *to = xcalloc(p->ngroups + 1, sizeof(*to));
	const struct run *r = &cp->run;
	bool other = sp->nrates != p->ngroups;

	sp->run.asked_max = false;
	for (unsigned i = 0; i < p->ngroups; i++) {
		const struct group *g = p->group[i];
		const struct group_rate *had = rate_of(cp, g->cell);
		const struct arrival *arrival;
		const struct rate *set = setting_of(cp, g, &arrival);
		to[i] = rate_asked(cp, set != NULL ? set : &cp->cfg.rate, arrival, g);
		if (had != NULL && !r->armed && (set == NULL || rate_same(had, &to[i]))) {
			to[i] = *had;
		} else {
			to[i].changed = !r->armed;
			to[i].since_tsc = r->armed ? 0 : clock_tsc();
			if (!to[i].max)
				to[i].period = to[i].by_bytes
						       ? pace_byte_period(clock_hz(), to[i].per_s)
						       : pace_period(clock_hz(), to[i].per_s);
			if (to[i].shaped)
				shape_make(&to[i]);
			other = true;
		}
		sp->run.asked_max |= to[i].max;
	}
	free(sp->rate);
	sp->rate = to;
	sp->nrates = p->ngroups;
	if (other && !r->armed) {
		sp->run.rate_changed = true;
		sp->run.changed_ns = clock_raw_ns();
	}
}

/* Returns how many frames of a group begin before unit x. */
static uint64_t frames_before(const struct group *g, const struct group_rate *a, uint64_t x)
{
	uint64_t lo = 0, hi = 1;

	if (!a->by_bytes)
		return x;
	/* Not from x downwards: the bytes of x frames may not fit into 64 bits. */
	for (; group_wire(g, hi, a->l2) < x; hi *= 2)
		lo = hi + 1;
	while (lo < hi) { /* finds the first frame that begins at x or later */
		uint64_t mid = lo + (hi - lo) / 2;
		if (group_wire(g, mid, a->l2) >= x)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

bool groups_all_counted(const struct groups *p)
{
	for (unsigned i = 0; i < p->ngroups; i++)
		if (p->group[i]->sched.total == UINT64_MAX)
			return false;
	return true;
}

void rates_arm(struct ctl_port *cp)
{
	struct send_port *sp = send_of(cp);
	const uint64_t start_tsc = cp->run.start_tsc, duration_ns = cp->run.duration_ns;

	sp->run.end_tsc = UINT64_MAX;
	sp->run.rate_changed = false;
	if (duration_ns == 0)
		return;
	sp->run.end_tsc = start_tsc + clock_cycles(duration_ns);
	for (unsigned i = 0; i < sp->nrates; i++) {
		struct group_rate *a = &sp->rate[i];
		const struct group *g = sp->groups.group[i];
		if (a->max)
			continue;
		/* The number of frames follows from the exact rate. If rounding on the clock puts
		 * the last deadline after the end, the end moves. */
		struct pace p = {.period = a->period, .t0 = start_tsc};
		a->frames = shape_is_plain(a)
				    ? frames_before(g, a, pace_frames(a->per_s, duration_ns))
				    : shape_frames(g, a, duration_ns);
		if (a->frames == UINT64_MAX)
			continue;
		uint64_t due = 0;
		if (a->frames > 0)
			due = a->shaped ? start_tsc + shape_due(g, a, a->frames - 1)
					: pace_due(&p, shape_begins(g, a, a->frames - 1));
		if (due >= sp->run.end_tsc)
			sp->run.end_tsc = due + 1;
	}
}

uint64_t rates_limit(const struct ctl_port *cp, unsigned i)
{
	const struct send_port *sp = send_of(cp);
	const struct group_rate *a = &sp->rate[i];
	uint64_t n = a->cell < 0 && sp->run.count != 0 ? sp->run.count : UINT64_MAX;

	return !a->changed && a->frames < n ? a->frames : n;
}

/* rates_end() for a group that had n frames and whose deadlines do not follow from the rate alone.
 * If the run had a time and was not stopped, that time is the answer. 0: not known. */
static uint64_t shaped_end(const struct ctl_port *cp, const struct group *g,
			   const struct group_rate *a, uint64_t n)
{
	if (cp->run.duration_ns != 0 && !cp->run.stop)
		return clock_cycles(cp->run.duration_ns);
	return a->spec.arrival.kind == ARRIVAL_POISSON ? 0 : shape_due(g, a, n);
}

uint64_t rates_end(const struct ctl_port *cp, uint64_t sent, uint64_t bytes, uint64_t *all)
{
	const struct send_port *sp = send_of(cp);
	uint64_t last = 0;

	*all = sp->nrates == 1 ? sent : 0;
	for (unsigned i = 0; i < sp->nrates; i++) {
		const struct group_rate *a = &sp->rate[i];
		struct pace p = {.period = a->period};
		uint64_t n = rates_limit(cp, i), total = sp->groups.group[i]->sched.total, at;
		n = total < n ? total : n;
		if (a->shaped && !shape_is_plain(a)) {
			if (sp->nrates > 1 && n == UINT64_MAX)
				return 0;
			uint64_t due =
				shaped_end(cp, sp->groups.group[i], a, sp->nrates > 1 ? n : sent);
			if (due == 0)
				return 0;
			last = due > last ? due : last;
			*all += sp->nrates > 1 ? n : 0;
			continue;
		}
		if (sp->nrates == 1) {
			at = !a->by_bytes ? sent : bytes + (a->l2 ? 0 : sent * PACE_WIRE_OVERHEAD);
		} else if (n == UINT64_MAX) {
			return 0; /* the run was stopped */
		} else {
			*all += n;
			at = shape_begins(sp->groups.group[i], a, n);
		}
		uint64_t due = pace_due(&p, at);
		last = due > last ? due : last;
	}
	return last;
}

uint64_t rates_due(const struct ctl_port *cp, uint64_t k)
{
	const struct send_port *sp = send_of(cp);
	const struct group_rate *a = sp->rate;
	struct pace p = {0};

	if (sp->nrates != 1 || sp->groups.ngroups != 1 || a->max)
		return 0;
	if (a->spec.arrival.kind == ARRIVAL_POISSON)
		return 0;
	if (a->shaped)
		return shape_due(sp->groups.group[0], a, k) - shape_due(sp->groups.group[0], a, 0);
	p.period = a->period;
	return pace_due(&p, shape_begins(sp->groups.group[0], a, k));
}

bool rates_vary(const struct ctl_port *cp)
{
	const struct send_port *sp = send_of(cp);

	for (unsigned i = 0; i < sp->nrates && !cp->run.armed; i++) {
		const struct sched *s = &sp->groups.group[i]->sched;
		if (sp->rate[i].spec.trend.over_ns != 0)
			return true;
		if (sp->nrates > 1 ? s->total != UINT64_MAX
				   : sp->rate[i].by_bytes && s->nphases > 1)
			return true;
	}
	return false;
}

/* While the settings ask for another order: adds the load of the order in which the port sends. */
bool rates_load(const struct ctl_port *cp, struct ctl_load *l)
{
	const struct send_port *sp = send_of(cp);

	if (!sp->order_waits)
		return false;
	for (unsigned i = 0; i < sp->groups.ngroups; i++) {
		const struct group *g = sp->groups.group[i];
		const struct arrival *arrival;
		const struct rate *r = setting_of(cp, g, &arrival);
		const struct group_rate *had = rate_of(cp, g->cell);
		if (r != NULL)
			load_rate(l, r, port_speed(&cp->p), g->mean_size);
		else if (had != NULL)
			load_rate(l,
				  &(struct rate){.kind = had->max ? RATE_MAX : RATE_PPS,
						 .value = had->pps},
				  port_speed(&cp->p), g->mean_size);
		for (unsigned m = 0; m < g->n; m++)
			load_sizes(l, g->member[m].frames);
	}
	l->mean_size = l->pps > 0 ? l->l2_bps / 8 / l->pps : sp->groups.group[0]->mean_size;
	return true;
}
