/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests and responses of so many bytes: rr and crr. Over TCP the server counts bytes; over UDP
 * each message is a datagram, which begins with the stamp of its transaction (see WL_NUMBER), or
 * has none (`plain`). */
#include "wl_bytes_int.h"

/* Memory of a client: when its transaction began, and how many bytes of the response are still to
 * come; over UDP the number of the transaction, with BYTES_OPEN while it is open. These are the
 * second word, and the time begins in the first one and goes on in BYTES_HIGH of the second. If a
 * client counts its transactions, for their end or for their sizes, or has more than one over UDP,
 * or its response is too long for the rest of the second word, then the first word is a cell, which
 * has the time, too. A server: how many bytes of the request came, and how many responses were
 * sent; over UDP what numbers it has seen, or how many requests without one came. */
#define BYTES_OPEN 0x80000000u
#define BYTES_HIGH_SHIFT 16
#define BYTES_HIGH (~BYTES_OPEN >> BYTES_HIGH_SHIFT << BYTES_HIGH_SHIFT)
#define BYTES_TIME_BITS (32 + 31 - BYTES_HIGH_SHIFT)
#define BYTES_MOST 0xffffu /* of a response, without a cell */
_Static_assert(BYTES_TIME_BITS >= WL_TIME_LEAST, "no connection is ever as old");
struct bytes_cell {
	uint64_t left;   /* transactions */
	uint64_t began;  /* as wl_time() says it */
	uint32_t number; /* of the transaction, from 0 on */
	uint32_t first;  /* when the first one began */
};

/* Whether clients have a cell. */
static inline bool bytes_have_cell(const struct wl_bytes_conf *conf, bool datagram)
{
	return WL_RARE(conf->transactions > 1) ||
	       WL_RARE(datagram ? conf->transactions == 0
				: conf->response.most > BYTES_MOST ||
					  (conf->transactions == 0 &&
					   (conf->request.n | conf->response.n) != 0));
}

static inline struct bytes_cell *bytes_cell(struct wl_turn *t)
{
	return __builtin_expect(bytes_have_cell(bytes_conf(t), t->datagram), 0)
		       ? wl_cell(t, &t->mem[0])
		       : NULL;
}

/* TCP: the size of the response that a client waits for. */
static inline uint32_t bytes_expected(struct wl_turn *t)
{
	const struct wl_vary *v = &bytes_conf(t)->response;
	const struct bytes_cell *cell;

	if (!wl_varies(v))
		return (uint32_t)v->least;
	cell = bytes_cell(t);
	return bytes_varied(t, cell != NULL ? cell->number : 0, true);
}

/* What a client's second word says beside the time. */
static inline uint32_t bytes_word(const struct wl_turn *t, const struct bytes_cell *cell)
{
	return WL_RARE(cell != NULL) ? t->mem[1] : t->mem[1] & ~BYTES_HIGH;
}

/* UDP: the stamp of the client's transaction. */
static uint64_t bytes_stamp(struct wl_turn *t)
{
	const struct bytes_cell *cell = bytes_cell(t);

	return (uint64_t)(cell != NULL ? cell->first : t->mem[0]) << 32 |
	       (bytes_word(t, cell) & ~BYTES_OPEN);
}

/* The transaction begins, or, when there are no more, the close. */
static inline void bytes_begins(struct wl_turn *t, struct bytes_cell *cell)
{
	uint64_t now = wl_time(t);

	if (WL_RARE(cell != NULL)) {
		cell->began = now;
		return;
	}
	t->mem[0] = (uint32_t)now;
	t->mem[1] = (t->mem[1] & ~BYTES_HIGH) |
		    ((uint32_t)(now >> 32) << BYTES_HIGH_SHIFT & BYTES_HIGH);
}
static inline uint64_t bytes_since_ns(struct wl_turn *t)
{
	const struct bytes_cell *cell = bytes_cell(t);
	uint64_t high = (t->mem[1] & BYTES_HIGH) >> BYTES_HIGH_SHIFT;

	if (WL_RARE(cell != NULL))
		return wl_since_ns(t, cell->began, WL_TIME_BITS);
	return wl_since_ns(t, high << 32 | t->mem[0], BYTES_TIME_BITS);
}

static void bytes_start(struct wl_turn *t)
{
	const struct wl_bytes_conf *conf = bytes_conf(t);
	struct bytes_cell *cell = bytes_cell(t);
	uint32_t number = cell != NULL ? cell->number : 0;

	wl_started(t);
	bytes_begins(t, cell);
	if (WL_RARE(t->datagram)) {
		if (cell != NULL && t->mem[1] == 0)
			cell->first = (uint32_t)cell->began;
		t->mem[1] = (t->mem[1] + 1) | BYTES_OPEN;
		number = (uint32_t)bytes_stamp(t);
		if (!conf->plain) {
			t->stamp = bytes_stamp(t);
			t->stamped = true;
		}
		t->timer_ns = conf->timeout_ns;
	} else {
		t->mem[1] += bytes_response_size(t, number); /* which was 0 */
	}
	wl_send(t, conf->request_content, bytes_request_size(t, number));
}

static void bytes_close(struct wl_turn *t)
{
	bytes_begins(t, bytes_cell(t));
	if (t->datagram || !bytes_conf(t)->server_closes)
		t->close = (uint8_t)bytes_conf(t)->close;
	/* a server that is to close does so behind its last response, which need not have come */
	if (t->flow->draining && t->close == WL_CLOSE_NOT)
		t->close = WL_CLOSE_FIN;
	t->timer_ns = WL_NO_TIMER;
}

/* What a client does behind a transaction that has ended. */
static void bytes_next(struct wl_turn *t)
{
	const struct wl_bytes_conf *conf = bytes_conf(t);
	struct bytes_cell *cell = bytes_cell(t);
	uint64_t pause;

	t->on_time = !t->flow->on_call;
	if (WL_RARE(cell != NULL))
		cell->number++;
	if (WL_RARE(conf->transactions == 1 || (cell != NULL && --cell->left == 0) ||
		    t->flow->draining)) {
		bytes_close(t);
		return;
	}
	if (WL_RARE(t->flow->on_call)) {
		t->ready = true;
		return;
	}
	pause = wl_pause(t, &conf->think);
	if (WL_RARE(pause != 0))
		t->timer_ns = pause;
	else
		bytes_start(t);
}

static void bytes_opened(struct wl_turn *t)
{
	struct bytes_cell *cell;

	if (!t->flow->client)
		return;
	if (t->flow->draining && t->flow->on_call) { /* nobody will call */
		bytes_close(t);
		return;
	}
	cell = bytes_cell(t);
	if (cell != NULL) { /* 0: it takes 2^64 to come round */
		cell->left = bytes_conf(t)->transactions;
	} else if (bytes_have_cell(bytes_conf(t), t->datagram)) {
		t->close = WL_CLOSE_RST; /* no memory to count in */
		return;
	}
	if (t->flow->on_call)
		t->ready = true;
	else
		bytes_start(t);
}

static void bytes_done(struct wl_turn *t)
{
	uint64_t ns = bytes_since_ns(t);

	wl_done(t);
	wl_timing_add(&t->flow->whole, ns);
	wl_timing_add(&t->flow->since_due, ns + t->late_ns);
	bytes_next(t);
}

static uint32_t bytes_response(struct wl_turn *t, const uint8_t *data, uint32_t n)
{
	uint32_t size = bytes_expected(t), left = bytes_word(t, bytes_cell(t));

	if (WL_RARE(left == 0)) { /* more than was asked for */
		cell_add(&t->flow->counts->mismatched, n);
		return n;
	}
	if (n > left)
		n = left;
	bytes_check(t, bytes_conf(t)->response_content, size - left, data, n);
	if (WL_RARE(t->flow->first.h != NULL) && left == size)
		wl_timing_add(&t->flow->first, bytes_since_ns(t));
	t->mem[1] -= n;
	if (WL_USUAL(left == n))
		bytes_done(t);
	return n;
}

static uint32_t bytes_request(struct wl_turn *t, const uint8_t *data, uint32_t n)
{
	const struct wl_bytes_conf *conf = bytes_conf(t);
	uint32_t size = bytes_request_size(t, t->mem[1]);

	if (n > size - t->mem[0])
		n = size - t->mem[0];
	bytes_check(t, conf->request_content, t->mem[0], data, n);
	if (WL_USUAL(t->mem[0] == 0))
		wl_started(t);
	t->mem[0] += n;
	if (WL_RARE(t->mem[0] < size))
		return n;
	wl_send(t, conf->response_content, bytes_response_size(t, t->mem[1]));
	t->mem[0] = 0;
	t->mem[1]++;
	wl_done(t);
	if (WL_RARE(conf->server_closes) && t->mem[1] == conf->transactions)
		t->close = (uint8_t)conf->close;
	return n;
}

/* UDP: the answer to the open request came. */
static void bytes_answered(struct wl_turn *t)
{
	t->mem[1] &= ~BYTES_OPEN;
	t->timer_ns = WL_NO_TIMER;
	bytes_done(t);
}

/* Whether a datagram is all of a message and nothing else. Of a long one only its first bytes are
 * there to be compared. */
static void bytes_plain_check(struct wl_turn *t, uint16_t content, uint32_t size,
			      const uint8_t *data, uint32_t n)
{
	if (t->length != size)
		cell_add(&t->flow->counts->mismatched, t->length);
	else
		bytes_check(t, content, 0, data, n);
}

static void bytes_plain(struct wl_turn *t, const uint8_t *data, uint32_t n)
{
	const struct wl_bytes_conf *conf = bytes_conf(t);
	struct wl_numbers *k = t->flow->own;
	uint32_t number;

	if (t->flow->client) {
		if ((t->mem[1] & BYTES_OPEN) == 0) {
			cell_add(&k->late, 1);
			return;
		}
		number = (uint32_t)bytes_stamp(t);
		if (t->flow->verify && !conf->response_unknown)
			bytes_plain_check(t, conf->response_content, bytes_response_size(t, number),
					  data, n);
		bytes_answered(t);
		return;
	}
	number = ++t->mem[0];
	if (t->flow->verify && !conf->request_unknown)
		bytes_plain_check(t, conf->request_content, bytes_request_size(t, number), data, n);
	wl_started(t);
	wl_done(t);
	wl_send(t, conf->response_content, bytes_response_size(t, number));
}

static void bytes_datagram(struct wl_turn *t, const uint8_t *data, uint32_t n)
{
	const struct wl_bytes_conf *conf = bytes_conf(t);
	struct wl_numbers *k = t->flow->own;
	uint64_t stamp, ours;

	if (conf->plain) {
		bytes_plain(t, data, n);
		return;
	}
	if (n < WL_NUMBER) {
		cell_add(&t->flow->counts->mismatched, n);
		return;
	}
	memcpy(&stamp, data, WL_NUMBER);
	bytes_check(t, t->flow->client ? conf->response_content : conf->request_content, WL_NUMBER,
		    data + WL_NUMBER, n - WL_NUMBER);
	if (!t->flow->client) {
		wl_number_seen(t->mem, stamp, k);
		wl_started(t);
		wl_done(t);
		wl_send(t, conf->response_content, bytes_response_size(t, (uint32_t)stamp));
		t->stamp = stamp;
		t->stamped = true;
		return;
	}
	ours = bytes_stamp(t);
	/* of another transaction, or of a connection that had this tuple before */
	if ((uint32_t)stamp != (uint32_t)ours || (stamp >> 32 != 0 && stamp >> 32 != ours >> 32)) {
		cell_add(&k->late, 1);
	} else if ((t->mem[1] & BYTES_OPEN) == 0) {
		cell_add(&k->duplicated, 1);
	} else {
		bytes_answered(t);
	}
}

static uint32_t bytes_received(struct wl_turn *t, const uint8_t *data, uint32_t n)
{
	if (WL_RARE(t->datagram))
		bytes_datagram(t, data, n);
	else if (t->flow->client)
		n = bytes_response(t, data, n);
	else
		n = bytes_request(t, data, n);
	return n;
}

/* Bytes are only counted: they may come in any order, but those of the messages behind this one
 * are looked at when they are due. */
static bool bytes_ahead(struct wl_turn *t, uint32_t distance, const uint8_t *data, uint32_t n)
{
	const struct wl_bytes_conf *conf = bytes_conf(t);
	bool client = t->flow->client;
	uint16_t content = client ? conf->response_content : conf->request_content;
	uint32_t left, length;

	if (!t->flow->verify)
		return true;
	length = client ? bytes_expected(t) : bytes_request_size(t, t->mem[1]);
	left = client ? bytes_word(t, bytes_cell(t)) : length - t->mem[0];
	if (n > left || distance > left - n)
		return false;
	bytes_check(t, content, length - left + distance, data, n);
	return true;
}

static void bytes_timer(struct wl_turn *t)
{
	if (t->datagram && (t->mem[1] & BYTES_OPEN) != 0) {
		t->mem[1] &= ~BYTES_OPEN;
		wl_failed(t, 1);
		bytes_next(t);
	} else if (t->flow->draining) {
		bytes_close(t);
	} else {
		bytes_start(t);
	}
}

static bool bytes_busy(struct wl_turn *t)
{
	if (t->datagram)
		return t->flow->client && (t->mem[1] & BYTES_OPEN) != 0;
	return t->flow->client ? bytes_word(t, bytes_cell(t)) != 0 : t->mem[0] != 0;
}

static void bytes_drain(struct wl_turn *t)
{
	/* A server of UDP is never told that its client has ended. */
	if ((t->flow->client || t->datagram) && !bytes_busy(t)) {
		t->close = WL_CLOSE_FIN;
		if (t->flow->client && !t->closing)
			bytes_close(t);
	}
}

static void bytes_ended(struct wl_turn *t)
{
	t->close = WL_CLOSE_FIN;
	t->timer_ns = WL_NO_TIMER;
	if (t->flow->client && !t->closing)
		bytes_begins(t, bytes_cell(t));
}

static void bytes_closed(struct wl_turn *t, enum wl_end why)
{
	if (bytes_busy(t))
		wl_failed(t, 1);
	if (WL_RARE(wl_times_close(t, why)))
		wl_timing_add(&t->flow->close, bytes_since_ns(t));
	if (t->flow->client && bytes_have_cell(bytes_conf(t), t->datagram))
		wl_free_cell(t, &t->mem[0]);
}

static unsigned bytes_cells(const struct wl_flow *f, bool udp)
{
	return f->client && bytes_have_cell(f->conf, udp);
}

const struct workload wl_bytes = {
	.name = "bytes",
	.help = "requests and responses of so many bytes",
	.tcp = true,
	.udp = true,
	.counters = wl_numbers_table,
	.own_bytes = sizeof(struct wl_numbers),
	.cells = bytes_cells,
	.opened = bytes_opened,
	.client_opens = true,
	.received = bytes_received,
	.ahead = bytes_ahead,
	.ended = bytes_ended,
	.timer = bytes_timer,
	.go = bytes_start,
	.drain = bytes_drain,
	.closed = bytes_closed,
};
