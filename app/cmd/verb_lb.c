/* SPDX-License-Identifier: BSD-3-Clause */
/* lb: the figures of a load balancer between a client port and server ports. */
#include "file.h"
#include "lb.h"
#include "verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_NOT_VALID = 4 };

#define S_NS 1000000000ull
#define MOST_NS (24 * 3600 * S_NS)
#define HELD_MOST 100000000
#define HELD_DFLT 1000000
#define HELD_QUICK 50000

/* ---- a list of figures ---- */

/* A word of the list; "elephant" means both of its figures. */
static bool figure_named(const char *text, size_t n, enum lb_figure f)
{
	const char *name = lb_about[f].name;

	return (strlen(name) == n && strncmp(text, name, n) == 0) ||
	       (strncmp(name, "elephant-", 9) == 0 && n == 8 && strncmp(text, name, 8) == 0);
}

static void figures_allowed(const struct vspec *s, struct sbuf *out)
{
	(void)s;
	sbuf_add(out, "pps, bps, elephant, two-way, cps and cc, joined by commas, or all");
}

static int figures_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	uint64_t bits = 0;

	for (const char *p = text;; p++) {
		size_t n = strcspn(p, ",");
		uint64_t got = 0;
		for (unsigned f = 0; f < LB_FIGURES; f++)
			if (figure_named(p, n, (enum lb_figure)f) ||
			    (n == 3 && memcmp(p, "all", 3) == 0))
				got |= 1ull << f;
		if (got == 0)
			return vspec_fail(s, EINVAL, (int)(p - text) + 1, e, text,
					  "has \"%.*s\", which is no figure", (int)n, p);
		bits |= got;
		p += n;
		if (*p == '\0')
			break;
	}
	memcpy(out, &bits, sizeof(bits));
	return 0;
}

static void figures_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	uint64_t bits;
	bool any = false;

	(void)s;
	memcpy(&bits, v, sizeof(bits));
	for (unsigned f = 0; f < LB_FIGURES; f++)
		if (bits >> f & 1) {
			sbuf_addf(out, "%s%s", any ? "," : "", lb_about[f].name);
			any = true;
		}
}

static const struct vtype vt_figures = {
	.name = "figures",
	.syntax = "FIGURE[,FIGURE...]",
	.size = sizeof(uint64_t),
	.parse = figures_parse,
	.print = figures_print,
	.allowed = figures_allowed,
};

/* ---- the verb ---- */

enum {
	A_CLIENT,
	A_SERVERS = 2,
	A_FIGURES = 4,
	A_FOR = 6,
	A_REPEAT = 8,
	A_LOSS = 10,
	A_SIZE = 12,
	A_TIMEOUT = 14,
	A_DEVICE = 16,
	A_HTML = 18,
	A_MOST = 20,
	A_QUICK,
	A_TCP,
};

static const struct arg_spec args_lb[] = {
	{ARG_TARGETS, "client"},
	{ARG_WORD, "to"},
	{ARG_TARGETS, "servers"},
	{ARG_WORD, "figures", ARG_OPT | ARG_MIXED},
	{ARG_VALUE, "FIGURES", ARG_OPT, {&vt_figures}},
	{ARG_WORD, "for", ARG_OPT | ARG_MIXED},
	{ARG_VALUE, "DURATION", ARG_OPT, {&vt_seconds}},
	{ARG_WORD, "repeat", ARG_OPT | ARG_MIXED},
	{ARG_VALUE, "N", ARG_OPT, {.type = &vt_uint, .min = 1, .max = LB_REPEATS}},
	{ARG_WORD, "loss", ARG_OPT | ARG_MIXED},
	{ARG_VALUE, "SHARE", ARG_OPT, {&vt_share}},
	{ARG_WORD, "size", ARG_OPT | ARG_MIXED},
	{ARG_VALUE, "BYTES", ARG_OPT, {.type = &vt_uint, .min = 64, .max = 16384}},
	{ARG_WORD, "device-timeout", ARG_OPT | ARG_MIXED},
	{ARG_VALUE, "TIME", ARG_OPT, {&vt_seconds}},
	{ARG_WORD, "device-cpu", ARG_OPT | ARG_MIXED},
	{ARG_VALUE, "WHOSE", ARG_OPT, {&vt_text, .min = 1, .max = 255}},
	{ARG_WORD, "html", ARG_OPT | ARG_MIXED},
	{ARG_FILE, "FILE", ARG_OPT},
	{ARG_WORD, "connections", ARG_OPT | ARG_MIXED},
	{ARG_VALUE, "MOST", ARG_OPT, {.type = &vt_uint, .min = 1, .max = HELD_MOST}},
	{ARG_WORD, "quick", ARG_OPT | ARG_MIXED},
	{ARG_WORD, "tcp", ARG_OPT | ARG_MIXED},
	{ARG_END},
};

struct lb_state {
	struct lb_run *run;
	char *html; /* file; NULL: none is written */
};
_Static_assert(sizeof(struct lb_state) <= VERB_STATE_BYTES, "state of a verb");

static struct lb_state *lb_state_of(struct cmd_run *r)
{
	return (struct lb_state *)r->state;
}

static void lb_forget(struct cmd_run *r)
{
	struct lb_state *s = lb_state_of(r);

	lb_run_free(r, s->run);
	free(s->html);
	*s = (struct lb_state){0};
}

/* Prints what is measured, writes the page and sets the exit code. */
static int lb_print(struct cmd_run *r, bool ended, struct err *e)
{
	struct lb_state *s = lb_state_of(r);
	unsigned n;
	const struct lb_point *p = lb_run_points(s->run, &n);
	if (ended)
		lb_run_end(s->run);
	json_t *doc = lb_json(s->run, ended);
	int rc = 0;

	for (unsigned i = 0; i < n; i++)
		if (!p[i].skipped && p[i].median <= 0 && p[i].state != CAPACITY_NONE)
			r->exit_code = EXIT_NOT_VALID;
	verb_out(r, r->out_mode, doc, &lb_view);
	if (r->out_mode == OUT_TEXT) {
		sbuf_addc(r->out, '\n');
		lb_words(doc, r->out);
	}
	if (s->html != NULL) {
		struct sbuf page = {0};
		lb_page(doc, &page);
		rc = file_create(s->html, sbuf_str(&page), page.len, e);
		sbuf_free(&page);
	}
	json_decref(doc);
	return rc;
}

static bool lb_any(struct cmd_run *r)
{
	unsigned n;
	const struct lb_point *p = lb_run_points(lb_state_of(r)->run, &n);

	for (unsigned i = 0; i < n; i++)
		if (p[i].ntrials > 0)
			return true;
	return false;
}

static int lb_poll(struct cmd_run *r, struct err *e)
{
	struct lb_state *s = lb_state_of(r);
	int rc = lb_run_poll(r, s->run, e);

	if (rc == 0)
		return VERB_PENDING;
	if (rc > 0) {
		rc = lb_print(r, false, e);
	} else if (lb_any(r)) {
		/* what is measured has taken its time and is not thrown away */
		struct err file = {.text = ""};
		lb_print(r, true, &file);
	}
	lb_forget(r);
	return rc;
}

/* Somebody has ended it: what is found is told all the same. */
static void lb_cancel(struct cmd_run *r)
{
	struct err file = {.text = ""};

	if (lb_any(r) && lb_print(r, true, &file) < 0)
		sbuf_addf(r->note, "lb: %s\n", file.text);
	lb_forget(r);
}

static bool lb_tells(const struct cmd_run *r, struct cmd_progress *out)
{
	const struct lb_state *s = (const struct lb_state *)r->state;

	lb_run_tells(s->run, out);
	return true;
}

/* Says how long it will take, before it begins. */
static void lb_announce(struct cmd_run *r)
{
	const struct lb_ask *ask = lb_run_ask(lb_state_of(r)->run);
	struct sbuf most = {0}, likely = {0};
	struct cmd_progress p = {.text = ""};
	unsigned n, trials = lb_run_most(ask);

	lb_run_points(lb_state_of(r)->run, &n);
	lb_run_tells(lb_state_of(r)->run, &p);
	cmd_progress_span(p.left_ns, &likely);
	cmd_progress_span((ask->duration_ns + ask->timeout_ns + CAPACITY_NS_AROUND) * trials,
			  &most);
	sbuf_addf(
		r->note,
		"lb: %u figure%s, likely %s, at most about %s and what connections take to open; Ctrl-C ends it, and tells what is found\n",
		n, n == 1 ? "" : "s", sbuf_str(&likely), sbuf_str(&most));
	sbuf_free(&most);
	sbuf_free(&likely);
}

static int lb_ports(struct cmd_run *r, const struct arg_val *args, struct lb_ask *ask,
		    struct err *e)
{
	unsigned n = 0;
	int rc = arg_ports(r, &args[A_CLIENT], &ask->client, e);

	for (unsigned i = 0; rc == 0 && i < PORTSET_MAX; i++)
		if (portset_has(&ask->client, i)) {
			ask->port = i;
			n++;
		}
	if (rc == 0 && n != 1)
		return err_at(
			e, EINVAL, args[A_CLIENT].col,
			"the clients are on one port, and these are %u; servers may be on several",
			n);
	rc = rc < 0 ? rc : arg_ports(r, &args[A_SERVERS], &ask->servers, e);
	if (rc == 0 && portset_has(&ask->servers, ask->port))
		return err_at(
			e, EINVAL, args[A_SERVERS].col,
			"port %u has the clients, and the servers are on others, with the device between them: `lb %u to %u`",
			ask->port, ask->port, ask->port ^ 1);
	return rc;
}

static int lb_time(const struct arg_val *a, const char *what, uint64_t *to, struct err *e)
{
	if (!a->given)
		return 0;
	if (a->v.u == 0 || a->v.u > MOST_NS)
		return err_at(e, ERANGE, a->col,
			      "%s: allowed are durations above 0 up to 24h, like 10s or 200ms",
			      what);
	*to = a->v.u;
	return 0;
}

static int lb_verb(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct app *app = app_of(r);
	bool quick = args[A_QUICK].given;
	struct lb_ask ask = {.duration_ns = quick ? S_NS / 5 : 2 * S_NS,
			     .repeats = quick ? 1 : 3,
			     .size = 500,
			     .held_most = quick ? HELD_QUICK : HELD_DFLT,
			     .cfg = app->tester.trial};
	uint64_t figures = args[A_FIGURES].given ? args[A_FIGURES].v.u : UINT64_MAX;
	int rc = lb_ports(r, args, &ask, e);

	rc = rc < 0 ? rc
		    : lb_time(&args[A_FOR], "a trial of no time, or of days", &ask.duration_ns, e);
	rc = rc < 0 ? rc : lb_time(&args[A_TIMEOUT], "device-timeout", &ask.timeout_ns, e);
	if (rc == 0 && args[A_DEVICE].given) {
		rc = lb_cpu_parse(args[A_DEVICE].text, &ask.device, e);
		if (rc < 0)
			e->col = args[A_DEVICE].col;
	}
	if (rc == 0 && args[A_HTML].given)
		rc = file_creatable(args[A_HTML].text, e);
	if (rc < 0)
		return rc;
	for (unsigned f = 0; f < LB_FIGURES; f++)
		ask.figure[f] = figures >> f & 1;
	ask.tcp = args[A_TCP].given;
	ask.repeats = args[A_REPEAT].given ? (unsigned)args[A_REPEAT].v.u : ask.repeats;
	ask.size = args[A_SIZE].given ? (unsigned)args[A_SIZE].v.u : ask.size;
	ask.held_most = args[A_MOST].given ? args[A_MOST].v.u : ask.held_most;
	ask.max_loss = (double)(args[A_LOSS].given ? args[A_LOSS].v.u : 0) / 1e9;
	rc = lb_run_start(r, &ask, &lb_state_of(r)->run, e);
	if (rc < 0)
		return rc;
	lb_state_of(r)->html = args[A_HTML].given ? xstrdup(args[A_HTML].text) : NULL;
	lb_announce(r);
	return VERB_PENDING;
}

const struct verb verb_lb = {
	.name = "lb",
	.args = args_lb,
	.run = lb_verb,
	.flags = VERB_NO_LOAD,
	.poll = lb_poll,
	.cancel = lb_cancel,
	.progress = lb_tells,
	.help = "Measure the figures of a load balancer between a port with clients and ports with servers.\n"
		"FIGURES are pps (one way, small frames of UDP), bps (one way, frames of BYTES, 500), elephant (one flow, pps and\n"
		"bps), two-way (requests and answers of UDP), cps (TCP connections per second) and cc (connections held); without\n"
		"the word all of them. Each is the highest load with no more than SHARE (0) lost or failed, found N times (3) by\n"
		"trials of DURATION (2s), and has latencies and CPUs at half and at full load. \"at least\" means that the device\n"
		"may carry more. Addresses are those of the ports' flows: `set 0 flow.dst VIP`, `set 1 flow.src SERVERS`.\n"
		"tcp: the device carries no UDP. cc tries up to MOST (1M) connections. quick: one search, trials of 200 ms, up to\n"
		"50k connections. device-timeout: the device may know a connection for TIME, and meets no tuple again within it.\n"
		"device-cpu: pid:N or netns:NAME, where it runs on this machine. FILE gets a page with charts; a file that is\n"
		"there already is refused. All settings are as before when it ends, also by Ctrl-C, which tells what is found.\n"
		"Exit code 4: a figure has no valid number.",
};
