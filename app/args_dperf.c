/* SPDX-License-Identifier: BSD-3-Clause */
/* The option --dperf: from files to items, ports and a map. */
#include "args_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "dperf/dperf.h"
#include "filebytes.h"
#include "out.h"
#include "place.h"
#include "set/set.h"
#include "visible.h"
#include "workload.h"

/* What was given: at most one file of each role. */
struct given {
	struct dperf_conf *client, *server;
	struct filebytes *payload[2];
	enum dperf_mode first;
};

/* As many of the lines as an error has room for. */
static int given_wrong(const struct sbuf *wrong, struct err *e)
{
	const char *text = sbuf_str(wrong);
	size_t n = strlen(text), room = sizeof(e->text) - 128;
	bool more = n > room;

	while (n > room) {
		const char *end = memrchr(text, '\n', n - 1);
		if (end == NULL)
			break;
		n = (size_t)(end - text) + 1;
	}
	return err_set(e, EINVAL, "option --dperf:\n%.*s%s", (int)(n > 0 ? n - 1 : 0), text,
		       more ? "\nmore is wrong behind these" : "");
}

/* Reads the file that connections are to send, whose first bytes say what they do. */
static bool given_payload(struct given *g, struct dperf_conf *c, struct sbuf *wrong)
{
	const char *name = dperf_payload_file(c);
	struct filebytes *f, **at = &g->payload[c->server];
	struct err e;

	if (name == NULL || *at != NULL)
		return true;
	if (filebytes_read(name, WL_WHOLE_MAX, &f, &e) != 0) {
		const struct dperf_line *l = dperf_find(c, DPERF_PAYLOAD_FILE, 0);
		sbuf_addf(wrong, "%s:%u:%u: payload_file: %s\n", c->name, l->line, l->v[0].col,
			  e.text);
		return false;
	}
	*at = filebytes_hold(f);
	c->payload = f->b;
	c->payload_bytes = f->n;
	return true;
}

static int given_read(struct given *g, const char *path, struct err *e)
{
	struct sbuf wrong = {0};
	char *text = NULL;
	int rc = args_read_file(path, &text, e);

	if (rc != 0) {
		free(text);
		return rc;
	}
	struct dperf_conf *c = dperf_read(path, text, strlen(text), &wrong);
	free(text);
	if (c == NULL || !given_payload(g, c, &wrong)) {
		rc = given_wrong(&wrong, e);
		sbuf_free(&wrong);
		dperf_free(c);
		return rc;
	}
	struct dperf_conf **role = c->server ? &g->server : &g->client;
	if (*role != NULL) {
		rc = err_set(
			e, EINVAL,
			"option --dperf: '%s' is of a %s, and so is '%s'; allowed: one of each",
			path, c->server ? "server" : "client", (*role)->name);
		dperf_free(c);
		return rc;
	}
	if (g->first == DPERF_BOTH)
		g->first = c->server ? DPERF_OF_SERVER : DPERF_OF_CLIENT;
	*role = c;
	return 0;
}

static unsigned given_nports(void *arg)
{
	return ((const struct dperf_plan *)arg)->ports;
}

static unsigned given_count(void *arg, const struct cmd_scope *scope, unsigned port)
{
	(void)scope;
	(void)port;
	return ((const struct dperf_plan *)arg)->streams;
}

/* The next command of the settings, in *line without its end; false: there is none. */
static bool given_line(const char **at, struct sbuf *line)
{
	while (**at != '\0') {
		size_t n = strcspn(*at, "\n");
		bool is = n > 0 && **at != '#';
		sbuf_reset(line);
		sbuf_addn(line, *at, n);
		*at += n + ((*at)[n] == '\n');
		if (is)
			return true;
	}
	return false;
}

/* Values that dperf allows and a setting here does not: each is told where the file has it, before
 * anything is opened or printed. */
static void given_check(struct dperf_plan *p, struct sbuf *wrong)
{
	struct app app = {0};
	struct cmd_host host = {.arg = p, .nports = given_nports, .count = given_count}, real;
	unsigned nsettings, nverbs, n = 0;
	const struct setting *const *settings = set_rows(&nsettings);
	const struct verb *const *verbs = cmd_verbs(&nverbs);
	const char *at = sbuf_str(&p->settings);
	struct sbuf line = {0};
	struct err e;

	app_host(&app, &real);
	host.row = real.row;
	struct cmd *c = cmd_new(settings, nsettings, verbs, nverbs, &host);
	for (unsigned i = 0; given_line(&at, &line); i++) {
		if (cmd_check(c, sbuf_str(&line), &e) == 0)
			continue;
		if (++n <= DPERF_WRONG_MOST)
			sbuf_addf(wrong, "%s:%u:%u: '%.60s' cannot be: %s\n", p->from[i].name,
				  p->from[i].line, p->from[i].col, line.s, e.text);
	}
	cmd_free(c);
	sbuf_free(&line);
}

static struct args_item given_item(const char *where, const char *text)
{
	return (struct args_item){.where = xstrdup(where), .text = xstrdup(text)};
}

/* Each setting is an item of its own, so that one that is refused is told by its place in the file
 * of dperf. */
static void given_settings(const struct dperf_plan *p, struct args_item *item)
{
	const char *at = sbuf_str(&p->settings);
	struct sbuf line = {0}, where = {0};

	for (unsigned n = 0; given_line(&at, &line); n++) {
		sbuf_reset(&where);
		sbuf_addf(&where, "%s:%u:%u", p->from[n].name, p->from[n].line, p->from[n].col);
		item[n] = given_item(where.s, line.s);
	}
	sbuf_free(&line);
	sbuf_free(&where);
}

/* The list of ports and the map are freed with the program's options, which point into them. */
static int given_ports(struct args *a, const struct dperf_plan *p, struct err *e)
{
	const char *at = sbuf_str(&p->spec);

	a->dperf_text = xstrdup(at);
	for (char *line = a->dperf_text; *line != '\0';) {
		size_t n = strcspn(line, "\n");
		char *next = line + n + (line[n] == '\n');
		line[n] = '\0';
		const struct dperf_from *d = &p->device[a->nports];
		if (n == 0)
			return err_set(
				e, EINVAL,
				"option --dperf:\n%s:%u:%u: port %u is a bond, which no kind "
				"of port is; name a port for each port line by -p",
				d->name, d->line, d->col, a->nports);
		struct sbuf where = {0};
		sbuf_addf(&where, "%s:%u:%u: ", d->name, d->line, d->col);
		a->port = xrealloc(a->port, (a->nports + 1) * sizeof(*a->port));
		a->dperf_device =
			xrealloc(a->dperf_device, (a->nports + 1) * sizeof(*a->dperf_device));
		a->dperf_device[a->nports] = where.s;
		a->port[a->nports++] = line;
		line = next;
	}
	return 0;
}

/* The files' map, if the user has none. Where -p says what the ports are, nobody knows yet how many
 * queues they can have. */
static void given_map(struct args *a, const struct dperf_plan *p, bool own_ports)
{
	if (p->map.len == 0 || a->nmaps > 0)
		return;
	a->dperf_map = xstrdup(p->map.s);
	if (own_ports) {
		a->hint = a->dperf_map;
		return;
	}
	a->map = xrealloc(a->map, sizeof(*a->map));
	a->map[a->nmaps++] = a->dperf_map;
}

/* How many workers a map can name. Options of EAL may make lcores as they like: then nobody knows
 * before it has begun (0). */
static unsigned given_workers(const struct args *a)
{
	int cpu[PLACE_USUAL_LCORES], of[PLACE_USUAL_LCORES];

	for (unsigned i = 0; i < a->neal; i++)
		if (place_is_lcore_option(a->eal[i]))
			return 0;
	unsigned n = place_usual(cpu, place_cpus(cpu), of);
	return n == 0 ? 0 : n - 1;
}

/* What becomes of the CPUs of the files, if it is not what they say. A map of the user's own needs
 * no note. */
static void given_notes(struct args *a, const struct dperf_plan *p)
{
	struct sbuf b = {0};

	if (a->nmaps > 0 && a->dperf_map == NULL)
		return;
	dperf_notes(p, "wirerate: note: ", &b);
	a->dperf_notes = b.s;
}

/* The settings come before the items of other options, and the run behind them. With a prompt the
 * screen shows the page, and with --json or --csv the last document has its numbers. */
static void given_items(struct args *a, const struct dperf_plan *p)
{
	bool prompt = a->command == NULL && !a->batch && !a->daemon && !a->serve && !p->daemon &&
		      isatty(STDIN_FILENO);
	unsigned n = p->nfrom + prompt;
	struct sbuf last = {0};

	a->dperf_prints = !prompt && a->out_mode == OUT_TEXT && !a->stream;
	a->dperf_quiet = p->quiet;
	a->dperf_clear = p->clear_screen;
	const char *show = a->dperf_prints ? "" : sbuf_str(&p->show);
	sbuf_addf(&last, "%s%s", sbuf_str(&p->stop), show);
	a->dperf_stop = xstrdup(last.s);
	sbuf_reset(&last);
	sbuf_addf(&last, "%s%s%s", sbuf_str(&p->run), show,
		  p->daemon && !a->daemon && !a->serve ? "shutdown\n" : "");
	a->daemon = a->daemon || (p->daemon && !a->serve);
	a->item = xrealloc(a->item, (a->nitems + n + 1) * sizeof(*a->item));
	if (a->nitems > 0)
		memmove(a->item + n, a->item, a->nitems * sizeof(*a->item));
	given_settings(p, a->item);
	if (prompt)
		a->item[p->nfrom] = given_item("--dperf page:1", "page dperf\n");
	a->nitems += n;
	a->item[a->nitems++] = given_item(sbuf_str(&p->places), sbuf_str(&last));
	sbuf_free(&last);
}

static int given_use(struct args *a, const struct dperf_plan *p, struct err *e)
{
	if (a->what == ARGS_DPERF_DUMP) {
		struct sbuf out = {0};
		dperf_dump(p, &out);
		a->text = out.s;
		return 0;
	}
	bool own_ports = a->nports > 0 || a->neal > 0;
	if (!own_ports) {
		int rc = given_ports(a, p, e);
		if (rc != 0)
			return rc;
	}
	given_map(a, p, own_ports);
	given_notes(a, p);
	a->dperf_ports = p->ports;
	if (a->mtu == 0)
		a->mtu = p->mtu;
	given_items(a, p);
	return 0;
}

int args_dperf(struct args *a, struct err *e)
{
	struct given g = {0};
	struct dperf_plan plan;
	struct sbuf wrong = {0};
	int rc = 0;

	if (a->ndperf == 0)
		return a->what != ARGS_DPERF_DUMP
			       ? 0
			       : err_set(e, EINVAL,
					 "option --dperf-dump needs a file: `wirerate --dperf FILE --dperf-dump`");
	for (unsigned i = 0; i < a->ndperf && rc == 0; i++)
		rc = given_read(&g, a->dperf[i], e);
	if (rc == 0) {
		if (dperf_translate(g.client, g.server, g.first, given_workers(a), &plan, &wrong))
			given_check(&plan, &wrong);
		rc = wrong.len > 0 ? given_wrong(&wrong, e) : given_use(a, &plan, e);
		dperf_plan_free(&plan);
	}
	sbuf_free(&wrong);
	dperf_free(g.client);
	dperf_free(g.server);
	for (unsigned i = 0; i < ARRAY_SIZE(g.payload); i++)
		filebytes_drop(g.payload[i]);
	return rc;
}

int args_dperf_ports(const struct args *a, unsigned nports, struct err *e)
{
	if (nports >= a->dperf_ports)
		return 0;
	return err_set(
		e, EINVAL,
		"the `port` lines of the files of --dperf need %u ports, and there are %u; name one by "
		"-p for each line",
		a->dperf_ports, nports);
}

/* Errors begin with "port 'SPEC'" before ports have numbers, and then with "port N (SPEC)". */
const char *args_dperf_place(const struct args *a, const char *error)
{
	for (unsigned i = 0; a->dperf_device != NULL && i < a->nports; i++) {
		const char *at = strstr(error, a->port[i]);
		size_t n = strlen(a->port[i]);
		if (strncmp(error, "port ", 5) == 0 && at > error &&
		    ((at[-1] == '\'' && at[n] == '\'') || (at[-1] == '(' && at[n] == ')')))
			return a->dperf_device[i];
	}
	return "";
}

void args_dperf_tell(const struct args *a, const char *lacks)
{
	visible_print(stderr, "%s", a->dperf_notes != NULL ? a->dperf_notes : "");
	if (lacks != NULL)
		visible_print(
			stderr,
			"wirerate: note: option --dperf: the program chooses the workers of ports, since the map of the files, "
			"'%s', cannot be used: %s\n",
			a->hint, lacks);
}
