/* SPDX-License-Identifier: BSD-3-Clause */
#include "dp.h"

#define KIND(name) extern const struct dp_kind dp_kind_##name;
#include "kinds.inc"
#undef KIND

const struct dp_kind *const dp_kinds[] = {
#define KIND(name) &dp_kind_##name,
#include "kinds.inc"
#undef KIND
	NULL,
};
