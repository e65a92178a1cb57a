/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what received frames are counted as that nothing takes: each sort, wrong checksums and
 * lengths, what others say of checksums, and frames that end early. */
#include <rte_ip.h>

#include "count_run.h"
#include "dp_fake.h"
#include "proto_run.h"

#define LONGEST 256

/* A frame, as it is being written. */
struct text {
	uint8_t b[LONGEST];
	unsigned len;
};

static void text_add(struct text *t, const void *bytes, unsigned n)
{
	assert_true(t->len + n <= LONGEST);
	memcpy(t->b + t->len, bytes, n);
	t->len += n;
}

static void text_be16(struct text *t, unsigned at, unsigned v)
{
	t->b[at] = (uint8_t)(v >> 8);
	t->b[at + 1] = (uint8_t)v;
}

static struct text ethernet(unsigned type)
{
	struct text t = {.b = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2}, .len = 12};
	uint8_t be[2] = {(uint8_t)(type >> 8), (uint8_t)type};

	text_add(&t, be, 2);
	return t;
}

/* IPv4 and n bytes behind it, which are zero, with the header's checksum. */
static struct text ip4(unsigned protocol, unsigned n)
{
	struct text t = ethernet(RTE_ETHER_TYPE_IPV4);
	uint8_t ip[20] = {
		0x45, [8] = 64, [9] = (uint8_t)protocol, [12] = 10, [15] = 1, [16] = 10, [19] = 2};

	ip[2] = (uint8_t)((20 + n) >> 8), ip[3] = (uint8_t)(20 + n);
	text_add(&t, ip, 20);
	struct rte_ipv4_hdr *h = (struct rte_ipv4_hdr *)(t.b + 14);
	h->hdr_checksum = rte_ipv4_cksum(h);
	assert_true(t.len + n <= LONGEST);
	t.len += n;
	return t;
}

static struct text ip6(unsigned next, unsigned n)
{
	struct text t = ethernet(RTE_ETHER_TYPE_IPV6);
	uint8_t ip[40] = {
		0x60, [6] = (uint8_t)next, [7] = 64, [8] = 0xfd, [23] = 1, [24] = 0xfd, [39] = 2};

	ip[4] = (uint8_t)(n >> 8), ip[5] = (uint8_t)n;
	text_add(&t, ip, 40);
	assert_true(t.len + n <= LONGEST);
	t.len += n;
	return t;
}

/* Fills in the checksum of TCP or UDP, which begins there. The sum is the library's. */
static void sum_at(struct text *t, unsigned l4, bool udp)
{
	bool six = t->b[14] >> 4 == 6;
	unsigned at = l4 + (udp ? 6 : 16);
	uint16_t sum = six ? rte_ipv6_udptcp_cksum((const void *)(t->b + 14), t->b + l4)
			   : rte_ipv4_udptcp_cksum((const void *)(t->b + 14), t->b + l4);

	memcpy(t->b + at, &sum, 2);
}

static struct text udp4(unsigned payload)
{
	struct text t = ip4(IP_UDP, 8 + payload);

	text_be16(&t, 34, 1000);
	text_be16(&t, 36, 53);
	text_be16(&t, 38, 8 + payload);
	for (unsigned i = 0; i < payload; i++)
		t.b[42 + i] = (uint8_t)(i * 7 + 1);
	sum_at(&t, 34, true);
	return t;
}

static struct text tcp4(unsigned payload)
{
	struct text t = ip4(IP_TCP, 20 + payload);

	text_be16(&t, 36, 80);
	t.b[46] = 0x50;
	for (unsigned i = 0; i < payload; i++)
		t.b[54 + i] = (uint8_t)(i + 1);
	sum_at(&t, 34, false);
	return t;
}

static struct text udp6(unsigned payload)
{
	struct text t = ip6(IP_UDP, 8 + payload);

	text_be16(&t, 56, 53);
	text_be16(&t, 58, 8 + payload);
	for (unsigned i = 0; i < payload; i++)
		t.b[62 + i] = (uint8_t)(i + 9);
	sum_at(&t, 54, true);
	return t;
}

static struct text tagged(struct text t)
{
	static const uint8_t tag[4] = {0x81, 0, 0, 100};

	assert_true(t.len + 4 <= LONGEST);
	memmove(t.b + 16, t.b + 12, t.len - 12);
	memcpy(t.b + 12, tag, 4);
	t.len += 4;
	return t;
}

static struct rte_mempool *mp;

static struct rte_mbuf *frame_of(const struct text *t, uint64_t flags)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(mp);

	assert_non_null(m);
	memcpy(rte_pktmbuf_append(m, (uint16_t)t->len), t->b, t->len);
	m->ol_flags = flags;
	return m;
}

/* What one frame is counted as. */
static enum count_sort sorted(struct text t, uint64_t flags)
{
	struct count_state s = {0};
	struct rte_mbuf *m = frame_of(&t, flags);
	unsigned found = COUNT_SORTS, n = 0;

	count_sorts(&s, &m, 1);
	for (unsigned i = 0; i < COUNT_SORTS; i++)
		if (cell_get(&s.sort[i]) > 0) {
			found = i;
			n += (unsigned)cell_get(&s.sort[i]);
		}
	assert_int_equal(n, 1); /* each frame is of one sort */
	rte_pktmbuf_free(m);
	return found;
}

static void test_sorts(void **state)
{
	struct text t;

	(void)state;
	for (unsigned payload = 0; payload < 40; payload++) { /* odd lengths, too */
		assert_int_equal(sorted(udp4(payload), 0), COUNT_UDP);
		assert_int_equal(sorted(tcp4(payload), 0), COUNT_TCP);
		assert_int_equal(sorted(udp6(payload), 0), COUNT_UDP);
		assert_int_equal(sorted(tagged(tcp4(payload)), 0), COUNT_TCP);
	}
	assert_int_equal(sorted(ip4(IP_ICMP, 8), 0), COUNT_ICMP);
	assert_int_equal(sorted(ip6(IP_ICMP6, 8), 0), COUNT_ICMP);
	assert_int_equal(sorted(ip4(IP_ICMP6, 8), 0), COUNT_OTHER);
	assert_int_equal(sorted(ip4(132, 12), 0), COUNT_OTHER);
	t = ip6(IP_HOPOPT, 16); /* MLD stands behind such an option */
	t.b[54] = IP_ICMP6;
	assert_int_equal(sorted(t, 0), COUNT_ICMP);
	t = ethernet(RTE_ETHER_TYPE_ARP);
	t.len = 60;
	assert_int_equal(sorted(t, 0), COUNT_ARP);
	assert_int_equal(sorted(tagged(t), 0), COUNT_ARP);
	t = ethernet(0x88cc);
	t.len = 60;
	assert_int_equal(sorted(t, 0), COUNT_OTHER);
	t = udp4(4);
	t.len = 60;
	t.b[59] = 0xff; /* padding is in no sum */
	assert_int_equal(sorted(t, 0), COUNT_UDP);
}

static void test_fragments(void **state)
{
	struct text t = udp4(8);

	(void)state;
	t.b[20] = 0x20; /* more fragments: the first one */
	t.b[24] = t.b[25] = 0;
	struct rte_ipv4_hdr *h = (struct rte_ipv4_hdr *)(t.b + 14);
	h->hdr_checksum = rte_ipv4_cksum(h);
	assert_int_equal(sorted(t, 0), COUNT_FRAGMENT);
	t.b[20] = 0, t.b[21] = 1; /* the last one */
	t.b[24] = t.b[25] = 0;
	h->hdr_checksum = rte_ipv4_cksum(h);
	assert_int_equal(sorted(t, 0), COUNT_FRAGMENT);
	t = ip6(IP_FRAG, 16);
	t.b[54] = IP_UDP;
	t.b[57] = 8;
	assert_int_equal(sorted(t, 0), COUNT_FRAGMENT);
}

/* Each byte of headers and payload that a sum is over, one after another. */
static void test_checksums(void **state)
{
	(void)state;
	for (unsigned at = 26; at < 62; at++) {
		struct text t = udp4(20), c = tcp4(20);
		t.b[at] ^= 0x10;
		c.b[at] ^= 0x10;
		assert_int_equal(sorted(t, 0), COUNT_BAD);
		assert_int_equal(sorted(c, 0), COUNT_BAD);
	}
	for (unsigned at = 22; at < 82; at++) {
		struct text t = udp6(20);
		t.b[at] ^= 0x10;
		assert_int_equal(sorted(t, 0), COUNT_BAD);
	}
	struct text t = udp4(20);
	t.b[40] = t.b[41] = 0; /* its sender has computed none */
	assert_int_equal(sorted(t, 0), COUNT_UDP);
	t = udp6(20);
	t.b[60] = t.b[61] = 0; /* which IPv6 does not allow */
	assert_int_equal(sorted(t, 0), COUNT_BAD);
	t = ip4(IP_ICMP, 8);
	t.b[22] ^= 1;
	assert_int_equal(sorted(t, 0), COUNT_BAD);
}

/* What a device or a sender in this process says. */
static void test_flags(void **state)
{
	struct text good = udp4(20), wrong = good, header = good;

	(void)state;
	wrong.b[50] ^= 1;
	header.b[22] ^= 1;
	assert_int_equal(sorted(good, RTE_MBUF_F_RX_L4_CKSUM_BAD), COUNT_BAD);
	assert_int_equal(sorted(good, RTE_MBUF_F_RX_IP_CKSUM_BAD), COUNT_BAD);
	assert_int_equal(sorted(wrong, RTE_MBUF_F_RX_L4_CKSUM_GOOD), COUNT_UDP);
	assert_int_equal(sorted(wrong, RTE_MBUF_F_RX_L4_CKSUM_NONE), COUNT_UDP);
	assert_int_equal(sorted(wrong, RTE_MBUF_F_TX_UDP_CKSUM), COUNT_UDP);
	assert_int_equal(sorted(header, RTE_MBUF_F_TX_IP_CKSUM), COUNT_UDP);
	assert_int_equal(sorted(header, RTE_MBUF_F_RX_IP_CKSUM_GOOD), COUNT_UDP);
	assert_int_equal(sorted(header, RTE_MBUF_F_RX_L4_CKSUM_GOOD), COUNT_BAD);
}

/* A frame that ends at any place is counted once, and nothing behind it is read. */
static void test_short(void **state)
{
	const struct text whole[] = {udp4(20),         tcp4(20),        udp6(20),
				     tagged(udp4(20)), ip4(IP_ICMP, 8), ip6(IP_HOPOPT, 16)};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(whole); i++)
		for (unsigned len = 0; len < whole[i].len; len++) {
			struct text t = whole[i];
			t.len = len;
			enum count_sort s = sorted(t, 0);
			assert_true(s == COUNT_OTHER || s == COUNT_BAD ||
				    (s == COUNT_ICMP && i >= 4));
		}
}

/* A sum over several segments is that over one. */
static void test_segments(void **state)
{
	struct text t = udp4(101);

	(void)state;
	for (unsigned cut = 42; cut < t.len; cut += 13)
		for (unsigned wrong = 0; wrong < 2; wrong++) {
			struct count_state s = {0};
			struct text head = t, tail = {.len = t.len - cut};
			head.len = cut;
			memcpy(tail.b, t.b + cut, tail.len);
			tail.b[tail.len - 1] ^= (uint8_t)wrong;
			struct rte_mbuf *m = frame_of(&head, 0);
			assert_int_equal(rte_pktmbuf_chain(m, frame_of(&tail, 0)), 0);
			count_sorts(&s, &m, 1);
			assert_int_equal(cell_get(&s.sort[wrong ? COUNT_BAD : COUNT_UDP]), 1);
			rte_pktmbuf_free(m);
		}
}

static void test_many(void **state)
{
	struct count_state s = {0};
	struct rte_mbuf *m[64];
	struct text u = udp4(3), c = tcp4(3), bad = udp4(9);

	(void)state;
	bad.b[44] ^= 1;
	for (unsigned i = 0; i < 64; i++)
		m[i] = frame_of(i % 4 == 0 ? &bad : i % 2 == 0 ? &u : &c, 0);
	count_sorts(&s, m, 64);
	count_sorts(&s, m, 3);
	assert_int_equal(cell_get(&s.sort[COUNT_BAD]), 17);
	assert_int_equal(cell_get(&s.sort[COUNT_UDP]), 17);
	assert_int_equal(cell_get(&s.sort[COUNT_TCP]), 33);
	rte_pktmbuf_free_bulk(m, 64);
	assert_true(rte_mempool_full(mp));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sorts),     cmocka_unit_test(test_fragments),
		cmocka_unit_test(test_checksums), cmocka_unit_test(test_flags),
		cmocka_unit_test(test_short),     cmocka_unit_test(test_segments),
		cmocka_unit_test(test_many),
	};

	int rc = eal_or_skip(argv[argc - 1]);

	if (rc != 0)
		return rc;
	mp = pool_of(256);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
