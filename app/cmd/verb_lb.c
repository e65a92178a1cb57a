/* SPDX-License-Identifier: BSD-3-Clause */
/* lb: the figures of a load balancer between a client port and server ports. */
#include "file.h"
#include "lb.h"
#include "measuring.h"
#include "verbs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { EXIT_NOT_VALID = 4 };

#define S_NS 1000000000ull
#define HELD_MOST 100000000
#define HELD_DFLT 1000000
#define HELD_QUICK 50000

/* ---- a list of figures ---- */

/* The bit behind those of the figures: what the device makes of its servers. */
#define LOOK LB_FIGURES
#define WORDS (LB_FIGURES + 1u)

static const char *word_name(unsigned f)
{
	return f == LOOK ? "servers" : lb_about[f].name;
}

/* A word of the list; "elephant" means both of its figures. */
static bool figure_named(const char *text, size_t n, unsigned f)
{
	const char *name = word_name(f);

	return (strlen(name) == n && strncmp(text, name, n) == 0) ||
	       (strncmp(name, "elephant-", 9) == 0 && n == 8 && strncmp(text, name, 8) == 0);
}

static void figures_allowed(const struct vspec *s, struct sbuf *out)
{
	(void)s;
	sbuf_add(out, "pps, bps, elephant, two-way, cps, cc and servers, joined by commas, or all");
}

static int figures_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	uint64_t bits = 0;

	for (const char *p = text;; p++) {
		size_t n = strcspn(p, ",");
		uint64_t got = 0;
		for (unsigned f = 0; f < WORDS; f++)
			if (figure_named(p, n, f) || (n == 3 && memcmp(p, "all", 3) == 0))
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
	for (unsigned f = 0; f < WORDS; f++)
		if (bits >> f & 1) {
			sbuf_addf(out, "%s%s", any ? "," : "", word_name(f));
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
	A_COUNTS = 22,
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
	{ARG_WORD, "device-cps", ARG_OPT | ARG_MIXED},
	{ARG_VALUE, "CMD", ARG_OPT | ARG_RUNS, {&vt_text, .min = 1, .max = 1000}},
	{ARG_WORD, "quick", ARG_OPT | ARG_MIXED},
	{ARG_WORD, "tcp", ARG_OPT | ARG_MIXED},
	{ARG_END},
};

static struct lb_run *lb_run_of(const struct cmd_run *r)
{
	return ((const struct measuring *)r->state)->run;
}

static int lb_go_on(struct cmd_run *r, void *run, struct err *e)
{
	return lb_run_poll(r, run, e);
}

static bool lb_any(const void *run)
{
	unsigned n;
	const struct lb_point *p = lb_run_points(run, &n);

	for (unsigned i = 0; i < n; i++)
		if (p[i].ntrials > 0)
			return true;
	return lb_run_looked(run);
}

static json_t *lb_doc(struct cmd_run *r, void *run, bool complete)
{
	(void)r;
	if (!complete)
		lb_run_end(run);
	return lb_json(run, !complete);
}

static void lb_print(struct cmd_run *r, void *run, json_t *doc)
{
	unsigned n;
	const struct lb_point *p = lb_run_points(run, &n);

	for (unsigned i = 0; i < n; i++)
		if (!p[i].skipped && p[i].median <= 0 && p[i].state != CAPACITY_NONE)
			r->exit_code = EXIT_NOT_VALID;
	if (n > 0 || r->out_mode != OUT_TEXT)
		verb_out(r, r->out_mode, doc, lb_view(doc));
	else
		cmd_result(r, doc);
	if (r->out_mode != OUT_TEXT)
		return;
	if (json_array_size(out_get(doc, lb_servers_view.rows)) > 0) {
		if (n > 0)
			sbuf_addc(r->out, '\n');
		out_write(OUT_TEXT, doc, &lb_servers_view, r->out);
	}
	sbuf_addc(r->out, '\n');
	lb_words(doc, true, r->out);
}

static void lb_free(struct cmd_run *r, void *run)
{
	lb_run_free(r, run);
}

static const struct measuring_kind lb_measuring = {
	.name = "lb",
	.poll = lb_go_on,
	.any = lb_any,
	.doc = lb_doc,
	.print = lb_print,
	.page = lb_page,
	.free = lb_free,
};

static int lb_poll(struct cmd_run *r, struct err *e)
{
	return measuring_poll(r, &lb_measuring, e);
}

static void lb_cancel(struct cmd_run *r)
{
	measuring_cancel(r, &lb_measuring);
}

static bool lb_tells(const struct cmd_run *r, struct cmd_progress *out)
{
	lb_run_tells(lb_run_of(r), out);
	return true;
}

static void lb_announce(struct cmd_run *r)
{
	const struct lb_ask *ask = lb_run_ask(lb_run_of(r));
	struct cmd_progress p = {.text = ""};
	unsigned n;
	char what[64];

	lb_run_points(lb_run_of(r), &n);
	lb_run_tells(lb_run_of(r), &p);
	if (n == 0)
		snprintf(what, sizeof(what), "the servers");
	else
		snprintf(what, sizeof(what), "%u figure%s%s", n, n == 1 ? "" : "s",
			 ask->look ? " and the servers" : "");
	measuring_announce(
		r, &lb_measuring, what, p.left_ns, lb_run_most_ns(ask),
		" and what connections take that fail; Ctrl-C ends it, and tells what is found");
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

static int lb_timeout(const struct arg_val *a, uint64_t *to, struct err *e)
{
	if (!a->given)
		return 0;
	if (a->v.u == 0 || a->v.u > MEASURING_MOST_NS)
		return err_at(
			e, ERANGE, a->col,
			"device-timeout: allowed are durations above 0 up to 24h, like 60s; without the word nobody cares");
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

	rc = rc < 0 ? rc : measuring_time(&args[A_FOR], &ask.duration_ns, e);
	rc = rc < 0 ? rc : lb_timeout(&args[A_TIMEOUT], &ask.timeout_ns, e);
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
	ask.look = figures >> LOOK & 1;
	ask.tcp = args[A_TCP].given;
	ask.device_cps = args[A_COUNTS].given ? args[A_COUNTS].text : NULL;
	ask.repeats = args[A_REPEAT].given ? (unsigned)args[A_REPEAT].v.u : ask.repeats;
	ask.size = args[A_SIZE].given ? (unsigned)args[A_SIZE].v.u : ask.size;
	ask.held_most = args[A_MOST].given ? args[A_MOST].v.u : ask.held_most;
	ask.max_loss = (double)(args[A_LOSS].given ? args[A_LOSS].v.u : 0) / 1e9;
	struct lb_run *run;
	rc = lb_run_start(r, &ask, &run, e);
	if (rc < 0)
		return rc;
	measuring_begin(r, run, &args[A_HTML]);
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
		"device-cps: CMD is run each second by a shell, and prints how many connections the device has counted so far; a second\n"
		"and third number may tell how many it holds, and how many it has room for, which is a limit of cc then. device-cpu:\n"
		"pid:N or netns:NAME, where it runs on this machine. FILE gets a page with charts; a file that is there already is\n"
		"refused. All settings are as before when it ends, also by Ctrl-C, which tells what is found. Exit code 4: a figure\n"
		"has no valid number.",
};
