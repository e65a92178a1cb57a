/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that came: what they are, whose they are. A burst is worked on in steps, so that memory
 * is there when it is needed: headers and the places where connections are found; connections;
 * work. */
#include "flow_emit.h"
#include "flow_find.h"

enum { LEN_IP4 = 20, LEN_IP6 = 40, IPPROTO_OF_TCP = 6, IPPROTO_OF_UDP = 17 };

FLOW_ASIDE static bool rx_malformed(struct flow_machine *m)
{
	cell_add(&m->k.malformed, 1);
	return false;
}

FLOW_ASIDE static bool rx_not_ours(struct flow_machine *m)
{
	cell_add(&m->k.not_ours, 1);
	return false;
}

static uint32_t rx_whole(const struct flow_in *in)
{
	uint32_t n = in->len;

	for (const struct flow_piece *p = in->rest; p != NULL; p = p->next)
		n += p->len;
	return n;
}

/* The sum of n bytes from byte l4 of the frame on, over all pieces. false: some are not there. */
static bool rx_sum(const struct flow_in *in, unsigned l4, uint32_t n, uint64_t *sum)
{
	const struct flow_piece *p = in->rest;
	const uint8_t *data = in->data + l4;
	uint32_t have = in->len - l4;
	bool odd = false;

	for (;;) {
		uint32_t take = have < n ? have : n, part;

		if (data == NULL)
			return take == 0;
		part = wl_sum(data, take);
		if (odd) {
			part = flow_fold(part);
			part = (part & 0xff) << 8 | part >> 8;
		}
		*sum += part;
		odd ^= take % 2 != 0;
		n -= take;
		if (n == 0)
			return true;
		if (p == NULL)
			return false;
		data = p->data;
		have = p->len;
		p = p->next;
	}
}

/* Checks the sums of a frame whose device did not. */
static __attribute__((noinline)) void rx_verify(const struct flow_machine *m,
						const struct flow_in *in, struct flow_seg *g,
						unsigned l4, uint32_t l4_len)
{
	uint16_t field, pseudo;
	const uint8_t *ip = in->data + in->l3;
	uint64_t sum = __builtin_bswap16((uint16_t)(g->udp ? IPPROTO_OF_UDP : IPPROTO_OF_TCP));

	if (!g->is6 && flow_fold(wl_sum(ip, (ip[0] & 15u) * 4)) != 0xffff) {
		g->bad = true;
		return;
	}
	if (g->udp && get_be16(g->l4 + 6) == 0) {
		/* RFC 768: the sender made none. Over IPv6 that is not allowed (RFC 8200 8.1). */
		g->unverified = !g->is6;
		g->bad = g->is6;
		return;
	}
	sum += g->is6 ? wl_sum(ip + 8, 32) : wl_sum(ip + 12, 8);
	sum += __builtin_bswap16((uint16_t)l4_len) + __builtin_bswap16((uint16_t)(l4_len >> 16));
	memcpy(&field, g->l4 + (g->udp ? 6 : 16), 2);
	pseudo = flow_fold(sum);
	if (!rx_sum(in, l4, l4_len, &sum)) {
		g->unverified = true;
	} else if (flow_fold(sum) != 0xffff) {
		g->unverified = m->kernel_peer && field == pseudo;
		g->bad = !g->unverified;
	}
}

static __attribute__((noinline)) void rx_verdict(const struct flow_machine *m,
						 const struct flow_in *in, struct flow_seg *g,
						 unsigned l4, uint32_t l4_len)
{
	switch (in->verdict) {
	case FLOW_SUM_GOOD:
		break;
	case FLOW_SUM_BAD:
		g->bad = true;
		break;
	case FLOW_SUM_PARTIAL:
		g->unverified = true;
		break;
	default:
		if (m->verify_sums)
			rx_verify(m, in, g, l4, l4_len);
		else
			g->unverified = true;
	}
}

/* The IP header. *end: where its packet ends in the frame. Returns its protocol, -1: refused. */
static inline int rx_ip(struct flow_machine *m, const struct flow_in *in, struct flow_seg *g,
			unsigned *l4, uint32_t *end)
{
	const uint8_t *ip = in->data + in->l3;

	if (FLOW_UNLIKELY(in->len < in->l3 + 20u)) {
		rx_malformed(m);
		return -1;
	}
	if (FLOW_LIKELY(ip[0] >> 4 == 4)) {
		*l4 = in->l4 != 0 ? in->l4 : in->l3 + (ip[0] & 15u) * 4;
		*end = in->l3 + get_be16(ip + 2);
		memcpy(&g->remote, ip + 12, 4);
		memcpy(&g->local, ip + 16, 4);
		g->is6 = false;
		if (FLOW_UNLIKELY((get_be16(ip + 6) & 0x3fff) != 0)) {
			rx_not_ours(m);
			return -1;
		}
		return ip[9];
	}
	if (ip[0] >> 4 != 6 || !m->any6) {
		rx_not_ours(m);
		return -1;
	}
	if (in->len < in->l3 + 40u) {
		rx_malformed(m);
		return -1;
	}
	*l4 = in->l4 != 0 ? in->l4 : in->l3 + 40u;
	*end = in->l3 + 40u + get_be16(ip + 4);
	memcpy(&g->remote, ip + 20, 4);
	memcpy(&g->local, ip + 36, 4);
	g->is6 = true;
	/* with extension headers whoever says where they end has looked at the last one */
	return in->l4 != 0 ? (in->l4_udp ? IPPROTO_OF_UDP : IPPROTO_OF_TCP) : ip[6];
}

static inline bool rx_tcp(struct flow_machine *m, struct flow_seg *g, uint32_t l4_len)
{
	const uint8_t *t = g->l4;
	unsigned header = (t[12] >> 4) * 4u;
	uint32_t word[2];

	if (FLOW_UNLIKELY(header < 20 || header > l4_len || t + header > g->in->data + g->in->len))
		return rx_malformed(m);
	memcpy(word, t + 4, 8);
	g->seq = __builtin_bswap32(word[0]);
	g->ack = __builtin_bswap32(word[1]);
	g->flags = t[13] & (TH_FIN | TH_SYN | TH_RST | TH_ACK);
	g->wnd = (uint16_t)get_be16(t + 14);
	g->options = (uint16_t)(header - 20);
	g->data = t + header;
	g->len = l4_len - header;
	return true;
}

FLOW_ASIDE static bool rx_parse_any(struct flow_machine *m, const struct flow_in *in,
				    struct flow_seg *g)
{
	unsigned l4 = 0;
	uint32_t end = 0, l4_len, whole = in->rest == NULL ? in->len : rx_whole(in);
	int protocol = rx_ip(m, in, g, &l4, &end);

	if (protocol < 0)
		return false;
	if (FLOW_UNLIKELY(protocol != IPPROTO_OF_TCP && protocol != IPPROTO_OF_UDP))
		return rx_not_ours(m);
	g->udp = protocol == IPPROTO_OF_UDP;
	if (FLOW_UNLIKELY(l4 < in->l3 + 20u || end < l4 + (g->udp ? 8u : 20u) || end > whole ||
			  in->len < l4 + (g->udp ? 8u : 20u)))
		return rx_malformed(m);
	l4_len = end - l4;
	g->in = in;
	g->l4 = in->data + l4;
	g->bad = g->unverified = false;
	g->segments = in->segments == 0 ? 1 : in->segments;
	if (g->udp) {
		uint32_t says = get_be16(g->l4 + 4);

		if (says < 8 || says > l4_len)
			return rx_malformed(m);
		l4_len = says;
		g->data = g->l4 + 8;
		g->len = says - 8;
		g->flags = 0;
	} else if (!rx_tcp(m, g, l4_len)) {
		return false;
	}
	g->piece = (uint32_t)(in->data + in->len - g->data);
	if (g->piece > g->len)
		g->piece = g->len;
	/* the ports in the order of a connection: ours first */
	memcpy(&g->ports, g->l4, 4);
	g->ports = g->ports << 16 | g->ports >> 16;
	rx_verdict(m, in, g, l4, l4_len);
	return true;
}

/* The first step for the usual frame: TCP over IPv4 without options, in one piece, not a fragment.
 * false: it is another one. */
static FLOW_INLINE bool rx_usual(const struct flow_in *in, struct flow_early *e)
{
	/* version and length of the header; flags but "don't fragment", and the offset */
	const uint64_t mask = 0xff | (uint64_t)0x3f << 48 | (uint64_t)0xff << 56;
	const uint8_t *ip = in->data + in->l3;
	uint64_t first, addresses;
	uint32_t ports, end;

	if (FLOW_UNLIKELY(in->len < in->l3 + 40u) || FLOW_UNLIKELY(in->rest != NULL) ||
	    FLOW_UNLIKELY(in->l4 != 0))
		return false;
	memcpy(&first, ip, 8);
	if (FLOW_UNLIKELY((first & mask) != 0x45) || FLOW_UNLIKELY(ip[9] != IPPROTO_OF_TCP))
		return false;
	end = __builtin_bswap16((uint16_t)(first >> 16));
	if (FLOW_UNLIKELY(end < 40) || FLOW_UNLIKELY(in->l3 + end > in->len))
		return false;
	memcpy(&addresses, ip + 12, 8);
	memcpy(&ports, ip + 20, 4);
	memcpy(&e->remote, &addresses, 8);
	e->ports = ports << 16 | ports >> 16; /* ours first, as in a connection */
	e->l4 = ip + LEN_IP4;
	e->l4_len = end - LEN_IP4;
	e->summed = false;
	return true;
}

/* The same over IPv6, without extension headers. */
static bool rx_usual6(const struct flow_in *in, struct flow_early *e)
{
	const uint8_t *ip = in->data + in->l3;
	uint32_t ports, end;

	if (FLOW_UNLIKELY(in->len < in->l3 + 60u) || FLOW_UNLIKELY(in->rest != NULL) ||
	    FLOW_UNLIKELY(in->l4 != 0) || FLOW_UNLIKELY(ip[0] >> 4 != 6) ||
	    FLOW_UNLIKELY(ip[6] != IPPROTO_OF_TCP))
		return false;
	end = get_be16(ip + 4);
	if (FLOW_UNLIKELY(end < 20) || FLOW_UNLIKELY(in->l3 + LEN_IP6 + end > in->len))
		return false;
	memcpy(&e->remote, ip + 20, 4);
	memcpy(&e->local, ip + 36, 4);
	memcpy(&ports, ip + 40, 4);
	e->ports = ports << 16 | ports >> 16;
	e->l4 = ip + LEN_IP6;
	e->l4_len = end;
	e->summed = false;
	return true;
}

/* a + b, the carry added at the other end (RFC 1071 2 (A)). */
static inline uint64_t rx_add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? sum + 1 : sum;
}

/* The sum of n bytes that have 8 others before them: so the last ones are part of a word, too. */
static FLOW_INLINE uint64_t rx_words(const uint8_t *p, uint32_t n)
{
	uint64_t a = 0, b = 0, w[2];

	for (; n >= 16; n -= 16, p += 16) {
		memcpy(w, p, 16);
		a = rx_add(a, w[0]);
		b = rx_add(b, w[1]);
	}
	if (n >= 8) {
		memcpy(w, p, 8);
		a = rx_add(a, w[0]);
		n -= 8;
		p += 8;
	}
	if (n != 0) {
		memcpy(w, p + n - 8, 8);
		b = rx_add(b, w[0] >> (64 - 8 * n));
	}
	return rx_add(a, b);
}

/* Whether the sums of a frame that nobody has looked at are right. Headers are summed here, in the
 * words that they have: most segments are nothing else. */
bool flow_usual_sum(const struct flow_machine *m, const struct flow_in *in, struct flow_early *e)
{
	const uint8_t *t = e->l4;
	uint64_t ip[2], tcp[2], sum;
	uint32_t last;

	if (in->verdict != FLOW_SUM_UNKNOWN || !m->verify_sums)
		return false;
	if (FLOW_UNLIKELY(early_is6(e, in))) {
		sum = wl_sum(t - 32, 32);
	} else {
		memcpy(ip, t - 20, 16);
		memcpy(&last, t - 4, 4);
		if (flow_fold(rx_add(rx_add(ip[0], ip[1]), last)) != 0xffff)
			return false;
		memcpy(&sum, t - 8, 8); /* the addresses */
	}
	memcpy(tcp, t, 16);
	memcpy(&last, t + 16, 4);
	sum = rx_add(rx_add(sum, tcp[0]), tcp[1]);
	sum = rx_add(sum, (uint64_t)last + __builtin_bswap16((uint16_t)e->l4_len) +
				  __builtin_bswap16(IPPROTO_OF_TCP));
	if (e->l4_len > 20)
		sum = rx_add(sum, e->l4_len < 276 ? rx_words(t + 20, e->l4_len - 20)
						  : wl_sum(t + 20, e->l4_len - 20));
	/* it need not be done again if the segment is none of the usual ones */
	e->summed = flow_fold(sum) == 0xffff;
	return e->summed;
}

/* Where its connection is to be found. set: the set with slots, or the first of them; NULL: there
 * is none. */
static FLOW_INLINE void rx_place(const struct flow_machine *m, const struct flow_tuples *set,
				 struct flow_early *e, bool is6)
{
	if (set != NULL) {
		e->slot = flow_tuples_slot(set, e->remote, e->local, e->ports);
		e->dense = e->slot != NULL;
		if (FLOW_LIKELY(e->dense)) {
			__builtin_prefetch(e->slot);
			return;
		}
	}
	e->dense = false;
	e->key = flow_hash(m, is6 ? flow_fold16(e->l4 - LEN_IP6 + 8) : e->remote, e->local,
			   e->ports);
	flow_fetch_bucket(m, e->key);
}

static FLOW_INLINE void rx_fetch(const struct flow_machine *m, struct flow_early *e)
{
	e->at = e->dense ? *e->slot : flow_find_early(m, e->key);
	__builtin_prefetch(&m->conn[e->at], 1);
}

/* The last step: the rest of the headers, which are near by now. */
static inline bool rx_finish(struct flow_machine *m, const struct flow_in *in,
			     const struct flow_early *e, struct flow_seg *g)
{
	const uint8_t *t = e->l4;
	uint32_t header = (t[12] >> 4) * 4u, word[2];

	if (FLOW_UNLIKELY(header < 20 || header > e->l4_len))
		return rx_malformed(m);
	g->in = in;
	g->l4 = t;
	g->data = t + header;
	memcpy(&g->remote, &e->remote, 8);
	g->ports = e->ports;
	g->dense = e->dense;
	g->key = e->key;
	memcpy(word, t + 4, 8);
	g->seq = __builtin_bswap32(word[0]);
	g->ack = __builtin_bswap32(word[1]);
	g->len = g->piece = e->l4_len - header;
	g->options = (uint16_t)(header - 20);
	g->wnd = (uint16_t)get_be16(t + 14);
	g->flags = t[13] & (TH_FIN | TH_SYN | TH_RST | TH_ACK);
	g->segments = in->segments == 0 ? 1 : in->segments;
	g->is6 = early_is6(e, in);
	g->udp = g->bad = g->unverified = false;
	if (FLOW_UNLIKELY(in->verdict != FLOW_SUM_GOOD && !e->summed))
		rx_verdict(m, in, g, (unsigned)(t - in->data), e->l4_len);
	return true;
}

/* The early look was wrong, there was none, or something has happened in this burst. */
static __attribute__((noinline)) uint32_t rx_find(struct flow_machine *m, struct flow_seg *g)
{
	if (g->dense)
		g->key = flow_hash(m, g->is6 ? flow_fold16(seg_src6(g)) : g->remote, g->local,
				   g->ports);
	return flow_find(m, g);
}

/* A frame that is not the usual one. */
FLOW_ASIDE static void rx_any(struct flow_machine *m, const struct flow_in *in, struct flow_seg *g)
{
	uint32_t at;

	if (!rx_parse_any(m, in, g))
		return;
	g->dense = true; /* no key yet */
	at = rx_find(m, g);
	if (g->udp)
		flow_udp_in(m, at, g);
	else if (at != 0)
		flow_tcp_in(m, at, g);
	else
		flow_tcp_unknown(m, g);
}

static inline void rx_work(struct flow_machine *m, struct flow_seg *g, uint32_t at)
{
	const struct flow_conn *c = &m->conn[at];

	/* as flow_is_of() has it, where neither IPv6 nor identities must be looked at */
	if (FLOW_UNLIKELY(c->remote != g->remote || c->local != g->local || c->ports != g->ports ||
			  c->state == FLOW_FREE || c->state == FLOW_UDP || at == 0 || m->any6 ||
			  m->any_ident)) {
		if (at == 0 || !flow_is_of(m, at, g))
			at = rx_find(m, g);
		if (at == 0) {
			flow_tcp_unknown(m, g);
			return;
		}
	}
	flow_tcp_in(m, at, g);
}

static void rx_burst(struct flow_machine *m, const struct flow_in *in, unsigned n)
{
	const struct flow_tuples *set = m->nset != 0 ? m->set[0] : NULL;
	const bool straight = m->straight, any6 = m->any6;
	struct flow_early early[FLOW_BURST];
	struct flow_seg g;

	for (unsigned i = 0; i < n; i++) {
		if (FLOW_LIKELY(rx_usual(&in[i], &early[i])))
			rx_place(m, set, &early[i], false);
		else if (any6 && rx_usual6(&in[i], &early[i]))
			rx_place(m, set, &early[i], true);
		else
			early[i].l4_len = 0;
	}
	for (unsigned i = 0; i < n; i++) {
		if (FLOW_LIKELY(early[i].l4_len != 0))
			rx_fetch(m, &early[i]);
	}
	for (unsigned i = 0;; i++) {
		if (FLOW_LIKELY(straight))
			i = flow_tcp_straight(m, in, early, i, n);
		if (i == n)
			break;
		if (early[i].l4_len == 0)
			rx_any(m, &in[i], &g);
		else if (FLOW_LIKELY(rx_finish(m, &in[i], &early[i], &g)))
			rx_work(m, &g, early[i].at);
	}
}

void flow_rx(struct flow_machine *m, const struct flow_in *in, unsigned n, uint64_t now_ns)
{
	flow_now(m, now_ns);
	cell_add(&m->k.rx, n);
	for (; n > 0; in += FLOW_BURST) {
		unsigned some = n < FLOW_BURST ? n : FLOW_BURST;

		rx_burst(m, in, some);
		n -= some;
	}
}
