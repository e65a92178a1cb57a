/* SPDX-License-Identifier: BSD-3-Clause */
/* lua 'chunk', script FILE args...: run Lua in the session's own state. */
#include "lua_host.h"
#include "verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct running {
	struct script *script;
	bool shows; /* print what the chunk returns */
};
_Static_assert(sizeof(struct running) <= VERB_STATE_BYTES, "state of a verb");

static struct running *lua_state(struct cmd_run *r)
{
	return (struct running *)r->state;
}

static void lua_show(struct cmd_run *r, json_t *v)
{
	if (r->out_mode == OUT_TEXT && json_is_string(v)) {
		sbuf_addf(r->out, "%s\n", json_string_value(v));
	} else if (r->out_mode != OUT_JSON && (json_is_object(v) || json_is_array(v))) {
		json_t *doc = json_is_object(v) ? json_incref(v) : json_pack("{s:O}", "list", v);
		out_write((enum out_mode)r->out_mode, doc, NULL, r->out);
		json_decref(doc);
	} else if (r->out_mode == OUT_TEXT && json_is_real(v)) {
		value_digits(json_real_value(v), r->out);
		sbuf_addc(r->out, '\n');
	} else {
		char *text =
			json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
		sbuf_addf(r->out, "%s\n", text != NULL ? text : "");
		free(text);
	}
}

/* To be called when a chunk has ended: prints what it returned, makes results of the command of it,
 * and sets the exit code. */
static int lua_ended(struct cmd_run *r)
{
	json_t *list = script_results(lua_state(r)->script), *v;
	size_t i;

	json_array_foreach(list, i, v) {
		if (lua_state(r)->shows && !(json_is_null(v) && json_array_size(list) == 1))
			lua_show(r, v);
		cmd_result(r, v);
	}
	json_decref(list);
	r->exit_code = script_exit_code(lua_state(r)->script);
	return VERB_DONE;
}

/* Moves the traceback from the notes (from offset `from` on) to the end of the error's text, so
 * that it is printed after the message. Lines for which there is no room are dropped. */
static void move_trace(struct sbuf *note, size_t from, struct err *e)
{
	const char *trace = note->len > from ? strstr(note->s + from, "stack traceback:") : NULL;
	size_t used = strlen(e->text), at = trace != NULL ? (size_t)(trace - note->s) : 0, n;

	if (trace == NULL)
		return;
	for (const char *line = trace; *line != '\0'; line += n + (line[n] == '\n')) {
		n = strcspn(line, "\n");
		if (used + n + 2 > sizeof(e->text))
			break;
		e->text[used++] = '\n';
		memcpy(e->text + used, line, n);
		used += n;
		e->text[used] = '\0';
	}
	note->len = at;
	note->s[at] = '\0';
}

static int poll_script(struct cmd_run *r, struct err *e)
{
	size_t noted = r->note->len;
	int rc = script_poll(lua_state(r)->script, e);

	if (rc < 0)
		move_trace(r->note, noted, e);
	return rc == VERB_DONE ? lua_ended(r) : rc;
}

static bool lua_progress(const struct cmd_run *r, struct cmd_progress *out)
{
	return script_progress(((const struct running *)r->state)->script, out);
}

static void lua_cancel(struct cmd_run *r)
{
	script_cancel(lua_state(r)->script);
}

static int run_lua(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	/* a `start` without a bound is allowed, because ports may send while the chunk runs */
	app_of(r)->oneshot = false;
	int rc;
	struct script *s = app_script(r, false, &rc, e);

	if (s != NULL)
		rc = script_start(s, args[0].text, "=lua", NULL, 0, r->out, r->note, e);
	if (s == NULL || rc < 0)
		return rc;
	*lua_state(r) = (struct running){.script = s, .shows = true};
	return poll_script(r, e);
}

/* Finds the words behind the file's name, whose column is col. The line is split into w, with the
 * texts in buf; the words that are wanted begin at w[*first]. Returns their number. */
static unsigned words_behind(const char *line, int col, struct cmd_word *w, unsigned max, char *buf,
			     size_t size, unsigned *first)
{
	int n = cmd_split(line, w, max, buf, size, NULL);

	for (*first = 0; n > 0 && *first < (unsigned)n && w[*first].col <= col; ++*first)
		;
	return n > 0 ? (unsigned)n - *first : 0;
}

static int run_script(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	size_t size = 2 * strlen(r->line) + 64;
	unsigned max = (unsigned)strlen(r->line) + 1, first;
	int rc;

	app_of(r)->oneshot = false; /* as above */
	struct script *s = app_script(r, true, &rc, e);

	if (s == NULL)
		return rc;
	struct cmd_word *w = xcalloc(max, sizeof(*w));
	const char **words = xcalloc(max, sizeof(*words));
	char *buf = xcalloc(1, size);
	unsigned n = words_behind(r->line, args[0].col, w, max, buf, size, &first);
	for (unsigned i = 0; i < n; i++)
		words[i] = w[first + i].text;
	rc = script_start_file(s, args[0].text, words, n, r->out, r->note, e);
	if (rc < 0 && e->col >= 0)
		e->col += args[0].col;
	free(w);
	free(words);
	free(buf);
	if (rc < 0)
		return rc;
	*lua_state(r) = (struct running){.script = s};
	return poll_script(r, e);
}

static const struct arg_spec args_lua[] = {{ARG_REST, "chunk"}, {ARG_END}};
static const struct arg_spec args_script[] = {{ARG_FILE, "FILE"},
					      {ARG_REST, "args", ARG_OPT},
					      {ARG_END}};

const struct verb verb_lua = {
	.name = "lua",
	.args = args_lua,
	.run = run_lua,
	.poll = poll_script,
	.cancel = lua_cancel,
	.progress = lua_progress,
	.flags = VERB_NO_LOAD,
	.help = "Run a piece of Lua: lua 'for p = 0, 1 do wr.start(p) end'.\n"
		"What it returns is printed; an expression alone is returned: lua wr.port[0].rate. Quote what holds blanks, ; or #.\n"
		"Variables stay until the session ends. `wr` is the module wirerate: settings are properties, commands are functions.\n"
		"Ctrl-C ends it, also in a loop; ports keep sending.",
};
const struct verb verb_script = {
	.name = "script",
	.args = args_script,
	.run = run_script,
	.poll = poll_script,
	.cancel = lua_cancel,
	.progress = lua_progress,
	.flags = VERB_NO_LOAD | VERB_TRUSTED,
	.help = "Run a file of Lua: script sweep.lua 64 1518. Its arguments are `...` and the table `arg`.\n"
		"An error is told with file, line and a traceback, and is a refused command (exit code 2); a failed expect() gives 1.\n"
		"require() finds modules beside the file, in ~/.config/wirerate/lua, and those that came with the program.\n"
		"It ends when it has returned and no timer of every() is left. The option -f FILE.lua does the same.",
};
