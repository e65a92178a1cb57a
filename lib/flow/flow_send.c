/* SPDX-License-Identifier: BSD-3-Clause */
/* Data: which bytes go next, and segments of them (RFC 9293 3.8.6, RFC 5681 3). */
#include "flow_emit.h"
#include "flow_servers.h"

/* What lies at a sequence number. */
struct place {
	const struct wl_content *content;
	uint64_t offset; /* in the content */
	uint32_t end;    /* of the message */
};

FLOW_ASIDE static void send_place_old(const struct flow_machine *m, const struct flow_conn *c,
				      uint32_t seq, struct place *p)
{
	const struct flow_side *s = conn_side(m, c);
	uint32_t i = s == NULL ? 0 : s->older;

	for (; i != 0; i = node_at(m, i)->next) {
		const struct flow_node *n = node_at(m, i);

		if (!seq_lt(seq, n->to))
			continue;
		p->content = m->content[n->content].content;
		p->offset = seq - n->from + (n->past_head ? p->content->head_len : 0);
		p->end = n->to;
		return;
	}
	/* never: each byte from una on belongs to a message */
	p->content = m->content[c->content].content;
	p->offset = 0;
	p->end = c->msg_end;
}

static inline void send_place(const struct flow_machine *m, const struct flow_conn *c, uint32_t seq,
			      struct place *p)
{
	if (FLOW_UNLIKELY(seq_lt(seq, c->msg_seq))) {
		send_place_old(m, c, seq, p);
		return;
	}
	p->content = m->content[c->content].content;
	p->offset = seq - c->msg_seq;
	if (FLOW_UNLIKELY(c->side != 0) && conn_side(m, c)->past_head)
		p->offset += p->content->head_len;
	p->end = c->msg_end;
}

FLOW_ASIDE static uint32_t send_copy_buffer(const struct flow_machine *m, const struct flow_conn *c,
					    uint32_t seq, uint8_t *to, uint32_t n)
{
	const struct flow_buffers *b = &m->buffers[c->mem[0] - 1];
	uint32_t at = (b->tx_head + (seq - c->una)) % FLOW_BUFFER;
	uint32_t first = FLOW_BUFFER - at < n ? FLOW_BUFFER - at : n;

	memcpy(to, b->tx + at, first);
	memcpy(to + first, b->tx, n - first);
	return wl_sum(to, n);
}

/* Fewer bytes are written faster than a buffer that holds them is found. */
#define SEND_FILLED 256

/* Whether the filling of a message can be sent without writing it. */
static inline bool send_has_rest(const struct flow_ver *f, const struct place *at)
{
	return !f->buffered && (at->content->fill & WL_FILL_CHUNKED) == 0;
}

/* What of a super-frame's payload is not written: so many bytes, its last ones, and where they
 * are. */
struct send_rest {
	uint32_t fill, rest;
};

/* The payload of a super-frame, n bytes at p: the head is written, what follows it is there
 * already. Whoever cuts it completes its checksums. */
FLOW_ASIDE static struct send_rest send_super(struct flow_machine *m, const struct flow_ver *f,
					      const struct flow_conn *c, const struct place *at,
					      uint8_t *p, uint32_t seq, uint32_t n)
{
	struct send_rest r = {0};
	uint32_t head = 0;

	cell_add(&f->k->tx, (n - 1) / c->mss); /* and one more, as of any segment */
	if (f->buffered) {
		send_copy_buffer(m, c, seq, p, n);
	} else if (!send_has_rest(f, at)) {
		wl_content_put(at->content, at->offset, p, n);
	} else {
		if (at->offset < at->content->head_len)
			head = (uint32_t)(at->content->head_len - at->offset);
		if (head > n)
			head = n;
		wl_content_put(at->content, at->offset, p, head);
		r.fill = n - head;
		if (r.fill != 0)
			r.rest = wl_content_rest(at->content, at->offset + head);
	}
	return r;
}

/* One segment, or a super-frame, of n bytes at seq. */
static FLOW_INLINE bool send_here(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
				  const struct place *at, uint32_t seq, uint32_t n, uint8_t flags)
{
	struct emit e = {.flags = flags | TH_ACK, .seq = seq, .ack = c->rcv_nxt, .payload = n};
	bool filled = FLOW_UNLIKELY((m->sink->offload & FLOW_OFFLOAD_FILL) != 0) && n > 0 &&
		      at->content->fill == WL_FILL_X && at->offset >= at->content->head_len &&
		      !f->buffered && n >= SEND_FILLED && n <= c->mss;
	uint8_t *p;

	if (FLOW_UNLIKELY(!emit_room(m, filled ? FLOW_FILLED : FLOW_PLAIN, &e.room))) {
		flow_blocked(m, c);
		return false;
	}
	e.path = conn_path(m, f, c);
	e.window = emit_window(m, f, c);
	p = emit_begin(&e) + e.path->l4 + 20;
	if (FLOW_UNLIKELY(n > c->mss)) {
		struct send_rest r = send_super(m, f, c, at, p, seq, n);
		e.segment = c->mss;
		e.fill = r.fill;
		e.rest = r.rest;
	} else if (FLOW_UNLIKELY(filled)) {
		e.fill = n;
		/* the longer headers of another path may have been there */
		if (FLOW_LIKELY(e.path->l4 <= 44))
			memcpy(p - e.path->l4 - 20 + 64, e.path->bytes + 64, 128);
		/* a device that completes checksums needs none of the payload */
		e.payload_sum = emit_offload(m) ? 0 : wl_content_sum(at->content, at->offset, n);
	} else if (FLOW_UNLIKELY(f->buffered)) {
		e.payload_sum = send_copy_buffer(m, c, seq, p, n);
	} else if (FLOW_LIKELY(n != 0)) {
		e.payload_sum = wl_content_put(at->content, at->offset, p, n);
	}
	cell_add(&f->k->tx, 1);
	emit_tcp(m, f, c, &e);
	return true;
}

static __attribute__((noinline)) bool send_segment(struct flow_machine *m, struct flow_ver *f,
						   struct flow_conn *c, const struct place *at,
						   uint32_t seq, uint32_t n, uint8_t flags)
{
	return send_here(m, f, c, at, seq, n, flags);
}

/* Sends again what fits into one segment of from..to. *next: what comes behind it. */
bool flow_send_again(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c, uint32_t from,
		     uint32_t to, uint32_t *next)
{
	struct place at = {0};
	uint32_t n = 0;
	uint8_t flags = 0;

	if (seq_lt(from, c->msg_end)) {
		send_place(m, c, from, &at);
		n = seq_lt(at.end, to) ? at.end - from : to - from;
		if (n > c->mss)
			n = c->mss;
	}
	if ((c->flags & CF_FIN_SENT) != 0 && from + n == c->msg_end)
		flags = TH_FIN;
	else if (from + n == c->msg_end)
		flags = TH_PSH;
	if (n == 0 && flags != TH_FIN) {
		*next = to;
		return true;
	}
	if (!send_segment(m, f, c, &at, from, n, flags))
		return false;
	if (flags == TH_FIN)
		cell_add(&f->k->fin_retransmitted, 1);
	cell_add(&f->k->retransmitted, 1);
	/* RFC 6298 3: whose acknowledgement it will be is not known */
	c->flags &= (uint16_t)~CF_TIMED;
	if (c->side != 0) {
		struct flow_side *s = conn_side(m, c);

		s->resent++;
		if (seq_lt(from, s->rtt_seq))
			s->rtt_on = false;
	}
	*next = from + n + (flags == TH_FIN);
	return true;
}

/* A tail probe if that can help, else the retransmission time-out. */
void flow_flight_timer(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	const struct flow_side *s = conn_side(m, c);
	uint32_t rto = conn_rto_ticks(m, f, c), probe;
	uint64_t srtt = f->srtt;

	if ((c->flags & CF_SACK) != 0 && c->nxt - c->una > c->mss && c->retry == 0 &&
	    (s == NULL || (s->holes == 0 && !s->recovery && s->tail == 0))) {
		if (s != NULL && s->srtt != 0)
			srtt = (uint64_t)s->srtt << 10;
		/* RFC 8985 7.2. Below a sixteenth of the floor it would only measure how punctual
		 * the two ends are. */
		probe = flow_ticks(2 * srtt);
		if (probe < f->rto_floor_ticks / 16)
			probe = f->rto_floor_ticks / 16;
		if (srtt != 0 && probe < rto) {
			conn_timer(m, c, probe);
			c->flags |= CF_PROBE;
			return;
		}
	}
	conn_timer(m, c, rto);
}

/* The end of an endless message, and of one with more than msg_end can hold, moves on. */
static void send_extend(struct flow_machine *m, struct flow_conn *c, struct flow_side *s)
{
	uint32_t room = (1u << 30) - (c->msg_end - c->una);

	if (s->endless) {
		c->msg_end = c->una + (1u << 30);
	} else if (s->more != 0 && (int32_t)room > 0) {
		if (room > s->more)
			room = (uint32_t)s->more;
		c->msg_end += room;
		s->more -= room;
	}
	/* offsets stay small: whole periods of the filling are taken off */
	if (c->una - c->msg_seq > 1u << 30 && seq_lt(c->msg_seq, c->una)) {
		uint32_t head = m->content[c->content].content->head_len;

		if (!s->past_head) {
			c->msg_seq += head;
			s->past_head = true;
		}
		c->msg_seq += (c->una - c->msg_seq) / WL_PERIOD * WL_PERIOD;
	}
}

static inline uint32_t send_most(const struct flow_machine *m, const struct flow_conn *c,
				 const struct flow_ver *f, const struct place *at)
{
	uint32_t most, room = m->sink->room_bytes - f->path->l4 - 60;

	if ((m->sink->offload & FLOW_OFFLOAD_SEGMENT) == 0 || !f->path->cut)
		return c->mss;
	most = m->sink->max_super;
	if (most > room && (!send_has_rest(f, at) || at->content->head_len > at->offset + room))
		most = room;
	return most < c->mss ? c->mss : most / c->mss * c->mss;
}

static bool send_fin(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	struct place at = {0};

	if (!send_segment(m, f, c, &at, c->nxt, 0, TH_FIN))
		return false;
	return true;
}

static inline void send_fin_sent(struct flow_conn *c)
{
	c->nxt++;
	c->flags |= CF_FIN_SENT;
	c->state = c->state == FLOW_CLOSE_WAIT ? FLOW_LAST_ACK : FLOW_FIN_WAIT_1;
}

/* How many of `left` bytes may go now; 0: none. flight: bytes from una to nxt. */
static inline uint32_t send_allowed(const struct flow_conn *c, const struct flow_side *s,
				    uint32_t left, uint32_t most, uint32_t flight, uint32_t window,
				    uint32_t pipe, uint32_t cwnd)
{
	uint32_t n;

	if (flight >= window || pipe >= cwnd)
		return 0;
	n = window - flight < cwnd - pipe ? window - flight : cwnd - pipe;
	if (n > left)
		n = left;
	if (n > most)
		n = most;
	/* RFC 9293 3.8.6.2.1: no small segments because of a small window, unless nothing else
	 * will move it and it is half of what the peer can take */
	if (n < c->mss && n < left &&
	    (flight > 0 || s == NULL || s->most_window == 0 || n < s->most_window / 2))
		return 0;
	if (n > c->mss && n < left)
		n -= n % c->mss;
	return n;
}

FLOW_ASIDE void flow_window_small(struct flow_machine *m, struct flow_conn *c, uint32_t window)
{
	struct flow_side *s = flow_side(m, c);

	if (s != NULL && s->most_window < window)
		s->most_window = window;
}

/* How long to wait with nothing on its way: for an open window to get larger (RFC 9293 3.8.6.2.1:
 * 0.1 to 1 s), or with a probe of a closed one. */
static uint32_t send_patience(const struct flow_machine *m, const struct flow_ver *f,
			      const struct flow_conn *c, uint32_t window)
{
	uint32_t rto = conn_rto_ticks(m, f, c), least = flow_ticks(100000000),
		 most = flow_ticks(1000000000);

	if (window == 0)
		return rto;
	return rto < least ? least : rto > most ? most : rto;
}

/* Waited for long enough: what fits goes. false: the window is closed. */
bool flow_window_override(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	struct flow_side *s = conn_side(m, c);
	uint32_t window = conn_send_window(c, s);

	if (window == 0)
		return false;
	s = flow_side(m, c);
	if (s == NULL)
		return false;
	s->most_window = window;
	flow_push(m, f, c);
	return true;
}

static __attribute__((noinline)) bool send_much(struct flow_machine *m, struct flow_ver *f,
						struct flow_conn *c)
{
	struct flow_side *s = conn_side(m, c);
	uint32_t window = conn_send_window(c, s), cwnd, pipe;
	bool sent = false, alone;

	if (FLOW_UNLIKELY(s != NULL)) {
		if (s->holes != 0 && !flow_loss_resend(m, f, c, s))
			return false;
		send_extend(m, c, s);
		pipe = flow_pipe(m, c, s);
	} else {
		pipe = c->nxt - c->una;
	}
	if ((c->flags & CF_FIN_SENT) != 0)
		return true;
	alone = c->nxt == c->una;
	if (alone && c->cwnd > f->iw)
		flow_cc_restart(m, f, c);
	cwnd = f->spec->congestion == FLOW_NO_CONGESTION ? 0x7fffffff : (uint32_t)c->cwnd * c->mss;
	for (;;) {
		uint32_t left = c->msg_end - c->nxt, n = 0;
		struct place at = {0};
		uint8_t flags = 0;

		if (left != 0) {
			send_place(m, c, c->nxt, &at);
			n = send_allowed(c, s, at.end - c->nxt, send_most(m, c, f, &at),
					 c->nxt - c->una, window, pipe, cwnd);
			if (n == 0)
				break;
			flags = n == at.end - c->nxt ? TH_PSH : 0;
		}
		if ((c->flags & CF_FIN_ASKED) != 0 && n == left &&
		    (s == NULL || (s->more == 0 && !s->reset)))
			flags |= TH_FIN;
		else if (left == 0)
			break;
		if (n != 0 ? !send_segment(m, f, c, &at, c->nxt, n, flags) : !send_fin(m, f, c))
			break;
		if (c->nxt == c->una && (c->flags & CF_TIMED) == 0) {
			conn_set_stamp(c, m->now_us);
		} else if (FLOW_UNLIKELY(s != NULL && !s->rtt_on)) {
			s->rtt_on = true;
			s->rtt_seq = c->nxt + n;
			s->rtt_then = m->now_us;
		}
		c->nxt += n;
		pipe += n;
		sent = true;
		cell_add(&f->k->tx_bytes, n);
		if (FLOW_UNLIKELY(f->by_server))
			flow_server_sent(f, c, n);
		if ((flags & TH_FIN) != 0) {
			send_fin_sent(c);
			break;
		}
	}
	if (sent) {
		if (alone || (c->flags & (CF_TIMER | CF_PROBE)) != CF_TIMER)
			flow_flight_timer(m, f, c);
	} else if (c->nxt == c->una && c->msg_end != c->nxt &&
		   (c->flags & (CF_TIMER | CF_BLOCKED)) == 0) {
		/* the window is closed: RFC 9293 3.8.6.1 */
		cell_add(&f->k->window_full, 1);
		conn_timer(m, c, send_patience(m, f, c, window));
	}
	return (c->flags & CF_BLOCKED) == 0;
}

/* The usual case at once: all that there is to send fits into one segment, and may go. */
static FLOW_INLINE bool send_small(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	uint32_t flight = c->nxt - c->una, n = c->msg_end - c->nxt;
	struct place at = {.content = m->content[c->content].content,
			   .offset = c->nxt - c->msg_seq,
			   .end = c->msg_end};
	bool fin = (c->flags & CF_FIN_ASKED) != 0;

	if (FLOW_UNLIKELY(!send_here(m, f, c, &at, c->nxt, n,
				     (n != 0 ? TH_PSH : 0) | (fin ? TH_FIN : 0))))
		return false;
	c->nxt += n;
	cell_add(&f->k->tx_bytes, n);
	if (FLOW_UNLIKELY(f->by_server))
		flow_server_sent(f, c, n);
	if (fin)
		send_fin_sent(c);
	if (FLOW_LIKELY(flight == 0)) {
		if (FLOW_UNLIKELY(c->cwnd > f->iw))
			flow_cc_restart(m, f, c);
		if ((c->flags & CF_TIMED) == 0) {
			conn_set_stamp(c, m->now_us);
		}
		conn_timer(m, c, conn_rto_ticks(m, f, c));
	} else if ((c->flags & (CF_TIMER | CF_PROBE)) != CF_TIMER) {
		flow_flight_timer(m, f, c);
	}
	return true;
}

FLOW_INLINE bool flow_output(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	uint32_t left = c->msg_end - c->nxt, after = c->msg_end - c->una;

	if (FLOW_LIKELY(c->side == 0)) {
		if (FLOW_UNLIKELY((c->flags & CF_FIN_SENT) != 0 ||
				  (left == 0 && (c->flags & CF_FIN_ASKED) == 0)))
			return true;
		if (FLOW_LIKELY(left <= c->mss && after <= conn_window(c) &&
				after <= (uint32_t)c->cwnd * c->mss && seq_le(c->msg_seq, c->nxt)))
			return send_small(m, f, c);
	}
	return send_much(m, f, c);
}

/* A byte beyond the window, which the peer must answer. nxt stays: it may be refused. */
bool flow_send_probe(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	struct place at;

	send_place(m, c, c->una, &at);
	cell_add(&f->k->window_probe, 1);
	return send_segment(m, f, c, &at, c->una, 1, 0);
}

/* The place of the one that has so many before it. */
static inline uint32_t *send_waits(struct flow_machine *m, uint32_t before)
{
	return &m->blocked[(m->blocked_at + before) & (FLOW_BLOCKED - 1)];
}

void flow_blocked(struct flow_machine *m, struct flow_conn *c)
{
	if ((c->flags & CF_BLOCKED) != 0)
		return;
	c->flags |= CF_BLOCKED;
	if (m->nblocked < FLOW_BLOCKED)
		*send_waits(m, m->nblocked++) = conn_index(m, c);
	else
		conn_visit_in(m, c, 1);
}

/* What a connection owed when the sink was full. */
void flow_retry_one(struct flow_machine *m, struct flow_conn *c)
{
	struct flow_ver *f;

	if ((c->flags & CF_BLOCKED) == 0)
		return;
	c->flags &= (uint16_t)~CF_BLOCKED;
	f = conn_live(m, c);
	switch (c->state) {
	case FLOW_FREE:
		return;
	case FLOW_UDP:
		flow_udp_retry(m, f, c);
		return;
	case FLOW_SYN_SENT:
	case FLOW_SYN_RECEIVED:
		flow_send_syn(m, f, c);
		return;
	case FLOW_TIME_WAIT:
		break;
	default:
		if (!flow_push(m, f, c))
			return;
	}
	if ((c->flags & (CF_ACK | CF_BLOCKED)) == CF_ACK)
		flow_send_ack(m, f, c);
	/* it has rested, and only this ACK was left (flow_state_timer) */
	if (c->state == FLOW_TIME_WAIT && (c->flags & (CF_TIMER | CF_BLOCKED)) == 0)
		flow_conn_free(m, c);
}

/* Whether there is no more room for those behind a connection that has been tried: the sink is
 * full, or that one was stopped again, and buffers of neither kind are left. */
static bool send_no_room(const struct flow_sink *s, bool stopped)
{
	return s->nout == s->max_out ||
	       (stopped && s->nroom[FLOW_PLAIN] == 0 && s->nroom[FLOW_FILLED] == 0);
}

void flow_retry(struct flow_machine *m)
{
	for (uint32_t n = m->nblocked; n > 0; n--) {
		uint32_t at = *send_waits(m, 0), left = --m->nblocked;
		bool stopped;

		m->blocked_at = (m->blocked_at + 1) & (FLOW_BLOCKED - 1);
		flow_retry_one(m, &m->conn[at]);
		stopped = m->nblocked > left;
		if (!send_no_room(m->sink, stopped))
			continue;
		if (stopped) { /* it stays the first one */
			m->blocked_at = (m->blocked_at - 1) & (FLOW_BLOCKED - 1);
			*send_waits(m, 0) = at;
		}
		return;
	}
}

/* The newest message becomes an older one. */
FLOW_ASIDE static bool send_keep_message(struct flow_machine *m, struct flow_conn *c)
{
	struct flow_side *s = flow_side(m, c);
	struct flow_node *n;
	uint32_t *link, i;

	if (s == NULL)
		return false;
	for (link = &s->older; *link != 0; link = &node_at(m, *link)->next)
		;
	i = flow_node_after(m, link, c->msg_seq, c->msg_end);
	if (i == 0)
		return false;
	n = node_at(m, i);
	n->content = c->content;
	n->past_head = s->past_head;
	return true;
}

/* Whether another message of that content is only more of the same. */
static bool send_is_same(const struct flow_machine *m, const struct flow_conn *c, uint16_t at)
{
	const struct wl_content *was = m->content[c->content].content;

	return at == c->content && was->fill == WL_FILL_X && was->head_len == 0;
}

/* Messages that are longer than msg_end can tell. */
FLOW_ASIDE static bool send_long_message(struct flow_machine *m, struct flow_conn *c, uint64_t *n)
{
	struct flow_side *s = flow_side(m, c);

	if (s == NULL)
		return false;
	if (*n == WL_ENDLESS) {
		s->endless = true;
		*n = 0;
	} else if (*n > 1u << 29) {
		s->more = *n - (1u << 29);
		*n = 1u << 29;
	}
	return true;
}

/* Appends a message of n bytes. false: there is no memory to remember the one before. */
FLOW_INLINE bool flow_message(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
			      uint16_t content, uint64_t n)
{
	uint16_t at = (uint16_t)(f->first + (FLOW_LIKELY(content < f->ncontent) ? content : 0));
	struct flow_side *s = conn_side(m, c);

	if (FLOW_UNLIKELY((c->flags & CF_FIN_ASKED) != 0) || FLOW_UNLIKELY(s != NULL && s->endless))
		return true; /* nothing comes behind these */
	if (FLOW_UNLIKELY(s != NULL && s->more != 0)) {
		if (!send_is_same(m, c, at))
			return false;
		s->more += n;
		return true;
	}
	if (FLOW_LIKELY(c->una == c->msg_end) || !send_is_same(m, c, at)) {
		if (FLOW_UNLIKELY(seq_lt(c->una, c->msg_end)) && c->msg_seq != c->msg_end &&
		    !send_keep_message(m, c))
			return false;
		c->msg_seq = c->msg_end;
		c->content = at;
		s = conn_side(m, c);
		if (FLOW_UNLIKELY(s != NULL))
			s->past_head = false;
	}
	if (FLOW_UNLIKELY(n > 1u << 20)) {
		if (!send_long_message(m, c, &n))
			return false;
		if (n == 0)
			return true;
	}
	c->msg_end += (uint32_t)n;
	if (FLOW_UNLIKELY(f->wl->wl->may_send != NULL))
		c->flags |= CF_MAY_SEND;
	return true;
}
