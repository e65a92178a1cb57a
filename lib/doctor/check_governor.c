/* SPDX-License-Identifier: BSD-3-Clause */
/* Does the frequency of the CPUs follow their load? A worker is always busy, but a core that starts
 * low, or is kept low, needs time to get up. */
#include "exam.h"

#include <string.h>

static void governor_run(struct exam *x)
{
	struct cpus slow = {0};
	char name[32], first[32] = "";
	bool any = false, bad = false;

	for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
		if (!cpus_has(&x->used, cpu))
			continue;
		enum sys_state state =
			sys_line(&x->sys, name, sizeof(name),
				 "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu);
		bad |= state == SYS_BAD;
		if (state != SYS_READ)
			continue;
		any = true;
		if (strcmp(name, "performance") == 0)
			continue;
		cpus_put(&slow, cpu);
		if (first[0] == '\0')
			memcpy(first, name, sizeof(first));
	}
	if (cpus_count(&slow) == 0 && (bad || !sys_exists(&x->sys, "/sys/devices/system/cpu"))) {
		found(x, DOCTOR_NOTE, NULL, "not known: /sys/devices/system/cpu does not tell");
		return;
	}
	if (cpus_count(&slow) == 0) {
		found(x, DOCTOR_OK, NULL,
		      any ? "performance" : "the kernel does not set the frequency here");
		return;
	}
	struct sbuf text = {0};
	cpus_text(&slow, &text);
	struct doctor_finding *f =
		found(x, DOCTOR_WARNING, NULL, "CPU%s %s %s by \"%s\"",
		      cpus_count(&slow) == 1 ? "" : "s", text.s,
		      cpus_count(&slow) == 1 ? "is governed" : "are governed", first);
	found_why(
		f,
		"the frequency changes while traffic goes on, and so do rates and latency; two runs differ");
	found_mend(f, "cpupower -c %s frequency-set -g performance", text.s);
	sbuf_free(&text);
}

const struct check check_governor = {"governor", governor_run};
