/* SPDX-License-Identifier: BSD-3-Clause */
/* The course of a trial: this file checks what may start, leads a trial from stage to stage
 * (trial_poll()), and ends it. */
#include "trial.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trial_int.h"

static void ports_add(struct portset *to, const struct portset *from)
{
	for (unsigned i = 0; i < ARRAY_SIZE(to->w); i++)
		to->w[i] |= from->w[i];
}

/* The port that receives what this one sends if no receivers were named: the other port of its pair
 * (0-1, 2-3) if that is used, else the port itself. */
static unsigned trial_partner(const struct ctl *c, unsigned port)
{
	unsigned other = port ^ 1;

	return other < c->nports && c->port[other]->p.used ? other : port;
}

/* A flow is one direction of the result. With receivers named there is one flow, from all senders
 * to all receivers; else there is one for each sender. */
static void make_flows(struct trial *t)
{
	struct trial_result *r = &t->r;

	r->tx = xcalloc(t->c->nports, sizeof(*r->tx));
	r->flow = xcalloc(t->c->nports, sizeof(*r->flow));
	if (!portset_empty(&t->spec.rx)) {
		r->flow[r->nflows++] = (struct trial_flow){.from = t->spec.tx, .to = t->spec.rx};
		t->rx = t->spec.rx;
	}
	for (unsigned i = 0; i < t->c->nports; i++) {
		if (!portset_has(&t->spec.tx, i))
			continue;
		r->tx[r->ntx++].port = i;
		if (!portset_empty(&t->spec.rx))
			continue;
		struct trial_flow *f = &r->flow[r->nflows++];
		portset_add(&f->from, i);
		portset_add(&f->to, trial_partner(t->c, i));
		portset_add(&t->rx, trial_partner(t->c, i));
	}
	t->all = t->spec.tx;
	ports_add(&t->all, &t->rx);
	r->ports = t->spec.tx;
	r->rate = t->spec.rate;
	r->asked_ns = t->spec.duration_ns;
}

/* Could any frame of the stream have a group address as its destination? If in doubt, it could. */
static bool sends_groups(struct ctl *c, const struct stream *s)
{
	const struct proto *eth = proto_find("eth");
	const struct field *dst = eth != NULL ? proto_field(eth, "dst") : NULL;
	const uint8_t top = 1; /* the bit of the first byte that marks a group address */
	struct frame_spec spec = {0};
	struct sizes sizes;
	struct err e;
	bool may = true;

	if (dst != NULL && ctl_stream_spec(c, s->cfg.port, s->cfg.id, &spec, &sizes, &e) == 0 &&
	    spec.stack.n > 0 && spec.stack.hdr[0] == eth) {
		const struct frame_val *v = frame_vals_find(&spec.vals, eth, 1, dst);
		if (v == NULL)
			v = frame_vals_find(&s->cfg.dflt, eth, 1, dst);
		if (v == NULL)
			may = false; /* it is 00:00:00:00:00:00 */
		else if (v->vary == NULL)
			may = (v->v[VT_FIELD_BYTES - 6] & top) != 0;
		else if (v->vary->kind == VARY_RANGE) /* its first byte changes, or has the bit */
			may = v->vary->lo >> 40 != v->vary->hi >> 40 ||
			      (v->vary->lo >> 40 & top) != 0;
	}
	frame_spec_free(&spec);
	return may;
}

static bool sends_unicast(struct ctl *c, const struct portset *ports)
{
	for (unsigned i = 0; i < c->nports; i++)
		for (unsigned s = 0; portset_has(ports, i) && s < c->port[i]->nstreams; s++) {
			const struct stream *st = c->port[i]->stream[s];
			if (st != NULL && st->cfg.enabled && sends_groups(c, st))
				return false;
		}
	return true;
}

/* A trial measures one load from its first frame to its last, so no stream may have a rate or an
 * end of its own. */
static int check_streams(const struct ctl_port *cp, struct err *e)
{
	for (unsigned i = 0; i < cp->nstreams; i++) {
		const struct stream *s = cp->stream[i];
		if (s == NULL || !s->cfg.enabled)
			continue;
		if (s->cfg.rate.set)
			return err_set(
				e, EINVAL,
				"stream %u/%u has a rate of its own, and a trial sends all streams of a port at the rate of the "
				"trial; `set %u/%u rate none`, or `set %u/%u enabled off`",
				cp->p.id, i, cp->p.id, i, cp->p.id, i);
		if (s->cfg.count != 0)
			return err_set(
				e, EINVAL,
				"stream %u/%u ends after %" PRIu64
				" frames, and a trial sends all the time; `set %u/%u count 0`",
				cp->p.id, i, s->cfg.count, cp->p.id, i);
	}
	return 0;
}

static int check_ports(const struct trial *t, struct err *e)
{
	const struct ctl *c = t->c;

	for (unsigned i = 0; i < c->nports; i++) {
		const struct ctl_port *cp = c->port[i];
		if (!portset_has(&t->all, i))
			continue;
		if (cp->run.active)
			return err_set(
				e, EBUSY,
				"port %u (%s) is sending, and a trial counts what it sends itself; stop %u first",
				i, cp->p.name, i);
		if (portset_has(&t->rx, i) && (!cp->p.used || cp->p.nrxq == 0))
			return err_set(
				e, EINVAL,
				"port %u (%s) has no Rx queue, so nobody would see what arrives there; name a receiver, `trial ... "
				"to <ports>`, or give the port a receiving core with -m",
				i, cp->p.name);
		int rc = portset_has(&t->spec.tx, i) ? check_streams(cp, e) : 0;
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int trial_check(const struct trial *t, struct err *e)
{
	const struct trial_cfg *cfg = &t->spec.cfg;

	if (ctl_watched(t->c) != NULL)
		return err_set(e, EBUSY, "another trial goes on; wait for its end, or cancel it");
	if (portset_empty(&t->spec.tx))
		return err_set(e, EINVAL, "a trial needs a port that sends");
	if (t->spec.duration_ns == 0)
		return err_set(
			e, EINVAL,
			"a trial of no time sends nothing; allowed are durations above 0, like 10s or 1.5ms");
	if (t->spec.rate.over_ns != 0)
		return err_set(
			e, EINVAL,
			"a trial is of one load, and this rate changes with time; one trial for each rate says more");
	if (cfg->drain_min_ns > cfg->drain_max_ns)
		return err_set(
			e, EINVAL,
			"trial.drain-min is more than trial.drain-max; `set trial.drain-max` to that or more");
	return check_ports(t, e);
}

/* Reads all numbers whose growth the result tells. The run is armed, and none of its frames has
 * been sent. */
static void take_base(struct trial *t)
{
	struct ctl *c = t->c;

	for (unsigned i = 0; i < c->nports; i++) {
		struct ctl_port *cp = c->port[i];
		struct trial_base *b = &t->base[i];
		if (!portset_has(&t->all, i))
			continue;
		link_look(c, cp);
		b->dev = (struct snap_port){0};
		stat_streams(c, i, &b->dev, &b->claimed);
		b->link_seq = cp->p.link_seq;
		b->carrier_changes = cp->p.carrier_changes;
	}
	for (unsigned w = 0; w < c->nworkers; w++) {
		struct trial_cpu *b = &t->cpu[w];
		b->stalls = cell_get(&c->worker[w].w->stalls.count);
		b->stall_cycles = cell_get(&c->worker[w].w->stalls.cycles);
		b->waited_known = worker_waited(&c->worker[w], &b->waited_ns);
		worker_mark(&c->worker[w], DP_MARK_TRIAL);
	}
	clock_refine();
	t->hz = clock_hz();
	t->begin_ns = clock_raw_ns();
}

/* From now on frames of the senders say which ones they are only where their streams ask for it. */
static void not_told(struct trial *t)
{
	for (unsigned i = 0; t->witness != NULL && i < t->c->nports; i++)
		if (portset_has(&t->spec.tx, i))
			t->witness->ask(t->c, t->c->port[i], false, NULL);
	t->told = false;
}

/* Starts the senders, so that their frames say which ones they are if the trial wants that. If the
 * start fails so, they are started without it. r.not_told gets the reason why some frames tell
 * nothing. */
static int trial_run(struct trial *t, struct err *e)
{
	const struct run_ask ask = {.duration_ns = t->spec.duration_ns,
				    .own_count = true,
				    .rate = &t->spec.rate,
				    .queues = t->spec.queues,
				    .grace_ns = t->spec.cfg.overtime_ns};
	struct err why = {.text = ""};

	for (unsigned i = 0; t->spec.cfg.told && t->witness != NULL && i < t->c->nports; i++)
		if (portset_has(&t->spec.tx, i))
			t->told |= t->witness->ask(t->c, t->c->port[i], true, &why) == 0;
	if (t->told && run_start(t->c, &t->spec.tx, &ask, &why) < 0)
		not_told(t); /* the receivers may have no memory for the tables */
	int rc = t->told ? 0 : run_start(t->c, &t->spec.tx, &ask, e);
	snprintf(t->r.not_told, sizeof(t->r.not_told), "%s", why.text);
	return rc;
}

/* Starts the senders of the trial itself, and takes the bases before their first frame. */
static int trial_begin(struct trial *t, struct err *e)
{
	int rc = trial_run(t, e);

	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < t->r.nflows; i++)
		t->r.flow[i].counts.unicast = sends_unicast(t->c, &t->r.flow[i].from);
	take_base(t);
	if (t->told)
		trial_told_base(t);
	t->stage = TRIAL_SEND;
	return 0;
}

/* Adds the receivers that can send. */
static void ports_able(const struct trial *t, struct portset *out)
{
	for (unsigned i = 0; i < t->c->nports; i++)
		if (portset_has(&t->rx, i) && t->c->port[i]->p.ntxq > 0)
			portset_add(out, i);
}

/* Starts the learning frames, which the receivers send so that a device under test learns where
 * they are. Receivers without a Tx queue send none. */
static int trial_learn(struct trial *t, struct err *e)
{
	const struct trial_cfg *cfg = &t->spec.cfg;
	struct portset able = {0};

	ports_able(t, &able);
	t->teachers = able;
	t->stage = TRIAL_LEARN;
	if (portset_empty(&able))
		return 0;
	return run_start(t->c, &able,
			 &(struct run_ask){.count = cfg->learn,
					   .own_count = true,
					   .rate = &cfg->learn_rate},
			 e);
}

/* A trial of which nothing is known yet but its ports. */
static struct trial *trial_new(struct ctl *c, const struct trial_spec *spec)
{
	struct trial *t = xcalloc(1, sizeof(*t));

	t->c = c;
	t->spec = *spec;
	t->r.link_changed = -1;
	t->base = xcalloc(c->nports, sizeof(*t->base));
	t->cpu = xcalloc(c->nworkers, sizeof(*t->cpu));
	t->witness = work_witness();
	t->told_base = xcalloc(c->nports, sizeof(*t->told_base));
	t->r.jitter_ns = (double)NAN;
	make_flows(t);
	return t;
}

int trial_may_start(struct ctl *c, const struct trial_spec *spec, struct err *e)
{
	struct trial *t = trial_new(c, spec);
	int rc = trial_check(t, e);

	trial_free(t);
	return rc;
}

/* Begins as soon as all is found that the starts need. again: it was asked before. */
static int trial_ready(struct trial *t, bool again, struct err *e)
{
	struct portset ports = t->spec.tx;

	if (t->spec.cfg.learn > 0)
		ports_able(t, &ports);
	int rc = ctl_start_ready(t->c, &ports, again, e);
	if (rc <= 0)
		return rc;
	rc = again ? check_ports(t, e) : 0; /* others may have begun meanwhile */
	if (rc < 0)
		return rc;
	t->stage = TRIAL_LEARN;
	/* where frames of an earlier run are still on their way, the stage stays TRIAL_LEARN until
	 * they have arrived */
	return t->spec.cfg.learn > 0     ? trial_learn(t, e)
	       : ctl_frames_inside(t->c) ? 0
					 : trial_begin(t, e);
}

int trial_start(struct ctl *c, const struct trial_spec *spec, struct trial **out, struct err *e)
{
	struct trial *t = trial_new(c, spec);
	int rc = trial_check(t, e);

	if (rc == 0)
		rc = trial_ready(t, false, e);
	if (rc < 0) {
		trial_free(t);
		return rc;
	}
	ctl_watch(c, t, &t->rx, spec->cfg.max_stall_ns);
	*out = t;
	return 0;
}

bool trial_begun(const struct trial *t)
{
	return t->stage >= TRIAL_SEND;
}

static bool any_sends(const struct trial *t, const struct portset *ports)
{
	for (unsigned i = 0; i < t->c->nports; i++)
		if (portset_has(ports, i) && t->c->port[i]->run.active)
			return true;
	return false;
}

static int poll_learn(struct trial *t, uint64_t now, struct err *e)
{
	if (t->stage == TRIAL_LEARN) {
		int rc = ctl_settled(t->c, &t->teachers);
		if (rc == -ETIMEDOUT)
			return err_set(
				e, EINVAL,
				"the learning frames cannot be sent: a device takes none; see `show stats`: link, stalls");
		if (rc == 0)
			return 0;
		t->stage = TRIAL_PAUSE;
		t->until_ns = now + (t->spec.cfg.learn > 0 ? t->spec.cfg.learn_wait_ns : 0);
	}
	return now >= t->until_ns ? trial_begin(t, e) : 0;
}

/* Stops the ports that have not sent everything overtime_ns after their time: a run that went on
 * would measure another load. */
static void stop_late(struct trial *t)
{
	uint64_t tsc = clock_tsc(),
		 most = clock_cycles(t->spec.duration_ns + t->spec.cfg.overtime_ns);
	struct portset late = {0};

	for (unsigned i = 0; i < t->c->nports; i++) {
		const struct run *r = &t->c->port[i]->run;
		if (portset_has(&t->spec.tx, i) && r->active && !r->armed && !r->stop &&
		    (int64_t)(tsc - r->start_tsc) > (int64_t)most)
			portset_add(&late, i);
	}
	if (!portset_empty(&late))
		ctl_stop(t->c, &late);
}

/* Notes the turns of all workers, for all_looked(). */
static void note_looks(struct trial *t)
{
	for (unsigned w = 0; w < t->c->nworkers; w++) {
		t->cpu[w].barren = cell_get(&t->c->worker[w].w->cells.barren);
		t->cpu[w].loops = cell_get(&t->c->worker[w].w->cells.loops);
	}
}

/* Have all workers that receive looked at their queues since note_looks()? Only then does it mean
 * something that nothing has arrived. all_looked() in run.c says how this is known. */
static bool all_looked(const struct trial *t)
{
	for (unsigned w = 0; w < t->c->nworkers; w++) {
		const struct dp_worker_cells *d = &t->c->worker[w].w->cells;
		if (worker_serves(t->c, w, &t->rx, NULL) &&
		    cell_get(&d->barren) < t->cpu[w].barren + 2 &&
		    cell_get(&d->loops) < t->cpu[w].loops + 2 * DP_PUBLISH_TURNS)
			return false;
	}
	return true;
}

/* Sending is over: notes how long each worker has waited for a CPU since the base. */
static void note_waits(struct trial *t)
{
	for (unsigned w = 0; w < t->c->nworkers; w++) {
		uint64_t ns = 0;
		struct trial_cpu *b = &t->cpu[w];
		b->waited_known &= worker_waited(&t->c->worker[w], &ns);
		b->waited_ns = ns - b->waited_ns;
	}
}

static void poll_send(struct trial *t, uint64_t now)
{
	if (any_sends(t, &t->spec.tx)) {
		stop_late(t);
		return;
	}
	note_waits(t);
	t->r.span_ns = now - t->begin_ns;
	t->sent_ns = t->moved_ns = now;
	t->moved = trial_movement(t);
	note_looks(t);
	t->stage = TRIAL_DRAIN;
}

/* Is the wait for frames on their way over? It is when every frame is accounted for, or when no
 * counter has moved for drain_ns, and the receivers have looked at their queues since then; but not
 * before drain_min_ns. After drain_max_ns it is over in any case. */
static bool trial_drained(struct trial *t, uint64_t now)
{
	const struct trial_cfg *cfg = &t->spec.cfg;
	uint64_t sum = trial_movement(t), waited = now - t->sent_ns;

	if (t->arrived)
		return all_looked(t) || waited >= cfg->drain_max_ns;
	/* frames that the built-in wire holds back are still to come */
	if (sum != t->moved || works_inside(t->c, &t->spec.tx) > 0) {
		t->moved = sum;
		t->moved_ns = now;
		note_looks(t);
	}
	if (waited < cfg->drain_min_ns)
		return false;
	t->arrived = trial_arrived(t);
	/* when the receivers have looked once more, the last latencies are in the histograms */
	if (t->arrived)
		note_looks(t);
	return waited >= cfg->drain_max_ns || (now - t->moved_ns >= cfg->drain_ns && all_looked(t));
}

static void trial_finish(struct trial *t)
{
	trial_read(t);
	trial_judge(&t->r, &t->spec.cfg);
	t->stage = TRIAL_DONE;
	not_told(t);
	ctl_unwatch(t->c);
}

int trial_poll(struct trial *t, struct err *e)
{
	int rc = 0;

	run_events(t->c);
	uint64_t now = clock_raw_ns();
	switch (t->stage) {
	case TRIAL_READY:
		rc = trial_ready(t, true, e);
		break;
	case TRIAL_LEARN:
	case TRIAL_PAUSE:
		rc = poll_learn(t, now, e);
		break;
	case TRIAL_SEND:
		poll_send(t, now);
		break;
	case TRIAL_DRAIN:
		if (!trial_drained(t, now))
			break;
		t->r.inside = works_inside(t->c, &t->spec.tx);
		trial_mark_late(t);
		t->stage = TRIAL_SETTLE;
		t->until_ns = now + t->spec.cfg.settle_ns;
		/* fall through */
	case TRIAL_SETTLE:
		if (now >= t->until_ns)
			trial_finish(t);
		break;
	case TRIAL_DONE:
		break;
	}
	return rc < 0 ? rc : t->stage == TRIAL_DONE;
}

/* Returns how much has passed of a pause that lasts all_ns and ends at until_ns. */
static uint64_t gone_of(uint64_t all_ns, uint64_t until_ns, uint64_t now)
{
	uint64_t left = until_ns > now ? until_ns - now : 0;

	return all_ns > left ? all_ns - left : 0;
}

void trial_progress(const struct trial *t, struct trial_progress *out)
{
	static const char *const doing[] = {"asking where frames go",
					    "learning frames",
					    "pause after learning frames",
					    "sending",
					    "frames on their way",
					    "settling",
					    "done"};
	const struct trial_cfg *cfg = &t->spec.cfg;
	uint64_t now = clock_raw_ns(), send = t->spec.duration_ns,
		 drain = RTE_MAX(cfg->drain_ns, cfg->drain_min_ns);
	uint64_t learn = cfg->learn > 0 ? cfg->learn_wait_ns : 0,
		 all = learn + send + drain + cfg->settle_ns, gone = 0;

	switch (t->stage) {
	case TRIAL_READY:
	case TRIAL_LEARN: /* it lasts until all frames have arrived: nobody knows how long */
		break;
	case TRIAL_PAUSE:
		gone = gone_of(learn, t->until_ns, now);
		break;
	case TRIAL_SEND:
		gone = learn + RTE_MIN(now - t->begin_ns, send);
		break;
	case TRIAL_DRAIN:
		gone = learn + send + RTE_MIN(now - t->sent_ns, drain);
		break;
	case TRIAL_SETTLE:
		gone = learn + send + drain + gone_of(cfg->settle_ns, t->until_ns, now);
		break;
	case TRIAL_DONE:
		gone = all;
		break;
	}
	*out = (struct trial_progress){.doing = doing[t->stage], .gone_ns = gone, .all_ns = all};
}

const struct trial_result *trial_result(const struct trial *t)
{
	return t->stage == TRIAL_DONE ? &t->r : NULL;
}

void trial_free(struct trial *t)
{
	if (t == NULL)
		return;
	if (ctl_watched(t->c) == t) {
		if (t->stage != TRIAL_READY) { /* before that it has started nothing */
			ctl_stop(t->c, &t->spec.tx);
			ctl_stop(t->c, &t->teachers);
			not_told(t);
		}
		ctl_unwatch(t->c);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(t->latency); i++) {
		free(t->r.latency[i]);
		free(t->latency[i]);
	}
	free(t->r.tx);
	free(t->r.flow);
	free(t->r.worker);
	free(t->base);
	free(t->cpu);
	for (unsigned i = 0; i < t->r.nflows; i++)
		free(t->told_base[i]);
	free(t->told_base);
	free(t);
}
