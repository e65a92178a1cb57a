/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the annotations for LuaLS and the reference manual, by loops over the tables and over the
 * list of the module's own functions. */
#include "script_int.h"

#include <string.h>

static const char warning[] = "Made by `wirerate --dump-lua%s` from the program's tables.";

/* Appends the type that reading a setting gives and writing it accepts. */
static void put_type(const struct setting *s, struct sbuf *out)
{
	const struct vtype *t = s->v.type;

	if (t == NULL) {
		sbuf_add(out, "string|number");
	} else if (t == &vt_bool) {
		sbuf_add(out, "boolean");
	} else if (t == &vt_enum && s->v.choices != NULL) {
		for (unsigned i = 0; s->v.choices[i] != NULL; i++)
			sbuf_addf(out, "%s\"%s\"", i > 0 ? "|" : "", s->v.choices[i]);
	} else if (t == &vt_every) {
		sbuf_add(out, "boolean|number|string");
	} else {
		sbuf_add(out, t->plain != NULL ? "number|string" : "string");
	}
}

static void put_first(const char *help, struct sbuf *out)
{
	sbuf_addn(out, help, strcspn(help, "\n"));
}

static void put_fields(struct cmd *cmd, enum cmd_scope scope, struct sbuf *out)
{
	for (unsigned i = 0; i < cmd_nsettings(cmd); i++) {
		const struct setting *s = cmd_setting_at(cmd, i);
		if (s->scope != scope || (s->flags & SET_LATER))
			continue;
		sbuf_addf(out, "---@field [\"%s\"] ", s->name);
		put_type(s, out);
		sbuf_addc(out, ' ');
		put_first(s->help, out);
		if (s->unit != NULL)
			sbuf_addf(out, " (%s)", s->unit);
		sbuf_addc(out, '\n');
	}
}

static bool is_fn(const char *key)
{
	for (unsigned i = 0; i < script_nfns; i++)
		if (strcmp(script_fns[i].name, key) == 0)
			return true;
	return false;
}

static void put_lines(const char *prefix, const char *text, struct sbuf *out)
{
	for (size_t n; *text != '\0'; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		sbuf_addf(out, "%s%.*s\n", prefix, (int)n, text);
	}
}

static void put_verb(const struct verb *v, struct sbuf *out)
{
	struct sbuf key = {0}, syntax = {0};

	verb_key(v, &key);
	cmd_verb_syntax(v, &syntax);
	put_lines("---", v->help, out);
	sbuf_addf(out, "---Command: %s\n", sbuf_str(&syntax));
	sbuf_add(
		out,
		"---@return any document what it would have printed, true where that is nothing\n---@return integer exit_code\n");
	sbuf_addf(out, "function wr.%s%s(...) end\n\n", is_fn(key.s) ? "verb." : "", key.s);
	sbuf_free(&key);
	sbuf_free(&syntax);
}

void script_annotations(struct cmd *cmd, struct sbuf *out)
{
	sbuf_add(out, "---@meta wirerate\n-- ");
	sbuf_addf(out, warning, "");
	sbuf_add(
		out,
		"\n\n---@class wirerate.Port: wirerate.Stream\n---@field stream table<integer|\"all\", wirerate.Stream>\n---@field "
		"number integer\n");
	put_fields(cmd, SCOPE_PORT, out);
	sbuf_add(
		out,
		"local Port = {}\n---@param settings table names and values: all of them are set, or none\nfunction "
		"Port:set(settings) end\n"
		"---@return fun(): integer, wirerate.Stream\nfunction Port:streams() end\n\n---@class wirerate.Stream\n---@field id "
		"integer\n"
		"---@field port wirerate.Port\n");
	put_fields(cmd, SCOPE_STREAM, out);
	sbuf_add(
		out,
		"local Stream = {}\n---@param settings table names and values: all of them are set, or none\nfunction "
		"Stream:set(settings) end\n\n"
		"---@class wirerate.Handle\nlocal Handle = {}\nfunction Handle:stop() end\n\n---@class wirerate\n");
	put_fields(cmd, SCOPE_GLOBAL, out);
	for (unsigned i = 0; i < script_nfns; i++)
		if (script_fns[i].args == NULL)
			sbuf_addf(out, "---@field %s %s %s\n", script_fns[i].name,
				  script_fns[i].returns, script_fns[i].help);
	sbuf_add(out, "local wr = {}\nwr.verb = {}\n\n");
	for (unsigned i = 0; i < script_nfns; i++) {
		const struct script_fn *f = &script_fns[i];
		if (f->args == NULL)
			continue;
		struct sbuf args = {0};
		for (const char *p = f->args; *p != '\0'; p++)
			if (*p != '?')
				sbuf_addc(&args, *p);
		sbuf_addf(out, "---%s\n---@return %s\nfunction wr.%s(%s) end\n\n", f->help,
			  f->returns, f->name, sbuf_str(&args));
		sbuf_free(&args);
	}
	for (unsigned i = 0; i < cmd_nverbs(cmd); i++)
		if (!(cmd_verb_at(cmd, i)->flags & VERB_LATER))
			put_verb(cmd_verb_at(cmd, i), out);
	sbuf_add(out, "return wr\n");
}

/* Appends text for a cell of a Markdown table, which a bar would end. */
static void put_cell(const char *text, struct sbuf *out)
{
	for (; *text != '\0' && *text != '\n'; text++) {
		if (*text == '|')
			sbuf_addc(out, '\\');
		sbuf_addc(out, *text);
	}
}

static void put_table(struct cmd *cmd, enum cmd_scope scope, const char *title, const char *how,
		      struct sbuf *out)
{
	sbuf_addf(out, "\n## %s\n\n%s\n\n| name | value | default | meaning |\n|---|---|---|---|\n",
		  title, how);
	for (unsigned i = 0; i < cmd_nsettings(cmd); i++) {
		const struct setting *s = cmd_setting_at(cmd, i);
		struct sbuf allowed = {0};
		if (s->scope != scope || (s->flags & SET_LATER))
			continue;
		vspec_allowed(&s->v, &allowed);
		sbuf_addf(out, "| `%s` | ", s->name);
		put_cell(sbuf_str(&allowed), out);
		sbuf_add(out, " | ");
		put_cell(s->dflt != NULL ? s->dflt : "", out);
		sbuf_add(out, " | ");
		put_cell(s->help, out);
		sbuf_add(out, " |\n");
		sbuf_free(&allowed);
	}
}

static const char intro[] =
	"Scripts are run by `-f FILE.lua`, `script FILE args...` and `lua 'chunk'`. `local wr = require \"wirerate\"` gives the module; "
	"it is also the\n"
	"global `wr`.\n\n"
	"- Settings are properties: `wr.port[0].rate = \"10%\"`, `wr.port[0].stream[3][\"udp.dst\"] = \"1000..2000\"`. A number is in "
	"base units (frames per\n"
	"  second, nanoseconds, bytes, bit/s, a share of 1); reading gives a number where there is one, a boolean for a switch, else the "
	"text that\n"
	"  `show` prints, so that `x = x` changes nothing. Whole numbers above 2^53 are text. nil is the default.\n"
	"  `wr.port[0]:set{rate = 1e6, count = 100}` sets all of them or none.\n"
	"- Commands are functions: words by position, `wr.start(0, \"for\", \"2s\")`, or arguments by name, `wr.start{ports = 0, duration "
	"= \"2s\"}`. A name\n"
	"  that Lua reserves has an underscore behind it. They print nothing and give the document that `--json` would print (several: an "
	"array;\n"
	"  none: true) and the exit code. A document that is one object under one name is that object.\n"
	"- In documents `ports`, `queues`, `streams`, `workers` are indexed by their numbers, from 0 on, where no number occurs twice; "
	"`null` is nil;\n"
	"  whole numbers above 2^53, like `wall_ns`, are text of digits, which arithmetic takes.\n"
	"- A command that is refused raises an error: `tostring(e)` is its text with file and line; `e.text`, `e.code`, `e.command`, "
	"`e.col`, `e.where`.\n"
	"- What takes time gives way: screen, prompt and other sessions go on. So does every loop after 20 ms; until then all that is set "
	"is one\n"
	"  change of what is sent. A script ends when it has returned, its timers are stopped and their calls have returned; functions of "
	"on() alone\n"
	"  do not keep it alive. Then what still runs of it is cancelled; ports keep sending at the prompt and are stopped in batch.\n"
	"- Exit codes: 2 an error, with a traceback; else the highest of the commands that it ran and of expect(), where a failed one is 1:\n"
	"  a criterion that was judged by a trial that is not valid (4) is not called failed. exit(code) decides.\n";

void script_manual(struct cmd *cmd, struct sbuf *out)
{
	sbuf_add(out, "# Lua in wirerate\n\n");
	sbuf_addf(out, warning, "-manual");
	sbuf_addf(out, "\n\n%s\n## The module\n\n", intro);
	for (unsigned i = 0; i < script_nfns; i++) {
		const struct script_fn *f = &script_fns[i];
		sbuf_addf(out, "- `wr.%s%s%s%s` %s\n", f->name, f->args != NULL ? "(" : "",
			  f->args != NULL ? f->args : "", f->args != NULL ? ")" : "", f->help);
	}
	sbuf_add(out, "\n## Commands\n");
	for (unsigned i = 0; i < cmd_nverbs(cmd); i++) {
		const struct verb *v = cmd_verb_at(cmd, i);
		struct sbuf key = {0}, syntax = {0};
		if (v->flags & VERB_LATER)
			continue;
		verb_key(v, &key);
		cmd_verb_syntax(v, &syntax);
		sbuf_addf(out, "\n### wr.%s%s\n\n    %s\n\n%s\n", is_fn(key.s) ? "verb." : "",
			  key.s, sbuf_str(&syntax), v->help);
		sbuf_free(&key);
		sbuf_free(&syntax);
	}
	put_table(cmd, SCOPE_GLOBAL, "Settings of no port",
		  "`wr.set.NAME`, `wr.NAME` where the module has nothing else of that name.", out);
	put_table(cmd, SCOPE_PORT, "Settings of a port", "`wr.port[N].NAME`.", out);
	put_table(cmd, SCOPE_STREAM, "Settings of a stream",
		  "`wr.port[N].stream[S].NAME`; `wr.port[N].NAME` is that of stream 0, where "
		  "the port has none.",
		  out);
}
