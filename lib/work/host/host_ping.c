/* SPDX-License-Identifier: BSD-3-Clause */
/* Control's half of `ping`, `arping` and `traceroute`. It waits until the own address is in use,
 * finds the next hop through the neighbours of the host, lets a worker send, and tells what became
 * of each request. */
#include "host_ping.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host_ctl.h"
#include "host_face.h"
#include "host_through_ctl.h"
#include "neigh_trace.h"

#define HOPS 64
/* Requests that follow each other faster than this keep their worker awake. */
#define AWAKE_NS 10000000ull
/* So long a device may take no frame of a ping that is to send more. */
#define STUCK_NS 5000000000ull
/* Of the time between two turns no more than this counts: the program may have stood still. */
#define TURN_NS 200000000ull
#define MACS_MAX 8
#define TOLD_MAX 8

enum ping_phase { PING_OWN, PING_NEXT, PING_SENDS, PING_OVER, PING_FAILED };

struct host_ping {
	struct host_ping_spec spec;
	struct neigh_ping ping;
	uint8_t next[NEIGH_IP], mac[6];
	enum ping_phase phase;
	uint32_t run;
	unsigned len;                /* of frames, without FCS */
	struct neigh_tags tags;      /* of the link on which it asks */
	struct host_through through; /* of a stream */
	bool asks_next;              /* for the MAC address of next; else it is known */
	uint64_t grown;              /* requests that were sent in the turn before */
	uint64_t turn_ns, stuck_ns;  /* when that was, and how long none was sent that is due */
	uint64_t count;              /* requests that may be sent; it changes in a traceroute */
	uint64_t first_ns;           /* when control saw the first one; 0: it has not */
	struct neigh_pings *fates;
	struct neigh_trace *trace; /* NULL: it is none */
	uint64_t unread;           /* frames of the workers that were not read, before it began */
	struct err why;            /* FAILED */
	uint8_t macs[MACS_MAX][6]; /* who has answered */
	unsigned nmacs, ntold;
	struct ping_told {
		struct neigh_pong pong;
		uint64_t count;
	} told[TOLD_MAX]; /* ICMP errors, by who said what */
};

/* ---- what is told ---- */

static void ping_keep_mac(struct host_ping *p, const uint8_t mac[6])
{
	for (unsigned i = 0; i < p->nmacs; i++)
		if (memcmp(p->macs[i], mac, 6) == 0)
			return;
	if (p->nmacs < MACS_MAX)
		memcpy(p->macs[p->nmacs++], mac, 6);
}

static void ping_keep_error(struct host_ping *p, const struct neigh_pong *pong)
{
	struct ping_told *x = p->told;

	for (; x < p->told + p->ntold; x++)
		if (memcmp(x->pong.ip, pong->ip, NEIGH_IP) == 0 && x->pong.type == pong->type &&
		    x->pong.code == pong->code)
			break;
	if (x == p->told + TOLD_MAX)
		return;
	if (x == p->told + p->ntold)
		*x = (struct ping_told){.pong = *pong};
	p->ntold += x == p->told + p->ntold;
	x->count++;
}

static void ping_told(void *arg, const struct neigh_pings_news *n)
{
	struct host_ping *p = arg;

	if (p->trace != NULL)
		neigh_trace_hear(p->trace, n);
	if (n->kind == NEIGH_PINGS_ERROR)
		ping_keep_error(p, n->pong);
	else if (n->pong != NULL)
		ping_keep_mac(p, n->pong->mac);
	if (p->spec.tell != NULL)
		p->spec.tell(p->spec.arg, n);
}

/* ---- begin ---- */

static int ping_refuse(struct err *e, const struct host_ping_spec *s, enum neigh_way_found found)
{
	struct sbuf to = {0};
	const char *six = neigh_is_ip4(s->to) ? "IPv4" : "IPv6";

	host_print_ip(s->to, &to);
	if (found == NEIGH_WAY_SELF)
		err_set(e, EINVAL, "%s is an address of port %u itself", sbuf_str(&to), s->port);
	else if (found == NEIGH_WAY_ALL)
		err_set(e, EINVAL,
			"%s is the address of all on a link of port %u, and one host is asked: name one",
			sbuf_str(&to), s->port);
	else if (found == NEIGH_WAY_FAMILY)
		err_set(e, EINVAL,
			"port %u has no %s address to ask %s from: `set %u ip %s` gives one",
			s->port, six, sbuf_str(&to), s->port,
			neigh_is_ip4(s->to) ? "10.0.0.1/24" : "fd00::1/64");
	else if (s->link)
		err_set(e, EINVAL,
			"%s is on no link of port %u: only neighbours are asked in this way, `ping` asks all others",
			sbuf_str(&to), s->port);
	else
		err_set(e, EINVAL,
			"%s is on no link of port %u, which has no %s gateway: `set %u gateway ADDRESS` names one",
			sbuf_str(&to), s->port, six, s->port);
	sbuf_free(&to);
	return -EINVAL;
}

int host_ping_size(const struct ctl_port *cp, const struct neigh_tags *tags, unsigned least,
		   const char *behind, unsigned *size, struct err *e)
{
	const struct dp_txq *q = host_of_port(cp)->share[host_of_port(cp)->speaker];
	unsigned room = rte_pktmbuf_data_room_size(q->pool) - RTE_PKTMBUF_HEADROOM;
	unsigned most = (unsigned)ctl_mtu(cp) + NEIGH_ETH + tags->n * NEIGH_TAG + RTE_ETHER_CRC_LEN;

	least = RTE_MAX(least, (unsigned)NEIGH_FRAME_MIN) + RTE_ETHER_CRC_LEN;
	most = RTE_MIN(most, RTE_MIN(room, (unsigned)HOST_PING_FRAME_MAX) + RTE_ETHER_CRC_LEN);
	if (*size == 0)
		*size = RTE_MIN(most, RTE_MAX(least, (unsigned)HOST_PING_SIZE));
	if (*size >= least && *size <= most)
		return 0;
	return err_set(
		e, ERANGE,
		"an echo request of %u bytes%s%s: allowed are %u to %u, the FCS included, as the mtu of port %u is %" PRIu64,
		*size, behind != NULL ? " behind the headers of " : "",
		behind != NULL ? behind : "", least, most, cp->p.id, ctl_mtu(cp));
}

/* Finds the size of frames on a link. */
static int ping_size(const struct ctl_port *cp, struct host_ping *p, struct err *e)
{
	const struct neigh_self tag = {.tags = p->tags};
	uint8_t f[NEIGH_FRAME_MAX];
	int rc = 0;

	if (p->spec.link)
		p->spec.size =
			RTE_MAX(neigh_ping_ask(&tag, &p->ping, f), (unsigned)NEIGH_FRAME_MIN) +
			RTE_ETHER_CRC_LEN;
	else
		rc = host_ping_size(cp, &p->tags, neigh_ping_least(&tag, p->spec.to), NULL,
				    &p->spec.size, e);
	p->len = p->spec.size - RTE_ETHER_CRC_LEN;
	return rc;
}

/* The memory of workers, which stays until the port is closed. */
static int ping_states(const struct ctl *c, struct ctl_port *cp, struct err *e)
{
	struct host_port *h = host_of_port(cp);

	for (unsigned w = 0; w < c->nworkers; w++) {
		if (h->state[w] == NULL || h->ping_state[w] != NULL)
			continue;
		h->ping_state[w] = state_new(sizeof(*h->ping_state[w]), c->worker[w].node);
		if (h->ping_state[w] == NULL)
			return err_set(e, ENOMEM, "no memory to ask from port %u", cp->p.id);
	}
	return 0;
}

static uint64_t ping_unread(const struct ctl *c, const struct host_port *h)
{
	uint64_t n = 0;

	for (unsigned w = 0; w < c->nworkers; w++)
		if (h->ping_state != NULL && h->ping_state[w] != NULL)
			n += cell_get(&h->ping_state[w]->unread);
	return n;
}

/* Finds the way on a link of the host. */
static int ping_way(const struct ctl_port *cp, struct host_ping *p, struct err *e)
{
	struct neigh_own own[NEIGH_OWN_MAX] = {0};
	struct neigh_setup setup;
	struct neigh_way way;

	host_setup(cp, &setup);
	for (unsigned i = 0; i < setup.nown; i++) {
		memcpy(own[i].ip, setup.own[i].ip, NEIGH_IP);
		own[i].bits = setup.own[i].bits;
	}
	enum neigh_way_found found = neigh_way_find(own, setup.nown, setup.wanted, setup.nwanted,
						    p->spec.to, p->spec.link, &way);
	if (found != NEIGH_WAY)
		return ping_refuse(e, &p->spec, found);
	memcpy(p->ping.from, way.from, NEIGH_IP);
	memcpy(p->next, way.next, NEIGH_IP);
	p->tags = p->spec.stream < 0 ? setup.tags : p->through.tags;
	p->asks_next = !p->spec.link;
	return ping_size(cp, p, e);
}

/* The way of requests behind the headers of a stream. */
static void ping_inside(struct host_ping *p)
{
	const struct host_through *t = &p->through;

	memcpy(p->next, t->hop.ip, NEIGH_IP);
	memcpy(p->mac, t->hop.mac, 6);
	p->asks_next = !t->hop.known;
	p->tags = t->tags;
	p->len = t->len;
	p->spec.size = t->len + RTE_ETHER_CRC_LEN;
}

/* Keeps the link that the stream goes through, or makes it if there is a host by now. */
static int ping_link(struct ctl_port *cp, struct host_ping *p, struct err *e)
{
	struct host_port *h = host_of_port(cp);

	h->ping_link = &p->tags;
	if (h->n == NULL || host_lags(cp))
		return 0;
	host_links_follow(cp, clock_raw_ns());
	if (host_link_find(h, &p->tags) != NULL)
		return 0;
	h->ping_link = NULL;
	return err_set(
		e, ERANGE,
		"port %u asks in %d VLANs beside host.vlan already, and has room for no more",
		cp->p.id, HOST_LINKS_MAX);
}

static int ping_prepare(struct ctl *c, struct ctl_port *cp, struct host_ping *p, struct err *e)
{
	struct host_port *h = host_of_port(cp);
	int rc = 0;

	if (h->speaker < 0)
		return err_set(e, EINVAL, "port %u sends on no queue, so it can ask nobody",
			       cp->p.id);
	if (p->spec.stream >= 0)
		rc = host_through(c, cp, (unsigned)p->spec.stream, &p->ping, p->spec.size,
				  &p->through, e);
	if (rc == 0 && p->through.inside)
		ping_inside(p);
	else if (rc == 0)
		rc = ping_way(cp, p, e);
	if (rc < 0)
		return rc;
	if (h->ping != NULL)
		return err_set(e, EBUSY,
			       "port %u is asking somebody already; the other command ends first",
			       cp->p.id);
	if (!ctl_port_runs(cp) || !host_has_link(cp))
		return err_set(e, ENETDOWN, "port %u has no link, so it can ask nobody", cp->p.id);
	rc = ping_states(c, cp, e);
	if (rc == 0 && p->spec.stream >= 0)
		rc = ping_link(cp, p, e);
	return rc;
}

int host_ping_start(struct ctl *c, const struct host_ping_spec *spec, struct host_ping **out,
		    struct err *e)
{
	struct ctl_port *cp = c->port[spec->port];
	struct host_port *h = host_of_port(cp);
	int rc = host_may(c, spec->port, e);

	if (rc < 0)
		return rc;
	struct host_ping *p = xcalloc(1, sizeof(*p));
	p->spec = *spec;
	memcpy(p->ping.to, spec->to, NEIGH_IP);
	p->ping.link = spec->link;
	p->count = spec->count;
	uint64_t chance = clock_raw_ns();
	p->ping.id = (uint16_t)fnv1a(FNV_BASIS, (const uint8_t *)&chance, sizeof(chance));
	rc = ping_prepare(c, cp, p, e);
	if (rc < 0) {
		free(p->through.image);
		free(p);
		return rc;
	}
	p->run = ++h->ping_run;
	p->fates = neigh_pings_new(clock_cycles(HOST_PING_WAIT_NS), clock_ns, ping_told, p);
	p->unread = ping_unread(c, h);
	if (spec->hops > 0) {
		p->trace = xcalloc(1, sizeof(*p->trace));
		neigh_trace_init(p->trace, spec->hops, spec->probes);
		p->count = neigh_trace_due(p->trace);
	}
	h->ping = p;
	*out = p;
	return 0;
}

static void ping_replan(struct ctl *c, const struct host_port *h)
{
	for (unsigned w = 0; w < c->nworkers; w++)
		if (h->state[w] != NULL)
			ctl_replan(c, w);
}

void host_ping_free(struct ctl *c, struct host_ping *p)
{
	if (p == NULL)
		return;
	struct ctl_port *cp = c->port[p->spec.port];
	struct host_port *h = host_of_port(cp);
	h->ping = NULL;
	h->ping_link = NULL;
	if (h->n != NULL && p->spec.stream >= 0)
		host_links_follow(cp, clock_raw_ns());
	if (h->state != NULL)
		ping_replan(c, h);
	free(p->through.image);
	neigh_pings_free(p->fates);
	free(p->trace);
	free(p);
}

/* ---- in each turn of control ---- */

static void ping_fail(struct host_ping *p, int code, const char *text, const uint8_t ip[NEIGH_IP])
{
	struct sbuf name = {0};

	host_print_ip(ip, &name);
	err_set(&p->why, code, text, p->spec.port, sbuf_str(&name));
	sbuf_free(&name);
	p->phase = PING_FAILED;
}

/* Whether the own address may be used. One that is set just now is tried first, and so is each one
 * when the link has come back. */
static bool ping_own_usable(const struct neigh *n, struct host_ping *p)
{
	uint64_t version;

	if (n == NULL) {
		ping_fail(
			p, ENODEV,
			p->spec.stream < 0
				? "port %u: its host.vlan was changed while %s was asked"
				: "port %u: it asks in other VLANs, and has no room for that in which %s is asked",
			p->ping.to);
		return false;
	}
	if (p->through.inside) /* what asks for the next hop waits for the own addresses */
		return true;
	const struct neigh_self *self = neigh_self(n, &version);
	const struct neigh_own *own = neigh_own_find(self, p->ping.from);
	if (own == NULL) {
		ping_fail(p, ENODEV, "port %u: its address %s has been taken away", p->ping.from);
		return false;
	}
	switch (neigh_own_state(n, (unsigned)(own - self->own))) {
	case NEIGH_TENTATIVE:
		return false;
	case NEIGH_DUPLICATE:
		ping_fail(p, EADDRINUSE,
			  "port %u does not use its address %s, because somebody else has it",
			  p->ping.from);
		return false;
	default:
		return true;
	}
}

/* Begins to ask for the next hop. */
static void ping_own(struct neigh *n, struct host_ping *p, uint64_t now)
{
	if (!p->asks_next)
		p->phase = PING_SENDS;
	else if (neigh_wake(n, p->next, now))
		p->phase = PING_NEXT;
	else
		ping_fail(p, ENOBUFS, "port %u: the table of neighbours has no room for %s",
			  p->next);
}

/* Whether the next hop is known; follows it when it moves. */
static void ping_next(struct ctl *c, const struct host_port *h, struct neigh *n,
		      struct host_ping *p, uint64_t now)
{
	struct neigh_entry x;

	if (!neigh_find(n, p->next, &x)) {
		neigh_wake(n, p->next, now);
		return;
	}
	if (p->phase == PING_NEXT && x.state == NEIGH_FAILED) {
		ping_fail(p, EHOSTUNREACH,
			  neigh_is_ip4(p->next)
				  ? "port %u: no answer to ARP from %s"
				  : "port %u: no answer to neighbour solicitation from %s",
			  p->next);
		return;
	}
	if (p->phase == PING_SENDS)
		neigh_wake(n, p->next, now);
	if (!x.has_mac || (p->phase == PING_SENDS && memcmp(x.mac, p->mac, 6) == 0))
		return;
	memcpy(p->mac, x.mac, 6);
	p->phase = PING_SENDS;
	ping_replan(c, h);
}

static void ping_read_sent(struct host_port *h, struct host_ping *p)
{
	struct host_ping_state *s = h->ping_state[h->speaker];

	for (; host_ring_has(&s->sent_ring) > 0; host_ring_step(&s->sent_ring.got)) {
		const struct host_ping_sent *x = &s->sent[s->sent_ring.got % HOST_PING_SENT];
		if (x->run != p->run)
			continue;
		if (x->taken)
			neigh_pings_sent(p->fates, x->tsc);
		else
			neigh_pings_unsent(p->fates);
	}
}

static void ping_read_heard(struct host_ping_state *s, struct host_ping *p, unsigned n)
{
	for (; n > 0; n--, host_ring_step(&s->heard_ring.got)) {
		const struct host_ping_heard *x = &s->heard[s->heard_ring.got % HOST_PING_HEARD];
		if (x->run == p->run)
			neigh_pings_heard(p->fates, &x->pong, !p->spec.link, x->tsc);
	}
}

/* Whether no request is to be sent or waited for. */
static bool ping_is_over(struct ctl *c, struct host_port *h, struct host_ping *p, uint64_t now)
{
	const struct neigh_pings_counts *k = neigh_pings_counts(p->fates);
	const struct neigh_trace *t = p->trace;

	if (t == NULL)
		return k->sent == p->count && k->open == 0;
	unsigned n = neigh_trace_count(t), due = neigh_trace_due(t);
	if (p->count != due) {
		p->count = due;
		ping_replan(c, h);
	}
	if (p->first_ns == 0 && k->sent > 0)
		p->first_ns = now;
	if (k->sent < n || neigh_trace_in(t, n, NEIGH_TRACE_OPEN) > 0)
		return false;
	return neigh_trace_end(t) > 0 || neigh_trace_in(t, n, NEIGH_TRACE_LOST) == 0 ||
	       now - p->first_ns >= HOST_TRACE_WAIT_NS;
}

/* Frames that came back are counted before the requests are read, so that each finds its
 * request. */
static void ping_read(struct ctl *c, struct host_port *h, struct host_ping *p, uint64_t now)
{
	uint64_t tsc = clock_tsc();
	unsigned *n = xcalloc(c->nworkers, sizeof(*n));

	for (unsigned w = 0; w < c->nworkers; w++)
		if (h->ping_state[w] != NULL)
			n[w] = host_ring_has(&h->ping_state[w]->heard_ring);
	ping_read_sent(h, p);
	for (unsigned w = 0; w < c->nworkers; w++)
		if (h->ping_state[w] != NULL)
			ping_read_heard(h->ping_state[w], p, n[w]);
	free(n);
	neigh_pings_turn(p->fates, tsc);
	const struct neigh_pings_counts *k = neigh_pings_counts(p->fates);
	/* One that has nothing to send is not stuck: a traceroute waits before it asks further. */
	p->stuck_ns = k->sent > p->grown || k->sent == p->count
			      ? 0
			      : p->stuck_ns + RTE_MIN(now - p->turn_ns, TURN_NS);
	p->grown = k->sent;
	if (ping_is_over(c, h, p, now))
		p->phase = PING_OVER;
	else if (k->sent < p->count && p->stuck_ns > p->spec.every_ns + STUCK_NS)
		ping_fail(p, EIO, "port %u takes no frames, so that %s cannot be asked",
			  p->ping.to);
}

/* Whether its frames have room in the buffers: others may have set another mtu since it began. */
static bool ping_fits(const struct host_port *h, const struct host_ping *p)
{
	const struct dp_txq *q = h->share[h->speaker];

	return p->len <= (unsigned)rte_pktmbuf_data_room_size(q->pool) - RTE_PKTMBUF_HEADROOM;
}

static void ping_step(struct ctl *c, struct ctl_port *cp, struct host_ping *p, uint64_t now)
{
	struct host_port *h = host_of_port(cp);
	struct neigh *n = host_link_find(h, &p->tags);
	bool usable = ping_own_usable(n, p);

	if (p->phase == PING_FAILED)
		return;
	if (!ping_fits(h, p)) {
		ping_fail(p, EMSGSIZE,
			  "port %u: its mtu was changed, and what %s is asked by is too long now",
			  p->ping.to);
		return;
	}
	if (!usable && p->phase != PING_SENDS)
		return;
	if (p->phase == PING_OWN)
		ping_own(n, p, now);
	if (p->asks_next && (p->phase == PING_NEXT || p->phase == PING_SENDS))
		ping_next(c, h, n, p, now);
	if (p->phase == PING_SENDS)
		ping_read(c, h, p, now);
	if (p->phase == PING_SENDS && !usable)
		p->phase = PING_OWN; /* no address may be used while it is tried */
}

void host_ping_step(struct ctl *c, struct ctl_port *cp, uint64_t now)
{
	struct host_port *h = host_of_port(cp);
	struct host_ping *p = h->ping;

	if (p == NULL || p->phase >= PING_OVER)
		return;
	enum ping_phase was = p->phase;
	if (p->spec.link) {
		memcpy(h->asked, p->ping.to, NEIGH_IP);
		h->asked_in = p->tags;
		h->asked_until = now + HOST_PING_WAIT_NS;
	}
	const struct host_cfg *cfg = work_cfg(&cp->cfg, &work_host);
	if (!cp->p.started && !cp->paused)
		ping_fail(p, ENODEV, "port %u is stopped, so that %s cannot be asked", p->ping.to);
	else if (h->n != NULL && ctl_port_runs(cp))
		ping_step(c, cp, p, now);
	else if (h->n == NULL && (was != PING_OWN || cfg->ip.n == 0 || !host_has_link(cp)))
		ping_fail(p, ENODEV, "port %u is no host any more: it has lost %s", p->ping.from);
	p->turn_ns = now;
	if (p->phase != was)
		ping_replan(c, h);
}

/* ---- plans ---- */

static unsigned ping_image(const struct host_ping *p, struct plan_writer *w,
			   struct host_ping_job *j)
{
	uint8_t *f = plan_carve(w, RTE_MAX(p->len, (unsigned)NEIGH_FRAME_MAX));

	j->frame = f;
	if (p->through.inside) {
		memcpy(f, p->through.image, p->len);
		memcpy(f, p->mac, 6);
		j->first = p->through.first;
		j->ip = (uint16_t)p->through.ip;
		j->icmp = (uint16_t)p->through.icmp;
		return p->len;
	}
	if (p->spec.link)
		return neigh_ping_ask(&j->self, &p->ping, f);
	j->icmp =
		(uint16_t)neigh_ping_frame(&j->self, &p->ping, p->mac, HOPS, f, p->len, &j->first);
	j->ip = (uint16_t)(j->icmp - (neigh_is_ip4(p->ping.to) ? NEIGH_IP4 : NEIGH_IP6));
	return p->len;
}

void host_ping_fill(struct ctl *c, struct ctl_port *cp, struct plan_writer *w)
{
	struct host_port *h = host_of_port(cp);
	const struct host_ping *p = h->ping;
	const struct neigh *n = p != NULL ? host_link_find(h, &p->tags) : NULL;
	unsigned worker = plan_worker(w);
	uint64_t version;

	if (n == NULL || p->phase != PING_SENDS || h->ping_state[worker] == NULL ||
	    !ping_fits(h, p))
		return;
	struct host_ping_job *j =
		plan_carve(w, sizeof(*j) + c->nworkers * sizeof(struct host_ping_state *));
	j->self = *neigh_self(n, &version);
	j->ping = p->ping;
	j->run = p->run;
	j->speaks = (int)worker == h->speaker;
	j->flood = p->spec.flood;
	j->awake = p->spec.flood || p->spec.every_ns < AWAKE_NS;
	j->probes = p->spec.probes;
	j->count = p->count;
	j->period = clock_cycles(p->spec.flood ? HOST_PING_FLOOD_NS : p->spec.every_ns);
	j->wait = clock_cycles(HOST_PING_WAIT_NS);
	j->host = h->state[worker];
	j->state = h->ping_state[worker];
	j->speaker = h->ping_state[h->speaker];
	j->q = h->share[worker];
	j->len = (uint16_t)ping_image(p, w, j);
	for (unsigned i = 0; i < c->nworkers; i++)
		if (h->ping_state[i] != NULL)
			j->states[j->nstates++] = h->ping_state[i];
	unsigned task = plan_task(w,
				  &(struct dp_task){.kind = &dp_kind_host_ping,
						    .state = &j->state->base,
						    .job = j},
				  NULL);
	for (unsigned q = 0; q < cp->p.nrxq; q++) {
		struct dp_duty *duty = plan_duty(w, cp, q);
		if (duty == NULL)
			continue;
		if (p->spec.link)
			plan_tap(duty, &(struct dp_tap){.rx = host_ping_look, .state = j});
		else
			plan_sort(duty, host_ping_claims, j, task);
	}
}

/* ---- what is known ---- */

int host_ping_poll(const struct host_ping *p, struct err *e)
{
	if (p->phase != PING_FAILED)
		return p->phase == PING_OVER;
	*e = p->why;
	e->col = -1;
	return -EHOSTUNREACH;
}

uint64_t host_ping_sent(const struct host_ping *p, uint64_t *received)
{
	*received = neigh_pings_counts(p->fates)->received;
	return neigh_pings_counts(p->fates)->sent;
}

static json_t *rtt_json(const struct host_ping *p)
{
	const struct hist *h = neigh_pings_rtt(p->fates);
	const struct neigh_pings_counts *k = neigh_pings_counts(p->fates);

	if (k->received == 0)
		return json_null();
#define AT(percent) (json_int_t) RTE_MIN(hist_percentile(h, percent), k->max_ns)
	return json_pack("{sI,sf,sI,sI,sI,sI}", "min", (json_int_t)k->min_ns, "mean", hist_mean(h),
			 "p50", AT(50), "p90", AT(90), "p99", AT(99), "max", (json_int_t)k->max_ns);
#undef AT
}

static json_t *told_json(const struct host_ping *p)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < p->ntold; i++) {
		const struct ping_told *x = &p->told[i];
		json_array_append_new(array,
				      json_pack("{so,ss,sI,sI}", "from", host_ip_json(x->pong.ip),
						"error", neigh_pong_error(&x->pong), "mtu",
						(json_int_t)x->pong.mtu, "count",
						(json_int_t)x->count));
	}
	return array;
}

json_t *host_ping_json(const struct ctl *c, const struct host_ping *p)
{
	const struct ctl_port *cp = c->port[p->spec.port];
	const struct neigh_pings_counts *k = neigh_pings_counts(p->fates);
	bool by_mac = p->through.inside && !p->through.asked; /* eth.dst is set */
	json_t *one =
		json_pack("{si,ss,so,so,so,so,si,sI,sI,sI,sI,sI,sI,sI,sI,sI,sI}", "port",
			  (int)cp->p.id, "name", cp->p.name, "stream",
			  p->spec.stream < 0 ? json_null() : json_integer(p->spec.stream), "to",
			  host_ip_json(p->ping.to), "from", host_ip_json(p->ping.from), "via",
			  by_mac ? json_null() : host_ip_json(p->next), "size", (int)p->spec.size,
			  "sent", (json_int_t)k->sent, "received", (json_int_t)k->received, "late",
			  (json_int_t)k->late, "errors", (json_int_t)k->errors, "lost",
			  (json_int_t)k->lost, "open", (json_int_t)k->open, "duplicates",
			  (json_int_t)k->duplicates, "foreign", (json_int_t)k->foreign, "damaged",
			  (json_int_t)k->damaged, "unread",
			  (json_int_t)(ping_unread(c, host_of_port(cp)) - p->unread));

	if (p->trace != NULL) {
		host_trace_json(p->trace, k->sent, one);
		return one;
	}
	json_t *macs = json_array();
	for (unsigned i = 0; i < p->nmacs; i++)
		json_array_append_new(macs, host_mac_json(p->macs[i]));
	json_object_set_new(one, "macs", macs);
	json_object_set_new(one, "told", told_json(p));
	json_object_set_new(one, "rtt_ns", rtt_json(p));
	return one;
}
