/* SPDX-License-Identifier: BSD-3-Clause */
/* What a trial measures: connections, or the transactions on them. The senders begin them, and know
 * by themselves what became of each. Ports at which they arrive start with them as far as they
 * answer. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trial_int.h"

/* ---- what the trial is of ---- */

static const struct trial_measure *measure_of(enum calls_of of)
{
	static const struct trial_measure *const list[] = {[CALLS_NONE] = &trial_frames,
							   [CALLS_CONNECTIONS] = &trial_connections,
							   [CALLS_TRANSACTIONS] =
								   &trial_transactions};

	return list[of];
}

/* All senders of a trial begin the same. */
static int measure_take(struct trial *t, struct err *e)
{
	const struct work_calls *calls = work_calls();
	const struct trial_measure *all = NULL;

	for (unsigned i = 0; i < t->c->nports; i++) {
		enum calls_of of = CALLS_NONE;
		int rc = 0;
		if (!portset_has(&t->spec.tx, i))
			continue;
		if (calls != NULL)
			rc = calls->of(t->c->port[i], &of, e);
		if (rc < 0)
			return rc;
		const struct trial_measure *m = measure_of(of);
		if (all != NULL && all != m)
			return err_set(
				e, EINVAL,
				"port %u would send %s and port %u not, and a trial is of one of them: a trial for each, one after the other",
				i, trial_words(m->of)->noun, t->first);
		all = m;
		t->first = RTE_MIN(t->first, i);
	}
	t->of = all;
	return 0;
}

static int rate_refused(const struct trial *t, struct err *e)
{
	const struct trial_words *w = trial_words(t->of->of);
	struct sbuf rate = {0};

	vt_rate_load.print(&(struct vspec){&vt_rate_load}, &t->spec.rate, &rate);
	err_set(e, EINVAL,
		"a trial of port %u is of %s, and %s is no rate of these: allowed are numbers with %s, like 10k%s%s, and max",
		t->first, w->noun, sbuf_str(&rate), w->per_s, w->per_s,
		t->of->of == TRIAL_FRAMES ? ", 10% and 3Gbps" : "");
	sbuf_free(&rate);
	return -EINVAL;
}

/* The rate in the unit of what the trial is of. */
static int rate_take(struct trial *t, struct err *e)
{
	static const enum rate_kind own[] = {[TRIAL_FRAMES] = RATE_PPS,
					     [TRIAL_CONNECTIONS] = RATE_CPS,
					     [TRIAL_TRANSACTIONS] = RATE_TPS};
	enum rate_kind kind = t->spec.rate.kind, want = own[t->of->of];

	if (kind == RATE_EACH)
		t->spec.rate.kind = kind = want;
	if (kind != want && kind != RATE_MAX && (want != RATE_PPS || kind >= RATE_CPS))
		return rate_refused(t, e);
	t->r.rate = t->spec.rate;
	t->run_rate = t->spec.rate;
	if (kind == want)
		t->run_rate.kind = RATE_PPS;
	return 0;
}

/* Receivers start if they answer. */
static int answer_take(struct trial *t, struct err *e)
{
	for (unsigned i = 0; i < t->c->nports; i++) {
		const struct ctl_port *cp = t->c->port[i];
		unsigned answers = 0, frames = 0, frame = 0;
		if (!portset_has(&t->rx, i) || portset_has(&t->spec.tx, i))
			continue;
		for (unsigned k = 0; k < cp->nstreams; k++) {
			answers += stream_answers(cp->stream[k]);
			if (stream_scheduled(cp->stream[k])) {
				frames++;
				frame = k;
			}
		}
		if (answers == 0)
			continue;
		if (frames > 0)
			return err_set(
				e, EINVAL,
				"port %u answers, and would send frames beside that, which no trial of connections accounts for: `set %u/%u "
				"enabled off`",
				i, i, frame);
		portset_add(&t->answer, i);
		portset_add(&t->runs, i);
	}
	return 0;
}

int trial_take(struct trial *t, struct err *e)
{
	t->calls = work_calls();
	t->runs = t->spec.tx;
	t->answer = (struct portset){{0}};
	t->first = UINT32_MAX;
	int rc = measure_take(t, e);
	if (rc == 0)
		rc = rate_take(t, e);
	if (rc == 0 && t->of->of != TRIAL_FRAMES) {
		rc = answer_take(t, e);
		t->spec.cfg.learn = 0; /* whoever is asked answers, so switches know him */
	}
	return rc;
}

/* ---- the course ---- */

static int calls_check(const struct ctl_port *cp, struct err *e)
{
	for (unsigned i = 0; i < cp->nstreams; i++) {
		const struct stream *s = cp->stream[i];
		if (s != NULL && s->cfg.enabled && s->cfg.count != 0)
			return err_set(
				e, EINVAL,
				"stream %u/%u ends after %" PRIu64
				" connections, and a trial opens them all the time; `set %u/%u count 0`",
				cp->p.id, i, s->cfg.count, cp->p.id, i);
	}
	return 0;
}

static int calls_run(struct trial *t, struct err *e)
{
	return run_start(t->c, &t->runs,
			 &(struct run_ask){.duration_ns = t->spec.duration_ns,
					   .own_count = true,
					   .rate = &t->run_rate,
					   .answer = &t->answer,
					   .grace_ns = t->spec.cfg.overtime_ns},
			 e);
}

static void calls_base(struct trial *t)
{
	for (unsigned i = 0; i < t->c->nports; i++)
		if (portset_has(&t->all, i))
			t->calls->strays(t->c->port[i], &t->base[i].strays);
}

/* The run of a port whose device has gone has no task that could end it, and nothing of it will
 * come: what was counted before is all of it. */
static void stop_gone(struct trial *t)
{
	struct portset gone = {0};

	for (unsigned i = 0; i < t->c->nports; i++) {
		const struct ctl_port *cp = t->c->port[i];
		if (portset_has(&t->runs, i) && cp->run.active && !cp->run.stop &&
		    !ctl_port_runs(cp))
			portset_add(&gone, i);
	}
	if (!portset_empty(&gone))
		ctl_stop(t->c, &gone);
}

static bool calls_begins(struct trial *t)
{
	stop_gone(t);
	for (unsigned i = 0; i < t->c->nports; i++)
		if (portset_has(&t->spec.tx, i) && t->calls->begins(t->c->port[i]))
			return true;
	return false;
}

/* The runs know when the last one has ended, and have a limit for it. */
static bool calls_drained(struct trial *t, uint64_t now)
{
	stop_gone(t);
	return !trial_active(t, &t->runs) && now - t->sent_ns >= t->spec.cfg.drain_min_ns;
}

static void calls_settle(struct trial *t)
{
	t->r.inside = works_inside(t->c, &t->runs);
}

static bool calls_warms(const struct trial *t, uint64_t *gone_ns)
{
	uint64_t tsc = t->calls->begun_tsc(t->c->port[t->first]);
	int64_t gone = tsc != 0 ? (int64_t)(clock_tsc() - tsc) : 0;

	*gone_ns = gone > 0 ? RTE_MIN(clock_ns((uint64_t)gone), t->spec.duration_ns) : 0;
	return tsc == 0;
}

/* ---- what has come of it ---- */

static void calls_read_load(const struct trial *t, const struct calls_load *k, struct trial_load *l)
{
	l->max = k->max;
	l->counted = k->counted;
	l->intended = k->intended;
	l->intended_pps = k->intended_per_s;
	l->offered = k->begun;
	l->given_up = k->given_up;
	l->behind = k->late;
	memcpy(l->why, k->why, sizeof(l->why));
	if (k->first_tsc == 0 || k->last_tsc < k->first_tsc)
		return;
	trial_read_offered(t, l, k->begun, k->last_tsc - k->first_tsc);
	l->due_ns = trial_due_ns(t, k->due_cycles);
}
_Static_assert(sizeof(((struct trial_load *)0)->why) == sizeof(((struct calls_load *)0)->why),
	       "why");

static void calls_read_loads(struct trial *t)
{
	struct calls_load k;

	t->r.ntx = 0;
	for (unsigned p = 0; p < t->c->nports; p++)
		for (unsigned i = 0;
		     portset_has(&t->spec.tx, p) && t->calls->load(t->c->port[p], i, &k); i++) {
			t->r.tx = xrealloc(t->r.tx, (t->r.ntx + 1) * sizeof(*t->r.tx));
			struct trial_tx *tx = &t->r.tx[t->r.ntx++];
			*tx = (struct trial_tx){.port = p, .by_stream = true, .stream = k.stream};
			calls_read_load(t, &k, &tx->load);
		}
}

static void calls_fates(const struct calls_counts *k, struct trial_fates *f)
{
	*f = (struct trial_fates){.sent = k->begun,
				  .received = k->succeeded,
				  .within = k->within,
				  .within_failed = k->within_failed};
	for (unsigned i = 0; i < k->nfailed; i++)
		f->lost += k->failed[i].n;
	f->excess = grown(trial_accounted(f), f->sent);
}

/* What our own receivers lost came late or not at all, at either end. A port may be an end of
 * several directions, and its frames are lost once. */
static void calls_read_losses(struct trial *t)
{
	const struct trial_flow all = {.to = t->all};

	trial_read_count(t, &all, &t->r.calls.own);
}

static void calls_read_ports(const struct trial *t, const struct portset *from,
			     struct calls_counts *out)
{
	*out = (struct calls_counts){0};
	for (unsigned i = 0; i < t->c->nports; i++)
		if (portset_has(from, i))
			t->calls->counts(t->c->port[i], out);
}

/* Frames to this port that no work has taken. */
static uint64_t calls_others(const struct trial *t, unsigned port)
{
	const struct snap_port *had = &t->base[port].dev;
	struct snap_port is = {0};
	uint64_t claimed, came, group;

	stat_streams(t->c, port, &is, &claimed);
	came = grown(is.rx.packets, had->rx.packets);
	group = grown(is.rx.broadcast + is.rx.multicast, had->rx.broadcast + had->rx.multicast);
	return grown(came, group);
}

/* Frames of no call at these ports since the begin of the trial. */
static void calls_read_strays(const struct trial *t, const struct portset *of,
			      struct calls_strays *out)
{
	for (unsigned i = 0; i < t->c->nports; i++) {
		const struct calls_strays *was = &t->base[i].strays;
		struct calls_strays is;
		if (!portset_has(of, i))
			continue;
		t->calls->strays(t->c->port[i], &is);
		out->others += calls_others(t, i);
		out->no_match += grown(is.no_match, was->no_match);
		out->bad_checksum += grown(is.bad_checksum, was->bad_checksum);
		out->malformed += grown(is.malformed, was->malformed);
		out->other_queue += grown(is.other_queue, was->other_queue);
		if (is.no_match > was->no_match && is.from[0] != '\0')
			memcpy(out->from, is.from, sizeof(out->from));
	}
}

void trial_calls_now(const struct trial *t, struct calls_counts *out)
{
	*out = (struct calls_counts){0};
	if (trial_begun(t) && t->of->of != TRIAL_FRAMES)
		calls_read_ports(t, &t->spec.tx, out);
}

uint64_t trial_opened(const struct trial *t)
{
	struct calls_counts k;

	trial_calls_now(t, &k);
	return t->of->of == TRIAL_TRANSACTIONS ? k.within : k.begun;
}

static void calls_read(struct trial *t)
{
	struct trial_result *r = &t->r;

	for (unsigned i = 0; i < r->nflows; i++) {
		struct trial_flow *f = &r->flow[i];
		calls_read_ports(t, &f->from, &f->calls.counts);
		calls_fates(&f->calls.counts, &f->fates);
		trial_fates_add(&r->sum, &f->fates);
		f->calls.made = t->calls->json(t->c, &f->from, false);
		f->calls.answered = t->calls->json(t->c, &f->to, true);
		calls_read_strays(t, &f->from, &f->calls.strays);
		calls_read_strays(t, &f->to, &f->calls.strays_answered);
	}
	calls_read_losses(t);
	calls_read_ports(t, &r->ports, &r->calls.counts);
	r->calls.made = t->calls->json(t->c, &r->ports, false);
	r->calls.answered = t->calls->json(t->c, &t->rx, true);
	calls_read_strays(t, &r->ports, &r->calls.strays);
	calls_read_strays(t, &t->rx, &r->calls.strays_answered);
	calls_read_loads(t);
}

#define CALLS_COURSE \
	.hurries = true, .check = calls_check, .run = calls_run, .base = calls_base, \
	.begins = calls_begins, .drained = calls_drained, .settles = calls_settle, \
	.warms = calls_warms, .read = calls_read

const struct trial_measure trial_connections = {
	.of = TRIAL_CONNECTIONS,
	.begins_text = "opening connections",
	.ends_text = "connections end",
	CALLS_COURSE,
};

const struct trial_measure trial_transactions = {
	.of = TRIAL_TRANSACTIONS,
	.begins_text = "starting transactions",
	.ends_text = "transactions and connections end",
	CALLS_COURSE,
};
