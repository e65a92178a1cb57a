/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a probe may lie in a frame that arrives: a walk through the headers that a sender of ours or a device between may have put in front of it,
 * and their checksums. Plain bytes, no DPDK; reads nothing beyond the frame. */
#pragma once
#include "base.h"

#define PRX_MAX_PLACES 24
#define PRX_MAX_SUMS 16
#define PRX_SEARCH 256 /* bytes in which a probe is looked for where no header leads to it */

/* Bytes whose one's complement sum, with what the pseudo header adds, is all ones when nothing is damaged; or an SCTP packet, whose CRC32c is
 * in it. */
struct prx_sum { uint32_t from, to, add; bool crc32c; };

struct prx_walk {
	unsigned nplaces, nsums;
	uint32_t place[PRX_MAX_PLACES]; /* where a header ends, outermost first; of more headers the innermost ones */
	uint32_t payload;               /* behind the innermost header */
	uint32_t bad;                   /* where a header begins that contradicts itself or the frame's length; UINT32_MAX: none does */
	struct prx_sum sum[PRX_MAX_SUMS];
};

void prx_walk(const uint8_t *frame, uint32_t len, struct prx_walk *w);

/* Is some checksum of a header in front of `at` wrong, or the header itself? */
bool prx_damaged(const uint8_t *frame, const struct prx_walk *w, uint32_t at);

/* false: perhaps; true: it is not, that is, prx_damaged() after prx_walk() would say so of a frame of len bytes. Quick for UDP in IPv4. */
bool prx_surely_whole(const uint8_t *frame, uint32_t len, uint32_t at);

/* The 16-bit words of p[0..n) in the order of memory, added up and folded to 16 bits; an odd last byte with a zero behind it. */
uint32_t prx_add(const uint8_t *p, uint32_t n);
