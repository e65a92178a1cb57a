/* SPDX-License-Identifier: BSD-3-Clause */
/* `-p null` makes a port that takes every frame at once and gives none (DPDK's net_null). */
#include "port_spec.h"

#include <errno.h>
#include <stdio.h>

static int null_parse(const char *arg, bool take, struct port_need *need, struct err *e)
{
	(void)take;
	if (*arg != '\0')
		return err_set(
			e, EINVAL,
			"port 'null:%s': null takes no argument; for other settings of net_null use "
			"vdev:net_null0,size=...",
			arg);
	need->nports = 1;
	need->max_rxq = need->max_txq = PORT_MAX_QUEUES;
	return 0;
}

static int null_open(const char *arg, struct port *const *p, unsigned n, struct err *e)
{
	char devname[RTE_ETH_NAME_MAX_LEN];
	unsigned i = 0;

	(void)arg;
	(void)n;
	port_dev_name(devname, sizeof(devname), "net_null");
	sscanf(devname, "net_null%u", &i);
	int rc = port_vdev_add(devname, "no-rx=1", &p[0]->dev, "null", e);
	if (rc != 0)
		return rc;
	snprintf(p[0]->name, sizeof(p[0]->name), "null%u", i);
	port_own_mac(p[0]);
	return 0;
}

static void null_link(struct port *p, enum snap_link *link, uint64_t *speed_mbps)
{
	*link = LINK_UP;
	*speed_mbps = p->cfg->speed_bps > 0 ? p->cfg->speed_bps / 1000000 : 10000;
}

static void null_stats(struct port *p, struct snap_port *s)
{
	(void)p;
	s->nic.has_tx_bytes = s->nic.has_rx_bytes = false; /* the driver of DPDK 22.11 reports 0 */
}

static int null_set_mtu(struct port *p, uint16_t mtu, struct err *e)
{
	(void)p;
	(void)mtu;
	(void)e;
	return 0;
}

const struct port_spec port_spec_null = {
	.prefix = "null",
	.syntax = "null",
	.help = "takes every frame and gives none: how fast this machine can generate",
	.parse = null_parse,
	.open = null_open,
	.link = null_link,
	.stats = null_stats,
	.set_mtu = null_set_mtu,
	.virtual_speed = true,
	.deaf = true,
	.unaddressed = true,
};
