/* SPDX-License-Identifier: BSD-3-Clause */
/* Most memory that was in use since somebody last looked, seen whenever a part of a document is
 * made. */
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
