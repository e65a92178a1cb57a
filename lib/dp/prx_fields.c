/* SPDX-License-Identifier: BSD-3-Clause */
#include "prx_fields.h"

typedef uint64_t swapped __attribute__((vector_size(8 * PRX_LANES)));

static inline swapped swap(swapped v)
{
	for (unsigned k = 0; k < PRX_LANES; k++)
		v[k] = __builtin_bswap64(v[k]);
	return v;
}

#define PRX_TARGET
#define PRX_FIELDS prx_fields_plain
#define PRX_SWAP(v) swap(v)
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
