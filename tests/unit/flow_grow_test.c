/* SPDX-License-Identifier: BSD-3-Clause */
/* A receiver's window that grows by itself: on long paths it does, on narrow ones it does not. */
#include "effort.h"
#include "flow_world.h"

#define BEGIN 16384
#define MOST (4u << 20)

static const struct wl_stream_conf endless = {.direction = WL_UP};

/* A path on which frames leave one after the other. */
struct narrow {
	uint64_t frame_ns; /* of each */
	uint64_t free_ns;  /* from then on the next one may leave */
};

static bool narrow_path(struct world *w, unsigned from, struct world_frame *f)
{
	struct narrow *p = w->arg;

	if (from != 0)
		return true;
	if (p->free_ns < w->now)
		p->free_ns = w->now;
	p->free_ns += p->frame_ns;
	f->when = p->free_ns + w->delay;
	return true;
}

static struct world *window_world(uint32_t begin, uint32_t most, struct narrow *p)
{
	struct world *w = world_new(&(struct world_setup){.wl = &wl_stream, .conf = &endless});

	w->end[1].spec.window = begin;
	w->end[1].spec.window_most = most;
	if (p != NULL) {
		w->arg = p;
		w->fault = narrow_path;
	}
	world_adopt(w);
	return w;
}

static void window_open(struct world *w, unsigned n)
{
	assert_int_equal(flow_open(w->end[0].m, w->end[0].version, n, w->now, 0, w->now), n);
}

/* The window that the server's connections offer, as the client knows it. */
static uint32_t window_offered(const struct world *w)
{
	struct flow_info info;
	uint32_t at = 0;

	assert_true(flow_walk(w->end[0].m, &at, 1000, &info));
	assert_int_equal(info.state, FLOW_ESTABLISHED);
	return info.peer_window;
}

static void window_end(struct world *w)
{
	for (unsigned i = 0; i < 2; i++) {
		w->end[i].wl.draining = true;
		flow_drain(w->end[i].m, &w->end[i].wl);
	}
	assert_true(world_run(w, w->now + 100 * SECOND));
	assert_int_equal(w->end[0].counts.tx_bytes, w->end[1].counts.rx_bytes);
	assert_int_equal(w->end[1].counts.beyond_window, 0);
	world_empty(w);
	world_free(w);
}

static void test_long_path(void **state)
{
	struct world *w = window_world(BEGIN, MOST, NULL);

	(void)state;
	w->delay = MS;
	window_open(w, 1);
	world_run(w, w->now + 5 * MS);
	assert_in_range(window_offered(w), BEGIN, 2 * BEGIN);
	world_run(w, w->now + 100 * MS);
	assert_int_equal(window_offered(w), MOST);
	window_end(w);
}

/* A round trip of 20 us takes up 2.5 KB. Once the first window was enough: then it has been doubled
 * to see that, and again if meanwhile others had begun, or had not yet. */
static void test_narrow_path(void **state)
{
	struct narrow p = {.frame_ns = 12000};
	struct world *w = window_world(BEGIN, MOST, &p);

	(void)state;
	window_open(w, 4);
	world_run(w, w->now + 20 * MS);
	uint32_t early = window_offered(w);
	assert_in_range(early, 2 * BEGIN, 4 * BEGIN);
	world_run(w, w->now + effort(300, 60) * MS);
	assert_int_equal(window_offered(w), early);
	assert_true(w->end[1].counts.rx_bytes > effort(30000000, 6000000));
	window_end(w);
}

/* The same path becomes longer, of which a receiver is told nothing. */
static void test_path_changes(void **state)
{
	struct narrow p = {.frame_ns = 12000};
	struct world *w = window_world(BEGIN, MOST, &p);

	(void)state;
	window_open(w, 2);
	world_run(w, w->now + 50 * MS);
	assert_in_range(window_offered(w), 2 * BEGIN, 4 * BEGIN);
	w->delay = 5 * MS;
	world_run(w, w->now + effort(1000, 300) * MS);
	/* 1 Gbit/s for 10 ms are 1.2 MB */
	assert_in_range(window_offered(w), 600000, MOST);
	window_end(w);
}

/* The connection that is watched ends: another one takes its place. */
static void test_watched_ends(void **state)
{
	static const struct wl_stream_conf few = {.direction = WL_UP, .bytes = 40000};
	struct world *w = window_world(BEGIN, MOST, NULL);

	(void)state;
	w->end[0].wl.conf = w->end[1].wl.conf = &few;
	w->delay = MS;
	for (unsigned i = 0; i < 100; i++) {
		window_open(w, 1);
		assert_true(world_run(w, w->now + 100 * SECOND));
	}
	w->end[0].wl.conf = w->end[1].wl.conf = &endless;
	window_open(w, 1);
	world_run(w, w->now + 100 * MS);
	assert_int_equal(window_offered(w), MOST);
	window_end(w);
}

static void test_fixed(void **state)
{
	struct world *w = window_world(50000, 0, NULL);

	(void)state;
	w->delay = MS;
	window_open(w, 1);
	world_run(w, w->now + effort(1000, 100) * MS);
	assert_int_equal(window_offered(w), 50000);
	window_end(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_long_path),    cmocka_unit_test(test_narrow_path),
		cmocka_unit_test(test_path_changes), cmocka_unit_test(test_watched_ends),
		cmocka_unit_test(test_fixed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
