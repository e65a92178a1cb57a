/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a long test goes on. Under the address sanitizer each step costs some times as much, and
 * what is looked for there is what a step does to memory. The plain build goes the whole way, and
 * that one a part of it. */
#pragma once
#include <stdint.h>

#if defined(__SANITIZE_ADDRESS__)
#define EFFORT_PART 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EFFORT_PART 1
#endif
#endif

static inline uint64_t effort(uint64_t whole, uint64_t part)
{
#ifdef EFFORT_PART
	(void)whole;
	return part;
#else
	(void)part;
	return whole;
#endif
}
