/* SPDX-License-Identifier: BSD-3-Clause */
/* Timers. A slot of the wheel is a tick; each has an array of cells to be visited then. A cell's
 * deadline may move on without touching the wheel: the visit finds that it is early, and files the
 * cell anew. */
#include "flow_emit.h"

uint32_t flow_chunk_take(struct flow_machine *m)
{
	uint32_t i = m->chunk_free;

	if (i != 0)
		m->chunk_free = m->chunk[i].next;
	else if (m->chunk_fresh < m->nchunk)
		i = m->chunk_fresh++;
	else
		return 0;
	m->chunk[i].next = 0;
	m->chunk[i].n = 0;
	return i;
}

void flow_chunk_give(struct flow_machine *m, uint32_t i)
{
	m->chunk[i].next = m->chunk_free;
	m->chunk_free = i;
}

void flow_file(struct flow_machine *m, struct flow_conn *c, uint32_t ticks)
{
	uint32_t slot, i;

	ticks += m->now_tick - m->tick;
	if (ticks > WHEEL_SLOTS - 2)
		ticks = WHEEL_SLOTS - 2;
	slot = (m->tick + (ticks == 0 ? 1 : ticks)) & (WHEEL_SLOTS - 1);
	i = m->slot[slot];
	if (i == 0 || m->chunk[i].n == CHUNK_ENTRIES) {
		uint32_t fresh = flow_chunk_take(m);

		if (FLOW_UNLIKELY(fresh == 0)) {
			m->timer_lost = true;
			c->flags &= (uint16_t)~CF_FILED;
			return;
		}
		m->chunk[fresh].next = i;
		m->slot[slot] = i = fresh;
		m->slot_used[slot / 64] |= 1ull << (slot % 64);
	}
	m->chunk[i].at[m->chunk[i].n++] = conn_index(m, c);
	c->filed = slot & 0xfff;
	c->flags |= CF_FILED;
}

/* Ticks until a deadline; 0: it has passed. */
static inline uint32_t wheel_left(const struct flow_machine *m, uint32_t deadline)
{
	uint32_t left = (deadline - m->now_tick) & CONN_DEADLINE;

	return left > CONN_DEADLINE / 2 ? 0 : left;
}

/* The workload's timer, while that of the state may run too. */
static uint32_t *wheel_work_deadline(struct flow_machine *m, struct flow_conn *c)
{
	struct flow_side *s;

	if ((c->flags & CF_TIMER) == 0)
		return NULL;
	s = flow_side(m, c);
	return s == NULL ? NULL : &s->work_deadline;
}

void flow_work_timer(struct flow_machine *m, struct flow_conn *c, uint64_t ns)
{
	uint32_t ticks, *aside;

	/* from now on, not from where the present tick began */
	ticks = flow_ticks(ns + (m->now_ns & ((1u << WHEEL_TICK_SHIFT) - 1)));
	aside = wheel_work_deadline(m, c);
	if (aside != NULL)
		*aside = (m->now_tick + ticks) & CONN_DEADLINE;
	else if ((c->flags & CF_TIMER) == 0)
		conn_set_deadline(c, m->now_tick + ticks);
	/* else there is no memory for two: it goes off with the other one */
	c->flags |= CF_WORK_TIMER;
	conn_visit_in(m, c, ticks);
}

/* The state's timer starts while the workload's runs, which gets another place. */
void flow_timer_aside(struct flow_machine *m, struct flow_conn *c)
{
	struct flow_side *s = flow_side(m, c);

	if (s != NULL)
		s->work_deadline = conn_deadline(c);
}

/* The state's timer stops while the workload's runs: that one takes its place. */
void flow_timer_stop_both(struct flow_machine *m, struct flow_conn *c)
{
	const struct flow_side *s = conn_side(m, c);

	conn_set_deadline(c, s != NULL ? s->work_deadline : m->now_tick + 1);
	conn_visit_in(m, c, wheel_left(m, conn_deadline(c)));
}

/* What a cell needs when the wheel comes to it; afterwards it is filed anew if a timer runs. */
static void wheel_visit(struct flow_machine *m, struct flow_conn *c)
{
	struct flow_ver *f;
	uint32_t left, work;
	bool both;

	if (c->state == FLOW_FREE)
		return;
	f = conn_live(m, c);
	if (FLOW_UNLIKELY((c->flags & CF_BLOCKED) != 0)) {
		flow_retry_one(m, c);
		if (c->state == FLOW_FREE)
			return;
	}
	both = (c->flags & (CF_TIMER | CF_WORK_TIMER)) == (CF_TIMER | CF_WORK_TIMER);
	work = both && c->side != 0 ? conn_side(m, c)->work_deadline : conn_deadline(c);
	if ((c->flags & CF_WORK_TIMER) != 0 && wheel_left(m, work) == 0) {
		c->flags &= (uint16_t)~CF_WORK_TIMER;
		if (!flow_work_call(m, f, c, CALL_TIMER, 0))
			return;
	}
	/* A request that was due has taken the acknowledgement along. The end of the state may be
	 * that of the connection, so it comes last. */
	if ((c->flags & CF_ACK) != 0)
		flow_send_ack(m, f, c);
	if ((c->flags & CF_TIMER) != 0 && wheel_left(m, conn_deadline(c)) == 0) {
		flow_state_timer(m, f, c);
		if (c->state == FLOW_FREE)
			return;
	}
	left = UINT32_MAX;
	if ((c->flags & (CF_TIMER | CF_WORK_TIMER)) != 0)
		left = wheel_left(m, conn_deadline(c));
	both = (c->flags & (CF_TIMER | CF_WORK_TIMER)) == (CF_TIMER | CF_WORK_TIMER);
	if (both && c->side != 0) {
		work = wheel_left(m, conn_side(m, c)->work_deadline);
		left = work < left ? work : left;
	}
	if (left != UINT32_MAX)
		conn_visit_in(m, c, left);
}

/* Without room in the wheel each cell is looked at from time to time. */
#define WHEEL_HAND 1024
static void wheel_sweep(struct flow_machine *m)
{
	for (unsigned i = 0; i < WHEEL_HAND; i++) {
		struct flow_conn *c;

		if (++m->timer_hand >= m->fresh) {
			m->timer_hand = 0;
			m->timer_lost = false; /* set again by those that still find no room */
			return;
		}
		c = &m->conn[m->timer_hand];
		if ((c->flags & CF_FILED) == 0)
			wheel_visit(m, c);
	}
}

static void wheel_chunk(struct flow_machine *m, uint32_t slot, const struct flow_chunk *k)
{
	for (uint32_t i = 0; i < k->n; i++) {
		struct flow_conn *c = &m->conn[k->at[i]];

		if (i + 8 < k->n)
			__builtin_prefetch(&m->conn[k->at[i + 8]], 1);
		if ((c->flags & CF_FILED) == 0 || c->filed != slot)
			continue;
		c->flags &= (uint16_t)~CF_FILED;
		wheel_visit(m, c);
	}
	cell_add(&m->k.timer_visits, k->n);
}

static void wheel_slot(struct flow_machine *m, uint32_t slot)
{
	uint32_t i = m->slot[slot], next;

	if (i == 0)
		return;
	/* what is filed meanwhile goes to later slots */
	m->slot[slot] = 0;
	m->slot_used[slot / 64] &= ~(1ull << (slot % 64));
	for (; i != 0; i = next) {
		wheel_chunk(m, slot, &m->chunk[i]);
		next = m->chunk[i].next;
		flow_chunk_give(m, i);
	}
}

void flow_wheel_turn(struct flow_machine *m)
{
	uint32_t now = m->now_tick, ahead = now - m->tick;

	if (ahead == 0)
		return;
	if (ahead >= WHEEL_SLOTS) {
		/* the machine stood still for so long that all slots are due */
		m->tick = now - WHEEL_SLOTS;
		ahead = WHEEL_SLOTS;
	}
	for (; ahead > 0; ahead--) {
		m->tick++;
		wheel_slot(m, m->tick & (WHEEL_SLOTS - 1));
	}
	if (FLOW_UNLIKELY(m->timer_lost))
		wheel_sweep(m);
}

uint64_t flow_wheel_next(const struct flow_machine *m)
{
	uint32_t first = m->tick + 1;

	if (m->timer_lost)
		return 0;
	for (uint32_t i = 0; i < WHEEL_SLOTS;) {
		uint32_t slot = (first + i) & (WHEEL_SLOTS - 1);
		uint64_t word = m->slot_used[slot / 64] >> (slot % 64);

		if (word != 0) {
			uint64_t behind = m->now_tick - m->tick;

			i += (uint32_t)__builtin_ctzll(word);
			return ((m->now_ns >> WHEEL_TICK_SHIFT) - behind + 1 + i)
			       << WHEEL_TICK_SHIFT;
		}
		i += 64 - slot % 64;
	}
	return UINT64_MAX;
}
