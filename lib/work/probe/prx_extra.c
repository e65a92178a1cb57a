/* SPDX-License-Identifier: BSD-3-Clause */
/* What a receiver of probes does beside counting, and what can be set on it while it works. */
#include "prx_extra.h"

#include "arrival.h"
#include "prx_own.h"

#define MOST_STEPS 100

void prx_set_extra(struct prx *x, struct prx_extra *extra)
{
	__atomic_store_n(&x->extra, extra, __ATOMIC_RELEASE);
}

void prx_set_target(struct prx *x, uint64_t gap_cycles)
{
	cell_set(&x->target_ns, gap_cycles != 0 ? prx_ns(x->ns_mult, gap_cycles) : PRX_NO_TARGET);
}

bool prx_sample_next(struct prx_extra *e, uint64_t *ns)
{
	uint64_t tail = e->tail;

	if (tail == __atomic_load_n(&e->head, __ATOMIC_ACQUIRE))
		return false;
	*ns = e->ns[tail % PRX_RING];
	__atomic_store_n(&e->tail, tail + 1, __ATOMIC_RELEASE);
	return true;
}

/* Sets e->next to the next moment from which a frame is sampled. If several such moments passed
 * without a frame, they are not made up for: each frame is at most one sample (RFC 2330 11.1.1 for
 * those of Poisson). */
static void next_sample(struct prx_extra *e, enum prx_sampling how, uint64_t now)
{
	uint64_t interval = cell_get(&e->interval_cycles);

	if (how == PRX_EVEN || interval == 0) {
		e->next = e->next != 0 && interval != 0
				  ? e->next + ((now - e->next) / interval + 1) * interval
				  : now + interval;
		return;
	}
	if (e->next == 0)
		e->next = now;
	for (unsigned i = 0; e->next <= now; i++) {
		if (i == MOST_STEPS) /* after a long silence: random times have no memory */
			e->next = now;
		e->next += (uint64_t)((unsigned __int128)pace_poisson_gap(e->seed, e->drawn++) *
					      interval >>
				      32);
	}
}

static void prx_extra_sample(struct prx_extra *e, enum prx_sampling how, uint64_t ns, uint64_t now)
{
	uint64_t head = e->head;

	next_sample(e, how, now);
	if (head - __atomic_load_n(&e->tail, __ATOMIC_ACQUIRE) == PRX_RING) {
		cell_add(&e->lost, 1);
		return;
	}
	e->ns[head % PRX_RING] = ns;
	__atomic_store_n(&e->head, head + 1, __ATOMIC_RELEASE);
}

void prx_extra_count(const struct prx *x, struct prx_extra *e, const struct prx_flow *f,
		     uint64_t transit, uint64_t now)
{
	uint64_t limit = cell_get(&e->jitter_cycles), was = f->last_transit;
	enum prx_sampling how = (enum prx_sampling)__atomic_load_n(&e->sampling, __ATOMIC_ACQUIRE);

	if (limit != 0 && f->last_tsc != 0) {
		cell_add(&e->compared, 1);
		if ((transit > was ? transit - was : was - transit) > limit)
			cell_add(&e->above, 1);
	}
	if (how != PRX_NO_SAMPLES && now >= e->next)
		prx_extra_sample(e, how, prx_ns(x->ns_mult, transit), now);
}
