/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows by their servers as a document: what each has counted, and how far that is from its
 * weight. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chance.h"
#include "flows_ctl.h"
#include "hist_json.h"

/* ---- rows ---- */

/* A server of a flow with all that its tallies have of it. */
struct tally_row {
	const struct flows_tally *of;
	uint32_t at;
	struct flow_server_counts k;
};

struct tally_rows {
	struct tally_row *row;
	uint32_t n, newest; /* newest: how many of them are in the newest tally, the first */
	struct flow_server_counts others, all;
	uint64_t weights; /* of those */
};

static uint64_t tally_any(const struct flow_server_counts *k)
{
	return k->opened | k->established | k->done | k->failed | k->tx_bytes | k->rx_bytes;
}

/* Rows of a server that an earlier tally has, too, are one. */
static void tally_rows_of(const struct flows_one *f, const struct flows_tally *t, uint32_t i,
			  const uint32_t *begin, struct tally_rows *out)
{
	struct flow_server_counts k;
	unsigned nth = 0;
	uint32_t at;

	flows_tally_sum(t, i, &k);
	flows_tally_add(&out->all, &k);
	if (i == t->n) {
		flows_tally_add(&out->others, &k);
		return;
	}
	for (const struct flows_tally *o = f->tally; o != t; o = o->next, nth++) {
		at = flows_tally_find(o, t, i);
		if (at == o->n)
			continue;
		if (o == f->tally) { /* of the newest all have rows */
			flows_tally_add(&out->row[at].k, &k);
			return;
		}
		for (uint32_t r = begin[nth]; r < out->n; r++)
			if (out->row[r].of == o && out->row[r].at == at) {
				flows_tally_add(&out->row[r].k, &k);
				return;
			}
	}
	if (t != f->tally && tally_any(&k) == 0)
		return;
	out->row[out->n++] = (struct tally_row){.of = t, .at = i, .k = k};
}

static void tally_rows(const struct flows_one *f, struct tally_rows *out)
{
	uint32_t most = 0, *begin;
	unsigned n = 0;

	*out = (struct tally_rows){.others = f->earlier, .all = f->earlier};
	for (const struct flows_tally *t = f->tally; t != NULL; t = t->next, n++)
		most += t->n;
	out->row = xcalloc(most + 1, sizeof(*out->row));
	begin = xcalloc(n + 1, sizeof(*begin));
	n = 0;
	for (const struct flows_tally *t = f->tally; t != NULL; t = t->next, n++) {
		begin[n] = out->n;
		for (uint32_t i = 0; i <= t->n; i++)
			tally_rows_of(f, t, i, begin, out);
		if (t == f->tally)
			out->newest = out->n;
	}
	for (uint32_t i = 0; i < out->newest; i++)
		out->weights += f->tally->weight[i];
	free(begin);
}

/* ---- the document ---- */

static json_t *tally_count(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static void tally_counts_json(json_t *o, const struct flow_server_counts *k)
{
	json_t *fates = flows_server_fates_json(k);

	json_object_update(o, fates);
	json_decref(fates);
	json_object_set_new(o, "done", tally_count(k->done));
	json_object_set_new(o, "failed", tally_count(k->failed));
	json_object_set_new(o, "tx_bytes", tally_count(k->tx_bytes));
	json_object_set_new(o, "rx_bytes", tally_count(k->rx_bytes));
}

static json_t *tally_address(const struct flows_tally *t, uint32_t i, uint16_t *port)
{
	struct flow_addr a = {0};
	uint32_t last;

	flow_servers_at(t->servers, i, &a.v4, port);
	memcpy(a.v6, t->prefix6, sizeof(t->prefix6));
	last = __builtin_bswap32(a.v4);
	memcpy(a.v6 + 12, &last, 4);
	return flows_address_json(&a, t->is6);
}

static json_t *tally_share(uint64_t part, uint64_t whole)
{
	return whole > 0 ? real_json((double)part / (double)whole) : json_null();
}

static json_t *tally_server_json(const struct ctl_port *cp, const struct flows_one *f,
				 const struct tally_rows *all, uint32_t i)
{
	const struct tally_row *r = &all->row[i];
	bool newest = i < all->newest;
	json_t *o = json_object();
	uint16_t port;

	json_object_set_new(o, "port", json_integer(cp->p.id));
	json_object_set_new(o, "stream", json_integer(f->id));
	json_object_set_new(o, "role", json_string(f->client ? "client" : "server"));
	json_object_set_new(o, "address", tally_address(r->of, r->at, &port));
	json_object_set_new(o, "server_port", json_integer(port));
	json_object_set_new(o, "weight", newest ? json_integer(r->of->weight[r->at]) : json_null());
	tally_counts_json(o, &r->k);
	json_object_set_new(o, "share", tally_share(r->k.opened, all->all.opened));
	json_object_set_new(o, "expected",
			    newest ? tally_share(r->of->weight[r->at], all->weights) : json_null());
	return o;
}

/* Chi-square is that of the servers that there are now. With fewer than five connections expected
 * of one its distribution is not known well enough to tell a probability. */
#define TALLY_EXPECTED 5
static void tally_distribution(json_t *o, const struct flows_one *f, const struct tally_rows *all)
{
	double chi = 0, sum = 0, least = INFINITY;
	uint32_t n = all->newest;

	for (uint32_t i = 0; i < n; i++)
		sum += (double)all->row[i].k.opened;
	for (uint32_t i = 0; i < n; i++) {
		double expected = sum * (double)f->tally->weight[i] / (double)all->weights,
		       off = (double)all->row[i].k.opened - expected;
		least = fmin(least, expected);
		chi += sum > 0 ? off * off / expected : 0;
	}
	bool told = n > 1 && sum > 0;
	json_object_set_new(o, "chi_square", told ? real_json(chi) : json_null());
	json_object_set_new(o, "degrees", json_integer(n > 0 ? n - 1 : 0));
	json_object_set_new(o, "probability",
			    told && least >= TALLY_EXPECTED
				    ? real_json(chance_chi_square(n - 1, chi))
				    : json_null());
}

/* Adds its servers, at most so many, to a list. */
static json_t *tally_flow_json(const struct ctl_port *cp, const struct flows_one *f,
			       json_t *servers, uint32_t most)
{
	json_t *o = json_object(), *others = json_null();
	struct tally_rows all;

	tally_rows(f, &all);
	for (uint32_t i = 0; i < RTE_MIN(all.n, most); i++)
		json_array_append_new(servers, tally_server_json(cp, f, &all, i));
	json_object_set_new(o, "port", json_integer(cp->p.id));
	json_object_set_new(o, "stream", json_integer(f->id));
	json_object_set_new(o, "role", json_string(f->client ? "client" : "server"));
	json_object_set_new(o, "by_dst", json_boolean(f->ver != NULL && f->ver->tally != NULL));
	json_object_set_new(o, "servers", json_integer(all.n));
	json_object_set_new(o, "opened", tally_count(all.all.opened));
	tally_distribution(o, f, &all);
	if (tally_any(&all.others) != 0) {
		others = json_object();
		tally_counts_json(others, &all.others);
	}
	json_object_set_new(o, "others", others);
	free(all.row);
	return o;
}

json_t *flows_one_by_dst_json(const struct ctl_port *cp, const struct flows_one *f)
{
	json_t *servers = json_array();

	if (f->tally == NULL) {
		json_decref(servers);
		return json_null();
	}
	return json_pack("{s:[o], s:o}", "flows",
			 tally_flow_json(cp, f, servers, FLOWS_SERVERS_SHOWN), "servers", servers);
}

json_t *flows_by_dst_json(struct ctl *c, const struct portset *ports)
{
	json_t *flows = json_array(), *servers = json_array();

	for (unsigned i = 0; i < c->nports; i++) {
		const struct ctl_port *cp = c->port[i];
		for (unsigned k = 0; portset_has(ports, i) && k < cp->nstreams; k++) {
			const struct stream *s = cp->stream[k];
			const struct flows_one *f =
				s != NULL ? flows_one_of(flows_of(cp), s) : NULL;
			if (f != NULL && f->run != 0)
				json_array_append_new(flows,
						      tally_flow_json(cp, f, servers, UINT32_MAX));
		}
	}
	return json_pack("{s:s, s:o, s:o}", "show", "flows_by_dst", "flows", flows, "servers",
			 servers);
}
