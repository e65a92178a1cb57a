/* SPDX-License-Identifier: BSD-3-Clause */
/* The IOMMU: without it vfio-pci has no group of a device to give away, but in its mode without
 * IOMMU, in which a device may write to any memory (DPDK Getting Started Guide for Linux,
 * "VFIO no-IOMMU mode"). */
#include "exam.h"

#include <stdlib.h>
#include <string.h>

#define NOIOMMU "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode"
#define GROUPS_MAX 4096

typedef char iommu_entry[SYS_NAME];

/* Is vfio's mode without an IOMMU on? *loaded: the kernel has vfio. */
static bool iommu_unsafe(struct exam *x, bool *loaded)
{
	char mode[8];

	*loaded = sys_exists(&x->sys, "/sys/module/vfio");
	return sys_line(&x->sys, mode, sizeof(mode), NOIOMMU) == SYS_READ && mode[0] == 'Y';
}

/* Has the kernel's command line this argument, as a whole word? */
static bool iommu_argument(const char *line, const char *arg)
{
	size_t n = strlen(arg);

	for (const char *at = line; (at = strstr(at, arg)) != NULL; at += n)
		if ((at == line || at[-1] == ' ') && strchr(" ,\n", at[n]) != NULL)
			return true;
	return false;
}

/* The argument of the kernel's command line that switches the IOMMU off. NULL: there is none. */
static const char *iommu_switched_off(const struct exam *x, const char *line)
{
	const char *own = x->intel ? "intel_iommu=off" : "amd_iommu=off";

	return x->x86 && iommu_argument(line, own) ? own
	       : iommu_argument(line, "iommu=off") ? "iommu=off"
						   : NULL;
}

/* Puts in the command that lets vfio work without an IOMMU. */
static void iommu_mend_unsafe(struct doctor_finding *f, bool loaded)
{
	found_mend(f, "%s",
		   loaded ? "echo 1 > " NOIOMMU : "modprobe vfio enable_unsafe_noiommu_mode=1");
}

/* No device of the machine has an IOMMU. */
static void iommu_none(struct exam *x, bool wanted, const char *line)
{
	bool loaded, unsafe = iommu_unsafe(x, &loaded);
	const char *off = iommu_switched_off(x, line);
	struct doctor_finding *f;

	if (unsafe) {
		f = found(x, wanted ? DOCTOR_WARNING : DOCTOR_NOTE, NULL,
			  "off; vfio works in its mode without IOMMU");
		found_why(f, "that needs root and hugepages, and a device may write to any memory");
		return;
	}
	f = found(x, wanted ? DOCTOR_ERROR : DOCTOR_NOTE, NULL,
		  "off: the kernel has no IOMMU group");
	if (off != NULL) {
		found_why(
			f,
			"vfio-pci gives a device away by its group; %s on the kernel's command line switches it off",
			off);
		found_kernel_no_arg(x, f, off);
	} else if (x->virtual) {
		found_why(
			f,
			"vfio-pci hands out a group; a guest has an IOMMU if its hypervisor makes one, else vfio needs root");
		iommu_mend_unsafe(f, loaded);
	} else if (x->intel && !iommu_argument(line, "intel_iommu=on")) {
		found_why(f, "vfio-pci gives a device away by its group");
		found_kernel_args(x, f, "intel_iommu=on iommu=pt");
	} else {
		found_why(
			f,
			"vfio-pci gives a device away by its group; the switch is in the firmware's set-up: VT-d, AMD-Vi or IOMMU");
		found_mend(f, "systemctl reboot --firmware-setup");
	}
}

/* Other devices have an IOMMU, and this one has none. */
static void iommu_device(struct exam *x, const struct nic *n)
{
	bool loaded, unsafe = iommu_unsafe(x, &loaded) || n->noiommu;
	struct doctor_finding *f = found(x, unsafe ? DOCTOR_WARNING : DOCTOR_ERROR, n->pci,
					 "the IOMMU is not for it: it has no group%s",
					 unsafe ? "; vfio works in its mode without IOMMU" : "");

	found_why(
		f,
		"vfio-pci takes it only in its mode without IOMMU, which needs root and hugepages, and the device may write to any memory then");
	if (!unsafe)
		iommu_mend_unsafe(f, loaded);
}

static void iommu_run(struct exam *x)
{
	iommu_entry *in = xcalloc(GROUPS_MAX, sizeof(*in));
	unsigned count = sys_names(&x->sys, in, GROUPS_MAX, "/sys/kernel/iommu_groups"), n = 0;
	struct sbuf line = {0};

	for (unsigned i = 0; i < count; i++)
		n += !exam_group_is_none(x, in[i]);
	free(in);
	sys_head(&x->sys, &line, "/proc/cmdline");
	if (n == 0)
		iommu_none(x, exam_wants_vfio(x), sbuf_str(&line));
	else
		found(x, DOCTOR_OK, NULL, "on, %u group%s", n, n == 1 ? "" : "s");
	for (unsigned i = 0; n > 0 && i < x->nnics; i++)
		if (nic_wants_vfio(&x->nic[i]) && (x->nic[i].group < 0 || x->nic[i].noiommu))
			iommu_device(x, &x->nic[i]);
	sbuf_free(&line);
}

const struct check check_iommu = {"iommu", iommu_run};
