/* SPDX-License-Identifier: BSD-3-Clause */
/* Traceroute: where a way ends by what was heard, in which order ever, and the hop limit of its
 * frames. */
#include "neigh_trace.h"
#include "neigh_world.h"

static struct neigh_trace t;

static int trace_begin(void **state)
{
	(void)state;
	neigh_trace_init(&t, 30, 3);
	return 0;
}

static void hear(enum neigh_pings_kind kind, uint64_t number, unsigned type, unsigned code)
{
	struct neigh_pong pong = {.type = (uint8_t)type, .code = (uint8_t)code};

	ip4(pong.ip, 9);
	neigh_trace_hear(&t, &(struct neigh_pings_news){.kind = kind,
							.number = number,
							.rtt_ns = 1000 + number,
							.pong = kind == NEIGH_PINGS_LOST ? NULL
											 : &pong});
}

static void expired(uint64_t number)
{
	hear(NEIGH_PINGS_ERROR, number, 11, 0);
}

static void refused(uint64_t number)
{
	hear(NEIGH_PINGS_ERROR, number, 3, 1);
}

static void lost(uint64_t number)
{
	hear(NEIGH_PINGS_LOST, number, 0, 0);
}

static void answered(uint64_t number)
{
	hear(NEIGH_PINGS_ANSWERED, number, 0, 0);
}

static void test_it_ends_at_the_destination(void **state)
{
	(void)state;
	assert_int_equal(neigh_trace_end(&t), 0);
	assert_int_equal(neigh_trace_count(&t), 90);
	for (unsigned i = 0; i < 6; i++)
		expired(i);
	assert_int_equal(neigh_trace_end(&t), 0);
	/* a farther one first, as answers overtake each other */
	answered(10);
	assert_int_equal(neigh_trace_end(&t), 4);
	answered(7);
	assert_int_equal(neigh_trace_end(&t), 3);
	assert_int_equal(neigh_trace_count(&t), 9);
	assert_true(neigh_trace_reached(&t));
	assert_int_equal(neigh_trace_in(&t, 9, NEIGH_TRACE_OPEN), 2);
	assert_int_equal(neigh_trace_probe(&t, 2, 1)->rtt_ns, 1007);
}

static void test_late_and_twice(void **state)
{
	(void)state;
	lost(0);
	assert_int_equal(neigh_trace_probe(&t, 0, 0)->state, NEIGH_TRACE_LOST);
	hear(NEIGH_PINGS_LATE, 0, 0, 0);
	assert_int_equal(neigh_trace_probe(&t, 0, 0)->state, NEIGH_TRACE_REACHED);
	expired(1);
	hear(NEIGH_PINGS_DUPLICATE, 1, 0, 0);
	assert_int_equal(neigh_trace_probe(&t, 0, 1)->state, NEIGH_TRACE_ERROR);
	answered(90); /* there is no such request */
}

/* One router of several that refuses does not end it, as others go on. */
static void test_it_ends_where_all_refuse(void **state)
{
	(void)state;
	refused(0);
	assert_int_equal(neigh_trace_end(&t), 0); /* others may still say something else */
	expired(1);
	lost(2);
	assert_int_equal(neigh_trace_end(&t), 0);
	refused(3);
	lost(4);
	lost(5);
	assert_int_equal(neigh_trace_end(&t), 2);
	assert_false(neigh_trace_reached(&t));
	expired(5); /* late, but it says that there is a way on */
	assert_int_equal(neigh_trace_end(&t), 0);
	refused(4);
	answered(8);
	assert_int_equal(neigh_trace_end(&t), 3);
	assert_true(neigh_trace_reached(&t));
}

static void test_the_name_of_expiry(void **state)
{
	struct neigh_pong pong = {.type = 3};

	(void)state;
	ip4(pong.ip, 1);
	assert_false(neigh_pong_expired(&pong)); /* of ICMP it means unreachable */
	ip6(pong.ip, 1);
	assert_true(neigh_pong_expired(&pong));
}

/* No more is sent than some hops beyond the first of which something is open. */
static void test_how_far_ahead(void **state)
{
	(void)state;
	assert_int_equal(neigh_trace_due(&t), 3 * NEIGH_TRACE_AHEAD);
	expired(0);
	lost(1);
	expired(5);
	assert_int_equal(neigh_trace_due(&t), 3 * NEIGH_TRACE_AHEAD);
	expired(2);
	assert_int_equal(neigh_trace_due(&t), 3 * (NEIGH_TRACE_AHEAD + 1));
	answered(10);
	assert_int_equal(neigh_trace_due(&t), 12);
	neigh_trace_init(&t, 2, 10);
	assert_int_equal(neigh_trace_due(&t), 20);
	for (unsigned i = 0; i < 20; i++)
		lost(i);
	assert_int_equal(neigh_trace_due(&t), 20);
	assert_int_equal(neigh_trace_in(&t, 20, NEIGH_TRACE_LOST), 20);
}

/* The hop limit goes into a frame that was built, and its checksums stay right. */
static void test_hop_limits(void **state)
{
	static const struct neigh_self self = {.tags = {1, {{0x8100, 7}}}};
	uint8_t f[ROOM];
	uint16_t first;

	(void)state;
	for (unsigned six = 0; six < 2; six++)
		for (unsigned hops = 1; hops <= 255; hops++) {
			struct neigh_ping p = {.id = 0x1234};
			(six ? ip6 : ip4)(p.from, 1);
			(six ? ip6 : ip4)(p.to, 2);
			unsigned len = neigh_ping_least(&self, p.to);
			unsigned at = neigh_ping_frame(&self, &p, mac_b, 64, f, len, &first);
			neigh_ping_number(f + at, first, hops);
			uint8_t *ip = f + NEIGH_ETH + NEIGH_TAG;
			neigh_ping_hops(ip, hops);
			assert_int_equal(ip[six ? 7 : 8], hops);
			if (six) {
				unsigned n = len - at;
				assert_int_equal(neigh_sum(f + at, n, neigh_sum_ip6(ip, n)), 0);
			} else {
				assert_int_equal(neigh_sum(ip, NEIGH_IP4, 0), 0);
				assert_int_equal(neigh_sum(f + at, len - at, 0), 0);
			}
		}
}

#define TRACE(name) cmocka_unit_test_setup(name, trace_begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACE(test_it_ends_at_the_destination),
		TRACE(test_late_and_twice),
		TRACE(test_it_ends_where_all_refuse),
		TRACE(test_the_name_of_expiry),
		TRACE(test_how_far_ahead),
		TRACE(test_hop_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
