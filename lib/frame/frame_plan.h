/* SPDX-License-Identifier: BSD-3-Clause */
/* A frame that changes: the template and what moves in it. Made by frame_compile() (frame.h), read by the worker's half (frame_run.h). Plain
 * data, immutable. */
#pragma once
#include "vary.h"

struct frame_var {
	uint32_t bit;            /* offset in the frame, bit 0 = most significant of byte 0 */
	uint16_t bits;           /* 1..128 */
	struct vary v;           /* seeds are final; v.list is owned by the plan */
	uint64_t id;             /* equal in two plans: the same field changes in the same way */
};

/* A checksum that the builder fills in. */
struct frame_sum {
	uint16_t off;            /* of its field */
	bool crc32c;             /* 4 bytes, little endian (RFC 9260 appendix A); else 2 bytes, RFC 1071 */
	bool zero_is_none;       /* 0 is sent as 0xffff */
	uint16_t from, to;       /* bytes covered */
	uint16_t src, dst, alen; /* pseudo header: offsets of the addresses and their length; alen 0: none */
	uint32_t pseudo;         /* and the sum of its other words (length, protocol) */
};

/* A frame and what changes in it. With V the number in var v's bits, the one's complement sum that sum c (no crc) covers, its own field
 * counted as 0, is congruent mod 65535 to const + sum over v of coef[c * nvars + v] * V; a checksum inside the bytes that another one
 * covers is in these coefficients. */
struct frame_plan {
	uint16_t len, hdr_len;   /* without FCS; where the payload begins */
	uint8_t *bytes;          /* the frame of ordinal 0 */
	uint16_t nvars, nsums;
	struct frame_var *var;   /* in ascending order of bit */
	struct frame_sum *sum;   /* the inner before the outer */
	uint16_t *coef;
	bool linear;             /* coef holds for all sums; false: a crc is among what varies covers, or bits of a sum vary: compute anew */
	bool random_payload;
	uint64_t fill_seed;
	uint16_t probe_off;      /* room for a probe, which holds PROBE_NONE; 0: none. No other checksum depends on what it says, a crc apart */
	uint32_t probe_every;    /* one of so many frames has one */
	uint16_t *pay_coef;      /* random_payload: what the sum of the payload's words, taken from its first byte, adds to each sum */
	/* What a NIC could fill in itself: eth[/vlan..]/ip/udp|tcp alone, checksums not set by the user. */
	bool offload, offload_ip4, offload_ip6, offload_udp, offload_tcp;
	uint16_t l2_len, l3_len, l4_len;
};

/* The frame of ordinal o by the plain way, slow: what every faster way is judged by. out: plan->len bytes. */
void frame_plan_at(const struct frame_plan *plan, uint64_t o, uint8_t *out);
/* Compute a checksum over the bytes of a frame and write it there. */
void plan_sum(const struct frame_sum *s, uint8_t *frame);

/* The payload of the frame with ordinal o is block[w .. w + n), w = o * FRAME_RANDOM_STEP mod FRAME_RANDOM_WINDOWS. */
#define FRAME_RANDOM_WINDOWS 65536
#define FRAME_RANDOM_STEP 40503
#define FRAME_RANDOM_BLOCK (FRAME_RANDOM_WINDOWS + 16384)
/* Byte 4 i + b of the block is byte b, most significant first, of r32(seed, 0, i) (vary.h). out: FRAME_RANDOM_BLOCK bytes. */
void frame_random_block(uint64_t seed, uint8_t *out);
