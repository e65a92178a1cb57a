/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of works, as the build's list has them. It is an archive of its own, so that a program with other works brings its own list. */
#include <stddef.h>

#include "work.h"

#define WORK(folder) extern const struct work work_##folder;
#include "works.inc"
#undef WORK

#define WORK(folder) &work_##folder,
const struct work *const works[] = {
#include "works.inc"
	NULL,
};
