/* SPDX-License-Identifier: BSD-3-Clause */
/* The tap: probes of a burst, their numbers, their times. */
#include "prx_own.h"

/* ---- gaps and dispersion, per burst ---- */

static __rte_noinline void close_windows(struct prx *x, unsigned i, uint64_t now)
{
	uint64_t cycles = x->port.scale[i].cycles, end = x->port.scale[i].end, n = x->port.scale[i].n;

	if (end == 0) { /* the first frame opens the first window */
		x->port.scale[i].end = now + cycles;
		return;
	}
	uint64_t over = now - end < cycles ? 1 : (now - end) / cycles + 1; /* the one that ended, and empty ones */
	cell_add(&x->port.scale[i].windows, over);
	cell_add(&x->port.scale[i].sum, n);
	cell_add(&x->port.scale[i].sum_sq, n * n);
	x->port.scale[i].n = 0;
	x->port.scale[i].end = end + over * cycles;
}

static void count_near(struct prx *x, uint64_t gap, uint64_t times)
{
	uint64_t target = cell_get(&x->target_ns), off = gap > target ? gap - target : target - gap;

	for (unsigned i = PRX_NEARS; i-- > 0 && off <= (uint64_t)PRX_NEAR_NS << i;)
		cell_add(&x->port.near[i], times);
}

/* One gap before the burst, and none within it. */
static inline void count_gaps(struct prx *x, unsigned n, uint64_t now)
{
	uint64_t gap = prx_ns(x->ns_mult, now - x->port.last_tsc), gaps = n;

	if (unlikely(x->port.last_tsc == 0)) {
		gaps--;
	} else {
		hist_add(x->hist[PRX_GAP], gap, 1);
		hist_add_sum(x->hist[PRX_GAP], gap >> PRX_TOP == 0 ? gap : 0);
		if (cell_get(&x->target_ns) != PRX_NO_TARGET)
			count_near(x, gap, 1);
	}
	cell_add(&x->hist[PRX_GAP]->slot[0], n - 1);
	cell_add(&x->port.gaps, gaps);
	if (cell_get(&x->target_ns) != PRX_NO_TARGET)
		count_near(x, 0, n - 1);
}

static inline void count_arrivals(struct prx *x, unsigned n, uint64_t now)
{
	count_gaps(x, n, now);
	cell_set(&x->port.last_tsc, now);
	for (unsigned i = 0; i < PRX_SCALES; i++) {
		if (now >= x->port.scale[i].end)
			close_windows(x, i, now);
		x->port.scale[i].n += n;
	}
}

/* ---- probes ---- */

struct found { uint64_t hi, lo, now; uint32_t flow; };

static inline bool count_number(struct prx *x, uint32_t flow, uint32_t seq, uint64_t now)
{
	struct prx_flow *f = &x->flow[flow];
	uint64_t next = f->next;

	if (unlikely(seq != (uint32_t)next || (next & 63) == 0))
		return prx_number(x, flow, seq, now);
	/* the number before lies in the same block, which is therefore there */
	struct prx_block *b = &x->window[((uint64_t)flow << x->window_shift) + ((next >> 6) & x->window_mask)];
	cell_set(&b->bits, b->bits | 1ull << (next & 63));
	cell_set(&f->next, next + 1);
	__atomic_store_n(&f->received, f->received + 1, __ATOMIC_RELEASE);
	return true;
}

static inline void count_transit(struct prx_flow *f, uint64_t transit, uint64_t now)
{
	uint64_t was = f->last_transit, jitter = f->jitter, d = transit > was ? transit - was : was - transit;

	if (unlikely(f->last_tsc == 0))
		d = 0;
	cell_set(&f->jitter, jitter + d - ((jitter + 8) >> 4));
	f->last_transit = transit;
	if (unlikely(~transit > f->transit_min))
		cell_set(&f->transit_min, ~transit);
	if (unlikely(transit > f->transit_max))
		cell_set(&f->transit_max, transit);
	cell_set(&f->last_tsc, now);
}

static inline uint64_t add_ns(struct hist *h, uint64_t ns)
{
	hist_add(h, ns, 1);
	return ns >> h->shape.top == 0 ? ns : 0;
}

static __rte_noinline void count_stream(struct prx *x, const struct prx_flow *f, uint64_t ns)
{
	struct hist *h = (void *)(x->stream_hist + (f->hist - 1) * x->stream_hist_size);

	hist_add_sum(h, add_ns(h, ns));
}

static inline void count_times(struct prx *x, const struct found *p, uint64_t *actual, uint64_t *intended)
{
	struct prx_flow *f = &x->flow[p->flow];
	uint64_t transit = (p->now - p->lo) & PROBE_SENT_MASK, delay = (p->lo >> 36 & 0x7fff) << (p->hi & 31);

	if (unlikely(transit >= PRX_LATEST)) {
		cell_add(&x->port.early, 1);
		transit = 0;
	}
	struct prx_extra *extra = __atomic_load_n(&x->extra, __ATOMIC_ACQUIRE);
	if (unlikely(extra != NULL))
		prx_extra_count(x, extra, f, transit, p->now);
	count_transit(f, transit, p->now);
	uint64_t ns = prx_ns(x->ns_mult, transit);
	*actual += add_ns(x->hist[PRX_ACTUAL], ns);
	*intended += add_ns(x->hist[PRX_INTENDED], prx_ns(x->ns_mult, transit + delay));
	if (f->hist != 0)
		count_stream(x, f, ns);
}

/* What is no received probe. */
static __rte_noinline void count_other(struct prx *x, enum prx_class class, const struct found *p, uint64_t now)
{
	uint64_t transit = (p->now - p->lo) & PROBE_SENT_MASK;

	switch (class) {
	case PRX_CORRUPTED:
		cell_add(prx_corrupted(x, p->flow, (uint32_t)(p->hi >> 16), transit, now) ? &x->port.probes : &x->port.foreign, 1);
		break;
	case PRX_IS_FOREIGN:
	case PRX_PROBE: /* with a number that cannot be */
		cell_add(&x->port.foreign, 1);
		break;
	case PRX_DAMAGED:
		cell_add(&x->port.damaged, 1);
		break;
	case PRX_PLAIN:
		cell_add(&x->port.plain, 1);
		break;
	}
}

/* The probe where the last one was, on a frame that need not be looked at further. */
static inline bool expected(const struct prx *x, const struct rte_mbuf *m, struct found *p)
{
	uint32_t at = x->place[0];

	if (unlikely(m->data_len < at + PROBE_LEN))
		return false;
	const uint8_t *b = rte_pktmbuf_mtod(m, const uint8_t *) + at;
	memcpy(&p->hi, b, 8);
	memcpy(&p->lo, b + 8, 8);
	p->hi = rte_be_to_cpu_64(p->hi);
	p->lo = rte_be_to_cpu_64(p->lo);
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

/* Frame by frame: whatever they are. */
static __rte_noinline void look(struct prx *x, struct rte_mbuf *const *m, unsigned n, uint64_t now, const uint64_t *when)
{
	uint64_t actual = 0, intended = 0;
	unsigned probes = 0;

	for (unsigned i = 0; i < n; i++) {
		struct found p = {.now = unlikely(when != NULL) ? when[i] : now};
		enum prx_class class = PRX_PROBE;
		bool known = true;
		if (x->verify || sums_bad(m[i]) || !expected(x, m[i], &p)) {
			class = prx_classify(x, m[i], now, &p.hi, &p.lo);
			p.flow = class <= PRX_CORRUPTED ? prx_flow_index(x, p.hi, p.lo) : 0;
		}
		if (likely(class == PRX_PROBE))
			known = count_number(x, p.flow, (uint32_t)(p.hi >> 16), now);
		if (unlikely(class != PRX_PROBE || !known)) {
			count_other(x, class, &p, now);
			continue;
		}
		count_times(x, &p, &actual, &intended);
		probes++;
	}
	cell_add(&x->port.probes, probes);
	hist_add_sum(x->hist[PRX_ACTUAL], actual);
	hist_add_sum(x->hist[PRX_INTENDED], intended);
}

/* The probes where the last one was. false: there is a frame that is too short for it, or of which the device says something. */
static inline bool load_batch(const struct prx *x, struct rte_mbuf *const *m, unsigned n, struct prx_batch *b)
{
	uint32_t at = x->place[0], shortest = UINT32_MAX;
	uint64_t flags = 0;

	for (unsigned i = 0; i < n; i++) {
		uint32_t len = m[i]->data_len;
		b->at[i] = (const uint8_t *)m[i]->buf_addr + m[i]->data_off + at;
		rte_prefetch0(b->at[i]);
		flags |= m[i]->ol_flags;
		shortest = len < shortest ? len : shortest;
	}
	for (unsigned i = n; i % PRX_LANES != 0; i++)
		b->at[i] = b->at[0];
	return shortest >= at + PROBE_LEN && (flags & (RTE_MBUF_F_RX_IP_CKSUM_BAD | RTE_MBUF_F_RX_L4_CKSUM_BAD)) == 0;
}

/* A probe that is not counted after all. */
static __rte_noinline void take_off(struct prx *x, struct prx_batch *b, unsigned i)
{
	uint64_t w[2];

	memcpy(w, b->at[i], sizeof(w));
	b->dues -= b->transit[i] + ((rte_be_to_cpu_64(w[1]) >> 36 & 0x7fff) << (rte_be_to_cpu_64(w[0]) & 31));
	b->taken_off |= 1ull << i;
	b->transits -= b->transit[i];
	cell_add(&x->port.foreign, 1);
	cell_add(&x->port.probes, (uint64_t)-1);
}

/* What a flow's probes of one burst change, kept in registers while they follow each other. */
struct run {
	struct prx_flow *f;
	struct prx_block *block; /* of next - 1 */
	uint64_t flow, next, bits, received, transit, jitter, min, max, last_tsc;
};

static inline void run_begin(const struct prx *x, struct run *r, uint64_t flow)
{
	struct prx_flow *f = &x->flow[flow];

	r->f = f;
	r->flow = flow;
	r->next = f->next;
	r->block = &x->window[(flow << x->window_shift) + (((r->next - 1) >> 6) & x->window_mask)];
	r->bits = r->block->bits;
	r->received = f->received;
	r->transit = f->last_transit;
	r->jitter = f->jitter;
	r->min = f->transit_min;
	r->max = f->transit_max;
	r->last_tsc = f->last_tsc;
}

static inline void run_end(const struct run *r)
{
	cell_set(&r->block->bits, r->bits);
	cell_set(&r->f->next, r->next);
	r->f->last_transit = r->transit;
	cell_set(&r->f->jitter, r->jitter);
	cell_set(&r->f->transit_min, r->min);
	cell_set(&r->f->transit_max, r->max);
	cell_set(&r->f->last_tsc, r->last_tsc);
	__atomic_store_n(&r->f->received, r->received, __ATOMIC_RELEASE);
}

/* The number is not simply the next one of its block. */
static __rte_noinline bool run_number(struct prx *x, uint64_t flow, uint32_t seq, uint64_t now, uint64_t transit)
{
	struct prx_flow *f = &x->flow[flow];
	bool first = f->last_tsc == 0, known = prx_number(x, (uint32_t)flow, seq, now);

	if (known && first) { /* there is none to compare it with */
		f->last_transit = transit;
		f->last_tsc = now;
	}
	return known;
}

/* Numbers, jitter and delay variation of the batch. */
static inline void count_flows(struct prx *x, struct prx_batch *b, unsigned n, uint64_t now)
{
	struct run r;

	for (unsigned i = 0; i < n && b->flow[i] != b->flow[n - 1]; i++) {
		rte_prefetch0(&x->flow[b->flow[i]]);
		rte_prefetch0(&x->window[(b->flow[i] << x->window_shift) + ((b->seq[i] >> 6) & x->window_mask)]);
	}
	run_begin(x, &r, b->flow[0]);
	for (unsigned i = 0; i < n; i++) {
		uint32_t seq = b->seq[i];
		uint64_t transit = b->transit[i];
		if (b->flow[i] != r.flow) {
			run_end(&r);
			run_begin(x, &r, b->flow[i]);
		}
		if (unlikely(seq != (uint32_t)r.next || (r.next & 63) == 0)) {
			if (r.next != 0)
				run_end(&r);
			bool known = run_number(x, r.flow, seq, now, transit);
			run_begin(x, &r, r.flow);
			if (unlikely(!known)) {
				take_off(x, b, i);
				continue;
			}
		} else {
			r.bits |= 1ull << (r.next & 63);
			r.next++;
			r.received++;
		}
		uint64_t d = transit > r.transit ? transit - r.transit : r.transit - transit;
		r.jitter += d - ((r.jitter + 8) >> 4);
		r.transit = transit;
		r.min = ~transit > r.min ? ~transit : r.min;
		r.max = transit > r.max ? transit : r.max;
		r.last_tsc = now; /* one that is not counted says nothing of when the flow was heard */
	}
	run_end(&r);
}

/* Of one flow, as they were sent. */
static inline void count_in_order(struct prx *x, const struct prx_batch *b, unsigned n, uint64_t now)
{
	struct prx_flow *f = &x->flow[b->flow[0]];
	struct prx_block *window = &x->window[b->flow[0] << x->window_shift], *block;
	uint64_t next = f->next, jitter = f->jitter, was = f->last_transit, bits;
	unsigned at = next & 63, here = 64 - at < n ? 64 - at : n;

	bits = here == 64 ? UINT64_MAX : ((1ull << here) - 1) << at;
	block = &window[(next >> 6) & x->window_mask];
	if (at == 0)
		prx_new_block(block, (next >> 6) + 1, bits);
	else
		cell_set(&block->bits, block->bits | bits);
	if (here < n)
		prx_new_block(&window[((next >> 6) + 1) & x->window_mask], (next >> 6) + 2, (1ull << (n - here)) - 1);
	for (unsigned i = 0; i < n; i++) {
		uint64_t transit = b->transit[i], d = transit > was ? transit - was : was - transit;
		jitter += d - ((jitter + 8) >> 4);
		was = transit;
	}
	cell_set(&f->jitter, jitter);
	f->last_transit = was;
	if (~b->min > f->transit_min)
		cell_set(&f->transit_min, ~b->min);
	if (b->max > f->transit_max)
		cell_set(&f->transit_max, b->max);
	cell_set(&f->last_tsc, now);
	cell_set(&f->next, next + n);
	__atomic_store_n(&f->received, f->received + n, __ATOMIC_RELEASE);
}

static inline void add_slots(struct hist *h, const uint32_t *slot, unsigned n, bool one, uint64_t taken_off)
{
	if (one && likely(taken_off == 0)) {
		cell_add(&h->slot[slot[0]], n);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		if (likely((taken_off >> i & 1) == 0))
			cell_add(&h->slot[slot[i]], 1);
}

static __rte_noinline void add_streams(struct prx *x, const struct prx_batch *b, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		const struct prx_flow *f = &x->flow[b->flow[i]];
		if (f->hist != 0 && (b->taken_off >> i & 1) == 0)
			count_stream(x, f, prx_ns(x->ns_mult, b->transit[i]));
	}
}

/* The same as look() does, for n <= PRX_BATCH frames that all hold a probe at the place where the last one was. false: nothing was done. */
static inline bool count_batch(struct prx *x, struct rte_mbuf *const *m, unsigned n, uint64_t now)
{
	struct prx_batch b;

	if (unlikely(!load_batch(x, m, n, &b)))
		return false;
	unsigned port = b.at[0][6] >> 3 & 31;
	struct prx_common c = {.now = now, .limit = x->limit, .ns = x->ns, .port = port, .base = x->of[port].base,
			       .nstreams = x->of[port].nstreams, .nqueues = x->of[port].nqueues,
			       .queue_bits = x->of[port].queue_bits};
	if (unlikely(!x->fields(&b, n, &c)))
		return false;
	cell_add(&x->port.probes, n);
	b.taken_off = 0;
	if (b.in_order && b.seq[0] == (uint32_t)x->flow[b.flow[0]].next && x->flow[b.flow[0]].next != 0)
		count_in_order(x, &b, n, now);
	else
		count_flows(x, &b, n, now);
	if (likely(b.taken_off == 0)) { /* does not wait for jitter, each of which waits for the one before */
		add_slots(x->hist[PRX_ACTUAL], b.slot, n, b.one_slot, 0);
		add_slots(x->hist[PRX_INTENDED], b.due, n, b.one_due, 0);
	} else {
		add_slots(x->hist[PRX_ACTUAL], b.slot, n, false, b.taken_off);
		add_slots(x->hist[PRX_INTENDED], b.due, n, false, b.taken_off);
	}
	if (unlikely(x->streams_have_hists))
		add_streams(x, &b, n);
	hist_add_sum(x->hist[PRX_ACTUAL], prx_ns(x->ns_mult, b.transits));
	hist_add_sum(x->hist[PRX_INTENDED], prx_ns(x->ns_mult, b.dues));
	return true;
}

/* Frames of which the device says when they came; a step back is none. */
static __rte_noinline void look_timed(struct prx *x, const struct dp_clock *clock, struct rte_mbuf *const *m, unsigned n, uint64_t now)
{
	uint64_t when[PRX_BATCH];

	prx_times(x, clock, m, n, now, when);
	look(x, m, n, now, when);
	for (unsigned i = 0; i < n; i++)
		count_arrivals(x, 1, when[i] > x->port.last_tsc ? when[i] : x->port.last_tsc);
}

void prx_rx(void *state, const struct dp_rxq *q, struct rte_mbuf *const *m, unsigned n, uint64_t now)
{
	struct prx *x = state;
	const struct dp_clock *clock = __atomic_load_n(&x->clock, __ATOMIC_ACQUIRE);
	bool plain = !x->verify && clock == NULL && __atomic_load_n(&x->extra, __ATOMIC_RELAXED) == NULL;

	(void)q;
	for (unsigned i = 0; i < n; i++)
		rte_prefetch0(m[i]);
	for (unsigned i = 0, k; i < n; i += k) {
		k = n - i < PRX_BATCH ? n - i : PRX_BATCH;
		if (unlikely(clock != NULL))
			look_timed(x, clock, m + i, k, now);
		else if (unlikely(!plain || !count_batch(x, m + i, k, now)))
			look(x, m + i, k, now, NULL);
	}
	if (likely(clock == NULL))
		count_arrivals(x, n, now);
}
