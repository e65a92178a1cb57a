/* SPDX-License-Identifier: BSD-3-Clause */
/* From a compiled filter (lib/filter) to what workers run (lib/dp/filter_match.h). Control. */
#pragma once
#include "filter.h"
#include "filter_match.h"

/* Makes machine code where DPDK can, else the program is interpreted. It keeps a copy of the
 * program. 0, or -EINVAL with the reason in *e: filter_check() refuses it. Only after EAL has
 * started. */
int filter_load(const struct filter_prog *p, struct filter_exec **out, struct err *e);
/* No worker may use it any more. NULL: nothing. */
void filter_unload(struct filter_exec *x);
