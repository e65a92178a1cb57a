/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands for a machine whose cycle counter is slow, as those of arm64 are. Included before all else
 * (-include), it divides what this machine's counter and its frequency say by SLOW_CLOCK. One row
 * of ./dev matrix is built with it. */
#pragma once
#if !defined(__x86_64__)
#error "only x86-64 has a counter that is worth being slowed down"
#endif
#include <stdint.h>
#include <x86intrin.h>

static inline uint64_t slow_clock_tsc(void)
{
	return __rdtsc() / SLOW_CLOCK;
}
#undef __rdtsc
#define __rdtsc slow_clock_tsc

#if __has_include(<rte_cycles.h>) /* code that knows no DPDK does not find it */
#include <rte_cycles.h>
static inline uint64_t slow_clock_hz(void)
{
	return rte_get_tsc_hz() / SLOW_CLOCK;
}
#define rte_rdtsc slow_clock_tsc
#define rte_get_tsc_hz slow_clock_hz
#endif
