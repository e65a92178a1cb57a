/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies frames into slots, by vectors as long as the CPU has them. */
#include "recorder_run.h"

/* A line, of which neither end is aligned. Where vectors are shorter it is several of them. */
typedef uint64_t copy_line __attribute__((vector_size(RECORDER_LINE), aligned(1), may_alias));

/* Lines are loaded in groups before any of a group is stored. A load has to wait for each store
 * before it that may be to the same address, and the CPU looks at the last 12 bits of it only: with
 * as many stores on their way, many loads would wait for stores to other slots. */
static __rte_always_inline void copy_some(uint8_t *slot, uint32_t stride, struct rte_mbuf *const *m,
					  unsigned n, uint32_t bytes, const unsigned group)
{
	uint32_t off = m[0]->data_off;
	unsigned i = 0;

	for (; bytes == RECORDER_LINE && i + group <= n; i += group) {
		copy_line line[8];
#pragma GCC unroll 8
		for (unsigned k = 0; k < group; k++)
			line[k] = *(const copy_line *)((const uint8_t *)m[i + k]->buf_addr + off);
#pragma GCC unroll 8
		for (unsigned k = 0; k < group; k++)
			*(copy_line *)(slot + (size_t)(i + k) * stride) = line[k];
	}
	for (; i < n; i++)
		for (uint32_t k = 0; k < bytes; k += RECORDER_LINE)
			*(copy_line *)(slot + (size_t)i * stride + k) =
				*(const copy_line *)((const uint8_t *)m[i]->buf_addr + off + k);
}

/* The lengths of most frames are constants here, so that their loops are gone. group: as many lines
 * as registers hold. */
#define COPY(name, target, group) \
	target static void name(uint8_t *slot, uint32_t stride, struct rte_mbuf *const *m, \
				unsigned n, uint32_t bytes) \
	{ \
		if (bytes == RECORDER_LINE) \
			copy_some(slot, stride, m, n, RECORDER_LINE, group); \
		else if (bytes == 2 * RECORDER_LINE) \
			copy_some(slot, stride, m, n, 2 * RECORDER_LINE, group); \
		else \
			copy_some(slot, stride, m, n, bytes, group); \
	}

COPY(copy_plain, , 2)
#if defined(__x86_64__)
COPY(copy_avx2, __attribute__((target("avx2"))), 4)
COPY(copy_avx512, __attribute__((target("avx512f"))), 8)
#endif

recorder_copy_fn *recorder_copy_nth(unsigned i)
{
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") && i-- == 0)
		return copy_avx512;
	if (__builtin_cpu_supports("avx2") && i-- == 0)
		return copy_avx2;
#endif
	return i == 0 ? copy_plain : NULL;
}

recorder_copy_fn *recorder_copy = copy_plain;

static __attribute__((constructor)) void choose(void)
{
	recorder_copy = recorder_copy_nth(0);
}
