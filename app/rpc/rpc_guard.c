/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of commands and settings for remote sessions. They are copies in which each verb
 * checks first whether the session may do this. So a command is refused however it is reached, also
 * from Lua. */
#include "rpc_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/verbs.h"
#include "set/set.h"

struct guarded {
	struct verb v; /* must be first: cmd_run.verb points to it, and is cast to struct guarded */
	const struct verb *real; /* the verb that it stands for */
	struct rpc *rpc;
	unsigned allow;
	struct arg_spec args[CMD_MAX_ARGS + 1];
};

/* The copy of a setting whose value may name a file. Its type accepts nothing but `none`. */
struct guarded_setting {
	struct setting s;
	struct vtype type;
};

static int guard_refuse(struct err *e, int col, const char *what, const char *word)
{
	return err_at(
		e, EACCES, col,
		"%s not taken over TCP and from Lua in its sandbox; the program takes them when it is started with "
		"--rpc-allow %s",
		what, word);
}

static bool is_file(const struct arg_spec *a)
{
	return a->kind == ARG_FILE || (a->flags & ARG_PATH);
}

static int run_guarded(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	const struct guarded *g = (const struct guarded *)r->verb;
	const struct verb *v = g->real;

	if ((v->flags & VERB_TRUSTED) && !(g->allow & RPC_ALLOW_LUA))
		return guard_refuse(e, 0, "scripts of files are", "lua");
	if ((v->flags & VERB_ENDS) && !(g->allow & RPC_ALLOW_QUIT))
		return guard_refuse(e, 0, "commands that end the program are", "quit");
	for (unsigned i = 0; v->args != NULL && v->args[i].kind != ARG_END; i++) {
		if (!args[i].given)
			continue;
		if (is_file(&v->args[i]) && !(g->allow & RPC_ALLOW_FILES))
			return guard_refuse(e, args[i].col, "names of files are", "files");
		if ((v->args[i].flags & ARG_RUNS) && !(g->allow & RPC_ALLOW_LUA))
			return guard_refuse(e, args[i].col, "commands of the shell are", "lua");
	}
	return v->run(r, args, e);
}

/* Makes arguments that are files plain texts where files are refused, because completion must not
 * list files then. */
static void hide_files(struct guarded *g)
{
	unsigned n = 0;

	if (g->real->args == NULL || (g->allow & RPC_ALLOW_FILES))
		return;
	for (; n < CMD_MAX_ARGS && g->real->args[n].kind != ARG_END; n++) {
		g->args[n] = g->real->args[n];
		if (g->args[n].kind == ARG_FILE) {
			g->args[n].kind = ARG_VALUE;
			g->args[n].v = (struct vspec){.type = &vt_text};
		}
	}
	g->args[n] = (struct arg_spec){ARG_END};
	g->v.args = g->args;
}

static int parse_guarded(const struct vspec *s, const char *text, void *out, struct err *e)
{
	if (strcmp(text, "none") == 0)
		return s->of->type->parse(s->of, text, out, e);
	return guard_refuse(e, 0, "names of files are", "files");
}

/* The rows of all settings, in which copies replace those that may name a file, if files are
 * refused. Returns a new array. */
static const struct setting **guard_settings(struct guard *guard, unsigned allow, unsigned *n)
{
	const struct setting *const *all = set_rows(n);
	const struct setting **rows = xcalloc(*n, sizeof(*rows));
	unsigned files = 0;

	for (unsigned i = 0; i < *n; i++) {
		rows[i] = all[i];
		files += (all[i]->flags & SET_FILE) != 0;
	}
	if (allow & RPC_ALLOW_FILES)
		return rows;
	guard->settings = xcalloc(files, sizeof(*guard->settings));
	for (unsigned i = 0, k = 0; i < *n; i++) {
		if (!(all[i]->flags & SET_FILE))
			continue;
		struct guarded_setting *g = &guard->settings[k++];
		g->s = *all[i];
		g->type = *all[i]->v.type;
		g->type.parse = parse_guarded;
		g->type.complete = NULL;
		g->s.v.type = &g->type;
		g->s.v.of = &all[i]->v;
		rows[i] = &g->s;
	}
	return rows;
}

void guard_open(struct guard *guard, struct rpc *r, unsigned allow)
{
	unsigned nsettings, n;
	const struct setting **settings = guard_settings(guard, allow, &nsettings);
	const struct verb *const *verbs = cmd_verbs(&n);
	const struct verb **rows = xcalloc(n, sizeof(*rows));
	struct cmd_host host;

	app_host(r->app, &host);
	guard->rows = xcalloc(n, sizeof(*guard->rows));
	for (unsigned i = 0; i < n; i++) {
		struct guarded *g = &guard->rows[i];
		*g = (struct guarded){.v = *verbs[i], .real = verbs[i], .rpc = r, .allow = allow};
		g->v.run = run_guarded;
		hide_files(g);
		rows[i] = &g->v;
	}
	guard->cmd = cmd_new(settings, nsettings, rows, n, &host);
	free(rows);
	free(settings);
}

void guard_close(struct guard *guard)
{
	cmd_free(guard->cmd);
	free(guard->rows);
	free(guard->settings);
	*guard = (struct guard){0};
}
