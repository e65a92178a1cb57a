/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes, starts and stops workers. This file also tells what control knows of a worker beside its
 * cells: its CPU, how long it has waited for a CPU, and which ports it serves. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>

#include "ctl_int.h"

/* Returns the CPU that an lcore is pinned to; -1: it may run on several. rte_lcore_to_cpu_id() does
 * not help, since it returns the number of a core within its socket. */
int workers_lcore_cpu(unsigned lcore)
{
	rte_cpuset_t set = rte_lcore_cpuset(lcore);

	if (CPU_COUNT(&set) != 1)
		return -1;
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set))
			return i;
	return -1;
}

int workers_index(const struct ctl *c, unsigned lcore)
{
	for (unsigned w = 0; w < c->nworkers; w++)
		if (c->worker[w].lcore == lcore)
			return (int)w;
	return -1;
}

/* Is there a CPU on which both this lcore and another one may run? Then the worker yields while it
 * has nothing to do. */
static bool shares_cpu(unsigned lcore)
{
	rte_cpuset_t mine = rte_lcore_cpuset(lcore), other, both;
	unsigned l;

	RTE_LCORE_FOREACH(l) {
		if (l == lcore)
			continue;
		other = rte_lcore_cpuset(l);
		CPU_AND(&both, &mine, &other);
		if (CPU_COUNT(&both) > 0)
			return true;
	}
	return false;
}

int workers_make(struct ctl *c, struct err *e)
{
	c->worker = xcalloc(c->pin.nlcores, sizeof(*c->worker));
	c->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (c->wake_fd < 0)
		return err_set(e, ENODEV, "no descriptor for what workers have to say: %s",
			       strerror(errno));
	for (unsigned i = 0; i < c->place.n; i++) {
		unsigned lcore = c->place.q[i].lcore;
		char name[32];
		if (workers_index(c, lcore) >= 0)
			continue;
		struct ctl_worker *cw = &c->worker[c->nworkers];
		int node = (int)rte_lcore_to_socket_id(lcore);
		cw->w = rte_zmalloc_socket("worker", sizeof(*cw->w), CACHE_LINE, node);
		if (cw->w == NULL)
			cw->w = rte_zmalloc("worker", sizeof(*cw->w), CACHE_LINE);
		if (cw->w == NULL)
			return err_set(e, ENODEV, "no memory for worker %u", lcore);
		cw->lcore = cw->w->lcore = lcore;
		cw->cpu = workers_lcore_cpu(lcore);
		cw->node = node;
		cw->wait = cw->cycles_per_packet = (double)NAN;
		cw->w->shares_cpu = shares_cpu(lcore);
		cw->w->wake_fd = &c->wake_fd;
		snprintf(name, sizeof(name), "wr%u", lcore);
		c->nworkers++;
		int rc = mbox_open(&cw->w->mbox, name, SOCKET_ID_ANY, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}

bool worker_waited(const struct ctl_worker *cw, uint64_t *ns)
{
	uint64_t tid = cell_get(&cw->tid);
	char path[64];
	bool got = false;

	snprintf(path, sizeof(path), "/proc/self/task/%" PRIu64 "/schedstat", tid);
	FILE *f = tid != 0 ? fopen(path, "re") : NULL;
	if (f != NULL) {
		got = fscanf(f, "%*u %" SCNu64, ns) == 1;
		fclose(f);
	}
	return got;
}

void worker_mark(struct ctl_worker *cw, enum dp_mark m)
{
	cell_add(&cw->w->stalls.asked[m], 1);
}

void worker_clear(struct ctl_worker *cw)
{
	cw->base_stalls = cell_get(&cw->w->stalls.count);
	cw->base_stall_cycles = cell_get(&cw->w->stalls.cycles);
	worker_mark(cw, DP_MARK_CLEAR);
	if (!worker_waited(cw, &cw->base_waited_ns))
		cw->base_waited_ns = 0;
}

bool worker_serves(const struct ctl *c, unsigned worker, const struct portset *rx,
		   const struct portset *tx)
{
	for (unsigned i = 0; i < c->place.n; i++) {
		const struct place_queue *q = &c->place.q[i];
		const struct portset *of = q->tx ? tx : rx;
		if (q->lcore == c->worker[worker].lcore && of != NULL && portset_has(of, q->port))
			return true;
	}
	return false;
}

static int worker_thread(void *arg)
{
	struct ctl_worker *cw = arg;

	cell_set(&cw->tid, (uint64_t)rte_gettid());
	return dp_worker_main(cw->w);
}

int workers_launch(struct ctl *c, struct err *e)
{
	for (unsigned i = 0; i < c->nports; i++)
		c->port[i]->touched = WHY_ALL;
	plan_post_all(c);
	for (unsigned w = 0; w < c->nworkers; w++) {
		struct ctl_worker *cw = &c->worker[w];
		if (cw->posted == NULL) /* it has no queue: it gets an empty plan */
			cw->dirty = true;
		int rc = rte_eal_remote_launch(worker_thread, cw, cw->lcore);
		if (rc < 0)
			return err_set(e, ENODEV, "worker lcore %u does not start: %s", cw->lcore,
				       rte_strerror(-rc));
		cw->launched = true;
	}
	return 0;
}

/* The longest wait for workers at the end. On a busy machine a worker may have no CPU for long, and
 * waiting costs nothing at this point. */
#define STOP_NS 5000000000ull

static bool stop_worker(struct ctl *c, unsigned w, struct clock_wait *wait)
{
	struct ctl_worker *cw = &c->worker[w];
	struct dp_plan *p = plan_build(c, w, true);

	cw->dirty = false;
	p->quit = true;
	do {
		if (plan_post(c, cw, p))
			return true;
		/* the ring is full: the worker had no CPU for long */
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	} while (clock_waited(wait, clock_raw_ns()) <= STOP_NS);
	plan_free(c, p);
	return false;
}

bool workers_stop(struct ctl *c)
{
	struct clock_wait wait = {0};
	bool all = true;

	for (unsigned w = 0; w < c->nworkers; w++)
		if (c->worker[w].launched)
			all &= stop_worker(c, w, &wait);
	all &= plan_wait_acks(c, STOP_NS);
	for (unsigned w = 0; w < c->nworkers && all; w++)
		if (c->worker[w].launched)
			rte_eal_wait_lcore(c->worker[w].lcore);
	return all;
}
