/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests control by its own functions, without tables and sessions: what rates ask of a frame, what
 * a port may send, and the life of runs and devices, with real workers on a wire (ports 0 and 1)
 * and a null port (2). */
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ctl_wait.h"

static void test_asked_pps(void **state)
{
	bool max;
	struct rate r = {.kind = RATE_PERCENT, .value = 100};

	(void)state;
	assert_true(fabs(load_pps(&r, 10000000000, 64, &max) - 14880952.381) < 0.001);
	assert_false(max);
	assert_true(fabs(load_pps(&r, 800000000000, 64, &max) - 1190476190.476) < 0.001);
	r.value = 10;
	assert_true(fabs(load_pps(&r, 10000000000, 1518, &max) - 81274.382) < 0.001);
	r = (struct rate){.kind = RATE_PPS, .value = 0.5};
	assert_true(load_pps(&r, 10000000000, 64, &max) == 0.5);
	r = (struct rate){.kind = RATE_L1_BPS, .value = 672e6};
	assert_true(load_pps(&r, 0, 64, &max) == 1e6);
	r = (struct rate){.kind = RATE_L2_BPS, .value = 512e6};
	assert_true(load_pps(&r, 0, 64, &max) == 1e6);
	assert_false(max);
	r.kind = RATE_MAX;
	load_pps(&r, 10000000000, 64, &max);
	assert_true(max);
}

static struct ctl_port *bare_port(const struct port_spec *spec)
{
	struct ctl_port *cp = ctl_port_new();

	cp->p.id = 3;
	ctl_cfg_init(&cp->cfg);
	streams_default(cp);
	cp->p.applied = cp->cfg;
	cp->p.spec = spec;
	cp->p.used = true;
	return cp;
}

static void bare_free(struct ctl_port *cp)
{
	streams_free(cp);
	ctl_port_free(cp);
}

static void test_speed(void **state)
{
	static const struct port_spec nic = {.prefix = "nic"},
				      virtual = {.prefix = "v", .virtual_speed = true};
	struct ctl_port *cp = bare_port(&nic);

	(void)state;
	assert_int_equal(port_speed(&cp->p), 10000000000);
	cp->p.link_mbps = 25000;
	assert_int_equal(port_speed(&cp->p), 25000000000);
	cp->p.spec = &virtual; /* the speed that such a device tells means nothing */
	assert_int_equal(port_speed(&cp->p), 10000000000);
	cp->cfg.speed_bps = 100000000000;
	assert_int_equal(port_speed(&cp->p), 100000000000);
	bare_free(cp);
}

static void test_frame_limits(void **state)
{
	static const struct port_spec nic = {.prefix = "nic"};
	struct ctl_port *cp = bare_port(&nic);
	struct stream_cfg *s = &cp->stream[0]->cfg;
	static struct frame f;
	struct err e = {.text = ""};

	(void)state;
	assert_int_equal(recipe_max_size(cp, &s->frame.stack), 1518);
	s->sizes = (struct sizes){.kind = SIZES_FIXED, .n = 1, .item = {{1519, 1}}};
	assert_int_equal(stream_frame(cp, cp->stream[0], &f, &e), -EINVAL);
	assert_non_null(strstr(e.text, "port 3"));
	assert_int_equal(frame_stack_parse("eth/vlan/vlan/ipv4/udp", &s->frame.stack, &e), 0);
	assert_int_equal(recipe_max_size(cp, &s->frame.stack), 1526); /* tags are not counted */
	assert_int_equal(stream_frame(cp, cp->stream[0], &f, &e), 0);
	assert_int_equal(f.len, 1515);
	/* The next start applies this mtu; a run that goes on does not know of it. */
	cp->cfg.mtu = 9000;
	cp->restart = true;
	assert_int_equal(ctl_mtu(cp), 9000);
	cp->run.active = true;
	assert_int_equal(ctl_mtu(cp), 1500);
	cp->run.active = cp->restart = false;
	cp->p.dev_mtu = 4000; /* an interface knows its own mtu best */
	assert_int_equal(ctl_mtu(cp), 4000);
	bare_free(cp);
}

static void test_buffers(void **state)
{
	struct port_cfg cfg;
	struct port_need need = {.rx_pool = true};

	(void)state;
	ctl_cfg_init(&cfg);
	for (uint64_t mtu = 68; mtu <= 16000; mtu += 7) {
		assert_true(eal_data_room(mtu) >= RTE_PKTMBUF_HEADROOM + mtu + 14 + 8 + 4);
		assert_true(eal_data_room(mtu) <= UINT16_MAX);
	}
	assert_true(eal_tx_frames(&cfg, &need) >= 1024 + 512);
	assert_true(eal_rx_frames(&cfg, &need) >= 1024 + 512);
	cfg.mbufs = 77;
	assert_int_equal(eal_tx_frames(&cfg, &need), 77);
	assert_int_equal(eal_rx_frames(&cfg, &need), 77);
	need.rx_pool = false;
	assert_int_equal(eal_rx_frames(&cfg, &need), 0);
}

/* ---- with workers ---- */

static struct portset ports_of(unsigned a, unsigned b)
{
	struct portset s = {{0}};

	portset_add(&s, a);
	portset_add(&s, b);
	return s;
}

static int start(unsigned port, uint64_t ns, struct err *e)
{
	struct portset s = ports_of(port, port);

	return ctl_start(c, &s, ns, e);
}

static void stop(unsigned port)
{
	struct portset s = ports_of(port, port);

	ctl_stop(c, &s);
}

static struct snap_port port_now(unsigned port)
{
	struct snap *s = ctl_snapshot(c);
	struct snap_port p = s->port[port];

	p.queue = NULL;
	snap_free(s);
	free(s);
	return p;
}

static struct port_cfg *fresh(unsigned port, double pps, uint64_t count)
{
	struct port_cfg *cfg = ctl_port_cfg(c, port);
	struct portset all = ports_of(0, 1);

	portset_add(&all, 2);
	ctl_reset(c, port);
	cfg->rate = (struct rate){.kind = pps > 0 ? RATE_PPS : RATE_MAX, .value = pps};
	cfg->count = count;
	/* Frames go however late they are, because this machine may stand still, and here all that
	 * was due is counted. */
	cfg->catchup = (struct catchup){.kind = CATCHUP_KEEP};
	ctl_touch(c, port, WHY_ALL);
	ctl_turn(c);
	ctl_clear(c, &all);
	return cfg;
}

/* What some drivers do to frames is known. Others may do all that DPDK allows, and so may one of
 * the known ones that begins to make checksums in software. */
static void test_edits(void **state)
{
	static const struct {
		const char *driver;
		uint64_t offers;
		enum dp_edits edits;
	} known[] = {
		{"net_null", 0, DP_EDITS_NOTHING},
		{"net_ring", RTE_ETH_TX_OFFLOAD_MULTI_SEGS, DP_EDITS_NOTHING},
		{"net_null", RTE_ETH_TX_OFFLOAD_IPV4_CKSUM, DP_EDITS_ALL},
		{"net_ring", RTE_ETH_TX_OFFLOAD_TCP_TSO, DP_EDITS_ALL},
		{"net_pcap", 0, DP_EDITS_SHAPE},
		{"net_af_packet", RTE_ETH_TX_OFFLOAD_VLAN_INSERT, DP_EDITS_SHAPE},
		{"net_af_packet", RTE_ETH_TX_OFFLOAD_UDP_CKSUM, DP_EDITS_ALL},
		{"net_af_xdp", 0, DP_EDITS_SHAPE},
		{"net_memif", 0, DP_EDITS_SHAPE},
		{"net_ice", 0, DP_EDITS_SHAPE},
		{"mlx5_pci", RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_IPV4_CKSUM,
		 DP_EDITS_SHAPE},
		{"net_tap", 0, DP_EDITS_ALL},
		{"net_tap", RTE_ETH_TX_OFFLOAD_UDP_CKSUM, DP_EDITS_ALL},
		{"net_bonding", 0, DP_EDITS_ALL},
		{"net_failsafe", 0, DP_EDITS_ALL},
		{"net_virtio_user", 0, DP_EDITS_ALL},
		{"net_ic", 0, DP_EDITS_ALL},
		{"", 0, DP_EDITS_ALL},
		{NULL, 0, DP_EDITS_ALL},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(known); i++)
		assert_int_equal(dev_edits(known[i].driver, known[i].offers), known[i].edits);
}

/* The ports of this test are a wire and null. */
static void test_edits_of_ports(void **state)
{
	(void)state;
	for (unsigned p = 0; p < 3; p++)
		assert_int_equal(port_txq(&c->port[p]->p, 0)->edits, DP_EDITS_NOTHING);
}

static void test_start_and_stop_at_once(void **state)
{
	(void)state;
	fresh(2, 1000, 0);
	for (unsigned i = 0; i < 20; i++) {
		assert_int_equal(start(2, 0, NULL), 0);
		assert_true(ctl_sending(c, 2));
		stop(2);
		assert_true(ctl_bounded(c, 2));
		settle(2);
		assert_false(ctl_sending(c, 2));
		assert_int_equal(port_now(2).run.sent, 0);
	}
}

static void test_count_of_the_start(void **state)
{
	struct port_cfg *cfg = fresh(0, 10000, 3000);

	(void)state;
	assert_int_equal(start(0, 0, NULL), 0);
	ctl_turn(c);
	cfg->count = 10; /* this is for the next run */
	ctl_touch(c, 0, WHY_ALL);
	ctl_turn(c);
	cfg->count = 0;
	ctl_touch(c, 0, WHY_ALL);
	ctl_turn(c);
	assert_true(ctl_bounded(c, 0) || !ctl_sending(c, 0));
	settle(0);
	assert_int_equal(port_now(0).run.sent, 3000);
	assert_int_equal(port_now(1).rx.packets, 3000);
}

/* What a finished run was asked for, and how long it took, do not change with later settings. */
static void test_last_run(void **state)
{
	struct port_cfg *cfg = fresh(2, 20000, 200);

	(void)state;
	assert_int_equal(start(2, 0, NULL), 0);
	settle(2);
	struct snap_port a = port_now(2);
	cfg->rate.value = 5;
	ctl_touch(c, 2, WHY_ALL);
	ctl_turn(c);
	struct snap_port b = port_now(2);
	assert_int_equal(a.run.sent, 200);
	assert_true(a.run.asked_pps == 20000 && b.run.asked_pps == 20000);
	assert_true(a.run.duration_ns >= 9999000);
	/* The clock's figure becomes more exact meanwhile. */
	assert_true(llabs((long long)(a.run.duration_ns - b.run.duration_ns)) < 1000);
}

/* Plans come and go while a run of a bounded time goes on, and the clock's figure becomes more
 * exact. Not one frame more or less is sent. */
static void test_timed_with_changes(void **state)
{
	struct port_cfg *cfg = fresh(2, 200000, 0);

	(void)state;
	for (unsigned round = 0; round < 5; round++) {
		assert_int_equal(start(2, 100000000, NULL), 0);
		for (unsigned i = 0; ctl_sending(c, 2); i++) {
			clock_refine();
			cfg->burst = 1 + i % 512;
			ctl_touch(c, 2, WHY_ALL);
			ctl_turn(c);
			pause_ms(2);
		}
		settle(2);
		assert_int_equal(port_now(2).run.sent, 20000);
	}
}

/* A device can be restarted while another port sends, but not while one of its own group does. */
static void test_restart(void **state)
{
	struct port_cfg *cfg = fresh(0, 0, 1000);
	struct err e = {.text = ""};

	(void)state;
	fresh(2, 100000, 0);
	assert_int_equal(start(2, 0, NULL), 0);
	for (unsigned i = 0; i < 6; i++) {
		fresh(1, 1000, 0);
		assert_int_equal(start(1, 0, NULL), 0);
		ctl_turn(c);
		cfg->mtu = 1400 - i;
		cfg->txd = cfg->rxd = i % 2 ? 256 : 1024;
		ctl_touch(c, 0, WHY_ALL | WHY_RESTART);
		assert_int_equal(ctl_apply(c, 0, &e), -EBUSY);
		assert_int_equal(start(0, 0, &e), -EBUSY);
		assert_non_null(strstr(e.text, "stop 1"));
		stop(1);
		settle(1);
		fresh(1, 1000, 0);
		e.text[0] = '\0';
		if (start(0, 0, &e) != 0)
			fail_msg("%s", e.text);
		settle(0);
		assert_int_equal(port_now(0).run.sent, 1000);
		assert_int_equal(port_now(1).rx.packets, 1000);
	}
	uint64_t sent = port_now(2).run.sent;
	while (port_now(2).run.sent == sent)
		ctl_turn(c);
	stop(2);
	settle(2);
}

/* A restart that fails leaves the device as it was, however often that happens. Nothing is given
 * back twice. */
static void test_failed_restart(void **state)
{
	struct port_cfg *cfg = fresh(0, 0, 1000);
	struct err e = {.text = ""};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		cfg->mbufs = 1 << 24;
		ctl_touch(c, 0, WHY_ALL | WHY_RESTART);
		assert_int_equal(start(0, 0, &e), -ENODEV);
		assert_int_equal(start(0, 0, &e), -ENODEV);
		assert_non_null(strstr(e.text, "memory"));
		assert_false(ctl_sending(c, 0));
		cfg->mbufs = 0;
		ctl_touch(c, 0, WHY_ALL | WHY_RESTART);
		fresh(1, 0, 0);
		cfg->count = 1000;
		e.text[0] = '\0';
		if (start(0, 0, &e) != 0)
			fail_msg("%s", e.text);
		settle(0);
		assert_int_equal(port_now(0).run.sent, 1000);
		assert_int_equal(port_now(1).rx.packets, 1000);
	}
}

static volatile sig_atomic_t keep_out, is_out;

/* Keeps the worker from its CPU for as long as a test likes. */
static void on_signal(int sig)
{
	(void)sig;
	is_out = 1;
	while (keep_out)
		pause_ms(1);
	is_out = 0;
}

/* If a worker does not answer, the device stays as it is, the refusal names the worker, and nothing
 * of the attempt is left. */
static void test_refused_restart(void **state)
{
	struct port_cfg *cfg = fresh(0, 0, 1000);
	const struct ctl_worker *cw = &c->worker[c->port[0]->tx_worker[0]];
	struct err e = {.text = ""};
	char name[32];

	(void)state;
	fresh(1, 10000, 100); /* this is as many as a ring holds */
	assert_true(signal(SIGUSR1, on_signal) != SIG_ERR);
	snprintf(name, sizeof(name), "worker %u did", cw->lcore);
	cfg->mtu = 1400;
	ctl_touch(c, 0, WHY_ALL | WHY_RESTART);
	keep_out = 1;
	assert_int_equal(syscall(SYS_tgkill, getpid(), (pid_t)cell_get(&cw->tid), SIGUSR1), 0);
	while (!is_out)
		pause_ms(1);
	assert_int_equal(ctl_apply(c, 0, &e), -EBUSY);
	assert_non_null(strstr(e.text, name));
	assert_true(c->port[0]->p.started && c->port[1]->p.started && !c->port[0]->paused &&
		    c->port[0]->restart);
	keep_out = 0;
	while (is_out)
		pause_ms(1);
	/* The plans that are in use after that have the port, so frames that its partner sends come
	 * in. */
	assert_int_equal(start(1, 0, &e), 0);
	settle(1);
	assert_int_equal(port_now(1).run.sent, 100);
	assert_int_equal(port_now(0).rx.packets, 100);
	e.text[0] = '\0';
	if (start(0, 0, &e) != 0)
		fail_msg("%s", e.text);
	settle(0);
	assert_int_equal(port_now(0).run.sent, 1000);
}

static void test_few_buffers(void **state)
{
	struct port_cfg *cfg = fresh(0, 0, 0);
	struct err e = {.text = ""};

	(void)state;
	cfg->mbufs = 16;
	cfg->count = 5000;
	ctl_touch(c, 0, WHY_ALL | WHY_RESTART);
	assert_int_equal(start(0, 0, &e), -EINVAL);
	assert_non_null(strstr(e.text, "set 0 burst 16"));
	for (unsigned n = 16; n <= 1500; n += 371) {
		cfg->mbufs = n;
		cfg->burst = n < 32 ? n : 32;
		ctl_touch(c, 0, WHY_ALL | WHY_RESTART);
		e.text[0] = '\0';
		if (start(0, 0, &e) != 0)
			fail_msg("%s", e.text);
		settle(0);
		assert_int_equal(port_now(0).run.sent, 5000);
	}
}

/* A frame that the buffers in use cannot hold is not sent, even if the mtu that is wanted allows
 * it. */
static void test_frame_beyond_buffers(void **state)
{
	struct port_cfg *cfg = fresh(2, 50000, 0);
	struct stream_cfg *s = ctl_stream_cfg(c, 2, 0);
	struct ctl_event ev = {.port = 9};

	(void)state;
	while (ctl_event_next(c, &ev))
		;
	assert_int_equal(start(2, 0, NULL), 0);
	cfg->mtu = 9000;
	s->sizes = (struct sizes){.kind = SIZES_FIXED, .n = 1, .item = {{5000, 1}}};
	ctl_touch(c, 2, WHY_ALL | WHY_RESTART);
	ctl_touch_stream(c, 2, 0, WHY_ALL);
	ctl_turn(c);
	while (port_now(2).run.sent < 500)
		ctl_turn(c);
	assert_true(ctl_event_next(c, &ev));
	assert_int_equal(ev.port, 2);
	stop(2);
	settle(2);
	struct snap_port p = port_now(2);
	assert_int_equal(p.tx.bytes, p.tx.packets * 64);
	ctl_reset(c, 2);
}

static void test_all_or_none(void **state)
{
	struct portset both = ports_of(0, 2);
	struct err e = {.text = ""};

	(void)state;
	fresh(0, 1000, 0);
	fresh(2, 1000, 0);
	assert_int_equal(start(2, 0, NULL), 0);
	assert_int_equal(ctl_start(c, &both, 0, &e), -EBUSY);
	assert_false(ctl_sending(c, 0));
	stop(2);
	settle(2);
	assert_int_equal(ctl_start(c, &both, 30000000, &e), 0);
	settle(0);
	settle(2);
	assert_int_equal(port_now(0).run.sent, 30);
	assert_int_equal(port_now(2).run.sent, 30);
}

/* Closing takes a bounded time while all ports send, and EAL starts only once. */
static void test_close(void **state)
{
	static const char *const spec[] = {"null"};
	struct ctl_opts o = {.prog = "t", .ports = spec, .nports = 1};
	struct err e = {.text = ""};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		fresh(i, 0, 0);
		assert_int_equal(start(i, 0, NULL), 0);
	}
	ctl_turn(c);
	pause_ms(10);
	ctl_close(c);
	assert_true(ctl_open(&c, &o, &e) < 0);
	assert_non_null(strstr(e.text, "once"));
}

int main(void)
{
	static const char *const specs[] = {"wire", "null"};
	const struct CMUnitTest pure[] = {
		cmocka_unit_test(test_asked_pps),    cmocka_unit_test(test_speed),
		cmocka_unit_test(test_frame_limits), cmocka_unit_test(test_buffers),
		cmocka_unit_test(test_edits),
	};
	const struct CMUnitTest live[] = {
		cmocka_unit_test(test_edits_of_ports),
		cmocka_unit_test(test_start_and_stop_at_once),
		cmocka_unit_test(test_count_of_the_start),
		cmocka_unit_test(test_last_run),
		cmocka_unit_test(test_timed_with_changes),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_failed_restart),
		cmocka_unit_test(test_refused_restart),
		cmocka_unit_test(test_few_buffers),
		cmocka_unit_test(test_frame_beyond_buffers),
		cmocka_unit_test(test_all_or_none),
		cmocka_unit_test(test_close),
	};
	const char *bad[] = {"nosuch:thing"};
	struct ctl_opts o = {.prog = "ctl_test", .ports = bad, .nports = 1};
	struct err e = {.text = ""};
	int rc = cmocka_run_group_tests(pure, NULL, NULL);

	/* this fails before EAL starts, so another try is possible */
	if (ctl_open(&c, &o, &e) != -EINVAL)
		return 1;
	o = (struct ctl_opts){.prog = "ctl_test", .ports = specs, .nports = 2};
	if (ctl_open(&c, &o, &e) < 0) {
		fprintf(stderr, "the part with workers is skipped: %s\n", e.text);
		return rc != 0 ? rc : 77;
	}
	return rc + cmocka_run_group_tests(live, NULL, NULL);
}
