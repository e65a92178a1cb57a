/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel itself keeps time by. It leaves the TSC when it finds it unsteady, and then ours
 * is unsteady too. */
#include "exam.h"

#include <string.h>

#define FOLDER "/sys/devices/system/clocksource/clocksource0/"

/* Sources that a hypervisor makes of the TSC. */
static bool clocksource_guest(const char *name)
{
	return strcmp(name, "kvm-clock") == 0 || strcmp(name, "xen") == 0 ||
	       strncmp(name, "hyperv", 6) == 0;
}

/* Has the list this name, as a whole word? */
static bool clocksource_listed(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = list; (at = strstr(at, name)) != NULL; at += n)
		if ((at == list || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
			return true;
	return false;
}

static void clocksource_run(struct exam *x)
{
	char name[64], all[256];
	struct doctor_finding *f;

	if (sys_line(&x->sys, name, sizeof(name), FOLDER "current_clocksource") != SYS_READ)
		return;
	if (!x->x86 || strcmp(name, "tsc") == 0 || clocksource_guest(name)) {
		found(x, DOCTOR_OK, NULL, "%s", name);
		return;
	}
	if (sys_line(&x->sys, all, sizeof(all), FOLDER "available_clocksource") != SYS_READ) {
		f = found(x, DOCTOR_NOTE, NULL, "%s, not tsc", name);
		found_why(f, "whether the kernel takes the TSC for steady is not known");
		return;
	}
	/* The kernel takes a TSC that it has found unsteady from the list. */
	if (clocksource_listed(all, "tsc")) {
		f = found(x, DOCTOR_NOTE, NULL, "%s was chosen, and tsc would be steady", name);
		found_why(f, "the kernel reads its time more slowly");
		found_mend(f, "echo tsc > " FOLDER "current_clocksource");
		return;
	}
	f = found(x, DOCTOR_WARNING, NULL, "%s, not tsc", name);
	found_why(
		f,
		"the kernel has found the TSC unsteady (`dmesg | grep -i tsc`), and frames are sent and timed by it");
}

const struct check check_clocksource = {"clocksource", clocksource_run};
