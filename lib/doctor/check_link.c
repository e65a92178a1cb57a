/* SPDX-License-Identifier: BSD-3-Clause */
/* Is the interface up, and is somebody at the other end? */
#include "exam.h"

#define FLAG_UP 1 /* IFF_UP of linux/if.h */
#define VENDOR_MELLANOX 0x15b3

static void link_look(struct exam *x, const struct nic *n)
{
	int64_t flags = FLAG_UP, carrier = 1;
	struct doctor_finding *f;

	if (sys_number(&x->sys, 0, UINT32_MAX, &flags, "/sys/class/net/%s/flags", n->ifname) ==
		    SYS_READ &&
	    (flags & FLAG_UP) == 0) {
		/* DPDK's drivers of mlx4 and mlx5 set up the interface beside which they work. */
		if (!n->for_kernel && n->vendor == VENDOR_MELLANOX) {
			found(x, DOCTOR_OK, n->ifname, "down; DPDK sets it up");
			return;
		}
		f = found(x, n->for_kernel ? DOCTOR_ERROR : DOCTOR_WARNING, n->ifname, "down");
		found_why(f, "nothing is sent or received over it");
		found_mend(f, "ip link set %s up", exam_word(x, n->ifname));
		return;
	}
	enum sys_state state =
		sys_number(&x->sys, 0, 1, &carrier, "/sys/class/net/%s/carrier", n->ifname);
	if (state == SYS_READ && carrier == 0) {
		f = found(x, DOCTOR_WARNING, n->ifname, "up, and nobody is at the other end");
		found_why(
			f,
			"the cable, the module or the peer's port is missing, or their speeds do not fit; `ethtool %s` tells more",
			exam_word(x, n->ifname));
	} else if (state == SYS_READ) {
		found(x, DOCTOR_OK, n->ifname, "up");
	}
}

/* Looks at interfaces that stay when the program uses the device. */
static void link_run(struct exam *x)
{
	for (unsigned i = 0; i < x->nnics; i++) {
		const struct nic *n = &x->nic[i];
		bool stays = n->for_kernel || (n->for_dpdk && n->kind == DOCTOR_DRIVER_SHARED);
		if (stays && !n->missing && n->ifname[0] != '\0')
			link_look(x, n);
	}
}

const struct check check_link = {"link", link_run};
