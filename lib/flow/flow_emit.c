/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments without payload, and what headers of IPv6 and of tunnels need. */
#include "flow_emit.h"
#include "flow_servers.h"

enum { EMIT_TCP = 6, EMIT_UDP = 17 };

static uint64_t emit_ip6(const struct flow_machine *m, const struct flow_ver *f,
			 const struct flow_conn *c, const struct flow_path *path, uint8_t *p,
			 unsigned l4_len)
{
	const struct flow_tuples *t = f->spec->tuples;
	uint8_t *ip = p + path->l3;
	uint16_t length = __builtin_bswap16((uint16_t)(path->l4 - path->l3 - 40 + l4_len));
	uint64_t word[4], sum = 0; /* of both addresses */

	memcpy(ip + 4, &length, 2);
	memcpy(&word[0], t->local6, 8);
	memcpy(&word[1], t->local6 + 8, 4);
	memcpy((uint8_t *)&word[1] + 4, &c->local, 4);
	if (f->spec->role == FLOW_SERVER) {
		memcpy(&word[2], m->peer6[conn_index(m, c)], 16);
	} else {
		memcpy(&word[2], t->remote6, 8);
		memcpy(&word[3], t->remote6 + 8, 4);
		memcpy((uint8_t *)&word[3] + 4, &c->remote, 4);
	}
	memcpy(ip + 8, word, 32);
	for (unsigned i = 0; i < 4; i++)
		sum += (word[i] & UINT32_MAX) + (word[i] >> 32);
	return sum;
}

uint64_t flow_emit_other(struct flow_machine *m, const struct flow_ver *f,
			 const struct flow_conn *c, const struct flow_path *path, uint8_t *p,
			 unsigned l4_len)
{
	uint64_t protocol = __builtin_bswap16(f->spec->udp ? EMIT_UDP : EMIT_TCP), sum;

	if (path->is6) {
		sum = emit_ip6(m, f, c, path, p, l4_len);
		if (path->nfix != 0)
			flow_emit_fix(path, p, l4_len, protocol);
		return sum;
	}
	sum = emit_ip4(m, c, path, p, l4_len);
	if (path->nfix != 0)
		flow_emit_fix(path, p, l4_len,
			      sum + protocol + __builtin_bswap16((uint16_t)l4_len));
	return sum;
}

/* Sums of 16 bits, of numbers (not of bytes): -1 is 65534. */
static uint16_t emit_minus(uint32_t a, uint32_t b)
{
	return (uint16_t)((a + 65535 - b % 65535) % 65535);
}

/* What the checksum x is continued from. All behind the innermost IP header adds up to what its
 * pseudo header lacks, and all behind the start of an inner checksum `in` (NULL: there is none) to
 * what that one's lacks. An IPv4 header with its checksum adds up to nothing. */
static void emit_path_sum(struct flow_path *p, struct flow_fix *x, const struct flow_fix *in)
{
	unsigned end = in != NULL ? in->from : p->is6 ? p->l4 : p->l3;
	uint64_t base = wl_sum(p->bytes + x->from, end - x->from);
	uint32_t add = 0, times = 0;

	for (const struct flow_fix *o = p->fix;
	     o->kind == FLOW_FIX_LENGTH || o->kind == FLOW_FIX_IP4; o++)
		if (o->kind == FLOW_FIX_LENGTH && o->at >= x->from && o->at < end) {
			add += o->add;
			times++;
		}
	if (in == NULL && p->is6) { /* its length, less that of its pseudo header */
		add += (unsigned)(p->l4 - p->l3) - 40;
	} else if (in != NULL && in->kind == FLOW_FIX_UDP) {
		const uint8_t *ip = p->bytes + in->sum;
		uint64_t pseudo = ip[0] >> 4 == 4 ? wl_sum(ip + 12, 8) : wl_sum(ip + 8, 32);

		base += (uint16_t)~flow_fold(pseudo + __builtin_bswap16(EMIT_UDP));
		add = emit_minus(add, (uint32_t)p->l4 - in->from);
		times = emit_minus(times, 1);
	}
	if (x->kind == FLOW_FIX_UDP) {
		const uint8_t *ip = p->bytes + x->sum;

		base += ip[0] >> 4 == 4 ? wl_sum(ip + 12, 8) : wl_sum(ip + 8, 32);
		base += __builtin_bswap16(EMIT_UDP);
		add += (uint32_t)p->l4 - x->from;
		times++;
	}
	x->base = (uint16_t)flow_fold(base);
	x->add = (uint16_t)(add % 65535);
	x->times = (uint16_t)(times % 65535);
}

/* What flow_emit_fix() continues: lengths and checksums of 0, and the checksums of such IPv4
 * headers. */
void flow_path_sums(struct flow_path *p)
{
	const struct flow_fix *in = NULL;

	for (unsigned i = 0; i < p->nfix; i++)
		memset(p->bytes + p->fix[i].at, 0, 2);
	for (unsigned i = 0; i < p->nfix; i++) {
		struct flow_fix *x = &p->fix[i];
		uint8_t *outer = p->bytes + x->at - 2;
		uint16_t sum;

		x->add = (uint16_t)(p->l4 - x->from);
		if (x->kind != FLOW_FIX_IP4)
			continue;
		memset(p->bytes + x->sum, 0, 2);
		x->base = (uint16_t)flow_fold(wl_sum(outer, (outer[0] & 15u) * 4));
		sum = (uint16_t)~x->base;
		memcpy(p->bytes + x->sum, &sum, 2);
	}
	for (unsigned i = 0; i < p->nfix; i++) {
		struct flow_fix *x = &p->fix[i];

		if (x->kind == FLOW_FIX_LENGTH || x->kind == FLOW_FIX_IP4)
			continue;
		emit_path_sum(p, x, in);
		in = x;
	}
}

/* TCP or UDP and its payload are not read: with their pseudo header they add up to 0, whoever
 * completes their checksum. */
void flow_emit_fix(const struct flow_path *path, uint8_t *p, unsigned l4_len, uint64_t pseudo)
{
	const struct flow_fix *x = path->fix, *end = x + path->nfix;
	uint32_t rest = (uint16_t)~flow_fold(pseudo);

	for (; x != end && (x->kind == FLOW_FIX_LENGTH || x->kind == FLOW_FIX_IP4); x++) {
		uint16_t length = __builtin_bswap16((uint16_t)(l4_len + x->add)), sum;

		memcpy(p + x->at, &length, 2);
		if (x->kind == FLOW_FIX_LENGTH)
			continue;
		sum = (uint16_t)~flow_fold((uint64_t)x->base + length);
		memcpy(p + x->sum, &sum, 2);
	}
	for (; x != end; x++) {
		uint32_t lengths = flow_fold((uint64_t)x->times * l4_len + x->add);
		uint16_t check = (uint16_t)~flow_fold((uint64_t)x->base +
						      __builtin_bswap16((uint16_t)lengths) + rest);

		if (check == 0 && x->kind == FLOW_FIX_UDP)
			check = 0xffff; /* RFC 768: 0 would be none */
		memcpy(p + x->at, &check, 2);
		rest = 0;
	}
}

const struct flow_path *flow_client_path(const struct flow_ver *f, const struct flow_conn *c)
{
	const struct flow_spec *spec = f->spec;
	const struct flow_field *v = &spec->tuples->f[FLOW_LOCAL - 1];
	uint32_t value = __builtin_bswap32(c->local), i = 0, to;

	if (v->count == 1) { /* all of one client: by their ports */
		v = &spec->tuples->f[FLOW_LOCAL_PORT - 1];
		value = __builtin_bswap16(c->local_port);
	}
	if (v->list == NULL)
		i = (value - v->base) / v->step;
	else
		while (i + 1 < v->count && v->list[i] != value)
			i++;
	if (spec->to == NULL)
		return &f->path[i % spec->npath];
	to = flow_server_place(spec->to, (uint64_t)c->remote << 16);
	i = i % (spec->npath / spec->nto) * spec->nto;
	return &f->path[to < spec->to->n ? i + spec->to_path[to] : i];
}

static FLOW_INLINE bool emit_bare(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
				  struct emit *e)
{
	if (!emit_room(m, FLOW_PLAIN, &e->room))
		return false;
	e->path = conn_path(m, f, c);
	emit_begin(e);
	return true;
}

bool flow_send_ack(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	struct flow_side *s = conn_side(m, c);
	struct emit e = {.flags = TH_ACK, .seq = c->nxt, .ack = c->rcv_nxt};

	if (!emit_bare(m, f, c, &e)) {
		c->flags |= CF_ACK;
		flow_blocked(m, c);
		return false;
	}
	e.window = emit_window(m, f, c);
	if (FLOW_UNLIKELY(s != NULL && (c->flags & CF_SACK) != 0 && (s->nearly != 0 || s->dsack))) {
		uint8_t *o = e.room.data + e.path->l4 + 20;

		e.options = flow_early_blocks(m, s, o, 40);
		e.option_sum = emit_offload(m) ? 0 : wl_sum(o, e.options);
	}
	cell_add(&f->k->tx, 1);
	cell_add(&f->k->ack_sent, 1);
	emit_tcp(m, f, c, &e);
	return true;
}

/* MSS, and window scale, or SACK permitted, or neither. Returns how many bytes. */
FLOW_ASIDE static unsigned emit_some_options(const struct flow_ver *f, uint8_t *o, bool scaled,
					     bool sack)
{
	unsigned n = 4;

	memcpy(o, &f->syn_options[0], 4);
	if (scaled) {
		memcpy(o + n, &f->syn_options[1], 4);
		n += 4;
	}
	if (sack) {
		memcpy(o + n, &f->syn_options[2], 4);
		n += 4;
	}
	return n;
}

/* SYN, and SYN with ACK if the connection has received one. The window of a SYN is not scaled
 * (RFC 7323 2.2). A server offers only what the client has offered. */
bool flow_send_syn(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	bool answer = c->state == FLOW_SYN_RECEIVED;
	struct emit e = {.flags = answer ? TH_SYN | TH_ACK : TH_SYN, .seq = c->una};
	bool scaled, sack;
	uint8_t *o;

	if (!emit_bare(m, f, c, &e)) {
		flow_blocked(m, c);
		return false;
	}
	o = e.room.data + e.path->l4 + 20;
	scaled = !answer || c->wscale != CONN_UNSCALED;
	sack = answer ? (c->flags & CF_SACK) != 0 : f->spec->sack;
	if (FLOW_LIKELY(scaled && sack)) {
		memcpy(o, f->syn_options, 12);
		e.options = 12;
		e.option_sum = f->syn_sum;
	} else {
		e.options = emit_some_options(f, o, scaled, sack);
		e.option_sum = wl_sum(o, e.options);
	}
	e.ack = answer ? c->rcv_nxt : 0;
	e.window = FLOW_UNLIKELY(f->buffered) ? FLOW_BUFFER : f->window_field[0];
	cell_add(&f->k->tx, 1);
	emit_tcp(m, f, c, &e);
	return true;
}

void flow_send_rst(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c, uint32_t seq,
		   bool with_ack)
{
	struct emit e = {.flags = with_ack ? TH_RST | TH_ACK : TH_RST, .seq = seq};

	if (!emit_bare(m, f, c, &e))
		return;
	e.ack = with_ack ? c->rcv_nxt : 0;
	cell_add(&f->k->tx, 1);
	cell_add(&f->k->rst_sent, 1);
	emit_tcp(m, f, c, &e);
}

void flow_answer_rst(struct flow_machine *m, struct flow_ver *f, const struct flow_seg *g)
{
	struct flow_conn c = {.remote = g->remote, .local = g->local, .wscale = CONN_UNSCALED};
	struct flow_path path;
	struct emit e = {.path = &path};
	uint32_t sum, word[4] = {0};
	uint8_t *p, *t;
	uint16_t check;

	if ((g->flags & TH_RST) != 0 || !emit_room(m, FLOW_PLAIN, &e.room))
		return;
	flow_path_back(f, g, &path);
	p = emit_begin(&e);
	t = p + path.l4;
	if (path.is6) {
		put_be16(p + path.l3 + 4, (unsigned)(path.l4 - path.l3) - 40 + 20);
		memcpy(p + path.l3 + 8, seg_dst6(g), 16);
		memcpy(p + path.l3 + 24, seg_src6(g), 16);
		sum = wl_sum(p + path.l3 + 8, 32);
	} else {
		sum = flow_fold(emit_ip4(m, &c, &path, p, 20));
	}
	memcpy(t, &g->ports, 4);
	if ((g->flags & TH_ACK) != 0) {
		word[0] = __builtin_bswap32(g->ack);
		memcpy(t + 12, (uint8_t[2]){0x50, TH_RST}, 2);
	} else {
		word[1] = __builtin_bswap32(g->seq + g->len + SEG_SYN_FIN(g));
		memcpy(t + 12, (uint8_t[2]){0x50, TH_RST | TH_ACK}, 2);
	}
	memcpy(t + 4, word, 8);
	memset(t + 14, 0, 6);
	sum += __builtin_bswap16(20) + __builtin_bswap16(EMIT_TCP);
	flow_emit_fix(&path, p, 20, path.is6 ? __builtin_bswap16(EMIT_TCP) : sum);
	check = (uint16_t)(emit_offload(m) ? flow_fold(sum)
					   : ~flow_fold((uint64_t)sum + wl_sum(t, 20)));
	memcpy(t + 16, &check, 2);
	emit_put(m, &e, 20, emit_offload(m));
	cell_add(&m->k.rst_sent, 1);
}

/* 1000 a second, 100 at once. */
#define CHALLENGE_EACH_NS 1000000
#define CHALLENGE_BURST 100
bool flow_challenge(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c)
{
	if (m->challenge_until < m->now_ns)
		m->challenge_until = m->now_ns;
	if (m->challenge_until - m->now_ns > (uint64_t)CHALLENGE_EACH_NS * CHALLENGE_BURST)
		return false;
	m->challenge_until += CHALLENGE_EACH_NS;
	cell_add(&f->k->challenge_ack, 1);
	return flow_send_ack(m, f, c);
}
