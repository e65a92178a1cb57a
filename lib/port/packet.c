/* SPDX-License-Identifier: BSD-3-Clause */
/* `-p packet:NAME` opens a Linux interface through AF_PACKET. The kernel goes on using it beside
 * us. */
#include "kport.h"

#include <stdio.h>

static int packet_parse(const char *arg, bool take, struct port_need *need, struct err *e)
{
	struct kern_if k;
	char spec[160];

	(void)take;
	snprintf(spec, sizeof(spec), "packet:%s", arg);
	return kport_check_packet(arg, spec, &k, need, e);
}

static int packet_open(const char *arg, struct port *const *p, unsigned n, struct err *e)
{
	char spec[160];

	(void)n;
	snprintf(spec, sizeof(spec), "packet:%s", arg);
	return kport_open_packet(arg, spec, p[0], e);
}

const struct port_spec port_spec_packet = {
	.prefix = "packet",
	.syntax = "packet:NAME",
	.help = "a Linux interface through AF_PACKET, with super-frames; the kernel goes on using it beside us",
	.parse = packet_parse,
	.open = packet_open,
	KPORT_HOOKS,
	.rss = &kport_rss,
};
