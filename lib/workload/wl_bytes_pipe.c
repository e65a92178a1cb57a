/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests and responses over UDP, of clients that have several requests open at once on a
 * connection: `pipeline`. Responses may come in any order, and each belongs to the request whose
 * stamp it has. Servers know nothing of it. */
#include "wl_bytes_int.h"

/* The first word of a connection is a cell with this head, the second one the number of its latest
 * request. An open request is in a slot, and slots are in further cells, which the head leads to.
 * Numbers go round at 2^31, as the receiver of datagrams has them. */
#define PIPE_NUMBER 0x7fffffffu
#define PIPE_OPEN 0x80000000u
#define PIPE_SLOTS 4 /* in a cell */
#define PIPE_HERE 3  /* cells of slots that the head names itself */
#define PIPE_LISTS 2 /* cells that name the others */
#define PIPE_LINKS (WL_CELL / 4)
struct pipe_head {
	uint64_t left; /* transactions that have not begun */
	/* Responses that came: the highest number of their requests, and bit i: that minus i. */
	uint64_t answered;
	uint32_t highest;
	uint32_t first; /* when the connection began */
	uint32_t next;  /* the request that is to be sent next, behind the latest one: none waits */
	uint8_t open;   /* requests */
	uint8_t free;   /* slots from here on are tried first for a new request, */
	uint8_t at;     /* a response, and a request that is to be sent */
	uint8_t due;
	bool busy; /* a datagram is with the arm, which calls may_send() behind it */
	uint32_t slots[PIPE_HERE], list[PIPE_LISTS];
};
_Static_assert(sizeof(struct pipe_head) <= WL_CELL, "the head fits into a cell");
_Static_assert(WL_BYTES_PIPELINE <= PIPE_SLOTS * (PIPE_HERE + PIPE_LISTS * PIPE_LINKS),
	       "each request has a slot");

/* Times are those of wl_time(), of which 40 bits are kept: 19 hours. No request is open as long,
 * and none is as late: lib/flow tells at most 73 minutes. */
#define PIPE_TIME_BITS 40
struct pipe_slots {
	uint32_t number[PIPE_SLOTS]; /* with PIPE_OPEN; 0: it is free */
	uint32_t began_low[PIPE_SLOTS], due_low[PIPE_SLOTS];
	uint8_t began_high[PIPE_SLOTS], due_high[PIPE_SLOTS];
};
_Static_assert(sizeof(struct pipe_slots) <= WL_CELL, "slots fill a cell");

/* How many slots a connection has. */
static unsigned pipe_most(const struct wl_bytes_conf *conf)
{
	return conf->transactions != 0 && conf->transactions < conf->pipeline
		       ? (unsigned)conf->transactions
		       : conf->pipeline;
}

/* The link to a cell of slots; NULL: there is no memory for the list that it is in. */
static inline uint32_t *pipe_link(struct wl_turn *t, struct pipe_head *h, unsigned cell)
{
	uint32_t *list;

	if (WL_USUAL(cell < PIPE_HERE))
		return &h->slots[cell];
	cell -= PIPE_HERE;
	list = wl_cell(t, &h->list[cell / PIPE_LINKS]);
	return list == NULL ? NULL : &list[cell % PIPE_LINKS];
}
static inline struct pipe_slots *pipe_slots(struct wl_turn *t, struct pipe_head *h, unsigned slot)
{
	return wl_cell(t, pipe_link(t, h, slot / PIPE_SLOTS));
}
static struct pipe_head *pipe_head(struct wl_turn *t)
{
	return wl_cell(t, &t->mem[0]);
}

static inline uint64_t pipe_began(const struct pipe_slots *s, unsigned i)
{
	return (uint64_t)s->began_high[i] << 32 | s->began_low[i];
}
static inline uint64_t pipe_due(const struct pipe_slots *s, unsigned i)
{
	return (uint64_t)s->due_high[i] << 32 | s->due_low[i];
}

/* The slot that has this in `number`, from slot `from` on and round; pipe_most(): none. Usually it
 * is the first one. */
static unsigned pipe_find(struct wl_turn *t, struct pipe_head *h, uint32_t number, unsigned from)
{
	unsigned most = pipe_most(bytes_conf(t)), slot = from < most ? from : 0;
	struct pipe_slots *s = pipe_slots(t, h, slot);

	for (unsigned i = 0; i < most; i++) {
		if (s->number[slot % PIPE_SLOTS] == number)
			return slot;
		slot = slot + 1 == most ? 0 : slot + 1;
		if (slot % PIPE_SLOTS == 0)
			s = pipe_slots(t, h, slot);
	}
	return most;
}

/* Hands a request to the arm, which has none. */
static void pipe_hand(struct wl_turn *t, struct pipe_head *h, uint32_t number)
{
	h->busy = true;
	h->next = (number + 1) & PIPE_NUMBER;
	t->stamp = (uint64_t)h->first << 32 | number;
	t->stamped = true;
	wl_send(t, bytes_conf(t)->request_content, bytes_request_size(t, number));
}

/* Of those that wait to be sent the next one; what was given up meanwhile is not sent. */
static void pipe_hand_next(struct wl_turn *t, struct pipe_head *h)
{
	unsigned most = pipe_most(bytes_conf(t));

	for (; h->next != ((t->mem[1] + 1) & PIPE_NUMBER); h->next = (h->next + 1) & PIPE_NUMBER) {
		unsigned slot = pipe_find(t, h, h->next | PIPE_OPEN, h->due);

		if (slot == most)
			continue;
		h->due = (uint8_t)(slot + 1);
		pipe_hand(t, h, h->next);
		return;
	}
}

/* A transaction begins, which was due so long ago. */
static void pipe_start(struct wl_turn *t, struct pipe_head *h, uint64_t late_ns)
{
	unsigned slot = pipe_find(t, h, 0, h->free), i = slot % PIPE_SLOTS;
	struct pipe_slots *s = pipe_slots(t, h, slot);
	uint64_t now = wl_time(t), due = now - (late_ns >> WL_TIME_SHIFT);
	uint32_t number = (t->mem[1] + 1) & PIPE_NUMBER;

	t->mem[1] = number;
	s->number[i] = number | PIPE_OPEN;
	s->began_low[i] = (uint32_t)now;
	s->began_high[i] = (uint8_t)(now >> 32);
	s->due_low[i] = (uint32_t)due;
	s->due_high[i] = (uint8_t)(due >> 32);
	h->free = (uint8_t)(slot + 1);
	h->left--; /* without end: it takes 2^64 to come round */
	h->open++;
	wl_started(t);
	if (h->open == 1)
		t->timer_ns = bytes_conf(t)->timeout_ns; /* later ones are not due before it */
	if (WL_USUAL(!h->busy && h->next == number))
		pipe_hand(t, h, number);
}

static bool pipe_more(const struct wl_turn *t, const struct pipe_head *h)
{
	return h->left != 0 && h->open < pipe_most(bytes_conf(t));
}

/* As many as may be open begin. */
static void pipe_fill(struct wl_turn *t, struct pipe_head *h, uint64_t late_ns)
{
	while (pipe_more(t, h))
		pipe_start(t, h, late_ns);
}

static void pipe_close(struct wl_turn *t)
{
	t->close = (uint8_t)bytes_conf(t)->close;
	if (t->flow->draining && t->close == WL_CLOSE_NOT)
		t->close = WL_CLOSE_FIN;
	t->timer_ns = WL_NO_TIMER;
}

/* What a client does behind transactions that have ended. A pause is one of the connection: it
 * begins when nothing is open. */
static void pipe_next(struct wl_turn *t, struct pipe_head *h)
{
	uint64_t pause;

	if (h->open == 0)
		t->timer_ns = WL_NO_TIMER;
	if (WL_RARE(h->left == 0 || t->flow->draining)) {
		if (h->open == 0)
			pipe_close(t);
	} else if (WL_RARE(t->flow->on_call)) {
		t->ready = true;
	} else if (WL_USUAL(bytes_conf(t)->think.most == 0)) {
		pipe_fill(t, h, 0);
	} else if (h->open == 0) {
		pause = wl_pause(t, &bytes_conf(t)->think);
		if (pause != 0)
			t->timer_ns = pause;
		else
			pipe_fill(t, h, 0);
	}
}

/* All memory that a connection may need: there is none of it, or all. */
static struct pipe_head *pipe_memory(struct wl_turn *t)
{
	unsigned cells = (pipe_most(bytes_conf(t)) + PIPE_SLOTS - 1) / PIPE_SLOTS;
	struct pipe_head *h = pipe_head(t);

	for (unsigned i = 0; i < cells && h != NULL; i++) {
		uint32_t *link = pipe_link(t, h, i);

		if (link == NULL || wl_cell(t, link) == NULL)
			h = NULL;
	}
	return h;
}

static void pipe_opened(struct wl_turn *t)
{
	struct pipe_head *h;

	if (t->flow->draining && t->flow->on_call) { /* nobody will call */
		pipe_close(t);
		return;
	}
	h = pipe_memory(t);
	if (h == NULL) {
		t->close = WL_CLOSE_RST;
		return;
	}
	h->left = bytes_conf(t)->transactions != 0 ? bytes_conf(t)->transactions : UINT64_MAX;
	h->first = (uint32_t)wl_time(t);
	h->next = 1;
	if (t->flow->on_call)
		t->ready = true;
	else if (t->flow->draining)
		pipe_start(t, h, t->late_ns);
	else
		pipe_fill(t, h, t->late_ns);
}

static void pipe_go(struct wl_turn *t)
{
	struct pipe_head *h = pipe_head(t);

	pipe_start(t, h, t->late_ns);
	t->ready = pipe_more(t, h);
}

static void pipe_may_send(struct wl_turn *t)
{
	struct pipe_head *h = pipe_head(t);

	h->busy = false;
	pipe_hand_next(t, h);
}

/* What comes twice or behind later ones is counted. */
static void pipe_answered(struct pipe_head *h, uint32_t number, struct wl_numbers *k)
{
	uint32_t ahead = (number - h->highest) & PIPE_NUMBER;
	uint32_t back = (h->highest - number) & PIPE_NUMBER;

	if (WL_USUAL(ahead <= PIPE_NUMBER / 2)) {
		h->answered = ahead < 64 ? h->answered << ahead | 1 : 1;
		h->highest = number;
		return;
	}
	h->answered |= back < 64 ? 1ull << back : 0;
	cell_add(&k->reordered, 1);
}

/* A response to no open request. */
static void pipe_late(const struct pipe_head *h, uint64_t stamp, struct wl_numbers *k)
{
	uint32_t back = (h->highest - (uint32_t)stamp) & PIPE_NUMBER;

	if (back < 64 && (h->answered >> back & 1) != 0)
		cell_add(&k->duplicated, 1);
	else
		cell_add(&k->late, 1);
}

static uint32_t pipe_received(struct wl_turn *t, const uint8_t *data, uint32_t n)
{
	struct pipe_head *h = pipe_head(t);
	struct wl_numbers *k = t->flow->own;
	struct pipe_slots *s;
	uint64_t stamp, began, due;
	unsigned slot;
	uint32_t number;

	if (n < WL_NUMBER) {
		cell_add(&t->flow->counts->mismatched, n);
		return n;
	}
	memcpy(&stamp, data, WL_NUMBER);
	bytes_check(t, bytes_conf(t)->response_content, WL_NUMBER, data + WL_NUMBER, n - WL_NUMBER);
	number = (uint32_t)stamp;
	/* of a connection that had this tuple before */
	if ((stamp >> 32 != 0 && stamp >> 32 != h->first) || number > PIPE_NUMBER) {
		cell_add(&k->late, 1);
		return n;
	}
	slot = pipe_find(t, h, number | PIPE_OPEN, h->at);
	/* what has not been sent has no response yet */
	if (slot == pipe_most(bytes_conf(t)) ||
	    ((number - h->next) & PIPE_NUMBER) <= PIPE_NUMBER / 2) {
		pipe_late(h, stamp, k);
		return n;
	}
	s = pipe_slots(t, h, slot);
	began = pipe_began(s, slot % PIPE_SLOTS);
	due = pipe_due(s, slot % PIPE_SLOTS);
	s->number[slot % PIPE_SLOTS] = 0;
	h->free = (uint8_t)slot;
	h->at = (uint8_t)(slot + 1);
	h->open--;
	pipe_answered(h, number, k);
	wl_done(t);
	wl_timing_add(&t->flow->whole, wl_since_ns(t, began, PIPE_TIME_BITS));
	wl_timing_add(&t->flow->since_due, wl_since_ns(t, due, PIPE_TIME_BITS));
	pipe_next(t, h);
	return n;
}

/* Gives up what has had no response in its time. Returns how long ago the oldest of the others
 * began. */
static uint64_t pipe_give_up(struct wl_turn *t, struct pipe_head *h)
{
	unsigned most = pipe_most(bytes_conf(t)), failed = 0;
	uint64_t oldest = 0;

	for (unsigned slot = 0; slot < most; slot++) {
		struct pipe_slots *s = pipe_slots(t, h, slot);
		unsigned i = slot % PIPE_SLOTS;
		uint64_t ns = wl_since_ns(t, pipe_began(s, i), PIPE_TIME_BITS);

		if (s->number[i] == 0)
			continue;
		if (ns < bytes_conf(t)->timeout_ns) {
			oldest = ns > oldest ? ns : oldest;
			continue;
		}
		s->number[i] = 0;
		failed++;
	}
	if (failed != 0) {
		h->open = (uint8_t)(h->open - failed);
		wl_failed(t, failed);
		pipe_next(t, h);
	}
	return oldest;
}

static void pipe_timer(struct wl_turn *t)
{
	struct pipe_head *h = pipe_head(t);
	uint64_t oldest;

	if (h->open != 0) {
		oldest = pipe_give_up(t, h);
		if (h->open != 0)
			t->timer_ns = bytes_conf(t)->timeout_ns - oldest;
	} else if (t->flow->draining) {
		pipe_close(t);
	} else {
		pipe_fill(t, h, 0);
	}
}

static void pipe_drain(struct wl_turn *t)
{
	if (pipe_head(t)->open != 0)
		return;
	t->close = WL_CLOSE_FIN;
	if (!t->closing)
		pipe_close(t);
}

static void pipe_closed(struct wl_turn *t, enum wl_end why)
{
	unsigned cells = (pipe_most(bytes_conf(t)) + PIPE_SLOTS - 1) / PIPE_SLOTS;
	struct pipe_head *h;

	(void)why;
	if (t->mem[0] == 0)
		return;
	h = pipe_head(t);
	if (h->open != 0)
		wl_failed(t, h->open);
	for (unsigned i = 0; i < cells; i++) {
		if (i >= PIPE_HERE && h->list[(i - PIPE_HERE) / PIPE_LINKS] == 0)
			break;
		wl_free_cell(t, pipe_link(t, h, i));
	}
	for (unsigned i = 0; i < PIPE_LISTS; i++)
		wl_free_cell(t, &h->list[i]);
	wl_free_cell(t, &t->mem[0]);
}

static unsigned pipe_cells(const struct wl_flow *f, bool udp)
{
	unsigned cells = (pipe_most(f->conf) + PIPE_SLOTS - 1) / PIPE_SLOTS;
	unsigned lists = cells > PIPE_HERE ? (cells - PIPE_HERE + PIPE_LINKS - 1) / PIPE_LINKS : 0;

	(void)udp;
	return 1 + cells + lists;
}

const struct workload wl_bytes_pipelined = {
	.name = "bytes",
	.help = "requests and responses of so many bytes, several at a time",
	.udp = true,
	.counters = wl_numbers_table,
	.own_bytes = sizeof(struct wl_numbers),
	.cells = pipe_cells,
	.opened = pipe_opened,
	.client_opens = true,
	.received = pipe_received,
	.may_send = pipe_may_send,
	.timer = pipe_timer,
	.go = pipe_go,
	.drain = pipe_drain,
	.closed = pipe_closed,
};
