/* SPDX-License-Identifier: BSD-3-Clause */
/* All records: the build makes the list of the names in meson.build. */
#include "workload.h"

const struct workload *const wl_list[] = {
#include "wl_list.h"
	NULL,
};

const struct workload *wl_find(const char *name)
{
	for (unsigned i = 0; wl_list[i] != NULL; i++) {
		if (strcmp(wl_list[i]->name, name) == 0)
			return wl_list[i];
	}
	return NULL;
}
