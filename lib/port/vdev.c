/* SPDX-License-Identifier: BSD-3-Clause */
/* `-p vdev:NAME,ARGS` opens any virtual device that DPDK has. The arguments are those of its
 * driver. */
#include "port_spec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int vdev_parse(const char *arg, bool take, struct port_need *need, struct err *e)
{
	size_t n = strcspn(arg, ",");

	(void)take;
	if (n == 0)
		return err_set(
			e, EINVAL,
			"port 'vdev:%s': a driver name is missing; write vdev:net_NAME0[,argument=value...], for "
			"example vdev:net_null0,size=128",
			arg);
	if (n >= RTE_ETH_NAME_MAX_LEN)
		return err_set(
			e, EINVAL,
			"port 'vdev:%s': the device name has %zu characters; at most %d are allowed",
			arg, n, RTE_ETH_NAME_MAX_LEN - 1);
	need->nports = 1;
	need->max_rxq = need->max_txq = PORT_MAX_QUEUES;
	need->rx_pool = true;
	/* Most drivers ask for buffers of so many bytes. */
	need->min_data_room = 2048;
	return 0;
}

static int vdev_open(const char *arg, struct port *const *p, unsigned n, struct err *e)
{
	char devname[RTE_ETH_NAME_MAX_LEN], spec[160];
	size_t len = strcspn(arg, ",");

	(void)n;
	snprintf(devname, sizeof(devname), "%.*s", (int)len, arg);
	snprintf(spec, sizeof(spec), "vdev:%s", arg);
	int rc = port_vdev_add(devname, arg[len] == ',' ? arg + len + 1 : "", &p[0]->dev, spec, e);
	if (rc != 0)
		return rc;
	snprintf(p[0]->name, sizeof(p[0]->name), "%s", devname);
	return 0;
}

const struct port_spec port_spec_vdev = {
	.prefix = "vdev",
	.syntax = "vdev:NAME[,ARGS]",
	.help = "any virtual device of DPDK, for example vdev:net_memif0,role=client",
	.parse = vdev_parse,
	.open = vdev_open,
	.unaddressed = true,
};
