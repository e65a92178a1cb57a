/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests which super-frames go to a tap as one, their headers, where their bytes lie, and by which
 * of two ways they go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "iov_pieces.h"
#include "tun_join.h"
#include "tun_way.h"

#define HEAD (14 + 20 + 32)
#define MSS 1448u
#define WHOLE (44 * MSS) /* what fits into 64 KB */

struct frame {
	struct rte_mbuf first, rest;
	uint8_t data[HEAD + 64];
};

static uint8_t filling[UINT16_MAX];

/* A super-frame of n bytes from seq on, of which the first `own` lie behind its headers. */
static void frame_make(struct frame *f, uint32_t seq, uint32_t n, uint32_t own)
{
	rte_be32_t at = rte_cpu_to_be_32(seq);
	rte_be16_t len = rte_cpu_to_be_16((uint16_t)(52 + n));

	memset(f, 0, sizeof(*f));
	f->first = (struct rte_mbuf){.buf_addr = f->data,
				     .data_len = (uint16_t)(HEAD + own),
				     .pkt_len = HEAD + n,
				     .next = n > own ? &f->rest : NULL,
				     .nb_segs = n > own ? 2 : 1,
				     .ol_flags = RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_IPV4 |
						 RTE_MBUF_F_TX_TCP_CKSUM,
				     .l2_len = 14,
				     .l3_len = 20,
				     .l4_len = 32,
				     .tso_segsz = MSS};
	f->rest = (struct rte_mbuf){.buf_addr = filling,
				    .data_len = (uint16_t)(n - own),
				    .ol_flags = RTE_MBUF_F_EXTERNAL,
				    .nb_segs = 1,
				    .hash.usr = DP_MARK_SAME};
	f->data[12] = 0x08;
	f->data[14] = 0x45;
	memcpy(f->data + 16, &len, sizeof(len));
	memcpy(f->data + 38, &at, sizeof(at));
	f->data[46] = 0x80;
	f->data[47] = RTE_TCP_ACK_FLAG;
}

static struct frame frames[10];
static struct rte_mbuf *list[10];

static void frames_make(uint32_t n, uint32_t own)
{
	for (unsigned i = 0; i < ARRAY_SIZE(frames); i++) {
		frame_make(&frames[i], UINT32_MAX - 1000 + i * n, n, own);
		list[i] = &frames[i].first;
	}
}

static void test_how_many(void **state)
{
	(void)state;
	frames_make(WHOLE, 0);
	assert_int_equal(join_count(list, 10, 4), 4);
	assert_int_equal(join_count(list, 10, 8), 8);
	assert_int_equal(join_count(list, 3, 8), 3);
	assert_int_equal(join_count(list, 1, 8), 1);
	frames[2].data[38] ^= 1; /* others come first */
	assert_int_equal(join_count(list, 10, 8), 2);
	frames_make(WHOLE, 0);
	frames[3].data[47] |= RTE_TCP_PSH_FLAG; /* the last one of a message */
	assert_int_equal(join_count(list, 10, 8), 4);
	frames[3].data[47] |= RTE_TCP_FIN_FLAG;
	assert_int_equal(join_count(list, 10, 8), 3);
	frames_make(WHOLE, 0);
	frames[0].first.ol_flags = 0;
	assert_int_equal(join_count(list, 10, 8), 1);
}

/* No more than the kernel has room for: 17 pieces. */
static void test_room(void **state)
{
	(void)state;
	assert_true(join_fits(17 * 32768u));
	assert_false(join_fits(17 * 32768u + 1));
	assert_true(join_fits(15 * 32768u + 6 * 4096u)); /* 4 and 2 pages more */
	assert_false(join_fits(15 * 32768u + 6 * 4096u + 1));
	frames_make(44 * MSS, 0); /* 8 of them: 15 pieces, and 4 pages and 1 */
	assert_int_equal(join_count(list, 10, 10), 8);
	for (unsigned i = 0; i < ARRAY_SIZE(frames); i++) {
		frame_make(&frames[i], i * 65000, 65000, 0);
		frames[i].first.tso_segsz = 1000;
	}
	assert_int_equal(join_count(list, 10, 10), 7);
}

static void test_headers(void **state)
{
	const struct rte_ipv4_hdr *ip;
	uint8_t head[JOIN_HEAD];

	(void)state;
	frames_make(2 * MSS, 0);
	frames[2].data[47] |= RTE_TCP_PSH_FLAG;
	assert_int_equal(join_heads(list, 3, head), HEAD);
	ip = (const struct rte_ipv4_hdr *)(head + 14);
	assert_int_equal(rte_be_to_cpu_16(ip->total_length), 52 + 6 * MSS);
	assert_int_equal(rte_raw_cksum(ip, sizeof(*ip)), 0xffff);
	assert_int_equal(head[47], RTE_TCP_ACK_FLAG | RTE_TCP_PSH_FLAG);
	frames_make(WHOLE, 0);
	join_heads(list, 2, head);
	assert_int_equal(ip->total_length, 0);
}

static uint32_t bytes_of(const struct iovec *iov, unsigned n)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += (uint32_t)iov[i].iov_len;
	return sum;
}

static void test_pieces(void **state)
{
	struct iovec iov[128];
	unsigned n;

	(void)state;
	frames_make(WHOLE, 0);
	n = pieces_of(list[0], iov, 128);
	assert_int_equal(n, 1 + 8);
	assert_int_equal(bytes_of(iov, n), HEAD + WHOLE);
	assert_int_equal(pieces_of(list[0], iov, 8), 0);
	/* the filling of one goes on in the next: nothing but its last piece is short */
	n = pieces_add(list[0], HEAD, iov, 0, 128);
	n = pieces_add(list[1], HEAD, iov, n, 128);
	assert_int_equal(n, (2 * WHOLE + SAME_BYTES - 1) / SAME_BYTES);
	assert_int_equal(bytes_of(iov, n), 2 * WHOLE);
	for (unsigned i = 0; i < n; i++) {
		assert_ptr_equal(iov[i].iov_base, filling);
		assert_true(i == n - 1 || iov[i].iov_len == SAME_BYTES);
	}
	assert_int_equal(pieces_add(list[2], HEAD, iov, n, n + 7), 0);
	/* bytes of its own stand in front of it */
	frames_make(WHOLE, 10);
	n = pieces_add(list[0], HEAD, iov, 0, 128);
	n = pieces_add(list[1], HEAD, iov, n, 128);
	assert_int_equal(n, 2 * (1 + 8));
	assert_ptr_equal(iov[9].iov_base, frames[1].data + HEAD);
	assert_int_equal(iov[9].iov_len, 10);
	assert_int_equal(bytes_of(iov, n), 2 * WHOLE);
}

#define WINDOW 1000u

/* So many windows of full sending, of which each way carries so much. Returns how many of them had
 * the second way. */
static unsigned windows(struct tun_way *w, uint64_t *now, unsigned n, unsigned first,
			unsigned second)
{
	unsigned count = 0;

	for (unsigned i = 0; i < n; i++, *now += WINDOW) {
		bool way = way_now(w, *now);
		way_sent(w, way ? second : first);
		count += way;
	}
	return count;
}

static void test_ways(void **state)
{
	uint64_t now = 5000;
	struct tun_way w;

	(void)state;
	way_init(&w, WINDOW);
	/* the slower one is tried, and left */
	assert_int_equal(windows(&w, &now, WAY_FIRST, 100, 60), 0);
	assert_int_equal(windows(&w, &now, 1, 100, 60), 1);
	assert_int_equal(windows(&w, &now, WAY_EVERY, 100, 60), 0);
	assert_int_equal(windows(&w, &now, 1, 100, 60), 1);
	/* one that is no better, too */
	assert_int_equal(windows(&w, &now, WAY_EVERY, 100, 110), 0);
	assert_int_equal(windows(&w, &now, 1, 100, 110), 1);
	/* a better one is kept, and left again when the receiver has changed */
	assert_int_equal(windows(&w, &now, WAY_EVERY, 100, 140), 0);
	assert_int_equal(windows(&w, &now, 1, 100, 140), 1);
	assert_int_equal(windows(&w, &now, WAY_EVERY, 100, 140), WAY_EVERY);
	assert_int_equal(windows(&w, &now, 1, 100, 140), 0);
	assert_int_equal(windows(&w, &now, WAY_EVERY, 100, 60), WAY_EVERY);
	assert_int_equal(windows(&w, &now, 1, 100, 60), 0);
	assert_int_equal(windows(&w, &now, WAY_EVERY, 100, 60), 0);
	/* a pause tells nothing of the way that had its trial in it */
	assert_int_equal(windows(&w, &now, 1, 100, 140), 1);
	now += 10 * WINDOW;
	assert_int_equal(windows(&w, &now, 1, 100, 140), 1);
	assert_int_equal(windows(&w, &now, 2 * WAY_EVERY, 100, 140), 2 * WAY_EVERY - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_how_many), cmocka_unit_test(test_room),
		cmocka_unit_test(test_headers),  cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
