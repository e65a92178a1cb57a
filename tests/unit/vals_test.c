/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests values of header fields that are more than a number: variations and bytes, which their
 * array owns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"

static struct hexbytes *bytes_of(const char *text)
{
	struct hexbytes *b = xcalloc(1, sizeof(*b) + strlen(text));

	b->n = (uint16_t)strlen(text);
	memcpy(b->b, text, b->n);
	return b;
}

static const struct vary up = {
	.kind = VARY_RANGE, .bits = 8, .first = 7, .lo = 5, .hi = 9, .step = 1, .div = 1};
static const struct vary fixed = {.kind = VARY_FIXED, .bits = 8, .first = 33, .div = 1};

static void a_variation_is_copied_and_shows_its_first_value(void **state)
{
	const struct proto *ip = proto_find("ipv4");
	const struct field *ttl = proto_field(ip, "ttl");
	struct vary list = {.kind = VARY_LIST, .bits = 8, .div = 1, .n = 2};
	vary_u items[2] = {200, 100};
	struct frame_vals a = {0};

	(void)state;
	list.list = items;
	frame_vals_vary(&a, ip, 1, ttl, &list);
	items[0] = 1;
	const struct frame_val *v = frame_vals_find(&a, ip, 1, ttl);
	assert_int_equal(v->v[15], 200);
	assert_true(vary_at(v->vary, 2) == 200 && vary_at(v->vary, 3) == 100);
	frame_vals_vary(&a, ip, 1, ttl, &up);
	v = frame_vals_find(&a, ip, 1, ttl);
	assert_int_equal(a.n, 1);
	assert_int_equal(v->v[15], 7);
	assert_true(vary_equal(v->vary, &up));
	frame_vals_vary(&a, ip, 1, ttl, v->vary); /* from itself */
	assert_true(vary_equal(frame_vals_find(&a, ip, 1, ttl)->vary, &up));
	frame_vals_vary(&a, ip, 1, ttl, &fixed);
	v = frame_vals_find(&a, ip, 1, ttl);
	assert_null(v->vary);
	assert_int_equal(v->v[15], 33);
	frame_vals_vary(&a, ip, 1, ttl, &up);
	frame_vals_set(&a, ip, 1, ttl, (const uint8_t[VT_FIELD_BYTES]){[15] = 3});
	v = frame_vals_find(&a, ip, 1, ttl);
	assert_null(v->vary);
	assert_int_equal(v->v[15], 3);
	frame_vals_free(&a);
	assert_int_equal(a.n, 0);
}

static void copies_own_what_they_hold(void **state)
{
	const struct proto *ip = proto_find("ipv4");
	const struct field *ttl = proto_field(ip, "ttl"), *id = proto_field(ip, "id");
	struct hexbytes *b = bytes_of("abc");
	struct frame_vals a = {0}, c = {0};

	(void)state;
	frame_vals_vary(&a, ip, 1, ttl, &up);
	frame_vals_bytes(&a, ip, 2, id, b);
	free(b);
	frame_vals_copy(&c, &a);
	frame_vals_copy(&c, &a);
	assert_ptr_not_equal(c.val[0].vary, a.val[0].vary);
	assert_ptr_not_equal(c.val[1].bytes, a.val[1].bytes);
	assert_true(frame_vals_unset(&a, ip, 1, ttl));
	assert_int_equal(a.val[0].bytes->n, 3);
	assert_null(a.val[0].vary);
	frame_vals_free(&a);
	assert_true(vary_equal(frame_vals_find(&c, ip, 1, ttl)->vary, &up));
	assert_memory_equal(frame_vals_find(&c, ip, 2, id)->bytes->b, "abc", 3);
	frame_vals_copy(&c, &a);
	assert_int_equal(c.n, 0);
	frame_vals_free(&c);
}

static void bytes_are_set_replaced_and_taken_away(void **state)
{
	const struct proto *ip = proto_find("ipv4");
	const struct field *id = proto_field(ip, "id");
	struct hexbytes *b = bytes_of("xy");
	struct frame_vals a = {0};

	(void)state;
	frame_vals_vary(&a, ip, 1, id, &up);
	frame_vals_bytes(&a, ip, 1, id, b);
	assert_int_equal(a.n, 1);
	assert_null(a.val[0].vary);
	assert_memory_equal(a.val[0].bytes->b, "xy", 2);
	frame_vals_bytes(&a, ip, 1, id, a.val[0].bytes); /* from itself */
	assert_int_equal(a.val[0].bytes->n, 2);
	frame_vals_bytes(&a, ip, 1, id, NULL);
	assert_null(a.val[0].bytes);
	free(b);
	frame_vals_free(&a);
}

/* Values that go side by side with those of another field step with it, wherever that one stands in
 * the nesting, and as a default of the port as well. */
static void side_by_side(void **state)
{
	const struct proto *eth = proto_find("eth"), *ip = proto_find("ipv4"),
			   *udp = proto_find("udp");
	const struct field *mac = proto_field(eth, "dst"), *dst = proto_field(ip, "dst");
	const vary_u macs[3] = {0x020000000001, 0x020000000002, 0x020000000003};
	const struct vary each = {.kind = VARY_LIST, .bits = 48, .div = 1, .n = 3, .list = macs};
	uint8_t frame[256];
	struct err e;

	(void)state;
	for (unsigned how = 0; how < 8; how++) {
		struct frame_spec spec = {0};
		struct frame_vals dflt = {0};
		struct frame_recipe recipe;
		bool as_dflt = (how & 1) != 0, nested = (how & 2) != 0, found = (how & 4) != 0;
		assert_int_equal(frame_stack_parse("eth/ipv4/udp", &spec.stack, &e), 0);
		assert_int_equal(frame_vals_parse(&spec.vals, "udp.src", "1..5", &e), 0);
		assert_int_equal(frame_vals_parse(&spec.vals, "ipv4.dst", "10.0.0.1..10.0.0.3", &e),
				 0);
		if (found)
			frame_vals_found(as_dflt ? &dflt : &spec.vals, eth, 1, mac, NULL);
		frame_vals_beside(as_dflt ? &dflt : &spec.vals, eth, 1, mac, &each,
				  (struct frame_lead){ip, dst});
		assert_int_equal(frame_vals_find(as_dflt ? &dflt : &spec.vals, eth, 1, mac)->found,
				 found);
		if (nested) {
			spec.nest.n = 2;
			spec.nest.at[0].proto = udp;
			spec.nest.at[0].field = proto_field(udp, "src");
			spec.nest.at[1].proto = ip;
			spec.nest.at[1].field = dst;
			spec.nest.at[0].nth = spec.nest.at[1].nth = 1;
		}
		assert_int_equal(frame_compile(&spec, &dflt, 1518, &recipe, &e), 0);
		unsigned changed = 0, was = 0;
		for (unsigned o = 0; o < 45; o++) {
			frame_recipe_at(&recipe, o, frame);
			assert_memory_equal(frame, "\2\0\0\0\0", 5);
			assert_int_equal(frame[5], frame[33]); /* the last byte of both */
			changed += frame[5] != was;
			was = frame[5];
		}
		assert_int_equal(changed, nested ? 9 : 45);
		frame_recipe_free(&recipe);
		frame_vals_free(&dflt);
		frame_spec_free(&spec);
	}
	/* one value in their place ends it */
	struct frame_vals a = {0};
	frame_vals_found(&a, eth, 1, mac, NULL);
	frame_vals_beside(&a, eth, 1, mac, &each, (struct frame_lead){ip, dst});
	frame_vals_found(&a, eth, 1, mac, (const uint8_t[VT_FIELD_BYTES]){[15] = 9});
	const struct frame_val *v = frame_vals_find(&a, eth, 1, mac);
	assert_true(v->found && v->vary == NULL && v->lead.field == NULL && v->v[15] == 9);
	frame_vals_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_variation_is_copied_and_shows_its_first_value),
		cmocka_unit_test(side_by_side),
		cmocka_unit_test(copies_own_what_they_hold),
		cmocka_unit_test(bytes_are_set_replaced_and_taken_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
