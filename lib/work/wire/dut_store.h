/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside kind "dut": where frames lie in a device, and which one is due first. Frames lie in one
 * ring of cells, in the order of their arrival. Those that are due in that order too form a list
 * through the ring; all others are in a heap beside it. So with a constant delay nothing is ever
 * sorted. Frames that wait for others to overtake them lie in places of their own behind the ring.
 * Worker only. */
#pragma once
#include "dut.h"

#define NONE UINT32_MAX

enum where { IN_LIST, IN_HEAP, FREE };

/* A frame inside. It begins at the begin of a cell and is named by the index of that cell; the
 * frame's bytes follow behind it. */
struct parked {
	uint64_t due, seq;        /* when it is due; frames due at one time go by their seq */
	uint64_t number;          /* of the frame in its direction */
	uint32_t next, list_next; /* the next frame in the order of arrival, and in the list */
	uint16_t len;
	uint8_t ring, txq, where;
	bool corrupted;
	uint8_t data[];
};

static inline struct parked *parked_at(const struct dut_line *l, uint32_t at)
{
	return (struct parked *)((uint8_t *)l->cells + (size_t)at * DUT_CELL);
}

/* ---- cells ---- */

/* How many cells a frame of len bytes takes. */
static inline uint32_t cells_of(uint32_t len)
{
	return (uint32_t)((sizeof(struct parked) + len + DUT_CELL - 1) / DUT_CELL);
}

/* Takes a place for a held frame of any length. There always is one, because the caller holds at
 * most DUT_HELD frames. */
static inline uint32_t held_take(struct dut_state *s, const struct dut_line *l)
{
	return s->held_back > 0 ? s->held_free[--s->held_back]
				: l->ncells + s->held_made++ * cells_of(l->max_len);
}

static inline void held_give(struct dut_state *s, uint32_t at)
{
	s->held_free[s->held_back++] = at;
}

/* Takes n free cells in a row from the ring. Returns the first of them, or NONE if there are not so
 * many. The job's `room`, which can change at any time, bounds how many cells are in use and, while
 * the ring has not wrapped, where it ends. */
static inline uint32_t cells_take(struct dut_state *s, const struct dut_job *j, uint32_t n)
{
	uint32_t end = RTE_MIN(j->room, j->line->ncells), at;

	if (s->nparked == 0) {
		s->head = s->tail = 0;
		s->wrapped = false;
	}
	if (s->used + n > end)
		return NONE;
	if (s->wrapped ? s->tail + n <= s->head : s->tail + n <= end) {
		at = s->tail;
	} else if (!s->wrapped && n <= s->head) {
		s->wrapped = true;
		at = 0;
	} else {
		return NONE;
	}
	if (s->nparked > 0)
		parked_at(j->line, s->last)->next = at;
	else
		s->head = at;
	s->tail = at + n;
	s->last = at;
	s->nparked++;
	s->used += n;
	s->now.most_cells = RTE_MAX(s->now.most_cells, s->used);
	return at;
}

/* Gives back the cells of a frame. They are free when those of all older frames have been given
 * back too. */
static inline void cells_give(struct dut_state *s, const struct dut_line *l, uint32_t at)
{
	parked_at(l, at)->where = FREE;
	while (s->nparked > 0 && parked_at(l, s->head)->where == FREE) {
		const struct parked *f = parked_at(l, s->head);
		s->used -= cells_of(f->len);
		s->nparked--;
		if (s->nparked > 0 && f->next < s->head)
			s->wrapped = false;
		if (s->nparked > 0)
			s->head = f->next;
	}
}

/* ---- what is due when ---- */

/* Is a frame with this due and seq due before b? */
static inline bool before(uint64_t due, uint64_t seq, const struct dut_late *b)
{
	return due < b->due || (due == b->due && seq < b->seq);
}

static inline void heap_put(struct dut_state *s, struct dut_late *h, struct dut_late x)
{
	uint32_t i = s->nlate++;

	for (uint32_t up; i > 0 && before(x.due, x.seq, &h[up = (i - 1) / 2]); i = up)
		h[i] = h[up];
	h[i] = x;
}

static inline void heap_drop_first(struct dut_state *s, struct dut_late *h)
{
	struct dut_late x = h[--s->nlate];
	uint32_t i = 0, n = s->nlate;

	for (uint32_t c; (c = 2 * i + 1) < n; i = c) {
		if (c + 1 < n && before(h[c + 1].due, h[c + 1].seq, &h[c]))
			c++;
		if (!before(h[c].due, h[c].seq, &x))
			break;
		h[i] = h[c];
	}
	h[i] = x;
}

/* Puts a frame into the list if it is due after all others there, else into the heap. */
static inline void schedule(struct dut_state *s, const struct dut_line *l, uint32_t at,
			    uint64_t due)
{
	struct parked *f = parked_at(l, at);

	f->due = due;
	f->seq = s->seq++;
	if (s->nfifo > 0 && due < s->fifo_due) {
		f->where = IN_HEAP;
		heap_put(s, l->late, (struct dut_late){.due = due, .seq = f->seq, .at = at});
		return;
	}
	f->where = IN_LIST;
	if (s->nfifo++ > 0)
		parked_at(l, s->fifo_last)->list_next = at;
	else
		s->fifo = at;
	s->fifo_last = at;
	s->fifo_due = due;
}

/* The frame that is due first, and in *due when that is. NONE: no frame waits. */
static inline uint32_t first(const struct dut_state *s, const struct dut_line *l, uint64_t *due)
{
	const struct dut_late *h = l->late;

	if (s->nfifo > 0) {
		const struct parked *f = parked_at(l, s->fifo);
		if (s->nlate == 0 || before(f->due, f->seq, &h[0])) {
			*due = f->due;
			return s->fifo;
		}
	}
	if (s->nlate == 0)
		return NONE;
	*due = h[0].due;
	return h[0].at;
}

/* Takes the frame f, which first() has returned, out of list or heap. */
static inline void take_first(struct dut_state *s, const struct dut_line *l, const struct parked *f)
{
	if (f->where == IN_HEAP) {
		heap_drop_first(s, l->late);
	} else {
		s->nfifo--;
		s->fifo = f->list_next;
	}
}
