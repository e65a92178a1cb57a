/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts at both ends of a wire with real workers, of which one receives on a port and another one
 * sends: the rings between both and control, while settings change. Their counts say of each frame
 * what became of it. */
#include "ctl_live.h"
#include "host_ctl.h"
#include "host_face.h"

static void give_ip(unsigned port, unsigned last)
{
	struct host_cfg *cfg = work_cfg(ctl_port_cfg(c, port), &work_host);

	cfg->ip = (struct host_addrs){.n = 2,
				      .at = {{{[10] = 255, 255, 10, 0, 0, (uint8_t)last}, 96 + 24},
					     {{0xfd}, 64}}};
	cfg->ip.at[1].ip[15] = (uint8_t)last;
	ctl_touch(c, port, WHY_WORK);
}

static bool all_used(unsigned port)
{
	const struct neigh *n = host_of_port(c->port[port])->n;

	for (unsigned i = 0; i < 2; i++)
		if (n == NULL || neigh_own_state(n, i) != NEIGH_USED)
			return false;
	return true;
}

static void meet(void)
{
	give_ip(0, 1);
	give_ip(1, 2);
	for (unsigned i = 0; i < 60000 && !(all_used(0) && all_used(1)); i++) {
		ctl_turn(c);
		pause_ms(1);
	}
	assert_true(all_used(0) && all_used(1));
}

static struct host_counts counts(unsigned port)
{
	struct host_counts k;

	host_count(c, c->port[port], &k);
	return k;
}

/* What the host of the port has made, and what became of it. */
static uint64_t left(unsigned port)
{
	struct host_counts k = counts(port);
	uint64_t made = k.sent - k.dropped;

	for (unsigned i = 0; i < NEIGH_ANSWERED; i++)
		made += k.fate[i];
	return made;
}

static void echo_stream(unsigned port)
{
	struct stream_cfg *s = stream(port, 0);
	struct err e = {.text = ""};

	frame_spec_free(&s->frame);
	s->frame = (struct frame_spec){0};
	if (frame_stack_parse("eth/ipv4/icmp", &s->frame.stack, &e) < 0 ||
	    frame_vals_parse(&s->frame.vals, "eth.dst", "02:77:72:00:00:01", &e) < 0 ||
	    frame_vals_parse(&s->frame.vals, "ipv4.src", "10.0.0.1", &e) < 0 ||
	    frame_vals_parse(&s->frame.vals, "ipv4.dst", "10.0.0.2", &e) < 0)
		fail_msg("%s", e.text);
	ctl_touch_stream(c, port, 0, WHY_ALL);
}

/* One receives questions, another one answers them, and control makes frames, reads what neighbours
 * have said and changes what both do. */
static void test_rings(void **state)
{
	struct err e;
	struct portset both = only(0);

	(void)state;
	portset_add(&both, 1);
	fresh(0, 1)->rate = (struct rate){.kind = RATE_PPS, .value = 20000};
	fresh(1, 1);
	meet();
	echo_stream(0);
	stream(0, 0)->count = 6000;
	start(0, 0);
	for (unsigned i = 0; now(0).run.sent < 6000; i++) {
		struct host_cfg *cfg = work_cfg(ctl_port_cfg(c, 1), &work_host);
		ctl_turn(c);
		if (i % 5 == 0)
			host_announce(c, &both, &e);
		if (i % 7 == 0)
			host_forget(c, &both);
		if (i % 11 == 0) { /* a new plan for both workers */
			cfg->proxy.n = !cfg->proxy.n;
			cfg->proxy.at[0] = (struct neigh_prefix){{0xfd, 1}, 64};
			ctl_touch(c, 1, WHY_WORK);
		}
		(void)left(1);
		pause_ms(1);
	}
	settle(0);
	for (unsigned i = 0; i < 60000 && counts(1).fate[NEIGH_DID_PING] < 6000; i++) {
		ctl_turn(c);
		pause_ms(1);
	}
	assert_int_equal(counts(1).fate[NEIGH_DID_PING], 6000);
	assert_true(counts(1).sent > 10 && counts(0).sent > 10);
	assert_true(counts(0).fate[NEIGH_HEARD] + counts(0).fate[NEIGH_DID_ARP] > 0);
	/* Control goes on to speak now and then; the wire brings it all. */
	for (unsigned i = 0; i < 10000 && now(1).tx.packets != left(1); i++) {
		ctl_turn(c);
		pause_ms(1);
	}
	assert_int_equal(now(1).tx.packets, left(1));
	assert_int_equal(now(0).tx.packets, 6000 + left(0));
	assert_true(now(1).tx.dropped <= counts(1).dropped);
}

/* Frames that wait for the other worker when a host ends are given back and counted. */
static void test_it_ends_meanwhile(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 5; round++) {
		uint64_t before = counts(1).fate[NEIGH_DID_PING];
		stream(0, 0)->count = 0;
		ctl_touch_stream(c, 0, 0, WHY_ALL);
		start(0, 0);
		for (unsigned i = 0; i < 60000 && counts(1).fate[NEIGH_DID_PING] < before + 200;
		     i++) {
			ctl_turn(c);
			pause_ms(1);
		}
		struct host_cfg *cfg = work_cfg(ctl_port_cfg(c, 1), &work_host);
		cfg->ip.n = 0;
		ctl_touch(c, 1, WHY_WORK);
		taken_up();
		stop(0);
		assert_true(counts(1).fate[NEIGH_DID_PING] >= before + 200);
		give_ip(1, 2);
		meet();
	}
	taken_up();
	for (unsigned i = 0; i < 10000 && now(1).tx.packets != left(1); i++) {
		ctl_turn(c);
		pause_ms(1);
	}
	assert_int_equal(now(1).tx.packets, left(1));
}

int main(void)
{
	static const char *const specs[] = {"wire"};
	static const char *const maps[] = {"1:2.0", "2:1.1"};
	const struct ctl_opts o = {
		.prog = "host_live_test", .ports = specs, .nports = 1, .maps = maps, .nmaps = 2};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rings),
		cmocka_unit_test(test_it_ends_meanwhile),
	};

	if (!live_open_on(o, "(0-1)@%d,2@%d"))
		return 77;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	ctl_close(c);
	return failed;
}
