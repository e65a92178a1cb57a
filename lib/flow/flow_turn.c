/* SPDX-License-Identifier: BSD-3-Clause */
/* Versions of flows, and the end of a turn: acknowledgements, timers, sweeps. */
#include <errno.h>
#include "flow_emit.h"
#include "flow_find.h"

/* ---- versions ---- */

/* A run of free places in the table of contents. 0: there is none. */
static unsigned turn_contents(const struct flow_machine *m, unsigned n)
{
	unsigned run = 0;

	for (unsigned i = 1; i < FLOW_CONTENTS; i++) {
		run = m->content[i].live == NULL ? run + 1 : 0;
		if (run == n)
			return i + 1 - n;
	}
	return 0;
}

static void turn_settings(struct flow_ver *f, const struct flow_spec *spec)
{
	uint64_t rto = spec->rto_ns != 0 ? spec->rto_ns : 200000000;
	uint64_t first = spec->rto_first_ns != 0 ? spec->rto_first_ns : 1000000000;
	/* a FIN that is lost at a peer with the same floor comes again before we give it up */
	uint64_t finwait = 2 * rto > 60000000000 ? 2 * rto : 60000000000;
	uint32_t window = spec->buffered ? FLOW_BUFFER : spec->window;

	if (spec->rto_first_ns == 0 && first > 5 * rto)
		first = 5 * rto;
	/* RFC 6298 2.1 says 1 s of those who know no more; a floor holds for SYNs as well */
	if (spec->rto_first_ns == 0 && first < rto)
		first = rto;
	f->rto_floor_ticks = flow_ticks(rto);
	f->syn_ticks = flow_ticks(first);
	f->rto_ticks = f->syn_ticks;
	f->delack_ticks = flow_ticks(spec->delack_ns != 0 ? spec->delack_ns : 40000000);
	f->finwait_ticks = flow_ticks(spec->finwait_ns != 0 ? spec->finwait_ns : finwait);
	f->mss = spec->mss;
	f->iw = spec->initial_window != 0 ? spec->initial_window : 10;
	flow_window_begin(f, window, spec->buffered ? 0 : spec->window_most);
}

static void turn_one_local(struct flow_ver *f, const struct flow_spec *spec)
{
	const struct flow_field *addr = &spec->tuples->f[FLOW_LOCAL - 1];
	const struct flow_field *port = &spec->tuples->f[FLOW_LOCAL_PORT - 1];

	f->one_local = !spec->udp && addr->count == 1 && addr->list == NULL && port->count == 1 &&
		       port->list == NULL;
	f->one_addr = __builtin_bswap32(addr->base);
	f->one_port = __builtin_bswap16((uint16_t)port->base);
}

/* Each in a word of its own, with no-operations in front. */
static void turn_options(struct flow_ver *f)
{
	f->syn_options[0] = __builtin_bswap32(0x02040000u | f->mss);
	f->syn_options[1] = __builtin_bswap32(0x01030300u | f->wscale);
	f->syn_options[2] = __builtin_bswap32(0x01010402u);
	f->syn_sum = wl_sum((const uint8_t *)f->syn_options, sizeof(f->syn_options));
}

/* What answers of a server take over. */
static void turn_back(struct flow_ver *f, const struct flow_spec *spec)
{
	static const struct flow_back macs = {2, {{6, 0, 6}, {0, 6, 6}}};

	if (spec->role != FLOW_SERVER)
		return;
	if (spec->back != NULL)
		f->back = *spec->back;
	else if (spec->path->l3 >= 14)
		f->back = macs;
	for (unsigned i = 0; i < f->back.n; i++) {
		unsigned end = f->back.span[i].from + f->back.span[i].len;

		f->back_len = (uint8_t)(end > f->back_len ? end : f->back_len);
	}
}

static bool turn_possible(const struct flow_machine *m, const struct flow_spec *spec)
{
	return spec->wl != NULL && spec->counts != NULL && spec->tuples != NULL &&
	       spec->wl->ncontent >= 1 && spec->wl->content != NULL && spec->npath >= 1 &&
	       (spec->to == NULL || (spec->nto > 0 && spec->npath % spec->nto == 0)) &&
	       spec->mss >= 64 && spec->retries <= 14 && spec->window <= 1u << 30 &&
	       spec->window_most <= 1u << 30 && spec->tuples->is6 == spec->is6 &&
	       spec->tuples->server == (spec->role == FLOW_SERVER) &&
	       (!spec->buffered || m->nbuffers > 0) &&
	       !(spec->is6 && spec->role == FLOW_SERVER && m->peer6 == NULL);
}

static int turn_use_tuples(struct flow_machine *m, struct flow_tuples *t)
{
	if (t->slot != NULL && t->users == 0) {
		if (m->nset == FLOW_SETS)
			return -ENOSPC;
		m->set[m->nset++] = t;
	}
	t->users++;
	return 0;
}

static void turn_leave_tuples(struct flow_machine *m, struct flow_tuples *t)
{
	if (--t->users > 0 || t->slot == NULL)
		return;
	for (unsigned i = 0; i < m->nset; i++) {
		if (m->set[i] == t)
			m->set[i] = m->set[--m->nset];
	}
}

int flow_adopt(struct flow_machine *m, const struct flow_spec *spec)
{
	struct flow_ver *f = NULL;
	unsigned at, first;

	if (!turn_possible(m, spec))
		return -EINVAL;
	for (at = 0; at < FLOW_VERSIONS && m->live[at].spec != NULL; at++)
		;
	first = turn_contents(m, spec->wl->ncontent);
	if (at == FLOW_VERSIONS || first == 0 || turn_use_tuples(m, spec->tuples) < 0)
		return -ENOSPC;
	f = &m->live[at];
	*f = (struct flow_ver){.spec = spec,
			       .wl = spec->wl,
			       .k = spec->counts,
			       .path = spec->path,
			       .first = (uint16_t)first,
			       .ncontent = spec->wl->ncontent,
			       .buffered = spec->buffered,
			       .by_server = spec->servers != NULL,
			       .aside = spec->buffered || spec->servers != NULL,
			       .number = (uint8_t)at};
	turn_settings(f, spec);
	turn_one_local(f, spec);
	turn_back(f, spec);
	f->serial = ++m->serials;
	/* an interface may have got a larger MTU than our buffers were made for */
	if (m->sink->room_bytes < spec->path->l4 + 20u + f->mss)
		f->mss = (uint16_t)(m->sink->room_bytes - spec->path->l4 - 20u);
	turn_options(f);
	for (unsigned i = 0; i < f->ncontent; i++)
		m->content[first + i] =
			(struct flow_content_at){.content = &spec->wl->content[i], .live = f};
	m->any6 |= spec->is6;
	for (unsigned i = 0; i < spec->npath; i++) {
		f->tos |= find_tos(spec->path[i].bytes + spec->path[i].l3) != 0;
		m->any_ident |= spec->path[i].ident != 0;
	}
	m->odd |= m->any6 | m->any_ident | f->tos;
	if (spec->role == FLOW_SERVER) {
		memmove(m->listen + 1, m->listen, m->nlisten * sizeof(m->listen[0]));
		m->listen[0] = f;
		m->nlisten++;
	}
	if (at >= m->nlive)
		m->nlive = at + 1;
	return (int)at;
}

void flow_retire(struct flow_machine *m, int version)
{
	struct flow_ver *f = &m->live[version];

	if (f->spec == NULL || f->retired)
		return;
	f->retired = true;
	for (unsigned i = 0; i < m->nlisten; i++) {
		if (m->listen[i] != f)
			continue;
		m->nlisten--;
		memmove(m->listen + i, m->listen + i + 1, (m->nlisten - i) * sizeof(m->listen[0]));
		break;
	}
}

const struct flow_spec *flow_released(struct flow_machine *m)
{
	for (unsigned i = 0; i < m->nlive; i++) {
		struct flow_ver *f = &m->live[i];
		const struct flow_spec *spec = f->spec;

		if (spec == NULL || !f->retired || f->refs != 0)
			continue;
		for (unsigned k = 0; k < f->ncontent; k++)
			m->content[f->first + k] = (struct flow_content_at){0};
		while (f->ready_head != 0) {
			uint32_t next = m->chunk[f->ready_head].next;

			flow_chunk_give(m, f->ready_head);
			f->ready_head = next;
		}
		flow_buffer_release(m, f);
		turn_leave_tuples(m, spec->tuples);
		f->spec = NULL;
		return spec;
	}
	return NULL;
}

/* ---- timers of states ---- */

static void turn_syn_timer(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	if (c->retry >= f->spec->retries) {
		flow_conn_end(m, c, WL_END_CONNECT_TIMEOUT, false);
		return;
	}
	c->retry++;
	c->flags &= (uint16_t)~CF_TIMED;
	cell_add(&f->k->retransmitted, 1);
	cell_add(&f->k->syn_retransmitted, 1);
	conn_timer(m, c, flow_backoff(f, f->syn_ticks, c->retry));
	flow_send_syn(m, f, c);
}

/* The peer's window is closed: RFC 9293 3.8.6.1. It may stay so for as long as the peer answers. */
static void turn_window_timer(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	unsigned most = f->spec->retries < 7 ? f->spec->retries : 7;

	if (c->msg_end == c->nxt)
		return;
	if (flow_window_override(m, f, c))
		return;
	if (conn_dup(c) >= most) {
		flow_conn_end(m, c, WL_END_TIMED_OUT, false);
		return;
	}
	conn_set_dup(c, conn_dup(c) + 1);
	if (c->retry < 14)
		c->retry++;
	conn_timer(m, c, conn_rto_ticks(m, f, c));
	flow_send_probe(m, f, c);
}

static void turn_data_timer(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	struct flow_side *s = conn_side(m, c);

	if ((c->flags & CF_PROBE) != 0) {
		c->flags &= (uint16_t)~CF_PROBE;
		flow_tail_probe(m, f, c);
		return;
	}
	if (s != NULL && s->reo) {
		s->reo = false;
		conn_timer(m, c, conn_rto_ticks(m, f, c));
		flow_loss_detect(m, f, c, s);
		flow_push(m, f, c);
		return;
	}
	if (c->una == c->nxt) {
		c->flags &= (uint16_t)~CF_TIMER;
		turn_window_timer(m, f, c);
		return;
	}
	if (c->retry >= f->spec->retries) {
		flow_conn_end(m, c, WL_END_TIMED_OUT, false);
		return;
	}
	c->retry++;
	conn_timer(m, c, conn_rto_ticks(m, f, c));
	flow_loss_timeout(m, f, c);
}

/* The timer of a connection's state is due. */
void flow_state_timer(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	switch (c->state) {
	case FLOW_SYN_SENT:
	case FLOW_SYN_RECEIVED:
		turn_syn_timer(m, f, c);
		return;
	case FLOW_TIME_WAIT:
		/* Without its last ACK the peer would wait for its own retransmission. */
		if ((c->flags & CF_BLOCKED) != 0)
			conn_timer_stop(m, c); /* flow_retry_one() ends it */
		else
			flow_conn_free(m, c);
		return;
	case FLOW_FIN_WAIT_2:
		flow_send_rst(m, f, c, c->nxt, true);
		flow_conn_end(m, c, WL_END_TIMED_OUT, false);
		return;
	case FLOW_UDP:
		flow_conn_end(m, c, WL_END_CLOSED, false);
		return;
	default:
		turn_data_timer(m, f, c);
	}
}

/* ---- sweeps ---- */

static void turn_add_sweep(struct flow_machine *m, const struct wl_flow *wl, bool abort)
{
	for (unsigned i = 0; i < m->nsweep; i++) {
		if (m->sweep[i].wl == wl) {
			m->sweep[i] = (struct flow_sweep){.wl = wl,
							  .at = 1,
							  .abort = abort || m->sweep[i].abort,
							  .room_ns = m->now_ns};
			return;
		}
	}
	if (m->nsweep < FLOW_SWEEPS)
		m->sweep[m->nsweep++] = (struct flow_sweep){.wl = wl,
							    .at = 1,
							    .abort = abort,
							    .room_ns = m->now_ns};
}

void flow_drain(struct flow_machine *m, const struct wl_flow *wl)
{
	turn_add_sweep(m, wl, false);
}

void flow_abort(struct flow_machine *m, const struct wl_flow *wl)
{
	turn_add_sweep(m, wl, true);
}

bool flow_waiting(const struct flow_machine *m)
{
	return m->nblocked > 0;
}

bool flow_sweeping(const struct flow_machine *m)
{
	return m->nsweep > 0;
}

static void turn_abort(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	bool opening = c->state == FLOW_SYN_SENT || c->state == FLOW_SYN_RECEIVED;

	if (c->state == FLOW_SYN_RECEIVED)
		flow_send_rst(m, f, c, c->nxt, true);
	else if (!opening && c->state != FLOW_UDP)
		flow_send_rst(m, f, c, c->nxt, true);
	flow_conn_end(m, c, opening ? WL_END_ABORTED_OPENING : WL_END_ABORTED, false);
}

void flow_lost(struct flow_machine *m, uint64_t now_ns)
{
	flow_now(m, now_ns);
	for (uint32_t at = 1; at < m->fresh; at++) {
		struct flow_conn *c = &m->conn[at];
		bool opening = c->state == FLOW_SYN_SENT || c->state == FLOW_SYN_RECEIVED;

		if (c->state != FLOW_FREE)
			flow_conn_end(m, c, opening ? WL_END_ABORTED_OPENING : WL_END_ABORTED,
				      false);
	}
	m->nsweep = 0;
}

#define TURN_SWEEP 256
#define TURN_STUCK_NS 1000000000ull
static unsigned turn_sweep(struct flow_machine *m)
{
	struct flow_sweep *s = &m->sweep[0];
	unsigned n = 0;

	for (; n < TURN_SWEEP && s->at < m->fresh; n++, s->at++) {
		struct flow_conn *c = &m->conn[s->at];
		struct flow_ver *f;

		if (s->at + 8 < m->fresh)
			__builtin_prefetch(&m->conn[s->at + 8]);
		if (c->state == FLOW_FREE || c->state == FLOW_TIME_WAIT)
			continue;
		f = conn_live(m, c);
		if (f->wl != s->wl)
			continue;
		/* A FIN that finds no room is sent later: a drain waits for nothing, least of all
		 * for a sink that the connections it is to end are filling. */
		if (!s->abort) {
			if (c->state != FLOW_SYN_SENT && c->state != FLOW_SYN_RECEIVED)
				flow_work_call(m, f, c, CALL_DRAIN, 0);
			continue;
		}
		/* A RST that finds no room would leave the peer to its timers. An abort waits for a
		 * device that takes nothing, but not for ever. */
		if ((m->sink->nout == m->sink->max_out || m->sink->nroom[FLOW_PLAIN] == 0) &&
		    (m->sink->more == NULL || !m->sink->more(m->sink, FLOW_PLAIN))) {
			if (m->now_ns - s->room_ns < TURN_STUCK_NS)
				return n;
		} else {
			s->room_ns = m->now_ns;
		}
		turn_abort(m, f, c);
	}
	if (s->at >= m->fresh)
		*s = m->sweep[--m->nsweep];
	return n;
}

/* ---- the end of a turn ---- */

static unsigned turn_acks(struct flow_machine *m)
{
	unsigned n = m->nack;

	m->nack = 0;
	for (unsigned i = 0; i < n; i++) {
		struct flow_conn *c = &m->conn[m->ack[i]];

		if ((c->flags & CF_ACK_NOW) == 0)
			continue;
		c->flags &= (uint16_t)~CF_ACK_NOW;
		if ((c->flags & CF_ACK) != 0)
			flow_send_ack(m, conn_live(m, c), c);
	}
	return n;
}

unsigned flow_poll(struct flow_machine *m, uint64_t now_ns)
{
	uint64_t visits = m->k.timer_visits;
	uint32_t out = m->sink->nout;
	unsigned n = 0;

	flow_now(m, now_ns);
	/* before others fill the sink: RSTs need room */
	if (FLOW_UNLIKELY(m->nsweep > 0))
		n += turn_sweep(m);
	if (m->nblocked > 0)
		flow_retry(m);
	n += turn_acks(m);
	flow_wheel_turn(m);
	/* what the timers have asked for */
	n += turn_acks(m);
	cell_set(&m->k.tx, m->sent);
	cell_set(&m->k.cells_used, m->fresh - 1 - m->nfree);
	for (unsigned i = 0; i < m->nlive; i++) {
		struct wl_flow *wl = m->live[i].wl;

		if (m->live[i].spec == NULL)
			continue;
		wl_timing_flush(&wl->connect);
		wl_timing_flush(&wl->first);
		wl_timing_flush(&wl->whole);
		wl_timing_flush(&wl->since_due);
		wl_timing_flush(&wl->close);
	}
	return n + (unsigned)(m->k.timer_visits - visits) + (m->sink->nout - out);
}

uint64_t flow_next_ns(const struct flow_machine *m)
{
	if (m->nblocked > 0 || m->nack > 0 || m->nsweep > 0)
		return 0;
	return flow_wheel_next(m);
}

const struct flow_machine_counts *flow_machine_counts(const struct flow_machine *m)
{
	return &m->k;
}

/* ---- samples ---- */

void flow_conn_tuple(const struct flow_machine *m, const struct flow_conn *c,
		     struct flow_tuple *out)
{
	const struct flow_ver *f = conn_live(m, c);
	uint32_t ports;

	memcpy(&ports, &c->local_port, 4);
	flow_tuple_of(f->spec->tuples, c->remote, c->local, ports, out);
	if (f->spec->is6 && f->spec->role == FLOW_SERVER)
		memcpy(out->remote.v6, m->peer6[conn_index(m, c)], 16);
}

static void turn_info(const struct flow_machine *m, const struct flow_conn *c,
		      struct flow_info *out)
{
	const struct flow_ver *f = conn_live(m, c);
	const struct flow_side *s = conn_side(m, c);

	flow_conn_tuple(m, c, &out->tuple);
	out->state = (enum flow_state)c->state;
	out->version = f->number;
	out->cwnd = (uint32_t)c->cwnd * c->mss;
	out->ssthresh = s == NULL || s->ssthresh == SIDE_NO_SSTHRESH
				? UINT32_MAX
				: (uint32_t)s->ssthresh * c->mss;
	out->srtt_ns = s != NULL && s->srtt != 0 ? (uint64_t)s->srtt << 10 : f->srtt;
	out->resent = s != NULL ? s->resent : 0;
	out->rto_ns = (uint64_t)conn_rto_ticks(m, f, c) << WHEEL_TICK_SHIFT;
	out->age_ns = (uint64_t)(m->now_tick - m->opened[conn_index(m, c)]) << WHEEL_TICK_SHIFT;
	out->retries = c->retry;
	out->mss = c->mss;
	if (c->state == FLOW_UDP) { /* it has other things there */
		out->unsent = c->msg_end;
		return;
	}
	out->unacked = c->nxt - c->una;
	out->unsent = s != NULL && s->endless         ? UINT32_MAX
		      : (c->flags & CF_FIN_SENT) != 0 ? 0
						      : c->msg_end - c->nxt;
	out->peer_window = conn_send_window(c, s);
}

bool flow_walk(const struct flow_machine *m, uint32_t *at, unsigned budget, struct flow_info *out)
{
	*out = (struct flow_info){0};
	for (; budget > 0; budget--) {
		if (++*at >= m->fresh)
			return false;
		if (m->conn[*at].state != FLOW_FREE) {
			turn_info(m, &m->conn[*at], out);
			out->number = *at;
			return true;
		}
	}
	return true;
}
