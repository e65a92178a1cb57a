/* SPDX-License-Identifier: BSD-3-Clause */
/* `-p if:NAME` opens a Linux interface, through AF_XDP if nobody else uses the interface and AF_XDP
 * can be opened, else through AF_PACKET. */
#include "kport.h"

#include <stdio.h>
#include <string.h>

/* Is AF_XDP to be tried? If so, *need says what it needs; else e says why not. */
static bool want_xdp(const char *name, const char *spec, struct port_need *need, struct err *e)
{
	struct kern_if k;

	return kport_check_xdp(name, spec, false, &k, need, e) == 0;
}

/* Tells which of the two ways was taken. e: why it is not AF_XDP, in the words of an error
 * of `xdp`, whose advice does not fit here. */
static void if_because(struct port *p, const char *name, const struct err *e)
{
	char why[256];

	if (kport_is_xdp(p)) {
		snprintf(
			why, sizeof(why),
			"AF_XDP was chosen, since nothing on this host uses %s; packet:%s exchanges super-frames with a kernel",
			name, name);
	} else {
		const char *reason = strstr(e->text, "': ");
		reason = reason != NULL ? reason + 3 : e->text;
		snprintf(why, sizeof(why), "AF_PACKET was chosen, with super-frames: %.*s",
			 (int)strcspn(reason, ";"), reason);
	}
	kport_because(p, why);
}

static int if_parse(const char *arg, bool take, struct port_need *need, struct err *e)
{
	struct port_need packet = {.node = -1}, xdp = {.node = -1};
	struct kern_if k;
	char spec[160];

	(void)take;
	snprintf(spec, sizeof(spec), "if:%s", arg);
	int rc = kport_check_packet(arg, spec, &k, &packet, e);
	if (rc != 0)
		return rc;
	*need = packet;
	if (want_xdp(arg, spec, &xdp, NULL)) {
		/* *need must be enough for both ways, since AF_XDP may still fail to open.
		 * AF_PACKET works with as few queues as AF_XDP has. */
		*need = xdp;
		if (need->min_data_room < packet.min_data_room)
			need->min_data_room = packet.min_data_room;
	}
	return 0;
}

static int if_open(const char *arg, struct port *const *p, unsigned n, struct err *e)
{
	struct port_need need = {.node = -1};
	struct err why = {0};
	char spec[160];

	(void)n;
	snprintf(spec, sizeof(spec), "if:%s", arg);
	if (!want_xdp(arg, spec, &need, &why) || kport_open_xdp(arg, spec, p[0], &why) != 0) {
		int rc = kport_open_packet(arg, spec, p[0], e);
		if (rc != 0)
			return rc;
	}
	if_because(p[0], arg, &why);
	return 0;
}

/* Opens the interface through AF_PACKET after AF_XDP has failed. The driver opens the sockets of
 * AF_XDP when queues are set up, so only then it turns out whether they can be opened. */
static int if_fallback(struct port *p, struct err *e)
{
	const char *name = p->spec_text + strcspn(p->spec_text, ":") + 1;
	char spec[160], devname[RTE_ETH_NAME_MAX_LEN], arg[IF_NAMESIZE];
	struct err again;

	if (!kport_is_xdp(p) || rte_eth_dev_get_name_by_port(p->dev, devname) != 0)
		return -ENODEV;
	snprintf(arg, sizeof(arg), "%s", name);
	snprintf(spec, sizeof(spec), "if:%s", arg);
	kport_close(p);
	port_vdev_remove(devname);
	kport_closed(p);
	if (kport_open_packet(arg, spec, p, &again) != 0)
		return -ENODEV;
	if_because(p, arg, e);
	return 0;
}

const struct port_spec port_spec_if = {
	.prefix = "if",
	.syntax = "if:NAME",
	.help = "a Linux interface: AF_XDP where it carries no address and no route and AF_XDP opens, else AF_PACKET",
	.parse = if_parse,
	.open = if_open,
	.fallback = if_fallback,
	KPORT_HOOKS,
	.rss = &kport_rss,
	.no_restart = true,
};
