/* SPDX-License-Identifier: BSD-3-Clause */
/* The host of the command language: it says which ports, streams and settings there are, and passes
 * on what has changed. Control owns most of these settings. */
#include "app.h"
#include "examine.h"
#include "set/set.h"

#include <errno.h>
#include <string.h>

#include "script.h"

unsigned app_nports(const struct app *app)
{
	return app->ctl != NULL ? ctl_nports(app->ctl) : app->remote_nports;
}

static unsigned host_nports(void *arg)
{
	return app_nports(arg);
}

/* ---- scopes: where their objects are, and what is done when one of their rows has changed ---- */

/* The reasons (WHY_*) with which control is told of a changed row. A row that names none may have
 * changed anything. */
static uint32_t why_of(const struct setting *row)
{
	return (row->why != 0 ? row->why : WHY_ALL) |
	       ((row->flags & SET_RESTART) != 0 ? WHY_RESTART : 0);
}

static void *global_object(void *arg, unsigned port, unsigned id)
{
	(void)port;
	(void)id;
	return arg;
}

static void global_changed(void *arg, const struct setting *row, unsigned port, unsigned id)
{
	struct app *app = arg;

	(void)row;
	(void)port;
	(void)id;
	view_touch(&app->view);
	tester_apply(app);
}

static void *port_object(void *arg, unsigned port, unsigned id)
{
	const struct app *app = arg;

	(void)id;
	return app->ctl != NULL ? ctl_port_cfg(app->ctl, port) : NULL;
}

static void port_changed(void *arg, const struct setting *row, unsigned port, unsigned id)
{
	struct app *app = arg;

	(void)id;
	portset_add(&app->written, port);
	ctl_touch(app->ctl, port, why_of(row));
}

static unsigned stream_count(void *arg, unsigned port)
{
	const struct app *app = arg;

	return app->ctl != NULL ? ctl_nstreams(app->ctl, port) : 0;
}

static void *stream_object(void *arg, unsigned port, unsigned id)
{
	const struct app *app = arg;

	return app->ctl != NULL ? ctl_stream_cfg(app->ctl, port, id) : NULL;
}

static void stream_changed(void *arg, const struct setting *row, unsigned port, unsigned id)
{
	struct app *app = arg;

	portset_add(&app->written, port);
	ctl_touch_stream(app->ctl, port, (int)id, why_of(row));
}

const struct cmd_scope scope_global = {.level = LEVEL_PROGRAM,
				       .name = "global",
				       .object = global_object,
				       .changed = global_changed};
const struct cmd_scope scope_port = {.level = LEVEL_PORT,
				     .name = "port",
				     .object = port_object,
				     .changed = port_changed};
const struct cmd_scope scope_stream = {.level = LEVEL_NUMBERED,
				       .name = "stream",
				       .bare = true,
				       .count = stream_count,
				       .object = stream_object,
				       .changed = stream_changed};

static unsigned host_count(void *arg, const struct cmd_scope *scope, unsigned port)
{
	return scope->count(arg, port);
}

static void *host_object(void *arg, const struct cmd_scope *scope, unsigned port, unsigned id)
{
	return scope->object(arg, port, id);
}

static void host_changed(void *arg, const struct setting *row, unsigned port, unsigned id)
{
	(row->scope->changed != NULL ? row->scope->changed : port_changed)(arg, row, port, id);
}

static int host_may_set(void *arg, const struct setting *row, unsigned port, struct err *e)
{
	const struct app *app = arg;

	if (row->scope->level == LEVEL_PROGRAM || !(row->flags & (SET_STOPPED | SET_RESTART)) ||
	    !ctl_sending(app->ctl, port))
		return 0;
	return err_set(e, EBUSY, "'%s' cannot change while port %u is sending; `stop %u` first",
		       row->name, port, port);
}

static const struct setting *host_row(void *arg, const char *name, struct err *e)
{
	(void)arg;
	const struct setting *row = set_row_named(name);
	if (row == NULL && e != NULL)
		set_row_wrong(name, e);
	return row;
}

/* A completion of Lua, which offers names, becomes one that offers the whole chunk with the name at
 * its end. */
struct chunk_offer {
	const char *text; /* the chunk */
	int start;        /* where the name begins in it */
	void (*offer)(void *to, const char *word, const char *help);
	void *to;
};

static void offer_name(void *arg, const char *word, const char *help)
{
	struct chunk_offer *o = arg;
	struct sbuf all = {0};

	sbuf_addn(&all, o->text, (size_t)o->start);
	sbuf_add(&all, word);
	o->offer(o->to, all.s, help);
	sbuf_free(&all);
}

/* Where the devices go that complete a word behind `doctor`. */
struct device_offer {
	const char *word; /* what is typed of it */
	void (*offer)(void *to, const char *word, const char *help);
	void *to;
};

static void offer_device(void *arg, const char *name, const char *about)
{
	const struct device_offer *o = arg;

	if (strncmp(name, o->word, strlen(o->word)) == 0)
		o->offer(o->to, name, about);
}

static void host_complete(void *arg, const struct verb *v, const char *text,
			  void (*offer)(void *to, const char *word, const char *help), void *to)
{
	const struct app *app = arg;
	struct chunk_offer o = {.text = text, .offer = offer, .to = to};

	if (strcmp(v->name, "lua") == 0 && app->cmd != NULL)
		script_complete_line(app->cmd, text, (int)strlen(text), &o.start, offer_name, &o);
	/* The client of `attach` does not see the machine of the program that serves. */
	if (strcmp(v->name, "doctor") == 0 && app->ctl != NULL) {
		struct device_offer d = {.word = text, .offer = offer, .to = to};
		doctor_devices(examine_root(), offer_device, &d);
	}
}

void app_host(struct app *app, struct cmd_host *host)
{
	*host = (struct cmd_host){
		.arg = app,
		.known = cmd_known_words,
		.nports = host_nports,
		.count = host_count,
		.object = host_object,
		.may_set = host_may_set,
		.changed = host_changed,
		.row = host_row,
		.complete = host_complete,
		.program = app,
	};
}

void app_all_ports(const struct app *app, struct portset *out)
{
	*out = (struct portset){0};
	for (unsigned p = 0; p < app_nports(app) && p < PORTSET_MAX; p++)
		portset_add(out, p);
}

int app_ports(const struct app *app, const struct target *t, bool streams_ok, struct portset *out,
	      struct err *e)
{
	unsigned nports = app_nports(app);
	struct portset set = {0};

	for (unsigned i = 0; i < t->n; i++) {
		uint32_t last = t->item[i].p1;

		if (t->item[i].has_streams && !streams_ok)
			return err_set(
				e, EINVAL,
				"this command takes ports, not streams; leave out what follows the '/'");
		if (last == UINT32_MAX)
			last = nports - 1;
		if (nports == 0 || last >= nports)
			return err_set(
				e, EINVAL,
				"there is no port %u; ports are 0 to %u, `show ports` lists them",
				last, nports - 1);
		for (uint32_t p = t->item[i].p0; p <= last; p++)
			portset_add(&set, p);
	}
	*out = set;
	return 0;
}

unsigned app_first_stream(const struct app *app, unsigned port)
{
	unsigned n = app->ctl != NULL ? ctl_nstreams(app->ctl, port) : 0, s = 0;

	while (s + 1 < n && ctl_stream_cfg(app->ctl, port, s) == NULL)
		s++;
	return s;
}

void app_tell_reach(const struct app *app, const struct portset *ports, struct sbuf *note)
{
	for (unsigned p = 0; p < ctl_nports(app->ctl); p++) {
		struct sbuf text = {0};
		if (portset_has(ports, p))
			ctl_reach_text(app->ctl, p, &text);
		for (const char *line = sbuf_str(&text); *line != '\0';) {
			size_t n = strcspn(line, "\n") + 1;
			sbuf_add(note, "warning: ");
			sbuf_addn(note, line, n);
			line += n;
		}
		sbuf_free(&text);
	}
}

void app_tell_stuck(const struct app *app, const struct portset *ports, struct sbuf *note)
{
	for (unsigned p = 0; p < ctl_nports(app->ctl); p++)
		if (portset_has(ports, p) && ctl_stuck(app->ctl, p))
			sbuf_addf(
				note,
				"wait: port %u: the device has taken no frame for 10 s (`show stats`: link, stalls); "
				"stop %u gives up the rest\n",
				p, p);
}
