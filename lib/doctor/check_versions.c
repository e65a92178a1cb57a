/* SPDX-License-Identifier: BSD-3-Clause */
/* What runs here, for reports of errors. */
#include "exam.h"

static void versions_run(struct exam *x)
{
	const struct doctor_self *s = x->self;

	found(x, DOCTOR_OK, NULL, "wirerate %s, %s (%s), Linux %s on %s", s->program, s->dpdk,
	      s->dpdk_static ? "static" : "shared", s->kernel, s->arch);
}

const struct check check_versions = {"versions", versions_run};
