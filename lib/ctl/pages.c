/* SPDX-License-Identifier: BSD-3-Clause */
#include "pages.h"

#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif
#define PREFERRED 1 /* MPOL_PREFERRED of mbind(2) */
#define NODES 64
#define PAGE 4096

/* Asks for memory of one NUMA node. It is a wish: other memory works too. */
static void pages_prefer(void *at, size_t bytes, int node)
{
	unsigned long mask = 1ul << (node & (NODES - 1));

	if (node >= 0 && node < NODES)
		(void)syscall(SYS_mbind, at, bytes, PREFERRED, &mask, (unsigned long)NODES, 0u);
}

void *pages_new(size_t bytes, int node)
{
	uint8_t *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return NULL;
	pages_prefer(at, bytes, node);
	(void)madvise(at, bytes, MADV_HUGEPAGE);
	(void)madvise(at, bytes, MADV_DONTDUMP);
	if (madvise(at, bytes, MADV_POPULATE_WRITE) != 0)
		for (size_t i = 0; i < bytes; i += PAGE)
			((volatile uint8_t *)at)[i] = 0;
	return at;
}

void pages_free(void *at, size_t bytes)
{
	if (at != NULL)
		munmap(at, bytes);
}
