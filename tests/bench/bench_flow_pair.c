/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eth_ring.h>
#include <rte_ethdev.h>

#include "bench_flow.h"
#include "clock.h"
#include "flows_own.h"

#define RING 8192
#define LEN_ETH 14
#define LEN_IP4 20
#define LEN_IP6 40
#define LEN_UDP 8
#define LEN_VXLAN 8
#define LEN_OUTER (LEN_ETH + LEN_IP4 + LEN_UDP + LEN_VXLAN)
#define CLIENT_IP 0x0a000001
#define SERVER_IP 0x0aff0001
#define PORTS 64512

/* ---- frames ---- */

void pair_devices(uint16_t dev[2], struct rte_mempool *mp)
{
	static unsigned made;
	struct rte_eth_conf conf = {0};
	struct rte_ring *r[2];
	char name[32];

	for (unsigned i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "pair%u", made++);
		r[i] = rte_ring_create(name, RING, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
		if (r[i] == NULL)
			die("ring");
	}
	for (unsigned i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "end%u", made++);
		int n = rte_eth_from_rings(name, &r[i], 1, &r[!i], 1, SOCKET_ID_ANY);
		if (n < 0 || rte_eth_dev_configure((uint16_t)n, 1, 1, &conf) < 0 ||
		    rte_eth_rx_queue_setup((uint16_t)n, 0, 1024, 0, NULL, mp) < 0 ||
		    rte_eth_tx_queue_setup((uint16_t)n, 0, 1024, 0, NULL) < 0 ||
		    rte_eth_dev_start((uint16_t)n) < 0)
			die(name);
		dev[i] = (uint16_t)n;
	}
}

static void end_flush(struct pair_end *e)
{
	struct rte_mbuf *m[PAIR_BURST];
	uint32_t done = 0, n = e->sink.nout;
	uint64_t flags = (e->sink.offload & FLOW_OFFLOAD_SUM) != 0
				 ? RTE_MBUF_F_TX_TCP_CKSUM | RTE_MBUF_F_TX_IPV4
				 : 0;

	while (done < n) {
		uint32_t some = n - done < PAIR_BURST ? n - done : PAIR_BURST;

		for (uint32_t i = 0; i < some; i++) {
			const struct flow_out *o = &e->out[done + i];

			/* behind the last one are some that were sent before */
			rte_prefetch0(o[PAIR_AHEAD].handle);
			m[i] = o->handle;
			m[i]->data_off = RTE_PKTMBUF_HEADROOM;
			m[i]->data_len = (uint16_t)(o->len + o->fill);
			m[i]->pkt_len = m[i]->data_len;
			m[i]->ol_flags = flags;
		}
		if (rte_eth_tx_burst(e->dev, 0, m, (uint16_t)some) != some)
			die("flow: the ring between the ends is full");
		done += some;
	}
	e->sink.nout = 0;
}

static bool end_more(struct flow_sink *s, unsigned kind)
{
	struct pair_end *e = s->owner;

	if (s->nout == s->max_out)
		end_flush(e);
	if (s->nroom[kind] == 0) {
		struct rte_mbuf *m[PAIR_BURST];
		size_t at;

		if (rte_mempool_get_bulk(e->pool[kind], (void **)m, PAIR_BURST) < 0)
			die("flow: pool empty");
		/* DPDK lays out all buffers of a pool alike */
		at = (size_t)((uint8_t *)m[0]->buf_addr - (uint8_t *)m[0]) + RTE_PKTMBUF_HEADROOM;
		for (unsigned i = 0; i < PAIR_BURST; i++)
			s->room[kind][i] =
				(struct flow_room){.data = (uint8_t *)m[i] + at, .handle = m[i]};
		s->nroom[kind] = PAIR_BURST;
	}
	return true;
}

/* all: however many there are, so that the ring does not fill when connections end by the
 * million. */
static void end_receive(struct pair_end *e, uint64_t now_ns, bool all)
{
	/* behind the last one are some that came before */
	struct rte_mbuf *m[PAIR_BURST + PAIR_AHEAD] = {NULL};
	uint16_t n;

	do {
		n = rte_eth_rx_burst(e->dev, 0, m, PAIR_BURST);
		if (e->hand != NULL)
			n = (uint16_t)pair_hand_over(e->hand, m, n, PAIR_BURST);
		if (n == 0)
			return;
		for (uint16_t i = 0; i < n; i++) {
			rte_prefetch0(m[i + PAIR_AHEAD]);
			e->in[i].data = rte_pktmbuf_mtod(m[i], const uint8_t *);
			e->in[i].len = m[i]->data_len;
			rte_prefetch0(e->in[i].data);
		}
		flow_rx(e->m, e->in, n, now_ns);
		if (e->hand != NULL)
			pair_hand_free(e->hand, m, n);
		else
			rte_pktmbuf_free_bulk(m, n);
	} while (all);
}

/* ---- turns ---- */

/* Begins what there is room for. */
static void pair_ask(struct pair *p)
{
	struct pair_end *c = &p->end[0];
	uint64_t asking = c->transactions.started - c->counts.closed;

	flow_open(c->m, c->version, PAIR_BURST, p->now_ns, 0, p->now_ns);
	if (p->conf.live != 0 && asking < p->conf.flight)
		flow_go(c->m, c->version,
			p->conf.flight - asking < PAIR_BURST ? (unsigned)(p->conf.flight - asking)
							     : PAIR_BURST,
			p->now_ns, 0, p->now_ns);
}

static void pair_work(struct pair *p)
{
	for (unsigned i = 0; i < 2; i++) {
		struct pair_end *e = &p->end[i];

		end_receive(e, p->now_ns, p->ending);
		if (i == 0 && !p->stopped)
			pair_ask(p);
		flow_poll(e->m, p->now_ns);
		end_flush(e);
	}
}

void pair_begin(struct pair *p)
{
	p->then_tsc = clock_tsc();
}

void pair_turn(struct pair *p)
{
	static uint64_t ns_32; /* of a cycle */
	uint64_t tsc = clock_tsc(), cycles = tsc - p->then_tsc, ns;

	if (ns_32 == 0)
		ns_32 = (uint64_t)(1e9 * 4294967296.0 / clock_hz());
	ns = (uint64_t)((unsigned __int128)cycles * ns_32 >> 32);
	p->now_ns += ns < 1000000 ? ns : 1000000;
	p->then_tsc = tsc;
	pair_work(p);
}

void pair_turn_at(struct pair *p, uint64_t now_ns)
{
	p->now_ns = now_ns;
	pair_work(p);
}

uint64_t pair_next_ns(const struct pair *p)
{
	uint64_t a = flow_next_ns(p->end[0].m), b = flow_next_ns(p->end[1].m);

	return a < b ? a : b;
}

uint64_t pair_events(const struct pair *p)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < 2; i++) {
		const struct flow_machine_counts *k = flow_machine_counts(p->end[i].m);

		n += k->rx + k->tx;
	}
	return n;
}

void pair_open(struct pair *p, uint32_t n)
{
	struct pair_end *c = &p->end[0];
	uint64_t until = c->counts.opened + n;

	p->stopped = true;
	while (c->counts.opened < until || c->counts.opening > 0) {
		uint64_t left = until - c->counts.opened;

		if (left != 0 && c->counts.opening < p->conf.flight)
			flow_open(c->m, c->version, left < PAIR_BURST ? (unsigned)left : PAIR_BURST,
				  p->now_ns, 0, p->now_ns);
		pair_turn(p);
	}
	p->stopped = false;
}

/* ---- connections that are asked in another order than that of their memory ---- */

/* HTTP, whose connections wait twice for a while before they are ready. Those that end to wait in
 * the same tick are ready in the order of their first wait, so neighbours in the list of ready ones
 * are nowhere near each other in memory. */
static bool mixing;
static uint64_t mix_random = 88172645463325252ull;

static void mixed_opened(struct wl_turn *t)
{
	mix_random ^= mix_random << 13;
	mix_random ^= mix_random >> 7;
	mix_random ^= mix_random << 17;
	if (mixing && t->mem[0]++ < 2) {
		t->timer_ns = 1 + mix_random % 900000000;
		return;
	}
	t->mem[0] = 0;
	wl_http.opened(t);
}

static const struct workload *mixed_workload(void)
{
	static struct workload mixed;

	mixed = wl_http;
	mixed.opened = mixed_opened;
	mixed.timer = mixed_opened;
	return &mixed;
}

void pair_settle(struct pair *p)
{
	uint64_t until;

	pair_begin(p);
	if (p->conf.live != 0) {
		mixing = p->conf.mixed;
		pair_open(p, p->conf.live);
		p->stopped = true;
		for (until = p->now_ns + 2000000000; mixing && p->now_ns < until;)
			pair_turn_at(p, p->now_ns + 200000);
		mixing = false;
		p->stopped = false;
		pair_begin(p);
	}
	for (unsigned i = 0; i < 2000; i++)
		pair_turn(p);
}

/* ---- beginning and end ---- */

static const uint8_t prefix6[12] = {0xfd, [1] = 0, [2] = 1};

static unsigned end_l3(const struct pair_conf *conf)
{
	return conf->frame == PAIR_VXLAN ? LEN_OUTER + LEN_ETH : LEN_ETH;
}

/* Writes an Ethernet header and one of IPv4. */
static void end_headers(uint8_t *h, bool client, uint8_t protocol)
{
	memcpy(h,
	       (const uint8_t[LEN_ETH + LEN_IP4]){
		       2, [6] = 2, [12] = 8, [14] = 0x45, [20] = 0x40, [22] = 64, [23] = protocol},
	       LEN_ETH + LEN_IP4);
	h[5] = client ? 2 : 1;
	h[11] = client ? 1 : 2;
}

/* The lengths of the outer headers, and the checksum of the outer UDP. */
static const struct flow_fix vxlan_fix[] = {
	{FLOW_FIX_IP4, LEN_ETH + 2, LEN_ETH, LEN_ETH + 10},
	{FLOW_FIX_LENGTH, LEN_ETH + LEN_IP4 + 4, LEN_ETH + LEN_IP4, 0},
	{FLOW_FIX_UDP, LEN_ETH + LEN_IP4 + 6, LEN_ETH + LEN_IP4, LEN_ETH},
};

static void end_path(struct pair_end *e, const struct pair_conf *conf, bool client)
{
	uint8_t h[FLOW_PREFIX_MAX] = {0};
	unsigned l3 = end_l3(conf), l4 = l3 + (conf->frame == PAIR_IP6 ? LEN_IP6 : LEN_IP4);
	unsigned nfix = conf->frame == PAIR_VXLAN ? ARRAY_SIZE(vxlan_fix) : 0;
	struct err err;

	end_headers(h + l3 - LEN_ETH, client, 6);
	if (conf->frame == PAIR_IP6) {
		memcpy(h + 12, (const uint8_t[]){0x86, 0xdd}, 2);
		memcpy(h + l3, (const uint8_t[LEN_IP6]){0x60, [6] = 6, [7] = 64}, LEN_IP6);
	} else if (conf->frame == PAIR_VXLAN) {
		end_headers(h, client, 17);
		memcpy(h + LEN_ETH + 12, (const uint8_t[]){192, 0, 2, client ? 1 : 2}, 4);
		memcpy(h + LEN_ETH + 16, (const uint8_t[]){192, 0, 2, client ? 2 : 1}, 4);
		memcpy(h + LEN_ETH + LEN_IP4, (const uint8_t[]){0xc0, 0, 0x12, 0xb5}, 4);
		memcpy(h + LEN_OUTER - LEN_VXLAN, (const uint8_t[LEN_VXLAN]){8, [6] = 7},
		       LEN_VXLAN);
	}
	if (flow_path_init(&e->path, h, l3, l4, 0, vxlan_fix, nfix, &err) < 0)
		die(err.text);
}

static unsigned end_servers(const struct pair_conf *conf)
{
	return conf->servers != 0 ? conf->servers : 1;
}

static void end_tuples(struct pair_end *e, const struct pair_conf *conf, bool client,
		       uint32_t connections)
{
	const uint8_t *prefix = conf->frame == PAIR_IP6 ? prefix6 : NULL;
	unsigned servers = end_servers(conf);
	struct flow_values server = {.count = servers, .base = SERVER_IP, .step = 1},
			   port = {.count = 1, .base = 80};
	struct flow_values clients = {.count = 2 * connections / PORTS + 1, .base = CLIENT_IP};
	/* as many tuples in any case */
	struct flow_values ports = {.count = PORTS / servers, .base = 1024};
	struct flow_tuples_conf tuples = {.local = client ? &clients : &server,
					  .local_port = client ? &ports : &port,
					  .remote = client ? &server : NULL,
					  .remote_port = client ? &port : NULL,
					  .local_prefix6 = prefix,
					  .remote_prefix6 = prefix,
					  .dense = true,
					  .touched = client};
	struct err err;

	if (flow_tuples_new(&e->tuples, &tuples, &err) < 0)
		die(err.text);
	if (!conf->by_dst)
		return;
	e->servers = flow_servers_new(&server, &port, client);
	/* one more is for what is none of them */
	e->server_counts = aligned_alloc(64, (servers + 1) * sizeof(*e->server_counts));
	if (e->servers == NULL || e->server_counts == NULL)
		die("flow: no memory for servers");
	memset(e->server_counts, 0, (servers + 1) * sizeof(*e->server_counts));
}

static struct wl_http *end_http(const struct pair_conf *conf, bool client)
{
	bool one = conf->work == PAIR_GET;
	struct wl_http_settings s = {.client = client,
				     .host = client ? "10.255.0.1" : NULL,
				     .transactions = one ? 1 : 0,
				     .server_closes = one,
				     .close = WL_CLOSE_FIN};
	struct wl_http *h;
	struct err err;

	if (wl_http_make(&s, &h, &err) < 0)
		die(err.text);
	return h;
}

static const struct wl_bytes_conf bytes_conf = {.request = WL_FIXED(1),
						.response = WL_FIXED(1),
						.close = WL_CLOSE_FIN};
static const struct wl_stream_conf stream_conf = {.direction = WL_UP};

static struct hist *end_hist(bool wanted)
{
	static const struct hist_shape shape = {.bits = 6, .top = 40};
	struct hist *h;

	if (!wanted)
		return NULL;
	h = zeroed(hist_size(shape));
	hist_init(h, shape);
	return h;
}

static void end_workload(struct pair_end *e, const struct pair_conf *conf, bool client)
{
	struct wl_flow *f = &e->wl;

	*f = (struct wl_flow){.counts = &e->transactions,
			      .client = client,
			      .on_call = conf->live != 0,
			      .by_server = conf->by_dst,
			      .content = &e->content,
			      .ncontent = 1,
			      .connect.h = end_hist(client && conf->timings),
			      .first.h = end_hist(client && conf->timings),
			      .whole.h = end_hist(client && conf->timings)};
	wl_content_init(&e->content, NULL, 0, WL_FILL_X);
	switch (conf->work) {
	case PAIR_BYTES:
		f->wl = &wl_bytes;
		f->conf = &bytes_conf;
		break;
	case PAIR_STREAM:
		f->wl = &wl_stream;
		f->conf = &stream_conf;
		break;
	default:
		e->http = end_http(conf, client);
		f->wl = client && conf->mixed ? mixed_workload() : &wl_http;
		f->conf = &e->http->conf;
		f->content = e->http->content;
		f->ncontent = e->http->ncontent;
	}
	if (conf->through)
		f->wl = pair_through(f->wl);
	f->own = zeroed(f->wl->own_bytes);
}

static void end_sink(struct pair_end *e, const struct pair_conf *conf)
{
	e->sink = (struct flow_sink){.room = {e->room[0], e->room[1]},
				     .out = e->out,
				     .max_out = PAIR_OUT,
				     .more = end_more,
				     .room_bytes = 2048,
				     .owner = e};
	if (!conf->sums)
		e->sink.offload |= FLOW_OFFLOAD_SUM;
	if (conf->work == PAIR_STREAM)
		e->sink.offload |= FLOW_OFFLOAD_FILL;
	for (unsigned i = 0; i < PAIR_BURST; i++)
		e->in[i] =
			(struct flow_in){.l3 = (uint16_t)end_l3(conf),
					 .verdict = conf->sums ? FLOW_SUM_UNKNOWN : FLOW_SUM_GOOD};
}

static void end_open(struct pair *p, unsigned i)
{
	const struct pair_conf *conf = &p->conf;
	struct pair_end *e = &p->end[i];
	bool client = i == 0;
	uint32_t most = conf->live + conf->flight;
	struct flow_machine_conf machine = {.connections = most + 4096,
					    .touched = conf->live,
					    .touched_hash = !client,
					    .verify_sums = conf->sums,
					    .is6 = conf->frame == PAIR_IP6,
					    .secret = {0x243f6a8885a308d3 + i, 0x13198a2e03707344},
					    .now_ns = p->now_ns,
					    .sink = &e->sink};
	struct err err;

	end_path(e, conf, client);
	end_tuples(e, conf, client, most + 4096);
	end_workload(e, conf, client);
	end_sink(e, conf);
	if (client && conf->handed)
		e->hand = pair_hand_new(end_l3(conf));
	e->spec = (struct flow_spec){.role = client ? FLOW_CLIENT : FLOW_SERVER,
				     .wl = &e->wl,
				     .counts = &e->counts,
				     .servers = e->servers,
				     .server_counts = e->server_counts,
				     .tuples = e->tuples,
				     .mine = client && conf->handed ? pair_hand_mine : NULL,
				     .path = &e->path,
				     .npath = 1,
				     .is6 = conf->frame == PAIR_IP6,
				     .most = most,
				     .mss = (uint16_t)(1514 - e->path.l4 - 20),
				     .window = 16384, /* what `flow.window auto` is */
				     .window_most = 4u << 20,
				     .retries = 5,
				     .sack = true};
	if (flow_check(&e->spec, &err) < 0 || flow_machine_new(&e->m, &machine, &err) < 0)
		die(err.text);
	e->version = flow_adopt(e->m, &e->spec);
	if (e->version < 0)
		die("flow_adopt");
}

struct pair *pair_new(const struct pair_conf *conf, struct rte_mempool *const pools[FLOW_ROOMS])
{
	struct pair *p = zeroed(sizeof(*p));
	uint16_t dev[2];

	p->conf = *conf;
	p->now_ns = 1000000000000;
	pair_devices(dev, pools[FLOW_PLAIN]);
	for (unsigned i = 0; i < 2; i++) {
		p->end[i].dev = dev[i];
		memcpy(p->end[i].pool, pools, sizeof(p->end[i].pool));
		end_open(p, i);
	}
	return p;
}

void pair_free(struct pair *p)
{
	for (unsigned i = 0; i < 2; i++) {
		flow_machine_free(p->end[i].m);
		flow_tuples_free(p->end[i].tuples);
		wl_http_free(p->end[i].http);
		free(p->end[i].servers);
		free(p->end[i].server_counts);
		/* DPDK has room for 32 ports */
		if (rte_eth_dev_stop(p->end[i].dev) != 0 || rte_eth_dev_close(p->end[i].dev) != 0)
			die("flow: a port between the ends does not close");
	}
	free(p);
}

/* Ends the process if the numbers differ. */
static void must_be(const char *row, const char *end, const char *what, uint64_t is,
		    uint64_t wanted)
{
	if (is == wanted)
		return;
	fprintf(stderr, "bench: flow: %s: %s: %s is %llu, not %llu\n", row, end, what,
		(unsigned long long)is, (unsigned long long)wanted);
	exit(3);
}

/* All that can happen to a connection beside what was to happen. */
static void end_check(const struct pair_end *e, const char *row, const char *end, uint64_t frames)
{
	static const char *const happens[] = {"opened",   "established", "closed",
					      "tx_bytes", "rx_bytes",    "tx",
					      "rx",       "ack_sent",    "window_full"};
	const struct flow_machine_counts *m = flow_machine_counts(e->m);
	const struct flow_counts *k = &e->counts;

	must_be(row, end, "established", k->established, k->opened);
	must_be(row, end, "closed", k->closed, k->opened);
	for (const struct counter *c = flow_counts_table; c->name != NULL; c++) {
		bool usual = false;
		cell_t n;

		for (unsigned i = 0; i < ARRAY_SIZE(happens); i++)
			usual = usual || strcmp(c->name, happens[i]) == 0;
		memcpy(&n, (const uint8_t *)k + c->offset, sizeof(n));
		if (!usual)
			must_be(row, end, c->name, n, 0);
	}
	must_be(row, end, "transactions done", e->transactions.done, e->transactions.started);
	must_be(row, end, "transactions failed", e->transactions.failed, 0);
	must_be(row, end, "transactions open", e->transactions.open, 0);
	must_be(row, end, "bytes mismatched", e->transactions.mismatched, 0);
	must_be(row, end, "frames received", m->rx, frames);
	must_be(row, end, "frames of connections", k->rx, frames);
	must_be(row, end, "cells used", m->cells_used, 0);
	if (k->opened == 0)
		die("flow: nothing was opened");
}

/* Each connection is one of a server's, as many of one as of another. */
static void end_check_servers(const struct pair_end *e, unsigned servers, const char *row,
			      const char *end)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < servers; i++) {
		const struct flow_server_counts *k = &e->server_counts[i];

		must_be(row, end, "closed by a server", k->closed, k->opened);
		if (k->opened + 1 < e->counts.opened / servers)
			die("flow: servers do not take turns");
		all += k->opened;
	}
	must_be(row, end, "opened by servers", all, e->counts.opened);
}

void pair_finish(struct pair *p, const char *name)
{
	struct pair_end *c = &p->end[0], *s = &p->end[1];
	unsigned turns = 0;

	p->stopped = p->ending = true;
	c->wl.draining = true;
	flow_drain(c->m, &c->wl);
	while (c->counts.opening + c->counts.open + s->counts.opening + s->counts.open > 0 &&
	       turns++ < 10000000)
		pair_turn_at(p, p->now_ns + 100000);
	for (unsigned i = 0; i < 8; i++) /* what is on its way */
		pair_turn_at(p, p->now_ns + 1000);
	must_be(name, "both", "opened", s->counts.opened, c->counts.opened);
	must_be(name, "server", "bytes received", s->counts.rx_bytes, c->counts.tx_bytes);
	must_be(name, "client", "bytes received", c->counts.rx_bytes, s->counts.tx_bytes);
	end_check(c, name, "client", flow_machine_counts(s->m)->tx);
	end_check(s, name, "server", flow_machine_counts(c->m)->tx);
	if (p->conf.by_dst) {
		end_check_servers(c, end_servers(&p->conf), name, "client");
		end_check_servers(s, end_servers(&p->conf), name, "server");
	}
	if (c->hand != NULL) {
		must_be(name, "client", "frames handed over", pair_hand_end(c->hand),
			flow_machine_counts(c->m)->rx);
		c->hand = NULL;
	}
}
