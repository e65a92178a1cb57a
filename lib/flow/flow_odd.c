/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments that have no place where their connection is: RST and SYN on an open one, what lies
 * outside of the window, what comes in TIME-WAIT, and segments of no connection at all. */
#include "flow_emit.h"
#include "flow_servers.h"

/* What came has been acknowledged before: our ACK may be lost. */
static void odd_ack_again(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	if (flow_send_ack(m, f, c))
		cell_add(&f->k->ack_again, 1);
}

/* RST and SYN where they have no place (RFC 5961 3 and 4), and segments without ACK. */
FLOW_ASIDE void flow_tcp_odd(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
			     const struct flow_seg *g, uint32_t window)
{
	uint32_t ahead = g->seq - c->rcv_nxt;

	if ((g->flags & TH_RST) != 0) {
		if (ahead == 0) {
			cell_add(&f->k->rst_received, 1);
			flow_conn_end(m, c,
				      c->state == FLOW_SYN_RECEIVED ? WL_END_REFUSED
								    : WL_END_RESET_BY_PEER,
				      false);
		} else if (ahead < window) {
			flow_challenge(m, f, c);
		} else {
			cell_add(&f->k->rst_ignored, 1);
		}
		return;
	}
	if ((g->flags & TH_SYN) == 0)
		return; /* no ACK: dropped */
	if (c->state == FLOW_SYN_RECEIVED && ahead == UINT32_MAX) {
		if ((g->flags & TH_ACK) != 0 && g->ack == c->nxt) {
			/* both have opened (RFC 9293 figure 8), and our SYN has arrived */
			c->una = g->ack;
			conn_server_established(f, c);
			flow_established(m, f, c);
			c->flags |= CF_ACK;
			if (flow_work_opened(m, f, c))
				flow_ack_soon(m, f, c, true);
			return;
		}
		cell_add(&f->k->retransmitted, 1);
		cell_add(&f->k->syn_retransmitted, 1);
		c->flags &= (uint16_t)~CF_TIMED;
		flow_send_syn(m, f, c);
		return;
	}
	/* the peer's SYN-ACK again, behind which it has sent nothing: our ACK of it may be lost */
	if (flow_challenge(m, f, c) && (g->flags & TH_ACK) != 0 && ahead == UINT32_MAX)
		cell_add(&f->k->ack_again, 1);
}

/* A segment that is not where the window is. Returns whether it may be looked at all the same. */
FLOW_ASIDE bool flow_tcp_outside(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
				 const struct flow_seg *g, uint32_t window)
{
	uint32_t len = g->len + SEG_SYN_FIN(g);
	int32_t ahead = (int32_t)(g->seq - c->rcv_nxt);

	if (ahead > 0) {
		if ((uint32_t)ahead < window)
			return true;
		cell_add(&f->k->beyond_window, 1);
		if (len > 0)
			flow_send_ack(m, f, c);
		else
			flow_challenge(m, f, c);
		return false;
	}
	if (len > 0) {
		/* RFC 9293 3.10.7.4: with a window of 0 acknowledgements still count */
		if (ahead + (int32_t)len > 0 && window > 0)
			return true;
		if (ahead + (int32_t)len > 0) {
			cell_add(&f->k->beyond_window, 1);
			if (flow_ack_in(m, f, c, g))
				flow_send_ack(m, f, c);
			return false;
		}
		cell_add(&f->k->duplicate, 1);
		if ((c->flags & CF_SACK) != 0 && g->len > 0) {
			struct flow_side *s = flow_side(m, c);

			if (s != NULL) { /* RFC 2883 */
				s->dsack = true;
				s->dsack_from = g->seq;
				s->dsack_to = g->seq + g->len;
			}
		}
		odd_ack_again(m, f, c);
		return false;
	}
	/* An acknowledgement that was overtaken by data counts if it is news. One that is none
	 * may ask whether we live. */
	if (ahead == 0 || seq_lt(c->una, g->ack))
		return true;
	flow_challenge(m, f, c);
	return false;
}

FLOW_ASIDE void flow_tcp_time_wait(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
				   const struct flow_seg *g)
{
	struct flow_ver *next;
	uint32_t after = c->nxt + 65536;

	if ((g->flags & TH_RST) != 0) {
		if (g->seq == c->rcv_nxt) {
			cell_add(&f->k->rst_received, 1);
			flow_conn_free(m, c);
		}
		return;
	}
	if ((g->flags & (TH_SYN | TH_ACK)) == TH_SYN) {
		next = flow_listener(m, g);
		if (next != NULL && !next->wl->draining && seq_lt(c->rcv_nxt, g->seq)) {
			cell_add(&f->k->timewait_reused, 1);
			flow_conn_free(m, c);
			flow_passive(m, next, g, after, true);
			return;
		}
		flow_challenge(m, f, c);
		return;
	}
	if ((g->flags & TH_FIN) != 0)
		conn_timer(m, c, flow_ticks(f->spec->timewait_ns));
	if (g->len + SEG_SYN_FIN(g) > 0) {
		cell_add(&f->k->duplicate, 1);
		odd_ack_again(m, f, c);
	}
}

/* A segment of no connection. */
void flow_tcp_unknown(struct flow_machine *m, const struct flow_seg *g)
{
	struct flow_ver *f;

	if (g->bad) {
		cell_add(&m->k.bad_checksum, 1);
		return;
	}
	if ((g->flags & (TH_SYN | TH_ACK | TH_RST | TH_FIN)) == TH_SYN) {
		f = flow_listener(m, g);
		if (f != NULL && !f->wl->draining) {
			flow_passive(m, f, g, 0, false);
			return;
		}
	}
	cell_add(&m->k.no_match, 1);
	f = flow_local(m, g);
	if (f != NULL)
		flow_answer_rst(m, f, g);
}
