/* SPDX-License-Identifier: BSD-3-Clause */
/* What a device makes of the servers behind it, seen at the servers: how it deals connections to
 * them, whether it deals those of one client to one server, and what becomes of connections when a
 * server stops answering and when it is there again. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "chance.h"
#include "lb_run.h"

#define CPS_UNKNOWN 1000.0 /* connections/s, where nobody has found how many it carries */
#define CPS_MOST 20000.0
#define CLIENTS_MOST 8u       /* that are looked at one by one */
#define CLIENT_CONNECTIONS 20 /* of each, for each server */
#define CLIENT_MOST 400
#define CLIENT_NS 200000000ull /* for so long, at most */
#define PHASE_NS 300000000ull  /* of a life and a death, at least */
#define SAMPLE_NS 50000000ull
#define SERVERS_MOST 512 /* whose addresses fit into a list */

/* ---- what the servers have counted ---- */

/* `show flows by dst` of the servers. New reference; NULL with *e. */
json_t *lb_servers_now(struct cmd_run *r, const struct lb_run *b, struct err *e)
{
	json_t *all = json_array();

	for (unsigned i = 0; i < b->nservers; i++) {
		struct sbuf line = {0};
		json_t *results = NULL, *doc;
		const json_t *s;
		size_t k;
		sbuf_addf(&line, "show flows by dst %u", b->server[i].port);
		int rc = verb_lines(r, sbuf_str(&line), &results, e);
		sbuf_free(&line);
		doc = json_array_get(results, 0);
		json_array_foreach(json_object_get(doc, "servers"), k, s)
			json_array_append(all, (json_t *)(uintptr_t)s);
		json_decref(results);
		if (rc < 0) {
			json_decref(all);
			return NULL;
		}
	}
	return all;
}

double lb_server_number(const json_t *s, const char *key)
{
	const json_t *v = json_object_get(s, key);

	return json_is_number(v) ? json_number_value(v) : 0;
}

bool lb_server_same(const json_t *a, const json_t *b)
{
	return json_equal(json_object_get(a, "port"), json_object_get(b, "port")) &&
	       json_equal(json_object_get(a, "address"), json_object_get(b, "address")) &&
	       json_equal(json_object_get(a, "server_port"), json_object_get(b, "server_port"));
}

/* Whether it is one by the settings of now; others are kept from settings before. */
static bool server_is_set(const json_t *s)
{
	return json_is_integer(json_object_get(s, "weight"));
}

/* How many connections this server got since `before`, which may be NULL. */
static double opened_since(const json_t *before, const json_t *s)
{
	const json_t *was;
	size_t i;

	json_array_foreach(before, i, was)
		if (lb_server_same(was, s))
			return lb_server_number(s, "opened") - lb_server_number(was, "opened");
	return lb_server_number(s, "opened");
}

static double all_since(const json_t *before, const json_t *now)
{
	const json_t *s;
	size_t i;
	double sum = 0;

	json_array_foreach(now, i, s)
		sum += opened_since(before, s);
	return sum;
}

/* ---- distribution ---- */

#define EXPECTED_LEAST 5 /* of each server: with fewer chi-square has no known distribution */

static json_t *spread_read(struct lb_run *b, const json_t *now)
{
	struct lb_look *k = &b->look;
	json_t *o = json_object(), *rows = json_array();
	const json_t *s;
	double sum = all_since(k->before, now), weights = 0, chi = 0, least = (double)INFINITY;
	size_t i;

	json_array_foreach(now, i, s)
		weights += lb_server_number(s, "weight");
	json_array_foreach(now, i, s) {
		if (!server_is_set(s))
			continue;
		double got = opened_since(k->before, s),
		       part = weights > 0 ? lb_server_number(s, "weight") / weights : 0,
		       expected = part * sum;
		json_t *row = json_object();
		least = fmin(least, expected);
		chi += expected > 0 ? (got - expected) * (got - expected) / expected : 0;
		json_object_set(row, "port", json_object_get(s, "port"));
		json_object_set(row, "address", json_object_get(s, "address"));
		json_object_set(row, "server_port", json_object_get(s, "server_port"));
		json_object_set(row, "weight", json_object_get(s, "weight"));
		json_object_set_new(row, "opened", json_integer((json_int_t)got));
		json_object_set_new(row, "share",
				    trial_json_real(sum > 0 ? got / sum : (double)NAN));
		json_object_set_new(row, "expected", trial_json_real(part));
		json_array_append_new(rows, row);
	}
	size_t n = json_array_size(rows);
	bool told = n > 1 && sum > 0;
	json_object_set_new(o, "opened", json_integer((json_int_t)sum));
	json_object_set_new(o, "chi_square", trial_json_real(told ? chi : (double)NAN));
	json_object_set_new(o, "degrees", json_integer(n > 0 ? (json_int_t)n - 1 : 0));
	json_object_set_new(o, "probability",
			    trial_json_real(told && least >= EXPECTED_LEAST
						    ? chance_chi_square((double)n - 1, chi)
						    : (double)NAN));
	json_object_set_new(o, "servers", rows);
	json_object_set_new(k->doc, "distribution", o);
	return o;
}

/* ---- stickiness ---- */

static json_t *sticky_read(struct lb_run *b, const json_t *now)
{
	struct lb_look *k = &b->look;
	json_t *o = json_object_get(k->doc, "stickiness"), *row = json_object();
	const json_t *s;
	size_t i;
	json_int_t met = 0;

	if (o == NULL) {
		o = json_pack("{s:[]}", "clients");
		json_object_set_new(k->doc, "stickiness", o);
	}
	json_array_foreach(now, i, s)
		met += opened_since(k->before, s) > 0;
	json_object_set_new(row, "address", json_string(sbuf_str(&k->client)));
	json_object_set_new(row, "opened", json_integer((json_int_t)all_since(k->before, now)));
	json_object_set_new(row, "servers", json_integer(met));
	json_array_append_new(json_object_get(o, "clients"), row);
	return row;
}

/* ---- a server that dies ---- */

/* Lets the server be dead, or live again. */
static int death_set(struct cmd_run *r, struct lb_run *b, bool dead, struct err *e)
{
	const json_t *victim = b->look.victim;
	struct sbuf line = {0};

	sbuf_addf(&line, "set %.0f flow.dead %s", lb_server_number(victim, "port"),
		  dead ? json_string_value(json_object_get(victim, "address")) : "default");
	int rc = verb_lines(r, sbuf_str(&line), NULL, e);
	sbuf_free(&line);
	return rc;
}

static int death_sample(struct cmd_run *r, struct lb_run *b, struct err *e)
{
	struct lb_look *k = &b->look;
	struct calls_counts c;
	json_t *now = lb_servers_now(r, b, e), *row = json_object();
	const json_t *s;
	double victim = 0;
	uint64_t failed = 0;
	size_t i;

	if (now == NULL) {
		json_decref(row);
		return -EINVAL;
	}
	trial_calls_now(b->trial, &c);
	for (unsigned f = 0; f < c.nfailed; f++)
		failed += c.failed[f].n;
	json_array_foreach(now, i, s)
		if (lb_server_same(s, k->victim))
			victim = opened_since(k->before, s);
	json_object_set_new(row, "ns", json_integer((json_int_t)(clock_raw_ns() - b->begun_ns)));
	json_object_set_new(row, "opened", json_integer((json_int_t)c.begun));
	json_object_set_new(row, "failed", json_integer((json_int_t)failed));
	json_object_set_new(row, "server_opened", json_integer((json_int_t)victim));
	json_object_set_new(row, "servers_opened",
			    json_integer((json_int_t)all_since(k->before, now)));
	json_array_append_new(k->samples, row);
	json_decref(now);
	return 0;
}

double lb_death_times(json_t *o, const json_t *samples, const char *key, double died, double back)
{
	double from = (double)NAN, to = (double)NAN, again = (double)NAN;
	const json_t *s, *was = NULL;
	size_t i;

	json_array_foreach(samples, i, s) {
		double ns = lb_server_number(s, "ns");
		if (was != NULL && ns > died &&
		    lb_server_number(s, "failed") > lb_server_number(was, "failed")) {
			from = isnan(from) ? ns - died : from;
			to = ns - died;
		}
		if (was != NULL && ns > back && isnan(again) &&
		    lb_server_number(s, key) > lb_server_number(was, key))
			again = ns - back;
		was = s;
	}
	json_object_set_new(o, "failing_from_ns", trial_json_real(from));
	json_object_set_new(o, "failing_to_ns", trial_json_real(to));
	json_object_set_new(o, "back_after_ns", trial_json_real(again));
	return again;
}

/* The share of the server of all that came to the servers between two times. */
static double share_between(const json_t *samples, double from, double to)
{
	const json_t *s, *first = NULL, *last = NULL;
	size_t i;

	json_array_foreach(samples, i, s) {
		double ns = lb_server_number(s, "ns");
		if (ns < from || ns > to)
			continue;
		first = first != NULL ? first : s;
		last = s;
	}
	double all = lb_server_number(last, "servers_opened") -
		     lb_server_number(first, "servers_opened");
	return all > 0 ? (lb_server_number(last, "server_opened") -
			  lb_server_number(first, "server_opened")) /
				 all
		       : (double)NAN;
}

static void death_times(json_t *o, const json_t *samples, double died, double back)
{
	double again = lb_death_times(o, samples, "server_opened", died, back);

	json_object_set_new(o, "share_before", trial_json_real(share_between(samples, 0, died)));
	json_object_set_new(o, "share_dead", trial_json_real(share_between(samples, died, back)));
	json_object_set_new(o, "share_after",
			    trial_json_real(share_between(samples,
							  isnan(again) ? back : back + again,
							  (double)UINT64_MAX)));
}

static json_t *death_read(struct lb_run *b, const json_t *now)
{
	struct lb_look *k = &b->look;
	json_t *o = json_object(), *failed = json_object();
	struct calls_counts c;

	(void)now;
	trial_calls_now(b->trial, &c);
	for (unsigned f = 0; f < c.nfailed; f++)
		if (c.failed[f].n > 0)
			json_object_set_new(failed, c.failed[f].name,
					    json_integer((json_int_t)c.failed[f].n));
	json_object_set(o, "address", json_object_get(k->victim, "address"));
	json_object_set(o, "server_port", json_object_get(k->victim, "server_port"));
	json_object_set_new(o, "opened", json_integer((json_int_t)c.begun));
	json_object_set_new(o, "failed", json_integer((json_int_t)(c.begun - c.succeeded)));
	json_object_set_new(o, "failed_as", failed);
	json_object_set_new(o, "died_ns", json_integer((json_int_t)k->died_ns));
	json_object_set_new(o, "returned_ns", json_integer((json_int_t)k->returned_ns));
	death_times(o, k->samples, (double)k->died_ns, (double)k->returned_ns);
	json_object_set(o, "samples", k->samples);
	json_object_set_new(k->doc, "death", o);
	return o;
}

/* ---- the course ---- */

/* Connections per second that are no load for the device. */
static double look_cps(const struct lb_run *b)
{
	return lb_easy(b, b->npoints, LB_CPS, CPS_MOST, CPS_UNKNOWN);
}

static uint64_t look_duration(const struct lb_run *b)
{
	uint64_t d = b->ask.duration_ns;

	if (b->look.what == LB_LOOK_DEATH)
		return 3 * (d > PHASE_NS ? d : PHASE_NS);
	if (b->look.what == LB_LOOK_OPEN)
		return lb_open_ns(b);
	return b->look.what == LB_LOOK_STICKY && d > CLIENT_NS ? CLIENT_NS : d;
}

static double look_rate(const struct lb_run *b)
{
	if (b->look.what == LB_LOOK_OPEN)
		return lb_open_tps(b);
	if (b->look.what != LB_LOOK_STICKY)
		return look_cps(b);
	double n = fmin((double)CLIENT_CONNECTIONS * (double)json_array_size(b->look.before),
			CLIENT_MOST);
	return n / ((double)look_duration(b) / 1e9);
}

static int look_begin(struct cmd_run *r, struct lb_run *b, struct err *e)
{
	struct lb_look *k = &b->look;
	uint64_t d = look_duration(b);
	double cps = ceil(look_rate(b)), need = cps * (double)d / 1e9 * k->nclients;
	struct lb_load l = {.figure = LB_CPS,
			    .tcp = true,
			    .cps = cps,
			    .timeout_ns = b->ask.timeout_ns};
	if (k->what == LB_LOOK_OPEN)
		need = lb_open_load(b, look_cps(b), &l);
	struct trial_spec spec = {.tx = b->ask.client,
				  .rx = b->ask.servers,
				  .duration_ns = d,
				  .rate = {.kind = RATE_EACH, .value = cps},
				  .cfg = b->ask.cfg};
	struct sbuf more = {0};

	/* of one client the device may know all */
	if (!lb_ring_take(&b->ring[1], need, clock_raw_ns(), b->ask.timeout_ns, &l.from))
		return 0;
	if (!b->ring[1].turns)
		l.from = 0;
	spec.cfg.learn = 0;
	for (unsigned i = 0; i < b->nservers; i++)
		sbuf_addf(&more, "set %u flow.by_dst on\n", b->server[i].port);
	if (k->what == LB_LOOK_STICKY)
		sbuf_addf(&more, "set %u flow.src %s\n", b->ask.port, sbuf_str(&k->client));
	if (k->what == LB_LOOK_DEATH || k->what == LB_LOOK_OPEN)
		sbuf_addf(&more, "set %u flow.retries 0\nset %u flow.drain 4s\n", b->ask.port,
			  b->ask.port);
	int rc = lb_set_streams(r, b, &l, e);
	rc = rc < 0 ? rc : verb_lines(r, sbuf_str(&more), NULL, e);
	sbuf_free(&more);
	if (rc == 0 && k->before == NULL) {
		struct err none = {
			.text = ""}; /* servers that have never run have counted nothing */
		k->before = lb_servers_now(r, b, &none);
		k->before = k->before != NULL ? k->before : json_array();
	}
	rc = rc < 0 ? rc : trial_start(b->app->ctl, &spec, &b->trial, e);
	b->begun = false;
	return rc;
}

/* Connections that are open when the server dies: the last thing. */
static bool look_open(struct lb_look *k)
{
	k->what = LB_LOOK_OPEN;
	k->died_ns = k->returned_ns = 0;
	json_decref(k->samples);
	k->samples = json_array();
	return true;
}

/* The next thing to be looked at. true: there is one. */
static bool look_next(struct lb_run *b)
{
	struct lb_look *k = &b->look;
	const json_t *s, *last = NULL;
	size_t i;

	if (k->what == LB_LOOK_DEATH)
		return look_open(k);
	if (k->what == LB_LOOK_SPREAD)
		k->what = LB_LOOK_STICKY;
	else if (k->what == LB_LOOK_STICKY)
		k->at++;
	else
		return false;
	sbuf_reset(&k->client);
	if (k->at < CLIENTS_MOST && lb_nth_value(sbuf_str(&b->client.src), k->at, &k->client))
		return true;
	k->what = LB_LOOK_DEATH;
	k->samples = json_array();
	json_array_foreach(k->before, i, s)
		if (server_is_set(s))
			last = s;
	k->victim = json_incref((json_t *)(uintptr_t)last);
	return last != NULL;
}

/* It goes no further, and the document says why. */
static int look_fail(struct lb_run *b, const char *why)
{
	trial_free(b->trial);
	b->trial = NULL;
	b->look.goes_on = false;
	json_object_set_new(b->look.doc, "why", json_string(why));
	return 1;
}

int lb_look_start(struct cmd_run *r, struct lb_run *b)
{
	struct err e = {.text = ""};
	struct lb_look *k = &b->look;
	uint64_t n = 0;

	for (unsigned i = 0; i < b->nservers; i++)
		n += lb_values(sbuf_str(&b->server[i].src));
	k->doc = json_pack("{s:n}", "why");
	if (n < 2 || n > SERVERS_MOST) {
		char why[128];
		snprintf(why, sizeof(why),
			 n < 2 ? "there is one, so nothing is dealt to several"
			       : "`flow.src` of the server ports has %" PRIu64
				 " of them, and at most %u are looked at",
			 n, SERVERS_MOST);
		return look_fail(b, why);
	}
	k->nclients = (double)lb_values(sbuf_str(&b->client.src));
	k->goes_on = true;
	return look_begin(r, b, &e) < 0 ? look_fail(b, e.text) : 0;
}

static int look_sample(struct cmd_run *r, struct lb_run *b, struct err *e)
{
	return b->look.what == LB_LOOK_OPEN ? lb_open_sample(r, b, e) : death_sample(r, b, e);
}

/* In each turn of a trial in which a server dies. */
static int death_goes_on(struct cmd_run *r, struct lb_run *b, struct err *e)
{
	struct lb_look *k = &b->look;
	uint64_t gone = clock_raw_ns() - b->begun_ns, phase = look_duration(b) / 3;
	int rc = 0;

	if (gone >= json_array_size(k->samples) * SAMPLE_NS)
		rc = look_sample(r, b, e);
	if (rc == 0 && k->died_ns == 0 && gone >= phase) {
		rc = k->what == LB_LOOK_OPEN ? look_sample(r, b, e) : 0;
		rc = rc < 0 ? rc : death_set(r, b, true, e);
		k->died_ns = clock_raw_ns() - b->begun_ns;
	} else if (rc == 0 && k->died_ns != 0 && k->returned_ns == 0 &&
		   gone - k->died_ns >= phase) {
		rc = death_set(r, b, false, e);
		k->returned_ns = clock_raw_ns() - b->begun_ns;
	}
	return rc;
}

/* Whether the trial has told anything: the tester may have had no CPU for it. */
static bool look_told(const struct lb_run *b, const json_t *now)
{
	const struct lb_look *k = &b->look;

	if (k->what == LB_LOOK_DEATH)
		return k->returned_ns != 0 && trial_opened(b->trial) > 0;
	if (k->what == LB_LOOK_OPEN)
		return k->returned_ns != 0 && lb_open_told(b);
	return all_since(k->before, now) > 0;
}

/* What the trial has told, and whether the tester was disturbed meanwhile. */
static void look_read(struct lb_run *b, const json_t *now)
{
	static json_t *(*const read[])(struct lb_run *, const json_t *) = {
		[LB_LOOK_SPREAD] = spread_read,
		[LB_LOOK_STICKY] = sticky_read,
		[LB_LOOK_DEATH] = death_read,
		[LB_LOOK_OPEN] = lb_open_read,
	};

	json_object_set_new(read[b->look.what](b, now), "verdict",
			    json_string(trial_verdict_name(trial_result(b->trial)->verdict)));
}

/* 1: it has told something, or will not. 0: it is to be made once more. */
static int look_over(struct cmd_run *r, struct lb_run *b, struct err *e)
{
	struct lb_look *k = &b->look;
	int rc = k->what == LB_LOOK_DEATH ? death_sample(r, b, e) : 0;
	json_t *now = rc < 0 ? NULL : lb_servers_now(r, b, e);

	if (now == NULL)
		return -EINVAL;
	bool told = look_told(b, now), once_more = !told && k->again++ < RATE_SEARCH_AGAIN;
	if (told)
		look_read(b, now);
	else if (!once_more)
		json_object_set_new(k->doc, "why",
				    json_string("the tester had no time for all of this"));
	json_decref(k->before);
	k->before = now;
	lb_ring_took(&b->ring[1], (double)trial_opened(b->trial) * k->nclients, clock_raw_ns());
	trial_free(b->trial);
	b->trial = NULL;
	if (once_more) {
		k->died_ns = k->returned_ns = 0;
		json_array_clear(k->samples);
		return 0;
	}
	k->again = 0;
	return 1;
}

static int look_goes_on(struct cmd_run *r, struct lb_run *b, struct err *e)
{
	struct lb_look *k = &b->look;

	if (b->trial == NULL)
		return look_begin(r, b, e);
	int rc = trial_poll(b->trial, e);
	if (rc < 0)
		return rc;
	if (!b->begun && trial_begun(b->trial)) {
		b->begun = true;
		b->begun_ns = clock_raw_ns();
	}
	if (rc == 0)
		return b->begun && k->what >= LB_LOOK_DEATH ? death_goes_on(r, b, e) : 0;
	rc = look_over(r, b, e);
	if (rc < 0)
		return rc;
	k->goes_on = rc == 0 || look_next(b);
	return k->goes_on ? look_begin(r, b, e) : 1;
}

int lb_look_poll(struct cmd_run *r, struct lb_run *b)
{
	struct err e = {.text = ""};
	int rc = look_goes_on(r, b, &e);

	return rc < 0 ? look_fail(b, e.text) : rc;
}

void lb_look_tells(const struct lb_run *b, char *out, size_t size)
{
	static const char *const words[] = {[LB_LOOK_SPREAD] = "distribution",
					    [LB_LOOK_STICKY] = "stickiness",
					    [LB_LOOK_DEATH] = "a server that dies",
					    [LB_LOOK_OPEN] =
						    "a server that dies, open connections"};

	snprintf(out, size, "lb, servers: %s", words[b->look.what]);
}

void lb_look_free(struct lb_look *k)
{
	json_decref(k->doc);
	json_decref(k->before);
	json_decref(k->victim);
	json_decref(k->samples);
	sbuf_free(&k->client);
}
