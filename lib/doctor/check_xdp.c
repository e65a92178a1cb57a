/* SPDX-License-Identifier: BSD-3-Clause */
/* AF_XDP: rights, the kernel's version and its compiler for BPF. `if:` falls back to AF_PACKET
 * where AF_XDP is not to be had (docs/ports.md). */
#include "exam.h"

#include <linux/capability.h>

/* A kernel that is older than it should be. */
static void xdp_old(struct exam *x, const char *subject, const char *wanted, const char *why)
{
	struct doctor_finding *f = found(x, DOCTOR_NOTE, subject, "Linux %s is older than %s",
					 x->self->kernel, wanted);

	found_why(f, "%s", why);
}

static void xdp_run(struct exam *x)
{
	const struct nic *n = NULL;
	int64_t jit = 1;

	for (unsigned i = 0; i < x->nnics && n == NULL; i++)
		if (x->nic[i].for_kernel)
			n = &x->nic[i];
	/* Without these rights not even AF_PACKET works, and its check has told so. */
	if ((x->named && n == NULL) || !exam_cap_net(x, CAP_NET_RAW) ||
	    !exam_cap_net(x, CAP_NET_ADMIN))
		return;
	const char *subject = n != NULL ? n->ifname : NULL;
	if (!exam_kernel(x, 5, 4)) {
		xdp_old(x, subject, "5.4",
			"DPDK's driver for AF_XDP wants that; `if:` uses AF_PACKET");
		return;
	}
	if (!exam_cap(x, CAP_SYS_ADMIN) && !(exam_kernel(x, 5, 8) && exam_cap(x, CAP_BPF))) {
		struct doctor_finding *f = found(x, DOCTOR_NOTE, subject,
						 "this process lacks CAP_BPF and CAP_SYS_ADMIN");
		found_why(
			f,
			"AF_XDP loads a program into the kernel; without it `if:` uses AF_PACKET");
		return;
	}
	sys_number(&x->sys, 0, 2, &jit, "/proc/sys/net/core/bpf_jit_enable");
	if (jit == 0) {
		struct doctor_finding *f =
			found(x, DOCTOR_WARNING, NULL, "the kernel interprets BPF programs");
		found_why(f, "the program of an AF_XDP port runs for each frame");
		found_mend(f, "sysctl -w net.core.bpf_jit_enable=1");
		return;
	}
	if (!exam_kernel(x, 5, 11)) {
		xdp_old(x, subject, "5.11",
			"AF_XDP has no busy polling: threads of the kernel share CPUs with the workers");
		return;
	}
	found(x, DOCTOR_OK, NULL, "this process may open AF_XDP sockets");
}

const struct check check_xdp = {"xdp", xdp_run};
