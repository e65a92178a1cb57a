/* SPDX-License-Identifier: BSD-3-Clause */
/* `-p xdp:NAME` opens a Linux interface through AF_XDP, which takes every frame away from the
 * kernel. */
#include "kport.h"

#include <stdio.h>

static int xdp_parse(const char *arg, bool take, struct port_need *need, struct err *e)
{
	struct kern_if k;
	char spec[160];

	snprintf(spec, sizeof(spec), "xdp:%s", arg);
	return kport_check_xdp(arg, spec, take, &k, need, e);
}

static int xdp_open(const char *arg, struct port *const *p, unsigned n, struct err *e)
{
	char spec[160];

	(void)n;
	snprintf(spec, sizeof(spec), "xdp:%s", arg);
	return kport_open_xdp(arg, spec, p[0], e);
}

const struct port_spec port_spec_xdp = {
	.prefix = "xdp",
	.syntax = "xdp:NAME",
	.help = "a Linux interface through AF_XDP; the kernel gets none of its frames while the port is open",
	.parse = xdp_parse,
	.open = xdp_open,
	KPORT_HOOKS,
	.no_restart = true, /* the driver cannot set a queue up twice */
};
