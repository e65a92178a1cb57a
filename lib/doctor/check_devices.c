/* SPDX-License-Identifier: BSD-3-Clause */
/* Are the devices there that were named? */
#include "exam.h"

/* A PCI device of another kind. No command is told that would take it from the kernel. */
static void devices_other(struct exam *x, const struct nic *n)
{
	struct doctor_finding *f =
		found(x, DOCTOR_ERROR, n->pci, "no NIC: its PCI class is %06x", (unsigned)n->class);

	found_why(f, "`lspci | grep -i ethernet` lists the NICs");
}

static void devices_run(struct exam *x)
{
	for (unsigned i = 0; i < x->nnics; i++) {
		const struct nic *n = &x->nic[i];
		if (!n->missing)
			continue;
		if (n->class != 0) {
			devices_other(x, n);
			continue;
		}
		struct doctor_finding *f = found(x, DOCTOR_ERROR, nic_name(n), "not there");
		found_why(
			f,
			n->for_dpdk
				? "no PCI device has this address; `lspci | grep -i ethernet` lists the NICs"
				: "no interface has this name; `ip link` lists them, and one that is bound to DPDK has none");
	}
	if (x->nnics == NICS_MAX) {
		struct doctor_finding *f =
			found(x, DOCTOR_NOTE, NULL, "only %d devices are looked at", NICS_MAX);
		found_why(f,
			  "there may be more; `doctor DEVICE ...` looks at those that are named");
	}
	if (x->nnics == 0)
		found(x, DOCTOR_NOTE, NULL,
		      "no NIC on PCI; kernel interfaces and the built-in wire need none");
}

const struct check check_devices = {"devices", devices_run};
