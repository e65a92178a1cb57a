/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what is told of the fields and bytes of a frame that change. The frames themselves are the
 * judge. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "frame.h"

#define FRAMES 2000

struct set {
	const char *field, *value;
};

struct made {
	struct frame_spec spec;
	struct frame frame;
	struct frame_recipe recipe;
	uint8_t *varies, *follows, *seen; /* seen has the bits that differ between frames */
};

static void make(struct made *m, const char *stack, const struct set *sets, enum frame_fill fill)
{
	struct err e;

	memset(m, 0, sizeof(*m));
	m->spec.fill = fill;
	m->spec.size = 200;
	assert_int_equal(frame_stack_parse(stack, &m->spec.stack, &e), 0);
	for (; sets->field != NULL; sets++)
		if (frame_vals_parse(&m->spec.vals, sets->field, sets->value, &e) != 0)
			fail_msg("%s %s: %s", sets->field, sets->value, e.text);
}

static void look(struct made *m)
{
	struct err e = {.text = ""};

	if (frame_build(&m->spec, NULL, 1518, &m->frame, &e) != 0 ||
	    frame_compile(&m->spec, NULL, 1518, &m->recipe, &e) != 0)
		fail_msg("%s", e.text);
	m->varies = calloc(1, m->recipe.len);
	m->follows = calloc(1, m->recipe.len);
	m->seen = calloc(1, m->recipe.len);
	frame_moves(&m->recipe, m->varies, m->follows);
	uint8_t *one = calloc(1, m->recipe.len + 4u);
	for (uint64_t o = 0; o < FRAMES; o++) {
		frame_recipe_at(&m->recipe, o, one);
		for (unsigned i = 0; i < m->recipe.len; i++)
			m->seen[i] |= one[i] ^ m->recipe.bytes[i];
	}
	free(one);
}

static void drop(struct made *m)
{
	frame_recipe_free(&m->recipe);
	frame_spec_free(&m->spec);
	free(m->varies);
	free(m->follows);
	free(m->seen);
}

static void names_are(const struct frame *f, const uint8_t *mask, const char *want)
{
	json_t *names = frame_mask_names(f, mask), *name;
	struct sbuf b = {0};
	size_t i;

	json_array_foreach(names, i, name)
		sbuf_addf(&b, "%s%s", i > 0 ? " " : "", json_string_value(name));
	assert_string_equal(sbuf_str(&b), want);
	sbuf_free(&b);
	json_decref(names);
}

/* Checks that every bit that changes is told, that every bit which is told to change does, and that
 * of a checksum which follows some bit does. */
static void is_so(const char *stack, const struct set *sets, enum frame_fill fill,
		  const char *varies, const char *follows)
{
	struct made m;

	make(&m, stack, sets, fill);
	look(&m);
	for (unsigned i = 0; i < m.recipe.len; i++) {
		if ((m.seen[i] & ~(m.varies[i] | m.follows[i])) != 0)
			fail_msg("%s: byte %u changes and is not told", stack, i);
		if ((m.varies[i] & ~m.seen[i]) != 0)
			fail_msg("%s: byte %u is told to change and does not", stack, i);
	}
	for (unsigned c = 0; c < m.recipe.nsums; c++) {
		unsigned off = m.recipe.sum[c].off;
		assert_int_equal((m.seen[off] | m.seen[off + 1]) != 0, m.follows[off] != 0);
	}
	names_are(&m.frame, m.varies, varies);
	names_are(&m.frame, m.follows, follows);
	drop(&m);
}

static void test_names_and_bytes(void **state)
{
	(void)state;
	is_so("eth/ipv4/udp", (struct set[]){{NULL}}, FILL_ABC, "", "");
	is_so("eth/ipv4/udp", (struct set[]){{"udp.dst", "1000..2023"}, {NULL}}, FILL_ABC,
	      "udp.dst", "udp.cksum");
	is_so("eth/ipv4/udp", (struct set[]){{"ipv4.src", "10.0.0.0/25"}, {NULL}}, FILL_ABC,
	      "ipv4.src", "ipv4.cksum udp.cksum");
	is_so("eth/ipv4/tcp",
	      (struct set[]){{"ipv4.ttl", "8,12"},
			     {"eth.src", "02:00:00:00:00:00..02:00:00:00:00:0f"},
			     {NULL}},
	      FILL_ABC, "eth.src ipv4.ttl", "ipv4.cksum");
	is_so("eth/ipv4/udp", (struct set[]){{"ipv4.dst", "10.0.0.0..10.0.15.0 step 256"}, {NULL}},
	      FILL_ABC, "ipv4.dst", "ipv4.cksum udp.cksum");
	is_so("eth/ipv4/udp",
	      (struct set[]){{"udp.src", "0x1200 mask 0xf0"}, {"udp.cksum", "0"}, {NULL}}, FILL_ABC,
	      "udp.src", "");
	is_so("eth/ipv4/udp", (struct set[]){{"udp.src", "7..7"}, {NULL}}, FILL_ABC, "", "");
	is_so("eth/ipv4/udp", (struct set[]){{NULL}}, FILL_RANDOM, "payload", "udp.cksum");
	is_so("eth/ipv4/sctp", (struct set[]){{"sctp.vtag", "random"}, {NULL}}, FILL_ABC,
	      "sctp.vtag", "sctp.cksum");
}

/* The outer checksum does not change if the inner one makes up for the change, and it changes if
 * the pseudo header hides that. */
static void test_tunnels(void **state)
{
	(void)state;
	is_so("eth/ipv4/udp/vxlan/eth/ipv4/udp",
	      (struct set[]){{"udp[2].dst", "1000..2023"}, {NULL}}, FILL_ABC, "udp[2].dst",
	      "udp[2].cksum");
	is_so("eth/ipv4/udp/vxlan/eth/ipv4/udp",
	      (struct set[]){{"ipv4[2].src", "10.0.0.0/24"}, {NULL}}, FILL_ABC, "ipv4[2].src",
	      "udp.cksum ipv4[2].cksum udp[2].cksum");
	is_so("eth/ipv4/udp/vxlan/eth/ipv4/udp", (struct set[]){{"ipv4[2].ttl", "8,16"}, {NULL}},
	      FILL_ABC, "ipv4[2].ttl", "ipv4[2].cksum");
}

static void test_runs(void **state)
{
	struct made m;

	(void)state;
	make(&m, "eth/ipv4/udp",
	     (struct set[]){{"udp.src", "256..511"},
			    {"ipv4.src", "10.0.0.0/16"},
			    {"udp.dst", "random"},
			    {NULL}},
	     FILL_ABC);
	look(&m);
	json_t *runs = frame_mask_bytes(&m.frame, m.varies);
	char *text = json_dumps(runs, JSON_COMPACT);
	assert_string_equal(text, "[[28,2],[35,3]]");
	free(text);
	json_decref(runs);
	drop(&m);
}

/* Random bits may lie anywhere. The fields in which they lie are told. */
static void test_bits(void **state)
{
	struct made m;

	(void)state;
	make(&m, "eth/ipv4/udp", (struct set[]){{NULL}}, FILL_ABC);
	m.spec.rnd_on = true;
	m.spec.rnd[0] = (struct frame_rnd){.on = true, .off = 22, .nbits = 16, .rnd = 0x0fff0000};
	m.spec.rnd[3] = (struct frame_rnd){.on = true, .off = 100, .nbits = 8, .rnd = 0x81000000};
	look(&m);
	names_are(&m.frame, m.varies, "ipv4.ttl ipv4.proto payload");
	names_are(&m.frame, m.follows, "ipv4.cksum udp.cksum");
	assert_int_equal(m.varies[22], 0x0f);
	assert_int_equal(m.varies[23], 0xff);
	assert_int_equal(m.varies[100], 0x81);
	for (unsigned i = 0; i < m.recipe.len; i++)
		assert_int_equal(m.seen[i] & ~(m.varies[i] | m.follows[i]), 0);
	drop(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_bytes),
		cmocka_unit_test(test_tunnels),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_bits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
