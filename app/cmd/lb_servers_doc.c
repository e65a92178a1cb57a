/* SPDX-License-Identifier: BSD-3-Clause */
/* What a device makes of its servers, in tables and sentences. */
#include <math.h>
#include <string.h>

#include "lb.h"

static const struct out_col server_cols[] = {
	{"port", "port", OF_COUNT},
	{"address", "server", OF_STR},
	{"server_port", "its port", OF_COUNT},
	{"weight", "weight", OF_COUNT},
	{"opened", "opened", OF_COUNT},
	{"share", "share", OF_PERCENT},
	{"expected", "expected", OF_PERCENT},
};
const struct out_view lb_servers_view = {.rows = "lb.real_servers.distribution.servers",
					 .cols = server_cols,
					 .ncols = ARRAY_SIZE(server_cols)};

static const struct out_col client_cols[] = {
	{"address", "client", OF_STR},
	{"opened", "opened", OF_COUNT},
	{"servers", "servers that it met", OF_COUNT},
	{"verdict", "verdict", OF_STR},
};
const struct out_view lb_clients_view = {.rows = "lb.real_servers.stickiness.clients",
					 .cols = client_cols,
					 .ncols = ARRAY_SIZE(client_cols)};

static double looked_number(const json_t *o, const char *path)
{
	const json_t *v = o != NULL ? out_get(o, path) : NULL;

	return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

/* A verdict by which the tester was what may have failed. */
static const char *looked_disturbed(const json_t *o)
{
	const char *verdict = json_string_value(json_object_get(o, "verdict"));

	return strcmp(verdict, trial_verdict_name(TRIAL_VALID)) == 0 ||
			       strcmp(verdict, trial_verdict_name(TRIAL_LIMITED)) == 0
		       ? NULL
		       : verdict;
}

static void add_disturbed(const json_t *o, struct sbuf *out)
{
	const char *verdict = looked_disturbed(o);

	if (verdict != NULL)
		sbuf_addf(out, "; the tester was disturbed (%s)", verdict);
	sbuf_addc(out, '\n');
}

static void spread_words(const json_t *o, struct sbuf *out)
{
	double chi = looked_number(o, "chi_square"), p = looked_number(o, "probability");

	sbuf_addf(out, "distribution: %.0f connections on %zu servers", looked_number(o, "opened"),
		  json_array_size(json_object_get(o, "servers")));
	if (isfinite(chi))
		sbuf_addf(out, "; chi-square %.2f of %.0f degrees", chi,
			  looked_number(o, "degrees"));
	if (isfinite(p))
		sbuf_addf(out, ", p %.3g", p);
	add_disturbed(o, out);
}

/* A client with one connection has met one server in any case. */
static void sticky_words(const json_t *o, struct sbuf *out)
{
	const json_t *clients = json_object_get(o, "clients"), *c;
	size_t i, n = 0, one = 0, disturbed = 0;
	double most = 0;

	json_array_foreach(clients, i, c) {
		if (looked_number(c, "opened") < 2)
			continue;
		n++;
		one += looked_number(c, "servers") <= 1;
		disturbed += looked_disturbed(c) != NULL;
		most = fmax(most, looked_number(c, "servers"));
	}
	sbuf_addf(out, "stickiness: of %zu clients %zu met one server each", n, one);
	if (one < n)
		sbuf_addf(out, ", the others up to %.0f", most);
	if (disturbed > 0)
		sbuf_addf(out, "; the tester was disturbed at %zu of them", disturbed);
	sbuf_addc(out, '\n');
}

static void add_span(double ns, struct sbuf *out)
{
	out_ns_digits(ns, 3, out);
}

static void add_share(const char *before, double share, const char *after, struct sbuf *out)
{
	if (!isfinite(share))
		return;
	sbuf_add(out, before);
	out_share_digits(share, 3, out);
	sbuf_add(out, after);
}

/* The members of an object: ", timed out 12, refused 3". */
static void add_causes(const json_t *o, struct sbuf *out)
{
	const char *key;
	json_t *n;

	json_object_foreach((json_t *)(uintptr_t)o, key, n) {
		sbuf_add(out, ", ");
		for (const char *c = key; *c != '\0'; c++)
			sbuf_addc(out, *c == '_' ? ' ' : *c);
		sbuf_addf(out, " %" JSON_INTEGER_FORMAT, json_integer_value(n));
	}
}

/* When they failed, if any did. */
static void add_failing(const json_t *o, struct sbuf *out)
{
	double from = looked_number(o, "failing_from_ns"), to = looked_number(o, "failing_to_ns");

	if (!isfinite(from))
		return;
	sbuf_add(out, ", from ");
	add_span(from, out);
	sbuf_add(out, " to ");
	add_span(to, out);
	sbuf_add(out, " behind its death");
}

static void death_words(const json_t *o, struct sbuf *out)
{
	double back = looked_number(o, "back_after_ns");

	sbuf_addf(out, "a server that dies: %s did not answer for ",
		  json_string_value(json_object_get(o, "address")));
	add_span(looked_number(o, "returned_ns") - looked_number(o, "died_ns"), out);
	sbuf_addf(out, "; %.0f of %.0f connections failed", looked_number(o, "failed"),
		  looked_number(o, "opened"));
	add_causes(json_object_get(o, "failed_as"), out);
	add_failing(o, out);
	add_share("; it had ", looked_number(o, "share_before"), " of all before", out);
	if (isfinite(back)) {
		sbuf_add(out, ", got the first one ");
		add_span(back, out);
		sbuf_add(out, " behind its return");
		add_share(", and ", looked_number(o, "share_after"), " from then on", out);
	} else {
		sbuf_add(out, ", and got none behind its return");
	}
	add_disturbed(o, out);
}

static void add_tps(const char *before, double tps, struct sbuf *out)
{
	sbuf_add(out, before);
	if (isfinite(tps))
		out_si(tps, out);
	else
		sbuf_add(out, "unknown");
	sbuf_add(out, "/s");
}

/* Those tried anew that were neither open nor had failed at the end: a SYN to the dead server. */
static double still_opening(const json_t *o)
{
	double n = looked_number(o, "open") - looked_number(o, "failed") +
		   looked_number(o, "opened") - looked_number(o, "open_at_end");
	const char *key;
	json_t *v;

	json_object_foreach(json_object_get(o, "not_opened"), key, v)
		n -= json_number_value(v);
	return n;
}

static void open_words(const json_t *o, struct sbuf *out)
{
	double open = looked_number(o, "server_open"), back = looked_number(o, "back_after_ns"),
	       opened = looked_number(o, "opened");

	sbuf_addf(out,
		  "connections that are open when it dies: %.0f, of which %s had %.0f and did not "
		  "answer for ",
		  looked_number(o, "open"), json_string_value(json_object_get(o, "address")), open);
	add_span(looked_number(o, "returned_ns") - looked_number(o, "died_ns"), out);
	sbuf_addf(out, "; %.0f failed", looked_number(o, "failed"));
	add_causes(json_object_get(o, "failed_as"), out);
	add_failing(o, out);
	if (opened > 0) {
		sbuf_addf(out, "; %.0f were tried anew", opened);
		add_causes(json_object_get(o, "not_opened"), out);
	}
	add_tps("; transactions ", looked_number(o, "tps_before"), out);
	add_tps(" before, ", looked_number(o, "tps_dead"), out);
	add_tps(" meanwhile, ", looked_number(o, "tps_after"), out);
	sbuf_add(out, " behind its return");
	if (isfinite(back)) {
		sbuf_add(out, ", and it answered again ");
		add_span(back, out);
		sbuf_add(out, " behind that");
	} else {
		sbuf_add(out, ", and it had none to answer again");
	}
	sbuf_addf(out, "; %.0f open at the end", looked_number(o, "open_at_end"));
	double waiting = still_opening(o);
	if (waiting > 0)
		sbuf_addf(out, ", and %.0f still being opened", waiting);
	add_disturbed(o, out);
}

void lb_servers_words(const json_t *doc, struct sbuf *out)
{
	const json_t *all = out_get(doc, "lb.real_servers");
	const json_t *spread = json_object_get(all, "distribution"),
		     *sticky = json_object_get(all, "stickiness"),
		     *death = json_object_get(all, "death"),
		     *open = json_object_get(all, "death_open");
	const char *why = json_string_value(json_object_get(all, "why"));

	if (json_is_object(spread))
		spread_words(spread, out);
	if (json_is_object(sticky))
		sticky_words(sticky, out);
	if (json_is_object(death))
		death_words(death, out);
	if (json_is_object(open))
		open_words(open, out);
	if (why != NULL)
		sbuf_addf(out, "servers: %s\n", why);
}
