/* SPDX-License-Identifier: BSD-3-Clause */
/* Which driver has the NIC, and can DPDK drive it there (drivers.c)? */
#include "exam.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Tells that a device is not where DPDK can use it. */
static struct doctor_finding *driver_wrong(struct exam *x, const struct nic *n)
{
	enum doctor_severity severity = n->for_dpdk ? DOCTOR_ERROR : DOCTOR_NOTE;

	if (n->driver[0] == '\0')
		return found(x, severity, n->pci, "bound to no driver");
	return found(x, severity, n->pci, "bound to %s%s%s%s",
		     n->kind == DOCTOR_DRIVER_KERNEL ? "the kernel's " : "", n->driver,
		     n->ifname[0] != '\0' ? ", interface " : "", n->ifname);
}

/* The argument that uses an interface as it is. */
static const char *driver_if(struct exam *x, const char *ifname)
{
	char spec[NIC_NAME + 8];

	snprintf(spec, sizeof(spec), "if:%s", ifname);
	return exam_word(x, spec);
}

/* A device that DPDK cannot reach as it is. */
static void driver_unbound(struct exam *x, const struct nic *n)
{
	const char *wanted = doctor_driver_wanted(n->vendor, n->device);
	struct doctor_finding *f = driver_wrong(x, n);
	bool vfio = n->kind == DOCTOR_DRIVER_KERNEL;
	bool own = strcmp(n->out.ifname, n->out.route) == 0;
	char load[SYS_NAME + 16] = "";

	if (n->out.route[0] != '\0') {
		found_why(
			f,
			"DPDK cannot reach it there, and the default route over %s%s%s%s would go with it; take another NIC, or -p %s",
			n->out.route, own ? "" : ", which is on ", own ? "" : n->out.ifname,
			own ? "" : ",", driver_if(x, n->out.ifname));
		return;
	}
	if (!vfio)
		found_why(f, "DPDK drives this device beside the kernel's %s", wanted);
	else if (n->ifname[0] != '\0')
		found_why(
			f,
			"DPDK cannot reach it there; bound to vfio-pci the interface goes away, while -p %s uses it as it is",
			driver_if(x, n->ifname));
	else
		found_why(f, "DPDK reaches a NIC that is bound to vfio-pci");
	if (!sys_exists(&x->sys, "/sys/bus/pci/drivers/%s", wanted))
		snprintf(load, sizeof(load), "modprobe %s && ", wanted);
	found_mend(f, "%sdpdk-devbind.py --bind=%s %s", load, wanted, n->pci);
}

static void driver_none(struct exam *x, const struct nic *n)
{
	struct doctor_finding *f = found(x, n->for_dpdk ? DOCTOR_ERROR : DOCTOR_NOTE, n->pci,
					 "%s has no driver for it (%04" PRIx32 ":%04" PRIx32 ")",
					 x->self->dpdk, n->vendor, n->device);

	if (n->ifname[0] != '\0')
		found_why(f, "it can be used through the kernel, by -p %s",
			  driver_if(x, n->ifname));
	else
		found_why(
			f,
			"it can be used through the kernel, by -p if:NAME, when its own driver has it again");
}

static void driver_run(struct exam *x)
{
	for (unsigned i = 0; i < x->nnics; i++) {
		const struct nic *n = &x->nic[i];
		if (n->missing || n->pci[0] == '\0')
			continue;
		if (n->kind == DOCTOR_DRIVER_SHARED)
			found(x, DOCTOR_OK, nic_name(n),
			      "%s: DPDK works beside the kernel, nothing is to be unbound",
			      n->driver);
		else if (n->kind == DOCTOR_DRIVER_BOUND)
			found(x, DOCTOR_OK, nic_name(n), "bound to %s, DPDK reaches it", n->driver);
		else if (n->for_kernel)
			found(x, DOCTOR_OK, n->ifname,
			      "driven by the kernel's %s, as AF_PACKET and AF_XDP need it",
			      n->driver);
		else if (n->kind == DOCTOR_DRIVER_NONE)
			driver_none(x, n);
		else
			driver_unbound(x, n);
	}
}

const struct check check_driver = {"driver", driver_run};
