/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the types of values: numbers, rates, times, sizes, words, values of header fields, and
 * lists of ports and streams. */
#include <locale.h>

#include "value_is.h"

static const char *const protos[] = {"udp", "tcp", "icmp", "icmpv6", NULL};
static const char *const tcp_flags[] = {"fin", "syn", "rst", "psh", "ack",
					"urg", "ece", "cwr", NULL};

static const struct vspec v_bool = {.type = &vt_bool};
static const struct vspec v_uint = {.type = &vt_uint};
static const struct vspec v_burst = {.type = &vt_uint, .min = 1, .max = 512};
static const struct vspec v_rate = {.type = &vt_rate};
static const struct vspec v_dur = {.type = &vt_duration};
static const struct vspec v_size = {.type = &vt_size, .min = 64, .max = 1518};
static const struct vspec v_anysize = {.type = &vt_size};
static const struct vspec v_speed = {.type = &vt_speed};
static const struct vspec v_enum = {.type = &vt_enum, .choices = protos};
static const struct vspec v_text = {.type = &vt_text};
static const struct vspec v_u16 = {.type = &vt_fuint, .bits = 16};
static const struct vspec v_hex = {.type = &vt_fuint, .bits = 12, .hex = true};
static const struct vspec v_vlan = {.type = &vt_fuint, .bits = 12, .min = 1, .max = 4095};
static const struct vspec v_u128 = {.type = &vt_fuint, .bits = 128};
static const struct vspec v_mac = {.type = &vt_mac, .bits = 48};
static const struct vspec v_ip4 = {.type = &vt_ip4, .bits = 32};
static const struct vspec v_ip6 = {.type = &vt_ip6, .bits = 128};
static const struct vspec v_flags = {.type = &vt_fflags, .bits = 8, .choices = tcp_flags};

static const struct vspec v_hexbytes = {.type = &vt_hex};

static const struct vspec *const specs[] = {&v_bool, &v_uint,    &v_burst, &v_rate, &v_dur,
					    &v_size, &v_anysize, &v_speed, &v_enum, &v_text,
					    &v_u16,  &v_vlan,    &v_u128,  &v_mac,  &v_ip4,
					    &v_ip6,  &v_flags};

/* Bytes have no fixed size. */
static _Alignas(16) uint8_t hex_val[HEXBYTES_SIZE];

static void hex_is(const struct vspec *s, const char *text, const char *canon)
{
	static _Alignas(16) uint8_t back[HEXBYTES_SIZE];
	struct sbuf out = {0};
	struct err e;

	if (s->type->parse(s, text, hex_val, &e) != 0)
		fail_msg("%s: %s", text, e.text);
	s->type->print(s, hex_val, &out);
	assert_string_equal(sbuf_str(&out), canon);
	assert_int_equal(s->type->parse(s, sbuf_str(&out), back, NULL), 0);
	assert_memory_equal(hex_val, back,
			    sizeof(struct hexbytes) +
				    ((const struct hexbytes *)(const void *)hex_val)->n);
	sbuf_free(&out);
}

static void test_numbers(void **state)
{
	(void)state;
	is(&v_uint, "0", "0");
	is(&v_uint, "007", "7");
	is(&v_uint, "0x1F", "31");
	is(&v_uint, "5k", "5000");
	is(&v_uint, "1.5M", "1500000");
	is(&v_uint, "2G", "2000000000");
	is(&v_uint, "18446744073709551615", "18446744073709551615");
	is(&v_uint, "0xffffffffffffffff", "18446744073709551615");
	is(&v_burst, "1", "1");
	is(&v_burst, "512", "512");
	not(&v_uint, "abc5", -EINVAL, 0, "\"abc5\" is not a number");
	not(&v_uint, "-5", -EINVAL, 0, "is negative");
	not(&v_uint, "+5", -EINVAL, 0, "is not a number");
	not(&v_uint, "1e99", -ERANGE, 0, "digits");
	not(&v_uint, "1e", -EINVAL, 1, "\"e\"");
	not(&v_uint, "1e-3", -EINVAL, 0, "whole number");
	not(&v_uint, "5 6", -EINVAL, 2, "more after the number");
	not(&v_uint, " 5", -EINVAL, 0, "is not a number");
	not(&v_uint, "5x", -EINVAL, 1, "unit");
	not(&v_uint, "5m", -EINVAL, 1, "did you mean \"M\"");
	not(&v_uint, "1.5", -EINVAL, 0, "whole number");
	not(&v_uint, "5.", -EINVAL, 1, "unit");
	not(&v_uint, "", -EINVAL, 0, "is empty");
	not(&v_uint, "0x", -EINVAL, 2, "hexadecimal");
	not(&v_uint, "0xg", -EINVAL, 2, "hexadecimal");
	not(&v_uint, "18446744073709551616", -ERANGE, 0, "out of range");
	not(&v_uint, "0x10000000000000000", -ERANGE, 0, "too large");
	not(&v_uint, "99999999999999999999999999999999999999999999999999", -ERANGE, 0, "digits");
	not(&v_burst, "0", -ERANGE, 0, "1 to 512");
	not(&v_burst, "513", -ERANGE, 0, "too large");
	not(&v_burst, "1k", -ERANGE, 0, "1 to 512");
}

static void rate_is(const char *text, enum rate_kind kind, double v, const char *canon)
{
	struct rate r;

	is(&v_rate, text, canon);
	memcpy(&r, val, sizeof(r));
	assert_int_equal(r.kind, kind);
	assert_true(r.value == v);
}

static void test_rate(void **state)
{
	(void)state;
	rate_is("max", RATE_MAX, 0, "max");
	rate_is("10%", RATE_PERCENT, 10, "10%");
	rate_is("10", RATE_PERCENT, 10, "10%");
	rate_is("0.1", RATE_PERCENT, 0.1, "0.1%");
	rate_is("100.0", RATE_PERCENT, 100, "100%");
	rate_is("0.000001%", RATE_PERCENT, 0.000001, "0.000001%");
	rate_is("33.333333333333336", RATE_PERCENT, 33.333333333333336, "33.333333333333336%");
	rate_is("1.5Mpps", RATE_PPS, 1500000, "1.5Mpps");
	rate_is("1500000pps", RATE_PPS, 1500000, "1.5Mpps");
	rate_is("999pps", RATE_PPS, 999, "999pps");
	rate_is("1000pps", RATE_PPS, 1000, "1kpps");
	rate_is("14880952.380952380pps", RATE_PPS, 14880952.380952380, "14.88095238095238Mpps");
	rate_is("0.5pps", RATE_PPS, 0.5, "0.5pps");
	rate_is("3Gbps", RATE_L1_BPS, 3e9, "3Gbps");
	rate_is("3Gbps/l1", RATE_L1_BPS, 3e9, "3Gbps");
	rate_is("3000Mbps/l2", RATE_L2_BPS, 3e9, "3Gbps/l2");
	rate_is("1.2Tbps", RATE_L1_BPS, 1.2e12, "1.2Tbps");
	not(&v_rate, "abc5", -EINVAL, 0, "is not a rate");
	not(&v_rate, "-5", -EINVAL, 0, "is negative");
	not(&v_rate, "1e99", -ERANGE, 0, "digits");
	not(&v_rate, "1e6", -ERANGE, 0, "a number alone is percent");
	not(&v_rate, "0", -ERANGE, 0, "above 0 to 100%");
	not(&v_rate, "0pps", -ERANGE, 0, "stop");
	not(&v_rate, "101%", -ERANGE, 0, "above 0 to 100%");
	not(&v_rate, "100.00000000001", -ERANGE, 0, "100%");
	not(&v_rate, "10 q", -EINVAL, 3, "more after");
	not(&v_rate, "10% 20%", -EINVAL, 4, "more after the value");
	not(&v_dur, "10s 5", -EINVAL, 4, "more after the value");
	not(&v_rate, "10%%", -EINVAL, 2, "%%");
	not(&v_rate, "5M", -EINVAL, 1, "Mpps or Mbps");
	not(&v_rate, "5m", -EINVAL, 1, "Mpps or Mbps");
	not(&v_rate, "5Tpps", -EINVAL, 1, "ends in");
	not(&v_rate, "5Gbps/l3", -EINVAL, 5, "/l3");
	not(&v_rate, "5Mpps/l2", -EINVAL, 5, "/l2");
	not(&v_rate, "maximum", -EINVAL, 0, "is not a rate");
	not(&v_rate, "10kcps", -EINVAL, 2, "ends in");
	not(&v_rate, "10/s", -EINVAL, 2, "/s");
	not(&v_rate, "2000Gpps", -ERANGE, 0, "1000Gpps");
	not(&v_rate, "inf", -EINVAL, 0, "is not a rate");
	is(&v_rate, "1Mpps..10Mpps over 30s", "1Mpps..10Mpps over 30s");
	is(&v_rate, "1000kpps..10Mpps  over  0.5m", "1Mpps..10Mpps over 30s");
	is(&v_rate, "10..0.5% over 1ms", "10%..0.5% over 1ms");
	is(&v_rate, "1Gbps/l2..3Gbps/l2 step 250Mbps/l2 every 1500ms",
	   "1Gbps/l2..3Gbps/l2 step 250Mbps/l2 every 1.5s");
	is(&v_rate, "3Mpps..1Mpps step 2Mpps every 1s", "3Mpps..1Mpps step 2Mpps every 1s");
	not(&v_rate, "1Mpps..", -EINVAL, 7, "is not a rate");
	not(&v_rate, "1Mpps..2Mpps", -EINVAL, 12, "how long it takes");
	not(&v_rate, "1Mpps..2Mpps over", -EINVAL, 13, "how long it takes");
	not(&v_rate, "1Mpps..2Mpps in 3s", -EINVAL, 13, "how long it takes");
	not(&v_rate, "1Mpps..2Mpps over 3s 4s", -EINVAL, 13, "how long it takes");
	not(&v_rate, "1Mpps..2Mpps over 0s", -ERANGE, 18, "0s");
	not(&v_rate, "1Mpps..2Gbps over 1s", -EINVAL, 7, "different units");
	not(&v_rate, "max..2Gbps over 1s", -EINVAL, 0, "no number");
	not(&v_rate, "1Mpps..2Mpps step 3Mpps every 1s", -ERANGE, 18, "larger than the way");
	not(&v_rate, "1Mpps..2Mpps step 0.1pps every 1s", -ERANGE, 18, "too small");
	not(&v_rate, "1Mpps..2Mpps step 1Mbps every 1s", -EINVAL, 18, "another unit");
	not(&v_rate, "nan", -EINVAL, 0, "is not a rate");
}

/* The decimal point is a point, whatever the user's language. */
static void test_locale(void **state)
{
	(void)state;
	static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "ps_AF.UTF-8"};
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (setlocale(LC_ALL, names[i]) == NULL)
			continue;
		any = true;
		rate_is("1.5Mpps", RATE_PPS, 1500000, "1.5Mpps");
		is(&v_dur, "1.5ms", "1.5ms");
		not(&v_rate, "1,5Mpps", -EINVAL, 1, "ends in");
	}
	setlocale(LC_ALL, "C");
	if (!any)
		skip();
}

static void test_durations(void **state)
{
	uint64_t ns;

	(void)state;
	is(&v_dur, "1.5ms", "1.5ms");
	memcpy(&ns, val, sizeof(ns));
	assert_int_equal(ns, 1500000);
	is(&v_dur, "10s", "10s");
	is(&v_dur, "2m", "2m");
	is(&v_dur, "120s", "2m");
	is(&v_dur, "90s", "90s");
	is(&v_dur, "1.5h", "90m");
	is(&v_dur, "24h", "24h");
	is(&v_dur, "1000ns", "1us");
	is(&v_dur, "0s", "0s");
	is(&v_dur, "0.000000001s", "1ns");
	not(&v_dur, "10", -EINVAL, 2, "has no unit");
	not(&v_dur, "10", -EINVAL, 2, "ns, us, ms, s, m or h");
	not(&v_dur, "0.5ns", -EINVAL, 0, "whole number");
	not(&v_dur, "10 x", -EINVAL, 3, "more after");
	not(&v_dur, "-1s", -EINVAL, 0, "negative");
	not(&v_dur, "99999999999h", -ERANGE, 0, "out of range");
}

static void test_sizes(void **state)
{
	(void)state;
	is(&v_size, "64", "64");
	is(&v_size, "1518", "1518");
	is(&v_size, "auto", "auto");
	is(&v_anysize, "9000", "9000");
	not(&v_size, "63", -ERANGE, 0, "64 to 1518");
	not(&v_size, "1519", -ERANGE, 0, "64 to 1518");
	not(&v_size, "64k", -EINVAL, 2, "unit");
	not(&v_size, "64..1518", -EINVAL, 2, "unit");
	not(&v_size, "imix", -EINVAL, 0, "is not a frame size");
}

static void test_speeds(void **state)
{
	uint64_t bps;

	(void)state;
	is(&v_speed, "100G", "100Gbps");
	memcpy(&bps, val, sizeof(bps));
	assert_true(bps == 100000000000);
	is(&v_speed, "2.5Gbps", "2.5Gbps");
	is(&v_speed, "40000Mbps", "40Gbps");
	is(&v_speed, "auto", "auto");
	not(&v_speed, "100", -EINVAL, 3, "has no unit");
	not(&v_speed, "0G", -ERANGE, 0, "too small");
	not(&v_speed, "100Gpps", -EINVAL, 3, "Gbps");
}

static void test_words(void **state)
{
	int choice;
	char longer[VT_TEXT_MAX + 8];

	(void)state;
	is(&v_bool, "on", "on");
	is(&v_bool, "disable", "off");
	is(&v_bool, "yes", "on");
	is(&v_bool, "false", "off");
	not(&v_bool, "1", -EINVAL, 0, "on | off");
	not(&v_bool, "onn", -EINVAL, 0, "neither");
	is(&v_enum, "tcp", "tcp");
	is(&v_enum, "t", "tcp");
	is(&v_enum, "icmp", "icmp");
	memcpy(&choice, val, sizeof(choice));
	assert_int_equal(choice, 2);
	not(&v_enum, "ic", -EINVAL, 0, "ambiguous (icmp, icmpv6)");
	not(&v_enum, "utp", -EINVAL, 0, "did you mean \"udp\"");
	not(&v_enum, "zzzzzz", -EINVAL, 0, "udp | tcp | icmp");
	not(&v_enum, "", -EINVAL, 0, "unknown");
	is(&v_text, "any text; # at all", "any text; # at all");
	is(&v_text, "", "");
	memset(longer, 'x', sizeof(longer));
	longer[VT_TEXT_MAX] = '\0';
	not(&v_text, longer, -ERANGE, VT_TEXT_MAX - 1, "too long");
	longer[VT_TEXT_MAX - 1] = '\0';
	is(&v_text, longer, longer);
}

static void test_field_numbers(void **state)
{
	(void)state;
	is(&v_u16, "65535", "65535");
	is(&v_u16, "0xffff", "65535");
	assert_int_equal(val[14], 0xff);
	assert_int_equal(val[13], 0);
	is(&v_vlan, "1", "1");
	is(&v_hex, "0", "0x000");
	is(&v_hex, "0xf", "0x00f");
	is(&v_hex, "0x00f", "0x00f");
	is(&v_hex, "4095", "0xfff");
	not(&v_hex, "4096", -ERANGE, 0, "0 to 4095");
	is(&v_u128, "0xffffffffffffffffffffffffffffffff", "0xffffffffffffffffffffffffffffffff");
	is(&v_u128, "18446744073709551616", "0x10000000000000000");
	not(&v_u16, "65536", -ERANGE, 0, "0 to 65535");
	not(&v_vlan, "0", -ERANGE, 0, "1 to 4095");
	not(&v_vlan, "4096", -ERANGE, 0, "1 to 4095");
	not(&v_u16, "1000 2000", -EINVAL, 5, "more after");
	not(&v_u16, "80x", -EINVAL, 2, "more after");
	not(&v_u16, "1,2", -EINVAL, 1, "more after");
	not(&v_u16, "1..70000", -EINVAL, 1, "more after");
	not(&v_u16, "randomly", -EINVAL, 0, "not a number");
	not(&v_u128, "0x100000000000000000000000000000000", -ERANGE, 0, "too large");
}

static void test_addresses(void **state)
{
	static const uint8_t mac[] = {0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0x0f};

	(void)state;
	is(&v_mac, "aa:bb:cc:dd:ee:0F", "aa:bb:cc:dd:ee:0f");
	assert_memory_equal(val + 10, mac, 6);
	is(&v_mac, "aabb:ccdd:ee0f", "aa:bb:cc:dd:ee:0f");
	is(&v_mac, "aa-bb-cc-dd-ee-0f", "aa:bb:cc:dd:ee:0f");
	not(&v_mac, "aa:bb:cc:dd:ee", -EINVAL, 14, "MAC");
	not(&v_mac, "aa:bb:cc:dd:ee:ff:00", -EINVAL, 17, "MAC");
	not(&v_mac, "aa:bb:cc:dd:ee:fg", -EINVAL, 16, "MAC");
	not(&v_mac, "aa:bb-cc:dd:ee:ff", -EINVAL, 5, "MAC");
	not(&v_mac, "aabbccddeeff", -EINVAL, 12, "MAC");
	not(&v_mac, "aa:bb:cc:dd:ee:", -EINVAL, 15, "MAC");
	not(&v_mac, "a:b:c:d:e:f", -EINVAL, 1, "MAC");
	is(&v_ip4, "192.168.0.1", "192.168.0.1");
	not(&v_ip4, "192.168.0", -EINVAL, 9, "IPv4");
	not(&v_ip4, "192.168.0.256", -ERANGE, 10, "0 to 255");
	not(&v_ip4, "192.168.0.01", -ERANGE, 10, "leading zeros");
	not(&v_ip4, "192.168.0.1.", -EINVAL, 11, "more after");
	not(&v_ip4, "::1", -EINVAL, 0, "is an IPv6 address, for frames of `type ipv6`");
	not(&v_ip4, "10.0.0.0/16", -EINVAL, 8, "more after");
	not(&v_ip4, "10.0.0.0/33", -EINVAL, 8, "more after");
	is(&v_ip6, "2001:DB8:0:0::1", "2001:db8::1");
	is(&v_ip6, "::", "::");
	is(&v_ip6, "::ffff:1.2.3.4", "::ffff:1.2.3.4");
	not(&v_ip6, "10.0.0.1", -EINVAL, 0, "is an IPv4 address, for frames of `type ipv4`");
	not(&v_ip6, "2001:db8::g", -EINVAL, 10, "IPv6");
	not(&v_ip6, "2001:db8::/32", -EINVAL, 10, "IPv6");
}

static void test_flags(void **state)
{
	(void)state;
	is(&v_flags, "syn,ack", "syn,ack");
	assert_int_equal(val[15], 0x12);
	is(&v_flags, "ack,syn", "syn,ack");
	is(&v_flags, "none", "none");
	is(&v_flags, "clr", "none");
	is(&v_flags, "0x12", "syn,ack");
	is(&v_flags, "255", "fin,syn,rst,psh,ack,urg,ece,cwr");
	not(&v_flags, "syn,akc", -EINVAL, 4, "did you mean \"ack\"");
	not(&v_flags, "syn,", -EINVAL, 4, "unknown flag");
	not(&v_flags, "256", -ERANGE, 0, "too large");
}

static void test_hex(void **state)
{
	static const struct vspec two = {.type = &vt_hex, .min = 2, .max = 3};
	const struct hexbytes *h = (const void *)hex_val;
	char most[2 * HEXBYTES_MAX + 3];

	(void)state;
	hex_is(&v_hexbytes, "0102aa", "0102aa");
	assert_int_equal(h->n, 3);
	assert_memory_equal(h->b, "\x01\x02\xaa", 3);
	hex_is(&v_hexbytes, "01 02:aA", "0102aa");
	hex_is(&v_hexbytes, "0x0102 0x03", "010203");
	hex_is(&v_hexbytes, "01-02.03,04", "01020304");
	hex_is(&v_hexbytes, "none", "none");
	hex_is(&v_hexbytes, "", "none");
	hex_is(&two, "0102", "0102");
	not(&v_hexbytes, "012", -EINVAL, 2, "half a byte");
	not(&v_hexbytes, "0x", -EINVAL, 0, "half a byte");
	not(&v_hexbytes, "01 2 03", -EINVAL, 3, "half a byte");
	not(&v_hexbytes, "01xy", -EINVAL, 2, "not a hexadecimal digit");
	not(&v_hexbytes, ":01", -EINVAL, 0, "separates nothing");
	not(&v_hexbytes, "01:", -EINVAL, 2, "separates nothing");
	not(&two, "01", -ERANGE, 0, "fewer than 2");
	not(&two, "none", -EINVAL, 0, "2 to 3 bytes");
	not(&two, "01020304", -ERANGE, 6, "more than 3");
	memset(most, 'a', sizeof(most));
	most[2 * HEXBYTES_MAX] = '\0';
	hex_is(&v_hexbytes, most, most);
	most[2 * HEXBYTES_MAX] = 'a';
	most[2 * HEXBYTES_MAX + 2] = '\0';
	not(&v_hexbytes, most, -ERANGE, 2 * HEXBYTES_MAX, "more than 2046");
}

static const char *const kinds[] = {"door", "lane2", NULL};

static void target_is(const char *text, const char *canon)
{
	struct target t, u;
	struct err e;
	struct sbuf out = {0};

	if (target_parse(text, kinds, &t, &e) != 0)
		fail_msg("%s: %s", text, e.text);
	target_print(&t, &out);
	assert_string_equal(sbuf_str(&out), canon);
	assert_int_equal(target_parse(out.s, kinds, &u, &e), 0);
	assert_int_equal(t.n, u.n);
	assert_ptr_equal(t.kind, u.kind);
	assert_memory_equal(t.item, u.item, t.n * sizeof(t.item[0]));
	sbuf_free(&out);
}

static void target_not(const char *text, int rc, int col, const char *part)
{
	struct target t;
	struct err e = {0};

	int got = target_parse(text, kinds, &t, &e);
	if (got != rc || e.col != col || strstr(e.text, part) == NULL)
		fail_msg("\"%s\": %d at %d: %s", text, got, e.col, e.text);
}

static void test_targets(void **state)
{
	char many[512] = "0";

	(void)state;
	target_is("0", "0");
	target_is("all", "all");
	target_is("0,2-3,1/0-7,all/all,5/3", "0,2-3,1/0-7,all/all,5/3");
	target_is("2-2", "2");
	target_is("0/door.3,all/door.0-7,1-2/door.all", "0/door.3,all/door.0-7,1-2/door.all");
	target_is("5/lane2.0", "5/lane2.0");
	target_not("0/door", -EINVAL, 6, "a dot and a number");
	target_not("0/door.", -EINVAL, 7, "wanted here");
	target_not("0/door.all.1", -EINVAL, 10, "comma");
	target_not("0/lane.1", -EINVAL, 2, "there is /door.N, /lane2.N");
	target_not("0/all.1", -EINVAL, 5, "comma");
	target_not("0/door.1,1/lane2.1", -EINVAL, 9, "one sort");
	target_not("0/door.1,1", -EINVAL, 9, "one sort");
	target_not("1/1,0/door.1", -EINVAL, 4, "one sort");
	target_not("door.1", -EINVAL, 0, "wanted here");
	target_not("", -EINVAL, 0, "port list");
	target_not("0,", -EINVAL, 2, "wanted here");
	target_not("0,,1", -EINVAL, 2, "wanted here");
	target_not("3-1", -EINVAL, 0, "backwards");
	target_not("-1", -EINVAL, 0, "negative");
	target_not("0/", -EINVAL, 2, "wanted here");
	target_not("abc", -EINVAL, 0, "wanted here");
	target_not("allx", -EINVAL, 0, "wanted here");
	target_not("0x", -EINVAL, 1, "comma");
	target_not("1024", -ERANGE, 0, "0 to 1023");
	target_not("0-99999999999999999999", -ERANGE, 2, "0 to 1023");
	for (int i = 0; i < 63; i++)
		strcat(many, ",1");
	target_is(many, many);
	strcat(many, ",1");
	target_not(many, -ERANGE, 128, "more than 64");
}

static uint64_t rnd(void)
{
	static uint64_t s = 0x9e3779b97f4a7c15;

	s ^= s << 13;
	s ^= s >> 7;
	return s ^= s << 17;
}

static void test_per_second(void **state)
{
	static const struct vspec s = {.type = &vt_per_second};
	static const struct {
		const char *text, *canonical; /* NULL: refused */
		double value;
	} rows[] = {
		{"1k", "1k", 1e3},
		{"50000", "50k", 5e4},
		{"1.5M", "1.5M", 1.5e6},
		{"0.5", "0.5", 0.5},
		{"1G", "1G", 1e9},
		{"2K", "2k", 2e3},
		{"1k..3k over 30s", "1k..3k over 30s", 1e3},
		{"3k .. 1k step 500 every 1s", "3k..1k step 500 every 1s", 3e3},
		{"0", NULL, 0},
		{"2G", NULL, 0},
		{"1kpps", NULL, 0},
		{"10%", NULL, 0},
		{"1m", NULL, 0},
		{"1k..2k", NULL, 0},
		{"-1", NULL, 0},
		{"", NULL, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct rate r = {0};
		struct sbuf out = {0};
		struct err e;
		int rc = vt_per_second.parse(&s, rows[i].text, &r, &e);

		if ((rc == 0) != (rows[i].canonical != NULL))
			fail_msg("%s: %s", rows[i].text, rc == 0 ? "is taken" : e.text);
		if (rc == 0) {
			vt_per_second.print(&s, &r, &out);
			assert_string_equal(out.s, rows[i].canonical);
			assert_int_equal(r.kind, RATE_PPS);
			assert_true(r.value == rows[i].value);
		}
		sbuf_free(&out);
	}
	struct rate max;
	assert_int_equal(vt_per_second.parse(&s, "max", &max, NULL), 0);
	assert_int_equal(max.kind, RATE_MAX);
}

/* The load of a trial: as a rate, or a number of connections or transactions. */
static void test_rate_load(void **state)
{
	static const struct vspec s = {.type = &vt_rate_load};
	static const struct {
		const char *text, *canonical; /* NULL: refused */
		enum rate_kind kind;
		double value;
	} rows[] = {
		{"10", "10%", RATE_PERCENT, 10},
		{"1.5Mpps", "1.5Mpps", RATE_PPS, 1.5e6},
		{"3Gbps/l2", "3Gbps/l2", RATE_L2_BPS, 3e9},
		{"2Tbps", "2Tbps", RATE_L1_BPS, 2e12},
		{"max", "max", RATE_MAX, 0},
		{"10kcps", "10kcps", RATE_CPS, 1e4},
		{"1500CPS", "1.5kcps", RATE_CPS, 1500},
		{"5tps", "5tps", RATE_TPS, 5},
		{"5ktps", "5ktps", RATE_TPS, 5e3},
		{"0.25Mtps", "250ktps", RATE_TPS, 2.5e5},
		{"10k/s", "10k/s", RATE_EACH, 1e4},
		{"12345/s", "12.345k/s", RATE_EACH, 12345},
		{"2Gcps", NULL, 0, 0},
		{"5Ttps", NULL, 0, 0},
		{"10k", NULL, 0, 0},
		{"10cps/l2", NULL, 0, 0},
		{"1kcps..2kcps over 1s", NULL, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct rate r = {0};
		struct sbuf out = {0};
		struct err e;
		int rc = vt_rate_load.parse(&s, rows[i].text, &r, &e);
		if ((rc == 0) != (rows[i].canonical != NULL))
			fail_msg("%s: %s", rows[i].text, rc == 0 ? "taken" : e.text);
		if (rc != 0)
			continue;
		vt_rate_load.print(&s, &r, &out);
		assert_string_equal(sbuf_str(&out), rows[i].canonical);
		assert_int_equal(r.kind, rows[i].kind);
		assert_true(r.value == rows[i].value);
		sbuf_free(&out);
	}
}

/* Every number of a type prints to a text that gives it again. */
static void test_round_trip_values(void **state)
{
	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct rate r = {.kind = 1 + rnd() % 4}, back;
		struct sbuf out = {0};
		uint64_t n = rnd() >> (rnd() % 63 + 1), m;
		double f = (double)(rnd() >> 11) / 9007199254740992.0 + 1e-5;
		r.value = r.kind == RATE_PERCENT ? 100 * (f < 1 ? f : 1)
						 : 1 + f * (double)(rnd() >> (20 + rnd() % 40));
		if (r.value > 1e12)
			r.value = 1e12;
		vt_rate.print(&v_rate, &r, &out);
		if (vt_rate.parse(&v_rate, out.s, &back, NULL) != 0 || back.kind != r.kind ||
		    back.value != r.value)
			fail_msg("rate %d %.17g prints as %s", r.kind, r.value, out.s);
		sbuf_reset(&out);
		vt_duration.print(&v_dur, &n, &out);
		if (vt_duration.parse(&v_dur, out.s, &m, NULL) != 0 || m != n)
			fail_msg("duration %llu prints as %s", (unsigned long long)n, out.s);
		sbuf_reset(&out);
		n = n % 1000000000000000 + 1000;
		if (n > 1000000000000000)
			n = 1000000000000000;
		vt_speed.print(&v_speed, &n, &out);
		if (vt_speed.parse(&v_speed, out.s, &m, NULL) != 0 || m != n)
			fail_msg("speed %llu prints as %s", (unsigned long long)n, out.s);
		sbuf_free(&out);
	}
}

/* Random texts are made of pieces of values. What parses must print, and parse to the same
 * again. */
static void test_round_trip_texts(void **state)
{
	static const char *const piece[] = {"1",   "0",   "9",   ".",      "5",   "%",  "k", "M",
					    "G",   "pps", "bps", "/l2",    "ms",  "s",  "h", "x",
					    "ff",  ":",   "aa",  "auto",   "max", "on", "-", ",",
					    "syn", "..",  " ",   "random", "/",   "tcp"};
	unsigned parsed = 0;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		char text[128] = "";
		for (unsigned n = 1 + rnd() % 8; n > 0; n--)
			strcat(text, piece[rnd() % ARRAY_SIZE(piece)]);
		const struct vspec *s = specs[rnd() % ARRAY_SIZE(specs)];
		struct sbuf a = {0}, b = {0};
		struct err e;
		memset(val, 0, sizeof(val));
		memset(again, 0, sizeof(again));
		if (s->type->parse(s, text, val, &e) == 0) {
			parsed++;
			s->type->print(s, val, &a);
			if (s->type->parse(s, sbuf_str(&a), again, &e) != 0)
				fail_msg("\"%s\" prints as \"%s\": %s", text, sbuf_str(&a), e.text);
			s->type->print(s, again, &b);
			assert_string_equal(sbuf_str(&a), sbuf_str(&b));
		} else {
			assert_true(e.col >= 0 && e.col <= (int)strlen(text));
		}
		sbuf_free(&a);
		sbuf_free(&b);
	}
	assert_true(parsed > 5000);
}

static void test_complete(void **state)
{
	(void)state;
	completes(&v_bool, "", "on off ");
	completes(&v_bool, "e", "enable ");
	completes(&v_enum, "ic", "icmp icmpv6 ");
	completes(&v_rate, "m", "max ");
	completes(&v_rate, "5M", "5Mpps 5Mbps ");
	completes(&v_dur, "10", "10ns 10us 10ms 10s 10m 10h ");
	completes(&v_dur, "10m", "10ms 10m ");
	completes(&v_flags, "syn,a", "syn,ack ");
	completes(&v_flags, "fin,syn,rst,psh,ack,urg,",
		  "fin,syn,rst,psh,ack,urg,ece fin,syn,rst,psh,ack,urg,cwr ");
	completes(&v_size, "15", "1518 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_rate_load),
		cmocka_unit_test(test_per_second),
		cmocka_unit_test(test_locale),
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_speeds),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_field_numbers),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_hex),
		cmocka_unit_test(test_targets),
		cmocka_unit_test(test_round_trip_values),
		cmocka_unit_test(test_round_trip_texts),
		cmocka_unit_test(test_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
