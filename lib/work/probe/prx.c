/* SPDX-License-Identifier: BSD-3-Clause */
/* The tap: looks at the frames of a burst, and counts their arrival and the sequence numbers and
 * times of their probes. Where it can it takes a batch at once (count_batch()), else frame by frame
 * (prx_look()). */
#include "prx_own.h"

/* ---- gaps and dispersion ---- */

/* Closes the windows that have ended. A window of one scale is as long as ten of the scale before,
 * and all begin together. Frames are counted in the shortest windows; when one ends, its number is
 * added to the current window of the next scale. */
static __rte_noinline void close_windows(struct prx *x, uint64_t now)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < PRX_SCALES && now >= x->port.scale[i].end; i++) {
		uint64_t cycles = x->port.scale[i].cycles, end = x->port.scale[i].end;
		n += x->port.scale[i].n;
		x->port.scale[i].n = 0;
		if (end == 0) { /* no frame has come before: this one opens the first window */
			x->port.scale[i].end = now + cycles;
			continue;
		}
		/* the window that ended, and the empty ones behind it */
		uint64_t over = now - end < cycles ? 1 : (now - end) / cycles + 1;
		cell_add(&x->port.scale[i].windows, over);
		cell_add(&x->port.scale[i].sum, n);
		cell_add(&x->port.scale[i].sum_sq, n * n);
		x->port.scale[i].end = end + over * cycles;
		if (i + 1 < PRX_SCALES && now < x->port.scale[i + 1].end)
			x->port.scale[i + 1].n += n;
	}
}

/* Which of prx_port.near counts this gap. */
static inline unsigned prx_nearness(uint64_t target, uint64_t gap)
{
	uint64_t off = gap > target ? gap - target : target - gap,
		 times = (off - (off != 0)) / PRX_NEAR_NS, far = 1ull << (PRX_NEARS - 1);

	times = times < far ? times : far;
	return 63 - (unsigned)__builtin_clzll(times << 1 | 1);
}

/* Counts the gap before n frames that arrived at one time, and n - 1 gaps of 0 between them. */
static inline void count_gaps(struct prx *x, unsigned n, uint64_t now)
{
	struct hist *h = x->hist[PRX_GAP];
	uint64_t gap = prx_ns(x->ns_mult, now - x->port.last_tsc), target = cell_get(&x->target_ns);

	if (likely(x->port.last_tsc != 0)) {
		if (likely(gap >> PRX_TOP == 0)) {
			cell_add(&h->bucket[hist_bucket(PRX_PORT_BITS, gap)], 1);
			hist_add_sum(h, gap);
		} else {
			cell_add(&h->above, 1);
		}
		cell_add(&x->port.near[prx_nearness(target, gap)], 1);
	}
	cell_add(&h->bucket[0], n - 1);
	cell_add(&x->port.near[prx_nearness(target, 0)], n - 1);
}

static inline void count_arrivals(struct prx *x, unsigned n, uint64_t now)
{
	count_gaps(x, n, now);
	cell_set(&x->port.last_tsc, now);
	if (unlikely(now >= x->port.scale[0].end))
		close_windows(x, now);
	x->port.scale[0].n += n;
}

/* ---- probes ---- */

/* A probe that was found: its words, when it arrived, and its flow. */
struct found {
	uint64_t hi, lo, now;
	uint32_t flow;
};

/* Counts the sequence number of frame m. Returns false if it is impossible, and then nothing is
 * counted. */
static inline bool count_number(struct prx *x, const struct rte_mbuf *m, uint32_t flow,
				uint32_t seq, uint64_t now)
{
	struct prx_flow *f = &x->flow[flow];
	uint64_t next = f->next;

	if (unlikely(seq != (uint32_t)next || next == 0))
		return prx_number(x, m, flow, seq, now);
	if (unlikely((next & 63) == 0)) {
		prx_begin_block(x, flow, next + 1, 1);
	} else {
		cell_set(&f->bits, f->bits | 1ull << (next & 63));
		cell_set(&f->next, next + 1);
	}
	__atomic_store_n(&f->received, f->received + 1, __ATOMIC_RELEASE);
	return true;
}

static inline void set_jitter(struct prx_flow *f, double cycles)
{
	uint64_t bits;

	memcpy(&bits, &cycles, sizeof(bits));
	cell_set(&f->jitter, bits);
}

/* Takes up the transit of a probe whose number was counted. first: there is no probe before it with
 * whose transit it could be compared. */
static inline void count_transit(struct prx_flow *f, uint64_t transit, uint64_t now, bool first)
{
	uint64_t was = f->last_transit, off = transit > was ? transit - was : was - transit;
	double jitter = prx_jitter(f);

	if (likely(!first))
		set_jitter(f, jitter + ((double)(int64_t)off - jitter) * PRX_JITTER_SHARE);
	f->last_transit = transit;
	if (unlikely(~transit > f->transit_min))
		cell_set(&f->transit_min, ~transit);
	if (unlikely(transit > f->transit_max))
		cell_set(&f->transit_max, transit);
	cell_set(&f->last_tsc, now);
}

/* Counts a time in a histogram. Returns what it adds to the sum of values: 0 if it is out of
 * range. */
static inline uint64_t add_ns(struct hist *h, uint64_t ns)
{
	hist_add(h, ns, 1);
	return ns >> h->shape.top == 0 ? ns : 0;
}

/* Counts times, in cycles, in the histograms of the flow's stream, if it has some. */
static __rte_noinline void count_stream(struct prx *x, uint32_t flow, uint64_t transit,
					uint64_t delay)
{
	uint32_t hist = x->more[flow].hist;

	for (unsigned w = PRX_ACTUAL; hist != 0 && w <= PRX_INTENDED; w++) {
		struct hist *h = prx_own_hist(x, hist, (enum prx_hist)w);
		hist_add_sum(h, add_ns(h, prx_ns(x->ns_mult,
						 w == PRX_ACTUAL ? transit : transit + delay)));
	}
}

/* Counts the times of a probe. *actual and *intended are the sums that the caller adds to the
 * histograms at the end. */
static inline void count_times(struct prx *x, const struct rte_mbuf *m, const struct found *p,
			       uint64_t *actual, uint64_t *intended)
{
	struct prx_flow *f = &x->flow[p->flow];
	uint64_t transit = PROBE_TRANSIT(p->now, p->lo), delay = probe_delay(p->hi, p->lo);

	if (unlikely(transit >= PRX_LATEST)) {
		cell_add(&x->port.early, 1);
		transit = 0;
	}
	if (unlikely(transit > x->late))
		prx_fault(x, p->flow,
			  &(struct dp_fault){.kind = DP_FAULT_LATENCY,
					     .m = m,
					     .seq = (uint32_t)PROBE_SEQ(p->hi),
					     .now = p->now,
					     .transit = transit});
	struct prx_extra *extra = __atomic_load_n(&x->extra, __ATOMIC_ACQUIRE);
	if (unlikely(extra != NULL))
		prx_extra_count(x, extra, f, transit, p->now);
	count_transit(f, transit, p->now, f->last_tsc == 0);
	*actual += add_ns(x->hist[PRX_ACTUAL], prx_ns(x->ns_mult, transit));
	*intended += add_ns(x->hist[PRX_INTENDED], prx_ns(x->ns_mult, transit + delay));
	if (x->streams_have_hists)
		count_stream(x, p->flow, transit, delay);
}

/* Counts a frame that is not a received probe. */
static __rte_noinline void count_other(struct prx *x, const struct rte_mbuf *m,
				       enum prx_class class, const struct found *p, uint64_t now)
{
	uint64_t transit = PROBE_TRANSIT(p->now, p->lo);

	switch (class) {
	case PRX_CORRUPTED:
		cell_add(prx_corrupted(x, m, p->flow, (uint32_t)PROBE_SEQ(p->hi), transit, now)
				 ? &x->port.probes
				 : &x->port.foreign,
			 1);
		break;
	case PRX_IS_FOREIGN:
	case PRX_PROBE: /* with an impossible number */
		cell_add(&x->port.foreign, 1);
		break;
	case PRX_DAMAGED:
		cell_add(&x->port.damaged, 1);
		if (x->tell != NULL)
			prx_fault(x, PRX_NO_FLOW,
				  &(struct dp_fault){.kind = DP_FAULT_CORRUPT, .m = m, .now = now});
		break;
	case PRX_PLAIN:
		cell_add(&x->port.plain, 1);
		break;
	}
}

/* Reads the probe at the place where the last one was found. Returns false if there is no whole
 * probe of a known flow, or if it may be quoted. */
static inline bool prx_expected(const struct prx *x, const struct rte_mbuf *m, struct found *p)
{
	uint32_t at = x->place[0];

	if (unlikely(m->data_len < at + PROBE_LEN || x->guarded))
		return false;
	const uint8_t *b = rte_pktmbuf_mtod(m, const uint8_t *) + at;
	prx_load(b, &p->hi, &p->lo);
	if (unlikely(!probe_right(p->hi, p->lo)))
		return false;
	p->flow = prx_flow_index(x, p->hi, p->lo);
	return likely(p->flow != PRX_NO_FLOW);
}

static inline bool sums_bad(const struct rte_mbuf *m)
{
	return (m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) == RTE_MBUF_F_RX_IP_CKSUM_BAD ||
	       (m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_BAD;
}

/* Counts n frames one by one, whatever they are. when: their times of arrival; NULL: all arrived
 * now. */
static __rte_noinline void prx_look(struct prx *x, struct rte_mbuf *const *m, unsigned n,
				    uint64_t now, const uint64_t *when)
{
	uint64_t actual = 0, intended = 0;
	unsigned probes = 0;

	for (unsigned i = 0; i < n; i++) {
		struct found p = {.now = unlikely(when != NULL) ? when[i] : now};
		enum prx_class class = PRX_PROBE;
		bool known = true;
		if (x->verify || sums_bad(m[i]) || !prx_expected(x, m[i], &p)) {
			class = prx_classify(x, m[i], now, &p.hi, &p.lo);
			p.flow = class <= PRX_CORRUPTED ? prx_flow_index(x, p.hi, p.lo) : 0;
		}
		if (likely(class == PRX_PROBE))
			known = count_number(x, m[i], p.flow, (uint32_t)PROBE_SEQ(p.hi), now);
		if (unlikely(class != PRX_PROBE || !known)) {
			count_other(x, m[i], class, &p, now);
			continue;
		}
		count_times(x, m[i], &p, &actual, &intended);
		probes++;
	}
	cell_add(&x->port.probes, probes);
	hist_add_sum(x->hist[PRX_ACTUAL], actual);
	hist_add_sum(x->hist[PRX_INTENDED], intended);
}

/* Says where the probes of a batch lie, if each lies where the last one was found. Returns false if
 * some frame is too short for that, has a bad checksum by the device, or begins elsewhere in its
 * buffer than the first. */
static inline bool place_batch(const struct prx *x, const struct dp_burst *all,
			       struct rte_mbuf *const *m, unsigned n, struct prx_batch *b)
{
	uint32_t at = x->place[0], shortest = m[0]->data_len, off = m[0]->data_off, differs = 0;
	uint64_t flags = m[0]->ol_flags;

	for (unsigned i = 0; unlikely(!all->alike) && i < n; i++) {
		uint32_t len = m[i]->data_len;
		flags |= m[i]->ol_flags;
		differs |= m[i]->data_off ^ off;
		shortest = len < shortest ? len : shortest;
	}
	b->m = m;
	b->off = off + at;
	return shortest >= at + PROBE_LEN && differs == 0 &&
	       (flags & (RTE_MBUF_F_RX_IP_CKSUM_BAD | RTE_MBUF_F_RX_L4_CKSUM_BAD)) == 0;
}

static uint64_t delay_of(const struct prx_batch *b, unsigned i)
{
	uint64_t hi, lo;

	prx_load(PRX_PROBE(b->m[i], b->off), &hi, &lo);
	return probe_delay(hi, lo);
}

/* Takes a probe of the batch out of what is counted: its number is impossible. */
static __rte_noinline void take_off(struct prx *x, struct prx_batch *b, unsigned i)
{
	b->taken_off |= 1ull << i;
	b->delays -= delay_of(b, i);
	cell_add(&x->port.foreign, 1);
}

/* Counts the probes i .. end - 1 of a batch one by one. Returns the sum of their transits. */
static inline uint64_t count_some(struct prx *x, struct prx_batch *b, unsigned i, unsigned end,
				  uint64_t now)
{
	uint64_t transits = 0;

	for (; i < end; i++) {
		struct prx_flow *f = &x->flow[b->flow[i]];
		bool first = f->last_tsc == 0;
		if (unlikely(!count_number(x, b->m[i], b->flow[i], b->seq[i], now))) {
			take_off(x, b, i);
			continue;
		}
		count_transit(f, b->transit[i], now, first);
		transits += b->transit[i];
	}
	return transits;
}

/* Counts the numbers and transits of a batch, by their flows. Returns the sum of the transits. */
static inline uint64_t count_flows(struct prx *x, struct prx_batch *b, unsigned n, uint64_t now)
{
	uint64_t transits = 0;

	if (x->many_flows)
#pragma GCC unroll 8
		for (unsigned i = 0; i < n; i++)
			rte_prefetch0(&x->flow[b->flow[i]]);
	if (x->ops->flows == NULL)
		return count_some(x, b, 0, n, now);
	for (unsigned i = 0; i < n; i += PRX_LANES) {
		i = x->ops->flows(x->flow, b, i, n, now, &transits);
		if (i < n)
			transits += count_some(x, b, i, i + PRX_LANES, now);
	}
	return transits;
}

/* Counts n probes of one flow that came in the order in which they were sent. */
static inline void count_in_order(struct prx *x, uint32_t flow, unsigned n,
				  const struct prx_range *r, uint64_t last_transit, uint64_t now)
{
	struct prx_flow *f = &x->flow[flow];
	uint64_t next = f->next;
	/* so many more numbers belong to the block of next - 1 */
	unsigned at = next & 63, here = at != 0 ? 64 - at : 0;

	if (here > 0) {
		here = here < n ? here : n;
		cell_set(&f->bits, f->bits | (UINT64_MAX >> (64 - here)) << at);
		__atomic_store_n(&f->next, next + here, __ATOMIC_RELEASE);
	}
	if (here < n)
		prx_begin_block(x, flow, next + n, UINT64_MAX >> (64 - (n - here)));
	set_jitter(f, r->jitter);
	f->last_transit = last_transit;
	if (~r->min > f->transit_min)
		cell_set(&f->transit_min, ~r->min);
	if (r->max > f->transit_max)
		cell_set(&f->transit_max, r->max);
	cell_set(&f->last_tsc, now);
	__atomic_store_n(&f->received, f->received + n, __ATOMIC_RELEASE);
}

/* Counts the buckets of the last batch. They are known late, and lie in many cache lines, which
 * take a while to fetch. So they are only noted at first, and counted when the next burst is here,
 * before it is looked at, or when the queue is found empty. */
static inline void add_pending(struct prx *x)
{
	for (unsigned k = 0; k < 2; k++) {
		struct prx_pending *s = &x->pending[k];
		cell_t *bucket = x->hist[k]->bucket;
#pragma GCC unroll 8
		for (unsigned i = 0; i < s->n; i++)
			cell_add(&bucket[s->bucket[i]], s->times);
		s->n = 0;
	}
}

void prx_flush(void *state)
{
	add_pending(state);
}

static inline void drop_taken_off(struct prx_pending *s, uint64_t taken_off)
{
	unsigned n = s->n;

	s->n = 0;
	for (unsigned i = 0; i < n; i++)
		if ((taken_off >> i & 1) == 0)
			s->bucket[s->n++] = s->bucket[i];
}

/* Notes the buckets of a batch of n probes, which have been computed: one for all of them (same),
 * or one for each. taken_off: a bit for each probe that does not count. */
static inline void add_buckets(struct prx *x, enum prx_hist which, unsigned n, bool same,
			       uint64_t taken_off)
{
	struct prx_pending *s = &x->pending[which];

	s->n = same ? 1 : n;
	s->times = same ? n - (unsigned)__builtin_popcountll(taken_off) : 1;
	if (same)
		__builtin_prefetch(&x->hist[which]->bucket[s->bucket[0]], 1);
	else if (unlikely(taken_off != 0))
		drop_taken_off(s, taken_off);
}

/* Counts the probes of a batch, and notes their times in x->pending. transits: the sum over the
 * probes that were not taken off. */
static inline void add_batch(struct prx *x, const struct prx_batch *b, unsigned n,
			     uint64_t transits)
{
	cell_add(&x->port.probes, n - (unsigned)__builtin_popcountll(b->taken_off));
	if (b->one_transit)
		x->pending[PRX_ACTUAL].bucket[0] =
			hist_bucket(PRX_PORT_BITS, prx_ns(x->ns_mult, b->transit[0]));
	else
		x->ops->buckets(x->pending[PRX_ACTUAL].bucket, b->transit, n, x->ns);
	add_buckets(x, PRX_ACTUAL, n, b->one_transit, b->taken_off);
	add_buckets(x, PRX_INTENDED, n, b->one_due, b->taken_off);
	hist_add_sum(x->hist[PRX_ACTUAL], prx_ns(x->ns_mult, transits));
	hist_add_sum(x->hist[PRX_INTENDED], prx_ns(x->ns_mult, transits + b->delays));
}

/* Computes what the batch changes in its only flow: range and sum of transits, and the jitter. */
static inline void transit_range(const struct prx_ops *ops, const struct prx_flow *f,
				 const struct prx_batch *b, unsigned n, struct prx_range *r)
{
	uint64_t was = f->last_transit, transit = b->transit[0],
		 off = transit > was ? transit - was : was - transit;
	double jitter = prx_jitter(f);

	if (!b->one_transit) {
		*r = (struct prx_range){.was = was, .jitter = jitter};
		ops->range(b, n, r);
		return;
	}
	jitter = jitter * PRX_OLD_JITTER(n) + (double)(int64_t)off * prx_weight[PRX_BATCH - n];
	*r = (struct prx_range){.sum = n * transit,
				.min = transit,
				.max = transit,
				.jitter = jitter};
}

/* Counts the batch if all of its probes are of one flow and have the next numbers of it. Else it
 * returns false. */
static inline bool count_one(struct prx *x, struct prx_batch *b, unsigned n, uint64_t now)
{
	uint64_t hi, lo;

	prx_load(PRX_PROBE(b->m[0], b->off), &hi, &lo);
	uint32_t flow = prx_flow_index(x, hi, lo);
	if (unlikely(flow == PRX_NO_FLOW))
		return false;
	const struct prx_flow *f = &x->flow[flow];
	if ((uint32_t)PROBE_SEQ(hi) != (uint32_t)f->next ||
	    unlikely(f->next == 0 || f->last_tsc == 0))
		return false;
	struct prx_one c = {.now = now,
			    .limit = x->limit,
			    .ns = x->ns,
			    .hi = hi & PRX_ONE_HI,
			    .lo = lo & PRX_ONE_LO};
	if (unlikely(!x->ops->one(b, n, &c)))
		return false;
	struct prx_range r;
	transit_range(x->ops, f, b, n, &r);
	add_batch(x, b, n, r.sum);
	count_in_order(x, flow, n, &r, b->transit[n - 1], now);
	if (unlikely(r.max > x->late))
		prx_fault_late(x, flow, b, n, now);
	for (unsigned i = 0; unlikely(x->streams_have_hists) && i < n; i++)
		count_stream(x, flow, b->transit[i], delay_of(b, i));
	return true;
}

/* Counts the batch if all of its probes are of known flows of one port. Else it returns false. */
static inline bool count_many(struct prx *x, struct prx_batch *b, unsigned n, uint64_t now)
{
	unsigned port = PRX_PROBE(b->m[0], b->off)[6] >> (PROBE_HI_PORT - 8) & (PROBE_PORTS - 1);
	struct prx_common c = {.now = now,
			       .limit = x->limit,
			       .ns = x->ns,
			       .port = port,
			       .base = x->of[port].base,
			       .nstreams = x->of[port].nstreams,
			       .nqueues = x->of[port].nqueues,
			       .queue_bits = x->of[port].queue_bits};

	if (unlikely(!x->ops->many(b, n, &c)))
		return false;
	uint64_t transits = count_flows(x, b, n, now);
	add_batch(x, b, n, transits);
	if (unlikely(x->late != UINT64_MAX))
		prx_fault_late(x, PRX_NO_FLOW, b, n, now);
	for (unsigned i = 0; unlikely(x->streams_have_hists) && i < n; i++)
		if ((b->taken_off >> i & 1) == 0)
			count_stream(x, b->flow[i], b->transit[i], delay_of(b, i));
	return true;
}

/* Are the probes i and k of one stream, port and queue? */
static inline bool same_flow(const struct prx_batch *b, unsigned i, unsigned k)
{
	const uint8_t *one = PRX_PROBE(b->m[i], b->off), *other = PRX_PROBE(b->m[k], b->off);
	uint32_t p, q, r, s;

	memcpy(&p, one + 6, 4);
	memcpy(&q, other + 6, 4);
	memcpy(&r, one + 8, 4);
	memcpy(&s, other + 8, 4);
	return ((p ^ q) & rte_cpu_to_be_32((uint32_t)(PRX_ONE_HI << 16))) == 0 &&
	       ((r ^ s) & rte_cpu_to_be_32((uint32_t)(PRX_ONE_LO >> 32))) == 0;
}

/* Are all frames of a batch certainly not damaged in front of their probes? */
static __rte_noinline bool sums_right(const struct prx *x, struct rte_mbuf *const *m, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (m[i]->nb_segs != 1 || !prx_surely_whole(rte_pktmbuf_mtod(m[i], const uint8_t *),
							    m[i]->data_len, x->place[0]))
			return false;
	return true;
}

/* Does the same as prx_look() for a batch: a multiple of PRX_LANES of frames, at most PRX_BATCH,
 * that
 * all hold a probe at the place where the last one was found. Returns false if they do not, and
 * then nothing was counted. */
static inline bool count_batch(struct prx *x, const struct dp_burst *all, struct rte_mbuf *const *m,
			       unsigned n, uint64_t now)
{
	struct prx_batch b;

	if (unlikely(x->guarded || !place_batch(x, all, m, n, &b) ||
		     (x->verify && !sums_right(x, m, n))))
		return false;
	b.taken_off = 0;
	b.bucket = x->pending[PRX_INTENDED].bucket;
	return (same_flow(&b, 0, n - 1) && same_flow(&b, 0, n / 2) && count_one(x, &b, n, now)) ||
	       count_many(x, &b, n, now);
}

/* Counts frames of which the device may say when they came. A frame that came before the one in
 * front of it, by its stamp, counts as a gap of 0. */
static __rte_noinline void look_timed(struct prx *x, const struct dp_clock *clock,
				      struct rte_mbuf *const *m, unsigned n, uint64_t now)
{
	uint64_t when[PRX_BATCH];

	prx_times(x, clock, m, n, now, when);
	prx_look(x, m, n, now, when);
	for (unsigned i = 0; i < n; i++)
		count_arrivals(x, 1, when[i] > x->port.last_tsc ? when[i] : x->port.last_tsc);
}

void prx_rx(void *state, const struct dp_burst *b, struct rte_mbuf *const *m, unsigned n,
	    uint64_t now)
{
	struct prx *x = state;
	const struct dp_clock *clock = __atomic_load_n(&x->clock, __ATOMIC_ACQUIRE);
	bool plain = clock == NULL && __atomic_load_n(&x->extra, __ATOMIC_RELAXED) == NULL;

	x->tell = __atomic_load_n(&x->watcher, __ATOMIC_ACQUIRE);
	x->late = unlikely(x->tell != NULL) && (x->tell->kinds & DP_FAULT_BIT(LATENCY)) != 0
			  ? x->tell->latency_cycles
			  : UINT64_MAX;
	for (unsigned i = 0, k; i < n; i += k) {
		k = n - i < PRX_BATCH ? n - i : PRX_BATCH;
		add_pending(x);
		if (unlikely(clock != NULL)) {
			look_timed(x, clock, m + i, k, now);
			continue;
		}
		k = k > PRX_LANES ? k / PRX_LANES * PRX_LANES : k;
		if (k < PRX_LANES || unlikely(!plain || !count_batch(x, b, m + i, k, now)))
			prx_look(x, m + i, k, now, NULL);
	}
	if (likely(clock == NULL))
		count_arrivals(x, n, now);
}
