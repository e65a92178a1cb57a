/* SPDX-License-Identifier: BSD-3-Clause */
/* The work "probe" as the program sees it: its settings, verbs and parts of snapshots. */
#include "face.h"
#include "probe_app.h"

static const struct set_chunk rows[] = {{250, probe_tester_rows},
					{500, probe_port_rows},
					{750, probe_stream_rows},
					{0}};

static const struct verb_row verbs[] = {
	{220, &verb_calibrate},
	{420, &verb_show_latency},
	{420, &verb_latency_save},
	{0},
};

static const struct part_row parts[] = {{400, &part_latency}, {0}};

/* The line of `show plan` that says how much memory receiving probes takes. */
static void plan_note(const json_t *plan, struct sbuf *note)
{
	static const char *const keys[] = {"memory_bytes", "limit_bytes",      "rx_queues",
					   "table_bytes",  "merge_most_bytes", "merge_bytes",
					   "window"};
	const json_t *p = json_object_get(plan, "probes");
	long long v[ARRAY_SIZE(keys)];

	if (p == NULL)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		v[i] = json_integer_value(json_object_get(p, keys[i]));
	sbuf_addf(
		note,
		"probes: %lld bytes (%.1f MB of %.0f MB allowed) on %lld Rx queues: %.1f MB for tables",
		v[0], (double)v[0] / 1e6, (double)v[1] / 1e6, v[2], (double)v[3] / 1e6);
	if (v[4] > 0)
		sbuf_addf(note,
			  ", up to %.1f MB where streams come in on several queues (now %.1f MB)",
			  (double)v[4] / 1e6, (double)v[5] / 1e6);
	sbuf_addf(note, "; windows of %lld numbers\n", v[6]);
}

const struct face face_probe = {
	.rows = rows,
	.verbs = verbs,
	.parts = parts,
	.plan_note = plan_note,
	.begin = probe_bias_load,
	.turns = "latsampler",
	.turn = probe_sampler_turn,
};
