/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "out.h"

#define VALUES_MAX (RPC_MAX_ARGS + RPC_ID_BYTES + 16u) /* no request needs more values than this */

static const char *const kind_names[RPC_KINDS] = {
	[RPC_CMD] = "cmd",           [RPC_LUA] = "lua",           [RPC_COMPLETE] = "complete",
	[RPC_SNAPSHOT] = "snapshot", [RPC_PROGRESS] = "progress", [RPC_SUBSCRIBE] = "subscribe",
	[RPC_CANCEL] = "cancel",     [RPC_AUTH] = "auth",         [RPC_PING] = "ping",
};
static const char *const mode_names[] = {
	[OUT_TEXT] = "text", [OUT_CSV] = "csv", [OUT_JSON] = "json"};

/* A member that may stand beside the one that names the kind. kinds has a bit for each of its
 * kinds. */
struct extra {
	const char *name;
	uint32_t kinds;
	int (*take)(struct request *q, json_t *v, struct err *e);
};

static int take_mode(struct request *q, json_t *v, struct err *e)
{
	const char *text = json_string_value(v);

	for (size_t i = 0; text != NULL && i < ARRAY_SIZE(mode_names); i++)
		if (strcmp(text, mode_names[i]) == 0) {
			q->mode = (int)i;
			return 0;
		}
	return err_set(e, EINVAL, "\"mode\" is \"json\", \"text\" or \"csv\"");
}

static int take_cursor(struct request *q, json_t *v, struct err *e)
{
	if (!json_is_integer(v) || json_integer_value(v) < 0 ||
	    (size_t)json_integer_value(v) > strlen(q->text))
		return err_set(e, EINVAL,
			       "\"cursor\" counts bytes of the line, from 0 to its length, %zu",
			       strlen(q->text));
	q->cursor = (int)json_integer_value(v);
	return 0;
}

static int take_args(struct request *q, json_t *v, struct err *e)
{
	size_t n = json_array_size(v);
	bool ok = json_is_array(v) && n <= RPC_MAX_ARGS;

	for (size_t i = 0; ok && i < n; i++)
		ok = json_is_string(json_array_get(v, i));
	if (!ok)
		return err_set(e, EINVAL, "\"args\" is an array of at most %u strings",
			       RPC_MAX_ARGS);
	q->args = xcalloc(n + 1, sizeof(*q->args));
	q->nargs = (unsigned)n;
	for (size_t i = 0; i < n; i++)
		q->args[i] = json_string_value(json_array_get(v, i));
	return 0;
}

static const struct extra extras[] = {
	{"mode", 1u << RPC_CMD | 1u << RPC_LUA, take_mode},
	{"cursor", 1u << RPC_COMPLETE, take_cursor},
	{"args", 1u << RPC_LUA, take_args},
};

static int event_bit(const char *name, uint32_t *bits, struct err *e)
{
	struct sbuf all = {0};

	for (unsigned i = 0; i < APP_EVENTS; i++) {
		if (strcmp(name, app_event_names[i]) == 0) {
			*bits |= 1u << i;
			sbuf_free(&all);
			return 0;
		}
		sbuf_addf(&all, "%s%s", i > 0 ? ", " : "", app_event_names[i]);
	}
	int rc = err_set(e, EINVAL, "there is no event '%.60s'; there are: %s", name,
			 sbuf_str(&all));
	sbuf_free(&all);
	return rc;
}

static int take_subscribe(struct request *q, json_t *v, struct err *e)
{
	json_t *name;
	size_t i;
	int rc = json_is_array(v)
			 ? 0
			 : err_set(e, EINVAL,
				   "\"subscribe\" is an array of names of events, [] for none");

	json_array_foreach(v, i, name) {
		if (rc == 0 && !json_is_string(name))
			rc = err_set(e, EINVAL, "\"subscribe\" is an array of names of events");
		if (rc == 0)
			rc = event_bit(json_string_value(name), &q->events, e);
	}
	return rc;
}

static int take_kind(struct request *q, json_t *v, struct err *e)
{
	const char *text = json_string_value(v);

	switch (q->kind) {
	case RPC_SUBSCRIBE:
		return take_subscribe(q, v, e);
	case RPC_PING:
	case RPC_PROGRESS:
		return json_is_true(v) ? 0
				       : err_set(e, EINVAL, "\"%s\" is true", kind_names[q->kind]);
	case RPC_CANCEL:
		q->all = text != NULL && strcmp(text, "all") == 0;
		return json_is_true(v) || q->all
			       ? 0
			       : err_set(e, EINVAL, "\"cancel\" is true, or \"all\"");
	default:
		if (text == NULL)
			return err_set(e, EINVAL, "\"%s\" is a string", kind_names[q->kind]);
		q->text = text;
		q->cursor = (int)strlen(text);
		return 0;
	}
}

static int kinds_wanted(struct err *e, const char *what)
{
	return err_set(
		e, EINVAL,
		"%s; a request has one of cmd, lua, complete, snapshot, progress, subscribe, cancel, auth, ping",
		what);
}

static int find_kind(struct request *q, struct err *e)
{
	unsigned found = 0;

	for (unsigned k = 0; k < RPC_KINDS; k++)
		if (json_object_get(q->doc, kind_names[k]) != NULL) {
			q->kind = (enum rpc_kind)k;
			found++;
		}
	if (found == 0)
		return kinds_wanted(e, "there is nothing to do");
	return found > 1 ? kinds_wanted(e, "these are several requests in one") : 0;
}

/* Takes the members beside id and kind. An unknown one is refused, because it may be misspelled,
 * and then what the client wants would not be done. */
static int take_rest(struct request *q, struct err *e)
{
	const char *key;
	json_t *v;

	json_object_foreach(q->doc, key, v) {
		const struct extra *x = NULL;
		if (strcmp(key, "id") == 0 || strcmp(key, kind_names[q->kind]) == 0)
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(extras); i++)
			if (strcmp(key, extras[i].name) == 0)
				x = &extras[i];
		if (x == NULL)
			return err_set(
				e, EINVAL,
				"there is no \"%.60s\" in a request; beside id and one of its kinds there are mode, args, cursor",
				key);
		if (!(x->kinds & 1u << q->kind))
			return err_set(e, EINVAL, "\"%s\" does not belong to \"%s\"", key,
				       kind_names[q->kind]);
		int rc = x->take(q, v, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int take_id(struct request *q, json_t **id, struct err *e)
{
	json_t *v = json_object_get(q->doc, "id");
	size_t n = v != NULL ? json_dumpb(v, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY) : 0;

	if (n > RPC_ID_BYTES)
		return err_set(e, EINVAL, "this id has %zu bytes; it may have %u", n, RPC_ID_BYTES);
	q->id = v;
	*id = json_incref(v);
	return 0;
}

struct request *request_parse(const char *line, size_t len, json_t **id, struct err *e)
{
	struct request *q = xcalloc(1, sizeof(*q));
	json_error_t why;
	int rc = 0;

	*id = NULL;
	q->mode = OUT_JSON;
	q->bytes = len;
	size_t values;
	out_json_bytes(line, len, &values);
	if (values > VALUES_MAX) {
		err_set(e, EMSGSIZE, "a request has at most %u values, this line has %zu",
			VALUES_MAX, values);
		request_free(q);
		return NULL;
	}
	q->doc = json_loadb(line, len, JSON_REJECT_DUPLICATES, &why);
	if (q->doc == NULL)
		rc = err_at(e, EINVAL, why.position > 0 ? why.position - 1 : 0,
			    "this line is no JSON object: %s", why.text);
	else if (!json_is_object(q->doc))
		rc = kinds_wanted(e, "a request is an object");
	if (rc == 0)
		rc = take_id(q, id, e);
	if (rc == 0)
		rc = find_kind(q, e);
	if (rc == 0)
		rc = take_kind(q, json_object_get(q->doc, kind_names[q->kind]), e);
	if (rc == 0)
		rc = take_rest(q, e);
	if (rc == 0)
		return q;
	request_free(q);
	return NULL;
}

void request_free(struct request *q)
{
	if (q == NULL)
		return;
	json_decref(q->doc);
	free(q->args);
	free(q);
}
