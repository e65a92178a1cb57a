/* SPDX-License-Identifier: BSD-3-Clause */
#include "iperf_wl.h"

#include <string.h>
#include <time.h>

#define HELLO_NS 1000000000ull /* between two greetings of a UDP stream */
#define HELLOS 10

uint32_t iperf_take_left(int64_t *left, uint32_t n)
{
	int64_t now;

	if (left == NULL)
		return n;
	now = __atomic_load_n(left, __ATOMIC_RELAXED);
	while (now > 0) {
		uint32_t take = now < (int64_t)n ? (uint32_t)now : n;
		if (__atomic_compare_exchange_n(left, &now, now - take, true, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			return take;
	}
	return 0;
}

/* Whether a block is due; else the timer says when. */
static bool block_due(struct wl_turn *t, const struct iperf_wl_conf *c, struct iperf_pace *p)
{
	uint64_t due;

	if (c->ns_byte == 0)
		return true;
	if (p->begin_ns == 0)
		p->begin_ns = t->now_ns;
	due = p->begin_ns + (uint64_t)((double)p->sent * c->ns_byte);
	if (t->now_ns < due && p->blocks % c->burst == 0) {
		t->timer_ns = due - t->now_ns;
		return false;
	}
	p->sent += c->blksize;
	p->blocks++;
	return true;
}

/* ---- blocks one way ---- */

/* Blocks, one behind the other, as long as there are some left. */
static void blocks_next(struct wl_turn *t)
{
	const struct iperf_wl_conf *c = t->flow->conf;
	uint32_t n = c->sends && block_due(t, c, t->flow->own)
			     ? iperf_take_left(c->left, c->blksize)
			     : 0;

	if (n > 0)
		wl_send(t, 0, n);
}

static uint32_t blocks_received(struct wl_turn *t, const uint8_t *data, uint32_t n)
{
	(void)t, (void)data;
	return n;
}

/* The other end goes when the test is over, and control says when that is. */
static void blocks_ended(struct wl_turn *t)
{
	(void)t;
}

const struct workload iperf_wl_blocks = {
	.name = "iperf3",
	.help = "blocks one way",
	.tcp = true,
	.own_bytes = sizeof(struct iperf_pace),
	.opened = blocks_next,
	.received = blocks_received,
	.may_send = blocks_next,
	.timer = blocks_next,
	.ended = blocks_ended,
	.drain = blocks_ended,
};

/* ---- a line on a port ---- */

void iperf_wl_contents(struct wl_content *content, const char *hello, unsigned n, uint8_t *head)
{
	wl_content_init(&content[IPERF_WL_DATA], NULL, 0, WL_FILL_X);
	wl_content_init(&content[IPERF_WL_HELLO], hello, n, WL_FILL_X);
	memset(head, 0, IPERF_UDP_HEAD64);
}

void iperf_line_look(const struct iperf_wl_line *l, bool sends, struct iperf_now *now)
{
	uint64_t jitter = cell_get(&l->jitter);

	now->bytes = cell_get(sends ? &l->tx_bytes : &l->rx_bytes);
	now->packets = cell_get(&l->packets);
	now->lost = (int64_t)cell_get(&l->lost);
	now->unordered = cell_get(&l->unordered);
	memcpy(&now->jitter_s, &jitter, sizeof(jitter));
}

/* The transaction is the line's whole life: that it has started says that it is ready. */
static void line_ready(struct wl_turn *t)
{
	struct iperf_wl_line *l = t->flow->own;

	if (l->ready)
		return;
	l->ready = t->ready = true;
	wl_started(t);
}

static void line_closed(struct wl_turn *t, enum wl_end why)
{
	struct iperf_wl_line *l = t->flow->own;

	if (l->ready && (why == WL_END_CLOSED || t->flow->draining))
		wl_done(t);
	else if (l->ready)
		wl_failed(t, 1);
	l->ready = false;
}

static void line_close(struct wl_turn *t)
{
	t->close = WL_CLOSE_FIN;
	t->timer_ns = WL_NO_TIMER;
}

void iperf_line_blocks(struct wl_turn *t, const struct iperf_wl_conf *c, struct iperf_wl_line *l)
{
	uint32_t n;

	if (!l->going || !c->sends || t->flow->draining || !block_due(t, c, &l->pace))
		return;
	n = iperf_take_left(c->left, c->blksize);
	if (n == 0)
		return;
	wl_send(t, c->number, n);
	cell_add(&l->tx_bytes, n);
}

static void stream_next(struct wl_turn *t)
{
	iperf_line_blocks(t, t->flow->conf, t->flow->own);
}

static void stream_opened(struct wl_turn *t)
{
	wl_send(t, IPERF_WL_HELLO, IPERF_COOKIE);
	line_ready(t);
}

static void stream_go(struct wl_turn *t)
{
	((struct iperf_wl_line *)t->flow->own)->going = true;
	stream_next(t);
}

static uint32_t stream_received(struct wl_turn *t, const uint8_t *data, uint32_t n)
{
	(void)data;
	cell_add(&((struct iperf_wl_line *)t->flow->own)->rx_bytes, n);
	return n;
}

static bool stream_ahead(struct wl_turn *t, uint32_t distance, const uint8_t *data, uint32_t n)
{
	(void)t, (void)distance, (void)data, (void)n;
	return true;
}

const struct workload iperf_wl_stream = {
	.name = "iperf3",
	.help = "a cookie, and blocks one way",
	.tcp = true,
	.own_bytes = sizeof(struct iperf_wl_line),
	.opened = stream_opened,
	.received = stream_received,
	.ahead = stream_ahead,
	.may_send = stream_next,
	.timer = stream_next,
	.ended = line_close,
	.go = stream_go,
	.drain = line_close,
	.closed = line_closed,
};

/* ---- datagrams ---- */

static uint64_t wall_us(const struct wl_turn *t, const struct iperf_wl_line *l)
{
	return (uint64_t)((int64_t)(t->now_ns / 1000) + l->wall_us);
}

static void datagrams_hello(struct wl_turn *t)
{
	struct iperf_wl_line *l = t->flow->own;

	if (l->hellos++ == HELLOS) {
		line_close(t);
		return;
	}
	wl_send(t, IPERF_WL_HELLO, 4);
	t->timer_ns = HELLO_NS;
}

void iperf_line_clock(struct wl_turn *t, struct iperf_wl_line *l)
{
	struct timespec day;

	clock_gettime(CLOCK_REALTIME, &day);
	l->wall_us =
		(int64_t)day.tv_sec * 1000000 + day.tv_nsec / 1000 - (int64_t)(t->now_ns / 1000);
}

static void datagrams_opened(struct wl_turn *t)
{
	iperf_line_clock(t, t->flow->own);
	datagrams_hello(t);
}

/* The last one is as long as the others, as those of iperf3 are. */
void iperf_line_datagrams(struct wl_turn *t, const struct iperf_wl_conf *c, struct iperf_wl_line *l)
{
	uint64_t number = l->packets + 1;

	if (!l->going || !c->sends || l->waits || t->flow->draining || !block_due(t, c, &l->pace) ||
	    iperf_take_left(c->left, c->blksize) == 0)
		return;
	iperf_udp_put(c->head, wall_us(t, l), number, c->wide);
	wl_content_init(&c->content[IPERF_WL_DATA], c->head,
			c->wide ? IPERF_UDP_HEAD64 : IPERF_UDP_HEAD, WL_FILL_X);
	wl_send(t, c->number, c->blksize);
	l->waits = true;
	cell_set(&l->packets, number);
	cell_add(&l->tx_bytes, c->blksize);
}

static void datagrams_next(struct wl_turn *t)
{
	iperf_line_datagrams(t, t->flow->conf, t->flow->own);
}

static void datagrams_may_send(struct wl_turn *t)
{
	((struct iperf_wl_line *)t->flow->own)->waits = false;
	datagrams_next(t);
}

static void datagrams_timer(struct wl_turn *t)
{
	if (((struct iperf_wl_line *)t->flow->own)->ready)
		datagrams_next(t);
	else
		datagrams_hello(t);
}

static void datagrams_go(struct wl_turn *t)
{
	((struct iperf_wl_line *)t->flow->own)->going = true;
	datagrams_next(t);
}

void iperf_line_count(struct wl_turn *t, const struct iperf_wl_conf *c, struct iperf_wl_line *l,
		      const uint8_t *data, uint32_t n)
{
	uint64_t jitter;

	if (c->sends || !iperf_seq_seen(&l->seq, data, n, c->wide, wall_us(t, l)))
		return;
	memcpy(&jitter, &l->seq.jitter_s, sizeof(jitter));
	cell_add(&l->rx_bytes, t->length);
	cell_set(&l->packets, l->seq.packets);
	cell_set(&l->lost, (uint64_t)l->seq.lost);
	cell_set(&l->unordered, l->seq.unordered);
	cell_set(&l->jitter, jitter);
}

/* The answer to a greeting has 4 bytes, and no datagram of data has; that one comes says as much as
 * the answer, which may be lost. */
static uint32_t datagrams_received(struct wl_turn *t, const uint8_t *data, uint32_t n)
{
	struct iperf_wl_line *l = t->flow->own;

	if (!l->ready) {
		t->timer_ns = WL_NO_TIMER;
		line_ready(t);
	}
	if (t->length != 4)
		iperf_line_count(t, t->flow->conf, l, data, n);
	return n;
}

const struct workload iperf_wl_datagrams = {
	.name = "iperf3",
	.help = "a greeting, and numbered datagrams one way",
	.udp = true,
	.own_bytes = sizeof(struct iperf_wl_line),
	.opened = datagrams_opened,
	.received = datagrams_received,
	.may_send = datagrams_may_send,
	.timer = datagrams_timer,
	.ended = line_close,
	.go = datagrams_go,
	.drain = line_close,
	.closed = line_closed,
};
