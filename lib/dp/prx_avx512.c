/* SPDX-License-Identifier: BSD-3-Clause */
#if defined(__x86_64__)
#include <immintrin.h>
#include <stdint.h>

#define PRX_TARGET __attribute__((target("avx512f,avx512bw,avx512dq")))
#define PRX_OPS prx_ops_avx512
#define PRX_SWAP(v) \
	(lanes)_mm512_shuffle_epi8((__m512i)(v), _mm512_broadcast_i32x4(_mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8)))

#define PART(at) _mm_loadu_si128((const void *)(at))
#define FOUR(at) \
	(lanes)_mm512_inserti64x2(_mm512_inserti64x2(_mm512_inserti64x2(_mm512_castsi128_si512(PART((at)[0])), PART((at)[1]), 1), \
						     PART((at)[2]), 2), PART((at)[3]), 3)
#define LEAST(a, b) (lanes)_mm512_min_epu64((__m512i)(a), (__m512i)(b))
#define MOST(a, b) (lanes)_mm512_max_epu64((__m512i)(a), (__m512i)(b))
#define DISTANCE(a, b) (lanes)_mm512_abs_epi64((__m512i)((a) - (b)))
#define LEAST_OF(v) _mm512_reduce_min_epu64((__m512i)(v))
#define MOST_OF(v) _mm512_reduce_max_epu64((__m512i)(v))
#define SUM_OF(v) _mm512_reduce_add_epi64((__m512i)(v))
#define BITS_OF(v) (uint64_t)_mm512_reduce_or_epi64((__m512i)(v))
#define ALL_OF_IS_0(v) (_mm512_test_epi64_mask((__m512i)(v), (__m512i)(v)) == 0)

/* By one multiplication: 65535 divides s - PROBE_SUM when s - PROBE_SUM times its inverse mod 2^64 is a quotient that can be; s is hi + lo with
 * the carry added again, which is their sum mod 65535. */
#define INVERSE 0xfffefffefffeffffull
#define QUOTIENTS 0x0001000100010001ull
_Static_assert(INVERSE * 65535 == 1 && QUOTIENTS * 65535 == UINT64_MAX, "mod 2^64");
#define ADD_WRONG(wrong, hi, lo) __extension__({ \
	__m512i sum_ = (__m512i)((hi) + (lo)), ones_ = _mm512_set1_epi64(-1); \
	sum_ = _mm512_mask_sub_epi64(sum_, _mm512_cmplt_epu64_mask(sum_, (__m512i)(hi)), sum_, ones_); \
	sum_ = _mm512_mullo_epi64(_mm512_sub_epi64(sum_, _mm512_set1_epi64(PROBE_SUM)), _mm512_set1_epi64((long long)INVERSE)); \
	(lanes)_mm512_mask_mov_epi64((__m512i)(wrong), _mm512_cmpge_epu64_mask(sum_, _mm512_set1_epi64(QUOTIENTS)), ones_); \
})
#include "prx_fields.inc"
#else
typedef int prx_nothing_here;
#endif
