/* SPDX-License-Identifier: BSD-3-Clause */
/* The right to open a device that is bound for DPDK, and neighbours in its IOMMU group: the kernel
 * gives a group to a program only when no other driver has a part of it (Linux, Documentation/
 * driver-api/vfio.rst). Without an IOMMU a driver needs physical addresses too, which the kernel
 * tells to few. */
#include "exam.h"

#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>

#define GROUP_MAX 64

/* Tells when the process cannot use a device file. */
static bool vfio_file(struct exam *x, const struct nic *n, const char *path, const char *group)
{
	if (!sys_exists(&x->sys, "%s", path)) {
		struct doctor_finding *f = found(x, DOCTOR_ERROR, n->pci, "there is no %s", path);
		found_why(
			f,
			"the device is opened through it; in a container the file must be given to it at its start");
		found_mend(f, "docker run --device=/dev/vfio/vfio --device=%s ...", group);
		return false;
	}
	return exam_may_open(x, n->pci, path);
}

/* Tells of a neighbour in the group that a driver of the kernel has. Bridges do not count. Only a
 * NIC can be taken from the kernel without asking what hangs on it, and not the way out. */
static void vfio_neighbour(struct exam *x, const struct nic *n, const char *pci, const char *driver)
{
	struct doctor_finding *f =
		found(x, DOCTOR_ERROR, n->pci, "its IOMMU group %d has %s too, bound to %s",
		      n->group, pci, driver);
	uint32_t class;
	struct doctor_way out;
	char against[96];
	bool nic = nic_is_network(&x->sys, pci, &class);

	if (nic && !nic_way_out(&x->sys, pci, &out)) {
		found_why(f, "the kernel gives only a whole group to a program");
		found_mend(f, "dpdk-devbind.py --bind=vfio-pci %s", exam_word(x, pci));
		return;
	}
	if (nic)
		snprintf(against, sizeof(against),
			 "the default route over %s would go with that one", out.route);
	else if (class != 0)
		snprintf(against, sizeof(against),
			 "that one is no NIC (PCI class %06" PRIx32
			 ") and must stay with the kernel",
			 class);
	else
		snprintf(against, sizeof(against), "it is not known what that one is");
	found_why(
		f,
		"the kernel gives only a whole group to a program, and %s; a NIC in another slot has another group",
		against);
}

static bool vfio_alone(struct exam *x, const struct nic *n)
{
	char in[GROUP_MAX][SYS_NAME], driver[SYS_NAME];
	unsigned count =
		sys_names(&x->sys, in, GROUP_MAX, "/sys/kernel/iommu_groups/%d/devices", n->group);

	for (unsigned i = 0; i < count; i++) {
		if (strcmp(in[i], n->pci) == 0 ||
		    sys_link(&x->sys, driver, sizeof(driver), "/sys/bus/pci/devices/%s/driver",
			     in[i]) != SYS_READ ||
		    strcmp(driver, "vfio-pci") == 0 || strcmp(driver, "pcieport") == 0 ||
		    strcmp(driver, "pci-stub") == 0)
			continue;
		vfio_neighbour(x, n, in[i], driver);
		return false;
	}
	return true;
}

/* Tells when the process lacks what a driver without an IOMMU needs. raw: to open the device takes
 * CAP_SYS_RAWIO. */
static bool vfio_physical(struct exam *x, const struct nic *n, bool raw)
{
	bool rawio = !raw || exam_cap(x, CAP_SYS_RAWIO), admin = exam_cap(x, CAP_SYS_ADMIN);

	if (rawio && admin)
		return true;
	struct doctor_finding *f =
		found(x, DOCTOR_ERROR, n->pci, "this process lacks %s%s%s",
		      rawio ? "" : "CAP_SYS_RAWIO", rawio || admin ? "" : " and ",
		      admin ? "" : "CAP_SYS_ADMIN");
	found_why(
		f,
		"without an IOMMU the device is given physical addresses, which the kernel tells to no others");
	found_mend_caps(x, f);
	return false;
}

static void vfio_group(struct exam *x, const struct nic *n)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/vfio/%s%d", n->noiommu ? "noiommu-" : "", n->group);
	if (vfio_file(x, n, "/dev/vfio/vfio", path) && vfio_file(x, n, path, path) &&
	    (!n->noiommu || vfio_physical(x, n, true)))
		found(x, DOCTOR_OK, n->pci, "%s can be opened", path);
}

/* A device that is bound to igb_uio or uio_pci_generic. */
static void vfio_uio(struct exam *x, const struct nic *n)
{
	char name[1][SYS_NAME], path[SYS_NAME + 8];

	if (sys_names(&x->sys, name, 1, "/sys/bus/pci/devices/%s/uio", n->pci) == 0)
		return;
	snprintf(path, sizeof(path), "/dev/%s", name[0]);
	if (exam_may_open(x, n->pci, path) && vfio_physical(x, n, false))
		found(x, DOCTOR_OK, n->pci, "%s can be opened", path);
}

static void vfio_run(struct exam *x)
{
	for (unsigned i = 0; i < x->nnics; i++) {
		const struct nic *n = &x->nic[i];
		bool vfio = strcmp(n->driver, "vfio-pci") == 0;
		if (n->missing)
			continue;
		if (n->kind == DOCTOR_DRIVER_BOUND && !vfio)
			vfio_uio(x, n);
		else if (nic_wants_vfio(n) && n->group >= 0 && vfio_alone(x, n) && vfio)
			vfio_group(x, n);
	}
}

const struct check check_vfio = {"vfio", vfio_run};
