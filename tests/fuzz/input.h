/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes that a fuzzer gives, taken one after the other; 0 behind their end. And what it must
 * not break. */
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
