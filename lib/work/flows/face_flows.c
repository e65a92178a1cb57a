/* SPDX-License-Identifier: BSD-3-Clause */
/* The work "flows" as the program sees it. */
#include "face.h"
#include "flows_app.h"
#include "flows_face.h"

static const struct set_chunk rows[] = {{790, flows_rows}, {791, .add = flows_tuple_rows}, {0}};

static const struct show_row shows[] = {
	{205, "flows", "streams that are flows: connections, transactions and how long they took",
	 flows_show, TAKES_STREAMS},
	{0},
};

static const struct verb_row verbs[] = {{405, &verb_show_connections}, {0}};

static const struct part_row parts[] = {{205, &part_flows}, {205, &part_flow}, {0}};

const struct face face_flows = {.rows = rows,
				.shows = shows,
				.verbs = verbs,
				.parts = parts,
				.field_default = flows_field_default,
				.idle_row = flows_idle,
				.loads = flows_loads,
				.interval = flows_interval};
