/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows of four workers, both ends of a wire: no cache line has memory that two of them write. What
 * a worker writes is listed here by its addresses, while connections are open. */
/* before the one that has a variable `c` for all */
#include "flow_int.h"

#include "ctl_live.h"
#include "flows_ctl.h"

#define WORKERS 4
#define MOST 4096

static struct memory {
	uintptr_t from, to; /* lines */
	unsigned worker;
	const char *what;
} memory[MOST];
static unsigned nmemory;

static void add(const void *at, size_t bytes, unsigned worker, const char *what)
{
	assert_non_null(at);
	assert_true(nmemory < MOST);
	memory[nmemory++] = (struct memory){(uintptr_t)at / CACHE_LINE,
					    ((uintptr_t)at + bytes - 1) / CACHE_LINE, worker, what};
}

static void add_machine(const struct flow_machine *m, unsigned worker)
{
	add(m, sizeof(*m), worker, "machine");
	add(m->conn, m->nconn * sizeof(*m->conn), worker, "connections");
	add(m->free, m->nconn * sizeof(*m->free), worker, "free cells");
	add(m->opened, m->nconn * sizeof(*m->opened), worker, "times of opens");
	add(m->bucket, (m->bucket_mask + 1ull) * sizeof(*m->bucket), worker, "buckets");
	add(m->chunk, m->nchunk * sizeof(*m->chunk), worker, "chunks");
	add(m->content, FLOW_CONTENTS * sizeof(*m->content), worker, "contents");
	add(m->side.mem, (size_t)m->side.n * m->side.size, worker, "side cells");
	add(m->node.mem, (size_t)m->node.n * m->node.size, worker, "nodes");
	add(m->record.mem, (size_t)m->record.n * m->record.size, worker, "cells of records");
	add(m->path.mem, (size_t)m->path.n * m->path.size, worker, "paths");
}

static void add_hist(const struct hist *h, unsigned worker)
{
	if (h != NULL)
		add(h, hist_size(h->shape), worker, "histogram");
}

static void add_port(const struct ctl_port *cp)
{
	const struct flows_port *p = flows_of(cp);

	assert_int_equal(p->nqueues, WORKERS);
	for (unsigned q = 0; q < p->nqueues; q++) {
		const struct flows_queue *x = &p->engine->queue[q];
		unsigned worker = cp->tx_worker[q];

		add(x->state, sizeof(*x->state), worker, "state");
		add(x->state->mem, flows_mem_size(), worker, "memory of the task");
		add(p->engine->errors[q], sizeof(struct flows_errors), worker, "errors");
		add(p->share[q], sizeof(*p->share[q]), worker, "share of the Tx queue");
		add_machine(x->machine, worker);
		for (const struct flows_ver *v = p->engine->ver; v != NULL; v = v->next) {
			add(&v->wl[q].wl, sizeof(v->wl[q].wl), worker, "workload");
			add(&v->v.handed[q], sizeof(cell_t) * 2, worker, "what was handed over");
		}
		for (const struct flows_set *s = p->engine->set; s != NULL; s = s->next) {
			add(s->tuples[q], sizeof(*s->tuples[q]), worker, "tuples");
			if (s->tuples[q]->slot != NULL)
				add(s->tuples[q]->slot, s->tuples[q]->slot_bytes, worker, "slots");
		}
		for (const struct flows_one *f = p->first; f != NULL; f = f->next) {
			const struct flows_state_of *s = f->state[q];

			add(s, sizeof(*s), worker, "counters of the flow");
			add(f->own[q], sizeof(*f->own[q]), worker, "counters of the workload");
			add_hist(s->connect, worker);
			add_hist(s->first_byte, worker);
			add_hist(s->whole, worker);
			add_hist(s->since_due, worker);
			add_hist(s->close, worker);
		}
	}
}

static int by_address(const void *a, const void *b)
{
	const struct memory *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

static void flow(unsigned port, enum flows_role role)
{
	struct flows_cfg *f = work_stream_cfg_own(stream(port, 0), &work_flows);

	f->role = role;
	f->connections = 1000;
	f->close.keep = 1;
	f->cps = (struct rate){.kind = RATE_PPS, .value = 2000};
	ctl_stream_frame_follow(ctl_stream_cfg(c, port, 0));
}

static void test_no_line_is_written_by_two_workers(void **state)
{
	struct portset both = only(0);
	bool seen[WORKERS + 1] = {false};
	struct err e = {.text = ""};

	(void)state;
	portset_add(&both, 1);
	fresh(0, 1);
	fresh(1, 1);
	flow(0, FLOWS_CLIENT);
	flow(1, FLOWS_SERVER);
	ctl_turn(c);
	if (ctl_start(c, &both, 200000000, &e) < 0)
		fail_msg("%s", e.text);
	for (unsigned i = 0; i < 100; i++) {
		ctl_turn(c);
		pause_ms(1);
	}
	add_port(c->port[0]);
	add_port(c->port[1]);
	ctl_stop(c, &both);
	settle(0);
	settle(1);
	qsort(memory, nmemory, sizeof(memory[0]), by_address);
	for (unsigned i = 0; i + 1 < nmemory; i++) {
		const struct memory *a = &memory[i], *b = &memory[i + 1];

		seen[a->worker] = true;
		if (a->to >= b->from && a->worker != b->worker)
			fail_msg("%s of worker %u and %s of worker %u share a cache line", a->what,
				 a->worker, b->what, b->worker);
	}
	for (unsigned i = 0; i < WORKERS; i++)
		assert_true(seen[i] || seen[i + 1]);
	assert_in_range(nmemory, WORKERS * 2 * 20, MOST);
}

int main(void)
{
	static const char *const specs[] = {"wire"};
	static const char *const maps[] = {"1-4.0", "1-4.1"};
	const struct ctl_opts o = {
		.prog = "flows_lines_test", .ports = specs, .nports = 1, .maps = maps, .nmaps = 2};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_line_is_written_by_two_workers),
	};

	if (!live_open_on(o, "(0-2)@%d,(3-4)@%d"))
		return 77;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	ctl_close(c);
	return failed;
}
