/* SPDX-License-Identifier: BSD-3-Clause */
/* The engines for SSSE3: vectors of 16 bytes. */
#if defined(__x86_64__)
#include <immintrin.h>

#define RUN_VB 16
#define RUN_TARGET __attribute__((target("ssse3")))
#define RUN_SWAP(v) \
	(vec) _mm_shuffle_epi8((__m128i)(v), _mm_setr_epi8(1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, \
							   13, 12, 15, 14))
#define RUN_PICK(row, at) \
	(vec) _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(row)), (__m128i)(at))
#define RUN_PICK8(row, at) \
	(vec) _mm_shuffle_epi8(_mm_loadl_epi64((const __m128i *)(const void *)(row)), (__m128i)(at))
#define RUN_MM(op) _mm_##op
#define RUN_MI __m128i
#define RUN_ISA run_isa_ssse3
#define RUN_ISA_NAME "ssse3"
#include "run_body.inc"
#endif
