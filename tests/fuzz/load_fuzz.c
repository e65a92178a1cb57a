/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes any text as the lines of a file for `load`, with the program's own rows and two ports that
 * are only their settings. Every line is checked, and the `set` lines and Pktgen's words for them
 * are run. What `save` writes of the result must be taken back line by line and be saved the same.
 * The dictionary is made from the rows at start. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "app.h"
#include "cmd/verb_save.h"
#include "set/set.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

#define NPORTS 2
#define NSTREAMS 8

static struct app global;
static struct port_cfg port[NPORTS];
static struct stream_cfg stream[NPORTS][NSTREAMS];

/* Says whether there is a stream: port 0 has streams 0-3 and 7, and port 1 has 1 and 2. */
static bool there(unsigned p, unsigned s)
{
	return p == 0 ? s <= 3 || s == 7 : s == 1 || s == 2;
}

static unsigned nports(void *arg)
{
	(void)arg;
	return NPORTS;
}

static unsigned count(void *arg, const struct cmd_scope *scope, unsigned p)
{
	(void)arg;
	(void)scope;
	return p == 0 ? 8 : 3;
}

static void *object(void *arg, const struct cmd_scope *scope, unsigned p, unsigned s)
{
	if (scope == &scope_global)
		return arg;
	if (scope == &scope_port)
		return &port[p];
	return s < NSTREAMS && there(p, s) ? &stream[p][s] : NULL;
}

static struct cmd_host host = {.nports = nports, .count = count, .object = object};

static struct cmd *lang(void)
{
	static struct cmd *c;
	unsigned ns, nv;

	if (c == NULL) {
		struct app app = {0};
		struct cmd_host real;
		const struct setting *const *settings = set_rows(&ns);
		const struct verb *const *verbs = cmd_verbs(&nv);
		app_host(&app, &real);
		host.arg = &global;
		host.row = real.row;
		c = cmd_new(settings, ns, verbs, nv, &host);
	}
	return c;
}

static void demand(bool holds, const char *what, const char *line)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s: %s\n", what, line);
	abort();
}

static void begin(void)
{
	view_init(&global.view);
	tester_init(&global.tester);
	for (unsigned p = 0; p < NPORTS; p++) {
		ctl_cfg_init(&port[p]);
		for (unsigned s = 0; s < NSTREAMS; s++) {
			stream_cfg_free(&stream[p][s]);
			stream_cfg_init(&stream[p][s]);
			stream[p][s].port = p;
			stream[p][s].id = s;
		}
	}
}

static void save(struct sbuf *out)
{
	struct port_cfg start;

	ctl_cfg_init(&start);
	sbuf_reset(out);
	save_text(lang(), &host, &start, out);
}

/* Says whether a command is run: it is a setting, maybe in other words, and needs no control. */
static bool is_run(const char *line)
{
	static const char *const verbs[] = {"set ", "range ", "enable ", "disable "};

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (strncmp(line, verbs[i], strlen(verbs[i])) == 0)
			return true;
	return false;
}

/* Checks the lines of a text, and runs those that can be run. must: it is the program's own text,
 * of which nothing may be refused. */
static void run_lines(const char *text, bool must)
{
	static struct cmd_run r;
	struct sbuf one = {0}, out = {0}, note = {0};
	unsigned long line = 0, at = 0, before = 0;
	struct err e;

	r.out = &out;
	r.note = &note;
	r.batch = true;
	while (cmd_next_command(&text, &line, &one, &at)) {
		e = (struct err){.col = -1};
		demand(at >= before && at <= line, "line numbers run backwards", one.s);
		before = at;
		int rc = cmd_check(lang(), one.s, &e);
		demand(rc == 0 || (e.text[0] != '\0' && e.col >= -1 && e.col <= (int)one.len),
		       "an error without text or place", one.s);
		demand(rc == 0 || !must, "a saved line does not pass", one.s);
		if (!is_run(one.s))
			continue;
		int ran = cmd_exec(lang(), &r, one.s, &e);
		demand(ran <= 0, "a setting takes time", one.s);
		demand(ran == 0 || !must, "a saved line is refused", one.s);
		demand(ran != 0 || rc == 0, "a line that runs does not pass", one.s);
		sbuf_reset(&note);
	}
	sbuf_free(&one);
	sbuf_free(&out);
	sbuf_free(&note);
}

/* Hands libFuzzer the words of the tables, unless a dictionary was named. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static char option[64];
	static char **more;
	struct sbuf dict = {0};

	for (int i = 1; i < *argc; i++)
		if (strncmp((*argv)[i], "-dict=", 6) == 0)
			return 0;
	int fd = memfd_create("dict", 0);
	if (fd < 0)
		return 0;
	cmd_dict(lang(), &dict);
	sbuf_add(&dict,
		 "\"set 0/all \"\n\"set 0/1-3 \"\n\"stream add 0/9\"\n\"reset all\"\n\"\\x0a\"\n");
	bool written = write(fd, dict.s, dict.len) == (ssize_t)dict.len;
	sbuf_free(&dict);
	if (!written)
		return 0;
	more = xcalloc((size_t)*argc + 2, sizeof(*more));
	memcpy(more, *argv, (size_t)*argc * sizeof(*more));
	snprintf(option, sizeof(option), "-dict=/proc/self/fd/%d", fd);
	more[(*argc)++] = option;
	*argv = more;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sbuf first = {0}, second = {0};
	char *text = xcalloc(size + 1, 1);

	memcpy(text, data, size);
	begin();
	run_lines(text, false);
	save(&first);
	begin();
	run_lines(first.s, true);
	save(&second);
	demand(strcmp(first.s, second.s) == 0, "a file that is loaded is saved in other words",
	       first.s);
	sbuf_free(&first);
	sbuf_free(&second);
	free(text);
	return 0;
}
