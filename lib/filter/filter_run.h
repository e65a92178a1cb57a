/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a filter on the bytes of a frame: an interpreter of classic BPF. Plain C, for every thread;
 * workers too. */
#pragma once
#include <stdint.h>

/* One instruction. It is laid out like that of the kernel and of libpcap. */
struct filter_insn {
	uint16_t code;
	uint8_t jt, jf;
	uint32_t k;
};

/* The frame that a filter looks at. */
struct filter_view {
	const uint8_t *data; /* its first bytes, in one piece */
	uint32_t data_bytes;
	uint32_t frame_bytes; /* what is compared by `len`, `less` and `greater` */
	/* Gives n bytes (1 to 4) from `offset` on that are not all in data: a pointer, which may be
	 * to buf. NULL: the frame ends before. The function itself is NULL if data has all. */
	const uint8_t *(*more)(const struct filter_view *v, uint32_t offset, uint32_t n,
			       uint8_t *buf);
	const void *of; /* for more() */
};

/* Returns what the program returns: 0: the frame does not match. A frame that ends before what the
 * filter reads does not match. Memory of the program that it has not written is 0. The program must
 * have passed filter_check() (filter.h). */
uint32_t filter_run(const struct filter_insn *insns, const struct filter_view *v);
