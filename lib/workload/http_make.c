/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the settings of an end of HTTP: each message that it can send is rendered once, so that
 * sending one is naming it. So a response has no Date: who has no clock is not to send one
 * (RFC 9110 6.6.1). */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "http_make.h"

/* How the body of one message is framed in its head. */
enum make_body { MAKE_NONE, MAKE_LENGTH, MAKE_CHUNKS, MAKE_CLOSE };

struct make {
	const struct wl_http_settings *s;
	struct wl_http *h;
	struct http_list list[4]; /* method or status, path, host, size */
	struct sbuf fields;
	struct wl_http_message *message;
};
enum { MAKE_KIND, MAKE_PATH, MAKE_HOST, MAKE_SIZE, MAKE_LISTS };
static const char *const make_names[2][MAKE_LISTS] = {
	{"http.status", "", "", "response"},
	{"http.method", "http.path", "http.host", "request"},
};
static const char *const make_methods[] = {"GET", "HEAD", "POST", "PUT"};
#define MAKE_CHUNK 4096

/* Adds a content, which takes the text. Returns its number. */
static int make_content(struct make *k, struct sbuf *head, struct err *e)
{
	struct wl_http *h = k->h;
	int rc =
		wl_content_init(&h->content[h->ncontent], head->s, (uint32_t)head->len, k->s->fill);

	if (rc != 0) {
		sbuf_free(head);
		return err_set(e, -rc, "http: a head of more than %u bytes: shorten http.header",
			       WL_HEAD_MAX);
	}
	*head = (struct sbuf){0};
	return h->ncontent++;
}

static int make_fixed(struct make *k, struct err *e)
{
	static const unsigned refused[] = {400, 414, 431, 501, 505};
	struct sbuf text = {0};
	int rc = make_content(k, &text, e); /* filling alone */

	sbuf_add(&text, "HTTP/1.1 100 Continue\r\n\r\n");
	rc = rc < 0 ? rc : make_content(k, &text, e);
	for (unsigned i = 0; i < ARRAY_SIZE(refused); i++) {
		sbuf_addf(&text, "HTTP/1.1 %u %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
			  refused[i], http_reason(refused[i]));
		rc = rc < 0 ? rc : make_content(k, &text, e);
	}
	return rc < 0 ? rc : 0;
}

/* A content is of a body in chunks. Returns the length of its message. */
static int make_chunks(const struct make *k, struct wl_content *c, uint32_t body)
{
	uint32_t chunk = k->s->chunk != 0 ? k->s->chunk : MAKE_CHUNK;

	return wl_content_init_chunked(c, c->head, c->head_len, k->s->fill, chunk, body);
}

/* The rest of a head, behind its first fields; then its message. */
static int make_message(struct make *k, struct sbuf *head, enum make_body body, uint64_t size,
			const char *connection, struct wl_http_message *m, struct err *e)
{
	int rc;

	if (body == MAKE_LENGTH)
		sbuf_addf(head, "Content-Length: %" PRIu64 "\r\n", size);
	else if (body == MAKE_CHUNKS)
		sbuf_add(head, "Transfer-Encoding: chunked\r\n");
	else if (body == MAKE_NONE)
		size = 0;
	if (connection != NULL)
		sbuf_addf(head, "Connection: %s\r\n", connection);
	sbuf_add(head, sbuf_str(&k->fields));
	sbuf_add(head, "\r\n");
	m->head = (uint32_t)head->len;
	m->until_close = body == MAKE_CLOSE;
	m->bytes = head->len + size;
	rc = make_content(k, head, e);
	if (rc < 0)
		return rc;
	m->content = (uint16_t)rc;
	if (body == MAKE_CHUNKS)
		m->bytes = (uint32_t)make_chunks(k, &k->h->content[rc], (uint32_t)size);
	return 0;
}

static int make_response(struct make *k, const struct http_item *const c[MAKE_LISTS], unsigned form,
			 struct wl_http_message *m, struct err *e)
{
	unsigned status = (unsigned)c[MAKE_KIND]->number;
	bool old = form >= WL_HTTP_PERSIST_10;
	bool last = form == WL_HTTP_LAST || form == WL_HTTP_LAST_10;
	enum make_body body = MAKE_LENGTH;
	struct sbuf head = {0};

	if (status == 204 || status == 304)
		body = MAKE_NONE;
	else if (k->s->until_close)
		body = MAKE_CLOSE;
	else if (k->s->chunked && !old) /* HTTP/1.0 has no chunks (RFC 9112 6.1) */
		body = MAKE_CHUNKS;
	last = last || body == MAKE_CLOSE;
	m->class = (uint8_t)(status / 100 - 1);
	sbuf_addf(&head, "HTTP/1.1 %u %s\r\nServer: wirerate\r\n", status, http_reason(status));
	return make_message(k, &head, body, c[MAKE_SIZE]->number,
			    last ? "close" : (old ? "keep-alive" : NULL), m, e);
}

static int make_request(struct make *k, const struct http_item *const c[MAKE_LISTS], unsigned form,
			struct wl_http_message *m, struct err *e)
{
	const char *method = c[MAKE_KIND]->text;
	const char *connection = NULL;
	enum make_body body = method[0] != 'P' ? MAKE_NONE
			      : k->s->chunked  ? MAKE_CHUNKS
					       : MAKE_LENGTH;
	struct sbuf head = {0};

	if (form > WL_HTTP_LAST) { /* clients have no others */
		*m = m[-WL_HTTP_PERSIST_10];
		return 0;
	}
	if (!k->s->http10 && form == WL_HTTP_LAST)
		connection = "close";
	else if (k->s->http10 && k->s->transactions != 1 && form != WL_HTTP_LAST)
		connection = "keep-alive";
	m->to_head = strcmp(method, "HEAD") == 0;
	sbuf_addf(&head, "%s %s HTTP/1.%c\r\nHost: %s\r\nUser-Agent: wirerate\r\nAccept: */*\r\n",
		  method, c[MAKE_PATH]->text, k->s->http10 ? '0' : '1', c[MAKE_HOST]->text);
	return make_message(k, &head, body, c[MAKE_SIZE]->number, connection, m, e);
}

/* Choice i as one of each list. */
static uint64_t make_choice(const struct make *k, unsigned i, const struct http_item *c[MAKE_LISTS])
{
	uint64_t weight = 1;

	for (unsigned l = 0; l < MAKE_LISTS; l++) {
		if (k->list[l].n == 0) {
			c[l] = NULL;
			continue;
		}
		c[l] = &k->list[l].item[i % k->list[l].n];
		i /= k->list[l].n;
		weight *= c[l]->weight;
	}
	return weight;
}

/* What is sent as it is: one message, whoever asks and whatever comes behind it. */
static int make_whole(struct make *k, struct err *e)
{
	const struct wl_http_settings *s = k->s;
	struct wl_http *h = k->h;
	struct wl_http_whole w;
	int rc = wl_http_whole(s->whole, s->whole_bytes, !s->client, &w, e);

	if (rc != 0)
		return rc;
	free(w.data);
	if (s->client && w.closes && (s->transactions != 1 || s->close == WL_CLOSE_NOT))
		return err_set(
			e, EINVAL,
			"http: the request of the file says that the connection ends behind it "
			"(Connection: close, or HTTP/1.0 without keep-alive): set transactions "
			"to 1 and close to fin or rst, or take another file");
	wl_content_init_whole(&h->content[h->ncontent], s->whole, s->whole_bytes);
	for (unsigned form = 0; form < WL_HTTP_FORMS; form++)
		k->message[form] =
			(struct wl_http_message){.bytes = s->whole_bytes,
						 .head = w.head,
						 .content = h->ncontent,
						 .class = (uint8_t)(s->client ? 0
									      : w.status / 100 - 1),
						 .to_head = w.to_head,
						 .until_close = !s->client && w.closes};
	h->ncontent++;
	h->whole = true;
	h->conf.npick = 1;
	return 0;
}

/* The body that the other end is to send. */
static int make_known(struct make *k, struct err *e)
{
	const struct wl_http_settings *s = k->s;
	struct wl_http_whole w;
	int rc = wl_http_whole(s->known, s->known_bytes, s->client, &w, e);

	if (rc != 0)
		return rc;
	k->h->body = w.data;
	wl_content_init_whole(&k->h->content[WL_HTTP_BODY],
			      w.data != NULL ? w.data : s->known + w.head, w.body);
	return 0;
}

static int make_count(struct make *k, struct err *e)
{
	uint64_t choices = 1, picks = 1;

	for (unsigned l = 0; l < MAKE_LISTS; l++) {
		if (k->list[l].n == 0)
			continue;
		choices *= k->list[l].n;
		picks *= k->list[l].total;
		if (choices > WL_HTTP_CHOICES || picks > WL_HTTP_PICKS)
			return err_set(e, E2BIG,
				       "http: the lists combine to more than %u messages, or to "
				       "more than %u by their weights: shorten %s, or take smaller "
				       "weights",
				       WL_HTTP_CHOICES, WL_HTTP_PICKS, make_names[k->s->client][l]);
	}
	k->h->choices = (unsigned)choices;
	k->h->conf.npick = (uint32_t)picks;
	return 0;
}

static int make_messages(struct make *k, struct err *e)
{
	unsigned n = k->h->choices;
	uint32_t *weight = xcalloc(n, sizeof(*weight));
	int rc = 0;

	k->message = xcalloc(n * WL_HTTP_FORMS, sizeof(*k->message));
	k->h->conf.message = k->message;
	k->h->content = xcalloc(WL_HTTP_FIRST + n * WL_HTTP_FORMS, sizeof(*k->h->content));
	rc = make_fixed(k, e);
	if (rc == 0 && k->s->known != NULL)
		rc = make_known(k, e);
	if (rc == 0 && k->s->whole != NULL) {
		rc = make_whole(k, e);
		n = 0;
	}
	for (unsigned i = 0; i < n && rc == 0; i++) {
		const struct http_item *c[MAKE_LISTS];

		weight[i] = (uint32_t)make_choice(k, i, c);
		for (unsigned form = 0; form < WL_HTTP_FORMS && rc == 0; form++) {
			struct wl_http_message *m = &k->message[i * WL_HTTP_FORMS + form];

			rc = k->s->client ? make_request(k, c, form, m, e)
					  : make_response(k, c, form, m, e);
		}
	}
	if (rc == 0 && n > 0)
		k->h->conf.pick = http_list_order(weight, n, k->h->conf.npick);
	free(weight);
	return rc;
}

static int make_check_texts(struct make *k, struct err *e)
{
	const struct http_list *l = k->list;

	for (unsigned i = 0; i < l[MAKE_PATH].n; i++) {
		const struct http_item *it = &l[MAKE_PATH].item[i];
		int wrong = it->text[0] != '/' ? 0 : http_wrong_target(it->text);

		if (wrong >= 0)
			return err_at(e, EINVAL, it->col + wrong,
				      "http.path: \"%s\" is no path; it begins with /, and has no "
				      "blanks, # and bytes beyond ASCII (write them as %%HH)",
				      it->text);
	}
	for (unsigned i = 0; i < l[MAKE_HOST].n; i++) {
		const struct http_item *it = &l[MAKE_HOST].item[i];
		int wrong = http_wrong_host(it->text);

		if (wrong >= 0)
			return err_at(e, EINVAL, it->col + wrong,
				      "http.host: \"%s\" is neither a name nor an address, with "
				      "or without a port",
				      it->text);
	}
	return 0;
}

static int make_check_methods(struct make *k, struct err *e)
{
	bool bodies = false, sizes = false;

	for (unsigned i = 0; i < k->list[MAKE_KIND].n; i++) {
		const struct http_item *it = &k->list[MAKE_KIND].item[i];
		bool known = false;

		for (unsigned m = 0; m < ARRAY_SIZE(make_methods); m++)
			known = known || strcmp(it->text, make_methods[m]) == 0;
		if (!known)
			return err_at(e, EINVAL, it->col,
				      "http.method: \"%s\" is none of GET, HEAD, POST, PUT",
				      it->text);
		bodies = bodies || it->text[0] == 'P';
	}
	for (unsigned i = 0; i < k->list[MAKE_SIZE].n; i++)
		sizes = sizes || k->list[MAKE_SIZE].item[i].number != 0;
	if ((sizes || k->s->chunked) && !bodies)
		return err_set(e, EINVAL,
			       "http: only POST and PUT have a body: set http.method to one of "
			       "them, or request to 0 and http.chunked off");
	return 0;
}

/* How many messages all other lists have a size for. */
static uint64_t make_others(const struct make *k)
{
	uint64_t n = 1;

	for (unsigned l = 0; l < MAKE_SIZE; l++)
		n *= k->list[l].n != 0 ? k->list[l].n : 1;
	return n;
}

static int make_sizes(struct make *k, struct err *e)
{
	const struct wl_http_settings *s = k->s;
	const struct wl_vary usual = {.least = s->client ? 0 : 100, .most = s->client ? 0 : 100};
	const struct wl_vary *v = s->size != NULL ? s->size : &usual;
	uint64_t most = s->chunked ? WL_CHUNKED_MAX : WL_SIZE_MAX, room, ranges = 0;

	if (v->most > most)
		return err_set(e, ERANGE, "%s: a body of %" PRIu64 " bytes%s; at most %" PRIu64,
			       make_names[s->client][MAKE_SIZE], v->most,
			       s->chunked ? " in chunks" : "", most);
	for (unsigned i = 0; i < v->n; i++)
		ranges += v->item[i].lo != v->item[i].hi;
	room = WL_HTTP_CHOICES / make_others(k);
	room = room > v->n ? (room - (v->n - ranges)) / (ranges != 0 ? ranges : 1) : 1;
	http_list_sizes(&k->list[MAKE_SIZE], v,
			room > WL_HTTP_RANGE ? WL_HTTP_RANGE : (unsigned)room);
	return 0;
}

static int make_lists(struct make *k, struct err *e)
{
	const struct wl_http_settings *s = k->s;
	const char *const *name = make_names[s->client];
	const char *text[MAKE_LISTS] = {
		s->client ? (s->method != NULL ? s->method : "GET")
			  : (s->status != NULL ? s->status : "200"),
		s->client ? (s->path != NULL ? s->path : "/") : NULL,
		s->client ? s->host : NULL,
		NULL,
	};
	int rc = 0;

	for (unsigned l = 0; l < MAKE_LISTS && rc == 0; l++) {
		if (text[l] != NULL)
			rc = http_list_parse(&k->list[l], name[l], text[l], l == MAKE_HOST, e);
	}
	if (rc == 0)
		rc = make_sizes(k, e);
	if (rc == 0 && !s->client)
		rc = http_list_numbers(&k->list[MAKE_KIND], name[MAKE_KIND], 200, 599, e);
	if (rc == 0 && s->client)
		rc = make_check_methods(k, e);
	if (rc == 0)
		rc = make_check_texts(k, e);
	return rc;
}

static int make_check(const struct wl_http_settings *s, struct err *e)
{
	if (s->client && s->host == NULL && s->whole == NULL)
		return err_set(e, EINVAL, "http: a client needs http.host");
	if (s->pipeline > 1 && !s->client)
		return err_set(e, EINVAL,
			       "http: it is the client that pipelines; a server answers whatever "
			       "comes");
	if (s->pipeline > WL_HTTP_PIPELINE)
		return err_set(e, ERANGE, "http: at most %u requests may be open at once",
			       WL_HTTP_PIPELINE);
	if (s->transactions > UINT32_MAX)
		return err_set(e, ERANGE, "http: at most %u transactions of a connection",
			       UINT32_MAX);
	if (s->chunked && s->chunk != 0 && (s->chunk < WL_CHUNK_MIN || s->chunk > WL_CHUNKED_MAX))
		return err_set(e, ERANGE, "http: chunks of %u bytes; %u to %u are possible",
			       s->chunk, WL_CHUNK_MIN, WL_CHUNKED_MAX);
	if (s->chunked && s->until_close)
		return err_set(e, EINVAL,
			       "http: a body is either chunked or ends with the connection: "
			       "switch one off");
	if (s->chunked && s->http10)
		return err_set(e, EINVAL, "http: HTTP/1.0 has no chunks: switch http.chunked off");
	if (s->until_close && s->client)
		return err_set(e, EINVAL,
			       "http: a request cannot end with the connection (RFC 9112 6.3)");
	return 0;
}

static void make_conf(struct make *k)
{
	const struct wl_http_settings *s = k->s;
	struct wl_http_conf *c = &k->h->conf;

	c->transactions = (uint32_t)s->transactions;
	c->think = s->think;
	c->head_limit = s->head_limit != 0 ? s->head_limit : 16384;
	c->pipeline = s->pipeline != 0 ? (uint8_t)s->pipeline : 1;
	c->close = s->close;
	c->server_closes = s->server_closes;
	c->seed = s->seed;
	c->cell = s->client ? s->transactions > 1 || c->pipeline > 1
			    : s->server_closes && s->transactions > 1;
	k->h->wl = c->pipeline > 1 ? &wl_http_pipelined : &wl_http;
}

int wl_http_make(const struct wl_http_settings *s, struct wl_http **out, struct err *e)
{
	struct make k = {.s = s};
	int rc = make_check(s, e);

	if (rc != 0)
		return rc;
	k.h = xcalloc(1, sizeof(*k.h));
	k.h->choices = 1;
	if (s->whole == NULL) {
		rc = make_lists(&k, e);
		if (rc == 0 && s->header != NULL)
			rc = http_fields(s->header, &k.fields, e);
		if (rc == 0)
			rc = make_count(&k, e);
	}
	if (rc == 0)
		rc = make_messages(&k, e);
	if (rc == 0)
		make_conf(&k);
	for (unsigned l = 0; l < MAKE_LISTS; l++)
		http_list_free(&k.list[l]);
	sbuf_free(&k.fields);
	if (rc != 0) {
		wl_http_free(k.h);
		return rc;
	}
	*out = k.h;
	return 0;
}

void wl_http_free(struct wl_http *h)
{
	if (h == NULL)
		return;
	for (unsigned i = WL_HTTP_BODY + 1; i < h->ncontent; i++)
		if (!h->whole || i != WL_HTTP_FIRST)
			free((void *)(uintptr_t)h->content[i].head);
	free(h->body);
	free(h->content);
	free((void *)(uintptr_t)h->conf.message);
	free((void *)(uintptr_t)h->conf.pick);
	free(h);
}
