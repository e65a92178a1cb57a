/* SPDX-License-Identifier: BSD-3-Clause */
/* The course of a run: how ports start and stop, how control notices the end of a run, what came of
 * the run, and when its frames have arrived (ctl_settled()). This file also keeps the queue of
 * events for ctl_event_next(). */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctl_int.h"

/* Time from the making of the plans to the start. Workers that sleep wake within a millisecond, and
 * all workers are to have their plans before the start. */
#define LEAD_NS 3000000ull
#define QUIET_NS 20000000ull  /* when no Rx counter moves for so long, all frames have arrived */
#define GRACE_NS 100000000ull /* the least grace_ns of a run, see struct run_ask */
#define STUCK_TICKS 10 /* after so many seconds a device that takes nothing counts as stuck */
/* The longest wait for quiet after the last run has ended and no work holds frames any more. */
#define SETTLE_MAX_NS 2000000000ull
#define NO_CPU_MAX_NS 10000000000ull /* the same while a worker has no CPU */

static void add_event(struct ctl *c, enum ctl_event_kind kind, unsigned port, const char *fmt,
		      va_list ap)
{
	if (c->ev_n == CTL_EVENTS) { /* the oldest goes */
		c->ev_head = (c->ev_head + 1) % CTL_EVENTS;
		c->ev_n--;
	}
	struct ctl_event *ev = &c->ev[(c->ev_head + c->ev_n++) % CTL_EVENTS];
	ev->kind = kind;
	ev->port = port;
	vsnprintf(ev->text, sizeof(ev->text), fmt, ap);
}

void ctl_note(struct ctl *c, unsigned port, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_event(c, CTL_EVENT_NOTE, port, fmt, ap);
	va_end(ap);
}

void ctl_note_link(struct ctl *c, unsigned port, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_event(c, CTL_EVENT_LINK, port, fmt, ap);
	va_end(ap);
}

bool ctl_event_next(struct ctl *c, struct ctl_event *out)
{
	if (c->ev_n == 0)
		return false;
	*out = c->ev[c->ev_head];
	c->ev_head = (c->ev_head + 1) % CTL_EVENTS;
	c->ev_n--;
	return true;
}

bool ctl_sending(const struct ctl *c, unsigned port)
{
	return port < c->nports && c->port[port]->run.active;
}

uint64_t ctl_run_id(const struct ctl *c, unsigned port)
{
	return c->port[port]->run.id;
}

bool ctl_bounded(const struct ctl *c, unsigned port)
{
	const struct ctl_port *cp = c->port[port];
	struct run_result r;

	if (!cp->run.active || cp->run.stop || cp->run.duration_ns != 0)
		return cp->run.active;
	run_result(cp, &r);
	return !r.endless && (r.count != 0 || r.ends);
}

static int may_start(struct ctl *c, struct ctl_port *cp, const struct run_ask *ask, struct err *e)
{
	if (!cp->p.used)
		return err_set(e, EINVAL,
			       "port %u (%s) is not used: no map names it; add -m \"1.%u\"",
			       cp->p.id, cp->p.name, cp->p.id);
	if (cp->p.ntxq == 0)
		return err_set(
			e, EINVAL,
			"port %u (%s) has no Tx queue: its map names no sending core; add one after ':', as in "
			"-m \"1:2.%u\"",
			cp->p.id, cp->p.name, cp->p.id);
	if (cp->run.active)
		return err_set(e, EBUSY, "port %u (%s) is sending already; stop %u first", cp->p.id,
			       cp->p.name, cp->p.id);
	if (cp->restart) {
		int rc = ctl_apply(c, cp->p.id, e);
		if (rc < 0)
			return rc;
	}
	if (!ctl_port_runs(cp))
		return err_set(e, ENODEV, "port %u (%s): the device is not running; see `show log`",
			       cp->p.id, cp->p.name);
	int rc = 0;
	EACH_WORK(w, check)
		if (rc == 0)
			rc = w->check(c, cp, e);
	EACH_WORK(w, run)
		if (rc == 0 && w->run->may_start != NULL)
			rc = w->run->may_start(c, cp, ask, e);
	return rc;
}

static void never_mind(struct ctl *c)
{
	for (unsigned p = 0; p < c->nports; p++)
		EACH_WORK(w, run)
			if (w->run->never_mind != NULL)
				w->run->never_mind(c, c->port[p]);
}

/* Whether one of these ports is of the same -p. Frames of one of them wait in the device of
 * another, so none can be set up anew while one sends. */
static bool shares_spec(const struct ctl *c, const struct ctl_port *cp, const struct portset *ports)
{
	for (unsigned i = 0; i < c->nports; i++)
		if (portset_has(ports, i) && c->port[i]->p.first == cp->p.first)
			return true;
	return false;
}

/* A port that only receives never starts itself, so if its settings ask for other time stamps, its
 * device is set up anew when any port starts; and before one of the same -p starts all that waits
 * for it, since it cannot be done later. If that fails, the port goes on as it is. */
static void restart_others(struct ctl *c, const struct portset *ports)
{
	struct err e;

	for (unsigned i = 0; i < c->nports; i++) {
		struct ctl_port *cp = c->port[i];
		if (portset_has(ports, i) || !cp->p.used || !ctl_port_runs(cp) || !cp->restart ||
		    !(stamps_pending(&cp->p) || shares_spec(c, cp, ports)))
			continue;
		if (ctl_apply(c, i, &e) < 0)
			log_msg(LOG_LVL_WARN,
				"port %u (%s) receives with the settings that it had: %s", i,
				cp->p.name, e.text);
	}
}

const struct work_witness *work_witness(void)
{
	EACH_WORK(w, witness)
		return w->witness;
	return NULL;
}

const struct work_calls *work_calls(void)
{
	EACH_WORK(w, calls)
		return w->calls;
	return NULL;
}

static int arm_witness(struct ctl *c, const struct portset *ports, struct err *e)
{
	const struct work_witness *w = work_witness();

	return w != NULL ? w->arm(c, ports, e) : 0;
}

/* Waits for the clocks of devices. */
static void ready_clocks(struct ctl *c)
{
	struct port *list[CTL_MAX_PORTS];

	ctl_devices(c, list);
	stamps_ready(list, c->nports);
}

int run_start(struct ctl *c, const struct portset *ports, const struct run_ask *ask, struct err *e)
{
	int rc = 0;

	restart_others(c, ports);
	for (unsigned i = 0; i < c->nports && rc == 0; i++)
		if (portset_has(ports, i))
			rc = may_start(c, c->port[i], ask, e);
	if (rc == 0)
		ready_clocks(c);
	if (rc == 0)
		rc = arm_witness(c, ports, e);
	if (rc < 0) { /* all ports start or none */
		never_mind(c);
		return rc;
	}
	for (unsigned i = 0; i < c->nports; i++) {
		struct ctl_port *cp = c->port[i];
		if (!portset_has(ports, i))
			continue;
		cp->run = (struct run){.id = ++c->run_seq,
				       .armed = true,
				       .active = true,
				       .duration_ns = ask->duration_ns,
				       .grace_ns = RTE_MAX(ask->grace_ns, GRACE_NS),
				       .has_rate = ask->rate != NULL,
				       .rate = ask->rate != NULL ? *ask->rate : (struct rate){0}};
		EACH_WORK(w, run)
			if (w->run->begin != NULL)
				w->run->begin(c, cp, ask);
		cp->touched |= WHY_RUN;
	}
	return 0;
}

int ctl_start(struct ctl *c, const struct portset *ports, uint64_t duration_ns, struct err *e)
{
	return run_start(c, ports, &(struct run_ask){.duration_ns = duration_ns}, e);
}

/* Returns the ns from now to the start of the armed runs. A device that sends at time stamps gets
 * its frames early, by the port's setting lead_ns, so the longest of these is added. */
static uint64_t lead_ns(const struct ctl *c)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < c->nports; i++)
		if (c->port[i]->run.armed && stamps_tx(&c->port[i]->p) != NULL)
			most = RTE_MAX(most, c->port[i]->cfg.lead_ns);
	return LEAD_NS + most;
}

void run_arm(struct ctl *c)
{
	uint64_t start = 0;
	bool others = false;

	for (unsigned i = 0; i < c->nports; i++)
		others |= c->port[i]->run.active && !c->port[i]->run.armed;
	for (unsigned i = 0; i < c->nports; i++) {
		struct ctl_port *cp = c->port[i];
		struct run *r = &cp->run;
		if (!r->armed)
			continue;
		if (start == 0) {
			start = clock_tsc() + clock_cycles(lead_ns(c));
			if (!others)
				c->runs_tsc = start;
			most_before(c);
		}
		r->armed = false;
		r->start_tsc = start;
		EACH_WORK(w, run)
			if (w->run->arm != NULL)
				w->run->arm(c, cp);
	}
}

bool ctl_stuck(const struct ctl *c, unsigned port)
{
	return c->port[port]->run.active && c->port[port]->stuck_ticks >= STUCK_TICKS;
}

void ctl_stop(struct ctl *c, const struct portset *ports)
{
	for (unsigned i = 0; i < c->nports; i++) {
		struct ctl_port *cp = c->port[i];
		if (portset_has(ports, i) && cp->run.active) {
			cp->run.hurry = cp->run.stop;
			cp->run.stop = true;
			cp->touched |= WHY_RUN;
		}
	}
}

/* Whether all that the port does is to answer. */
static bool only_answers(const struct ctl_port *cp)
{
	bool any = false;

	for (unsigned i = 0; i < cp->nstreams; i++) {
		const struct stream *s = cp->stream[i];
		if (s == NULL || !s->cfg.enabled)
			continue;
		if (!stream_answers(s))
			return false;
		any = true;
	}
	return any;
}

void ctl_hurry(struct ctl *c, const struct portset *ports)
{
	bool any = false;
	struct run_result r;

	for (unsigned i = 0; i < c->nports; i++) {
		struct ctl_port *cp = c->port[i];
		if (!portset_has(ports, i) || !cp->run.active || cp->run.armed)
			continue;
		run_result(cp, &r);
		if (r.stage != RUN_STAGE_DRAINING)
			continue;
		cp->run.stop = cp->run.hurry = any = true;
		cp->touched |= WHY_RUN;
	}
	for (unsigned i = 0; any && i < c->nports; i++)
		if (portset_has(ports, i) && c->port[i]->run.active && only_answers(c->port[i]))
			c->port[i]->run.hurry = true; /* when whom it answers has ended */
}

static bool all_done(const struct ctl_port *cp)
{
	EACH_WORK(w, run)
		if (w->run->done != NULL && !w->run->done(cp))
			return false;
	return true;
}

static struct turns turns_now(const struct ctl_worker *cw)
{
	return (struct turns){.barren = cell_get(&cw->w->cells.barren),
			      .loops = cell_get(&cw->w->cells.loops)};
}

/* A run has ended now, or frames that were sent are still inside of some work: frames of ours may
 * come in from now on for as long as waited_enough() says. */
static void note_end(struct ctl *c, uint64_t now)
{
	c->ended_ns = now;
	for (unsigned w = 0; w < c->nworkers; w++)
		c->worker[w].ended = turns_now(&c->worker[w]);
}

static void run_ended(struct ctl *c, struct ctl_port *cp)
{
	struct run_result r;

	cp->run.active = false;
	note_end(c, clock_raw_ns());
	run_result(cp, &r);
	EACH_WORK(w, run)
		if (w->run->ended != NULL)
			w->run->ended(c, cp, &r);
	most_of_run(c, cp, &r);
}

/* Whether a run is over is read from the state of its queues. Events only wake control sooner, so
 * they are thrown away here. */
void run_events(struct ctl *c)
{
	struct mbox_event ev;

	most_before(c);
	for (unsigned w = 0; w < c->nworkers; w++)
		while (mbox_event_next(&c->worker[w].w->mbox, &ev))
			;
	for (unsigned i = 0; i < c->nports; i++) {
		struct ctl_port *cp = c->port[i];
		if (!cp->run.active || cp->run.armed)
			continue;
		if (cp->run.stop &&
		    !ctl_port_runs(cp)) { /* the device is gone, and so are its tasks */
			cp->run.active = false;
			continue;
		}
		if (all_done(cp))
			run_ended(c, cp);
	}
}

int ctl_wake_fd(const struct ctl *c)
{
	return c->wake_fd;
}

void ctl_events(struct ctl *c)
{
	uint64_t times;

	/* read before the look at the runs: a worker that writes after this wakes us again */
	if (read(c->wake_fd, &times, sizeof(times)) > 0)
		run_events(c);
}

static void progress_of(const struct ctl_port *cp, struct ctl_progress *out)
{
	const struct run *run = &cp->run;
	uint64_t left = UINT64_MAX;
	struct run_result r;
	double share = 0;

	run_result(cp, &r);
	uint64_t gone = r.duration_ns;
	if (run->duration_ns != 0) {
		share = gone < run->duration_ns ? (double)gone / (double)run->duration_ns : 1;
		left = gone < run->duration_ns ? run->duration_ns - gone : 0;
		out->all_ns = RTE_MAX(out->all_ns, run->duration_ns);
	}
	if (r.count != 0) {
		uint64_t sent = RTE_MIN(r.sent, r.count);
		double more_ns = (double)(r.count - sent) * 1e9 / r.mean_pps;
		share = RTE_MAX(share, (double)sent / (double)r.count);
		if (r.mean_pps > 0 && more_ns < (double)left)
			left = (uint64_t)more_ns;
		out->sent += sent;
		out->count += r.count;
	}
	out->bounded &= run->duration_ns != 0 || (!r.endless && (r.count != 0 || r.ends));
	out->share = RTE_MIN(out->share, share);
	out->gone_ns = RTE_MAX(out->gone_ns, gone);
	out->left_ns = RTE_MAX(out->left_ns, left);
	out->sending = true;
}

void ctl_progress(const struct ctl *c, const struct portset *ports, struct ctl_progress *out)
{
	*out = (struct ctl_progress){.bounded = true, .share = 1};
	for (unsigned i = 0; i < c->nports; i++)
		if (portset_has(ports, i) && c->port[i]->run.active && !c->port[i]->run.stop)
			progress_of(c->port[i], out);
}

static double l1_bits(const struct run_result *r)
{
	return r->sent > 0 ? ((double)r->bytes / (double)r->sent + PACE_WIRE_OVERHEAD) * 8 : 0;
}

void run_result(const struct ctl_port *cp, struct run_result *out)
{
	const struct run *r = &cp->run;

	*out = (struct run_result){.stage = RUN_STAGE_DONE, .intended = UINT64_MAX};
	EACH_WORK(w, run)
		if (w->run->result != NULL)
			w->run->result(cp, out);
	if (!r->active)
		out->stage = r->id != 0 ? RUN_STAGE_DONE : RUN_STAGE_IDLE;
	else if (out->stage == RUN_STAGE_DONE) /* run_events() has not noted the end yet */
		out->stage = RUN_STAGE_DRAINING;
	if (out->changed_ns != 0)
		out->steady_ns = clock_raw_ns() - out->changed_ns;
	if (r->armed || r->start_tsc == 0)
		return;
	uint64_t end =
		r->active ? clock_tsc() : RTE_MAX(out->last_tsc, r->start_tsc + out->slot_cycles);
	if (end > r->start_tsc) {
		out->duration_ns = clock_ns(end - r->start_tsc);
		if (out->duration_ns > 0)
			out->mean_pps = (double)out->sent * 1e9 / (double)out->duration_ns;
		out->mean_l1_bps = out->mean_pps * l1_bits(out);
	}
	if (out->changed_ns == 0)
		out->steady_ns = out->duration_ns;
	if (out->ramps)
		out->steady_ns = 0;
}

static uint64_t rx_total(struct ctl *c)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < c->nports; i++) {
		struct ctl_port *cp = c->port[i];
		struct snap_port s = {0};
		if (!cp->p.used || !ctl_port_runs(cp))
			continue;
		for (unsigned q = 0; q < cp->p.nrxq; q++)
			sum += cell_get(&cp->p.rxq[q]->cnt.packets);
		stat_dev(cp, &s);
		sum += s.rx_missed + s.rx_nombuf + s.rx_errors;
		if (s.nic.has_rx_packets)
			sum += s.nic.rx_packets;
		/* frames that wait in the kernel are on their way: its Tx counter still moves */
		if (s.nic.has_unconfirmed)
			sum += s.nic.tx_packets;
	}
	return sum;
}

/* Has the worker looked at its queues since these were its turns? Frames may be waiting for a
 * worker that had no CPU for a while. It has looked after two turns without a frame: the first one
 * may have begun before. A worker that is never idle writes its number of turns only every
 * DP_PUBLISH_TURNS turns, so two such steps count as well. */
static bool has_looked(const struct ctl_worker *cw, const struct turns *since)
{
	struct turns now = turns_now(cw);

	return !cw->launched || now.barren >= since->barren + 2 ||
	       now.loops >= since->loops + 2 * DP_PUBLISH_TURNS;
}

/* Have all workers looked at their queues since the Rx counters last moved? Only then does it mean
 * something that they do not move. */
static bool all_looked(const struct ctl *c)
{
	for (unsigned w = 0; w < c->nworkers; w++)
		if (!has_looked(&c->worker[w], &c->worker[w].quiet))
			return false;
	return true;
}

/* Frames of others may come for ever, so waiting ends some time. It goes on, up to a limit, while a
 * worker has had no CPU since the end: it may hold frames of ours that nobody has counted yet. */
static bool waited_enough(const struct ctl *c, uint64_t now)
{
	if (now - c->ended_ns < SETTLE_MAX_NS)
		return false;
	for (unsigned w = 0; w < c->nworkers; w++)
		if (!has_looked(&c->worker[w], &c->worker[w].ended))
			return now - c->ended_ns >= NO_CPU_MAX_NS;
	return true;
}

int ctl_settled(struct ctl *c, const struct portset *ports)
{
	uint64_t now, sum;
	bool sending = false;

	run_events(c);
	now = clock_raw_ns(); /* read after run_events(), so not before the ends that it noted */
	for (unsigned i = 0; i < c->nports; i++)
		if (portset_has(ports, i) && c->port[i]->run.active) {
			sending = true;
			if (c->port[i]->stuck_ticks >= STUCK_TICKS)
				return -ETIMEDOUT;
		}
	if (sending) {
		c->rx_moved_ns = 0;
		return 0;
	}
	if (ctl_frames_inside(c)) {
		c->rx_moved_ns = 0;
		note_end(c, now);
		return 0;
	}
	sum = rx_total(c);
	if (c->rx_moved_ns == 0 || sum != c->rx_sum) {
		c->rx_sum = sum;
		c->rx_moved_ns = now;
		for (unsigned w = 0; w < c->nworkers; w++)
			c->worker[w].quiet = turns_now(&c->worker[w]);
	}
	if ((now - c->rx_moved_ns >= QUIET_NS && all_looked(c)) || waited_enough(c, now)) {
		c->rx_moved_ns = 0;
		return 1;
	}
	return 0;
}
