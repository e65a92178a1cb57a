/* SPDX-License-Identifier: BSD-3-Clause */
/* The probe: 16 bytes at the beginning of the payload that say which frame this is and when it was
 * to leave. Sender, receiver and the dissector in examples/ follow these rules. The fields are also
 * in lib/proto/proto_probe.c, as a header that is put behind the stack of a stream with probes.
 * Network byte order, the most significant bit first:
 *
 *	bits   0..15  check     makes the one's complement sum of the 8 words PROBE_SUM. It marks
 *	                        the bytes as a probe and protects them. Since the sum is always the
 *	                        same, the checksums around a probe do not depend on what it says,
 *	                        and a frame can be stamped when they are already right
 *	bits  16..47  seq       probes of this (port, stream, Tx queue) before this one, mod 2^32
 *	bits  48..52  port      0..31
 *	bits  53..58  queue     Tx queue, 0..63
 *	bits  59..63  exp       of the send delay: delay = mant << exp
 *	bits  64..76  stream    number of the stream (control's cell); PROBE_NONE: room, no probe
 *	bits  77..91  mant      of the send delay
 *	bits  92..127 sent      TSC of the sender when it handed the frame to the device, mod 2^36
 *
 * The frame was to leave at sent - delay. Both are cycles and not ns, because control knows the
 * clock better each second, and cycles do not change. From 2^15 cycles on a delay is rounded down,
 * by less than 1 / 2^14 of itself. Frames are never early. */
#pragma once
#include <string.h>
#include "base.h"

#define PROBE_LEN 16
#define PROBE_SUM 0x5752u
#define PROBE_PORTS 32
#define PROBE_QUEUES 64
#define PROBE_STREAMS 8191
#define PROBE_NONE 8191u
#define PROBE_SENT_BITS 36
#define PROBE_SENT_MASK ((1ull << PROBE_SENT_BITS) - 1)

/* sent mod 2^36; cycles */
struct probe {
	uint32_t seq;
	uint16_t stream;
	uint8_t port, queue;
	uint64_t sent, delay;
};

/* The sum of the four 16-bit words of v, folded once. Byte order does not matter for the question
 * whether two such sums are equal mod 65535. */
static inline uint32_t probe_sum64(uint64_t v)
{
	uint64_t s = (v & 0xffff0000ffffull) + (v >> 16 & 0xffff0000ffffull);

	return (uint32_t)(s + (s >> 32)) & 0x3ffff;
}

static inline uint64_t probe_delay_code(uint64_t delay) /* gives exp << 15 | mant */
{
	unsigned bits = 64 - (unsigned)__builtin_clzll(delay | 1), exp = bits > 15 ? bits - 15 : 0;

	if (__builtin_expect(exp > 31, 0))
		return 31ull << 15 | 0x7fff;
	return (uint64_t)exp << 15 | delay >> exp;
}

/* The two words of a probe in host order. In memory they are big-endian. */
static inline uint64_t probe_hi(uint32_t seq, unsigned port, unsigned queue, uint64_t delay_code,
				uint64_t lo)
{
	uint64_t hi = (uint64_t)seq << 16 | (uint64_t)port << 11 | (uint64_t)queue << 5 |
		      delay_code >> 15;
	uint32_t sum = probe_sum64(hi) + probe_sum64(lo);
	uint32_t check = PROBE_SUM + 8 * 65535 - sum; /* sums are below 2 x 2^18 */

	return hi | (uint64_t)(check % 65535) << 48;
}
static inline uint64_t probe_lo(unsigned stream, uint64_t delay_code, uint64_t sent)
{
	return (uint64_t)stream << 51 | (delay_code & 0x7fff) << 36 | (sent & PROBE_SENT_MASK);
}

/* True if the check word is right. */
static inline bool probe_right(uint64_t hi, uint64_t lo)
{
	return (probe_sum64(hi) + probe_sum64(lo)) % 65535 == PROBE_SUM;
}

static inline uint64_t probe_delay(uint64_t hi, uint64_t lo)
{
	return (lo >> 36 & 0x7fff) << (hi & 31);
}

static inline struct probe probe_of(uint64_t hi, uint64_t lo)
{
	return (struct probe){.seq = (uint32_t)(hi >> 16),
			      .port = (uint8_t)(hi >> 11 & 31),
			      .queue = (uint8_t)(hi >> 5 & 63),
			      .stream = (uint16_t)(lo >> 51),
			      .sent = lo & PROBE_SENT_MASK,
			      .delay = probe_delay(hi, lo)};
}
