/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the protocol table as JSON, so that the tests make their cases from what the program
 * knows. */
#include "frame_dump.h"

static const char *const kinds[] = {
	[FIELD_UINT] = "uint", [FIELD_MAC] = "mac",     [FIELD_IP4] = "ip4",
	[FIELD_IP6] = "ip6",   [FIELD_FLAGS] = "flags", [FIELD_BYTES] = "bytes",
};
static const char *const roles[] = {
	[ROLE_PLAIN] = "plain",   [ROLE_LEN] = "len",         [ROLE_SUM_HDR] = "sum_hdr",
	[ROLE_SUM_L4] = "sum_l4", [ROLE_CRC32C] = "crc32c",   [ROLE_NEXT] = "next",
	[ROLE_HLEN] = "hlen",     [ROLE_VERSION] = "version", [ROLE_FRAG] = "frag",
	[ROLE_MORE] = "more",     [ROLE_HAS] = "has",         [ROLE_COUNT] = "count",
	[ROLE_HERE] = "here",
};

static void set_text(json_t *to, const char *key, const char *text)
{
	if (text != NULL)
		json_object_set_new(to, key, json_string(text));
}

/* Sets key to a condition: {"field":name,"in":[[lo,hi], ..]}. */
static void set_cond(json_t *to, const char *key, const struct cond *c)
{
	if (c->field == NULL)
		return;
	json_t *in = json_array();
	for (unsigned i = 0; i < c->n; i++)
		json_array_append_new(in, json_pack("[I,I]", (json_int_t)c->in[i].lo,
						    (json_int_t)c->in[i].hi));
	json_object_set_new(to, key, json_pack("{s:s, s:o}", "field", c->field, "in", in));
}

static json_t *section_json(const struct section *section)
{
	json_t *j = json_pack("{s:s, s:b, s:b}", "name", section->name, "optional",
			      section->optional, "option", section->option);

	set_cond(j, "when", &section->when);
	return j;
}

static json_t *field_json(const struct field *f)
{
	json_t *j = json_pack("{s:s, s:s, s:s, s:i, s:i, s:I, s:I}", "name", f->name, "kind",
			      kinds[f->kind], "role", roles[f->role], "bit", f->bit, "bits",
			      f->bits, "min", (json_int_t)f->min, "max", (json_int_t)f->max);

	set_text(j, "dflt", f->dflt);
	set_text(j, "of", f->of);
	set_cond(j, "when", &f->when);
	if (f->section != NULL)
		json_object_set_new(j, "part", section_json(f->section));
	if (f->choices != NULL) {
		json_t *words = json_array();
		for (const char *const *w = f->choices; *w != NULL; w++)
			json_array_append_new(words, json_string(*w));
		json_object_set_new(j, "choices", words);
	}
	return j;
}

static json_t *bind_json(const struct bind *b)
{
	json_t *j = json_pack("{s:s, s:I, s:b}", "lower", b->lower, "value", (json_int_t)b->value,
			      "is_len", b->is_len);

	set_text(j, "field", b->field);
	set_text(j, "also", b->also);
	return j;
}

static json_t *proto_json(const struct proto *p)
{
	json_t *fields = json_array(), *binds = json_array();

	for (const struct field *f = p->fields; f != NULL && f->name != NULL; f++)
		json_array_append_new(fields, field_json(f));
	for (const struct bind *b = p->binds; b->lower != NULL; b++)
		json_array_append_new(binds, bind_json(b));
	json_t *j = json_pack("{s:s, s:i, s:b, s:b, s:b, s:o, s:o}", "name", p->name, "len", p->len,
			      "starts", p->starts, "is_payload", p->is_payload, "closed", p->closed,
			      "fields", fields, "binds", binds);
	set_cond(j, "closed_when", &p->closed_when);
	return j;
}

json_t *table_json(void)
{
	json_t *protos = json_array();

	for (const struct proto *const *p = proto_table; *p != NULL; p++)
		json_array_append_new(protos, proto_json(*p));
	return json_pack("{s:o}", "protos", protos);
}
