/* SPDX-License-Identifier: BSD-3-Clause */
/* capacity: what a port and each of its queues carries, and what holds it back. */
#include "capacity_doc.h"
#include "capacity_run.h"
#include "examine.h"
#include "file.h"
#include "measuring.h"
#include "verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_NOT_VALID = 4 };

/* ---- a list of numbers ---- */

#define NUMBERS_MAX 16
_Static_assert(NUMBERS_MAX <= CAPACITY_SIZES && NUMBERS_MAX <= CAPACITY_COUNTS, "room for a list");

struct numbers {
	uint16_t n, v[NUMBERS_MAX];
};
_Static_assert(sizeof(struct numbers) <= sizeof(((struct arg_val *)NULL)->v), "an argument");

static void numbers_allowed(const struct vspec *s, struct sbuf *out)
{
	sbuf_addf(out,
		  "up to %d numbers from %" PRIu64 " to %" PRIu64 ", like %" PRIu64 ",%" PRIu64,
		  NUMBERS_MAX, s->min, s->max, s->min, s->min * 2);
}

static int numbers_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	struct numbers list = {0};

	for (const char *p = text;; p++) {
		char *end;
		unsigned long v = strtoul(p, &end, 10);
		int col = (int)(p - text) + 1;
		if (*p < '0' || *p > '9')
			return vspec_fail(s, EINVAL, col, e, text, "has no number here");
		if (v < s->min || v > s->max)
			return vspec_fail(s, ERANGE, col, e, text, "is out of range");
		for (unsigned i = 0; i < list.n; i++)
			if (list.v[i] == v)
				return vspec_fail(s, EINVAL, col, e, text, "has %lu twice", v);
		if (list.n == NUMBERS_MAX)
			return vspec_fail(s, EINVAL, col, e, text, "has too many numbers");
		list.v[list.n++] = (uint16_t)v;
		p = end;
		if (*p == '\0')
			break;
		if (*p != ',')
			return vspec_fail(s, EINVAL, (int)(p - text) + 1, e, text,
					  "has '%c' where a comma is wanted", *p);
	}
	memcpy(out, &list, sizeof(list));
	return 0;
}

static void numbers_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	const struct numbers *list = v;

	(void)s;
	for (unsigned i = 0; i < list->n; i++)
		sbuf_addf(out, "%s%u", i > 0 ? "," : "", list->v[i]);
}

static const struct vtype vt_numbers = {
	.name = "numbers",
	.syntax = "N[,N...]",
	.size = sizeof(struct numbers),
	.parse = numbers_parse,
	.print = numbers_print,
	.allowed = numbers_allowed,
};

/* ---- the verb ---- */

enum {
	A_PORT,
	A_SIZES = 2,
	A_QUEUES = 4,
	A_LOSS = 6,
	A_DIRECTION = 8,
	A_FOR = 10,
	A_SVG = 12,
	A_END = 13
};

struct filling {
	struct measuring base; /* must be first: its run is a struct capacity_run */
	uint64_t duration_ns;
};
_Static_assert(sizeof(struct filling) <= VERB_STATE_BYTES, "state of a verb");

static struct filling *filling_of(struct cmd_run *r)
{
	return (struct filling *)r->state;
}

static bool several_queues(const json_t *doc)
{
	const json_t *p;
	size_t i;

	json_array_foreach(out_get(doc, "capacity.points"), i, p)
		if (json_array_size(json_object_get(p, "each_queue")) > 1)
			return true;
	return false;
}

static int capacity_go_on(struct cmd_run *r, void *run, struct err *e)
{
	(void)r;
	return capacity_run_poll(run, e);
}

static bool capacity_any(const void *run)
{
	return capacity_run_result(run)->now > 0;
}

/* The points that are measured. */
static json_t *capacity_doc(struct cmd_run *r, void *run, bool complete)
{
	struct capacity over = *capacity_run_result(run);

	(void)complete;
	over.npoints = over.now;
	return capacity_json(&over, ctl_port_name(app_of(r)->ctl, over.ask.port[CAPACITY_OWN].port),
			     filling_of(r)->duration_ns);
}

static void capacity_print(struct cmd_run *r, void *run, json_t *doc)
{
	const struct capacity *k = capacity_run_result(run);

	for (unsigned i = 0; i < k->now; i++)
		if (k->point[i].state == CAPACITY_INVALID)
			r->exit_code = EXIT_NOT_VALID;
	verb_out(r, r->out_mode, doc, &capacity_view);
	if (r->out_mode != OUT_TEXT)
		return;
	if (several_queues(doc)) {
		sbuf_addc(r->out, '\n');
		out_write(OUT_TEXT, doc, &capacity_queues_view, r->out);
	}
	sbuf_addc(r->out, '\n');
	capacity_chart(doc, r->out);
	sbuf_addc(r->out, '\n');
	capacity_words(doc, r->out);
}

static void capacity_free_run(struct cmd_run *r, void *run)
{
	(void)r;
	capacity_run_free(run);
}

static const struct measuring_kind capacity_measuring = {
	.name = "capacity",
	.poll = capacity_go_on,
	.any = capacity_any,
	.doc = capacity_doc,
	.print = capacity_print,
	.page = capacity_svg,
	.free = capacity_free_run,
};

static int capacity_poll(struct cmd_run *r, struct err *e)
{
	return measuring_poll(r, &capacity_measuring, e);
}

static void capacity_cancel(struct cmd_run *r)
{
	measuring_drop(r, &capacity_measuring);
}

static bool capacity_tells(const struct cmd_run *r, struct cmd_progress *out)
{
	const struct measuring *m = (const struct measuring *)r->state;
	const struct capacity *k = capacity_run_result(m->run);
	struct capacity_trial t;
	uint64_t gone, all;

	if (!capacity_next(k, &t))
		return false;
	capacity_run_progress(m->run, &gone, &all);
	cmd_progress_time(out, gone, all);
	snprintf(out->text, sizeof(out->text),
		 "capacity, point %u of %u: %s, %u bytes, queues %u, trial %u", k->now + 1,
		 k->npoints, capacity_direction_name(t.direction), t.size, t.queues,
		 k->point[k->now].search.trials + 1);
	return true;
}

static void take_numbers(const struct arg_val *a, const char *dflt, const struct vspec *s,
			 unsigned *n, unsigned *to)
{
	struct numbers list = {0};

	if (a->given)
		memcpy(&list, a->v.raw, sizeof(list));
	else if (dflt != NULL)
		value_default_of(s, dflt, &list);
	for (*n = 0; *n < list.n; (*n)++)
		to[*n] = list.v[*n];
}

static void capacity_announce(struct cmd_run *r)
{
	const struct filling *m = filling_of(r);
	const struct capacity *k = capacity_run_result(m->base.run);
	uint64_t gone, all, each = m->duration_ns + CAPACITY_NS_AROUND;
	char what[64];

	capacity_run_progress(m->base.run, &gone, &all);
	snprintf(what, sizeof(what), "%u point%s", k->npoints, k->npoints == 1 ? "" : "s");
	measuring_announce(r, &capacity_measuring, what, all, each * k->npoints * RATE_SEARCH_MOST,
			   "; Ctrl-C ends it");
}

static double slot_bps(struct app *app, unsigned port)
{
	int node;
	const char *pci = ctl_port_bus(app->ctl, port, &node);

	return pci != NULL ? doctor_pcie_bps(examine_root(), pci) : 0;
}

static const char *const directions[] = {"send", "receive", "both", NULL};
static const char *const directions_about[] = {"what the port sends",
					       "what it receives without more loss than is allowed",
					       "what it carries in both ways at the same time",
					       NULL};

static const struct arg_spec args_capacity[] = {
	{ARG_TARGETS, "port"},
	{ARG_WORD, "sizes", ARG_OPT},
	{ARG_VALUE, "SIZES", ARG_OPT, {.type = &vt_numbers, .min = 64, .max = 16384}},
	{ARG_WORD, "queues", ARG_OPT},
	{ARG_VALUE, "QUEUES", ARG_OPT, {.type = &vt_numbers, .min = 1, .max = CAPACITY_QUEUES}},
	{ARG_WORD, "loss", ARG_OPT},
	{ARG_VALUE, "SHARE", ARG_OPT, {&vt_share}},
	{ARG_WORD, "direction", ARG_OPT},
	{ARG_CHOICE, "WAY", ARG_OPT, {.choices = directions}, directions_about},
	{ARG_WORD, "for", ARG_OPT},
	{ARG_VALUE, "DURATION", ARG_OPT, {&vt_seconds}},
	{ARG_WORD, "svg", ARG_OPT},
	{ARG_FILE, "FILE", ARG_OPT},
	{ARG_END},
};

/* The one port that is named. */
static int capacity_port(struct cmd_run *r, const struct arg_val *a, unsigned *port, struct err *e)
{
	struct portset ports = {{0}};
	unsigned n = 0;
	int rc = arg_ports(r, a, &ports, e);

	for (unsigned i = 0; rc == 0 && i < PORTSET_MAX; i++)
		if (portset_has(&ports, i)) {
			*port = i;
			n++;
		}
	if (rc == 0 && n != 1)
		return err_at(e, EINVAL, a->col,
			      "capacity measures one port, and these are %u; one command for each",
			      n);
	return rc;
}

static int capacity_verb(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct capacity_run *run;
	struct app *app = app_of(r);
	struct capacity_run_spec spec = {.cfg = app->tester.trial,
					 .duration_ns = MEASURING_DFLT_NS};
	int rc = capacity_port(r, &args[A_PORT], &spec.port, e);

	if (rc < 0)
		return rc;
	take_numbers(&args[A_SIZES], "64,512,1518", &args_capacity[A_SIZES].v, &spec.ask.nsizes,
		     spec.ask.size);
	take_numbers(&args[A_QUEUES], NULL, NULL, &spec.ask.ncounts, spec.ask.count);
	spec.ask.max_loss = (double)(args[A_LOSS].given ? args[A_LOSS].v.u : 0) / 1e9;
	if (args[A_DIRECTION].given)
		spec.ask.direction[args[A_DIRECTION].choice] = true;
	rc = measuring_time(&args[A_FOR], &spec.duration_ns, e);
	if (rc < 0)
		return rc;
	if (args[A_SVG].given && (rc = file_creatable(args[A_SVG].text, e)) < 0)
		return rc;
	spec.ask.port[CAPACITY_OWN].pcie_bps = slot_bps(app, spec.port);
	rc = capacity_run_start(app->ctl, &spec, &run, e);
	if (rc < 0)
		return rc;
	filling_of(r)->duration_ns = spec.duration_ns;
	measuring_begin(r, run, &args[A_SVG]);
	capacity_announce(r);
	return VERB_PENDING;
}

const struct verb verb_capacity = {
	.name = "capacity",
	.args = args_capacity,
	.run = capacity_verb,
	.flags = VERB_NO_LOAD,
	.poll = capacity_poll,
	.cancel = capacity_cancel,
	.progress = capacity_tells,
	.help = "Measure what a port and each of its queues carries, and name what holds it back.\n"
		"For each direction, each of SIZES (64,512,1518) and so many of the first Tx queues as QUEUES says (1, 2, 4, up to\n"
		"all), trials find the highest rate: of sending what the device takes, of receiving that at which no more than SHARE (0)\n"
		"of what the partner (0-1, 2-3) sends is lost. Each trial sends for DURATION (1s), and trials that are not valid are\n"
		"repeated. The limit is core, link, PCIe, device, memory or tester; \"at least\" means that the port may carry more.\n"
		"The streams of the ports are sent with plain frames; their sizes are as before when it ends, also by Ctrl-C.\n"
		"FILE gets a chart; a file that is there already is refused. Exit code 4: some points have no valid number.",
};
