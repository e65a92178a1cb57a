/* SPDX-License-Identifier: BSD-3-Clause */
/* HTTP and dialogs over TCP: two machines back to back, with and without loss. */
#include "flow_world.h"
#include "wl_text.h"

static struct wl_http *http_of(const struct wl_http_settings *s)
{
	struct wl_http *h;
	struct err e;
	int rc = wl_http_make(s, &h, &e);

	if (rc != 0)
		print_error("%s\n", e.text);
	assert_int_equal(rc, 0);
	return h;
}

/* Both ends of a world with HTTP. */
struct http_world {
	struct world *w;
	struct wl_http *end[2];
};

static void http_begin(struct http_world *h, const struct wl_http_settings *client,
		       const struct wl_http_settings *server, bool verify)
{
	h->end[0] = http_of(client);
	h->end[1] = http_of(server);
	h->w = world_new(
		&(struct world_setup){.wl = &wl_http, .conf = &h->end[0]->conf, .verify = verify});
	for (unsigned i = 0; i < 2; i++) {
		struct wl_flow *f = &h->w->end[i].wl;

		f->wl = h->end[i]->wl;
		f->conf = &h->end[i]->conf;
		f->content = h->end[i]->content;
		f->ncontent = h->end[i]->ncontent;
		f->own = calloc(1, f->wl->own_bytes);
		assert_non_null(f->own);
	}
	world_adopt(h->w);
}

static const struct wl_http_counts *http_counts(const struct http_world *h, unsigned end)
{
	return h->w->end[end].wl.own;
}

static void http_end(struct http_world *h)
{
	world_empty(h->w);
	for (unsigned i = 0; i < 2; i++) {
		free(h->w->end[i].wl.own);
		h->w->end[i].wl.own = NULL;
	}
	world_free(h->w);
	for (unsigned i = 0; i < 2; i++)
		wl_http_free(h->end[i]);
}

static void http_open(struct http_world *h, unsigned n)
{
	struct world *w = h->w;

	assert_int_equal(flow_open(w->end[0].m, w->end[0].version, n, w->now, 0, w->now), n);
}

static void http_all(struct http_world *h, unsigned connections, unsigned transactions)
{
	http_open(h, connections);
	assert_true(world_run(h->w, h->w->now + 1000 * SECOND));
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(h->w->end[i].counts.closed, connections);
		assert_int_equal(h->w->end[i].transactions.done, transactions);
		assert_int_equal(h->w->end[i].transactions.failed, 0);
		assert_int_equal(h->w->end[i].transactions.mismatched, 0);
		assert_int_equal(http_counts(h, i)->bad, 0);
	}
}

static const struct wl_http_settings get = {.client = true,
					    .host = "10.0.0.2",
					    .transactions = 1,
					    .close = WL_CLOSE_FIN};
static const struct wl_vary size100 = WL_FIXED(100);
static const struct wl_http_settings hundred = {.size = &size100};

static void test_get(void **state)
{
	struct http_world h;

	(void)state;
	http_begin(&h, &get, &hundred, true);
	http_all(&h, 50, 50);
	assert_int_equal(http_counts(&h, 0)->status[1], 50);
	assert_int_equal(http_counts(&h, 1)->status[1], 50);
	/* SYN, request, FIN, ACK: as many segments as requests of bytes need */
	assert_int_equal(h.w->end[0].counts.tx, 200);
	http_end(&h);
}

static bool lose_some(struct world *w, unsigned from, struct world_frame *f)
{
	(void)from;
	f->when += world_random(w) % 50000; /* and out of order */
	return world_random(w) % 20 != 0;
}

/* Every framing both ways, keep-alive and pipelined, over a network that loses and reorders. */
static void test_loss(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 16; i++) {
		struct wl_http_settings client = {.client = true,
						  .host = "a,b",
						  .path = "/,/x",
						  .method = "GET,HEAD,POST,PUT",
						  .size = sizes_of("0..5000,10"),
						  .chunked = (i & 1) != 0,
						  .pipeline = (i & 2) != 0 ? 6 : 1,
						  .transactions = 9,
						  .close = WL_CLOSE_FIN,
						  .server_closes = (i & 4) != 0,
						  .fill = WL_FILL_PATTERN};
		struct wl_http_settings server = {.size = sizes_of("0,1..20000:3"),
						  .status = "200:3,404",
						  .chunked = (i & 8) != 0,
						  .chunk = (i & 1) != 0 ? 1000 : 0,
						  .close = WL_CLOSE_FIN,
						  .fill = WL_FILL_PATTERN};
		struct http_world h;

		http_begin(&h, &client, &server, true);
		h.w->fault = lose_some;
		h.w->random += i;
		/* a FIN may have to be sent again for long before it is confirmed */
		h.w->end[0].spec.timewait_ns = h.w->end[1].spec.timewait_ns = 100 * SECOND;
		http_all(&h, 30, 270);
		http_end(&h);
	}
}

static void test_until_close(void **state)
{
	struct wl_http_settings server = {.size = sizes_of("100000"),
					  .until_close = true,
					  .fill = WL_FILL_PATTERN};
	struct wl_http_settings client = get;
	struct http_world h;

	(void)state;
	client.fill = WL_FILL_PATTERN;
	http_begin(&h, &client, &server, true);
	h.w->fault = lose_some;
	http_all(&h, 20, 20);
	http_end(&h);
}

/* The end of a run: idle connections close in the way that was set, and busy ones finish. */
static void test_drain(void **state)
{
	static const enum wl_close close[] = {WL_CLOSE_FIN, WL_CLOSE_RST, WL_CLOSE_NOT};
	struct wl_http_settings client = get;
	struct http_world h;

	(void)state;
	client.transactions = 0;
	client.think = (struct wl_vary)WL_FIXED(10 * MS);
	for (unsigned i = 0; i < ARRAY_SIZE(close); i++) {
		client.close = close[i];
		http_begin(&h, &client, &hundred, false);
		http_open(&h, 20);
		assert_false(world_run(h.w, h.w->now + 55 * MS));
		h.w->end[0].wl.draining = true;
		flow_drain(h.w->end[0].m, &h.w->end[0].wl);
		assert_true(world_run(h.w, h.w->now + 10 * SECOND));
		assert_int_equal(h.w->end[0].counts.closed, i == 1 ? 0 : 20);
		assert_int_equal(h.w->end[0].counts.reset_by_us, i == 1 ? 20 : 0);
		assert_int_equal(h.w->end[0].transactions.failed, 0);
		assert_in_range(h.w->end[0].transactions.done, 80, 140);
		http_end(&h);
	}
}

/* ---- dialogs ---- */

static void dialog_runs(const char *text, unsigned connections, unsigned transactions, bool loss)
{
	struct wl_dialog_conf conf = {.close = WL_CLOSE_FIN};
	struct err e;
	struct world *w;

	assert_int_equal(wl_dialog_parse(text, &conf, &e), 0);
	w = world_new(&(struct world_setup){
		.wl = &wl_dialog, .conf = &conf, .verify = true, .fill = WL_FILL_PATTERN});
	world_adopt(w);
	w->fault = loss ? lose_some : NULL;
	flow_open(w->end[0].m, w->end[0].version, connections, w->now, 0, w->now);
	assert_true(world_run(w, w->now + 1000 * SECOND));
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(w->end[i].counts.closed, connections);
		assert_int_equal(w->end[i].transactions.done, connections * transactions);
		assert_int_equal(w->end[i].transactions.failed, 0);
		assert_int_equal(w->end[i].transactions.mismatched, 0);
	}
	world_empty(w);
	world_free(w);
}

static void test_dialog_drain(void **state)
{
	static const enum wl_close close[] = {WL_CLOSE_FIN, WL_CLOSE_RST, WL_CLOSE_NOT};
	struct err e;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(close); i++) {
		struct wl_dialog_conf conf = {.close = close[i]};
		struct world *w;

		assert_int_equal(wl_dialog_parse("send 9, recv 9, think 9ms, x99", &conf, &e), 0);
		w = world_new(&(struct world_setup){.wl = &wl_dialog, .conf = &conf});
		world_adopt(w);
		flow_open(w->end[0].m, w->end[0].version, 20, w->now, 0, w->now);
		assert_false(world_run(w, w->now + 55 * MS));
		w->end[0].wl.draining = true;
		flow_drain(w->end[0].m, &w->end[0].wl);
		assert_true(world_run(w, w->now + 10 * SECOND));
		assert_int_equal(w->end[0].counts.closed, i == 1 ? 0 : 20);
		assert_int_equal(w->end[0].counts.reset_by_us, i == 1 ? 20 : 0);
		assert_int_equal(w->end[0].transactions.failed, 0);
		world_empty(w);
		world_free(w);
	}
}

static void test_dialogs(void **state)
{
	(void)state;
	for (unsigned loss = 0; loss < 2; loss++) {
		dialog_runs("send 100, recv 1000, think 5ms, x3", 20, 3, loss != 0);
		dialog_runs("recv 20, send 3, (send 100, recv 30k) x4, send 2, recv 2, close", 20,
			    6, loss != 0);
		dialog_runs("send 1, think 1ms, send 1, recv 2M", 3, 1, loss != 0);
		dialog_runs("send 500k, x3", 3, 3, loss != 0);
		dialog_runs("recv 500k, x3", 3, 3, loss != 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_get),          cmocka_unit_test(test_loss),
		cmocka_unit_test(test_until_close),  cmocka_unit_test(test_drain),
		cmocka_unit_test(test_dialog_drain), cmocka_unit_test(test_dialogs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
