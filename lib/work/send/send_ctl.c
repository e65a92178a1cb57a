/* SPDX-License-Identifier: BSD-3-Clause */
/* The work "send" as control sees it (struct work): a port sends streams, by its schedule and at
 * rates of their own. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "send_groups.h"
#include "send_cfg.h"

static void send_cfg_init(void *cfg)
{
	value_default(&vt_duration, SEND_DFLT_FORGIVE, &((struct send_cfg *)cfg)->forgive_ns);
}

static int send_port_open(struct ctl *c, struct ctl_port *cp, struct err *e)
{
	struct send_port *sp = send_of(cp);
	unsigned n = cp->p.ntxq + 1u;

	sp->gen = xcalloc(n, sizeof(*sp->gen));
	sp->late_base = xcalloc(n, sizeof(*sp->late_base));
	for (unsigned q = 0; q < cp->p.ntxq; q++) {
		int node = c->worker[cp->tx_worker[q]].node;
		struct gen_state *g = sp->gen[q] = state_new(sizeof(*g), node);
		if (g == NULL)
			return err_set(e, ENODEV, "no memory for Tx queue %u of port %u", q,
				       cp->p.id);
		int rc = late_open(cp, q, state_new(hist_size(GEN_LATE_SHAPE), node), e);
		if (rc < 0)
			return rc;
		g->cell = xcalloc(CTL_CELLS, sizeof(*g->cell));
		g->probes = xcalloc(1, sizeof(*g->probes));
	}
	return 0;
}

static void send_port_close(struct ctl *c, struct ctl_port *cp)
{
	struct send_port *sp = send_of(cp);

	groups_free(c, &sp->groups);
	free(sp->rate);
	late_free(cp);
	for (unsigned q = 0; q < cp->p.ntxq && sp->gen != NULL; q++) {
		struct gen_state *g = sp->gen[q];
		if (g == NULL)
			continue;
		free(g->cell);
		free(g->probes);
		rte_free(g);
	}
	free(sp->gen);
}

/* ---- settings that change while it sends ---- */

/* Notes what could not be taken over, unless the last note said the same. */
static void send_say(struct ctl *c, struct ctl_port *cp, const char *text)
{
	struct send_port *sp = send_of(cp);

	if (strcmp(sp->said, text) == 0)
		return;
	snprintf(sp->said, sizeof(sp->said), "%s", text);
	if (text[0] != '\0')
		ctl_note(c, cp->p.id, "%s", text);
}

/* Returns whether an enabled stream has a count of its own. */
static bool streams_count(const struct ctl_port *cp)
{
	for (unsigned i = 0; i < cp->nstreams; i++)
		if (stream_scheduled(cp->stream[i]) && cp->stream[i]->cfg.count != 0)
			return true;
	return false;
}

void groups_take(struct ctl *c, struct ctl_port *cp, struct groups *p)
{
	struct send_port *sp = send_of(cp);
	bool other = p->ngroups != sp->groups.ngroups;

	for (unsigned i = 0; i < p->ngroups && !other; i++)
		other = p->group[i] != sp->groups.group[i];
	groups_free(c, &sp->groups);
	sp->groups = *p;
	if (other)
		sp->run.changed_ns = clock_raw_ns();
}

/* Makes new groups of the settings of a port that sends. If that fails, the groups stay as they
 * were. While a stream with a count is sent, the order stays (send_change.c). */
static void follow_settings(struct ctl *c, struct ctl_port *cp)
{
	struct send_port *sp = send_of(cp);
	struct groups now;
	struct err e;
	char text[sizeof(sp->said)] = "";
	uint64_t limit = sp->run.count != 0 ? sp->run.count : UINT64_MAX;
	bool other = false;
	int rc;

	if (!cp->run.armed && (sp->groups.counted || streams_count(cp)))
		rc = groups_follow(c, cp, &sp->groups, limit, &now, &other, &e);
	else
		rc = groups_make(c, cp, &sp->groups, sp->groups.nqueues, limit, &now, &e);
	if (rc < 0)
		snprintf(text, sizeof(text), "%s; the frames in flight stay as they were", e.text);
	else if (other)
		snprintf(
			text, sizeof(text),
			"port %u: a stream has a count, so who sends how often stays as it is until the next start (weights, counts, rates of "
			"their own, set of streams)",
			cp->p.id);
	send_say(c, cp, text);
	if (rc == 0) {
		groups_take(c, cp, &now);
		sp->order_waits = other;
	}
}

static void send_prepare(struct ctl *c, struct ctl_port *cp, uint32_t why)
{
	(void)why;
	if (ctl_port_runs(cp) && cp->run.active && !cp->run.stop)
		follow_settings(c, cp);
	if (cp->run.active)
		rates_follow(cp);
}

/* ---- what it has sent ---- */

static void send_clear(struct ctl *c, const struct portset *ports)
{
	for (unsigned i = 0; i < c->nports; i++)
		if (portset_has(ports, i) && c->port[i]->p.used)
			late_clear(c->port[i]);
}

static bool send_streams(const struct ctl_port *cp, unsigned queue, struct cnt_stream *sum,
			 unsigned n)
{
	return gen_counts(send_of(cp)->gen[queue], sum, n);
}

static void send_old_stream(const struct ctl_port *cp, unsigned cell, struct cnt_stream *sum)
{
	const struct send_port *sp = send_of(cp);

	for (unsigned q = 0; q < cp->p.ntxq && sp->gen != NULL; q++) {
		sum->packets += cell_get(&sp->gen[q]->cell[cell].packets);
		sum->bytes += cell_get(&sp->gen[q]->cell[cell].bytes);
	}
}

static uint64_t send_told(const struct ctl_port *cp, unsigned cell)
{
	const struct send_port *sp = send_of(cp);
	uint64_t sum = 0;

	for (unsigned q = 0; q < cp->p.ntxq; q++)
		sum += gen_probes_sent(sp->gen[q], cell);
	return sum;
}

static bool send_sizes(const struct ctl_port *cp, unsigned queue, struct cnt_sizes *sum)
{
	return gen_sizes(send_of(cp)->gen[queue], sum);
}

static bool send_tells(const struct ctl_port *cp)
{
	const struct send_port *sp = send_of(cp);

	for (unsigned i = 0; i < sp->groups.ngroups; i++)
		for (unsigned p = 0; p < sp->groups.group[i]->sched.nphases; p++)
			if (frun_probes(sp->groups.group[i]->frun[p].run) != NULL)
				return true;
	return false;
}

static const struct dp_times *send_times(const struct ctl_port *cp, unsigned queue)
{
	return &send_of(cp)->gen[queue]->base.times;
}

/* ---- what is shown ---- */

static bool has_member(const struct group *g, uint32_t cell)
{
	for (unsigned m = 0; m < g->n; m++)
		if (g->member[m].cell == cell)
			return true;
	return false;
}

/* Returns whether the stream is in the port's schedule g. Its settings say so, unless they wait for
 * the next start. */
static bool takes_turns(const struct ctl_port *cp, const struct group *g, const struct stream *s)
{
	return cp->run.active && send_of(cp)->order_waits ? has_member(g, s->cell)
							  : !s->cfg.rate.set && stream_scheduled(s);
}

/* Returns the group that sends a stream, or sent it last. NULL: there is none. */
static const struct group *group_with(const struct ctl_port *cp, const struct stream *s)
{
	const struct groups *p = &send_of(cp)->groups;

	for (unsigned i = 0; i < p->ngroups; i++) {
		const struct group *g = p->group[i];
		if (g->cell >= 0 ? g->cell == (int32_t)s->cell : takes_turns(cp, g, s))
			return g;
		if (g->cell > (int32_t)s->cell)
			break;
	}
	return NULL;
}

static const char *send_engine(const struct ctl_port *cp, const struct stream *s)
{
	const struct group *g = group_with(cp, s);

	return g != NULL ? frun_engine(g->frun[0].run) : NULL;
}

/* Returns one group on one queue for `show plan`; its frun is that of the first phase. */
static json_t *group_row(const struct gen_group *from, const struct group *g)
{
	static const char *const arrivals[] = {"constant", "poisson", "burst", "jitter", "onoff"},
				 *const trends[] = {"steady", "ramp", "steps"};
	const struct frun *f = from->phase[0].frun;
	json_t *o = json_pack("{s:s, s:s, s:i, s:i, s:i, s:I, s:b, s:I}", "engine", frun_engine(f),
			      "sums", frun_sums(f), "lanes", (int)frun_lanes(f), "classes",
			      (int)frun_nclasses(f), "phases", (int)from->nphases, "cycle",
			      (json_int_t)g->sched.phase[0].ncycle, "offload", (int)g->offload,
			      "memory_bytes", (json_int_t)g->bytes);

	if (from->stream >= 0)
		json_object_set_new(o, "stream", json_integer(g->in[0].id));
	else
		json_object_set_new(o, "streams", json_integer(g->n));
	if (g->size != 0)
		json_object_set_new(o, "size", json_integer(g->size));
	json_object_set_new(o, "mean_size", json_real(g->mean_size));
	json_object_set_new(o, "template", json_integer(from->phase[0].mark[0]));
	json_object_set_new(o, from->by_bytes ? "period_cycles_per_byte" : "period_cycles",
			    json_real((double)from->period.cycles +
				      (double)from->period.frac / 0x1p64));
	json_object_set_new(o, "arrival",
			    json_string(from->shape != NULL ? arrivals[from->shape->kind]
							    : "constant"));
	json_object_set_new(o, "trend",
			    json_string(from->shape != NULL ? trends[from->shape->trend]
							    : "steady"));
	uint64_t end = from->phase[from->nphases - 1].end,
		 frames = end < from->limit ? end : from->limit;
	if (frames != UINT64_MAX)
		json_object_set_new(o, "frames", json_integer((json_int_t)frames));
	return o;
}

/* Returns a task for `show plan`. ref: the groups of the job, in its order. The facts of the first
 * group are repeated in the row itself, because most ports have one group. */
static json_t *gen_row(const struct gen_job *j, struct group *const *ref)
{
	json_t *o = json_pack("{s:s, s:i, s:i, s:i, s:I, s:i, s:b, s:b}", "kind", "gen", "port",
			      (int)j->txq->port, "tx_queue", (int)j->queue, "queues",
			      (int)j->nqueues, "run", (json_int_t)j->run, "burst", (int)j->burst,
			      "stop", (int)j->stop, "prepare", (int)j->prepare);
	if (j->stamp != NULL)
		/* The device sends at time stamps. */
		json_object_set_new(o, "lead_cycles", json_integer((json_int_t)j->lead_cycles));
	static const char *const catchups[] = {
		[GEN_KEEP] = "keep", [GEN_SKIP] = "skip", [GEN_OVERSPEED] = "overspeed"};
	json_t *groups = json_array();

	for (unsigned i = 0; i < j->ngroups; i++)
		json_array_append_new(groups, group_row(&j->group[i], ref[i]));
	if (j->ngroups > 0)
		json_object_update(o, json_array_get(groups, 0));
	json_object_set_new(o, "catchup", json_string(catchups[j->catchup]));
	json_object_set_new(o, "groups", groups);
	return o;
}

static json_t *send_task_json(const struct ctl *c, const struct dp_task *task, const void *about)
{
	(void)c;
	return task->kind == &dp_kind_gen ? gen_row(task->job, about) : NULL;
}

const struct work work_send = {
	.name = "send",
	.port_bytes = sizeof(struct send_port),
	.ctl_bytes = sizeof(struct send_ctl),
	.cfg_bytes = sizeof(struct send_cfg),
	.cfg_init = send_cfg_init,
	.port_open = send_port_open,
	.port_close = send_port_close,
	.ctl_end = marks_free,
	.prepares = WHY_FRAMES | WHY_ORDER | WHY_RUN,
	.prepare = send_prepare,
	.fill = send_fill,
	.clear = send_clear,
	.streams = send_streams,
	.old_stream = send_old_stream,
	.told = send_told,
	.sizes = send_sizes,
	.times = send_times,
	.snap = late_snap,
	.tells = send_tells,
	.engine = send_engine,
	.task_json = send_task_json,
	.run = &send_run,
};
