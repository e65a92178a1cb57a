/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what a wire does to frames, as values. */
#include "value_is.h"

static void test_devices(void **state)
{
	static const char *const burst[] = {"burst", NULL};
	static const struct vspec v_loss = {.type = &vt_hits,
					    .min = 1,
					    .max = 100,
					    .choices = burst},
				  v_copy = {.type = &vt_hits},
				  v_limit = {.type = &vt_limit, .min = 512, .max = 4096},
				  v_delay = {.type = &vt_delay, .max = 60000000000},
				  v_flap = {.type = &vt_flap, .min = 1000000, .max = 3600000000000};
	struct hits h;
	struct delay d;

	(void)state;
	is(&v_loss, "none", "none");
	is(&v_loss, "0", "none");
	is(&v_loss, "off", "none");
	is(&v_loss, "0.10%", "0.1%");
	is(&v_loss, "5", "5%");
	is(&v_loss, "every 1k", "every 1000");
	is(&v_loss, "0.1%  burst 8", "0.1% burst 8");
	memcpy(&h, val, sizeof(h));
	assert_true(h.percent == 0.1 && h.every == 0 && h.with == 8 && h.has_with);
	not(&v_loss, "", -EINVAL, 0, "nothing");
	not(&v_loss, "101%", -EINVAL, 0, "101%");
	not(&v_loss, "5pps", -EINVAL, 0, "share of the frames");
	not(&v_loss, "every", -EINVAL, 5, "nothing behind \"every\"");
	not(&v_loss, "every 0", -ERANGE, 6, "0th");
	not(&v_loss, "1% burst 101", -ERANGE, 9, "1 to 100");
	not(&v_loss, "1% burts 8", -EINVAL, 3, "burts");
	not(&v_loss, "1% burst 8 9", -EINVAL, 11, "behind the value");
	not(&v_loss, "1 2 3 4 5", -EINVAL, 8, "more after");
	not(&v_copy, "1% burst 8", -EINVAL, 3, "burst");
	completes(&v_loss, "", "none 0.1% 1% every ");
	completes(&v_loss, "0.5% b", "0.5% burst ");
	completes(&v_loss, "0.5% burst ", "");
	completes(&v_copy, "1% b", "");

	is(&v_limit, "3Mpps", "3Mpps queue 512");
	is(&v_limit, "1Gbps/l2 queue 1", "1Gbps/l2 queue 1");
	is(&v_limit, "10 queue 4096", "10% queue 4096");
	is(&v_limit, "none", "none");
	is(&v_limit, "max", "none");
	not(&v_limit, "3Mpps queue 0", -ERANGE, 12, "1 to 4096");
	not(&v_limit, "3Mpps queue", -EINVAL, 11, "nothing behind \"queue\"");
	not(&v_limit, "max queue 3", -EINVAL, 0, "no limit");
	completes(&v_limit, "3Mpps q", "3Mpps queue ");
	completes(&v_limit, "3M", "3Mpps 3Mbps ");
	completes(&v_delay, "no", "none normal ");
	completes(&v_flap, "1s e", "1s every ");

	is(&v_delay, "1ms", "1ms");
	is(&v_delay, "0s", "0s");
	is(&v_delay, "1ms..1.5ms", "1ms..1.5ms");
	memcpy(&d, val, sizeof(d));
	assert_true(d.law == DELAY_UNIFORM && d.a_ns == 1000000 && d.b_ns == 1500000);
	is(&v_delay, "normal 1ms 100us", "normal 1ms 100us");
	is(&v_delay, "exponential 1ms", "exponential 1ms");
	not(&v_delay, "2ms..1ms", -EINVAL, 0, "above its begin");
	not(&v_delay, "1ms..", -EINVAL, 0, "duration");
	not(&v_delay, "normal 1ms", -EINVAL, 10, "nothing behind");
	not(&v_delay, "61s", -ERANGE, 0, "too long");
	not(&v_delay, "exponential 1ms 2ms", -EINVAL, 16, "behind the value");

	is(&v_flap, "100ms every 10s", "100ms every 10s");
	is(&v_flap, "none", "none");
	not(&v_flap, "100ms", -EINVAL, 5, "how often");
	not(&v_flap, "100us every 1s", -ERANGE, 0, "too short");
	not(&v_flap, "1s every 1s", -ERANGE, 9, "no time to be up");
	not(&v_flap, "1s every 2h", -ERANGE, 9, "too seldom");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_devices)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
