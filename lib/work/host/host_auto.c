/* SPDX-License-Identifier: BSD-3-Clause */
/* eth.dst auto: before a start the host asks for the next hops of the port's streams, gives the
 * streams their MAC addresses, and follows those that move. */
#include "host_auto_ctl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host_ctl.h"
#include "host_face.h"
#include "host_route_ctl.h"

/* Unless host.wait is longer: so long a start waits for a link to come up, and for an answer.
 * Addresses are tried and neighbours asked three times in less; this is for a table that hostile
 * frames keep full. */
#define LINK_WAIT_NS 5000000000ull
#define ANSWER_WAIT_NS 30000000000ull

static struct host_auto *auto_of(const struct ctl_port *cp)
{
	return &host_of_port(cp)->found;
}

/* host.wait of a port, or `least` if that is longer. */
static uint64_t auto_wait_ns(const struct ctl_port *cp, uint64_t least)
{
	const struct host_cfg *cfg = work_cfg(&cp->cfg, &work_host);

	return cfg->wait_ns > least ? cfg->wait_ns : least;
}

void host_auto_free(struct host_auto *a)
{
	free(a->hop);
	free(a->aim);
	free(a->to);
	a->hop = NULL;
	a->aim = NULL;
	a->to = NULL;
	a->nhops = a->naims = a->nto = 0;
}

/* ---- from streams to next hops ---- */

/* The aims while they are collected, with a table that finds a hop. */
#define FIND_SLOTS (2 * HOST_HOPS_MAX)
struct collect {
	const struct ctl_port *cp;
	struct host_auto *a;
	struct neigh_tags own, link[HOST_LINKS_MAX]; /* that of host.vlan, and others */
	unsigned nlinks;
	uint16_t slot[FIND_SLOTS]; /* + 1; 0: none */
};

static bool same_hop(const struct host_hop *a, const struct host_hop *b)
{
	return memcmp(a->ip, b->ip, NEIGH_IP) == 0 && neigh_same_tags(&a->tags, &b->tags);
}

/* The slot of the hop, or the empty one where it belongs. */
static uint16_t *slot_of(struct collect *k, const struct host_hop *hop)
{
	uint64_t at = fnv1a(fnv1a(FNV_BASIS, hop->ip, NEIGH_IP), hop->tags.at,
			    hop->tags.n * sizeof(hop->tags.at[0]));

	while (k->slot[at % FIND_SLOTS] != 0 &&
	       !same_hop(&k->a->hop[k->slot[at % FIND_SLOTS] - 1], hop))
		at++;
	return &k->slot[at % FIND_SLOTS];
}

static int too_many(const struct collect *k, const struct stream *s, unsigned most,
		    const char *what, struct err *e)
{
	char name[32], where[24];

	host_stream_name(k->cp, s, name, where);
	return err_set(
		e, ERANGE,
		"%s: the streams of port %u have more than %u %s, and a host asks %s so many; `set %s eth.dst MAC` says "
		"the address of this one",
		name, k->cp->p.id, most, what, *what == 'n' ? "for" : "in", where);
}

/* Notes the link of a hop. */
static int link_add(struct collect *k, const struct stream *s, const struct neigh_tags *tags,
		    struct err *e)
{
	unsigned i = 0;

	while (i < k->nlinks && !neigh_same_tags(&k->link[i], tags))
		i++;
	if (i < k->nlinks || neigh_same_tags(&k->own, tags))
		return 0;
	if (i == HOST_LINKS_MAX)
		return too_many(k, s, HOST_LINKS_MAX, "VLANs beside host.vlan", e);
	k->link[k->nlinks++] = *tags;
	return 0;
}

static int aim_add(struct collect *k, const struct stream *s, const struct host_way *way,
		   struct err *e)
{
	struct host_auto *a = k->a;

	a->to = xrealloc(a->to, (a->nto + way->n) * sizeof(*a->to));
	a->aim[a->naims++] = (struct host_aim){.cell = s->cell,
					       .id = s->cfg.id,
					       .first = a->nto,
					       .n = way->n,
					       .lead = way->lead,
					       .div = way->div};
	for (unsigned i = 0; i < way->n; i++) {
		uint16_t *slot = slot_of(k, &way->hop[i]);
		if (*slot == 0 && a->nhops == HOST_HOPS_MAX)
			return too_many(k, s, HOST_HOPS_MAX, "next hops", e);
		if (*slot == 0) {
			int rc = way->hop[i].group ? 0 : link_add(k, s, &way->hop[i].tags, e);
			if (rc < 0)
				return rc;
			a->hop[a->nhops++] = way->hop[i];
			*slot = (uint16_t)a->nhops;
		}
		a->to[a->nto++] = *slot - 1u;
	}
	return 0;
}

/* Notes the VLANs of a stream that answers. */
static int serve_add(struct ctl *c, struct collect *k, const struct stream *s, struct err *e)
{
	struct neigh_tags *tags;
	unsigned n = host_serves(c, k->cp, s, &tags);
	char name[32], where[24];
	int rc = 0;

	for (unsigned i = 0; i < n && rc == 0; i++) {
		unsigned before = k->nlinks;
		rc = link_add(k, s, &tags[i], NULL);
		if (k->nlinks > before)
			k->a->serves[k->a->nserves++] = tags[i];
	}
	free(tags);
	if (rc == 0)
		return 0;
	host_stream_name(k->cp, s, name, where);
	return err_set(
		e, ERANGE,
		"%s: the streams of port %u have more than %u VLANs beside host.vlan, and a host answers in so many",
		name, k->cp->p.id, HOST_LINKS_MAX);
}

/* Where the port's streams go by their settings of now. After a failure there is nothing to
 * free. */
static int aims_of(struct ctl *c, const struct ctl_port *cp, struct host_auto *out, struct err *e)
{
	static struct collect k; /* large, and control is one thread */
	struct host_way way;
	int rc = 0;

	*out = (struct host_auto){.aim = xcalloc(cp->total + 1u, sizeof(*out->aim)),
				  .hop = xcalloc(HOST_HOPS_MAX, sizeof(*out->hop))};
	k = (struct collect){.cp = cp, .a = out};
	host_cfg_tags(work_cfg(&cp->cfg, &work_host), &k.own);
	for (unsigned i = 0; i < cp->nstreams && rc >= 0; i++) {
		const struct stream *s = stream_at(cp, i);
		if (s == NULL || !s->cfg.enabled)
			continue;
		if (stream_answers(s)) {
			rc = serve_add(c, &k, s, e);
			continue;
		}
		rc = host_route(c, cp, s, &way, e);
		if (rc <= 0)
			continue;
		rc = aim_add(&k, s, &way, e);
		free(way.hop);
	}
	out->hop = xrealloc(out->hop, (out->nhops + 1) * sizeof(*out->hop));
	if (rc < 0)
		host_auto_free(out);
	return rc < 0 ? rc : 0;
}

static int by_hop(const void *a, const void *b)
{
	const struct host_hop *x = a, *y = b;
	int rc = memcmp(x->ip, y->ip, NEIGH_IP);

	if (rc != 0 || x->tags.n != y->tags.n)
		return rc != 0 ? rc : x->tags.n - y->tags.n;
	return memcmp(x->tags.at, y->tags.at, x->tags.n * sizeof(x->tags.at[0]));
}

/* Takes over new aims; what is known of their hops stays known. That of a group follows from the
 * prefixes of now. */
static void aims_take(struct ctl_port *cp, struct host_auto *fresh, uint64_t now)
{
	struct host_auto *a = auto_of(cp);

	if (a->nhops > 0)
		qsort(a->hop, a->nhops, sizeof(*a->hop), by_hop);
	for (unsigned i = 0; i < fresh->nhops && a->nhops > 0; i++) {
		const struct host_hop *was =
			bsearch(&fresh->hop[i], a->hop, a->nhops, sizeof(*a->hop), by_hop);
		if (was != NULL && !fresh->hop[i].group && !was->group)
			fresh->hop[i] = *was;
	}
	host_auto_free(a);
	a->hop = fresh->hop;
	a->aim = fresh->aim;
	a->to = fresh->to;
	a->nhops = fresh->nhops;
	a->naims = fresh->naims;
	a->nto = fresh->nto;
	a->nserves = fresh->nserves;
	memcpy(a->serves, fresh->serves, sizeof(a->serves));
	a->moves = 0;
	if (host_of_port(cp)->n != NULL && !host_lags(cp))
		host_links_follow(cp, now);
}

/* ---- from next hops to streams ---- */

static void dst_give(struct ctl_port *cp, const struct stream *at, const struct stream_found *found)
{
	const struct proto *eth = proto_find("eth");
	struct stream *s = stream_of_cell(cp, at->cell, at->cfg.id);

	stream_found(cp, s, eth, proto_field(eth, "dst"), found);
}

/* Gives a stream its MAC addresses. As long as one of them is not known, it keeps those that it
 * has. */
static void aim_give(struct ctl_port *cp, const struct host_auto *a, const struct host_aim *aim,
		     const struct stream *s)
{
	struct vary each = {.kind = VARY_LIST, .bits = 48, .div = aim->div, .n = aim->n};
	struct stream_found found = {.lead = aim->lead};
	vary_u *list = xcalloc(aim->n, sizeof(*list));
	bool all = true, same = true;

	for (unsigned i = 0; i < aim->n; i++) {
		const struct host_hop *hop = &a->hop[a->to[aim->first + i]];
		all = all && hop->known;
		memset(found.v, 0, sizeof(found.v));
		memcpy(found.v + VT_FIELD_BYTES - 6, hop->mac, 6);
		list[i] = vary_load(found.v);
		same = same && list[i] == list[0];
	}
	each.list = list;
	if (!same) /* several may answer for one, as a proxy does */
		found.each = &each;
	if (all)
		dst_give(cp, s, &found);
	free(list);
}

static void aims_give(struct ctl_port *cp, const struct host_auto *a)
{
	for (unsigned i = 0; i < a->naims; i++) {
		const struct stream *s = stream_of_cell(cp, a->aim[i].cell, a->aim[i].id);
		if (s != NULL)
			aim_give(cp, a, &a->aim[i], s);
	}
}

void host_auto_end(struct ctl_port *cp)
{
	struct host_auto *a = auto_of(cp);

	if (cp->run.active)
		return; /* frames go to where they went until the run is over */
	for (unsigned i = 0; i < cp->nstreams && a->given; i++)
		if (stream_at(cp, i) != NULL)
			dst_give(cp, stream_at(cp, i), NULL);
	host_auto_free(a);
	*a = (struct host_auto){0};
}

/* ---- a start ---- */

static int hop_error(const struct ctl_port *cp, const struct host_hop *hop, unsigned of,
		     const char *why, const char *help, struct err *e)
{
	const struct host_auto *a = auto_of(cp);
	const struct stream *s = NULL;
	struct sbuf ip = {0};
	unsigned i = 0, at = 0;

	while (at < a->nto && a->to[at] != of)
		at++;
	while (i < a->naims && at >= a->aim[i].first + a->aim[i].n)
		i++;
	host_print_ip(hop->ip, &ip);
	if (hop->tags.n > 0) {
		sbuf_add(&ip, " in VLAN ");
		host_print_tags(&hop->tags, &ip);
	}
	if (i < a->naims)
		s = stream_of_cell(cp, a->aim[i].cell, a->aim[i].id);
	if (s != NULL && stream_of_program(cp, s))
		err_set(e, EHOSTUNREACH,
			"port %u: %s, the next hop of its connections, %s; %s, --ip ADDRESS/LENGTH,GATEWAY says whom the port asks",
			cp->p.id, sbuf_str(&ip), why, help);
	else
		err_set(e, EHOSTUNREACH,
			"port %u: %s, the next hop of stream %u/%u, %s; %s, `set %u/%u eth.dst MAC` says its address",
			cp->p.id, sbuf_str(&ip), cp->p.id, i < a->naims ? a->aim[i].id : 0, why,
			help, cp->p.id, i < a->naims ? a->aim[i].id : 0);
	sbuf_free(&ip);
	return -EHOSTUNREACH;
}

/* Whether the host has, or will have, an address from which it can ask for this one. */
static bool can_ask(const struct neigh *n, const uint8_t ip[NEIGH_IP])
{
	uint64_t version;
	const struct neigh_self *self = neigh_self(n, &version);

	for (unsigned i = 0; i < self->nown; i++)
		if (neigh_is_ip4(self->own[i].ip) == neigh_is_ip4(ip) &&
		    neigh_own_state(n, i) != NEIGH_DUPLICATE)
			return true;
	return false;
}

/* 1: it is known. 0: not yet. */
static int hop_ready(const struct ctl_port *cp, struct host_hop *hop, unsigned i, bool first,
		     uint64_t now, struct err *e)
{
	struct neigh *n = host_link_find(host_of_port(cp), &hop->tags);
	struct neigh_entry x;

	if (hop->group)
		return 1;
	if (n == NULL)
		return 0;
	if (!can_ask(n, hop->ip))
		return hop_error(cp, hop, i,
				 "cannot be asked: the port has no address of its family in use",
				 "`show host` says why", e);
	if (first || !neigh_find(n, hop->ip, &x)) {
		hop->sought = true;
		if (!neigh_seek(n, hop->ip, now))
			return hop_error(cp, hop, i, "has no room among the neighbours",
					 "`clear neighbours` makes some", e);
		if (!neigh_find(n, hop->ip, &x))
			return 0;
	}
	if (x.state == NEIGH_FAILED && now - auto_of(cp)->since_ns < auto_wait_ns(cp, 0)) {
		neigh_wake(n, hop->ip, now);
		return 0;
	}
	if (x.state == NEIGH_FAILED)
		return hop_error(cp, hop, i,
				 auto_wait_ns(cp, 0) == 0 ? "did not answer 3 times"
							  : "did not answer within host.wait",
				 "`show neighbours` and `show host` say what was heard", e);
	if (!x.has_mac)
		return 0;
	memcpy(hop->mac, x.mac, 6);
	hop->known = true;
	return 1;
}

/* Waits for the host, which begins when there is a link. */
static int host_awaited(struct ctl *c, struct ctl_port *cp, uint64_t now, struct err *e)
{
	const struct host_auto *a = auto_of(cp);

	link_look(c, cp);
	if (cp->p.link == LINK_UP || cp->p.link == LINK_UNKNOWN ||
	    (cp->p.link == LINK_DOWN && now - a->since_ns < auto_wait_ns(cp, LINK_WAIT_NS)))
		return 0;
	return hop_error(cp, &a->hop[0], 0, "cannot be asked: the port has no link",
			 "`show ports` says when it has", e);
}

static int port_ready(struct ctl *c, struct ctl_port *cp, bool again, uint64_t now, struct err *e)
{
	struct host_port *h = host_of_port(cp);
	struct host_auto *a = &h->found, fresh;
	bool all = true, needs = false;

	/* Nobody is asked for a start that is refused. */
	if (!cp->p.used || cp->p.ntxq == 0 || !ctl_port_runs(cp) || cp->run.active)
		return 1;
	if (again && a->stage == HOST_AUTO_FOUND)
		return 1;
	if (!again || a->stage != HOST_AUTO_SEEKS) {
		int rc = aims_of(c, cp, &fresh, e);
		if (rc < 0)
			return rc;
		aims_take(cp, &fresh, now);
		a->stage = HOST_AUTO_SEEKS;
		a->asked = false;
		a->since_ns = now;
	}
	for (unsigned i = 0; i < a->nhops; i++)
		needs = needs || !a->hop[i].group;
	if (needs && h->n == NULL)
		return host_awaited(c, cp, now, e);
	/* settings of this very turn reach the machine in the next one */
	if (needs && host_lags(cp))
		return 0;
	for (unsigned i = 0; i < a->nhops; i++) {
		int rc = hop_ready(cp, &a->hop[i], i, !a->asked, now, e);
		if (rc < 0)
			return rc;
		if (rc == 0 && now - a->since_ns > auto_wait_ns(cp, ANSWER_WAIT_NS))
			return hop_error(cp, &a->hop[i], i, "did not answer in time",
					 "`show neighbours` and `show host` say what was heard", e);
		all = all && rc > 0;
	}
	a->asked = true;
	if (!all)
		return 0;
	a->stage = HOST_AUTO_FOUND;
	a->given = a->given || a->naims > 0;
	aims_give(cp, a);
	return 1;
}

int host_ready(struct ctl *c, const struct portset *ports, bool again, struct err *e)
{
	uint64_t now = clock_raw_ns();
	bool all = true;

	for (unsigned i = 0; i < c->nports; i++)
		if (portset_has(ports, i) && c->port[i]->run.active)
			return 1; /* the start is refused */
	for (unsigned i = 0; i < c->nports; i++) {
		int rc = portset_has(ports, i) ? port_ready(c, c->port[i], again, now, e) : 1;
		if (rc < 0)
			return rc;
		all = all && rc > 0;
	}
	return all;
}

/* For starts that have not asked, or whose streams were changed while they did. */
int host_check(struct ctl *c, struct ctl_port *cp, struct err *e)
{
	const struct host_cfg *cfg = work_cfg(&cp->cfg, &work_host);
	const struct host_auto *a = auto_of(cp);
	struct host_auto now;
	bool same = true;
	/* The kernel may have got one of them since it was set. */
	int rc = host_may_have(c, cp->p.id, &cfg->ip, e);

	if (rc == 0)
		rc = aims_of(c, cp, &now, e);

	if (rc < 0)
		return rc;
	if (now.naims > 0)
		same = a->stage == HOST_AUTO_FOUND && now.naims == a->naims;
	for (unsigned i = 0; i < now.naims && same; i++)
		same = now.aim[i].cell == a->aim[i].cell && now.aim[i].n == a->aim[i].n;
	for (unsigned i = 0; i < now.nto && same; i++)
		same = same_hop(&now.hop[now.to[i]], &a->hop[a->to[i]]);
	host_auto_free(&now);
	if (same)
		aims_give(cp, a); /* a stream may have had a value of its own meanwhile */
	return same ? 0
		    : err_set(e, EAGAIN,
			      "port %u: where its streams go was changed while it was asked for; `start %u` again",
			      cp->p.id, cp->p.id);
}

bool host_own_address(const struct ctl_port *cp, bool is6, uint8_t *ip)
{
	const struct host_cfg *cfg = work_cfg(&cp->cfg, &work_host);

	for (unsigned i = 0; i < cfg->ip.n; i++) {
		const uint8_t *own = cfg->ip.at[i].ip;
		if (neigh_is_ip4(own) == is6 || (is6 && own[0] == 0xfe && (own[1] & 0xc0) == 0x80))
			continue; /* of the other family, or of the link alone */
		memcpy(ip, is6 ? own : own + 12, is6 ? 16 : 4);
		return true;
	}
	return false;
}

bool host_finds(const struct ctl_port *cp, const struct stream *s)
{
	const struct host_cfg *cfg = work_cfg(&cp->cfg, &work_host);

	return cfg->ip.n > 0 && !port_deaf(&cp->p) && !stream_answers(s) && host_routable(s);
}

void host_reach(struct ctl *c, struct ctl_port *cp, struct sbuf *out)
{
	const struct host_cfg *cfg = work_cfg(&cp->cfg, &work_host);

	(void)c;
	if (cfg->ip.n == 0 && !port_deaf(&cp->p))
		sbuf_addf(out, ", with `set %u ip A/LEN` it is found from where frames go",
			  cp->p.id);
}

/* ---- while the port sends ---- */

/* Streams were changed while the port sends. */
static void aims_renew(struct ctl *c, struct ctl_port *cp, uint64_t now)
{
	struct host_port *h = host_of_port(cp);
	struct host_auto fresh;
	struct err e;

	if (aims_of(c, cp, &fresh, &e) < 0) {
		uint64_t text = fnv1a(FNV_BASIS, (const uint8_t *)e.text, strlen(e.text)) | 1;
		if (text != h->found.said)
			ctl_note(c, cp->p.id, "%s; until then its frames go to where they went",
				 e.text);
		h->found.said = text;
		return;
	}
	h->found.said = 0;
	aims_take(cp, &fresh, now);
	h->found.stage = HOST_AUTO_FOUND;
	h->found.given = h->found.given || h->found.naims > 0;
	for (unsigned i = 0; i < h->found.nhops; i++) {
		struct host_hop *hop = &h->found.hop[i];
		struct neigh *n = host_link_find(h, &hop->tags);
		if (!hop->known && !hop->sought && n != NULL)
			hop->sought = neigh_seek(n, hop->ip, now);
	}
	h->found.used = false;
	aims_give(cp, &h->found);
}

/* Keeps the next hops resolved while the port sends, and only then. */
static void hops_use(const struct ctl_port *cp, uint64_t now)
{
	struct host_port *h = host_of_port(cp);
	struct host_auto *a = &h->found;
	struct neigh *n;

	if (a->used == cp->run.active)
		return;
	a->used = cp->run.active;
	a->moves = 0;
	for (unsigned i = 0; (n = host_link_machine(h, i)) != NULL; i++)
		neigh_release(n);
	for (unsigned i = 0; i < a->nhops && a->used; i++)
		if (!a->hop[i].group && (n = host_link_find(h, &a->hop[i].tags)) != NULL)
			neigh_use(n, a->hop[i].ip, now);
}

/* Follows a neighbour. Returns whether it has moved. */
static bool hop_follow(const struct host_port *h, struct host_hop *hop, uint64_t now)
{
	struct neigh *n = host_link_find(h, &hop->tags);
	struct neigh_entry x;

	if (hop->group || n == NULL)
		return false;
	if (!neigh_find(n, hop->ip, &x)) { /* all were forgotten */
		if (h->found.used && neigh_seek(n, hop->ip, now))
			neigh_use(n, hop->ip, now);
		return false;
	}
	if (!x.has_mac || (hop->known && memcmp(hop->mac, x.mac, 6) == 0))
		return false;
	memcpy(hop->mac, x.mac, 6);
	hop->known = true;
	return true;
}

void host_auto_step(struct ctl *c, struct ctl_port *cp, uint64_t now)
{
	struct host_port *h = host_of_port(cp);
	struct host_auto *a = &h->found;
	const struct neigh *n;
	uint64_t moves = 1;
	bool moved = false;

	if (cp->run.active && (cp->touched & (WHY_FRAMES | WHY_ORDER | WHY_WORK)) != 0)
		aims_renew(c, cp, now);
	if (a->stage != HOST_AUTO_FOUND)
		return;
	hops_use(cp, now);
	for (unsigned i = 0; (n = host_link_machine(h, i)) != NULL; i++)
		moves += neigh_moves(n);
	if (moves == a->moves)
		return;
	a->moves = moves;
	for (unsigned i = 0; i < a->nhops; i++)
		moved |= hop_follow(h, &a->hop[i], now);
	if (moved)
		aims_give(cp, a);
}
