/* SPDX-License-Identifier: BSD-3-Clause */
/* The part "xstats": the device's own counters of a port, with rates since an earlier reading. */
#include "clock.h"
#include "part.h"
#include "snapshot.h"

#include <stdlib.h>
#include <string.h>

/* no rate is made from a shorter time, although several readers may ask one after the other */
#define SOONEST_S 0.1

/* The counters of one port at one time. */
struct reading {
	/* since_ns: length of the interval of the rates, 0: there are none */
	uint64_t time_ns, since_ns;
	unsigned n;
	struct {
		char *name;
		uint64_t value;
		bool counted, has_rate;
		double per_s;
	} * x;
};

struct xstats_memory {
	unsigned nports;
	struct reading *port;
};

static void xstats_forget(struct reading *r)
{
	for (unsigned i = 0; i < r->n; i++)
		free(r->x[i].name);
	free(r->x);
	*r = (struct reading){0};
}

void snapshot_forget(struct app *app)
{
	struct xstats_memory *m = app->xstats;

	if (m == NULL)
		return;
	for (unsigned i = 0; i < m->nports; i++)
		xstats_forget(&m->port[i]);
	free(m->port);
	free(m);
	app->xstats = NULL;
}

static struct reading *memory_of(struct app *app, unsigned port)
{
	if (app->xstats == NULL) {
		app->xstats = xcalloc(1, sizeof(*app->xstats));
		app->xstats->nports = ctl_nports(app->ctl);
		app->xstats->port = xcalloc(app->xstats->nports, sizeof(*app->xstats->port));
	}
	return &app->xstats->port[port];
}

/* Computes the rates of a reading from an older one. A driver lists its counters in the same order
 * each time. A counter that has gone back was reset, and has no rate. */
static void xstats_rates(const struct reading *old, struct reading *now, double seconds)
{
	for (unsigned i = 0; i < now->n && i < old->n; i++) {
		now->x[i].has_rate = strcmp(old->x[i].name, now->x[i].name) == 0 &&
				     old->x[i].counted && now->x[i].counted &&
				     now->x[i].value >= old->x[i].value;
		if (now->x[i].has_rate)
			now->x[i].per_s = (double)(now->x[i].value - old->x[i].value) / seconds;
	}
}

static void read_into(const json_t *xstats, uint64_t time_ns, struct reading *out)
{
	json_t *all = (json_t *)(uintptr_t)xstats, *value;
	const char *name;

	*out = (struct reading){.time_ns = time_ns,
				.x = xcalloc(json_object_size(xstats) + 1, sizeof(*out->x))};
	json_object_foreach(all, name, value) {
		out->x[out->n].name = xstrdup(name);
		out->x[out->n].value = (uint64_t)json_integer_value(value);
		out->x[out->n++].counted = json_is_integer(value);
	}
}

static json_t *values_of(const struct reading *now, const struct reading *rated)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < now->n; i++) {
		bool has = i < rated->n && rated->x[i].has_rate &&
			   strcmp(rated->x[i].name, now->x[i].name) == 0;
		json_t *o = json_object();
		json_object_set_new(o, "name", json_string(now->x[i].name));
		json_object_set_new(o, "value",
				    now->x[i].counted ? json_integer((json_int_t)now->x[i].value)
						      : json_null());
		json_object_set_new(o, "per_s", has ? json_real(rated->x[i].per_s) : json_null());
		json_array_append_new(list, o);
	}
	return list;
}

/* The values of now, with rates. If the reading that is kept is old enough, the rates are made from
 * it and the new reading is kept in its place. Else the rates are those of the reading that is
 * kept. */
static json_t *xstats_take(struct reading *kept, const json_t *xstats, uint64_t time_ns)
{
	uint64_t passed_ns = time_ns - kept->time_ns;
	double seconds = (double)passed_ns / 1e9;
	struct reading now;

	read_into(xstats, time_ns, &now);
	bool old_enough = kept->time_ns == 0 || seconds >= SOONEST_S;
	if (old_enough && kept->time_ns != 0) {
		xstats_rates(kept, &now, seconds);
		now.since_ns = passed_ns;
	}
	json_t *list = values_of(&now, old_enough ? &now : kept);
	if (old_enough) {
		xstats_forget(kept);
		*kept = now;
	} else {
		xstats_forget(&now);
	}
	return list;
}

static int xstats_add(struct app *app, const struct snap *snap, const struct part_arg *arg,
		      json_t *doc, struct err *e)
{
	struct portset one = {0};
	struct reading *kept = memory_of(app, arg->port);

	(void)snap;
	(void)e;
	portset_add(&one, arg->port);
	json_t *all = ctl_xstats_json(app->ctl, &one),
	       *port = json_array_get(json_object_get(all, "ports"), 0), *o = json_object();
	uint64_t now_ns = clock_raw_ns();
	json_object_set_new(o, "port", json_integer(arg->port));
	json_object_set_new(o, "name", json_string(ctl_port_name(app->ctl, arg->port)));
	json_object_set_new(o, "values",
			    port != NULL
				    ? xstats_take(kept, json_object_get(port, "xstats"), now_ns)
				    : json_array());
	json_object_set_new(o, "interval_ns",
			    kept->since_ns != 0 ? json_integer((json_int_t)kept->since_ns)
						: json_null());
	json_object_set_new(doc, "xstats", o);
	json_decref(all);
	return 0;
}

const struct snap_part part_xstats = {.name = "xstats", .takes = PART_PORT, .add = xstats_add};
