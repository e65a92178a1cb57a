/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of tuples on workers: their slots, the next one to be opened, who listens. */
#include "flow_find.h"
#include "flow_servers.h"

static inline unsigned tuple_ordinal(const struct flow_field *v, uint32_t value, uint64_t *at)
{
	uint32_t i = value - v->base;

	*at += i * v->stride;
	return i < v->count;
}

uint32_t *flow_tuples_slot_of_all(const struct flow_tuples *t, uint32_t remote, uint32_t local,
				  uint32_t ports)
{
	uint16_t port[2];
	uint64_t at = 0;

	if (FLOW_UNLIKELY(t->slot == NULL))
		return NULL;
	memcpy(port, &ports, 4);
	if (FLOW_LIKELY(
		    tuple_ordinal(&t->f[FLOW_REMOTE - 1], __builtin_bswap32(remote), &at) &
		    tuple_ordinal(&t->f[FLOW_LOCAL - 1], __builtin_bswap32(local), &at) &
		    tuple_ordinal(&t->f[FLOW_LOCAL_PORT - 1], __builtin_bswap16(port[0]), &at) &
		    tuple_ordinal(&t->f[FLOW_REMOTE_PORT - 1], __builtin_bswap16(port[1]), &at)))
		return &t->slot[at];
	return NULL;
}

static bool tuple_has(const struct flow_field *v, uint32_t value)
{
	uint32_t i;

	if (FLOW_LIKELY(v->list == NULL && v->step <= 1))
		return value - v->base < v->count || v->count == 0;
	if (v->list == NULL) {
		i = value - v->base;
		return i % v->step == 0 && (v->count == 0 || i / v->step < v->count);
	}
	for (i = 0; i < v->count; i++) {
		if (v->list[i] == value)
			return true;
	}
	return false;
}

/* As they lie in a connection, made at once: it is read at once. */
static inline uint32_t tuple_ports(const uint32_t value[4])
{
	uint32_t n = (uint16_t)value[FLOW_REMOTE_PORT - 1] | value[FLOW_LOCAL_PORT - 1] << 16;

	return __builtin_bswap32(n);
}

static inline uint64_t tuple_field_count(const struct flow_field *v)
{
	return v->count == 0 ? 1ull << 32 : v->count;
}

/* Puts the values of the next tuple into a connection, as they are in frames. */
static inline void tuple_fill(const struct flow_tuples *t, struct flow_conn *c)
{
	c->remote = __builtin_bswap32(t->value[FLOW_REMOTE - 1]);
	c->local = __builtin_bswap32(t->value[FLOW_LOCAL - 1]);
	c->ports = tuple_ports(t->value);
}

/* Moves on by one tuple; the first field runs fastest. */
static inline void tuple_step(struct flow_tuples *t)
{
	t->next = FLOW_LIKELY(t->next + 1 < t->count) ? t->next + 1 : 0;
	for (unsigned i = t->still; i < 4; i++) {
		const struct flow_field *v = &t->f[t->order[i]];
		bool on;

		on = ++t->cursor[i] < tuple_field_count(v);
		if (FLOW_UNLIKELY(!on))
			t->cursor[i] = 0;
		t->value[t->order[i]] = flow_field_value(v, t->cursor[i]);
		if (FLOW_LIKELY(on))
			return;
	}
}

/* The tuple of this number is the next one. */
void flow_tuples_begin(struct flow_tuples *t, uint64_t number)
{
	t->next = number % t->count;
	for (unsigned i = 0; i < 4; i++) {
		const struct flow_field *v = &t->f[t->order[i]];

		t->cursor[i] = number / v->stride % tuple_field_count(v);
		t->value[t->order[i]] = flow_field_value(v, t->cursor[i]);
	}
}

void flow_tuple_of(const struct flow_tuples *t, uint32_t remote, uint32_t local, uint32_t ports,
		   struct flow_tuple *out)
{
	uint16_t port[2];

	memcpy(port, &ports, 4);
	*out = (struct flow_tuple){.is6 = t->is6,
				   .local.v4 = __builtin_bswap32(local),
				   .remote.v4 = __builtin_bswap32(remote),
				   .local_port = __builtin_bswap16(port[0]),
				   .remote_port = __builtin_bswap16(port[1])};
	if (!t->is6)
		return;
	memcpy(out->local.v6, t->local6, 12);
	memcpy(out->local.v6 + 12, &local, 4);
	memcpy(out->remote.v6, t->remote6, 12);
	memcpy(out->remote.v6 + 12, &remote, 4);
}

static bool tuple_mine(const struct flow_ver *f, const struct flow_conn *c)
{
	struct flow_tuple t;
	uint32_t ports;

	if (FLOW_LIKELY(f->spec->mine == NULL))
		return true;
	ports = c->ports;
	flow_tuple_of(f->spec->tuples, c->remote, c->local, ports, &t);
	return f->spec->mine(f->spec->mine_arg, &t);
}

/* The same where the set of its flow is not the only one. */
FLOW_ASIDE static uint32_t tuple_find(struct flow_machine *m, const struct flow_ver *f,
				      const struct flow_conn *c)
{
	const struct flow_tuples *t = f->spec->tuples;
	const struct flow_path *path = f->spec->npath == 1 ? f->path : flow_client_path(f, c);
	uint8_t ip6[40]; /* a header of the peer's segments, of which only addresses are read */
	const struct flow_in in = {.ident = path->ident, .data = ip6};
	struct flow_seg g = {.in = &in,
			     .remote = c->remote,
			     .local = c->local,
			     .ports = c->ports,
			     .is6 = t->is6,
			     .udp = f->spec->udp};

	/* Flows that differ in protocol or encapsulation alone share their tuples. */
	if (t->slot != NULL) {
		uint32_t at = *flow_tuples_slot(t, c->remote, c->local, c->ports);

		if (at != 0)
			return at;
	}
	memcpy(ip6 + 8, t->remote6, 12);
	memcpy(ip6 + 20, &c->remote, 4);
	memcpy(ip6 + 24, t->local6, 12);
	memcpy(ip6 + 36, &c->local, 4);
	g.key = flow_hash(m, t->is6 ? flow_fold16(ip6 + 8) : g.remote, g.local, g.ports);
	return flow_find(m, &g);
}

/* The connection that has a tuple of a client, 0: nobody. */
uint32_t flow_tuple_user(struct flow_machine *m, const struct flow_ver *f,
			 const struct flow_conn *c)
{
	const struct flow_tuples *t = f->spec->tuples;

	if (FLOW_LIKELY(m->nset == 1 && m->hashed == 0 && m->set[0] == t))
		return *flow_tuples_slot(t, c->remote, c->local, c->ports);
	return tuple_find(m, f, c);
}

/* Tuples are passed over as often as this before an open counts as no_tuple. */
#define TUPLE_TRIES 8
/* Those of other workers do not count, but there may be none of ours. */
#define TUPLE_OTHERS 4096

/* A tuple that is tried: the one that rests is kept for when there is no other. */
struct tuple_try {
	unsigned tries, others;
	uint32_t rests;
	struct flow_conn resting;
};

/* The tuple of *c has a user: it may rest. */
static inline void tuple_used(const struct flow_machine *m, const struct flow_conn *c,
			      uint32_t user, struct tuple_try *a)
{
	if (a->rests == 0 && m->conn[user].state == FLOW_TIME_WAIT) {
		a->rests = user;
		a->resting = *c;
	}
	a->tries++;
}

static inline bool tuple_rested(struct flow_conn *c, const struct tuple_try *a, uint32_t *rests)
{
	*rests = a->rests;
	if (a->rests == 0)
		return false;
	c->remote = a->resting.remote;
	c->local = a->resting.local;
	c->ports = a->resting.ports;
	return true;
}

/* Of servers with weights: it is one's turn, whose sources are tried. */
FLOW_ASIDE static bool tuple_weighted(struct flow_machine *m, struct flow_ver *f,
				      struct flow_conn *c, uint32_t *rests)
{
	struct flow_tuples *t = f->spec->tuples;
	uint32_t server = flow_weights_turn(t), user;
	struct tuple_try a = {0};

	while (a.tries < TUPLE_TRIES && a.others < TUPLE_OTHERS) {
		flow_weights_next(t, server);
		tuple_fill(t, c);
		if (!tuple_mine(f, c)) {
			a.others++;
			continue;
		}
		user = tuple_find(m, f, c);
		if (user == 0) {
			*rests = 0;
			return true;
		}
		tuple_used(m, c, user, &a);
	}
	return tuple_rested(c, &a, rests);
}

/* The next tuple of a client into *c, whose other members stay. A tuple that rests (TIME-WAIT) is
 * taken only if no other is found: *rests is then its connection. false: none is free. */
bool flow_tuple_next(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
		     uint32_t *rests)
{
	struct flow_tuples *t = f->spec->tuples;
	struct tuple_try a = {0};

	if (FLOW_UNLIKELY(t->weights != NULL))
		return tuple_weighted(m, f, c, rests);
	while (a.tries < TUPLE_TRIES && a.others < TUPLE_OTHERS) {
		uint64_t number = t->next;
		uint32_t user;

		tuple_fill(t, c);
		tuple_step(t);
		if (FLOW_UNLIKELY(!tuple_mine(f, c))) {
			a.others++;
			continue;
		}
		user = FLOW_LIKELY(m->nset == 1 && m->hashed == 0 && m->set[0] == t)
			       ? t->slot[number]
			       : tuple_find(m, f, c);
		if (FLOW_LIKELY(user == 0)) {
			*rests = 0;
			return true;
		}
		tuple_used(m, c, user, &a);
	}
	return tuple_rested(c, &a, rests);
}

/* To fetch the slots of tuples that are opened soon. */
void flow_tuple_fetch(const struct flow_ver *f)
{
	const struct flow_tuples *t = f->spec->tuples;

	if (t->slot != NULL && FLOW_LIKELY(t->next + 16 < t->count))
		__builtin_prefetch(&t->slot[t->next + 16], 1);
}

/* Who listens on the local end of a segment; NULL: nobody. */
static struct flow_ver *tuple_listener(const struct flow_machine *m, const struct flow_seg *g)
{
	uint32_t local = __builtin_bswap32(g->local);
	uint16_t port[2];

	memcpy(port, &g->ports, 4);
	port[0] = __builtin_bswap16(port[0]);
	for (unsigned i = 0; i < m->nlisten; i++) {
		struct flow_ver *f = m->listen[i];
		const struct flow_tuples *t = f->spec->tuples;

		if (FLOW_UNLIKELY(f->spec->udp != g->udp || t->is6 != g->is6 ||
				  flow_server_path(f, g->in->ident) == NULL))
			continue;
		if (FLOW_UNLIKELY(!tuple_has(&t->f[FLOW_LOCAL_PORT - 1], port[0]) ||
				  !tuple_has(&t->f[FLOW_LOCAL - 1], local)))
			continue;
		if (FLOW_UNLIKELY(g->is6) && memcmp(t->local6, seg_dst6(g), 12) != 0)
			continue;
		return f;
	}
	return NULL;
}

FLOW_INLINE struct flow_ver *flow_listener(const struct flow_machine *m, const struct flow_seg *g)
{
	struct flow_ver *f = m->listen[0];

	if (FLOW_LIKELY(m->nlisten != 0) && FLOW_LIKELY(f->one_local) &&
	    FLOW_LIKELY(f->one_addr == g->local) &&
	    FLOW_LIKELY(f->one_port == (uint16_t)g->ports) && FLOW_LIKELY(!g->udp) &&
	    FLOW_LIKELY(f->spec->is6 == g->is6) &&
	    (FLOW_LIKELY(!g->is6) || find_prefix6(f->spec->tuples->local6, seg_dst6(g))) &&
	    FLOW_LIKELY(flow_server_path(f, g->in->ident) != NULL))
		return f;
	return tuple_listener(m, g);
}

/* A flow of its protocol that has the local address of a segment, and its identity: only then is it
 * answered. */
struct flow_ver *flow_local(struct flow_machine *m, const struct flow_seg *g)
{
	const struct flow_conn ours = {.local = g->local, .ports = g->ports};

	for (unsigned i = 0; i < m->nlive; i++) {
		struct flow_ver *f = &m->live[i];
		const struct flow_spec *spec = f->spec;
		const struct flow_path *path;

		if (spec == NULL || spec->is6 != g->is6 || spec->udp != g->udp)
			continue;
		if (!tuple_has(&spec->tuples->f[FLOW_LOCAL - 1], __builtin_bswap32(g->local)) ||
		    (g->is6 && memcmp(spec->tuples->local6, seg_dst6(g), 12) != 0))
			continue;
		if (spec->role == FLOW_SERVER)
			path = flow_server_path(f, g->in->ident);
		else
			path = flow_client_path(f, &ours);
		if (path != NULL && path->ident == g->in->ident)
			return f;
	}
	return NULL;
}
