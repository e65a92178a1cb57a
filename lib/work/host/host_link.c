/* SPDX-License-Identifier: BSD-3-Clause */
/* The links of a port: the host lives on that of host.vlan, and with the same addresses on each
 * other one that a stream's frames go through whose next hop it finds. Each has a machine of its
 * own, because the same address may be another neighbour in another VLAN. */
#include <stdio.h>

#include "host_ctl.h"
#include "host_face.h"

enum { TPID_VLAN = 0x8100 };

void host_cfg_tags(const struct host_cfg *cfg, struct neigh_tags *tags)
{
	*tags = (struct neigh_tags){.n = cfg->vlan != 0};
	if (cfg->vlan != 0)
		tags->at[0] = (struct neigh_tag){TPID_VLAN, (uint16_t)cfg->vlan};
}

void host_print_tags(const struct neigh_tags *tags, struct sbuf *out)
{
	for (unsigned i = 0; i < tags->n; i++)
		sbuf_addf(out, "%s%u", i > 0 ? "." : "", tags->at[i].vid);
}

struct neigh *host_link_machine(const struct host_port *h, unsigned i)
{
	return i == 0 ? h->n : i <= h->nmore ? h->more[i - 1].n : NULL;
}

uint32_t host_link_id(const struct host_port *h, unsigned i)
{
	return i == 0 ? 0 : h->more[i - 1].id;
}

static const struct neigh_tags *machine_tags(const struct neigh *n)
{
	uint64_t version;

	return &neigh_self(n, &version)->tags;
}

struct neigh *host_link_find(const struct host_port *h, const struct neigh_tags *tags)
{
	struct neigh *n;

	for (unsigned i = 0; (n = host_link_machine(h, i)) != NULL; i++)
		if (neigh_same_tags(machine_tags(n), tags))
			return n;
	return NULL;
}

struct neigh *host_link_of_id(const struct host_port *h, uint32_t id)
{
	struct neigh *n;

	for (unsigned i = 0; (n = host_link_machine(h, i)) != NULL; i++)
		if (host_link_id(h, i) == id)
			return n;
	return NULL;
}

/* What is counted stays counted when a link goes. */
static void counts_add(struct neigh_counts *sum, const struct neigh_counts *k)
{
	sum->probes += k->probes;
	sum->evicted += k->evicted;
	sum->no_room += k->no_room;
	sum->claims += k->claims;
	sum->unasked += k->unasked;
	sum->overtaken += k->overtaken;
}

void host_link_counts(const struct host_port *h, struct neigh_counts *sum)
{
	const struct neigh *n;

	*sum = h->gone;
	for (unsigned i = 0; (n = host_link_machine(h, i)) != NULL; i++)
		counts_add(sum, neigh_counts(n));
}

static void link_set(struct host_port *h, struct neigh *n, const struct neigh_tags *tags,
		     const struct ctl_port *cp, uint64_t now)
{
	struct neigh_setup setup;

	host_setup(cp, &setup);
	if (n != h->n) { /* gateways are kept resolved there as far as streams need them */
		setup.tags = *tags;
		setup.nwanted = 0;
	}
	neigh_set(n, &setup, now);
}

static uint64_t link_seed(const struct ctl_port *cp, uint64_t now, uint32_t id)
{
	return (now ^ fnv1a(FNV_BASIS, cp->p.mac.addr_bytes, 6)) + id;
}

void host_links_set(struct ctl_port *cp, uint64_t now)
{
	struct host_port *h = host_of_port(cp);

	if (h->n == NULL)
		h->n = neigh_new(link_seed(cp, now, 0));
	link_set(h, h->n, NULL, cp, now);
	for (unsigned i = 0; i < h->nmore; i++)
		link_set(h, h->more[i].n, machine_tags(h->more[i].n), cp, now);
}

static bool link_needed(const struct host_port *h, const struct neigh_tags *tags)
{
	bool needed = h->ping_link != NULL && neigh_same_tags(h->ping_link, tags);

	for (unsigned i = 0; i < h->found.nhops && !needed; i++)
		needed = !h->found.hop[i].group && neigh_same_tags(&h->found.hop[i].tags, tags);
	for (unsigned i = 0; i < h->found.nserves && !needed; i++)
		needed = neigh_same_tags(&h->found.serves[i], tags);
	return needed && !neigh_same_tags(machine_tags(h->n), tags);
}

/* Makes a link unless it is there. */
static void link_make(struct ctl_port *cp, const struct neigh_tags *tags, uint64_t now)
{
	struct host_port *h = host_of_port(cp);

	if (h->nmore == HOST_LINKS_MAX || host_link_find(h, tags) != NULL)
		return;
	struct host_link *x = &h->more[h->nmore++];
	x->id = ++h->last_link;
	x->n = neigh_new(link_seed(cp, now, x->id));
	link_set(h, x->n, tags, cp, now);
}

void host_links_follow(struct ctl_port *cp, uint64_t now)
{
	struct host_port *h = host_of_port(cp);

	h->found.moves = 0; /* all are looked for again */
	for (unsigned i = 0; i < h->nmore;) {
		struct host_link *x = &h->more[i];
		if (link_needed(h, machine_tags(x->n))) {
			i++;
			continue;
		}
		counts_add(&h->gone, neigh_counts(x->n));
		neigh_free(x->n);
		*x = h->more[--h->nmore];
	}
	for (unsigned i = 0; i < h->found.nhops; i++)
		if (!h->found.hop[i].group)
			link_make(cp, &h->found.hop[i].tags, now);
	for (unsigned i = 0; i < h->found.nserves; i++)
		link_make(cp, &h->found.serves[i], now);
	if (h->ping_link != NULL)
		link_make(cp, h->ping_link, now);
}

void host_links_free(struct host_port *h)
{
	for (unsigned i = 0; i < h->nmore; i++)
		neigh_free(h->more[i].n);
	neigh_free(h->n);
	h->n = NULL;
	h->nmore = 0;
	h->gone = (struct neigh_counts){0};
}

uint64_t host_links_version(const struct host_port *h)
{
	uint64_t all = FNV_BASIS, one[2];
	const struct neigh *n;

	for (unsigned i = 0; (n = host_link_machine(h, i)) != NULL; i++) {
		neigh_self(n, &one[0]);
		one[1] = host_link_id(h, i);
		all = fnv1a(all, one, sizeof(one));
	}
	return all;
}
