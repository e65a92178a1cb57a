/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares what a burst has in common, as every instruction set of this CPU finds it, with a look
 * at each frame and each field. */
#include "dp_fake.h"
#include "seed.h"

#define MANY 70
#define ROUNDS 20000

static struct rte_mbuf mbuf[MANY];
static uint8_t data[MANY][256];

static struct dp_burst plainly(struct rte_mbuf *const *m, unsigned n)
{
	bool known = m[0]->packet_type & DP_DST_KNOWN, same_dst = true, one_begin = true,
	     group = false;
	struct dp_burst b = {.len = m[0]->pkt_len, .plain = true, .alike = true};

	for (unsigned i = 0; i < n; i++) {
		bool extra = (m[i]->ol_flags & (RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL)) != 0;
		b.len = m[i]->pkt_len == b.len ? b.len : 0;
		b.plain = b.plain && m[i]->refcnt == 1 && m[i]->nb_segs == 1 && !extra &&
			  m[i]->pool == m[0]->pool;
		b.alike = b.alike && m[i]->data_off == m[0]->data_off &&
			  m[i]->data_len == m[0]->data_len && m[i]->ol_flags == m[0]->ol_flags;
		same_dst = same_dst && m[i]->packet_type == m[0]->packet_type;
		one_begin = one_begin && m[i]->data_off == m[0]->data_off;
		group = group || (data[m[i] - mbuf][m[0]->data_off] & 1) != 0;
	}
	b.dst = known && same_dst ? m[0]->packet_type & DP_DST_ALL : 0;
	b.group = known ? !same_dst : group || !one_begin;
	return b;
}

/* Makes a frame odd in some way. */
static void spoil(struct rte_mbuf *m)
{
	switch (any(12)) {
	case 0:
		m->data_off++;
		break;
	case 1:
		m->refcnt = 2;
		break;
	case 2:
		m->nb_segs = 3;
		break;
	case 3:
		m->port++;
		break;
	case 4:
		m->ol_flags |= RTE_MBUF_F_EXTERNAL;
		break;
	case 5:
		m->ol_flags |= RTE_MBUF_F_RX_IP_CKSUM_BAD;
		break;
	case 6:
		m->packet_type ^= 1u << any(32);
		break;
	case 7:
		m->pkt_len ^= 1u << any(32);
		break;
	case 8:
		m->data_len ^= 256;
		break;
	case 9:
		m->pool = (void *)(uintptr_t)64;
		break;
	case 10:
		m->ol_flags |= RTE_MBUF_F_INDIRECT;
		break;
	case 11:
		memset(data[m - mbuf], 1, sizeof(data[0]));
		break; /* the frame goes to a group */
	}
}

static void make(unsigned n)
{
	uint32_t type = any(2) != 0 ? DP_DST_KNOWN | any(2) * DP_DST_GROUP : 0;
	uint32_t len = 60 + any(100);
	uint8_t first = any(4) == 0;

	for (unsigned i = 0; i < n; i++) {
		memset(data[i], first, sizeof(data[i]));
		mbuf[i] = (struct rte_mbuf){
			.buf_addr = data[i],
			.buf_iova = any(1 << 24),
			.data_off = 128,
			.refcnt = 1,
			.nb_segs = 1,
			.packet_type = type,
			.pkt_len = len,
			.data_len = (uint16_t)len,
			.vlan_tci = (uint16_t)any(65536),
			.hash.rss = any(1 << 24),
			.pool = (void *)(uintptr_t)128,
		};
	}
	for (unsigned odd = any(3); odd > 0; odd--)
		spoil(&mbuf[any(n)]);
	if (any(8) == 0) /* all frames are odd in the same way */
		for (unsigned i = 1; i < n; i++) {
			uint8_t *own = mbuf[i].buf_addr;
			mbuf[i] = mbuf[0];
			mbuf[i].buf_addr = own;
		}
}

static void assert_same(const struct dp_burst *is, const struct dp_burst *due)
{
	assert_int_equal(is->len, due->len);
	assert_int_equal(is->dst, due->dst);
	assert_int_equal(is->plain, due->plain);
	assert_int_equal(is->alike, due->alike);
	if (due->dst == 0)
		assert_int_equal(is->group, due->group);
}

static void test_all(void **state)
{
	struct rte_mbuf *m[MANY];
	unsigned nvariants = 0;

	(void)state;
	any_seed = (unsigned)test_seed();
	while (dp_look_nth(nvariants) != NULL)
		nvariants++;
	assert_true(nvariants > 0 && dp_look == dp_look_nth(0));
	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned n = 1 + any(MANY);
		make(n);
		for (unsigned i = 0; i < n; i++)
			m[i] = &mbuf[i];
		struct dp_burst due = plainly(m, n);
		for (unsigned v = 0; v < nvariants; v++) {
			struct dp_burst is = dp_look_nth(v)(m, n);
			assert_same(&is, &due);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
