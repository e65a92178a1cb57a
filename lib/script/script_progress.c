/* SPDX-License-Identifier: BSD-3-Clause */
/* How far a script has come: what it says itself with progress(), and what the command says for
 * which it waits. */
#include "script_int.h"

#include <math.h>
#include <string.h>

/* progress(done, all, text) says how much of its work the script has done. Without arguments,
 * progress() takes that back. */
static int progress_it(lua_State *L)
{
	struct script *s = script_of(L);

	if (lua_isnoneornil(L, 1)) {
		s->says = (struct script_says){.text = ""};
		return 0;
	}
	if (lua_type(L, 1) != LUA_TNUMBER || lua_type(L, 2) != LUA_TNUMBER)
		return script_misuse(
			L,
			"progress() takes two numbers, what is done and of how much, not %s and %s",
			luaL_typename(L, 1), luaL_typename(L, 2));
	double done = lua_tonumber(L, 1), all = lua_tonumber(L, 2);
	if (!(all > 0 && done >= 0 && done <= all) || isinf(all))
		return script_misuse(
			L,
			"%f of %f is no progress; what is done goes from 0 to all there is, and that is above 0",
			done, all);
	size_t len = 0;
	const char *text = lua_isnoneornil(L, 3) ? "" : script_text(L, 3, &len);
	s->says = (struct script_says){.said = true, .share = done / all, .at_ns = script_now_ns()};
	snprintf(s->says.text, sizeof(s->says.text), "%s", text);
	return 0;
}

/* Fills share and left_ns, supposing that the script goes on as fast as it did until it called
 * progress() last. */
static void progress_left(const struct script *s, struct cmd_progress *out)
{
	double all = s->says.share > 0 ? (double)(s->says.at_ns - s->begin_ns) / s->says.share : 0;
	double gone = (double)(script_now_ns() - s->begin_ns);

	out->share = s->says.share;
	if (all >= gone)
		out->left_ns = (uint64_t)(all - gone);
}

/* Appends the progress of the command that the chunk itself is waiting for. */
static void add_command(const struct script *s, struct sbuf *text)
{
	const struct script_task *t = s->main;
	struct cmd_progress p;

	if (t == NULL || t->waits != WAITS_RUN || t->run == NULL || t->run->ended ||
	    !cmd_run_progress(&t->run->run, &p))
		return;
	sbuf_addf(text, "%s%s", text->len > 0 ? ": " : "", p.text);
}

bool script_progress(const struct script *s, struct cmd_progress *out)
{
	struct sbuf text = {0};

	if (!s->running)
		return false;
	if (s->says.said) {
		progress_left(s, out);
		sbuf_add(&text, s->says.text);
	} else {
		sbuf_add(&text, "script, ");
		cmd_progress_span(script_now_ns() - s->begin_ns, &text);
	}
	add_command(s, &text);
	snprintf(out->text, sizeof(out->text), "%s", sbuf_str(&text));
	sbuf_free(&text);
	return true;
}

void progress_open(lua_State *L, int module)
{
	lua_pushcfunction(L, progress_it);
	lua_setfield(L, module, "progress");
}
