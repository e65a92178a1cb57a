/* SPDX-License-Identifier: BSD-3-Clause */
/* The part `streams` of snapshots: a window of the port's streams, and the fields that they set. */
#include "part/field_text.h"
#include "out.h"
#include "send_app.h"

#include <stdlib.h>
#include <string.h>

#define WINDOW 256 /* streams, unless the reader says how many */

static void part_streams_put(json_t *list, const char *name, const char *text, bool varies)
{
	json_t *o = json_object();

	json_object_set_new(o, "name", json_string(name));
	json_object_set_new(o, "value", out_json_text(text));
	json_object_set_new(o, "varies", json_boolean(varies));
	json_array_append_new(list, o);
}

/* A value of a stream, and the index of its header in the frame. */
struct place {
	int header;
	const struct frame_val *val;
};

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->header != y->header)
		return x->header < y->header ? -1 : 1;
	return x->val->field < y->val->field ? -1 : x->val->field > y->val->field;
}

/* Adds the fields with a value of their own, in the order of the frame. Values of headers that the
 * frame does not have are not sent, and left out. */
static void add_fields(const struct frame_spec *spec, json_t *list)
{
	struct place *at = xcalloc(spec->vals.n + 1, sizeof(*at));
	struct sbuf name = {0}, text = {0};
	unsigned n = 0;

	for (unsigned i = 0; i < spec->vals.n; i++) {
		int h = field_val_header(&spec->stack, &spec->vals.val[i]);
		if (h >= 0)
			at[n++] = (struct place){h, &spec->vals.val[i]};
	}
	qsort(at, n, sizeof(*at), by_place);
	for (unsigned i = 0; i < n; i++) {
		const struct frame_val *v = at[i].val;
		sbuf_reset(&name);
		sbuf_reset(&text);
		frame_field_name(v->proto, v->nth, v->field, &name);
		field_val_text(v, &text);
		part_streams_put(list, sbuf_str(&name), sbuf_str(&text), field_val_varies(v));
	}
	sbuf_free(&name);
	sbuf_free(&text);
	free(at);
}

/* Returns whether what the row sets differs from frame to frame. */
static bool extra_varies(const struct stream_cfg *cfg, const struct setting *row)
{
	if (strncmp(row->name, "rnd.", 4) == 0)
		return cfg->frame.rnd_on &&
		       cfg->frame.rnd[strtoul(row->name + 4, NULL, 10)].rnd != 0;
	return strcmp(row->name, "pattern") == 0 && cfg->frame.fill == FILL_RANDOM;
}

/* Adds the rows that are no fields but change the frame's bytes, where they are set. */
static void add_extras(const struct set_obj *stream, json_t *list)
{
	unsigned n;
	const struct setting *const *rows = set_extra_rows(&n);
	struct sbuf text = {0};

	for (unsigned i = 0; i < n; i++) {
		sbuf_reset(&text);
		if (set_applies(rows[i], stream) && cmd_value_text(rows[i], stream, &text))
			part_streams_put(list, rows[i]->name, sbuf_str(&text),
					 extra_varies(stream->cfg, rows[i]));
	}
	sbuf_free(&text);
}

static json_t *fields_of(struct app *app, unsigned port, unsigned stream)
{
	json_t *list = json_array();
	struct frame_spec spec;
	struct set_obj obj;
	struct sizes sizes;

	/* If ranges contradict each other, the fields are those of the settings; `frame_error` and
	 * `start` say why. */
	if (ctl_stream_spec(app->ctl, port, stream, &spec, &sizes, NULL) == 0)
		add_fields(&spec, list);
	else
		add_fields(&ctl_stream_cfg(app->ctl, port, stream)->frame, list);
	frame_spec_free(&spec);
	if (cmd_object(app->cmd, &scope_stream, port, stream, &obj))
		add_extras(&obj, list);
	return list;
}

static int part_streams_add(struct app *app, const struct snap *snap, const struct part_arg *arg,
			    json_t *doc, struct err *e)
{
	unsigned first = arg->around ? part_first_around(app->ctl, arg->port, arg->stream, arg->n)
				     : arg->first;
	json_t *part = ctl_streams_part_json(app->ctl, arg->port, first,
					     arg->n != 0 ? arg->n : WINDOW),
	       *s;
	size_t i;

	(void)snap;
	(void)e;
	json_array_foreach(json_object_get(part, "streams"), i, s) {
		unsigned id = (unsigned)json_integer_value(json_object_get(s, "stream"));
		json_object_set_new(s, "ranges",
				    json_boolean(
					    ctl_stream_cfg(app->ctl, arg->port, id)->overlay_on));
		if (!arg->around || id == arg->stream)
			json_object_set_new(s, "fields", fields_of(app, arg->port, id));
	}
	json_object_set(doc, "streams", json_object_get(part, "streams"));
	json_object_set(doc, "streams_total", json_object_get(part, "total"));
	json_object_set(doc, "streams_before", json_object_get(part, "before"));
	json_decref(part);
	return 0;
}

const struct snap_part part_streams = {.name = "streams",
				       .takes = PART_WINDOW,
				       .add = part_streams_add};
