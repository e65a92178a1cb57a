/* SPDX-License-Identifier: BSD-3-Clause */
/* What becomes of the connections that are open when a server stops answering: which fail and when,
 * which wait until it is there again, and how many transactions come through meanwhile. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "lb_run.h"

#define OPEN_NS 600000000ull /* of life, death and life again, at least */
#define OPEN_EACH 25         /* connections of each server */
#define OPEN_MOST 1000
#define OPEN_TPS 10 /* of each connection */
#define OPEN_TPS_MOST 5000

uint64_t lb_open_ns(const struct lb_run *b)
{
	return 3 * (b->ask.duration_ns > OPEN_NS ? b->ask.duration_ns : OPEN_NS);
}

static double open_held(const struct lb_run *b)
{
	double n = OPEN_EACH * (double)json_array_size(b->look.before);

	return fmin(fmin(n, OPEN_MOST), (double)b->tuples);
}

double lb_open_tps(const struct lb_run *b)
{
	return fmin(OPEN_TPS * open_held(b), OPEN_TPS_MOST);
}

double lb_open_load(const struct lb_run *b, double opens, struct lb_load *l)
{
	l->figure = LB_TWO_WAY;
	l->connections = (uint64_t)open_held(b);
	l->cps = opens;
	l->tps = lb_open_tps(b);
	/* those that fail are opened again */
	return fmin(2 * open_held(b), (double)b->tuples);
}

/* ---- samples ---- */

/* What ends an open connection, but for its own close; and what keeps one from opening. */
static const char *const open_failed[] = {"timed_out", "reset_by_peer", "aborted"};
static const char *const open_never[] = {"refused", "connect_timeout", "unreachable"};

static double open_sum(const json_t *o, const char *const *key, unsigned n)
{
	double sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += lb_server_number(o, key[i]);
	return sum;
}

/* {"connections": .., "transactions": ..} of the clients. New reference; NULL with *e. */
static json_t *clients_now(struct cmd_run *r, const struct lb_run *b, struct err *e)
{
	struct sbuf line = {0};
	json_t *results = NULL;

	sbuf_addf(&line, "show flows %u", b->ask.port);
	int rc = verb_lines(r, sbuf_str(&line), &results, e);
	sbuf_free(&line);
	json_t *flow = json_array_get(json_object_get(json_array_get(results, 0), "flows"), 0);
	json_t *o = rc < 0 || flow == NULL ? NULL : json_incref(flow);
	json_decref(results);
	if (rc == 0 && o == NULL)
		err_set(e, EINVAL, "port %u has no flow any more", b->ask.port);
	return o;
}

/* Adds all of `key` of a to o. */
static void put_numbers(json_t *o, const json_t *a, const char *const *key, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		json_object_set_new(o, key[i],
				    json_integer((json_int_t)lb_server_number(a, key[i])));
}

int lb_open_sample(struct cmd_run *r, struct lb_run *b, struct err *e)
{
	struct lb_look *k = &b->look;
	json_t *clients, *servers, *row;
	const json_t *s, *conns;
	uint64_t gone = clock_raw_ns() - b->begun_ns;
	size_t i;

	/* what ends behind the trial is not the server's fault */
	if (k->returned_ns != 0 && gone >= lb_open_ns(b))
		return 0;
	clients = clients_now(r, b, e);
	servers = clients != NULL ? lb_servers_now(r, b, e) : NULL;
	if (servers == NULL) {
		json_decref(clients);
		return -EINVAL;
	}
	conns = json_object_get(clients, "connections");
	row = json_pack("{s:I, s:I, s:I, s:I}", "ns", (json_int_t)gone, "open",
			(json_int_t)lb_server_number(conns, "open"), "failed",
			(json_int_t)open_sum(conns, open_failed, ARRAY_SIZE(open_failed)), "done",
			(json_int_t)lb_server_number(json_object_get(clients, "transactions"),
						     "done"));
	put_numbers(row, conns, open_failed, ARRAY_SIZE(open_failed));
	put_numbers(row, conns, open_never, ARRAY_SIZE(open_never));
	put_numbers(row, conns, (const char *const[]){"opened"}, 1);
	json_array_foreach(servers, i, s) {
		if (!lb_server_same(s, k->victim))
			continue;
		json_object_set_new(row, "server_open",
				    json_integer((json_int_t)lb_server_number(s, "open")));
		json_object_set_new(row, "server_done",
				    json_integer((json_int_t)lb_server_number(s, "done")));
	}
	json_array_append_new(k->samples, row);
	json_decref(clients);
	json_decref(servers);
	return 0;
}

/* ---- what has come of it ---- */

/* The last sample up to a time; NULL: there is none. */
static const json_t *sample_at(const json_t *samples, double ns)
{
	const json_t *s, *found = NULL;
	size_t i;

	json_array_foreach(samples, i, s)
		if (lb_server_number(s, "ns") <= ns)
			found = s;
	return found;
}

static double open_grown(const json_t *from, const json_t *to, const char *key)
{
	return fmax(0, lb_server_number(to, key) - lb_server_number(from, key));
}

/* Transactions per second between two samples. */
static json_t *open_rate_json(const json_t *from, const json_t *to)
{
	double ns = open_grown(from, to, "ns");

	return trial_json_real(ns > 0 ? open_grown(from, to, "done") / (ns / 1e9) : (double)NAN);
}

/* Adds those of `key` that grew. New reference. */
static json_t *open_grown_json(const json_t *from, const json_t *to, const char *const *key,
			       unsigned n)
{
	json_t *o = json_object();

	for (unsigned i = 0; i < n; i++)
		if (open_grown(from, to, key[i]) > 0)
			json_object_set_new(o, key[i],
					    json_integer((json_int_t)open_grown(from, to, key[i])));
	return o;
}

bool lb_open_told(const struct lb_run *b)
{
	return lb_server_number(sample_at(b->look.samples, (double)b->look.died_ns), "open") > 0;
}

/* Samples count since the begin of the trial, as those of new connections do. */
static json_t *samples_json(const json_t *samples)
{
	static const char *const since[] = {"failed", "done", "opened", "server_done"};
	static const char *const now[] = {"ns", "open", "server_open"};
	const json_t *s, *first = json_array_get(samples, 0);
	json_t *all = json_array();
	size_t i;

	json_array_foreach(samples, i, s) {
		json_t *o = json_object();
		put_numbers(o, s, now, ARRAY_SIZE(now));
		for (unsigned k = 0; k < ARRAY_SIZE(since); k++)
			json_object_set_new(o, since[k],
					    json_integer(
						    (json_int_t)open_grown(first, s, since[k])));
		json_array_append_new(all, o);
	}
	return all;
}

json_t *lb_open_read(struct lb_run *b, const json_t *now)
{
	struct lb_look *k = &b->look;
	double died = (double)k->died_ns, back = (double)k->returned_ns;
	const json_t *first = json_array_get(k->samples, 0), *dies = sample_at(k->samples, died),
		     *returns = sample_at(k->samples, back),
		     *last = json_array_get(k->samples, json_array_size(k->samples) - 1);
	json_t *o = json_object();

	(void)now;
	json_object_set(o, "address", json_object_get(k->victim, "address"));
	json_object_set(o, "server_port", json_object_get(k->victim, "server_port"));
	json_object_set(o, "open", json_object_get(dies, "open"));
	json_object_set(o, "server_open", json_object_get(dies, "server_open"));
	json_object_set_new(o, "failed",
			    json_integer((json_int_t)open_grown(dies, last, "failed")));
	json_object_set_new(o, "failed_as",
			    open_grown_json(dies, last, open_failed, ARRAY_SIZE(open_failed)));
	json_object_set_new(o, "opened",
			    json_integer((json_int_t)open_grown(dies, last, "opened")));
	json_object_set_new(o, "not_opened",
			    open_grown_json(dies, last, open_never, ARRAY_SIZE(open_never)));
	json_object_set(o, "open_at_end", json_object_get(last, "open"));
	json_object_set_new(o, "died_ns", json_integer((json_int_t)k->died_ns));
	json_object_set_new(o, "returned_ns", json_integer((json_int_t)k->returned_ns));
	lb_death_times(o, k->samples, "server_done", died, back);
	json_object_set_new(o, "tps_before", open_rate_json(first, dies));
	json_object_set_new(o, "tps_dead", open_rate_json(dies, returns));
	json_object_set_new(o, "tps_after", open_rate_json(returns, last));
	json_object_set_new(o, "samples", samples_json(k->samples));
	json_object_set_new(k->doc, "death_open", o);
	return o;
}
