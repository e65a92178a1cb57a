/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of HTTP share: the state of a connection, where it lies, and the heads that came
 * before. */
#pragma once
#include "http_parse.h"
#include "workload.h"

/* The state of a connection while a function runs. Between calls it is in a cell only if it has to
 * be: a connection that waits, or is in the middle of a body of known length, has it in its words
 * (wl_http_state.c). */
struct http_conn {
	struct http_msg msg; /* what comes */
	uint64_t began;      /* client: when the transaction began, as wl_time() says it */
	uint32_t count;      /* transactions begun (client) or answered (server) */
	uint32_t ring;       /* pipelined: the cell of a struct http_ring */
	uint16_t heads;      /* client: bit i: the open request i, from the oldest on, was HEAD */
	uint8_t open;        /* transactions */
	bool dead;           /* we close: what comes counts no more */
	bool filling;        /* pipelined: more requests are to follow at once */
};
_Static_assert(sizeof(struct http_conn) <= WL_CELL, "the state fits into a cell");

/* When the open requests began. A second cell has the times that the first one has no room for. */
#define HTTP_RING 6
struct http_ring {
	uint64_t began[HTTP_RING];
	uint32_t more; /* the second cell */
	uint8_t oldest;
};
_Static_assert(WL_HTTP_PIPELINE <= 2 * HTTP_RING, "two cells have room for all times");
_Static_assert(sizeof(struct http_ring) <= WL_CELL, "the times fit into a cell");

/* A head that came whole, and what was read in it: a head of the same bytes is the same. Peers send
 * few different ones, so most heads are compared and not read. */
#define HTTP_MEMO_LEAST 32
#define HTTP_MEMO_HEAD 352
#define HTTP_MEMOS 8
struct http_memo {
	struct http_msg msg;
	uint32_t len;  /* 0: none */
	uint8_t class; /* of a response: 0 for 1xx to 4 for 5xx */
	uint8_t head[HTTP_MEMO_HEAD];
};

/* A flow's own memory. */
struct http_own {
	struct wl_http_counts k;
	uint32_t last; /* memo that fitted last */
	struct http_memo memo[HTTP_MEMOS];
};

static inline const struct wl_http_conf *http_conf(const struct wl_turn *t)
{
	return t->flow->conf;
}
static inline struct http_own *http_own(const struct wl_turn *t)
{
	return t->flow->own;
}

/* The words of a connection are one of these kinds, in the lowest bits, and above them what belongs
 * to it. The time when the transaction began is at the top. */
enum {
	HTTP_KIND_WAITS,     /* for the first byte of a message: flags, and all of the time */
	HTTP_KIND_CELL,      /* the second word is the number of the cell */
	HTTP_KIND_BODY,      /* in a body of so many bytes, behind which the connection may go on */
	HTTP_KIND_LAST_BODY, /* the same, and it may not */
};
#define HTTP_KIND_BITS 2
#define HTTP_WORD_OPEN 4u /* client: a request is open */
#define HTTP_WORD_HEAD 8u /* it was HEAD */
#define HTTP_WORD_DEAD 16u
#define HTTP_WORD_BITS 6 /* below the time of a connection that waits */
#define HTTP_WORD_MASK ((1u << HTTP_WORD_BITS) - 1)
_Static_assert(HTTP_WORD_BITS + WL_TIME_BITS == 64, "all of a time has room");
#define HTTP_BODY_BITS (64 - HTTP_KIND_BITS - WL_TIME_LEAST) /* of the body's length */

/* The words of a connection that waits. */
static inline uint64_t http_words(const struct http_conn *c)
{
	return c->began << HTTP_WORD_BITS | (c->open != 0 ? HTTP_WORD_OPEN : 0) |
	       (c->heads != 0 ? HTTP_WORD_HEAD : 0) | (c->dead ? HTTP_WORD_DEAD : 0);
}
/* When its transaction, or the close, began. */
static inline uint64_t http_words_began(const struct wl_turn *t)
{
	return wl_words(t) >> HTTP_WORD_BITS;
}
/* Its flags; 0: a server that waits for a request, or another kind. */
static inline uint32_t http_word(const struct wl_turn *t)
{
	return t->mem[0] & HTTP_WORD_MASK;
}
static inline unsigned http_kind(const struct wl_turn *t)
{
	return t->mem[0] & ((1u << HTTP_KIND_BITS) - 1);
}

/* Returns the state: `here`, filled from the words, or that in the cell. */
struct http_conn *http_load(struct wl_turn *t, struct http_conn *here);
/* Puts it back. Without a free cell the connection is reset. */
void http_store(struct wl_turn *t, struct http_conn *c, struct http_conn *here);
/* Gives back the cells of the times of requests. */
void http_ring_free(struct wl_turn *t, struct http_conn *c);

static inline void http_msg_reset(struct wl_turn *t, struct http_msg *m)
{
	*m = (struct http_msg){.flags = t->flow->client ? HTTP_RESPONSE : 0};
}

/* Two words that the compiler has in one register. */
typedef uint64_t http_wide __attribute__((vector_size(16)));

/* Whether two times n >= 16 bytes are the same. Most heads have about 60: that is less than a call
 * costs, and all of them are looked at, since as a rule none differs. */
static WL_INLINE bool http_same(const uint8_t *a, const uint8_t *b, uint32_t n)
{
	http_wide x, y, differ;
	uint32_t at = n - 16;

	/* the last ones, which may be among those before them */
	memcpy(&x, a + at, 16);
	memcpy(&y, b + at, 16);
	differ = x ^ y;
	for (uint32_t i = 0; i < at; i += 16) {
		memcpy(&x, a + i, 16);
		memcpy(&y, b + i, 16);
		differ |= x ^ y;
	}
	return (differ[0] | differ[1]) == 0;
}
static inline bool http_memo_fits(const struct http_memo *e, const uint8_t *data, uint32_t n)
{
	return WL_USUAL(e->len - HTTP_MEMO_LEAST <= n - HTTP_MEMO_LEAST) &&
	       http_same(e->head, data, e->len);
}
/* A head that begins at data: what is known of it, or NULL: it must be read. */
const struct http_memo *http_memo_find_other(struct wl_turn *t, const uint8_t *data, uint32_t n);
static inline const struct http_memo *http_memo_find(struct wl_turn *t, const uint8_t *data,
						     uint32_t n)
{
	const struct http_own *own = http_own(t);
	const struct http_memo *last = &own->memo[own->last];

	/* the memory outlives settings: a head that was short enough then may be too long now */
	if (WL_RARE(n < HTTP_MEMO_LEAST) || WL_RARE(http_conf(t)->head_limit < HTTP_MEMO_HEAD))
		return NULL;
	return WL_USUAL(http_memo_fits(last, data, n)) ? last : http_memo_find_other(t, data, n);
}
/* Reads n bytes of a message up to the end of its head or its next end, and returns how many. What
 * is bad is counted. */
uint32_t http_take(struct wl_turn *t, struct http_msg *m, const uint8_t *data, uint32_t n);

/* The server (wl_http_server.c). */
uint32_t http_request(struct wl_turn *t, const uint8_t *data, uint32_t n);
