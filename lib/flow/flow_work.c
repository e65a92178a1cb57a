/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of workloads: what a function of the record is given, and what becomes of its wishes. */
#include "flow_emit.h"
#include "flow_servers.h"

static void *work_cell(struct wl_turn *t, uint32_t *at)
{
	struct flow_machine *m = ((struct flow_work *)t)->m;

	if (*at == 0)
		*at = flow_pool_take(&m->record);
	return *at == 0 ? NULL : flow_pool_at(&m->record, *at);
}

static void work_free_cell(struct wl_turn *t, uint32_t *at)
{
	if (*at != 0)
		flow_pool_give(&((struct flow_work *)t)->m->record, *at);
	*at = 0;
}

static uint64_t work_identity(struct wl_turn *t)
{
	const struct flow_work *w = (struct flow_work *)t;
	bool client = t->flow->client;
	struct flow_tuple our;
	uint32_t local, remote;

	flow_conn_tuple(w->m, w->c, &our);
	if (our.is6)
		return client ? wl_identity(our.local.v6, our.remote.v6, 16, our.local_port,
					    our.remote_port)
			      : wl_identity(our.remote.v6, our.local.v6, 16, our.remote_port,
					    our.local_port);
	local = __builtin_bswap32(our.local.v4);
	remote = __builtin_bswap32(our.remote.v4);
	return client ? wl_identity(&local, &remote, 4, our.local_port, our.remote_port)
		      : wl_identity(&remote, &local, 4, our.remote_port, our.local_port);
}

static void work_over(struct wl_turn *t, uint64_t done, uint64_t failed)
{
	const struct flow_work *w = (struct flow_work *)t;

	flow_server_transactions(conn_live(w->m, w->c), w->c, done, failed);
}

static const struct wl_arm work_arm = {.cell = work_cell,
				       .free_cell = work_free_cell,
				       .identity = work_identity,
				       .over = work_over};

static FLOW_INLINE void work_begin(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
				   struct flow_work *w)
{
	const uint32_t done = 1u << FLOW_CLOSE_WAIT | 1u << FLOW_LAST_ACK | 1u << FLOW_CLOSING;

	/* one by one: of a whole struct all bytes would be written, and most of them twice */
	w->t.flow = f->wl;
	w->t.mem = c->mem;
	w->t.arm = &work_arm;
	w->t.now_ns = m->now_ns;
	w->t.datagram = f->spec->udp;
	w->t.peer_done = done >> c->state & 1u;
	w->t.closing = false;
	w->t.late_ns = 0;
	w->t.send = 0;
	w->t.timer_ns = 0;
	w->t.content = 0;
	w->t.close = WL_CLOSE_NOT;
	w->t.ready = w->t.on_time = w->t.stamped = false;
	w->m = m;
	w->c = c;
}

/* RST is to go behind a message of which a part is still to be sent. false: it cannot wait. */
static bool work_reset_later(struct flow_machine *m, struct flow_conn *c)
{
	struct flow_side *s = c->msg_end == c->nxt ? NULL : flow_side(m, c);

	if (s == NULL || s->endless)
		return false;
	s->reset = true;
	c->flags |= CF_FIN_ASKED | CF_MAY_SEND; /* work_more() sees when all has been sent */
	return true;
}

FLOW_ASIDE static bool work_close_some(struct flow_machine *m, struct flow_ver *f,
				       struct flow_conn *c, unsigned how, bool message)
{
	if (how == WL_CLOSE_RST) {
		if (message && !f->spec->udp && work_reset_later(m, c))
			return true;
		if (!f->spec->udp)
			flow_send_rst(m, f, c, c->nxt, true);
		flow_conn_end(m, c, WL_END_RESET_BY_US, false);
		return false;
	}
	if (f->spec->udp) {
		flow_conn_end(m, c, WL_END_CLOSED, false);
		return false;
	}
	if (c->side != 0) {
		struct flow_side *s = conn_side(m, c);

		if (s->reset)
			return true;
		if (s->endless) {
			s->endless = false;
			c->msg_end = c->nxt;
		}
	}
	c->flags = (uint16_t)((c->flags | CF_FIN_ASKED) & ~CF_MAY_SEND);
	return true;
}

static FLOW_INLINE bool work_close(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
				   const struct wl_turn *t)
{
	if (FLOW_UNLIKELY(t->close != WL_CLOSE_FIN || t->datagram || c->side != 0))
		return work_close_some(m, f, c, t->close, t->send != 0);
	c->flags = (uint16_t)((c->flags | CF_FIN_ASKED) & ~CF_MAY_SEND);
	return true;
}

/* Does what a function has asked for. false: the connection has gone. */
static FLOW_INLINE bool work_do(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
				const struct wl_turn *t)
{
	if (FLOW_LIKELY(t->send != 0)) {
		bool taken = FLOW_UNLIKELY(t->datagram)
				     ? flow_udp_send(m, f, c, t)
				     : flow_message(m, f, c, t->content, t->send);

		if (FLOW_UNLIKELY(!taken)) {
			flow_send_rst(m, f, c, c->nxt, true);
			flow_conn_end(m, c, WL_END_RESET_BY_US, false);
			return false;
		}
	}
	if (t->on_time && f->spec->role == FLOW_CLIENT)
		c->path = 0;
	if (FLOW_UNLIKELY(t->timer_ns == WL_NO_TIMER))
		c->flags &= (uint16_t)~CF_WORK_TIMER;
	else if (FLOW_UNLIKELY(t->timer_ns != 0))
		flow_work_timer(m, c, t->timer_ns);
	if (FLOW_UNLIKELY(t->ready))
		flow_ready_push(m, f, c);
	/* as one expression GCC 12 takes what follows this call for code that never runs */
	if (FLOW_LIKELY(t->close == WL_CLOSE_NOT))
		return true;
	return work_close(m, f, c, t);
}

FLOW_ASIDE static bool work_may_send(struct flow_machine *m, struct flow_ver *f,
				     struct flow_conn *c, bool *more)
{
	struct flow_work w;

	work_begin(m, f, c, &w);
	c->flags &= (uint16_t)~CF_MAY_SEND;
	f->wl->wl->may_send(&w.t);
	*more = w.t.send != 0 || w.t.close != WL_CLOSE_NOT;
	return work_do(m, f, c, &w.t);
}

/* One connection may fill the sink alone; after so many messages it is another's turn. */
#define WORK_MESSAGES 64
static __attribute__((noinline)) bool work_more(struct flow_machine *m, struct flow_ver *f,
						struct flow_conn *c)
{
	bool more = true;

	for (unsigned i = 0; i < WORK_MESSAGES; i++) {
		if ((c->flags & CF_MAY_SEND) == 0 || (c->nxt != c->msg_end && !f->spec->udp) ||
		    (c->flags & CF_BLOCKED) != 0)
			return true;
		if (FLOW_UNLIKELY(c->side != 0) && conn_side(m, c)->reset)
			return work_close_some(m, f, c, WL_CLOSE_RST, false);
		if (!work_may_send(m, f, c, &more))
			return false;
		if (!more || (!f->spec->udp && !flow_output(m, f, c)))
			return true;
	}
	flow_blocked(m, c);
	return true;
}

static FLOW_INLINE bool work_push(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	if (FLOW_LIKELY(!f->spec->udp) && FLOW_UNLIKELY(!flow_output(m, f, c)))
		return true;
	return FLOW_LIKELY((c->flags & CF_MAY_SEND) == 0) || work_more(m, f, c);
}

__attribute__((noinline)) bool flow_push(struct flow_machine *m, struct flow_ver *f,
					 struct flow_conn *c)
{
	return work_push(m, f, c);
}

FLOW_INLINE bool flow_work_opened(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	const struct workload *wl = f->wl->wl;
	bool client = f->spec->role == FLOW_CLIENT;
	struct flow_work w;

	if (FLOW_UNLIKELY(wl->opened == NULL) || (wl->client_opens && !client))
		return true;
	work_begin(m, f, c, &w);
	if (client)
		w.t.late_ns = flow_late_ns(c);
	wl->opened(&w.t);
	return work_do(m, f, c, &w.t) && flow_push(m, f, c);
}

/* push: what the bytes make this end send leaves at once; else flow_push() follows. */
FLOW_INLINE bool flow_work_received(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
				    const uint8_t *data, uint32_t n, bool push)
{
	const struct workload *wl = f->wl->wl;

	if (FLOW_UNLIKELY(wl->received == NULL))
		return true;
	do {
		struct flow_work w;
		uint32_t used;

		work_begin(m, f, c, &w);
		if (FLOW_UNLIKELY(f->wl->since_due.h != NULL) && f->spec->role == FLOW_CLIENT)
			w.t.late_ns = flow_late_ns(c);
		used = wl->received(&w.t, data, n);
		if (FLOW_UNLIKELY(used - 1 >= n))
			used = n;
		if (FLOW_UNLIKELY(!work_do(m, f, c, &w.t)))
			return false;
		if (FLOW_LIKELY(w.t.send != 0 || w.t.close != WL_CLOSE_NOT) && FLOW_LIKELY(push) &&
		    FLOW_UNLIKELY(!work_push(m, f, c)))
			return false;
		n -= used;
		if (FLOW_LIKELY(n == 0))
			return true;
		if (data != NULL)
			data += used;
	} while (true);
}

bool flow_work_datagram(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
			const uint8_t *data, uint32_t n, uint32_t length)
{
	struct flow_work w;

	if (f->wl->wl->received == NULL)
		return true;
	work_begin(m, f, c, &w);
	w.t.length = length;
	if (f->spec->role == FLOW_CLIENT)
		w.t.late_ns = flow_late_ns(c);
	f->wl->wl->received(&w.t, data, n);
	return work_do(m, f, c, &w.t) && flow_push(m, f, c);
}

bool flow_work_ahead(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
		     uint32_t distance, const uint8_t *data, uint32_t n)
{
	struct flow_work w;

	if (f->wl->wl->ahead == NULL)
		return false;
	work_begin(m, f, c, &w);
	return f->wl->wl->ahead(&w.t, distance, data, n);
}

/* The peer sends nothing more. */
FLOW_INLINE bool flow_work_ended(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	struct flow_work w;

	work_begin(m, f, c, &w);
	w.t.closing = (c->flags & CF_FIN_ASKED) != 0;
	if (FLOW_LIKELY(f->wl->wl->ended != NULL))
		f->wl->wl->ended(&w.t);
	else
		w.t.close = WL_CLOSE_FIN;
	return work_do(m, f, c, &w.t) && flow_push(m, f, c);
}

bool flow_work_call(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
		    enum flow_call which, uint64_t late_ns)
{
	const struct workload *wl = f->wl->wl;
	void (*fn)(struct wl_turn * t) = NULL;
	struct flow_work w;

	work_begin(m, f, c, &w);
	w.t.late_ns = late_ns;
	w.t.closing = (c->flags & CF_FIN_ASKED) != 0;
	switch (which) {
	case CALL_TIMER:
		fn = wl->timer;
		break;
	case CALL_GO:
		fn = wl->go;
		break;
	case CALL_DRAIN:
		fn = wl->drain;
		break;
	}
	if (fn != NULL)
		fn(&w.t);
	else if (which == CALL_DRAIN)
		w.t.close = WL_CLOSE_FIN;
	return work_do(m, f, c, &w.t) && flow_push(m, f, c);
}

FLOW_INLINE void flow_work_closed(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
				  enum wl_end why)
{
	struct flow_work w;

	if (f->wl->wl->closed == NULL)
		return;
	/* what stands there before the connection is established is not the record's */
	if ((c->state == FLOW_SYN_SENT || c->state == FLOW_SYN_RECEIVED) && !f->spec->buffered)
		memset(c->mem, 0, sizeof(c->mem));
	work_begin(m, f, c, &w);
	f->wl->wl->closed(&w.t, why);
}

/* ---- connections that wait for go() ---- */

/* Goes once through all entries, and keeps those that are right and no copies. */
static void ready_tidy(struct flow_machine *m, struct flow_ver *f)
{
	uint32_t i = f->ready_head, at = f->ready_at, next;

	f->ready_head = f->ready_tail = f->ready_at = f->ready_entries = 0;
	for (; i != 0; i = next, at = 0) {
		const struct flow_chunk k = m->chunk[i];

		next = k.next;
		flow_chunk_give(m, i);
		for (; at < k.n; at++) {
			struct flow_conn *c = &m->conn[k.at[at]];

			if ((c->flags & CF_READY) == 0 || conn_live(m, c) != f)
				continue;
			c->flags &= (uint16_t)~CF_READY;
			f->nready--;
			flow_ready_push(m, f, c); /* there are the chunks that were given back */
			c->flags &= (uint16_t)~CF_READY; /* so that a copy is none */
		}
	}
	for (i = f->ready_head; i != 0; i = m->chunk[i].next) {
		for (at = 0; at < m->chunk[i].n; at++)
			m->conn[m->chunk[i].at[at]].flags |= CF_READY;
	}
}

bool flow_ready_push(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	uint32_t i = f->ready_tail;

	if ((c->flags & CF_READY) != 0)
		return true;
	if (f->ready_entries > 2 * f->nready + 4096)
		ready_tidy(m, f);
	i = f->ready_tail;
	if (i == 0 || m->chunk[i].n == CHUNK_ENTRIES) {
		uint32_t fresh = flow_chunk_take(m);

		if (fresh == 0)
			return false;
		if (i == 0)
			f->ready_head = fresh;
		else
			m->chunk[i].next = fresh;
		f->ready_tail = i = fresh;
	}
	m->chunk[i].at[m->chunk[i].n++] = conn_index(m, c);
	f->ready_entries++;
	f->nready++;
	c->flags |= CF_READY;
	return true;
}

static struct flow_conn *ready_pop(struct flow_machine *m, struct flow_ver *f)
{
	while (f->ready_head != 0) {
		struct flow_chunk *k = &m->chunk[f->ready_head];
		struct flow_conn *c;

		if (f->ready_at == k->n) {
			uint32_t i = f->ready_head;

			f->ready_at = 0;
			f->ready_head = k->next;
			if (k->next == 0)
				f->ready_tail = 0;
			flow_chunk_give(m, i);
			continue;
		}
		c = &m->conn[k->at[f->ready_at++]];
		f->ready_entries--;
		if (f->ready_at + 4 < k->n)
			__builtin_prefetch(&m->conn[k->at[f->ready_at + 4]], 1);
		if ((c->flags & CF_READY) == 0 || conn_live(m, c) != f)
			continue;
		c->flags &= (uint16_t)~CF_READY;
		f->nready--;
		return c;
	}
	return NULL;
}

unsigned flow_go(struct flow_machine *m, int version, unsigned n, uint64_t due_ns, uint64_t each_ns,
		 uint64_t now_ns)
{
	struct flow_ver *f;
	unsigned i;

	if (version < 0 || version >= FLOW_VERSIONS || m->live[version].spec == NULL)
		return 0;
	f = &m->live[version];
	flow_now(m, now_ns);
	for (i = 0; i < n; i++, due_ns += each_ns) {
		struct flow_conn *c = ready_pop(m, f);

		if (c == NULL)
			break;
		if (f->spec->role == FLOW_CLIENT)
			flow_late_set(c, now_ns > due_ns ? now_ns - due_ns : 0);
		flow_work_call(m, f, c, CALL_GO, now_ns > due_ns ? now_ns - due_ns : 0);
	}
	return i;
}
