/* SPDX-License-Identifier: BSD-3-Clause */
/* Time that the hypervisor gave to somebody else while this guest wanted to run, since it was
 * started. */
#include "exam.h"

#include <inttypes.h>
#include <stdio.h>

enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, TIMES }; /* of /proc/stat */

#define NOTE_SHARE 0.001
#define WARNING_SHARE 0.01

static void steal_run(struct exam *x)
{
	struct sbuf text = {0};
	uint64_t t[TIMES]; /* in ticks */
	double sum = 0;

	sys_head(&x->sys, &text, "/proc/stat");
	int n = sscanf(sbuf_str(&text),
		       "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		       " %" SCNu64 " %" SCNu64,
		       &t[USER], &t[NICE], &t[SYSTEM], &t[IDLE], &t[IOWAIT], &t[IRQ], &t[SOFTIRQ],
		       &t[STEAL]);
	sbuf_free(&text);
	/* While a CPU has nothing to do nothing can be taken from it. */
	for (int i = 0; i < n; i++)
		if (i != IDLE && i != IOWAIT)
			sum += (double)t[i];
	if (n < TIMES || sum <= 0) {
		found(x, DOCTOR_NOTE, NULL, "not known: /proc/stat does not tell");
		return;
	}
	double share = (double)t[STEAL] / sum;
	if (share < NOTE_SHARE) {
		found(x, DOCTOR_OK, NULL, "%s", t[STEAL] == 0 ? "none" : "below 0.1 %");
		return;
	}
	struct doctor_finding *f =
		found(x, share < WARNING_SHARE ? DOCTOR_NOTE : DOCTOR_WARNING, NULL,
		      "%.1f %% of the busy time since the machine started", 100 * share);
	found_why(
		f,
		"the hypervisor ran others on these CPUs: workers stood still meanwhile; it would have to pin or reserve the CPUs of this guest");
}

const struct check check_steal = {"steal", steal_run};
