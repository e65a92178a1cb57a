/* SPDX-License-Identifier: BSD-3-Clause */
#include "neper_wl.h"

/* The cell of a connection. */
struct rr_cell {
	uint64_t began;
	uint64_t left;            /* bytes that are still to come */
	uint64_t unsent;          /* bytes behind the piece that is being sent */
	uint64_t due_ns, send_ns; /* of the last transaction; of the next piece. 0: none was */
	uint32_t flow;
	bool numbered; /* it has a number of its own: flow */
	bool open;
	bool waits; /* for the time of its next transaction */
};
_Static_assert(sizeof(struct rr_cell) <= WL_CELL, "a cell of the arm");

static const struct neper_wl_conf *rr_conf(const struct wl_turn *t)
{
	return t->flow->conf;
}

static struct rr_cell *rr_cell(struct wl_turn *t)
{
	return wl_cell(t, &t->mem[0]);
}

static void epoch_add(struct neper_epoch *e, uint64_t ns)
{
	if (e->n == 0 || ns < e->min)
		e->min = ns;
	if (ns > e->max)
		e->max = ns;
	e->n++;
	e->sum += ns;
	e->squares += (double)ns * (double)ns;
}

static void rr_told(struct wl_turn *t, const struct rr_cell *cell)
{
	struct neper_times *k = t->flow->own;
	uint64_t ns = t->now_ns - cell->began;

	epoch_add(&k->all, ns);
	epoch_add(&k->now[__atomic_load_n(&k->at, __ATOMIC_ACQUIRE)], ns);
	if (k->hist != NULL)
		hist_add(k->hist, ns / NEPER_TICK, 1);
	if (k->nlog < k->log_most &&
	    (k->flow_log == NULL || k->flow_log[cell->flow]++ < k->flow_most))
		k->log[k->nlog++] = (struct neper_rtt){cell->began, ns, cell->flow};
	k->last_ns = t->now_ns;
}

/* When n bytes that are sent now are followed by others: late ones are made up for, at most
 * burst_ns. */
static uint64_t pace_next(const struct neper_wl_conf *conf, uint64_t at_ns, uint64_t now_ns,
			  uint64_t n)
{
	if (at_ns == 0)
		at_ns = now_ns;
	if (at_ns + conf->burst_ns < now_ns)
		at_ns = now_ns - conf->burst_ns;
	return at_ns + conf->gap_ns + (uint64_t)((unsigned __int128)n * conf->byte_fraction >> 32);
}

/* Sends what is unsent; of datagrams and paced bytes a piece, others follow in rr_may_send(). */
static void rr_send(struct wl_turn *t, struct rr_cell *cell)
{
	const struct neper_wl_conf *conf = rr_conf(t);
	bool paced = WL_RARE(conf->byte_fraction != 0);
	uint64_t n = cell->unsent;

	if (paced && cell->send_ns > t->now_ns) {
		t->timer_ns = cell->send_ns - t->now_ns;
		return;
	}
	if ((t->datagram || paced) && n > conf->piece)
		n = conf->piece;
	if (paced)
		cell->send_ns = pace_next(conf, cell->send_ns, t->now_ns, n);
	cell->unsent -= n;
	wl_send(t, 0, n);
	if (t->datagram && t->flow->client && cell->unsent == 0)
		t->timer_ns = conf->timeout_ns;
}

static void rr_may_send(struct wl_turn *t)
{
	struct rr_cell *cell = rr_cell(t);

	if (cell != NULL && cell->unsent > 0)
		rr_send(t, cell);
}

/* How long this connection took to open, where others count in the same memory. */
static uint64_t rr_opening(struct wl_turn *t)
{
	struct neper_times *k = t->flow->own;
	uint64_t sum = t->flow->connect.sum, ns;

	if (k->turn_ns != t->now_ns || k->turn_sum > sum)
		k->turn_sum = 0;
	ns = sum - k->turn_sum;
	k->turn_ns = t->now_ns;
	k->turn_sum = sum;
	return ns;
}

/* Each connection of a line is timed from the end of the one before it; of many that are counted
 * together, from its own begin. */
static uint64_t rr_began(struct wl_turn *t)
{
	const struct neper_times *k = t->flow->own;

	if (!rr_conf(t)->again)
		return t->now_ns;
	if (t->flow->connect.h != NULL)
		return t->now_ns - rr_opening(t);
	return k->last_ns != 0 ? k->last_ns : t->now_ns;
}

/* One of the budget, which workers share; false: it is spent. */
static bool rr_takes(const struct neper_wl_conf *conf)
{
	uint64_t taken;

	if (conf->budget == 0)
		return true;
	taken = cell_get(conf->taken);
	while (taken < conf->budget)
		if (__atomic_compare_exchange_n(conf->taken, &taken, taken + 1, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return true;
	return false;
}

static void rr_begin(struct wl_turn *t, struct rr_cell *cell)
{
	const struct neper_wl_conf *conf = rr_conf(t);

	if (t->flow->draining || !rr_takes(conf))
		return;
	wl_started(t);
	cell->open = true;
	cell->began = rr_began(t);
	cell->left = conf->response;
	cell->unsent = conf->request;
	rr_send(t, cell);
}

/* When the connection's next transaction is due: some time after its last one was, or at the next
 * of the times that all of them share. */
static uint64_t rr_due(struct wl_turn *t, struct rr_cell *cell)
{
	const struct neper_wl_conf *conf = rr_conf(t);
	struct neper_times *k = t->flow->own;

	if (conf->slot_ns == 0) {
		cell->due_ns = cell->due_ns == 0 ? t->now_ns : cell->due_ns + conf->every_ns;
		return cell->due_ns;
	}
	if (k->slot_ns == 0)
		k->slot_ns = t->now_ns + k->slot * conf->slot_ns;
	if (k->slot_ns + conf->burst_ns < t->now_ns)
		k->slot_ns = t->now_ns - conf->burst_ns;
	k->slot_ns += k->slots * conf->slot_ns;
	return k->slot_ns - k->slots * conf->slot_ns;
}

static void rr_go(struct wl_turn *t)
{
	const struct neper_wl_conf *conf = rr_conf(t);
	struct rr_cell *cell = rr_cell(t);
	uint64_t due;

	if (WL_RARE((conf->every_ns | conf->slot_ns) != 0)) {
		due = rr_due(t, cell);
		cell->waits = due > t->now_ns;
		if (cell->waits) {
			t->timer_ns = due - t->now_ns;
			return;
		}
	}
	rr_begin(t, cell);
}

static void rr_next(struct wl_turn *t)
{
	if (rr_conf(t)->again)
		t->close = rr_conf(t)->no_close ? WL_CLOSE_FIN : WL_CLOSE_RST;
	else if (t->flow->on_call && !rr_conf(t)->chain)
		t->ready = true;
	else
		rr_go(t);
}

static void rr_opened(struct wl_turn *t)
{
	struct neper_times *k = t->flow->own;
	struct rr_cell *cell = rr_cell(t);

	if (cell == NULL) {
		t->close = WL_CLOSE_RST; /* no memory to count in */
		return;
	}
	if (k->nfree > 0) {
		cell->flow = k->free[--k->nfree];
		cell->numbered = true;
	}
	if (!t->flow->client)
		cell->left = rr_conf(t)->request;
	else if (t->flow->on_call)
		t->ready = true;
	else
		rr_go(t);
}

static void rr_answered(struct wl_turn *t, struct rr_cell *cell, uint64_t n)
{
	struct neper_times *k = t->flow->own;
	uint64_t most = cell->open ? cell->left : 0;

	if (n > most) {
		/* a datagram that was lost may come later than its time */
		if (cell->open || !t->datagram)
			cell_add(&k->excess, n - most);
		n = most;
	}
	cell->left -= n;
	if (!cell->open || cell->left > 0)
		return;
	cell->open = false;
	if (t->datagram)
		t->timer_ns = WL_NO_TIMER;
	wl_done(t);
	rr_told(t, cell);
	rr_next(t);
}

static uint32_t rr_asked(struct wl_turn *t, struct rr_cell *cell, uint32_t n)
{
	uint32_t all = n;

	if (!cell->open) {
		cell->open = true;
		wl_started(t);
	}
	if (n > cell->left)
		n = (uint32_t)cell->left;
	cell->left -= n;
	if (cell->left > 0)
		return n;
	cell->open = false;
	cell->left = rr_conf(t)->request;
	cell->unsent += rr_conf(t)->response;
	rr_send(t, cell);
	wl_done(t);
	return t->datagram ? all : n;
}

static uint32_t rr_received(struct wl_turn *t, const uint8_t *data, uint32_t n)
{
	struct rr_cell *cell = rr_cell(t);

	(void)data;
	if (cell == NULL || t->flow->draining)
		return n;
	if (!t->flow->client)
		return rr_asked(t, cell, n);
	rr_answered(t, cell, n);
	return n;
}

static void rr_timer(struct wl_turn *t)
{
	struct rr_cell *cell = rr_cell(t);

	if (cell == NULL || t->flow->draining)
		return;
	if (cell->unsent > 0) {
		rr_send(t, cell);
		return;
	}
	if (cell->waits) {
		cell->waits = false;
		rr_begin(t, cell);
		return;
	}
	if (!cell->open || !t->datagram)
		return;
	cell->open = false;
	cell_add(&((struct neper_times *)t->flow->own)->lost, 1);
	wl_failed(t, 1);
	if (rr_conf(t)->budget != 0) /* another one takes its place */
		__atomic_fetch_sub(rr_conf(t)->taken, 1, __ATOMIC_RELAXED);
	rr_next(t);
}

static void rr_closed(struct wl_turn *t, enum wl_end why)
{
	struct neper_times *k = t->flow->own;
	struct rr_cell *cell = rr_cell(t);

	(void)why;
	if (cell != NULL && cell->open)
		wl_failed(t, 1);
	if (cell != NULL && cell->numbered)
		k->free[k->nfree++] = cell->flow;
	wl_free_cell(t, &t->mem[0]);
}

/* The end of a run: what is open is reset a moment later, unless it is to close. */
static void rr_drain(struct wl_turn *t)
{
	if (!t->datagram && rr_conf(t)->no_close)
		t->close = WL_CLOSE_FIN;
}

static unsigned rr_cells(const struct wl_flow *f, bool udp)
{
	(void)f;
	(void)udp;
	return 1;
}

const struct workload neper_rr = {
	.name = "neper_rr",
	.help = "neper's requests and responses",
	.tcp = true,
	.udp = true,
	.own_bytes = sizeof(struct neper_times),
	.cells = rr_cells,
	.opened = rr_opened,
	.received = rr_received,
	.may_send = rr_may_send,
	.timer = rr_timer,
	.go = rr_go,
	.drain = rr_drain,
	.closed = rr_closed,
};

/* ---- datagrams one way ---- */

static void datagram_send(struct wl_turn *t)
{
	if (t->flow->client && !t->flow->draining)
		wl_send(t, 0, rr_conf(t)->request);
}

static uint32_t datagram_received(struct wl_turn *t, const uint8_t *data, uint32_t n)
{
	(void)t;
	(void)data;
	return n;
}

const struct workload neper_datagrams = {
	.name = "neper_datagrams",
	.help = "neper's datagrams, one way",
	.udp = true,
	.own_bytes = sizeof(struct neper_times),
	.client_opens = true,
	.opened = datagram_send,
	.received = datagram_received,
	.may_send = datagram_send,
};

/* ---- pieces at their times ---- */

/* The words of a connection: bits of its own, and the time of its next piece, or since when it
 * waits. */
#define PIECES_MUTE (1ull << 63)  /* it has the other direction */
#define PIECES_WAITS (1ull << 62) /* it is not known yet which one it has */
#define PIECES_TIME (PIECES_WAITS - 1)
/* Which connections its client sends on a server sees by what comes: so long behind the first
 * bytes of any of them; and, if none come at all, so long behind its own begin. */
#define SPLIT_NS 10000000u
#define SPLIT_MOST_NS 1000000000u

static void pieces_send(struct wl_turn *t)
{
	const struct neper_wl_conf *conf = rr_conf(t);
	uint64_t at = wl_words(t);

	if (conf->piece == 0 || t->flow->draining || (at & (PIECES_MUTE | PIECES_WAITS)) != 0)
		return;
	if (at > t->now_ns) {
		t->timer_ns = at - t->now_ns;
		return;
	}
	wl_set_words(t, pace_next(conf, at, t->now_ns, conf->piece));
	wl_send(t, 0, conf->piece);
}

static void split_opened(struct wl_turn *t, struct neper_split *split)
{
	if (!t->flow->client) {
		wl_set_words(t, PIECES_WAITS | (t->now_ns & PIECES_TIME));
		t->timer_ns = SPLIT_NS;
	} else if (__atomic_fetch_add(&split->opened, 1, __ATOMIC_RELAXED) % 2 == 0) {
		wl_set_words(t, PIECES_MUTE);
	}
}

static void split_received(struct wl_turn *t, struct neper_split *split)
{
	wl_set_words(t, PIECES_MUTE);
	if (__atomic_load_n(&split->began_ns, __ATOMIC_RELAXED) == 0)
		__atomic_store_n(&split->began_ns, t->now_ns, __ATOMIC_RELAXED);
}

static void split_waits(struct wl_turn *t, const struct neper_split *split)
{
	uint64_t began = __atomic_load_n(&split->began_ns, __ATOMIC_RELAXED);
	uint64_t until =
		began != 0 ? began + SPLIT_NS : (wl_words(t) & PIECES_TIME) + SPLIT_MOST_NS;

	if (t->now_ns < until) {
		t->timer_ns = SPLIT_NS;
		return;
	}
	wl_set_words(t, 0);
	pieces_send(t);
}

static void pieces_opened(struct wl_turn *t)
{
	struct neper_split *split = rr_conf(t)->split;

	if (split != NULL)
		split_opened(t, split);
	if (t->flow->client && t->flow->on_call)
		t->ready = true;
	else if (t->flow->client || !t->datagram)
		pieces_send(t);
}

static uint32_t pieces_received(struct wl_turn *t, const uint8_t *data, uint32_t n)
{
	struct neper_split *split = rr_conf(t)->split;

	(void)data;
	if (WL_RARE(split != NULL) && !t->flow->client && (wl_words(t) & PIECES_MUTE) == 0)
		split_received(t, split);
	return n;
}

static void pieces_timer(struct wl_turn *t)
{
	if ((wl_words(t) & (PIECES_MUTE | PIECES_WAITS)) == PIECES_WAITS)
		split_waits(t, rr_conf(t)->split);
	else
		pieces_send(t);
}

const struct workload neper_pieces = {
	.name = "neper_pieces",
	.help = "neper's streams at their times",
	.tcp = true,
	.udp = true,
	.own_bytes = sizeof(struct neper_times),
	.opened = pieces_opened,
	.received = pieces_received,
	.may_send = pieces_send,
	.timer = pieces_timer,
	.go = pieces_send,
	.drain = rr_drain,
};
