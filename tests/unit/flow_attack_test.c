/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments that nobody should send, and some that few do: blind attacks (RFC 5961), simultaneous
 * open, old connections, peers with small segments. */
#include "flow_world.h"

static const struct wl_bytes_conf forever = {.request = WL_FIXED(64),
					     .response = WL_FIXED(100),
					     .close = WL_CLOSE_FIN,
					     .think = WL_FIXED(10 * MS)};
static const struct wl_bytes_conf once = {.request = WL_FIXED(64),
					  .response = WL_FIXED(3000),
					  .transactions = 1,
					  .close = WL_CLOSE_FIN};

static uint32_t seq_at(const struct world_frame *f, unsigned at)
{
	return (uint32_t)get_be16(f->data + at) << 16 | get_be16(f->data + at + 2);
}
static void put_seq(struct world_frame *f, unsigned at, uint32_t v)
{
	put_be16(f->data + at, v >> 16);
	put_be16(f->data + at + 2, v & 0xffff);
}

/* The last segment without payload of an end; attackers send changed copies of it. */
static struct world_frame last[2];

static bool remember(struct world *w, unsigned from, struct world_frame *f)
{
	(void)w;
	if (get_be16(f->data + 16) == 40 && f->data[47] == 0x10)
		last[from] = *f;
	return true;
}

/* Sends a copy of what `from` sent last, with these flags and so far from its numbers. */
static void forge(struct world *w, unsigned from, uint8_t flags, int64_t seq, int64_t ack)
{
	struct world_frame f = last[from];

	f.when = w->now;
	f.data[47] = flags;
	f.partial = true;
	put_seq(&f, 38, seq_at(&f, 38) + (uint32_t)seq);
	put_seq(&f, 42, seq_at(&f, 42) + (uint32_t)ack);
	world_post(w, &f);
	world_run(w, w->now + MS / 10);
}

/* One connection, established and idle. */
static struct world *idle_one(void)
{
	struct world *w = world_new(&(struct world_setup){.wl = &wl_bytes, .conf = &forever});

	w->fault = remember;
	w->end[0].wl.on_call = true;
	world_adopt(w);
	flow_open(w->end[0].m, w->end[0].version, 1, w->now, 0, w->now);
	world_run(w, w->now + SECOND);
	flow_go(w->end[0].m, w->end[0].version, 1, w->now, 0, w->now);
	world_run(w, w->now + SECOND);
	assert_int_equal(w->end[1].counts.open, 1);
	assert_int_equal(last[0].len, 54);
	return w;
}

static void end_one(struct world *w)
{
	flow_abort(w->end[0].m, &w->end[0].wl);
	flow_abort(w->end[1].m, &w->end[1].wl);
	assert_true(world_run(w, w->now + 1000 * SECOND));
	world_empty(w);
	world_free(w);
}

enum { FIN = 1, SYN = 2, RST = 4, ACK = 16 };

static void test_blind_rst(void **state)
{
	struct world *w = idle_one();
	const struct flow_counts *s = &w->end[1].counts;

	(void)state;
	forge(w, 0, RST, 1, 0);
	forge(w, 0, RST, 1000, 0);
	forge(w, 0, RST | ACK, 262143, 0);
	assert_int_equal(s->challenge_ack, 3);
	forge(w, 0, RST, 262144, 0);
	forge(w, 0, RST, -1, 0);
	forge(w, 0, RST, 1ll << 31, 0);
	assert_int_equal(s->rst_ignored, 3);
	assert_int_equal(s->challenge_ack, 3);
	assert_int_equal(s->open, 1);
	/* the connection still works */
	assert_int_equal(flow_go(w->end[0].m, w->end[0].version, 1, w->now, 0, w->now), 1);
	world_run(w, w->now + SECOND);
	assert_int_equal(w->end[0].transactions.done, 2);
	forge(w, 0, RST, 0, 0);
	assert_int_equal(s->reset_by_peer, 1);
	end_one(w);
}

static void test_blind_syn(void **state)
{
	struct world *w = idle_one();
	const struct flow_counts *s = &w->end[1].counts;

	(void)state;
	forge(w, 0, SYN, 0, 0);
	forge(w, 0, SYN, 100000, 0);
	forge(w, 0, SYN, -100000, 0);
	forge(w, 0, SYN | ACK, 1, 0);
	assert_int_equal(s->challenge_ack, 4);
	assert_int_equal(s->open, 1);
	assert_int_equal(s->opened, 1);
	end_one(w);
}

static void test_blind_ack(void **state)
{
	struct world *w = idle_one();
	const struct flow_counts *s = &w->end[1].counts;

	(void)state;
	forge(w, 0, ACK, 0, 1); /* of what was not sent yet */
	forge(w, 0, ACK, 0, 1 << 20);
	forge(w, 0, ACK, 0, -(1ll << 31)); /* far behind */
	assert_int_equal(s->challenge_ack, 3);
	forge(w, 0, 0, 0, 0); /* without ACK: dropped */
	forge(w, 0, FIN, 0, 0);
	forge(w, 0, ACK, 300000, 0);
	assert_int_equal(s->beyond_window, 1);
	assert_int_equal(s->open, 1);
	assert_int_equal(s->rx_bytes, 64);
	end_one(w);
}

/* RFC 5961 7: not one answer for each. */
static void test_challenges_are_few(void **state)
{
	struct world *w = idle_one();
	const struct flow_counts *s = &w->end[1].counts;

	(void)state;
	for (unsigned i = 0; i < 2000; i++) {
		struct world_frame f = last[0];

		f.when = w->now;
		f.partial = true;
		f.data[47] = SYN;
		world_post(w, &f);
	}
	world_run(w, w->now + MS / 10);
	assert_in_range(s->challenge_ack, 50, 110);
	world_run(w, w->now + SECOND);
	forge(w, 0, SYN, 0, 0);
	assert_in_range(s->challenge_ack, 51, 111);
	end_one(w);
}

/* Probes of a peer that wants to know whether we live: an old byte, or an old number. */
static void test_keepalive(void **state)
{
	struct world *w = idle_one();
	uint64_t acks = w->end[1].counts.ack_sent;

	(void)state;
	forge(w, 0, ACK, -1, 0);
	assert_int_equal(w->end[1].counts.ack_sent, acks + 1);
	end_one(w);
}

/* The client forgets its connections without a word, and uses their tuples again: the server's
 * answer to the SYN is about the old connection. RST and a second SYN go at once. */
static bool lose_rst(struct world *w, unsigned from, struct world_frame *f)
{
	(void)from;
	return w->arg == NULL || (f->data[47] & RST) == 0;
}

static void test_old_connections(void **state)
{
	struct world *w =
		world_new(&(struct world_setup){.wl = &wl_bytes, .conf = &forever, .ports = 10});
	struct world_end *c = &w->end[0];

	(void)state;
	c->wl.on_call = true;
	w->fault = lose_rst;
	world_adopt(w);
	flow_open(c->m, c->version, 10, w->now, 0, w->now);
	world_run(w, w->now + SECOND);
	assert_int_equal(w->end[1].counts.open, 10);
	w->arg = w;
	flow_abort(c->m, &c->wl);
	world_run(w, w->now + MS);
	assert_int_equal(c->counts.aborted, 10);
	assert_int_equal(w->end[1].counts.open, 10);
	w->arg = NULL;
	flow_open(c->m, c->version, 10, w->now, 0, w->now);
	world_run(w, w->now + MS);
	assert_int_equal(c->counts.open, 10);
	assert_int_equal(w->end[1].counts.reset_by_peer, 10);
	assert_int_equal(c->counts.rto, 0);
	end_one(w);
}

/* RFC 9293 figure 8: both open, with each other's tuple. */
static void test_simultaneous_open(void **state)
{
	struct world *w =
		world_new(&(struct world_setup){.wl = &wl_bytes, .conf = &once, .ports = 1});
	struct world_end *c = &w->end[0], *s = &w->end[1];
	struct flow_values mine = {.count = 1, .base = 0x0a000002};
	struct flow_values theirs = {.count = 1, .base = 0x0a000001};
	struct flow_values port = {.count = 1, .base = 80}, other = {.count = 1, .base = 1024};
	struct flow_tuples_conf conf = {.local = &mine,
					.local_port = &port,
					.remote = &theirs,
					.remote_port = &other,
					.dense = true};

	(void)state;
	flow_tuples_free(s->tuples);
	assert_int_equal(flow_tuples_new(&s->tuples, &conf, NULL), 0);
	s->spec.tuples = s->tuples;
	s->spec.role = FLOW_CLIENT;
	/* its record is that of a server all the same */
	world_adopt(w);
	assert_int_equal(flow_open(c->m, c->version, 1, w->now, 0, w->now), 1);
	assert_int_equal(flow_open(s->m, s->version, 1, w->now, 0, w->now), 1);
	assert_true(world_run(w, w->now + 100 * SECOND));
	assert_int_equal(c->counts.established, 1);
	assert_int_equal(s->counts.established, 1);
	assert_int_equal(c->transactions.done, 1);
	assert_int_equal(c->counts.closed + s->counts.closed, 2);
	assert_int_equal(c->counts.syn_retransmitted + s->counts.syn_retransmitted, 0);
	world_empty(w);
	world_free(w);
}

/* Both close at the same time (RFC 9293 figure 13), and a FIN comes again to who rests. */
static bool late_fin(struct world *w, unsigned from, struct world_frame *f)
{
	struct world_frame again = *f;

	(void)from;
	if ((f->data[47] & FIN) != 0) {
		again.when += 100 * MS;
		world_post(w, &again);
	}
	return true;
}

static void test_simultaneous_close(void **state)
{
	struct world *w = world_new(&(struct world_setup){.wl = &flow_buffer_wl});
	struct world_end *c = &w->end[0], *s = &w->end[1];
	struct flow_tuple tuple;
	uint32_t a, b;

	(void)state;
	w->fault = late_fin;
	world_adopt(w);
	flow_tuples_at(c->tuples, 0, &tuple);
	a = flow_open_one(c->m, c->version, &tuple, w->now);
	world_run(w, w->now + MS);
	b = flow_accept(s->m, s->version);
	flow_close(c->m, a, WL_CLOSE_FIN, w->now);
	flow_close(s->m, b, WL_CLOSE_FIN, w->now);
	world_run(w, w->now + MS);
	assert_int_equal(c->counts.closed, 1);
	assert_int_equal(s->counts.closed, 1);
	/* both rest, and acknowledge what comes again */
	world_run(w, w->now + 200 * MS);
	assert_int_equal(c->counts.duplicate + s->counts.duplicate, 2);
	flow_forget(c->m, a, w->now);
	flow_forget(s->m, b, w->now);
	assert_true(world_run(w, w->now + 100 * SECOND));
	world_empty(w);
	world_free(w);
}

/* What peers say in their SYN is kept: MSS, no window scale, no SACK, and ECN is no hindrance. */
static bool old_host(struct world *w, unsigned from, struct world_frame *f)
{
	(void)w;
	if ((f->data[47] & SYN) != 0) {
		f->partial = true;
		if (from == 0)
			f->data[47] |= 0xc0; /* ECE and CWR */
		put_be16(f->data + 56, 536);
		memset(f->data + 58, 1, 8);
	} else {
		assert_true(get_be16(f->data + 16) <= 40 + 536);
		assert_int_equal(f->data[46], 0x50); /* no options */
	}
	return true;
}

static void test_old_host(void **state)
{
	struct world *w = world_new(&(struct world_setup){.wl = &wl_bytes, .conf = &once});

	(void)state;
	w->fault = old_host;
	world_adopt(w);
	flow_open(w->end[0].m, w->end[0].version, 5, w->now, 0, w->now);
	assert_true(world_run(w, w->now + 100 * SECOND));
	assert_int_equal(w->end[0].transactions.done, 5);
	assert_int_equal(w->end[0].counts.syn_retransmitted, 0);
	world_empty(w);
	world_free(w);
}

/* A peer whose FIN is in the segment of its last data, as dperf's is, and which does not send it
 * again: 3000 bytes of it in three segments. */
static struct answer {
	struct world_frame held;  /* its first segment, which comes last if `late` */
	struct world_frame ended; /* the first FIN of its peer */
	unsigned data, fins;
	bool late, all;
	uint32_t end; /* behind its FIN */
} answer;

static bool data_with_fin(struct world *w, unsigned from, struct world_frame *f)
{
	unsigned n = get_be16(f->data + 16) - 40u;

	(void)w;
	if (from == 0 && (f->data[47] & FIN) != 0 && answer.fins++ == 0)
		answer.ended = *f;
	if (from == 0)
		return !answer.all;
	if ((f->data[47] & SYN) != 0 || n == 0)
		return true;
	if (answer.data == 3)
		return false;
	f->when += answer.data;
	if (++answer.data == 3) {
		answer.end = seq_at(f, 38) + n + 1;
		answer.all = !answer.late;
		f->partial = true;
		f->data[47] |= FIN;
	}
	if (answer.data == 1 && answer.late) {
		answer.held = *f;
		return false;
	}
	return true;
}

/* The client closes when it has all of the response: its FIN acknowledges the data and the FIN
 * behind them, whether they came in order or not. */
static void test_fin_with_data(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct world *w = world_new(&(struct world_setup){.wl = &wl_bytes, .conf = &once});
		answer = (struct answer){.late = i == 1};
		w->fault = data_with_fin;
		world_adopt(w);
		flow_open(w->end[0].m, w->end[0].version, 1, w->now, 0, w->now);
		world_run(w, w->now + 50 * MS);
		assert_int_equal(answer.data, 3);
		if (answer.late) {
			answer.all = true;
			answer.held.when = w->now;
			world_post(w, &answer.held);
			world_run(w, w->now + 50 * MS);
		}
		assert_int_equal(w->end[0].transactions.done, 1);
		assert_int_equal(answer.ended.data[47], FIN | ACK);
		assert_int_equal(seq_at(&answer.ended, 42), answer.end);
		w->fault = NULL;
		end_one(w);
	}
}

/* Frames that are none: each is named, and none is taken. */
static void test_malformed(void **state)
{
	struct world *w = idle_one();
	const struct flow_machine_counts *k = flow_machine_counts(w->end[1].m);
	struct world_frame f;
	uint64_t all = 0;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		f = last[0];
		f.when = w->now;
		f.len = 14 + (uint32_t)(world_random(w) % 60);
		for (unsigned n = 0; n < 3; n++)
			f.data[14 + world_random(w) % 40] ^= (uint8_t)world_random(w);
		world_post(w, &f);
		world_run(w, w->now + 1000);
	}
	all = k->malformed + k->not_ours + k->bad_checksum + k->no_match +
	      w->end[1].counts.bad_checksum;
	assert_in_range(all, 19000, 20000);
	assert_int_equal(w->end[1].counts.open, 1);
	end_one(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blind_rst),         cmocka_unit_test(test_blind_syn),
		cmocka_unit_test(test_blind_ack),         cmocka_unit_test(test_challenges_are_few),
		cmocka_unit_test(test_keepalive),         cmocka_unit_test(test_old_connections),
		cmocka_unit_test(test_simultaneous_open), cmocka_unit_test(test_simultaneous_close),
		cmocka_unit_test(test_old_host),          cmocka_unit_test(test_fin_with_data),
		cmocka_unit_test(test_malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
