/* SPDX-License-Identifier: BSD-3-Clause */
/* Is the time of day right? Stamps of logs and reports, and latency from one machine to another,
 * are only as good. */
#include "exam.h"

static void clock_run(struct exam *x)
{
	if (x->self->clock_synced) {
		found(x, DOCTOR_OK, NULL, "kept on time");
		return;
	}
	struct doctor_finding *f =
		found(x, DOCTOR_NOTE, NULL, "nothing keeps the time of day right");
	found_why(
		f,
		"rates and latency on this machine do not need it; reports of several machines do");
	found_mend(f, "timedatectl set-ntp true");
}

const struct check check_clock = {"clock", clock_run};
