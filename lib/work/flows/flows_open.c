/* SPDX-License-Identifier: BSD-3-Clause */
/* When connections are opened and transactions begin, and how late. */
#include "flows_own.h"

/* ---- a pace ---- */

static inline bool open_is_poisson(const struct flows_due *d)
{
	return d->pace.shape != NULL && d->shape.kind == ARRIVAL_POISSON;
}

/* The gap before own number i of Poisson arrivals: 1 is the mean gap of the whole flow. */
static pace_pos open_gap(const struct flows_due *d, uint64_t i)
{
	return ((pace_pos)pace_poisson_gap(d->seed, i) << 32) * d->pace.step;
}

/* Returns when own number i is due. x: of Poisson arrivals the sum of the gaps before it. */
static uint64_t open_due_at(const struct flows_due *d, uint64_t i, pace_pos x)
{
	const struct pace even = {.period = d->pace.period, .t0 = d->t0};
	uint64_t k = d->pace.first + i * d->pace.step;
	struct pace_at at = {.k = k, .x = PACE_POS(k), .slot = 1};

	if (likely(d->pace.shape == NULL))
		return pace_due(&even, k);
	if (d->shape.kind == ARRIVAL_POISSON)
		at.x = x;
	if (d->shape.kind == ARRIVAL_BURST && !d->shape.gap)
		at.begin = k - k % d->shape.burst;
	return d->t0 + pace_shape_due(&d->shape, &at, k);
}

/* Goes on by n. */
static void open_step(struct flows_due *d, uint64_t n)
{
	if (d->pace.max || d->pace.off)
		return;
	if (open_is_poisson(d)) {
		for (; n > 0; n--)
			d->x += open_gap(d, ++d->i);
		if (d->seen < d->i) {
			d->seen = d->i;
			d->seen_x = d->x;
		}
	}
	d->i += n;
	d->next = open_due_at(d, d->i, d->x);
}

static void open_anchor(struct flows_due *d, const struct flows_pace *p, uint64_t t0)
{
	d->pace = *p;
	d->t0 = t0;
	d->from = UINT64_MAX;
	d->i = d->seen = 0;
	d->next = t0;
	if (p->off || p->max)
		return;
	if (p->shape != NULL) {
		d->shape = *p->shape;
		d->pace.shape = &d->shape;
		d->seed = pace_queue_seed(d->shape.seed, p->first);
	}
	d->x = d->seen_x = open_is_poisson(d) ? open_gap(d, 0) : 0;
	d->next = open_due_at(d, 0, d->x);
}

void flows_pace_begin(struct flows_due *d, const struct flows_pace *p)
{
	open_anchor(d, p, p->start_tsc);
}

/* Returns how many, from the next one on, are due before tsc; at most `most`. Deadlines of Poisson
 * arrivals are sums: what has been looked at once is not looked at again, and there is an end to
 * how many are looked at in a turn. */
#define OPEN_WALK 4096
static uint64_t open_before(struct flows_due *d, uint64_t most, uint64_t tsc)
{
	uint64_t lo = 0, hi = 1;

	if (d->pace.off || d->pace.max || most == 0 || (int64_t)(tsc - d->next) <= 0)
		return 0;
	if (open_is_poisson(d)) {
		for (unsigned walk = 0; walk < OPEN_WALK && d->seen - d->i < most &&
					(int64_t)(tsc - open_due_at(d, d->seen, d->seen_x)) > 0;
		     walk++)
			d->seen_x += open_gap(d, ++d->seen);
		return d->seen - d->i;
	}
	/* At least lo are due before tsc, and at most hi when the loop has ended. */
	for (; hi < most && hi >> 40 == 0 && (int64_t)(tsc - open_due_at(d, d->i + hi - 1, 0)) > 0;
	     hi *= 2)
		lo = hi;
	hi = RTE_MIN(hi, most);
	while (lo < hi) {
		uint64_t mid = (lo + hi + 1) / 2;

		if ((int64_t)(tsc - open_due_at(d, d->i + mid - 1, 0)) > 0)
			lo = mid;
		else
			hi = mid - 1;
	}
	return lo;
}

uint64_t flows_pace_follow(struct flows_due *d, const struct flows_pace *p, uint64_t late_cycles,
			   uint64_t now)
{
	uint64_t late, limit = now - late_cycles;

	if (p->epoch == d->pace.epoch) {
		d->from = UINT64_MAX;
		return 0;
	}
	/* A pace that has never begun leaves nothing to go on from. */
	d->ahead = (int64_t)(p->start_tsc - now) >= 0 || d->pace.held;
	d->from = d->ahead ? p->start_tsc : now;
	/* What is very late will not be sped up. Seldom is it more than a walk. */
	late = open_before(d, UINT64_MAX, limit);
	open_step(d, late);
	return late;
}

static bool open_is_paced(const struct flows_pace *p)
{
	return !p->off && !p->max;
}

/* The newer pace begins: all that was due before by the older one is through. What is left of the
 * wait for the next one becomes shorter or longer as the period does. So a rate may change often
 * and the number of opens is still that of the rates. */
static void open_switch(struct flows_due *d, const struct flows_pace *p)
{
	struct pace_period was = d->pace.period, slot;
	uint64_t wait = d->next - d->from, from = d->from;
	bool scaled = open_is_paced(&d->pace) && open_is_paced(p) && !d->ahead;

	open_anchor(d, p, d->ahead ? p->start_tsc : from);
	if (!scaled || open_is_poisson(d))
		return;
	slot = pace_times(&p->period, p->step);
	wait = RTE_MIN(pace_scale(wait, &was, &p->period), slot.cycles + 1);
	d->t0 += from + wait - d->next;
	d->next = from + wait;
}

/* Takes over a newer pace if its time has come. Returns until when the present one is valid. */
static uint64_t open_pace(struct flows_due *d, const struct flows_pace *p, uint64_t now)
{
	if (unlikely(d->from != UINT64_MAX) && now >= d->from &&
	    (!open_is_paced(&d->pace) || (int64_t)(d->next - d->from) >= 0))
		open_switch(d, p);
	return d->from;
}

/* ---- opens and transactions ---- */

/* What of a flow is due in a turn: opens, or transactions. */
struct open_turn {
	const struct flows_job *j;
	const struct flows_flow *f;
	struct flows_due *d;
	const struct flows_pace *newest;
	bool tps;
	bool blocked;  /* only something other than time lets it go on */
	uint64_t left; /* how many may still come in the run */
	cell_t *due, *done, *late, *late_max_ns, *first_tsc, *last_tsc;
	uint64_t *given_up;
};

static void open_set(const struct flows_job *j, const struct flows_flow *f, bool tps,
		     struct open_turn *t)
{
	struct flows_state_of *s = f->state;
	struct flows_on *on = flows_on(f);

	if (tps)
		*t = (struct open_turn){.due = &s->due_tps,
					.done = &s->done_tps,
					.late = &s->late_tps,
					.late_max_ns = &s->late_tps_max_ns,
					.first_tsc = &s->first_tps_tsc,
					.last_tsc = &s->last_tps_tsc,
					.given_up = &on->given_up_tps,
					.d = &on->tps,
					.newest = &f->tps,
					.left = UINT64_MAX};
	else
		*t = (struct open_turn){.due = &s->due,
					.done = &s->done,
					.late = &s->late,
					.late_max_ns = &s->late_max_ns,
					.first_tsc = &s->first_tsc,
					.last_tsc = &s->last_tsc,
					.given_up = &on->given_up,
					.d = &on->cps,
					.newest = &f->cps,
					.left = f->opens > s->done ? f->opens - s->done : 0};
	t->j = j;
	t->f = f;
	t->tps = tps;
}

/* Transactions go to connections of all versions that live, in turns. */
static unsigned open_go(struct flows_own *o, const struct open_turn *t, unsigned n, uint64_t due_ns,
			uint64_t each_ns)
{
	unsigned done = 0;

	for (unsigned i = 0; i < o->nheld && done < n; i++) {
		const struct flows_held *h = &o->held[(o->turn + i) % o->nheld];

		if (h->version != NULL && h->of == t->f->state)
			done += flow_go(t->j->machine, h->number, n - done, due_ns + done * each_ns,
					each_ns, o->now_ns);
	}
	return done;
}

static unsigned open_new(struct flows_own *o, const struct open_turn *t, unsigned n,
			 uint64_t due_ns, uint64_t each_ns)
{
	const struct flows_on *on = flows_on(t->f);

	if (on->held == NULL)
		return 0;
	return flow_open(t->j->machine, on->held->number, n, due_ns, each_ns, o->now_ns);
}

static unsigned open_do(struct flows_own *o, const struct open_turn *t, unsigned n, uint64_t due_ns,
			uint64_t each_ns)
{
	unsigned done =
		t->tps ? open_go(o, t, n, due_ns, each_ns) : open_new(o, t, n, due_ns, each_ns);

	if (done > 0) {
		cell_set(t->last_tsc, o->now);
		if (unlikely(cell_get(t->first_tsc) == 0))
			cell_set(t->first_tsc, o->now);
	}
	return done;
}

/* The next one has come: counts it if it is late, and goes on. */
static inline void open_came(const struct flows_own *o, const struct open_turn *t)
{
	uint64_t late = o->now - t->d->next;

	if (unlikely(late > t->d->late_max)) {
		t->d->late_max = late;
		cell_set(t->late_max_ns, flows_ns(t->j, late));
	}
	cell_add(t->late, late > t->f->late_cycles);
	open_step(t->d, 1);
}

/* Begins n that are due. Returns how many came. */
static unsigned open_due(struct flows_own *o, const struct open_turn *t, unsigned n)
{
	struct flows_due *d = t->d;
	uint64_t each_ns = flows_ns(t->j, d->pace.period.cycles * d->pace.step);
	unsigned some = d->pace.shape == NULL ? n : 1, done = 0, came;

	/* The deadlines of a shape are of each its own. */
	do {
		came = open_do(o, t, some, o->now_ns - flows_ns(t->j, o->now - d->next), each_ns);
		for (unsigned i = 0; i < came; i++)
			open_came(o, t);
		done += came;
	} while (done < n && came == some);
	return done;
}

/* As fast as can be is as fast as peers answer: so many connections of a queue may wait for the
 * first answer at once. More would fill the rings of the device and what is behind it, and what is
 * lost there costs a time-out. Those that wait for longer than OPEN_SLOW_NS do not count: their
 * answers are lost, or nobody answers. */
#define OPEN_UNANSWERED 128
#define OPEN_SLOW_NS 20000000
static uint64_t open_may(struct flows_own *o, const struct flows_flow *f)
{
	const struct flows_state_of *s = f->state;
	struct flows_on *on = flows_on(f);
	uint64_t waiting = f->version->spec->udp ? s->transactions.open : s->counts.opening, recent;

	if (o->now_ns - on->recent_ns >= OPEN_SLOW_NS) {
		on->recent_ns = o->now_ns;
		on->recent[0] = on->recent[1];
		on->recent[1] = s->counts.opened;
	}
	recent = s->counts.opened - on->recent[0];
	waiting = RTE_MIN(waiting, recent);
	return waiting < OPEN_UNANSWERED ? OPEN_UNANSWERED - waiting : 0;
}

/* As many as can be. Where there was no tuple or no memory the last time, one tries whether there
 * is again: else each turn would count many such opens. */
static uint64_t open_max(struct flows_own *o, struct open_turn *t, uint64_t room, uint64_t until)
{
	const struct flow_counts *k = &t->f->state->counts;
	uint64_t none = k->no_tuple + k->no_memory, may = t->tps ? UINT64_MAX : open_may(o, t->f),
		 n = RTE_MIN(RTE_MIN(room, t->left), may), done;
	unsigned most = t->d->scarce ? 1 : FLOWS_BATCH;

	if (o->now < t->d->t0)
		return t->d->t0;
	if (o->now >= until)
		return t->d->from;
	done = open_do(o, t, (unsigned)RTE_MIN(n, most), o->now_ns, 0);
	cell_add(t->done, done);
	cell_set(t->due, cell_get(t->done) + *t->given_up);
	t->d->scarce = k->no_tuple + k->no_memory != none;
	/* No place for more, no tuple, no connection that is ready: these come when others go. */
	t->blocked = done == n || t->d->scarce || (t->tps && done < FLOWS_BATCH);
	if (!t->blocked)
		return DP_NOW;
	if (done < may)
		return t->d->from;
	/* or when those that wait are slow */
	return RTE_MIN(t->d->from, o->now + flows_cycles(t->j, OPEN_SLOW_NS));
}

/* Begins what may begin in this turn. room: for how many of them there is a place. Returns when to
 * look again. */
static uint64_t open_turn(struct flows_own *o, struct open_turn *t, uint64_t room)
{
	struct flows_due *d = t->d;
	uint64_t until, due, n, done;
	bool held = !t->tps && !t->f->tps.off;

	open_pace(d, t->newest, o->now);
	until = RTE_MIN(d->from, t->f->end_tsc);
	if (d->pace.off || t->left == 0)
		return d->from;
	if (d->pace.max)
		return open_max(o, t, room, until);
	due = open_before(d, t->left, RTE_MIN(o->now + 1, until));
	if (held && due > room) { /* no more are wanted */
		open_step(d, due - room);
		due = room;
	}
	n = RTE_MIN(RTE_MIN(due, room), FLOWS_BATCH);
	done = n > 0 ? open_due(o, t, (unsigned)n) : 0;
	cell_add(t->done, done);
	cell_set(t->due, cell_get(t->done) + *t->given_up + due - done);
	if (done == due)
		return RTE_MIN(d->next, d->from);
	t->blocked = done == room || (t->tps && done < n);
	if (done == room)
		cell_add(&t->f->state->full, 1);
	return t->blocked ? DP_NEVER : DP_NOW;
}

void flows_open_due(struct flows_own *o, const struct flows_job *j, const struct flows_flow *f)
{
	struct flows_on *on = flows_on(f);
	uint64_t alive = flows_alive(f), wake;
	struct open_turn cps, tps;

	open_set(j, f, false, &cps);
	open_set(j, f, true, &tps);
	wake = open_turn(o, &cps, f->most > alive ? f->most - alive : 0);
	on->wake = RTE_MIN(wake, open_turn(o, &tps, UINT64_MAX));
	on->blocked = cps.blocked || tps.blocked;
}

static bool open_left(const struct open_turn *t)
{
	const struct flows_due *d = t->d;

	/* A pace that has not begun is behind all that is left of this one. */
	return open_is_paced(&d->pace) && t->left > 0 && d->next < t->f->end_tsc;
}

bool flows_open_left(const struct flows_job *j, const struct flows_flow *f)
{
	struct open_turn cps, tps;

	if (!flows_opens(j, f))
		return false;
	open_set(j, f, false, &cps);
	open_set(j, f, true, &tps);
	return open_left(&cps) || open_left(&tps);
}

/* Counts what was due before `until` and has not come. Of Poisson arrivals that are very far behind
 * this is an estimate in the end. */
static void open_rest(struct open_turn *t, uint64_t until)
{
	struct flows_due *d = t->d;
	struct pace_period each;
	uint64_t rest;

	do {
		uint64_t end = RTE_MIN(d->from, until);
		int64_t more;

		rest = open_before(d, t->left, end);
		open_step(d, rest);
		more = open_is_poisson(d) ? (int64_t)(end - d->next) : 0;
		if (more > 0) {
			each = pace_times(&d->pace.period, d->pace.step);
			rest += (uint64_t)((double)more / ((double)each.cycles + 1));
			d->from = UINT64_MAX;
		}
		t->left -= RTE_MIN(t->left, rest);
		*t->given_up += rest;
		open_pace(d, t->newest, until);
	} while (d->from < until && t->left > 0);
	cell_set(t->due, cell_get(t->done) + *t->given_up);
}

void flows_open_end(const struct flows_job *j, const struct flows_flow *f, uint64_t until)
{
	struct open_turn cps, tps;

	if (!flows_opens(j, f))
		return;
	open_set(j, f, false, &cps);
	open_set(j, f, true, &tps);
	if (!f->tps.off) /* nobody wanted those that were not needed */
		cps.left = 0;
	open_rest(&cps, until);
	open_rest(&tps, until);
}
