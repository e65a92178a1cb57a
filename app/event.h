/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of the program. Scripts, clients of the socket, the stream of JSON lines and others listen
 * to them. Control thread. */
#pragma once
#include <jansson.h>
#include "base.h"

struct app;

enum app_event_kind {
	APP_EVENT_NOTE,  /* a remark of control; text */
	APP_EVENT_LINK,  /* a port's link changed; text */
	APP_EVENT_START, /* a port begins to send */
	APP_EVENT_END,   /* a port has stopped sending */
	/* an interval of one second has ended: `show stats` has new rates; port is 0 */
	APP_EVENT_TICK,
	APP_EVENT_TRIAL, /* a trial has ended; doc */
	APP_EVENT_CHECK, /* a script has called expect(); text, doc {"passed": true or false} */
	APP_EVENTS
};
/* "note", "link", "start", "end", "interval", "trial", "check" */
extern const char *const app_event_names[APP_EVENTS];

struct app_event {
	enum app_event_kind kind;
	unsigned port;
	const char *text; /* NULL: none */
	json_t *doc;      /* NULL: none; borrowed */
};
typedef void app_event_fn(void *arg, const struct app_event *);

/* fn is called for each event until app_unlisten(). Both functions may be called while an event is
 * told, also by fn. */
struct app_listener *app_listen(struct app *, app_event_fn *fn, void *arg);
void app_unlisten(struct app_listener *); /* NULL: does nothing */
/* Tells all listeners of an event. */
void app_tell(struct app *, const struct app_event *);
/* Tells what control has noticed since the last call. Call it once per turn of the loop. */
void app_events_turn(struct app *);
