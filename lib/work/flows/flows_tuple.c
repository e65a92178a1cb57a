/* SPDX-License-Identifier: BSD-3-Clause */
/* The tuples of a flow, of the values of four fields. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "flows_ctl.h"

#define TUPLE_LIST 1048576 /* values of a range that goes down, which is kept as a list */

/* Where the values of a field come from, for words about it. */
struct tuple_of {
	const struct ctl_port *cp;
	const struct stream *s;
	const struct flows_field *of;
	const char *word; /* flow.src */
	char where[24];
};

static int tuple_refuse(const struct tuple_of *t, struct err *e, const char *why)
{
	return err_set(e, EINVAL, "stream %u/%u: %s %s: `set %s %s ...`", t->cp->p.id, t->s->cfg.id,
		       t->word, why, t->where, t->word);
}

/* In a list with weights each value stands as often as it weighs. */
static void tuple_turns(const struct vary *v, struct flow_values *io)
{
	uint16_t *turn = xcalloc(v->n, sizeof(*turn));

	for (uint32_t i = 0; i < v->n; i++)
		while (io->list[turn[i]] != (uint32_t)v->list[i])
			turn[i]++;
	io->turn = turn;
	io->turns = v->n;
}

/* Values in their order, each once. */
static void tuple_list(const struct vary *v, struct flow_values *out)
{
	uint32_t *list = xcalloc(v->n, sizeof(*list)), n = 0;

	for (uint32_t i = 0; i < v->n; i++) {
		uint32_t x = (uint32_t)v->list[i], k = 0;
		while (k < n && list[k] != x)
			k++;
		if (k == n)
			list[n++] = x;
	}
	*out = (struct flow_values){.count = n, .base = list[0], .step = 1, .list = list};
	if (v->weighted)
		tuple_turns(v, out);
}

static int tuple_range(const struct tuple_of *t, const struct vary *v, struct flow_values *out,
		       uint64_t *first, struct err *e)
{
	bool client = flows_cfg_of(&t->s->cfg)->role == FLOWS_CLIENT;
	vary_u n = (v->hi - v->lo) / v->step + 1,
	       off = v->down ? v->hi - v->first : v->first - v->lo;

	/* the order means something only to those who open */
	if (v->down && client) {
		if (n > TUPLE_LIST)
			return tuple_refuse(t, e, "goes down over too many values; upwards it may");
		uint32_t *list = xcalloc((size_t)n, sizeof(*list));
		for (size_t i = 0; i < (size_t)n; i++)
			list[i] = (uint32_t)vary_at(v, i);
		*out = (struct flow_values){.count = (uint32_t)n,
					    .base = list[0],
					    .step = 1,
					    .list = list};
		return 0;
	}
	if (off % v->step != 0)
		return tuple_refuse(t, e, "begins at a value that it does not come back to");
	/* all 2^32 values count as 0 */
	*out = (struct flow_values){.count = (uint32_t)n,
				    .base = (uint32_t)(v->down ? v->hi - (n - 1) * v->step : v->lo),
				    .step = (uint32_t)v->step};
	*first = v->down ? 0 : (uint64_t)(off / v->step);
	return 0;
}

static int tuple_values(const struct tuple_of *t, const struct vary *v, uint8_t prefix6[12],
			struct flow_values *out, uint64_t *first, struct err *e)
{
	vary_u lo = v->first, hi = v->first;
	uint8_t bytes[VT_FIELD_BYTES] = {0};

	*first = 0;
	if (v->kind == VARY_RANDOM || v->kind == VARY_MASK)
		return tuple_refuse(
			t, e,
			"is random, and a connection's tuple must be known; a range or a list is possible");
	if (v->kind == VARY_RANGE) {
		lo = v->lo;
		hi = v->hi;
	}
	for (uint32_t i = 0; v->kind == VARY_LIST && i < v->n; i++) {
		lo = i == 0 || v->list[i] < lo ? v->list[i] : lo;
		hi = i == 0 || v->list[i] > hi ? v->list[i] : hi;
	}
	if (hi >> 32 != lo >> 32)
		return tuple_refuse(t, e, "varies in more than the last 32 bits");
	vary_store(lo, bytes);
	if (prefix6 != NULL)
		memcpy(prefix6, bytes, 12);
	if (v->kind == VARY_LIST)
		tuple_list(v, out);
	else if (v->kind == VARY_RANGE)
		return tuple_range(t, v, out, first, e);
	else
		*out = (struct flow_values){.count = 1, .base = (uint32_t)v->first, .step = 1};
	return 0;
}

/* The usual values of the ports of the innermost header of TCP or UDP. */
static bool tuple_default(int role, const struct frame_stack *stack, const struct proto *p,
			  unsigned nth, const struct field *f, struct vary *out)
{
	bool source = strcmp(f->name, "src") == 0, client = role == FLOWS_CLIENT;
	const struct proto *inner = NULL;
	unsigned n = 0;

	for (unsigned i = 0; i < stack->n; i++) {
		const struct proto *h = stack->hdr[i];
		if (strcmp(h->name, "tcp") == 0 || strcmp(h->name, "udp") == 0)
			inner = h;
		n += h == p;
	}
	if (role == FLOWS_OFF || p != inner || nth != n ||
	    (!source && (!client || strcmp(f->name, "dst") != 0)))
		return false;
	*out = (struct vary){.kind = VARY_FIXED, .div = 1, .bits = 16, .first = 80};
	if (client && source)
		*out = (struct vary){.kind = VARY_RANGE,
				     .first = 1024,
				     .lo = 1024,
				     .hi = 65535,
				     .step = 1,
				     .div = 1,
				     .bits = 16};
	return true;
}

bool flows_field_default(const struct stream_cfg *cfg, const struct proto *p, unsigned nth,
			 const struct field *f, struct vary *out)
{
	return tuple_default(flows_cfg_of(cfg)->role, &cfg->frame.stack, p, nth, f, out);
}

/* The source address of a port that is a host is the host's. */
static bool tuple_own(const struct tuple_of *t, struct vary *v)
{
	bool is6 = strcmp(t->of->proto->name, "ipv6") == 0;
	uint8_t bytes[VT_FIELD_BYTES] = {0}, ip[16];

	if ((!is6 && strcmp(t->of->proto->name, "ipv4") != 0) ||
	    strcmp(t->of->field->name, "src") != 0 || !port_own_address(t->cp, is6, ip))
		return false;
	memcpy(bytes + VT_FIELD_BYTES - (is6 ? 16 : 4), ip, is6 ? 16 : 4);
	*v = (struct vary){.kind = VARY_FIXED,
			   .div = 1,
			   .bits = is6 ? 128 : 32,
			   .first = vary_load(bytes)};
	return true;
}

/* The value of a field: what is set, else what the flow has by itself, else what the port has. */
static void tuple_vary(const struct tuple_of *t, const struct frame_spec *spec, struct vary *v)
{
	const struct flows_field *f = t->of;
	const struct frame_val *x = frame_vals_find(&spec->vals, f->proto, f->nth, f->field);
	uint8_t bytes[VT_FIELD_BYTES];

	*v = (struct vary){.kind = VARY_FIXED, .div = 1};
	if (x == NULL && tuple_default(flows_cfg_of(&t->s->cfg)->role, &spec->stack, f->proto,
				       f->nth, f->field, v))
		return;
	if (x == NULL && tuple_own(t, v))
		return;
	if (x == NULL)
		x = frame_vals_find(&t->s->cfg.dflt, f->proto, f->nth, f->field);
	if (x == NULL)
		x = frame_vals_find(&t->s->cfg.dflt, f->proto, 1, f->field);
	if (x != NULL && x->vary != NULL) {
		*v = *x->vary;
		return;
	}
	if (x == NULL)
		proto_default(f->proto, f->field, bytes);
	v->first = vary_load(x != NULL ? x->v : bytes);
}

/* The order of fields, the fastest first. */
static int tuple_nest(struct flows_design *d, const struct tuple_of *t,
		      const struct frame_spec *spec, const struct flows_field of[4], struct err *e)
{
	static const uint8_t usual[4] = {FLOW_REMOTE, FLOW_REMOTE_PORT, FLOW_LOCAL,
					 FLOW_LOCAL_PORT};
	const struct frame_nest *nest = &spec->nest;
	unsigned n = 0, seen = 0;

	for (unsigned i = 0; i < nest->n; i++) {
		unsigned k = 0;
		while (k < 4 && (nest->at[i].field != of[k].field || nest->at[i].nth != of[k].nth))
			k++;
		if (k == 4 || nest->at[i].same_digit)
			return err_set(
				e, EINVAL,
				"stream %u/%u is a flow: nest gives the order of its addresses and ports, one after the other, and all else "
				"steps with the source address: `set %s nest default`",
				t->cp->p.id, t->s->cfg.id, t->where);
		seen |= 1u << k;
		d->nest[n++] = (uint8_t)(k + 1);
	}
	for (unsigned i = 0; i < 4; i++)
		if ((seen & 1u << (usual[i] - 1)) == 0)
			d->nest[n++] = usual[i];
	return 0;
}

/* ---- weights ---- */

static struct flow_tuples_conf tuple_conf(const struct flows_design *d)
{
	return (struct flow_tuples_conf){.remote = &d->remote,
					 .remote_port = &d->remote_port,
					 .local = &d->local,
					 .local_port = &d->local_port};
}

uint64_t flows_weights_need(const struct flows_design *d, uint64_t connections)
{
	const struct flow_tuples_conf conf = tuple_conf(d);
	uint64_t need, have, round = (uint64_t)d->remote.turns * d->remote_port.turns;

	flow_weights_count(&conf, &need, &have);
	return (connections + round - 1) / round * need;
}

/* A field without weights has its turns in its own order. */
static void tuple_each_turn(struct flow_values *io, uint64_t first)
{
	uint16_t *turn;

	if (io->turn != NULL)
		return;
	turn = xcalloc(io->count, sizeof(*turn));
	for (uint32_t i = 0; i < io->count; i++)
		turn[i] = (uint16_t)((first + i) % io->count);
	io->turn = turn;
	io->turns = io->count;
}

/* What a client whose servers have weights needs. A server's are for what is expected alone. */
static int tuple_weights(struct flows_design *d, struct tuple_of *t, const uint64_t first[4],
			 struct err *e)
{
	const struct flow_tuples_conf conf = tuple_conf(d);
	uint64_t need, have, n = (uint64_t)d->remote.count * d->remote_port.count;

	t->word = d->local.turn != NULL ? "flow.src" : "flow.sport";
	if (!d->client)
		return 0;
	if (d->local.turn != NULL || d->local_port.turn != NULL)
		return tuple_refuse(
			t, e,
			"has weights, which are for a client's destinations, `flow.dst` and `flow.dport`");
	if (d->remote.turn == NULL && d->remote_port.turn == NULL)
		return 0;
	t->word = d->remote.count >= d->remote_port.count || d->remote.count == 0 ? "flow.dst"
										  : "flow.dport";
	if (d->remote.count == 0 || n > FLOW_SERVERS_MAX)
		return err_set(
			e, EINVAL,
			"stream %u/%u: its servers have weights, and addresses by ports make %" PRIu64
			" of them; at most %u: fewer by `set %s %s ...`",
			t->cp->p.id, t->s->cfg.id,
			d->remote.count == 0 ? (uint64_t)d->remote_port.count << 32 : n,
			FLOW_SERVERS_MAX, t->where, t->word);
	if (d->nest[0] != FLOW_REMOTE || d->nest[1] != FLOW_REMOTE_PORT)
		return err_set(
			e, EINVAL,
			"stream %u/%u: its servers have weights, and take turns before all else: `set %s nest default`",
			t->cp->p.id, t->s->cfg.id, t->where);
	tuple_each_turn(&d->remote, first[FLOW_REMOTE - 1]);
	tuple_each_turn(&d->remote_port, first[FLOW_REMOTE_PORT - 1]);
	if (flow_weights_count(&conf, &need, &have) > 0)
		return 0;
	return err_set(e, EINVAL,
		       "stream %u/%u: a server that weighs %" PRIu64
		       " needs as many source addresses and ports, and there are %" PRIu64
		       ": `set %s flow.sport A..B` with %" PRIu64
		       " ports or more, or smaller weights",
		       t->cp->p.id, t->s->cfg.id, need, have, t->where,
		       (need + (d->local.count == 0 ? 0 : d->local.count - 1)) /
			       RTE_MAX(d->local.count, 1u));
}

/* Of servers with weights: the first source, and as many tuples as there are in whole rounds. */
static void tuple_count_weights(struct flows_design *d, const uint64_t first[4])
{
	const struct flow_values *v[4] = {&d->remote, &d->remote_port, &d->local, &d->local_port};
	const struct flow_tuples_conf conf = tuple_conf(d);
	uint64_t need, have, n = 1;

	d->ntuples = flow_weights_count(&conf, &need, &have);
	d->start = 0;
	for (unsigned i = 2; i < 4; i++) {
		unsigned k = d->nest[i] - 1u;
		d->start += first[k] * n;
		n *= v[k]->count == 0 ? 1ull << 32 : v[k]->count;
	}
}

/* Which tuple is the first, by the place of each field's first value; and how many there are. */
static void tuple_count(struct flows_design *d, const uint64_t first[4])
{
	const struct flow_values *v[4] = {&d->remote, &d->remote_port, &d->local, &d->local_port};
	uint64_t n = 1;

	d->start = 0;
	for (unsigned i = 0; i < 4; i++) {
		unsigned k = d->nest[i] - 1u;
		uint64_t count = v[k]->count == 0 ? 1ull << 32 : v[k]->count;
		d->start += first[k] * n;
		if (__builtin_mul_overflow(n, count, &n))
			n = UINT64_MAX;
	}
	d->ntuples = n;
}

int flows_design_tuples(struct flows_design *d, const struct ctl_port *cp, const struct stream *s,
			const struct frame_spec *spec, const struct flows_field of[4],
			struct err *e)
{
	static const char *const words[4] = {[FLOW_REMOTE - 1] = "flow.dst",
					     [FLOW_REMOTE_PORT - 1] = "flow.dport",
					     [FLOW_LOCAL - 1] = "flow.src",
					     [FLOW_LOCAL_PORT - 1] = "flow.sport"};
	struct flow_values *const to[4] = {&d->remote, &d->remote_port, &d->local, &d->local_port};
	uint8_t *const prefix[4] = {[FLOW_REMOTE - 1] = d->remote6, [FLOW_LOCAL - 1] = d->local6};
	struct tuple_of t = {.cp = cp, .s = s};
	uint64_t first[4] = {0};
	struct vary v;
	int rc = 0;

	flows_where(cp, s, t.where);
	for (unsigned i = 0; i < 4 && rc == 0; i++) {
		t.of = &of[i];
		t.word = words[i];
		if (!d->client && i < FLOW_LOCAL - 1) { /* a server's clients are who comes */
			*to[i] = (struct flow_values){.count = 1, .step = 1};
			continue;
		}
		tuple_vary(&t, spec, &v);
		rc = tuple_values(&t, &v, d->is6 ? prefix[i] : NULL, to[i], &first[i], e);
	}
	rc = rc < 0 ? rc : tuple_nest(d, &t, spec, of, e);
	rc = rc < 0 ? rc : tuple_weights(d, &t, first, e);
	if (rc == 0 && d->client && d->remote.turn != NULL)
		tuple_count_weights(d, first);
	else if (rc == 0)
		tuple_count(d, first);
	return rc;
}

uint64_t flows_values_hash(uint64_t h, const struct flow_values *v)
{
	h = fnv1a_number(h, v->count);
	h = fnv1a_number(h, v->base);
	h = fnv1a_number(h, v->step);
	h = fnv1a_number(h, v->turns);
	if (v->turn != NULL)
		h = fnv1a(h, v->turn, v->turns * sizeof(*v->turn));
	return v->list != NULL ? fnv1a(h, v->list, v->count * sizeof(*v->list)) : h;
}

void flows_values_free(struct flow_values *v)
{
	free((void *)(uintptr_t)v->list);
	free((void *)(uintptr_t)v->turn);
}
