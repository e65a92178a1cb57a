/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands that run when a script ends, however it ends, so that what it started is stopped and
 * what it changed is put back. The last one runs first. A command that takes time is started and
 * not waited for. */
#include "script_int.h"

#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 1000 };

struct script_at_end {
	struct script_at_end *next; /* the command that was given before this one */
	char *line;
};

/* at_end(line) keeps a command for the end of the script. */
static int at_end(lua_State *L)
{
	struct script *s = script_of(L);
	size_t len;
	const char *line = luaL_checklstring(L, 1, &len);

	if (strlen(line) != len)
		return luaL_error(L, "the command holds a zero byte");
	if (s->opts.sandbox)
		return luaL_error(
			L,
			"at_end is for scripts that are run here, not for chunks that come from elsewhere");
	if (s->nat_end >= LINES_MAX)
		return luaL_error(L, "%d commands wait for the end of the script already",
				  LINES_MAX);
	struct script_at_end *a = xcalloc(1, sizeof(*a));
	*a = (struct script_at_end){.next = s->at_end, .line = xstrdup(line)};
	s->at_end = a;
	s->nat_end++;
	return 0;
}

static void run_line(struct script *s, const char *text)
{
	struct sbuf out = {0}, line = {0};
	struct err e = {.col = -1};
	struct cmd_run r = {.host = s->host.cmd_host,
			    .out = &out,
			    .note = s->note,
			    .out_mode = OUT_JSON,
			    .batch = s->opts.batch};

	sbuf_add(&line, text);
	int rc = cmd_exec(s->host.cmd, &r, sbuf_str(&line), &e);
	if (rc == VERB_PENDING)
		/* what the command does (`stop`) has begun, and nothing waits for its end */
		cmd_cancel(&r);
	if (rc < 0)
		sbuf_addf(s->note, "at the end of the script: %s: %s\n", text, e.text);
	json_decref(r.results);
	sbuf_free(&out);
	sbuf_free(&line);
}

void script_run_at_end(struct script *s)
{
	while (s->at_end != NULL) {
		struct script_at_end *a = s->at_end;
		s->at_end = a->next;
		run_line(s, a->line);
		free(a->line);
		free(a);
	}
	s->nat_end = 0;
}

void script_at_end_open(lua_State *L, int module)
{
	lua_pushcfunction(L, at_end);
	lua_setfield(L, module, "at_end");
}
