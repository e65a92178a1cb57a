/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs any text as commands on rows of every kind. A refused command must leave the objects alone
 * and name a column inside its line. Completion is asked for at a cursor anywhere. The dictionary
 * is made from the rows at start. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../cmd_scopes.h"
#include "cmd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

#define NPORTS 3
#define NSTREAMS 2

static struct obj {
	struct rate rate;
	uint64_t num, time, speed;
	uint16_t size;
	int word;
	bool on, has;
	char text[VT_TEXT_MAX];
	uint8_t field[VT_FIELD_BYTES];
} global, ports[NPORTS], streams[NPORTS][NSTREAMS];

static void demand(bool holds, const char *what, const char *line)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s: \"%s\"\n", what, line);
	abort();
}

static void put(const struct setting *s, const struct set_obj *obj, const void *val)
{
	struct obj *o = obj->cfg;

	(void)s;
	o->has = true;
	memcpy(o->field, val, VT_FIELD_BYTES);
}

static bool get(const struct setting *s, const struct set_obj *obj, void *val)
{
	const struct obj *o = obj->cfg;

	(void)s;
	memcpy(val, o->field, VT_FIELD_BYTES);
	return o->has;
}

static void unset(const struct setting *s, const struct set_obj *obj)
{
	(void)s;
	((struct obj *)obj->cfg)->has = false;
}

static const struct setting_store store = {put, get, unset};
static const char *const protos[] = {"udp", "tcp", "icmp", NULL};
static const char *const tcp_flags[] = {"fin", "syn", "rst", "psh", "ack", "urg", NULL};
static const struct setting *resolve(const struct setting *s, const struct set_obj *obj,
				     struct err *e);

static bool check(const struct setting *s, const struct set_obj *obj, struct err *warn)
{
	const struct obj *o = obj->cfg;

	if (o->size < 100)
		err_set(warn, EINVAL, "%s: %u is small", s->name, o->size);
	return true;
}

#define AT(m) offsetof(struct obj, m)
static const struct setting rows[] = {
	{"udp.dst",
	 "dport,dst port",
	 &scope_stream,
	 {&vt_fuint, .bits = 16},
	 NULL,
	 NULL,
	 "x",
	 0,
	 0,
	 &store},
	{"ports_per_page",
	 NULL,
	 &scope_global,
	 {&vt_uint, .min = 1, .max = 6},
	 "4",
	 NULL,
	 "x",
	 AT(num)},
	{"rate", NULL, &scope_port, {&vt_rate}, "100%", NULL, "x", AT(rate)},
	{"count", NULL, &scope_port, {&vt_uint}, "0", NULL, "x", AT(num)},
	{"speed", NULL, &scope_port, {&vt_speed}, "auto", NULL, "x", AT(speed)},
	{"hold", NULL, &scope_port, {&vt_duration}, "1s", NULL, "x", AT(time), SET_STOPPED},
	{"promiscuous", NULL, &scope_port, {&vt_bool}, "off", NULL, "x", AT(on)},
	{"size", NULL, &scope_stream, {&vt_size}, "auto", NULL, "x", AT(size), .check = check},
	{"proto", NULL, &scope_stream, {&vt_enum, .choices = protos}, "udp", NULL, "x", AT(word)},
	{"pattern", "user pattern", &scope_stream, {&vt_text}, "abc", NULL, "x", AT(text)},
	{"eth.src", "src mac", &scope_stream, {&vt_mac, .bits = 48}, NULL, NULL, "x", 0, 0, &store},
	{"ipv4.src",
	 "src ip,sip",
	 &scope_stream,
	 {&vt_ip4, .bits = 32},
	 NULL,
	 NULL,
	 "x",
	 0,
	 0,
	 &store},
	{"ipv6.src",
	 "src ip6",
	 &scope_stream,
	 {&vt_ip6, .bits = 128},
	 NULL,
	 NULL,
	 "x",
	 0,
	 0,
	 &store},
	{"tcp.flags",
	 "tcp flags",
	 &scope_stream,
	 {&vt_fflags, .bits = 8, .choices = tcp_flags},
	 NULL,
	 NULL,
	 "x",
	 0,
	 0,
	 &store},
	{"ttl", "hop limit", &scope_stream, {NULL}, NULL, NULL, "x", .resolve = resolve},
	{"latency", NULL, &scope_port, {NULL}, NULL, NULL, "x", 0, SET_LATER},
};

static const struct setting *resolve(const struct setting *s, const struct set_obj *obj,
				     struct err *e)
{
	const struct obj *o = obj->cfg;

	if (o->word == 2) {
		err_set(e, EINVAL, "nothing is %s", s->name);
		return NULL;
	}
	return &rows[o->word == 0 ? 0 : 11];
}

static int run_any(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct portset set;

	(void)e;
	if (args[0].given && args[0].target.n > 0)
		demand(cmd_target_ports(r->cmd, &args[0].target, &set, NULL) == 0 &&
			       !portset_empty(&set),
		       "ports that are not there", r->line);
	return VERB_DONE;
}

static const char *const whats[] = {"stats", "rates", "queues", NULL};
static const struct arg_spec start_args[] = {{ARG_TARGETS, "ports"},
					     {ARG_WORD, "for", ARG_OPT},
					     {ARG_VALUE, "DURATION", ARG_OPT, {&vt_duration}},
					     {ARG_WORD, "prime", ARG_OPT},
					     {ARG_END}};
static const struct arg_spec show_args[] = {{ARG_TARGETS, "ports", ARG_OPT},
					    {ARG_CHOICE, "what", 0, {.choices = whats}},
					    {ARG_VALUE, "text", ARG_OPT, {&vt_text}},
					    {ARG_SETTING, "setting", ARG_OPT},
					    {ARG_END}};
static const struct arg_spec lua_args[] = {{ARG_VALUE, "n", ARG_OPT, {&vt_uint}},
					   {ARG_REST, "CHUNK"},
					   {ARG_END}};
static const struct verb verb_start = {"start", NULL, start_args, "x", 0, run_any};
static const struct verb verb_str = {"str", "begin", NULL, "x", VERB_HIDDEN, run_any};
static const struct verb verb_show = {"show", NULL, show_args, "x", 0, run_any};
static const struct verb verb_lua = {"lua", NULL, lua_args, "x", VERB_NO_LOAD, run_any};
static const struct verb verb_ping = {"ping4", NULL, NULL, "x", VERB_LATER};
static const struct verb *const verbs[] = {&verb_set,  &verb_help, &verb_start, &verb_str,
					   &verb_show, &verb_lua,  &verb_ping};

static unsigned nports(void *arg)
{
	(void)arg;
	return NPORTS;
}

static unsigned count(void *arg, const struct cmd_scope *scope, unsigned port)
{
	(void)arg;
	(void)scope;
	demand(port < NPORTS, "a port that is not there", "");
	return NSTREAMS;
}

static void *object(void *arg, const struct cmd_scope *scope, unsigned port, unsigned stream)
{
	(void)arg;
	demand(scope == &scope_global || (port < NPORTS && stream < NSTREAMS),
	       "an object that is not there", "");
	return scope == &scope_global ? &global
	       : scope == &scope_port ? &ports[port]
				      : &streams[port][stream];
}

static int may_set(void *arg, const struct setting *s, unsigned port, struct err *e)
{
	(void)arg;
	return (s->flags & SET_STOPPED) && port == 1 ? err_set(e, EBUSY, "stop 1 first") : 0;
}

static struct cmd *lang(void)
{
	static const struct cmd_host host = {.nports = nports,
					     .count = count,
					     .object = object,
					     .may_set = may_set};
	static struct cmd *c;
	const struct setting *list[ARRAY_SIZE(rows)];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		list[i] = &rows[i];
	if (c == NULL)
		c = cmd_new(list, ARRAY_SIZE(rows), verbs, ARRAY_SIZE(verbs), &host);
	return c;
}

static void offered(void *arg, const char *word, const char *help)
{
	struct cmd_word w[2];
	char buf[4096];

	(void)help;
	if (word != NULL && strlen(word) < sizeof(buf))
		demand(cmd_split(word, w, 2, buf, sizeof(buf), NULL) == 1,
		       "an offered word is not one word", arg);
}

static void one_command(const char *line, int cursor)
{
	static struct cmd_run r;
	static struct obj before[1 + NPORTS + NPORTS * NSTREAMS];
	struct sbuf out = {0}, note = {0};
	struct err e = {.col = -2};
	size_t len = strlen(line);
	int start = -2;

	memcpy(&before[0], &global, sizeof(global));
	memcpy(&before[1], ports, sizeof(ports));
	memcpy(&before[1 + NPORTS], streams, sizeof(streams));
	cmd_check(lang(), line, NULL);
	r.out = &out;
	r.note = &note;
	int rc = cmd_exec(lang(), &r, line, &e);
	if (rc < 0) {
		demand(e.col >= -1 && e.col <= (int)len, "the column is outside", line);
		demand(e.text[0] != '\0', "no text", line);
		demand(memcmp(&before[0], &global, sizeof(global)) == 0 &&
			       memcmp(&before[1], ports, sizeof(ports)) == 0 &&
			       memcmp(&before[1 + NPORTS], streams, sizeof(streams)) == 0,
		       "a refused command changed something", line);
		cmd_err_print(line, &e, &out);
	}
	cmd_complete(lang(), line, cursor, &start, offered, (void *)(uintptr_t)line);
	demand(start >= 0 && start <= (int)len, "the completion starts outside", line);
	sbuf_reset(&out);
	cmd_quote(line, &out);
	offered((void *)(uintptr_t)line, out.s, NULL);
	sbuf_free(&out);
	sbuf_free(&note);
}

/* Hands libFuzzer the words of the tables, unless a dictionary was named. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static char option[64];
	struct sbuf dict = {0};

	for (int i = 1; i < *argc; i++)
		if (strncmp((*argv)[i], "-dict=", 6) == 0)
			return 0;
	int fd = memfd_create("dict", 0);
	if (fd < 0)
		return 0;
	cmd_dict(lang(), &dict);
	bool written = write(fd, dict.s, dict.len) == (ssize_t)dict.len;
	sbuf_free(&dict);
	if (!written)
		return 0;
	static char **more;
	more = xcalloc((size_t)*argc + 2, sizeof(*more));
	memcpy(more, *argv, (size_t)*argc * sizeof(*more));
	snprintf(option, sizeof(option), "-dict=/proc/self/fd/%d", fd);
	more[(*argc)++] = option;
	*argv = more;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sbuf one = {0};

	if (size < 1)
		return 0;
	char *text = xcalloc(size, 1);
	memcpy(text, data + 1, size - 1);
	const char *rest = text;
	while (cmd_next(&rest, &one))
		one_command(one.s, data[0] % ((int)one.len + 1));
	cmd_complete(lang(), text, (int)strlen(text), &(int){0}, offered, text);
	free(text);
	sbuf_free(&one);
	return 0;
}
