/* SPDX-License-Identifier: BSD-3-Clause */
/* A model of a sending port. A test turns its Tx queues by hand, and the model follows, frame by
 * frame, what they have to send. The last two bytes of eth.dst are the number of a stream. */
#pragma once
#include "dp_fake.h"
#include "dp_probe_model.h"

/* One phase as a test writes it. Plans and workers point to its fruns until world_free(). */
struct tphase {
	uint64_t k0, end;
	unsigned ncycle, nrecipes, nstreams;
	struct frun_slot cycle[MAX_CYCLE];
	const struct frame_recipe *recipe[MAX_IDS];
	uint32_t id[MAX_IDS];
	uint64_t o0[MAX_IDS];
	uint64_t sched;
	bool offload;
	uint32_t mark[FAKE_QUEUES][MAX_IDS];
	struct frun *frun[FAKE_QUEUES];
	void *state[FAKE_QUEUES];
	struct tphase *older;
};

struct tgroup {
	int32_t stream;
	uint64_t epoch;
	bool by_bytes, l2;
	struct pace_period period;
	const struct pace_shape *shape; /* NULL: deadlines are checked frame by frame */
	uint64_t limit;
	unsigned nphases;
	struct tphase *phase[4];
};

/* What a queue has sent of a group, and what it has to send next. */
struct follow {
	int32_t stream;
	uint64_t epoch, i, epoch_i;
	/* For each stream: its ordinal at the schedule's k = 0, and the ordinal of its first
	 * varying value. */
	uint64_t base[MAX_IDS], first[MAX_IDS];
	uint64_t t0;
	bool timed; /* deadlines are checked: the rate has not changed since t0 */
};

struct world {
	struct dp_worker *w;
	unsigned nq;
	struct dp_txq *txq[FAKE_QUEUES];
	struct gen_state *gen[FAKE_QUEUES];
	struct gen_job job; /* job and group are what the next plan will say */
	unsigned ngroups;
	struct tgroup group[MAX_GROUPS];
	struct tgroup adopted[MAX_GROUPS];
	unsigned nadopted;
	struct {
		struct world *x;
		unsigned q, n;
		struct follow f[MAX_GROUPS];
	} at[FAKE_QUEUES];
	struct probe_model probe[FAKE_QUEUES];
	uint64_t sizes[CNT_NSIZES];
	/* For each stream: frames and bytes that were taken. For each queue: frames that were taken
	 * or rejected. */
	uint64_t sent[MAX_IDS][2], built[FAKE_QUEUES];
	bool gives;               /* the sender may give up frames, so some may be skipped */
	uint64_t seq, sched, now; /* now: the test's clock; 0: the real clock is asked */
	uint32_t mark;
	struct dp_plan *plan[256];
	unsigned nplans;
	struct tphase *phases;
	struct frame_recipe frames[256];
	unsigned nframes;
};

/* ---- streams and schedules ---- */

/* Makes frames eth/ipv4/udp of that size with FCS; their source port runs from lo to hi. */
static inline const struct frame_recipe *filled_frames(struct world *x, unsigned id, unsigned size,
						       unsigned lo, unsigned hi,
						       enum frame_fill fill)
{
	struct frame_spec *s = calloc(1, sizeof(*s));
	struct frame_recipe *p = &x->frames[x->nframes++];
	const struct proto *proto;
	const struct field *field;
	unsigned nth;
	char mac[32];
	struct err e;

	assert_true(x->nframes <= ARRAY_SIZE(x->frames));
	assert_int_equal(frame_stack_parse("eth/ipv4/udp", &s->stack, &e), 0);
	snprintf(mac, sizeof(mac), "02:00:00:00:%02x:%02x", id >> 8, id & 0xff);
	assert_int_equal(frame_vals_parse(&s->vals, "eth.dst", mac, &e), 0);
	assert_int_equal(frame_field_parse("udp.src", &proto, &nth, &field, &e), 0);
	struct vary v = {.kind = lo == hi ? VARY_FIXED : VARY_RANGE,
			 .bits = 16,
			 .first = lo,
			 .lo = lo,
			 .hi = hi,
			 .step = 1,
			 .div = 1};
	frame_vals_vary(&s->vals, proto, nth, field, &v);
	s->size = (uint16_t)size;
	s->fill = fill;
	s->probe = probe_every(id, x->sched);
	assert_int_equal(frame_compile(s, NULL, 16000, p, &e), 0);
	frame_spec_free(s);
	free(s);
	return p;
}

static inline const struct frame_recipe *frames_of(struct world *x, unsigned id, unsigned size,
						   unsigned lo, unsigned hi)
{
	return filled_frames(x, id, size, lo, hi, FILL_ABC);
}

static inline struct tphase *phase_new(struct world *x)
{
	struct tphase *p = zeroed(sizeof(*p));

	p->end = UINT64_MAX;
	p->sched = ++x->sched;
	p->older = x->phases;
	x->phases = p;
	return p;
}

static inline void phase_add(struct tphase *p, unsigned id, const struct frame_recipe *recipe)
{
	unsigned s = 0, f = 0;

	while (s < p->nstreams && p->id[s] != id)
		s++;
	while (f < p->nrecipes && p->recipe[f] != recipe)
		f++;
	assert_true(s < MAX_IDS && f < MAX_IDS && p->ncycle < MAX_CYCLE);
	p->id[s] = id;
	p->nstreams += s == p->nstreams;
	p->recipe[f] = recipe;
	p->nrecipes += f == p->nrecipes;
	p->cycle[p->ncycle++] = (struct frun_slot){.stream = (uint16_t)s, .recipe = (uint16_t)f};
}

static inline void phase_ready(struct world *x, struct tphase *p)
{
	struct err e;

	if (p->frun[0] != NULL)
		return;
	for (unsigned q = 0; q < x->nq; q++) {
		uint64_t own = p->k0 > q ? (p->k0 - q - 1) / x->nq + 1 : 0;
		struct frun_spec spec = {
			.cycle = p->cycle,
			.ncycle = p->ncycle,
			.recipe = p->recipe,
			.nrecipes = p->nrecipes,
			.stream_id = p->id,
			.o0 = p->o0,
			.nstreams = p->nstreams,
			.first = (unsigned)(q + own * x->nq - p->k0),
			.nqueues = x->nq,
			.sched_id = p->sched,
			.offload = p->offload,
			.data_off = GEN_DATA_OFF,
			.len16_off = GEN_LEN16_OFF,
			.len32_off = GEN_LEN32_OFF,
		};
		p->frun[q] = frun_new(&spec, &e);
		assert_non_null(p->frun[q]);
		p->state[q] = zeroed(frun_state_size(p->frun[q]));
		for (unsigned c = 0; c < frun_nclasses(p->frun[q]); c++)
			p->mark[q][c] = ++x->mark;
	}
}

/* Returns how many of the first k frames of the phase are of the stream. */
static inline uint64_t of_stream(const struct tphase *p, unsigned s, uint64_t k)
{
	uint64_t all = 0, part = 0;

	for (unsigned i = 0; i < p->ncycle; i++) {
		all += p->cycle[i].stream == s;
		part += i < k % p->ncycle && p->cycle[i].stream == s;
	}
	return k / p->ncycle * all + part;
}

static inline uint64_t bytes_before(const struct tgroup *g, uint64_t k)
{
	uint64_t sum = 0;

	for (unsigned n = 0; n < g->nphases && k > g->phase[n]->k0; n++) {
		const struct tphase *p = g->phase[n];
		uint64_t in = (k < p->end ? k : p->end) - p->k0;
		for (unsigned i = 0; i < p->ncycle; i++)
			sum += (in / p->ncycle + (i < in % p->ncycle)) *
			       (p->recipe[p->cycle[i].recipe]->len + 4u + (g->l2 ? 0u : 20u));
	}
	return sum;
}

/* ---- following ---- */

static inline const struct tgroup *adopted_group(const struct world *x, int32_t stream)
{
	for (unsigned n = 0; n < x->nadopted; n++)
		if (x->adopted[n].stream == stream)
			return &x->adopted[n];
	return NULL;
}

static inline const struct tphase *phase_at(const struct tgroup *g, uint64_t k)
{
	const struct tphase *p = g->phase[0];

	for (unsigned n = 1; n < g->nphases && k >= p->end; n++)
		p = g->phase[n];
	return p;
}

/* Returns the group in which the stream is sent on queue q: its own, else the port's. */
static inline struct follow *follow_of(struct world *x, unsigned q, unsigned id)
{
	struct follow *port = NULL;

	for (unsigned n = 0; n < x->at[q].n; n++) {
		if (x->at[q].f[n].stream == (int32_t)id)
			return &x->at[q].f[n];
		if (x->at[q].f[n].stream < 0)
			port = &x->at[q].f[n];
	}
	return port;
}

static inline uint64_t due_of(const struct tgroup *g, const struct follow *f, uint64_t k)
{
	uint64_t units = g->by_bytes ? bytes_before(g, k) : k;

	return f->t0 + units * g->period.cycles +
	       (uint64_t)((unsigned __int128)units * g->period.frac >> 64);
}

/* Makes the next frame of the group on queue q. Returns its stream, and gives its bytes and its
 * plan. */
static inline unsigned expected(struct world *x, unsigned q, const struct follow *f, uint8_t *out,
				const struct frame_recipe **recipe)
{
	const struct tgroup *g = adopted_group(x, f->stream);
	uint64_t k = q + (f->i - f->epoch_i) * x->nq;
	const struct tphase *p = phase_at(g, k);
	const struct frun_slot *s = &p->cycle[(k - p->k0) % p->ncycle];
	unsigned id = p->id[s->stream];
	uint64_t o =
		p->o0[s->stream] + of_stream(p, s->stream, k - p->k0) + f->base[id] - f->first[id];

	*recipe = p->recipe[s->recipe];
	frame_recipe_at(p->recipe[s->recipe], o, out);
	return id;
}

/* Judges a frame that the device took (accepted) or rejected: it must be its group's next one. */
static void through(void *arg, const struct rte_mbuf *m, bool accepted)
{
	struct {
		struct world *x;
		unsigned q;
	} *at = arg;
	struct world *x = at->x;
	const struct frame_recipe *recipe;
	uint8_t want[FRAME_MAX_LEN], got[FRAME_MAX_LEN];
	memcpy(got, rte_pktmbuf_mtod(m, const uint8_t *), m->data_len);
	struct follow *f = follow_of(x, at->q, (unsigned)(got[4] << 8 | got[5]));
	assert_non_null(f);
	const struct tgroup *g = adopted_group(x, f->stream);
	unsigned id = expected(x, at->q, f, want, &recipe);
	for (unsigned n = 0; x->gives && n < 65536 && !probe_aside(got, m->data_len, want, recipe);
	     n++) {
		f->i++;
		id = expected(x, at->q, f, want, &recipe);
	}
	uint64_t len = recipe->len, due = f->timed ? due_of(g, f, at->q + f->i * x->nq) : 0;
	assert_true(!f->timed || (int64_t)((x->now != 0 ? x->now : rte_rdtsc()) - due) >= 0);
	probe_through(&x->probe[at->q], recipe, id, got, want, accepted,
		      (g->period.cycles | g->period.frac) == 0, f->timed ? &due : NULL);
	assert_int_equal(m->data_len, len);
	if (m->ol_flags != 0) { /* the device fills in the checksums */
		memset(want + m->l2_len + 10, 0, 2);
		memset(want + m->l2_len + m->l3_len + 6, 0, 2);
		if (accepted && fake[at->q].prepares)
			want[m->l2_len + m->l3_len + 6] = 0x5a;
	}
	assert_memory_equal(got, want, len);
	/* No frame of ours is sent to a group address. */
	assert_int_equal(m->packet_type, x->txq[at->q]->edits == DP_EDITS_ALL ? 0 : DP_DST_KNOWN);
	assert_true(f->i * x->nq + at->q < g->limit);
	f->i++;
	x->built[at->q]++;
	if (accepted) {
		x->sent[id][0]++;
		x->sent[id][1] += len + 4u;
		x->sizes[cnt_size_class(len + 4u)]++;
	}
}

static void judge(void *arg, const struct rte_mbuf *m)
{
	through(arg, m, true);
}
static void judge_rejected(void *arg, const struct rte_mbuf *m)
{
	through(arg, m, false);
}

/* Begins the schedule of a group anew. Streams that were in the old one keep their ordinals. */
static inline void restart(struct follow *f, const struct tgroup *was, const struct tgroup *g,
			   unsigned nq)
{
	uint64_t k = (f->i - f->epoch_i) * nq; /* the group's frames, as far as this queue knows */
	const struct tphase *p = phase_at(was, k);
	uint64_t base[MAX_IDS] = {0};

	for (unsigned s = 0; s < p->nstreams; s++)
		base[p->id[s]] = f->base[p->id[s]] + p->o0[s] + of_stream(p, s, k - p->k0);
	memcpy(f->base, base, sizeof(base));
	f->epoch = g->epoch;
	f->epoch_i = f->i;
}

static inline const struct frame_var *varies(const struct tphase *p, unsigned id)
{
	for (unsigned i = 0; i < p->ncycle; i++)
		if (p->id[p->cycle[i].stream] == id)
			return p->recipe[p->cycle[i].recipe]->nvars > 0
				       ? p->recipe[p->cycle[i].recipe]->var
				       : NULL;
	return NULL;
}

/* Notes that a stream which varies in another way than before starts with the first value of it. */
static inline void vary_anew(struct follow *f, const struct tphase *was, const struct tphase *p,
			     unsigned nq)
{
	for (unsigned s = 0; s < p->nstreams; s++) {
		const struct frame_var *a = varies(was, p->id[s]), *b = varies(p, p->id[s]);
		if (b != NULL && (a == NULL || a->id != b->id))
			f->first[p->id[s]] = f->base[p->id[s]] + p->o0[s] +
					     of_stream(p, s, (f->i - f->epoch_i) * nq - p->k0);
	}
}

/* Lets streams that were in another group go on where they stood in it. */
static inline void move_streams(struct world *x, const struct follow *old, unsigned nold,
				struct follow *f, const struct tgroup *g)
{
	const struct tphase *to = g->phase[0];

	for (unsigned n = 0; n < nold; n++) {
		const struct follow *was = &old[n];
		uint64_t k = (was->i - was->epoch_i) * x->nq;
		const struct tphase *p = phase_at(adopted_group(x, was->stream), k);
		for (unsigned s = 0; was->stream != g->stream && s < p->nstreams; s++)
			for (unsigned t = 0; t < to->nstreams; t++) {
				unsigned id = p->id[s];
				const struct frame_var *a = varies(p, id), *b = varies(to, id);
				if (to->id[t] != id)
					continue;
				f->base[id] = was->base[id] + p->o0[s] + of_stream(p, s, k - p->k0);
				f->first[id] = a != NULL && b != NULL && a->id == b->id
						       ? was->first[id]
						       : f->base[id];
			}
	}
}

static inline void follow_plan(struct world *x, unsigned q)
{
	struct follow next[MAX_GROUPS], before[MAX_GROUPS];
	unsigned nold = x->gen[q]->run == x->job.run ? x->at[q].n : 0;

	memcpy(before, x->at[q].f, sizeof(before));
	for (unsigned n = 0; n < x->ngroups; n++) {
		const struct tgroup *g = &x->group[n], *was = adopted_group(x, g->stream);
		struct follow *f = NULL;
		for (unsigned i = 0; i < x->at[q].n; i++)
			if (x->at[q].f[i].stream == g->stream)
				f = &x->at[q].f[i];
		bool begins = f == NULL || was == NULL || f->epoch != g->epoch;
		if (f != NULL && was != NULL && x->gen[q]->run == x->job.run) {
			const struct tphase *old = phase_at(was, (f->i - f->epoch_i) * x->nq);
			if (f->epoch != g->epoch)
				restart(f, was, g, x->nq);
			vary_anew(f, old, phase_at(g, (f->i - f->epoch_i) * x->nq), x->nq);
			f->timed &=
				f->epoch_i == 0 && (!g->by_bytes || g->phase[0] == was->phase[0]);
			f->timed &= memcmp(&was->period, &g->period, sizeof(g->period)) == 0 &&
				    was->by_bytes == g->by_bytes && was->l2 == g->l2;
			f->timed &= g->shape == NULL;
			next[n] = *f;
		} else {
			bool first = x->gen[q]->run != x->job.run;
			next[n] =
				(struct follow){.stream = g->stream,
						.epoch = g->epoch,
						.t0 = first ? x->job.start_tsc : x->now,
						.timed = (g->period.cycles | g->period.frac) != 0 &&
							 (first || x->now != 0) &&
							 g->shape == NULL};
		}
		if (begins)
			move_streams(x, before, nold, &next[n], g);
	}
	memcpy(x->at[q].f, next, sizeof(next));
	x->at[q].n = x->ngroups;
	fake[q].nrefused = 0; /* frames that were refused are built anew */
}

/* ---- plans ---- */

static inline struct dp_plan *plan_new(struct world *x, unsigned ntasks, size_t extra)
{
	struct dp_plan *p =
		zeroed(sizeof(*p) + ntasks * sizeof(struct dp_task) + CACHE_LINE + extra);

	p->seq = ++x->seq;
	p->task = (struct dp_task *)(p + 1);
	p->ntasks = (uint16_t)ntasks;
	assert_true(x->nplans < ARRAY_SIZE(x->plan));
	x->plan[x->nplans++] = p;
	return p;
}

/* Frees replaced plans, as control does. The address sanitizer sees a worker that uses one. */
static inline void reap(struct world *x)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < x->nplans; i++) {
		if (x->plan[i]->seq < __atomic_load_n(&x->w->cells.acked, __ATOMIC_ACQUIRE))
			free(x->plan[i]);
		else
			x->plan[kept++] = x->plan[i];
	}
	x->nplans = kept;
}

struct queue_mem {
	struct gen_job job;
	struct gen_group group[MAX_GROUPS];
	struct gen_phase phase[MAX_GROUPS][4];
};

static inline struct dp_plan *plan_make(struct world *x)
{
	size_t mem = RTE_ALIGN_CEIL(gen_mem_size(x->ngroups), CACHE_LINE),
	       head = RTE_ALIGN_CEIL(sizeof(struct queue_mem), CACHE_LINE);
	struct dp_plan *p = plan_new(x, x->nq, x->nq * (mem + head));
	uint8_t *at = (uint8_t *)RTE_PTR_ALIGN_CEIL(p->task + x->nq, CACHE_LINE);

	for (unsigned q = 0; q < x->nq; q++, at += mem + head) {
		struct queue_mem *m = (struct queue_mem *)(void *)at;
		for (unsigned n = 0; n < x->ngroups; n++) {
			const struct tgroup *g = &x->group[n];
			m->group[n] = (struct gen_group){
				.stream = g->stream,
				.nphases = (uint16_t)g->nphases,
				.phase = m->phase[n],
				.epoch = g->epoch,
				.by_bytes = g->by_bytes,
				.l2 = g->l2,
				.period = g->period,
				.limit = g->limit,
				.shape = g->shape,
			};
			for (unsigned i = 0; i < g->nphases; i++) {
				struct tphase *ph = g->phase[i];
				phase_ready(x, ph);
				m->phase[n][i] = (struct gen_phase){
					.k0 = ph->k0,
					.end = ph->end,
					.frun = ph->frun[q],
					.state = ph->state[q],
					.mark = ph->mark[q],
				};
			}
		}
		m->job = x->job;
		m->job.txq = x->txq[q];
		m->job.queue = (uint16_t)q;
		m->job.nqueues = (uint16_t)x->nq;
		m->job.ngroups = (uint16_t)x->ngroups;
		m->job.group = m->group;
		m->job.mem = at + head;
		p->task[q] = (struct dp_task){.kind = &dp_kind_gen,
					      .state = &x->gen[q]->base,
					      .job = &m->job};
	}
	return p;
}

static inline void post(struct world *x)
{
	assert_true(mbox_post(&x->w->mbox, plan_make(x)));
}

static inline void followed(struct world *x)
{
	for (unsigned q = 0; q < x->nq; q++)
		follow_plan(x, q);
	memcpy(x->adopted, x->group, sizeof(x->group));
	x->nadopted = x->ngroups;
}

static inline void turns(struct world *x, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		assert_true(dp_turn(x->w));
	reap(x);
}

/* Posts a plan, and turns the worker once, which takes the plan into use. */
static inline void adopt_now(struct world *x)
{
	post(x);
	followed(x);
	turns(x, 1);
	assert_int_equal(x->w->cells.acked, x->seq);
}

/* Does the same on the test's clock. The worker's part is done here, at x->now. */
static inline void adopt_at(struct world *x)
{
	struct dp_plan *p = plan_make(x);
	const struct dp_plan *old = x->w->plan;

	followed(x);
	for (unsigned q = 0; q < x->nq; q++)
		dp_kind_gen.adopt(x->w, &p->task[q], old != NULL ? old->task[q].job : NULL, x->now);
	x->w->plan = p;
	x->w->cells.acked = p->seq;
	reap(x);
}

/* Sends all that can be sent at x->now. */
static inline void poll_at(struct world *x)
{
	for (unsigned q = 0; q < x->nq; q++)
		for (unsigned idle = 0; idle < 3 && gen_is_on(x->gen[q]);)
			idle = dp_kind_gen.poll(x->w, &x->w->plan->task[q], x->now) > 0 ? 0
											: idle + 1;
}

static inline bool all_done(const struct world *x)
{
	for (unsigned q = 0; q < x->nq; q++)
		if (gen_run_state(x->gen[q], x->job.run) != GEN_DONE)
			return false;
	return true;
}

static inline void run_to_end(struct world *x)
{
	for (unsigned i = 0; i < 50000000 && !all_done(x); i++)
		dp_turn(x->w);
	assert_true(all_done(x));
	for (unsigned q = 0; q < x->nq; q++)
		assert_false(gen_is_on(x->gen[q]));
	reap(x);
}

static inline uint64_t total(const struct world *x, size_t offset)
{
	uint64_t sum = 0;

	for (unsigned q = 0; q < x->nq; q++)
		sum += *(const uint64_t *)((const char *)&x->txq[q]->cnt + offset);
	return sum;
}
#define TOTAL(x, counter) total(x, offsetof(struct cnt_tx, counter))

/* Checks the counters that control reads: they must be what the device took, by stream and by
 * size. */
static inline void check_counts(const struct world *x)
{
	static struct cnt_stream sum[MAX_IDS];
	struct cnt_sizes sizes = {0};

	memset(sum, 0, sizeof(sum));
	for (unsigned q = 0; q < x->nq; q++) {
		assert_true(gen_counts(x->gen[q], sum, MAX_IDS));
		assert_true(gen_sizes(x->gen[q], &sizes));
		probe_counts_right(&x->probe[q], x->gen[q]);
	}
	for (unsigned c = 0; c < CNT_NSIZES; c++)
		assert_int_equal(sizes.n[c], x->sizes[c]);
	for (unsigned s = 0; s < MAX_IDS; s++) {
		assert_int_equal(sum[s].packets, x->sent[s][0]);
		assert_int_equal(sum[s].bytes, x->sent[s][1]);
	}
}

/* Makes the port send one schedule as fast as possible. Returns its group. */
static inline struct tgroup *one_group(struct world *x, struct tphase *p)
{
	x->ngroups = 1;
	x->group[0] =
		(struct tgroup){.stream = -1, .limit = UINT64_MAX, .nphases = 1, .phase = {p}};
	return &x->group[0];
}

static inline struct world *world_new(unsigned nq, unsigned pool)
{
	struct world *x = zeroed(sizeof(*x));
	static unsigned serial;
	char name[24];
	struct err e;

	fake_open();
	x->nq = nq;
	x->w = zeroed(sizeof(*x->w));
	snprintf(name, sizeof(name), "w%u", serial++);
	assert_int_equal(mbox_open(&x->w->mbox, name, SOCKET_ID_ANY, &e), 0);
	for (unsigned q = 0; q < nq; q++) {
		x->txq[q] = zeroed(sizeof(*x->txq[q]));
		x->txq[q]->dev = FAKE_DEV;
		x->txq[q]->queue = (uint16_t)q;
		x->txq[q]->pool = pool_of(pool);
		assert_true(gen_pool_fits(x->txq[q]->pool));
		x->txq[q]->pool_size = pool;
		x->gen[q] = zeroed(sizeof(*x->gen[q]));
		x->gen[q]->cell = zeroed(GEN_MAX_STREAMS * sizeof(struct cnt_stream) +
					 sizeof(struct gen_probes));
		probe_open(&x->probe[q], x->gen[q], x->txq[q], q);
		x->at[q].x = x;
		x->at[q].q = q;
		fake[q].judge = judge;
		fake[q].rejected = judge_rejected;
		fake[q].arg = &x->at[q];
	}
	x->job = (struct gen_job){.burst = 32,
				  .run = 1,
				  .start_tsc = rte_rdtsc(),
				  .end_tsc = UINT64_MAX,
				  .grace_cycles = rte_get_tsc_hz() / 4000 * 4,
				  .forgive_cycles = rte_get_tsc_hz() / 20};
	struct tphase *p = phase_new(x);
	phase_add(p, 0, frames_of(x, 0, 64, 1, 1));
	one_group(x, p);
	return x;
}

/* Frees the world. Nothing may be lost or held, so every buffer must be back in its pool. */
static inline void world_free(struct world *x)
{
	check_counts(x);
	for (unsigned q = 0; q < x->nq; q++) {
		fake_release(&fake[q], 0);
		assert_int_equal(fake[q].frames, x->txq[q]->cnt.packets);
		assert_int_equal(fake[q].bytes, x->txq[q]->cnt.bytes);
		assert_true(rte_mempool_full(x->txq[q]->pool));
		rte_mempool_free(x->txq[q]->pool);
		free(x->txq[q]);
		free(x->gen[q]->cell);
		free(x->gen[q]);
	}
	for (unsigned i = 0; i < x->nplans; i++)
		free(x->plan[i]);
	for (struct tphase *p = x->phases, *older; p != NULL; p = older) {
		older = p->older;
		for (unsigned q = 0; q < FAKE_QUEUES && p->frun[q] != NULL; q++) {
			frun_free(p->frun[q]);
			free(p->state[q]);
		}
		free(p);
	}
	for (unsigned i = 0; i < x->nframes; i++)
		frame_recipe_free(&x->frames[i]);
	mbox_close(&x->w->mbox);
	free(x->w);
	free(x);
}
