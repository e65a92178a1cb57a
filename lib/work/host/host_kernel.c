/* SPDX-License-Identifier: BSD-3-Clause */
/* A host on an interface that the kernel uses beside us: who else answers there. */
#include <errno.h>

#include "host_ctl.h"
#include "host_face.h"

int host_may_have(const struct ctl *c, unsigned port, const struct host_addrs *ip, struct err *e)
{
	const struct port *p = &c->port[port]->p;

	for (unsigned i = 0; i < ip->n; i++) {
		struct sbuf text = {0};
		if (!port_kernel_has(p, ip->at[i].ip))
			continue;
		host_print_ip(ip->at[i].ip, &text);
		err_set(e, EADDRINUSE,
			"port %u (-p %s): the kernel has the address %s on this interface, and would answer and reset what is the "
			"port's; give the port another one, or `ip addr del` takes it from the kernel",
			port, p->spec_text, sbuf_str(&text));
		sbuf_free(&text);
		return -EADDRINUSE;
	}
	return 0;
}

bool host_forwarded(const struct ctl *c, unsigned port, const struct host_addrs *ip, struct err *e)
{
	const struct port *p = &c->port[port]->p;

	bool four = false, six = false;

	for (unsigned i = 0; i < ip->n; i++) {
		four = four || neigh_is_ip4(ip->at[i].ip);
		six = six || !neigh_is_ip4(ip->at[i].ip);
	}
	four = four && port_kernel_forwards(p, false);
	six = six && port_kernel_forwards(p, true);
	if (four || six)
		err_set(e, EINVAL,
			"the kernel forwards %s on this interface, so it sends on and redirects what comes for the port's "
			"addresses; `sysctl%s%s` ends that",
			four && six ? "IPv4 and IPv6"
			: four      ? "IPv4"
				    : "IPv6",
			four ? " net.ipv4.ip_forward=0" : "",
			six ? " net.ipv6.conf.all.forwarding=0" : "");
	return four || six;
}
