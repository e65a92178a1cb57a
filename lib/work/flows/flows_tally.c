/* SPDX-License-Identifier: BSD-3-Clause */
/* What is counted of each server of a flow. Workers write cells of their own; a flow that gets
 * other servers while connections live has cells for both. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "flows_ctl.h"

/* Servers that no connection needs any more are told one by one for so many changes. */
#define TALLY_KEPT 8

static const struct flow_values *tally_addresses(const struct flows_design *d)
{
	return d->client ? &d->remote : &d->local;
}

static const struct flow_values *tally_ports(const struct flows_design *d)
{
	return d->client ? &d->remote_port : &d->local_port;
}

int flows_tally_check(const struct flows_design *d, const struct ctl_port *cp,
		      const struct stream *s, struct err *e)
{
	uint64_t addresses = tally_addresses(d)->count, ports = tally_ports(d)->count;
	char where[24];

	addresses = addresses == 0 ? 1ull << 32 : addresses;
	if (!d->by_dst || addresses * ports <= FLOW_SERVERS_MAX)
		return 0;
	flows_where(cp, s, where);
	return err_set(
		e, EINVAL,
		"stream %u/%u: its addresses and ports make %" PRIu64
		" servers, and at most %u are counted one by one: `set %s flow.by_dst off`, or fewer by `set %s flow.%s ...`",
		cp->p.id, s->cfg.id, addresses * ports, FLOW_SERVERS_MAX, where, where,
		addresses >= ports ? (d->client ? "dst" : "src") : (d->client ? "dport" : "sport"));
}

static uint32_t tally_weight(const struct flow_values *v, uint32_t i)
{
	uint32_t n = 0;

	for (uint32_t k = 0; v->turn != NULL && k < v->turns; k++)
		n += v->turn[k] == i;
	return v->turn != NULL ? n : 1;
}

static void tally_weights(struct flows_tally *t, const struct flows_design *d)
{
	const struct flow_values *a = tally_addresses(d), *p = tally_ports(d);
	uint32_t *port = xcalloc(p->count, sizeof(*port));

	for (uint32_t i = 0; i < p->count; i++)
		port[i] = tally_weight(p, i);
	for (uint32_t i = 0; i < a->count; i++) {
		uint32_t weight = tally_weight(a, i);
		for (uint32_t k = 0; k < p->count; k++)
			t->weight[i * p->count + k] = weight * port[k];
	}
	free(port);
}

static void tally_free(struct flows_tally *t)
{
	for (unsigned q = 0; q < t->nqueues; q++)
		rte_free(t->counts[q]);
	free(t->counts);
	free(t->servers);
	free(t->weight);
	free(t->base);
	free(t);
}

static struct flows_tally *tally_new(const struct flows_one *f, const struct flows_design *d,
				     uint64_t key)
{
	struct flows_tally *t = xcalloc(1, sizeof(*t));
	bool all = true;

	*t = (struct flows_tally){.nqueues = f->nqueues, .key = key, .is6 = d->is6};
	memcpy(t->prefix6, d->client ? d->remote6 : d->local6, sizeof(t->prefix6));
	t->servers = flow_servers_new(tally_addresses(d), tally_ports(d), d->client);
	t->n = flow_servers_count(t->servers);
	t->weight = xcalloc(t->n, sizeof(*t->weight));
	tally_weights(t, d);
	t->counts = xcalloc(f->nqueues, sizeof(struct flow_server_counts *));
	for (unsigned q = 0; q < f->nqueues && all; q++) {
		t->counts[q] = state_new((t->n + 1) * sizeof(**t->counts), f->node[q]);
		all = t->counts[q] != NULL;
	}
	if (all)
		return t;
	tally_free(t);
	return NULL;
}

static uint64_t tally_key(const struct flows_design *d)
{
	uint64_t h = fnv1a(fnv1a_number(FNV_BASIS, d->is6), d->client ? d->remote6 : d->local6, 12);

	return flows_values_hash(flows_values_hash(h, tally_addresses(d)), tally_ports(d));
}

/* Of more than some the oldest that nobody uses are told as one. */
static void tally_fold(struct flows_one *f)
{
	struct flow_server_counts k;
	unsigned n = 0;

	for (struct flows_tally **at = &f->tally; *at != NULL;) {
		struct flows_tally *t = *at;
		if (t->refs > 0 || ++n <= TALLY_KEPT) {
			at = &t->next;
			continue;
		}
		for (uint32_t i = 0; i <= t->n; i++) {
			flows_tally_sum(t, i, &k);
			flows_tally_add(&f->earlier, &k);
		}
		*at = t->next;
		tally_free(t);
	}
}

struct flows_tally *flows_tally_of(struct flows_one *f, const struct flows_design *d)
{
	uint64_t key = tally_key(d);
	struct flows_tally **at = &f->tally, *t;

	while (*at != NULL && (*at)->key != key)
		at = &(*at)->next;
	t = *at;
	if (t != NULL)
		*at = t->next;
	else
		t = tally_new(f, d, key);
	if (t == NULL)
		return NULL;
	t->refs++;
	t->next = f->tally;
	f->tally = t;
	tally_fold(f);
	return t;
}

void flows_tally_free(struct flows_one *f)
{
	while (f->tally != NULL) {
		struct flows_tally *t = f->tally;
		f->tally = t->next;
		tally_free(t);
	}
}

/* ---- sums ---- */

#define TALLY_CELLS (sizeof(struct flow_server_counts) / sizeof(cell_t))

void flows_tally_add(struct flow_server_counts *to, const struct flow_server_counts *from)
{
	for (unsigned i = 0; i < TALLY_CELLS; i++)
		((uint64_t *)to)[i] += cell_get((const cell_t *)from + i);
}

static void tally_all(const struct flows_tally *t, uint32_t i, struct flow_server_counts *out)
{
	*out = (struct flow_server_counts){0};
	for (unsigned q = 0; q < t->nqueues; q++)
		flows_tally_add(out, &t->counts[q][i]);
}

void flows_tally_sum(const struct flows_tally *t, uint32_t i, struct flow_server_counts *out)
{
	tally_all(t, i, out);
	for (unsigned k = 0; t->base != NULL && k < TALLY_CELLS; k++)
		((uint64_t *)out)[k] -= ((const uint64_t *)&t->base[i])[k];
}

/* As of the flow itself: what is open and opening belongs to what comes. */
void flows_tally_clear(struct flows_one *f)
{
	f->earlier = (struct flow_server_counts){0};
	for (struct flows_tally *t = f->tally; t != NULL; t = t->next) {
		if (t->base == NULL)
			t->base = xcalloc(t->n + 1, sizeof(*t->base));
		for (uint32_t i = 0; i <= t->n; i++) {
			struct flow_server_counts *k = &t->base[i];
			tally_all(t, i, k);
			k->established = k->closed + k->reset_by_us + k->reset_by_peer +
					 k->timed_out + k->aborted;
			k->opened = k->established + k->refused + k->connect_timeout +
				    k->unreachable + k->aborted_opening;
		}
	}
}

uint32_t flows_tally_find(const struct flows_tally *t, const struct flows_tally *of, uint32_t i)
{
	uint32_t address;
	uint16_t port;

	if (t->is6 != of->is6 || memcmp(t->prefix6, of->prefix6, sizeof(t->prefix6)) != 0)
		return t->n;
	flow_servers_at(of->servers, i, &address, &port);
	return flow_servers_find(t->servers, address, port);
}
