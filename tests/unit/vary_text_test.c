/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the texts of variations and of frame sizes: what they mean, how they print, what is refused
 * and why. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "seed.h"
#include "sizes.h"
#include "vary.h"

#define OFFERED "%s|"
#define VALUE_BYTES (sizeof(struct vary_val) > VT_TEXT_MAX ? sizeof(struct vary_val) : VT_TEXT_MAX)
#define SAME_VALUE(s, a, b) ((s)->of != NULL ? same_vary(a, b) : memcmp(a, b, (s)->type->size) == 0)

static bool same_vary(const struct vary_val *a, const struct vary_val *b)
{
	return vary_equal(&a->v, &b->v) && a->v.kind == b->v.kind;
}

#include "value_is.h"

static const char *const tcp_flags[] = {"fin", "syn", "rst", "psh", "ack",
					"urg", "ece", "cwr", NULL};
static const struct vspec u16 = {.type = &vt_fuint, .bits = 16},
			  vid = {.type = &vt_fuint, .bits = 12, .min = 1, .max = 4094},
			  hex = {.type = &vt_fuint, .bits = 16, .hex = true},
			  u128 = {.type = &vt_fuint, .bits = 128},
			  mac = {.type = &vt_mac, .bits = 48}, ip4 = {.type = &vt_ip4, .bits = 32},
			  ip6 = {.type = &vt_ip6, .bits = 128},
			  flags = {.type = &vt_fflags, .bits = 8, .choices = tcp_flags};
static const struct vspec v_u16 = {.type = &vt_vary, .of = &u16},
			  v_vid = {.type = &vt_vary, .of = &vid},
			  v_hex = {.type = &vt_vary, .of = &hex},
			  v_u128 = {.type = &vt_vary, .of = &u128},
			  v_mac = {.type = &vt_vary, .of = &mac},
			  v_ip4 = {.type = &vt_vary, .of = &ip4},
			  v_ip6 = {.type = &vt_vary, .of = &ip6},
			  v_flags = {.type = &vt_vary, .of = &flags};
static const struct vspec *const specs[] = {&v_u16, &v_vid, &v_hex, &v_u128,
					    &v_mac, &v_ip4, &v_ip6, &v_flags};
static const struct vspec v_sizes = {.type = &vt_sizes},
			  v_small = {.type = &vt_sizes, .min = 64, .max = 1518};

static struct vary_val value, other;
static uint64_t state_of_rnd;

static uint64_t rnd(void)
{
	uint64_t *s = &state_of_rnd;

	*s ^= *s << 13;
	*s ^= *s >> 7;
	return *s ^= *s << 17;
}

/* Checks how a text prints. The value stays for the caller to look at. */
static void same(const struct vspec *s, const char *text, const char *canon)
{
	is(s, text, canon);
	assert_int_equal(vt_vary.parse(s, text, &value, NULL), 0);
}

/* Checks the first values of a variation, as text. */
static void gives(const struct vspec *s, const char *text, unsigned n, const char *values)
{
	struct sbuf out = {0};
	uint8_t b[VT_FIELD_BYTES];
	struct err e;

	if (vt_vary.parse(s, text, &value, &e) != 0)
		fail_msg("%s: %s", text, e.text);
	for (unsigned o = 0; o < n; o++) {
		vary_store(vary_at(&value.v, o), b);
		if (o > 0)
			sbuf_addc(&out, ' ');
		s->of->type->print(s->of, b, &out);
	}
	assert_string_equal(sbuf_str(&out), values);
	sbuf_free(&out);
}

static void test_ranges(void **state)
{
	(void)state;
	gives(&v_u16, "1000..1003", 6, "1000 1001 1002 1003 1000 1001");
	gives(&v_u16, "10..20 step 4", 5, "10 14 18 10 14");
	gives(&v_u16, "3..1", 5, "3 2 1 3 2");
	gives(&v_u16, "20..10 step 4", 5, "20 16 12 20 16");
	gives(&v_u16, "1..5 from 4", 6, "4 5 1 2 3 4");
	gives(&v_u16, "1..9 step 4 from 2", 7, "2 6 1 5 9 1 5");
	same(&v_u16, "1000..2000", "1000..2000");
	same(&v_u16, "1000 .. 2000", "1000..2000");
	same(&v_u16, "0x10..0x20 step 0x2", "16..32 step 2");
	same(&v_u16, "2000..1000 step 4 from 1500", "2000..1000 step 4 from 1500");
	same(&v_u16, "1000..2000 from 1500 step 4", "1000..2000 step 4 from 1500");
	same(&v_u16, "1000..2000 step 1 from 1000", "1000..2000");
	same(&v_hex, "0x800..0x900", "0x0800..0x0900");
	same(&v_u16, "5..5", "5");
	same(&v_u16, "5..9 step 100", "5");
	same(&v_u16, "5..9 step 100 from 6", "5..9 step 100 from 6");
	same(&v_u128, "0..0xffffffffffffffffffffffffffffffff",
	     "0..0xffffffffffffffffffffffffffffffff");
	same(&v_mac, "02:00:00:00:00:01..02:00:00:00:00:ff step 2",
	     "02:00:00:00:00:01..02:00:00:00:00:ff step 2");
	gives(&v_mac, "02:00:00:00:00:ff..02:00:00:00:02:00 step 00:00:00:00:01:00", 2,
	      "02:00:00:00:00:ff 02:00:00:00:01:ff");
	same(&v_mac, "02:00:00:00:00:00..02:00:00:01:00:00 step 256",
	     "02:00:00:00:00:00..02:00:00:01:00:00 step 00:00:00:00:01:00");
	same(&v_ip4, "10.0.0.1..10.0.0.9", "10.0.0.1..10.0.0.9");
	gives(&v_ip4, "10.0.0.1..10.0.9.1 step 0.0.1.0", 3, "10.0.0.1 10.0.1.1 10.0.2.1");
	same(&v_ip4, "10.0.0.1..10.0.9.1 step 256", "10.0.0.1..10.0.9.1 step 0.0.1.0");
	same(&v_ip4, "10.0.0.9..10.0.0.1 step 2", "10.0.0.9..10.0.0.1 step 2");
	same(&v_ip6, "2001:db8::1..2001:db8::ffff step ::10",
	     "2001:db8::1..2001:db8::ffff step 16");
	same(&v_ip6, "::..1:: step 0:1::", "::..1:: step 0:1::");
	same(&v_flags, "0..255", "0x0..0xff");
	same(&v_flags, "0x2..0x12 step 0x10 from syn", "0x2..0x12 step 16");
}

static void test_prefixes(void **state)
{
	(void)state;
	same(&v_ip4, "10.0.0.0/16", "10.0.0.0/16");
	gives(&v_ip4, "10.0.0.0/30", 5, "10.0.0.0 10.0.0.1 10.0.0.2 10.0.0.3 10.0.0.0");
	assert_int_equal(vary_period(&value.v), 4);
	same(&v_ip4, "10.0.0.0..10.0.0.255", "10.0.0.0/24");
	same(&v_ip4, "10.0.0.0/31", "10.0.0.0..10.0.0.1");
	same(&v_ip4, "10.0.0.7/32", "10.0.0.7");
	assert_false(value.one_of_prefix);
	same(&v_ip4, "0.0.0.0/0", "0.0.0.0/0");
	same(&v_ip4, "10.0.0.0/24 step 2 from 10.0.0.10", "10.0.0.0/24 step 2 from 10.0.0.10");
	same(&v_ip6, "2001:db8::/32", "2001:db8::/32");
	same(&v_ip6, "::/0", "::/0");
	same(&v_ip4, "192.168.0.1/24", "192.168.0.1");
	assert_int_equal(value.v.kind, VARY_FIXED);
	same(&v_ip4, "10.0.0.0", "10.0.0.0");
	vt_vary.parse(&v_ip4, "192.168.0.1/24", &value, NULL);
	assert_true(value.one_of_prefix);
	not(&v_ip4, "192.168.0.1/24 step 2", -EINVAL, 15, "one address");
	not(&v_ip4, "10.0.0.0/33", -ERANGE, 9, "0 to 32");
	not(&v_ip4, "10.0.0.0/", -ERANGE, 9, "0 to 32");
	not(&v_ip4, "10.0.0.0/255.0.0.0", -ERANGE, 9, "prefix length");
	not(&v_ip6, "::/129", -ERANGE, 3, "0 to 128");
	not(&v_u16, "10/2", -EINVAL, 2, "more after");
}

static void test_lists(void **state)
{
	char text[8192] = "1";

	(void)state;
	gives(&v_u16, "5,3,9", 4, "5 3 9 5");
	same(&v_u16, "list 5, 3 ,9", "5,3,9");
	same(&v_u16, "list 5", "5");
	same(&v_u16, "5,5", "5,5");
	same(&v_ip4, "10.0.0.1,10.0.0.7", "10.0.0.1,10.0.0.7");
	same(&v_mac, "list 02:00:00:00:00:01,02-00-00-00-00-02",
	     "02:00:00:00:00:01,02:00:00:00:00:02");
	same(&v_flags, "syn,ack", "syn,ack");
	assert_int_equal(value.v.kind, VARY_FIXED);
	same(&v_flags, "list syn|ack,fin,none", "list syn|ack,fin,none");
	gives(&v_flags, "list ack|syn,fin", 2, "syn,ack fin");
	same(&v_flags, "list syn|ack", "syn,ack");
	for (unsigned i = 1; i < VARY_LIST_MAX; i++)
		sprintf(text + strlen(text), ",%u", 1 + i % 2);
	same(&v_u16, text, text);
	assert_int_equal(value.v.n, VARY_LIST_MAX);
	strcat(text, ",7");
	not(&v_u16, text, -ERANGE, (int)strlen(text) - 1, "more than 1024");
	not(&v_u16, "1,,2", -EINVAL, 2, "empty place");
	not(&v_u16, "1,2,", -EINVAL, 4, "empty place");
	not(&v_u16, "1,70000", -ERANGE, 2, "\"70000\" is too large");
	not(&v_u16, "list", -EINVAL, 4, "has no values");
	not(&v_u16, "1,2 step 3", -EINVAL, 4, "does not belong to a list");
	not(&v_flags, "list syn|akc,fin", -EINVAL, 9, "did you mean \"ack\"");
	not(&v_vid, "1,0", -ERANGE, 2, "1 to 4094");
}

/* Values that weigh differently: the first of each come first, each as evenly as it can. */
static void test_weights(void **state)
{
	char text[64];

	(void)state;
	gives(&v_u16, "80:1,81:2,82:5", 9, "80 81 82 82 82 81 82 82 80");
	same(&v_u16, "80:1,81:2,82:5", "80:1,81:2,82:5");
	same(&v_u16, "82:10, 80:2 ,81:4", "82:5,80:1,81:2");
	same(&v_u16, "80,81:3", "80:1,81:3");
	same(&v_u16, "80:1,81,80:2", "80:3,81:1");
	same(&v_u16, "list 7:2,9", "7:2,9:1");
	same(&v_u16, "80:5", "80");
	same(&v_u16, "80:5,81:5", "80,81");
	same(&v_u16, "1..5:2,9:1", "1..5:2,9:1");
	same(&v_u16, "1..3:2,9", "1:2,2:2,3:2,9:1");
	same(&v_u16, "9,1..5", "9,1..5");
	same(&v_u16, "5..1,9", "5,4,3,2,1,9");
	same(&v_u16, "1..5,6..9", "1,2,3,4,5,6,7,8,9");
	same(&v_ip4, "10.0.0.1:7,10.0.0.8/30:1", "10.0.0.1:7,10.0.0.8..10.0.0.11:1");
	same(&v_ip6, "[2001:db8::1]:2,[2001:db8::4..2001:db8::7]:3,2001:db8::9",
	     "[2001:db8::1]:2,[2001:db8::4..2001:db8::7]:3,[2001:db8::9]:1");
	same(&v_ip6, "[2001:db8::1]", "2001:db8::1");
	same(&v_mac, "[02:00:00:00:00:01]:3,[02:00:00:00:00:02]:1",
	     "[02:00:00:00:00:01]:3,[02:00:00:00:00:02]:1");
	gives(&v_u16, "1:1000,2:24", 3, "1 2 1");
	assert_int_equal(value.v.n, 128); /* by what they have in common */
	assert_true(value.v.weighted);
	same(&v_u16, "1:1000,2:23", "1:1000,2:23");
	not(&v_u16, "1:1000,2:27", -ERANGE, 0, "add up to 1027, and at most 1024");
	snprintf(text, sizeof(text), "1,1..%u", VARY_LIST_MAX);
	not(&v_u16, text, -ERANGE, 2, "more than 1024");
	not(&v_u16, "80:0,81", -ERANGE, 3, "a weight of 0: 1 to 65535");
	not(&v_u16, "80:x,81", -ERANGE, 3, "a weight that is not 1 to 65535");
	not(&v_u16, "80:,81", -ERANGE, 3, "a weight that is not 1 to 65535");
	not(&v_u16, "80:1,81:70000", -ERANGE, 8, "a weight that is not 1 to 65535");
	not(&v_u16, "80..:1,81", -EINVAL, 4, "no last bound");
	not(&v_u16, "80:1,81 step 2", -EINVAL, 8, "does not belong to a list");
	not(&v_ip6, "[2001:db8::1:2,2001:db8::2", -EINVAL, 0, "a bracket");
	not(&v_ip6, "[2001:db8::1]2,2001:db8::2", -EINVAL, 0, "a bracket");
}

static void test_randoms(void **state)
{
	(void)state;
	same(&v_u16, "random", "random");
	assert_true(value.v.lo == 0 && value.v.hi == 65535);
	same(&v_u16, "random 0..65535", "random");
	same(&v_u16, "random 1..100", "random 1..100");
	same(&v_u16, "random 100..1", "random 1..100");
	same(&v_u16, "random seed 7", "random seed 7");
	same(&v_u16, "random 1..100 seed 7 repeat 1k", "random 1..100 repeat 1000 seed 7");
	same(&v_u16, "random 5..5", "5");
	same(&v_vid, "random", "random");
	assert_true(value.v.lo == 1 && value.v.hi == 4094);
	same(&v_vid, "random 1..4094 repeat 18446744073709551615 seed 18446744073709551615",
	     "random repeat 18446744073709551615 seed 18446744073709551615");
	same(&v_ip6, "random 2001:db8::..2001:db8::ff", "random 2001:db8::..2001:db8::ff");
	same(&v_u128, "random", "random");
	same(&v_mac, "random", "random");
	same(&v_flags, "random 1..16", "random 0x1..0x10");
	not(&v_u16, "random 5", -EINVAL, 7, "no range");
	not(&v_u16, "random 1..100 repeat 0", -ERANGE, 21, "too small");
	not(&v_u16, "random seed 0", -ERANGE, 12, "too small");
	not(&v_u16, "random seed", -EINVAL, 11, "no value for seed");
	not(&v_u16, "random step 5", -EINVAL, 7, "does not belong to random");
	not(&v_u16, "random seed 5 seed 6", -EINVAL, 14, "twice");
	not(&v_u16, "random 1..70000", -ERANGE, 10, "too large");
	not(&v_vid, "random 0..10", -ERANGE, 7, "1 to 4094");
}

static void test_masks(void **state)
{
	(void)state;
	same(&v_mac, "02:00:00:00:00:00 mask 00:00:00:ff:ff:ff",
	     "02:00:00:00:00:00 mask 00:00:00:ff:ff:ff");
	same(&v_mac, "02:00:00:00:00:00 mask 0xffffff", "02:00:00:00:00:00 mask 00:00:00:ff:ff:ff");
	same(&v_ip4, "10.0.0.0 mask 0.0.255.255 repeat 100 seed 3",
	     "10.0.0.0 mask 0.0.255.255 repeat 100 seed 3");
	same(&v_u16, "5 mask 0xff00", "5 mask 0xff00");
	same(&v_u16, "5 mask 255", "5 mask 0xff");
	same(&v_u16, "5 mask 0", "5");
	same(&v_flags, "syn mask fin,psh", "syn mask 0x9");
	not(&v_u16, "5 mask 0x10000", -ERANGE, 7, "too large");
	not(&v_u16, "5 mask", -EINVAL, 6, "no value for mask");
	not(&v_u16, "5..6 mask 1", -EINVAL, 1, "more after");
	not(&v_u16, "5 mask 1 step 2", -EINVAL, 9, "does not belong to a mask");
	not(&v_vid, "1 mask 1", -ERANGE, 7, "limits");
	not(&v_vid, "1 mask 0xffe", -ERANGE, 7, "limits");
}

static void test_refused(void **state)
{
	(void)state;
	not(&v_u16, "", -EINVAL, 0, "is empty");
	not(&v_u16, "abc", -EINVAL, 0, "A..B [step S]");
	not(&v_u16, "70000", -ERANGE, 0, "0 to 65535");
	not(&v_u16, "1000..70000", -ERANGE, 6, "\"70000\" is too large");
	not(&v_u16, "..5", -EINVAL, 0, "no first bound");
	not(&v_u16, "5..", -EINVAL, 3, "no last bound");
	not(&v_u16, "1...5", -EINVAL, 3, "not a number");
	not(&v_u16, "1..2..3", -EINVAL, 4, "more after");
	not(&v_u16, "1..5 step 0", -ERANGE, 10, "step of 0");
	not(&v_u16, "1..5 step", -EINVAL, 9, "no value for step");
	not(&v_u16, "1..5 step x", -EINVAL, 10, "not a number");
	not(&v_u16, "1..5 stpe 2", -EINVAL, 5, "did you mean \"step\"");
	not(&v_u16, "1..5 step 2 3", -EINVAL, 12, "more after");
	not(&v_u16, "1..5 from 6", -ERANGE, 10, "outside of its own range");
	not(&v_u16, "1..5 seed 6", -EINVAL, 5, "does not belong to a range");
	not(&v_u16, "7 step 2", -EINVAL, 2, "single value");
	not(&v_u16, "1000-2000", -EINVAL, 0, "did you mean \"1000..2000\"");
	not(&v_ip4, "10.0.0.1-10.0.0.9", -EINVAL, 0, "did you mean \"10.0.0.1..10.0.0.9\"");
	not(&v_u16, "randon", -EINVAL, 0, "did you mean \"random\"");
	not(&v_u16, "rnd", -EINVAL, 0, "did you mean \"random\"");
	not(&v_flags, "syn,akc", -EINVAL, 4, "did you mean \"ack\"");
	not(&v_ip4, "10.0.0", -EINVAL, 6, "A/LEN");
	not(&v_vid, "1..5 from 0", -ERANGE, 10, "too small");
	not(&v_mac, "02:00:00:00:00:01..02:00:00:00:00:0g", -EINVAL, 35, "MAC");
}

static void test_complete(void **state)
{
	(void)state;
	completes(&v_u16, "", "random|list|");
	completes(&v_u16, "ra", "random|");
	completes(&v_u16, "1..5 ", "1..5 step|1..5 from|");
	completes(&v_u16, "1..5 s", "1..5 step|");
	completes(&v_u16, "1..5 step ", "");
	completes(&v_u16, "1..5 step 2 ", "1..5 step 2 from|");
	completes(&v_u16, "random ", "random repeat|random seed|");
	completes(&v_u16, "random 1..5 ", "random 1..5 repeat|random 1..5 seed|");
	completes(&v_u16, "random seed 5 r", "random seed 5 repeat|");
	completes(&v_u16, "5 ", "5 mask|");
	completes(&v_u16, "5 mask 3 ", "5 mask 3 repeat|5 mask 3 seed|");
	completes(&v_u16, "list ", "");
	completes(&v_ip4, "10.0.0.0/8 ", "10.0.0.0/8 step|10.0.0.0/8 from|10.0.0.0/8 mask|");
	completes(&v_flags, "syn,a", "syn,ack|");
	completes(&v_sizes, "i", "imix|");
	completes(&v_sizes, "64..1518 ", "64..1518 step|64..1518 from|");
	completes(&v_sizes, "random 64..1518 ", "random 64..1518 repeat|random 64..1518 seed|");
	completes(&v_sizes, "1518 ", "");
}

static void sizes_are(const struct vspec *s, const char *text, const char *canon, unsigned count,
		      unsigned show, const char *want)
{
	static uint16_t all[SIZES_MAX_COUNT];
	struct sizes z, z2;
	struct sbuf out = {0};
	struct err e;
	uint16_t min, max;

	if (vt_sizes.parse(s, text, &z, &e) != 0)
		fail_msg("%s: %s", text, e.text);
	vt_sizes.print(s, &z, &out);
	assert_string_equal(sbuf_str(&out), canon);
	if (vt_sizes.parse(s, canon, &z2, &e) != 0)
		fail_msg("printed %s: %s", canon, e.text);
	assert_memory_equal(&z, &z2, sizeof(z));
	assert_int_equal(sizes_count(&z), count);
	sizes_expand(&z, all);
	sizes_bounds(&z, &min, &max);
	bool low = false, high = false;
	for (unsigned i = 0; i < count; i++) {
		assert_true(all[i] >= min && all[i] <= max);
		low |= all[i] == min;
		high |= all[i] == max;
	}
	assert_true((low && high) || z.kind == SIZES_RANDOM);
	sbuf_reset(&out);
	for (unsigned i = 0; i < show; i++)
		sbuf_addf(&out, "%s%u", i > 0 ? " " : "", all[i]);
	assert_string_equal(sbuf_str(&out), want);
	sbuf_free(&out);
}

static void test_sizes(void **state)
{
	static uint16_t all[SIZES_MAX_COUNT];
	struct sizes z;

	(void)state;
	sizes_are(&v_sizes, "auto", "auto", 1, 1, "0");
	sizes_are(&v_sizes, "64", "64", 1, 1, "64");
	sizes_are(&v_sizes, "64..1518", "64..1518", 1455, 3, "64 65 66");
	sizes_are(&v_sizes, "64..70 step 4", "64..70 step 4", 2, 2, "64 68");
	sizes_are(&v_sizes, "70..64 step 4", "70..64 step 4", 2, 2, "70 66");
	sizes_are(&v_sizes, "64..70 step 7", "64", 1, 1, "64");
	sizes_are(&v_sizes, "64..70 step 2 from 68", "64..70 step 2 from 68", 4, 4, "68 70 64 66");
	sizes_are(&v_sizes, "70..64 step 2 from 66", "70..64 step 2 from 66", 4, 4, "66 64 70 68");
	sizes_are(&v_sizes, "64..70 step 3 from 65", "64..70 step 3 from 65", 65534, 6,
		  "65 68 64 67 70 64");
	sizes_are(&v_sizes, "70..64 step 3 from 69", "70..64 step 3 from 69", 65534, 6,
		  "69 66 70 67 64 70");
	sizes_are(&v_sizes, "64..70 step 9 from 70", "64..70 step 9 from 70", 65536, 4,
		  "70 64 64 64");
	sizes_are(&v_sizes, "64..70 from 64", "64..70", 7, 2, "64 65");
	sizes_are(&v_sizes, "70..64 from 70", "70..64", 7, 2, "70 69");
	sizes_are(&v_sizes, "64..16384", "64..16384", 16321, 1, "64");
	sizes_are(&v_sizes, "64,1518,64", "64,1518,64", 3, 3, "64 1518 64");
	sizes_are(&v_sizes, "list 64, 128", "64,128", 2, 2, "64 128");
	sizes_are(&v_sizes, "64:2,1518:1", "64:2,1518:1", 3, 3, "64 1518 64");
	sizes_are(&v_sizes, "64:2,1518", "64:2,1518:1", 3, 3, "64 1518 64");
	sizes_are(&v_sizes, "64:1,1518:1", "64,1518", 2, 2, "64 1518");
	sizes_are(&v_sizes, "64:9", "64", 1, 1, "64");
	sizes_are(&v_sizes, "imix", "imix", 12, 12, "64 570 1518 64 570 64 570 64 570 64 64 64");
	sizes_are(&v_sizes, "64:7,570:4,1518:1", "imix", 12, 1, "64");
	sizes_are(&v_sizes, "imix aabh", "64,64,128,2112", 4, 4, "64 64 128 2112");
	sizes_are(&v_sizes, "imix g", "1518", 1, 1, "1518");
	sizes_are(&v_sizes, "imix abcdefgh", "64,128,256,512,1024,1280,1518,2112", 8, 0, "");
	sizes_are(&v_sizes, "random 64..128", "random 64..128", 4096, 0, "");
	sizes_are(&v_sizes, "random 128..64 repeat 65536 seed 5",
		  "random 64..128 repeat 65536 seed 5", 65536, 0, "");
	vt_sizes.parse(&v_sizes, "random 64..67 seed 9 repeat 1000", &z, NULL);
	sizes_expand(&z, all);
	unsigned seen[4] = {0};
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(all[i], 64 + ((uint64_t)vary_r32(vary_key(9, 0, i), i) * 4 >> 32));
		seen[all[i] - 64]++;
	}
	for (unsigned i = 0; i < 4; i++)
		assert_true(seen[i] > 150);
	not(&v_small, "64..1519", -ERANGE, 4, "64 to 1518");
	not(&v_small, "imix h", -ERANGE, 5, "2112");
	not(&v_sizes, "63", -ERANGE, 0, "64 to 16384");
	not(&v_sizes, "64b", -EINVAL, 2, "imix [LETTERS]");
	not(&v_sizes, "64,auto", -EINVAL, 3, "stands alone");
	not(&v_sizes, "64:0", -ERANGE, 3, "too small");
	not(&v_sizes, "64:40000,65:40000", -ERANGE, 0, "65536 frames");
	not(&v_sizes, "64,,65", -EINVAL, 3, "empty place");
	not(&v_sizes, "64..1518 step 0", -ERANGE, 14, "too small");
	not(&v_sizes, "64..1518 seed 3", -EINVAL, 9, "does not belong to a range");
	not(&v_sizes, "random 64..128 repeat 65537", -ERANGE, 22, "too large");
	not(&v_sizes, "random", -EINVAL, 6, "no range");
	not(&v_sizes, "imix abz", -EINVAL, 7, "a to h");
	not(&v_sizes, "imix ab cd", -EINVAL, 8, "more after its letters");
	not(&v_sizes, "imx", -EINVAL, 0, "did you mean \"imix\"");
	not(&v_sizes, "64..", -EINVAL, 4, "is empty");
	not(&v_sizes, "64 128", -EINVAL, 3, "more after");
	not(&v_sizes, "64 step 2", -EINVAL, 3, "single size");
}

/* Random texts are made of pieces of variations. What parses must print, and parse to the same
 * function again. */
static void test_round_trip(void **state)
{
	static const char *const piece[] = {
		"1",      "5",       "0x10",     "..",     ",",          " step ",
		" from ", "random ", " repeat ", " seed ", " mask ",     "10.0.0.0",
		"/8",     "/30",     "::1",      "::",     "2001:db8::", "02:00:00:00:00:01",
		"list ",  "syn",     "|",        "ack",    "64",         "1518",
		":",      "imix",    " ",        "9"};
	unsigned parsed = 0, varied = 0;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		char text[256] = "";
		struct sbuf a = {0}, b = {0};
		struct err e;
		for (unsigned n = 1 + rnd() % 8; n > 0; n--)
			strcat(text, piece[rnd() % ARRAY_SIZE(piece)]);
		const struct vspec *s = specs[rnd() % ARRAY_SIZE(specs)];
		if (vt_vary.parse(s, text, &value, &e) == 0) {
			parsed++;
			varied += value.v.kind != VARY_FIXED;
			vt_vary.print(s, &value, &a);
			if (vt_vary.parse(s, sbuf_str(&a), &other, &e) != 0)
				fail_msg("\"%s\" prints as \"%s\": %s", text, sbuf_str(&a), e.text);
			vt_vary.print(s, &other, &b);
			assert_string_equal(sbuf_str(&a), sbuf_str(&b));
			assert_true(vary_equal(&value.v, &other.v));
		} else if (e.col < 0 || e.col > (int)strlen(text)) {
			fail_msg("\"%s\": column %d: %s", text, e.col, e.text);
		}
		sbuf_free(&a);
		sbuf_free(&b);
	}
	assert_true(parsed > 2000 && varied > 1000);
}

/* Any function of a field prints to a text that is this function again. */
static void test_round_trip_values(void **state)
{
	(void)state;
	for (int i = 0; i < 20000; i++) {
		const struct vspec *s = specs[rnd() % ARRAY_SIZE(specs)];
		unsigned bits = s->of->bits;
		vary_u top = bits == 128 ? ~(vary_u)0 : ((vary_u)1 << bits) - 1,
		       lo = s == &v_vid ? 1 : 0;
		vary_u hi = s == &v_vid ? 4094 : top, x[8];
		for (unsigned k = 0; k < 8; k++) {
			x[k] = ((vary_u)rnd() << 64 | rnd()) >> (rnd() % 128);
			x[k] = hi - lo + 1 != 0 ? lo + x[k] % (hi - lo + 1) : x[k];
		}
		value.v = (struct vary){.bits = (uint8_t)bits,
					.div = 1,
					.kind = (uint8_t)(rnd() % 5),
					.first = x[0]};
		value.v.lo = x[1] < x[2] ? x[1] : x[2];
		value.v.hi = x[1] < x[2] ? x[2] : x[1];
		if (value.v.kind == VARY_RANGE) {
			value.v.step = (x[3] & top) != 0 ? x[3] & top : 1;
			value.v.down = rnd() % 2;
			if (value.v.first < value.v.lo || value.v.first > value.v.hi || rnd() % 2)
				value.v.first = value.v.down ? value.v.hi : value.v.lo;
		} else if (value.v.kind == VARY_MASK && s != &v_vid) {
			value.v.mask = x[3];
		} else if (value.v.kind == VARY_LIST) {
			value.v.n = 8;
			memcpy(value.list, x, sizeof(x));
			value.v.list = value.list;
		}
		if (value.v.kind == VARY_RANDOM || value.v.kind == VARY_MASK) {
			value.v.seed = rnd() % 2 ? rnd() : 0;
			value.v.repeat = rnd() % 2 ? 1 + rnd() % 100 : 0;
		}
		struct sbuf out = {0};
		struct err e;
		vt_vary.print(s, &value, &out);
		if (vt_vary.parse(s, out.s, &other, &e) != 0)
			fail_msg("%s: %s", out.s, e.text);
		if (!vary_equal(&value.v, &other.v))
			fail_msg("%s is another", out.s);
		for (uint64_t o = 0; o < 20; o++)
			assert_true(vary_at(&value.v, o) == vary_at(&other.v, o));
		sbuf_free(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_randoms),
		cmocka_unit_test(test_masks),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_complete),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_round_trip_values),
	};

	state_of_rnd = test_seed_not_0();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
