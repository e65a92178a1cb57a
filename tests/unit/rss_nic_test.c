/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests RSS of devices by a fake NIC: port 0 sends to port 1. */
#include "rss_nic.h"
#include "port_int.h"
#include "seed.h"

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

/* The NIC takes a table of its own with each change of its hash and at each start, as mlx5 may: it
 * gets back the one that is set, or the one that it came with. */
static void test_table_kept(void **state)
{
	struct rss_cfg want = {.table = {.n = 5, .queue = {3, 3, 0, 1, 2}}};
	uint16_t table[ENTRIES];
	struct err e = {.text = ""};

	(void)state;
	memcpy(table, nic.table, sizeof(table));
	fresh(0, 1);
	set_field(0, "udp.src", "1000..1999");
	nic.forgets = true;
	for (unsigned i = 0; i < 5; i++) {
		want.fields = i == 1 ? RSS_IP | RSS_UDP : RSS_UDP;
		want.symmetric = i == 2 ? RSS_SYMMETRIC_KEY : RSS_SYMMETRIC_OFF;
		if (i == 4)
			want.table.n = 0;
		set_rss(&want);
		if (i == 3) {
			ctl_port_cfg(c, 1)->txd = 512;
			ctl_touch(c, 1, WHY_RESTART);
			assert_int_equal(ctl_apply(c, 1, &e), 0);
		}
		for (unsigned k = 0; k < ENTRIES; k++)
			assert_int_equal(nic.table[k], i < 4 ? want.table.queue[k % 5] : table[k]);
		agrees(10000);
	}
	/* Its table cannot be written: what it has instead is said. */
	nic.table_rc = -EIO;
	want.symmetric = RSS_SYMMETRIC_KEY;
	assert_true(ctl_rss(c, 1, &want, &e) < 0);
	assert_non_null(strstr(e.text, "has another table after a change of its hash"));
	assert_non_null(strstr(e.text, "cannot be brought back to what it did before"));
	assert_int_not_equal(nic.key[2], 0x6d);
	/* One that keeps it need not take it. */
	nic.table_rc = 0;
	nic.forgets = false;
	set_rss(&(struct rss_cfg){.fields = RSS_IP});
	nic.table_rc = -ENOTSUP;
	set_rss(&want);
	assert_int_equal(nic.key[2], 0x6d);
	nic.table_rc = 0;
	ctl_reset(c, 1);
	ctl_touch(c, 1, WHY_RESTART);
	assert_int_equal(ctl_apply(c, 1, &e), 0);
	assert_memory_equal(nic.table, table, sizeof(table));
}

/* Whether the first queue of port 1 has a share of what was counted; if not, why is said. */
static bool counted_told(void)
{
	json_t *p = rss_of(1), *why = json_object_get(p, "counted_why"),
	       *q = json_array_get(json_object_get(p, "rx_queues"), 0);
	bool told = json_is_number(json_object_get(q, "counted"));

	assert_true(told ? json_is_null(why) : strstr(json_string_value(why), "`clear 1`") != NULL);
	json_decref(p);
	return told;
}

/* Frames that came by another hash or table are no share of what comes by this one. A change that
 * the device did not take is none. */
static void test_counted(void **state)
{
	struct rss_cfg want = {.table = {.n = 3, .queue = {2, 1, 0}}};

	(void)state;
	fresh(0, 1);
	set_field(0, "udp.src", "1000..1999");
	for (unsigned i = 0; i < 3; i++) {
		agrees(1000);
		assert_true(counted_told());
		nic.deaf = true;
		rss_refused(&(struct rss_cfg){.fields = RSS_IP, .table = want.table},
			    "goes on as before");
		nic.deaf = false;
		assert_true(counted_told());
		if (i == 1)
			want = (struct rss_cfg){.symmetric = RSS_SYMMETRIC_KEY};
		if (i < 2)
			set_rss(&want);
		else
			ctl_reset(c, 1);
		ctl_turn(c);
		assert_false(counted_told());
	}
	agrees(1000);
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

/* How the NIC is asked where DPDK has no word for the function: what stands in a setup is what the
 * device works by. */
static int odd_caps(const struct port *p, struct rss_caps *out)
{
	int rc = rss_dev_ops.caps(p, out);

	out->toeplitz = (nic.takes >> RTE_ETH_HASH_FUNCTION_TOEPLITZ & 1) != 0;
	return rc;
}

static int odd_get(const struct port *p, struct rss_setup *out)
{
	int rc = rss_dev_ops.get(p, out);

	out->algorithm = nic.algorithm;
	out->function = nic.algorithm <= RTE_ETH_HASH_FUNCTION_TOEPLITZ ? RSS_FUNCTION_TOEPLITZ
									: RSS_FUNCTION_OTHER;
	return rc;
}

static int odd_set_hash(struct port *p, const struct rss_setup *to, bool key)
{
	int rc = rss_dev_ops.set_hash(p, to, key);

	if (rc == 0 && !nic.deaf)
		nic.algorithm = to->algorithm;
	return rc;
}

static int odd_set_table(struct port *p, const struct rss_setup *to)
{
	return rss_dev_ops.set_table(p, to);
}

static void set_rss_by(unsigned algorithm, const struct rss_cfg *want)
{
	set_rss(want);
	assert_int_equal(nic.algorithm, algorithm);
}

/* A NIC came with a function that we cannot compute. It keeps it through all that is set of other
 * things, and gets it back when it was told another one. */
static void test_function_kept(void **state)
{
	static const struct rss_ops odd = {odd_caps, odd_get, odd_set_hash, odd_set_table};
	static struct port_spec spec;
	struct port *p = &c->port[1]->p;
	struct port_rss *was = p->rss_state;
	const struct port_spec *own = p->spec;
	enum { XOR = RTE_ETH_HASH_FUNCTION_SIMPLE_XOR, TOEPLITZ = RTE_ETH_HASH_FUNCTION_TOEPLITZ };
	struct rss_cfg want = {.fields = RSS_IP};
	uint8_t key[KEY];

	(void)state;
	memcpy(key, nic.key, sizeof(key));
	spec = *own;
	spec.rss = &odd;
	p->spec = &spec;
	p->rss_state = NULL; /* as if it were opened with that function */
	nic.takes = 1u << RTE_ETH_HASH_FUNCTION_DEFAULT | 1u << XOR;
	nic.algorithm = XOR;
	rss_started(p);
	set_rss_by(XOR, &want);
	assert_int_equal(nic.hf & RTE_ETH_RSS_UDP, 0);
	want.key.n = KEY;
	set_rss_by(XOR, &want);
	want.table = (struct rss_list){.n = 1, .queue = {2}};
	set_rss_by(XOR, &want);
	want = (struct rss_cfg){.symmetric = RSS_SYMMETRIC_KEY};
	rss_refused(&want, "takes none else");
	assert_int_equal(nic.algorithm, XOR);
	nic.takes |= 1u << TOEPLITZ;
	set_rss_by(TOEPLITZ, &want);
	want = (struct rss_cfg){0};
	set_rss_by(XOR, &want);
	assert_memory_equal(nic.key, key, KEY);
	/* Another one of those that we cannot compute is no better. */
	nic.algorithm = RTE_ETH_HASH_FUNCTION_SYMMETRIC_TOEPLITZ;
	want.fields = RSS_IP;
	nic.deaf = true;
	rss_refused(&want, "its hash function and goes on as before");
	nic.deaf = false;
	nic.algorithm = RTE_ETH_HASH_FUNCTION_DEFAULT;
	nic.takes = 1;
	free(p->rss_state);
	p->rss_state = was;
	p->spec = own;
	ctl_reset(c, 1);
	ctl_turn(c);
}

static void test_close(void **state)
{
	(void)state;
	ctl_close(c);
}

int main(void)
{
	const struct CMUnitTest live[] = {
		cmocka_unit_test(test_predicted),  cmocka_unit_test(test_doubts),
		cmocka_unit_test(test_set),        cmocka_unit_test(test_unhashed),
		cmocka_unit_test(test_refused),    cmocka_unit_test(test_restart),
		cmocka_unit_test(test_balance),    cmocka_unit_test(test_function_kept),
		cmocka_unit_test(test_table_kept), cmocka_unit_test(test_counted),
		cmocka_unit_test(test_close),
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
