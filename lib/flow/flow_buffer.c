/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections with buffers: bytes that nobody could compute go out of a ring, and what comes is
 * kept in another one until it is read. The window is what that one has room for. */
#include "flow_emit.h"

static struct flow_buffers *buffer_of(const struct flow_machine *m, const struct flow_conn *c)
{
	return &m->buffers[c->mem[0] - 1];
}

static uint32_t buffer_number(const struct flow_machine *m, const struct flow_buffers *b)
{
	return (uint32_t)b->generation << 16 | (uint32_t)(b - m->buffers + 1);
}

static struct flow_buffers *buffer_find(const struct flow_machine *m, uint32_t number)
{
	uint32_t at = (number & 0xffff) - 1;

	if (at >= m->nbuffers || !m->buffers[at].used || m->buffers[at].generation != number >> 16)
		return NULL;
	return &m->buffers[at];
}

static void buffer_give(struct flow_machine *m, struct flow_buffers *b)
{
	b->used = false;
	b->next_free = m->buffers_free;
	m->buffers_free = (uint32_t)(b - m->buffers) + 1;
}

/* Takes back those of a connection that ended before anybody asked for it. */
static bool buffer_reclaim(struct flow_machine *m)
{
	for (unsigned i = 0; i < m->nlive; i++)
		for (uint32_t *link = &m->live[i].accepted; *link != 0;
		     link = &m->buffers[*link - 1].next_accept) {
			struct flow_buffers *b = &m->buffers[*link - 1];

			if (!b->gone)
				continue;
			*link = b->next_accept;
			buffer_give(m, b);
			return true;
		}
	return false;
}

void flow_buffer_release(struct flow_machine *m, struct flow_ver *f)
{
	while (f->accepted != 0) {
		struct flow_buffers *b = &m->buffers[f->accepted - 1];

		f->accepted = b->next_accept;
		buffer_give(m, b);
	}
}

uint32_t flow_buffer_take(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	struct flow_buffers *b;
	uint32_t i = m->buffers_free;

	if (i == 0 && !buffer_reclaim(m))
		return 0;
	i = m->buffers_free;
	b = &m->buffers[i - 1];
	m->buffers_free = b->next_free;
	b->conn = conn_index(m, c);
	b->generation++;
	b->version = f->number;
	b->used = true;
	b->peer_done = b->accepted = b->gone = false;
	b->tx_head = b->tx_len = b->rx_head = b->rx_len = b->next_accept = 0;
	b->offered = FLOW_BUFFER;
	c->mem[1] = i;
	return i;
}

uint32_t flow_buffer_number(const struct flow_machine *m, const struct flow_conn *c)
{
	return buffer_number(m, buffer_of(m, c));
}

static uint32_t buffer_untold(const struct flow_buffers *b)
{
	return FLOW_BUFFER - b->rx_len - b->offered;
}

uint32_t flow_buffer_offered(const struct flow_machine *m, const struct flow_conn *c)
{
	return buffer_of(m, c)->offered;
}

/* The window of a segment that is sent now. RFC 9293 3.8.6.2.2: it does not open by less than a
 * segment, or half of the buffer. */
uint32_t flow_buffer_offer(const struct flow_machine *m, const struct flow_ver *f,
			   const struct flow_conn *c)
{
	struct flow_buffers *b = buffer_of(m, c);

	if (buffer_untold(b) >= (f->mss < FLOW_BUFFER / 2 ? f->mss : FLOW_BUFFER / 2))
		b->offered += buffer_untold(b);
	return b->offered;
}

void flow_buffer_acked(struct flow_machine *m, struct flow_conn *c, uint32_t n)
{
	struct flow_buffers *b = buffer_of(m, c);

	if (n > b->tx_len) /* the FIN */
		n = b->tx_len;
	b->tx_head = (b->tx_head + n) % FLOW_BUFFER;
	b->tx_len -= n;
	if (seq_lt(c->msg_seq, c->una) && !seq_lt(c->msg_end, c->una))
		c->msg_seq = c->una;
}

/* ---- the record ---- */

static struct flow_buffers *buffer_turn(struct wl_turn *t)
{
	const struct flow_work *w = (struct flow_work *)t;

	return buffer_of(w->m, w->c);
}

static void buffer_opened(struct wl_turn *t)
{
	const struct flow_work *w = (struct flow_work *)t;
	struct flow_buffers *b = buffer_turn(t);
	struct flow_ver *f = conn_live(w->m, w->c);
	uint32_t *link = &f->accepted;

	if (f->spec->role == FLOW_CLIENT)
		return;
	while (*link != 0)
		link = &w->m->buffers[*link - 1].next_accept;
	*link = (uint32_t)(b - w->m->buffers) + 1;
}

static uint32_t buffer_received(struct wl_turn *t, const uint8_t *data, uint32_t n)
{
	struct flow_buffers *b = buffer_turn(t);

	b->offered -= n < b->offered ? n : b->offered;
	for (uint32_t i = 0; i < n && b->rx_len < FLOW_BUFFER; i++) {
		b->rx[(b->rx_head + b->rx_len) % FLOW_BUFFER] = data == NULL ? 0 : data[i];
		b->rx_len++;
	}
	return n;
}

static void buffer_ended(struct wl_turn *t)
{
	buffer_turn(t)->peer_done = true;
}

static void buffer_drain(struct wl_turn *t)
{
	(void)t; /* channels close when their users do */
}

static void buffer_closed(struct wl_turn *t, enum wl_end why)
{
	const struct flow_work *w = (struct flow_work *)t;
	struct flow_ver *f = conn_live(w->m, w->c);
	struct flow_buffers *b = buffer_turn(t);
	bool known = f->spec->role == FLOW_CLIENT || b->accepted;

	flow_conn_tuple(w->m, w->c, &b->tuple);
	b->conn = 0;
	b->gone = true;
	b->ended = (uint8_t)why;
	/* One that nobody has been told of, and nobody will be. */
	if (!known && (why == WL_END_REFUSED || why == WL_END_CONNECT_TIMEOUT ||
		       why == WL_END_UNREACHABLE || why == WL_END_ABORTED_OPENING))
		buffer_give(w->m, b);
}

const struct workload flow_buffer_wl = {
	.name = "buffer",
	.help = "bytes from and to a pair of buffers",
	.tcp = true,
	.opened = buffer_opened,
	.received = buffer_received,
	.ended = buffer_ended,
	.drain = buffer_drain,
	.closed = buffer_closed,
};

/* ---- the users ---- */

unsigned flow_write(struct flow_machine *m, uint32_t number, const void *data, unsigned n,
		    uint64_t now_ns)
{
	struct flow_buffers *b = buffer_find(m, number);
	struct flow_conn *c;
	unsigned first;
	uint32_t at;

	if (b == NULL || b->conn == 0)
		return 0;
	flow_now(m, now_ns);
	c = &m->conn[b->conn];
	if ((c->flags & CF_FIN_ASKED) != 0)
		return 0;
	if (n > FLOW_BUFFER - b->tx_len)
		n = FLOW_BUFFER - b->tx_len;
	at = (b->tx_head + b->tx_len) % FLOW_BUFFER;
	first = FLOW_BUFFER - at < n ? FLOW_BUFFER - at : n;
	memcpy(b->tx + at, data, first);
	memcpy(b->tx, (const uint8_t *)data + first, n - first);
	b->tx_len += n;
	c->msg_end += n;
	if (c->state != FLOW_SYN_SENT && c->state != FLOW_SYN_RECEIVED)
		flow_push(m, conn_live(m, c), c);
	return n;
}

unsigned flow_read(struct flow_machine *m, uint32_t number, void *data, unsigned n, uint64_t now_ns)
{
	struct flow_buffers *b = buffer_find(m, number);
	unsigned first;

	if (b == NULL)
		return 0;
	flow_now(m, now_ns);
	if (n > b->rx_len)
		n = b->rx_len;
	first = FLOW_BUFFER - b->rx_head < n ? FLOW_BUFFER - b->rx_head : n;
	memcpy(data, b->rx + b->rx_head, first);
	memcpy((uint8_t *)data + first, b->rx, n - first);
	b->rx_head = (b->rx_head + n) % FLOW_BUFFER;
	b->rx_len -= n;
	/* a peer that waits need not ask */
	if (buffer_untold(b) >= FLOW_BUFFER / 2 && b->conn != 0) {
		struct flow_conn *c = &m->conn[b->conn];

		flow_send_ack(m, conn_live(m, c), c);
	}
	return n;
}

void flow_close(struct flow_machine *m, uint32_t number, enum wl_close how, uint64_t now_ns)
{
	struct flow_buffers *b = buffer_find(m, number);
	struct flow_conn *c;
	struct flow_ver *f;
	bool opening;

	if (b == NULL || b->conn == 0 || how == WL_CLOSE_NOT)
		return;
	flow_now(m, now_ns);
	c = &m->conn[b->conn];
	f = conn_live(m, c);
	opening = c->state == FLOW_SYN_SENT || c->state == FLOW_SYN_RECEIVED;
	if (how == WL_CLOSE_RST) {
		if (!opening)
			flow_send_rst(m, f, c, c->nxt, true);
		flow_conn_end(m, c, opening ? WL_END_ABORTED_OPENING : WL_END_RESET_BY_US, false);
		return;
	}
	c->flags |= CF_FIN_ASKED;
	if (!opening)
		flow_push(m, f, c);
}

bool flow_channel(struct flow_machine *m, uint32_t number, struct flow_channel *out)
{
	const struct flow_buffers *b = buffer_find(m, number);
	const struct flow_conn *c;

	*out = (struct flow_channel){0};
	if (b == NULL)
		return false;
	c = &m->conn[b->conn];
	out->gone = b->gone;
	out->ended = (enum wl_end)b->ended;
	out->peer_done = b->peer_done;
	out->readable = b->rx_len;
	if (b->conn != 0) {
		out->open = c->state != FLOW_SYN_SENT && c->state != FLOW_SYN_RECEIVED;
		out->writable = (c->flags & CF_FIN_ASKED) != 0 ? 0 : FLOW_BUFFER - b->tx_len;
	}
	return true;
}

bool flow_channel_tuple(const struct flow_machine *m, uint32_t number, struct flow_tuple *out)
{
	const struct flow_buffers *b = buffer_find(m, number);

	if (b == NULL)
		return false;
	if (b->conn == 0)
		*out = b->tuple;
	else
		flow_conn_tuple(m, &m->conn[b->conn], out);
	return true;
}

void flow_forget(struct flow_machine *m, uint32_t number, uint64_t now_ns)
{
	struct flow_buffers *b = buffer_find(m, number);

	if (b == NULL)
		return;
	b->accepted = true;
	flow_close(m, number, WL_CLOSE_RST, now_ns);
	buffer_give(m, b);
}

uint32_t flow_accept(struct flow_machine *m, int version)
{
	struct flow_ver *f;
	struct flow_buffers *b;

	if (version < 0 || version >= FLOW_VERSIONS || m->live[version].spec == NULL)
		return 0;
	f = &m->live[version];
	if (f->accepted == 0)
		return 0;
	b = &m->buffers[f->accepted - 1];
	f->accepted = b->next_accept;
	b->next_accept = 0;
	b->accepted = true;
	return buffer_number(m, b);
}
