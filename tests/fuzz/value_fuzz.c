/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses any text as a value; the first byte says of which type. What parses must print to a text
 * that parses and prints the same. What does not must leave the value alone and name a column
 * inside the text. */
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sizes.h"
#include "vary.h"
#include "workload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const words[] = {"udp", "tcp", "icmp", "icmpv6", NULL};
static const char *const flags[] = {"fin", "syn", "", "psh", "ack", NULL};
static const struct vspec specs[32] = {
	{.type = &vt_bool},
	{.type = &vt_uint},
	{.type = &vt_uint, .min = 1, .max = 512},
	{.type = &vt_rate},
	{.type = &vt_duration},
	{.type = &vt_duration, .min = 1000, .max = 1000000000},
	{.type = &vt_size},
	{.type = &vt_size, .min = 64, .max = 1518},
	{.type = &vt_speed},
	{.type = &vt_enum, .choices = words},
	{.type = &vt_text},
	{.type = &vt_fuint, .bits = 16},
	{.type = &vt_fuint, .bits = 12, .min = 1, .max = 4095},
	{.type = &vt_fuint, .bits = 128},
	{.type = &vt_mac, .bits = 48},
	{.type = &vt_ip4, .bits = 32},
	{.type = &vt_ip6, .bits = 128},
	{.type = &vt_fflags, .bits = 8, .choices = flags},
	{.type = &vt_hex},
	{.type = &vt_hex, .min = 1, .max = 8},
	{.type = &vt_sizes},
	{.type = &vt_sizes, .min = 64, .max = 1518},
	{.type = &vt_vary, .of = &specs[11]},
	{.type = &vt_vary, .of = &specs[12]},
	{.type = &vt_vary, .of = &specs[13]},
	{.type = &vt_vary, .of = &specs[14]},
	{.type = &vt_vary, .of = &specs[15]},
	{.type = &vt_vary, .of = &specs[16]},
	{.type = &vt_vary, .of = &specs[17]},
	{.type = &vt_wl_sizes},
	{.type = &vt_wl_sizes, .min = 8, .max = 1472},
	{.type = &vt_wl_pauses},
	{.type = &vt_per_second},
};

static void demand(bool holds, const char *what, const char *text)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s: \"%s\"\n", what, text);
	abort();
}

static void ignore(void *arg, const char *word)
{
	demand(word[0] != '\0', "an empty completion", arg);
}

/* Checks a function that was printed and read again: it is the same function, and its values are
 * values of the field. */
static void one_function(const struct vspec *s, const struct vary_val *a, const struct vary_val *b,
			 const char *text)
{
	uint8_t field[VT_FIELD_BYTES], again[VT_FIELD_BYTES];
	struct sbuf out = {0};
	vary_u delta;

	demand(vary_equal(&a->v, &b->v) && vary_hash(&a->v) == vary_hash(&b->v), "another function",
	       text);
	uint64_t period = vary_period(&a->v), steps = vary_steps(&a->v, 3, 5, &delta);
	for (uint64_t o = 0; o < 8; o++) {
		vary_u x = vary_at(&a->v, o);
		demand(period == 0 || x == vary_at(&a->v, o + period), "not its period", text);
		demand(o >= steps ||
			       vary_at(&a->v, 3 + 5 * (o + 1)) - vary_at(&a->v, 3 + 5 * o) == delta,
		       "not its step", text);
		vary_store(x, field);
		sbuf_reset(&out);
		s->of->type->print(s->of, field, &out);
		demand(s->of->type->parse(s->of, sbuf_str(&out), again, NULL) == 0,
		       "a value that the field refuses", text);
		demand(memcmp(field, again, sizeof(field)) == 0, "a value that prints as another",
		       text);
	}
	sbuf_free(&out);
}

static void one_value(const struct vspec *s, const char *text)
{
	static _Alignas(16) uint8_t v[sizeof(struct vary_val)], v2[sizeof(v)];
	struct sbuf a = {0}, b = {0};
	struct err e = {.col = -2};

	memset(v, 0x5a, sizeof(v));
	memset(v2, 0x5a, sizeof(v2));
	int rc = s->type->parse(s, text, v, &e);
	demand(rc == s->type->parse(s, text, v2, NULL), "the result depends on the error", text);
	if (rc == 0) {
		s->type->print(s, v, &a);
		demand(s->type->parse(s, sbuf_str(&a), v2, &e) == 0,
		       "the printed value does not parse", text);
		s->type->print(s, v2, &b);
		demand(strcmp(sbuf_str(&a), sbuf_str(&b)) == 0, "printed twice it differs", text);
		if (s->type == &vt_vary)
			one_function(s, (void *)v, (void *)v2, text);
	} else {
		demand(rc == -EINVAL || rc == -ERANGE, "an odd code", text);
		demand(e.col >= 0 && (size_t)e.col <= strlen(text), "the column is outside", text);
		demand(e.text[0] != '\0', "no text", text);
		for (size_t i = 0; i < sizeof(v); i++)
			demand(v[i] == 0x5a, "a refused value was written", text);
	}
	if (s->type->complete != NULL)
		s->type->complete(s, text, ignore, (void *)(uintptr_t)text);
	sbuf_free(&a);
	sbuf_free(&b);
}

#define RANGE "(all|[0-9]+(-[0-9]+)?)"
#define ITEM RANGE "(/((door|lane2)\\.)?" RANGE ")?"

static const char *const kinds[] = {"door", "lane2", NULL};

static void one_target(const char *text)
{
	static regex_t list; /* the grammar of a port list, written without its reader */
	static bool made;
	struct target t, u;
	struct err e = {.col = -2};
	struct sbuf a = {0}, b = {0};

	if (target_parse(text, kinds, &t, &e) == 0) {
		if (!made)
			demand(regcomp(&list, "^" ITEM "(," ITEM ")*$", REG_EXTENDED | REG_NOSUB) ==
				       0,
			       "no grammar", text);
		made = true;
		demand(regexec(&list, text, 0, NULL, 0) == 0, "not of the grammar", text);
		target_print(&t, &a);
		demand(target_parse(a.s, kinds, &u, &e) == 0, "the printed list does not parse",
		       text);
		target_print(&u, &b);
		demand(strcmp(a.s, b.s) == 0, "the printed list differs", text);
	} else {
		demand(e.col >= 0 && (size_t)e.col <= strlen(text), "the column is outside", text);
	}
	sbuf_free(&a);
	sbuf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	char *text = malloc(size);
	if (text == NULL)
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	unsigned which = data[0] % (ARRAY_SIZE(specs) + 1);
	if (which == ARRAY_SIZE(specs))
		one_target(text);
	else
		one_value(&specs[which], text);
	free(text);
	return 0;
}
