/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors, strings, allocations and other helpers that every library uses. */
#include "base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int err_fill(struct err *e, int code, int col, const char *fmt, va_list ap)
{
	if (e != NULL) {
		vsnprintf(e->text, sizeof(e->text), fmt, ap);
		e->col = col;
	}
	return -code;
}

int err_set(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int rc = err_fill(e, code, -1, fmt, ap);
	va_end(ap);
	return rc;
}

int err_at(struct err *e, int code, int col, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int rc = err_fill(e, code, col, fmt, ap);
	va_end(ap);
	return rc;
}

static void die_no_memory(void)
{
	fputs("wirerate: out of memory\n", stderr);
	exit(3);
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (p == NULL)
		die_no_memory();
	return p;
}

void *xcalloc_lines(size_t bytes)
{
	size_t whole = bytes > 0 ? (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE : CACHE_LINE;
	void *p = aligned_alloc(CACHE_LINE, whole);

	if (p == NULL)
		die_no_memory();
	return memset(p, 0, whole);
}

void *xrealloc(void *p, size_t size)
{
	void *q = realloc(p, size ? size : 1);

	if (q == NULL)
		die_no_memory();
	return q;
}

char *xstrdup(const char *s)
{
	char *p = strdup(s);

	if (p == NULL)
		die_no_memory();
	return p;
}

static void sbuf_room(struct sbuf *b, size_t more)
{
	if (b->len + more + 1 <= b->cap)
		return;
	size_t cap = b->cap ? b->cap : 64;
	while (cap < b->len + more + 1)
		cap *= 2;
	b->s = xrealloc(b->s, cap);
	b->cap = cap;
}

void sbuf_addn(struct sbuf *b, const char *text, size_t n)
{
	sbuf_room(b, n);
	memcpy(b->s + b->len, text, n);
	b->len += n;
	b->s[b->len] = '\0';
}

void sbuf_add(struct sbuf *b, const char *text)
{
	sbuf_addn(b, text, strlen(text));
}

void sbuf_addc(struct sbuf *b, char c)
{
	sbuf_addn(b, &c, 1);
}

void sbuf_vaddf(struct sbuf *b, const char *fmt, va_list ap)
{
	va_list again;

	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	if (n > 0) {
		sbuf_room(b, (size_t)n);
		vsnprintf(b->s + b->len, (size_t)n + 1, fmt, again);
		b->len += (size_t)n;
	}
	va_end(again);
}

void sbuf_addf(struct sbuf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	sbuf_vaddf(b, fmt, ap);
	va_end(ap);
}

void sbuf_reset(struct sbuf *b)
{
	b->len = 0;
	if (b->s != NULL)
		b->s[0] = '\0';
}

void sbuf_free(struct sbuf *b)
{
	free(b->s);
	*b = (struct sbuf){0};
}

const char *sbuf_str(const struct sbuf *b)
{
	return b->s != NULL ? b->s : "";
}

#define NEAR_MAX 48

unsigned str_distance(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b);
	unsigned d[3][NEAR_MAX + 1];

	if (la > NEAR_MAX || lb > NEAR_MAX)
		return NEAR_MAX;
	for (size_t j = 0; j <= lb; j++)
		d[0][j] = (unsigned)j;
	for (size_t i = 1; i <= la; i++) {
		unsigned *cur = d[i % 3], *prev = d[(i + 2) % 3], *prev2 = d[(i + 1) % 3];
		cur[0] = (unsigned)i;
		for (size_t j = 1; j <= lb; j++) {
			unsigned cost = a[i - 1] != b[j - 1];
			unsigned best = prev[j - 1] + cost;
			if (prev[j] + 1 < best)
				best = prev[j] + 1;
			if (cur[j - 1] + 1 < best)
				best = cur[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    prev2[j - 2] + 1 < best)
				best = prev2[j - 2] + 1;
			cur[j] = best;
		}
	}
	return d[la % 3][lb];
}

const char *str_nearest(const char *word, const char *const *list, size_t n)
{
	const char *best = NULL;
	unsigned best_d = (unsigned)(strlen(word) + 2) / 3 + 1;

	for (size_t i = 0; i < n; i++) {
		unsigned d = str_distance(word, list[i]);
		if (d < best_d) {
			best_d = d;
			best = list[i];
		}
	}
	return best;
}

uint64_t fnv1a(uint64_t h, const void *bytes, size_t n)
{
	const uint8_t *b = bytes;

	while (n-- > 0)
		h = fnv1a_number(h, *b++);
	return h;
}
