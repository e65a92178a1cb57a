/* SPDX-License-Identifier: BSD-3-Clause */
/* The course of a measurement: what it may measure, trial after trial, and how streams get their
 * sizes back. */
#include "capacity_run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "capacity_int.h"

int capacity_partner(const struct ctl *c, unsigned port)
{
	unsigned other = port ^ 1;

	return other < c->nports && c->port[other]->p.used ? (int)other : -1;
}

/* ---- sizes of frames ---- */

static void sizes_note(struct capacity_run *r, unsigned port)
{
	for (unsigned i = 0; i < ctl_nstreams(r->c, port); i++) {
		const struct stream_cfg *s = ctl_stream_cfg(r->c, port, i);
		if (s == NULL || !s->enabled)
			continue;
		r->was = xrealloc(r->was, (r->nwas + 1) * sizeof(*r->was));
		r->was[r->nwas++] =
			(struct capacity_was){.port = port, .stream = i, .sizes = s->sizes};
	}
}

/* Whether the stream still has the size that it was given here. */
static bool sizes_ours(const struct sizes *s, unsigned size)
{
	return s->kind == SIZES_FIXED && s->n == 1 && s->item[0].size == size;
}

static void sizes_set(struct capacity_run *r, unsigned size)
{
	for (unsigned i = 0; i < r->nwas; i++) {
		struct stream_cfg *s = ctl_stream_cfg(r->c, r->was[i].port, r->was[i].stream);
		if (s == NULL || (r->size != 0 && !sizes_ours(&s->sizes, r->size)))
			continue; /* it was deleted, or somebody else has set it meanwhile */
		s->sizes =
			(struct sizes){.kind = SIZES_FIXED, .n = 1, .item = {{(uint16_t)size, 1}}};
		ctl_touch_stream(r->c, r->was[i].port, (int)r->was[i].stream, WHY_FRAMES);
	}
	r->size = size;
}

static void sizes_put_back(struct capacity_run *r)
{
	for (unsigned i = 0; i < r->nwas && r->size != 0; i++) {
		struct stream_cfg *s = ctl_stream_cfg(r->c, r->was[i].port, r->was[i].stream);
		if (s == NULL || !sizes_ours(&s->sizes, r->size))
			continue;
		s->sizes = r->was[i].sizes;
		ctl_touch_stream(r->c, r->was[i].port, (int)r->was[i].stream, WHY_FRAMES);
	}
	r->size = 0;
}

/* Can the port send frames of just that size? It has been set. `meanwhile`: it could before the
 * first trial. */
static int sizes_check(struct capacity_run *r, unsigned port, unsigned size, bool meanwhile,
		       struct err *e)
{
	struct ctl_load l;
	struct err why = {.text = ""};
	int rc = ctl_load(r->c, port, &l, &why);

	if (rc < 0)
		return err_set(e, -rc, "frames of %u bytes: %s", size, why.text);
	if (l.min_size == size && l.max_size == size)
		return 0;
	if (meanwhile)
		return err_set(
			e, EBUSY,
			"somebody else has changed the streams of port %u since the last trial: their frames are of %u to %u "
			"bytes, and %u are to be measured; capacity starts anew when nobody else sets them",
			port, l.min_size, l.max_size, size);
	return err_set(
		e, EINVAL,
		"port %u sends frames of %u to %u bytes although its size is set to %u; what varies it (`show settings %u`) comes first",
		port, l.min_size, l.max_size, size, port);
}

/* ---- what may be measured ---- */

static bool port_sends(const struct capacity_run *r, enum capacity_who who)
{
	const bool *d = r->spec.ask.direction;

	return d[CAPACITY_BOTH] || d[who == CAPACITY_OWN ? CAPACITY_SEND : CAPACITY_RECEIVE];
}

static void port_facts(const struct ctl *c, unsigned port, struct capacity_port *out)
{
	const struct port *p = &c->port[port]->p;

	out->port = port;
	out->nqueues[CAPACITY_TX] = p->ntxq;
	out->nqueues[CAPACITY_RX] = p->nrxq;
	out->link_bps = (double)port_speed(p);
	out->link_told = port_speed_told(p);
	out->waits = port_peer(p) != NULL;
}

static int check_port(const struct capacity_run *r, unsigned port, bool tx, bool rx, struct err *e)
{
	const struct ctl_port *cp = r->c->port[port];

	if (!cp->p.used)
		return err_set(e, EINVAL,
			       "port %u (%s) is not used: no map names it; add -m \"1.%u\"", port,
			       cp->p.name, port);
	if (cp->run.active)
		return err_set(
			e, EBUSY,
			"port %u (%s) is sending, and capacity measures what it sends itself; stop %u first",
			port, cp->p.name, port);
	if (tx && streams_carried(cp))
		return err_set(
			e, EINVAL,
			"port %u has flows, and capacity measures what carries frames; for connections, `trial %u rate max for 10s`, or "
			"examples/lua/connections.lua for the highest rate without failures; `set %u flow off` lets the port send frames",
			port, port, port);
	if (tx && cp->cfg.arrival.kind != ARRIVAL_CONSTANT)
		return err_set(
			e, EINVAL,
			"port %u: frames as fast as possible have no times at which they arrive; `set %u arrival constant` comes first",
			port, port);
	if (tx && cp->p.ntxq == 0)
		return err_set(e, EINVAL,
			       "port %u (%s) has no Tx queue; start with a sending core for it, "
			       "-m \"1:2.%u\"",
			       port, cp->p.name, port);
	if (rx && cp->p.nrxq == 0)
		return err_set(e, EINVAL,
			       "port %u (%s) has no Rx queue; start with a receiving core for it, "
			       "-m \"1:2.%u\"",
			       port, cp->p.name, port);
	return 0;
}

static int take_directions(struct capacity_run *r, struct err *e)
{
	bool *d = r->spec.ask.direction, any = d[0] || d[1] || d[2];
	int partner = capacity_partner(r->c, r->spec.port);
	const struct port *p = &r->c->port[r->spec.port]->p;

	if (!any) {
		bool two = partner >= 0 && p->nrxq > 0 && r->c->port[partner]->p.ntxq > 0;
		d[CAPACITY_SEND] = p->ntxq > 0 || !two;
		d[CAPACITY_RECEIVE] = two;
		d[CAPACITY_BOTH] = two && p->ntxq > 0 && r->c->port[partner]->p.nrxq > 0;
	}
	if (partner < 0 && (d[CAPACITY_RECEIVE] || d[CAPACITY_BOTH]))
		return err_set(
			e, EINVAL,
			"nobody sends to port %u: port %u, its partner, is not there or not used; `capacity %u direction send`, or "
			"start with a second -p that is joined to it",
			r->spec.port, r->spec.port ^ 1, r->spec.port);
	if (partner >= 0 && d[CAPACITY_SEND] && r->c->port[partner]->p.nrxq == 0)
		return err_set(
			e, EINVAL,
			"port %d (%s) has no Rx queue, so nobody would see what port %u sends; start with a receiving core for it, "
			"-m \"1:2.%d\"",
			partner, r->c->port[partner]->p.name, r->spec.port, partner);
	int rc = check_port(r, r->spec.port, port_sends(r, CAPACITY_OWN),
			    d[CAPACITY_RECEIVE] || d[CAPACITY_BOTH], e);
	if (rc == 0 && partner >= 0)
		rc = check_port(r, (unsigned)partner, port_sends(r, CAPACITY_PARTNER),
				d[CAPACITY_BOTH], e);
	return rc;
}

/* How many queues each port that sends has at least, and the port that has no more. */
static unsigned queues_most(const struct capacity_run *r, unsigned *port)
{
	unsigned most = UINT32_MAX;

	for (unsigned who = 0; who < CAPACITY_PORTS; who++) {
		const struct capacity_port *p = &r->spec.ask.port[who];
		if (!port_sends(r, (enum capacity_who)who) || p->nqueues[CAPACITY_TX] >= most)
			continue;
		most = p->nqueues[CAPACITY_TX];
		*port = p->port;
	}
	return most;
}

static int take_counts(struct capacity_run *r, struct err *e)
{
	struct capacity_ask *ask = &r->spec.ask;
	unsigned port = r->spec.port, most = queues_most(r, &port);

	for (unsigned i = 0; i < ask->ncounts; i++)
		if (ask->count[i] > most)
			return err_set(
				e, EINVAL,
				"queues %u: port %u has %u Tx queue%s, and their number is fixed when the program starts; up to %u "
				"can be measured, or start with more, -m '1.%u*%u'",
				ask->count[i], port, most, most == 1 ? "" : "s", most, port,
				ask->count[i]);
	if (ask->ncounts > 0)
		return 0;
	for (unsigned n = 1; n < most && ask->ncounts < CAPACITY_COUNTS - 1; n *= 2)
		ask->count[ask->ncounts++] = n;
	ask->count[ask->ncounts++] = most;
	return 0;
}

static int take_sizes(struct capacity_run *r, struct err *e)
{
	const struct capacity_ask *ask = &r->spec.ask;
	int rc = 0;

	for (unsigned who = 0; who < CAPACITY_PORTS; who++)
		if (port_sends(r, (enum capacity_who)who))
			sizes_note(r, ask->port[who].port);
	for (unsigned i = 0; i < ask->nsizes && rc == 0; i++) {
		sizes_set(r, ask->size[i]);
		for (unsigned who = 0; who < CAPACITY_PORTS && rc == 0; who++)
			if (port_sends(r, (enum capacity_who)who))
				rc = sizes_check(r, ask->port[who].port, ask->size[i], false, e);
	}
	return rc;
}

/* ---- the course ---- */

static struct trial_spec spec_of(const struct capacity_run *r, const struct capacity_trial *want)
{
	struct trial_spec spec = {.rate = {.kind = isinf(want->pps) ? RATE_MAX : RATE_PPS,
					   .value = isinf(want->pps) ? 0 : want->pps},
				  .queues = want->queues,
				  .duration_ns = r->spec.duration_ns,
				  .cfg = r->spec.cfg};

	/* A probe in each frame costs cycles that plain frames do not cost, and learning frames
	 * would be counted. */
	spec.cfg.told = false;
	spec.cfg.learn = 0;
	if (want->direction != CAPACITY_RECEIVE)
		portset_add(&spec.tx, r->spec.ask.port[CAPACITY_OWN].port);
	if (want->direction != CAPACITY_SEND)
		portset_add(&spec.tx, r->spec.ask.port[CAPACITY_PARTNER].port);
	return spec;
}

/* Refuses what the first trial of some direction would refuse. */
static int check_trials(struct capacity_run *r, struct err *e)
{
	int rc = 0;

	for (unsigned d = 0; d < CAPACITY_DIRECTIONS && rc == 0; d++) {
		const struct capacity_trial one = {.direction = (enum capacity_direction)d,
						   .pps = (double)INFINITY};
		struct trial_spec spec = spec_of(r, &one);
		if (r->spec.ask.direction[d])
			rc = trial_may_start(r->c, &spec, e);
	}
	return rc;
}

/* Whose interface was deleted carries nothing, and no trial could tell why. */
static int check_interfaces(const struct capacity_run *r, struct err *e)
{
	for (unsigned who = 0; who < CAPACITY_PORTS; who++) {
		const struct port *p = &r->c->port[r->spec.ask.port[who].port]->p;
		if ((who == CAPACITY_OWN || r->partner >= 0) && p->link == LINK_GONE)
			return err_set(
				e, ENODEV,
				"port %u (%s): its interface was deleted; start the program again when it is back",
				p->id, p->name);
	}
	return 0;
}

static int next_trial(struct capacity_run *r, struct err *e)
{
	struct capacity_trial want;

	if (!capacity_next(&r->k, &want)) {
		sizes_put_back(r);
		return 1;
	}
	if (want.size != r->size)
		sizes_set(r, want.size);
	struct trial_spec spec = spec_of(r, &want);
	int rc = check_interfaces(r, e);
	/* another session may have set them since the last trial */
	for (unsigned who = 0; who < CAPACITY_PORTS && rc == 0; who++)
		if (portset_has(&spec.tx, r->spec.ask.port[who].port))
			rc = sizes_check(r, r->spec.ask.port[who].port, want.size, true, e);
	if (rc == 0)
		rc = trial_start(r->c, &spec, &r->trial, e);
	if (rc == 0)
		r->began_ns = clock_raw_ns();
	if (rc == 0 && trial_begun(r->trial))
		capacity_mark(r, &r->base);
	return rc;
}

int capacity_run_start(struct ctl *c, const struct capacity_run_spec *spec,
		       struct capacity_run **out, struct err *e)
{
	struct capacity_run *r = xcalloc(1, sizeof(*r));
	int partner = capacity_partner(c, spec->port);

	r->c = c;
	r->spec = *spec;
	port_facts(c, spec->port, &r->spec.ask.port[CAPACITY_OWN]);
	if (partner >= 0)
		port_facts(c, (unsigned)partner, &r->spec.ask.port[CAPACITY_PARTNER]);
	r->partner = partner;
	int rc = take_directions(r, e);
	if (rc == 0)
		rc = check_trials(r, e);
	if (rc == 0)
		rc = take_counts(r, e);
	if (rc == 0)
		rc = take_sizes(r, e);
	if (rc == 0) {
		capacity_begin(&r->k, &r->spec.ask);
		rc = next_trial(r, e);
	}
	if (rc < 0) {
		capacity_run_free(r);
		return rc;
	}
	*out = r;
	return 0;
}

int capacity_run_poll(struct capacity_run *r, struct err *e)
{
	struct capacity_reading *got;
	bool begun = trial_begun(r->trial);
	int rc = trial_poll(r->trial, e);

	/* what arrives before is of an earlier run */
	if (rc == 0 && !begun && trial_begun(r->trial))
		capacity_mark(r, &r->base);
	if (rc <= 0)
		return rc;
	got = xcalloc(1, sizeof(*got));
	capacity_read(r, trial_result(r->trial), got);
	trial_free(r->trial);
	r->trial = NULL;
	r->gone_ns += clock_raw_ns() - r->began_ns;
	r->ntrials++;
	capacity_feed(&r->k, got);
	free(got);
	return next_trial(r, e);
}

const struct capacity *capacity_run_result(const struct capacity_run *r)
{
	return &r->k;
}

void capacity_run_progress(const struct capacity_run *r, uint64_t *gone_ns, uint64_t *all_ns)
{
	uint64_t each = r->ntrials > 0 ? r->gone_ns / r->ntrials
				       : r->spec.duration_ns + CAPACITY_NS_AROUND,
		 in = r->trial != NULL ? clock_raw_ns() - r->began_ns : 0;

	*gone_ns = r->gone_ns + RTE_MIN(in, each);
	*all_ns = r->gone_ns + capacity_rest(&r->k) * each;
}

void capacity_run_free(struct capacity_run *r)
{
	if (r == NULL)
		return;
	trial_free(r->trial);
	sizes_put_back(r);
	capacity_mark_free(&r->base);
	capacity_free(&r->k);
	free(r->was);
	free(r);
}
