/* SPDX-License-Identifier: BSD-3-Clause */
/* The work "flows" as the program sees it. */
#include "face.h"
#include "flows_app.h"
#include "flows_face.h"

static const struct set_chunk rows[] = {{790, flows_rows}, {791, .add = flows_tuple_rows}, {0}};

static const struct verb_row verbs[] = {{404, &verb_show_flows},
					{405, &verb_show_connections},
					{0}};

static const struct part_row parts[] = {{205, &part_flows},       {205, &part_flows_by_dst},
					{205, &part_flow_counts}, {205, &part_flow_strays},
					{205, &part_flow},        {0}};

/* The lines of `show plan` that say why workers hand over to each other. */
static void plan_note(const json_t *plan, struct sbuf *note)
{
	json_t *workers = json_object_get(plan, "workers"), *worker, *task;
	json_int_t said = -1;
	size_t i, k;

	json_array_foreach(workers, i, worker) {
		json_array_foreach(json_object_get(worker, "tasks"), k, task) {
			const char *why = json_string_value(json_object_get(task, "why"));
			json_int_t port = json_integer_value(json_object_get(task, "port"));
			if (why == NULL || json_object_get(task, "steering") == NULL ||
			    port <= said)
				continue;
			said = port;
			sbuf_addf(
				note,
				"port %lld: its queues hand over to each other what is another's, since nobody can tell to which of "
				"them answers come: %s\n",
				(long long)port, why);
		}
	}
}

/* The headers of flows in `show plan`. */
static const struct out_col plan_cols[] = {
	{"port", "port", OF_COUNT},
	{"stream", "stream", OF_COUNT},
	{"role", "role", OF_STR},
	{"stack", "stack", OF_STR, .width = 48},
	{"outer_bytes", "outer", OF_COUNT},
	{"mss", "mss", OF_COUNT},
	{"paths", "paths", OF_COUNT},
	{"networks", "networks", OF_COUNT},
	{"varies", "varies", OF_STR, .width = 60},
	{"replies", "replies", OF_STR, .width = 60},
};
static const struct out_view plan_view = {.rows = "flows",
					  .cols = plan_cols,
					  .ncols = ARRAY_SIZE(plan_cols)};

const struct face face_flows = {.rows = rows,
				.verbs = verbs,
				.parts = parts,
				.field_default = flows_field_default,
				.idle_row = flows_idle,
				.loads = flows_loads,
				.plan_note = plan_note,
				.plan_view = &plan_view,
				.interval = flows_interval,
				.arm = &flows_arm_port};
