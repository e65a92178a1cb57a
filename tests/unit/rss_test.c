/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests from which tuple which queue follows: by the vectors that Microsoft published for drivers
 * to be verified with, and by a hash of the test's own that goes bit by bit. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rss.h"
#include "seed.h"

#define ADDRESSES_ONLY (RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_IPV6)
#define PORTS_TOO (RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_SCTP)

static const uint8_t published_key[40] = {0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2,
					  0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0,
					  0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4,
					  0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c,
					  0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};

static struct rss_setup setup_of(uint64_t hf, const uint8_t *key, unsigned key_len)
{
	struct rss_setup s = {.hf = hf, .key_len = key_len, .entries = 128};
	uint16_t queue[] = {0, 1, 2, 3};

	memcpy(s.key, key, key_len);
	rss_fill_table(&s, queue, ARRAY_SIZE(queue));
	return s;
}

static struct rss_tuple tuple_of(const char *text)
{
	struct rss_tuple t;
	struct err e;

	if (rss_tuple_parse(text, &t, &e) != 0)
		fail_msg("%s", e.text);
	return t;
}

static void test_published(void **state)
{
	static const struct {
		const char *tuple;
		uint32_t addresses, ports;
	} all[] = {
		{"tcp 66.9.149.187:2794 161.142.100.80:1766", 0x323e8fc2, 0x51ccc178},
		{"tcp 199.92.111.2:14230 65.69.140.83:4739", 0xd718262a, 0xc626b0ea},
		{"tcp 24.19.198.95:12898 12.22.207.184:38024", 0xd2d0a5de, 0x5c2b394a},
		{"tcp 38.27.205.30:48228 209.142.163.6:2217", 0x82989176, 0xafc7327f},
		{"tcp 153.39.163.191:44251 202.188.127.2:1303", 0x5d1809c5, 0x10e828a2},
		{"tcp [3ffe:2501:200:1fff::7]:2794 [3ffe:2501:200:3::1]:1766", 0x2cc18cd5,
		 0x40207d3d},
		{"tcp [3ffe:501:8::260:97ff:fe40:efab]:14230 [ff02::1]:4739", 0x0f0c461c,
		 0xdde51bbf},
		{"tcp [3ffe:1900:4545:3:200:f8ff:fe21:67cf]:44251 [fe80::200:f8ff:fe21:67cf]:38024",
		 0x4b61e985, 0x02d1feef},
	};
	struct rss_setup l3 = setup_of(ADDRESSES_ONLY, published_key, sizeof(published_key)),
			 l4 = setup_of(PORTS_TOO, published_key, sizeof(published_key));

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		struct rss_tuple t = tuple_of(all[i].tuple);
		uint32_t hash;
		assert_int_equal(rss_hash(&l3, &t), all[i].addresses);
		assert_int_equal(rss_hash(&l4, &t), all[i].ports);
		assert_int_equal(rss_queue(&l4, &t, &hash), all[i].ports % 128 % 4);
		assert_int_equal(hash, all[i].ports);
	}
}

static uint64_t seed;

static uint32_t rnd32(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 16);
}

/* The definition: for each bit of the input that is 1, from the first on, the 32 bits of the key
 * that begin at its place are added without carry. */
static uint32_t bitwise(const uint8_t *key, const uint8_t *in, unsigned n)
{
	uint32_t hash = 0;

	for (unsigned i = 0; i < 8 * n; i++) {
		if ((in[i / 8] >> (7 - i % 8) & 1) == 0)
			continue;
		for (unsigned b = 0; b < 32; b++) {
			unsigned at = i + b;
			hash ^= (uint32_t)(key[at / 8] >> (7 - at % 8) & 1) << (31 - b);
		}
	}
	return hash;
}

static void test_random(void **state)
{
	struct rss_setup s = setup_of(0, published_key, sizeof(published_key));

	(void)state;
	for (unsigned i = 0; i < 100000; i++) {
		struct rss_tuple t = {.version = rnd32() % 2 == 0 ? 4 : 6,
				      .proto = rnd32() % 2 == 0 ? 6 : 17,
				      .ports = true,
				      .sport = (uint16_t)rnd32(),
				      .dport = (uint16_t)rnd32()};
		unsigned len = t.version == 4 ? 4 : 16, n = 2 * len;
		uint8_t in[36];
		if (i % 1000 == 0) {
			for (unsigned k = 0; k < s.key_len; k++)
				s.key[k] = (uint8_t)rnd32();
			s.entries = 1 + rnd32() % 512;
			for (unsigned k = 0; k < s.entries; k++)
				s.table[k] = (uint16_t)(rnd32() % 16);
		}
		for (unsigned k = 0; k < len; k++) {
			t.src[k] = (uint8_t)rnd32();
			t.dst[k] = (uint8_t)rnd32();
		}
		memcpy(in, t.src, len);
		memcpy(in + len, t.dst, len);
		s.hf = rnd32() % 2 == 0 ? ADDRESSES_ONLY : PORTS_TOO;
		if (s.hf == PORTS_TOO) {
			in[n++] = (uint8_t)(t.sport >> 8);
			in[n++] = (uint8_t)t.sport;
			in[n++] = (uint8_t)(t.dport >> 8);
			in[n++] = (uint8_t)t.dport;
		}
		uint32_t want = bitwise(s.key, in, n);
		assert_int_equal(rss_hash(&s, &t), want);
		assert_int_equal(rss_queue(&s, &t, NULL), s.table[want % s.entries]);
	}
}

static struct rss_tuple turned(const struct rss_tuple *t)
{
	struct rss_tuple back = *t;

	memcpy(back.src, t->dst, sizeof(back.src));
	memcpy(back.dst, t->src, sizeof(back.dst));
	back.sport = t->dport;
	back.dport = t->sport;
	return back;
}

static void test_symmetric(void **state)
{
	struct rss_setup plain = setup_of(PORTS_TOO, published_key, sizeof(published_key)),
			 key = plain, sort = plain;
	unsigned differ = 0;

	(void)state;
	rss_fill_key(&key);
	sort.function = RSS_FUNCTION_SORT;
	assert_false(rss_is_symmetric(&plain));
	assert_true(rss_is_symmetric(&key));
	assert_true(rss_is_symmetric(&sort));
	for (unsigned i = 0; i < 1000; i++) {
		struct rss_tuple t = {.version = i % 2 == 0 ? 4 : 6, .proto = 17, .ports = true};
		for (unsigned k = 0; k < 16; k++) {
			t.src[k] = (uint8_t)rnd32();
			t.dst[k] = (uint8_t)rnd32();
		}
		t.sport = (uint16_t)rnd32();
		t.dport = (uint16_t)rnd32();
		struct rss_tuple back = turned(&t);
		differ += rss_hash(&plain, &t) != rss_hash(&plain, &back);
		assert_int_equal(rss_hash(&key, &t), rss_hash(&key, &back));
		assert_int_equal(rss_hash(&sort, &t), rss_hash(&sort, &back));
	}
	assert_true(differ > 990);
	/* What is in order already is hashed as it is. */
	struct rss_tuple low = tuple_of("udp 10.0.0.1:5 10.0.0.2:6"),
			 mixed = tuple_of("udp 10.0.0.1:6 10.0.0.2:5");
	assert_int_equal(rss_hash(&sort, &low), rss_hash(&plain, &low));
	assert_int_equal(rss_hash(&sort, &mixed), rss_hash(&sort, &low));
}

static void test_parts(void **state)
{
	struct rss_tuple udp = tuple_of("udp 10.0.0.1:5 10.0.0.2:6"),
			 udp6 = tuple_of("udp [fd00::1]:5 [fd00::2]:6"),
			 other = tuple_of("ip 10.0.0.1 10.0.0.2"), fragment = udp;
	struct rss_setup none = setup_of(0, published_key, sizeof(published_key));

	(void)state;
	fragment.fragment = true;
	fragment.ports = false;
	assert_int_equal(rss_part(RTE_ETH_RSS_UDP, &udp), RSS_PART_L4);
	assert_int_equal(rss_part(RTE_ETH_RSS_UDP, &udp6), RSS_PART_L4);
	assert_int_equal(rss_part(RTE_ETH_RSS_TCP, &udp), RSS_PART_NONE);
	assert_int_equal(rss_part(RTE_ETH_RSS_IP, &udp), RSS_PART_L3);
	assert_int_equal(rss_part(RTE_ETH_RSS_NONFRAG_IPV4_OTHER, &udp), RSS_PART_NONE);
	assert_int_equal(rss_part(RTE_ETH_RSS_NONFRAG_IPV4_OTHER, &other), RSS_PART_L3);
	assert_int_equal(rss_part(RTE_ETH_RSS_IPV4, &udp6), RSS_PART_NONE);
	assert_int_equal(rss_part(PORTS_TOO, &fragment), RSS_PART_L3);
	assert_int_equal(rss_part(RTE_ETH_RSS_UDP, &fragment), RSS_PART_NONE);
	/* What is not hashed comes to the queue of entry 0. */
	none.table[0] = 3;
	assert_int_equal(rss_queue(&none, &udp, NULL), 3);
	none.hf = RTE_ETH_RSS_TCP;
	assert_int_equal(rss_queue(&none, &udp, NULL), 3);
	none.entries = 0;
	assert_int_equal(rss_queue(&none, &udp, NULL), 0);
}

static void test_frames(void **state)
{
	uint8_t frame[14 + 4 + 4 + 20 + 8] = {[12] = 0x88, [13] = 0xa8, [16] = 0x81, [20] = 8};
	uint8_t used[sizeof(frame)], *ip = frame + 22;
	struct rss_tuple t, want = tuple_of("udp 10.1.2.3:258 10.4.5.6:772");

	(void)state;
	memcpy(ip, (uint8_t[]){0x45, 0, 0, 28, 1,  2, 0x40, 0, 64, 17, 0, 0,
			       10,   1, 2, 3,  10, 4, 5,    6, 1,  2,  3, 4},
	       24);
	rss_tuple_read(frame, sizeof(frame), &t, used);
	assert_true(t.ports && !t.fragment && t.version == 4 && t.proto == 17 && t.doubt != NULL);
	assert_memory_equal(t.src, want.src, 16);
	assert_memory_equal(t.dst, want.dst, 16);
	assert_int_equal(t.sport, 0x0102);
	assert_int_equal(t.dport, 0x0304);
	/* Neither addresses of Ethernet nor the identification, but addresses and ports. */
	assert_true(used[0] == 0 && used[26] == 0 && used[27] == 0 &&
		    used[34] == RSS_USE_ADDRESSES && used[45] == RSS_USE_PORTS &&
		    used[31] == RSS_USE_SHAPE && used[46] == 0);
	ip[6] = 0x20;
	rss_tuple_read(frame, sizeof(frame), &t, NULL);
	assert_true(t.fragment && !t.ports);
	ip[6] = 0;
	ip[9] = 47;
	rss_tuple_read(frame, sizeof(frame), &t, NULL);
	assert_true(!t.ports && t.doubt != NULL);
	/* Frames that end early, or are something else, have no tuple and are not read beyond. */
	for (unsigned len = 0; len < 42; len++) {
		rss_tuple_read(frame, len, &t, NULL);
		assert_int_equal(t.version, 0);
	}
	ip[9] = 17;
	rss_tuple_read(frame, 44, &t, NULL);
	assert_true(t.version == 4 && !t.ports);
	ip[0] = 0x44;
	rss_tuple_read(frame, sizeof(frame), &t, NULL);
	assert_int_equal(t.version, 0);
}

/* Writes the type of a frame, and headers before that of IP. */
static const char *doubt_behind(const uint8_t *head, unsigned n, uint8_t proto, unsigned dport)
{
	uint8_t frame[64] = {0}, *ip = frame + 12 + n;
	struct rss_tuple t;

	memcpy(frame + 12, head, n);
	memcpy(ip,
	       (uint8_t[]){0x45,
			   0,
			   0,
			   28,
			   1,
			   2,
			   0,
			   0,
			   64,
			   proto,
			   0,
			   0,
			   10,
			   1,
			   2,
			   3,
			   10,
			   4,
			   5,
			   6,
			   1,
			   2,
			   (uint8_t)(dport >> 8),
			   (uint8_t)dport},
	       24);
	rss_tuple_read(frame, sizeof(frame), &t, NULL);
	return t.doubt;
}

#define DOUBT(proto, dport, ...) \
	doubt_behind((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), \
		     proto, dport)

/* What NICs may look into or not is not certain, whatever it is computed to be. */
static void test_doubts(void **state)
{
	static const struct {
		const char *tuple;
		bool doubt;
	} tuples[] = {{"udp 10.0.0.1:1 10.0.0.2:53", false},
		      {"udp 10.0.0.1:1 10.0.0.2:4789", true},
		      {"sctp 10.0.0.1:1 10.0.0.2:2", true},
		      {"ip fd00::1 fd00::2", false},
		      {"tcp 10.0.0.1:1 10.0.0.2:4789", false}};

	(void)state;
	assert_null(DOUBT(17, 53, 8, 0));
	assert_null(DOUBT(17, 53, 0x81, 0, 0, 1, 8, 0));
	assert_null(DOUBT(17, 53, 8, 6)); /* ARP */
	assert_null(DOUBT(6, 4789, 8, 0));
	assert_non_null(strstr(DOUBT(17, 53, 0x81, 0, 0, 1, 0x81, 0, 0, 2, 8, 0), "two tags"));
	assert_non_null(strstr(DOUBT(17, 53, 0x88, 0xa8, 0, 1, 8, 0), "QinQ"));
	assert_non_null(strstr(DOUBT(17, 53, 0x88, 0x47, 0, 0, 0x11, 64), "MPLS"));
	assert_non_null(strstr(DOUBT(17, 53, 0x81, 0, 0, 1, 0x88, 0x48, 0, 0, 0x11, 64), "MPLS"));
	assert_non_null(strstr(DOUBT(17, 53, 0x88, 0x64, 0x11, 0, 0, 1, 0, 30, 0, 0x21), "PPPoE"));
	assert_non_null(strstr(DOUBT(17, 53, 0x91, 0, 0, 1, 8, 0), "tag"));
	assert_non_null(strstr(DOUBT(17, 53, 0, 36, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0), "LLC"));
	assert_non_null(strstr(DOUBT(17, 4790, 8, 0), "tunnel"));
	assert_non_null(strstr(DOUBT(17, 6635, 8, 0), "tunnel"));
	assert_non_null(strstr(DOUBT(137, 0, 8, 0), "tunnel"));
	for (size_t i = 0; i < ARRAY_SIZE(tuples); i++) {
		struct rss_tuple t = tuple_of(tuples[i].tuple);
		assert_int_equal(t.doubt != NULL, tuples[i].doubt);
	}
}

static void test_refused(void **state)
{
	static const char *const tuples[] = {"",
					     "udp",
					     "udp 10.0.0.1:1",
					     "udp 10.0.0.1 10.0.0.2",
					     "udp 10.0.0.1:1 10.0.0.2:65536",
					     "udp 10.0.0.1:1 10.0.0.2:-1",
					     "udp 10.0.0.1:1 [fd00::1]:1",
					     "udp fd00::1:1024 fd00::2:53",
					     "udp [fd00::1]:1024 fd00::2:53",
					     "tcp [10.0.0.1]:1 [10.0.0.2]:2",
					     "ip [fd00::1] [fd00::2]",
					     "ip 10.0.0.1:1 10.0.0.2:1",
					     "icmp 10.0.0.1 10.0.0.2",
					     "ip 10.0.0.1 10.0.0.2 more"};
	struct rss_tuple t;
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(tuples); i++)
		assert_int_equal(rss_tuple_parse(tuples[i], &t, &e), -EINVAL);
}

/* What a text is printed as; NULL: it is refused. */
static void value_is(const struct vtype *t, const char *text, const char *want)
{
	struct vspec s = {.type = t};
	uint8_t *v = xcalloc(1, t->size);
	struct sbuf b = {0};
	struct err e = {.text = ""};
	int rc = t->parse(&s, text, v, &e);

	if (rc == 0)
		t->print(&s, v, &b);
	if (want == NULL && rc == 0)
		fail_msg("\"%s\" is %s", text, sbuf_str(&b));
	if (want != NULL && (rc != 0 || strcmp(sbuf_str(&b), want) != 0))
		fail_msg("\"%s\" is %s %s, not %s", text, sbuf_str(&b), e.text, want);
	sbuf_free(&b);
	free(v);
}

static void test_values(void **state)
{
	(void)state;
	value_is(&vt_rss_fields, "auto", "auto");
	value_is(&vt_rss_fields, "off", "off");
	value_is(&vt_rss_fields, "udp,ip", "ip,udp");
	value_is(&vt_rss_fields, "", NULL);
	value_is(&vt_rss_fields, "ip,", NULL);
	value_is(&vt_rss_fields, "ip,off", NULL);
	value_is(&vt_rss_fields, "ipx", NULL);
	value_is(&vt_rss_key, "default", "default");
	value_is(&vt_rss_key, "6D:5a 56", "6d5a56");
	value_is(&vt_rss_key, "6d5", NULL);
	value_is(&vt_rss_key, "none", NULL);
	value_is(&vt_rss_table, "default", "default");
	value_is(&vt_rss_table, "0-3", "0-3");
	value_is(&vt_rss_table, "0,1,2,3,7", "0-3,7");
	value_is(&vt_rss_table, "0,1,1,1,2,3", "0,1*3,2,3");
	value_is(&vt_rss_table, "5*512", "5*512");
	value_is(&vt_rss_table, "5*513", NULL);
	value_is(&vt_rss_table, "0-511,1", NULL);
	value_is(&vt_rss_table, "3-1", NULL);
	value_is(&vt_rss_table, "0*0", NULL);
	value_is(&vt_rss_table, "0,,1", NULL);
	value_is(&vt_rss_table, "-1", NULL);
	value_is(&vt_rss_table, "65536", NULL);
	value_is(&vt_rss_table, "0-99999999999999999999", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published), cmocka_unit_test(test_random),
		cmocka_unit_test(test_symmetric), cmocka_unit_test(test_parts),
		cmocka_unit_test(test_frames),    cmocka_unit_test(test_doubts),
		cmocka_unit_test(test_refused),   cmocka_unit_test(test_values),
	};

	seed = test_seed_not_0();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
