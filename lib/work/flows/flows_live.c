/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows in runs follow their settings: connections keep what they began with, new ones have what
 * the settings say now. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flows_ctl.h"

/* Ports that were started together. */
static bool live_together(const struct ctl_port *a, const struct ctl_port *b)
{
	if (a->run.id == 0 || b->run.id == 0 || a->run.armed != b->run.armed)
		return false;
	return a->run.armed || a->run.start_tsc == b->run.start_tsc;
}

void flows_clients(const struct ctl *c, const struct ctl_port *cp, struct flows_clients *out)
{
	*out = (struct flows_clients){.ending = true, .bounded = true};
	for (unsigned i = 0; i < c->nports; i++) {
		const struct ctl_port *other = c->port[i];
		const struct run *r = &other->run;
		if (!live_together(cp, other))
			continue;
		for (const struct flows_one *f = flows_of(other)->first; f != NULL; f = f->next) {
			if (!f->client || f->run != r->id)
				continue;
			out->any = true;
			if (!r->active || flows_one_stage(f, r->id) == FLOWS_DONE)
				continue;
			out->on = true;
			out->ending &= f->stopping || r->stop;
			out->bounded &= r->stop || r->duration_ns != 0 || flows_one_ends(f);
		}
	}
}

/* A server that was started with clients ends behind them; one whose port alone is stopped ends at
 * once. */
static void live_end_servers(struct ctl *c, struct ctl_port *cp)
{
	struct flows_clients clients;
	bool changed = false;

	flows_clients(c, cp, &clients);
	for (struct flows_one *f = flows_of(cp)->first; f != NULL; f = f->next) {
		if (!f->in_run || f->stopping)
			continue;
		if (f->client)
			f->stopping = cp->run.stop;
		else if (clients.any)
			f->stopping = !clients.on || (cp->run.stop && !clients.ending);
		else
			f->stopping = cp->run.stop;
		changed |= f->stopping;
	}
	if (changed)
		flows_replan(c, cp);
}

void flows_follow_ends(struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++)
		if (c->port[i]->run.active && !c->port[i]->run.armed)
			live_end_servers(c, c->port[i]);
}

/* Says once why new settings are not in use. */
static void live_say(struct ctl *c, const struct ctl_port *cp, struct flows_one *f, const char *why)
{
	if (f->said != NULL && why != NULL && strcmp(f->said, why) == 0)
		return;
	free(f->said);
	f->said = why != NULL ? xstrdup(why) : NULL;
	if (why != NULL)
		ctl_note(c, cp->p.id, "the flow goes on as it was: %s", why);
}

/* Cells of workloads, with the new settings of one of the flows. */
static uint64_t live_records(const struct ctl_port *cp, const struct flows_one *f,
			     const struct flows_design *d)
{
	uint64_t sum = 0;

	for (const struct flows_one *o = flows_of(cp)->first; o != NULL; o = o->next)
		if (o == f || o->ver != NULL)
			sum += flows_records(o == f ? d : o->ver->design, flows_of(cp)->nqueues);
	return sum;
}

/* Whether the port can go on with a new version of one of its flows. */
static int live_may(const struct ctl_port *cp, const struct flows_one *f,
		    const struct flows_design *d, struct err *e)
{
	if (d->is6 && !d->client && !f->ver->engine->is6)
		return err_set(
			e, EINVAL,
			"port %u began without IPv6, for which servers need memory: `stop %u` and a new start",
			cp->p.id, cp->p.id);
	if (live_records(cp, f, d) > f->ver->engine->records)
		return err_set(
			e, EINVAL,
			"port %u began with less memory than so many connections and requests that are open need: `stop %u` and a new start",
			cp->p.id, cp->p.id);
	return 0;
}

/* Whose a connection is must not change while it lives. */
static struct flows_ver *live_ver_new(const struct ctl_port *cp, struct flows_one *f,
				      struct flows_design *d, const struct flows_steering *how,
				      struct err *e)
{
	if (f->client && how->hand != f->ver->how.hand) {
		err_set(e, EINVAL,
			"port %u: with these headers answers would come to other queues than those of connections that are open: "
			"`stop %u` and a new start",
			cp->p.id, cp->p.id);
		return NULL;
	}
	return flows_ver_new(f->ver->engine, f, d, how, e);
}

/* Makes a version of the settings of now, if they are others. */
static bool live_version(struct ctl *c, struct ctl_port *cp, struct flows_one *f,
			 const struct stream *s)
{
	struct flows_design *d;
	struct flows_steering how = {0};
	struct flows_ver *v = NULL;
	struct err e;
	bool changed = false;

	if (flows_design_new(c, cp, s, &d, &e) < 0) {
		live_say(c, cp, f, e.text);
		return false;
	}
	if (live_may(cp, f, d, &e) < 0) {
		live_say(c, cp, f, e.text);
		flows_design_free(d);
		return false;
	}
	if (d->key == f->ver->design->key) {
		changed = d->most != f->ver->design->most;
		f->ver->design->most = d->most;
	} else {
		flows_steer_new(c, cp, d, &how);
		v = live_ver_new(cp, f, d, &how, &e);
	}
	if (v == NULL) {
		live_say(c, cp, f, d->key == f->ver->design->key ? NULL : e.text);
		flows_design_free(d);
		free(how.steer);
		return changed;
	}
	live_say(c, cp, f, NULL);
	flows_one_drop(f);
	f->ver = v;
	flows_of(cp)->listens++;
	return true;
}

static bool live_follow(struct ctl *c, struct ctl_port *cp, struct flows_one *f)
{
	const struct stream *s = f->gone ? NULL : stream_of_cell(cp, f->cell, f->id);
	uint64_t cps = f->cps.epoch, tps = f->tps.epoch;
	bool changed;

	if (s != NULL && s->serial != f->serial)
		s = NULL;
	f->gone = s == NULL;
	if (s != NULL)
		f->id = s->cfg.id;
	if (!f->in_run) {
		if (!flows_is_on(s))
			flows_one_drop(f);
		return false;
	}
	const struct flows_cfg *cfg = s != NULL ? flows_cfg_of(&s->cfg) : NULL;
	if (!flows_is_on(s) || (cfg->role == FLOWS_CLIENT) != f->client) {
		changed = !f->stopping;
		f->stopping = true;
		return changed;
	}
	changed = f->drain_ns != cfg->drain_ns;
	f->drain_ns = cfg->drain_ns;
	if (!f->client && memcmp(&f->dead, &cfg->dead, sizeof(f->dead)) != 0) {
		f->dead = cfg->dead;
		changed = true;
	}
	if (f->trusts != (cfg->sums == FLOWS_SUMS_TRUST)) {
		f->trusts = !f->trusts;
		changed = true;
	}
	flows_rates(cp, f, s);
	changed |= live_version(c, cp, f, s);
	return changed || f->cps.epoch != cps || f->tps.epoch != tps;
}

void flows_follow(struct ctl *c, struct ctl_port *cp)
{
	bool changed = false;

	if (cp->run.armed)
		return;
	for (struct flows_one *f = flows_of(cp)->first; f != NULL; f = f->next)
		changed |= live_follow(c, cp, f);
	if (changed)
		flows_replan(c, cp);
}
