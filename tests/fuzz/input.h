/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes the bytes that a fuzzer gives one after the other; behind their end they are 0. CHECK() is
 * for what the fuzzer must not break. */
#pragma once
#include <stdint.h>

#define CHECK(x) \
	do { \
		if (!(x)) \
			__builtin_trap(); \
	} while (0)

struct input {
	const uint8_t *at, *end;
};

static inline unsigned byte(struct input *in)
{
	return in->at < in->end ? *in->at++ : 0;
}

static inline uint64_t number(struct input *in, unsigned n)
{
	uint64_t v = 0;

	while (n-- > 0)
		v = v << 8 | byte(in);
	return v;
}
