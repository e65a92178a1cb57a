/* SPDX-License-Identifier: BSD-3-Clause */
/* What a trial measures: frames. The senders are ports, and receivers and the witness tell what
 * became of each frame. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trial_int.h"

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
static int frames_check(const struct ctl_port *cp, struct err *e)
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

/* From now on frames of the senders say which ones they are only where their streams ask for it. */
static void frames_end(struct trial *t)
{
	for (unsigned i = 0; t->witness != NULL && i < t->c->nports; i++)
		if (portset_has(&t->spec.tx, i))
			t->witness->ask(t->c, t->c->port[i], false, NULL);
	t->told = false;
}

/* Starts the senders, so that their frames say which ones they are if the trial wants that. If the
 * start fails so, they are started without it. r.not_told gets the reason why some frames tell
 * nothing. */
static int frames_run(struct trial *t, struct err *e)
{
	const struct run_ask ask = {.duration_ns = t->spec.duration_ns,
				    .own_count = true,
				    .rate = &t->run_rate,
				    .queues = t->spec.queues,
				    .grace_ns = t->spec.cfg.overtime_ns};
	struct err why = {.text = ""};

	for (unsigned i = 0; t->spec.cfg.told && t->witness != NULL && i < t->c->nports; i++)
		if (portset_has(&t->spec.tx, i))
			t->told |= t->witness->ask(t->c, t->c->port[i], true, &why) == 0;
	if (t->told && run_start(t->c, &t->spec.tx, &ask, &why) < 0)
		frames_end(t); /* the receivers may have no memory for the tables */
	int rc = t->told ? 0 : run_start(t->c, &t->spec.tx, &ask, e);
	snprintf(t->r.not_told, sizeof(t->r.not_told), "%s", why.text);
	return rc;
}

static void frames_base(struct trial *t)
{
	for (unsigned i = 0; i < t->r.nflows; i++)
		t->r.flow[i].counts.unicast = sends_unicast(t->c, &t->r.flow[i].from);
	if (t->told)
		trial_told_base(t);
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

static bool frames_begins(struct trial *t)
{
	if (!trial_active(t, &t->spec.tx))
		return false;
	stop_late(t);
	return true;
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

static void frames_sent(struct trial *t)
{
	t->moved_ns = t->sent_ns;
	t->moved = trial_movement(t);
	note_looks(t);
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

static void frames_drained(struct trial *t)
{
	t->r.inside = works_inside(t->c, &t->spec.tx);
	trial_mark_late(t);
}

const struct trial_measure trial_frames = {
	.of = TRIAL_FRAMES,
	.begins_text = "sending",
	.ends_text = "frames on their way",
	.check = frames_check,
	.run = frames_run,
	.base = frames_base,
	.begins = frames_begins,
	.sent = frames_sent,
	.drained = trial_drained,
	.settles = frames_drained,
	.read = trial_read_frames,
	.end = frames_end,
};
