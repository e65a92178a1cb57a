/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams. A connection of UDP is a tuple that is in use: a client's from its open to the close
 * that its workload asks for, a server's from the first datagram until none has come for a
 * while. */
#include "flow_emit.h"
#include "flow_find.h"
#include "flow_servers.h"

static void udp_emit(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
		     struct emit *e)
{
	uint8_t *p = e->room.data, *u = p + e->path->l4;
	unsigned l4_len = 8 + e->payload;
	uint64_t sum = emit_ip(m, f, c, e, p, l4_len);
	uint16_t length = __builtin_bswap16((uint16_t)l4_len), check;
	uint32_t ports;

	ports = c->ports;
	memcpy(u, &ports, 4);
	memcpy(u + 4, &length, 2);
	sum += __builtin_bswap16(17) + length;
	if (emit_offload(m)) {
		check = (uint16_t)flow_fold(sum);
	} else {
		check = (uint16_t)~flow_fold(sum + ports + length + e->payload_sum);
		if (check == 0)
			check = 0xffff; /* RFC 768: 0 would be none */
	}
	memcpy(u + 6, &check, 2);
	emit_put(m, e, 8, emit_offload(m));
}

/* While a datagram waits for the sink: its content is the connection's, its length msg_end, and
 * its stamp una and nxt; rcv_nxt tells that it has one. */
static bool udp_try(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	const struct wl_content *content = m->content[c->content].content;
	struct emit e = {.payload = c->msg_end};
	uint8_t *p;

	if (!emit_room(m, FLOW_PLAIN, &e.room)) {
		flow_blocked(m, c);
		return false;
	}
	e.path = conn_path(m, f, c);
	p = emit_begin(&e) + e.path->l4 + 8;
	if (c->rcv_nxt != 0 && e.payload >= 8) {
		memcpy(p, &c->una, 8);
		e.payload_sum = wl_sum(p, 8) + wl_content_put(content, 8, p + 8, e.payload - 8);
	} else {
		e.payload_sum = wl_content_put(content, 0, p, e.payload);
	}
	udp_emit(m, f, c, &e);
	cell_add(&f->k->tx, 1);
	cell_add(&f->k->tx_bytes, e.payload);
	if (f->by_server)
		flow_server_sent(f, c, e.payload);
	c->msg_end = 0;
	if (f->wl->wl->may_send != NULL)
		c->flags |= CF_MAY_SEND;
	return true;
}

/* Always true: a datagram that cannot be kept is counted. */
bool flow_udp_send(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
		   const struct wl_turn *t)
{
	uint64_t most = m->sink->room_bytes - f->path->l4 - 8u;

	if (c->msg_end != 0) {
		cell_add(&f->k->not_sent, 1);
		return true;
	}
	if (most > 65535 - 8 - 40)
		most = 65535 - 8 - 40;
	c->content = (uint16_t)(f->first + (t->content < f->ncontent ? t->content : 0));
	c->msg_end = (uint32_t)(t->send > most ? most : t->send);
	c->rcv_nxt = t->stamped;
	if (t->stamped)
		memcpy(&c->una, &t->stamp, 8);
	udp_try(m, f, c);
	return true;
}

void flow_udp_retry(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	if (c->msg_end == 0 || udp_try(m, f, c))
		flow_push(m, f, c);
}

static struct flow_conn *udp_accept(struct flow_machine *m, const struct flow_seg *g)
{
	struct flow_ver *f = flow_listener(m, g);
	struct flow_conn *c;

	if (f == NULL || f->wl->draining) {
		cell_add(&m->k.no_match, 1);
		return NULL;
	}
	cell_add(&f->k->rx, g->segments);
	c = flow_conn_accept(m, f, g, 0, false);
	if (c == NULL) {
		cell_add(&f->k->syn_dropped, 1);
		return NULL;
	}
	c->state = FLOW_UDP;
	c->una = c->nxt = c->msg_seq = c->msg_end = 0;
	cell_add(&f->k->established, 1);
	cell_add(&f->k->open, 1);
	if (f->by_server)
		flow_server_established(f, c);
	return flow_work_opened(m, f, c) ? c : NULL;
}

void flow_udp_in(struct flow_machine *m, uint32_t at, const struct flow_seg *g)
{
	struct flow_conn *c = &m->conn[at];
	struct flow_ver *f;

	if (at == 0) {
		if (g->bad) {
			cell_add(&m->k.bad_checksum, 1);
			return;
		}
		c = udp_accept(m, g);
		if (c == NULL)
			return;
	}
	f = conn_live(m, c);
	if (FLOW_LIKELY(at != 0)) /* udp_accept() has counted the first one */
		cell_add(&f->k->rx, g->segments);
	if (FLOW_UNLIKELY(f->tos))
		flow_count_tos(m, f, c, g->in, g->segments);
	if (g->bad) {
		cell_add(&f->k->bad_checksum, 1);
		return;
	}
	if (g->unverified)
		cell_add(&f->k->unverified, 1);
	cell_add(&f->k->rx_bytes, g->len);
	if (f->by_server)
		flow_server_received(f, c, g->len);
	if (f->spec->role == FLOW_SERVER)
		conn_timer(m, c, f->finwait_ticks);
	flow_work_datagram(m, f, c, g->data, g->piece, g->len);
}
