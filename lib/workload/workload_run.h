/* SPDX-License-Identifier: BSD-3-Clause */
/* What connections do. A workload is a record of functions; it knows neither our TCP nor sockets.
 * Whoever carries the connections is the arm: it calls a function of the record when something has
 * happened to a connection, hands it a `struct wl_turn`, and does afterwards what the function has
 * asked for in there. Nothing here waits, allocates or reads a clock. Times are nanoseconds of the
 * arm's clock, lengths are bytes of payload.
 *
 * A record sends messages. A message is a number of bytes of a content, and a content is a function
 * from an offset to a byte: so nobody has to keep what was sent, and a receiver that knows the
 * content can compare.
 *
 * This is the half for workers. workload.h has the functions of control. */
#pragma once
#include <string.h>
#include "hist.h"

/* What is usual is to stand in line: of jumps that are taken there can be few. */
#define WL_USUAL(x) __builtin_expect(!!(x), 1)
#define WL_RARE(x) __builtin_expect(!!(x), 0)
#define WL_INLINE inline __attribute__((always_inline))
#define WL_ASIDE __attribute__((noinline, cold))

/* ---- contents (wl_content.c) ---- */

/* What follows the head of a message. */
enum wl_fill {
	WL_FILL_X,       /* the byte WL_X again and again: buffers can hold it beforehand */
	WL_FILL_PATTERN, /* a byte that depends on its place, so that shifted bytes are found */
	/* Added to one of them: it comes in chunks of HTTP. */
	WL_FILL_CHUNKED = 2
};
#define WL_X 0x78 /* 'x' */
/* The pattern repeats after so many bytes. It is a prime, so no usual size is a multiple of it. */
#define WL_PATTERN 251
/* The same at an even number of bytes: sums of 16 bits repeat only there. */
#define WL_PERIOD (2 * WL_PATTERN)

/* The byte at an offset is head[offset] below head_len, and that of the filling behind it. Constant
 * while anybody uses it; made by wl_content_init(). */
struct wl_content {
	const uint8_t *head; /* the maker's; NULL if head_len is 0 */
	uint32_t head_len;
	uint32_t head_sum; /* of the head, as wl_content_put() returns it */
	uint8_t fill;      /* enum wl_fill */
	/* WL_FILL_CHUNKED: `body` bytes of filling come in chunks of so many (RFC 9112 7.1), the
	 * rest as the last of them, and then their end. */
	uint32_t chunk, body;
};

/* The sums of these functions are those of 16 bit words in the machine's own order (RFC 1071),
 * not folded, of bytes that begin at an even place. They fit into 32 bits for up to 2^17 bytes. */

/* Writes n <= 2^17 bytes of a content from `offset` on, and returns their sum. */
uint32_t wl_content_put(const struct wl_content *c, uint64_t offset, uint8_t *to, uint32_t n);
/* Their sum alone: of filling it is arithmetic, no byte is read. Not of contents in chunks. */
uint32_t wl_content_sum(const struct wl_content *c, uint64_t offset, uint32_t n);
/* Whether n bytes are those of the content from `offset` on. Not of contents in chunks: who
 * receives one compares its chunks with filling. */
bool wl_content_same(const struct wl_content *c, uint64_t offset, const uint8_t *data, uint32_t n);
/* Filling that is there already, for who sends bytes without copying them: from
 * wl_rest[wl_content_rest(c, offset)] on there are WL_REST bytes as a content has them from
 * `offset` on. Not before the end of its head, and not of contents in chunks. */
#define WL_REST 65536
extern uint8_t wl_rest[2 * WL_REST + WL_PERIOD];
uint32_t wl_content_rest(const struct wl_content *c, uint64_t offset);
/* The sum of any n <= 2^17 bytes. */
uint32_t wl_sum(const uint8_t *p, uint32_t n);

/* ---- numbers that vary (wl_vary.c) ---- */

/* Bytes, or ns, that may differ from transaction to transaction: each time one of the items is
 * chosen, as often as it weighs, and of its range any value, all equally likely. A number that is
 * always the same is WL_FIXED(N), of a constant N. Made of texts by vt_wl_sizes and
 * vt_wl_pauses. */
#define WL_VARY_ITEMS 32
struct wl_vary {
	uint64_t least, most;
	uint32_t n; /* items; 0: it is always `least` */
	struct wl_vary_item {
		uint64_t lo, hi; /* inclusive */
		uint32_t weight;
		uint32_t upto; /* random numbers of 32 bits up to this one choose it */
	} item[WL_VARY_ITEMS];
};
#define WL_FIXED(number) \
	{ \
		.least = (number), .most = (number) \
	}
static inline bool wl_varies(const struct wl_vary *v)
{
	return __builtin_expect(v->n != 0, 0);
}
/* Value n of those that belong to a key: a pure function, so that two who know both need not tell
 * each other. */
uint64_t wl_vary_at(const struct wl_vary *v, uint64_t key, uint64_t n);

/* What both ends of a connection know of it: a hash of the client's and the server's address (as
 * they are in frames, of 4 or 16 bytes) and port. It is another one at each end if the path
 * translates addresses or ports. */
uint64_t wl_identity(const void *client, const void *server, unsigned bytes, uint16_t client_port,
		     uint16_t server_port);

/* ---- what is counted ---- */

/* Transactions of a flow: started = done + failed + open, at any time. */
struct wl_counts {
	cell_t started, done, failed, open;
	cell_t mismatched; /* received bytes that are not what was to come (flow.verify) */
};

/* A histogram of times in ns. The sum of its values is handed over once per turn. */
struct wl_timing {
	struct hist *h; /* NULL: not wanted */
	uint64_t sum;
};
static inline void wl_timing_add(struct wl_timing *t, uint64_t ns)
{
	if (__builtin_expect(t->h == NULL, 1))
		return;
	hist_add(t->h, ns, 1);
	if (__builtin_expect(ns >> t->h->shape.top == 0, 1))
		t->sum += ns;
}
/* The same in three of them. As a rule all are there and have one shape, and then its bucket is
 * looked for once. */
static inline void wl_timing_add3(struct wl_timing *a, struct wl_timing *b, struct wl_timing *c,
				  uint64_t ns)
{
	struct hist *x = a->h, *y = b->h, *z = c->h;
	uint32_t i;

	if (x == NULL || y == NULL || z == NULL || x->nbuckets != y->nbuckets ||
	    x->nbuckets != z->nbuckets || x->shape.bits != y->shape.bits ||
	    x->shape.bits != z->shape.bits || ns >> x->shape.top != 0) {
		wl_timing_add(a, ns);
		wl_timing_add(b, ns);
		wl_timing_add(c, ns);
		return;
	}
	i = hist_bucket(x->shape.bits, ns);
	cell_add(&x->bucket[i], 1);
	cell_add(&y->bucket[i], 1);
	cell_add(&z->bucket[i], 1);
	a->sum += ns;
	b->sum += ns;
	c->sum += ns;
}
static inline void wl_timing_flush(struct wl_timing *t)
{
	if (t->sum != 0) {
		hist_add_sum(t->h, t->sum);
		t->sum = 0;
	}
}

/* One flow as its record sees it, on one worker. The arm makes it, and it outlives the flow's
 * connections. */
struct wl_flow {
	const struct workload *wl;
	const void *conf;                 /* the settings of the record: its own struct, constant */
	const struct wl_content *content; /* what messages are made of, by number */
	uint16_t ncontent;
	struct wl_counts *counts;   /* cells of this worker */
	void *own;                  /* wl->own_bytes of further cells, or NULL if that is 0 */
	struct wl_timing connect;   /* from the SYN to the established connection; the arm's */
	struct wl_timing first;     /* from the request to the first byte of the response */
	struct wl_timing whole;     /* from the request to the last byte of the response */
	struct wl_timing since_due; /* from when the request was due to the last byte */
	struct wl_timing close;     /* client, TCP: from its close to the end of both directions */
	bool client;
	bool by_server; /* the arm is told which transactions are over: wl_arm.over */
	bool verify;    /* compare what is received where the record knows what is to come */
	bool on_call;   /* transactions are started by go() only, at times that others choose */
	/* No new transactions, but the first one of a connection that was opened before and is
	 * established now, if others do not start it; connections that do nothing are to close. */
	bool draining;
};

/* ---- one call of a record's function ---- */

/* Words of memory of a connection that belong to the record, 0 at first. What does not fit goes
 * into a cell: see wl_cell(). */
#define WL_MEM_WORDS 2
/* Bytes of such a cell. */
#define WL_CELL 56

enum wl_close {
	WL_CLOSE_NOT,
	WL_CLOSE_FIN, /* nothing will be sent behind what was asked for; it still receives */
	/* When the message that was asked for with it has been sent; without one at once, and what
	 * is on the way may be lost. Counted as reset_by_us. */
	WL_CLOSE_RST,
};

/* What a function is given, and what it asks for: one message, a close, a timer. The arm has set
 * the members of the second half to 0; it looks at them when the function returns. All that is 0
 * for most calls lies side by side: an arm makes one of these for each call. */
struct wl_turn {
	struct wl_flow *flow;
	uint32_t *mem; /* the WL_MEM_WORDS words of the connection */
	const struct wl_arm *arm;
	uint64_t now_ns;
	/* Received data is one datagram, of so many bytes, and so is a message that is asked for.
	 * Of a long one received() is given only the first bytes. length: there only. */
	uint32_t length;
	bool datagram;
	/* The peer has said that it sends nothing more. */
	bool peer_done;
	/* Of ended() and drain(): this end has asked for WL_CLOSE_FIN before. */
	bool closing;
	/* How late the connection was opened, or go() called, behind its time. */
	uint64_t late_ns;

	/* A message of so many bytes, behind all messages before it; 0: none. WL_ENDLESS: bytes
	 * without end, until the connection closes. A datagram must fit into one packet. */
	uint64_t send;
	/* timer() is to be called in so many ns; this replaces the timer of before. 0: leave it as
	 * it is. WL_NO_TIMER: stop it. */
	uint64_t timer_ns;
	uint16_t content; /* which of the flow's contents */
	uint8_t close;    /* enum wl_close, carried out behind the message */
	/* The connection waits for go(). The arm forgets this when it has called it. */
	bool ready;
	/* From now on late_ns is to be 0: what follows is not behind a time that others chose. */
	bool on_time;
	/* A datagram is to begin with these 8 bytes in place of those of its content, in the
	 * machine's order. Nobody sets `stamp` but together with `stamped`. */
	bool stamped;
	uint64_t stamp;
};
#define WL_ENDLESS UINT64_MAX
#define WL_NO_TIMER UINT64_MAX

/* Why a connection is gone. The first four never opened. */
enum wl_end {
	WL_END_REFUSED,
	WL_END_CONNECT_TIMEOUT,
	WL_END_UNREACHABLE,
	WL_END_ABORTED_OPENING,
	WL_END_CLOSED,
	WL_END_RESET_BY_US,
	WL_END_RESET_BY_PEER,
	WL_END_TIMED_OUT,
	WL_END_ABORTED,
};

/* The record. Functions may be NULL where the comment says what happens then. */
struct workload {
	const char *name;
	const char *help;
	bool tcp, udp; /* what it runs on */
	/* A table of cells of its own, in memory of own_bytes per flow and worker. */
	const struct counter *counters;
	uint32_t own_bytes;
	/* How many cells each connection has all its life. NULL: none, though some may have one
	 * for a while. Control makes memory by it. */
	unsigned (*cells)(const struct wl_flow *f, bool udp);

	/* The connection is established (TCP), has its first datagram (UDP, server) or is to
	 * send it (UDP, client). NULL: nothing. */
	void (*opened)(struct wl_turn *t);
	/* opened() does nothing at a server, and need not be called there. */
	bool client_opens;
	/* n bytes came, in order. data is NULL if nobody knows their values any more: only bytes
	 * that ahead() has taken, or that the arm received as filling. Returns how many of them
	 * belong to what it looks at; if these are fewer than n, it is called again with the rest
	 * when the arm has done what it asked for. So each message that comes can be answered by
	 * one message. n of a datagram may be 0; all of a datagram counts as taken. */
	uint32_t (*received)(struct wl_turn *t, const uint8_t *data, uint32_t n);
	/* n bytes came early: `distance` bytes are still missing before them. true: the record
	 * needs them no more, received() is to get them as NULL. false, and NULL: the arm behaves
	 * as if they had not come. It may ask for nothing. */
	bool (*ahead)(struct wl_turn *t, uint32_t distance, const uint8_t *data, uint32_t n);
	/* All that was asked for has been handed to the network, though the peer need not have it
	 * yet; never called with a message unsent. NULL: nothing. */
	void (*may_send)(struct wl_turn *t);
	/* The peer sends nothing more. NULL: close in return. */
	void (*ended)(struct wl_turn *t);
	/* The timer that was asked for. */
	void (*timer)(struct wl_turn *t);
	/* Start a transaction, on a connection that was `ready`. */
	void (*go)(struct wl_turn *t);
	/* `draining` has become true: a connection that does nothing closes. NULL: close. */
	void (*drain)(struct wl_turn *t);
	/* The connection is gone, for the reason of enum wl_end; transactions that are open have
	 * failed, cells are given back. It may ask for nothing. */
	void (*closed)(struct wl_turn *t, enum wl_end why);
};

/* What the arm does for records while one of their functions runs. */
struct wl_arm {
	/* The cell of a connection. *at is a word of its memory; 0: it has none yet. Returns
	 * WL_CELL bytes, zeroed when they are new, or NULL: there are no more. */
	void *(*cell)(struct wl_turn *t, uint32_t *at);
	/* Gives it back, and sets *at to 0. If *at is 0 already nothing happens. */
	void (*free_cell)(struct wl_turn *t, uint32_t *at);
	/* wl_identity() of the connection. */
	uint64_t (*identity)(struct wl_turn *t);
	/* So many transactions of the connection are over. Called with wl_flow.by_server alone. */
	void (*over)(struct wl_turn *t, uint64_t done, uint64_t failed);
};
static inline void *wl_cell(struct wl_turn *t, uint32_t *at)
{
	return t->arm->cell(t, at);
}
static inline void wl_free_cell(struct wl_turn *t, uint32_t *at)
{
	t->arm->free_cell(t, at);
}

/* ---- helpers of records ---- */

/* The words of a connection as one number. */
static inline uint64_t wl_words(const struct wl_turn *t)
{
	return (uint64_t)t->mem[1] << 32 | t->mem[0];
}
static inline void wl_set_words(const struct wl_turn *t, uint64_t words)
{
	t->mem[0] = (uint32_t)words;
	t->mem[1] = (uint32_t)(words >> 32);
}

/* Times in units of 64 ns: 58 bits are all that there are of one. */
#define WL_TIME_SHIFT 6
#define WL_TIME_BITS (64 - WL_TIME_SHIFT)
static inline uint64_t wl_time(const struct wl_turn *t)
{
	return t->now_ns >> WL_TIME_SHIFT;
}
/* How many ns ago that was. A record that keeps only the lowest `bits` of a time, because the rest
 * of its words is needed for other things, keeps so many that no connection is ever as old. */
#define WL_TIME_LEAST 46 /* 52 days */
static inline uint64_t wl_since_ns(const struct wl_turn *t, uint64_t then, unsigned bits)
{
	return ((wl_time(t) - then) << (64 - bits)) >> (WL_TIME_BITS - bits);
}

/* Whether closed() is to add to `close`. */
static inline bool wl_times_close(const struct wl_turn *t, enum wl_end why)
{
	return t->flow->close.h != NULL && t->flow->client && !t->datagram && why == WL_END_CLOSED;
}

/* The pause before the next transaction, in ns; another one each time if it varies. */
static inline uint64_t wl_pause(struct wl_turn *t, const struct wl_vary *think)
{
	if (!wl_varies(think))
		return think->least;
	return wl_vary_at(think, t->arm->identity(t), t->flow->counts->started);
}

static inline void wl_started(const struct wl_turn *t)
{
	cell_add(&t->flow->counts->started, 1);
	cell_add(&t->flow->counts->open, 1);
}
static inline void wl_done(struct wl_turn *t)
{
	if (WL_RARE(t->flow->by_server))
		t->arm->over(t, 1, 0);
	cell_add(&t->flow->counts->done, 1);
	cell_set(&t->flow->counts->open, t->flow->counts->open - 1);
}
static inline void wl_failed(struct wl_turn *t, uint64_t n)
{
	if (WL_RARE(t->flow->by_server))
		t->arm->over(t, 0, n);
	cell_add(&t->flow->counts->failed, n);
	cell_set(&t->flow->counts->open, t->flow->counts->open - n);
}
static inline void wl_send(struct wl_turn *t, unsigned content, uint64_t bytes)
{
	t->content = (uint16_t)content;
	t->send = bytes;
}
