/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers with a seed, and bits and checksums of a frame made in the plain way. Tests
 * compare these with what the faster code makes. */
#pragma once
#include <string.h>

#include "frame_recipe.h"

static uint64_t seed;

static uint64_t rnd(void)
{
	seed += 0x9e3779b97f4a7c15ull;
	return vary_key(seed, 0, 0);
}

static uint64_t below(uint64_t n)
{
	return rnd() % n;
}

static vary_u wide(unsigned bits)
{
	vary_u v = (vary_u)rnd() << 64 | rnd();

	return bits < 128 ? v & (((vary_u)1 << bits) - 1) : v;
}

/* ---- the plain way ---- */

static uint32_t words(const uint8_t *p, unsigned n)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += (uint32_t)p[i] << (i % 2 == 0 ? 8 : 0);
	return sum;
}

/* Puts the bits of v, highest first, from a bit of the frame on. */
static void put(uint8_t *b, uint32_t bit, unsigned bits, vary_u v)
{
	for (unsigned i = 0; i < bits; i++) {
		uint32_t at = bit + bits - 1 - i;
		uint8_t m = (uint8_t)(0x80 >> at % 8);
		b[at / 8] = (uint8_t)((b[at / 8] & ~m) | (v >> i & 1 ? m : 0));
	}
}

/* Puts a checksum: CRC-32C, or the one of RFC 1071. */
static void put_sum(const struct frame_sum *s, uint8_t *b)
{
	uint64_t sum;

	if (s->crc32c) {
		uint32_t crc = UINT32_MAX;
		memset(b + s->off, 0, 4);
		for (unsigned i = s->from; i < s->to; i++)
			for (unsigned bit = 0; bit < 8; bit++)
				crc = crc >> 1 ^ ((crc ^ b[i] >> bit) & 1 ? 0x82f63b78u : 0);
		for (unsigned i = 0; i < 4; i++)
			b[s->off + i] = (uint8_t)(~crc >> 8 * i);
		return;
	}
	memset(b + s->off, 0, 2);
	sum = (uint64_t)words(b + s->from, s->to - s->from) + s->pseudo;
	if (s->alen != 0)
		sum += words(b + s->src, s->alen) + words(b + s->dst, s->alen);
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	sum = ~sum & 0xffff;
	if (sum == 0 && s->zero_is_none)
		sum = 0xffff;
	put(b, 8u * s->off, 16, sum);
}
