/* SPDX-License-Identifier: BSD-3-Clause */
/* Control's half of the work host: the machine of each port (neigh.h), which hears what workers
 * have been told by frames, and whose frames a worker sends. */
#include "host_ctl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host_face.h"

/* So often control reads what frames have said, and a worker looks for frames that are to be
 * sent. */
#define LOOK_NS 5000000ull
#define SPEAK_NS 3000000ull
/* So many changes of neighbours are told at once, and one more each second. */
#define TELL_BURST 20
#define TELL_NS 1000000000ull

static const struct host_cfg *host_cfg_of(const struct ctl_port *cp)
{
	return work_cfg(&cp->cfg, &work_host);
}

/* Is it a host, or to be one? */
static bool host_on(const struct ctl_port *cp)
{
	return host_cfg_of(cp)->ip.n > 0 && host_of_port(cp)->speaker >= 0;
}

static void host_cfg_init(void *cfg)
{
	((struct host_cfg *)cfg)->answer[15] =
		NEIGH_ANSWER_ARP | NEIGH_ANSWER_ND | NEIGH_ANSWER_PING;
}

int host_may(const struct ctl *c, unsigned port, struct err *e)
{
	const struct port *p = &c->port[port]->p;

	if (!port_deaf(p))
		return 0;
	return err_set(
		e, ENOTSUP,
		"port %u (-p %s) cannot be a host: nobody is at its other end; `-p wire`, `if:NAME`, `tap:NAME` and `pci:ADDR` make ports that can",
		port, p->spec_text);
}

/* ---- opening and closing ---- */

/* The share of a worker is that of its first Tx queue of the port. */
static int open_share(struct ctl *c, struct ctl_port *cp, unsigned worker)
{
	struct host_port *h = host_of_port(cp);

	for (unsigned q = 0; q < cp->p.ntxq; q++) {
		if (cp->tx_worker[q] != (int)worker)
			continue;
		h->share[worker] = tx_share(&cp->p, q, c->worker[worker].node, false);
		h->queue[worker] = q;
		if (h->speaker < 0)
			h->speaker = (int)worker;
		return h->share[worker] != NULL ? 0 : -ENOMEM;
	}
	return 0;
}

static int host_port_open(struct ctl *c, struct ctl_port *cp, struct err *e)
{
	struct host_port *h = host_of_port(cp);
	struct portset one = {0};

	h->speaker = -1;
	h->nworkers = c->nworkers;
	h->state = xcalloc(c->nworkers + 1u, sizeof(*h->state));
	h->share = xcalloc(c->nworkers + 1u, sizeof(*h->share));
	h->queue = xcalloc(c->nworkers + 1u, sizeof(*h->queue));
	h->ping_state = xcalloc(c->nworkers + 1u, sizeof(*h->ping_state));
	portset_add(&one, cp->p.id);
	for (unsigned w = 0; w < c->nworkers && !port_deaf(&cp->p); w++) {
		if (!worker_serves(c, w, &one, &one))
			continue;
		h->state[w] = state_new(sizeof(*h->state[w]), c->worker[w].node);
		if (h->state[w] == NULL || open_share(c, cp, w) < 0)
			return err_set(e, ENODEV, "no memory for the host of port %u", cp->p.id);
	}
	return 0;
}

/* Gives back the answers that wait for another worker. No worker uses the port. */
static void host_drain(const struct ctl *c, const struct ctl_port *cp)
{
	struct host_port *h = host_of_port(cp);

	for (unsigned w = 0; w < c->nworkers && h->state != NULL; w++) {
		if (h->state[w] == NULL)
			continue;
		struct host_passed *p = &h->state[w]->passed;
		for (; host_ring_has(&p->ring) > 0; host_ring_step(&p->ring.got)) {
			rte_pktmbuf_free(p->m[p->ring.got % HOST_PASSED]);
			cell_add(&h->state[w]->cnt.dropped, 1);
		}
	}
}

static void host_let_go(struct ctl *c, struct ctl_port *cp)
{
	for (unsigned i = 0; i < c->nports; i++)
		if (c->port[i]->p.first == cp->p.first)
			host_drain(c, c->port[i]);
}

static void host_ctl_close(struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++)
		host_drain(c, c->port[i]);
}

static void host_port_close(struct ctl *c, struct ctl_port *cp)
{
	struct host_port *h = host_of_port(cp);

	for (unsigned w = 0; w < c->nworkers && h->state != NULL; w++) {
		rte_free(h->state[w]);
		rte_free(h->ping_state[w]);
	}
	free(h->state);
	free(h->ping_state);
	free(h->share);
	free(h->queue);
	host_auto_free(&h->found);
	host_error_free(cp);
	host_links_free(h);
}

/* ---- settings ---- */

static bool has_link_local(const struct neigh_setup *s)
{
	for (unsigned i = 0; i < s->nown; i++)
		if (s->own[i].ip[0] == 0xfe && (s->own[i].ip[1] & 0xc0) == 0x80)
			return true;
	return false;
}

void host_setup(const struct ctl_port *cp, struct neigh_setup *s)
{
	const struct host_cfg *cfg = host_cfg_of(cp);
	bool six = false;

	*s = (struct neigh_setup){.answer = cfg->answer[15]};
	host_cfg_tags(cfg, &s->tags);
	memcpy(s->mac, cp->p.mac.addr_bytes, 6);
	s->nown = cfg->ip.n;
	memcpy(s->own, cfg->ip.at, cfg->ip.n * sizeof(s->own[0]));
	for (unsigned i = 0; i < s->nown; i++)
		six = six || !neigh_is_ip4(s->own[i].ip);
	if (six && !has_link_local(s)) {
		neigh_link_local(s->mac, s->own[s->nown].ip);
		s->own[s->nown++].bits = 64;
	}
	s->nproxy = cfg->proxy.n;
	memcpy(s->proxy, cfg->proxy.at, cfg->proxy.n * sizeof(s->proxy[0]));
	s->nwanted = cfg->gateway.n;
	for (unsigned i = 0; i < s->nwanted; i++)
		memcpy(s->wanted[i], cfg->gateway.at[i].ip, NEIGH_IP);
	s->nstatic = cfg->neighbours.n;
	memcpy(s->fixed, cfg->neighbours.at, cfg->neighbours.n * sizeof(s->fixed[0]));
}

/* The device is to receive what is sent to the groups in which our addresses are asked for. */
static void join_groups(struct ctl_port *cp, const struct neigh_self *self)
{
	uint8_t mac[NEIGH_OWN_MAX + 1][6] = {{0x33, 0x33, 0, 0, 0, 1}};
	unsigned n = 1;

	for (unsigned i = 0; i < self->nown; i++)
		if (!neigh_is_ip4(self->own[i].ip))
			neigh_group_mac(self->own[i].ip, mac[n++]);
	port_groups(&cp->p, mac, n > 1 ? n : 0);
}

/* Forgets what frames have said to an earlier host of the port. */
static void host_deafen(const struct ctl *c, struct host_port *h)
{
	for (unsigned w = 0; w < c->nworkers; w++)
		while (h->state[w] != NULL && host_ring_has(&h->state[w]->heard_ring) > 0)
			host_ring_step(&h->state[w]->heard_ring.got);
}

bool host_has_link(const struct ctl_port *cp)
{
	return cp->p.link == LINK_UP || cp->p.link == LINK_UNKNOWN;
}

/* Follows the link. */
static void host_relink(const struct ctl_port *cp, struct host_port *h, uint64_t now)
{
	bool up = host_has_link(cp);
	struct neigh *n;

	for (unsigned i = 0; up && h->down && (n = host_link_machine(h, i)) != NULL; i++)
		neigh_relink(n, now);
	h->down = !up;
}

bool host_lags(const struct ctl_port *cp)
{
	const struct host_port *h = host_of_port(cp);

	return h->n != NULL && memcmp(&h->applied, host_cfg_of(cp), sizeof(h->applied)) != 0;
}

/* Follows the settings. A host begins when its port first has a link. */
static void host_follow(const struct ctl *c, struct ctl_port *cp, uint64_t now)
{
	struct host_port *h = host_of_port(cp);
	const struct host_cfg *cfg = host_cfg_of(cp);

	if (!host_on(cp)) {
		if (h->n != NULL)
			port_groups(&cp->p, NULL, 0);
		host_links_free(h);
		host_auto_end(cp);
		return;
	}
	if (h->n != NULL && !host_lags(cp))
		return;
	if (h->n == NULL) {
		if (!host_has_link(cp))
			return;
		h->down = false;
		h->neigh_base = (struct neigh_counts){0};
		h->version = 0;
		h->first = h->state[h->speaker]->sent_ring.put;
		host_deafen(c, h);
	}
	h->applied = *cfg;
	host_links_set(cp, now);
	host_links_follow(cp, now);
}

bool host_settled(const struct ctl *c, struct ctl_port *cp)
{
	if (cp->p.used && ctl_port_runs(cp))
		host_follow(c, cp, clock_raw_ns());
	return host_of_port(cp)->n != NULL;
}

/* ---- in each turn of control ---- */

/* Whether it is an answer to `arping` that nothing is to be learned from: it was asked for. */
static bool host_has_asked(const struct host_port *h, const struct neigh *link,
			   const struct neigh_heard *heard, uint64_t now)
{
	struct neigh_entry x;

	return heard->said == NEIGH_ANSWERS && now < h->asked_until &&
	       memcmp(heard->ip, h->asked, NEIGH_IP) == 0 &&
	       host_link_find(h, &h->asked_in) == link && !neigh_find(link, heard->ip, &x);
}

static void host_hear(const struct ctl *c, struct host_port *h, uint64_t now)
{
	for (unsigned w = 0; w < c->nworkers; w++) {
		struct host_state *s = h->state[w];
		/* No more than there was room for, so that a flood does not hold control. */
		for (unsigned n = 0; s != NULL && n < HOST_HEARD && host_ring_has(&s->heard_ring);
		     n++) {
			unsigned at = s->heard_ring.got % HOST_HEARD;
			struct neigh *link = host_link_of_id(h, s->heard[at].link);
			/* The link may have gone meanwhile. */
			if (link != NULL && !host_has_asked(h, link, &s->heard[at].what, now))
				neigh_hear(link, &s->heard[at].what, now);
			host_ring_step(&s->heard_ring.got);
		}
	}
}

static void host_speak(struct host_port *h, struct neigh *n)
{
	struct host_state *s = h->state[h->speaker];

	while (host_ring_room(&s->sent_ring, HOST_SENT)) {
		unsigned at = s->sent_ring.put % HOST_SENT;
		unsigned len = neigh_take(n, s->to_send[at].frame);
		if (len == 0)
			return;
		s->to_send[at].len = (uint8_t)len;
		host_ring_step(&s->sent_ring.put);
	}
}

/* Whoever sends what claims and moves can be read from may send as many as he likes. */
static bool host_may_tell(struct host_port *h)
{
	return neigh_rate_may(&h->tell_full, clock_raw_ns(), TELL_NS, TELL_BURST);
}

static void host_tell_rest(struct ctl *c, const struct ctl_port *cp)
{
	struct host_port *h = host_of_port(cp);

	if (h->untold == 0 || !host_may_tell(h))
		return;
	ctl_note(
		c, cp->p.id,
		"port %u: %" PRIu64
		" more changes of its addresses and neighbours came too fast to be told; `show neighbours` says what is",
		cp->p.id, h->untold);
	h->untold = 0;
}

static void host_tell(struct ctl *c, const struct ctl_port *cp, const struct neigh *n,
		      const struct neigh_news *news)
{
	static const char *const text[] = {
		[NEIGH_NEWS_DUPLICATE] = "port %u does not use its %s %s: %s has it already",
		[NEIGH_NEWS_CLAIM] = "port %u: its %s %s is claimed by %s",
		[NEIGH_NEWS_MOVED] = "port %u: its %s %s is at %s now",
		[NEIGH_NEWS_FAILED] = "port %u: its %s %s does not answer",
		[NEIGH_NEWS_REACHED] = "port %u: its %s %s answers again, from %s"};
	struct sbuf ip = {0}, mac = {0};
	bool gateway = false;
	uint64_t version;

	if (!host_may_tell(host_of_port(cp))) {
		host_of_port(cp)->untold++;
		return;
	}

	for (unsigned i = 0; i < host_cfg_of(cp)->gateway.n; i++)
		gateway |= memcmp(host_cfg_of(cp)->gateway.at[i].ip, news->ip, NEIGH_IP) == 0;
	host_print_ip(news->ip, &ip);
	if (n != host_of_port(cp)->n) {
		sbuf_add(&ip, " in VLAN ");
		host_print_tags(&neigh_self(n, &version)->tags, &ip);
	}
	host_print_mac(news->mac, &mac);
	ctl_note(c, cp->p.id, text[news->kind], cp->p.id,
		 news->kind < NEIGH_NEWS_MOVED ? "address"
		 : gateway                     ? "gateway"
					       : "next hop",
		 sbuf_str(&ip), sbuf_str(&mac));
	sbuf_free(&ip);
	sbuf_free(&mac);
}

static void host_step_port(struct ctl *c, struct ctl_port *cp, uint64_t now)
{
	struct host_port *h = host_of_port(cp);
	struct neigh_news news;
	uint64_t version;
	struct neigh *n;

	host_follow(c, cp, now);
	if (h->n == NULL)
		return;
	host_relink(cp, h, now);
	host_hear(c, h, now);
	for (unsigned i = 0; (n = host_link_machine(h, i)) != NULL; i++)
		neigh_turn(n, now);
	host_auto_step(c, cp, now);
	for (unsigned i = 0; (n = host_link_machine(h, i)) != NULL; i++) {
		neigh_turn(n, now); /* it may have begun to ask */
		host_speak(h, n);
		while (neigh_news(n, &news))
			host_tell(c, cp, n, &news);
		h->untold += neigh_untold(n);
	}
	host_tell_rest(c, cp);
	version = host_links_version(h);
	if (version == h->version)
		return;
	h->version = version;
	join_groups(cp, neigh_self(h->n, &version));
	for (unsigned w = 0; w < c->nworkers; w++)
		if (h->state[w] != NULL)
			ctl_replan(c, w);
}

static void host_step(struct ctl *c)
{
	uint64_t now = clock_raw_ns();

	for (unsigned i = 0; i < c->nports; i++)
		if (c->port[i]->p.used) {
			if (ctl_port_runs(c->port[i]))
				host_step_port(c, c->port[i], now);
			host_ping_step(c, c->port[i], now);
		}
}

static uint64_t host_next_ns(const struct ctl *c)
{
	uint64_t next = UINT64_MAX, now = clock_raw_ns();

	for (unsigned i = 0; i < c->nports; i++) {
		const struct host_port *h = host_of_port(c->port[i]);
		const struct neigh *n;
		for (unsigned k = 0; (n = host_link_machine(h, k)) != NULL; k++) {
			uint64_t due = neigh_due(n);
			next = RTE_MIN(next, due <= now ? 0 : RTE_MIN(due - now, LOOK_NS));
		}
	}
	return next;
}

/* ---- plans ---- */

static bool host_writes(const struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++)
		if (host_of_port(c->port[i])->n != NULL)
			return true;
	return false;
}

/* The workers that let the speaker send their answers. */
static unsigned other_workers(const struct ctl *c, const struct host_port *h,
			      struct host_passed **out)
{
	unsigned n = 0;

	for (unsigned w = 0; w < c->nworkers; w++)
		if (h->state[w] != NULL && h->share[w] == NULL)
			out[n++] = &h->state[w]->passed;
	return n;
}

static const struct host_job_link *host_fill_links(const struct host_port *h, struct plan_writer *w)
{
	struct host_job_link *link = plan_carve(w, (1 + h->nmore) * sizeof(*link));
	const struct neigh *n;
	uint64_t version;

	for (unsigned i = 0; (n = host_link_machine(h, i)) != NULL; i++)
		link[i] = (struct host_job_link){*neigh_self(n, &version), host_link_id(h, i)};
	return link;
}

static void host_fill(struct ctl *c, struct ctl_port *cp, struct plan_writer *w)
{
	struct host_port *h = host_of_port(cp);
	unsigned worker = plan_worker(w);

	if (h->n == NULL || h->state[worker] == NULL)
		return;
	struct host_job *j = plan_carve(w, sizeof(*j));
	j->nlinks = 1 + h->nmore;
	j->link = host_fill_links(h, w);
	j->other = plan_carve(w, c->nworkers * sizeof(struct host_passed *));
	j->q = h->share[worker];
	j->speaks = (int)worker == h->speaker;
	j->first = h->first;
	j->period = clock_cycles(SPEAK_NS);
	j->hold = clock_cycles(HOST_HOLD_NS);
	j->each = clock_cycles(1000000000ull / NEIGH_UNREACH_PER_S);
	if (j->speaks)
		j->nothers = other_workers(c, h, j->other);
	unsigned task = plan_task(w,
				  &(struct dp_task){.kind = &dp_kind_host,
						    .state = &h->state[worker]->base,
						    .job = j},
				  NULL);
	for (unsigned q = 0; q < cp->p.nrxq; q++) {
		struct dp_duty *duty = plan_duty(w, cp, q);
		if (duty != NULL)
			plan_sort(duty, host_claims, j, task);
	}
	host_ping_fill(c, cp, w);
	/* behind it, since it takes errors about what it asked */
	host_error_fill(c, cp, w, j->link, j->nlinks);
}

/* ---- what is known ---- */

static bool host_sizes(const struct ctl_port *cp, unsigned queue, struct cnt_sizes *sum)
{
	const struct host_port *h = host_of_port(cp);
	int worker = cp->tx_worker[queue];

	if (h->share[worker] == NULL || h->queue[worker] != queue)
		return true;
	for (unsigned i = 0; i < CNT_NSIZES; i++)
		sum->n[i] += cell_get(&h->state[worker]->sizes.n[i]);
	return true;
}

void host_count(const struct ctl *c, const struct ctl_port *cp, struct host_counts *sum)
{
	const struct host_port *h = host_of_port(cp);
	cell_t *to = (cell_t *)sum;

	*sum = (struct host_counts){0};
	for (unsigned w = 0; w < c->nworkers; w++)
		for (unsigned i = 0; h->state[w] != NULL && i < sizeof(*sum) / sizeof(*to); i++)
			to[i] += cell_get((const cell_t *)&h->state[w]->cnt + i);
}

static void host_claimed(const struct ctl *c, const struct ctl_port *cp, struct cnt_claimed *sum)
{
	struct host_counts now;

	if (host_of_port(cp)->state == NULL)
		return;
	host_count(c, cp, &now);
	for (unsigned i = 0; i < NEIGH_FATES; i++)
		sum->frames += cell_get(&now.fate[i]);
	sum->frames += cell_get(&now.pongs) + cell_get(&now.errors) + cell_get(&now.unasked);
	sum->group += cell_get(&now.group);
}

static void host_clear(struct ctl *c, const struct portset *ports)
{
	for (unsigned i = 0; i < c->nports; i++) {
		struct host_port *h = host_of_port(c->port[i]);
		if (!portset_has(ports, i) || h->state == NULL)
			continue;
		host_count(c, c->port[i], &h->base);
		host_error_clear(c->port[i]);
		if (h->n != NULL)
			host_link_counts(h, &h->neigh_base);
	}
}

const struct work work_host = {
	.name = "host",
	.port_bytes = sizeof(struct host_port),
	.cfg_bytes = sizeof(struct host_cfg),
	.cfg_init = host_cfg_init,
	.port_open = host_port_open,
	.port_close = host_port_close,
	.ctl_close = host_ctl_close,
	.let_go = host_let_go,
	.step = host_step,
	.next_ns = host_next_ns,
	.ready = host_ready,
	.prepares = WHY_FRAMES | WHY_ORDER | WHY_RUN,
	.prepare = host_error_prepare,
	.finds = host_finds,
	.own_address = host_own_address,
	.reach = host_reach,
	.check = host_check,
	.fill = host_fill,
	.writes = host_writes,
	.sizes = host_sizes,
	.claimed = host_claimed,
	.snap = host_error_snap,
	.icmp = host_error_icmp,
	.clear = host_clear,
};
