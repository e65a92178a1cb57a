/* SPDX-License-Identifier: BSD-3-Clause */
/* What every library uses: errors that a user can read, a growing string, small helpers. Plain C,
 * no threads inside. */
#pragma once
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define CACHE_LINE 64
#define WR_ALIGNED(n) __attribute__((aligned(n)))
#define WR_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define WR_PACKED __attribute__((packed))

/* Why something failed, for a user: what was given, what is allowed, what to do next. */
struct err {
	char text[1024];
	int col; /* column in the text that was parsed, in bytes from 0; -1: none */
};

/* Writes a text to *e (may be NULL), with col = -1. Returns -code, so that callers write `return
 * err_set(e, EINVAL, ...)`. */
int err_set(struct err *e, int code, const char *fmt, ...) WR_PRINTF(3, 4);
/* The same with a column. */
int err_at(struct err *e, int code, int col, const char *fmt, ...) WR_PRINTF(4, 5);

/* A growing string that ends with NUL. Begin with {0}; s is NULL until something is added. The
 * owner frees it with sbuf_free(). */
struct sbuf {
	char *s;
	size_t len, cap;
};
void sbuf_add(struct sbuf *b, const char *text);
void sbuf_addn(struct sbuf *b, const char *text, size_t n);
void sbuf_addf(struct sbuf *b, const char *fmt, ...) WR_PRINTF(2, 3);
void sbuf_vaddf(struct sbuf *b, const char *fmt, va_list ap) WR_PRINTF(2, 0);
void sbuf_addc(struct sbuf *b, char c);
void sbuf_reset(struct sbuf *b); /* length 0; the memory is kept */
void sbuf_free(struct sbuf *b);
const char *sbuf_str(const struct sbuf *b); /* never NULL */

/* Small allocations of control. They never return NULL: without memory the process ends with a
 * message. xcalloc() and xcalloc_lines() zero the memory; xrealloc() does not zero what is new. */
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);
void *xcalloc_lines(size_t bytes); /* whole cache lines that nothing else shares */
char *xstrdup(const char *s);

/* Damerau-Levenshtein distance: how many characters must be inserted, deleted, changed or swapped
 * with the next one until one word is the other. It is 48 if a word is longer than that. */
unsigned str_distance(const char *a, const char *b);
/* The word of list (n words) that is nearest to `word` by str_distance(), or NULL if none is near
 * enough for a typing error. */
const char *str_nearest(const char *word, const char *const *list, size_t n);

/* The hash FNV-1a of 64 bits (RFC 9923 section 2): continues h, which begins as FNV_BASIS, with n
 * more bytes. */
#define FNV_BASIS 0xcbf29ce484222325ull
uint64_t fnv1a(uint64_t h, const void *bytes, size_t n);
/* One step of this hash, with a number in place of a byte. */
static inline uint64_t fnv1a_number(uint64_t h, uint64_t n)
{
	return (h ^ n) * 0x100000001b3ull;
}

/* Greatest common divisor. For a number and 0 it is the number. */
static inline uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b != 0) {
		uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}
/* Least common multiple. 0: it is above the limit, or one of the two is 0. */
static inline uint64_t lcm(uint64_t a, uint64_t b, uint64_t limit)
{
	if (a == 0 || b == 0)
		return 0;
	uint64_t part = a / gcd(a, b);
	return part > limit / b ? 0 : part * b;
}

/* A number of 16 bits in the order of the network. */
static inline unsigned get_be16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}
static inline void put_be16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}
