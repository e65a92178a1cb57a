/* SPDX-License-Identifier: BSD-3-Clause */
/* Where connections belong: flows with several paths, identities of encapsulations, answers through
 * tunnels, tuples that are another worker's; and frames of which not all bytes are there. */
#include "flow_world.h"

static const struct wl_bytes_conf work = {.request = WL_FIXED(300),
					  .response = WL_FIXED(4000),
					  .transactions = 3,
					  .close = WL_CLOSE_FIN};
/* Connections that stay. */
static const struct wl_bytes_conf stay = {.request = WL_FIXED(64),
					  .response = WL_FIXED(100),
					  .think = WL_FIXED(SECOND)};

static unsigned open_n(struct world *w, unsigned n)
{
	return flow_open(w->end[0].m, w->end[0].version, n, w->now, 0, w->now);
}

/* ---- VLANs, each a network of its own ---- */

#define VLANS 3
#define CLIENTS 7

/* One more flow of an end, with cells of its own. */
struct more {
	struct flow_counts counts;
	struct wl_counts transactions;
	struct wl_numbers numbers;
	struct wl_flow wl;
	struct flow_path path;
	struct flow_spec spec;
	int version;
};

static void vlan_path(struct flow_path *p, bool client, unsigned vlan, unsigned mac)
{
	uint8_t h[FLOW_PREFIX_MAX] = {0};

	h[0] = h[6] = 2;
	h[5] = (uint8_t)(client ? 200 : mac);
	h[11] = (uint8_t)(client ? mac : 200);
	put_be16(h + 12, 0x8100);
	put_be16(h + 14, vlan);
	put_be16(h + 16, 0x0800);
	h[18] = 0x45;
	h[24] = 0x40;
	h[26] = 64;
	h[27] = 6;
	assert_int_equal(flow_path_init(p, h, 18, 38, (uint16_t)vlan, NULL, 0, NULL), 0);
}

static void vlan_shape(struct world *w, const struct world_frame *f, struct flow_in *in)
{
	(void)w;
	in->ident = (uint16_t)(get_be16(f->data + 14) & 0xfff);
	in->l3 = 18;
}

/* The client of each frame, by its address, and the VLAN and MAC address that it must have. */
static bool vlan_right(struct world *w, unsigned from, struct world_frame *f)
{
	unsigned client = f->data[18 + (from == 0 ? 15 : 19)] - 1u;

	assert_true(client < CLIENTS);
	assert_int_equal(get_be16(f->data + 14), 1 + client % VLANS);
	assert_int_equal(f->data[from == 0 ? 11 : 5], 10 + client % VLANS);
	assert_int_equal(f->data[from == 0 ? 5 : 11], 200);
	return world_random(w) % 50 != 0;
}

static void more_begin(struct more *k, struct world_end *e)
{
	k->wl = e->wl;
	k->wl.counts = &k->transactions;
	k->wl.own = &k->numbers;
	k->spec = e->spec;
	k->spec.wl = &k->wl;
	k->spec.counts = &k->counts;
	k->spec.path = &k->path;
}

static void more_adopt(struct more *k, struct flow_machine *m)
{
	struct err e;

	assert_int_equal(flow_check(&k->spec, &e), 0);
	k->version = flow_adopt(m, &k->spec);
	assert_true(k->version >= 0);
}

static void more_end(struct more *k, struct flow_machine *m)
{
	assert_int_equal(k->counts.open + k->counts.opening, 0);
	flow_retire(m, k->version);
	assert_ptr_equal(flow_released(m), &k->spec);
}

/* The clients of an end: so many addresses from 10.0.0.1 on, and ports from 1024 on. */
static void world_clients(struct world *w, unsigned clients, unsigned ports, bool dense)
{
	const struct flow_values local = {.count = clients, .base = 0x0a000001},
				 remote = {.count = 1, .base = 0x0a0000c8},
				 port = {.count = ports, .base = 1024},
				 http = {.count = 1, .base = 80};
	struct world_end *c = &w->end[0];
	struct err e;

	flow_tuples_free(c->tuples);
	assert_int_equal(flow_tuples_new(&c->tuples,
					 &(struct flow_tuples_conf){.local = &local,
								    .local_port = &port,
								    .remote = &remote,
								    .remote_port = &http,
								    .dense = dense},
					 &e),
			 0);
	c->spec.tuples = c->tuples;
}

/* A server at 10.0.0.200:80. */
static void world_server(struct world *w)
{
	const struct flow_values local = {.count = 1, .base = 0x0a0000c8},
				 http = {.count = 1, .base = 80};
	struct world_end *s = &w->end[1];
	struct err e;

	flow_tuples_free(s->tuples);
	assert_int_equal(flow_tuples_new(&s->tuples,
					 &(struct flow_tuples_conf){.local = &local,
								    .local_port = &http},
					 &e),
			 0);
	s->spec.tuples = s->tuples;
}

static void run_vlans(bool dense)
{
	struct world *w = world_new(&(struct world_setup){
		.wl = &wl_bytes, .conf = &work, .verify = true, .fill = WL_FILL_PATTERN});
	struct world_end *c = &w->end[0], *s = &w->end[1];
	static struct more server[VLANS];
	struct flow_path path[VLANS];
	uint64_t all = 0;

	world_clients(w, CLIENTS, 1000, dense);
	world_server(w);
	for (unsigned i = 0; i < VLANS; i++) {
		vlan_path(&path[i], true, i + 1, i + 10);
		server[i] = (struct more){0};
		more_begin(&server[i], s);
		vlan_path(&server[i].path, false, i + 1, 99);
		more_adopt(&server[i], s->m);
	}
	c->spec.path = path;
	c->spec.npath = VLANS;
	c->version = flow_adopt(c->m, &c->spec);
	assert_true(c->version >= 0);
	w->shape = vlan_shape;
	w->fault = vlan_right;
	assert_int_equal(open_n(w, 70), 70);
	assert_true(world_run(w, w->now + 1000 * SECOND));
	assert_int_equal(c->counts.closed, 70);
	assert_int_equal(c->transactions.done, 210);
	assert_int_equal(c->transactions.mismatched, 0);
	/* each client has ten of them, and clients 0, 3 and 6 are in the first VLAN */
	for (unsigned i = 0; i < VLANS; i++) {
		assert_int_equal(server[i].counts.established, i == 0 ? 30 : 20);
		assert_int_equal(server[i].transactions.mismatched, 0);
		all += server[i].transactions.done;
		more_end(&server[i], s->m);
	}
	assert_int_equal(all, 210);
	flow_retire(c->m, c->version);
	assert_ptr_equal(flow_released(c->m), &c->spec);
	world_free(w);
}

static void test_several_paths(void **state)
{
	(void)state;
	run_vlans(true);
	run_vlans(false);
}

/* A list of addresses has its paths in its own order. */
static void test_paths_of_a_list(void **state)
{
	static const uint32_t list[] = {0x0a000005, 0x0a000001, 0x0a000007, 0x0a000002};
	const struct flow_values local = {.count = 4, .list = list},
				 remote = {.count = 1, .base = 0x0a0000c8},
				 port = {.count = 10, .base = 1024},
				 http = {.count = 1, .base = 80};
	struct world *w = world_new(&(struct world_setup){.wl = &wl_bytes, .conf = &work});
	struct world_end *c = &w->end[0];
	struct flow_path path[3];
	struct err e;

	(void)state;
	flow_tuples_free(c->tuples);
	assert_int_equal(flow_tuples_new(&c->tuples,
					 &(struct flow_tuples_conf){.local = &local,
								    .local_port = &port,
								    .remote = &remote,
								    .remote_port = &http},
					 &e),
			 0);
	c->spec.tuples = c->tuples;
	for (unsigned i = 0; i < 3; i++)
		vlan_path(&path[i], true, i + 1, i + 10);
	c->spec.path = path;
	c->spec.npath = 3;
	c->version = flow_adopt(c->m, &c->spec);
	assert_int_equal(open_n(w, 4), 4);
	assert_int_equal(c->sink.nout, 4);
	for (unsigned i = 0; i < 4; i++) {
		const uint8_t *f = c->out[i].handle;

		assert_int_equal(f[18 + 15], list[i] & 255);
		assert_int_equal(get_be16(f + 14), 1 + i % 3);
	}
	flow_machine_free(c->m);
	flow_machine_free(w->end[1].m);
	flow_tuples_free(c->tuples);
	flow_tuples_free(w->end[1].tuples);
	free(w);
}

/* ---- the same addresses and ports in two networks ---- */

/* The only difference is in the VLAN tag. */
static void run_twins(bool dense)
{
	struct world *w = world_new(&(struct world_setup){
		.wl = &wl_bytes, .conf = &work, .verify = true, .fill = WL_FILL_PATTERN});
	struct world_end *end = w->end;
	static struct more twin[2][2]; /* by end and VLAN */
	struct flow_tuples *second;

	world_clients(w, 1, 50, dense);
	second = end[0].tuples;
	end[0].tuples = NULL;
	world_clients(w, 1, 50, dense);
	world_server(w);
	for (unsigned i = 0; i < 4; i++) {
		struct more *k = &twin[i / 2][i % 2];

		*k = (struct more){0};
		more_begin(k, &end[i / 2]);
		vlan_path(&k->path, i < 2, 1 + i % 2, 10);
		if (i == 1)
			k->spec.tuples = second;
		more_adopt(k, end[i / 2].m);
	}
	w->shape = vlan_shape;
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 2; i++)
			assert_int_equal(flow_open(end[0].m, twin[0][i].version, 50 - 20 * i,
						   w->now, 0, w->now),
					 50 - 20 * i);
		assert_true(world_run(w, w->now + 100 * SECOND));
	}
	for (unsigned i = 0; i < 2; i++) {
		const struct more *c = &twin[0][i], *s = &twin[1][i];

		assert_int_equal(c->counts.closed, 3 * (50 - 20 * i));
		assert_int_equal(s->counts.closed, 3 * (50 - 20 * i));
		assert_int_equal(c->transactions.done, 9 * (50 - 20 * i));
		assert_int_equal(s->transactions.done, 9 * (50 - 20 * i));
		assert_int_equal(c->transactions.mismatched + s->transactions.mismatched, 0);
		assert_int_equal(c->counts.no_tuple, 0);
	}
	for (unsigned i = 0; i < 4; i++)
		more_end(&twin[i / 2][i % 2], end[i / 2].m);
	world_free(w);
	flow_tuples_free(second);
}

static void test_twins(void **state)
{
	(void)state;
	run_twins(true);
	run_twins(false);
}

/* A network in which nobody listens is told so, and one without a flow is not answered. */
static void test_other_networks(void **state)
{
	struct world *w = world_new(&(struct world_setup){.wl = &wl_bytes, .conf = &work});
	struct world_end *c = &w->end[0], *s = &w->end[1];
	struct flow_path path[2];

	(void)state;
	world_clients(w, 2, 100, false);
	world_server(w);
	for (unsigned i = 0; i < 2; i++)
		vlan_path(&path[i], true, i + 1, 10);
	c->spec.path = path;
	c->spec.npath = 2;
	c->spec.retries = 1;
	c->version = flow_adopt(c->m, &c->spec);
	vlan_path(&s->path, false, 1, 10);
	s->version = flow_adopt(s->m, &s->spec);
	s->wl.draining = true; /* it is there, but takes nobody */
	w->shape = vlan_shape;
	open_n(w, 10);
	assert_true(world_run(w, w->now + 100 * SECOND));
	assert_int_equal(c->counts.refused, 5);
	assert_int_equal(c->counts.connect_timeout, 5);
	assert_int_equal(flow_machine_counts(s->m)->rst_sent, 5);
	world_empty(w);
	world_free(w);
}

/* ---- answers ---- */

/* Outer addresses of a tunnel: the way back is to who sent. */
static const struct flow_back way_back = {6,
					  {{6, 0, 6},
					   {0, 6, 6},
					   {30, 26, 4},
					   {26, 30, 4},
					   {WORLD_TUNNEL + 6, WORLD_TUNNEL, 6},
					   {WORLD_TUNNEL, WORLD_TUNNEL + 6, 6}}};

static uint16_t sum_of(const uint8_t *p, unsigned n)
{
	uint32_t sum = wl_sum(p, n);

	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

static uint16_t sum_of_two(const uint8_t *a, unsigned na, const uint8_t *b, unsigned nb)
{
	uint32_t sum = sum_of(a, na) + sum_of(b, nb);

	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

/* Whether the checksum of the outer UDP header is right: that of all that follows it. */
static bool outer_right(const struct world_frame *f)
{
	uint8_t pseudo[12];

	memcpy(pseudo, f->data + 26, 8);
	put_be16(pseudo + 8, 17);
	memcpy(pseudo + 10, f->data + 38, 2);
	return get_be16(f->data + 40) != 0 &&
	       sum_of_two(pseudo, 12, f->data + 34, f->len - 34) == 0xffff;
}

#define ENDPOINTS 3
/* Client i is behind endpoint 1.2.3.(10 + i mod 3), whose MAC addresses end with that number. */
static bool endpoint_right(struct world *w, unsigned from, struct world_frame *f)
{
	const uint8_t *ip = f->data + WORLD_TUNNEL + 14;
	uint8_t client = ip[from == 0 ? 15 : 19],
		endpoint = (uint8_t)(10 + (client - 1) % ENDPOINTS);

	assert_int_equal(f->data[from == 0 ? 29 : 33], endpoint);
	assert_int_equal(f->data[from == 0 ? 11 : 5], endpoint);
	assert_int_equal(f->data[WORLD_TUNNEL + (from == 0 ? 11 : 5)], endpoint);
	assert_int_equal(f->data[from == 0 ? 33 : 29], 5);
	assert_int_equal(get_be16(f->data + 16), f->len - 14);
	assert_int_equal(get_be16(f->data + 38), f->len - 34);
	assert_int_equal(sum_of(f->data + 14, 20), 0xffff);
	assert_true(outer_right(f));
	return world_random(w) % 50 != 0;
}

static bool tunnel_right(struct world *w, unsigned from, struct world_frame *f)
{
	(void)w, (void)from;
	assert_int_equal(get_be16(f->data + 16), f->len - 14);
	assert_int_equal(get_be16(f->data + 38), f->len - 34);
	assert_true(outer_right(f));
	return true;
}

/* The sums of outer headers are right whatever is inside, odd lengths and retransmissions too. */
static void test_outer_sums(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		const struct wl_bytes_conf odd = {.request = WL_FIXED(301),
						  .response = WL_FIXED(i % 2 != 0 ? 999 : 4001),
						  .transactions = 3,
						  .timeout_ns = SECOND,
						  .close = WL_CLOSE_FIN};
		struct world *w = world_new(&(struct world_setup){.wl = &wl_bytes,
								  .conf = &odd,
								  .verify = true,
								  .tunnel = true,
								  .udp = i % 2 != 0,
								  .is6 = i / 2 != 0,
								  .fill = WL_FILL_PATTERN});
		struct world_end *c = &w->end[0];

		w->fault = tunnel_right;
		w->end[1].spec.finwait_ns = SECOND;
		world_adopt(w);
		assert_int_equal(open_n(w, 20), 20);
		assert_true(world_run(w, w->now + 100 * SECOND));
		assert_int_equal(c->counts.closed, 20);
		assert_int_equal(c->transactions.done, 60);
		world_empty(w);
		world_free(w);
	}
}

static void endpoint_path(struct flow_path *p, unsigned endpoint)
{
	uint8_t h[FLOW_PREFIX_MAX] = {0};
	struct flow_fix fix[3];
	unsigned at = world_tunnel(h, fix);

	h[11] = h[29] = (uint8_t)endpoint;
	h[33] = 5;
	h[at + 5] = 9;
	h[at] = h[at + 6] = 2;
	h[at + 11] = (uint8_t)endpoint;
	put_be16(h + at + 12, 0x0800);
	h[at + 14] = 0x45;
	h[at + 20] = 0x40;
	h[at + 22] = 64;
	h[at + 23] = 6;
	assert_int_equal(flow_path_init(p, h, at + 14, at + 34, 7, fix, 3, NULL), 0);
}

static void endpoint_shape(struct world *w, const struct world_frame *f, struct flow_in *in)
{
	(void)w;
	in->ident = f->data[48];
	in->l3 = WORLD_TUNNEL + 14;
}

/* A server whose machine can know so many ways back. */
static struct world *endpoint_world(struct flow_path path[ENDPOINTS],
				    const struct wl_bytes_conf *conf, uint16_t paths)
{
	struct world *w = world_new(&(struct world_setup){
		.wl = &wl_bytes, .conf = conf, .verify = true, .fill = WL_FILL_PATTERN});
	struct world_end *c = &w->end[0], *s = &w->end[1];
	const struct flow_machine_conf machine = {.connections = 2000,
						  .verify_sums = true,
						  .paths = paths,
						  .sink = &s->sink,
						  .now_ns = w->now};
	struct err e;

	flow_machine_free(s->m);
	assert_int_equal(flow_machine_new(&s->m, &machine, &e), 0);
	world_clients(w, CLIENTS, 1000, true);
	world_server(w);
	for (unsigned i = 0; i < ENDPOINTS; i++)
		endpoint_path(&path[i], 10 + i);
	c->spec.path = path;
	c->spec.npath = ENDPOINTS;
	c->version = flow_adopt(c->m, &c->spec);
	endpoint_path(&s->path, 0);
	s->spec.back = &way_back;
	s->version = flow_adopt(s->m, &s->spec);
	assert_true(c->version >= 0 && s->version >= 0);
	w->shape = endpoint_shape;
	w->fault = endpoint_right;
	return w;
}

static void test_ways_back(void **state)
{
	struct flow_path path[ENDPOINTS];
	struct world *w = endpoint_world(path, &work, 0);

	(void)state;
	assert_int_equal(open_n(w, 70), 70);
	assert_true(world_run(w, w->now + 1000 * SECOND));
	assert_int_equal(w->end[0].counts.closed, 70);
	assert_int_equal(w->end[1].transactions.done, 210);
	assert_int_equal(w->end[0].transactions.mismatched, 0);
	assert_int_equal(flow_machine_counts(w->end[1].m)->paths_used, ENDPOINTS);
	/* who meets nobody is told by the way back too */
	w->end[1].wl.draining = true;
	open_n(w, 7);
	assert_true(world_run(w, w->now + 1000 * SECOND));
	assert_int_equal(w->end[0].counts.refused, 7);
	world_empty(w);
	world_free(w);
}

/* More ways than there is memory for: SYNs are dropped while all are in use. */
static void test_ways_run_out(void **state)
{
	struct flow_path path[ENDPOINTS];
	struct world *w = endpoint_world(path, &stay, 2);
	struct world_end *c = &w->end[0], *s = &w->end[1];

	(void)state;
	w->fault = NULL;
	c->spec.retries = 1;
	open_n(w, 3);
	world_run(w, w->now + SECOND / 2);
	assert_int_equal(c->counts.open, 2);
	assert_int_equal(s->counts.syn_dropped, 1);
	assert_int_equal(s->counts.rx, c->counts.tx);
	/* those in use stay, and the third one cannot come while they do */
	assert_false(world_run(w, w->now + 10 * SECOND));
	assert_int_equal(c->counts.connect_timeout, 1);
	flow_abort(c->m, &c->wl);
	assert_true(world_run(w, w->now + 10 * SECOND));
	assert_int_equal(s->counts.open, 0);
	/* a way that nobody uses makes room */
	open_n(w, 2);
	assert_false(world_run(w, w->now + SECOND));
	assert_int_equal(c->counts.open, 2);
	flow_abort(c->m, &c->wl);
	assert_true(world_run(w, w->now + 10 * SECOND));
	world_empty(w);
	world_free(w);
}

/* ---- tuples of several workers ---- */

static bool is_mine(const void *arg, const struct flow_tuple *t)
{
	const unsigned *which = arg;

	assert_int_equal(t->local.v4 >> 8, 0x0a0000);
	assert_int_equal(t->remote_port, 80);
	return (t->local_port + t->local.v4) % 2 == *which;
}
static bool is_nobodys(const void *arg, const struct flow_tuple *t)
{
	(void)arg;
	(void)t;
	return false;
}

static void test_mine(void **state)
{
	static const unsigned which[2] = {0, 1};
	bool seen[2][4][10] = {0};

	(void)state;
	for (unsigned worker = 0; worker < 2; worker++) {
		struct world *w = world_new(&(struct world_setup){.wl = &wl_bytes, .conf = &stay});
		struct world_end *c = &w->end[0];
		struct flow_info info;
		uint32_t at = 0;

		world_clients(w, 4, 10, worker == 0);
		world_server(w);
		c->spec.mine = is_mine;
		c->spec.mine_arg = &which[worker];
		world_adopt(w);
		/* half of the forty, and no other one */
		assert_int_equal(open_n(w, 25), 25);
		assert_int_equal(c->counts.opened, 20);
		assert_int_equal(c->counts.no_tuple, 5);
		while (flow_walk(c->m, &at, 1000, &info) && info.state != FLOW_FREE) {
			bool *s = &seen[worker][info.tuple.local.v4 - 0x0a000001]
				       [info.tuple.local_port - 1024];

			assert_true(is_mine(&which[worker], &info.tuple));
			assert_false(*s);
			*s = true;
		}
		for (unsigned i = 0; i < 2; i++)
			flow_abort(w->end[i].m, &w->end[i].wl);
		assert_true(world_run(w, w->now + 10 * SECOND));
		world_empty(w);
		world_free(w);
	}
	for (unsigned i = 0; i < 40; i++)
		assert_int_equal(seen[0][i / 10][i % 10] + seen[1][i / 10][i % 10], 1);
}

/* A worker without a tuple does not look for one for ever. */
static void test_none_is_mine(void **state)
{
	struct world *w = world_new(&(struct world_setup){.wl = &wl_bytes, .conf = &work});

	(void)state;
	w->end[0].spec.mine = is_nobodys;
	world_adopt(w);
	assert_int_equal(open_n(w, 3), 3);
	assert_int_equal(w->end[0].counts.no_tuple, 3);
	assert_int_equal(w->end[0].counts.opened, 0);
	world_empty(w);
	world_free(w);
}

/* ---- frames of which not all is there ---- */

/* Behind so many bytes nothing was kept, but how much it was. */
#define KEPT 100
static struct flow_piece unkept[256];
static unsigned nunkept;
static void shape_unkept(struct world *w, const struct world_frame *f, struct flow_in *in)
{
	struct flow_piece *p = &unkept[nunkept++ % 256];

	(void)w;
	if (f->len <= KEPT)
		return;
	p[0] = (struct flow_piece){.len = f->len - KEPT};
	in->len = KEPT;
	in->rest = p;
}

static void test_bytes_that_nobody_kept(void **state)
{
	struct world *w = world_new(&(struct world_setup){
		.wl = &wl_bytes, .conf = &work, .verify = true, .fill = WL_FILL_PATTERN});

	(void)state;
	w->shape = shape_unkept;
	world_adopt(w);
	open_n(w, 20);
	assert_true(world_run(w, w->now + 100 * SECOND));
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(w->end[i].counts.closed, 20);
		assert_int_equal(w->end[i].transactions.done, 60);
		assert_int_equal(w->end[i].transactions.mismatched, 0);
		assert_int_equal(w->end[i].counts.bad_checksum, 0);
	}
	/* three requests, and three responses in three segments each */
	assert_int_equal(w->end[1].counts.unverified, 60);
	assert_int_equal(w->end[0].counts.unverified, 180);
	world_empty(w);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_several_paths), cmocka_unit_test(test_paths_of_a_list),
		cmocka_unit_test(test_twins),         cmocka_unit_test(test_other_networks),
		cmocka_unit_test(test_outer_sums),    cmocka_unit_test(test_ways_back),
		cmocka_unit_test(test_ways_run_out),  cmocka_unit_test(test_mine),
		cmocka_unit_test(test_none_is_mine),  cmocka_unit_test(test_bytes_that_nobody_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
