/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds the first frame of a stream, and tells what changes in the frames after it. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctl_int.h"
#include "frame_probe.h"

static int spec_of(const struct stream *s, struct frame_spec *spec, struct sizes *sizes,
		   struct err *e)
{
	frame_spec_copy(spec, &s->cfg.frame);
	*sizes = s->cfg.sizes;
	return cfg_overlay_apply(&s->cfg, spec, sizes, e);
}

static const struct stream *stream_frame_find(const struct ctl *c, unsigned port, unsigned stream,
					      struct err *e)
{
	const struct stream *s = port < c->nports ? stream_at(c->port[port], stream) : NULL;

	if (s == NULL)
		err_set(e, EINVAL, "there is no stream %u/%u", port, stream);
	return s;
}

int ctl_stream_spec(struct ctl *c, unsigned port, unsigned stream, struct frame_spec *spec,
		    struct sizes *sizes, struct err *e)
{
	const struct stream *s = stream_frame_find(c, port, stream, e);

	*spec = (struct frame_spec){0};
	return s != NULL ? spec_of(s, spec, sizes, e) : -EINVAL;
}

static uint16_t first_size(const struct sizes *sizes)
{
	static uint16_t size[SIZES_MAX_COUNT]; /* large, and control is one thread */

	sizes_expand(sizes, size);
	return size[0];
}

/* Writes the probe of the stream's first frame into the room that the recipe leaves for it. A
 * recipe holds no probe, because it does not know of which stream it is. */
static void put_probe(const struct ctl_port *cp, const struct stream *s,
		      const struct frame_recipe *recipe, uint8_t *bytes)
{
	if (recipe->probe_off == 0)
		return;
	probe_put(bytes + recipe->probe_off, probe_from(cp->p.id, 0), probe_lo(s->cell, 0, 0));
	for (unsigned i = 0; i < recipe->nsums; i++)
		if (recipe->sum[i].crc32c)
			recipe_sum(&recipe->sum[i], bytes);
}

/* Builds the frame with ordinal 0 and size spec->size: its bytes and the places of its headers in
 * *out, and its compiled form in *recipe. After a failure there is nothing to free. */
static int stream_frame_build(const struct ctl_port *cp, const struct stream *s,
			      const struct frame_spec *spec, struct frame *out,
			      struct frame_recipe *recipe, struct err *e)
{
	int rc = frame_build(spec, &s->cfg.dflt, recipe_max_size(cp, &spec->stack), out, e);

	if (rc == 0)
		rc = stream_compile(cp, &s->cfg, spec, recipe, e);
	if (rc == 0) {
		memcpy(out->bytes, recipe->bytes, recipe->len);
		put_probe(cp, s, recipe, out->bytes);
		out->len = recipe->len;
	}
	return rc;
}

/* Builds the stream's first frame. The caller frees spec, after a failure too, and recipe after a
 * success. An error names the stream. */
static int first_frame(const struct ctl_port *cp, const struct stream *s, struct frame_spec *spec,
		       struct sizes *sizes, struct frame *out, struct frame_recipe *recipe,
		       struct err *e)
{
	struct err why = {.text = ""};
	char name[32];
	int rc = spec_of(s, spec, sizes, &why);

	if (rc == 0) {
		spec->size = first_size(sizes);
		rc = stream_frame_build(cp, s, spec, out, recipe, &why);
	}
	if (rc == 0)
		return 0;
	stream_name(cp, s, name, sizeof(name));
	return err_set(e, -rc, "%s: %s", name, why.text);
}

int stream_frame(const struct ctl_port *cp, const struct stream *s, struct frame *out,
		 struct err *e)
{
	struct frame_spec spec;
	struct sizes sizes;
	struct frame_recipe recipe;
	int rc = first_frame(cp, s, &spec, &sizes, out, &recipe, e);

	if (rc == 0)
		frame_recipe_free(&recipe);
	frame_spec_free(&spec);
	return rc;
}

int ctl_frame(struct ctl *c, unsigned port, unsigned stream, struct frame *out, struct err *e)
{
	const struct stream *s = stream_frame_find(c, port, stream, e);

	return s != NULL ? stream_frame(c->port[port], s, out, e) : -EINVAL;
}

/* Marks what changes with the frame's size: header bytes that differ between this frame and one of
 * `size`, and checksums that reach to the end of the frame. */
static void mark_size(const struct ctl_port *cp, const struct stream *s,
		      const struct frame_spec *spec, uint16_t size,
		      const struct frame_recipe *recipe, uint8_t *follows)
{
	struct frame_spec one = *spec; /* shares what it points to */
	struct frame_recipe other;

	one.size = size;
	if (stream_compile(cp, &s->cfg, &one, &other, NULL) < 0)
		return;
	for (unsigned i = 0; i < recipe->hdr_len && i < other.hdr_len; i++)
		follows[i] |= recipe->bytes[i] ^ other.bytes[i];
	for (unsigned i = 0; i < recipe->nsums && other.len != recipe->len; i++)
		if (recipe->sum[i].to >= recipe->len)
			memset(follows + recipe->sum[i].off, 0xff, recipe->sum[i].crc32c ? 4 : 2);
	frame_recipe_free(&other);
}

static json_t *frame_json(const struct ctl_port *cp, const struct stream *s,
			  const struct frame_spec *spec, const struct sizes *sizes,
			  const struct frame *f, const struct frame_recipe *recipe)
{
	uint8_t *varies = xcalloc(2, recipe->len), *follows = varies + recipe->len;
	json_t *o = frame_dissect(f->bytes, f->len);
	uint16_t min, max;

	sizes_bounds(sizes, &min, &max);
	frame_moves(recipe, varies, follows);
	if (min != max) {
		mark_size(cp, s, spec, min, recipe, follows);
		mark_size(cp, s, spec, max, recipe, follows);
	}
	for (unsigned i = 0; i < recipe->len; i++)
		follows[i] &= (uint8_t)~varies[i];
	json_object_set_new(o, "port", json_integer(cp->p.id));
	json_object_set_new(o, "stream", json_integer(s->cfg.id));
	json_object_set_new(o, "varies", frame_mask_names(f, varies));
	json_object_set_new(o, "bytes", frame_mask_bytes(f, varies));
	json_object_set_new(o, "follows", frame_mask_names(f, follows));
	json_object_set_new(o, "follows_bytes", frame_mask_bytes(f, follows));
	if (min != max)
		json_array_append_new(json_object_get(o, "varies"), json_string("size"));
	free(varies);
	return o;
}

json_t *ctl_frame_json(struct ctl *c, unsigned port, unsigned stream, struct err *e)
{
	const struct stream *s = stream_frame_find(c, port, stream, e);
	struct frame_spec spec;
	struct sizes sizes;
	struct frame_recipe recipe;
	json_t *o = NULL;

	if (s == NULL)
		return NULL;
	struct frame *f = xcalloc(1, sizeof(*f));
	if (first_frame(c->port[port], s, &spec, &sizes, f, &recipe, e) == 0) {
		o = frame_json(c->port[port], s, &spec, &sizes, f, &recipe);
		frame_recipe_free(&recipe);
	}
	frame_spec_free(&spec);
	free(f);
	return o;
}
