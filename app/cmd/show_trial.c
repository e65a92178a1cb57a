/* SPDX-License-Identifier: BSD-3-Clause */
/* show trial: prints the result of the last trial again, and the limits by which it was judged. */
#include "show.h"

static const struct out_col limit_cols[] = {
	{"rate", "rate", OF_STR},
	{"asked_duration_ns", "for", OF_NS},
	{"limits.probes", "probes", OF_STR},
	{"limits.learn", "learn", OF_COUNT},
	{"limits.learn_rate", "learn-rate", OF_STR},
	{"limits.learn_wait_ns", "learn-wait", OF_NS},
	{"limits.drain_ns", "drain", OF_NS},
	{"limits.drain_min_ns", "drain-min", OF_NS},
	{"limits.drain_max_ns", "drain-max", OF_NS},
	{"limits.settle_ns", "settle", OF_NS},
	{"limits.overtime_ns", "overtime", OF_NS},
	{"limits.max_clock_ppm", "max-clock, ppm", OF_STR},
	{"limits.max_wait_share", "max-wait, share", OF_STR},
	{"limits.max_stall_ns", "max-stall", OF_NS},
	{"limits.max_short_share", "max-short, share", OF_STR},
	{"limits.max_rate_error_ppm", "max-rate-error, ppm", OF_STR},
	{"limits.resolution_ns", "resolution", OF_NS},
};
static const struct out_view limit_view = {.rows = "settings",
					   .cols = limit_cols,
					   .ncols = ARRAY_SIZE(limit_cols),
					   .transpose = true};

int show_trial(struct cmd_run *r, const struct show_sel *sel, struct err *e)
{
	json_t *trial = app_of(r)->trial, *doc = show_doc("trial");

	(void)sel;
	(void)e;
	json_object_set(doc, "trial", trial != NULL ? trial : json_null());
	cmd_result(r, doc);
	if (r->out_mode == OUT_JSON) {
		out_write(OUT_JSON, doc, NULL, r->out);
	} else if (trial == NULL) {
		sbuf_add(r->out_mode == OUT_TEXT ? r->out : r->note, "no trial has run\n");
	} else {
		trial_print(r, trial);
		if (r->out_mode == OUT_TEXT) {
			json_t *settings = json_pack("{s:[O]}", "settings", trial);
			out_write(OUT_TEXT, settings, &limit_view, r->out);
			json_decref(settings);
		}
	}
	json_decref(doc);
	return 0;
}
