/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs at a rate of their own, as trials ask for them: what they begin, how they kept to the rate,
 * and what became of it. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "flows_ctl.h"

/* ---- which rate ---- */

/* The enabled streams of a port by what they do, with one of each. */
struct calls_streams {
	unsigned clients, servers, frames, by_tps;
	unsigned client, server, frame, tps, no_tps; /* ids */
	int as_fast;                                 /* a client without a rate; -1: none */
};

static bool calls_by_tps(const struct stream *s)
{
	return flows_cfg_of(&s->cfg)->tps.on;
}

/* The rate that a client has by its settings. */
static const struct rate *calls_own(const struct flows_cfg *cfg)
{
	return cfg->tps.on ? &cfg->tps.rate : &cfg->cps;
}

static void calls_streams(const struct ctl_port *cp, struct calls_streams *out)
{
	*out = (struct calls_streams){.as_fast = -1};
	for (unsigned i = 0; i < cp->nstreams; i++) {
		const struct stream *s = cp->stream[i];
		if (stream_scheduled(s)) {
			out->frames++;
			out->frame = i;
		}
		if (!flows_is_on(s))
			continue;
		const struct flows_cfg *cfg = flows_cfg_of(&s->cfg);
		if (cfg->role == FLOWS_SERVER) {
			out->servers++;
			out->server = i;
			continue;
		}
		out->clients++;
		out->client = i;
		out->by_tps += calls_by_tps(s);
		*(calls_by_tps(s) ? &out->tps : &out->no_tps) = i;
		if (calls_own(cfg)->kind == RATE_MAX)
			out->as_fast = (int)i;
	}
}

/* One rate is shared by all clients, so it must be of the same for all, and their own rates must
 * say how. */
static int calls_check(const struct ctl_port *cp, const struct calls_streams *n, struct err *e)
{
	unsigned p = cp->p.id;

	if (n->frames > 0)
		return err_set(
			e, EINVAL,
			"port %u has flows and streams of frames, and one rate is of one of them: `set %u/%u enabled off` leaves the "
			"flows, `set %u/%u flow off` the frames",
			p, p, n->frame, p, n->clients > 0 ? n->client : n->server);
	if (n->clients == 0)
		return err_set(
			e, EINVAL,
			"port %u begins nothing: its flow %u/%u is a server; name the port of its clients, or `set %u/%u flow client`",
			p, p, n->server, p, n->server);
	if (n->by_tps != 0 && n->by_tps != n->clients)
		return err_set(
			e, EINVAL,
			"port %u: %u/%u begins transactions at a rate and %u/%u connections, and one rate is of one of them: `set %u/%u "
			"tps off`",
			p, p, n->tps, p, n->no_tps, p, n->tps);
	if (n->clients > 1 && n->as_fast >= 0)
		return err_set(
			e, EINVAL,
			"port %u: its %u clients share the rate as their own ones are, and %u/%u has none: `set %u/%d %s 1k`",
			p, n->clients, p, (unsigned)n->as_fast, p, n->as_fast,
			n->by_tps > 0 ? "tps" : "cps");
	return 0;
}

static int calls_of_port(const struct ctl_port *cp, enum calls_of *out, struct err *e)
{
	struct calls_streams n;

	calls_streams(cp, &n);
	*out = CALLS_NONE;
	if (n.clients + n.servers == 0)
		return 0;
	*out = n.by_tps > 0 ? CALLS_TRANSACTIONS : CALLS_CONNECTIONS;
	return calls_check(cp, &n, e);
}

double flows_share(const struct ctl_port *cp, const struct flows_cfg *cfg)
{
	double all = 0;

	for (unsigned i = 0; i < cp->nstreams; i++)
		if (flows_is_on(cp->stream[i]) &&
		    flows_cfg_of(&cp->stream[i]->cfg)->role == FLOWS_CLIENT)
			all += calls_own(flows_cfg_of(&cp->stream[i]->cfg))->value;
	return all > 0 ? calls_own(cfg)->value / all : 1;
}

/* ---- connections that transactions need come first ---- */

static uint64_t calls_open(const struct flows_one *f)
{
	uint64_t open = 0;

	for (unsigned q = 0; q < f->nqueues; q++)
		open += cell_get(&f->state[q]->counts.open);
	return open;
}

/* Whether the wait for its connections is over: all are there, or for some time there have not been
 * more: time enough for those that were lost to be tried again. */
static bool calls_ready(const struct ctl_port *cp, struct flows_one *f)
{
	uint64_t open = calls_open(f), now = clock_tsc(),
		 most_ns = RTE_MAX(f->drain_ns, 1000000000ull);

	if (f->stopping || open >= f->ver->design->most)
		return true;
	if (f->hold_tsc == 0 || open > f->hold_open || flows_ramps(cp, &f->cps)) {
		f->hold_open = RTE_MAX(f->hold_open, open);
		f->hold_tsc = RTE_MAX(now, cp->run.start_tsc);
		return false;
	}
	if (!f->cps.max) /* until the next one is due */
		most_ns += (uint64_t)(1e9 / f->cps.per_s);
	return (int64_t)(now - f->hold_tsc) > 0 && clock_ns(now - f->hold_tsc) > most_ns;
}

/* Control makes new plans within a turn, and workers that sleep wake within a millisecond. */
#define CALLS_LEAD_NS 3000000ull

/* All that hold begin at the same time. A port that does not run any more holds nobody up. */
void flows_hold_follow(struct ctl *c)
{
	uint64_t start = clock_tsc() + clock_cycles(CALLS_LEAD_NS);
	bool any = false;

	for (unsigned i = 0; i < c->nports; i++)
		for (struct flows_one *f = flows_of(c->port[i])->first; f != NULL; f = f->next) {
			if (!f->in_run || !f->hold || !ctl_port_runs(c->port[i]))
				continue;
			if (c->port[i]->run.armed || !calls_ready(c->port[i], f))
				return;
			any = true;
		}
	for (unsigned i = 0; any && i < c->nports; i++) {
		for (struct flows_one *f = flows_of(c->port[i])->first; f != NULL; f = f->next)
			if (f->in_run && f->hold)
				flows_unhold(c->port[i], f, start);
		flows_replan(c, c->port[i]);
	}
}

/* ---- what a run has come to ---- */

/* A flow of the port's last run, if that had a rate of its own. */
static bool calls_in(const struct ctl_port *cp, const struct flows_one *f, bool client)
{
	return cp->run.has_rate && f->run != 0 && f->run == cp->run.id && f->client == client;
}

static bool calls_begins(const struct ctl_port *cp)
{
	for (const struct flows_one *f = flows_of(cp)->first; f != NULL; f = f->next)
		if (calls_in(cp, f, true) && f->in_run &&
		    (cp->run.armed || flows_one_stage(f, cp->run.id) < FLOWS_DRAINING))
			return cp->run.active;
	return false;
}

static uint64_t calls_begun_tsc(const struct ctl_port *cp)
{
	uint64_t tsc = 0;

	for (const struct flows_one *f = flows_of(cp)->first; f != NULL; f = f->next) {
		if (!calls_in(cp, f, true))
			continue;
		if (cp->run.armed || f->hold)
			return 0;
		tsc = f->on_call ? f->tps.start_tsc : cp->run.start_tsc;
	}
	return tsc;
}

/* What was counted on all queues in the run. */
struct calls_cells {
	uint64_t due, done, late, full, first, last;
};

static void calls_cells(const struct flows_one *f, struct calls_cells *out)
{
	*out = (struct calls_cells){0};
	for (unsigned q = 0; q < f->nqueues; q++) {
		const struct flows_state_of *s = f->state[q];
		bool tps = f->on_call;
		uint64_t first = cell_get(tps ? &s->first_tps_tsc : &s->first_tsc),
			 last = cell_get(tps ? &s->last_tps_tsc : &s->last_tsc);
		if (cell_get(&s->run) != f->run)
			continue;
		out->due += cell_get(tps ? &s->due_tps : &s->due);
		out->done += cell_get(tps ? &s->done_tps : &s->done);
		out->late += cell_get(tps ? &s->late_tps : &s->late);
		out->full += cell_get(&s->full);
		if (first != 0 && (out->first == 0 || first < out->first))
			out->first = first;
		out->last = RTE_MAX(out->last, last);
	}
}

/* What kept those that did not begin. */
static void calls_why(const struct ctl_port *cp, const struct flows_one *f,
		      const struct flows_sum *k, uint64_t full, char *out, size_t size)
{
	uint64_t most = f->ver != NULL ? f->ver->design->most : 0;

	if (f->on_call)
		snprintf(
			out, size,
			"none of its connections was free for them: `set %u/%u connections` and `cps` give it more of them",
			cp->p.id, f->id);
	else if (k->flow.no_tuple != 0)
		snprintf(
			out, size,
			"%" PRIu64
			" found their tuples in use: more with `set %u/%u flow.src` or `flow.sport`",
			k->flow.no_tuple, cp->p.id, f->id);
	else if (k->flow.no_memory != 0)
		snprintf(out, size, "there was no memory for %" PRIu64, k->flow.no_memory);
	else if (full != 0)
		snprintf(out, size,
			 "%" PRIu64 " were open at once, `set %u/%u connections` allows more", most,
			 cp->p.id, f->id);
}

static void calls_load_of(const struct ctl_port *cp, const struct flows_one *f,
			  struct calls_load *out)
{
	const struct flows_rate *r = f->on_call ? &f->tps : &f->cps;
	const struct pace even = {.period = r->period};
	struct calls_cells n;
	struct flows_sum k;
	uint64_t unopened;

	calls_cells(f, &n);
	flows_one_run_sum(f, &k);
	/* an open without a tuple or memory counts as done */
	unopened = f->on_call || r->max ? 0 : k.flow.no_tuple + k.flow.no_memory;
	*out = (struct calls_load){.stream = f->id,
				   .max = r->max,
				   .begun = f->on_call ? k.wl.started : k.flow.opened,
				   .given_up = grown(n.due, n.done) + unopened,
				   .late = n.late,
				   .first_tsc = n.first,
				   .last_tsc = n.last};
	if (!r->max)
		out->intended_per_s = r->set.value;
	out->counted = !r->max && !r->shaped && cp->run.duration_ns != 0;
	if (out->counted)
		out->intended = pace_frames(r->per_s, cp->run.duration_ns);
	if (out->counted && n.done > 1)
		out->due_cycles = pace_due(&even, n.done - 1);
	calls_why(cp, f, &k, n.full, out->why, sizeof(out->why));
}

static bool calls_load(const struct ctl_port *cp, unsigned i, struct calls_load *out)
{
	for (const struct flows_one *f = flows_of(cp)->first; f != NULL; f = f->next) {
		if (!calls_in(cp, f, true) || i-- != 0)
			continue;
		calls_load_of(cp, f, out);
		return true;
	}
	return false;
}

/* ---- fates ---- */

static void calls_fail(struct calls_counts *io, const char *name, uint64_t n)
{
	unsigned i = 0;

	while (i < io->nfailed && strcmp(io->failed[i].name, name) != 0)
		i++;
	if (i == CALLS_FATES)
		return;
	if (i == io->nfailed)
		io->failed[io->nfailed++] = (struct calls_fate){.name = name};
	io->failed[i].n += n;
}

/* Connections by how they ended. What ends them by their settings is no failure. */
static void calls_connections(const struct flows_one *f, const struct flow_counts *k,
			      struct calls_counts *out)
{
	bool by_us = f->close.rst && !f->close.server && !f->close.keep,
	     by_peer = f->close.rst && f->close.server && !f->close.keep, at_end = f->close.keep;

	out->begun += k->opened;
	out->succeeded += k->closed + (by_us ? k->reset_by_us : 0) +
			  (by_peer ? k->reset_by_peer : 0) + (at_end ? k->aborted : 0);
	calls_fail(out, "refused", k->refused);
	calls_fail(out, "connect_timeout", k->connect_timeout);
	calls_fail(out, "unreachable", k->unreachable);
	calls_fail(out, "aborted_opening", k->aborted_opening);
	calls_fail(out, "reset_by_us", by_us ? 0 : k->reset_by_us);
	calls_fail(out, "reset_by_peer", by_peer ? 0 : k->reset_by_peer);
	calls_fail(out, "timed_out", k->timed_out);
	calls_fail(out, "aborted", at_end ? 0 : k->aborted);
}
_Static_assert(CALLS_FATES >= 8, "room for the fates of connections");

static void calls_counts(const struct ctl_port *cp, struct calls_counts *io)
{
	for (const struct flows_one *f = flows_of(cp)->first; f != NULL; f = f->next) {
		struct calls_counts open = {0};
		struct flows_sum k;
		if (!calls_in(cp, f, true))
			continue;
		flows_one_run_sum(f, &k);
		calls_connections(f, &k.flow, f->on_call ? &open : io);
		if (f->on_call) {
			io->begun += k.wl.started;
			io->succeeded += k.wl.done;
			calls_fail(io, "failed", k.wl.failed);
			io->within += open.begun;
			io->within_failed += open.begun - open.succeeded;
		} else {
			io->within += k.wl.started;
			io->within_failed += k.wl.failed;
		}
	}
}

static void calls_strays(const struct ctl_port *cp, struct calls_strays *out)
{
	const struct flows_engine *x = flows_of(cp)->engine;
	struct flows_strays k = flows_strays(flows_of(cp));

	*out = (struct calls_strays){.no_match = k.no_match,
				     .bad_checksum = k.bad_checksum,
				     .malformed = k.malformed,
				     .other_queue = k.other_queue,
				     .from = ""};
	for (unsigned q = 0; x != NULL && q < x->nqueues; q++) {
		const struct flows_state *s = x->queue[q].state;
		uint64_t port = s != NULL ? cell_get(&s->stray_port) : 0;
		char name[INET6_ADDRSTRLEN];
		if ((port & FLOWS_STRAY_KNOWN) == 0)
			continue;
		bool is6 = (port & FLOWS_STRAY_6) != 0;
		uint64_t address[2] = {cell_get(&s->stray[0]), cell_get(&s->stray[1])};
		uint32_t v4 = (uint32_t)address[1];
		inet_ntop(is6 ? AF_INET6 : AF_INET, is6 ? (void *)address : (void *)&v4, name,
			  sizeof(name));
		snprintf(out->from, sizeof(out->from), is6 ? "[%s]:%u" : "%s:%u", name,
			 (unsigned)(port & UINT16_MAX));
	}
}

static json_t *calls_json(struct ctl *c, const struct portset *ports, bool answered)
{
	struct hist *h[FLOWS_HISTS] = {NULL};
	struct flows_sum sum = {0};
	json_t *o = NULL;

	for (unsigned i = 0; i < c->nports; i++) {
		const struct ctl_port *cp = c->port[i];
		for (const struct flows_one *f = flows_of(cp)->first; f != NULL; f = f->next)
			if (portset_has(ports, i) && calls_in(cp, f, !answered)) {
				flows_one_run_add(f, &sum, h);
				o = o != NULL ? o : json_object();
			}
	}
	if (o != NULL)
		flows_numbers_json(o, &sum, h);
	for (unsigned i = 0; i < FLOWS_HISTS; i++)
		free(h[i]);
	return o;
}

const struct work_calls flows_calls = {
	.of = calls_of_port,
	.begins = calls_begins,
	.begun_tsc = calls_begun_tsc,
	.load = calls_load,
	.counts = calls_counts,
	.strays = calls_strays,
	.json = calls_json,
};
