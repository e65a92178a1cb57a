/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients whose destinations have different next hops: whatever the addresses and the ways are,
 * each frame of a connection goes the way of its client and its destination, and all answers
 * come. */
#include <errno.h>

#include "effort.h"
#include "flow_world.h"
#include "seed.h"

#define CLIENTS 9
#define DESTINATIONS 60
#define KINDS 8
#define WAYS 5
#define PORTS 400

static const struct wl_bytes_conf work = {.request = WL_FIXED(300),
					  .response = WL_FIXED(4000),
					  .transactions = 2,
					  .close = WL_CLOSE_FIN};

/* What a seed chooses: the addresses of both sides, by ways of clients and kinds of destinations
 * the path of each. */
struct hops {
	unsigned nclients, ndestinations, ways, kinds, l3;
	uint32_t client[CLIENTS], destination[DESTINATIONS];
	uint16_t to_path[DESTINATIONS];
	struct flow_values local, remote;
	struct flow_path path[WAYS * KINDS];
};

static unsigned draw(uint64_t *x, unsigned n)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return (unsigned)((*x >> 20) % n);
}

/* Addresses: a range, or a list in no order. */
static struct flow_values addresses(uint64_t *x, uint32_t *at, unsigned n, uint32_t base)
{
	uint32_t step = 1 + draw(x, 7), last;
	unsigned other;

	for (unsigned i = 0; i < n; i++)
		at[i] = base + i * step;
	if (draw(x, 2) == 0)
		return (struct flow_values){.count = n, .base = base, .step = step};
	for (unsigned i = n; i > 1; i--) {
		other = draw(x, i);
		last = at[i - 1];
		at[i - 1] = at[other];
		at[other] = last;
	}
	return (struct flow_values){.count = n, .list = at};
}

/* Its MAC address says which path it is. */
static void make_path(struct hops *h, unsigned way, unsigned kind, bool is6)
{
	uint8_t b[FLOW_PREFIX_MAX] = {2, 0, 0, (uint8_t)way, (uint8_t)kind, 1, 2, 0, 0, 0, 0, 2};

	put_be16(b + 12, is6 ? 0x86dd : 0x0800);
	b[14] = is6 ? 0x60 : 0x45;
	b[20] = is6 ? 6 : 0x40;
	b[21] = is6 ? 64 : 0;
	b[22] = 64;
	b[23] = 6;
	assert_int_equal(flow_path_init(&h->path[way * h->kinds + kind], b, 14, is6 ? 54 : 34, 0,
					NULL, 0, NULL),
			 0);
}

static void make(struct hops *h, uint64_t *x, bool is6)
{
	*h = (struct hops){.nclients = 1 + draw(x, CLIENTS),
			   .ndestinations = 1 + draw(x, DESTINATIONS),
			   .ways = 1 + draw(x, WAYS),
			   .kinds = 1 + draw(x, KINDS),
			   .l3 = is6 ? 8 : 12};
	h->local = addresses(x, h->client, h->nclients, 0x0a000001);
	h->remote = addresses(x, h->destination, h->ndestinations, 0x0a000a01);
	for (unsigned i = 0; i < h->ndestinations; i++)
		h->to_path[i] = (uint16_t)draw(x, h->kinds);
	for (unsigned way = 0; way < h->ways; way++)
		for (unsigned kind = 0; kind < h->kinds; kind++)
			make_path(h, way, kind, is6);
}

static unsigned place(const uint32_t *at, unsigned n, uint32_t value)
{
	unsigned i = 0;

	while (i < n && at[i] != value)
		i++;
	assert_true(i < n);
	return i;
}

static uint32_t get_be32(const uint8_t *p)
{
	return get_be16(p) << 16 | get_be16(p + 2);
}

/* Which way and which kind a frame must have, by its addresses and ports alone; and some are
 * lost. */
static bool right(struct world *w, unsigned from, struct world_frame *f)
{
	const struct hops *h = w->arg;
	bool is6 = h->l3 == 8;
	unsigned first = 14 + h->l3 + (is6 ? 12 : 0), next = first + (is6 ? 16 : 4),
		 ports = 14 + (is6 ? 40 : 20);
	unsigned client, to;
	const uint8_t *mac = f->data + (from == 0 ? 0 : 6);

	to = place(h->destination, h->ndestinations,
		   get_be32(f->data + (from == 0 ? next : first)));
	client = place(h->client, h->nclients, get_be32(f->data + (from == 0 ? first : next)));
	if (h->nclients == 1)
		client = get_be16(f->data + ports + (from == 0 ? 0 : 2)) - 1024;
	assert_int_equal(mac[3], client % h->ways);
	assert_int_equal(mac[4], h->to_path[to]);
	return world_random(w) % 50 != 0;
}

static void tuples(struct world *w, const struct hops *h, bool dense, bool is6)
{
	const struct flow_values ports = {.count = PORTS, .base = 1024},
				 http = {.count = 1, .base = 80};
	const struct flow_tuples_conf client = {.local = &h->local,
						.local_port = &ports,
						.remote = &h->remote,
						.remote_port = &http,
						.local_prefix6 = is6 ? world_prefix6 : NULL,
						.remote_prefix6 = is6 ? world_prefix6 : NULL,
						.dense = dense},
				      server = {.local = &h->remote,
						.local_port = &http,
						.local_prefix6 = is6 ? world_prefix6 : NULL,
						.remote_prefix6 = is6 ? world_prefix6 : NULL};
	const struct flow_tuples_conf *conf[2] = {&client, &server};
	struct err e;

	for (unsigned i = 0; i < 2; i++) {
		flow_tuples_free(w->end[i].tuples);
		assert_int_equal(flow_tuples_new(&w->end[i].tuples, conf[i], &e), 0);
		w->end[i].spec.tuples = w->end[i].tuples;
	}
}

static struct world *hops_world(struct hops *h, uint64_t *x, struct flow_servers **to)
{
	static const struct flow_values any = {.count = 1, .step = 1};
	bool is6 = draw(x, 3) == 0;
	struct world *w = world_new(&(struct world_setup){.wl = &wl_bytes,
							  .conf = &work,
							  .verify = true,
							  .is6 = is6,
							  .general = draw(x, 4) == 0,
							  .fill = WL_FILL_PATTERN});
	struct flow_spec *c = &w->end[0].spec;

	make(h, x, is6);
	tuples(w, h, draw(x, 2) == 0, is6);
	*to = flow_servers_new(&h->remote, &any, true);
	assert_non_null(*to);
	c->path = h->path;
	c->npath = (uint16_t)(h->ways * h->kinds);
	c->to = *to;
	c->to_path = h->to_path;
	c->nto = (uint16_t)h->kinds;
	c->timewait_ns = 60 * SECOND; /* as long as the other end may send its FIN again */
	w->random = *x | 1;
	w->arg = h;
	w->fault = right;
	world_adopt(w);
	return w;
}

static void test_whatever_the_ways_are(void **state)
{
	uint64_t x = test_seed_not_0();
	struct flow_servers *to;
	struct hops h;

	(void)state;
	for (unsigned round = 0; round < effort(300, 40); round++) {
		struct world *w = hops_world(&h, &x, &to);
		unsigned n = 1 + draw(&x, 3 * h.nclients * h.ndestinations);
		n = n > 200 ? 200 : n;
		assert_int_equal(flow_open(w->end[0].m, w->end[0].version, n, w->now, 0, w->now),
				 n);
		assert_true(world_run(w, w->now + 1000 * SECOND));
		for (unsigned i = 0; i < 2; i++) {
			assert_int_equal(w->end[i].counts.closed, n);
			assert_int_equal(w->end[i].transactions.done, 2 * n);
			assert_int_equal(w->end[i].transactions.mismatched, 0);
		}
		world_empty(w);
		world_free(w);
		free(to);
	}
}

/* Who speaks to a client from an address that is no destination is answered on the first way. */
static void test_strangers(void **state)
{
	static const uint32_t mine[3] = {0x0a000a01, 0x0a000a02, 0x0a000a03};
	static const uint16_t kind[3] = {1, 1, 0};
	const struct flow_values any = {.count = 1, .step = 1}, remote = {.count = 3, .list = mine};
	struct world *w = world_new(&(struct world_setup){.wl = &wl_bytes, .conf = &work});
	struct flow_spec *c = &w->end[0].spec;
	struct hops h = {.kinds = 2, .nclients = 1, .ndestinations = 3, .remote = remote};
	uint8_t f[54] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 9, 9, 9, 8, 0, 0x45, 0, 0, 40};
	struct flow_in in = {.data = f, .len = 54, .l3 = 14, .verdict = FLOW_SUM_GOOD};
	struct err e;

	(void)state;
	make_path(&h, 0, 0, false);
	make_path(&h, 0, 1, false);
	h.local = (struct flow_values){.count = 1, .base = 0x0a000001};
	tuples(w, &h, true, false);
	c->path = h.path;
	c->npath = 2;
	c->nto = 0;
	c->to = flow_servers_new(&remote, &any, true);
	c->to_path = kind;
	assert_int_equal(flow_check(c, &e), -EINVAL);
	assert_non_null(strstr(e.text, "2 paths are not 0 for each client"));
	assert_int_equal(flow_adopt(w->end[0].m, c), -EINVAL);
	c->nto = 2;
	world_adopt(w);
	f[22] = 64;
	f[23] = 6;
	memcpy(f + 26, (const uint8_t[8]){10, 0, 99, 1, 10, 0, 0, 1}, 8);
	memcpy(f + 34, (const uint8_t[14]){0, 80, 4, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x10}, 14);
	put_be16(f + 24, (unsigned)~wl_sum(f + 14, 20) & 0xffff);
	flow_rx(w->end[0].m, &in, 1, w->now);
	assert_int_equal(w->end[0].sink.nout, 1);
	assert_int_equal(((const uint8_t *)w->end[0].out[0].handle)[4], 0);
	assert_int_equal(flow_machine_counts(w->end[0].m)->rst_sent, 1);
	assert_true(world_run(w, w->now + SECOND));
	world_empty(w);
	free((void *)(uintptr_t)c->to);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whatever_the_ways_are),
		cmocka_unit_test(test_strangers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
