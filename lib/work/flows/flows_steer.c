/* SPDX-License-Identifier: BSD-3-Clause */
/* Which queue owns a tuple: that to which its answers come. Where a port has several queues each
 * machine opens those tuples alone that are its own, so that no worker gets what is another's.
 * Where nobody can tell the queue beforehand, workers hand over what is another's. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flows_ctl.h"
#include "rss_to.h"

#define STEER_BYTES 36  /* that are hashed of IPv6: two addresses and two ports */
#define STEER_LOOK 4096 /* tuples that are looked at before a start */

/* The hash of Toeplitz is linear: that of a tuple is the sum, without carry, of what each of its
 * bytes adds. */
struct flows_steer {
	bool sent;  /* what is hashed is the frame that is sent, not its answer */
	bool plain; /* sum[] may be used; else `setup` says it, which takes longer */
	bool ports;
	struct rss_setup setup;
	struct rss_tuple like; /* what all tuples have in common */
	uint32_t sum[STEER_BYTES][256];
};

/* Puts the ends of a tuple where the frame that is hashed has them. */
static inline void steer_tuple(const struct flows_steer *s, const struct flow_tuple *t,
			       struct rss_tuple *out)
{
	uint8_t *local = s->sent ? out->src : out->dst, *remote = s->sent ? out->dst : out->src;
	uint32_t ip;

	if (t->is6) {
		memcpy(local, t->local.v6, 16);
		memcpy(remote, t->remote.v6, 16);
	} else {
		ip = __builtin_bswap32(t->local.v4);
		memcpy(local, &ip, 4);
		ip = __builtin_bswap32(t->remote.v4);
		memcpy(remote, &ip, 4);
	}
	out->sport = s->sent ? t->local_port : t->remote_port;
	out->dport = s->sent ? t->remote_port : t->local_port;
}

/* The place of byte i of both addresses, the source's first; `address`: bytes of one. */
static uint8_t *steer_byte(struct rss_tuple *t, unsigned i, unsigned address)
{
	if (i < address)
		return &t->src[i];
	return &t->dst[i - address];
}

unsigned flows_steer_queue(const struct flows_steer *s, const struct flow_tuple *t)
{
	struct rss_tuple r = {0};
	unsigned address = t->is6 ? 16 : 4, at = 2 * address;
	uint32_t hash = 0;

	steer_tuple(s, t, &r);
	if (!s->plain) {
		r.version = s->like.version;
		r.proto = s->like.proto;
		r.ports = s->like.ports;
		return rss_queue(&s->setup, &r, NULL);
	}
	for (unsigned i = 0; i < address; i++)
		hash ^= s->sum[i][r.src[i]] ^ s->sum[address + i][r.dst[i]];
	if (s->ports)
		hash ^= s->sum[at][r.sport >> 8] ^ s->sum[at + 1][r.sport & 255] ^
			s->sum[at + 2][r.dport >> 8] ^ s->sum[at + 3][r.dport & 255];
	return s->setup.table[hash % s->setup.entries];
}

/* What each byte adds, from what each of its bits does. */
static void steer_sums(struct flows_steer *s)
{
	unsigned address = s->like.version == 6 ? 16 : 4;

	for (unsigned i = 0; i < 2 * address + 4; i++)
		for (unsigned v = 1; v < 256; v++) {
			unsigned low = v & -v;
			struct rss_tuple one = {.version = s->like.version,
						.proto = s->like.proto,
						.ports = s->like.ports};
			if (v != low) {
				s->sum[i][v] = s->sum[i][low] ^ s->sum[i][v ^ low];
				continue;
			}
			if (i < 2 * address)
				*steer_byte(&one, i, address) = (uint8_t)v;
			else if (i < 2 * address + 2)
				one.sport = (uint16_t)(v << (i == 2 * address ? 8 : 0));
			else
				one.dport = (uint16_t)(v << (i == 2 * address + 2 ? 8 : 0));
			s->sum[i][v] = rss_hash(&s->setup, &one);
		}
}

static uint32_t steer_value(const struct flow_values *v, uint64_t i)
{
	return v->list != NULL ? v->list[i] : v->base + (uint32_t)i * v->step;
}

/* A tuple of a client, any one: as random as `seed` is. */
static void steer_any(const struct flows_design *d, uint64_t seed, struct flow_tuple *t)
{
	const struct flow_values *v[4] = {&d->remote, &d->remote_port, &d->local, &d->local_port};
	uint32_t value[4], ip;

	for (unsigned i = 0; i < 4; i++) {
		uint64_t h = fnv1a_number(fnv1a_number(FNV_BASIS, seed), i), n = v[i]->count;
		value[i] = steer_value(v[i], (h ^ h >> 29) % (n == 0 ? 1ull << 32 : n));
	}
	*t = (struct flow_tuple){.is6 = d->is6,
				 .remote.v4 = value[0],
				 .local.v4 = value[2],
				 .remote_port = (uint16_t)value[1],
				 .local_port = (uint16_t)value[3]};
	if (!d->is6)
		return;
	memcpy(t->remote.v6, d->remote6, 12);
	memcpy(t->local.v6, d->local6, 12);
	ip = __builtin_bswap32(value[0]);
	memcpy(t->remote.v6 + 12, &ip, 4);
	ip = __builtin_bswap32(value[2]);
	memcpy(t->local.v6 + 12, &ip, 4);
}

/* Each queue needs tuples of its own. false: *out says which one has none. */
static bool steer_reaches(const struct flows_steer *s, const struct flows_design *d,
			  unsigned nqueues, unsigned by, struct flows_steering *out)
{
	uint64_t seen[PORT_MAX_QUEUES] = {0};
	struct flow_tuple t;

	for (unsigned i = 0; i < STEER_LOOK; i++) {
		steer_any(d, i, &t);
		seen[flows_steer_queue(s, &t) % PORT_MAX_QUEUES]++;
	}
	for (unsigned q = 0; q < nqueues; q++)
		if (seen[q] == 0) {
			snprintf(
				out->why, sizeof(out->why),
				"by its hash none of %u tuples has its answers come to queue %u; a hash of ports would deal them: "
				"`set %u rss.fields ip,tcp,udp`",
				STEER_LOOK, q, by);
			return false;
		}
	return true;
}

/* The headers of a frame of the flow, as devices look at them. Returns NULL, or why its queue is
 * not certain. */
static const char *steer_read(const struct flows_design *d, const struct rss_to *to,
			      struct rss_tuple *t)
{
	const struct flow_path *path = &d->path[0];
	unsigned address = path->l3 + (path->is6 ? 8u : 12u), len = path->l4 + 20u;
	uint8_t frame[FLOW_PREFIX_MAX + 64] = {0}, used[sizeof(frame)];

	memcpy(frame, path->bytes, path->l4);
	rss_tuple_read(frame, len, t, used);
	if (used[address] != RSS_USE_ADDRESSES)
		return "it hashes the outer headers alone";
	return rss_doubt(to, t);
}

void flows_steer_by(const struct flows_design *d, const struct rss_to *to, unsigned port,
		    unsigned nqueues, unsigned by, struct flows_steering *out)
{
	const char *why = to->way == RSS_WAY_UNKNOWN ? to->why : NULL;
	struct flows_steer *s;

	*out = (struct flows_steering){.hand = why != NULL};
	if (to->way != RSS_WAY_HASH && why == NULL)
		return;
	s = xcalloc(1, sizeof(*s));
	s->sent = by != port;
	s->setup = to->setup;
	if (why == NULL)
		why = steer_read(d, to, &s->like);
	if (why != NULL) {
		out->hand = true;
		snprintf(out->why, sizeof(out->why), "%s", why);
	} else {
		enum rss_part part = rss_part(to->setup.hf, &s->like);
		s->ports = part == RSS_PART_L4;
		s->plain = to->setup.function == RSS_FUNCTION_TOEPLITZ && part != RSS_PART_NONE;
		if (s->plain)
			steer_sums(s);
		out->hand = !steer_reaches(s, d, nqueues, by, out);
	}
	if (out->hand)
		free(s);
	else
		out->steer = s;
}

void flows_steer_begin(struct ctl_port *cp)
{
	struct flows_port *p = flows_of(cp);
	unsigned set = rss_times_set(&cp->p);

	if (set != p->rss_set)
		p->other_queue = 0;
	p->rss_set = set;
}

/* The device has dealt frames in another way than it says. */
static void steer_not(const struct flows_port *p, unsigned by, struct flows_steering *out)
{
	free(out->steer);
	*out = (struct flows_steering){.hand = true};
	snprintf(
		out->why, sizeof(out->why),
		"%" PRIu64
		" frames came to other queues than those that port %u says its hash deals them to; once an rss setting of it is set "
		"again that is tried again",
		p->other_queue, by);
}

void flows_steer_new(struct ctl *c, struct ctl_port *cp, const struct flows_design *d,
		     struct flows_steering *out)
{
	unsigned nqueues = flows_of(cp)->nqueues, by = cp->p.id;
	struct ctl_port *other;
	struct rss_to *to;
	const char *how;

	*out = (struct flows_steering){0};
	if (!d->client || nqueues < 2)
		return;
	to = xcalloc(1, sizeof(*to));
	rss_to_read(cp, to);
	if (to->way == RSS_WAY_TXQ) {
		/* The other end answers on the queue on which it was asked, and that is ours. */
		other = rss_other_end(c, cp, &how);
		if (other != NULL) {
			rss_to_read(other, to);
			by = other->p.id;
		}
	}
	flows_steer_by(d, to, cp->p.id, nqueues, by, out);
	free(to);
	if (out->steer != NULL && flows_of(cp)->other_queue != 0)
		steer_not(flows_of(cp), by, out);
}

bool flows_steer_same(const struct flows_steering *a, const struct flows_steering *b)
{
	if (a->hand != b->hand)
		return false;
	if (a->steer == NULL || b->steer == NULL)
		return a->steer == b->steer;
	return memcmp(a->steer, b->steer, sizeof(*a->steer)) == 0;
}
