/* SPDX-License-Identifier: BSD-3-Clause */
/* What ICMP says of segments that we have sent (RFC 1122 4.2.3.9, RFC 5461, RFC 5927). */
#include "flow_emit.h"
#include "flow_find.h"

/* The next smaller MTU that links have (RFC 1191 7), for routers that do not tell theirs. */
static uint32_t icmp_plateau(uint32_t mtu)
{
	static const uint16_t plateau[] = {32000, 17914, 8166, 4352, 2002, 1492, 1280, 1006, 508};

	for (unsigned i = 0; i < ARRAY_SIZE(plateau); i++) {
		if (plateau[i] < mtu)
			return plateau[i];
	}
	return 296;
}

/* Reads the quoted headers. *seq: of TCP. */
static bool icmp_quote(const uint8_t *q, unsigned len, struct flow_seg *g, uint32_t *seq)
{
	unsigned l4;
	uint8_t protocol;

	if (len < 28)
		return false;
	if (q[0] >> 4 == 4) {
		if ((q[6] & 0x1f) != 0 || q[7] != 0) /* ports stand in the first fragment */
			return false;
		l4 = (q[0] & 15u) * 4;
		protocol = q[9];
		memcpy(&g->local, q + 12, 4);
		memcpy(&g->remote, q + 16, 4);
	} else {
		l4 = 40;
		protocol = q[6];
		if (q[0] >> 4 != 6 || len < l4 + 8)
			return false;
		g->is6 = true;
		memcpy(&g->local, q + 20, 4);
		memcpy(&g->remote, q + 36, 4);
	}
	if (l4 < 20 || len < l4 + 8 || (protocol != 6 && protocol != 17))
		return false;
	g->udp = protocol == 17;
	memcpy(&g->ports, q + l4, 4);
	memcpy(seq, q + l4 + 4, 4);
	*seq = __builtin_bswap32(*seq);
	return true;
}

/* Whether segments become smaller. */
static bool icmp_too_big(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
			 uint32_t mtu)
{
	uint32_t headers = f->spec->is6 ? 60 : 40, mss;

	if (mtu == 0)
		mtu = icmp_plateau(c->mss + headers);
	mss = mtu < headers + 64 ? 64 : mtu - headers;
	/* RFC 8200 5: no link is smaller than 1280 */
	if (f->spec->is6 && mss < 1220)
		mss = 1220;
	if (mss >= c->mss)
		return false;
	cell_add(&f->k->pmtu_lowered, 1);
	c->mss = (uint16_t)mss;
	flow_loss_smaller(m, f, c);
	return true;
}

static cell_t *icmp_cell(struct flow_counts *k, enum flow_icmp what)
{
	switch (what) {
	case FLOW_ICMP_TOO_BIG:
		return &k->icmp_too_big;
	case FLOW_ICMP_PORT:
		return &k->icmp_port;
	case FLOW_ICMP_HOST:
		return &k->icmp_host;
	case FLOW_ICMP_PROHIBITED:
		return &k->icmp_prohibited;
	case FLOW_ICMP_OTHER:
	case FLOW_ICMP_EXCEEDED:
		break;
	}
	return &k->icmp_other;
}

static void icmp_udp(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
		     enum flow_icmp what)
{
	cell_add(icmp_cell(f->k, what), 1);
	if (what != FLOW_ICMP_TOO_BIG && what != FLOW_ICMP_EXCEEDED)
		flow_conn_end(m, c, WL_END_RESET_BY_PEER, false);
}

static void icmp_tcp(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
		     enum flow_icmp what, uint32_t mtu, uint32_t seq)
{
	/* RFC 5927 4.1: only of what is on its way */
	bool stale = seq - c->una >= c->nxt - c->una || c->state == FLOW_TIME_WAIT;

	if (!stale && what == FLOW_ICMP_TOO_BIG) /* a SYN is small */
		stale = c->state == FLOW_SYN_SENT || c->state == FLOW_SYN_RECEIVED ||
			!icmp_too_big(m, f, c, mtu);
	cell_add(stale ? &f->k->icmp_ignored : icmp_cell(f->k, what), 1);
	if (!stale && what != FLOW_ICMP_TOO_BIG && what != FLOW_ICMP_EXCEEDED &&
	    c->state == FLOW_SYN_SENT)
		flow_conn_end(m, c, WL_END_UNREACHABLE, false);
}

int flow_icmp(struct flow_machine *m, enum flow_icmp what, uint32_t mtu, const uint8_t *quote,
	      unsigned len, uint16_t ident, uint64_t now_ns)
{
	uint8_t ip6[40] = {
		0}; /* a header of the peer's segments, of which only addresses are read */
	const struct flow_in in = {.ident = ident, .data = ip6};
	struct flow_seg g = {.in = &in};
	struct flow_conn *c;
	struct flow_ver *f;
	uint32_t at, seq;

	if (!icmp_quote(quote, len, &g, &seq) || (g.is6 && !m->any6))
		return -1;
	flow_now(m, now_ns);
	if (g.is6) {
		memcpy(ip6 + 8, quote + 24, 16);
		memcpy(ip6 + 24, quote + 8, 16);
	}
	g.key = flow_hash(m, g.is6 ? flow_fold16(ip6 + 8) : g.remote, g.local, g.ports);
	at = flow_find(m, &g);
	if (at == 0)
		return -1;
	c = &m->conn[at];
	f = conn_live(m, c);
	if (c->state == FLOW_UDP)
		icmp_udp(m, f, c, what);
	else
		icmp_tcp(m, f, c, what, mtu, seq);
	return f->number;
}
