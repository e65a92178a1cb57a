/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of sources: it is there, and mapped, before a worker sees it. */
#include <stdlib.h>

#include "capture_ctl.h"

static struct rte_ring *mem_ring(const char *name, unsigned n)
{
	ssize_t bytes = rte_ring_get_memsize(rte_align32pow2(n + 1));
	struct rte_ring *r = bytes > 0 ? xcalloc_lines((size_t)bytes) : NULL;

	if (r != NULL)
		rte_ring_init(r, name, n, RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
	return r;
}

size_t capture_source_bytes(unsigned npieces)
{
	return sizeof(struct capture_source) + (size_t)npieces * CAPTURE_PIECE_BYTES;
}

struct capture_source *capture_source_new(unsigned npieces, int node)
{
	struct capture_source *s = xcalloc_lines(sizeof(*s));

	s->npieces = npieces;
	s->end_tsc = UINT64_MAX;
	s->horizon_ns = UINT64_MAX;
	s->memory = pages_new((size_t)npieces * CAPTURE_PIECE_BYTES, node);
	s->full = mem_ring("full", npieces);
	s->empty = mem_ring("empty", npieces);
	s->spare = xcalloc(npieces, sizeof(*s->spare));
	if (s->memory == NULL || s->full == NULL || s->empty == NULL) {
		capture_source_free(s);
		return NULL;
	}
	for (unsigned i = npieces; i-- > 0;)
		s->spare[s->nspare++] =
			(struct capture_piece *)(s->memory + (size_t)i * CAPTURE_PIECE_BYTES);
	return s;
}

void capture_source_free(struct capture_source *s)
{
	if (s == NULL)
		return;
	pages_free(s->memory, (size_t)s->npieces * CAPTURE_PIECE_BYTES);
	free(s->full);
	free(s->empty);
	free(s->spare);
	free(s);
}
