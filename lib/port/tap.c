/* SPDX-License-Identifier: BSD-3-Clause */
/* `-p tap:NAME` makes a new interface of this host; if there is one with this name, it must be a
 * tap. The host receives there what the port sends, and the other way round. */
#include "kport.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int tap_parse(const char *arg, bool take, struct port_need *need, struct err *e)
{
	struct kern_if k;
	char spec[160];

	(void)take;
	snprintf(spec, sizeof(spec), "tap:%s", arg);
	if (*arg == '\0' || strlen(arg) >= IF_NAMESIZE || strpbrk(arg, ",/: \t") != NULL)
		return err_set(
			e, EINVAL,
			"port '%s': tap: wants the name of the interface to make, at most %d characters without comma, "
			"slash, colon or space: tap:wr0",
			spec, IF_NAMESIZE - 1);
	if (!kern_cap(KERN_CAP_NET_ADMIN))
		return err_set(
			e, ENODEV,
			"port '%s': making an interface needs CAP_NET_ADMIN; run it with sudo",
			spec);
	if (access("/dev/net/tun", R_OK | W_OK) != 0)
		return err_set(e, ENODEV, "port '%s': /dev/net/tun: %s; modprobe tun", spec,
			       strerror(errno));
	if (kern_find(arg, &k, spec, NULL) == 0 && strcmp(k.kind, "tun") != 0)
		return err_set(
			e, ENODEV,
			"port '%s': interface %s is there already and is no tap; choose another name, or use if:%s",
			spec, arg, arg);
	need->nports = 1;
	need->max_rxq = need->max_txq = 16;
	need->root = need->rx_pool = need->paired = true;
	need->min_data_room = 2048;
	return 0;
}

static int tap_open(const char *arg, struct port *const *p, unsigned n, struct err *e)
{
	char spec[160];

	(void)n;
	snprintf(spec, sizeof(spec), "tap:%s", arg);
	return kport_open_tap(arg, spec, p[0], e);
}

const struct port_spec port_spec_tap = {
	.prefix = "tap",
	.syntax = "tap:NAME",
	.help = "makes a network interface of this host; what the port sends, the host receives there",
	.parse = tap_parse,
	.open = tap_open,
	KPORT_HOOKS,
	.virtual_speed = true,
};
