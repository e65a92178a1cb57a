/* SPDX-License-Identifier: BSD-3-Clause */
#include "prx_fields.h"

#define PRX_TARGET
#define PRX_FIELDS prx_fields_plain
#define PRX_SWAP(v) __extension__({ \
	lanes swapped_ = (v); \
	for (unsigned lane_ = 0; lane_ < PRX_LANES; lane_++) \
		swapped_[lane_] = __builtin_bswap64(swapped_[lane_]); \
	swapped_; \
})
#include "prx_fields.inc"

prx_fields_fn *prx_fields_best(void)
{
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
		return prx_fields_avx512;
	if (__builtin_cpu_supports("avx2"))
		return prx_fields_avx2;
#endif
	return prx_fields_plain;
}
