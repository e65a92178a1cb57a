/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of whole pages for what workers write, beside that of EAL, which may not grow. */
#pragma once
#include <stddef.h>

/* Zeroed pages, large ones where the system has them, on this NUMA node if there is room (-1:
 * anywhere). Each page is there before this returns, so that no worker has to wait for the kernel,
 * and none goes into a core dump. NULL: there is no memory. */
void *pages_new(size_t bytes, int node);
void pages_free(void *at, size_t bytes); /* NULL is allowed */
