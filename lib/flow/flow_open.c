/* SPDX-License-Identifier: BSD-3-Clause */
/* Handshakes: SYNs of others, and what answers ours (RFC 9293 3.10.7.2 and 3.10.7.3). */
#include "flow_emit.h"
#include "flow_find.h"

/* The options of a SYN: MSS (RFC 9293 3.7.1), window scale (RFC 7323 2), SACK permitted (RFC 2018
 * 2). Others are passed over, and so is what follows a length that cannot be. */
FLOW_ASIDE static unsigned open_any_options(struct flow_conn *c, const struct flow_seg *g,
					    unsigned mss, bool *has_sack)
{
	const uint8_t *o = g->l4 + 20;
	unsigned n = g->options, i = 0;
	bool sack = false;

	while (i < n && o[i] != 0) {
		unsigned len = i + 1 < n ? o[i + 1] : 0;

		if (o[i] == 1) {
			i++;
			continue;
		}
		if (len < 2 || i + len > n)
			break;
		if (o[i] == 2 && len == 4)
			mss = get_be16(o + i + 2);
		else if (o[i] == 3 && len == 3)
			c->wscale = (o[i + 2] > 14 ? 14 : o[i + 2]) & 15;
		else if (o[i] == 4 && len == 2)
			sack = true;
		i += len;
	}
	*has_sack = sack;
	return mss;
}

/* Bytes of options as they lie in memory. */
#define OPEN_KIND(bytes) __builtin_bswap32(bytes)
static FLOW_INLINE void open_options(struct flow_ver *f, struct flow_conn *c,
				     const struct flow_seg *g)
{
	unsigned mss;
	uint32_t word[3] = {0};
	bool sack = true;

	/* as many write them: all three, one in each word, with no-operations in front */
	if (FLOW_LIKELY(g->options == sizeof(word)))
		memcpy(word, g->l4 + 20, sizeof(word));
	if (FLOW_LIKELY(((word[0] & OPEN_KIND(0xffff0000)) == OPEN_KIND(0x02040000)) &
			((word[1] & OPEN_KIND(0xffffff00)) == OPEN_KIND(0x01030300)) &
			(word[2] == OPEN_KIND(0x01010402)))) {
		mss = __builtin_bswap32(word[0]) & 0xffff;
		word[1] = __builtin_bswap32(word[1]) & 255;
		c->wscale = (word[1] > 14 ? 14 : word[1]) & 15;
	} else {
		c->wscale = CONN_UNSCALED;
		mss = open_any_options(c, g, c->mss, &sack);
	}
	if (FLOW_UNLIKELY(mss == 0))
		mss = c->mss; /* an MSS of 0 is none; all others count, however small */
	c->mss = (uint16_t)(mss > f->mss ? f->mss : mss);
	if (sack && f->spec->sack)
		c->flags |= CF_SACK;
}

/* The window of a SYN is not scaled; ours is kept scaled. What is lost so matters only if the first
 * segments do not fit into what is left. */
static void open_window(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
			const struct flow_seg *g)
{
	struct flow_side *s;

	c->wnd = (uint16_t)(c->wscale == CONN_UNSCALED ? g->wnd : g->wnd >> c->wscale);
	if (FLOW_UNLIKELY(conn_window(c) != g->wnd) && g->wnd < (uint32_t)f->iw * c->mss) {
		s = flow_side(m, c);
		if (s != NULL)
			s->syn_window = g->wnd;
	}
	flow_window_first(m, c);
}

void flow_passive(struct flow_machine *m, struct flow_ver *f, const struct flow_seg *g,
		  uint32_t isn_after, bool use_after)
{
	struct flow_conn *c = flow_conn_accept(m, f, g, isn_after, use_after);
	/* of a tuple at rest it has been counted as a segment of the connection that rested */
	bool counted = use_after;

	if (!counted)
		cell_add(&f->k->rx, g->segments);
	if (c == NULL) {
		cell_add(&f->k->syn_dropped, 1);
		return;
	}
	if (FLOW_UNLIKELY(f->tos) && !counted)
		flow_count_tos(m, f, c, g->in, g->segments);
	if (g->unverified && !counted)
		cell_add(&f->k->unverified, 1);
	c->state = FLOW_SYN_RECEIVED;
	c->rcv_nxt = g->seq + 1;
	open_options(f, c, g);
	open_window(m, f, c, g);
	cell_add(&f->k->opening, 1);
	conn_set_stamp(c, m->now_us);
	conn_timer(m, c, f->syn_ticks);
	flow_send_syn(m, f, c);
}

/* An ACK of something else: the peer still knows the tuple's last connection. RST tells it so, and
 * the SYN goes at once again instead of after its time-out. */
#define OPEN_AGAIN 3
static void open_half(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
		      const struct flow_seg *g)
{
	if ((g->flags & TH_RST) != 0)
		return;
	flow_send_rst(m, f, c, g->ack, false);
	if (conn_dup(c) >= OPEN_AGAIN)
		return;
	conn_set_dup(c, conn_dup(c) + 1);
	c->flags &= (uint16_t)~CF_TIMED;
	cell_add(&f->k->retransmitted, 1);
	cell_add(&f->k->syn_retransmitted, 1);
	flow_send_syn(m, f, c);
}

void flow_syn_sent_in(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
		      const struct flow_seg *g)
{
	bool acked = (g->flags & TH_ACK) != 0;

	if (acked && g->ack != c->nxt) {
		open_half(m, f, c, g);
		return;
	}
	if ((g->flags & TH_RST) != 0) {
		if (acked) {
			cell_add(&f->k->rst_received, 1);
			flow_conn_end(m, c, WL_END_REFUSED, false);
		} else {
			cell_add(&f->k->rst_ignored, 1);
		}
		return;
	}
	if ((g->flags & TH_SYN) == 0)
		return;
	c->rcv_nxt = g->seq + 1;
	open_options(f, c, g);
	open_window(m, f, c, g);
	if (!acked) {
		/* both have opened: RFC 9293 figure 8 */
		c->state = FLOW_SYN_RECEIVED;
		c->flags &= (uint16_t)~CF_TIMED;
		flow_send_syn(m, f, c);
		return;
	}
	if ((c->flags & CF_TIMED) != 0)
		conn_rtt(m, f, c);
	conn_set_dup(c, 0);
	if (c->retry > 0)
		c->cwnd = 1; /* RFC 5681 3.1: a SYN was lost */
	c->una = g->ack;
	flow_established(m, f, c);
	c->flags |= CF_ACK;
	if (!flow_work_opened(m, f, c))
		return;
	if ((c->flags & CF_ACK) == 0 || (c->flags & CF_ACK_NOW) != 0)
		return;
	if (m->nack == FLOW_ACKS) {
		flow_send_ack(m, f, c);
		return;
	}
	c->flags |= CF_ACK_NOW;
	m->ack[m->nack++] = conn_index(m, c);
}
