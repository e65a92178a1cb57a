/* SPDX-License-Identifier: BSD-3-Clause */
/* The probe: 16 bytes at the begin of the payload that say which frame this is and when it was to leave. Both halves of the program and the
 * dissector in examples/ read it by these rules; the fields are in lib/proto/probe.c, a header of its own that is put behind the stack of a stream
 * with probes. Most significant bit first, network byte order:
 *
 *	bits   0..15  check     makes the one's complement sum of the 8 words PROBE_SUM: probe and magic in one. A sum of what lies around does
 *	                        not depend on what the probe says, so that a frame is stamped when its checksums are already right
 *	bits  16..47  seq       probes of this (port, stream, Tx queue) before this one, mod 2^32
 *	bits  48..52  port      0..31
 *	bits  53..58  queue     Tx queue, 0..63
 *	bits  59..63  exp       of the send delay: delay = mant << exp
 *	bits  64..76  stream    number of the stream (control's cell); PROBE_NONE: room that holds no probe
 *	bits  77..91  mant
 *	bits  92..127 sent      TSC of the sender when the frame was handed to the device, mod 2^36
 *
 * The frame was to leave at sent - delay. Cycles, not ns: the clock is known better each second, cycles do not change.
 * A delay of 2^15 cycles and more is known to 1 / 2^14 of itself, rounded down; early frames do not exist. */
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

struct probe { uint32_t seq; uint16_t stream; uint8_t port, queue; uint64_t sent, delay; }; /* sent mod 2^36; cycles */

/* The sum of the four 16-bit words of a number, folded once; order of bytes does not matter to whether sums are equal mod 65535. */
static inline uint32_t probe_sum64(uint64_t v)
{
	uint64_t s = (v & 0xffff0000ffffull) + (v >> 16 & 0xffff0000ffffull);

	return (uint32_t)(s + (s >> 32)) & 0x3ffff;
}

static inline uint64_t probe_delay_code(uint64_t delay) /* exp << 15 | mant */
{
	unsigned bits = 64 - (unsigned)__builtin_clzll(delay | 1), exp = bits > 15 ? bits - 15 : 0;

	if (__builtin_expect(exp > 31, 0))
		return 31ull << 15 | 0x7fff;
	return (uint64_t)exp << 15 | delay >> exp;
}

/* Both words in host order; to memory as big-endian. */
static inline uint64_t probe_hi(uint32_t seq, unsigned port, unsigned queue, uint64_t delay_code, uint64_t lo)
{
	uint64_t hi = (uint64_t)seq << 16 | (uint64_t)port << 11 | (uint64_t)queue << 5 | delay_code >> 15;
	uint32_t sum = probe_sum64(hi) + probe_sum64(lo);
	uint32_t check = PROBE_SUM + 8 * 65535 - sum; /* sums are below 2 x 2^18 */

	return hi | (uint64_t)(check % 65535) << 48;
}
static inline uint64_t probe_lo(unsigned stream, uint64_t delay_code, uint64_t sent)
{
	return (uint64_t)stream << 51 | (delay_code & 0x7fff) << 36 | (sent & PROBE_SENT_MASK);
}

static inline bool probe_right(uint64_t hi, uint64_t lo)
{
	return (probe_sum64(hi) + probe_sum64(lo)) % 65535 == PROBE_SUM;
}

static inline uint64_t probe_delay(uint64_t hi, uint64_t lo) { return (lo >> 36 & 0x7fff) << (hi & 31); }

static inline struct probe probe_of(uint64_t hi, uint64_t lo)
{
	return (struct probe){.seq = (uint32_t)(hi >> 16), .port = (uint8_t)(hi >> 11 & 31), .queue = (uint8_t)(hi >> 5 & 63),
			      .stream = (uint16_t)(lo >> 51), .sent = lo & PROBE_SENT_MASK, .delay = probe_delay(hi, lo)};
}
