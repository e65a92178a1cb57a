/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds copies of a flow's frames on several Rx queues: see prx_merge.h. What all queues together
 * have seen of a flow is kept in a ring of blocks like theirs. A number that is new in the window
 * of a queue and is in that ring already is a copy. */
#include "prx_merge.h"

/* That ring is REACH times as long as the window of a queue, for queues that lag behind others. */
#define REACH 4

struct queue {
	uint64_t came;   /* frames that had come when it was looked at last */
	uint64_t judged; /* different numbers that are accounted for */
	uint64_t low;    /* lowest block of which it can have seen any, + 1; 0: nothing came */
	struct prx_block *had; /* for each place of its window, what is accounted for */
};

/* Blocks are numbered in common for all queues. The numbers of queues agree with that mod 2^32;
 * what has to be added to those of a queue is its shift. */
struct prx_merge {
	uint32_t nqueues, nblocks;
	uint64_t top;   /* highest number of any queue + 1 */
	uint64_t floor; /* of blocks below, some queue may have seen more than is kept */
	/* crossed: copies found. unjudged: numbers that came too late to tell whether they are
	 * copies. missed: how often numbers went through a window unseen, and it matters. */
	uint64_t crossed, unjudged, missed;
	struct prx_block *all; /* the ring of what all queues have seen */
	struct queue q[];
};

size_t prx_merge_size(unsigned nqueues, uint32_t nblocks)
{
	return sizeof(struct prx_merge) + nqueues * sizeof(struct queue) +
	       ((size_t)nqueues + REACH) * nblocks * sizeof(struct prx_block);
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

/* Reads a place of a window as it was at one moment. Returns false if it holds nothing, or is being
 * taken for another block. */
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

/* The lowest block that a window can hold if its highest number is no. */
static uint64_t prx_merge_lowest(const struct prx_merge *g, uint64_t no)
{
	return no / 64 >= g->nblocks ? no / 64 - g->nblocks + 1 : 0;
}

static void raise_floor(struct prx_merge *g, uint64_t block)
{
	if (block > g->floor)
		g->floor = block;
}

/* Adds what a queue has seen of a block since it was looked at last, and counts what another queue
 * had seen before. */
static void prx_merge_join(struct prx_merge *g, uint64_t block, uint64_t fresh)
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
	if (b->no > block + 1) { /* its place is taken: whether others see copies cannot be known */
		raise_floor(g, block + 1);
		return;
	}
	if (b->no != 0)
		raise_floor(g, b->no);
	*b = (struct prx_block){.no = block + 1, .bits = fresh};
}

/* Looks at what a queue has now seen of a block: numbers that it had not seen when it was looked at
 * before are fresh. Nothing is fresh in a block older than the one last seen in its place: that one
 * was the highest block, which takes that place in the window only when another becomes the
 * highest. */
static void prx_merge_judge(struct prx_merge *g, struct queue *q, uint32_t place,
			    const struct prx_block *b, uint64_t shift)
{
	struct prx_block *had = &q->had[place];

	if (had->no > b->no)
		return;
	if (had->no != b->no)
		*had = (struct prx_block){.no = b->no};
	uint64_t fresh = b->bits & ~had->bits;
	if (fresh == 0)
		return;
	had->bits |= fresh;
	q->judged += (unsigned)__builtin_popcountll(fresh);
	prx_merge_join(g, b->no - 1 + (uint64_t)((int64_t)shift >> 6), fresh);
}

/* n numbers went through a queue's window unseen. All of them are below what the window held
 * afterwards. It matters only if another queue may have seen such numbers. */
static void prx_merge_missed(struct prx_merge *g, unsigned queue, uint64_t n, uint64_t next)
{
	uint64_t low = prx_merge_lowest(g, next - 1);

	g->q[queue].judged += n;
	raise_floor(g, low);
	for (unsigned i = 0; i < g->nqueues; i++)
		if (i != queue && g->q[i].low != 0 && g->q[i].low - 1 < low) {
			g->missed++;
			break;
		}
}

bool prx_merge_pass(struct prx_merge *g, unsigned queue, const struct prx_flow *f,
		    const struct prx_block *window)
{
	struct queue *q = &g->q[queue];
	uint64_t came = __atomic_load_n(&f->received, __ATOMIC_ACQUIRE) +
			__atomic_load_n(&f->corrupted, __ATOMIC_ACQUIRE);
	uint64_t distinct = came - cell_get(&f->duplicate), next = cell_get(&f->next), shift = 0;
	struct prx_block b, top;

	if (came == q->came)
		return false;
	q->came = came;
	if (g->top != 0) /* the multiple of 2^32 that brings `next` nearest to the top */
		shift = (g->top - next + (1ull << 31)) & ~0xffffffffull;
	if (q->low == 0)
		q->low = prx_merge_lowest(g, cell_get(&f->first) - 1 + shift) + 1;
	bool has_top = prx_block_now(f, &top);
	for (uint32_t i = 0; i < g->nblocks; i++)
		if (read_block(&window[i], &b))
			prx_merge_judge(g, q, i, &b, shift);
	if (has_top)
		prx_merge_judge(g, q, (uint32_t)((top.no - 1) & (g->nblocks - 1)), &top, shift);
	next = cell_get(&f->next) + shift;
	if ((int64_t)(next - g->top) > 0)
		g->top = next;
	/* fewer than are judged: duplicates may have come between two reads */
	if ((int64_t)(distinct - q->judged) > 0)
		prx_merge_missed(g, queue, distinct - q->judged, next);
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
