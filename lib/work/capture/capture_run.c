/* SPDX-License-Identifier: BSD-3-Clause */
/* The workers' half of captures: see capture_run.h. */
#include "capture_run.h"
#include "txq.h"

static inline uint64_t source_ns(const struct capture_source *s, uint64_t tsc)
{
	return s->ns_at + dp_clock_scale(tsc - s->tsc_at, s->mult);
}

/* ---- pieces ---- */

/* All frames with a stamp below ns have been handed over. */
static inline void capture_horizon(struct capture_source *s, uint64_t ns)
{
	__atomic_store_n(&s->horizon_ns, ns, __ATOMIC_RELEASE);
}

/* The ring has room for all pieces of the source. */
static void capture_give(struct capture_source *s, struct capture_piece *p)
{
	uint64_t last_ns = p->last_ns;

	rte_ring_sp_enqueue(s->full, p);
	capture_horizon(s, last_ns);
}

/* Opens one more piece for a frame of caplen bytes. Returns false if none is free. */
static __rte_noinline bool capture_open_piece(struct capture_source *s, uint32_t caplen)
{
	if (s->nopen == CAPTURE_OPEN_MAX || pcapio_epb_size(caplen) > CAPTURE_ROOM)
		return false;
	s->nspare += rte_ring_sc_dequeue_burst(s->empty, (void **)(s->spare + s->nspare),
					       s->npieces - s->nspare, NULL);
	if (s->nspare == 0)
		return false;
	struct capture_piece *p = s->spare[--s->nspare];
	p->used = p->frames = 0;
	p->bytes = 0;
	s->add[s->nopen] = (struct capture_add){0};
	s->open[s->nopen++] = p;
	return true;
}

/* The first `whole` open pieces are handed over, and those behind `keep` become spare ones. */
static void capture_close_pieces(struct capture_source *s, unsigned whole, unsigned keep)
{
	for (unsigned i = 0; i < whole; i++)
		capture_give(s, s->open[i]);
	while (s->nopen > keep)
		s->spare[s->nspare++] = s->open[--s->nopen];
	for (unsigned i = whole; i < keep; i++)
		s->open[i - whole] = s->open[i];
	s->nopen = keep - whole;
}

void capture_hand_over(struct capture_source *s)
{
	if (s->nopen > 0 && s->open[0]->frames > 0)
		capture_close_pieces(s, 1, 1);
}

/* ---- frames ---- */

/* Memory that is so many bytes ahead is fetched while frames are written: the writer had it last,
 * and to wait for each line took most of the time. It may lie behind the piece. */
#define AHEAD 4096

/* Copies a frame of several segments. */
static __rte_noinline void copy_segments(uint8_t *to, const struct rte_mbuf *m, uint32_t len)
{
	for (; len > 0; m = m->next) {
		uint32_t part = RTE_MIN(len, (uint32_t)m->data_len);
		memcpy(to, rte_pktmbuf_mtod(m, const void *), part);
		to += part;
		len -= part;
	}
}

/* Copies the first len bytes of a frame. Copies of a constant length are much faster than one of
 * any length, so up to 31 bytes too many are written; they may also be read, because a buffer goes
 * on behind its frame. Where it does not, the exact copy is taken. */
static __rte_always_inline void copy_frame(uint8_t *to, const struct rte_mbuf *m, uint32_t len)
{
	const uint8_t *from = rte_pktmbuf_mtod(m, const uint8_t *);

	if (unlikely(m->data_len < len)) {
		copy_segments(to, m, len);
		return;
	}
	if (unlikely(m->data_off + len + 31 > m->buf_len || len > 512)) {
		memcpy(to, from, len);
		return;
	}
	for (uint32_t i = 0; i < len; i += 32)
		memcpy(to + i, from + i, 32);
}

/* Copies the frames of a burst behind what is there, and notes in s->add what they add. some: the
 * filter lets only those through whose bit in s->match is set. */
static __rte_always_inline void capture_store(struct capture_source *s, struct rte_mbuf *const *m,
					      unsigned n, uint64_t ns, bool some)
{
	unsigned last = s->nopen > 0 ? s->nopen - 1 : 0, accepted = 0, stored = 0;
	uint8_t *data = s->nopen > 0 ? s->open[last]->data : NULL;
	uint32_t begin = s->nopen > 0 ? s->open[last]->used : 0, at = begin, frames = 0;
	uint32_t room = s->nopen > 0 ? CAPTURE_ROOM : 0;
	uint64_t bytes = 0;

	for (unsigned i = 0; i < n; i++) {
		if (some && (s->match[i / 64] >> i % 64 & 1) == 0)
			continue;
		uint32_t len = m[i]->pkt_len, cap = RTE_MIN(len, s->snap);
		/* After the first frame that finds no room none of the burst is stored, so that
		 * those which are stored are the first ones. */
		bool fits = stored == accepted++;
		if (unlikely(at + pcapio_epb_size(cap) > room && fits)) {
			s->add[last] = (struct capture_add){at - begin, frames, bytes};
			if (!capture_open_piece(s, cap))
				continue;
			last = s->nopen - 1;
			data = s->open[last]->data;
			room = CAPTURE_ROOM;
			begin = at = frames = 0;
			bytes = 0;
		}
		if (unlikely(!fits))
			continue;
		rte_prefetch0_write(data + at + AHEAD);
		rte_prefetch0_write(data + at + AHEAD + CACHE_LINE);
		copy_frame(data + at + PCAPIO_EPB_HEAD, m[i], cap);
		at += pcapio_epb_put(&s->epb, data + at, ns, cap, len);
		frames++;
		bytes += len + RTE_ETHER_CRC_LEN;
		stored++;
	}
	s->add[last] = (struct capture_add){at - begin, frames, bytes};
	s->offered = n;
	s->accepted_now = accepted;
	s->stored = stored;
	s->burst_ns = ns;
}

static __rte_always_inline void capture_burst(struct capture_source *s, struct rte_mbuf *const *m,
					      unsigned n, uint64_t now)
{
	s->offered = s->accepted_now = s->stored = 0;
	if (unlikely(now >= s->end_tsc)) {
		s->add[0] = (struct capture_add){0};
		return;
	}
	if (s->filter != NULL) {
		for (unsigned i = 0; i < n; i += 64)
			s->match[i / 64] =
				filter_match_burst(s->filter, m + i, RTE_MIN(64u, n - i));
		capture_store(s, m, n, source_ns(s, now), true);
	} else {
		capture_store(s, m, n, source_ns(s, now), false);
	}
}

/* Counts what a burst adds to one of the open pieces. */
static __rte_always_inline void capture_add(struct capture_source *s, unsigned slot,
					    const struct capture_add *add)
{
	struct capture_piece *p = s->open[slot];

	if (add->frames == 0)
		return;
	if (p->frames == 0) {
		p->first_ns = s->burst_ns;
		s->began_ns = slot == 0 ? s->burst_ns : s->began_ns;
	}
	p->last_ns = s->burst_ns;
	p->used += add->used;
	p->frames += add->frames;
	p->bytes += add->bytes;
}

/* All that was stored stays. */
static __rte_always_inline void capture_keep_all(struct capture_source *s)
{
	unsigned n = s->nopen;

	for (unsigned i = 0; i < n; i++)
		capture_add(s, i, &s->add[i]);
	if (unlikely(n > 1))
		capture_close_pieces(s, n - 1, n);
}

/* The first `keep` frames that were stored stay, and the others go. */
static __rte_noinline void capture_keep(struct capture_source *s, unsigned keep)
{
	unsigned slot = 0;

	for (; slot < s->nopen; slot++) {
		const struct capture_add *add = &s->add[slot];
		const uint8_t *at = s->open[slot]->data + s->open[slot]->used;
		struct capture_add part = {0};
		if (keep >= add->frames && slot + 1 < s->nopen) {
			keep -= add->frames;
			capture_add(s, slot, add);
			continue;
		}
		for (; part.frames < keep; part.frames++) {
			part.bytes += pcapio_epb_origlen(at + part.used) + RTE_ETHER_CRC_LEN;
			part.used += pcapio_epb_length(at + part.used);
		}
		capture_add(s, slot, &part);
		break;
	}
	if (s->nopen > 0)
		capture_close_pieces(s, slot, slot + 1);
}

/* How many of the first n frames that were offered the filter has let through. */
static unsigned capture_accepted(const struct capture_source *s, unsigned n)
{
	unsigned accepted = 0;

	if (s->filter == NULL)
		return n;
	for (unsigned i = 0; i < n; i++)
		accepted += s->match[i / 64] >> i % 64 & 1;
	return accepted;
}

static __rte_always_inline void capture_count(struct capture_source *s, unsigned seen,
					      unsigned accepted, unsigned stored)
{
	cell_add(&s->seen, seen);
	cell_add(&s->accepted, accepted);
	if (unlikely(stored < accepted))
		cell_add(&s->no_block, accepted - stored);
}

void capture_rx(void *source, const struct dp_burst *b, struct rte_mbuf *const *m, unsigned n,
		uint64_t now)
{
	struct capture_source *s = source;

	(void)b;
	capture_burst(s, m, n, now);
	capture_keep_all(s);
	capture_count(s, s->offered, s->accepted_now, s->stored);
}

void capture_offered(void *source, struct rte_mbuf *const *m, unsigned n)
{
	capture_burst(source, m, n, rte_rdtsc());
}

void capture_taken(void *source, unsigned n)
{
	struct capture_source *s = source;
	unsigned accepted = s->accepted_now, stored = s->stored;

	if (unlikely(n < s->offered)) {
		accepted = capture_accepted(s, n);
		stored = RTE_MIN(stored, accepted);
		s->offered = n;
		capture_keep(s, stored);
	} else {
		capture_keep_all(s);
	}
	capture_count(s, s->offered, accepted, stored);
	s->offered = s->accepted_now = s->stored = 0;
}

/* ---- the task ---- */

static void capture_adopt(struct dp_worker *w, const struct dp_task *t, const void *old,
			  uint64_t now)
{
	const struct capture_job *j = t->job;

	(void)w;
	t->state->next = now;
	for (unsigned i = 0; i < j->nsources && old == NULL; i++) {
		const struct capture_job_source *of = &j->source[i];
		capture_horizon(of->source, source_ns(of->source, now));
		for (unsigned k = 0; k < of->nshares; k++)
			txq_tap(of->share[k], &of->source->tap);
	}
}

static void capture_look(struct capture_source *s, const struct capture_job *j, uint64_t now)
{
	uint64_t ns = source_ns(s, now);
	bool holds = s->nopen > 0 && s->open[0]->frames > 0;

	if (holds && (int64_t)(ns - s->began_ns) >= (int64_t)j->age_ns) {
		capture_hand_over(s);
		holds = false;
	}
	capture_horizon(s, holds ? s->began_ns : ns);
}

static unsigned capture_poll(struct dp_worker *w, const struct dp_task *t, uint64_t now)
{
	const struct capture_job *j = t->job;

	(void)w;
	for (unsigned i = 0; i < j->nsources; i++)
		capture_look(j->source[i].source, j, now);
	t->state->next = now + j->look_cycles;
	return 0;
}

static void capture_drop(struct dp_worker *w, const struct dp_task *t, uint64_t now)
{
	const struct capture_job *j = t->job;

	(void)w, (void)now;
	for (unsigned i = 0; i < j->nsources; i++) {
		const struct capture_job_source *of = &j->source[i];
		for (unsigned k = 0; k < of->nshares; k++)
			txq_untap(of->share[k], &of->source->tap);
		capture_hand_over(of->source);
		capture_horizon(of->source, UINT64_MAX);
	}
}

const struct dp_kind dp_kind_capture = {
	.name = "capture",
	.patient = true,
	.adopt = capture_adopt,
	.poll = capture_poll,
	.drop = capture_drop,
};
