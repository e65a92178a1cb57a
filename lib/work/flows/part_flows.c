/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of snapshots about flows: "flows", all of them as in `show flows`;
 * "flow_counts", their counters by the names of tables; "flow_strays", what they
 * have claimed and was of no connection; "flows_by_dst", their servers as in `show flows by dst`;
 * and "flow:P/S", one with its distributions. */
#include "flows_app.h"
#include "flows_face.h"

static int flow_counts_part_add(struct app *app, const struct snap *snap,
				const struct part_arg *arg, json_t *doc, struct err *e)
{
	(void)snap;
	(void)arg;
	(void)e;
	json_object_set_new(doc, "flow_counts", flows_counts_json(app->ctl));
	return 0;
}

static int flow_strays_part_add(struct app *app, const struct snap *snap,
				const struct part_arg *arg, json_t *doc, struct err *e)
{
	(void)snap;
	(void)arg;
	(void)e;
	json_object_set_new(doc, "flow_strays", flows_strays_json(app->ctl));
	return 0;
}

static int flow_part_add(struct app *app, const struct snap *snap, const struct part_arg *arg,
			 json_t *doc, struct err *e)
{
	json_t *one = flows_one_json(app->ctl, arg->port, arg->stream);

	(void)snap;
	(void)e;
	json_object_set_new(doc, "flow", one != NULL ? one : json_null());
	return 0;
}

const struct snap_part part_flows = {.name = "flows",
				     .takes = PART_ALONE,
				     .show = flows_json,
				     .from = "flows"};
const struct snap_part part_flows_by_dst = {.name = "flows_by_dst",
					    .takes = PART_ALONE,
					    .show = flows_by_dst_json,
					    .from = "servers"};
const struct snap_part part_flow_counts = {.name = "flow_counts",
					   .takes = PART_ALONE,
					   .add = flow_counts_part_add};
const struct snap_part part_flow_strays = {.name = "flow_strays",
					   .takes = PART_ALONE,
					   .add = flow_strays_part_add};
const struct snap_part part_flow = {.name = "flow", .takes = PART_STREAM, .add = flow_part_add};

const char *flows_interval(const struct app *app)
{
	if (flows_any_by_dst(app->ctl))
		return "flows,flows_by_dst";
	return flows_any(app->ctl) ? "flows" : NULL;
}
