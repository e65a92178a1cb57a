/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows of four workers, both ends of a wire: no cache line has memory that two of them write. What
 * a worker writes is listed here by its addresses, while connections are open. */
/* before the one that has a variable `c` for all */
#include "flow_servers.h"

#include "ctl_live.h"
#include "flows_ctl.h"
#include "host_ctl.h"
#include "host_face.h"

#define WORKERS 4
#define MOST 4096

static struct memory {
	uintptr_t from, to; /* lines */
	unsigned worker;
	const char *what;
} memory[MOST];
static unsigned nmemory, weighted;

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

/* The rings between workers are what two of them touch by nature: those lines are left out by name
 * here, where it is looked that each has what one end writes, or the frames. */
static void add_rings(const struct flows_hand *h, struct rte_ring *const *ring)
{
	for (unsigned i = 0; i < h->n; i++) {
		const struct rte_ring *r = ring[i];
		uintptr_t put, take, frames;

		if (i == h->me)
			continue;
		put = (uintptr_t)&r->prod / CACHE_LINE;
		take = (uintptr_t)&r->cons / CACHE_LINE;
		frames = (uintptr_t)(r + 1);
		assert_true(put != take && take != frames / CACHE_LINE &&
			    put != frames / CACHE_LINE);
		assert_true(((uintptr_t)&r->prod + sizeof(r->prod) - 1) / CACHE_LINE == put);
		assert_true(((uintptr_t)&r->cons + sizeof(r->cons) - 1) / CACHE_LINE == take);
		assert_int_equal(frames % CACHE_LINE, 0);
	}
}

static void add_hand(const struct flows_hand *h, unsigned worker)
{
	add(h, sizeof(*h), worker, "rings of a queue");
	add_rings(h, h->from);
	add_rings(h, h->home);
}

static void add_weights(const struct flow_weights *w, unsigned worker)
{
	add(w, sizeof(*w), worker, "turns");
	add(w->next, (size_t)w->turn[0].values * w->turn[1].values * sizeof(*w->next), worker,
	    "sources of servers");
	weighted++;
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
		if (p->engine->hand != NULL)
			add_hand(p->engine->hand[q], worker);
		add(&p->handed[q], sizeof(p->handed[q]), worker, "what was handed over");
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
			if (s->tuples[q]->weights != NULL)
				add_weights(s->tuples[q]->weights, worker);
		}
		for (const struct flows_one *f = p->first; f != NULL; f = f->next) {
			const struct flows_state_of *s = f->state[q];

			add(s, sizeof(*s), worker, "counters of the flow");
			add(f->own[q], sizeof(*f->own[q]), worker, "counters of the workload");
			assert_non_null(f->tally);
			for (const struct flows_tally *t = f->tally; t != NULL; t = t->next)
				add(t->counts[q], (t->n + 1) * sizeof(*t->counts[q]), worker,
				    "counters of servers");
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
	f->by_dst = true;
	f->cps = (struct rate){.kind = RATE_PPS, .value = 2000};
	ctl_stream_frame_follow(ctl_stream_cfg(c, port, 0));
	assert_int_equal(frame_vals_parse(&stream(port, 0)->frame.vals,
					  role == FLOWS_CLIENT ? "ipv4.dst" : "ipv4.src",
					  "10.1.0.1:1,10.1.0.2:3,10.1.0.9", NULL),
			 0);
}

static void no_line_is_written_by_two_workers(bool hand)
{
	struct portset both = only(0);
	bool seen[WORKERS + 1] = {false};
	struct err e = {.text = ""};

	nmemory = weighted = 0;
	portset_add(&both, 1);
	fresh(0, 1);
	fresh(1, 1);
	flow(0, FLOWS_CLIENT);
	flow(1, FLOWS_SERVER);
	/* by the addresses alone all answers come to one queue */
	ctl_port_cfg(c, 0)->rss.fields = hand ? RSS_IP : 0;
	ctl_touch(c, 0, WHY_ALL);
	ctl_turn(c);
	if (ctl_start(c, &both, 200000000, &e) < 0)
		fail_msg("%s", e.text);
	for (unsigned i = 0; i < 100; i++) {
		ctl_turn(c);
		pause_ms(1);
	}
	assert_int_equal(flows_of(c->port[0])->engine->hand != NULL, hand);
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
	assert_int_equal(weighted, WORKERS);
	assert_in_range(nmemory, WORKERS * 2 * 20, MOST);
}

static void host(unsigned port, uint8_t last)
{
	struct host_cfg *cfg = work_cfg(ctl_port_cfg(c, port), &work_host);

	cfg->ip = (struct host_addrs){.n = 1, .at = {{{[10] = 255, 255, 10, 0, 0, last}, 96 + 24}}};
	cfg->answer[sizeof(cfg->answer) - 1] |= NEIGH_ANSWER_UNREACHABLE;
	ctl_touch(c, port, WHY_WORK);
}

static bool met(unsigned port)
{
	const struct neigh *n = host_of_port(c->port[port])->n;

	return n != NULL && neigh_own_state(n, 0) == NEIGH_USED;
}

/* Streams of the same frames: a flow, and one that is none, so that errors about it are about no
 * connection of the queue to which they come. */
static void datagrams(unsigned port, unsigned id, bool of_flow)
{
	struct stream_cfg *s = stream(port, id);
	struct flows_cfg *f = work_stream_cfg_own(s, &work_flows);
	struct err e = {.text = ""};

	if (of_flow)
		f->role = FLOWS_CLIENT;
	else
		own_pps(port, id, 2000);
	s->frame_set = true;
	frame_spec_free(&s->frame);
	s->frame = (struct frame_spec){0};
	if (frame_stack_parse("eth/ipv4/udp", &s->frame.stack, &e) < 0 ||
	    frame_vals_parse(&s->frame.vals, "eth.dst", "02:77:72:00:00:01", &e) < 0 ||
	    frame_vals_parse(&s->frame.vals, "ipv4.src", "10.0.0.1", &e) < 0 ||
	    frame_vals_parse(&s->frame.vals, "ipv4.dst", "10.0.0.2", &e) < 0)
		fail_msg("%s", e.text);
	ctl_touch_stream(c, port, (int)id, WHY_ALL);
}

/* How many errors queues of the port have told the others. */
static uint64_t told(unsigned port)
{
	const struct flows_engine *x = flows_of(c->port[port])->engine;
	uint64_t n = 0;

	for (unsigned q = 0; q < x->nqueues; q++)
		n += cell_get(&x->errors[q]->put);
	return n;
}

/* What all workers of a port share is written by none of them, while queues tell each other of ICMP
 * errors about their connections. */
static void test_what_all_share_is_constant(void **state)
{
	const struct flows_engine *x;
	struct flows_engine before;
	struct portset one = only(0);
	struct err e = {.text = ""};
	uint64_t n;

	(void)state;
	fresh(0, 2);
	fresh(1, 1);
	host(0, 1);
	host(1, 2);
	for (unsigned i = 0; i < 60000 && !(met(0) && met(1)); i++) {
		ctl_turn(c);
		pause_ms(1);
	}
	datagrams(0, 0, true);
	datagrams(0, 1, false);
	ctl_turn(c);
	if (ctl_start(c, &one, 0, &e) < 0)
		fail_msg("%s", e.text);
	for (unsigned i = 0; i < 30000 && (flows_of(c->port[0])->engine == NULL || told(0) == 0);
	     i++) {
		ctl_turn(c);
		pause_ms(1);
	}
	taken_up();
	x = flows_of(c->port[0])->engine;
	memcpy(&before, x, sizeof(before));
	n = told(0);
	assert_true(n > 0);
	for (unsigned i = 0; i < 30000 && told(0) < n + 10; i++) /* control does nothing */
		pause_ms(1);
	assert_true(told(0) >= n + 10);
	assert_memory_equal(&before, x, sizeof(before));
	ctl_stop(c, &one);
	settle(0);
}

static void test_no_line_is_written_by_two_workers(void **state)
{
	(void)state;
	no_line_is_written_by_two_workers(false);
}

static void test_nor_where_frames_are_handed_over(void **state)
{
	(void)state;
	no_line_is_written_by_two_workers(true);
}

/* Whether all workers of the port's server know of its run. */
static bool heard(unsigned port)
{
	return flows_one_stage(flows_of(c->port[port])->first, c->port[port]->run.id) != FLOWS_IDLE;
}

/* Clients get the time of their begin when all workers know of the servers of the same start, so
 * that nobody asks where nobody listens yet, whoever stands still meanwhile. */
static void test_servers_are_there_first(void **state)
{
	struct portset both = only(0);
	struct err e = {.text = ""};

	(void)state;
	portset_add(&both, 1);
	for (unsigned round = 0; round < 20; round++) {
		fresh(0, 1);
		fresh(1, 1);
		flow(0, FLOWS_CLIENT);
		flow(1, FLOWS_SERVER);
		ctl_turn(c);
		if (ctl_start(c, &both, 0, &e) < 0)
			fail_msg("%s", e.text);
		for (unsigned i = 0; i < 30000 && c->port[0]->run.armed; i++) {
			ctl_turn(c);
			assert_true(c->port[0]->run.armed || heard(1));
			pause_ms(1);
		}
		assert_false(c->port[0]->run.armed);
		assert_false(c->port[1]->run.armed);
		ctl_stop(c, &both);
		settle(0);
		settle(1);
	}
}

int main(void)
{
	static const char *const specs[] = {"wire"};
	static const char *const maps[] = {"1-4.0", "1-4.1"};
	const struct ctl_opts o = {
		.prog = "flows_lines_test", .ports = specs, .nports = 1, .maps = maps, .nmaps = 2};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_line_is_written_by_two_workers),
		cmocka_unit_test(test_nor_where_frames_are_handed_over),
		cmocka_unit_test(test_what_all_share_is_constant),
		cmocka_unit_test(test_servers_are_there_first),
	};

	if (!live_open_on(o, "(0-2)@%d,(3-4)@%d"))
		return 77;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	ctl_close(c);
	return failed;
}
