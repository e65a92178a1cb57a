/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments that came before their time: intervals of what has been received out of order, and the
 * SACK blocks that tell the peer of them (RFC 2018, RFC 2883). */
#include "flow_int.h"

/* More intervals than any sane reordering makes; what does not fit is sent again. */
#define EARLY_MOST 256

bool flow_early_add(struct flow_machine *m, struct flow_side *s, uint32_t from, uint32_t to)
{
	uint32_t *link = &s->early;
	struct flow_node *n;

	s->newest = from;
	while (*link != 0 && seq_lt(node_at(m, *link)->to, from))
		link = &node_at(m, *link)->next;
	if (*link == 0 || seq_lt(to, node_at(m, *link)->from)) {
		if (s->nearly >= EARLY_MOST || flow_node_after(m, link, from, to) == 0)
			return false;
		s->nearly++;
		return true;
	}
	/* It touches the interval there, and perhaps those behind it. */
	n = node_at(m, *link);
	if (seq_le(n->from, from) && seq_le(to, n->to)) {
		s->dsack = true;
		s->dsack_from = from;
		s->dsack_to = to;
		return true;
	}
	if (seq_lt(from, n->from))
		n->from = from;
	if (seq_lt(n->to, to))
		n->to = to;
	while (n->next != 0 && seq_le(node_at(m, n->next)->from, n->to)) {
		if (seq_lt(n->to, node_at(m, n->next)->to))
			n->to = node_at(m, n->next)->to;
		flow_node_cut(m, &n->next);
		s->nearly--;
	}
	return true;
}

uint32_t flow_early_join(struct flow_machine *m, struct flow_conn *c, struct flow_side *s)
{
	uint32_t was = c->rcv_nxt;

	while (s->early != 0 && seq_le(node_at(m, s->early)->from, c->rcv_nxt)) {
		uint32_t to = node_at(m, s->early)->to;

		if (seq_lt(c->rcv_nxt, to))
			c->rcv_nxt = to;
		flow_node_cut(m, &s->early);
		s->nearly--;
	}
	return c->rcv_nxt - was;
}

static unsigned early_put(uint8_t *to, uint32_t from, uint32_t until)
{
	uint32_t edge[2] = {__builtin_bswap32(from), __builtin_bswap32(until)};

	memcpy(to, edge, 8);
	return 8;
}

/* Writes the SACK option into at most `room` bytes. First what came twice, then the interval that
 * changed last, then others (RFC 2018 4: each is to be told several times): those before the
 * newest, since the intervals are told in a circle. */
unsigned flow_early_blocks(const struct flow_machine *m, struct flow_side *s, uint8_t *to,
			   unsigned room)
{
	unsigned n = 4, told = 0, most = (room - 4) / 8;
	uint32_t first = 0, i, k = 0;

	if (s->dsack) {
		n += early_put(to + n, s->dsack_from, s->dsack_to);
		told++;
		s->dsack = false;
	}
	for (i = s->early; i != 0; i = node_at(m, i)->next) {
		const struct flow_node *e = node_at(m, i);

		if (seq_le(e->from, s->newest) && seq_lt(s->newest, e->to))
			first = i;
	}
	if (first != 0 && told < most) {
		n += early_put(to + n, node_at(m, first)->from, node_at(m, first)->to);
		told++;
	}
	/* the turn of the others moves on with each ACK: by the number of the newest segment */
	uint32_t skip = s->nearly > most ? s->told_from % s->nearly : 0;
	for (i = s->early; i != 0 && told < most; i = node_at(m, i)->next) {
		if (i == first || k++ < skip)
			continue;
		n += early_put(to + n, node_at(m, i)->from, node_at(m, i)->to);
		told++;
	}
	s->told_from += 3;
	to[0] = to[1] = 1;
	to[2] = 5;
	to[3] = (uint8_t)(n - 2);
	return told == 0 ? 0 : n;
}
