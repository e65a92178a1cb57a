/* SPDX-License-Identifier: BSD-3-Clause */
#include "dperf_print.h"

#include <stdlib.h>

#include "event.h"
#include "out.h"
#include "part/part_dperf.h"
#include "snapshot.h"
#include "ui/page_as_dperf.h"

struct dperf_print {
	struct app *app;
	struct dperf_print_opts opts;
	struct app_listener *listener;
	uint64_t seconds;
};

/* The blocks of all roles: of the last second, or the totals. */
static void print_blocks(const struct dperf_print *p, bool total, struct sbuf *out)
{
	struct err e;
	json_t *doc = app_snapshot(p->app, "dperf", &e);
	const json_t *list = json_object_get(doc, "dperf"), *block;
	bool which = json_array_size(list) > 1;
	size_t i;

	json_array_foreach(list, i, block) {
		if (total)
			dperf_block_total(block, which, out);
		else if (json_is_object(json_object_get(block, "second")))
			dperf_block_second(block, p->seconds, which, out);
	}
	json_decref(doc);
}

static void print_event(void *arg, const struct app_event *ev)
{
	struct dperf_print *p = arg;
	struct sbuf out = {0};

	if (ev->kind != APP_EVENT_TICK)
		return;
	if (!p->opts.quiet) {
		print_blocks(p, false, &out);
		if (out.len > 0 && p->opts.clear != NULL)
			p->opts.clear(p->opts.arg);
		if (out.len > 0)
			p->opts.print(p->opts.arg, out.s);
	}
	p->seconds++;
	sbuf_free(&out);
}

struct dperf_print *dperf_print_new(struct app *app, const struct dperf_print_opts *opts)
{
	struct dperf_print *p = xcalloc(1, sizeof(*p));

	*p = (struct dperf_print){.app = app, .opts = *opts};
	/* whoever listens last is told first, and the numbers of the second must be there */
	p->listener = app_listen(app, print_event, p);
	dperf_watch(app);
	return p;
}

/* Whether any port has begun to send: a run that was refused has no totals. */
static bool print_ran(const struct dperf_print *p)
{
	struct err e;
	json_t *doc = app_snapshot(p->app, "stats", &e);
	const json_t *port, *ns;
	bool ran = false;
	size_t i;

	json_array_foreach(json_object_get(doc, "ports"), i, port) {
		ns = out_get(port, "run.duration_ns");
		ran = ran || (json_is_integer(ns) && json_integer_value(ns) > 0);
	}
	json_decref(doc);
	return ran;
}

void dperf_print_end(struct dperf_print *p)
{
	struct sbuf out = {0};

	if (p == NULL || !print_ran(p))
		return;
	sbuf_add(&out, "\n-----------------------\nTest Finished\n-----------------------\n");
	print_blocks(p, true, &out);
	sbuf_add(&out, "-----------------------\n");
	p->opts.print(p->opts.arg, sbuf_str(&out));
	sbuf_free(&out);
}

void dperf_print_free(struct dperf_print *p)
{
	if (p == NULL)
		return;
	app_unlisten(p->listener);
	free(p);
}
