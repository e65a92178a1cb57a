/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls functions and properties of the Lua module with arguments of every type, in a small
 * program. The bytes choose what is called with what. Lua itself makes the calls, so that every way
 * into the bindings is taken. Nothing may crash, leak or escape its limits. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cmd_objects.h"
#include "../cmd_scopes.h"
#include "input.h"
#include "script.h"
#include "taken.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

struct port {
	struct rate rate;
	uint64_t count, share, lag;
	uint32_t every;
	bool on;
};
struct stream {
	uint16_t size;
	int kind;
	uint8_t field[VT_FIELD_BYTES];
	char text[VT_TEXT_MAX];
};
static struct {
	struct port port[2];
	struct stream stream[2][2];
	uint64_t pages;
} world;

static const char *const kinds[] = {"udp", "tcp", "udplite", NULL};
#define PORT(m) offsetof(struct port, m)
#define STREAM(m) offsetof(struct stream, m)
static const struct setting rows[] = {
	{"pages", NULL, &scope_global, {&vt_uint, .min = 0, .max = 6}, "4", NULL, "Pages.", 0},
	{"rate", "speed of it", &scope_port, {&vt_rate}, "100%", NULL, "Load.", PORT(rate)},
	{"count", NULL, &scope_port, {&vt_uint}, "0", NULL, "Frames.", PORT(count)},
	{"share", NULL, &scope_port, {&vt_share}, "0", NULL, "Share.", PORT(share)},
	{"lag", NULL, &scope_port, {&vt_duration}, "1ms", NULL, "Lag.", PORT(lag)},
	{"probe", NULL, &scope_port, {&vt_every}, "off", NULL, "Probes.", PORT(every)},
	{"on", NULL, &scope_port, {&vt_bool}, "off", NULL, "Switch.", PORT(on)},
	{"size", NULL, &scope_stream, {&vt_size}, "auto", NULL, "Size.", STREAM(size)},
	{"kind",
	 NULL,
	 &scope_stream,
	 {&vt_enum, .choices = kinds},
	 "udp",
	 NULL,
	 "Kind.",
	 STREAM(kind)},
	{"udp.dst",
	 "dport",
	 &scope_stream,
	 {&vt_fuint, .bits = 16},
	 "0",
	 NULL,
	 "Port.",
	 STREAM(field)},
	{"text", NULL, &scope_stream, {&vt_text}, "a", NULL, "Text.", STREAM(text)},
};

static int run_any(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	(void)args;
	(void)e;
	json_t *doc = json_pack("{s:{s:[{s:i}]}}", "any", "ports", "port", 1);
	cmd_result(r, doc);
	json_decref(doc);
	return VERB_DONE;
}

static int run_wait(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	(void)r;
	(void)args;
	(void)e;
	return VERB_PENDING;
}

static int poll_wait(struct cmd_run *r, struct err *e)
{
	return r->state[0]++ < 2 ? VERB_PENDING
	       : r->state[0] % 2 ? VERB_DONE
				 : err_set(e, EIO, "it did not work");
}

static void cancel(struct cmd_run *r)
{
	(void)r;
}

static const char *const whats[] = {"stats", "rates", NULL};
static const struct arg_spec start_args[] = {{ARG_TARGETS, "ports"},
					     {ARG_WORD, "for", ARG_OPT},
					     {ARG_VALUE, "DURATION", ARG_OPT, {&vt_duration}},
					     {ARG_WORD, "fast", ARG_OPT},
					     {ARG_END}};
static const struct arg_spec show_args[] = {{ARG_CHOICE, "what", ARG_OPT, {.choices = whats}},
					    {ARG_TARGETS, "ports", ARG_OPT | ARG_AFTER},
					    {ARG_END}};
static const struct arg_spec file_args[] = {{ARG_FILE, "FILE"},
					    {ARG_REST, "rest", ARG_OPT},
					    {ARG_END}};
static const struct arg_spec trial_args[] = {{ARG_TARGETS, "ports"},
					     {ARG_WORD, "rate"},
					     {ARG_VALUE, "RATE", 0, {&vt_rate}},
					     {ARG_WORD, "max-loss", ARG_OPT},
					     {ARG_VALUE, "SHARE", ARG_OPT, {&vt_share}},
					     {ARG_END}};
static const struct verb verb_start = {"start", NULL, start_args, "Start.", 0, run_any},
			 verb_show = {"show", NULL, show_args, "Show.", 0, run_any},
			 verb_page = {"show page", NULL, file_args, "Page.", 0, run_any},
			 verb_wait = {"wait", NULL,     start_args, "Wait.",
				      0,      run_wait, poll_wait,  cancel},
			 verb_trial = {"trial", NULL,     trial_args, "Trial.",
				       0,       run_wait, poll_wait,  cancel},
			 verb_quit = {"quit", NULL, NULL, "Quit.", 0, run_any};
static const struct verb *const verbs[] = {&verb_set,  &verb_help, &verb_start, &verb_show,
					   &verb_page, &verb_wait, &verb_trial, &verb_quit};

static json_t *snapshot(void *host, const char *parts, struct err *e)
{
	(void)host;
	if (strcmp(parts, "stats") == 0)
		return json_pack("{s:[{s:i, s:[{s:i}]}]}", "ports", "port", 0, "queues", "queue",
				 1);
	err_at(e, EINVAL, 0, "there is no part '%.40s'", parts);
	return NULL;
}

/* What is called, read or written. */
static const char *const what[] = {
	"wr.start",
	"wr.show",
	"wr.show_page",
	"wr.wait",
	"wr.trial",
	"wr.set",
	"wr.help",
	"wr.quit",
	"wr.verb.show",
	"wr.show.page",
	"wr.cmd",
	"wr.stats",
	"wr.rates",
	"wr.queues",
	"wr.ports",
	"wr.sleep",
	"wr.every",
	"wr.on",
	"wr.now",
	"wr.expect",
	"wr.exit",
	"wr.each",
	"wr.json.encode",
	"wr.json.decode",
	"wr.csv.line",
	"wr.fmt.si",
	"wr.fmt.duration",
	"wr.fmt.digits",
	"print",
	"load",
	"loadstring",
	"require",
	"setmetatable",
	"getmetatable",
	"string.rep",
	"string.find",
	"string.gsub",
	"string.gmatch",
	"string.match",
	"coroutine.wrap",
	"coroutine.resume",
	"pcall",
	"xpcall",
	"tostring",
	"wr.port[0].set",
	"wr.port[1].streams",
	"wr.port[0].start",
	"wr.port[0]",
	"wr.port[0].stream[1]",
	"wr.port.all",
	"wr.port",
	"wr",
	"wr.set",
	"wr.port[0].stream",
	"wr.port[1].stream.all",
	"select",
	"unpack",
	"table.concat",
	"table.sort",
	"os.exit",
	"os.date",
	"math.random",
	"string.format",
	"wr.verb",
	"wr.json",
	"coroutine.create",
};
static const char *const keys[] = {"rate",     "count",    "share",       "lag",     "probe",
				   "on",       "size",     "kind",        "udp.dst", "text",
				   "pages",    "ports",    "duration",    "for_",    "what",
				   "DURATION", "max_loss", "share",       "fast",    "port",
				   "stream",   "id",       "number",      "set",     "all",
				   "",         "dport",    "speed of it", "value",   "setting",
				   "x.y",      "a b"};
static const char *const words[] = {"0",
				    "1",
				    "all",
				    "0/1",
				    "0-1",
				    "for",
				    "2s",
				    "100ms",
				    "10%",
				    "1Mpps",
				    "max",
				    "stats",
				    "rates",
				    "default",
				    "rate",
				    "a b",
				    "{",
				    "'",
				    "%",
				    "[",
				    "64",
				    "on",
				    "link",
				    "none",
				    "1Mpps..2Mpps over 1s",
				    "every 5",
				    "[1,{\"a\":null}]",
				    "\\27LJ",
				    "\\0",
				    "\\255",
				    "return 1",
				    "(.-)*",
				    "%b()",
				    "set 0 rate 5%",
				    "start 0"};
static const char *const number_texts[] = {"0",    "1",     "2",      "-1",         "0.5",
					   "1e6",  "1e300", "-1e300", "1/0",        "0/0",
					   "2^53", "2^63",  "2^64",   "4294967296", "1e-9",
					   "1023", "1024",  "64",     "5LL"};
static const char *const others[] = {
	"nil",
	"true",
	"false",
	"print",
	"function() end",
	"function(...) return ... end",
	"wr",
	"wr.port",
	"wr.port[0]",
	"wr.port[1].stream[0]",
	"wr.port.all",
	"wr.json.null",
	"wr.json.empty_array",
	"wr.stats()",
	"wr.stats().ports",
	"coroutine.create(function() wr.wait(0) coroutine.yield(1) end)",
	"setmetatable({}, {__index = function() return 1 end, __tostring = function() return 1 end})",
	"function() wr.wait(0) end",
	"function() wr.exit(1) end"};

#define PICK(in, list) (list)[byte(in) % ARRAY_SIZE(list)]

static void value(struct input *in, unsigned depth, struct sbuf *out)
{
	switch (byte(in) % (depth < 3 ? 6 : 4)) {
	case 0:
		sbuf_addf(out, "\"%s\"", strcmp(PICK(in, words), "'") == 0 ? "'" : "x");
		break;
	case 1:
		sbuf_addf(out, "%s", PICK(in, number_texts));
		break;
	case 2:
		sbuf_addf(out, "%s", PICK(in, others));
		break;
	case 3: {
		const char *w = PICK(in, words);
		sbuf_addc(out, '"');
		for (; *w != '\0'; w++)
			sbuf_addf(out, *w == '"' ? "\\\"" : "%c", *w);
		sbuf_addc(out, '"');
		break;
	}
	default:
		sbuf_addc(out, '{');
		for (unsigned n = byte(in) % 4; n > 0; n--) {
			if (byte(in) % 2)
				sbuf_addf(out, "[\"%s\"] = ", PICK(in, keys));
			value(in, depth + 1, out);
			sbuf_addc(out, ',');
		}
		sbuf_addc(out, '}');
	}
}

/* Writes what attackers write: a function that comes back to itself through others, loops without
 * an end, texts and tables that grow. */
static void shape(struct input *in, const char *target, unsigned form, struct sbuf *out)
{
	static const char *const metas[] = {"__index", "__newindex", "__tostring",
					    "__call",  "__concat",   "__lt",
					    "__eq",    "__len",      "__unm"};
	static const char *const parts[] = {
		"[],", "{},", "[",    "\\\"a\\\":", "1,",          "a and ",  "x=1 ",
		".-",  "(",   "%b()", "\\1",        "show stats;", "goto a ", "::a::",
	};
	const char *by = PICK(in, what), *meta = PICK(in, metas), *part = PICK(in, parts);

	switch (form) {
	case 5:
		sbuf_addf(out,
			  "local function f(a) %s(\"x\", \"x\", f) %s(f) %s({1, 2, 3}, f) end "
			  "f(f)",
			  target, by, target);
		break;
	case 6:
		sbuf_addf(
			out,
			"local m = {} local t = setmetatable({}, m) m.%s = %s m.__tostring = %s %s(t) "
			"local _ = t.x, t .. t, t < t",
			meta,
			byte(in) % 2 ? by
				     : "function(a, b) return a .. b, a < b, a.x, tostring(a), "
				       "string.format('%s', a) end",
			by, target);
		break;
	case 7:
		sbuf_add(out, "while true do ");
		sbuf_addf(out, "pcall(%s, ", target);
		value(in, 1, out);
		sbuf_add(out, ") end");
		break;
	default:
		sbuf_addf(
			out,
			"local s = \"%s\" for i = 1, %u do s = s .. s end %s(\"%s\" .. s, s) local t "
			"= {} for i = 1, %u do t = {t, t} end %s(t)",
			part, byte(in) % 21u, target, byte(in) % 2 ? "[" : "", byte(in) % 64u, by);
	}
}

/* Writes a statement as try(function() ... end), so that the next one runs whatever becomes of
 * it. */
static void statement(struct input *in, struct sbuf *out)
{
	const char *target = PICK(in, what);
	unsigned form = byte(in) % 9;

	sbuf_add(out, "try(function() ");
	if (form >= 5) {
		shape(in, target, form, out);
	} else if (form < 2) {
		sbuf_addf(out, "local v = %s[", target);
		if (byte(in) % 4)
			sbuf_addf(out, "\"%s\"", PICK(in, keys));
		else
			value(in, 2, out);
		sbuf_add(out, "]");
		if (form == 1)
			sbuf_addf(out, " tostring(v) %s[\"%s\"] = v", target, PICK(in, keys));
	} else if (form == 2) {
		sbuf_addf(out, "%s[\"%s\"] = ", target, PICK(in, keys));
		value(in, 0, out);
	} else {
		sbuf_addf(out, "local a, b = %s(", target);
		for (unsigned n = byte(in) % 5, i = 0; i < n; i++) {
			if (i > 0)
				sbuf_addc(out, ',');
			value(in, 0, out);
		}
		sbuf_addf(out, ")%s", form == 4 ? " tostring(a) wr.json.encode(a)" : "");
	}
	sbuf_add(out, " end)\n");
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	json_set_alloc_funcs(looked_malloc, free);
	return 0;
}

static void ignore(void *arg, const char *word, const char *help)
{
	(void)arg;
	(void)word;
	(void)help;
}

static void run_chunk(struct cmd *cmd, const char *text)
{
	static const char *const events[] = {"link", NULL};
	const struct script_host host = {.cmd = cmd,
					 .snapshot = snapshot,
					 .events = events,
					 .version = "1"};
	const struct script_opts opts = {.sandbox = true,
					 .max_bytes = 8 << 20,
					 .max_ns = 20000000,
					 .batch = true};
	struct sbuf out = {0}, note = {0};
	struct err e;
	int start;

	struct script *s = script_new(&host, &opts, &e);
	size_t before = most_taken = __sanitizer_get_current_allocated_bytes();
	CHECK(s != NULL);
	script_complete(s, text, (int)strlen(text) / 2, &start, ignore, NULL);
	int rc = script_start(s, text, "@f.lua", NULL, 0, &out, &note, &e);
	for (unsigned i = 0; rc >= 0 && i < 60; i++) {
		script_event(s, "link", i, "up", NULL);
		rc = script_poll(s, &e);
		if (rc != VERB_PENDING)
			break;
	}
	CHECK(rc >= 0 || e.text[0] != '\0');
	script_cancel(s);
	CHECK(!script_running(s));
	CHECK(most_taken - before < opts.max_bytes + (4 << 20) &&
	      out.len + note.len < 2 * opts.max_bytes);
	json_decref(script_results(s));
	script_free(s);
	sbuf_free(&out);
	sbuf_free(&note);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct cmd_objects objects = {
		.nports = 2,
		.nstreams = 2,
		.global = &world.pages,
		.port = world.port,
		.stream = world.stream,
		.port_bytes = sizeof(struct port),
		.stream_bytes = sizeof(struct stream),
	};
	const struct cmd_host host = objects_host(&objects);
	const struct setting *list[ARRAY_SIZE(rows)];
	struct input in = {data, data + size};
	struct sbuf text = {0};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		list[i] = &rows[i];
	memset(&world, 0, sizeof(world));
	for (unsigned p = 0; p < 2; p++)
		world.port[p].rate = (struct rate){RATE_PERCENT, 100};
	struct cmd *cmd = cmd_new(list, ARRAY_SIZE(list), verbs, ARRAY_SIZE(verbs), &host);
	sbuf_add(&text, "local function try(f) return pcall(f) end\n");
	for (unsigned n = 0; in.at < in.end && n < 24; n++)
		statement(&in, &text);
	run_chunk(cmd, text.s);
	cmd_free(cmd);
	sbuf_free(&text);
	return 0;
}
