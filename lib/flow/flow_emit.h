/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing frames. A frame is begun with the bytes of its path, gets options and payload, and is
 * finished with what differs from frame to frame. Inline: this is the hot half of sending. */
#pragma once
#include "flow_int.h"

/* What a frame is, beside its connection. Sums are those of wl_sum(). */
struct emit {
	struct flow_room room;
	const struct flow_path *path;
	uint8_t flags;
	uint32_t seq, ack;
	unsigned options; /* bytes */
	uint32_t option_sum, payload_sum;
	uint32_t payload; /* bytes, those of the filling included */
	uint32_t fill;    /* of these the last so many are not in the buffer */
	uint32_t rest;    /* of a super-frame: where they are */
	uint16_t segment;
	uint16_t window;
};

static FLOW_INLINE bool emit_room(struct flow_machine *m, unsigned kind, struct flow_room *r)
{
	struct flow_sink *s = m->sink;

	if (FLOW_UNLIKELY(s->nroom[kind] == 0 || s->nout == s->max_out)) {
		if (s->more == NULL || !s->more(s, kind) || s->nroom[kind] == 0 ||
		    s->nout == s->max_out) {
			cell_add(&m->k.sink_full, 1);
			return false;
		}
	}
	*r = s->room[kind][--s->nroom[kind]];
	return true;
}

/* Copies whole lines: a header with its TCP header is one line, or two. */
static FLOW_INLINE uint8_t *emit_begin(struct emit *e)
{
	uint8_t *p = e->room.data;
	const struct flow_path *path = e->path;

	memcpy(p, path->bytes, 64);
	if (FLOW_UNLIKELY(path->l4 > 44))
		memcpy(p + 64, path->bytes + 64, 128);
	return p;
}

/* Whether the sink finishes checksums; super-frames can have no other. */
static inline bool emit_offload(const struct flow_machine *m)
{
	return (m->sink->offload & FLOW_OFFLOAD_SUM) != 0;
}

/* Addresses and length into an IPv4 header; returns the sum of the addresses. */
static FLOW_INLINE uint64_t emit_ip4(struct flow_machine *m, const struct flow_conn *c,
				     const struct flow_path *path, uint8_t *p, unsigned l4_len)
{
	uint8_t *ip = p + path->l3;
	uint64_t pair;
	uint32_t addresses[2], word;
	uint16_t sum;

	/* the length, and behind it the identification */
	word = __builtin_bswap16((uint16_t)(path->l4 - path->l3 + l4_len)) | (uint32_t)m->ip_id++
										     << 16;
	addresses[0] = c->local;
	addresses[1] = c->remote;
	pair = addresses[0] | (uint64_t)addresses[1] << 32;
	sum = (uint16_t)~flow_fold((uint64_t)addresses[0] + addresses[1] + path->ip_sum + word);
	memcpy(ip + 2, &word, 4);
	memcpy(ip + 10, &sum, 2);
	memcpy(ip + 12, &pair, 8);
	return (uint64_t)addresses[0] + addresses[1];
}

/* The same for any IP header, and what headers outside of it need. */
uint64_t flow_emit_other(struct flow_machine *m, const struct flow_ver *f,
			 const struct flow_conn *c, const struct flow_path *path, uint8_t *p,
			 unsigned l4_len);
/* What headers outside of the innermost IP header need. pseudo: the sum of the pseudo header of the
 * l4_len bytes behind that; of IPv6 its protocol alone. */
void flow_emit_fix(const struct flow_path *path, uint8_t *p, unsigned l4_len, uint64_t pseudo);

static FLOW_INLINE uint64_t emit_ip(struct flow_machine *m, const struct flow_ver *f,
				    const struct flow_conn *c, const struct emit *e, uint8_t *p,
				    unsigned l4_len)
{
	if (FLOW_UNLIKELY(!e->path->plain))
		return flow_emit_other(m, f, c, e->path, p, l4_len);
	return emit_ip4(m, c, e->path, p, l4_len);
}

static FLOW_INLINE void emit_put(struct flow_machine *m, const struct emit *e, unsigned l4_header,
				 bool sum_wanted)
{
	struct flow_sink *s = m->sink;
	struct flow_out *o = &s->out[s->nout++];

	o->places = e->path->places + ((uint64_t)l4_header << 32 | (uint64_t)e->segment << 48);
	o->handle = e->room.handle;
	o->len = e->path->l4 + l4_header + e->payload - e->fill;
	o->fill = e->fill;
	o->sum_wanted = sum_wanted;
	o->rest = e->rest;
	m->sent++;
}

/* Finishes a TCP segment, and puts it into the sink. Whoever sends has acknowledged. */
static FLOW_INLINE void emit_tcp(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
				 struct emit *e)
{
	uint8_t *p = e->room.data, *t = p + e->path->l4;
	unsigned l4_len = 20 + e->options + e->payload;
	uint64_t sum = emit_ip(m, f, c, e, p, l4_len);
	uint64_t numbers = __builtin_bswap64((uint64_t)e->seq << 32 | e->ack);
	/* the header's length, flags, window */
	uint32_t word =
		__builtin_bswap32((20 + e->options) << 26 | (uint32_t)e->flags << 16 | e->window);
	uint32_t ports = c->ports, check;
	bool offload = emit_offload(m);

	memcpy(t, &ports, 4);
	memcpy(t + 4, &numbers, 8);
	memcpy(t + 12, &word, 4);
	sum += __builtin_bswap16((uint16_t)l4_len);
	sum += __builtin_bswap16(6);
	if (offload) {
		check = flow_fold(sum);
	} else {
		sum += (uint64_t)ports + (uint32_t)numbers + (numbers >> 32) + word;
		check = (uint16_t)~flow_fold(sum + e->option_sum + e->payload_sum);
	}
	memcpy(t + 16, &check, 4); /* and an urgent pointer of 0 */
	emit_put(m, e, 20 + e->options, offload);
	c->flags &= (uint16_t)~CF_ACK;
}

static FLOW_INLINE uint16_t emit_window(const struct flow_machine *m, const struct flow_ver *f,
					const struct flow_conn *c)
{
	if (FLOW_UNLIKELY(f->buffered)) {
		uint32_t w = flow_buffer_offer(m, f, c);

		return (uint16_t)(c->wscale == CONN_UNSCALED ? w : w >> f->wscale);
	}
	return f->window_field[c->wscale != CONN_UNSCALED];
}

/* flow_emit.c: segments without payload. false: the sink is full. */
bool flow_send_ack(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c);
bool flow_send_syn(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c);
/* RST of a connection, and RST in answer to a segment of none (RFC 9293 3.10.7.1). */
void flow_send_rst(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c, uint32_t seq,
		   bool with_ack);
void flow_answer_rst(struct flow_machine *m, struct flow_ver *f, const struct flow_seg *g);
/* An ACK that the peer may have provoked: no more than some per second (RFC 5961 7). Returns
 * whether one was sent. */
bool flow_challenge(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c);

/* The end of what was received: it is acknowledged at the end of the turn, or when the timer of
 * delayed acknowledgements is due, or by what is sent meanwhile (RFC 5681 4.2). */
static inline void flow_ack_soon(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
				 bool now)
{
	if (FLOW_LIKELY((c->flags & CF_ACK) == 0))
		return;
	if (!now) {
		conn_visit_in(m, c, f->delack_ticks);
		return;
	}
	if ((c->flags & CF_ACK_NOW) != 0)
		return;
	if (FLOW_UNLIKELY(m->nack == FLOW_ACKS)) {
		flow_send_ack(m, f, c);
		return;
	}
	c->flags |= CF_ACK_NOW;
	m->ack[m->nack++] = conn_index(m, c);
}
