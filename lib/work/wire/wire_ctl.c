/* SPDX-License-Identifier: BSD-3-Clause */
/* How devices under test come and go, phase by phase, and what control asks of the work "wire": see
 * device.h. */
#include "wire_ctl.h"
#include "plan_write.h"
#include "work.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STEP_NS 200000ull  /* while a phase changes, control looks again after this time */
#define HELD_NS 1000000ull /* the same while frames are held, or while a device is to go */
#define LOOKS 200          /* so often the counters are tried to be read without a sleep */
#define NAPS 20            /* after that, so often with a sleep behind each attempt */
#define FLAP_EXACT 1000000 /* a period that is off by less than this part of it is kept */

struct ctl_port *wire_peer(const struct ctl *c, const struct ctl_port *cp)
{
	const struct port *peer =
		cp->used && cp->p.spec->peer != NULL ? cp->p.spec->peer(&cp->p) : NULL;

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
static void read_state(struct device *d)
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

void device_counts(struct device *d, struct dut_counts *out)
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
static const struct ctl_port *device_flapping(const struct ctl_port *a, const struct ctl_port *b)
{
	const struct ctl_port *low = a->p.id < b->p.id ? a : b, *high = low == a ? b : a;

	return wire_cfg_of(low)->flap.every_ns != 0    ? low
	       : wire_cfg_of(high)->flap.every_ns != 0 ? high
						       : NULL;
}

/* Do the settings ask for a device between these ports? */
static bool device_wanted(const struct ctl_port *to, const struct ctl_port *from)
{
	return device_acts(wire_cfg_of(from)) || link_asked_down(to, from) ||
	       device_flapping(to, from) != NULL;
}

/* ---- phases ---- */

/* The workers of these n queues get new plans. */
static void device_tell(struct ctl *c, const int *worker, unsigned n)
{
	for (unsigned q = 0; q < n; q++)
		c->worker[worker[q]].dirty = true;
}

/* Begins a phase: the workers that it is about get new plans. */
static void device_enter(struct ctl *c, struct device *d, enum device_phase phase)
{
	d->phase = phase;
	d->seq = c->plan_seq;
	device_tell(c, d->to->rx_worker, d->to->p.nrxq);
	/* the sender's bursts are stamped from now on, or no longer */
	if (phase == DEVICE_TURNING || phase == DEVICE_RETURNING)
		device_tell(c, d->from->tx_worker, d->from->p.ntxq);
}

/* Have the workers of these n queues acknowledged plans of the current phase? */
static bool device_heard(const struct ctl *c, const struct device *d, const int *worker, unsigned n)
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
static bool device_holds(struct device *d)
{
	struct dut_counts now;

	if (d->phase == DEVICE_OFF || d->phase == DEVICE_TURNING)
		return false;
	device_counts(d, &now);
	return now.waiting + now.taken > 0 || !rings_empty(d->line.out, d->line.nrings) ||
	       (d->phase == DEVICE_ON && !rings_empty(d->line.in, d->line.nrings));
}

/* Its worker has dropped the task: what the state has counted is kept in d->past, and the state is
 * zeroed for the next time. */
static void put_away(struct device *d)
{
	struct dut_counts now;

	device_counts(d, &now);
	d->past = now;
	d->seen = (struct dut_counts){0};
	memset(d->state, 0, sizeof(*d->state));
}

static void device_fail(struct ctl *c, struct device *d, const struct err *e)
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

static void device_begin(struct ctl *c, struct device *d)
{
	struct err e = {.text = ""};

	if (d->failed && same_cfg(&d->failed_cfg, wire_cfg_of(d->from)))
		return;
	d->failed = false;
	int rc = d->ready ? device_fill(d, &e) : device_make(d, &e);
	if (rc < 0) {
		device_unmake(d);
		device_fail(c, d, &e);
		return;
	}
	device_enter(c, d, DEVICE_TURNING);
}

static void device_end(struct device *d)
{
	device_empty(d);
	d->phase = DEVICE_OFF;
}

/* Goes on to the next phase when the current one is complete. */
static void device_step(struct ctl *c, struct device *d)
{
	struct ctl_port *to = d->to, *from = d->from;
	bool want = device_wanted(to, from);
	struct dut_counts now;

	switch (d->phase) {
	case DEVICE_OFF:
		if (want)
			device_begin(c, d);
		else
			d->failed = false; /* what could not be made is no longer asked for */
		break;
	case DEVICE_TURNING:
		if (device_heard(c, d, to->rx_worker, to->p.nrxq) &&
		    device_heard(c, d, from->tx_worker, from->p.ntxq))
			device_enter(c, d, DEVICE_ON);
		break;
	case DEVICE_ON:
		device_counts(d, &now);
		if (now.held > 0 && d->idle_told == from->run.active)
			c->worker[to->rx_worker[0]].dirty = true;
		if (!want && !from->run.active && !device_holds(d))
			device_enter(c, d, DEVICE_LEAVING);
		break;
	case DEVICE_LEAVING:
		if (!device_heard(c, d, to->rx_worker, 1) || device_holds(d))
			break;
		put_away(d);
		if (want) {
			device_enter(c, d, DEVICE_ON);
			break;
		}
		device_enter(c, d, DEVICE_RETURNING);
		break;
	case DEVICE_RETURNING:
		if (device_heard(c, d, to->rx_worker, to->p.nrxq) &&
		    device_heard(c, d, from->tx_worker, from->p.ntxq))
			device_end(d);
		break;
	}
}

/* ---- the link ---- */

/* Sets the link of both ends, if it is not so already. */
static void set_link(struct ctl *c, struct ctl_port *a, struct ctl_port *b, bool down)
{
	if (a->p.link_down == down && b->p.link_down == down)
		return;
	a->p.link_down = b->p.link_down = down;
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
bool device_flap_follow(struct wire_port *w, uint64_t now, uint64_t period, uint64_t down)
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
	f = (struct ctl_port *)(uintptr_t)device_flapping(a, b);
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
	if (device_flap_follow(w, now, clock_cycles(w->flap.every_ns),
			       clock_cycles(w->flap.down_ns))) {
		follow_sender(c, a);
		follow_sender(c, b);
	}
}

/* ---- what the rest of control calls ---- */

/* The device between these ports; it is allocated if there is none. */
static struct device *device_between(struct ctl_port *to, struct ctl_port *from)
{
	if (device_of(to) == NULL) {
		wire_of(to)->device = xcalloc(1, sizeof(struct device));
		device_of(to)->to = to;
		device_of(to)->from = from;
	}
	return device_of(to);
}

static void devices_turn(struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++) {
		struct ctl_port *to = c->port[i], *from = wire_peer(c, to);
		if (from == NULL)
			continue;
		if (from->p.id > to->p.id)
			turn_link(c, to, from);
		if (to->started && from->started && to->p.nrxq > 0 &&
		    (device_of(to) != NULL || device_wanted(to, from)))
			device_step(c, device_between(to, from));
	}
}

static bool is_moving(const struct device *d)
{
	return d->phase == DEVICE_TURNING || d->phase == DEVICE_LEAVING ||
	       d->phase == DEVICE_RETURNING;
}

static bool devices_wait(const struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++)
		if (device_of(c->port[i]) != NULL && is_moving(device_of(c->port[i])))
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

static uint64_t devices_next_ns(const struct ctl *c)
{
	uint64_t ns = UINT64_MAX;

	for (unsigned i = 0; i < c->nports; i++) {
		const struct ctl_port *to = c->port[i], *from = wire_peer(c, to);
		struct device *d = device_of(to);
		struct dut_counts now;
		if (from == NULL)
			continue;
		if (device_flapping(to, from) != NULL)
			ns = RTE_MIN(ns, flap_next_ns(device_flapping(to, from)));
		if (d == NULL || !to->started || !from->started)
			continue;
		if (is_moving(d))
			return STEP_NS;
		if (d->phase == DEVICE_OFF)
			continue;
		device_counts(d, &now);
		if (now.held > 0 || !device_wanted(to, from))
			ns = RTE_MIN(ns, HELD_NS);
	}
	return ns;
}

/* What the device behind port cp does may have changed: its worker gets a new plan. */
static void follow_sender(struct ctl *c, struct ctl_port *cp)
{
	const struct ctl_port *to = wire_peer(c, cp);

	if (to != NULL && device_of(to) != NULL && device_of(to)->phase == DEVICE_ON)
		c->worker[to->rx_worker[0]].dirty = true;
}

static void devices_touched(struct ctl *c, struct ctl_port *cp, uint32_t why)
{
	if ((why & ~(WHY_RATE | WHY_FRAMES | WHY_ORDER)) != 0)
		follow_sender(c, cp);
}

static void devices_let_go(struct ctl *c, struct ctl_port *cp)
{
	for (unsigned i = 0; i < c->nports; i++) {
		struct device *d = device_of(c->port[i]);
		if (d == NULL || c->port[i]->group != cp->group || !d->ready)
			continue;
		put_away(d);
		device_unfill(d);
		d->phase = DEVICE_OFF;
	}
}

static void devices_close(struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++) {
		struct device *d = device_of(c->port[i]);
		if (d == NULL)
			continue;
		device_unmake(d);
		free(d->law);
		free(d);
		wire_of(c->port[i])->device = NULL;
	}
}

static uint64_t devices_inside(const struct ctl *c, const struct portset *from)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < c->nports; i++) {
		struct device *d = device_of(c->port[i]);
		struct dut_counts now;
		if (d == NULL || !c->port[i]->started || !portset_has(from, d->from->p.id) ||
		    !device_holds(d))
			continue;
		device_counts(d, &now);
		sum += now.waiting + now.taken;
		for (unsigned r = 0; r < d->line.nrings; r++)
			sum += rte_ring_count(d->line.in[r]) + rte_ring_count(d->line.out[r]);
	}
	return sum;
}

static bool devices_hold(const struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++) {
		struct device *d = device_of(c->port[i]);
		if (d != NULL && c->port[i]->started && !d->from->run.active && device_holds(d))
			return true;
	}
	return false;
}

static int device_check(struct ctl *c, struct ctl_port *cp, struct err *e)
{
	const struct ctl_port *to = wire_peer(c, cp);

	devices_turn(c);
	if (to == NULL || device_of(to) == NULL || !device_of(to)->failed)
		return 0;
	return err_set(
		e, ENODEV,
		"port %u (%s): what its wire shall do cannot be done: %s; `set %u wire default` leaves the wire as it comes",
		cp->p.id, cp->p.name, device_of(to)->why, cp->p.id);
}

static void devices_clear(struct ctl *c, const struct portset *ports)
{
	for (unsigned i = 0; i < c->nports; i++) {
		struct ctl_port *cp = c->port[i], *to = cp->used ? wire_peer(c, cp) : NULL;
		if (portset_has(ports, i) && to != NULL && device_of(to) != NULL)
			device_counts(device_of(to), &device_of(to)->base);
	}
}

/* ---- plans ---- */

static bool has_routes(const struct device *d)
{
	return d != NULL &&
	       (d->phase == DEVICE_TURNING || d->phase == DEVICE_ON || d->phase == DEVICE_LEAVING);
}

static void law_of(struct device *d, struct dut_job *j, struct dut_law *at)
{
	const struct delay *delay = &wire_cfg_of(d->from)->delay;

	if (delay->law != DELAY_NORMAL && delay->law != DELAY_EXPONENTIAL)
		return;
	if (d->law == NULL || memcmp(&d->law_of, delay, sizeof(*delay)) != 0) {
		if (d->law == NULL)
			d->law = xcalloc(1, sizeof(*d->law));
		device_law(delay, d->law);
		d->law_of = *delay;
	}
	*at = *d->law;
	j->law = at;
}

static void room_of(struct ctl *c, struct device *d, struct dut_job *j)
{
	const struct ctl_port *from = d->from;

	d->room_wanted = device_room(wire_cfg_of(from), plan_speed(from), dev_mtu(from));
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

static struct dut_job *fill_job(struct ctl *c, struct device *d, struct plan_writer *p)
{
	struct dut_job *j = plan_carve(p, sizeof(*j));
	struct dut_law *law = plan_carve(p, sizeof(*law));
	const struct ctl_port *f = device_flapping(d->to, d->from);

	device_job(wire_cfg_of(d->from), plan_speed(d->from), j);
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

static void fill_receiver(struct device *d, struct plan_writer *p)
{
	const struct ctl_port *to = d->to;

	for (unsigned q = 0; q < to->p.nrxq; q++) {
		if (to->rx_worker[q] != (int)plan_worker(p))
			continue;
		struct reroute_job *j = plan_carve(p, sizeof(*j));
		*j = (struct reroute_job){.q = d->line.out[q], .rxq = to->rxq[q]};
		plan_task(p,
			  &(struct dp_task){.kind = &dp_kind_reroute,
					    .state = &d->route[q],
					    .job = j},
			  NULL);
	}
}

static void fill_sender(struct device *d, struct plan_writer *p)
{
	const struct ctl_port *from = d->from;

	for (unsigned q = 0; q < from->p.ntxq; q++) {
		const struct tx_queue *tx = &from->tx[q];
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

static void devices_fill(struct ctl *c, struct ctl_port *cp, struct plan_writer *p)
{
	const struct ctl_port *to = wire_peer(c, cp);
	struct device *d = device_of(cp), *towards = to != NULL ? device_of(to) : NULL;
	int worker = (int)plan_worker(p);

	if (has_routes(d))
		fill_receiver(d, p);
	if (has_routes(towards))
		fill_sender(towards, p);
	if (d != NULL && d->phase == DEVICE_ON && cp->rx_worker[0] == worker)
		plan_task(p,
			  &(struct dp_task){.kind = &dp_kind_dut,
					    .state = &d->state->base,
					    .job = fill_job(c, d, p)},
			  NULL);
}

static void wire_cfg_init(void *cfg)
{
	*(struct wire_cfg *)cfg =
		(struct wire_cfg){.limit = {.rate = {.kind = RATE_MAX}, .queue = WIRE_QUEUE},
				  .seed = 1};
}

const struct work work_wire = {
	.name = "wire",
	.port_bytes = sizeof(struct wire_port),
	.cfg_bytes = sizeof(struct wire_cfg),
	.cfg_init = wire_cfg_init,
	.ctl_close = devices_close,
	.let_go = devices_let_go,
	.check = device_check,
	.touched = devices_touched,
	.fill = devices_fill,
	.stepping = devices_wait,
	.step = devices_turn,
	.next_ns = devices_next_ns,
	.clear = devices_clear,
	.holds = devices_hold,
	.inside = devices_inside,
	.task_json = device_task_json,
};
