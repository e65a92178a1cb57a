/* SPDX-License-Identifier: BSD-3-Clause */
/* Does each lcore of the map have a CPU of its own? Two that poll on one CPU take turns of
 * milliseconds, as the kernel's scheduler gives them. */
#include "exam.h"

static void map_shared(struct exam *x, const struct doctor_core *a, const struct doctor_core *b)
{
	const struct doctor_core *control = a->control ? a : b->control ? b : NULL;
	struct doctor_finding *f;

	if (control != NULL)
		f = found(x, DOCTOR_WARNING, NULL, "lcore %u and control are both on CPU %d",
			  control == a ? b->lcore : a->lcore, a->cpu);
	else
		f = found(x, DOCTOR_WARNING, NULL, "lcores %u and %u are both on CPU %d", a->lcore,
			  b->lcore, a->cpu);
	found_why(
		f,
		"while one of them runs the other stands still, and frames are late by milliseconds");
}

static void map_run(struct exam *x)
{
	const struct doctor_core *core = x->self->core;
	bool shared = false;

	for (unsigned i = 0; i < x->self->ncores; i++)
		for (unsigned k = 0; k < i; k++)
			if (core[i].cpu == core[k].cpu) {
				map_shared(x, &core[k], &core[i]);
				shared = true;
				break;
			}
	if (x->has_map && !shared)
		found(x, DOCTOR_OK, NULL, "%u CPUs, one for each lcore", x->self->ncores);
}

const struct check check_map = {"map", map_run};
