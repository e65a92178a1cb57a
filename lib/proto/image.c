/* SPDX-License-Identifier: BSD-3-Clause */
/* The defaults of all protocols as bytes. The texts in the table are parsed once, and frames are
 * built from what is kept here. */
#include "proto.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct image {
	const struct proto *proto;
	uint8_t (*dflt)[VT_FIELD_BYTES]; /* by field */
	struct hexbytes **bytes;         /* by field, NULL: none */
	uint8_t *fixed;
	uint8_t *section[PROTO_MAX_SECTIONS];
};

static struct image *images;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void parse_default(const struct field *f, uint8_t v[VT_FIELD_BYTES])
{
	struct vspec spec;

	memset(v, 0, VT_FIELD_BYTES);
	proto_vspec(f, &spec);
	if (f->dflt != NULL && f->kind != FIELD_BYTES)
		spec.type->parse(&spec, f->dflt, v, NULL);
}

static struct hexbytes *parse_bytes(const struct field *f)
{
	struct hexbytes *b = xcalloc(1, HEXBYTES_SIZE), *copy = NULL;
	struct vspec spec;

	proto_vspec(f, &spec);
	if (f->dflt != NULL && spec.type->parse(&spec, f->dflt, b, NULL) == 0)
		copy = hexbytes_copy(b);
	free(b);
	return copy;
}

/* Writes the defaults of a header or of one of its sections. */
static void image_draw(const struct proto *p, const struct section *section, uint8_t *out)
{
	uint8_t v[VT_FIELD_BYTES];

	memset(out, 0, section != NULL ? section->len : p->len);
	if (section != NULL)
		memcpy(out, section->head, section->head_len);
	for (const struct field *f = p->fields; f->name != NULL; f++) {
		if (f->section != section || f->dflt == NULL || f->bits == 0 ||
		    f->when.field != NULL ||
		    (section != NULL && f->bit + f->bits > section->len * 8))
			continue;
		parse_default(f, v);
		proto_put(f, out, v);
	}
}

static void image_fill(struct image *im, const struct proto *p)
{
	unsigned n = 0, k = 0;

	while (p->fields[n].name != NULL)
		n++;
	im->dflt = xcalloc(n + 1, sizeof(*im->dflt));
	im->bytes = xcalloc(n + 1, sizeof(struct hexbytes *));
	for (unsigned i = 0; i < n; i++) {
		parse_default(&p->fields[i], im->dflt[i]);
		if (p->fields[i].kind == FIELD_BYTES)
			im->bytes[i] = parse_bytes(&p->fields[i]);
	}
	im->fixed = xcalloc(1, p->len + 1u);
	image_draw(p, NULL, im->fixed);
	for (const struct section *section = p->sections;
	     section != NULL && section->name != NULL && k < PROTO_MAX_SECTIONS; section++) {
		im->section[k] = xcalloc(1, section->len + 1u);
		image_draw(p, section, im->section[k++]);
	}
	im->proto = p;
}

/* Makes the images of all protocols. They are kept until the process ends, as the table is. */
static void fill_all(void)
{
	unsigned n = 0;

	while (proto_table[n] != NULL)
		n++;
	images = xcalloc(n + 1, sizeof(*images));
	for (unsigned i = 0; i < n; i++)
		image_fill(&images[i], proto_table[i]);
}

/* The image of a protocol; NULL if it is not in the table. */
static const struct image *image_of(const struct proto *p)
{
	pthread_once(&once, fill_all);
	for (const struct image *im = images; im->proto != NULL; im++)
		if (im->proto == p)
			return im;
	return NULL;
}

void proto_default(const struct proto *p, const struct field *f, uint8_t v[VT_FIELD_BYTES])
{
	const struct image *im = image_of(p);

	if (im != NULL)
		memcpy(v, im->dflt[f - p->fields], VT_FIELD_BYTES);
	else
		parse_default(f, v);
}

const struct hexbytes *proto_default_bytes(const struct proto *p, const struct field *f)
{
	const struct image *im = image_of(p);

	return im != NULL ? im->bytes[f - p->fields] : NULL;
}

void proto_image(const struct proto *p, const struct section *section, uint8_t *out)
{
	const struct image *im = image_of(p);

	if (im == NULL)
		image_draw(p, section, out);
	else if (section == NULL)
		memcpy(out, im->fixed, p->len);
	else
		memcpy(out, im->section[section - p->sections], section->len);
}
