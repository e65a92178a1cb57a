/* SPDX-License-Identifier: BSD-3-Clause */
/* Things that happen in the program, told to whoever listens: scripts, clients of the socket, the stream of JSON lines. Control thread. */
#pragma once
#include <jansson.h>
#include "base.h"

struct app;

enum app_event_kind {
	APP_EVENT_NOTE,  /* a remark of control; text */
	APP_EVENT_LINK,  /* a port's link changed; text */
	APP_EVENT_START, /* a port begins to send */
	APP_EVENT_END,   /* a port has stopped sending */
	APP_EVENT_TICK,  /* control's interval of a second has ended: `show stats` has new rates; port 0 */
	APP_EVENT_TRIAL, /* a trial has ended; doc */
	APP_EVENT_CHECK, /* a check of a script, expect(): text, doc {"passed": true or false} */
	APP_EVENTS
};
extern const char *const app_event_names[APP_EVENTS]; /* "note", "link", "start", "end", "interval", "trial", "check" */

struct app_event {
	enum app_event_kind kind;
	unsigned port;
	const char *text; /* NULL: none */
	json_t *doc;      /* NULL: none; borrowed */
};
typedef void app_event_fn(void *arg, const struct app_event *);

/* What listens may stop to do so, or begin, while it is told. */
struct app_listener *app_listen(struct app *, app_event_fn *fn, void *arg);
void app_unlisten(struct app_listener *); /* NULL: nothing */
void app_tell(struct app *, const struct app_event *);
/* Once per turn: tell what control has noticed since the last. */
void app_events_turn(struct app *);
