/* SPDX-License-Identifier: BSD-3-Clause */
#include "prx_merge.h"

/* What any queue has seen is kept for longer than their windows are, for queues that lag. */
#define REACH 4

struct queue {
	uint64_t came;     /* frames, when it was looked at last */
	uint64_t judged;   /* numbers that are accounted for */
	uint64_t low;      /* it has seen nothing of blocks below, + 1; 0: nothing at all */
	struct prx_block *had; /* of each slot, what is accounted for */
};

/* Blocks are numbered over all queues; these agree mod 2^32 numbers. */
struct prx_merge {
	uint32_t nqueues, nblocks;
	uint64_t top;      /* highest number of any queue + 1 */
	uint64_t floor;    /* blocks below: some queue may have seen more of them than is kept */
	uint64_t crossed, unjudged, missed;
	struct prx_block *all; /* what any queue has seen */
	struct queue q[];
};

size_t prx_merge_size(unsigned nqueues, uint32_t nblocks)
{
	return sizeof(struct prx_merge) + nqueues * sizeof(struct queue) + ((size_t)nqueues + REACH) * nblocks * sizeof(struct prx_block);
}

void prx_merge_init(struct prx_merge *g, unsigned nqueues, uint32_t nblocks)
{
	struct prx_block *b = (struct prx_block *)(g->q + nqueues);

	g->nqueues = nqueues;
	g->nblocks = nblocks;
	g->all = b;
	for (unsigned i = 0; i < nqueues; i++)
		g->q[i].had = b + (size_t)(REACH + i) * nblocks;
}

/* The slot as it was at one moment. false: it is being taken for another block. */
static bool read_block(const struct prx_block *b, struct prx_block *out)
{
	for (unsigned tries = 0; tries < 16; tries++) {
		out->no = __atomic_load_n(&b->no, __ATOMIC_ACQUIRE);
		out->bits = __atomic_load_n(&b->bits, __ATOMIC_ACQUIRE);
		if (out->no != 0 && __atomic_load_n(&b->no, __ATOMIC_RELAXED) == out->no)
			return true;
	}
	return false;
}

/* The lowest block that a window may hold whose highest number is no. */
static uint64_t lowest(const struct prx_merge *g, uint64_t no)
{
	return no / 64 >= g->nblocks ? no / 64 - g->nblocks + 1 : 0;
}

static void raise_floor(struct prx_merge *g, uint64_t block)
{
	if (block > g->floor)
		g->floor = block;
}

/* A queue has seen these numbers of a block, which it had not when it was looked at before. */
static void join(struct prx_merge *g, uint64_t block, uint64_t fresh)
{
	struct prx_block *b = &g->all[block & (REACH * g->nblocks - 1)];

	if (b->no == block + 1) {
		g->crossed += (unsigned)__builtin_popcountll(fresh & b->bits);
		if (block < g->floor)
			g->unjudged += (unsigned)__builtin_popcountll(fresh & ~b->bits);
		b->bits |= fresh;
		return;
	}
	if (block < g->floor)
		g->unjudged += (unsigned)__builtin_popcountll(fresh);
	if (b->no > block + 1) { /* there is no room to keep it: who comes later cannot know */
		raise_floor(g, block + 1);
		return;
	}
	if (b->no != 0)
		raise_floor(g, b->no);
	*b = (struct prx_block){.no = block + 1, .bits = fresh};
}

/* What the queue has seen of a block, now: all that has not been seen of it before is fresh. Of one that its slot has been left by, nothing is: the
 * window still holds it until the one that took its slot is no longer the highest. */
static void judge(struct prx_merge *g, struct queue *q, uint32_t slot, const struct prx_block *b, uint64_t shift)
{
	struct prx_block *had = &q->had[slot];

	if (had->no > b->no)
		return;
	if (had->no != b->no)
		*had = (struct prx_block){.no = b->no};
	uint64_t fresh = b->bits & ~had->bits;
	if (fresh == 0)
		return;
	had->bits |= fresh;
	q->judged += (unsigned)__builtin_popcountll(fresh);
	join(g, b->no - 1 + (uint64_t)((int64_t)shift >> 6), fresh);
}

/* Numbers went through the queue's window unseen. All of them are below what the window held afterwards. */
static void missed(struct prx_merge *g, unsigned queue, uint64_t n, uint64_t next)
{
	uint64_t low = lowest(g, next - 1);

	g->q[queue].judged += n;
	raise_floor(g, low);
	for (unsigned i = 0; i < g->nqueues; i++)
		if (i != queue && g->q[i].low != 0 && g->q[i].low - 1 < low) {
			g->missed++;
			break;
		}
}

bool prx_merge_pass(struct prx_merge *g, unsigned queue, const struct prx_flow *f, const struct prx_block *window)
{
	struct queue *q = &g->q[queue];
	uint64_t came = __atomic_load_n(&f->received, __ATOMIC_ACQUIRE) + __atomic_load_n(&f->corrupted, __ATOMIC_ACQUIRE);
	uint64_t distinct = came - cell_get(&f->duplicate), next = cell_get(&f->next), shift = 0;
	struct prx_block b, top;

	if (came == q->came)
		return false;
	q->came = came;
	if (g->top != 0) /* the nearest that agrees mod 2^32 */
		shift = (g->top - next + (1ull << 31)) & ~0xffffffffull;
	if (q->low == 0)
		q->low = lowest(g, cell_get(&f->first) - 1 + shift) + 1;
	bool has_top = prx_block_now(f, &top);
	for (uint32_t i = 0; i < g->nblocks; i++)
		if (read_block(&window[i], &b))
			judge(g, q, i, &b, shift);
	if (has_top)
		judge(g, q, (uint32_t)((top.no - 1) & (g->nblocks - 1)), &top, shift);
	next = cell_get(&f->next) + shift;
	if ((int64_t)(next - g->top) > 0)
		g->top = next;
	if ((int64_t)(distinct - q->judged) > 0) /* copies may have come between two reads */
		missed(g, queue, distinct - q->judged, next);
	return true;
}

struct prx_merged prx_merge_result(const struct prx_merge *g)
{
	struct prx_merged r = {.crossed = g->crossed};

	for (unsigned i = 0; i < g->nqueues; i++)
		r.nqueues += g->q[i].came > 0;
	r.missed = r.nqueues > 1 ? g->missed + g->unjudged : 0;
	return r;
}
