/* SPDX-License-Identifier: BSD-3-Clause */
/* Sequence numbers of a flow that do not come in order: holes, duplicates, reordered, late and
 * foreign ones. */
#include "prx_own.h"

#define FIRST_BASE (1ull << 32) /* so numbers before the first one stay above 0 */
#define SLACK 4096              /* more numbers than are ever sent with one time stamp */
#define NS_OF_A_FRAME 2         /* no queue sends a frame in less time */
#define BACK_MAX (1u << 30)

/* How far ahead a number may be: by as many frames as could be sent since the last probe that came
 * was sent. */
static uint64_t prx_flow_reach(const struct prx *x, const struct prx_flow *f, uint64_t now)
{
	return prx_ns(x->ns_mult, now - cell_get(&f->last_tsc) + f->last_transit) / NS_OF_A_FRAME +
	       SLACK;
}

enum prx_order prx_order(const struct prx *x, const struct prx_flow *f, uint32_t seq, uint64_t now,
			 uint64_t *ext)
{
	uint64_t next = cell_get(&f->next);
	uint32_t ahead = seq - (uint32_t)next, back = (uint32_t)next - seq;

	if (next == 0) {
		*ext = FIRST_BASE + seq;
		return PRX_FIRST;
	}
	if (ahead >= BACK_MAX && back != 0 && back <= x->late_blocks * 64ull) {
		*ext = next - back;
		return PRX_BEHIND;
	}
	/* after a long silence a number may be ahead by more than half of all 32-bit numbers */
	if (ahead <= prx_flow_reach(x, f, now)) {
		*ext = next + ahead;
		return PRX_AHEAD;
	}
	*ext = next - back;
	return back <= BACK_MAX ? PRX_BEHIND : PRX_FOREIGN;
}

bool prx_plausible(const struct prx *x, uint64_t hi, uint64_t lo, uint64_t now)
{
	uint32_t i = prx_flow_index(x, hi, lo);
	uint64_t ext;

	return i != PRX_NO_FLOW &&
	       prx_order(x, &x->flow[i], (uint32_t)PROBE_SEQ(hi), now, &ext) != PRX_FOREIGN;
}

/* Marks a number below `next`. Returns whether it was marked before. */
static bool mark_behind(struct prx *x, uint32_t flow, uint64_t ext)
{
	struct prx_flow *f = &x->flow[flow];
	uint64_t no = (ext >> 6) + 1, bit = 1ull << (ext & 63), bits = cell_get(&f->bits);

	if (no == prx_block_no(cell_get(&f->next))) {
		cell_set(&f->bits, bits | bit);
		return (bits & bit) != 0;
	}
	struct prx_block *b =
		&x->window[((uint64_t)flow << x->window_shift) + ((ext >> 6) & x->window_mask)];

	if (b->no != no) {
		prx_new_block(b, no, bit);
		return false;
	}
	bool was = (b->bits & bit) != 0;
	cell_set(&b->bits, b->bits | bit);
	return was;
}

/* Marks a number from `next` on, or the first number of all, which becomes the highest one. */
static void mark_ahead(struct prx *x, uint32_t flow, uint64_t ext)
{
	struct prx_flow *f = &x->flow[flow];
	uint64_t bit = 1ull << (ext & 63);

	if (prx_block_no(ext + 1) != prx_block_no(cell_get(&f->next))) {
		prx_begin_block(x, flow, ext + 1, bit);
		return;
	}
	cell_set(&f->bits, cell_get(&f->bits) | bit);
	cell_set(&f->next, ext + 1);
}

/* How many different numbers have arrived. */
static uint64_t prx_flow_arrived(const struct prx_flow *f)
{
	return cell_get(&f->received) - cell_get(&f->duplicate) + cell_get(&f->corrupted);
}

/* Remembers that n numbers from `from` on have not come yet. */
static void add_hole(struct prx *x, uint32_t flow, uint64_t from, uint64_t n)
{
	struct prx_more *more = &x->more[flow];

	x->hole[(uint64_t)flow * x->holes + more->holes_at] =
		(struct prx_hole){.from = from,
				  .n = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n,
				  .at = (uint32_t)prx_flow_arrived(&x->flow[flow])};
	more->holes_at = (uint16_t)((more->holes_at + 1) & (x->holes - 1));
	if (more->holes_used < x->holes)
		more->holes_used++;
}

/* Frame m has number ext, and the numbers before it from `next` on have not come. */
static void leave_hole(struct prx *x, const struct rte_mbuf *m, uint32_t flow, uint64_t ext,
		       uint64_t now)
{
	uint64_t n = ext - cell_get(&x->flow[flow].next);

	add_hole(x, flow, ext - n, n);
	if (x->tell != NULL)
		prx_fault(x, flow,
			  &(struct dp_fault){.kind = DP_FAULT_LOSS,
					     .m = m,
					     .seq = (uint32_t)ext,
					     .missing = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n,
					     .now = now});
}

/* Counts the extent of a reordered probe (RFC 4737 4.2.2): how many probes came from the first one
 * with a larger number on. That one was ahead of all before it, so it is the one that left the hole
 * in which this number lies. */
static void count_extent(struct prx *x, uint32_t flow, uint64_t ext)
{
	struct prx_flow *f = &x->flow[flow];
	const struct prx_hole *h = &x->hole[(uint64_t)flow * x->holes];
	uint32_t extent = 0;

	if (ext + 1 < cell_get(&f->first))
		extent = (uint32_t)prx_flow_arrived(f);
	for (unsigned i = 0; extent == 0 && i < x->more[flow].holes_used; i++)
		if (ext - h[i].from < h[i].n)
			extent = (uint32_t)prx_flow_arrived(f) - h[i].at;
	if (extent == 0) {
		cell_add(&f->extent_unknown, 1);
		return;
	}
	cell_add(&f->extent_sum, extent);
	if (extent > cell_get(&f->extent_max))
		cell_set(&f->extent_max, extent);
}

/* Is the number too old for the window, so that nobody knows whether it was seen before? */
static bool is_late(const struct prx *x, const struct prx_flow *f, uint64_t ext)
{
	return (ext >> 6) + x->late_blocks < (cell_get(&f->next) - 1) >> 6;
}

/* Tells of a fault of frame m that concerns this frame alone. */
static void flow_fault(const struct prx *x, enum dp_fault_kind kind, const struct rte_mbuf *m,
		       uint32_t flow, uint32_t seq, uint64_t now)
{
	if (x->tell != NULL)
		prx_fault(x, flow,
			  &(struct dp_fault){.kind = kind, .m = m, .seq = seq, .now = now});
}

static void count_behind(struct prx *x, const struct rte_mbuf *m, uint32_t flow, uint64_t ext,
			 uint64_t now)
{
	struct prx_flow *f = &x->flow[flow];
	enum dp_fault_kind kind = DP_FAULT_REORDER;

	if (is_late(x, f, ext)) {
		cell_add(&f->late, 1);
		flow_fault(x, kind, m, flow, (uint32_t)ext, now);
		return;
	}
	if (mark_behind(x, flow, ext)) {
		cell_add(&f->duplicate, 1);
		kind = DP_FAULT_DUPLICATE;
	} else {
		cell_add(&f->reordered, 1);
		count_extent(x, flow, ext);
	}
	flow_fault(x, kind, m, flow, (uint32_t)ext, now);
	__atomic_store_n(&f->received, f->received + 1, __ATOMIC_RELEASE);
}

bool prx_number(struct prx *x, const struct rte_mbuf *m, uint32_t flow, uint32_t seq, uint64_t now)
{
	struct prx_flow *f = &x->flow[flow];
	uint64_t ext, next = cell_get(&f->next);

	switch (prx_order(x, f, seq, now, &ext)) {
	case PRX_FOREIGN:
		return false;
	case PRX_BEHIND:
		count_behind(x, m, flow, ext, now);
		return true;
	case PRX_FIRST:
		cell_set(&f->first, ext + 1);
		break;
	case PRX_AHEAD:
		if (ext != next)
			leave_hole(x, m, flow, ext, now);
		break;
	}
	mark_ahead(x, flow, ext);
	__atomic_store_n(&f->received, f->received + 1, __ATOMIC_RELEASE);
	return true;
}

bool prx_corrupted(struct prx *x, const struct rte_mbuf *m, uint32_t flow, uint32_t seq,
		   uint64_t transit, uint64_t now)
{
	struct prx_flow *f = &x->flow[flow];
	uint64_t ext, next = cell_get(&f->next);
	enum prx_order order = prx_order(x, f, seq, now, &ext);

	if (order == PRX_FOREIGN)
		return false;
	if (order == PRX_BEHIND && is_late(x, f, ext)) {
		cell_add(&f->late, 1);
		flow_fault(x, DP_FAULT_CORRUPT, m, flow, seq, now);
		return true;
	}
	if (order == PRX_FIRST) { /* the jitter of the next probe compares with this transit */
		cell_set(&f->first, ext + 1);
		f->last_transit = transit < PRX_LATEST ? transit : 0;
		cell_set(&f->last_tsc, now);
	} else if (order == PRX_AHEAD && ext != next) {
		leave_hole(x, m, flow, ext, now);
	}
	if (order != PRX_BEHIND) {
		mark_ahead(x, flow, ext);
	} else if (mark_behind(x, flow, ext)) {
		cell_add(&f->duplicate, 1);
		__atomic_store_n(&f->received, f->received + 1, __ATOMIC_RELEASE);
		flow_fault(x, DP_FAULT_DUPLICATE, m, flow, seq, now);
		return true;
	}
	flow_fault(x, DP_FAULT_CORRUPT, m, flow, seq, now);
	__atomic_store_n(&f->corrupted, f->corrupted + 1, __ATOMIC_RELEASE);
	return true;
}
