/* SPDX-License-Identifier: BSD-3-Clause */
/* `-p memif:ARGS` opens a link by shared memory to another process (VPP, another DPDK program). The
 * arguments are those of DPDK's driver. */
#include "port_spec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int memif_parse(const char *arg, bool take, struct port_need *need, struct err *e)
{
	const char *const roles[] = {"role=server", "role=client", "role=master", "role=slave"};
	bool role = false;

	(void)take;
	for (const char *s = arg; *s != '\0'; s += strcspn(s, ","), s += *s == ',') {
		size_t n = strcspn(s, ",");
		if (memchr(s, '=', n) == NULL)
			return err_set(
				e, EINVAL,
				"port 'memif:%s': '%.*s' is no argument; write memif:role=server|client[,id=N][,socket=FILE]"
				"[,secret=TEXT]",
				arg, (int)n, s);
		if (strncmp(s, "role=", 5) != 0)
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(roles); i++)
			role |= n == strlen(roles[i]) && strncmp(s, roles[i], n) == 0;
		if (!role)
			return err_set(e, EINVAL,
				       "port 'memif:%s': '%.*s'; role is server or client", arg,
				       (int)n, s);
	}
	if (!role)
		return err_set(
			e, EINVAL,
			"port 'memif:%s': role is missing; write memif:role=server|client[,id=N][,socket=FILE]: one side is "
			"the server, the other the client",
			arg);
	need->nports = 1;
	need->max_rxq = need->max_txq = 255;
	need->rx_pool = true;
	need->min_data_room = 2048;
	return 0;
}

static int memif_open(const char *arg, struct port *const *p, unsigned n, struct err *e)
{
	char devname[RTE_ETH_NAME_MAX_LEN], spec[160];

	(void)n;
	port_dev_name(devname, sizeof(devname), "net_memif");
	snprintf(spec, sizeof(spec), "memif:%s", arg);
	int rc = port_vdev_add(devname, arg, &p[0]->dev, spec, e);
	if (rc != 0)
		return rc;
	snprintf(p[0]->name, sizeof(p[0]->name), "memif%s", devname + strlen("net_memif"));
	port_own_mac(p[0]);
	/* The other end may be this program, too, whose first port has the same number. */
	p[0]->mac.addr_bytes[4] =
		strstr(arg, "role=client") != NULL || strstr(arg, "role=slave") != NULL;
	return 0;
}

/* The driver knows no mtu: a frame that is longer than a buffer of the ring takes several. */
static int memif_set_mtu(struct port *p, uint16_t mtu, struct err *e)
{
	(void)p, (void)mtu, (void)e;
	return 0;
}

static void memif_notes(struct port *p, json_t *array)
{
	struct rte_eth_link link = {0};

	if (rte_eth_link_get_nowait(p->dev, &link) == 0 && !link.link_status)
		json_array_append_new(
			array,
			json_string(
				"the other side has not connected yet: until then nothing is accepted"));
}

const struct port_spec port_spec_memif = {
	.prefix = "memif",
	.syntax = "memif:role=server|client[,id=N][,socket=FILE]",
	.help = "shared-memory link to another program, for example VPP",
	.parse = memif_parse,
	.open = memif_open,
	.set_mtu = memif_set_mtu,
	.notes = memif_notes,
	.virtual_speed = true,
};
