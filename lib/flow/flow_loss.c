/* SPDX-License-Identifier: BSD-3-Clause */
/* Losses: what SACK tells (RFC 2018, RFC 6675), when a hole counts as lost (RFC 8985), recovery
 * with and without SACK (RFC 6582), time-outs, tail probes. A hole is a range below `high` that has
 * not arrived; what of it was sent again lies before its `sent`. */
#include "flow_emit.h"

uint32_t flow_pipe(const struct flow_machine *m, const struct flow_conn *c,
		   const struct flow_side *s)
{
	uint32_t pipe;

	if (s->holes == 0 && seq_le(s->high, c->una))
		return c->nxt - c->una;
	pipe = seq_lt(s->high, c->una) ? c->nxt - c->una : c->nxt - s->high;
	for (uint32_t i = s->holes; i != 0;) {
		const struct flow_node *h = node_at(m, i);

		pipe += h->lost ? h->sent - h->from : h->to - h->from;
		i = h->next;
	}
	return pipe;
}

/* A hole has been filled, in whole or in part: what does that tell of the order of things? */
static void loss_arrived(struct flow_side *s, const struct flow_node *h)
{
	if (!h->again)
		s->reordered |= !h->lost;
	else if ((int32_t)(h->when - s->rack) > 0)
		s->rack = h->when;
}

/* Everything below una has arrived. */
void flow_loss_acked(struct flow_machine *m, struct flow_conn *c, struct flow_side *s)
{
	if (seq_lt(s->high, c->una))
		s->high = c->una;
	while (s->holes != 0) {
		struct flow_node *h = node_at(m, s->holes);

		if (seq_le(c->una, h->from))
			return;
		loss_arrived(s, h);
		if (seq_lt(c->una, h->to)) {
			h->from = c->una;
			if (seq_lt(h->sent, h->from))
				h->sent = h->from;
			return;
		}
		flow_node_cut(m, &s->holes);
	}
}

static struct flow_node *loss_hole(struct flow_machine *m, const struct flow_conn *c,
				   uint32_t *link, uint32_t from, uint32_t to)
{
	uint32_t i = flow_node_after(m, link, from, to);
	struct flow_node *h;

	if (i == 0)
		return NULL;
	h = node_at(m, i);
	h->sent = from;
	h->when = m->now_us;
	h->after = c->nxt;
	h->lost = h->again = false;
	return h;
}

static uint32_t *loss_last(struct flow_machine *m, struct flow_side *s)
{
	uint32_t *link = &s->holes;

	while (*link != 0)
		link = &node_at(m, *link)->next;
	return link;
}

/* A block of what has arrived, from..to, of which una < from. */
static void loss_block(struct flow_machine *m, struct flow_conn *c, struct flow_side *s,
		       uint32_t from, uint32_t to)
{
	uint32_t *link = &s->holes;

	while (*link != 0) {
		struct flow_node *h = node_at(m, *link);

		if (seq_le(to, h->from))
			break;
		if (seq_le(h->to, from)) {
			link = &h->next;
			continue;
		}
		loss_arrived(s, h);
		if (seq_lt(h->from, from) && seq_lt(to, h->to)) {
			/* it is cut in two; both go on as they are */
			struct flow_node *rest = loss_hole(m, c, &h->next, to, h->to);

			if (rest == NULL)
				return; /* it will be sent again, needlessly */
			rest->sent = seq_lt(to, h->sent) ? h->sent : to;
			rest->when = h->when;
			rest->after = h->after;
			rest->lost = h->lost;
			rest->again = h->again;
			h->to = from;
			if (seq_lt(h->to, h->sent))
				h->sent = h->to;
			return;
		}
		if (seq_lt(h->from, from)) {
			h->to = from;
			if (seq_lt(h->to, h->sent))
				h->sent = h->to;
			link = &h->next;
		} else if (seq_lt(to, h->to)) {
			h->from = to;
			if (seq_lt(h->sent, to))
				h->sent = to;
			break;
		} else {
			flow_node_cut(m, link);
		}
	}
	if (seq_lt(s->high, to)) {
		if (seq_lt(s->high, from) &&
		    loss_hole(m, c, loss_last(m, s), s->high, from) == NULL)
			return;
		s->high = to;
	}
}

/* Something was sent again in vain: reordering goes further than was thought (RFC 8985 6.2 step 4:
 * a step per round trip). */
static void loss_in_vain(const struct flow_conn *c, struct flow_side *s)
{
	if (seq_lt(c->una, s->reo_round) && s->reo_steps != 0)
		return;
	if (s->reo_steps < 255)
		s->reo_steps++;
	s->reo_round = c->nxt;
	s->reordered = true;
}

/* The options of an ACK. Returns the side cell, which SACK blocks make. *dsack: the first block
 * tells of bytes that came twice (RFC 2883). */
struct flow_side *flow_sack_options(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
				    const struct flow_seg *g, bool *dsack)
{
	const uint8_t *o = g->l4 + 20;
	unsigned n = g->options, len;
	struct flow_side *s = conn_side(m, c);

	(void)f;
	for (unsigned i = 0; i < n && o[i] != 0; i += len) {
		len = 1;
		if (o[i] == 1)
			continue;
		len = i + 1 < n ? o[i + 1] : 0;
		if (len < 2 || i + len > n)
			break;
		if (o[i] != 5)
			continue;
		for (unsigned b = 2; b + 8 <= len; b += 8) {
			uint32_t edge[2];

			memcpy(edge, o + i + b, 8);
			edge[0] = __builtin_bswap32(edge[0]);
			edge[1] = __builtin_bswap32(edge[1]);
			if (b == 2 && seq_lt(edge[0], edge[1]) && seq_le(edge[1], g->ack))
				*dsack = true;
			if (*dsack && b == 2 && s != NULL)
				loss_in_vain(c, s);
			if (!seq_lt(edge[0], edge[1]) || seq_lt(c->nxt, edge[1]) ||
			    !seq_lt(c->una, edge[0]) || !seq_lt(g->ack, edge[0]))
				continue;
			s = flow_side(m, c);
			if (s == NULL)
				return NULL;
			if (seq_lt(s->high, c->una))
				s->high = c->una;
			loss_block(m, c, s, edge[0], edge[1]);
		}
	}
	return s;
}

/* How long a hole may be the work of reordering (RFC 8985 6.2 step 4). */
static uint32_t loss_patience(const struct flow_ver *f, const struct flow_conn *c,
			      const struct flow_side *s, uint32_t sacked)
{
	uint32_t rtt = s->min_rtt != 0 ? s->min_rtt : f->srtt >> 10;

	if (!s->reordered && (s->recovery || sacked > 2u * c->mss))
		return 0;
	rtt = rtt / 4 * (1u + s->reo_steps);
	return s->srtt != 0 && rtt > s->srtt ? s->srtt : rtt;
}

/* Whether a hole is lost now. sacked: bytes above it that have arrived; *wait: how much longer it
 * is to be waited for, if that is less than what was there. */
static bool loss_is(const struct flow_machine *m, const struct flow_ver *f,
		    const struct flow_conn *c, const struct flow_side *s, const struct flow_node *h,
		    uint32_t sacked, uint32_t *wait)
{
	uint32_t patience = loss_patience(f, c, s, sacked), age = m->now_us - h->when;
	uint32_t srtt = s->srtt != 0 ? s->srtt : f->srtt >> 10;

	if (h->again) {
		/* What was sent behind the repair has arrived, and the repair has not. */
		if (!seq_lt(h->after, s->high) && (int32_t)(s->rack - h->when) <= 0)
			return false;
		patience += srtt;
	}
	if (age >= patience)
		return true;
	if (patience - age < *wait)
		*wait = patience - age;
	return false;
}

static void loss_enter(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
		       struct flow_side *s)
{
	cell_add(&f->k->fast_recovery, 1);
	flow_cc_loss(m, f, c, s);
	c->cwnd = s->ssthresh;
	s->recover = c->nxt;
	s->lost_all = false;
	s->resend_one = true;
	s->tail = 0;
	s->rack = m->now_us - 1; /* of what is sent again from now on nothing has arrived */
	s->recovery = true;
	c->flags &= (uint16_t)~CF_TIMED;
}

void flow_loss_detect(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
		      struct flow_side *s)
{
	uint32_t missing = 0, i, wait = UINT32_MAX;
	bool found = false, waited = s->reo;

	if ((c->flags & CF_SACK) == 0)
		return;
	for (i = s->holes; i != 0; i = node_at(m, i)->next)
		missing += node_at(m, i)->to - node_at(m, i)->from;
	for (i = s->holes; i != 0;) {
		struct flow_node *h = node_at(m, i);

		missing -= h->to - h->from;
		if ((!h->lost || (h->again && h->sent == h->to)) &&
		    loss_is(m, f, c, s, h, s->high - h->to - missing, &wait)) {
			h->lost = true;
			h->again = false;
			h->sent = h->from;
			found = true;
		}
		i = h->next;
	}
	if (found && !s->recovery && !s->lost_all)
		loss_enter(m, f, c, s);
	s->reo = wait != UINT32_MAX;
	if (s->reo)
		conn_timer(m, c, flow_ticks((uint64_t)wait << 10));
	else if (waited) /* that timer was of the reordering window */
		conn_timer(m, c, conn_rto_ticks(m, f, c));
}

/* Sends lost holes again, as far as the window allows. false: the sink is full. */
bool flow_loss_resend(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
		      struct flow_side *s)
{
	uint32_t cwnd =
		f->spec->congestion == FLOW_NO_CONGESTION ? 0x7fffffff : (uint32_t)c->cwnd * c->mss;
	uint32_t pipe = flow_pipe(m, c, s), next;

	for (uint32_t i = s->holes; i != 0;) {
		struct flow_node *h = node_at(m, i);

		while (h->lost && seq_lt(h->sent, h->to)) {
			if (pipe >= cwnd && !s->resend_one)
				return true;
			if (!flow_send_again(m, f, c, h->sent, h->to, &next))
				return false;
			s->resend_one = false;
			pipe += next - h->sent;
			h->sent = next;
			h->again = true;
			h->when = m->now_us;
			h->after = c->nxt;
			if ((c->flags & CF_TIMER) == 0)
				conn_timer(m, c, conn_rto_ticks(m, f, c));
		}
		i = h->next;
	}
	return true;
}

/* ---- without SACK ---- */

/* The segment at una is lost. */
static void loss_front(struct flow_machine *m, struct flow_conn *c, struct flow_side *s)
{
	uint32_t to = c->nxt - c->una > c->mss ? c->una + c->mss : c->nxt;
	struct flow_node *h;

	while (s->holes != 0)
		flow_node_cut(m, &s->holes);
	h = loss_hole(m, c, &s->holes, c->una, to);
	if (h != NULL)
		h->lost = true;
	s->high = to;
	s->resend_one = true;
}

/* A duplicate acknowledgement (RFC 5681 3.2, RFC 3042, RFC 6582 3.2). */
void flow_loss_dup(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	struct flow_side *s = conn_side(m, c);

	if (s != NULL && s->recovery) {
		if (c->cwnd < UINT16_MAX)
			c->cwnd++;
		return;
	}
	if (conn_dup(c) < 7)
		conn_set_dup(c, conn_dup(c) + 1);
	if (conn_dup(c) < 3) { /* limited transmit */
		c->cwnd += conn_dup(c);
		flow_output(m, f, c);
		c->cwnd -= conn_dup(c);
		return;
	}
	if (conn_dup(c) > 3)
		return;
	s = flow_side(m, c);
	if (s == NULL || s->lost_all)
		return;
	loss_enter(m, f, c, s);
	c->cwnd += 3;
	loss_front(m, c, s);
	conn_timer(m, c, conn_rto_ticks(m, f, c));
}

/* A part of what was on its way has arrived: the next hole is there (RFC 6582 3.2 step 5). */
void flow_loss_partial(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
		       struct flow_side *s, uint32_t bytes)
{
	uint32_t segments = bytes / c->mss;

	(void)f;
	if (segments >= c->cwnd)
		segments = c->cwnd - 1u;
	c->cwnd = (uint16_t)(c->cwnd - segments + (segments > 0));
	loss_front(m, c, s);
}

/* ---- time ---- */

/* The retransmission time-out: all that is on its way counts as lost (RFC 6298 5.4, RFC 5681 3.1,
 * RFC 6675 5.1). */
void flow_loss_timeout(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	struct flow_side *s = flow_side(m, c);
	uint32_t next;

	c->flags &= (uint16_t)~CF_TIMED;
	conn_set_dup(c, 0);
	cell_add(&f->k->rto, 1);
	if (s == NULL) {
		flow_send_again(m, f, c, c->una, c->nxt, &next);
		return;
	}
	if (c->retry == 1 || !s->lost_all) { /* RFC 5681: once per flight */
		flow_cc_loss(m, f, c, s);
	}
	s->recovery = false;
	c->cwnd = 1;
	s->lost_all = true;
	s->recover = c->nxt;
	s->tail = 0;
	s->rack = m->now_us - 1;
	s->reo = false;
	s->rtt_on = false;
	if (seq_lt(s->high, c->una))
		s->high = c->una;
	for (uint32_t i = s->holes; i != 0; i = node_at(m, i)->next) {
		struct flow_node *h = node_at(m, i);

		h->lost = true;
		h->again = false;
		h->sent = h->from;
	}
	if (seq_lt(s->high, c->nxt)) {
		struct flow_node *h = loss_hole(m, c, loss_last(m, s), s->high, c->nxt);

		if (h == NULL) {
			flow_send_again(m, f, c, c->una, c->nxt, &next);
			return;
		}
		h->lost = true;
		s->high = c->nxt;
	}
	s->resend_one = true;
	flow_output(m, f, c);
}

/* The path takes only smaller segments than those on their way: they go again, without a word
 * about congestion (RFC 1191 6.5). */
void flow_loss_smaller(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	struct flow_side *s = flow_side(m, c);
	struct flow_node *h;

	c->flags &= (uint16_t)~CF_TIMED;
	if (s == NULL || c->una == c->nxt)
		return;
	while (s->holes != 0)
		flow_node_cut(m, &s->holes);
	h = loss_hole(m, c, &s->holes, c->una, c->nxt);
	if (h == NULL)
		return;
	h->lost = true;
	s->high = c->nxt;
	s->resend_one = true;
	s->recover = c->nxt;
	s->lost_all = true;
	conn_timer(m, c, conn_rto_ticks(m, f, c));
	flow_push(m, f, c);
}

/* RFC 8985 7.3: a segment that shows whether the last ones have arrived. */
void flow_tail_probe(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	struct flow_side *s = flow_side(m, c);
	uint32_t was = c->nxt, from, next;

	if (s == NULL || c->una == c->nxt) {
		conn_timer(m, c, conn_rto_ticks(m, f, c));
		return;
	}
	cell_add(&f->k->tail_probe, 1);
	if (c->msg_end != c->nxt && (c->flags & CF_FIN_SENT) == 0) {
		uint16_t cwnd = c->cwnd;

		c->cwnd = (uint16_t)((c->nxt - c->una + c->mss - 1) / c->mss + 1);
		flow_output(m, f, c);
		c->cwnd = cwnd;
	}
	s->tail = 1;
	if (c->nxt == was) {
		from = c->nxt - c->una > c->mss ? c->nxt - c->mss : c->una;
		flow_send_again(m, f, c, from, c->nxt, &next);
		s->tail = 2;
	}
	s->tail_seq = c->nxt;
	conn_timer(m, c, conn_rto_ticks(m, f, c));
}
