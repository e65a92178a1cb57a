/* SPDX-License-Identifier: BSD-3-Clause */
/* What the work count tells the program. */
#include "count_ctl.h"
#include "count_face.h"

static const char *const sort_names[COUNT_SORTS] = {[COUNT_TCP] = "tcp",
						    [COUNT_UDP] = "udp",
						    [COUNT_ICMP] = "icmp",
						    [COUNT_ARP] = "arp",
						    [COUNT_FRAGMENT] = "fragments",
						    [COUNT_BAD] = "bad",
						    [COUNT_OTHER] = "other"};

static json_t *port_json(const struct ctl_port *cp)
{
	const struct count_port *k = count_of(cp);
	json_t *o = json_pack("{si,ss,sI}", "port", (int)cp->p.id, "name", cp->p.name, "before",
			      (json_int_t)count_before(cp));
	uint64_t now[COUNT_SORTS];

	count_sum(cp, now);
	for (unsigned i = 0; i < COUNT_SORTS; i++)
		json_object_set_new(o, sort_names[i],
				    json_integer((json_int_t)(now[i] - k->base[i])));
	return o;
}

json_t *count_json(struct ctl *c, const struct portset *ports)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < c->nports; i++)
		if (portset_has(ports, i) && count_unclaimed(c->port[i]))
			json_array_append_new(array, port_json(c->port[i]));
	return json_pack("{ss,so}", "show", "unclaimed", "ports", array);
}
