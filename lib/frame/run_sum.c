/* SPDX-License-Identifier: BSD-3-Clause */
/* Checksums, computed from the bytes that they cover. */
#include "frame_run.h"
#include "run_bits.h"

#include <string.h>

/* The sum of 16-bit words (RFC 1071), not yet folded. A zero byte is added to an odd last byte. */
static uint64_t sum_words(const uint8_t *p, unsigned n)
{
	uint64_t sum = 0;

	for (; n >= 2; p += 2, n -= 2)
		sum += (uint64_t)p[0] << 8 | p[1];
	return n != 0 ? sum + ((uint64_t)p[0] << 8) : sum;
}

uint16_t recipe_rfc1071(const struct frame_sum *s, const uint8_t *frame)
{
	uint64_t sum = sum_words(frame + s->from, s->to - s->from);

	if (s->alen != 0)
		sum += sum_words(frame + s->src, s->alen) + sum_words(frame + s->dst, s->alen);
	sum += s->pseudo;
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	sum = ~sum & 0xffff;
	return sum == 0 && s->zero_is_none ? 0xffff : (uint16_t)sum;
}

void recipe_sum(const struct frame_sum *s, uint8_t *frame)
{
	uint8_t *field = frame + s->off;

	if (s->crc32c) {
		memset(field, 0, 4);
		uint32_t crc = ~frun_crc32c(UINT32_MAX, frame + s->from, s->to - s->from);
		for (unsigned i = 0; i < 4; i++)
			field[i] = (uint8_t)(crc >> 8 * i);
		return;
	}
	memset(field, 0, 2);
	uint16_t v = recipe_rfc1071(s, frame);
	field[0] = (uint8_t)(v >> 8);
	field[1] = (uint8_t)v;
}
