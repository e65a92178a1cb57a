/* SPDX-License-Identifier: BSD-3-Clause */
/* The option --dperf: from files to items, ports and a map. */
#include "args_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dperf/dperf.h"
#include "out.h"

/* What was given: at most one file of each role. */
struct given {
	struct dperf_conf *client, *server;
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
	if (c == NULL) {
		rc = given_wrong(&wrong, e);
		sbuf_free(&wrong);
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

static struct args_item given_item(const char *where, const char *text)
{
	return (struct args_item){.where = xstrdup(where), .text = xstrdup(text)};
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
		if (n == 0)
			return err_set(
				e, EINVAL,
				"option --dperf: port %u is a bond, which no kind of port is; name a "
				"port for each port line by -p",
				a->nports);
		a->port = xrealloc(a->port, (a->nports + 1) * sizeof(*a->port));
		a->port[a->nports++] = line;
		line = next;
	}
	if (p->map.len > 0 && a->nmaps == 0) {
		a->dperf_map = xstrdup(p->map.s);
		a->map = xrealloc(a->map, sizeof(*a->map));
		a->map[a->nmaps++] = a->dperf_map;
	}
	return 0;
}

/* The settings come before the items of other options, and the run behind them. With a prompt the
 * screen shows the page, and with --json or --csv the last document has its numbers. */
static void given_items(struct args *a, const struct dperf_plan *p)
{
	bool prompt = a->command == NULL && !a->batch && !a->daemon && !a->serve && !p->daemon &&
		      isatty(STDIN_FILENO);
	struct sbuf first = {0}, last = {0};

	a->dperf_prints = !prompt && a->out_mode == OUT_TEXT && !a->stream;
	a->dperf_quiet = p->quiet;
	a->dperf_clear = p->clear_screen;
	a->dperf_stop = xstrdup(sbuf_str(&p->stop));
	sbuf_addf(&first, "%s%s", sbuf_str(&p->settings), prompt ? "page dperf\n" : "");
	sbuf_addf(&last, "%s%s%s", sbuf_str(&p->run), a->dperf_prints ? "" : sbuf_str(&p->show),
		  p->daemon && !a->daemon && !a->serve ? "shutdown\n" : "");
	a->daemon = a->daemon || (p->daemon && !a->serve);
	a->item = xrealloc(a->item, (a->nitems + 2) * sizeof(*a->item));
	memmove(a->item + 1, a->item, a->nitems * sizeof(*a->item));
	a->item[0] = given_item("--dperf:1", sbuf_str(&first));
	a->item[a->nitems + 1] = given_item("--dperf run:1", sbuf_str(&last));
	a->nitems += 2;
	sbuf_free(&first);
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
	if (a->nports == 0 && a->neal == 0) {
		int rc = given_ports(a, p, e);
		if (rc != 0)
			return rc;
	}
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
		rc = dperf_translate(g.client, g.server, g.first, &plan, &wrong)
			     ? given_use(a, &plan, e)
			     : given_wrong(&wrong, e);
		dperf_plan_free(&plan);
	}
	sbuf_free(&wrong);
	dperf_free(g.client);
	dperf_free(g.server);
	return rc;
}
