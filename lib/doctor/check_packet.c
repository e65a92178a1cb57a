/* SPDX-License-Identifier: BSD-3-Clause */
/* AF_PACKET: the right to open its sockets, and room for the filter that we attach to them. */
#include "exam.h"

#include <inttypes.h>
#include <linux/capability.h>

#define OPTMEM_LEAST 4096 /* the filter and the kernel's own share of it */
#define OPTMEM_USUAL 131072

/* An interface that the kernel is to use. NULL: none was named. */
static const struct nic *packet_named(const struct exam *x)
{
	for (unsigned i = 0; i < x->nnics; i++)
		if (x->nic[i].for_kernel)
			return &x->nic[i];
	return NULL;
}

static void packet_run(struct exam *x)
{
	const struct nic *n = packet_named(x);
	int64_t optmem = OPTMEM_USUAL;
	struct doctor_finding *f;

	if (x->named && n == NULL)
		return;
	bool raw = exam_cap_net(x, CAP_NET_RAW), admin = exam_cap_net(x, CAP_NET_ADMIN);
	if (!raw || !admin) {
		f = found(x, n == NULL || raw ? DOCTOR_NOTE : DOCTOR_ERROR,
			  n != NULL ? n->ifname : NULL, "this process lacks %s",
			  raw     ? "CAP_NET_ADMIN"
			  : admin ? "CAP_NET_RAW"
				  : "CAP_NET_RAW and CAP_NET_ADMIN");
		found_why(
			f,
			raw ? "ports on an interface (if:, packet:) cannot be promiscuous, and xdp: and tap: need it"
			    : "ports on an interface (if:, packet:, xdp:) need it to open their sockets");
		found_mend_caps(x, f);
		return;
	}
	sys_number(&x->sys, 0, INT64_MAX, &optmem, "/proc/sys/net/core/optmem_max");
	if (optmem < OPTMEM_LEAST) {
		f = found(x, DOCTOR_WARNING, NULL, "net.core.optmem_max is %" PRId64 " bytes",
			  optmem);
		found_why(
			f,
			"the filter that keeps this host's own frames out of the counts does not fit");
		found_mend(f, "sysctl -w net.core.optmem_max=%d", OPTMEM_USUAL);
		return;
	}
	found(x, DOCTOR_OK, NULL, "this process may open AF_PACKET sockets");
}

const struct check check_packet = {"packet", packet_run};
