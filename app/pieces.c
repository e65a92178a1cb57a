/* SPDX-License-Identifier: BSD-3-Clause */
#include "pieces.h"
#include "face.h"

static int pieces_at(const void *piece)
{
	return *(const int *)piece;
}

/* Inserts a piece at its place, behind those with the same place. The lists are short. */
static void pieces_put(const void ***all, unsigned *n, const void *piece)
{
	unsigned i = (*n)++;

	*all = xrealloc(*all, *n * sizeof(**all));
	for (; i > 0 && pieces_at((*all)[i - 1]) > pieces_at(piece); i--)
		(*all)[i] = (*all)[i - 1];
	(*all)[i] = piece;
}

static void put_all(const void ***all, unsigned *n, const void *list, size_t size)
{
	for (const char *piece = list; piece != NULL && pieces_at(piece) != 0; piece += size)
		pieces_put(all, n, piece);
}

const void **pieces(const void *own, const void *(*of)(const struct face *), size_t size,
		    unsigned *n)
{
	const void **all = NULL;

	*n = 0;
	put_all(&all, n, own, size);
	for (const struct face *const *f = faces; *f != NULL; f++)
		put_all(&all, n, of(*f), size);
	return all;
}
