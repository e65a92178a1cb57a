/* SPDX-License-Identifier: BSD-3-Clause */
/* prx_fields.inc for any CPU, and the choice among the tables. */
#include "prx_fields.h"

#define PRX_TARGET
#define PRX_OPS prx_ops_plain
#define PRX_SWAP(v) \
	__extension__({ \
		lanes swapped_ = (v); \
		for (unsigned lane_ = 0; lane_ < PRX_LANES; lane_++) \
			swapped_[lane_] = __builtin_bswap64(swapped_[lane_]); \
		swapped_; \
	})
#include "prx_fields.inc"

double prx_weight[PRX_BATCH];

/* Sets prx_weight. Control calls it before any receiver uses it, and each call writes the same. */
static void prx_fields_weigh(void)
{
	double w = PRX_JITTER_SHARE;

	for (unsigned i = PRX_BATCH; i-- > 0; w -= w * PRX_JITTER_SHARE)
		prx_weight[i] = w;
}

const struct prx_ops *prx_ops_best(void)
{
	prx_fields_weigh();
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
	    __builtin_cpu_supports("avx512cd"))
		return &prx_ops_avx512;
	if (__builtin_cpu_supports("avx2"))
		return &prx_ops_avx2;
#endif
	return &prx_ops_plain;
}
