/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the state of an HTTP connection lies between two calls, and what both ends do with bytes
 * that come. */
#include "wl_http_int.h"

#define BODY_SHIFT (HTTP_BODY_BITS + HTTP_KIND_BITS) /* of the time, in the words of a body */
#define BODY_MASK ((1u << HTTP_BODY_BITS) - 1)

struct http_conn *http_load(struct wl_turn *t, struct http_conn *here)
{
	uint64_t words = wl_words(t);
	unsigned kind = http_kind(t);

	if (kind == HTTP_KIND_CELL)
		return wl_cell(t, &t->mem[1]);
	*here = (struct http_conn){.count = t->flow->client};
	http_msg_reset(t, &here->msg);
	if (kind == HTTP_KIND_WAITS) {
		here->began = http_words_began(t);
		here->open = (words & HTTP_WORD_OPEN) != 0;
		here->heads = (words & HTTP_WORD_HEAD) != 0;
		here->dead = (words & HTTP_WORD_DEAD) != 0;
		return here;
	}
	here->began =
		wl_time(t) - (wl_since_ns(t, words >> BODY_SHIFT, WL_TIME_LEAST) >> WL_TIME_SHIFT);
	here->open = 1;
	here->msg.state = HTTP_STATE_BODY;
	here->msg.framing = HTTP_COUNTED;
	here->msg.length = words >> HTTP_KIND_BITS & BODY_MASK;
	if (kind == HTTP_KIND_BODY)
		here->msg.flags |= HTTP_PERSIST;
	return here;
}

/* The words for this state; false: it does not fit. */
static bool http_pack(const struct wl_turn *t, const struct http_conn *c, uint64_t *words)
{
	const struct http_msg *m = &c->msg;
	uint32_t kind;

	if (http_conf(t)->cell)
		return false;
	if (m->state == HTTP_STATE_FRESH && m->bytes == 0) {
		*words = http_words(c);
		return true;
	}
	if (m->state != HTTP_STATE_BODY || m->framing != HTTP_COUNTED || m->length > BODY_MASK ||
	    t->flow->verify || c->dead || c->open == 0 ||
	    (!t->flow->client && ((m->flags & HTTP_10) != 0 || m->method == HTTP_HEAD)))
		return false;
	kind = (m->flags & HTTP_PERSIST) != 0 ? HTTP_KIND_BODY : HTTP_KIND_LAST_BODY;
	*words = c->began << BODY_SHIFT | m->length << HTTP_KIND_BITS | kind;
	return true;
}

void http_ring_free(struct wl_turn *t, struct http_conn *c)
{
	if (c->ring == 0)
		return;
	wl_free_cell(t, &((struct http_ring *)wl_cell(t, &c->ring))->more);
	wl_free_cell(t, &c->ring);
}

void http_store(struct wl_turn *t, struct http_conn *c, struct http_conn *here)
{
	struct http_conn *cell;
	uint64_t words;

	if (http_pack(t, c, &words)) {
		if (c != here)
			wl_free_cell(t, &t->mem[1]);
		wl_set_words(t, words);
		return;
	}
	if (c != here)
		return;
	t->mem[1] = 0;
	cell = wl_cell(t, &t->mem[1]);
	if (cell == NULL) {
		cell_add(&http_own(t)->k.no_cell, 1);
		http_ring_free(t, c);
		t->mem[0] = HTTP_WORD_DEAD | (c->open != 0 ? HTTP_WORD_OPEN : 0);
		t->send = 0;
		t->close = WL_CLOSE_RST;
		return;
	}
	*cell = *c;
	t->mem[0] = HTTP_KIND_CELL;
}

/* ---- heads that came before ---- */

/* Mixes the first bytes, in which heads of one peer differ, without waiting for one after the
 * other. At least 32 bytes. */
static unsigned http_memo_place(const uint8_t *data, uint32_t n)
{
	uint32_t most = n < 64 ? n & ~7u : 64;
	uint64_t h = 0, w;

	for (uint32_t i = 0; i < most; i += 8) {
		memcpy(&w, data + i, 8);
		h ^= w << i | w >> ((64 - i) & 63);
	}
	return (unsigned)(h * 0x9e3779b97f4a7c15ull >> 61);
}
_Static_assert(HTTP_MEMOS == 8, "as many as the hash tells apart");

const struct http_memo *http_memo_find_other(struct wl_turn *t, const uint8_t *data, uint32_t n)
{
	struct http_own *own = http_own(t);
	unsigned i = http_memo_place(data, n);

	if (!http_memo_fits(&own->memo[i], data, n))
		return NULL;
	own->last = i;
	return &own->memo[i];
}

static void http_memo_keep(struct http_own *own, const struct http_msg *m, const uint8_t *data,
			   uint32_t used, uint32_t n)
{
	struct http_memo *e;

	if (used < HTTP_MEMO_LEAST || used > HTTP_MEMO_HEAD)
		return;
	e = &own->memo[http_memo_place(data, n)];
	e->msg = *m;
	e->len = used;
	e->class = (uint8_t)(m->status / 100 - 1);
	memcpy(e->head, data, used);
}

static uint32_t http_take_head(struct wl_turn *t, struct http_msg *m, const uint8_t *data,
			       uint32_t n)
{
	bool fresh = m->state == HTTP_STATE_FRESH && m->bytes == 0 && data != NULL;
	const struct http_memo *known = fresh ? http_memo_find(t, data, n) : NULL;
	uint32_t used;

	if (known != NULL) {
		*m = known->msg;
		return known->len;
	}
	used = http_head(m, http_conf(t)->head_limit, data, n);
	if (fresh && !http_in_head(m) && m->bad == HTTP_FINE)
		http_memo_keep(http_own(t), m, data, used, n);
	return used;
}

uint32_t http_take(struct wl_turn *t, struct http_msg *m, const uint8_t *data, uint32_t n)
{
	uint64_t at = m->at;
	struct http_own *own = http_own(t);
	uint32_t used;
	bool body;

	if (http_in_head(m)) {
		used = http_take_head(t, m, data, n);
	} else {
		used = http_body(m, http_conf(t)->head_limit, data, n, &body);
		if (body && t->flow->verify && data != NULL &&
		    !wl_content_same(&t->flow->content[WL_HTTP_BODY], at, data, used))
			cell_add(&t->flow->counts->mismatched, used);
	}
	if (__builtin_expect(m->bad != HTTP_FINE, 0)) {
		cell_add(&own->k.bad, 1);
		cell_add(&own->k.reason[m->bad - 1], 1);
	}
	return used;
}
