/* SPDX-License-Identifier: BSD-3-Clause */
/* A message so long that the machine has to move its bounds along, and that half of all sequence
 * numbers pass by. Each byte is compared. */
#include <malloc.h>
#define WORLD_ROOM 65536
#include "effort.h"
#include "flow_world.h"

static bool lose_few(struct world *w, unsigned from, struct world_frame *f)
{
	(void)from;
	(void)f;
	return world_random(w) % 1000 != 0;
}

static void long_run(uint64_t bytes)
{
	const struct wl_stream_conf conf = {.direction = WL_UP, .bytes = bytes};
	struct world *w = world_new(&(struct world_setup){
		.wl = &wl_stream, .conf = &conf, .verify = true, .fill = WL_FILL_PATTERN});
	struct world_end *c = &w->end[0], *s = &w->end[1];
	static const char head[] = "a head in front of it";

	for (unsigned i = 0; i < 2; i++) {
		w->end[i].spec.mss = 60000;
		w->end[i].spec.window = 8 << 20;
		w->end[i].spec.rto_ns = 5 * MS;
		assert_int_equal(wl_content_init(&w->end[i].content[0], head, sizeof(head),
						 WL_FILL_PATTERN),
				 0);
	}
	w->fault = lose_few;
	world_adopt(w);
	assert_int_equal(flow_open(c->m, c->version, 1, w->now, 0, w->now), 1);
	assert_true(world_run(w, w->now + 10000 * SECOND));
	assert_int_equal(c->counts.tx_bytes, s->counts.rx_bytes);
	assert_int_equal(s->counts.rx_bytes, bytes);
	assert_int_equal(s->transactions.mismatched, 0);
	assert_int_equal(c->counts.closed, 1);
	world_empty(w);
	world_free(w);
}

static void test_long_message(void **state)
{
	(void)state;
	long_run(effort(2300000000, 150000000));
}

/* A device that completes checksums, cuts super-frames and adds filling, or does some of that. */
static void super_frames(enum wl_fill fill, uint32_t head)
{
	static uint8_t bytes[100000];
	const unsigned opens = (unsigned)effort(5, 2), done = 3 * opens;
	static const struct wl_bytes_conf conf = {.request = WL_FIXED(100000),
						  .response = WL_FIXED(1000000),
						  .transactions = 3,
						  .close = WL_CLOSE_FIN};

	for (unsigned i = 0; i < head; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 256);
	for (unsigned offload = 0; offload < 8; offload++) {
		struct world *w = world_new(&(struct world_setup){
			.wl = &wl_bytes, .conf = &conf, .verify = true, .fill = fill});
		struct world_end *c = &w->end[0], *s = &w->end[1];

		if (offload == FLOW_OFFLOAD_SEGMENT || offload == 6) {
			world_free(w); /* no device cuts without completing checksums */
			continue;
		}
		for (unsigned i = 0; i < 2; i++) {
			w->end[i].sink.offload = (uint8_t)offload;
			w->end[i].sink.max_super = 64000;
			w->end[i].sink.room_bytes = 2048;
			w->end[i].spec.rto_ns = 5 * MS;
			for (unsigned k = 0; k < 2; k++)
				assert_int_equal(wl_content_init(&w->end[i].content[k], bytes, head,
								 fill),
						 0);
		}
		w->fault = lose_few;
		world_adopt(w);
		assert_int_equal(flow_open(c->m, c->version, opens, w->now, 0, w->now), opens);
		assert_true(world_run(w, w->now + 100 * SECOND));
		assert_int_equal(c->transactions.done, done);
		assert_int_equal(c->transactions.mismatched + s->transactions.mismatched, 0);
		assert_int_equal(c->counts.bad_checksum + s->counts.bad_checksum, 0);
		assert_int_equal(c->counts.unverified != 0, (offload & FLOW_OFFLOAD_SUM) != 0);
		/* segments are counted as they are on the wire */
		assert_in_range(s->counts.tx, done * 685, done * 685 + 2000);
		if ((offload & FLOW_OFFLOAD_SEGMENT) != 0)
			assert_true(flow_machine_counts(s->m)->tx < s->counts.tx / 4);
		world_empty(w);
		world_free(w);
	}
}

static void test_super_frames(void **state)
{
	(void)state;
	super_frames(WL_FILL_X, 0);
	super_frames(WL_FILL_PATTERN, 333);
	super_frames(WL_FILL_X, 5000); /* a head that no buffer holds in one piece */
}

/* Such a device gets no super-frames of headers that it may not know. */
static void test_what_is_not_cut(void **state)
{
	static const struct wl_bytes_conf conf = {.request = WL_FIXED(10000),
						  .response = WL_FIXED(10000),
						  .transactions = 1,
						  .close = WL_CLOSE_FIN};

	(void)state;
	for (unsigned tunnel = 0; tunnel < 2; tunnel++) {
		struct world *w = world_new(&(struct world_setup){
			.wl = &wl_bytes, .conf = &conf, .verify = true, .tunnel = tunnel != 0});
		struct world_end *c = &w->end[0];

		for (unsigned i = 0; i < 2; i++) {
			w->end[i].sink.offload = FLOW_OFFLOAD_SUM | FLOW_OFFLOAD_SEGMENT;
			w->end[i].sink.max_super = 64000;
		}
		world_adopt(w);
		assert_int_equal(flow_open(c->m, c->version, 1, w->now, 0, w->now), 1);
		assert_true(world_run(w, w->now + 100 * SECOND));
		assert_int_equal(c->transactions.done, 1);
		assert_int_equal(c->transactions.mismatched, 0);
		assert_int_equal(flow_machine_counts(c->m)->tx == c->counts.tx, tunnel != 0);
		world_empty(w);
		world_free(w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_long_message),
		cmocka_unit_test(test_super_frames),
		cmocka_unit_test(test_what_is_not_cut),
	};

	mallopt(M_MMAP_THRESHOLD, 1 << 20); /* frames come and go */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
