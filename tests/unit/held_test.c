/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests Pktgen's ranges: their defaults, what they make of a frame, and their limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pktgen/held.h"

static struct stream_cfg cfg;
static struct frame_spec spec;
static struct sizes sizes;

static void start(const char *stack)
{
	stream_cfg_free(&cfg);
	stream_cfg_init(&cfg);
	cfg.port = 3;
	assert_int_equal(frame_stack_parse(stack, &cfg.frame.stack, NULL), 0);
	assert_int_equal(frame_vals_parse(&cfg.dflt, "ipv4.dst", "192.168.2.1", NULL), 0);
	assert_int_equal(frame_vals_parse(&cfg.dflt, "eth.src", "02:00:00:00:00:03", NULL), 0);
	cfg.overlay_on = true;
}

static void hold(const char *name, uint64_t first, uint64_t min, uint64_t max, uint64_t inc)
{
	int i = held_find(name);

	assert_true(i >= 0);
	vary_store(first, held_at(&cfg, (unsigned)i)->v[RANGE_START]);
	vary_store(min, held_at(&cfg, (unsigned)i)->v[RANGE_MIN]);
	vary_store(max, held_at(&cfg, (unsigned)i)->v[RANGE_MAX]);
	vary_store(inc, held_at(&cfg, (unsigned)i)->v[RANGE_INC]);
	held_at(&cfg, (unsigned)i)->set = true;
}

static int apply(struct err *e)
{
	frame_spec_free(&spec);
	frame_spec_copy(&spec, &cfg.frame);
	sizes = cfg.sizes;
	return held_apply(&cfg, &spec, &sizes, e);
}

static void must_apply(void)
{
	struct err e;

	if (apply(&e) != 0)
		fail_msg("%s", e.text);
}

static const struct frame_val *val(const char *name)
{
	const struct proto *p;
	const struct field *f;
	unsigned nth;

	assert_int_equal(frame_field_parse(name, &p, &nth, &f, NULL), 0);
	return frame_vals_find(&spec.vals, p, nth, f);
}

static void expect(const char *name, const uint64_t *want, unsigned n)
{
	const struct frame_val *v = val(name);

	assert_non_null(v);
	assert_non_null(v->vary);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal((uint64_t)vary_at(v->vary, i), want[i]);
}

static void test_steps(void **state)
{
	(void)state;
	start("eth/ipv4/udp");
	hold("dst-port", 1000, 1000, 1002, 1);
	hold("src-port", 5, 1, 9, 3);
	hold("ttl", 7, 0, 255, 0);
	must_apply();
	expect("udp.dst", (const uint64_t[]){1000, 1001, 1002, 1000, 1001}, 5);
	expect("udp.src", (const uint64_t[]){5, 8, 1, 4, 7, 1}, 6);
	/* With inc 0 the start stays, wherever the limits are. */
	assert_non_null(val("ipv4.ttl"));
	assert_null(val("ipv4.ttl")->vary);
	assert_int_equal((uint64_t)vary_load(val("ipv4.ttl")->v), 7);
	/* A single value is no variation. */
	hold("dst-port", 4, 4, 4, 1);
	must_apply();
	assert_null(val("udp.dst")->vary);
	assert_int_equal((uint64_t)vary_load(val("udp.dst")->v), 4);
}

static void test_off(void **state)
{
	(void)state;
	start("eth/ipv4/udp");
	hold("dst-port", 1000, 1000, 1002, 1);
	hold("proto", 0, 0, 0, 0);
	cfg.overlay_on = false;
	must_apply();
	assert_null(val("udp.dst"));
	assert_ptr_equal(spec.stack.hdr[2], proto_find("udp"));
	assert_int_equal(held_count(&cfg), 2);
}

/* Layers are exchanged before their fields are looked for. The frame of the stream stays as it
 * is. */
static void test_layers(void **state)
{
	struct sbuf text = {0};

	(void)state;
	start("eth/ipv4/tcp");
	hold("type", 1, 0, 0, 0);
	hold("proto", 1, 0, 0, 0);
	hold("hop-limits", 9, 0, 255, 1);
	hold("dst-port", 1, 1, 2, 1);
	hold("dst-ip", 1, 1, 9, 1);
	hold("tcp-seq", 1, 1, 9, 1);
	hold("teid", 5, 0, 9, 1);
	must_apply();
	frame_stack_print(&spec.stack, &text);
	assert_string_equal(text.s, "eth/ipv6/udp/gtpu");
	sbuf_reset(&text);
	expect("ipv6.hlim", (const uint64_t[]){9, 10}, 2);
	expect("udp.dst", (const uint64_t[]){1, 2, 1}, 3);
	expect("gtpu.teid", (const uint64_t[]){5, 6, 7, 8, 9, 0}, 6);
	assert_null(val("ipv6.dst")); /* a range of IPv4 is none of IPv6 */
	assert_int_equal(held_unused(&cfg, &text), 2);
	assert_string_equal(text.s, "dst ip, tcp seq");
	frame_stack_print(&cfg.frame.stack, &text);
	assert_non_null(strstr(text.s, "eth/ipv4/tcp"));
	sbuf_free(&text);
}

static void test_outermost(void **state)
{
	(void)state;
	start("eth/ipv4/udp/vxlan/eth/ipv4/tcp");
	hold("ttl", 1, 1, 9, 1);
	hold("dst-mac", 1, 0, 9, 1);
	must_apply();
	assert_non_null(val("ipv4.ttl"));
	assert_null(val("ipv4[2].ttl"));
	assert_non_null(val("eth.dst"));
	assert_null(val("eth[2].dst"));
}

static void test_sizes(void **state)
{
	static uint16_t out[SIZES_MAX_COUNT];
	struct err e;

	(void)state;
	start("eth/ipv4/udp");
	hold("size", 100, 64, 1518, 0);
	must_apply();
	assert_int_equal(sizes.kind, SIZES_FIXED);
	assert_int_equal(sizes.item[0].size, 100);
	hold("size", 64, 64, 70, 3);
	must_apply();
	assert_int_equal(sizes_count(&sizes), 3);
	sizes_expand(&sizes, out);
	assert_int_equal(out[0], 64);
	assert_int_equal(out[2], 70);
	/* The first lap begins with the start, and later ones with min. */
	hold("size", 67, 64, 70, 3);
	must_apply();
	assert_int_equal(sizes_count(&sizes), 3);
	sizes_expand(&sizes, out);
	assert_int_equal(out[0], 67);
	assert_int_equal(out[1], 70);
	assert_int_equal(out[2], 64);
	/* Pktgen's scripts have this, which is more sizes than a list may hold. */
	hold("size", 128, 64, 1518, 2);
	must_apply();
	assert_int_equal(sizes_count(&sizes), 728);
	sizes_expand(&sizes, out);
	for (unsigned i = 0; i < 728; i++)
		assert_int_equal(out[i], 64 + (64 + 2 * i) % 1456);
	/* The start is not among the sizes of later laps. So the lap that begins with it comes
	 * once, and never again. */
	hold("size", 66, 64, 70, 3);
	must_apply();
	assert_int_equal(sizes_count(&sizes), SIZES_MAX_COUNT - 2);
	sizes_expand(&sizes, out);
	assert_int_equal(out[0], 66);
	assert_int_equal(out[1], 69);
	for (unsigned i = 2; i < sizes_count(&sizes); i++)
		assert_int_equal(out[i], 64 + (i - 2) % 3 * 3);
	hold("size", 63, 64, 1518, 1);
	assert_int_equal(apply(&e), -EINVAL);
	assert_non_null(strstr(e.text, "below min 64"));
}

static void refused(uint64_t first, uint64_t min, uint64_t max, const char *says)
{
	struct err e;

	hold("dst-port", first, min, max, 1);
	assert_int_equal(apply(&e), -EINVAL);
	if (strstr(e.text, says) == NULL)
		fail_msg("%s", e.text);
}

static void test_limits(void **state)
{
	(void)state;
	start("eth/ipv4/udp");
	refused(5, 6, 9, "start 5 is below min 6; `range 3/0 dst port start 6`");
	refused(10, 6, 9, "start 10 is above max 9; `range 3/0 dst port max 10`");
	refused(7, 9, 6, "min 9 is above max 6; `range 3/0 dst port max 9`");
	/* Nothing is wrong with a range of a header that is not there. */
	assert_int_equal(frame_stack_parse("eth/ipv4/icmp", &cfg.frame.stack, NULL), 0);
	must_apply();
}

/* If Pktgen has usable defaults, these are the same. Addresses are those of the port. */
static void test_defaults(void **state)
{
	uint8_t v[4][VT_FIELD_BYTES];

	(void)state;
	start("eth/ipv4/udp");
	held_values(&cfg, (unsigned)held_find("dst-port"), v);
	assert_int_equal((uint64_t)vary_load(v[RANGE_START]), 5678);
	assert_int_equal((uint64_t)vary_load(v[RANGE_MIN]), 0);
	assert_int_equal((uint64_t)vary_load(v[RANGE_MAX]), 65535);
	assert_int_equal((uint64_t)vary_load(v[RANGE_INC]), 1);
	held_values(&cfg, (unsigned)held_find("dst-ip"), v);
	assert_int_equal((uint64_t)vary_load(v[RANGE_START]), 0xc0a80201);
	assert_int_equal((uint64_t)vary_load(v[RANGE_MIN]), 0xc0a80201);
	assert_int_equal((uint64_t)vary_load(v[RANGE_MAX]), 0xc0a802fe);
	assert_int_equal((uint64_t)vary_load(v[RANGE_INC]), 1);
	held_values(&cfg, (unsigned)held_find("src-mac"), v);
	assert_int_equal((uint64_t)vary_load(v[RANGE_START]), 0x020000000003);
	assert_int_equal((uint64_t)vary_load(v[RANGE_INC]), 0);
	held_values(&cfg, (unsigned)held_find("vlan"), v);
	assert_int_equal((uint64_t)vary_load(v[RANGE_MAX]), 4095);
	held_values(&cfg, (unsigned)held_find("hop-limits"), v);
	assert_int_equal((uint64_t)vary_load(v[RANGE_START]), 64);
	held_values(&cfg, (unsigned)held_find("size"), v);
	assert_int_equal((uint64_t)vary_load(v[RANGE_START]), 64);
	assert_int_equal((uint64_t)vary_load(v[RANGE_MAX]), 1518);
	assert_int_equal(held_find("nothing"), -1);
}

/* Every word finds its field in the protocol table, every default is a value of the field, and the
 * frame can be made with it. */
static void test_table(void **state)
{
	(void)state;
	for (unsigned i = 0; i < held_nwords; i++) {
		const struct held_word *w = &held_words[i];
		uint8_t v[4][VT_FIELD_BYTES];
		start("eth/vlan/ipv4/udp/vxlan/eth/ipv6/tcp");
		struct vspec s;
		held_vspec(w, false, &s);
		assert_non_null(s.type);
		if (w->proto != NULL)
			assert_non_null(proto_field(proto_find(w->proto), w->field));
		held_values(&cfg, i, v);
		memcpy(held_at(&cfg, (unsigned)i)->v, v, sizeof(v));
		held_at(&cfg, (unsigned)i)->set = true;
		must_apply();
		if (w->kind != HELD_RANGE)
			continue;
		/* With any step it is a range from start within min and max. */
		vary_store(1, held_at(&cfg, (unsigned)i)->v[RANGE_INC]);
		must_apply();
		struct sbuf none = {0};
		assert_int_equal(held_unused(&cfg, &none), strcmp(w->name, "teid") == 0);
		sbuf_free(&none);
	}
}

static void test_digit_that_stands_still(void **state)
{
	const struct proto *udp = proto_find("udp");

	(void)state;
	start("eth/ipv4/udp");
	cfg.frame.nest.n = 2;
	cfg.frame.nest.at[0].proto = cfg.frame.nest.at[1].proto = udp;
	cfg.frame.nest.at[0].field = proto_field(udp, "src");
	cfg.frame.nest.at[1].field = proto_field(udp, "dst");
	cfg.frame.nest.at[0].nth = cfg.frame.nest.at[1].nth = 1;
	cfg.frame.nest.at[1].same_digit = true;
	hold("src-port", 5, 1, 9, 0);
	must_apply();
	assert_int_equal(spec.nest.n, 1);
	assert_ptr_equal(spec.nest.at[0].field, proto_field(udp, "dst"));
	assert_false(spec.nest.at[0].same_digit);
	assert_int_equal(cfg.frame.nest.n, 2);
}

static int teardown(void **state)
{
	(void)state;
	stream_cfg_free(&cfg);
	frame_spec_free(&spec);
	memset(&spec, 0, sizeof(spec));
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_steps, teardown),
		cmocka_unit_test_teardown(test_off, teardown),
		cmocka_unit_test_teardown(test_layers, teardown),
		cmocka_unit_test_teardown(test_outermost, teardown),
		cmocka_unit_test_teardown(test_sizes, teardown),
		cmocka_unit_test_teardown(test_limits, teardown),
		cmocka_unit_test_teardown(test_defaults, teardown),
		cmocka_unit_test_teardown(test_table, teardown),
		cmocka_unit_test_teardown(test_digit_that_stands_still, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
