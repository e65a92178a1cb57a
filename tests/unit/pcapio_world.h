/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of lib/pcapio: bytes written down as hex digits, and a file that is in memory and comes
 * in pieces. */
#pragma once
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pcapio_read.h"

struct bytes {
	uint8_t *at;
	size_t n, cap;
};

static inline void bytes_add(struct bytes *b, const void *p, size_t n)
{
	if (n > b->cap - b->n) {
		b->cap = 2 * b->cap + n;
		b->at = realloc(b->at, b->cap);
		assert_non_null(b->at);
	}
	if (n > 0)
		memcpy(b->at + b->n, p, n);
	b->n += n;
}

static inline void bytes_free(struct bytes *b)
{
	free(b->at);
	*b = (struct bytes){0};
}

/* Appends bytes that are two hex digits each; blanks do not count. */
static inline void bytes_hex(struct bytes *b, const char *digits)
{
	unsigned half = 0, v = 0;

	for (; *digits != '\0'; digits++) {
		const char *found = strchr("0123456789abcdef", *digits);
		if (*digits == ' ')
			continue;
		assert_non_null(found);
		v = v << 4 | (unsigned)(found - "0123456789abcdef");
		if (++half % 2 == 0) {
			uint8_t byte = (uint8_t)v;
			bytes_add(b, &byte, 1);
			v = 0;
		}
	}
	assert_int_equal(half % 2, 0);
}

/* A file in memory: it comes in pieces of at most `step` bytes, and where it ends reading gives
 * `last`. */
struct memory {
	const uint8_t *at;
	size_t left, step;
	int last;
};

static inline ssize_t memory_read(void *arg, void *buf, size_t n)
{
	struct memory *m = arg;

	n = n > m->step ? m->step : n;
	n = n > m->left ? m->left : n;
	if (n == 0)
		return m->last;
	memcpy(buf, m->at, n);
	m->at += n;
	m->left -= n;
	return (ssize_t)n;
}

/* The blocks of a small file, in the order of x86: a section, an interface of Ethernet that counts
 * us, and a frame of 4 bytes at 1000. */
#define SHB "0a0d0d0a 1c000000 4d3c2b1a 0100 0000 ffffffffffffffff 1c000000 "
#define IDB "01000000 14000000 0100 0000 00000000 14000000 "
#define EPB "06000000 24000000 00000000 00000000 e8030000 04000000 04000000 01020304 24000000 "
