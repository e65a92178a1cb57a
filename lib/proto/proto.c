/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of protocols and questions to it. */
#include "proto.h"

#include <string.h>

#define PROTO(name) extern const struct proto proto_##name;
#include "proto_list.h"
#undef PROTO

#define PROTO(name) &proto_##name,
const struct proto *const proto_table[] = {
#include "proto_list.h"
	NULL,
};
#undef PROTO

const struct proto *proto_find(const char *name)
{
	for (const struct proto *const *p = proto_table; *p != NULL; p++)
		if (strcmp((*p)->name, name) == 0)
			return *p;
	return NULL;
}

const struct field *proto_field(const struct proto *p, const char *name)
{
	for (const struct field *f = p->fields; f->name != NULL; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

const struct field *proto_role(const struct proto *p, enum field_role role)
{
	for (const struct field *f = p->fields; f->name != NULL; f++)
		if (f->role == role)
			return f;
	return NULL;
}

const struct bind *proto_bind(const struct proto *lower, const struct proto *upper)
{
	for (const struct bind *b = upper->binds; b->lower != NULL; b++)
		if (strcmp(b->lower, lower->name) == 0)
			return b;
	return NULL;
}

const struct field *proto_bind_field(const struct proto *lower, const struct bind *b)
{
	return b->field != NULL ? proto_field(lower, b->field) : proto_role(lower, ROLE_NEXT);
}

bool cond_has(const struct cond *c, uint64_t v)
{
	for (unsigned i = 0; i < c->n; i++)
		if (v >= c->in[i].lo && v <= c->in[i].hi)
			return true;
	return c->field == NULL;
}

bool proto_of_has(const struct field *f, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = f->of; at != NULL && *at != '\0';
	     at += strcspn(at, ","), at += *at == ',')
		if (strcspn(at, ",") == n && strncmp(at, name, n) == 0)
			return true;
	return false;
}

void proto_vspec(const struct field *f, struct vspec *out)
{
	static const struct vtype *const types[] = {
		[FIELD_UINT] = &vt_fuint, [FIELD_MAC] = &vt_mac,      [FIELD_IP4] = &vt_ip4,
		[FIELD_IP6] = &vt_ip6,    [FIELD_FLAGS] = &vt_fflags, [FIELD_BYTES] = &vt_hex,
	};

	*out = (struct vspec){
		.type = types[f->kind],
		.min = f->min,
		.max = f->max,
		.bits = f->role == ROLE_HERE ? 1 : f->bits,
		.choices = f->choices,
		.hex = f->hex,
	};
}

/* proto_get() and proto_put() go from the least significant bit upwards, in pieces that cross no
 * byte border on either side. */
void proto_get(const struct field *f, const uint8_t *hdr, uint8_t v[VT_FIELD_BYTES])
{
	unsigned end = f->bit + f->bits;

	memset(v, 0, VT_FIELD_BYTES);
	for (unsigned done = 0, k; done < f->bits; done += k) {
		unsigned pos = end - done - 1, low = 7 - pos % 8, vlow = done % 8;
		k = 8 - (low > vlow ? low : vlow);
		if (k > f->bits - done)
			k = f->bits - done;
		unsigned piece = hdr[pos / 8] >> low & ((1u << k) - 1);
		v[VT_FIELD_BYTES - 1 - done / 8] |= (uint8_t)(piece << vlow);
	}
}

void proto_put(const struct field *f, uint8_t *hdr, const uint8_t v[VT_FIELD_BYTES])
{
	unsigned end = f->bit + f->bits;

	for (unsigned done = 0, k; done < f->bits; done += k) {
		unsigned pos = end - done - 1, low = 7 - pos % 8, vlow = done % 8;
		k = 8 - (low > vlow ? low : vlow);
		if (k > f->bits - done)
			k = f->bits - done;
		unsigned mask = (1u << k) - 1;
		unsigned piece = v[VT_FIELD_BYTES - 1 - done / 8] >> vlow & mask;
		hdr[pos / 8] = (uint8_t)((hdr[pos / 8] & ~(mask << low)) | piece << low);
	}
}

uint64_t proto_get_u64(const struct field *f, const uint8_t *hdr)
{
	uint8_t v[VT_FIELD_BYTES];
	uint64_t x = 0;

	proto_get(f, hdr, v);
	for (unsigned i = VT_FIELD_BYTES - 8; i < VT_FIELD_BYTES; i++)
		x = x << 8 | v[i];
	return x;
}

void proto_put_u64(const struct field *f, uint8_t *hdr, uint64_t x)
{
	uint8_t v[VT_FIELD_BYTES] = {0};

	for (unsigned i = VT_FIELD_BYTES; i-- > VT_FIELD_BYTES - 8; x >>= 8)
		v[i] = (uint8_t)x;
	proto_put(f, hdr, v);
}
