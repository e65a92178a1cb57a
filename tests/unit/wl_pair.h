/* SPDX-License-Identifier: BSD-3-Clause */
/* The smallest arm for records of lib/workload: two ends, and bytes between them, without TCP.
 * Either end may also be a text. Everything that a record may ask for is done; what it must not ask
 * for traps. */
#pragma once
#include <stdlib.h>
#include <string.h>
#include "workload.h"

#define PAIR_CHECK(x) \
	do { \
		if (!(x)) \
			__builtin_trap(); \
	} while (0)
#define PAIR_CELLS 40

struct pair_end {
	struct wl_flow flow; /* flow.wl NULL: a text, whose bytes pair_say() puts into out */
	struct wl_counts counts;
	uint32_t mem[WL_MEM_WORDS];
	uint64_t cell[PAIR_CELLS][WL_CELL / 8 + 1];
	bool used[PAIR_CELLS];
	bool no_cells;
	unsigned few; /* so many cells are not there */
	uint8_t *out; /* all that was sent, NUL behind it */
	size_t len, cap, taken;
	uint64_t timer_ns; /* 0: none */
	bool ready, fin, rst, peer_done, gone;
	enum wl_end why;
};
struct pair {
	struct pair_end end[2]; /* the client, the server */
	uint64_t now_ns;
	/* How many of `left` bytes come at once; NULL: all. */
	size_t (*cut)(struct pair *p, size_t left);
	uint64_t arg;
};
struct pair_turn {
	struct wl_turn t;
	struct pair_end *e;
};

static inline void *pair_cell(struct wl_turn *t, uint32_t *at)
{
	struct pair_end *e = ((struct pair_turn *)t)->e;
	unsigned most = e->no_cells ? 0 : PAIR_CELLS - e->few;

	PAIR_CHECK(*at <= PAIR_CELLS);
	for (unsigned i = 0; *at == 0 && i < most; i++) {
		if (e->used[i])
			continue;
		e->used[i] = true;
		memset(e->cell[i], 0, sizeof(e->cell[i]));
		*at = i + 1;
	}
	PAIR_CHECK(*at == 0 || e->used[*at - 1]);
	return *at == 0 ? NULL : e->cell[*at - 1];
}
static inline void pair_free_cell(struct wl_turn *t, uint32_t *at)
{
	struct pair_end *e = ((struct pair_turn *)t)->e;

	PAIR_CHECK(*at <= PAIR_CELLS && (*at == 0 || e->used[*at - 1]));
	if (*at != 0)
		e->used[*at - 1] = false;
	*at = 0;
}
/* Both ends have the same; another one for each test that wants to. */
static uint64_t pair_identity_is = 1;
static inline uint64_t pair_identity(struct wl_turn *t)
{
	(void)t;
	return pair_identity_is;
}
static const struct wl_arm pair_arm = {.cell = pair_cell,
				       .free_cell = pair_free_cell,
				       .identity = pair_identity};

static inline void pair_room(struct pair_end *e, size_t n)
{
	if (e->len + n + 1 <= e->cap)
		return;
	e->cap = (e->len + n + 1) * 2;
	e->out = realloc(e->out, e->cap);
	PAIR_CHECK(e->out != NULL);
}
static inline void pair_say(struct pair_end *e, const void *bytes, size_t n)
{
	pair_room(e, n);
	memcpy(e->out + e->len, bytes, n);
	e->len += n;
	e->out[e->len] = '\0';
}
static inline void pair_message(struct pair_end *e, unsigned content, uint64_t n)
{
	uint64_t at = 0;

	PAIR_CHECK(content < e->flow.ncontent && n < 1u << 28);
	pair_room(e, n);
	for (uint32_t piece; at < n; at += piece) {
		piece = n - at < 65536 ? (uint32_t)(n - at) : 65536;
		wl_content_put(&e->flow.content[content], at, e->out + e->len + at, piece);
	}
	e->len += n;
	e->out[e->len] = '\0';
}

static inline void pair_gone(struct pair *p, struct pair_end *e, enum wl_end why)
{
	struct pair_turn w = {
		.t = {.flow = &e->flow, .mem = e->mem, .now_ns = p->now_ns, .arm = &pair_arm},
		.e = e};

	if (e->gone)
		return;
	e->gone = true;
	e->why = why;
	e->timer_ns = 0;
	if (e->flow.wl != NULL && e->flow.wl->closed != NULL)
		e->flow.wl->closed(&w.t, why);
	for (unsigned i = 0; i < PAIR_CELLS; i++)
		PAIR_CHECK(!e->used[i]);
	PAIR_CHECK(e->counts.started == e->counts.done + e->counts.failed + e->counts.open);
	PAIR_CHECK(e->counts.open == 0);
}

static inline struct pair_turn pair_begin(struct pair *p, struct pair_end *e)
{
	return (struct pair_turn){.t = {.flow = &e->flow,
					.mem = e->mem,
					.now_ns = p->now_ns,
					.peer_done = e->peer_done,
					.closing = e->fin,
					.arm = &pair_arm},
				  .e = e};
}
static inline bool pair_do_one(struct pair *p, struct pair_end *e, const struct wl_turn *t)
{
	if (t->send != 0 && !e->fin)
		pair_message(e, t->content, t->send);
	if (t->timer_ns != 0)
		e->timer_ns = t->timer_ns == WL_NO_TIMER ? 0 : p->now_ns + t->timer_ns;
	e->ready = e->ready || t->ready;
	if (t->close == WL_CLOSE_RST) {
		e->rst = true;
		pair_gone(p, e, WL_END_RESET_BY_US);
		return false;
	}
	e->fin = e->fin || t->close == WL_CLOSE_FIN;
	return t->send != 0 && !e->fin && e->flow.wl->may_send != NULL;
}
static inline void pair_do(struct pair *p, struct pair_end *e, const struct wl_turn *t)
{
	bool more = pair_do_one(p, e, t);

	while (more) {
		struct pair_turn w = pair_begin(p, e);

		e->flow.wl->may_send(&w.t);
		more = pair_do_one(p, e, &w.t);
	}
}

static inline void pair_call(struct pair *p, struct pair_end *e, void (*fn)(struct wl_turn *t))
{
	struct pair_turn w = pair_begin(p, e);

	if (e->gone || e->flow.wl == NULL)
		return;
	if (fn != NULL)
		fn(&w.t);
	pair_do(p, e, &w.t);
}

static inline void pair_receive(struct pair *p, struct pair_end *e, const uint8_t *data, uint32_t n)
{
	while (n > 0 && !e->gone && e->flow.wl != NULL) {
		struct pair_turn w = pair_begin(p, e);
		uint32_t used = e->flow.wl->received(&w.t, data, n);

		PAIR_CHECK(used > 0 && used <= n);
		pair_do(p, e, &w.t);
		data += used;
		n -= used;
	}
}

/* One piece, FIN or RST from one end to the other. Returns whether there was something. */
static inline bool pair_step(struct pair *p, unsigned from)
{
	struct pair_end *a = &p->end[from], *b = &p->end[!from];
	size_t left = a->len - a->taken, n;

	if (a->rst && !b->gone) {
		pair_gone(p, b, WL_END_RESET_BY_PEER);
		return true;
	}
	if (a->gone || b->gone)
		return false;
	if (left > 0) {
		uint8_t *copy;

		n = p->cut != NULL ? p->cut(p, left) : left;
		copy = malloc(n); /* its own, so that what lies behind it is not read */
		PAIR_CHECK(copy != NULL && n > 0 && n <= left);
		memcpy(copy, a->out + a->taken, n);
		a->taken += n;
		pair_receive(p, b, copy, (uint32_t)n);
		free(copy);
		return true;
	}
	if (a->fin && !b->peer_done) {
		b->peer_done = true;
		if (b->flow.wl != NULL && b->flow.wl->ended != NULL) {
			pair_call(p, b, b->flow.wl->ended);
		} else {
			b->fin = true;
		}
		return true;
	}
	if (a->peer_done && b->peer_done && b->len == b->taken) {
		pair_gone(p, a, WL_END_CLOSED);
		pair_gone(p, b, WL_END_CLOSED);
	}
	return false;
}

static inline bool pair_timer(struct pair *p)
{
	struct pair_end *first = NULL;

	for (unsigned i = 0; i < 2; i++) {
		struct pair_end *e = &p->end[i];

		if (!e->gone && e->timer_ns != 0 &&
		    (first == NULL || e->timer_ns < first->timer_ns))
			first = e;
	}
	if (first == NULL)
		return false;
	p->now_ns = first->timer_ns;
	first->timer_ns = 0;
	pair_call(p, first, first->flow.wl->timer);
	return true;
}

/* Until nothing happens any more. */
static inline void pair_run(struct pair *p)
{
	bool more = true;

	while (more) {
		more = pair_step(p, 0);
		more = pair_step(p, 1) || more;
		if (!more)
			more = pair_timer(p);
	}
}

static inline void pair_open(struct pair *p)
{
	p->now_ns = 1000000000;
	for (unsigned i = 0; i < 2; i++) {
		struct pair_end *e = &p->end[i];

		e->flow.counts = &e->counts;
		if (e->flow.wl == NULL)
			continue;
		e->flow.client = i == 0;
		if (e->flow.wl->own_bytes != 0 && e->flow.own == NULL)
			e->flow.own = calloc(1, e->flow.wl->own_bytes);
		if (e->flow.wl->opened != NULL)
			pair_call(p, e, e->flow.wl->opened);
	}
}

/* Both ends are gone afterwards, whatever the state was. */
static inline void pair_free(struct pair *p)
{
	for (unsigned i = 0; i < 2; i++) {
		struct pair_end *e = &p->end[i];

		if (e->flow.wl != NULL)
			pair_gone(p, e, WL_END_ABORTED);
		free(e->out);
		free(e->flow.own);
	}
}
