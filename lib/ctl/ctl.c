/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and closes control: parses the specs of ports, starts EAL, makes the placement, opens the
 * ports and starts the workers. Also control's turn, and what is done when settings change. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl_int.h"

#define SPEC_PORTS 2 /* the most ports that one spec makes */

static void ctl_take_note(void *arg, unsigned port, const char *text)
{
	ctl_note(arg, port, "%s", text);
}

/* Adds the ports of one -p. Their devices are opened later. */
static int add_ports(struct ctl *c, const struct port_spec *spec, const char *text,
		     const struct port_need *need, struct err *e)
{
	for (unsigned i = 0; i < need->nports; i++) {
		if (c->nports == CTL_MAX_PORTS)
			return err_set(e, EINVAL, "port spec \"%s\": more than %d ports", text,
				       CTL_MAX_PORTS);
		struct ctl_port *cp = ctl_port_new();
		unsigned id = c->nports++;
		port_from_spec(&cp->p, id, id - i, text, spec, need);
		port_listen(&cp->p, ctl_take_note, c);
		c->port[id] = cp;
		ctl_reset(c, id);
	}
	return 0;
}

/* How many devices the user's EAL options name that no -p has named, too. */
static unsigned eal_devices(const struct ctl_opts *o)
{
	static const char *const options[] = {"-a", "--allow", "--vdev"};
	unsigned n = 0;

	for (unsigned i = 0; i < o->neal_args; i++)
		for (size_t k = 0; k < ARRAY_SIZE(options); k++) {
			const char *a = o->eal_args[i], *value = a + strlen(options[k]);
			if (strncmp(a, options[k], strlen(options[k])) != 0)
				continue;
			if (*value == '\0' && i + 1 < o->neal_args)
				value = o->eal_args[i + 1];
			n += !port_pci_named(value + (*value == '='));
		}
	return n;
}

static int parse_specs(struct ctl *c, struct err *e)
{
	static const char *const wire[] = {"wire"};
	const char *const *specs = c->opts.ports;
	unsigned n = c->opts.nports, ndev;
	int rc;

	if (n == 0 && eal_devices(&c->opts) == 0) {
		specs = wire;
		n = 1;
	}
	for (unsigned i = 0; i < n; i++) {
		const struct port_spec *spec;
		struct port_need need;
		rc = port_parse(specs[i], c->opts.take, &spec, &need, e);
		if (rc < 0 || (rc = add_ports(c, spec, specs[i], &need, e)) < 0)
			return rc;
	}
	ndev = eal_devices(&c->opts); /* now it is known which of them are those of a -p */
	for (unsigned i = 0; i < ndev; i++) {
		const struct port_spec *spec;
		struct port_need need;
		char text[32];
		port_parse_eal(i, text, sizeof(text), &spec, &need);
		rc = add_ports(c, spec, text, &need, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Rewrites *e, an error in map number `which`, so that it shows the map and a caret below the
 * column. */
static void ctl_map_error(const struct ctl *c, unsigned which, struct err *e)
{
	struct err why = *e;

	if (why.col >= 0)
		err_set(e, EINVAL, "core map: %.600s\n  %.200s\n  %*s^", why.text,
			c->opts.maps[which], why.col, "");
	else
		err_set(e, EINVAL, "core map: %.900s", why.text);
}

void ctl_devices(const struct ctl *c, struct port *list[CTL_MAX_PORTS])
{
	for (unsigned i = 0; i < c->nports; i++)
		list[i] = &c->port[i]->p;
}

/* What EAL is asked for. list: room for all ports. */
static struct eal_ask eal_ask_of(const struct ctl *c, struct port *list[CTL_MAX_PORTS],
				 const uint16_t (*nq)[2])
{
	ctl_devices(c, list);
	return (struct eal_ask){.prog = c->opts.prog,
				.less = c->opts.less,
				.log = c->opts.log,
				.arg = c->opts.eal_args,
				.nargs = c->opts.neal_args,
				.small_pages = c->opts.small_pages,
				.port = list,
				.nports = c->nports,
				.nq = nq};
}

/* Takes the map that somebody would like for one of the user's, if it names all ports. The ends of
 * a wire have as many queues then, as flows need them. */
static void ctl_take_hint(struct ctl *c)
{
	uint16_t nq[CTL_MAX_PORTS][2] = {{0}};

	if (c->opts.hint == NULL || c->opts.nmaps > 0 ||
	    place_count(&c->opts.hint, 1, c->nports, nq, NULL, &c->hint_lacks) < 0)
		return;
	for (unsigned i = 0; i < c->nports; i++) {
		if (nq[i][0] > 0 && nq[i][1] > 0)
			continue;
		err_set(&c->hint_lacks, EINVAL, "it does not name port %u", i);
		return;
	}
	for (unsigned i = 0; i + 1 < c->nports; i++) {
		const struct port *p = &c->port[i]->p;
		if (p->need.nports != 2 || p->first != i ||
		    memcmp(nq[i], nq[i + 1], sizeof(nq[i])) == 0)
			continue;
		err_set(&c->hint_lacks, EINVAL,
			"ports %u and %u are the ends of one wire, and have %u and %u queues in it",
			i, i + 1, nq[i][0], nq[i + 1][0]);
		return;
	}
	c->opts.maps = &c->opts.hint;
	c->opts.nmaps = 1;
}

/* Starts EAL with memory for the queues that maps ask for: it can count them before devices are
 * known. */
static int ctl_start_eal(struct ctl *c, struct err *e)
{
	struct port *list[CTL_MAX_PORTS];
	uint16_t nq[CTL_MAX_PORTS][2] = {{0}};
	unsigned which = 0;

	ctl_take_hint(c);
	int rc = c->opts.nmaps > 0
			 ? place_count(c->opts.maps, c->opts.nmaps, c->nports, nq, &which, e)
			 : 0;
	if (rc < 0) {
		ctl_map_error(c, which, e);
		return rc;
	}
	for (unsigned i = 0; i < c->nports && c->opts.nmaps == 0; i++)
		nq[i][0] = nq[i][1] = 1;
	struct eal_ask ask = eal_ask_of(c, list, (const uint16_t(*)[2])nq);
	return eal_start(&ask, &c->eal_memory, e);
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
		c->pport[i] = (struct place_port){.max_rxq = c->port[i]->p.need.max_rxq,
						  .max_txq = c->port[i]->p.need.max_txq,
						  .node = c->port[i]->p.need.node};
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
	if (rc < 0 && c->opts.maps == &c->opts.hint) {
		c->hint_lacks = *e;
		c->opts.nmaps = 0;
		return place_auto(&c->pin, &c->place, e);
	}
	if (rc < 0 && c->opts.nmaps > 0)
		ctl_map_error(c, which, e);
	return rc;
}

const char *ctl_hint_lacks(const struct ctl *c)
{
	return c->hint_lacks.text[0] != '\0' ? c->hint_lacks.text : NULL;
}

/* Makes the objects of a port's queues, which live as long as the port, and lets works make
 * theirs. */
static int make_queues(struct ctl *c, struct ctl_port *cp, struct err *e)
{
	int rc = 0;

	cp->tx_worker = xcalloc(cp->p.ntxq + 1u, sizeof(*cp->tx_worker));
	cp->rx_worker = xcalloc(cp->p.nrxq + 1u, sizeof(*cp->rx_worker));
	for (unsigned i = 0; i < c->place.n && rc == 0; i++) {
		const struct place_queue *pq = &c->place.q[i];
		if (pq->port != cp->p.id)
			continue;
		int worker = workers_index(c, pq->lcore), node = c->worker[worker].node;
		(pq->tx ? cp->tx_worker : cp->rx_worker)[pq->queue] = worker;
		rc = pq->tx ? port_txq_new(&cp->p, pq->queue, node, e)
			    : port_rxq_new(&cp->p, pq->queue, node, e);
	}
	if (rc < 0)
		return rc;
	rc = stat_init(cp);
	EACH_WORK(w, port_open)
		if (rc == 0)
			rc = w->port_open(c, cp, e);
	return rc;
}

/* Opens the devices of one spec, if any of its ports is used. */
static int open_spec(struct ctl *c, unsigned first, struct err *e)
{
	struct port *p[CTL_MAX_PORTS];
	unsigned n = c->port[first]->p.need.nports;

	for (unsigned i = 0; i < n; i++) {
		p[i] = &c->port[first + i]->p;
		port_use(p[i], c->place.port[first + i].nrxq, c->place.port[first + i].ntxq);
	}
	return port_open(p, n, e);
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
		 peer < c->nports && c->port[peer]->p.used ? c->port[peer]->p.mac.addr_bytes : zero,
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
	struct port *none[CTL_MAX_PORTS];
	struct eal_ask ask = eal_ask_of(c, none, NULL);
	int rc = eal_room(&ask, SPEC_PORTS * (c->opts.nports > 0 ? c->opts.nports : 1), 0, e);

	if (rc < 0 || (rc = parse_specs(c, e)) < 0 || (rc = ctl_start_eal(c, e)) < 0 ||
	    (rc = port_dummy_pool(e)) < 0 || (rc = ctl_place(c, e)) < 0 ||
	    (rc = workers_make(c, e)) < 0 || (rc = tsc_check(c, e)) < 0)
		return rc;
	for (unsigned i = 0; i < c->nports; i += c->port[i]->p.need.nports)
		if ((rc = open_spec(c, i, e)) < 0)
			return rc;
	for (unsigned i = 0; i < c->nports; i++) {
		struct ctl_port *cp = c->port[i];
		if (!cp->p.used) {
			log_msg(LOG_LVL_WARN, "port %u (%s) is not used: no map names it", i,
				cp->p.spec_text);
			continue;
		}
		if ((rc = make_queues(c, cp, e)) < 0 || (rc = port_setup(&cp->p, e)) < 0)
			return rc;
		port_link(&cp->p);
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
	if (rc == -ENODEV && eal_pages_lost())
		rc = -EAGAIN;
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
	for (unsigned i = 0; i < c->nports; i++)
		port_detach(&c->port[i]->p);
	eal_log_drain();
}

static void free_port(struct ctl *c, struct ctl_port *cp)
{
	EACH_WORK(w, port_close)
		w->port_close(c, cp);
	streams_free(cp);
	frame_vals_free(&cp->dflt);
	stat_free(cp);
	for (unsigned q = 0; q < cp->p.ntxq && cp->seen != NULL; q++)
		free(cp->seen[q]);
	free(cp->seen);
	free(cp->tx_worker);
	free(cp->rx_worker);
	port_free(&cp->p);
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
		if (c->port[i]->p.opened)
			port_close(&c->port[i]->p);
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
		free_port(c, c->port[i]);
	/* A thread that hangs may still use what works have, wake_fd and c. */
	bool written = writer_end(c);
	EACH_WORK(w, ctl_end)
		if (written)
			w->ctl_end(c);
	free(c->old);
	if (c->wake_fd >= 0 && written)
		close(c->wake_fd);
	free(c->worker);
	free(c->cpus);
	free(c->plcore);
	placement_free(&c->place);
	eal_log_drain();
	if (written)
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
	for (unsigned i = 0; i < c->nports; i++) {
		stamps_turn(&c->port[i]->p);
		rss_follow(&c->port[i]->p);
	}
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
	uint64_t ns = UINT64_MAX;
	for (unsigned i = 0; i < c->nports; i++)
		ns = RTE_MIN(ns, stamps_next_ns(&c->port[i]->p));
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
	return &c->port[port]->cfg;
}

void ctl_set_stall(struct ctl *c, uint64_t ns)
{
	if (c->stall_ns == ns)
		return;
	c->stall_ns = ns;
	for (unsigned w = 0; w < c->nworkers; w++)
		c->worker[w].dirty = true;
}

void ctl_touch(struct ctl *c, unsigned port, uint32_t why)
{
	struct ctl_port *cp = c->port[port];

	cp->touched |= why & WHY_ALL;
	if ((why & WHY_RESTART) != 0 || cp->restart || stamps_pending(&cp->p))
		cp->restart = cp->p.used && port_restart_pending(&cp->p);
}

#define LET_GO_NS 5000000000ull /* other programs may keep a worker from its CPU for long */

/* Takes the running ports of the -p that made cp out of all plans, or puts them back. They belong
 * together, because frames of one wait in the device of the other. */
static void spec_pause(struct ctl *c, const struct ctl_port *cp, bool pause)
{
	for (unsigned i = 0; i < c->nports; i++) {
		struct ctl_port *o = c->port[i];
		if (o->p.first != cp->p.first || (pause ? !ctl_port_runs(o) : !o->paused))
			continue;
		o->paused = pause;
		o->touched = WHY_ALL;
	}
}

int ctl_apply(struct ctl *c, unsigned port, struct err *e)
{
	struct ctl_port *cp = c->port[port];

	for (unsigned i = 0; i < c->nports; i++)
		if (c->port[i]->p.first == cp->p.first && c->port[i]->run.active)
			return err_set(e, EBUSY, "port %u (%s) is sending; stop %u first", i,
				       c->port[i]->p.name, i);
	if (!cp->restart)
		return 0;
	if (port_no_restart(&cp->p))
		return err_set(
			e, EINVAL,
			"port %u (%s): its driver cannot be set up twice; give --mtu, --txd, --rxd or --mbufs at start",
			cp->p.id, cp->p.spec_text);
	spec_pause(c, cp, true); /* the next plans are without them */
	plan_post_all(c);
	if (!plan_wait_acks(c, LET_GO_NS)) {
		const struct ctl_worker *cw = plan_behind(c);
		spec_pause(c, cp, false);
		plan_post_all(c); /* with them again: nothing is left of the attempt */
		return err_set(
			e, EBUSY,
			"port %u (%s): worker %u did not let go of it within %g s, nothing is changed; it may be kept from its CPU "
			"(`show plan`): try again",
			port, cp->p.name, cw != NULL ? cw->lcore : 0, LET_GO_NS / 1e9);
	}
	EACH_WORK(w, let_go)
		w->let_go(c, cp);
	int rc = port_restart(&cp->p, e);
	cp->paused = false;
	cp->touched = WHY_ALL;
	spec_pause(c, cp, false);
	if (rc == 0)
		cp->restart = false;
	return rc;
}

void ctl_port_defaults(const struct ctl *c, struct port_cfg *out)
{
	ctl_cfg_init(out);
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
	ctl_port_defaults(c, &cp->cfg);
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

const void *ctl_watched(const struct ctl *c)
{
	return c->watch_of;
}

/* Turns longer than this count as stalls from now on, if the setting does not say less. */
static void watch_stalls(struct ctl *c, uint64_t ns)
{
	for (unsigned w = 0; w < c->nworkers && ns != c->watch_stall_ns; w++)
		c->worker[w].dirty = true;
	c->watch_stall_ns = ns;
}

void ctl_watch(struct ctl *c, const void *of, const struct portset *ports, uint64_t stall_ns)
{
	c->watch_of = of;
	watch_stalls(c, stall_ns);
	for (unsigned i = 0; i < c->nports; i++)
		if (portset_has(ports, i)) {
			c->port[i]->awake = true;
			ctl_touch(c, i, WHY_PORT);
		}
}

void ctl_unwatch(struct ctl *c)
{
	c->watch_of = NULL;
	watch_stalls(c, 0);
	for (unsigned i = 0; i < c->nports; i++)
		if (c->port[i]->awake) {
			c->port[i]->awake = false;
			ctl_touch(c, i, WHY_PORT);
		}
}
