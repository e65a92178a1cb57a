/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes one way or both, without end or so many; over UDP datagrams with numbers. */
#include "workload.h"

/* Memory over TCP: when this end closed, and below that how many bytes came. Over UDP the two words
 * of a sender are those of struct stream_sent, and a receiver's what it has seen; who does both, or
 * sends at times, has a cell. A client counts a transaction per connection, which is done when both
 * ends have closed. */
struct stream_sent {
	uint32_t datagrams; /* the number of the last one */
	/* See WL_NUMBER. A client's is when its first one was sent, and a server says what its
	 * client has said: so both tell a connection from one that had its tuple before. */
	uint32_t began;
};
struct stream_cell {
	struct stream_sent sent;
	uint32_t seen[2];
	uint64_t due_ns; /* of the next datagram; 0: none has been sent */
};
/* Datagrams that are late follow at once, so that they have their rate though timers come in ticks
 * and CPUs are taken away; of what is later than this nothing follows. */
#define STREAM_BURST_NS 50000000ull

static const struct wl_stream_conf *stream_conf(const struct wl_turn *t)
{
	return t->flow->conf;
}

static bool stream_sends(const struct wl_turn *t)
{
	return (stream_conf(t)->direction & (t->flow->client ? WL_UP : WL_DOWN)) != 0;
}
static bool stream_receives(const struct wl_turn *t)
{
	return (stream_conf(t)->direction & (t->flow->client ? WL_DOWN : WL_UP)) != 0;
}

static struct stream_cell *stream_cell(struct wl_turn *t)
{
	return wl_cell(t, &t->mem[0]);
}

static bool stream_has_cell(const struct wl_stream_conf *conf, bool client)
{
	return conf->direction == WL_BOTH ||
	       (conf->gap_ns != 0 && conf->direction == (client ? WL_UP : WL_DOWN));
}

static struct stream_sent *stream_sent(struct wl_turn *t)
{
	struct stream_cell *cell;

	if (!stream_has_cell(stream_conf(t), t->flow->client))
		return (struct stream_sent *)t->mem;
	cell = stream_cell(t);
	return cell == NULL ? NULL : &cell->sent;
}

static void stream_end(struct wl_turn *t)
{
	t->close = t->flow->client ? WL_CLOSE_FIN : WL_CLOSE_NOT;
	t->timer_ns = WL_NO_TIMER;
}

/* Whether a sender with so many datagrams has sent all that it is to send. */
static bool stream_is_all(const struct wl_stream_conf *conf, uint32_t datagrams)
{
	return conf->bytes != 0 && (uint64_t)datagrams * conf->datagram >= conf->bytes;
}

/* Whether the next datagram is due; else it is when the timer ends. */
static bool stream_is_due(struct wl_turn *t)
{
	uint64_t gap_ns = stream_conf(t)->gap_ns;
	struct stream_cell *cell;

	if (gap_ns == 0)
		return true;
	cell = stream_cell(t);
	if (cell->due_ns > t->now_ns) {
		t->timer_ns = cell->due_ns - t->now_ns;
		return false;
	}
	if (cell->due_ns + STREAM_BURST_NS < t->now_ns)
		cell->due_ns = t->now_ns - (cell->due_ns == 0 ? 0 : STREAM_BURST_NS);
	cell->due_ns += gap_ns;
	return true;
}

static void stream_datagram(struct wl_turn *t)
{
	const struct wl_stream_conf *conf = stream_conf(t);
	struct stream_sent *sent = stream_sent(t);

	if (sent != NULL && !t->flow->draining && !stream_is_due(t))
		return;
	if (sent == NULL || t->flow->draining || stream_is_all(conf, sent->datagrams)) {
		stream_end(t);
		return;
	}
	wl_send(t, conf->content, conf->datagram);
	if (sent->datagrams == UINT32_MAX) /* the numbers begin anew, as another connection's */
		sent->datagrams = 0;
	if (sent->datagrams == 0 && t->flow->client)
		sent->began = (uint32_t)wl_time(t);
	t->stamp = (uint64_t)sent->began << 32 | ++sent->datagrams;
	t->stamped = true;
}

/* Of the bytes that came whole periods of the filling are left out now and then, so that there is
 * room for the time. */
#define STREAM_BITS 18
#define STREAM_MASK ((1u << STREAM_BITS) - 1)
#define STREAM_ROUND ((STREAM_MASK / 2 + 1) / WL_PERIOD * WL_PERIOD)
_Static_assert(STREAM_ROUND >= WL_HEAD_MAX, "what is left is behind the head");
_Static_assert(64 - STREAM_BITS >= WL_TIME_LEAST, "no connection is ever as old");

static void stream_close(struct wl_turn *t)
{
	t->close = WL_CLOSE_FIN;
	if (!t->datagram && !t->closing)
		wl_set_words(t, wl_time(t) << STREAM_BITS | (t->mem[0] & STREAM_MASK));
}

/* A server learns of a client by its first datagram: of one that sends nothing else, too. */
static void stream_hello(struct wl_turn *t)
{
	const struct wl_stream_conf *conf = stream_conf(t);

	if (t->flow->draining) {
		stream_end(t);
		return;
	}
	wl_send(t, conf->content, conf->datagram);
	t->mem[0] = (uint32_t)wl_time(t);
	t->stamp = (uint64_t)t->mem[0] << 32 | 1;
	t->stamped = true;
}

static void stream_opened(struct wl_turn *t)
{
	const struct wl_stream_conf *conf = stream_conf(t);

	if (t->flow->client)
		wl_started(t);
	if (t->datagram) {
		if (!t->flow->client) /* the client's datagram comes in a moment */
			return;
		if (stream_sends(t))
			stream_datagram(t);
		else
			stream_hello(t);
	} else if (t->flow->draining && conf->bytes == 0) {
		stream_close(t); /* what has no end would begin when all is to end */
	} else if (stream_sends(t)) {
		wl_send(t, conf->content, conf->bytes != 0 ? conf->bytes : WL_ENDLESS);
	}
}

static void stream_may_send(struct wl_turn *t)
{
	const struct wl_stream_conf *conf = stream_conf(t);

	if (!t->datagram && conf->bytes != 0)
		stream_close(t);
	else if (t->datagram && stream_sends(t))
		stream_datagram(t);
}

static void stream_check(struct wl_turn *t, uint64_t at, const uint8_t *data, uint32_t n)
{
	if (t->flow->verify && data != NULL &&
	    !wl_content_same(&t->flow->content[stream_conf(t)->content], at, data, n))
		cell_add(&t->flow->counts->mismatched, n);
}

/* A datagram that began so shortly before others may have been overtaken by them: 17 s. */
#define STREAM_OVERTAKEN (1u << 28)

/* A server that sends begins with the first datagram of a connection: also of one that has the
 * tuple of another, of whose end nobody has told it. */
static void stream_asked(struct wl_turn *t, uint32_t began)
{
	struct stream_sent *sent = stream_sent(t);

	if (sent == NULL ||
	    (sent->datagrams != 0 && (began == 0 || sent->began - began < STREAM_OVERTAKEN)))
		return;
	*sent = (struct stream_sent){.began = began};
	if (stream_conf(t)->gap_ns != 0)
		stream_cell(t)->due_ns = 0;
	stream_datagram(t);
}

/* Whether what a client receives was for a connection that had its tuple before. One that sends
 * nothing else knows by its hello, until something has come. */
static bool stream_is_late(const struct wl_turn *t, const struct stream_cell *cell, uint32_t began)
{
	if (!t->flow->client || began == 0)
		return false;
	return cell != NULL ? began != cell->sent.began : t->mem[1] == 0 && began != t->mem[0];
}

static void stream_number(struct wl_turn *t, const uint8_t *data, uint32_t n)
{
	bool both = stream_conf(t)->direction == WL_BOTH;
	struct stream_cell *cell = both ? stream_cell(t) : NULL;
	struct wl_numbers *k = t->flow->own;
	uint64_t stamp = 0;

	if (n >= WL_NUMBER)
		memcpy(&stamp, data, WL_NUMBER);
	if (!t->flow->client && stream_sends(t))
		stream_asked(t, (uint32_t)(stamp >> 32));
	if (n < WL_NUMBER || (both && cell == NULL)) {
		cell_add(&t->flow->counts->mismatched, n);
		return;
	}
	stream_check(t, WL_NUMBER, data + WL_NUMBER, n - WL_NUMBER);
	if (!stream_receives(t)) /* its words say what it has sent */
		return;
	if (stream_is_late(t, cell, (uint32_t)(stamp >> 32))) {
		cell_add(&k->late, 1);
		return;
	}
	wl_number_seen(both ? cell->seen : t->mem, stamp, k);
	if (!both && t->flow->client && stream_is_all(stream_conf(t), (uint32_t)stamp))
		stream_end(t);
}

static uint32_t stream_received(struct wl_turn *t, const uint8_t *data, uint32_t n)
{
	uint32_t came, all = n;

	if (t->datagram) {
		stream_number(t, data, n);
		return n;
	}
	came = t->mem[0] & STREAM_MASK;
	stream_check(t, came, data, n);
	if (WL_RARE(n >= 2 * STREAM_ROUND - came))
		n -= (n + came - STREAM_ROUND) / STREAM_ROUND * STREAM_ROUND;
	t->mem[0] += n;
	return all;
}

static bool stream_ahead(struct wl_turn *t, uint32_t distance, const uint8_t *data, uint32_t n)
{
	stream_check(t, (uint64_t)(t->mem[0] & STREAM_MASK) + distance, data, n);
	return true;
}

static void stream_closed(struct wl_turn *t, enum wl_end why)
{
	if (t->datagram && stream_has_cell(stream_conf(t), t->flow->client))
		wl_free_cell(t, &t->mem[0]);
	if (!t->flow->client || why < WL_END_CLOSED)
		return;
	if (wl_times_close(t, why))
		wl_timing_add(&t->flow->close,
			      wl_since_ns(t, wl_words(t) >> STREAM_BITS, 64 - STREAM_BITS));
	if (why == WL_END_CLOSED)
		wl_done(t);
	else
		wl_failed(t, 1);
}

static unsigned stream_cells(const struct wl_flow *f, bool udp)
{
	return udp && stream_has_cell(f->conf, f->client);
}

const struct workload wl_stream = {
	.name = "stream",
	.help = "bytes without an end, or so many",
	.tcp = true,
	.udp = true,
	.counters = wl_numbers_table,
	.own_bytes = sizeof(struct wl_numbers),
	.cells = stream_cells,
	.opened = stream_opened,
	.received = stream_received,
	.ahead = stream_ahead,
	.may_send = stream_may_send,
	.timer = stream_datagram,
	.ended = stream_close,
	.drain = stream_close,
	.closed = stream_closed,
};
