/* SPDX-License-Identifier: BSD-3-Clause */
#if defined(__x86_64__)
#include <immintrin.h>

#define PRX_TARGET __attribute__((target("avx512f,avx512bw,avx512dq")))
#define PRX_FIELDS prx_fields_avx512
#define PRX_SWAP(v) \
	(lanes)_mm512_shuffle_epi8((__m512i)(v), _mm512_broadcast_i32x4(_mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8)))
#include "prx_fields.inc"
#else
typedef int prx_nothing_here;
#endif
