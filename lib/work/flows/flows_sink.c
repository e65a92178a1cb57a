/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the machine's frames go: into buffers of the share's pool, and to the device in bursts.
 * What the device does not take is the share's tail, and waits; meanwhile the machine finds no room
 * once the sink is full. */
#include "flows_own.h"

/* Writes WL_X into a buffer, which then carries the mark of such buffers. */
static __rte_noinline void sink_fill(struct rte_mbuf *m, unsigned room)
{
	memset(rte_pktmbuf_mtod(m, uint8_t *), WL_X, room);
	frame_touch(m);
	m->hash.usr = DP_MARK_FILLED;
}

/* Takes buffers from the pool, and if that has fewer, one: from there, or from among the rooms of
 * the other kind, which nobody may want for a long time. Returns how many, 0: there is none. */
static unsigned sink_take(struct flows_own *o, unsigned kind, struct rte_mbuf *m[FLOWS_ROOMS])
{
	struct flow_sink *s = &o->sink;
	unsigned other = kind == FLOW_PLAIN ? FLOW_FILLED : FLOW_PLAIN;

	if (likely(txq_take(o->q, m, FLOWS_ROOMS) == 0))
		return FLOWS_ROOMS;
	if (s->nroom[other] > 0) {
		m[0] = s->room[other][--s->nroom[other]].handle;
		return 1;
	}
	if (!o->nobuf && txq_take(o->q, m, 1) == 0)
		return 1;
	cell_add(&o->q->cnt.nombuf, !o->nobuf);
	o->nobuf = true;
	return 0;
}

/* Makes sure that all frames in the sink and n more ones can be super-frames. */
static bool sink_rests(struct flows_own *o, unsigned n)
{
	unsigned want = n + o->sink.nout;

	if (o->nrest < want) {
		if (txq_take(o->q, o->rest + o->nrest, want - o->nrest) != 0)
			return false;
		o->nrest = want;
	}
	return true;
}

static bool sink_rooms(struct flows_own *o, unsigned kind)
{
	struct flow_sink *s = &o->sink;
	struct rte_mbuf *m[FLOWS_ROOMS];
	unsigned n = sink_take(o, kind, m);

	if ((s->offload & FLOW_OFFLOAD_SEGMENT) != 0 && kind == FLOW_PLAIN) {
		while (n > 0 && !sink_rests(o, n))
			txq_give(o->q, &m[--n], 1);
		cell_add(&o->q->cnt.nombuf, n == 0 && !o->nobuf);
		o->nobuf |= n == 0;
	}
	for (unsigned i = 0; i < n; i++) {
		if (m[i]->data_off != RTE_PKTMBUF_HEADROOM)
			m[i]->data_off = RTE_PKTMBUF_HEADROOM;
		if (kind == FLOW_FILLED && unlikely(m[i]->hash.usr != DP_MARK_FILLED))
			sink_fill(m[i], s->room_bytes);
		s->room[kind][i] = (struct flow_room){.data = rte_pktmbuf_mtod(m[i], uint8_t *),
						      .handle = m[i]};
	}
	s->nroom[kind] = n;
	return n > 0;
}

/* Frames are at least as long as Ethernet wants them (IEEE 802.3): what is added is 0. */
#define SINK_LEAST (RTE_ETHER_MIN_LEN - RTE_ETHER_CRC_LEN)
static inline unsigned sink_pad(uint8_t *data, unsigned len)
{
	if (len >= SINK_LEAST)
		return len;
	memset(data + len, 0, 8);
	if (unlikely(len + 8 < SINK_LEAST))
		memset(data + len + 8, 0, 16);
	return SINK_LEAST;
}

/* A buffer in which something else may have been before. Its second line is as the pool has it. A
 * buffer of the kind FLOW_FILLED stays one. What is right already is not written: so the line stays
 * in the caches of both cores where a receiver is on another one, and has read it. */
static inline void sink_finish(struct rte_mbuf *m, unsigned len, bool filled)
{
	uint32_t mark = filled ? DP_MARK_FILLED : 0;

	if ((m->ol_flags | (m->data_len ^ len) | (m->pkt_len ^ len) | (m->nb_segs ^ 1u) |
	     (m->hash.usr ^ mark) | m->packet_type) == 0)
		return;
	m->nb_segs = 1;
	m->ol_flags = 0;
	m->data_len = (uint16_t)len;
	m->pkt_len = len;
	frame_touch(m);
	m->hash.usr = mark;
}

/* The filling of a super-frame: memory that nobody writes, and that is never given back. */
static void sink_add_rest(struct flows_own *o, struct rte_mbuf *m, const struct flow_out *out)
{
	struct rte_mbuf *rest = o->rest[--o->nrest];

	rte_mbuf_ext_refcnt_update(&o->rest_use, 1);
	rte_pktmbuf_attach_extbuf(rest, wl_rest + out->rest, 0, WL_REST - 1, &o->rest_use);
	rest->data_off = 0;
	rest->data_len = (uint16_t)out->fill;
	rest->hash.usr = out->rest == 0 ? DP_MARK_SAME : 0; /* the pattern lies behind WL_X */
	m->next = rest;
	m->nb_segs = 2;
	m->pkt_len += out->fill;
}

/* A frame of which the device is to complete something. */
static __rte_noinline void sink_finish_offload(struct flows_own *o, struct rte_mbuf *m,
					       const struct flow_out *out)
{
	bool is6 = rte_pktmbuf_mtod(m, const uint8_t *)[out->l3] >> 4 == 6;
	unsigned l4_len = out->payload - out->l4;

	m->ol_flags = (is6 ? RTE_MBUF_F_TX_IPV6 : RTE_MBUF_F_TX_IPV4) |
		      (l4_len == sizeof(struct rte_udp_hdr) ? RTE_MBUF_F_TX_UDP_CKSUM
							    : RTE_MBUF_F_TX_TCP_CKSUM);
	m->tx_offload = rte_mbuf_tx_offload(out->l3, (uint64_t)(out->l4 - out->l3), l4_len,
					    out->segment, 0, 0, 0);
	if (out->segment == 0)
		return;
	m->ol_flags |= RTE_MBUF_F_TX_TCP_SEG;
	if (out->fill != 0)
		sink_add_rest(o, m, out);
}

/* Counts frames of these sizes. The numbers of all classes are summed up in one register, 8 bits
 * each: a cell for each frame would make each addition wait for the one before. */
#define SINK_AT_ONCE 255
static void sink_sizes(struct cnt_sizes *sizes, const uint16_t *size, unsigned n)
{
	while (n > 0) {
		unsigned some = RTE_MIN(n, SINK_AT_ONCE);
		uint64_t sums = 0;

		for (unsigned i = 0; i < some; i++)
			sums += 1ull << cnt_size_class(size[i]) * 8;
		for (unsigned c = 0; sums != 0; c++, sums >>= 8)
			if ((sums & 0xff) != 0)
				cell_add(&sizes->n[c], sums & 0xff);
		size += some;
		n -= some;
	}
}
_Static_assert(CNT_NSIZES <= 8, "a class has 8 bits");

static void sink_drop_tail(struct flows_own *o)
{
	cell_add(&o->state->dropped, (uint64_t)(o->q->n - o->q->head));
	txq_drop_tail(o->q);
}

/* Offers the tail again. false: some of it is left. */
static __rte_noinline bool sink_flush_tail(struct flows_own *o, unsigned *moved)
{
	struct dp_txq *q = o->q;
	uint16_t size[DP_BURST_MAX];
	unsigned n = q->n - q->head;

	for (unsigned i = 0; i < n; i++) /* read before the device owns them */
		size[i] = (uint16_t)(q->m[q->head + i]->pkt_len + RTE_ETHER_CRC_LEN);
	unsigned sent = txq_flush(q, o->now);
	sink_sizes(&o->state->sizes, size, sent);
	*moved += sent;
	return !txq_has_tail(q);
}

/* Offers the frames of the sink, which are some, where there is no tail. */
static unsigned sink_offer(struct flows_own *o)
{
	struct dp_txq *q = o->q;
	struct flow_sink *s = &o->sink;
	uint16_t size[DP_BURST_MAX];
	uint64_t bytes = 0;
	unsigned differ = 0;

	if (unlikely(o->job->dead.n > 0)) {
		flows_dead_tx(o);
		if (s->nout == 0)
			return 0;
	}
	unsigned n = s->nout, sent;
	for (unsigned i = 0; i < n; i++) {
		struct rte_mbuf *m = s->out[i].handle;
		unsigned fill = likely(s->out[i].segment == 0) ? s->out[i].fill : 0;
		unsigned len = s->out[i].len + fill;

		if (fill == 0 && likely(s->out[i].segment == 0))
			len = sink_pad(rte_pktmbuf_mtod(m, uint8_t *), len);
		sink_finish(m, len, fill != 0);
		if (unlikely(s->out[i].sum_wanted)) {
			sink_finish_offload(o, m, &s->out[i]);
			len = m->pkt_len;
		}
		q->m[i] = m;
		size[i] = (uint16_t)(len + RTE_ETHER_CRC_LEN);
		bytes += size[i];
		differ |= size[i] ^ size[0];
	}
	s->nout = 0;
	sent = txq_offer(q, n);
	if (unlikely(sent < n)) {
		for (unsigned i = sent; i < n; i++)
			bytes -= size[i];
		if (q->edits == DP_EDITS_ALL)
			sink_drop_tail(o);
	}
	if (likely(sent > 0))
		txq_count(q, sent, bytes, o->now);
	if (differ == 0)
		cell_add(&o->state->sizes.n[cnt_size_class(size[0])], sent);
	else
		sink_sizes(&o->state->sizes, size, sent);
	return sent;
}

unsigned flows_sink_send(struct flows_own *o)
{
	unsigned moved = 0;

	if (o->refused)
		return 0;
	if (unlikely(txq_has_tail(o->q)) && !sink_flush_tail(o, &moved)) {
		o->refused = true;
		return moved;
	}
	if (o->sink.nout == 0)
		return moved;
	moved += sink_offer(o);
	o->refused = txq_has_tail(o->q);
	return moved;
}

static bool sink_more(struct flow_sink *s, unsigned kind)
{
	struct flows_own *o = s->owner;

	if (s->nout == s->max_out) {
		o->moved += flows_sink_send(o);
		if (s->nout == s->max_out)
			return false;
	}
	return s->nroom[kind] > 0 || sink_rooms(o, kind);
}

/* Payload of a super-frame: with all headers it fits into the 64 KB of an IP packet. */
#define SINK_SUPER 65000

/* Never: the count of users begins at 1. */
static void sink_rest_unused(void *addr, void *arg)
{
	(void)addr, (void)arg;
}

void flows_sink_begin(struct flows_own *o, const struct flows_job *j)
{
	struct flow_sink *s = &o->sink;
	unsigned room = rte_pktmbuf_data_room_size(j->q->pool);

	o->q = j->q;
	o->job = j;
	j->q->cache = rte_mempool_default_cache(j->q->pool, rte_lcore_id());
	for (unsigned k = 0; k < FLOW_ROOMS; k++)
		s->room[k] = o->room[k];
	/* a buffer in which a device may write would have to be filled each time */
	s->offload = o->q->edits == DP_EDITS_ALL ? 0 : FLOW_OFFLOAD_FILL | j->offload;
	s->max_super = SINK_SUPER;
	/* super-frames are chains, which go back buffer by buffer */
	if ((j->offload & FLOW_OFFLOAD_SEGMENT) != 0 && !o->q->foreign) {
		o->q->foreign = true;
		rte_mbuf_ext_refcnt_set(&o->rest_use, 1);
		o->rest_use.free_cb = sink_rest_unused;
	}
	/* rooms may be there that have been taken before without them */
	if ((s->offload & FLOW_OFFLOAD_SEGMENT) != 0 && !sink_rests(o, s->nroom[FLOW_PLAIN]))
		s->offload &= (uint8_t)~FLOW_OFFLOAD_SEGMENT;
	s->out = o->out;
	if (s->nout == 0)
		s->max_out = RTE_MAX(RTE_MIN((unsigned)j->burst, (unsigned)DP_BURST_MAX), 1u);
	s->more = sink_more;
	s->room_bytes = room - RTE_MIN(room, (unsigned)RTE_PKTMBUF_HEADROOM);
	s->owner = o;
}

void flows_sink_end(struct flows_own *o)
{
	struct flow_sink *s = &o->sink;
	struct rte_mbuf *m[DP_BURST_MAX];

	if (txq_has_tail(o->q))
		sink_drop_tail(o);
	for (unsigned k = 0; k < FLOW_ROOMS; k++) {
		for (unsigned i = 0; i < s->nroom[k]; i++)
			m[i] = s->room[k][i].handle;
		txq_give(o->q, m, s->nroom[k]);
		s->nroom[k] = 0;
	}
	for (unsigned i = 0; i < s->nout; i++) {
		m[i] = s->out[i].handle;
		/* the mark of what it held before is no longer true */
		if (s->out[i].fill == 0 || s->out[i].segment != 0)
			frame_touch(m[i]);
	}
	txq_give(o->q, m, s->nout);
	txq_give(o->q, o->rest, o->nrest);
	o->nrest = 0;
	cell_add(&o->state->dropped, s->nout);
	cell_add(&o->q->cnt.dropped, s->nout);
	s->nout = 0;
}
