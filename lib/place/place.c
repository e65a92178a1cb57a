/* SPDX-License-Identifier: BSD-3-Clause */
/* The placement: from maps as numbers, or without maps, to which worker serves which queue. */
#include "place.h"
#include "place_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const side_name[2] = {"Rx", "Tx"};

/* The placement of a set of maps while it is being made, map by map. Side 0 is Rx, 1 is Tx. */
struct dealer {
	const struct map_set *set;
	const struct place_in *in; /* NULL: lcores and devices are not known yet */
	unsigned nports;
	struct place_queue *q;
	unsigned n, cap;
	uint16_t (*nq)[2];              /* [port][side] */
	const struct map_entry **first; /* [port]: the map that names it first */
	bool *used;                     /* [port][side][lcore]: a map names it there */
	unsigned which;                 /* index of the text that is being read, for errors */
	struct err *e;
};

static bool is_worker(const struct place_in *in, unsigned lcore)
{
	for (unsigned i = 0; i < in->nlcores; i++)
		if (in->lcore[i].lcore == lcore)
			return true;
	return false;
}

/* Adds the numbers of all workers as a text, "1-3, 5". */
static void add_workers(struct sbuf *b, const struct place_in *in)
{
	for (unsigned i = 0; i < in->nlcores;) {
		unsigned j = i;

		while (j + 1 < in->nlcores && in->lcore[j + 1].lcore == in->lcore[j].lcore + 1)
			j++;
		sbuf_addf(b, "%s%u", i ? ", " : "", in->lcore[i].lcore);
		if (j > i)
			sbuf_addf(b, "-%u", in->lcore[j].lcore);
		i = j + 1;
	}
}

static int check_lcore(struct dealer *d, const struct map_item *core)
{
	if (d->in == NULL || is_worker(d->in, core->num))
		return 0;

	struct sbuf there = {0};
	int rc;

	add_workers(&there, d->in);
	if (there.len == 0)
		sbuf_add(&there, "none, give EAL more with --lcores");
	if (core->num == d->in->control)
		rc = err_at(
			d->e, EINVAL, core->col,
			"lcore %u is control (prompt and timers) and carries no traffic; workers: %s",
			core->num, sbuf_str(&there));
	else
		rc = err_at(d->e, EINVAL, core->col, "there is no lcore %u; workers: %s", core->num,
			    sbuf_str(&there));
	sbuf_free(&there);
	return rc;
}

static int check_port(struct dealer *d, const struct map_item *port)
{
	if (port->num < d->nports)
		return 0;
	if (d->nports == 0)
		return err_at(d->e, EINVAL, port->col,
			      "there is no port %u: no port was given, add one with -p", port->num);
	if (d->nports == 1)
		return err_at(d->e, EINVAL, port->col, "there is no port %u: the only port is 0",
			      port->num);
	return err_at(d->e, EINVAL, port->col, "there is no port %u; ports: 0-%u", port->num,
		      d->nports - 1);
}

static unsigned max_queues(const struct dealer *d, unsigned port, int side)
{
	if (d->in == NULL)
		return PLACE_MAX_QUEUES;
	unsigned max = side ? d->in->port[port].max_txq : d->in->port[port].max_rxq;
	return max < PLACE_MAX_QUEUES ? max : PLACE_MAX_QUEUES;
}

/* Whether a side of a port can have so many queues more. */
static int check_room(struct dealer *d, const struct map_entry *m, unsigned port, int side,
		      unsigned more)
{
	const struct map_list *core = &m->core[side];
	unsigned max = max_queues(d, port, side), have = d->nq[port][side];

	if (have + more <= max)
		return 0;
	if (max == 0)
		return err_at(d->e, EINVAL, core->col,
			      "port %u has no %s queues: leave that side empty, %s%u%s.%u", port,
			      side_name[side], side ? "" : ":", core->v[0].num, side ? ":" : "",
			      port);
	/* The caret stands under "*N", or under the first core that no queue is left for. */
	int col = m->nq ? m->nq_col : core->v[max > have ? max - have : 0].col;
	return err_at(d->e, EINVAL, col,
		      "port %u has at most %u %s queue%s and the maps ask for %u or more: %s", port,
		      max, side_name[side], max == 1 ? "" : "s", have + more,
		      m->nq ? "write a smaller *N" : "name fewer cores");
}

/* Gives the next queue of a side of a port to an lcore. */
static void place_push(struct dealer *d, unsigned port, int side, unsigned lcore)
{
	if (d->n == d->cap) {
		d->cap = d->cap ? d->cap * 2 : 16;
		d->q = xrealloc(d->q, d->cap * sizeof(*d->q));
	}
	d->q[d->n++] = (struct place_queue){(uint16_t)port, d->nq[port][side]++, side == 1, lcore};
}

/* Deals the queues of one side that a map asks for: on each of its ports one queue to each of its
 * cores in turn, or N queues with "*N". */
static int deal_side(struct dealer *d, const struct map_entry *m, int side)
{
	const struct map_list *core = &m->core[side], *ports = &m->port[side];
	int rc;

	for (unsigned i = 0; i < core->n; i++) {
		rc = check_lcore(d, &core->v[i]);
		if (rc < 0)
			return rc;
	}
	for (unsigned k = 0; k < ports->n; k++) {
		unsigned port = ports->v[k].num;

		rc = check_port(d, &ports->v[k]);
		if (rc < 0)
			return rc;
		if (core->n == 0)
			continue;
		for (unsigned i = 0; i < core->n; i++) {
			bool *used = &d->used[(port * 2 + (unsigned)side) * PLACE_MAX_LCORES +
					      core->v[i].num];

			if (*used)
				return err_at(
					d->e, EINVAL, core->v[i].col,
					"lcore %u is named twice for %s of port %u: name it once, or add *N "
					"after the port for several queues per core",
					core->v[i].num, side_name[side], port);
			*used = true;
		}
		if (d->first[port] == NULL)
			d->first[port] = m;
		unsigned n = m->nq ? m->nq : core->n;
		rc = check_room(d, m, port, side, n);
		if (rc < 0)
			return rc;
		for (unsigned i = 0; i < n; i++)
			place_push(d, port, side, core->v[i % core->n].num);
	}
	return 0;
}

/* A port that some map names must have the sides that it needs. Other ports stay unused. */
static int check_needs(struct dealer *d)
{
	for (unsigned p = 0; d->in != NULL && p < d->nports; p++) {
		const struct map_entry *m = d->first[p];

		if (m == NULL)
			continue;
		for (int side = 0; side < 2; side++) {
			if (d->nq[p][side] > 0 ||
			    !(side ? d->in->port[p].needs_tx : d->in->port[p].needs_rx))
				continue;
			d->which = m->which;
			return err_at(
				d->e, EINVAL, m->core[side].col,
				"port %u has no %s core and needs one: write [RX:TX].%u with cores on "
				"both sides, or a core without ':' for both",
				p, side_name[side], p);
		}
	}
	return 0;
}

static int place_deal(struct dealer *d)
{
	for (unsigned i = 0; i < d->set->n; i++) {
		d->which = d->set->v[i].which;
		for (int side = 0; side < 2; side++) {
			int rc = deal_side(d, &d->set->v[i], side);

			if (rc < 0)
				return rc;
		}
	}
	return check_needs(d);
}

static void dealer_init(struct dealer *d, const struct map_set *set, const struct place_in *in,
			unsigned nports, struct err *e)
{
	*d = (struct dealer){.set = set, .in = in, .nports = nports, .e = e};
	d->nq = xcalloc(nports, sizeof(*d->nq));
	d->first = xcalloc(nports, sizeof(*d->first));
	d->used = xcalloc((size_t)nports * 2, PLACE_MAX_LCORES * sizeof(*d->used));
}

static void dealer_free(struct dealer *d)
{
	free(d->q);
	free(d->nq);
	free(d->first);
	free(d->used);
}

static int by_port(const void *va, const void *vb)
{
	const struct place_queue *a = va, *b = vb;

	if (a->port != b->port)
		return a->port < b->port ? -1 : 1;
	if (a->tx != b->tx)
		return a->tx ? 1 : -1;
	return a->queue < b->queue ? -1 : a->queue > b->queue;
}

/* Makes the placement from the dealer, whose queues go into it. */
static void place_finish(struct dealer *d, struct placement *out)
{
	if (d->n > 1)
		qsort(d->q, d->n, sizeof(*d->q), by_port);
	out->n = d->n;
	out->q = d->q;
	d->q = NULL;
	out->nports = d->nports;
	out->port = xcalloc(d->nports, sizeof(*out->port));
	for (unsigned p = 0; p < d->nports; p++) {
		out->port[p].nrxq = d->nq[p][0];
		out->port[p].ntxq = d->nq[p][1];
	}
}

/* Reads the maps and deals their queues. in NULL: nothing is checked against lcores and devices.
 * out NULL: no placement is wanted. nq NULL: no counts are wanted. */
static int read_maps(const char *const *maps, unsigned nmaps, const struct place_in *in,
		     unsigned nports, struct placement *out, uint16_t (*nq)[2], unsigned *which,
		     struct err *e)
{
	struct map_set set;
	struct dealer d;
	int rc = map_set_parse(maps, nmaps, &set, which, e);

	if (rc < 0)
		return rc;
	dealer_init(&d, &set, in, nports, e);
	rc = place_deal(&d);
	if (rc < 0 && which != NULL)
		*which = d.which;
	if (rc == 0 && out != NULL)
		place_finish(&d, out);
	if (rc == 0 && nq != NULL)
		memcpy(nq, d.nq, nports * sizeof(*nq));
	dealer_free(&d);
	map_set_free(&set);
	return rc;
}

int place_maps(const char *const *maps, unsigned nmaps, const struct place_in *in,
	       struct placement *out, unsigned *which, struct err *e)
{
	*out = (struct placement){0};
	return read_maps(maps, nmaps, in, in->nports, out, NULL, which, e);
}

int place_count(const char *const *maps, unsigned nmaps, unsigned nports, uint16_t (*nq)[2],
		unsigned *which, struct err *e)
{
	return read_maps(maps, nmaps, NULL, nports, NULL, nq, which, e);
}

/* The worker on this node (-1: on any) that has the fewest ports, if they are fewer than room; of
 * several the one with the lowest number. -1: there is none. */
static int place_pick(const struct place_in *in, const unsigned *load, unsigned room, int node)
{
	int best = -1;

	for (unsigned i = 0; i < in->nlcores; i++) {
		if (load[i] >= room || (node >= 0 && in->lcore[i].node != node))
			continue;
		if (best < 0 || load[i] < load[best])
			best = (int)i;
	}
	return best;
}

static bool port_has_queues(const struct place_port *p)
{
	return p->max_rxq > 0 || p->max_txq > 0;
}

/* Chooses a worker for each port that has queues: worker[port] is an index into place_in.lcore.
 * Ports whose node is known come first and get workers near it, so that no other port takes those
 * away. No worker gets more ports than are needed to place all. */
static void place_choose(const struct place_in *in, int *worker)
{
	unsigned *load = xcalloc(in->nlcores, sizeof(*load)), n = 0;

	for (unsigned p = 0; p < in->nports; p++) {
		worker[p] = -1;
		n += port_has_queues(&in->port[p]);
	}

	unsigned room = (n + in->nlcores - 1) / in->nlcores;

	for (int near = 1; near >= 0; near--) {
		for (unsigned p = 0; p < in->nports; p++) {
			int node = in->port[p].node;

			if (worker[p] >= 0 || !port_has_queues(&in->port[p]) || (near && node < 0))
				continue;
			worker[p] = place_pick(in, load, room, near ? node : -1);
			if (worker[p] >= 0)
				load[worker[p]]++;
		}
	}
	free(load);
}

int place_auto(const struct place_in *in, struct placement *out, struct err *e)
{
	struct dealer d;

	*out = (struct placement){0};
	if (in->nlcores == 0)
		return err_set(
			e, EINVAL,
			"there is no lcore besides control (lcore %u) to carry traffic: give EAL one more, for example "
			"--lcores '%u,%u@0'",
			in->control, in->control, in->control + 1);

	int *worker = xcalloc(in->nports, sizeof(*worker));

	place_choose(in, worker);
	dealer_init(&d, NULL, in, in->nports, e);
	for (unsigned p = 0; p < in->nports; p++) {
		if (in->port[p].max_rxq > 0)
			place_push(&d, p, 0, in->lcore[worker[p]].lcore);
		if (in->port[p].max_txq > 0)
			place_push(&d, p, 1, in->lcore[worker[p]].lcore);
	}
	place_finish(&d, out);
	dealer_free(&d);
	free(worker);
	return 0;
}

void placement_free(struct placement *p)
{
	free(p->q);
	free(p->port);
	*p = (struct placement){0};
}
