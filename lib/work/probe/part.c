/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe.h"
#include "probe_app.h"

/* "latency": what `show latency` gives of all ports, with their distributions, and the streams of the port that are measured on their own. */
static int add(struct app *app, const struct snap *snap, const struct part_arg *arg, json_t *doc, struct err *e)
{
	struct portset ports;

	(void)snap;
	(void)e;
	app_all_ports(app, &ports);
	json_t *part = probe_latency_json(app->ctl, &ports, LATENCY_NO_STREAMS | LATENCY_BINS);
	json_object_set_new(part, "streams", probe_streams_json(app->ctl, arg->port));
	json_object_set_new(doc, "latency", part);
	return 0;
}

const struct snap_part part_latency = {.name = "latency", .takes = PART_PORT, .add = add};
