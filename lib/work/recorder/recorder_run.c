/* SPDX-License-Identifier: BSD-3-Clause */
/* The workers' half of recorders: see recorder_run.h. */
#include "recorder_run.h"
#include "txq.h"

/* ---- frames ---- */

/* Copies the first bytes of a frame of several segments, or of one at the end of its buffer. */
static __rte_noinline void copy_parts(uint8_t *to, const struct rte_mbuf *m, uint32_t len)
{
	for (; len > 0 && m != NULL; m = m->next) {
		uint32_t part = RTE_MIN(len, (uint32_t)m->data_len);
		memcpy(to, rte_pktmbuf_mtod(m, const void *), part);
		to += part;
		len -= part;
	}
}

/* Begins a run with frame number `first`. */
static inline void begin_run(struct recorder_queue *q, uint64_t first, uint32_t len, uint64_t now)
{
	struct recorder_ring *r = q->ring;

	r->run[q->place] = (struct recorder_run){now, first, len, RTE_MIN(len, r->snap)};
	q->place = q->place + 1 < r->frames ? q->place + 1 : 0;
	r->nruns++;
}

/* Keeps frames of any kind, in slots that do not wrap. Frames that follow each other and are
 * equally long are one run. */
static __rte_noinline void keep_each(struct recorder_queue *q, uint32_t slot,
				     struct rte_mbuf *const *m, unsigned n, uint64_t first,
				     uint64_t now)
{
	struct recorder_ring *r = q->ring;
	uint32_t was = 0;

	for (unsigned i = 0; i < n; i++) {
		uint8_t *to = r->data + (size_t)(slot + i) * r->stride;
		uint32_t len = m[i]->pkt_len, cap = RTE_MIN(len, r->snap),
			 lines = RTE_ALIGN_CEIL(cap, RECORDER_LINE);
		if (likely(m[i]->data_len >= cap && m[i]->data_off + lines <= m[i]->buf_len))
			recorder_copy(to, 0, m + i, 1, lines);
		else
			copy_parts(to, m[i], cap);
		if (i == 0 || len != was)
			begin_run(q, first + i, len, now);
		was = len;
	}
}

/* Keeps frames in slots that do not wrap. What lies behind a frame is copied too, up to the end of
 * the line, which is cheaper than to look where it ends; the buffer has room for it. alike: they
 * have one length, one place in their buffers and one segment. */
static __rte_always_inline void keep_run(struct recorder_queue *q, uint32_t slot,
					 struct rte_mbuf *const *m, unsigned n, uint64_t first,
					 uint64_t now, bool alike)
{
	struct recorder_ring *r = q->ring;
	uint32_t len = m[0]->pkt_len, bytes = RTE_ALIGN_CEIL(RTE_MIN(len, r->snap), RECORDER_LINE);

	if (unlikely(!alike || m[0]->data_off + bytes > m[0]->buf_len)) {
		keep_each(q, slot, m, n, first, now);
		return;
	}
	recorder_copy(r->data + (size_t)slot * r->stride, r->stride, m, n, bytes);
	begin_run(q, first, len, now);
}

static __rte_always_inline void recorder_keep(struct recorder_queue *q, struct rte_mbuf *const *m,
					      unsigned n, uint64_t now, bool alike)
{
	uint64_t first = q->ring->count;
	uint32_t room = q->ring->frames - q->slot;

	q->m = m;
	q->n = n;
	q->hint = 0;
	q->base = first;
	q->last_tsc = now;
	if (likely(n <= room)) {
		keep_run(q, q->slot, m, n, first, now, alike);
		return;
	}
	keep_run(q, q->slot, m, room, first, now, alike);
	keep_run(q, 0, m + room, n - room, first + room, now, alike);
}

/* n frames of those that were kept stay. The slots of as many frames behind them are fetched: by
 * the time of the next burst they are there, and writing to them does not wait. */
static __rte_always_inline void recorder_stay(struct recorder_queue *q, unsigned n)
{
	struct recorder_ring *r = q->ring;
	uint32_t slot = q->slot + n;

	q->slot = slot < r->frames ? slot : slot - r->frames;
	r->count += n;
	cell_add(&q->seen_frames, n);
	uint32_t ahead = RTE_MIN(n, r->frames - q->slot);
	const uint8_t *at = r->data + (size_t)q->slot * r->stride;
#pragma GCC unroll 8
	for (uint32_t i = 0; i < ahead; i++)
		__builtin_prefetch(at + (size_t)i * r->stride, 1);
}

/* ---- rings ---- */

/* Hands the ring over and goes on in the spare one. Without a spare one the ring begins anew, and
 * what was noted in it is in no file. */
static void hand_over(struct recorder_queue *q, uint64_t word)
{
	struct recorder_ring *spare = __atomic_load_n(&q->spare, __ATOMIC_ACQUIRE), *r = q->ring;

	r->epoch = word;
	if (spare != NULL) {
		__atomic_store_n(&q->spare, NULL, __ATOMIC_RELAXED);
		q->ring = spare;
		__atomic_store_n(&q->frozen, r, __ATOMIC_RELEASE);
	} else {
		cell_add(&q->unwritten[RECORDER_BUSY], r->nfaults);
	}
	recorder_ring_begin(q->ring);
	q->slot = q->place = 0;
	for (unsigned i = 0; i < q->ngaps; i++) { /* their frames went with the ring */
		q->gap[i].fault.at = UINT64_MAX;
		q->gap[i].from = 0;
	}
}

/* Takes up what has become of the recorder since this queue last looked. */
static void follow_word(struct recorder_queue *q)
{
	uint64_t word = __atomic_load_n(&q->group->word, __ATOMIC_ACQUIRE);

	if (word == q->seen)
		return;
	if (word / 2 != q->seen / 2)
		hand_over(q, word & ~1ull);
	q->seen = word;
	q->trigger_at = q->ring->count;
}

/* ---- faults ---- */

/* Makes sure that a fault is going to be recorded in the present ring. false: it is not, and *why
 * says why. The ring is never handed over here, in the middle of a burst. */
static bool recorder_trigger(struct recorder_queue *q, enum recorder_why *why)
{
	struct recorder_group *g = q->group;
	uint64_t word = __atomic_load_n(&g->word, __ATOMIC_ACQUIRE);

	if (word == q->seen && (word & 1) == 0) {
		if (__atomic_load_n(&g->open, __ATOMIC_ACQUIRE) != word) {
			*why = (enum recorder_why)cell_get(&g->why);
			return false;
		}
		/* Another queue may make it odd at the same time, and even again. */
		if (__atomic_compare_exchange_n(&g->word, &word, word + 1, false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE))
			word++;
	}
	if (word / 2 != q->seen / 2) {
		*why = RECORDER_BUSY;
		return false;
	}
	if (word != q->seen)
		q->trigger_at = q->ring->count;
	q->seen = word;
	return true;
}

/* Notes a fault that is certain. */
static void recorder_note(struct recorder_queue *q, const struct recorder_fault *f)
{
	struct recorder_ring *r = q->ring;
	enum recorder_why why;

	cell_add(&q->told[f->kind], 1);
	if (!recorder_trigger(q, &why)) {
		cell_add(&q->unwritten[why], 1);
		return;
	}
	q->attend = true;
	/* Of the first one, frames behind a number that was missed have been waited for already. */
	if (r->nfaults == 0 && f->at < r->count)
		q->trigger_at = f->at;
	if (r->nfaults == RECORDER_FAULTS)
		cell_add(&q->unwritten[RECORDER_FULL], 1);
	else
		r->fault[r->nfaults++] = *f;
}

static void drop_gap(struct recorder_queue *q, unsigned i)
{
	q->ngaps--;
	memmove(q->gap + i, q->gap + i + 1, (q->ngaps - i) * sizeof(q->gap[0]));
}

/* The numbers of a gap are lost, unless all of them came after all. */
static void settle_gap(struct recorder_queue *q, unsigned i)
{
	struct recorder_gap g = q->gap[i];

	drop_gap(q, i);
	if (g.came < g.fault.missing && (q->group->kinds & DP_FAULT_BIT(LOSS)) != 0)
		recorder_note(q, &g.fault);
}

/* Settles gaps behind which at least so many frames have come. */
static void settle_gaps(struct recorder_queue *q, uint64_t frames)
{
	for (unsigned i = 0; i < q->ngaps;) {
		const struct recorder_gap *g = &q->gap[i];
		if (g->came >= g->fault.missing || q->ring->count - g->from >= frames)
			settle_gap(q, i);
		else
			i++;
	}
}

/* A number that was missed has come. */
static void fill_gap(struct recorder_queue *q, const struct dp_fault *f)
{
	for (unsigned i = 0; i < q->ngaps; i++) {
		const struct recorder_fault *g = &q->gap[i].fault;
		if (g->stream != f->stream || g->port != f->port || g->txq != f->txq ||
		    f->seq - g->expected >= g->missing)
			continue;
		q->gap[i].came++;
		return;
	}
}

/* The number of a frame of the present burst. Faults are told in the order of frames, so it is
 * looked for from the last one on. */
static uint64_t number_of(struct recorder_queue *q, const struct rte_mbuf *m)
{
	for (unsigned i = 0; i < q->n; i++) {
		unsigned k = q->hint + i < q->n ? q->hint + i : q->hint + i - q->n;
		if (q->m[k] != m)
			continue;
		q->hint = k;
		return q->base + k;
	}
	return UINT64_MAX;
}

void recorder_fault(void *queue, const struct dp_fault *f)
{
	struct recorder_queue *q = queue;
	struct recorder_fault r = {.kind = (uint8_t)f->kind,
				   .known = f->known,
				   .port = f->port,
				   .txq = f->txq,
				   .stream = f->stream,
				   .seq = f->seq,
				   .expected = f->expected,
				   .missing = f->missing,
				   .at = number_of(q, f->m),
				   .tsc = f->now,
				   .since = f->since,
				   .transit = f->transit};
	bool order = f->kind == DP_FAULT_LOSS || f->kind == DP_FAULT_REORDER;

	if (order && q->several && f->came < f->numbers - f->numbers / 8) {
		cell_add(&q->spread, 1);
		return;
	}
	if (f->kind == DP_FAULT_LOSS) {
		if (q->ngaps == RECORDER_GAPS)
			settle_gap(q, 0);
		q->gap[q->ngaps++] = (struct recorder_gap){.fault = r, .from = q->base};
		q->attend = true;
		return;
	}
	if (f->known && (order || f->kind == DP_FAULT_CORRUPT))
		fill_gap(q, f);
	if ((q->group->kinds >> f->kind & 1) != 0)
		recorder_note(q, &r);
}

/* ---- looking ---- */

/* Enough frames have come, or none come any more: all queues hand their rings over. */
static void recorder_freeze(struct recorder_queue *q, uint64_t settled)
{
	uint64_t word;

	settle_gaps(q, settled);
	word = q->seen;
	if ((word & 1) != 0)
		__atomic_compare_exchange_n(&q->group->word, &word, word + 1, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	follow_word(q);
}

static __rte_noinline void recorder_attend(struct recorder_queue *q, bool quiet)
{
	uint32_t frames = q->ring->frames;

	follow_word(q);
	if (q->ngaps > 0)
		settle_gaps(q, quiet ? 0 : frames / 8);
	if ((q->seen & 1) != 0) {
		uint64_t behind = q->ring->count - q->trigger_at;
		bool mine = q->ring->nfaults > 0;
		/* A queue without a fault waits for the others, but not until frames from the time
		 * of the fault are written over. */
		if (behind >= (mine ? frames / 4 : frames / 2) || (mine && quiet))
			recorder_freeze(q, quiet ? 0 : RECORDER_SETTLED);
	}
	q->attend = (q->seen & 1) != 0 || q->ngaps > 0;
}

void recorder_look(struct recorder_queue *q, uint64_t now)
{
	recorder_attend(q, (int64_t)(now - q->last_tsc) >= (int64_t)q->group->quiet_cycles);
}

static __rte_always_inline void recorder_begin(struct recorder_queue *q)
{
	if (unlikely(q->attend || __atomic_load_n(&q->group->word, __ATOMIC_RELAXED) != q->seen))
		recorder_attend(q, false);
}

void recorder_rx(void *queue, const struct dp_burst *b, struct rte_mbuf *const *m, unsigned n,
		 uint64_t now)
{
	struct recorder_queue *q = queue;

	recorder_begin(q);
	recorder_keep(q, m, n, now, b->alike && b->plain && b->len != 0);
	recorder_stay(q, n);
	q->ring->most = q->ring->count;
}

void recorder_offered(void *queue, struct rte_mbuf *const *m, unsigned n)
{
	struct recorder_queue *q = queue;
	uint64_t now = rte_rdtsc(), runs;

	recorder_begin(q);
	runs = q->ring->nruns;
	recorder_keep(q, m, n, now, false);
	if (q->ring->most < q->ring->count + n)
		q->ring->most = q->ring->count + n;
	q->offered = n;
	q->noffered = (uint32_t)(q->ring->nruns - runs);
}

/* The device has taken only the first n frames: the runs of the others are taken back. */
static __rte_noinline void take_back(struct recorder_queue *q, unsigned n)
{
	struct recorder_ring *r = q->ring;

	for (; q->noffered > 0; q->noffered--) {
		uint32_t last = q->place > 0 ? q->place - 1 : r->frames - 1;
		if (r->run[last].first < r->count + n)
			break;
		q->place = last;
		r->nruns--;
	}
}

void recorder_taken(void *queue, unsigned n)
{
	struct recorder_queue *q = queue;

	if (unlikely(n < q->offered))
		take_back(q, n);
	recorder_stay(q, n);
	q->offered = 0;
}

/* ---- the task ---- */

static void recorder_adopt(struct dp_worker *w, const struct dp_task *t, const void *old,
			   uint64_t now)
{
	const struct recorder_job *j = t->job;

	(void)w;
	t->state->next = now;
	for (unsigned i = 0; i < j->nqueues && old == NULL; i++) {
		const struct recorder_job_queue *of = &j->queue[i];
		of->q->last_tsc = now;
		for (unsigned k = 0; k < of->nshares; k++)
			txq_tap(of->share[k], &of->q->tap);
		cell_set(&of->q->held, 1);
	}
}

static unsigned recorder_poll(struct dp_worker *w, const struct dp_task *t, uint64_t now)
{
	const struct recorder_job *j = t->job;

	(void)w;
	for (unsigned i = 0; i < j->nqueues; i++)
		recorder_look(j->queue[i].q, now);
	t->state->next = now + j->group->look_cycles;
	return 0;
}

/* What was noted is handed over, so that it can still be written. */
static void recorder_drop(struct dp_worker *w, const struct dp_task *t, uint64_t now)
{
	const struct recorder_job *j = t->job;

	(void)w, (void)now;
	for (unsigned i = 0; i < j->nqueues; i++) {
		const struct recorder_job_queue *of = &j->queue[i];
		for (unsigned k = 0; k < of->nshares; k++)
			txq_untap(of->share[k], &of->q->tap);
		recorder_attend(of->q, true);
		__atomic_store_n(&of->q->held, 0, __ATOMIC_RELEASE);
	}
}

const struct dp_kind dp_kind_recorder = {
	.name = "recorder",
	.patient = true,
	.adopt = recorder_adopt,
	.poll = recorder_poll,
	.drop = recorder_drop,
};
