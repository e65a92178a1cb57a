/* SPDX-License-Identifier: BSD-3-Clause */
/* What every library uses: errors that a user can read, a growing string, small helpers. Plain C, no threads inside. */
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

/* Failure for a user's eyes: what was given, what is allowed, what to do next. */
struct err {
	char text[1024];
	int col; /* 0-based byte column in the text that was parsed, -1: none */
};

/* Fill *e (may be NULL) with text, col = -1; returns -code, so that callers write `return err_set(e, EINVAL, ...)`. */
int err_set(struct err *e, int code, const char *fmt, ...) WR_PRINTF(3, 4);
/* The same with a column. */
int err_at(struct err *e, int code, int col, const char *fmt, ...) WR_PRINTF(4, 5);

/* Growing NUL-terminated string. Zero-initialise; s is NULL until the first add. Caller frees with sbuf_free(). */
struct sbuf {
	char *s;
	size_t len, cap;
};
void sbuf_add(struct sbuf *b, const char *text);
void sbuf_addn(struct sbuf *b, const char *text, size_t n);
void sbuf_addf(struct sbuf *b, const char *fmt, ...) WR_PRINTF(2, 3);
void sbuf_vaddf(struct sbuf *b, const char *fmt, va_list ap) WR_PRINTF(2, 0);
void sbuf_addc(struct sbuf *b, char c);
void sbuf_reset(struct sbuf *b); /* length 0, memory kept */
void sbuf_free(struct sbuf *b);
const char *sbuf_str(const struct sbuf *b); /* never NULL */

/* Small heap allocations of control; out of memory ends the process with a message. Zeroed. */
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);
void *xcalloc_lines(size_t bytes); /* whole cache lines that nothing else shares */
char *xstrdup(const char *s);

/* Characters to put in, take out, change or swap with the next one until one word is the other; long words: 48. */
unsigned str_distance(const char *a, const char *b);
/* Nearest word of list (n words) to `word` by Damerau-Levenshtein distance, or NULL when none is near enough
 * to be a plausible typo. */
const char *str_nearest(const char *word, const char *const *list, size_t n);

/* Fowler, Noll and Vo, 64 bits, variant 1a (RFC 9923 section 2), of n bytes behind those that h was made of; FNV_BASIS: none yet. */
#define FNV_BASIS 0xcbf29ce484222325ull
uint64_t fnv1a(uint64_t h, const void *bytes, size_t n);
/* One step of it with a number in place of a byte. */
static inline uint64_t fnv1a_number(uint64_t h, uint64_t n) { return (h ^ n) * 0x100000001b3ull; }

/* Greatest common divisor; of a number and 0 it is the number. */
static inline uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b != 0) {
		uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}
