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

#define LINK_WAIT_NS 5000000000ull /* so long a start waits for a link to come up */
/* So long it waits for an answer. Addresses are tried and neighbours asked three times in less;
 * this is for a table that hostile frames keep full. */
#define ANSWER_WAIT_NS 30000000000ull

static struct host_auto *auto_of(const struct ctl_port *cp)
{
	return &host_of_port(cp)->found;
}

void host_auto_free(struct host_auto *a)
{
	free(a->hop);
	free(a->aim);
	a->hop = NULL;
	a->aim = NULL;
	a->nhops = a->naims = 0;
}

/* ---- from streams to next hops ---- */

static int aim_add(struct host_auto *a, const struct ctl_port *cp, const struct stream *s,
		   const struct host_hop *hop, struct err *e)
{
	unsigned i = 0;

	while (i < a->nhops && memcmp(a->hop[i].ip, hop->ip, NEIGH_IP) != 0)
		i++;
	if (i == HOST_HOPS_MAX) {
		char name[32], where[24];
		host_stream_name(cp, s, name, where);
		return err_set(
			e, ERANGE,
			"%s: the streams of port %u have more than %d next hops, and a host asks for so many; `set %s eth.dst MAC` "
			"says the address of this one",
			name, cp->p.id, HOST_HOPS_MAX, where);
	}
	if (i == a->nhops) {
		a->hop = xrealloc(a->hop, (i + 1) * sizeof(*a->hop));
		a->hop[a->nhops++] = *hop;
	}
	a->aim[a->naims++] = (struct host_aim){.cell = s->cell, .id = s->cfg.id, .hop = i};
	return 0;
}

/* Where the port's streams go by their settings of now. After a failure there is nothing to
 * free. */
static int aims_of(struct ctl *c, const struct ctl_port *cp, struct host_auto *out, struct err *e)
{
	struct host_hop hop;
	int rc = 0;

	*out = (struct host_auto){.aim = xcalloc(cp->total + 1u, sizeof(*out->aim))};
	for (unsigned i = 0; i < cp->nstreams && rc >= 0; i++) {
		const struct stream *s = stream_at(cp, i);
		if (s == NULL || !s->cfg.enabled)
			continue;
		rc = host_route(c, cp, s, &hop, e);
		if (rc > 0)
			rc = aim_add(out, cp, s, &hop, e);
	}
	if (rc < 0)
		host_auto_free(out);
	return rc < 0 ? rc : 0;
}

/* Takes over new aims; what is known of their hops stays known. That of a group follows from the
 * prefixes of now. */
static void aims_take(struct host_auto *a, struct host_auto *fresh)
{
	for (unsigned i = 0; i < fresh->nhops; i++)
		for (unsigned k = 0; k < a->nhops; k++)
			if (memcmp(fresh->hop[i].ip, a->hop[k].ip, NEIGH_IP) == 0 &&
			    !fresh->hop[i].group && !a->hop[k].group)
				fresh->hop[i] = a->hop[k];
	host_auto_free(a);
	a->hop = fresh->hop;
	a->aim = fresh->aim;
	a->nhops = fresh->nhops;
	a->naims = fresh->naims;
}

/* ---- from next hops to streams ---- */

static void hop_give(struct ctl_port *cp, const struct stream *at, const uint8_t *mac)
{
	const struct proto *eth = proto_find("eth");
	struct stream *s = stream_of_cell(cp, at->cell, at->cfg.id);
	uint8_t v[VT_FIELD_BYTES] = {0};

	if (mac != NULL)
		memcpy(v + VT_FIELD_BYTES - 6, mac, 6);
	stream_found(cp, s, eth, proto_field(eth, "dst"), mac != NULL ? v : NULL);
}

static void aims_give(struct ctl_port *cp, const struct host_auto *a)
{
	for (unsigned i = 0; i < a->naims; i++) {
		const struct host_hop *hop = &a->hop[a->aim[i].hop];
		const struct stream *s = stream_of_cell(cp, a->aim[i].cell, a->aim[i].id);
		if (hop->known && s != NULL)
			hop_give(cp, s, hop->mac);
	}
}

void host_auto_end(struct ctl_port *cp)
{
	struct host_auto *a = auto_of(cp);

	if (cp->run.active)
		return; /* frames go to where they went until the run is over */
	for (unsigned i = 0; i < cp->nstreams && a->given; i++)
		if (stream_at(cp, i) != NULL)
			hop_give(cp, stream_at(cp, i), NULL);
	host_auto_free(a);
	*a = (struct host_auto){0};
}

/* ---- a start ---- */

static int hop_error(const struct ctl_port *cp, const struct host_hop *hop, unsigned of,
		     const char *why, const char *help, struct err *e)
{
	const struct host_auto *a = auto_of(cp);
	struct sbuf ip = {0};
	unsigned i = 0;

	while (i < a->naims && a->aim[i].hop != of)
		i++;
	host_print_ip(hop->ip, &ip);
	err_set(e, EHOSTUNREACH,
		"port %u: %s, the next hop of stream %u/%u, %s; %s, `set %u/%u eth.dst MAC` says its address",
		cp->p.id, sbuf_str(&ip), cp->p.id, i < a->naims ? a->aim[i].id : 0, why, help,
		cp->p.id, i < a->naims ? a->aim[i].id : 0);
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
	struct neigh *n = host_of_port(cp)->n;
	struct neigh_entry x;

	if (hop->group)
		return 1;
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
	if (x.state == NEIGH_FAILED)
		return hop_error(cp, hop, i, "did not answer 3 times",
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
	    (cp->p.link == LINK_DOWN && now - a->since_ns < LINK_WAIT_NS))
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
		aims_take(a, &fresh);
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
		if (rc == 0 && now - a->since_ns > ANSWER_WAIT_NS)
			return hop_error(cp, &a->hop[i], i, "did not answer in 30 s",
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
	const struct host_auto *a = auto_of(cp);
	struct host_auto now;
	bool same = true;
	int rc = aims_of(c, cp, &now, e);

	if (rc < 0)
		return rc;
	if (now.naims > 0)
		same = a->stage == HOST_AUTO_FOUND && now.naims == a->naims;
	for (unsigned i = 0; i < now.naims && same; i++)
		same = now.aim[i].cell == a->aim[i].cell &&
		       memcmp(now.hop[now.aim[i].hop].ip, a->hop[a->aim[i].hop].ip, NEIGH_IP) == 0;
	host_auto_free(&now);
	if (same)
		aims_give(cp, a); /* a stream may have had a value of its own meanwhile */
	return same ? 0
		    : err_set(e, EAGAIN,
			      "port %u: where its streams go was changed while it was asked for; `start %u` again",
			      cp->p.id, cp->p.id);
}

bool host_finds(const struct ctl_port *cp, const struct stream *s)
{
	const struct host_cfg *cfg = work_cfg(&cp->cfg, &work_host);

	return cfg->ip.n > 0 && !port_deaf(&cp->p) && host_routable(s);
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
	aims_take(&h->found, &fresh);
	h->found.stage = HOST_AUTO_FOUND;
	h->found.given = h->found.given || h->found.naims > 0;
	for (unsigned i = 0; i < h->found.nhops; i++) {
		struct host_hop *hop = &h->found.hop[i];
		if (!hop->known && !hop->sought)
			hop->sought = neigh_seek(h->n, hop->ip, now);
	}
	h->found.used = false;
	aims_give(cp, &h->found);
}

/* Keeps the next hops resolved while the port sends, and only then. */
static void hops_use(const struct ctl_port *cp, uint64_t now)
{
	struct host_port *h = host_of_port(cp);
	struct host_auto *a = &h->found;

	if (a->used == cp->run.active)
		return;
	a->used = cp->run.active;
	neigh_release(h->n);
	for (unsigned i = 0; i < a->nhops && a->used; i++)
		if (!a->hop[i].group)
			neigh_use(h->n, a->hop[i].ip, now);
}

void host_auto_step(struct ctl *c, struct ctl_port *cp, uint64_t now)
{
	struct host_port *h = host_of_port(cp);
	struct host_auto *a = &h->found;
	struct neigh_entry x;
	bool moved = false;

	if (cp->run.active && (cp->touched & (WHY_FRAMES | WHY_ORDER | WHY_WORK)) != 0)
		aims_renew(c, cp, now);
	if (a->stage != HOST_AUTO_FOUND)
		return;
	hops_use(cp, now);
	for (unsigned i = 0; i < a->nhops; i++) {
		struct host_hop *hop = &a->hop[i];
		if (hop->group)
			continue;
		if (!neigh_find(h->n, hop->ip, &x)) { /* all were forgotten */
			if (a->used && neigh_seek(h->n, hop->ip, now))
				neigh_use(h->n, hop->ip, now);
			continue;
		}
		if (!x.has_mac || (hop->known && memcmp(hop->mac, x.mac, 6) == 0))
			continue;
		memcpy(hop->mac, x.mac, 6);
		hop->known = moved = true;
	}
	if (moved)
		aims_give(cp, a);
}
