/* SPDX-License-Identifier: BSD-3-Clause */
/* The workers' half of capture files: one Enhanced Packet Block of pcapng (draft-ietf-opsawg-pcapng
 * section 4.3) is written into memory that somebody has prepared, and blocks in memory are walked.
 * Inline, without calls. Numbers are in the order of the machine, as the format has it.
 *
 * A block has a header, the frame, zeros up to a multiple of 4, the options epb_flags and
 * epb_queue, the end of the options, and its length once more:
 *
 *	bytes  0..27  type, length, interface, stamp (high word first), captured and original length
 *	bytes 28..    frame, padded
 *	then   16     epb_flags, epb_queue
 *	then    4     end of options
 *	then    4     length
 *
 * So its size follows from the captured length alone. The frame's bytes are copied by the caller to
 * PCAPIO_EPB_HEAD behind the block's begin, before or behind pcapio_epb_put(). Before it, the copy
 * may go beyond the frame's end as far as the block does: what it leaves there is written over. */
#pragma once
#include <string.h>
#include "base.h"

#define PCAPIO_EPB 6u       /* the block's type */
#define PCAPIO_EPB_HEAD 28u /* bytes before the frame */
#define PCAPIO_EPB_TAIL 24u /* bytes behind the padded frame */
#define PCAPIO_EPB_OPTIONS 16u

/* Which way a frame went, in the two lowest bits of epb_flags (section 4.3.1). */
#define PCAPIO_INBOUND 1u
#define PCAPIO_OUTBOUND 2u
#define PCAPIO_DIRECTION 3u /* a mask */

/* What the blocks of one interface, queue and direction have alike. */
struct pcapio_epb {
	uint32_t options[PCAPIO_EPB_OPTIONS / 4];
	uint32_t interface;
};

static inline uint32_t pcapio_word(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline void pcapio_put_word(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, sizeof(v));
}

/* Everything in a file of pcapng is padded to 4 bytes. */
static inline size_t pcapio_padded(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/* The two halves of an option's first word, which are 16 bits each: its code and the bytes of its
 * value. */
static inline uint32_t pcapio_option_word(uint16_t code, uint16_t bytes)
{
	const uint16_t half[2] = {code, bytes};
	uint32_t v;

	memcpy(&v, half, sizeof(v));
	return v;
}

/* Prepares a template. interface: the number of its Interface Description Block in the section.
 * flags: PCAPIO_INBOUND or PCAPIO_OUTBOUND, and other bits of epb_flags. */
static inline void pcapio_epb_init(struct pcapio_epb *t, uint32_t interface, uint32_t flags,
				   uint32_t queue)
{
	*t = (struct pcapio_epb){
		.options = {pcapio_option_word(2, 4), flags, pcapio_option_word(6, 4), queue},
		.interface = interface,
	};
}

/* The bytes of a block with so many captured bytes: always a multiple of 4. */
static inline uint32_t pcapio_epb_size(uint32_t caplen)
{
	return PCAPIO_EPB_HEAD + (uint32_t)pcapio_padded(caplen) + PCAPIO_EPB_TAIL;
}

/* Writes a block at `at`, all but the frame, and returns its size. There must be room for it.
 * stamp: when the frame went, in units of the interface (ns where pcapio.h wrote the description);
 * something else may stand there until pcapio_epb_restamp() is called. origlen >= caplen: the
 * frame's length before it was cut. */
static inline uint32_t pcapio_epb_put(const struct pcapio_epb *t, uint8_t *at, uint64_t stamp,
				      uint32_t caplen, uint32_t origlen)
{
	uint32_t size = pcapio_epb_size(caplen);
	uint8_t *tail = at + size - PCAPIO_EPB_TAIL;

	pcapio_put_word(at, PCAPIO_EPB);
	pcapio_put_word(at + 4, size);
	pcapio_put_word(at + 8, t->interface);
	pcapio_put_word(at + 12, (uint32_t)(stamp >> 32));
	pcapio_put_word(at + 16, (uint32_t)stamp);
	pcapio_put_word(at + 20, caplen);
	pcapio_put_word(at + 24, origlen);
	/* The padding is zeros. One word that begins where the frame ends reaches beyond it, and
	 * the tail is written over the rest. */
	pcapio_put_word(at + PCAPIO_EPB_HEAD + caplen, 0);
	memcpy(tail, t->options, sizeof(t->options));
	pcapio_put_word(tail + PCAPIO_EPB_OPTIONS, 0);
	pcapio_put_word(tail + PCAPIO_EPB_OPTIONS + 4, size);
	return size;
}

/* What a block that pcapio_epb_put() wrote says. The next one begins pcapio_epb_length() behind
 * it. */
static inline uint32_t pcapio_epb_length(const uint8_t *at)
{
	return pcapio_word(at + 4);
}
static inline uint32_t pcapio_epb_interface(const uint8_t *at)
{
	return pcapio_word(at + 8);
}
static inline uint64_t pcapio_epb_stamp(const uint8_t *at)
{
	return (uint64_t)pcapio_word(at + 12) << 32 | pcapio_word(at + 16);
}
static inline uint32_t pcapio_epb_caplen(const uint8_t *at)
{
	return pcapio_word(at + 20);
}
static inline uint32_t pcapio_epb_origlen(const uint8_t *at)
{
	return pcapio_word(at + 24);
}
static inline const uint8_t *pcapio_epb_frame(const uint8_t *at)
{
	return at + PCAPIO_EPB_HEAD;
}
static inline uint32_t pcapio_epb_flags(const uint8_t *at)
{
	return pcapio_word(at + pcapio_epb_length(at) - PCAPIO_EPB_TAIL + 4);
}
static inline uint32_t pcapio_epb_queue(const uint8_t *at)
{
	return pcapio_word(at + pcapio_epb_length(at) - PCAPIO_EPB_TAIL + 12);
}

/* Gives a block another stamp, as when a worker's cycles become ns. */
static inline void pcapio_epb_restamp(uint8_t *at, uint64_t stamp)
{
	pcapio_put_word(at + 12, (uint32_t)(stamp >> 32));
	pcapio_put_word(at + 16, (uint32_t)stamp);
}
