/* SPDX-License-Identifier: BSD-3-Clause */
/* The part `slots` of snapshots: slots of Pktgen's sequence. Slot N is stream N + 1 of the port. */
#include "part/part_brief.h"
#include "pktgen.h"

#define WINDOW 64 /* slots, unless the reader says how many */

static json_t *one_slot(struct app *app, unsigned port, unsigned stream,
			const struct stream_cfg *cfg)
{
	json_t *o = json_object();

	json_object_set_new(o, "slot", json_integer(stream - 1));
	json_object_set_new(o, "stream", json_integer(stream));
	json_object_set_new(o, "enabled", json_boolean(cfg->enabled));
	brief_stream(app, port, stream, o);
	return o;
}

static int part_slots_add(struct app *app, const struct snap *snap, const struct part_arg *arg,
			  json_t *doc, struct err *e)
{
	unsigned ids = ctl_nstreams(app->ctl, arg->port), n = arg->n != 0 ? arg->n : WINDOW,
		 first = arg->first, total = 0, before = 0;
	json_t *list = json_array();

	(void)snap;
	(void)e;
	if (arg->around)
		first = part_first_around(app->ctl, arg->port, arg->stream, n);
	else if (first + n > ids)
		first = ids > n ? ids - n : 1;
	for (unsigned s = 1; s < ids; s++) {
		const struct stream_cfg *cfg = ctl_stream_cfg(app->ctl, arg->port, s);
		if (cfg == NULL)
			continue;
		total++;
		before += s < first;
		if (s >= first && json_array_size(list) < n)
			json_array_append_new(list, one_slot(app, arg->port, s, cfg));
	}
	json_object_set_new(doc, "slots", list);
	json_object_set_new(doc, "slots_total", json_integer(total));
	json_object_set_new(doc, "slots_before", json_integer(before));
	return 0;
}

const struct snap_part part_slots = {.name = "slots", .takes = PART_WINDOW, .add = part_slots_add};
