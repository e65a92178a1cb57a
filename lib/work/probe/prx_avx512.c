/* SPDX-License-Identifier: BSD-3-Clause */
/* prx_fields.inc with AVX-512, and flows(), which needs it. */
#if defined(__x86_64__)
#include <immintrin.h>
#include <stdint.h>

#define PRX_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512cd")))
#define PRX_OPS prx_ops_avx512
#define PRX_SWAP(v) \
	(lanes) _mm512_shuffle_epi8((__m512i)(v), \
				    _mm512_broadcast_i32x4(_mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, \
									 15, 14, 13, 12, 11, 10, \
									 9, 8)))

#define PART(m, off) _mm_loadu_si128((const void *)PRX_PROBE(m, off))
#define FOUR(m, off) \
	__extension__({ \
		__m512i four_ = _mm512_castsi128_si512(PART((m)[0], off)); \
		four_ = _mm512_inserti64x2(four_, PART((m)[2], off), 1); \
		four_ = _mm512_inserti64x2(four_, PART((m)[4], off), 2); \
		(lanes) _mm512_inserti64x2(four_, PART((m)[6], off), 3); \
	})
#define STORE_WORDS(at, v) _mm256_store_si256((void *)(at), _mm512_cvtepi64_epi32((__m512i)(v)))
#define REAL(v) (reals) _mm512_cvtepu64_pd((__m512i)(v))
/* BUCKET() computes hist_bucket() of a floating point number. A number below 2^PRX_PORT_BITS, the
 * edge, is its own bucket. From there on, the bits of exponent and upper mantissa, taken as one
 * number, grow by one from bucket to bucket: the bucket is the edge, plus by how much they exceed
 * those of the edge. */
#define EDGE (double)(1 << PRX_PORT_BITS)
#define EDGE_BITS ((1023ull + PRX_PORT_BITS) << PRX_PORT_BITS)
#define BUCKET(v) \
	__extension__({ \
		lanes above_ = (lanes)_mm512_max_pd((__m512d)(v), _mm512_set1_pd(EDGE)) >> \
			       (52 - PRX_PORT_BITS); \
		above_ - EDGE_BITS + \
			(lanes)_mm512_cvttpd_epu64( \
				_mm512_min_pd((__m512d)(v), _mm512_set1_pd(EDGE))); \
	})
#define LEAST(a, b) (lanes) _mm512_min_epu64((__m512i)(a), (__m512i)(b))
#define MOST(a, b) (lanes) _mm512_max_epu64((__m512i)(a), (__m512i)(b))
#define DISTANCE(a, b) (lanes) _mm512_abs_epi64((__m512i)((a) - (b)))
#define LEAST_OF(v) _mm512_reduce_min_epu64((__m512i)(v))
#define MOST_OF(v) _mm512_reduce_max_epu64((__m512i)(v))
#define SUM_OF(v) _mm512_reduce_add_epi64((__m512i)(v))
#define BITS_OF(v) (uint64_t) _mm512_reduce_or_epi64((__m512i)(v))
#define ALL_OF_IS_0(v) (_mm512_test_epi64_mask((__m512i)(v), (__m512i)(v)) == 0)

/* Sets bits of lanes whose words do not have the sum of a probe. s is hi + lo with the carry added
 * again, which is the sum of their words mod 65535. It is right if 65535 divides s - PROBE_SUM. One
 * multiplication tells: times the inverse of 65535 mod 2^64, a multiple of 65535 becomes the
 * quotient, which is small, and any other number becomes one that no quotient can be. */
#define INVERSE 0xfffefffefffeffffull
#define QUOTIENTS 0x0001000100010001ull
_Static_assert(INVERSE * 65535 == 1 && QUOTIENTS * 65535 == UINT64_MAX, "mod 2^64");
#define ADD_WRONG(wrong, hi, lo) \
	__extension__({ \
		__m512i sum_ = (__m512i)((hi) + (lo)), ones_ = _mm512_set1_epi64(-1); \
		sum_ = _mm512_mask_sub_epi64(sum_, _mm512_cmplt_epu64_mask(sum_, (__m512i)(hi)), \
					     sum_, ones_); \
		sum_ = _mm512_mullo_epi64(_mm512_sub_epi64(sum_, _mm512_set1_epi64(PROBE_SUM)), \
					  _mm512_set1_epi64((long long)INVERSE)); \
		(lanes) _mm512_mask_mov_epi64((__m512i)(wrong), \
					      _mm512_cmpge_epu64_mask(sum_, _mm512_set1_epi64( \
										    QUOTIENTS)), \
					      ones_); \
	})
#define PRX_FLOWS flows

#include <stddef.h>

#include "prx_fields.h"

/* flows() does the same as count_number() and count_transit(), with the first cache line of a flow
 * in two halves: lo is received, next, bits, last_transit; hi is jitter, transit_min, transit_max,
 * last_tsc. Each half is stored by one instruction and lies in one cache line. CPUs promise that
 * others see 16 bytes of such a store at once, and those with these instruction sets write all 32
 * at once. So `received` is never ahead of `bits`, as merging of windows needs it. */
#define HALF 32
_Static_assert(offsetof(struct prx_flow, received) == 0 && offsetof(struct prx_flow, next) == 8 &&
		       offsetof(struct prx_flow, bits) == 16 &&
		       offsetof(struct prx_flow, last_transit) == 24 &&
		       offsetof(struct prx_flow, jitter) == HALF &&
		       offsetof(struct prx_flow, transit_min) == HALF + 8 &&
		       offsetof(struct prx_flow, transit_max) == HALF + 16 &&
		       offsetof(struct prx_flow, last_tsc) == HALF + 24,
	       "halves");

PRX_TARGET static unsigned flows(struct prx_flow *flow, const struct prx_batch *b, unsigned i,
				 unsigned n, uint64_t now, uint64_t *sum)
{
	const __m256i more = _mm256_setr_epi64x(1, 1, 0, 0), one = _mm256_set1_epi64x(1),
		      inverted = _mm256_setr_epi64x(0, -1, 0, 0);
	const __m256i when = _mm256_set1_epi64x((long long)now);
	const __m256d share = _mm256_set1_pd(PRX_JITTER_SHARE);
	__m512i sums = _mm512_setzero_si512();

	for (; i < n; i += PRX_LANES) {
		__m256i index = _mm256_load_si256((const void *)(b->flow + i)),
			seq = _mm256_load_si256((const void *)(b->seq + i));
		__m256i same = _mm256_conflict_epi32(index), wrong = _mm256_setzero_si256();
		__m256i lo[PRX_LANES], hi[PRX_LANES];
		const uint32_t *to = b->flow + i, *no = b->seq + i;
		const uint64_t *took = b->transit + i;
		if ((_mm256_test_epi32_mask(same, same) |
		     _mm256_testn_epi32_mask(seq, _mm256_set1_epi32(63))) != 0)
			break;
#pragma GCC unroll 8
		for (unsigned k = 0; k < PRX_LANES; k++) {
			const struct prx_flow *f = &flow[to[k]];
			__m256i transit = _mm256_set1_epi64x((long long)took[k]);
			lo[k] = _mm256_load_si256((const void *)f);
			hi[k] = _mm256_load_si256((const void *)((const uint8_t *)f + HALF));
			/* wrong | (lo ^ seq); only the lower half of `next` is of interest. `next`
			 * is not 0, because its last bits are not, by the test of seq above. */
			wrong = _mm256_ternarylogic_epi32(wrong, lo[k],
							  _mm256_set1_epi32((int)no[k]), 0xf6);
			/* the number's bit is not set yet, so it can be added, like the ones that
			 * are added to received and next */
			__m256i plus =
				_mm256_mask_rolv_epi64(more, 0x4, one,
						       _mm256_set1_epi64x((long long)f->next));
			__m256i off = _mm256_abs_epi64(
				_mm256_sub_epi64(transit,
						 _mm256_set1_epi64x((long long)f->last_transit)));
			/* only the first lane holds a double, the jitter */
			__m256d diff = _mm256_maskz_sub_pd(1, _mm256_cvtepi64_pd(off),
							   _mm256_castsi256_pd(hi[k]));
			lo[k] = _mm256_mask_add_epi64(transit, 0x7, lo[k], plus);
			hi[k] = _mm256_mask_max_epu64(hi[k], 0x6, hi[k],
						      _mm256_xor_si256(transit, inverted));
			hi[k] = _mm256_blend_epi32(hi[k], when, 0xc0);
			hi[k] = _mm256_castpd_si256(
				_mm256_mask3_fmadd_pd(diff, share, _mm256_castsi256_pd(hi[k]), 1));
		}
		if ((_mm256_test_epi32_mask(wrong, wrong) & 0x4) != 0)
			break;
#pragma GCC unroll 8
		for (unsigned k = 0; k < PRX_LANES; k++) {
			struct prx_flow *f = &flow[to[k]];
			_mm256_store_si256((void *)f, lo[k]);
			_mm256_store_si256((void *)((uint8_t *)f + HALF), hi[k]);
		}
		sums = _mm512_add_epi64(sums, _mm512_load_si512(b->transit + i));
	}
	*sum += (uint64_t)_mm512_reduce_add_epi64(sums);
	return i;
}

#include "prx_fields.inc"
#else
typedef int prx_nothing_here;
#endif
