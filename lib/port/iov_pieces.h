/* SPDX-License-Identifier: BSD-3-Clause */
/* A frame as the kernel is given it: where its bytes lie. Any thread. */
#pragma once
#include <sys/uio.h>

#include "dp.h"

/* A buffer whose bytes are all the same (DP_MARK_SAME) is given as few of them, again and again:
 * most of what a super-frame costs is the copy into the kernel. */
#define SAME_BYTES 8192u /* a quarter of the nearest cache of usual CPUs */
#define SAME_PIECES (UINT16_MAX / SAME_BYTES + 1)

/* Such filling is memory of its own, and comes last. */
static inline bool pieces_same(const struct rte_mbuf *m)
{
	return m->data_len > SAME_BYTES && RTE_MBUF_HAS_EXTBUF(m) && m->hash.usr == DP_MARK_SAME &&
	       m->next == NULL;
}

/* Adds the pieces of a frame, but for its first `skip` bytes, which lie in its first buffer, behind
 * k pieces that are there. Filling that goes on where the frame before ended continues its last
 * piece. Returns how many there are then; 0: more than n. */
static inline unsigned pieces_add(const struct rte_mbuf *m, uint32_t skip, struct iovec *iov,
				  unsigned k, unsigned n)
{
	for (; m != NULL; m = m->next, skip = 0) {
		uint8_t *at = rte_pktmbuf_mtod_offset(m, uint8_t *, skip);
		uint32_t left = m->data_len - skip, most = left;

		if (pieces_same(m)) {
			most = SAME_BYTES;
			if (k > 0 && iov[k - 1].iov_base == at && iov[k - 1].iov_len < most)
				left += (uint32_t)iov[--k].iov_len;
		}
		while (left > 0) {
			if (unlikely(k == n))
				return 0;
			iov[k] = (struct iovec){at, RTE_MIN(left, most)};
			left -= (uint32_t)iov[k++].iov_len;
		}
	}
	return k;
}

/* The pieces of a frame. Returns how many they are; 0: more than n, or it has no bytes. */
static inline unsigned pieces_of(const struct rte_mbuf *m, struct iovec *iov, unsigned n)
{
	return pieces_add(m, 0, iov, 0, n);
}
