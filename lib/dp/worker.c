/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop of a worker. In each turn it takes a new plan if there is one, receives from its queues,
 * hands the frames to their owners, and polls the tasks that are due. */
#include "dp.h"

/* Whether taps or sorts look at the frames of a queue. The bench builds a worker without, to
 * compare. */
#ifndef DP_ASKS
#define DP_ASKS(duty) ((duty)->asks != 0)
#endif

void dp_event_post(struct dp_worker *w, uint16_t kind, uint16_t port, uint16_t queue,
		   uint64_t value)
{
	struct mbox_event ev = {.kind = kind, .port = port, .queue = queue, .value = value};

	if (!mbox_event(&w->mbox, &ev))
		cell_add(&w->cells.events_lost, 1);
	w->has_news = true;
}

/* Returns the task with that state. NULL: the plan, which may be NULL, has none. */
static const struct dp_task *task_of_state(const struct dp_plan *p, const struct dp_state *s)
{
	for (unsigned i = 0; p != NULL && i < p->ntasks; i++)
		if (p->task[i].state == s)
			return &p->task[i];
	return NULL;
}

/* Counts a turn of that length as a stall. */
static __rte_noinline void dp_stalled(struct dp_worker *w, uint64_t cycles)
{
	struct dp_stalls *s = &w->stalls;

	cell_add(&s->count, 1);
	cell_add(&s->cycles, cycles);
	for (unsigned m = 0; m < DP_MARKS; m++) {
		uint64_t asked = cell_get(&s->asked[m]);
		bool fresh = asked != cell_get(&s->seen[m]);
		if (fresh || cycles > cell_get(&s->longest[m]))
			cell_set(&s->longest[m], cycles);
		if (fresh)
			__atomic_store_n(&s->seen[m], asked, __ATOMIC_RELEASE);
	}
}

/* Returns the length in cycles of the longest turn that is not a stall. */
static inline uint64_t stall_limit(const struct dp_plan *p)
{
	return p != NULL && p->stall_cycles != 0 ? p->stall_cycles : UINT64_MAX;
}

static __rte_noinline void flush_taps(const struct dp_duty *s)
{
	for (unsigned t = 0; t < s->ntaps; t++)
		if (s->tap[t].flush != NULL)
			s->tap[t].flush(s->tap[t].state);
}

/* Goes from the present plan to the next one and acknowledges it. */
static void dp_adopt(struct dp_worker *w, const struct dp_plan *next, uint64_t now)
{
	const struct dp_plan *old = w->plan;

	if (now - w->turn_tsc > stall_limit(old))
		dp_stalled(w, now - w->turn_tsc);
	for (unsigned i = 0; old != NULL && i < old->ntasks; i++) {
		const struct dp_task *t = &old->task[i];
		if (t->kind->drop != NULL && task_of_state(next, t->state) == NULL)
			t->kind->drop(w, t, now);
	}
	for (unsigned i = 0; old != NULL && i < old->nrx; i++)
		flush_taps(&old->rx[i]);
	w->plan = next;
	for (unsigned i = 0; i < next->ntasks; i++) {
		const struct dp_task *t = &next->task[i], *was = task_of_state(old, t->state);
		if (was == NULL)
			t->state->next = DP_NEVER;
		if (t->kind->adopt != NULL)
			t->kind->adopt(w, t, was != NULL ? was->job : NULL, now);
	}
	w->barren = 0;
	w->progress_tsc = now;
	w->turn_tsc = now; /* the time before may have been without a plan: it was not busy */
	/* From here on control may free the old plan. */
	__atomic_store_n(&w->cells.acked, next->seq, __ATOMIC_RELEASE);
}

static __rte_always_inline void dp_give(struct dp_worker *w, const struct dp_task *t,
					struct dp_rxq *q, struct rte_mbuf **m, unsigned n,
					const struct dp_burst *b, uint64_t now)
{
	t->kind->rx(w, t, q, m, n, b, now);
}

#define FEW 64

/* Whether the first one's owner has all n. */
static inline bool all_of_one(const uint8_t *owner, unsigned n)
{
	uint8_t differ = 0;

	for (unsigned i = 1; i < n; i++)
		differ |= owner[i] ^ owner[0];
	return differ == 0;
}

/* Lets sorts claim frames and gives each task its part of the burst, in the order of arrival. */
static __rte_noinline void give_parts(struct dp_worker *w, const struct dp_plan *p,
				      const struct dp_duty *s, struct rte_mbuf **m, unsigned n,
				      const struct dp_burst *b, uint64_t now)
{
	uint8_t owner[DP_BURST_MAX];
	struct rte_mbuf *part[DP_BURST_MAX];

	/* Of constant length for most bursts. A call of memset() stores through masks, and sorts
	 * that read what was so stored wait until it is in the cache: as long as all the rest takes
	 * for one frame. */
	memset(owner, 0, FEW);
	if (n > FEW)
		memset(owner + FEW, 0, n - FEW);
	for (unsigned k = 0; k < s->nsorts; k++) {
		s->sort[k].fn(s->sort[k].arg, b, m, n, owner, (uint8_t)(k + 1));
		if (owner[0] == k + 1 && likely(all_of_one(owner, n))) {
			dp_give(w, &p->task[s->sort[k].task], s->q, m, n, b, now);
			return;
		}
	}
	for (unsigned k = 0; k <= s->nsorts; k++) {
		unsigned have = 0;
		for (unsigned i = 0; i < n; i++) {
			part[have] = m[i];
			have += owner[i] == k;
		}
		if (have > 0)
			dp_give(w, &p->task[k == 0 ? s->owner : s->sort[k - 1].task], s->q, part,
				have, b, now);
	}
}

/* Hands out a burst of a queue that has taps or sorts. */
static __rte_noinline void give_asked(struct dp_worker *w, const struct dp_plan *p,
				      const struct dp_duty *s, struct rte_mbuf **m, unsigned n,
				      const struct dp_burst *b, uint64_t now)
{
	for (unsigned t = 0; t < s->ntaps; t++)
		s->tap[t].rx(s->tap[t].state, b, m, n, now);
	if (s->nsorts > 0)
		give_parts(w, p, s, m, n, b, now);
	else
		dp_give(w, &p->task[s->owner], s->q, m, n, b, now);
}

/* Receives one burst of a queue and hands it out. Returns its frames. If the queue has taps or
 * sorts, *now is read anew once the burst is taken: they measure when frames came, and an older
 * time might be before that. */
static __rte_always_inline unsigned receive_one(struct dp_worker *w, const struct dp_plan *p,
						const struct dp_duty *s, uint64_t *now)
{
	struct rte_mbuf *m[DP_BURST_MAX];
	unsigned n = dp_rx_burst(s->q, m, s->burst);
	bool asks = DP_ASKS(s);

	if (n == 0) {
		if (unlikely(asks))
			flush_taps(s);
		return 0;
	}
	if (unlikely(asks))
		*now = rte_rdtsc();
	struct dp_burst b = dp_look(m, n);
	cell_add(&s->q->cnt.bursts, 1);
	if (n == s->burst)
		cell_add(&s->q->cnt.full, 1);
	if (unlikely(asks))
		give_asked(w, p, s, m, n, &b, *now);
	else
		dp_give(w, &p->task[s->owner], s->q, m, n, &b, *now);
	return n;
}

static unsigned dp_receive(struct dp_worker *w, const struct dp_plan *p, uint64_t *now)
{
	unsigned total = 0;

	for (unsigned i = 0; i < p->nrx; i++)
		total += receive_one(w, p, &p->rx[i], now);
	return total;
}

/* Measures bursts that follow each other. The clock is read after each burst, which is the begin of
 * the next one. If a call in between moved no frames, it is read anew. */
struct watch {
	uint64_t t;
	bool stale;
	unsigned weight;
};

static inline void watch_begin(struct watch *c)
{
	if (c->stale)
		c->t = rte_rdtsc();
	c->stale = true;
}

/* In a burst that took more than LOST_TIMES as long as others, and more than 1 / LOST_PER_S s, the
 * thread had lost its CPU. */
#define LOST_PER_S 10000
#define LOST_TIMES 16

/* Returns whether the thread lost its CPU in a burst of that cost. Each such burst raises what is
 * typical, so bursts that are always slow become typical after a few. */
static bool lost_cpu(struct dp_times *times, uint64_t cycles)
{
	uint64_t took = cycles * DP_CYCLE_PARTS | 1;

	if (times->typical != 0 && took / LOST_TIMES > times->typical &&
	    cycles > rte_get_tsc_hz() / LOST_PER_S) {
		cell_add(&times->typical, times->typical / 4 + 1);
		return true;
	}
	cell_set(&times->typical, times->typical != 0 ? (times->typical * 7 + took) / 8 | 1 : took);
	return false;
}

/* Adds what was measured since watch_begin() to times, if frames were moved. */
static inline void watch_end(struct watch *c, struct dp_times *times, unsigned moved)
{
	if (moved == 0)
		return;
	uint64_t end = rte_rdtsc(), cycles = end - c->t;
	c->t = end;
	c->stale = false;
	if (unlikely(lost_cpu(times, cycles)))
		return;
	cell_add(&times->bursts, c->weight);
	cell_add(&times->cycles, c->weight * cycles);
}

/* A turn in which the cost of each burst is measured; reading the clock is too slow for all
 * turns. */
static __rte_noinline unsigned timed_work(struct dp_worker *w, const struct dp_plan *p,
					  uint64_t now)
{
	struct watch c = {.t = now, .weight = w->barren > 0 ? 1 : DP_PUBLISH_TURNS};
	unsigned total = 0;

	for (unsigned i = 0; i < p->nrx; i++) {
		watch_begin(&c);
		unsigned n = receive_one(w, p, &p->rx[i], &now);
		watch_end(&c, &p->rx[i].q->times, n);
		total += n;
	}
	for (const struct dp_task *t = p->task; t < p->task + p->ntasks; t++) {
		if (t->state->next > now)
			continue;
		watch_begin(&c);
		unsigned n = t->kind->poll(w, t, now);
		watch_end(&c, &t->state->times, n);
		total += n;
	}
	return total;
}

static void dp_publish(struct dp_worker *w)
{
	cell_add(&w->cells.loops, w->turns);
	cell_add(&w->cells.busy_tsc, w->busy_tsc);
	w->turns = 0;
	w->busy_tsc = 0;
}

/* What a turn needs of the plan is kept in local variables, and so in registers, from turn to turn.
 * The drivers' atomic operations keep loads from being done ahead of time, so each pointer that is
 * followed before the first buffer is taken costs its whole latency. */
bool dp_turns(struct dp_worker *w, unsigned turns)
{
	const struct dp_plan *p = w->plan;
	const struct dp_task *first = p != NULL ? p->task : NULL,
			     *end = p != NULL ? first + p->ntasks : NULL;
	uint64_t longest = stall_limit(p);

	while (turns-- > 0) {
		uint64_t now; /* read once in a turn if possible: costs as much as 2 or 3 frames */
		unsigned progress = 0;

		if (unlikely(mbox_waiting(&w->mbox))) {
			const struct dp_plan *next = mbox_take(&w->mbox);
			/* Read now: control frees the plan when it is acknowledged. */
			bool quit = next != NULL && next->quit;
			if (next != NULL)
				dp_adopt(w, next, rte_rdtsc());
			if (quit)
				return false;
			p = w->plan;
			first = p != NULL ? p->task : NULL;
			end = p != NULL ? first + p->ntasks : NULL;
			longest = stall_limit(p);
		}
		if (unlikely(p == NULL)) {
			rte_pause();
			continue;
		}
		if (unlikely(w->barren > 0 || w->turns == 0)) {
			now = rte_rdtsc();
			progress = timed_work(w, p, now);
		} else {
			now = w->turn_tsc; /* of the turn before: enough without taps and sorts */
			if (p->nrx > 0)
				progress = dp_receive(w, p, &now);
			if (now == w->turn_tsc)
				now = rte_rdtsc();
			for (const struct dp_task *t = first; t < end; t++)
				if (t->state->next <= now)
					progress += t->kind->poll(w, t, now);
		}
		uint64_t took = now - w->turn_tsc; /* since the same place in the turn before */
		if (w->barren == 0)
			w->busy_tsc += took;
		if (unlikely(took > longest))
			dp_stalled(w, took);
		w->turn_tsc = now;
		if (++w->turns >= DP_PUBLISH_TURNS)
			dp_publish(w);
		if (likely(progress > 0)) {
			w->barren = 0;
			w->progress_tsc = now;
		} else {
			cell_add(&w->cells.barren, 1);
			dp_idle(w, now);
		}
	}
	return true;
}

bool dp_turn(struct dp_worker *w)
{
	return dp_turns(w, 1);
}

int dp_worker_main(void *arg)
{
	while (dp_turns(arg, UINT32_MAX))
		;
	return 0;
}
