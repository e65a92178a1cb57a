/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc_in.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"

static const char unread[] =
	"answers are not read fast enough: the limit of what waits was reached (--rpc-limit out=BYTES)";

/* A line that is being written to `out`. len counts all of its bytes; those beyond `most` are only
 * counted. */
struct line {
	struct sbuf *out;
	size_t len, most;
};

static int write_part(const char *part, size_t n, void *arg)
{
	struct line *l = arg;

	l->len += n;
	if (l->len <= l->most)
		sbuf_addn(l->out, part, n);
	return 0;
}

/* Adds members to the object that was just written, by removing its closing brace and writing it
 * again behind them. */
static void write_parts(struct line *l, const struct answer_part *part, unsigned n)
{
	if (l->len <= l->most)
		l->out->len--;
	l->len--;
	for (unsigned i = 0; i < n; i++) {
		char begin[32];
		int len = snprintf(begin, sizeof(begin), ",\"%s\":%c", part[i].key, part[i].open);
		write_part(begin, (size_t)len, l);
		write_part(sbuf_str(part[i].inside), part[i].inside->len, l);
		write_part(&part[i].close, 1, l);
	}
	write_part("}", 1, l);
}

/* Writes an object as a line for the client. Returns its bytes as JSON, 0: it cannot be written as
 * JSON. There is only one pass, because the object may be large and other clients wait meanwhile.
 * If it does not fit beside what the client has not read, the client is disconnected. If it is
 * larger than the limit by itself, it is left out, and the caller tells that from the result. */
static size_t put_object(struct client *c, json_t *doc, const struct answer_part *part,
			 unsigned nparts)
{
	bool heard = !c->dead && c->end_ns == 0;
	size_t before = c->out.len, backlog = client_backlog(c),
	       limit = c->rpc->opts.limits.out_bytes;
	struct line l = {.out = &c->out,
			 .most = heard && backlog + 1 < limit ? limit - backlog - 1 : 0};
	int rc = json_dump_callback(doc, write_part, &l, JSON_COMPACT);

	if (rc == 0)
		write_parts(&l, part, nparts);
	if (rc == 0 && heard && l.len <= l.most) {
		sbuf_addc(&c->out, '\n');
		return l.len;
	}
	if (c->out.len > before) {
		c->out.len = before;
		c->out.s[before] = '\0';
	}
	if (rc == 0 && heard && l.len + 1 <= limit)
		client_end(c, unread);
	return rc == 0 ? l.len : 0;
}

/* Sends a line that no error can replace: if it is larger than the limit by itself, the client is
 * disconnected. Takes the object. */
static void send_parts(struct client *c, json_t *doc, const struct answer_part *part,
		       unsigned nparts)
{
	if (put_object(c, doc, part, nparts) + 1 > c->rpc->opts.limits.out_bytes)
		client_end(c, unread);
	json_decref(doc);
}

void send_object(struct client *c, json_t *doc)
{
	send_parts(c, doc, NULL, 0);
}

static json_t *with_id(json_t *id)
{
	json_t *doc = json_object();

	json_object_set_new(doc, "id", id != NULL ? json_incref(id) : json_null());
	return doc;
}

/* The beginning of an answer: id, ok and the members, which may be NULL. Takes the members. */
static json_t *answer_head(json_t *id, bool ok, json_t *members)
{
	json_t *doc = with_id(id);

	json_object_set_new(doc, "ok", json_boolean(ok));
	if (members != NULL)
		json_object_update(doc, members);
	json_decref(members);
	return doc;
}

static json_t *error_json(int rc, const struct err *e)
{
	const char *code = strerrorname_np(-rc);
	json_t *doc = json_object();

	json_object_set_new(doc, "code", json_string(code != NULL ? code : "EIO"));
	json_object_set_new(doc, "text", out_json_text(e->text));
	if (e->col >= 0)
		json_object_set_new(doc, "col", json_integer(e->col));
	return doc;
}

int answer_too_large(struct err *e, size_t bytes, bool more)
{
	return err_set(
		e, EMSGSIZE,
		"the answer has %s%zu bytes, more than --rpc-limit out=BYTES allows; ask for less at a time",
		more ? "more than " : "", bytes);
}

void answer_ok(struct client *c, json_t *id, json_t *members)
{
	answer_done(c, id, members, NULL, 0);
}

void answer_done(struct client *c, json_t *id, json_t *members, const struct answer_part *part,
		 unsigned nparts)
{
	json_t *doc = answer_head(id, true, members);
	size_t n = put_object(c, doc, part, nparts);

	if (n == 0 || n + 1 > c->rpc->opts.limits.out_bytes) {
		struct err e;
		int rc = n == 0 ? err_set(&e, EIO, "the answer cannot be written as JSON")
				: answer_too_large(&e, n, false);
		answer_error(c, id, rc, &e, NULL);
	}
	json_decref(doc);
}

void answer_error(struct client *c, json_t *id, int rc, const struct err *e, json_t *members)
{
	answer_failed(c, id, rc, e, members, NULL, 0);
}

static size_t parts_bytes(const struct answer_part *part, unsigned n)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < n; i++)
		bytes += part[i].inside->len + strlen(part[i].key) + strlen(",\"\":[]");
	return bytes;
}

void answer_failed(struct client *c, json_t *id, int rc, const struct err *e, json_t *members,
		   const struct answer_part *part, unsigned nparts)
{
	json_t *doc = answer_head(id, false, members);
	json_t *err = json_object_get(doc, "error"), *own = error_json(rc, e);

	/* members may have an "error" as well; what is in it is added to the error */
	if (err != NULL)
		json_object_update(own, err);
	json_object_set_new(doc, "error", own);
	/* if not everything fits, the answer has only the error */
	if (json_dumpb(doc, NULL, 0, JSON_COMPACT) + parts_bytes(part, nparts) >=
	    c->rpc->opts.limits.out_bytes)
		nparts = 0;
	send_parts(c, doc, part, nparts);
}

void send_partial(struct client *c, json_t *id, const char *key, const char *text, size_t n)
{
	struct sbuf inside = {0};

	out_json_inside(text, n, &inside);
	send_parts(c, with_id(id), &(struct answer_part){key, '"', '"', &inside}, 1);
	sbuf_free(&inside);
}
