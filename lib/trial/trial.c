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
		r->tx[r->ntx++] = (struct trial_tx){.port = i};
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

static int check_senders(const struct trial *t, struct err *e)
{
	int rc = 0;

	for (unsigned i = 0; i < t->c->nports && rc == 0; i++)
		if (portset_has(&t->spec.tx, i))
			rc = t->of->check(t->c->port[i], e);
	return rc;
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
	}
	return check_senders(t, e);
}

static int trial_check(struct trial *t, struct err *e)
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
	int rc = trial_take(t, e);
	return rc < 0 ? rc : check_ports(t, e);
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
		b->busy_cycles = cell_get(&c->worker[w].w->cells.busy_tsc);
		b->waited_known = worker_waited(&c->worker[w], &b->waited_ns);
		worker_mark(&c->worker[w], DP_MARK_TRIAL);
	}
	clock_refine();
	t->hz = clock_hz();
	t->begin_ns = clock_raw_ns();
}

/* Starts the senders of the trial itself, and takes the bases before their first frame. Settings
 * may have changed while it waited. */
static int trial_begin(struct trial *t, struct err *e)
{
	int rc = trial_take(t, e);

	rc = rc < 0 ? rc : check_senders(t, e);
	rc = rc < 0 ? rc : t->of->run(t, e);
	if (rc < 0)
		return rc;
	take_base(t);
	if (t->of->base != NULL)
		t->of->base(t);
	t->stage = TRIAL_SEND;
	return 0;
}

/* Adds the receivers that can send frames. */
static void ports_able(const struct trial *t, struct portset *out)
{
	for (unsigned i = 0; i < t->c->nports; i++)
		if (portset_has(&t->rx, i) && t->c->port[i]->p.ntxq > 0 &&
		    !streams_carried(t->c->port[i]))
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

int trial_would_be(struct ctl *c, const struct trial_spec *spec, enum trial_of *of, struct err *e)
{
	struct trial *t = trial_new(c, spec);
	int rc = trial_check(t, e);

	if (rc == 0)
		*of = t->of->of;
	trial_free(t);
	return rc;
}

int trial_may_start(struct ctl *c, const struct trial_spec *spec, struct err *e)
{
	enum trial_of of;

	return trial_would_be(c, spec, &of, e);
}

/* Begins as soon as all is found that the starts need. again: it was asked before. */
static int trial_ready(struct trial *t, bool again, struct err *e)
{
	struct portset ports = t->runs;

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
	ctl_watch(c, t, &t->rx, RTE_MIN(spec->cfg.max_stall_ns, TRIAL_STALL_SEEN_NS));
	*out = t;
	return 0;
}

bool trial_begun(const struct trial *t)
{
	return t->stage >= TRIAL_SEND;
}

bool trial_sent(const struct trial *t)
{
	return t->stage >= TRIAL_DRAIN;
}

bool trial_active(const struct trial *t, const struct portset *ports)
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

/* Sending is over: notes how long each worker has waited for a CPU since the base, and how long it
 * has had work. */
static void note_waits(struct trial *t)
{
	for (unsigned w = 0; w < t->c->nworkers; w++) {
		uint64_t ns = 0;
		struct trial_cpu *b = &t->cpu[w];
		b->waited_known &= worker_waited(&t->c->worker[w], &ns);
		b->waited_ns = ns - b->waited_ns;
		b->busy_cycles = cell_get(&t->c->worker[w].w->cells.busy_tsc) - b->busy_cycles;
	}
}

static void poll_send(struct trial *t, uint64_t now)
{
	if (t->of->begins(t))
		return;
	note_waits(t);
	t->r.span_ns = now - t->begin_ns;
	t->sent_ns = now;
	if (t->of->sent != NULL)
		t->of->sent(t);
	t->stage = TRIAL_DRAIN;
}

static void trial_finish(struct trial *t)
{
	trial_read(t);
	trial_judge(&t->r, &t->spec.cfg);
	t->stage = TRIAL_DONE;
	if (t->of->end != NULL)
		t->of->end(t);
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
		if (!t->of->drained(t, now))
			break;
		t->of->settles(t);
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
	const char *doing[] = {"asking where frames go",
			       "learning frames",
			       "pause after learning frames",
			       t->of->begins_text,
			       t->of->ends_text,
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
		if (t->of->warms != NULL && t->of->warms(t, &gone))
			doing[t->stage] = "opening connections for transactions";
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

static void free_calls(struct trial_calls *k)
{
	json_decref(k->made);
	json_decref(k->answered);
}

void trial_free(struct trial *t)
{
	if (t == NULL)
		return;
	if (ctl_watched(t->c) == t) {
		if (t->stage != TRIAL_READY) { /* before that it has started nothing */
			ctl_stop(t->c, &t->runs);
			if (t->of->hurries) /* nobody waits for what is open */
				ctl_stop(t->c, &t->runs);
			ctl_stop(t->c, &t->teachers);
			if (t->of->end != NULL)
				t->of->end(t);
		}
		ctl_unwatch(t->c);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(t->latency); i++) {
		free(t->r.latency[i]);
		free(t->latency[i]);
	}
	for (unsigned i = 0; i < t->r.nflows; i++)
		free_calls(&t->r.flow[i].calls);
	free(t->r.tx);
	free(t->r.flow);
	free(t->r.worker);
	free(t->base);
	free(t->cpu);
	for (unsigned i = 0; i < t->r.nflows; i++)
		free(t->told_base[i]);
	free_calls(&t->r.calls);
	free(t->told_base);
	free(t);
}
