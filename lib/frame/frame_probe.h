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
 * by less than 1 / 2^14 of itself. Frames are never early.
 *
 * All arithmetic of probes is here. A probe is handled as two words of 64 bits in host order, hi
 * and lo. Several probes at once are vectors of such words, so what words and vectors need alike is
 * a macro. */
#pragma once
#include <endian.h>
#include <string.h>
#include "base.h"
#include "count.h"

#define PROBE_LEN 16
#define PROBE_SUM 0x5752u
#define PROBE_PORTS 32
#define PROBE_QUEUES 64
#define PROBE_STREAMS 8191
#define PROBE_NONE 8191u
#define PROBE_SENT_BITS 36
#define PROBE_SENT_MASK ((1ull << PROBE_SENT_BITS) - 1)
#define PROBE_MANT_BITS 15
#define PROBE_MANT_MASK ((1u << PROBE_MANT_BITS) - 1)
#define PROBE_EXP_MAX 31

/* Where a field begins in hi or in lo, as a number of bits from the right. exp and sent begin at
 * 0. */
#define PROBE_HI_CHECK 48
#define PROBE_HI_SEQ 16
#define PROBE_HI_PORT 11
#define PROBE_HI_QUEUE 5
#define PROBE_LO_STREAM 51
#define PROBE_LO_MANT PROBE_SENT_BITS

/* The fields of words, or of vectors of words. In seq only the lower 32 bits count. */
#define PROBE_SEQ(hi) ((hi) >> PROBE_HI_SEQ)
#define PROBE_PORT(hi) ((hi) >> PROBE_HI_PORT & (PROBE_PORTS - 1))
#define PROBE_QUEUE(hi) ((hi) >> PROBE_HI_QUEUE & (PROBE_QUEUES - 1))
#define PROBE_STREAM(lo) ((lo) >> PROBE_LO_STREAM)
#define PROBE_DELAY(hi, lo) (((lo) >> PROBE_LO_MANT & PROBE_MANT_MASK) << ((hi)&PROBE_EXP_MAX))
/* The cycles from sending until `now`, mod 2^36. */
#define PROBE_TRANSIT(now, lo) (((now) - (lo)) & PROBE_SENT_MASK)
/* The parts of a delay's code, as they lie in hi and in lo. */
#define PROBE_CODE_HI(code) ((code) >> PROBE_MANT_BITS)
#define PROBE_CODE_LO(code) (((code)&PROBE_MANT_MASK) << PROBE_LO_MANT)

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

/* The sum of these words and of what PROBE_SUM lacks to 0xffff, folded to 1..0xffff. What it lacks
 * to 0xffff is the check that belongs to them. */
static inline uint32_t probe_rest(uint64_t hi, uint64_t lo)
{
	uint32_t s = probe_sum64(hi) + probe_sum64(lo) + (0xffffu - PROBE_SUM);

	s = (s & 0xffff) + (s >> 16);
	return (s & 0xffff) + (s >> 16);
}

/* Returns hi with the check that belongs to it and lo. Its own bits of the check are 0 before. */
static inline uint64_t probe_checked(uint64_t hi, uint64_t lo)
{
	return hi | (uint64_t)(probe_rest(hi, lo) ^ 0xffff) << PROBE_HI_CHECK;
}

/* True if the check is right. */
static inline bool probe_right(uint64_t hi, uint64_t lo)
{
	return (probe_sum64(hi) + probe_sum64(lo)) % 65535 == PROBE_SUM;
}

/* How often a delay is halved, so that it fits into mant. It does not fit at all above
 * PROBE_EXP_MAX. */
static inline unsigned probe_exp(uint64_t delay)
{
	unsigned bits = 64 - (unsigned)__builtin_clzll(delay | 1);

	return bits > PROBE_MANT_BITS ? bits - PROBE_MANT_BITS : 0;
}

/* The code of a delay that has this exponent: exp and mant as one number. */
static inline uint64_t probe_code_of(unsigned exp, uint64_t delay)
{
	return (uint64_t)exp << PROBE_MANT_BITS | delay >> exp;
}

/* The code of a delay of so many cycles. One that is too long for the field gets the longest. */
static inline uint64_t probe_delay_code(uint64_t delay)
{
	unsigned exp = probe_exp(delay);

	if (__builtin_expect(exp > PROBE_EXP_MAX, 0))
		return (uint64_t)PROBE_EXP_MAX << PROBE_MANT_BITS | PROBE_MANT_MASK;
	return probe_code_of(exp, delay);
}

/* The code of a delay that is below 0 if the frame is early, which counts as 0. */
static inline uint64_t probe_late_code(uint64_t delay)
{
	return probe_delay_code((int64_t)delay > 0 ? delay : 0);
}

/* What all probes of a port and Tx queue have in hi. */
static inline uint64_t probe_from(unsigned port, unsigned queue)
{
	return (uint64_t)port << PROBE_HI_PORT | (uint64_t)queue << PROBE_HI_QUEUE;
}

/* The words of a probe. */
static inline uint64_t probe_lo(unsigned stream, uint64_t delay_code, uint64_t sent)
{
	return (uint64_t)stream << PROBE_LO_STREAM | PROBE_CODE_LO(delay_code) |
	       (sent & PROBE_SENT_MASK);
}
static inline uint64_t probe_hi(uint32_t seq, unsigned port, unsigned queue, uint64_t delay_code,
				uint64_t lo)
{
	return probe_checked((uint64_t)seq << PROBE_HI_SEQ | probe_from(port, queue) |
				     PROBE_CODE_HI(delay_code),
			     lo);
}

static inline uint64_t probe_delay(uint64_t hi, uint64_t lo)
{
	return PROBE_DELAY(hi, lo);
}

static inline struct probe probe_of(uint64_t hi, uint64_t lo)
{
	return (struct probe){.seq = (uint32_t)PROBE_SEQ(hi),
			      .port = (uint8_t)PROBE_PORT(hi),
			      .queue = (uint8_t)PROBE_QUEUE(hi),
			      .stream = (uint16_t)PROBE_STREAM(lo),
			      .sent = lo & PROBE_SENT_MASK,
			      .delay = probe_delay(hi, lo)};
}

/* Writes a probe to p. The check is added to hi. */
static inline void probe_put(uint8_t *p, uint64_t hi, uint64_t lo)
{
	uint64_t be[2] = {htobe64(probe_checked(hi, lo)), htobe64(lo)};

	memcpy(p, be, sizeof(be));
}

/* Writes the next probe of a stream to p, and takes its number from *seq. hi is probe_from(), lo
 * the time at which the frame leaves. */
static inline void probe_put_next(uint8_t *p, uint64_t hi, uint64_t lo, unsigned stream,
				  uint64_t code, cell_t *seq)
{
	uint64_t n = cell_get(seq);

	cell_set(seq, n + 1);
	probe_put(p, hi | (uint64_t)(uint32_t)n << PROBE_HI_SEQ | PROBE_CODE_HI(code),
		  lo | (uint64_t)stream << PROBE_LO_STREAM | PROBE_CODE_LO(code));
}
