/* SPDX-License-Identifier: BSD-3-Clause */
/* How devices under test come and go, stage by stage, and what control asks of the work "wire": see
 * wire_ctl.h. */
#include "wire_ctl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STEP_NS 200000ull  /* while a stage changes, control looks again after this time */
#define HELD_NS 1000000ull /* the same while frames are held, or while a device is to go */
#define LOOKS 200          /* so often the counters are tried to be read without a sleep */
#define NAPS 20            /* after that, so often with a sleep behind each attempt */
#define FLAP_EXACT 1000000 /* a period that is off by less than this part of it is kept */

struct ctl_port *wire_peer(const struct ctl *c, const struct ctl_port *cp)
{
	const struct port *peer = cp->p.used ? port_peer(&cp->p) : NULL;

	return peer != NULL ? c->port[peer->id] : NULL;
}

static void add_counts(struct dut_counts *a, const struct dut_counts *b)
{
	uint64_t *x = (uint64_t *)a;
	const uint64_t *y = (const uint64_t *)b;

	for (unsigned i = 0; i < DUT_NCOUNTS; i++)
		x[i] += y[i];
}

/* Reads the counters of the state into d->seen. A worker that lost its CPU while it wrote them may
 * get it back meanwhile; if it does not, d->seen stays as it was. */
static void read_state(struct wire_dut *d)
{
	struct dut_counts now;

	for (unsigned i = 0; i < LOOKS + NAPS; i++) {
		if (dut_read(d->state, &now)) {
			d->seen = now;
			return;
		}
		if (i >= LOOKS)
			nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
		else
			rte_pause();
	}
}

void wire_dut_counts(struct wire_dut *d, struct dut_counts *out)
{
	if (d->state != NULL)
		read_state(d);
	*out = d->past;
	add_counts(out, &d->seen);
	out->most_waiting = RTE_MAX(d->past.most_waiting, d->seen.most_waiting);
}

/* ---- what is asked of it ---- */

static bool link_asked_down(const struct ctl_port *a, const struct ctl_port *b)
{
	return wire_cfg_of(a)->link_down != 0 || wire_cfg_of(b)->link_down != 0;
}

/* The port by whose settings the link flaps: if both ends ask for it, the one with the lower
 * number. NULL: it does not flap. */
static const struct ctl_port *wire_dut_flapping(const struct ctl_port *a, const struct ctl_port *b)
{
	const struct ctl_port *low = a->p.id < b->p.id ? a : b, *high = low == a ? b : a;

	return wire_cfg_of(low)->flap.every_ns != 0    ? low
	       : wire_cfg_of(high)->flap.every_ns != 0 ? high
						       : NULL;
}

/* Do the settings ask for a device between these ports? */
static bool wire_dut_wanted(const struct ctl_port *to, const struct ctl_port *from)
{
	return wire_dut_acts(wire_cfg_of(from)) || link_asked_down(to, from) ||
	       wire_dut_flapping(to, from) != NULL;
}

/* ---- stages ---- */

/* The workers of these n queues get new plans. */
static void wire_dut_tell(struct ctl *c, const int *worker, unsigned n)
{
	for (unsigned q = 0; q < n; q++)
		ctl_replan(c, worker[q]);
}

/* Begins a stage: the workers that it is about get new plans. */
static void wire_dut_enter(struct ctl *c, struct wire_dut *d, enum wire_stage stage)
{
	d->stage = stage;
	d->seq = c->plan_seq;
	wire_dut_tell(c, d->to->rx_worker, d->to->p.nrxq);
	/* the sender's bursts are stamped from now on, or no longer */
	if (stage == WIRE_DUT_TURNING || stage == WIRE_DUT_RETURNING)
		wire_dut_tell(c, d->from->tx_worker, d->from->p.ntxq);
}

/* Have the workers of these n queues acknowledged plans of the current stage? */
static bool wire_dut_heard(const struct ctl *c, const struct wire_dut *d, const int *worker,
			   unsigned n)
{
	for (unsigned q = 0; q < n; q++)
		if (__atomic_load_n(&c->worker[worker[q]].w->cells.acked, __ATOMIC_ACQUIRE) <=
		    d->seq)
			return false;
	return true;
}

static bool rings_empty(struct rte_ring *const *r, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (rte_ring_count(r[i]) > 0)
			return false;
	return true;
}

/* Are frames inside the device or its rings? The answer is exact only when the sender does not
 * send. */
static bool wire_dut_holds(struct wire_dut *d)
{
	struct dut_counts now;

	if (d->stage == WIRE_DUT_OFF || d->stage == WIRE_DUT_TURNING)
		return false;
	wire_dut_counts(d, &now);
	return now.waiting + now.taken > 0 || !rings_empty(d->line.out, d->line.nrings) ||
	       (d->stage == WIRE_DUT_ON && !rings_empty(d->line.in, d->line.nrings));
}

/* Its worker has dropped the task: what the state has counted is kept in d->past, and the state is
 * zeroed for the next time. */
static void put_away(struct wire_dut *d)
{
	struct dut_counts now;

	wire_dut_counts(d, &now);
	d->past = now;
	d->seen = (struct dut_counts){0};
	memset(d->state, 0, sizeof(*d->state));
}

static void wire_dut_fail(struct ctl *c, struct wire_dut *d, const struct err *e)
{
	d->failed = true;
	d->failed_cfg = *wire_cfg_of(d->from);
	snprintf(d->why, sizeof(d->why), "%.200s", e->text);
	ctl_note(c, d->from->p.id, "port %u: there can be no device under test: %s", d->from->p.id,
		 d->why);
}

static bool same_cfg(const struct wire_cfg *a, const struct wire_cfg *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static void wire_dut_begin(struct ctl *c, struct wire_dut *d)
{
	struct err e = {.text = ""};

	if (d->failed && same_cfg(&d->failed_cfg, wire_cfg_of(d->from)))
		return;
	d->failed = false;
	int rc = d->ready ? wire_dut_fill(d, &e) : wire_dut_make(d, &e);
	if (rc < 0) {
		wire_dut_unmake(d);
		wire_dut_fail(c, d, &e);
		return;
	}
	wire_dut_enter(c, d, WIRE_DUT_TURNING);
}

static void wire_dut_end(struct wire_dut *d)
{
	wire_dut_empty(d);
	d->stage = WIRE_DUT_OFF;
}

/* Goes on to the next stage when the current one is complete. */
static void wire_dut_step(struct ctl *c, struct wire_dut *d)
{
	struct ctl_port *to = d->to, *from = d->from;
	bool want = wire_dut_wanted(to, from);
	struct dut_counts now;

	switch (d->stage) {
	case WIRE_DUT_OFF:
		if (want)
			wire_dut_begin(c, d);
		else
			d->failed = false; /* what could not be made is no longer asked for */
		break;
	case WIRE_DUT_TURNING:
		if (wire_dut_heard(c, d, to->rx_worker, to->p.nrxq) &&
		    wire_dut_heard(c, d, from->tx_worker, from->p.ntxq))
			wire_dut_enter(c, d, WIRE_DUT_ON);
		break;
	case WIRE_DUT_ON:
		wire_dut_counts(d, &now);
		if (now.held > 0 && d->idle_told == from->run.active)
			ctl_replan(c, to->rx_worker[0]);
		if (!want && !from->run.active && !wire_dut_holds(d))
			wire_dut_enter(c, d, WIRE_DUT_LEAVING);
		break;
	case WIRE_DUT_LEAVING:
		if (!wire_dut_heard(c, d, to->rx_worker, 1) || wire_dut_holds(d))
			break;
		put_away(d);
		if (want) {
			wire_dut_enter(c, d, WIRE_DUT_ON);
			break;
		}
		wire_dut_enter(c, d, WIRE_DUT_RETURNING);
		break;
	case WIRE_DUT_RETURNING:
		if (wire_dut_heard(c, d, to->rx_worker, to->p.nrxq) &&
		    wire_dut_heard(c, d, from->tx_worker, from->p.ntxq))
			wire_dut_end(d);
		break;
	}
}

/* ---- the link ---- */

/* Sets the link of both ends, if it is not so already. */
static void set_link(struct ctl *c, struct ctl_port *a, struct ctl_port *b, bool down)
{
	if (a->p.link_down == down && b->p.link_down == down)
		return;
	port_set_link_down(&a->p, down);
	port_set_link_down(&b->p, down);
	link_look(c, a);
	link_look(c, b);
}

/* How often the flapping link has changed until `now`; it is down after an odd number of changes.
 * *next is when it changes next. */
static uint64_t flap_changes(const struct ctl_port *f, uint64_t now, uint64_t *next)
{
	const struct wire_port *w = wire_of(f);
	uint64_t period = w->flap_period, down = w->flap_down, t = now - w->flap_tsc;
	bool is_down = t % period >= period - down;

	*next = w->flap_tsc + t / period * period + (is_down ? period : period - down);
	return 2 * (t / period) + is_down;
}

/* If the setting `flap` has changed, flapping begins anew from this moment. */
static void look_at_flap(struct ctl_port *cp)
{
	struct wire_port *w = wire_of(cp);
	const struct flap *f = &wire_cfg_of(cp)->flap;

	if (f->down_ns == w->flap.down_ns && f->every_ns == w->flap.every_ns)
		return;
	w->flap = *f;
	w->flap_tsc = clock_tsc();
	w->flap_period = clock_cycles(f->every_ns);
	w->flap_down = clock_cycles(f->down_ns);
	w->flapped = 0;
}

/* Takes over better values from the current period on, and only when all changes until then have
 * been told. */
bool wire_dut_flap_follow(struct wire_port *w, uint64_t now, uint64_t period, uint64_t down)
{
	uint64_t off = period > w->flap_period ? period - w->flap_period : w->flap_period - period;
	uint64_t n = w->flap_period > 0 ? (now - w->flap_tsc) / w->flap_period : 0;

	if (n == 0 || off <= period / FLAP_EXACT || w->flapped < 2 * n)
		return false;
	w->flap_tsc += n * w->flap_period;
	w->flapped -= 2 * n;
	w->flap_period = period;
	w->flap_down = down;
	return true;
}

static void follow_sender(struct ctl *c, struct ctl_port *cp);

/* Sets the link of a wire as its settings ask now. Each change of a flapping link is told, also one
 * that was over before control looked. */
static void turn_link(struct ctl *c, struct ctl_port *a, struct ctl_port *b)
{
	struct ctl_port *f;
	uint64_t next;

	look_at_flap(a);
	look_at_flap(b);
	f = (struct ctl_port *)(uintptr_t)wire_dut_flapping(a, b);
	if (f == NULL || link_asked_down(a, b)) {
		set_link(c, a, b, link_asked_down(a, b));
		return;
	}
	struct wire_port *w = wire_of(f);
	uint64_t now = clock_tsc(), changes = flap_changes(f, now, &next);
	if (changes > w->flapped + 4) /* of many changes, only the last ones are told */
		w->flapped = changes - 4;
	for (; w->flapped < changes; w->flapped++)
		set_link(c, a, b, w->flapped % 2 == 0);
	set_link(c, a, b, changes % 2 == 1);
	if (wire_dut_flap_follow(w, now, clock_cycles(w->flap.every_ns),
				 clock_cycles(w->flap.down_ns))) {
		follow_sender(c, a);
		follow_sender(c, b);
	}
}

/* ---- what the rest of control calls ---- */

/* The device between these ports; it is allocated if there is none. */
static struct wire_dut *wire_dut_between(struct ctl_port *to, struct ctl_port *from)
{
	if (wire_dut_of(to) == NULL) {
		wire_of(to)->dut = xcalloc(1, sizeof(struct wire_dut));
		wire_dut_of(to)->to = to;
		wire_dut_of(to)->from = from;
	}
	return wire_dut_of(to);
}

static void wire_duts_turn(struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++) {
		struct ctl_port *to = c->port[i], *from = wire_peer(c, to);
		if (from == NULL)
			continue;
		if (from->p.id > to->p.id)
			turn_link(c, to, from);
		if (ctl_port_runs(to) && ctl_port_runs(from) && to->p.nrxq > 0 &&
		    (wire_dut_of(to) != NULL || wire_dut_wanted(to, from)))
			wire_dut_step(c, wire_dut_between(to, from));
	}
}

static bool is_moving(const struct wire_dut *d)
{
	return d->stage == WIRE_DUT_TURNING || d->stage == WIRE_DUT_LEAVING ||
	       d->stage == WIRE_DUT_RETURNING;
}

static bool wire_duts_wait(const struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++)
		if (wire_dut_of(c->port[i]) != NULL && is_moving(wire_dut_of(c->port[i])))
			return true;
	return false;
}

static uint64_t flap_next_ns(const struct ctl_port *f)
{
	uint64_t now = clock_tsc(), next;

	if (wire_of(f)->flap.every_ns == 0)
		return HELD_NS; /* turn_link() has not looked at it yet */
	flap_changes(f, now, &next);
	return clock_ns(next - now) + 1;
}

static uint64_t wire_duts_next_ns(const struct ctl *c)
{
	uint64_t ns = UINT64_MAX;

	for (unsigned i = 0; i < c->nports; i++) {
		const struct ctl_port *to = c->port[i], *from = wire_peer(c, to);
		struct wire_dut *d = wire_dut_of(to);
		struct dut_counts now;
		if (from == NULL)
			continue;
		if (wire_dut_flapping(to, from) != NULL)
			ns = RTE_MIN(ns, flap_next_ns(wire_dut_flapping(to, from)));
		if (d == NULL || !ctl_port_runs(to) || !ctl_port_runs(from))
			continue;
		if (is_moving(d))
			return STEP_NS;
		if (d->stage == WIRE_DUT_OFF)
			continue;
		wire_dut_counts(d, &now);
		if (now.held > 0 || !wire_dut_wanted(to, from))
			ns = RTE_MIN(ns, HELD_NS);
	}
	return ns;
}

/* What the device behind port cp does may have changed: its worker gets a new plan. */
static void follow_sender(struct ctl *c, struct ctl_port *cp)
{
	const struct ctl_port *to = wire_peer(c, cp);

	if (to != NULL && wire_dut_of(to) != NULL && wire_dut_of(to)->stage == WIRE_DUT_ON)
		ctl_replan(c, to->rx_worker[0]);
}

static void wire_duts_prepare(struct ctl *c, struct ctl_port *cp, uint32_t why)
{
	(void)why;
	follow_sender(c, cp);
}

static void wire_duts_let_go(struct ctl *c, struct ctl_port *cp)
{
	for (unsigned i = 0; i < c->nports; i++) {
		struct wire_dut *d = wire_dut_of(c->port[i]);
		if (d == NULL || c->port[i]->p.first != cp->p.first || !d->ready)
			continue;
		put_away(d);
		wire_dut_unfill(d);
		d->stage = WIRE_DUT_OFF;
	}
}

static void wire_duts_close(struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++) {
		struct wire_dut *d = wire_dut_of(c->port[i]);
		if (d == NULL)
			continue;
		wire_dut_unmake(d);
		free(d->law);
		free(d);
		wire_of(c->port[i])->dut = NULL;
	}
}

static uint64_t wire_duts_inside(const struct ctl *c, const struct portset *from)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < c->nports; i++) {
		struct wire_dut *d = wire_dut_of(c->port[i]);
		struct dut_counts now;
		if (d == NULL || !ctl_port_runs(c->port[i]) || !portset_has(from, d->from->p.id) ||
		    !wire_dut_holds(d))
			continue;
		wire_dut_counts(d, &now);
		sum += now.waiting + now.taken;
		for (unsigned r = 0; r < d->line.nrings; r++)
			sum += rte_ring_count(d->line.in[r]) + rte_ring_count(d->line.out[r]);
	}
	return sum;
}

static bool wire_duts_hold(const struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++) {
		struct wire_dut *d = wire_dut_of(c->port[i]);
		if (d != NULL && ctl_port_runs(c->port[i]) && !d->from->run.active &&
		    wire_dut_holds(d))
			return true;
	}
	return false;
}

static int wire_dut_check(struct ctl *c, struct ctl_port *cp, struct err *e)
{
	const struct ctl_port *to = wire_peer(c, cp);

	wire_duts_turn(c);
	if (to == NULL || wire_dut_of(to) == NULL || !wire_dut_of(to)->failed)
		return 0;
	return err_set(
		e, ENODEV,
		"port %u (%s): what its wire shall do cannot be done: %s; `set %u wire default` leaves the wire as it comes",
		cp->p.id, cp->p.name, wire_dut_of(to)->why, cp->p.id);
}

static void wire_duts_clear(struct ctl *c, const struct portset *ports)
{
	for (unsigned i = 0; i < c->nports; i++) {
		struct ctl_port *cp = c->port[i], *to = cp->p.used ? wire_peer(c, cp) : NULL;
		if (portset_has(ports, i) && to != NULL && wire_dut_of(to) != NULL)
			wire_dut_counts(wire_dut_of(to), &wire_dut_of(to)->base);
	}
}

/* ---- plans ---- */

static bool has_routes(const struct wire_dut *d)
{
	return d != NULL && (d->stage == WIRE_DUT_TURNING || d->stage == WIRE_DUT_ON ||
			     d->stage == WIRE_DUT_LEAVING);
}

static void law_of(struct wire_dut *d, struct dut_job *j, struct dut_law *at)
{
	const struct delay *delay = &wire_cfg_of(d->from)->delay;

	if (delay->law != DELAY_NORMAL && delay->law != DELAY_EXPONENTIAL)
		return;
	if (d->law == NULL || memcmp(&d->law_of, delay, sizeof(*delay)) != 0) {
		if (d->law == NULL)
			d->law = xcalloc(1, sizeof(*d->law));
		wire_dut_law(delay, d->law);
		d->law_of = *delay;
	}
	*at = *d->law;
	j->law = at;
}

static void room_of(struct ctl *c, struct wire_dut *d, struct dut_job *j)
{
	const struct ctl_port *from = d->from;

	d->room_wanted = wire_dut_room(wire_cfg_of(from), port_speed(&from->p), ctl_mtu(from));
	j->room = (uint32_t)RTE_MIN(d->room_wanted, (uint64_t)d->line.ncells);
	bool less = j->room < d->room_wanted;
	if (less && !d->rest_told)
		ctl_note(
			c, from->p.id,
			"port %u: its device under test has room for %u MB, and with these settings %llu MB may wait in it at link "
			"speed; frames beyond are counted as overflow (`show wire`)",
			from->p.id, j->room / (1048576 / DUT_CELL),
			(unsigned long long)(d->room_wanted / (1048576 / DUT_CELL)));
	d->rest_told = less;
}

static struct dut_job *fill_job(struct ctl *c, struct wire_dut *d, struct plan_writer *p)
{
	struct dut_job *j = plan_carve(p, sizeof(*j));
	struct dut_law *law = plan_carve(p, sizeof(*law));
	const struct ctl_port *f = wire_dut_flapping(d->to, d->from);

	wire_dut_job(wire_cfg_of(d->from), port_speed(&d->from->p), j);
	j->line = &d->line;
	j->link_down = link_asked_down(d->to, d->from);
	j->sender_idle = d->idle_told = !d->from->run.active;
	if (f != NULL && wire_of(f)->flap.every_ns != 0) {
		j->flap_tsc = wire_of(f)->flap_tsc;
		j->flap_period = wire_of(f)->flap_period;
		j->flap_down = wire_of(f)->flap_down;
	}
	law_of(d, j, law);
	room_of(c, d, j);
	return j;
}

static void fill_receiver(struct wire_dut *d, struct plan_writer *p)
{
	const struct ctl_port *to = d->to;

	for (unsigned q = 0; q < to->p.nrxq; q++) {
		if (to->rx_worker[q] != (int)plan_worker(p))
			continue;
		struct reroute_job *j = plan_carve(p, sizeof(*j));
		*j = (struct reroute_job){.q = d->line.out[q], .rxq = to->p.rxq[q]};
		plan_task(p,
			  &(struct dp_task){.kind = &dp_kind_reroute,
					    .state = &d->route[q],
					    .job = j},
			  NULL);
	}
}

static void fill_sender(struct wire_dut *d, struct plan_writer *p)
{
	const struct ctl_port *from = d->from;

	for (unsigned q = 0; q < from->p.ntxq; q++) {
		const struct port_txq *tx = &from->p.tx[q];
		if (from->tx_worker[q] != (int)plan_worker(p))
			continue;
		struct reroute_job *j = plan_carve(p, sizeof(*j) + tx->n * sizeof(j->share[0]));
		*j = (struct reroute_job){.q = &d->sender[q], .nshares = tx->n};
		memcpy(j->share, tx->share, tx->n * sizeof(j->share[0]));
		plan_task(p,
			  &(struct dp_task){.kind = &dp_kind_reroute,
					    .state = &d->route[d->to->p.nrxq + q],
					    .job = j},
			  NULL);
	}
}

static void wire_duts_fill(struct ctl *c, struct ctl_port *cp, struct plan_writer *p)
{
	const struct ctl_port *to = wire_peer(c, cp);
	struct wire_dut *d = wire_dut_of(cp), *towards = to != NULL ? wire_dut_of(to) : NULL;
	int worker = (int)plan_worker(p);

	if (has_routes(d))
		fill_receiver(d, p);
	if (has_routes(towards))
		fill_sender(towards, p);
	if (d != NULL && d->stage == WIRE_DUT_ON && cp->rx_worker[0] == worker)
		plan_task(p,
			  &(struct dp_task){.kind = &dp_kind_dut,
					    .state = &d->state->base,
					    .job = fill_job(c, d, p)},
			  NULL);
}

static void wire_cfg_init(void *cfg)
{
	struct wire_cfg *w = cfg;

	*w = (struct wire_cfg){0};
	value_default_of(&(const struct vspec)WIRE_LIMIT, WIRE_DFLT_LIMIT, &w->limit);
	value_default(&vt_uint, WIRE_DFLT_SEED, &w->seed);
}

const struct work work_wire = {
	.name = "wire",
	.port_bytes = sizeof(struct wire_port),
	.cfg_bytes = sizeof(struct wire_cfg),
	.cfg_init = wire_cfg_init,
	.ctl_close = wire_duts_close,
	.let_go = wire_duts_let_go,
	.check = wire_dut_check,
	.prepares = WHY_ALL & ~(WHY_RATE | WHY_FRAMES | WHY_ORDER),
	.prepare = wire_duts_prepare,
	.fill = wire_duts_fill,
	.stepping = wire_duts_wait,
	.step = wire_duts_turn,
	.next_ns = wire_duts_next_ns,
	.clear = wire_duts_clear,
	.holds = wire_duts_hold,
	.inside = wire_duts_inside,
	.task_json = wire_dut_task_json,
};
