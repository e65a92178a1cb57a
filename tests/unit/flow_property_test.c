/* SPDX-License-Identifier: BSD-3-Clause */
/* Many connections over networks and with settings that a seed chooses. Whatever they are: each
 * byte that arrives is the one that was sent, each connection has the fate that it must have, and
 * in the end no cell, timer or tuple is in use. And usual segments that take shorter ways leave the
 * same frames and counters behind as when all segments take the general one.
 *
 * WIRERATE_FLOW_CONNECTIONS=1000000 runs as many instead of a few thousand, WIRERATE_SEED is the
 * seed, and WIRERATE_FLOW_WORLD one of its worlds. */
#include "flow_world.h"
#include "effort.h"
#include "seed.h"
#include "wl_text.h"

static uint64_t seed;

/* What a network does, in 1/10000 of the frames, and for how long a late one stays away. */
struct weather {
	unsigned lose, twice, late, damage;
	uint64_t late_ns;
	bool dead;             /* from now on nothing arrives */
	unsigned partial, nth; /* of one frame of so many nobody can verify the checksum; 0: none */
};

static bool weather_fault(struct world *w, unsigned from, struct world_frame *f)
{
	const struct weather *x = w->arg;
	struct world_frame copy;

	(void)from;
	if (w->nframe > WORLD_FRAMES / 2) /* its queues are full */
		return false;
	if (x->dead || world_random(w) % 10000 < x->lose)
		return false;
	if (world_random(w) % 10000 < x->late)
		f->when += world_random(w) % x->late_ns;
	if (world_random(w) % 10000 < x->twice) {
		copy = *f;
		copy.when += world_random(w) % x->late_ns;
		world_post(w, &copy);
	}
	if (world_random(w) % 10000 < x->damage)
		f->data[14 + world_random(w) % (f->len - 14)] ^=
			(uint8_t)(1 + world_random(w) % 255);
	return true;
}

/* How connections of a world end. */
enum fate {
	FATE_FIN,   /* both close */
	FATE_RST,   /* the client resets */
	FATE_ABORT, /* a run ends while they live */
	FATE_DEAD,  /* the network does */
	FATES
};

struct setting {
	uint64_t draw;
	enum fate fate;
	bool stream, udp;
	unsigned connections, ports, step;
	struct wl_bytes_conf bytes;
	struct wl_stream_conf flood;
	struct weather weather;
};

/* A number from 0 to n - 1. */
static unsigned setting_draw(struct setting *s, unsigned n)
{
	s->draw ^= s->draw << 13;
	s->draw ^= s->draw >> 7;
	s->draw ^= s->draw << 17;
	return (unsigned)((s->draw >> 20) % n);
}

/* Sizes of which most are small. */
static uint32_t setting_size(struct setting *s, uint32_t most)
{
	static const uint32_t tenth[] = {100, 100, 100, 100, 20, 20, 4, 1};
	uint32_t n = most / tenth[setting_draw(s, 8)];

	return 8 + setting_draw(s, n < 8 ? 8 : n);
}

/* One size, or a choice of one and of a range. */
static struct wl_vary setting_sizes(struct setting *s, uint32_t most)
{
	uint32_t a = setting_size(s, most), b = setting_size(s, most);
	char text[64];

	if (setting_draw(s, 2) == 0)
		return (struct wl_vary)WL_FIXED(a);
	snprintf(text, sizeof(text), "%u..%u:%u,%u:2", a < b ? a : b, a < b ? b : a,
		 1 + setting_draw(s, 3), a);
	return vary_of(&vt_wl_sizes, text);
}

static void setting_weather(struct setting *s, struct weather *x)
{
	static const unsigned per10000[] = {0, 0, 10, 100, 300, 1000};

	x->lose = per10000[setting_draw(s, 6)];
	x->twice = per10000[setting_draw(s, 6)];
	x->late = per10000[setting_draw(s, 6)];
	x->damage = per10000[setting_draw(s, 5)];
	x->late_ns = 1000 + setting_draw(s, 2000000);
	x->dead = false;
	x->partial = x->nth = 0;
}

static void setting_make(struct setting *s, uint64_t nr, unsigned connections)
{
	static const enum fate fates[] = {FATE_FIN, FATE_FIN, FATE_FIN,   FATE_FIN,
					  FATE_FIN, FATE_RST, FATE_ABORT, FATE_DEAD};

	*s = (struct setting){.draw = (seed + nr) * 0x9e3779b97f4a7c15ull | 1};
	for (unsigned i = 0; i < 8; i++)
		setting_draw(s, 1);
	s->connections = connections;
	s->ports = 200 + setting_draw(s, 2000);
	s->step = 1 + setting_draw(s, 16);
	s->fate = fates[setting_draw(s, 8)];
	s->udp = setting_draw(s, 8) == 0;
	s->stream = !s->udp && s->fate == FATE_FIN && setting_draw(s, 5) == 0;
	s->bytes = (struct wl_bytes_conf){.request = setting_sizes(s, s->udp ? 1400 : 4000),
					  .response = setting_sizes(s, s->udp ? 1400 : 20000),
					  .transactions = 1 + setting_draw(s, 4),
					  .timeout_ns = 50 * MS,
					  .close = WL_CLOSE_FIN};
	if (setting_draw(s, 4) == 0)
		s->bytes.think = (struct wl_vary)WL_FIXED(setting_draw(s, 3000000));
	s->bytes.server_closes = !s->udp && s->fate == FATE_FIN && setting_draw(s, 3) == 0;
	if (s->fate == FATE_RST && !s->udp)
		s->bytes.close = WL_CLOSE_RST;
	s->flood = (struct wl_stream_conf){.direction = (enum wl_direction)(1 + setting_draw(s, 3)),
					   .bytes = setting_size(s, 60000)};
	setting_weather(s, &s->weather);
	/* what is damaged would be taken */
	if (s->weather.damage == 0 && setting_draw(s, 2) == 0)
		s->weather.partial = 1 + setting_draw(s, 3);
}

static void setting_spec(struct setting *s, struct flow_spec *spec)
{
	static const uint16_t mss[] = {1460, 1460, 1460, 536, 100, 1000};

	spec->sack = setting_draw(s, 3) != 0;
	spec->congestion = (enum flow_congestion)setting_draw(s, 3);
	spec->mss = mss[setting_draw(s, 6)];
	spec->window = 2000 + setting_draw(s, setting_draw(s, 2) == 0 ? 60000 : 1000000);
	spec->window_most = setting_draw(s, 2) == 0 ? 4 * spec->window : 0;
	spec->initial_window = (uint16_t)setting_draw(s, 11);
	spec->rto_ns = (1 + setting_draw(s, 200)) * MS;
	spec->delack_ns = 100000 + setting_draw(s, 40000000);
	spec->retries = 14;
	/* as long as any frame may be late, and as the peer may send again */
	spec->timewait_ns = 3000 * SECOND;
}

static void weather_partial(struct world *w, const struct world_frame *f, struct flow_in *in)
{
	struct weather *x = w->arg;

	(void)f;
	if (x->partial > 0 && x->nth++ % x->partial == 0)
		in->verdict = FLOW_SUM_PARTIAL;
}

static struct world *setting_world(struct setting *s, bool general)
{
	struct world *w = world_new(&(
		struct world_setup){.wl = s->stream ? &wl_stream : &wl_bytes,
				    .conf = s->stream ? (const void *)&s->flood
						      : (const void *)&s->bytes,
				    .udp = s->udp,
				    .verify = true,
				    .general = general,
				    .hashed = setting_draw(s, 2) == 0,
				    .connections = s->connections,
				    .ports = s->connections + s->ports,
				    .fill = setting_draw(s, 4) == 0 ? WL_FILL_X : WL_FILL_PATTERN});

	w->random = s->draw | 1;
	w->delay = 1000 + setting_draw(s, setting_draw(s, 4) == 0 ? 5000000 : 100000);
	w->arg = &s->weather;
	w->fault = weather_fault;
	w->shape = weather_partial;
	for (unsigned i = 0; i < 2; i++)
		setting_spec(s, &w->end[i].spec);
	if (setting_draw(s, 3) == 0) /* tuples come again while others rest */
		w->end[0].spec.timewait_ns = w->end[1].spec.timewait_ns;
	world_adopt(w);
	return w;
}

/* ---- what must hold ---- */

/* The bytes of n messages; exact if all are alike. */
static void fate_within(uint64_t bytes, uint64_t n, const struct wl_vary *size)
{
	assert_in_range(bytes, n * size->least, n * size->most);
}

static void fate_bytes(const struct world *w, const struct setting *s)
{
	const struct flow_counts *c = &w->end[0].counts, *k = &w->end[1].counts;

	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(w->end[i].transactions.mismatched, 0);
	if (s->udp || s->fate != FATE_FIN)
		return;
	/* every byte, and each of them once */
	assert_int_equal(c->tx_bytes, k->rx_bytes);
	assert_int_equal(k->tx_bytes, c->rx_bytes);
	if (s->stream) {
		assert_int_equal(c->tx_bytes, (s->flood.direction & WL_UP) != 0
						      ? s->flood.bytes * s->connections
						      : 0);
		assert_int_equal(c->rx_bytes, (s->flood.direction & WL_DOWN) != 0
						      ? s->flood.bytes * s->connections
						      : 0);
		return;
	}
	fate_within(c->tx_bytes, s->connections * s->bytes.transactions, &s->bytes.request);
	fate_within(c->rx_bytes, s->connections * s->bytes.transactions, &s->bytes.response);
}

static void fate_tcp(const struct world *w, const struct setting *s)
{
	const struct flow_counts *c = &w->end[0].counts, *k = &w->end[1].counts;
	uint64_t n = s->connections;

	switch (s->fate) {
	case FATE_FIN:
		assert_int_equal(c->closed, n);
		assert_int_equal(k->closed, k->established);
		assert_int_equal(k->established, n);
		break;
	case FATE_RST:
		assert_int_equal(c->reset_by_us, n);
		assert_int_equal(k->established, n);
		assert_int_equal(k->reset_by_peer + k->aborted, n);
		break;
	case FATE_ABORT:
		assert_int_equal(c->closed + c->aborted + c->aborted_opening, n);
		break;
	case FATE_DEAD:
	default:
		/* who waits for an answer sends nothing, and is never told */
		assert_int_equal(c->closed + c->timed_out + c->connect_timeout + c->aborted, n);
	}
}

static void fate_transactions(const struct world *w, const struct setting *s)
{
	const struct wl_counts *t = &w->end[0].transactions;
	uint64_t each = s->stream ? 1 : s->bytes.transactions;

	assert_int_equal(t->open, 0);
	if (s->udp) {
		if (s->fate == FATE_FIN || s->fate == FATE_RST)
			assert_int_equal(t->done + t->failed, each * s->connections);
	} else if (s->fate == FATE_FIN || s->fate == FATE_RST) {
		assert_int_equal(t->done, each * s->connections);
		assert_int_equal(t->failed, 0);
	}
}

/* All tuples are free: each of them can be opened. */
static void fate_tuples(struct world *w, const struct setting *s)
{
	struct weather *x = w->arg;
	uint64_t no = w->end[0].counts.no_tuple, failed = w->end[0].counts.opened;
	unsigned all = s->connections < 200 ? s->connections : 200;

	x->dead = true;
	assert_int_equal(flow_open(w->end[0].m, w->end[0].version, all, w->now, 0, w->now), all);
	assert_int_equal(w->end[0].counts.no_tuple, no);
	assert_int_equal(w->end[0].counts.opened, failed + all);
	world_flush(w, 0);
	flow_abort(w->end[0].m, &w->end[0].wl);
	assert_true(world_run(w, w->now + 100000 * SECOND));
}

/* ---- a world ---- */

static void abort_end(struct world *w, unsigned i)
{
	flow_abort(w->end[i].m, &w->end[i].wl);
	for (unsigned k = 0; k < 10000 && flow_sweeping(w->end[i].m); k++) {
		flow_poll(w->end[i].m, w->now);
		world_flush(w, i);
	}
	assert_false(flow_sweeping(w->end[i].m));
}

static void world_live(struct world *w, struct setting *s)
{
	unsigned left = s->connections, end = s->fate == FATE_ABORT || s->fate == FATE_DEAD
						      ? setting_draw(s, s->connections)
						      : 0;

	while (left > end) {
		unsigned n = s->step < left ? s->step : left;

		n = flow_open(w->end[0].m, w->end[0].version, n, w->now, 0, w->now);
		left -= n;
		world_run(w, w->now + 1000 + setting_draw(s, 400000));
		world_sums(w);
	}
	s->connections -= left;
	if (s->fate == FATE_DEAD)
		s->weather.dead = true;
	if (s->fate == FATE_ABORT) {
		abort_end(w, 0);
		abort_end(w, 1);
	}
	/* RSTs that got lost leave a server with connections that nobody uses */
	if (!world_run(w, w->now + 20000 * SECOND) || s->fate != FATE_FIN || s->udp) {
		abort_end(w, 1);
		abort_end(w, 0);
	}
	assert_true(world_run(w, w->now + 100000 * SECOND));
}

/* What a world has left behind. */
struct left {
	uint64_t digest, now;
	struct flow_counts counts[2];
	struct flow_machine_counts machine[2];
	struct wl_counts transactions[2];
};

static void left_keep(const struct world *w, struct left *l)
{
	memset(l, 0, sizeof(*l));
	l->digest = w->digest;
	l->now = w->now;
	for (unsigned i = 0; i < 2; i++) {
		l->counts[i] = w->end[i].counts;
		l->machine[i] = *flow_machine_counts(w->end[i].m);
		l->transactions[i] = w->end[i].transactions;
	}
}

static void world_once(uint64_t nr, unsigned connections, bool general, struct left *l)
{
	struct setting s;
	struct world *w;

	setting_make(&s, nr, connections);
	w = setting_world(&s, general);
	/* of a failure the last line says where: WIRERATE_FLOW_WORLD runs that one alone */
	printf("world %llu: fate %u, %s\n", (unsigned long long)nr, s.fate,
	       s.udp      ? "udp"
	       : s.stream ? "stream"
			  : "bytes");
	fflush(stdout);
	world_live(w, &s);
	world_sums(w);
	left_keep(w, l);
	for (unsigned i = 0; i < 2; i++) {
		const struct flow_counts *k = &w->end[i].counts;

		if (s.weather.partial == 0)
			assert_int_equal(k->unverified, 0);
		else if (s.weather.partial == 1 && !s.udp)
			assert_int_equal(k->unverified, k->rx);
	}
	assert_int_equal(w->end[0].counts.opened, s.connections);
	assert_int_equal(w->end[0].counts.no_tuple + w->end[0].counts.no_memory, 0);
	fate_bytes(w, &s);
	fate_transactions(w, &s);
	if (!s.udp)
		fate_tcp(w, &s);
	fate_tuples(w, &s);
	world_empty(w);
	assert_int_equal(flow_next_ns(w->end[0].m), UINT64_MAX);
	assert_int_equal(flow_next_ns(w->end[1].m), UINT64_MAX);
	world_free(w);
}

static void world_both_ways(uint64_t nr, unsigned connections)
{
	struct left ways[2];

	for (unsigned i = 0; i < 2; i++)
		world_once(nr, connections, i == 1, &ways[i]);
	for (unsigned i = 0; i < 2; i++)
		for (const struct counter *c = flow_counts_table; c->name != NULL; c++)
			if (memcmp((const uint8_t *)&ways[0].counts[i] + c->offset,
				   (const uint8_t *)&ways[1].counts[i] + c->offset, 8) != 0)
				fail_msg("%s of end %u differs", c->name, i);
	assert_memory_equal(&ways[0], &ways[1], sizeof(ways[0]));
}

#define PER_WORLD 500
static void test_worlds(void **state)
{
	const char *text = getenv("WIRERATE_FLOW_CONNECTIONS");
	const char *one = getenv("WIRERATE_FLOW_WORLD");
	uint64_t n = text != NULL ? strtoull(text, NULL, 10) : effort(6000, 1000);

	(void)state;
	if (one != NULL) {
		world_both_ways(strtoull(one, NULL, 10), PER_WORLD);
		return;
	}
	for (uint64_t i = 0; i < (n + PER_WORLD - 1) / PER_WORLD; i++) {
		world_both_ways(i, PER_WORLD);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worlds),
	};

	seed = test_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
