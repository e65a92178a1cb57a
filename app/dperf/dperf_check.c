/* SPDX-License-Identifier: BSD-3-Clause */
/* What a file must say as a whole: what is missing, what excludes what, what does not add up. Each
 * is refused by dperf too. */
#include <string.h>

#include "dperf_int.h"

#define FRAME_MOST 1514u
#define VXLAN_BYTES 50u
#define RTO_SECONDS 2

struct check {
	const struct dperf_conf *c;
	struct dperf_wrong *w;
};

static const struct dperf_line *check_line(const struct check *k, enum dperf_id id)
{
	return dperf_find(k->c, id, 0);
}

static bool check_has(const struct check *k, enum dperf_id id)
{
	return dperf_has(k->c, id);
}

/* An error at a line, told with what is to be done. */
#define CHECK_FAIL(k, l, ...) dperf_fail((k)->w, (l)->line, (l)->col, __VA_ARGS__)
#define CHECK_MISSING(k, ...) dperf_fail((k)->w, 1, 1, __VA_ARGS__)

static unsigned check_count(const struct check *k, enum dperf_id id)
{
	return k->c->of[id].n;
}

static bool check_same(const struct dperf_addr *a, const struct dperf_addr *b)
{
	return a->six == b->six && memcmp(a->b, b->b, a->six ? 16 : 4) == 0;
}

/* What only one of the two roles may have. */
static void check_roles(const struct check *k)
{
	enum dperf_mode not_for = k->c->server ? DPERF_OF_CLIENT : DPERF_OF_SERVER;

	for (unsigned i = 0; i < k->c->nlines; i++) {
		const struct dperf_line *l = &k->c->line[i];
		const struct dperf_directive *d = &dperf_directives[l->id];
		if (d->mode == not_for)
			CHECK_FAIL(k, l, "%s is of a %s, and this file is of a %s ('mode')",
				   d->name, not_for == DPERF_OF_CLIENT ? "client" : "server",
				   k->c->server ? "server" : "client");
	}
}

static void check_devices(const struct check *k)
{
	const struct dperf_line *l;
	char pci[16], other[16];

	l = dperf_find(k->c, DPERF_PORT, DPERF_PORTS_MOST);
	if (l != NULL) {
		CHECK_FAIL(k, l, "more than %d ports", DPERF_PORTS_MOST);
		return;
	}
	for (unsigned i = 0; (l = dperf_find(k->c, DPERF_PORT, i)) != NULL; i++) {
		if (l->v[1].addr.six != l->v[2].addr.six)
			CHECK_FAIL(
				k, l,
				"port: the address '%s' and the gateway '%s' are of two families",
				l->v[1].text, l->v[2].text);
		if (check_same(&l->v[1].addr, &l->v[2].addr))
			CHECK_FAIL(k, l, "port: address and gateway are the same, %s",
				   l->v[1].text);
		for (unsigned m = 0; dperf_pci(l->v[0].text, m, pci); m++) {
			for (unsigned n = 0; n < m && dperf_pci(l->v[0].text, n, other); n++)
				if (strcmp(pci, other) == 0)
					CHECK_FAIL(k, l, "port: %s is in the bond twice", pci);
			for (unsigned j = 0; j < i; j++) {
				const struct dperf_line *o = dperf_find(k->c, DPERF_PORT, j);
				for (unsigned n = 0; dperf_pci(o->v[0].text, n, other); n++)
					if (strcmp(pci, other) == 0)
						CHECK_FAIL(k, l, "port: %s is in line %u already",
							   pci, o->line);
			}
		}
		for (unsigned j = 0; j < i; j++) {
			const struct dperf_line *o = dperf_find(k->c, DPERF_PORT, j);
			if (check_same(&o->v[1].addr, &l->v[1].addr))
				CHECK_FAIL(k, l,
					   "port: the port of line %u has the address %s already",
					   o->line, l->v[1].text);
		}
	}
}

static void check_cpus(const struct check *k)
{
	const struct dperf_line *l = check_line(k, DPERF_CPU);
	bool taken[1024] = {false};

	if (l == NULL) {
		CHECK_MISSING(
			k,
			"there is no cpu line; 'cpu 1' gives one worker, and each port needs one");
		return;
	}
	if (k->c->cpus > DPERF_CPUS_MOST) {
		CHECK_FAIL(k, l, "cpu: %u of them; allowed: up to %d", k->c->cpus, DPERF_CPUS_MOST);
		return;
	}
	for (unsigned i = 0; i < k->c->cpus; i++) {
		unsigned cpu = dperf_cpu(k->c, i);
		if (taken[cpu])
			CHECK_FAIL(k, l, "cpu: %u stands there twice", cpu);
		taken[cpu] = true;
	}
	if (k->c->ports > 0 && k->c->cpus % k->c->ports != 0)
		CHECK_FAIL(k, l, "cpu: %u of them for %u ports; allowed: as many for each port",
			   k->c->cpus, k->c->ports);
}

/* The lines of addresses: as many as ports. A server may name any number of clients. */
static void check_lines(const struct check *k)
{
	unsigned ports = k->c->ports, clients = check_count(k, DPERF_CLIENT);
	unsigned servers = check_count(k, DPERF_SERVER);

	if (ports == 0)
		CHECK_MISSING(
			k,
			"there is no port line; 'port 0000:3b:00.0 ADDRESS GATEWAY' names a device");
	if (clients == 0)
		CHECK_MISSING(
			k,
			"there is no client line; 'client ADDRESS NUMBER' says who opens connections");
	else if (!k->c->server && ports > 0 && clients != ports)
		CHECK_FAIL(k, check_line(k, DPERF_CLIENT),
			   "client: %u lines for %u ports; allowed: one for each port", clients,
			   ports);
	if (clients > DPERF_PORTS_MOST)
		CHECK_FAIL(k, check_line(k, DPERF_CLIENT), "client: %u lines; allowed: up to %d",
			   clients, DPERF_PORTS_MOST);
	if (servers == 0)
		CHECK_MISSING(k,
			      "there is no server line; 'server ADDRESS NUMBER' says who answers");
	else if (ports > 0 && servers != ports)
		CHECK_FAIL(k, check_line(k, DPERF_SERVER),
			   "server: %u lines for %u ports; allowed: one for each port", servers,
			   ports);
}

/* Of a line of addresses the last octet alone varies, and is neither 0 nor 255. */
static void check_range(const struct check *k, const struct dperf_line *l)
{
	const char *name = dperf_directives[l->id].name;
	unsigned at = l->v[0].addr.six ? 15 : 3;

	if (l->v[0].addr.six != k->c->six)
		CHECK_FAIL(k, l, "%s: '%s' is of another family than the first client", name,
			   l->v[0].text);
	if (l->v[0].addr.b[at] + l->v[1].n - 1 >= 255)
		dperf_fail(k->w, l->line, l->v[1].col,
			   "%s: %s and %s more in its last octet; allowed: up to 254 there", name,
			   l->v[0].text, l->v[1].text);
	for (unsigned i = 2; i < l->n; i++)
		if (l->v[i].addr.six != l->v[0].addr.six)
			dperf_fail(k->w, l->line, l->v[i].col,
				   "%s: '%s' is of another family than '%s'", name, l->v[i].text,
				   l->v[0].text);
}

static bool check_in(const struct dperf_line *l, const struct dperf_addr *a)
{
	const struct dperf_addr *first = &l->v[0].addr;
	unsigned last = first->six ? 15 : 3;

	if (first->six == a->six && memcmp(first->b, a->b, last) == 0 &&
	    a->b[last] >= first->b[last] && a->b[last] - first->b[last] < (int)l->v[1].n)
		return true;
	for (unsigned i = 2; i < l->n; i++)
		if (check_same(&l->v[i].addr, a))
			return true;
	return false;
}

/* No address stands in both lines. */
static void check_overlap(const struct check *k, const struct dperf_line *l,
			  const struct dperf_line *o)
{
	for (unsigned i = 0; i < dperf_addresses(l); i++) {
		struct dperf_addr one;
		dperf_address(l, i, &one);
		if (!check_in(o, &one))
			continue;
		struct sbuf text = {0};
		dperf_print_addr(&one, &text);
		CHECK_FAIL(k, l, "%s: %s is in line %u (%s) already", dperf_directives[l->id].name,
			   sbuf_str(&text), o->line, dperf_directives[o->id].name);
		sbuf_free(&text);
		return;
	}
}

static void check_addresses(const struct check *k)
{
	static const enum dperf_id ids[] = {DPERF_CLIENT, DPERF_SERVER};
	const struct dperf_line *line[2 * DPERF_PORTS_MOST], *l;
	unsigned n = 0;

	for (unsigned r = 0; r < 2; r++)
		for (unsigned i = 0; i < DPERF_PORTS_MOST; i++)
			if ((l = dperf_find(k->c, ids[r], i)) != NULL)
				line[n++] = l;
	for (unsigned i = 0; i < n; i++) {
		check_range(k, line[i]);
		for (unsigned j = 0; j < i; j++)
			if (!k->c->server || line[j]->id == line[i]->id)
				check_overlap(k, line[i], line[j]);
	}
	/* Of a client the port's own address may be one of its clients', and the gateway one of the
	 * servers. The clients that a server names do not matter here: some of dperf's own files
	 * have the server among them. */
	const struct dperf_line *p;
	for (unsigned i = 0; (p = dperf_find(k->c, DPERF_PORT, i)) != NULL; i++) {
		if (!check_has(k, DPERF_VXLAN) && p->v[1].addr.six != k->c->six)
			CHECK_FAIL(k, p, "port: '%s' is of another family than clients and servers",
				   p->v[1].text);
		for (unsigned j = 0; j < n; j++) {
			if (k->c->server && line[j]->id == DPERF_CLIENT)
				continue;
			bool own = !k->c->server && line[j]->id == DPERF_SERVER;
			if (check_in(line[j], &p->v[own ? 1 : 2].addr))
				CHECK_FAIL(k, p, "port: %s %s is an address of line %u (%s)",
					   own ? "the address" : "the gateway",
					   p->v[own ? 1 : 2].text, line[j]->line,
					   dperf_directives[line[j]->id].name);
		}
	}
}

static void check_exclude(const struct check *k, enum dperf_id a, enum dperf_id b)
{
	const struct dperf_line *l = check_line(k, a), *o = check_line(k, b);

	if (l != NULL && o != NULL)
		CHECK_FAIL(k, l, "%s and %s (line %u) exclude each other; take one of them away",
			   dperf_directives[a].name, dperf_directives[b].name, o->line);
}

static void check_vxlan(const struct check *k)
{
	unsigned n = check_count(k, DPERF_VXLAN),
		 queues = k->c->ports ? k->c->cpus / k->c->ports : 0;
	const struct dperf_line *l;

	check_exclude(k, DPERF_VLAN, DPERF_VXLAN);
	check_exclude(k, DPERF_RSS, DPERF_VXLAN);
	if (n == 0)
		return;
	if (n != k->c->ports)
		CHECK_FAIL(k, check_line(k, DPERF_VXLAN),
			   "vxlan: %u lines for %u ports; allowed: one for each port", n,
			   k->c->ports);
	for (unsigned i = 0; (l = dperf_find(k->c, DPERF_VXLAN, i)) != NULL; i++) {
		if (l->v[3].addr.six || l->v[5].addr.six)
			CHECK_FAIL(k, l, "vxlan: the outer addresses are of IPv6; allowed: IPv4");
		if (l->v[4].n != queues)
			dperf_fail(k->w, l->line, l->v[4].col,
				   "vxlan: %s local addresses; allowed: %u, the CPUs of a port",
				   l->v[4].text, queues);
		if (l->v[6].n != 1 && l->v[6].n != l->v[4].n)
			dperf_fail(k->w, l->line, l->v[6].col,
				   "vxlan: %s remote addresses; allowed: 1 or %s", l->v[6].text,
				   l->v[4].text);
	}
	for (unsigned i = 0; (l = dperf_find(k->c, DPERF_PORT, i)) != NULL; i++)
		if (l->v[1].addr.six)
			CHECK_FAIL(k, l, "port: '%s' below vxlan; allowed: an address of IPv4",
				   l->v[1].text);
}

static void check_links(const struct check *k)
{
	const struct dperf_line *l;

	check_exclude(k, DPERF_FLOW_ISOLATE, DPERF_RSS);
	check_exclude(k, DPERF_CLIENT_PORT_RANGE, DPERF_LPORT_RANGE);
	for (unsigned i = 0; (l = dperf_find(k->c, DPERF_PORT, i)) != NULL; i++) {
		if (l->v[0].n == 1 && check_has(k, DPERF_VLAN))
			CHECK_FAIL(k, l, "port: a bond and vlan exclude each other");
		if (l->n < 4 && check_has(k, DPERF_FLOW_ISOLATE))
			CHECK_FAIL(k, l, "port: flow_isolate needs the gateway's MAC address here");
		const struct dperf_line *s = dperf_find(k->c, DPERF_SERVER, i);
		unsigned queues = k->c->cpus / k->c->ports;
		if (queues > 1 && !check_has(k, DPERF_RSS) && s != NULL && s->v[1].n != queues)
			dperf_fail(
				k->w, s->line, s->v[1].col,
				"server: %s addresses for %u CPUs of a port; allowed: as many as CPUs, "
				"or any number with rss",
				s->v[1].text, queues);
	}
	l = check_line(k, DPERF_LISTEN);
	if (l != NULL && l->v[0].n + l->v[1].n >= 65535)
		CHECK_FAIL(k, l, "listen: %s ports from %s on; allowed: below 65535 together",
			   l->v[1].text, l->v[0].text);
	l = check_line(k, DPERF_CLIENT_PORT_RANGE);
	l = l != NULL ? l : check_line(k, DPERF_LPORT_RANGE);
	if (l != NULL && l->n == 2 && l->v[0].n > l->v[1].n)
		CHECK_FAIL(k, l, "%s: %s is above %s", dperf_directives[l->id].name, l->v[0].text,
			   l->v[1].text);
}

/* The tuples of a port must be enough for what it holds open, and for what it opens while it waits
 * for one that does not answer. */
static void check_tuples(const struct check *k, unsigned port)
{
	const struct dperf_line *client = dperf_find(k->c, DPERF_CLIENT, port);
	const struct dperf_line *server = dperf_find(k->c, DPERF_SERVER, port);
	const struct dperf_line *range = check_line(k, DPERF_CLIENT_PORT_RANGE);
	const struct dperf_line *listen = check_line(k, DPERF_LISTEN);
	uint64_t cc = dperf_number(k->c, DPERF_CC, 0) / k->c->ports;
	uint64_t rto = dperf_number(k->c, DPERF_RETRANSMIT_TIMEOUT, RTO_SECONDS);
	uint64_t cps = dperf_number(k->c, DPERF_CPS, 1000) / k->c->ports * rto;

	range = range != NULL ? range : check_line(k, DPERF_LPORT_RANGE);
	uint64_t first = range != NULL ? range->v[0].n : 1;
	uint64_t last = range != NULL && range->n > 1 ? range->v[1].n : 65535;
	if (first > last) /* told already */
		return;
	uint64_t tuples = (uint64_t)dperf_addresses(client) * dperf_addresses(server) *
			  (last - first + 1) * (listen != NULL ? listen->v[1].n : 1);
	if (tuples < cc)
		CHECK_FAIL(
			k, client,
			"client: %llu tuples of addresses and ports for %llu connections; name more "
			"clients here, or more ports in listen",
			(unsigned long long)tuples, (unsigned long long)cc);
	else if (tuples < cps)
		CHECK_FAIL(
			k, client,
			"client: %llu tuples of addresses and ports for %llu connections that open in "
			"%llu s; name more clients here, or more ports in listen",
			(unsigned long long)tuples, (unsigned long long)cps,
			(unsigned long long)rto);
}

static void check_load(const struct check *k)
{
	const struct dperf_line *l = check_line(k, DPERF_CC);
	const struct dperf_line *keep = check_line(k, DPERF_KEEPALIVE);
	const struct dperf_line *flood = check_line(k, DPERF_FLOOD);

	if (keep != NULL && keep->v[0].n == 0 && keep->n > 1 && keep->v[1].n != 0)
		CHECK_FAIL(k, keep,
			   "keepalive: a number of requests without an interval; allowed: an "
			   "interval above 0, or no number");
	if (k->c->server)
		return;
	if (l == NULL && !check_has(k, DPERF_CPS))
		CHECK_MISSING(k, "there is neither cps nor cc; a client needs one of them");
	if (l != NULL && keep == NULL)
		CHECK_FAIL(k, l, "cc needs keepalive; 'keepalive 1s' keeps connections open");
	if (flood != NULL && keep != NULL && keep->v[0].n == 0)
		CHECK_FAIL(k, keep, "keepalive: a flood needs an interval above 0, not %s",
			   keep->v[0].text);
	for (unsigned i = 0; i < k->c->ports; i++)
		if (dperf_find(k->c, DPERF_CLIENT, i) != NULL &&
		    dperf_find(k->c, DPERF_SERVER, i) != NULL)
			check_tuples(k, i);
	l = check_line(k, DPERF_PIPELINE);
	if (l == NULL || l->v[0].n == 0)
		return;
	if (!k->c->udp)
		CHECK_FAIL(k, l, "pipeline needs 'protocol udp'");
	if (keep == NULL)
		CHECK_FAIL(k, l, "pipeline needs keepalive");
	else if (flood == NULL && keep->v[0].n != 0)
		CHECK_FAIL(k, l, "pipeline without flood needs 'keepalive 0us', not %s",
			   keep->v[0].text);
	if (flood == NULL && l->v[0].n > 1 && check_has(k, DPERF_PAYLOAD_FILE))
		CHECK_FAIL(k, l,
			   "pipeline excludes payload_file: a datagram that is a file has no "
			   "number, which tells what was answered");
}

/* Whether the address that many behind this one is no address any more: 32 bits count. */
static bool check_wraps(const struct dperf_addr *a, uint64_t n)
{
	const uint8_t *b = a->b + (a->six ? 12 : 0);
	uint64_t low = (uint64_t)b[0] << 24 | (uint64_t)b[1] << 16 | (uint64_t)b[2] << 8 | b[3];

	return low + n > UINT32_MAX;
}

static void check_change_dip(const struct check *k)
{
	const struct dperf_line *l = check_line(k, DPERF_CHANGE_DIP);
	uint64_t sum = 0;

	if (l == NULL)
		return;
	check_exclude(k, DPERF_CHANGE_DIP, DPERF_VXLAN);
	if (!check_has(k, DPERF_FLOOD))
		CHECK_FAIL(k, l, "change_dip needs flood");
	for (unsigned i = 0; (l = dperf_find(k->c, DPERF_CHANGE_DIP, i)) != NULL; i++) {
		sum += l->v[2].n;
		if (check_wraps(&l->v[0].addr, (l->v[2].n - 1) * l->v[1].n))
			CHECK_FAIL(
				k, l,
				"change_dip: %s steps of %s from %s on leave the addresses behind it; take fewer",
				l->v[2].text, l->v[1].text, l->v[0].text);
		if (l->v[0].addr.six != k->c->six)
			CHECK_FAIL(k, l, "change_dip: '%s' is of another family than the clients",
				   l->v[0].text);
		if (sum > 65536)
			CHECK_FAIL(k, l, "change_dip: %llu addresses in all; allowed: up to 65536",
				   (unsigned long long)sum);
	}
	if (sum < k->c->cpus)
		CHECK_FAIL(k, check_line(k, DPERF_CHANGE_DIP),
			   "change_dip: %llu addresses for %u CPUs; allowed: as many at least",
			   (unsigned long long)sum, k->c->cpus);
}

/* The bytes that a frame has behind Ethernet, IP and what follows it, inside a tunnel if there is
 * one. */
static unsigned check_room(const struct check *k, bool udp)
{
	unsigned jumbo = dperf_jumbo(k->c), most = jumbo == 0 ? FRAME_MOST : jumbo + 14;

	return most - 14 - (k->c->six ? 40 : 20) - (udp ? 8 : 20) -
	       (check_has(k, DPERF_VXLAN) ? VXLAN_BYTES : 0);
}

unsigned dperf_room(const struct dperf_conf *c)
{
	const struct check k = {.c = c};

	return check_room(&k, c->udp);
}

static void check_payload(const struct check *k)
{
	const struct dperf_line *l = check_line(k, DPERF_PAYLOAD_SIZE);
	unsigned room = dperf_room(k->c);
	const struct dperf_line *mss = check_line(k, DPERF_MSS);

	check_exclude(k, DPERF_PAYLOAD_FILE, DPERF_PAYLOAD_SIZE);
	if (mss != NULL && mss->v[0].n > check_room(k, false))
		CHECK_FAIL(k, mss, "mss: %s; allowed: up to %u%s%s", mss->v[0].text,
			   check_room(k, false), check_has(k, DPERF_VXLAN) ? " inside vxlan" : "",
			   check_has(k, DPERF_JUMBO) ? "" : ", or more with jumbo");
	if (l == NULL)
		return;
	if (l->n > 1 && (!k->c->server || l->n != k->c->cpus))
		CHECK_FAIL(
			k, l,
			"payload_size: %u sizes; allowed: one, or of a server one for each of its "
			"%u CPUs",
			l->n, k->c->cpus);
	for (unsigned i = 0; i < l->n; i++) {
		if ((k->c->udp || !k->c->server) && l->v[i].n > room)
			dperf_fail(k->w, l->line, l->v[i].col,
				   "payload_size: %s bytes in one frame; allowed: up to %u%s",
				   l->v[i].text, room,
				   check_has(k, DPERF_JUMBO) ? "" : ", or more with jumbo");
		bool http = l->v[i].n == 0 || l->v[i].n >= DPERF_HTTP_LEAST;
		if (!k->c->udp && http != (l->v[0].n == 0 || l->v[0].n >= DPERF_HTTP_LEAST))
			dperf_fail(k->w, l->line, l->v[i].col,
				   "payload_size: %s beside %s; allowed: all below %d, or none",
				   l->v[i].text, l->v[0].text, DPERF_HTTP_LEAST);
	}
}

static void check_http(const struct check *k)
{
	static const enum dperf_id ids[] = {DPERF_HTTP_HOST, DPERF_HTTP_PATH};
	const struct dperf_line *path = check_line(k, DPERF_HTTP_PATH);

	for (unsigned i = 0; i < ARRAY_SIZE(ids) && !k->c->server; i++) {
		const struct dperf_line *l = check_line(k, ids[i]);
		if (l != NULL && !k->c->http)
			CHECK_FAIL(k, l, "%s needs 'protocol http'", dperf_directives[ids[i]].name);
	}
	if (path != NULL && dperf_number(k->c, DPERF_HTTP_METHOD, 0) == 0 &&
	    (dperf_number(k->c, DPERF_PAYLOAD_SIZE, 0) > 0 || check_has(k, DPERF_PAYLOAD_FILE)))
		CHECK_FAIL(k, path,
			   "http_path and a size or file of the payload exclude each other with "
			   "GET, whose path is what makes the size");
	const struct dperf_line *l = check_line(k, DPERF_FAST_CLOSE);
	if (l != NULL && k->c->udp)
		CHECK_FAIL(k, l, "fast_close needs TCP, and this file has 'protocol udp'");
}

void dperf_check(const struct dperf_conf *c, struct dperf_wrong *w)
{
	const struct check k = {.c = c, .w = w};

	check_roles(&k);
	check_devices(&k);
	check_cpus(&k);
	check_lines(&k);
	/* What follows reads these. */
	if (w->n > 0)
		return;
	check_addresses(&k);
	check_vxlan(&k);
	check_links(&k);
	check_load(&k);
	check_change_dip(&k);
	check_payload(&k);
	check_http(&k);
}
