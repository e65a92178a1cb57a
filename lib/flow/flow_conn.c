/* SPDX-License-Identifier: BSD-3-Clause */
/* The lives of connections: cells, fates, opens, and the paths that servers learn. */
#include "flow_emit.h"
#include "flow_find.h"
#include "flow_servers.h"

static inline void conn_less(cell_t *c)
{
	cell_add(c, UINT64_MAX);
}

/* RFC 6528: a clock, and a keyed hash of the tuple. The clock steps each 64 ns, faster than the
 * RFC's, so that a tuple that is used again soon goes on behind what it has sent, and a peer that
 * still rests takes its SYN (RFC 9293 3.6.1); it takes 275 s to come round. */
static FLOW_INLINE uint32_t conn_isn(const struct flow_machine *m, uint32_t key)
{
	/* The hash of the tuple, keyed once more: a peer is not to learn from numbers that it is
	 * told who shares a bucket with it. */
	uint64_t mixed = (m->secret[0] ^ key) * 0x9e3779b97f4a7c15ull;

	mixed = (mixed ^ mixed >> 32 ^ m->secret[1]) * 0xd6e8feb86659fd93ull;
	return (uint32_t)(m->now_ns >> 6) + (uint32_t)(mixed >> 32);
}

/* Cells that rest are taken back when there are no others: the next one that a hand finds. */
#define CONN_HAND 64
FLOW_ASIDE static struct flow_conn *conn_reclaim(struct flow_machine *m)
{
	for (unsigned i = 0; i < CONN_HAND && m->fresh > 1; i++) {
		struct flow_conn *c;

		if (++m->reclaim_hand >= m->fresh)
			m->reclaim_hand = 1;
		c = &m->conn[m->reclaim_hand];
		if (c->state == FLOW_TIME_WAIT) {
			cell_add(&conn_live(m, c)->k->timewait_reused, 1);
			flow_conn_free(m, c);
			return &m->conn[m->free[--m->nfree]];
		}
		/* a server of UDP is never told that somebody has ended */
		if (c->state == FLOW_UDP && conn_live(m, c)->spec->role == FLOW_SERVER) {
			flow_conn_end(m, c, WL_END_CLOSED, false);
			return &m->conn[m->free[--m->nfree]];
		}
		/* RFC 4987 3.4: a SYN that nobody has confirmed makes room */
		if (c->state == FLOW_SYN_RECEIVED && c->retry > 0) {
			flow_conn_end(m, c, WL_END_CONNECT_TIMEOUT, false);
			return &m->conn[m->free[--m->nfree]];
		}
	}
	return NULL;
}

/* A free cell, cleared but for its entry in the wheel. NULL: there is none. */
static FLOW_INLINE struct flow_conn *conn_take(struct flow_machine *m)
{
	struct flow_conn *c;
	uint16_t filed, flags;

	if (FLOW_LIKELY(m->nfree > 0)) {
		c = &m->conn[m->free[--m->nfree]];
		if (FLOW_LIKELY(m->nfree > 8))
			__builtin_prefetch(&m->conn[m->free[m->nfree - 8]], 1);
	} else if (m->fresh < m->nconn) {
		c = &m->conn[m->fresh++];
	} else {
		c = conn_reclaim(m);
		if (c == NULL)
			return NULL;
	}
	filed = c->filed;
	flags = c->flags & CF_FILED;
	memset(c, 0, sizeof(*c));
	c->filed = filed & 0xfff;
	c->flags = flags;
	return c;
}

static FLOW_INLINE void conn_give(struct flow_machine *m, struct flow_conn *c)
{
	c->state = FLOW_FREE;
	c->flags &= CF_FILED;
	/* It is opened next. The note of when lies in a line of its own, and a store that waits for
	 * one holds up all behind it. */
	__builtin_prefetch(&m->opened[conn_index(m, c)], 1);
	m->free[m->nfree++] = conn_index(m, c);
}

static inline void conn_path_forget(struct flow_machine *m, uint16_t at)
{
	if (at != 0)
		((struct flow_learned *)flow_pool_at(&m->path, at))->refs--;
}

static FLOW_INLINE void conn_free(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	flow_find_cut(m, c, f->spec->tuples);
	if (FLOW_UNLIKELY(c->side != 0))
		flow_side_drop(m, c);
	if (f->spec->role == FLOW_SERVER)
		conn_path_forget(m, c->path);
	f->refs--;
	conn_give(m, c);
}

void flow_conn_free(struct flow_machine *m, struct flow_conn *c)
{
	conn_free(m, conn_live(m, c), c);
}

FLOW_ASIDE static cell_t *conn_fate(struct flow_counts *k, enum wl_end why)
{
	switch (why) {
	case WL_END_REFUSED:
		return &k->refused;
	case WL_END_CONNECT_TIMEOUT:
		return &k->connect_timeout;
	case WL_END_UNREACHABLE:
		return &k->unreachable;
	case WL_END_ABORTED_OPENING:
		return &k->aborted_opening;
	case WL_END_CLOSED:
		return &k->closed;
	case WL_END_RESET_BY_US:
		return &k->reset_by_us;
	case WL_END_RESET_BY_PEER:
		return &k->reset_by_peer;
	case WL_END_TIMED_OUT:
		return &k->timed_out;
	case WL_END_ABORTED:
		break;
	}
	return &k->aborted;
}

/* It has had its fate. It rests for as long as its last ACK waits for room in the sink, whatever
 * its time to rest is. */
static FLOW_INLINE void conn_ended(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
				   bool rest)
{
	f->in_use--;
	if (FLOW_LIKELY(!rest) || (f->spec->timewait_ns == 0 && (c->flags & CF_BLOCKED) == 0)) {
		conn_free(m, f, c);
		return;
	}
	if (c->side != 0)
		flow_side_drop(m, c);
	c->state = FLOW_TIME_WAIT;
	c->flags &= (uint16_t) ~(CF_WORK_TIMER | CF_MAY_SEND | CF_PROBE);
	conn_timer(m, c, flow_ticks(f->spec->timewait_ns));
}

void flow_conn_end(struct flow_machine *m, struct flow_conn *c, enum wl_end why, bool rest)
{
	struct flow_ver *f = conn_live(m, c);
	bool opening = c->state == FLOW_SYN_SENT || c->state == FLOW_SYN_RECEIVED;

	if (FLOW_UNLIKELY(c->state == FLOW_TIME_WAIT)) { /* it has had its fate */
		flow_conn_free(m, c);
		return;
	}
	flow_work_closed(m, f, c, why);
	/* its datagram still waits for the sink */
	if (FLOW_UNLIKELY(c->state == FLOW_UDP) && c->msg_end != 0)
		cell_add(&f->k->not_sent, 1);
	if (FLOW_UNLIKELY((c->flags & CF_READY) != 0)) {
		c->flags &= (uint16_t)~CF_READY;
		f->nready--;
	}
	if (FLOW_UNLIKELY(f->by_server))
		flow_server_ended(f, c, why);
	conn_less(opening ? &f->k->opening : &f->k->open);
	cell_add(FLOW_LIKELY(why == WL_END_CLOSED) ? &f->k->closed : conn_fate(f->k, why), 1);
	conn_ended(m, f, c, rest);
}

/* The same for one that was open, waits for no go(), is not counted by its server, and has
 * closed. */
void flow_conn_closed(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c, bool rest)
{
	flow_work_closed(m, f, c, WL_END_CLOSED);
	conn_less(&f->k->open);
	cell_add(&f->k->closed, 1);
	conn_ended(m, f, c, rest);
}

/* Lateness in 16 bits: 11 of it, times a power of two; to 1 / 2048 of itself. */
void flow_late_set(struct flow_conn *c, uint64_t ns)
{
	unsigned e = 0;

	if (ns >> 42 != 0)
		ns = (1ull << 42) - 1;
	if (FLOW_UNLIKELY(ns >= 2048))
		e = 53 - (unsigned)__builtin_clzll(ns);
	c->path = (uint16_t)(e << 11 | (ns >> e & 0x7ff));
}
uint64_t flow_late_ns(const struct flow_conn *c)
{
	unsigned e = c->path >> 11;

	return (uint64_t)(c->path & 0x7ff) << e;
}

/* A new cell becomes a connection of the flow, in any state. */
static FLOW_INLINE void conn_begin(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
				   uint32_t isn)
{
	c->una = isn;
	c->nxt = isn + 1;
	c->msg_seq = c->msg_end = isn + 1;
	c->content = f->first;
	/* RFC 9293 3.7.1 and RFC 8200 5: what any host takes */
	c->mss = f->spec->is6 ? 1220 : 536;
	c->cwnd = f->iw;
	f->refs++;
	f->in_use++;
	m->opened[conn_index(m, c)] = m->now_tick;
	cell_add(&f->k->opened, 1);
}

FLOW_ASIDE static void conn_open_udp(struct flow_machine *m, struct flow_ver *f,
				     struct flow_conn *c)
{
	c->state = FLOW_UDP;
	c->una = c->nxt = c->msg_seq = c->msg_end = 0;
	c->mss = f->mss;
	cell_add(&f->k->established, 1);
	cell_add(&f->k->open, 1);
	if (f->by_server)
		flow_server_established(f, c);
	flow_find_put(m, c, f->spec->tuples);
	flow_work_opened(m, f, c);
}

static FLOW_INLINE void conn_open_tcp(struct flow_machine *m, struct flow_ver *f,
				      struct flow_conn *c)
{
	c->state = FLOW_SYN_SENT;
	if (FLOW_LIKELY(!f->buffered)) {
		c->mem[0] = (uint32_t)m->now_ns;
		c->mem[1] = (uint32_t)(m->now_ns >> 32);
	}
	conn_set_stamp(c, m->now_us);
	cell_add(&f->k->opening, 1);
	flow_find_put(m, c, f->spec->tuples);
	conn_timer(m, c, f->syn_ticks);
	flow_send_syn(m, f, c);
}

static bool conn_open_next(struct flow_machine *m, struct flow_ver *f, uint64_t late_ns)
{
	struct flow_conn *c = conn_take(m);
	uint32_t rests, ports, isn;

	if (c == NULL) {
		cell_add(&f->k->no_memory, 1);
		return false;
	}
	if (FLOW_UNLIKELY(!flow_tuple_next(m, f, c, &rests))) {
		cell_add(&f->k->no_tuple, 1);
		conn_give(m, c);
		return false;
	}
	flow_tuple_fetch(f);
	ports = c->ports;
	isn = conn_isn(m, flow_hash(m, c->remote, c->local, ports));
	if (FLOW_UNLIKELY(rests != 0)) {
		struct flow_conn *old = &m->conn[rests];

		if (seq_lt(isn, old->nxt + 65536))
			isn = old->nxt + 65536;
		cell_add(&f->k->timewait_reused, 1);
		flow_conn_free(m, old);
	}
	conn_begin(m, f, c, isn);
	if (FLOW_UNLIKELY(f->by_server))
		flow_server_opened(f, c);
	flow_late_set(c, late_ns);
	if (FLOW_UNLIKELY(f->spec->udp))
		conn_open_udp(m, f, c);
	else
		conn_open_tcp(m, f, c);
	return true;
}

/* Whether the sink takes one more frame. */
static bool conn_sink_room(struct flow_machine *m)
{
	struct flow_sink *s = m->sink;

	if (FLOW_LIKELY(s->nroom[FLOW_PLAIN] != 0 && s->nout != s->max_out))
		return true;
	return s->more != NULL && s->more(s, FLOW_PLAIN) && s->nroom[FLOW_PLAIN] != 0 &&
	       s->nout != s->max_out;
}

static struct flow_ver *conn_client(struct flow_machine *m, int version)
{
	struct flow_ver *f;

	if (version < 0 || version >= FLOW_VERSIONS)
		return NULL;
	f = &m->live[version];
	if (f->spec == NULL || f->retired || f->spec->role != FLOW_CLIENT)
		return NULL;
	return f;
}

unsigned flow_open(struct flow_machine *m, int version, unsigned n, uint64_t due_ns,
		   uint64_t each_ns, uint64_t now_ns)
{
	struct flow_ver *f = conn_client(m, version);
	unsigned i;

	if (f == NULL)
		return 0;
	flow_now(m, now_ns);
	for (i = 0; i < n && f->in_use < f->spec->most; i++, due_ns += each_ns) {
		if (!conn_sink_room(m))
			break;
		conn_open_next(m, f, now_ns > due_ns ? now_ns - due_ns : 0);
	}
	return i;
}

uint32_t flow_open_one(struct flow_machine *m, int version, const struct flow_tuple *t,
		       uint64_t now_ns)
{
	struct flow_ver *f = conn_client(m, version);
	struct flow_conn *c;
	uint32_t ports;

	if (f == NULL || f->spec->udp || !f->spec->buffered)
		return 0;
	flow_now(m, now_ns);
	c = conn_take(m);
	if (c == NULL)
		return 0;
	c->remote = __builtin_bswap32(t->remote.v4);
	c->local = __builtin_bswap32(t->local.v4);
	if (f->spec->is6) {
		memcpy(&c->remote, t->remote.v6 + 12, 4);
		memcpy(&c->local, t->local.v6 + 12, 4);
	}
	c->remote_port = __builtin_bswap16(t->remote_port);
	c->local_port = __builtin_bswap16(t->local_port);
	ports = c->ports;
	if ((f->spec->tuples->slot != NULL &&
	     flow_tuples_slot(f->spec->tuples, c->remote, c->local, ports) == NULL) ||
	    flow_tuple_user(m, f, c) != 0 || flow_buffer_take(m, f, c) == 0) {
		conn_give(m, c);
		return 0;
	}
	conn_begin(m, f, c, conn_isn(m, flow_hash(m, c->remote, c->local, ports)));
	if (f->by_server)
		flow_server_opened(f, c);
	c->mem[0] = c->mem[1];
	conn_open_tcp(m, f, c);
	return flow_buffer_number(m, c);
}

/* Of a client. Returns true if its time is not measured. */
FLOW_ASIDE static bool conn_established_aside(const struct flow_ver *f, const struct flow_conn *c)
{
	if (f->by_server)
		flow_server_established(f, c);
	return f->buffered;
}

/* A server's that is counted by its address and port has been counted so before. */
FLOW_INLINE void flow_established(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	c->state = FLOW_ESTABLISHED;
	c->retry = 0;
	conn_timer_stop(m, c);
	conn_less(&f->k->opening);
	cell_add(&f->k->established, 1);
	cell_add(&f->k->open, 1);
	if (f->spec->role == FLOW_CLIENT) {
		if (FLOW_UNLIKELY(f->aside) && conn_established_aside(f, c))
			return;
		wl_timing_add(&f->wl->connect, m->now_ns - ((uint64_t)c->mem[1] << 32 | c->mem[0]));
		c->mem[0] = c->mem[1] = 0;
	}
}

/* ---- paths of servers ---- */

/* The first bytes of a run of `len`. */
static FLOW_INLINE uint64_t conn_span(const uint8_t *at, unsigned len)
{
	uint64_t v;

	memcpy(&v, at, 8);
	return v << (64 - 8 * len);
}

/* Whether a path that was learned is that of the segment's sender. */
static FLOW_INLINE bool conn_path_is(const struct flow_learned *l, const struct flow_ver *f,
				     const struct flow_seg *g)
{
	uint64_t differ = (l->serial ^ f->serial) | (uint32_t)(l->path.ident ^ g->in->ident);

	if (FLOW_UNLIKELY(g->in->l3 < f->back_len))
		return false;
	for (unsigned i = 0; i < f->back.n; i++) {
		const struct flow_span *s = &f->back.span[i];

		differ |= conn_span(g->in->data + s->from, s->len) ^
			  conn_span(l->path.bytes + s->to, s->len);
	}
	return differ == 0;
}

static uint32_t conn_path_hash(const struct flow_ver *f, const struct flow_seg *g)
{
	uint64_t h = (uint64_t)f->serial << 16 | g->in->ident;

	for (unsigned i = 0; i < f->back.n && g->in->l3 >= f->back_len; i++) {
		const struct flow_span *s = &f->back.span[i];

		h = (h ^ conn_span(g->in->data + s->from, s->len)) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 32;
	}
	return (uint32_t)(h * 0xd6e8feb86659fd93ull >> 32) % FLOW_PATH_LISTS;
}

static void conn_path_unlink(struct flow_machine *m, uint32_t at)
{
	struct flow_learned *l = flow_pool_at(&m->path, at);
	uint32_t *link = &m->path_list[l->hash];

	while (*link != at)
		link = &((struct flow_learned *)flow_pool_at(&m->path, *link))->next;
	*link = l->next;
}

/* A place for a path: a new one, or that of one that nobody uses. */
static uint32_t conn_path_take(struct flow_machine *m)
{
	uint32_t at = flow_pool_take(&m->path);

	if (at != 0)
		return at;
	for (uint32_t i = 1; i < m->path.n; i++) {
		m->path_hand = m->path_hand + 1 < m->path.n ? m->path_hand + 1 : 1;
		if (((struct flow_learned *)flow_pool_at(&m->path, m->path_hand))->refs != 0)
			continue;
		conn_path_unlink(m, m->path_hand);
		m->path_last = 0;
		return m->path_hand;
	}
	return 0;
}

/* The way back to whom a segment came from. */
void flow_path_back(const struct flow_ver *f, const struct flow_seg *g, struct flow_path *p)
{
	const struct flow_conn ours = {.remote = g->remote, .local = g->local, .ports = g->ports};
	const struct flow_path *path;

	if (f->spec->role == FLOW_CLIENT) {
		*p = f->spec->npath > 1 ? *flow_client_path(f, &ours) : *f->path;
		return;
	}
	path = flow_server_path(f, g->in->ident);
	*p = path != NULL ? *path : *f->path;
	if (g->in->l3 < f->back_len)
		return;
	for (unsigned i = 0; i < f->back.n; i++) {
		const struct flow_span *s = &f->back.span[i];

		memcpy(p->bytes + s->to, g->in->data + s->from, s->len);
	}
	flow_path_sums(p);
}

/* The same for a connection, another way than that of the one before. 0: there are too many. */
FLOW_ASIDE static uint16_t conn_path_other(struct flow_machine *m, struct flow_ver *f,
					   const struct flow_seg *g)
{
	struct flow_learned *l;
	uint32_t at, hash = conn_path_hash(f, g);

	for (at = m->path_list[hash]; at != 0; at = l->next) {
		l = flow_pool_at(&m->path, at);
		if (conn_path_is(l, f, g))
			break;
	}
	if (at == 0) {
		at = conn_path_take(m);
		if (at == 0)
			return 0;
		l = flow_pool_at(&m->path, at);
		flow_path_back(f, g, &l->path);
		l->serial = f->serial;
		l->hash = hash;
		l->refs = 0;
		l->next = m->path_list[hash];
		m->path_list[hash] = at;
		cell_set(&m->k.paths_used, m->path.used);
	}
	l->refs++;
	m->path_last = at;
	m->path_serial = f->serial;
	m->path_len = g->in->l3 >= 8 && g->in->l3 <= 16 ? g->in->l3 : 0;
	if (m->path_len != 0) {
		memcpy(&m->path_came[0], g->in->data, 8);
		memcpy(&m->path_came[1], g->in->data + m->path_len - 8, 8);
	}
	return (uint16_t)at;
}

/* Whether the prefix of a segment is that of the one before, byte for byte. */
static FLOW_INLINE bool conn_path_came(const struct flow_machine *m, const struct flow_ver *f,
				       const struct flow_in *in)
{
	uint64_t word[2];

	if (FLOW_UNLIKELY(m->path_len != in->l3) || FLOW_UNLIKELY(m->path_serial != f->serial))
		return false;
	memcpy(&word[0], in->data, 8);
	memcpy(&word[1], in->data + in->l3 - 8, 8);
	return ((word[0] ^ m->path_came[0]) | (word[1] ^ m->path_came[1])) == 0;
}

static FLOW_INLINE uint16_t conn_path_learn(struct flow_machine *m, struct flow_ver *f,
					    const struct flow_seg *g)
{
	struct flow_learned *l = flow_pool_at(&m->path, m->path_last);

	if (FLOW_UNLIKELY(m->path_last == 0) ||
	    (FLOW_UNLIKELY(!conn_path_came(m, f, g->in)) && !conn_path_is(l, f, g)))
		return conn_path_other(m, f, g);
	l->refs++;
	return (uint16_t)m->path_last;
}

/* A server's new connection, in state SYN-RECEIVED or UDP, which is found from now on. NULL: there
 * is no memory. */
FLOW_INLINE struct flow_conn *flow_conn_accept(struct flow_machine *m, struct flow_ver *f,
					       const struct flow_seg *g, uint32_t isn_after,
					       bool use_after)
{
	struct flow_conn *c = conn_take(m);
	uint32_t isn, key = g->key;
	uint16_t path;

	if (FLOW_UNLIKELY(c == NULL))
		return NULL;
	path = conn_path_learn(m, f, g);
	c->remote = g->remote;
	c->local = g->local;
	c->ports = g->ports;
	if (FLOW_UNLIKELY(path == 0) ||
	    (FLOW_UNLIKELY(f->buffered) && flow_buffer_take(m, f, c) == 0)) {
		conn_path_forget(m, path);
		conn_give(m, c);
		return NULL;
	}
	if (FLOW_UNLIKELY(g->is6))
		memcpy(m->peer6[conn_index(m, c)], seg_src6(g), 16);
	if (FLOW_UNLIKELY(g->dense)) /* no key has been computed */
		key = flow_hash(m, g->is6 ? flow_fold16(seg_src6(g)) : g->remote, g->local,
				g->ports);
	isn = conn_isn(m, key);
	if (FLOW_UNLIKELY(use_after) && seq_lt(isn, isn_after))
		isn = isn_after;
	conn_begin(m, f, c, isn);
	c->path = path;
	if (FLOW_UNLIKELY(f->aside)) {
		if (f->buffered)
			c->mem[0] = c->mem[1];
		if (f->by_server)
			flow_server_opened(f, c);
	}
	flow_find_put_key(m, c, key);
	return c;
}
