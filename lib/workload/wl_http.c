/* SPDX-License-Identifier: BSD-3-Clause */
/* HTTP: the record, and the client. */
#include "wl_http_int.h"

#define COUNT(field, name, unit, help) \
	{ \
		name, unit, help, offsetof(struct wl_http_counts, field) \
	}
#define REASON(why, name, help) COUNT(reason[why - 1], name, "messages", help)
const struct counter wl_http_table[] = {
	COUNT(status[0], "1xx", "responses", "responses with a status of 100 to 199"),
	COUNT(status[1], "2xx", "responses", "responses with a status of 200 to 299"),
	COUNT(status[2], "3xx", "responses", "responses with a status of 300 to 399"),
	COUNT(status[3], "4xx", "responses", "responses with a status of 400 to 499"),
	COUNT(status[4], "5xx", "responses", "responses with a status of 500 to 599"),
	COUNT(bad, "bad", "messages", "messages that were no HTTP/1.1, for one of the reasons"),
	REASON(HTTP_BAD_START, "bad_start_line", "the request line or status line was none"),
	REASON(HTTP_BAD_VERSION, "bad_version", "another version than HTTP/1.x"),
	REASON(HTTP_BAD_METHOD, "bad_method", "a method that is not served"),
	REASON(HTTP_BAD_FIELD, "bad_field", "a field line that is none, or a CR alone"),
	REASON(HTTP_BAD_HOST, "bad_host", "no Host field, two, or an impossible one"),
	REASON(HTTP_BAD_LENGTH, "bad_length", "a Content-Length that is none, or two of them"),
	REASON(HTTP_BAD_CODING, "bad_coding", "a Transfer-Encoding without an end"),
	REASON(HTTP_UNKNOWN_CODING, "unknown_coding", "a request in a coding not known"),
	REASON(HTTP_BAD_CHUNK, "bad_chunk", "a chunk without a size or an end"),
	REASON(HTTP_LONG_TARGET, "target_too_long", "a request line above the limit"),
	REASON(HTTP_LONG_HEAD, "head_too_long", "a head, or lines of chunks, above the limit"),
	COUNT(unasked, "unasked", "responses", "responses without an open request"),
	COUNT(cut, "cut", "connections", "ended by the peer in the middle of a message"),
	COUNT(head, "head", "requests", "requests with HEAD that a server has answered"),
	COUNT(post, "post", "requests", "requests with POST that a server has answered"),
	COUNT(put, "put", "requests", "requests with PUT that a server has answered"),
	COUNT(no_cell, "no_http_memory", "connections", "reset for lack of memory"),
	{NULL},
};
_Static_assert(ARRAY_SIZE(((struct wl_http_counts *)0)->reason) == HTTP_NBAD - 1, "all reasons");

/* ---- requests ---- */

/* Where it is kept when open request number i began, from the oldest one on; NULL: there is no
 * memory for it. */
static uint64_t *http_began(struct wl_turn *t, struct http_conn *c, unsigned i)
{
	unsigned most = http_conf(t)->pipeline;
	struct http_ring *ring, *more;

	if (WL_USUAL(most <= 1))
		return &c->began;
	ring = wl_cell(t, &c->ring);
	if (ring == NULL)
		return NULL;
	i = (ring->oldest + i) % most;
	if (i < HTTP_RING)
		return &ring->began[i];
	more = wl_cell(t, &ring->more);
	return more == NULL ? NULL : &more->began[i - HTTP_RING];
}

/* pipelined: whether there may be more than one request at a time. */
static WL_INLINE void http_ask_as(struct wl_turn *t, struct http_conn *c, bool pipelined)
{
	const struct wl_http_conf *conf = http_conf(t);
	uint64_t number = t->flow->counts->started;
	const struct wl_http_message *a = conf->message;
	uint64_t *began = pipelined ? http_began(t, c, c->open) : &c->began;

	if (WL_RARE(conf->npick != 1))
		a += conf->pick[(conf->seed + number) % conf->npick] * WL_HTTP_FORMS;
	if (pipelined && WL_RARE(began == NULL)) {
		cell_add(&http_own(t)->k.no_cell, 1);
		t->close = WL_CLOSE_RST;
		c->dead = true;
		return;
	}
	c->count++;
	if (conf->server_closes && (conf->transactions == 1 || c->count == conf->transactions))
		a += WL_HTTP_LAST;
	wl_started(t);
	wl_send(t, a->content, a->bytes);
	c->heads |= (uint16_t)(a->to_head << c->open);
	*began = wl_time(t);
	c->open++;
	c->filling = pipelined && WL_RARE(conf->pipeline > 1) && !t->flow->on_call &&
		     c->open < conf->pipeline &&
		     (conf->transactions == 0 || c->count < conf->transactions);
}

static void http_ask(struct wl_turn *t, struct http_conn *c)
{
	http_ask_as(t, c, true);
}

/* The connection closes, or waits for the server to do so. */
static WL_INLINE void http_close(struct wl_turn *t)
{
	const struct wl_http_conf *conf = http_conf(t);

	t->timer_ns = WL_NO_TIMER;
	if (!conf->server_closes || t->flow->draining || t->peer_done)
		t->close = (uint8_t)conf->close;
	if (t->flow->draining && t->close == WL_CLOSE_NOT)
		t->close = WL_CLOSE_FIN;
}

/* The same behind a response after which there can be no other. */
static WL_INLINE void http_close_last(struct wl_turn *t)
{
	http_close(t);
	if (!http_conf(t)->server_closes && t->close == WL_CLOSE_NOT)
		t->close = WL_CLOSE_FIN;
}

static void http_dies(const struct wl_turn *t, struct http_conn *c)
{
	c->dead = true;
	c->filling = false;
	c->began = wl_time(t); /* of the close, from now on */
}

static void http_end(struct wl_turn *t, struct http_conn *c)
{
	http_close(t);
	http_dies(t, c);
}

/* What a client does behind a response, or when the connection is open. */
static void http_next(struct wl_turn *t, struct http_conn *c, bool persist)
{
	const struct wl_http_conf *conf = http_conf(t);
	uint64_t pause;

	t->on_time = !t->flow->on_call;
	if (!persist) {
		http_close_last(t);
		http_dies(t, c);
	} else if (WL_RARE((conf->transactions != 0 && c->count >= conf->transactions) ||
			   t->flow->draining)) {
		if (c->open == 0)
			http_end(t, c);
	} else if (WL_RARE(t->flow->on_call)) {
		t->ready = true;
	} else if (WL_USUAL(conf->think.most == 0)) {
		http_ask(t, c);
	} else if (c->open == 0) {
		pause = wl_pause(t, &conf->think);
		if (pause != 0)
			t->timer_ns = pause;
		else
			http_ask(t, c);
	}
}

static WL_INLINE void http_begin(struct wl_turn *t, struct http_conn *c, bool pipelined)
{
	if (WL_USUAL(!t->flow->on_call))
		http_ask_as(t, c, pipelined);
	else if (t->flow->draining)
		http_end(t, c);
	else
		t->ready = true;
}

static void http_opened(struct wl_turn *t)
{
	struct http_conn here;

	if (!t->flow->client)
		return;
	if (__builtin_expect(!http_conf(t)->cell, 1)) {
		struct http_conn c; /* without its msg, which nobody reads */

		c.began = 0;
		c.count = c.ring = 0;
		c.open = 0;
		c.heads = 0;
		c.dead = c.filling = false;
		http_begin(t, &c, false);
		wl_set_words(t, http_words(&c));
		return;
	}
	here = (struct http_conn){0};
	http_msg_reset(t, &here.msg);
	http_begin(t, &here, true);
	http_store(t, &here, &here);
}

static void http_go(struct wl_turn *t)
{
	struct http_conn here, *c = http_load(t, &here);

	if (c->dead)
		return;
	http_ask(t, c);
	if (c->open < http_conf(t)->pipeline &&
	    (http_conf(t)->transactions == 0 || c->count < http_conf(t)->transactions))
		t->ready = true;
	http_store(t, c, &here);
}

static void http_timer(struct wl_turn *t)
{
	struct http_conn here, *c = http_load(t, &here);

	if (c->dead || c->open != 0)
		return;
	if (t->flow->draining)
		http_end(t, c);
	else
		http_ask(t, c);
	http_store(t, c, &here);
}

static void http_may_send(struct wl_turn *t)
{
	struct http_conn here, *c = http_load(t, &here);

	if (!t->flow->client || !c->filling)
		return;
	c->filling = false;
	if (!t->flow->draining)
		http_ask(t, c);
	http_store(t, c, &here);
}

/* ---- responses ---- */

static void http_bad_response(struct wl_turn *t, struct http_conn *c)
{
	c->dead = true;
	t->timer_ns = WL_NO_TIMER;
	t->close = WL_CLOSE_RST;
	http_msg_reset(t, &c->msg);
}

static WL_INLINE void http_count_done(struct wl_turn *t, uint64_t ns)
{
	wl_done(t);
	wl_timing_add(&t->flow->whole, ns);
	wl_timing_add(&t->flow->since_due, ns + t->late_ns);
}

static void http_done(struct wl_turn *t, struct http_conn *c, bool persist)
{
	struct http_ring *ring;

	http_count_done(t, wl_since_ns(t, *http_began(t, c, 0), WL_TIME_BITS));
	if (WL_RARE(c->ring != 0)) {
		ring = wl_cell(t, &c->ring);
		ring->oldest = (uint8_t)((ring->oldest + 1) % http_conf(t)->pipeline);
	}
	c->open--;
	c->heads >>= 1;
	http_next(t, c, persist);
}
static void http_complete(struct wl_turn *t, struct http_conn *c)
{
	bool persist = (c->msg.flags & HTTP_PERSIST) != 0;

	http_msg_reset(t, &c->msg);
	http_done(t, c, persist);
}

/* The head of a response is complete. */
static void http_status(struct wl_turn *t, struct http_conn *c)
{
	struct http_own *own = http_own(t);

	cell_add(&own->k.status[c->msg.status / 100 - 1], 1);
	if (c->msg.status < 200) { /* the final one follows; nobody asked to change the protocol */
		if (c->msg.status == 101) {
			cell_add(&own->k.bad, 1);
			cell_add(&own->k.reason[HTTP_BAD_START - 1], 1);
			http_bad_response(t, c);
		}
		http_msg_reset(t, &c->msg);
		return;
	}
	wl_timing_add(&t->flow->first, wl_since_ns(t, *http_began(t, c, 0), WL_TIME_BITS));
	if ((c->heads & 1) != 0)
		http_no_body(&c->msg);
}

/* A connection without a cell behind a response: without its msg, which nobody reads. */
static WL_INLINE void http_known_conn(const struct wl_turn *t, struct http_conn *c)
{
	c->began = http_words_began(t);
	c->count = 1;
	c->open = 0;
	c->ring = c->heads = 0;
	c->dead = c->filling = false;
}

static __attribute__((noinline)) void http_known_next_other(struct wl_turn *t)
{
	struct http_conn c;

	http_known_conn(t, &c);
	http_next(t, &c, true);
	wl_set_words(t, http_words(&c));
}

/* Behind such a response, on a connection that stays: as a rule it asks again at once, until the
 * end. */
static WL_INLINE void http_known_next(struct wl_turn *t)
{
	const struct wl_http_conf *conf = http_conf(t);
	struct http_conn c;

	if (WL_RARE(conf->transactions != 0) || WL_RARE(conf->think.most != 0) ||
	    WL_RARE(t->flow->on_call) || WL_RARE(t->flow->draining)) {
		http_known_next_other(t);
		return;
	}
	t->on_time = true;
	http_known_conn(t, &c);
	http_ask_as(t, &c, false);
	wl_set_words(t, http_words(&c));
}

/* The whole response is there, and its head is known: it is done with the words alone. Returns 0 if
 * it is another one. */
static WL_INLINE uint32_t http_known_response(struct wl_turn *t, const uint8_t *data, uint32_t n)
{
	const struct http_memo *known = http_memo_find(t, data, n);
	uint32_t body;
	uint64_t ns;

	if (WL_RARE(known == NULL) ||
	    WL_RARE(known->msg.framing > HTTP_COUNTED || known->msg.length > n - known->len ||
		    known->msg.status < 200 || http_conf(t)->cell))
		return 0;
	body = (uint32_t)known->msg.length;
	if (WL_RARE(t->flow->verify) && body != 0 &&
	    !wl_content_same(&t->flow->content[WL_HTTP_BODY], 0, data + known->len, body))
		cell_add(&t->flow->counts->mismatched, body);
	ns = wl_since_ns(t, http_words_began(t), WL_TIME_BITS);
	cell_add(&http_own(t)->k.status[known->class], 1);
	if (WL_USUAL(t->late_ns == 0)) {
		wl_done(t);
		wl_timing_add3(&t->flow->first, &t->flow->whole, &t->flow->since_due, ns);
	} else {
		wl_timing_add(&t->flow->first, ns);
		http_count_done(t, ns);
	}
	if ((known->msg.flags & HTTP_PERSIST) != 0) {
		http_known_next(t);
	} else {
		t->on_time = !t->flow->on_call;
		http_close_last(t);
		wl_set_words(t, wl_time(t) << HTTP_WORD_BITS | HTTP_WORD_DEAD);
	}
	return known->len + body;
}

static WL_ASIDE uint32_t http_response(struct wl_turn *t, const uint8_t *data, uint32_t n)
{
	struct http_conn here, *c = http_load(t, &here);
	uint32_t used = 0, open = c->open;
	bool head;

	if (c->dead)
		return n;
	if (open == 0) { /* nobody asked (RFC 9112 9.2) */
		cell_add(&http_own(t)->k.unasked, 1);
		http_bad_response(t, c);
		used = n;
	}
	while (used < n && c->open == open && !c->dead) {
		head = http_in_head(&c->msg);
		used += http_take(t, &c->msg, data == NULL ? NULL : data + used, n - used);
		if (c->msg.bad != HTTP_FINE) {
			http_bad_response(t, c);
			used = n; /* what follows could be anything */
			break;
		}
		if (head && !http_in_head(&c->msg))
			http_status(t, c);
		if (c->msg.state == HTTP_STATE_ENDED) {
			http_complete(t, c);
			break;
		}
	}
	http_store(t, c, &here);
	return used;
}

/* ---- both ends ---- */

static uint32_t http_received(struct wl_turn *t, const uint8_t *data, uint32_t n)
{
	uint32_t used;

	if (!t->flow->client)
		return http_request(t, data, n);
	if (WL_USUAL(http_word(t) == HTTP_WORD_OPEN && data != NULL)) {
		used = http_known_response(t, data, n);
		if (WL_USUAL(used != 0))
			return used;
	}
	return http_response(t, data, n);
}

/* Bytes of a body are only counted, so they may come in any order. */
static bool http_ahead(struct wl_turn *t, uint32_t distance, const uint8_t *data, uint32_t n)
{
	struct http_conn here, *c = http_load(t, &here);
	const struct http_msg *m = &c->msg;

	if (c->dead)
		return true;
	if (!http_in_data(m))
		return false;
	if (m->framing != HTTP_UNTIL_CLOSE && (n > m->length || distance > m->length - n))
		return false;
	if (t->flow->verify &&
	    !wl_content_same(&t->flow->content[WL_HTTP_BODY], m->at + distance, data, n))
		cell_add(&t->flow->counts->mismatched, n);
	return true;
}

static void http_ended(struct wl_turn *t)
{
	struct http_conn here, *c;

	t->close = WL_CLOSE_FIN;
	if (http_kind(t) == HTTP_KIND_WAITS && (http_word(t) & HTTP_WORD_DEAD) != 0) {
		if (!t->closing)
			wl_set_words(t, wl_time(t) << HTTP_WORD_BITS | http_word(t));
		return;
	}
	c = http_load(t, &here);
	if (!t->closing)
		c->began = wl_time(t);
	if (c->dead)
		return;
	if (t->flow->client && c->open != 0 && http_cut(&c->msg))
		http_complete(t, c);
	if (c->open != 0)
		cell_add(&http_own(t)->k.cut, 1);
	c->dead = true;
	c->filling = false;
	http_msg_reset(t, &c->msg); /* what there is of it is not needed, nor a cell for it */
	t->timer_ns = WL_NO_TIMER;
	t->close = WL_CLOSE_FIN;
	http_store(t, c, &here);
}

static void http_drain(struct wl_turn *t)
{
	const struct wl_http_conf *conf = http_conf(t);
	struct http_conn here, *c = http_load(t, &here);

	/* one that is `dead` may wait for the server's close, or be kept: neither lasts longer */
	if (c->open != 0 || (!t->flow->client && (c->dead || c->msg.state >= HTTP_STATE_BEGUN)))
		return;
	c->dead = true;
	if (!t->closing)
		c->began = wl_time(t);
	t->timer_ns = WL_NO_TIMER;
	t->close = WL_CLOSE_FIN;
	if (t->flow->client && !t->closing && !conf->server_closes && conf->close == WL_CLOSE_RST)
		t->close = WL_CLOSE_RST;
	http_store(t, c, &here);
}

static void http_closed(struct wl_turn *t, enum wl_end why)
{
	struct http_conn here, *c;

	if (http_kind(t) == HTTP_KIND_WAITS) { /* what it has is in its words */
		if ((http_word(t) & HTTP_WORD_OPEN) != 0)
			wl_failed(t, 1);
		if (WL_RARE(wl_times_close(t, why)))
			wl_timing_add(&t->flow->close,
				      wl_since_ns(t, http_words_began(t), WL_TIME_BITS));
		return;
	}
	c = http_load(t, &here);
	if (wl_times_close(t, why))
		wl_timing_add(&t->flow->close, wl_since_ns(t, c->began, WL_TIME_BITS));
	if (c->open != 0)
		wl_failed(t, c->open);
	http_ring_free(t, c);
	if (c != &here)
		wl_free_cell(t, &t->mem[1]);
}

static unsigned http_cells(const struct wl_flow *f, bool udp)
{
	const struct wl_http_conf *conf = f->conf;

	(void)udp;
	return conf->cell + (conf->pipeline > 1) + (conf->pipeline > HTTP_RING);
}

#define HTTP_RECORD \
	.name = "http", .help = "HTTP/1.1: GET, HEAD, POST and PUT", .tcp = true, \
	.counters = wl_http_table, .own_bytes = sizeof(struct http_own), .cells = http_cells, \
	.opened = http_opened, .client_opens = true, .received = http_received, \
	.ahead = http_ahead, .ended = http_ended, .timer = http_timer, .go = http_go, \
	.drain = http_drain, .closed = http_closed

const struct workload wl_http = {HTTP_RECORD};
const struct workload wl_http_pipelined = {HTTP_RECORD, .may_send = http_may_send};
