/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes in most_taken how much memory was in use at most. It looks when parts of documents are
 * made: at each large one, and at each 64th of all. The user sets most_taken back. */
#pragma once
#include <stdlib.h>

size_t __sanitizer_get_current_allocated_bytes(void);

static size_t most_taken;

static void *looked_malloc(size_t n)
{
	static unsigned calls;

	if (n > 65536 || calls++ % 64 == 0) {
		size_t now = __sanitizer_get_current_allocated_bytes();
		most_taken = now > most_taken ? now : most_taken;
	}
	return malloc(n);
}
