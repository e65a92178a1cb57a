/* SPDX-License-Identifier: BSD-3-Clause */
/* The engines for AVX2: vectors of 32 bytes. */
#if defined(__x86_64__)
#include <immintrin.h>

#define RUN_VB 32
#define RUN_TARGET __attribute__((target("avx2")))
#define RUN_SWAP(v) \
	(vec) _mm256_shuffle_epi8((__m256i)(v), _mm256_broadcastsi128_si256( \
							_mm_setr_epi8(1, 0, 3, 2, 5, 4, 7, 6, 9, \
								      8, 11, 10, 13, 12, 15, 14)))
#define RUN_PICK(row, at) \
	(vec) _mm256_shuffle_epi8(_mm256_broadcastsi128_si256( \
					  _mm_loadu_si128((const __m128i *)(const void *)(row))), \
				  (__m256i)(at))
#define RUN_PICK8(row, at) \
	(vec) _mm256_shuffle_epi8(_mm256_broadcastq_epi64( \
					  _mm_loadl_epi64((const __m128i *)(const void *)(row))), \
				  (__m256i)(at))
#define RUN_MM(op) _mm256_##op
#define RUN_MI __m256i
#define RUN_ISA run_isa_avx2
#define RUN_ISA_NAME "avx2"
#include "run_body.inc"
#endif
