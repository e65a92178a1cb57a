/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections of other kinds: streams, buffers, IPv6, tunnels; and ICMP errors. */
#include "flow_world.h"
#include "effort.h"
#include <stdio.h>
#include "wl_text.h"

static unsigned open_n(struct world *w, unsigned n)
{
	return flow_open(w->end[0].m, w->end[0].version, n, w->now, 0, w->now);
}

/* ---- streams ---- */

static void run_stream(enum wl_direction direction, uint64_t bytes)
{
	const struct wl_stream_conf conf = {.direction = direction, .bytes = bytes};
	struct world *w = world_new(&(struct world_setup){
		.wl = &wl_stream, .conf = &conf, .verify = true, .fill = WL_FILL_PATTERN});
	struct world_end *c = &w->end[0], *s = &w->end[1];

	world_adopt(w);
	open_n(w, 2);
	if (bytes != 0) {
		assert_true(world_run(w, w->now + 100 * SECOND));
	} else {
		/* a drain ends those that are open, and those that are being opened */
		world_run(w, w->now + SECOND / effort(10, 100));
		assert_true(c->counts.open == 2 && s->counts.open == 2);
		assert_true(c->counts.tx_bytes + s->counts.tx_bytes > effort(10000000, 300000));
		open_n(w, 3);
		c->wl.draining = true;
		flow_drain(c->m, &c->wl);
		world_run(w, w->now + SECOND);
		assert_int_equal(c->counts.established, 5);
		assert_int_equal(c->counts.open, 0);
		assert_true(world_run(w, w->now + 100 * SECOND));
	}
	if ((direction & WL_UP) != 0)
		assert_int_equal(c->counts.tx_bytes, s->counts.rx_bytes);
	if ((direction & WL_DOWN) != 0)
		assert_int_equal(s->counts.tx_bytes, c->counts.rx_bytes);
	if (bytes != 0)
		assert_int_equal(c->counts.tx_bytes + c->counts.rx_bytes,
				 2 * bytes * (direction == WL_BOTH ? 2 : 1));
	assert_int_equal(c->counts.closed, bytes != 0 ? 2 : 5);
	assert_int_equal(s->counts.closed, bytes != 0 ? 2 : 5);
	assert_int_equal(c->transactions.done, bytes != 0 ? 2 : 5);
	assert_int_equal(c->transactions.mismatched + s->transactions.mismatched, 0);
	world_empty(w);
	world_free(w);
}

static void test_streams(void **state)
{
	(void)state;
	run_stream(WL_UP, effort(5000000, 300000));
	run_stream(WL_DOWN, effort(5000000, 300000));
	run_stream(WL_BOTH, effort(5000000, 300000));
	run_stream(WL_UP, 0);
	run_stream(WL_DOWN, 0);
	run_stream(WL_BOTH, 0);
}

/* ---- buffers ---- */

static void test_buffers(void **state)
{
	struct world *w = world_new(&(struct world_setup){.wl = &flow_buffer_wl});
	struct world_end *c = &w->end[0], *s = &w->end[1];
	struct flow_tuple tuple, peer;
	struct flow_channel ch;
	uint8_t out[50000], in[50000];
	uint32_t a, b, wrote = 0, took = 0;

	(void)state;
	for (unsigned i = 0; i < sizeof(out); i++)
		out[i] = (uint8_t)(i * 2654435761u >> 24);
	world_adopt(w);
	flow_tuples_at(c->tuples, 5, &tuple);
	a = flow_open_one(c->m, c->version, &tuple, w->now);
	assert_int_not_equal(a, 0);
	assert_int_equal(flow_open_one(c->m, c->version, &tuple, w->now), 0); /* in use */
	world_run(w, w->now + MS);
	b = flow_accept(s->m, s->version);
	assert_int_not_equal(b, 0);
	assert_int_equal(flow_accept(s->m, s->version), 0);
	assert_true(flow_channel(c->m, a, &ch) && ch.open && !ch.peer_done);
	/* nobody reads: both buffers fill up, and the window closes */
	while (wrote < sizeof(out)) {
		unsigned n = flow_write(c->m, a, out + wrote, sizeof(out) - wrote, w->now);

		if (n == 0)
			break;
		wrote += n;
		world_run(w, w->now + MS);
	}
	assert_int_equal(wrote, 2 * FLOW_BUFFER);
	world_run(w, w->now + 10 * SECOND);
	assert_true(c->counts.window_probe >= 3);
	assert_true(flow_channel(s->m, b, &ch));
	assert_int_equal(ch.readable, FLOW_BUFFER);
	/* somebody reads: it goes on */
	while (took < sizeof(out)) {
		took += flow_read(s->m, b, in + took, 3000, w->now);
		world_run(w, w->now + 10 * MS);
		wrote += flow_write(c->m, a, out + wrote, sizeof(out) - wrote, w->now);
		assert_true(w->now < 2000 * SECOND);
	}
	assert_memory_equal(out, in, sizeof(out));
	/* the other way, and a half close */
	flow_close(c->m, a, WL_CLOSE_FIN, w->now);
	world_run(w, w->now + MS);
	assert_true(flow_channel(s->m, b, &ch) && ch.peer_done && !ch.gone);
	assert_int_equal(flow_write(s->m, b, out, 1000, w->now), 1000);
	flow_close(s->m, b, WL_CLOSE_FIN, w->now);
	world_run(w, w->now + MS);
	assert_true(flow_channel(c->m, a, &ch) && ch.gone);
	assert_int_equal(ch.ended, WL_END_CLOSED);
	/* whose it was is known as long as somebody may ask */
	assert_true(flow_channel(s->m, b, &ch) && ch.gone);
	assert_true(flow_channel_tuple(s->m, b, &peer));
	assert_int_equal(peer.remote_port, tuple.local_port);
	assert_int_equal(peer.remote.v4, tuple.local.v4);
	assert_int_equal(flow_read(c->m, a, in, sizeof(in), w->now), 1000);
	assert_memory_equal(out, in, 1000);
	flow_forget(c->m, a, w->now);
	flow_forget(s->m, b, w->now);
	assert_false(flow_channel(c->m, a, &ch));
	assert_false(flow_channel_tuple(s->m, b, &peer));
	assert_true(world_run(w, w->now + 100 * SECOND));
	world_empty(w);
	world_free(w);
}

/* Opens as many connections with buffers as there are, and resets them. */
static void reset_all(struct world *w)
{
	struct world_end *c = &w->end[0];
	uint32_t number[4];
	struct flow_tuple tuple;
	struct flow_channel ch;

	for (unsigned i = 0; i < 4; i++) {
		flow_tuples_at(c->tuples, i, &tuple);
		number[i] = flow_open_one(c->m, c->version, &tuple, w->now);
		assert_int_not_equal(number[i], 0);
	}
	world_run(w, w->now + MS);
	for (unsigned i = 0; i < 4; i++) {
		assert_true(flow_channel(c->m, number[i], &ch) && ch.open);
		flow_forget(c->m, number[i], w->now);
	}
	world_run(w, w->now + MS);
}

/* Nobody takes connections that have come and gone: others get their buffers, also those of another
 * flow. */
static void test_not_taken(void **state)
{
	struct world *w = world_new(&(struct world_setup){.wl = &flow_buffer_wl});
	struct world_end *s = &w->end[1];
	uint32_t number;

	(void)state;
	world_adopt(w);
	for (unsigned i = 0; i < 3; i++)
		reset_all(w);
	assert_int_equal(s->counts.established, 12);
	assert_int_equal(s->counts.syn_dropped, 0);
	/* the last four wait */
	for (unsigned i = 0; i < 4; i++) {
		number = flow_accept(s->m, s->version);
		assert_int_not_equal(number, 0);
		flow_forget(s->m, number, w->now);
	}
	assert_int_equal(flow_accept(s->m, s->version), 0);
	reset_all(w);
	flow_retire(s->m, s->version);
	assert_ptr_equal(flow_released(s->m), &s->spec);
	s->version = flow_adopt(s->m, &s->spec);
	assert_int_equal(flow_accept(s->m, s->version), 0);
	reset_all(w);
	assert_int_equal(s->counts.syn_dropped, 0);
	assert_true(world_run(w, w->now + 100 * SECOND));
	world_empty(w);
	world_free(w);
}

/* ---- ICMP ---- */

static bool small_link(struct world *w, unsigned from, struct world_frame *f)
{
	if (f->len <= 14 + 600)
		return true;
	flow_icmp(w->end[from].m, FLOW_ICMP_TOO_BIG, w->arg != NULL ? 0 : 600, f->data + 14, 28, 0,
		  w->now);
	return false;
}

static void test_too_big(void **state)
{
	static const struct wl_bytes_conf conf = {.request = WL_FIXED(20000),
						  .response = WL_FIXED(30000),
						  .transactions = 1,
						  .close = WL_CLOSE_FIN};
	struct world *w = world_new(&(struct world_setup){
		.wl = &wl_bytes, .conf = &conf, .verify = true, .fill = WL_FILL_PATTERN});

	(void)state;
	w->fault = small_link;
	world_adopt(w);
	open_n(w, 3);
	assert_true(world_run(w, w->now + 100 * SECOND));
	assert_int_equal(w->end[0].counts.pmtu_lowered, 3);
	assert_int_equal(w->end[1].counts.pmtu_lowered, 3);
	assert_int_equal(w->end[0].counts.rto + w->end[1].counts.rto, 0);
	assert_int_equal(w->end[0].transactions.done, 3);
	w->arg = w; /* a router that does not tell its MTU */
	open_n(w, 3);
	assert_true(world_run(w, w->now + 100 * SECOND));
	assert_int_equal(w->end[0].transactions.done, 6);
	assert_int_equal(w->end[0].transactions.mismatched, 0);
	world_empty(w);
	world_free(w);
}

/* How old the connection of cell 1 of an end is. */
static void assert_age(const struct world *w, unsigned end, uint64_t ns)
{
	struct flow_info info;
	uint32_t at = 0;

	assert_true(flow_walk(w->end[end].m, &at, 100, &info));
	assert_int_not_equal(info.state, FLOW_FREE);
	/* the machine knows the time of its last turn alone */
	assert_in_range(info.age_ns + 101 * MS, ns, ns + 102 * MS);
	if (info.state == FLOW_UDP) {
		assert_int_equal(info.unacked, 0);
		assert_int_equal(info.unsent, 0);
	}
}

static void run_age(bool udp)
{
	static const struct wl_bytes_conf conf = {.request = WL_FIXED(64),
						  .response = WL_FIXED(64),
						  .think = WL_FIXED(100 * MS),
						  .timeout_ns = SECOND};
	struct world *w =
		world_new(&(struct world_setup){.wl = &wl_bytes, .conf = &conf, .udp = udp});
	uint64_t opened;

	world_adopt(w);
	world_run(w, w->now + 70 * SECOND);
	opened = w->now;
	open_n(w, 1);
	for (unsigned i = 0; i < 3; i++) {
		world_run(w, w->now + 30 * SECOND + 50 * MS);
		for (unsigned end = 0; end < 2; end++)
			assert_age(w, end, w->now - opened);
	}
	for (unsigned end = 0; end < 2; end++)
		flow_abort(w->end[end].m, &w->end[end].wl);
	world_run(w, w->now + 1000 * SECOND);
	world_empty(w);
	world_free(w);
}

static void test_age(void **state)
{
	(void)state;
	run_age(false);
	run_age(true);
}

static bool no_route(struct world *w, unsigned from, struct world_frame *f)
{
	if (w->arg == NULL)
		flow_icmp(w->end[from].m, FLOW_ICMP_HOST, 0, f->data + 14, 28, 0, w->now);
	return false;
}

static void test_unreachable(void **state)
{
	static const struct wl_bytes_conf conf = {.request = WL_FIXED(64),
						  .response = WL_FIXED(64)};
	struct world *w = world_new(&(struct world_setup){.wl = &wl_bytes, .conf = &conf});

	(void)state;
	world_adopt(w);
	open_n(w, 5);
	world_run(w, w->now + MS);
	w->fault = no_route;
	open_n(w, 5);
	world_run(w, w->now + MS);
	assert_int_equal(w->end[0].counts.unreachable, 5);
	/* those that are open only time out (RFC 5461) */
	assert_int_equal(w->end[0].counts.open, 5);
	w->arg = w;
	assert_true(world_run(w, w->now + 1000 * SECOND));
	assert_int_equal(w->end[0].counts.timed_out, 5);
	assert_int_equal(w->end[0].transactions.failed, 5);
	flow_abort(w->end[1].m, &w->end[1].wl);
	assert_true(world_run(w, w->now + 1000 * SECOND));
	world_empty(w);
	world_free(w);
}

/* ---- other headers ---- */

static struct wl_bytes_conf medium = {.request = WL_FIXED(5000),
				      .response = WL_FIXED(20000),
				      .transactions = 2,
				      .timeout_ns = SECOND,
				      .close = WL_CLOSE_FIN};

static uint16_t sum_of(const uint8_t *p, unsigned n)
{
	uint32_t sum = wl_sum(p, n);

	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

/* The outer headers tell the truth, also of frames that are sent again. */
static bool outer_right(struct world *w, unsigned from, struct world_frame *f)
{
	(void)from;
	assert_int_equal(get_be16(f->data + 16), f->len - 14);
	assert_int_equal(get_be16(f->data + 38), f->len - 34);
	assert_int_equal(sum_of(f->data + 14, 20), 0xffff);
	return world_random(w) % 100 != 0;
}

static void run_headers(struct world_setup s)
{
	struct world *w;
	struct flow_info info;
	uint32_t at = 0;

	s.wl = &wl_bytes;
	s.conf = &medium;
	s.verify = true;
	s.fill = WL_FILL_PATTERN;
	w = world_new(&s);
	w->end[1].spec.finwait_ns = SECOND;
	if (s.tunnel)
		w->fault = outer_right;
	world_adopt(w);
	open_n(w, 50);
	world_run(w, w->now + 25000);
	assert_true(flow_walk(w->end[1].m, &at, 100, &info));
	assert_int_equal(info.tuple.is6, s.is6);
	if (s.is6) {
		assert_int_equal(info.tuple.remote.v6[0], 0xfd);
		assert_int_equal(info.tuple.local.v6[15], 2);
	}
	assert_int_equal(info.tuple.local_port, 80);
	assert_true(world_run(w, w->now + 100 * SECOND));
	assert_int_equal(w->end[0].transactions.done, 100);
	assert_int_equal(w->end[0].counts.closed, 50);
	assert_int_equal(w->end[0].transactions.mismatched, 0);
	assert_int_equal(w->end[0].counts.bad_checksum + w->end[1].counts.bad_checksum, 0);
	world_empty(w);
	world_free(w);
}

static void test_headers(void **state)
{
	(void)state;
	run_headers((struct world_setup){.is6 = true});
	run_headers((struct world_setup){.is6 = true, .hashed = true});
	run_headers((struct world_setup){.tunnel = true});
	run_headers((struct world_setup){.tunnel = true, .is6 = true});
}

/* Both ends choose the same sizes, whatever the headers are. */
static void test_varied(void **state)
{
	const struct wl_bytes_conf was = medium;

	(void)state;
	medium.request = vary_of(&vt_wl_sizes, "8..1400:3,1000");
	medium.response = vary_of(&vt_wl_sizes, "8..1400:3,100");
	run_headers((struct world_setup){.udp = true});
	run_headers((struct world_setup){.is6 = true, .udp = true});
	medium.request = vary_of(&vt_wl_sizes, "1..9000:3,1000");
	medium.response = vary_of(&vt_wl_sizes, "1000..30000:3,100");
	run_headers((struct world_setup){0});
	run_headers((struct world_setup){.is6 = true});
	run_headers((struct world_setup){.tunnel = true});
	medium = was;
}

static void test_refused6(void **state)
{
	struct world *w =
		world_new(&(struct world_setup){.wl = &wl_bytes, .conf = &medium, .is6 = true});

	(void)state;
	world_adopt(w);
	w->end[1].wl.draining = true;
	open_n(w, 5);
	assert_true(world_run(w, w->now + 10 * SECOND));
	assert_int_equal(w->end[0].counts.refused, 5);
	assert_int_equal(w->end[0].counts.bad_checksum, 0);
	world_empty(w);
	world_free(w);
}

/* ---- contents ---- */

static void test_contents(void **state)
{
	static const char head[] = "HTTP/1.1 200 OK\r\n\r\n";
	struct wl_content c;
	uint8_t all[5000], piece[5000];

	(void)state;
	for (unsigned fill = 0; fill < 2; fill++) {
		for (unsigned h = 0; h < 2; h++) {
			unsigned len = h * (unsigned)strlen(head);

			wl_content_init(&c, head, len, (enum wl_fill)fill);
			wl_content_put(&c, 0, all, sizeof(all));
			assert_memory_equal(all, head, len);
			for (unsigned i = 0; i < 3000; i++) {
				uint32_t at = i * 7919u % 3000, n = i * 104729u % 2000;
				uint32_t sum = wl_content_put(&c, at, piece, n);

				assert_memory_equal(piece, all + at, n);
				/* the same in the arithmetic of RFC 1071, in which 0xffff is 0 */
				assert_int_equal(sum % 0xffff, wl_sum(piece, n) % 0xffff);
				assert_int_equal(sum % 0xffff, wl_content_sum(&c, at, n) % 0xffff);
				assert_true(wl_content_same(&c, at, piece, n));
				if (n > 0) {
					piece[n / 2] ^= 1;
					assert_false(wl_content_same(&c, at, piece, n));
				}
			}
		}
	}
	/* bytes that are shifted are found */
	assert_false(wl_content_same(&c, 1460, all, 1460));
}

/* A body in chunks, as RFC 9112 7.1 has it, whole and in pieces. */
static void test_chunks(void **state)
{
	static const uint32_t chunk[] = {16, 255, 256, 4096, 100000},
			      body[] = {0, 1, 16, 512, 9000};
	static uint8_t all[20000], piece[20000];
	struct wl_content plain, c;

	(void)state;
	for (unsigned i = 0; i < 5 * 5 * 2; i++) {
		uint32_t want = body[i / 5 % 5], size = chunk[i % 5], done = 0, at = 3;
		enum wl_fill fill = i < 25 ? WL_FILL_X : WL_FILL_PATTERN;
		int len = wl_content_init_chunked(&c, "abc", 3, fill, size, want);

		wl_content_init(&plain, NULL, 0, fill);
		assert_in_range(len, want + 8, sizeof(all));
		wl_content_put(&c, 0, all, (uint32_t)len);
		assert_memory_equal(all, "abc", 3);
		do {
			char line[16];
			uint32_t n = want - done < size ? want - done : size;

			snprintf(line, sizeof(line), "%x\r\n", n);
			assert_memory_equal(all + at, line, strlen(line));
			at += (uint32_t)strlen(line);
			assert_true(wl_content_same(&plain, done, all + at, n));
			assert_memory_equal(all + at + n, "\r\n", 2);
			at += n + 2;
			done += n;
			if (n == 0)
				done++; /* that was the last one */
		} while (done <= want);
		assert_int_equal(at, len);
		for (uint32_t from = 0; from < (uint32_t)len; from += 37) {
			uint32_t n = from * 104729u % 1461, sum;

			if (n > (uint32_t)len - from)
				n = (uint32_t)len - from;
			sum = wl_content_put(&c, from, piece, n);
			assert_memory_equal(piece, all + from, n);
			assert_int_equal(sum % 0xffff, wl_sum(piece, n) % 0xffff);
		}
	}
}

/* The sum of the end around, compared with the simplest way to make it. */
static void test_sums(void **state)
{
	uint8_t data[3000];

	(void)state;
	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 2654435761u >> 23);
	for (unsigned at = 0; at < 40; at++) {
		for (unsigned n = 0; n < 2000; n += n < 100 ? 1 : 97) {
			uint64_t sum = 0;

			for (unsigned i = 0; i < n; i++)
				sum += (uint64_t)data[at + i] << (i % 2 == 0 ? 0 : 8);
			assert_int_equal(wl_sum(data + at, n) % 0xffff, sum % 0xffff);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_not_taken),   cmocka_unit_test(test_streams),
		cmocka_unit_test(test_buffers),     cmocka_unit_test(test_too_big),
		cmocka_unit_test(test_unreachable), cmocka_unit_test(test_age),
		cmocka_unit_test(test_contents),    cmocka_unit_test(test_chunks),
		cmocka_unit_test(test_sums),        cmocka_unit_test(test_headers),
		cmocka_unit_test(test_varied),      cmocka_unit_test(test_refused6),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
