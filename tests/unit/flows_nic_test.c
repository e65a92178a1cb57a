/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows of 2, 4 and 8 workers on a NIC that deals frames to its queues in each way that NICs have,
 * whether it tells how or not: every frame reaches the worker that has its connection, exactly
 * once, and every connection has its fate. The NIC is one of this file's, made of null ports and of
 * functions of DPDK in the place of the library's own; it hashes bit by bit. */
#include <dlfcn.h>
#include <inttypes.h>

#include "flows_ctl.h"

/* It has a `c`, which arguments of the headers above may be called, too. */
#include "ctl_live.h"
#include "effort.h"
#include "seed.h"

#define PAIRS 3
#define DEVICES 32
#define QUEUES 8
#define KEY 40
#define RING 1024
#define POOL 4095

static uint64_t rnd;
static uint32_t next32(void)
{
	rnd ^= rnd << 13;
	rnd ^= rnd >> 7;
	rnd ^= rnd << 17;
	return (uint32_t)(rnd >> 16);
}

/* How a device deals what it receives. */
enum deal { DEAL_HASH, DEAL_ANY };
static struct device {
	uint16_t peer;
	unsigned nqueues;
	uint8_t key[KEY];
	uint16_t table[512];
	unsigned entries;
	uint64_t hf;
	int get_rc; /* what it answers when asked what it works by */
	enum deal deal;
	enum rte_eth_hash_function function;
	struct rte_ring *queue[QUEUES];
} device[DEVICES];
static unsigned device_any;
static struct rte_mempool *pool; /* that the NIC receives into, as NICs do */

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int rte_eth_dev_info_get(uint16_t port_id, struct rte_eth_dev_info *info)
{
	int rc = REAL(rte_eth_dev_info_get)(port_id, info);

	info->flow_type_rss_offloads = RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP;
	info->hash_key_size = KEY;
	info->reta_size = (uint16_t)device[port_id].entries;
	return rc;
}

int rte_eth_dev_configure(uint16_t port_id, uint16_t nrxq, uint16_t ntxq,
			  const struct rte_eth_conf *conf)
{
	struct rte_eth_conf plain = *conf;

	device[port_id].nqueues = nrxq;
	plain.rxmode.mq_mode = RTE_ETH_MQ_RX_NONE;
	plain.rx_adv_conf.rss_conf = (struct rte_eth_rss_conf){0};
	return REAL(rte_eth_dev_configure)(port_id, nrxq, ntxq, &plain);
}

int rte_eth_dev_rss_hash_conf_get(uint16_t port_id, struct rte_eth_rss_conf *conf)
{
	const struct device *d = &device[port_id];

	if (d->get_rc != 0)
		return d->get_rc;
	conf->rss_hf = d->hf;
	conf->rss_key_len = KEY;
	if (conf->rss_key != NULL)
		memcpy(conf->rss_key, d->key, KEY);
	dpdk_rss_hash_by(conf, d->function);
	return 0;
}

int rte_eth_dev_rss_reta_query(uint16_t port_id, struct rte_eth_rss_reta_entry64 *conf,
			       uint16_t size)
{
	for (unsigned i = 0; i < size; i++)
		if ((conf[i / 64].mask >> (i % 64) & 1) != 0)
			conf[i / 64].reta[i % 64] = device[port_id].table[i];
	return 0;
}

int rte_eth_dev_rss_hash_update(uint16_t port_id, struct rte_eth_rss_conf *conf)
{
	struct device *d = &device[port_id];

	d->hf = conf->rss_hf;
	if (conf->rss_key != NULL)
		memcpy(d->key, conf->rss_key, KEY);
	return 0;
}

int rte_eth_dev_rss_reta_update(uint16_t port_id, struct rte_eth_rss_reta_entry64 *conf,
				uint16_t size)
{
	for (unsigned i = 0; i < size; i++)
		if ((conf[i / 64].mask >> (i % 64) & 1) != 0)
			device[port_id].table[i] = conf[i / 64].reta[i % 64];
	return 0;
}

static uint32_t bitwise(const uint8_t *key, const uint8_t *in, unsigned n)
{
	uint32_t hash = 0;

	for (unsigned i = 0; i < 8 * n; i++)
		for (unsigned b = 0; b < 32 && (in[i / 8] >> (7 - i % 8) & 1) != 0; b++)
			hash ^= (uint32_t)(key[(i + b) / 8 % KEY] >> (7 - (i + b) % 8) & 1)
				<< (31 - b);
	return hash;
}

static void swap(uint8_t *a, uint8_t *b, unsigned n)
{
	uint8_t was[16];

	memcpy(was, a, n);
	memcpy(a, b, n);
	memcpy(b, was, n);
}

/* Two addresses, and perhaps two ports. */
static uint32_t hash_of(const struct device *d, const uint8_t *at, unsigned address, bool ports)
{
	uint8_t in[36];
	unsigned n = 2 * address + (ports ? 4 : 0);
	uint32_t sum = 0;

	memcpy(in, at, n);
	if (d->function == RTE_ETH_HASH_FUNCTION_SIMPLE_XOR) {
		for (unsigned i = 0; i < n; i++)
			sum ^= (uint32_t)in[i] << 8 * (i % 4);
		return sum;
	}
	if (d->function == DPDK_RSS_SORT) {
		if (memcmp(in, in + address, address) > 0)
			swap(in, in + address, address);
		if (ports && memcmp(in + n - 4, in + n - 2, 2) > 0)
			swap(in + n - 4, in + n - 2, 2);
	}
	return bitwise(d->key, in, n);
}

/* By the outermost headers, as most devices do it. */
static unsigned queue_of(struct device *d, const uint8_t *frame)
{
	bool six = frame[12] == 0x86, udp = frame[14 + (six ? 6 : 9)] == 17;
	uint64_t any = six ? RTE_ETH_RSS_IPV6 : RTE_ETH_RSS_IPV4,
		 ports = six   ? udp ? RTE_ETH_RSS_NONFRAG_IPV6_UDP : RTE_ETH_RSS_NONFRAG_IPV6_TCP
			 : udp ? RTE_ETH_RSS_NONFRAG_IPV4_UDP
			       : RTE_ETH_RSS_NONFRAG_IPV4_TCP;

	if (d->deal == DEAL_ANY)
		return __atomic_fetch_add(&device_any, 1, __ATOMIC_RELAXED) * 0x9e3779b1u % 97 %
		       d->nqueues;
	if ((d->hf & (ports | any)) == 0)
		return 0;
	return d->table[hash_of(d, frame + 14 + (six ? 8 : 12), six ? 16 : 4,
				(d->hf & ports) != 0) %
			d->entries];
}

static uint16_t nic_tx(void *q, struct rte_mbuf **m, uint16_t n)
{
	struct device *d = &device[((struct device *)q)->peer];
	uint16_t i = 0;

	for (; i < n; i++) {
		unsigned to = queue_of(d, rte_pktmbuf_mtod(m[i], uint8_t *));
		struct rte_mbuf *copy = rte_pktmbuf_copy(m[i], pool, 0, UINT32_MAX);
		if (copy == NULL || rte_ring_mp_enqueue(d->queue[to], copy) != 0) {
			rte_pktmbuf_free(copy);
			break;
		}
	}
	rte_pktmbuf_free_bulk(m, i);
	return i;
}

static uint16_t nic_rx(void *q, struct rte_mbuf **m, uint16_t n)
{
	return (uint16_t)rte_ring_sc_dequeue_burst(q, (void **)m, n, NULL);
}

int rte_eth_dev_start(uint16_t port_id)
{
	int rc = REAL(rte_eth_dev_start)(port_id);
	struct rte_eth_fp_ops *f = &rte_eth_fp_ops[port_id];
	struct device *d = &device[port_id];

	for (unsigned q = 0; q < d->nqueues; q++) {
		char name[24];
		snprintf(name, sizeof(name), "nic%u_%u", port_id, q);
		if (d->queue[q] == NULL)
			d->queue[q] = rte_ring_create(name, RING, SOCKET_ID_ANY, RING_F_SC_DEQ);
		assert_non_null(d->queue[q]);
		f->rxq.data[q] = d->queue[q];
		f->txq.data[q] = d;
	}
	f->rx_pkt_burst = nic_rx;
	f->tx_pkt_burst = nic_tx;
	return rc;
}

/* ---- ways ---- */

enum key { KEY_ANY, KEY_SYMMETRIC };
static const struct way {
	const char *name;
	uint64_t hf;
	enum key key;
	unsigned entries;
	bool secret;       /* it does not tell */
	enum deal deal;    /* of the client's device */
	const char *frame; /* NULL: eth/ipv4/tcp */
	const char *src;   /* of the client's addresses; NULL: one */
	bool left_out;     /* its table has not the last queue */
	enum rte_eth_hash_function function;
	const char *why; /* a word of the reason for handing over; NULL: nothing is */
} ways[] = {
	{"addresses and ports", RTE_ETH_RSS_NONFRAG_IPV4_TCP, .entries = 128},
	{"addresses and ports of IPv6", RTE_ETH_RSS_NONFRAG_IPV6_TCP, .entries = 128,
	 .frame = "eth/ipv6/tcp"},
	{"a symmetric key", RTE_ETH_RSS_NONFRAG_IPV4_TCP, KEY_SYMMETRIC, 128},
	{"an odd table", RTE_ETH_RSS_NONFRAG_IPV4_TCP, .entries = 77},
	{"another odd table", RTE_ETH_RSS_NONFRAG_IPV4_TCP, .entries = 9},
	{"addresses, of which there are many", RTE_ETH_RSS_IPV4, .entries = 512,
	 .src = "10.1.0.0/16"},
	{"addresses and ports of UDP", RTE_ETH_RSS_NONFRAG_IPV4_UDP, .entries = 128,
	 .frame = "eth/ipv4/udp"},
	{"addresses and ports of UDP over IPv6", RTE_ETH_RSS_NONFRAG_IPV6_UDP, .entries = 64,
	 .frame = "eth/ipv6/udp"},
	{"UDP, where the hash is of TCP", RTE_ETH_RSS_NONFRAG_IPV4_TCP, .entries = 128,
	 .frame = "eth/ipv4/udp", .why = "none of 4096 tuples"},
	{"addresses of IPv6, of which there are many", RTE_ETH_RSS_IPV6, .entries = 128,
	 .frame = "eth/ipv6/tcp", .src = "fd00:1::/112"},
	{"a table without a queue", RTE_ETH_RSS_NONFRAG_IPV4_TCP, .entries = 128, .left_out = true,
	 .why = "none of 4096 tuples"},
	{"such a table and UDP", RTE_ETH_RSS_NONFRAG_IPV4_UDP, .entries = 128, .left_out = true,
	 .frame = "eth/ipv4/udp", .why = "none of 4096 tuples"},
	{"a function that nobody tells", RTE_ETH_RSS_NONFRAG_IPV4_TCP, .entries = 128,
	 .secret = true, .function = RTE_ETH_HASH_FUNCTION_SIMPLE_XOR,
	 .why = "does not tell its key"},
#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0) /* before, none can tell its function */
	{"a function that cannot be computed", RTE_ETH_RSS_NONFRAG_IPV4_TCP, .entries = 128,
	 .function = RTE_ETH_HASH_FUNCTION_SIMPLE_XOR, .why = "another one than Toeplitz"},
	{"sorted", RTE_ETH_RSS_NONFRAG_IPV4_TCP, .entries = 128, .function = DPDK_RSS_SORT},
#endif
	{"addresses, of which there is one", RTE_ETH_RSS_IPV4, .entries = 128,
	 .why = "none of 4096 tuples"},
	{"no hash", 0, .entries = 128, .why = "none of 4096 tuples"},
	{"outer headers", RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_UDP, .entries = 128,
	 .frame = "eth/ipv4/udp/vxlan/eth/ipv4/tcp", .why = "outer headers alone"},
	{"a key that nobody knows", RTE_ETH_RSS_NONFRAG_IPV4_TCP, .entries = 128, .secret = true,
	 .why = "does not tell its key"},
	{"such a key and IPv6", RTE_ETH_RSS_NONFRAG_IPV6_TCP, .entries = 128, .secret = true,
	 .frame = "eth/ipv6/tcp", .why = "does not tell its key"},
	{"as it likes", RTE_ETH_RSS_NONFRAG_IPV4_TCP, .entries = 128, .secret = true,
	 .deal = DEAL_ANY, .src = "10.1.0.0/16", .why = "does not tell its key"},
};

static void set_device(unsigned port, const struct way *way, bool client)
{
	struct device *d = &device[c->port[port]->p.dev];

	d->peer = c->port[port ^ 1]->p.dev;
	d->hf = way->hf;
	d->get_rc = way->secret ? -ENOTSUP : 0;
	d->deal = client ? way->deal : DEAL_HASH;
	d->entries = way->entries;
	d->function = way->function;
	for (unsigned i = 0; i < KEY; i++)
		d->key[i] =
			way->key == KEY_SYMMETRIC ? (i % 2 == 0 ? 0x6d : 0x5a) : (uint8_t)next32();
	for (unsigned i = 0; i < d->entries; i++)
		d->table[i] = (uint16_t)(i < d->nqueues ? i : next32() % d->nqueues);
	for (unsigned i = 0; way->left_out && client && i < d->entries; i++)
		d->table[i] = (uint16_t)(i % (d->nqueues - 1));
}

static void set_value(unsigned port, const char *field, const char *text)
{
	struct err e = {.text = ""};

	if (frame_vals_parse(&ctl_stream_cfg(c, port, 0)->frame.vals, field, text, &e) < 0)
		fail_msg("%s", e.text);
}

static void set_flow(unsigned port, const struct way *way, uint64_t n)
{
	struct stream_cfg *s;
	struct flows_cfg *f;

	ctl_reset(c, port);
	ctl_turn(c);
	s = stream(port, 0);
	f = work_stream_cfg_own(s, &work_flows);
	f->role = port % 2 == 0 ? FLOWS_CLIENT : FLOWS_SERVER;
	/* Workers share CPUs and may stand still: they wait for each other, and the last
	 * acknowledgement of a connection can be asked for again. */
	f->rto_ns = 2000000000;
	f->timewait_ns = 30000000000;
	ctl_stream_frame_follow(s);
	if (way->frame != NULL) {
		assert_int_equal(frame_stack_parse(way->frame, &s->frame.stack, NULL), 0);
		s->frame_set = true;
	}
	if (way->frame != NULL && strstr(way->frame, "ipv6") != NULL) {
		set_value(port, "ipv6.src", port % 2 == 0 ? "fd00::1" : "fd00::2");
		set_value(port, "ipv6.dst", port % 2 == 0 ? "fd00::2" : "fd00::1");
	}
	if (port % 2 != 0)
		return;
	if (way->src != NULL)
		set_value(port, strchr(way->src, ':') != NULL ? "ipv6.src" : "ipv4.src", way->src);
	f->cps = (struct rate){.kind = RATE_MAX};
	f->connections = 64;
	s->count = n;
}

static struct flows_one *one(unsigned port)
{
	return flows_one_of(flows_of(c->port[port]), stream_at(c->port[port], 0));
}

/* Sums over the queues of a port. */
static struct flows_hand_counts handed(unsigned port)
{
	struct flows_hand_counts sum = {0};

	for (unsigned q = 0; q < c->port[port]->p.nrxq; q++) {
		struct flows_hand_counts k = flows_handed(flows_of(c->port[port]), q);
		sum.handed += k.handed;
		sum.taken += k.taken;
		sum.full += k.full;
	}
	return sum;
}

/* Frames of connections that came to a port. */
static uint64_t claimed(unsigned port)
{
	struct cnt_claimed sum = {0};

	work_flows.claimed(c, c->port[port], &sum);
	return sum.frames;
}

/* Frames that came to other queues than its device says. */
static uint64_t otherwise(unsigned port)
{
	return flows_strays(flows_of(c->port[port])).other_queue;
}

/* What has come to both ports of a pair so far, and what became of it. */
struct before {
	struct flows_hand_counts hand;
	struct before_port {
		uint64_t arrived, claimed, dropped;
		struct flows_strays strays;
	} port[2];
};

static struct before before_now(unsigned client)
{
	struct before b = {.hand = handed(client)};

	for (unsigned i = 0; i < 2; i++) {
		struct before_port *p = &b.port[i];
		p->arrived = now(client + i).rx.packets;
		p->claimed = claimed(client + i);
		p->strays = flows_strays(flows_of(c->port[client + i]));
		for (unsigned q = 0; q < c->port[client + i]->p.ntxq; q++)
			p->dropped +=
				cell_get(&flows_of(c->port[client + i])->share[q]->cnt.dropped);
	}
	return b;
}

/* The same since then, of one port. */
static struct before_port since(const struct before *before, unsigned client, unsigned i)
{
	struct before b = before_now(client);
	struct before_port p = b.port[i];

	p.arrived -= before->port[i].arrived;
	p.claimed -= before->port[i].claimed;
	p.dropped -= before->port[i].dropped;
	p.strays.no_match -= before->port[i].strays.no_match;
	p.strays.rst_sent -= before->port[i].strays.rst_sent;
	p.strays.other_queue -= before->port[i].strays.other_queue;
	return p;
}

/* A segment that nobody took is sent again, so every connection has come to its end. A worker that
 * stood still makes its peer send again, perhaps to somebody who has gone, who resets that. */
static void check_segments(unsigned client, uint64_t n, const struct before *before)
{
	struct before_port here = since(before, client, 0), there = since(before, client, 1);
	struct flows_sum us, them;
	uint64_t again;

	flows_one_sum(one(client), &us);
	flows_one_sum(one(client + 1), &them);
	again = us.flow.retransmitted + them.flow.retransmitted;
	assert_int_equal(us.wl.done, n);
	assert_int_equal(them.flow.opened, n);
	assert_int_equal(them.wl.done, n);
	assert_true(us.flow.duplicate + them.flow.duplicate <= again);
	assert_in_range(us.flow.rst_sent + them.flow.rst_sent, 0, again);
	/* each frame once, at a machine that knows its connection */
	assert_in_range(us.flow.rx, here.claimed - again, here.claimed);
	assert_in_range(us.flow.rx, them.flow.tx - again, them.flow.tx + there.strays.rst_sent);
	assert_in_range(them.flow.rx, us.flow.tx - again, us.flow.tx + here.strays.rst_sent);
}

/* Nobody sends a datagram again. One is missed where a worker stood still and did not know of the
 * run yet, and each that is missed has a place where it is counted. */
static void check_datagrams(unsigned client, uint64_t n, const struct before *before)
{
	struct before_port here, there;
	struct flows_sum us, them;

	for (unsigned i = 0; i < 30000; i++) { /* what nobody waits for may still lie in a queue */
		flows_one_sum(one(client), &us);
		flows_one_sum(one(client + 1), &them);
		here = since(before, client, 0);
		there = since(before, client, 1);
		if (there.arrived + here.dropped == us.flow.tx &&
		    here.arrived + there.dropped == them.flow.tx)
			break;
		ctl_turn(c);
		pause_ms(1);
	}
	/* out of one machine, through the device, and to the other, or to nobody */
	assert_int_equal(us.flow.tx + us.flow.not_sent, n);
	assert_int_equal(there.arrived + here.dropped, us.flow.tx);
	assert_in_range(there.claimed, 0, there.arrived);
	assert_int_equal(them.flow.rx + there.strays.no_match, there.claimed);
	assert_int_equal(them.flow.opened, them.flow.rx);
	/* and back */
	assert_int_equal(them.flow.tx + them.flow.not_sent, them.wl.done);
	assert_int_equal(them.wl.done, them.flow.opened);
	assert_int_equal(here.arrived + there.dropped, them.flow.tx);
	assert_in_range(here.claimed, 0, here.arrived);
	assert_int_equal(us.flow.rx + here.strays.no_match, here.claimed);
	assert_int_equal(us.wl.done, us.flow.rx);
	assert_int_equal(us.wl.failed, n - us.wl.done);
}

static void check(unsigned client, const struct way *way, uint64_t n, const struct before *before)
{
	struct flows_sum us, them;
	struct flows_hand_counts k = handed(client), other = handed(client + 1);

	k.handed -= before->hand.handed;
	k.taken -= before->hand.taken;
	flows_one_sum(one(client), &us);
	flows_one_sum(one(client + 1), &them);
	printf("%u queues, %s: %" PRIu64 " connections, %" PRIu64 " of %" PRIu64
	       " frames handed over\n",
	       c->port[client]->p.nrxq, way->name, us.flow.opened, k.handed, us.flow.rx);
	assert_int_equal(us.flow.opened, n);
	assert_int_equal(us.flow.closed, n);
	assert_int_equal(them.flow.closed, them.flow.opened);
	assert_int_equal(us.flow.bad_checksum + them.flow.bad_checksum, 0);
	if (one(client)->ver->design->udp)
		check_datagrams(client, n, before);
	else
		check_segments(client, n, before);
	assert_int_equal(since(before, client, 0).strays.other_queue, 0);
	assert_int_equal(k.full, 0);
	assert_int_equal(k.handed, k.taken);
	assert_int_equal(k.handed > 0, way->why != NULL);
	assert_int_equal(other.handed + other.taken, 0); /* a server's are where they came */
	for (unsigned q = 0; q < c->port[client]->p.nrxq; q++)
		assert_true(one(client)->state[q]->counts.opened > 0);
}

static void come_to_an_end(unsigned client, const struct way *way)
{
	struct portset both = only(client);
	struct flows_sum us, them;

	portset_add(&both, client + 1);
	for (unsigned i = 0; i < 30000; i++) {
		ctl_turn(c);
		if (ctl_settled(c, &both) == 1)
			return;
		pause_ms(1);
	}
	flows_one_sum(one(client), &us);
	flows_one_sum(one(client + 1), &them);
	fail_msg("%s does not come to an end: opened %" PRIu64 ", opening %" PRIu64
		 ", open %" PRIu64 " and %" PRIu64 ", no tuple %" PRIu64 ", sent again %" PRIu64
		 " and %" PRIu64 ", resets %" PRIu64 " and %" PRIu64,
		 way->name, us.flow.opened, us.flow.opening, us.flow.open, them.flow.open,
		 us.flow.no_tuple, us.flow.retransmitted, them.flow.retransmitted, us.flow.rst_sent,
		 them.flow.rst_sent);
}

static void state_is(unsigned port, const char *state)
{
	struct portset one_port = only(port);
	json_t *doc = flows_json(c, &one_port), *flow;

	flow = json_array_get(json_object_get(doc, "flows"), 0);
	assert_string_equal(json_string_value(json_object_get(flow, "state")), state);
	json_decref(doc);
}

static void try_way(unsigned client, const struct way *way)
{
	struct portset both = only(client);
	struct err e = {.text = ""};
	uint64_t n = effort(1000, 100);

	portset_add(&both, client + 1);
	for (unsigned i = 0; i < 2; i++) {
		set_device(client + i, way, i == 0);
		set_flow(client + i, way, n);
	}
	ctl_turn(c);
	ctl_clear(c, &both);
	const struct before before = before_now(client);
	if (ctl_start(c, &both, 0, &e) < 0)
		fail_msg("%s: %s", way->name, e.text);
	state_is(client, "starting"); /* no worker can know of it yet */
	ctl_turn(c);
	const struct flows_steering *how = &one(client)->ver->how;
	if (how->hand != (way->why != NULL) ||
	    (way->why != NULL && strstr(how->why, way->why) == NULL))
		fail_msg("%s: '%s'", way->name, how->why);
	come_to_an_end(client, way);
	check(client, way, n, &before);
}

static void test_every_frame_reaches_its_connection(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(ways); i++)
		for (unsigned pair = 0; pair < PAIRS; pair++)
			try_way(2 * pair, &ways[i]);
}

/* Its hash is set, and set back. */
static void set_again(unsigned port)
{
	const struct rss_cfg want = {.fields = RSS_IP | RSS_TCP};
	struct err e = {.text = ""};

	if (ctl_rss(c, port, &want, &e) != 0)
		fail_msg("%s", e.text);
	rss_follow(&c->port[port]->p);
}

/* A device says by which hash it deals frames, and deals them in another way. In the first run what
 * came to other queues is counted as such, and every connection has its fate; from then on workers
 * hand over, and nothing is lost. When its hash has been set it is believed again, and here deals
 * as it says. */
static void test_a_device_that_lies(void **state)
{
	static const struct way found = {.name = "otherwise than it says",
					 .hf = RTE_ETH_RSS_NONFRAG_IPV4_TCP,
					 .entries = 128,
					 .deal = DEAL_ANY,
					 /* nothing rests of them at another queue */
					 .src = "10.9.0.0/16",
					 .why = "came to other queues"};

	(void)state;
	for (unsigned client = 0; client < 2 * PAIRS; client += 2) {
		struct portset both = only(client);
		struct flows_strays strays;
		struct flows_sum us;
		struct err e = {.text = ""};

		portset_add(&both, client + 1);
		for (unsigned i = 0; i < 2; i++) {
			struct flows_cfg *f;
			set_device(client + i, &found, i == 0);
			set_flow(client + i, &found, 100);
			f = work_stream_cfg_own(stream(client + i, 0), &work_flows);
			f->rto_ns = 20000000;
			f->retries = 2;
			f->drain_ns = 500000000;
		}
		ctl_turn(c);
		ctl_clear(c, &both);
		assert_int_equal(otherwise(client), 0);
		if (ctl_start(c, &both, 0, &e) < 0)
			fail_msg("%s", e.text);
		assert_false(one(client)->ver->how.hand);
		for (unsigned i = 0; i < 30000 && otherwise(client) == 0; i++) {
			ctl_turn(c);
			pause_ms(1);
		}
		/* a client whose server was reset would wait for its response without an end */
		ctl_stop(c, &both);
		come_to_an_end(client, &found);
		strays = flows_strays(flows_of(c->port[client]));
		flows_one_sum(one(client), &us);
		assert_in_range(strays.other_queue, 1, strays.no_match);
		assert_int_equal(us.flow.opened,
				 us.flow.established + us.flow.refused + us.flow.connect_timeout +
					 us.flow.unreachable + us.flow.aborted_opening);
		assert_int_equal(otherwise(client + 1), 0);
		settle(client);
		settle(client + 1);
		try_way(client, &found);
		set_again(client);
		try_way(client, &ways[0]);
	}
}

/* Each buffer that the NIC has received into is back, whoever had it. */
static void test_no_buffer_is_left(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2 * PAIRS; i++) /* what was on its way when nobody listened */
		settle(i);
	assert_int_equal(rte_mempool_avail_count(pool), POOL);
}

int main(void)
{
	static const char *const specs[] = {"null", "null", "null", "null", "null", "null"};
	static const char *const maps[] = {"1-2.0", "1-2.1", "1-4.2", "1-4.3", "1-8.4", "1-8.5"};
	const struct ctl_opts o = {
		.prog = "flows_nic_test", .ports = specs, .nports = 6, .maps = maps, .nmaps = 6};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_frame_reaches_its_connection),
		cmocka_unit_test(test_a_device_that_lies),
		cmocka_unit_test(test_no_buffer_is_left),
	};

	rnd = test_seed_not_0();
	for (unsigned i = 0; i < DEVICES; i++)
		device[i].entries = 128;
	if (!live_open_on(o, "(0-4)@%d,(5-8)@%d"))
		return 77;
	pool = rte_pktmbuf_pool_create("nic", POOL, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (pool == NULL)
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	ctl_close(c);
	return failed;
}
