/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrivals and rates of every kind, for a port that a test turns on a clock of its own. The
 * deadlines of their frames are computed here in the plain way, to compare with the sender's. */
#pragma once
#include "dp_model.h"

#define HZ 1e9 /* a cycle is a ns here */
#define T0 1000000u

static struct pace_shape shapes[4];

static inline const struct pace_shape *shape(unsigned slot, const struct arrival *a, double from,
					     double to, double step, uint64_t over_ns)
{
	struct pace_trend t = {.from = from, .to = to, .step = step, .over_ns = over_ns};

	pace_shape_make(&shapes[slot], a, &t, HZ, 10 * (to > from ? to : from));
	return &shapes[slot];
}

static inline void shaped(struct tgroup *g, const struct pace_shape *s)
{
	g->shape = s;
	g->period = s->period;
}

/* Returns the deadline of frame k of the group, over all queues. With Poisson arrivals each queue
 * has gaps of its own, so these are added up over the own frames of the queue that sends frame
 * k. */
static inline uint64_t model_due(const struct world *x, const struct tgroup *g, uint64_t k)
{
	uint64_t units = g->by_bytes ? bytes_before(g, k) : k;
	struct pace_at at = {.k = k, .x = PACE_POS(units), .slot = 1};

	if (g->shape->kind == ARRIVAL_POISSON) {
		uint64_t seed = pace_queue_seed(g->shape->seed, (unsigned)(k % x->nq));
		at.x = 0;
		for (uint64_t i = 0; i <= k / x->nq; i++)
			at.x += (pace_pos)pace_poisson_gap(seed, i) * x->nq << 32;
	}
	if (g->shape->burst != 0)
		at.begin = g->by_bytes ? bytes_before(g, k - k % g->shape->burst)
				       : k - k % g->shape->burst;
	if (g->by_bytes)
		at.slot = bytes_before(g, k + 1) - units;
	return x->job.start_tsc + pace_shape_due(g->shape, &at, k);
}

static inline int up(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Fills due[] with the deadlines of the first n frames of the port, in order of time. */
static inline void all_due(const struct world *x, const struct tgroup *g, uint64_t *due, unsigned n)
{
	for (unsigned k = 0; k < n; k++)
		due[k] = model_due(x, g, k);
	qsort(due, n, sizeof(*due), up);
}

/* Moves the clock to that time, and sends what can be sent then. */
static inline void to(struct world *x, uint64_t now)
{
	x->now = now;
	poll_at(x);
}

static const struct pattern {
	struct arrival a;
	double from, to, step;
	uint64_t over_ns;
} patterns[] = {
	{{.kind = ARRIVAL_CONSTANT}, 1e6, 1e6, 0, 0},
	{{.kind = ARRIVAL_POISSON, .seed = 5}, 1e6, 1e6, 0, 0},
	{{.kind = ARRIVAL_BURST, .burst = 7}, 1e6, 1e6, 0, 0},
	{{.kind = ARRIVAL_BURST, .burst = 64}, 1e6, 1e6, 0, 0},
	{{.kind = ARRIVAL_BURST, .burst = 5, .gap_ns = 20000}, 1e6, 1e6, 0, 0},
	{{.kind = ARRIVAL_JITTER, .share = 0.5, .seed = 6}, 1e6, 1e6, 0, 0},
	{{.kind = ARRIVAL_ONOFF, .on_ns = 20000, .off_ns = 70000}, 1e6, 1e6, 0, 0},
	{{.kind = ARRIVAL_CONSTANT}, 1e5, 2e6, 0, 300000},
	{{.kind = ARRIVAL_CONSTANT}, 2e6, 1e5, 5e5, 100000},
	{{.kind = ARRIVAL_POISSON, .seed = 8}, 1e5, 2e6, 0, 300000},
	{{.kind = ARRIVAL_BURST, .burst = 9}, 1e5, 2e6, 1e5, 20000},
};

static inline const struct pace_shape *pattern(unsigned i)
{
	const struct pattern *p = &patterns[i];

	return shape(0, &p->a, p->from, p->to, p->step, p->over_ns);
}

/* Makes the port send frames in which a field varies, so that each frame can be told from the
 * others. */
static inline void vary(struct world *x)
{
	struct tphase *p = phase_new(x);

	phase_add(p, 0, frames_of(x, 0, 64, 1, 60000));
	one_group(x, p);
	x->gives = true;
}
