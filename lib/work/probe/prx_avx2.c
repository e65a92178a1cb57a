/* SPDX-License-Identifier: BSD-3-Clause */
/* prx_fields.inc with AVX2. */
#if defined(__x86_64__)
#include <immintrin.h>

#define PRX_TARGET __attribute__((target("avx2")))
#define PRX_OPS prx_ops_avx2
#define PRX_SWAP(v) \
	__extension__({ \
		const __m256i order_ = _mm256_broadcastsi128_si256( \
			_mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8)); \
		union { \
			lanes all; \
			__m256i half[2]; \
		} u_ = {.all = (v)}; \
		u_.half[0] = _mm256_shuffle_epi8(u_.half[0], order_); \
		u_.half[1] = _mm256_shuffle_epi8(u_.half[1], order_); \
		u_.all; \
	})
#include "prx_fields.inc"
#else
typedef int prx_nothing_here;
#endif
