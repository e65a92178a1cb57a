/* SPDX-License-Identifier: BSD-3-Clause */
/* The course of a measurement: figure after figure, searches, then half and full load. The streams
 * are set by commands (lb_plan.c), and all settings are put back when it ends. */
#include "lb_run.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPENS_UNKNOWN \
	20000.0 /* connections/s, where nobody has found how many packets it carries */
#define OPENS_MOST 500000.0
#define AROUND_NS CAPACITY_NS_AROUND
/* A table forgets a connection some time after its timeout: Linux looks for such once a minute. */
#define FORGETS_NS 65000000000ull
#define FORGETS_LOOK_NS 1000000000ull /* so often it is looked whether it has */
#define COUNTS_LEAST 0.99 /* of what was opened, else it is said what the device has counted */

/* ---- loads ---- */

double lb_easy(const struct lb_run *b, unsigned n, enum lb_figure figure, double most,
	       double unknown)
{
	for (unsigned i = 0; i < n; i++)
		if (b->point[i].figure == figure && b->point[i].median > 0)
			return fmin(b->point[i].median / 2, most);
	return unknown;
}

/* Packets/s that are no load for the device, for what comes before a measurement. */
static double easy_pps(const struct lb_run *b)
{
	return lb_easy(b, b->now, LB_TWO_WAY, OPENS_MOST, OPENS_UNKNOWN);
}

static double held_most(const struct lb_run *b)
{
	return fmin((double)b->tuples, (double)b->ask.held_most);
}

double lb_cps_most(const struct lb_run *b)
{
	uint64_t ns =
		b->ask.timeout_ns < b->ask.duration_ns ? b->ask.timeout_ns : b->ask.duration_ns;

	return b->ask.timeout_ns > 0 ? (double)b->tuples / ((double)ns / 1e9) : (double)INFINITY;
}

static uint64_t lb_longer(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* What is asked for at rate x (INFINITY: as fast as possible) of the figure that is measured. */
static void load_of(const struct lb_run *b, double x, struct lb_load *l, struct trial_spec *spec)
{
	enum lb_figure f = b->point[b->now].figure;
	uint64_t d = b->ask.duration_ns;
	double opens = easy_pps(b), rate = x;

	*l = (struct lb_load){.figure = f,
			      .tcp = f == LB_CPS || b->ask.tcp,
			      .timeout_ns = b->ask.timeout_ns,
			      .from = b->from,
			      .room = b->room};
	switch (f) {
	case LB_BPS:
		l->size = b->ask.size;
		break;
	case LB_ELEPHANT_BPS:
		l->size = LB_ELEPHANT_SIZE;
		break;
	case LB_TWO_WAY:
		l->connections = (uint64_t)fmin(LB_CONNECTIONS, (double)b->tuples);
		l->cps = opens;
		l->tps = isinf(x) ? 1 : x;
		break;
	case LB_CPS:
		l->cps = isinf(x) ? 1 : x;
		break;
	case LB_CC:
		l->connections = (uint64_t)(isinf(x) ? held_most(b) : x);
		/* of UDP nothing is sent before they are asked */
		l->cps = l->tcp ? opens : OPENS_MOST;
		/* each is asked twice, or once in a longer trial */
		l->tps = rate = fmin(2 * (double)l->connections / ((double)d / 1e9), opens);
		d = lb_longer(d, (uint64_t)(1.5e9 * (double)l->connections / rate));
		break;
	default:
		break;
	}
	*spec = (struct trial_spec){.tx = b->ask.client,
				    .rx = b->ask.servers,
				    .duration_ns = d,
				    .cfg = b->ask.cfg};
	spec->rate = (struct rate){.kind = isinf(rate) ? RATE_MAX : RATE_EACH,
				   .value = isinf(rate) ? 0 : rate};
	spec->cfg.learn = 0;
}

/* ---- settings ---- */

int lb_set_streams(struct cmd_run *r, const struct lb_run *b, const struct lb_load *l,
		   struct err *e)
{
	struct sbuf lines = {0};

	lb_plan(&b->client, true, l, &lines);
	for (unsigned i = 0; i < b->nservers; i++)
		lb_plan(&b->server[i], false, l, &lines);
	int rc = verb_lines(r, sbuf_str(&lines), NULL, e);
	sbuf_free(&lines);
	return rc;
}

/* ---- the course ---- */

static bool of_frames(const struct lb_run *b)
{
	return lb_about[b->point[b->now].figure].frames;
}

/* Chooses tuples for the next trial that the device does not know. false: it knows too many. */
static bool take_tuples(struct lb_run *b)
{
	struct lb_load l;
	struct trial_spec spec;
	uint64_t now = clock_raw_ns();

	b->from = 0;
	load_of(b, b->x, &l, &spec);
	struct lb_ring *ring = &b->ring[l.tcp];
	b->tcp = l.tcp;
	double need = l.connections > 0 ? (double)l.connections
		      : isinf(b->x)     ? (double)INFINITY
					: l.cps * (double)spec.duration_ns / 1e9;
	if (!of_frames(b) && !lb_ring_take(ring, need, now, b->ask.timeout_ns, &b->from))
		return false;
	if (!ring->turns)
		b->from = 0;
	return true;
}

/* `opened`: that many of its tuples have been used. */
static void give_tuples(struct lb_run *b, double opened)
{
	if (of_frames(b))
		lb_ring_all(&b->ring[b->tcp], clock_raw_ns());
	else
		lb_ring_took(&b->ring[b->tcp], opened, clock_raw_ns());
	b->taken = false;
}

static int begin_trial(struct cmd_run *r, struct lb_run *b, struct err *e)
{
	struct lb_load l;
	struct trial_spec spec;

	load_of(b, b->x, &l, &spec);
	int rc = lb_set_streams(r, b, &l, e);
	if (rc == 0)
		rc = trial_start(b->app->ctl, &spec, &b->trial, e);
	b->stage = LB_TRIES;
	b->begun = b->sent = false;
	b->watch = (struct lb_watch){0};
	b->counted = false;
	b->asked_ns = spec.duration_ns;
	b->began_ns = clock_raw_ns();
	b->ntrials += rc == 0;
	if (rc < 0)
		give_tuples(b, 0);
	return rc;
}

static void begin_search(struct lb_run *b)
{
	rate_search_begin(&b->search);
	b->what = LB_SEARCH;
	b->x = b->search.next;
}

/* On to the next figure that can be measured. 1: there is none. */
static int next_point(struct lb_run *b)
{
	b->repeat = 0;
	b->again = 0;
	begin_search(b);
	while (b->now < b->npoints && b->point[b->now].skipped)
		b->now++;
	return b->now == b->npoints;
}

/* Whether the device is asked before the next trial: before those of connections, and once before
 * all, since streams of more tuples than it has room for are another load than a high rate. */
static bool counts_wanted(const struct lb_run *b)
{
	return b->reader != NULL && (!of_frames(b) || b->ntrials == 0);
}

/* The device's first count is there. true: it still holds too much. */
static bool run_is_crowded(struct lb_run *b)
{
	if (b->point[b->now].figure != LB_CC)
		return false;
	return lb_counts_crowded(b, isinf(b->x) ? held_most(b) : b->x,
				 b->ask.timeout_ns + FORGETS_NS);
}

/* Begins the next trial, or a wait before it. A figure that cannot be tried is left with the
 * reason, unless nothing has been measured yet. 1: all is measured. */
static int go_on(struct cmd_run *r, struct lb_run *b, struct err *e)
{
	while (b->now < b->npoints) {
		struct err why = {.col = -1};
		b->taken = b->taken || take_tuples(b);
		if (!b->taken) {
			b->stage = LB_TUPLES;
			return 0;
		}
		if (counts_wanted(b) && !b->counted) {
			b->stage = LB_BEFORE;
			return lb_counts_begin(b, e);
		}
		int rc = begin_trial(r, b, &why);
		if (rc == 0)
			return 0;
		struct lb_point *p = &b->point[b->now];
		if (b->ntrials == 0) {
			*e = why;
			return rc;
		}
		if (p->nvalues == 0) {
			p->state = CAPACITY_INVALID;
			snprintf(p->why, sizeof(p->why), "%.600s", why.text);
		} else {
			lb_point_over(b, p);
		}
		b->now++;
		if (next_point(b) > 0)
			break;
	}
	return b->ask.look && b->look.doc == NULL ? lb_look_start(r, b) : 1;
}

/* One note may follow another. */
static void WR_PRINTF(2, 3) note_add(struct lb_point *p, const char *fmt, ...)
{
	size_t n = strlen(p->note);
	va_list ap;

	if (n > 0)
		n += (size_t)snprintf(p->note + n, sizeof(p->note) - n, "; ");
	if (n >= sizeof(p->note))
		return;
	va_start(ap, fmt);
	vsnprintf(p->note + n, sizeof(p->note) - n, fmt, ap);
	va_end(ap);
}

/* A trial of half or full load is made again where it told nothing. */
static void load_told(struct lb_run *b, const struct lb_trial *t)
{
	struct lb_point *p = &b->point[b->now];

	if ((t->told == RATE_UNTOLD || t->told == RATE_SHORT) && b->again++ < RATE_SEARCH_AGAIN)
		return;
	b->again = 0;
	if (t->told == RATE_UNTOLD || t->told == RATE_SHORT)
		note_add(p, "no latencies at %s load: %.260s", b->what == LB_HALF ? "half" : "full",
			 t->why);
	if (b->what == LB_HALF) {
		b->what = LB_FULL;
		b->x = p->median;
		return;
	}
	struct lb_said said;
	lb_counts_said(t, &said);
	double device = said.counted, opened = t->opened;
	if (device < COUNTS_LEAST * opened)
		note_add(
			p,
			"at full load the device has counted %.0f of %.0f connections that were opened: what it still knows is no new one",
			device, opened);
	if (t->told == RATE_FAILED)
		note_add(p, "when it was asked for once more: %.280s", t->why);
	b->now++;
	next_point(b);
}

static void search_told(struct lb_run *b, const struct lb_trial *t, double passed)
{
	struct lb_point *p = &b->point[b->now];
	bool deaf = b->search.low <= 0 && t->told == RATE_FAILED && !(passed > 0);

	rate_search_feed(&b->search, t->told, t->carried, passed);
	if (lb_about[p->figure].climbs && t->told == RATE_PASSED)
		rate_search_climb(&b->search);
	/* a device that is asked for far too much may carry nothing, too */
	if (deaf && isinf(t->asked) && !b->search.over) {
		rate_search_ease(&b->search);
		deaf = false;
	}
	b->x = b->search.next;
	if (deaf) {
		p->state = CAPACITY_INVALID;
		snprintf(p->why, sizeof(p->why), "nothing came through: %.600s", t->why);
		b->now++;
		next_point(b);
		return;
	}
	if (!b->search.over)
		return;
	lb_search_over(b, p);
	if (++b->repeat < b->ask.repeats && p->nvalues == b->repeat) {
		begin_search(b);
		return;
	}
	lb_point_over(b, p);
	if (p->median > 0) {
		b->what = LB_HALF;
		b->x = p->median / 2;
		return;
	}
	b->now++;
	next_point(b);
}

/* Connections that are open are the device's as long as it knows them: those that its table has no
 * room for, and those that it has counted twice, it had forgotten, whatever became of them.
 * *passed: how many it can hold. */
static void held_by_device(const struct lb_point *p, struct lb_trial *t, double *passed)
{
	struct lb_said said;
	char was[288];

	if (p->figure != LB_CC)
		return;
	lb_counts_said(t, &said);
	switch (lb_holds(t->opened, &said)) {
	case LB_IS_FULL:
		snprintf(was, sizeof(was), "%.280s", t->told == RATE_FAILED ? t->why : "");
		snprintf(
			t->why, sizeof(t->why),
			"its table of connections was full: %.0f were opened, and it held %.0f and has room for %.0f%s%s",
			t->opened, said.held, said.room, was[0] != '\0' ? "; " : "", was);
		t->told = RATE_FAILED;
		*passed = fmin(t->opened, said.room);
		break;
	case LB_FORGETS:
		if (t->told != RATE_PASSED)
			break;
		t->told = RATE_FAILED;
		snprintf(
			t->why, sizeof(t->why),
			"the device has counted %.0f connections, and %.0f were opened: it has forgotten some while they were open",
			said.counted, t->opened);
		break;
	case LB_HOLDS:
		break;
	}
}

static void trial_over(struct lb_run *b)
{
	struct lb_point *p = &b->point[b->now];
	double passed = 0;

	p->trial = xrealloc(p->trial, (p->ntrials + 1) * sizeof(*p->trial));
	struct lb_trial *t = &p->trial[p->ntrials++];
	lb_read(b, trial_result(b->trial), t, &passed);
	t->count = b->count;
	t->ncounts = b->ncounts;
	b->count = NULL;
	b->ncounts = 0;
	held_by_device(p, t, &passed);
	give_tuples(b, (double)trial_opened(b->trial));
	trial_free(b->trial);
	b->trial = NULL;
	b->gone_ns += b->ended_ns - b->began_ns;
	if (b->what == LB_SEARCH)
		search_told(b, t, passed);
	else
		load_told(b, t);
}

/* Its connections, of a trial that was still sending at `since_ns`. */
static void look_at_open(struct lb_run *b, uint64_t since_ns)
{
	struct calls_counts c;

	trial_calls_now(b->trial, &c);
	uint64_t over = c.succeeded, now = clock_raw_ns();
	for (unsigned i = 0; i < c.nfailed; i++)
		over += c.failed[i].n;
	struct lb_open open = {.begun = c.begun,
			       .open = c.begun > over ? c.begun - over : 0,
			       .ns = now - b->begun_ns};
	lb_watch_look(&b->watch, &open, now - since_ns, b->asked_ns);
}

/* Looks at what must be looked at while it goes on: CPUs and open connections. */
static void trial_marks(struct lb_run *b, uint64_t since_ns)
{
	if (!b->begun && trial_begun(b->trial)) {
		b->begun = true;
		b->begun_ns = clock_raw_ns();
		lb_cpu_mark(&b->ask.device, &b->mark);
	}
	if (b->begun && !b->sent && trial_sent(b->trial)) {
		b->sent = true;
		lb_cpu_mark(&b->ask.device, &b->mark_end);
	}
	if (b->begun && !b->sent)
		look_at_open(b, since_ns);
}

/* 1: it is over. */
static int trial_goes_on(struct lb_run *b, struct err *e)
{
	uint64_t since_ns = clock_raw_ns();
	int rc = trial_poll(b->trial, e);

	if (rc < 0)
		return rc;
	trial_marks(b, since_ns);
	bool counts = b->ncounts > 0;
	if (rc == 0)
		return counts && b->begun ? lb_counts_each(b, e) : 0;
	b->ended_ns = clock_raw_ns();
	if (!counts)
		return 1;
	b->stage = LB_AFTER;
	return 0;
}

/* 1: the trial may begin. */
static int before_goes_on(struct lb_run *b, struct err *e)
{
	if (!lb_device_asked(b->reader)) {
		if (clock_raw_ns() - b->count_ns < FORGETS_LOOK_NS)
			return 0;
		return lb_counts_begin(b, e);
	}
	int rc = lb_counts_before(b, e);
	if (rc <= 0)
		return rc;
	b->count_ns = clock_raw_ns();
	if (run_is_crowded(b))
		return 0;
	b->counted = true;
	if (of_frames(b))
		b->ncounts = 0;
	return 1;
}

int lb_run_poll(struct cmd_run *r, struct lb_run *b, struct err *e)
{
	int rc = 1;

	if (b->look.goes_on)
		return lb_look_poll(r, b);
	switch (b->stage) {
	case LB_TUPLES:
		break;
	case LB_BEFORE:
		rc = before_goes_on(b, e);
		break;
	case LB_TRIES:
		rc = trial_goes_on(b, e);
		break;
	case LB_AFTER:
		rc = lb_counts_after(b, e);
		break;
	}
	if (rc <= 0)
		return rc;
	if (b->stage == LB_TRIES || b->stage == LB_AFTER)
		trial_over(b);
	return go_on(r, b, e);
}

/* ---- begin and end ---- */

static int read_sides(struct lb_run *b, struct err *e)
{
	int rc = lb_side_read(b->app, b->ask.port, true, &b->client, e);

	for (unsigned i = 0; rc == 0 && i < ctl_nports(b->app->ctl); i++) {
		if (!portset_has(&b->ask.servers, i))
			continue;
		b->server = xrealloc(b->server, (b->nservers + 1) * sizeof(*b->server));
		rc = lb_side_read(b->app, i, false, &b->server[b->nservers++], e);
	}
	b->tuples = lb_tuples(&b->client);
	for (unsigned i = 0; i < ARRAY_SIZE(b->ring); i++)
		lb_ring_begin(&b->ring[i], &b->client);
	return rc;
}

static int check_tuples(const struct lb_run *b, struct err *e)
{
	double most = lb_cps_most(b) * (double)b->ask.duration_ns / 1e9;

	if (!b->ask.figure[LB_CPS] || most >= 100)
		return 0;
	return err_set(
		e, EINVAL,
		"port %u has %" PRIu64
		" tuples, of which a trial may open %.0f if the device must not meet one again within its timeout; 100 are needed: "
		"`set %u flow.sport 1024..65535`, more of `flow.src`, or a shorter device-timeout",
		b->ask.port, b->tuples, most, b->ask.port);
}

int lb_run_start(struct cmd_run *r, const struct lb_ask *ask, struct lb_run **out, struct err *e)
{
	struct lb_run *b = xcalloc(1, sizeof(*b));
	int rc;

	b->app = app_of(r);
	b->ask = *ask;
	b->room = (double)NAN;
	/* a rate is told no closer than by the resolution of the search, and as it was, not as it
	 * was asked for */
	b->ask.cfg.max_rate_error =
		lb_longer(b->ask.cfg.max_rate_error, (uint64_t)(RATE_SEARCH_RESOLUTION * 1e9));
	if (ask->device_cps != NULL) {
		b->reader = lb_device_new(ask->device_cps);
		b->ask.device_cps = lb_device_command(b->reader);
	}
	for (unsigned f = 0; f < LB_FIGURES; f++) {
		if (!ask->figure[f])
			continue;
		struct lb_point *p = &b->point[b->npoints++];
		p->figure = (enum lb_figure)f;
		p->skipped = ask->tcp && lb_about[f].udp;
		if (p->skipped)
			snprintf(p->why, sizeof(p->why),
				 "it is of UDP, and the device carries TCP");
	}
	rc = read_sides(b, e);
	if (rc == 0)
		rc = check_tuples(b, e);
	if (rc == 0) {
		b->saved = ctl_save(b->app->ctl);
		rc = next_point(b) > 0 && !ask->look
			     ? err_set(e, EINVAL,
				       "none of these figures can be measured with TCP alone; cps and cc can")
			     : go_on(r, b, e);
	}
	if (rc < 0) {
		lb_run_free(r, b);
		return rc;
	}
	*out = b;
	return 0;
}

void lb_run_end(struct lb_run *b)
{
	struct lb_point *p = &b->point[b->now];

	if (b->now == b->npoints)
		return;
	if (b->what == LB_SEARCH && b->search.low > 0 && !b->search.over) {
		p->found[p->nvalues] = CAPACITY_LEAST;
		p->value[p->nvalues++] = b->search.low;
		snprintf(p->why, sizeof(p->why), "its search was ended");
	}
	lb_point_over(b, p);
}

const struct lb_ask *lb_run_ask(const struct lb_run *b)
{
	return &b->ask;
}

const struct lb_point *lb_run_points(const struct lb_run *b, unsigned *n)
{
	*n = b->npoints;
	return b->point;
}

bool lb_run_looked(const struct lb_run *b)
{
	return b->look.doc != NULL;
}

/* A trial of all connections that are tried, where nobody has found how fast they open: until they
 * are there, and until each was asked. */
static uint64_t held_ns(const struct lb_ask *ask)
{
	double asking_s = (double)ask->held_most / OPENS_UNKNOWN,
	       opening_s = ask->tcp ? asking_s : (double)ask->held_most / OPENS_MOST;

	return (uint64_t)(1e9 * opening_s) +
	       lb_longer(ask->duration_ns, (uint64_t)(1.5e9 * asking_s));
}

uint64_t lb_run_most_ns(const struct lb_ask *ask)
{
	uint64_t each = 0;

	for (unsigned f = 0; f < LB_FIGURES; f++)
		if (ask->figure[f] && !(ask->tcp && lb_about[f].udp))
			each += (f == LB_CC ? held_ns(ask) : ask->duration_ns) + ask->timeout_ns +
				AROUND_NS +
				(f == LB_CC && ask->device_cps != NULL ? FORGETS_NS : 0);
	return each * (ask->repeats * RATE_SEARCH_MOST + 2 * (RATE_SEARCH_AGAIN + 1)) +
	       (ask->look ? LB_LOOK_NS : 0);
}

/* How many trials a search is likely to take from now on. As many connections as can be tried are
 * held, or a table is full, which tells how many are. */
static unsigned search_left(const struct rate_search *s, enum lb_figure f)
{
	return f == LB_CC && isinf(s->next) && !s->over ? 2 : rate_search_rest(s);
}

/* How many trials of a figure are likely from now on. */
static unsigned trials_left(const struct lb_run *b, unsigned i)
{
	struct rate_search whole;
	enum lb_figure f = b->point[i].figure;

	rate_search_begin(&whole);
	if (b->point[i].skipped)
		return 0;
	if (i > b->now)
		return b->ask.repeats * search_left(&whole, f) + 2;
	if (b->what != LB_SEARCH)
		return 1 + (b->what == LB_HALF);
	return 2 + search_left(&b->search, f) +
	       (b->ask.repeats - b->repeat - 1) * search_left(&whole, f);
}

/* How long the device is likely to need until it has forgotten enough of those of the trial before;
 * as long as nobody knows for how many it has room, its timeout. */
static uint64_t forgets_ns(const struct lb_run *b)
{
	if (!isfinite(b->room))
		return b->ask.timeout_ns;
	return 2 * held_most(b) > b->room ? b->ask.timeout_ns + FORGETS_NS / 2 : 0;
}

/* How long all trials are likely to take from now on, if they are like those that were. Those of
 * connections that are held have a length of their own, and the device forgets them in between. */
static uint64_t left_ns(const struct lb_run *b)
{
	uint64_t each = b->ntrials > 1 ? b->gone_ns / (b->ntrials - 1)
				       : b->ask.duration_ns + AROUND_NS,
		 sum = 0;

	for (unsigned i = b->now; i < b->npoints; i++) {
		unsigned n = trials_left(b, i);
		if (b->point[i].figure != LB_CC) {
			sum += n * each;
			continue;
		}
		sum += n * held_ns(&b->ask);
		/* before the very first trial there is nothing to forget */
		if (b->ask.device_cps != NULL && n > 0)
			sum += (n - (b->ntrials <= 1 && i == b->now)) * forgets_ns(b);
	}
	return sum;
}

void lb_run_tells(const struct lb_run *b, struct cmd_progress *out)
{
	static const char *const words[] = {
		[LB_SEARCH] = "search", [LB_HALF] = "half load", [LB_FULL] = "full load"};
	const char *title = b->now < b->npoints ? lb_about[b->point[b->now].figure].title : "done";

	if (b->look.goes_on) {
		lb_look_tells(b, out->text, sizeof(out->text));
		cmd_progress_time(out, b->gone_ns, b->gone_ns + LB_LOOK_NS);
		return;
	}
	cmd_progress_time(out, b->gone_ns, b->gone_ns + left_ns(b));
	if (b->stage == LB_TUPLES || b->crowded_ns > 0)
		snprintf(out->text, sizeof(out->text),
			 "lb, figure %u of %u: %s, waiting until the device has forgotten",
			 b->now + 1, b->npoints, title);
	else
		snprintf(out->text, sizeof(out->text),
			 "lb, figure %u of %u: %s, %s %u of %u, trial %u", b->now + 1, b->npoints,
			 title, words[b->what], b->what == LB_SEARCH ? b->repeat + 1 : 1,
			 b->what == LB_SEARCH ? b->ask.repeats : 1, b->ntrials);
}

void lb_run_free(struct cmd_run *r, struct lb_run *b)
{
	if (b == NULL)
		return;
	trial_free(b->trial);
	if (b->saved != NULL)
		ctl_restore(app_of(r)->ctl, b->saved);
	ctl_saved_free(b->saved);
	lb_device_free(b->reader);
	lb_look_free(&b->look);
	free(b->count);
	for (unsigned i = 0; i < b->npoints; i++) {
		for (unsigned k = 0; k < b->point[i].ntrials; k++)
			free(b->point[i].trial[k].count);
		free(b->point[i].trial);
	}
	lb_side_free(&b->client);
	for (unsigned i = 0; i < b->nservers; i++)
		lb_side_free(&b->server[i]);
	free(b->server);
	free(b);
}
