/* SPDX-License-Identifier: BSD-3-Clause */
/* What `show plan` says of the headers of flows: their stack, how many different ones there are, by
 * what they differ, and what is another value in answers. */
#include <stdlib.h>

#include "flows_ctl.h"

/* A field and its value as they are set: "gtpu.teid 1..9". */
static json_t *about_value(const struct frame_val *v)
{
	struct sbuf text = {0};
	struct vspec one;

	frame_field_name(v->proto, v->nth > FRAME_REPLY ? v->nth - (unsigned)FRAME_REPLY : v->nth,
			 v->field, &text);
	sbuf_addc(&text, ' ');
	proto_vspec(v->field, &one);
	if (v->vary != NULL) {
		struct vary_val *val = xcalloc(1, sizeof(*val));
		val->v = *v->vary;
		vt_vary.print(&(struct vspec){.type = &vt_vary, .of = &one}, val, &text);
		free(val);
	} else {
		one.type->print(&one, v->bytes != NULL ? (const void *)v->bytes : v->v, &text);
	}
	json_t *o = json_string(sbuf_str(&text));
	sbuf_free(&text);
	return o;
}

json_t *flows_about(const struct frame_spec *spec)
{
	const struct frame_stack *st = &spec->stack;
	json_t *varies = json_array(), *replies = json_array();
	struct sbuf stack = {0};

	for (unsigned h = 0; h < st->n; h++) {
		const struct proto *p = st->hdr[h];
		unsigned nth = frame_stack_nth(st, h);
		for (const struct field *x = p->fields; x->name != NULL; x++) {
			const struct frame_val *v = frame_vals_find(&spec->vals, p, nth, x),
					       *back = frame_vals_find(&spec->vals, p,
								       FRAME_REPLY + nth, x);
			if (v != NULL && v->vary != NULL)
				json_array_append_new(varies, about_value(v));
			if (back != NULL)
				json_array_append_new(replies, about_value(back));
		}
	}
	frame_stack_print(st, &stack);
	json_t *o = json_pack("{s:s, s:o, s:o}", "stack", sbuf_str(&stack), "varies", varies,
			      "replies", replies);
	sbuf_free(&stack);
	return o;
}

static json_t *about_flow(const struct ctl_port *cp, const struct flows_one *f)
{
	const struct flows_design *d = f->ver->design;
	json_t *o = json_pack("{s:s, s:i, s:i, s:s, s:I, s:I, s:I, s:I}", "kind", "flow", "port",
			      (int)cp->p.id, "stream", (int)f->id, "role",
			      d->client ? "client" : "server", "outer_bytes",
			      (json_int_t)d->path[0].l3, "paths", (json_int_t)d->npath, "networks",
			      (json_int_t)d->idents->n, "mss", (json_int_t)d->mss);

	json_object_update(o, d->about);
	return o;
}

void flows_plan_json(const struct ctl *c, json_t *doc)
{
	json_t *flows = json_array();

	for (unsigned i = 0; i < c->nports; i++) {
		size_t first = json_array_size(flows);
		for (const struct flows_one *f = flows_of(c->port[i])->first; f != NULL;
		     f = f->next) {
			size_t at = first;
			if (f->ver == NULL)
				continue;
			while (at < json_array_size(flows) &&
			       json_integer_value(json_object_get(json_array_get(flows, at),
								  "stream")) < (json_int_t)f->id)
				at++;
			json_array_insert_new(flows, at, about_flow(c->port[i], f));
		}
	}
	if (json_array_size(flows) > 0)
		json_object_set_new(doc, "flows", flows);
	else
		json_decref(flows);
}
