/* SPDX-License-Identifier: BSD-3-Clause */
/* The worker's half of a program's protocol on a port (flows_arm_run.h). */
#include "flows_own.h"

/* So long a worker may be away from what control asks. */
#define ARM_LOOK_NS 500000

static void arm_set(cell_t *c, uint64_t v)
{
	__atomic_store_n(c, v, __ATOMIC_RELEASE);
}
static uint64_t arm_get(const cell_t *c)
{
	return __atomic_load_n(c, __ATOMIC_ACQUIRE);
}

/* Writes all that waits at once, so that it is one segment if it fits. */
static void arm_write(struct flows_own *o, const struct flows_job *j, struct flows_chan *c,
		      unsigned room)
{
	uint64_t got = cell_get(&c->tx_got);
	unsigned n = (unsigned)(arm_get(&c->tx_put) - got), at = got % FLOW_BUFFER, first;

	n = RTE_MIN(n, room);
	if (n == 0)
		return;
	first = RTE_MIN(n, FLOW_BUFFER - at);
	memcpy(j->arm->scratch, c->tx + at, first);
	memcpy(j->arm->scratch + first, c->tx, n - first);
	n = flow_write(j->machine, c->number, j->arm->scratch, n, o->now_ns);
	arm_set(&c->tx_got, got + n);
}

static unsigned arm_read(struct flows_own *o, const struct flows_job *j, struct flows_chan *c,
			 unsigned readable)
{
	while (readable > 0) {
		uint64_t put = cell_get(&c->rx_put);
		unsigned at = put % FLOW_BUFFER,
			 n = FLOW_BUFFER - (unsigned)(put - arm_get(&c->rx_got));

		n = RTE_MIN(RTE_MIN(n, readable), FLOW_BUFFER - at);
		if (n == 0)
			break;
		n = flow_read(j->machine, c->number, c->rx + at, n, o->now_ns);
		readable -= n;
		arm_set(&c->rx_put, put + n);
	}
	return readable;
}

static void arm_gone(struct flows_chan *c, enum wl_end why)
{
	cell_set(&c->ended, why);
	arm_set(&c->state, FLOWS_CHAN_GONE);
}

static void arm_forget(struct flows_own *o, const struct flows_job *j, struct flows_chan *c)
{
	if (c->number != 0)
		flow_forget(j->machine, c->number, o->now_ns);
	c->number = 0;
	c->fin = false;
	for (cell_t *k = &c->tx_got; k <= &c->ended; k++)
		cell_set(k, 0);
	arm_set(&c->state, FLOWS_CHAN_FREE);
}

static void arm_move(struct flows_own *o, const struct flows_job *j, struct flows_chan *c,
		     uint64_t order)
{
	struct flow_channel k;

	if (!flow_channel(j->machine, c->number, &k)) {
		arm_gone(c, WL_END_ABORTED);
		return;
	}
	if (k.open && cell_get(&c->state) == FLOWS_CHAN_OPENING)
		arm_set(&c->state, FLOWS_CHAN_OPEN);
	if (k.open && !c->fin) {
		arm_write(o, j, c, k.writable);
		if (order == FLOWS_ORDER_CLOSE && arm_get(&c->tx_put) == cell_get(&c->tx_got)) {
			flow_close(j->machine, c->number, WL_CLOSE_FIN, o->now_ns);
			c->fin = true;
		}
	}
	if (!flow_channel(j->machine, c->number, &k))
		return;
	cell_set(&c->unacked, c->fin || k.gone ? 0 : FLOW_BUFFER - k.writable);
	if (arm_read(o, j, c, k.readable) > 0)
		return;
	if (k.peer_done)
		arm_set(&c->peer_done, 1);
	if (k.gone)
		arm_gone(c, k.ended);
}

static void arm_connect(struct flows_own *o, const struct flows_job *j, struct flows_chan *c,
			const struct flows_held *held)
{
	c->number = flow_open_one(j->machine, held->number, &c->tuple, o->now_ns);
	if (c->number == 0)
		arm_gone(c, WL_END_ABORTED_OPENING);
	else
		arm_set(&c->state, FLOWS_CHAN_OPENING);
}

/* A server's connection. Without a place for it, it goes. */
static void arm_accept(struct flows_own *o, const struct flows_job *j, uint32_t number)
{
	for (unsigned i = 0; i < FLOWS_CHANS; i++) {
		struct flows_chan *c = &j->arm->chan[i];
		if (cell_get(&c->state) != FLOWS_CHAN_FREE ||
		    arm_get(&c->order) != FLOWS_ORDER_NONE)
			continue;
		c->number = number;
		c->peer = (struct flow_tuple){0};
		flow_channel_tuple(j->machine, number, &c->peer);
		arm_set(&c->state, FLOWS_CHAN_OPEN);
		return;
	}
	flow_forget(j->machine, number, o->now_ns);
}

static void arm_chans(struct flows_own *o, const struct flows_job *j)
{
	const struct flows_held *held = flows_on_of(j->arm->chan_flow)->held;
	uint32_t number;

	while (held != NULL && !j->arm->client &&
	       (number = flow_accept(j->machine, held->number)) != 0)
		arm_accept(o, j, number);
	for (unsigned i = 0; i < FLOWS_CHANS; i++) {
		struct flows_chan *c = &j->arm->chan[i];
		uint64_t order = arm_get(&c->order), state = cell_get(&c->state);

		if (state == FLOWS_CHAN_FREE) {
			if (order == FLOWS_ORDER_CONNECT && held != NULL)
				arm_connect(o, j, c, held);
		} else if (order == FLOWS_ORDER_FORGET) {
			arm_forget(o, j, c);
		} else if (state != FLOWS_CHAN_GONE) {
			arm_move(o, j, c, order);
		}
	}
}

static void arm_note(const struct flows_own *o, const struct flows_state_of *s,
		     struct flows_arm_at *at)
{
	at->flow = s->counts;
	at->wl = s->transactions;
	arm_set(&at->tsc, o->now);
}

static bool arm_is_data(const struct flows_arm_job *a, const struct flows_state_of *s)
{
	for (unsigned i = 0; i < a->nlines; i++)
		if (a->line[i].flow == s)
			return true;
	return s == a->data_flow;
}

/* From now on the workload begins nothing, and counts nothing. */
static void arm_stop(struct flows_own *o, struct flows_arm_job *a)
{
	for (unsigned i = 0; i < o->nheld; i++)
		if (o->held[i].version != NULL && arm_is_data(a, o->held[i].of))
			o->held[i].spec.wl->draining = true;
	arm_note(o, a->data_flow, &a->stopped);
}

static void arm_data(struct flows_own *o, const struct flows_job *j)
{
	struct flows_arm_job *a = j->arm;
	const struct flows_held *held = flows_on_of(a->data_flow)->held;
	uint64_t go = arm_get(&a->go);

	if (cell_get(&a->first_tsc) == 0 && a->data_flow->counts.rx_bytes > 0)
		arm_set(&a->first_tsc, o->now);
	if (arm_get(&a->stop) != 0) {
		if (cell_get(&a->stopped.tsc) == 0)
			arm_stop(o, a);
		return;
	}
	if (go == FLOWS_GO_ALL && cell_get(&a->went.tsc) == 0)
		arm_note(o, a->data_flow, &a->went);
	a->seen = go;
	if (go != FLOWS_GO_NOT && a->nlines > 0 && a->client)
		flows_lines_open(o, j);
	if (go != FLOWS_GO_ALL)
		return;
	if (a->nlines > 0)
		a->client ? flows_lines_go(o, j) : flows_served_go(o, j);
	else if (held != NULL && held->spec.wl->on_call && a->begun < a->flows)
		a->begun += flow_go(j->machine, held->number, a->flows - a->begun, o->now_ns, 0,
				    o->now_ns);
}

void flows_arm_turn(struct flows_own *o, const struct flows_job *j)
{
	arm_chans(o, j);
	arm_data(o, j);
	if (j->arm->nlines > 0)
		j->arm->client ? flows_lines_look(o, j) : flows_served_turn(o, j);
}

uint64_t flows_arm_next(const struct flows_own *o, const struct flows_job *j)
{
	return o->now + flows_cycles(j, ARM_LOOK_NS);
}

bool flows_arm_withholds(const struct flows_job *j, const struct flows_flow *f)
{
	const struct flows_arm_job *a = j->arm;

	return !a->client && a->nlines > 0 && arm_is_data(a, f->state) &&
	       (a->listens == 0 || a->line[a->listens - 1].flow != f->state);
}

bool flows_arm_holds(const struct flows_job *j, const struct flows_flow *f)
{
	const struct flows_arm_job *a = j->arm;

	return a->client &&
	       (f->state == a->chan_flow || (a->nlines > 0 && arm_is_data(a, f->state)) ||
		(f->state == a->data_flow &&
		 (a->flows == 0 || a->seen == FLOWS_GO_NOT || cell_get(&a->stopped.tsc) != 0)));
}
