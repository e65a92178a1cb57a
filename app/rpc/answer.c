/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"

/* Room for a line in memory, and no more: it may be large. */
static void make_room(struct sbuf *out, size_t n)
{
	if (out->len + n + 2 <= out->cap)
		return;
	out->cap = out->len + n + 2;
	out->s = xrealloc(out->s, out->cap);
}

/* Beyond the limit whoever does not read is sent away; one answer that is larger by itself is replaced by an error. n: its bytes as JSON. */
static void put_object(struct client *c, json_t *doc, size_t n)
{
	if (c->dead || c->end_ns != 0 || n == 0)
		return;
	if (client_backlog(c) + n + 1 > c->rpc->opts.limits.out_bytes) {
		client_end(c, "answers are not read fast enough: the limit of what waits was reached (--rpc-limit out=BYTES)");
		return;
	}
	make_room(&c->out, n);
	json_dumpb(doc, c->out.s + c->out.len, n, JSON_COMPACT);
	c->out.len += n;
	sbuf_addc(&c->out, '\n');
}

void send_object(struct client *c, json_t *doc)
{
	put_object(c, doc, json_dumpb(doc, NULL, 0, JSON_COMPACT));
	json_decref(doc);
}

static json_t *head(json_t *id, bool ok)
{
	json_t *doc = json_object();

	json_object_set_new(doc, "id", id != NULL ? json_incref(id) : json_null());
	json_object_set_new(doc, "ok", json_boolean(ok));
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

void answer_ok(struct client *c, json_t *id, json_t *members)
{
	json_t *doc = head(id, true);

	if (members != NULL)
		json_object_update(doc, members);
	json_decref(members);
	size_t n = json_dumpb(doc, NULL, 0, JSON_COMPACT);
	if (n > 0 && n + 1 <= c->rpc->opts.limits.out_bytes) {
		put_object(c, doc, n);
	} else {
		struct err e;
		int rc = n == 0 ? err_set(&e, EIO, "the answer cannot be written as JSON") :
			 err_set(&e, EMSGSIZE, "the answer has %zu bytes, more than --rpc-limit out=BYTES allows; ask for less at a time", n);
		answer_error(c, id, rc, &e, NULL);
	}
	json_decref(doc);
}

void answer_error(struct client *c, json_t *id, int rc, const struct err *e, json_t *members)
{
	json_t *doc = head(id, false);

	if (members != NULL)
		json_object_update(doc, members);
	json_decref(members);
	/* an error that came with members of its own adds to it */
	json_t *err = json_object_get(doc, "error"), *own = error_json(rc, e);
	if (err != NULL)
		json_object_update(own, err);
	json_object_set_new(doc, "error", own);
	if (json_dumpb(doc, NULL, 0, JSON_COMPACT) >= c->rpc->opts.limits.out_bytes) {
		json_object_del(doc, "results");
		json_object_del(doc, "text");
		json_object_del(doc, "notes");
	}
	send_object(c, doc);
}

void send_partial(struct client *c, json_t *id, const char *key, struct sbuf *text)
{
	json_t *doc = json_object();

	if (text->len > 0) {
		json_object_set_new(doc, "id", id != NULL ? json_incref(id) : json_null());
		json_object_set_new(doc, key, out_json_text(sbuf_str(text)));
		send_object(c, json_incref(doc));
	}
	json_decref(doc);
	sbuf_reset(text);
}
