/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/doctor only: the control group of this process, of version 2 or of version 1. */
#pragma once
#include "exam.h"

#define CGROUP_NONE UINT64_MAX /* there is no limit */

/* Finds the smallest limit of this name ("hugetlb.2MB.max") in the process's group and those above
 * it. In version 1 the file is called otherwise and belongs to a controller. file gets the path of
 * the file that has it. CGROUP_NONE: no group has one. */
uint64_t cgroup_limit(struct exam *x, const char *v2_file, const char *v1_controller,
		      const char *v1_file, struct sbuf *file);
/* How much time of CPUs the group gets, in thousandths of one CPU, likewise. false: a file was not
 * readable, which has been told, and *out has what the others say. */
bool cgroup_cpu_thousandths(struct exam *x, uint64_t *out, struct sbuf *file);
