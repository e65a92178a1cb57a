/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the texts of a block in two pieces of memory, however many there are. */
#include "pcapio_int.h"

#include <stdlib.h>

/* What one text takes beside its bytes. */
#define TEXT_OVERHEAD (1 + sizeof(size_t) + sizeof(char *))

static void texts_count(struct texts *t, size_t sign)
{
	if (t->sum != NULL)
		*t->sum += sign * (t->len + t->n * TEXT_OVERHEAD);
}

void texts_reset(struct texts *t)
{
	texts_count(t, (size_t)-1);
	t->len = t->n = 0;
}

void texts_free(struct texts *t)
{
	free(t->bytes);
	free(t->at);
	free(t->list);
	*t = (struct texts){0};
}

size_t texts_add(struct texts *t, const uint8_t *bytes, size_t n)
{
	const uint8_t *zero = n > 0 ? memchr(bytes, 0, n) : NULL;
	size_t len = zero != NULL ? (size_t)(zero - bytes) : n;

	texts_count(t, (size_t)-1);
	if (len + 1 > t->cap - t->len) {
		t->cap = 2 * t->cap + len + 1;
		t->bytes = xrealloc(t->bytes, t->cap);
	}
	if (t->n == t->ncap) {
		t->ncap = 2 * t->ncap + 1;
		t->at = xrealloc(t->at, t->ncap * sizeof(*t->at));
		t->list = xrealloc(t->list, t->ncap * sizeof(*t->list));
	}
	if (len > 0)
		memcpy(t->bytes + t->len, bytes, len);
	t->bytes[t->len + len] = '\0';
	t->at[t->n] = t->len;
	t->len += len + 1;
	t->n++;
	texts_count(t, 1);
	return t->n - 1;
}

const char *const *texts_end(struct texts *t)
{
	for (size_t i = 0; i < t->n; i++)
		t->list[i] = t->bytes + t->at[i];
	return t->list;
}
