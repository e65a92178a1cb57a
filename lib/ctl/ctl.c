/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and closes control: parses the specs of ports, starts EAL, makes the placement, opens the
 * ports and starts the workers. Also control's turn, and what is done when settings change. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl_int.h"
#include "plan_write.h"
#include "work.h"

#define SPEC_PORTS 2 /* the most ports that one spec makes */

/* Opens one of the devices that the user has named with EAL's own options. arg is its number among
 * those that EAL has found. */
static int eal_spec_open(const char *arg, struct port *const *p, unsigned n, struct err *e)
{
	uint16_t dev, seen = 0;

	(void)n;
	RTE_ETH_FOREACH_DEV(dev)
		if (seen++ == (uint16_t)atoi(arg)) {
			p[0]->dev = dev;
			if (rte_eth_dev_get_name_by_port(dev, p[0]->name) != 0)
				snprintf(p[0]->name, sizeof(p[0]->name), "eal%s", arg);
			return 0;
		}
	return err_set(
		e, ENODEV,
		"EAL's device options name more devices than EAL found (%u); see -l FILE for its log",
		seen);
}

static const struct port_spec spec_eal = {.prefix = "eal",
					  .syntax = "(EAL -a, --vdev)",
					  .open = eal_spec_open};

/* Adds the ports of one -p, which form a group. Their devices are opened later. */
static int add_ports(struct ctl *c, const struct port_spec *spec, const char *text,
		     const struct port_need *need, struct err *e)
{
	for (unsigned i = 0; i < need->nports; i++) {
		if (c->nports == CTL_MAX_PORTS)
			return err_set(e, EINVAL, "port spec \"%s\": more than %d ports", text,
				       CTL_MAX_PORTS);
		struct ctl_port *cp = ctl_port_new();
		cp->group = c->nports - i;
		cp->p.id = c->nports;
		cp->p.spec = spec;
		cp->p.node = need->node;
		cp->need = *need;
		cp->p.spec_text = xstrdup(text);
		snprintf(cp->p.name, sizeof(cp->p.name), "%s", text);
		c->port[c->nports++] = cp;
		ctl_reset(c, cp->p.id);
	}
	return 0;
}

/* How many devices the user's EAL options name. */
static unsigned eal_devices(const struct ctl_opts *o)
{
	unsigned n = 0;

	for (unsigned i = 0; i < o->neal_args; i++) {
		const char *a = o->eal_args[i];
		n += strncmp(a, "-a", 2) == 0 || strncmp(a, "--allow", 7) == 0 ||
		     strncmp(a, "--vdev", 6) == 0;
	}
	return n;
}

static int parse_specs(struct ctl *c, struct err *e)
{
	static const char *const wire[] = {"wire"};
	const char *const *specs = c->opts.ports;
	unsigned n = c->opts.nports, ndev = eal_devices(&c->opts);
	int rc;

	if (n == 0 && ndev == 0) {
		specs = wire;
		n = 1;
	}
	for (unsigned i = 0; i < n; i++) {
		struct port_need need = {.nports = 1,
					 .max_rxq = PORT_MAX_QUEUES,
					 .max_txq = PORT_MAX_QUEUES,
					 .node = -1};
		const char *arg;
		const struct port_spec *spec = port_spec_find(specs[i], &arg, e);
		if (spec == NULL)
			return -EINVAL;
		rc = spec->parse(arg, c->opts.take, &need, e);
		if (rc < 0)
			return rc;
		rc = add_ports(c, spec, specs[i], &need, e);
		if (rc < 0)
			return rc;
	}
	for (unsigned i = 0; i < ndev && c->opts.nports == 0; i++) {
		struct port_need need = {.nports = 1,
					 .max_rxq = PORT_MAX_QUEUES,
					 .max_txq = PORT_MAX_QUEUES,
					 .rx_pool = true,
					 .node = -1};
		char text[32];
		snprintf(text, sizeof(text), "eal:%u", i);
		rc = add_ports(c, &spec_eal, text, &need, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}

void ctl_map_error(const struct ctl *c, unsigned which, struct err *e)
{
	struct err why = *e;

	if (why.col >= 0)
		err_set(e, EINVAL, "core map: %.600s\n  %.200s\n  %*s^", why.text,
			c->opts.maps[which], why.col, "");
	else
		err_set(e, EINVAL, "core map: %.900s", why.text);
}

static int ctl_place(struct ctl *c, struct err *e)
{
	unsigned l, n = 0, which = 0;
	int rc;

	c->plcore = xcalloc(rte_lcore_count(), sizeof(*c->plcore));
	RTE_LCORE_FOREACH_WORKER(l)
		c->plcore[n++] = (struct place_lcore){.lcore = l,
						      .cpu = workers_lcore_cpu(l),
						      .node = (int)rte_lcore_to_socket_id(l)};
	for (unsigned i = 0; i < c->nports; i++)
		c->pport[i] = (struct place_port){.max_rxq = c->port[i]->need.max_rxq,
						  .max_txq = c->port[i]->need.max_txq,
						  .node = c->port[i]->need.node};
	c->pin = (struct place_in){.lcore = c->plcore,
				   .nlcores = n,
				   .control = rte_get_main_lcore(),
				   .control_cpu = workers_lcore_cpu(rte_get_main_lcore()),
				   .port = c->pport,
				   .nports = c->nports};
	if (n == 0)
		return err_set(
			e, EINVAL,
			"EAL has only the control lcore %u; give at least one more, as in -l 0,1",
			rte_get_main_lcore());
	rc = c->opts.nmaps > 0
		     ? place_maps(c->opts.maps, c->opts.nmaps, &c->pin, &c->place, &which, e)
		     : place_auto(&c->pin, &c->place, e);
	if (rc < 0 && c->opts.nmaps > 0)
		ctl_map_error(c, which, e);
	return rc;
}

void *state_new(size_t size, int node)
{
	void *p = rte_zmalloc_socket("state", size, CACHE_LINE, node >= 0 ? node : SOCKET_ID_ANY);

	return p != NULL ? p : rte_zmalloc("state", size, CACHE_LINE);
}

/* Makes the objects of a port's queues, which live as long as the port, and lets works make
 * theirs. */
static int make_queues(struct ctl *c, struct ctl_port *cp, struct err *e)
{
	uint16_t nr = cp->p.nrxq, nt = cp->p.ntxq;

	cp->nqueues = nr > nt ? nr : nt;
	cp->txq = xcalloc(nt + 1u, sizeof(*cp->txq));
	cp->tx = xcalloc(nt + 1u, sizeof(*cp->tx));
	cp->tx_worker = xcalloc(nt + 1u, sizeof(*cp->tx_worker));
	cp->rxq = xcalloc(nr + 1u, sizeof(*cp->rxq));
	cp->rx_worker = xcalloc(nr + 1u, sizeof(*cp->rx_worker));
	for (unsigned i = 0; i < c->place.n; i++) {
		const struct place_queue *pq = &c->place.q[i];
		if (pq->port != cp->p.id)
			continue;
		int node = c->worker[workers_index(c, pq->lcore)].node;
		if (pq->tx) {
			cp->txq[pq->queue] = tx_share(cp, pq->queue, node, false);
			if (cp->txq[pq->queue] == NULL)
				return err_set(e, ENODEV, "no memory for Tx queue %u of port %u",
					       pq->queue, cp->p.id);
			cp->tx_worker[pq->queue] = workers_index(c, pq->lcore);
		} else {
			struct dp_rxq *q = cp->rxq[pq->queue] = state_new(sizeof(*q), node);
			if (q == NULL)
				return err_set(e, ENODEV, "no memory for Rx queue %u of port %u",
					       pq->queue, cp->p.id);
			q->port = (uint16_t)cp->p.id;
			q->dev = cp->p.dev;
			q->queue = pq->queue;
			cp->rx_worker[pq->queue] = workers_index(c, pq->lcore);
		}
	}
	int rc = stat_init(cp);
	EACH_WORK(w, port_open)
		if (rc == 0)
			rc = w->port_open(c, cp, e);
	return rc;
}

/* Opens the devices of one spec, if any of its ports is used. */
static int open_spec(struct ctl *c, unsigned first, struct err *e)
{
	struct port *p[CTL_MAX_PORTS];
	const struct ctl_port *head = c->port[first];
	unsigned n = head->need.nports;
	const char *arg = strchr(head->p.spec_text, ':');
	bool used = false;

	for (unsigned i = 0; i < n; i++) {
		struct ctl_port *cp = c->port[first + i];
		cp->p.nrxq = c->place.port[first + i].nrxq;
		cp->p.ntxq = c->place.port[first + i].ntxq;
		cp->used = cp->p.nrxq + cp->p.ntxq > 0;
		used |= cp->used;
		cp->p.rxd = (unsigned)(cp->p.cfg.rxd > cp->need.min_rxd ? cp->p.cfg.rxd
									: cp->need.min_rxd);
		cp->p.txd = (unsigned)(cp->p.cfg.txd > cp->need.min_txd ? cp->p.cfg.txd
									: cp->need.min_txd);
		p[i] = &cp->p;
	}
	if (!used)
		return 0;
	int rc = head->p.spec->open(arg != NULL ? arg + 1 : "", p, n, e);
	eal_log_drain();
	for (unsigned i = 0; i < n && rc == 0; i++) {
		c->port[first + i]->opened = true;
		dev_bus(c->port[first + i]);
	}
	return rc;
}

/* Gives a field a value of n bytes. A field that the protocol table does not have is passed
 * over. */
static void value_of(struct frame_vals *v, const char *proto, const char *field,
		     const uint8_t *bytes, unsigned n)
{
	const struct proto *p = proto_find(proto);
	const struct field *f = p != NULL ? proto_field(p, field) : NULL;
	uint8_t b[VT_FIELD_BYTES] = {0};

	memcpy(b + VT_FIELD_BYTES - n, bytes, n);
	if (f != NULL)
		frame_vals_set(v, p, 1, f, b);
}

/* Gives the port's streams the addresses that users of Pktgen know: the port's own MAC,
 * 192.168.PORT.1 and fd00::PORT:1 as source, and as destination those of the neighbour port, whose
 * number differs in the lowest bit. */
static void default_addresses(struct ctl *c, struct ctl_port *cp)
{
	unsigned peer = cp->p.id ^ 1;
	struct frame_vals *v = &cp->dflt;
	static const uint8_t zero[6];
	uint8_t src[4] = {192, 168, (uint8_t)cp->p.id, 1}, dst[4] = {192, 168, (uint8_t)peer, 1};
	uint8_t src6[16] = {0xfd, [13] = (uint8_t)cp->p.id, [15] = 1},
		dst6[16] = {0xfd, [13] = (uint8_t)peer, [15] = 1};

	frame_vals_free(v);
	value_of(v, "eth", "src", cp->p.mac.addr_bytes, 6);
	value_of(v, "eth", "dst",
		 peer < c->nports && c->port[peer]->used ? c->port[peer]->p.mac.addr_bytes : zero,
		 6);
	value_of(v, "ipv4", "src", src, 4);
	value_of(v, "ipv4", "dst", dst, 4);
	value_of(v, "ipv6", "src", src6, 16);
	value_of(v, "ipv6", "dst", dst6, 16);
	value_of(v, "arp", "hwsrc", cp->p.mac.addr_bytes, 6);
	value_of(v, "arp", "psrc", src, 4);
	value_of(v, "arp", "pdst", dst, 4);
	streams_dflt(cp);
}

static int open_all(struct ctl *c, struct err *e)
{
	/* This comes first: when descriptors run out, specs would say that interfaces and files are
	 * missing. */
	int rc = eal_room(c, SPEC_PORTS * (c->opts.nports > 0 ? c->opts.nports : 1), 0, e);

	if (rc < 0 || (rc = parse_specs(c, e)) < 0 || (rc = eal_start(c, e)) < 0 ||
	    (rc = dev_dummy_pool(e)) < 0 || (rc = ctl_place(c, e)) < 0 ||
	    (rc = workers_make(c, e)) < 0 || (rc = tsc_check(c, e)) < 0)
		return rc;
	for (unsigned i = 0; i < c->nports; i += c->port[i]->need.nports)
		if ((rc = open_spec(c, i, e)) < 0)
			return rc;
	for (unsigned i = 0; i < c->nports; i++) {
		struct ctl_port *cp = c->port[i];
		if (!cp->used) {
			log_msg(LOG_LVL_WARN, "port %u (%s) is not used: no map names it", i,
				cp->p.spec_text);
			continue;
		}
		if ((rc = make_queues(c, cp, e)) < 0 || (rc = dev_setup(c, cp, e)) < 0)
			return rc;
		dev_link(cp);
	}
	for (unsigned i = 0; i < c->nports; i++)
		default_addresses(c, c->port[i]);
	return workers_launch(c, e);
}

int ctl_open(struct ctl **out, const struct ctl_opts *opts, struct err *e)
{
	struct ctl *c = ctl_new();

	clock_init();
	c->opts = *opts;
	c->wake_fd = -1;
	value_default(&vt_duration, CTL_DFLT_STALL, &c->stall_ns);
	EACH_WORK(w, ctl_open)
		w->ctl_open(c);
	int rc = open_all(c, e);
	eal_memory_taken();
	if (rc < 0) {
		ctl_close(c);
		return rc;
	}
	*out = c;
	ctl_tick(c);
	return 0;
}

/* Instead of closing, when a worker does not answer: it may still use devices and memory, so they
 * stay until the process ends. What we attached to the kernel would outlive the process and is
 * removed. */
static void ctl_leave(struct ctl *c)
{
	log_msg(LOG_LVL_ERROR, "a worker does not answer; its devices are left as they are");
	for (unsigned i = 0; i < c->nports; i++) {
		struct port *p = &c->port[i]->p;
		if (!c->port[i]->opened || !c->port[i]->need.root)
			continue;
		if (p->spec->close != NULL)
			p->spec->close(p);
		if (p->spec->closed != NULL) /* removes what the driver would have removed */
			p->spec->closed(p);
	}
	eal_log_drain();
}

static void port_free(struct ctl *c, struct ctl_port *cp)
{
	EACH_WORK(w, port_close)
		w->port_close(c, cp);
	free((char *)cp->p.spec_text);
	streams_free(cp);
	frame_vals_free(&cp->dflt);
	stat_free(cp);
	free(cp->txq);
	free(cp->tx);
	free(cp->rxq);
	for (unsigned q = 0; q < cp->p.ntxq && cp->seen != NULL; q++)
		free(cp->seen[q]);
	free(cp->seen);
	free(cp->tx_worker);
	free(cp->rx_worker);
	free(cp->rx_pool);
	ctl_port_free(cp);
}

void ctl_close(struct ctl *c)
{
	if (c == NULL)
		return;
	if (!workers_stop(c)) {
		ctl_leave(c);
		return;
	}
	EACH_WORK(w, ctl_close)
		w->ctl_close(c);
	for (unsigned i = 0; i < c->nports; i++)
		if (c->port[i]->opened)
			dev_close(c->port[i]);
	for (unsigned w = 0; w < c->nworkers; w++) {
		if (c->worker[w].w != NULL) {
			mbox_close(&c->worker[w].w->mbox);
			free(c->worker[w].w->wheel);
		}
		rte_free(c->worker[w].w);
		plan_free(c, c->worker[w].posted);
	}
	for (unsigned i = 0; i < c->nold; i++)
		plan_free(c, c->old[i].plan);
	for (unsigned i = 0; i < c->nports; i++)
		port_free(c, c->port[i]);
	EACH_WORK(w, ctl_end)
		w->ctl_end(c);
	free(c->old);
	if (c->wake_fd >= 0)
		close(c->wake_fd);
	free(c->worker);
	free(c->cpus);
	free(c->plcore);
	placement_free(&c->place);
	eal_log_drain();
	ctl_free(c);
	eal_stop();
}

void ctl_turn(struct ctl *c)
{
	bool work = false;

	eal_log_drain();
	run_events(c);
	EACH_WORK(w, step)
		w->step(c);
	work |= plan_waits(c);
	for (unsigned w = 0; w < c->nworkers; w++)
		work |= c->worker[w].dirty;
	if (work)
		plan_post_all(c);
	if (c->nold > 0)
		plan_reap(c);
	stamps_turn(c);
	EACH_WORK(w, turn)
		w->turn(c);
}

uint64_t ctl_next_ns(const struct ctl *c)
{
	for (unsigned w = 0; w < c->nworkers; w++)
		if (c->worker[w].dirty)
			return 100000;
	if (plan_waits(c))
		return 200000;
	uint64_t ns = stamps_next_ns(c);
	EACH_WORK(w, next_ns)
		ns = RTE_MIN(ns, w->next_ns(c));
	bool soon = c->nold > 0 || c->ev_n > 0;
	for (unsigned i = 0; i < c->nports; i++)
		soon |= c->port[i]->run.active;
	return soon ? RTE_MIN(ns, 5000000ull) : ns;
}

unsigned ctl_nports(const struct ctl *c)
{
	return c->nports;
}

const char *ctl_port_name(const struct ctl *c, unsigned port)
{
	return c->port[port]->p.name;
}

struct port_cfg *ctl_port_cfg(struct ctl *c, unsigned port)
{
	return &c->port[port]->p.cfg;
}

void ctl_set_stall(struct ctl *c, uint64_t ns)
{
	if (c->stall_ns == ns)
		return;
	c->stall_ns = ns;
	for (unsigned w = 0; w < c->nworkers; w++)
		c->worker[w].dirty = true;
}

/* Whether the device runs with other values than settings ask for. */
static bool restart_pending(const struct ctl_port *cp)
{
	const struct port_cfg *a = &cp->p.cfg, *b = &cp->applied;

	return a->mtu != b->mtu || a->txd != b->txd || a->rxd != b->rxd || a->mbufs != b->mbufs ||
	       stamps_pending(cp);
}

void ctl_touch(struct ctl *c, unsigned port, uint32_t why)
{
	struct ctl_port *cp = c->port[port];

	cp->touched |= why & WHY_ALL;
	if ((why & WHY_RESTART) != 0 || cp->restart || stamps_pending(cp))
		cp->restart = cp->used && restart_pending(cp);
}

#define LET_GO_NS 5000000000ull /* other programs may keep a worker from its CPU for long */

/* Takes the started ports of cp's group out of all plans, or puts them back. The ports that one
 * spec has made belong together, because frames of one wait in the device of the other. */
static void group_pause(struct ctl *c, const struct ctl_port *cp, bool pause)
{
	for (unsigned i = 0; i < c->nports; i++) {
		struct ctl_port *o = c->port[i];
		if (o->group != cp->group || (pause ? !o->started : !o->paused))
			continue;
		o->started = !pause;
		o->paused = pause;
		o->touched = WHY_ALL;
	}
}

int ctl_apply(struct ctl *c, unsigned port, struct err *e)
{
	struct ctl_port *cp = c->port[port];

	for (unsigned i = 0; i < c->nports; i++)
		if (c->port[i]->group == cp->group && c->port[i]->run.active)
			return err_set(e, EBUSY, "port %u (%s) is sending; stop %u first", i,
				       c->port[i]->p.name, i);
	if (!cp->restart)
		return 0;
	if (cp->p.spec->no_restart)
		return err_set(
			e, EINVAL,
			"port %u (%s): its driver cannot be set up twice; give --mtu, --txd, --rxd or --mbufs at start",
			cp->p.id, cp->p.spec_text);
	group_pause(c, cp, true); /* the next plans are without them */
	plan_post_all(c);
	if (!plan_wait_acks(c, LET_GO_NS)) {
		const struct ctl_worker *cw = plan_behind(c);
		group_pause(c, cp, false);
		plan_post_all(c); /* with them again: nothing is left of the attempt */
		return err_set(
			e, EBUSY,
			"port %u (%s): worker %u did not let go of it within %g s, nothing is changed; it may be kept from its CPU "
			"(`show plan`): try again",
			port, cp->p.name, cw != NULL ? cw->lcore : 0, LET_GO_NS / 1e9);
	}
	EACH_WORK(w, let_go)
		w->let_go(c, cp);
	int rc = dev_restart(c, cp, e);
	cp->paused = false;
	cp->touched = WHY_ALL;
	group_pause(c, cp, false);
	if (rc == 0)
		cp->restart = false;
	return rc;
}

void ctl_port_defaults(const struct ctl *c, struct port_cfg *out)
{
	port_cfg_init(out);
	out->promiscuous = c->opts.promiscuous;
	if (c->opts.mbufs != 0)
		out->mbufs = c->opts.mbufs;
	if (c->opts.txd != 0)
		out->txd = c->opts.txd;
	if (c->opts.rxd != 0)
		out->rxd = c->opts.rxd;
	if (c->opts.mtu != 0)
		out->mtu = c->opts.mtu;
}

void ctl_reset(struct ctl *c, unsigned port)
{
	struct ctl_port *cp = c->port[port];

	streams_default(cp);
	ctl_port_defaults(c, &cp->p.cfg);
	ctl_touch(c, port, WHY_ALL | WHY_RESTART);
}

const struct placement *ctl_placement(const struct ctl *c)
{
	return &c->place;
}

const struct place_in *ctl_place_in(const struct ctl *c)
{
	return &c->pin;
}
