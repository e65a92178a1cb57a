/* SPDX-License-Identifier: BSD-3-Clause */
/* The part `ranges` of snapshots: Pktgen's ranges of one stream, with those that were not given. */
#include "held.h"
#include "out.h"
#include "pktgen.h"

static void put_value(json_t *o, const char *key, const struct held_word *w, bool inc,
		      const uint8_t v[VT_FIELD_BYTES])
{
	struct vspec spec;
	struct sbuf text = {0};
	unsigned choice = v[VT_FIELD_BYTES - 1];

	held_vspec(w, inc, &spec);
	if (spec.type == &vt_enum)
		sbuf_add(&text, spec.choices[choice]);
	/* An increment of an address is shorter as a plain number, which is accepted as well. */
	else if (inc && (spec.type == &vt_mac || spec.type == &vt_ip6) &&
		 vary_load(v) <= UINT32_MAX)
		sbuf_addf(&text, "%u", (unsigned)vary_load(v));
	else
		spec.type->print(&spec, v, &text);
	json_object_set_new(o, key, out_json_text(sbuf_str(&text)));
	sbuf_free(&text);
}

static json_t *one_word(const struct stream_cfg *cfg, unsigned i, const struct frame_stack *stack)
{
	const struct held_word *w = &held_words[i];
	bool four = w->kind == HELD_RANGE || w->kind == HELD_SIZE, given = held_at(cfg, i)->set;
	uint8_t v[4][VT_FIELD_BYTES];
	json_t *o = json_object();

	held_values(cfg, i, v);
	json_object_set_new(o, "name", json_string(w->words));
	json_object_set_new(o, "set", json_boolean(given));
	json_object_set_new(o, "fits", json_boolean(held_fits(i, stack)));
	json_object_set_new(o, "moves",
			    json_boolean(four && vary_load(v[RANGE_INC]) != 0 &&
					 vary_load(v[RANGE_MIN]) != vary_load(v[RANGE_MAX])));
	/* A word with one value that was not given does nothing: the frame keeps its own. */
	if (four || given)
		put_value(o, "start", w, false, v[RANGE_START]);
	if (four) {
		put_value(o, "min", w, false, v[RANGE_MIN]);
		put_value(o, "max", w, false, v[RANGE_MAX]);
		put_value(o, "inc", w, true, v[RANGE_INC]);
	}
	return o;
}

static int part_ranges_add(struct app *app, const struct snap *snap, const struct part_arg *arg,
			   json_t *doc, struct err *e)
{
	/* A shallow copy, which is only read. */
	struct stream_cfg asked = *ctl_stream_cfg(app->ctl, arg->port, arg->stream);
	struct frame_spec spec;
	struct sizes sizes = asked.sizes;
	struct sbuf stack = {0};
	json_t *o = json_object(), *list = json_array();
	bool on = asked.overlay_on;

	(void)snap;
	(void)e;
	/* The frame as it will be when ranges are in use. If they contradict each other it is the
	 * frame as it is now. */
	asked.overlay_on = true;
	frame_spec_copy(&spec, &asked.frame);
	held_apply(&asked, &spec, &sizes, NULL);
	frame_stack_print(&spec.stack, &stack);
	for (unsigned i = 0; i < held_nwords; i++)
		json_array_append_new(list, one_word(&asked, i, &spec.stack));
	json_object_set_new(o, "port", json_integer(arg->port));
	json_object_set_new(o, "stream", json_integer(arg->stream));
	json_object_set_new(o, "on", json_boolean(on));
	json_object_set_new(o, "frame", out_json_text(sbuf_str(&stack)));
	json_object_set_new(o, "words", list);
	json_object_set_new(doc, "ranges", o);
	sbuf_free(&stack);
	frame_spec_free(&spec);
	return 0;
}

const struct snap_part part_ranges = {.name = "ranges",
				      .takes = PART_STREAM,
				      .add = part_ranges_add};
