/* SPDX-License-Identifier: BSD-3-Clause */
#include "event.h"

#include <stdlib.h>

#include "app.h"

const char *const app_event_names[APP_EVENTS] = {
	[APP_EVENT_NOTE] = "note",   [APP_EVENT_LINK] = "link",     [APP_EVENT_START] = "start",
	[APP_EVENT_END] = "end",     [APP_EVENT_TICK] = "interval", [APP_EVENT_TRIAL] = "trial",
	[APP_EVENT_CHECK] = "check",
};

/* A listener. One that ends while an event is told is only marked, and freed afterwards. */
struct app_listener {
	struct app_listener *next;
	struct app *app;
	app_event_fn *fn; /* NULL: it no longer listens */
	void *arg;
};

static void event_sweep(struct app *app)
{
	struct app_listener **p = &app->listeners;

	while (*p != NULL) {
		struct app_listener *l = *p;
		if (l->fn == NULL) {
			*p = l->next;
			free(l);
		} else {
			p = &l->next;
		}
	}
}

struct app_listener *app_listen(struct app *app, app_event_fn *fn, void *arg)
{
	struct app_listener *l = xcalloc(1, sizeof(*l));

	*l = (struct app_listener){.next = app->listeners, .app = app, .fn = fn, .arg = arg};
	app->listeners = l;
	return l;
}

void app_unlisten(struct app_listener *l)
{
	if (l == NULL)
		return;
	l->fn = NULL;
	if (l->app->telling == 0)
		event_sweep(l->app);
}

void app_tell(struct app *app, const struct app_event *ev)
{
	app->telling++;
	for (struct app_listener *l = app->listeners; l != NULL; l = l->next)
		if (l->fn != NULL)
			l->fn(l->arg, ev);
	app->telling--;
	if (app->telling == 0)
		event_sweep(app);
}

void app_events_turn(struct app *app)
{
	struct ctl_event ev;

	while (ctl_event_next(app->ctl, &ev))
		app_tell(app,
			 &(struct app_event){.kind = ev.kind == CTL_EVENT_LINK ? APP_EVENT_LINK
									       : APP_EVENT_NOTE,
					     .port = ev.port,
					     .text = ev.text});
	for (unsigned p = 0; p < ctl_nports(app->ctl); p++) {
		uint64_t run = ctl_run_id(app->ctl, p), was = app->told_run[p];
		bool sends = ctl_sending(app->ctl, p);
		if (was != 0 && (run != was || !sends)) {
			app->told_run[p] = 0;
			app_tell(app, &(struct app_event){.kind = APP_EVENT_END, .port = p});
		}
		if (sends && was != run) {
			app->told_run[p] = run;
			app_tell(app, &(struct app_event){.kind = APP_EVENT_START, .port = p});
		}
	}
}
