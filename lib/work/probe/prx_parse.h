/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a probe may lie in a frame that arrives. A walk through the headers that our sender, or a
 * device on the way, may have put in front of it finds the places where a header ends, and the
 * checksums of these headers. Plain bytes, no DPDK; nothing beyond the frame is read. */
#pragma once
#include "base.h"

#define PRX_MAX_PLACES 24
#define PRX_MAX_SUMS 16
/* Behind so many bytes, at least, an ICMP error has quoted an IP header: Ethernet, IPv4, ICMP, and
 * the IPv4 header that it quotes. */
#define PRX_QUOTED_MIN 62
#define PRX_SEARCH 256 /* a probe that no header leads to is searched in so many bytes */

/* A checksum covers the bytes from..to of the frame. Their one's complement sum, together with
 * `add` from the pseudo header, is all ones if nothing is damaged. crc32c: the bytes are an SCTP
 * packet instead, which holds its CRC32c. */
struct prx_sum {
	uint32_t from, to, add;
	bool crc32c;
};

struct prx_walk {
	unsigned nplaces, nsums;
	/* Offsets at which a header ends, the outermost header first. If there are more headers
	 * than places, these are of the innermost ones. */
	uint32_t place[PRX_MAX_PLACES];
	uint32_t payload; /* where the innermost header ends */
	/* Where the packet begins that the first ICMP error quotes (RFC 792, RFC 4443 2.4).
	 * UINT32_MAX: this is no ICMP error. */
	uint32_t quote;
	/* Where the first header begins that contradicts itself or the length of the frame.
	 * UINT32_MAX: none does. */
	uint32_t bad;
	struct prx_sum sum[PRX_MAX_SUMS];
};

/* Walks through the headers of a frame of len bytes and fills *w. */
void prx_walk(const uint8_t *frame, uint32_t len, struct prx_walk *w);

/* Is a header that begins before `at` bad, or is the checksum of one wrong? */
bool prx_damaged(const uint8_t *frame, const struct prx_walk *w, uint32_t at);

/* Does what lies at `at` belong to a packet that is only quoted: behind the quoted IP header of an
 * ICMP error that is not damaged? */
bool prx_quoted(const uint8_t *frame, const struct prx_walk *w, uint32_t at);

/* Returns true if the frame is certainly not damaged in front of `at`: prx_walk() and prx_damaged()
 * would say so too. If it returns false the frame may be damaged. It is quick for UDP over IPv4. */
bool prx_surely_whole(const uint8_t *frame, uint32_t len, uint32_t at);

/* The sum of the 16-bit words of p[0..n), taken in the order of memory and folded to 16 bits. If n
 * is odd, a zero byte follows the last one. */
uint32_t prx_add(const uint8_t *p, uint32_t n);
