/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of works, made from the build's list of folders. This file is an archive of its own, so
 * that a program with other works can bring a list of its own. */
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
