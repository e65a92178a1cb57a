/* SPDX-License-Identifier: BSD-3-Clause */
#include "pieces.h"
#include "base.h"

static int at(const void *piece)
{
	return *(const int *)piece;
}

/* By insertion: lists are short, and equals stay as they stand. */
static void put(const void ***all, unsigned *n, const void *piece)
{
	unsigned i = (*n)++;

	*all = xrealloc(*all, *n * sizeof(**all));
	for (; i > 0 && at((*all)[i - 1]) > at(piece); i--)
		(*all)[i] = (*all)[i - 1];
	(*all)[i] = piece;
}

const void **pieces(const void *own, size_t size, unsigned *n)
{
	const void **all = NULL;

	*n = 0;
	for (const char *piece = own; at(piece) != 0; piece += size)
		put(&all, n, piece);
	return all;
}
