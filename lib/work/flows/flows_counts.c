/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that belong to no connection; and the counters of flows by their own names, for those who
 * say them in other words. */
#include <stdlib.h>
#include <string.h>

#include "filebytes.h"
#include "flows_ctl.h"

void flows_strays_add(const struct flows_engine *x, struct flows_strays *sum)
{
	for (unsigned q = 0; q < x->nqueues; q++) {
		if (x->queue[q].machine == NULL || x->queue[q].state == NULL)
			continue; /* there was no memory for it */
		const struct flow_machine_counts *k = flow_machine_counts(x->queue[q].machine);

		/* what is sorted out for flows is TCP or UDP of a version that they have: of what
		 * is not theirs that leaves first fragments */
		sum->fragments += cell_get(&k->not_ours);
		sum->pieces += cell_get(&x->queue[q].state->pieces);
		sum->malformed += cell_get(&k->malformed);
		sum->bad_checksum += cell_get(&k->bad_checksum);
		sum->no_match += cell_get(&k->no_match);
		sum->rst_sent += cell_get(&k->rst_sent);
		sum->other_queue += cell_get(&x->queue[q].state->other_queue);
		sum->dead += cell_get(&x->queue[q].state->dead);
		sum->dead_sent += cell_get(&x->queue[q].state->dead_sent);
	}
}

struct flows_strays flows_strays(const struct flows_port *p)
{
	struct flows_strays sum = p->strays_before;

	if (p->engine != NULL)
		flows_strays_add(p->engine, &sum);
	for (const struct flows_engine *x = p->old; x != NULL; x = x->older)
		flows_strays_add(x, &sum);
	return sum;
}

static json_t *counts_number(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static json_t *counts_table(const struct counter *table, const void *k)
{
	json_t *o = json_object();

	for (; table->name != NULL; table++)
		json_object_set_new(o, table->name,
				    counts_number(*(const uint64_t *)((const uint8_t *)k +
								      table->offset)));
	return o;
}

/* One of the flow's histograms: how many values, and their sum. */
static json_t *counts_timing(const struct flows_one *f, unsigned which)
{
	struct hist *h = flows_one_hist(f, which);
	json_t *o = json_pack("{s:o, s:o}", "count", counts_number(hist_count(h)), "sum_ns",
			      counts_number((uint64_t)hist_sum(h)));

	free(h);
	return o;
}

/* The method of a client's requests, also of one that is a file. */
static json_t *counts_method(const struct stream_cfg *cfg)
{
	const struct filebytes *f = cfg->request_file;
	const char *method = flows_cfg_of(cfg)->method;
	const uint8_t *end;

	if (f == NULL)
		return json_string(*method != '\0' ? method : "GET");
	end = wl_http_like(f->b, f->n, false) ? memchr(f->b, ' ', f->n) : NULL;
	return end != NULL ? json_stringn((const char *)f->b, (size_t)(end - f->b)) : json_null();
}

static json_t *counts_of(const struct ctl_port *cp, const struct flows_one *f)
{
	const struct flows_design *d = f->ver != NULL ? f->ver->design : NULL;
	const struct stream *s = f->gone ? NULL : stream_at(cp, f->id);
	const struct flows_cfg *cfg = s != NULL ? flows_cfg_of(&s->cfg) : NULL;
	bool single = cfg != NULL && f->client && cfg->transactions == 1;
	struct flows_sum k;
	json_t *o = json_object();

	flows_one_sum(f, &k);
	json_object_set_new(o, "port", json_integer(cp->p.id));
	json_object_set_new(o, "stream", json_integer(f->id));
	json_object_set_new(o, "role", json_string(f->client ? "client" : "server"));
	json_object_set_new(o, "protocol",
			    d != NULL ? json_string(d->udp ? "udp" : "tcp") : json_null());
	json_object_set_new(o, "http", json_boolean(d != NULL && d->load.http != NULL));
	json_object_set_new(o, "method", s != NULL ? counts_method(&s->cfg) : json_null());
	json_object_set_new(o, "connections", counts_table(flow_counts_table, &k.flow));
	json_object_set_new(o, "transactions",
			    json_pack("{s:o, s:o, s:o, s:o}", "started",
				      counts_number(k.wl.started), "done", counts_number(k.wl.done),
				      "failed", counts_number(k.wl.failed), "mismatched",
				      counts_number(k.wl.mismatched)));
	json_object_set_new(o, "responses",
			    json_pack("{s:o, s:o}", "2xx", counts_number(k.http.status[1]), "other",
				      counts_number(k.http.status[0] + k.http.status[2] +
						    k.http.status[3] + k.http.status[4] +
						    k.http.bad)));
	json_object_set_new(o, "requests",
			    json_pack("{s:o, s:o, s:o}", "head", counts_number(k.http.head), "post",
				      counts_number(k.http.post), "put",
				      counts_number(k.http.put)));
	json_object_set_new(o, "numbers", counts_table(wl_numbers_table, &k.numbers));
	json_object_set_new(o, "first_trip",
			    single && d != NULL
				    ? counts_timing(f, d->udp ? FLOWS_WHOLE : FLOWS_CONNECT)
				    : json_null());
	return o;
}

json_t *flows_strays_json(struct ctl *c)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < c->nports; i++) {
		const struct flows_port *p = flows_of(c->port[i]);
		struct flows_strays k = flows_strays(p);
		const struct flows_strays *base = &p->strays_base;
		uint64_t full = 0;

		if (p->first == NULL)
			continue;
		for (unsigned q = 0; q < p->nqueues; q++)
			full += flows_handed(p, q).full - p->handed_base[q].full;
		json_array_append_new(
			list,
			json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "port",
				  (int)c->port[i]->p.id, "fragments",
				  counts_number(k.fragments - base->fragments), "malformed",
				  counts_number(k.malformed - base->malformed), "bad_checksum",
				  counts_number(k.bad_checksum - base->bad_checksum), "no_match",
				  counts_number(k.no_match - base->no_match), "rst_sent",
				  counts_number(k.rst_sent - base->rst_sent), "dead",
				  counts_number(k.dead - base->dead), "hand_full",
				  counts_number(full)));
	}
	return list;
}

json_t *flows_counts_json(struct ctl *c)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < c->nports; i++)
		for (const struct flows_one *f = flows_of(c->port[i])->first; f != NULL;
		     f = f->next)
			if (f->run != 0)
				json_array_append_new(list, counts_of(c->port[i], f));
	return list;
}
