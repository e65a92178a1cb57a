/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the annotations for LuaLS and the reference manual, by loops over the tables and over the
 * list of the module's own functions. */
#include "script_int.h"

#include <ctype.h>
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

static void put_fields(struct cmd *cmd, const struct cmd_scope *scope, struct sbuf *out)
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

static void put_level_fields(struct cmd *cmd, enum scope_level level, struct sbuf *out)
{
	for (unsigned i = 0; i < cmd_nscopes(cmd); i++)
		if (cmd_scope_at(cmd, i)->level == level)
			put_fields(cmd, cmd_scope_at(cmd, i), out);
}

/* Appends the name of the class of a scope's objects: "Stream". */
static void put_class_name(const struct cmd_scope *scope, struct sbuf *out)
{
	sbuf_addf(out, "%c%s", toupper((unsigned char)scope->name[0]), scope->name + 1);
}

/* Appends what every class has: the method set(). */
static void put_class_set(const char *class, struct sbuf *out)
{
	sbuf_addf(
		out,
		"local %s = {}\n---@param settings table names and values: all of them are set, or none\nfunction "
		"%s:set(settings) end\n",
		class, class);
}

/* Appends the class of ports. A port has what its bare objects have, and lists of all objects. */
static void put_port_class(struct cmd *cmd, struct sbuf *out)
{
	struct sbuf lists = {0}, functions = {0};

	sbuf_add(out, "\n\n---@class wirerate.Port");
	for (unsigned i = 0; i < cmd_nscopes(cmd); i++) {
		const struct cmd_scope *scope = cmd_scope_at(cmd, i);
		struct sbuf class = {0};
		if (scope->level != LEVEL_NUMBERED)
			continue;
		put_class_name(scope, &class);
		if (scope->bare)
			sbuf_addf(out, ": wirerate.%s", class.s);
		sbuf_addf(&lists, "---@field %s table<integer|\"all\", wirerate.%s>\n", scope->name,
			  class.s);
		sbuf_addf(&functions,
			  "---@return fun(): integer, wirerate.%s\nfunction Port:%ss() end\n",
			  class.s, scope->name);
		sbuf_free(&class);
	}
	sbuf_addf(out, "\n%s---@field number integer\n", sbuf_str(&lists));
	put_level_fields(cmd, LEVEL_PORT, out);
	put_class_set("Port", out);
	sbuf_addf(out, "%s\n", sbuf_str(&functions));
	sbuf_free(&lists);
	sbuf_free(&functions);
}

static void put_object_classes(struct cmd *cmd, struct sbuf *out)
{
	for (unsigned i = 0; i < cmd_nscopes(cmd); i++) {
		const struct cmd_scope *scope = cmd_scope_at(cmd, i);
		struct sbuf class = {0};
		if (scope->level != LEVEL_NUMBERED)
			continue;
		put_class_name(scope, &class);
		sbuf_addf(
			out,
			"---@class wirerate.%s\n---@field id integer\n---@field port wirerate.Port\n",
			class.s);
		put_fields(cmd, scope, out);
		put_class_set(class.s, out);
		sbuf_addc(out, '\n');
		sbuf_free(&class);
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
	put_port_class(cmd, out);
	put_object_classes(cmd, out);
	sbuf_add(
		out,
		"---@class wirerate.Handle\nlocal Handle = {}\nfunction Handle:stop() end\n\n---@class wirerate\n");
	put_level_fields(cmd, LEVEL_PROGRAM, out);
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

/* Appends the heading of a scope's settings, and how they are written. */
static void put_table_head(const struct cmd_scope *scope, struct sbuf *out)
{
	bool vowel = strchr("aeiou", scope->name[0]) != NULL;
	struct sbuf at = {0};

	if (scope->level == LEVEL_PROGRAM) {
		sbuf_add(
			out,
			"\n## Settings of no port\n\n`wr.set.NAME`, `wr.NAME` where the module has nothing else of that name.\n");
		return;
	}
	if (scope->level == LEVEL_NUMBERED)
		sbuf_addf(&at, ".%s[%c]", scope->name, toupper((unsigned char)scope->name[0]));
	sbuf_addf(out, "\n## Settings of %s %s\n\n`wr.port[N]%s.NAME`", vowel ? "an" : "a",
		  scope->name, sbuf_str(&at));
	if (scope->bare)
		sbuf_addf(out, "; `wr.port[N].NAME` is that of %s 0, where the port has none",
			  scope->name);
	sbuf_add(out, ".\n");
	sbuf_free(&at);
}

static void put_table(struct cmd *cmd, const struct cmd_scope *scope, struct sbuf *out)
{
	put_table_head(scope, out);
	sbuf_add(out, "\n| name | value | default | meaning |\n|---|---|---|---|\n");
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
	for (unsigned i = 0; i < cmd_nscopes(cmd); i++)
		put_table(cmd, cmd_scope_at(cmd, i), out);
}
