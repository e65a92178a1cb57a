/* SPDX-License-Identifier: BSD-3-Clause */
/* Are the CPUs of the workers kept free of other threads? */
#include "exam.h"

/* CPUs of the map that are not isolated. */
static void isolated_not(struct exam *x, const struct cpus *open, const struct cpus *isolated)
{
	struct sbuf text = {0}, all = {0}, args = {0};
	struct cpus both = *open;
	bool one = cpus_count(open) == 1, rest = false;

	for (unsigned i = 0; i < ARRAY_SIZE(both.bit); i++)
		both.bit[i] |= isolated->bit[i];
	for (unsigned i = 0; i < ARRAY_SIZE(both.bit); i++)
		rest |= (x->online.bit[i] & ~both.bit[i]) != 0;
	cpus_text(open, &text);
	cpus_text(&both, &all);
	struct doctor_finding *f =
		found(x, DOCTOR_NOTE, NULL, "CPU%s %s of the map %s not isolated", one ? "" : "s",
		      text.s, one ? "is" : "are");
	if (!rest) {
		found_why(
			f,
			"the kernel runs other threads there, and each one delays frames; no CPU would be left for those");
	} else if (cpus_count(isolated) > 0) {
		found_why(
			f,
			"the kernel runs other threads there, and each one delays frames; isolcpus= on its command line should be %s",
			all.s);
	} else {
		found_why(
			f,
			"the kernel runs other threads and its timer there, and each one delays frames");
		sbuf_addf(&args, "isolcpus=%s nohz_full=%s rcu_nocbs=%s", all.s, all.s, all.s);
		found_kernel_args(x, f, args.s);
	}
	sbuf_free(&args);
	sbuf_free(&all);
	sbuf_free(&text);
}

/* Isolated CPUs are there, and the process may run on none of them. */
static void isolated_away(struct exam *x, const struct cpus *isolated)
{
	struct cpus both = *isolated;
	struct sbuf text = {0}, all = {0};
	bool one = cpus_count(isolated) == 1;

	cpus_put(&both, cpus_first(&x->may));
	cpus_text(isolated, &text);
	cpus_text(&both, &all);
	struct doctor_finding *f = found(x, DOCTOR_NOTE, NULL,
					 "CPU%s %s %s isolated, and this process may not run there",
					 one ? "" : "s", text.s, one ? "is" : "are");
	found_why(f, "the program uses CPUs that its own list has; control needs one besides");
	found_mend(f, "taskset -c %s wirerate ...", all.s);
	sbuf_free(&text);
	sbuf_free(&all);
}

/* May the process run on one of these? */
static bool isolated_reach(const struct exam *x, const struct cpus *isolated)
{
	for (int cpu = 0; cpu < CPUS_MAX; cpu++)
		if (cpus_has(isolated, cpu) && cpus_has(&x->may, cpu))
			return true;
	return false;
}

static void isolated_run(struct exam *x)
{
	struct cpus isolated, open = x->workers;
	struct sbuf text = {0};

	if (sys_cpus(&x->sys, &isolated, "/sys/devices/system/cpu/isolated") != SYS_READ)
		return;
	for (unsigned i = 0; i < ARRAY_SIZE(open.bit); i++)
		open.bit[i] &= ~isolated.bit[i];
	if (cpus_count(&open) > 0) {
		isolated_not(x, &open, &isolated);
	} else if (cpus_count(&isolated) == 0) {
		struct doctor_finding *f = found(x, DOCTOR_NOTE, NULL, "no CPU is isolated");
		found_why(
			f,
			"other threads interrupt workers now and then; given the CPUs of a core map (-m) the doctor says how");
	} else if (!x->has_map && cpus_count(&x->may) > 0 && !isolated_reach(x, &isolated)) {
		isolated_away(x, &isolated);
	} else {
		cpus_text(&isolated, &text);
		found(x, DOCTOR_OK, NULL, "CPU%s %s", cpus_count(&isolated) == 1 ? "" : "s",
		      text.s);
	}
	sbuf_free(&text);
}

const struct check check_isolated = {"isolated", isolated_run};
