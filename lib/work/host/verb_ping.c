/* SPDX-License-Identifier: BSD-3-Clause */
/* ping and arping: a host asks another one, and tells how long each answer took. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_app.h"
#include "host_face.h"
#include "host_ping.h"

enum { EXIT_UNANSWERED = 1 };
enum {
	A_PORT,
	A_TO,
	A_COUNT = 3,
	A_PING_SIZE = 5,
	A_PING_EVERY = 7,
	A_PING_FLOOD = 8,
	A_LINK_EVERY = 5
};

#define DFLT_COUNT 4
#define DFLT_FLOOD 1000
#define DFLT_EVERY_NS 1000000000ull
#define MOST_NS (3600 * 1000000000ull)

/* What was told of requests since the last poll. */
/* Lines that nobody has taken yet take no more than this; others are counted. */
#define UNTAKEN_BYTES (1 << 20)

struct ping_lines {
	struct sbuf text;
	uint64_t left_out;
	bool link;
};

struct pinging {
	struct host_ping *ping;
	struct host_ping_spec spec;
	struct ping_lines *lines; /* NULL: answers are not told one by one */
};
_Static_assert(sizeof(struct pinging) <= VERB_STATE_BYTES, "state of a verb");

static struct pinging *ping_state(struct cmd_run *r)
{
	return (struct pinging *)r->state;
}

/* ---- answers ---- */

static void ping_tell(void *arg, const struct neigh_pings_news *n)
{
	static const char *const words[] = {[NEIGH_PINGS_ANSWERED] = "answer",
					    [NEIGH_PINGS_LATE] = "late answer",
					    [NEIGH_PINGS_ERROR] = "error",
					    [NEIGH_PINGS_LOST] = "no answer",
					    [NEIGH_PINGS_DUPLICATE] = "further answer"};
	struct ping_lines *lines = arg;
	struct sbuf *out = &lines->text;

	if (out->len > UNTAKEN_BYTES) {
		lines->left_out++;
		return;
	}
	sbuf_addf(out, "%s to %" PRIu64, words[n->kind], n->number + 1);
	if (n->pong != NULL) {
		sbuf_add(out, " from ");
		if (lines->link)
			host_print_mac(n->pong->mac, out);
		else
			host_print_ip(n->pong->ip, out);
		sbuf_add(out, ": ");
		if (n->pong->kind == NEIGH_PONG_ERROR)
			sbuf_addf(out, "%s, ", neigh_pong_error(n->pong));
		if (n->pong->mtu > 0)
			sbuf_addf(out, "its mtu is %u, ", n->pong->mtu);
		out_duration(n->rtt_ns, out);
	}
	sbuf_addc(out, '\n');
}

static void ping_flush(struct cmd_run *r)
{
	struct ping_lines *lines = ping_state(r)->lines;

	if (lines == NULL)
		return;
	sbuf_add(r->out, sbuf_str(&lines->text));
	sbuf_reset(&lines->text);
	if (lines->left_out > 0)
		sbuf_addf(r->out, "%" PRIu64 " lines left out, because nobody took the output\n",
			  lines->left_out);
	lines->left_out = 0;
}

/* Ends it. Nothing is told from now on. */
static void ping_free(struct cmd_run *r)
{
	struct pinging *x = ping_state(r);

	host_ping_free(app_of(r)->ctl, x->ping);
	x->ping = NULL;
	if (x->lines != NULL)
		sbuf_free(&x->lines->text);
	free(x->lines);
	x->lines = NULL;
}

/* ---- the result ---- */

static const struct out_col cols[] = {
	{"port", "port", OF_COUNT},
	{"stream", "stream", OF_COUNT, .some = true},
	{"to", "to", OF_STR},
	{"from", "from", OF_STR},
	{"via", "via", OF_STR},
	{"size", "size", OF_COUNT},
	{"sent", "sent", OF_COUNT},
	{"received", "received", OF_COUNT},
	{"late", "later than 1 s", OF_COUNT, .some = true},
	{"errors", "ICMP errors", OF_COUNT, .some = true},
	{"lost", "lost", OF_COUNT},
	{"open", "not answered yet", OF_COUNT, .some = true},
	{"duplicates", "duplicates", OF_COUNT, .some = true},
	{"foreign", "foreign", OF_COUNT, .some = true},
	{"damaged", "damaged", OF_COUNT, .some = true},
	{"unread", "unread", OF_COUNT, .some = true},
	{"rtt_ns.min", "rtt min", OF_NS},
	{"rtt_ns.mean", "mean", OF_NS},
	{"rtt_ns.p50", "median", OF_NS},
	{"rtt_ns.p90", "p90", OF_NS},
	{"rtt_ns.p99", "p99", OF_NS},
	{"rtt_ns.max", "max", OF_NS},
};
static const struct out_view text_view = {.rows = "rows",
					  .cols = cols,
					  .ncols = ARRAY_SIZE(cols),
					  .transpose = true};
static const struct out_view csv_view = {.rows = "rows", .cols = cols, .ncols = ARRAY_SIZE(cols)};

static void tell_errors(const json_t *one, struct sbuf *out)
{
	const json_t *told;
	size_t i;

	json_array_foreach(json_object_get(one, "told"), i, told) {
		sbuf_addf(out, "%s says: %s", json_string_value(json_object_get(told, "from")),
			  json_string_value(json_object_get(told, "error")));
		json_int_t mtu = json_integer_value(json_object_get(told, "mtu"));
		if (mtu > 0)
			sbuf_addf(out, ", its mtu is %" JSON_INTEGER_FORMAT, mtu);
		sbuf_addf(out, " (%" JSON_INTEGER_FORMAT ")\n",
			  json_integer_value(json_object_get(told, "count")));
	}
}

/* Prints what is known, and ends. */
static void ping_end(struct cmd_run *r)
{
	struct pinging *x = ping_state(r);
	struct ctl *ctl = app_of(r)->ctl;
	json_t *one = host_ping_json(ctl, x->ping);
	json_t *doc = json_pack("{sO}", x->spec.link ? "arping" : "ping", one);

	ping_flush(r);
	cmd_result(r, doc);
	if (r->out_mode == OUT_JSON) {
		out_write(OUT_JSON, doc, NULL, r->out);
	} else {
		json_t *rows = json_pack("{s[O]}", "rows", one);
		out_write((enum out_mode)r->out_mode, rows,
			  r->out_mode == OUT_TEXT ? &text_view : &csv_view, r->out);
		json_decref(rows);
		if (r->out_mode == OUT_TEXT)
			tell_errors(one, r->out);
	}
	json_decref(doc);
	json_decref(one);
	ping_free(r);
}

/* ---- the verbs ---- */

static int ping_poll(struct cmd_run *r, struct err *e)
{
	struct pinging *x = ping_state(r);
	uint64_t received;
	int rc = host_ping_poll(x->ping, e);

	ping_flush(r);
	if (rc == 0)
		return VERB_PENDING;
	uint64_t sent = host_ping_sent(x->ping, &received);
	if (received == 0)
		r->exit_code = EXIT_UNANSWERED;
	if (rc > 0 || sent > 0)
		ping_end(r);
	else
		ping_free(r);
	return rc > 0 ? VERB_DONE : rc;
}

static void ping_cancel(struct cmd_run *r)
{
	ping_end(r);
}

static bool ping_progress(const struct cmd_run *r, struct cmd_progress *out)
{
	const struct pinging *x = (const struct pinging *)r->state;
	uint64_t received, sent = host_ping_sent(x->ping, &received);

	out->share = (double)sent / (double)x->spec.count;
	out->left_ns = x->spec.flood ? CMD_LEFT_UNKNOWN : (x->spec.count - sent) * x->spec.every_ns;
	snprintf(out->text, sizeof(out->text),
		 "%s, %" PRIu64 " of %" PRIu64 " sent, %" PRIu64 " answered", r->verb->name, sent,
		 x->spec.count, received);
	return true;
}

/* The stream that a target names, if it names one: -1 if it names ports. */
static int asking_stream(struct cmd_run *r, const struct arg_val *a, int *stream, struct err *e)
{
	uint32_t s0 = a->target.item[0].s0, s1 = a->target.item[0].s1;

	*stream = -1;
	for (unsigned i = 0; i < a->target.n; i++)
		if (a->target.item[i].has_streams)
			*stream = (int)s0;
	if (*stream < 0 || (a->target.n == 1 && s0 == s1))
		return 0;
	return err_at(e, EINVAL, a->col,
		      "%s asks through one stream, and these may be several; one command for each",
		      r->verb->name);
}

int host_asking_port(struct cmd_run *r, const struct arg_val *a, unsigned *port, int *stream,
		     struct err *e)
{
	struct portset ports = {{0}};
	unsigned n = 0;
	int rc = asking_stream(r, a, stream, e);

	if (rc == 0 && (rc = app_ports(app_of(r), &a->target, true, &ports, e)) < 0)
		e->col = a->col;

	for (unsigned i = 0; rc == 0 && i < PORTSET_MAX; i++)
		if (portset_has(&ports, i)) {
			*port = i;
			n++;
		}
	if (rc == 0 && n != 1)
		return err_at(e, EINVAL, a->col,
			      "%s asks from one port, and these are %u; one command for each",
			      r->verb->name, n);
	return rc;
}

int host_asking_every(const struct arg_val *every, uint64_t ns, struct err *e)
{
	if (ns >= HOST_PING_EVERY_MIN_NS && ns <= MOST_NS)
		return 0;
	return err_at(e, ERANGE, every->col,
		      "requests may follow each other after 100us to 1h, like 10ms");
}

static int ping_begin(struct cmd_run *r, const struct arg_val *args, const struct arg_val *every,
		      struct err *e)
{
	struct pinging *x = ping_state(r);
	struct host_ping_spec *s = &x->spec;
	int rc = host_asking_port(r, &args[A_PORT], &s->port, &s->stream, e);

	if (rc < 0)
		return rc;
	memcpy(s->to, args[A_TO].v.raw, sizeof(s->to));
	s->count = args[A_COUNT].given ? args[A_COUNT].v.u : s->flood ? DFLT_FLOOD : DFLT_COUNT;
	s->every_ns = every->given ? every->v.u : DFLT_EVERY_NS;
	rc = host_asking_every(every, s->every_ns, e);
	if (rc < 0)
		return rc;
	if (r->out_mode == OUT_TEXT && !s->flood) {
		x->lines = xcalloc(1, sizeof(*x->lines));
		x->lines->link = s->link;
		s->tell = ping_tell;
		s->arg = x->lines;
	}
	rc = host_ping_start(app_of(r)->ctl, s, &x->ping, e);
	if (rc < 0)
		ping_free(r);
	return rc < 0 ? rc : VERB_PENDING;
}

static int ping_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct host_ping_spec *s = &ping_state(r)->spec;
	const struct arg_val *every = &args[A_PING_EVERY], *flood = &args[A_PING_FLOOD];

	s->flood = flood->given;
	if (args[A_PING_SIZE].given)
		s->size = (unsigned)args[A_PING_SIZE].v.u;
	if (every->given && flood->given)
		return err_at(
			e, EINVAL, flood->col,
			"`flood` asks again as soon as an answer is there, so `every` has no meaning beside it; leave out one of them");
	return ping_begin(r, args, every, e);
}

static int arping_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	ping_state(r)->spec.link = true;
	return ping_begin(r, args, &args[A_LINK_EVERY], e);
}

#define COUNT_MAX 4000000000ull
static const struct arg_spec args_ping[] = {
	{ARG_TARGETS, "port[/stream]"}, {ARG_VALUE, "ADDRESS", 0, {&host_vt_address}},
	{ARG_WORD, "count", ARG_OPT},   {ARG_VALUE, "N", ARG_OPT, {&vt_uint, 1, COUNT_MAX}},
	{ARG_WORD, "size", ARG_OPT},    {ARG_VALUE, "BYTES", ARG_OPT, {&vt_uint, 1, 65535}},
	{ARG_WORD, "every", ARG_OPT},   {ARG_VALUE, "DURATION", ARG_OPT, {&vt_seconds}},
	{ARG_WORD, "flood", ARG_OPT},   {ARG_END},
};
static const struct arg_spec args_arping[] = {
	{ARG_TARGETS, "port[/stream]"},
	{ARG_VALUE, "ADDRESS", 0, {&host_vt_address}},
	{ARG_WORD, "count", ARG_OPT},
	{ARG_VALUE, "N", ARG_OPT, {&vt_uint, 1, COUNT_MAX}},
	{ARG_WORD, "every", ARG_OPT},
	{ARG_VALUE, "DURATION", ARG_OPT, {&vt_seconds}},
	{ARG_END},
};

const struct verb verb_ping = {
	.name = "ping",
	.args = args_ping,
	.run = ping_run,
	.flags = VERB_NO_LOAD,
	.poll = ping_poll,
	.cancel = ping_cancel,
	.progress = ping_progress,
	.help = "Ask a host for echoes, from a port that has an address, and tell how long each took.\n"
		"N (4) ICMP or ICMPv6 echo requests, frames of BYTES (128) with FCS, one each DURATION (1s), go to ADDRESS or, if it\n"
		"is on no link of the port, to its gateway. flood: the next one follows the answer, or comes after 10 ms; N is 1000\n"
		"then, and only the summary is printed. Times are those at which the worker sent the request and got the answer. An\n"
		"answer is waited for for 1 s. Ctrl-C ends it with the summary. Exit code 1: nothing was answered.\n"
		"With a stream they go out in its VLANs; where it has further headers before its last ipv4 or ipv6, as a tunnel or MPLS,\n"
		"behind these, from the source address of the last one.",
};

const struct verb verb_arping = {
	.name = "arping",
	.args = args_arping,
	.run = arping_run,
	.flags = VERB_NO_LOAD,
	.poll = ping_poll,
	.cancel = ping_cancel,
	.progress = ping_progress,
	.help = "Ask a neighbour where it is, by ARP or neighbour solicitation, and tell each answer.\n"
		"N (4) questions for ADDRESS, one each DURATION (1s), go to all on the link of a port that has an address. Two answers\n"
		"to one question, from two MAC addresses, are two hosts with one address. With a stream they are asked in its VLANs.\n"
		"Ctrl-C ends it with the summary. Exit code 1: nothing was answered.",
};
