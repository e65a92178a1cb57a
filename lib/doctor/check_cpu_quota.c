/* SPDX-License-Identifier: BSD-3-Clause */
/* The time of CPUs that the control group gives. A worker polls all the time; when the time of a
 * period is used up, the kernel stops it until the next one, up to 100 ms later. */
#include <inttypes.h>
#include <string.h>

#include "cgroup.h"

/* Without a map it is not known how many CPUs will be busy: two at least, in thousandths. */
#define GUESSED_BUSY 2000

static void cpu_quota_run(struct exam *x)
{
	struct sbuf file = {0};
	uint64_t quota;
	bool known = cgroup_cpu_thousandths(x, &quota, &file);
	unsigned busy = cpus_count(&x->used);

	if (quota == CGROUP_NONE || quota / 1000 >= busy) {
		if (known)
			found(x, DOCTOR_OK, NULL, "enough for %u CPU%s", busy,
			      busy == 1 ? "" : "s");
	} else {
		struct doctor_finding *f =
			found(x, x->has_map || quota < GUESSED_BUSY ? DOCTOR_WARNING : DOCTOR_NOTE,
			      NULL, "the time of %" PRIu64 ".%" PRIu64 " CPUs, and %u may be busy",
			      quota / 1000, quota % 1000 / 100, busy);
		found_why(
			f,
			"workers poll all the time; when the time is used up the kernel stops them for up to 100 ms");
		found_mend(f, "echo %s > %s", strstr(file.s, "cpu.max") != NULL ? "max" : "-1",
			   exam_word(x, file.s));
	}
	sbuf_free(&file);
}

const struct check check_cpu_quota = {"cpu-quota", cpu_quota_run};
