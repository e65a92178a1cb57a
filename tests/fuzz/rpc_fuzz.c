/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives a server bytes of clients in any portions, with what they may hold: lines of JSON,
 * commands, cancels, more than fits. There are two clients, one of which has to give a token, and
 * the program has no control and has commands of its own. Each line that is whole must be answered
 * at most once, what comes back must be JSON line by line, and nothing may be left. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cmd_objects.h"
#include "input.h"
#include "rpc/rpc_in.h"
#include "taken.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

#define TOKEN "0123456789abcdef"
#define CHUNK_NS 300000000ull /* most time of a chunk of Lua */
#define LAST_NS 2000000000ull /* time that requests have after the last byte */

static struct app app;
static unsigned pending;

static int run_say(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	json_t *doc = json_pack("{s:s}", "say", "it");

	(void)e;
	sbuf_addf(r->out, "%s\n", args[0].text);
	sbuf_addf(r->note, "said %s\n", args[0].text);
	cmd_result(r, doc);
	json_decref(doc);
	return VERB_DONE;
}

static int run_fail(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	(void)r;
	return err_at(e, EINVAL, args[0].col, "no: %s", args[0].text);
}

/* Takes as many polls as the first letter of its text says. */
static int run_hold(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	(void)e;
	r->state[0] = (uint8_t)args[0].text[0] & 7;
	pending++;
	return VERB_PENDING;
}

static int poll_hold(struct cmd_run *r, struct err *e)
{
	(void)e;
	sbuf_add(r->out, "still\n");
	if (r->state[0]-- > 0)
		return VERB_PENDING;
	pending--;
	return VERB_DONE;
}

static void cancel_hold(struct cmd_run *r)
{
	(void)r;
	pending--;
}

static const struct arg_spec rest[] = {{ARG_REST, "text"}, {ARG_END}};
static const struct verb say = {.name = "say", .args = rest, .help = "say", .run = run_say};
static const struct verb refuse = {.name = "fail", .args = rest, .help = "fail", .run = run_fail};
static const struct verb hold = {.name = "hold",
				 .args = rest,
				 .help = "hold",
				 .run = run_hold,
				 .poll = poll_hold,
				 .cancel = cancel_hold};
static const struct verb *const verbs[] = {&say, &refuse, &hold};

static struct cmd *language(void)
{
	static struct cmd_objects nothing;
	const struct cmd_host host = objects_host(&nothing);

	return cmd_new(NULL, 0, verbs, ARRAY_SIZE(verbs), &host);
}

static json_t *snapshot(void *host, const char *parts, struct err *e)
{
	CHECK(host == &app);
	if (parts[0] != 's') {
		err_at(e, EINVAL, 0, "no part '%.100s'", parts);
		return NULL;
	}
	return json_object();
}

static bool progress(const void *host, struct cmd_progress *out)
{
	CHECK(host == &app);
	*out = (struct cmd_progress){.text = "some \xc3",
				     .share = (pending & 7) / 8.0,
				     .left_ns = CMD_LEFT_UNKNOWN};
	return pending > 0;
}

/* Returns a whole server, but with a language that needs no control, because the program's own is
 * not tested here. */
static struct rpc *server(void)
{
	static struct rpc *r;
	struct rpc_opts opts = {.version = "0"};

	if (r != NULL)
		return r;

	rpc_limits_init(&opts.limits);
	opts.limits.rate = 0;
	opts.limits.line_bytes = 300000;
	opts.limits.queue = 3;
	opts.limits.out_bytes = 64000;
	opts.limits.lua_ns = CHUNK_NS;
	r = rpc_new(&app, &opts);
	r->snapshot = snapshot;
	r->progress = progress;
	cmd_free(r->open.cmd);
	cmd_free(r->strict.cmd);
	r->open.cmd = language();
	r->strict.cmd = language();
	r->token.len = strlen(TOKEN);
	memcpy(r->token.text, TOKEN, sizeof(TOKEN));
	return r;
}

/* Reads the lines that have come back since the last time. Returns how many of them are answers. */
static unsigned read_lines(struct client *c, bool *authed)
{
	unsigned n = 0;

	for (char *line = c->out.s, *nl; line != NULL && (nl = strchr(line, '\n')) != NULL;
	     line = nl + 1) {
		json_t *doc = json_loadb(line, (size_t)(nl - line), JSON_REJECT_DUPLICATES, NULL);
		CHECK(json_is_object(doc));
		if (json_object_get(doc, "ok") != NULL) {
			n++;
			CHECK(json_object_get(doc, "id") != NULL);
			CHECK(json_is_true(json_object_get(doc, "ok")) !=
			      (json_object_get(doc, "error") != NULL));
			/* Before the token nothing is granted but the token itself. */
			CHECK(*authed || !json_is_true(json_object_get(doc, "ok")) || c->authed);
			if (!*authed && json_is_true(json_object_get(doc, "ok")))
				*authed = true;
		}
		json_decref(doc);
	}
	CHECK(c->out.len == 0 || c->out.s[c->out.len - 1] == '\n');
	sbuf_reset(&c->out);
	c->sent = 0;
	return n;
}

static bool idle(const struct client *c)
{
	return c->end_ns != 0 || (!client_busy(c) && (c->hungry || c->deny_ns != 0));
}

/* Sends the same text again and again: documents that grow, commands in chains. */
static void much(struct client *c, struct input *in)
{
	static const char *const parts[] = {"[],",    "{},",     "[", "{\"a\":", "1,", "\"\",",
					    "say x;", "hold z;", ";", "\\u0001", " ",  "\"a\":1,"};
	const char *part = parts[byte(in) % ARRAY_SIZE(parts)];
	struct sbuf text = {0};

	for (unsigned n = 64u << byte(in) % 11; n > 0; n--)
		sbuf_add(&text, part);
	client_input(c, text.s, text.len);
	sbuf_free(&text);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	json_set_alloc_funcs(looked_malloc, free);
	(void)argc;
	(void)argv;
	app.loop = loop_new();
	view_init(&app.view);
	return app.loop == NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, data + size};
	struct rpc *r = server();
	struct client *c[2] = {client_new(r, -1, false, "one"), client_new(r, -1, true, "two")};
	bool authed[2] = {true, false};
	unsigned lines[2] = {0}, answers[2] = {0};
	const struct view before = app.view;
	const size_t before_input = most_taken = __sanitizer_get_current_allocated_bytes();

	if (byte(&in) & 1)
		client_input(c[1], "{\"auth\":\"" TOKEN "\"}\n", strlen(TOKEN) + 12), lines[1]++;
	while (in.at < in.end) {
		unsigned what = byte(&in), who = what & 1, n = what >> 1;
		n = n < (size_t)(in.end - in.at) ? n : (unsigned)(in.end - in.at);
		if (n == 127 && in.at < in.end) {
			much(c[who], &in);
			n = 0;
		}
		for (unsigned i = 0; i < n; i++)
			lines[who] += in.at[i] == '\n';
		client_input(c[who], (const char *)in.at, n);
		in.at += n;
		for (unsigned i = 0; i < 1 + (what & 3); i++)
			rpc_turn(r);
		if (what & 4)
			events_tell(r, &(struct app_event){.kind = APP_EVENT_LINK,
							   .port = who,
							   .text = "a \xff link"});
		for (unsigned i = 0; i < 2; i++)
			answers[i] += read_lines(c[i], &authed[i]);
	}
	/* A chunk may go on for its time, however slow the machine is. */
	const uint64_t end = loop_now_ns() + LAST_NS;
	for (unsigned turn = 0; (turn < 400 || loop_now_ns() < end) && !(idle(c[0]) && idle(c[1]));
	     turn++) {
		rpc_turn(r);
		for (unsigned i = 0; i < 2; i++)
			answers[i] += read_lines(c[i], &authed[i]);
	}
	for (unsigned i = 0; i < 2; i++) {
		/* A line that is too long is answered before its end has come. */
		CHECK(answers[i] <= lines[i] + 1);
		CHECK(c[i]->end_ns != 0 || (!client_busy(c[i]) && c[i]->waiting == 0));
		client_free(c[i]);
	}
	CHECK(memcmp(&before, &app.view, sizeof(before)) == 0);
	CHECK(r->clients == NULL && r->nclients == 0 && pending == 0);
	/* Each of the two clients may have three requests that wait beside the one that runs, and
	 * answers that are collected. */
	CHECK(most_taken - before_input < 32u << 20);

	return 0;
}
