/* SPDX-License-Identifier: BSD-3-Clause */
/* Two tasks of the work flows, a client's and a server's, whose devices are joined by arrays, with
 * a clock of the test. The devices take as many frames as they like, may lose some on the way, and
 * may do to buffers what drivers do. */
#pragma once
#include "cmocka_names.h"
#include <stdlib.h>

#include "eal_skip.h"
#include "flow.h"
#include "flows_own.h"
#include "seed.h"
#include "workload.h"

#define HZ 2500000000ull
#define US (HZ / 1000000)
#define MS (HZ / 1000)
#define SECOND HZ
#define WORLD_FLOWS 3
#define WORLD_VERSIONS 400
#define WORLD_PIPE 4096
#define WORLD_LATE MS

enum world_take { TAKE_ALL, TAKE_ANY, TAKE_NONE };

/* A direction of the wire. */
struct world_pipe {
	struct rte_mbuf *m[WORLD_PIPE];
	unsigned n;
	enum world_take take;
	unsigned loses; /* one in so many frames; 0: none */
	unsigned room;  /* frames that may be on the way; 0: WORLD_PIPE */
	unsigned burst; /* frames that are received in a turn; 0: 64 */
	bool edits;     /* as DP_EDITS_ALL says */
	bool cuts;      /* frames come in several segments */
	struct rte_mempool *cut_pool;
	struct rte_mbuf *refused[DP_BURST_MAX];
	unsigned nrefused;
	uint64_t frames, bytes, lost, calls;
	uint64_t sizes[CNT_NSIZES];
	/* Called for each frame that is taken. NULL: nobody looks. */
	void (*seen)(const struct rte_mbuf *m);
};

/* A flow of one end. */
struct world_flow {
	struct flows_state_of state;
	struct flow_tuples *tuples;
	struct flow_path path;
	struct wl_content content[2];
	struct wl_bytes_conf conf;
	unsigned nversions;
	struct flows_version version[WORLD_VERSIONS];
	struct flow_spec spec[WORLD_VERSIONS];
	struct wl_flow wl[WORLD_VERSIONS];
	struct flows_handed handed[WORLD_VERSIONS];
};

struct world_end {
	struct dp_txq *q;
	struct flows_state *state;
	struct flow_machine *machine;
	struct flows_job job;
	struct flows_flow flow[WORLD_FLOWS];
	struct flows_shape shape;
	struct flows_idents *idents;
	uint64_t ends;
	struct flows_end end[WORLD_FLOWS];
	struct flows_claim claim;
	struct dp_task task;
	bool in_plan;
	struct world_pipe pipe; /* what it sends, until the other end receives it */
	struct world_flow *f[WORLD_FLOWS];
	uint64_t polls, claimed, unclaimed;
};

static struct world {
	uint64_t now, step; /* a turn takes fewer cycles than this */
	struct dp_worker w;
	struct world_end end[2];
} x;

static unsigned world_any;
static inline unsigned any(unsigned below)
{
	world_any = world_any * 1103515245u + 12345u;
	return (world_any >> 8) % below;
}

/* ---- devices ---- */

/* A buffer that says that it holds WL_X does so behind the headers of its frame. */
static inline void world_check_filled(const struct rte_mbuf *m)
{
	const uint8_t *data = rte_pktmbuf_mtod(m, const uint8_t *);
	unsigned room = m->buf_len - m->data_off;

	assert_true(m->pkt_len > 54);
	assert_int_equal(data[54], WL_X);
	/* each is as the one before it; cmocka would compare byte by byte, which is slow */
	assert_true(memcmp(data + 55, data + 54, room - 55) == 0);
}

static inline void world_check(const struct rte_mbuf *m, bool edits)
{
	assert_int_equal(rte_mbuf_refcnt_read(m), 1);
	assert_int_equal(m->nb_segs, 1);
	assert_null(m->next);
	assert_int_equal(m->pkt_len, m->data_len);
	assert_in_range(m->pkt_len, 60, 1514);
	assert_int_equal(m->ol_flags, 0);
	assert_int_equal(m->data_off, RTE_PKTMBUF_HEADROOM);
	if (m->hash.usr == DP_MARK_FILLED)
		world_check_filled(m);
	else
		assert_int_equal(m->hash.usr, 0);
	/* long payload is filled before, where the device leaves buffers as they are */
	assert_true((m->hash.usr == DP_MARK_FILLED) == (!edits && m->pkt_len >= 54 + 256));
}

/* Makes several segments of a frame, its headers in the first one. */
static inline struct rte_mbuf *world_cut(struct rte_mempool *pool, struct rte_mbuf *m)
{
	struct rte_mbuf *last = m;

	if (m->data_len < 80)
		return m;
	unsigned first = 66 + any(14), left = m->data_len - first;
	const uint8_t *data = rte_pktmbuf_mtod(m, const uint8_t *) + first;

	while (left > 0) {
		struct rte_mbuf *s = rte_pktmbuf_alloc(pool);
		unsigned n = left < 200 ? left : 1 + any(199);

		assert_non_null(s);
		memcpy(rte_pktmbuf_append(s, (uint16_t)n), data, n);
		data += n;
		left -= n;
		last->next = s;
		last = s;
		m->nb_segs++;
	}
	m->data_len = (uint16_t)first;
	return m;
}

static inline void world_accept(struct world_pipe *p, struct rte_mbuf *m)
{
	world_check(m, p->edits);
	if (p->seen != NULL)
		p->seen(m);
	p->frames++;
	p->bytes += m->pkt_len + RTE_ETHER_CRC_LEN;
	p->sizes[cnt_size_class(m->pkt_len + RTE_ETHER_CRC_LEN)]++;
	if (p->loses != 0 && any(p->loses) == 0) {
		p->lost++;
		rte_pktmbuf_free(m);
		return;
	}
	p->m[p->n++] = p->cuts ? world_cut(p->cut_pool, m) : m;
}

static inline uint16_t world_tx(void *queue, struct rte_mbuf **m, uint16_t n)
{
	struct world_pipe *p = queue;
	unsigned take = p->take == TAKE_ALL ? n : p->take == TAKE_NONE ? 0 : any(n + 1u);

	assert_in_range(n, 1, DP_BURST_MAX);
	p->calls++;
	take = RTE_MIN(take, (p->room != 0 ? p->room : WORLD_PIPE) - p->n);
	if (p->nrefused > 0 && !p->edits) { /* the tail comes first, alone and in order */
		assert_int_equal(n, p->nrefused);
		assert_memory_equal(m, p->refused, n * sizeof(*m));
	}
	for (unsigned i = 0; i < take; i++)
		world_accept(p, m[i]);
	for (unsigned i = take; i < n && p->edits; i++) {
		memset(rte_pktmbuf_mtod(m[i], void *), 0xee, m[i]->data_len);
		rte_pktmbuf_adj(m[i], 14);
	}
	p->nrefused = n - take;
	memcpy(p->refused, m + take, p->nrefused * sizeof(*m));
	return (uint16_t)take;
}

static const struct dp_io world_io = {.tx = world_tx};

/* ---- turns ---- */

/* What a worker does with a burst of a queue that has a sort. Frames that nobody claims are the
 * counter's. */
static inline void world_receive(struct world_end *e, struct world_pipe *from)
{
	struct rte_mbuf *m[64], *mine[64];
	uint8_t owner[64] = {0};
	unsigned n = RTE_MIN(from->n, from->burst != 0 ? from->burst : ARRAY_SIZE(m)), have = 0;

	if (n == 0)
		return;
	memcpy(m, from->m, n * sizeof(m[0]));
	from->n -= n;
	memmove(from->m, from->m + n, from->n * sizeof(m[0]));
	struct dp_burst b = dp_look(m, n);
	if (e->in_plan)
		flows_claims(&e->claim, &b, m, n, owner, 1);
	for (unsigned i = 0; i < n; i++) {
		if (owner[i] == 1)
			mine[have++] = m[i];
		else
			rte_pktmbuf_free(m[i]);
	}
	e->claimed += have;
	e->unclaimed += n - have;
	if (have > 0)
		dp_kind_flows.rx(&x.w, &e->task, NULL, mine, have, &b, x.now);
}

static inline void world_turn(void)
{
	world_receive(&x.end[0], &x.end[1].pipe);
	world_receive(&x.end[1], &x.end[0].pipe);
	for (unsigned i = 0; i < 2; i++) {
		struct world_end *e = &x.end[i];

		if (!e->in_plan || e->state->base.next > x.now)
			continue;
		e->polls++;
		dp_kind_flows.poll(&x.w, &e->task, x.now);
	}
	x.now += x.step > 1 ? 1 + any((unsigned)x.step) : 1;
}

static inline void world_sums(void);
static inline void world_run(uint64_t until)
{
	while (x.now < until) {
		world_turn();
		world_sums();
	}
}

/* Until nothing more happens by itself, or until then: time passes at once where nobody needs
 * it. */
static inline bool world_rest(uint64_t until)
{
	while (x.now < until) {
		uint64_t next = RTE_MIN(x.end[0].state->base.next, x.end[1].state->base.next);

		if (x.end[0].pipe.n == 0 && x.end[1].pipe.n == 0) {
			if (next == DP_NEVER)
				return true;
			x.now = RTE_MAX(x.now, RTE_MIN(next, until));
		}
		world_turn();
	}
	return false;
}

/* ---- sums ---- */

static inline void world_sums(void)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct world_end *e = &x.end[i];
		uint64_t sizes = 0;

		for (unsigned k = 0; k < e->job.nflows; k++) {
			const struct flow_counts *c = &e->f[k]->state.counts;
			const struct wl_counts *t = &e->f[k]->state.transactions;

			assert_int_equal(c->opened, c->established + c->refused +
							    c->connect_timeout + c->unreachable +
							    c->aborted_opening + c->opening);
			assert_int_equal(c->established, c->closed + c->reset_by_us +
								 c->reset_by_peer + c->timed_out +
								 c->aborted + c->open);
			assert_int_equal(t->started, t->done + t->failed + t->open);
		}
		assert_int_equal(e->q->cnt.packets, e->pipe.frames);
		assert_int_equal(e->q->cnt.bytes, e->pipe.bytes);
		assert_memory_equal(&e->state->sizes, e->pipe.sizes, sizeof(e->pipe.sizes));
		for (unsigned k = 0; k < CNT_NSIZES; k++)
			sizes += e->state->sizes.n[k];
		assert_int_equal(sizes, e->q->cnt.packets);
		assert_int_equal(e->state->claimed, e->claimed);
	}
}

/* ---- setting up ---- */

static inline struct rte_mempool *world_pool(unsigned n)
{
	static unsigned serial;
	char name[32];

	snprintf(name, sizeof(name), "f%u", serial++);
	struct rte_mempool *p = rte_pktmbuf_pool_create(name, n, n >= 1024 ? DP_POOL_CACHE : 0, 0,
							RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	assert_non_null(p);
	return p;
}

static const struct workload *world_record = &wl_bytes; /* what connections of flows do */

/* A new version of a flow, which is like the one before it. */
static inline struct flows_version *world_version(unsigned end, unsigned flow)
{
	struct world_flow *f = x.end[end].f[flow];
	unsigned i = f->nversions++;

	assert_in_range(i, 0, WORLD_VERSIONS - 1);
	f->wl[i] = (struct wl_flow){.wl = world_record,
				    .conf = &f->conf,
				    .content = f->content,
				    .ncontent = 2,
				    .counts = &f->state.transactions,
				    .own = f->state.own,
				    .since_due = {.h = f->state.since_due},
				    .client = end == 0,
				    .on_call = end == 0 && !x.end[0].flow[flow].tps.off};
	f->spec[i] = (struct flow_spec){.role = end == 0 ? FLOW_CLIENT : FLOW_SERVER,
					.wl = &f->wl[i],
					.counts = &f->state.counts,
					.tuples = f->tuples,
					.path = &f->path,
					.npath = 1,
					.most = UINT32_MAX,
					.mss = 1460,
					.window = 262144,
					.timewait_ns = 10000000,
					.retries = 5,
					.sack = true};
	f->version[i] = (struct flows_version){.refs = 1,
					       .spec = &f->spec[i],
					       .nqueues = 1,
					       .handed = &f->handed[i]};
	return &f->version[i];
}

static inline void world_flow(unsigned end, unsigned flow, uint32_t ports)
{
	struct world_flow *f = xcalloc_lines(sizeof(*f));
	uint8_t h[34] = {2, 0, 0,    0, 0,  end == 0 ? 2 : 1,
			 2, 0, 0,    0, 0,  end == 0 ? 1 : 2,
			 8, 0, 0x45, 0, 0,  0,
			 0, 0, 0x40, 0, 64, 6};
	struct flow_values local = {.count = 1, .base = end == 0 ? 0x0a000001 : 0x0a000002};
	struct flow_values remote = {.count = 1, .base = 0x0a000002};
	struct flow_values well_known = {.count = 1, .base = 80 + flow};
	struct flow_values high = {.count = ports, .base = 1024};
	struct flow_tuples_conf c = {.local = &local,
				     .local_port = end == 0 ? &high : &well_known,
				     .dense = true};
	struct err e;

	if (end == 0) {
		c.remote = &remote;
		c.remote_port = &well_known;
	}
	assert_int_equal(flow_tuples_new(&f->tuples, &c, &e), 0);
	assert_int_equal(flow_path_init(&f->path, h, 14, 34, 0, NULL, 0, &e), 0);
	for (unsigned k = 0; k < 2; k++)
		assert_int_equal(wl_content_init(&f->content[k], NULL, 0, WL_FILL_X), 0);
	f->state.own = xcalloc_lines(wl_bytes.own_bytes + CACHE_LINE);
	f->conf = (struct wl_bytes_conf){.request = WL_FIXED(64),
					 .response = WL_FIXED(64),
					 .transactions = 1,
					 .close = WL_CLOSE_FIN};
	x.end[end].f[flow] = f;
	x.end[end].flow[flow] = (struct flows_flow){
		.state = &f->state,
		.start_tsc = x.now,
		.end_tsc = UINT64_MAX,
		.opens = UINT64_MAX,
		.most = 1000000,
		.drain_cycles = 4 * SECOND,
		.late_cycles = WORLD_LATE,
		.grace_cycles = WORLD_LATE,
		.cps = {.step = 1, .start_tsc = x.now, .period = pace_period((double)HZ, 1000)},
		.tps = {.off = true, .step = 1, .start_tsc = x.now}};
	x.end[end].end[flow] =
		(struct flows_end){.from = local.base,
				   .to = local.base,
				   .port_from = (uint16_t)(end == 0 ? 1024 : 80 + flow),
				   .port_to = (uint16_t)(end == 0 ? 65535 : 80 + flow)};
}

/* The frames of eth/ipv4: the type is at byte 12. */
static inline void world_shape(struct flows_shape *s)
{
	static const uint8_t mask[16] = {[12] = 0xff, [13] = 0xff}, value[16] = {[12] = 8};

	*s = (struct flows_shape){.l3 = 14, .words = 2};
	memcpy(s->mask, mask, 16);
	memcpy(s->value, value, 16);
}

/* One more network. */
static inline void world_ident(struct flows_idents *t, unsigned shape, const uint64_t *value,
			       unsigned nids)
{
	uint32_t at = flows_key_slot(shape, value, nids);

	assert_int_equal(t->slot[at], 0);
	t->key[t->n].shape = shape;
	if (nids != 0)
		memcpy(t->key[t->n].value, value, nids * sizeof(*value));
	t->slot[at] = (uint16_t)++t->n;
}

static inline void world_end_new(unsigned i, unsigned nflows, unsigned pool, uint32_t connections)
{
	struct world_end *e = &x.end[i];
	struct flow_machine_conf conf = {.connections = 2 * connections + 4096,
					 .verify_sums = true,
					 .secret = {i + 1, 77}};
	struct err err;

	e->q = xcalloc_lines(sizeof(*e->q));
	e->q->pool = world_pool(pool);
	e->q->pool_size = pool;
	e->pipe.cut_pool = world_pool(2047);
	txq_io(e->q, &world_io, &e->pipe);
	e->state = xcalloc_lines(sizeof(*e->state));
	e->state->mem = xcalloc_lines(flows_mem_size());
	conf.sink = flows_sink(e->state);
	assert_int_equal(flow_machine_new(&e->machine, &conf, &err), 0);
	for (unsigned k = 0; k < nflows; k++)
		world_flow(i, k, connections < 60000 ? 60000 : 64000);
	world_shape(&e->shape);
	e->idents = xcalloc(1, sizeof(*e->idents));
	world_ident(e->idents, 0, NULL, 0);
	e->ends = (1ull << nflows) - 1;
	e->job = (struct flows_job){.q = e->q,
				    .machine = e->machine,
				    .base_tsc = x.now,
				    .ns_mult = (1ull << 32) * 1000000000ull / HZ,
				    .cycles_mult = (1ull << 32) * HZ / 1000000000ull,
				    .nflows = (uint16_t)nflows,
				    .flow = e->flow,
				    .nshapes = 1,
				    .nends = (uint16_t)nflows,
				    .shape = &e->shape,
				    .idents = e->idents,
				    .nidents = 1,
				    .ends = &e->ends,
				    .end = e->end,
				    .burst = 64};
	e->claim = (struct flows_claim){.job = &e->job, .state = e->state};
}

/* pool: buffers of each end. Random numbers begin anew each time. */
static inline void world_new(unsigned nflows, unsigned pool, uint32_t connections)
{
	static unsigned first, serial;
	char name[16];
	struct err e;

	if (serial == 0)
		first = (unsigned)test_seed();
	world_any = first + serial++ * 0x9e3779b1u;
	memset(&x, 0, sizeof(x));
	x.now = 1000 * SECOND;
	x.step = 2 * US;
	snprintf(name, sizeof(name), "flows%u", serial);
	assert_int_equal(mbox_open(&x.w.mbox, name, SOCKET_ID_ANY, &e), 0);
	for (unsigned i = 0; i < 2; i++)
		world_end_new(i, nflows, pool, connections);
}

/* A plan is freed when the next one is in use; what it had is overwritten. */
static inline void world_plan_free(const struct flows_job *job)
{
	struct flows_flow *flow = (void *)(uintptr_t)job->flow;

	for (unsigned k = 0; k < WORLD_FLOWS; k++)
		free((void *)(uintptr_t)flow[k].cps.shape);
	memset(flow, 0xee, WORLD_FLOWS * sizeof(*flow));
	free(flow);
	free((void *)(uintptr_t)job);
}

/* Gives an end the plan that its job and flows say. */
static inline void world_plan(unsigned i)
{
	struct world_end *e = &x.end[i];
	const struct flows_job *old = e->task.job;
	struct flows_job *job = xcalloc_lines(sizeof(*job));
	struct flows_flow *flow = xcalloc_lines(sizeof(e->flow));

	/* A plan is constant: it has copies, and the one before goes. */
	*job = e->job;
	memcpy(flow, e->flow, sizeof(e->flow));
	for (unsigned k = 0; k < WORLD_FLOWS; k++) {
		if (flow[k].cps.shape != NULL) {
			struct pace_shape *s = xcalloc(1, sizeof(*s));
			*s = *flow[k].cps.shape;
			flow[k].cps.shape = s;
		}
	}
	job->flow = flow;
	e->claim.job = job;
	e->task = (struct dp_task){.kind = &dp_kind_flows, .state = &e->state->base, .job = job};
	if (!e->in_plan)
		e->state->base.next = DP_NEVER;
	dp_kind_flows.adopt(&x.w, &e->task, e->in_plan ? old : NULL, x.now);
	e->in_plan = true;
	if (old != NULL)
		world_plan_free(old);
}

/* Each flow of both ends has a version and a run from now on; servers first. */
static inline void world_start(uint64_t run)
{
	for (unsigned i = 2; i-- > 0;) {
		struct world_end *e = &x.end[i];

		for (unsigned k = 0; k < e->job.nflows; k++) {
			struct flows_flow *f = &e->flow[k];

			if (f->version == NULL)
				f->version = world_version(i, k);
			f->run = run;
		}
		world_plan(i);
	}
}

static inline enum flows_stage world_stage(unsigned end, unsigned flow)
{
	return flows_stage(&x.end[end].f[flow]->state, x.end[end].flow[flow].run);
}

/* Ends a run at once, and waits until that is done. */
static inline void world_stop(unsigned end)
{
	for (unsigned k = 0; k < x.end[end].job.nflows; k++)
		x.end[end].flow[k].stop = true;
	world_plan(end);
}

/* Tasks are dropped; all buffers must be there again, and all versions must have been given back
 * whose connections have gone. */
static inline void world_free(void)
{
	for (unsigned i = 0; i < 2; i++) {
		struct world_end *e = &x.end[i];

		for (unsigned k = 0; k < e->job.nflows; k++)
			e->flow[k].version = NULL;
		e->pipe.take = TAKE_ALL;
		e->pipe.loses = 0;
		world_plan(i);
	}
	assert_true(world_rest(x.now + 600 * SECOND));
	world_sums();
	for (unsigned i = 0; i < 2; i++) {
		struct world_end *e = &x.end[i];

		assert_int_equal(flow_machine_counts(e->machine)->cells_used, 0);
		assert_int_equal(flow_machine_counts(e->machine)->side_used, 0);
		dp_kind_flows.drop(&x.w, &e->task, x.now);
		for (unsigned k = 0; k < e->job.nflows; k++) {
			struct world_flow *f = e->f[k];

			for (unsigned v = 0; v < f->nversions; v++)
				assert_int_equal(f->handed[v].given, f->handed[v].gone);
			flow_tuples_free(f->tuples);
			free(f->state.own);
			free(f);
		}
		flow_machine_free(e->machine);
		world_plan_free(e->task.job);
		free(e->state->mem);
		free(e->state);
		free(e->idents);
	}
	for (unsigned i = 0; i < 2; i++) {
		struct dp_txq *q = x.end[i].q;

		assert_int_equal(rte_mempool_avail_count(q->pool), q->pool_size);
		rte_mempool_free(q->pool);
		rte_mempool_free(x.end[i].pipe.cut_pool);
		free(q);
	}
	mbox_close(&x.w.mbox);
}
