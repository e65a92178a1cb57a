/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what the machine is told of super-frames of UDP, with a machine that keeps what it gets. */
#include "cmocka_names.h"
#include <stdlib.h>

#include "eal_skip.h"
#include "flows_datagrams.c"
#include "seed.h"

#define MOST_BYTES 65536u
#define MOST_FRAMES 65536u

/* What came, one frame after the other. */
static struct {
	uint8_t bytes[8 << 20];
	uint32_t used, frames, len[MOST_FRAMES];
	enum flow_verdict verdict;
	bool rest;
} got;

void flow_rx(struct flow_machine *m, const struct flow_in *in, unsigned n, uint64_t now_ns)
{
	(void)m;
	assert_int_equal(now_ns, 7);
	for (unsigned i = 0; i < n; i++) {
		assert_true(got.frames < MOST_FRAMES && got.used + in[i].len <= sizeof(got.bytes));
		memcpy(got.bytes + got.used, in[i].data, in[i].len);
		got.used += in[i].len;
		got.len[got.frames++] = in[i].len;
		got.verdict = in[i].verdict;
		got.rest |= in[i].rest != NULL;
		assert_true(in[i].segments <= 1);
	}
}

static struct rte_mempool *pool;
static uint64_t seed;

static unsigned below(unsigned n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)((seed >> 33) % n);
}

/* A frame: l3 bytes, an IP header of `ip` bytes (with IPv6's extension headers), UDP, payload. */
struct shape {
	unsigned l3, ip;
	bool is6;
};

static unsigned frame_make(uint8_t *f, const struct shape *s, unsigned payload)
{
	unsigned l4 = s->l3 + s->ip;

	memset(f, 0xee, l4 + 8);
	f[s->l3] = s->is6 ? 0x60 : (uint8_t)(0x40 | s->ip / 4);
	f[s->l3 + (s->is6 ? 6 : 9)] = IP_UDP;
	put_be16(f + s->l3 + (s->is6 ? 4 : 2), (s->is6 ? s->ip - LEN_IP6 : s->ip) + 8 + payload);
	put_be16(f + l4 + 4, 8 + payload);
	for (unsigned i = 0; i < payload; i++)
		f[l4 + 8 + i] = (uint8_t)(i * 37 + i / 251);
	return l4 + 8 + payload;
}

/* In several buffers, all headers in the first one. */
static struct rte_mbuf *frame_of(const uint8_t *f, unsigned len, unsigned headers, bool cuts)
{
	struct rte_mbuf *first = NULL, *last = NULL;

	for (unsigned at = 0; at < len;) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
		assert_non_null(m);
		unsigned n = rte_pktmbuf_tailroom(m);
		if (cuts)
			n = first == NULL ? headers + below(40) : 1000 + below(n - 1000);
		n = RTE_MIN(n, len - at);
		memcpy(rte_pktmbuf_append(m, (uint16_t)n), f + at, n);
		at += n;
		if (first == NULL) {
			first = m;
		} else {
			last->next = m;
			first->nb_segs++;
			first->pkt_len += n;
		}
		last = m;
	}
	return first;
}

static void give(const struct shape *s, const uint8_t *f, unsigned len, unsigned size, bool cuts,
		 enum flow_verdict verdict)
{
	struct rte_mbuf *m = frame_of(f, len, s->l3 + s->ip + 8, cuts);
	struct flow_in in = {.data = rte_pktmbuf_mtod(m, const uint8_t *),
			     .len = m->data_len,
			     .l3 = (uint16_t)s->l3,
			     .l4 = (uint16_t)(s->is6 && s->ip > LEN_IP6 ? s->l3 + s->ip : 0),
			     .l4_udp = true,
			     .verdict = (uint8_t)verdict};

	m->tso_segsz = (uint16_t)size;
	got.used = got.frames = 0;
	got.rest = false;
	flows_datagrams(NULL, &in, m, 7);
	rte_pktmbuf_free(m);
}

/* All datagrams are there, in order, with lengths of their own and the bytes that were sent. */
static void test_cut(void **state)
{
	static const struct shape shape[] = {{14, 20, false}, {18, 20, false}, {22, 40, true},
					     {14, 60, false}, {64, 20, false}, {14, 56, true}};
	static uint8_t f[MOST_BYTES + 300];

	(void)state;
	for (unsigned round = 0; round < 400; round++) {
		const struct shape *s = &shape[below(ARRAY_SIZE(shape))];
		unsigned size = round % 5 == 0 ? 1 + below(9) : 1 + below(9000);
		unsigned most = RTE_MIN(65507u - 60, size * (1 + below(130)));
		unsigned payload = 1 + below(most), headers = s->l3 + s->ip + 8;
		unsigned len = frame_make(f, s, payload), n = (payload + size - 1) / size;
		const uint8_t *at = got.bytes;

		give(s, f, len, size, round % 3 != 0, FLOW_SUM_PARTIAL);
		assert_int_equal(got.frames, n);
		assert_int_equal(got.verdict, FLOW_SUM_PARTIAL);
		if (n == 1) /* the machine gets it as it is */
			continue;
		assert_false(got.rest);
		for (unsigned i = 0; i < n; i++) {
			unsigned some = i + 1 < n ? size : payload - i * size;
			unsigned ip = s->is6 ? s->ip - LEN_IP6 : s->ip;

			assert_int_equal(got.len[i], headers + some);
			assert_int_equal(get_be16(at + s->l3 + (s->is6 ? 4 : 2)), ip + 8 + some);
			assert_int_equal(get_be16(at + s->l3 + s->ip + 4), 8 + some);
			assert_memory_equal(at, f, s->l3);
			assert_memory_equal(at + headers, f + headers + i * size, some);
			at += got.len[i];
		}
	}
}

/* Padding behind the datagram is none of it; what nobody has judged cannot be; a bad one is bad. */
static void test_verdicts(void **state)
{
	static const struct shape s = {14, 20, false};
	uint8_t f[400] = {0};
	unsigned len = frame_make(f, &s, 250);

	(void)state;
	give(&s, f, len + 30, 100, false, FLOW_SUM_UNKNOWN);
	assert_int_equal(got.frames, 3);
	assert_int_equal(got.len[2], 42 + 50);
	assert_int_equal(got.verdict, FLOW_SUM_PARTIAL);
	give(&s, f, len, 100, false, FLOW_SUM_BAD);
	assert_int_equal(got.frames, 3);
	assert_int_equal(got.verdict, FLOW_SUM_BAD);
	give(&s, f, len, 100, false, FLOW_SUM_GOOD);
	assert_int_equal(got.verdict, FLOW_SUM_GOOD);
}

/* Of a frame whose lengths are wrong the machine judges all. */
static void test_as_it_is(void **state)
{
	static const struct shape s = {14, 20, false};
	static const struct {
		unsigned at, value;
	} wrong[] = {{16, 200}, {38, 7}, {38, 0}, {38, 300}, {16, 0}};
	uint8_t f[400];

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(wrong); i++) {
		unsigned len = frame_make(f, &s, 250);

		put_be16(f + wrong[i].at, wrong[i].value);
		give(&s, f, len, 100, false, FLOW_SUM_UNKNOWN);
		assert_int_equal(got.frames, 1);
		assert_int_equal(got.len[0], len);
		assert_int_equal(got.verdict, FLOW_SUM_UNKNOWN);
		assert_memory_equal(got.bytes, f, len);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_as_it_is),
	};
	int rc = eal_or_skip(argv[argc - 1]);

	if (rc != 0)
		return rc;
	seed = test_seed();
	pool = rte_pktmbuf_pool_create("datagrams", 1023, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
				       SOCKET_ID_ANY);
	assert_non_null(pool);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
