/* SPDX-License-Identifier: BSD-3-Clause */
/* The worker's half of a device under test, kind "dut": see dut.h. */
#include "dut_store.h"

#include <rte_ether.h>

#define TAKE_MOST 256 /* the most frames taken in one turn, and handed over */
#define GIVE 64       /* buffers taken from the pool at once */

enum purpose {
	FOR_LOSS = 1,
	FOR_DUPLICATE,
	FOR_REORDER,
	FOR_CORRUPT,
	FOR_BIT,
	FOR_DELAY,
	FOR_COPY_DELAY
};

/* Random numbers are a function of (seed, purpose, number), by a counter-based generator:
 * Stafford's variant 13 of the finalizer of MurmurHash3. */
static inline uint64_t dut_mixed(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static inline uint64_t dut_chance(const struct dut_job *j, uint64_t number, enum purpose why)
{
	return dut_mixed(dut_mixed(j->seed + why * 0x9e3779b97f4a7c15ull) +
			 number * 0x9e3779b97f4a7c15ull);
}

static inline bool dut_is_hit(const struct dut_hits *h, const struct dut_job *j, uint64_t number,
			      enum purpose why)
{
	if (h->every != 0)
		return (number + 1) % h->every == 0;
	return h->below != 0 && dut_chance(j, number, why) < h->below;
}

uint32_t dut_cells(const struct dut_line *l)
{
	return l->ncells + DUT_HELD * cells_of(l->max_len);
}

static struct dut_stamp stamp_of(const struct dut_line *l, const struct rte_mbuf *m)
{
	struct dut_stamp stamp;

	memcpy(&stamp, (const uint8_t *)m + l->stamp_at, sizeof(stamp));
	return stamp;
}

/* ---- a frame arrives ---- */

/* Was the link down at this time? */
static bool link_is_down(const struct dut_job *j, uint64_t at)
{
	if (j->link_down)
		return true;
	return j->flap_period != 0 && at >= j->flap_tsc &&
	       (at - j->flap_tsc) % j->flap_period >= j->flap_period - j->flap_down;
}

/* Is the frame longer than the job allows, without Ethernet header and up to two VLAN tags? */
static bool too_long(const struct dut_job *j, const struct rte_mbuf *m)
{
	uint32_t len = m->pkt_len, head = RTE_ETHER_HDR_LEN;
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);

	if (len <= head + j->max_len)
		return false;
	for (unsigned tags = 0; tags < 2 && m->data_len >= head; tags++, head += 4) {
		uint16_t type = (uint16_t)(p[head - 2] << 8 | p[head - 1]);
		if (type != RTE_ETHER_TYPE_VLAN && type != RTE_ETHER_TYPE_QINQ)
			break;
	}
	return len > head + j->max_len;
}

static bool is_lost(struct dut_state *s, const struct dut_job *j, uint64_t number)
{
	if (dut_is_hit(&j->loss, j, number, FOR_LOSS))
		s->loss_left = j->loss_burst;
	if (s->loss_left == 0)
		return false;
	s->loss_left--;
	return true;
}

/* Puts a frame into the queue in front of the server, which serves frames at the limit. *served is
 * when the frame has been served. Returns false if there is no room. */
static bool dut_serve(struct dut_state *s, const struct dut_job *j, uint32_t len, uint64_t *served)
{
	uint64_t *times = j->line->service;

	if (!j->limited) {
		/* not before the frames that a former limit has kept */
		*served = RTE_MAX(s->arrival, (uint64_t)(s->busy >> 32));
		return true;
	}
	while (s->served < s->asked && times[s->served % DUT_QUEUE_MAX] <= s->arrival)
		s->served++;
	if (s->asked - s->served >= j->queue)
		return false;
	if (s->busy < (dut_time)s->arrival << 32)
		s->busy = (dut_time)s->arrival << 32;
	s->busy += j->by_bytes ? j->unit_time * (len + j->more_bytes) : j->unit_time;
	*served = (uint64_t)(s->busy >> 32);
	times[s->asked++ % DUT_QUEUE_MAX] = *served;
	return true;
}

/* The delay at the random number u of 64 bits, linear between two steps of t. */
static uint64_t dut_between(const uint64_t *t, uint64_t u)
{
	uint64_t i = u >> 54, a = t[i], b = t[i + 1];

	return a + (uint64_t)((dut_time)(b - a) * (u << 10) >> 64);
}

static uint64_t delay_of(const struct dut_job *j, uint64_t number, enum purpose why)
{
	if (j->law == NULL && j->spread == 0)
		return j->delay;
	uint64_t u = dut_chance(j, number, why);
	if (j->law == NULL)
		return j->delay + (uint64_t)((dut_time)j->spread * u >> 64);
	if (u >> 54 == 0)
		return dut_between(j->law->low, u << 10);
	return u >> 54 == DUT_STEPS - 1 ? dut_between(j->law->high, u << 10)
					: dut_between(j->law->mid, u);
}

static void copy_out(const struct rte_mbuf *m, uint8_t *to)
{
	for (; m != NULL; m = m->next) {
		memcpy(to, rte_pktmbuf_mtod(m, const void *), m->data_len);
		to += m->data_len;
	}
}

/* Turns one bit of a frame, if it has the byte that the job names. */
static void dut_spoil(struct parked *f, const struct dut_job *j)
{
	uint64_t u = dut_chance(j, f->number, FOR_BIT);
	uint32_t from = f->len > RTE_ETHER_HDR_LEN ? RTE_ETHER_HDR_LEN : 0, at;

	if (j->corrupt_at >= 0 && j->corrupt_at < f->len)
		at = (uint32_t)j->corrupt_at;
	else if (j->corrupt_at >= 0)
		return; /* it has no such byte */
	else
		at = from + (uint32_t)((dut_time)(f->len - from) * u >> 64);
	f->data[at] ^= (uint8_t)(1u << (u & 7));
	f->corrupted = true;
}

/* Moves a held frame into the ring, behind all others there, as if it had just come. It is due at
 * `due`, or later if its own delay says so. If there is no room for it in the ring it is dropped as
 * overflow. */
static void let_go(struct dut_state *s, const struct dut_job *j, uint32_t held, uint64_t due)
{
	const struct parked *f = parked_at(j->line, held);
	uint32_t at = cells_take(s, j, cells_of(f->len));

	if (at == NONE) {
		s->now.overflow++;
		s->now.waiting--;
	} else {
		memcpy(parked_at(j->line, at), f, sizeof(*f) + f->len);
		schedule(s, j->line, at, RTE_MAX(f->due, due));
	}
	held_give(s, held);
}

/* A frame of Tx queue txq, which is due at `due`, overtakes held frames of this queue. Those that
 * have been overtaken by enough are let go. */
static void dut_overtake(struct dut_state *s, const struct dut_job *j, unsigned txq, uint64_t due)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < s->nheld; i++) {
		struct dut_held h = s->held[i];
		if (parked_at(j->line, h.at)->txq == txq && --h.left == 0)
			let_go(s, j, h.at, due);
		else
			s->held[kept++] = h;
	}
	s->nheld = kept;
}

/* Puts a frame that arrived into the device, from where it goes out when it is due. copy: it is the
 * second one of a frame that is duplicated. */
static void dut_keep(struct dut_state *s, const struct dut_job *j, const struct rte_mbuf *m,
		     unsigned ring, unsigned txq, uint64_t number, uint64_t served, bool copy)
{
	const struct dut_line *l = j->line;
	bool fits = m->pkt_len <= l->max_len,
	     hold = fits && !copy && s->nheld < DUT_HELD &&
		    dut_is_hit(&j->reorder, j, number, FOR_REORDER);
	uint32_t at = !fits  ? NONE
		      : hold ? held_take(s, l)
			     : cells_take(s, j, cells_of(m->pkt_len));

	if (at == NONE) {
		s->now.overflow++;
		return;
	}
	struct parked *f = parked_at(l, at);
	*f = (struct parked){.number = number,
			     .len = (uint16_t)m->pkt_len,
			     .ring = (uint8_t)ring,
			     .txq = (uint8_t)txq};
	copy_out(m, f->data);
	if (dut_is_hit(&j->corrupt, j, number, FOR_CORRUPT))
		dut_spoil(f, j);
	s->now.waiting++;
	f->due = served + delay_of(j, number, copy ? FOR_COPY_DELAY : FOR_DELAY);
	if (j->in_order)
		f->due = RTE_MAX(f->due, s->last_due);
	s->last_due = f->due;
	if (hold) {
		s->held[s->nheld++] = (struct dut_held){.at = at, .left = j->reorder_by};
		return;
	}
	uint64_t due = f->due;
	schedule(s, l, at, due);
	if (!copy && s->nheld > 0)
		dut_overtake(s, j, txq, due);
}

/* A frame arrives: decides what becomes of it, in the order that dut.h says. */
static void dut_arrive(struct dut_state *s, const struct dut_job *j, const struct rte_mbuf *m,
		       unsigned ring)
{
	struct dut_stamp stamp = stamp_of(j->line, m);
	uint64_t number = s->number++, served;
	unsigned txq = stamp.txq % DUT_QUEUES;

	s->now.in++;
	if ((int64_t)(stamp.tsc - s->arrival) > 0)
		s->arrival = stamp.tsc;
	bool lost = is_lost(s, j, number); /* first, since bursts of loss go on in any case */
	if (j->fail || link_is_down(j, s->arrival)) {
		s->now.failed++;
	} else if (j->max_len != 0 && too_long(j, m)) {
		s->now.too_long++;
	} else if (lost) {
		s->now.lost++;
	} else if (!dut_serve(s, j, m->pkt_len, &served)) {
		s->now.queue_drops++;
	} else {
		dut_keep(s, j, m, ring, txq, number, served, false);
		if (dut_is_hit(&j->duplicate, j, number, FOR_DUPLICATE)) {
			s->now.duplicated++;
			dut_keep(s, j, m, ring, txq, number, served, true);
		}
	}
}

/* ---- in and out ---- */

static inline bool take_more(const struct dut_line *l, struct dut_taken *t, unsigned ring)
{
	t->at = 0;
	t->n = rte_ring_sc_dequeue_burst(l->in[ring], (void **)t->m, DUT_TAKE, NULL);
	return t->n > 0;
}

static inline void let_in(struct dut_state *s, const struct dut_job *j, struct dut_taken *t,
			  unsigned ring)
{
	struct rte_mbuf *m = t->m[t->at++];

	dut_arrive(s, j, m, ring);
	rte_pktmbuf_free(m);
}

/* The ring whose next frame was sent before those of all other rings; DUT_QUEUES: all are empty. */
static unsigned dut_earliest(struct dut_state *s, const struct dut_line *l)
{
	unsigned best = DUT_QUEUES;
	uint64_t best_tsc = 0;

	for (unsigned r = 0; r < l->nrings; r++) {
		struct dut_taken *t = &s->taken[r];
		if (t->at == t->n && !take_more(l, t, r))
			continue;
		uint64_t tsc = stamp_of(l, t->m[t->at]).tsc;
		if (best == DUT_QUEUES || (int64_t)(tsc - best_tsc) < 0) {
			best = r;
			best_tsc = tsc;
		}
	}
	return best;
}

/* Takes frames from the rings in the order in which they were sent. Returns how many. */
static unsigned take_in(struct dut_state *s, const struct dut_job *j)
{
	struct dut_taken *t = s->taken;
	unsigned total = 0, ring;

	if (j->line->nrings > 1) {
		for (; total < TAKE_MOST && (ring = dut_earliest(s, j->line)) != DUT_QUEUES;
		     total++)
			let_in(s, j, &t[ring], ring);
		return total;
	}
	while (total < TAKE_MOST && take_more(j->line, t, 0)) {
		total += t->n;
		while (t->at < t->n)
			let_in(s, j, t, 0);
	}
	return total;
}

static void flush_held(struct dut_state *s, const struct dut_job *j)
{
	for (unsigned i = 0; i < s->nheld; i++)
		let_go(s, j, s->held[i].at, 0);
	s->nheld = 0;
}

/* The frame in a buffer of its own. There is one in s->stock. */
static struct rte_mbuf *frame_of(struct dut_state *s, const struct parked *f)
{
	struct rte_mbuf *m = s->stock[--s->nstock];

	rte_pktmbuf_reset(m);
	m->hash.usr = 0;
	m->data_len = f->len;
	m->pkt_len = f->len;
	memcpy(rte_pktmbuf_mtod(m, void *), f->data, f->len);
	return m;
}

static void count_out(struct dut_state *s, const struct parked *f)
{
	uint64_t *newest = &s->newest[f->txq];

	s->now.out++;
	s->now.waiting--;
	s->now.corrupted += f->corrupted;
	if (f->number + 1 < *newest)
		s->now.reordered++;
	else
		*newest = f->number + 1;
}

/* Hands over the frames that are due at `now`. Each goes to the ring of the receiver that belongs
 * to the ring by which it came. s->blocked is set if a frame is due and its ring is full, or there
 * is no buffer for it. Returns how many were handed over. */
static unsigned give_out(struct dut_state *s, const struct dut_line *l, uint64_t now)
{
	uint32_t room[DUT_QUEUES], at;
	uint64_t due = 0;
	unsigned total = 0;

	for (unsigned r = 0; r < l->nrings; r++)
		room[r] = rte_ring_free_count(l->out[r]);
	s->blocked = false;
	while (total < TAKE_MOST && (at = first(s, l, &due)) != NONE && (int64_t)(now - due) >= 0) {
		struct parked *f = parked_at(l, at);
		if (s->nstock == 0 && rte_mempool_get_bulk(l->pool, (void **)s->stock, GIVE) == 0)
			s->nstock = GIVE;
		if (s->nstock == 0 || room[f->ring] == 0) {
			s->blocked = true;
			break;
		}
		void *m = frame_of(s, f);
		rte_ring_sp_enqueue(l->out[f->ring], m);
		room[f->ring]--;
		take_first(s, l, f);
		count_out(s, f);
		cells_give(s, l, at);
		total++;
	}
	return total;
}

/* Shows the counters to control: see dut_read(). */
static void dut_publish(struct dut_state *s)
{
	const uint64_t *now = (const uint64_t *)&s->now;
	uint64_t epoch = cell_get(&s->epoch);

	s->now.held = s->nheld;
	s->now.taken = 0;
	for (unsigned r = 0; r < DUT_QUEUES; r++)
		s->now.taken += s->taken[r].n - s->taken[r].at;
	s->now.most_waiting = RTE_MAX(s->now.most_waiting, s->now.waiting);
	__atomic_store_n(&s->epoch, epoch + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	for (unsigned i = 0; i < DUT_NCOUNTS; i++)
		cell_set(&s->shown[i], now[i]);
	__atomic_store_n(&s->epoch, epoch + 2, __ATOMIC_RELEASE);
}

bool dut_read(const struct dut_state *s, struct dut_counts *out)
{
	uint64_t *to = (uint64_t *)out, epoch = __atomic_load_n(&s->epoch, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; i < DUT_NCOUNTS; i++)
		to[i] = cell_get(&s->shown[i]);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return epoch % 2 == 0 && epoch == __atomic_load_n(&s->epoch, __ATOMIC_RELAXED);
}

/* ---- the kind ---- */

static void dut_adopt(struct dp_worker *w, const struct dp_task *t, const void *old, uint64_t now)
{
	const struct dut_job *j = t->job;
	struct dut_state *s = (struct dut_state *)t->state;

	(void)w;
	if (old == NULL && s->arrival == 0)
		s->arrival = now;
	s->base.next = DP_NOW; /* it polls in every turn, because nobody tells it of frames */
	if (j->loss.below == 0 && j->loss.every == 0)
		s->loss_left = 0;
}

/* A frame that comes in may be due before those inside. So everything that was sent until now is
 * taken in before anything goes out; if that was too much for one turn, only what is due before the
 * newest arrival goes out. */
static unsigned dut_poll(struct dp_worker *w, const struct dp_task *t, uint64_t now)
{
	const struct dut_job *j = t->job;
	struct dut_state *s = (struct dut_state *)t->state;
	unsigned in = 0, out = 0;

	(void)w;
	if (unlikely(s->blocked))
		out = give_out(s, j->line, now);
	if (likely(!s->blocked)) {
		in = take_in(s, j);
		if (unlikely(s->nheld > 0 && in == 0 && j->sender_idle)) {
			flush_held(s, j);
			out++;
		}
		out += give_out(s, j->line, in < TAKE_MOST ? now : RTE_MIN(now, s->arrival));
	}
	if (in + out > 0)
		dut_publish(s);
	return in + out;
}

/* The device is closed, and all that is in it is dropped and counted as flushed. */
static void dut_drop(struct dp_worker *w, const struct dp_task *t, uint64_t now)
{
	const struct dut_job *j = t->job;
	struct dut_state *s = (struct dut_state *)t->state;

	(void)w, (void)now;
	if (s->nstock > 0)
		rte_mempool_put_bulk(j->line->pool, (void **)s->stock, s->nstock);
	s->nstock = 0;
	for (unsigned r = 0; r < j->line->nrings; r++) {
		struct dut_taken *k = &s->taken[r];
		s->now.in += k->n - k->at;
		s->now.flushed += k->n - k->at;
		rte_pktmbuf_free_bulk(k->m + k->at, k->n - k->at);
		k->at = k->n = 0;
	}
	s->now.flushed += s->now.waiting;
	s->now.waiting = 0;
	s->nparked = s->used = s->nfifo = s->nlate = s->nheld = s->held_made = s->held_back = 0;
	dut_publish(s);
}

const struct dp_kind dp_kind_dut = {
	.name = "dut",
	.adopt = dut_adopt,
	.poll = dut_poll,
	.drop = dut_drop,
};
