/* SPDX-License-Identifier: BSD-3-Clause */
/* One flow: its counters and latencies, and its rates. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flows_ctl.h"

#define ONE_FAR (1ull << 60) /* cycles behind which nothing comes */
#define ONE_SEED 0x666c6f77u /* the default seeds of arrivals are made of this one */

struct flows_one *flows_one_of(struct flows_port *p, const struct stream *s)
{
	struct flows_one *f = p->first;

	while (f != NULL && (f->gone || f->cell != s->cell || f->serial != s->serial))
		f = f->next;
	return f;
}

static struct hist *one_hist_new(int node)
{
	struct hist *h = state_new(hist_size(FLOWS_HIST), node);

	if (h != NULL)
		hist_init(h, FLOWS_HIST);
	return h;
}

static struct hist **one_hists(struct flows_state_of *s, unsigned which)
{
	struct hist **const at[FLOWS_HISTS] = {[FLOWS_CONNECT] = &s->connect,
					       [FLOWS_FIRST] = &s->first_byte,
					       [FLOWS_WHOLE] = &s->whole,
					       [FLOWS_DUE] = &s->since_due,
					       [FLOWS_CLOSE] = &s->close};
	return at[which];
}

struct flows_one *flows_one_new(struct ctl *c, const struct ctl_port *cp, const struct stream *s)
{
	struct flows_port *p = flows_of(cp);
	struct flows_one *f = xcalloc(1, sizeof(*f));
	bool all = true;

	*f = (struct flows_one){.cell = s->cell,
				.serial = s->serial,
				.id = s->cfg.id,
				.nqueues = p->nqueues,
				.opens = UINT64_MAX,
				.end_tsc = UINT64_MAX};
	f->state = xcalloc(p->nqueues, sizeof(*f->state));
	f->own = xcalloc(p->nqueues, sizeof(*f->own));
	f->node = xcalloc(p->nqueues, sizeof(*f->node));
	for (unsigned q = 0; q < p->nqueues && all; q++) {
		int node = c->worker[cp->tx_worker[q]].node;
		f->node[q] = node;
		f->state[q] = state_new(sizeof(**f->state), node);
		f->own[q] = state_new(sizeof(**f->own) + wl_http.own_bytes, node);
		all = f->state[q] != NULL && f->own[q] != NULL;
		if (all)
			f->state[q]->cell = s->cell;
		for (unsigned i = 0; i < FLOWS_HISTS && all; i++)
			all = (*one_hists(f->state[q], i) = one_hist_new(node)) != NULL;
	}
	if (!all) {
		flows_one_free(f);
		return NULL;
	}
	f->next = p->first;
	p->first = f;
	return f;
}

void flows_one_free(struct flows_one *f)
{
	for (unsigned q = 0; q < f->nqueues; q++) {
		for (unsigned i = 0; f->state[q] != NULL && i < FLOWS_HISTS; i++)
			rte_free(*one_hists(f->state[q], i));
		rte_free(f->state[q]);
		rte_free(f->own[q]);
	}
	for (unsigned i = 0; i < FLOWS_HISTS; i++) {
		free(f->hist_base[i]);
		free(f->run_hist[i]);
	}
	flows_tally_free(f);
	free(f->state);
	free(f->own);
	free(f->node);
	free(f->said);
	free(f);
}

enum flows_stage flows_one_stage(const struct flows_one *f, uint64_t run)
{
	enum flows_stage least = FLOWS_DONE;

	for (unsigned q = 0; f->in_run && q < f->nqueues; q++)
		least = RTE_MIN(least, flows_stage(f->state[q], run));
	return least;
}

void flows_one_drop(struct flows_one *f)
{
	if (f->ver != NULL)
		f->ver->v.refs--;
	f->ver = NULL;
}

/* ---- counters ---- */

static void one_add(void *to, const void *from, size_t bytes, bool less)
{
	for (size_t i = 0; i < bytes / sizeof(cell_t); i++) {
		uint64_t v = cell_get((const cell_t *)from + i);
		((uint64_t *)to)[i] += less ? -v : v;
	}
}

static void one_sum_all(const struct flows_one *f, struct flows_sum *sum)
{
	*sum = (struct flows_sum){0};
	for (unsigned q = 0; q < f->nqueues; q++) {
		one_add(&sum->flow, &f->state[q]->counts, sizeof(sum->flow), false);
		one_add(&sum->wl, &f->state[q]->transactions, sizeof(sum->wl), false);
		one_add(&sum->http, &f->own[q]->http, sizeof(sum->http), false);
		one_add(&sum->numbers, &f->own[q]->numbers, sizeof(sum->numbers), false);
	}
}

void flows_one_sum(const struct flows_one *f, struct flows_sum *sum)
{
	one_sum_all(f, sum);
	one_add(sum, &f->base, sizeof(*sum), true);
}

/* All that a histogram has, less what it had at a time. */
static struct hist *one_hist_since(const struct flows_one *f, unsigned which,
				   const struct hist *base)
{
	struct hist *h = hist_new(FLOWS_HIST);

	for (unsigned q = 0; q < f->nqueues; q++) {
		struct hist *one = hist_copy(*one_hists(f->state[q], which));
		hist_merge(h, one);
		free(one);
	}
	if (base != NULL)
		hist_subtract(h, base);
	return h;
}

struct hist *flows_one_hist(const struct flows_one *f, unsigned which)
{
	return one_hist_since(f, which, f->hist_base[which]);
}

bool flows_one_ends(const struct flows_one *f)
{
	/* Without a version it is a flow no more: of its run only the numbers are left. */
	return f->opens != UINT64_MAX && f->tps.off && (f->ver == NULL || !f->ver->design->endless);
}

/* What is open and opening belongs to what comes. The baseline is made of fates, since workers
 * count while cells are read one behind the other: so the sums are whole when nothing goes on. */
static void one_base(const struct flows_one *f, struct flows_sum *base)
{
	struct flow_counts *k = &base->flow;

	one_sum_all(f, base);
	k->established = k->closed + k->reset_by_us + k->reset_by_peer + k->timed_out + k->aborted;
	k->opened = k->established + k->refused + k->connect_timeout + k->unreachable +
		    k->aborted_opening;
	k->opening = k->open = 0;
	base->wl.started = base->wl.done + base->wl.failed;
	base->wl.open = 0;
}

void flows_one_clear(struct flows_one *f)
{
	one_base(f, &f->base);
	flows_tally_clear(f);
	for (unsigned i = 0; i < FLOWS_HISTS; i++) {
		free(f->hist_base[i]);
		f->hist_base[i] = NULL;
		f->hist_base[i] = flows_one_hist(f, i);
	}
}

void flows_one_run_begin(struct flows_one *f)
{
	one_base(f, &f->run_base);
	for (unsigned i = 0; i < FLOWS_HISTS; i++) {
		free(f->run_hist[i]);
		f->run_hist[i] = one_hist_since(f, i, NULL);
	}
}

void flows_one_run_sum(const struct flows_one *f, struct flows_sum *sum)
{
	one_sum_all(f, sum);
	one_add(sum, &f->run_base, sizeof(*sum), true);
}

void flows_one_run_add(const struct flows_one *f, struct flows_sum *sum,
		       struct hist *h[FLOWS_HISTS])
{
	struct flows_sum k;

	flows_one_run_sum(f, &k);
	one_add(sum, &k, sizeof(k), false);
	for (unsigned i = 0; i < FLOWS_HISTS; i++) {
		struct hist *one = one_hist_since(f, i, f->run_hist[i]);
		h[i] = h[i] != NULL ? h[i] : hist_new(FLOWS_HIST);
		hist_merge(h[i], one);
		free(one);
	}
}

static double one_rate(uint64_t now, uint64_t before, double seconds)
{
	return (double)(now - before) / seconds;
}

void flows_one_tick(struct flows_one *f, double seconds)
{
	struct flows_sum now;

	one_sum_all(f, &now);
	f->cps_now = one_rate(now.flow.established, f->prev.flow.established, seconds);
	f->tps_now = one_rate(now.wl.done, f->prev.wl.done, seconds);
	f->tx_bps = one_rate(now.flow.tx_bytes, f->prev.flow.tx_bytes, seconds) * 8;
	f->rx_bps = one_rate(now.flow.rx_bytes, f->prev.flow.rx_bytes, seconds) * 8;
	f->prev = now;
}

/* ---- rates ---- */

static bool one_rate_same(const struct flows_rate *a, const struct rate *set,
			  const struct arrival *arrival, bool off)
{
	return a->epoch != 0 && a->off == off && a->set.kind == set->kind &&
	       a->set.value == set->value && a->set.to == set->to && a->set.step == set->step &&
	       a->set.over_ns == set->over_ns &&
	       memcmp(&a->arrival, arrival, sizeof(*arrival)) == 0;
}

static void one_rate_set(const struct ctl_port *cp, const struct flows_one *f, struct flows_rate *r,
			 const struct rate *set, const struct arrival *arrival, bool off)
{
	struct arrival a = *arrival;
	struct pace_trend t = {.from = set->value, .to = set->value};
	uint64_t epoch = r->epoch + 1;

	if (one_rate_same(r, set, arrival, off) && !cp->run.armed)
		return;
	memset(r, 0, sizeof(*r));
	r->set = *set;
	r->arrival = *arrival;
	r->epoch = epoch;
	r->off = off;
	r->max = set->kind == RATE_MAX;
	r->start_tsc = cp->run.armed ? 0 : RTE_MAX(clock_tsc(), cp->run.start_tsc);
	if (r == &f->tps && f->hold)
		r->start_tsc = clock_tsc() + ONE_FAR;
	if (off || r->max)
		return;
	r->per_s = set->over_ns != 0 ? set->to : set->value;
	r->period = pace_period(clock_hz(), set->value);
	r->shaped = set->over_ns != 0 || a.kind != ARRIVAL_CONSTANT;
	if (!r->shaped)
		return;
	if (set->over_ns != 0)
		t = (struct pace_trend){.from = set->value,
					.to = set->to,
					.step = set->step,
					.over_ns = set->over_ns};
	if (a.seed == 0)
		a.seed = pace_random(ONE_SEED + (r == &f->tps),
				     (uint64_t)cp->p.id << 32 | (f->id + 1));
	/* A burst without a gap has nothing between its opens: they begin together. */
	pace_shape_make(&r->shape, &a, &t, clock_hz(), clock_hz());
	r->shape.period = r->period;
}

void flows_rates(const struct ctl_port *cp, struct flows_one *f, const struct stream *s)
{
	const struct flows_cfg *cfg = flows_cfg_of(&s->cfg);
	struct rate cps = cfg->cps, tps = cfg->tps.rate;
	bool on_call = cfg->tps.on;

	if (cp->run.has_rate && f->client) { /* it does not follow the settings */
		struct rate *r = f->on_call ? &tps : &cps;
		on_call = f->on_call;
		*r = cp->run.rate;
		if (r->kind != RATE_MAX)
			r->value *= f->share;
	}
	one_rate_set(cp, f, &f->cps, &cps, &s->cfg.arrival, !f->client);
	one_rate_set(cp, f, &f->tps, &tps, &s->cfg.arrival, !f->client || !on_call);
}

/* When opens or transactions end: behind exactly as many as lie in the time. Rounding on the clock
 * must not add one, or take one away. */
static uint64_t one_end(const struct flows_rate *a, uint64_t start_tsc, uint64_t duration_ns)
{
	const struct pace p = {.period = a->period, .t0 = start_tsc};
	uint64_t end = start_tsc + clock_cycles(duration_ns);

	if (a->max || a->shaped || a->off)
		return end;
	uint64_t n = pace_frames(a->per_s, duration_ns);
	if (n > 0 && pace_due(&p, n - 1) >= end)
		return pace_due(&p, n - 1) + 1;
	return RTE_MIN(pace_due(&p, n), end);
}

void flows_rates_arm(const struct ctl_port *cp, struct flows_one *f)
{
	const struct run *r = &cp->run;

	f->cps.start_tsc = r->start_tsc;
	f->tps.start_tsc = f->hold ? r->start_tsc + ONE_FAR : r->start_tsc;
	f->end_tsc = UINT64_MAX;
	if (r->duration_ns != 0 && !f->hold)
		f->end_tsc = one_end(&f->cps, r->start_tsc, r->duration_ns);
}

void flows_unhold(const struct ctl_port *cp, struct flows_one *f, uint64_t start_tsc)
{
	f->hold = false;
	f->tps.epoch++;
	f->tps.start_tsc = start_tsc;
	if (cp->run.duration_ns != 0)
		f->end_tsc = one_end(&f->tps, start_tsc, cp->run.duration_ns);
}

bool flows_ramps(const struct ctl_port *cp, const struct flows_rate *r)
{
	int64_t gone = (int64_t)(clock_tsc() - r->start_tsc);
	uint64_t whole = r->set.over_ns;

	if (r->off || r->max || whole == 0 || !cp->run.active || cp->run.armed)
		return false;
	if (r->set.step > 0)
		whole = (uint64_t)((double)whole *
				   (r->set.to > r->set.value ? r->set.to - r->set.value
							     : r->set.value - r->set.to) /
				   r->set.step);
	return gone < 0 || clock_ns((uint64_t)gone) < whole;
}
