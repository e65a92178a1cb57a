/* SPDX-License-Identifier: BSD-3-Clause */
/* A server's connections on a port: all that come while the test's are expected, whoever they are.
 * A connection's first word says what it is, and its second one of which test. */
#include "iperf_wl.h"

#include <string.h>

#define COOKIE_NS 10000000000ull /* who connects says who it is within this */

/* Of the first word: the number of its line below; or how many bytes of its cookie have come. */
#define WORD_LINE (1u << 31)
#define WORD_GONE (1u << 30)  /* it has been refused */
#define WORD_OTHER (1u << 29) /* its cookie is not that of the test */
#define WORD_ODD (1u << 28)   /* it is no cookie */
#define WORD_NUMBER 0xffffu

enum { SERVED_SAYS, SERVED_DATA };

void iperf_served_contents(struct wl_content *content, bool udp, uint8_t (*head)[IPERF_UDP_HEAD64])
{
	static const uint8_t denied = (uint8_t)IPERF_ACCESS_DENIED;

	wl_content_init(&content[SERVED_SAYS], udp ? (const void *)"6789" : &denied, udp ? 4 : 1,
			WL_FILL_X);
	for (unsigned i = 0; i < IPERF_ALL; i++)
		wl_content_init(&content[SERVED_DATA + i], NULL, 0, WL_FILL_X);
	memset(head, 0, IPERF_ALL * sizeof(*head));
}

/* The test as it is now, if the connection is of it. */
static const struct iperf_served *served_test(const struct wl_turn *t)
{
	const struct iperf_served *s = t->flow->conf;
	uint64_t test = __atomic_load_n(&s->test, __ATOMIC_ACQUIRE);

	return test != 0 && t->mem[1] == (uint32_t)test ? s : NULL;
}

/* NULL: it is no line of the test that runs. */
static struct iperf_wl_line *served_line(const struct wl_turn *t, const struct iperf_wl_conf **c)
{
	const struct iperf_served *s = served_test(t);
	struct iperf_served_lines *lines = t->flow->own;
	uint32_t i = t->mem[0] & WORD_NUMBER;

	if (s == NULL || (t->mem[0] & WORD_LINE) == 0)
		return NULL;
	*c = &s->line[i];
	return &lines->line[i].wl;
}

/* Whether the test wants more of them; then this is one. */
static bool served_takes(struct wl_turn *t)
{
	const struct iperf_served *s = served_test(t);
	struct iperf_served_lines *lines = t->flow->own;
	uint64_t n = lines->n;

	if (s == NULL || n >= s->want)
		return false;
	lines->line[n].identity = t->arm->identity(t);
	lines->line[n].wl.ready = true;
	iperf_line_clock(t, &lines->line[n].wl);
	t->mem[0] = WORD_LINE | (uint32_t)n;
	__atomic_store_n(&lines->n, n + 1, __ATOMIC_RELEASE);
	t->timer_ns = WL_NO_TIMER;
	t->ready = true;
	wl_started(t);
	return true;
}

static void served_close(struct wl_turn *t)
{
	if ((t->mem[0] & WORD_LINE) == 0)
		t->mem[0] |= WORD_GONE;
	t->close = WL_CLOSE_FIN;
	t->timer_ns = WL_NO_TIMER;
}

static void served_opened(struct wl_turn *t)
{
	const struct iperf_served *s = t->flow->conf;

	t->mem[0] = 0;
	t->mem[1] = (uint32_t)__atomic_load_n(&s->test, __ATOMIC_ACQUIRE);
	t->timer_ns = COOKIE_NS;
	if (t->mem[1] == 0)
		served_close(t);
}

static void served_go(struct wl_turn *t, void next(struct wl_turn *, const struct iperf_wl_conf *,
						   struct iperf_wl_line *))
{
	const struct iperf_wl_conf *c;
	struct iperf_wl_line *l = served_line(t, &c);

	if (l == NULL)
		return;
	l->going = true;
	next(t, c, l);
}

static void served_drain(struct wl_turn *t)
{
	if (!t->closing)
		served_close(t);
}

static void served_closed(struct wl_turn *t, enum wl_end why)
{
	if ((t->mem[0] & WORD_LINE) == 0)
		return;
	if (why == WL_END_CLOSED || t->flow->draining)
		wl_done(t);
	else
		wl_failed(t, 1);
	t->mem[0] = WORD_GONE;
}

/* ---- TCP ---- */

/* A cookie byte by byte. Returns how many of them were its. */
static uint32_t served_cookie(struct wl_turn *t, const uint8_t *data, uint32_t n)
{
	const struct iperf_served *s = served_test(t);
	uint32_t have = t->mem[0] & WORD_NUMBER, i = 0;

	for (; i < n && have < IPERF_COOKIE; i++, have++) {
		uint8_t b = data == NULL ? 0 : data[i];
		bool last = have == IPERF_COOKIE - 1;

		if (s == NULL || b != (uint8_t)s->cookie[have])
			t->mem[0] |= WORD_OTHER;
		if (last ? b != 0 : b < 0x21 || b > 0x7e)
			t->mem[0] |= WORD_ODD;
	}
	t->mem[0] = (t->mem[0] & ~WORD_NUMBER) | have;
	return i;
}

static uint32_t served_who(struct wl_turn *t, const uint8_t *data, uint32_t n)
{
	uint32_t took;

	if ((t->mem[0] & WORD_GONE) != 0)
		return n;
	took = served_cookie(t, data, n);
	if ((t->mem[0] & WORD_NUMBER) < IPERF_COOKIE)
		return took;
	if ((t->mem[0] & WORD_OTHER) == 0 && served_takes(t))
		return took;
	if ((t->mem[0] & WORD_ODD) == 0)
		wl_send(t, SERVED_SAYS, 1);
	served_close(t);
	return took;
}

static uint32_t served_received(struct wl_turn *t, const uint8_t *data, uint32_t n)
{
	const struct iperf_wl_conf *c;
	struct iperf_wl_line *l = served_line(t, &c);

	if ((t->mem[0] & WORD_LINE) == 0)
		return served_who(t, data, n);
	if (l != NULL)
		cell_add(&l->rx_bytes, n);
	return n;
}

/* Of a line nobody looks at what comes. */
static bool served_ahead(struct wl_turn *t, uint32_t distance, const uint8_t *data, uint32_t n)
{
	(void)distance, (void)data, (void)n;
	return (t->mem[0] & WORD_LINE) != 0;
}

static void served_next(struct wl_turn *t)
{
	const struct iperf_wl_conf *c;
	struct iperf_wl_line *l = served_line(t, &c);

	if (l != NULL)
		iperf_line_blocks(t, c, l);
}

static void served_timer(struct wl_turn *t)
{
	if ((t->mem[0] & WORD_LINE) != 0)
		served_next(t);
	else
		served_close(t); /* it does not say who it is */
}

/* A client that ends its connection says by that nothing about the test. */
static void served_ended(struct wl_turn *t)
{
	const struct iperf_wl_conf *c;

	if (served_line(t, &c) == NULL)
		served_drain(t);
}

static void served_stream_go(struct wl_turn *t)
{
	served_go(t, iperf_line_blocks);
}

const struct workload iperf_wl_served = {
	.name = "iperf3",
	.help = "whoever has the test's cookie, and blocks one way",
	.tcp = true,
	.own_bytes = sizeof(struct iperf_served_lines),
	.opened = served_opened,
	.received = served_received,
	.ahead = served_ahead,
	.may_send = served_next,
	.timer = served_timer,
	.ended = served_ended,
	.go = served_stream_go,
	.drain = served_drain,
	.closed = served_closed,
};

/* ---- datagrams ---- */

static void datagrams_next(struct wl_turn *t)
{
	const struct iperf_wl_conf *c;
	struct iperf_wl_line *l = served_line(t, &c);

	if (l != NULL)
		iperf_line_datagrams(t, c, l);
}

static void datagrams_may_send(struct wl_turn *t)
{
	const struct iperf_wl_conf *c;
	struct iperf_wl_line *l = served_line(t, &c);

	if (l == NULL)
		return;
	l->waits = false;
	iperf_line_datagrams(t, c, l);
}

/* The first datagram is a greeting of 4 bytes, which every version has said in its own way. One
 * that comes again has not seen its answer. */
static uint32_t datagrams_received(struct wl_turn *t, const uint8_t *data, uint32_t n)
{
	const struct iperf_wl_conf *c;
	struct iperf_wl_line *l;
	bool greets = t->length == 4;

	if ((t->mem[0] & WORD_LINE) == 0 && !(greets && served_takes(t))) {
		served_close(t);
		return n;
	}
	l = served_line(t, &c);
	if (l == NULL) {
		served_close(t);
	} else if (!greets) {
		iperf_line_count(t, c, l, data, n);
	} else if (!l->going && !l->waits) {
		wl_send(t, SERVED_SAYS, 4);
		l->waits = true;
	}
	return n;
}

static void datagrams_timer(struct wl_turn *t)
{
	if ((t->mem[0] & WORD_LINE) != 0)
		datagrams_next(t);
	else
		served_close(t);
}

static void datagrams_go(struct wl_turn *t)
{
	served_go(t, iperf_line_datagrams);
}

const struct workload iperf_wl_served_datagrams = {
	.name = "iperf3",
	.help = "whoever greets, and numbered datagrams one way",
	.udp = true,
	.own_bytes = sizeof(struct iperf_served_lines),
	.opened = served_opened,
	.received = datagrams_received,
	.may_send = datagrams_may_send,
	.timer = datagrams_timer,
	.ended = served_drain,
	.go = datagrams_go,
	.drain = served_drain,
	.closed = served_closed,
};
