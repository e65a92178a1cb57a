/* SPDX-License-Identifier: BSD-3-Clause */
/* The part "latency:PORT" of a snapshot: the document of `show latency` for all ports, with their
 * distributions, but with the streams of that one port only that have `latency on`. */
#include "probe.h"
#include "probe_app.h"

static int part_add(struct app *app, const struct snap *snap, const struct part_arg *arg,
		    json_t *doc, struct err *e)
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

const struct snap_part part_latency = {.name = "latency", .takes = PART_PORT, .add = part_add};
