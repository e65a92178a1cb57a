/* SPDX-License-Identifier: BSD-3-Clause */
/* A frame that changes: its template and what varies in it. frame_compile() (frame.h) makes a
 * recipe, and the worker's half (frame_run.h) reads it. Plain data, immutable. */
#pragma once
#include "vary.h"

struct frame_var {
	uint32_t bit;  /* offset in the frame, bit 0 = most significant of byte 0 */
	uint16_t bits; /* 1..128 */
	struct vary v; /* seeds are final; v.list is owned by the recipe */
	uint64_t id;   /* equal in two recipes: the same field changes in the same way */
};

/* A checksum that the builder fills in. */
struct frame_sum {
	uint16_t off; /* first byte of its field */
	/* 4 bytes, little endian (RFC 9260 appendix A); else 2 bytes, RFC 1071 */
	bool crc32c;
	bool zero_is_none;       /* 0 is sent as 0xffff */
	uint16_t from, to;       /* bytes covered */
	uint16_t src, dst, alen; /* pseudo header: offsets of addresses, their length; 0: none */
	uint32_t pseudo;         /* pseudo header: the sum of its other words (length, protocol) */
};

/* A frame and what changes in it. Take sum c (not a crc): the one's complement sum of all that it
 * covers, with its own field counted as 0. It is congruent mod 65535 to a constant plus the sum
 * over all variations v of coef[c * nvars + v] * V, where V is the number in the bits of v. Where c
 * covers another checksum, what that one contributes is in these coefficients. */
struct frame_recipe {
	uint16_t len, hdr_len; /* bytes without FCS; of these, before the payload */
	uint8_t *bytes;        /* the frame of ordinal 0 */
	uint16_t nvars, nsums;
	struct frame_var *var; /* in ascending order of bit */
	struct frame_sum *sum; /* the inner before the outer */
	uint16_t *coef;        /* [nsums * nvars] */
	/* coef holds for all sums. False: a crc covers what varies, variations overlap, a sum
	 * covers only a part of one, or all that it covers may be 0. Then all sums are computed
	 * anew for each frame. */
	bool linear;
	bool random_payload;
	uint64_t fill_seed;
	/* Where there is room for a probe; 0: no room. In `bytes` it holds PROBE_NONE. Its check
	 * word keeps all checksums the same, whatever it says, except a crc. */
	uint16_t probe_off;
	uint32_t probe_every; /* one of so many frames has one */
	/* [nsums]: the same as coef for random_payload, whose number V is the sum of its words,
	 * counted from its first byte. */
	uint16_t *pay_coef;
	/* What a NIC could fill in itself, if the frame is eth[/vlan..]/ip/udp|tcp and nothing
	 * more, with checksums that the user has not set. */
	bool offload, offload_ip4, offload_ip6, offload_udp, offload_tcp;
	uint16_t l2_len, l3_len, l4_len;
};

/* Writes the frame of ordinal o, recipe->len bytes. This is the plain way, which is slow, and by
 * which all faster ways are judged. */
void frame_recipe_at(const struct frame_recipe *recipe, uint64_t o, uint8_t *out);
/* Computes a checksum over the bytes of a frame and writes it into its field. */
void recipe_sum(const struct frame_sum *s, uint8_t *frame);

/* The random payload of the frame with ordinal o is block[w .. w + n), where w = o *
 * FRAME_RANDOM_STEP mod FRAME_RANDOM_WINDOWS. */
#define FRAME_RANDOM_WINDOWS 65536
#define FRAME_RANDOM_STEP 40503
#define FRAME_RANDOM_BLOCK (FRAME_RANDOM_WINDOWS + 16384)
/* Makes the block of a seed in out, FRAME_RANDOM_BLOCK bytes: byte 4 i + b is byte b, the most
 * significant one first, of r32(seed, 0, i) (vary.h). */
void frame_random_block(uint64_t seed, uint8_t *out);
