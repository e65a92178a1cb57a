/* SPDX-License-Identifier: BSD-3-Clause */
#if defined(__x86_64__)
#include <immintrin.h>

#define RUN_VB 64
#define RUN_TARGET __attribute__((target("avx512f,avx512bw,avx512vl")))
#define RUN_SWAP(v) (vec)_mm512_shuffle_epi8((__m512i)(v), _mm512_broadcast_i32x4(\
		_mm_setr_epi8(1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14)))
#define RUN_PICK(row, at) \
	(vec)_mm512_shuffle_epi8(_mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)(row))), (__m512i)(at))
#define RUN_PICK8(row, at) \
	(vec)_mm512_shuffle_epi8(_mm512_broadcastq_epi64(_mm_loadl_epi64((const __m128i *)(const void *)(row))), (__m512i)(at))
#define RUN_MM(op) _mm512_##op
#define RUN_MI __m512i
#define RUN_ISA run_isa_avx512
#define RUN_ISA_NAME "avx512"
#include "run_body.inc"
#endif
