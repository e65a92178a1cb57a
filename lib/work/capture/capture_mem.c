/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of sources: it is there, and mapped, before a worker sees it. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture_ctl.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif
#define MPOL_PREFERRED_MODE 1 /* of mbind(2) */
#define NODES 64

/* Asks for memory of one NUMA node. It is a wish: other memory works too. */
static void mem_prefer(void *at, size_t bytes, int node)
{
	unsigned long mask = 1ul << (node & (NODES - 1));

	if (node >= 0 && node < NODES)
		(void)syscall(SYS_mbind, at, bytes, MPOL_PREFERRED_MODE, &mask,
			      (unsigned long)NODES, 0u);
}

static uint8_t *mem_map(size_t bytes, int node)
{
	uint8_t *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return NULL;
	mem_prefer(at, bytes, node);
	(void)madvise(at, bytes, MADV_HUGEPAGE);
	(void)madvise(at, bytes, MADV_DONTDUMP);
	/* A worker must not be the first to touch a page: that is a call into the kernel. */
	if (madvise(at, bytes, MADV_POPULATE_WRITE) != 0)
		for (size_t i = 0; i < bytes; i += 4096)
			((volatile uint8_t *)at)[i] = 0;
	return at;
}

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
	s->memory = mem_map((size_t)npieces * CAPTURE_PIECE_BYTES, node);
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
	if (s->memory != NULL)
		munmap(s->memory, (size_t)s->npieces * CAPTURE_PIECE_BYTES);
	free(s->full);
	free(s->empty);
	free(s->spare);
	free(s);
}
