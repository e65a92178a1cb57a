/* SPDX-License-Identifier: BSD-3-Clause */
/* Control's half of recorders: from the command to the queues and tasks of workers, and back. */
#include "recorder_ctl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"

#define QUIET_NS 10000000ull /* when no frame has come for so long, none is waited for */
#define LOOK_NS 1000000ull
#define MB 1000000.0

const char *const recorder_kinds[] = {
	[DP_FAULT_LOSS] = "loss",       [DP_FAULT_DUPLICATE] = "duplicate",
	[DP_FAULT_REORDER] = "reorder", [DP_FAULT_CORRUPT] = "corrupt",
	[DP_FAULT_LATENCY] = "latency", NULL};
_Static_assert(RECORDER_KINDS == DP_FAULTS && RECORDER_LATENCY == DP_FAULT_LATENCY, "kinds");
_Static_assert(RECORDER_FRAMES_LEAST == RECORDER_FRAMES_MIN, "frames");

/* ---- making and freeing ---- */

void recorder_free_queues(struct recorder *r)
{
	for (unsigned i = 0; i < r->nqueues; i++)
		recorder_queue_free(r->queue[i]);
	for (unsigned i = 0; i < r->nports * r->nworkers && r->state != NULL; i++)
		rte_free(r->state[i]);
	free(r->queue);
	free(r->state);
	free(r->group);
	r->queue = NULL;
	r->state = NULL;
	r->group = NULL;
	r->nqueues = 0;
	if (r->dir >= 0)
		close(r->dir);
	r->dir = -1;
}

void recorder_free(struct recorder *r)
{
	if (r == NULL)
		return;
	recorder_free_queues(r);
	recorder_file_free(r->file);
	free(r->kept);
	free((char *)r->spec.dir);
	free(r);
}

static int no_memory(const struct recorder_spec *s, double bytes, struct err *e)
{
	return err_set(
		e, ENOMEM,
		"no memory for the recorder: it takes %.0f MB; `frames %u snap %u` or fewer ports take less",
		bytes / MB, RTE_MAX(s->frames / 4, RECORDER_FRAMES_MIN), RECORDER_SNAP_LEAST);
}

/* What a queue has to tell its watcher to, so that the recorder knows what it wants to: a number
 * that was missed and comes after all is no loss. */
static uint32_t kinds_told(const struct recorder_what *w)
{
	uint32_t kinds = w->kinds;

	if ((kinds & DP_FAULT_BIT(LOSS)) != 0)
		kinds |= DP_FAULT_BIT(REORDER) | DP_FAULT_BIT(CORRUPT);
	return kinds;
}

/* Adds the queue of one direction. */
static int add_queue(struct ctl *c, struct recorder *r, const struct ctl_port *cp, bool tx,
		     unsigned queue, struct err *e)
{
	int worker = tx ? cp->tx_worker[queue] : cp->rx_worker[queue];
	int node = c->worker[worker].node;
	struct recorder_state **state = &r->state[(r->nports - 1) * r->nworkers + (unsigned)worker];
	struct recorder_queue *q = recorder_queue_new(r->spec.frames, r->spec.snap, node);

	if (*state == NULL)
		*state = state_new(sizeof(**state), node);
	if (q == NULL || *state == NULL) {
		recorder_queue_free(q);
		return no_memory(&r->spec, (double)r->memory_bytes, e);
	}
	q->group = r->group;
	q->port = (uint16_t)cp->p.id;
	q->queue = (uint16_t)queue;
	q->tx = tx;
	q->several = !tx && cp->p.nrxq > 1;
	q->watcher = (struct dp_watcher){.kinds = kinds_told(&r->spec.what),
					 .latency_cycles = clock_cycles(r->spec.what.latency_ns),
					 .fault = recorder_fault,
					 .state = q};
	q->tap = (struct dp_tx_tap){.offered = recorder_offered,
				    .taken = recorder_taken,
				    .state = q};
	r->queue = xrealloc(r->queue, (r->nqueues + 1) * sizeof(*r->queue));
	r->queue[r->nqueues++] = q;
	return 0;
}

static int add_port(struct ctl *c, struct recorder *r, const struct ctl_port *cp, struct err *e)
{
	size_t was = (size_t)r->nports * r->nworkers;
	int rc = 0;

	r->nports++;
	r->state = xrealloc(r->state, (was + r->nworkers) * sizeof(*r->state));
	memset(r->state + was, 0, r->nworkers * sizeof(*r->state));
	for (unsigned q = 0; q < cp->p.nrxq && rc == 0; q++)
		rc = add_queue(c, r, cp, false, q, e);
	for (unsigned q = 0; q < cp->p.ntxq && rc == 0; q++)
		rc = add_queue(c, r, cp, true, q, e);
	return rc;
}

static int recorder_open_dir(struct recorder *r, struct err *e)
{
	const char *dir = r->spec.dir[0] != '\0' ? r->spec.dir : ".";

	/* Opening a folder never waits. */
	r->dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (r->dir >= 0 && faccessat(r->dir, ".", W_OK | X_OK, AT_EACCESS) == 0)
		return 0;
	return err_set(
		e, EINVAL,
		"no file can be made in '%.400s': %s; give another folder: recorder 0 on to /tmp",
		dir, strerror(errno));
}

/* ---- the begin ---- */

static bool recorder_has(const struct ctl *c, const struct recorder *r, const struct portset *ports)
{
	for (unsigned i = 0; i < c->nports; i++)
		if (portset_has(ports, i) && portset_has(&r->spec.ports, i))
			return true;
	return false;
}

static int recorder_may(const struct ctl *c, const struct recorder_spec *spec, struct err *e)
{
	uint64_t queues = 0;

	for (unsigned i = 0; i < c->nports; i++) {
		const struct ctl_port *cp = c->port[i];
		const struct recorder *r = recorder_of_port(cp)->now;
		if (!portset_has(&spec->ports, i))
			continue;
		if (!cp->p.used || cp->p.nrxq + cp->p.ntxq == 0)
			return err_set(e, EINVAL,
				       "port %u (%s) has no queue, so there is nothing to record",
				       i, cp->p.name);
		if (r != NULL && r->stage != RECORDER_OFF)
			return err_set(
				e, EBUSY,
				"port %u is recorded already; `recorder %u off` ends that, `show recorder` says more",
				i, i);
		queues += cp->p.nrxq + cp->p.ntxq;
	}
	uint64_t bytes = queues * recorder_queue_bytes(spec->frames, spec->snap);
	if (bytes > RECORDER_MEMORY_MOST)
		return err_set(
			e, EINVAL,
			"%u frames of %u bytes for %llu queues and directions take %.0f MB, and a recorder may take %.0f MB; "
			"fewer `frames`, a smaller `snap` or fewer ports take less",
			spec->frames, spec->snap, (unsigned long long)queues, (double)bytes / MB,
			(double)RECORDER_MEMORY_MOST / MB);
	return 0;
}

static void recorder_replan(struct ctl *c, const struct recorder *r)
{
	for (unsigned w = 0; w < c->nworkers; w++)
		if (worker_serves(c, w, &r->spec.ports, &r->spec.ports))
			ctl_replan(c, w);
}

static void recorder_watch(struct ctl *c, const struct recorder *r, bool on)
{
	for (unsigned i = 0; i < r->nqueues; i++)
		if (!r->queue[i]->tx)
			ctl_faults_to(c, c->port[r->queue[i]->port], r->queue[i]->queue,
				      on ? &r->queue[i]->watcher : NULL);
}

static int recorder_make(struct ctl *c, struct recorder *r, struct err *e)
{
	int rc = recorder_open_dir(r, e);

	r->group = xcalloc_lines(sizeof(*r->group));
	r->group->kinds = r->spec.what.kinds;
	r->group->quiet_cycles = clock_cycles(QUIET_NS);
	r->group->look_cycles = clock_cycles(LOOK_NS);
	cell_set(&r->group->why, RECORDER_BUSY);
	for (unsigned i = 0; i < c->nports && rc == 0; i++)
		if (portset_has(&r->spec.ports, i)) {
			r->memory_bytes += (c->port[i]->p.nrxq + c->port[i]->p.ntxq) *
					   recorder_queue_bytes(r->spec.frames, r->spec.snap);
			rc = add_port(c, r, c->port[i], e);
		}
	return rc == 0 && ctl_writer(c, e) == NULL ? -ENODEV : rc;
}

/* Frees recorders that are off and that no port shows any more. */
static void recorders_sweep(struct ctl *c)
{
	struct recorder **at = &recorders_of(c)->first, *r;

	while ((r = *at) != NULL) {
		bool shown = r->stage != RECORDER_OFF;
		for (unsigned i = 0; i < c->nports; i++)
			shown |= recorder_of_port(c->port[i])->now == r;
		if (shown) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		recorder_free(r);
	}
}

int recorder_on(struct ctl *c, const struct recorder_spec *spec, struct sbuf *warn, struct err *e)
{
	struct recorders *all = recorders_of(c);
	int rc = recorder_may(c, spec, e);

	if (rc < 0)
		return rc;
	struct recorder *r = xcalloc(1, sizeof(*r));
	r->spec = *spec;
	r->spec.dir = xstrdup(spec->dir);
	r->dir = -1;
	r->nworkers = c->nworkers;
	rc = recorder_make(c, r, e);
	if (rc < 0) {
		recorder_free(r);
		return rc;
	}
	r->next = all->first;
	all->first = r;
	for (unsigned i = 0; i < c->nports; i++)
		if (portset_has(&spec->ports, i))
			recorder_of_port(c->port[i])->now = r;
	recorders_sweep(c);
	recorder_watch(c, r, true);
	recorder_replan(c, r);
	if (!ctl_faults_told(c))
		sbuf_add(
			warn,
			"recorder: no stream carries probes, so nothing will tell faults: `set <streams> probe on` before a start; "
			"`recorder <ports> dump` writes what is in memory at any time\n");
	return 0;
}

/* ---- the end ---- */

unsigned recorder_off(struct ctl *c, const struct portset *ports)
{
	unsigned n = 0;

	for (struct recorder *r = recorders_of(c)->first; r != NULL; r = r->next) {
		if (r->stage != RECORDER_ON || !recorder_has(c, r, ports))
			continue;
		r->stage = RECORDER_ENDING;
		recorder_watch(c, r, false);
		recorder_replan(c, r);
		n++;
	}
	return n;
}

bool recorder_written(const struct ctl *c, const struct portset *ports)
{
	for (const struct recorder *r = recorders_of(c)->first; r != NULL; r = r->next)
		if (r->stage == RECORDER_ENDING && recorder_has(c, r, ports))
			return false;
	return true;
}

/* ---- a dump ---- */

int recorder_dump(struct ctl *c, const struct portset *ports, struct err *e)
{
	unsigned n = 0;

	for (struct recorder *r = recorders_of(c)->first; r != NULL; r = r->next) {
		if (r->stage != RECORDER_ON || !recorder_has(c, r, ports))
			continue;
		uint64_t word = __atomic_load_n(&r->group->word, __ATOMIC_ACQUIRE);
		if (r->file != NULL || r->dump || word / 2 != r->done / 2)
			return err_set(
				e, EBUSY,
				"the recorder is writing what it had when something happened; try again in a moment");
		if (recorders_of(c)->files >= RECORDER_FILES_MOST)
			return err_set(
				e, ENOSPC,
				"the recorder has written %u files, which is all that one run of the program writes",
				RECORDER_FILES_MOST);
		n++;
	}
	if (n == 0)
		return err_set(
			e, EINVAL,
			"none of these ports is recorded; `recorder <ports> on` begins that");
	for (struct recorder *r = recorders_of(c)->first; r != NULL; r = r->next) {
		if (r->stage != RECORDER_ON || !recorder_has(c, r, ports))
			continue;
		r->dump = true;
		/* the next even number, whoever else makes the word odd meanwhile */
		uint64_t word = __atomic_load_n(&r->group->word, __ATOMIC_ACQUIRE);
		while (word / 2 == r->done / 2 &&
		       !__atomic_compare_exchange_n(&r->group->word, &word, (word | 1) + 1, false,
						    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			;
	}
	return 0;
}

bool recorder_dumping(const struct ctl *c, const struct portset *ports)
{
	for (const struct recorder *r = recorders_of(c)->first; r != NULL; r = r->next)
		if (r->dump && r->stage == RECORDER_ON && recorder_has(c, r, ports))
			return true;
	return false;
}

/* ---- plans ---- */

static void release_recorder(struct ctl *c, void *recorder)
{
	(void)c;
	((struct recorder *)recorder)->refs--;
}

/* The place of a port among those of its recorder. */
static unsigned place_of_port(const struct recorder *r, unsigned port)
{
	unsigned place = 0;

	for (unsigned i = 0; i < port; i++)
		place += portset_has(&r->spec.ports, i);
	return place;
}

/* The queues of this port that the worker serves become a task and its taps. This work comes behind
 * those that tell faults in the list of works, so its taps stand before theirs. */
static void recorder_fill(struct ctl *c, struct ctl_port *cp, struct plan_writer *p)
{
	struct recorder *r = recorder_of_port(cp)->now;
	unsigned worker = plan_worker(p);

	(void)c;
	if (r == NULL || r->stage != RECORDER_ON)
		return;
	struct recorder_job *j =
		plan_carve(p, sizeof(*j) + r->nqueues * sizeof(struct recorder_job_queue));
	j->group = r->group;
	for (unsigned i = 0; i < r->nqueues; i++) {
		struct recorder_queue *q = r->queue[i];
		if (q->port != cp->p.id ||
		    (q->tx ? cp->tx_worker : cp->rx_worker)[q->queue] != (int)worker)
			continue;
		j->queue[j->nqueues++] =
			(struct recorder_job_queue){.q = q,
						    .nshares = q->tx ? cp->p.tx[q->queue].n : 0,
						    .share = q->tx ? cp->p.tx[q->queue].share
								   : NULL};
		struct dp_duty *duty = q->tx ? NULL : plan_duty(p, cp, q->queue);
		if (duty != NULL)
			plan_tap(duty, &(struct dp_tap){.rx = recorder_rx, .state = q});
	}
	if (j->nqueues == 0)
		return;
	unsigned at = place_of_port(r, cp->p.id) * r->nworkers + worker;
	plan_task(p,
		  &(struct dp_task){.kind = &dp_kind_recorder,
				    .state = &r->state[at]->base,
				    .job = j},
		  NULL);
	r->refs++;
	plan_keep(p, r, release_recorder);
}

static void recorders_end(struct ctl *c)
{
	struct recorders *all = recorders_of(c);

	while (all->first != NULL) {
		struct recorder *r = all->first;
		all->first = r->next;
		recorder_free(r);
	}
}

const struct work work_recorder = {
	.name = "recorder",
	.port_bytes = sizeof(struct recorder_port),
	.ctl_bytes = sizeof(struct recorders),
	.ctl_close = recorders_close,
	.ctl_end = recorders_end,
	.fill = recorder_fill,
	.turn = recorders_turn,
	.next_ns = recorders_next_ns,
};
