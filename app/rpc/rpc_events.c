/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends events to the clients that have subscribed to them. */
#include "rpc_in.h"

#include <stdlib.h>
#include <string.h>

#include "out.h"

static json_t *event_json(struct rpc *r, const struct app_event *ev)
{
	json_t *doc = json_object();

	json_object_set_new(doc, "event", json_string(app_event_names[ev->kind]));
	if (ev->kind == APP_EVENT_TICK) {
		json_t *stats = r->snapshot(r->app, "stats", NULL);
		if (stats != NULL)
			json_object_set_new(doc, "stats", stats);
		return doc;
	}
	if (ev->kind != APP_EVENT_TRIAL)
		json_object_set_new(doc, "port", json_integer(ev->port));
	if (ev->text != NULL)
		json_object_set_new(doc, "text", out_json_text(ev->text));
	if (ev->doc != NULL)
		json_object_update_missing(doc, ev->doc);
	return doc;
}

/* Says whether an event of n bytes may wait for this client. Events may fill only a quarter of the
 * limit, so that there is room for answers. */
static bool events_room(const struct client *c, size_t n)
{
	return client_backlog(c) + n + 1 <= c->rpc->opts.limits.out_bytes / 4;
}

/* The line `dropped` stands where events are missing, before those that follow. */
void events_missed(struct client *c)
{
	if (c->missed == 0 || !events_room(c, 64))
		return;
	unsigned n = c->missed;
	c->missed = 0;
	send_object(c, json_pack("{s:s, s:i}", "event", "dropped", "count", (int)n));
}

void events_tell(void *arg, const struct app_event *ev)
{
	struct rpc *r = arg;
	char *line = NULL;
	size_t n = 0;

	for (struct client *c = r->clients; c != NULL; c = c->next) {
		if (c->script != NULL && !c->dead)
			script_event(c->script, app_event_names[ev->kind], ev->port, ev->text,
				     ev->doc);
		if (!(c->events & 1u << ev->kind) || c->dead || c->end_ns != 0)
			continue;
		if (line == NULL) {
			json_t *doc = event_json(r, ev);
			line = json_dumps(doc, JSON_COMPACT);
			json_decref(doc);
			if (line == NULL)
				return;
			n = strlen(line);
		}
		events_missed(c);
		if (c->missed > 0 || !events_room(c, n)) {
			c->missed++;
			continue;
		}
		sbuf_addn(&c->out, line, n);
		sbuf_addc(&c->out, '\n');
	}
	free(line);
}
