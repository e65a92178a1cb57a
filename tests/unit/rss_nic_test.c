/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests RSS of devices by a fake NIC, made of two null ports and of functions of DPDK that the test
 * has in the place of the library's own. What port 0 sends, port 1 receives: the NIC hashes each
 * frame bit by bit by its own key, looks into its own table, and puts the frame into a queue. So
 * what control predicts and what workers count come from different hands. */
#include <dlfcn.h>

#include "ctl_live.h"
#include "seed.h"

#define QUEUES 4
#define ENTRIES 128
#define KEY 52

static struct {
	uint8_t key[KEY];
	uint16_t table[ENTRIES];
	uint64_t hf, offered;
	unsigned key_len;            /* that it tells */
	int key_rc, hf_rc, table_rc; /* what it answers to changes */
	int get_rc;                  /* what it answers when asked what it works by */
	bool unhashed_by_table; /* where a frame goes that is not hashed: entry 0, or queue 0 */
	bool deaf;              /* it accepts changes and goes on as before */
	unsigned changes;       /* that it has taken */
	struct rte_ring *queue[QUEUES];
	uint16_t sender; /* the device of port 0, which is started first */
	bool has_sender;
} nic = {.offered = RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP, .key_len = KEY};

static uint64_t rnd;

static uint32_t next32(void)
{
	rnd ^= rnd << 13;
	rnd ^= rnd >> 7;
	rnd ^= rnd << 17;
	return (uint32_t)(rnd >> 16);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int rte_eth_dev_info_get(uint16_t port_id, struct rte_eth_dev_info *info)
{
	int rc = REAL(rte_eth_dev_info_get)(port_id, info);

	info->flow_type_rss_offloads = nic.offered;
	info->hash_key_size = (uint8_t)nic.key_len;
	info->reta_size = ENTRIES;
	return rc;
}

int rte_eth_dev_configure(uint16_t port_id, uint16_t nrxq, uint16_t ntxq,
			  const struct rte_eth_conf *conf)
{
	struct rte_eth_conf plain = *conf;

	if (nrxq > 1)
		nic.hf = conf->rx_adv_conf.rss_conf.rss_hf;
	plain.rxmode.mq_mode = RTE_ETH_MQ_RX_NONE; /* the null driver knows other kinds of frames */
	plain.rx_adv_conf.rss_conf = (struct rte_eth_rss_conf){0};
	return REAL(rte_eth_dev_configure)(port_id, nrxq, ntxq, &plain);
}

int rte_eth_dev_rss_hash_conf_get(uint16_t port_id, struct rte_eth_rss_conf *conf)
{
	(void)port_id;
	if (nic.get_rc != 0)
		return nic.get_rc;
	conf->rss_hf = nic.hf;
	assert_true(conf->rss_key_len >= KEY || conf->rss_key == NULL);
	if (conf->rss_key != NULL)
		memcpy(conf->rss_key, nic.key, KEY);
	return 0;
}

int rte_eth_dev_rss_hash_update(uint16_t port_id, struct rte_eth_rss_conf *conf)
{
	(void)port_id;
	if (conf->rss_key != NULL && nic.key_rc != 0)
		return nic.key_rc;
	if (nic.hf_rc != 0)
		return nic.hf_rc;
	if (nic.deaf)
		return 0;
	if (conf->rss_key != NULL) {
		assert_int_equal(conf->rss_key_len, KEY);
		memcpy(nic.key, conf->rss_key, KEY);
	}
	nic.hf = conf->rss_hf;
	nic.changes++;
	return 0;
}

int rte_eth_dev_rss_reta_query(uint16_t port_id, struct rte_eth_rss_reta_entry64 *conf,
			       uint16_t size)
{
	(void)port_id;
	for (unsigned i = 0; i < size; i++)
		if ((conf[i / 64].mask >> (i % 64) & 1) != 0)
			conf[i / 64].reta[i % 64] = nic.table[i];
	return 0;
}

int rte_eth_dev_rss_reta_update(uint16_t port_id, struct rte_eth_rss_reta_entry64 *conf,
				uint16_t size)
{
	(void)port_id;
	if (nic.table_rc != 0)
		return nic.table_rc;
	assert_int_equal(size, ENTRIES);
	for (unsigned i = 0; i < size && !nic.deaf; i++)
		if ((conf[i / 64].mask >> (i % 64) & 1) != 0)
			nic.table[i] = conf[i / 64].reta[i % 64];
	nic.changes++;
	return 0;
}

static uint32_t bitwise(const uint8_t *key, const uint8_t *in, unsigned n)
{
	uint32_t hash = 0;

	for (unsigned i = 0; i < 8 * n; i++)
		for (unsigned b = 0; b < 32 && (in[i / 8] >> (7 - i % 8) & 1) != 0; b++)
			hash ^= (uint32_t)(key[(i + b) / 8] >> (7 - (i + b) % 8) & 1) << (31 - b);
	return hash;
}

/* Frames are eth, IPv4 or IPv6, and UDP. */
static unsigned queue_of(const uint8_t *frame)
{
	bool six = frame[12] == 0x86;
	const uint8_t *addresses = frame + 14 + (six ? 8 : 12);
	unsigned n = six ? 32 : 8;
	uint64_t ports = six ? RTE_ETH_RSS_NONFRAG_IPV6_UDP : RTE_ETH_RSS_NONFRAG_IPV4_UDP,
		 any = six ? RTE_ETH_RSS_IPV6 : RTE_ETH_RSS_IPV4;

	if ((nic.hf & (ports | any)) == 0)
		return nic.unhashed_by_table ? nic.table[0] : 0;
	return nic.table[bitwise(nic.key, addresses, (nic.hf & ports) != 0 ? n + 4 : n) % ENTRIES];
}

static uint16_t nic_tx(void *q, struct rte_mbuf **m, uint16_t n)
{
	uint16_t i = 0;

	(void)q;
	while (i < n && rte_ring_mp_enqueue(nic.queue[queue_of(rte_pktmbuf_mtod(m[i], uint8_t *))],
					    m[i]) == 0)
		i++;
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

	if (!nic.has_sender || nic.sender == port_id) {
		nic.sender = port_id;
		nic.has_sender = true;
		f->tx_pkt_burst = nic_tx;
		return rc;
	}
	for (unsigned q = 0; q < QUEUES; q++) {
		char name[16];
		snprintf(name, sizeof(name), "nic%u", q);
		if (nic.queue[q] == NULL)
			nic.queue[q] = rte_ring_create(name, 1024, SOCKET_ID_ANY, RING_F_SC_DEQ);
		assert_non_null(nic.queue[q]);
		f->rxq.data[q] = nic.queue[q];
	}
	f->rx_pkt_burst = nic_rx;
	return rc;
}

static json_t *rss_of(unsigned port)
{
	struct portset one = only(port);
	json_t *doc = ctl_rss_json(c, &one),
	       *p = json_incref(json_array_get(json_object_get(doc, "ports"), 0));

	json_decref(doc);
	return p;
}

/* Port 0 sends n frames; each queue of port 1 must get exactly what was predicted. */
static void agrees(uint64_t n)
{
	struct portset all = only(0);

	portset_add(&all, 1);
	ctl_turn(c);
	ctl_clear(c, &all);
	ctl_port_cfg(c, 0)->count = n;
	start(0, 0);
	settle(0);
	json_t *p = rss_of(1), *q;
	uint64_t sum = 0;
	size_t i;
	json_array_foreach(json_object_get(p, "rx_queues"), i, q) {
		double want = json_number_value(json_object_get(q, "predicted")) * (double)n;
		json_int_t got = json_integer_value(json_object_get(q, "packets"));
		assert_true(json_is_number(json_object_get(q, "predicted")));
		if (fabs(want - (double)got) > 0.001)
			fail_msg("queue %zu: predicted %g, counted %lld", i, want, (long long)got);
		sum += (uint64_t)got;
	}
	assert_int_equal(i, QUEUES);
	assert_int_equal(sum, n);
	json_decref(p);
}

static void set_field(unsigned id, const char *name, const char *text)
{
	static struct vary_val v;
	const struct proto *p = proto_find(name[0] == 'u' ? "udp" : "ipv4");
	const struct field *f = proto_field(p, strchr(name, '.') + 1);
	struct vspec of = {.type = name[0] == 'u' ? &vt_fuint : &vt_ip4, .bits = f->bits},
		     spec = {.type = &vt_vary, .bits = f->bits, .of = &of};
	struct err e;

	if (vt_vary.parse(&spec, text, &v, &e) != 0)
		fail_msg("%s", e.text);
	frame_vals_vary(&stream(0, id)->frame.vals, p, 1, f, &v.v);
}

static void test_predicted(void **state)
{
	(void)state;
	fresh(0, 1);
	set_field(0, "udp.src", "1000..1999");
	agrees(10000);
	/* A second stream, by its own turns, with addresses that vary as well. */
	fresh(0, 2);
	set_field(0, "udp.src", "1000..1049");
	set_field(1, "ipv4.src", "10.0.0.1..10.0.0.50");
	agrees(10000);
	ctl_reset(c, 0);
}

/* What port 1 says of the only stream of port 0: its doubt has this in it, and no number stands
 * beside it. */
static void doubtful(const char *why)
{
	json_t *p = rss_of(1), *s = json_array_get(json_object_get(p, "streams"), 0),
	       *q = json_array_get(json_object_get(p, "rx_queues"), 0);
	const char *doubt = json_string_value(json_object_get(s, "doubt"));

	if (doubt == NULL || strstr(doubt, why) == NULL)
		fail_msg("'%s', wanted '%s'", doubt != NULL ? doubt : "", why);
	assert_true(json_is_null(json_object_get(s, "queue")));
	assert_true(json_is_null(json_object_get(s, "shares")));
	assert_true(json_is_null(json_object_get(q, "predicted")));
	json_decref(p);
}

/* The queue of a tuple at port 1; -1: it is not certain. */
static int queue_asked(const char *tuple)
{
	struct err e = {.text = ""};
	struct portset one = only(1);
	json_t *doc = ctl_rss_queues_json(c, &one, tuple, &e);

	if (doc == NULL)
		fail_msg("%s", e.text);
	json_t *t = json_array_get(json_object_get(doc, "tuples"), 0),
	       *queue = json_object_get(t, "queue");
	int q = json_is_null(queue) ? -1 : (int)json_integer_value(queue);
	assert_int_equal(json_is_null(json_object_get(t, "doubt")), q >= 0);
	json_decref(doc);
	return q;
}

static void test_doubts(void **state)
{
	static const struct {
		const char *stack, *why;
	} all[] = {{"eth/mpls/ipv4/udp", "MPLS"},
		   {"eth/qinq/vlan/ipv4/udp", "QinQ"},
		   {"eth/vlan/vlan/ipv4/udp", "two tags"},
		   {"eth/pppoe/ipv4/udp", "PPPoE"},
		   {"eth/llc/snap/ipv4/udp", "LLC"},
		   {"eth/ipv4/udp/vxlan/eth/ipv4/udp", "tunnel"}};
	struct ctl_rss_choice choice;
	struct err e = {.text = ""};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		fresh(0, 1);
		if (frame_stack_parse(all[i].stack, &stream(0, 0)->frame.stack, &e) != 0)
			fail_msg("%s", e.text);
		doubtful(all[i].why);
		assert_true(ctl_rss_choose(c, 0, 0, 0, &choice, &e) < 0);
		assert_non_null(strstr(e.text, all[i].why));
	}
	fresh(0, 1);
	assert_true(queue_asked("udp 10.0.0.1:1 10.0.0.2:2") >= 0);
	assert_int_equal(queue_asked("udp 10.0.0.1:1 10.0.0.2:4789"), -1);
	ctl_reset(c, 0);
}

static struct rss_cfg cfg_of(unsigned port)
{
	return ctl_port_cfg(c, port)->rss;
}

static void set_rss(const struct rss_cfg *want)
{
	struct err e = {.text = ""};

	if (ctl_rss(c, 1, want, &e) != 0)
		fail_msg("%s", e.text);
	ctl_port_cfg(c, 1)->rss = *want;
	ctl_touch(c, 1, WHY_PORT);
	ctl_turn(c);
}

/* The device must be as before. */
static void rss_refused(const struct rss_cfg *want, const char *why)
{
	uint8_t key[KEY];
	uint16_t table[ENTRIES];
	uint64_t hf = nic.hf;
	struct err e = {.text = ""};

	memcpy(key, nic.key, sizeof(key));
	memcpy(table, nic.table, sizeof(table));
	int rc = ctl_rss(c, 1, want, &e);
	if (rc >= 0 || strstr(e.text, why) == NULL)
		fail_msg("%d '%s', wanted '%s'", rc, e.text, why);
	ctl_turn(c);
	assert_memory_equal(key, nic.key, sizeof(key));
	assert_memory_equal(table, nic.table, sizeof(table));
	assert_int_equal(hf, nic.hf);
}

static void test_set(void **state)
{
	struct rss_cfg want = cfg_of(1);
	uint8_t own[KEY];
	uint16_t table[ENTRIES];

	(void)state;
	memcpy(own, nic.key, sizeof(own));
	memcpy(table, nic.table, sizeof(table));
	fresh(0, 1);
	set_field(0, "udp.src", "1000..1999");
	want.key.n = KEY;
	for (unsigned i = 0; i < KEY; i++)
		want.key.b[i] = (uint8_t)next32();
	set_rss(&want);
	assert_memory_equal(nic.key, want.key.b, KEY);
	agrees(10000);
	want.table = (struct rss_list){.n = 5, .queue = {3, 3, 0, 1, 2}};
	set_rss(&want);
	for (unsigned i = 0; i < ENTRIES; i++)
		assert_int_equal(nic.table[i], want.table.queue[i % 5]);
	agrees(10000);
	want.fields = RSS_IP;
	set_rss(&want);
	assert_int_equal(nic.hf & RTE_ETH_RSS_UDP, 0);
	agrees(1000);
	want.fields = RSS_OFF;
	set_rss(&want);
	assert_int_equal(nic.hf, 0);
	want.fields = RSS_IP | RSS_UDP;
	want.key.n = 0;
	want.symmetric = RSS_SYMMETRIC_KEY;
	set_rss(&want);
	for (unsigned i = 0; i < KEY; i++)
		assert_int_equal(nic.key[i], i % 2 == 0 ? 0x6d : 0x5a);
	agrees(10000);
	/* Back to what it came with. */
	want = (struct rss_cfg){0};
	set_rss(&want);
	assert_memory_equal(nic.key, own, KEY);
	assert_memory_equal(nic.table, table, sizeof(table));
	agrees(10000);
	/* A reset does it, too. */
	want.fields = RSS_OFF;
	set_rss(&want);
	ctl_reset(c, 1);
	ctl_turn(c);
	assert_int_equal(nic.hf, nic.offered);
}

/* NICs give a frame that is not hashed to queue 0 or to that of entry 0: it is predicted where both
 * are the same. */
static void test_unhashed(void **state)
{
	struct rss_cfg want = {.fields = RSS_TCP, .table = {.n = 4, .queue = {0, 2, 2, 1}}};

	(void)state;
	fresh(0, 1);
	set_field(0, "udp.src", "1000..1999");
	for (unsigned i = 0; i < 4; i++) {
		want.fields = i < 2 ? RSS_TCP : RSS_OFF;
		nic.unhashed_by_table = i % 2 == 1;
		set_rss(&want);
		agrees(1000);
		assert_int_equal(queue_asked("udp 10.0.0.1:1 10.0.0.2:2"), 0);
	}
	/* Where nothing is hashed no device looks behind labels either. */
	struct err e;
	assert_int_equal(frame_stack_parse("eth/mpls/ipv4/udp", &stream(0, 0)->frame.stack, &e), 0);
	agrees(1000);
	want.table.queue[0] = 3;
	for (unsigned i = 0; i < 2; i++) {
		fresh(0, 1);
		want.fields = i == 0 ? RSS_TCP : RSS_OFF;
		set_rss(&want);
		doubtful("not hashed");
		assert_int_equal(queue_asked("udp 10.0.0.1:1 10.0.0.2:2"), -1);
	}
	want = (struct rss_cfg){0};
	set_rss(&want);
}

static void test_refused(void **state)
{
	struct rss_cfg want = {.key = {.n = 40}};
	struct err e = {.text = ""};

	(void)state;
	rss_refused(&want, "the key has 40 bytes; that of its device has 52");
	want = (struct rss_cfg){.fields = RSS_IP | RSS_SCTP};
	rss_refused(&want, "does not hash sctp; it offers ip tcp udp");
	want = (struct rss_cfg){.table = {.n = 2, .queue = {0, QUEUES}}};
	rss_refused(&want, "entry 1 of the table is queue 4; its Rx queues are 0 to 3");
	want = (struct rss_cfg){.table = {.n = ENTRIES + 1}};
	rss_refused(&want, "129 entries are given; the device's table has 128");
	want = (struct rss_cfg){.symmetric = RSS_SYMMETRIC_KEY, .key = {.n = KEY}};
	rss_refused(&want, "a key of its own");
	want = (struct rss_cfg){.symmetric = RSS_SYMMETRIC_SORT};
	rss_refused(&want, "no hash that sorts");
	/* It has one Rx queue. */
	assert_true(ctl_rss(c, 0, &want, &e) < 0);
	assert_non_null(strstr(e.text, "1 Rx queue"));
	nic.key_len = 0;
	want = (struct rss_cfg){.symmetric = RSS_SYMMETRIC_KEY};
	rss_refused(&want, "takes no key");
	nic.key_len = KEY;
	/* The device takes the first of two changes and refuses the second: the first is undone. */
	want = (struct rss_cfg){.symmetric = RSS_SYMMETRIC_KEY, .table = {.n = 1, .queue = {1}}};
	nic.table_rc = -ENOTSUP;
	rss_refused(&want, "refuses a change of its table: Operation not supported");
	nic.table_rc = 0;
	nic.key_rc = -EPERM;
	rss_refused(&want, "refuses a change of its key");
	nic.key_rc = 0;
	nic.deaf = true;
	rss_refused(&want, "accepts a change of its key and goes on as before");
	want = (struct rss_cfg){.fields = RSS_IP};
	rss_refused(&want, "accepts a change of what it hashes and goes on as before");
	want = (struct rss_cfg){.table = {.n = 1, .queue = {1}}};
	rss_refused(&want, "accepts a change of its table and goes on as before");
	nic.deaf = false;
	want = (struct rss_cfg){.fields = RSS_OFF};
	nic.hf_rc = -EIO;
	rss_refused(&want, "refuses a change of what it hashes");
	nic.hf_rc = 0;
	/* What cannot be asked could not be taken back. */
	unsigned changes = nic.changes;
	nic.get_rc = -ENOTSUP;
	rss_refused(&want, "does not tell what it works by");
	assert_int_equal(nic.changes, changes);
	/* What cannot be told is told of one port, and names it once. */
	struct portset both = only(0);
	portset_add(&both, 1);
	assert_null(ctl_rss_queues_json(c, &both, "ip 10.0.0.1 10.0.0.2", &e));
	assert_string_equal(
		e.text,
		"port 1: its device does not tell its key and table: Operation not supported");
	nic.get_rc = 0;
	/* What was tried and not written is taken back in the next turn. */
	uint64_t hf = nic.hf;
	want = (struct rss_cfg){.fields = RSS_OFF};
	assert_int_equal(ctl_rss(c, 1, &want, &e), 0);
	assert_int_equal(nic.hf, 0);
	ctl_turn(c);
	assert_int_equal(nic.hf, hf);
}

/* The NIC keeps key and table over a restart of its port, but not the fields. Afterwards it works
 * by what is set then, and by what it came with where nothing is. */
static void test_restart(void **state)
{
	struct rss_cfg want = {.fields = RSS_UDP, .table = {.n = 2, .queue = {3, 1}}};
	uint8_t own[KEY];
	uint16_t table[ENTRIES];
	struct err e = {.text = ""};

	(void)state;
	memcpy(own, nic.key, sizeof(own));
	memcpy(table, nic.table, sizeof(table));
	fresh(0, 1);
	set_field(0, "udp.src", "1000..1999");
	for (unsigned i = 0; i < 3; i++) {
		want.symmetric = i == 0 ? RSS_SYMMETRIC_KEY : RSS_SYMMETRIC_OFF;
		if (i < 2)
			set_rss(&want);
		ctl_port_cfg(c, 1)->rss = i == 0 ? want : (struct rss_cfg){0};
		ctl_port_cfg(c, 1)->txd = 512 + 64 * i;
		ctl_touch(c, 1, WHY_RESTART);
		assert_true(c->port[1]->restart);
		if (ctl_apply(c, 1, &e) != 0)
			fail_msg("%s", e.text);
		assert_int_equal(nic.table[0], i == 0 ? 3 : table[0]);
		if (i > 0) {
			assert_memory_equal(nic.key, own, KEY);
			assert_memory_equal(nic.table, table, sizeof(table));
			assert_int_equal(nic.hf, nic.offered);
		} else {
			assert_int_equal(nic.key[2], 0x6d);
			assert_int_equal(nic.hf & RTE_ETH_RSS_IPV4, 0);
		}
		agrees(10000);
	}
	/* One that was told and refuses to be told again is shown as what it is. */
	set_rss(&want);
	nic.table_rc = -EIO;
	ctl_port_cfg(c, 1)->rss = (struct rss_cfg){0};
	ctl_port_cfg(c, 1)->txd = 512;
	ctl_touch(c, 1, WHY_RESTART);
	assert_int_equal(ctl_apply(c, 1, &e), 0);
	json_t *p = rss_of(1);
	assert_string_equal(json_string_value(json_object_get(p, "table")), "3,1");
	json_decref(p);
	nic.table_rc = 0;
	ctl_reset(c, 1);
	ctl_touch(c, 1, WHY_RESTART);
	assert_int_equal(ctl_apply(c, 1, &e), 0);
	assert_memory_equal(nic.table, table, sizeof(table));
}

static void test_balance(void **state)
{
	struct ctl_rss_choice choice;
	struct err e = {.text = ""};

	(void)state;
	fresh(0, 1);
	for (unsigned i = 0; i < 2; i++) {
		struct rss_cfg want = {.fields = i == 0 ? RSS_IP | RSS_UDP : RSS_IP};
		set_rss(&want);
		fresh(0, 1);
		if (ctl_rss_choose(c, 0, 0, 0, &choice, &e) != 0)
			fail_msg("%s", e.text);
		assert_string_equal(choice.field, i == 0 ? "udp.src" : "ipv4.src");
		assert_int_equal(choice.flows, 4 * QUEUES);
		assert_false(ctl_rss_even(c, 0, 0, &e));
		set_field(0, choice.field, sbuf_str(&choice.values));
		sbuf_free(&choice.values);
		assert_true(ctl_rss_even(c, 0, 0, &e));
		agrees(16000);
		json_t *p = rss_of(1), *q;
		size_t k;
		json_array_foreach(json_object_get(p, "rx_queues"), k, q)
			assert_int_equal(json_integer_value(json_object_get(q, "packets")), 4000);
		json_decref(p);
	}
	/* No frame can come to a queue that the table does not have. */
	struct rss_cfg want = {.table = {.n = 3, .queue = {0, 1, 2}}};
	set_rss(&want);
	fresh(0, 1);
	assert_true(ctl_rss_choose(c, 0, 0, 0, &choice, &e) < 0);
	assert_non_null(strstr(e.text, "no entry of the table of port 1 is queue 3"));
	/* By a key of zeros all have the hash 0: it is told how many may be chosen. */
	want = (struct rss_cfg){.fields = RSS_IP | RSS_UDP, .key = {.n = KEY}};
	set_rss(&want);
	assert_true(ctl_rss_choose(c, 0, 0, 0, &choice, &e) < 0);
	assert_non_null(strstr(e.text, "only 0 of 64512 source ports from 1024 on come to queue"));
	want.fields = RSS_IP;
	set_rss(&want);
	assert_true(ctl_rss_choose(c, 0, 0, 0, &choice, &e) < 0);
	assert_non_null(strstr(e.text, "only 0 of 65023 source addresses"));
	ctl_reset(c, 1);
	ctl_turn(c);
	assert_true(ctl_rss_choose(c, 0, 0, 5, &choice, &e) < 0);
	assert_non_null(strstr(e.text, "multiple of the 4 queues"));
	set_field(0, "ipv4.dst", "10.0.0.1..10.0.0.9");
	assert_true(ctl_rss_choose(c, 0, 0, 0, &choice, &e) < 0);
	assert_non_null(strstr(e.text, "vary, too"));
	ctl_reset(c, 0);
}

static void test_close(void **state)
{
	(void)state;
	ctl_close(c);
}

int main(void)
{
	const struct CMUnitTest live[] = {
		cmocka_unit_test(test_predicted), cmocka_unit_test(test_doubts),
		cmocka_unit_test(test_set),       cmocka_unit_test(test_unhashed),
		cmocka_unit_test(test_refused),   cmocka_unit_test(test_restart),
		cmocka_unit_test(test_balance),   cmocka_unit_test(test_close),
	};
	static const char *const specs[] = {"null", "null"}, *const maps[] = {"1:1.0", "1:1.1*4"};
	struct ctl_opts o = {
		.prog = "rss_nic_test", .ports = specs, .nports = 2, .maps = maps, .nmaps = 2};
	struct err e = {.text = ""};

	rnd = test_seed_not_0();
	for (unsigned i = 0; i < KEY; i++)
		nic.key[i] = (uint8_t)next32();
	for (unsigned i = 0; i < ENTRIES; i++)
		nic.table[i] = i < QUEUES ? i : next32() % QUEUES;
	if (ctl_open(&c, &o, &e) != 0) {
		fprintf(stderr, "skipped: %s\n", e.text);
		return 77;
	}
	return cmocka_run_group_tests(live, NULL, NULL);
}
