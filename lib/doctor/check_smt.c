/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads of one core share it: two workers there get half each. */
#include "exam.h"

/* The CPUs of `of` that share their core with a lower one of `of`. false: not known of all. */
static bool smt_doubled(struct exam *x, const struct cpus *of, struct cpus *out)
{
	struct cpus siblings;
	bool known = true;

	*out = (struct cpus){0};
	for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
		if (!cpus_has(of, cpu))
			continue;
		if (sys_cpus(&x->sys, &siblings,
			     "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
			     cpu) != SYS_READ) {
			known = false;
			continue;
		}
		for (int other = 0; other < cpu; other++)
			if (cpus_has(&siblings, other) && cpus_has(of, other))
				cpus_put(out, cpu);
	}
	return known;
}

static void smt_run(struct exam *x)
{
	struct cpus twice, once = x->used;
	struct sbuf twice_text = {0}, once_text = {0};

	bool known = smt_doubled(x, &x->used, &twice);
	for (unsigned i = 0; i < ARRAY_SIZE(once.bit); i++)
		once.bit[i] &= ~twice.bit[i];
	cpus_text(&twice, &twice_text);
	cpus_text(&once, &once_text);
	if (cpus_count(&twice) == 0 && !known) {
		found(x, DOCTOR_NOTE, NULL,
		      "not known: the kernel does not tell which CPUs share a core");
	} else if (cpus_count(&twice) == 0) {
		found(x, DOCTOR_OK, NULL,
		      x->has_map ? "each core of the map has one CPU in it"
				 : "each CPU is a core of its own");
	} else {
		struct doctor_finding *f =
			found(x, x->has_map ? DOCTOR_WARNING : DOCTOR_NOTE, NULL,
			      "CPU%s %s share%s a core with a lower one%s",
			      cpus_count(&twice) == 1 ? "" : "s", twice_text.s,
			      cpus_count(&twice) == 1 ? "s" : "", x->has_map ? " of the map" : "");
		if (x->has_map) {
			found_why(
				f,
				"two threads of a core get about half of it each; CPUs of other cores can take their place in the map");
		} else {
			found_why(f, "two workers on one core get about half of it each");
			found_mend(f, "taskset -c %s wirerate ...", sbuf_str(&once_text));
		}
	}
	sbuf_free(&twice_text);
	sbuf_free(&once_text);
}

const struct check check_smt = {"smt", smt_run};
