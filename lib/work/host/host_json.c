/* SPDX-License-Identifier: BSD-3-Clause */
/* What the work host tells the program. */
#include <arpa/inet.h>
#include <errno.h>

#include "host_ctl.h"
#include "host_face.h"

void host_print_ip(const uint8_t ip[16], struct sbuf *out)
{
	char text[INET6_ADDRSTRLEN];
	bool four = neigh_is_ip4(ip);

	sbuf_add(out,
		 inet_ntop(four ? AF_INET : AF_INET6, ip + (four ? 12 : 0), text, sizeof(text)));
}

json_t *host_ip_json(const uint8_t ip[NEIGH_IP])
{
	struct sbuf text = {0};

	host_print_ip(ip, &text);
	json_t *j = json_string(sbuf_str(&text));
	sbuf_free(&text);
	return j;
}

void host_print_mac(const uint8_t mac[6], struct sbuf *out)
{
	sbuf_addf(out, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4],
		  mac[5]);
}

json_t *host_mac_json(const uint8_t mac[6])
{
	struct sbuf text = {0};

	host_print_mac(mac, &text);
	json_t *j = json_string(sbuf_str(&text));
	sbuf_free(&text);
	return j;
}

/* The VLAN ids of a link, the outer one first. */
static json_t *tags_json(const struct neigh_self *self)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < self->tags.n; i++)
		json_array_append_new(array, json_integer(self->tags.at[i].vid));
	return array;
}

static void addresses_add(const struct neigh *n, json_t *array)
{
	static const char *const names[] = {[NEIGH_TENTATIVE] = "tentative",
					    [NEIGH_USED] = "used",
					    [NEIGH_DUPLICATE] = "duplicate"};
	uint64_t version;
	const struct neigh_self *self = neigh_self(n, &version);

	for (unsigned i = 0; i < self->nown; i++)
		json_array_append_new(array, json_pack("{so,so,ss}", "address",
						       host_ip_json(self->own[i].ip), "vlans",
						       tags_json(self), "state",
						       names[neigh_own_state(n, i)]));
}

static json_t *addresses_json(const struct host_port *h)
{
	json_t *array = json_array();
	const struct neigh *n;

	for (unsigned i = 0; (n = host_link_machine(h, i)) != NULL; i++)
		addresses_add(n, array);
	return array;
}

static json_t *refused_json(const struct host_counts *now, const struct host_counts *base)
{
	static const char *const reason[NEIGH_FATES] = {
		[NEIGH_TRUNCATED] = "truncated", [NEIGH_MALFORMED] = "malformed",
		[NEIGH_CHECKSUM] = "checksum",   [NEIGH_SENDER] = "sender",
		[NEIGH_ECHOED] = "own_frame",    [NEIGH_HOP_LIMIT] = "hop_limit",
		[NEIGH_FRAGMENT] = "fragment",   [NEIGH_OPTIONS] = "options",
		[NEIGH_NO_ROOM] = "no_room",     [NEIGH_RATE] = "rate"};
	json_t *o = json_object();

	for (unsigned i = NEIGH_TRUNCATED; i < NEIGH_FATES; i++)
		json_object_set_new(o, reason[i],
				    json_integer((json_int_t)(now->fate[i] - base->fate[i])));
	return o;
}

static json_t *port_json(struct ctl *c, const struct ctl_port *cp)
{
	const struct host_port *h = host_of_port(cp);
	struct neigh_counts m;
	struct host_counts now;

	host_count(c, cp, &now);
	host_link_counts(h, &m);
#define SINCE(member) (json_int_t)(now.member - h->base.member)
#define MACHINE(member) (json_int_t)(m.member - h->neigh_base.member)
	return json_pack("{si,ss,so,s{sI,sI,sI,sI,sI},sI,sI,sI,sI,so,sI,sI,sI,sI,sI,sI}", "port",
			 (int)cp->p.id, "name", cp->p.name, "addresses", addresses_json(h),
			 "answered", "arp", SINCE(fate[NEIGH_DID_ARP]), "nd",
			 SINCE(fate[NEIGH_DID_ND]), "ping", SINCE(fate[NEIGH_DID_PING]),
			 "unreachable", SINCE(fate[NEIGH_DID_UNREACHABLE]), "reset",
			 SINCE(fate[NEIGH_DID_RESET]), "heard", SINCE(fate[NEIGH_HEARD]), "claims",
			 SINCE(fate[NEIGH_CLAIM]), "pongs", SINCE(pongs), "errors", SINCE(errors),
			 "refused", refused_json(&now, &h->base), "unasked",
			 MACHINE(unasked) + SINCE(unasked), "errors_unasked", SINCE(unasked),
			 "probes", MACHINE(probes), "sent", SINCE(sent), "dropped", SINCE(dropped),
			 "unheard", SINCE(unheard));
}

/* The document `show`, with an entry for each of the ports that is a host. */
static json_t *each_host(struct ctl *c, const struct portset *ports, const char *show,
			 json_t *(*entry)(struct ctl *c, const struct ctl_port *cp))
{
	json_t *array = json_array();

	for (unsigned i = 0; i < c->nports; i++)
		if (portset_has(ports, i) && host_settled(c, c->port[i]))
			json_array_append_new(array, entry(c, c->port[i]));
	return json_pack("{ss,so}", "show", show, "ports", array);
}

json_t *host_json(struct ctl *c, const struct portset *ports)
{
	return each_host(c, ports, "host", port_json);
}

static void neighbours_add(const struct neigh *n, json_t *array)
{
	uint64_t version, now = clock_raw_ns();
	const struct neigh_self *self = neigh_self(n, &version);
	struct neigh_entry e;

	for (unsigned i = 0; i < NEIGH_MAX; i++)
		if (neigh_entry(n, i, &e))
			json_array_append_new(
				array,
				json_pack("{so,so,so,ss,sI,sb}", "address", host_ip_json(e.ip),
					  "vlans", tags_json(self), "mac",
					  e.has_mac ? host_mac_json(e.mac) : json_null(), "state",
					  neigh_state_name(e.state), "age_ns",
					  (json_int_t)(now - e.since), "gateway", e.wanted));
}

static json_t *neighbours_json(struct ctl *c, const struct ctl_port *cp)
{
	const struct host_port *h = host_of_port(cp);
	json_t *array = json_array();
	struct neigh_counts m;
	const struct neigh *n;

	(void)c;
	host_link_counts(h, &m);
	for (unsigned i = 0; (n = host_link_machine(h, i)) != NULL; i++)
		neighbours_add(n, array);
	return json_pack("{si,ss,sI,sI,so}", "port", (int)cp->p.id, "name", cp->p.name, "evicted",
			 MACHINE(evicted), "no_room", MACHINE(no_room), "neighbours", array);
}

json_t *host_neighbours_json(struct ctl *c, const struct portset *ports)
{
	return each_host(c, ports, "neighbours", neighbours_json);
}

unsigned host_forget(struct ctl *c, const struct portset *ports)
{
	unsigned n = 0;

	for (unsigned i = 0; i < c->nports; i++) {
		struct host_port *h = host_of_port(c->port[i]);
		for (unsigned k = 0; portset_has(ports, i) && host_link_machine(h, k) != NULL; k++)
			n += neigh_forget(host_link_machine(h, k), clock_raw_ns());
	}
	return n;
}

int host_none(struct err *e)
{
	return err_set(
		e, EINVAL,
		"none of these ports is a host: `set 0 ip 10.0.0.1/24` makes one of a port whose link is up");
}

int host_announce(struct ctl *c, const struct portset *ports, struct err *e)
{
	bool some = false;

	for (unsigned i = 0; i < c->nports; i++) {
		struct host_port *h = host_of_port(c->port[i]);
		if (!portset_has(ports, i) || !host_settled(c, c->port[i]))
			continue;
		for (unsigned k = 0; host_link_machine(h, k) != NULL; k++)
			neigh_announce(host_link_machine(h, k));
		some = true;
	}
	return some ? 0 : host_none(e);
}
