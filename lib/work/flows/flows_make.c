/* SPDX-License-Identifier: BSD-3-Clause */
/* What a stream's settings come to as a flow: its headers, its tuples, its workload. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flows_ctl.h"
#include "proto_run.h"

enum { MAKE_LEAST = 64 };
enum { MAKE_DF = 2 }; /* of ipv4.flags */
#define MAKE_MOST 1000000

void flows_where(const struct ctl_port *cp, const struct stream *s, char out[24])
{
	snprintf(out, 24, s->cfg.id == 0 ? "%u" : "%u/%u", cp->p.id, s->cfg.id);
}

struct make {
	struct ctl *c;
	struct ctl_port *cp;
	const struct stream *s;
	const struct flows_cfg *cfg;
	struct frame_spec spec;
	struct flows_design *d;
	unsigned at, l4; /* the innermost IP header; TCP or UDP */
	unsigned link;   /* bytes of Ethernet and its tags, which are no part of the MTU */
	struct flows_field of[4];
	char where[24];
};

static bool make_is(const struct proto *p, const char *name)
{
	return strcmp(p->name, name) == 0;
}

/* Why headers cannot be around, or behind, the innermost IP header; NULL: they can. */
static const char *make_wrong(const struct make *k, const struct proto **wrong)
{
	const struct frame_stack *st = &k->spec.stack;

	for (unsigned i = 0; i < k->at; i++) {
		*wrong = st->hdr[i];
		if (st->hdr[i]->quotes)
			return "carries no connections: it quotes a packet";
	}
	for (unsigned i = k->at + 1; i < k->l4; i++) {
		*wrong = st->hdr[i];
		/* what may follow IPv4 too is none of IPv6's extension headers */
		if (proto_bind(proto_find("ipv4"), st->hdr[i]) != NULL)
			return "is made of each frame's contents, which flows do not do";
	}
	return NULL;
}

/* Finds the innermost headers, and refuses stacks that no connection can have. */
static int make_stack(struct make *k, struct err *e)
{
	const struct frame_stack *st = &k->spec.stack;
	struct sbuf text = {0};
	const struct proto *wrong = NULL;
	const char *why = NULL;

	k->l4 = st->n > 0 ? st->n - 1 : 0;
	for (k->at = k->l4; k->at > 0 && !st->hdr[k->at]->has_pseudo;)
		k->at--;
	const struct proto *ip = st->hdr[k->at], *l4 = st->hdr[k->l4];
	frame_stack_print(st, &text);
	if (k->at == 0 || (!make_is(l4, "tcp") && !make_is(l4, "udp")))
		err_set(e, EINVAL,
			"stream %u/%u is a flow, and its frame %s does not end in TCP or UDP over IPv4 or IPv6: `set %s frame "
			"eth/ipv4/tcp`",
			k->cp->p.id, k->s->cfg.id, sbuf_str(&text), k->where);
	else if ((why = make_wrong(k, &wrong)) != NULL)
		err_set(e, EINVAL,
			"stream %u/%u is a flow, and in its frame %s the header %s %s: leave it out, as with `set %s frame eth/%s/%s`",
			k->cp->p.id, k->s->cfg.id, sbuf_str(&text), wrong->name, why, k->where,
			ip->name, l4->name);
	sbuf_free(&text);
	if (k->at == 0 || (!make_is(l4, "tcp") && !make_is(l4, "udp")) || why != NULL)
		return -EINVAL;
	k->d->udp = make_is(l4, "udp");
	k->d->is6 = make_is(ip, "ipv6");
	return 0;
}

static void make_fields(struct make *k)
{
	const struct proto *ip = k->spec.stack.hdr[k->at], *l4 = k->spec.stack.hdr[k->l4];

	k->of[FLOW_REMOTE - 1] = (struct flows_field){ip, proto_field(ip, "dst"), 0};
	k->of[FLOW_REMOTE_PORT - 1] = (struct flows_field){l4, proto_field(l4, "dst"), 0};
	k->of[FLOW_LOCAL - 1] = (struct flows_field){ip, proto_field(ip, "src"), 0};
	k->of[FLOW_LOCAL_PORT - 1] = (struct flows_field){l4, proto_field(l4, "src"), 0};
	for (unsigned i = 0; i < 4; i++)
		k->of[i].nth =
			frame_stack_nth(&k->spec.stack, k->of[i].proto == l4 ? k->l4 : k->at);
}

static bool make_is_of(const struct make *k, const struct frame_val *v)
{
	for (unsigned i = 0; i < 4; i++)
		if (v->proto == k->of[i].proto && v->field == k->of[i].field &&
		    v->nth == k->of[i].nth)
			return true;
	return false;
}

/* Where the header of a value is in the stack; its end: it is not there. */
static unsigned make_header(const struct make *k, const struct frame_val *v)
{
	const struct frame_stack *st = &k->spec.stack;
	unsigned i = 0, nth = v->nth > FRAME_REPLY ? v->nth - FRAME_REPLY : v->nth;

	while (i < st->n && (st->hdr[i] != v->proto || frame_stack_nth(st, i) != nth))
		i++;
	return i;
}

/* Fields that are what each frame makes them, whatever their header. */
static bool make_is_role(const struct frame_val *v)
{
	bool some = v->vary != NULL;

	for (unsigned i = 0; i < sizeof(v->v); i++)
		some |= v->v[i] != 0;
	switch (v->field->role) {
	case ROLE_VERSION:
	case ROLE_HLEN:
	case ROLE_LEN:
	case ROLE_SUM_HDR:
		return true;
	case ROLE_SUM_L4: /* none is possible */
		return some || !v->field->zero_is_none;
	case ROLE_FRAG:
		return some;
	case ROLE_MORE:
		return v->vary != NULL || (v->v[VT_FIELD_BYTES - 1] & 1) != 0;
	default:
		return false;
	}
}

/* Fields that a connection fills in itself: all of TCP and UDP, and of others what depends on the
 * frame. */
static bool make_is_own(const struct make *k, const struct frame_val *v)
{
	unsigned i = make_header(k, v);

	if (i == k->spec.stack.n)
		return false;
	if (i == k->l4 || make_is_role(v))
		return true;
	/* answers exchange addresses */
	if (v->nth > FRAME_REPLY && (v->field->kind == FIELD_MAC || v->field->kind == FIELD_IP4 ||
				     v->field->kind == FIELD_IP6))
		return true;
	if (i < k->at)
		return false;
	if (v->field->role == ROLE_NEXT || (i == k->at && strcmp(v->field->name, "id") == 0))
		return true;
	return i == k->at && strcmp(v->field->name, "flags") == 0 &&
	       (v->vary != NULL || (v->v[VT_FIELD_BYTES - 1] & ~MAKE_DF) != 0);
}

/* Refuses values that no frame of a connection would have. */
static int make_values(struct make *k, struct err *e)
{
	const struct frame_vals *a = &k->spec.vals;

	for (unsigned i = 0; i < a->n; i++) {
		const struct frame_val *v = &a->val[i];
		struct sbuf name = {0};
		bool own;
		if (make_is_of(k, v))
			continue;
		own = make_is_own(k, v);
		frame_field_name(v->proto, v->nth, v->field, &name);
		if (own)
			err_set(e, EINVAL,
				"stream %u/%u is a flow, whose connections fill in %s themselves: `set %s %s default`",
				k->cp->p.id, k->s->cfg.id, sbuf_str(&name), k->where,
				sbuf_str(&name));
		sbuf_free(&name);
		if (own)
			return -EINVAL;
	}
	return 0;
}

/* Refuses settings of streams that a flow has no use for. */
static int make_settings(const struct make *k, const struct sizes *sizes, struct err *e)
{
	const struct stream_cfg *cfg = &k->s->cfg;
	const char *what = NULL;
	uint16_t size = 0;

	if (sizes_count(sizes) == 1)
		sizes_expand(sizes, &size);
	if (sizes_count(sizes) > 1 || size != 0)
		what = "size";
	else if (k->spec.probe != 0)
		what = "probe";
	else if (k->spec.rnd_on)
		what = "rnd";
	else if (cfg->latency)
		what = "latency";
	else if (cfg->rate.set)
		what = "rate";
	if (what == NULL)
		return 0;
	return err_set(
		e, EINVAL,
		"stream %u/%u is a flow, and has no use for its %s, which is of frames that are sent one by one: `set %u/%u %s %s`",
		cfg->port, cfg->id, what, cfg->port, cfg->id, what,
		what[0] == 'p' || what[0] == 'l' || strcmp(what, "rnd") == 0 ? "off" : "default");
}

/* ---- headers ---- */

static int make_add_shape(struct make *k, const struct flows_shape *x, struct err *e)
{
	struct flows_design *d = k->d;

	for (unsigned i = 0; i < d->nshapes; i++)
		if (memcmp(&d->shape[i], x, sizeof(*x)) == 0)
			return (int)i;
	if (d->nshapes == FLOWS_SHAPES)
		return err_set(
			e, EINVAL,
			"stream %u/%u has more than %u different layouts of headers: fewer values, or several streams",
			k->cp->p.id, k->s->cfg.id, FLOWS_SHAPES);
	d->shape[d->nshapes] = *x;
	return (int)d->nshapes++;
}

/* The name of some field that varies and is none of the tuple's; if there is one, of one that does
 * not tell networks apart. */
static void make_varies(const struct make *k, struct sbuf *out)
{
	const struct frame_val *found = NULL;

	for (unsigned i = 0; i < k->spec.vals.n; i++) {
		const struct frame_val *v = &k->spec.vals.val[i];
		if (v->vary != NULL && !make_is_of(k, v) && (found == NULL || found->field->ident))
			found = v;
	}
	if (found != NULL)
		frame_field_name(found->proto, found->nth, found->field, out);
}

/* How many different headers there are: as many as the longest period, or as there are clients; of
 * one client, as it has ports. */
static int make_npath(const struct make *k, const struct frame_recipe r[2], struct err *e)
{
	uint64_t period = 1, clients = k->d->local.count == 0 ? 1ull << 32 : k->d->local.count;
	struct sbuf name = {0};
	bool many;

	if (clients == 1)
		clients = k->d->local_port.count;
	if (!k->d->client)
		clients = UINT64_MAX;

	for (unsigned i = 0; i < r[0].nvars + r[1].nvars && period != 0; i++) {
		const struct frame_var *v =
			i < r[0].nvars ? &r[0].var[i] : &r[1].var[i - r[0].nvars];
		uint64_t p = vary_period(&v->v);
		period = p == 0 ? 0 : lcm(period, p, UINT32_MAX);
	}
	if (period == 1)
		return 1;
	make_varies(k, &name);
	many = (period == 0 || period > FLOWS_PATHS) && clients > FLOWS_PATHS;
	if (clients == 1)
		err_set(e, EINVAL,
			"stream %u/%u: its %s varies from client to client, and there is one source address, with one port: "
			"`set %s flow.src A..B`",
			k->cp->p.id, k->s->cfg.id, sbuf_str(&name), k->where);
	else if (many && k->d->client)
		err_set(e, EINVAL,
			"stream %u/%u: its %s gives more than %u different headers: at most so many source addresses, or values",
			k->cp->p.id, k->s->cfg.id, sbuf_str(&name), FLOWS_PATHS);
	else if (many)
		err_set(e, EINVAL,
			"stream %u/%u is a server, and its %s gives more than %u different headers: fewer values, one after the other",
			k->cp->p.id, k->s->cfg.id, sbuf_str(&name), FLOWS_PATHS);
	sbuf_free(&name);
	if (clients == 1 || many)
		return -EINVAL;
	return (int)(period == 0 || period > clients ? clients : period);
}

/* The same with a client's different next hops. */
static int make_nways(const struct make *k, unsigned nclients, struct err *e)
{
	unsigned n = nclients * RTE_MAX(k->d->nto, 1u);

	k->d->npath = (uint16_t)n;
	return n <= FLOWS_PATHS
		       ? 0
		       : err_set(e, EINVAL,
				 "stream %u/%u: %u different headers of its clients, each with %u MAC addresses of its "
				 "destinations on the link, are more than %u: fewer values, several streams, or `set %s eth.dst MAC`",
				 k->cp->p.id, k->s->cfg.id, nclients, k->d->nto, FLOWS_PATHS,
				 k->where);
}

/* TCP finds out how large its segments may be (RFC 1191 3), unless somebody has set the flags. */
static bool make_sets_df(const struct make *k)
{
	const struct proto *ip = k->spec.stack.hdr[k->at];

	return !k->d->is6 && !k->d->udp &&
	       frame_vals_find(&k->spec.vals, ip, frame_stack_nth(&k->spec.stack, k->at),
			       proto_field(ip, "flags")) == NULL;
}

/* Extension headers may have it that other addresses count (RFC 8200 8.1): those of the last hop,
 * or of home. */
static bool make_is_final(const struct make *k, const struct frame *f)
{
	const struct proto *ip = k->spec.stack.hdr[k->at];
	int src = frame_field_at(f, k->at, proto_field(ip, "src")),
	    dst = frame_field_at(f, k->at, proto_field(ip, "dst"));

	return frame_sum_src(f, k->l4) * 8 == (unsigned)src &&
	       frame_sum_dst(f, k->l4) * 8 == (unsigned)dst;
}

/* Frames of one direction: what they are, and what changes in them. */
struct make_way {
	const struct frame *f;
	const struct frame_recipe *r;
};

static int make_outer(struct make *k, const struct make_way *sent, const struct make_way *came,
		      struct flow_fix fix[FLOW_FIXES], unsigned *n, struct err *e)
{
	const struct frame *f = sent->f;
	struct err why;

	if (flows_outer_fixes(f, k->at, fix, n, &why) < 0)
		return err_set(e, EINVAL,
			       "stream %u/%u is a flow, and it cannot have this frame: %s",
			       k->cp->p.id, k->s->cfg.id, why.text);
	if (!make_is_final(k, f))
		return err_set(
			e, EINVAL,
			"stream %u/%u is a flow, and the addresses of its connections are not those of its IP header, but in an extension "
			"header: `set %s ipv6rt.segleft 0`, or leave it out",
			k->cp->p.id, k->s->cfg.id, k->where);
	if (!k->d->client && k->at > 1)
		flows_outer_back(came->f, f, k->at, &k->d->back);
	return 0;
}

/* Two paths of a server for the same clients. */
static int make_twice(const struct make *k, struct err *e)
{
	struct sbuf name = {0};

	make_varies(k, &name);
	err_set(e, EINVAL,
		"stream %u/%u is a server, and its %s varies, but not with a VLAN id, label, key, VNI or TEID that would tell which one "
		"an answer has: `set %s %s default`",
		k->cp->p.id, k->s->cfg.id, sbuf_str(&name), k->where, sbuf_str(&name));
	sbuf_free(&name);
	return -EINVAL;
}

/* One path, and by what the frames are known that come back on it. bytes: room for either. */
static int make_path(struct make *k, unsigned i, const struct make_way *sent,
		     const struct make_way *came, const struct flow_fix *fix, unsigned nfix,
		     uint8_t *bytes, struct err *e)
{
	struct flows_design *d = k->d;
	const struct frame *f = sent->f;
	uint64_t value[FLOWS_SHAPE_WORDS];
	struct flows_shape x;
	struct err why;
	uint32_t before = d->idents->n;
	unsigned client = i / RTE_MAX(d->nto, 1u), kind = i % RTE_MAX(d->nto, 1u);
	int rc;

	frame_recipe_at(sent->r, client, bytes);
	flows_hops_at(d, client, kind, bytes);
	if (make_sets_df(k))
		bytes[f->off[k->at] + 6] |= MAKE_DF << 5;
	if (flow_path_init(&d->path[i], bytes, f->off[k->at], f->off[k->l4], 0, fix, nfix, &why) <
	    0)
		return err_set(e, EINVAL,
			       "stream %u/%u is a flow, and it cannot have this frame: %s",
			       k->cp->p.id, k->s->cfg.id, why.text);
	frame_recipe_at(came->r, client, bytes);
	flows_outer_shape(came->f, bytes, k->at, &x, value);
	rc = make_add_shape(k, &x, e);
	if (rc < 0)
		return rc;
	d->path_ident[i] = (uint16_t)flows_idents_add(d->idents, (unsigned)rc, value, x.nids);
	return d->client || d->idents->n > before ? 0 : make_twice(k, e);
}

/* Makes one path after the other of a frame whose tuple stands still. */
static int make_each_path(struct make *k, const struct make_way *sent, const struct make_way *came,
			  struct err *e)
{
	struct flows_design *d = k->d;
	uint8_t *bytes = xcalloc(1, RTE_MAX(sent->r->len, came->r->len));
	struct flow_fix fix[FLOW_FIXES];
	unsigned nfix;
	int rc = make_outer(k, sent, came, fix, &nfix, e);

	d->path = xcalloc_lines(d->npath * sizeof(*d->path));
	d->path_ident = xcalloc(d->npath, sizeof(*d->path_ident));
	d->idents = xcalloc(1, sizeof(*d->idents));
	d->shape = xcalloc(FLOWS_SHAPES, sizeof(*d->shape));
	for (unsigned i = 0; i < d->npath && rc == 0; i++)
		rc = make_path(k, i, sent, came, fix, nfix, bytes, e);
	free(bytes);
	return rc;
}

static unsigned make_link(const struct make *k, const struct frame *f)
{
	unsigned i = 0;

	while (proto_bind(k->spec.stack.hdr[i], proto_find("vlan")) != NULL)
		i++;
	return f->off[i];
}

/* Frames of one direction. */
static int make_way(struct make *k, bool answers, struct frame *f, struct frame_recipe *r,
		    struct err *e)
{
	unsigned max =
		(unsigned)ctl_mtu(k->cp) + RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN + 4 * (k->at - 1);
	struct frame_spec spec;
	struct err why;

	frame_spec_copy(&spec, &k->spec);
	flows_outer_turn(&spec.vals, answers);
	int rc = frame_compile(&spec, &k->s->cfg.dflt, max, r, &why);
	if (rc == 0) {
		rc = frame_build(&spec, &k->s->cfg.dflt, max, f, &why);
		if (rc < 0)
			frame_recipe_free(r);
	}
	frame_spec_free(&spec);
	return rc < 0 ? err_set(e, -rc, "%s", why.text) : 0;
}

static int make_paths(struct make *k, struct err *e)
{
	static struct frame f[2]; /* large; control is one thread */
	struct frame_recipe r[2];
	const struct make_way way[2] = {{&f[0], &r[0]}, {&f[1], &r[1]}};
	bool client = k->d->client;

	for (unsigned i = 0; i < 4; i++)
		frame_vals_unset(&k->spec.vals, k->of[i].proto, k->of[i].nth, k->of[i].field);
	k->spec.nest.n = 0;
	k->spec.size = 0;
	int rc = make_way(k, false, &f[0], &r[0], e);
	if (rc < 0)
		return rc;
	rc = make_way(k, true, &f[1], &r[1], e);
	if (rc == 0) {
		k->link = make_link(k, &f[0]);
		rc = make_npath(k, r, e);
		rc = rc < 0 ? rc : make_nways(k, (unsigned)rc, e);
		if (rc >= 0)
			rc = make_each_path(k, &way[!client], &way[client], e);
		frame_recipe_free(&r[1]);
	}
	frame_recipe_free(&r[0]);
	return rc;
}

/* ---- the rest ---- */

static int make_mss(const struct make *k, struct err *e)
{
	struct flows_design *d = k->d;
	unsigned headers = d->path[0].l4 - k->link + (d->udp ? LEN_UDP : LEN_TCP);
	uint64_t mtu = ctl_mtu(k->cp);

	if (mtu < headers + MAKE_LEAST)
		return err_set(
			e, EINVAL,
			"port %u: its mtu of %llu leaves less than %u bytes behind %u bytes of headers: `set %u mtu %u`",
			k->cp->p.id, (unsigned long long)mtu, MAKE_LEAST, headers, k->cp->p.id,
			headers + MAKE_LEAST);
	if (k->cfg->mss > mtu - headers)
		return err_set(
			e, EINVAL,
			"stream %u/%u: segments of %llu bytes do not fit into the port's mtu of %llu: `set %s flow.mss %llu`, "
			"or `set %u mtu %llu`",
			k->cp->p.id, k->s->cfg.id, (unsigned long long)k->cfg->mss,
			(unsigned long long)mtu, k->where, (unsigned long long)(mtu - headers),
			k->cp->p.id, (unsigned long long)(k->cfg->mss + headers));
	d->mss = (uint16_t)(k->cfg->mss != 0 ? k->cfg->mss : RTE_MIN(mtu - headers, 65495u));
	return 0;
}

/* A window below some segments would wait for delayed acknowledgements. */
#define MAKE_WINDOW 16384u
#define MAKE_WINDOW_MOST (4u << 20)
static void make_window(const struct make *k)
{
	struct flows_design *d = k->d;

	d->window = d->window_most = (uint32_t)k->cfg->window;
	if (k->cfg->window == 0) {
		d->window = RTE_MAX(MAKE_WINDOW, 8u * d->mss);
		d->window_most = MAKE_WINDOW_MOST;
	}
}

static int make_most(const struct make *k, struct err *e)
{
	struct flows_design *d = k->d;
	uint64_t asked = k->cfg->connections;

	d->most = asked != 0 ? asked : RTE_MIN(d->ntuples, (uint64_t)MAKE_MOST);
	if (d->client && d->most < flows_of(k->cp)->nqueues && asked <= d->ntuples)
		return err_set(
			e, EINVAL,
			"stream %u/%u: its %llu connections at once are fewer than the %u queues of port %u, each of which opens its own: "
			"`set %s connections %u` or more, and as many tuples",
			k->cp->p.id, k->s->cfg.id, (unsigned long long)d->most,
			flows_of(k->cp)->nqueues, k->cp->p.id, k->where, flows_of(k->cp)->nqueues);
	if (!d->client || asked <= d->ntuples)
		return 0;
	if (d->remote.turn != NULL)
		return err_set(
			e, EINVAL,
			"stream %u/%u: %llu connections at once by the weights of its servers need %llu source addresses and ports, and what "
			"it has makes %llu connections: more, as by `set %s flow.src A..B`, or `set %s connections %llu`",
			k->cp->p.id, k->s->cfg.id, (unsigned long long)asked,
			(unsigned long long)flows_weights_need(d, asked),
			(unsigned long long)d->ntuples, k->where, k->where,
			(unsigned long long)d->ntuples);
	return err_set(
		e, EINVAL,
		"stream %u/%u: %llu connections at once need as many tuples, and its addresses and ports make %llu: more of them, as by `set "
		"%s flow.src A..B`, or `set %s connections %llu`",
		k->cp->p.id, k->s->cfg.id, (unsigned long long)asked,
		(unsigned long long)d->ntuples, k->where, k->where, (unsigned long long)d->ntuples);
}

static void make_keys(const struct make *k)
{
	struct flows_design *d = k->d;
	uint64_t h = fnv1a_number(FNV_BASIS, (uint64_t)d->client << 1 | d->is6);

	h = flows_values_hash(flows_values_hash(h, &d->remote), &d->remote_port);
	h = flows_values_hash(flows_values_hash(h, &d->local), &d->local_port);
	h = fnv1a(fnv1a(fnv1a(h, d->local6, 12), d->remote6, 12), d->nest, sizeof(d->nest));
	d->tuples_key = h = fnv1a_number(h, d->start);
	h = fnv1a(h, d->path, d->npath * sizeof(*d->path));
	h = d->to == NULL ? h : fnv1a(h, d->to_path, d->remote.count * sizeof(*d->to_path));
	h = fnv1a(h, d->shape, d->nshapes * sizeof(*d->shape));
	h = fnv1a(h, d->idents->key, d->idents->n * sizeof(*d->idents->key));
	h = fnv1a_number(fnv1a_number(h, d->udp), d->mss);
	h = fnv1a_number(fnv1a_number(h, d->window), d->window_most);
	h = fnv1a_number(h, d->congestion);
	h = fnv1a_number(fnv1a_number(h, d->rto_ns), d->timewait_ns);
	h = fnv1a_number(h, (uint64_t)d->by_dst << 11 | (uint64_t)d->retries << 3 |
				    (uint64_t)d->sack << 2 | (uint64_t)d->on_call << 1 | d->verify);
	h = fnv1a_number(h, d->load.plain[0].fill);
	d->key = flows_arm_hash(flows_load_hash(h, &k->s->cfg), d->load.arm);
}

static int make_all(struct make *k, const struct sizes *sizes, struct err *e)
{
	struct flows_design *d = k->d;
	int rc = make_stack(k, e);

	if (rc < 0)
		return rc;
	make_fields(k);
	rc = make_settings(k, sizes, e);
	rc = rc < 0 ? rc : make_values(k, e);
	rc = rc < 0 ? rc : flows_design_tuples(d, k->cp, k->s, &k->spec, k->of, e);
	rc = rc < 0 ? rc : flows_design_hops(d, k->cp, k->s, &k->spec, &k->of[FLOW_REMOTE - 1], e);
	rc = rc < 0 ? rc : flows_tally_check(d, k->cp, k->s, e);
	rc = rc < 0 ? rc : make_paths(k, e);
	rc = rc < 0 ? rc : make_mss(k, e);
	make_window(k);
	rc = rc < 0 ? rc : make_most(k, e);
	return rc < 0 ? rc : flows_design_load(d, k->c, k->cp, k->s, e);
}

int flows_design_new(struct ctl *c, struct ctl_port *cp, const struct stream *s,
		     struct flows_design **out, struct err *e)
{
	const struct flows_cfg *cfg = flows_cfg_of(&s->cfg);
	struct flows_design *d = xcalloc(1, sizeof(*d));
	struct make k = {.c = c, .cp = cp, .s = s, .cfg = cfg, .d = d};
	struct sizes sizes;

	*out = NULL;
	*d = (struct flows_design){.client = cfg->role == FLOWS_CLIENT,
				   .verify = cfg->verify,
				   .by_dst = cfg->by_dst,
				   .on_call = cfg->role == FLOWS_CLIENT && cfg->tps.on,
				   .congestion = cfg->congestion == FLOWS_CUBIC ? FLOW_CUBIC
						 : cfg->congestion == FLOWS_NEWRENO
							 ? FLOW_NEWRENO
							 : FLOW_NO_CONGESTION,
				   .rto_ns = cfg->rto_ns,
				   .timewait_ns = cfg->timewait_ns,
				   .retries = (uint8_t)cfg->retries,
				   .sack = cfg->sack};
	flows_where(cp, s, k.where);
	int rc = stream_stray(cp, s, e);
	if (rc == 0) {
		rc = ctl_stream_spec(c, cp->p.id, s->cfg.id, &k.spec, &sizes, e);
		rc = rc < 0 ? rc : make_all(&k, &sizes, e);
		d->about = rc < 0 ? NULL : flows_about(&k.spec);
		frame_spec_free(&k.spec);
	}
	if (rc < 0) {
		flows_design_free(d);
		return rc;
	}
	make_keys(&k);
	*out = d;
	return 0;
}

void flows_design_free(struct flows_design *d)
{
	if (d == NULL)
		return;
	flows_values_free(&d->remote);
	flows_values_free(&d->remote_port);
	flows_values_free(&d->local);
	flows_values_free(&d->local_port);
	free(d->to);
	free(d->to_path);
	free(d->to_mac);
	free(d->path);
	free(d->shape);
	free(d->idents);
	free(d->path_ident);
	free(d->ident);
	free(d->path_of);
	flows_load_free(&d->load);
	json_decref(d->about);
	free(d);
}
