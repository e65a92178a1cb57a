/* SPDX-License-Identifier: BSD-3-Clause */
#include "snapshot.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "face.h"
#include "pieces.h"
#include "part/part.h"

#define PART(at, name) extern const struct snap_part part_##name;
#include "part_list.h"
#undef PART

#define PART(at, name) {at, &part_##name},
static const struct part_row own_rows[] = {
#include "part_list.h"
	{0},
};
#undef PART

static const void *parts_of(const struct face *f)
{
	return f->parts;
}

/* The part at place i of the list of all parts, NULL: there are no more. */
static const struct snap_part *part_at(unsigned i)
{
	static const void **rows;
	static unsigned n;

	if (rows == NULL)
		rows = pieces(own_rows, parts_of, sizeof(own_rows[0]), &n);
	return i < n ? ((const struct part_row *)rows[i])->part : NULL;
}

static const char *const forms[] = {
	[PART_ALONE] = "",
	[PART_LAST] = "[:N]",
	[PART_PORT] = ":P",
	[PART_STREAM] = ":P/S",
	[PART_WINDOW] = ":P[/FIRST+N|/S~N]",
};

/* One item of the list that the reader gave: a part, and the numbers behind its name. */
struct item {
	const struct snap_part *part;
	struct part_arg arg;
};

/* Lists all parts in the form in which they are asked for: "stats, config, log[:N], ...". */
static void snapshot_forms(struct sbuf *out)
{
	const struct snap_part *part;

	sbuf_add(out, "stats");
	for (unsigned i = 0; (part = part_at(i)) != NULL; i++)
		sbuf_addf(out, ", %s%s", part->name, forms[part->takes]);
}

static int snapshot_unknown(const char *text, size_t len, struct err *e)
{
	struct sbuf all = {0};

	snapshot_forms(&all);
	int rc = err_set(e, EINVAL, "there is no part '%.*s' of a snapshot; there are: %s",
			 len < 60 ? (int)len : 60, text, sbuf_str(&all));
	sbuf_free(&all);
	return rc;
}

/* Reads a number of at most 9 digits at *at, and moves *at behind it. False: there is none. */
static bool snapshot_number(const char **at, const char *end, unsigned *out)
{
	const char *p = *at;

	for (*out = 0; p < end && isdigit((unsigned char)*p) && p - *at < 9; p++)
		*out = *out * 10 + (unsigned)(*p - '0');
	bool any = p > *at;
	*at = p;
	return any;
}

static bool snapshot_take(const char **at, const char *end, char c)
{
	bool there = *at < end && **at == c;

	*at += there;
	return there;
}

static bool arg_parse(enum part_takes takes, const char *at, const char *end, struct part_arg *out)
{
	bool ok = at == end || (snapshot_take(&at, end, ':') && takes != PART_ALONE);

	*out = (struct part_arg){0};
	switch (takes) {
	case PART_ALONE:
		break;
	case PART_LAST:
		ok = ok && (at == end || (snapshot_number(&at, end, &out->n) && out->n > 0));
		break;
	case PART_PORT:
		ok = ok && snapshot_number(&at, end, &out->port);
		break;
	case PART_STREAM:
		ok = ok && snapshot_number(&at, end, &out->port) && snapshot_take(&at, end, '/') &&
		     snapshot_number(&at, end, &out->stream);
		break;
	case PART_WINDOW:
		ok = ok && snapshot_number(&at, end, &out->port);
		if (ok && snapshot_take(&at, end, '/')) {
			ok = snapshot_number(&at, end, &out->first);
			out->around = ok && snapshot_take(&at, end, '~');
			out->stream = out->around ? out->first : 0;
			ok = ok && (out->around || snapshot_take(&at, end, '+')) &&
			     snapshot_number(&at, end, &out->n) && out->n > 0;
		}
		break;
	}
	return ok && at == end;
}

static int snapshot_there(const struct app *app, const struct item *it, struct err *e)
{
	unsigned n = ctl_nports(app->ctl);

	if (it->part->takes < PART_PORT)
		return 0;
	if (it->arg.port >= n)
		return err_set(e, EINVAL, "part '%s': there is no port %u; ports are 0 to %u",
			       it->part->name, it->arg.port, n - 1);
	if (it->part->takes != PART_STREAM ||
	    ctl_stream_cfg(app->ctl, it->arg.port, it->arg.stream) != NULL)
		return 0;
	return cmd_no_stream(app->cmd, it->arg.port, it->arg.stream, e);
}

/* Parses one item. out->part becomes NULL for "stats", whose keys every snapshot has. */
static int item_parse(const struct app *app, const char *text, size_t len, struct item *out,
		      struct err *e)
{
	size_t name = strcspn(text, ":, ");
	const struct snap_part *part;

	name = name < len ? name : len;
	*out = (struct item){0};
	if (name == 5 && strncmp(text, "stats", 5) == 0)
		return name == len ? 0 : snapshot_unknown(text, len, e);
	for (unsigned i = 0; (part = part_at(i)) != NULL; i++)
		if (strlen(part->name) == name && strncmp(part->name, text, name) == 0)
			out->part = part;
	if (out->part == NULL)
		return snapshot_unknown(text, len, e);
	if (!arg_parse(out->part->takes, text + name, text + len, &out->arg))
		return err_set(e, EINVAL, "'%.*s' is not how this part is asked for: %s%s",
			       len < 60 ? (int)len : 60, text, out->part->name,
			       forms[out->part->takes]);
	return snapshot_there(app, out, e);
}

static int item_put(const struct item *it, struct app *app, const struct snap *s, json_t *doc,
		    struct err *e)
{
	struct portset ports;

	if (it->part->show == NULL)
		return it->part->add(app, s, &it->arg, doc, e);
	app_all_ports(app, &ports);
	json_t *all = it->part->show(app->ctl, &ports);
	json_object_set(doc, it->part->name, json_object_get(all, it->part->from));
	json_decref(all);
	return 0;
}

unsigned part_first_around(struct ctl *ctl, unsigned port, unsigned stream, unsigned n)
{
	unsigned ids = ctl_nstreams(ctl, port), first = stream < ids ? stream : ids, after = 0,
		 before;

	for (unsigned i = first; i < ids && after < n - n / 2; i++)
		after += ctl_stream_cfg(ctl, port, i) != NULL;
	for (before = n - after; first > 0 && before > 0; first--)
		before -= ctl_stream_cfg(ctl, port, first - 1) != NULL;
	return first;
}

static bool same_arg(const struct part_arg *a, const struct part_arg *b)
{
	return a->port == b->port && a->stream == b->stream && a->first == b->first &&
	       a->n == b->n && a->around == b->around;
}

/* Adds an item to the list. Each part fills one key, so a part may be asked for again only with the
 * same numbers; that adds nothing. */
static int item_add(struct item **items, unsigned *n, const struct item *it, struct err *e)
{
	for (unsigned i = 0; i < *n; i++) {
		if ((*items)[i].part != it->part)
			continue;
		if (same_arg(&(*items)[i].arg, &it->arg))
			return 0;
		return err_set(
			e, EINVAL,
			"part '%s' is asked for twice, each time of something else; take two snapshots",
			it->part->name);
	}
	if (it->part == NULL)
		return 0;
	*items = xrealloc(*items, (*n + 1) * sizeof(**items));
	(*items)[(*n)++] = *it;
	return 0;
}

static int items_parse(const struct app *app, const char *list, struct item **items, unsigned *n,
		       struct err *e)
{
	int rc = 0;

	for (const char *at = list + strspn(list, ", "); *at != '\0' && rc == 0;
	     at += strspn(at, ", ")) {
		struct item it;
		size_t len = strcspn(at, ", ");
		rc = item_parse(app, at, len, &it, e);
		if (rc == 0)
			rc = item_add(items, n, &it, e);
		if (rc < 0 && e != NULL)
			e->col = (int)(at - list);
		at += len;
	}
	return rc;
}

json_t *app_snapshot(void *host, const char *list, struct err *e)
{
	struct app *app = host;
	struct item *items = NULL;
	unsigned n = 0;

	if (app->snapshot != NULL)
		return app->snapshot(host, list, e);
	int rc = items_parse(app, list, &items, &n, e);
	if (rc < 0) {
		free(items);
		return NULL;
	}
	struct snap *s = ctl_snapshot(app->ctl);
	json_t *doc = snap_json(s);
	for (unsigned i = 0; i < n && rc == 0; i++)
		rc = item_put(&items[i], app, s, doc, e);
	if (rc < 0) {
		json_decref(doc);
		doc = NULL;
	}
	snap_free(s);
	free(s);
	free(items);
	return doc;
}
