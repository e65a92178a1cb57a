/* SPDX-License-Identifier: BSD-3-Clause */
/* HTTP as a server: each request that is complete is answered, in their order. */
#include "wl_http_int.h"

/* The answer to a request that is none; its rest cannot be found, so the connection ends. */
static void http_refuse(struct wl_turn *t, struct http_conn *c)
{
	static const uint8_t answer[HTTP_NBAD] = {
		[HTTP_BAD_VERSION] = WL_HTTP_505,    [HTTP_BAD_METHOD] = WL_HTTP_501,
		[HTTP_UNKNOWN_CODING] = WL_HTTP_501, [HTTP_LONG_TARGET] = WL_HTTP_414,
		[HTTP_LONG_HEAD] = WL_HTTP_431,
	};
	unsigned content = answer[c->msg.bad] != 0 ? answer[c->msg.bad] : WL_HTTP_400;

	cell_add(&http_own(t)->k.status[content < WL_HTTP_501 ? 3 : 4], 1);
	wl_send(t, content, t->flow->content[content].head_len);
	if (c->open == 0)
		wl_started(t);
	wl_failed(t, 1);
	c->open = 0;
	c->dead = true;
	t->close = WL_CLOSE_FIN;
	http_msg_reset(t, &c->msg);
}

/* Counts a request that is no GET: these are all others that are answered. */
static WL_ASIDE void http_method(struct wl_turn *t, unsigned method)
{
	struct wl_http_counts *k = &http_own(t)->k;

	cell_add(method == HTTP_HEAD ? &k->head : method == HTTP_POST ? &k->post : &k->put, 1);
}

/* Answers a request that is complete. Returns whether the connection ends behind it. */
static inline bool http_answer(struct wl_turn *t, const struct http_msg *m, uint32_t *count)
{
	const struct wl_http_conf *conf = http_conf(t);
	uint64_t number = t->flow->counts->done;
	const struct wl_http_message *a = conf->message;
	bool old = (m->flags & HTTP_10) != 0, head = false, last;

	if (WL_RARE(m->method != HTTP_GET)) {
		head = m->method == HTTP_HEAD;
		http_method(t, m->method);
	}
	if (WL_RARE(conf->npick != 1))
		a += conf->pick[(conf->seed + number) % conf->npick] * WL_HTTP_FORMS;
	last = (m->flags & HTTP_PERSIST) == 0 || t->flow->draining ||
	       (conf->server_closes && conf->transactions != 0 && ++*count >= conf->transactions);
	a += (old ? WL_HTTP_PERSIST_10 : WL_HTTP_PERSIST) + last;
	cell_add(&http_own(t)->k.status[a->class], 1);
	wl_send(t, a->content, head ? a->head : a->bytes);
	wl_done(t);
	if (!last && !a->until_close) /* its answer to HEAD says close, too (RFC 9112 9.6) */
		return false;
	t->close = conf->server_closes && conf->close != WL_CLOSE_NOT ? (uint8_t)conf->close
								      : WL_CLOSE_FIN;
	return true;
}

/* The head is complete, and nothing of the body came with it: a client that asked waits for this
 * (RFC 9110 10.1.1). */
static void http_continue(struct wl_turn *t, const struct http_msg *m)
{
	if ((m->flags & (HTTP_EXPECT | HTTP_10)) != HTTP_EXPECT)
		return;
	cell_add(&http_own(t)->k.status[0], 1);
	wl_send(t, WL_HTTP_CONTINUE, t->flow->content[WL_HTTP_CONTINUE].head_len);
}

/* A request without a body whose head is known: nothing of it must be kept. Returns 0 if it is
 * another one. */
static WL_INLINE uint32_t http_known_request(struct wl_turn *t, const uint8_t *data, uint32_t n)
{
	const struct http_memo *known = http_memo_find(t, data, n);
	uint32_t count = 0;

	if (WL_RARE(known == NULL) ||
	    WL_RARE(known->msg.framing != HTTP_NO_BODY || http_conf(t)->cell))
		return 0;
	wl_started(t);
	if (http_answer(t, &known->msg, &count))
		t->mem[0] = HTTP_WORD_DEAD;
	return known->len;
}

static WL_ASIDE uint32_t http_read_request(struct wl_turn *t, const uint8_t *data, uint32_t n)
{
	struct http_conn here, *c = http_load(t, &here);
	uint32_t used = 0;
	bool headless;

	if (c->dead)
		return n;
	while (used < n && t->send == 0) {
		headless = http_in_head(&c->msg);
		used += http_take(t, &c->msg, data == NULL ? NULL : data + used, n - used);
		if (c->open == 0 && c->msg.state >= HTTP_STATE_BEGUN && c->msg.bad == HTTP_FINE) {
			c->open = 1;
			wl_started(t);
		}
		if (c->msg.bad != HTTP_FINE) {
			http_refuse(t, c);
			used = n; /* what follows could be anything */
		} else if (c->msg.state == HTTP_STATE_ENDED) {
			c->dead = http_answer(t, &c->msg, &c->count);
			c->open = 0;
			http_msg_reset(t, &c->msg);
		} else if (headless && !http_in_head(&c->msg) && used == n) {
			http_continue(t, &c->msg);
		}
	}
	http_store(t, c, &here);
	return used;
}

uint32_t http_request(struct wl_turn *t, const uint8_t *data, uint32_t n)
{
	uint32_t used;

	if (WL_USUAL(http_word(t) == 0 && data != NULL)) {
		used = http_known_request(t, data, n);
		if (WL_USUAL(used != 0))
			return used;
	}
	return http_read_request(t, data, n);
}
