/* SPDX-License-Identifier: BSD-3-Clause */
/* Received frames: which of them are of flows, and what the machine is told about them. */
#include "flows_own.h"
#include "proto_run.h"

/* ---- which are claimed ---- */

/* To whom a frame is. */
struct sort_to {
	uint32_t address;
	uint16_t port;
	bool udp;
	const uint8_t *prefix6;
};

/* Goes through the extension headers of an IPv6 packet of which len bytes are there (RFC 8200 4).
 * Returns where TCP or UDP begins, with the protocol's number; 0: not in these bytes, or it is
 * not the first fragment. */
static __rte_noinline unsigned sort_extensions(const uint8_t *ip, unsigned len, unsigned *protocol)
{
	unsigned at = LEN_IP6, next = ip[6];

	while (next != IP_TCP && next != IP_UDP) {
		if (len < at + 8)
			return 0;
		if (next == IP_FRAG && (get_be16(ip + at + 2) & 0xfff9) != 0)
			return 0;
		if (next != IP_HOPOPT && next != IP_ROUTE && next != IP_DSTOPT && next != IP_FRAG)
			return 0;
		unsigned bytes = next == IP_FRAG ? 8 : (ip[at + 1] + 1u) * 8;
		next = ip[at];
		at += bytes;
	}
	*protocol = next;
	return at;
}

/* Where TCP or UDP begins in an IPv6 packet. */
static inline unsigned sort_l4_of6(const uint8_t *ip, unsigned len, unsigned *protocol)
{
	*protocol = ip[6];
	if (likely(ip[6] == IP_TCP || ip[6] == IP_UDP))
		return LEN_IP6;
	return sort_extensions(ip, len, protocol);
}

unsigned flows_l4_of6(const uint8_t *ip, unsigned len)
{
	unsigned protocol;

	return sort_l4_of6(ip, len, &protocol);
}

/* false: it is neither TCP nor UDP, or not the first fragment. */
static inline bool sort_read(const struct flows_shape *s, const uint8_t *ip, unsigned len,
			     struct sort_to *to)
{
	unsigned header, protocol;

	if (unlikely(s->is6)) {
		if (ip[0] >> 4 != 6 || len < LEN_IP6 + 4)
			return false;
		header = sort_l4_of6(ip, len, &protocol);
		if (header == 0 || len < header + 4)
			return false;
		to->prefix6 = ip + 24;
		memcpy(&to->address, ip + 36, 4);
	} else {
		header = (ip[0] & 15u) * 4;
		protocol = ip[9];
		if (unlikely(ip[0] >> 4 != 4 || header < LEN_IP4 || len < header + 4 ||
			     (get_be16(ip + 6) & 0x1fff) != 0))
			return false;
		memcpy(&to->address, ip + 16, 4);
	}
	to->address = rte_be_to_cpu_32(to->address);
	to->port = (uint16_t)get_be16(ip + header + 2);
	to->udp = protocol == IP_UDP;
	return to->udp || protocol == IP_TCP;
}

/* The end that a frame is for; NULL: none. */
static inline const struct flows_end *sort_end(const struct flows_job *j, unsigned shape,
					       unsigned ident, const struct sort_to *to)
{
	for (uint64_t ends = j->ends[ident]; ends != 0; ends &= ends - 1) {
		const struct flows_end *e = &j->end[__builtin_ctzll(ends)];

		if (to->address >= e->from && to->address <= e->to && to->port >= e->port_from &&
		    to->port <= e->port_to && e->udp == to->udp &&
		    (!j->shape[shape].is6 || memcmp(to->prefix6, e->prefix6, 12) == 0))
			return e;
	}
	return NULL;
}

/* Whether a packet is a piece of one, and not the first: *address, *prefix6: whose it is. */
static bool sort_is_piece(const struct flows_shape *s, const uint8_t *ip, unsigned len,
			  struct sort_to *to)
{
	unsigned at = LEN_IP6, next = ip[6];

	if (!s->is6) {
		memcpy(&to->address, ip + 16, 4);
		return ip[0] >> 4 == 4 && (get_be16(ip + 6) & 0x1fff) != 0;
	}
	if (ip[0] >> 4 != 6)
		return false;
	while (next == IP_HOPOPT || next == IP_ROUTE || next == IP_DSTOPT) {
		if (len < at + 8)
			return false;
		next = ip[at];
		at += (ip[at + 1] + 1u) * 8;
	}
	if (next != IP_FRAG || len < at + 8)
		return false;
	to->prefix6 = ip + 24;
	memcpy(&to->address, ip + 36, 4);
	return (get_be16(ip + at + 2) & 0xfff9) != 0;
}

/* Whether a frame that no flow can take is a piece of a packet to one of our ends. */
static __rte_noinline bool sort_piece(const struct flows_job *j, const struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);

	for (unsigned i = 0; i < j->nshapes; i++) {
		const struct flows_shape *s = &j->shape[i];
		struct sort_to to = {0};
		unsigned ident;

		if (m->data_len < s->l3 + (s->is6 ? LEN_IP6 + 8u : 24u) ||
		    !flows_is_like(s, frame) ||
		    !sort_is_piece(s, frame + s->l3, m->data_len - s->l3, &to))
			continue;
		ident = flows_ident_of(j, i, frame);
		to.address = rte_be_to_cpu_32(to.address);
		for (uint64_t ends = ident != FLOWS_IDENTS ? j->ends[ident] : 0; ends != 0;
		     ends &= ends - 1) {
			const struct flows_end *e = &j->end[__builtin_ctzll(ends)];
			if (to.address >= e->from && to.address <= e->to &&
			    (!s->is6 || memcmp(to.prefix6, e->prefix6, 12) == 0))
				return true;
		}
	}
	return false;
}

#define SORT_NONE 0xff
/* The shape of a frame of flows, perhaps with FLOWS_HAND; SORT_NONE: it is of none. *of: its
 * network. */
static inline unsigned sort_shape(const struct flows_job *j, const struct rte_mbuf *m, uint16_t *of)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);

	for (unsigned k = 0; k < j->nshapes; k++) {
		unsigned i = j->order[k], ident;
		const struct flows_shape *s = &j->shape[i];
		const struct flows_end *e;
		struct sort_to to = {0};

		if (m->data_len < s->l3 + 24u || !flows_is_like(s, frame) ||
		    !sort_read(s, frame + s->l3, m->data_len - s->l3, &to))
			continue;
		ident = flows_ident_of(j, i, frame);
		e = ident != FLOWS_IDENTS ? sort_end(j, i, ident, &to) : NULL;
		if (e == NULL)
			continue;
		*of = (uint16_t)ident;
		return e->hand ? i | FLOWS_HAND : i;
	}
	return SORT_NONE;
}

/* The same in a few steps, where a frame is one of the usual ones; false: it has to be looked at in
 * full. All conditions are one, so that there is one jump. */
static __rte_always_inline bool sort_is_usual(const struct flows_usual *u, const struct rte_mbuf *m)
{
	/* version and length of the IP header, and the fragment's offset */
	const uint64_t header = 0xff | (uint64_t)0x1f << 48 | (uint64_t)0xff << 56;
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *), *ip = frame + u->l3;
	uint64_t word[FLOWS_USUAL_WORDS], first, differ;
	uint32_t address;

	if (unlikely(m->data_len < u->l3 + 24u))
		return false;
	memcpy(word, frame, sizeof(word));
	memcpy(&first, ip, sizeof(first));
	memcpy(&address, ip + 16, sizeof(address));
	differ = (first ^ 0x45) & header;
	for (unsigned i = 0; i < FLOWS_USUAL_WORDS; i++)
		differ |= (word[i] ^ u->value[i]) & u->mask[i];
	differ |= (uint64_t)(ip[9] ^ u->protocol);
	differ |= (uint64_t)(rte_be_to_cpu_32(address) - u->from > u->span);
	differ |= (uint64_t)((uint16_t)(get_be16(ip + 22) - u->port_from) > u->port_span);
	return differ == 0;
}

/* What is claimed comes to flows_rx() at once, in the same order: by then its shape is known. */
void flows_claims(const void *arg, const struct dp_burst *b, struct rte_mbuf *const *m, unsigned n,
		  uint8_t *owner, uint8_t mine)
{
	const struct flows_claim *claim = arg;
	struct flows_own *o = flows_own(claim->state);
	const struct flows_usual usual = claim->job->usual;
	unsigned claimed = 0;

	(void)b;
	for (unsigned i = 0; i < n; i++) {
		unsigned shape;

		if (i + 4 < n)
			rte_prefetch0(rte_pktmbuf_mtod(m[i + 4], const void *));
		if (owner[i] != 0)
			continue;
		if (likely(usual.there) && likely(sort_is_usual(&usual, m[i]))) {
			owner[i] = mine;
			o->shape[claimed] = usual.told;
			o->ident[claimed++] = usual.ident;
			continue;
		}
		shape = sort_shape(claim->job, m[i], &o->ident[claimed]);
		if (shape == SORT_NONE) {
			cell_add(&claim->state->pieces, sort_piece(claim->job, m[i]));
			continue;
		}
		owner[i] = mine;
		o->shape[claimed++] = (uint8_t)shape;
	}
}

/* ---- what the machine is told ---- */

#define SORT_BURST 64
#define SORT_PIECES 128

/* What the device, or the sender in this process, says of the checksums. */
static __rte_noinline enum flow_verdict sort_judge(uint64_t flags, const struct flows_shape *s)
{
	uint64_t l4 = flags & RTE_MBUF_F_RX_L4_CKSUM_MASK, ip = flags & RTE_MBUF_F_RX_IP_CKSUM_MASK;

	/* of a tunnel a device may have judged the outer headers alone */
	if (s->tunnel && (flags & (RTE_MBUF_F_TX_L4_MASK | RTE_MBUF_F_TX_TCP_SEG)) == 0)
		return FLOW_SUM_UNKNOWN;
	if (ip == RTE_MBUF_F_RX_IP_CKSUM_BAD || l4 == RTE_MBUF_F_RX_L4_CKSUM_BAD)
		return FLOW_SUM_BAD;
	if ((flags & (RTE_MBUF_F_TX_L4_MASK | RTE_MBUF_F_TX_TCP_SEG)) != 0 ||
	    l4 == RTE_MBUF_F_RX_L4_CKSUM_NONE)
		return FLOW_SUM_PARTIAL;
	if (l4 == RTE_MBUF_F_RX_L4_CKSUM_GOOD && (s->is6 || ip == RTE_MBUF_F_RX_IP_CKSUM_GOOD))
		return FLOW_SUM_GOOD;
	return FLOW_SUM_UNKNOWN;
}

/* The same where nobody looks at what the device has not judged: only what it says is wrong is. */
static __rte_noinline enum flow_verdict sort_trust(uint64_t flags, const struct flows_shape *s)
{
	uint64_t outer = flags & RTE_MBUF_F_RX_OUTER_L4_CKSUM_MASK;

	if ((flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) == RTE_MBUF_F_RX_IP_CKSUM_BAD ||
	    (flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_BAD ||
	    (flags & RTE_MBUF_F_RX_OUTER_IP_CKSUM_BAD) != 0 ||
	    outer == RTE_MBUF_F_RX_OUTER_L4_CKSUM_BAD)
		return FLOW_SUM_BAD;
	return sort_judge(flags, s) == FLOW_SUM_GOOD ? FLOW_SUM_GOOD : FLOW_SUM_PARTIAL;
}

#define SORT_FLAGS \
	(RTE_MBUF_F_RX_L4_CKSUM_MASK | RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_TX_L4_MASK | \
	 RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_RX_LRO | RTE_MBUF_F_RX_OUTER_IP_CKSUM_BAD | \
	 RTE_MBUF_F_RX_OUTER_L4_CKSUM_MASK)

/* What lies in further segments. When SORT_PIECES are used, the rest of a frame is bytes that
 * nobody kept: for that each frame of a burst has one more place. It is so of a frame that has more
 * than SORT_PIECES by itself. */
static const struct flow_piece *sort_pieces(const struct rte_mbuf *m, struct flow_piece *piece,
					    unsigned *used)
{
	uint32_t left = m->pkt_len - m->data_len;
	struct flow_piece *first = NULL, *last = NULL;

	for (m = m->next; m != NULL; m = m->next) {
		bool fits = *used < SORT_PIECES;
		struct flow_piece *p = &piece[(*used)++];

		*p = (struct flow_piece){.len = left};
		if (fits)
			*p = (struct flow_piece){.data = rte_pktmbuf_mtod(m, const uint8_t *),
						 .len = m->data_len};
		if (last != NULL)
			last->next = p;
		else
			first = p;
		last = p;
		if (!fits)
			break;
		left -= m->data_len;
	}
	return first;
}

/* Behind extension headers TCP or UDP is not where the machine would look. */
static __rte_noinline void sort_tell_l4(const uint8_t *ip, struct flow_in *in)
{
	unsigned protocol = 0, at = sort_extensions(ip, in->len - in->l3, &protocol);

	in->l4 = (uint16_t)(at == 0 ? 0 : in->l3 + at);
	in->l4_udp = protocol == IP_UDP;
}

static bool sort_is_udp(const struct flow_in *in)
{
	const uint8_t *ip = in->data + in->l3;

	if (in->l4 != 0)
		return in->l4_udp;
	return (ip[0] >> 4 == 6 ? ip[6] : ip[9]) == IP_UDP;
}

/* On how many frames of a network a super-frame of TCP would have come: its payload by
 * tso_segsz. */
static __rte_noinline uint8_t sort_segments(const struct flow_in *in, const struct rte_mbuf *m)
{
	const uint8_t *ip = in->data + in->l3;
	unsigned l4 = in->l4, headers;

	if (l4 == 0)
		l4 = in->l3 + (ip[0] >> 4 == 6 ? LEN_IP6 : (ip[0] & 15u) * 4);
	headers = l4;
	if (in->len >= l4 + 13)
		headers += (in->data[l4 + 12] >> 4) * 4u;
	uint32_t payload = m->pkt_len - RTE_MIN(headers, m->pkt_len);
	uint32_t n = (payload + m->tso_segsz - 1) / m->tso_segsz;
	return (uint8_t)RTE_MAX(RTE_MIN(n, 255u), 1u);
}

/* true: it is a super-frame of UDP, which flows_datagrams() takes. */
static inline bool sort_tell(const struct flows_shape *s, bool trust, uint16_t ident,
			     const struct rte_mbuf *m, struct flow_in *in)
{
	*in = (struct flow_in){.data = rte_pktmbuf_mtod(m, const uint8_t *),
			       .len = m->data_len,
			       .l3 = s->l3,
			       .ident = ident,
			       .verdict = trust ? FLOW_SUM_PARTIAL : FLOW_SUM_UNKNOWN};
	if (unlikely(s->is6) && unlikely(in->data[s->l3 + 6] != IP_TCP) &&
	    in->data[s->l3 + 6] != IP_UDP)
		sort_tell_l4(in->data + s->l3, in);
	if (unlikely((m->ol_flags & SORT_FLAGS) != 0)) {
		in->verdict =
			(uint8_t)(trust ? sort_trust(m->ol_flags, s) : sort_judge(m->ol_flags, s));
		if ((m->ol_flags & RTE_MBUF_F_RX_LRO) != 0 && m->tso_segsz != 0) {
			if (sort_is_udp(in))
				return true;
			in->segments = sort_segments(in, m);
		}
	}
	return false;
}

/* What the machine is told of all usual frames alike. */
static inline struct flow_in sort_usual_in(const struct flows_job *j)
{
	return (struct flow_in){.l3 = j->usual.l3,
				.ident = j->usual.ident,
				.verdict = j->trust ? FLOW_SUM_PARTIAL : FLOW_SUM_UNKNOWN};
}

/* Whether nothing but where it is and how long it is tells a claimed frame of the usual shape from
 * others. */
static inline bool sort_is_bare(const struct rte_mbuf *m)
{
	return ((m->ol_flags & SORT_FLAGS) | (m->nb_segs ^ 1u)) == 0;
}

/* The network of a frame that was claimed, maybe by another worker, whose plan may be a newer one:
 * then it is of no connection here. */
static inline uint16_t sort_ident(const struct flows_job *j, unsigned shape,
				  const struct rte_mbuf *m)
{
	return (uint16_t)flows_ident_of(j, shape, rte_pktmbuf_mtod(m, const uint8_t *));
}

/* What headers outside of the innermost one say of a frame. */
static __rte_noinline void sort_outer(const struct flows_job *j, const struct flows_shape *s,
				      struct flow_in *in)
{
	enum flow_verdict v = flows_outer_judge(s, in, j->kernel_peer);

	if (v == FLOW_SUM_BAD || (v == FLOW_SUM_PARTIAL && in->verdict != FLOW_SUM_BAD))
		in->verdict = (uint8_t)v;
}

/* How many of claimed frames came to group addresses. */
static unsigned sort_groups(struct rte_mbuf *const *m, unsigned n, const struct dp_burst *b)
{
	unsigned groups = 0;

	if (b->dst == 0 ? !b->group : (b->dst & DP_DST_GROUP) == 0)
		return 0;
	for (unsigned i = 0; i < n; i++)
		groups += *rte_pktmbuf_mtod(m[i], const uint8_t *) & 1u;
	return groups;
}

/* All frames of a burst were of no connection: notes where the last one came from. */
static __rte_noinline void sort_stray(struct flows_state *s, const struct flow_in *in)
{
	const uint8_t *ip = in->data + in->l3;
	bool is6 = ip[0] >> 4 == 6;
	unsigned l4 = is6 ? 40 : (ip[0] & 15u) * 4;
	uint64_t address[2] = {0};
	uint32_t v4;

	if (in->len < in->l3 + l4 + 2u)
		return;
	if (is6) {
		memcpy(address, ip + 8, sizeof(address));
	} else {
		memcpy(&v4, ip + 12, sizeof(v4));
		address[1] = v4;
	}
	cell_set(&s->stray[0], address[0]);
	cell_set(&s->stray[1], address[1]);
	cell_set(&s->stray_port, (uint64_t)(ip[l4] << 8 | ip[l4 + 1]) | (is6 ? FLOWS_STRAY_6 : 0) |
					 FLOWS_STRAY_KNOWN);
}

/* Some frames were of no connection: counts those that a device has dealt in another way than it
 * says. The machine of another queue seldom knows a tuple of theirs, so they are among these. */
static __rte_noinline void sort_other_queue(struct flows_state *s, const struct flows_job *j,
					    struct rte_mbuf *const *m, const uint8_t *shape,
					    unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		const struct flows_shape *like = &j->shape[shape[i]];
		unsigned ident = sort_ident(j, shape[i], m[i]);
		const struct flow_spec *spec;
		const struct flows_end *e;
		struct sort_to to = {0};
		struct flow_tuple t;

		if (ident == FLOWS_IDENTS || !flows_tuple_of(like, m[i], &t) ||
		    !sort_read(like, rte_pktmbuf_mtod(m[i], const uint8_t *) + like->l3,
			       m[i]->data_len - like->l3, &to))
			continue;
		e = sort_end(j, shape[i], ident, &to);
		if (e == NULL || e->steered == 0 || e->is6 != like->is6)
			continue;
		spec = &j->flow[e->steered - 1].version->spec[j->queue];
		cell_add(&s->other_queue, !spec->mine(spec->mine_arg, &t));
	}
}

void flows_rx(struct dp_worker *w, const struct dp_task *t, struct dp_rxq *rx, struct rte_mbuf **m,
	      unsigned n, const struct dp_burst *b, uint64_t now)
{
	struct flows_state *s = (struct flows_state *)t->state;
	struct flows_own *o = flows_own(s);
	const struct flows_job *j = t->job;
	struct flow_in in[SORT_BURST];
	struct flow_piece piece[SORT_PIECES + SORT_BURST];

	const cell_t *no_match = &flow_machine_counts(j->machine)->no_match;
	bool handed = unlikely(j->hand != NULL) && rx == &j->hand->in;
	/* SORT_NONE is no shape: then none is usual */
	const unsigned told = j->usual.there && j->hand == NULL ? j->usual.told : SORT_NONE;
	const struct flow_in usual = sort_usual_in(j);

	(void)w;
	/* A ring has no sort, so that the time may be that of the turn before, in which what is
	 * answered here was sent. */
	flows_now(o, j, handed ? rte_rdtsc() : now);
	if (likely(!handed)) {
		cell_add(&s->claimed, n);
		cell_add(&s->claimed_group, sort_groups(m, n, b));
	}
	if (unlikely(j->dead.n > 0) && !handed)
		n = flows_dead_rx(o, j, m, n);
	if (unlikely(j->hand != NULL) && !handed)
		n = flows_hand_over(o, j, m, n);
	for (unsigned i = 0, some; i < n; i += some) {
		unsigned pieces = 0, most = RTE_MIN(n - i, SORT_BURST);
		const struct rte_mbuf *many =
			NULL; /* the last one, if it is of several datagrams */

		for (some = 0; some < most && likely(many == NULL); some++) {
			if (likely(o->shape[i + some] == told) &&
			    likely(sort_is_bare(m[i + some]))) {
				in[some] = usual;
				in[some].data = rte_pktmbuf_mtod(m[i + some], const uint8_t *);
				in[some].len = m[i + some]->data_len;
				continue;
			}
			const struct flows_shape *shape = &j->shape[o->shape[i + some]];

			/* The next round has room for all of a super-frame. */
			if (unlikely(pieces + m[i + some]->nb_segs > SORT_PIECES) && some > 0)
				break;
			uint16_t ident = likely(j->hand == NULL)
						 ? o->ident[i + some]
						 : sort_ident(j, o->shape[i + some], m[i + some]);
			if (unlikely(sort_tell(shape, j->trust, ident, m[i + some], &in[some])))
				many = m[i + some];
			if (unlikely(m[i + some]->nb_segs > 1))
				in[some].rest = sort_pieces(m[i + some], piece, &pieces);
			if (unlikely(shape->nchecks != 0) && !j->trust)
				sort_outer(j, shape, &in[some]);
		}
		unsigned given = likely(many == NULL) ? some : some - 1;
		uint64_t strays = cell_get(no_match);
		flow_rx(j->machine, in, given, o->now_ns);
		if (unlikely(cell_get(no_match) != strays)) {
			if (cell_get(no_match) - strays == given)
				sort_stray(s, &in[given - 1]);
			sort_other_queue(s, j, m + i, o->shape + i, given);
		}
		if (unlikely(many != NULL))
			flows_datagrams(j->machine, &in[some - 1], many, o->now_ns);
	}
	if (unlikely(handed))
		flows_hand_free(j->hand, o, m, n);
	else if (likely(n > 0))
		dp_free_burst(m, n, b->plain);
	s->base.next = DP_NOW;
}
