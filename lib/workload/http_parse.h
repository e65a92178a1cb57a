/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads messages of HTTP/1.1 (RFC 9112), requests and responses, byte by byte: where they are cut
 * changes nothing. Nothing of a message is kept but what says where it ends and what becomes of the
 * connection. For workers: no memory beyond the struct, no clock. */
#pragma once
#include "base.h"

/* Why a message is not one. */
enum http_bad {
	HTTP_FINE,
	HTTP_BAD_START,      /* the request line or the status line (RFC 9112 3, 4) */
	HTTP_BAD_VERSION,    /* not HTTP/1.x (2.3) */
	HTTP_BAD_METHOD,     /* a method that is not served (3.1); the head itself is right */
	HTTP_BAD_FIELD,      /* a field line (5.1, 5.5), a CR that stands alone (2.2) */
	HTTP_BAD_HOST,       /* HTTP/1.1 without one Host, with two, or an impossible one (3.2) */
	HTTP_BAD_LENGTH,     /* Content-Length (6.3) */
	HTTP_BAD_CODING,     /* Transfer-Encoding whose end nobody could find (6.3) */
	HTTP_UNKNOWN_CODING, /* a request with another coding than chunked (6.1) */
	HTTP_BAD_CHUNK,      /* a chunk's size or its end (7.1) */
	HTTP_LONG_TARGET,    /* the limit was reached in the request line */
	HTTP_LONG_HEAD,      /* the limit was reached behind it, in a chunk's line or in trailers */
	HTTP_NBAD
};

enum http_method { HTTP_GET, HTTP_HEAD, HTTP_POST, HTTP_PUT, HTTP_OTHER };

/* How the end of a body is found (RFC 9112 6.3). */
enum http_framing { HTTP_NO_BODY, HTTP_COUNTED, HTTP_CHUNKED, HTTP_UNTIL_CLOSE };

/* What fields said. */
enum {
	HTTP_RESPONSE = 1 << 0, /* set by who reads: responses are expected; else requests */
	HTTP_10 = 1 << 1,       /* the peer speaks HTTP/1.0 */
	HTTP_CLOSE = 1 << 2,    /* Connection: close */
	HTTP_KEEP = 1 << 3,     /* Connection: keep-alive */
	HTTP_PERSIST = 1 << 4,  /* the connection may go on behind this message (9.3) */
	HTTP_EXPECT = 1 << 5,   /* Expect: 100-continue */
	HTTP_LENGTH = 1 << 6,
	HTTP_CODING = 1 << 7, /* Transfer-Encoding, with any coding */
	HTTP_CHUNKS = 1 << 8, /* the last coding is chunked */
	HTTP_OTHER_CODING = 1 << 9,
	HTTP_HOST = 1 << 10,
	HTTP_TRAILER = 1 << 11, /* the fields that are read are trailers */
};

/* A message on its way, from {.flags = HTTP_RESPONSE or 0} on. */
struct http_msg {
	uint64_t length; /* of the body; in a body, what is still to come of it or of the chunk */
	uint64_t at;     /* how many bytes of the body came */
	uint32_t bytes;  /* of the head that came so far; then of a chunk's line, of trailers */
	uint16_t flags;
	uint16_t status;
	uint8_t state, resume;       /* resume: the state that an obs-fold goes on with */
	uint8_t field, match, place; /* of the field; words that fit so far; bytes of them */
	uint8_t method, framing, bad;
};

/* States that others look at: before these a head is read. */
#define HTTP_STATE_FRESH 0  /* no byte of it came */
#define HTTP_STATE_BEGUN 2  /* from here on something other than empty lines came */
#define HTTP_STATE_BODY 64  /* the head is complete, its body is still to come */
#define HTTP_STATE_DATA 65  /* the same, in the middle of a chunk's data */
#define HTTP_STATE_ENDED 96 /* the message is complete */

/* Reads a head of at most `limit` bytes. Returns how many of n bytes were read: fewer only if the
 * head is complete or bad. Then framing, length, status, method and flags are known. */
uint32_t http_head(struct http_msg *m, uint32_t limit, const uint8_t *p, uint32_t n);
/* Reads a body as far as its next bytes are of one kind, and says of which: data, or what stands
 * around chunks. p may be NULL: then they are data. Only http_cut() ends a body until close. */
uint32_t http_body(struct http_msg *m, uint32_t limit, const uint8_t *p, uint32_t n, bool *data);
/* The peer has ended the connection. Returns whether the message is complete by that. */
bool http_cut(struct http_msg *m);

static inline bool http_in_head(const struct http_msg *m)
{
	return m->state < HTTP_STATE_BODY;
}
/* Whether the next byte is one of the body, and not of its framing. */
static inline bool http_in_data(const struct http_msg *m)
{
	return m->state == HTTP_STATE_DATA ||
	       (m->state == HTTP_STATE_BODY && m->framing != HTTP_CHUNKED);
}
/* A response to HEAD has the fields of the one to GET, and no body (RFC 9110 9.3.2). */
static inline void http_no_body(struct http_msg *m)
{
	m->framing = HTTP_NO_BODY;
	m->length = 0;
	m->state = HTTP_STATE_ENDED;
	if ((m->flags & HTTP_CLOSE) == 0 && (m->flags & (HTTP_10 | HTTP_KEEP)) != HTTP_10)
		m->flags |= HTTP_PERSIST;
}
