/* SPDX-License-Identifier: BSD-3-Clause */
/* The engines for AVX-512: vectors of 64 bytes. */
#if defined(__x86_64__)
#include <immintrin.h>
#include <stdint.h>

#define RUN_VB 64
#define RUN_TARGET __attribute__((target("avx512f,avx512bw,avx512vl")))
#define RUN_SWAP(v) \
	(vec) _mm512_shuffle_epi8((__m512i)(v), _mm512_broadcast_i32x4( \
							_mm_setr_epi8(1, 0, 3, 2, 5, 4, 7, 6, 9, \
								      8, 11, 10, 13, 12, 15, 14)))
#define RUN_PICK(row, at) \
	(vec) _mm512_shuffle_epi8(_mm512_broadcast_i32x4( \
					  _mm_loadu_si128((const __m128i *)(const void *)(row))), \
				  (__m512i)(at))
#define RUN_PICK8(row, at) \
	(vec) _mm512_shuffle_epi8(_mm512_broadcastq_epi64( \
					  _mm_loadl_epi64((const __m128i *)(const void *)(row))), \
				  (__m512i)(at))
#define RUN_MIN64(a, b) (vec64) _mm512_min_epu64((__m512i)(a), (__m512i)(b))

/* Stores the line at src to dst, with 16 of its bytes replaced by those of v from 16 * i on. `in`,
 * of run_insert_at(), says where in the line. */
#define RUN_INSERT_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi")))
#define RUN_INSERT(dst, src, v, in, i) \
	_mm512_storeu_si512(dst, _mm512_mask_permutexvar_epi8(_mm512_loadu_si512(src), (in).mask, \
							      (in).from[i], (__m512i)(v)))
struct run_insert {
	__m512i from[4];
	__mmask64 mask;
};
static inline __attribute__((always_inline)) RUN_INSERT_TARGET struct run_insert run_insert_at(
	unsigned place)
{
	static const uint8_t up[64] = {
		0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
		32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
		48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
	};
	struct run_insert in = {.mask = 0xffffull << place};

	in.from[0] = _mm512_sub_epi8(_mm512_loadu_si512(up), _mm512_set1_epi8((char)place));
	for (unsigned i = 1; i < 4; i++)
		in.from[i] = _mm512_add_epi8(in.from[i - 1], _mm512_set1_epi8(16));
	return in;
}
#define RUN_MM(op) _mm512_##op
#define RUN_MI __m512i
#define RUN_ISA run_isa_avx512
#define RUN_ISA_NAME "avx512"
#include "run_body.inc"
#endif
