/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests units and numbers in the spellings that people use. */
#include <stdio.h>

#include "value_is.h"

static const struct vspec v_rate = {.type = &vt_rate}, v_dur = {.type = &vt_duration},
			  v_uint = {.type = &vt_uint};
static const struct vspec v_size = {.type = &vt_size, .min = 64, .max = 1518},
			  v_speed = {.type = &vt_speed};

/* Spellings with one meaning are taken as people write them. Those with two meanings are
 * refused. */
static const struct vspec v_seconds = {.type = &vt_seconds}, v_share = {.type = &vt_share};
static const struct {
	const struct vspec *s;
	const char *text, *canon;
} spellings[] = {
	{&v_rate, "10gbps", "10Gbps"},
	{&v_rate, "10GBit/s", "10Gbps"},
	{&v_rate, "10 Gbit/s", "10Gbps"},
	{&v_rate, "10Gb/s", "10Gbps"},
	{&v_rate, "10gbit", "10Gbps"},
	{&v_rate, "10 gbps/l2", "10Gbps/l2"},
	{&v_rate, "100 mbit/s/l2", "100Mbps/l2"},
	{&v_rate, "5mpps", "5Mpps"},
	{&v_rate, "5 MPPS", "5Mpps"},
	{&v_rate, "1e6pps", "1Mpps"},
	{&v_rate, "1e6 pps", "1Mpps"},
	{&v_rate, "1.5E3kpps", "1.5Mpps"},
	{&v_rate, "25e-1%", "2.5%"},
	{&v_rate, "10 %", "10%"},
	{&v_rate, "10	%", "10%"},
	{&v_rate, "1e1", "10%"},
	{&v_rate, "1000 p/s", "1kpps"},
	{&v_rate, "1 Mpps .. 10 mpps over 30 s", "1Mpps..10Mpps over 30s"},
	{&v_rate, "1 %..10 % step 1 % every 1 min", "1%..10% step 1% every 1m"},
	{&v_dur, "10 s", "10s"},
	{&v_dur, "10sec", "10s"},
	{&v_dur, "10 seconds", "10s"},
	{&v_dur, "5 min", "5m"},
	{&v_dur, "2 Hours", "2h"},
	{&v_dur, "1e3ms", "1s"},
	{&v_dur, "1.5 ms", "1.5ms"},
	{&v_dur, "10usec", "10us"},
	{&v_dur, "10\u00b5s", "10us"},
	{&v_dur, "10 \u03bcs", "10us"},
	{&v_dur, "5m", "5m"},
	{&v_dur, "10S", "10s"},
	{&v_seconds, "1", "1s"},
	{&v_seconds, "0.25", "250ms"},
	{&v_seconds, "1e2", "100s"},
	{&v_seconds, "10 ms", "10ms"},
	{&v_seconds, "2m", "2m"},
	{&v_uint, "1e6", "1000000"},
	{&v_uint, "1.5e3", "1500"},
	{&v_uint, "10K", "10000"},
	{&v_uint, "2 M", "2000000"},
	{&v_uint, "1 g", "1000000000"},
	{&v_uint, "1500e-2", "15"},
	{&v_size, "128B", "128"},
	{&v_size, "128 bytes", "128"},
	{&v_size, "1e3", "1000"},
	{&v_speed, "100g", "100Gbps"},
	{&v_speed, "10 gbps", "10Gbps"},
	{&v_speed, "40000 mbit/s", "40Gbps"},
	{&v_speed, "1e9bps", "1Gbps"},
	{&v_share, "0.1 %", "0.1%"},
	{&v_share, "20 PPM", "20ppm"},
	{&v_share, "2e1ppm", "20ppm"},
};

static void test_spellings(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(spellings); i++)
		is(spellings[i].s, spellings[i].text, spellings[i].canon);
	/* This might be bytes or bits. */
	not(&v_rate, "1GBps", -EINVAL, 1, "did you mean \"Gbps\"");
	not(&v_rate, "1 GB/s", -EINVAL, 2, "ends in");
	not(&v_speed, "1GB/s", -EINVAL, 1, "ends in");
	/* This might be a thousandth or a million, minutes or millions. */
	not(&v_dur, "5M", -EINVAL, 1, "did you mean \"m\"");
	not(&v_dur, "5MS", -EINVAL, 1, "did you mean \"ms\"");
	not(&v_speed, "100m", -EINVAL, 3, "did you mean \"M\"");
	not(&v_uint, "5 m", -EINVAL, 2, "did you mean \"M\"");
	not(&v_dur, "5", -EINVAL, 1, "has no unit");
	not(&v_seconds, "1 2", -EINVAL, 2, "more after");
	not(&v_rate, "1 000pps", -EINVAL, 2, "more after");
	not(&v_rate, "max %", -EINVAL, 0, "not a rate");
	not(&v_rate, "200 %", -ERANGE, 0, "100%");
	/* Columns are those of the text that was typed. */
	not(&v_rate, "1 Mpps..2 Gbps over 1 s", -EINVAL, 8, "different units");
}

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed >> 33;
}

/* A number with its unit means the same with blanks, in any case where case does not matter, and
 * with an exponent. */
static void test_random_spellings(void **state)
{
	static const struct {
		const struct vspec *s;
		const char *unit;
		bool fold;
	} units[] = {
		{&v_rate, "kpps", true},   {&v_rate, "Mpps", true},  {&v_rate, "pps", true},
		{&v_rate, "%", false},     {&v_rate, "Gbps", false}, {&v_rate, "Mbps/l2", false},
		{&v_dur, "us", true},      {&v_dur, "ms", false},    {&v_dur, "s", true},
		{&v_dur, "h", true},       {&v_uint, "k", true},     {&v_uint, "G", true},
		{&v_speed, "Gbps", false}, {&v_share, "ppm", true},
	};
	uint64_t seed = 1;

	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		unsigned u = next(&seed) % ARRAY_SIZE(units), n = 1 + next(&seed) % 99,
			 zeros = next(&seed) % 3;
		char plain[64], odd[64], unit[16];
		const struct vspec *s = units[u].s;
		struct sbuf a = {0}, b = {0};
		struct err e;
		snprintf(plain, sizeof(plain), "%u%.*s%s", n, (int)zeros, "00", units[u].unit);
		snprintf(unit, sizeof(unit), "%s", units[u].unit);
		for (char *c = unit; units[u].fold && *c != '\0'; c++)
			if (next(&seed) % 2)
				*c = (char)(*c >= 'a' && *c <= 'z'   ? *c - 32
					    : *c >= 'A' && *c <= 'Z' ? *c + 32
								     : *c);
		snprintf(odd, sizeof(odd), next(&seed) % 2 ? "%ue%u%s%s" : "%ue+%u%s%s", n, zeros,
			 next(&seed) % 2 ? " " : "", unit);
		memset(val, 0, sizeof(val));
		memset(again, 0, sizeof(again));
		int rc = s->type->parse(s, plain, val, &e);
		if (s->type->parse(s, odd, again, &e) != rc)
			fail_msg("%s is not %s: %s", odd, plain, e.text);
		if (rc == 0) {
			s->type->print(s, val, &a);
			s->type->print(s, again, &b);
			assert_string_equal(a.s, b.s);
		}
		sbuf_free(&a);
		sbuf_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spellings),
		cmocka_unit_test(test_random_spellings),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
