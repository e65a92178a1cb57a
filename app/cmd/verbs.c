/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts the table of verbs together, and has the functions that verbs share. */
#include "verbs.h"
#include "face.h"
#include "pieces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VERB(at, name) extern const struct verb verb_##name;
#include "verb_list.h"
#undef VERB

#define VERB(at, name) {at, &verb_##name},
static const struct verb_row own_rows[] = {
#include "verb_list.h"
	{600, &verb_set},
	{600, &verb_help},
	{0},
};
#undef VERB

static const void *verbs_of(const struct face *f)
{
	return f->verbs;
}

static void verbs_put(const struct verb ***all, unsigned *n, const struct verb *verb)
{
	*all = xrealloc(*all, (*n + 1) * sizeof(**all));
	(*all)[(*n)++] = verb;
}

static void verbs_add(const struct verb ***all, unsigned *n, const struct verb_row *row)
{
	if (row->verb != NULL)
		verbs_put(all, n, row->verb);
	for (const struct verb *v = row->list; v != NULL && v->name != NULL; v++)
		verbs_put(all, n, v);
}

const struct verb *const *cmd_verbs(unsigned *n)
{
	static const struct verb **all;
	static unsigned nall;

	if (all == NULL) {
		unsigned nrows;
		const void **rows = pieces(own_rows, verbs_of, sizeof(own_rows[0]), &nrows);
		show_make();
		for (const struct face *const *f = faces; *f != NULL; f++)
			if ((*f)->make != NULL)
				(*f)->make();
		for (unsigned i = 0; i < nrows; i++)
			verbs_add(&all, &nall, rows[i]);
		free(rows);
	}
	*n = nall;
	return all;
}

int verb_turn(struct cmd_run *r, const char *word, const struct portset *ports, bool on,
	      struct err *e)
{
	for (const struct face *const *f = faces; *f != NULL; f++)
		if ((*f)->turns != NULL && strcmp((*f)->turns, word) == 0)
			return (*f)->turn(r, ports, on, e);
	return err_set(e, EINVAL, "%s: nothing in this build has that", word);
}

int verb_start_other(struct cmd_run *r, const char *word, const struct arg_val *args, struct err *e)
{
	for (const struct face *const *f = faces; *f != NULL; f++)
		if ((*f)->starts != NULL && strcmp((*f)->starts->name, word) == 0) {
			r->verb = (*f)->starts;
			return r->verb->run(r, args, e);
		}
	return err_set(e, EINVAL, "%s: nothing in this build has that", word);
}

int verb_show_received(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	for (const struct face *const *f = faces; *f != NULL; f++)
		if ((*f)->received != NULL) {
			r->verb = (*f)->received;
			return r->verb->run(r, args, e);
		}
	return err_set(e, EINVAL, "rx: nothing in this build keeps received frames");
}

void verb_out(struct cmd_run *r, int mode, json_t *doc, const struct out_view *view)
{
	cmd_result(r, doc);
	out_write((enum out_mode)mode, doc, view, r->out);
}

int arg_ports(const struct cmd_run *r, const struct arg_val *a, struct portset *out, struct err *e)
{
	int rc = app_ports(app_of(r), &a->target, false, out, e);

	if (rc < 0)
		e->col = a->col;
	return rc;
}

int arg_ports_or_all(const struct cmd_run *r, const struct arg_val *a, struct portset *out,
		     struct err *e)
{
	if (a->given)
		return arg_ports(r, a, out, e);
	app_all_ports(app_of(r), out);
	return 0;
}

void ports_short(const struct portset *ports, struct sbuf *out)
{
	const char *sep = "";

	for (unsigned p = 0; p < PORTSET_MAX; p++) {
		if (!portset_has(ports, p))
			continue;
		unsigned last = p;
		while (portset_has(ports, last + 1))
			last++;
		sbuf_addf(out, "%s%u", sep, p);
		if (last > p)
			sbuf_addf(out, "-%u", last);
		sep = ",";
		p = last;
	}
}

void ports_print(const struct portset *ports, struct sbuf *out)
{
	const char *sep = "";

	for (unsigned p = 0; p < PORTSET_MAX; p++) {
		if (!portset_has(ports, p))
			continue;
		sbuf_addf(out, "%s%u", sep, p);
		sep = ", ";
	}
}
