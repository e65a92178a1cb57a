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

/* The pieces of a frame. Returns how many they are; 0: more than n. */
static inline unsigned pieces_of(const struct rte_mbuf *m, struct iovec *iov, unsigned n)
{
	unsigned k = 0;

	for (; m != NULL; m = m->next) {
		uint32_t left = m->data_len, most = pieces_same(m) ? SAME_BYTES : left;

		do {
			if (unlikely(k == n))
				return 0;
			iov[k] = (struct iovec){rte_pktmbuf_mtod(m, void *), RTE_MIN(left, most)};
			left -= (uint32_t)iov[k++].iov_len;
		} while (left > 0);
	}
	return k;
}
