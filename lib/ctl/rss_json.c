/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the documents of `show rss` and `rss queue`. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rss_flows.h"

#define LOOK_ALL (8 * RSS_LOOK_MAX) /* frames that are looked at for all streams of a port */

static json_t *text_or_null(const char *text)
{
	return text != NULL && *text != '\0' ? json_string(text) : json_null();
}

static json_t *hex_text(const uint8_t *b, unsigned n)
{
	struct sbuf text = {0};

	for (unsigned i = 0; i < n; i++)
		sbuf_addf(&text, "%02x", b[i]);
	json_t *o = json_string(sbuf_str(&text));
	sbuf_free(&text);
	return o;
}

/* Whether the table is its first n entries, again and again. */
static bool table_repeats(const struct rss_setup *s, unsigned n)
{
	for (unsigned i = n; i < s->entries; i++)
		if (s->table[i] != s->table[i - n])
			return false;
	return true;
}

/* The queues of the table up to where they are repeated. */
static json_t *table_text(const struct rss_setup *s)
{
	struct sbuf text = {0};
	unsigned n = 1;

	while (n < s->entries && !table_repeats(s, n))
		n++;
	rss_list_print(s->table, n, &text);
	json_t *o = json_string(sbuf_str(&text));
	sbuf_free(&text);
	return o;
}

static const char *const way_names[] = {[RSS_WAY_ONE] = "one queue",
					[RSS_WAY_TXQ] = "the sender's Tx queue",
					[RSS_WAY_HASH] = "hash",
					[RSS_WAY_UNKNOWN] = "not known"};

/* What the device works by. */
static void setup_json(const struct rss_to *to, json_t *o)
{
	static const char *const functions[] = {[RSS_FUNCTION_TOEPLITZ] = "toeplitz",
						[RSS_FUNCTION_SORT] = "symmetric_toeplitz_sort",
						[RSS_FUNCTION_OTHER] = "another one"};
	const struct rss_setup *s = &to->setup;
	struct sbuf fields = {0};
	bool hashes = to->known && s->hf != 0;

	rss_words_text(s->hf, "none", &fields);
	json_object_set_new(o, "way", json_string(way_names[to->way]));
	json_object_set_new(o, "why", text_or_null(to->why));
	json_object_set_new(o, "function",
			    hashes ? json_string(functions[s->function]) : json_null());
	json_object_set_new(o, "fields", to->known ? json_string(sbuf_str(&fields)) : json_null());
	json_object_set_new(o, "key", s->key_len > 0 ? hex_text(s->key, s->key_len) : json_null());
	json_object_set_new(o, "key_bytes",
			    s->key_len > 0 ? json_integer(s->key_len) : json_null());
	json_object_set_new(o, "symmetric",
			    hashes ? json_boolean(rss_is_symmetric(s)) : json_null());
	json_object_set_new(o, "table_entries",
			    s->entries > 0 ? json_integer(s->entries) : json_null());
	json_object_set_new(o, "table", s->entries > 0 ? table_text(s) : json_null());
	sbuf_free(&fields);
}

static const char *hashed_name(const struct rss_setup *s, const struct rss_tuple *t)
{
	static const char *const names[] = {[RSS_PART_NONE] = "nothing",
					    [RSS_PART_L3] = "addresses",
					    [RSS_PART_L4] = "addresses, ports"};

	return names[rss_part(s->hf, t)];
}

/* What is predicted of a port's queues from those of its streams. */
struct rss_sum {
	double share[PORT_MAX_QUEUES], weight;
	bool known; /* that of each stream is */
};

/* Adds what is predicted of one stream to its object, and to the sum. */
static void stream_shares(const struct rss_flows *f, const struct rss_to *to, unsigned nrxq,
			  double weight, json_t *o, struct rss_sum *sum)
{
	json_t *shares = json_array();
	int only = -1;
	bool known = to->way != RSS_WAY_UNKNOWN && to->way != RSS_WAY_TXQ && f->doubt == NULL;

	for (unsigned q = 0; q < nrxq; q++) {
		double share = (double)f->to[q] / (double)f->looked;
		json_array_append_new(shares, json_real(share));
		sum->share[q] += weight * share;
		if (f->to[q] == f->looked)
			only = (int)q;
	}
	sum->weight += weight;
	sum->known &= known || weight == 0;
	json_object_set_new(o, "queue", known && only >= 0 ? json_integer(only) : json_null());
	json_object_set_new(o, "shares", known ? json_incref(shares) : json_null());
	json_decref(shares);
}

/* One stream. told: its object in the document of `show streams`; sent: of all streams. */
static json_t *stream_json(struct ctl *c, struct ctl_port *from, const struct ctl_port *cp,
			   const json_t *told, uint64_t sent, uint64_t most,
			   const struct rss_to *to, struct rss_sum *sum)
{
	unsigned id = (unsigned)json_integer_value(json_object_get(told, "stream"));
	json_int_t packets =
		json_integer_value(json_object_get(json_object_get(told, "tx"), "packets"));
	bool enabled = json_is_true(json_object_get(told, "enabled"));
	struct stream *s = stream_at(from, id);
	struct rss_flows *f;
	struct ctl_load load;
	struct err e = {.text = ""};
	double weight = (double)packets;

	if (!enabled && packets == 0)
		return NULL;
	if (sent == 0)
		weight = ctl_stream_load(c, from->p.id, id, &load, NULL) == 0
				 ? load.is_max ? 1 : load.pps
				 : 0;
	json_t *o = json_pack("{s:i, s:i, s:O, s:I}", "port", (int)from->p.id, "stream", (int)id,
			      "frame", json_object_get(told, "frame"), "tx_packets", packets);
	f = xcalloc(1, sizeof(*f));
	if (rss_flows(c, from, s, to, most, f, &e) == 0) {
		stream_shares(f, to, cp->p.nrxq, weight, o, sum);
		json_object_set_new(o, "hashed",
				    to->way == RSS_WAY_HASH
					    ? json_string(hashed_name(&to->setup, &f->first))
					    : json_null());
		json_object_set_new(o, "looked", json_integer((json_int_t)f->looked));
		json_object_set_new(o, "all", json_boolean(f->all));
		json_object_set_new(o, "doubt", text_or_null(f->doubt));
	} else {
		sum->known = false;
		json_object_set_new(o, "queue", json_null());
		json_object_set_new(o, "shares", json_null());
		json_object_set_new(o, "hashed", json_null());
		json_object_set_new(o, "looked", json_integer(0));
		json_object_set_new(o, "all", json_false());
		json_object_set_new(o, "doubt", text_or_null(e.text));
	}
	free(f);
	return o;
}

/* The streams that come to the port. */
static json_t *streams_json(struct ctl *c, const struct ctl_port *cp, struct ctl_port *from,
			    const struct rss_to *to, struct rss_sum *sum)
{
	json_t *list = json_array(), *doc, *told;
	struct portset only = {0};
	uint64_t sent = 0, most;
	size_t i;

	if (from == NULL)
		return list;
	portset_add(&only, from->p.id);
	doc = ctl_streams_json(c, &only);
	json_t *streams = json_object_get(doc, "streams");
	json_array_foreach(streams, i, told)
		sent += (uint64_t)json_integer_value(
			json_object_get(json_object_get(told, "tx"), "packets"));
	most = RTE_MIN(RSS_LOOK_MAX, LOOK_ALL / RTE_MAX(json_array_size(streams), 1u));
	json_array_foreach(streams, i, told) {
		json_t *o = stream_json(c, from, cp, told, sent, most, to, sum);
		if (o != NULL)
			json_array_append_new(list, o);
	}
	json_decref(doc);
	return list;
}

/* Of a wire that hands frames over by the sender's Tx queues: each of these counts by what it has
 * sent. As long as none has they are alike, since the frames of streams take turns over them. */
static void sum_of_txqs(const struct ctl_port *cp, const struct ctl_port *from,
			const struct snap *now, struct rss_sum *sum)
{
	bool will = sum->weight > 0;
	uint64_t sent = 0;

	*sum = (struct rss_sum){.known = true};
	for (unsigned q = 0; from != NULL && q < from->p.ntxq; q++)
		sent += cell_get(&now->port[from->p.id].queue[q].tx.packets);
	for (unsigned q = 0; from != NULL && q < from->p.ntxq; q++) {
		double part = will ? 1 : 0;
		if (sent > 0)
			part = (double)cell_get(&now->port[from->p.id].queue[q].tx.packets);
		sum->share[q % cp->p.nrxq] += part;
		sum->weight += part;
	}
}

/* Why shares of what was counted say nothing of how frames come to queues now, and so are not told;
 * NULL: they do. */
static json_t *stale_json(const struct ctl_port *cp)
{
	for (unsigned q = 0; q < cp->p.nrxq; q++)
		if (rss_before(&cp->p, q) > cp->base.q[q].rx.packets)
			return json_sprintf(
				"frames are among them that came before the hash or the table was changed; `clear %u` begins anew",
				cp->p.id);
	return json_null();
}

static json_t *queues_json(const struct ctl_port *cp, const struct rss_to *to,
			   const struct rss_sum *sum, const struct snap *now, bool stale)
{
	const struct snap_port *sp = &now->port[cp->p.id];
	uint64_t all = 0;
	json_t *list = json_array();

	for (unsigned q = 0; q < cp->p.nrxq; q++)
		all += cell_get(&sp->queue[q].rx.packets);
	for (unsigned q = 0; q < cp->p.nrxq; q++) {
		uint64_t packets = cell_get(&sp->queue[q].rx.packets);
		unsigned entries = 0;
		for (unsigned i = 0; i < to->setup.entries; i++)
			entries += to->setup.table[i] == q;
		json_array_append_new(
			list,
			json_pack("{s:i, s:o, s:o, s:o, s:I}", "queue", (int)q, "entries",
				  to->way == RSS_WAY_HASH ? json_integer(entries) : json_null(),
				  "predicted",
				  sum->known && sum->weight > 0
					  ? json_real(sum->share[q] / sum->weight)
					  : json_null(),
				  "counted",
				  all > 0 && !stale ? json_real((double)packets / (double)all)
						    : json_null(),
				  "packets", (json_int_t)packets));
	}
	return list;
}

static json_t *port_json(struct ctl *c, struct ctl_port *cp)
{
	struct rss_to *to = xcalloc(1, sizeof(*to));
	struct rss_sum sum = {.known = true};
	const char *how;
	struct ctl_port *from = rss_other_end(c, cp, &how);
	json_t *o = json_pack("{s:i, s:s, s:i}", "port", (int)cp->p.id, "name", cp->p.name,
			      "queues", (int)cp->p.nrxq);

	rss_to_read(cp, to);
	setup_json(to, o);
	json_object_set_new(o, "from", from != NULL ? json_integer(from->p.id) : json_null());
	json_object_set_new(o, "from_why", json_string(how));
	json_object_set_new(o, "streams", streams_json(c, cp, from, to, &sum));
	struct snap *now = ctl_snapshot(c);
	if (to->way == RSS_WAY_TXQ)
		sum_of_txqs(cp, from, now, &sum);
	json_t *stale = stale_json(cp);
	json_object_set_new(o, "counted_why", stale);
	json_object_set_new(o, "rx_queues", queues_json(cp, to, &sum, now, json_is_string(stale)));
	snap_free(now);
	free(now);
	free(to);
	return o;
}

json_t *ctl_rss_json(struct ctl *c, const struct portset *ports)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < c->nports; i++)
		if (portset_has(ports, i) && c->port[i]->p.used)
			json_array_append_new(list, port_json(c, c->port[i]));
	return json_pack("{s:s, s:o}", "show", "rss", "ports", list);
}

/* Adds the queue of one tuple at a port to the list. */
static int tuple_json(unsigned port, const struct rss_to *to, const char *text, json_t *list,
		      struct err *e)
{
	struct rss_tuple t;
	uint32_t hash;
	int rc = rss_tuple_parse(text, &t, e);

	if (rc < 0)
		return rc;
	uint16_t queue = to->way == RSS_WAY_ONE ? 0 : rss_queue(&to->setup, &t, &hash);
	const char *doubt = rss_doubt(to, &t);
	bool none = to->way == RSS_WAY_ONE || rss_part(to->setup.hf, &t) == RSS_PART_NONE;
	json_array_append_new(list,
			      json_pack("{s:i, s:s, s:o, s:o, s:o, s:o}", "port", (int)port,
					"tuple", text, "hashed",
					to->way == RSS_WAY_HASH
						? json_string(hashed_name(&to->setup, &t))
						: json_null(),
					"hash", none ? json_null() : json_sprintf("%08x", hash),
					"queue", doubt == NULL ? json_integer(queue) : json_null(),
					"doubt", text_or_null(doubt)));
	return 0;
}

/* Adds those of all tuples at a port. */
static int tuples_json(struct ctl_port *cp, const char *tuples, json_t *list, struct err *e)
{
	struct rss_to *to = xcalloc(1, sizeof(*to));
	unsigned port = cp->p.id;
	char *copy = xstrdup(tuples), *rest = copy, *one;
	int rc = 0;

	rss_to_read(cp, to);
	if (to->way == RSS_WAY_UNKNOWN)
		rc = err_set(e, ENOTSUP, "port %u: %.280s", port, to->why);
	else if (to->way == RSS_WAY_TXQ)
		rc = rss_no_hash(port, e);
	while (rc == 0 && (one = strsep(&rest, ",")) != NULL)
		rc = tuple_json(port, to, one + strspn(one, " "), list, e);
	free(copy);
	free(to);
	return rc;
}

json_t *ctl_rss_queues_json(struct ctl *c, const struct portset *ports, const char *tuples,
			    struct err *e)
{
	json_t *list = json_array();
	int rc = 0;

	for (unsigned i = 0; i < c->nports && rc == 0; i++)
		if (portset_has(ports, i))
			rc = tuples_json(c->port[i], tuples, list, e);
	if (rc == 0)
		return json_pack("{s:s, s:o}", "show", "rss_queue", "tuples", list);
	json_decref(list);
	return NULL;
}
