/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests edits of a stack: which header comes where, which cannot be added, and that values go with
 * their headers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame_edit.h"

static struct frame_spec spec;

static void start(const char *stack)
{
	struct err e;

	frame_spec_free(&spec);
	memset(&spec, 0, sizeof(spec));
	if (frame_stack_parse(stack, &spec.stack, &e) != 0)
		fail_msg("%s: %s", stack, e.text);
}

static void value(const char *field, const char *text)
{
	struct err e;

	if (frame_vals_parse(&spec.vals, field, text, &e) != 0)
		fail_msg("%s %s: %s", field, text, e.text);
}

static void is(const char *stack)
{
	struct sbuf text = {0};

	frame_stack_print(&spec.stack, &text);
	assert_string_equal(sbuf_str(&text), stack);
	sbuf_free(&text);
}

/* Checks the value of a field. text NULL: the field has none. */
static void has(const char *field, const char *text)
{
	const struct proto *p;
	const struct field *f;
	unsigned nth;
	struct vspec v;
	struct sbuf got = {0};

	assert_int_equal(frame_field_parse(field, &p, &nth, &f, NULL), 0);
	const struct frame_val *val = frame_vals_find(&spec.vals, p, nth, f);
	if (text == NULL) {
		assert_null(val);
		return;
	}
	if (val == NULL)
		fail_msg("%s has no value", field);
	proto_vspec(f, &v);
	v.type->print(&v, val->v, &got);
	assert_string_equal(sbuf_str(&got), text);
	sbuf_free(&got);
}

static void add(enum frame_part part)
{
	struct err e;

	if (frame_add(&spec, part, NULL, &e) != 0)
		fail_msg("%s", e.text);
	assert_true(frame_has(&spec.stack, part));
}

static void drop(enum frame_part part)
{
	struct err e;

	if (frame_drop(&spec, part, NULL, &e) != 0)
		fail_msg("%s", e.text);
	assert_false(frame_has(&spec.stack, part));
}

static void test_tags(void **state)
{
	(void)state;
	start("eth/ipv4/tcp");
	add(PART_VLAN);
	is("eth/vlan/ipv4/tcp");
	add(PART_VLAN);
	is("eth/vlan/ipv4/tcp");
	add(PART_QINQ);
	is("eth/qinq/vlan/ipv4/tcp");
	add(PART_MPLS);
	is("eth/qinq/vlan/mpls/ipv4/tcp");
	/* The tag behind qinq belongs to the pair. */
	assert_int_equal(frame_drop(&spec, PART_VLAN, NULL, NULL), 0);
	is("eth/qinq/vlan/mpls/ipv4/tcp");
	drop(PART_QINQ);
	is("eth/mpls/ipv4/tcp");
	add(PART_QINQ);
	drop(PART_MPLS);
	is("eth/qinq/vlan/ipv4/tcp");
	start("eth/vlan/vlan/ipv4/udp");
	drop(PART_VLAN);
	is("eth/ipv4/udp");
	start("eth/qinq/ipv4/udp");
	add(PART_VLAN);
	is("eth/qinq/vlan/ipv4/udp");
	start("eth/mpls/mpls/mpls/ipv6/udp");
	drop(PART_MPLS);
	is("eth/ipv6/udp");
}

static void test_tunnels(void **state)
{
	(void)state;
	start("eth/vlan/ipv4/udp");
	add(PART_GRE);
	is("eth/vlan/ipv4/gre/ipv4/udp");
	drop(PART_GRE);
	is("eth/vlan/ipv4/udp");
	add(PART_GRE_ETH);
	is("eth/vlan/ipv4/gre/eth/ipv4/udp");
	assert_false(frame_has(&spec.stack, PART_GRE));
	drop(PART_GRE_ETH);
	add(PART_VXLAN);
	is("eth/vlan/ipv4/udp/vxlan/eth/ipv4/udp");
	add(PART_GRE);
	is("eth/vlan/ipv4/gre/ipv4/udp/vxlan/eth/ipv4/udp");
	drop(PART_VXLAN);
	is("eth/vlan/ipv4/gre/ipv4/udp");
	start("eth/ipv6/tcp");
	add(PART_VXLAN);
	is("eth/ipv6/udp/vxlan/eth/ipv6/tcp");
	start("eth/ipv4/udp");
	add(PART_GTPU);
	is("eth/ipv4/udp/gtpu");
	drop(PART_GTPU);
	is("eth/ipv4/udp");
	/* This tunnel has nothing inside. */
	start("eth/ipv4/gre");
	drop(PART_GRE);
	is("eth/ipv4");
}

/* The outer headers keep their values, and what followed IP goes inside with its own values; and
 * back again. */
static void test_values_follow(void **state)
{
	(void)state;
	start("eth/ipv4/udp");
	value("eth.dst", "02:00:00:00:00:05");
	value("ipv4.dst", "10.0.0.1");
	value("udp.dst", "53");
	value("vlan.vid", "7");
	add(PART_VXLAN);
	has("eth.dst", "02:00:00:00:00:05");
	has("ipv4.dst", "10.0.0.1");
	has("ipv4[2].dst", NULL);
	has("udp.dst", NULL);
	has("udp[2].dst", "53");
	has("vlan.vid", "7");
	value("udp.src", "99");
	value("ipv4[2].dst", "10.0.0.2");
	value("vxlan.vni", "5");
	drop(PART_VXLAN);
	is("eth/ipv4/udp");
	has("ipv4.dst", "10.0.0.1");
	has("ipv4[2].dst", NULL);
	has("udp.dst", "53");
	has("udp.src", NULL);
	has("udp[2].dst", NULL);
	has("vxlan.vni", "5"); /* this value waits for its header */
}

/* A value that was written for a header to come gives way to the value that gets its name. */
static void test_value_in_the_way(void **state)
{
	(void)state;
	start("eth/ipv4/udp");
	value("udp.dst", "53");
	value("udp[2].dst", "54");
	value("udp[2].src", "55");
	add(PART_VXLAN);
	has("udp[2].dst", "53");
	has("udp[2].src", "55");
	assert_int_equal(spec.vals.n, 2);
}

static void test_variation_and_nest_follow(void **state)
{
	const struct proto *udp = proto_find("udp");
	const struct field *dst = proto_field(udp, "dst");
	struct vary v = {
		.kind = VARY_RANGE, .bits = 16, .first = 1, .lo = 1, .hi = 9, .step = 1, .div = 1};

	(void)state;
	start("eth/ipv4/udp");
	frame_vals_vary(&spec.vals, udp, 1, dst, &v);
	spec.nest.n = 1;
	spec.nest.at[0].proto = udp;
	spec.nest.at[0].field = dst;
	spec.nest.at[0].nth = 1;
	add(PART_VXLAN);
	const struct frame_val *val = frame_vals_find(&spec.vals, udp, 2, dst);
	assert_non_null(val);
	assert_non_null(val->vary);
	assert_int_equal(spec.nest.at[0].nth, 2);
	assert_int_equal(frame_set_l4(&spec, "tcp", NULL, NULL), 0);
	is("eth/ipv4/udp/vxlan/eth/ipv4/tcp");
	assert_ptr_equal(spec.nest.at[0].proto, proto_find("tcp"));
	assert_int_equal(spec.nest.at[0].nth, 1);
	val = frame_vals_find(&spec.vals, proto_find("tcp"), 1,
			      proto_field(proto_find("tcp"), "dst"));
	assert_true(val != NULL && val->vary != NULL);
}

static void test_layers(void **state)
{
	(void)state;
	start("eth/vlan/ipv4/tcp");
	value("tcp.dst", "80");
	value("tcp.flags", "syn");
	value("ipv4.ttl", "9");
	value("ipv4.src", "10.0.0.1");
	assert_int_equal(frame_set_l4(&spec, "udp", NULL, NULL), 0);
	is("eth/vlan/ipv4/udp");
	has("udp.dst", "80");
	has("tcp.flags", "syn");
	assert_int_equal(frame_set_net(&spec, "ipv6", NULL, NULL), 0);
	is("eth/vlan/ipv6/udp");
	has("ipv6.hlim", "9");
	has("ipv6.src", NULL);
	assert_int_equal(frame_set_l4(&spec, "icmp", NULL, NULL), 0);
	is("eth/vlan/ipv6/icmpv6");
	assert_int_equal(frame_set_net(&spec, "ipv4", NULL, NULL), 0);
	is("eth/vlan/ipv4/icmp");
	has("ipv4.ttl", "9");
	assert_int_equal(frame_set_net(&spec, "arp", NULL, NULL), 0);
	is("eth/vlan/arp");
	/* The address had no place in ipv6. */
	has("arp.psrc", NULL);
	assert_int_equal(frame_set_l4(&spec, "udp", NULL, NULL), 0);
	is("eth/vlan/arp");
	assert_int_equal(frame_set_net(&spec, "ipv6", NULL, NULL), 0);
	is("eth/vlan/ipv6/udp");
	start("eth");
	assert_int_equal(frame_set_l4(&spec, "udp", NULL, NULL), 0);
	is("eth/ipv4/udp");
	start("eth/mpls/ipv4/udp");
	assert_int_equal(frame_set_net(&spec, "arp", NULL, NULL), 0);
	is("eth/arp");
	start("eth/ipv6/ipv6hbh/ipv6frag/udp");
	assert_int_equal(frame_set_l4(&spec, "tcp", NULL, NULL), 0);
	is("eth/ipv6/ipv6hbh/ipv6frag/tcp");
	assert_int_equal(frame_set_net(&spec, "ipv4", NULL, NULL), 0);
	is("eth/ipv4/tcp");
	/* What the new layer cannot carry is taken out. */
	start("eth/ipv4/udp/gtpu");
	assert_int_equal(frame_set_l4(&spec, "tcp", NULL, NULL), 0);
	is("eth/ipv4/tcp");
}

/* Values that go with their header are named. Those that move to another field, or that wait for a
 * tag, are not. */
static void test_gone(void **state)
{
	struct sbuf gone = {0};

	(void)state;
	start("eth/vlan/ipv4/udp");
	value("udp.dst", "80");
	value("udp.src", "81");
	value("vlan.vid", "7");
	value("ipv4.src", "10.0.0.1");
	assert_int_equal(frame_set_l4(&spec, "tcp", &gone, NULL), 0);
	has("tcp.src", "81");
	assert_int_equal(frame_drop(&spec, PART_VLAN, &gone, NULL), 0);
	has("vlan.vid", "7");
	assert_string_equal(sbuf_str(&gone), "");
	assert_int_equal(frame_set_l4(&spec, "icmp", &gone, NULL), 0);
	assert_string_equal(sbuf_str(&gone), "tcp.dst, tcp.src");
	has("tcp.src", NULL);
	assert_int_equal(frame_set_net(&spec, "arp", &gone, NULL), 0);
	has("arp.psrc", "10.0.0.1");
	assert_int_equal(frame_set_net(&spec, "ipv6", &gone, NULL), 0);
	assert_string_equal(sbuf_str(&gone), "tcp.dst, tcp.src, arp.psrc");
	sbuf_free(&gone);
}

static void refused(enum frame_part part, const char *stack, const char *says)
{
	struct err e;

	start(stack);
	assert_int_equal(frame_add(&spec, part, NULL, &e), -EINVAL);
	if (strstr(e.text, says) == NULL)
		fail_msg("%s", e.text);
	is(stack);
}

static void test_refused(void **state)
{
	struct sbuf deep = {0};

	(void)state;
	refused(PART_GRE, "eth/arp", "needs an IP header");
	refused(PART_GTPU, "eth/ipv4/tcp", "needs udp");
	refused(PART_MPLS, "eth/arp", "arp cannot follow mpls");
	sbuf_add(&deep, "eth");
	for (unsigned i = 0; i < FRAME_MAX_HDRS - 3; i++)
		sbuf_add(&deep, "/vlan");
	sbuf_add(&deep, "/ipv4/udp");
	refused(PART_VXLAN, deep.s, "at most 64 headers");
	refused(PART_MPLS, deep.s, "at most 64 headers");
	sbuf_free(&deep);
}

/* If a part is put into any frame that takes it, and taken out again, the frame is the same as
 * before, with the same values. */
static void test_there_and_back(void **state)
{
	static const char *const stacks[] = {"eth/ipv4/udp",
					     "eth/ipv6/tcp",
					     "eth/ipv4/icmp",
					     "eth/ipv6/ipv6hbh/udp",
					     "eth/arp",
					     "eth/ipv4/sctp",
					     "eth/ipv4/udp/geneve/eth/ipv6/tcp"};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(stacks); i++) {
		for (unsigned part = PART_VLAN; part <= PART_GTPU; part++) {
			start(stacks[i]);
			value("eth.dst", "02:00:00:00:00:05");
			bool udp = frame_has_header(&spec.stack, "udp");
			if (udp)
				value("udp.src", "7");
			unsigned n = spec.vals.n;
			if (frame_has(&spec.stack, (enum frame_part)part) ||
			    frame_add(&spec, (enum frame_part)part, NULL, NULL) < 0)
				continue;
			/* The builder has to take the frame. */
			struct frame *f = xcalloc(1, sizeof(*f));
			struct err e;
			if (frame_build(&spec, NULL, FRAME_MAX_LEN + FRAME_FCS, f, &e) != 0)
				fail_msg("%s, part %u: %s", stacks[i], part, e.text);
			free(f);
			drop((enum frame_part)part);
			is(stacks[i]);
			has("eth.dst", "02:00:00:00:00:05");
			has("udp.src", udp ? "7" : NULL);
			assert_int_equal(spec.vals.n, n);
		}
	}
}

static int teardown(void **state)
{
	(void)state;
	frame_spec_free(&spec);
	memset(&spec, 0, sizeof(spec));
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_tags, teardown),
		cmocka_unit_test_teardown(test_tunnels, teardown),
		cmocka_unit_test_teardown(test_values_follow, teardown),
		cmocka_unit_test_teardown(test_value_in_the_way, teardown),
		cmocka_unit_test_teardown(test_variation_and_nest_follow, teardown),
		cmocka_unit_test_teardown(test_layers, teardown),
		cmocka_unit_test_teardown(test_gone, teardown),
		cmocka_unit_test_teardown(test_refused, teardown),
		cmocka_unit_test_teardown(test_there_and_back, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
