/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of ports that are hosts. */
#include "host_app.h"
#include "host_face.h"
#include "set/rows.h"

#include <errno.h>

/* Refuses them for a port that can be no host. */
static int host_row_may(const struct setting *row, const struct set_obj *obj, const void *val,
			struct err *e)
{
	const struct ctl *ctl = set_ctl(obj);

	(void)row, (void)val;
	return ctl == NULL ? 0 : host_may(ctl, obj->port, e);
}

/* The same for addresses, which the kernel must not have beside the port. */
static int host_ip_may(const struct setting *row, const struct set_obj *obj, const void *val,
		       struct err *e)
{
	const struct ctl *ctl = set_ctl(obj);
	int rc = host_row_may(row, obj, val, e);

	return rc < 0 || ctl == NULL || val == NULL ? rc : host_may_have(ctl, obj->port, val, e);
}

extern const struct work work_host;
static const struct setting_store host_store = {set_work_put, set_work_get, set_work_unset,
						host_row_may};
static const struct setting_store host_ip_store = {set_work_put, set_work_get, set_work_unset,
						   host_ip_may};

bool host_idle(const struct setting *row, const struct set_obj *obj)
{
	return (row->store == &host_store || row->store == &host_ip_store) &&
	       host_row_may(row, obj, NULL, NULL) != 0;
}

static bool within_own(const struct host_addrs *own, const uint8_t ip[NEIGH_IP])
{
	for (unsigned i = 0; i < own->n; i++)
		if (neigh_within(ip, own->at[i].ip, own->at[i].bits))
			return true;
	return false;
}

/* A gateway is on the link of one of the addresses. */
static bool check_gateway(const struct setting *row, const struct set_obj *obj, struct err *warn)
{
	const struct host_cfg *cfg = work_cfg(obj->cfg, &work_host);

	for (unsigned i = 0; i < cfg->gateway.n; i++) {
		const uint8_t *ip = cfg->gateway.at[i].ip;
		struct sbuf text = {0};
		bool link_local = ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80;
		if (cfg->ip.n == 0 || link_local || within_own(&cfg->ip, ip))
			continue;
		host_print_ip(ip, &text);
		err_set(warn, EINVAL, "%s: port %u has no address in a prefix that holds %s",
			row->name, obj->port, sbuf_str(&text));
		sbuf_free(&text);
		return false;
	}
	return true;
}

static bool check_ip(const struct setting *row, const struct set_obj *obj, struct err *warn)
{
	const struct host_cfg *cfg = work_cfg(obj->cfg, &work_host);
	const struct ctl *ctl = set_ctl(obj);

	return check_gateway(row, obj, warn) &&
	       (ctl == NULL || !host_forwarded(ctl, obj->port, &cfg->ip, warn));
}

static const char *const answer_words[] = {"arp", "nd", "ping", "unreachable", "reset", NULL};

#define AT(member) offsetof(struct host_cfg, member)
#define ROW(rules) \
	.scope = &scope_port, .store = &rules, .arg = &work_host, .flags = SET_WHERE_IT_FITS, \
	.why = WHY_WORK

const struct setting host_rows[] = {
	{.name = "ip",
	 ROW(host_ip_store),
	 .v = {&host_vt_ip},
	 .dflt = "none",
	 .offset = AT(ip),
	 .check = check_ip,
	 .help = "the port's own addresses with the lengths of their prefixes; with one it is a host"},
	{.name = "gateway",
	 ROW(host_store),
	 .v = {&host_vt_gateway},
	 .dflt = "none",
	 .offset = AT(gateway),
	 .check = check_gateway,
	 .help = "who forwards what is not for the port's own prefixes: one address of each family, which is kept resolved"},
	{.name = "host.vlan",
	 ROW(host_store),
	 .v = {&vt_uint, 0, 4094},
	 .dflt = "0",
	 .offset = AT(vlan),
	 .help = "the VLAN of the host's frames; 0: they have no tag. Streams have vlan.vid"},
	{.name = "host.wait",
	 ROW(host_store),
	 .v = {&vt_duration, 0, 600000000000},
	 .dflt = "0s",
	 .offset = AT(wait_ns),
	 .help = "how long a start asks for a next hop that does not answer, and waits for a link, before it is refused; 0s: it asks three times"},
	{.name = "answer",
	 ROW(host_store),
	 .v = {&vt_fflags, .bits = 5, .choices = answer_words},
	 .dflt = HOST_DFLT_ANSWER,
	 .offset = AT(answer),
	 .help = "what the host answers; unreachable: UDP for its addresses, by ICMP errors, at most 1000/s; reset: TCP of no connection, for its\n"
		 "addresses and those of answer.for, by RST. Frames that it takes are in no trial's numbers"},
	{.name = "answer.for",
	 ROW(host_store),
	 .v = {&host_vt_prefixes},
	 .dflt = "none",
	 .offset = AT(proxy),
	 .help = "prefixes for whose addresses the host answers ARP and neighbour discovery, too"},
	{.name = "host.neighbours",
	 ROW(host_store),
	 .v = {&host_vt_neighbours},
	 .dflt = "none",
	 .offset = AT(neighbours),
	 .help = "neighbours whose MAC addresses are given and never change"},
	{0},
};
