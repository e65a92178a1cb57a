/* SPDX-License-Identifier: BSD-3-Clause */
#include "part.h"

/* Adds what every page says at its top and what the counters do not have. */
static int head_part_add(struct app *app, const struct snap *snap, const struct part_arg *arg,
			 json_t *doc, struct err *e)
{
	json_t *head = json_object(), *verdict = json_object_get(app->trial, "verdict");
	struct ctl_progress p;
	struct portset ports;

	(void)snap;
	(void)arg;
	(void)e;
	app_all_ports(app, &ports);
	ctl_progress(app->ctl, &ports, &p);
	bool known = p.sending && p.bounded && p.left_ns != UINT64_MAX;
	json_object_set_new(head, "left_ns",
			    known ? json_integer((json_int_t)p.left_ns) : json_null());
	json_object_set(head, "verdict", verdict != NULL ? verdict : json_null());
	json_object_set_new(doc, "head", head);
	return 0;
}

const struct snap_part part_head = {.name = "head", .add = head_part_add};
