/* SPDX-License-Identifier: BSD-3-Clause */
/* Acknowledgements that came: what they free, what they allow, and what they tell of losses
 * (RFC 9293 3.10.7.4, RFC 5681, RFC 6298). */
#include "flow_emit.h"
#include "flow_servers.h"

/* Messages of which all has arrived. */
static void ack_messages(struct flow_machine *m, const struct flow_conn *c, struct flow_side *s)
{
	while (s->older != 0 && seq_le(node_at(m, s->older)->to, c->una))
		flow_node_cut(m, &s->older);
}

/* RFC 8985 7.4.2: whether a tail probe has repaired a loss, which then counts as one. */
FLOW_ASIDE static void ack_tail(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
				struct flow_side *s, const struct flow_seg *g, bool dsack)
{
	if (s->tail == 0 || seq_lt(g->ack, s->tail_seq))
		return;
	if (s->tail == 2 && !dsack && seq_lt(s->tail_seq, g->ack))
		flow_cc_loss(m, f, c, s);
	s->tail = 0;
}

/* The end of a recovery. */
static void ack_recovered(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
			  struct flow_side *s)
{
	(void)m;
	(void)f;
	if (s->recovery) {
		s->recovery = false;
		c->cwnd = s->ssthresh; /* RFC 6582 3.2 (3), RFC 6675 5 */
		conn_set_dup(c, 0);
	}
	s->lost_all = false;
}

static inline void ack_rtt(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
			   struct flow_side *s)
{
	if (FLOW_LIKELY((c->flags & CF_TIMED) != 0))
		conn_rtt(m, f, c);
	if (FLOW_UNLIKELY(s != NULL) && s->rtt_on && seq_le(s->rtt_seq, c->una)) {
		s->rtt_on = false;
		flow_rtt_sample(m, f, c, m->now_us - s->rtt_then);
	}
}

/* New data has been acknowledged by a connection with a side cell. */
FLOW_ASIDE static void ack_advance_side(struct flow_machine *m, struct flow_ver *f,
					struct flow_conn *c, struct flow_side *s, uint32_t bytes,
					bool cwnd_full)
{
	bool in_recovery = s->recovery;

	flow_loss_acked(m, c, s);
	ack_messages(m, c, s);
	if (!in_recovery)
		conn_set_dup(c, 0);
	if (in_recovery || s->lost_all) {
		if (seq_le(s->recover, c->una))
			ack_recovered(m, f, c, s);
		else if (in_recovery && (c->flags & CF_SACK) == 0)
			flow_loss_partial(m, f, c, s, bytes);
	}
	/* RFC 6582 3.2 (3): what ends a recovery sets the window, it does not open it */
	if (!in_recovery && (cwnd_full || s->lost_all))
		flow_cc_acked(m, f, c, s, bytes);
}

/* An acknowledgement that tells nothing new. */
static __attribute__((noinline)) void ack_again(struct flow_machine *m, struct flow_ver *f,
						struct flow_conn *c, const struct flow_seg *g,
						uint32_t flight)
{
	uint16_t was = c->wnd;

	if (!seq_lt(g->seq, c->rcv_nxt))
		conn_new_window(c, conn_side(m, c), g->wnd);
	if (flight == 0) {
		/* an answer to a probe of the window */
		if (c->msg_end != c->nxt) {
			conn_set_dup(c, 0);
			if (c->wnd != 0 && was == 0) {
				c->retry = 0;
				conn_timer_stop(m, c);
			}
		}
		return;
	}
	if (g->len != 0 || (g->flags & TH_FIN) != 0 || c->wnd != was)
		return;
	cell_add(&f->k->dup_ack, 1);
	if ((c->flags & CF_SACK) == 0)
		flow_loss_dup(m, f, c);
}

/* What is acknowledged was never sent, or lies far back. Returns whether the segment counts. */
FLOW_ASIDE static bool ack_odd(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
			       const struct flow_seg *g)
{
	/* a probe of a closed window was taken */
	if (g->ack == c->nxt + 1 && c->una == c->nxt && c->msg_end != c->nxt &&
	    (c->flags & CF_TIMER) != 0) {
		c->nxt++;
		cell_add(&f->k->tx_bytes, 1);
		if (f->by_server)
			flow_server_sent(f, c, 1);
		return true;
	}
	if (seq_lt(c->nxt, g->ack)) {
		flow_challenge(m, f, c);
		return false;
	}
	/* RFC 5961 5.2: older than any window that the peer can have offered */
	if (c->una - g->ack > (uint32_t)65535 << (c->wscale == CONN_UNSCALED ? 0 : c->wscale)) {
		flow_challenge(m, f, c);
		return false;
	}
	return true;
}

/* The timer of a flight whose front has moved on (RFC 6298 5.2 and 5.3). */
static inline void ack_timer(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	if (FLOW_LIKELY(c->una == c->nxt)) {
		conn_timer_stop(m, c);
		if (FLOW_UNLIKELY(c->cwnd > f->iw))
			conn_stamp_at(c, m->now_tick);
	} else {
		flow_flight_timer(m, f, c);
	}
}

FLOW_INLINE bool flow_ack_in(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
			     const struct flow_seg *g)
{
	struct flow_side *s;
	uint32_t bytes = g->ack - c->una, flight = c->nxt - c->una;
	bool full, dsack = false;

	if (FLOW_UNLIKELY(bytes > flight)) {
		if (!ack_odd(m, f, c, g))
			return false;
		flight = c->nxt - c->una;
		if (bytes > flight)
			return true; /* old */
	}
	s = conn_side(m, c);
	if (FLOW_UNLIKELY(g->options != 0) && (c->flags & CF_SACK) != 0 && flight != 0)
		s = flow_sack_options(m, f, c, g, &dsack);
	if (FLOW_UNLIKELY(bytes == 0)) {
		ack_again(m, f, c, g, flight);
	} else {
		/* RFC 9293 3.10.7.4: a newer acknowledgement brings the newer window */
		conn_new_window(c, s, g->wnd);
		/* cwnd says something only where it was the limit (RFC 7661 3) */
		full = 2 * (uint64_t)flight >= (uint64_t)c->cwnd * c->mss;
		c->una = g->ack;
		c->retry = 0;
		if (FLOW_UNLIKELY(f->spec->buffered))
			flow_buffer_acked(m, c, bytes);
		ack_rtt(m, f, c, s);
		if (FLOW_UNLIKELY(s != NULL)) {
			ack_tail(m, f, c, s, g, dsack);
			ack_advance_side(m, f, c, s, bytes, full);
		} else {
			if (FLOW_UNLIKELY((c->flags & CF_SACK) == 0))
				conn_set_dup(c, 0);
			if (FLOW_UNLIKELY(full))
				flow_cc_acked(m, f, c, NULL, bytes);
		}
		ack_timer(m, f, c);
	}
	if (FLOW_UNLIKELY(s != NULL) && s->holes != 0)
		flow_loss_detect(m, f, c, s);
	return true;
}
