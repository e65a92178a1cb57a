/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks before EAL starts whether an interface can be opened: the rights of this process, the
 * state of the interface, and who uses it. */
#include "kport.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "kxdp.h"

unsigned kport_frame_size(uint32_t mtu)
{
	uint32_t want = mtu + 14 + 8 + FRAME_HEAD;

	if (want > FRAME_MAX)
		return FRAME_MAX;
	return want < 2048 ? 2048 : rte_align32pow2(want);
}

static int check_caps(const char *spec, bool xdp, struct err *e)
{
	if (!kern_cap(KERN_CAP_NET_RAW))
		return err_set(
			e, ENODEV,
			"port '%s': this process may not open raw sockets (CAP_NET_RAW is missing); run it with sudo, or: "
			"sudo setcap cap_net_raw,cap_net_admin,cap_ipc_lock=ep PROGRAM",
			spec);
	if (xdp && (!kern_cap(KERN_CAP_NET_ADMIN) ||
		    (!kern_cap(KERN_CAP_BPF) && !kern_cap(KERN_CAP_SYS_ADMIN))))
		return err_set(
			e, ENODEV,
			"port '%s': AF_XDP needs CAP_NET_ADMIN and CAP_BPF; run it with sudo, or use packet:",
			spec);
	return 0;
}

static int check_up(const struct kern_if *k, const char *spec, struct err *e)
{
	if (k->flags & IFF_UP)
		return 0;
	return err_set(e, ENODEV, "port '%s': interface %s is down; ip link set %s up", spec,
		       k->name, k->name);
}

int kport_check_packet(const char *name, const char *spec, struct kern_if *k,
		       struct port_need *need, struct err *e)
{
	bool removed;
	int rc = kern_find(name, k, spec, e);

	if (rc == 0)
		rc = check_caps(spec, false, e);
	if (rc == 0)
		rc = check_up(k, spec, e);
	if (rc != 0)
		return rc;
	/* An XDP program that a killed process of ours has left would take every frame before
	 * AF_PACKET sees it. A program of somebody else stays, and `show ports` names it. */
	kxdp_clean(k, &removed, spec, NULL);
	need->nports = 1;
	need->tx_frees_at_once = true;
	need->max_rxq = need->max_txq = 16;
	need->root = need->rx_pool = true;
	need->min_data_room = kport_frame_size(k->mtu) - FRAME_HEAD;
	need->node = kern_node(name);
	return 0;
}

int kport_check_xdp(const char *name, const char *spec, bool take, struct kern_if *k,
		    struct port_need *need, struct err *e)
{
	char why[128];
	bool removed;
	int rc = kern_find(name, k, spec, e);

	if (rc == 0)
		rc = check_caps(spec, true, e);
	if (rc == 0)
		rc = check_up(k, spec, e);
	if (rc != 0)
		return rc;
	if (!take && kern_in_use(k, why, sizeof(why)))
		return err_set(
			e, ENODEV,
			"port '%s': %s carries %s, and AF_XDP takes every frame away from the kernel; use packet:%s, or add "
			"--take if the kernel's traffic there may stop",
			spec, name, why, name);
	rc = kxdp_clean(k, &removed, spec, e);
	if (rc != 0)
		return -ENODEV;
	int fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_set(e, ENODEV,
			       "port '%s': this kernel gives no AF_XDP socket: %s; use packet:%s",
			       spec, strerror(errno), name);
	close(fd);
	need->nports = 1;
	need->max_rxq = need->max_txq = (unsigned)kern_channels(name);
	need->root = need->rx_pool = need->paired = true;
	need->min_rxd = need->min_txd = XDP_FILL;
	/* The kernel holds as many buffers as the driver has given it, empty or with frames that
	 * wait to be received. Copies of frames come on top of them until they are sent. */
	need->extra_mbufs = XDP_FILL;
	need->tx_frees_at_once = true;
	/* A buffer has the headroom that XDP keeps (256 bytes), the frame and two VLAN tags, and
	 * must fit into a page. */
	need->min_data_room = 2048;
	need->max_data_room = XDP_ROOM_MAX;
	need->node = kern_node(name);
	if (k->mtu > need->max_data_room - 256 - 22)
		return err_set(
			e, ENODEV,
			"port '%s': %s has MTU %u; AF_XDP takes frames up to MTU %u; ip link set %s mtu 1500, or use packet:%s",
			spec, name, k->mtu, need->max_data_room - 256 - 22, name, name);
	return 0;
}
