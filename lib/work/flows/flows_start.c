/* SPDX-License-Identifier: BSD-3-Clause */
/* How flows start, what a run of them has come to, and when it is over. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "flows_ctl.h"

#define START_MOST 1000000
#define START_LIMIT ((uint64_t)1 << 27) /* of a machine */

/* ---- may they start? ---- */

/* A map in which each worker has both sides of the queues of its port. */
static void start_map(const struct ctl *c, struct sbuf *out)
{
	for (unsigned i = 0; i < c->nports; i++) {
		const struct ctl_port *cp = c->port[i];
		if (!cp->p.used || cp->p.ntxq == 0)
			continue;
		sbuf_addf(out, "%s%u.%u", out->len > 0 ? "," : "",
			  c->worker[cp->tx_worker[0]].lcore, cp->p.id);
	}
}

static int start_queues(const struct ctl *c, const struct ctl_port *cp, struct err *e)
{
	struct sbuf map = {0};

	if (flows_of(cp)->nqueues > 0)
		return 0;
	start_map(c, &map);
	err_set(e, EINVAL,
		"port %u has flows, whose connections receive and send on one worker, and its Rx and Tx queues are those of different workers: "
		"give each worker both sides, as -m \"%s\" does",
		cp->p.id, sbuf_str(&map));
	sbuf_free(&map);
	return -EINVAL;
}

static bool start_has_flows(const struct ctl_port *cp)
{
	for (unsigned i = 0; i < cp->nstreams; i++)
		if (flows_is_on(cp->stream[i]))
			return true;
	return false;
}

/* Queue q of an end of a wire is queue q of the other end. */
static int start_ends(const struct ctl *c, const struct ctl_port *cp, struct err *e)
{
	struct sbuf map = {0};

	for (unsigned i = 0; i < c->nports; i++) {
		const struct ctl_port *other = c->port[i];
		if (other == cp || other->p.first != cp->p.first || !other->p.used ||
		    !start_has_flows(other) || other->p.nrxq == cp->p.nrxq)
			continue;
		start_map(c, &map);
		err_set(e, EINVAL,
			"ports %u and %u are the ends of one wire and have flows, so they need as many queues, but they have %u and %u: as "
			"-m \"%s\" does",
			cp->p.id, other->p.id, cp->p.nrxq, other->p.nrxq, sbuf_str(&map));
		sbuf_free(&map);
		return -EINVAL;
	}
	return 0;
}

/* Whether the start is also for this stream. */
static bool start_wants(const struct ctl_port *cp, const struct run_ask *ask,
			const struct stream *s)
{
	bool answers = ask->answer != NULL && portset_has(ask->answer, cp->p.id);

	return flows_is_on(s) && (!answers || stream_answers(s));
}

/* How many frames of this start the port's count bounds: opens, if a flow is all that it has. */
static int start_opens(const struct ctl_port *cp, const struct stream *s, const struct run_ask *ask,
		       uint64_t *out, struct err *e)
{
	uint64_t count = ask->own_count ? ask->count : cp->cfg.count;
	unsigned clients = 0, frames = 0;

	for (unsigned i = 0; i < cp->nstreams; i++) {
		frames += stream_scheduled(cp->stream[i]);
		clients += flows_is_on(cp->stream[i]) &&
			   flows_cfg_of(&cp->stream[i]->cfg)->role == FLOWS_CLIENT;
	}
	*out = UINT64_MAX;
	if (flows_cfg_of(&s->cfg)->role != FLOWS_CLIENT)
		return 0;
	if (s->cfg.count != 0)
		*out = s->cfg.count;
	else if (count != 0 && frames == 0 && clients > 1)
		return err_set(
			e, EINVAL,
			"port %u has a count and %u clients: `set %u/%u count N` gives each of them its own",
			cp->p.id, clients, cp->p.id, s->cfg.id);
	else if (count != 0 && frames == 0)
		*out = count;
	return 0;
}

static uint64_t start_last(const struct flow_values *v)
{
	return v->base + ((v->count == 0 ? 1ull << 32 : v->count) - 1) * v->step;
}

/* Whether two ranges have a value in common. Values of the one with the larger step are tried: in
 * 32 bits there are few of them, or the step of the other is small, and as soon as each rest by
 * that was there they all come again. */
static bool start_ranges_overlap(const struct flow_values *a, const struct flow_values *b)
{
	if (a->step < b->step)
		return start_ranges_overlap(b, a);
	uint64_t begin = RTE_MAX(a->base, b->base), end = RTE_MIN(start_last(a), start_last(b));
	uint64_t v = a->base + (begin - a->base + a->step - 1) / a->step * a->step;

	for (uint32_t i = 0; i < b->step && v <= end; i++, v += a->step)
		if ((v - b->base) % b->step == 0)
			return true;
	return false;
}

/* Two servers that the same connection would be for. Lists are short: a range that goes down is
 * kept as one for clients alone. */
static bool start_values_overlap(const struct flow_values *a, const struct flow_values *b)
{
	if (a->list == NULL && b->list == NULL)
		return start_ranges_overlap(a, b);
	if (a->list == NULL)
		return start_values_overlap(b, a);
	for (uint32_t i = 0; i < a->count; i++) {
		const struct flow_values one = {.count = 1, .base = a->list[i], .step = 1};
		if (b->list == NULL && start_ranges_overlap(&one, b))
			return true;
		for (uint32_t k = 0; b->list != NULL && k < b->count; k++)
			if (b->list[k] == a->list[i])
				return true;
	}
	return false;
}

static bool start_overlap(const struct flows_design *a, const struct flows_design *b)
{
	static uint64_t networks[FLOWS_IDENTS / 64 + 1]; /* control is one thread */
	bool same = false;

	if (a->client || b->client || a->udp != b->udp || a->is6 != b->is6 ||
	    memcmp(a->local6, b->local6, sizeof(a->local6)) != 0)
		return false;
	memset(networks, 0, sizeof(networks));
	for (uint32_t i = 0; i < a->idents->n; i++)
		networks[a->ident[i] / 64] |= 1ull << a->ident[i] % 64;
	for (uint32_t i = 0; i < b->idents->n; i++)
		same |= (networks[b->ident[i] / 64] >> b->ident[i] % 64 & 1) != 0;
	return same && start_values_overlap(&a->local_port, &b->local_port) &&
	       start_values_overlap(&a->local, &b->local);
}

/* Both are a program's protocol's, which lets connections come to one of its flows at a time. */
static bool start_takes_turns(const struct flows_design *a, const struct flows_design *b)
{
	return a->load.arm != NULL && a->load.arm == b->load.arm;
}

static int start_others(const struct ctl_port *cp, const struct flows_one *f, struct err *e)
{
	for (const struct flows_one *o = flows_of(cp)->first; o != NULL; o = o->next)
		if (o != f && o->next_ver != NULL &&
		    !start_takes_turns(f->next_ver->design, o->next_ver->design) &&
		    start_overlap(f->next_ver->design, o->next_ver->design))
			return err_set(
				e, EINVAL,
				"streams %u/%u and %u/%u are servers of the same addresses and ports: `set %u/%u flow.sport ...` or "
				"`flow.src`, or another VLAN",
				cp->p.id, f->id, cp->p.id, o->id, cp->p.id, RTE_MAX(f->id, o->id));
	return 0;
}

/* Most connections that all clients of all ports may have open at once: any server may get them.
 * Clients for which nobody has set a number count as `unset`. */
static uint64_t start_most(const struct ctl *c, uint64_t unset)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < c->nports; i++)
		for (unsigned k = 0; k < c->port[i]->nstreams; k++) {
			const struct stream *s = c->port[i]->stream[k];
			const struct flows_cfg *cfg = flows_is_on(s) ? flows_cfg_of(&s->cfg) : NULL;
			if (cfg != NULL && cfg->role == FLOWS_CLIENT)
				sum += cfg->connections != 0 ? cfg->connections : unset;
		}
	return sum;
}

static bool start_serves(const struct ctl_port *cp)
{
	for (unsigned k = 0; k < cp->nstreams; k++)
		if (flows_is_on(cp->stream[k]) &&
		    flows_cfg_of(&cp->stream[k]->cfg)->role == FLOWS_SERVER)
			return true;
	return false;
}

/* Memory that all these connections would use, with what this port's workloads keep of them,
 * against what the system has. */
static int start_memory(const struct ctl *c, const struct ctl_port *cp,
			const struct flows_room *room, struct err *e)
{
	uint64_t most = room->most;
	struct flow_machine_conf conf = {.connections = (uint32_t)RTE_MIN(most, START_LIMIT),
					 .is6 = false};
	uint64_t have = eal_available_bytes(), need = flow_machine_bytes(&conf, false), ports = 0;

	/* each port has machines for as many */
	for (unsigned i = 0; i < c->nports; i++)
		ports += start_has_flows(c->port[i]);
	need = need * ports + room->records * flows_of(cp)->nqueues * FLOW_RECORD;
	if (most <= START_LIMIT && need <= have)
		return 0;
	if (need <= have)
		return err_set(
			e, EINVAL,
			"port %u: %" PRIu64
			" connections at once are more than a port can have: `set <streams> connections %" PRIu64
			"`, or fewer",
			cp->p.id, most, START_LIMIT);
	return err_set(e, ENOMEM,
		       "port %u: %" PRIu64 " connections at once take %" PRIu64
		       " MB, and there are %" PRIu64
		       " MB: fewer, as by `set <streams> connections %" PRIu64 "`",
		       cp->p.id, most, need >> 20, have >> 20,
		       (uint64_t)((double)conf.connections * (double)have / (double)need));
}

/* The machines of the port: those that it has, or new ones that have room for more. */
static struct flows_engine *start_engine(struct ctl *c, struct ctl_port *cp,
					 struct flows_design *const *d, bool is6, struct err *e)
{
	struct flows_port *p = flows_of(cp);
	struct flows_room room = {.most = start_most(c, START_MOST),
				  .sure = start_most(c, 0),
				  .serves = start_serves(cp),
				  .is6 = is6};

	for (unsigned i = 0; i < cp->nstreams; i++)
		room.records += d[i] != NULL ? flows_records(d[i], p->nqueues) : 0;
	if (p->engine != NULL && (p->arm == NULL || p->engine->buffers) &&
	    p->engine->capacity >= room.most / p->nqueues && (p->engine->is6 || !is6) &&
	    p->engine->records >= room.records && flows_engine_fits(p->engine, d, cp->nstreams))
		return p->engine;
	if (start_memory(c, cp, &room, e) < 0)
		return NULL;
	p->next = flows_engine_new(c, cp, &room, e);
	return p->next;
}

static int start_flow(struct ctl *c, struct ctl_port *cp, const struct stream *s,
		      struct flows_engine *x, struct flows_design *d, struct err *e)
{
	struct flows_one *f = flows_one_of(flows_of(cp), s);
	struct flows_steering how;

	if (f == NULL)
		f = flows_one_new(c, cp, s);
	if (f == NULL) {
		flows_design_free(d);
		return err_set(e, ENODEV, "no memory for the flow %u/%u", cp->p.id, s->cfg.id);
	}
	f->id = s->cfg.id;
	flows_steer_new(c, cp, d, &how);
	if (f->ver != NULL && f->ver->engine == x && f->ver->design->key == d->key &&
	    flows_steer_same(&f->ver->how, &how)) {
		f->ver->design->most = d->most;
		f->next_ver = f->ver;
		f->next_ver->v.refs++;
		flows_design_free(d);
		free(how.steer);
	} else {
		f->next_ver = flows_ver_new(x, f, d, &how, e);
		if (f->next_ver == NULL) {
			flows_design_free(d);
			free(how.steer);
			return -EINVAL;
		}
	}
	return start_others(cp, f, e);
}

static int start_all(struct ctl *c, struct ctl_port *cp, const struct run_ask *ask,
		     struct flows_design **d, struct err *e)
{
	struct flows_engine *x = NULL;
	unsigned flows = 0;
	bool is6 = false;
	uint64_t opens;
	int rc = 0;

	for (unsigned i = 0; i < cp->nstreams && rc == 0; i++) {
		if (!start_wants(cp, ask, cp->stream[i]))
			continue;
		rc = start_opens(cp, cp->stream[i], ask, &opens, e);
		rc = rc < 0 ? rc : flows_design_new(c, cp, cp->stream[i], &d[i], e);
		is6 |= rc == 0 && d[i]->is6;
		flows += rc == 0;
	}
	if (rc == 0 && flows > FLOWS_ENDS)
		rc = err_set(e, EINVAL, "port %u has %u flows; at most %u: fewer, or another port",
			     cp->p.id, flows, FLOWS_ENDS);
	if (rc == 0) {
		x = start_engine(c, cp, d, is6, e);
		rc = x != NULL ? 0 : -ENOMEM;
	}
	flows_steer_begin(cp);
	for (unsigned i = 0; i < cp->nstreams && rc == 0; i++) {
		if (d[i] == NULL)
			continue;
		struct flows_design *one = d[i];
		d[i] = NULL;
		rc = start_flow(c, cp, cp->stream[i], x, one, e);
	}
	return rc;
}

static int start_may(struct ctl *c, struct ctl_port *cp, const struct run_ask *ask, struct err *e)
{
	int rc;

	if (!start_has_flows(cp))
		return 0;
	rc = start_queues(c, cp, e);
	rc = rc < 0 ? rc : start_ends(c, cp, e);
	if (rc < 0)
		return rc;
	struct flows_design **d = xcalloc(cp->nstreams, sizeof(struct flows_design *));
	rc = start_all(c, cp, ask, d, e);
	for (unsigned i = 0; i < cp->nstreams; i++)
		flows_design_free(d[i]);
	free(d);
	return rc;
}

static void start_never_mind(struct ctl *c, struct ctl_port *cp)
{
	struct flows_port *p = flows_of(cp);

	(void)c;
	for (struct flows_one *f = p->first; f != NULL; f = f->next) {
		if (f->next_ver != NULL)
			f->next_ver->v.refs--;
		f->next_ver = NULL;
	}
	flows_engine_unref(p, p->next);
	p->next = NULL;
}

/* ---- a run ---- */

/* The machines that the start has made take the place of those that were there. */
static void start_take_engine(struct flows_port *p)
{
	struct flows_engine *old = p->engine;

	if (p->next == NULL)
		return;
	p->engine = p->next;
	p->next = NULL;
	if (old == NULL)
		return;
	for (struct flows_one *f = p->first; f != NULL; f = f->next)
		flows_one_drop(f);
	for (unsigned q = 0; q < old->nqueues; q++)
		old->queue[q].state->over = true; /* workers learn of it with the next plan */
	old->older = p->old;
	p->old = old;
	flows_engine_unref(p, old);
}

static void start_sent(const struct ctl_port *cp, struct cnt_tx *sum)
{
	const struct flows_port *p = flows_of(cp);

	*sum = (struct cnt_tx){0};
	for (unsigned q = 0; q < p->nqueues; q++) {
		sum->packets += cell_get(&p->share[q]->cnt.packets);
		sum->bytes += cell_get(&p->share[q]->cnt.bytes);
		sum->dropped += cell_get(&p->share[q]->cnt.dropped);
	}
}

/* The run has a rate of its own. */
static void start_begin_rate(const struct ctl_port *cp, struct flows_one *f,
			     const struct flows_cfg *cfg, const struct run_ask *ask)
{
	f->share = flows_share(cp, cfg);
	f->close = cfg->close;
	f->grace_ns = RTE_MAX(ask->grace_ns, CNT_LATE_NS);
	flows_one_run_begin(f);
}

/* Frames that go from worker to worker cost time: what the reason is, once in a start. */
static void start_say_hand(struct ctl *c, const struct ctl_port *cp)
{
	for (const struct flows_one *f = flows_of(cp)->first; f != NULL; f = f->next)
		if (f->in_run && f->ver->how.hand) {
			ctl_note(
				c, cp->p.id,
				"port %u: its %u queues hand over to each other what is another's, since nobody can tell to which of them "
				"answers come: %s",
				cp->p.id, f->nqueues, f->ver->how.why);
			return;
		}
}

static void start_begin(struct ctl *c, struct ctl_port *cp, const struct run_ask *ask)
{
	struct flows_port *p = flows_of(cp);
	struct cnt_tx sent;

	start_take_engine(p);
	p->listens++;
	p->began_ns = clock_raw_ns();
	start_sent(cp, &sent);
	p->base_sent = sent.packets;
	p->base_bytes = sent.bytes;
	p->base_dropped = sent.dropped;
	for (struct flows_one *f = p->first; f != NULL; f = f->next) {
		f->in_run = f->next_ver != NULL;
		if (!f->in_run)
			continue;
		const struct stream *s = stream_of_cell(cp, f->cell, f->id);
		flows_one_drop(f);
		f->ver = f->next_ver;
		f->next_ver = NULL;
		f->client = f->ver->design->client;
		f->stopping = false;
		f->run = cp->run.id;
		f->drain_ns = flows_cfg_of(&s->cfg)->drain_ns;
		f->dead = f->client ? (struct flows_dead_value){0} : flows_cfg_of(&s->cfg)->dead;
		f->trusts = flows_cfg_of(&s->cfg)->sums == FLOWS_SUMS_TRUST;
		f->grace_ns = cp->run.grace_ns;
		f->end_tsc = UINT64_MAX;
		start_opens(cp, s, ask, &f->opens, NULL);
		f->on_call = f->client && flows_cfg_of(&s->cfg)->tps.on;
		f->hold = f->on_call && ask->rate != NULL;
		f->hold_open = f->hold_tsc = 0;
		if (ask->rate != NULL)
			start_begin_rate(cp, f, flows_cfg_of(&s->cfg), ask);
		flows_rates(cp, f, s);
	}
	start_say_hand(c, cp);
	flows_replan(c, cp); /* servers need no times, and are there before these are known */
}

/* So long a start waits for workers that do not take their plans: they may have no CPU. */
#define HOLD_NS 5000000000ull

/* Clients that start together with servers begin when all workers know of the servers: else the
 * first ones would ask nobody, wherever control or a worker stands still for a moment. */
bool flows_holds(const struct ctl *c)
{
	bool clients = false, unheard = false;

	for (unsigned i = 0; i < c->nports; i++) {
		const struct ctl_port *cp = c->port[i];
		const struct flows_port *p = flows_of(cp);
		if (!cp->run.active || !cp->run.armed || !ctl_port_runs(cp))
			continue;
		for (const struct flows_one *f = p->first; f != NULL; f = f->next) {
			clients |= f->in_run && f->client;
			unheard |= f->in_run && !f->client &&
				   flows_one_stage(f, cp->run.id) == FLOWS_IDLE &&
				   clock_raw_ns() - p->began_ns < HOLD_NS;
		}
	}
	return clients && unheard;
}

/* Whether clients start at the same time. Some of their ports have that time already, others get
 * it in a moment. */
static bool start_with_clients(const struct ctl *c, const struct ctl_port *cp)
{
	for (unsigned i = 0; i < c->nports; i++) {
		const struct ctl_port *other = c->port[i];
		if (!other->run.active ||
		    (!other->run.armed && other->run.start_tsc != cp->run.start_tsc))
			continue;
		for (const struct flows_one *f = flows_of(other)->first; f != NULL; f = f->next)
			if (f->in_run && f->client)
				return true;
	}
	return false;
}

static void start_arm(struct ctl *c, struct ctl_port *cp)
{
	bool clients = start_with_clients(c, cp);

	for (struct flows_one *f = flows_of(cp)->first; f != NULL; f = f->next) {
		if (!f->in_run)
			continue;
		flows_rates_arm(cp, f);
		/* it ends behind its clients */
		if (!f->client && clients)
			f->end_tsc = UINT64_MAX;
	}
}

/* ---- what has come of it ---- */

static enum run_stage start_stage(const struct ctl_port *cp, const struct flows_one *f)
{
	switch (flows_one_stage(f, cp->run.id)) {
	case FLOWS_DONE:
		return RUN_STAGE_DONE;
	case FLOWS_DRAINING:
		return RUN_STAGE_DRAINING;
	case FLOWS_IDLE:
	case FLOWS_RUNNING:
		break;
	}
	return f->client && flows_ramps(cp, &f->cps) ? RUN_STAGE_RAMP : RUN_STAGE_RUNNING;
}

static void start_result(const struct ctl_port *cp, struct run_result *io)
{
	const struct flows_port *p = flows_of(cp);
	bool any = false, ends = true;
	struct flows_clients clients;
	struct cnt_tx sent;

	flows_clients(p->c, cp, &clients);
	for (const struct flows_one *f = p->first; f != NULL; f = f->next) {
		if (f->run == 0 || f->run != cp->run.id)
			continue;
		enum run_stage stage = start_stage(cp, f);
		io->stage = RTE_MIN(io->stage, stage);
		io->ramps |= stage == RUN_STAGE_RAMP;
		any = io->unasked = true;
		ends &= f->client ? flows_one_ends(f) : clients.any && clients.bounded;
	}
	if (!any)
		return;
	io->ends = ends;
	io->endless |= !ends;
	start_sent(cp, &sent);
	io->sent += grown(sent.packets, p->base_sent);
	io->bytes += grown(sent.bytes, p->base_bytes);
	io->dropped += grown(sent.dropped, p->base_dropped);
	for (unsigned q = 0; q < p->nqueues; q++) {
		uint64_t last = cell_get(&p->share[q]->last_tsc);
		if (last != 0 && (int64_t)(last - cp->run.start_tsc) > 0)
			io->last_tsc = RTE_MAX(io->last_tsc, last);
	}
	if (io->first_tsc == 0 && io->last_tsc != 0)
		io->first_tsc = cp->run.start_tsc;
}

static bool start_done(const struct ctl_port *cp)
{
	for (const struct flows_one *f = flows_of(cp)->first; f != NULL; f = f->next)
		if (f->in_run && flows_one_stage(f, cp->run.id) != FLOWS_DONE)
			return false;
	return true;
}

/* Opens that did not come say that it was not the load that was asked for. */
static void start_say(struct ctl *c, const struct ctl_port *cp, const struct flows_one *f)
{
	uint64_t due = 0, done = 0;

	for (unsigned q = 0; q < f->nqueues; q++) {
		due += cell_get(&f->state[q]->due);
		done += cell_get(&f->state[q]->done);
	}
	if (!f->client || f->cps.max || cp->run.stop || due == done)
		return;
	ctl_note(c, cp->p.id,
		 "flow %u/%u: %" PRIu64 " connections were due: %" PRIu64 " opened, %" PRIu64
		 " not",
		 cp->p.id, f->id, due, done, due - done);
}

/* What a device says of its hash is believed until it deals otherwise. */
static void start_say_dealt(struct ctl *c, const struct ctl_port *cp)
{
	struct flows_port *p = flows_of(cp);
	uint64_t n = flows_strays(p).other_queue, more = n - p->other_queue_seen;

	p->other_queue += more;
	p->other_queue_seen = n;
	if (more != 0)
		ctl_note(
			c, cp->p.id,
			"port %u: %" PRIu64
			" frames came to other queues than its device says that its hash deals them to, whose workers do not have their "
			"connections: what became of these is no fault of the peer; from the next start on its queues hand over to each other "
			"what is another's, until its rss settings are set again",
			cp->p.id, more);
}

static void start_ended(struct ctl *c, struct ctl_port *cp, const struct run_result *r)
{
	bool any = false;

	(void)r;
	for (struct flows_one *f = flows_of(cp)->first; f != NULL; f = f->next) {
		if (!f->in_run)
			continue;
		start_say(c, cp, f);
		f->in_run = false;
		any = true;
	}
	if (!any)
		return;
	start_say_dealt(c, cp);
	flows_replan(c, cp); /* nobody listens any more */
}

const struct work_run flows_run = {
	.may_start = start_may,
	.never_mind = start_never_mind,
	.begin = start_begin,
	.arm = start_arm,
	.result = start_result,
	.done = start_done,
	.ended = start_ended,
};
