/* SPDX-License-Identifier: BSD-3-Clause */
/* The counter by which frames are sent and timed must run at one speed, in all states of the
 * CPU. */
#include "exam.h"

static void tsc_run(struct exam *x)
{
	if (!x->x86) {
		found(x, DOCTOR_OK, NULL, "%s has a counter of constant speed", x->self->arch);
		return;
	}
	if (x->flags.len == 0) {
		struct doctor_finding *f =
			found(x, DOCTOR_NOTE, NULL, "not known: /proc/cpuinfo has no flags");
		found_why(f, "`show clock` tells how well the clock could be calibrated");
		return;
	}
	bool constant = exam_flag(x, "constant_tsc"), nonstop = exam_flag(x, "nonstop_tsc");
	if (constant && nonstop) {
		found(x, DOCTOR_OK, NULL, "constant_tsc and nonstop_tsc");
		return;
	}
	struct doctor_finding *f =
		found(x, DOCTOR_WARNING, NULL, "the CPU lacks %s%s%s",
		      constant ? "" : "constant_tsc", constant || nonstop ? "" : " and ",
		      nonstop ? "" : "nonstop_tsc");
	found_why(
		f,
		x->virtual
			? "rates and latency follow a clock that may change its speed; a hypervisor can pass them on (QEMU: -cpu host,invtsc=on)"
			: "rates and latency follow a clock that may change its speed");
}

const struct check check_tsc = {"tsc", tsc_run};
