/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole messages of HTTP that come from files: whether they are one, and where their parts are. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "http_parse.h"
#include "workload.h"

static const char *const whole_methods[] = {"GET ",     "HEAD ",  "POST ",  "PUT ",    "DELETE ",
					    "OPTIONS ", "PATCH ", "TRACE ", "CONNECT "};

static bool whole_begins(const uint8_t *p, uint32_t n, const char *word)
{
	size_t len = strlen(word);

	return n >= len && memcmp(p, word, len) == 0;
}

bool wl_http_like(const uint8_t *p, uint32_t n, bool response)
{
	if (response)
		return whole_begins(p, n, "HTTP/");
	for (unsigned i = 0; i < ARRAY_SIZE(whole_methods); i++)
		if (whole_begins(p, n, whole_methods[i]))
			return true;
	return false;
}

static int whole_bad(const struct http_msg *m, const uint8_t *p, uint32_t at, bool response,
		     struct err *e)
{
	const struct counter *why = wl_http_table;
	unsigned line = 1;

	while (why->offset !=
	       offsetof(struct wl_http_counts, reason) + (m->bad - 1u) * sizeof(cell_t))
		why++;
	/* what is told of the byte that ends a line is about that line */
	for (uint32_t i = 0; i + 1 < at; i++)
		line += p[i] == '\n';
	return err_set(e, EINVAL, "it is no HTTP %s, by its line %u: %s",
		       response ? "response" : "request", line, why->help);
}

/* How the end of the body is known, for messages. */
static void whole_says(const struct http_msg *head, struct sbuf *out)
{
	if (head->framing == HTTP_COUNTED)
		sbuf_addf(out, "Content-Length says %" PRIu64 " bytes of body", head->length);
	else if (head->framing == HTTP_CHUNKED)
		sbuf_add(out, "the last chunk of the body is the one of size 0");
	else if ((head->flags & HTTP_LENGTH) != 0)
		sbuf_add(out, "Content-Length says 0 bytes of body");
	else
		sbuf_add(out, "nothing in its head says of a body, as Content-Length would");
}

static int whole_not_all(const struct http_msg *head, uint32_t n, uint32_t at, uint32_t body,
			 struct err *e)
{
	struct sbuf says = {0};
	int rc;

	whole_says(head, &says);
	if (at < n)
		rc = err_set(e, EINVAL,
			     "it goes on behind the end of its message, with %u more bytes: %s",
			     n - at, says.s);
	else
		rc = err_set(e, EINVAL, "it ends in the middle of its body: %s, and %u are there",
			     says.s, body);
	sbuf_free(&says);
	return rc;
}

/* Reads the body; the bytes of chunks are put together in `to`. */
static int whole_body(struct http_msg *m, const uint8_t *p, uint32_t n, uint32_t *at, uint8_t *to,
		      uint32_t *body)
{
	while (*at < n && m->state != HTTP_STATE_ENDED && m->bad == HTTP_FINE) {
		bool data;
		uint32_t used = http_body(m, WL_HEAD_MAX, p + *at, n - *at, &data);

		if (data && to != NULL)
			memcpy(to + *body, p + *at, used);
		*body += data ? used : 0;
		*at += used;
	}
	http_cut(m);
	return m->bad == HTTP_FINE ? 0 : -EINVAL;
}

static int whole_head(struct http_msg *m, const uint8_t *p, uint32_t n, uint32_t *at, bool response,
		      struct err *e)
{
	*at = http_head(m, WL_HEAD_MAX, p, n);
	if (m->bad == HTTP_BAD_METHOD) /* our server does not have it, others may */
		m->bad = HTTP_FINE;
	if (m->bad != HTTP_FINE)
		return whole_bad(m, p, *at, response, e);
	if (http_in_head(m))
		return err_set(e, EINVAL,
			       "it ends in the middle of the head of its %s: an empty line ends it",
			       response ? "response" : "request");
	if (!response && whole_begins(p, n, "CONNECT "))
		return err_set(e, EINVAL,
			       "CONNECT makes a tunnel, and none is made here; GET, POST "
			       "and others are possible");
	if (response && m->status < 200)
		return err_set(e, EINVAL,
			       "a response of status %u is followed by another one; "
			       "200 to 599 are possible",
			       m->status);
	return 0;
}

int wl_http_whole(const uint8_t *p, uint32_t n, bool response, struct wl_http_whole *out,
		  struct err *e)
{
	struct http_msg m = {.flags = response ? HTTP_RESPONSE : 0}, head;
	uint8_t *to = NULL;
	uint32_t at, body = 0;

	if (!wl_http_like(p, n, response))
		return err_set(e, EINVAL, "it does not begin as an HTTP %s does, with %s",
			       response ? "response" : "request",
			       response ? "HTTP/1.1 and a status" : "a method such as GET");
	int rc = whole_head(&m, p, n, &at, response, e);

	if (rc != 0)
		return rc;
	head = m;
	if (head.framing == HTTP_CHUNKED)
		to = xcalloc(1, n);
	*out = (struct wl_http_whole){.head = at,
				      .status = m.status,
				      .to_head = !response && m.method == HTTP_HEAD,
				      .closes = (m.flags & HTTP_PERSIST) == 0};
	if (whole_body(&m, p, n, &at, to, &body) != 0)
		rc = whole_bad(&m, p, at, response, e);
	else if (m.state != HTTP_STATE_ENDED || at < n)
		rc = whole_not_all(&head, n, at, body, e);
	if (rc != 0) {
		free(to);
		return rc;
	}
	out->body = body;
	out->data = to;
	return 0;
}
