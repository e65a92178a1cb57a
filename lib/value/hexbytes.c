/* SPDX-License-Identifier: BSD-3-Clause */
#include "value.h"

#include <string.h>

struct hexbytes *hexbytes_copy(const struct hexbytes *from)
{
	if (from == NULL)
		return NULL;
	size_t size = sizeof(*from) + from->n;
	struct hexbytes *copy = xcalloc(1, size);
	memcpy(copy, from, size);
	return copy;
}
