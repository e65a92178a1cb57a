/* SPDX-License-Identifier: BSD-3-Clause */
/* Received segments of synchronized connections (RFC 9293 3.10.7.4). */
#include "flow_emit.h"
#include "flow_find.h"
#include "flow_servers.h"

/* Both ends have closed, or our FIN has arrived. false: the connection has gone. */
static bool tcp_fin_acked(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	switch (c->state) {
	case FLOW_FIN_WAIT_1:
		c->state = FLOW_FIN_WAIT_2;
		conn_timer(m, c, f->finwait_ticks);
		return true;
	case FLOW_CLOSING:
		/* both came in one burst, and nobody may be left to acknowledge the peer's FIN */
		if ((c->flags & CF_ACK) != 0)
			flow_send_ack(m, f, c);
		flow_conn_end(m, c, WL_END_CLOSED, true);
		return false;
	case FLOW_LAST_ACK:
		flow_conn_end(m, c, WL_END_CLOSED, false);
		return false;
	default:
		return true;
	}
}

/* The peer's FIN, all before it having been received. false: the connection has gone, or rests. */
static bool tcp_fin_in(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	c->rcv_nxt++;
	c->flags |= CF_ACK;
	switch (c->state) {
	case FLOW_ESTABLISHED:
		c->state = FLOW_CLOSE_WAIT;
		return flow_work_ended(m, f, c);
	case FLOW_FIN_WAIT_1:
		c->state = FLOW_CLOSING;
		return true;
	case FLOW_FIN_WAIT_2:
		flow_send_ack(m, f, c);
		flow_conn_end(m, c, WL_END_CLOSED, true);
		return false;
	default:
		return true;
	}
}

/* fin: the peer's FIN stands right behind these bytes. What they make this end send waits for it,
 * so that the first segment acknowledges both, and the FIN of one who closes now is no simultaneous
 * one. */
static FLOW_INLINE bool tcp_deliver(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
				    const uint8_t *data, uint32_t n, bool fin)
{
	cell_add(&f->k->rx_bytes, n);
	return flow_work_received(m, f, c, data, n, !fin);
}

/* The payload of a segment from its byte `skip` on, n bytes, in its pieces. */
FLOW_ASIDE static bool tcp_pieces(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
				  const struct flow_seg *g, uint32_t skip, uint32_t n, bool fin)
{
	const struct flow_piece *p = g->in->rest;
	const uint8_t *data = g->data;
	uint32_t have = g->piece;

	for (;;) {
		uint32_t take;

		if (skip < have) {
			take = have - skip < n ? have - skip : n;
			conn_server_received(f, c, take);
			if (!tcp_deliver(m, f, c, data == NULL ? NULL : data + skip, take, fin))
				return false;
			n -= take;
			skip = 0;
		} else {
			skip -= have;
		}
		if (n == 0)
			return true;
		if (p == NULL) { /* the frame was longer than what was kept of it */
			conn_server_received(f, c, n);
			return tcp_deliver(m, f, c, NULL, n, fin);
		}
		data = p->data;
		have = p->len;
		p = p->next;
	}
}

static inline bool tcp_receives(const struct flow_conn *c)
{
	return c->state == FLOW_ESTABLISHED || c->state == FLOW_FIN_WAIT_1 ||
	       c->state == FLOW_FIN_WAIT_2;
}

/* Offers what came early to the workload, in its pieces. Returns how many bytes from the first on
 * it has taken. */
static uint32_t tcp_ahead(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
			  const struct flow_seg *g, uint32_t distance)
{
	const struct flow_piece *p = g->in->rest;
	const uint8_t *data = g->data;
	uint32_t have = g->piece, taken = 0;

	for (;;) {
		uint32_t n = have < g->len - taken ? have : g->len - taken;

		if (n > 0 && (data == NULL || !flow_work_ahead(m, f, c, distance + taken, data, n)))
			return taken;
		taken += n;
		if (taken == g->len || p == NULL)
			return taken;
		data = p->data;
		have = p->len;
		p = p->next;
	}
}

/* A segment that came before others. It is told at once (RFC 5681 4.2). */
FLOW_ASIDE static void tcp_early(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
				 const struct flow_seg *g, uint32_t window)
{
	uint32_t distance = g->seq - c->rcv_nxt, kept;
	struct flow_side *s = NULL;
	bool all = false;

	cell_add(&f->k->out_of_order, 1);
	if (tcp_receives(c) && distance + g->len <= window) {
		kept = tcp_ahead(m, f, c, g, distance);
		all = kept == g->len;
		if (kept > 0 || all)
			s = flow_side(m, c);
		if (s == NULL || (kept > 0 && !flow_early_add(m, s, g->seq, g->seq + kept)))
			all = false;
		if (all && (g->flags & TH_FIN) != 0) {
			s->fin_early = true;
			s->fin_seq = g->seq + g->len;
		}
	}
	if (!all)
		cell_add(&f->k->not_kept, 1);
	flow_send_ack(m, f, c);
}

/* What had come early is joined to what came now. false: the connection has gone. */
FLOW_ASIDE static bool tcp_join(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
				bool *fin)
{
	struct flow_side *s = conn_side(m, c);
	uint32_t n = flow_early_join(m, c, s);

	if (s->fin_early && s->fin_seq == c->rcv_nxt) {
		s->fin_early = false;
		*fin = true;
	}
	conn_server_received(f, c, n);
	return n == 0 || tcp_deliver(m, f, c, NULL, n, *fin);
}

/* Data and FIN of an acceptable segment. false: the connection has gone. */
static FLOW_INLINE bool tcp_data(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
				 const struct flow_seg *g, uint32_t window)
{
	uint32_t skip = c->rcv_nxt - g->seq, n;
	bool fin = (g->flags & TH_FIN) != 0, now = (c->flags & CF_ACK) != 0;

	if (FLOW_UNLIKELY((int32_t)skip < 0)) {
		tcp_early(m, f, c, g, window);
		return true;
	}
	if (FLOW_UNLIKELY(!tcp_receives(c))) {
		/* data behind a FIN: there can be none */
		c->flags |= CF_ACK;
		flow_ack_soon(m, f, c, true);
		return true;
	}
	n = g->len - skip;
	if (FLOW_UNLIKELY(n > window)) {
		n = window;
		fin = false;
		cell_add(&f->k->beyond_window, 1);
	}
	c->rcv_nxt += n;
	c->flags |= CF_ACK;
	if (FLOW_LIKELY(n > 0)) {
		if (FLOW_UNLIKELY(c->state == FLOW_FIN_WAIT_2))
			conn_timer(m, c, f->finwait_ticks);
		now |= g->segments > 1 || n > f->mss;
		if (FLOW_UNLIKELY(n >= WINDOW_WATCHED && f->window < f->window_most))
			flow_window_watch(m, f, c);
		if (FLOW_LIKELY(skip == 0 && n == g->piece)) {
			conn_server_received(f, c, n);
			if (!tcp_deliver(m, f, c, g->data, n, fin))
				return false;
		} else if (!tcp_pieces(m, f, c, g, skip, n, fin)) {
			return false;
		}
	}
	if (FLOW_UNLIKELY(c->side != 0) &&
	    (conn_side(m, c)->nearly != 0 || conn_side(m, c)->fin_early)) {
		now = true;
		if (!tcp_join(m, f, c, &fin))
			return false;
	}
	if (fin) {
		now = true;
		if (!tcp_fin_in(m, f, c))
			return false;
	}
	flow_ack_soon(m, f, c, now);
	return true;
}

/* The ACK that ends a passive open: it acknowledges our SYN. false: the connection has gone. */
static FLOW_INLINE bool tcp_confirmed(struct flow_machine *m, struct flow_ver *f,
				      struct flow_conn *c, uint32_t ack, uint16_t wnd)
{
	if ((c->flags & CF_TIMED) != 0)
		conn_rtt(m, f, c);
	if (c->retry > 0)
		c->cwnd = 1; /* RFC 5681 3.1: a SYN was lost */
	c->una = ack;
	conn_new_window(c, conn_side(m, c), wnd);
	flow_window_first(m, c);
	flow_established(m, f, c);
	return flow_work_opened(m, f, c);
}

/* What is behind all else: the connection may send. */
static FLOW_INLINE void tcp_send(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	if (FLOW_UNLIKELY(c->msg_end != c->nxt || (c->flags & (CF_FIN_ASKED | CF_MAY_SEND)) != 0 ||
			  c->side != 0) &&
	    ((c->flags & CF_FIN_SENT) == 0 || c->side != 0))
		flow_push(m, f, c);
}

/* ---- usual segments ---- */

/* A connection's life is mostly of segments of a few kinds. Each has a way of its own here, in
 * which is done what the functions above would do, and nothing is looked at that a condition at its
 * beginning has settled. All other segments go the general way. */

/* Data that are next, n bytes, and an acknowledgement of all that was sent, where there is nothing
 * else: no loss, nothing to be acknowledged, no window that would open. */
static FLOW_INLINE bool tcp_data_is_usual(const struct flow_ver *f, const struct flow_conn *c,
					  uint32_t seq, uint32_t ack, uint32_t n)
{
	const uint32_t looked_at = (uint16_t) ~(CF_FILED | CF_SACK | CF_READY | CF_ACK_NOW);
	uint32_t flags = c->flags & looked_at, flight = ack - c->una;

	if (FLOW_UNLIKELY(((seq ^ c->rcv_nxt) | (ack ^ c->nxt)) != 0) ||
	    FLOW_UNLIKELY(n - 1 >= f->mss || n > f->window))
		return false;
	if (FLOW_LIKELY(flags == (CF_TIMED | CF_TIMER)))
		return FLOW_LIKELY(flight != 0) &&
		       FLOW_LIKELY(2 * (uint64_t)flight < (uint64_t)c->cwnd * c->mss);
	return flags == 0 && flight == 0 && c->msg_end == c->nxt;
}

static FLOW_INLINE void tcp_usual_data(struct flow_machine *m, struct flow_ver *f,
				       struct flow_conn *c, uint32_t ack, uint16_t wnd,
				       const uint8_t *data, uint32_t n, bool fin)
{
	c->wnd = wnd;
	c->rcv_nxt += n;
	if (FLOW_LIKELY((c->flags & CF_TIMED) != 0)) {
		c->una = ack;
		c->flags = (uint16_t)((c->flags & ~CF_TIMER) | CF_ACK);
		conn_rtt(m, f, c);
		if (FLOW_UNLIKELY(c->cwnd > f->iw))
			conn_stamp_at(c, m->now_tick);
	} else {
		c->flags |= CF_ACK;
	}
	if (FLOW_UNLIKELY(n >= WINDOW_WATCHED && f->window < f->window_most))
		flow_window_watch(m, f, c);
	if (FLOW_UNLIKELY(!tcp_deliver(m, f, c, data, n, fin)))
		return;
	if (fin && !tcp_fin_in(m, f, c))
		return;
	flow_ack_soon(m, f, c, fin);
	tcp_send(m, f, c);
}

/* The acknowledgement that ends a passive open, alone or with the first data. */
static FLOW_INLINE void tcp_usual_confirmed(struct flow_machine *m, struct flow_ver *f,
					    struct flow_conn *c, uint32_t ack, uint16_t wnd,
					    const uint8_t *data, uint32_t n)
{
	bool now;

	if (!tcp_confirmed(m, f, c, ack, wnd))
		return;
	if (n != 0) {
		now = (c->flags & CF_ACK) != 0;
		c->rcv_nxt += n;
		c->flags |= CF_ACK;
		if (FLOW_UNLIKELY(n >= WINDOW_WATCHED && f->window < f->window_most))
			flow_window_watch(m, f, c);
		if (!tcp_deliver(m, f, c, data, n, false))
			return;
		flow_ack_soon(m, f, c, now);
	}
	tcp_send(m, f, c);
}

/* The acknowledgement of our FIN: whether it is all that there is to it. */
static FLOW_INLINE bool tcp_end_is_usual(const struct flow_conn *c, uint32_t seq, uint32_t ack)
{
	const uint32_t odd = CF_WORK_TIMER | CF_BLOCKED | CF_READY | CF_MAY_SEND | CF_PROBE;

	return FLOW_LIKELY(((seq ^ c->rcv_nxt) | (ack ^ c->nxt)) == 0) &&
	       FLOW_LIKELY((c->flags & (odd | CF_FILED | CF_FIN_SENT)) ==
			   (CF_FILED | CF_FIN_SENT)) &&
	       FLOW_LIKELY(ack != c->una) &&
	       FLOW_LIKELY(2 * (uint64_t)(ack - c->una) < (uint64_t)c->cwnd * c->mss);
}

/* With the peer's FIN, or behind it: the connection ends. */
static FLOW_INLINE void tcp_usual_end(struct flow_machine *m, struct flow_ver *f,
				      struct flow_conn *c, uint32_t ack, uint16_t wnd, bool fin)
{
	c->una = ack;
	c->wnd = wnd;
	if (FLOW_LIKELY((c->flags & CF_TIMED) != 0))
		conn_rtt(m, f, c);
	c->flags &= (uint16_t)~CF_TIMER;
	if (fin) {
		c->state = FLOW_FIN_WAIT_2;
		c->rcv_nxt++;
		c->flags |= CF_ACK;
		flow_send_ack(m, f, c);
	}
	flow_conn_closed(m, f, c, fin);
}

/* Bytes 12 and 13 of a header of so many words, as usual_word() has them. */
#define USUAL(words, flags) __builtin_bswap32((uint32_t)(words) << 28 | (uint32_t)(flags) << 16)
#define USUAL_MASK USUAL(15, TH_FIN | TH_SYN | TH_RST | TH_ACK)

/* A SYN, with 12 bytes of options. */
static FLOW_INLINE void usual_syn_seg(const struct flow_in *in, const struct flow_early *e,
				      uint32_t seq, uint16_t wnd, bool is6, struct flow_seg *g)
{
	g->in = in;
	g->l4 = e->l4;
	g->remote = e->remote;
	g->local = e->local;
	g->ports = e->ports;
	g->key = e->key;
	g->seq = seq;
	g->wnd = wnd;
	g->dense = false;
	g->options = 12;
	g->flags = TH_SYN;
	g->segments = 1;
	g->is6 = is6;
	g->udp = g->unverified = false;
}

/* A SYN: somebody may listen. */
static FLOW_INLINE bool tcp_usual_syn(struct flow_machine *m, struct flow_seg *g)
{
	struct flow_ver *f;

	/* it may have come twice in this burst */
	if (FLOW_UNLIKELY(!flow_find_is_new(m, g)) && flow_find(m, g) != 0)
		return false;
	f = flow_listener(m, g);
	if (FLOW_UNLIKELY(f == NULL || f->wl->draining))
		return false;
	flow_passive(m, f, g, 0, false);
	return true;
}

/* Counts a segment that is one of the usual ones. partial: nobody can verify its checksum. */
static FLOW_INLINE void tcp_count(const struct flow_machine *m, struct flow_ver *f,
				  const struct flow_conn *c, const struct flow_in *in,
				  const bool odd, const bool partial)
{
	cell_add(&f->k->rx, 1);
	if (odd && f->tos)
		flow_count_tos(m, f, c, in, 1);
	if (partial)
		cell_add(&f->k->unverified, 1);
}

/* Does what a segment asks for. false: it is none of the usual ones, and nothing was done. odd: the
 * machine has flows of IPv6, with identities or a type of service. partial: its verdict is
 * FLOW_SUM_PARTIAL. */
static FLOW_INLINE bool tcp_usual(struct flow_machine *m, const struct flow_in *in,
				  struct flow_early *e, const bool odd, const bool partial)
{
	struct flow_conn *c = &m->conn[e->at];
	const uint8_t *t = e->l4;
	uint32_t word, head, n, seq, ack;
	struct flow_seg g;
	struct flow_ver *f;
	uint64_t numbers, ours, its;
	uint16_t wnd;

	if (FLOW_UNLIKELY(in->segments > 1) ||
	    (!partial && FLOW_UNLIKELY(in->verdict != FLOW_SUM_GOOD) && !flow_usual_sum(m, in, e)))
		return false;
	memcpy(&numbers, t + 4, 8);
	memcpy(&word, t + 12, 4);
	numbers = __builtin_bswap64(numbers);
	head = word & USUAL_MASK;
	seq = (uint32_t)(numbers >> 32);
	ack = (uint32_t)numbers;
	wnd = (uint16_t)__builtin_bswap32(word);
	if (FLOW_UNLIKELY(e->at == 0)) {
		if (head != USUAL(8, TH_SYN) || e->dense || e->l4_len != 32)
			return false;
		usual_syn_seg(in, e, seq, wnd, odd && early_is6(e, in), &g);
		g.unverified = partial;
		return tcp_usual_syn(m, &g);
	}
	f = conn_live(m, c);
	memcpy(&ours, &c->remote, 8);
	memcpy(&its, &e->remote, 8);
	if (FLOW_UNLIKELY(ours != its) || FLOW_UNLIKELY(c->ports != e->ports) ||
	    FLOW_UNLIKELY(c->side != 0) || FLOW_UNLIKELY(c->retry != 0) ||
	    FLOW_UNLIKELY(f->aside) || (odd && !flow_is_rest(m, f, c, in, early_is6(e, in))))
		return false;
	n = e->l4_len - 20;
	switch (c->state) {
	case FLOW_ESTABLISHED:
		if (FLOW_UNLIKELY((head & ~USUAL(0, TH_FIN)) != USUAL(5, TH_ACK)) ||
		    !tcp_data_is_usual(f, c, seq, ack, n))
			return false;
		tcp_count(m, f, c, in, odd, partial);
		tcp_usual_data(m, f, c, ack, wnd, t + 20, n, (head & USUAL(0, TH_FIN)) != 0);
		return true;
	case FLOW_SYN_SENT:
		if (FLOW_UNLIKELY(head != USUAL(8, TH_SYN | TH_ACK) || ack != c->nxt || n != 12))
			return false;
		tcp_count(m, f, c, in, odd, partial);
		usual_syn_seg(in, e, seq, wnd, odd && early_is6(e, in), &g);
		g.ack = ack;
		g.flags = TH_SYN | TH_ACK;
		flow_syn_sent_in(m, f, c, &g);
		return true;
	case FLOW_SYN_RECEIVED:
		if (FLOW_UNLIKELY(head != USUAL(5, TH_ACK) || seq != c->rcv_nxt || ack != c->nxt ||
				  n > f->mss || n > f->window))
			return false;
		tcp_count(m, f, c, in, odd, partial);
		tcp_usual_confirmed(m, f, c, ack, wnd, t + 20, n);
		return true;
	case FLOW_FIN_WAIT_1:
		if (FLOW_UNLIKELY(head != USUAL(5, TH_ACK | TH_FIN) || n != 0) ||
		    !tcp_end_is_usual(c, seq, ack))
			return false;
		tcp_count(m, f, c, in, odd, partial);
		tcp_usual_end(m, f, c, ack, wnd, true);
		return true;
	case FLOW_LAST_ACK:
		if (FLOW_UNLIKELY(head != USUAL(5, TH_ACK) || n != 0) ||
		    !tcp_end_is_usual(c, seq, ack))
			return false;
		tcp_count(m, f, c, in, odd, partial);
		tcp_usual_end(m, f, c, ack, wnd, false);
		return true;
	default:
		return false;
	}
}

/* As flow_tcp_straight(), of segments whose checksums nobody can verify, or is to. */
static __attribute__((noinline)) unsigned tcp_straight_partial(struct flow_machine *m,
							       const struct flow_in *in,
							       struct flow_early *e, unsigned i,
							       unsigned n)
{
	bool odd = m->odd;

	while (i < n && FLOW_LIKELY(e[i].l4_len != 0) &&
	       FLOW_LIKELY(in[i].verdict == FLOW_SUM_PARTIAL) &&
	       FLOW_LIKELY(tcp_usual(m, &in[i], &e[i], odd, true)))
		i++;
	return i;
}

/* Works on segments of a burst from number i on. Returns the first that is none of the usual ones,
 * with which nothing was done; n: there is none. */
unsigned flow_tcp_straight(struct flow_machine *m, const struct flow_in *in, struct flow_early *e,
			   unsigned i, unsigned n)
{
	if (i < n && FLOW_UNLIKELY(in[i].verdict == FLOW_SUM_PARTIAL))
		i = tcp_straight_partial(m, in, e, i, n);
	if (FLOW_UNLIKELY(m->odd)) {
		while (i < n && e[i].l4_len != 0 && tcp_usual(m, &in[i], &e[i], true, false))
			i++;
		return i;
	}
	while (i < n && FLOW_LIKELY(e[i].l4_len != 0) &&
	       FLOW_LIKELY(tcp_usual(m, &in[i], &e[i], false, false)))
		i++;
	return i;
}

/* The same for headers that are found in full: of the usual segments those of requests and
 * responses alone. */
static inline bool tcp_is_usual(const struct flow_ver *f, const struct flow_conn *c,
				const struct flow_seg *g)
{
	uint32_t odd = (uint32_t)c->state ^ FLOW_ESTABLISHED;

	odd |= c->side | c->retry;
	odd |= (uint32_t)g->flags ^ TH_ACK;
	odd |= g->len ^ g->piece;
	odd |= (uint32_t)g->segments ^ 1;
	odd |= g->options;
	odd |= (uint32_t)g->bad | g->unverified | f->aside | f->tos;
	return odd == 0 && tcp_data_is_usual(f, c, g->seq, g->ack, g->len);
}

void flow_tcp_in(struct flow_machine *m, uint32_t at, const struct flow_seg *g)
{
	struct flow_conn *c = &m->conn[at];
	struct flow_ver *f = conn_live(m, c);
	uint32_t window;

	if (FLOW_LIKELY(m->straight) && FLOW_LIKELY(tcp_is_usual(f, c, g))) {
		cell_add(&f->k->rx, 1);
		tcp_usual_data(m, f, c, g->ack, g->wnd, g->data, g->len, false);
		return;
	}
	cell_add(&f->k->rx, g->segments);
	if (FLOW_UNLIKELY(f->tos))
		flow_count_tos(m, f, c, g->in, g->segments);
	if (FLOW_UNLIKELY(g->bad)) {
		cell_add(&f->k->bad_checksum, 1);
		return;
	}
	if (g->unverified)
		cell_add(&f->k->unverified, 1);
	if (FLOW_UNLIKELY(c->state == FLOW_SYN_SENT)) {
		flow_syn_sent_in(m, f, c, g);
		return;
	}
	if (FLOW_UNLIKELY(c->state == FLOW_TIME_WAIT)) {
		flow_tcp_time_wait(m, f, c, g);
		return;
	}
	window = conn_rcv_window(m, f, c);
	if (FLOW_UNLIKELY((g->flags & (TH_SYN | TH_RST | TH_ACK)) != TH_ACK)) {
		flow_tcp_odd(m, f, c, g, window);
		return;
	}
	if (FLOW_UNLIKELY(g->seq != c->rcv_nxt || window == 0) &&
	    !flow_tcp_outside(m, f, c, g, window))
		return;
	if (FLOW_UNLIKELY(c->state == FLOW_SYN_RECEIVED)) {
		if (g->ack != c->nxt) {
			flow_send_rst(m, f, c, g->ack, false);
			return;
		}
		conn_server_established(f, c);
		if (!tcp_confirmed(m, f, c, g->ack, g->wnd))
			return;
	} else if (FLOW_UNLIKELY(!flow_ack_in(m, f, c, g))) {
		return;
	}
	if (FLOW_UNLIKELY((c->flags & CF_FIN_SENT) != 0) && c->una == c->nxt &&
	    !tcp_fin_acked(m, f, c))
		return;
	if (FLOW_LIKELY(g->len != 0 || (g->flags & TH_FIN) != 0) &&
	    FLOW_LIKELY(seq_le(c->rcv_nxt, g->seq + g->len)) &&
	    FLOW_UNLIKELY(!tcp_data(m, f, c, g, window)))
		return;
	/* after CLOSING was entered here, our FIN may have been acknowledged already */
	if (FLOW_UNLIKELY(c->state == FLOW_CLOSING) && c->una == c->nxt) {
		flow_send_ack(m, f, c);
		flow_conn_end(m, c, WL_END_CLOSED, true);
		return;
	}
	tcp_send(m, f, c);
}
