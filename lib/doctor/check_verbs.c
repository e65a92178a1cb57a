/* SPDX-License-Identifier: BSD-3-Clause */
/* What DPDK needs where it works beside a driver of the kernel: the device file of its verbs, and
 * rights (DPDK guide of the mlx5 platform, "Run as Non-Root"). */
#include "exam.h"

#include <linux/capability.h>
#include <stdio.h>
#include <string.h>

#define PATH_ROOM (SYS_NAME + 20)

/* The module that makes the device file, of the driver that has the device. */
static const char *verbs_module(const char *driver)
{
	return strcmp(driver, "mlx5_core") == 0   ? "mlx5_ib"
	       : strcmp(driver, "mlx4_core") == 0 ? "mlx4_ib"
						  : "mana_ib";
}

/* Finds the device file, and tells when the process cannot use it. */
static bool verbs_file(struct exam *x, const struct nic *n, char path[PATH_ROOM])
{
	char name[1][SYS_NAME];
	struct doctor_finding *f;

	if (sys_names(&x->sys, name, 1, "/sys/bus/pci/devices/%s/infiniband_verbs", n->pci) == 0) {
		f = found(x, DOCTOR_ERROR, n->pci, "the kernel offers no verbs of it");
		found_why(f, "DPDK drives the device through them");
		found_mend(f, "modprobe %s", verbs_module(n->driver));
		return false;
	}
	snprintf(path, PATH_ROOM, "/dev/infiniband/%s", name[0]);
	if (!sys_exists(&x->sys, "%s", path)) {
		f = found(x, DOCTOR_ERROR, n->pci, "there is no %s", path);
		found_why(
			f,
			"the device is opened through it; in a container the file must be given to it at its start");
		found_mend(f, "docker run --device=%s ...", exam_word(x, path));
		return false;
	}
	return exam_may_open(x, n->pci, path);
}

static void verbs_run(struct exam *x)
{
	for (unsigned i = 0; i < x->nnics; i++) {
		const struct nic *n = &x->nic[i];
		char path[PATH_ROOM];
		if (n->missing || !n->for_dpdk || n->kind != DOCTOR_DRIVER_SHARED ||
		    !verbs_file(x, n, path))
			continue;
		bool raw = exam_cap(x, CAP_NET_RAW), admin = exam_cap(x, CAP_NET_ADMIN);
		if (raw && admin) {
			found(x, DOCTOR_OK, n->pci, "%s can be opened", path);
			continue;
		}
		struct doctor_finding *f =
			found(x, raw ? DOCTOR_WARNING : DOCTOR_ERROR, n->pci,
			      "this process lacks %s%s%s", raw ? "" : "CAP_NET_RAW",
			      raw || admin ? "" : " and ", admin ? "" : "CAP_NET_ADMIN");
		found_why(
			f,
			"by such rights DPDK makes queues of the device and sets up its interface");
		found_mend_caps(x, f);
	}
}

const struct check check_verbs = {"verbs", verbs_run};
