/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of lib/workload that vary, of texts. */
#pragma once
#include "value.h"
#include "workload.h"

static inline struct wl_vary vary_of(const struct vtype *type, const char *text)
{
	const struct vspec spec = {.type = type};
	struct wl_vary v;
	struct err e;

	if (type->parse(&spec, text, &v, &e) != 0)
		__builtin_trap(); /* fuzzers have no assert of cmocka */
	return v;
}
/* Stays until eight more have been asked for. */
static inline const struct wl_vary *sizes_of(const char *text)
{
	static struct wl_vary v[8];
	static unsigned at;

	at = (at + 1) % ARRAY_SIZE(v);
	v[at] = vary_of(&vt_wl_sizes, text);
	return &v[at];
}
