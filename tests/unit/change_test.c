/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests changes while streams with counts are sent. Control is the real one, and the test turns the
 * workers by hand, so that each takes up each plan as late as it likes. Whatever changes when, all
 * queues together send each stream exactly as often as its count said when the run began. */
#include "dp_fake.h"
#include "ctl_int.h"
#include "effort.h"
#include "port_spec.h"
#include "send_groups.h"

#define IDS 8
#define CELLS 512

static const struct port_spec plain = {.prefix = "plain"};

struct bench {
	struct ctl *c;
	struct ctl_port *cp;
	unsigned nq;
	uint64_t sent[CELLS]; /* frames that the device took in this run, by cell */
	/* the ordinal of the frame before, as that frame said it; -1: none */
	int32_t last[FAKE_QUEUES][CELLS];
	uint64_t base[CELLS];   /* what control had counted when the run began */
	uint64_t expect[CELLS]; /* frames of the run; UINT64_MAX: without end */
	struct cnt_sizes sizes; /* of the frames that the device took in all runs */
	struct {
		struct bench *b;
		unsigned q;
	} at[FAKE_QUEUES];
};

/* Looks at a frame that the device takes. Its cell stands in eth.dst, and its ordinal in
 * udp.src. */
static void look(void *arg, const struct rte_mbuf *m)
{
	struct {
		struct bench *b;
		unsigned q;
	} *at = arg;
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);
	unsigned cell = (unsigned)(p[4] << 8 | p[5]);
	int32_t o = p[34] << 8 | p[35], *last = &at->b->last[at->q][cell];

	assert_true(cell < CELLS);
	int32_t step = (o - *last) & 0xffff;
	/* ordinals have 16 bits here */
	if (*last >= 0 && (step == 0 || step > (at->b->nq == 1 ? 1 : 0x7fff)))
		fail_msg("cell %u on queue %u of %u: ordinal %d after %d", cell, at->q, at->b->nq,
			 o, *last);
	*last = o;
	at->b->sent[cell]++;
	at->b->sizes.n[cnt_size_class(m->pkt_len + RTE_ETHER_CRC_LEN)]++;
}

static struct stream *stream(struct bench *b, unsigned id)
{
	return stream_at(b->cp, id);
}

static void dress(struct bench *b, unsigned id)
{
	struct stream *s = stream(b, id);
	const struct proto *udp = proto_find("udp");
	char mac[32];
	struct err e;

	snprintf(mac, sizeof(mac), "02:00:00:00:%02x:%02x", s->cell >> 8, s->cell & 255);
	assert_int_equal(frame_vals_parse(&s->cfg.frame.vals, "eth.dst", mac, &e), 0);
	frame_vals_vary(&s->cfg.frame.vals, udp, 1, proto_field(udp, "src"),
			&(struct vary){.kind = VARY_RANGE,
				       .bits = 16,
				       .lo = 0,
				       .hi = 65535,
				       .step = 1,
				       .div = 1});
	ctl_touch_stream(b->c, 0, (int)id, WHY_ALL);
}

static struct bench *bench_new(unsigned nq)
{
	struct bench *b = xcalloc(1, sizeof(*b));
	struct ctl *c = b->c = ctl_new();
	struct ctl_port *cp = b->cp = c->port[c->nports++] = ctl_port_new();
	static unsigned serial;
	struct err e;

	fake_open();
	EACH_WORK(w, ctl_open)
		w->ctl_open(c);
	b->nq = nq;
	cp->p.spec = &plain;
	cp->p.ntxq = (uint16_t)nq;
	cp->p.nqueues = nq;
	cp->p.used = cp->p.started = true;
	ctl_reset(c, 0);
	cp->p.applied = cp->cfg;
	cp->restart = false;
	cp->p.tx = xcalloc(nq, sizeof(*cp->p.tx));
	cp->tx_worker = xcalloc(nq, sizeof(*cp->tx_worker));
	c->worker = xcalloc(nq, sizeof(*c->worker));
	c->nworkers = nq;
	for (unsigned q = 0; q < nq; q++) {
		char name[24];
		snprintf(name, sizeof(name), "c%u", serial++);
		c->worker[q].w = zeroed(sizeof(struct dp_worker));
		assert_int_equal(mbox_open(&c->worker[q].w->mbox, name, SOCKET_ID_ANY, &e), 0);
		cp->tx_worker[q] = (int)q;
		cp->p.tx[q] = (struct port_txq){.n = 1, .share = {zeroed(sizeof(struct dp_txq))}};
		port_txq(&cp->p, q)->dev = FAKE_DEV;
		port_txq(&cp->p, q)->queue = (uint16_t)q;
		port_txq(&cp->p, q)->pool_size = 1500;
		port_txq(&cp->p, q)->pool = pool_of(1500);
		b->at[q].b = b;
		b->at[q].q = q;
		fake[q].judge = look;
		fake[q].arg = &b->at[q];
		fake[q].hold = 200;
		fake[q].drops = true;
	}
	EACH_WORK(w, port_open)
		assert_int_equal(w->port_open(c, cp, &e), 0);
	return b;
}

static void bench_free(struct bench *b)
{
	struct ctl *c = b->c;
	struct ctl_port *cp = b->cp;

	for (unsigned q = 0; q < b->nq; q++) {
		fake_release(&fake[q], 0);
		assert_true(rte_mempool_full(port_txq(&cp->p, q)->pool));
		rte_mempool_free(port_txq(&cp->p, q)->pool);
		mbox_close(&c->worker[q].w->mbox);
		plan_free(c, c->worker[q].posted);
		free(c->worker[q].w);
		if (cp->seen != NULL)
			free(cp->seen[q]);
	}
	for (unsigned i = 0; i < c->nold; i++)
		plan_free(c, c->old[i].plan);
	EACH_WORK(w, ctl_close)
		w->ctl_close(c);
	EACH_WORK(w, port_close)
		w->port_close(c, cp);
	for (unsigned q = 0; q < b->nq; q++)
		free(port_txq(&cp->p, q));
	free(cp->seen);
	free(cp->p.tx);
	free(cp->tx_worker);
	streams_free(cp);
	frame_vals_free(&cp->dflt);
	ctl_port_free(cp);
	EACH_WORK(w, ctl_end)
		w->ctl_end(c);
	free(c->old);
	free(c->worker);
	ctl_free(c);
	free(b);
}

static void control(struct bench *b)
{
	ctl_turn(b->c);
}

static void work(struct bench *b, unsigned q, unsigned turns)
{
	while (turns-- > 0)
		dp_turn(b->c->worker[q].w);
}

static void all_turn(struct bench *b, unsigned turns)
{
	for (unsigned i = 0; i < turns; i++) {
		control(b);
		for (unsigned q = 0; q < b->nq; q++)
			work(b, q, 1);
	}
}

/* Returns how many lines have said that something is for the next start. */
static unsigned notes(struct bench *b)
{
	struct ctl_event ev;
	unsigned n = 0;

	while (ctl_event_next(b->c, &ev))
		n += strstr(ev.text, "until the next start") != NULL;
	return n;
}

static void to_the_end(struct bench *b)
{
	for (unsigned i = 0; i < 200000000 && b->cp->run.active; i++)
		all_turn(b, 1);
	assert_false(b->cp->run.active);
}

/* Checks that control's numbers for the streams are what the device took. */
static void check_cells(struct bench *b)
{
	struct cnt_stream *sum = stream_cells(b->cp);
	struct cnt_sizes sizes = {0};

	for (unsigned q = 0; q < b->nq; q++)
		assert_true(gen_sizes(send_of(b->cp)->gen[q], &sizes));
	assert_memory_equal(&sizes, &b->sizes, sizeof(sizes));

	for (unsigned s = 0; s < CELLS; s++)
		assert_int_equal(sum[s].packets - b->base[s], b->sent[s]);
	free(sum);
}

static unsigned streams_on(const struct bench *b)
{
	unsigned n = 0;

	for (unsigned id = 0; id < IDS; id++)
		n += stream_at(b->cp, id) != NULL && stream_at(b->cp, id)->cfg.enabled;
	return n;
}

static void touch(struct bench *b, unsigned id)
{
	ctl_touch_stream(b->c, 0, (int)id, WHY_ALL);
}

static unsigned some_stream(struct bench *b)
{
	unsigned id;

	do
		id = any(IDS);
	while (stream(b, id) == NULL);
	return id;
}

static void own_rate(struct stream *s)
{
	s->cfg.rate = (struct own_rate){.set = any(2),
					.rate = {.kind = any(3) ? RATE_PPS : RATE_MAX,
						 .value = 1e6 + any(1000000)}};
}

static void size(struct stream *s)
{
	static const struct sizes some[] = {
		{.kind = SIZES_AUTO},
		{.kind = SIZES_FIXED, .n = 1, .item = {{200, 1}}},
		{.kind = SIZES_LIST, .n = 2, .item = {{64, 2}, {128, 1}}},
	};

	s->cfg.sizes = some[any(3)];
}

static void add(struct bench *b, unsigned id)
{
	assert_int_equal(ctl_stream_add(b->c, 0, (int)id, 1, -1, NULL), id);
	struct stream *s = stream(b, id);
	dress(b, id);
	s->cfg.weight = 1 + any(3);
	s->cfg.count = 1 + any(3000);
}

static void value(struct stream *s)
{
	char ttl[8];
	struct err e;

	snprintf(ttl, sizeof(ttl), "%u", 1 + any(255));
	assert_int_equal(frame_vals_parse(&s->cfg.frame.vals, "ipv4.ttl", ttl, &e), 0);
}

/* Changes one setting: of what is sent, or of which streams take turns, which waits for the next
 * start. */
static void change(struct bench *b)
{
	unsigned id = some_stream(b), other = any(IDS);
	struct stream *s = stream(b, id);
	struct rate *rate = &b->cp->cfg.rate;

	touch(b, id);
	switch (any(10)) {
	case 0:
		s->cfg.weight = 1 + any(5);
		break;
	case 1:
		s->cfg.enabled = !s->cfg.enabled;
		break;
	case 2:
		if (stream(b, other) == NULL)
			add(b, other);
		break;
	case 3:
		if (b->cp->total == 1)
			break;
		assert_int_equal(ctl_stream_delete(b->c, 0, id, NULL), 0);
		if (any(2)) /* another stream with the same id */
			add(b, id);
		break;
	case 4:
		own_rate(s);
		break;
	case 5:
		size(s);
		break;
	case 6:
		*rate = (struct rate){.kind = any(2)   ? RATE_MAX
					      : any(2) ? RATE_L1_BPS
						       : RATE_PPS,
				      .value = 3e9};
		if (rate->kind == RATE_PPS)
			rate->value = 3e6;
		break;
	case 7:
		s->cfg.count = any(6) == 0 ? 0 : 1 + any(4000);
		break;
	case 8:
		if (stream(b, other) == NULL)
			assert_int_equal(ctl_stream_move(b->c, 0, id, other, NULL), 0);
		break;
	default:
		value(s);
		break;
	}
}

/* Notes what the run that begins will send, by the settings. */
static void expect(struct bench *b)
{
	memset(b->expect, 0, sizeof(b->expect));
	for (unsigned id = 0; id < IDS; id++) {
		const struct stream *s = stream_at(b->cp, id);
		if (s != NULL && s->cfg.enabled)
			b->expect[s->cell] = s->cfg.count != 0 ? s->cfg.count : UINT64_MAX;
	}
}

static bool has_end(const struct bench *b)
{
	for (unsigned s = 0; s < CELLS; s++)
		if (b->expect[s] == UINT64_MAX)
			return false;
	return true;
}

/* Begins a run. changes: settings may change in the same turn of control, and belong to the
 * beginning of the run. */
static void begin(struct bench *b, uint64_t ns, bool changes)
{
	struct portset all = {{0}};
	struct err e = {.text = ""};
	struct cnt_stream *sum = stream_cells(b->cp);

	portset_add(&all, 0);
	for (unsigned s = 0; s < CELLS; s++)
		b->base[s] = sum[s].packets;
	free(sum);
	memset(b->sent, 0, sizeof(b->sent));
	memset(b->last, 0xff, sizeof(b->last));
	if (ctl_start(b->c, &all, ns, &e) < 0)
		fail_msg("%s", e.text);
	while (changes && any(3) == 0)
		change(b);
	if (streams_on(b) == 0) {
		stream_first(b->cp)->cfg.enabled = true;
		touch(b, stream_first(b->cp)->cfg.id);
	}
	expect(b);
	control(b);
	while ((int64_t)(clock_tsc() - b->cp->run.start_tsc) < 0)
		all_turn(b, 1);
}

/* Turns queues and control in random order. Sometimes one queue is left out all the time. */
static void some_turns(struct bench *b)
{
	unsigned left_out = any(3) == 0 ? any(b->nq) : b->nq;

	for (unsigned i = any(12); i > 0; i--) {
		unsigned q = any(b->nq);
		if (any(3) == 0)
			control(b);
		if (q != left_out)
			work(b, q, any(4));
	}
}

static void check_counts(struct bench *b, bool all)
{
	for (unsigned s = 0; s < CELLS; s++)
		if (b->sent[s] > b->expect[s] || (all && b->sent[s] != b->expect[s]))
			fail_msg("cell %u on %u queues: %llu frames, not %llu", s, b->nq,
				 (unsigned long long)b->sent[s], (unsigned long long)b->expect[s]);
	check_cells(b);
}

static void stop(struct bench *b)
{
	struct portset all = {{0}};

	portset_add(&all, 0);
	ctl_stop(b->c, &all);
	to_the_end(b);
}

/* Makes a run with changes. Returns whether it came to its end by its counts. */
static bool one_run(struct bench *b, unsigned changes)
{
	begin(b, any(4) == 0 ? 1 + any(20000000) : 0, true);
	for (unsigned n = 0; n < changes && b->cp->run.active; n++) {
		if (any(4) > 0)
			change(b);
		if (any(2))
			control(b);
		some_turns(b);
		check_counts(b, false);
		/* Devices may take nothing for a while, and take frames again. */
		for (unsigned q = 0; q < b->nq; q++)
			if (any(10) == 0)
				fake[q].take = fake[q].take == TAKE_NONE ? TAKE_RANDOM : TAKE_NONE;
		if (any(60) == 0) {
			stop(b);
			check_counts(b, false);
			return false;
		}
	}
	for (unsigned q = 0; q < b->nq; q++)
		fake[q].take = fake[q].take == TAKE_NONE ? TAKE_RANDOM : fake[q].take;
	bool whole = has_end(b) && b->cp->run.duration_ns == 0;
	if (has_end(b) || b->cp->run.duration_ns != 0)
		to_the_end(b);
	else
		stop(b);
	check_counts(b, whole);
	return whole;
}

static void test_random_changes(void **state)
{
	unsigned whole = 0;

	(void)state;
	for (unsigned round = 0; round < effort(60, 16); round++) {
		struct bench *b = bench_new(1 + round % 4);

		for (unsigned q = 0; q < b->nq; q++)
			fake[q].take = round % 3 ? TAKE_RANDOM : TAKE_ALL;
		b->cp->cfg.rate = (struct rate){.kind = RATE_MAX};
		b->cp->cfg.burst = 1 + any(64);
		dress(b, 0);
		stream(b, 0)->cfg.count = 1000 + any(3000);
		for (unsigned id = 1; id < 4; id++)
			add(b, id);
		for (unsigned run = 0; run < 3; run++) {
			whole += one_run(b, 5 + any(40));
			/* such settings may be there at a start */
			for (unsigned id = 0; id < IDS; id++)
				if (stream(b, id) != NULL) {
					stream(b, id)->cfg.count = 1 + any(4000);
					touch(b, id);
				}
			if (streams_on(b) == 0)
				stream_first(b->cp)->cfg.enabled = true;
		}
		bench_free(b);
	}
	assert_true(whole > effort(20, 4));
}

/* Checks that every queue has frames to send, whatever control has said last. Returns how many
 * lines have said that something is for the next start. */
static unsigned check_flow(struct bench *b, const char *what)
{
	touch(b, 0);
	control(b);
	for (unsigned q = 0; q < b->nq; q++) {
		uint64_t before = fake[q].frames;
		work(b, q, 50);
		if (fake[q].frames < before + 40 * b->cp->cfg.burst)
			fail_msg("%s, %u queues: queue %u waits after %u frames", what, b->nq, q,
				 (unsigned)(fake[q].frames - before));
	}
	return notes(b);
}

static void test_no_gap(void **state)
{
	(void)state;
	for (unsigned nq = 1; nq <= 3; nq++) {
		struct bench *b = bench_new(nq);
		b->cp->cfg.rate = (struct rate){.kind = RATE_MAX};
		b->cp->cfg.burst = 16;
		dress(b, 0);
		/* with two queues each stream is sent by one of them */
		for (unsigned id = 1; id < 4; id++) {
			add(b, id);
			stream(b, id)->cfg.weight = 1;
		}
		for (unsigned run = 0; run < 2; run++) {
			for (unsigned id = 2; id < 4; id++)
				stream(b, id)->cfg.count = 1000000;
			struct stream *s = stream(b, 0), *other = stream(b, 1);
			s->cfg.count = other->cfg.count = 1000000;
			s->cfg.weight = other->cfg.weight = 1;
			begin(b, 0, false);
			all_turn(b, 100);
			notes(b);
			size(s);
			value(other);
			b->cp->cfg.burst = 20;
			assert_int_equal(check_flow(b, "frames"), 0);
			s->cfg.weight = 3;
			assert_int_equal(check_flow(b, "a weight"), 1);
			s->cfg.count = 900000;
			other->cfg.count = 0;
			other->cfg.rate =
				(struct own_rate){.set = true, .rate = {.kind = RATE_MAX}};
			/* That was said already. */
			assert_int_equal(check_flow(b, "counts, and a rate of its own"), 0);
			s->cfg.weight = 1;
			s->cfg.count = other->cfg.count = 1000000;
			other->cfg.rate.set = false;
			assert_int_equal(check_flow(b, "all as it was"), 0);
			s->cfg.enabled = false;
			assert_int_equal(check_flow(b, "a stream that is off"), 1);
			s->cfg.enabled = true;
			stop(b);
		}
		bench_free(b);
	}
}

/* Settings that change in the turn of control in which the run starts belong to its begin. */
static void test_change_at_the_start(void **state)
{
	(void)state;
	struct bench *b = bench_new(2);
	struct portset all = {{0}};
	struct err e;

	portset_add(&all, 0);
	b->cp->cfg.rate = (struct rate){.kind = RATE_MAX};
	b->cp->cfg.burst = 16;
	dress(b, 0);
	add(b, 1);
	for (unsigned run = 0; run < 2; run++) {
		stream(b, 0)->cfg.count = stream(b, 1)->cfg.count = 100000;
		stream(b, 0)->cfg.weight = stream(b, 1)->cfg.weight = 1;
		struct cnt_stream *sum = stream_cells(b->cp);
		for (unsigned s = 0; s < CELLS; s++)
			b->base[s] = sum[s].packets;
		free(sum);
		memset(b->sent, 0, sizeof(b->sent));
		memset(b->last, 0xff, sizeof(b->last));
		assert_int_equal(ctl_start(b->c, &all, 0, &e), 0);
		stream(b, 0)->cfg.weight = 5;
		touch(b, 0);
		control(b);
		while ((int64_t)(clock_tsc() - b->cp->run.start_tsc) < 0)
			all_turn(b, 1);
		all_turn(b, 300);
		uint64_t first = b->sent[stream(b, 0)->cell], second = b->sent[stream(b, 1)->cell];
		assert_true(first > 4 * second && first < 6 * second);
		stream(b, 0)->cfg.weight = 2;
		assert_int_equal(check_flow(b, "a weight after one at the start"), 1);
		if (run == 0)
			stop(b);
		else
			to_the_end(b);
	}
	assert_int_equal(b->sent[stream(b, 0)->cell], 100000);
	assert_int_equal(b->sent[stream(b, 1)->cell], 100000);
	bench_free(b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_changes),
		cmocka_unit_test(test_no_gap),
		cmocka_unit_test(test_change_at_the_start),
	};
	int rc = eal_or_skip(argv[argc - 1]);

	if (rc != 0)
		return rc;
	clock_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
